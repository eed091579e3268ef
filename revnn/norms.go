package revnn

import (
	"math"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A norm is a map of sets x of elements of a matrix: rows of RMSNorm and LayerNorm, channels of a
// group in GroupNorm, and a channel of all rows in BatchNorm. With ⟨v⟩ the mean of the elements of v,
// and the terms in brackets those of all but RMSNorm,
//
//	u = ρ·(x - [⟨x⟩]),  ρ = 1/√(⟨(x - [⟨x⟩])²⟩ + ε),  y += γ·u + [β].
//
// With P(v) = v - [⟨v⟩] - u·⟨u·v⟩ and h = γ·ȳ, the derivatives are
//
//	u̇ = ρ·P(ẋ),  ẏ += γ·u̇ + γ̇·u + β̇,  x̄ += ρ·P(h),  γ̄ += Σ ȳ·u,  β̄ += Σ ȳ
//
// where the sums are over what has the same γ, and, of second order, with ḣ = γ·ġy + γ̇·ȳ,
//
//	ġx += ρ·(P(ḣ) - u̇·⟨u·h⟩ - u·⟨u̇·h⟩ - ρ·⟨u·ẋ⟩·P(h)),  ġγ += Σ ġy·u + ȳ·u̇,  ġβ += Σ ġy.
//
// BatchNorm also adds m = ⟨x⟩ and v = ⟨c²⟩ to its outputs, where c = x - m. Of m elements,
//
//	ṁ += ⟨ẋ⟩,  v̇ += 2·⟨c·ẋ⟩,  x̄ += (m̄ + 2·v̄·c)/m,  ġx += (ġm + 2·ġv·c + 2·v̄·(ẋ - ⟨ẋ⟩))/m.

// norm are the operands of such a kernel.
type norm[T rev.Real] struct {
	y, x           rev.General[T]
	gain, bias     rev.Vector[T]
	mean, variance rev.Vector[T] // of each set
}

// A normShape says which elements of a row have a gain, and which ones make a set.
type normShape struct {
	centered bool
	channels int  // gains
	groups   int  // sets of channels of a row
	batch    bool // a set is a channel of all rows
}

// rowShape is the shape of a kernel whose sets are rows.
func rowShape(centered bool, cols int) normShape {
	return normShape{centered: centered, channels: max(1, cols), groups: 1}
}

// checkGroups panics unless n things of the operand may be in the given number of groups of equal size.
func checkGroups[K any](operand string, n, groups int, what string) {
	if groups < 0 || n != 0 && (groups == 0 || n%groups != 0) {
		panic(rev.ShapeError[K](operand, "has %d %s: %d", n, what, groups))
	}
}

// A normPass is a pass in progress.
type normPass[T rev.Real] struct {
	normShape
	k, g, t, gt norm[T]

	epsilon    T
	slopes     bool // it has derivatives
	sign       int
	one        T
	unit       T             // 1 with the sign of the pass
	plane      int           // elements of a channel in a row
	size       int           // of a set
	perRow     int           // sets that start in a row
	gains      int           // of a set
	each       int           // elements of a gain that follow each other: gains·each is size
	spread     int           // copies of each gain, so that planes of few elements count as channels
	tile       int           // sets of a batch that are copied at a time
	byRows     bool          // sums over a batch are of rows, and not of copies of columns
	rows       int           // sets of a block
	perChannel [4][]T        // γ, β, γ̇ and β̇ without gaps
	copies     [4][]T        // of them
	sums       []T           // of each block, or of all: of γ̄, β̄, ġγ and ġβ
	room       []normRoom[T] // of each worker
}

// A normRoom has the vectors of a set.
type normRoom[T rev.Real] struct {
	u, dh, du, h, p []T
	gain, dgain     []T // of the set
	bias, dbias     []T
	tiles           [8][]T // copies of a batch: x, y, and their derivatives
	turned          []T
	mean, variance  T
	columns         columnStatistics[T]
}

// columnStatistics has numbers of each column of a block, if a pass is by rows.
type columnStatistics[T rev.Real] struct {
	mean, variance []T
	scale          []T // γ·ρ
	center         []T // a row of X minus the means
	sum, square    normSum[T]
}

// A normSum sums rows. Each level sums up to 16 of the one before, so that its rounding errors are small.
type normSum[T rev.Real] struct {
	rows, groups []T
	total        []float64
}

const (
	normBlocks = 64      // at most
	normBlock  = 1 << 13 // elements of a block at least
	normSums   = 4
	normPlane  = 64   // a plane of fewer elements counts as so many channels
	normTile   = 16   // planes of fewer elements are transposed, so many elements of a row at a time
	normPart   = 1024 // elements that are summed at a time

	// A batch of at least normColumns channels of one element is summed by rows. A block has at most normWide channels,
	// or normNarrow if they have more than normMany elements each.
	normColumns = 128
	normWide    = 256
	normNarrow  = 64
	normMany    = 512 // rows
	normGroup   = 16  // rows that are summed at a time, and sums of them

	normGradient = 1 << 30
)

// runNorm makes a pass. An epsilon of 0 means 1e-5.
func runNorm[T rev.Real](shape normShape, epsilon float64, sign, workers int, k, g, t, gt norm[T]) {
	n, c := k.x.Rows, k.x.Cols
	if n == 0 || c == 0 {
		return
	}
	w := workspace.Get[*normPass[T]]()
	w.normShape, w.k, w.g, w.t, w.gt, w.sign = shape, k, g, t, gt, sign
	w.slopes = false
	for _, d := range [...]*norm[T]{&g, &t, &gt} {
		w.slopes = w.slopes || d.y.Data != nil || d.mean.Data != nil || d.variance.Data != nil
	}
	w.one = fixed.Of[T](1)
	w.unit = number.Signed(sign, w.one)
	w.epsilon = normEpsilon[T](epsilon)
	w.plane, w.tile = c/w.channels, 1
	w.each, w.spread = w.plane, 1
	if w.batch {
		w.size, w.perRow, w.gains = n*w.plane, w.channels, 1
		w.each = w.size
		if w.plane < normTile {
			w.tile = (normTile + w.plane - 1) / w.plane
		}
	} else {
		if w.plane < normPlane {
			w.each, w.spread = 1, w.plane
		}
		w.size, w.perRow, w.gains = c/w.groups, w.groups, w.channels/w.groups*w.spread
	}
	sets := n * c / w.size
	w.rows = max((sets+normBlocks-1)/normBlocks, 1+normBlock/w.size)
	w.rows = (w.rows + w.tile - 1) / w.tile * w.tile
	workers = parallel.Workers(workers)
	w.byRows = w.batch && w.plane == 1 && w.channels >= normColumns && !number.IsFixed[T]()
	if w.byRows { // columns do not depend on their blocks
		most := normWide
		if n > normMany {
			most = normNarrow
		}
		shares := min(workers, 1+n*c/normBlock, c/normNarrow)
		w.rows = min(most, (c+shares-1)/shares)
		w.rows = (w.rows + w.tile - 1) / w.tile * w.tile
	}
	blocks := (sets + w.rows - 1) / w.rows
	workers = min(workers, blocks)
	for i, v := range [...]rev.Vector[T]{k.gain, k.bias, t.gain, t.bias} {
		w.perChannel[i] = w.withoutGaps(i, v)
	}
	sums := [normSums]rev.Vector[T]{g.gain, g.bias, gt.gain, gt.bias}
	w.sums = w.sums[:0]
	areas := blocks
	if w.batch {
		areas = 1
	}
	for _, to := range sums {
		if to.Data != nil {
			w.sums = workspace.Zeros(w.sums, areas*normSums*w.channels*w.spread)
			break
		}
	}
	w.room = workspace.Grow(w.room, max(len(w.room), workers))
	for i := range workers {
		w.growRoom(&w.room[i])
	}
	parallel.Run(workers, blocks, w)
	for b := range areas {
		for i, to := range sums {
			if to.Data == nil {
				continue
			}
			sum := w.blockSum(b, i)
			if w.spread > 1 {
				for c := range w.channels {
					to.Data[c*to.Inc] += vector.Sum(rev.ViewSlice(sum[c*w.spread:][:w.spread]))
				}
				continue
			}
			vector.Axpy(w.one, rev.ViewSlice(sum), to)
		}
	}
	w.k, w.g, w.t, w.gt = norm[T]{}, norm[T]{}, norm[T]{}, norm[T]{} // without the caller's storage
	w.perChannel = [4][]T{}
	workspace.Put(w)
}

// growRoom makes room for what the pass needs.
func (w *normPass[T]) growRoom(r *normRoom[T]) {
	if w.byRows {
		c := &r.columns
		for _, v := range [...]*[]T{&c.mean, &c.variance, &c.scale, &c.center, &c.sum.rows, &c.sum.groups, &c.square.rows, &c.square.groups} {
			*v = workspace.Grow(*v, w.rows)
		}
		c.sum.total, c.square.total = workspace.Grow(c.sum.total, w.rows), workspace.Grow(c.square.total, w.rows)
		if !w.slopes {
			return
		}
	}
	r.u = workspace.Grow(r.u, w.size)
	if w.slopes {
		for _, v := range [...]*[]T{&r.dh, &r.du, &r.h, &r.p} {
			*v = workspace.Grow(*v, w.size)
		}
	}
	if !w.batch {
		return
	}
	for i, m := range w.matrices() {
		if m.Data != nil {
			r.tiles[i] = workspace.Grow(r.tiles[i], w.tile*w.size)
		}
	}
	r.turned = workspace.Grow(r.turned, w.tile*w.size)
}

// matrices returns x, y, and their derivatives. Those of even number are operands or gradients of x. It returns no y
// if columns adds to that.
func (w *normPass[T]) matrices() [8]rev.General[T] {
	m := [8]rev.General[T]{w.k.x, w.k.y, w.g.x, w.g.y, w.t.x, w.t.y, w.gt.x, w.gt.y}
	if w.byRows {
		m[1] = rev.General[T]{}
	}
	return m
}

// isRead says of which of the matrices a pass reads the elements. It adds to the others.
var isRead = [8]bool{0: true, 3: true, 4: true, 7: true}

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

// blockSum returns a sum of a block. Blocks of a batch have their own parts of one.
func (w *normPass[T]) blockSum(block, sum int) []T {
	n := w.channels * w.spread
	if w.batch {
		block = 0
	}
	return w.sums[(block*normSums+sum)*n:][:n]
}

// Block works on a block of sets.
func (w *normPass[T]) Block(worker, block int) {
	r := w.room[worker]
	gains := &w.perChannel
	var sums [normSums][]T
	for i, to := range [...]rev.Vector[T]{w.g.gain, w.g.bias, w.gt.gain, w.gt.bias} {
		if to.Data != nil {
			sums[i] = w.blockSum(block, i)
		}
	}
	m := w.matrices()
	var v [8][]T
	var sum [normSums][]T
	lo, hi := block*w.rows, min((block+1)*w.rows, w.k.x.Rows*w.k.x.Cols/w.size)
	if !w.slopes && !w.batch {
		for k := lo; k < hi; k++ {
			row, at := k/w.perRow, k%w.perRow
			r.gain, r.bias = part(gains[0], at, w.gains), part(gains[1], at, w.gains)
			w.normalise(&r, part(rowOf(w.k.x, row), at, w.size), part(rowOf(w.k.y, row), at, w.size))
		}
		return
	}
	if w.byRows {
		w.columns(&r, lo, hi-lo)
		if !w.slopes {
			return
		}
	}
	for first := lo; first < hi; first += w.tile {
		end := min(first+w.tile, hi)
		if w.batch {
			w.gather(&r, m, first, end)
		}
		for k := first; k < end; k++ {
			row, at := k, 0
			if w.perRow > 1 {
				row, at = k/w.perRow, k%w.perRow
			}
			r.gain, r.bias = part(gains[0], at, w.gains), part(gains[1], at, w.gains)
			r.dgain, r.dbias = part(gains[2], at, w.gains), part(gains[3], at, w.gains)
			for i := range m {
				switch {
				case m[i].Data == nil:
				case w.batch:
					v[i] = part(r.tiles[i], k-first, w.size)
				default:
					v[i] = part(m[i].Row(row), at, w.size)
				}
			}
			for i := range sums {
				sum[i] = part(sums[i], at, w.gains)
			}
			if w.byRows {
				r.mean, r.variance = r.columns.mean[k-lo], r.columns.variance[k-lo]
			}
			w.set(&r, at, sum, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])
		}
		if w.batch {
			w.scatter(&r, m, first, end)
		}
	}
}

