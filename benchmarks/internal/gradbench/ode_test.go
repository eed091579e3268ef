package gradbench

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// rungeKutta is the classical method as it is written in books, on all elements.
func rungeKutta(x []float64, steps int) []float64 {
	n, h := len(x), 2/float64(steps)
	f := func(y []float64) []float64 {
		z := make([]float64, n)
		z[0] = x[0]
		for i := 1; i < n; i++ {
			z[i] = x[i] * y[i-1]
		}
		return z
	}
	plus := func(y []float64, a float64, k []float64) []float64 {
		z := make([]float64, n)
		for i := range z {
			z[i] = y[i] + a*k[i]
		}
		return z
	}
	y := make([]float64, n)
	for range steps {
		k1 := f(y)
		k2 := f(plus(y, h/2, k1))
		k3 := f(plus(y, h/2, k2))
		k4 := f(plus(y, h, k3))
		for i := range y {
			y[i] += h * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i]) / 6
		}
	}
	return y
}

func TestODE(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, c := range [][2]int{{1, 1}, {2, 1}, {4, 1}, {5, 1}, {3, 2}, {8, 2}, {9, 2}, {7, 5}, {30, 8}, {40, 50}, {13, 3}, {24, 3}, {25, 3}, {40, 3}, {300, 100}, {200, 30}} {
		n, steps := c[0], c[1]
		x := make([]float64, n)
		for i := range x {
			x[i] = 1 + 2*rnd.Float64()
		}
		in, _ := json.Marshal(map[string]any{"x": x, "s": steps, "min_runs": 2})
		ask := func(function string) (out []float64) {
			a := talk(t, fmt.Sprintf(`{"id":1,"kind":"evaluate","module":"ode","function":%q,"input":%s}`, function, in))
			if err := json.Unmarshal(a[0].Output, &out); err != nil || len(out) != n {
				t.Fatal(err, a[0].Error, out)
			}
			return out
		}
		y := rungeKutta(x, steps)
		for i, v := range ask("primal") {
			if want := y[i]; !(math.Abs(v-want) <= 1e-13*(1+math.Abs(want))) {
				t.Errorf("n=%d s=%d: y[%d] is %v, want %v", n, steps, i, v, want)
			}
		}
		// The last element is a multiple of the product of all x, and 0 if steps are too few to reach it.
		last := y[n-1]
		for i, v := range ask("gradient") {
			if want := last / x[i]; !(math.Abs(v-want) <= 1e-12*(1+math.Abs(want))) || n > 4*steps && v != 0 {
				t.Errorf("n=%d s=%d: derivative %d is %v, want %v", n, steps, i, v, want)
			}
		}
	}
}

// TestODEAgain calls functions twice, and writes to the answer between the calls. Both must give the same.
func TestODEAgain(t *testing.T) {
	for _, v := range []float64{1.5, 1e-200, 1e200} { // y_1 is 0 with 1e-200; the diagonals overflow with 1e200
		for _, n := range []int{1, 9, 30, 100} {
			for steps := range 4 {
				in, _ := json.Marshal(map[string]any{"x": slices.Repeat([]float64{v}, n), "s": steps + 1})
				for name, f := range Revnum.modules["ode"] {
					e, err := f(in, 1)
					if err != nil {
						t.Fatal(err)
					}
					var answers [2]string
					for i := range answers {
						e.call()
						out, _ := e.output() // the error says that it is not finite
						y := out.(numbers)
						answers[i] = fmt.Sprint(y)
						for j := range y {
							y[j] = 7
						}
					}
					if answers[0] != answers[1] {
						t.Errorf("%s of %d times %v in %d steps: %s, and then %s", name, n, v, steps+1, answers[0], answers[1])
					}
				}
			}
		}
	}
}

func TestODEErrors(t *testing.T) {
	for in, want := range map[string]string{
		`{"s":1}`:             `the field "x" is missing`,
		`{"x":[1]}`:           `the field "s" is missing`,
		`{"x":[],"s":1}`:      "x: expected at least one number",
		`{"x":[1],"s":0}`:     "s: expected 1 to",
		`{"x":[1],"s":0.5}`:   "expected a whole number",
		`{"x":[null],"s":1}`:  "expected a number as entry 0",
		`{"x":[1e999],"s":1}`: "value out of range",
	} {
		a := talk(t, `{"id":1,"kind":"evaluate","module":"ode","function":"gradient","input":`+in+`}`)
		if !strings.Contains(a[0].Error, want) {
			t.Errorf("%s: error %q, want %s", in, a[0].Error, want)
		}
	}
}
