package revgen

import (
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/internal/long"
)

// A scribe writes random functions of plain Go, for their gradients. Its expressions are short and have few
// variables, which come again and change in between, in branches that most calls take or leave by an integer:
// what the generator computes once, saves, puts off or moves must notice that.
type scribe struct {
	rnd    *rand.Rand
	out    strings.Builder
	vars   []datum
	own    int      // where the locals of the present block begin in vars
	depth  int      // of blocks
	left   int      // how many statements the function may still have
	loops  []string // the labels of the loops around
	calls  []string // functions of two numbers and an integer, as formats
	pairs  []string // those with two results
	result string   // what the function returns
	leave  string   // how, as a format
	plain  bool     // it has numbers and branches alone
	next   int
}

// A datum is a variable of a random function. Its kind is one of
//
//	f  a number                s  a slice of 4 elements or more    a  an array of 4 numbers
//	z  a complex number        v  a slice as long as y             m  4 slices as long as y
//	k  an integer, 0 or more   p  a state                          q  a slice of 2 states
//	i  an index, 0 to 3        j  an index of y                    c, x, y  what does not change
type datum struct{ name, kind string }

// filled is fmt.Sprintf of a format that may leave out some arguments.
func filled(format string, args ...any) string {
	text, _, _ := strings.Cut(fmt.Sprintf(format, args...), "%!(EXTRA")
	return text
}

func (s *scribe) line(format string, args ...any) { s.out.WriteString(filled(format, args...) + "\n") }

func (s *scribe) pick(of ...string) string { return of[s.rnd.IntN(len(of))] }

func (s *scribe) name(prefix string) string { s.next++; return prefix + strconv.Itoa(s.next) }

// once reports true once in n times.
func (s *scribe) once(n int) bool { return s.rnd.IntN(n) == 0 }

