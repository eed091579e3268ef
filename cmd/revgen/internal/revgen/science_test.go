package revgen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"revnum/internal/long"
)

// TestScience writes the gradients of package science, and runs its tests, which compare them
// with differences of values.
func TestScience(t *testing.T) {
	testFolder(t, "testdata/science", "TestByHand", "TestChoices", "TestNested", "TestTraps")
}

// What is written does not depend on the order of maps.
func TestSameText(t *testing.T) {
	dirs := []string{"testdata/science"}
	if long.Tests() {
		dirs = append(dirs, "testdata/borrowed", corner)
	}
	for _, dir := range dirs {
		again, err := Dir(dir)
		if err != nil {
			t.Fatal(err)
		}
		files := folder(t, dir)
		for name, text := range again {
			if files[filepath.Base(name)] != string(text) {
				t.Errorf("%s is not the same twice", name)
			}
		}
	}
}

// TestBorrowed does so with package borrowed.
func TestBorrowed(t *testing.T) { testFolder(t, "testdata/borrowed", "TestLarger") }

// BenchmarkGradients prints how long the gradients of package science take, with the values, beside
// their functions and adjoints that are written by hand:
//
//	go test -run x -bench Gradients -benchtime 1x ./cmd/revgen/internal/revgen
func BenchmarkGradients(b *testing.B) {
	files := folder(b, "testdata/science")
	for b.Loop() {
		out, err := runPackage(b, files, nil, "-test.run=^$", "-test.bench=Gradients", "-test.benchtime=300x")
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		fmt.Print(out)
	}
}

