package ba

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/revmodels/ba/internal/block9"
)

// conjugateSolver solves the reduced camera system approximately, by conjugate gradients. S·x
// = U·x - Fᵀ(E·V⁻¹·Eᵀ(F·x)) is computed from the Jacobian, observation by observation,
// without forming S. The preconditioner is the block diagonal of S without the coupling
// of different observations: of a point that a camera sees twice, and of cameras that
// share intrinsics. It is still positive definite, because each observation adds its
// own Fᵀ(I - E·V⁻¹·Eᵀ)F.
//
// As in Ceres, iterations end when they gain little of the quadratic model (Nash and
// Sofer 1990). With Q_k its value after k iterations, they end when k·(Q_k - Q_(k-1))
// is less than Forcing·Q_k.
type conjugateSolver struct {
	unknowns    *unknowns
	r, z, p, sp []float64 // residual, preconditioned, direction, S·p
	full, in    []float64 // of all cameras
	factor      []float64 // of the preconditioner, 9×9 a node
}

func newConjugate(x *unknowns) *conjugateSolver {
	n, full := x.len(), cameraLen*len(x.parts)
	return &conjugateSolver{
		unknowns: x,
		r:        make([]float64, n), z: make([]float64, n), p: make([]float64, n), sp: make([]float64, n),
		full: make([]float64, full), in: make([]float64, full), factor: make([]float64, cameraLen*cameraLen*len(x.size)),
	}
}

// schur computes what conjugate gradients need of the reduced camera system without
// damping, from the observations, for all parameters of all cameras.
type schur struct {
	s     *normalEquations
	parts []conjugatePart
	in    []float64 // the x of product
}

// conjugateParts is the largest number of parts of the points. Each part adds to
// cameras of its own.
const conjugateParts = 16

type conjugatePart struct {
	from, to int       // blocks of points
	out      []float64 // of all cameras
	y        []float64 // of the observations of a point
}

func newSchur(s *normalEquations) *schur {
	x := &schur{s: s}
	blocks := len(s.blocks) - 1
	parts := min(blocks, conjugateParts)
	for k := range parts {
		x.parts = append(x.parts, conjugatePart{from: k * blocks / parts, to: (k + 1) * blocks / parts, out: make([]float64, len(s.gc))})
	}
	return x
}

func (c *conjugateSolver) system() *reducedSystem { return nil }

func (c *conjugateSolver) describe(r *Report) { r.Method = ConjugateGradients }

func (c *conjugateSolver) solve(s *solver) (iterations int, ok bool) {
	right, blocks := s.answer[:len(c.full)], s.answer[len(c.full):]
	if !c.precondition(s.damping, blocks) {
		return 0, false
	}
	clear(s.move)
	c.unknowns.reduce(c.r, right)
	c.scale(c.z, c.r)
	copy(c.p, c.z)
	rz := vec.Dot(c.r, c.z)
	if rz == 0 {
		return 0, true
	}
	enough := rz * (0x1p-52 * 0x1p-52)
	var q float64
	for iterations < s.opts.MaxLinearIter && !s.stopped() {
		iterations++
		c.multiply(s, c.sp, c.p)
		curvature := vec.Dot(c.p, c.sp)
		if !(curvature > 0) || math.IsInf(curvature, 1) {
			return iterations, iterations > 1
		}
		alpha := rz / curvature
		vec.Axpy(alpha, c.p, s.move)
		vec.Axpy(-alpha, c.sp, c.r)
		// Each step lowers the model ½xᵀSx - bᵀx by ½·α·rᵀz.
		gain := float64(alpha * rz / 2)
		q += gain
		c.scale(c.z, c.r)
		next := vec.Dot(c.r, c.z)
		if float64(iterations)*gain < s.opts.Forcing*q || !(next > enough) {
			break
		}
		vec.AxpyTo(c.p, next/rz, c.p, c.z)
		rz = next
	}
	return iterations, true
}

// overParts runs f for the points of each part, and stores the sum of their out in dst.
func (c *schur) overParts(dst []float64, f func(p *conjugatePart, q int)) {
	parallel.Run(c.s.workers, len(c.parts), block(func(_, k int) {
		p := &c.parts[k]
		clear(p.out)
		for q := c.s.blocks[p.from]; q < c.s.blocks[p.to]; q++ {
			f(p, q)
		}
	}))
	clear(dst)
	for k := range c.parts {
		vec.AddTo(dst, dst, c.parts[k].out)
	}
}

// right stores the right side, -Fᵀr - Gᵀw with Gᵀw = Fᵀ(E·L⁻ᵀw).
func (c *schur) right(dst []float64) {
	s := c.s
	c.overParts(dst, func(p *conjugatePart, q int) {
		l, w := (*[6]float64)(s.l[6*q:]), (*[3]float64)(s.w[3*q:])
		z0, z1, z2 := upper(l, w[0], w[1], w[2])
		for i := s.start[q]; i < s.start[q+1]; i++ {
			j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
			t0 := float64(j[9]*z0) + float64(j[10]*z1) + float64(j[11]*z2)
			t1 := float64(j[21]*z0) + float64(j[22]*z1) + float64(j[23]*z2)
			out := (*[cameraLen]float64)(p.out[cameraLen*s.camera[i]:])
			for k := range out {
				out[k] += float64(j[k]*t0) + float64(j[12+k]*t1)
			}
		}
	})
	for i, g := range s.gc {
		dst[i] = -g - dst[i]
	}
}

