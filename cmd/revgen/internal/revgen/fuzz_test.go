package revgen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/internal/long"
)

// TestRandomPrograms writes random functions, and tests by revtest the kernels of
// those that are not refused: over fixed point they must come back to the bit, and
// the derivatives of first and second order must fit together and to differences.
//
// REVGEN_SEED is the seed and REVGEN_PROGRAMS the number of programs.
func TestRandomPrograms(t *testing.T) {
	want := setting("REVGEN_PROGRAMS", 2)
	if long.Tests() {
		want = setting("REVGEN_PROGRAMS", 50)
	}
	seed := setting("REVGEN_SEED", 1)
	imports := testImporter(t)
	files := map[string]string{"kernels_test.go": kernelsTest, "duo.go": duo}
	tried := 0
	var programs []*program
	for ; len(programs) < want; tried++ {
		id := len(programs)
		p := newProgram(rand.New(rand.NewPCG(uint64(seed), uint64(tried))), id)
		fset := token.NewFileSet()
		name := fmt.Sprintf("k%d.go", id)
		var parsed []*ast.File
		for name, text := range map[string]string{name: p.String(), "duo.go": duo} {
			f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatalf("%v:\n%s", err, p)
			}
			parsed = append(parsed, f)
		}
		out, err := load(fset, parsed, imports).written(parsed)
		if err != nil {
			continue
		}
		files[name] = p.String()
		for name, text := range out {
			files[name] = string(text)
		}
		files["kernels_test.go"] += p.problem() + p.test()
		programs = append(programs, p)
	}
	t.Logf("%d of %d programs are in the subset", len(programs), tried)
	text, err := testPackage(t, files)
	if err == nil {
		return
	}
	left, bugs := beyond(t, text, programs, files)
	t.Logf("beyond the range of fixed point: %v", left)
	if len(bugs) > 0 || len(left) == 0 || len(left) > want/50 || strings.Contains(text, "panic: ") {
		t.Errorf("REVGEN_SEED=%d: %v fail, and %d are beyond the range of fixed point: %v\n%s", seed, bugs, len(left), err, failures(text, files))
	}
}

// problem returns the Go function that makes operands for the kernel of p.
func (p *program) problem() string {
	constraint, kernel, elem := "[T rev.Real]", fmt.Sprintf("K%d[T]", p.id), "T"
	if p.complex {
		constraint, kernel, elem = "", fmt.Sprintf("K%d", p.id), "complex128"
	}
	return fmt.Sprintf("func newK%d%s(rnd *rand.Rand, n int) %[3]s {\nvec := vec[%s]\nreturn %[3]s{X: vec(rnd, n), V: vec(rnd, n), W: vec(rnd, n), A: &vec(rnd, 1).Data[0], Y: vec(rnd, n), M: rev.NewGeneral(n, 3, vec(rnd, 3*n).Data)}\n}\n", p.id, constraint, kernel, elem)
}

// test returns the Go test of the kernel of p.
func (p *program) test() string {
	check, arg := fmt.Sprintf("check(t, newK%d[float64], newK%[1]d[fixed.Q43], %v, %v)", p.id, p.acc, p.smooth), "[float64]"
	if p.complex {
		check, arg = fmt.Sprintf("checkComplex(t, newK%d, %v, %v)", p.id, p.acc, p.smooth), ""
	}
	same := fmt.Sprintf("same(t, newK%[1]d%[2]s, func(k K%[1]d%[2]s) { k%[1]d(k.X.Data, k.V.Data, k.W.Data, *k.A, k.Y.Data, split(k.M)) }, func(k K%[1]d%[2]s) [][]%[3]s { return [][]%[3]s{k.X.Data, k.V.Data, k.Y.Data} })", p.id, arg, p.number)
	return fmt.Sprintf("func TestK%d(t *testing.T) {\n%s\n%s\n}\n", p.id, check, same)
}

