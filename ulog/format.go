package ulog

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unsafe"
)

// Text is decimal as long as a reader can use that, even far outside the range of float64.
// Otherwise it is exp(log), in two cases. If |log| is 2^53 or more (2^24 for a float32),
// the log does not even determine the leading digit. Near 1, it would take more than 21
// digits to tell the number from its neighbours.

const (
	maxShortest  = 21   // digits of the longest decimal without a given precision
	maxComputed  = 1000 // digits computed; zeros follow
	maxPointed   = 1000 // the largest exponent that %f writes out
	maxLogBits   = 53   // bits of a log that is written in decimal
	digitsPerBit = 0.30103
)

// spelling is a number that is being written as text.
type spelling struct {
	source
	below, above *big.Float // half way to the neighbours of source.exact
	bits         int        // the size of the float that holds the log
	logBits      int        // the bits of its mantissa
}

func (x Float[L]) spell() spelling {
	s := spelling{source: x.source(), bits: 64, logBits: maxLogBits}
	next := func(to float64) float64 { return math.Nextafter(float64(x.Log), to) }
	if unsafe.Sizeof(x) == 4 {
		s.bits, s.logBits = 32, 24
		next = func(to float64) float64 { return float64(math.Nextafter32(float32(x.Log), float32(to))) }
	}
	s.below, s.above = between(float64(x.Log), next(math.Inf(-1))), between(float64(x.Log), next(math.Inf(1)))
	return s
}

func (x Signed) spell() spelling {
	s := x.Abs().spell()
	s.source = x.source()
	return s
}

func (x Fixed) spell() spelling {
	half := func(d int64) *big.Float {
		n := new(big.Int).Lsh(big.NewInt(int64(x.Log)), 1)
		f := units(n.Add(n, big.NewInt(d)))
		return f.SetMantExp(f, -1)
	}
	return spelling{x.source(), half(-1), half(1), 64, maxLogBits}
}

// between returns (a+b)/2 exactly, or nil if that is not finite.
func between(a, b float64) *big.Float {
	if math.IsInf(a, 0) || math.IsInf(b, 0) || a != a {
		return nil
	}
	f := new(big.Float).SetPrec(64).SetFloat64(a)
	f.Add(f, big.NewFloat(b))
	return f.SetMantExp(f, -1)
}

// decimal is the number d.ddd·10^exp. Zero has no digits.
type decimal struct {
	digits string
	exp    int64
}

// mantissa returns e and m with e^log = m/2^p·10^e and m/2^p in [1, 10).
func (s *spelling) mantissa(p uint) (e int64, m *big.Int) {
	const guard = maxLogBits + 8
	l, _ := new(big.Float).SetMantExp(s.exact, int(p+guard)).Int(nil)
	if s.exact.Sign() < 0 {
		l.Sub(l, big.NewInt(1)) // floor
	}
	k, r := new(big.Int).DivMod(l, bigLn10(p+guard), new(big.Int))
	return k.Int64(), bigExp(r.Rsh(r, guard), p)
}

// rounded returns the number rounded to n significant digits, or to n digits after
// the point.
func (s *spelling) rounded(n int, afterPoint bool) decimal {
	digits := float64(n + 1)
	if l, _ := s.exact.Float64(); afterPoint && l > 0 {
		digits += l / math.Ln10
	}
	p := uint(64 + digits/digitsPerBit)
	e, m := s.mantissa(p)
	if afterPoint {
		n += int(e) + 1 // |e| <= maxPointed
	}
	return round(m, p, e, n)
}

