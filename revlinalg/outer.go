package revlinalg

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Outer is the kernel
//
//	A += α·x·yᵀ
//
// of an m×n matrix A and vectors x of m and y of n elements, with the derivatives
//
//	ᾱ += xᵀ·Ā·y,  x̄ += α·Ā·y,  ȳ += α·Āᵀ·x,  Ȧ += (α̇·x + α·ẋ)·yᵀ + α·x·ẏᵀ
//
// and, of second order,
//
//	ġα += xᵀ·ġA·y + ẋᵀ·Ā·y + xᵀ·Ā·ẏ,
//	ġx += α·(ġA·y + Ā·ẏ) + α̇·Ā·y,  ġy += α·(ġAᵀ·x + Āᵀ·ẋ) + α̇·Āᵀ·x.
//
// It is gonum's RankOne, in place. The product α·x_i is rounded, and then its product
// with y_j. In floating point a sum over a row of A is within n·ε times the sum of the
// magnitudes. In fixed point it is rounded once, and all products are meaningful below
// 2²⁰.
type Outer[T rev.Real] struct {
	A     rev.General[T] `rev:"acc" shape:"m,n"`
	Alpha *T             `rev:"in"`
	X     rev.Vector[T]  `rev:"in" shape:"m"`
	Y     rev.Vector[T]  `rev:"in" shape:"n"`
}

// outerRun is Run of Outer. It returns no error.
func outerRun[T rev.Real](k *Outer[T], p *rev.Pass[Outer[T]]) error {
	sign, alpha, a := p.Sign(), *k.Alpha, k.A
	if outerAddRows(k, sign, alpha) {
		a.Data = nil
	}
	for i := range k.X.N {
		x := k.X.Data[i*k.X.Inc]
		if a.Data != nil {
			vector.AddScaled(sign, fixed.Product(alpha, x), k.Y, vector.Row(a, i))
		}
		if p.T.A.Data != nil {
			d := fixed.Product(number.ValueOf(p.T.Alpha), x) + fixed.Product(alpha, vector.Element(p.T.X, i))
			if d != 0 {
				vector.AddScaled(sign, d, k.Y, vector.Row(p.T.A, i))
			}
			vector.AddScaled(sign, fixed.Product(alpha, x), p.T.Y, vector.Row(p.T.A, i))
		}
	}
	outerAddGradient(k, &p.G, p.G.A, alpha, k.X, k.Y)
	outerAddAlpha(k, &p.G, p.G.A, k.X, k.Y)
	outerAddGradient(k, &p.GT, p.GT.A, alpha, k.X, k.Y)
	outerAddGradient(k, &p.GT, p.G.A, alpha, p.T.X, p.T.Y)
	if p.T.Alpha != nil {
		outerAddGradient(k, &p.GT, p.G.A, *p.T.Alpha, k.X, k.Y)
	}
	outerAddAlpha(k, &p.GT, p.GT.A, k.X, k.Y)
	outerAddAlpha(k, &p.GT, p.G.A, p.T.X, k.Y)
	outerAddAlpha(k, &p.GT, p.G.A, k.X, p.T.Y)
	return nil
}

// outerRunChecked is RunChecked of Outer. It finds elements of A. If α·x_i is out of range, the first element of row i is.
func outerRunChecked[T rev.Real](k *Outer[T], back bool) error {
	if !number.IsFixed[T]() || k.A.Data == nil || k.Y.N == 0 {
		return outerRun(k, &rev.Pass[Outer[T]]{Back: back})
	}
	sign, alpha, x, y := signOf(back), fixed.Q43(*k.Alpha), vector.FixedAs(k.X), vector.FixedAs(k.Y)
	y = rev.ViewSlice(vector.Packed(&y))
	a := number.As[rev.General[fixed.Q43]](k.A)
	for i := range x.N {
		at, row := 0, vector.Row(a, i)
		c, err := alpha.MulChecked(x.Data[i*x.Inc])
		if err == nil {
			at = vector.AxpyChecked(sign, c, &y, &row)
		}
		if at >= 0 {
			for j := range i {
				vector.AddScaled(-sign, alpha.Mul(x.Data[j*x.Inc]), y, vector.Row(a, j))
			}
			return rev.Overflow[Outer[T]]("A", i, at)
		}
	}
	return nil
}

// outerAddRows adds sign·α·x·yᵀ to A, over floats without gaps in y, and reports whether it did.
func outerAddRows[T rev.Real](k *Outer[T], sign int, alpha T) bool {
	if k.A.Data == nil || k.Y.N == 0 || k.Y.Inc != 1 {
		return false
	}
	switch y := any(k.Y.Data[:k.Y.N]).(type) {
	case []float64:
		addOuter(float64(sign)*float64(alpha), any(k.A).(rev.General[float64]), any(k.X).(rev.Vector[float64]), y)
	case []float32:
		addOuter(float32(sign)*float32(alpha), any(k.A).(rev.General[float32]), any(k.X).(rev.Vector[float32]), y)
	default:
		return false
	}
	return true
}

func addOuter[T rev.Float](alpha T, a rev.General[T], x rev.Vector[T], y []T) {
	var buf [128]T
	for lo := 0; lo < x.N; lo += len(buf) {
		c := buf[:min(len(buf), x.N-lo)]
		for i := range c {
			c[i] = alpha * x.Data[(lo+i)*x.Inc]
		}
		vec.AxpyRows(len(y), a.Data[lo*a.Stride:], a.Stride, y, 0, c)
	}
}

// outerAddGradient adds α·Ā·y and α·Āᵀ·x to the cotangents of x and y in g.
func outerAddGradient[T rev.Real](k *Outer[T], g *Outer[T], ga rev.General[T], alpha T, x, y rev.Vector[T]) {
	if ga.Data == nil {
		return
	}
	for i := range k.X.N {
		if g.X.Data != nil && y.Data != nil {
			g.X.Data[i*g.X.Inc] += fixed.Product(alpha, vector.Dot(vector.Row(ga, i), y))
		}
		if x.Data != nil {
			vector.Axpy(fixed.Product(alpha, x.Data[i*x.Inc]), vector.Row(ga, i), g.Y)
		}
	}
}

// outerAddAlpha adds xᵀ·Ā·y to the cotangent of α in g.
func outerAddAlpha[T rev.Real](k *Outer[T], g *Outer[T], ga rev.General[T], x, y rev.Vector[T]) {
	if ga.Data == nil || g.Alpha == nil || x.Data == nil || y.Data == nil {
		return
	}
	var s T
	for i := range k.X.N {
		s += fixed.Product(x.Data[i*x.Inc], vector.Dot(vector.Row(ga, i), y))
	}
	*g.Alpha += s
}