// failures returns the beginning of the output of go test, and the functions whose
// kernels failed.
func failures(out string, files map[string]string) string {
	text := out[:min(len(out), 3000)]
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if n, ok := strings.CutSuffix(name, ".go"); ok && strings.Contains(out, "--- FAIL: TestK"+n[1:]+" ") {
			text += "\n" + files[name]
		}
	}
	return text
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// testImporter returns an importer of what package corner imports.
func testImporter(t *testing.T) types.Importer { return importerFor(t, corner) }

// importerFor returns an importer for the package in dir, which all tests share. Positions are in testFiles.
func importerFor(t *testing.T, dir string) types.Importer {
	t.Helper()
	if testImporters[dir] == nil {
		imports, err := newImporter(testFiles, dir, importing(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		testImporters[dir] = imports
	}
	return testImporters[dir]
}

// importing returns the files of the package in dir, without tests, as far as their imports.
func importing(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(testFiles, name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

var testFiles, testImporters = token.NewFileSet(), map[string]types.Importer{}

// A program is the text of a random function.
type program struct {
	strings.Builder
	id     int
	rnd    *rand.Rand
	ints   []string // in scope, from 0 to n-1
	locals []string
	n      int
	depth  int
	loop   bool // in a loop

	acc     bool   // nothing is transformed in place
	smooth  bool   // no branch depends on numbers
	complex bool   // over complex128
	number  string // the type of numbers
}

// newProgram returns a random program, whose kind depends on its number.
func newProgram(rnd *rand.Rand, id int) *program {
	p := &program{id: id, rnd: rnd, ints: []string{"0"}, acc: id%3 == 0, smooth: id%2 == 0, complex: id%7 == 2 || id%7 == 5, number: "float64"}
	snapshots, constraint := "", "[T rev.Real]"
	if id%5 == 1 {
		snapshots = "//revgen:snapshots 2\n"
	}
	if p.complex {
		p.number, constraint = "complex128", ""
	}
	fmt.Fprintf(p, "package random\n\nimport (\n\"math\"\n\"math/cmplx\"\n\n\"gonum.org/v1/gonum/mat\"\n\n\"revnum/revlinalg\"\n)\n\nvar _, _, _, _ = math.Exp, cmplx.Exp, mat.NewVecDense, revlinalg.NewMulElem\n\n// k%d is random.\n//\n//revgen:kernel K%d%s\n%sfunc k%d(x, v, w []%[6]s, a %[6]s, y []%[6]s, m [][]%[6]s) {\n", id, id, constraint, snapshots, id, p.number)
	fmt.Fprintln(p, "if len(x) != len(w) || len(v) != len(w) || len(y) != len(w) || len(m) != len(w) || len(m[0]) != 3 {\npanic(\"shape\")\n}")
	for range 3 + rnd.IntN(5) {
		p.stmt()
	}
	fmt.Fprintln(p, "}")
	return p
}

func pick[T any](p *program, xs ...T) T { return xs[p.rnd.IntN(len(xs))] }

func (p *program) index() string {
	i := pick(p, p.ints...)
	switch p.rnd.IntN(4) {
	case 0:
		return "0"
	case 1:
		return "1"
	case 2:
		return "(" + i + "+1)%len(w)"
	}
	return i
}

func (p *program) atom() string {
	switch p.rnd.IntN(7) {
	case 0, 1:
		return pick(p, "x", "v") + "[" + p.index() + "]"
	case 2:
		return "w[" + p.index() + "]"
	case 3:
		return "a"
	case 4:
		return "m[" + p.index() + "][" + pick(p, "0", "1", "2") + "]"
	case 5:
		if len(p.locals) > 0 {
			return pick(p, p.locals...)
		}
	}
	if p.complex {
		return pick(p, "0.5", "(0.25+0.5i)", "1.5i", "(0.75-0.25i)")
	}
	return pick(p, "0.5", "0.25", "1.5", "0.75")
}

// real returns a number that has an order.
func (p *program) real() string {
	if p.complex {
		return pick(p, "real", "imag") + "(" + p.atom() + ")"
	}
	return p.atom()
}

// sin and bounded return functions that are small for all arguments.
func (p *program) sin(x string) string {
	if p.complex {
		return "cmplx.Sin(bounded(" + x + "))"
	}
	return "math.Sin(" + x + ")"
}

func (p *program) bounded(x string) string {
	if p.complex {
		return "bounded(" + x + ")"
	}
	return "math.Tanh(" + x + ")"
}

func (p *program) expr(depth int) string {
	if depth == 0 {
		return p.atom()
	}
	x, y := p.expr(depth-1), p.expr(p.rnd.IntN(depth))
	switch p.rnd.IntN(8) {
	case 0, 1:
		return "(" + x + " + " + y + ")"
	case 2:
		return "(" + x + " - " + y + ")"
	case 3, 4:
		return p.bounded(x) + " * " + p.sin(y)
	case 5:
		return pick(p, "0.5 * ", "0.5 * ", "-0.5 * ", "0.25 * (3 * "+y+") - 0.5 * ") + x
	case 6:
		if p.complex {
			return p.complexFunction(x, y)
		}
		return "math.Cos(" + x + ")"
	}
	return p.sin(x) + " / (2 + " + p.sin(y) + ")"
}

// complexFunction returns what only complex numbers have. Its arguments are such that
// derivatives are small.
func (p *program) complexFunction(x, y string) string {
	small, positive := p.bounded(x), "(2 + "+p.bounded(x)+")"
	switch p.rnd.IntN(8) {
	case 0:
		return "cmplx.Conj(" + x + ")"
	case 1:
		return "complex(real(" + x + "), imag(" + y + "))"
	case 2:
		return "cmplx." + pick(p, "Cos", "Exp", "Sinh", "Cosh", "Tan", "Tanh") + "(" + small + ")"
	case 3:
		return "cmplx." + pick(p, "Log", "Log10", "Sqrt", "Cot", "Acosh") + "(" + positive + ")"
	case 4:
		return "cmplx." + pick(p, "Asin", "Acos", "Atan", "Asinh", "Atanh") + "(" + small + ")"
	case 5:
		return "cmplx.Pow(" + positive + ", " + y + " * 0.25)"
	case 6:
		return "complex(cmplx.Abs" + positive + ", cmplx.Phase" + positive + ")"
	}
	if p.smooth {
		return "complex(math." + pick(p, "Sin", "Tanh", "Exp") + "(real(" + small + ")), imag(" + x + "))"
	}
	return "complex(math.Abs(real(" + small + ")), max(imag(" + x + "), real(" + y + ")))"
}

func (p *program) cond() string {
	i := pick(p, p.ints...)
	if p.smooth {
		return pick(p, i+" < 2", i+"%2 == 0", i+" != "+pick(p, p.ints...))
	}
	return pick(p, i+" < 2", i+"%2 == 0", p.real()+" > 0.1", p.real()+" > "+p.real(), i+" != "+pick(p, p.ints...))
}

func (p *program) name(s string) string { p.n++; return s + strconv.Itoa(p.n) }

// block writes n statements with what is in scope here. It uses the variable of the
// loop that it belongs to, if there is one.
func (p *program) block(n int, loop string) {
	ints, locals := p.ints, p.locals
	p.depth++
	fmt.Fprintln(p, "{")
	if loop != "" {
		fmt.Fprintf(p, "_ = %s\n", loop)
	}
	for range n {
		p.stmt()
	}
	fmt.Fprint(p, "}")
	p.depth--
	p.ints, p.locals = ints, locals
}

func (p *program) stmt() {
	kind := p.rnd.IntN(19)
	if p.depth > 3 && kind >= 9 && kind < 13 {
		kind = p.rnd.IntN(9)
	}
	if p.acc && (kind < 3 || kind == 8) {
		kind = 3
	}
	switch kind {
	case 0, 1, 2:
		fmt.Fprintf(p, "%s[%s] %s= %s\n", pick(p, "x", "v"), p.index(), pick(p, "+", "-"), p.expr(2))
	case 3:
		fmt.Fprintf(p, "y[%s] += %s\n", p.index(), p.expr(2))
	case 4, 5:
		t := p.name("t")
		fmt.Fprintf(p, "%s := %s\n_ = %s\n", t, p.expr(2), t)
		if p.rnd.IntN(4) == 0 { // a sum that begins there
			fmt.Fprintf(p, "for range w {\n%s %s %s\n}\n", t, pick(p, "+=", "+=", "-="), pick(p, "", "", "-("+p.expr(1)+") + ", p.expr(1)+" - 3 * ")+p.expr(1))
		}
		p.locals = append(slices.Clip(p.locals), t)
	case 6, 7:
		if len(p.locals) > 0 {
			fmt.Fprintf(p, "%s %s %s\n", pick(p, p.locals...), pick(p, "+=", "-=", "=", "+=", "*="), "0.5*"+p.bounded(p.expr(1)))
		}
	case 8:
		x := pick(p, "x", "v")
		i, j := pick(p, p.ints...), p.index()
		fmt.Fprintf(p, "%s[%s], %s[%s] = %s[%s], %s[%s]\n", x, i, x, j, x, j, x, i)
	case 9, 10:
		cond := p.cond()
		if p.rnd.IntN(4) == 0 {
			b := p.name("b")
			fmt.Fprintf(p, "%s := %s\n", b, cond)
			cond = pick(p, b, "!"+b, b+" && "+p.cond())
		}
		fmt.Fprintf(p, "if %s ", cond)
		p.block(1+p.rnd.IntN(3), "")
		if p.rnd.IntN(2) == 0 {
			fmt.Fprint(p, " else ")
			p.block(1+p.rnd.IntN(2), "")
		}
		fmt.Fprintln(p)
	case 13:
		a := p.name("a")
		fmt.Fprintf(p, "%s := [3]%s{%s, 2: %s}\n", a, p.number, p.expr(1), p.expr(1))
		fmt.Fprintf(p, "for j, v := range %s {\n%s[%s] %s 0.5 * %s\n}\n", a, a, pick(p, "j", "(j+1)%3"), pick(p, "+=", "-=", "="), p.sin("v + "+p.expr(1)))
		p.locals = append(slices.Clip(p.locals), a+"[0]", a+"[1]", a+"[2]")
	case 14:
		t := p.name("t")
		duo, turned := "duo", "turned"
		if p.complex {
			duo, turned = "complexDuo", "complexTurned"
		}
		fmt.Fprintf(p, "%s := %s{b: %s}\n%s.a += %s\n%s = %s(%s, %s)\n", t, duo, p.expr(1), t, p.expr(1), t, turned, t, p.expr(1))
		p.locals = append(slices.Clip(p.locals), t+".a", t+".b")
	case 15:
		if p.loop {
			fmt.Fprintf(p, "if %s {\ncontinue\n}\n", p.cond())
		}
	case 16:
		part, i := p.name("p"), p.name("i")
		element := part + "[" + i + "]"
		if p.complex {
			element = p.bounded(element) // there is no exact arithmetic, and rounding errors would grow
		}
		fmt.Fprintf(p, "%s := %s[1:]\nfor %s := range %s {\n%s[%s] += %s * 0.125\n}\n", part, pick(p, "x", "v"), i, part, pick(p, "y", map[bool]string{true: "y", false: "v"}[p.acc]), i, element)
	case 17:
		if p.rnd.IntN(3) == 0 {
			p.series()
		} else {
			p.carry()
		}
	case 18:
		if p.complex {
			return // constructors of kernels take real vectors
		}
		vectors := []string{"w", "x", "v"}
		p.rnd.Shuffle(3, func(i, j int) { vectors[i], vectors[j] = vectors[j], vectors[i] })
		to := pick(p, "y", map[bool]string{true: "y", false: vectors[2]}[p.acc || vectors[2] == "w"])
		vector := func(name string) string { return "mat.NewVecDense(len(" + name + "), " + name + ")" }
		fmt.Fprintf(p, "revlinalg.NewMulElem(%s, %s, %s).%s()\n", vector(to), vector(vectors[0]), vector(vectors[1]), pick(p, "Forward", "Inverse"))
	default:
		i := p.name("i")
		ints := p.ints
		p.ints = append(slices.Clip(p.ints), i)
		switch {
		case p.rnd.IntN(3) == 0 && len(ints) > 1:
			fmt.Fprintf(p, "for %s := %s + 1; %s < len(w); %s++ ", i, pick(p, ints...), i, i)
		case p.rnd.IntN(3) == 0:
			fmt.Fprintf(p, "for %s := len(w) - 1; %s >= 0; %s-- ", i, i, i)
		default:
			fmt.Fprintf(p, "for %s := range w ", i)
		}
		loop := p.loop
		p.loop = true
		p.block(1+p.rnd.IntN(4), i)
		fmt.Fprintln(p)
		p.ints, p.loop = ints, loop
	}
}

// series writes a loop that carries a local, and reads one number that is small.
func (p *program) series() {
	t, h := p.name("t"), p.name("h")
	next := fmt.Sprintf("math.Sin(%s + %s)", h, t)
	if p.complex {
		next = "cmplx." + pick(p, "Sin", "Cos") + fmt.Sprintf("(%s + %s)", h, t)
		if p.rnd.IntN(2) == 0 {
			next = "cmplx.Conj(" + next + ")"
		}
	}
	fmt.Fprintf(p, "%s := %s\n%s := 0.5 * %s\nfor range 3 {\n%s = 0.5 * %s\n}\n", t, p.bounded(p.expr(1)), h, t, h, next)
	p.locals = append(slices.Clip(p.locals), h)
}

// carry writes a loop that carries a local, which reads elements of the vector that the
// loop changes.
func (p *program) carry() {
	h, g, i, x := p.name("h"), p.name("g"), p.name("i"), pick(p, "x", "v")
	y := map[bool]string{true: "y", false: x}[p.acc]
	near := func() string { return "[" + i + pick(p, "-1", "", "+1") + "]" }
	body := []string{
		fmt.Sprintf("%s = 0.5 * %s\n", h, p.sin(h+" + "+x+near())),
		fmt.Sprintf("%s += 0.5 * %s * %s\n", y+near(), h, p.expr(1)),
		fmt.Sprintf("%s, %s = %s, 0.5*%s\n", h, g, g, h),
		fmt.Sprintf("if %s {\n%s += %s\n}\n", p.cond(), y+near(), p.bounded(h)),
	}
	p.rnd.Shuffle(len(body), func(i, j int) { body[i], body[j] = body[j], body[i] })
	fmt.Fprintf(p, "%s, %s := %s, %s(0.25)\nfor %s {\n%s}\n_, _ = %s, %s\n", h, g, p.atom(), p.number,
		pick(p, i+" := 1; "+i+" < len(w)-1; "+i+"++", i+" := len(w) - 2; "+i+" >= 1; "+i+"--"), strings.Join(body[:2+p.rnd.IntN(3)], ""), h, g)
	p.locals = append(slices.Clip(p.locals), h)
}

// duo is what the functions call.
const duo = `package random

import (
	"math"
	"math/cmplx"
)

type duo struct{ a, b float64 }

// turned turns d by c, with an early return that depends on nothing smooth: both
// branches are the same turn.
func turned(d duo, c float64) duo {
	if sin, cos := math.Sincos(c); sin > 0 {
		return duo{cos*d.a - sin*d.b, sin*d.a + cos*d.b}
	}
	cos, sin := math.Cos(c), math.Sin(c)
	d.a, d.b = cos*d.a-sin*d.b, cos*d.b+sin*d.a
	return d
}

type complexDuo struct{ a, b complex128 }

// complexTurned turns d by the phase of c.
func complexTurned(d complexDuo, c complex128) complexDuo {
	u := cmplx.Exp(complex(0, real(c)))
	if imag(u) > 0 {
		return complexDuo{u * d.a, cmplx.Conj(u) * d.b}
	}
	d.a, d.b = d.a*u, d.b*cmplx.Conj(u)
	return d
}

// bounded returns a number below 1, in a way that is smooth.
func bounded(z complex128) complex128 { return z / (1 + z*cmplx.Conj(z)) }
`

const kernelsTest = `package random

import (
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func vec[T rev.Number](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		switch x := any(&x[i]).(type) {
		case *complex128:
			*x = complex(rnd.NormFloat64(), rnd.NormFloat64())
		case *float64:
			*x = rnd.NormFloat64()
		case *fixed.Q43:
			*x = fixed.Of[fixed.Q43](rnd.NormFloat64())
		}
	}
	return rev.ViewSlice(x)
}

// split returns the rows of m.
func split[T rev.Number](m rev.General[T]) (rows [][]T) {
	for i := range m.Rows {
		rows = append(rows, m.Data[i*m.Stride:][:m.Cols])
	}
	return rows
}

// size returns the magnitude of a number.
func size[T float64 | complex128](x T) float64 {
	z, ok := any(x).(complex128)
	if !ok {
		z = complex(any(x).(float64), 0)
	}
	return cmplx.Abs(z)
}

// same tests that a kernel computes what its function computes.
func same[K rev.Kernel[K], T float64 | complex128](t *testing.T, problem func(*rand.Rand, int) K, function func(K), changed func(K) [][]T) {
	t.Run("function", func(t *testing.T) {
		got, want := problem(rand.New(rand.NewPCG(1, 2)), 3), problem(rand.New(rand.NewPCG(1, 2)), 3)
		if err := rev.Forward(got); err != nil {
			t.Fatal(err)
		}
		function(want)
		for i, x := range changed(want) {
			for j, w := range x {
				// Some machines fuse products and sums of the function.
				if g := changed(got)[i][j]; !(size(g-w) <= 1e-9*(1+size(w))) {
					t.Errorf("the kernel computes %v, the function %v", g, w)
				}
			}
		}
	})
}

// skipped returns what is not tested of a kernel that only accumulates, if acc is true, and
// that has no branches on numbers, if smooth is true. The others are tested without
// differences, which may step over a branch.
func skipped(acc, smooth bool) map[revtest.Property]string {
	skip := map[revtest.Property]string{revtest.NaN: "a branch hides it", revtest.Shapes: "indices", revtest.SymmetricHessian: "rounding"}
	if !acc {
		skip[revtest.NilGradients] = "nearly all is in place"
	}
	if !smooth {
		skip[revtest.Tangents], skip[revtest.SecondOrder] = "branches", "branches"
	}
	return skip
}

func check[A rev.Kernel[A], B rev.Kernel[B]](t *testing.T, a func(*rand.Rand, int) A, b func(*rand.Rand, int) B, acc, smooth bool) {
	rounds, exact := skipped(acc, smooth), skipped(acc, false)
	for _, p := range []revtest.Property{revtest.RoundTrip, revtest.AdjointRestores, revtest.Uncall} {
		rounds[p] = "rounding errors grow"
	}
	if !acc {
		rounds[revtest.Gradients] = "rounding errors grow"
	}
	t.Run("float64", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[A]{New: a, Sizes: []int{2, 3, 5}, Skip: rounds, RoundTrip: 1e8, Adjoint: 1e8, Difference: 1e-5, Step: 0x1p-20})
	})
	t.Run("Q43", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[B]{New: b, Sizes: []int{2, 3, 5}, Skip: exact, Adjoint: 1e6})
	})
}

// checkComplex tests a kernel over complex numbers. There are no numbers over which it is
// exact, so it is tested here that it comes back within bounds.
func checkComplex[K rev.Kernel[K]](t *testing.T, k func(*rand.Rand, int) K, acc, smooth bool) {
	revtest.Kernel(t, revtest.Spec[K]{New: k, Sizes: []int{2, 3, 5}, Skip: skipped(acc, smooth), RoundTrip: 1e8, Adjoint: 1e8, Difference: 1e-5})
}

`