// columns finds the means and variances of n columns from lo on, and adds them and the values to the outputs.
func (w *normPass[T]) columns(r *normRoom[T], lo, n int) {
	if unsafe.Sizeof(w.one) == 4 {
		columnsOf(number.As[*normPass[float32]](w), &number.As[*normRoom[float32]](r).columns, lo, n)
	} else {
		columnsOf(number.As[*normPass[float64]](w), &number.As[*normRoom[float64]](r).columns, lo, n)
	}
}

// clear makes a sum of n columns zero.
func (s *normSum[T]) clear(n int) {
	s.rows, s.groups, s.total = s.rows[:n], s.groups[:n], s.total[:n]
	clear(s.rows)
	clear(s.groups)
	clear(s.total)
}

// carry adds a level to the next one where it has all that it sums: after rows up to end, out of m.
func (s *normSum[T]) carry(end, m int) {
	if end%normGroup == 0 || end == m {
		addSigned(s.groups, 1, s.rows)
		clear(s.rows)
	}
	if end%(normGroup*normGroup) == 0 || end == m {
		for j, v := range s.groups {
			s.total[j] += float64(v)
		}
		clear(s.groups)
	}
}

// columnsOf finds means m and then the sums of X - m, which is exact in columns that differ little. These correct m
// and the variances.
func columnsOf[T rev.Float](w *normPass[T], c *columnStatistics[T], lo, n int) {
	mean, variance, scale, d := c.mean[:n], c.variance[:n], c.scale[:n], c.center[:n]
	rows := func(m rev.General[T], i int) []T { return m.Data[i*m.Stride+lo:][:n] }
	m, x := w.k.x.Rows, w.k.x
	c.sum.clear(n)
	for first := 0; first < m; first += normGroup {
		end := min(first+normGroup, m)
		dense.AddRows(end-first, n, 1, x.Data[first*x.Stride+lo:], x.Stride, c.sum.rows, 0)
		c.sum.carry(end, m)
	}
	for j, s := range c.sum.total {
		mean[j] = T(s / float64(m))
	}
	c.sum.clear(n)
	c.square.clear(n)
	for i := range m {
		vec.AxpyTo(d, -1, mean, rows(x, i))
		vec.Axpy(1, d, c.sum.rows)
		vec.AddProduct(c.square.rows, 1, d, d)
		c.sum.carry(i+1, m)
		c.square.carry(i+1, m)
	}
	for j := range n {
		by := c.sum.total[j] / float64(m)
		mean[j] = T(float64(mean[j]) + by)
		variance[j] = T(max(0, c.square.total[j]/float64(m)-float64(by*by)))
		w.addMoments(lo+j, mean[j], variance[j])
	}
	if w.k.y.Data == nil {
		return
	}
	for j, v := range variance {
		scale[j] = w.unit * T(1/math.Sqrt(float64(v+w.epsilon)))
	}
	if gain := w.perChannel[0]; gain != nil {
		vec.MulTo(scale, scale, gain[lo:lo+n])
	}
	bias := w.perChannel[1]
	if bias != nil {
		bias = bias[lo : lo+n]
	}
	for i := range w.k.x.Rows {
		vec.AxpyTo(d, -1, mean, rows(w.k.x, i))
		if bias == nil {
			vec.AddProduct(rows(w.k.y, i), 1, d, scale)
		} else {
			vec.AddAffineProduct(rows(w.k.y, i), 1, d, scale, w.unit, bias)
		}
	}
}

