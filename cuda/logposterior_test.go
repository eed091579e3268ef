package cuda

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/gmm"
)

// hostPosterior is gmm.LogPosterior, whose passes run on the device.
type hostPosterior[T rev.Float] gmm.LogPosterior[T]

func (k hostPosterior[T]) Run(p rev.Pass[hostPosterior[T]]) error {
	return through[hostPosterior[T], LogPosterior[T]](testDevice, k, p)
}

func randomPosterior[T rev.Float](rnd *rand.Rand, n, d, comps int, prior gmm.Prior) hostPosterior[T] {
	k := hostPosterior[T]{
		Out: new(T), Alpha: vector[T](rnd, comps), Means: general[T](rnd, comps, d),
		Factors: general[T](rnd, comps, d*(d+1)/2), X: general[T](rnd, n, d), Prior: prior,
	}
	for i := range k.Factors.Data {
		k.Factors.Data[i] *= 0.3
	}
	return k
}

// smallBatches lets a few points be several batches.
func smallBatches(t *testing.T, n int) {
	before := gmmBatch
	gmmBatch = n
	t.Cleanup(func() { gmmBatch = before })
}

func TestLogPosterior(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	smallBatches(t, 5)
	prior := gmm.Prior{Gamma: 0.7, M: 2}
	if !long.Tests() {
		posteriorOf[float64](t, prior, 2)
		return
	}
	t.Run("float64", func(t *testing.T) { posteriorOf[float64](t, prior, 1, 3) })
	t.Run("float32", func(t *testing.T) { posteriorOf[float32](t, prior, 2) })
	t.Run("without a prior", func(t *testing.T) { posteriorOf[float64](t, gmm.Prior{}, 1) })
}

func posteriorOf[T rev.Float](t *testing.T, prior gmm.Prior, sizes ...int) {
	skip := maps.Clone(noAllocs)
	if !long.Tests() {
		skip["NilGradients"], skip["Extremes"] = "takes long", "takes long"
	}
	revtest.Kernel(t, revtest.Spec[hostPosterior[T]]{
		// The square of exp(q) overflows.
		Magnitudes: [2]float64{0.125, 2},
		Sizes:      sizes, Skip: skip, Free: []string{"X.Rows"},
		New: func(rnd *rand.Rand, n int) hostPosterior[T] {
			return randomPosterior[T](rnd, 2*n, min(n, 2), n, prior)
		},
	})
}

// TestLogPosteriorValues compares with the CPU, for several batches, tiles and parts.
func TestLogPosteriorValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	shapes := [][3]int{{7, 1, 1}, {300, 3, 2}, {20, 37, 2}}
	if long.Tests() {
		shapes = append(shapes, [3]int{150, 70, 2})
	}
	for _, s := range shapes {
		for _, batch := range []int{1 << 17, 130} {
			t.Run(fmt.Sprint(s, batch), func(t *testing.T) {
				smallBatches(t, batch)
				comparePosterior(t, s, gmm.Prior{Gamma: 0.7, M: 2, Sign: gmm.ADBench})
			})
		}
	}
	comparePosterior(t, [3]int{0, 2, 2}, gmm.Prior{Gamma: 0.7, M: 2}) // no points
	lower(t, 32, 2, 2)
	comparePosterior(t, [3]int{150, 3, 19}, gmm.Prior{Gamma: 0.7, M: 2}) // a block weighs 32 points up to three times, and a warp up to three components
}

// TestLogPosteriorFar compares second order with the CPU where a mean is so far from the points that its densities are 0, with
// tangents that are NaN: so are the tangents of all gradients that points share.
func TestLogPosteriorFar(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	for _, s := range [][2]int{{3, 0}, {19, 0}, {19, 8}} { // alone in its warp, before others there, and between others
		comps, far := s[0], s[1]
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			random := func() (k, g, tan, gt hostPosterior[float64]) {
				rnd := rand.New(rand.NewPCG(19, 20))
				prior := gmm.Prior{Gamma: 0.7, M: 2}
				k, g = randomPosterior[float64](rnd, 37, 5, comps, prior), randomPosterior[float64](rnd, 37, 5, comps, prior)
				k.Means.Data[5*far+3] = 1e160
				return k, g, randomPosterior[float64](rnd, 37, 5, comps, prior), randomPosterior[float64](rnd, 37, 5, comps, prior)
			}
			k, g, tan, gt := random()
			k2, g2, tan2, gt2 := random()
			if err := rev.AdjointTangent(k, g, tan, gt); err != nil {
				t.Fatal(err)
			}
			gmm.LogPosterior[float64](k2).AdjointTangent(gmm.LogPosterior[float64](g2), gmm.LogPosterior[float64](tan2), gmm.LogPosterior[float64](gt2))
			for name, pair := range map[string][2][]float64{
				"α": {gt.Alpha.Data, gt2.Alpha.Data}, "the means": {gt.Means.Data, gt2.Means.Data},
				"the factors": {gt.Factors.Data, gt2.Factors.Data}, "the points": {gt.X.Data, gt2.X.Data},
			} {
				for i, v := range pair[0] {
					if want := pair[1][i]; math.IsNaN(v) != math.IsNaN(want) || math.Abs(v-want) > 1e-11*math.Abs(want) {
						t.Fatalf("element %d of the second order by %s is %v, want %v", i, name, v, want)
					}
				}
			}
			if !math.IsNaN(gt2.Alpha.Data[1]) {
				t.Errorf("the CPU has %v for another component, want NaN", gt2.Alpha.Data[1])
			}
		})
	}
}

