package kmeans

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
)

// normals returns an r×c matrix of standard normal numbers.
func normals[T rev.Float](rnd *rand.Rand, r, c int) rev.General[T] {
	m := rev.NewGeneral[T](r, c, nil)
	for i := range m.Data {
		m.Data[i] = T(rnd.NormFloat64())
	}
	return m
}

// costSpec has points so much nearer to one centroid than to the others that no
// difference quotient sees another.
func costSpec[T rev.Float]() revtest.Spec[Cost[T]] {
	return revtest.Spec[Cost[T]]{
		New: func(rnd *rand.Rand, size int) Cost[T] {
			n, comps, d := size, min(40, (size+1)/2), min(12, (size+1)/2)
			k := Cost[T]{Out: new(T), Centroids: normals[T](rnd, comps, d), X: normals[T](rnd, n, d)}
			for c := range comps {
				k.Centroids.Row(c)[0] = T(10 * c)
			}
			for i := range n {
				x, c := k.X.Row(i), k.Centroids.Row(rnd.IntN(comps))
				for j := range x {
					x[j] = x[j]/2 + c[j]
				}
			}
			return k
		},
		Large: 9000, // two batches
		Free:  []string{"Centroids.Rows", "X.Rows"},
	}
}

func TestCost(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, costSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, costSpec[float32]()) })
}

// reference is the definition of F, its gradients at F̄ = 1, and k(i), by plain
// loops in the order that Cost promises.
func reference[T rev.Float](centroids, x rev.General[T]) (cost float64, labels []int, gc, gx []float64) {
	d := x.Cols
	gc, gx = make([]float64, len(centroids.Data)), make([]float64, len(x.Data))
	labels = make([]int, x.Rows)
	var sums [8]float64 // of every eighth point
	for i := range x.Rows {
		least := math.Inf(1)
		for c := range centroids.Rows {
			var s float64
			for j, v := range x.Row(i) {
				r := float64(v) - float64(centroids.Row(c)[j])
				s += float64(r * r)
			}
			if s < least || math.IsNaN(s) && !math.IsNaN(least) {
				least, labels[i] = s, c
			}
		}
		sums[i%8] += least
		for j, v := range x.Row(i) {
			r := float64(v) - float64(centroids.Row(labels[i])[j])
			gx[i*d+j] = 2 * r
			gc[labels[i]*d+j] -= 2 * r
		}
	}
	for step := 1; step < 8; step *= 2 {
		for i := 0; i < 8; i += 2 * step {
			sums[i] += sums[i+step]
		}
	}
	return sums[0], labels, gc, gx
}

type problem struct {
	name        string
	n, comps, d int
	number      func(rnd *rand.Rand) float64
}

