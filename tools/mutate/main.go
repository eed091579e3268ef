// Mutate finds code that no test of a package looks at:
//
//	go run ./tools/mutate [-n N] [-only REGEXP] [-run TESTS] [-skip TESTS] PKG
//
// It changes the package in one place after the other, which makes mutants. If the tests of the
// package still pass, the mutant survives, and mutate prints its place. Then a test is missing,
// or the change makes no difference. The changes are: < and <=, > and >=, == and !=, && and ||,
// + and -, 0 and 1; a ! or a minus that is removed; and a call, an assignment, an increment or a
// decrement that is removed.
//
// All mutants are in one test binary, and the environment variable REVNUM_MUTANT chooses one.
// The changed files are in a temporary folder, which go test -overlay puts in place of the
// package's. The binary has the build tag mutants, without the tests that count allocations:
// mutants move variables to the heap. Generated files, functions that cmd/revgen writes kernels
// of, and files of cgo stay as they are. A mutant whose tests take three times as long as without
// it, and ten seconds more, counts as found.
//
// The status is 1 if a mutant survives, and 130 after an interrupt.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	n := flag.Int("n", 0, "test only `N` mutants, at even distances")
	only := regexp.MustCompile("")
	flag.TextVar(only, "only", only, "test only mutants whose printed line matches the `regexp`, such as file.go:110:")
	tests := flag.String("run", "", "run only the `tests` that match, as in go test")
	skip := flag.String("skip", "", "skip the `tests` that match")
	flag.Parse()
	if flag.NArg() != 1 || *n < 0 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	tested, survivors, err := mutate(ctx, flag.Arg(0), *tests, *skip, only, *n, os.Stdout)
	interrupted := ctx.Err() != nil
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
	fmt.Printf("%d of %d mutants survived\n", survivors, tested)
	switch {
	case interrupted:
		os.Exit(130)
	case survivors > 0:
		os.Exit(1)
	}
}

// mutate tests mutants of a package, and prints those that survive.
func mutate(ctx context.Context, pkg, tests, skip string, only *regexp.Regexp, n int, w io.Writer) (tested, survivors int, err error) {
	p, err := load(ctx, pkg)
	if err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "mutants.test")
	if err := p.build(ctx, dir, binary); err != nil {
		return 0, 0, cmp.Or(ctx.Err(), err)
	}
	run := func(mutant int, timeout time.Duration) error {
		cmd := exec.CommandContext(ctx, binary, "-test.failfast", "-test.run="+tests, "-test.skip="+skip, "-test.timeout="+timeout.String())
		cmd.Dir, cmd.WaitDelay = p.Dir, time.Second
		cmd.Env = append(os.Environ(), "REVNUM_MUTANT="+strconv.Itoa(mutant), "TMPDIR="+dir, "RAPID_NOFAILFILE=true")
		out, err := cmd.CombinedOutput()
		if err != nil && mutant == 0 {
			return fmt.Errorf("the tests fail without a mutant: %w\n%s", err, out)
		}
		return err
	}
	begin := time.Now()
	if err := run(0, 10*time.Minute); err != nil {
		return 0, 0, err
	}
	timeout := 3*time.Since(begin) + 10*time.Second
	sites := slices.DeleteFunc(slices.Clone(p.sites), func(s site) bool { return !only.MatchString(s.String()) })
	n = min(cmp.Or(n, len(sites)), len(sites))
	info, err := os.Stderr.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	for i := range n {
		if terminal {
			fmt.Fprintf(os.Stderr, "\r\x1b[Kmutant %d of %d, %d survived", i+1, n, survivors)
		}
		s := sites[(2*i+1)*len(sites)/(2*n)]
		err := run(s.id, timeout)
		if terminal {
			fmt.Fprint(os.Stderr, "\r\x1b[K")
		}
		if ctx.Err() != nil {
			return tested, survivors, ctx.Err()
		}
		tested++
		if err == nil {
			survivors++
			fmt.Fprintln(w, s)
		}
	}
	return tested, survivors, nil
}

// A source is a package whose files are changed.
type source struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
	DepOnly                       bool

	fset    *token.FileSet
	imports types.Importer
	files   []*file
	sites   []site // of all mutants
}

type file struct {
	path string
	text []byte
	tree *ast.File
}

// A site is a place where a mutant differs.
type site struct {
	id       int
	file     *file
	from, to int // offsets in the file
	at       token.Position
	what     string
	change   func(original string) string
	format   string // of the id, the changed text, and the text with the mutants in it
}

