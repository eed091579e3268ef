package hand

import (
	"math"

	"revnum/internal/workspace"
)

// A pose holds the transforms of a model at some parameters θ. With A_i the transform
// from the axes of bone i to those of the model,
//
//	A_i = A_parent(i)·B_i·Rz(θ_z)·Rx(θ_x),  T_i = A_i·I_i
//
// where B_i is Relative, I_i InverseBase, and the angles of bones that do not turn are 0,
// a vertex p with weights w_i is skinned to y = Σ_i w_i·T_i(p) and then moved to
// x = R·M·y + t, with R the rotation of all, M the reflection and t the translation.
//
// An angle of bone k turns what hangs on it about an axis through the origin of the bone.
// With L = A_parent(k)·B_k = [Q q], E_z the generator of rotations about z, and
// E = Rz·E_x·Rzᵀ for the angle about x, E = E_z for that about z,
//
//	∂T_i/∂θ = [Q·E·Q⁻¹, -Q·E·Q⁻¹·q]·T_i   for all bones i that hang on k,
//	∂x/∂θ   = R·M·N·[s; w],  s = Σ w_i·T_i(p),  w = Σ w_i over these bones,  N = Q·E·Q⁻¹·[1, -q].
type pose struct {
	bones  []Affine // T_i
	toAxes []Affine // A_i
	global Affine   // R·M and t
	turn   [3]Affine
	joint  [Params - 6]Affine // -R·M·N
}

// set computes the transforms, and on request their derivatives. Derivatives have the
// sign of the residuals: they are the derivatives of -x.
func (p *pose) set(m *Model, theta *[Params]float64, derivatives bool) {
	r, dr := rotation([3]float64(theta[:3]))
	mirror := [3]float64{1, 1, 1}
	if m.mirrored {
		mirror[0] = -1
	}
	for i := range 3 {
		for j := range 3 {
			p.global[i][j] = r[i][j] * mirror[j]
			for a := range dr {
				p.turn[a][i][j] = -dr[a][i][j] * mirror[j]
			}
		}
		p.global[i][3] = theta[3+i]
	}
	p.bones, p.toAxes = workspace.Grow(p.bones, len(m.bones)), workspace.Grow(p.toAxes, len(m.bones))
	for i := range m.bones {
		b := &m.bones[i]
		a := b.Relative
		if b.Parent >= 0 {
			a = p.toAxes[b.Parent].after(&b.Relative)
		}
		if j, ok := jointOf(i); ok {
			p.bend(j, &a, theta, derivatives)
		}
		p.toAxes[i] = a
		p.bones[i] = a.after(&b.InverseBase)
	}
}

// bend multiplies the transform of the bone of joint j by its rotation.
func (p *pose) bend(j int, a *Affine, theta *[Params]float64, derivatives bool) {
	k := jointParam(j)
	sx, cx := math.Sincos(theta[k])
	sz, cz := 0., 1.
	if j%3 == 0 {
		sz, cz = math.Sincos(theta[k+1])
	}
	if derivatives {
		// Rz·E_x·Rzᵀ is the generator about Rz·(1, 0, 0).
		p.joint[k-6] = p.generator(a, [3]float64{cz, sz, 0})
		if j%3 == 0 {
			p.joint[k+1-6] = p.generator(a, [3]float64{0, 0, 1})
		}
	}
	turn := Affine{{cz, -sz * cx, sz * sx, 0}, {sz, cz * cx, -cz * sx, 0}, {0, sx, cx, 0}}
	*a = a.after(&turn)
}

// generator returns -R·M·N of the rotation about an axis, in the axes L.
func (p *pose) generator(l *Affine, axis [3]float64) Affine {
	// E·Q⁻¹ is the cross product of the axis with the columns of Q⁻¹.
	inv := inverse(l)
	var e, n Affine
	for c := range 3 {
		for i := range 3 {
			j, k := (i+1)%3, (i+2)%3
			e[i][c] = axis[j]*inv[k][c] - axis[k]*inv[j][c]
		}
	}
	linear := *l
	for i := range linear {
		linear[i][3] = 0
	}
	n = linear.after(&e)
	for i := range n {
		n[i][3] = -(n[i][0]*l[0][3] + n[i][1]*l[1][3] + n[i][2]*l[2][3])
	}
	moved := p.global
	for i := range moved {
		for j := range 3 {
			moved[i][j] = -moved[i][j]
		}
		moved[i][3] = 0
	}
	return moved.after(&n)
}

// inverse returns the inverse of the linear part.
func inverse(a *Affine) (inv Affine) {
	det := determinant(a)
	for i := range 3 {
		j, k := (i+1)%3, (i+2)%3
		for c := range 3 {
			d, e := (c+1)%3, (c+2)%3
			inv[c][i] = (a[j][d]*a[k][e] - a[j][e]*a[k][d]) / det
		}
	}
	return inv
}

// rotation returns the rotation about r by its length, R = 1 + a·[r] + b·[r]² with [r]
// the matrix of the cross product, θ = ‖r‖, a = sin θ/θ and b = (1 - cos θ)/θ², and its
// derivatives by r, with a' = (cos θ - a)/θ² and b' = (a - 2b)/θ²:
//
//	∂R/∂r_i = r_i·(a'·[r] + b'·[r]²) + a·[e_i] + b·([e_i]·[r] + [r]·[e_i])
func rotation(r [3]float64) (m [3][3]float64, d [3][3][3]float64) {
	t := r[0]*r[0] + r[1]*r[1] + r[2]*r[2]
	var a, b, da, db float64
	if t < 1e-3 { // series, up to 10⁻¹⁷ of them
		a = 1 - t/6*(1-t/20*(1-t/42*(1-t/72)))
		b = 0.5 - t/24*(1-t/30*(1-t/56*(1-t/90)))
		da = -1./3 + t/30*(1-t/28*(1-t/54*(1-t/88)))
		db = -1./12 + t/180*(1-t*3/112*(1-t*2/135*(1-t*5/528)))
	} else {
		theta := math.Sqrt(t)
		sin, cos := math.Sincos(theta)
		a, b = sin/theta, (1-cos)/t
		da, db = (cos-a)/t, (a-2*b)/t
	}
	cross := func(i, j int) float64 { // entry of [r]
		switch (j - i + 3) % 3 {
		case 1:
			return -r[3-i-j]
		case 2:
			return r[3-i-j]
		}
		return 0
	}
	for i := range 3 {
		for j := range 3 {
			square := r[i] * r[j]
			if i == j {
				square -= t
				m[i][j] = 1
			}
			m[i][j] += a*cross(i, j) + b*square
			for k := range d {
				d[k][i][j] = r[k] * (da*cross(i, j) + db*square)
				// [e_k][r] + [r][e_k] = e_k·rᵀ + r·e_kᵀ - 2·r_k·1
				if i == k {
					d[k][i][j] += b * r[j]
				}
				if j == k {
					d[k][i][j] += b * r[i]
				}
				if i == j {
					d[k][i][j] -= 2 * b * r[k]
				}
				switch {
				case i == j || i == k || j == k:
				case (j-i+3)%3 == 1:
					d[k][i][j] -= a
				default:
					d[k][i][j] += a
				}
			}
		}
	}
	return m, d
}
