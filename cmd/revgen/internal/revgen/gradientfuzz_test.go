package revgen

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"revnum/cmd/revgen/internal/gradient"
)

// A scribe writes random functions of plain Go, for their gradients.
type scribe struct {
	rnd   *rand.Rand
	out   strings.Builder
	depth int
	loops []string // their variables; "" for one without
	vars  []string // locals that are float64
	next  int
	again string // a call of a function that calls itself, without its second argument, or ""
}

func (s *scribe) line(format string, args ...any) { fmt.Fprintf(&s.out, format+"\n", args...) }

func (s *scribe) pick(of ...string) string { return of[s.rnd.IntN(len(of))] }

func (s *scribe) name(prefix string) string { s.next++; return prefix + strconv.Itoa(s.next) }

// index returns an index between 0 and 3.
func (s *scribe) index() string {
	if n := len(s.loops); n > 0 && s.rnd.IntN(4) > 0 {
		if v := s.loops[s.rnd.IntN(n)]; v != "" {
			return s.pick(v, v, "("+v+"+1)%4", "3-"+v)
		}
	}
	return strconv.Itoa(s.rnd.IntN(4))
}

func (s *scribe) place() string {
	switch s.rnd.IntN(6) {
	case 0, 1:
		return s.pick("a", "b") + "[" + s.index() + "]"
	case 2:
		return "m[" + s.index() + "][" + s.index() + "]"
	case 3:
		return s.pick("p.u", "p.w", "p.c["+s.index()+"]")
	}
	return s.pick(s.vars...)
}

func (s *scribe) expr(depth int) string {
	if depth == 0 || s.rnd.IntN(6) == 0 {
		return s.pick(s.place(), s.place(), "x["+s.index()+"]", "0.5", "1.5")
	}
	e := func() string { return s.expr(depth - 1) }
	switch s.rnd.IntN(16) {
	case 0, 1:
		return "(" + e() + " + " + e() + ")"
	case 2:
		return "(" + e() + " - " + e() + ")"
	case 3, 4:
		return e() + "*" + e()
	case 5:
		return e() + "/(1 + math.Abs(" + e() + "))"
	case 6:
		return "math.Sin(" + e() + ")"
	case 7:
		return "math.Tanh(" + e() + ")"
	case 8:
		return "math.Exp(-math.Abs(" + e() + "))"
	case 9:
		return "math.Sqrt(1 + math.Abs(" + e() + "))"
	case 10:
		return s.pick("max", "min", "math.Hypot") + "(" + e() + ", " + e() + ")"
	case 11:
		return "helper(" + e() + ", " + e() + ")"
	case 12:
		return s.pick("real(z)", "imag(z)", "real(zs["+s.index()+"])", "cmplx.Abs(z + 2i)", "imag(cmplx.Exp(complex(0, "+e()+"))/(z+3))")
	case 13:
		return s.pick("total("+e()+", "+e()+", "+e()+")", "total(a[:3]...)", "apply(helper, "+e()+", 0.5)", "apply(math.Hypot, 1, "+e()+")")
	case 14:
		if s.again != "" {
			return fmt.Sprintf(s.again, e())
		}
	}
	return "-" + s.place()
}

func (s *scribe) cond() string {
	return s.expr(1) + s.pick(" < ", " > ", " <= ") + s.expr(1)
}

func (s *scribe) block(n int) {
	vars := len(s.vars)
	s.depth++
	for range n {
		s.stmt()
	}
	s.depth--
	s.vars = s.vars[:vars]
}

