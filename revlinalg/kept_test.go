package revlinalg_test

import (
	"runtime"
	"testing"
	"weak"

	"revnum/rev"
	"revnum/revlinalg"
)

// TestNothingIsKept checks that the workspaces, which are recycled, do not keep the memory of the
// caller.
func TestNothingIsKept(t *testing.T) {
	const n = 40
	for name, run := range map[string]func(operand func(diagonal float64) rev.General[float64]) error{
		"MulElem": func(operand func(float64) rev.General[float64]) error {
			vector := func() rev.Vector[float64] { return rev.Vector[float64]{N: n, Data: operand(1).Data, Inc: 1} }
			k := revlinalg.MulElem[float64]{Z: vector(), X: vector(), Y: vector()}
			k.Adjoint(revlinalg.MulElem[float64]{Z: vector(), X: vector(), Y: vector()})
			return nil
		},
		"TriSolve": func(operand func(float64) rev.General[float64]) error {
			k := revlinalg.TriSolve[float64]{X: operand(0), A: operand(1), B: operand(0)}
			return k.Adjoint(revlinalg.TriSolve[float64]{X: operand(1), A: operand(0), B: operand(0)})
		},
		"QR": func(operand func(float64) rev.General[float64]) error {
			k := revlinalg.QR[float64]{Q: operand(0), R: operand(0), A: operand(1)}
			return k.Adjoint(revlinalg.QR[float64]{Q: operand(1), R: operand(1), A: operand(0)})
		},
	} {
		var operands []weak.Pointer[float64]
		if err := run(func(diagonal float64) rev.General[float64] {
			x := rev.NewGeneral[float64](n, n, nil)
			for i := range n {
				x.Row(i)[i] = diagonal
			}
			operands = append(operands, weak.Make(&x.Data[0]))
			return x
		}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		runtime.GC()
		for i, p := range operands {
			if p.Value() != nil {
				t.Errorf("%s keeps operand %d of %d", name, i, len(operands))
			}
		}
	}
}
