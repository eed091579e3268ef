package revgen

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The backward pass through a loop that carries locals needs their values before each
// iteration. They go on a tape, one state for each iteration. If the function says
//
//	//revgen:snapshots 100
//
// at most 100 states are on the tape. From these the others are computed again, by the
// schedule of Treeverse (see num.Tape). With n < C(100+r, r) iterations, each runs at
// most r more times.

// tape returns the tape of a loop, or nil if the backward pass needs none.
func (r *reverser) tape(l *stmt) *local {
	if len(l.carried) == 0 || r.runs[l] != nil || !r.adjoint && !contains(l.inner, func(s *stmt) bool { return len(s.targets()) > 0 }) {
		return nil
	}
	if r.tapes[l.v] == nil {
		r.tapes[l.v] = &local{name: "tape"}
	}
	return r.tapes[l.v]
}

// pushes returns what puts the state before an iteration of l on its tape.
func (r *reverser) pushes(l *stmt) (b []*stmt) {
	t := r.tape(l)
	for _, v := range l.carried {
		b = append(b, &stmt{op: "push", tape: t, v: v})
	}
	if r.k.snapshots == nil {
		return b
	}
	n := integerLit(-1)
	if l.hi != nil {
		n = difference(l.hi, l.lo)
	}
	return []*stmt{{op: "keep", tape: t, e: l.place(), hi: n, inner: b}}
}

// place returns which iteration of l this is, from 0 on.
func (l *stmt) place() *node {
	if l.down {
		return difference(last(l.hi), ref(l.v))
	}
	return difference(ref(l.v), l.lo)
}

// pops returns what restores the state before an iteration of l from its tape.
func (r *reverser) pops(l *stmt) (b []*stmt) {
	t := r.tape(l)
	from := &local{name: "from", kind: integer}
	if r.k.snapshots != nil {
		b = append(b, &stmt{op: "back", tape: t, v: from, e: l.place()})
	}
	own := map[*local]bool{}
	for i := len(l.carried) - 1; i >= 0; i-- {
		own[l.carried[i]] = true
		b = append(b, &stmt{op: "pop", tape: t, v: l.carried[i]})
	}
	if r.k.snapshots == nil {
		return b
	}
	v := &local{name: l.v.name, kind: integer}
	ahead := *r.part(l, own, false, true)
	ahead.inner = replaced(ahead.inner, l.v, ref(v))
	ahead.inner[0].hi = l.place()
	ahead.v, ahead.e, ahead.keep, ahead.carried = v, nil, false, nil
	if l.down {
		ahead.lo, ahead.hi = binary("+", ref(l.v), integerLit(1)), difference(l.hi, ref(from))
	} else {
		ahead.lo, ahead.hi = binary("+", l.lo, ref(from)), ref(l.v)
	}
	return append(b, &ahead)
}

// taped returns the tapes of b.
func taped(b []*stmt) (tapes []*local) {
	each(b, func(s *stmt) {
		if s.op == "push" && !slices.Contains(tapes, s.tape) {
			tapes = append(tapes, s.tape)
		}
	})
	return tapes
}

// unread returns b without the values on tapes that nothing reads after they come back.
func unread(b []*stmt) []*stmt {
	type entry struct{ tape, v *local }
	at, read, back := 0, map[*local]int{}, map[entry]int{} // places in the text
	var visit func(b []*stmt, loop int)
	visit = func(b []*stmt, loop int) {
		for _, s := range b {
			at++
			inner := loop
			switch s.op {
			case "push":
			case "pop":
				if e := (entry{s.tape, s.v}); back[e] == 0 {
					back[e] = max(loop, 1)
				}
			default:
				own := *s
				own.inner, own.els = nil, nil
				for v := range count([]*stmt{&own}).reads {
					read[v] = at
				}
				if s.op == "loop" {
					inner = at
				}
			}
			visit(s.inner, inner)
			visit(s.els, inner)
		}
	}
	visit(b, 0)
	var kept func(b []*stmt) []*stmt
	kept = func(b []*stmt) (out []*stmt) {
		for _, s := range b {
			if s.tape != nil && s.v != nil && s.op != "back" && read[s.v] < back[entry{s.tape, s.v}] {
				continue
			}
			c := *s
			c.inner, c.els = kept(s.inner), kept(s.els)
			out = append(out, &c)
		}
		return out
	}
	return withoutIdleSnapshots(kept(b))
}