// part returns elements i·n, ..., (i+1)·n-1 of v, or nil if v is nil.
func part[T any](v []T, i, n int) []T {
	if v == nil {
		return nil
	}
	return v[i*n:][:n]
}

// gather copies channels first, ..., end-1 of what is read into tiles, channel by channel. Channels of
// small planes are transposed. It sets tiles that are added to to zero.
func (w *normPass[T]) gather(r *normRoom[T], m [8]rev.General[T], first, end int) {
	n, cols := w.k.x.Rows, (end-first)*w.plane
	for i, m := range m {
		if m.Data == nil {
			continue
		}
		tile, from := r.tiles[i][:n*cols], m.Data[first*w.plane:]
		switch {
		case !isRead[i]:
			clear(tile)
		case w.plane < normTile:
			transpose(tile, n, from, m.Stride, n, cols)
		default:
			copyTile(n, cols, tile, from, m.Stride)
		}
	}
}

// scatter adds tiles to what gather has set to zero.
func (w *normPass[T]) scatter(r *normRoom[T], m [8]rev.General[T], first, end int) {
	n, cols := w.k.x.Rows, (end-first)*w.plane
	for i, m := range m {
		if m.Data == nil || isRead[i] {
			continue
		}
		tile := r.tiles[i][:n*cols]
		if w.plane < normTile {
			transpose(r.turned, cols, tile, n, cols, n)
			tile = r.turned
		}
		addTile(n, cols, tile, m.Data[first*w.plane:], m.Stride)
	}
}

