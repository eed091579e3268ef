package fixed

import (
	"fmt"
	"math/big"
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
	isDigit := func(i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }
	sign := func(i int) (negative bool, next int) {
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			return s[i] == '-', i + 1
		}
		return false, i
	}

	// The number is digits·10^exp, the digits without leading zeros.
	var (
		digits = make([]byte, 0, maxDigits+1)
		exp    int64
		beyond bool // a digit beyond maxDigits is not zero
		any    bool
		point  bool
	)
	negative, i := sign(0)
	for ; ; i++ {
		if i < len(s) && s[i] == '.' && !point {
			point = true
			continue
		}
		if !isDigit(i) {
			break
		}
		any = true
		if point {
			exp--
		}
		switch {
		case len(digits) == 0 && s[i] == '0':
		case len(digits) < maxDigits:
			digits = append(digits, s[i])
		default:
			exp++
			beyond = beyond || s[i] != '0'
		}
	}
	if !any {
		return fail(i, ErrSyntax)
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		var down bool
		down, i = sign(i + 1)
		if !isDigit(i) {
			return fail(i, ErrSyntax)
		}
		var e int64
		for ; isDigit(i); i++ {
			e = min(10*e+int64(s[i]-'0'), 1<<50) // more than any text has digits
		}
		if down {
			e = -e
		}
		exp += e
	}
	if i < len(s) {
		return fail(i, ErrSyntax)
	}
	if beyond {
		digits = append(digits, '1')
		exp--
	}

	switch top := int64(len(digits)) + exp; { // |x| < 10^top
	case len(digits) == 0 || top <= -14: // 10⁻¹⁴ < 2⁻⁴⁴
		return 0, nil
	case top > 7:
		return fail(0, ErrRange)
	}
	n, _ := new(big.Int).SetString(string(digits), 10)
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
