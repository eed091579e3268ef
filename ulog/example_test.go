package ulog_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/ulog"
)

func Example() {
	// The probability of one given sequence of 10,000 coin tosses, twice.
	half := ulog.NewFloat64(0.5)
	p := half.Pow(10000)
	fmt.Printf("%.6g\n", p)
	fmt.Printf("%.6g\n", p.Add(p).Div(half))
	fmt.Println(p.Float64())

	_, err := p.DivChecked(ulog.NewFloat64(0))
	fmt.Println(errors.Is(err, ulog.ErrDivideByZero))
	// Output:
	// 5.01237e-3011
	// 2.00495e-3010
	// 0
	// true
}

func ExampleFixed_MulAssign() {
	x := ulog.NewFixed(1.5)
	start := x
	y := ulog.NewFixed(1e300)
	for range 1_000_000 {
		x.MulAssign(y) // wraps many times
	}
	for range 1_000_000 {
		x.DivAssign(y)
	}
	fmt.Println(x == start)
	// Output: true
}

// The mean of growth factors, weighted by the years that they held.
func ExampleProdPow() {
	x := []ulog.Fixed{ulog.NewFixed(1.02), ulog.NewFixed(1.05), ulog.NewFixed(0.97)}
	years := []fixed.Q43{fixed.FromInt(3), fixed.FromInt(5), fixed.FromInt(2)}
	total := ulog.ProdPow(x, years)
	fmt.Printf("%.4f a year\n", total.Pow(fixed.FromFloat64(0.1)).Float64())
	// Output: 1.0245 a year
}

func ExampleFixed_RootAssign() {
	x := ulog.NewFixed(2)
	fmt.Println(x.PowAssign(1000), x)
	fmt.Println(x.RootAssign(1000), x)
	fmt.Println(x.RootAssign(1000))
	// Output:
	// <nil> 1.0715086071274e+301
	// <nil> 2
	// ulog: 2 ^= 1 / 1000: logarithm is not a multiple of the exponent
}

// A fixed.Buffer raises numbers to a fraction, and restores them to the bit.
func ExampleFixedLogs() {
	x := []ulog.Fixed{ulog.NewFixed(2), ulog.NewFixed(10)}
	b := fixed.NewBuffer(len(x))
	for range 100 {
		b.Mul(ulog.FixedLogs(x), 9, 10)
	}
	fmt.Printf("%.9f\n", x)
	for range 100 {
		b.Div(ulog.FixedLogs(x), 9, 10)
	}
	fmt.Println(x[0] == ulog.NewFixed(2), x[1] == ulog.NewFixed(10))
	// Output:
	// [1.000018411 1.000061162]
	// true true
}

func ExampleSum() {
	logs := []float64{-1000, -1001, -1002}
	fmt.Printf("%.6g\n", ulog.Sum(ulog.OfLogs(logs)))
	// Output: 7.63026e-435
}

func ExampleParse() {
	x, err := ulog.Parse[ulog.Float64]("1.234e+5678")
	fmt.Println(x, err)
	_, err = ulog.Parse[ulog.Float64]("1.234e+")
	fmt.Println(err)
	// Output:
	// 1.234e+5678 <nil>
	// ulog: parsing "1.234e+": invalid syntax at byte 7: want a digit of the exponent
}

func ExampleMatrixOfLogs() {
	logs := mat.NewDense(2, 2, []float64{0, math.Log(2), math.Log(3), math.Log(4)})
	m := ulog.MatrixOfLogs(logs) // shares the storage
	fmt.Printf("%.0f\n", mat.Det(m))
	m.SetLogAt(0, 0, ulog.NewFloat64(10))
	fmt.Printf("%.4f\n", logs.At(0, 0))
	// Output:
	// -2
	// 2.3026
}

// power computes y += xⁿ, x >= 0, in constant memory. It computes the powers of x in logs,
// where each step has an inverse. It inverts the steps after it has copied the result
// (NiLang, arXiv 2003.04617, listing 16). The inverse is unpower, which computes y -= xⁿ.
func power(y *fixed.Q43, x fixed.Q43, n int) {
	viaPower(x, n, func(p ulog.Fixed) { *y += p.Q43() })
}

func unpower(y *fixed.Q43, x fixed.Q43, n int) {
	viaPower(x, n, func(p ulog.Fixed) { *y -= p.Q43() })
}

// viaPower computes xⁿ, uses it, and uncomputes it.
func viaPower(x fixed.Q43, n int, use func(ulog.Fixed)) {
	var p ulog.Fixed // 1
	logX := ulog.NewFixedQ43(x)
	if logX.IsZero() { // a product with zero has no inverse
		if n == 0 {
			use(p)
		}
		return
	}
	for range n {
		p.MulAssign(logX)
	}
	use(p)
	for range n {
		p.DivAssign(logX)
	}
	if p != (ulog.Fixed{}) {
		panic("the power was not uncomputed")
	}
}

