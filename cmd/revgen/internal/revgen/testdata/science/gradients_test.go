package science

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
)

// A timed function has its gradient beside it, and for some an adjoint that is written by hand.
// All three take the same operands, and g and h store the gradient in the same place.
type timed struct {
	name    string
	f, g, h func() float64
	stored  func() []float64 // all gradients that are stored
}

// timings returns functions with operands of the size that programs have.
func timings() []timed {
	defer func(old *rand.Rand) { rnd = old }(rnd) // other tests draw the same operands without this one
	rnd = rand.New(rand.NewPCG(3, 4))
	y, sequence := random(1000, -1, 1), matrix(random(64*64, -1, 1), 64)
	zeros := func(rows, cols int) [][]float64 { return matrix(make([]float64, rows*cols), cols) }
	ints := func(n, below int) []int {
		x := make([]int, n)
		for i := range x {
			x[i] = rnd.IntN(below)
		}
		return x
	}
	points := func(n int, lo, hi float64) [][2]float64 {
		p := make([][2]float64, n)
		for i := range p {
			p[i] = [2]float64{lo + (hi-lo)*rnd.Float64(), lo + (hi-lo)*rnd.Float64()}
		}
		return p
	}
	vecs := func(n int) []vec {
		p := make([]vec, n)
		for i := range p {
			p[i] = vec{rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()}
		}
		return p
	}
	square := func(n int) [][]float64 { return matrix(random(n*n, -1, 1), n) }

	theta := []float64{-1, -0.5, 0.3}
	logits, emission, obs := square(8), square(8), ints(100, 8)
	unary, pair, labels := matrix(random(500, -1, 1), 10), square(10), ints(50, 10)
	sub, a, b := square(4), ints(50, 4), ints(50, 4)
	cell := func(fill func(n int) []float64) *gru {
		w := func() [][]float64 { return matrix(fill(64*64), 64) }
		return &gru{w(), w(), w(), w(), w(), w(), fill(64), fill(64), fill(64)}
	}
	unit := cell(func(n int) []float64 { return random(n, -0.2, 0.2) })
	unitGrad := cell(func(n int) []float64 { return make([]float64, n) })
	knots, at := make([]float64, 100), random(200, 0, 99)
	for i := range knots {
		knots[i] = float64(i)
	}
	img, spots := square(32), points(100, 0, 30)
	dense, rows := square(32), square(32)
	pos, vel, charges := vecs(30), vecs(30), random(30, -1, 1)
	q, k, v := square(32), square(32), square(32)
	net := func(fill func(n int) []float64) *network {
		return &network{layer{matrix(fill(64*64), 64), fill(64)}, layer{matrix(fill(64*10), 64), fill(10)}}
	}
	digits := net(func(n int) []float64 { return random(n, -0.2, 0.2) })
	digitsGrad := net(func(n int) []float64 { return make([]float64, n) })
	data, signs := matrix(random(1000, -1, 1), 10), make([]int, 100)
	for i := range signs {
		signs[i] = 2*rnd.IntN(2) - 1
	}
	t32, y32, p32, g32 := make([]float32, 100), make([]float32, 100), []float32{0.5, -0.25}, make([]float32, 2)
	for i := range t32 {
		t32[i], y32[i] = rnd.Float32(), rnd.Float32()
	}
	plane, distances, planeGrad := points(30, -1, 1), square(30), make([][2]float64, 30)
	weights, samples, labels100, weightsGrad := matrix(random(640, -1, 1), 64), matrix(random(6400, -1, 1), 64), ints(100, 10), zeros(10, 64)
	field, fieldGrad := square(64), zeros(64, 64)
	positive := random(100, 0.5, 3)
	w10, w5, x1024, x1000 := random(10, -1, 1), random(5, -1, 1), random(1024, -1, 1), random(1000, -1, 1)
	g, g2 := make([]float64, 5), [2]float64{}
	grad := make([]float64, 1024)
	grad2 := make([]float64, 1024)
	qGrad, kGrad, vGrad := zeros(32, 32), zeros(32, 32), zeros(32, 32)
	g4, g8, g10, g32x32 := zeros(4, 4), zeros(8, 8), zeros(10, 10), zeros(32, 32)
	g50, emissionGrad, labels64, x2 := zeros(50, 10), zeros(8, 8), ints(64, 10), []float64{0.3, 0.8}
	gp, gv, g100 := make([]vec, 30), make([]vec, 30), make([][2]float64, 100)
	stored := func() (all []float64) {
		all = append(append(append(all, g...), g2[:]...), grad...)
		for _, m := range [][][]float64{g4, g32x32, weightsGrad} {
			all = append(all, slices.Concat(m...)...)
		}
		for _, p := range slices.Concat(planeGrad, g100) {
			all = append(all, p[:]...)
		}
		for _, v := range gp {
			all = append(all, v.x, v.y, v.z)
		}
		return append(all, float64(g32[0]), float64(g32[1]))
	}
	list := []timed{
		{name: "kalman", f: func() float64 { return kalman(theta, y) }, g: func() float64 { return kalmanGradient(grad[:3], theta, y) }, h: func() float64 { return kalmanByHand(grad[:3], theta, y) }},
		{name: "hmm", f: func() float64 { return hmm(logits, emission, obs) }, g: func() float64 { return hmmGradient(g8, emissionGrad, logits, emission, obs) }},
		{name: "crf", f: func() float64 { return crf(unary, pair, labels) }, g: func() float64 { return crfGradient(g50, g10, unary, pair, labels) }},
		{name: "softDTW", f: func() float64 { return softDTW(y[:50], y[50:100], 0.5) }, g: func() float64 { return softDTWGradient(grad[:50], grad2[:50], y[:50], y[50:100], 0.5) }},
		{name: "smithWaterman", f: func() float64 { return smithWaterman(sub, 0.3, a, b) }, g: func() float64 { return smithWatermanGradient(g4, &g[0], sub, 0.3, a, b) }, h: func() float64 { return smithWatermanByHand(g4, &g[0], sub, 0.3, a, b) }},
		{name: "garch", f: func() float64 { return garch(0.1, 0.2, 0.6, y) }, g: func() float64 { return garchGradient(&g[0], &g[1], &g[2], 0.1, 0.2, 0.6, y) }, h: func() float64 { return garchByHand(&g[0], &g[1], &g[2], 0.1, 0.2, 0.6, y) }},
		{name: "gru", f: func() float64 { return unit.loss(sequence[:10], y[:64]) }, g: func() float64 { return unit.lossGradient(unitGrad, sequence[:10], y[:64]) }},
		{name: "arma", f: func() float64 { return arma(0.5, 0.3, y) }, g: func() float64 { return armaGradient(&g[0], &g[1], 0.5, 0.3, y) }, h: func() float64 { return armaByHand(&g[0], &g[1], 0.5, 0.3, y) }},
		{name: "spline", f: func() float64 { return spline(knots, y[:100], at) }, g: func() float64 { return splineGradient(grad[:100], knots, y[:100], at) }},
		{name: "newton", f: func() float64 { return newton(1.5, 2) }, g: func() float64 { return newtonGradient(&g[0], &g[1], 1.5, 2) }, h: func() float64 { return newtonByHand(&g[0], &g[1], 1.5, 2) }},
		{name: "halley", f: func() float64 { return halley(3) }, g: func() float64 { return halleyGradient(&g[0], 3) }},
		{name: "bilinear", f: func() float64 { return bilinear(img, spots) }, g: func() float64 { return bilinearGradient(g32x32, g100, img, spots) }, h: func() float64 { return bilinearByHand(g32x32, g100, img, spots) }},
		{name: "rk4", f: func() float64 { return rk4(theta[:2], 0.1, 100, 0.1) }, g: func() float64 { return rk4Gradient(grad[:2], &g[0], theta[:2], 0.1, 100, 0.1) }},
		{name: "cholesky", f: func() float64 { return cholesky(dense) }, g: func() float64 { return choleskyGradient(g32x32, dense) }},
		{name: "gauss", f: func() float64 { return gauss(rows, y[:32]) }, g: func() float64 { return gaussGradient(g32x32, grad[:32], rows, y[:32]) }},
		{name: "simpson", f: func() float64 { return simpson([2]float64{1, 2}, 200) }, g: func() float64 { return simpsonGradient(&g2, [2]float64{1, 2}, 200) }, h: func() float64 { return simpsonByHand(&g2, [2]float64{1, 2}, 200) }},
		{name: "fft", f: func() float64 { return fft(x1024) }, g: func() float64 { return fftGradient(grad, x1024) }},
		{name: "horner", f: func() float64 { return horner(w10, y[:100]) }, g: func() float64 { return hornerGradient(grad[:10], w10, y[:100]) }, h: func() float64 { return hornerByHand(grad[:10], w10, y[:100]) }},
		{name: "continuedFraction", f: func() float64 { return continuedFraction(1.5, 2, 100) }, g: func() float64 { return continuedFractionGradient(&g[0], &g[1], 1.5, 2, 100) }, h: func() float64 { return continuedFractionByHand(&g[0], &g[1], 1.5, 2, 100) }},
		{name: "bisect", f: func() float64 { return bisect(1.5) }, g: func() float64 { return bisectGradient(&g[0], 1.5) }},
		{name: "ewald", f: func() float64 { return ewald(pos, charges, 0.8) }, g: func() float64 { return ewaldGradient(gp, grad[:30], pos, charges, 0.8) }, h: func() float64 { return ewaldByHand(gp, grad[:30], pos, charges, 0.8) }},
		{name: "nbody", f: func() float64 { return nbody(pos, vel, 0.05, 10) }, g: func() float64 { return nbodyGradient(gp, gv, pos, vel, 0.05, 10) }},
		{name: "attention", f: func() float64 { return attention(q, k, v) }, g: func() float64 { return attentionGradient(qGrad, kGrad, vGrad, q, k, v) }},
		{name: "network", f: func() float64 { return digits.loss(sequence, labels64) }, g: func() float64 { return digits.lossGradient(digitsGrad, sequence, labels64) }},
		{name: "adam", f: func() float64 { return adam(0.1, w10, 50) }, g: func() float64 { return adamGradient(&g[0], grad[:10], 0.1, w10, 50) }},
		{name: "heston", f: func() float64 { return heston(1.5, 0.04, 0.3, -0.7, 0.05) }, g: func() float64 {
			return hestonGradient(&g[0], &g[1], &g[2], &g[3], &g[4], 1.5, 0.04, 0.3, -0.7, 0.05)
		}},
		{name: "logistic", f: func() float64 { v, _ := logistic(w10, data, signs); return v }, g: func() float64 { v, _ := logisticGradient(grad[:10], w10, data, signs); return v }, h: func() float64 { return logisticByHand(grad[:10], w10, data, signs) }},
		{name: "huber", f: func() float64 { return float64(huber(p32, t32, y32)) }, g: func() float64 { return float64(huberGradient(g32, p32, t32, y32)) }, h: func() float64 { return float64(huberByHand(g32, p32, t32, y32)) }},
		{name: "stress", f: func() float64 { return stress(plane, distances) }, g: func() float64 { return stressGradient(planeGrad, plane, distances) }, h: func() float64 { return stressByHand(planeGrad, plane, distances) }},
		{name: "gamma", f: func() float64 { return gamma(2.5, 1.3, positive) }, g: func() float64 { return gammaGradient(&g[0], &g[1], 2.5, 1.3, positive) }},
		{name: "bessel", f: func() float64 { return bessel(1.7, positive) }, g: func() float64 { return besselGradient(&g[0], 1.7, positive) }},
		{name: "collect", f: func() float64 { return collect(x1000, -0.2) }, g: func() float64 { return collectGradient(grad[:1000], x1000, -0.2) }},
		{name: "deCasteljau", f: func() float64 { return deCasteljau(x1000[:30], 0.3) }, g: func() float64 { return deCasteljauGradient(grad[:30], x1000[:30], 0.3) }, h: func() float64 { return deCasteljauByHand(grad[:30], x1000[:30], 0.3) }},
		{name: "elementary", f: func() float64 { return elementary(x2) }, g: func() float64 { return elementaryGradient(grad[:2], x2) }},
		{name: "factorial", f: func() float64 { return factorial(3.3) }, g: func() float64 { return factorialGradient(&g[0], 3.3) }},
		{name: "regression", f: func() float64 { return regression(weights, y[:10], samples, labels100) }, g: func() float64 { return regressionGradient(weightsGrad, grad[:10], weights, y[:10], samples, labels100) }, h: func() float64 { return regressionByHand(weightsGrad, grad[:10], weights, y[:10], samples, labels100) }},
		{name: "heat", f: func() float64 { return heat(field, sequence, 0.2, 10) }, g: func() float64 { return heatGradient(fieldGrad, field, sequence, 0.2, 10) }},
		{name: "traps", f: func() float64 { return traps(w5[:3]) }, g: func() float64 { return trapsGradient(grad[:3], w5[:3]) }},
	}
	list = append(list, others()...)
	for i := range list {
		list[i].stored = stored
	}
	return list
}