// product computes S·x.
func (c *schur) product(dst, x []float64) {
	c.in = x
	c.overParts(dst, c.multiplyPoint)
}

// multiply computes dst = (S + C)·x for the damping C.
func (c *conjugateSolver) multiply(s *solver, dst, x []float64) {
	c.unknowns.expand(c.in, x)
	s.ask(AskProduct, 0, c.in, c.full)
	c.unknowns.reduce(dst, c.full)
	for i, d := range s.damping[:len(dst)] {
		dst[i] += float64(d * x[i])
	}
}

// multiplyPoint adds Fᵀ(y - E·V⁻¹·Eᵀ·y), y = F·x, for the observations of a point.
func (c *schur) multiplyPoint(p *conjugatePart, q int) {
	s := c.s
	from, to := s.start[q], s.start[q+1]
	p.y = workspace.Grow(p.y, 2*(to-from))
	var t0, t1, t2 float64
	for i := from; i < to; i++ {
		j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
		x := (*[cameraLen]float64)(c.in[cameraLen*s.camera[i]:])
		var y0, y1 float64
		for k, v := range x {
			y0 += float64(j[k] * v)
			y1 += float64(j[12+k] * v)
		}
		p.y[2*(i-from)], p.y[2*(i-from)+1] = y0, y1
		t0 += float64(j[9]*y0) + float64(j[21]*y1)
		t1 += float64(j[10]*y0) + float64(j[22]*y1)
		t2 += float64(j[11]*y0) + float64(j[23]*y1)
	}
	l := (*[6]float64)(s.l[6*q:])
	a, b, d := lower(l, t0, t1, t2)
	z0, z1, z2 := upper(l, a, b, d)
	for i := from; i < to; i++ {
		j := (*[jacobianLen]float64)(s.j[jacobianLen*i:])
		y0 := p.y[2*(i-from)] - (float64(j[9]*z0) + float64(j[10]*z1) + float64(j[11]*z2))
		y1 := p.y[2*(i-from)+1] - (float64(j[21]*z0) + float64(j[22]*z1) + float64(j[23]*z2))
		out := (*[cameraLen]float64)(p.out[cameraLen*s.camera[i]:])
		for k := range out {
			out[k] += float64(j[k]*y0) + float64(j[12+k]*y1)
		}
	}
}

// diagonal stores the block diagonal of S, in the lower triangles of 9×9 a camera.
func (c *schur) diagonal(dst []float64) {
	const size = cameraLen * cameraLen
	s := c.s
	parallel.Run(s.workers, len(s.cameraStart)-1, block(func(_, a int) {
		m := (*[size]float64)(dst[size*a:])
		unpack(m, s.u[block9.Len*a:])
		var g [3 * cameraLen]float64
		for _, i := range s.byCamera[s.cameraStart[a]:s.cameraStart[a+1]] {
			s.couple(&g, (*[6]float64)(s.l[6*s.point[i]:]), i)
			for k := range cameraLen {
				row := (*[cameraLen]float64)(m[cameraLen*k:])
				x, y, z := g[k], g[9+k], g[18+k]
				for l := range k + 1 {
					row[l] -= float64(x*g[l]) + float64(y*g[9+l]) + float64(z*g[18+l])
				}
			}
		}
	}))
}

// precondition factors the block diagonal of S + C, given that of S, and inverts the
// diagonals of the factors. It reports whether it is finite and positive definite.
func (c *conjugateSolver) precondition(damping, blocks []float64) bool {
	const size = cameraLen * cameraLen
	clear(c.factor)
	for a, parts := range c.unknowns.parts {
		for _, p := range parts {
			n := c.unknowns.size[p.node]
			for i := range n {
				for j := range i + 1 {
					c.factor[size*p.node+cameraLen*i+j] += blocks[size*a+cameraLen*(p.from+i)+p.from+j]
				}
			}
		}
	}
	for node, n := range c.unknowns.size {
		m := c.factor[size*node:][:size]
		for i := range n {
			d := &m[(cameraLen+1)*i]
			if *d += damping[c.unknowns.at[node]+i]; math.IsInf(*d, 1) {
				return false
			}
		}
		if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: cameraLen, Data: m}); !ok {
			return false
		}
		for i := range n { // scale multiplies by these
			m[(cameraLen+1)*i] = 1 / m[(cameraLen+1)*i]
		}
	}
	return true
}

// scale applies the preconditioner.
func (c *conjugateSolver) scale(dst, src []float64) {
	const size = cameraLen * cameraLen
	copy(dst, src)
	for node, n := range c.unknowns.size {
		m := c.factor[size*node:]
		x := dst[c.unknowns.at[node]:][:n]
		for i := range x {
			v := x[i]
			for k, l := range m[cameraLen*i:][:i] {
				v -= float64(l * x[k])
			}
			x[i] = float64(v * m[(cameraLen+1)*i])
		}
		for i := n - 1; i >= 0; i-- {
			x[i] = float64(x[i] * m[(cameraLen+1)*i])
			for k, l := range m[cameraLen*i:][:i] {
				x[k] -= float64(l * x[i])
			}
		}
	}
}
