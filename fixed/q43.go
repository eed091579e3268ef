package fixed

// Q43 is a fixed-point number with 43 fraction bits, held in an int64: the integer q
// stands for the number q·2⁻⁴³. One bit is the sign and 20 are left for the integer
// part, so the numbers run from -2²⁰ to 2²⁰-2⁻⁴³ in steps of 2⁻⁴³ ≈ 1.1·10⁻¹³.
//
// The operators + and - (and unary -) of the language are the wrapping sum and
// difference. The operators * and / of the language are the integer's, not the
// number's. Use Mul and Div, or Product and Quotient in generic code.
//
// # Accuracy
//
// Errors are in units in the last place, against the exact result for the given
// arguments.
//
//	operation                      error           undone by
//	x + y, x - y                   exact           x - y, x + y
//	x.Mul(y), x.Div(y)             nearest, even
//	x.MulAdd(a, b)                 one rounding    x.MulSub(a, b), and back
//	Accumulator.Add, AddMul,       exact           Sub, SubMul, SubDot, SubAcc,
//	  AddDot, AddAcc                               and back
//	Accumulator.Round, Dot         nearest, even
//	Buffer.Mul                     below n units   Buffer.Div
//	Sqrt, Hypot                    nearest
//	Exp, Exp2, Log, Log2           below 0.51
//	Sin, Cos, Atan2, Pow           below 0.51
//	FromInt                        exact
//	FromFloat64, FromRat,          nearest, even
//	  FromBigFloat
//	Float64                        nearest, even; exact within ±2¹⁰
//	Float32                        nearest, even
//	Int                            toward zero
//	Rat, BigFloat, DecimalString   exact
//	Parse                          nearest, even
//	String, MarshalText, JSON      Parse returns the same number
//
// The bound of Exp, Exp2 and Pow is derived in the code: 0.508. All functions are compared with math/big, on
// the edges of their ranges, on random arguments, and on those found for which Exp, Exp2 and Pow are near
// their bound.
type Q43 int64

// FracBits is the number of fraction bits of a Q43.
const FracBits = 43

// Limits and constants, the latter rounded to nearest.
const (
	One Q43 = 1 << FracBits // the number 1
	ULP Q43 = 1             // the unit in the last place, 2⁻⁴³
	Max Q43 = 1<<63 - 1     // the largest number, 2²⁰-2⁻⁴³
	Min Q43 = -1 << 63      // the smallest number, -2²⁰

	Pi    Q43 = 27633741218861 // π
	E     Q43 = 23910259823703 // e
	Ln2   Q43 = 6096987078286  // ln 2
	Log2E Q43 = 12690079782337 // log2 e
)

// Error is the type of all errors and panics of this package, except the panic of
// the language's division by zero.
type Error string

func (e Error) Error() string { return string(e) }

const (
	// ErrRange says that the result is not in [-2²⁰, 2²⁰).
	ErrRange = Error("fixed: result out of range")

	// ErrDomain says that the function has no value for the argument. Examples are the
	// logarithm of a number that is not positive, the square root of a negative number,
	// a fractional power of a negative number, and NaN.
	ErrDomain = Error("fixed: argument out of domain")

	// ErrDivideByZero is the error of Pow and of the checked forms for a division by
	// zero.
	ErrDivideByZero = Error("fixed: division by zero")
)

// must returns v, or panics with err.
func must(v Q43, err error) Q43 {
	if err != nil {
		panic(err)
	}
	return v
}

// checked returns v, or ErrRange unless v is in range.
func checked(v Q43, inRange bool) (Q43, error) {
	if !inRange {
		return 0, ErrRange
	}
	return v, nil
}

// magnitude returns |x| as an integer, which is 2⁶³ for Min.
func magnitude(x Q43) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// signed returns the number with magnitude m and the given sign. It returns false if
// that is out of range; the number is then m modulo 2⁶⁴.
func signed(m uint64, negative bool) (Q43, bool) {
	if negative {
		return -Q43(m), m <= 1<<63
	}
	return Q43(m), m < 1<<63
}
