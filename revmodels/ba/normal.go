package ba

import (
	"math"
	"slices"

	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/ba/internal/block9"
)

// normalEquations is the linear least squares problem of a step, and its solution.
//
// With the Jacobian [F E] of the residuals r by cameras and by points, a step (c, q)
// of Levenberg and Marquardt solves
//
//	(U + C)·c + W·q = -Fᵀr,   U = FᵀF,  W = FᵀE,  V = EᵀE,
//	Wᵀ·c + (V + Q)·q = -Eᵀr,
//
// with diagonal C and Q. V is block diagonal, so points are eliminated one at a time.
// With V + Q = L·Lᵀ and G = L⁻¹·Wᵀ, the reduced camera system is
//
//	(U + C - GᵀG)·c = -Fᵀr - Gᵀw,  w = -L⁻¹Eᵀr,
//
// and then q = L⁻ᵀ(w - G·c).
//
// Observations are sorted by their points, and observations of one point by their cameras. Results
// for points are computed over blocks of points, and results for cameras over cameras. They
// therefore do not depend on the number of workers.
type normalEquations struct {
	workers int
	loss    Loss // nil for none

	camera, point []int
	start         []int // the first observation of each point, and their number at the end
	byCamera      []int // observations in the order of cameras
	cameraStart   []int // the first of these of each camera, and their number at the end
	fixed         []bool
	blocks        []int // the first point of each block, and the number of points at the end

	r, j  []float64 // residuals; 2×12 an observation, F and E
	trial []float64 // residuals for cost alone

	u, gc []float64 // blocks of U, as in package block9; Fᵀr
	v, gq []float64 // 6 a point, the lower triangle of V by rows; Eᵀr

	l, w []float64 // 6 a point, L⁻¹; w
	g    []float64 // 3×9 an observation: G, with Cholesky only

	sums   []float64 // of blocks
	failed []bool
}

// jacobianLen is the number of derivatives of an observation: two rows.
const jacobianLen = 2 * (cameraLen + pointLen)

// couplingLen is the number of elements of G for an observation.
const couplingLen = pointLen * cameraLen

// pointBlock is the approximate number of observations of a block of points.
const pointBlock = 1024

// newNormal returns the linear problem for a problem with ordered observations.
func newNormal(p *Problem, o *Options, fixed []bool) *normalEquations {
	n, m, obs := p.NumCameras(), p.NumPoints(), p.NumObservations()
	s := &normalEquations{
		workers: parallel.Workers(o.Workers), loss: o.Loss,
		camera: p.Camera, point: p.Point, fixed: fixed,
		start: firsts(p.Point, m), byCamera: make([]int, obs), cameraStart: firsts(p.Camera, n),
		u: make([]float64, block9.Len*n), gc: make([]float64, cameraLen*n),
	}
	if o.Points == nil { // which have the rest
		s.r, s.trial, s.j = make([]float64, 2*obs), make([]float64, 2*obs), make([]float64, jacobianLen*obs)
		s.v, s.gq = make([]float64, 6*m), make([]float64, pointLen*m)
		s.l, s.w = make([]float64, 6*m), make([]float64, pointLen*m)
	}
	next := slices.Clone(s.cameraStart)
	for i, c := range p.Camera {
		s.byCamera[next[c]] = i
		next[c]++
	}
	for q := range m {
		if k := len(s.blocks); k == 0 || s.start[q+1]-s.start[s.blocks[k-1]] > pointBlock || q-s.blocks[k-1] >= pointBlock {
			s.blocks = append(s.blocks, q)
		}
	}
	s.blocks = append(s.blocks, m)
	s.sums, s.failed = make([]float64, len(s.blocks)), make([]bool, len(s.blocks))
	return s
}

// block is work on a block of points, or on a camera.
type block func(worker, b int)

// Block does the work.
func (f block) Block(worker, b int) { f(worker, b) }

// overPoints runs f for blocks of points.
func (s *normalEquations) overPoints(f func(b, from, to int)) {
	parallel.Run(s.workers, len(s.blocks)-1, block(func(_, b int) { f(b, s.blocks[b], s.blocks[b+1]) }))
}

// sum returns the sum of the results of f for blocks of points.
func (s *normalEquations) sum(f func(from, to int) float64) float64 {
	s.overPoints(func(b, from, to int) { s.sums[b] = f(from, to) })
	var sum float64
	for _, v := range s.sums[:len(s.blocks)-1] {
		sum += v
	}
	return sum
}

