package revgen

import (
	"strings"
	"testing"
)

// gradientPassesOverSlices compares values and gradients of functions over slices: loops that become calls, memory
// that is replaced in each iteration, and integers and slices that come back without a tape, also where they nearly
// are that.
func gradientPassesOverSlices(t *testing.T, b *batch) {
	text := b.add(t, `package written

import "math"

// parts cuts x into parts that become shorter, from the beginning, and adds multiples of what is before to them.
//
//revgen:gradient x value
func parts(x []float64, d int) float64 {
	sum := 0.0
	y := make([]float64, d)
	for k := range 3 {
		for i := range y {
			y[i] = x[i] * x[i+k]
		}
		at := 0
		for j := range d {
			rest := y[j+1:]
			below := x[at:][:len(rest)]
			for i := range rest {
				rest[i] += below[i] * x[j]
			}
			at += len(rest) / 2
		}
		for _, v := range y {
			sum += v * v
		}
	}
	return sum
}

// once has integers that change by what changes.
//
//revgen:gradient x value
func once(x []float64, n int) float64 {
	s, at, step := x[0], 0, 1
	for i := n; i > 0; i -= 2 {
		s = math.Sin(s) * x[at%len(x)]
		at += step
		step += at * 2
		at -= i
		if at < 0 {
			at += len(x)
		}
	}
	return s
}

// some replaces a part of y, or all, and reads what is left of the iteration before.
//
//revgen:gradient x value
func some(x []float64, d, how int) float64 {
	sum := 0.0
	y, other := make([]float64, d), make([]float64, d)
	z := y
	if how == 1 {
		z = other
	}
	for k := range 3 {
		switch how {
		case 2:
			for i := 1; i < d; i++ {
				y[i] = x[i+k] * x[i]
			}
		case 3:
			if k != 1 {
				for i := range y {
					y[i] = x[i+k] * x[i]
				}
			}
		case 4:
			for i := range d - min(d, 1) {
				y[i] = x[i+k] * x[i]
			}
		default:
			for i := range y {
				y[i] = x[i+k] * x[i]
			}
		}
		for i := range z {
			z[i] += x[k] * x[i+1]
		}
		for i := range z {
			sum += z[i] * y[d-1-i]
		}
	}
	return sum
}

// lacking replaces all elements of y but the last one.
//
//revgen:gradient x value
func lacking(x []float64, d int) float64 {
	y, sum := make([]float64, d), 0.0
	for k := range 3 {
		for i := range d - min(d, 1) {
			y[i] = x[i+k] * x[i]
		}
		for i := range y {
			y[i] += x[k] * x[i+1]
		}
		for _, v := range y {
			sum += v * v
		}
	}
	return sum
}

// perhaps adds to y, which it has replaced, or to another slice.
//
//revgen:gradient x value
func perhaps(x []float64, d int) float64 {
	y, other, sum := make([]float64, d), make([]float64, d), 0.0
	z := y
	if d%2 == 1 {
		z = other
	}
	for k := range 3 {
		for i := range y {
			y[i] = x[i+k] * x[i]
		}
		for i := range z {
			z[i] += x[k] * x[i+1]
		}
		for i, v := range z {
			sum += v * v * y[i]
		}
	}
	return sum
}

// tails replaces all of a part of y that begins later, and leaves the first element.
//
//revgen:gradient x value
func tails(x []float64, d int) float64 {
	y, sum := make([]float64, d), 0.0
	for k := range 3 {
		z := y[min(1, d):]
		for i := range z {
			z[i] = x[i+k] * x[i]
		}
		for i := range y {
			y[i] += x[k] * x[i]
		}
		for _, v := range y {
			sum += v * v * v
		}
	}
	return sum
}

// twice has each kind of product in loops of all directions.
//
//revgen:gradient x value
func twice(x []float64, d int) float64 {
	y, z, w := make([]float64, d), make([]float64, d), make([]float64, d)
	for i := range y {
		y[i] = x[i] * x[i]
	}
	for i := d - 1; i >= 0; i-- {
		z[i] = y[i] * x[i+1]
	}
	for i := range z {
		z[i] = z[i] * y[i]
	}
	for i := range z {
		z[i] += z[i] * x[i]
	}
	for i := 1; i < d; i++ {
		z[i] = z[i-1]*x[i] + z[i]
	}
	for i := range d - min(d, 1) {
		w[i] = y[i+1] - x[i]
	}
	for i := range w {
		w[i] -= y[i]*z[i]/3 + x[i]/2
	}
	for i := range w {
		w[i] = 0.5*w[i] + x[2]*x[i]/7
	}
	for i := range w {
		y[i] += 3 * (w[i] - x[i]) / 4
	}
	sum := 0.0
	for i := range y {
		sum += y[i]*z[i]/3 + w[i]/2
	}
	for i := range d {
		sum += y[d-1-i] * w[i]
	}
	return sum
}

// same has slices that are one.
//
//revgen:gradient x value
func same(x []float64, d int) float64 {
	y := make([]float64, d)
	copy(y, x)
	z, later := y, y[min(1, d):]
	for i := range y {
		z[i] = y[i] * z[i]
	}
	for i := range later {
		later[i] = y[i] * x[i]
	}
	for i := range later {
		y[i] += later[i] * x[i]
	}
	for i := range y {
		y[i] = x[i] - z[i]
	}
	a := 0.5
	for i := range y {
		a += y[i] * z[i]
	}
	for i := range y {
		y[i] += a * z[i]
	}
	sum := 0.0
	for i, v := range y {
		sum += v * v * x[i]
	}
	return sum
}

// scaled adds multiples to a vector, whose adjoint is one call.
//
//revgen:gradient x value
func scaled(x []float64, d int) float64 {
	y := make([]float64, d)
	for j := range 3 {
		for i := range y {
			y[i] += x[j] * x[i]
		}
	}
	sum := 0.0
	for i := range y {
		sum += y[i] * y[i]
	}
	return sum
}

// shares has slices and largest elements of each iteration.
//
//revgen:gradient value
func shares(value []float64, d int) float64 {
	return excess(value, d)
}

//revgen:gradient x value
func excess(x []float64, d int) float64 {
	sum := 0.0
	for k := range 3 {
		e := make([]float64, d)
		for i := range e {
			e[i] = x[i] * x[k]
		}
		top, t := -1.0, 0.0
		for _, v := range e {
			top = max(top, v)
		}
		for _, v := range e {
			t += math.Exp(v - top)
		}
		if d > 0 {
			sum += top + math.Log(t)
		}
	}
	return sum
}

//revgen:gradient x value
func again(x []float64, d int) float64 {
	return math.Sin(excessValue(x, d)) * x[3]
}
`, `package written

import (
	"fmt"
	"math"
	"testing"
)

func TestPasses(t *testing.T) {
	x := make([]float64, 64)
	for i := range x {
		x[i] = 0.6 + 0.4*math.Sin(float64(3*i+1))
	}
	type function struct {
		name string
		f    func(x []float64) float64
		g    func(g, x []float64) float64
	}
	var all []function
	for _, d := range []int{0, 1, 2, 3, 7, 16, 23, 40} {
		for _, c := range []struct {
			name string
			f, v func(x []float64, d int) float64
			g    func(g, x []float64, d int) float64
		}{
			{"parts", parts, partsValue, partsGradient}, {"once", once, onceValue, onceGradient}, {"tails", tails, tailsValue, tailsGradient}, {"twice", twice, twiceValue, twiceGradient},
			{"same", same, sameValue, sameGradient}, {"lacking", lacking, lackingValue, lackingGradient}, {"perhaps", perhaps, perhapsValue, perhapsGradient}, {"scaled", scaled, scaledValue, scaledGradient},
			{"shares", shares, shares, sharesGradient}, {"excess", excess, excessValue, excessGradient}, {"again", again, againValue, againGradient},
		} {
			if c.name == "parts" && d > 16 {
				continue
			}
			all = append(all, function{fmt.Sprint(c.name, " ", d), func(x []float64) float64 { return c.f(x, d) }, func(g, x []float64) float64 { return c.g(g, x, d) }})
			if value, want := c.v(x, d), c.f(x, d); !(math.Abs(value-want) <= 1e-13*math.Abs(want)) {
				t.Errorf("%s %d: the value is %v, want %v", c.name, d, value, want)
			}
		}
		for how := range 5 {
			all = append(all, function{
				fmt.Sprint("some ", d, " ", how), func(x []float64) float64 { return some(x, d, how) },
				func(g, x []float64) float64 { return someGradient(g, x, d, how) },
			})
		}
	}
	for _, c := range all {
		compare(t, c.name, x, c.f, c.g)
	}
}
`+compareGradients)
	for _, call := range []string{"num.Mul(", "num.AddMul(", "num.AxpyTo(", "num.AxpyInner(", "at -= ", "top = num.Max(e, top)", "t += num.SumExp(e, top)"} {
		if !strings.Contains(text, call) {
			t.Errorf("no %s is written", call)
		}
	}
	_, body, _ := strings.Cut(text, "func excessValue")
	if body, _, _ = strings.Cut(body, "\n}\n"); !strings.Contains(body, "scratch.Release(mark)") {
		t.Errorf("the slices of an iteration are not released:\n%s", body)
	}
	_, body, _ = strings.Cut(text, "func partsGradient")
	if body, _, _ = strings.Cut(body, "\n}\n"); strings.Contains(body, "kept") && strings.Contains(body, "copy(rest, ") || strings.Contains(body, "float64sTape") {
		t.Errorf("parts of what each iteration replaces are saved:\n%s", body)
	}
}

