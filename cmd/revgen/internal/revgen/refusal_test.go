package revgen

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// asked asks for workers.
const asked = "//revgen:kernel K[T rev.Real] workers\nfunc k"

// declarations stand before the function of a case.
const declarations = `package p

import (
	"fmt"
	"math"
	"math/cmplx"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

var _ rev.DomainError

var _ = mat.NewVecDense

var _, _ = revlinalg.NewDot, revnn.NewReLU

var _ = fmt.Errorf

var global = 1.0

var errBad error

type pair struct{ a, b float64 }

type deep struct{ p pair; v [2]float64 }

type big struct{ v [65]float64 }

func twice(x float64) float64 { return 2 * x }

func again(x float64) float64 { return again(x) }

func generic[F float64](x F) F { return x }

func variadic(x ...float64) float64 { return x[0] }

func set(x *float64) { *x += 1 }

func (p pair) sum() float64 { return p.a + p.b }

func (p *pair) add(a float64) { p.a += a }

func positive(x float64) float64 {
	if x < 0 {
		panic("negative")
	}
	return x
}

func loss1(r float64) float64 {
	if r < 1 && r > -1 {
		return r * r / 2
	}
	return abs(r) - 0.5
}

func row(x [][]float64, i int) []float64 { return x[i] }

func next(i int) int {
	if i > 0 {
		return i - 1
	}
	return i
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

func first(x []float64) float64 {
	if len(x) < 1 {
		panic("shape")
	}
	return x[0]
}

func none(x float64) {}

func moved(y, x []float64) float64 {
	y[0] += x[0]
	return x[0]
}

func inverted(y, x *mat.Dense) error {
	if err := revlinalg.NewInv(y, x).Forward(); err != nil {
		return fmt.Errorf("inner: %w", err)
	}
	return nil
}

func checked(x []float64) error {
	if x[0] < 0 {
		return errBad
	}
	return nil
}

func sequence(func() bool) {}

var _ = math.Pi

var _ = cmplx.Inf

`

// A construct is a function that is either refused, because of a part of it, or read.
type construct struct {
	head string // its parameters and results, or a whole function that begins with //
	body string
	want string // what the refusal contains, or nothing
}

const (
	xy   = "(y, x []float64)"
	only = "(y []float64)"
)