// of returns a variable of one of the kinds, more often a late one, or "".
func (s *scribe) of(kinds string) string {
	var names []string
	for i, v := range s.vars {
		if strings.Contains(kinds, v.kind) && !slices.ContainsFunc(s.vars[i+1:], func(w datum) bool { return w.name == v.name }) {
			names = append(names, v.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	if s.once(3) {
		return s.pick(names...)
	}
	return s.pick(names[max(0, len(names)-4):]...)
}

// declare returns the name of a new variable, often one of an outer block or of what is written.
func (s *scribe) declare(kind string) string {
	name := s.pick("t", "t1", "tmp", "i1", "w1", "g", "grad", "value", "tape", "num", "scratch", "bar", "x1")
	if kind == "f" && s.once(4) {
		name = s.pick("a", "b", "c")
	}
	if s.once(2) || slices.ContainsFunc(s.vars[s.own:], func(v datum) bool { return v.name == name }) {
		name = s.name("v")
	}
	s.vars = append(s.vars, datum{name, kind})
	return name
}

// define writes the definition of a new variable.
func (s *scribe) define(kind, format string, args ...any) string {
	e := filled(format, args...)
	name := s.declare(kind)
	s.line("%s := %s\n_ = %s", name, e, name)
	return name
}

func (s *scribe) index() string {
	if i := s.of("i"); i != "" && !s.once(3) {
		return s.pick(i, i, "3-"+i, "("+i+"+1)%4")
	}
	if s.once(4) {
		return s.of("k") + "%4"
	}
	return strconv.Itoa(s.rnd.IntN(4))
}

// vector returns a slice as long as y, one that may change if write is set.
func (s *scribe) vector(write bool) string {
	switch v, m := s.of("v"), s.of("m"); {
	case !write && (v == "" || s.once(4)):
		return s.of("yv")
	case v != "" && (m == "" || s.once(2)):
		return v
	case m != "":
		return m + "[" + s.index() + "]"
	}
	return ""
}

// place returns a number that can be set.
func (s *scribe) place() string {
	if j := s.of("j"); j != "" && s.once(2) {
		if v := s.vector(true); v != "" {
			return v + "[" + s.pick(j, j, j, "len(y)-1-"+j) + "]"
		}
	}
	for {
		switch s.rnd.IntN(12) {
		case 0, 1:
			if v := s.of("sa"); v != "" {
				return v + "[" + s.index() + "]"
			}
		case 2:
			if v := s.of("p"); v != "" {
				return v + s.pick(".u", ".w", ".c["+s.index()+"]")
			}
		case 3:
			if v := s.of("q"); v != "" {
				return v + "[" + s.of("k") + "%2]" + s.pick(".u", ".w", ".c["+s.index()+"]")
			}
		default:
			return s.of("f")
		}
	}
}

func (s *scribe) atom() string {
	switch s.rnd.IntN(12) {
	case 0:
		return s.of("x") + "[" + s.index() + "]"
	case 1:
		return s.pick("0.3", "0.7", "1.3", "0.5", "2.5")
	case 2:
		if j := s.of("j"); j != "" {
			return "y[" + j + "]"
		}
	case 3, 4, 5:
		return s.place()
	}
	return s.of("fc")
}

// expr returns a number of moderate size.
func (s *scribe) expr() string {
	a, f := s.atom, s.of("fc")
	if s.once(3) {
		f = s.place()
	}
	n := s.rnd.IntN(27)
	if s.plain && !s.once(4) {
		n %= 13
	}
	switch n {
	case 0, 1, 2:
		return a() + "*" + a()
	case 3, 4:
		return a() + "*" + a() + s.pick(" + ", " - ") + a() + "*" + a()
	case 5:
		return a() + s.pick("*", " + ", " - ") + a() + s.pick("*", " + ", " - ") + a()
	case 6, 7:
		return "math.Sin(" + f + ")"
	case 8, 9:
		return "math.Cos(" + f + ")"
	case 10:
		return "math.Sin(" + f + ")*math.Cos(" + f + ")"
	case 11:
		return a() + "/(1.5 + " + f + "*" + f + ")"
	case 12:
		return "0.5*(" + a() + " - " + a() + ")"
	case 13:
		return filled(s.pick("math.Tanh(%s)", "math.Exp(-%[1]s*%[1]s)", "math.Sqrt(1+%[1]s*%[1]s)", "math.Log(2+math.Sin(%s))", "math.Atan(%s)", "math.Abs(%s)", "1/(1+math.Exp(-%s))", "math.Erf(%s)"), f)
	case 14:
		return filled(s.pick("math.Floor(%s)*%s", "math.Copysign(%s, %s)", "math.Mod(%s, 0.7)*%s", "float64(int(%s))*%s", "math.Round(2*%s)+%s", "math.FMA(%s, 0.5, %s)", "math.Hypot(%s, 1+%s)", "math.Pow(2+math.Sin(%s), %s)", "math.Atan2(%s, 2+math.Cos(%s))"), f, a())
	case 15:
		return s.pick("max", "min", "math.Max", "math.Min") + "(" + a() + ", " + a() + ")"
	case 16, 17:
		if len(s.calls) > 0 {
			return filled(s.pick(s.calls...), a(), a(), s.of("ki")+"%4")
		}
	case 18:
		return filled(s.pick("total(%s, %s)", "apply(helper, %s, %s)", "apply(math.Hypot, %s, 1+%s)", "apply(func(p, q float64) float64 { return p*%s - math.Sin(q) }, %s, 0.5)", "power(%s, %s, 3)", "half(%s) + %s"), a(), a())
	case 19:
		if z := s.of("z"); z != "" {
			return filled(s.pick("real(%s)", "imag(%s*%[1]s)", "cmplx.Abs(%s+2)", "real(cmplx.Exp(complex(0, imag(%s))))"), z)
		}
	case 20:
		if p := s.of("p"); p != "" {
			return p + ".energy()"
		}
	case 21:
		return s.pick("float64("+s.of("ki")+")", "float64(len(y))", "float64(1-2*("+s.of("ki")+"%2))") + "*" + a()
	case 22:
		return "-" + a()
	case 23:
		return "(" + a() + " + " + a() + ")*(" + f + " - " + a() + ")"
	case 24:
		v := s.vector(false)
		return s.pick("sum("+v+")", "sum("+s.of("sx")+"[:3])", "dot("+v+", y)", "floats.Dot("+v+", y)", "total("+v+"...)")
	}
	return a()
}

func (s *scribe) cond() string {
	k := s.of("ki")
	switch s.rnd.IntN(16) {
	case 0:
		return s.atom() + s.pick(" > ", " < ") + s.pick("0.41", s.atom())
	case 1:
		return k + " > 0 && " + s.atom() + " < " + s.atom()
	case 2:
		return k + "%2 == 0 || len(y) > 1"
	case 3:
		return "!(" + k + " > 1)"
	}
	return filled(s.pick("n > %d", "n == %d", "%[2]s > %[1]d", "%[2]s == %[1]d", "%[2]s%%2 == %[1]d%%2", "n < %d"), s.rnd.IntN(4), k)
}

// block writes n statements that are a block of their own, and end in leave.
func (s *scribe) block(n int, leave ...string) {
	vars, own := len(s.vars), s.own
	s.own = vars
	s.depth++
	for range min(n, s.left) {
		s.stmt()
	}
	s.use()
	for _, text := range leave {
		s.line("%s", text)
	}
	s.depth--
	s.vars, s.own = s.vars[:vars], own
}

// use adds some locals of the present block to outer ones.
func (s *scribe) use() {
	own := s.vars[s.own:]
	s.vars = s.vars[:s.own]
	for _, v := range own {
		to := s.of("f")
		if v.kind == "f" && s.once(2) && !slices.ContainsFunc(own, func(w datum) bool { return w.name == to || w.name == v.name && w != v }) {
			s.line("%s += 0.2*%s", to, v.name)
		}
	}
	s.vars = append(s.vars, own...)
}

// exit returns a statement that leaves the block, or nothing.
func (s *scribe) exit() []string {
	n := len(s.loops)
	if s.once(8) {
		return []string{filled(s.leave, s.result)}
	}
	if n == 0 || s.once(2) {
		return nil
	}
	return []string{s.pick("continue", s.pick("break ", "continue ")+s.loops[s.rnd.IntN(n)])}
}

// loop writes a loop. body writes what is in it before other statements.
func (s *scribe) loop(head string, vars []datum, first string) {
	label := strings.ToUpper(s.name("l"))
	outer, own, from := len(s.vars), s.own, s.out.Len()
	s.line("%s {\n%s", head, first)
	s.vars, s.own, s.loops = append(s.vars, vars...), outer, append(s.loops, label)
	s.block(1+s.rnd.IntN(3), s.exit()...)
	s.vars, s.own, s.loops = s.vars[:outer], own, s.loops[:len(s.loops)-1]
	s.line("}")
	if text := s.out.String(); strings.Contains(text[from:], " "+label+"\n") { // a label must be used
		s.out.Reset()
		s.line("%s%s:\n%s", text[:from], label, strings.TrimSuffix(text[from:], "\n"))
	}
}

func (s *scribe) stmt() {
	s.left--
	inner := 1 + s.rnd.IntN(4)
	n := s.rnd.IntN(40)
	if s.plain {
		n = min(s.rnd.IntN(34), 23) // many branches
	}
	switch {
	case n < 6:
		s.define("f", "%s", s.expr())
	case n < 11:
		s.line("%s = %s", s.place(), s.expr())
	case n < 14:
		s.line("%s %s 0.3*(%s)", s.place(), s.pick("+=", "-="), s.expr())
	case n == 14:
		s.line("%s %s %s", s.place(), s.pick("*=", "*=", "/="), "(1.5 + math.Sin("+s.atom()+"))")
	case n == 15:
		v, a, b := s.of("f"), s.declare("f"), s.declare("f")
		s.line("%[1]s, %[2]s := math.Sincos(%[3]s)\n_, _ = %[1]s, %[2]s", a, b, v)
	case n == 16:
		p, q := s.place(), s.place()
		s.line("%s, %s = %s, %s", p, q, s.pick(q, s.expr()), s.pick(p, s.expr()))
	case n == 17:
		if len(s.pairs) > 0 {
			call := filled(s.pick(s.pairs...), s.atom(), s.atom(), s.of("ki")+"%4")
			p := s.place()
			if s.once(2) {
				s.line("%s = %s", s.pick(p+", "+s.of("f"), "_, "+p, p+", _"), call)
				return
			}
			a, b := s.declare("f"), s.declare("f")
			s.line("%[1]s, %[2]s := %[3]s\n_, _ = %[1]s, %[2]s", a, b, call)
		}
	case n == 18:
		s.line(s.pick("%[1]s++", "%[1]s += %[2]s", "%[1]s = (%[1]s*2 + 1) %% 5", "%[1]s = int(math.Abs(%[3]s)) %% 3"), s.of("k"), s.of("ki"), s.expr())
	case n == 19:
		s.define("k", "%s", s.pick("n/2", "len(y)%3", s.of("ki")+"+1", "int(2*math.Abs("+s.atom()+"))%4"))
	case n < 24 && s.depth < 4:
		vars := len(s.vars)
		if s.once(4) {
			v := s.pick("t", "tmp", "r")
			s.line("if %s := %s; %s {", v, s.expr(), s.cond()+" || "+v+" > 0.3")
			s.vars = append(s.vars, datum{v, "f"})
		} else {
			s.line("if %s {", s.cond())
		}
		s.block(inner, s.exit()...)
		switch s.rnd.IntN(4) {
		case 0:
			s.line("} else if %s {", s.cond())
			s.block(inner, s.exit()...)
		case 1:
			s.line("} else {")
			s.block(inner)
		}
		s.line("}")
		s.vars = s.vars[:vars]
	case n == 24 && s.depth < 4:
		s.line("switch %s {\ncase 0:", s.of("ki"))
		s.block(inner, s.exit()...)
		s.line("%s", s.pick("default:", "case 1, 2:"))
		s.block(inner)
		s.line("case 3:")
		s.block(inner)
		s.line("}")
	case n < 29 && s.depth < 3:
		i, k, f := s.pick("i", "j", "i1", s.name("i")), s.of("ki"), s.of("f")
		switch s.rnd.IntN(10) {
		case 0, 1:
			s.loop("for "+i+" := range "+s.pick("4", "3", "n"), []datum{{i, "i"}}, "_ = "+i)
		case 2:
			s.loop(filled("for %[1]s := %[2]s; %[1]s >= 0; %[1]s--", i, s.pick("n", "3")), []datum{{i, "i"}}, "")
		case 3:
			s.loop(filled("for %[1]s := %[2]s; %[1]s < 4; %[1]s += 2", i, s.pick("0", "1", "n")), []datum{{i, "i"}}, "")
		case 4:
			v := s.name("e")
			s.loop("for "+i+", "+v+" := range "+s.pick(s.of("sx")+"[:4]", s.of("sax")+"[1:4]"), []datum{{i, "i"}, {v, "f"}}, filled("_, _ = %s, %s", i, v))
		case 5:
			i = s.name("i") // the condition may have another i
			s.loop(filled("for %[1]s := 0; %[1]s < 3 && (%[2]s); %[1]s++", i, s.cond()), []datum{{i, "i"}}, "")
		case 6:
			v := s.name("n")
			s.line("%s := %s %% 3", v, k)
			s.loop("for", []datum{{v, "i"}}, filled("if %s > 2 || %s > 9 {\nbreak\n}\n%[1]s++", v, f))
		default:
			v := s.vector(false)
			e := s.name("e")
			s.loop("for "+i+", "+e+" := range "+v, []datum{{i, "j"}, {e, "f"}}, filled("_, _ = %s, %s", i, e))
		}
	case n < 33:
		s.vectors()
	case n < 36:
		s.memory()
	case n == 36 && s.depth < 3: // a function that reads and changes what is around it
		g := s.name("g")
		s.line("%s := func(p float64) float64 {", g)
		loops, result, leave := s.loops, s.result, s.leave
		s.vars, s.loops, s.result, s.leave = append(s.vars, datum{"p", "f"}), nil, "0.5*p", "return %s"
		s.block(inner, "return p*"+s.of("f")+"\n}")
		s.vars, s.loops, s.result, s.leave = s.vars[:len(s.vars)-1], loops, result, leave
		s.line("%s = %s(%s)", s.of("f"), g, s.atom())
		if s.once(2) {
			s.line("%s = %s(1) - %[2]s(0.5)", s.of("f"), g)
		}
	case n == 37 && s.of("z") != "":
		s.line("z = %s", filled(s.pick("z*complex(0.3, %s)", "cmplx.Exp(complex(0, %s))", "complex(%s, imag(z))", "cmplx.Tanh(z)-complex(%s, 0.5)", "cmplx.Conj(z)/complex(2, %s)"), s.atom()))
	default:
		s.line("%s = math.Tanh(%s)", s.place(), s.expr())
	}
}

// vectors writes a loop or a call over whole slices.
func (s *scribe) vectors() {
	v, w, m, a := s.vector(true), s.vector(false), s.of("m"), s.of("s")
	if v == "" {
		v = s.define("v", "make([]float64, len(y))")
	}
	if m == "" || a == "" || s.once(3) {
		text := s.pick("f += v[q]*w[q]", "v[q] += e*w[q]", "v[q] = e*w[q]", "v[q] *= e", "v[q] -= e", "v[q] = w[q]", "v[q] = 0", "f += math.Exp(0.3*w[q])", "f += w[q]",
			"v[q] = math.Exp(w[q]-e)\nf += v[q]", "f += 0.5*w[q]*w[q]", "f = max(f, w[q])", "v[q] += w[q]*w[q]", "v[q] = math.Tanh(w[q])*e", "f -= v[q]*e", "f = f*0.5 + w[q]", "f += v[q]*v[q]\nv[q] = f")
		s.line("for q := range y {\n%s\n}", strings.NewReplacer("math", "math", "f", s.place(), "v", v, "w", w, "e", s.atom()).Replace(text))
		return
	}
	text := s.pick("a[h] += m[h][q]*w[q]", "v[q] += m[h][q]*a[h]", "m[h][q] += a[h]*w[q]", "m[h][q] *= e", "a[h] += m[h][q]", "m[h][q] = a[h] - w[q]", "f += a[h]*m[h][q]*w[q]")
	text = strings.NewReplacer("f", s.of("f"), "v", v, "w", w, "e", s.of("f"), "m", m, "a", a).Replace(text)
	heads := []string{"for h := range 4 {", "for q := range y {"}
	if s.once(3) {
		slices.Reverse(heads)
	}
	s.line("%s\n%s\n%s\n}\n}", heads[0], heads[1], text)
}

// memory writes what makes, copies, exchanges or shares memory.
func (s *scribe) memory() {
	list, v, m, p, a := s.of("s"), s.of("v"), s.of("m"), s.of("p"), s.of("a")
	ok := func(of ...string) bool { return !slices.Contains(of, "") }
	switch n := s.rnd.IntN(26); {
	case n == 0:
		s.define("s", s.pick("make([]float64, 4)", "append([]float64(nil), %s[:4]...)", "[]float64{%[2]s, 1, %[2]s, %[2]s*%[2]s}"), s.of("sx"), s.atom())
	case n == 1:
		s.define("v", s.pick("make([]float64, len(y))", "append([]float64(nil), %s...)"), s.vector(false))
	case n == 2:
		v := s.define("m", "make([][]float64, 4)")
		s.line("for i := range %[1]s {\n%[1]s[i] = %[2]s\n}", v, s.pick("make([]float64, len(y))", "append([]float64(nil), y...)"))
	case n == 3:
		s.define("p", "state{u: %s, w: %s}", s.atom(), s.atom())
	case n == 4:
		s.define("a", s.pick("[4]float64{%s, 1, %s}", "[4]float64{%s, 0, 0, %s}"), s.expr(), s.atom())
	case n == 5 && ok(p):
		s.define("p", "%s", p)
	case n == 6 && ok(a):
		s.define("a", "%s", a)
	case n == 7 && ok(list): // another name
		s.define("s", "%s%s", list, s.pick("", "[:]"))
	case n == 8 && ok(v):
		s.define("v", "%s", v)
	case n == 9 && ok(m):
		s.define("v", "%s[%s]", m, s.index())
	case n == 10:
		v := s.define("s", "make([]float64, 6)")
		s.line("%s[1] = %s", v, s.expr())
		s.define("s", "%s[%s:]", v, s.pick("1", "2"))
	case n == 11 && ok(list):
		s.line("%s = append(%[1]s, %s)", list, s.expr())
	case n == 12 && ok(list):
		w := s.of("s")
		s.line("%s, %s = %[2]s, %[1]s", list, w)
	case n == 13 && ok(v):
		w := s.of("v")
		s.line("%s, %s = %[2]s, %[1]s", v, w)
	case n == 14 && ok(m):
		s.line("%[1]s[0], %[1]s[%[2]s] = %[1]s[%[2]s], %[1]s[0]", m, s.index())
	case n == 15 && ok(v):
		s.line(s.pick("copy(%s, %s)", "clear(%s)\n_ = %s"), v, s.vector(false))
	case n == 16 && ok(list):
		s.line(s.pick("copy(%[1]s, %[2]s)", "clear(%[1]s[:2])", "copy(%[1]s[1:], %[1]s)"), list, s.of("sx"))
	case n == 17 && ok(p):
		s.line("%s = %s", p, s.pick(s.of("p"), "state{u: "+s.expr()+"}", "state{"+s.atom()+", "+p+".u, "+p+".c}"))
	case n == 18 && ok(a):
		s.line("%s = %s", a, s.pick(s.of("a"), "[4]float64{0, "+s.expr()+"}"))
	case n == 19:
		s.define("q", "[]state{{u: %s}, {w: %s}}", s.expr(), s.atom())
	case n == 20 && ok(s.of("q"), p):
		s.line(s.pick("%[1]s[%[2]s%%2] = %[3]s", "%[3]s = %[1]s[%[2]s%%2]", "%[1]s[0], %[1]s[1] = %[1]s[1], %[1]s[0]", "for _, e := range %[1]s {\n%[3]s.u += 0.3*e.w\n}", "for i := range %[1]s {\np := &%[1]s[i]\np.u *= p.w\np.w += 0.5\n}"), s.of("q"), s.of("k"), p)
	case n == 22 && ok(s.of("q")):
		s.line("%s = append(%[1]s, state{u: %s, w: %s})", s.of("q"), s.expr(), s.atom())
	case n == 23 && ok(s.of("z")):
		s.line("{\nzs := []complex128{%[1]s, complex(%[2]s, 1)}\nzs[0], zs[1] = zs[1]+%[1]s/2, zs[0]*zs[1]\nzs[%[3]s%%2] -= 0.5i\n%[1]s = zs[n%%2]\n}", s.of("z"), s.atom(), s.of("k"))
	case n > 23 && ok(list): // of gonum
		s.line("{\nv, w := %s[:4], append([]float64(nil), %s[:4]...)\n_, _ = v, w\n%s\n}", list, s.of("sx"), strings.ReplaceAll(s.pick(
			"floats.AddScaled(v, math.Tanh(F), w)",
			"F = floats.LogSumExp(w) - floats.Max(v)",
			"c := v\ncopy(c[1:], v)",
			"left := mat.NewDense(2, 2, v)\nvar product mat.Dense\nproduct.Mul(left, left.T())\nF += math.Sin(product.At(0, 1))",
			"p, q := mat.NewVecDense(4, v), mat.NewVecDense(4, nil)\nq.ScaleVec(0.5, p)\nq.MulElemVec(q, mat.NewVecDense(4, w))\np.AddScaledVec(q, -0.5, p)",
			"c := mat.NewDense(2, 2, v)\nc.Mul(mat.NewDense(2, 2, w), c)\nc.Apply(func(_, _ int, v float64) float64 { return math.Tanh(v) }, c)",
		), "F", s.of("f")))
	case n == 21 && ok(p):
		s.line(s.pick("%[3]s = %[1]s.step(%[2]s)", "%[1]s.step(%[2]s)\n_ = %[3]s"), p, s.expr(), s.of("f"))
	}
}

// sum writes a loop that adds to a number, and otherwise changes what is its own, so that it may go ahead and
// back in one.
func (s *scribe) sum() {
	outer, own := slices.Clone(s.vars), s.own
	s.vars = []datum{{"e", "c"}, {"j", "j"}}
	for _, v := range outer {
		if kind := map[string]string{"f": "c", "s": "x", "v": "y", "i": "i", "x": "x", "y": "y", "c": "c"}[v.kind]; kind != "" {
			s.vars = append(s.vars, datum{v.name, kind})
		}
	}
	s.line("acc := 0.0\nfor j, e := range y {\nt, u, k, own := %s, %s, j, []float64{e, 1, 0, e}\n_, _, _, _ = t, u, k, own", s.pick("e", "x[1]"), "x[n]")
	s.own = len(s.vars)
	s.vars, s.loops = append(s.vars, datum{"t", "f"}, datum{"u", "f"}, datum{"k", "k"}, datum{"own", "s"}), append(s.loops, "")
	for range 4 {
		s.stmt()
	}
	s.line("acc += %s\n}", s.expr())
	outer = append(outer, datum{"acc", "f"})
	s.vars, s.own, s.loops = outer, own, s.loops[:len(s.loops)-1]
}

// function writes the body of a function, whose parameters are declared, and returns its result.
func (s *scribe) function(statements int, leave string) {
	s.leave, s.left = leave, 3*statements
	if s.plain {
		s.left *= 2
	}
	s.vars, s.own, s.depth, s.loops, s.result = []datum{{"x", "x"}, {"y", "y"}, {"a", "f"}, {"b", "f"}, {"c", "f"}, {"n", "i"}, {"k", "k"}}, 0, 0, nil, "a + b*c"
	s.line("k, c := n, %s\n_, _ = k, c", s.pick("0.2", "x[3]", "x[0]*x[1]"))
	for _, v := range []struct {
		datum
		text, result string
	}{
		{datum{"list", "s"}, "[]float64{x[0], 1, x[1], 2}", "sum(list[:4])"},
		{datum{"vec", "v"}, "append([]float64(nil), y...)", "dot(vec, y)"},
		{datum{"rows", "m"}, "table(x[:4], y)", "sum(rows[1])*sum(rows[n])"},
		{datum{"st", "p"}, "state{u: x[2], w: 0.5}", "st.u*st.w + st.c[1]"},
		{datum{"arr", "a"}, "[4]float64{x[3], a}", "arr[0]*arr[2] + arr[n]"},
		{datum{"z", "z"}, "complex(x[1], 0.5)", "real(z)*imag(z)"},
	} {
		if !s.plain && s.once(2) {
			s.vars, s.result = append(s.vars, v.datum), s.result+" + "+v.result
			s.line("%s := %s\n_ = %[1]s", v.name, v.text)
		}
	}
	first := len(s.vars)
	for i := range statements {
		if s.stmt(); i == statements/2 && !s.plain && s.once(2) {
			s.sum()
			s.result += " + acc"
		}
	}
	s.own = first
	s.use()
}

// rows writes a function with a Jacobian, of loops whose iterations mostly store rows of their own. x has 20
// elements, dst has ten or more, and the four of at, and of slices of indices, are 0 to 3.
func (s *scribe) rows(name string) {
	s.line("//revgen:jacobian x\nfunc %s(dst, x []float64, at []int) {\nz, c, u, p, n, t := []float64{x[0], 1, 2, 0.5}, 1, 0.5, x[2:], []int{1, 2, 3, 0}, [][]int{{0, 1}, {2, 3}}\n_, _, _, _, _, _ = z, c, u, p, n, t", name)
	var loops []string
	ints := []string{"n", "t[0]", "t[1]"} // those with fewer than four elements have two
	cell := func() string {
		n := ints[s.rnd.IntN(len(ints))]
		return n + "[" + s.pick("0", "1", "c%2", "len("+n+")-1") + "]"
	}
	index := func() string {
		if s.rnd.IntN(5) == 0 {
			return s.pick(cell(), "slices.Max("+s.pick(ints...)+"["+s.pick(":", "1:", ":1")+"])", "sort.SearchInts(n[1:], "+strconv.Itoa(s.rnd.IntN(4))+")")
		}
		if n := len(loops); n > 0 && s.rnd.IntN(4) > 0 {
			i := loops[s.rnd.IntN(n)]
			return s.pick(i, i, "at["+i+"]", "c%4", "(c+"+i+")%4", "3-"+i)
		}
		return s.pick("0", "1", "c%4", "at[c%4]", strconv.Itoa(s.rnd.IntN(4)))
	}
	vars := []string{"u"}
	value := func() string {
		switch s.rnd.IntN(12) {
		case 0, 1, 2:
			return "x[6+3*(" + index() + ")+" + s.pick("0", "1", "2", "c%2") + "]"
		case 3:
			return "x[" + index() + "]"
		case 4:
			return "z[" + index() + "]"
		case 5, 6:
			return "p[" + s.pick("0", "1", "2", index()) + "]"
		case 7:
			if s.rnd.IntN(4) == 0 {
				return "dst[2*(" + index() + ")]"
			}
		}
		return s.pick(vars...)
	}
	expr := func() string {
		return s.pick(value(), value()+"*"+value(), "math.Sin("+value()+")", value()+" - 0.5*"+value(), "helper("+value()+", "+value()+")", "math.Floor("+value()+")", "max("+value()+", "+value()+")")
	}
	guards := 0
	var body func(depth int)
	body = func(depth int) {
		n, m := len(vars), len(ints)
		for range 1 + s.rnd.IntN(3) {
			k := s.rnd.IntN(22)
			if guards > 0 && (k > 17 || k == 12 || k == 13) && s.rnd.IntN(4) > 0 {
				k = 0 // if an index changes here, no structure is found
			}
			if len(loops) == 0 && s.rnd.IntN(3) > 0 {
				k = 17
			}
			switch {
			case k < 6:
				s.line("dst[2*(%s)+%s] %s %s", index(), s.pick("0", "1"), s.pick("=", "=", "=", "+=", "-="), expr())
			case k < 9:
				v := s.name("v")
				s.line("%s := %s\n_ = %s", v, expr(), v)
				vars = append(vars, v)
			case k < 11:
				own := slices.DeleteFunc(slices.Clone(vars), func(v string) bool { return v[0] == 'p' || v == "u" && s.rnd.IntN(4) > 0 }) // not of x
				if len(own) == 0 {
					continue
				}
				s.line("%s = %s", s.pick(own...), expr())
			case k == 11 && s.rnd.IntN(3) == 0:
				s.line("z[%s] %s %s", index(), s.pick("=", "+="), expr())
			case k == 12:
				s.line("c = (c + %s) %% 3", s.pick("1", "2", index()))
			case k == 13 && s.rnd.IntN(2) == 0:
				s.line("p = x[3*(%s):]", index())
			case k == 18, k == 19:
				switch v := s.name("n"); s.rnd.IntN(4) {
				case 0:
					s.line("%s := %s\n_ = %s", v, s.pick("n[2:]", "n[:2]", "slices.Clip(n)", "append([]int(nil), n...)", "t[c%2]", "t[("+index()+")%2]", s.pick(ints...)), v)
					ints = append(ints, v)
				case 1:
					s.line("bump(%s[%s:], %s)", s.pick(ints...), s.pick("0", "1"), index())
				default:
					s.line("%s = %s", cell(), s.pick(s.pick(index(), "3-"+cell()), s.pick(index(), index(), index(), "int(1 + "+value()+")&3")))
				}
			case k > 19 && s.rnd.IntN(4) == 0: // an index depends on x by a part
				v := s.name("n")
				s.line("%[1]s := []int{%[2]s, 1, 0}\n%[3]s\n%[4]s += x[6+3*%[5]s]", v, index(), s.pick(v+"[1] = int(1 + "+value()+")&3", "for i := 0; i < 2 && "+value()+" > 0.1; i++ {\nbump("+v+"[1:], 1)\n}"),
					"dst[2*("+index()+")+1]", s.pick(v+"[1]", "slices.Max("+v+"[1:])"))
			case k > 19: // an index changes by another name of its slice
				v, to := s.name("n"), "dst[2*("+index()+")+1]"
				at := s.pick("0", "len("+v+")-1")
				s.line("%s := %s\n%s += x[6+3*%s[%s]]", v, s.pick("make([]int, 2)", "make([]int, 3)", "n[2:]", "append([]int(nil), n...)"), to, v, at)
				s.line("%s", s.pick("bump("+v+"["+at+":], 1)", "{\nb := "+s.pick(v+"[:]", "slices.Clip("+v+")")+"\nb["+at+"] = "+s.pick("3-b["+at+"]", index())+"\n}"))
				s.line("%s -= u*x[6+3*%s[%s]]", to, v, at)
				ints = append(ints, v)
			case k == 14 && s.rnd.IntN(5) == 0:
				v := s.name("i")
				s.line("for %[1]s := 0; %[1]s < 2 && %[2]s > 0.1; %[1]s++ {\n%[3]s", v, value(), s.pick(cell()+" = 3-"+cell(), "bump("+s.pick(ints...)+"[1:], 1)", cell()+" = "+v))
				s.line("}")
			case k == 14:
				s.line("if %s {", s.pick("c > 1", value()+" > 0.3", index()+" < 2 && "+value()+" < "+value(), "int(4*"+value()+") > 1",
					value()+" < "+value()+" && "+index()+" < 2", "x["+index()+"] > 2 && 4/"+cell()+" > at["+cell()+"+9]",
					"x["+index()+"] > 2 && 4/"+cell()+" > at["+cell()+"+9]"+" && c > 0"))
				guards++
				body(depth - 1)
				guards--
				if len(loops) > 0 && s.rnd.IntN(3) == 0 {
					s.line("%s", s.pick("continue", "continue", "continue", "break"))
				}
				s.line("}")
			case k < 18 && depth > 0:
				i := s.name("i")
				s.line("for %s {\n_ = %s", fmt.Sprintf(s.pick("%[1]s := range 4", "%[1]s := range at", "%[1]s := 3; %[1]s >= 0; %[1]s--", "%[1]s := 0; %[1]s < len(at); %[1]s += 2", "%[1]s := 0; %[1]s < 3 && z[0] < 9; %[1]s++"), i), i)
				outer := len(vars)
				if s.rnd.IntN(3) > 0 {
					v := s.name("p")
					s.line("%s := x[6+3*%s : 9+3*%s]\nvar w [3]float64\n_, _ = %s, w", v, i, i, v)
					vars = append(vars, v+"[0]", v+"[2]", "w[1]")
				}
				loops = append(loops, i)
				body(depth - 1)
				s.line("dst[2*%s] = %s", i, expr())
				loops, vars = loops[:len(loops)-1], vars[:outer]
				s.line("}")
			}
		}
		vars, ints = vars[:n], ints[:m]
	}
	for range 1 + s.rnd.IntN(3) {
		body(2)
	}
	s.line("dst[9] = %s\n}\n", expr())
}

const fuzzHead = `package written

import (
	"math"
	"math/cmplx"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

var _, _, _, _, _ = floats.Dot, mat.Dot, cmplx.Abs, slices.Max[[]int], sort.Ints

func bump(at []int, k int) { at[0] = (at[0] + k) % 4 }

type state struct {
	u, w float64
	c    [4]float64
}

func (p *state) step(e float64) float64 {
	p.u += 0.3 * p.w * e
	p.c[1] = p.u
	return p.w - e
}

func (p state) energy() float64 {
	p.u *= 2
	return p.u*p.w + p.c[1]
}

func dot(x, y []float64) (s float64) {
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// table returns rows that are multiples of y.
func table(x, y []float64) [][]float64 {
	rows := make([][]float64, len(x))
	for i, v := range x {
		rows[i] = make([]float64, len(y))
		for j := range y {
			rows[i][j] = v * y[j]
		}
	}
	return rows
}

func total(x ...float64) (s float64) {
	for i, v := range x {
		s += v * float64(i+1) * 0.5
	}
	return s
}

func apply(f func(x, y float64) float64, x, y float64) float64 { return f(y, x) * 0.5 }

func half[T float64 | float32](x T) T { return x / 2 }

func power(x, y float64, n int) float64 {
	if n == 0 {
		return math.Cos(y)
	}
	return x * power(x, y, n-1)
}

func helper(x, y float64) float64 {
	if x > y {
		return x*y
	}
	for n := range 3 {
		x += 0.5*math.Sin(y)
		if x > 1 && n > 0 {
			return x - y
		}
	}
	return y
}
`

const fuzzTest = `package written

import (
	"math"
	"math/rand/v2"
	"testing"
)

var rnd = rand.New(rand.NewPCG(1, 1))

func random(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 2*rnd.Float64() - 1
	}
	return x
}

// slope returns the derivative of f at x in direction v, by central differences of sixth order, and a bound
// on its error. It returns false if there is a kink or a step nearby.
func slope(f func(x []float64) float64, x, v []float64) (d, bound float64, ok bool) {
	at := func(h float64) float64 {
		y := append([]float64(nil), x...)
		for i := range y {
			y[i] += h * v[i]
		}
		return f(y)
	}
	d6 := func(h float64) float64 {
		return (45*(at(h)-at(-h)) - 9*(at(2*h)-at(-2*h)) + at(3*h) - at(-3*h)) / (60 * h)
	}
	f0 := at(0)
	for _, h := range []float64{1e-3, 1e-4, 1e-5} {
		// Halving h halves the second difference at a kink, and divides it by four elsewhere.
		wide, narrow := math.Abs(at(h)+at(-h)-2*f0), math.Abs(at(h/2)+at(-h/2)-2*f0)
		if narrow > 1e-13*(1+math.Abs(f0)) && narrow > 0.35*wide {
			continue
		}
		a, b := d6(h), d6(h/2)
		size := 1 + math.Abs(b)
		if math.Abs(a-b) <= 1e-7*size {
			return b, 10*math.Abs(a-b) + 1e-14/h*(size+math.Abs(f0)), true
		}
	}
	return 0, 0, false
}

// largest is the largest number that the functions have assigned, or infinity for NaN.
var largest float64

func seen(values ...any) {
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			if v != v {
				v = math.Inf(1)
			}
			largest = max(largest, math.Abs(v))
		case complex128:
			seen(real(v), imag(v))
		case state:
			seen(v.u, v.w)
		case []float64:
			for _, e := range v {
				seen(e)
			}
		}
	}
}

func TestAll(t *testing.T) {
	calls, kinks := 0, 0
	for _, c := range all {
		for n := range 8 {
			size := 4 + []int{0, 1, 2, 7}[rnd.IntN(4)]
			x, v, w, g := random(size), random(size), random(size), random(size)
			n %= 4
			failed := func(what string, got, want any) {
				t.Helper()
				t.Errorf("%s(%v, %d): %s %v, want %v", c.name, x, n, what, got, want)
			}
			f := func(x []float64) float64 { return c.f(append([]float64(nil), x...), n) }
			largest = 0
			want := f(x)
			seen(want)
			got, bound := c.g(g, append([]float64(nil), x...), n), 1e-12*(1+math.Abs(want))
			if largest > 1e6 {
				bound = 1e-12 * largest
			}
			for _, got := range []float64{got, c.value(append([]float64(nil), x...), n)} {
				if !(math.Abs(got-want) <= bound) && !math.IsInf(largest, 0) {
					failed("value", got, want)
				}
			}
			if largest > 1e6 { // what overflows has no derivative, even if the result is finite
				continue
			}
			calls++
			gv := dot(g, v)
			if d, bound, ok := slope(f, x, v); !ok {
				kinks++
			} else if !(math.Abs(gv-d) <= bound) {
				failed("gradient times v", gv, d)
			}
			if c.j == nil {
				continue
			}
			tangent, hv, hw := make([]float64, 1), random(size), random(size)
			c.j(tangent, x, v, n)
			if scale := 1 + norm(g)*norm(v); !(math.Abs(gv-tangent[0]) <= 1e-10*scale) && scale < 1e6 {
				failed("gradient times v", gv, tangent[0])
			}
			c.h(hv, x, v, n)
			c.h(hw, x, w, n)
			scale := 1 + norm(g) + norm(hv) + norm(hw)
			if scale > 1e6 {
				continue
			}
			if a, b := dot(w, hv), dot(v, hw); !(math.Abs(a-b) <= 1e-9*scale) {
				failed("w·H·v", a, b)
			}
			along := func(x []float64) float64 {
				g := make([]float64, size)
				c.g(g, x, n)
				return dot(g, w)
			}
			if d, bound, ok := slope(along, x, v); ok && !(math.Abs(dot(w, hv)-d) <= bound+1e-10*scale) {
				failed("w·H·v by differences", dot(w, hv), d)
			}
			if c.n == nil {
				continue
			}
			// The gradient of f + g·v is g + H·v, and third derivatives are symmetric.
			again, a, b := random(size), random(size), random(size)
			c.n(again, x, v, n)
			for i, got := range again {
				if want := g[i] + hv[i]; !(math.Abs(got-want) <= 1e-9*scale) {
					failed("gradient of f + g·v", got, want)
					break
				}
			}
			c.t(a, x, v, w, n)
			c.t(b, x, v, v, n)
			if d, e := dot(a, v), dot(b, w); !(math.Abs(d-e) <= 1e-8*(scale+norm(a)+norm(b))) {
				failed("third derivative", d, e)
			}
		}
	}
	t.Logf("%d calls, %d of them near a kink", calls, kinks)
	if 2*calls < 8*len(all) || 3*kinks > calls {
		t.Errorf("of %d calls %d have numbers of moderate size, and %d are near a kink", 8*len(all), calls, kinks)
	}
}

func norm(x []float64) float64 { return math.Sqrt(dot(x, x)) }
`

const fuzzRows = `package written

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestRows compares Jacobians with their columns, which are products with the axes.
func TestRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for k, f := range rows {
		for range 3 {
			m := 10 + 14*rnd.IntN(2) // if these are fewer than the colors, a row takes a product
			x, v, column, at := make([]float64, 20), make([]float64, 20), make([]float64, m), rnd.Perm(4)
			for i := range x {
				x[i] = 2*rnd.Float64() - 1
			}
			at[0] = at[1]
			got := mat.NewDense(m, 20, nil)
			f.j(got, x, at)
			for c := range v {
				v[c] = 1
				f.p(column, x, v, at)
				v[c] = 0
				for r, want := range column {
					if g := got.At(r, c); !(math.Abs(g-want) <= 1e-12*(1+math.Abs(want))) && (g == g || want == want) {
						t.Fatalf("k%d: J[%d][%d] is %v, want %v", k, r, c, g, want)
					}
				}
			}
		}
	}
}
`

// randomGradients compares the gradients of random functions with differences of values and with their
// tangents, and their Hessians with differences of gradients and their transposes.
func randomGradients(t *testing.T, b *batch) {
	count, seed := randomCount(t, long.Or(16, 6))
	s := &scribe{rnd: rand.New(rand.NewPCG(seed, 2))}
	s.line("%s", fuzzHead)
	var table strings.Builder
	for k := range count {
		from := s.out.Len()
		s.plain, s.calls, s.pairs = s.once(3), nil, nil
		const helper = "x, y := []float64{a, b, a*b, 1}, []float64{a, b, 1}\n_, _ = x, y"
		if s.once(3) {
			s.line("func h%d(a, b float64, n int) float64 {\n%s", k, helper)
			s.function(2, "return %s")
			s.line("return %s\n}\n", s.result)
			s.calls = append(s.calls, fmt.Sprintf("h%d(%%s, %%s, %%s)", k))
		}
		if s.once(3) {
			s.line("func p%d(a, b float64, n int) (p, q float64) {\n%s", k, helper)
			s.function(2, s.pick("return %s, b", "p = %s\nq += b\nreturn"))
			s.line("p, q = %s, c\nreturn\n}\n", s.result)
			s.pairs = append(s.pairs, fmt.Sprintf("p%d(%%s, %%s, %%s)", k))
		}
		if s.once(4) { // it calls itself
			s.line("func r%d(x []float64, a float64, n int) float64 {\nb, y := x[1], x[1:]\n_, _ = b, y", k)
			s.function(2, "return %s")
			s.line("for i := range 2 {\nif n > 0 {\nb += 0.5 * r%d(x, a*x[i], n-1)\n}\n}\nreturn math.Sin(%s)\n}\n", k, s.result)
			s.calls = append(s.calls, fmt.Sprintf("r%d([]float64{%%s, %%s, 0.5, c}, b, min(2, %%s))", k))
		}
		second := s.once(2)          // it has second derivatives
		third := second && s.once(3) // and derivatives of written ones
		s.line("//revgen:gradient x%s value\nfunc f%d(x []float64, n int) (result float64) {\na, b, y := x[0], x[1]*x[2], x[4:]\n_ = y", map[bool]string{true: " hessian"}[second], k)
		s.function(4+s.rnd.IntN(5), s.pick("return %s", "result += %s\nreturn"))
		s.line("result = %s\nreturn\n}\n", s.result)
		if !second {
			fmt.Fprintf(&table, "{name: \"f%[1]d\", f: f%[1]d, value: f%[1]dValue, g: f%[1]dGradient},\n", k)
			continue
		}
		s.line("//revgen:jacobian x jvp\nfunc j%d(dst, x []float64, n int) { dst[0] = f%d(x, n) }\n", k, k)
		text := s.out.String()[from:]
		if !third || strings.Contains(strings.ReplaceAll(text, "append([]", ""), "append(") || strings.Contains(text, "func r") || strings.Contains(text, "power(") {
			fmt.Fprintf(&table, "{\"f%[1]d\", f%[1]d, f%[1]dValue, f%[1]dGradient, f%[1]dHessVec, j%[1]dJVP, nil, nil},\n", k)
			continue
		}
		s.line("//revgen:gradient x\nfunc n%[1]d(x, u []float64, n int) float64 {\ng := make([]float64, len(x))\ns := f%[1]dGradient(g, x, n)\nreturn s + dot(g, u)\n}\n", k)
		s.line("//revgen:gradient x\nfunc t%[1]d(x, u, w []float64, n int) float64 {\ng := make([]float64, len(x))\nf%[1]dHessVec(g, x, u, n)\nreturn dot(g, w)\n}\n", k)
		fmt.Fprintf(&table, "{\"f%[1]d\", f%[1]d, f%[1]dValue, f%[1]dGradient, f%[1]dHessVec, j%[1]dJVP, n%[1]dGradient, t%[1]dGradient},\n", k)
	}
	test := fuzzTest + "\nvar all = []struct {\nname string\nf, value func(x []float64, n int) float64\ng func(g, x []float64, n int) float64\nh, j func(dst, x, v []float64, n int)\nn func(g, x, u []float64, n int) float64\nt func(g, x, u, w []float64, n int) float64\n}{\n" + table.String() + "}\n"
	text := b.add(t, s.out.String(), test)
	t.Logf("%d bytes are written for %d", len(text), s.out.Len())
	if len(text) > 40*s.out.Len() {
		t.Error("these are too many")
	}
}

// watch returns a file in which seen gets what is assigned.
func watch(t *testing.T, fset *token.FileSet, file *ast.File) string {
	t.Helper()
	insert := func(list []ast.Stmt) (out []ast.Stmt) {
		for _, s := range list {
			out = append(out, s)
			if a, ok := s.(*ast.AssignStmt); ok {
				call := &ast.CallExpr{Fun: ast.NewIdent("seen")}
				for _, e := range a.Lhs {
					if id, ok := e.(*ast.Ident); !ok || id.Name != "_" {
						call.Args = append(call.Args, e)
					}
				}
				out = append(out, &ast.ExprStmt{X: call})
			}
		}
		return out
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			n.List = insert(n.List)
		case *ast.CaseClause:
			n.Body = insert(n.Body)
		}
		return true
	})
	var out strings.Builder
	file.Comments = nil // they have places of the file as it was
	if err := printer.Fprint(&out, fset, file); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// randomJacobians compares Jacobians of random functions, many of which have a structure, with their
// products.
func randomJacobians(t *testing.T, b *batch) {
	count, seed := randomCount(t, long.Or(40, 12))
	s := &scribe{rnd: rand.New(rand.NewPCG(seed, 3))}
	s.line("%s", fuzzHead)
	var table strings.Builder
	for k := range count {
		s.rows(fmt.Sprint("k", k))
		fmt.Fprintf(&table, "{k%dJacobian, k%dJVP},\n", k, k)
	}
	text := b.add(t, s.out.String(), fuzzRows+"\nvar rows = []struct {\nj func(dst *mat.Dense, x []float64, at []int)\np func(dst, x, v []float64, at []int)\n}{\n"+table.String()+"}\n")
	n := strings.Count(text, "num.NewPattern(")
	t.Logf("%d of %d Jacobians have a structure", n, count)
	if n < count/10 {
		t.Error("these are too few")
	}
}

// randomCount returns how many functions a test writes, and a seed, as REVGEN_GRADIENTS=500:7 says.
func randomCount(t *testing.T, count int) (_ int, seed uint64) {
	t.Helper()
	seed = 1
	if s := os.Getenv("REVGEN_GRADIENTS"); s != "" {
		if _, err := fmt.Sscanf(s, "%d:%d", &count, &seed); err != nil {
			t.Fatal(err)
		}
	}
	return count, seed
}

// thirdOfEarlyEnd has a loop that ends early. It stands in the gradient of a written second derivative, which goes back through it, and
// whose own gradient does not.
func thirdOfEarlyEnd(t *testing.T, b *batch) {
	b.add(t, `package written

import "math"

func dot(x, y []float64) (s float64) {
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

//revgen:gradient x hessian
func f(x []float64, n int) (result float64) {
	limit, sum := math.Cos(x[1]*x[2]), 0.0
	for j := range x {
		t, k := x[1], j
		if k > 0 && 0.5 < limit {
		} else if n > 3 {
			break
		}
		sum += max(t, 0.2)
	}
	result = x[0]*x[1]*x[2] + sum
	return
}

//revgen:gradient x
func third(x, u, w []float64, n int) float64 {
	g := make([]float64, len(x))
	fHessVec(g, x, u, n)
	return dot(g, w)
}
`, `package written

import "testing"

func Test(t *testing.T) {
	g := make([]float64, 3)
	for _, n := range []int{0, 4} { // Σ u_i·w_j of all i and j but the third index
		if thirdGradient(g, []float64{0.5, 0.7, 0.3}, []float64{1, 2, 3}, []float64{4, 5, 6}, n); g[0] != 27 || g[1] != 18 || g[2] != 13 {
			t.Errorf("got %v, want [27 18 13]", g)
		}
	}
}
`)
}
