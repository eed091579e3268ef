package revgen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestJAX compares random programs with JAX, which gets them as Python. It runs only by
// hand: REVGEN_JAX is a Python that has jax. REVGEN_SEED and REVGEN_PROGRAMS are as for
// TestRandomPrograms.
func TestJAX(t *testing.T) {
	interpreter := os.Getenv("REVGEN_JAX")
	if interpreter == "" {
		t.Skip("REVGEN_JAX is not set")
	}
	seed, want := setting("REVGEN_SEED", 1), setting("REVGEN_PROGRAMS", 100)
	imports := testImporter(t)
	files := map[string]string{"duo.go": duo}
	var tests, python strings.Builder
	for tried, written := 0, 0; written < want; tried++ {
		p := newProgram(rand.New(rand.NewPCG(uint64(seed), uint64(tried))), written)
		fset := token.NewFileSet()
		var parsed []*ast.File
		for _, f := range []struct{ name, text string }{{"k.go", p.String()}, {"duo.go", duo}} {
			file, err := parser.ParseFile(fset, f.name, f.text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, file)
		}
		source := load(fset, parsed, imports)
		out, err := source.written(parsed)
		if err != nil {
			continue
		}
		name := fmt.Sprintf("k%d", written)
		files[name+".go"], files[name+"_rev.go"] = p.String(), string(out["k_rev.go"])
		py := &translator{info: source.info, names: map[types.Object]string{}}
		py.function(parsed[0].Decls[len(parsed[0].Decls)-1].(*ast.FuncDecl))
		python.WriteString(py.String())
		kernel := fmt.Sprintf("K%d[float64]", written)
		if p.complex {
			kernel = fmt.Sprintf("K%d", written)
		}
		fmt.Fprintf(&tests, "func TestK%d(t *testing.T) { compare(t, %q, func(x, v, w []%[3]s, a *%[3]s, y, m []%[3]s) %[4]s {\nreturn %[4]s{X: rev.ViewSlice(x), V: rev.ViewSlice(v), W: rev.ViewSlice(w), A: a, Y: rev.ViewSlice(y), M: rev.NewGeneral(n, 3, m)}\n}) }\n", written, name, p.number, kernel)
		written++
	}
	files["kernels_test.go"] = compareTest + tests.String()
	text, err := testPackage(t, files)
	if err != nil {
		t.Fatalf("%v\n%s", err, text[:min(len(text), 3000)])
	}
	dir := t.TempDir()
	var results []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "{") {
			results = append(results, line)
		}
	}
	for name, text := range map[string]string{"programs.py": python.String(), "results.json": strings.Join(results, "")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(interpreter, "testdata/compare.py", filepath.Join(dir, "programs.py"), filepath.Join(dir, "results.json")).CombinedOutput()
	t.Logf("%s", out)
	if err != nil || len(results) != want {
		t.Errorf("REVGEN_SEED=%d: %v, %d results of %d programs", seed, err, len(results), want)
	}
}

