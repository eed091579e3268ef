package nbody

import (
	"revnum/fixed"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Drift is the kernel
//
//	Q += dt·V
//
// that moves bodies by their velocities. Products are rounded once. Over fixed.Q43 they
// are computed in float64. The derivatives are
//
//	Q̇ += dt·V̇,  V̄ += dt·Q̄
type Drift[T rev.Real] struct {
	Q  rev.General[T] `rev:"acc" shape:"n,3"`
	V  rev.General[T] `rev:"in" shape:"n,3"`
	Dt float64
}

// driftRun is Run of Drift. It returns an error if Dt is not finite.
func driftRun[T rev.Real](k *Drift[T], p *rev.Pass[Drift[T]]) error {
	if err := checkParameters(k.Dt, 0); err != nil {
		return err
	}
	driftPass(k, p)
	return nil
}

func driftPass[T rev.Real](k *Drift[T], p *rev.Pass[Drift[T]]) {
	dt := float64(p.Sign()) * k.Dt
	addScaled(dt, k.V, k.Q)
	addScaled(dt, p.T.V, p.T.Q)
	addScaled(k.Dt, p.G.Q, p.G.V)
	addScaled(k.Dt, p.GT.Q, p.GT.V)
}

// addScaled adds alpha·x to y, unless one of them is nil.
func addScaled[T rev.Real](alpha float64, x, y rev.General[T]) {
	if x.Data == nil || y.Data == nil {
		return
	}
	if x.Stride == x.Cols && y.Stride == y.Cols {
		addScaledSlice(alpha, x.Data[:x.Rows*x.Cols], y.Data[:x.Rows*x.Cols])
		return
	}
	for i := range x.Rows {
		addScaledSlice(alpha, x.Row(i), y.Row(i))
	}
}

func addScaledSlice[T rev.Real](alpha float64, x, y []T) {
	switch x := any(x).(type) {
	case []float64:
		vec.Axpy(alpha, x, any(y).([]float64))
	case []float32:
		vec.Axpy(float32(alpha), x, any(y).([]float32))
	case []fixed.Q43:
		y := any(y).([]fixed.Q43)
		for i, v := range x {
			y[i] += fixed.FromFloat64(alpha * v.Float64())
		}
	}
}
