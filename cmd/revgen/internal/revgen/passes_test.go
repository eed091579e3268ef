package revgen

import (
	"fmt"
	"strings"
	"testing"
)

// gradientPasses compares values and gradients of functions that passes over both sweeps could get wrong, and
// bounds the length of what is written for them and its memory.
func gradientPasses(t *testing.T, b *batch) {
	var source strings.Builder
	source.WriteString(`package written

import "math"

const (
	inf  = 3.0
	nan  = 5.0
	huge = 1.5e308
)

//revgen:gradient x
func octal(x []float64) float64 {
	a := x[0]
	return 010*a*a + a*a + 1_000*a*a + 0x1p4*a*a + 0b11*a*a
}

//revgen:gradient x
func named(x []float64) float64 {
	a := x[0]
	return inf*a*a + a*a*inf + nan*a*a
}

//revgen:gradient x
func over(x []float64) float64 {
	a := x[0]
	return 1.5e308*a*a + a
}

//revgen:gradient x
func overNamed(x []float64) float64 {
	a := x[0]
	return huge*a*a + a*a*huge + a
}

//revgen:gradient x
func over32(x []float32) float32 {
	a := x[0]
	return 2e38*a*a + a
}

//revgen:gradient x
func under(x []float64) float64 {
	a, b := x[0], x[1]
	return 1e-200*b*a*1e-200 + a*(1e-200*b)*1e-200
}

//revgen:gradient x
func penalized(x []float64) float64 {
	s := math.Sin(x[0])
	var penalty float64
	if x[0] > 1 {
		penalty = x[0] - 1
	}
	s += 100 * penalty * penalty
	return s
}

//revgen:gradient x
func weighed(x, w []float64) float64 {
	s := 0.0
	for i := range x {
		var t float64
		if x[i] > 1 {
			t = x[i] - 1
		}
		s += t * w[i]
	}
	return s
}

//revgen:gradient x
func taped(x []float64, boolTape []bool, innerTape2 float64) float64 {
	tape, intTape := x[0], 2
	for k := 0; tape < 100; k++ {
		innerTape, intTapeSpare := math.Sin(tape), k*intTape
		if boolTape[intTapeSpare%len(boolTape)] {
			tape = tape*(1.5+innerTape2*innerTape) + 1
			for j := k; j > 1; j /= 2 {
				tape += math.Sin(tape) * x[j%2]
			}
		}
		tape++
	}
	return tape
}

func norm(x float64, n int) (s float64) {
	y := make([]float64, n)
	for i := range y {
		y[i] = x * float64(i)
	}
	for _, v := range y {
		s += v * v
	}
	return s
}

//revgen:gradient x
func negative(x []float64) float64 { return norm(x[0], -1) + x[0] }

//revgen:gradient x
func rare(x []float64, at []bool) float64 {
	s := x[0]
	for _, b := range at {
		if b {
			s = math.Exp(-math.Sin(s)) * s
			s = math.Cos(s) * x[0]
		}
	}
	return s
}

func step(r, y float64) float64 { return y + 0.1*r*y - 0.1*y*y*y }

//revgen:gradient x
func euler(x []float64) float64 {
	r := x[0]
	return step(r, step(r, step(r, step(r, step(r, step(r, step(r, step(r, x[1]))))))))
}

//revgen:gradient x
func chained(x []float64) float64 {
	a, b, y0 := x[0], x[1], x[1]
`)
	for i := range 11 {
		fmt.Fprintf(&source, "\ty%d := y%d*a*a + y%d*b - y%d*a\n", i+1, i, i, i)
	}
	source.WriteString("\treturn y11\n}\n")
	text := b.add(t, source.String(), `package written

import (
	"math"
	"testing"
)

func TestPasses(t *testing.T) {
	nan, flags := math.NaN(), []bool{true, false, true}
	for _, c := range []struct {
		name string
		f    func(x []float64) float64
		g    func(g, x []float64) float64
		x    []float64
		want []float64 // nil for differences
	}{
		{"octal", octal, octalGradient, []float64{0.5}, []float64{1028}},
		{"named", named, namedGradient, []float64{0.5}, []float64{11}},
		{"over", over, overGradient, []float64{0.5}, []float64{1.5e308}},
		{"overNamed", overNamed, overNamedGradient, []float64{0.25}, []float64{1.5e308}},
		{"under", under, underGradient, []float64{1e290, 1e300}, []float64{2e-100, 2e-110}},
		{"penalized", penalized, penalizedGradient, []float64{0.5}, nil},
		{"penalized", penalized, penalizedGradient, []float64{1.5}, nil},
		{
			"weighed", func(x []float64) float64 { return weighed(x, []float64{nan, 3}) },
			func(g, x []float64) float64 { return weighedGradient(g, x, []float64{nan, 3}) }, []float64{0.5, 2}, []float64{0, 3},
		},
		{
			"taped", func(x []float64) float64 { return taped(x, flags, 0.1) },
			func(g, x []float64) float64 { return tapedGradient(g, x, flags, 0.1) }, []float64{0.3, 0.2}, nil,
		},
		{
			"rare", func(x []float64) float64 { return rare(x, flags) },
			func(g, x []float64) float64 { return rareGradient(g, x, flags) }, []float64{0.7}, nil,
		},
		{"euler", euler, eulerGradient, []float64{0.7, 0.2}, nil},
		{"chained", chained, chainedGradient, []float64{0.7, 0.9}, nil},
	} {
		g := make([]float64, len(c.x))
		value, want := c.g(g, c.x), c.f(c.x)
		if value != want && (value == value || want == want) {
			t.Errorf("%s: the gradient returns %v, and the function %v", c.name, value, want)
		}
		for i, d := range g {
			var want float64
			if c.want != nil {
				want = c.want[i]
			} else {
				at := func(h float64) float64 {
					x := append([]float64(nil), c.x...)
					x[i] += h
					return c.f(x)
				}
				const h = 1e-4
				want = (8*(at(h)-at(-h)) - at(2*h) + at(-2*h)) / (12 * h)
			}
			if !(math.Abs(d-want) <= 1e-8*math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, want %v", c.name, i, d, want)
			}
		}
	}
	g := []float32{0}
	if over32Gradient(g, []float32{0.5}); math.Abs(float64(g[0]) - 2e38) > 1e32 {
		t.Error("over32:", g)
	}
	defer func() {
		if recover() == nil {
			t.Error("a slice of -1 elements is made")
		}
	}()
	negativeGradient([]float64{0}, []float64{1})
}
`)
	if n := len(text); n > 12*source.Len() {
		t.Errorf("%d bytes are written for %d", n, source.Len())
	}
	_, rare, _ := strings.Cut(text, "func rareGradient")
	if rare, _, _ = strings.Cut(rare, "\n}\n"); strings.Contains(rare, "* len(at)") {
		t.Errorf("each iteration has places that few use:\n%s", rare)
	}
	t.Logf("%d bytes are written for %d", len(text), source.Len())
}