// copyTile copies m rows of x of n elements to dst, which has no gaps.
func copyTile[T rev.Real](m, n int, dst, x []T, ldx int) {
	switch x := any(x).(type) {
	case []float64:
		dense.CopyRows(m, n, any(dst).([]float64), n, x, ldx, 1)
	case []float32:
		dense.CopyRows(m, n, any(dst).([]float32), n, x, ldx, 1)
	case []fixed.Q43:
		for i := range m {
			copy(any(dst).([]fixed.Q43)[i*n:][:n], x[i*ldx:])
		}
	}
}

// addTile adds m rows of n elements, without gaps, to those of y.
func addTile[T rev.Real](m, n int, x, y []T, ldy int) {
	switch x := any(x).(type) {
	case []float64:
		dense.AddRows(m, n, 1, x, n, any(y).([]float64), ldy)
	case []float32:
		dense.AddRows(m, n, 1, x, n, any(y).([]float32), ldy)
	case []fixed.Q43:
		for i := range m {
			addSigned(y[i*ldy:][:n], 1, any(x[i*n:][:n]).([]T))
		}
	}
}

// transpose computes dst[j*ldd+i] = x[i*ldx+j] for i < m and j < n.
func transpose[T rev.Real](dst []T, ldd int, x []T, ldx, m, n int) {
	switch x := any(x).(type) {
	case []float64:
		dense.Transpose(any(dst).([]float64), ldd, x, ldx, m, n)
	case []float32:
		dense.Transpose(any(dst).([]float32), ldd, x, ldx, m, n)
	case []fixed.Q43:
		for i := range m {
			for j := range n {
				dst[j*ldd+i] = T(x[i*ldx+j])
			}
		}
	}
}