// compareGradients is a function of a test that compares a gradient with differences of its function.
const compareGradients = `
func compare(t *testing.T, name string, x []float64, f func(x []float64) float64, g func(g, x []float64) float64) {
	t.Helper()
	grad := make([]float64, len(x))
	value, want := g(grad, x), f(x)
	if !(math.Abs(value-want) <= 1e-13*math.Abs(want)) {
		t.Errorf("%s: the gradient returns %v, and the function %v", name, value, want)
	}
	largest := 0.0
	for _, d := range grad {
		largest = max(largest, math.Abs(d))
	}
	const directions = 64 // a longer x moves along some elements at a time, each with its own weight
	weight := func(i int) float64 { return 1 - 0.05*float64(i/directions) }
	for first := range grad[:min(directions, len(grad))] {
		at := func(h float64) float64 {
			x := append([]float64(nil), x...)
			for i := first; i < len(x); i += directions {
				x[i] += h * weight(i)
			}
			return f(x)
		}
		d := 0.0
		for i := first; i < len(x); i += directions {
			d += grad[i] * weight(i)
		}
		const h = 1e-3
		want := (45*(at(h)-at(-h)) - 9*(at(2*h)-at(-2*h)) + at(3*h) - at(-3*h)) / (60 * h)
		if !(math.Abs(d-want) <= 1e-8*largest+1e-9*math.Abs(want)) {
			t.Errorf("%s: derivative %d is %v, want %v", name, first, d, want)
		}
	}
	// A NaN reaches the value, and does not stop the gradient.
	y := append([]float64(nil), x...)
	y[2] = math.NaN()
	if value, want := g(grad, y), f(y); (value != value) != (want != want) {
		t.Errorf("%s: with a NaN the gradient returns %v, and the function %v", name, value, want)
	}
}
`

