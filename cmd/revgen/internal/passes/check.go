package passes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// maxChecked bounds the operands of a kernel with a written check, which compares each with all
// others and with all derivatives.
const maxChecked = 6

// check returns the method check, which a pass calls before Run. It returns nothing for a kernel
// with one operand, with more than maxChecked, or none that is written. It also returns nothing if
// an operand is not a number, slice, vector or matrix, or value and either do not know its
// dimensions. declared are the names that the package declares.
//
//	func (k *Dot[T]) check(g, t *Dot[T]) {
//		dimn := k.X.N
//		k0, k1, k2 := rev.NumberExtent(k.Out, false), rev.VectorExtent(&k.X, dimn, false), ...
//		if !(k1.Apart(k0) && k2.Apart(k0) && ...) {
//			rev.Check(k, g, t, nil)
//		}
//	}
func (k *kernel) check(declared map[string]bool) string {
	if len(k.operands) < 2 || len(k.operands) > maxChecked {
		return ""
	}
	s := sizes{k: k, declared: declared, of: map[string]string{}}
	for _, x := range k.operands {
		s.bind(x)
	}
	var own, ownNames, conditions []string
	names := func(prefix string, i int) string { return prefix + strconv.Itoa(i) }
	for i, x := range k.operands {
		call := s.extent(x)
		if call == "" {
			return ""
		}
		own = append(own, "rev."+fmt.Sprintf(call, "k", strconv.FormatBool(x.role == "acc" && x.kind() == "number")))
		ownNames = append(ownNames, names("k", i))
		for j, y := range k.operands[:i] {
			if x.writes() || y.writes() {
				conditions = append(conditions, names("k", i)+".Apart("+names("k", j)+")")
			}
		}
	}
	if conditions == nil {
		return ""
	}
	var derivatives, derivativeNames, among []string
	for i, x := range k.operands {
		if x.role == "index" {
			continue
		}
		derivatives = append(derivatives, "rev."+fmt.Sprintf(s.extent(x), "d", "true"))
		derivativeNames = append(derivativeNames, names("d", i))
		for j, y := range k.operands {
			among = append(among, names("d", i)+".Apart("+names("k", j)+")")
			if j < i && y.role != "index" {
				among = append(among, names("d", i)+".Apart("+names("d", j)+")")
			}
		}
	}
	typ := k.instance(nil)
	var out strings.Builder
	head := fmt.Sprintf("check is rev.Check for a pass without second derivatives.\nfunc (k *%s) check(g, t *%[1]s) {\n", typ)
	if k.apart != nil {
		head = fmt.Sprintf("%s is rev.Check for a pass without second derivatives.\nfunc %[1]s%s(k, g, t *%s) {\n", k.function("check"), k.apart.params, typ)
	}
	fmt.Fprintf(&out, "\n// %s", head)
	fmt.Fprintf(&out, "%s%s := %s\n", strings.Join(s.bound, ""), strings.Join(ownNames, ", "), strings.Join(own, ", "))
	fmt.Fprintf(&out, "plain := %s\n", lines(conditions))
	fmt.Fprintf(&out, "d := g\nif d == nil {\nd = t\n}\n")
	fmt.Fprintf(&out, "if d != nil && plain {\n%s := %s\nplain = %s\n}\n", strings.Join(derivativeNames, ", "), strings.Join(derivatives, ", "), lines(among))
	out.WriteString("if !plain {\nrev.Check(k, g, t, nil)\n}\n}\n")
	return out.String()
}

// lines joins conditions, six to a line.
func lines(conditions []string) string {
	var out []string
	for c := range slices.Chunk(conditions, 6) {
		out = append(out, strings.Join(c, " && "))
	}
	return strings.Join(out, " &&\n")
}

func (x operand) writes() bool { return x.role == "acc" || x.role == "inout" }

// sizes say in Go what the names in shape tags stand for.
type sizes struct {
	k        *kernel
	declared map[string]bool
	of       map[string]string // by name
	bound    []string          // the statements that declare these
}

// shapes returns the dimensions of x, the second ones for a flag that is false, and that flag.
func (x operand) shapes() (flag string, dims [2][]string) {
	flag, shape, ok := strings.Cut(x.shape, "?")
	if !ok {
		flag, shape = "", x.shape
	}
	for i, s := range strings.SplitN(shape, ":", 2) {
		for _, dim := range split(s) {
			dims[i] = append(dims[i], strings.TrimSpace(dim))
		}
	}
	return strings.TrimSpace(flag), dims
}

// bind declares the names that x gives numbers to. A field of the same name is the number if its
// type is int. The type of another field may also be an int, by another name.
func (s *sizes) bind(x operand) {
	if x.shape == "" {
		return
	}
	flag, dims := x.shapes()
	for axis, name := range dims[0] {
		if !isName(name) || s.of[name] != "" || s.k.field(name) != nil {
			continue
		}
		value, variable := x.size(axis), "dim"+name
		if flag != "" {
			other := slices.Index(dims[1], name)
			if other < 0 {
				continue
			}
			s.of[name] = variable
			s.bound = append(s.bound, fmt.Sprintf("%[1]s := %[2]s\nif k.%[3]s {\n%[1]s = %[4]s\n}\n", variable, x.size(other), flag, value))
			continue
		}
		s.of[name] = variable
		s.bound = append(s.bound, variable+" := "+value+"\n")
	}
}