func problems() []problem {
	normal := (*rand.Rand).NormFloat64
	p := []problem{
		// Many equal distances.
		{"lattice", 500, 90, 3, func(rnd *rand.Rand) float64 { return float64(rnd.IntN(3)) }},
		{"binary", 300, 700, 4, func(rnd *rand.Rand) float64 { return float64(rnd.IntN(2)) }},
		// Distances that products of matrices cannot tell apart.
		{"offset", 300, 150, 5, func(rnd *rand.Rand) float64 { return 1e6 + rnd.NormFloat64() }},
		{"cluster", 300, 150, 5, func(rnd *rand.Rand) float64 {
			return float64(rnd.IntN(2))*1e3 + 1e-9*rnd.NormFloat64()
		}},
		{"wide", 200, 130, 6, func(rnd *rand.Rand) float64 {
			return rnd.NormFloat64() * math.Pow(10, 16*rnd.Float64()-8)
		}},
		{"subnormal", 200, 70, 3, func(rnd *rand.Rand) float64 { return 1e-308 * rnd.NormFloat64() }},
		{"underflow", 200, 70, 3, func(rnd *rand.Rand) float64 { return 1e-160 * rnd.NormFloat64() }},
		{"small32", 200, 70, 3, func(rnd *rand.Rand) float64 { return 1e-21 * rnd.NormFloat64() }},
		{"huge32", 200, 70, 3, func(rnd *rand.Rand) float64 { return 1e19 * rnd.NormFloat64() }},
		{"huge", 200, 70, 3, func(rnd *rand.Rand) float64 { return 1e154 * rnd.NormFloat64() }},
		{"overflow", 200, 70, 3, func(rnd *rand.Rand) float64 { return 1e200 * rnd.NormFloat64() }},
		{"Inf", 50, 70, 2, func(rnd *rand.Rand) float64 {
			if rnd.IntN(20) == 0 {
				return math.Inf(1 - 2*rnd.IntN(2))
			}
			return rnd.NormFloat64()
		}},
		{"NaN", 50, 70, 2, func(rnd *rand.Rand) float64 {
			if rnd.IntN(50) == 0 {
				return math.NaN()
			}
			return rnd.NormFloat64()
		}},
	}
	for i, n := range []int{1, 127, 128, 129, 1000} {
		for j, comps := range []int{1, 2, 31, 33, 65, 400, 513} {
			for l, d := range []int{1, 7, 16} {
				if (i+j+l)%3 > 0 && !long.Tests() {
					continue
				}
				p = append(p, problem{fmt.Sprintf("n=%d K=%d D=%d", n, comps, d), n, comps, d, normal})
			}
		}
	}
	return p
}

// coarseProblems have panels whose scores over float32 leave few points undecided, many, or all.
func coarseProblems() (p []problem) {
	scaled := func(scale float64) func(rnd *rand.Rand) float64 {
		return func(rnd *rand.Rand) float64 { return scale * rnd.NormFloat64() }
	}
	for name, number := range map[string]func(rnd *rand.Rand) float64{
		"1e200": scaled(1e200), "1e30": scaled(1e30), "1e19": scaled(1e19), "1e18": scaled(1e18),
		"1e-18": scaled(1e-18), "1e-21": scaled(1e-21), "1e-23": scaled(1e-23), "1e-30": scaled(1e-30), "1e-308": scaled(1e-308),
		"equal":  func(*rand.Rand) float64 { return 0.1 },
		"offset": func(rnd *rand.Rand) float64 { return 1e12 + rnd.NormFloat64() },
		"near ties": func(rnd *rand.Rand) float64 { // by 2⁻²⁰ and a little of it
			return float64(rnd.IntN(3)) * (1 + 0x1p-20*float64(rnd.IntN(3)) + 0x1p-45*rnd.NormFloat64())
		},
		"few ties": func(rnd *rand.Rand) float64 {
			if rnd.IntN(2) == 0 {
				return float64(rnd.IntN(5))
			}
			return 4 * rnd.Float64()
		},
		"rare extremes": func(rnd *rand.Rand) float64 {
			if rnd.IntN(200) == 0 {
				return rnd.NormFloat64() * math.Pow(10, 80*rnd.Float64()-40)
			}
			return rnd.NormFloat64()
		},
		"rare Inf": func(rnd *rand.Rand) float64 { return 1 / float64(rnd.IntN(400)) },
		"rare NaN": func(rnd *rand.Rand) float64 {
			if rnd.IntN(400) == 0 {
				return math.NaN()
			}
			return rnd.NormFloat64()
		},
	} {
		for _, d := range []int{1, 2, 5} {
			p = append(p, problem{fmt.Sprintf("%s D=%d", name, d), 700, 60, d, number})
		}
	}
	return p
}

func TestCostReference(t *testing.T) {
	t.Run("float64", testReference[float64])
	t.Run("float32", testReference[float32])
}

