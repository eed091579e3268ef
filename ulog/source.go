package ulog

import (
	"math"
	"math/big"
	"strconv"

	"revnum/fixed"
)

// Number is what the generic functions of the package take.
type Number interface {
	Float64 | Float32 | Fixed | Signed
}

// A kind of number.
type kind int

const (
	finite kind = iota // and not zero
	zero
	infinite
	nan
)

// source is a number on its way into one of the number types. The log of a
// finite one is given in one of three ways, to be rounded once, correctly.
type source struct {
	neg  bool
	kind kind

	exact  *big.Float            // the log itself
	text   string                // the log in decimal
	approx func(p uint) *big.Int // the log times 2^p, within 2^slackBits
}

const slackBits = 6

// number is implemented by pointers to the number types.
type number interface {
	set(source) error
	source() source
}

func (x *Float64) set(s source) error {
	if s.neg && s.kind != zero {
		return ErrNegative
	}
	l, err := s.float64()
	x.Log = l
	return err
}

func (x *Float32) set(s source) error {
	if s.neg && s.kind != zero {
		return ErrNegative
	}
	l, err := s.float32()
	x.Log = l
	return err
}

func (x *Signed) set(s source) error {
	l, err := s.float64()
	x.Log, x.Neg = l, s.neg
	return err
}

func (x *Fixed) set(s source) error {
	if s.neg && s.kind != zero {
		return ErrNegative
	}
	l, err := s.fixed()
	x.Log = l
	return err
}

func (x *Float64) source() source { return floatSource(x.Log) }
func (x *Float32) source() source { return floatSource(float64(x.Log)) }

func (x *Signed) source() source {
	s := floatSource(x.Log)
	s.neg = x.Neg && s.kind != nan
	return s
}

func (x *Fixed) source() source {
	if x.IsZero() {
		return source{kind: zero}
	}
	return source{exact: units(big.NewInt(int64(x.Log)))}
}

// units returns n·2^-43.
func units(n *big.Int) *big.Float {
	f := new(big.Float).SetInt(n)
	return f.SetMantExp(f, -43)
}

func floatSource(l float64) source {
	switch {
	case l != l:
		return source{kind: nan}
	case math.IsInf(l, 1):
		return source{kind: infinite}
	case math.IsInf(l, -1):
		return source{kind: zero}
	}
	return source{exact: big.NewFloat(l)}
}

// float64 returns the log as a float64, infinite with ErrRange if it
// overflows.
func (s source) float64() (l float64, err error) {
	switch s.kind {
	case zero:
		return math.Inf(-1), nil
	case infinite:
		return math.Inf(1), nil
	case nan:
		return math.NaN(), nil
	}
	switch {
	case s.exact != nil:
		l, _ = s.exact.Float64()
	case s.text != "":
		l, _ = strconv.ParseFloat(s.text, 64)
	default:
		l = settle(s.approx, func(x *big.Float) float64 { f, _ := x.Float64(); return f })
	}
	if math.IsInf(l, 0) {
		err = ErrRange
	}
	return l, err
}

// float32 is float64 for a float32.
func (s source) float32() (float32, error) {
	var l float32
	switch {
	case s.kind != finite:
		f, _ := s.float64()
		return float32(f), nil
	case s.exact != nil:
		l, _ = s.exact.Float32()
	case s.text != "":
		f, _ := strconv.ParseFloat(s.text, 32)
		l = float32(f)
	default:
		l = settle(s.approx, func(x *big.Float) float32 { f, _ := x.Float32(); return f })
	}
	if math.IsInf(float64(l), 0) {
		return l, ErrRange
	}
	return l, nil
}

// fixed returns the log as a Q43, with an error if there is none.
func (s source) fixed() (fixed.Q43, error) {
	var n int64
	switch s.kind {
	case zero:
		return ZeroLog, nil
	case infinite:
		return 0, ErrRange
	case nan:
		return 0, ErrNaN
	}
	switch {
	case s.exact != nil:
		n = nearestUnit(s.exact)
	case s.text != "":
		l, err := fixed.Parse(s.text)
		if err != nil {
			return 0, ErrRange
		}
		n = int64(l)
	default:
		n = settle(s.approx, nearestUnit)
	}
	if n == math.MinInt64 {
		return 0, ErrRange
	}
	return fixed.Q43(n), nil
}

