package ba

import (
	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// A camera holds what the projection of a point needs.
type camera[N number[N]] struct {
	turn, left [9]N // R and K of the rotation
	shift      [3]N // added after the rotation, or subtracted before it
	f, u, v    N
	k1, k2     N
}

// newCamera returns the camera with the parameters p. coefficients returns a, b and c of a
// rotation, given its squared angle.
func newCamera[N number[N]](m views.CameraModel, p [weightedParams]N, one N, coefficients func(s N) [3]N) camera[N] {
	r := [3]N(p[:3])
	q := coefficients(r[0].mul(r[0]).add(r[1].mul(r[1])).add(r[2].mul(r[2])))
	c := camera[N]{
		turn: exponential(one, q[0], q[1], r), left: exponential(one, q[1], q[2], r),
		shift: [3]N(p[3:]), f: p[6], k1: p[7], k2: p[8],
	}
	if m == views.Weighted {
		c.u, c.v, c.k1, c.k2 = p[7], p[8], p[9], p[10]
	}
	return c
}

// A camera has cameraFields numbers. Residuals need only residualFields of them, which are the first.
const (
	residualFields = 17
	cameraFields   = residualFields + 9
)

// fields returns the numbers of c.
func (c *camera[N]) fields() (f [cameraFields]*N) {
	all := f[:0]
	for i := range c.turn {
		all = append(all, &c.turn[i])
	}
	all = append(all, &c.shift[0], &c.shift[1], &c.shift[2], &c.f, &c.k1, &c.k2, &c.u, &c.v)
	for i := range c.left {
		all = append(all, &c.left[i])
	}
	return f
}

func realCamera[T rev.Real](m views.CameraModel, x []T) camera[realNumber[T]] {
	var p [weightedParams]realNumber[T]
	for i, v := range x {
		p[i].v = v
	}
	return newCamera(m, p, realNumber[T]{fixed.Of[T](1)}, func(s realNumber[T]) [3]realNumber[T] {
		q := newCoefficients(s.v)
		return [3]realNumber[T]{{q.a}, {q.b}, {q.c}}
	})
}

func squareNorm[T rev.Real](v []T) (s T) {
	for _, x := range v {
		s += fixed.Product(x, x)
	}
	return s
}

// A term is an observation by a camera: its residuals and their Jacobian, with the
// columns in the order of the package.
type term[N number[N]] struct {
	r [2]N
	j [2][weightedColumns]N
}

// observe computes the term of the point x, or only its residuals. The weight is
// ignored unless the model has one.
func (e *term[N]) observe(m views.CameraModel, c *camera[N], x [3]N, weight, one N, feature [2]N, jacobian bool) {
	if m == views.Weighted {
		for i := range x {
			x[i] = x[i].sub(c.shift[i])
		}
	}
	turned := mulVec(&c.turn, x)
	y := turned
	depth := y[2]
	if m == views.Snavely {
		for i := range y {
			y[i] = y[i].add(c.shift[i])
		}
		var zero N
		depth = zero.sub(y[2])
	}
	p := [2]N{y[0].div(depth), y[1].div(depth)}
	square := p[0].mul(p[0]).addProduct(p[1], p[1])
	slope := c.k1.addProduct(c.k2, square)
	radial := one.addProduct(slope, square)
	for i := range p {
		e.r[i] = c.f.mul(radial.mul(p[i])).sub(feature[i])
	}
	if m == views.Weighted {
		e.r[0], e.r[1] = e.r[0].add(c.u), e.r[1].add(c.v)
	}
	if jacobian {
		e.differentiate(m, c, turned, depth, p, square, slope, radial, weight)
	}
	if m == views.Weighted {
		e.r[0], e.r[1] = weight.mul(e.r[0]), weight.mul(e.r[1])
	}
}

// differentiate computes the Jacobian. The distorted point f·L·p, L = 1 + k1·s +
// k2·s² and s = ‖p‖², has the derivatives
//
//	∂/∂p = f·(L·I + 2(k1 + 2·k2·s)·p·pᵀ)
//
// by p. Snavely gives the derivatives of p by y.
func (e *term[N]) differentiate(m views.CameraModel, c *camera[N], turned [3]N, depth N, p [2]N, square, slope, radial, weight N) {
	scale := c.f
	if m == views.Weighted {
		scale = weight.mul(c.f)
	}
	bend := slope.addProduct(c.k2, square)
	bend = bend.add(bend)
	stretch := radial.addProduct(bend, square)
	var zero N
	for i := range e.j {
		row := e.j[i][:]
		var d [3]N // by y
		for k := range p {
			if k == i {
				d[k] = radial.addProduct(bend, p[i].mul(p[i]))
			} else {
				d[k] = bend.mul(p[i].mul(p[k]))
			}
			d[k] = scale.mul(d[k]).div(depth)
		}
		d[2] = scale.mul(stretch.mul(p[i])).div(depth)
		if m == views.Weighted {
			d[2] = zero.sub(d[2])
		}
		rot := mulTransVec(&c.left, crossProduct(turned, d))
		point := mulTransVec(&c.turn, d)
		copy(row, rot[:])
		distorted := radial.mul(p[i])
		k1 := square.mul(p[i])
		if m == views.Snavely {
			copy(row[3:], d[:])
			row[6] = distorted
			row[7] = scale.mul(k1)
			row[8] = scale.mul(square.mul(k1))
			copy(row[9:], point[:])
			continue
		}
		for k := range point {
			row[3+k] = zero.sub(point[k])
		}
		row[6] = weight.mul(distorted)
		row[7], row[8] = zero, zero
		row[7+i] = weight
		row[9] = scale.mul(k1)
		row[10] = scale.mul(square.mul(k1))
		copy(row[11:], point[:])
		row[14] = e.r[i]
	}
}

// mulVec returns m·x.
func mulVec[N number[N]](m *[9]N, x [3]N) (y [3]N) {
	for i := range y {
		y[i] = m[3*i].mul(x[0]).addProduct(m[3*i+1], x[1]).addProduct(m[3*i+2], x[2])
	}
	return y
}

// mulTransVec returns mᵀ·x.
func mulTransVec[N number[N]](m *[9]N, x [3]N) (y [3]N) {
	for i := range y {
		y[i] = m[i].mul(x[0]).addProduct(m[3+i], x[1]).addProduct(m[6+i], x[2])
	}
	return y
}

func crossProduct[N number[N]](u, v [3]N) [3]N {
	return [3]N{
		u[1].mul(v[2]).subProduct(u[2], v[1]),
		u[2].mul(v[0]).subProduct(u[0], v[2]),
		u[0].mul(v[1]).subProduct(u[1], v[0]),
	}
}
