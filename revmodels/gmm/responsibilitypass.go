package gmm

import (
	"math"

	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/ulog"
)

// responsibilityPass is one pass over the points, by panels of points along the rows of
// arrays. Runs of panels are parts. Each part has moments of its own, which are added
// in order.
type responsibilityPass[T rev.Float] struct {
	k, g, t, gt LogResponsibilities[T]
	sign        T // the sign of log r in R

	tangent, gradient, second, x bool // what the pass computes

	d, n, comps          int
	panel, panels, parts int

	q, dq, bias, dbias []T

	// Of each part and component: Σ_i w, Σ_i z, and Σ_i z·cᵀ, and their tangents.
	moments, dmoments []T

	scratch []responsibilityScratch[T] // of each worker
}

// responsibilityScratch is the scratch of a worker for a panel: arrays of D×panel and
// panel×K numbers.
type responsibilityScratch[T rev.Float] struct {
	x, dx, c, dc, y, dy, gx, dgx []T
	w, dw                        []T            // of component k and point p at k·panel + p
	beta                         []ulog.Float64 // at p·K + k
	dbeta                        []float64
}

// given reports whether any of the inputs is there.
func (k *LogResponsibilities[T]) given() bool {
	return k.Alpha.Data != nil || k.Means.Data != nil || k.Factors.Data != nil || k.X.Data != nil
}

func (s *responsibilityPass[T]) prepare(workers int) {
	k, t := &s.k, &s.t
	d, comps := k.X.Cols, k.Alpha.N
	s.d, s.n, s.comps = d, k.X.Rows, comps
	cotangent := s.g.R.Data != nil || s.gt.R.Data != nil
	s.second = cotangent && s.gt.given()
	s.gradient = cotangent && s.g.given() || s.second
	s.x = s.g.X.Data != nil || s.gt.X.Data != nil
	s.tangent = s.second || t.given() && t.R.Data != nil

	s.panel = min(max(2048/max(d, comps, 1), 8), 128)
	s.panels = (s.n + s.panel - 1) / s.panel
	s.parts = min(max(1<<21/max(comps*s.momentSize(), 1), 2), 16, s.panels)

	s.q, s.bias = workspace.Zeros(s.q, comps*d*d), workspace.Grow(s.bias, comps)
	s.dq, s.dbias = workspace.Zeros(s.dq, comps*d*d), workspace.Zeros(s.dbias, comps)
	for c := range comps {
		row, q := k.Factors.Row(c), s.q[c*d*d:(c+1)*d*d]
		s.bias[c] = k.Alpha.Data[c*k.Alpha.Inc]
		for j, v := range row[:d] {
			s.bias[c] += v
			q[j*d+j] = T(math.Exp(float64(v)))
		}
		lowerByColumns(q, row[d:], d)
		if t.Alpha.Data != nil {
			s.dbias[c] = t.Alpha.Data[c*t.Alpha.Inc]
		}
		if t.Factors.Data != nil {
			row, dq := t.Factors.Row(c), s.dq[c*d*d:(c+1)*d*d]
			for j, v := range row[:d] {
				s.dbias[c] += v
				dq[j*d+j] = q[j*d+j] * v
			}
			lowerByColumns(dq, row[d:], d)
		}
	}
	if s.gradient {
		s.moments = workspace.Zeros(s.moments, s.parts*comps*s.momentSize())
		s.dmoments = workspace.Zeros(s.dmoments, s.parts*comps*s.momentSize())
	}
	s.scratch = workspace.Grow(s.scratch[:cap(s.scratch)], max(workers, cap(s.scratch)))
	for i := range workers {
		w := &s.scratch[i]
		for _, a := range []*[]T{&w.x, &w.dx, &w.c, &w.dc, &w.y, &w.dy, &w.gx, &w.dgx} {
			*a = workspace.Grow(*a, d*s.panel)
		}
		w.w, w.dw = workspace.Grow(w.w, comps*s.panel), workspace.Grow(w.dw, comps*s.panel)
		w.beta, w.dbeta = workspace.Grow(w.beta, comps*s.panel), workspace.Zeros(w.dbeta, comps*s.panel)
	}
}

// lowerByColumns writes l, the elements below the diagonal column by column,
// into the d×d matrix q.
func lowerByColumns[T any](q, l []T, d int) {
	for j := range d {
		for i := j + 1; i < d; i++ {
			q[i*d+j] = l[0]
			l = l[1:]
		}
	}
}

// momentSize returns the number of moments of a component.
func (s *responsibilityPass[T]) momentSize() int { return 1 + s.d + s.d*s.d }

// Block runs over the panels of a part.
func (s *responsibilityPass[T]) Block(worker, part int) {
	for b := part * s.panels / s.parts; b < (part+1)*s.panels/s.parts; b++ {
		s.onPanel(&s.scratch[worker], part, b)
	}
}

