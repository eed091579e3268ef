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
// An angle of bone k turns what hangs on it. With D = dRz·Rx or Rz·dRx,
//
//	∂A_k/∂θ = [Q 0]·D  for A_parent(k)·B_k = [Q q],  ∂A_i/∂θ = ∂A_parent(i)/∂θ·B_i·Rz·Rx,
//	∂x/∂θ   = R·M·Σ w_i·∂T_i/∂θ(p),  ∂T_i/∂θ = ∂A_i/∂θ·I_i   for all bones i that hang on k.
//
// No transform is inverted, so bones may be ill-conditioned.
type pose struct {
	bones  []Affine // T_i
	toAxes []Affine // A_i
	global Affine   // R·M and t
	turn   [3]Affine

	// By the angles that move bone 0, then bone 1, and so on.
	axes  []Affine // -R·M·∂A_i/∂θ
	joint []Affine // -R·M·∂T_i/∂θ
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
	if derivatives {
		p.axes, p.joint = workspace.Grow(p.axes, m.angles), workspace.Grow(p.joint, m.angles)
	}
	for i := range m.bones {
		b := &m.bones[i]
		a := b.Relative
		if b.Parent >= 0 {
			a = p.toAxes[b.Parent].after(&b.Relative)
		}
		var bent bend
		j, turns := jointOf(i)
		if turns {
			bent.set(j, theta)
		}
		if derivatives {
			p.differentiate(m, i, &a, &bent)
		}
		if turns {
			a = a.after(&bent.turn)
		}
		p.toAxes[i] = a
		p.bones[i] = a.after(&b.InverseBase)
	}
}

// differentiate computes the derivatives of bone i. a is its transform before it bends.
func (p *pose) differentiate(m *Model, i int, a *Affine, r *bend) {
	b, first, n := &m.bones[i], m.first[i], 0
	j, turns := jointOf(i)
	if b.Parent >= 0 {
		local := b.Relative
		if turns {
			local = local.after(&r.turn)
		}
		for range m.params[b.Parent] {
			p.axes[first+n] = p.axes[m.first[b.Parent]+n].after(&local)
			n++
		}
	}
	if turns {
		var linear Affine // -R·M·[Q 0]
		for i := range linear {
			for j := range 3 {
				linear[i][j] = -(float64(p.global[i][0]*a[0][j]) + float64(p.global[i][1]*a[1][j]) + float64(p.global[i][2]*a[2][j]))
			}
		}
		p.axes[first+n] = linear.after(&r.byX)
		if j%3 == 0 {
			p.axes[first+n+1] = linear.after(&r.byZ)
		}
	}
	for n := range m.params[i] {
		p.joint[first+n] = p.axes[first+n].after(&b.InverseBase)
	}
}

// A bend is the rotation Rz·Rx of a joint, with its derivatives by the angles. No row of the
// derivatives has a translation.
type bend struct{ turn, byX, byZ Affine }

func (r *bend) set(j int, theta *[Params]float64) {
	k := jointParam(j)
	sx, cx := math.Sincos(theta[k])
	sz, cz := 0., 1.
	if j%3 == 0 {
		sz, cz = math.Sincos(theta[k+1])
	}
	r.turn = Affine{{cz, -sz * cx, sz * sx, 0}, {sz, cz * cx, -cz * sx, 0}, {0, sx, cx, 0}}
	r.byX = Affine{{0, sz * sx, sz * cx, 0}, {0, -cz * sx, -cz * cx, 0}, {0, cx, -sx, 0}}
	r.byZ = Affine{{-sz, -cz * cx, cz * sx, 0}, {cz, -sz * cx, sz * sx, 0}}
}

// rotation returns the rotation about r by its length, R = 1 + a·[r] + b·[r]² with [r]
// the matrix of the cross product, θ = ‖r‖, a = sin θ/θ and b = (1 - cos θ)/θ², and its
// derivatives by r, with a' = (cos θ - a)/θ² and b' = (a - 2b)/θ²:
//
//	∂R/∂r_i = r_i·(a'·[r] + b'·[r]²) + a·[e_i] + b·([e_i]·[r] + [r]·[e_i])
func rotation(r [3]float64) (m [3][3]float64, d [3][3][3]float64) {
	t := float64(r[0]*r[0]) + float64(r[1]*r[1]) + float64(r[2]*r[2])
	a, b, da, db := coefficients(t)
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
			square := float64(r[i] * r[j])
			if i == j {
				square -= t
				m[i][j] = 1
			}
			m[i][j] += float64(a*cross(i, j)) + float64(b*square)
			for k := range d {
				d[k][i][j] = float64(r[k] * (float64(da*cross(i, j)) + float64(db*square)))
				// [e_k][r] + [r][e_k] = e_k·rᵀ + r·e_kᵀ - 2·r_k·1
				if i == k {
					d[k][i][j] += float64(b * r[j])
				}
				if j == k {
					d[k][i][j] += float64(b * r[i])
				}
				if i == j {
					d[k][i][j] -= float64(2 * b * r[k])
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

// coefficients returns a, b, a' and b' of a rotation by √t.
func coefficients(t float64) (a, b, da, db float64) {
	if t < 1e-3 { // series, whose rest is below 10⁻¹⁷ of them
		return 1 - float64(t/6*(1-float64(t/20*(1-t/42)))), 0.5 - float64(t/24*(1-float64(t/30*(1-t/56)))),
			-1./3 + float64(t/30*(1-float64(t/28*(1-t/54)))), -1./12 + float64(t/180*(1-float64(t*3/112*(1-t*2/135))))
	}
	theta := math.Sqrt(t)
	sin, cos := math.Sincos(theta)
	a, b = sin/theta, (1-cos)/t
	return a, b, (cos - a) / t, (a - 2*b) / t
}
