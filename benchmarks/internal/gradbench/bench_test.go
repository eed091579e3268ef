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
				input := map[string]any{"x": uniform(n), "s": steps}
				run(&Revnum, "ode", fmt.Sprintf("n=%d,s=%d", n, steps), f, input)
				run(&Revgen, "ode", fmt.Sprintf("revgen,n=%d,s=%d", n, steps), f, input)
			}
		}
	}
	for _, n := range []int{5, 8, 11} {
		for _, f := range []string{"primal", "gradient"} {
			run(&Revnum, "det", fmt.Sprint(n), f, map[string]any{"A": uniform(n * n), "ell": n})
			run(&Revgen, "det", "revgen,"+fmt.Sprint(n), f, map[string]any{"A": uniform(n * n), "ell": n})
		}
	}
	rows := func(n, d int) (out [][]float64) {
		for range n {
			out = append(out, uniform(d))
		}
		return out
	}
	d, k, n := 10, 25, 1000
	inputs := map[string]any{
		"gmm":  map[string]any{"d": d, "k": k, "n": n, "m": 0, "gamma": 1, "x": rows(n, d), "alpha": uniform(k), "mu": rows(k, d), "q": rows(k, d), "l": rows(k, d*(d-1)/2)},
		"ba":   map[string]any{"n": 21, "m": 500, "p": 2000, "cam": uniform(11), "x": []float64{1, 2, 10}, "w": 0.5, "feat": uniform(2)},
		"lstm": map[string]any{"main_params": rows(4, 56), "extra_params": rows(3, 14), "state": rows(4, 14), "sequence": rows(1024, 14)},
	}
	inputs["ht"] = randomHand(rnd, 10_000, 6400)
	for _, module := range []string{"ba", "gmm", "ht", "lstm"} {
		for _, f := range []string{"objective", "jacobian"} {
			for _, tool := range []*Tool{&Revnum, &Revgen} {
				run(tool, module, tool.Name, f, inputs[module])
			}
		}
	}
	for _, f := range []string{"ff", "fr", "rf", "rr"} {
		run(&Revgen, "particle", "w=0", f, map[string]any{"w": 0})
		run(&Revgen, "saddle", "start=1,1", f, map[string]any{"start": []float64{1, 1}})
	}
	for _, size := range [][3]int{{2, 5, 1000}, {2, 100, 1000}, {10, 5, 1000}, {64, 5, 1000}, {10, 100, 1000}} {
		d, k := size[0], size[1]
		for _, f := range []string{"objective", "jacobian"} {
			run(&Revgen, "gmm", fmt.Sprintf("revgen,d=%d,k=%d", d, k), f, map[string]any{"d": d, "k": k, "n": n, "m": 0, "gamma": 1,
				"x": rows(n, d), "alpha": uniform(k), "mu": rows(k, d), "q": rows(k, d), "l": rows(k, d*(d-1)/2)})
		}
	}
	for _, k := range []int{10, 1000} {
		for _, f := range []string{"cost", "dir"} {
			run(&Revgen, "kmeans", fmt.Sprintf("revgen,k=%d,n=1000,d=16", k), f, map[string]any{"points": rows(1000, 16), "centroids": rows(k, 16)})
		}
	}
	for _, tool := range []*Tool{&Revnum, &Revgen} {
		for _, f := range []string{"primal", "gradient"} {
			run(tool, "lse", tool.Name+",n=10000", f, map[string]any{"x": uniform(10_000)})
		}
		for _, f := range []string{"cost", "dir"} {
			run(tool, "kmeans", tool.Name+",k=50,n=1000,d=10", f, map[string]any{"points": rows(1000, 10), "centroids": rows(50, 10)})
		}
	}
	for _, f := range []string{"primal", "gradient"} {
		run(&Revgen, "lse", "revgen,n=2500", f, map[string]any{"x": uniform(2500)})
		run(&Revgen, "llsq", "revgen,n=16,m=128", f, map[string]any{"x": uniform(128), "n": 16})
		for _, tool := range []*Tool{&Revnum, &Revgen} {
			run(tool, "llsq", tool.Name+",n=1024,m=128", f, map[string]any{"x": uniform(128), "n": 1024})
		}
	}
}

// randomHand returns a problem of hand tracking, with triangles of a model with so many vertices, each of which
// has four bones.
func randomHand(rnd *rand.Rand, vertices, n int) any {
	model := map[string]any{"bone_count": 21, "bone_names": make([]string, 21), "is_mirrored": false}
	var parents, correspondences []int
	var weights, positions, transforms [][]float64
	var triangles [][3]int
	for b := range 21 {
		parent := b - 1
		if b%4 == 1 {
			parent = 0
		}
		parents = append(parents, parent)
	}
	uniform := func(d int) []float64 {
		x := make([]float64, d)
		for i := range x {
			x[i] = rnd.Float64()
		}
		return x
	}
	for range vertices {
		w := make([]float64, 21)
		for range 4 {
			w[rnd.IntN(21)] = 0.25
		}
		weights, positions = append(weights, w), append(positions, append(uniform(3), 1))
		triangles = append(triangles, [3]int{rnd.IntN(vertices), rnd.IntN(vertices), rnd.IntN(vertices)})
	}
	for range 4 {
		transforms = append(transforms, make([]float64, 4))
	}
	for i := range 4 {
		transforms[i][i] = 1
	}
	var all [][][]float64
	for range 21 {
		all = append(all, transforms)
	}
	model["parents"], model["base_relatives"], model["inverse_base_absolutes"] = parents, all, all
	model["base_positions"], model["weights"], model["triangles"] = positions, weights, triangles
	var us, points [][]float64
	for range n {
		us, points, correspondences = append(us, uniform(2)), append(points, uniform(3)), append(correspondences, rnd.IntN(vertices))
	}
	return map[string]any{"theta": uniform(26), "us": us, "data": map[string]any{"model": model, "correspondences": correspondences, "points": points}}
}