// normalise adds γ·u + β to y, unless that is nil. It returns ρ, and u/ρ, and leaves the mean and the
// variance in r.
func (w *normPass[T]) normalise(r *normRoom[T], x, y []T) (rho T, center []T) {
	switch {
	case number.IsFixed[T]():
		center = x
		if w.centered {
			center = r.u
			r.mean = w.subtractMean(center, x)
		}
		r.variance = meanOf(center, center)
		rho = inverseRoot(r.variance, w.epsilon)
		w.addScaled(y, w.sign, rho, center, r.gain)
		w.addOffsets(y, r.bias)
		return rho, center
	case unsafe.Sizeof(rho) == 4:
		rho, center := normaliseFloats(number.As[*normPass[float32]](w), number.As[*normRoom[float32]](r), number.As[[]float32](x), number.As[[]float32](y))
		return T(rho), number.As[[]T](center)
	default:
		rho, center := normaliseFloats(number.As[*normPass[float64]](w), number.As[*normRoom[float64]](r), number.As[[]float64](x), number.As[[]float64](y))
		return T(rho), number.As[[]T](center)
	}
}

func normaliseFloats[T rev.Float](w *normPass[T], r *normRoom[T], x, y []T) (rho T, center []T) {
	center = x
	switch {
	case w.byRows: // which the room has the statistics of
		center = r.u
		vec.CenterSquares(center, x, r.mean)
	case w.centered:
		center = r.u
		r.mean, r.variance = centreOf(center, x)
	default:
		r.variance = meanSquare(x)
	}
	rho = T(1 / math.Sqrt(float64(r.variance+w.epsilon)))
	alpha := w.unit * rho
	switch {
	case y == nil:
	case w.each > 1:
		for i, from := 0, center; i < w.gains; i, from, y = i+1, from[w.each:], y[w.each:] {
			a := alpha
			if r.gain != nil {
				a *= r.gain[i]
			}
			if r.bias == nil {
				vec.Axpy(a, from[:w.each], y[:w.each])
			} else {
				vec.AddAffine(y[:w.each], a, from[:w.each], T(w.unit*r.bias[i]))
			}
		}
	case r.gain != nil && r.bias != nil:
		vec.AddAffineProduct(y, alpha, center, r.gain, w.unit, r.bias)
	default:
		if r.gain == nil {
			vec.Axpy(alpha, center, y)
		} else {
			vec.AddProduct(y, alpha, center, r.gain)
		}
		if r.bias != nil {
			vec.Axpy(w.unit, r.bias, y)
		}
	}
	return rho, center
}

