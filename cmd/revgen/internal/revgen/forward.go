package revgen

import "slices"

// A loop that carries locals needs a tape for the backward pass. If all that it and the
// statements around it compute depends on one number, they need none: the derivatives
// by this number are computed along with the values, and in the backward pass they are
// multiplied by the cotangents. That takes less time too. Over complex numbers only an
// analytic function has one such derivative.

// A run is a sequence of statements of a block whose results depend on one local.
type run struct {
	first, last *stmt
	input       *local
	results     []*local
	tangents    tangentMap
}

// findRuns finds the runs of a program, and notes for each of their statements, and
// those in them, which run it belongs to.
func (r *reverser) findRuns(b []*stmt) {
	for j := len(b) - 1; j >= 0; j-- {
		l := b[j]
		if l.op != "loop" || len(l.carried) == 0 || r.runs[l] != nil {
			continue
		}
		for i := j; i >= 0 && closed(b[i]) && (!r.k.complex || analytic(b[i])); i-- {
			if input := inputOf(b[i : j+1]); input != nil {
				r.add(b[i:j+1], input)
				break
			}
		}
	}
	for _, s := range b {
		if r.runs[s] == nil {
			r.findRuns(s.inner)
			r.findRuns(s.els)
		}
	}
}

// closed reports whether s neither reads numbers from operands nor changes operands.
func closed(s *stmt) bool {
	return !contains([]*stmt{s}, func(s *stmt) bool {
		return len(s.targets()) > 0 || s.op == "kernel" || slices.ContainsFunc(s.reads(), func(e *node) bool {
			return e.has(func(e *node) bool { return e.op == "elem" && e.kind == number })
		})
	})
}

// analytic reports whether all complex numbers in s have one derivative.
func analytic(s *stmt) bool {
	return !contains([]*stmt{s}, func(s *stmt) bool {
		return s.writes() != nil && s.e != nil && s.e.has(func(e *node) bool {
			return e.active() && (e.isReal() || e.op == "complex" || e.op == "cmplx.Conj")
		})
	})
}

// inputOf returns the only active local that b reads and does not define, or nil if
// there are more, or b changes others.
func inputOf(b []*stmt) (input *local) {
	own, ok := map[*local]bool{}, true
	each(b, func(s *stmt) {
		for _, e := range s.reads() {
			e.each(func(e *node) {
				if e.v != nil && e.v.active && !own[e.v] {
					ok = ok && (input == nil || input == e.v)
					input = e.v
				}
			})
		}
		if s.op == "def" {
			own[s.v] = true
		}
		ok = ok && (s.writes() == nil || own[s.writes()])
	})
	if !ok {
		return nil
	}
	return input
}

// add notes that b is a run.
func (r *reverser) add(b []*stmt, input *local) {
	n := &run{first: b[0], last: b[len(b)-1], input: input, tangents: tangentMap{}}
	each(b, func(s *stmt) { r.runs[s] = n })
	for v := range defined(b) {
		if v.active && contains(r.body, func(s *stmt) bool {
			own := *s
			own.inner, own.els = nil, nil
			return r.runs[s] != n && reads(&own, v) > 0
		}) {
			n.results = append(n.results, v)
		}
	}
	slices.SortFunc(n.results, func(v, w *local) int { return n.place(b, v) - n.place(b, w) })
}

// place returns which statement of b defines v.
func (n *run) place(b []*stmt, v *local) int {
	return slices.IndexFunc(b, func(s *stmt) bool { return s.op == "def" && s.v == v })
}

// forward returns part, a part of statement s of n, with the derivatives by the input.
func (n *run) forward(s, part *stmt) (b []*stmt) {
	if s == n.first {
		b = append(b, &stmt{op: "note", v: n.input})
	}
	return append(b, replaced(n.tangents.block([]*stmt{part}), n.tangents.tan(n.input), one)...)
}

// throughRun passes the cotangents of the results of n to its input.
func (r *reverser) throughRun(n *run) {
	r.fed[n.input] = true
	for _, v := range n.results {
		r.emit(add(ref(r.cot(n.input)), product(ref(r.cot(v)), r.conj(ref(n.tangents.tan(v))))))
	}
}