func (s *responsibilityPass[T]) onPanel(w *responsibilityScratch[T], part, b int) {
	p0 := b * s.panel
	n := min(s.panel, s.n-p0)
	byCoordinate(w.x, s.panel, s.k.X, p0, n)
	if s.tangent && s.t.X.Data != nil {
		byCoordinate(w.dx, s.panel, s.t.X, p0, n)
	}
	for k := range s.comps {
		s.project(w, k, n)
		for p := range n {
			w.beta[p*s.comps+k] = ulog.Float64{Log: s.logDensity(w, k, p)}
			if s.tangent {
				w.dbeta[p*s.comps+k] = s.logDensityTangent(w, k, p)
			}
		}
	}
	for p := range n {
		s.normalise(w, p0+p, p)
	}
	if !s.gradient {
		return
	}
	clear(w.gx)
	clear(w.dgx)
	for k := range s.comps {
		s.project(w, k, n)
		s.addMoments(w, k, part, n)
	}
	if s.x {
		addByCoordinate(s.g.X, p0, n, w.gx, s.panel)
		addByCoordinate(s.gt.X, p0, n, w.dgx, s.panel)
	}
}

// byCoordinate writes rows p0 to p0+n of x to dst, a coordinate in each row.
func byCoordinate[T any](dst []T, panel int, x rev.General[T], p0, n int) {
	for p := range n {
		for j, v := range x.Row(p0 + p) {
			dst[j*panel+p] = v
		}
	}
}

// addByCoordinate adds src to rows p0 to p0+n of x, if x is there.
func addByCoordinate[T rev.Float](x rev.General[T], p0, n int, src []T, panel int) {
	if x.Data == nil {
		return
	}
	for p := range n {
		row := x.Row(p0 + p)
		for j := range row {
			row[j] += src[j*panel+p]
		}
	}
}

// project sets c and y of component k, and their tangents.
func (s *responsibilityPass[T]) project(w *responsibilityScratch[T], k, n int) {
	d, panel := s.d, s.panel
	mu, q := s.k.Means.Row(k), s.q[k*d*d:(k+1)*d*d]
	vec.SubColumn(n, w.c, panel, w.x, panel, mu)
	clear(w.y)
	dense.Gemm(d, n, d, 1, q, d, 1, w.c, panel, 1, w.y, panel)
	if !s.tangent {
		return
	}
	if s.t.X.Data != nil {
		copy(w.dc, w.dx)
	} else {
		clear(w.dc)
	}
	if s.t.Means.Data != nil {
		vec.SubColumn(n, w.dc, panel, w.dc, panel, s.t.Means.Row(k))
	}
	clear(w.dy)
	dense.Gemm(d, n, d, 1, s.dq[k*d*d:(k+1)*d*d], d, 1, w.c, panel, 1, w.dy, panel)
	dense.Gemm(d, n, d, 1, q, d, 1, w.dc, panel, 1, w.dy, panel)
}

// logDensity returns β of point p of the panel.
func (s *responsibilityPass[T]) logDensity(w *responsibilityScratch[T], k, p int) float64 {
	var sum float64
	for j := range s.d {
		y := float64(w.y[j*s.panel+p])
		sum += float64(y * y)
	}
	return float64(s.bias[k]) - sum/2
}

// logDensityTangent returns β̇ of point p of the panel.
func (s *responsibilityPass[T]) logDensityTangent(w *responsibilityScratch[T], k, p int) float64 {
	sum := float64(s.dbias[k])
	for j := range s.d {
		sum -= float64(float64(w.y[j*s.panel+p]) * float64(w.dy[j*s.panel+p]))
	}
	return sum
}

// normalise divides by the sum over the components for point i, number p of the panel,
// and computes the weights w and ẇ.
func (s *responsibilityPass[T]) normalise(w *responsibilityScratch[T], i, p int) {
	r, dbeta := w.beta[p*s.comps:(p+1)*s.comps], w.dbeta[p*s.comps:(p+1)*s.comps]
	total := ulog.Sum(r)
	var mean float64 // Σ_l r_il·β̇_il
	for k := range r {
		r[k].DivAssign(total)
		if s.tangent {
			mean += float64(r[k].Float64() * dbeta[k])
		}
	}
	if s.k.R.Data != nil {
		row := s.k.R.Row(i)
		for k, v := range r {
			row[k] += s.sign * T(v.Log)
		}
	}
	if s.tangent && s.t.R.Data != nil {
		row := s.t.R.Row(i)
		for k, db := range dbeta {
			row[k] += s.sign * T(db-mean)
		}
	}
	if !s.gradient {
		return
	}
	g, gt := rowOrNil(s.g.R, i), rowOrNil(s.gt.R, i)
	sum, dsum := sumOf(g), sumOf(gt)
	for k, v := range r {
		weight := v.Float64()
		at := k*s.panel + p
		w.w[at] = 0
		if g != nil {
			w.w[at] = T(float64(g[k]) - float64(weight*sum))
		}
		if s.second {
			dw := -float64(weight * (dsum + float64((dbeta[k]-mean)*sum)))
			if gt != nil {
				dw += float64(gt[k])
			}
			w.dw[at] = T(dw)
		}
	}
}

