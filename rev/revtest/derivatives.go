package revtest

import (
	"errors"
	"fmt"
	"math"

	"revnum/rev"
)

func (c *trial) roundTrip() error {
	before := c.start()
	s := c.clone(before)
	c.pass(forward, s)
	after := c.clone(s)
	c.pass(inverse, s)
	if err := c.restored(s, before, after); err != nil || !c.has(forwardChecked) {
		return wrap("Forward, Inverse", err)
	}
	return wrap("ForwardChecked, InverseChecked", c.checked(before, after))
}

func (c *trial) adjointRestores() error {
	before := c.start()
	s := c.clone(before)
	c.pass(forward, s)
	after := c.clone(s)
	g := c.random(s)
	g0 := c.clone(g)
	c.pass(adjoint, s, g)
	if err := c.restored(s, before, after); err != nil {
		return wrap("Forward, Adjoint", err)
	}
	for n, op := range c.Operands {
		if op.Role == rev.Acc {
			if err := c.same(g, g0, n); err != nil {
				return wrap("cotangents after Adjoint", err)
			}
		}
	}
	return nil
}

// dot returns ⟨a, b⟩ and the sum of the magnitudes of its terms.
func (c *trial) dot(a, b *operands) (sum, magnitude float64) {
	for n := range c.Operands {
		x, y := a.arrays[n], b.arrays[n]
		if x == nil || y == nil {
			continue
		}
		for i := range x.len() {
			p := float64(x.at(i) * y.at(i))
			sum += p
			magnitude += math.Abs(p)
		}
	}
	return sum, magnitude
}

func (c *trial) dotProduct() error {
	s := c.start()
	t, g := c.random(s), c.random(s)
	_, _, err := c.transposed(s, t, g)
	if err == nil {
		return nil
	}
	// Find the operands and the method that are wrong.
	for n, from := range c.Operands {
		for m, to := range c.Operands {
			t, g := c.onlyOperand(t, n), c.onlyOperand(g, m)
			byTangent, byAdjoint, err := c.transposed(s, t, g)
			if err == nil {
				continue
			}
			d, _ := c.dot(g, c.derivative(c.Step, c.forwardAlong(s, t)))
			if math.Abs(byTangent-d) > math.Abs(byAdjoint-d) {
				return fmt.Errorf("the tangent of %s by Tangent is wrong where only that of %s is not 0: %w", to.Name, from.Name, err)
			}
			return fmt.Errorf("the cotangent of %s by Adjoint is wrong where only that of %s is not 0: %w", from.Name, to.Name, err)
		}
	}
	return err
}

// transposed returns ⟨g, J·t⟩ and ⟨Jᵀ·g, t⟩, and an error unless they are equal.
func (c *trial) transposed(s, t, g *operands) (byTangent, byAdjoint float64, err error) {
	s, t1, g1 := c.clone(s), c.clone(t), c.clone(g)
	c.pass(tangent, s, t1)
	c.pass(adjoint, s, g1)
	a, ma := c.dot(g, t1)
	b, mb := c.dot(g1, t)
	if tol := c.Adjoint * c.eps * (ma + mb); !(math.Abs(a-b) <= tol) {
		err = fmt.Errorf("⟨g, J·t⟩ = %v, but ⟨Jᵀ·g, t⟩ = %v, difference %.3g > %.3g", a, b, math.Abs(a-b), tol)
	}
	return a, b, err
}

// onlyOperand returns a copy of o with zeros in all operands but n.
func (c *trial) onlyOperand(o *operands, n int) *operands {
	o = c.clone(o)
	for i, a := range o.arrays {
		if i != n && a != nil {
			o.zero(i)
		}
	}
	return o
}

// derivative returns the derivative of f at 0, by central differences of steps
// h and h/2, extrapolated to remove the error of order h².
func (c *trial) derivative(h float64, f func(e float64) *operands) *operands {
	half := h / 2
	a, b, p, q := f(2*half), f(-2*half), f(half), f(-half)
	d := c.zeros(a)
	for n, x := range d.arrays {
		if x == nil {
			continue
		}
		for i := range x.len() {
			wide := (a.arrays[n].at(i) - b.arrays[n].at(i)) / (4 * half)
			narrow := (p.arrays[n].at(i) - q.arrays[n].at(i)) / (2 * half)
			x.put(i, narrow+(narrow-wide)/3)
		}
	}
	return d
}

// forwardAlong returns the function that gives the state after Forward from s + e·t.
func (c *trial) forwardAlong(s, t *operands) func(e float64) *operands {
	return func(e float64) *operands {
		x := c.plus(s, e, t)
		c.pass(forward, x)
		return x
	}
}

// adjointAlong returns the function that gives the cotangents after Adjoint of s + e·t and
// g + e·gt.
func (c *trial) adjointAlong(s, t, g, gt *operands) func(e float64) *operands {
	along := c.forwardAlong(s, t)
	return func(e float64) *operands {
		y := c.plus(g, e, gt)
		c.pass(adjoint, along(e), y)
		return y
	}
}

func (c *trial) tangents() error {
	s0 := c.start()
	t0 := c.random(s0)
	s, t := c.clone(s0), c.clone(t0)
	c.pass(tangent, s, t)
	primal := c.clone(s0)
	c.pass(forward, primal)
	if err := c.restored(s, primal, s0); err != nil {
		return wrap("Tangent against Forward", err)
	}
	d := c.derivative(c.Step, c.forwardAlong(s0, t0))
	for n := range c.Operands {
		if err := c.near(t, d, n, c.Difference, d, t, s); err != nil {
			return wrap(fmt.Sprintf("tangents against differences of Forward with the Spec.Step %g", c.Step), err)
		}
		if err := c.gaps(t, t0, n); err != nil {
			return wrap("Tangent", err)
		}
	}
	return nil
}