func (s *scribe) stmt() {
	inner := 1 + s.rnd.IntN(3)
	switch k := s.rnd.IntN(22); {
	case k < 6:
		s.line("%s = math.Tanh(%s)", s.place(), s.expr(2))
	case k < 9:
		s.line("%s %s %s", s.place(), s.pick("+=", "-="), s.expr(2))
	case k == 9:
		s.line("%s *= math.Cos(%s)", s.place(), s.expr(1))
	case k == 10:
		v, e := s.name("v"), s.expr(2)
		s.line("%s := %s\n_ = %s", v, e, v)
		s.vars = append(s.vars, v)
	case k == 11:
		s.line("%s", s.pick("a, b = b, a", "copy(a, b)", "clear(b)", "q := p\np.u = q.w\np.w *= q.u", "m[0], m[2] = m[2], m[0]", "{\nrow := m[1]\nrow[2] += row[0]\n}",
			"for c := range len(m[0]) {\no := 0.0\nfor j := range m {\no += a[j]*m[j][c]\n}\n"+s.pick("s0 = math.Sin(s0 + o)", "a[c] += 0.5*math.Sin(o)", "s1 += math.Tanh(o)*a[c]", "m[1][c] -= 0.5*math.Sin(o)")+"\n}",
			"for c := range len(m[0]) {\no := math.Tanh("+s.expr(1)+")\nfor j := range m {\n"+s.pick("a[j] += o*m[j][c]", "m[j][c] += o*a[j]", "a[0] += o*m[j][c]\nb[j] -= o*m[j][c]")+"\n}\n}"))
	case k == 12 && s.rnd.IntN(2) == 0:
		s.line("{\n%s\n}", s.pick(
			"floats.AddScaled(a[:4], math.Tanh(s1), b[:4])",
			"s0 = math.Tanh(floats.Dot(a[:4], b[:4]))",
			"s1 = floats.LogSumExp(b[:4]) - floats.Max(a[:4])",
			"c := b[:4]\nd := c\ncopy(d[1:], c)",
			"w := mat.NewDense(2, 2, a[:4])\nvar c mat.Dense\nc.Mul(w, w.T())\nb[1] += math.Sin(c.At(0, 1))",
			"v, w := mat.NewVecDense(4, b[:4]), mat.NewVecDense(4, nil)\nw.ScaleVec(0.5, v)\nw.MulElemVec(w, mat.NewVecDense(4, a[:4]))\nv.AddScaledVec(w, -0.5, v)",
			"c := mat.NewDense(2, 2, b[:4])\nc.Mul(mat.NewDense(2, 2, a[:4]), c)\nc.Apply(func(_, _ int, v float64) float64 { return math.Tanh(v) }, c)",
		))
	case k == 20:
		s.line("%s", s.pick("z = complex(math.Tanh(imag(z)), "+s.expr(1)+")", "zs["+s.index()+"] -= z*complex(0.5, math.Sin("+s.expr(1)+"))",
			"z *= cmplx.Rect(0.9, "+s.expr(1)+")", "zs[1], zs[2] = zs[2]+z, zs[1]-z", "z = cmplx.Tanh(z) - zs["+s.index()+"]/2"))
	case k == 21:
		s.line("%s", s.pick("ps = append(ps, state{u: "+s.expr(1)+", w: s1})\nps[0].u += math.Sin(ps[len(ps)-1].w)", "ps[0].c["+s.index()+"] += ps[0].u*"+s.expr(1),
			"b = append(b, a[:2]...)\nb[0] += b[len(b)-1]", "{\nc := append([]float64{s0}, a[:3]...)\na["+s.index()+"] += c["+s.index()+"]\n}"))
	case k == 12:
		s.line("b = append(b, %s)\nb[%s] += b[len(b)-1]", s.expr(1), s.index())
	case k < 15 && s.depth < 4:
		s.line("if %s {", s.cond())
		s.block(inner)
		switch {
		case len(s.loops) > 0 && s.rnd.IntN(3) == 0:
			s.line(s.pick("break", "continue"))
		case s.rnd.IntN(8) == 0:
			s.line("return %s", s.expr(1))
		}
		if s.rnd.IntN(2) == 0 {
			s.line("} else {")
			s.block(inner)
		}
		s.line("}")
	case s.depth < 3:
		v := s.name("i")
		switch s.rnd.IntN(5) {
		case 0:
			s.line("for %s := range 4 {", v)
		case 1:
			s.line("for %s := 3; %s >= 0; %s-- {", v, v, v)
		case 2:
			s.line("for %s := 0; %s < 4; %s += 2 {", v, v, v)
		case 3:
			s.line("for %s, e := range x[:4] {\n_ = e\ns0 += e*0.25", v)
		default:
			s.line("for %s := 0; %s < 3 && %s; %s++ {", v, v, s.cond(), v)
		}
		s.line("_ = %s", v)
		s.loops = append(s.loops, v)
		s.block(inner)
		s.loops = s.loops[:len(s.loops)-1]
		s.line("}")
	default:
		s.line("s1 = math.Sin(%s)", s.expr(2))
	}
}

