package revlog_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"revnum/rev"
	"revnum/revlog"
	"revnum/revsparse"
)

type logState struct{ Z, X, Y rev.General[float64] }

// The adjoint of a sum into zero loses the cotangent of the sum. A program that fails after it restores its
// state, and says that it has not restored the cotangents.
func TestUndoZero(t *testing.T) {
	vector := func(m rev.General[float64]) rev.Vector[float64] { return rev.ViewSlice(m.Data) }
	fails := rev.If(func(*logState) bool { return true }, func(*logState) bool { return false }, rev.Step[logState]{}, rev.Step[logState]{})
	for _, step := range []rev.Step[logState]{
		rev.At(func(s *logState) revlog.Sum[float64] {
			return revlog.Sum[float64]{Out: &s.Z.Data[0], X: vector(s.X)}
		}),
		rev.At(func(s *logState) revlog.Dot[float64] {
			return revlog.Dot[float64]{Out: &s.Z.Data[0], X: vector(s.X), Y: vector(s.Y)}
		}),
		rev.At(func(s *logState) revlog.MulElem[float64] {
			return revlog.MulElem[float64]{Z: vector(s.Z), X: vector(s.X), Y: vector(s.Y)}
		}),
		rev.At(func(s *logState) revlog.MatMul[float64] { return revlog.MatMul[float64]{C: s.Z, A: s.X, B: s.Y} }),
		rev.At(func(s *logState) revsparse.LogMul[float64, int] {
			a := revsparse.CSR[float64, int]{Rows: 1, Cols: 1, Ptr: []int{0, 1}, Ind: []int{0}, Data: s.X.Data}
			return revsparse.LogMul[float64, int]{C: s.Z, A: a, B: s.Y}
		}),
	} {
		one := func(x float64) rev.General[float64] { return rev.NewGeneral(1, 1, []float64{x}) }
		s, g := &logState{one(math.Inf(-1)), one(1), one(2)}, &logState{one(1), one(0), one(0)}
		if err := step.Forward(s); err != nil {
			t.Fatal(err)
		}
		sum := s.Z.Data[0]
		err := rev.Seq(fails, step).Adjoint(s, g)
		if !errors.Is(err, rev.ErrUnsupported) || s.Z.Data[0] != sum || math.IsNaN(g.Z.Data[0]+g.X.Data[0]+g.Y.Data[0]) {
			t.Errorf("%v: %v, sum %v, want %v, cotangents %v", step, err, s.Z.Data, sum, g)
		}
	}
}

// A sum of nothing or of zeros leaves zero and its cotangents as they are, and Adjoint has its inverse.
func TestUndoZeroSum(t *testing.T) {
	zero := math.Inf(-1)
	vector := func(m rev.General[float64]) rev.Vector[float64] { return rev.ViewSlice(m.Data) }
	sparse := func(x rev.General[float64]) revsparse.CSR[float64, int] { // an empty row, and one of X
		return revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 0, 2}, Ind: []int{0, 1}, Data: x.Data[:2]}
	}
	kernels := map[string]func(back bool, s, g, d, gd logState) error{
		"Sum": func(back bool, s, g, d, gd logState) error {
			sum := func(s logState) revlog.Sum[float64] {
				return revlog.Sum[float64]{Out: &s.Z.Data[0], X: vector(s.X)}
			}
			return sum(s).Run(rev.Pass[revlog.Sum[float64]]{Adjoint: true, Back: back, G: sum(g), T: sum(d), GT: sum(gd)})
		},
		"Dot": func(back bool, s, g, d, gd logState) error {
			dot := func(s logState) revlog.Dot[float64] {
				return revlog.Dot[float64]{Out: &s.Z.Data[0], X: vector(s.X), Y: vector(s.Y)}
			}
			return dot(s).Run(rev.Pass[revlog.Dot[float64]]{Adjoint: true, Back: back, G: dot(g), T: dot(d), GT: dot(gd)})
		},
		"MulElem": func(back bool, s, g, d, gd logState) error {
			mul := func(s logState) revlog.MulElem[float64] {
				return revlog.MulElem[float64]{Z: vector(s.Z), X: vector(s.X), Y: vector(s.Y)}
			}
			return mul(s).Run(rev.Pass[revlog.MulElem[float64]]{Adjoint: true, Back: back, G: mul(g), T: mul(d), GT: mul(gd)})
		},
		"MatMul": func(back bool, s, g, d, gd logState) error {
			mul := func(s logState) revlog.MatMul[float64] {
				return revlog.MatMul[float64]{C: s.Z, A: s.X, B: s.Y}
			}
			return mul(s).Run(rev.Pass[revlog.MatMul[float64]]{Adjoint: true, Back: back, G: mul(g), T: mul(d), GT: mul(gd)})
		},
		"LogMul": func(back bool, s, g, d, gd logState) error {
			mul := func(s logState) revsparse.LogMul[float64, int] {
				return revsparse.LogMul[float64, int]{C: s.Z, A: sparse(s.X), B: s.Y}
			}
			return mul(s).Run(rev.Pass[revsparse.LogMul[float64, int]]{Adjoint: true, Back: back, G: mul(g), T: mul(d), GT: mul(gd)})
		},
	}
	square := func(v ...float64) rev.General[float64] { return rev.NewGeneral(2, 2, v) }
	inputs := func() []rev.General[float64] {
		return []rev.General[float64]{
			square(zero, zero, zero, zero), square(zero, zero, zero, zero), square(1, 2, zero, 4), // s, all sums zero
			square(3, 4, 5, 6), square(0, 0, 0, 0), square(0, 0, 0, 0), // g
			square(7, 8, 9, 1), square(.1, .2, .3, .4), square(.5, .6, .7, .8), // d
			square(2, 3, 4, 5), square(0, 0, 0, 0), square(0, 0, 0, 0), // gd
		}
	}
	for name, run := range kernels {
		m, want := inputs(), inputs()
		all := func(back bool) error {
			return run(back, logState{m[0], m[1], m[2]}, logState{m[3], m[4], m[5]}, logState{m[6], m[7], m[8]}, logState{m[9], m[10], m[11]})
		}
		for _, back := range []bool{true, false} {
			if err := all(back); err != nil || !reflect.DeepEqual(m, want) {
				t.Errorf("%s, back is %v: %v, have %v, want %v", name, back, err, m, want)
			}
		}
		// Some sums are zero, and some, such as those of the last elements, are not.
		m[1].Data[1], m[1].Data[3] = 1, 1
		if err := all(false); !errors.Is(err, rev.ErrUnsupported) || !reflect.DeepEqual(m[3], want[3]) {
			t.Errorf("%s into zero: %v, cotangents %v", name, err, m[3].Data)
		}
	}

	out, g := zero, 3.0
	k, gk := revlog.Sum[float64]{Out: &out}, revlog.Sum[float64]{Out: &g}
	for _, back := range []bool{true, false} {
		err := k.Run(rev.Pass[revlog.Sum[float64]]{Adjoint: true, Back: back, G: gk})
		if err != nil || g != 3 || out != zero {
			t.Errorf("a sum of nothing, back is %v: %v, cotangent %v", back, err, g)
		}
	}
}
