package rules

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"revnum/internal/long"
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
	made, every := 0, long.Or(1, 3)
	for turn, r := range All() {
		if r.Missing != "" {
			continue
		}
		for i, p := range r.Passes {
			if (turn+i)%every > 0 {
				continue
			}
			seeds := [3]uint64{2, 1, 1} // PrepareMoving gets other numbers
			for _, outputs := range []bool{true, false} {
				if !outputs && (p != Gradient || r.InPlace) {
					continue
				}
				var a [3]Args
				for i := range a {
					a[i] = problem(r, seeds[i])
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
				first, want, got := of(problem(r, seeds[0])), of(a[1]), of(a[2])
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
	if made < 1000/every {
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
	if err := m.Call(nil); !errors.Is(err, ErrArgument) {
		t.Error("without addresses:", err)
	}
	g := []float64{1, 0, 0, 0, 0}
	a := Args{Operands: []Buffer{Scalar(&out), Slice(x), Slice(y)}, Cotangents: []Buffer{Scalar(&g[0]), Slice(g[1:3]), Slice(g[3:])}}
	adjoint, err := dot.PrepareMoving(Adjoint, a)
	if err != nil {
		t.Fatal(err)
	}
	for i := range addresses(a) {
		list := [][]Buffer{a.Operands, a.Cotangents}[i/3]
		was, name := list[i%3].Data, partPrefix[i/3]+dot.Operands[i%3].Name
		list[i%3].Data = unsafe.Add(was, 1)
		want, got := dot.Call(Adjoint, a), adjoint.Call(addresses(a))
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("%s at an odd address: %v, want %v", name, got, want)
		}
		list[i%3].Data = nil
		if err := adjoint.Call(addresses(a)); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), name+" of "+dot.Name+" has no address") {
			t.Errorf("%s without an address: %v", name, err)
		}
		list[i%3].Data = was
	}
	if err := adjoint.Call(addresses(a)); err != nil || !slices.Equal(g, []float64{1, 3, 4, 1, 2}) {
		t.Error("the adjoint after errors:", g, err)
	}
	out = 0 // of which the adjoint took the product away
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
	empty, err := dot.PrepareMoving(Forward, Args{Operands: []Buffer{Scalar(&out), Slice(x[:0]), Slice(y[:0])}})
	if err != nil {
		t.Fatal(err)
	}
	for _, data := range [][]unsafe.Pointer{{at(&out), nil, nil}, {at(&out), at(&x[0]), nil}} {
		out = 5
		if err := empty.Call(data); err != nil || out != 5 {
			t.Error("no elements:", out, err)
		}
	}
	wrong = nil
	if _, err := dot.PrepareMoving(Forward, Args{Operands: []Buffer{Scalar(&out), Slice(x), Slice(y[:1])}}); !errors.As(err, &wrong) {
		t.Error("vectors of two lengths:", err)
	}
	singular := lookup(t, "revlinalg.Inv[float64]")
	zero, inverse := make([]float64, 4), make([]float64, 4)
	matrix := rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: zero}
	b := rev.General[float64]{Rows: 2, Cols: 2, Stride: 2, Data: inverse}
	args := Args{Operands: make([]Buffer, len(singular.Operands))}
	for i, o := range singular.Operands {
		args.Operands[i] = Matrix(matrix)
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