// kernel returns the kernel of the residuals, with zeros in r.
func (s *normalEquations) kernel(p *Problem, r []float64) Snavely[float64] {
	clear(r)
	k := p.Kernel()
	k.R, k.Workers = rev.ViewSlice(r), s.workers
	return k
}

// cost stores the residuals of p in trial, and returns ½ Σ ρ(‖r_i‖²).
func (s *normalEquations) cost(p *Problem) float64 {
	_ = s.kernel(p, s.trial).Forward()
	return s.sum(func(from, to int) float64 {
		return sumOfLosses(s.loss, s.trial[2*s.start[from]:2*s.start[to]])
	})
}

// linearise linearises the problem at p. With a loss, rows of the Jacobian and
// residuals are multiplied by √ρ', which gives the gradient of the cost. (The term of
// its second derivative with ρ", which is not positive, is omitted.)
func (s *normalEquations) linearise(p *Problem) {
	_ = s.kernel(p, s.r).Jacobian(rev.General[float64]{
		Rows: len(s.r), Cols: jacobianLen / 2, Stride: jacobianLen / 2, Data: s.j,
	})
	s.overPoints(func(_, from, to int) {
		for q := from; q < to; q++ {
			s.linearisePoint(q)
		}
	})
	parallel.Run(s.workers, len(s.cameraStart)-1, block(func(_, c int) { s.lineariseCamera(c) }))
}

func (s *normalEquations) linearisePoint(q int) {
	var v [6]float64
	var g [3]float64
	for i := s.start[q]; i < s.start[q+1]; i++ {
		j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
		r := (*[2]float64)(s.r[2*i:])
		if s.loss != nil {
			_, slope := s.loss.Rho(float64(r[0]*r[0]) + float64(r[1]*r[1]))
			root := math.Sqrt(slope)
			for k := range j {
				j[k] *= root
			}
			r[0] *= root
			r[1] *= root
		}
		for k := range 2 {
			x, y, z := j[12*k+9], j[12*k+10], j[12*k+11]
			v[0] += float64(x * x)
			v[1] += float64(y * x)
			v[2] += float64(y * y)
			v[3] += float64(z * x)
			v[4] += float64(z * y)
			v[5] += float64(z * z)
			g[0] += float64(x * r[k])
			g[1] += float64(y * r[k])
			g[2] += float64(z * r[k])
		}
	}
	if s.fixed != nil && s.fixed[q] {
		v, g = [6]float64{}, [3]float64{}
	}
	copy(s.v[6*q:], v[:])
	copy(s.gq[3*q:], g[:])
}

func (s *normalEquations) lineariseCamera(c int) {
	u, g := s.u[block9.Len*c:][:block9.Len], s.gc[cameraLen*c:][:cameraLen]
	clear(u)
	clear(g)
	block9.AddNormal(u, g, s.j, s.r, s.byCamera[s.cameraStart[c]:s.cameraStart[c+1]])
}

// pointDiagonal stores the diagonal of V.
func (s *normalEquations) pointDiagonal(dst []float64) {
	for i := range dst {
		k := i % pointLen
		dst[i] = s.v[6*(i/pointLen)+(k+1)*(k+2)/2-1]
	}
}

// inBlock is the place of element (i, j) of a block.
func inBlock(i, j int) int {
	if j < cameraLen-1 {
		return (cameraLen-1)*i + j
	}
	return (cameraLen-1)*cameraLen + i
}

// unpack stores a block by rows.
func unpack(dst *[cameraLen * cameraLen]float64, block []float64) {
	for i := range cameraLen {
		copy(dst[cameraLen*i:], block[(cameraLen-1)*i:(cameraLen-1)*(i+1)])
		dst[cameraLen*i+cameraLen-1] = block[(cameraLen-1)*cameraLen+i]
	}
}

// hold sets the derivatives by the focal lengths to zero, for the cameras with the number 1.
func (s *normalEquations) hold(cameras []float64) {
	for c, held := range cameras {
		if held != 1 {
			continue
		}
		if s.j != nil { // and not with Points
			for _, i := range s.byCamera[s.cameraStart[c]:s.cameraStart[c+1]] {
				s.j[jacobianLen*i+focal], s.j[jacobianLen*i+12+focal] = 0, 0
			}
		}
		u := s.u[block9.Len*c:]
		for l := range cameraLen {
			u[inBlock(focal, l)], u[inBlock(l, focal)] = 0, 0
		}
		s.gc[cameraLen*c+focal] = 0
	}
}