// compareTest runs a kernel forward, then its adjoint, and prints the results.
const compareTest = `package random

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"revnum/rev"
)

const n = 3

// A state has the operands.
type state[T float64 | complex128] struct {
	x, v, w, y, m []T
	a             *T
}

// random sets x to a random number.
func random[T float64 | complex128](rnd *rand.Rand, x *T) {
	switch x := any(x).(type) {
	case *float64:
		*x = rnd.NormFloat64()
	case *complex128:
		*x = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
}

func newState[T float64 | complex128](rnd *rand.Rand) state[T] {
	vec := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			random(rnd, &x[i])
		}
		return x
	}
	return state[T]{vec(n), vec(n), vec(n), vec(n), vec(3 * n), &vec(1)[0]}
}

// numbers returns x as JSON has it, complex numbers as pairs.
func numbers[T float64 | complex128](x ...T) any {
	switch x := any(x).(type) {
	case []complex128:
		out := [][2]float64{}
		for _, z := range x {
			out = append(out, [2]float64{real(z), imag(z)})
		}
		return out
	}
	return slices.Clone(x)
}

func (s state[T]) export() map[string]any {
	return map[string]any{"x": numbers(s.x...), "v": numbers(s.v...), "w": numbers(s.w...), "a": numbers(*s.a), "y": numbers(s.y...), "m": []any{numbers(s.m[:3]...), numbers(s.m[3:6]...), numbers(s.m[6:]...)}}
}

func compare[T float64 | complex128, K interface {
	Forward()
	Adjoint(K)
}](t *testing.T, name string, of func(x, v, w []T, a *T, y, m []T) K) {
	rnd := rand.New(rand.NewPCG(1, uint64(len(name))))
	s, g := newState[T](rnd), newState[T](rnd)
	kernel := func(s state[T]) K { return of(s.x, s.v, s.w, s.a, s.y, s.m) }
	k := kernel(s)
	for i := range reflect.TypeFor[K]().NumField() {
		f := reflect.TypeFor[K]().Field(i)
		if strings.HasPrefix(f.Tag.Get("rev"), "in") && f.Tag.Get("rev") != "inout" {
			clear(map[string][]T{"X": g.x, "V": g.v, "W": g.w, "Y": g.y, "M": g.m}[f.Name])
			if f.Name == "A" {
				*g.a = 0
			}
		}
	}
	_, complex := any(s.a).(*complex128)
	out := map[string]any{"Name": name, "Complex": complex, "Before": s.export(), "Cotangent": g.export()}
	k.Forward()
	out["After"] = s.export()
	k.Adjoint(kernel(g))
	out["Gradient"] = g.export()
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(text))
}

`

// A translator writes a random program as Python.
type translator struct {
	strings.Builder
	info  *types.Info
	names map[types.Object]string
	depth int
}

func (p *translator) line(format string, args ...any) {
	fmt.Fprintf(p, "%s%s\n", strings.Repeat("    ", p.depth), fmt.Sprintf(format, args...))
}

// name returns the name of a variable, which no other variable has.
func (p *translator) name(id *ast.Ident) string {
	obj := p.info.ObjectOf(id)
	if obj == nil || id.Name == "_" {
		return "_"
	}
	if p.names[obj] == "" {
		p.names[obj] = fmt.Sprintf("%s_%d", id.Name, len(p.names))
	}
	return p.names[obj]
}

func (p *translator) function(f *ast.FuncDecl) {
	var params []string
	for _, list := range f.Type.Params.List {
		for _, id := range list.Names {
			p.names[p.info.Defs[id]] = id.Name
			params = append(params, id.Name)
		}
	}
	p.line("def %s(%s):", f.Name.Name, strings.Join(params, ", "))
	p.block(f.Body.List[1:]) // without the shapes
}

func (p *translator) block(list []ast.Stmt) {
	p.depth++
	p.line("pass")
	for _, s := range list {
		p.stmt(s)
	}
	p.depth--
}