// meanSquare returns ⟨x²⟩.
func meanSquare[T rev.Float](x []T) T {
	return meanOfParts(len(x), func(lo, hi int) T { return vec.SumSquares(x[lo:hi]) })
}

// set makes the pass for a set whose first channel has the number at.
func (w *normPass[T]) set(r *normRoom[T], at int, sum [normSums][]T, x, y, gx, gy, tx, ty, gtx, gty []T) {
	u, du := r.u, r.du
	rho, center := w.normalise(r, x, y)
	if w.batch {
		w.addStatistics(r, at, center, tx, gx, gtx)
	}
	if gy == nil && ty == nil && gty == nil {
		return
	}
	done := w.gradient(r, rho, center, sum, gx, gy)
	if done && tx == nil && ty == nil && gty == nil && gtx == nil {
		return
	}
	scaleTo(u, rho, center)

	var s T // ⟨u·ẋ⟩
	if tx == nil {
		du = nil
	} else if ty != nil || gy != nil {
		s = w.project(du, tx, u)
		scaleTo(du, rho, du)
	}
	if ty != nil {
		if du != nil {
			w.addScaled(ty, w.sign, w.one, du, r.gain)
		}
		if r.dgain != nil {
			w.addScaled(ty, w.sign, w.one, u, r.dgain)
		}
		w.addOffsets(ty, r.dbias)
	}

	if !done {
		w.addSums(sum[0], gy, u)
		w.addSums(sum[1], gy, nil)
	}
	w.addSums(sum[2], gty, u)
	if du != nil {
		w.addSums(sum[2], gy, du)
	}
	w.addSums(sum[3], gty, nil)

	var q T // ⟨u·h⟩
	h := gy
	if gy != nil && (gx != nil && !done || gtx != nil) {
		if r.gain != nil {
			h = r.h
			clear(h)
			w.addScaled(h, 1, w.one, gy, r.gain)
		}
		q = w.project(r.p, h, u)
		if !done {
			axpyOf(gx, rho, r.p)
		}
	}
	if gtx == nil {
		return
	}
	dh := r.dh
	clear(dh)
	w.addScaled(dh, 1, w.one, gty, r.gain)
	if r.dgain != nil {
		w.addScaled(dh, 1, w.one, gy, r.dgain)
	}
	w.project(dh, dh, u)
	axpyOf(gtx, rho, dh)
	if gy != nil && du != nil {
		axpyOf(gtx, -fixed.Product(rho, q), du)
		axpyOf(gtx, -fixed.Product(rho, meanOf(du, h)), u)
		axpyOf(gtx, -fixed.Product(fixed.Product(rho, s), rho), r.p)
	}
}

// gradient adds to x̄, γ̄ and β̄ over floats, in fewer passes over the elements than set:
//
//	x̄ += ρ·h - ρ·⟨h⟩ - ρ³·⟨c·h⟩·c,  c = u/ρ.
//
// It reports whether it did. Otherwise ρ³ or ⟨c·h⟩ might overflow or underflow.
func (w *normPass[T]) gradient(r *normRoom[T], rho T, center []T, sum [normSums][]T, gx, gy []T) bool {
	switch {
	case number.IsFixed[T]() || gy == nil || !(1.0/normGradient < float64(rho) && float64(rho) < normGradient):
		return false
	case unsafe.Sizeof(rho) == 4:
		gradientFloats(number.As[*normPass[float32]](w), number.As[*normRoom[float32]](r), float32(rho), number.As[[]float32](center),
			number.As[[]float32](sum[0]), number.As[[]float32](sum[1]), number.As[[]float32](gx), number.As[[]float32](gy))
	default:
		gradientFloats(number.As[*normPass[float64]](w), number.As[*normRoom[float64]](r), float64(rho), number.As[[]float64](center),
			number.As[[]float64](sum[0]), number.As[[]float64](sum[1]), number.As[[]float64](gx), number.As[[]float64](gy))
	}
	return true
}

