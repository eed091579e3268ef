package revtest

import (
	"errors"
	"fmt"
	"math"

	"revnum/internal/logs"
	"revnum/internal/long"
	"revnum/rev"
)

// magnitudeDraws is the least number of kernels that Magnitudes draws, over all sizes
// together, or half of it unless REVNUM_LONG is set.
const magnitudeDraws = 14

func (c *trial) magnitudes() error {
	if c.Magnitudes[0] == c.Magnitudes[1] {
		return nil
	}
	c.floor = c.Adjoint * c.eps
	draws := 1 + (long.Or(magnitudeDraws, magnitudeDraws/2)-1)/len(c.Sizes)
	for i := range draws {
		// Every second draw has one factor for all operands.
		together := (c.size+i)%2 == 0
		factor := c.factor()
		factors := make([]float64, len(c.Operands))
		for n, op := range c.Operands {
			if !together {
				factor = c.factor()
			}
			factors[n] = 1
			if op.Role == rev.In || op.Role == rev.InOut {
				factors[n] = factor
			}
		}
		if err := c.scaled(factors); err != nil {
			return fmt.Errorf("operands times %.3g: %w", factors, err)
		}
	}
	return nil
}

// factor returns a random number in the range of Spec.Magnitudes. With probability one half
// it is an end of the range.
func (c *trial) factor() float64 {
	if end := c.rnd.IntN(4); end < 2 {
		return c.Magnitudes[end]
	}
	lo, hi := logs.Log(c.Magnitudes[0]), logs.Log(c.Magnitudes[1])
	return math.Exp(lo + float64(c.rnd.Float64()*(hi-lo)))
}

// scaled checks the derivatives on the operands of New times factors, along random
// tangents times the same factors. acc operands are zero, so that they hide nothing.
func (c *trial) scaled(factors []float64) error {
	defer c.memory.mark()()
	times := func(o *operands) *operands {
		for n, a := range o.arrays {
			if a == nil || a.number == nil {
				continue
			}
			for i := range a.len() {
				a.put(i, factors[n]*a.at(i))
			}
		}
		return o
	}
	s0 := times(c.start())
	t0, g0, gt0 := times(c.random(s0)), c.random(s0), c.random(s0)
	for n, op := range c.Operands {
		switch {
		case s0.arrays[n] == nil:
		case op.Role == rev.Acc:
			s0.zero(n)
			t0.zero(n)
		case op.Role == rev.In:
			g0.zero(n)
			gt0.zero(n)
		}
	}
	s, t := c.clone(s0), c.clone(t0)
	if err := finishes(tangent, func() { c.pass(tangent, s, t) }); err != nil {
		if errors.As(err, new(failure)) {
			return nil // the kernel says that it has no value here
		}
		return err
	}
	for n, a := range t.arrays {
		if a == nil || a.number == nil {
			continue
		}
		for _, x := range []*array{a, s.arrays[n]} {
			if m := x.magnitude(); math.IsNaN(m) || math.IsInf(m, 0) {
				return fmt.Errorf("%s or its tangent is %v after Tangent %s", c.Operands[n].Name, m, narrow)
			}
		}
	}
	loose := 1e4 * c.Difference
	if err := c.alongSteps(t, c.forwardAlong(s0, t0), loose, t, s); err != nil {
		return wrap("tangents against differences of Forward", err)
	}
	g := c.clone(g0)
	after := c.clone(s)
	c.pass(adjoint, after, g)
	for n, op := range c.Operands {
		if op.Role != rev.InOut || after.arrays[n] == nil || math.IsInf(after.arrays[n].magnitude(), 0) {
			continue // an output may be so large that what was there is rounded away, a log to -Inf
		}
		if err := c.near(after, s0, n, loose, s0, s); err != nil {
			return wrap("operands after Adjoint", err)
		}
	}
	for n, op := range c.Operands {
		if op.Role != rev.In && op.Role != rev.InOut || s0.arrays[n] == nil {
			continue
		}
		x := c.onlyOperand(t0, n)
		b, mb := c.dot(g, x)
		c.pass(tangent, c.clone(s0), x)
		a, ma := c.dot(g0, x)
		if tol := float64(loose*(ma+mb)) + c.floor; !(math.Abs(a-b) <= tol) {
			return fmt.Errorf("where only the tangent of %s is not 0, ⟨g, J·t⟩ = %v, but ⟨Jᵀ·g, t⟩ = %v, difference %.3g > %.3g", op.Name, a, b, math.Abs(a-b), tol)
		}
	}
	if !c.has(adjointTangent) {
		return nil
	}
	g, gt := c.clone(g0), c.clone(gt0)
	c.pass(adjointTangent, s, g, t, gt)
	return wrap("tangents of cotangents against differences of Adjoint",
		c.alongSteps(gt, c.adjointAlong(s0, t0, g0, gt0), 10*loose, gt, g))
}

const narrow = "(if these operands are not in the domain, or near a kink, narrow Spec.Magnitudes)"

// alongSteps returns an error unless got is the derivative of f by differences of the
// Spec.Step, or of a smaller one. A function may vary too fast for the first steps, or have a
// kink within them.
func (c *trial) alongSteps(got *operands, f func(e float64) *operands, tol float64, scales ...*operands) error {
	var first error
	for h := c.Step; h >= c.Step/1024; h /= 8 {
		var d *operands
		if err := finishes(forward, func() { d = c.derivative(h, f) }); err != nil {
			return err
		}
		var err error
		for n := range c.Operands {
			err = errors.Join(err, c.near(got, d, n, tol, append(scales, d)...))
		}
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return fmt.Errorf("%w %s", first, narrow)
}
