package rules

import (
	"errors"
	"math"
	"testing"
	"unsafe"

	"revnum/rev"
)

// addresses returns the data of all buffers, as Moving.Call takes them.
func addresses(a Args) []unsafe.Pointer {
	var all []unsafe.Pointer
	for _, part := range [][]Buffer{a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents} {
		for _, b := range part {
			all = append(all, b.Data)
		}
	}
	return all
}

// A moving call does on other memory what Call does, also where the outputs of a gradient are absent.
func TestPrepareMoving(t *testing.T) {
	made := 0
	for _, r := range All() {
		if r.Missing != "" {
			continue
		}
		for _, p := range r.Passes {
			for _, outputs := range []bool{true, false} {
				if !outputs && (p != Gradient || r.InPlace) {
					continue
				}
				var a [3]Args
				for i := range a {
					a[i] = problem(r, 1)
					for _, o := range r.acc {
						if !outputs {
							a[i].Operands[o] = Buffer{}
						}
					}
				}
				m, err := r.PrepareMoving(p, a[0])
				if errors.Is(err, ErrArgument) {
					continue
				} else if err != nil {
					t.Fatal(r.Name, p, err)
				}
				made++
				for range 2 {
					if want, got := r.Call(p, a[1]), m.Call(addresses(a[2])); (want == nil) != (got == nil) {
						t.Fatal(r.Name, p, want, got)
					}
				}
				of := func(a Args) []float64 { return numbers(a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents) }
				first, want, got := of(problem(r, 1)), of(a[1]), of(a[2])
				if outputs {
					for i, v := range of(a[0]) {
						if math.Float64bits(v) != math.Float64bits(first[i]) {
							t.Fatalf("%s %v: number %d of the operands that PrepareMoving got has changed", r.Name, p, i)
						}
					}
				}
				for i := range want {
					if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
						t.Fatalf("%s %v: number %d is %v, want %v", r.Name, p, i, got[i], want[i])
					}
				}
			}
		}
	}
	if made < 1000 {
		t.Error("only", made, "passes were made")
	}
}

func TestPrepareMovingErrors(t *testing.T) {
	dot := lookup(t, "revlinalg.Dot[float64]")
	var wrong *rev.OperandError
	if _, err := dot.PrepareMoving(Forward, Args{}); !errors.As(err, &wrong) {
		t.Error("without operands:", err)
	}
	if _, err := dot.PrepareMoving(Pass(9), Args{}); !errors.Is(err, ErrArgument) {
		t.Error("a pass that there is not:", err)
	}
	if _, err := lookup(t, "revsparse.Mul[float64]").PrepareMoving(Forward, Args{}); !errors.Is(err, ErrArgument) {
		t.Error("a sparse matrix:", err)
	}
	x, y := []float64{1, 2}, []float64{3, 4}
	out := 0.0
	m, err := dot.PrepareMoving(Forward, Args{Operands: []Buffer{Scalar(&out), Slice(x), Slice(y)}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(v *float64) unsafe.Pointer { return unsafe.Pointer(v) }
	for _, data := range [][]unsafe.Pointer{nil, {at(&out), at(&x[0]), nil}, {at(&out), at(&x[0]), unsafe.Add(at(&y[0]), 1)}} {
		if err := m.Call(data); !errors.Is(err, ErrArgument) {
			t.Error("wrong addresses:", err)
		}
	}
	if err := m.Call([]unsafe.Pointer{at(&x[1]), at(&x[0]), at(&y[0])}); !errors.As(err, &wrong) {
		t.Error("an output that is an operand:", err)
	}
	if err := m.Call([]unsafe.Pointer{at(&out), at(&x[0]), at(&y[0])}); err != nil || out != 11 {
		t.Error("after errors:", out, err)
	}
	for _, data := range m.places {
		if *data.data != unsafe.Pointer(&nothing) || data.buffer.Data != unsafe.Pointer(&nothing) {
			t.Error("the memory of a caller is kept")
		}
	}
	singular := lookup(t, "revlinalg.Inv[float64]")
	zero, inverse := make([]float64, 4), make([]float64, 4)
	a := rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: zero}
	b := rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: inverse}
	args := Args{Operands: make([]Buffer, len(singular.Operands))}
	for i, o := range singular.Operands {
		args.Operands[i] = Matrix(a)
		if o.role == rev.Acc {
			args.Operands[i] = Matrix(b)
		}
	}
	if m, err = singular.PrepareMoving(Forward, args); err != nil {
		t.Fatal(err)
	}
	if err := m.Call(addresses(args)); err == nil {
		t.Error("no error for a singular matrix")
	}
	zero[0], zero[3] = 2, 4
	if err := m.Call(addresses(args)); err != nil || inverse[0] != 0.5 || inverse[3] != 0.25 {
		t.Error("after an error of the kernel:", inverse, err)
	}
}
