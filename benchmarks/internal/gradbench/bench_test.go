package gradbench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkEvals calls the functions that docs/performance.md compares with loops in C++.
func BenchmarkEvals(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	uniform := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.Float64()
		}
		return x
	}
	run := func(tool *Tool, module, size, function string, input any) {
		b.Run(fmt.Sprintf("%s/%s/%s", module, size, function), func(b *testing.B) {
			text, err := json.Marshal(input)
			if err != nil {
				b.Fatal(err)
			}
			e, err := tool.modules[module][function](text, 1)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				e.call()
			}
		})
	}
	for _, n := range []int{1000, 10_000, 100_000} {
		for _, steps := range []int{1, 10, 100} {
			for _, f := range []string{"primal", "gradient"} {
				run(&Revnum, "ode", fmt.Sprintf("n=%d,s=%d", n, steps), f, map[string]any{"x": uniform(n), "s": steps})
			}
		}
	}
	for _, n := range []int{5, 8, 11} {
		for _, f := range []string{"primal", "gradient"} {
			run(&Revnum, "det", fmt.Sprint(n), f, map[string]any{"A": uniform(n * n), "ell": n})
		}
	}
	run(&Revgen, "particle", "w=0", "ff", map[string]any{"w": 0})
	run(&Revgen, "saddle", "start=1,1", "ff", map[string]any{"start": []float64{1, 1}})
}
