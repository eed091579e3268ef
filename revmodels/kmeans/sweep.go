package kmeans

import (
	"math"

	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A sweep is one pass over the points: it finds k(i) and adds up what a method
// of Cost needs. Points come in panels of 128, one to a worker at a time, and
// panels in batches.
//
// # The nearest centroid
//
// With all points and centroids shifted by the mean of the centroids, to x' and
// c', the nearest centroid has the largest score
//
//	s_ik = c'_k·x'_i - ½‖c'_k‖² = ½‖x'_i‖² - ½‖x'_i - c'_k‖²,
//
// a product of matrices with one more column, at the speed of the machine.
// With points along the lanes, maxima over groups of centroids are vector
// operations too. A score has an error, though, and near ties would come out
// one way or the other by chance of rounding. So scores only choose the groups
// whose centroids are looked at one by one: with u the unit roundoff,
// R = ‖x'_i‖ + max_k ‖c'_k‖, and η the smallest positive number,
//
//	½‖x' - c'‖² for ½‖x - c‖²         u·R²
//	½‖c'‖²                            ½D·u·R²
//	the D+1 products                  ½(D+1)·u·R², as |c'·x'| + ½‖c'‖² <= ½R²
//	½‖x - c‖² as distance computes it ½(D+2)·u·R²
//
// together less than (2D+4)·u·R², and (D+1)·η for products that underflow. The
// score of the centroid of the least computed distance is at most twice that
// below the largest score, so every group whose maximum is not below
//
//	t_i = max_k s_ik - (2D+8)·(ε·R² + η),  ε = 2u,
//
// is a candidate. Where R² is not far below the overflow threshold or is NaN,
// t_i is NaN, and all groups are candidates.
type sweep[T rev.Float] struct {
	k, g, t, gt     Cost[T]
	weight, dweight T    // 2·F̄ and 2·ġF
	moments         bool // whether sums are wanted

	n, d, comps int
	group       int // centroids in a group

	shift  []T     // the mean of the centroids
	scored []T     // K×(D+1): c'_k and -½‖c'_k‖²
	radius float64 // max_k ‖c'_k‖

	first       int                    // the first point of the batch
	labels      [batch]int32           // k(i) of the points of the batch
	dists       [batch]float64         // their squared distances
	dots        [batch / panel]float64 // Σ r·ṙ of its panels
	scratch     []*panelScratch[T]     // of each worker
	cost, dcost float64                // F and Ḟ
	counts      []int                  // n_k
	sums, dsums []float64              // K×D: Σ r_i and Σ ṙ_i over the points of a centroid

	allLabels []int     // if not nil, gets k(i) of all points
	allDists  []float64 // if not nil, gets their squared distances
}

const (
	panel     = 128
	batch     = 64 * panel
	tileRows  = 32 // centroids scored at a time
	sumsWidth = 8  // columns of sums that are one task: a cache line
)

// panelScratch is what a worker needs for a panel.
type panelScratch[T rev.Float] struct {
	points     []T // (D+1)×panel: x', points along the rows, and ones
	tile       []T // tileRows×panel: scores
	maxima     []T // groups×panel: the maxima of the groups
	top        [panel]T
	threshold  [panel]float64
	candidates [panel]uint8 // points whose nearest centroid may be in a group
}

// The parallel tasks of a sweep.
type (
	byPanel[T rev.Float]  sweep[T]
	byColumn[T rev.Float] sweep[T]
)

// open returns a sweep for k, which has been checked.
func (k Cost[T]) open() *sweep[T] {
	s := workspace.Get[sweep[T]]()
	s.k = k
	return s
}

// close gives the sweep back, without the caller's storage.
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
		for _, v := range s.dists[:size] {
			s.cost += v
		}
		for _, v := range s.dots[:panels] {
			s.dcost += 2 * v
		}
		if s.allLabels != nil {
			for i, label := range s.labels[:size] {
				s.allLabels[s.first+i] = int(label)
			}
			copy(s.allDists[s.first:], s.dists[:size])
		}
		if s.moments {
			for _, label := range s.labels[:size] {
				s.counts[label]++
			}
			parallel.Run(workers, (s.d+sumsWidth-1)/sumsWidth, (*byColumn[T])(s))
		}
	}
}

// prepare shifts the centroids, and makes room for workers.
func (s *sweep[T]) prepare(workers int) {
	// More centroids take more time for their maxima, larger groups more for
	// single distances.
	s.group = min(8, 1+s.comps/64)
	groups := (s.comps + s.group - 1) / s.group
	for len(s.scratch) < workers {
		s.scratch = append(s.scratch, new(panelScratch[T]))
	}
	for _, p := range s.scratch[:workers] {
		p.points = workspace.Grow(p.points, (s.d+1)*panel)
		p.tile = workspace.Grow(p.tile, min(s.comps, tileRows)*panel)
		p.maxima = workspace.Grow(p.maxima, groups*panel)
	}

	s.shift, s.scored = workspace.Grow(s.shift, s.d), workspace.Grow(s.scored, s.comps*(s.d+1))
	clear(s.shift)
	for c := range s.comps {
		for j, v := range s.k.Centroids.Row(c) {
			s.shift[j] += v / T(s.comps)
		}
	}
	largest := 0.0
	for c := range s.comps {
		row, norm := s.scored[c*(s.d+1):(c+1)*(s.d+1)], T(0)
		for j, v := range s.k.Centroids.Row(c) {
			row[j] = v - s.shift[j]
			norm += T(row[j] * row[j])
		}
		row[s.d] = -norm / 2
		largest = max(largest, float64(norm)) // NaN if one is
	}
	s.radius = math.Sqrt(largest)
}

