package revgen

// A tangentMap carries tangents along.
type tangentMap map[*local]*local

// tangents returns b with the tangents of all that it computes.
func tangents(b []*stmt) []*stmt { return tangentMap{}.block(b) }

func (t tangentMap) tan(v *local) *local {
	if t[v] == nil {
		t[v] = &local{name: "t", of: v, active: true, temp: true, derived: true, exact: v.exact}
	}
	return t[v]
}

func (t tangentMap) block(b []*stmt) (out []*stmt) {
	for _, s := range b {
		c := *s
		switch s.op {
		case "def", "set":
			out = append(out, s)
			if !s.v.active {
				continue
			}
			c.v, c.e = t.tan(s.v), t.of(s.e, s.v)
		case "add":
			d := c
			if d.e = t.of(s.e, nil); s.to.op == "ref" {
				d.to = ref(t.tan(s.to.v))
			} else {
				d.to = s.to.moved(tangent)
			}
			if !d.e.is(zero) {
				out = append(out, &d)
			}
		case "push", "pop":
			if c.v = t.tan(s.v); s.v.active && s.op == "push" {
				out = append(out, s, &c)
			} else if s.v.active {
				out = append(out, &c, s)
			} else {
				out = append(out, s)
			}
			continue
		case "swap":
			out = append(out, s.moved(tangent))
		case "kernel":
			c.tangent = true
		case "loop", "cond", "keep":
			c.inner, c.els = t.block(s.inner), t.block(s.els)
		}
		out = append(out, &c)
	}
	return out
}

// of returns the tangent of e, whose value is in v if e is a call or a quotient.
func (t tangentMap) of(e *node, v *local) *node {
	if !e.active() {
		return zero
	}
	var d []*node
	for _, a := range e.args {
		if e.op != "elem" {
			d = append(d, t.of(a, nil))
		}
	}
	switch a := e.args; e.op {
	case "ref":
		return ref(t.tan(e.v))
	case "elem":
		return e.moved(tangent)
	case "neg":
		return neg(d[0])
	case "+":
		return sum(d[0], d[1])
	case "-":
		return sum(d[0], neg(d[1]))
	case "*":
		if a[0].op == "ref" && a[0].v == a[1].v {
			return product(two, product(a[0], d[0]))
		}
		return sum(product(d[0], a[1]), product(a[0], d[1]))
	case "exact":
		if a[0].op == "ref" && a[0].v == a[1].v {
			return exact(product(two, a[0]), d[0]) // 2·x is in range if x² is
		}
		return sum(exact(d[0], a[1]), exact(a[0], d[1]))
	case "/", "over":
		if a[1].active() {
			return quotient(e.op, sum(d[0], neg(product(ref(v), d[1]))), a[1])
		}
		return quotient(e.op, d[0], a[1])
	default:
		s := zero
		for i := range a {
			if !d[i].is(zero) {
				d := rules[e.op](a, ref(v), d[i])[i]
				if e.toReal() {
					d = realPart(d)
				}
				s = sum(s, d)
			}
		}
		return s
	}
}