func rowOrNil[T any](m rev.General[T], i int) []T {
	if m.Data == nil {
		return nil
	}
	return m.Row(i)
}

func sumOf[T rev.Float](x []T) (sum float64) {
	for _, v := range x {
		sum += float64(v)
	}
	return sum
}

// addMoments adds the contributions of the n points of a panel to the moments of
// component k and to the cotangents of the points. It overwrites y and ẏ.
func (s *responsibilityPass[T]) addMoments(w *responsibilityScratch[T], k, part, n int) {
	d, panel := s.d, s.panel
	u := (part*s.comps + k) * s.momentSize()
	moments, dmoments := s.moments[u:u+s.momentSize()], s.dmoments[u:u+s.momentSize()]
	weight, dweight := w.w[k*panel:k*panel+n], w.dw[k*panel:k*panel+n]
	moments[0] += vec.Sum(weight)
	if s.second {
		dmoments[0] += vec.Sum(dweight)
	}
	for j := range d {
		y, dy := w.y[j*panel:j*panel+n], w.dy[j*panel:j*panel+n]
		if s.second {
			for p, v := range dy {
				dy[p] = T(dweight[p]*y[p]) + T(weight[p]*v)
			}
			dmoments[1+j] += vec.Sum(dy)
		}
		vec.MulTo(y, y, weight)
		moments[1+j] += vec.Sum(y)
	}
	if s.g.Factors.Data != nil || s.gt.Factors.Data != nil {
		dense.Gemm(d, d, n, 1, w.y, panel, 1, w.c, 1, panel, moments[1+d:], d)
		if s.second {
			dense.Gemm(d, d, n, 1, w.dy, panel, 1, w.c, 1, panel, dmoments[1+d:], d)
			dense.Gemm(d, d, n, 1, w.y, panel, 1, w.dc, 1, panel, dmoments[1+d:], d)
		}
	}
	if s.x {
		q, dq := s.q[k*d*d:(k+1)*d*d], s.dq[k*d*d:(k+1)*d*d]
		dense.Gemm(d, n, d, -1, q, 1, d, w.y, panel, 1, w.gx, panel)
		if s.second {
			dense.Gemm(d, n, d, -1, q, 1, d, w.dy, panel, 1, w.dgx, panel)
			dense.Gemm(d, n, d, -1, dq, 1, d, w.y, panel, 1, w.dgx, panel)
		}
	}
}

// finish adds the moments of all parts and computes the cotangents from them.
func (s *responsibilityPass[T]) finish() {
	if s.parts == 0 {
		return
	}
	d, size := s.d, s.comps*s.momentSize()
	for part := 1; part < s.parts; part++ {
		vec.Axpy(1, s.moments[part*size:(part+1)*size], s.moments[:size])
		vec.Axpy(1, s.dmoments[part*size:(part+1)*size], s.dmoments[:size])
	}
	for k := range s.comps {
		q, dq := s.q[k*d*d:(k+1)*d*d], s.dq[k*d*d:(k+1)*d*d]
		u := k * s.momentSize()
		addCotangents(&s.g, k, d, s.moments[u:u+s.momentSize()], q)
		if !s.second {
			continue
		}
		addCotangents(&s.gt, k, d, s.dmoments[u:u+s.momentSize()], q)
		// The other half of the product rule: Q̇ with the moments.
		if s.gt.Means.Data != nil {
			addTransposed(s.gt.Means.Row(k), dq, s.moments[u+1:u+1+d])
		}
		if s.gt.Factors.Data != nil {
			row, zc := s.gt.Factors.Row(k), s.moments[u+1+d:]
			for j := range d {
				row[j] -= T(zc[j*d+j] * dq[j*d+j])
			}
		}
	}
}

// addCotangents adds to the cotangents of component k in g, given its moments.
func addCotangents[T rev.Float](g *LogResponsibilities[T], k, d int, moments, q []T) {
	sum, z, zc := moments[0], moments[1:1+d], moments[1+d:]
	if g.Alpha.Data != nil {
		g.Alpha.Data[k*g.Alpha.Inc] += sum
	}
	if g.Means.Data != nil {
		addTransposed(g.Means.Row(k), q, z)
	}
	if g.Factors.Data == nil {
		return
	}
	row := g.Factors.Row(k)
	for j := range d {
		row[j] += sum - T(zc[j*d+j]*q[j*d+j])
	}
	l := row[d:]
	for j := range d {
		for i := j + 1; i < d; i++ {
			l[0] -= zc[i*d+j]
			l = l[1:]
		}
	}
}

// addTransposed computes y += Qᵀ·v for lower triangular Q.
func addTransposed[T rev.Float](y, q, v []T) {
	d := len(v)
	for i, z := range v {
		vec.Axpy(z, q[i*d:i*d+i+1], y[:i+1])
	}
}