// sums writes loops that add to acc and otherwise change what is their own, so that most of them go ahead
// and back in one.
func (s *scribe) sums() {
	s.line("acc, last := 0.0, a[:4]\n_ = last")
	vars := s.vars
	inner := slices.Concat(vars, []string{"t", "u", "last[1]"})
	own := func() string { return s.pick("t", "u", "c["+s.index()+"]") }
	var body func(depth int)
	body = func(depth int) {
		for range 1 + s.rnd.IntN(3) {
			switch k := s.rnd.IntN(16); {
			case k < 3:
				s.line("%s = math.Tanh(%s)", own(), s.expr(2))
			case k < 5:
				s.line("%s += %s", own(), s.expr(2))
			case k < 9:
				s.line("acc += %s", s.expr(2))
			case k == 9:
				s.line("last = c")
			case k == 10:
				s.line("if %s {\ncontinue\n}", s.cond())
			case k < 13 && depth > 0:
				s.line("if %s {", s.cond())
				body(depth - 1)
				s.line("} else {")
				body(depth - 1)
				s.line("}")
			case depth > 0:
				v := s.name("i")
				s.line("for %s := range 3 {\n_ = %s", v, v)
				s.loops = append(s.loops, v)
				body(depth - 1)
				s.loops = s.loops[:len(s.loops)-1]
				s.line("}")
			}
		}
	}
	for range 2 {
		v := s.name("i")
		s.line("for %s := range 4 {\nt, u, c := x[%s], a[3-%s], make([]float64, 4)", v, v, v)
		s.loops, s.vars = append(s.loops, v), inner
		body(2)
		s.line("acc += t*u + c[2]\n}")
		s.loops, s.vars = s.loops[:len(s.loops)-1], vars
	}
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
					s.line("%s := %s\n_ = %s", v, s.pick("n[2:]", "n[:2]", "slices.Clip(n)", "append([]int(nil), n...)", "t[c%2]", "t["+index()+"%2]", s.pick(ints...)), v)
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
					s.line(s.pick("continue", "continue", "continue", "break"))
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

func dot(x, y []float64) (s float64) {
	for i := range x {
		s += x[i] * y[i]
	}
	return s
}

func total(x ...float64) (s float64) {
	for i, v := range x {
		s += v * float64(i+1) * 0.5
	}
	return s
}

func apply(f func(x, y float64) float64, x, y float64) float64 { return f(y, x) * 0.5 }

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

func TestAll(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	random := func() []float64 {
		x := make([]float64, 6)
		for i := range x {
			x[i] = 2*rnd.Float64() - 1
		}
		return x
	}
	skipped := 0
	for k, f := range all {
		x, v, w := random(), random(), random()
		want := f.f(append([]float64(nil), x...))
		g := make([]float64, 6)
		if got := f.g(g, x); got != want && !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("f%d: value %v, want %v", k, got, want)
		}
		hv, hw, slope := make([]float64, 6), make([]float64, 6), make([]float64, 1)
		f.j(slope, x, v)
		f.h(hv, x, v)
		f.h(hw, x, w)
		size := 1.0
		for i := range g {
			size = max(size, math.Abs(g[i]), math.Abs(hv[i]), math.Abs(hw[i]))
		}
		if !(size < 1e6) {
			skipped++
			continue
		}
		if got := dot(g, v); !(math.Abs(got-slope[0]) <= 1e-9*size) {
			t.Errorf("f%d: gradient times v is %v, and the tangent %v", k, got, slope[0])
		}
		if a, b := dot(w, hv), dot(v, hw); !(math.Abs(a-b) <= 1e-8*size) {
			t.Errorf("f%d: w·H·v is %v, and v·H·w %v", k, a, b)
		}
		// The gradient of f + g·v is g + H·v, and the third derivatives are symmetric.
		if f.n != nil {
			again, a, b := make([]float64, 6), make([]float64, 6), make([]float64, 6)
			f.n(again, x, v)
			for i, got := range again {
				if want := g[i] + hv[i]; !(math.Abs(got-want) <= 1e-9*size) {
					t.Errorf("f%d: the gradient of the gradient is %v, want %v", k, got, want)
				}
			}
			f.t(a, x, v, w)
			f.t(b, x, v, v)
			third := size
			for i := range a {
				third = max(third, math.Abs(a[i]), math.Abs(b[i]))
			}
			if d, e := dot(a, v), dot(b, w); !(math.Abs(d-e) <= 1e-8*third) {
				t.Errorf("f%d: third derivatives are %v and %v", k, d, e)
			}
		}
		// Differences, where there is no kink nearby.
		at := func(h float64) float64 {
			y := append([]float64(nil), x...)
			for i := range y {
				y[i] += h * v[i]
			}
			return f.f(y)
		}
		d := func(h float64) float64 { return (at(h) - at(-h)) / (2 * h) }
		if a, b := d(1e-5), d(3e-5); math.Abs(a-b) < 1e-7*size && math.Abs(a-slope[0]) > 1e-4*size {
			t.Errorf("f%d: the tangent is %v, and by differences %v", k, slope[0], a)
		}
	}
	if 2*skipped > len(all) {
		t.Errorf("%d of %d functions overflow", skipped, len(all))
	}
}
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

