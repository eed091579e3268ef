package revnn

import (
	"math"

	"revnum/fixed"
	"revnum/internal/logs"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Softmax, SoftmaxRows, LogSumExp, LogSumExpRows and CrossEntropy are functions of the
// softmax p of a vector or of the rows of a matrix.

const (
	// chunk is how many elements are processed at a time. Intermediate values then stay
	// in the first cache.
	chunk = 1024
	// vectorParts is the largest number of parts of a vector for workers.
	vectorParts = 64
	// keptSoftmax is the largest length of vectors whose exponentials are stored, and not computed again. A cache
	// often holds them.
	keptSoftmax = 1 << 20
	// shortSoftmax is the length from which loops over pieces do not take longer than their elements.
	shortSoftmax = 16
)

// A softmax yields the elements of p in pieces. next moves to the piece that begins with
// element lo, until there is none.
type softmax[T rev.Real] struct {
	x      rev.Vector[T]
	max, s T   // m and s
	unit   T   // 1/s. In fixed point it is 1, and p is divided by s.
	lo     int // of the piece
	p      []T // p_i/unit
	values []T // of all pieces if kept is set, and otherwise of one
	kept   bool
	maxima []T // if not nil, what the values of each piece are shifted by. next makes this m.
	room   *softmaxRoom[T]
}

// A softmaxRoom is scratch for a piece: p, products with p, and copies of operands with
// gaps. It also has the values that are kept.
type softmaxRoom[T rev.Real] struct {
	values, products, packed [chunk]T
	kept                     keptValues[T]
}

// keptValues are the exponentials of the pieces of a vector, and the maxima that these are shifted by.
type keptValues[T rev.Real] struct{ values, maxima []T }

// keep makes w store the exponentials of pieces, unless there are too many.
func (k *keptValues[T]) keep(w *softmax[T]) {
	if n := w.x.N; n <= keptSoftmax {
		k.values, k.maxima = workspace.Grow(k.values, n), workspace.Grow(k.maxima, (n+chunk-1)/chunk)
		w.values, w.maxima, w.kept = k.values, k.maxima, true
	}
}

// newSoftmax returns a softmax of x before its first piece. again says whether there will be pieces.
//
// In floating point it follows Blanchard, Higham and Higham, Accurately computing the
// log-sum-exp and softmax functions (2021). One pass over memory computes the maximum and
// the sums. It sums each piece shifted by the maximum of the piece, and rescales these sums
// when it adds them up.
func newSoftmax[T rev.Real](x rev.Vector[T], room *softmaxRoom[T], again bool) softmax[T] {
	w := softmax[T]{x: x, values: room.values[:], room: room}
	switch {
	case x.N <= chunk:
		w.max = maximum(x)
		w.s = expShift(w.values[:x.N], w.pack(x, x.N), w.max)
		w.kept = true
	case number.IsFixed[T]():
		w.max = maximum(x)
		for ; w.lo < x.N; w.lo += chunk {
			n := min(chunk, x.N-w.lo)
			w.s = addSat(w.s, expShift(w.values[:n], w.pack(x, n), w.max))
		}
		w.lo = 0
	default:
		if again {
			room.kept.keep(&w)
		}
		total := w.shiftedSum(&softmaxPass[T]{})
		w.max, w.s = T(total.max), T(total.sum)
	}
	if number.IsFixed[T]() {
		w.unit = fixed.Of[T](1)
		if w.kept {
			divide(w.values[:x.N], w.s)
		}
		return w
	}
	w.unit = 1 / w.s
	return w
}

// A shiftedSum is Σ exp(x_i - max) over some elements, and the sums of these exponentials times elements of ẋ, ȳ
// and ġy.
type shiftedSum struct {
	max, sum float64
	products softmaxMeans[float64]
}

// add adds the sums over further elements, those of products if there are any.
func (s *shiftedSum) add(t shiftedSum, products bool) {
	scale, tscale := 1.0, 1.0
	switch {
	case t.max == math.Inf(-1): // they are 0
	case math.IsNaN(t.max) || math.IsInf(t.max, 1) || t.max > s.max:
		scale = math.Exp(s.max - t.max)
		s.max = t.max
	default:
		tscale = math.Exp(t.max - s.max)
	}
	s.sum = float64(s.sum*scale) + float64(t.sum*tscale)
	if products {
		s.products = s.products.times(scale)
		s.products.add(t.products.times(tscale))
	}
}

// shiftedSum returns the sums over x, with those of products that o needs.
func (w *softmax[T]) shiftedSum(o *softmaxPass[T]) shiftedSum {
	total, means := shiftedSum{max: math.Inf(-1)}, o.hasMeans()
	w.unit = 1 // raw: only over floats
	for ; w.lo < w.x.N; w.lo += len(w.p) {
		x := w.pack(w.x, min(chunk, w.x.N-w.lo))
		w.p = w.values[:len(x)]
		if w.kept {
			w.p = w.values[w.lo:][:len(x)]
		}
		var t shiftedSum
		switch x := any(x).(type) {
		case []float64:
			if t.max = vec.Max(x); means || w.kept {
				t.sum = vec.ExpShiftSum(any(w.p).([]float64), x, t.max)
			} else { // the same without storing
				t.sum = vec.SumExp(x, t.max)
			}
		case []float32:
			m := vec.Max(x)
			t.max, t.sum = float64(m), float64(expShiftSum(any(w.p).([]float32), x, m))
		}
		if math.IsInf(t.max, -1) {
			t.sum = 0
			clear(w.p)
		}
		if w.maxima != nil {
			w.maxima[w.lo/chunk] = T(t.max)
		}
		if means {
			d := o.dots(w)
			t.products = softmaxMeans[float64]{float64(d.r), float64(d.d), float64(d.e)}
		}
		total.add(t, means)
	}
	w.lo, w.p = 0, nil
	return total
}

// next moves to the next piece. After the last it returns to before the first.
func (w *softmax[T]) next() bool {
	w.lo += len(w.p)
	n := min(chunk, w.x.N-w.lo)
	switch {
	case n <= 0:
		w.lo, w.p = 0, nil
		return false
	case w.kept:
		w.p = w.values[w.lo:][:n]
		if w.maxima == nil {
			break
		}
		if m := &w.maxima[w.lo/chunk]; *m != w.max { // where both are +Inf, their difference is NaN
			scale(w.p, math.Exp(float64(*m-w.max)))
			*m = w.max
		}
	default:
		w.p = w.values[:n]
		expShift(w.p, w.pack(w.x, n), w.max)
		if number.IsFixed[T]() {
			divide(w.p, w.s)
		}
	}
	return true
}

// pack returns n elements of v from the piece on: a view if v has no gaps.
func (w *softmax[T]) pack(v rev.Vector[T], n int) []T {
	return vec.Packed(w.room.packed[:], v.Data, v.Inc, w.lo, n)
}

// logSum returns m + log s, or the least number if there are no elements.
func (w *softmax[T]) logSum() T {
	switch {
	case w.x.N == 0 || math.IsInf(float64(w.max), 0):
		return w.max
	case number.IsFixed[T]():
		return w.max + T(fixed.Log(fixed.Q43(w.s)))
	}
	return w.max + T(logs.Log(float64(w.s)))
}

// forLogarithm prepares for derivatives of logSum. If the maximum is +Inf, p is then 0
// where x is finite, and otherwise NaN.
func (w *softmax[T]) forLogarithm() {
	if math.IsInf(float64(w.max), 1) {
		w.unit = 1 // raw: only over floats
	}
}

// dot returns Σ p_i·y_i over the piece.
func (w *softmax[T]) dot(y rev.Vector[T]) (s T) {
	if number.IsFixed[T]() || len(w.p) < 16 {
		for i, v := range w.pack(y, len(w.p)) {
			s += fixed.Product(w.p[i], v)
		}
	} else {
		s = vector.Dot(rev.ViewSlice(w.p), vector.Between(y, w.lo, len(w.p)))
	}
	return fixed.Product(s, w.unit)
}

// mean returns Σ p_i·y_i.
func (w *softmax[T]) mean(y rev.Vector[T]) (s T) {
	for w.next() {
		s += w.dot(y)
	}
	return s
}

// add adds sign·alpha times the values of the piece to y.
func (w *softmax[T]) add(y rev.Vector[T], sign int, alpha T, values []T) {
	vector.AddScaled(sign, fixed.Product(alpha, w.unit), rev.ViewSlice(values), vector.Between(y, w.lo, len(values)))
}

// softmaxPass is a pass over the softmax of a vector:
//
//	y_i += sign·p_i,  ẏ_i += sign·p_i·(ẋ_i - r),  r = Σ p_j·ẋ_j,
//	x̄_i += p_i·h_i,  ġx_i += p_i·(ġy_i - e + (ẋ_i - r)·h_i),  h_i = ȳ_i - d
//
// Operands may be nil. For Softmax, d = Σ p_j·ȳ_j and e = Σ p_j·(ġy_j + (ẋ_j - r)·h_j). For
// the logarithm of the sum, ȳ and ġy are nil, and d and e are the negative cotangent and
// its tangent.
type softmaxPass[T rev.Real] struct {
	sign                        int
	y, ty, tx, gx, gy, gtx, gty rev.Vector[T]
	r, d, e                     T
}

// dropUnused sets to nil what nothing needs. It is told whether there are cotangents, whether
// there is a tangent of the gradient, and whether r is needed for a tangent.
func (o *softmaxPass[T]) dropUnused(gradient, second, tangent bool) {
	var none rev.Vector[T]
	if !gradient {
		o.gx = none
	}
	if !second {
		o.gtx = none
	}
	if o.gtx.Data == nil {
		o.gty = none
		if !tangent {
			o.tx = none
		}
		if o.gx.Data == nil {
			o.gy = none
		}
	}
}

// omitForSoftmax is omit for Softmax.
func (o *softmaxPass[T]) omitForSoftmax() {
	gradient := o.gy.Data != nil
	o.dropUnused(gradient, o.gty.Data != nil || gradient && o.tx.Data != nil, o.ty.Data != nil)
}

// run makes the pass.
func (o *softmaxPass[T]) run(w *softmax[T]) {
	if 0 < w.x.N && w.x.N < shortSoftmax && o.gtx.Data == nil && !number.IsFixed[T]() {
		o.runShort(w)
		return
	}
	if o.hasMeans() {
		o.setMeans(o.means(w))
	}
	if o.hasTurn() {
		o.e += o.covariance(w)
	}
	o.add(w)
}

// runShort is run without second order for few floats, for which loops over pieces take longer
// than their elements.
func (o *softmaxPass[T]) runShort(w *softmax[T]) {
	p := w.values[:w.x.N]
	mean := func(y *rev.Vector[T]) (s T) {
		for i, v := range p {
			s += fixed.Product(v, y.Data[i*y.Inc])
		}
		return fixed.Product(s, w.unit)
	}
	// addCentered adds alpha·p_i·(x_i - mean) to y.
	addCentered := func(y *rev.Vector[T], alpha T, x *rev.Vector[T], mean T) {
		for i, v := range p {
			y.Data[i*y.Inc] += fixed.Product(alpha, fixed.Product(v, x.Data[i*x.Inc]-mean))
		}
	}
	alpha := number.Signed(o.sign, w.unit)
	if y := &o.y; y.Data != nil {
		for i, v := range p {
			y.Data[i*y.Inc] += fixed.Product(alpha, v)
		}
	}
	if o.tx.Data != nil {
		if o.r += mean(&o.tx); o.ty.Data != nil {
			addCentered(&o.ty, alpha, &o.tx, o.r)
		}
	}
	switch gx := &o.gx; {
	case gx.Data == nil:
	case o.gy.Data == nil:
		alpha := fixed.Product(-o.d, w.unit)
		for i, v := range p {
			gx.Data[i*gx.Inc] += fixed.Product(alpha, v)
		}
	default:
		o.d += mean(&o.gy)
		addCentered(gx, w.unit, &o.gy, o.d)
	}
}

// softmaxMeans are sums of p_i times elements of ẋ, ȳ and ġy.
type softmaxMeans[T rev.Real] struct{ r, d, e T }

func (o *softmaxPass[T]) hasMeans() bool {
	return o.tx.Data != nil || o.gy.Data != nil || o.gty.Data != nil
}

// dots returns the sums over the piece.
func (o *softmaxPass[T]) dots(w *softmax[T]) (m softmaxMeans[T]) {
	if o.tx.Data != nil {
		m.r = w.dot(o.tx)
	}
	if o.gy.Data != nil {
		m.d = w.dot(o.gy)
	}
	if o.gty.Data != nil {
		m.e = w.dot(o.gty)
	}
	return m
}

func (o *softmaxPass[T]) means(w *softmax[T]) (m softmaxMeans[T]) {
	for w.next() {
		m.add(o.dots(w))
	}
	return m
}

func (m *softmaxMeans[T]) add(n softmaxMeans[T]) { m.r, m.d, m.e = m.r+n.r, m.d+n.d, m.e+n.e }

func (m softmaxMeans[T]) times(c T) softmaxMeans[T] {
	return softmaxMeans[T]{T(c * m.r), T(c * m.d), T(c * m.e)}
}

func (o *softmaxPass[T]) setMeans(m softmaxMeans[T]) { o.r, o.d, o.e = o.r+m.r, o.d+m.d, o.e+m.e }

// hasTurn reports whether e has a part by ẋ and ȳ, which covariance returns.
func (o *softmaxPass[T]) hasTurn() bool {
	return o.gtx.Data != nil && o.tx.Data != nil && o.gy.Data != nil
}

// covariance returns Σ p_i·(ẋ_i - r)·(ȳ_i - d).
func (o *softmaxPass[T]) covariance(w *softmax[T]) (s T) {
	for w.next() {
		products := w.centered(o.tx, o.r)
		for i, v := range w.pack(o.gy, len(w.p)) {
			s += fixed.Product(fixed.Product(products[i], w.unit), v-o.d)
		}
	}
	return s
}

// add adds to the outputs.
func (o *softmaxPass[T]) add(w *softmax[T]) {
	one := fixed.Of[T](1)
	for o.needed() && w.next() {
		if o.y.Data != nil {
			w.add(o.y, o.sign, one, w.p)
		}
		if o.ty.Data != nil && o.tx.Data != nil {
			w.add(o.ty, o.sign, one, w.centered(o.tx, o.r))
		}
		switch {
		case o.gx.Data == nil:
		case o.gy.Data == nil:
			w.add(o.gx, 1, -o.d, w.p)
		default:
			w.add(o.gx, 1, one, w.centered(o.gy, o.d))
		}
		if o.gtx.Data != nil {
			products := o.turn(w)
			w.add(o.gtx, 1, one, products)
		}
	}
}

// needed reports whether o has an output.
func (o *softmaxPass[T]) needed() bool {
	return o.y.Data != nil || o.ty.Data != nil || o.gx.Data != nil || o.gtx.Data != nil
}

// turn returns the products of the piece with ġy_i - e + (ẋ_i - r)·h_i.
func (o *softmaxPass[T]) turn(w *softmax[T]) []T {
	v := w.room.products[:len(w.p)]
	clear(v)
	if o.tx.Data != nil {
		h := fixed.Of[T](1)
		if o.gy.Data == nil {
			h = -o.d
		}
		for i, dx := range w.pack(o.tx, len(v)) {
			v[i] = fixed.Product(dx-o.r, h)
		}
		if o.gy.Data != nil {
			for i, gy := range w.pack(o.gy, len(v)) {
				v[i] = fixed.Product(v[i], gy-o.d)
			}
		}
	}
	if o.gty.Data != nil {
		for i, gty := range w.pack(o.gty, len(v)) {
			v[i] += gty
		}
	}
	for i, p := range w.p {
		v[i] = fixed.Product(p, v[i]-o.e)
	}
	return v
}

// centered returns the products of the piece with y_i - mean.
func (w *softmax[T]) centered(y rev.Vector[T], mean T) []T {
	ys, products := w.pack(y, len(w.p)), w.room.products[:len(w.p)]
	if center(products, ys, mean, w.p) {
		return products
	}
	for i, p := range w.p {
		products[i] = fixed.Product(p, ys[i]-mean)
	}
	return products
}

// section returns the pass over n elements from lo on.
func (o softmaxPass[T]) section(lo, n int) softmaxPass[T] {
	for _, v := range [...]*rev.Vector[T]{&o.y, &o.ty, &o.tx, &o.gx, &o.gy, &o.gtx, &o.gty} {
		*v = vector.Between(*v, lo, n)
	}
	return o
}

// A softmaxVector is a pass over a vector, whose parts workers share in floating point.
type softmaxVector[T rev.Real] struct {
	softmaxPass[T]
	whole   softmax[T]
	workers int
	parts   int
	step    softmaxStep
	part    [vectorParts]struct { // results of steps
		sum        shiftedSum
		covariance T
	}
	room []softmaxRoom[T] // of each worker
	kept keptValues[T]
}

type softmaxStep int

const (
	stepSum softmaxStep = iota
	stepCovariance
	stepAdd
)

// partLength returns the length of the parts of a vector of n elements. The last part
// may be shorter.
func partLength[T rev.Real](n int) int {
	if number.IsFixed[T]() {
		return max(n, 1)
	}
	chunks := (n + chunk - 1) / chunk
	return chunk * max(8, (chunks+vectorParts-1)/vectorParts)
}

// openSoftmax returns the workspace of the pass o over x, with m and s computed.
func openSoftmax[T rev.Real](x rev.Vector[T], workers int, o *softmaxPass[T]) *softmaxVector[T] {
	w := workspace.Get[*softmaxVector[T]]()
	w.softmaxPass = *o
	length := partLength[T](x.N)
	w.parts, w.workers = (x.N+length-1)/length, 1
	if w.parts > 1 {
		w.workers = min(parallel.Workers(workers), w.parts)
	}
	w.room = workspace.Grow(w.room, max(len(w.room), w.workers))
	if w.parts <= 1 {
		w.whole = newSoftmax(x, &w.room[0], o.needed() || o.hasMeans())
		return w
	}
	w.whole = softmax[T]{x: x}
	if o.needed() {
		w.kept.keep(&w.whole)
	}
	w.run(stepSum)
	total := shiftedSum{max: math.Inf(-1)}
	for _, p := range w.part[:w.parts] {
		total.add(p.sum, w.hasMeans())
	}
	w.whole.max, w.whole.s = T(total.max), T(total.sum)
	w.whole.unit = 1 / w.whole.s
	m := total.products.times(1 / total.sum)
	means := softmaxMeans[T]{T(m.r), T(m.d), T(m.e)}
	isFinite := func(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
	if !isFinite(m.r) || !isFinite(m.d) || !isFinite(m.e) {
		// Products of a piece may overflow that has no weight, and what nothing asks for is 0 times an infinite sum.
		// The other means keep their bits, whatever is asked for beside them.
		s := w.whole
		s.room = &w.room[0]
		if !s.kept {
			s.values = s.room.values[:]
		}
		again := w.means(&s)
		for _, x := range []struct {
			mean   float64
			to, by *T
		}{{m.r, &means.r, &again.r}, {m.d, &means.d, &again.d}, {m.e, &means.e, &again.e}} {
			if !isFinite(x.mean) {
				*x.to = *x.by
			}
		}
	}
	w.setMeans(means)
	return w
}

// finish makes the pass.
func (w *softmaxVector[T]) finish() {
	if w.parts <= 1 {
		w.softmaxPass.run(&w.whole)
		return
	}
	if w.hasTurn() {
		w.run(stepCovariance)
		for _, p := range w.part[:w.parts] {
			w.e += p.covariance
		}
	}
	w.run(stepAdd)
}

// close returns the workspace, without the caller's storage.
func (w *softmaxVector[T]) close() {
	w.softmaxPass, w.whole = softmaxPass[T]{}, softmax[T]{}
	workspace.Put(w)
}

func (w *softmaxVector[T]) run(step softmaxStep) {
	w.step = step
	parallel.Run(w.workers, w.parts, w)
}

// Block makes a step for a part of the vector.
func (w *softmaxVector[T]) Block(worker, part int) {
	length := partLength[T](w.whole.x.N)
	lo := part * length
	n := min(length, w.whole.x.N-lo)
	s := w.whole
	s.x, s.room = vector.Between(s.x, lo, n), &w.room[worker]
	if s.kept {
		s.values, s.maxima = s.values[lo:][:n], s.maxima[lo/chunk:]
	} else {
		s.values = s.room.values[:]
	}
	o := w.section(lo, n)
	switch w.step {
	case stepSum:
		w.part[part].sum = s.shiftedSum(&o)
	case stepCovariance:
		w.part[part].covariance = o.covariance(&s)
	case stepAdd:
		o.add(&s)
	}
}

// maximum returns the largest element of x: NaN if one is NaN, and the least number if
// there are none.
func maximum[T rev.Real](x rev.Vector[T]) T {
	m := T(fixed.Min) // raw: the least number
	if !number.IsFixed[T]() {
		m = T(math.Inf(-1))
	}
	if x.Inc == 1 && x.N >= 16 {
		switch xs := any(x.Data[:x.N]).(type) {
		case []float64:
			return T(vec.Max(xs))
		case []float32:
			return T(vec.Max(xs))
		}
	}
	if x.Inc == 1 {
		xs, other := x.Data[:x.N], m
		for ; len(xs) > 1; xs = xs[2:] {
			m, other = max(m, xs[0]), max(other, xs[1])
		}
		if len(xs) > 0 {
			m = max(m, xs[0])
		}
		return max(m, other)
	}
	for i := range x.N {
		m = max(m, x.Data[i*x.Inc])
	}
	return m
}

// expShift computes dst_i = exp(x_i - shift), where no x_i is above shift, and returns
// the sum. In fixed point both saturate.
func expShift[T rev.Real](dst, x []T, shift T) T {
	switch x := any(x).(type) {
	case []float64:
		return T(expShiftSum(any(dst).([]float64), x, float64(shift)))
	case []float32:
		return T(expShiftSum(any(dst).([]float32), x, float32(shift)))
	}
	var s T
	for i, v := range x {
		dst[i] = T(fixed.Exp(fixed.Q43(v).SubSat(fixed.Q43(shift))))
		s = addSat(s, dst[i])
	}
	return s
}

func expShiftSum[T rev.Float](dst, x []T, shift T) T {
	var s [1]T
	vec.ExpRows(len(x), dst, max(1, len(x)), x, max(1, len(x)), []T{shift}, s[:])
	return s[0]
}

// scale multiplies floats by c.
func scale[T rev.Real](x []T, c float64) {
	switch x := any(x).(type) {
	case []float64:
		vec.ScaleTo(x, c, x)
	case []float32:
		vec.ScaleTo(x, float32(c), x)
	}
}

// center computes dst_i = x_i - c, times s_i if s is not nil, of floats that are not few, and reports whether
// x is such.
func center[T rev.Real](dst, x []T, c T, s []T) bool {
	if len(x) < shortSoftmax {
		return false
	}
	switch x := any(x).(type) {
	case []float64:
		centerFloats(any(dst).([]float64), x, float64(c), any(s).([]float64))
	case []float32:
		centerFloats(any(dst).([]float32), x, float32(c), any(s).([]float32))
	default:
		return false
	}
	return true
}

func centerFloats[T rev.Float](dst, x []T, c T, s []T) {
	if s == nil {
		vec.SubColumn(len(x), dst, len(x), x, len(x), []T{c})
	} else {
		vec.CenterScale(dst, len(x), x, len(x), []T{c}, s)
	}
}

// addSat returns a + b, saturated: both are fixed-point numbers.
func addSat[T rev.Real](a, b T) T { return T(fixed.Q43(a).AddSat(fixed.Q43(b))) }

// divide computes x_i /= s.
func divide[T rev.Real](x []T, s T) {
	for i, v := range x {
		x[i] = fixed.Quotient(v, s)
	}
}