func testReference[T rev.Float](t *testing.T) {
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
	for _, p := range append(problems(), coarseProblems()...) {
		rnd := rand.New(rand.NewPCG(1, 3))
		c, x := rev.NewGeneral[T](p.comps, p.d, nil), rev.NewGeneral[T](p.n, p.d, nil)
		for _, m := range []rev.General[T]{c, x} {
			for i := range m.Data {
				m.Data[i] = T(p.number(rnd))
			}
		}
		want, labels, gc, gx := reference(c, x)
		k := Cost[T]{Out: new(T), Centroids: c, X: x}
		k.Forward()
		if !same(float64(*k.Out), float64(T(want))) {
			t.Errorf("%s: cost %v, want %v", p.name, *k.Out, want)
		}
		gotLabels, dists := make([]int, p.n), make([]float64, p.n)
		dir := rev.NewGeneral[T](p.comps, p.d, nil)
		k.Nearest(gotLabels, dists)
		if cost := k.NewtonDirection(dir); !same(float64(cost), float64(T(want))) {
			t.Errorf("%s: NewtonDirection returns %v, want %v", p.name, cost, want)
		}
		counts := make([]float64, p.comps)
		for i, label := range labels {
			counts[label]++
			if gotLabels[i] != label {
				t.Errorf("%s: point %d belongs to %d, want %d", p.name, i, gotLabels[i], label)
			}
		}
		if math.IsNaN(want) || math.IsInf(float64(T(want)), 0) {
			continue
		}

		one := T(1)
		g := Cost[T]{Out: &one, Centroids: rev.NewGeneral[T](p.comps, p.d, nil), X: rev.NewGeneral[T](p.n, p.d, nil)}
		k.Adjoint(g)
		if *k.Out != 0 {
			t.Errorf("%s: %v left of the cost", p.name, *k.Out)
		}
		eps, scale := 0x1p-50, 0.0
		if any(one) == any(float32(1)) {
			eps = 0x1p-21
		}
		for _, v := range gx {
			scale = max(scale, math.Abs(v))
		}
		for i, v := range gx {
			if got := float64(g.X.Data[i]); !(math.Abs(got-v) <= eps*math.Abs(v)+1e-44) {
				t.Errorf("%s: gradient of point coordinate %d %v, want %v", p.name, i, got, v)
				break
			}
		}
		for i, v := range gc {
			n := counts[i/p.d]
			if got := float64(g.Centroids.Data[i]); !(math.Abs(got-v) <= eps*math.Abs(v)+0x1p-50*n*scale+1e-44) {
				t.Errorf("%s: gradient of centroid coordinate %d %v, want %v", p.name, i, got, v)
				break
			}
			wantDir := 0.
			if n > 0 {
				wantDir = v / (2 * n)
			}
			if got := float64(dir.Data[i]); !(math.Abs(got-wantDir) <= eps*math.Abs(wantDir)+0x1p-50*scale+1e-44) {
				t.Errorf("%s: direction %d %v, want %v", p.name, i, got, wantDir)
				break
			}
		}
	}
}

// TestCostExtremes has extremes in points alone, equal points and equal centroids.
func TestCostExtremes(t *testing.T) {
	const n, comps, d = 700, 60, 3
	for _, v := range []float64{0, 1e200, 1e30, 1e19, 1e-21, 1e-30, 0.1, math.Inf(1), math.NaN()} {
		for _, which := range []string{"one coordinate", "equal points", "equal centroids", "points", "centroids"} {
			rnd := rand.New(rand.NewPCG(1, 6))
			c, x := normals[float64](rnd, comps, d), normals[float64](rnd, n, d)
			fill := func(m rev.General[float64], every int) {
				for i := 0; i < len(m.Data); i += every {
					m.Data[i] = v
				}
			}
			switch which {
			case "one coordinate":
				fill(x, 50)
			case "equal points":
				fill(x, 1)
			case "equal centroids":
				fill(c, 1)
			case "points":
				for i := range x.Data {
					x.Data[i] *= v
				}
			case "centroids":
				for i := range c.Data {
					c.Data[i] *= v
				}
			}
			want, labels, _, _ := reference(c, x)
			k := Cost[float64]{Out: new(float64), Centroids: c, X: x}
			k.Forward()
			if math.Float64bits(*k.Out) != math.Float64bits(want) && !(math.IsNaN(*k.Out) && math.IsNaN(want)) {
				t.Errorf("%v, %s: cost %v, want %v", v, which, *k.Out, want)
			}
			got, dists := make([]int, n), make([]float64, n)
			k.Nearest(got, dists)
			if !slices.Equal(got, labels) {
				t.Errorf("%v, %s: other labels", v, which)
			}
		}
	}
}