func (p *translator) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		op := strings.Replace(s.Tok.String(), ":=", "=", 1)
		p.line("%s %s %s", p.exprs(s.Lhs), op, p.exprs(s.Rhs))
	case *ast.BlockStmt:
		for _, s := range s.List {
			p.stmt(s)
		}
	case *ast.BranchStmt:
		p.line("%s", s.Tok)
	case *ast.ExprStmt: // revlinalg.NewMulElem(z, x, y).Forward(), or Inverse
		method := s.X.(*ast.CallExpr).Fun.(*ast.SelectorExpr)
		var vectors []any
		for _, made := range method.X.(*ast.CallExpr).Args {
			vectors = append(vectors, p.expr(made.(*ast.CallExpr).Args[1]))
		}
		p.line("for i in range(len(w)):")
		p.line("    %s[i] "+map[string]string{"Forward": "+", "Inverse": "-"}[method.Sel.Name]+"= %s[i] * %s[i]", vectors...)
	case *ast.IfStmt:
		p.line("if %s:", p.expr(s.Cond))
		p.block(s.Body.List)
		if s.Else != nil {
			p.line("else:")
			p.block([]ast.Stmt{s.Else})
		}
	case *ast.ForStmt:
		init, cond := s.Init.(*ast.AssignStmt), s.Cond.(*ast.BinaryExpr)
		bounds := p.expr(init.Rhs[0]) + ", " + p.expr(cond.Y)
		if s.Post.(*ast.IncDecStmt).Tok == token.DEC {
			bounds += " - 1, -1"
		}
		p.line("for %s in range(%s):", p.expr(init.Lhs[0]), bounds)
		p.block(s.Body.List)
	case *ast.RangeStmt:
		switch _, number := s.X.(*ast.BasicLit); {
		case number:
			p.line("for _ in range(%s):", p.expr(s.X))
		case s.Key == nil:
			p.line("for _ in range(len(%s)):", p.expr(s.X))
		case s.Value != nil:
			p.line("for %s, %s in enumerate(list(%s)):", p.expr(s.Key), p.expr(s.Value), p.expr(s.X))
		default:
			p.line("for %s in range(len(%s)):", p.expr(s.Key), p.expr(s.X))
		}
		p.block(s.Body.List)
	default:
		panic(fmt.Sprintf("%T", s))
	}
}

func (p *translator) exprs(list []ast.Expr) string {
	var texts []string
	for _, e := range list {
		texts = append(texts, p.expr(e))
	}
	return strings.Join(texts, ", ")
}

func (p *translator) expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return p.name(e)
	case *ast.BasicLit:
		return strings.Replace(e.Value, "i", "j", 1)
	case *ast.ParenExpr:
		return "(" + p.expr(e.X) + ")"
	case *ast.UnaryExpr:
		return "(" + operator(e.Op) + p.expr(e.X) + ")"
	case *ast.BinaryExpr:
		return "(" + p.expr(e.X) + " " + operator(e.Op) + " " + p.expr(e.Y) + ")"
	case *ast.IndexExpr:
		return p.expr(e.X) + "[" + p.expr(e.Index) + "]"
	case *ast.SelectorExpr:
		return p.expr(e.X) + "." + e.Sel.Name
	case *ast.SliceExpr:
		return "View(" + p.expr(e.X) + ", " + p.expr(e.Low) + ")"
	case *ast.CompositeLit:
		array, ok := e.Type.(*ast.ArrayType)
		if !ok {
			return "Duo(b=" + p.expr(e.Elts[0].(*ast.KeyValueExpr).Value) + ")"
		}
		n := p.info.Types[array].Type.(*types.Array).Len()
		return fmt.Sprintf("[%s] + [0.0] * %d + [%s]", p.expr(e.Elts[0]), n-2, p.expr(e.Elts[1].(*ast.KeyValueExpr).Value))
	case *ast.CallExpr:
		f := types.ExprString(e.Fun)
		for name, to := range map[string]string{
			"float64": "", "complex128": "", "complex": "joined", "real": "jnp.real", "imag": "jnp.imag", "cmplx.Abs": "jnp.abs", "cmplx.Phase": "jnp.angle",
			"cmplx.Asin": "jnp.arcsin", "cmplx.Acos": "jnp.arccos", "cmplx.Atan": "jnp.arctan", "cmplx.Asinh": "jnp.arcsinh", "cmplx.Acosh": "jnp.arccosh", "cmplx.Atanh": "jnp.arctanh",
			"cmplx.Pow": "jnp.power", "cmplx.Cot": "1 / jnp.tan", "max": "jnp.maximum",
		} {
			if f == name {
				f = to
			}
		}
		f = strings.TrimPrefix(f, "complex")
		for _, path := range []string{"math.", "cmplx."} {
			f = strings.ToLower(strings.Replace(f, path, "jnp.", 1))
		}
		return f + "(" + p.exprs(e.Args) + ")"
	}
	panic(fmt.Sprintf("%T", e))
}

// operator returns an operator as Python.
func operator(op token.Token) string {
	switch op {
	case token.NOT:
		return "not "
	case token.LAND:
		return "and"
	}
	return op.String()
}
