package vector

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/fixedpoint"
	"revnum/rev"
)

// RunChecked makes a pass of k over fixed.Q43. fits makes the same pass, and reports whether all results are surely in
// range. If not, RunChecked undoes that, and overflow looks for the first result that is out of range. It must round as k
// does: if there is none, sums were on the way, and RunChecked makes the pass without another look.
func RunChecked[K rev.Kernel[K]](k K, back bool, fits func() bool, overflow func() *rev.OverflowError) error {
	if fits() {
		return nil
	}
	if err := k.Run(rev.Pass[K]{Back: !back}); err != nil {
		return err
	}
	if err := overflow(); err != nil {
		return err
	}
	return k.Run(rev.Pass[K]{Back: back})
}

// AxpyChecked computes y += sign·alpha·x. If an element is out of range, it changes nothing and returns the first of
// these, else -1.
func AxpyChecked(sign int, alpha fixed.Q43, x, y *rev.Vector[fixed.Q43]) (overflow int) {
	to := Packed(y)
	overflow = fixedpoint.AxpyChecked(sign, alpha, Packed(x), to)
	unpack(y, to)
	return overflow
}

// AddProductsChecked computes z += sign·x·y as AxpyChecked does.
func AddProductsChecked(sign int, x, y, z *rev.Vector[fixed.Q43]) (overflow int) {
	to := Packed(z)
	overflow = fixedpoint.AddProductsChecked(sign, Packed(x), Packed(y), to)
	unpack(z, to)
	return overflow
}

// ExactDot returns Σ x_i·y_i.
func ExactDot(x, y *rev.Vector[fixed.Q43]) fixedpoint.Exact {
	return fixedpoint.ExactDot(Packed(x), Packed(y))
}

// ExactSquares returns Σ x_i².
func ExactSquares(x *rev.Vector[fixed.Q43]) fixedpoint.Exact {
	return fixedpoint.ExactSquares(Packed(x))
}

// AddChecked computes *out += sign·s, with s rounded. If that is out of range, it changes nothing and returns false.
func AddChecked(out *fixed.Q43, sign int, s fixedpoint.Exact) bool {
	v, ok := s.AddTo(*out, 0, sign)
	if ok {
		*out = v
	}
	return ok
}

// Packed returns the elements of x: its storage if it has no gaps, else a copy.
func Packed(x *rev.Vector[fixed.Q43]) []fixed.Q43 {
	if x.N == 0 || x.Inc == 1 {
		return x.Data[:x.N]
	}
	d := make([]fixed.Q43, x.N)
	for i := range d {
		d[i] = x.Data[i*x.Inc]
	}
	return d
}

// FixedAs returns x, whose elements must be fixed.Q43.
func FixedAs[T rev.Number](x rev.Vector[T]) rev.Vector[fixed.Q43] {
	return number.As[rev.Vector[fixed.Q43]](x)
}

// unpack writes what Packed has returned back to x.
func unpack(x *rev.Vector[fixed.Q43], d []fixed.Q43) {
	if x.Inc == 1 {
		return
	}
	for i := range d {
		x.Data[i*x.Inc] = d[i]
	}
}
