package revlinalg

import (
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Where is the kernel
//
//	z_i += (x_i where c_i > 0, or else y_i)
//
// for vectors of the same length. C is a mask of zeros and ones, or a difference a - b, which
// chooses x_i where a_i > b_i. A NaN in C chooses x_i. With s_i = 1 where x_i is chosen, and
// s_i = 0 elsewhere, the derivatives are
//
//	x̄ += s·z̄,  ȳ += (1 - s)·z̄,  ż += s·ẋ + (1 - s)·ẏ,  ġx += s·ġz,  ġy += (1 - s)·ġz.
//
// What is not chosen adds nothing, even if it is NaN or infinite. The derivative by C is 0, also
// where z jumps. Value and slopes are exact.
type Where[T rev.Real] struct {
	Z       rev.Vector[T] `rev:"acc" shape:"n"`
	C       rev.Vector[T] `rev:"in" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Y       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// whereRun is Run of Where. It returns no error.
func whereRun[T rev.Real](k *Where[T], p *rev.Pass[Where[T]]) error {
	choose(*k, *p, k.X.N, k.Workers)
	return nil
}

func (k Where[T]) add(lo, n, sign int, g, t, gt *Where[T]) {
	c := vector.Between(k.C, lo, n)
	addChosen(vector.Between(k.Z, lo, n), sign, c, vector.Between(k.X, lo, n), vector.Between(k.Y, lo, n))
	addChosen(vector.Between(t.Z, lo, n), sign, c, vector.Between(t.X, lo, n), vector.Between(t.Y, lo, n))
	none := rev.Vector[T]{}
	addChosen(vector.Between(g.X, lo, n), 1, c, vector.Between(g.Z, lo, n), none)
	addChosen(vector.Between(g.Y, lo, n), 1, c, none, vector.Between(g.Z, lo, n))
	addChosen(vector.Between(gt.X, lo, n), 1, c, vector.Between(gt.Z, lo, n), none)
	addChosen(vector.Between(gt.Y, lo, n), 1, c, none, vector.Between(gt.Z, lo, n))
}

// addChosen computes to += sign·x where c > 0 or is NaN, and to += sign·y elsewhere. It omits x or y
// if that is nil.
func addChosen[T rev.Real](to rev.Vector[T], sign int, c, x, y rev.Vector[T]) {
	if to.Data == nil || x.Data == nil && y.Data == nil {
		return
	}
	if packed(to, c) && (x.Data == nil || packed(x)) && (y.Data == nil || packed(y)) {
		switch to := any(to.Data[:to.N]).(type) {
		case []float64:
			addChosenFloats(to, float64(sign), number.As[[]float64](c.Data[:c.N]), number.As[[]float64](x.Data), number.As[[]float64](y.Data))
			return
		case []float32:
			addChosenFloats(to, float32(sign), number.As[[]float32](c.Data[:c.N]), number.As[[]float32](x.Data), number.As[[]float32](y.Data))
			return
		}
	}
	for i := range to.N {
		from := x
		if c.Data[i*c.Inc] <= 0 {
			from = y
		}
		if from.Data != nil {
			to.Data[i*to.Inc] += number.Signed(sign, from.Data[i*from.Inc])
		}
	}
}

// addChosenFloats is addChosen for vectors without gaps. x and y may have more elements.
func addChosenFloats[T rev.Float](to []T, sign T, c, x, y []T) {
	switch n := len(to); {
	case y == nil:
		vec.Rectify(to, sign, 0, c, x[:n])
	case x == nil:
		vec.Rectify(to, 0, sign, c, y[:n])
	default:
		vec.AddWhere(to, sign, c, x[:n], y[:n])
	}
}
