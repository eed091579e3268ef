package revgen

import (
	"strings"
	"testing"
)

// TestGradientPassesOverSlices compares values and gradients of functions over slices: loops that become calls, memory
// that is replaced in each iteration, and integers and slices that come back without a tape, also where they nearly
// are that.
func TestGradientPassesOverSlices(t *testing.T) {
	text := testWritten(t, `package written

import "math"

// parts cuts x into parts that become shorter, from the beginning, and adds multiples of what is before to them.
//
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
//revgen:gradient x
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
			f    func(x []float64, d int) float64
			g    func(g, x []float64, d int) float64
		}{
			{"parts", parts, partsGradient}, {"once", once, onceGradient}, {"tails", tails, tailsGradient}, {"twice", twice, twiceGradient},
			{"same", same, sameGradient}, {"lacking", lacking, lackingGradient}, {"perhaps", perhaps, perhapsGradient}, {"scaled", scaled, scaledGradient},
		} {
			if c.name == "parts" && d > 16 {
				continue
			}
			all = append(all, function{fmt.Sprint(c.name, " ", d), func(x []float64) float64 { return c.f(x, d) }, func(g, x []float64) float64 { return c.g(g, x, d) }})
		}
		for how := range 5 {
			all = append(all, function{
				fmt.Sprint("some ", d, " ", how), func(x []float64) float64 { return some(x, d, how) },
				func(g, x []float64) float64 { return someGradient(g, x, d, how) },
			})
		}
	}
	for _, c := range all {
		g := make([]float64, len(x))
		value, want := c.g(g, x), c.f(x)
		if !(math.Abs(value-want) <= 1e-13*math.Abs(want)) {
			t.Errorf("%s: the gradient returns %v, and the function %v", c.name, value, want)
		}
		largest := 0.0
		for _, d := range g {
			largest = max(largest, math.Abs(d))
		}
		for i, d := range g {
			at := func(h float64) float64 {
				x := append([]float64(nil), x...)
				x[i] += h
				return c.f(x)
			}
			const h = 1e-3
			want := (45*(at(h)-at(-h)) - 9*(at(2*h)-at(-2*h)) + at(3*h) - at(-3*h)) / (60 * h)
			if !(math.Abs(d-want) <= 1e-8*largest+1e-9*math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, want %v", c.name, i, d, want)
			}
		}
		// A NaN reaches the value, and does not stop the gradient.
		y := append([]float64(nil), x...)
		y[2] = math.NaN()
		if value, want := c.g(g, y), c.f(y); (value != value) != (want != want) {
			t.Errorf("%s: with a NaN the gradient returns %v, and the function %v", c.name, value, want)
		}
	}
}
`)
	for _, call := range []string{"num.Mul(", "num.AddMul(", "num.AxpyTo(", "num.AxpyInner(", "at -= "} {
		if !strings.Contains(text, call) {
			t.Errorf("no %s is written", call)
		}
	}
	_, body, _ := strings.Cut(text, "func partsGradient")
	if body, _, _ = strings.Cut(body, "\n}\n"); strings.Contains(body, "kept") && strings.Contains(body, "copy(rest, ") || strings.Contains(body, "float64sTape") {
		t.Errorf("parts of what each iteration replaces are saved:\n%s", body)
	}
}
