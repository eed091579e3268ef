package kmeans

import (
	"math"

	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/nearest"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A sweep is one pass over the points. It finds k(i) and sums what a method of Cost
// needs. Points come in panels of 128, and panels in batches. A worker takes one panel at
// a time. In a panel, coordinates are rows, so that the lanes of a vector are points.
//
// If there are few centroids, their distances are compared. The operations and their order
// are those of a plain loop. If there are many, scores are compared, which take a third of
// the operations. Over float64, scores over float32 come first, as twice as many points fit a
// vector. If these leave more than an eighth of a panel undecided, scores over float64 follow.
type sweep[T rev.Float] struct {
	k, g, t, gt     Cost[T]
	weight, dweight T    // 2·F̄ and 2·ġF
	moments         bool // whether sums are needed

	n, d, comps int
	centers     []float64 // K×D: the centroids
	nan         bool      // whether one of them has a NaN

	scores scores[T]       // shifted by the mean of the centroids
	coarse scores[float32] // the same over float32, if T is float64
	rounds bool            // whether there are coarse scores

	first       int                    // the first point of the batch
	labels      [batch]int32           // k(i) of the points of the batch
	dists       [batch]float64         // their squared distances
	dots        [batch / panel]float64 // Σ r·ṙ of its panels
	scratch     []*panelScratch[T]     // of each worker
	cost, dcost float64                // F and Ḟ
	counts      []int                  // n_k
	sums, dsums []float64              // K×D: Σ r_i and Σ ṙ_i over the points of a centroid
	columns     int                    // columns of the sums for one task

	allLabels []int     // if not nil, gets k(i) of all points
	allDists  []float64 // if not nil, gets their squared distances
}

const (
	panel  = 128
	stride = panel + 8 // between rows; a power of two would put them into few sets of the cache
	batch  = 64 * panel

	// Up to few centroids, scores are not used. The pass needs the distance to the nearest
	// centroid anyway, and computing it costs as much as the scores of some centroids.
	few = 32

	// After a panel whose coarse scores leave too much undecided, so many panels have none. Data
	// that needs scores over float64 throughout then costs little more than without coarse ones.
	fine = 63
)

// panelScratch is the scratch memory of a worker for a panel.
type panelScratch[T rev.Float] struct {
	points   []float64 // D×stride: x, points along the rows
	best     [panel]float64
	label    [panel]float64
	centered []T      // D×stride: x'
	norms    [panel]T // ‖x'‖²
	least    twoLeast[T]
	which    [panel]uint8 // points whose scores do not decide

	// Over float64, coarse scores and their operands.
	rounded     []float32
	roundNorms  [panel]float32
	coarseLeast twoLeast[float32]
	skip        int // panels to come without coarse scores
}

// The parallel tasks of a sweep.
type (
	byPanel[T rev.Float]  sweep[T]
	byColumn[T rev.Float] sweep[T]
)

// costOpen returns a sweep for k, which has been checked.
func costOpen[T rev.Float](k Cost[T]) *sweep[T] {
	s := workspace.Get[*sweep[T]]()
	s.k = k
	return s
}

// close gives the sweep back without the caller's storage.
func (s *sweep[T]) close() {
	var none Cost[T]
	s.k, s.g, s.t, s.gt, s.weight, s.dweight, s.moments = none, none, none, none, 0, 0, false
	s.allLabels, s.allDists = nil, nil
	workspace.Put(s)
}

// run does the pass.
func (s *sweep[T]) run() {
	s.n, s.d, s.comps = s.k.X.Rows, s.k.X.Cols, s.k.Centroids.Rows
	s.cost, s.dcost = 0, 0
	s.moments = s.moments || s.g.Centroids.Data != nil || s.gt.Centroids.Data != nil
	if s.moments {
		s.counts = workspace.Grow(s.counts, s.comps)
		s.sums = workspace.Grow(s.sums, s.comps*s.d)
		s.dsums = workspace.Grow(s.dsums, s.comps*s.d)
		clear(s.counts)
		clear(s.sums)
		clear(s.dsums)
	}
	if s.n == 0 {
		return
	}
	workers := parallel.Workers(s.k.Workers)
	s.prepare(min(workers, batch/panel))
	for s.first = 0; s.first < s.n; s.first += batch {
		size := min(batch, s.n-s.first)
		panels := (size + panel - 1) / panel
		parallel.Run(workers, panels, (*byPanel[T])(s))
		s.cost += sum(s.dists[:size])
		for _, v := range s.dots[:panels] {
			s.dcost += 2 * v
		}
		if s.allLabels != nil {
			for i, label := range s.labels[:size] {
				s.allLabels[s.first+i] = int(label)
			}
			copy(s.allDists[s.first:], s.dists[:size])
		}
		if s.moments && s.d > 0 {
			for _, label := range s.labels[:size] {
				s.counts[label]++
			}
			parallel.Run(workers, (s.d+s.columns-1)/s.columns, (*byColumn[T])(s))
		}
	}
}

// sum returns Σ v. It keeps eight partial sums, each of every eighth number.
func sum(v []float64) float64 {
	var s [8]float64
	for ; len(v) >= 8; v = v[8:] {
		v := (*[8]float64)(v)
		for i := range s {
			s[i] += v[i]
		}
	}
	for i, v := range v {
		s[i] += v
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// prepare copies the centroids, shifts them, and makes room for workers.
func (s *sweep[T]) prepare(workers int) {
	s.columns, s.rounds = s.d, cpu.Is64[T]() && s.n >= panel
	if workers > 1 {
		s.columns = 8 // a cache line
	}
	for len(s.scratch) < workers {
		s.scratch = append(s.scratch, new(panelScratch[T]))
	}
	for _, p := range s.scratch[:workers] {
		p.points = workspace.Grow(p.points, s.d*stride)
		if s.comps > few {
			p.centered, p.skip = workspace.Grow(p.centered, s.d*stride), 0
			if s.rounds {
				p.rounded = workspace.Grow(p.rounded, s.d*stride)
			}
		}
	}
	s.centers, s.nan = workspace.Grow(s.centers, s.comps*s.d), false
	for c := range s.comps {
		row := s.centers[c*s.d:][:s.d]
		for j, v := range s.k.Centroids.Row(c) {
			row[j] = float64(v)
			s.nan = s.nan || math.IsNaN(row[j])
		}
	}
	if s.comps <= few {
		return
	}

	s.scores.shift = workspace.Zeros(s.scores.shift, s.d)
	for c := range s.comps {
		for j, v := range s.k.Centroids.Row(c) {
			s.scores.shift[j] += v / T(s.comps)
		}
	}
	s.scores.set(s.k.Centroids)
	if c, ok := any(s.scores.scored).([]float64); ok && s.rounds {
		s.coarse.round(c, s.comps, s.d)
	}
}

// Block implements parallel.Task. It processes panel b of the batch.
func (w *byPanel[T]) Block(worker, b int) {
	s := (*sweep[T])(w)
	p := s.scratch[worker]
	first := s.first + b*panel
	n := min(panel, s.n-first)
	labels, dists := s.labels[b*panel:][:n], s.dists[b*panel:][:n]
	switch {
	case s.nan || s.d == 0:
		for i := range n {
			labels[i], dists[i] = nearestOf(s.k.X.Row(first+i), s.k.Centroids)
		}
	case s.comps <= few:
		s.load(p.points, first, n)
		s.compare(p, n)
		for i := range n {
			if labels[i], dists[i] = int32(p.label[i]), p.best[i]; math.IsInf(dists[i], 1) {
				labels[i], dists[i] = nearestOf(s.k.X.Row(first+i), s.k.Centroids)
			}
		}
	default:
		s.score(p, first, labels, dists)
	}

	s.dots[b] = 0
	if s.t.X.Data == nil && s.t.Centroids.Data == nil && s.g.X.Data == nil && s.gt.X.Data == nil {
		return
	}
	for i, label := range labels {
		s.dots[b] += s.point(first+i, int(label))
	}
}

// load stores n points from point first on by coordinate.
func (s *sweep[T]) load(to []float64, first, n int) {
	if x, ok := any(s.k.X.Data).([]float64); ok {
		dense.Transpose(to, stride, x[first*s.k.X.Stride:], s.k.X.Stride, n, s.d)
		return
	}
	for i := range n {
		for j, v := range s.k.X.Row(first + i) {
			to[j*stride+i] = float64(v)
		}
	}
}

// compare finds the least distances of the n points in p.points.
func (s *sweep[T]) compare(p *panelScratch[T], n int) {
	n = padded(n)
	for i := range n {
		p.best[i] = math.Inf(1)
	}
	nearest.One(p.best[:n], p.label[:n], p.points, stride, s.centers, s.d, 0)
}

// score finds the nearest centroids of the points from point first on.
func (s *sweep[T]) score(p *panelScratch[T], first int, labels []int32, dists []float64) {
	n, x := len(labels), &s.k.X
	norms, unclear := p.norms[:n], n
	if s.rounds {
		if p.skip--; p.skip < 0 {
			if unclear = s.scoreCoarse(p, first, labels); 8*unclear > n {
				p.skip = fine
			}
		}
	}
	if 8*unclear > n {
		s.scores.load(p.centered, norms, x.Data[first*x.Stride:], x.Stride)
		best, second, label := s.scores.leastScores(&p.least, p.centered, n)
		unclear = decide(&s.scores, norms, best, second, label, labels, &p.which)
	}
	if unclear < n {
		distances(dists, x.Data[first*x.Stride:], x.Stride, s.k.Centroids, labels)
	}
	if unclear == 0 {
		return
	}
	for q, i := range p.which[:unclear] {
		for j, v := range x.Row(first + int(i)) {
			p.points[j*stride+q] = float64(v)
		}
	}
	s.compare(p, unclear)
	for q, i := range p.which[:unclear] {
		if labels[i], dists[i] = int32(p.label[q]), p.best[q]; math.IsInf(dists[i], 1) {
			labels[i], dists[i] = nearestOf(x.Row(first+int(i)), s.k.Centroids)
		}
	}
}

// scoreCoarse is decide for the coarse scores of the points from point first on.
func (s *sweep[T]) scoreCoarse(p *panelScratch[T], first int, labels []int32) (unclear int) {
	n, norms := len(labels), p.roundNorms[:len(labels)]
	s.load(p.points, first, n)
	for j, v := range s.scores.shift {
		nearest.SubRound(p.rounded[j*stride:][:padded(n)], p.points[j*stride:], float64(v))
	}
	squares(norms, p.rounded, s.d)
	best, second, label := s.coarse.leastScores(&p.coarseLeast, p.rounded, n)
	return decide(&s.coarse, norms, best, second, label, labels, &p.which)
}

// decide stores the labels of the least scores of some points, or 0 where these do not decide. It
// lists those in which and returns their number.
func decide[T rev.Float](s *scores[T], norms, best, second, label []T, labels []int32, which *[panel]uint8) (unclear int) {
	for i, norm := range norms {
		if labels[i] = int32(label[i]); !(float64(second[i])-float64(best[i]) > s.margin(norm)) {
			labels[i], which[unclear] = 0, uint8(i)
			unclear++
		}
	}
	return unclear
}

// point adds to the gradients of point i, whose nearest centroid is c. It returns r·ṙ.
func (s *sweep[T]) point(i, c int) (dot float64) {
	x, centroid := s.k.X.Row(i), s.k.Centroids.Row(c)[:s.d]
	var tx, tc, gx, gtx []T
	if s.t.X.Data != nil {
		tx = s.t.X.Row(i)
	}
	if s.t.Centroids.Data != nil {
		tc = s.t.Centroids.Row(c)
	}
	if s.g.X.Data != nil {
		gx = s.g.X.Row(i)
	}
	if s.gt.X.Data != nil {
		gtx = s.gt.X.Row(i)
	}
	for j, v := range x {
		r := v - centroid[j]
		var dr T
		if tx != nil {
			dr = tx[j]
		}
		if tc != nil {
			dr -= tc[j]
		}
		dot += float64(float64(r) * float64(dr))
		if gx != nil {
			gx[j] += T(s.weight * r)
		}
		if gtx != nil {
			gtx[j] += T(s.dweight*r) + T(s.weight*dr)
		}
	}
	return dot
}

// Block implements parallel.Task. It adds the points of the batch to some columns of the
// sums.
func (w *byColumn[T]) Block(_, block int) {
	s := (*sweep[T])(w)
	lo := block * s.columns
	hi := min(lo+s.columns, s.d)
	size := min(batch, s.n-s.first)
	if x, ok := any(s.k.X.Data).([]float64); ok {
		nearest.AddRows(s.sums[lo:], s.centers[lo:], s.d, s.labels[:size], x[s.first*s.k.X.Stride+lo:], s.k.X.Stride, hi-lo, nil)
	} else {
		for i, label := range s.labels[:size] {
			c := int(label)
			x := s.k.X.Row(s.first + i)[lo:hi]
			centroid, sums := s.centers[c*s.d+lo:][:len(x)], s.sums[c*s.d+lo:][:len(x)]
			for j, v := range x {
				sums[j] += float64(v) - centroid[j]
			}
		}
	}
	if s.gt.Centroids.Data == nil {
		return
	}
	if s.t.X.Data != nil {
		for i, label := range s.labels[:size] {
			dsums := s.dsums[int(label)*s.d+lo : int(label)*s.d+hi]
			for j, v := range s.t.X.Row(s.first + i)[lo:hi] {
				dsums[j] += float64(v)
			}
		}
	}
	if s.t.Centroids.Data != nil {
		for _, label := range s.labels[:size] {
			dsums := s.dsums[int(label)*s.d+lo : int(label)*s.d+hi]
			for j, v := range s.t.Centroids.Row(int(label))[lo:hi] {
				dsums[j] -= float64(v)
			}
		}
	}
}

// addGradients adds to the gradients of the centroids.
func (s *sweep[T]) addGradients() {
	for c := range s.comps {
		if s.g.Centroids.Data != nil {
			row := s.g.Centroids.Row(c)
			for j := range row {
				row[j] -= T(s.weight * T(s.sums[c*s.d+j]))
			}
		}
		if s.gt.Centroids.Data != nil {
			row := s.gt.Centroids.Row(c)
			for j := range row {
				row[j] -= T(s.dweight*T(s.sums[c*s.d+j])) + T(s.weight*T(s.dsums[c*s.d+j]))
			}
		}
	}
}
