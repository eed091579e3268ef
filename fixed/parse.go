package fixed

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// ErrSyntax says that a text is not a decimal number.
const ErrSyntax = Error("fixed: invalid syntax")

// ParseError is the error of Parse and of the methods that read text.
type ParseError struct {
	Text   string // what was parsed
	Offset int    // the index in Text of the first wrong byte
	Err    error  // ErrSyntax or ErrRange
}

func (e *ParseError) Error() string {
	text := e.Text
	if len(text) > 64 {
		text = text[:64] + "..."
	}
	return fmt.Sprintf("%v: parsing %q at byte %d", e.Err, text, e.Offset)
}

func (e *ParseError) Unwrap() error { return e.Err }

// maxDigits is the number of significant digits that Parse keeps. A number in range
// that lies halfway between two neighbours has at most 7 digits before the point and
// 44 after it. For the digits beyond these it matters only whether all are zero.
const maxDigits = 51

// Parse returns the number in the decimal text s, rounded to nearest, ties to even.
// The whole text must have the form
//
//	[ "+" | "-" ] ( digits [ "." [ digits ] ] | "." digits ) [ ( "e" | "E" ) [ "+" | "-" ] digits ]
//
// and may have any length and any exponent. Parse takes time in proportion to the
// length. The error is a *ParseError. It wraps ErrSyntax, or ErrRange if the rounded
// number is not in [-2²⁰, 2²⁰).
func Parse(s string) (Q43, error) {
	fail := func(i int, err error) (Q43, error) {
		return 0, &ParseError{s, i, err}
	}
	// take takes digits off the beginning of rest, and sign a sign.
	rest := s
	take := func() (digits string) {
		after := strings.TrimLeft(rest, "0123456789")
		digits, rest = rest[:len(rest)-len(after)], after
		return digits
	}
	sign := func() (negative bool) {
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			negative, rest = rest[0] == '-', rest[1:]
		}
		return negative
	}

	negative := sign()
	whole, fraction := take(), ""
	if strings.HasPrefix(rest, ".") {
		rest = rest[1:]
		fraction = take()
	}
	if whole == "" && fraction == "" {
		return fail(len(s)-len(rest), ErrSyntax)
	}
	// The number is digits·10^exp, the digits without leading zeros.
	digits, exp := strings.TrimLeft(whole+fraction, "0"), -int64(len(fraction))
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		down := sign()
		power := take()
		if power == "" {
			return fail(len(s)-len(rest), ErrSyntax)
		}
		e, _ := strconv.ParseInt(power, 10, 64) // the largest number if it is out of range
		e = min(e, 1<<50)                       // more than any text has digits
		if down {
			e = -e
		}
		exp += e
	}
	if rest != "" {
		return fail(len(s)-len(rest), ErrSyntax)
	}
	if beyond := len(digits) - maxDigits; beyond > 0 {
		more := strings.Trim(digits[maxDigits:], "0") != ""
		digits, exp = digits[:maxDigits], exp+int64(beyond)
		if more {
			digits, exp = digits+"1", exp-1
		}
	}

	switch top := int64(len(digits)) + exp; { // |x| < 10^top
	case len(digits) == 0 || top <= -14: // 10⁻¹⁴ < 2⁻⁴⁴
		return 0, nil
	case top > 7:
		return fail(0, ErrRange)
	}
	n, _ := new(big.Int).SetString(digits, 10)
	if negative {
		n.Neg(n)
	}
	d := big.NewInt(1)
	if exp >= 0 {
		n.Mul(n, d.Exp(big.NewInt(10), big.NewInt(exp), nil))
		d.SetInt64(1)
	} else {
		d.Exp(big.NewInt(10), big.NewInt(-exp), nil)
	}
	x, ok := fromBig(quoRound(n.Lsh(n, FracBits), d))
	if !ok {
		return fail(0, ErrRange)
	}
	return x, nil
}

// MustParse is like Parse, but panics if there is an error. Use it for texts that
// are known to be right.
func MustParse(s string) Q43 { return must(Parse(s)) }

// Scan implements fmt.Scanner, for the verbs %v, %s, %e, %f and %g.
func (x *Q43) Scan(state fmt.ScanState, verb rune) error {
	if !strings.ContainsRune("vseEfFgG", verb) {
		return fmt.Errorf("fixed: bad verb %%%c to scan a number", verb)
	}
	text, err := state.Token(true, func(r rune) bool {
		return '0' <= r && r <= '9' || r == '+' || r == '-' || r == '.' || r == 'e' || r == 'E'
	})
	if err != nil {
		return err
	}
	return x.UnmarshalText(text)
}

// UnmarshalText implements encoding.TextUnmarshaler. It reads what Parse reads. On
// an error it leaves x as it was.
func (x *Q43) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err == nil {
		*x = v
	}
	return err
}

// UnmarshalJSON implements json.Unmarshaler. It reads a number, or a string that
// holds one (as the keys of objects do), and rounds it as Parse does. null leaves x
// as it was.
func (x *Q43) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		return nil
	}
	if n := len(text); n >= 2 && text[0] == '"' && text[n-1] == '"' {
		text = text[1 : n-1]
	}
	return x.UnmarshalText(text)
}