func gradientFloats[T rev.Float](w *normPass[T], r *normRoom[T], rho T, center, ggain, gbias, gx, gy []T) {
	var s, q T // Σ h, Σ c·h
	if w.each == 1 {
		if ggain != nil {
			vec.AddProduct(ggain, rho, gy, center)
		}
		if gbias != nil {
			vec.Axpy(1, gy, gbias)
		}
		if gx == nil {
			return
		}
		h := gy
		if r.gain != nil {
			h = r.h
			vec.MulTo(h, gy, r.gain)
		}
		s, q = vec.Sum(h), vec.Dot(h, center)
		vec.Axpy(rho, h, gx)
	} else {
		for i := range w.gains {
			h, c := part(gy, i, w.each), part(center, i, w.each)
			si, qi := vec.Sum(h), vec.Dot(h, c)
			if ggain != nil {
				ggain[i] += T(rho * qi)
			}
			if gbias != nil {
				gbias[i] += si
			}
			gain := T(1)
			if r.gain != nil {
				gain = r.gain[i]
			}
			s += T(gain * si)
			q += T(gain * qi)
			if gx != nil {
				vec.Axpy(rho*gain, h, part(gx, i, w.each))
			}
		}
		if gx == nil {
			return
		}
	}
	m := T(len(gy))
	vec.Axpy(-(rho*q/m)*rho*rho, center, gx)
	if w.centered {
		vec.AddConstant(gx, -(rho * s / m))
	}
}

// addMoments adds the mean and the variance of a channel to the outputs.
func (w *normPass[T]) addMoments(at int, mean, variance T) {
	w.add(w.k.mean, at, mean)
	w.add(w.k.variance, at, variance)
}

// add adds v to an element with the sign of the pass.
func (w *normPass[T]) add(to rev.Vector[T], at int, v T) {
	if to.Data != nil {
		to.Data[at*to.Inc] += number.Signed(w.sign, v)
	}
}

// addStatistics adds the mean and the variance of a channel to the outputs, if columns has not, and adds their
// derivatives.
func (w *normPass[T]) addStatistics(r *normRoom[T], at int, center, tx, gx, gtx []T) {
	if !w.byRows {
		w.addMoments(at, r.mean, r.variance)
	}
	share := func(of rev.Vector[T], times int) T { return number.Over(T(times)*of.Data[at*of.Inc], len(center)) }
	if tx != nil && (w.t.mean.Data != nil || w.t.variance.Data != nil || w.g.variance.Data != nil) {
		w.add(w.t.mean, at, w.subtractMean(r.du, tx))
		w.add(w.t.variance, at, 2*meanOf(center, tx))
		if w.g.variance.Data != nil {
			axpyOf(gtx, share(w.g.variance, 2), r.du)
		}
	}
	for _, d := range [...]struct {
		to []T
		of *norm[T]
	}{{gx, &w.g}, {gtx, &w.gt}} {
		if d.of.variance.Data != nil {
			axpyOf(d.to, share(d.of.variance, 2), center)
		}
		if d.of.mean.Data != nil {
			vector.AddConstant(share(d.of.mean, 1), rev.ViewSlice(d.to))
		}
	}
}