func (s site) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", filepath.Base(s.file.path), s.at.Line, s.at.Column, s.what)
}

// load reads and checks a package.
func load(ctx context.Context, pkg string) (*source, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=Dir,ImportPath,Name,GoFiles,Export,DepOnly", pkg, "os", "strconv")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var p *source
	exports := map[string]string{}
	for list := json.NewDecoder(bytes.NewReader(out)); ; {
		q := &source{fset: token.NewFileSet()}
		if err := list.Decode(q); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[q.ImportPath] = q.Export
		if q.DepOnly || q.ImportPath == "os" || q.ImportPath == "strconv" {
			continue
		}
		if p != nil {
			return nil, fmt.Errorf("%s: expected one package, found %s and %s", pkg, p.ImportPath, q.ImportPath)
		}
		p = q
	}
	if p == nil {
		return nil, fmt.Errorf("%s: expected a package of a module", pkg)
	}
	p.imports = importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var trees []*ast.File
	for _, name := range p.GoFiles {
		f := &file{path: filepath.Join(p.Dir, name)}
		if f.text, err = os.ReadFile(f.path); err != nil {
			return nil, err
		}
		if f.tree, err = parser.ParseFile(p.fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		p.files, trees = append(p.files, f), append(trees, f.tree)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	conf := types.Config{Importer: p.imports, FakeImportC: true}
	checked, err := conf.Check(p.ImportPath, p.fset, trees, info)
	if err != nil {
		return nil, err
	}
	for _, f := range p.files {
		if !ast.IsGenerated(f.tree) {
			p.find(f, checked, info)
		}
	}
	slices.SortStableFunc(p.sites, func(a, b site) int { // outer ones first
		return cmp.Or(strings.Compare(a.file.path, b.file.path), a.from-b.from, b.to-a.to)
	})
	return p, nil
}

// changes are what becomes of operators.
var changes = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// find finds the sites of a file.
func (p *source) find(f *file, pkg *types.Package, info *types.Info) {
	offset := func(at token.Pos) int { return p.fset.Position(at).Offset }
	qualifier := func(q *types.Package) string {
		if q == pkg {
			return ""
		}
		return q.Name()
	}
	add := func(n ast.Node, what string, at token.Pos, format string, change func(original string) string) {
		p.sites = append(p.sites, site{len(p.sites) + 1, f, offset(n.Pos()), offset(n.End()), p.fset.Position(at), what, change, format})
	}
	// replace replaces a condition or a number. The operands of numbers are evaluated twice.
	replace := func(e ast.Expr, what string, at token.Pos, isNumber bool, change func(original string) string) {
		format := "(mutant__ == %[1]d && (%[2]s) || mutant__ != %[1]d && (%[3]s))"
		if isNumber {
			format = "choose__[" + types.TypeString(info.Types[e].Type, qualifier) + "](%[1]d, %[2]s, %[3]s)"
		}
		b, _ := info.Types[e].Type.(*types.Basic)
		if !isNumber || isPure(e, info) && (b == nil || b.Info()&types.IsUntyped == 0) {
			add(e, what, at, format, change)
		}
	}
	remove := func(list []ast.Stmt) {
		for _, s := range list {
			switch v := s.(type) {
			case *ast.AssignStmt:
				if v.Tok == token.DEFINE {
					continue
				}
			case *ast.ExprStmt:
				if c, ok := v.X.(*ast.CallExpr); ok && types.ExprString(c.Fun) == "panic" {
					continue // it may be the end of a function
				}
			case *ast.IncDecStmt:
			default:
				continue
			}
			add(s, "statement removed", s.Pos(), "if mutant__ != %[1]d { %[3]s }", func(string) string { return "" })
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		e, isExpr := n.(ast.Expr)
		_, isLiteral := n.(*ast.BasicLit)
		if isExpr && info.Types[e].Value != nil && !isLiteral {
			return false // a constant
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Doc == nil || !slices.ContainsFunc(n.Doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//revgen:kernel") })
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.Field, *ast.ArrayType:
			return false
		case *ast.BlockStmt:
			remove(n.List)
		case *ast.CaseClause:
			remove(n.Body)
		case *ast.CommClause:
			remove(n.Body)
		case *ast.BinaryExpr:
			to, ok := changes[n.Op]
			if !ok {
				break
			}
			at, op := offset(n.OpPos)-offset(n.Pos()), n.Op.String()
			replace(n, op+" changed to "+to, n.OpPos, n.Op == token.ADD || n.Op == token.SUB, func(s string) string { return s[:at] + to + s[at+len(op):] })
		case *ast.UnaryExpr:
			if n.Op == token.NOT || n.Op == token.SUB {
				replace(n, n.Op.String()+" removed", n.OpPos, n.Op == token.SUB, func(s string) string { return s[1:] })
			}
		case *ast.BasicLit:
			if n.Kind == token.INT && (n.Value == "0" || n.Value == "1") {
				to := string("10"[n.Value[0]-'0'])
				replace(n, n.Value+" changed to "+to, n.Pos(), true, func(string) string { return to })
			}
		}
		return true
	})
}

// isPure reports whether e has no effect. It calls no function, but for conversions and len.
func isPure(e ast.Expr, info *types.Info) bool {
	pure := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			f := info.Types[n.Fun]
			pure = pure && (f.IsType() || f.IsBuiltin() && slices.Contains([]string{"len", "cap", "min", "max"}, types.ExprString(n.Fun)))
		case *ast.UnaryExpr:
			pure = pure && n.Op != token.ARROW
		case *ast.FuncLit:
			pure = false
		}
		return pure
	})
	return pure
}