var constructs = []construct{
	// What is added to.
	{xy, "y[0] += x[0]", ""},
	{xy, "y[0] -= x[0]\ny[0]++\ny[0]--", ""},
	{xy, "y[0] = x[0]", "y[0] is overwritten, and what it was could not be restored: use += or -=, exchange two elements, or write y[0] = -y[0]"},
	{"(y *float64, x float64)", "*y += x", ""},
	{"(y *float64, x float64)", "*y = x", "*y is overwritten"},
	{xy, "a := 1.0\na, y[0] = x[0], x[1]\ny[0] += a", "y[0] is overwritten, and what it was could not be restored: use += or -="},
	{xy, "y[0] *= x[0]", "y[0] *=: a rounded product cannot be undone; add the product to another element"},
	{xy, "y[0], x[0] = x[0], y[0]\ny[1] = -y[1]", ""},
	{only, "y[0] += y[0]", "y[0] is read and written in the same statement, which has no inverse in general"},
	{"(y []float64, i, j int)", "y[i] += y[j]", "y[i] and y[j] may be the same element, which the inverse would not find as it was: if they are not, say so by if i != j"},
	{"(y []float64, i, j int)", "if i != j {\ny[i] += y[j]\n}", ""},
	{only, "for i := range y {\nfor j := range i {\ny[i] += y[j]\n}\n}", ""},
	{only, "for i := range y {\nfor j := i + 1; j < len(y); j++ {\ny[i] += y[j]\n}\n}", ""},
	{only, "for i := range y {\nfor j := i; j < len(y); j++ {\ny[i] += y[j]\n}\n}", "may be the same element"},
	{"(y []float64, i []int)", "i[0] += 1\ny[0] += 1", "i is an index, and is only read"},
	{"(y []float64, i []int)", "y[i[0]] += 1", ""},

	// Locals.
	{xy, "t := x[0]\nt += 1\nt *= 2\nt /= t\nt = -t\ny[0] += t", ""},
	{xy, "var s, t float64\ns, t = x[0], s\ny[0] += s + t", ""},
	{xy, "const c = 2.0\nvar t = c\ny[0] += t * x[0]", ""},
	{xy, "t := y[0]\ny[0] += x[0]\ny[1] += t", "t is used where y[0], which it is computed from, changes or has changed: compute it again after that"},
	{"(y, v []float64, h float64)", "for i := range y {\ny[i] += h * v[i]\nv[i] -= h * y[i]\n}", ""},
	{"(y, v []float64, h float64)", "for i := range y {\na := y[i]\ny[i] += h * v[i]\nv[i] -= h * a\n}", "a is used where y[i]"},
	{xy, "n := 0\nfor i := range x {\nif x[i] > 0 {\nn++\n}\n}\ny[0] += float64(n)", "n changes in a loop or a branch: there, what is not float64 keeps the value that it is defined with; count with the variable of a loop"},
	{xy, "var f float32\ny[0] += x[0]\n_ = f", "float32 is not known: locals are float64, int, bool, and arrays and structs of at most 64 of them"},
	{xy, "m := map[int]float64{}\ny[0] += m[0] * x[0]", "map[int]float64 is not known: locals are float64, int, bool, and arrays and structs of them"},
	{xy, "y[0] += []float64{1}[0] * x[0]", "[]float64{…} is not a parameter, an element or a row of one"},
	{xy, "b := x[0] > 0\nif b && !b || b {\ny[0] += x[0]\n}", ""},
	{xy, "z := x\ny[0] += z[0]", "z would be a second name for x"},
	{"(y []float64, m [][]float64)", "r := m[0]\ny[0] += r[0]", ""},
	{xy, "y[0] += global * x[0]", "global is a variable outside of the function: make it a parameter"},
	{xy, "y[0] += undefined", "undefined: undefined"},
	{xy, "t := 1i\ny[0] += x[0] * real(t)", "real has no derivative here"},
	{xy, "s := \"a\"\ny[0] += float64(len(s))", "is no real number"},
	{xy, "t := complex(x[0], 1)\ny[0] += real(t)", "complex has no derivative here"},

	// Locals of loops that change what they read.
	{only, "h := 0.1\nfor t := 0; t < len(y)-1; t++ {\nh = math.Tanh(h + y[t])\ny[t+1] += h\n}", ""},
	{only, "h := 0.1\nfor t := 0; t < len(y)-1; t++ {\nh = math.Tanh(h + y[t+1])\ny[t] += h\n}", "h is used where y[t], which it is computed from, changes"},
	{only, "h := 0.1\nfor t := len(y)-2; t >= 0; t-- {\nh = math.Tanh(h + y[t+1])\ny[t] += h\n}", ""},
	{only, "h := 0.1\nfor t := len(y)-2; t >= 0; t-- {\nh = math.Tanh(h + y[t])\ny[t+1] += h\n}", "h is used where y[t+1], which it is computed from, changes"},
	{only, "h := 0.1\nfor t := range y {\nh = math.Tanh(h + y[t])\ny[t] += h\n}", "h is used where y[t], which it is computed from, changes"},
	{only, "h := 0.1\nfor t := range y {\na := y[t]\ny[t] += h\nh = math.Tanh(h + a)\n}", "a is used where y[t], which it is computed from, changes"},
	{only, "h := 0.1\nfor t := range y {\na := 2 * h\ny[t] += a\nh = math.Tanh(h + y[t])\n}", ""},
	{only, "h := 0.1\nfor t := range y {\nif h > 0 {\ny[t] += h\n}\nh = math.Tanh(h + y[t])\n}", ""},
	{only, "s := 0.0\nfor t := 0; t < len(y)-1; t++ {\ns += y[t+1]\ny[t] += 1\n}\ny[0] += s", "s is used where y[t], which it is computed from, changes"},
	{"(y []float64, n int)", "h := 0.1\nfor t := range y {\ny[n*t+1] += h\nh = math.Tanh(h + y[n*t])\n}", "h is used where y[n*t+1], which it is computed from, changes"},
	{"(y []float64, i []int)", "h := 0.1\nfor t := range y {\ny[i[t]] += h\nh = math.Tanh(h + y[i[t]])\n}", "h is used where y[row], which it is computed from, changes"},
	{only, "h := 0.1\nfor t := range len(y)/2 {\nh = math.Tanh(h + y[2*t])\ny[2*t+1] += h\n}", ""},
	{only, "h := 0.1\nfor t := range len(y) {\nfor s := range t {\nh = math.Tanh(h + y[s])\n}\ny[t] += h\n}", "h is used where y[t], which it is computed from, changes"},
	{only, "for t := range y {\ns := 0.0\nfor j := range t {\ns += y[j]\n}\ny[t] += s\n}", ""},
	{only, "for t := range y {\ns := 0.0\nfor j := t; j < len(y); j++ {\ns += y[j]\n}\ny[t] += s\n}", "s is used where y[t], which it is computed from, changes"},
	{only, "a := y[0]\nfor t := 1; t < len(y); t++ {\ny[t] += a\n}", ""},

	// Arrays and structs.
	{xy, "var a [2]float64\na[1] += x[0]\nb := a\nb[0]++\ny[0] += a[1] * b[0]", ""},
	{xy, "a := [...]float64{1, 2: x[0]}\nfor i, v := range a {\ny[0] += a[i] * v\n}", ""},
	{xy, "a := [2][2]float64{{1, x[0]}, {x[1], 2}}\nfor _, r := range a {\ny[0] += r[0] * r[1]\n}", ""},
	{xy, "var b bool\nn := 1\nn++\nif !b && n*3/2 != 4%3 && n < 3 && n <= 2 {\ny[0] += float64(x[0]) * float64(int(n))\n}", ""},
	{xy, "_, c := math.Sincos(x[0])\nvar d float64\n_, d = 2, c\ny[0] += d", ""},
	{xy, "p := pair{b: x[0]}\np.a += 1\ny[0] += p.a * p.b", ""},
	{xy, "d := deep{pair{1, 2}, [2]float64{3, x[0]}}\nd.p.a = d.v[1]\nd.v[0] -= 1\ny[0] += d.p.a * d.v[0]", ""},
	{xy, "var a [2]float64\nfor i := range x {\na[i] += x[i]\n}\ny[0] += a[0]", "the index of a local array is a constant, or the variable of a loop with constant bounds, at most 64 apart"},
	{"(y, x []float64, n int)", "var a [2]float64\na[n] += x[0]\ny[0] += a[0]", "the index of a local array is a constant, or the variable of a loop with constant bounds"},
	{xy, "var a [2]float64\nfor i := range 3 {\na[i] += x[i]\n}\ny[0] += a[0]", "the index 2 is out of the 2 elements of a"},
	{xy, "var a [65]float64\ny[0] += a[0] * x[0]", "each element of a local array is a variable of its own, and 65 are too many: make it a parameter"},
	{xy, "var a struct{ v [33][2]float64 }\ny[0] += a.v[0][0] * x[0]", "at most 64 of them"},
	{xy, "y[0] += math.MaxFloat64 * x[0]", ""},

	// Parts.
	{xy, "z := x[1:]\nfor i := range z {\ny[0] += z[i]\n}", ""},
	{xy, "z := x[1:]\ny[0] += z[0]", "z[0]: nothing says that 0 is not beyond the end of the part, len(x)-1: loop over the part, or test it"},
	{xy, "z := x[1:]\nif len(z) > 0 {\ny[0] += z[0]\n}", ""},
	{xy, "z := x[1:][2:]\nfor _, v := range z[:] {\ny[0] += v\n}", ""},
	{"(y []float64, m [][]float64)", "y[0] += m[1:][0][0]", "m[1:]: only vectors and rows have parts"},
	{"(y []float64, m [][]float64)", "y[0] += m[0]", "mismatched types"},

	// Branches.
	{xy, "if x[0] > 0 {\ny[0] += x[0]\n} else if x[0] < -1 {\ny[0] -= x[0]\n}", ""},
	{xy, "if y[0] > 0 {\ny[0] += x[0]\n}", "the condition reads y[0], which the branch changes: the inverse would not know that it was taken"},
	{xy, "switch {\ncase x[0] > 0:\ny[0] += x[0]\n}", ""},
	{"(y, x []float64, n int)", "switch m := n; m {\ncase 0, 1:\ny[0] += x[0]\ndefault:\ny[1] += x[0]\n}", ""},
	{"(y, x []float64, n int)", "switch n {\ncase 0:\nfallthrough\ncase 1:\ny[0] += x[0]\n}", "fallthrough: the inverse would not know that it was taken; use if and else"},
	{xy, "var a any = x\nswitch a.(type) {\n}\ny[0] += x[0]", "a typeswitch statement cannot be run backward"},
	{xy, "if x[0] > 0 {\nreturn\n}\ny[0] += x[0]", ""},
	{xy, "for i := range x {\nif x[i] > 0 {\ncontinue\n}\ny[i] += x[i]\n}", ""},
	{xy, "for i := range x {\nif x[i] > 0 {\nbreak\n}\ny[i] += x[i]\n}", "break: the inverse would not know in which iteration; put the condition into the for statement, or the rest of the loop under if"},
	{xy, "for i := range x {\nif x[i] > 0 {\ngoto end\n}\ny[i] += x[i]\n}\nend:", "goto: the inverse would not know that it was taken; use if and else"},
	{xy, "lg, _ := math.Lgamma(x[0])\ny[0] += lg", "math.Lgamma has no derivative here; there are Abs, Acos,"},
	{xy, "lg, _ := math.Modf(x[0])\ny[0] += lg", "math.Modf has no derivative here; there are Abs, Acos,"},
	{xy, "for i := range x {\nif x[i] > 0 {\nreturn\n}\ny[i] += x[i]\n}", "return out of a loop: the inverse would not know"},
	{xy, "switch {\ndefault:\ny[0] += x[0]\n}\nswitch {\n}\n;", ""},
	{xy, "if x[0] > 0 {\n{\nreturn\n}\n} else if x[0] < -1 {\ny[1] += 1\n} else {\nreturn\n}\ny[0] += x[0]", ""},
	{xy, "goto end\nend:\ny[0] += x[0]", "goto: the inverse would not know"},
	{xy, "end:\nfor i := range x {\nif i > 0 {\ncontinue end\n}\ny[i] += x[i]\n}", "a labeled statement cannot be run backward"},
	{xy, "y[0] += x[0]\nif len(x) > 3 {\npanic(0)\n}", "conditions that panic belong to the beginning of the function"},

	// Loops.
	{xy, "for i := len(x) - 1; i >= 0; i-- {\ny[i] += x[i]\n}", ""},
	{xy, "for i := 1; i <= 3; i++ {\ny[0] += x[0]\n}", ""},
	{xy, "for i := 9; i > 2; i-- {\ny[i] += x[i]\n}", ""},
	{xy, "a, b := x[0], 1.0\nfor i := range x {\na, b = b, math.Sin(a*x[i])\n}\ny[0] += a * b", ""},
	{xy, "for range 3 {\ny[0] += x[0]\n}", ""},
	{xy, "t := 1.0\nfor t < 10 {\nt *= 2 + x[0]\n}\ny[0] += t", ""},
	{xy, "for y[0] < 1 {\ny[1] += x[0]\n}", "a loop that changes operands runs over a range: from a condition the inverse would not know how often"},
	{xy, "for i := 0; i < len(x); i++ {\ny[i] += x[i]\ni += 1\n}", "i changes in the loop that counts with it"},
	{xy, "for h := 0.0; h < 1; h += 0.1 {\ny[0] += x[0]\n}", "h is no integer: its steps would round, and the inverse take others"},
	{xy, "for {\ny[0] += x[0]\n}", "a loop without end: give it a condition"},
	{xy, "for i, j := 0, 1; i < j; i++ {\ny[0] += x[i]\n}", "a loop defines one variable"},
	{xy, "for i := 0; i < 9; i += 2 {\ny[0] += x[i]\n}", "a loop ends with its variable's ++ or --"},
	{xy, "for i := 0; i != 9; i++ {\ny[0] += x[i]\n}", "a loop up ends with < or <=, a loop down with > or >="},
	{xy, "t := 1.0\nfor i := 9; t < 9; i-- {\nt += x[i]\n}\ny[0] += t", "a loop with a condition counts up"},
	{xy, "t := 1.0\nfor abs(t) < 9 {\nt += x[0]\n}\ny[0] += t", "the condition of a loop cannot hold calls that take statements"},
	{xy, "i := 0\nfor i = range x {\ny[i] += x[i]\n}", "a loop defines its variables by :="},
	{xy, "for range map[int]int{} {\ny[0] += x[0]\n}", "a range over a map[int]int cannot be run backward: loops run over integers, slices and arrays"},
	{xy, "for i := range \"abc\" {\ny[0] += x[i]\n}", "a range over a string cannot be run backward"},
	{xy, "var c chan int\nfor range c {\ny[0] += x[0]\n}", "chan int is not known"},
	{xy, "for range sequence {\ny[0] += x[0]\n}", "a range over a func(func() bool) cannot be run backward"},
	{xy, "if twice == nil {\ny[0] += x[0]\n}", "this is not a number from parameters and locals"},
	{xy, "if map[int]int{} == nil {\ny[0] += x[0]\n}", "local slices and maps are not known: use arrays, structs or parameters"},
	{xy, "if func() {} == nil {\ny[0] += x[0]\n}", "closures cannot be run backward"},
	{xy, "for i := range [2]float64{1, 2} {\ny[i] += x[i]\n}", "is not a local array"},
	{xy, "for i := range func(func(int) bool) {} {\ny[i] += x[i]\n}", "a range over a func(func(int) bool) cannot be run backward"},

	// Expressions and calls.
	{xy, "y[0] += twice(x[0]) + abs(x[1])", ""},
	{xy, "y[0] += first(x)", ""},
	{xy, "y[0] += none(x[0])", "none(x[0]) (no value) used as value"},
	{xy, "y[0] += 3*x[0] + 4*x[1]\ny[1] += math.Cbrt(x[1]) - 0.1*x[0]", ""},
	{"//revgen:kernel K\nfunc k(y, x []float64)", "s := 0.0\nfor i := range x {\ns += 5*x[i] - 8*x[0]\n}\ny[0] += s + 1e9*s", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "y[0] += 3*x[0] + 2*x[1]", ""},
	{xy, "y[0] += max(x[0], 1, x[1]) - min(x[0], 2)", ""},
	{xy, "sin, cos := math.Sincos(x[0])\ny[0] += sin * cos", ""},
	{xy, "y[0] += math.Gamma(x[0])", "math.Gamma has no derivative here; there are Abs, "},
	{xy, "y[0] += again(x[0])", "again calls itself"},
	{xy, "y[0] += generic(x[0])", "generic has type parameters: write it over float64"},
	{xy, "y[0] += variadic(x[0], x[1])", "variadic(x[0], x[1]): a call has one argument for each parameter"},
	{xy, "t := x[0]\nset(&t)\ny[0] += t", "&t: a function cannot change a local of its caller: let it return the value"},
	{xy, "set(&y[0])", ""},
	{"(y []float64, m [][]float64)", "y[0] += row(m, 0)[0]", "is not a parameter, an element or a row of one"},
	{xy, "f := func(v float64) float64 { return v }\ny[0] += f(x[0])", "func(v float64) float64 is not known"},
	{xy, "y[0] += func() float64 { return 1 }() * x[0]", "only kernels, and functions of math and of this package, can be called"},
	{xy, "println(x[0])\ny[0] += x[0]", "println: of the functions that are built in there are len, min and max"},
	{xy, "copy(y, x)", "copy: of the functions that are built in there are len, min and max"},
	{xy, "y = append(y, x[0])", "there are no local slices; use an array, or a parameter to whose elements you add"},
	{xy, "t := pair{x[0], 1}\nt.add(x[1])\ny[0] += t.a", "t: a function cannot change a local of its caller: let it return the value"},
	{xy, "s := make([]float64, 3)\ns[0] = x[0]\ny[0] += s[0]", "make([]float64, 3): there are no local slices; use an array, or a parameter to whose elements you add"},
	{"(y *float64, x *mat.VecDense)", "*y += x.Norm(2)", "x.Norm is a method: only At, AtVec, Len and Dims of matrices, Forward and Inverse of kernels, and methods of structs of this package can be called"},
	{xy, "p := new(float64)\n*p += x[0]\ny[0] += *p", "*float64 is not known"},
	{xy, "t := pair{x[0], 1}\ny[0] += t.sum()", ""},
	{xy, "f := math.Sin\ny[0] += f(x[0])", "func(x float64) float64 is not known"},
	{xy, "y[0] += positive(x[0])", "only conditions on lengths panic: what is written would not"},
	{xy, "best := math.Inf(1)\ny[0] += min(best, x[0])", "math.Inf: fixed point has no infinity; begin with the first number, or with math.MaxFloat64, which becomes the largest number of each type"},
	{xy, "best := 1e30\ny[0] += min(best, x[0])", "1e+30 is out of the range of fixed point, ±2²⁰: write math.MaxFloat64 for the largest number of each type"},
	{xy, "y[0] += x[0] * (1 << 20)", "1.048576e+06 is out of the range of fixed point, ±2²⁰"},
	{xy, "y[0] += x[0] / (1 << 20)", ""}, // times 2⁻²⁰
	{"//revgen:kernel K[T rev.Real]\n//revgen:const h\nfunc k(y, x []float64, h float64) error", "if h > 1e300 {\nreturn fmt.Errorf(\"above %v\", 1e300)\n}\ny[0] += x[0]\nreturn nil", ""},
	{xy, "y[0] += max(-math.MaxFloat64, min(math.MaxFloat64, x[0]))", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x []float64)", "y[0] += 1e30 * x[0]", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x []float64)", "y[0] += 1e300 * x[0]", "1e+300 is out of the range of float32"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x []float64)", "y[0] += min(math.MaxFloat64, x[0])", ""},
	{"//revgen:kernel K\nfunc k(y, x []float64)", "y[0] += 1e300 * x[0]", ""},
	{xy, "y[0] += float64(float32(x[0]))", "the conversion to float32 has no derivative"},
	{xy, "y[0] += float64(len(x)) / float64(3)", ""},
	{"(y *float64, x *float64)", "*y += float64(next(2)) * *x", ""},
	{xy, "y[next(1)] += x[0]", ""},
	{xy, "if x[0] == +x[1] {\ny[0] += x[0]\n}", ""},
	{"(y []float64, n int)", "y[0] += float64(n << 1)", ""},
	{"(y []float64, n int)", "y[0] += float64(^n)", "^n is not known"},
	{xy, "go twice(x[0])\ny[0] += x[0]", "a go statement cannot be run backward"},
	{xy, "defer twice(x[0])\ny[0] += x[0]", "a defer statement cannot be run backward"},
	{xy, "select {}", "a select statement cannot be run backward"},
	{xy, "c := make(chan float64)\nc <- x[0]\ny[0] += x[0]", "chan float64 is not known"},
	{xy, "y[0] += x[int(x[1])]", "the conversion to int has no derivative: numbers are float64 and int"},
	{xy, "type t float64\ny[0] += float64(t(x[0]))", ""},
	{xy, "y[0] += global.x", "undefined"},
	{xy, "y[0] += struct{ a float64 }{1}.a * x[0]", "numbers come from parameters and locals"},
	{xy, "<-make(chan int)\ny[0] += x[0]", "this value is not used"},
	{"(y *float64, x *float64)", "*y += math.Sqrt(*x)", ""},
	{"(y, x *float64, p []*float64)", "*y += *x", "parameters are float64, *float64"},
	{xy, "t := x\n_ = t", "would be a second name"},
	{xy, "p, q := pair{x[0], 1}, pair{2, 3}\nif p == q {\ny[0] += 1\n}", "p is an array or a struct: compare its parts one by one"},
	{xy, "if x != nil {\ny[0] += x[0]\n}", "x is a slice: use its elements"},
	{"(y *float64, x float64)", "if y != nil {\n*y += x\n}", "y is a pointer: use *y"},
	{"(y []float64, m [][]float64)", "if m[0] != nil {\ny[0] += 1\n}", "m[0] is no number"},
	{xy, "v, ok := any(x).(float64)\n_, _ = v, ok\ny[0] += x[0]", "only a function has several values"},
	{xy, "for i := range y {\ny[i] += x[i]\n}\ny[0] += cap(x)", "cap"},

	{"//revgen:kernel K\nfunc k(y, x []float64)", "t := 1.0\ns := 0.0\nif len(x) > 2 {\ns = t / 3\n}\ny[0] += s * x[0]", ""},
	// What few functions have.
	{"(y, x, w []float64, a float64)", "b := x[0] > 0\nif b {\ny[1] += math.Tanh(0.25+a) * math.Sin(a)\n} else {\nfor i := range y {\ny[i] += x[i]\n}\ny[1] += math.Sin(0.5*a) / (2 + math.Sin(w[1]))\n}\nfor i := range y {\ny[i] += x[i]\n}", ""},
	{"(y, x []float64, n int)", "if n > 0 {\ni := n % len(x)\nb := x[i] > 1\nif b {\ny[i] += math.Sin(x[i]) / x[1]\n}\n}", ""},
	{"(y, x []float64, n int)", "if n > 0 {\ni := n % len(x)\nc := x[i] > 1\nt := math.Sin(x[i])\nif c {\ny[0] += t * t / x[1]\n}\ny[i] += t\n}", ""},
	{"(y, x []float64, n int)", "t := x[0]\nif n > 0 {\ni := n % len(x)\nb := x[i] > 1\nu := math.Sin(x[i])\nif b {\nu = u / x[1]\n}\nt = u * x[i]\n}\ny[0] += t * t", ""},
	{"(y []float64, n int)", "y[-n] += y[0]", "y[-n] and y[0] may be the same element"},
	{"(y []float64, m [][]float64)", "if len(m[0]) != 3 || len(m[0]) != 4 {\npanic(0)\n}\ny[0] += m[0][0]", "two conditions on len(m[0])"},
	{xy, "s := 0.0\nfor i := range x {\ns += -(x[i] * x[0]) + x[i]\n}\ny[0] += s", ""},
	{xy, "s := 0.0\nfor i := range x {\ns -= x[i] - x[i]*x[0] - 2*x[i]\n}\ny[0] += s", ""},
	{xy, "s := 0.0\nfor i := range x {\ns -= (x[i] + x[0]) - (x[i]*x[0] - 1)\ns += -(x[i] - x[i]*x[1])\n}\ny[0] += s", ""},
	{xy, "n := 2\nif n >= 2 && 3 >= n {\ny[0] += math.Hypot(x[0], 0) + math.Atan2(x[0], 0)\n}", ""},
	{"type empty struct{ a float64 }\n\nfunc (empty) two() float64 { return 2 }\n\n//revgen:kernel K[T rev.Real]\nfunc k(y, x []float64)", "e := empty{x[0]}\ny[0] += e.two() * e.a", ""},
	{"func made(x float64) pair { return pair{x, 1} }\n\n//revgen:kernel K[T rev.Real]\nfunc k(y, x []float64)", "y[0] += made(x[0]).a", "made(x[0]).a is not known: numbers come from parameters and locals"},
	{"func made(x float64) pair { return pair{x, 1} }\n\n//revgen:kernel K[T rev.Real]\nfunc k(y, x []float64)", "y[0] += x[0]\nmade(x[0]).sum()", ""},
	{"func made(x float64) pair { return pair{x, 1} }\n\n//revgen:kernel K[T rev.Real]\nfunc k(y, x []float64)", "p := made(x[0])\ny[0] += p.a * made(x[1]).sum()", ""},
	{"(y, x *mat.VecDense, w *mat.Dense)", "revlinalg.NewAffine(y, w, x, nil).Forward()", ""},
	{xy, "if len(x) != len(y) || len(y) != len(x) {\npanic(0)\n}\ny[0] += x[0]", ""},
	{xy, "if len(x) != 3 || len(x) != len(y) {\npanic(0)\n}\ny[0] += x[0]", ""},
	{xy, "if len(y) != 2*(len(x)+1) {\npanic(0)\n}\ny[0] += x[0]", ""},
	{"(y, x []float64, i int)", "if len(y) != len(x)+1 {\npanic(0)\n}\ny[i%len(y)] += x[0] * float64(2*len(y))", ""},
	{"//revgen:kernel K\nfunc k(y, x []float64, a float64)", "for i := range x {\ny[i] += a * x[i]\n}", ""},
	{xy, "a, b := x[0], x[1]\nfor range 3 {\na, b = b, a\n}\ny[0] += a * math.Sin(b)", ""},
	{xy, "a, b := x[0], x[1]\nfor range 3 {\nfor range 2 {\na, b = b, a\n}\na = math.Sin(a)\n}\ny[0] += a * b", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "y[0] += complex(real(complex(imag(x[0]), 0)), real(cmplx.Conj(complex(real(x[1]), 1))))", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "t := x[0]\nh := 0.5 * t\nfor range 3 {\nh = 0.5 * cmplx.Sin(h+t)\n}\ny[0] += h + cmplx.Sin(x[1])*cmplx.Cos(x[1])", ""},
	{"(y, x []float64)", "h := math.Sin(x[0])\nt := 0.5 * h\nfor range 3 {\nt = 0.5 * math.Sin(t+math.Sin(x[0]))\n}\ny[0] += t", ""},
	{xy, "for i := range x {\nif !(x[i] > 0) {\ny[i] -= x[i]\n}\n}", ""},
	{xy, "t := 1.0\nfor t < 10 {\nt = t*x[0] + t + 1\n}\ny[0] += t", ""},
	{"//revgen:kernel K[T rev.Real]\n//revgen:snapshots 2\nfunc k(y, x []float64)", "h := x[0]\nfor i := range x {\nh = math.Tanh(h + x[i])\n}\ny[0] += h", ""},

	{xy, "n := 6\nn <<= 1\nn &^= 4\nn |= 1\nn ^= 2\nn %= 7\nn >>= 1\ny[n] += x[n]", ""},
	{xy, "t := pair{x[0], 1}\ny[0] += pair.sum(t)", "pair.sum is a method"},
	{xy, "f := pair{1, 2}.sum\ny[0] += f()", "func() float64 is not known"},
	{xy, "z := x[1:2:3]\nfor i := range z {\ny[i] += z[i]\n}", ""},
	{xy, "var c chan<- int\nc <- 1", "a send statement cannot be run backward"},
	{xy, "v := any(x[0]).(float64)\ny[0] += v", "any(x[0]).(float64) is not known"},
	{xy, "for i := range &[2]float64{1, 2} {\ny[i] += x[i]\n}", "a range over a *[2]float64 cannot be run backward"},
	{xy, "switch x := x[0]; {\ncase x > 0:\nbreak\n}\ny[0] += 1", "break: the inverse would not know"},
	{xy, "outer:\nfor i := range x {\nfor j := range i {\nif j == 2 {\nbreak outer\n}\n}\n}", "a labeled statement cannot be run backward"},
	{xy, "var s string\ny[0] += 1\n_ = s", "string is not known"},
	{xy, "y[0] += float64(len(\"abc\")) * x[0]", ""},
	{xy, "if x := x[0]; x > 0 {\ny[0] += x\n}", ""},
	{xy, "func() { y[0] += 1 }()", "only kernels, and functions of math and of this package, can be called"},
	{xy, "p := &y[0]\n*p += x[0]", "*float64 is not known"},
	{xy, "const s = \"a\"\ntype t = float64\nvar v t = t(x[0])\ny[0] += v", ""},

	// Kernels.
	{"(y *float64, x *mat.VecDense)", "revlinalg.NewDot(y, x, x).Forward()\n*y += x.AtVec(x.Len() - 1)", ""},
	{"(c, a, b *mat.Dense)", "revlinalg.NewMatMul(c, a, b).Inverse()", ""},
	{"(y *float64, x *mat.VecDense)", "revlinalg.NewDot(y, x, x).Adjoint(revlinalg.Dot[float64]{})", "a function calls Forward or Inverse of a kernel"},
	{"(y, x *mat.Dense)", "revlinalg.NewInv(y, x).Forward()", "revlinalg.Inv may fail: write if err := revlinalg.NewInv(y, x).Forward(); err != nil { return err }"},
	{"(y, x *mat.Dense) error", "revlinalg.NewInv(y, x).Inverse()\nreturn nil", "revlinalg.Inv may fail: write if err := revlinalg.NewInv(y, x).Inverse(); err != nil { return err }"},
	{"(y, x *mat.Dense) error", "_ = revlinalg.NewInv(y, x).Forward()\nreturn nil", "revlinalg.NewInv(y, x).Forward may fail: write if err := revlinalg.NewInv(y, x).Forward(); err != nil { return err }"},
	{"(y, x *mat.Dense) error", "err := revlinalg.NewInv(y, x).Forward()\nif err != nil {\nreturn err\n}\nreturn nil", "revlinalg.NewInv(y, x).Forward may fail: write if err"},
	{"(y, x *mat.Dense) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn err\n}\nreturn nil", "revlinalg.Inv is not over all number types of K[T rev.Real]: ask for fewer"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn err\n}\nreturn nil", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "return (revlinalg.NewInv(y, x)).Inverse()", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense, z *float64) error", "if y.At(0, 0) > 1 {\n*z += x.At(0, 0)\nreturn nil\n}\nfor i := range 3 {\nif err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn fmt.Errorf(\"%s %d: %w, %w\", \"inv\", i, errBad, err)\n}\n*z += float64(i)*x.At(1, 1)\n}\nswitch {\ncase x.At(0, 0) > 2:\nif err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn errBad\n}\n}\nreturn nil", "the condition reads y, which the branch changes"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense, z *float64) error", "if x.At(0, 0) > 1 {\n*z += x.At(0, 0)\nreturn nil\n}\nfor i := range 3 {\nif err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn fmt.Errorf(\"%s %d: %w, %w\", \"inv\", i, errBad, err)\n}\n*z += float64(i)*x.At(1, 1)\n}\nswitch {\ncase x.At(0, 0) > 2:\nif err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn errBad\n}\n}\nreturn nil", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn fmt.Errorf(\"%g: %w\", x.At(0, 0), err)\n}\nreturn nil", "if a call fails, return its error, a variable of the package, or fmt.Errorf of a text with integers and such errors"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn nil\n}\nreturn nil", "if a call fails, return its error, a variable of the package"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn func() error { return err }()\n}\nreturn nil", "if a call fails, return its error, a variable of the package"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense, z *float64) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\n*z += 1\n}\nreturn nil", "revlinalg.NewInv(y, x).Forward may fail: write if err"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense, z *float64) error", "if x.At(0, 0) < 0 {\nreturn errBad\n}\n*z += x.At(0, 0)\nif err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn err\n}\nreturn nil", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "if err := revlinalg.NewInv(y, x).Forward(); err != nil {\nreturn err\n}\nif x.At(0, 0) < 0 {\nreturn errBad\n}\nreturn nil", "y changes before the last error is returned: return all errors first"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "return inverted(y, x)", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "if err := inverted(y, x); err != nil {\nreturn fmt.Errorf(\"outer: %w\", err)\n}\nreturn nil", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "inverted(y, x)\nreturn nil", "inverted may fail: write if err := inverted(y, x); err != nil { return err }"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x *mat.Dense) error", "_ = inverted(y, x)\nreturn nil", "inverted may fail: write if err := inverted(y, x); err != nil { return err }"},
	{"//revgen:kernel K[T rev.Float]\nfunc k(y, x []float64) error", "if err := checked(x); err != nil {\nreturn err\n}\ny[0] += x[0]\nreturn nil", "an error of its own that checked returns comes before all changes: return it in the function that asks for the kernel"},
	{"var err = errBad\n\n//revgen:kernel K[T rev.Float]\nfunc f(y, x *mat.Dense) error", "if e := revlinalg.NewInv(y, x).Forward(); e != nil {\nreturn fmt.Errorf(\"%w: %w\", err, e)\n}\nreturn nil", ""},
	{"(y, x []float64)", "_ = moved(y, x)", ""},
	{"//revgen:kernel K[T rev.Float]\nfunc k(l, a *mat.Dense, x, b *mat.Dense, s *float64) error", "if err := (revlinalg.Cholesky[float64]{L: rev.ViewDense(l), A: rev.ViewDense(a)}).Forward(); err != nil {\nreturn err\n}\n*s += l.At(0, 0)\nreturn revlinalg.TriSolve[float64]{X: rev.ViewDense(x), A: rev.ViewDense(l), B: rev.ViewDense(b), TransA: true}.Inverse()", ""},
	{"(y *float64, x []float64, v *mat.VecDense)", "revlinalg.Dot[float64]{Out: y, X: rev.ViewSlice(x), Y: rev.ViewVec(v)}.Forward()\nrevlinalg.Dot[float64]{Out: y, X: rev.ViewVec(mat.NewVecDense(len(x), x)), Y: rev.ViewVec(v)}.Inverse()", ""},
	{"(y *float64, x []float64)", "revlinalg.Dot[float64]{y, rev.ViewSlice(x), rev.ViewSlice(x)}.Forward()", "revlinalg.Dot[float64]: name the fields of a kernel"},
	{"(y *float64, x []float64)", "revlinalg.Dot[float64]{Out: y, X: rev.ViewSlice(x[1:]), Y: rev.ViewSlice(x[1:])}.Forward()", "x[1:]: a kernel takes whole parameters"},
	{"(y *float64, x []float64, n int)", "revlinalg.Dot[float64]{Out: y, X: rev.Vector[float64]{N: n, Inc: 1, Data: x}}.Forward()", "is not a parameter, an element or a row of one"},
	{"(y *float64, x []float64)", "revlinalg.Dot[float64]{}.Forward()\n*y += x[0]", "only kernels, and functions of math and of this package, can be called"},
	{"(x *mat.Dense)", "revlinalg.NewGivensQR(x).Forward()", "revlinalg.GivensQR is not over all number types of K[T rev.Real]: ask for fewer"},
	{"//revgen:kernel K\nfunc k(x *mat.Dense, t *mat.VecDense)", "revlinalg.NewUnitary(x, t).Forward()", ""},
	{"//revgen:kernel K\nfunc k(x *mat.VecDense, t *mat.VecDense)", "revlinalg.NewUnitaryVec(x, t).Forward()", "only kernels, and functions of math and of this package, can be called"},
	{"(y *float64, m [][]float64)", "revlinalg.NewDot(y, mat.NewVecDense(2, m[0]), mat.NewVecDense(2, m[1])).Forward()", "m[0]: a kernel takes whole parameters, a vector as a vector and a matrix as a matrix"},
	{"(c *mat.Dense, a *mat.Dense)", "revlinalg.NewMatMul(c, a, a.T()).Forward()", "a.T() is not a parameter, an element or a row of one"},
	{"(x *mat.VecDense, a *float64)", "revlinalg.NewAxpy(x, a, x).Forward()", "x is in two places of revlinalg.Axpy, which changes one of them"},
	{"//revgen:kernel K\nfunc k(y, x *mat.VecDense)", "revnn.NewLeakyReLU(y, x, 0.25).Forward()", ""},
	{"//revgen:kernel K\nfunc k(y, x *mat.VecDense, s []float64)", "revnn.NewLeakyReLU(y, x, s[0]).Forward()", "Slope of revnn.LeakyReLU is a constant here"},
	{"(c, a *mat.Dense)", "c.Set(0, 0, a.At(0, 0))", "c.Set overwrites, and what it was could not be restored: take a slice, and add to its elements"},

	// Complex numbers.
	{"//revgen:kernel K\nfunc k(y, x []complex128, a complex128)", "s := 2i\ns += real(x[0]) * 1\ny[0] += a * s", "mismatched types"},
	{"//revgen:kernel K\nfunc k(y, x []complex128, a complex128)", "s := 2i\ns *= cmplx.Log(x[0])\ny[0] += a*s + complex(real(x[1]), 3) - complex128(2)", ""},
	{"//revgen:kernel K\n//revgen:const a\nfunc k(y, x *mat.CDense, a complex128, z *complex128)", "*z += a * x.At(0, 0) * y.At(1, 1)", ""},
	{"//revgen:kernel K\nfunc k(y []complex128, x []float64)", "y[0] += complex(x[0], 0)", "float64 and complex128 in one kernel: write all numbers over one of them"},
	{"//revgen:kernel K\n//revgen:const x\nfunc k(y []complex128, x float64)", "y[0] += complex(x, 0)", "float64 and complex128 in one kernel"},
	{"(y, x []complex128)", "y[0] += x[0]", "K[T rev.Real]: a function over complex128 becomes a kernel over complex128, K without type parameter"},
	{xy, "var t complex128\ny[0] += x[0] + real(t)", "complex128 is not known: locals are float64"},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "var g float64\nh := 0.5\ny[0] += complex(h, g) * x[0]", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "if real(x[0]) > 0 {\ny[0] += x[0]\n}", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "if x[0] != 0 {\ny[0] += x[0]\n}", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "y[0] += complex(max(real(x[0]), imag(x[0])), math.Abs(imag(x[1])))", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "y[0] += complex(cmplx.Abs(x[0]), 0)\nr, phi := cmplx.Polar(x[1])\ny[1] += cmplx.Rect(r, -phi)", ""},
	{"//revgen:kernel K[T rev.Real]\n//revgen:snapshots 2\nfunc k(y, x []float64, a float64)", "h := x[0]\nfor i := range x {\nh = 0.5 * math.Tanh(math.Tanh(x[1]) * math.Sin(a))\ny[i] += x[i]\n}\ny[0] += h", ""},
	{"//revgen:kernel K[T rev.Real]\nfunc k(y, x, z []float64)", "revlinalg.NewMulElem(mat.NewVecDense(len(y), y), mat.NewVecDense(len(x), x), mat.NewVecDense(len(z), z)).Forward()\nt := x[0]\nh := 0.5 * t\nfor range 3 {\nh = 0.5 * math.Sin(h+t)\n}\ny[0] += h", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "y[0] += complex(max(imag(0.5-0.25i), real(x[0])), max(2, imag(x[0])))", ""},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "y[0] += cmplx.Inf() * x[0]", "cmplx.Inf has no derivative here; there are Abs, Acos, Acosh, Asin, Asinh, Atan, Atanh, Conj, Cos, Cosh, Cot, Exp, Log, Log10, Phase, Pow, Sin, Sinh, Sqrt, Tan, Tanh, Polar and Rect"},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "if !cmplx.IsNaN(x[0]) {\ny[0] += x[0]\n}", "cmplx.IsNaN has no derivative here"},
	{"//revgen:kernel K\nfunc k(y, x []complex128)", "if x[0] > x[1] {\ny[0] += x[0]\n}", "operator > not defined on complex128"},
	{xy, "y[0] += x[0] * real(cmplx.Exp(1))", "real has no derivative here"},

	// Parameters and heads.
	{"(y []float64, x map[int]float64)", "y[0] += x[0]", "x is a map[int]float64: parameters are float64, *float64, []float64, [][]float64, *mat.VecDense, *mat.Dense, []int, int and bool"},
	{"(y []float64, p pair)", "y[0] += p.a", "p is a pair: parameters are float64"},
	{"(y []float64, _ int)", "y[0] += 1", "a parameter without a name: it becomes a field of the kernel"},
	{"([]float64)", "", "a parameter without a name: it becomes a field of the kernel"},
	{xy, "", "k changes none of its parameters: add the result into one"},
	{"(y, x, X []float64)", "y[0] += x[0] * X[0]", "x and X would be fields of the same name: choose another name"},
	{"(y []float64, n int, N float64)", "y[n] += N", "n and N would be fields of the same name: choose another name"},
	{"(y, 数 []float64)", "y[0] += 数[0]", "数 would be a field that is not exported: begin the name with a letter that has a capital"},
	{"(y, ψ []float64, len float64, true *float64)", "y[0] += ψ[0] * len * *true", ""},
	{"(run []float64)", "run[0] += 1", "run would be a field with the name of a method: choose another name"},
	{"(y []float64) float64", "y[0] += 1\nreturn 1", "a kernel returns nothing, or an error: add the result into a parameter"},
	{"(y []float64) error", "y[0] += 1\nreturn nil", ""},
	{"(y, x []float64) error", "if x[0] < 0 {\nreturn errBad\n}\ny[0] += x[0]\nreturn nil", ""},
	{"(y, x []float64) error", "y[0] += x[0]", "missing return"},
	{"(y, x []float64) error", "y[0] += x[0]\nreturn errBad", "a function that may fail ends with return nil"},
	{"(y, x []float64) error", "y[0] += x[0]\nif x[0] < 0 {\nreturn errBad\n}\nreturn nil", "y changes before the last error is returned: return all errors first"},
	{"(y, x []float64) error", "if y[0] < 0 {\nreturn errBad\n}\ny[0] += x[0]\nreturn nil", "y decides on an error, and changes: the inverse would decide otherwise"},
	{"(y, x []float64) error", "if x[0] < 0 {\nerr := errBad\nreturn err\n}\ny[0] += x[0]\nreturn nil", "error is not known"},
	{"var k = errBad\n\n//revgen:kernel K\nfunc f(y, x []float64) error", "if x[0] < 0 {\nreturn k\n}\ny[0] += x[0]\nreturn nil", "k is what the kernel is called in what is written: choose another name for the error"},
	{"(y, x []float64) error", "for i, v := range x {\nif v < 0 {\nreturn fmt.Errorf(\"%w: x[%d] is %v, of %v\", errBad, i, v, 2.5)\n}\n}\ny[0] += x[0]\nreturn nil", ""},
	{"(y, x []float64) error", "if x[0] < 0 {\nreturn fmt.Errorf(\"%v\", global)\n}\ny[0] += x[0]\nreturn nil", "global is a variable outside of the function: make it a parameter"},
	{"(y, x []float64) error", "if x[0] < 0 {\nreturn fmt.Errorf(fmt.Sprint())\n}\ny[0] += x[0]\nreturn nil", "the format of an error is a constant"},
	{"(y, x []float64) error", "for i, v := range x {\nif v < 0 {\nreturn &rev.DomainError{Func: \"f\", Args: []float64{v, 2}, Index: i}\n}\n}\ny[0] += x[0]\nreturn nil", ""},
	{"(y, x []float64) error", "if x[0] < 0 {\nreturn &rev.DomainError{Func: \"f\", Order: 1}\n}\ny[0] += x[0]\nreturn nil", "a rev.DomainError has a constant Func, an Index, and Args: []float64{...}"},
	{"(y, x []float64) error", "if x[0] < 0 {\nreturn &rev.DomainError{\"f\", x, 1, 0}\n}\ny[0] += x[0]\nreturn nil", "a rev.DomainError has a constant Func, an Index, and Args: []float64{...}"},
	{"(y, x []float64, e bool) error", "if e {\nreturn error(nil)\n}\ny[0] += x[0]\nreturn nil", "return an error that is a variable of the package, fmt.Errorf of a text with numbers and such variables, or a *rev.DomainError: what is written returns it too"},
	{"// k is like fmt.Errorf, cmplx.Abs, math.Abs and rev.At.\n//\n//revgen:kernel K\nfunc k(y, x []float64) error", "if x[0] < 0 {\nreturn errBad\n}\ny[0] += x[0]\nreturn nil", ""},
	{"(y, x []float64) error", "if x[0] < 0 {\nreturn fmt.Errorf(\"fmt. and cmplx. of %v, math. and fixed.\", x[0])\n}\ny[0] += x[0]\nreturn nil", ""},
	{"//revgen:kernel K[T rev.Real]\n//revgen:const way\nfunc k(y, x []float64, way float64)", "t := x[0]\nh := 0.5 * t\nfor range 3 {\nh = 0.5 * math.Sin(h+t)\n}\ny[0] += h", ""}, // the word way is in a comment
	{"(y *float64, x *mat.VecDense)", "revlinalg.NewDot(y, x, x).Forward()\nrevlinalg := x.AtVec(0) * 2\n*y += revlinalg * revlinalg", ""},
	{"//revgen:kernel K[T rev.Number]\nfunc k(y []float64)", "y[0] += 1", "K[T rev.Number]: a kernel is over float64 (Name), over both floats (Name[T rev.Float]) or over fixed point too (Name[T rev.Real])"},
	{"//revgen:kernel a b\nfunc k(y []float64)", "y[0] += 1", `"a b" is no name for a kernel`},
	{"//revgen:kernel K\n//revgen:const h\nfunc k(y []float64)", "y[0] += 1", "revgen:const: k has no parameter h"},
	{"//revgen:kernel K\n//revgen:snapshots 0\nfunc k(y, x []float64)", "y[0] += x[0]", "revgen:snapshots: 0 is neither a number above 0 nor a parameter that is an int"},
	{"//revgen:kernel K\n//revgen:snapshots h\nfunc k(y, x []float64, h float64)", "y[0] += x[0] * h", "revgen:snapshots: h is neither a number above 0 nor a parameter that is an int"},
	{"//revgen:kernel K\n//revgen:snapshots n\nfunc k(y, x []float64, n int)", "t := 1.0\nfor i := range n {\nt = math.Sin(t * x[i])\n}\ny[0] += t", ""},
	{"//revgen:kernel K\n//revgen:snapshots 3\nfunc k(y, x []float64)", "y[0] += x[0]", "revgen:snapshots: no loop of k needs a tape"},
	{"//revgen:kernel K\n//revgen:snapshot 3\nfunc k(y, x []float64)", "y[0] += x[0]", "revgen:snapshot is not known: there are revgen:kernel, revgen:const and revgen:snapshots"},
	{"//revgen:kernel K\nfunc k[F float64](y []float64)", "y[0] += 1", "k has type parameters: write it over float64"},
	{"//revgen:kernel K\nfunc (p pair) k(y []float64)", "y[0] += 1", "k is a method: make it a function"},
	{"var num int\n\n//revgen:kernel K\nfunc k(y []float64)", "y[0] += 1", "what is written needs the name num for Go's own or for a package, but this package declares it: choose another name"},

	// Workers.
	{asked + "(y, x []float64)", "for i := range x {\ny[i] += x[i]\n}", ""},
	{asked + "(y, x []float64)", "s := 0.0\nfor i := range x {\ns += x[i]\n}\ny[0] += math.Sqrt(s)", ""},
	{asked + "(y, x []float64)", "y[0] += x[0]", "no workers: k has no loop"},
	{asked + "(y, x []float64)", "for i := range 3 {\ny[i] += x[i]\n}", "no workers for this loop: there are only 3 iterations"},
	{asked + "(y, x []float64)", "s := 1.0\nfor i := range x {\ns *= x[i]\n}\ny[0] += s", "no workers for this loop: s goes from one iteration to the next"},
	{asked + "(y, x []float64)", "s := 1.0\nfor s < 9 {\ns *= 1 + x[0] * x[0]\n}\ny[0] += s", "no workers for this loop: a loop with a condition has one iteration after the other"},
	{asked + "(y, x []float64)", "for i := 1; i < len(y); i++ {\ny[i] += x[i] * y[i-1]\n}", "no workers for this loop: y changes, and y[i-1] may be the same element in another iteration"},
	{asked + "(y, x []float64)", "for i := range x {\nif i > 0 {\ny[0] += x[i] * y[i]\n}\n}", "no workers for this loop: y changes, and y[i] may be the same element in another iteration"},
	{asked + "(y, x []float64, at []int)", "for i := range x {\ny[at[i]], y[i] = y[i], y[at[i]]\n}", "no workers for this loop: y changes, and y[at[i]] may be the same element in another iteration"},
	{asked + "(y, x []float64)", "for i := range x {\ny[2*i], y[2*i+2] = y[2*i+2], y[2*i]\n}", "no workers for this loop: y changes"},
	{asked + "(y, x []float64)", "for i := range x {\ny[2*i], y[2*i+1] = y[2*i+1], y[2*i]\n}", ""},
	{asked + "(y, x []float64)", "for i := range x {\nj := len(x) - 1 - i\ny[j] = -y[j]\n}", ""},
	{asked + "(y []float64, n, m int)", "for i := range n {\nfor j := range m {\ny[i*m+j] = -y[i*m+j]\n}\n}", ""},
	{asked + "(y []float64, n, m int)", "for i := range n {\nfor j := range 3 {\ny[i*n+j] = -y[i*n+j]\n}\n}", "no workers for this loop: y changes"},
	{asked + "(y []float64, n, m int)", "for i := range n {\nfor j := range 3 {\ny[i*i+j] = -y[i*i+j]\n}\n}", "no workers for this loop: y changes"},
	{asked + "(y [][]float64, n int)", "for i := range n {\nfor j := range n {\ny[j][i] = -y[j][i]\n}\n}", ""},
	{asked + "(y [][]float64, x []float64, n int)", "for i := 1; i < n; i++ {\nfor j := range n {\ny[i][j] += x[j] * y[i-1][j]\n}\n}", ""}, // the inner loop
	{asked + "(y *float64, a, b *mat.VecDense)", "for range a.Len() {\nrevlinalg.NewDot(y, a, b).Forward()\n}", "no workers for this loop: revlinalg.Dot runs in each iteration, on whole operands"},
	{asked + "(y []float64, workers int)", "for i := range y {\ny[i] += float64(workers)\n}", "workers would be a field with the name of the number of workers: choose another name"},

	// Shapes.
	{xy, "if len(x) != len(y) || len(y) != 3 {\npanic(0)\n}\ny[0] += x[0]", ""},
	{xy, "if len(x) < 3 {\npanic(0)\n}\ny[0] += x[0]", "the shape of operands is said by if len(x) != n { panic(...) }"},
	{xy, "if 2*len(x) != 3*len(y) {\npanic(0)\n}\ny[0] += x[0]", "the shape of operands is said by"},
	{xy, "if len(x) != 3 || len(x) != 4 {\npanic(0)\n}\ny[0] += x[0]", "two conditions on len(x): say each length once"},
	{xy, "if len(x) != 2*len(x) {\npanic(0)\n}\ny[0] += x[0]", "len(x) is said by itself"},
	{"//revgen:kernel\nfunc k(y *float64)", "*y += 1", "the kernel has no name: write //revgen:kernel Name[T rev.Real]"},
	{"//revgen:kernel K[T rev.Real] worker\nfunc k(y *float64)", "*y += 1", "worker: only the word workers may follow the name of a kernel"},
	{"(" + letters(maxOperands) + " *float64)", "*a += *b", ""},
	{"(" + letters(maxOperands+1) + " *float64)", "*a += *b", "k has 33 operands, and a kernel has at most 32: make rows of one matrix of some"},
	{"(" + letters(maxNames) + " []float64)", "a[0] += b[0]", ""},
	{"(" + letters(maxNames+1) + " []float64)", "a[0] += b[0]", "the operands have 15 lengths that may differ, and a kernel has at most 14"},
}