// eliminate factors V + Q for the damping Q of the points. If forms is set, it also
// computes G. It reports whether all blocks are positive definite.
func (s *normalEquations) eliminate(damping []float64, forms bool) bool {
	if forms && s.g == nil {
		s.g = make([]float64, couplingLen*len(s.camera))
	}
	s.overPoints(func(b, from, to int) {
		s.failed[b] = false
		for q := from; q < to; q++ {
			if !s.eliminatePoint(q, damping) {
				s.failed[b] = true
				return
			}
			if !forms {
				continue
			}
			l := (*[6]float64)(s.l[6*q:])
			for i := s.start[q]; i < s.start[q+1]; i++ {
				s.couple((*[3 * cameraLen]float64)(s.g[3*cameraLen*i:]), l, i)
			}
		}
	})
	for _, f := range s.failed[:len(s.blocks)-1] {
		if f {
			return false
		}
	}
	return true
}

// eliminatePoint stores L⁻¹ and w of a point. It reports whether V + Q is positive
// definite.
func (s *normalEquations) eliminatePoint(q int, damping []float64) bool {
	l, w := (*[6]float64)(s.l[6*q:]), (*[3]float64)(s.w[3*q:])
	if s.fixed != nil && s.fixed[q] {
		*l, *w = [6]float64{}, [3]float64{}
		return true
	}
	v, g, d := (*[6]float64)(s.v[6*q:]), (*[3]float64)(s.gq[3*q:]), (*[3]float64)(damping[3*q:])
	p := v[0] + d[0]
	a := math.Sqrt(p)
	b, c := v[1]/a, v[3]/a
	p1 := v[2] + d[1] - float64(b*b)
	e := math.Sqrt(p1)
	f := (v[4] - float64(c*b)) / e
	p2 := v[5] + d[2] - float64(c*c) - float64(f*f)
	if !(p > 0 && p1 > 0 && p2 > 0) || math.IsInf(p+p1+p2, 1) {
		return false
	}
	a, e = 1/a, 1/e
	h := 1 / math.Sqrt(p2)
	// [a; b e; c f h] is L with its diagonal inverted.
	l[0], l[2], l[5] = a, e, h
	l[1] = -float64(b*a) * e
	l[4] = -float64(f*e) * h
	l[3] = -(float64(c*a) + float64(f*l[1])) * h
	w[0], w[1], w[2] = lower(l, g[0], g[1], g[2])
	w[0], w[1], w[2] = -w[0], -w[1], -w[2]
	return true
}

// lower returns L⁻¹·(x, y, z), given L⁻¹.
func lower(l *[6]float64, x, y, z float64) (a, b, c float64) {
	return float64(l[0] * x), float64(l[1]*x) + float64(l[2]*y), float64(l[3]*x) + float64(l[4]*y) + float64(l[5]*z)
}

// upper returns L⁻ᵀ·(x, y, z), given L⁻¹.
func upper(l *[6]float64, x, y, z float64) (a, b, c float64) {
	return float64(l[0]*x) + float64(l[1]*y) + float64(l[3]*z), float64(l[2]*y) + float64(l[4]*z), float64(l[5] * z)
}

// couple stores G of observation i in g, given L⁻¹ of its point.
func (s *normalEquations) couple(g *[3 * cameraLen]float64, l *[6]float64, i int) {
	j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
	x0, y0, z0, x1, y1, z1 := j[9], j[10], j[11], j[21], j[22], j[23]
	a0, b0, c0 := lower(l, x0, y0, z0)
	a1, b1, c1 := lower(l, x1, y1, z1)
	for k := range cameraLen {
		f0, f1 := j[k], j[12+k]
		g[k] = float64(a0*f0) + float64(a1*f1)
		g[9+k] = float64(b0*f0) + float64(b1*f1)
		g[18+k] = float64(c0*f0) + float64(c1*f1)
	}
}

// points stores the step q of the points for the step c of all cameras. It returns by
// how much the cost falls according to the model. With m = F·c + E·q, that is
//
//	½‖r‖² - ½‖r + m‖² = -mᵀ(r + ½m).
func (s *normalEquations) points(q, c []float64) float64 {
	return s.sum(func(from, to int) float64 {
		var sum float64
		for p := from; p < to; p++ {
			sum += s.pointStep((*[3]float64)(q[3*p:]), c, p)
		}
		return sum
	})
}

