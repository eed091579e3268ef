package numbers

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/rev"
	"revnum/revmodels/ba"
	"revnum/revnn"
	"revnum/rules"
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
	buffers := func() []rules.Buffer { return []rules.Buffer{rules.Matrix(matrix(n)), rules.Matrix(matrix(1000))} }
	forward, adjoint := byName[T]("revlinalg.Covariance", buffers(), buffers(), 1)
	return []pass{
		{"AffineBatch over Q43, n=64", 10, func() { affine.Forward() }},
		{"adjoint of AffineBatch over Q43, n=64", 10, func() { affine.Adjoint(affineG) }},
		{"Conv2D over Q43, 3×3, 8 to 16 channels", 10, func() { conv.Forward() }},
		{"adjoint of Conv2D over Q43, 3×3, 8 to 16 channels", 10, func() { conv.Adjoint(convG) }},
		{"Covariance over Q43, 1000×64", 10, forward},
		{"adjoint of Covariance over Q43, 1000×64", 10, adjoint},
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
	kernel := "gmm.LogPosterior"
	if number.IsFixed[T]() {
		kernel = "gmm.FixedLogPosterior"
	}
	forward, adjoint := byName[T](kernel,
		[]rules.Buffer{rules.Scalar(out), rules.Slice(alpha.Data), rules.Matrix(means), rules.Matrix(factors), rules.Matrix(x)},
		[]rules.Buffer{rules.Scalar(gOut), rules.Slice(gAlpha.Data), rules.Matrix(gMeans), rules.Matrix(gFactors)}, 0, 0, 0, 1)
	return []pass{
		{"mixture over Q43, 16 of 8 dimensions", 8, forward},
		{"adjoint of mixture over Q43, 16 of 8 dimensions", 8, adjoint},
	}
}

// byName returns passes of a kernel that is called by its name, such as revlinalg.Exp: it is not compiled here again.
func byName[T rev.Real](kernel string, operands, cotangents []rules.Buffer, params ...float64) (forward, adjoint func()) {
	r, err := rules.Lookup(fmt.Sprintf("%s[%s]", kernel, strings.TrimPrefix(nameOf[T](), "fixed.")))
	mustRun(err)
	prepare := func(p rules.Pass) func() {
		run, err := r.Prepare(p, rules.Args{Operands: operands, Cotangents: cotangents, Params: params})
		mustRun(err)
		return func() { mustRun(run()) }
	}
	return prepare(rules.Forward), prepare(rules.Adjoint)
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
