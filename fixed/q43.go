package fixed

// Q43 is a fixed-point number with 43 fraction bits, held in an int64: the
// integer q stands for the number q·2⁻⁴³. One bit is the sign and 20 are left
// for the integer part, so the numbers run from -2²⁰ to 2²⁰-2⁻⁴³ in steps of
// 2⁻⁴³ ≈ 1.1·10⁻¹³.
//
// The operators + and - (and unary -) of the language are the wrapping sum and
// difference. The operators * and / of the language are the integer's, not the
// number's: use Mul and Div, or Product and Quotient in generic code.
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

// Error is the type of the errors of this package, and of its panics other
// than the division by zero of the language.
type Error string

func (e Error) Error() string { return string(e) }

const (
	// ErrRange says that the result is not in [-2²⁰, 2²⁰).
	ErrRange = Error("fixed: result out of range")

	// ErrDomain says that the function has no value for the argument: the
	// logarithm of a number that is not positive, the square root of a
	// negative number, a fractional power of a negative number, NaN.
	ErrDomain = Error("fixed: argument out of domain")

	// ErrDivideByZero is the division by zero of the checked forms, and of Pow.
	ErrDivideByZero = Error("fixed: division by zero")
)

// must returns v, or panics with err.
func must(v Q43, err error) Q43 {
	if err != nil {
		panic(err)
	}
	return v
}

// magnitude returns |x| as an integer: also 2⁶³ for Min.
func magnitude(x Q43) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// signed returns the number of magnitude m and the given sign, and false if it
// is out of range (the number is then m modulo 2⁶⁴).
func signed(m uint64, negative bool) (Q43, bool) {
	if negative {
		return -Q43(m), m <= 1<<63
	}
	return Q43(m), m < 1<<63
}
