package ulog

import (
	"fmt"
	"math/big"
	"strings"
)

// ParseError is the error of Parse and of the methods that read text or JSON.
type ParseError struct {
	Text   string // what was parsed
	Offset int    // the index in Text of the first wrong byte
	Want   string // what was expected there, for ErrSyntax
	Err    error  // ErrSyntax, ErrRange, ErrNegative or ErrNaN
}

func (e *ParseError) Error() string {
	text := e.Text
	if len(text) > 64 {
		text = text[:61] + "..."
	}
	if e.Want != "" {
		return fmt.Sprintf("ulog: parsing %q: %v at byte %d: want %s", text, e.Err, e.Offset, e.Want)
	}
	return fmt.Sprintf("ulog: parsing %q: %v", text, e.Err)
}

func (e *ParseError) Unwrap() error { return e.Err }

// Parse returns the number that the text s spells, with the log rounded to nearest.
// The grammar, in upper or lower case, is
//
//	number = [sign] (decimal | "exp(" [sign] decimal ")" | "Inf" | "Infinity") | "NaN"
//	decimal = digits with at most one point, and an exponent e[sign]digits
//
// exp(l) is the number with the log l. Digits and exponents may have any length, but
// digits after the 1200th do not count. If the log is out of range, the error is
// ErrRange and the number the nearest of 0 and ±Inf; for Fixed the number is then
// meaningless.
//
// Parse(x.String()) is x for every x but NaN.
func Parse[T Number](s string) (T, error) {
	var x T
	err := parse(any(&x).(number), s)
	return x, err
}

func parse(x number, s string) error {
	src, err := scan(s)
	if err != nil {
		return err
	}
	if err := x.set(src); err != nil {
		return &ParseError{Text: s, Err: err}
	}
	return nil
}

// maxParsed is the number of digits that count.
const maxParsed = 1200

// scan reads the whole of s.
func scan(s string) (source, error) {
	var src source
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		src.neg = s[i] == '-'
		i++
	}
	switch word := strings.ToLower(s[i:min(len(s), i+9)]); {
	case word == "inf" || word == "infinity":
		src.kind = infinite
		return src, nil
	case word == "nan" && i == 0:
		src.kind = nan
		return src, nil
	case strings.HasPrefix(word, "exp("):
		i += len("exp(")
		start := i
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		_, _, end, want := scanDecimal(s, i)
		switch {
		case want != "":
			return src, &ParseError{s, end, want, ErrSyntax}
		case end >= len(s) || s[end] != ')':
			return src, &ParseError{s, end, "')'", ErrSyntax}
		case end+1 < len(s):
			return src, &ParseError{s, end + 1, "the end", ErrSyntax}
		}
		src.text = s[start:end]
		return src, nil
	}
	digits, e, end, want := scanDecimal(s, i)
	switch {
	case want != "":
		return src, &ParseError{s, end, want, ErrSyntax}
	case end < len(s):
		return src, &ParseError{s, end, "a digit or the end", ErrSyntax}
	case digits == "":
		src.kind = zero
	case digits == "1" && e.Sign() == 0:
		src.exact = new(big.Float)
	default:
		src.approx = decimalLog(digits, e)
	}
	return src, nil
}

// scanDecimal reads the decimal at s[i:]. It returns the digits without zeros at either end,
// the exponent e of the first digit (the number is d.ddd·10ᵉ), and the index of the end of
// the decimal. If there is no decimal, it returns what it expected at that index.
func scanDecimal(s string, i int) (digits string, e *big.Int, end int, want string) {
	whole := leadingDigits(s[i:])
	i += len(whole)
	fraction := ""
	if i < len(s) && s[i] == '.' {
		fraction = leadingDigits(s[i+1:])
		i += 1 + len(fraction)
	}
	all := whole + fraction
	if all == "" {
		return "", nil, i, "a digit"
	}
	digits = strings.TrimLeft(all, "0")
	e = big.NewInt(int64(len(whole) - 1 - (len(all) - len(digits))))
	digits = strings.TrimRight(digits[:min(len(digits), maxParsed)], "0")
	if i == len(s) || s[i] != 'e' && s[i] != 'E' {
		return digits, e, i, ""
	}
	i++
	sign := ""
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		sign = s[i : i+1]
		i++
	}
	exponent := leadingDigits(s[i:])
	if exponent == "" {
		return "", nil, i, "a digit of the exponent"
	}
	i += len(exponent)
	// No number type reaches 10^(10^400).
	if exponent = strings.TrimLeft(exponent, "0"); len(exponent) > 400 {
		exponent = "1" + strings.Repeat("0", 400)
	}
	x, _ := new(big.Int).SetString(sign+"0"+exponent, 10)
	return digits, e.Add(e, x), i, ""
}

// leadingDigits returns the digits with which s begins.
func leadingDigits(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))] }

// decimalLog returns log(d.ddd·10ᵉ) to any precision.
func decimalLog(digits string, e *big.Int) func(p uint) *big.Int {
	m, _ := new(big.Int).SetString(digits, 10)
	scale := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(digits)-1)), nil)
	return func(p uint) *big.Int {
		x := new(big.Int).Lsh(m, p)
		x = bigLog(x.Quo(x, scale), p)
		guard := uint(e.BitLen())
		l := new(big.Int).Mul(e, bigLn10(p+guard))
		return l.Rsh(l, guard).Add(l, x)
	}
}
