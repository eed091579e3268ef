package revlinalg

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/ulog"
)

// LogProd is the kernel
//
//	Out *= Π_i x_i,  that is  log Out += Σ_i log x_i,
//
// over logs, with the derivatives
//
//	x̄_i += Ōut,  Ȯut += Σ_i ẋ_i.
//
// Over fixed.Q43 the operands are the logs of ulog.Fixed, and are multiplied as
// those are: exactly, modulo 2⁶⁴-1 units, so that Inverse restores Out to the
// bit in every case. The cotangents are plain fixed-point numbers. Over floats
// the sum is within n·ε·Σ|x_i|, and Inverse restores Out to within the rounding
// of a sum and a difference.
//
// Multiplying by zero cannot be undone. If one of the x_i is zero (or infinite
// or NaN, over floats), all methods return an error that names it and wraps
// ulog.ErrDivideByZero, ulog.ErrUndefined or ulog.ErrNaN, and change nothing.
// LogMulElem multiplies by zero, into another place. Out itself may be zero,
// and stays zero.
type LogProd[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in"`
}

// NewLogProd returns the kernel over a gonum vector of logs, sharing its
// storage.
func NewLogProd(out *float64, x *mat.VecDense) LogProd[float64] {
	return LogProd[float64]{Out: out, X: rev.ViewVec(x)}
}

// Forward computes Out *= Π x_i.
func (k LogProd[T]) Forward() error { return k.multiply(false) }

// Inverse computes Out /= Π x_i.
func (k LogProd[T]) Inverse() error { return k.multiply(true) }

func (k LogProd[T]) multiply(back bool) error {
	rev.Check(&k)
	if err := checkFactors("LogProd", k.X); err != nil {
		return err
	}
	if k.Out == nil {
		return nil
	}
	var f T
	if isFixed[T]() {
		for i := range k.X.N {
			f = logTimes(f, k.X.Data[i*k.X.Inc], false)
		}
	} else {
		f = sum(k.X)
	}
	*k.Out = logTimes(*k.Out, f, back)
	return nil
}

// Adjoint computes Out /= Π x_i and x̄_i += Ōut.
func (k LogProd[T]) Adjoint(g LogProd[T]) error {
	rev.Check(&k)
	rev.CheckLike(&k, &g)
	if err := k.Inverse(); err != nil {
		return err
	}
	g.spread()
	return nil
}

// spread adds Out to each x_i, as far as they are asked for.
func (k LogProd[T]) spread() {
	if k.Out == nil || k.X.Data == nil {
		return
	}
	for i := range k.X.N {
		k.X.Data[i*k.X.Inc] += *k.Out
	}
}

// Tangent computes Out *= Π x_i and Ȯut += Σ ẋ_i.
func (k LogProd[T]) Tangent(t LogProd[T]) error {
	rev.Check(&k)
	rev.CheckLike(&k, &t)
	if err := k.Forward(); err != nil {
		return err
	}
	if t.Out != nil && t.X.Data != nil {
		*t.Out += sum(t.X)
	}
	return nil
}

// AdjointTangent computes what Adjoint does, also for the tangents of the
// cotangents, and Ȯut -= Σ ẋ_i.
func (k LogProd[T]) AdjointTangent(g, t, gt LogProd[T]) error {
	rev.Check(&k)
	rev.CheckLike(&k, &g, &t, &gt)
	if err := k.Adjoint(g); err != nil {
		return err
	}
	gt.spread()
	if t.Out != nil && t.X.Data != nil {
		*t.Out -= sum(t.X)
	}
	return nil
}

// logTimes returns the log of the product of the numbers with the logs y and f,
// or of their quotient. In fixed point f must not be that of zero.
func logTimes[T rev.Real](y, f T, divide bool) T {
	switch {
	case !isFixed[T]() && divide:
		return y - f
	case !isFixed[T]():
		return y + f
	case divide:
		return T(ulog.Fixed{Log: fixed.Q43(y)}.Div(ulog.Fixed{Log: fixed.Q43(f)}).Log)
	}
	return T(ulog.Fixed{Log: fixed.Q43(y)}.Mul(ulog.Fixed{Log: fixed.Q43(f)}).Log)
}

// checkFactors returns an error unless every number of x has an inverse.
func checkFactors[T rev.Real](kernel string, x rev.Vector[T]) error {
	for i := range x.N {
		var err error
		switch v := x.Data[i*x.Inc]; {
		case isFixed[T]():
			if fixed.Q43(v) == ulog.ZeroLog {
				err = ulog.ErrDivideByZero
			}
		case isFinite(float64(v)):
		case v < 0:
			err = ulog.ErrDivideByZero
		case v > 0:
			err = ulog.ErrUndefined
		default:
			err = ulog.ErrNaN
		}
		if err != nil {
			return fmt.Errorf("revlinalg: %s: factor %d, of log %v, has no inverse: %w", kernel, i, x.Data[i*x.Inc], err)
		}
	}
	return nil
}
