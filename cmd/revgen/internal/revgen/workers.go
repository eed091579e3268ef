package revgen

import (
	"bytes"
	"fmt"
	"go/ast"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"revnum/rev/num"
)

// With the word workers after its name, as in
//
//	//revgen:kernel Axpy[T rev.Real] workers
//
// a kernel has a field Workers, and loops whose iterations are independent run on that
// many workers. Iterations are independent if each changes elements of its own, which no
// other reads, or adds to locals and elements that none reads. In the second case each
// part of the loop has sums of its own. The parts depend only on lengths, and their sums
// are added in order, so that the bits do not depend on the number of workers.

// A fork says how a loop of the function is divided. The loops of all passes that come
// from it share it, so that they have the same parts.
type fork struct {
	least  int     // iterations in a part
	copies []*node // a part also has at least as many iterations as this, since it has copies of so many elements
}

// divide finds the loops of the function f that run on workers. If there are none, it
// refuses the function.
func (r *reader) divide(f *ast.FuncDecl) {
	found, refusals := r.forks(r.k.body)
	if !found && len(refusals) == 0 {
		r.guarded(func() { r.refuse(f, "no workers: %s has no loop", f.Name.Name) })
	}
	if !found {
		r.refusals = append(r.refusals, refusals...)
	}
}

// forks finds the outermost loops of b whose iterations are independent. It returns why
// others are not.
func (r *reader) forks(b []*stmt) (found bool, refusals []error) {
	for _, s := range b {
		if s.op == "loop" {
			why := s.dependence()
			if why == "" {
				s.fork = &fork{1 << bits.Len(uint(maxWork/work(s.inner))), s.copies()}
				found = true
				continue
			}
			refusals = append(refusals, r.refusal(s.pos, "no workers for this loop: %s", why))
		}
		for _, inner := range [][]*stmt{s.inner, s.els} {
			yes, more := r.forks(inner)
			found, refusals = found || yes, append(refusals, more...)
		}
	}
	return found, refusals
}

// maxWork is the amount of work, as the function work counts it, up to which one worker
// is as fast as several.
const maxWork = 10000

// work counts the operations of b. A function or a quotient counts as 20 more, and a
// loop of unknown length as 64 iterations.
func work(b []*stmt) int {
	n := 1
	for _, s := range b {
		for _, e := range s.reads() {
			e.each(func(e *node) {
				if n++; rules[e.op] != nil || e.op == "/" {
					n += 20
				}
			})
		}
		times := 1
		if s.op == "loop" {
			times = 64
			if k, ok := s.length(); ok {
				times = k
			}
		}
		n += times * work(append(slices.Clone(s.inner), s.els...))
		n = min(n, maxWork)
	}
	return n
}

// length returns the number of iterations, if it is known now.
func (s *stmt) length() (n int, known bool) {
	if s.e != nil {
		return 0, false
	}
	lo, ok := s.lo.integer()
	hi, ok2 := s.hi.integer()
	return hi - lo, ok && ok2
}

// own returns the locals that the loop s defines for each iteration anew.
func (s *stmt) own() map[*local]bool {
	own := map[*local]bool{s.v: true}
	each(s.inner, func(s *stmt) {
		switch s.op {
		case "def", "loop", "back":
			own[s.v] = true
		case "sincos":
			own[s.v], own[s.with.v] = true, true
		}
	})
	return own
}

// sums returns the locals outside of the loop s that it adds to.
func (s *stmt) sums() (vs []*local) {
	own := s.own()
	each(s.inner, func(u *stmt) {
		if u.op == "add" && u.to.v != nil && !own[u.to.v] && !slices.Contains(vs, u.to.v) {
			vs = append(vs, u.to.v)
		}
	})
	return vs
}

// captures returns the locals outside of the loop s that it reads.
func (s *stmt) captures() (vs []*local) {
	own := s.own()
	s.each(func(u *stmt) {
		for _, e := range u.reads() {
			e.each(func(e *node) {
				if e.op == "ref" && !own[e.v] && !e.v.plain && !slices.Contains(vs, e.v) {
					vs = append(vs, e.v)
				}
			})
		}
	})
	return vs
}

// A usedOperand is an operand in one space, with what a loop does to it.
type usedOperand struct {
	x       *operand
	in      space
	at      []access
	written bool
	read    bool // other than by adding to it
}

