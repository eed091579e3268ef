package nbody

import (
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// Energy is the kernel
//
//	Out += Σ_i ½·μ_i·|V_i|² - Σ_{i<j} μ_i·μ_j/√(|Q_j - Q_i|² + ε²)
//
// the energy of the bodies times the constant of gravitation. A pair at distance 0 adds
// nothing if ε is 0. Energy is computed in float64 and rounded once for each body.
//
// With d_ij and w_ij of Kick,
//
//	V̄_i += Ō·μ_i·V_i
//	Q̄_i -= Ō·Σ_j μ_i·μ_j·w_ij·d_ij
//	μ̄_i += Ō·(½·|V_i|² - Σ_j μ_j/√(|d_ij|² + ε²))
//
// One worker takes n² roots.
type Energy[T rev.Real] struct {
	Out       *T             `rev:"acc"`
	Q         rev.General[T] `rev:"in" shape:"n,3"`
	V         rev.General[T] `rev:"in" shape:"n,3"`
	Mu        rev.Vector[T]  `rev:"in" shape:"n"`
	Softening float64        // ε, at least 0
}

// Forward adds the energy to Out.
func (k Energy[T]) Forward() error { return k.Run(rev.ForwardPass(&k)) }

// Inverse subtracts the energy from Out.
func (k Energy[T]) Inverse() error { return k.Run(rev.InversePass(&k)) }

// Adjoint does what Inverse does, and adds to the cotangents of the other operands.
func (k Energy[T]) Adjoint(g Energy[T]) error { return k.Run(rev.AdjointPass(&k, &g)) }

// Tangent does what Forward does, and adds to the tangent of Out.
func (k Energy[T]) Tangent(t Energy[T]) error { return k.Run(rev.TangentPass(&k, &t)) }

// Run implements rev.Kernel. It returns an error if Softening is negative or not
// finite. There is no AdjointTangent.
func (k Energy[T]) Run(p rev.Pass[Energy[T]]) error {
	if p.Adjoint && p.Tangent {
		return rev.ErrUnsupported
	}
	if err := checkParameters(0, k.Softening); err != nil {
		return err
	}
	g, t := &p.G, &p.T
	sign := float64(p.Sign())
	at := func(m rev.General[T], i, c int) float64 {
		if m.Data == nil {
			return 0
		}
		return fixed.Float(m.Data[i*m.Stride+c])
	}
	mass := func(v rev.Vector[T], i int) float64 {
		if v.Data == nil {
			return 0
		}
		return fixed.Float(v.Data[i*v.Inc])
	}
	var bar float64
	if g.Out != nil {
		bar = fixed.Float(*g.Out)
	}
	for i := range k.Q.Rows {
		mu, muDot := mass(k.Mu, i), mass(t.Mu, i)
		var square, dot float64
		for c := range 3 {
			square += float64(at(k.V, i, c) * at(k.V, i, c))
			dot += float64(at(k.V, i, c) * at(t.V, i, c))
		}
		value := float64(mu * square / 2)
		tangent := float64(mu*dot) + float64(muDot*square/2)
		muBar := square / 2
		var qBar [3]float64
		for j := range k.Q.Rows {
			var d [3]float64
			r2 := float64(k.Softening * k.Softening)
			var eta float64
			for c := range d {
				d[c] = at(k.Q, j, c) - at(k.Q, i, c)
				r2 += float64(d[c] * d[c])
				eta += float64(d[c] * (at(t.Q, j, c) - at(t.Q, i, c)))
			}
			if j == i || r2 == 0 {
				continue
			}
			inv := 1 / math.Sqrt(r2)
			other, w := mass(k.Mu, j), inv/r2
			muBar -= float64(other * inv)
			for c := range d {
				qBar[c] -= float64(float64(float64(mu*other)*w) * d[c])
			}
			if j > i {
				value -= float64(mu * float64(other*inv))
				tangent += float64(float64(mu*other)*float64(w*eta)) - float64(inv*(float64(muDot*other)+float64(mu*mass(t.Mu, j))))
			}
		}
		if k.Out != nil {
			*k.Out += fixed.Of[T](sign * value)
		}
		if t.Out != nil {
			*t.Out += fixed.Of[T](sign * tangent)
		}
		if g.Out == nil {
			continue
		}
		if g.Mu.Data != nil {
			g.Mu.Data[i*g.Mu.Inc] += fixed.Of[T](bar * muBar)
		}
		for c := range 3 {
			if g.V.Data != nil {
				g.V.Data[i*g.V.Stride+c] += fixed.Of[T](bar * float64(mu*at(k.V, i, c)))
			}
			if g.Q.Data != nil {
				g.Q.Data[i*g.Q.Stride+c] += fixed.Of[T](bar * qBar[c])
			}
		}
	}
	return nil
}
