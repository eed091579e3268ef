package ba

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/fixedpoint"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// laneCount is how many observations in fixed point are computed side by side.
const laneCount = views.Lanes

type laneBlock [laneCount]fixed.Q43

// lanes is a number for each of some observations. Results are in the next blocks of the memory. The
// zero value is 0.
type lanes struct {
	*laneBlock
	memory *laneMemory
}

// A laneMemory has blocks, of which some are used.
type laneMemory struct {
	blocks  []*laneBlock
	used    int
	lanes   int        // that are computed
	nonzero *laneBlock // the last divisor, without a zero
}

func (m *laneMemory) next() lanes {
	if m.used == len(m.blocks) {
		m.blocks = append(m.blocks, new(laneBlock))
	}
	m.used++
	return lanes{m.blocks[m.used-1], m}
}

var zeros laneBlock

var ones = func() (b laneBlock) {
	for i := range b {
		b[i] = fixed.One
	}
	return b
}()

func (x lanes) add(y lanes) lanes {
	z, n := x.memory.next(), x.memory.lanes
	fixedpoint.AddTo(1, x.laneBlock[:n], y.laneBlock[:n], z.laneBlock[:n])
	return z
}

func (x lanes) sub(y lanes) lanes {
	z, n := y.memory.next(), y.memory.lanes
	fixedpoint.AddTo(-1, x.numbers()[:n], y.laneBlock[:n], z.laneBlock[:n])
	return z
}

// numbers returns the block of x, which may be the zero value.
func (x lanes) numbers() *laneBlock {
	if x.laneBlock == nil {
		return &zeros
	}
	return x.laneBlock
}

func (x lanes) mul(y lanes) lanes           { return lanes{&zeros, x.memory}.addProduct(x, y) }
func (x lanes) addProduct(y, z lanes) lanes { return x.products(1, y, z) }
func (x lanes) subProduct(y, z lanes) lanes { return x.products(-1, y, z) }

// products returns x + sign·y·z.
func (x lanes) products(sign int, y, z lanes) lanes {
	to, n := x.memory.next(), x.memory.lanes
	fixedpoint.AddProductsTo(sign, y.numbers()[:n], z.numbers()[:n], x.laneBlock[:n], to.laneBlock[:n])
	return to
}

// div divides as quotient does.
func (x lanes) div(y lanes) lanes {
	z, n := x.memory.next(), x.memory.lanes
	if !y.hasZero() {
		clear(z.laneBlock[:n])
		fixedpoint.AddQuotients(1, x.laneBlock[:n], y.laneBlock[:n], z.laneBlock[:n])
		return z
	}
	for i := range z.laneBlock[:n] {
		z.laneBlock[i] = quotient(x.laneBlock[i], y.laneBlock[i])
	}
	return z
}

func (x lanes) hasZero() bool {
	if x.laneBlock == x.memory.nonzero {
		return false
	}
	for _, v := range x.laneBlock[:x.memory.lanes] {
		if v == 0 {
			return true
		}
	}
	x.memory.nonzero = x.laneBlock
	return false
}

// A laneSweep is the workspace of sweepLanes. Blocks come first, so that they begin at lines of the cache.
type laneSweep struct {
	inputs  views.Views[float64] // the numbers of the cameras and points of a block, which are only copied
	columns [weightedColumns]laneBlock
	rows    [laneCount * weightedColumns]fixed.Q43
	memory  laneMemory
	term    term[lanes]
	real    camera[realNumber[fixed.Q43]]
	camera  camera[lanes]
	table   []fixed.Q43 // the numbers of all cameras
}

// flat returns the numbers of blocks.
func flat(b []laneBlock) []fixed.Q43 { return unsafe.Slice(&b[0][0], len(b)*laneCount) }

