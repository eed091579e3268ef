package revlinalg

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Dot is the kernel
//
//	Out += Σ_i conj(x_i)·y_i
//
// of two vectors of the same length, real or complex, with the derivatives
//
//	x̄ += conj(Ōut)·y,  ȳ += Ōut·x,  Ȯut += Σ conj(ẋ_i)·y_i + conj(x_i)·ẏ_i
//
// and, of second order,
//
//	ġx += conj(ġOut)·y + conj(Ōut)·ẏ,  ġy += ġOut·x + Ōut·ẋ.
//
// Over complex numbers it is the Dotc of BLAS.
//
// Dot{X: x, Y: x} is the square of the norm of x. If both places have the same
// cotangent, it gets 2·Ōut·x.
//
// Adjoint moves three times the memory of Forward: it also reads and writes two
// cotangents. For long vectors it takes about three times as long.
//
// In floating point the sum is within n·ε·Σ|x_i·y_i|, and over complex numbers within
// twice that. In fixed point it is exact, rounded once to nearest, and wraps on
// overflow. Each element of a gradient is rounded once too.
type Dot[T rev.Number] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
	Y   rev.Vector[T] `rev:"in" shape:"n"`
}

// dotPart is how many floating-point elements a pass handles at a time, so that the
// gradients find them in the cache. In fixed point the sum is rounded once, so the pass
// handles all elements at a time.
const dotPart = 1 << 12

// dotRun is Run of Dot. It returns no error.
func dotRun[T rev.Number](k *Dot[T], p *rev.Pass[Dot[T]]) error {
	part := dotPart
	if number.IsFixed[T]() {
		part = max(1, k.X.N)
	}
	var sum T
	if k.Out != nil && p.G.Out == nil {
		sum = vector.DotBy(part, &k.X, &k.Y)
	}
	for lo := 0; lo < k.X.N && p.G.Out != nil; lo += part {
		x, y, gx, gy := &k.X, &k.Y, &p.G.X, &p.G.Y
		if n := min(part, k.X.N-lo); n < k.X.N {
			parts := [...]rev.Vector[T]{vector.Between(*x, lo, n), vector.Between(*y, lo, n), vector.Between(*gx, lo, n), vector.Between(*gy, lo, n)}
			x, y, gx, gy = &parts[0], &parts[1], &parts[2], &parts[3]
		}
		if k.Out != nil {
			sum += vector.DotAt(x, y)
		}
		vector.AxpyAt(number.Conj(*p.G.Out), y, gx)
		vector.AxpyAt(*p.G.Out, x, gy)
	}
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), sum)
	}
	if !p.Tangent {
		return nil
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), vector.DotAt(&p.T.X, &k.Y)+vector.DotAt(&k.X, &p.T.Y))
	}
	if p.GT.Out != nil {
		vector.AxpyAt(number.Conj(*p.GT.Out), &k.Y, &p.GT.X)
		vector.AxpyAt(*p.GT.Out, &k.X, &p.GT.Y)
	}
	if p.G.Out != nil {
		vector.AxpyAt(number.Conj(*p.G.Out), &p.T.Y, &p.GT.X)
		vector.AxpyAt(*p.G.Out, &p.T.X, &p.GT.Y)
	}
	return nil
}

// dotRunChecked is RunChecked of Dot. It finds Out.
func dotRunChecked[T rev.Number](k *Dot[T], back bool) error {
	if !number.IsFixed[T]() {
		return dotRun(k, &rev.Pass[Dot[T]]{Back: back})
	}
	sign := signOf(back)
	if q := (*Dot[fixed.Q43])(unsafe.Pointer(k)); k.Out != nil && !vector.AddChecked(q.Out, sign, vector.ExactDot(&q.X, &q.Y)) {
		return rev.Overflow[Dot[T]]("Out")
	}
	return nil
}

// dotRunEach makes a pass over n problems and returns n, or 0 if it does not make this pass. pass points to it, and second and
// secondPass to the kernel and the pass of the second problem. RunEach is for package rules, and checks nothing: if the
// operands are not those of problems that lie at the same distances, it reads and writes other memory.
func dotRunEach[T rev.Number](k *Dot[T], pass, second, secondPass any, n int) int {
	p, next, q := *pass.(*rev.Pass[Dot[T]]), *second.(*Dot[T]), *secondPass.(*rev.Pass[Dot[T]])
	switch {
	case p.Tangent || number.IsFixed[T]() || number.IsComplex[T]():
		return 0
	case unsafe.Sizeof(T(0)) == 4:
		return eachDot(number.As[Dot[float32]](*k), number.As[rev.Pass[Dot[float32]]](p), number.As[Dot[float32]](next), number.As[rev.Pass[Dot[float32]]](q), n)
	}
	return eachDot(number.As[Dot[float64]](*k), number.As[rev.Pass[Dot[float64]]](p), number.As[Dot[float64]](next), number.As[rev.Pass[Dot[float64]]](q), n)
}

// eachDot is RunEach without tangents.
func eachDot[T rev.Float](k Dot[T], p rev.Pass[Dot[T]], next Dot[T], q rev.Pass[Dot[T]], n int) int {
	e := vector.Each{N: n, Bad: k.X.N > dotPart}
	x, gx := vector.Rows(&e, k.X, next.X), vector.Rows(&e, p.G.X, q.G.X)
	y, gy := vector.Rows(&e, k.Y, next.Y), vector.Rows(&e, p.G.Y, q.G.Y)
	out, g := vector.Numbers(&e, k.Out, next.Out), vector.Numbers(&e, p.G.Out, q.G.Out)
	if e.Bad {
		return 0
	}
	sign, sums, stride := T(p.Sign()), [rowsAtOnce]T{}, [2]int{x.Stride, y.Stride}
	for lo, rows := 0, rowsFor(k.X.N, g.Data != nil && (gx.Data != nil || gy.Data != nil) && out.Data != nil); lo < n; lo += rows {
		s := sums[:min(rows, n-lo)]
		x, y := x.Data[lo*x.Stride:], y.Data[lo*y.Stride:]
		if out.Data != nil {
			vec.DotRows(k.X.N, x, stride[0], y, stride[1], s)
			addSigned(sign, s, &out, lo)
		}
		if g.Data == nil {
			continue
		}
		for i := range s {
			s[i] = g.Data[(lo+i)*g.Inc]
		}
		if gx.Data != nil {
			vec.AxpyRows(k.X.N, gx.Data[lo*gx.Stride:], gx.Stride, y, stride[1], s)
		}
		if gy.Data != nil {
			vec.AxpyRows(k.X.N, gy.Data[lo*gy.Stride:], gy.Stride, x, stride[0], s)
		}
	}
	return n
}