// TestCoarseMargin compares differences of two scores over float32 with exact ones of the
// distances.
func TestCoarseMargin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 7))
	half := func(x, c []float64) *big.Float { // ½‖x - c‖²
		sum := new(big.Float).SetPrec(2000)
		for j, v := range x {
			r := new(big.Float).SetPrec(2000).SetFloat64(v)
			r.Sub(r, big.NewFloat(c[j]))
			sum.Add(sum, r.Mul(r, r))
		}
		return sum.Quo(sum, big.NewFloat(2))
	}
	var worst, decided float64
	for _, scale := range []float64{1, 1e6, 1e15, 1e18, 1e19, 1e30, 1e-6, 1e-15, 1e-18, 1e-20, 1e-21, 1e-22, 1e-23, 1e-24, 1e-30} {
		for _, d := range []int{1, 2, 8, 16, 100} {
			for try := range long.Or(12, 4) {
				const n = 48
				offset := scale * 1e3 * float64(try%3)
				x, c := normals[float64](rnd, n, d), normals[float64](rnd, 2, d)
				for _, m := range []rev.General[float64]{x, c} {
					for i, v := range m.Data {
						if try%4 == 3 { // all rounded by half a unit, the same way
							v = 1 + 0x1p-24
						}
						m.Data[i] = offset + scale*v
					}
				}
				if try%4 == 3 {
					c.Row(1)[0] = offset
				}
				s := sweep[float64]{k: Cost[float64]{Centroids: c, X: x}, n: n, d: d, comps: 2}
				s.scores.shift = slices.Repeat([]float64{offset}, d)
				s.scores.set(c)
				s.coarse.round(s.scores.scored, 2, d)
				p := panelScratch[float64]{points: make([]float64, d*stride), rounded: make([]float32, d*stride)}
				labels := make([]int32, n)
				decided += float64(n - s.scoreCoarse(&p, 0, labels))
				for i := range n {
					m := s.coarse.margin(p.roundNorms[i])
					if math.IsNaN(m) {
						continue
					}
					best := int(p.coarseLeast.label[i])
					want := half(x.Row(i), c.Row(1-best))
					want.Sub(want, half(x.Row(i), c.Row(best)))
					got := new(big.Float).SetPrec(2000).SetFloat64(float64(p.coarseLeast.second[i]) - float64(p.coarseLeast.best[i]))
					diff, _ := want.Sub(want, got).Float64()
					if worst = max(worst, math.Abs(diff)/m); !(math.Abs(diff) <= m) {
						t.Fatalf("scale %v, offset %v, D=%d: the difference is off by %v, more than %v", scale, offset, d, diff, m)
					}
				}
			}
		}
	}
	if worst < 1./64 || decided == 0 {
		t.Errorf("at most %v of the margin is needed, and %v points are decided", worst, decided)
	}
	t.Logf("at most %v of the margin is needed", worst)
}

// TestCostOverflow has a far centroid of which the score overflows float32 on
// the way, and so is the largest.
func TestCostOverflow(t *testing.T) {
	c := rev.NewGeneral(4, 2, []float32{1.2e19, 1.2e19, -1.2e19, -1.2e19, 3e18, -3e18, -3e18, 3e18})
	x := rev.NewGeneral(1, 2, []float32{4e19, -4e19})
	label, dist := make([]int, 1), make([]float64, 1)
	Cost[float32]{Centroids: c, X: x}.Nearest(label, dist)
	if label[0] != 2 {
		t.Errorf("the nearest centroid is %d at %v, want 2", label[0], dist[0])
	}
}