// others are functions that no adjoint is written for by hand.
func others() []timed {
	values := func(n int) []float64 { return random(n, 0.2, 1) }
	grad, g2, g0 := make([]float64, 1024), make([]float64, 1024), [2]float64{}
	square, squareGrad := matrix(random(32*32, -1, 1), 32), matrix(make([]float64, 32*32), 32)
	x, y, coils, turns := values(256), values(256), values(30), values(100)
	rates := &filter{0.5, []complex128{0.3 + 0.4i, 0.3 - 0.4i, -0.2}}
	zeros := []complex128{0.9i, -0.9i, -1}
	zeroed := func(rows, cols int) *mat.Dense { return mat.NewDense(rows, cols, nil) }
	w1, b1, w2, b2, digits, labels := dense(random(64*64, -0.2, 0.2), 64), vector(values(64)), dense(random(640, -0.2, 0.2), 64), vector(values(10)), dense(values(64*64), 64), make([]int, 64)
	gw1, gb1, gw2, gb2 := zeroed(64, 64), vector(make([]float64, 64)), zeroed(10, 64), vector(make([]float64, 10))
	design, target, fit, fitGrad := dense(random(2000, -1, 1), 20), vector(values(100)), vector(values(20)), vector(make([]float64, 20))
	a64, v64, v64Grad := dense(random(64*64, -1, 1), 64), vector(values(64)), vector(make([]float64, 64))
	t1, t2, t1Grad, t2Grad := dense(values(400), 20), dense(values(400), 20), zeroed(20, 20), zeroed(20, 20)
	layer := func(fill func(n int) []float64) *deep {
		d := &deep{scale: vector(fill(32))}
		for range 3 {
			d.weights, d.bias = append(d.weights, dense(fill(32*32), 32)), append(d.bias, vector(fill(32)))
		}
		return d
	}
	net, netGrad := layer(func(n int) []float64 { return random(n, -0.5, 0.5) }), layer(func(n int) []float64 { return make([]float64, n) })
	w16, w16Grad := dense(random(256, -0.3, 0.3), 16), zeroed(16, 16)
	spd, spdGrad, cols, colsGrad := zeroed(32, 32), zeroed(32, 32), dense(random(32*8, -1, 1), 8), zeroed(32, 8)
	for i := range 32 {
		for j := range 32 {
			spd.Set(i, j, 1/(1+math.Abs(float64(i-j))))
		}
		spd.Set(i, i, 4)
	}
	mesh, meshGrad, angles := dense(values(64), 8), zeroed(8, 8), values(28)
	curve, curveGrad := &bSpline{knots: make([]float64, 20), coefs: values(16), degree: 3}, &bSpline{knots: make([]float64, 20), coefs: make([]float64, 16)}
	for i := range curve.knots {
		curve.knots[i] = float64(i)
	}
	minor := values(36)
	return []timed{
		{name: "transfers", f: func() float64 { return transfers(square, x[:32], 32) }, g: func() float64 { return transfersGradient(squareGrad, grad[:32], square, x[:32], 32) }},
		{name: "spectrum", f: func() float64 { return spectrum(x, y) }, g: func() float64 { return spectrumGradient(grad[:256], x, y) }},
		{name: "ladder", f: func() float64 { return ladder(coils, 0.7) }, g: func() float64 { return ladderGradient(grad[:30], coils, 0.7) }},
		{name: "analytic", f: func() float64 { return analytic(x[:4]) }, g: func() float64 { return analyticGradient(grad[:4], x[:4]) }},
		{name: "respond", f: func() float64 { return rates.respond(turns, zeros) }, g: func() float64 { return rates.respondGradient(grad[:100], turns, zeros) }},
		{name: "perceptron", f: func() float64 { return perceptron(w1, b1, w2, b2, digits, labels) }, g: func() float64 { return perceptronGradient(gw1, gb1, gw2, gb2, w1, b1, w2, b2, digits, labels) }},
		{name: "ridge", f: func() float64 { return ridge(fit, design, target, 0.3) }, g: func() float64 { return ridgeGradient(fitGrad, fit, design, target, 0.3) }},
		{name: "quadratic", f: func() float64 { return quadratic(x[:64], a64) }, g: func() float64 { return quadraticGradient(grad[:64], x[:64], a64) }},
		{name: "vectors", f: func() float64 { return vectors(x[:4], y[:4]) }, g: func() float64 { return vectorsGradient(grad[:4], g2[:4], x[:4], y[:4]) }},
		{name: "columns", f: func() float64 { return columns(v64, a64) }, g: func() float64 { return columnsGradient(v64Grad, v64, a64) }},
		{name: "tables", f: func() float64 { return tables(t1, t2) }, g: func() float64 { return tablesGradient(t1Grad, t2Grad, t1, t2) }},
		{name: "deep", f: func() float64 { return net.loss(v64.SliceVec(0, 32).(*mat.VecDense)) }, g: func() float64 { return net.lossGradient(netGrad, v64.SliceVec(0, 32).(*mat.VecDense)) }},
		{name: "corner", f: func() float64 { return corner(a64, 60) }, g: func() float64 { return cornerGradient(gw1, a64, 60) }},
		{name: "chain", f: func() float64 { return chain(w16, x[:16], 8) }, g: func() float64 { return chainGradient(w16Grad, grad[:16], w16, x[:16], 8) }},
		{name: "density", f: func() float64 { v, _ := density(spd, cols); return v }, g: func() float64 { v, _ := densityGradient(spdGrad, colsGrad, spd, cols); return v }},
		{name: "meshed", f: func() float64 { return meshed(mesh, angles, 10) }, g: func() float64 { return meshedGradient(meshGrad, grad[:28], mesh, angles, 10) }},
		{name: "wave", f: func() float64 { return wave(x, 0.1) }, g: func() float64 { return waveGradient(grad[:256], x, 0.1) }},
		{name: "slope", f: func() float64 { return slope(x, 0.1) }, g: func() float64 { return slopeGradient(grad[:256], x, 0.1) }},
		{name: "curvature", f: func() float64 { return curvature(x) }, g: func() float64 { return curvatureGradient(grad[:256], x) }},
		{name: "determinant", f: func() float64 { return determinant(minor, 6) }, g: func() float64 { return determinantGradient(grad[:36], minor, 6) }},
		{name: "hermite", f: func() float64 { return hermite(0.7, 8) }, g: func() float64 { return hermiteGradient(&g0[0], 0.7, 8) }},
		{name: "bSpline", f: func() float64 { return curve.at(7.3) }, g: func() float64 { return curve.atGradient(curveGrad, &g0[0], 7.3) }},
		{name: "quadrature", f: func() float64 { return quadrature(x[:3], 6) }, g: func() float64 { return quadratureGradient(grad[:3], x[:3], 6) }},
		{name: "cosines", f: func() float64 { return cosines(0.7, 6) }, g: func() float64 { return cosinesGradient(&g0[0], 0.7, 6) }},
		{name: "integrals", f: func() float64 { return integrals(x[:3]) }, g: func() float64 { return integralsGradient(grad[:3], x[:3]) }},
		{name: "several", f: func() float64 { return several(x[:3]) }, g: func() float64 { return severalGradient(grad[:3], x[:3]) }},
		{name: "hull", f: func() float64 { return hull(x[:90]) }, g: func() float64 { return hullGradient(grad[:90], x[:90]) }},
		{name: "orbit", f: func() float64 { return orbit(x[:2]) }, g: func() float64 { return orbitGradient(grad[:2], x[:2]) }},
	}
}