// nearestUnit returns the integer nearest to x·2^43, ties to even,
// math.MinInt64 if that is out of range.
func nearestUnit(x *big.Float) int64 {
	if x.Sign() == 0 || x.MantExp(nil) < -44 {
		return 0
	}
	if x.MantExp(nil) > 20 {
		return math.MinInt64
	}
	// x·2^43 + 3·2^63 is in [2^64, 2^65): its 65 bits are the integer part.
	shifted := new(big.Float).SetMantExp(x, 43)
	bias := new(big.Float).SetMantExp(big.NewFloat(3), 63)
	sum, _ := new(big.Float).SetPrec(65).Add(shifted, bias).Int(nil)
	offset, _ := bias.Int(nil)
	if sum.Sub(sum, offset); !sum.IsInt64() {
		return math.MinInt64
	}
	return sum.Int64()
}

// settle rounds a real number that is known to any precision: it takes more
// bits of it until all that it can be round to the same (Ziv 1991, Fast
// evaluation of elementary mathematical functions with correctly rounded last
// bit). The logs of decimal and of binary numbers other than 1 are
// transcendental, so none lies half way. The bound of the loop is beyond the
// longest text that is taken into account.
func settle[L comparable](approx func(p uint) *big.Int, round func(*big.Float) L) L {
	slack := big.NewInt(1 << slackBits)
	for p := uint(128); ; p *= 2 {
		x := approx(p)
		var v [2]L
		for i, y := range []*big.Int{new(big.Int).Sub(x, slack), new(big.Int).Add(x, slack)} {
			f := new(big.Float).SetInt(y)
			v[i] = round(f.SetMantExp(f, -int(p)))
		}
		if v[0] == v[1] || p > 1<<14 {
			return v[1]
		}
	}
}

// FromBig returns x with its log rounded to nearest. The error is ErrRange for
// what T cannot hold, an infinity in Fixed among it, and ErrNegative for a
// negative x in an unsigned type; then the number is not meaningful.
func FromBig[T Number](x *big.Float) (T, error) {
	s := source{neg: x.Signbit()}
	switch {
	case x.Sign() == 0:
		s.kind = zero
	case x.IsInf():
		s.kind = infinite
	default:
		m := new(big.Float)
		k := x.MantExp(m) - 1 // x = ±m·2^(k+1) with m in [1/2, 1)
		m.Abs(m)
		if k == 0 && m.Cmp(big.NewFloat(0.5)) == 0 {
			s.exact = new(big.Float)
			break
		}
		s.approx = func(p uint) *big.Int {
			i, _ := new(big.Float).SetMantExp(m, int(p)+1).Int(nil)
			w := p + 32 // k has at most 32 bits
			l := new(big.Int).Mul(big.NewInt(int64(k)), bigLn2(w))
			return l.Rsh(l, 32).Add(l, bigLog(i, p))
		}
	}
	var z T
	err := any(&z).(number).set(s)
	return z, errOp(x, "as", typeName(z), err)
}

// Convert returns x in another number type, its log rounded to nearest (so
// exact from Float32 to Float64). The error is ErrRange for what To cannot
// hold, ErrNegative for a negative x in an unsigned type, and ErrNaN for NaN
// in Fixed; then the number is not meaningful.
func Convert[To, From Number](x From) (To, error) {
	var z To
	err := any(&z).(number).set(any(&x).(number).source())
	return z, errOp(x, "as", typeName(z), err)
}

// BigFloat returns the value of x rounded to prec bits (64 if prec is 0), but
// for ties up to 2^-60 of a unit: ±Inf or 0 for what is out of the range of
// big.Float. It panics with big.ErrNaN if x is NaN.
func BigFloat[T Number](x T, prec uint) *big.Float {
	if prec == 0 {
		prec = 64
	}
	z := new(big.Float).SetPrec(prec)
	s := any(&x).(number).source()
	switch {
	case s.kind == nan:
		z.SetFloat64(math.NaN())
	case s.kind == infinite, s.kind == finite && s.exact.MantExp(nil) > 31 && s.exact.Sign() > 0:
		z.SetInf(false)
	case s.kind == finite && s.exact.MantExp(nil) <= 31:
		p := prec + 64
		l, _ := new(big.Float).SetMantExp(s.exact, int(p)+32).Int(nil)
		k, r := new(big.Int).DivMod(l, bigLn2(p+32), new(big.Int))
		m := bigExp(r.Rsh(r, 32), p)
		z.SetInt(m)
		// In two steps, since k may be out of the range of a 32 bit int.
		half := k.Int64() / 2
		z.SetMantExp(z, int(half)-int(p))
		z.SetMantExp(z, int(k.Int64()-half))
	}
	if s.neg {
		z.Neg(z)
	}
	return z
}
