package revnn

import (
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Over floats, Conv2D forms no C(X). The elements that a filter meets at neighbouring places
// lie next to each other in X, or a stride apart. A copy of some rows of X, with its padding
// and with the columns of each remainder modulo the stride together, therefore has every row
// of C(X) as a slice. Place (i, j) is element i·width+j of that slice, where width is that of
// the copy. The products are those of dense.GemmOffsets. They have some more columns, between
// the rows of places, which nobody reads.
//
//	copy of X           ·  x x x x  ·      row (u, v) of C(X) for a filter of 3×3 elements
//	with padding        ·  x x x x  ·      begins at element u·6+v, and has places 0 to 3,
//	                    ·  x x x x  ·      two elements between rows, places 6 to 9, ...
//
// X̄ is the same from Ȳ to X: element y of X gets W(u)·Ȳ((y+p-u·d)/s) for those u for which
// this is an integer. Elements of X with the same remainder modulo s, a phase, have the same
// u. A phase is a convolution of stride 1.
//
// W̄ has a contraction over places. The copy then has the channels of an element next to each
// other, and the elements after them. W̄_f(u, ·) is a row of the product of Ȳ by the rows that
// begin at the places. If these are shorter than half a vector, W̄ is made of sums of
// products of Ȳ by the slices above.

// A track is a side of the planes that a sweep reads and writes.
type track struct {
	first, step, apart int // element t of slot a of the copy is element first+a·apart+t·step of the plane
	slots, n           int // of the copy; elements of a slot
	extra              int // the largest shift
	phases, outStep    int // element t of phase r of the result is element r+t·outStep
	out                int // size of the result
	taps               []tap
}

// A tap is an element of the filters that a phase meets. Place t meets element t+shift of the
// slot.
type tap struct{ phase, element, slot, shift int }

// forward sets t for values.
func (t *track) forward(a *axis, share int) {
	d := gcd(a.stride, a.step)
	period := a.stride / d // elements u and u+period of a filter have the same slot
	*t = track{
		first: -a.pad, step: a.stride, apart: a.step, slots: min(a.size, period),
		phases: 1, outStep: 1, out: a.places, taps: t.taps[:0],
	}
	for u := range a.size {
		shift := u / period * (a.step / d)
		t.taps = append(t.taps, tap{0, u, u % period, shift})
		t.extra = shift
	}
	if t.isWide(share) {
		t.slots, t.extra = a.size, 0
		for i := range t.taps {
			t.taps[i].slot, t.taps[i].shift = i, 0
		}
	}
	t.n = t.count(0) + t.extra
}

// back sets t for gradients of X.
func (t *track) back(a *axis, share int) {
	*t = track{step: 1, slots: 1, phases: min(a.stride, a.n), outStep: a.stride, out: a.n, taps: t.taps[:0]}
	for r := range t.phases {
		for u := range a.size {
			d := r + a.pad - u*a.step
			if d%a.stride == 0 {
				t.taps = append(t.taps, tap{r, u, 0, d / a.stride})
			}
		}
	}
	if len(t.taps) == 0 {
		t.n = t.count(0)
		return
	}
	first, last := t.taps[0].shift, t.taps[0].shift
	for _, p := range t.taps {
		first, last = min(first, p.shift), max(last, p.shift)
	}
	t.first, t.extra = first, last-first
	for i := range t.taps {
		t.taps[i].shift -= first
	}
	if t.isWide(share) && (a.step == 1 || a.stride == 1) {
		t.apart = a.step
		t.slots, t.extra = t.extra/t.apart+1, 0
		for i := range t.taps {
			t.taps[i].slot, t.taps[i].shift = t.taps[i].shift/t.apart, 0
		}
	}
	t.n = t.count(0) + t.extra
}

// isWide reports whether slots are so much longer than places that each tap should have a slot
// of its own. Then no sums are computed in vain, but more elements are copied. share is how
// many places cost as much as an element between rows.
func (t *track) isWide(share int) bool { return t.extra > 0 && share*t.extra >= t.count(0) }

// shareOf returns that number for columns of a sweep by filters of the given width. Without
// elements between rows, sums go to the result at once. That pays if copies are small.
func (s *sweep) shareOf(width int) int {
	if 2*s.from*width <= s.to {
		return s.width
	}
	return 8
}

// count returns how many elements of the result a phase has.
func (t *track) count(phase int) int { return (t.out - phase + t.outStep - 1) / t.outStep }

// of returns the taps of a phase. They follow each other.
func (t *track) of(phase int) []tap {
	lo := 0
	for lo < len(t.taps) && t.taps[lo].phase < phase {
		lo++
	}
	hi := lo
	for hi < len(t.taps) && t.taps[hi].phase == phase {
		hi++
	}
	return t.taps[lo:hi]
}

// isPlain reports whether the copy of a plane with n elements on that side is the plane.
func (t *track) isPlain(n int) bool {
	return t.slots == 1 && t.first == 0 && t.step == 1 && t.extra == 0 && t.n == n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// A sweep computes planes of a result from planes of its input.
type sweep struct {
	rows, cols    track
	height, width int // of a plane of the input
	from, to      int // planes of a group: of the input, and of the result

	inputs, bandRows int  // of a block
	copied           bool // the planes are read from a copy
	plane            int  // from a plane of the copy to the next, all slots of all inputs
	slot             int  // from a slot to the next
	chunk            int  // planes of the result of a block

	offsets []int // where the rows of C begin: for each phase, each plane and each tap
}

const (
	directBytes  = 1 << 19 // about the size of a copy, and of the sums of a block
	directChunk  = 64      // least planes of the result of a block, if there are so many
	directBlocks = 16      // with more blocks than that, they have more planes
	directPack   = 64      // with more places than that, W is packed
	directLanes  = 512     // inputs share a block if their planes have fewer places
)

// plan sets the blocks and offsets of s, for numbers of inputs and groups, and elements of the given
// size.
func (s *sweep) plan(inputs, groups, size int) {
	r, c := &s.rows, &s.cols
	s.chunk = min(directChunk, max(1, s.to))
	width, slots := max(1, c.n), r.slots*c.slots
	room := directBytes / size
	s.bandRows = min(room/(max(1, s.from)*slots*width)-r.extra, room/(s.chunk*width))
	s.bandRows = max(1, min(s.bandRows, r.count(0)))
	s.inputs = 1
	if area := r.n * width; s.bandRows == r.count(0) {
		s.inputs = max(1, min(inputs, directLanes/area, room/(max(1, s.from)*slots*area)))
	} else {
		bands := s.bands()
		s.bandRows = (r.count(0)-1)/bands + 1
	}
	s.copied = s.inputs > 1 || !c.isPlain(s.width) || !r.isPlain(s.height)
	if blocks := (inputs + s.inputs - 1) / s.inputs * groups * s.bands(); blocks >= directBlocks {
		s.chunk = min(s.to, max(s.chunk, room/(s.inputs*(s.bandRows+r.extra)*width)&^(directChunk-1)))
	}
	s.slot = s.inputs * (s.bandRows + r.extra) * width
	s.plane = slots * s.slot
	if !s.copied {
		s.plane = s.height * s.width
	}
	s.offsets = s.offsets[:0]
	for a := range r.phases {
		for b := range c.phases {
			for p := range s.from {
				for _, u := range r.of(a) {
					for _, v := range c.of(b) {
						s.offsets = append(s.offsets, p*s.plane+(u.slot*c.slots+v.slot)*s.slot+u.shift*width+v.shift)
					}
				}
			}
		}
	}
}

func (s *sweep) bands() int { return (s.rows.count(0) + s.bandRows - 1) / s.bandRows }

// A directConv is a pass of Conv2D over floats in progress.
type directConv[T rev.Float] struct {
	k, g, t, gt Conv2D[T]
	sign        T
	rows, cols  axis
	groups      int

	stage          directStage
	value, back    sweep
	packs          bool // whether values have packed weights
	weights        []T  // W, packed
	tangentWeights []T  // Ẇ, packed
	weight         weightPlan
	scratch        []directScratch[T] // of each worker
}

type directStage int

const (
	directValue directStage = iota
	directX
	directW
	directB
)

type directScratch[T rev.Float] struct {
	image, sums, cotangents []T
	of                      *T // what image is a copy of in this block
}

// runDirect makes a pass of Conv2D. Blocks depend only on the shape.
func runDirect[T rev.Float](k Conv2D[T], p rev.Pass[Conv2D[T]], rows, cols axis, groups int) {
	w := workspace.Get[*directConv[T]]()
	w.k, w.g, w.t, w.gt = k, p.G, p.T, p.GT
	w.sign, w.rows, w.cols, w.groups = T(p.Sign()), rows, cols, groups
	w.run()
	w.k, w.g, w.t, w.gt = Conv2D[T]{}, Conv2D[T]{}, Conv2D[T]{}, Conv2D[T]{} // without the caller's storage
	workspace.Put(w)
}

// run makes the pass. Gradients are computed one after the other, as they may be the same
// storage.
func (w *directConv[T]) run() {
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	workers := parallel.Workers(k.Workers)
	w.scratch = workspace.Grow(w.scratch, max(len(w.scratch), workers))
	size, inputs := int(unsafe.Sizeof(T(0))), k.X.Rows
	filters, channels := k.W.Rows/w.groups, k.Channels/w.groups
	gradientOfW := g.W.Data != nil || gt.W.Data != nil
	if k.Y.Data != nil || t.Y.Data != nil || gradientOfW {
		s := &w.value
		s.height, s.width, s.from, s.to = k.Height, k.Width, channels, filters
		s.rows.forward(&w.rows, 0)
		s.cols.forward(&w.cols, s.shareOf(w.cols.size))
		s.plan(inputs, w.groups, size)
	}
	if k.Y.Data != nil || t.Y.Data != nil {
		if w.packs = inputs*w.places() >= directPack; w.packs {
			w.weights = w.pack(w.weights, k.W)
			w.tangentWeights = w.pack(w.tangentWeights, t.W)
		}
		w.stage = directValue
		parallel.Run(workers, w.blocks(&w.value), w)
	}
	if (g.X.Data != nil || gt.X.Data != nil) && k.X.Cols > 0 {
		s := &w.back
		s.height, s.width, s.from, s.to = w.rows.places, w.cols.places, filters, channels
		s.rows.back(&w.rows, 0)
		s.cols.back(&w.cols, s.shareOf(w.cols.size))
		s.plan(inputs, w.groups, size)
		w.weights = w.packTransposed(w.weights, k.W)
		w.tangentWeights = w.packTransposed(w.tangentWeights, t.W)
		w.stage = directX
		parallel.Run(workers, w.blocks(s), w)
	}
	if gradientOfW && k.X.Cols > 0 {
		w.planWeights(size)
		w.stage = directW
		parallel.Run(workers, w.groups*w.weight.chunks*w.weight.parts, w)
	}
	if g.B.Data != nil || gt.B.Data != nil {
		w.stage = directB
		parallel.Run(workers, k.W.Rows, w)
	}
}

// blocks returns how many blocks a sweep has.
func (w *directConv[T]) blocks(s *sweep) int {
	return (w.k.X.Rows + s.inputs - 1) / s.inputs * w.groups * s.bands() * ((s.to + s.chunk - 1) / s.chunk)
}

// Block computes a block of the value or of a gradient.
func (w *directConv[T]) Block(worker, b int) {
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	scratch := &w.scratch[worker]
	switch w.stage {
	case directValue:
		j := w.job(&w.value, scratch, b)
		weights, tangents := w.weightsOf(w.weights, k.W, j), w.weightsOf(w.tangentWeights, t.W, j)
		j.add(k.Y, w.sign, k.B, term[T]{k.X, weights}, term[T]{})
		j.add(t.Y, w.sign, t.B, term[T]{k.X, tangents}, term[T]{t.X, weights})
	case directX:
		j := w.job(&w.back, scratch, b)
		weights, tangents := w.transposed(w.weights, k.W, j), w.transposed(w.tangentWeights, t.W, j)
		j.add(g.X, 1, rev.Vector[T]{}, term[T]{g.Y, weights}, term[T]{})
		j.add(gt.X, 1, rev.Vector[T]{}, term[T]{g.Y, tangents}, term[T]{gt.Y, weights})
	case directW:
		w.addGradientOfW(scratch, b)
	case directB:
		w.addGradientOfB(b)
	}
	scratch.of = nil
}

// addGradientOfB adds the gradients of b_f.
func (w *directConv[T]) addGradientOfB(f int) {
	addPlaneSums(w.g.B, w.g.Y, f, w.rows.places*w.cols.places)
	addPlaneSums(w.gt.B, w.gt.Y, f, w.rows.places*w.cols.places)
}

// weightsOf returns the weights m, W or a derivative, for planes of the result of a group.
// Element (f, l) is element l of filter f.
func (w *directConv[T]) weightsOf(packed []T, m rev.General[T], j directJob[T]) dense.Left[T] {
	switch {
	case m.Data == nil || m.Cols == 0:
		return dense.Left[T]{}
	case !w.packs:
		return dense.Left[T]{Data: m.Data[(j.group*j.to+j.first)*m.Stride:], Rows: m.Stride, Cols: 1}
	}
	return dense.Left[T]{Data: packed[(j.group*j.to+j.first)*m.Cols:], Packed: true}
}

// pack copies the weights m to buf for the value, with blocks of its sweep one after the other.
func (w *directConv[T]) pack(buf []T, m rev.General[T]) []T {
	if m.Data == nil || m.Cols == 0 {
		return buf
	}
	s := &w.value
	buf = workspace.Grow(buf, m.Rows*m.Cols)
	for group := range w.groups {
		for first := 0; first < s.to; first += s.chunk {
			row := group*s.to + first
			dense.Pack(buf[row*m.Cols:], min(s.chunk, s.to-first), m.Cols, dense.Left[T]{Data: m.Data[row*m.Stride:], Rows: m.Stride, Cols: 1})
		}
	}
	return buf
}

// transposed returns the part of the weights that packTransposed wrote for a block and a phase
// that begins at an offset. It is nil if m is.
func (w *directConv[T]) transposed(packed []T, m rev.General[T], j directJob[T]) dense.Left[T] {
	if m.Data == nil {
		return dense.Left[T]{}
	}
	return dense.Left[T]{Data: packed[(j.group*j.to+j.first)*len(j.offsets):], Packed: true}
}

// packTransposed copies the weights m to buf for the gradient of X: a block of channels after
// the other, and in it the phases, each of which is a factor with a row for each channel.
func (w *directConv[T]) packTransposed(buf []T, m rev.General[T]) []T {
	if m.Data == nil {
		return buf
	}
	s, width := &w.back, w.k.KernelWidth
	area := w.k.KernelHeight * width
	buf = workspace.Grow(buf, w.groups*len(s.offsets)*s.to)
	at := 0
	panel := dense.PanelRows()
	for group := range w.groups {
		for first := 0; first < s.to; first += s.chunk {
			n := min(s.chunk, s.to-first)
			for a := range s.rows.phases {
				for b := range s.cols.phases {
					us, vs := s.rows.of(a), s.cols.of(b)
					k, l := s.from*len(us)*len(vs), 0
					for f := range s.from {
						filter := m.Row(group*s.from + f)[first*area:]
						for _, u := range us {
							for _, v := range vs {
								element := filter[u.element*width+v.element:]
								for c := 0; c < n; c += panel {
									rows := min(panel, n-c)
									to := buf[at+c*k+l*rows:][:rows]
									for i := range to {
										to[i] = element[(c+i)*area]
									}
								}
								l++
							}
						}
					}
					at += n * k
				}
			}
		}
	}
	return buf
}

// A directJob is a block of a sweep: planes first, ..., first+n-1 of the result of a group,
// for some inputs and places.
type directJob[T rev.Float] struct {
	*sweep
	scratch       *directScratch[T]
	group         int
	input, inputs int
	row           int // in each phase
	first, n      int
}

func (w *directConv[T]) job(s *sweep, scratch *directScratch[T], b int) directJob[T] {
	j := directJob[T]{sweep: s, scratch: scratch}
	chunks, bands := (s.to+s.chunk-1)/s.chunk, s.bands()
	j.first = b % chunks * s.chunk
	b /= chunks
	j.row = b % bands * s.bandRows
	b /= bands
	j.group = b % w.groups
	j.input = b / w.groups * s.inputs
	j.n = min(s.chunk, s.to-j.first)
	j.inputs = min(s.inputs, w.k.X.Rows-j.input)
	return j
}

// A term is a product of planes by weights.
type term[T rev.Float] struct {
	planes  rev.General[T]
	weights dense.Left[T]
}

func (t *term[T]) isZero() bool {
	return t.planes.Data == nil || t.planes.Cols == 0 || t.weights.Data == nil
}

// add adds alpha times the sum of two terms and of a bias to planes of out. Terms without
// planes or weights are left out.
func (j directJob[T]) add(out rev.General[T], alpha T, bias rev.Vector[T], x, y term[T]) {
	if out.Data == nil || bias.Data == nil && x.isZero() && y.isZero() {
		return
	}
	s, width := j.sweep, j.cols.n
	whole := s.sumsInPlace()
	at := 0 // of the phase, in offsets
	for a := range s.rows.phases {
		for b := range s.cols.phases {
			taps := len(s.rows.of(a)) * len(s.cols.of(b)) * s.from
			offsets := s.offsets[at:][:taps]
			rows, cols := min(s.bandRows, s.rows.count(a)-j.row), s.cols.count(b)
			if rows > 0 && cols > 0 && s.rowsInPlace() {
				to := j.result(out, j.input, j.first)[j.row*cols:]
				j.multiplyRows(to, alpha, x, offsets, rows)
				j.multiplyRows(to, alpha, y, offsets, rows)
				if bias.Data != nil {
					vec.AddConstant(to[:rows*cols], T(alpha*bias.Data[j.group*bias.Inc]))
				}
			} else if rows > 0 && cols > 0 && (taps > 0 || bias.Data != nil) {
				lanes := (j.inputs-1)*(s.bandRows+s.rows.extra)*width + (rows-1)*width + cols
				var sums []T
				ld, scale := s.slot, T(1)
				if whole {
					sums, ld, scale = j.result(out, j.input, j.first)[j.row*width:], s.rows.out*s.cols.out, alpha
				} else {
					sums = j.clear(lanes, bias)
				}
				j.multiply(sums, ld, scale, x, at, offsets, lanes)
				j.multiply(sums, ld, scale, y, at, offsets, lanes)
				switch {
				case !whole:
					j.addSums(out, alpha, sums, a, b, rows, cols)
				case bias.Data != nil:
					for q := range j.n {
						vec.AddConstant(sums[q*ld:][:lanes], T(alpha*bias.Data[(j.group*s.to+j.first+q)*bias.Inc]))
					}
				}
			}
			at += taps
		}
	}
}

// sumsInPlace reports whether the sums of a block are the elements of the result.
func (s *sweep) sumsInPlace() bool {
	return s.inputs == 1 && s.cols.extra == 0 && s.cols.outStep == 1 && s.rows.outStep == 1
}

// rowsInPlace reports whether each row of sums is a row of the one plane of a group of the result.
func (s *sweep) rowsInPlace() bool {
	return s.to == 1 && s.inputs == 1 && s.cols.extra > 0 && s.cols.outStep == 1 && s.rows.outStep == 1
}

// multiplyRows adds alpha times a term to rows of the result.
func (j directJob[T]) multiplyRows(to []T, alpha T, t term[T], offsets []int, rows int) {
	if !t.isZero() && len(offsets) > 0 {
		dense.GemmOffsetsRows(rows, j.cols.out, alpha, t.weights, j.image(t.planes), j.cols.n, offsets, to, j.cols.out)
	}
}

// clear returns sums that are the elements of the bias.
func (j directJob[T]) clear(lanes int, bias rev.Vector[T]) []T {
	s := j.sweep
	j.scratch.sums = workspace.Grow(j.scratch.sums, j.n*s.slot)
	sums := j.scratch.sums
	for q := range j.n {
		row := sums[q*s.slot:][:lanes]
		if bias.Data == nil {
			clear(row)
			continue
		}
		row[0] = bias.Data[(j.group*s.to+j.first+q)*bias.Inc]
		for n := 1; n < lanes; n *= 2 {
			copy(row[n:], row[:n])
		}
	}
	return sums
}

// multiply adds a term to sums.
func (j directJob[T]) multiply(sums []T, ld int, alpha T, t term[T], l int, offsets []int, lanes int) {
	if t.isZero() || len(offsets) == 0 {
		return
	}
	a := t.weights
	a.Data = a.Data[l*j.n:] // l is 0 unless a is packed
	dense.GemmOffsets(j.n, lanes, alpha, a, j.image(t.planes), offsets, sums, ld)
}

// result returns the planes of out from one of a group on, for an input.
func (j directJob[T]) result(out rev.General[T], input, first int) []T {
	return out.Row(input)[(j.group*j.to+first)*j.rows.out*j.cols.out:]
}

// addSums adds alpha times the sums of a phase to out.
func (j directJob[T]) addSums(out rev.General[T], alpha T, sums []T, a, b, rows, cols int) {
	s := j.sweep
	width, height := s.cols.n, s.bandRows+s.rows.extra
	down, right := s.rows.outStep, s.cols.outStep
	for q := range j.n {
		for m := range j.inputs {
			from := sums[q*s.slot+m*height*width:]
			to := j.result(out, j.input+m, j.first+q)[(a+j.row*down)*s.cols.out+b:]
			if right == 1 {
				dense.AddRows(rows, cols, alpha, from, width, to, min(down, s.rows.out)*s.cols.out)
				continue
			}
			for i := range rows {
				row := to[i*down*s.cols.out:]
				for p, v := range from[i*width:][:cols] {
					row[p*right] += T(alpha * v)
				}
			}
		}
	}
}

// image returns the planes of x that the offsets of the block are for.
func (j directJob[T]) image(x rev.General[T]) []T {
	s := j.sweep
	size := s.height * s.width
	if !s.copied {
		return x.Row(j.input)[j.group*s.from*size+j.row*s.width:][:(s.from-1)*size+min(s.bandRows, s.height-j.row)*s.width]
	}
	if j.scratch.of == &x.Data[0] {
		return j.scratch.image
	}
	j.scratch.of = &x.Data[0]
	j.scratch.image = workspace.Grow(j.scratch.image, s.from*s.plane)
	height := s.bandRows + s.rows.extra
	to := j.scratch.image
	for p := range s.from {
		for a := range s.rows.slots {
			for b := range s.cols.slots {
				for m := range s.inputs {
					if m < j.inputs {
						copyPlane(s, to[:height*s.cols.n], x.Row(j.input + m)[(j.group*s.from+p)*size:][:size], j.row, a, b)
					}
					to = to[height*s.cols.n:]
				}
			}
		}
	}
	return j.scratch.image
}

// copyPlane copies rows of slot (a, b) of a plane, with zeros for padding.
func copyPlane[T rev.Float](s *sweep, to, plane []T, row, a, b int) {
	r, c := &s.rows, &s.cols
	clear(to)
	top, left := r.first+a*r.apart+row*r.step, c.first+b*c.apart
	i, end := inPlane(top, r.step, len(to)/c.n, s.height)
	j, last := inPlane(left, c.step, c.n, s.width)
	if i < end && j < last {
		from := plane[(top+i*r.step)*s.width+left+j*c.step:]
		dense.CopyRows(end-i, last-j, to[i*c.n+j:], c.n, from, min(r.step, s.height)*s.width, c.step)
	}
}

// inPlane returns which of the elements first, first+step, ..., n of them, lie within
// 0, ..., size-1: those from number lo to number hi-1.
func inPlane(first, step, n, size int) (lo, hi int) {
	if first < 0 {
		lo = min(n, (-first+step-1)/step)
	}
	at := first + lo*step
	if at >= size {
		return lo, lo
	}
	return lo, min(n, lo+(size-at+step-1)/step)
}

// A weightPlan says how the gradient of W is cut into blocks.
type weightPlan struct {
	thin             bool // by RowDots
	channels, chunks int  // channels of a block, and how many blocks a group has of them
	filters, parts   int  // filters of a block likewise

	inputs, bandRows int   // that a product has at a time
	height, width    int   // of the copy of an input
	run              int   // elements of a filter whose rows follow each other in the copy
	offsets          []int // of the places in the copy
}

const (
	weightChannels = 32 // of a block
	weightFilters  = 64
	weightPlaces   = 256 // inputs share a product if they have fewer places
)

// planWeights sets the blocks of the gradient of W, for elements of the given size.
func (w *directConv[T]) planWeights(size int) {
	k, p, rows, cols := &w.k, &w.weight, &w.rows, &w.cols
	channels, filters := w.value.from, w.value.to
	p.run = 1
	if cols.step == 1 {
		p.run = cols.size
	}
	p.chunks = (channels-1)/weightChannels + 1
	p.channels, p.filters = (channels-1)/p.chunks+1, min(filters, weightFilters)
	if p.thin = 2*p.run*p.channels*size <= 64; p.thin {
		p.channels, p.chunks = channels, 1
	}
	if w.groups*p.chunks == 1 {
		p.filters = min(filters, weightFilters/4)
	}
	p.parts = (filters-1)/p.filters + 1
	if p.thin {
		return
	}
	p.width = (cols.places-1)*cols.stride + (cols.size-1)*cols.step + 1
	below := (rows.size - 1) * rows.step // rows of the copy after those of the places
	room := directBytes / size / (p.channels * p.width)
	p.bandRows = max(1, min(rows.places, (room-below-1)/rows.stride+1))
	p.inputs = 1
	p.height = (p.bandRows-1)*rows.stride + below + 1
	if p.bandRows == rows.places {
		p.inputs = max(1, min(k.X.Rows, weightPlaces/w.places(), room/p.height))
	}
	p.offsets = p.offsets[:0]
	for m := range p.inputs {
		for i := range p.bandRows {
			for j := range cols.places {
				p.offsets = append(p.offsets, ((m*p.height+i*rows.stride)*p.width+j*cols.stride)*p.channels)
			}
		}
	}
}

// places returns how many places the filters have on a plane.
func (w *directConv[T]) places() int { return w.rows.places * w.cols.places }

// A weightJob is a block of the gradient of W: some filters and channels of a group.
type weightJob[T rev.Float] struct {
	w       *directConv[T]
	scratch *directScratch[T]
	group   int
	filter, filters,
	channel, channels int
}

// addGradientOfW adds the gradients of block b.
func (w *directConv[T]) addGradientOfW(scratch *directScratch[T], b int) {
	p := &w.weight
	j := weightJob[T]{w: w, scratch: scratch}
	j.filter = b % p.parts * p.filters
	b /= p.parts
	j.channel = b % p.chunks * p.channels
	j.group = b / p.chunks
	j.filters = min(p.filters, w.value.to-j.filter)
	j.channels = min(p.channels, w.value.from-j.channel)
	k, g, t, gt := &w.k, &w.g, &w.t, &w.gt
	j.add(g.W, g.Y, k.X, rev.General[T]{}, rev.General[T]{})
	j.add(gt.W, gt.Y, k.X, g.Y, t.X)
}

// add adds the products of y by x and of y1 by x1 to the gradient out.
func (j weightJob[T]) add(out, y, x, y1, x1 rev.General[T]) {
	if out.Data == nil {
		return
	}
	area := j.w.rows.size * j.w.cols.size
	j.scratch.sums = workspace.Zeros(j.scratch.sums, j.filters*j.w.weight.channels*area)
	multiply := j.multiply
	if j.w.weight.thin {
		multiply = j.multiplyThin
	}
	multiply(y, x)
	multiply(y1, x1)
	sums := j.scratch.sums
	first := j.group*j.w.value.to + j.filter
	if j.w.weight.thin {
		dense.AddRows(j.filters, j.channels*area, 1, sums, j.channels*area, out.Data[first*out.Stride:], out.Stride)
		return
	}
	at := 0 // sums have all filters for an element, and its channels next to each other
	run, channels := j.w.weight.run, j.w.weight.channels
	for e := 0; e < area; e += run {
		for f := range j.filters {
			row := out.Row(first + f)[j.channel*area+e:]
			for v := range run {
				for c, sum := range sums[at:][:j.channels] {
					row[c*area+v] += sum
				}
				at += channels
			}
		}
	}
}

// multiplyThin adds the products of y by x to the sums. A row of these is a filter.
func (j weightJob[T]) multiplyThin(y, x rev.General[T]) {
	if y.Data == nil || x.Data == nil {
		return
	}
	w := j.w
	s := &w.value
	taps := len(s.offsets)
	d := directJob[T]{sweep: s, scratch: j.scratch, group: j.group, inputs: 1}
	for d.input = range w.k.X.Rows {
		for d.row = 0; d.row < w.rows.places; d.row += s.bandRows {
			image := d.image(x)
			for f := range j.filters {
				from := d.result(y, d.input, j.filter+f)[d.row*w.cols.places:]
				dense.RowDots(min(s.bandRows, w.rows.places-d.row), w.cols.places, image, s.cols.n, s.offsets, from, w.cols.places, j.scratch.sums[f*taps:][:taps])
			}
			j.scratch.of = nil
		}
	}
}

// multiply adds the products of y by x to the sums.
func (j weightJob[T]) multiply(y, x rev.General[T]) {
	if y.Data == nil || x.Data == nil {
		return
	}
	w := j.w
	p := &w.weight
	n := p.run * p.channels // the last block may have fewer channels: the others have no meaning
	for input := 0; input < w.k.X.Rows; input += p.inputs {
		inputs := min(p.inputs, w.k.X.Rows-input)
		for row := 0; row < w.rows.places; row += p.bandRows {
			rows := min(p.bandRows, w.rows.places-row)
			places := inputs * rows * w.cols.places
			from, ld := j.cotangents(y, input, inputs, row)
			j.transpose(x, input, inputs, row)
			at := 0
			for u := range w.rows.size {
				for v := 0; v < w.cols.size; v += p.run {
					image := j.scratch.image[(u*w.rows.step*p.width+v*w.cols.step)*p.channels:]
					dense.GemmOffsets(j.filters, n, 1, dense.Left[T]{Data: from, Rows: ld, Cols: 1}, image, p.offsets[:places], j.scratch.sums[at:], n)
					at += j.filters * n
				}
			}
		}
	}
}

// cotangents returns the cotangents y of some places, as rows.
func (j weightJob[T]) cotangents(y rev.General[T], input, inputs, row int) (data []T, ld int) {
	places := j.w.places()
	first := (j.group*j.w.value.to + j.filter) * places
	if inputs == 1 {
		return y.Row(input)[first+row*j.w.cols.places:], places
	}
	ld = inputs * places
	j.scratch.cotangents = workspace.Grow(j.scratch.cotangents, j.filters*ld)
	for m := range inputs {
		from := y.Row(input + m)[first:]
		for f := range j.filters {
			copy(j.scratch.cotangents[f*ld+m*places:][:places], from[f*places:])
		}
	}
	return j.scratch.cotangents, ld
}

// transpose copies the rows of x that some places meet, with zeros for padding. The channels
// of the block are next to each other.
func (j weightJob[T]) transpose(x rev.General[T], input, inputs, row int) {
	w, k := j.w, &j.w.k
	p := &w.weight
	n, size := p.channels, k.Height*k.Width
	j.scratch.image = workspace.Grow(j.scratch.image, p.inputs*p.height*p.width*n)
	lead := min(p.width, w.cols.pad)
	end := max(lead, min(p.width, lead+k.Width))
	to := j.scratch.image
	for m := range inputs {
		from := x.Row(input + m)[(j.group*w.value.from+j.channel)*size:]
		for i := range p.height {
			line := to[:p.width*n]
			to = to[p.width*n:]
			y := w.rows.at(row, 0) + i
			if y < 0 || y >= k.Height || lead == end {
				clear(line)
				continue
			}
			clear(line[:lead*n])
			dense.Transpose(line[lead*n:], n, from[y*k.Width:], size, j.channels, end-lead)
			clear(line[end*n:])
		}
	}
}