// The gradients of revgen and those by hand have the same values and numbers.
func TestByHand(t *testing.T) {
	for _, c := range timings() {
		if c.h == nil {
			continue
		}
		a, ga := c.g(), c.stored()
		b, gb := c.h(), c.stored()
		near := func(a, b float64) bool {
			return math.Abs(a-b) <= 1e-5*(1+math.Abs(b)) && (c.name == "huber" || math.Abs(a-b) <= 1e-9*(1+math.Abs(b)))
		}
		if !near(a, b) {
			t.Errorf("%s: value %v, and by hand %v", c.name, a, b)
		}
		for i := range ga {
			if !near(ga[i], gb[i]) {
				t.Errorf("%s: derivative %d is %v, and by hand %v", c.name, i, ga[i], gb[i])
			}
		}
	}
}

// BenchmarkGradients compares the time of each gradient, with the value, with that of its
// function. One iteration is a round, in which each runs for some 50 µs.
func BenchmarkGradients(b *testing.B) {
	for _, c := range timings() {
		b.Run(c.name, func(b *testing.B) {
			fs := []func() float64{c.f, c.g}
			if c.h != nil {
				fs = append(fs, c.h)
			}
			calls := make([]int, len(fs))
			best := make([]float64, len(fs))
			for i, f := range fs {
				best[i] = math.Inf(1)
				f()
				start := time.Now()
				f()
				calls[i] = 1 + int(50*time.Microsecond/(1+time.Since(start)))
			}
			for b.Loop() {
				for i, f := range fs {
					start := time.Now()
					for range calls[i] {
						f()
					}
					best[i] = min(best[i], float64(time.Since(start))/float64(calls[i]))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(best[0], "ns/function")
			b.ReportMetric(best[1], "ns/gradient")
			b.ReportMetric(best[1]/best[0], "gradient/function")
			if c.h != nil {
				b.ReportMetric(best[1]/best[2], "gradient/hand")
			}
		})
	}
}