// letters returns n parameters: a, b, ..., z, aa, ba, ...
func letters(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = string(rune('a'+i%26)) + strings.Repeat("a", i/26)
	}
	return strings.Join(names, ", ")
}

// generated returns the code for a construct, or the reason of its refusal.
func (c construct) generated(t *testing.T, imports types.Importer) (string, error) {
	t.Helper()
	head := c.head
	if !strings.Contains(head, "func ") {
		head = "//revgen:kernel K[T rev.Real]\nfunc k" + head
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", declarations+head+" {\n"+c.body+"\n}\n", parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("%s: %v", c.body, err)
	}
	files, err := load(fset, []*ast.File{f}, imports).written([]*ast.File{f})
	text := string(files["p_rev.go"])
	if err == nil {
		g, wrong := parser.ParseFile(fset, "p_rev.go", text, parser.SkipObjectResolution)
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		if wrong == nil {
			_, wrong = (&types.Config{Importer: imports}).Check("p", fset, []*ast.File{f, g}, info)
		}
		if wrong != nil {
			t.Errorf("%s\n%s\ndoes not compile: %v\n%s", c.head, c.body, wrong, text)
		} else if products := fusible(g, info); len(products) > 0 {
			t.Errorf("%s\n%s\nhas products that a machine may fuse with a sum: %s", c.head, c.body, strings.Join(products, ", "))
		}
	}
	return text, err
}