// copied returns x as numbers that are only copied.
func copied(x []fixed.Q43) []float64 {
	return unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// sweepLanes runs a task in one goroutine, some observations at a time.
func sweepLanes(p *problem[fixed.Q43], t *task[fixed.Q43]) {
	if t.do == views.Residuals && !p.outputs() {
		return
	}
	s := workspace.Get[*laneSweep]()
	defer workspace.Put(s)
	s.table = workspace.Grow(s.table, p.cameras.Rows*cameraFields)
	for i := range p.cameras.Rows {
		s.real = realCamera(p.model, p.cameras.Row(i))
		for k, v := range s.real.fields() {
			s.table[i*cameraFields+k] = v.v
		}
	}
	for first := 0; first < len(p.camera); first += laneCount {
		s.memory.used, s.memory.nonzero = 0, nil
		s.block(p, t, first, min(laneCount, len(p.camera)-first))
	}
}

// block handles n observations. The lanes after them have the last of these, so that no depth in them is 0
// that hasZero would find.
func (s *laneSweep) block(p *problem[fixed.Q43], t *task[fixed.Q43], first, n int) {
	s.memory.lanes = (n + 7) &^ 7
	needed := cameraFields
	if t.do == views.Residuals {
		needed = residualFields
	}
	if !s.inputs.Gather(0, copied(s.table), p.cameras.Rows, cameraFields, needed, p.camera[first:first+n]) ||
		!s.inputs.Gather(cameraFields, copied(p.points.Data), p.points.Rows, p.points.Stride, 3, p.point[first:first+n]) {
		p.checkIndices(first, first+n)
	}
	for row := range cameraFields + 3 {
		in := (*laneBlock)(unsafe.Pointer(&s.inputs[row]))
		for i := n; i < s.memory.lanes; i++ {
			in[i] = in[n-1]
		}
	}
	input := func(row int) lanes { return lanes{(*laneBlock)(unsafe.Pointer(&s.inputs[row])), &s.memory} }
	for k, v := range s.camera.fields() {
		*v = input(k)
	}
	var x [3]lanes
	for k := range x {
		x[k] = input(cameraFields + k)
	}
	f, one := [2]lanes{s.memory.next(), s.memory.next()}, lanes{&ones, &s.memory}
	loadPairs(&f, p.features, first, n)
	w := one
	if p.model == views.Weighted {
		w = s.memory.next()
		load(w.laneBlock[:n], p.weights, first)
	}
	e := &s.term
	e.observe(p.model, &s.camera, x, w, one, f, t.do != views.Residuals)
	if p.r.Data != nil {
		s.addResiduals(p, first, n, t.sign, e.r)
	}
	switch {
	case t.do == views.Derivative:
		for c := range e.j {
			for k := range t.j.Cols {
				s.columns[k] = *e.j[c][k].numbers()
			}
			fixedpoint.Transpose(t.j.Data[(2*first+c)*t.j.Stride:], 2*t.j.Stride, flat(s.columns[:]), laneCount, t.j.Cols, n)
		}
	case t.do == views.Adjoint && t.g.r.Data != nil:
		s.adjoint(p, &t.g, first, n, w)
	case t.do == views.Tangent && t.g.r.Data != nil:
		s.addResiduals(&t.g, first, n, t.sign, s.tangent(p, &t.g, first, n, w))
	}
	if p.model == views.Weighted {
		for i := first; i < first+n; i++ {
			addWeight(p, t, i)
		}
	}
}

// addResiduals adds the residuals of n observations to those of p.
func (s *laneSweep) addResiduals(p *problem[fixed.Q43], first, n int, sign fixed.Q43, r [2]lanes) {
	to, inc := p.r.Data[2*first*p.r.Inc:], p.r.Inc
	if inc == 1 {
		fixedpoint.AddPairs(int(sign), r[0].laneBlock[:n], r[1].laneBlock[:n], to[:2*n])
		return
	}
	for l := range n {
		for c := range r {
			to[(2*l+c)*inc] += sign * r[c].laneBlock[l] // raw: a sign
		}
	}
}

// loadPairs copies n rows of x, from the first on, to lanes.
func loadPairs(to *[2]lanes, x rev.General[fixed.Q43], first, n int) {
	if x.Stride == 2 {
		fixedpoint.Split(x.Data[2*first:2*(first+n)], to[0].laneBlock[:n], to[1].laneBlock[:n])
		return
	}
	for l := range n {
		row := x.Row(first + l)
		to[0].laneBlock[l], to[1].laneBlock[l] = row[0], row[1]
	}
}

// residualsOf returns the residuals of p.
func (s *laneSweep) residualsOf(p *problem[fixed.Q43], first, n int) (r [2]lanes) {
	r = [2]lanes{s.memory.next(), s.memory.next()}
	if p.r.Inc == 1 {
		fixedpoint.Split(p.r.Data[2*first:2*(first+n)], r[0].laneBlock[:n], r[1].laneBlock[:n])
		return r
	}
	for l := range n {
		for c := range r {
			r[c].laneBlock[l] = p.r.Data[(2*(first+l)+c)*p.r.Inc]
		}
	}
	return r
}

// adjoint adds to g the Jacobian, transposed, times the residuals of g.
func (s *laneSweep) adjoint(p, g *problem[fixed.Q43], first, n int, w lanes) {
	gr, cols := s.residualsOf(g, first, n), p.model.Columns()
	if g.cameras.Data != nil || g.points.Data != nil || g.weights.Data != nil {
		for k := range cols {
			s.columns[k] = *gr[0].mul(s.term.j[0][k]).addProduct(gr[1], s.term.j[1][k]).laneBlock
		}
		fixedpoint.Transpose(s.rows[:], cols, flat(s.columns[:]), laneCount, cols, n)
	}
	var features [2]lanes
	for c := range features {
		if g.features.Data != nil {
			features[c] = w.mul(gr[c])
		}
	}
	for l := range n {
		i, row := first+l, s.rows[l*cols:][:cols]
		if g.cameras.Data != nil {
			to := g.cameras.Row(p.camera[i])
			for k, v := range row[:len(to)] {
				to[k] += v
			}
		}
		row = row[params(p.model):]
		if g.points.Data != nil {
			to := g.points.Data[p.point[i]*g.points.Stride:][:3]
			to[0] += row[0]
			to[1] += row[1]
			to[2] += row[2]
		}
		if g.weights.Data != nil && p.model == views.Weighted {
			g.weights.Data[i*g.weights.Inc] += row[3]
		}
		if g.features.Data != nil {
			to := g.features.Row(i)
			to[0] -= features[0].laneBlock[l]
			to[1] -= features[1].laneBlock[l]
		}
	}
}

// tangent returns the Jacobian times the direction t.
func (s *laneSweep) tangent(p, t *problem[fixed.Q43], first, n int, w lanes) (d [2]lanes) {
	cols := p.model.Columns()
	clear(s.rows[:])
	f := [2]lanes{s.memory.next(), s.memory.next()}
	for l := range s.memory.lanes {
		i, row := first+min(l, n-1), s.rows[l*cols:][:cols]
		if t.cameras.Data != nil {
			copy(row, t.cameras.Row(p.camera[i]))
		}
		row = row[params(p.model):]
		if t.points.Data != nil {
			copy(row, t.points.Row(p.point[i]))
		}
		if t.weights.Data != nil && p.model == views.Weighted {
			row[3] = t.weights.Data[i*t.weights.Inc]
		}
		for c := range f {
			f[c].laneBlock[l] = 0
			if t.features.Data != nil {
				f[c].laneBlock[l] = t.features.Row(i)[c]
			}
		}
	}
	fixedpoint.Transpose(flat(s.columns[:]), laneCount, s.rows[:], cols, s.memory.lanes, cols)
	for c := range d {
		d[c] = lanes{&zeros, &s.memory}.subProduct(w, f[c])
		for k := range cols {
			d[c] = d[c].addProduct(s.term.j[c][k], lanes{&s.columns[k], &s.memory})
		}
	}
	return d
}

// addWeight adds what the weight of observation i adds to z, and its derivatives.
func addWeight(p *problem[fixed.Q43], t *task[fixed.Q43], i int) {
	w := p.weights.Data[i*p.weights.Inc]
	dz := -2 * w // raw: a factor
	if p.z.Data != nil {
		p.z.Data[i*p.z.Inc] += t.sign * (fixed.One - w.Mul(w)) // raw: a sign
	}
	switch {
	case t.do == views.Derivative:
		t.dz.Data[i*t.dz.Inc] = dz
	case t.do == views.Adjoint && t.g.z.Data != nil && t.g.weights.Data != nil:
		t.g.weights.Data[i*t.g.weights.Inc] += dz.Mul(t.g.z.Data[i*t.g.z.Inc])
	case t.do == views.Tangent && t.g.z.Data != nil && t.g.weights.Data != nil:
		t.g.z.Data[i*t.g.z.Inc] += t.sign * dz.Mul(t.g.weights.Data[i*t.g.weights.Inc]) // raw: a sign
	}
}