func (c *trial) secondOrder() error {
	if !c.has(adjointTangent) {
		return nil
	}
	s0 := c.start()
	t0 := c.random(s0)
	s, t := c.clone(s0), c.clone(t0)
	c.pass(tangent, s, t)
	s1, t1 := c.clone(s), c.clone(t)
	g0, gt0 := c.random(s), c.random(s)
	g, gt := c.clone(g0), c.clone(gt0)
	c.pass(adjointTangent, s, g, t, gt)
	if err := c.restored(s, s0, s1); err != nil {
		return wrap("operands after AdjointTangent", err)
	}
	for n := range c.Operands {
		if err := c.near(t, t0, n, c.Adjoint*c.eps, t0, t1); err != nil {
			return wrap("tangents after AdjointTangent", err)
		}
	}

	x, y := c.clone(s1), c.clone(g0)
	c.pass(adjoint, x, y)
	if err := errors.Join(c.identical(s, x), c.identical(g, y)); err != nil {
		return wrap("AdjointTangent against Adjoint", err)
	}
	d := c.derivative(c.Step, c.adjointAlong(s0, t0, g0, gt0))
	for n := range c.Operands {
		if err := c.near(gt, d, n, 10*c.Difference, d, gt, g); err != nil {
			return wrap(fmt.Sprintf("tangents of cotangents against differences of Adjoint with the Spec.Step %g", c.Step), err)
		}
		if err := c.gaps(gt, gt0, n); err != nil {
			return wrap("AdjointTangent", err)
		}
	}
	return nil
}

func (c *trial) symmetricHessian() error {
	if !c.has(adjointTangent) {
		return nil
	}
	s0 := c.start()
	// product returns H·t for the Hessian H of ⟨g0, Forward⟩.
	product := func(g0, t0 *operands) *operands {
		s, t, g, gt := c.clone(s0), c.clone(t0), c.clone(g0), c.zeros(s0)
		c.pass(tangent, s, t)
		c.pass(adjointTangent, s, g, t, gt)
		return gt
	}
	g, u, v := c.random(s0), c.random(s0), c.random(s0)
	hu, hv := product(g, u), product(g, v)
	a, _ := c.dot(hu, v)
	b, _ := c.dot(hv, u)
	// ⟨H·u, v⟩ is linear in g, u and v. Its terms may cancel, so its error is relative to
	// the norm of this form. Three vectors give a lower bound for the norm.
	other := c.random(s0)
	norm := max(c.norm(hu)/c.norm(g)/c.norm(u), c.norm(hv)/c.norm(g)/c.norm(v), c.norm(product(other, u))/c.norm(other)/c.norm(u))
	if tol := 2 * c.Adjoint * c.eps * norm * c.norm(g) * c.norm(u) * c.norm(v); !(math.Abs(a-b) <= tol) && a != b {
		return fmt.Errorf("⟨H·u, v⟩ = %v, but ⟨H·v, u⟩ = %v, difference %.3g > %.3g", a, b, math.Abs(a-b), tol)
	}
	return nil
}

// norm returns the Euclidean norm of all elements of a.
func (c *trial) norm(a *operands) float64 {
	square, _ := c.dot(a, a)
	return math.Sqrt(square)
}

func (c *trial) accumulation() error {
	s0 := c.start()
	c.pass(forward, s0)
	fresh := c.random(s0)
	filled := c.clone(fresh)
	for n, op := range c.Operands {
		if op.Role == rev.In && fresh.arrays[n] != nil {
			fresh.arrays[n].fill(func() float64 { return 0 })
		}
	}
	before := c.clone(filled)
	s := c.clone(s0)
	c.pass(adjoint, s, fresh)
	c.pass(adjoint, c.clone(s0), filled)
	want := c.clone(before)
	for n, op := range c.Operands {
		if op.Role != rev.In || want.arrays[n] == nil {
			continue
		}
		for i := range want.arrays[n].len() {
			want.arrays[n].put(i, before.arrays[n].at(i)+fresh.arrays[n].at(i))
		}
		if err := c.near(filled, want, n, c.Adjoint*c.eps, want, before, fresh); err != nil {
			return wrap("gradient added to an old one", err)
		}
	}
	return nil
}

// checkUndone returns an error unless the operands in got equal those in before. It allows
// for the rounding of the values in after.
func (c *trial) checkUndone(what string, got, before, after []*operands) error {
	if err := c.restored(got[0], before[0], after[0]); err != nil {
		return wrap("operands after "+what, err)
	}
	for i := 1; i < len(got); i++ {
		for n := range c.Operands {
			if err := c.near(got[i], before[i], n, c.Adjoint*c.eps, before[i], after[i]); err != nil {
				return wrap("tangents or cotangents after "+what, err)
			}
		}
	}
	return nil
}

func (c *trial) uncall() error {
	s := c.start()
	for _, pass := range []string{tangent, adjoint, adjointTangent} {
		if !c.has(pass) || !c.has("Inverse"+pass) {
			continue
		}
		if pass == adjoint {
			c.pass(forward, s)
		}
		before := c.drawn(pass, s)
		o := c.clones(before)
		c.pass(pass, o...)
		after := c.clones(o)
		c.pass("Inverse"+pass, o...)
		if err := c.checkUndone(pass+", Inverse"+pass, o, before, after); err != nil {
			return err
		}
	}
	return nil
}
