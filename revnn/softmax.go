package revnn

import (
	"revnum/rev"
)

// Softmax is the kernel
//
//	Y += p,  p_i = exp(x_i - m)/s,  m = max x,  s = Σ_i exp(x_i - m)
//
// with the derivatives, which all have the same form:
//
//	x̄_i += p_i·(ȳ_i - d),  d = Σ p_j·ȳ_j
//	ẏ_i += ṗ_i = p_i·(ẋ_i - r),  r = Σ p_j·ẋ_j
//	ġx_i += p_i·(ġy_i - e) + ṗ_i·(ȳ_i - d),  e = Σ p_j·ġy_j + ṗ_j·ȳ_j
//
// Over floats, a method computes the exponentials of up to 2²⁰ elements once, and keeps them in memory from a pool: up
// to 8 MiB for float64, and for kernels of rows as much for each worker. Those of longer vectors, and over fixed point
// those of more than 1024 elements, it computes again each time that it needs them, two to four times.
//
// No exponential overflows. In floating point an element of p is within a few units in
// the last place plus the rounding of x_i - m. If an element of X is NaN or +Inf, or
// all are -Inf, all of p is NaN.
//
// In fixed point an element of p is within 2 + n·p_i/s units in the last place, for n <
// 2²⁰ elements of any magnitude. Elements more than 31 below the maximum get zero. The
// derivatives are meaningful while the differences ȳ_i - d and so on are below 2²⁰.
//
// In floating point, workers share long vectors. The bits do not depend on their number.
type Softmax[T rev.Real] struct {
	Y       rev.Vector[T] `rev:"acc" shape:"n"`
	X       rev.Vector[T] `rev:"in" shape:"n"`
	Workers int           // 0 means GOMAXPROCS
}

// softmaxRun is Run of Softmax. It returns no error.
func softmaxRun[T rev.Real](k *Softmax[T], p *rev.Pass[Softmax[T]]) error {
	o := softmaxPass[T]{
		sign: p.Sign(), y: k.Y, ty: p.T.Y, tx: p.T.X, gx: p.G.X, gy: p.G.Y, gtx: p.GT.X, gty: p.GT.Y,
	}
	o.omitForSoftmax()
	w := openSoftmax(k.X, k.Workers, &o)
	w.finish()
	w.close()
	return nil
}
