package rules

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/rules.json, docs/adjoints.md, testdata/bits.txt, the header for C and the rules for Julia")

const root = ".."

// compare compares a generated file with the wanted text, or writes it with -update.
func compare(t *testing.T, name string, want []byte) {
	t.Helper()
	name = filepath.Join(root, filepath.FromSlash(name))
	if *update {
		if err := os.WriteFile(name, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the kernels are; run the tests of rules with -update", name)
	}
}

func TestJSON(t *testing.T) { compare(t, "docs/rules.json", JSON()) }

const adjointsHead = `# The equations

What every kernel computes, and its derivatives, as the comments of the kernels have
them. A test of package rules writes this page from these comments and from the tags
of the operands. [kernels.md](kernels.md) says what is restored over which numbers, and
[porting.md](porting.md) how to make a rule of another tool of an equation.

For an output $y$ and an input $x$, $\bar{x}$ is the cotangent of $x$, that is the
derivative of a scalar by $x$, $\dot{x}$ the tangent of $x$, and $\dot{g}_x$ the tangent
of $\bar{x}$. All passes add to their results. An operand is "in" if it is read, "acc"
if it is added into, "inout" if it is transformed in place, and "index" if it is
structure.

`

// TestAdjoints compares docs/adjoints.md with the comments of the kernels.
func TestAdjoints(t *testing.T) {
	var b strings.Builder
	b.WriteString(adjointsHead)
	seen := make(map[string]bool)
	for _, r := range All() {
		if seen[r.Kernel] {
			continue
		}
		seen[r.Kernel] = true
		pkg := strings.TrimPrefix(r.instance.Type.PkgPath(), "revnum/")
		name := r.Kernel[strings.Index(r.Kernel, ".")+1:]
		file, blocks := equations(t, pkg, name)
		if len(blocks) == 0 {
			blocks = []string{r.Equation}
		}
		fmt.Fprintf(&b, "## %s\n\n%s\nIn [%s](../%s).\n\n", r.Kernel, operandList(r), path.Base(file), file)
		for _, block := range blocks {
			fmt.Fprintf(&b, "```math\n\\begin{aligned}\n& %s\n\\end{aligned}\n```\n\n", latex(strings.TrimRight(block, "\n,.;")))
		}
	}
	compare(t, "docs/adjoints.md", []byte(b.String()))
}

// operandList returns the operands of a kernel as a list.
func operandList(r *Rule) string {
	var b strings.Builder
	for _, o := range r.Operands {
		fmt.Fprintf(&b, "- `%s`: %s, %s", o.Name, o.Role, o.Kind)
		if o.Shape != "" {
			fmt.Fprintf(&b, " (%s)", strings.ReplaceAll(o.Shape, ",", ", "))
		}
		b.WriteByte('\n')
	}
	var params []string
	for _, p := range r.Params {
		if p.Name != "Workers" {
			params = append(params, "`"+p.Name+"` "+p.Kind)
		}
	}
	if len(params) > 0 {
		fmt.Fprintf(&b, "- parameters: %s\n", strings.Join(params, ", "))
	}
	return b.String()
}

// equations returns the name of a kernel's file, and the equations in its comment. It
// adds those in later comments that belong to no declaration.
func equations(t *testing.T, pkg, name string) (file string, blocks []string) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), f, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		decl := declaration(tree, name)
		if decl == nil {
			continue
		}
		texts := []string{decl.Doc.Text()}
		for _, c := range tree.Comments {
			if c.Pos() > decl.End() && !slices.ContainsFunc(tree.Decls, func(d ast.Decl) bool { return belongs(c, d) }) {
				texts = append(texts, c.Text())
			}
		}
		for i, text := range texts {
			for _, block := range codeBlocks(text) {
				// Skip blocks that show loops and error bounds, not derivatives.
				if !strings.Contains(block, "for ") && !strings.ContainsAny(block, "ε≤\t") && (i == 0 || hasDerivative(block)) {
					blocks = append(blocks, block)
				}
			}
		}
		rel, _ := filepath.Rel(root, f)
		return filepath.ToSlash(rel), blocks
	}
	t.Fatalf("%s is not declared in %s", name, pkg)
	return "", nil
}

// declaration returns the declaration of a type.
func declaration(tree *ast.File, name string) *ast.GenDecl {
	for _, d := range tree.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE && len(g.Specs) == 1 && g.Specs[0].(*ast.TypeSpec).Name.Name == name {
			return g
		}
	}
	return nil
}

// belongs reports whether a comment documents a declaration or is inside one.
func belongs(c *ast.CommentGroup, d ast.Decl) bool {
	var doc *ast.CommentGroup
	switch d := d.(type) {
	case *ast.GenDecl:
		doc = d.Doc
	case *ast.FuncDecl:
		doc = d.Doc
	}
	return c == doc || d.Pos() <= c.Pos() && c.Pos() < d.End()
}

// codeBlocks returns the indented blocks of a comment.
func codeBlocks(text string) (blocks []string) {
	var p comment.Parser
	for _, b := range p.Parse(text).Content {
		if c, ok := b.(*comment.Code); ok {
			blocks = append(blocks, c.Text)
		}
	}
	return blocks
}

// hasDerivative reports whether a text has a letter with a bar or a dot.
func hasDerivative(s string) bool {
	return strings.ContainsAny(s, withMacron+string(macron)+withDot+string(dot)) && strings.ContainsFunc(s, func(c rune) bool {
		_, m := pair(withMacron, c)
		_, d := pair(withDot, c)
		return m || d || c == macron || c == dot
	})
}
