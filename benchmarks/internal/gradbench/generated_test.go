package gradbench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"revnum/benchmarks/internal/gradbench/generated"
	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// flatten appends all numbers of a JSON value to x.
func flatten(x []float64, v any) []float64 {
	switch v := v.(type) {
	case float64:
		return append(x, v)
	case []any:
		for _, e := range v {
			x = flatten(x, e)
		}
	}
	return x
}

// TestRevgen compares the answers of both tools, for the functions that both have. They
// compute in different orders.
func TestRevgen(t *testing.T) {
	hand, err := json.Marshal(randomHand(rand.New(rand.NewPCG(9, 12)), 12, 9))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool   *Tool
		module string
		inputs []string
		within float64
	}{
		{&Revgen, "ode", []string{`{"x":[0.5,1,-2,0.25,3,1.5],"s":1}`, `{"x":[0.5,1,-2,0.25,3,1.5],"s":7}`, `{"x":[2],"s":3}`}, 1e-14},
		{&Revgen, "ode", []string{`{"x":[0.5,1,-2,0.25,3,1.5,0.5,1,-2,0.25,3,1.5],"s":20}`}, 1e-13},
		{&Revgen, "hello", []string{"3", "-0.5"}, 0},
		{&Revgen, "lse", []string{`{"x":[1]}`, `{"x":[1,-2,700,699.5,3]}`}, 1e-14},
		{&Revgen, "llsq", []string{`{"x":[0.5,-1,2],"n":7}`, `{"x":[0.5],"n":2}`}, 1e-14},
		{&Revgen, "kmeans", []string{`{"points":[[1,2],[3,4],[5,7],[-1,0.5]],"centroids":[[0,1],[4,4],[100,100]]}`}, 1e-14},
		{&Revgen, "ht", []string{string(hand), htInput("[]"), htInput("[[0.25,0.5]]"), strings.Replace(htInput("[]"), "[0,0,0,", "[0.3,-0.2,0.5,", 1)}, 1e-14},
		{&RevgenMinors, "det", []string{`{"A":[7],"ell":1}`, `{"A":[2,-1,0.5,3],"ell":2}`, `{"A":[0,1,2,3,4,5,6,7,9,1,0.5,-2,0.25,3,1,1],"ell":4}`}, 1e-14},
		{&RevnumMinors, "det", []string{`{"A":[7],"ell":1}`, `{"A":[2,-1,0.5,3],"ell":2}`, `{"A":[0,1,2,3,4,5,6,7,9,1,0.5,-2,0.25,3,1,1],"ell":4}`}, 1e-14},
	} {
		for function := range c.tool.modules[c.module] {
			if Revnum.modules[c.module][function] == nil {
				t.Errorf("revnum has no %s.%s", c.module, function)
			}
			for _, input := range c.inputs {
				var outputs [2][]float64
				for i, tool := range []*Tool{&Revnum, c.tool} {
					var out bytes.Buffer
					message := fmt.Sprintf(`{"id":1,"kind":"evaluate","module":%q,"function":%q,"input":%s}`, c.module, function, input)
					if err := tool.Serve(strings.NewReader(message), &out, 1); err != nil {
						t.Fatal(err)
					}
					var a answered
					if err := json.Unmarshal(out.Bytes(), &a); err != nil {
						t.Fatal(err)
					}
					var v any
					if err := json.Unmarshal(a.Output, &v); err != nil {
						t.Fatalf("%s.%s: %s", c.module, function, a.Error)
					}
					outputs[i] = flatten(nil, v)
				}
				want, got := outputs[0], outputs[1]
				if len(got) != len(want) || len(want) == 0 {
					t.Fatalf("%s.%s: %d numbers, want %d", c.module, function, len(got), len(want))
				}
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= c.within*max(1, math.Abs(want[i]))) {
						t.Errorf("%s.%s of %.60s: number %d is %v, want %v", c.module, function, input, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// All nestings give what GradBench expects.
func TestNested(t *testing.T) {
	for _, c := range []struct {
		module, input string
		want          []float64
	}{
		{"particle", `{"w":0}`, []float64{0.2071918746486116}},
		{"saddle", `{"start":[1,1]}`, []float64{8.246324826140356e-06, 8.246324826140356e-06, 8.246324826140356e-06, 8.246324826140356e-06}},
	} {
		for _, function := range []string{"ff", "fr", "rf", "rr"} {
			var out bytes.Buffer
			message := fmt.Sprintf(`{"id":1,"kind":"evaluate","module":%q,"function":%q,"input":%s}`, c.module, function, c.input)
			if err := Revgen.Serve(strings.NewReader(message), &out, 1); err != nil {
				t.Fatal(err)
			}
			var a answered
			if err := json.Unmarshal(out.Bytes(), &a); err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal(a.Output, &v); err != nil {
				t.Fatalf("%s.%s: %s", c.module, function, a.Error)
			}
			got := flatten(nil, v)
			if len(got) != len(c.want) {
				t.Fatalf("%s.%s: %v, want %v", c.module, function, got, c.want)
			}
			for i, want := range c.want {
				if !(math.Abs(got[i]-want) <= 1e-12*want) {
					t.Errorf("%s.%s: number %d is %v, want %v", c.module, function, i, got[i], want)
				}
			}
		}
	}
	for _, input := range []string{`{"start":[1]}`, `{}`, `{"start":1}`} {
		if _, err := saddle(reverse, reverse)([]byte(input), 1); err == nil {
			t.Error("no error for", input)
		}
	}
	if _, err := particle(forward, forward)([]byte(`{}`), 1); err == nil {
		t.Error("no error without w")
	}
}

// numbersIn returns n numbers from low to high, as fixed point represents them.
func numbersIn[T rev.Real](rnd *rand.Rand, n int, low, high float64) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](low + (high-low)*rnd.Float64())
	}
	return x
}

// Each point of a mixture adds what it adds alone, in whichever block it is.
func TestGMMBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	rows := func(n, d int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = numbersIn[float64](rnd, d, -1, 1)
		}
		return x
	}
	for _, c := range []struct{ components, d int }{{16, 8}, {40, 30}, {1, 1}} {
		size, length := generated.GMMBlock(c.components, c.d), c.d*(c.d-1)/2
		points := rows(2*size+3, c.d)
		alpha, mu, q, l := rows(1, c.components)[0], rows(c.components, c.d), rows(c.components, c.d), rows(c.components, length)
		gradient := func(points [][]float64) []float64 {
			alphaGrad := make([]float64, c.components)
			muGrad, qGrad, lGrad := rows(c.components, c.d), rows(c.components, c.d), rows(c.components, length)
			out := []float64{generated.GMMGradient(alphaGrad, muGrad, qGrad, lGrad, alpha, mu, q, l, points, 1, 0.7)}
			for _, v := range []float64{generated.GMM(alpha, mu, q, l, points, 1, 0.7), generated.GMMValue(alpha, mu, q, l, points, 1, 0.7)} {
				if math.Abs(v-out[0]) > 1e-12*math.Abs(v) {
					t.Errorf("%v, %d points: the value is %v, and with the gradient %v", c, len(points), v, out[0])
				}
			}
			out = append(out, alphaGrad...)
			for _, rows := range [][][]float64{muGrad, qGrad, lGrad} {
				out = append(out, slices.Concat(rows...)...)
			}
			return out
		}
		want := gradient(nil)
		none := slices.Clone(want)
		scale := slices.Repeat([]float64{1}, len(want))
		for i := range points {
			for k, v := range gradient(points[i : i+1]) {
				want[k] += v - none[k]
				scale[k] += math.Abs(v - none[k])
			}
			if n := i + 1; n == size-1 || n == size || n == size+1 || n == 2*size+3 {
				for k, v := range gradient(points[:n]) {
					if math.Abs(v-want[k]) > 1e-12*scale[k] {
						t.Fatalf("%v, %d points: number %d is %v, want %v", c, n, k, v, want[k])
					}
				}
			}
		}
	}
	none := [][]float64{{}} // a mixture in no dimensions, of no points
	if v := generated.GMM([]float64{1}, none, none, none, nil, 1, 0.7); v != generated.GMMValue([]float64{1}, none, none, none, nil, 1, 0.7) || v != v {
		t.Errorf("the value of nothing is %v", v)
	}
}

func TestRevgenConformance(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revgenConformance[float64](t) })
	t.Run("Q43", func(t *testing.T) { revgenConformance[fixed.Q43](t) })
}

func revgenConformance[T rev.Real](t *testing.T) {
	vector := func(rnd *rand.Rand, n int, low, high float64) rev.Vector[T] {
		return rev.ViewSlice(numbersIn[T](rnd, n, low, high))
	}
	matrix := func(rnd *rand.Rand, r, c int) rev.General[T] {
		return rev.NewGeneral(r, c, numbersIn[T](rnd, r*c, -1, 1))
	}
	t.Run("Minors", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[generated.Minors[T]]{New: func(rnd *rand.Rand, size int) generated.Minors[T] {
			n := 1 + size%5
			k := generated.Minors[T]{D: vector(rnd, 1<<n, -1, 1), A: matrix(rnd, n, n)}
			for set := range 1 << n {
				k.First = append(k.First, n-bits.OnesCount(uint(set)))
			}
			k.First[0] = 0 // no row, and not read
			return k
		}})
	})
}