// TestNewtonDirection compares the direction with the gradient and the Hessian
// that AdjointTangent gives, and the step with the means of the clusters.
func TestNewtonDirection(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	const n, comps, d = 3000, 20, 5
	k := Cost[float64]{Centroids: normals[float64](rnd, comps, d), X: normals[float64](rnd, n, d)}
	for j := range d {
		k.Centroids.Row(7)[j] = 1e3 // too far for any point
	}
	dir := rev.NewGeneral[float64](comps, d, nil)
	k.NewtonDirection(dir)

	one := 1.0
	g := Cost[float64]{Out: &one, Centroids: rev.NewGeneral[float64](comps, d, nil)}
	ones := Cost[float64]{Centroids: rev.NewGeneral[float64](comps, d, nil)}
	for i := range ones.Centroids.Data {
		ones.Centroids.Data[i] = 1
	}
	h := Cost[float64]{Centroids: rev.NewGeneral[float64](comps, d, nil)}
	k.AdjointTangent(g, ones, h)
	_, labels, _, _ := reference(k.Centroids, k.X)
	for c := range comps {
		mean, count := make([]float64, d), 0.
		for i, label := range labels {
			if label == c {
				count++
				for j, v := range k.X.Row(i) {
					mean[j] += v
				}
			}
		}
		for j := range d {
			if h.Centroids.Row(c)[j] != 2*count {
				t.Errorf("Hessian of centroid %d is %v, want %v", c, h.Centroids.Row(c)[j], 2*count)
			}
			got, want := dir.Row(c)[j], 0.
			if c != 7 {
				want = g.Centroids.Row(c)[j] / h.Centroids.Row(c)[j]
				if to := k.Centroids.Row(c)[j] - got; !(math.Abs(to-mean[j]/count) <= 1e-14) {
					t.Errorf("centroid %d steps to %v, want the mean %v", c, to, mean[j]/count)
				}
			}
			if !(math.Abs(got-want) <= 1e-15) {
				t.Errorf("direction of centroid %d is %v, want %v", c, got, want)
			}
		}
	}

	// In place.
	k.NewtonDirection(k.Centroids)
	for i, v := range dir.Data {
		if k.Centroids.Data[i] != v {
			t.Fatalf("in place, the direction is %v, want %v", k.Centroids.Data, dir.Data)
		}
	}
}

func TestNewtonDirectionWorkers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 5))
	k := Cost[float32]{Centroids: normals[float32](rnd, 70, 20), X: normals[float32](rnd, 20000, 20), Workers: 1}
	want := rev.NewGeneral[float32](70, 20, nil)
	cost := k.NewtonDirection(want)
	for _, workers := range []int{2, 7} {
		k.Workers = workers
		got := rev.NewGeneral[float32](70, 20, nil)
		if c := k.NewtonDirection(got); c != cost {
			t.Errorf("%d workers: cost %v, want %v", workers, c, cost)
		}
		for i, v := range want.Data {
			if got.Data[i] != v {
				t.Fatalf("%d workers: direction %d is %v, want %v", workers, i, got.Data[i], v)
			}
		}
	}
}

func TestCostMisuse(t *testing.T) {
	x := rev.NewGeneral[float64](3, 2, nil)
	k := Cost[float64]{Out: new(float64), Centroids: rev.NewGeneral[float64](2, 2, nil), X: x}
	for name, c := range map[string]struct {
		call func()
		want error
	}{
		"no centroids":  {Cost[float64]{Centroids: rev.General[float64]{Cols: 2}, X: x}.Forward, mat.ErrZeroLength},
		"columns":       {NewCost(new(float64), mat.NewDense(1, 2, nil), mat.NewDense(1, 3, nil)).Forward, mat.ErrShape},
		"counts":        {func() { k.Moments(make([]float64, 3), make([]float64, 4)) }, mat.ErrShape},
		"sums":          {func() { k.Moments(make([]float64, 2), make([]float64, 5)) }, mat.ErrShape},
		"labels":        {func() { k.Nearest(make([]int, 2), make([]float64, 3)) }, mat.ErrShape},
		"distances":     {func() { k.Nearest(make([]int, 3), make([]float64, 2)) }, mat.ErrShape},
		"direction":     {func() { k.NewtonDirection(x) }, mat.ErrShape},
		"no direction":  {func() { k.NewtonDirection(rev.General[float64]{Rows: 2, Cols: 2}) }, mat.ErrShape},
		"bad direction": {func() { k.NewtonDirection(rev.General[float64]{Rows: 2, Cols: 2, Data: x.Data, Stride: 1}) }, mat.ErrIllegalStride},
	} {
		func() {
			defer func() {
				if v, _ := recover().(error); !errors.Is(v, c.want) {
					t.Errorf("%s: panics with %v, want %v", name, v, c.want)
				}
			}()
			c.call()
		}()
	}
}