// round returns m/2^p·10^e rounded to n significant digits.
func round(m *big.Int, p uint, e int64, n int) decimal {
	if n < 0 {
		return decimal{}
	}
	scaled := new(big.Int).Set(m)
	if n == 0 {
		scaled.Quo(scaled, big.NewInt(10))
	} else {
		scaled.Mul(scaled, pow10(n-1))
	}
	scaled.Rsh(scaled, p-1)
	scaled.Add(scaled, big.NewInt(1)).Rsh(scaled, 1)
	if scaled.Sign() == 0 {
		return decimal{}
	}
	digits := scaled.String()
	return decimal{digits, e + int64(len(digits)-n)}
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// shortest returns the decimal with the fewest digits whose log is nearer to the log of the
// number than to the logs of its neighbours. If it would have more than maxShortest digits,
// shortest returns false.
func (s *spelling) shortest() (decimal, bool) {
	if s.below == nil || s.above == nil {
		return decimal{}, false
	}
	const p = 64 + 4*maxShortest
	e, m := s.mantissa(p)
	// low and high are half way to the neighbours, less room for the errors.
	low := s.factor(s.exact, s.below, p)
	low.Quo(new(big.Int).Lsh(m, p), low)
	high := s.factor(s.above, s.exact, p)
	high.Mul(high, m).Rsh(high, p)
	slack := big.NewInt(1 << 10)
	low.Add(low, slack)
	high.Sub(high, slack)
	for n := 1; n <= maxShortest; n++ {
		d := round(m, p, e, n)
		v, ok := new(big.Int).SetString(d.digits, 10)
		if !ok {
			continue
		}
		v.Lsh(v, p) // d is v/2^p·10^(e-n+1)
		if v.Cmp(new(big.Int).Mul(low, pow10(n-1))) > 0 && v.Cmp(new(big.Int).Mul(high, pow10(n-1))) < 0 {
			d.digits = strings.TrimRight(d.digits, "0")
			return d, true
		}
	}
	return decimal{}, false
}

// factor returns e^(a-b)·2^p for 0 <= a-b < 2.
func (s *spelling) factor(a, b *big.Float, p uint) *big.Int {
	d := new(big.Float).SetPrec(1200).Sub(a, b)
	r, _ := d.SetMantExp(d, int(p)).Int(nil)
	return bigExp(r, p)
}

// text returns the number without its sign, laid out by verb (e, E, f, F, g or G)
// with the given precision. If the precision is negative, it returns the shortest
// text.
func (s *spelling) text(verb byte, prec int) string {
	upper := verb == 'E' || verb == 'F' || verb == 'G'
	if upper {
		verb += 'a' - 'A'
	}
	var d decimal
	n := min(prec, maxComputed)
	switch {
	case s.kind == nan:
		return "NaN"
	case s.kind == infinite:
		return "Inf"
	case s.kind == zero:
	case s.exact.Sign() == 0:
		d = decimal{digits: "1"}
	case s.exact.MantExp(nil) > s.logBits:
		return s.logText(prec)
	case prec < 0:
		var ok bool
		if d, ok = s.shortest(); !ok {
			return s.logText(prec)
		}
	case verb == 'e':
		d = s.rounded(n+1, false)
	case verb == 'f':
		if l, _ := s.exact.Float64(); math.Abs(l) < maxPointed*math.Ln10 {
			d = s.rounded(n, true)
		} else {
			d, verb = s.rounded(n+1, false), 'e'
		}
	default:
		d = s.rounded(max(n, 1), false)
	}
	if verb == 'g' {
		limit := prec
		if d.digits = strings.TrimRight(d.digits, "0"); prec < 0 {
			limit = maxShortest
		}
		if d.exp < -4 || d.exp >= int64(max(limit, 1)) {
			verb, prec = 'e', max(len(d.digits)-1, 0)
		} else {
			verb, prec = 'f', max(len(d.digits)-1-int(d.exp), 0)
		}
	} else if prec < 0 {
		prec = 6
	}
	out := d.layout(verb, prec)
	if upper {
		out = strings.ToUpper(out)
	}
	return out
}

// layout returns d with prec digits after the point. d must be rounded to these digits. The
// verb e writes an exponent, and the verb f does not.
func (d decimal) layout(verb byte, prec int) string {
	var b strings.Builder
	whole, frac := "0", ""
	if verb == 'e' || d.digits == "" {
		if d.digits != "" {
			whole, frac = d.digits[:1], d.digits[1:]
		}
	} else if point := int(d.exp) + 1; point <= 0 { // no large exponent gets here
		frac = strings.Repeat("0", -point) + d.digits
	} else if point < len(d.digits) {
		whole, frac = d.digits[:point], d.digits[point:]
	} else {
		whole = d.digits + strings.Repeat("0", point-len(d.digits))
	}
	frac += strings.Repeat("0", max(prec-len(frac), 0))
	b.WriteString(whole)
	if prec > 0 {
		b.WriteByte('.')
		b.WriteString(frac[:prec])
	}
	if verb == 'e' {
		fmt.Fprintf(&b, "e%+03d", d.exp)
	}
	return b.String()
}

// logText returns exp(log).
func (s *spelling) logText(prec int) string {
	l, _ := s.exact.Float64()
	return "exp(" + strconv.FormatFloat(l, 'g', prec, s.bits) + ")"
}

// string returns the shortest text that Parse reads as the same number.
func (s *spelling) string() string { return s.sign(false) + s.text('g', -1) }

func (s *spelling) sign(plus bool) string {
	switch {
	case s.neg:
		return "-"
	case s.kind == infinite || plus && s.kind != nan:
		return "+"
	}
	return ""
}

// format is the Format method of the number types.
func (s *spelling) format(f fmt.State, verb rune, x string) {
	prec, given := f.Precision()
	if !given {
		prec = -1
	}
	general := verb == 'v' // its flag + means something else
	switch verb {
	case 'v', 's':
		verb = 'g'
	case 'g', 'G':
	case 'e', 'E', 'f', 'F':
		if !given {
			prec = 6
		}
	default:
		fmt.Fprintf(f, "%%!%c(ulog.%s=%s)", verb, x, s.string())
		return
	}
	sign := s.sign(f.Flag('+') && !general)
	if f.Flag(' ') && !s.neg && s.kind != nan && (general || !f.Flag('+')) {
		sign = " "
	}
	text := s.text(byte(verb), prec)
	width, _ := f.Width()
	pad := max(width-len(sign)-len(text), 0)
	switch {
	case f.Flag('-'):
		text += strings.Repeat(" ", pad)
	case f.Flag('0') && (s.kind == finite || s.kind == zero) && text[0] != 'e':
		text = strings.Repeat("0", pad) + text
	default:
		sign = strings.Repeat(" ", pad) + sign
	}
	fmt.Fprint(f, sign+text)
}

// typeName returns the name of the type of x.
func typeName(x any) string {
	switch x.(type) {
	case Float64:
		return "Float64"
	case Float32:
		return "Float32"
	case Fixed:
		return "Fixed"
	}
	return "Signed"
}