// An access is the use of an element, and what is known of integers there. Its indices
// have values in place of locals of the loop.
type access struct {
	e     *node
	facts facts
}

// operands returns what the iterations of the loop s do with elements, in order.
func (s *stmt) operands() (us []*usedOperand) {
	integers := map[*local]*node{}
	each(s.inner, func(s *stmt) {
		if s.op == "def" && s.v.kind == integer {
			integers[s.v] = s.e
		}
	})
	var plain func(e *node) *node
	plain = func(e *node) *node {
		return e.replaced(func(e *node) *node {
			if e.op == "ref" && integers[e.v] != nil {
				return plain(integers[e.v])
			}
			return e
		})
	}
	use := func(e *node, f facts) *usedOperand {
		i := slices.IndexFunc(us, func(u *usedOperand) bool { return u.x == e.x && u.in == e.in })
		if i < 0 {
			i, us = len(us), append(us, &usedOperand{x: e.x, in: e.in})
		}
		us[i].at = append(us[i].at, access{plain(e), f})
		return us[i]
	}
	var visit func(b []*stmt, f facts)
	visit = func(b []*stmt, f facts) {
		for _, s := range b {
			for _, e := range s.reads() {
				e.each(func(e *node) {
					if e.op == "elem" {
						use(e, f).read = true
					}
				})
			}
			for _, e := range s.targets() {
				u := use(e, f)
				u.written, u.read = true, u.read || s.op != "add"
			}
			if len(s.inner)+len(s.els) > 0 {
				visit(s.inner, f.inside(s, false))
				visit(s.els, f.inside(s, true))
			}
		}
	}
	visit(s.inner, facts{}.inside(s, false))
	return us
}

// independentIterations reports whether no two iterations of the loop s use the same element.
func (u *usedOperand) independentIterations(s *stmt) bool {
	own := s.own()
	constant := func(a affineForm) bool { // in all iterations
		for t := range a {
			for v := range own {
				if strings.Contains(t, ref(v).key()) {
					return false
				}
			}
		}
		return true
	}
	for axis := range u.x.rank {
		if u.apartBy(axis, ref(s.v).key(), constant) {
			return true
		}
	}
	return false
}

// apartBy reports whether the index of one axis tells the iterations apart, which are
// counted by i. It does if it is stride·i + rest, where
//
//	0 <= rest < stride, or rests differ by less than stride.
func (u *usedOperand) apartBy(axis int, i string, constant func(affineForm) bool) bool {
	var first affineForm // the rest of the first index
	var stride string
	least, most := 0, 0
	inside := true // all rests are in [0, stride)
	for n, a := range u.at {
		form := a.facts.of(a.e.args[axis])
		step, rest := affineForm{}, affineForm{}
		for t, c := range form {
			factors := strings.Fields(t)
			if at := slices.Index(factors, i); at >= 0 {
				step[strings.Join(slices.Delete(factors, at, at+1), " ")] = c
			} else {
				rest[t] = c
			}
		}
		if len(step) != 1 || !constant(step) {
			return false
		}
		if key := fmt.Sprint(step); n == 0 {
			first, stride = rest, key
		} else if key != stride {
			return false
		}
		inside = inside && a.facts.inRange(rest, step)
		d, ok := rest.plus(-1, first).constant()
		least, most = min(least, d), max(most, d)
		size, numeric := step.constant()
		near := ok && numeric && constant(rest) && most-least < max(size, -size)
		if !inside && !near {
			return false
		}
	}
	return true
}

// dependence returns why the iterations of a loop do not run on workers, or nothing.
func (s *stmt) dependence() string {
	own := s.own()
	n, known := s.length()
	switch {
	case s.e != nil:
		return "a loop with a condition has one iteration after the other"
	case len(s.carried) > 0:
		return fmt.Sprintf("%s goes from one iteration to the next", s.carried[0].name)
	case known && n < num.MaxParts:
		return fmt.Sprintf("there are only %d iterations", max(n, 0))
	}
	why := ""
	sums := s.sums()
	each(s.inner, func(u *stmt) {
		if u.op == "kernel" {
			why = fmt.Sprintf("%s runs in each iteration, on whole operands", u.callee.name)
		}
		if v := u.writes(); v != nil && !own[v] && u.op != "add" {
			why = fmt.Sprintf("%s goes from one iteration to the next", v.name)
		}
	})
	for _, v := range s.captures() {
		if slices.Contains(sums, v) {
			why = fmt.Sprintf("%s goes from one iteration to the next", v.name)
		}
	}
	if why != "" {
		return why
	}
	for _, u := range s.operands() {
		if u.written && u.read && !u.independentIterations(s) {
			why = fmt.Sprintf("%s changes, and %s may be the same element in another iteration", u.x.name, show(u.at[0].e))
		}
	}
	return why
}