func BenchmarkCost(b *testing.B) {
	for _, s := range []struct{ n, comps, d int }{{10000, 10, 8}, {10000, 100, 16}, {10000, 1000, 16}, {1000, 1000, 128}} {
		rnd := rand.New(rand.NewPCG(1, 6))
		x := rev.NewGeneral[float64](s.n, s.d, nil)
		for i := range x.Data {
			x.Data[i] = rnd.Float64()
		}
		k := Cost[float64]{Out: new(float64), X: x, Centroids: rev.NewGeneral[float64](s.comps, s.d, nil), Workers: 1}
		copy(k.Centroids.Data, x.Data[(s.n-s.comps)*s.d:])
		dir := rev.NewGeneral[float64](s.comps, s.d, nil)
		one := 1.0
		g := Cost[float64]{Out: &one, Centroids: dir, X: rev.NewGeneral[float64](s.n, s.d, nil)}
		for name, f := range map[string]func(){
			"Forward": k.Forward, "Adjoint": func() { k.Adjoint(g) }, "Newton": func() { k.NewtonDirection(dir) },
		} {
			b.Run(fmt.Sprintf("%s/n=%d/K=%d/D=%d", name, s.n, s.comps, s.d), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				flops := 2 * float64(s.n) * float64(s.comps) * float64(s.d+1)
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}

// TestMoments adds up the moments of two halves of the points: they give F and the step of
// NewtonDirection, and Nearest the labels that Predict has.
func TestMoments(t *testing.T) {
	const n, d, k = 500, 3, 7
	rnd := rand.New(rand.NewPCG(9, 9))
	x, c := mat.NewDense(n, d, nil), mat.NewDense(k, d, nil)
	for _, m := range []*mat.Dense{x, c} {
		data := m.RawMatrix().Data
		for i := range data {
			data[i] = rnd.NormFloat64()
		}
	}
	whole := NewCost(nil, c, x)
	step := rev.NewGeneral[float64](k, d, nil)
	want := whole.NewtonDirection(step)
	var cost float64
	counts, sums := make([]float64, k), make([]float64, k*d)
	for _, half := range []*mat.Dense{x.Slice(0, 200, 0, d).(*mat.Dense), x.Slice(200, n, 0, d).(*mat.Dense)} {
		n, s := make([]float64, k), make([]float64, k*d)
		cost += NewCost(nil, c, half).Moments(n, s)
		for i, v := range n {
			counts[i] += v
		}
		for i, v := range s {
			sums[i] += v
		}
	}
	if math.Abs(cost-want) > 1e-12*want {
		t.Errorf("F is %v, want %v", cost, want)
	}
	for i, v := range sums {
		if got := -v / counts[i/d]; math.Abs(got-step.Data[i]) > 1e-12 {
			t.Errorf("step %d is %v, want %v", i, got, step.Data[i])
		}
	}
	labels, dists := make([]int, n), make([]float64, n)
	whole.Nearest(labels, dists)
	for i, label := range labels {
		for j := range k {
			var s float64
			for l, v := range x.RawRowView(i) {
				s += (v - c.At(j, l)) * (v - c.At(j, l))
			}
			if s < dists[i]-1e-12 || j == label && math.Abs(s-dists[i]) > 1e-12 {
				t.Fatalf("point %d: label %d at %v, and %d is at %v", i, label, dists[i], j, s)
			}
		}
	}
}