// Block implements parallel.Task: it does panel b of the batch.
func (w *byPanel[T]) Block(worker, b int) {
	s := (*sweep[T])(w)
	p := s.scratch[worker]
	first := s.first + b*panel
	n := min(panel, s.n-first)
	labels, dists := s.labels[b*panel:][:n], s.dists[b*panel:][:n]
	s.score(p, first, n)

	for i := range dists {
		labels[i], dists[i] = 0, math.Inf(1)
	}
	for lo := 0; lo < s.comps; lo += s.group {
		hi := min(lo+s.group, s.comps)
		maxima := p.maxima[lo/s.group*panel:][:n]
		// First the list of candidates, without a branch: which points are on it
		// nothing could predict.
		count := 0
		for i, m := range maxima {
			p.candidates[count] = uint8(i)
			next := count + 1
			if float64(m) < p.threshold[i] {
				next = count
			}
			count = next
		}
		for _, i := range p.candidates[:count] {
			x := s.k.X.Row(first + int(i))
			for c := lo; c < hi; c++ {
				d := distance(x, s.k.Centroids.Row(c))
				if d < dists[i] || math.IsNaN(d) && !math.IsNaN(dists[i]) {
					labels[i], dists[i] = int32(c), d
				}
			}
		}
	}

	s.dots[b] = 0
	if s.t.X.Data == nil && s.t.Centroids.Data == nil && s.g.X.Data == nil && s.gt.X.Data == nil {
		return
	}
	for i, label := range labels {
		s.dots[b] += s.point(first+i, int(label))
	}
}

// score sets the maxima of the groups and the thresholds of the panel of n
// points from the given first one on.
func (s *sweep[T]) score(p *panelScratch[T], first, n int) {
	d := s.d
	norms := &p.threshold
	for i := range n {
		var norm float64
		for j, v := range s.k.X.Row(first + i) {
			v -= s.shift[j]
			p.points[j*panel+i] = v
			norm += float64(float64(v) * float64(v))
		}
		norms[i] = norm
		p.points[d*panel+i] = 1
	}

	top := p.top[:n]
	for i := range top {
		top[i] = T(math.Inf(-1))
	}
	// Whole groups at a time.
	rows := tileRows / s.group * s.group
	for c := 0; c < s.comps; c += rows {
		rows := min(rows, s.comps-c)
		tile := p.tile[:rows*panel]
		clear(tile)
		dense.Gemm(rows, n, d+1, 1, s.scored[c*(d+1):], d+1, 1, p.points, panel, 1, tile, panel)
		for r := 0; r < rows; r += s.group {
			m := p.maxima[(c+r)/s.group*panel:][:n]
			copy(m, tile[r*panel:])
			for q := r + 1; q < min(r+s.group, rows); q++ {
				vec.MaxTo(m, m, tile[q*panel:][:n])
			}
			vec.MaxTo(top, top, m)
		}
	}

	// 2⁻⁵² and the largest number, or those of float32.
	eps, eta, huge := 0x1p-52, math.SmallestNonzeroFloat64, math.MaxFloat64
	if any(*new(T)) == any(float32(0)) {
		eps, eta, huge = 0x1p-23, math.SmallestNonzeroFloat32, math.MaxFloat32
	}
	for i := range n {
		r := math.Sqrt(norms[i]) + s.radius
		if r *= r; r < huge/16 {
			p.threshold[i] = float64(top[i]) - float64(float64(2*d+8)*(float64(eps*r)+eta))
		} else {
			p.threshold[i] = math.NaN()
		}
	}
}

// distance returns ‖x - c‖². Its products are rounded before they are added, so
// that it is the same on all machines.
func distance[T rev.Float](x, c []T) float64 {
	c = c[:len(x)]
	var s float64
	for j, v := range x {
		r := float64(v) - float64(c[j])
		s += float64(r * r)
	}
	return s
}

// point adds to the gradients of point i, whose nearest centroid is c, and
// returns r·ṙ.
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

// Block implements parallel.Task: it adds the points of the batch to some
// columns of the sums.
func (w *byColumn[T]) Block(_, block int) {
	s := (*sweep[T])(w)
	lo := block * sumsWidth
	hi := min(lo+sumsWidth, s.d)
	size := min(batch, s.n-s.first)
	for i, label := range s.labels[:size] {
		c := int(label)
		x := s.k.X.Row(s.first + i)[lo:hi]
		centroid, sums := s.k.Centroids.Row(c)[lo:][:len(x)], s.sums[c*s.d+lo:][:len(x)]
		for j, v := range x {
			sums[j] += float64(v) - float64(centroid[j])
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
