package passes

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The comment of a kernel begins with its equation, in an indented block, and has its
// derivatives in the blocks after it:
//
//	Out += ‖x‖ = √(Σ x_i²)
//
//	x̄ += Ōut·u,  Ȯut += Σ u_i·ẋ_i,  ġx += ġOut·u + Ōut·(ẋ - r·u)/‖x‖.
//
// Terms are separated by commas and lines. A bar over the left side makes it a cotangent, a
// dot a tangent, and a leading ġ the tangent of a cotangent. Left sides that are not operands
// are definitions, which comments of methods do not repeat.

// A term is what an equation does to an operand.
type term struct {
	left, op, right string
	operands        []string // on the left
}

func (t term) String() string { return t.left + " " + t.op + " " + t.right }

// inverses maps each operation that has an inverse to it.
var inverses = map[string]string{"+=": "-=", "-=": "+=", "⊕=": "⊖=", "*=": "/="}

// An order is the kind of derivative on the left side of a term.
type order int

const (
	value order = iota
	cotangent
	tangent
	second
)

// An equation is what the comment of a kernel says, by order.
type equation [4][]term

// returnsError reports whether methods return an error. They do unless the comment of Run says
// that it returns none, or only the error that there is no second order.
func (k *kernel) returnsError() bool {
	return k.hasSecond() && !strings.Contains(k.runComment(), "It returns no error.")
}

// hasSecond reports whether k has the second order.
func (k *kernel) hasSecond() bool {
	return !strings.Contains(k.runComment(), "Its only error is rev.ErrUnsupported")
}

// runComment returns the comment of Run, which is written here for bilinear kernels.
func (k *kernel) runComment() string {
	if k.run == nil {
		return runComment
	}
	if k.apart != nil {
		return spaced(k.docOf("Run", k.run))
	}
	return spaced(k.run.Doc.Text())
}

func spaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// comments returns the comments of the methods, without their names.
func (k *kernel) comments() (c [5]string) {
	e := k.equation()
	outputs, inputs := k.named("acc", "inout"), k.named("in", "inout")
	if len(k.named("inout")) == 0 {
		c = e.accumulating(outputs, inputs)
	} else {
		c = e.inPlace(outputs, inputs)
	}
	for i := range c {
		if k.returnsError() {
			c[i] += ", or returns " + k.errorName()
		}
	}
	return c
}

// accumulating returns the comments of a kernel that adds to its outputs.
func (e *equation) accumulating(outputs, inputs []string) (c [5]string) {
	known := e.covers(value, outputs)
	c[0] = computes(known, "adds the value to "+list(outputs), e[value])
	c[1] = computes(known, "subtracts the value from "+list(outputs), inverted(e[value]))
	if e.covers(cotangent, inputs) {
		c[2] = computes(known, c[1], inverted(e[value]), e[cotangent])
	} else {
		c[2] = c[1] + ", and adds the gradient to the " + plural("cotangent", inputs)
	}
	before := inverted(e[tangent])
	if len(e[tangent]) > 0 {
		c[3] = computes(known, c[0], e[value], e[tangent])
	} else {
		c[3] = c[0] + ", and adds the derivative to the " + plural("tangent", outputs)
	}
	c[4] = "computes what Adjoint does"
	if before == nil {
		c[4] += ", restores the " + plural("tangent", outputs)
	}
	switch {
	case e.covers(second, inputs) && before == nil:
		c[4] += ", and computes " + sum(e[second])
	case e.covers(second, inputs):
		c[4] += ", " + sum(before, e[second])
	case before != nil:
		c[4] += ", " + sum(before) + ", and adds the tangent of the gradient to gt"
	default:
		c[4] += ", and adds the tangent of the gradient to gt"
	}
	return c
}

// computes returns the words for a pass that computes terms. The first terms are those of
// the value. If they are not known, words stands in their place.
func computes(known bool, words string, terms ...[]term) string {
	switch {
	case known:
		return "computes " + sum(terms...)
	case len(terms) == 1:
		return words
	}
	return words + ", and computes " + sum(terms[1:]...)
}

// inPlace returns the comments of a kernel that changes operands in place.
func (e *equation) inPlace(outputs, inputs []string) [5]string {
	c := InPlace("changes " + list(outputs) + " in place")
	if e.covers(value, outputs) {
		c[0] = "computes " + sum(e[value])
		if e.covers(tangent, outputs) {
			c[3] = "computes " + sum(e[value], e[tangent])
		}
		if e.covers(cotangent, inputs) {
			c[2] = "does what Inverse does, and computes " + sum(e[cotangent])
		}
	}
	return c
}

// InPlace returns the comments of a kernel, given only the words for what Forward does.
func InPlace(forward string) [5]string {
	return [5]string{
		forward,
		"restores the state before Forward",
		"does what Inverse does, and turns the cotangents g of the state after Forward into those of the state before",
		"does what Forward does, and carries the tangents t along",
		"is the tangent of Adjoint: it also restores the state before Tangent, and gt gets the tangents of g",
	}
}

// covers reports whether e has a term of the order for each of the operands.
func (e *equation) covers(o order, operands []string) bool {
	return !slices.ContainsFunc(operands, func(x string) bool {
		return !slices.ContainsFunc(e[o], func(t term) bool {
			return slices.Contains(t.operands, x)
		})
	}) && len(operands) > 0
}

// inverted returns the terms of the inverse, or nil if one has none.
func inverted(terms []term) []term {
	var out []term
	for _, t := range terms {
		if t.op = inverses[t.op]; t.op == "" {
			return nil
		}
		out = append(out, t)
	}
	return out
}