// gradientPassesOverParts compares values, gradients and products with the second derivatives of functions of
// parts of slices whose bounds change with what they are bounds of, and of integers that change by what is computed
// from them. A quotient that is stored is what the function computes.
func gradientPassesOverParts(t *testing.T, b *batch) {
	text := b.add(t, `package written

import "math"

// packed goes through the rows of a triangle.
//
//revgen:gradient x hessian
func packed(x []float64, d int) float64 {
	n := min(d, 8)
	y, z := make([]float64, n), make([]float64, n)
	s := 0.0
	for k := range 2 {
		l := x[k:]
		for i := range y {
			y[i] = x[i+k]
		}
		for j := range n {
			row := l[:j+1]
			t := 0.0
			for i := range row {
				t += row[i] * y[i]
			}
			z[j] = t
			l = l[len(row):]
		}
		for i := range y {
			y[i] = z[i] - y[i]
		}
		for i := range y {
			s += y[i] * y[i] * z[i]
		}
	}
	return s
}

//revgen:gradient x hessian
func reslices(x []float64, d int) float64 {
	rest := x[:d]
	s := 1.0
	for len(rest) >= 2 {
		head := rest[:2]
		tail := rest[1:]
		s *= head[0]
		rest = rest[1:]
		s += head[1]*head[1]*s + tail[0]
		more := rest
		rest = rest[:len(rest)-1]
		s += more[len(more)-1] * s * 0.1
	}
	return s
}

//revgen:gradient x hessian
func selfStep(x []float64, d int) float64 {
	at := 1
	s := x[0]
	for k := range d {
		n := at*2 - k
		s = math.Sin(s) + 0.3*x[((n%40)+40)%40]*s
		at += n
		if at > 1000 {
			at = k
		}
		s += 0.1 * x[((at%40)+40)%40] * s
	}
	return math.Log(1 + s*s)
}

//revgen:gradient x hessian
func selfLen(x []float64, d int) float64 {
	at := 1
	s := x[0]
	for k := range d {
		r := x[at:]
		s = math.Sin(s) + r[0]*s
		at += len(r) - 45
		if at > 40 || at < 0 {
			at = k
		}
	}
	return math.Log(1 + s*s)
}

//revgen:gradient x hessian
func selfLen2(x []float64, d int) float64 {
	at := 20
	s := x[0]
	for k := range d {
		r := x[at:]
		s = math.Sin(s) + r[0]*s
		at += len(r) - 44 + k - k
		q := x[at:]
		s += q[k%3] * s * 0.1
		at -= 2*len(q) - 88
	}
	return math.Log(1 + s*s)
}

//revgen:gradient x hessian
func cutTail(x []float64, d int) float64 {
	w := x[:d]
	s := 0.0
	for len(w) > 1 {
		for i := range w {
			s += w[i] * w[i] * float64(i+1) * 0.1
		}
		w = w[len(w)/2:]
	}
	return s
}

//revgen:gradient x hessian
func cutTail2(x []float64, d int) float64 {
	w := x[:20]
	w = w[len(w)-8:]
	s := 0.0
	for i := range w {
		s += w[i] * w[i] * float64(i+1) * 0.1
	}
	return s
}

//revgen:gradient x hessian
func cutField(x []float64, d int) float64 {
	type t struct{ w []float64 }
	v := t{x[:20]}
	s := 1.0
	for k := range 2 {
		v.w = v.w[len(v.w)-8+k:]
		for i := range v.w {
			s += v.w[i] * v.w[i] * float64(i+1) * 0.1 * s
		}
	}
	return math.Log(s)
}

//revgen:gradient x hessian
func remake(x []float64, d int) float64 {
	y := make([]float64, d+3)
	s := 1.0
	for k := range 3 {
		for i := range y {
			y[i] += x[i+k] * x[i]
		}
		for i := range y {
			s += y[i] * y[i] * 0.1
		}
		y = make([]float64, len(y)-1)
	}
	return s
}

//revgen:jacobian x
func jac(dst, x []float64) { cuts(dst, x) }

//revgen:jacobian x jvp
func cuts(dst, x []float64) {
	w := x[:20]
	w = w[len(w)-8:]
	for i := range dst {
		dst[i] = w[i%len(w)] * w[i%len(w)]
	}
	u := dst[:8]
	u = u[len(u)-3:]
	for i := range u {
		u[i] *= w[i]
	}
}

// oneOff replaces all elements but the first one.
//
//revgen:gradient x hessian
func oneOff(x []float64, d int) float64 {
	y := make([]float64, d)
	s := 0.0
	for k := range 3 {
		for i := 1; i < d; i++ {
			y[i] = x[i+k] * x[i]
		}
		for i := range y {
			y[i] += 0.3 * x[i]
		}
		for i := range y {
			s += y[i] * y[i] * 0.1
		}
	}
	return s
}

// skipped does not replace the elements in each iteration.
//
//revgen:gradient x hessian
func skipped(x []float64, d int) float64 {
	y := make([]float64, d)
	s := 0.0
	for k := range 3 {
		if k != 1 {
			for i := range y {
				y[i] = x[i+k] * x[i]
			}
		}
		for i := range y {
			y[i] += 0.3 * x[i]
		}
		for i := range y {
			s += y[i] * y[i] * 0.1
		}
	}
	return s
}

// late has a sum in the memory of what else its loop changes.
//
//revgen:gradient x hessian
func late(x []float64, d int) float64 {
	y, a := make([]float64, d+1), x[40]
	u, v := make([]float64, d+1), make([]float64, d+1)
	for i := range u {
		u[i] = x[i] * x[i]
		v[i] = x[i+2]
	}
	for i := range u {
		y[i] += a * u[i]
		y[0] += u[i] * v[i]
	}
	s := 0.0
	for i := range y {
		s += y[i] * y[i]
	}
	return s
}

// partsOfParts cuts what is cut.
//
//revgen:gradient x hessian
func partsOfParts(x []float64, d int) float64 {
	at := 0
	take := func(n int) []float64 {
		r := x[at : at+n]
		at += n
		return r
	}
	s := 0.0
	for k := range 3 {
		a := take(d)
		b := take(k)
		for i := range b {
			s += b[i] * b[i] * x[min(i, d)]
		}
		for i := range a {
			s += a[i] * a[i] * x[k]
		}
		at -= d
	}
	return s
}

// empty multiplies the sum of nothing by infinity.
//
//revgen:gradient x
func empty(x []float64, d int) float64 {
	s, a := 0.0, 1/x[0]
	for i := range d {
		s += a * x[i+1] * x[i+1]
	}
	return s
}

// central has differences that are smaller than their operands.
//
//revgen:gradient x hessian
func central(x []float64, d int) float64 {
	z := make([]float64, d)
	for i := range z {
		z[i] = (x[i+2] - x[i]) / 3
	}
	s := 0.0
	for i := range z {
		s += z[i] * z[i]
	}
	return s
}

//revgen:gradient x
func minus(x []float64, d int) float64 {
	z, a := make([]float64, d), 3*x[0]
	for i := range z {
		z[i] = x[i+1] * (1 + 0x1p-30)
	}
	s := 0.0
	for i := range z {
		s += a*x[i+1] - a*z[i]
	}
	return s
}

//revgen:gradient x
func minusOne(x []float64, d int) float64 {
	z, a := make([]float64, d), 3*x[0]
	for i := range z {
		z[i] = x[i+1] * (1 + 0x1p-30)
	}
	s := 0.0
	for i := range z {
		s += a * (x[i+1] - z[i])
	}
	return s
}

//revgen:gradient x
func minusThird(x []float64, d int) float64 {
	z, a := make([]float64, d), 3*x[0]
	for i := range z {
		z[i] = x[i+1] * (1 + 0x1p-30)
	}
	s := 0.0
	for i := range z {
		s += a*x[i+1]/3 + a*z[i]/-3
	}
	return s
}

// half and seventh store quotients, and third adds them up.
//
//revgen:gradient x
func half(x []float64, d int) float64 {
	y := make([]float64, d)
	for i := range y {
		y[i] = x[i] / 64
	}
	s := 0.0
	for i := range y {
		s += y[i] * x[i]
	}
	return s
}

//revgen:gradient x
func seventh(x []float64, d int) float64 {
	y := make([]float64, d)
	for i := range y {
		y[i] = x[i] / 49
	}
	s := 0.0
	for i := range y {
		s += x[int(y[i])+50] * x[i]
	}
	return s
}

//revgen:gradient x
func third(x []float64, d int) float64 {
	s := 0.0
	for i := range d {
		s += x[i] / 3
	}
	return s * s
}

// roomy makes slices with more room than elements.
//
//revgen:gradient x hessian both
func roomy(x []float64, d int) float64 {
	y, z := make([]float64, d, 2*d), make([]float64, 0, d+1)
	s := 0.0
	for k := range 2 {
		y = y[:d]
		for i := range y {
			y[i] = x[i] * x[i+k]
		}
		y = y[:cap(y)]
		for i := range d {
			s += y[d+i] * x[i]
			y[d+i] = y[i] * x[i] * x[k]
		}
		for i, v := range y {
			s += float64(i%3) * v * v
		}
	}
	for i := range d {
		z = z[:len(z)+1]
		z[i] = y[i] * x[i]
	}
	z, w := z[:cap(z)], make([]float64, 0, d)
	z[d] = x[d]
	for _, v := range z {
		w = append(w, v*v)
	}
	for _, v := range w {
		s += math.Sin(v)
	}
	return s
}

// factors stores products of several factors, of which it returns some.
//
//revgen:gradient x
func factors(x []float64, d int) float64 {
	a, b := x[50], x[51]
	y, z := make([]float64, d), make([]float64, d)
	for i := range y {
		y[i] = a * (b * x[i])
	}
	for i := range z {
		z[i] = -(a * x[i]) * b
	}
	if x[52] < 0.5 {
		return y[d/2]
	}
	return z[d/2]
}

// tiny multiplies before it divides.
//
//revgen:gradient x
func tiny(x []float64, d int) float64 {
	z, a, s := make([]float64, d), x[0], 0.0
	for i := range z {
		z[i] = a * x[i+1] / 1e-140
	}
	for i := range z {
		s += z[i] + a*x[i+1]/1e-140
	}
	return s
}
`, `package written

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestPasses(t *testing.T) {
	x := make([]float64, 64)
	for i := range x {
		x[i] = 0.6 + 0.4*math.Sin(float64(3*i+1))
	}
	v := make([]float64, len(x))
	for i := range v {
		v[i] = 0.3 + 0.1*float64(i%7)
	}
	for _, d := range []int{0, 1, 2, 5, 9, 17, 40} {
		for _, c := range []struct {
			name string
			f    func(x []float64, d int) float64
			g    func(g, x []float64, d int) float64
			h    func(dst, x, v []float64, d int)
		}{
			{"packed", packed, packedGradient, packedHessVec}, {"reslices", reslices, reslicesGradient, reslicesHessVec},
			{"selfStep", selfStep, selfStepGradient, selfStepHessVec}, {"selfLen", selfLen, selfLenGradient, selfLenHessVec},
			{"selfLen2", selfLen2, selfLen2Gradient, selfLen2HessVec}, {"cutTail", cutTail, cutTailGradient, cutTailHessVec},
			{"cutTail2", cutTail2, cutTail2Gradient, cutTail2HessVec}, {"cutField", cutField, cutFieldGradient, cutFieldHessVec},
			{"remake", remake, remakeGradient, remakeHessVec}, {"oneOff", oneOff, oneOffGradient, oneOffHessVec},
			{"skipped", skipped, skippedGradient, skippedHessVec}, {"late", late, lateGradient, lateHessVec},
			{"partsOfParts", partsOfParts, partsOfPartsGradient, partsOfPartsHessVec}, {"central", central, centralGradient, centralHessVec},
			{"half", half, halfGradient, nil}, {"third", third, thirdGradient, nil},
			{"roomy", roomy, roomyGradient, roomyHessVec},
		} {
			name := fmt.Sprint(c.name, " ", d)
			g := func(g, x []float64) float64 { return c.g(g, x, d) }
			compare(t, name, x, func(x []float64) float64 { return c.f(x, d) }, g)
			if c.h == nil {
				continue
			}
			dst, want, largest := make([]float64, len(x)), make([]float64, len(x)), 0.0
			c.h(dst, x, v, d)
			const h = 1e-3
			for k, weight := range map[float64]float64{1: 45, -1: -45, 2: -9, -2: 9, 3: 1, -3: -1} {
				y, grad := append([]float64(nil), x...), make([]float64, len(x))
				for i := range y {
					y[i] += k * h * v[i]
				}
				g(grad, y)
				for i, d := range grad {
					want[i] += weight * d / (60 * h)
				}
			}
			for _, d := range dst {
				largest = max(largest, math.Abs(d))
			}
			if c.name == "roomy" {
				grad, wantGrad, product := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
				value, want := roomyGradientHessVec(grad, product, x, v, d), g(wantGrad, x)
				for i := range x {
					if !(math.Abs(value-want) <= 1e-13*math.Abs(want) && math.Abs(grad[i]-wantGrad[i])+math.Abs(product[i]-dst[i]) <= 1e-12*(1+largest)) {
						t.Fatalf("%s: both together are %v, %v and %v", name, value, grad, product)
					}
				}
			}
			for i, d := range dst {
				if !(math.Abs(d-want[i]) <= 1e-6*largest+1e-11) {
					t.Errorf("%s: second derivative %d is %v, want %v", name, i, d, want[i])
				}
			}
		}
	}
	const n = 12
	dst, j, product := make([]float64, n), mat.NewDense(n, len(x), nil), make([]float64, n)
	jacJacobian(j, x)
	cutsJVP(product, x, v)
	jac(dst, x)
	for i := range n {
		from, power := 12+i%8, 2.0
		if 5 <= i && i < 8 {
			power = 0
		}
		want := make([]float64, len(x))
		switch {
		case power == 2:
			want[from] = 2 * x[from]
		default:
			want[from] = 2 * x[from] * x[from-5]
			want[from-5] = x[from] * x[from]
		}
		sum := 0.0
		for k, w := range want {
			sum += w * v[k]
			if math.Abs(j.At(i, k)-w) > 1e-15 {
				t.Errorf("jac: derivative %d of %d is %v, want %v", k, i, j.At(i, k), w)
			}
		}
		if math.Abs(product[i]-sum) > 1e-14 {
			t.Errorf("jac: product %d is %v, want %v", i, product[i], sum)
		}
	}

	g, zero := make([]float64, len(x)), make([]float64, len(x))
	if value := emptyGradient(g, zero, 0); value != 0 || g[0] == g[0] && g[0] != 0 {
		t.Error("the sum of nothing is", value, "with the derivative", g[0])
	}
	for _, c := range []struct {
		name string
		f    func(x []float64, d int) float64
		g    func(g, x []float64, d int) float64
	}{{"minus", minus, minusGradient}, {"minusOne", minusOne, minusOneGradient}, {"minusThird", minusThird, minusThirdGradient}} {
		if value, want := c.g(g, x, 40), c.f(x, 40); !(math.Abs(value-want) <= 1e-13*math.Abs(want)) {
			t.Error(c.name, "is", value, "want", want)
		}
	}
	for i := range 40 {
		zero[i] = 49
	}
	zero[51] = 2
	if value, want := seventhGradient(g, zero, 40), seventh(zero, 40); value != want || g[51] != 40*49 {
		t.Error("the floors of quotients lead to", value, "and", g[51], "want", want)
	}
	for i := range 40 {
		y := append([]float64(nil), x...)
		y[20], y[51], y[52] = math.Sqrt(float64(i+2)), math.Sqrt(float64(i+3)), float64(i%2)
		if value, want := factorsGradient(g, y, 40), factors(y, 40); value != want {
			t.Error("products of three factors are", value, "want", want)
		}
	}
	zero[0] = 1e200
	for i := range 40 {
		zero[i+1] = 1e-200
	}
	if value, want := tinyGradient(g, zero, 40), tiny(zero, 40); !(math.Abs(value-want) <= 1e-13*want) {
		t.Error("products before their quotients lead to", value, "want", want)
	}
}
`+compareGradients)
	for name, calls := range map[string][]string{"half": {"num.Scale(y, 0.015625, x"}, "third": {"num.Sum("}, "late": {":= num.AxpyInner(y, old, u, v)"}} {
		_, body, _ := strings.Cut(text, "func "+name+"Gradient")
		body, _, _ = strings.Cut(body, "\n}\n")
		for _, call := range calls {
			if !strings.Contains(body, call) {
				t.Errorf("no %s is written:\n%s", call, body)
			}
		}
	}
}
