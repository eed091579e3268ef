package revgen

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Explain returns the equations of the function with the given name in the package in
// dir, the equations of its adjoint, and a picture of both in Mermaid's language.
func Explain(dir, function string) (string, error) {
	p, files, err := parse(dir)
	if err != nil {
		return "", err
	}
	var names []string
	var errs []error
	for _, file := range files {
		kernels, refusals := p.kernels(file)
		errs = append(errs, refusals...)
		for _, k := range kernels {
			names = append(names, k.source)
			switch {
			case k.source != function && k.name != function:
			case len(refusals) > 0:
				return "", errors.Join(refusals...)
			default:
				return k.explain(), nil
			}
		}
	}
	if len(errs) > 0 {
		return "", errors.Join(errs...)
	}
	return "", fmt.Errorf("%s: no function %s has the comment %sName[T rev.Real]; %s has it", dir, function, Directive, list(names))
}

func (k *kernel) explain() string {
	x := new(explainer)
	var reads, adds, turns []string
	for _, o := range k.operands() {
		switch o.role() {
		case "acc":
			adds = append(adds, o.name)
		case "inout":
			turns = append(turns, o.name)
		default:
			reads = append(reads, o.name)
		}
	}
	fmt.Fprintf(x, "%s reads %s", k.source, list(reads))
	if len(adds) > 0 {
		fmt.Fprintf(x, ", adds to %s", list(adds))
	}
	if len(turns) > 0 {
		fmt.Fprintf(x, ", transforms %s in place", list(turns))
	}
	fmt.Fprintf(x, ".\n\n# Forward\n\n")
	x.begin(k)
	x.block(tidy(k.body), 1)
	fmt.Fprintf(x, "\n# Adjoint, where x̄ is the derivative of the result by x\n\n")
	x.begin(k)
	sums := k.accumulates()
	for _, p := range k.passes() {
		if p.name == "adjoint" {
			back := tidy(p.body)
			if sums {
				x.sign = "∓"
			}
			x.block(back, 1)
		}
	}
	if sums {
		fmt.Fprintf(x, "\nHere ∓ is - in the backward pass, and + where value and gradient are computed in one pass.\n")
	}
	fmt.Fprintf(x, "\n# The flow of data, and dotted the flow of derivatives\n\n```mermaid\nflowchart LR\n")
	x.picture(k)
	fmt.Fprintf(x, "```\n")
	return x.String()
}

