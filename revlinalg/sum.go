package revlinalg

import (
	"unsafe"

	"revnum/internal/number"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/rev"
)

// Sum is the kernel
//
//	Out += Σ x_i
//
// of real or complex numbers, with the derivatives
//
//	x̄_i += Ōut,  Ȯut += Σ ẋ_i,  ġx_i += ġOut.
//
// In floating point the sum is within n·ε·Σ|x_i|. Over complex numbers this holds for
// the real and the imaginary parts. In fixed point it is exact and wraps at ±2²⁰.
// Intermediate sums may wrap without harm.
type Sum[T rev.Number] struct {
	Out *T            `rev:"acc"`
	X   rev.Vector[T] `rev:"in" shape:"n"`
}

// sumRun is Run of Sum. It returns no error.
func sumRun[T rev.Number](k *Sum[T], p *rev.Pass[Sum[T]]) error {
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), vector.SumAt(&k.X))
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), vector.SumAt(&p.T.X))
	}
	if p.G.Out != nil {
		vector.AddConstantAt(*p.G.Out, &p.G.X)
	}
	if p.GT.Out != nil {
		vector.AddConstantAt(*p.GT.Out, &p.GT.X)
	}
	return nil
}

// sumRunEach makes a pass over n problems and returns n, or 0 if it does not make this pass. pass points to it, and second and
// secondPass to the kernel and the pass of the second problem. RunEach is for package rules, and checks nothing: if the
// operands are not those of problems that lie at the same distances, it reads and writes other memory.
func sumRunEach[T rev.Number](k *Sum[T], pass, second, secondPass any, n int) int {
	p, next, q := *pass.(*rev.Pass[Sum[T]]), *second.(*Sum[T]), *secondPass.(*rev.Pass[Sum[T]])
	switch {
	case p.Tangent || number.IsFixed[T]() || number.IsComplex[T]():
		return 0
	case unsafe.Sizeof(T(0)) == 4:
		return eachSum(number.As[Sum[float32]](*k), number.As[rev.Pass[Sum[float32]]](p), number.As[Sum[float32]](next), number.As[rev.Pass[Sum[float32]]](q), n)
	}
	return eachSum(number.As[Sum[float64]](*k), number.As[rev.Pass[Sum[float64]]](p), number.As[Sum[float64]](next), number.As[rev.Pass[Sum[float64]]](q), n)
}

// eachSum is RunEach without tangents.
func eachSum[T rev.Float](k Sum[T], p rev.Pass[Sum[T]], next Sum[T], q rev.Pass[Sum[T]], n int) int {
	e := vector.Each{N: n}
	x, gx := vector.Rows(&e, k.X, next.X), vector.Rows(&e, p.G.X, q.G.X)
	out, g := vector.Numbers(&e, k.Out, next.Out), vector.Numbers(&e, p.G.Out, q.G.Out)
	if e.Bad {
		return 0
	}
	sign, sums := T(p.Sign()), [rowsAtOnce]T{}
	for lo := 0; lo < n && out.Data != nil; lo += rowsAtOnce {
		s := sums[:min(rowsAtOnce, n-lo)]
		vec.SumRows(k.X.N, x.Data[lo*x.Stride:], x.Stride, s)
		addSigned(sign, s, &out, lo)
	}
	for i := 0; i < n && g.Data != nil && gx.Data != nil; i++ {
		vec.AddConstant(gx.Row(i), g.Data[i*g.Inc])
	}
	return n
}
