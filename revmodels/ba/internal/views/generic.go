package views

import "revnum/internal/simd/cpu"

// The pure-Go loops. Where there is no assembly, these are all the loops. Elsewhere
// the assembly is tested against them.

func genericAddRows[T cpu.Float](dst []T, ldd int, src []T, lds, cols int, index []int) {
	for i, at := range index {
		to, from := dst[at*ldd:][:cols], src[i*lds:][:cols]
		for k, x := range from {
			to[k] += x
		}
	}
}

// genericGather is Gather for the columns from i0 on.
func genericGather[T cpu.Float](v *Views[T], row, i0 int, src []T, rows, lds, cols int, index []int) bool {
	for i, at := range index {
		if uint(at) >= uint(rows) {
			return false
		}
		for k, x := range src[at*lds:][:cols] {
			v[row+k][i0+i] = x
		}
	}
	return true
}

// genericScatter is Scatter for the columns from i0 on.
func genericScatter[T cpu.Float](v *Views[T], dst []T, ldd, row, cols, i0, n int) {
	for i := i0; i < n; i++ {
		to := dst[i*ldd:][:cols]
		for k := range to {
			to[k] = v[row+k][i]
		}
	}
}

// genericWithin reports whether observation i is within its limits.
func genericWithin[T cpu.Float](v *Views[T], i int) bool {
	var x, y [3]T
	for k := range x {
		x[k] = v[PointRow+k][i] - v[9+k][i]
	}
	for k := range y {
		y[k] = T(v[3*k][i]*x[0]) + T(v[3*k+1][i]*x[1]) + T(v[3*k+2][i]*x[2]) + v[12+k][i]
	}
	square := T(y[2] * y[2])
	return T(x[0]*x[0])+T(x[1]*x[1])+T(x[2]*x[2]) <= v[15][i] && square >= v[16][i] &&
		T(y[0]*y[0])+T(y[1]*y[1]) <= T(v[17][i]*square)
}

// genericReproject is the reference for the vector code. Both do the same operations in the
// same order.
func genericReproject[T cpu.Float](v *Views[T], m CameraModel, do Task, o *Operands[T], sign T) {
	x, w, r, z, g := o.X, o.W, o.R, o.Z, o.G
	for i := range len(r) / 2 {
		var turn [9]T
		for k := range 6 {
			turn[k] = v[k][i]
		}
		turn[6] = T(turn[1]*turn[5]) - T(turn[2]*turn[4])
		turn[7] = T(turn[2]*turn[3]) - T(turn[0]*turn[5])
		turn[8] = T(turn[0]*turn[4]) - T(turn[1]*turn[3])
		var at, t, y [3]T
		for k := range at {
			at[k] = v[PointRow+k][i]
			if m == Weighted {
				at[k] -= v[6+k][i]
			}
		}
		for k := range t {
			t[k] = T(turn[3*k]*at[0]) + T(turn[3*k+1]*at[1]) + T(turn[3*k+2]*at[2])
			y[k] = t[k]
			if m == Snavely {
				y[k] += v[6+k][i]
			}
		}
		s := 1 / y[2]
		if m == Snavely {
			s = -1 / y[2]
		}
		p := [2]T{y[0] * s, y[1] * s}
		square := T(p[0]*p[0]) + T(p[1]*p[1])
		f, k1, k2 := v[9][i], v[10][i], v[11][i]
		bend := T(k2 * square)
		slope := bend + k1
		radial := T(slope*square) + 1
		bend += slope
		bend += bend

		var distorted, e [2]T
		for c := range e {
			distorted[c] = radial * p[c]
			e[c] = T(f * distorted[c])
			if m == Weighted {
				e[c] += v[12+c][i]
			}
			e[c] -= x[2*i+c]
			if m == Snavely {
				r[2*i+c] += T(e[c] * sign)
				continue
			}
			r[2*i+c] += T(T(e[c]*w[i]) * sign)
		}
		if m == Weighted {
			z[i] += T((1 - T(w[i]*w[i])) * sign)
		}
		seen := observation[T]{turn: turn, t: t, p: p, e: e, distorted: distorted, s: s, f: f, square: square, bend: bend, radial: radial, w: 1}
		if m == Weighted {
			seen.w = w[i]
		}
		switch do {
		case Derivative:
			seen.differentiate(v, m, i)
		case Adjoint:
			seen.adjoint(v, m, i, [2]T(g[2*i:]))
		case Tangent:
			d := seen.tangent(v, m, i)
			g[2*i] += T(d[0] * sign)
			g[2*i+1] += T(d[1] * sign)
		}
	}
}

// An observation holds the intermediate results of genericReproject for one observation:
// the rotation R, t = R·x, the projection p, and what follows from them.
type observation[T cpu.Float] struct {
	turn            [9]T
	t               [3]T
	p, e, distorted [2]T
	s               T // ∓1/y₃
	f, square       T // square = ‖p‖²
	bend, radial    T // 2(k1 + 2·k2·square), 1 + k1·square + k2·square²
	w               T
}

// leftRow returns the first row of K.
func (m CameraModel) leftRow() int {
	residuals, _ := m.CameraRows()
	return residuals
}