// withoutIdleSnapshots returns b without the loops that start from states of a tape on which nothing is
// left.
func withoutIdleSnapshots(b []*stmt) []*stmt {
	tapes, gone := taped(b), map[*local]bool{}
	var kept func(b []*stmt) []*stmt
	kept = func(b []*stmt) (out []*stmt) {
		for _, s := range b {
			if s.op == "back" && !slices.Contains(tapes, s.tape) {
				gone[s.v] = true
				continue
			}
			from := func(e *node) bool { return gone[e.v] }
			if s.op == "loop" && (s.lo.has(from) || s.hi != nil && s.hi.has(from)) {
				continue
			}
			c := *s
			c.inner, c.els = kept(s.inner), kept(s.els)
			out = append(out, &c)
		}
		return out
	}
	return kept(b)
}

// writeTapeComment writes, as a comment, what b keeps on tapes, and why.
func (w *writer) writeTapeComment(b []*stmt) {
	var names []string
	each(b, func(s *stmt) {
		if s.op == "push" && s.v.of == nil && !slices.Contains(names, s.v.name) {
			names = append(names, s.v.name)
		}
	})
	if len(names) == 0 {
		return
	}
	and := names[len(names)-1]
	its := "Its"
	if rest := names[:len(names)-1]; len(rest) > 0 {
		and, its = strings.Join(rest, ", ")+" and "+and, "Their"
	}
	text := fmt.Sprintf("An iteration needs %s from the one before. %s values go on a tape, because computing them again for each iteration of the backward pass would take quadratic time.", and, its)
	if n := w.k.snapshots; n != nil {
		text = fmt.Sprintf("An iteration needs %s from the one before. A tape keeps %s values of at most %s iterations, and they are computed again for the others, as in rev.Treeverse.", and, strings.ToLower(its), w.expr(n, 0))
	}
	w.printf("//\n%s", comment(text))
}

// comment returns a text as lines of a comment.
func comment(text string) string {
	out, line := "", "//"
	for _, word := range strings.Fields(text) {
		if utf8.RuneCountInString(line+" "+word) > 90 {
			out, line = out+line+"\n", "//"
		}
		line += " " + word
	}
	return out + line + "\n"
}

// newTapes writes statements that make the tapes of b, and returns these tapes.
func (w *writer) newTapes(b []*stmt) []*local {
	tapes := taped(b)
	for _, t := range tapes {
		made := "NewTape[" + w.elem + "]()"
		if n := w.k.snapshots; n != nil && contains(b, func(s *stmt) bool { return s.op == "keep" && s.tape == t }) {
			made = "NewSnapshots[" + w.elem + "](" + w.expr(n, 0) + ")"
		}
		w.printf("%s := num.%s\n", w.name(t), made)
	}
	return tapes
}

func (w *writer) freeTapes(tapes []*local) {
	for _, t := range tapes {
		w.printf("%s.Free()\n", w.name(t))
	}
}

// snapshots reads the number of states to keep: a number, or a parameter.
func (r *reader) snapshots(f *ast.FuncDecl, text string) {
	if text == "" {
		return
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 {
		r.k.snapshots = integerLit(n)
	}
	for obj, b := range r.env {
		if obj.Name() == text && types.Identical(obj.Type(), types.Typ[types.Int]) {
			r.k.snapshots = ref(b.v)
		}
	}
	if r.k.snapshots == nil {
		r.refuse(f, "revgen:snapshots: %s is neither a number above 0 nor a parameter that is an int", text)
	}
}

// needTape refuses a bound on tapes that are not there.
func (r *reader) needTape(f *ast.FuncDecl) {
	back := r.k.reversed(named(r.k.body), true)
	if !contains(back, func(s *stmt) bool { return s.op == "push" }) {
		r.refuse(f, "revgen:snapshots: no loop of %s needs a tape", f.Name.Name)
	}
}
