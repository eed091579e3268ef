package revnn

import (
	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/vector"
	"revnum/rev"
	"revnum/revlinalg"
)

// AffineBatch is the kernel
//
//	Y += X·W + 1·bᵀ
//
// that applies one affine map to the rows of an n×k matrix X. Y is n×m and W is k×m. b has m
// elements and is added to each row. This is a layer of a network, over a batch of n inputs.
// The derivatives are
//
//	X̄ += Ȳ·Wᵀ,  W̄ += Xᵀ·Ȳ,  b̄ += Ȳᵀ·1,  Ẏ += Ẋ·W + X·Ẇ + 1·ḃᵀ
//
// and, of second order, with ĠY the tangent of Ȳ,
//
//	ĠX += ĠY·Wᵀ + Ȳ·Ẇᵀ,  ĠW += Xᵀ·ĠY + Ẋᵀ·Ȳ,  ġb += ĠYᵀ·1.
//
// A nil B stands for zeros. The products have the bounds, workers and times of MatMul. b is
// added after them.
type AffineBatch[T rev.Real] struct {
	Y       rev.General[T] `rev:"acc" shape:"n,m"`
	X       rev.General[T] `rev:"in" shape:"n,k"`
	W       rev.General[T] `rev:"in" shape:"k,m"`
	B       rev.Vector[T]  `rev:"in,optional" shape:"m"`
	Workers int            // 0 means GOMAXPROCS
}

// affineBatchRun is Run of AffineBatch. It returns no error.
func affineBatchRun[T rev.Real](k *AffineBatch[T], p *rev.Pass[AffineBatch[T]]) error {
	_ = affineBatchProduct(k).Run(rev.Pass[revlinalg.MatMul[T]]{
		Back: p.Back, Adjoint: p.Adjoint, Tangent: p.Tangent,
		G: affineBatchProduct(&p.G), T: affineBatchProduct(&p.T), GT: affineBatchProduct(&p.GT),
	})
	addToRows(p.Sign(), k.B, k.Y)
	addToRows(p.Sign(), p.T.B, p.T.Y)
	addRows(p.G.Y, p.G.B)
	addRows(p.GT.Y, p.GT.B)
	return nil
}

// affineBatchRunChecked is RunChecked of AffineBatch. It finds elements of Y. Workers share the product. After an overflow it computes the
// product up to six times, two of them element by element: first without the bias, and then with it.
func affineBatchRunChecked[T rev.Real](k *AffineBatch[T], back bool) error {
	p := rev.Pass[AffineBatch[T]]{Back: back}
	if !number.IsFixed[T]() || k.Y.Data == nil || k.Y.Cols == 0 {
		return affineBatchRun(k, &p)
	}
	b := vector.FixedAs(k.B)
	bias, sign, y := vector.Packed(&b), p.Sign(), number.As[rev.General[fixed.Q43]](k.Y)
	return vector.RunChecked(*k, back, func() bool {
		product := affineBatchProduct(k)
		fits := product.RunChecked(back) == nil
		if !fits {
			_ = product.Run(rev.Pass[revlinalg.MatMul[T]]{Back: back})
		}
		for i := range y.Rows {
			if bias != nil && fixedpoint.AxpyChecked(sign, fixed.One, bias, y.Row(i)) >= 0 {
				fixedpoint.Axpy(sign, fixed.One, bias, y.Row(i))
				fits = false
			}
		}
		return fits
	}, func() *rev.OverflowError {
		x, w := number.Fixed(k.X.Data), number.Fixed(k.W.Data)
		if i, j := fixedpoint.GemmOverflow(y.Rows, y.Cols, k.X.Cols, sign, x, k.X.Stride, 1, w, k.W.Stride, 1, bias, y.Data, y.Stride); i >= 0 {
			return rev.Overflow[AffineBatch[T]]("Y", i, j)
		}
		return nil
	})
}

// affineBatchProduct returns the kernel Y += X·W.
func affineBatchProduct[T rev.Real](k *AffineBatch[T]) revlinalg.MatMul[T] {
	return revlinalg.MatMul[T]{C: k.Y, A: k.X, B: k.W, Workers: k.Workers}
}

// addToRows adds sign·b to each row of y. It does nothing if one of them is nil.
func addToRows[T rev.Real](sign int, b rev.Vector[T], y rev.General[T]) {
	if b.Data == nil || y.Data == nil || y.Cols == 0 {
		return
	}
	if b.Inc == 1 {
		switch row := any(b.Data).(type) {
		case []float64:
			dense.AddRows(y.Rows, y.Cols, float64(sign), row, 0, any(y.Data).([]float64), y.Stride)
			return
		case []float32:
			dense.AddRows(y.Rows, y.Cols, float32(sign), row, 0, any(y.Data).([]float32), y.Stride)
			return
		}
	}
	for i := range y.Rows {
		vector.AddScaled(sign, number.One[T](), b, vector.Row(y, i))
	}
}

// addRows adds each row of y to b. It does nothing if one of them is nil.
func addRows[T rev.Real](y rev.General[T], b rev.Vector[T]) {
	for i := 0; i < y.Rows && b.Data != nil && y.Data != nil; i++ {
		vector.Axpy(number.One[T](), vector.Row(y, i), b)
	}
}
