package catalog

import (
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
	"revnum/revmodels/hand"
	"revnum/revmodels/kmeans"
	"revnum/revmodels/lstm"
	"revnum/revmodels/nbody"
	"revnum/revmodels/wave"
)

func logPosterior[T rev.Float](rnd *rand.Rand, n, _ int) gmm.LogPosterior[T] {
	return gmm.LogPosterior[T]{
		Out: scalar[T](rnd), Alpha: vector[T](rnd, 2), Means: matrix[T](rnd, 2, 3), Factors: matrix[T](rnd, 2, 6), X: matrix[T](rnd, n, 3),
		Prior: gmm.Prior{Gamma: 1, M: 1},
	}
}

func cost[T rev.Float](rnd *rand.Rand, n, _ int) kmeans.Cost[T] {
	return kmeans.Cost[T]{Out: scalar[T](rnd), Centroids: matrix[T](rnd, 2, 3), X: matrix[T](rnd, n, 3)}
}

func residuals[T rev.Real](rnd *rand.Rand, n, _ int) hand.Residuals[T] {
	k := hand.Residuals[T]{
		R: vector[T](rnd, 3*n), Theta: vector[T](rnd, hand.Params), UV: matrix[T](rnd, n, 2), Points: matrix[T](rnd, n, 3),
		Correspondences: make([]int, n), Surface: true, Model: mitten(),
	}
	for i := range n {
		k.Correspondences[i] = rnd.IntN(k.Model.Triangles())
	}
	return k
}

// mitten returns a hand of two triangles.
func mitten() *hand.Model {
	along := hand.Affine{{1}, {1: 1, 3: 0.5}, {2: 1}}
	bones := make([]hand.Bone, hand.Bones)
	for i := range bones {
		bones[i] = hand.Bone{Parent: i - 1, Relative: along, InverseBase: along}
	}
	vertex := func(x, y float64, bone int) hand.Vertex {
		return hand.Vertex{Position: [3]float64{x, y, 0.5}, Weights: []hand.Weight{{Bone: 0, Value: 0.5}, {Bone: bone, Value: 0.5}}}
	}
	m, err := hand.NewModel(bones, []hand.Vertex{vertex(0, 1, 1), vertex(1, 0, 4), vertex(1, 1, 9), vertex(0, 0, 20)}, [][3]int{{0, 1, 2}, {1, 2, 3}}, false)
	if err != nil {
		panic(err)
	}
	return m
}

func lstmLoss[T rev.Real](rnd *rand.Rand, n, _ int) lstm.Loss[T] {
	return lstm.Loss[T]{
		Out: scalar[T](rnd), Main: matrix[T](rnd, 4, 4*n), Extra: matrix[T](rnd, 3, n),
		State: matrix[T](rnd, 4, n), Sequence: matrix[T](rnd, 5, n),
	}
}

func loss[T rev.Real](rnd *rand.Rand, n, _ int) graphembed.Loss[T] {
	return graphembed.Loss[T]{
		Out: scalar[T](rnd), Fixed: matrix[T](rnd, 2, n), Free: matrix[T](rnd, 8, n),
		Graph: graphembed.Petersen(), Margin: 1,
	}
}

func fixedLogPosterior(rnd *rand.Rand, n, _ int) gmm.FixedLogPosterior {
	type q = fixed.Q43
	return gmm.FixedLogPosterior{
		Out: scalar[q](rnd), Alpha: vector[q](rnd, 2), Means: matrix[q](rnd, 2, 3), Factors: matrix[q](rnd, 2, 6), X: matrix[q](rnd, n, 3),
		Prior: gmm.Prior{Gamma: 1, M: 1},
	}
}

func logResponsibilities[T rev.Float](rnd *rand.Rand, n, _ int) gmm.LogResponsibilities[T] {
	return gmm.LogResponsibilities[T]{
		R: matrix[T](rnd, n, 2), Alpha: vector[T](rnd, 2), Means: matrix[T](rnd, 2, 3), Factors: matrix[T](rnd, 2, 6), X: matrix[T](rnd, n, 3),
	}
}