// TestRandomGradients compares the gradients of random functions with their tangents, their
// Hessians with their transposes, and both with differences of values.
func TestRandomGradients(t *testing.T) {
	count, seed := randomCount(t, 12)
	s := &scribe{rnd: rand.New(rand.NewPCG(seed, 2))}
	s.line("%s", fuzzHead)
	var table strings.Builder
	for k := range count {
		from := s.out.Len()
		const locals = "a, b := []float64{x[0], 1, x[1], 2}, make([]float64, 4)\nm := make([][]float64, 4)\n" +
			"for i := range m {\nm[i] = make([]float64, 4)\nm[i][i] = x[i]\n}\np := state{u: x[2], w: 0.5}\n" +
			"z, zs, ps := complex(x[1], 0.5), make([]complex128, 4), []state{{u: x[3]}}"
		const result = "r := s0*s1 + p.u*p.w + real(z) + imag(zs[1]) + ps[0].u\nfor i := range 4 {\nr += a[i]*b[i]*0.5 + m[i][3-i]*p.c[i] + a[i]\n}\n"
		s.vars, s.again = []string{"s0", "s1"}, ""
		if s.rnd.IntN(3) == 0 { // it calls itself
			s.line("func r%d(x []float64, s0 float64, n int) float64 {\ns1 := x[3]\n%s", k, locals)
			s.block(2)
			s.line("for i := range 2 {\nif n > 0 {\ns1 += 0.5 * r%d(a[:4], s0*b[i], n-1)\n}", k)
			s.block(2)
			s.line("}\n%sreturn math.Sin(r)\n}\n", result)
			s.again = fmt.Sprintf("r%d(%s, %%s, 2)", k, s.pick("a[:4]", "m[1]", "b[:4]"))
		}
		s.line("//revgen:gradient x hessian\nfunc f%d(x []float64) float64 {", k)
		s.line("s0, s1 := x[4], x[5]\n%s", locals)
		if s.again != "" {
			s.line("s0 += %s", fmt.Sprintf(s.again, "s1"))
		}
		if s.rnd.IntN(2) == 0 {
			s.block(5)
			s.line("%sreturn math.Sin(r)\n}\n", result)
		} else {
			s.block(2)
			s.line("%s", result)
			s.sums()
			s.line("return math.Sin(r) + acc\n}\n")
		}
		s.line("//revgen:jacobian x\nfunc j%d(dst, x []float64) { dst[0] = f%d(x) }\n", k, k)
		if text := s.out.String()[from:]; strings.Contains(strings.ReplaceAll(text, "c := append(", ""), "append(") || s.again != "" {
			fmt.Fprintf(&table, "{f%d, f%dGradient, f%dHessVec, j%dJVP, nil, nil},\n", k, k, k, k)
			continue
		}
		s.line("//revgen:gradient x\nfunc n%d(x, u []float64) float64 {\ng := make([]float64, 6)\ns := f%dGradient(g, x)\nreturn s + dot(g, u)\n}\n", k, k)
		s.line("//revgen:gradient x\nfunc h%d(x, u, w []float64) float64 {\ng := make([]float64, 6)\nf%dHessVec(g, x, u)\nreturn dot(g, w)\n}\n", k, k)
		fmt.Fprintf(&table, "{f%d, f%dGradient, f%dHessVec, j%dJVP, n%dGradient, h%dGradient},\n", k, k, k, k, k, k)
	}
	test := fuzzTest + "\nvar all = []struct {\nf func([]float64) float64\ng func(g, x []float64) float64\nh, j func(dst, x, v []float64)\nn func(g, x, u []float64) float64\nt func(g, x, u, w []float64) float64\n}{\n" + table.String() + "}\n"
	testWritten(t, s.out.String(), test)
}