// What has no derivatives is refused with its place and the reason.
func TestGradientRefusals(t *testing.T) {
	const gradient = "//revgen:gradient x\nfunc f"
	const jacobian = "//revgen:jacobian x\nfunc f"
	const beside = `

var _ = cmplx.Abs

var global, text, act = math.Pi, "", math.Tanh

type node struct {
	w    []float64
	next *node
}

func helper(x float64) float64 { return x }

func choose(x float64) func(float64) float64 { g := act; return g }

func wave(z complex128) float64 { return wave(z*z) }

func rows(a [][]float64) float64 { a[0], a[1] = a[1], a[0]; return a[0][0]*rows(a) }

type leaves struct { w [3]float64 }

func same(x []float64) []float64 { return x }

func again(x float64, g func(float64) float64) float64 { return again(g(x), g) }

//revgen:gradient x
func powers(x []float64, n int) float64 { return power(x[0], n) }

func power(x float64, n int) float64 { if n == 0 { return 1 }; return x*power(x, n-1) }

//revgen:gradient x
func grow(x []float64) float64 { var y []float64; for _, v := range x { y = append(y, v*v) }; return y[0]*y[1] }

//revgen:gradient x both
func both(x []float64) float64 { return x[0]*x[0] }

//revgen:jacobian x
func store(w, dst, x []float64) { (dst)[0] = w[0] * x[0] } // parentheses hide that dst is set

type leaf struct { w []float64 }

//revgen:gradient m
func (n *leaf) weigh(m *leaf) float64 { return m.w[0] }

type list struct { next *list; w []float64 }

//revgen:gradient n
func (n *list) first() float64 { return n.w[0] }

//revgen:jacobian x jvp
func right(dst, x []float64) { dst[0] = x[0] }

//revgen:jacobian
func bare(dst, x []float64) { dst[0] = x[0] }

func sum(x ...float64) float64 { return x[0] }

func (l leaves) value() float64 { return l.w[0] }

func pointed(x *float64) *float64 { return x }

func either(x float64) (func(float64) float64, float64) { return helper, x }

func late(x float64) func(float64) float64 { if x > 0 { return helper }; y := x*x; return func(z float64) float64 { return y*z } }

var mutex sync.Mutex

//revgen:gradient x
func locked(x float64) float64 { mutex.Lock(); defer mutex.Unlock(); return x }

type shape interface { area(x float64) float64; set(x float64) float64 }

type square struct{}

func (square) area(x float64) float64 { return x*x }

func (square) set(x float64) float64 { return x }

type disc struct { x float64 }

func (d *disc) area(x float64) float64 { return d.x*x*x }

func (d *disc) set(x float64) float64 { d.x = x; return x*d.x }

type held struct { shape, other, given, known, turned shape; f func(float64) float64 }

var _ = []held{{shape: &disc{1}, known: &disc{2}, turned: square{}}, {square{}, nil, square{}, nil, nil, nil}, {given: held{}.shape}}

type inside struct { shape; n int }

type many[T any] struct{}

func (many[T]) of(x T) T { return x }

type alone struct { shape; n int }

var _ = alone{&disc{1}, 2}

var _ = []inside{{&disc{1}, 2}, {shape: square{}}}

func turn(h *held) { for _, h.turned = range []shape{&disc{1}} { return } }

func pick(x float64) *disc { y := &disc{x}; if x > 0 { return y }; y.x *= x; return y }

func last(x float64) *disc { y := &disc{x}; defer func() { y.x *= x }(); return y }

func made(x float64) shape { return &disc{x} }

var _ iter.Seq[int]

var _, _ = rev.ViewSlice[float64], revlinalg.NewDot

//revgen:gradient x
func dotted(x []float64) float64 { s := 0.0; revlinalg.NewDot(&s, mat.NewVecDense(len(x), x), mat.NewVecDense(len(x), x)).Forward(); return s }

var _, _, _, _, _, _, _ = fmt.Sprint, sort.Float64s, strconv.Atoi, floats.Dot, mat.Dot, mathext.Digamma, sum

var _ blas64.General

var package1 = mat.NewDense(1, 1, nil)
`
	fset, imports := testFiles, importerFor(t, "examples")
	for _, c := range []struct{ text, want string }{
		{"//revgen:gradient\nfunc f(x float64) float64 { return x }", "p.go:6:1: write the names of the parameters that the derivatives are by: //revgen:gradient p"},
		{"//revgen:gradient y\nfunc f(x float64) float64 { return x }", "p.go:6:1: f has no parameter y"},
		{"//revgen:gradient x x\nfunc f(x float64) float64 { return x }", "p.go:6:1: x is named twice"},
		{gradient + "(x int) float64 { return 1 }", "p.go:6:1: x has no parts that are float64 or float32"},
		{gradient + "(x float64) {}", "p.go:6:1: a gradient is that of a number that the function returns, and f returns none"},
		{gradient + "(x float64) (a, b float64) { return x, x }", "p.go:6:1: a gradient is that of one number, and f returns several"},
		{gradient + "[T float64](x T) T { return x }", "p.go:6:1: a generic function has no derivatives of its own"},
		{gradient + "(x float64) (float64, error) { y, err := f(x); return y, err }", "p.go:6:48: f calls itself, and must return one float64 to have derivatives"},
		{gradient + "(x []float64) float64 { x[0] = 1; return f(x) }", "p.go:6:1: f calls itself, and may not change what x points to: return a number"},
		{gradient + "(x []float64) float64 { y, z := x, x[1:]; y, y[0] = z, x[2]; return y[0] }", "p.go:6:49: a slice and an element of it are set at once: write two statements"},
		{gradient + "(x *mat.Dense) float64 { return f(x) }", "p.go:6:41: f calls itself: its parameters are real numbers, slices and structs"},
		{gradient + "(x float64) float64 { return again(x, helper) }", "p.go:6:45: again calls itself: its parameters are real numbers, slices and structs"},
		{gradient + "(x float64) float64 { return wave(complex(x, x)) }", "p.go:6:41: wave calls itself: its parameters are real numbers, slices and structs"},
		{gradient + "(x []float64) float64 { return rows([][]float64{x, x}) }", "p.go:23:1: rows calls itself, and may not change what a points to: return a number"},
		{gradient + "(x []float64) float64 { l := leaves{}; l.w[0] = x[0]; y := l.w[:1]; return y[0] }", "p.go:6:1: a part of an array in a struct is not differentiated: give the array a name"},
		{gradient + "(x []float64) float64 { y := append([]float64(nil), x...); z := append(same(nil), x...); return y[0]*z[0] }", "p.go:6:71: append stands alone: write x = append(x, e)"},
		{gradient + "(x [2]float64) float64 { return f(x) }", "f calls itself, and gets a struct or an array that has derivatives: pass a slice"},
		{gradient + "(x []float64) float64 { g := make([]float64, 1); powersGradient(g, x, 3); return g[0] }", "power calls itself: its derivatives have none in reverse"},
		{gradient + "(x float64) float64 { go f(x); return x }", "p.go:6:29: a goroutine is not differentiated"},
		{gradient + "(x float64) float64 { m := map[int]float64{}; return m[0] }", "p.go:6:34: a literal of map[int]float64 is not differentiated"},
		{gradient + "(x float64) float64 { global = x; return x }", "p.go:6:29: global is a variable of the package, and may not change here"},
		{gradient + "(x float64) float64 { return math.Float64frombits(math.Float64bits(x)) }", "p.go:6:36: math.Float64frombits has no derivative here: those that have one are Abs, "},
		{gradient + "(x float64, s iter.Seq[int]) float64 { for range s { x *= x }; return x }", "p.go:6:46: a loop over a function whose body is not known is not differentiated: write the loop that the function makes"},
		{gradient + "(x []float64) float64 { y := append(x, 1); return y[0] }", "p.go:6:36: append stands alone: write x = append(x, e)"},
		{gradient + "(x float64) float64 { for range 3 { defer helper(x) }; return x }", "p.go:6:43: a defer in a loop, or where a function is returned, is not differentiated: write its call at the end"},
		{gradient + "(x []float64) float64 { defer same(x); return x[0] }", "p.go:6:42: an argument of a deferred call is a number here: write defer func() { ... }()"},
		{gradient + "(x float64) float64 { l := leaves{}; defer l.value(); return x }", "p.go:6:44: a deferred call of l.value copies its receiver: write defer func() { ... }()"},
		{gradient + "(x float64) (y float64) { defer func() { recover() }(); return x }", "p.go:6:48: recover is not differentiated: a gradient panics where its function does"},
		{gradient + "(x float64, m *sync.Mutex) float64 { m.Lock(); x *= x; m.Unlock(); return x }", "p.go:6:44: m.Lock is not differentiated here: the function that has derivatives may begin with a lock and defer its unlock"},
		{gradient + "(x float64, m *sync.Mutex) float64 { x *= x; m.Lock(); defer m.Unlock(); return x }", "p.go:6:52: m.Lock is not differentiated here"},
		{gradient + "(x float64) float64 { return locked(x) }", "mutex.Lock is not differentiated here"},
		{gradient + "(x float64) float64 { var y float64; lockedGradient(&y, x); return y }", "locked locks mutex for as long as its gradient runs, and so has no derivatives in another function: lock it there"},
		{gradient + "(x float64, k held) float64 { return x*k.shape.area(x) }", "p.go:6:46: k.shape.area is a method of an interface, and the package sets field shape to *disc and to square: give the field one type, or write a function with a parameter for the value"},
		{gradient + "(x float64, k held) float64 { return x*k.other.area(x) }", "p.go:6:46: k.other.area is a method of an interface, and the package sets field other to nothing: give the field its type"},
		{gradient + "(x float64, k held) float64 { return x*k.given.area(x) }", "the package sets field given to square and to another interface: give the field one type"},
		{gradient + "(x float64, k []held) float64 { return x*k[0].known.area(x) }", "p.go:6:48: what k[0].known holds is not known: use a parameter or a variable of the package"},
		{gradient + "(x float64) float64 { k := held{}; return x*k.known.area(x) }", "p.go:6:51: what k.known holds is not known: it is a field of no parameter; give it a type"},
		{gradient + "(x float64, k *held) float64 { return k.known.set(x) }", "what k.known holds may not change here: give the field its type"},
		{gradient + "(x float64) float64 { k := alone{n: 1}; return k.area(x) }", "p.go:6:54: what k.shape holds is not known: it is a field of no parameter; give it a type"},
		{gradient + "(x float64, k inside) float64 { return k.area(x) }", "p.go:6:46: k.area is a method of an interface, and the package sets field shape to *disc and to square: give the field one type"},
		{gradient + "(x float64) float64 { var k shape = &disc{x}; k = square{}; return k.area(x) }", "p.go:6:74: k.area is a method of an interface, and k is set to other values: give each a variable with its type"},
		{gradient + "(x float64) float64 { f := many[float64]{}.of; return f(x) }", "many[float64]{}.of is a method: call it, here or in a function literal"},
		{gradient + "(x float64, k shape) float64 { return k.(square).area(x) }", "a value of an interface (give the variable its type) is not differentiated"},
		{gradient + "(x float64, k shape) float64 { if s, ok := k.(square); ok { return s.area(x) }; return x }", "a value of an interface (give the variable its type) is not differentiated"},
		{gradient + "(x float64, m map[int]float64) float64 { if v, ok := m[0]; ok { return v*x }; return x }", "whether a map has a key is not differentiated: find it out before, and pass the value"},
		{gradient + "(x float64, k *held) float64 { k.known = &disc{1}; return k.known.area(x) }", "p.go:6:38: k.known may not change here, as its type is asserted once: write a function with a parameter for the value"},
		{gradient + "(x float64, k *held) float64 { return x*k.turned.area(x) }", "the package sets field turned to square and to another interface"},
		{gradient + "(x float64, k, l held) float64 { x *= k.known.area(x); k = l; return x*k.known.area(x) }", "p.go:6:62: k.known is set with the struct that it is a field of, and may hold another value then: set the other fields"},
		{gradient + "(x float64, k, l *held) float64 { *k = *l; return x*k.known.area(x) }", "k.known is set with the struct that it is a field of"},
		{gradient + "(x float64, k, l struct{ h held }) float64 { for range 2 { x *= k.h.known.area(x); k.h = l.h }; return x }", "k.h.known is set with the struct that it is a field of"},
		{gradient + "(x float64) float64 { var k shape = square{}; for _, k = range []shape{&disc{x}} { x *= x }; return k.area(x) }", "k.area is a method of an interface, and k is set to other values: give each a variable with its type"},
		{gradient + "(x float64) float64 { k := made(x); k.set(x); return k.area(x) }", "made returns an interface: let it return the type that this holds"},
		{gradient + "(x float64) float64 { z := pick(x); return z.x * x }", "a pointer that a function returns in several places, or with a deferred call, is not differentiated: return what it points to"},
		{gradient + "(x float64) float64 { z := last(x); return z.x * x }", "a pointer that a function returns in several places, or with a deferred call, is not differentiated: return what it points to"},
		{gradient + "(x float64) float64 { i, c := 0, []disc{{x}, {x}}; defer c[i].set(x); i = 1; return c[0].x }", "p.go:6:58: which receiver a deferred call of c[i].set has may change: write defer func() { ... }(), or call the method of a variable"},
		{gradient + "(x float64) (r float64) { if x < 0 { return x }; b := []float64{x}; defer func() { r *= b[0] }(); return x }", "b, which this deferred call uses, is declared in a branch, or where the function may have returned: declare it before"},
		{gradient + "(x float64) float64 { for i, g := 0, helper; i < 3; i++ { x = g(x); g = func(v float64) float64 { return v * float64(i) } }; return x }", "i is another variable in each iteration, and g is called in the next one: declare g before the loop"},
		{"//revgen:gradient x hessian\nfunc f(x float64) float64 { return x }", "p.go:6:1: a Hessian is by one parameter of type []float64"},
		{jacobian + "(x []float64) {}", "p.go:6:1: f stores to no parameter: a Jacobian is that of one"},
		{jacobian + "(y, z, x []float64) { y[0] = x[0]; z[0] = x[0] }", "p.go:6:1: f stores to y and to z: a Jacobian is that of one of them"},
		{gradient + "(x float64, g func(float64) float64) float64 { return g(x) }", "p.go:6:61: g is not differentiated: its body is not in this package"},
		{gradient + "(x float64) float64 { return act(x) }", "p.go:6:36: act is not differentiated: its body is not in this package"},
		{gradient + "(x float64, g map[int]func(float64) float64) float64 { return g[0](x) }", "p.go:6:69: g[0] is not differentiated: its body is not in this package"},
		{gradient + "(x []float64) float64 { n := []list{}; n = append(n, list{w: x}); return n[0].w[0] }", "p.go:6:50: append to a slice of p.list is not differentiated"},
		{gradient + "(x float64) float64 { return mathext.NormalQuantile(x) }", "p.go:6:36: mathext.NormalQuantile is not differentiated: in its source, "},
		{gradient + "(x float64) float64 { return mathext.NormalQuantile(x) }", "zQSA is a variable of package mathext, which is not exported"},
		{gradient + "(x float64, s fmt.Stringer) float64 { return x*float64(len(s.String())) }", "p.go:6:66: s.String is a method of an interface, and what that holds is not known: give the variable its type"},
		{gradient + "(x float64) float64 { g := choose(x); return g(x) }", "p.go:6:34: which function choose returns is not known: return a function literal"},
		{gradient + "(x float64) float64 { g := helper; for range 2 { y := x*x; g = func(z float64) float64 { return y*z } }; return g(x) }", "p.go:6:103: y is not there in all places where g is called: declare it before g"},
		{gradient + "(x float64) float64 { g := helper; s := g(x); a := x * x; g = func(z float64) float64 { return a * z }; return s * g(x) }", "p.go:6:102: a is not there in all places where the function that uses it is called: declare it before that function"},
		{gradient + "(x float64) float64 { var g func(n int) float64; g = func(n int) float64 { if n == 0 { return x }; return g(n-1) }; return g(3) }", "p.go:6:113: a literal that calls itself is not differentiated: make it a function of the package"},
		{gradient + "(x float64) float64 { g := helper; h := &g; *h = math.Sin; return g(x) }", "p.go:6:47: a pointer to a function in a variable is not differentiated: set g itself"},
		{gradient + "(x float64) float64 { g := helper; g, x = either(x); return g(x) }", "p.go:6:42: which function this is is not known: set g by itself"},
		{gradient + "(x float64) float64 { g := helper; g = act; return g(x) }", "p.go:6:46: which function act is is not known where g is declared: name one of a package, write a literal, or declare it before"},
		{gradient + "(x float64) float64 { g := helper; g = choose(x); return g(x) }", "p.go:6:46: which function this is is not known where g is declared: give it a name before that"},
		{gradient + "(x float64) float64 { d := disc{x}; g := helper; if x > 0 { g = d.area }; d.x *= x; return g(x) }", "p.go:6:71: what d.area is a method of is not known where g is declared: give d.area a name before that"},
		{gradient + "(x float64) float64 { var g func(x *float64) *float64; if x > 0 { g = pointed }; return *g(&x) }", "g may be one of several functions: let them return numbers, slices or structs"},
		{gradient + "(x float64) float64 { return late(x)(x) }", "y is not there in all places where late is called: declare it before late"},
		{gradient + "(x float64) float64 { g := helper; if x > 0 { g = math.Sin }; fs := []func(float64) float64{g}; return fs[0](x)*held{f: g}.f(x) }", "not differentiated"},
		{gradient + "(x *mat.Dense) float64 { var r blas64.General; r = x.RawMatrix(); return r.Data[0] }", "write raw := m.RawMatrix()"},
		{gradient + "(x []float64) float64 { sort.Stable(sort.Float64Slice(x)); return x[0] }", "p.go:6:31: sort.Stable is not differentiated: in its source, "},
		{gradient + "(x []float64) float64 { return floats.Norm(x, 3) }", "p.go:6:38: this norm is not differentiated: 1, 2 and math.Inf(1) are"},
		{gradient + "(x *mat.Dense) float64 { return mat.Cond(x, 2) }", "p.go:6:39: mat.Cond is not differentiated: Det, "},
		{gradient + "(x *mat.Dense) float64 { var c mat.Dense; c.Exp(x); return c.At(0, 0) }", "p.go:6:49: c.Exp is not differentiated: Add, "},
		{gradient + "(x *mat.Dense) float64 { var c mat.Dense; for range 2 { c.Mul(x, x) }; return c.At(0, 0) }", "p.go:6:63: this has no size here: make it by mat.NewDense(r, c, nil)"},
		{gradient + "(x *mat.Dense, a mat.Matrix) float64 { return a.At(0, 0) }", "p.go:6:53: a may be of any type: make it a *mat.Dense or a *mat.VecDense"},
		{gradient + "(x *mat.Dense, l []*mat.Dense) float64 { y := []*mat.Dense{x}; l = y; return l[0].At(0, 0) }", "p.go:6:1: vectors and matrices of a parameter and of the function's own come to one place of a struct or a slice: copy those of the parameter"},
		{gradient + "(x float64, d []float64) float64 { s := mat.NewSymDense(1, d); d[0] = x; return s.At(0, 0) }", "p.go:6:66: d changes later, and gonum's matrix with it: give the matrix a copy"},
		{gradient + "(x float64, d []float64) (s float64) { for range 2 { d[0] = x; s += mat.Trace(mat.NewDiagDense(1, d)) }; return }", "d changes later, and gonum's matrix with it: give the matrix a copy"},
		{gradient + "(x, d []float64) float64 { var ms [4]*mat.SymDense; for k := range 4 { d[0] = x[k]; z := d[:1]; ms[k] = mat.NewSymDense(1, z) }; return ms[0].At(0, 0) }", "z changes later, and gonum's matrix with it: give the matrix a copy"},
		{gradient + "(x []float64) float64 { y := make([]float64, 2); var m *mat.DiagDense; for k := range 2 { y[0] = x[k]; e := y; m = mat.NewDiagDense(1, e[:1]) }; return mat.Trace(m) }", "e[:1] changes later, and gonum's matrix with it: give the matrix a copy"},
		{gradient + "(x, z []float64) float64 { sort.Slice(x, func(i, j int) bool { return z[i] < z[j] }); return x[0] }", "this order reads more than the elements of x at its two positions, which sort.Slice moves: use the positions only as in x[i]"},
		{gradient + "(x []float64) float64 { sort.Slice(x, func(i, j int) bool { return i > j }); return x[0] }", "this order reads more than the elements of x at its two positions"},
		{gradient + "(x []float64) float64 { sort.Slice(x[1:], func(i, j int) bool { return x[i] < x[j] }); return x[0] }", "this order reads more than the elements of x[1:] at its two positions"},
		{gradient + "(x []float64) float64 { sort.Slice(x, func(i, j int) bool { return x[i]*x[0] < x[j]*x[0] }); return x[0] }", "this order reads more than the elements of x at its two positions"},
		{gradient + "(x []float64) float64 { y := make([]float64, 3); y = append(y, x[0]); z := y; return float64(cap(z))*x[0] }", "append changes the capacity of z in a way that Go leaves open: compute the number, or use len"},
		{gradient + "(x *mat.Dense) float64 { var s struct{ m mat.Dense }; s.m.Mul(x, x); return mat.Sum(&s.m) }", "this has no size here: make it by mat.NewDense(r, c, nil)"},
		{gradient + "(x *mat.Dense) float64 { ms := make([]mat.Dense, 2); ms[1].Scale(2, x); return mat.Sum(&ms[1]) }", "this has no size here: make it by mat.NewDense(r, c, nil)"},
		{gradient + "(x *mat.Dense) float64 { s := struct{ m *mat.Dense }{new(mat.Dense)}; s.m.Mul(x, x); return mat.Sum(s.m) }", "this has no size here: make it by mat.NewDense(r, c, nil)"},
		{gradient + "(x *mat.Dense) float64 { s := []*mat.Dense{{}}; s[0].Mul(x, x); return mat.Sum(s[0]) }", "this has no size here: make it by mat.NewDense(r, c, nil)"},
		{gradient + "(x *mat.Dense) float64 { var s struct{ m *mat.Dense }; if s.m == nil { s.m = x }; return mat.Sum(s.m) }", "whether s.m is nil is not known here: use a bool or a number that says so"},
		{gradient + "(x []float64) float64 { y := make([]float64, 1); v := bothGradientHessVec(y, y, x, x); return v*y[0] }", "bothGradientHessVec is not differentiated: call Gradient and HessVec"},
		{"//revgen:gradient x z both\nfunc f(x, z []float64) float64 { return x[0]*z[0] }", "p.go:6:1: both gradient and product with the Hessian are by one parameter of type []float64: leave out the word both"},
		{gradient + "(x float64, i int) float64 { fs := []func(float64) float64{math.Sin}; return fs[i](x) }", "which function this is is not known: range over them"},
		{gradient + "(x float64) float64 { fs := []func(float64) float64{math.Sin}; return fs[1](x) }", "there is no such function"},
		{gradient + "(x float64) float64 { fs := []func(float64) float64{math.Sin}; fs[0] = func(x float64) float64 { return x }; return x }", "p.go:6:78: a function that is kept in a slice or a struct, or returned beside other results (keep it in a variable)"},
		{gradient + "(x float64) float64 { fs := []func(float64) float64{0: math.Sin}; return fs[0](x) }", "write functions without their indices"},
		{gradient + "(x *mat.Dense) float64 { var y mat.Dense; if x.At(0, 0) > 0 { y.Mul(x, x) }; if y.IsEmpty() { return 0 }; return mat.Sum(x) }", "whether y has a size here is not known"},
		{gradient + "(x *mat.Dense) float64 { var y mat.Dense; y.Product(); return mat.Sum(x) }", "write the factors"},
		{gradient + "(x float64) float64 { s := 0.0; for range [3]func(float64) float64{math.Sin} { s += x }; return s }", "write all functions of this array"},
		{gradient + "(x *mat.Dense) float64 { return mat.Sum(x.T().(*mat.Dense)) }", "a value of an interface (give the variable its type) is not differentiated"},
		{gradient + "(x float64) float64 { package1.Set(0, 0, x); return x }", "package1 may not change here: make it a variable of the function's own"},
		{gradient + "(x float64, s []*mat.SymDense) float64 { return x*s[0].At(0, 0) }", "p.go:6:57: s[0] is copied here: give it a name of its own"},
		{gradient + "(x *mat.SymDense) float64 { return x.At(0, 0) }", "p.go:6:1: x has a symmetric or triangular matrix, or a factorisation: derivatives by their elements could mean two things"},
		{gradient + "(x struct{ c mat.Cholesky; y float64 }) float64 { return x.y }", "p.go:6:1: x has a symmetric or triangular matrix, or a factorisation"},
		{gradient + "(x float64, c *mat.Cholesky) float64 { s := mat.NewSymDense(1, nil); s.SetSym(0, 0, x); c.Factorize(s); return c.LogDet() }", "p.go:6:95: c may not change here: make it a variable of the function's own"},
		{gradient + "(x float64, s *mat.SymDense) float64 { t := s; t.SetSym(0, 0, x); return x }", "p.go:6:54: t may not change here: "},
		{gradient + "(x float64) float64 { s := mat.NewSymDense(1, nil); s.SetSym(0, 0, x); var c mat.Cholesky; for range 2 { c.Factorize(s) }; return x }", "declare it in the loop that Factorize is called in"},
		{gradient + "(x *mat.VecDense, c *mat.Cholesky) float64 { return mat.Inner(x, c, x) }", "p.go:6:72: c is a factorisation: store the matrix by ToSym"},
		{gradient + "(x float64, c *mat.Cholesky) float64 { return x*c.Cond() }", "p.go:6:55: c.Cond is not differentiated: Clone, "},
		{gradient + "(x float64, s *mat.SymDense) float64 { var t mat.SymDense; _ = t.PowPSD(s, x); return x }", "t.PowPSD is not differentiated: AddSym, "},
		{gradient + "(x []float64, g func(i, j int) bool) float64 { sort.Slice(x, g); return x[0] }", "write the order as a function literal here"},
		{gradient + "(x []float64) float64 { sort.Slice(x, func(i, j int) bool { return math.Sin(x[i]) < x[j] }); return x[0] }", "an order is an expression of elements and operators here"},
		{gradient + "(x []float64) float64 { sort.Slice(x, func(i, j int) bool { x[0]++; return true }); return x[0] }", "an order is if, switch and return here"},
		{gradient + "(x float64, d []float64) float64 { s := mat.NewTriDense(1, mat.Upper, d); return x*s.At(0, 0) }", "write nil, and set the elements by SetTri"},
		{gradient + "(x *mat.Dense) float64 { c := x.ColView(0); return c.AtVec(0) }", "use a column as an argument of package mat"},
		{"//revgen:gradient x hessian\nfunc f(x *mat.VecDense) float64 { return x.AtVec(0) }", "p.go:6:1: a Hessian is by one parameter of type []float64"},
		{gradient + "(x float64) float64 { fmt.Println(x); return x }", "p.go:6:29: fmt.Println is not differentiated: its body is not in this package"},
		{gradient + "(x *mat.VecDense) float64 { x.Reset(); return 0 }", "p.go:6:35: x.Reset is not differentiated: AddScaledVec, "},
		{gradient + "(x []float64) (float64, []float64) { return x[0], x }", "p.go:6:1: f returns a slice, whose memory is used again after the gradient"},
		{gradient + "(x []float64) float64 { y := x[:1]; y = append(y, 2); return y[0]*x[1] }", "p.go:6:1: append to a part of another slice may overwrite that slice"},
		{gradient + "(x []float64) float64 { y := x[:1:1]; return y[0] }", "p.go:6:36: a part with a capacity is not differentiated"},
		{gradient + "(x []float64, n *node) float64 { n.w = make([]float64, 2); return x[0] }", "p.go:6:40: n would keep memory of the gradient: use a local slice"},
		{gradient + "(x []float64, n *node) float64 { for n != nil { n = n.next }; return x[0] }", "p.go:6:55: a pointer that changes is not differentiated: use an index"},
		{gradient + "(x []float64, m map[int]float64) float64 { m[0] = x[0]; return m[0] }", "p.go:6:50: an element of a map may not change here: use a slice"},
		{gradient + "(x float64) float64 { l: x *= 2; if x < 1 { goto l }; return x }", "p.go:6:29: a label stands before a loop or a switch here"},
		{gradient + "(x float64) float64 { return x }\nfunc fGradient() {}", "p.go:6:1: fGradient is declared already: choose another name for f"},
		{gradient + "(x float64) float64 { v, err := strconv.Atoi(text); _ = err; return x*float64(v) }", "p.go:6:39: strconv.Atoi is not differentiated: its body is not in this package"},
		{"//revgen:gradient x hessian\nfunc f(x []float64) float64 { g := make([]float64, 1); fHessVec(g, x, x); return g[0] }", "p.go:6:56: fHessVec calls itself, which is not differentiated"},
		{gradient + "(x []float64) float64 { var h mat.SymDense; fHessian(&h, x); return 0 }", "p.go:6:51: fHessian is not differentiated: call HessVec for its columns or rows"},
		{gradient + "(x []float64) float64 { return growGradient(x, x) }", "p.go:6:38: grow appends to what has derivatives, and its derivatives have none: make the slice with its length there"},
		{gradient + "(x []float64) float64 { storeVJP(x, nil, x, x); return 0 }", "p.go:6:31: store stores its results in another vector than its first"},
		{gradient + "(x []float64, n []leaf) float64 { return n[0].weighGradient(&n[0], &n[0]) }", "p.go:6:48: give what m points to a name of its own: its derivatives are differentiated again"},
		{"//revgen:gradient n\nfunc f(n *node) float64 { return n.w[0] }", "p.go:6:1: n may be a list or a tree"},
		{gradient + "(x []float64) float64 { n := list{w: x}; g := list{w: make([]float64, 1)}; n.firstGradient(&g); return g.w[0] }", "p.go:6:82: n.firstGradient is not differentiated: the directive of first is refused"},
		{gradient + "(x []float64) float64 { y := make([]float64, 1); bareJVP(y, x); return y[0] }", "p.go:6:56: bareJVP is not differentiated: the directive of bare is refused"},
		{gradient + "(x []float64) float64 { y := make([]float64, 1); rightVJP(y, x, x); return y[0] }", "p.go:6:56: rightVJP is not differentiated"},
		{gradient + "(x float64) complex128 { return complex(x, x) }", "p.go:6:1: f returns a complex number: return its real and its imaginary part"},
		{gradient + "(x float64, z []complex128) float64 { z[0] *= 2; return x }", "p.go:6:1: a complex number of a parameter, or of a struct with names of its own, may not change here: use a local"},
		{gradient + "(x float64) float64 { return float64(real(complex64(complex(x, 1)))) }", "p.go:6:1: complex64 is not differentiated: use complex128"},
		{gradient + "(x float64) float64 { return real(cmplx.Asin(complex(x, 1))) }", "p.go:6:41: cmplx.Asin has no derivative here: those that have one are Abs, Conj, Phase, Polar, Cos, "},
		{gradient + "(x *mat.Dense) float64 { revlinalg.NewMatMul(x, x, x).Inverse(); return 0 }", "p.go:6:32: revlinalg.NewMatMul(x, x, x).Inverse: a function calls Forward of a kernel to have derivatives"},
		{gradient + "(x, y *mat.Dense) float64 { revlinalg.NewMatMul(x, y, x).Forward(); return 0 }", "p.go:6:35: C and B of MatMul are the same, and one of them changes"},
		{gradient + "(x []float32) float64 { s := float32(0); revlinalg.Dot[float32]{Out: &s, X: rev.ViewSlice(x)}.Forward(); return float64(s) }", "p.go:6:48: revlinalg.Dot[float32] is not over float64"},
		{gradient + "(x *mat.Dense, t bool) float64 { y := mat.NewDense(2, 2, nil); revlinalg.MatMul[float64]{C: rev.ViewDense(y), A: rev.ViewDense(x), B: rev.ViewDense(x), TransA: t}.Forward(); return 0 }", "p.go:6:167: TransA of MatMul is a constant here"},
		{gradient + "(x *mat.Dense) float64 { k := revlinalg.NewCross(x, x, x); k.Forward(); return 0 }", "revlinalg.NewCross is not differentiated: its body is not in this package"},
		{gradient + "(x *mat.Dense) float64 { revlinalg.Dot[float64]{nil, rev.ViewSlice(x.RawRowView(0)), rev.ViewSlice(x.RawRowView(0))}.Forward(); return 0 }", "revlinalg.Dot[float64]: name the fields of a kernel"},
		{gradient + "(x []float64) float64 { g := make([]float64, len(x)); dottedGradient(g, x); return g[0] }", "Dot is a kernel: what is written for it has no derivatives in reverse"},
		{jacobian + "(dst, x []float64) { for i := range dst { x[i] *= 2; dst[i] = x[i] } }", "p.go:6:1: f changes x, so each product would begin with other numbers, and there is no Jacobian: copy x first"},
		{"//revgen:gradient x hessian\nfunc f(x []float64) float64 { y := x[1:]; y[0] *= 2; return y[0] * x[0] }", "p.go:6:1: f changes x, so each product would begin with other numbers, and there is no Hessian: copy x first"},
		{jacobian + "(dst, x []float64) { dst = dst[1:]; dst[0] = x[0] }", "p.go:6:1: f sets dst itself: give the other slice a name of its own"},
		{"//revgen:jacobian x sparse jvp\nfunc f(dst, x []float64) { dst[0] = x[0] }", "p.go:6:1: jvp asks for a product alone, and sparse and rows for the Jacobian: leave out jvp or the other"},
		{"//revgen:jacobian x rows jvp\nfunc f(dst, x []float64) { dst[0] = x[0] }", "leave out jvp or the other"},
		{"//revgen:jacobian x rows\nfunc f(dst, x []float64) { for i := range dst { dst[i] = x[i] } }", "p.go:6:1: a structure of the Jacobian of f by x is found, of which products with several columns are taken: leave out the word rows"},
		{"//revgen:jacobian x rows\nfunc f(dst, x []float64) { u, v := []float64{x[0], 1, 2}, []float64{x[1], 2, 3}; for range dst { u, v = v, u; u[int(x[2])] *= x[0] }; dst[0], dst[1] = u[1], v[0] }", "p.go:6:1: two products on the left of f have more in common than assignments, and are taken one by one: leave out the word rows"},
		{"//revgen:jacobian x sparse\nfunc f(dst, x []float64) { s := 0.0; for i := range dst { s += x[i]; dst[i] = s } }", "p.go:6:1: no structure of the Jacobian of f by x is found: leave out the word sparse"},
		{
			"//revgen:jacobian x rows\nfunc f(dst, x []float64) { dst[0] = x[0]*x[1] }\n\n//revgen:gradient x\nfunc g(x []float64) float64 { y := make([]float64, 2); fVJP2([2][]float64{y, y}, x, [2][]float64{x, x}); return y[0] }",
			"fVJP2 is not differentiated: call fVJP twice",
		},
		{gradient + "(x float64) float64 { return y }", "p.go:6:36: undefined: y"},
		{gradient + "(x float64) float64 { y := x; y := y * x; return y }", "p.go:6:39: no new variables on left side of :="},
		{gradient + "(x []float64, n int) float64 { s := 0.0; for i, v := range n { s += x[i] }; return s }", "range over n (variable of type int) permits only one iteration variable"},
		{gradient + "(x []float64) float64 { type own struct { w []float64; next []own }; l := []own{{w: x}, {w: x}}; y := l[:1]; for range x { y = l[1:]; l[0].w[0] *= 2 }; return y[0].w[0] }", "p.go:6:1: type own contains itself: declare it outside of the function"},
	} {
		name := filepath.Join(t.TempDir(), "p.go")
		file, err := parser.ParseFile(fset, name, "package p\n\nimport (\"fmt\"; \"iter\"; \"math\"; \"math/cmplx\"; \"sort\"; \"strconv\"; \"sync\"; \"gonum.org/v1/gonum/blas/blas64\"; \"gonum.org/v1/gonum/floats\"; \"gonum.org/v1/gonum/mat\"; \"gonum.org/v1/gonum/mathext\"; \"revnum/rev\"; \"revnum/revlinalg\")\n\n"+c.text+beside, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files := []*ast.File{file}
		if _, err := load(fset, files, imports).written(files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

// What another package does not export is not written: its functions are read, and its fields refused.
func TestForeign(t *testing.T) {
	for _, c := range []struct{ body, want, none string }{
		{"return lib.Cyclic(p, 7)", "% n", "wrap("},
		{"return lib.Step(p[0])", "package p\n\n// fGradient", "isBig("},
		{"g := lib.NewGrid(3)\ns := 1.0\nfor _, v := range p { s += g.Weight(v) * s }\nreturn s", "p.go:6:1: what is written needs the field hits of lib.Grid, which is not exported: write lib.Grid and its methods in this package", ""},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "lib"), 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			"go.mod":     "module example.com/t\n",
			"lib/lib.go": foreign,
			"p.go":       "package p\n\nimport \"example.com/t/lib\"\n\n//revgen:gradient p\nfunc f(p []float64) float64 {\n" + c.body + "\n}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		written, err := Dir(dir)
		text := fmt.Sprint(err)
		for _, s := range written {
			text += string(s)
		}
		if !strings.Contains(text, c.want) || c.none != "" && strings.Contains(text, c.none) {
			t.Errorf("%s\nwant %q and no %q:\n%s", c.body, c.want, c.none, text)
		}
	}
}

const foreign = `package lib

type Grid struct{ N, hits int }

func NewGrid(n int) *Grid { return &Grid{N: n} }

func (g *Grid) Weight(x float64) float64 {
	g.hits++
	return x * x * float64(g.hits+g.N)
}

func wrap(i, n int) int { return (i%n + n) % n }

func isBig(x float64) bool { return x > 0.9 }

func Cyclic(x []float64, i int) float64 { return x[wrap(i, len(x))] }

func Step(x float64) float64 {
	if isBig(x) {
		return x * x
	}
	return 2 * x
}
`

// Short slices and arrays become locals, values that come twice have names, running maxima need no
// tape, and loops that add to sums go ahead and back in one.
func TestText(t *testing.T) {
	fset, imports := testFiles, importerFor(t, ".")
	const gradient = "//revgen:gradient x\nfunc f(x []float64, n int) float64 {\n"
	const jacobian = "//revgen:jacobian x\nfunc f(dst, x []float64, at []int) {\n"
	for _, c := range []struct {
		text       string
		want, none []string
	}{
		{
			gradient + "y := make([]float64, 2)\ncopy(y, x)\nz := y\nreturn z[0]*z[1]/float64(len(z)) }",
			[]string{"if 1 < n2 {\n\t\ty1 = x[1]"}, []string{"scratch", "y["},
		},
		{
			gradient + "var y [2][2]float64\nfor i := range y { for j := range y[i] { if j > 0 { y[i][j] = x[i]*y[i][j-1] } else { y[i][j] = x[j] } } }\nreturn y[0][1]*y[1][1] }",
			[]string{"y01 := x[0] * y00"}, []string{"for ", "[i", "[j", "if i"},
		},
		{ // written code is vetted too
			"//revgen:gradient x hessian\nfunc f(x []float64, n int) float64 {\ns := x[0]*x[1]\nfor i := range n { s = s + float64(i) }\nreturn s*s }",
			[]string{"s = s + float64(i)"}, []string{"sDot = sDot"},
		},
		{ // nothing depends on m
			"//revgen:gradient m\nfunc f(m *mat.Dense, x []float64) float64 { return x[0] }",
			[]string{"\tnum.GradientMatrix(grad, mData)"}, []string{"gradData"},
		},
		{gradient + "y := []float64{x[0], 2}\nreturn y[n] }", []string{"y[n]"}, nil},
		{gradient + "y := []float64{x[0], 2}\nfor i := range 3 { y[0] *= y[i] }\nreturn y[0] }", []string{"y[2]"}, nil},
		{gradient + "y := make([]float64, 2)\nfor i := range n { y[i] = x[i] }\nreturn y[0] }", []string{"y := scratch.Make(2)"}, nil},
		{gradient + "y, z := []float64{x[0], 2}, []float64{x[1], 3}\ny, z = z, y\nreturn y[0] }", []string{"y, z = z, y"}, nil},
		{
			gradient + "a := math.Sin(x[0])/x[1]\nx[1] += 1\nreturn a + math.Sin(x[0])*x[0] + math.Sin(x[0])/x[1] }",
			[]string{"sin1, cos1 := math.Sincos(x2)", "sin1*x[0] + q"}, []string{"sin2", "math.Sin(", "math.Cos("},
		},
		{ // the sine may not be wanted
			gradient + "a := math.Cos(x[0])\nif n > 0 { a *= math.Sin(x[0]) }\nreturn float64(int(a)) + x[1] }",
			nil, []string{"Sincos"},
		},
		{gradient + "r := math.Sqrt(x[0]+x[1])\nreturn x[0]/r + 1/r }", []string{"num.HalfInverse(q1, r)"}, []string{"Ratio"}},
		{gradient + "r := math.Sqrt(x[0]+x[1])\nreturn x[0]/r }", []string{"num.Ratio(0.5, r)"}, []string{"HalfInverse"}},
		{gradient + "r := math.Sqrt(x[0]+x[1])\nif n > 0 { return 1/r }\nreturn r }", []string{"num.Ratio(0.5, r)"}, []string{"HalfInverse"}},
		{ // the gradient of a gradient differentiates the root's derivative, which is half an inverse only in what is written
			gradient + "r := math.Sqrt(x[0]+x[1])\nreturn x[0]/r + 1/r }\n\n//revgen:gradient x\nfunc g(d, x []float64) float64 { fGradient(d, x, 1); return d[0] }",
			[]string{"ratio := num.HalfInverse(q1, r)", "-(g4 * (2 * (ratio * ratio)))"}, []string{"Ratio"},
		},
		// Each element is set once, so the cotangents are those of the caller.
		{jacobian + "dst[0] = x[0]*x[1]\nif len(dst) > 1 { dst[1] += math.Sin(x[0]) } }", []string{"sinBar += w[1]", "if len(w) > 1", "if len(dst) > 1"}, []string{"scratch", "values"}},
		{jacobian + "for i := range x { dst[2*i], dst[1+2*i] = x[i]*x[i], 1/x[i] } }", []string{"w[2*i]"}, []string{"valuesBar", "values["}},
		{jacobian + "for i := 0; i+1 < len(x); i += 2 { dst[i+1], dst[i] = x[i]*x[i], 1/x[i] } }", nil, []string{"valuesBar", "values["}},
		// These are set again, or read.
		{jacobian + "for i := range x { dst[i], dst[i+1] = x[i]*x[i], 1/x[i] } }", []string{"valuesBar[i] = 0"}, []string{"values["}},
		{jacobian + "for i := range x { dst[at[i]] = x[i]*x[i] } }", []string{"[at[i]] = 0"}, []string{"values["}},
		{jacobian + "for range 2 { for i := range x { dst[i] = x[i]*x[i] } } }", []string{"valuesBar[i1] = 0"}, []string{"values["}},
		{jacobian + "for i := range x { dst[i] = x[i]*x[i] }\ndst[0] = x[1] }", []string{"valuesBar[0] = 0"}, []string{"values["}},
		{jacobian + "dst[0] = x[0]*x[1]\ndst[1] = dst[0]*x[1] }", []string{"values[0]"}, nil},
		{ // the backward sweep reads what the branch has computed
			gradient + "a := x[0]\nif n > 0 { v := x[1]*x[0]; s, c := math.Sincos(v); a = s*a/(2+c) }\nreturn a }",
			[]string{"= math.Sincos(v)"}, []string{"math.Sin(", "math.Cos(", ":= math.Sincos"},
		},
		{ // v is another number afterwards
			gradient + "v, a := x[0], 0.0\nfor range n { a += math.Sin(v)*math.Cos(v); v = x[1]*math.Cos(v) }\nreturn a*v }",
			[]string{"math.Sincos(v)"}, []string{"math.Sin("},
		},
		{ // a slice that no other variable knows becomes shorter again
			gradient + "var y []float64\nfor _, v := range x { y = append(y, v*v) }\nreturn y[0]*y[n] }",
			[]string{"y = append(y, 0)", "yBar = append(yBar, 0)", "y = y[:n"}, []string{"ape", "Grow", "Fold"},
		},
		{
			gradient + "var y, z []float64\nfor _, v := range x { z = y; y = append(y, v*v) }\nreturn y[0]*z[n] }",
			[]string{"num.Grow(1, &y, &yBar)", "num.Fold("}, nil,
		},
		{ // d comes back after y, from which it was computed
			gradient + "y := x[0]\nfor range n { d := y/x[1]; y -= d*d*d }\nreturn y }",
			[]string{"y = kept1[i]\n\t\td := y / x[1]"}, []string{"Push(d)", "= d\n"},
		},
		{
			gradient + "y := x[0]\nfor range n { d := y/x[1]; y -= d*d*d; if d*x[1] > 1 { y *= x[0] } }\nreturn y }",
			[]string{"kept[3*i+2] = d"}, nil,
		},
		{ // columns of matrices go by rows
			"//revgen:gradient x w\nfunc f(x [][]float64, w []float64, n int) float64 {\ns := 0.0\nfor c := range n { o := 0.0; for j := range w { o += w[j]*x[j][c] }; s = math.Sin(s+o) }\nreturn s }",
			[]string{"num.Axpy(sums, w[j], x[j][:n:len(x[j])])", "wGrad[j] += num.Inner(", "scratch.Make(max(n, 0))", "scratch.Release(mark"}, []string{"[j][c]"},
		},
		{ // o is read before the sum is whole, and w changes on the way
			"//revgen:gradient x w\nfunc f(x [][]float64, w []float64, n int) float64 {\ns := 0.0\nfor c := range n { o := 0.0; for j := range w { o += w[j]*x[j][c]; s = math.Sin(s+o) } }\nreturn s }",
			nil, []string{"sums"},
		},
		{
			"//revgen:gradient x w\nfunc f(x [][]float64, w []float64, n int) float64 {\ns := 0.0\nfor c := range n { o := 0.0; for j := range w { o += w[j]*x[j][c] }; w[0] = math.Sin(o); s += w[0] }\nreturn s }",
			nil, []string{"sums"},
		},
		{ // k says which element comes back
			gradient + "y, to := x[0], make([]int, n)\nfor i := range n { k := to[0]; y = math.Sin(y*x[k]); to[k] = i }\nreturn y }",
			[]string{"= k\n", "k := kept"}, []string{"k := to[0]\n\t\tx1Bar"},
		},
		{ // both sides begin alike
			gradient + "y := x[0]\nfor i := range x { z := y*y*x[i]; if z > 3 { y = z; break }; y = z }\nreturn y }",
			[]string{"y = z\n\t\tif z > 3 {"}, []string{"else {\n\t\t\ty"},
		},
		{
			gradient + "y := x[0]\nfor i := range n { up := y > x[i]; if up { y = x[i]*y }; y = y*y }\nreturn y }",
			[]string{"kept2 := boolTape.Extend(n)"}, []string{"Push(up)"},
		},
		{
			gradient + "top := 0.0\nfor _, v := range x { top = max(top, v) }\nreturn top }",
			[]string{"topAt = num.IndexMax(x, top)", "if topAt >= 0 {\n\t\tgrad[topAt] += "}, []string{"tape", "Tape"},
		},
		{
			gradient + "top := 1.0\nfor i := range n { d := 0.0; for j := range x { d += x[j]*x[i] }; top = min(top, d) }\nreturn top }",
			[]string{"if topAt >= 0 {"}, []string{"i--"},
		},
		{
			gradient + "top := 1.0\nfor i := range n { top = min(top, x[i]); x[i] = 1 }\nreturn top }",
			[]string{"i--", "if i == topAt {"}, []string{"if topAt >= 0 {"},
		},
		{
			gradient + "s := 0.0\nm := [][]float64{{1, 2}, {3, x[0]}}\nfor i := range m { s += x[i]; m[i][i] = 0 }\nreturn s*m[n][1] }",
			[]string{"m[i][i] = 0"}, nil,
		},
		{
			gradient + "s := 0.0\nfor i := range n { d := x[i] - x[0]; e := math.Exp(d); if e > 1 { s += e*d } }\nreturn s/2 }",
			[]string{"grad[i] += dBar", "grad[0] -= dBar"}, []string{"ape", "i--"},
		},
		{
			gradient + "s := 0.0\nfor i := range n { s += math.Sin(x[1]*float64(i)) }\nreturn s }",
			[]string{"grad1 += ", "if grad1 != 0 {\n\t\tgrad[1] += grad1"}, []string{"ape", "i--"},
		},
		{
			"//revgen:gradient x\nfunc f(x [][2]float64) float64 {\ns := 0.0\nfor i := range x { for j := range i { for c := range 2 { d := x[i][c] - x[j][c]; s += math.Sin(d) } } }\nreturn s }",
			[]string{"grad[i][1] += "}, []string{"ape", "--"},
		},
		{
			gradient + "s := 0.0\nfor i := range n { y := make([]float64, n); for j := range y { y[j] = math.Sin(x[i])*x[j] }; for _, v := range y { s += v*v*v } }\nreturn s }",
			[]string{"scratch.Release(mark)"}, []string{"; i--"},
		},
		{
			gradient + "s, last := 0.0, []float64{1}\nfor i := range n { y := make([]float64, n); y[0] = float64(i); s += last[0]*x[i]; last = y }\nreturn s }",
			nil, []string{"Release"},
		},
		{gradient + "s := 0.0\nfor i := range n { s += math.Sin(x[i]) }\nreturn s*s }", []string{"i--"}, nil},
		{gradient + "y := x[0]\nif n == 0 { y += 1 } else { y *= x[1] }\nreturn y }", []string{"if n != 0 {"}, []string{"!("}},
		{ // columns of parameters that other iterations do not have
			jacobian + "for i := range at { y := x[1+3*i : 4+3*i]; if y[0] > x[0] { y = y[1:] }; dst[2*i] = x[1+3*at[i]]; dst[2*i+1] = x[3*i+2]*x[0] } }",
			nil, []string{"NewPattern"},
		},
		{
			jacobian + "k, s := 0.5, math.Sin(x[0])\nfor i := range at { y := x[1+3*i : 4+3*i]; if y[0] > x[0] { k = 2*y[1] }; dst[2*i] = x[1+3*at[i]]*s; dst[2*i+1] = k*x[0]/y[2] } }",
			nil, []string{"NewPattern"}, // k is carried
		},
		{
			jacobian + "s := math.Sin(x[0])\nfor i := range at { k, y := 0.5, x[1+3*i : 4+3*i]; if y[0] > x[0] { k = 2*y[1] }; dst[2*i] = x[1+3*at[i]]*s; dst[2*i+1] = k*x[0]/y[2] } }",
			[]string{"no iteration over i has both of", "pattern.Read(columns[0])\n\tfor i := range at", "pattern.ReadAt(old, 1)", "pattern.Read(columns[1+3*at[i]], old[2])", "pattern.Write(rows[2*i], rows[2*i+1])"}, nil,
		},
		{ // calls of what is not written yet
			"//revgen:jacobian x sparse\nfunc f(dst, x []float64) { for i := range dst { dst[i] = x[i]*x[i] } }\n\nfunc g() { fSparseJacobian(nil, nil); fJacobian(nil, nil); fJVP4([4][]float64{}, nil, [4][]float64{}) }",
			[]string{"func fSparseJacobian(dst *revsparse.CSR"}, nil,
		},
		{jacobian + "for i := range dst { dst[i] = x[i] + x[i+1] } }", []string{"pattern.Read(columns[i], columns[i+1])"}, nil},
		{jacobian + "for i := range dst { dst[i] = x[0] * math.Sin(x[1]*float64(i)) } }", nil, []string{"NewPattern"}},            // all rows have both
		{jacobian + "s := 0.0\nfor i := range dst { s += x[i]; dst[i] = s } }", nil, []string{"NewPattern"}},                      // a sum goes on
		{jacobian + "s := []float64{0, 0}\nfor i := range dst { s[at[i]] = x[i]; dst[i] = s[0] } }", nil, []string{"NewPattern"}}, // so does a slice
		{jacobian + "for i := range dst { dst[i] = x[i] }\ns := dst[0]\nfor i := range dst { dst[i] = s*x[i] } }", nil, []string{"NewPattern"}},
		{jacobian + "for i := range dst { dst[i] = x[int(x[i])] } }", nil, []string{"NewPattern"}},                                   // an index depends on x
		{jacobian + "k := 0\nfor i := range at { if x[i] > 0 { dst[k] = x[i]; k++ } } }", nil, []string{"NewPattern"}},               // as here
		{jacobian + "for i := range at { if x[i] > 0 { dst[i] = x[at[i]] } else { dst[i] = x[i] } } }", nil, []string{"NewPattern"}}, // at[i] may not be there
		{jacobian + "for i := range at { for j := 0; x[j] > 0; j++ { dst[i] = x[j] } } }", nil, []string{"NewPattern"}},              // nor x[j]
		{jacobian + "at[0]++\nfor i := range at { dst[i] = x[at[i]] } }", nil, []string{"NewPattern"}},                               // at changes
		{jacobian + "y := make([]float64, 9)\nif len(at) > 3 { y = x }\nfor i := range at { dst[i] = y[i] } }", nil, []string{"NewPattern"}},
		{jacobian + "for i := range at { s := make([]int, 2); for y := x[i]; y > 1; y /= 2 { r := s[1:]; r[0]++ }; dst[i] = x[s[1]] } }", nil, []string{"NewPattern"}}, // s depends on x
		{jacobian + "for i := range at { s := make([]int, 2); s[1] = int(x[i]); dst[i] = x[slices.Max(s[1:])] } }", nil, []string{"NewPattern"}},                       // as here
		{"//revgen:jacobian x\nfunc f(dst, x []float64, t [][]float64) {\nt[0], t[1] = t[1], t[0]\nfor i := range dst { dst[i] = x[i]*t[0][i] } }", nil, []string{"NewPattern"}},
		{jacobian + "for i := range at { s := make([]int, 2); dst[i] = x[s[1]]; r := s[1:]; r[0] = at[i]; dst[i] += x[s[1]] } }", []string{"pattern.Read(columns[s[1]])\n\t\tpattern.Write(rows[i])\n\t\tr := s[1:]\n\t\tr[0] = at[i]\n\t\tpattern.Read(columns[s[1]])"}, nil},
		{jacobian + "for i := range at { if x[i] > 2 && 9/i > 2 && i > 3 { dst[i] = x[i] } } }", []string{"if i > 3 {\n\t\t\tpattern."}, []string{"9 / i > 2 {\n\t\t\tpattern."}},
		{jacobian + "z := dst[1:]\nfor i := range at { z[2*i] = x[i]; z[i] += x[i+1] } }", []string{"z := rows[1:]", "pattern.Write(z[2*i], z[i])"}, nil},
		{gradient + "s, y := 0.0, x[0]\nfor i := range n { y = math.Sin(y*x[i]); s += y }\nreturn s }", []string{"i--"}, nil},
		{gradient + "s := 0.0\nfor i := range n { s += math.Sin(x[i]); x[i+1] *= 2 }\nreturn s }", []string{"i--"}, nil},
	} {
		name := filepath.Join(t.TempDir(), "p.go")
		file, err := parser.ParseFile(fset, name, "package p\n\nimport (\n\t\"math\"\n\t\"slices\"\n\n\t\"gonum.org/v1/gonum/mat\"\n)\n\nvar _, _, _ = math.Pi, slices.Max[[]int], mat.Sum\n\n"+c.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files := []*ast.File{file}
		written, err := load(fset, files, imports).written(files)
		if err != nil {
			t.Errorf("%s\n%v", c.text, err)
			continue
		}
		for _, text := range written {
			for _, want := range c.want {
				if !strings.Contains(string(text), want) {
					t.Errorf("%s\nhas no %q:\n%s", c.text, want, text)
				}
			}
			for _, none := range c.none {
				if strings.Contains(string(text), none) {
					t.Errorf("%s\nhas %q:\n%s", c.text, none, text)
				}
			}
		}
	}
}
