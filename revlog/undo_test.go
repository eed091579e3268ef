package revlog_test

import (
	"errors"
	"math"
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
