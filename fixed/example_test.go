package fixed_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"revnum/fixed"
)

// A Q43 sum that is undone leaves nothing. A sum of floats does.
func Example() {
	x, y := 0.1, 0.0
	y += float64(x * 3e5)
	y += x
	y -= float64(x * 3e5)
	y -= x
	fmt.Println("float64:", y)

	a, b := fixed.MustParse("0.1"), fixed.Q43(0)
	b += a.Mul(fixed.FromInt(300000))
	b += a
	b -= a.Mul(fixed.FromInt(300000))
	b -= a
	fmt.Println("Q43:", b)
	// Output:
	// float64: -1.4551970739518083e-12
	// Q43: 0
}

func ExampleQ43_MulAdd() {
	x, w := fixed.MustParse("0.375"), fixed.MustParse("-17.25")
	y := fixed.One
	y = y.MulAdd(w, x)
	fmt.Println(y)
	y = y.MulSub(w, x)
	fmt.Println(y)
	// Output:
	// -5.46875
	// 1
}

func ExampleQ43_MulChecked() {
	x := fixed.FromInt(2000)
	fmt.Println(x.Mul(x))
	fmt.Println(x.MulSat(x))
	_, err := x.MulChecked(x)
	fmt.Println(err)
	// Output:
	// -194304
	// 1048575.9999999999999
	// fixed: result out of range
}

func ExampleAccumulator() {
	x := []fixed.Q43{fixed.MustParse("1000.1"), fixed.MustParse("0.000001"), fixed.MustParse("-1000.1")}
	y := []fixed.Q43{fixed.MustParse("900"), fixed.MustParse("0.000001"), fixed.MustParse("900")}
	var a fixed.Accumulator
	for i := range x {
		a.AddMul(x[i], y[i])
	}
	fmt.Println(a.Round())
	a.SubDot(x, y)
	fmt.Println(a == fixed.Accumulator{})
	// Output:
	// 0.000000000001
	// true
}

// A kernel for floats and fixed point.
func ExampleProduct() {
	fmt.Println(axpy(2, []float64{1, 2}, []float64{0.5, 0.25}))
	fmt.Println(axpy(2*fixed.One, []fixed.Q43{fixed.One, fixed.Pi}, []fixed.Q43{0, 0}))
	// Output:
	// [2.5 4.25]
	// [2 6.2831853071796]
}

func axpy[T fixed.Number](alpha T, x, y []T) []T {
	for i, v := range x {
		y[i] += fixed.Product(alpha, v)
	}
	return y
}

func ExampleParse() {
	for _, s := range []string{"0.1", "-2.5e-3", "1e999999999", "12,5"} {
		x, err := fixed.Parse(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(x, x.DecimalString())
	}
	// Output:
	// 0.1 0.1000000000000227373675443232059478759765625
	// -0.0025 -0.00250000000005456968210637569427490234375
	// fixed: result out of range: parsing "1e999999999" at byte 0
	// fixed: invalid syntax: parsing "12,5" at byte 2
}

func ExampleQ43_Format() {
	x := fixed.FromInt(2)
	y := fixed.Sqrt(x)
	fmt.Printf("%v|%.3f|%10.2f|%+e|%g\n", y, y, y, y, fixed.ULP)
	// Output: 1.4142135623731|1.414|      1.41|+1.414214e+00|1e-13
}

func ExampleQ43_MarshalJSON() {
	text, _ := json.Marshal([]fixed.Q43{fixed.One, fixed.Pi, -fixed.ULP})
	fmt.Println(string(text))
	// Output: [1,3.1415926535898,-0.0000000000001]
}

// Ten thousand steps of gradient descent with momentum on f(x) = Σ cosh(x_i - i - 1),
//
//	v <- 9/10·v - η·∇f(x),  x <- x + v
//
// run forward and then backward, to the bits of the start. The inverse needs only the bits
// that the decay of v loses. The buffer keeps them.
func ExampleBuffer() {
	const (
		n     = 4
		steps = 10000
		eta   = fixed.One / 100
	)
	gradient := func(x []fixed.Q43, i int) fixed.Q43 { // sinh(x_i - i - 1)
		d := x[i] - fixed.FromInt(i+1)
		return (fixed.Exp(d) - fixed.Exp(-d)) / 2
	}
	x := []fixed.Q43{0, -fixed.One, 3 * fixed.One, fixed.Pi}
	v := make([]fixed.Q43, n)
	start := slices.Clone(x)

	b := fixed.NewBuffer(n)
	for range steps {
		b.Mul(v, 9, 10)
		for i := range v {
			v[i] = v[i].MulSub(eta, gradient(x, i))
		}
		for i := range x {
			x[i] += v[i]
		}
	}
	fmt.Printf("minimum at %.6f\n", x)
	fmt.Printf("%.2f bits a step and number, log2(10/9) = %.2f\n", float64(b.Bits())/steps/n, math.Log2(10./9))

	for range steps {
		for i := range x {
			x[i] -= v[i]
		}
		for i := range v {
			v[i] = v[i].MulAdd(eta, gradient(x, i))
		}
		b.Div(v, 9, 10)
	}
	fmt.Println("back at the start:", slices.Equal(x, start), v, b.Bits())
	// Output:
	// minimum at [1.000000 2.000000 3.000000 4.000000]
	// 0.15 bits a step and number, log2(10/9) = 0.15
	// back at the start: true [0 0 0 0] 0
}

// Conversions from exact numbers round to nearest. Those to exact numbers lose nothing.
func ExampleFromRat() {
	third := fixed.FromRat(big.NewRat(1, 3))
	fmt.Println(third, third.Rat())
	fmt.Println(fixed.FromBigFloat(third.BigFloat()) == third)
	_, err := fixed.FromRatChecked(big.NewRat(1<<60, 1))
	fmt.Println(err)
	// Output:
	// 0.3333333333334 2932031007403/8796093022208
	// true
	// fixed: result out of range
}

func ExampleExp2() {
	fmt.Println(fixed.Exp2(fixed.MustParse("0.5")), fixed.Log2(fixed.FromInt(8)))
	// Output:
	// 1.4142135623731 3
}
