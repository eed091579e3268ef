package revgen

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/fixed"
)

// The numbers of a random program may leave the range of fixed point, where sums and products
// wrap around. The program still comes back to the bit, but its derivatives are not those of
// the function. Such a program is found by the same tests over float64, with code that notes
// the largest number.

// beyond returns, of the programs whose tests fail in out, those that are known to leave the
// range of fixed point and fail only for that, with their largest numbers. Each of the others
// has found a bug.
func beyond(t *testing.T, out string, programs []*program, files map[string]string) (left map[string]float64, bugs []string) {
	t.Helper()
	rounds := regexp.MustCompile(`^(|DotProduct|Accumulation|SharedInputs|Uncall|Gradients)$`)
	failed, suspect := map[string][]string{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`--- FAIL: (TestK\d+)/?(\w*)/?(\w*)`).FindAllStringSubmatch(out, -1) {
		test, over, property := m[1], m[2], m[3]
		if _, ok := failed[test]; !ok {
			failed[test], suspect[test] = nil, true
		}
		if property != "" {
			failed[test] = append(failed[test], property)
		}
		suspect[test] = suspect[test] && (over == "" || over == "Q43" && rounds.MatchString(property))
	}
	again := map[string]string{"kernels_test.go": kernelsTest, "duo.go": duo, "range_test.go": rangeTest}
	for _, p := range programs {
		name := fmt.Sprintf("k%d", p.id)
		test := "Test" + strings.ToUpper(name)
		if !suspect[test] || len(failed[test]) == 0 {
			continue
		}
		again[name+".go"], again[name+"_rev.go"] = files[name+".go"], noting(t, files[name+"_rev.go"])
		again["kernels_test.go"] += p.problem() + fmt.Sprintf("func %s(t *testing.T) { measure(t, newK%d[float64], %v, %q) }\n", test, p.id, p.acc, strings.Join(failed[test], " "))
	}
	left = map[string]float64{}
	if len(again) > 3 {
		measured, _ := testPackage(t, again)
		numbers := regexp.MustCompile(`the largest number of (TestK\d+) is (.*)`).FindAllStringSubmatch(measured, -1)
		if len(numbers) == 0 {
			t.Errorf("nothing is measured:\n%s", measured)
		}
		for _, m := range numbers {
			if x, err := strconv.ParseFloat(m[2], 64); err == nil && x > fixed.Max.Float64() {
				left[m[1]] = x
			}
		}
	}
	for name := range failed {
		if _, ok := left[name]; !ok {
			bugs = append(bugs, name)
		}
	}
	slices.Sort(bugs)
	return left, bugs
}

// noting returns written code that calls note for each number that it computes.
func noting(t *testing.T, text string) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	call := func(f string, args ...ast.Expr) *ast.CallExpr { return &ast.CallExpr{Fun: ast.NewIdent(f), Args: args} }
	var products []*ast.CallExpr
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil || n.Name.IsExported() || n.Name.Name == "prepared" {
				break
			}
			kernels := []ast.Expr{n.Recv.List[0].Names[0]}
			for _, p := range n.Type.Params.List {
				if _, ok := p.Type.(*ast.IndexExpr); ok {
					for _, id := range p.Names {
						kernels = append(kernels, id)
					}
				}
			}
			n.Body.List = slices.Insert(n.Body.List, 0, ast.Stmt(&ast.DeferStmt{Call: call("noteOperands", kernels...)}))
		case *ast.BlockStmt:
			var list []ast.Stmt
			for _, s := range n.List {
				list = append(list, s)
				if a, ok := s.(*ast.AssignStmt); ok && (identOf(a.Lhs[0]) == nil || identOf(a.Lhs[0]).Name != "_") {
					list = append(list, &ast.ExprStmt{X: call("note", a.Lhs...)})
				}
			}
			n.List = list
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Product", "Quotient", "Over"}, s.Sel.Name) {
				products = append(products, n)
			}
		}
		return true
	})
	for _, p := range products {
		c := *p
		*p = *call("noted", &c)
	}
	var b bytes.Buffer
	if err := format.Node(&b, fset, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const rangeTest = `package random

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

var largest float64

// note notes numbers, and nothing of what else is computed. It skips the NaN that are
// between the elements of operands.
func note(xs ...any) {
	for _, x := range xs {
		switch x := x.(type) {
		case float64:
			if math.Abs(x) > largest {
				largest = math.Abs(x)
			}
		case fixed.Sum[float64]:
			note(x.Round())
		}
	}
}

func noted[T any](x T) T {
	note(x)
	return x
}

func noteOperands(kernels ...any) {
	for _, k := range kernels {
		v := reflect.ValueOf(k)
		for i := range v.NumField() {
			var xs []float64
			switch x := v.Field(i).Interface().(type) {
			case *float64:
				if x != nil {
					note(*x)
				}
			case rev.Vector[float64]:
				xs = x.Data
			case rev.General[float64]:
				xs = x.Data
			}
			for _, x := range xs {
				note(x)
			}
		}
	}
}

// measure runs the tests that a kernel fails over fixed point, and prints the largest number.
// The tests may fail, because float64 rounds.
func measure[K rev.Kernel[K]](t *testing.T, k func(*rand.Rand, int) K, acc bool, failed string) {
	largest = 0
	defer func() { fmt.Printf("the largest number of %s is %g\n", t.Name(), largest) }()
	skip := skipped(acc, false)
	for _, p := range strings.Fields("RoundTrip AdjointRestores DotProduct Tangents SecondOrder Accumulation NilGradients NilOutputs SharedInputs ReadOnly Gaps Extremes NoAllocation Workers Uncall Gradients Methods Errors") {
		if !slices.Contains(strings.Fields(failed), p) {
			skip[revtest.Property(p)] = "it does not fail"
		}
	}
	revtest.Kernel(t, revtest.Spec[K]{New: k, Sizes: []int{2, 3, 5}, Skip: skip, Adjoint: 1e6})
}
`
