package numbers

import (
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
	"revnum/revnn"
)

// layers returns two layers of networks.
func layers[T rev.Real](rnd *rand.Rand) (revnn.AffineBatch[T], revnn.Conv2D[T]) {
	matrix := func(m, n int) rev.General[T] { return randomMatrix[T](rnd, m, n, 1e-3) }
	const n, inputs, filters, channels, side = 64, 2, 16, 8, 16
	affine := revnn.AffineBatch[T]{Y: matrix(n, n), X: matrix(n, n), W: matrix(n, n), B: rev.ViewSlice(matrix(1, n).Data), Workers: 1}
	return affine, revnn.Conv2D[T]{
		Y: matrix(inputs, filters*side*side), X: matrix(inputs, channels*side*side), W: matrix(filters, channels*9), B: rev.ViewSlice(matrix(1, filters).Data),
		Channels: channels, Height: side, Width: side, KernelHeight: 3, KernelWidth: 3, StrideHeight: 1, StrideWidth: 1, PadHeight: 1, PadWidth: 1, Workers: 1,
	}
}

// layerPasses returns layers of networks and the covariance, with their adjoints.
func layerPasses[T rev.Real](rnd *rand.Rand) []pass {
	const n = 64
	matrix := func(rows int) rev.General[T] { return randomMatrix[T](rnd, rows, n, 1e-3) }
	affine, conv := layers[T](rnd)
	affineG, convG := layers[T](rnd)
	cov := revlinalg.Covariance[T]{C: matrix(n), X: matrix(1000), Workers: 1}
	covG := revlinalg.Covariance[T]{C: matrix(n), X: matrix(1000)}
	return []pass{
		{"AffineBatch over Q43, n=64", 10, func() { affine.Forward() }},
		{"adjoint of AffineBatch over Q43, n=64", 10, func() { affine.Adjoint(affineG) }},
		{"Conv2D over Q43, 3×3, 8 to 16 channels", 10, func() { conv.Forward() }},
		{"adjoint of Conv2D over Q43, 3×3, 8 to 16 channels", 10, func() { conv.Adjoint(convG) }},
		{"Covariance over Q43, 1000×64", 10, func() { cov.Forward() }},
		{"adjoint of Covariance over Q43, 1000×64", 10, func() { cov.Adjoint(covG) }},
	}
}

// modelPasses returns bundle adjustment and a mixture.
func modelPasses[T rev.Real](rnd *rand.Rand) []pass {
	return append(viewPasses[T](rnd), mixturePasses[T](rnd)...)
}

// viewPasses returns passes of ba.Snavely. The cameras look at points that are some ten
// units before them.
func viewPasses[T rev.Real](rnd *rand.Rand) []pass {
	const cameras, points, observations = 16, 512, 4096
	operands := func() ba.Snavely[T] {
		k := ba.Snavely[T]{
			R: rev.ViewSlice(make([]T, 2*observations)), Cameras: randomMatrix[T](rnd, cameras, 9, 1e-2), Points: randomMatrix[T](rnd, points, 3, 1),
			Features: randomMatrix[T](rnd, observations, 2, 10), Camera: make([]int, observations), Point: make([]int, observations), Workers: 1,
		}
		for i := range cameras {
			c := k.Cameras.Row(i)
			c[0], c[5], c[6] = fixed.Of[T](0.5*rnd.NormFloat64()), fixed.Of[T](-10-rnd.Float64()), fixed.Of[T](500)
		}
		for i := range observations {
			k.Camera[i], k.Point[i] = i%cameras, rnd.IntN(points)
		}
		return k
	}
	k, g := operands(), operands()
	g.Camera, g.Point, g.R.Data = nil, nil, randomMatrix[T](rnd, 1, 2*observations, 1e-6).Data
	j := rev.NewGeneral[T](2*observations, 12, nil)
	return []pass{
		{"ba.Snavely over Q43, 4096 observations", 8, func() { mustRun(k.Forward()) }},
		{"adjoint of ba.Snavely over Q43", 8, func() { mustRun(k.Adjoint(g)) }},
		{"Jacobian of ba.Snavely over Q43", 8, func() { mustRun(k.Jacobian(j)) }},
	}
}

// mixturePasses returns passes of a mixture of 16 Gaussians in 8 dimensions at 1000 points.
func mixturePasses[T rev.Real](rnd *rand.Rand) []pass {
	const d, comps, n = 8, 16, 1000
	alpha, means, factors, x := randomMatrix[T](rnd, 1, comps, 1), randomMatrix[T](rnd, comps, d, 1), randomMatrix[T](rnd, comps, d*(d+1)/2, 0.3), randomMatrix[T](rnd, n, d, 1)
	gAlpha, gMeans, gFactors := randomMatrix[T](rnd, 1, comps, 0), randomMatrix[T](rnd, comps, d, 0), randomMatrix[T](rnd, comps, d*(d+1)/2, 0)
	out, gOut := new(T), new(T)
	*gOut = fixed.Of[T](1e-6)
	run := func(forward, adjoint func()) []pass {
		return []pass{
			{"mixture over Q43, 16 of 8 dimensions", 8, forward},
			{"adjoint of mixture over Q43, 16 of 8 dimensions", 8, adjoint},
		}
	}
	if _, ok := any(out).(*fixed.Q43); ok {
		k, g := fixedMixture(out, alpha, means, factors, x), fixedMixture(gOut, gAlpha, gMeans, gFactors, rev.General[T]{})
		return run(func() { mustRun(k.Forward()) }, func() { mustRun(k.Adjoint(g)) })
	}
	k, g := floatMixture(out, alpha, means, factors, x), floatMixture(gOut, gAlpha, gMeans, gFactors, rev.General[T]{})
	return run(func() { k.Forward() }, func() { k.Adjoint(g) })
}

func fixedMixture[T rev.Real](out *T, alpha, means, factors, x rev.General[T]) gmm.FixedLogPosterior {
	return gmm.FixedLogPosterior{
		Out: any(out).(*fixed.Q43), Alpha: rev.ViewSlice(any(alpha.Data).([]fixed.Q43)), Means: any(means).(rev.General[fixed.Q43]),
		Factors: any(factors).(rev.General[fixed.Q43]), X: any(x).(rev.General[fixed.Q43]), Workers: 1,
	}
}

func floatMixture[T rev.Real](out *T, alpha, means, factors, x rev.General[T]) gmm.LogPosterior[float64] {
	return gmm.LogPosterior[float64]{
		Out: any(out).(*float64), Alpha: rev.ViewSlice(any(alpha.Data).([]float64)), Means: any(means).(rev.General[float64]),
		Factors: any(factors).(rev.General[float64]), X: any(x).(rev.General[float64]), Workers: 1,
	}
}

func mustRun(err error) {
	if err != nil {
		panic(err)
	}
}

// randomMatrix returns a matrix of normal numbers with the given deviation.
func randomMatrix[T rev.Real](rnd *rand.Rand, m, n int, deviation float64) rev.General[T] {
	x := make([]T, m*n)
	for i := range x {
		x[i] = fixed.Of[T](deviation * rnd.NormFloat64())
	}
	return rev.NewGeneral(m, n, x)
}
