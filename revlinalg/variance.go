package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/rev"
)

// Variance is the kernel
//
//	Out += v,  v = Σ (x_i - m)²/(n-1),  m = Σ x_i/n
//
// with the derivatives, where u = Σ ẋ_i/n,
//
//	x̄_i += 2·Ōut·(x_i - m)/(n-1),  Ȯut += 2·Σ (x_i - m)·ẋ_i/(n-1),
//	ġx_i += 2·(ġOut·(x_i - m) + Ōut·(ẋ_i - u))/(n-1).
//
// The variance is that of a sample, as in gonum's stat.Variance without weights. It
// takes two passes. The second corrects the rounding of the mean, so that the variance
// is within a few n·ε times itself plus (ε·m)². In fixed point the sum of squares must
// be below 2²⁰, and each square is rounded by itself. The variance of fewer than two
// elements is NaN. In fixed point nothing is added then.
type Variance[T rev.Real] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// varianceRun is Run of Variance. It returns no error.
func varianceRun[T rev.Real](k *Variance[T], p *rev.Pass[Variance[T]]) error {
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), covarianceOf(k.X, k.X))
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), T(2*covarianceOf(k.X, p.T.X)))
	}
	addCentered(p.G.X, p.G.Out, k.X)
	addCentered(p.GT.X, p.GT.Out, k.X)
	addCentered(p.GT.X, p.G.Out, p.T.X)
	return nil
}

// covarianceOf returns Σ (x_i - m)·(y_i - l)/(n-1) for the means m of x and l of y. The
// means are rounded, so it divides Σ (x_i - m)·(y_i - l) - Σ (x_i - m)·Σ (y_i - l)/n.
func covarianceOf[T rev.Real](x, y rev.Vector[T]) T {
	m, l := mean(x), mean(y)
	var s, a, b T
	if number.IsFixed[T]() || x.N < 200 { // buffers and calls take longer than so few products
		for i := range x.N {
			d, e := x.Data[i*x.Inc]-m, y.Data[i*y.Inc]-l
			s += fixed.Product(d, e)
			a += d
			b += e
		}
	} else {
		s, a, b = centredSums(x, y, m, l)
	}
	return number.Over(s-fixed.Product(a, number.Over(b, x.N)), x.N-1)
}

// centredSize is how many elements are centred at a time.
const centredSize = 512

// centredSums returns Σ (x_i - m)·(y_i - l), Σ (x_i - m) and Σ (y_i - l) of floats, of which there are some.
func centredSums[T rev.Real](x, y rev.Vector[T], m, l T) (s, a, b T) {
	var dBuf, eBuf [centredSize]T
	same := &x.Data[0] == &y.Data[0] && x.Inc == y.Inc
	for lo := 0; lo < x.N; lo += centredSize {
		n := min(centredSize, x.N-lo)
		d := centredPiece(&dBuf, x, lo, n, m)
		e := d
		if !same {
			e = centredPiece(&eBuf, y, lo, n, l)
		}
		s += vector.Dot(d, e)
		sum := vector.Sum(d)
		a += sum
		if !same {
			sum = vector.Sum(e)
		}
		b += sum
	}
	return s, a, b
}

// centredPiece returns n elements of x from lo on, less m, in buf.
func centredPiece[T rev.Real](buf *[centredSize]T, x rev.Vector[T], lo, n int, m T) rev.Vector[T] {
	d := buf[:n]
	if x.Inc == 1 {
		copy(d, x.Data[lo:])
	} else {
		for i := range d {
			d[i] = x.Data[(lo+i)*x.Inc]
		}
	}
	vector.AddConstant(-m, rev.ViewSlice(d))
	return rev.ViewSlice(d)
}

// addCentered adds r·(x_i - m)·2/(n-1) to y_i, for the mean m of x. It does nothing if
// x or y is nil.
func addCentered[T rev.Real](y rev.Vector[T], r *T, x rev.Vector[T]) {
	if y.Data == nil || r == nil || x.Data == nil {
		return
	}
	m, alpha := mean(x), number.Over(2**r, x.N-1)
	if number.IsFixed[T]() || x.N < 64 || !isModerate(alpha) {
		for i := range x.N {
			y.Data[i*y.Inc] += number.Over(2*fixed.Product(*r, x.Data[i*x.Inc]-m), x.N-1)
		}
		return
	}
	var buf [centredSize]T
	for lo := 0; lo < x.N; lo += centredSize {
		n := min(centredSize, x.N-lo)
		vector.Axpy(alpha, centredPiece(&buf, x, lo, n, m), vector.Between(y, lo, n))
	}
}
