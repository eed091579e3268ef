package revnn

import (
	"math"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// RMSNorm and LayerNorm are maps of the rows x of a matrix. With ⟨v⟩ the mean of the elements of v,
// and the terms in brackets those of LayerNorm alone,
//
//	u = ρ·(x - [⟨x⟩]),  ρ = 1/√(⟨(x - [⟨x⟩])²⟩ + ε),  y += γ·u + [β].
//
// With P(v) = v - [⟨v⟩] - u·⟨u·v⟩ and h = γ·ȳ, the derivatives are
//
//	u̇ = ρ·P(ẋ),  ẏ += γ·u̇ + γ̇·u + β̇,  x̄ += ρ·P(h),  γ̄ += Σ ȳ·u,  β̄ += Σ ȳ
//
// where the sums are over rows, and, of second order, with ḣ = γ·ġy + γ̇·ȳ,
//
//	ġx += ρ·(P(ḣ) - u̇·⟨u·h⟩ - u·⟨u̇·h⟩ - ρ·⟨u·ẋ⟩·P(h)),  ġγ += Σ ġy·u + ȳ·u̇,  ġβ += Σ ġy.

// rowNorm are the operands of such a kernel.
type rowNorm[T rev.Real] struct {
	y, x       rev.General[T]
	gain, bias rev.Vector[T]
}

// A rowNormPass is a pass in progress.
type rowNormPass[T rev.Real] struct {
	k, g, t, gt rowNorm[T]

	centered bool
	epsilon  T
	slopes   bool // it has derivatives
	sign     int
	one      T
	unit     T                // 1 with the sign of the pass
	rows     int              // of a block
	sums     []T              // of each block: of γ̄, β̄, ġγ and ġβ
	room     []rowNormRoom[T] // of each worker
	ones     []T              // c of them
}

// A rowNormRoom has the vectors of a row.
type rowNormRoom[T rev.Real] struct {
	u, dh, du, h, p []T
	gain, dgain     []T // γ and γ̇ without gaps
	bias, dbias     []T
}

const (
	rowNormBlocks = 64      // at most
	rowNormBlock  = 1 << 13 // elements of a block at least
	rowNormSums   = 4
)

// runRowNorm makes a pass. An epsilon of 0 means 1e-5.
func runRowNorm[T rev.Real](centered bool, epsilon float64, sign, workers int, k, g, t, gt rowNorm[T]) {
	w := workspace.Get[rowNormPass[T]]()
	w.k, w.g, w.t, w.gt, w.centered, w.sign = k, g, t, gt, centered, sign
	w.slopes = g.y.Data != nil || t.y.Data != nil || gt.y.Data != nil
	w.one = fixed.Of[T](1)
	w.unit = number.Signed(sign, w.one)
	w.epsilon = normEpsilon[T](epsilon)
	n, c := k.x.Rows, k.x.Cols
	w.rows = max((n+rowNormBlocks-1)/rowNormBlocks, 1+rowNormBlock/max(1, c))
	blocks := (n + w.rows - 1) / w.rows
	if c == 0 {
		blocks = 0
	}
	workers = min(parallel.Workers(workers), max(1, blocks))
	sums := [rowNormSums]rev.Vector[T]{g.gain, g.bias, gt.gain, gt.bias}
	w.sums = w.sums[:0]
	for _, to := range sums {
		if to.Data != nil {
			w.sums = workspace.Zeros(w.sums, blocks*rowNormSums*c)
			break
		}
	}
	w.room = workspace.Grow(w.room, max(len(w.room), workers))
	for i := range workers {
		r := &w.room[i]
		for _, v := range [...]*[]T{&r.u, &r.dh, &r.du, &r.h, &r.p, &r.gain, &r.dgain, &r.bias, &r.dbias} {
			*v = workspace.Grow(*v, c)
		}
	}
	if len(w.ones) != c {
		w.ones = workspace.Grow(w.ones, c)
		for i := range w.ones {
			w.ones[i] = w.one
		}
	}
	parallel.Run(workers, blocks, w)
	for b := range blocks {
		for i, to := range sums {
			if to.Data != nil {
				vector.Axpy(w.one, rev.ViewSlice(w.blockSum(b, i)), to)
			}
		}
	}
	w.k, w.g, w.t, w.gt = rowNorm[T]{}, rowNorm[T]{}, rowNorm[T]{}, rowNorm[T]{} // without the caller's storage
	workspace.Put(w)
}

// normEpsilon returns ε, and no less than makes 1/√ε a number.
func normEpsilon[T rev.Real](epsilon float64) T {
	least := 0x1p-1022
	switch {
	case number.IsFixed[T]():
		least = 0x1p-38
	case unsafe.Sizeof(T(0)) == 4:
		least = 0x1p-126
	}
	if epsilon == 0 {
		epsilon = 1e-5
	}
	return fixed.Of[T](max(epsilon, least))
}

// inverseRoot returns 1/√(v + ε) in fixed point. A v that has wrapped counts as 0.
func inverseRoot[T rev.Real](v, epsilon T) T {
	return T(fixed.One.Div(fixed.Sqrt(max(fixed.Q43(v), 0).AddSat(fixed.Q43(epsilon)))))
}

// blockSum returns a sum of a block.
func (w *rowNormPass[T]) blockSum(block, sum int) []T {
	c := w.k.x.Cols
	return w.sums[(block*rowNormSums+sum)*c:][:c]
}

// Block works on a block of rows.
func (w *rowNormPass[T]) Block(worker, block int) {
	r := w.room[worker]
	r.gain, r.bias = withoutGaps(r.gain, w.k.gain), withoutGaps(r.bias, w.k.bias)
	r.dgain, r.dbias = withoutGaps(r.dgain, w.t.gain), withoutGaps(r.dbias, w.t.bias)
	sum := [rowNormSums][]T{}
	for i, to := range [...]rev.Vector[T]{w.g.gain, w.g.bias, w.gt.gain, w.gt.bias} {
		if to.Data != nil {
			sum[i] = w.blockSum(block, i)
		}
	}
	for i := block * w.rows; i < min((block+1)*w.rows, w.k.x.Rows); i++ {
		if !w.slopes {
			w.normalise(&r, rowOf(w.k.x, i), rowOf(w.k.y, i))
			continue
		}
		w.row(&r, sum, rowOf(w.k.x, i), rowOf(w.k.y, i), rowOf(w.g.x, i), rowOf(w.g.y, i), rowOf(w.t.x, i), rowOf(w.t.y, i), rowOf(w.gt.x, i), rowOf(w.gt.y, i))
	}
}

// normalise adds a row to y, which may be nil. It returns ρ, and u/ρ.
func (w *rowNormPass[T]) normalise(r *rowNormRoom[T], x, y []T) (rho T, center []T) {
	if !number.IsFixed[T]() {
		if unsafe.Sizeof(rho) == 4 {
			rho, center := normaliseFloats(number.As[*rowNormPass[float32]](w), number.As[*rowNormRoom[float32]](r), number.As[[]float32](x), number.As[[]float32](y))
			return T(rho), number.As[[]T](center)
		}
		rho, center := normaliseFloats(number.As[*rowNormPass[float64]](w), number.As[*rowNormRoom[float64]](r), number.As[[]float64](x), number.As[[]float64](y))
		return T(rho), number.As[[]T](center)
	}
	center = x
	if w.centered {
		center = r.u
		w.subtractMean(center, x)
	}
	rho = inverseRoot(meanOf(center, center), w.epsilon)
	addProducts(y, number.Signed(w.sign, rho), center, r.gain)
	addSigned(y, w.sign, r.bias)
	return rho, center
}

func normaliseFloats[T rev.Float](w *rowNormPass[T], r *rowNormRoom[T], x, y []T) (rho T, center []T) {
	center = x
	if w.centered {
		center = r.u
		vec.AxpyTo(center, -vec.Sum(x)/T(len(x)), w.ones, x)
	}
	rho = T(1 / math.Sqrt(float64(vec.SumSquares(center)/T(len(x))+w.epsilon)))
	if y == nil {
		return rho, center
	}
	if r.gain == nil {
		vec.Axpy(w.unit*rho, center, y)
	} else {
		vec.AddProduct(y, w.unit*rho, center, r.gain)
	}
	if r.bias != nil {
		vec.Axpy(w.unit, r.bias, y)
	}
	return rho, center
}

// row makes the pass for a row.
func (w *rowNormPass[T]) row(r *rowNormRoom[T], sum [rowNormSums][]T, x, y, gx, gy, tx, ty, gtx, gty []T) {
	u, du := r.u, r.du
	rho, center := w.normalise(r, x, y)
	scaleTo(u, rho, center)

	var s T // ⟨u·ẋ⟩
	if tx == nil {
		du = nil
	} else if ty != nil || gy != nil {
		s = w.project(du, tx, u)
		scaleTo(du, rho, du)
	}
	if ty != nil {
		addProducts(ty, w.unit, du, r.gain)
		if r.dgain != nil {
			addProducts(ty, w.unit, u, r.dgain)
		}
		addSigned(ty, w.sign, r.dbias)
	}

	addProducts(sum[0], w.one, gy, u)
	addSigned(sum[1], 1, gy)
	addProducts(sum[2], w.one, gty, u)
	if du != nil {
		addProducts(sum[2], w.one, gy, du)
	}
	addSigned(sum[3], 1, gty)

	var q T // ⟨u·h⟩
	h := gy
	if gy != nil && (gx != nil || gtx != nil) {
		if r.gain != nil {
			h = r.h
			clear(h)
			addProducts(h, w.one, gy, r.gain)
		}
		q = w.project(r.p, h, u)
		axpyOf(gx, rho, r.p)
	}
	if gtx == nil {
		return
	}
	dh := r.dh
	clear(dh)
	addProducts(dh, w.one, gty, r.gain)
	if r.dgain != nil {
		addProducts(dh, w.one, gy, r.dgain)
	}
	w.project(dh, dh, u)
	axpyOf(gtx, rho, dh)
	if gy != nil && du != nil {
		axpyOf(gtx, -fixed.Product(rho, q), du)
		axpyOf(gtx, -fixed.Product(rho, meanOf(du, h)), u)
		axpyOf(gtx, -fixed.Product(fixed.Product(rho, s), rho), r.p)
	}
}

// project computes dst = P(v), and returns ⟨u·v⟩.
func (w *rowNormPass[T]) project(dst, v, u []T) T {
	s := meanOf(u, v)
	if w.centered {
		w.subtractMean(dst, v)
	} else if &dst[0] != &v[0] {
		copy(dst, v)
	}
	axpyOf(dst, -s, u)
	return s
}

// rowOf returns row i of m, or nil if m is nil.
func rowOf[T any](m rev.General[T], i int) []T {
	if m.Data == nil {
		return nil
	}
	return m.Row(i)
}

// withoutGaps returns the elements of v without gaps, in buf if v has some. It returns nil if v is nil.
func withoutGaps[T any](buf []T, v rev.Vector[T]) []T {
	if v.Data == nil {
		return nil
	}
	return vec.Packed(buf, v.Data, v.Inc, 0, v.N)
}

// meanOf returns ⟨x·y⟩. In fixed point it is rounded once, and sums do not wrap.
func meanOf[T rev.Real](x, y []T) T {
	if number.IsFixed[T]() {
		var s fixed.Accumulator
		s.AddDot(number.As[[]fixed.Q43](x), number.As[[]fixed.Q43](y))
		return T(s.Over(len(x)))
	}
	return number.Over(vector.Dot(rev.ViewSlice(x), rev.ViewSlice(y)), len(x))
}

// axpyOf computes y += alpha·x, unless one is nil.
func axpyOf[T rev.Real](y []T, alpha T, x []T) {
	vector.Axpy(alpha, rev.ViewSlice(x), rev.ViewSlice(y))
}

// addSigned computes y += sign·x, unless one is nil.
func addSigned[T rev.Real](y []T, sign int, x []T) {
	vector.AddScaled(sign, fixed.Of[T](1), rev.ViewSlice(x), rev.ViewSlice(y))
}

// subtractMean computes dst = x - ⟨x⟩.
func (w *rowNormPass[T]) subtractMean(dst, x []T) {
	switch x := any(x).(type) {
	case []float64:
		vec.AxpyTo(any(dst).([]float64), -vec.Sum(x)/float64(len(x)), any(w.ones).([]float64), x)
	case []float32:
		vec.AxpyTo(any(dst).([]float32), -vec.Sum(x)/float32(len(x)), any(w.ones).([]float32), x)
	case []fixed.Q43:
		var s fixed.Accumulator
		for _, v := range x {
			s.Add(v)
		}
		m := T(s.Over(len(x)))
		for i, v := range x {
			dst[i] = T(v) - m
		}
	}
}

// scaleTo computes dst = alpha·x.
func scaleTo[T rev.Real](dst []T, alpha T, x []T) {
	switch x := any(x).(type) {
	case []float64:
		vec.ScaleTo(any(dst).([]float64), float64(alpha), x)
	case []float32:
		vec.ScaleTo(any(dst).([]float32), float32(alpha), x)
	case []fixed.Q43:
		for i, v := range x {
			dst[i] = fixed.Product(alpha, T(v))
		}
	}
}

// addProducts computes y_i += alpha·(x_i·z_i), where a z of nil is 1. It does nothing if y or x is nil.
// In fixed point alpha times x_i is rounded first.
func addProducts[T rev.Real](y []T, alpha T, x, z []T) {
	if y == nil || x == nil {
		return
	}
	if z == nil {
		axpyOf(y, alpha, x)
		return
	}
	switch y := any(y).(type) {
	case []float64:
		vec.AddProduct(y, float64(alpha), any(x).([]float64), any(z).([]float64))
	case []float32:
		vec.AddProduct(y, float32(alpha), any(x).([]float32), any(z).([]float32))
	case []fixed.Q43:
		for i, v := range x {
			y[i] += fixed.Q43(fixed.Product(fixed.Product(alpha, v), z[i]))
		}
	}
}