func (o *observation[T]) differentiate(v *Views[T], m CameraModel, i int) {
	p, square, left := o.p, o.square, m.leftRow()
	g := o.f
	if m == Weighted {
		g *= o.w
	}
	h := g * o.s
	stretch := T(o.bend*square) + o.radial
	diagonal := [2]T{h * (T(T(o.bend*p[0])*p[0]) + o.radial), h * (T(T(o.bend*p[1])*p[1]) + o.radial)}
	corner := h * T(T(o.bend*p[0])*p[1])
	if m == Weighted {
		h = -h
	}
	for c := range p {
		row := v[JacobianRow+c*m.Columns():][:m.Columns()]
		d := [3]T{corner, corner, h * T(stretch*p[c])}
		d[c] = diagonal[c]
		turned := cross(o.t, d)
		far := square * p[c]
		for k := range 3 {
			row[k][i] = T(v[left+k][i]*turned[0]) + T(v[left+3+k][i]*turned[1]) + T(v[left+6+k][i]*turned[2])
			point := T(o.turn[k]*d[0]) + T(o.turn[3+k]*d[1]) + T(o.turn[6+k]*d[2])
			if m == Weighted {
				row[3+k][i], row[11+k][i] = -point, point
			} else {
				row[3+k][i], row[9+k][i] = d[k], point
			}
		}
		if m == Weighted {
			row[6][i] = o.distorted[c] * o.w
			row[7][i], row[8][i] = 0, 0
			row[7+c][i] = o.w
			row[9][i] = g * far
			row[10][i] = g * T(square*far)
			row[14][i] = o.e[c]
		} else {
			row[6][i] = o.distorted[c]
			row[7][i] = g * far
			row[8][i] = g * T(square*far)
		}
	}
}

// adjoint goes backward through the projection. It starts with the cotangents g of the
// residuals, and computes the cotangents of p, of y, and of the operands of y.
func (o *observation[T]) adjoint(v *Views[T], m CameraModel, i int, g [2]T) {
	p, left, row := o.p, m.leftRow(), v[JacobianRow:][:m.Columns()]
	if m == Weighted {
		row[14][i] = T(o.e[0]*g[0]) + T(o.e[1]*g[1])
		g[0], g[1] = g[0]*o.w, g[1]*o.w
		row[7][i], row[8][i] = g[0], g[1]
	}
	along := T(p[0]*g[0]) + T(p[1]*g[1])
	far := o.square * along
	lens := m.leftRow() - 5
	row[6][i] = o.radial * along
	row[lens][i] = far * o.f
	row[lens+1][i] = T(o.square*far) * o.f
	h, bent := o.s*o.f, o.bend*along
	var d [3]T
	for c := range p {
		d[c] = h * (T(o.radial*g[c]) + T(bent*p[c]))
	}
	d[2] = T(p[0]*d[0]) + T(p[1]*d[1])
	if m == Weighted {
		d[2] = -d[2]
	}
	turned := cross(o.t, d)
	for k := range 3 {
		row[k][i] = T(v[left+k][i]*turned[0]) + T(v[left+3+k][i]*turned[1]) + T(v[left+6+k][i]*turned[2])
		point := T(o.turn[k]*d[0]) + T(o.turn[3+k]*d[1]) + T(o.turn[6+k]*d[2])
		if m == Weighted {
			row[3+k][i], row[11+k][i] = -point, point
		} else {
			row[3+k][i], row[9+k][i] = d[k], point
		}
	}
}

// tangent returns the tangents of the residuals.
func (o *observation[T]) tangent(v *Views[T], m CameraModel, i int) (d [2]T) {
	p, left, row := o.p, m.leftRow(), v[JacobianRow:][:m.Columns()]
	lens, point := m.leftRow()-5, m.Columns()-3
	if m == Weighted {
		point--
	}
	var omega, x, y [3]T // of the rotation, of the rotated vector, and of y
	for k := range 3 {
		omega[k] = T(v[left+3*k][i]*row[0][i]) + T(v[left+3*k+1][i]*row[1][i]) + T(v[left+3*k+2][i]*row[2][i])
		x[k] = row[point+k][i]
		if m == Weighted {
			x[k] -= row[3+k][i]
		}
	}
	turned := cross(omega, o.t)
	for k := range y {
		y[k] = (T(o.turn[3*k]*x[0]) + T(o.turn[3*k+1]*x[1]) + T(o.turn[3*k+2]*x[2])) + turned[k]
		if m == Snavely {
			y[k] += row[3+k][i]
		}
	}
	var dp [2]T
	for c := range dp {
		if m == Weighted {
			dp[c] = o.s * (y[c] - T(p[c]*y[2]))
		} else {
			dp[c] = o.s * (y[c] + T(p[c]*y[2]))
		}
	}
	along := T(p[0]*dp[0]) + T(p[1]*dp[1])
	radial := T(o.bend*along) + T(o.square*(T(o.square*row[lens+1][i])+row[lens][i]))
	for c := range d {
		d[c] = T((T(radial*p[c])+T(o.radial*dp[c]))*o.f) + T(T(o.radial*p[c])*row[6][i])
		if m == Weighted {
			d[c] = T((d[c]+row[7+c][i])*o.w) + T(o.e[c]*row[14][i])
		}
	}
	return d
}

// cross returns u × v.
func cross[T cpu.Float](u, v [3]T) [3]T {
	return [3]T{
		T(u[1]*v[2]) - T(u[2]*v[1]),
		T(u[2]*v[0]) - T(u[0]*v[2]),
		T(u[0]*v[1]) - T(u[1]*v[0]),
	}
}
