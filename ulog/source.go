package ulog

import (
	"math"
	"math/big"
	"strconv"

	"revnum/fixed"
)

// Number is the constraint of the generic functions of the package: the four number
// types.
//
// # Accuracy
//
// In the table, ulp is the distance of neighbouring logs at the result, and a unit is
// 2^-43. "rounded" means to nearest, by at most half an ulp or half a unit.
//
//	                Float64, Signed     Float32          Fixed
//	Mul, Div        rounded             rounded          exact, wraps
//	Inv, Negate     exact               exact            exact
//	PowInt          -                   -                exact, wraps
//	Pow             rounded             0.51 ulp         rounded, wraps
//	Sqrt            exact (1)           exact (1)        rounded
//	Add             below (2)           below (3)        0.502 unit, wraps
//	Sub             below (2)           below (3)        0.53 unit, wraps
//	Cmp, Max        exact               exact            exact
//	Prod            n roundings         n roundings      exact, wraps
//	Sum             below (4)           below (4)        0.51 unit, wraps
//	MulAssign,      restore             restore          restore each other
//	DivAssign       to rounding         to rounding      to the bit (5)
//	PowAssign,      restore             restore          restore each other
//	RootAssign      to rounding (6)     to rounding      to the bit, or an error
//	NewT(float64)   1 ulp               0.51 ulp         0.501 unit
//	.Float64()      0.54 ulp of the value for each float log, 1 ulp for Fixed
//	Parse, FromBig, Convert             rounded, for every type
//
//	(1) Unless the log is subnormal, where halving rounds.
//	(2) The difference of the logs, log1p(e^-d) or log(1-e^-d), and the sum are
//	    rounded. The error is at most half an ulp of the result, plus 1.5 ulp (2
//	    for Sub) of the term, plus half an ulp of d times |d term/dd|. Near the
//	    result 1 the log is small. Its relative error is then not small, but
//	    the error of the number is.
//	(3) 0.51 ulp, unless the log of the result is smaller than 2^-20 of those
//	    of the operands. Then the bound is as (2), in float64 arithmetic.
//	(4) A few 2^-53 (2^-24 over Float32) and half an ulp of the result. Terms of
//	    opposite sign cancel, over Signed, as they do in float64.
//	(5) Even where the log wraps. The operand must not be zero: that panics.
//	(6) Not offered over Signed, where an even power loses the sign.
//
// Add and Sub use no machine-dependent code and no fused multiply-add.
// They therefore give the same bits on every machine.
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

// source is a number that is being converted into one of the number types. If it is
// finite, its log is given in one of three ways, and is rounded once, correctly.
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

func (x *Float[L]) set(s source) error {
	if s.neg && s.kind != zero {
		return ErrNegative
	}
	var err error
	switch l := any(&x.Log).(type) {
	case *float64:
		*l, err = s.float64()
	case *float32:
		*l, err = s.float32()
	}
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

func (x Float[L]) source() source { return floatSource(float64(x.Log)) }

func (x Signed) source() source {
	s := floatSource(x.Log)
	s.neg = x.Neg && s.kind != nan
	return s
}

func (x Fixed) source() source {
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

// float64 returns the log as a float64. If the log overflows, it returns an infinity
// and ErrRange.
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

// float32 is like float64, for a float32.
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

// fixed returns the log as a Q43, or an error if there is none.
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

// nearestUnit returns the integer nearest to x·2^43, ties to even. It returns
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

// settle rounds a real number that is known to any precision. It computes the number with
// more and more bits until all candidates round to the same number (Ziv 1991, Fast
// evaluation of elementary mathematical functions with correctly rounded last bit). The
// logs of decimal and of binary numbers other than 1 are transcendental, so none lies half
// way. The bound of the loop exceeds the longest text that counts.
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

// FromBig returns x, with its log rounded to nearest. The error is ErrRange if T
// cannot hold x, such as an infinity in Fixed. It is ErrNegative for a negative x in
// an unsigned type. On an error the number is not meaningful.
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

// Convert returns x in another number type, with its log rounded to nearest. The
// conversion from Float32 to Float64 is therefore exact. The error is ErrRange if To
// cannot hold x, ErrNegative for a negative x in an unsigned type, and ErrNaN for
// NaN in Fixed. On an error the number is not meaningful.
func Convert[To, From Number](x From) (To, error) {
	var z To
	err := any(&z).(number).set(any(&x).(number).source())
	return z, errOp(x, "as", typeName(z), err)
}

// BigFloat returns the value of x rounded to prec bits (64 if prec is 0). The
// rounding is correct except for ties up to 2^-60 of a unit. Out of the range of
// big.Float, it is ±Inf or 0. BigFloat panics with big.ErrNaN if x is NaN.
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
