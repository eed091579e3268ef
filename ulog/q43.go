package ulog

import "revnum/fixed"

// NewFixedQ43 returns x. The log is within 0.51 of a unit. NewFixedQ43 panics if x
// is negative.
func NewFixedQ43(x fixed.Q43) Fixed { return must(NewFixedQ43Checked(x)) }

// NewFixedQ43Checked is like NewFixedQ43, but returns an error where NewFixedQ43
// panics.
func NewFixedQ43Checked(x fixed.Q43) (Fixed, error) {
	if x == 0 {
		return fixedZero, nil
	}
	l, err := fixed.LogChecked(x)
	if err != nil {
		return Fixed{}, errOp(x, "as", "Fixed", ErrNegative)
	}
	return Fixed{l}, nil
}

// Q43 returns the value in fixed point, within 0.51 of a unit. It panics if that is
// out of range, from 2²⁰ on.
func (x Fixed) Q43() fixed.Q43 { return must(x.Q43Checked()) }

// Q43Checked is like Q43, but returns an error where Q43 panics.
func (x Fixed) Q43Checked() (fixed.Q43, error) {
	if x.IsZero() {
		return 0, nil
	}
	r, err := fixed.ExpChecked(x.Log)
	if err != nil {
		return 0, errOp(x, "as", "Q43", ErrRange)
	}
	return r, nil
}