// size returns the dimension of x in the kernel.
func (x operand) size(axis int) string {
	switch x.kind() {
	case "slice":
		return "len(k." + x.name + ")"
	case "vector":
		return "k." + x.name + ".N"
	}
	return "k." + x.name + [...]string{".Rows", ".Cols"}[axis%2]
}

// kind returns the form of the operand, or nothing for another one than these.
func (x operand) kind() string {
	switch t := x.typ.(type) {
	case *ast.StarExpr:
		return "number"
	case *ast.ArrayType:
		if t.Len == nil {
			return "slice"
		}
	case *ast.IndexExpr:
		switch types.ExprString(t.X) {
		case "rev.Vector":
			return "vector"
		case "rev.General":
			return "matrix"
		}
	}
	return ""
}

// extent returns a call that gives the extent of x, with verbs for the variable of the kernel and
// for whether x may be nil there.
func (s *sizes) extent(x operand) string {
	if x.kind() == "number" {
		return "NumberExtent(%s." + x.name + ", %s)"
	}
	flag, dims := x.shapes()
	axes := map[string]int{"slice": 1, "vector": 1, "matrix": 2}[x.kind()]
	var args []string
	for axis := range axes {
		if axis >= len(dims[0]) {
			return ""
		}
		arg := s.value(dims[0][axis])
		if flag != "" && arg != "" {
			if other := s.value(dims[1][axis]); other != arg {
				arg = s.either(flag, arg, other)
			}
		}
		if arg == "" {
			return ""
		}
		args = append(args, arg)
	}
	switch x.kind() {
	case "slice":
		return "SliceExtent(%s." + x.name + ", " + args[0] + ", %s)"
	case "vector":
		return "VectorExtent(&%s." + x.name + ", " + args[0] + ", %s)"
	case "matrix":
		return "MatrixExtent(&%s." + x.name + ", " + args[0] + ", " + args[1] + ", %s)"
	}
	return ""
}

// either declares a name for yes if the flag is set, and for no otherwise. It returns nothing if
// one of them is not a name.
func (s *sizes) either(flag, yes, no string) string {
	if !isName(yes) || !isName(no) {
		return ""
	}
	name := yes + "_" + no + "_" + flag // names of dimensions have no _
	text := fmt.Sprintf("%[1]s := %[2]s\nif k.%[3]s {\n%[1]s = %[4]s\n}\n", name, no, flag, yes)
	if !slices.Contains(s.bound, text) {
		s.bound = append(s.bound, text)
	}
	return name
}

// value returns a dimension of a tag in Go, or nothing if a name in it has no number. It has no
// quotients except by a literal that is not 0, for others may be by zero. It has no literals with a
// leading 0, which are octal in Go.
func (s *sizes) value(dim string) string {
	e, err := parser.ParseExpr(dim)
	if err != nil {
		return ""
	}
	known := true
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case nil, *ast.ParenExpr:
		case *ast.BinaryExpr:
			l, ok := n.Y.(*ast.BasicLit)
			switch n.Op {
			case token.ADD, token.SUB, token.MUL:
			case token.QUO:
				known = known && ok && l.Value != "0"
			default:
				known = false
			}
		case *ast.BasicLit:
			if i, err := strconv.Atoi(n.Value); err != nil || strconv.Itoa(i) != n.Value {
				known = false
			}
		case *ast.Ident:
			switch t := s.k.field(n.Name); {
			case s.of[n.Name] != "":
				n.Name = s.of[n.Name]
			case t != nil && types.ExprString(t) == "int":
				n.Name = "k." + n.Name
			default:
				known = false
			}
		case *ast.CallExpr:
			if f := types.ExprString(n.Fun); f != "min" && f != "max" || s.declared[f] {
				known = false
			}
			for _, arg := range n.Args {
				ast.Inspect(arg, visit)
			}
			return false
		default:
			known = false
		}
		return true
	}
	ast.Inspect(e, visit)
	if !known {
		return ""
	}
	return types.ExprString(e)
}

// isName reports whether a dimension is a name alone.
func isName(dim string) bool {
	e, err := parser.ParseExpr(dim)
	_, ok := e.(*ast.Ident)
	return err == nil && ok
}

// field returns the type of a field of the kernel, or nil if it has none of this name.
func (k *kernel) field(name string) ast.Expr {
	for _, f := range k.spec.Type.(*ast.StructType).Fields.List {
		embedded := baseName(f.Type)
		if f.Names == nil && embedded[strings.LastIndex(embedded, ".")+1:] == name {
			return f.Type
		}
		for _, n := range f.Names {
			if n.Name == name {
				return f.Type
			}
		}
	}
	return nil
}