// fusible returns the products of numbers in a file that are not rounded by a conversion.
// A product by a power of two needs no rounding.
func fusible(f *ast.File, info *types.Info) (products []string) {
	rounded := map[ast.Expr]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && info.Types[c.Fun].IsType() {
			rounded[ast.Unparen(c.Args[0])] = true
		}
		b, ok := n.(*ast.BinaryExpr)
		if !ok || b.Op != token.MUL || rounded[b] || info.Types[b].Value != nil {
			return true
		}
		if basic, ok := info.Types[b].Type.(*types.Basic); ok && basic.Info()&types.IsInteger != 0 {
			return true
		}
		if v := info.Types[b.X].Value; v != nil {
			x, _ := constant.Float64Val(constant.Real(v))
			if fraction, _ := math.Frexp(x); fraction == 0.5 {
				return true
			}
		}
		products = append(products, types.ExprString(b))
		return true
	})
	return products
}

// Every construct of Go is either read, or refused with the reason and the place.
func TestConstructs(t *testing.T) {
	imports := testImporter(t)
	place := regexp.MustCompile(`^p\.go:\d+:\d+: `)
	seen := ""
	for _, c := range constructs {
		text, err := c.generated(t, imports)
		got := ""
		if err != nil {
			got = err.Error()
			seen += got + "\n"
		}
		switch {
		case c.want == "" && (err != nil || !strings.Contains(text, "func (k K")):
			t.Errorf("%s\n%s\nis refused: %v", c.head, c.body, err)
		case c.want != "" && (!strings.Contains(got, c.want) || !place.MatchString(got)):
			t.Errorf("%s\n%s\ngot  %s\nwant %s", c.head, c.body, got, c.want)
		}
	}
	everyRefusal(t, seen)
}

