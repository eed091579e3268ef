package fixed

import (
	"fmt"
	"strconv"
	"strings"
)

// Append appends the shortest decimal that Parse reads as x, in plain notation,
// and returns the extended slice. Of the shortest ones it is the nearest to x.
//
// The decimals that Parse reads as x are those within half a unit of it, the
// ends included if x is even. With r the fraction that is still to be written
// and e half a unit, both over the unit of the last digit written, the digits
// so far are near enough when r <= e, and those with one more in the last place
// when 1-r <= e. That one more never carries: if it did, the digit would not
// have been needed.
func (x Q43) Append(b []byte) []byte {
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

// String returns the shortest decimal that Parse reads as x, in plain notation:
// Parse(x.String()) is x. All digits are in DecimalString.
func (x Q43) String() string { return string(x.Append(nil)) }

// DecimalString returns x exactly, in plain notation, with up to 43 digits
// after the point.
func (x Q43) DecimalString() string {
	s := x.BigFloat().Text('f', FracBits)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Format implements fmt.Formatter. The verbs %e, %f and %g (and %E, %F, %G)
// and their precision mean what they do for float64: the digits are those of
// the exact value, rounded to nearest even, and %g without a precision has the
// shortest digits that Parse reads as x. The verbs %v and %s write what String
// returns, or %g if there is a precision. The flags "+", "-", " " and "0" and
// the width are honoured, "#" is not, except that %#v writes Go syntax.
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

// precision is a fmt.State with the precision replaced.
type precision struct {
	fmt.State
	prec int
}

func (p precision) Precision() (int, bool) { return p.prec, true }

// Flag reports no "0" beside "-", as fmt does for float64: a big.Float would pad
// with zeros then.
func (p precision) Flag(c int) bool {
	return p.State.Flag(c) && (c != '0' || !p.State.Flag('-'))
}

// fractionDigits returns the number of digits after the point in x.String().
func (x Q43) fractionDigits() int {
	_, f, _ := strings.Cut(x.String(), ".")
	return len(f)
}

// shortest returns the verb and the precision that write x as the verb g, 'g'
// or 'G', does without a precision: in plain notation if the decimal exponent
// is in [-4, 6).
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

// AppendText implements encoding.TextAppender: it is Append.
func (x Q43) AppendText(b []byte) ([]byte, error) { return x.Append(b), nil }

// MarshalText implements encoding.TextMarshaler: it is String.
func (x Q43) MarshalText() ([]byte, error) { return x.Append(nil), nil }

// MarshalJSON implements json.Marshaler: x is a number, as String writes it.
func (x Q43) MarshalJSON() ([]byte, error) { return x.Append(nil), nil }
