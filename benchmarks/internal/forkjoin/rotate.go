package forkjoin

import "revnum/rev"

// rotate is the kernel that rotates vectors v by a quaternion (w, r), which need not be of
// length 1, and sums the results:
//
//	Out += Σ_i v_i + 2·w·t_i + 2·r×t_i,  t_i = r×v_i
//
// With g the cotangent of Out, and h = 2·w·g + 2·g×r the cotangent of each t_i,
//
//	w̄ += 2·g·t_i,  r̄ += 2·t_i×g + v_i×h,  v̄_i += g + h×r
//
// and the tangent is that of the products. There is no second order.
type rotate struct {
	Out []float64            `rev:"acc" shape:"3"`
	Q   []float64            `rev:"in" shape:"4"` // w, r
	V   rev.General[float64] `rev:"in" shape:"n,3"`
}

func (k rotate) Run(p rev.Pass[rotate]) error {
	if p.Tangent && p.Adjoint {
		return rev.ErrUnsupported
	}
	w, r := k.Q[0], [3]float64(k.Q[1:])
	sign := float64(p.Sign())
	// Sums of many rows are kept here. Operands of other branches may be beside Out, in a
	// part of memory that only one core can write at a time.
	var out, bar [3]float64
	var g, h [3]float64
	if p.G.Out != nil {
		g = [3]float64(p.G.Out)
		h = cross(g, r)
		for c := range h {
			h[c] = 2 * (w*g[c] + h[c])
		}
	}
	hr := cross(h, r)
	var barW float64
	for i := range k.V.Rows {
		v := [3]float64(k.V.Row(i))
		t := cross(r, v)
		if k.Out != nil {
			rt := cross(r, t)
			for c := range v {
				out[c] += v[c] + 2*(w*t[c]+rt[c])
			}
		}
		if p.T.Out != nil {
			k.tangent(&p.T, sign, i, r, v, t)
		}
		if p.G.Out == nil {
			continue
		}
		tg, vh := cross(t, g), cross(v, h)
		for c := range v {
			barW += 2 * g[c] * t[c]
			bar[c] += 2*tg[c] + vh[c]
		}
		if p.G.V.Data != nil {
			row := p.G.V.Row(i)
			for c := range row {
				row[c] += g[c] + hr[c]
			}
		}
	}
	if k.Out != nil {
		for c, v := range out {
			k.Out[c] += sign * v
		}
	}
	if p.G.Q != nil {
		p.G.Q[0] += barW
		for c, v := range bar {
			p.G.Q[1+c] += v
		}
	}
	return nil
}

// tangent adds sign times the tangent of row i.
func (k *rotate) tangent(d *rotate, sign float64, i int, r, v, t [3]float64) {
	var wDot float64
	var rDot, vDot [3]float64
	if d.Q != nil {
		wDot, rDot = d.Q[0], [3]float64(d.Q[1:])
	}
	if d.V.Data != nil {
		vDot = [3]float64(d.V.Row(i))
	}
	tDot, turned := cross(rDot, v), cross(r, vDot)
	for c := range tDot {
		tDot[c] += turned[c]
	}
	a, b := cross(rDot, t), cross(r, tDot)
	for c := range a {
		d.Out[c] += sign * (vDot[c] + 2*(wDot*t[c]+k.Q[0]*tDot[c]+a[c]+b[c]))
	}
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}