// everyRefusal checks that the message of each refusal in the code is in seen.
func everyRefusal(t *testing.T, seen string) {
	t.Helper()
	packages, err := parser.ParseDir(token.NewFileSet(), ".", nil, 0) //nolint:staticcheck // one package without build tags
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range packages["revgen"].Files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !strings.Contains(types.ExprString(call.Fun), "refus") {
				return true
			}
			for _, a := range call.Args {
				if lit, ok := a.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					format, _ := strconv.Unquote(lit.Value)
					if !regexp.MustCompile(pattern(format)).MatchString(seen) {
						t.Errorf("%s: nothing is refused with %q", name, format)
					}
				}
			}
			return true
		})
	}
}

// pattern returns a regular expression for what a format prints.
func pattern(format string) string {
	verb := regexp.MustCompile(`%[sdqv]`)
	var parts []string
	for _, s := range verb.Split(format, -1) {
		parts = append(parts, regexp.QuoteMeta(s))
	}
	return fmt.Sprintf("(?m)%s", strings.Join(parts, ".*"))
}

// A local that a loop only adds to is a sum. It needs no tape, even if it is an element of an
// array.
func TestSums(t *testing.T) {
	imports := testImporter(t)
	for body, tape := range map[string]bool{
		"var s [3]float64\nfor i := range x {\nfor c := range 3 {\ns[c] += x[i] * float64(c)\n}\n}\ny[0] += s[0] * s[1] * s[2]":        false,
		"var s [3]float64\nfor i := range x {\nfor c := range 3 {\ns[c] += x[i] * s[c]\n}\n}\ny[0] += s[0] * s[1] * s[2]":              true,
		"var s [3]float64\nfor i := range x {\nfor c := range 3 {\ns[c] += x[i]\n}\ns[1] = s[0] * x[i]\n}\ny[0] += s[0] * s[1] * s[2]": true,
	} {
		text, err := construct{head: xy, body: body}.generated(t, imports)
		if err != nil || strings.Contains(text, "num.NewTape") != tape {
			t.Errorf("%s\nneeds a tape: %v, want %v; %v", body, !tape, tape, err)
		}
	}
}

// A local of a branch keeps its value, if a later branch reads it and a loop follows.
func TestBranchLocals(t *testing.T) {
	text, err := construct{head: "//revgen:kernel K\nfunc k(y, x []complex128)", body: `
	a, c := x[0], cmplx.Sin(x[1])
	for i := range x {
		a -= 0.5 * cmplx.Sin(a)
		y[0] += a
		if i != 0 {
			d := cmplx.Conj(c)
			a += d / (1 + d*cmplx.Conj(d))
		}
	}
	y[1] += a`}.generated(t, testImporter(t))
	if err != nil || strings.Contains(text, "/ 0\n") {
		t.Errorf("a quotient by zero: %v", err)
	}
}
