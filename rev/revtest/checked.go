package revtest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"revnum/fixed"
	"revnum/rev"
)

// checked makes the round trip of a rev.Checker, which has the bits of that without checks. It then puts outputs near the
// ends of the range. What Forward adds to them is known, so it is known which of them is the first to leave the range.
func (c *trial) checked(before, after *operands) error {
	s := c.clone(before)
	c.pass(forwardChecked, s)
	if err := c.identical(s, after); err != nil {
		return err
	}
	c.pass(inverseChecked, s)
	if err := c.restored(s, before, after); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Operands, wraps) {
		return nil
	}
	for _, back := range []bool{false, true} {
		for range 4 {
			if err := c.overflow(before, after, back); err != nil {
				return err
			}
		}
	}
	return nil
}

// wraps reports whether op is an output over fixed.Q43.
func wraps(op rev.Operand) bool { return op.Role == rev.Acc && op.Elem == reflect.TypeFor[fixed.Q43]() }

// overflow makes a checked pass with some outputs near the ends of the range.
func (c *trial) overflow(before, after *operands, back bool) error {
	start, want, first := c.clone(before), c.clone(after), ""
	for n, op := range c.Operands {
		a := start.arrays[n]
		if a == nil || !wraps(op) {
			continue
		}
		for i := range a.len() {
			x, y := a.fixedAt(i), want.arrays[n].fixedAt(i)
			d := *y - *x // no output of New is so large that it wraps
			if back {
				d = -d
			}
			if c.rnd.IntN(4) == 0 {
				end := []fixed.Q43{fixed.Max, fixed.Min, fixed.Max - d, fixed.Min - d, fixed.Max - d + 1, fixed.Min - d - 1}
				*x = end[c.rnd.IntN(len(end))]
			}
			sum, err := x.AddChecked(d)
			if err != nil && first == "" {
				first = a.name(op, i)
			}
			*y = sum
		}
	}
	s, pass := c.clone(start), forwardChecked
	if back {
		pass = inverseChecked
	}
	err := c.Run(pass, s.k, nil, nil, nil)
	var found *rev.OverflowError
	switch {
	case first == "" && err != nil:
		return fmt.Errorf("%s: all elements are in range, but the error is %w", pass, err)
	case first == "":
		return c.identical(s, want)
	case !errors.As(err, &found) || found.Element() != first || found.Kernel != c.Kernel.String():
		return fmt.Errorf("%s: %s is the first element out of range, but the error is %w", pass, first, err)
	}
	return c.identical(s, start)
}

// fixedAt returns where number i is.
func (a *array) fixedAt(i int) *fixed.Q43 {
	p, _ := a.place(i)
	return (*fixed.Q43)(p)
}
