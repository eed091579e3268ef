package revgen

import "slices"

// The adjoint of a kernel in place, z <- u(x, z), has an inverse. Adjoint inverts u, and
// does
//
//	x̄ += Jxᵀ·z̄,  z̄ <- Jzᵀ·z̄
//
// Its inverse, undone, takes z forward, and does
//
//	z̄ <- Jz⁻ᵀ·z̄,  x̄ -= Jxᵀ·z̄
//
// For a local v = f(x) and a statement y += e(v) these are
//
//	Adjoint   y -= e(v),  v̄ += e'·ȳ,  and then  x̄ += f'·v̄
//	undone    y += e(v),  v̄ -= e'·ȳ,  and then  x̄ += f'·v̄
//
// The statements run in the order of the function, because what changes y later needs ȳ
// as it is after this statement. x̄ gets f'·v̄ when v is not used any more: before the first
// statement that changes x, which needs x̄ with that.
//
// A loop may carry a local h = f(h, x), which is added to operands on the way. It runs
// forward for the operands, and then back for h̄, with the values of h from a tape. What
// the operands give to h̄ in each iteration comes from another tape. The elements that h
// is computed from do not change in between (see order.go).
//
// Over fixed point the operands come back to the bit. A local of an iteration may be added
// to an operand and be part of h too: then Adjoint passes the sum of its cotangents, which
// is rounded once, and undone passes them one after the other.

// undone returns b, a program of k, with the inverse of its adjoint.
func (k *kernel) undone(b []*stmt) []*stmt {
	r := k.reverser(b)
	r.findRuns(b)
	return r.withInverse(b, facts{})
}

// withInverse returns b with the inverse of its adjoint.
func (r *reverser) withInverse(b []*stmt, f facts) []*stmt {
	out := r.out
	r.out = nil
	at, own := r.ends(b, f), defined(b)
	last := len(b) // where the values for the next iteration, or after a branch, are set
	for last > 0 && b[last-1].op == "set" {
		last--
	}
	through := func(i, place int) {
		for i--; i >= 0; i-- {
			vs := results(b[i], own)
			if n := r.runs[b[i]]; n != nil {
				vs = n.results
			}
			if at[i] == place && slices.ContainsFunc(vs, func(v *local) bool { return r.fed[v] }) {
				r.propagate(b[i], f)
			}
		}
	}
	for i, s := range b[:last] {
		through(i, i)
		r.rerun(s, f)
		if s.op == "def" && s.v.active {
			r.emit(def(r.cot(s.v), zero))
		}
	}
	sets := r.fromLast(b, last)
	through(last, len(b))
	r.out = append(r.out, sets...)
	b, r.out = r.out, out
	return b
}

// fromLast returns the statements of b from last on. A loop that runs back leaves the locals
// that it carries as they were before it, so what is set to them is computed now.
func (r *reverser) fromLast(b []*stmt, last int) []*stmt {
	carried := map[*local]bool{}
	for _, s := range b[:last] {
		for _, v := range s.carried {
			carried[v] = true
		}
	}
	sets := slices.Clone(b[last:])
	for i, s := range sets {
		if s.e.has(func(e *node) bool { return carried[e.v] }) {
			v := &local{name: s.v.name, kind: s.v.kind, active: s.e.active()}
			r.emit(def(v, s.e))
			sets[i] = set(s.v, ref(v))
		}
	}
	return sets
}

// ends returns for each statement of b where its results are not used any more. It is the
// same place for all statements of a run.
func (r *reverser) ends(b []*stmt, f facts) []int {
	at := places(b, f)
	for i, s := range b {
		for j, u := range b {
			if r.runs[s] != nil && r.runs[s] == r.runs[u] {
				at[i] = min(at[i], at[j])
			}
		}
	}
	return at
}

// rerun runs s, and inverts what its adjoint did to the cotangents of operands.
func (r *reverser) rerun(s *stmt, f facts) {
	c := *s
	if n := r.runs[s]; n != nil {
		r.out = append(r.out, n.forward(s, s)...)
		return
	}
	switch s.op {
	case "add":
		r.emit(s)
		if s.to.op == "elem" && s.e.active() {
			r.pass(s.e, signed(!s.neg, s.to.moved(cotangent)), nil)
		}
		return
	case "swap":
		r.emit(s)
		c = *s.moved(cotangent)
	case "kernel":
		c.adjoint = true
	case "loop":
		c.inner = r.withInverse(s.inner, f.inside(s, false))
		r.ran[s] = &c
		for _, v := range s.carried {
			if r.fed[v] {
				r.given[s] = append(r.given[s], v)
			}
		}
	case "cond":
		c.inner, c.els = r.withInverse(s.inner, f.inside(s, false)), r.withInverse(s.els, f.inside(s, true))
	}
	r.emit(&c)
}

// propagate passes the cotangents of the locals that s computes to what it computes them from.
func (r *reverser) propagate(s *stmt, f facts) {
	if n := r.runs[s]; n != nil {
		if n.first == s {
			r.throughRun(n)
		}
		return
	}
	r.passing = true
	r.stmt(s, f)
	r.passing = false
	if s.op == "loop" {
		r.keepForInverse(s)
	}
}

// keepForInverse lets the loop s, which has run ahead, keep what the last statement, which runs
// it back, needs.
func (r *reverser) keepForInverse(s *stmt) {
	ahead, back := r.ran[s], r.out[len(r.out)-1]
	ahead.keep = s.e != nil
	if r.tape(s) == nil {
		return
	}
	ahead.inner = append(r.pushes(s), ahead.inner...)
	tape := &local{name: "tape"}
	r.out = r.out[:len(r.out)-1]
	var pops []*stmt
	for _, v := range r.given[s] {
		g := &local{name: "d", of: v, active: true, temp: true}
		r.emit(def(g, zero))
		ahead.inner = append(ahead.inner, &stmt{op: "push", tape: tape, v: r.cot(v)}, set(r.cot(v), zero))
		back.inner = append(back.inner, add(ref(r.cot(v)), ref(g)))
		pops = append([]*stmt{{op: "pop", tape: tape, v: g}}, pops...)
	}
	back.inner = append(pops, back.inner...)
	r.emit(back)
}