func list(names []string) string {
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// An explainer writes programs as equations.
type explainer struct {
	strings.Builder
	names map[*local]string
	taken map[string]bool
	sign  string // of what is added to outputs, if that is the sign of the pass
}

// begin forgets the names of locals. Operands keep theirs.
func (x *explainer) begin(k *kernel) {
	x.names, x.taken = map[*local]string{}, map[string]bool{}
	for _, o := range k.operands() {
		if o.rank > 0 || o.written {
			x.taken[o.name] = true
		} else {
			x.taken[marked(o.name, cotangent)] = true // the cotangent of its local needs another name
		}
	}
}

// marked puts a mark on the first letter of a name: a bar on a cotangent, a dot on a
// tangent.
func marked(name string, in space) string {
	_, n := utf8.DecodeRuneInString(name)
	mark := ""
	if in&tangent != 0 {
		mark += "\u0307"
	}
	if in&cotangent != 0 {
		mark += "\u0304"
	}
	return name[:n] + mark + name[n:]
}

func (x *explainer) name(v *local) string {
	if s, ok := x.names[v]; ok {
		return s
	}
	base := v.name
	if v.of != nil {
		base = marked(x.name(v.of), map[string]space{"g": cotangent, "t": tangent}[v.name])
	}
	name := base
	for i := 1; x.taken[name]; i++ {
		name = base
		for _, digit := range strconv.Itoa(i) {
			name += string('₀' + digit - '0')
		}
	}
	x.taken[name], x.names[v] = true, name
	return name
}

func (x *explainer) block(b []*stmt, depth int) {
	for _, s := range b {
		x.stmt(s, depth)
	}
}

func (x *explainer) stmt(s *stmt, depth int) {
	line := func(format string, args ...any) {
		fmt.Fprintf(x, "%s%s\n", strings.Repeat("    ", depth), fmt.Sprintf(format, args...))
	}
	switch s.op {
	case "def":
		if s.e.op == "elem" && s.e.x.rank == 0 && x.text(s.e, 0) == x.name(s.v) {
			return // the value of a parameter
		}
		line("%s = %s", x.name(s.v), x.text(s.e, 0))
	case "set":
		line("%s ← %s", x.name(s.v), x.text(s.e, 0))
	case "add":
		op := map[bool]string{false: "+=", true: "-="}[s.neg]
		if s.to.op == "elem" && s.to.in&cotangent == 0 && x.sign != "" {
			op = "∓="
			if s.neg {
				op = "±="
			}
		}
		line("%s %s %s", x.text(s.to, 0), op, x.text(s.e, 0))
	case "kernel":
		var names []string
		for _, o := range s.callee.operands {
			names = append(names, marked(o.x.name, map[bool]space{true: cotangent}[s.adjoint]))
		}
		line("%s(%s)", s.callee.name, strings.Join(names, ", "))
	case "swap":
		if s.with == nil {
			line("%s ← -%s", x.text(s.to, 0), x.text(s.to, 0))
		} else {
			line("%s ↔ %s", x.text(s.to, 0), x.text(s.with, 0))
		}
	case "loop":
		outside := maps.Clone(x.taken)
		defer func() { x.taken = outside }()
		v := x.name(s.v)
		switch {
		case s.again:
			line("for %s back to %s:", v, x.text(s.lo, 0))
		case s.hi == nil:
			line("while %s (%s = %s, ...):", x.text(s.e, 0), v, x.text(s.lo, 0))
		case s.down:
			line("for %s = %s, ..., %s:", v, x.text(last(s.hi), 0), x.text(s.lo, 0))
		default:
			line("for %s = %s, ..., %s:", v, x.text(s.lo, 0), x.text(last(s.hi), 0))
		}
		x.block(s.inner, depth+1)
	case "cond":
		if len(s.inner) > 0 {
			line("if %s:", x.text(s.e, 0))
			x.block(s.inner, depth+1)
		}
		if len(s.els) > 0 {
			if len(s.inner) > 0 {
				line("else:")
			} else {
				line("if not %s:", x.text(s.e, 2))
			}
			x.block(s.els, depth+1)
		}
	case "sincos":
		line("%s = sin(%s)", x.name(s.v), x.text(s.e, 0))
		line("%s = cos(%s)", x.name(s.with.v), x.text(s.e, 0))
	case "keep":
		x.block(s.inner, depth)
	case "back":
		line("%s = the last iteration before which it was kept", x.name(s.v))
	case "push":
		line("keep %s", x.name(s.v))
	case "pop":
		line("%s ← what was kept", x.name(s.v))
	}
}

// last returns hi - 1.
func last(hi *node) *node {
	if x, n, ok := hi.plus(); ok && n <= 0 {
		return binary("-", x, integerLit(1-n))
	} else if ok {
		return binary("+", x, integerLit(n-1))
	}
	return binary("-", hi, integerLit(1))
}

// text returns e as it stands in an equation.
func (x *explainer) text(e *node, prec int) string {
	arg := func(i, prec int) string { return x.text(e.args[i], prec) }
	var out string
	op := e.op
	switch e.op {
	case "lit":
		return e.text
	case "ref":
		return x.name(e.v)
	case "len":
		return show(e)
	case "elem":
		s := marked(e.x.name, e.in)
		for i := range e.args {
			s += "[" + arg(i, 0) + "]"
		}
		return s
	case "neg":
		return "-" + arg(0, 5)
	case "!":
		return "not " + arg(0, 5)
	case "*", "exact":
		op = "*"
		if e.kind == number && e.args[0].key() == e.args[1].key() {
			return arg(0, 6) + "²"
		}
		out = arg(0, 5) + "·" + arg(1, 6)
	case "over", "/":
		op = "/"
		out = arg(0, 5) + "/" + arg(1, 6)
	case "Sqrt":
		return "√" + arg(0, 6)
	case "Int", "Index":
		return arg(0, prec)
	default:
		if precedence[e.op] > 0 {
			out = arg(0, precedence[e.op]) + " " + e.op + " " + arg(1, precedence[e.op]+1)
			break
		}
		var args []string
		for i := range e.args {
			args = append(args, arg(i, 0))
		}
		return strings.ToLower(e.op[strings.IndexByte(e.op, '.')+1:]) + "(" + strings.Join(args, ", ") + ")"
	}
	if precedence[op] < prec {
		return "(" + out + ")"
	}
	return out
}

// picture writes the edges from what is read to what is written, and back.
func (x *explainer) picture(k *kernel) {
	x.begin(k)
	var edges []string
	ids := map[string]int{}
	box := func(name string, operand bool) string {
		id, ok := ids[name]
		if !ok {
			id = len(ids)
			ids[name] = id
			shape := "    n%d(\"%s\")\n"
			if operand {
				shape = "    n%d[\"%s\"]\n"
			}
			fmt.Fprintf(x, shape, id, name)
		}
		return fmt.Sprint("n", id)
	}
	each(tidy(k.body), func(s *stmt) {
		var to string
		switch {
		case s.op == "swap" && s.with != nil:
			to = box(s.to.x.name, true)
			edges = append(edges, fmt.Sprintf("    %s <--> %s\n", to, box(s.with.x.name, true)))
			return
		case s.writes() != nil && s.writes().active:
			to = box(x.name(s.writes()), false)
		case s.to != nil && s.to.op == "elem":
			to = box(s.to.x.name, true)
		}
		if to == "" || s.e == nil {
			return
		}
		s.e.each(func(e *node) {
			var from string
			switch {
			case e.op == "ref" && e.v.active:
				from = box(x.name(e.v), false)
			case e.op == "elem" && e.kind == number:
				from = box(e.x.name, true)
			default:
				return
			}
			edge := fmt.Sprintf("    %s --> %s\n    %s -.-> %s\n", from, to, to, from)
			if from != to && !slices.Contains(edges, edge) {
				edges = append(edges, edge)
			}
		})
	})
	for _, e := range edges {
		x.WriteString(e)
	}
}