// project computes dst = P(v), and returns ⟨u·v⟩.
func (w *normPass[T]) project(dst, v, u []T) T {
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

// withoutGaps returns the gains v, which are number i, without gaps, and each as often as w spreads it.
// It returns nil if v is nil.
func (w *normPass[T]) withoutGaps(i int, v rev.Vector[T]) []T {
	if v.Data == nil {
		return nil
	}
	if w.spread == 1 && v.Inc == 1 {
		return v.Data[:v.N]
	}
	buf := workspace.Grow(w.copies[i], v.N*w.spread)
	w.copies[i] = buf
	for c := range v.N {
		for j := range w.spread {
			buf[c*w.spread+j] = v.Data[c*v.Inc]
		}
	}
	return buf
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

// subtractMean computes dst = x - ⟨x⟩, and returns ⟨x⟩.
func (w *normPass[T]) subtractMean(dst, x []T) (m T) {
	switch x := any(x).(type) {
	case []float64:
		mean, _ := centreOf(any(dst).([]float64), x)
		m = T(mean)
	case []float32:
		mean, _ := centreOf(any(dst).([]float32), x)
		m = T(mean)
	case []fixed.Q43:
		var s fixed.Accumulator
		for _, v := range x {
			s.Add(v)
		}
		m = T(s.Over(len(x)))
		for i, v := range x {
			dst[i] = T(v) - m
		}
	}
	return m
}

// centreOf computes dst = x - ⟨x⟩, and returns ⟨x⟩ and ⟨dst²⟩.
func centreOf[T rev.Float](dst, x []T) (mean, variance T) {
	mean = meanOfParts(len(x), func(lo, hi int) T { return vec.Sum(x[lo:hi]) })
	return mean, meanOfParts(len(x), func(lo, hi int) T { return vec.CenterSquares(dst[lo:hi], x[lo:hi], mean) })
}

// meanOfParts returns 1/n times the sum of the sums of parts of n elements.
func meanOfParts[T rev.Float](n int, sum func(lo, hi int) T) T {
	s := 0.0
	for lo := 0; lo < n; lo += normPart {
		s += float64(sum(lo, min(lo+normPart, n)))
	}
	return T(s) / T(n)
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

// addScaled computes y += sign·alpha·γ·x, where a γ of nil is 1. It does nothing if y or x is nil. In fixed
// point alpha times x_i is rounded first, or alpha times γ if that has several elements, and the sign comes
// last: -2²⁰ has no negative.
func (w *normPass[T]) addScaled(y []T, sign int, alpha T, x, gain []T) {
	switch {
	case y == nil || x == nil:
	case gain == nil:
		vector.AddScaled(sign, alpha, rev.ViewSlice(x), rev.ViewSlice(y))
	case w.each == 1:
		addProducts(y, sign, alpha, x, gain)
	default:
		for i, g := range gain {
			vector.AddScaled(sign, fixed.Product(alpha, g), rev.ViewSlice(part(x, i, w.each)), rev.ViewSlice(part(y, i, w.each)))
		}
	}
}

// addOffsets computes y += β with the sign of the pass, unless one is nil.
func (w *normPass[T]) addOffsets(y, bias []T) {
	if w.each == 1 {
		addSigned(y, w.sign, bias)
	} else if y != nil {
		for i, b := range bias {
			vector.AddConstant(number.Signed(w.sign, b), rev.ViewSlice(part(y, i, w.each)))
		}
	}
}

// addSums adds to each sum the products x_i·y_i of the elements of its channel, where a y of nil is 1.
// It does nothing if sum or x is nil.
func (w *normPass[T]) addSums(sum, x, y []T) {
	switch {
	case sum == nil || x == nil:
	case w.each == 1 && y == nil:
		addSigned(sum, 1, x)
	case w.each == 1:
		addProducts(sum, 1, w.one, x, y)
	default:
		for i := range sum {
			v := rev.ViewSlice(part(x, i, w.each))
			if y == nil {
				sum[i] += vector.Sum(v)
			} else {
				sum[i] += vector.Dot(v, rev.ViewSlice(part(y, i, w.each)))
			}
		}
	}
}

// addProducts computes y_i += sign·alpha·x_i·z_i.
func addProducts[T rev.Real](y []T, sign int, alpha T, x, z []T) {
	switch y := any(y).(type) {
	case []float64:
		vec.AddProduct(y, float64(number.Signed(sign, alpha)), any(x).([]float64), any(z).([]float64))
	case []float32:
		vec.AddProduct(y, float32(number.Signed(sign, alpha)), any(x).([]float32), any(z).([]float32))
	case []fixed.Q43:
		for i, v := range x {
			y[i] += number.Signed(sign, fixed.Q43(fixed.Product(fixed.Product(alpha, v), z[i])))
		}
	}
}