// testWritten runs a test of functions with what is written for them, and returns that.
func testWritten(t *testing.T, source, test string) string {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "random.go")
	if err := os.WriteFile(name, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	files := []*ast.File{file}
	imports, err := newImporter(fset, ".")
	if err != nil {
		t.Fatal(err)
	}
	written, err := load(fset, files, imports).written(files)
	if err != nil {
		t.Fatalf("%v\n%s", err, source)
	}
	text := written[strings.TrimSuffix(name, ".go")+gradient.Suffix]
	if out, err := testPackage(t, map[string]string{"random.go": source, "random_grad.go": string(text), "random_test.go": test}); err != nil {
		at := filepath.Join(os.TempDir(), "random_gradients.go")
		_ = os.WriteFile(at, []byte(source), 0o666)
		t.Errorf("%v\n%s\nthe functions are in %s", err, out, at)
	}
	return string(text)
}

// TestRandomJacobians compares Jacobians of random functions, many of which have a structure, with their
// products.
func TestRandomJacobians(t *testing.T) {
	count, seed := randomCount(t, 40)
	s := &scribe{rnd: rand.New(rand.NewPCG(seed, 3))}
	s.line("%s", fuzzHead)
	var table strings.Builder
	for k := range count {
		s.rows(fmt.Sprint("k", k))
		fmt.Fprintf(&table, "{k%dJacobian, k%dJVP},\n", k, k)
	}
	text := testWritten(t, s.out.String(), fuzzRows+"\nvar rows = []struct {\nj func(dst *mat.Dense, x []float64, at []int)\np func(dst, x, v []float64, at []int)\n}{\n"+table.String()+"}\n")
	n := strings.Count(text, "num.NewPattern(")
	t.Logf("%d of %d Jacobians have a structure", n, count)
	if 10*n < count {
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
