package revlinalg

import (
	"revnum/internal/elementwise"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// ComplexAbs is the kernel
//
//	y_i += |x_i|
//
// of complex x_i and real y_i. u = x/|x|, or 0 at 0 (the subgradient of least norm),
// and ρ = Re conj(u)·ẋ. The derivatives of each element are
//
//	x̄ += ȳ·u,  ẏ += ρ,  ġx += ġy·u + ȳ·(ẋ - ρ·u)/|x|
//
// A magnitude is within 2ε times itself. No square overflows or underflows. If a part
// of x is infinite, |x| = +Inf, even if the other part is NaN, and u is the direction of
// cmplx.Phase(x), which is NaN then.
type ComplexAbs struct {
	Y rev.Vector[float64]    `rev:"acc" shape:"n"`
	X rev.Vector[complex128] `rev:"in" shape:"n"`
}

// ComplexNorm1 is the kernel
//
//	Out += ‖x‖₁ = Σ |x_i|
//
// of complex numbers. It is the sum of what ComplexAbs computes, and so are its
// derivatives. It is within (n+2)·ε times itself.
type ComplexNorm1 struct {
	Out *float64               `rev:"acc"`
	X   rev.Vector[complex128] `rev:"in" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexAbs) Run(p rev.Pass[ComplexAbs]) error {
	w := workspace.Get[*moduli]()
	defer workspace.Put(w)
	for lo := 0; lo < k.X.N; lo += elementwise.PieceSize {
		n := min(elementwise.PieceSize, k.X.N-lo)
		w.read(k.X, lo, n)
		if k.Y.Data != nil {
			vector.AddElements(&k.Y, lo, float64(p.Sign()), w.r[:n])
		}
		if !p.Adjoint && !p.Tangent {
			continue
		}
		w.turn(n)
		if p.T.Y.Data != nil && p.T.X.Data != nil {
			vector.AddElements(&p.T.Y, lo, float64(p.Sign()), w.along(p.T.X, lo, n))
		}
		if p.G.X.Data != nil && p.G.Y.Data != nil {
			gy := vector.Elements(w.g[:], &p.G.Y, lo, n)
			vec.MulTo(w.a[:n], gy, w.u[:n])
			vec.MulTo(w.b[:n], gy, w.v[:n])
			w.add(p.G.X, lo, n)
		}
		for i := 0; i < n && p.GT.X.Data != nil; i++ {
			at := lo + i
			w.addGradientTangent(p.GT.X, at, i, vector.Element(p.GT.Y, at), vector.Element(p.G.Y, at), vector.Element(p.T.X, at))
		}
	}
	return nil
}

// Run implements rev.Kernel. It returns no error.
func (k ComplexNorm1) Run(p rev.Pass[ComplexNorm1]) error {
	w := workspace.Get[*moduli]()
	defer workspace.Put(w)
	var sum, rate float64
	gout, dgout := number.ValueOf(p.G.Out), number.ValueOf(p.GT.Out)
	for lo := 0; lo < k.X.N; lo += elementwise.PieceSize {
		n := min(elementwise.PieceSize, k.X.N-lo)
		w.read(k.X, lo, n)
		sum += vec.Sum(w.r[:n])
		if !p.Adjoint && !p.Tangent {
			continue
		}
		w.turn(n)
		if p.T.Out != nil && p.T.X.Data != nil {
			rate += vec.Sum(w.along(p.T.X, lo, n))
		}
		if p.G.X.Data != nil && p.G.Out != nil {
			vec.ScaleTo(w.a[:n], gout, w.u[:n])
			vec.ScaleTo(w.b[:n], gout, w.v[:n])
			w.add(p.G.X, lo, n)
		}
		for i := 0; i < n && p.GT.X.Data != nil; i++ {
			w.addGradientTangent(p.GT.X, lo+i, i, dgout, gout, vector.Element(p.T.X, lo+i))
		}
	}
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), sum)
	}
	if p.T.Out != nil && p.T.X.Data != nil {
		*p.T.Out += number.Signed(p.Sign(), rate)
	}
	return nil
}

// moduli are a piece of complex numbers x = r·(u + iv), and room for others with the parts a and b,
// and for numbers g.
type moduli struct {
	r, u, v, a, b, g [elementwise.PieceSize]float64
}

// read reads n numbers from element lo on: r, with the parts of x in u and v.
func (w *moduli) read(x rev.Vector[complex128], lo, n int) {
	split(w.u[:n], w.v[:n], x, lo)
	vec.Hypot(w.r[:n], w.u[:n], w.v[:n])
}

// turn puts u and v in place of the parts of x.
func (w *moduli) turn(n int) { vec.Direction(w.u[:n], w.v[:n], w.u[:n], w.v[:n]) }

// along returns Re conj(u + iv)·dx for n numbers from element lo on.
func (w *moduli) along(dx rev.Vector[complex128], lo, n int) []float64 {
	split(w.a[:n], w.b[:n], dx, lo)
	rho := w.a[:n]
	vec.MulTo(rho, w.u[:n], rho)
	vec.AddProduct(rho, 1, w.v[:n], w.b[:n])
	return rho
}

// add adds a + ib to n numbers from element lo on.
func (w *moduli) add(to rev.Vector[complex128], lo, n int) {
	if to.Inc == 1 {
		vec.AddParts(to.Data[lo:lo+n], w.a[:n], w.b[:n])
		return
	}
	for i := range n {
		to.Data[(lo+i)*to.Inc] += complex(w.a[i], w.b[i])
	}
}

// split sets re and im to the parts of the numbers from element lo on.
func split(re, im []float64, x rev.Vector[complex128], lo int) {
	if x.Inc == 1 {
		vec.Split(re, im, x.Data[lo:lo+len(re)])
		return
	}
	for i := range re {
		z := x.Data[(lo+i)*x.Inc]
		re[i], im[i] = real(z), imag(z)
	}
}

// addGradientTangent adds dg·u + g·(dx - ρ·u)/r to element at of x, for number i of the piece.
func (w *moduli) addGradientTangent(x rev.Vector[complex128], at, i int, dg, g float64, dx complex128) {
	u := complex(w.u[i], w.v[i])
	d := scale(dg, u)
	if g != 0 && dx != 0 {
		d += scale(g, turn(w.r[i], u, dx))
	}
	x.Data[at*x.Inc] += d
}