func (s *normalEquations) pointStep(q *[3]float64, c []float64, p int) float64 {
	l := (*[6]float64)(s.l[6*p:])
	// Eᵀ·F·c, and then w - L⁻¹·Eᵀ·F·c.
	var t [3]float64
	for i := s.start[p]; i < s.start[p+1]; i++ {
		j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
		x := (*[cameraLen]float64)(c[cameraLen*s.camera[i]:])
		var m0, m1 float64
		for k, v := range x {
			m0 += float64(j[k] * v)
			m1 += float64(j[12+k] * v)
		}
		for k := range t {
			t[k] += float64(j[9+k]*m0) + float64(j[21+k]*m1)
		}
	}
	w := (*[3]float64)(s.w[3*p:])
	a, b, d := lower(l, t[0], t[1], t[2])
	q[0], q[1], q[2] = upper(l, w[0]-a, w[1]-b, w[2]-d)
	var sum float64
	for i := s.start[p]; i < s.start[p+1]; i++ {
		j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
		x := (*[cameraLen]float64)(c[cameraLen*s.camera[i]:])
		m0 := float64(j[9]*q[0]) + float64(j[10]*q[1]) + float64(j[11]*q[2])
		m1 := float64(j[21]*q[0]) + float64(j[22]*q[1]) + float64(j[23]*q[2])
		for k, v := range x {
			m0 += float64(j[k] * v)
			m1 += float64(j[12+k] * v)
		}
		sum -= float64(m0*(s.r[2*i]+m0/2)) + float64(m1*(s.r[2*i+1]+m1/2))
	}
	return sum
}

// reducedSystem is the reduced camera system without damping, S = U - GᵀG, in blocks of 9×9
// as in package block9. For each camera a it has blocks (a, b) for the cameras b <= a
// that see a point that a sees.
type reducedSystem struct {
	start []int   // the first block of each camera, and their number at the end
	with  []int32 // the camera b of each block, ascending for each a
	data  []float64
	right []float64 // -Fᵀr - Gᵀw

	rowOf []rowScratch // of workers
}

// rowScratch says which block of a row belongs to a camera, and which blocks belong to
// the cameras of a point.
type rowScratch struct{ with, which []int32 }

// newReduced returns the system with room for its blocks, or nil if there are more than
// limit blocks.
func newReduced(s *normalEquations, limit int) *reducedSystem {
	n := len(s.cameraStart) - 1
	x := &reducedSystem{start: make([]int, n+1), right: make([]float64, cameraLen*n), rowOf: make([]rowScratch, s.workers)}
	seen := make([]int32, n) // a+1 if (a, b) is there
	for a := range n {
		seen[a] = int32(a) + 1
		for _, i := range s.byCamera[s.cameraStart[a]:s.cameraStart[a+1]] {
			for _, b := range s.camera[s.start[s.point[i]]:i] {
				seen[b] = int32(a) + 1
			}
		}
		for b := range a + 1 {
			if seen[b] == int32(a)+1 {
				x.with = append(x.with, int32(b))
			}
		}
		x.start[a+1] = len(x.with)
		if len(x.with) > limit {
			return nil
		}
	}
	x.data = make([]float64, block9.Len*len(x.with))
	return x
}

// form computes the system.
func (x *reducedSystem) form(s *normalEquations) {
	parallel.Run(s.workers, len(x.start)-1, block(func(worker, a int) { x.row(s, &x.rowOf[worker], a) }))
}

func (x *reducedSystem) row(s *normalEquations, scratch *rowScratch, a int) {
	const size = block9.Len
	scratch.with = workspace.Grow(scratch.with, len(x.start))
	for k := x.start[a]; k < x.start[a+1]; k++ {
		scratch.with[x.with[k]] = int32(k - x.start[a])
	}
	row := x.data[size*x.start[a] : size*x.start[a+1]]
	clear(row)
	diagonal := row[len(row)-size:]
	copy(diagonal, s.u[size*a:size*(a+1)])
	right := (*[cameraLen]float64)(x.right[cameraLen*a:])
	for k := range right {
		right[k] = -s.gc[cameraLen*a+k]
	}
	for _, i := range s.byCamera[s.cameraStart[a]:s.cameraStart[a+1]] {
		g := s.g[3*cameraLen*i:][:3*cameraLen]
		q := s.point[i]
		w := (*[3]float64)(s.w[3*q:])
		for k := range right {
			right[k] -= float64(g[k]*w[0]) + float64(g[9+k]*w[1]) + float64(g[18+k]*w[2])
		}
		first := s.start[q]
		scratch.which = scratch.which[:0]
		for k := first; k <= i; k++ {
			b := s.camera[k]
			scratch.which = append(scratch.which, scratch.with[b])
			if b == a && k != i { // twice in one picture: this adds the transpose
				block9.SubProducts(diagonal, []int32{0}, s.g[3*cameraLen*k:], g)
			}
		}
		block9.SubProducts(row, scratch.which, g, s.g[3*cameraLen*first:])
	}
}
