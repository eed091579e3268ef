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
	"regexp"
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
them. A test of package rules writes this page from these comments and from the
operands. The comments go on with what is rounded and which errors there are.
[kernels.md](kernels.md) says what is restored over which numbers, and
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
		file, decl, blocks := equations(t, pkg, name)
		fmt.Fprintf(&b, "## %s\n\n%s\nIn [%s](../%s).\n\n", r.Kernel, operandList(r, decl), path.Base(file), file)
		for _, block := range blocks {
			b.WriteString(markdown(block))
		}
	}
	compare(t, "docs/adjoints.md", []byte(b.String()))
}

// operandList returns the operands of a kernel as a list, and its parameters with the comments of
// their fields.
func operandList(r *Rule, decl *ast.GenDecl) string {
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
			param := "`" + p.Name + "` " + p.Kind
			if comment := fieldComment(decl, p.Name); comment != "" {
				param += " (" + comment + ")"
			}
			params = append(params, param)
		}
	}
	if len(params) > 0 {
		fmt.Fprintf(&b, "- parameters: %s\n", strings.Join(params, ", "))
	}
	return b.String()
}

// A parsedFile is a file of a package and its syntax.
type parsedFile struct {
	name string
	tree *ast.File
}

var parsedPackages = map[string][]parsedFile{}

// parsed returns the files of a package, which it parses once.
func parsed(t *testing.T, pkg string) []parsedFile {
	if files, ok := parsedPackages[pkg]; ok {
		return files
	}
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var files []parsedFile
	for _, name := range names {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, parsedFile{name, tree})
	}
	parsedPackages[pkg] = files
	return files
}

// equations returns the name of a kernel's file, its declaration, and what its comment says about the
// equations. It adds the later comments that belong to no declaration and have derivatives.
func equations(t *testing.T, pkg, name string) (file string, decl *ast.GenDecl, blocks []comment.Block) {
	for _, f := range parsed(t, pkg) {
		tree := f.tree
		if decl = declaration(tree, name); decl == nil {
			continue
		}
		blocks, _ = derivatives(decl.Doc.Text())
		for _, c := range tree.Comments {
			if c.Pos() > decl.End() && !slices.ContainsFunc(tree.Decls, func(d ast.Decl) bool { return belongs(c, d) }) {
				if more, ok := derivatives(c.Text()); ok {
					blocks = append(blocks, more...)
				}
			}
		}
		rel, _ := filepath.Rel(root, f.name)
		return filepath.ToSlash(rel), decl, blocks
	}
	t.Fatalf("%s is not declared in %s", name, pkg)
	return "", nil, nil
}

// derivatives returns the beginning of a comment, to its last equation with a derivative and the end of
// that sentence. What follows is about rounding, failures and sources. If there is no such equation, the
// derivatives are those of another kernel: the beginning ends after the paragraph that says so, which
// follows the last equation above the first heading.
func derivatives(text string) (blocks []comment.Block, ok bool) {
	var p comment.Parser
	blocks = p.Parse(text).Content
	last, equation, heading := -1, -1, len(blocks)
	for i, b := range blocks {
		switch b := b.(type) {
		case *comment.Code:
			if hasDerivative(b.Text) {
				last = i
			}
			if i < heading {
				equation = i
			}
		case *comment.Heading:
			heading = min(heading, i)
		}
	}
	if last < 0 {
		return blocks[:min(equation+2, heading)], false
	}
	if last++; last < len(blocks) && strings.HasPrefix(markdown(blocks[last]), "where ") {
		last++
	}
	return blocks[:last], true
}

func TestDerivatives(t *testing.T) {
	const value, gradient, rest = "K is the kernel\n\n\ty += f(x) + ε\n\n", "With f of x,\n\n\tx̄_i += ȳ for i < n\n\n", "The error is\n\n\t2·ε.\n"
	for _, c := range []struct {
		name, text, last string
		blocks           int
		ok               bool
	}{
		{"an equation with loops and ε", value + gradient + rest, "\\bar{x}_{i}", 4, true},
		{"the end of a sentence", value + gradient + "where n is a number.\n\n" + rest, "where n", 5, true},
		{"derivatives of another kernel", value + "As those of L.\n\n# Rounding\n\n" + rest, "As those", 3, false},
		{"nothing but an equation", value + "# Rounding\n\n" + rest, "\\varepsilon", 2, false},
	} {
		blocks, ok := derivatives(c.text)
		if ok != c.ok || len(blocks) != c.blocks || !strings.Contains(markdown(blocks[len(blocks)-1]), c.last) {
			t.Errorf("%s: %v, and %d blocks that end with %q, want %v, %d and %q", c.name, ok, len(blocks), markdown(blocks[len(blocks)-1]), c.ok, c.blocks, c.last)
		}
	}
	if got := markdown(&comment.Code{Text: "for i = 1, 2\n\tx_i\n"}); !strings.HasPrefix(got, "```text\nfor i = 1, 2\n\tx_i\n```") {
		t.Errorf("a loop becomes %q", got)
	}
}

// markdown returns a block of a comment, with equations in LaTeX and loops as they are.
func markdown(b comment.Block) string {
	code, ok := b.(*comment.Code)
	if !ok {
		p := comment.Printer{HeadingLevel: 3, HeadingID: func(*comment.Heading) string { return "" }}
		text := string(p.Markdown(&comment.Doc{Content: []comment.Block{b}})) + "\n"
		return regexp.MustCompile(`\\\[([A-Z]\w+)\]`).ReplaceAllString(text, "$1") // links to other kernels
	}
	if strings.Contains("\n"+code.Text, "\nfor ") || strings.Contains(code.Text, "\t") {
		return "```text\n" + code.Text + "```\n\n"
	}
	return "```math\n\\begin{aligned}\n& " + latex(strings.TrimRight(code.Text, "\n,.;")) + "\n\\end{aligned}\n```\n\n"
}

// fieldComment returns the comment of a field of a struct.
func fieldComment(decl *ast.GenDecl, name string) string {
	for _, f := range decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType).Fields.List {
		for _, n := range f.Names {
			if n.Name == name {
				return strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
			}
		}
	}
	return ""
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

// hasDerivative reports whether a text has a letter with a bar or a dot.
func hasDerivative(s string) bool {
	return strings.ContainsAny(s, withMacron+string(macron)+withDot+string(dot)) && strings.ContainsFunc(s, func(c rune) bool {
		_, m := pair(withMacron, c)
		_, d := pair(withDot, c)
		return m || d || c == macron || c == dot
	})
}