// TestLogPosteriorTensorCores does so for each side of points in shared memory, and for more dimensions.
func TestLogPosteriorTensorCores(t *testing.T) {
	for _, capability := range []int{80, 90} {
		t.Run(fmt.Sprint(capability), func(t *testing.T) { tensorPosterior(t, capability) })
	}
}

func tensorPosterior(t *testing.T, capability int) {
	testDevice = withTensorCores(t, 1<<26, capability)
	for _, s := range [][3]int{{0, 2, 2}, {7, 1, 1}, {270, 3, 2}, {21, 16, 9}, {35, 21, 3}, {20, 64, 2}, {100, 50, 5}, {1100, 2, 1}, {9, 65, 1}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			smallBatches(t, max(250, s[0]/2)) // 550 points take five parts, and of 270 the second batch leaves a part empty
			comparePosterior(t, s, gmm.Prior{Gamma: 0.7, M: 2})
		})
	}
}

func comparePosterior(t *testing.T, s [3]int, prior gmm.Prior) {
	random := func() (k, g, tan hostPosterior[float64]) {
		rnd := rand.New(rand.NewPCG(17, 18))
		k = randomPosterior[float64](rnd, s[0], s[1], s[2], prior)
		g, tan = randomPosterior[float64](rnd, s[0], s[1], s[2], prior), randomPosterior[float64](rnd, s[0], s[1], s[2], prior)
		*g.Out = 0.7
		return k, g, tan
	}
	host := func(k hostPosterior[float64]) gmm.LogPosterior[float64] { return gmm.LogPosterior[float64](k) }
	k, g, tan := random()
	k2, g2, tan2 := random()
	if err := errors.Join(rev.Tangent(k, tan), rev.Adjoint(k, g), rev.Forward(k)); err != nil {
		t.Fatal(err)
	}
	host(k2).Tangent(host(tan2))
	host(k2).Adjoint(host(g2))
	host(k2).Forward()
	// The second order, from the same operands as before.
	k3, h, d := random()
	k4, h2, d2 := random()
	gt, _, _ := random()
	gt2, _, _ := random()
	if err := rev.AdjointTangent(k3, h, d, gt); err != nil {
		t.Fatal(err)
	}
	host(k4).AdjointTangent(host(h2), host(d2), host(gt2))
	for name, pair := range map[string][2][]float64{
		"Out after AdjointTangent": {{*k3.Out}, {*k4.Out}}, "its tangent after AdjointTangent": {{*d.Out}, {*d2.Out}}, "the gradient again": {h.Means.Data, g.Means.Data},
		"the second order by α": {gt.Alpha.Data, gt2.Alpha.Data}, "the second order by the means": {gt.Means.Data, gt2.Means.Data},
		"the second order by the factors": {gt.Factors.Data, gt2.Factors.Data}, "the second order by the points": {gt.X.Data, gt2.X.Data},
		"Out": {{*k.Out}, {*k2.Out}}, "its tangent": {{*tan.Out}, {*tan2.Out}}, "the gradient by α": {g.Alpha.Data, g2.Alpha.Data},
		"the gradient by the means": {g.Means.Data, g2.Means.Data}, "the gradient by the factors": {g.Factors.Data, g2.Factors.Data},
		"the gradient by the points": {g.X.Data, g2.X.Data},
	} {
		largest := 0.0
		for _, v := range pair[1] {
			largest = max(largest, math.Abs(v))
		}
		for i, v := range pair[0] {
			if want := pair[1][i]; !(math.Abs(v-want) <= 1e-11*largest) {
				t.Fatalf("element %d of %s is %v, want %v", i, name, v, want)
			}
		}
	}
}