// shared returns the operands of which each part of the loop s has copies, because its
// iterations add to the same elements.
func (s *stmt) shared() (us []*usedOperand) {
	us = slices.DeleteFunc(s.operands(), func(u *usedOperand) bool { return !u.written || u.independentIterations(s) })
	slices.SortStableFunc(us, func(u, v *usedOperand) int { return u.x.rank - v.x.rank }) // as num.Loop adds them
	return us
}

// copies returns, for each operand that a part of a pass of the loop s may copy, how
// many elements it copies for each element that an iteration uses.
func (s *stmt) copies() (sizes []*node) {
	loops := map[*local]*stmt{}
	each(s.inner, func(s *stmt) {
		if s.op == "loop" {
			loops[s.v] = s
		}
	})
	for _, u := range s.operands() {
		if u.x.index || u.independentIterations(s) {
			continue
		}
		size := integerLit(1)
		for axis := range u.x.rank {
			whole := !slices.ContainsFunc(u.at, func(a access) bool {
				l := loops[a.e.args[axis].v]
				return l == nil || !l.covers(u.x, axis)
			})
			switch n := length(u.x, axis); {
			case whole:
			case size.is(integerLit(1)):
				size = n
			default:
				size = binary("*", size, n)
			}
		}
		if same := func(e *node) bool { return e.key() == size.key() }; !size.is(integerLit(1)) && !slices.ContainsFunc(sizes, same) {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// withoutForkBodies returns b without the contents of its forks.
func withoutForkBodies(b []*stmt) (out []*stmt) {
	for _, s := range b {
		c := *s
		c.inner, c.els = withoutForkBodies(s.inner), withoutForkBodies(s.els)
		if s.fork != nil {
			c.inner = nil
		}
		out = append(out, &c)
	}
	return out
}

// writeFork writes the loop s, which is divided among workers. What a part does is the
// method Block of a type of its own.
func (w *writer) writeFork(s *stmt) {
	if why := s.dependence(); why != "" {
		w.wrong = fmt.Errorf("%s: in %s the iterations of a loop depend on each other, which is a bug of revgen: %s", w.k.source, w.pass.name, why)
		return
	}
	typ, generic := w.loopType(), ""
	if w.k.generic != "" {
		generic = "[T]"
	}
	sums, shared := s.sums(), s.shared()
	captured := slices.DeleteFunc(s.captures(), func(v *local) bool { return v == s.v })
	values := ""
	for _, f := range w.task(s, typ, generic, captured, sums, shared) {
		values += ", " + f + ": " + f
	}
	loop, task := w.name(&local{name: "loop"}), w.name(&local{name: "task"})
	w.printf("%s := num.NewLoop[%s](%s, %s, %s)\n", loop, w.elem, w.expr(s.lo, 0), w.expr(s.hi, 0), w.least(s.fork))
	for _, u := range shared {
		w.printf("%s.%s(%s)\n", loop, ownKinds[u.x.rank], field(u.x, u.in))
	}
	w.printf("%s := num.NewTask[%s%s]()\n*%s = %s%s{parts: %s%s}\n", task, typ, generic, task, typ, generic, loop, values)
	plain, exact := split(sums)
	w.printf("%s.Run(k.Workers, %d, %s)\n", loop, len(plain), task)
	if len(exact) > 0 {
		w.printf("for _, own := range %s.exact[:%s.Parts()] {\n", task, loop)
		for i, v := range exact {
			w.printf("%s = %s.AddSum(own[%d])\n", w.name(v), w.name(v), i)
		}
		w.printf("}\n")
	}
	w.printf("num.FreeTask(%s)\n", task)
	for _, v := range plain {
		w.printf("%s += %s.Sum()\n", w.name(v), loop)
	}
	w.printf("%s.Free()\n", loop)
}

// split returns the sums that are no fixed.Sum, and those that are.
func split(sums []*local) (plain, exact []*local) {
	for _, v := range sums {
		if v.exact {
			exact = append(exact, v)
		} else {
			plain = append(plain, v)
		}
	}
	return plain, exact
}

// localType returns the type of a local as Go.
func (w *writer) localType(v *local) string {
	if v.exact {
		return "fixed.Sum[T]"
	}
	return strings.Replace(goTypes[v.kind], "float64", w.elem, 1)
}

// least returns how many iterations a part of a loop has at least.
func (w *writer) least(f *fork) string {
	n, text := f.least, ""
	for _, size := range f.copies {
		if k, err := strconv.Atoi(w.expr(size, 0)); err == nil {
			n = max(n, k)
		} else {
			text += ", " + w.expr(size, 0)
		}
	}
	if text != "" {
		return fmt.Sprintf("max(%d%s)", n, text)
	}
	return strconv.Itoa(n)
}

var ownKinds = []string{"Number", "Vector", "Matrix"}

// parameters returns the names of the receiver and the parameters of a pass.
func (w *writer) parameters() []string {
	names := []string{"k"}
	if w.k.accumulates() {
		names = append(names, "sign")
	}
	if w.pass.args != "" {
		names = append(names, strings.Split(w.pass.args, ", ")...)
	}
	return names
}

// loopType returns an unused name for the type of a part of a loop of this pass.
func (w *writer) loopType() string {
	base := strings.ToLower(w.k.name[:1]) + w.k.name[1:] + title(w.pass.name)
	name := base
	for i := 1; w.types[name] || w.k.scope.Lookup(name) != nil; i++ {
		name = fmt.Sprint(base, i)
	}
	w.types[name] = true
	return name
}

// task writes the type of a part of the loop s, and its method Block, to go after the
// pass. It returns the fields of that type.
func (w *writer) task(s *stmt, typ, generic string, captured, sums []*local, shared []*usedOperand) (fields []string) {
	outer := *w
	w.Buffer = bytes.Buffer{}
	w.scope()
	for _, v := range captured {
		w.names[v] = outer.name(v)
		w.scopes[0][w.names[v]] = true
	}
	for _, u := range shared {
		w.printf("own.%s(&%s)\n", ownKinds[u.x.rank], field(u.x, u.in))
	}
	tapes := w.newTapes(s.inner)
	for _, v := range sums {
		w.printf("var %s %s\n", w.name(v), w.localType(v))
	}
	c := *s
	c.fork = nil
	b := rows([]*stmt{&c}, nil, nil)
	w.part = b[len(b)-1]
	w.body(b)
	plain, exact := split(sums)
	for _, v := range plain {
		w.printf("own.Sum(%s)\n", w.name(v))
	}
	if len(exact) > 0 {
		var names []string
		for _, v := range exact {
			names = append(names, w.name(v))
		}
		w.printf("task.exact[part] = [%d]fixed.Sum[T]{%s}\n", len(exact), strings.Join(names, ", "))
	}
	w.freeTapes(tapes)

	text, declared := w.String(), ""
	add := func(name, goType string) {
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(text) {
			fields = append(fields, name)
			declared += name + " " + goType + "\n"
		}
	}
	for _, name := range w.parameters() {
		add(name, map[bool]string{true: w.elem, false: w.typ}[name == "sign"])
	}
	for _, v := range captured {
		add(w.names[v], w.localType(v))
	}
	own, locals := "own", ""
	if len(shared)+len(plain) == 0 {
		own = "_"
	}
	if len(exact) > 0 {
		declared += fmt.Sprintf("exact [num.MaxParts][%d]fixed.Sum[T] // of the parts\n", len(exact))
	}
	if len(fields) > 0 {
		locals = fmt.Sprintf("%s := task.%s\n", strings.Join(fields, ", "), strings.Join(fields, ", task."))
	}
	wrong := w.wrong
	*w = outer
	w.wrong = wrong
	w.after += fmt.Sprintf("\n// %s is the loop over %s in %s.\ntype %s%s struct {\nparts *num.Loop[%s]\n%s}\n", typ, s.v.name, w.pass.name, typ, w.k.generic, w.elem, declared) +
		fmt.Sprintf("\n// Block runs the iterations of one part.\nfunc (task *%s%s) Block(_, part int) {\nlo, hi, %s := task.parts.Part(part)\n%s%s}\n", typ, generic, own, locals, text)
	return fields
}