// camerasOf returns cameras with the given parameters, but for the depth, that see
// points near the origin in front of them.
func camerasOf[T rev.Real](rnd *rand.Rand, params, depth int, at float64) rev.General[T] {
	c := matrix[T](rnd, 2, params)
	for i := range c.Rows {
		for j, v := range c.Row(i) {
			c.Row(i)[j] = fixed.Product(fixed.Of[T](0.25), v)
		}
		c.Row(i)[depth] = fixed.Of[T](at)
	}
	return c
}

// seen returns the cameras and points of n observations.
func seen(rnd *rand.Rand, n, points int) (camera, point []int) {
	camera, point = make([]int, n), make([]int, n)
	for i := range n {
		camera[i], point[i] = rnd.IntN(2), rnd.IntN(points)
	}
	return camera, point
}

func snavely[T rev.Real](rnd *rand.Rand, n, _ int) ba.Snavely[T] {
	k := ba.Snavely[T]{
		R: vector[T](rnd, 2*n), Cameras: camerasOf[T](rnd, 9, 5, -8), Points: matrix[T](rnd, n, 3), Features: matrix[T](rnd, n, 2),
	}
	k.Camera, k.Point = seen(rnd, n, n)
	return k
}

func weighted[T rev.Real](rnd *rand.Rand, n, _ int) ba.Weighted[T] {
	k := ba.Weighted[T]{
		R: vector[T](rnd, 2*n), Z: vector[T](rnd, n), Cameras: camerasOf[T](rnd, 11, 5, -8), Points: matrix[T](rnd, n, 3),
		Weights: vector[T](rnd, n), Features: matrix[T](rnd, n, 2),
	}
	k.Camera, k.Point = seen(rnd, n, n)
	return k
}

func drift[T rev.Real](rnd *rand.Rand, n, _ int) nbody.Drift[T] {
	return nbody.Drift[T]{Q: matrix[T](rnd, n, 3), V: matrix[T](rnd, n, 3), Dt: 0.5}
}

func kick[T rev.Real](rnd *rand.Rand, n, _ int) nbody.Kick[T] {
	return nbody.Kick[T]{V: matrix[T](rnd, n, 3), Q: matrix[T](rnd, n, 3), Mu: positives[T](rnd, n), Dt: 0.5, Softening: 1}
}

func nbodySteps[T rev.Real](rnd *rand.Rand, n, _ int) nbody.Steps[T] {
	return nbody.Steps[T]{
		Q: matrix[T](rnd, n, 3), V: matrix[T](rnd, n, 3), Mu: positives[T](rnd, n),
		N: 2, Options: nbody.Options{Dt: 0.125, Softening: 1},
	}
}

func energy[T rev.Real](rnd *rand.Rand, n, _ int) nbody.Energy[T] {
	return nbody.Energy[T]{Out: scalar[T](rnd), Q: matrix[T](rnd, n, 3), V: matrix[T](rnd, n, 3), Mu: positives[T](rnd, n), Softening: 1}
}

func waveSteps[T rev.Real](rnd *rand.Rand, n, _ int) wave.Steps[T] {
	k := wave.Steps[T]{U: matrix[T](rnd, n, n), Prev: matrix[T](rnd, n, n), M: matrix[T](rnd, n, n), N: 2}
	for i := range k.M.Data {
		k.M.Data[i] = fixed.Of[T](0.12 + 0.1*rnd.Float64())
	}
	if n > 0 {
		k.Source, k.SourceAt = matrix[T](rnd, k.N, 1), []int{rnd.IntN(n * n)}
		k.Trace, k.ReceiverAt = matrix[T](rnd, k.N, 2), []int{rnd.IntN(n * n), rnd.IntN(n * n)}
	}
	return k
}
