package fixed

import (
	"fmt"
	"strconv"
	"strings"
)

// AppendText implements encoding.TextAppender. It appends the shortest decimal that Parse reads as x, in plain notation, and
// returns the extended slice. If there are several of that length, it appends the
// nearest to x.
//
// Parse reads as x the decimals within half a unit of it, and the ends too if x is
// even. Let r be the fraction that is still to be written and e half a unit, both in
// units of the last digit written. The digits so far are near enough if r <= e. The
// digits with one more in the last place are near enough if 1-r <= e. Adding one
// never carries: if it did, the digit would not have been needed.
func (x Q43) AppendText(b []byte) ([]byte, error) { return x.appendTo(b), nil }

func (x Q43) appendTo(b []byte) []byte {
	const one = 1 << (FracBits + 1) // r and e count in units of 2⁻⁴⁴
	m := magnitude(x)
	if x < 0 {
		b = append(b, '-')
	}
	b = strconv.AppendUint(b, m>>FracBits, 10)
	r, e := m<<1&(one-1), uint64(1)
	if r != 0 {
		b = append(b, '.')
	}
	ends := m&1 ^ 1
	for r >= e+ends && one-r >= e+ends {
		r, e = 10*r, 10*e
		b = append(b, '0'+byte(r/one))
		r %= one
	}
	if last := len(b) - 1; r > one/2 || r == one/2 && b[last]&1 != 0 {
		b[last]++
	}
	return b
}

// String returns the shortest decimal that Parse reads as x: Parse(x.String()) is x.
// It has no exponent. DecimalString returns all digits.
func (x Q43) String() string { return string(x.appendTo(nil)) }

// DecimalString returns x exactly, in plain notation. Every Q43 is a finite decimal
// with up to 43 digits after the point.
func (x Q43) DecimalString() string {
	s := x.BigFloat().Text('f', FracBits)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Format implements fmt.Formatter. The verbs %e, %f and %g (and %E, %F, %G) and
// their precision mean what they do for float64. The digits are those of the exact
// value, rounded to nearest even. %g without a precision writes the shortest digits
// that Parse reads as x. The verbs %v and %s write the text of String, or that of %g
// if there is a precision. Format honours the width and the flags "+", "-", " " and
// "0". It ignores "#", except that %#v writes Go syntax.
func (x Q43) Format(s fmt.State, verb rune) {
	prec, ok := s.Precision()
	switch verb {
	case 'e', 'E', 'f', 'F':
		if !ok {
			prec = 6
		}
	case 'g', 'G':
		if !ok {
			verb, prec = x.shortest(verb)
		}
	case 'v', 's':
		switch {
		case verb == 'v' && s.Flag('#'):
			fmt.Fprintf(s, "fixed.Q43(%d)", int64(x))
			return
		case ok:
			verb = 'g'
		default:
			verb, prec = 'f', x.fractionDigits()
		}
	default:
		fmt.Fprintf(s, "%%!%c(fixed.Q43=%s)", verb, x.String())
		return
	}
	x.BigFloat().Format(precision{s, prec}, verb)
}

// precision is a fmt.State with another precision.
type precision struct {
	fmt.State
	prec int
}

func (p precision) Precision() (int, bool) { return p.prec, true }

// Flag hides the flag "0" if there is "-", as fmt does for float64. A big.Float
// would otherwise pad with zeros.
func (p precision) Flag(c int) bool {
	return p.State.Flag(c) && (c != '0' || !p.State.Flag('-'))
}

// fractionDigits returns the number of digits after the point in x.String().
func (x Q43) fractionDigits() int {
	_, f, _ := strings.Cut(x.String(), ".")
	return len(f)
}

// shortest returns the verb and the precision that write x as the verb g, 'g' or
// 'G', does without a precision. That is plain notation if the decimal exponent is
// in [-4, 6).
func (x Q43) shortest(g rune) (verb rune, prec int) {
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(x.String(), "-"), ".")
	digits, exp := whole+fraction, len(whole)-1
	if whole == "0" {
		digits = strings.TrimLeft(fraction, "0")
		exp = len(digits) - len(fraction) - 1
	}
	if x == 0 || -4 <= exp && exp < 6 {
		return 'f', len(fraction)
	}
	return g - 'g' + 'e', len(strings.TrimRight(digits, "0")) - 1
}

// MarshalText implements encoding.TextMarshaler. The text is that of String.
func (x Q43) MarshalText() ([]byte, error) { return x.appendTo(nil), nil }

// MarshalJSON implements json.Marshaler. It writes x as a number, with the digits of
// String.
func (x Q43) MarshalJSON() ([]byte, error) { return x.appendTo(nil), nil }