// The power of a number, computed and uncomputed.
func Example_power() {
	y := fixed.FromFloat64(0.1)
	x := fixed.FromFloat64(1.25)
	power(&y, x, 40)
	fmt.Printf("%.6f\n", y.Float64())
	unpower(&y, x, 40)
	fmt.Println(y == fixed.FromFloat64(0.1))
	// Output:
	// 7523.263845
	// true
}

// expState is the state of the Taylor series Y = Σ xⁱ/i!, summed up to N terms (NiLang,
// arXiv 2003.04617, section 4). X and the term are numbers in logs, and the sum is in fixed
// point. Each step therefore has an exact inverse.
type expState struct {
	X, Term ulog.Fixed
	Y       fixed.Q43
	N       int64
}

func (s *expState) forward(terms int) {
	for range terms {
		s.Y += s.Term.Q43() // Y += xⁿ/n!
		s.N++
		s.Term.MulAssign(s.X)
		s.Term.DivAssign(ulog.NewFixedQ43(fixed.FromInt(int(s.N))))
	}
}

func (s *expState) inverse(terms int) {
	for range terms {
		s.back()
	}
}

// back inverts one step.
func (s *expState) back() {
	s.Term.MulAssign(ulog.NewFixedQ43(fixed.FromInt(int(s.N))))
	s.Term.DivAssign(s.X)
	s.N--
	s.Y -= s.Term.Q43()
}

// gradient returns dY/dx by walking back. Let g be the cotangent of the log of the term,
// and gx that of log x. The inverse of a step adds gx += g for log term += log x, and
// then g += term for Y += e^(log term).
func (s *expState) gradient(terms int) float64 {
	var g, gx fixed.Q43
	for range terms {
		gx += g
		s.back()
		g += s.Term.Q43()
	}
	return gx.Float64() / s.X.Float64() // d log x = dx/x
}

// The exponential by its Taylor series: forward, inverse and gradient.
func Example_taylor() {
	start := expState{X: ulog.NewFixed(1.5)}
	s := start
	s.forward(30)
	fmt.Printf("y = %.9f, exp(1.5) = %.9f\n", s.Y.Float64(), math.Exp(1.5))
	s.inverse(30)
	fmt.Println("restored:", s == start)

	s.forward(30)
	fmt.Printf("dy/dx = %.9f\n", s.gradient(30))
	fmt.Println("restored:", s == start)
	// Output:
	// y = 4.481689070, exp(1.5) = 4.481689070
	// restored: true
	// dy/dx = 4.481689070
	// restored: true
}

// Powers multiply and divide without loss, where the logs wrap too.
func ExampleFixed_MulPowAssign() {
	x, y := ulog.NewFixed(3), ulog.NewFixed(10)
	x.MulPowAssign(y, 400)
	fmt.Println(x)
	x.DivPowAssign(y, 400)
	fmt.Println(x == ulog.NewFixed(3), y.PowInt(-2), y.Inv())
	// Output:
	// 2.9999999999887e+400
	// true 0.01 0.1
}

func ExampleSigned() {
	x := ulog.NewSigned(-2)
	fmt.Println(x.Negate(), x.Inv(), x.Mul(x), ulog.NewSigned(math.NaN()).IsNaN())
	fmt.Printf("%.6g\n", ulog.NewFloat64(3).Signed().Sub(x))
	// Output:
	// 2 -0.5 4 true
	// 5
}

func ExampleConvert() {
	x, err := ulog.FromBig[ulog.Float64](big.NewFloat(0.125))
	fmt.Println(x, err)
	y, err := ulog.Convert[ulog.Fixed](x)
	fmt.Println(y, err, ulog.NewFixedQ43(fixed.MustParse("0.125")) == y)
	// Output:
	// 0.125 <nil>
	// 0.125 <nil> true
}

// Slices of numbers and of their logarithms share memory.
func ExampleLogs32() {
	x := []ulog.Float32{ulog.NewFloat32(1), ulog.NewFloat32(2)}
	logs := ulog.Logs32(x)
	logs[0] = logs[1]
	fmt.Println(x, ulog.OfLogs32(logs), ulog.OfFixedLogs([]fixed.Q43{0}))
	// Output:
	// [2 2] [2 2] [1]
}

func ExampleNewMatrix() {
	x := []ulog.Float64{ulog.NewFloat64(1), ulog.NewFloat64(2), ulog.NewFloat64(3), ulog.NewFloat64(4)}
	m, v := ulog.NewMatrix(2, 2, x), ulog.NewVector(x[:2])
	fmt.Println(m.Rows, m.Cols, v.N, ulog.VectorOfLogs(mat.NewVecDense(1, nil)).Data)
	fmt.Printf("%.6g %v\n", ulog.Prod(x), ulog.Max(x))
	// Output:
	// 2 2 2 [1]
	// 24 4
}