// sum returns terms, the last with "and" before it.
func sum(terms ...[]term) string {
	var texts []string
	for _, t := range slices.Concat(terms...) {
		texts = append(texts, t.String())
	}
	return list(texts)
}

// list returns "x, y and z".
func list(names []string) string {
	n := len(names) - 1
	if n < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:n], ", ") + " and " + names[n]
}

// plural returns "tangent of x" or "tangents of x and y".
func plural(noun string, names []string) string {
	if len(names) > 1 {
		noun += "s"
	}
	return noun + " of " + list(names)
}

// named returns the names of the operands with one of the roles.
func (k *kernel) named(roles ...string) (names []string) {
	for _, x := range k.operands {
		if slices.Contains(roles, x.role) {
			names = append(names, x.name)
		}
	}
	return names
}

var errorNames = regexp.MustCompile(`\*(rev\.)?\w+Error\b|mat\.Condition\b`)

// errorName returns "a " and the type of the error that the comments of k name, if they
// name one type. Otherwise, or if Run also returns "the errors of" something else, it
// returns "an error". A *rev.OperandError does not count, because it is a panic.
func (k *kernel) errorName() string {
	if strings.Contains(k.runComment(), "the errors of") {
		return "an error"
	}
	names := errorNames.FindAllString(strings.ReplaceAll(k.doc+k.runComment(), "*rev.OperandError", ""), -1)
	slices.Sort(names)
	if names = slices.Compact(names); len(names) == 1 {
		return "a " + names[0]
	}
	return "an error"
}

// equation reads the comment of k.
func (k *kernel) equation() (e equation) {
	first, inside := true, false // the first block; inside of a block
	for line := range strings.Lines(k.doc) {
		if !strings.HasPrefix(line, "\t") {
			first = first && !inside
			inside = false
			continue
		}
		inside = true
		for _, text := range split(line) {
			t, o, ok := k.term(text)
			switch {
			case !ok, first != (o == value):
			case o == value && t.op != "=":
				t.right, _, _ = strings.Cut(t.right, " = ")
				e[o] = append(e[o], t)
			case o != value && (t.op != "=" || len(e[value]) > 0 && e[value][0].op == "⊕="):
				e[o] = append(e[o], t)
			}
		}
	}
	return e
}

// split returns the parts of a line between commas that are outside of parentheses.
func split(line string) (parts []string) {
	depth, begin := 0, 0
	for i, r := range line {
		switch {
		case strings.ContainsRune("([{⟨", r):
			depth++
		case strings.ContainsRune(")]}⟩", r):
			depth--
		case r == ',' && depth <= 0:
			parts = append(parts, line[begin:i])
			begin = i + 1
		}
	}
	return append(parts, line[begin:])
}

var termForm = regexp.MustCompile(`^(.*?) (\S?=|<-) (.*)$`)

// term reads a part of a line. It reports whether that is an equation of operands.
func (k *kernel) term(text string) (t term, o order, ok bool) {
	m := termForm.FindStringSubmatch(strings.TrimRight(spaced(text), "."))
	if m == nil {
		return t, o, false
	}
	t = term{left: m[1], op: m[2], right: m[3]}
	lefts := []string{t.left}
	if strings.HasPrefix(t.left, "(") {
		lefts = strings.Split(strings.Trim(t.left, "()"), ", ")
	}
	for _, left := range lefts {
		var name string
		o, name = symbol(left)
		if name = k.operand(name); name == "" {
			return t, o, false
		}
		t.operands = append(t.operands, name)
	}
	return t, o, true
}

// Letters with a bar and with a dot, and the same letters without.
const (
	barred, unbarred = "āēīōūȳĀĒĪŌŪȲᾱᾹ", "aeiouyAEIOUYαΑ"
	dotted, undotted = "ȧḃċḋėḟġḣṁṅȯṗṙṡṫẇẋẏżȦḂĊḊĖḞĠḢṀṄȮṖṘṠṪẆẊẎŻ", "abcdefghmnoprstwxyzABCDEFGHMNOPRSTWXYZ"
)

// symbol returns the order of a symbol, and its name without marks and indices: x for ẋ_i and
// ġx. The name is empty if it is no symbol.
func symbol(s string) (o order, name string) {
	for i, r := range s {
		bar, dot := slices.Index([]rune(barred), r), slices.Index([]rune(dotted), r)
		switch {
		case bar >= 0:
			o, r = cotangent, []rune(unbarred)[bar]
		case dot >= 0:
			o, r = tangent, []rune(undotted)[dot]
		case r == '\u0304':
			o = cotangent
			continue
		case r == '\u0307':
			o = tangent
			continue
		case strings.ContainsRune("_'′([{₁₂", r):
			return o, name
		case !unicode.IsLetter(r):
			return o, ""
		}
		if i == len("ġ") && (strings.HasPrefix(s, "ġ") || strings.HasPrefix(s, "Ġ")) {
			o, name = second, ""
		}
		name += string(r)
	}
	return o, name
}

var greek = map[string]string{"α": "Alpha", "β": "Beta", "γ": "Gamma", "δ": "Delta", "θ": "Theta", "λ": "Lambda", "μ": "Mu", "σ": "Sigma", "φ": "Phi"}

// operand returns the operand that a name in an equation means, or nothing.
func (k *kernel) operand(name string) string {
	for _, x := range k.operands {
		if strings.EqualFold(x.name, name) || x.name == greek[name] {
			return x.name
		}
	}
	return ""
}