// runtime is the file that the changed package gets.
const runtime = `package %s

import (
	"os"
	"strconv"
)

var mutant__ = func() int { n, _ := strconv.Atoi(os.Getenv("REVNUM_MUTANT")); return n }()

func choose__[T any](id int, mutant, original T) T {
	if mutant__ == id {
		return mutant
	}
	return original
}
`

// build writes the files with all mutants to a folder and builds the test binary. It drops the
// mutants that do not compile.
func (p *source) build(ctx context.Context, dir, binary string) error {
	for {
		texts := map[string]string{filepath.Join(p.Dir, "zzmutants.go"): fmt.Sprintf(runtime, p.Name)}
		for _, f := range p.files {
			sites := slices.DeleteFunc(slices.Clone(p.sites), func(s site) bool { return s.file != f })
			texts[f.path] = mutated(string(f.text), 0, len(f.text), &sites)
		}
		bad, err := p.wrong(texts)
		if err != nil {
			return err
		}
		if len(bad) > 0 {
			p.sites = slices.DeleteFunc(p.sites, func(s site) bool { return bad[s.id] })
			continue
		}
		replace := map[string]string{}
		for path, text := range texts {
			replace[path] = filepath.Join(dir, filepath.Base(path))
			if err := os.WriteFile(replace[path], []byte(text), 0o666); err != nil {
				return err
			}
		}
		overlay, err := json.Marshal(map[string]any{"Replace": replace})
		if err != nil {
			return err
		}
		list := filepath.Join(dir, "overlay.json")
		if err := os.WriteFile(list, overlay, 0o666); err != nil {
			return err
		}
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-tags=mutants", "-overlay", list, "-o", binary, p.ImportPath).CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
}

// mutated returns the text from an offset to another with the sites in it, which it takes off
// the list.
func mutated(text string, from, to int, sites *[]site) string {
	var b bytes.Buffer
	for len(*sites) > 0 && (*sites)[0].to <= to {
		s := (*sites)[0]
		*sites = (*sites)[1:]
		b.WriteString(text[from:s.from])
		fmt.Fprintf(&b, "/*<%[1]d*/"+s.format+"/*>*/", s.id, s.change(text[s.from:s.to]), mutated(text, s.from, s.to, sites))
		from = s.to
	}
	b.WriteString(text[from:to])
	return b.String()
}

var mark = regexp.MustCompile(`/\*(?:<(\d+)|>)\*/`)

// wrong returns the mutants in which there are errors of types.
func (p *source) wrong(texts map[string]string) (map[int]bool, error) {
	bad := map[int]bool{}
	var other error
	fset := token.NewFileSet()
	var trees []*ast.File
	for path, text := range texts {
		tree, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	conf := types.Config{Importer: p.imports, FakeImportC: true, Error: func(err error) {
		var e types.Error
		if !errors.As(err, &e) || e.Soft && len(bad) > 0 {
			return
		}
		at := fset.Position(e.Pos)
		var open []int
		for _, m := range mark.FindAllStringSubmatch(texts[at.Filename][:at.Offset], -1) {
			if id, err := strconv.Atoi(m[1]); err == nil {
				open = append(open, id)
			} else {
				open = open[:len(open)-1]
			}
		}
		if len(open) == 0 {
			other = errors.Join(other, err)
			return
		}
		bad[open[len(open)-1]] = true
	}}
	_, _ = conf.Check(p.ImportPath, fset, trees, nil)
	if len(bad) > 0 {
		return bad, nil
	}
	return nil, other
}
