package revgen

import (
	"strings"
	"testing"
)

// gradientPassesOfFunctions compares values and gradients of loops over functions with those of the functions. Loops whose
// iterations depend on each other stay as they are.
func gradientPassesOfFunctions(t *testing.T, b *batch) {
	text := b.add(t, `package written

import "math"

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// cell has functions of functions, of elements that it replaces.
//
//revgen:gradient x value
func cell(x []float64, d int) float64 {
	h, c := make([]float64, d), make([]float64, d)
	for k := range 3 {
		for i := range d {
			forget, change := sigmoid(x[i]*h[i]+x[40]), math.Tanh(x[i+k]-h[i])
			c[i] = c[i]*forget + change
			h[i] = math.Log(2+x[k]+math.Cos(c[i])) * sigmoid(c[i])
		}
	}
	sum := 0.0
	for i := range d {
		sum += h[i] * math.Sin(c[i])
		h[0] += 2
	}
	return sum + x[d]
}

// names has one slice under two names, one of which begins later, and a slice that begins at i.
//
//revgen:gradient x value
func names(x []float64, d int) float64 {
	y := make([]float64, d+3)
	rest := y[2:]
	for i := range d {
		e := math.Exp(-x[i])
		y[i] += e
		rest[i] = math.Sin(e) // the y[i] of the next iteration but one
	}
	z := make([]float64, d)
	same := z[:d]
	for i := range d {
		e := math.Exp(-y[i] - z[i])
		same[i] = e + x[i]
		z[i] *= math.Tanh(same[i])
	}
	for i := range d {
		y[i] += z[i]
	}
	for i := range d {
		e := math.Exp(-y[i])
		y[i+1] += math.Log(e + 1.5)
	}
	sum := 0.0
	for _, v := range y {
		sum = sum/2 + math.Exp(-v)
	}
	for i := range d {
		e := math.Exp(-y[i] * y[i])
		sum += e / 3
		at := i/2 + 1
		y[at] -= e
	}
	for _, v := range y {
		sum += v * v
	}
	return sum
}

// sums has sums in memory, integers and products in an iteration.
//
//revgen:gradient x value
func sums(x []float64, d int) float64 {
	y, total, odd := make([]float64, d), make([]float64, 2), make([]int, d+1)
	for i := range odd {
		odd[i] = (7*i + 3) % (d + 1)
	}
	for i := range d {
		j := odd[i] * 2 / 3
		e := math.Exp(-x[j])
		f := e * x[i]
		total[1] += f * float64(j) / float64(d)
		g := f + math.Cos(f)
		g += e * float64(j) / float64(d)
		y[i] = g / 3
	}
	sum := total[1]
	for i := range d {
		e := math.Exp(y[i])
		sum += e
		if e > 1.3 {
			sum -= e * e
		}
	}
	for i := d - 1; i >= 0; i-- {
		sum -= math.Tanh(y[i] + x[d-1-i])
	}
	return sum
}

// integers are those of their iteration, also if what they are of changes.
//
//revgen:gradient x value
func integers(x []float64, d int) float64 {
	z := make([]float64, d)
	for i := range d {
		g := float64(i % 5)
		k := int(g)
		g += 3 * x[i+1]
		e := math.Exp(-x[i])
		z[i] = e * x[k] * g
	}
	for i := range d {
		e := math.Cos(float64(i))
		k := int(e * e * 3)
		f := math.Sin(e * x[i])
		z[i] += f * x[k]
	}
	sum := 0.0
	for _, v := range z {
		sum += v * v
	}
	return sum
}

// same has an element that is the same in all iterations, by a slice and by a number of the iteration.
//
//revgen:gradient x value
func same(x []float64, d int) float64 {
	y, z := make([]float64, d+1), make([]float64, d+1)
	for i := range d {
		row := y[d-i:]
		f := row[i]
		e := math.Exp(-f * x[i])
		row[i] = e + f*x[i+1]
	}
	for i := range d {
		f := float64(d - i)
		g := z[i+int(f)]
		e := math.Exp(-g * x[i])
		z[i+int(f)] = e + g*x[i+1]
	}
	return y[d] + z[d]
}

// bound has a bound in memory that the loop overwrites.
//
//revgen:gradient x value
func bound(x []float64, d int) float64 {
	y := make([]float64, 2*d+1)
	y[0] = float64(d)
	for i := range int(y[0]) {
		e := math.Exp(-x[i])
		y[i] = e * x[i+1]
	}
	sum := 0.0
	for _, v := range y {
		sum += v * v
	}
	return sum
}

// swapped has slices that change their names, so that their elements are kept.
//
//revgen:gradient x value
func swapped(x []float64, d int) float64 {
	y, z := make([]float64, d+2), make([]float64, d+2)
	for k := range 3 {
		for i := range d {
			e := math.Tanh(y[i] + x[i+k])
			z[i] = e * y[i+1]
		}
		y, z = z, y
		for i := range d {
			y[i] += x[k]
		}
	}
	sum := 0.0
	for i := range d {
		sum += y[i] * math.Log(2+z[i]*z[i])
	}
	return sum
}

// overlap has slices that overlap, and changes the value of a function.
//
//revgen:gradient x value
func overlap(x []float64, d int) float64 {
	y := make([]float64, 2*d+4)
	a, b := y[1:], y[3:]
	for i := range d {
		e := math.Exp(-a[i] * x[i])
		b[i] = e
	}
	for i := range d {
		e := math.Exp(-x[i])
		e += x[i+1]
		y[i] += e
	}
	sum := 0.0
	for _, v := range y {
		sum += v * math.Sin(v)
	}
	return sum
}

// exchanged has stores that need what others overwrite: swaps, a rotation, sums with differences, and a momentum.
//
//revgen:gradient x value hessian
func exchanged(x []float64, d int) float64 {
	y, z := make([]float64, d+3), make([]float64, d+3)
	for i := range d {
		y[i] = x[i] * x[i+1]
		z[i] = x[i] - 2*x[i+2]*x[i]
	}
	for i := range d {
		y[i], z[i] = z[i], y[i]
	}
	for i := range d {
		t, u := y[i], z[i]
		y[i] = 0.8*t - 0.6*u
		z[i] = 0.6*t + 0.8*u
	}
	for i := range d {
		t := y[i] + z[i]
		u := y[i] - z[i]
		y[i] = t
		z[i] = u
	}
	for i := range d {
		g := 2*y[i] - x[i]
		y[i] -= 0.1 * z[i]
		z[i] = 0.9*z[i] + g
	}
	sum := 0.0
	for i := range d {
		t := y[i]
		u := z[i]
		y[i] = x[i]
		z[i] = t
		sum += u * x[i]
	}
	for i := range d {
		e := math.Sin(y[i])
		t := y[i]
		y[i] = z[i] + e
		z[i] = t
	}
	for i := range d {
		sum += y[i]*z[i]*z[i] + y[i]
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
	x := make([]float64, 700)
	for i := range x {
		x[i] = 0.6 + 0.4*math.Sin(float64(3*i+1))
	}
	for _, d := range []int{0, 1, 2, 3, 7, 16, 17, 257, 600} {
		for _, c := range []struct {
			name string
			f, v func(x []float64, d int) float64
			g    func(g, x []float64, d int) float64
		}{{"cell", cell, cellValue, cellGradient}, {"names", names, namesValue, namesGradient}, {"sums", sums, sumsValue, sumsGradient},
			{"integers", integers, integersValue, integersGradient}, {"same", same, sameValue, sameGradient}, {"bound", bound, boundValue, boundGradient},
			{"swapped", swapped, swappedValue, swappedGradient}, {"overlap", overlap, overlapValue, overlapGradient}, {"exchanged", exchanged, exchangedValue, exchangedGradient}} {
			if value, want := c.v(x, d), c.f(x, d); !(math.Abs(value-want) <= 1e-13*(1+math.Abs(want))) {
				t.Errorf("%s %d: the value is %v, want %v", c.name, d, value, want)
			}
			x := x
			if d < 257 {
				x = x[:64]
			}
			compare(t, fmt.Sprint(c.name, " ", d), x, func(x []float64) float64 { return c.f(x, d) }, func(g, x []float64) float64 { return c.g(g, x, d) })
		}
	}
}
`+compareGradients)
	for name, want := range map[string]string{"cellValue": "num.ExpTo num.TanhTo num.CosTo num.ExpTo num.LogTo", "namesValue": "num.ExpTo num.TanhTo", "integersValue": "", "sameValue": "", "sumsValue": "num.TanhTo", "boundValue": "num.ExpTo", "swappedGradient": "num.TanhTo num.LogTo"} {
		_, body, _ := strings.Cut(text, "func "+name+"(")
		body, _, _ = strings.Cut(body, "\n}\n")
		var calls []string
		for _, word := range strings.FieldsFunc(body, func(r rune) bool { return r == '(' || r == '\t' || r == '\n' }) {
			if strings.HasPrefix(word, "num.") && strings.HasSuffix(word, "To") && word != "num.AxpyTo" {
				calls = append(calls, word)
			}
		}
		if got := strings.Join(calls, " "); got != want {
			t.Errorf("%s has %s, want %s:\n%s", name, got, want, body)
		}
	}
}
