package science

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// check compares a gradient with differences of values.
func check(t *testing.T, name string, x []float64, f func(x []float64) float64, g func(grad, x []float64) float64) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		grad := make([]float64, len(x))
		for i := range grad {
			grad[i] = math.NaN() // it is stored, not added to
		}
		for range 2 {
			if got, want := g(grad, x), f(x); got != want && math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Fatalf("value %v, want %v", got, want)
			}
		}
		for i := range x {
			at := func(h float64) float64 {
				y := append([]float64(nil), x...)
				y[i] += h
				return f(y)
			}
			d := func(h float64) float64 { return (at(h) - at(-h)) / (2 * h) }
			h := 1e-4 * math.Max(1, math.Abs(x[i]))
			want := (4*d(h/2) - d(h)) / 3
			if !(math.Abs(grad[i]-want) <= 2e-7*(1+math.Abs(want))) {
				t.Errorf("derivative by x[%d] is %v, want %v", i, grad[i], want)
			}
		}
	})
}

// second compares the Hessian, and its product with a vector, with differences of gradients.
func second(t *testing.T, name string, x []float64, g func(grad, x []float64), hv func(dst, x, v []float64), h func(dst *mat.SymDense, x []float64)) {
	t.Helper()
	t.Run(name+"Hessian", func(t *testing.T) {
		n := len(x)
		v, got, up, down := random(n, -1, 1), make([]float64, n), make([]float64, n), make([]float64, n)
		hv(got, x, v)
		at := func(grad []float64, h float64) {
			y := append([]float64(nil), x...)
			for i := range y {
				y[i] += h * v[i]
			}
			g(grad, y)
		}
		full := mat.NewSymDense(n, nil)
		h(full, x)
		var product mat.VecDense
		product.MulVec(full, mat.NewVecDense(n, v))
		const step = 1e-5
		at(up, step)
		at(down, -step)
		for i := range got {
			want := (up[i] - down[i]) / (2 * step)
			if !(math.Abs(got[i]-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("(H·v)[%d] is %v, want %v", i, got[i], want)
			}
			if p := product.AtVec(i); !(math.Abs(got[i]-p) <= 1e-10*(1+math.Abs(p))) {
				t.Errorf("(H·v)[%d] is %v, and by H %v", i, got[i], p)
			}
		}
	})
}

// jacobian compares a Jacobian with differences, and its products with those by the matrix.
func jacobian(t *testing.T, name string, m int, x []float64, f func(dst, x []float64), jvp, vjp func(dst, x, v []float64), j func(dst *mat.Dense, x []float64)) {
	t.Helper()
	t.Run(name+"Jacobian", func(t *testing.T) {
		n := len(x)
		full := mat.NewDense(m, n, nil)
		j(full, x)
		up, down := make([]float64, m), make([]float64, m)
		for c := range n {
			const step = 1e-6
			y := append([]float64(nil), x...)
			y[c] += step
			f(up, y)
			y[c] -= 2 * step
			f(down, y)
			for i := range m {
				want := (up[i] - down[i]) / (2 * step)
				if !(math.Abs(full.At(i, c)-want) <= 1e-7*(1+math.Abs(want))) {
					t.Errorf("J[%d][%d] is %v, want %v", i, c, full.At(i, c), want)
				}
			}
		}
		v, w := random(n, -1, 1), random(m, -1, 1)
		right, left := make([]float64, m), make([]float64, n)
		jvp(right, x, v)
		vjp(left, x, w)
		var byRight, byLeft mat.VecDense
		byRight.MulVec(full, mat.NewVecDense(n, v))
		byLeft.MulVec(full.T(), mat.NewVecDense(m, w))
		for i := range right {
			if want := byRight.AtVec(i); !(math.Abs(right[i]-want) <= 1e-12*(1+math.Abs(want))) {
				t.Errorf("(J·v)[%d] is %v, want %v", i, right[i], want)
			}
		}
		for i := range left {
			if want := byLeft.AtVec(i); !(math.Abs(left[i]-want) <= 1e-12*(1+math.Abs(want))) {
				t.Errorf("(Jᵀ·w)[%d] is %v, want %v", i, left[i], want)
			}
		}
	})
}

var rnd = rand.New(rand.NewPCG(1, 2))

func random(n int, lo, hi float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lo + (hi-lo)*rnd.Float64()
	}
	return x
}

// matrix is a matrix with the elements x, which it shares.
func matrix(x []float64, cols int) [][]float64 {
	var m [][]float64
	for ; len(x) > 0; x = x[cols:] {
		m = append(m, x[:cols:cols])
	}
	return m
}

func TestSequences(t *testing.T) {
	y := random(20, -1, 1)
	check(t, "kalman", []float64{-1, -0.5, 0.3},
		func(x []float64) float64 { return kalman(x, y) },
		func(g, x []float64) float64 { return kalmanGradient(g, x, y) })
	second(t, "kalman", []float64{-1, -0.5, 0.3},
		func(g, x []float64) { kalmanGradient(g, x, y) },
		func(dst, x, v []float64) { kalmanHessVec(dst, x, v, y) },
		func(dst *mat.SymDense, x []float64) { kalmanHessian(dst, x, y) })
	obs := []int{0, 2, 1, 1, 0, 3, 2}
	check(t, "hmm", random(9+12, -1, 1),
		func(x []float64) float64 { return hmm(matrix(x[:9], 3), matrix(x[9:], 4), obs) },
		func(g, x []float64) float64 {
			return hmmGradient(matrix(g[:9], 3), matrix(g[9:], 4), matrix(x[:9], 3), matrix(x[9:], 4), obs)
		})
	labels := []int{0, 1, 2, 1, 0}
	check(t, "crf", random(15+9, -1, 1),
		func(x []float64) float64 { return crf(matrix(x[:15], 3), matrix(x[15:], 3), labels) },
		func(g, x []float64) float64 {
			return crfGradient(matrix(g[:15], 3), matrix(g[15:], 3), matrix(x[:15], 3), matrix(x[15:], 3), labels)
		})
	check(t, "softDTW", random(11, -1, 1),
		func(x []float64) float64 { return softDTW(x[:5], x[5:], 0.5) },
		func(g, x []float64) float64 { return softDTWGradient(g[:5], g[5:], x[:5], x[5:], 0.5) })
	a, b := []int{0, 1, 2, 2, 1, 0, 1}, []int{1, 2, 2, 0, 0, 1}
	check(t, "smithWaterman", append(random(9, -0.5, 1), 0.3),
		func(x []float64) float64 { return smithWaterman(matrix(x[:9], 3), x[9], a, b) },
		func(g, x []float64) float64 {
			return smithWatermanGradient(matrix(g[:9], 3), &g[9], matrix(x[:9], 3), x[9], a, b)
		})
	check(t, "garch", []float64{0.1, 0.2, 0.6},
		func(x []float64) float64 { return garch(x[0], x[1], x[2], y) },
		func(g, x []float64) float64 { return garchGradient(&g[0], &g[1], &g[2], x[0], x[1], x[2], y) })
	const n = 3
	xs, target := matrix(random(8, -1, 1), 2), random(n, -1, 1)
	cell := func(x []float64) *gru {
		w := func(cols int) [][]float64 { m := matrix(x[:n*cols], cols); x = x[n*cols:]; return m }
		v := func() []float64 { m := x[:n]; x = x[n:]; return m }
		return &gru{w(2), w(2), w(2), w(n), w(n), w(n), v(), v(), v()}
	}
	check(t, "gru", random(3*n*2+3*n*n+3*n, -1, 1),
		func(x []float64) float64 { return cell(x).loss(xs, target) },
		func(g, x []float64) float64 { return cell(x).lossGradient(cell(g), xs, target) })
	check(t, "arma", []float64{0.5, 0.3},
		func(x []float64) float64 { return arma(x[0], x[1], y) },
		func(g, x []float64) float64 { return armaGradient(&g[0], &g[1], x[0], x[1], y) })
}

func TestNumerics(t *testing.T) {
	knots, at := []float64{0, 1, 2.5, 3, 4.2}, []float64{0.5, 1.7, 2.6, 4}
	check(t, "spline", random(5, -1, 1),
		func(x []float64) float64 { return spline(knots, x, at) },
		func(g, x []float64) float64 { return splineGradient(g, knots, x, at) })
	second(t, "spline", random(5, -1, 1),
		func(g, x []float64) { splineGradient(g, knots, x, at) },
		func(dst, x, v []float64) { splineHessVec(dst, knots, x, v, at) },
		func(dst *mat.SymDense, x []float64) { splineHessian(dst, knots, x, at) })
	second(t, "fft", random(8, -1, 1), func(g, x []float64) { fftGradient(g, x) }, fftHessVec, fftHessian)
	second(t, "horner", random(5, -1, 1),
		func(g, x []float64) { hornerGradient(g, x, at) },
		func(dst, x, v []float64) { hornerHessVec(dst, x, v, at) },
		func(dst *mat.SymDense, x []float64) { hornerHessian(dst, x, at) })
	check(t, "newton", []float64{1.5, 2},
		func(x []float64) float64 { return newton(x[0], x[1]) },
		func(g, x []float64) float64 { return newtonGradient(&g[0], &g[1], x[0], x[1]) })
	check(t, "halley", []float64{3},
		func(x []float64) float64 { return halley(x[0]) },
		func(g, x []float64) float64 { return halleyGradient(&g[0], x[0]) })
	points := func(x []float64) [][2]float64 {
		var p [][2]float64
		for i := 0; i < len(x); i += 2 {
			p = append(p, [2]float64{x[i], x[i+1]})
		}
		return p
	}
	spots := []float64{0.3, 1.2, 1.6, 0.4, -2, 1, 2.5, 1.5}
	check(t, "bilinear", append(random(16, -1, 1), spots...),
		func(x []float64) float64 { return bilinear(matrix(x[:16], 4), points(x[16:])) },
		func(g, x []float64) float64 {
			gp := make([][2]float64, 4)
			v := bilinearGradient(matrix(g[:16], 4), gp, matrix(x[:16], 4), points(x[16:]))
			for i, p := range gp {
				g[16+2*i], g[17+2*i] = p[0], p[1]
			}
			return v
		})
	check(t, "rk4", []float64{0.4, 0.2, 0.1},
		func(x []float64) float64 { return rk4(x[:2], x[2], 30, 0.1) },
		func(g, x []float64) float64 { return rk4Gradient(g[:2], &g[2], x[:2], x[2], 30, 0.1) })
	check(t, "cholesky", random(16, -1, 1),
		func(x []float64) float64 { return cholesky(matrix(x, 4)) },
		func(g, x []float64) float64 { return choleskyGradient(matrix(g, 4), matrix(x, 4)) })
	check(t, "gauss", random(20, 0, 1),
		func(x []float64) float64 { return gauss(matrix(x[:16], 4), x[16:]) },
		func(g, x []float64) float64 {
			return gaussGradient(matrix(g[:16], 4), g[16:], matrix(x[:16], 4), x[16:])
		})
	check(t, "simpson", []float64{0.7, 2},
		func(x []float64) float64 { return simpson([2]float64(x), 10) },
		func(g, x []float64) float64 {
			return simpsonGradient((*[2]float64)(g), [2]float64(x), 10)
		})
	check(t, "fft", random(16, -1, 1), fft, fftGradient)
	check(t, "horner", random(5, -1, 1),
		func(x []float64) float64 { return horner(x, at) },
		func(g, x []float64) float64 { return hornerGradient(g, x, at) })
	check(t, "continuedFraction", []float64{1.3, 0.7},
		func(x []float64) float64 { return continuedFraction(x[0], x[1], 9) },
		func(g, x []float64) float64 { return continuedFractionGradient(&g[0], &g[1], x[0], x[1], 9) })
	check(t, "bisect", []float64{1.5},
		func(x []float64) float64 { return bisect(x[0]) },
		func(g, x []float64) float64 { return bisectGradient(&g[0], x[0]) })
}

func TestModels(t *testing.T) {
	vecs := func(x []float64) (p []vec) {
		for i := 0; i < len(x); i += 3 {
			p = append(p, vec{x[i], x[i+1], x[i+2]})
		}
		return p
	}
	flat := func(g []float64, p []vec) {
		for i, v := range p {
			g[3*i], g[3*i+1], g[3*i+2] = v.x, v.y, v.z
		}
	}
	check(t, "ewald", random(20, -1, 1),
		func(x []float64) float64 { return ewald(vecs(x[:15]), x[15:], 0.8) },
		func(g, x []float64) float64 {
			gp := make([]vec, 5)
			v := ewaldGradient(gp, g[15:], vecs(x[:15]), x[15:], 0.8)
			flat(g, gp)
			return v
		})
	check(t, "nbody", random(18, -1, 1),
		func(x []float64) float64 { return nbody(vecs(x[:9]), vecs(x[9:]), 0.05, 10) },
		func(g, x []float64) float64 {
			gp, gv := make([]vec, 3), make([]vec, 3)
			v := nbodyGradient(gp, gv, vecs(x[:9]), vecs(x[9:]), 0.05, 10)
			flat(g, gp)
			flat(g[9:], gv)
			return v
		})
	check(t, "attention", random(24, -1, 1),
		func(x []float64) float64 { return attention(matrix(x[:8], 2), matrix(x[8:16], 2), matrix(x[16:], 2)) },
		func(g, x []float64) float64 {
			return attentionGradient(matrix(g[:8], 2), matrix(g[8:16], 2), matrix(g[16:], 2), matrix(x[:8], 2), matrix(x[8:16], 2), matrix(x[16:], 2))
		})
	net := func(x []float64) *network {
		return &network{layer{matrix(x[:12], 3), x[12:16]}, layer{matrix(x[16:24], 4), x[24:26]}}
	}
	xs, labels := matrix(random(15, -1, 1), 3), []int{0, 1, 1, 0, 1}
	check(t, "network", random(26, -1, 1),
		func(x []float64) float64 { return net(x).loss(xs, labels) },
		func(g, x []float64) float64 { return net(x).lossGradient(net(g), xs, labels) })
	check(t, "adam", append([]float64{0.1}, random(4, -1, 1)...),
		func(x []float64) float64 { return adam(x[0], x[1:], 12) },
		func(g, x []float64) float64 { return adamGradient(&g[0], g[1:], x[0], x[1:], 12) })
	check(t, "heston", []float64{1.5, 0.04, 0.3, -0.7, 0.05},
		func(x []float64) float64 { return heston(x[0], x[1], x[2], x[3], x[4]) },
		func(g, x []float64) float64 {
			return hestonGradient(&g[0], &g[1], &g[2], &g[3], &g[4], x[0], x[1], x[2], x[3], x[4])
		})
	data, y := matrix(random(18, -1, 1), 3), []int{1, -1, 1, 1, -1, 1}
	check(t, "logistic", random(3, -1, 1),
		func(x []float64) float64 { v, _ := logistic(x, data, y); return v },
		func(g, x []float64) float64 { v, _ := logisticGradient(g, x, data, y); return v })
	second(t, "logistic", random(3, -1, 1),
		func(g, x []float64) { _, _ = logisticGradient(g, x, data, y) },
		func(dst, w, v []float64) { logisticHessVec(dst, w, v, data, y) },
		func(dst *mat.SymDense, w []float64) { logisticHessian(dst, w, data, y) })
	second(t, "collect", random(9, -1, 1),
		func(g, x []float64) { collectGradient(g, x, -0.2) },
		func(dst, x, v []float64) { collectHessVec(dst, x, v, -0.2) },
		func(dst *mat.SymDense, x []float64) { collectHessian(dst, x, -0.2) })
	second(t, "deCasteljau", random(5, -1, 1),
		func(g, x []float64) { deCasteljauGradient(g, x, 0.3) },
		func(dst, x, v []float64) { deCasteljauHessVec(dst, x, v, 0.3) },
		func(dst *mat.SymDense, x []float64) { deCasteljauHessian(dst, x, 0.3) })
	if _, err := logisticGradient(make([]float64, 3), make([]float64, 3), data, []int{1, 1, 7, 1, 1, 1}); err == nil || err.Error() != "label 2 is 7" {
		t.Errorf("error %v", err)
	}
	var g32, x32, t32, y32 [10]float32
	x32[0], x32[1] = 0.5, -0.25
	for i := range t32 {
		t32[i], y32[i] = float32(i), float32(i)/3
	}
	huberGradient(g32[:2], x32[:2], t32[:], y32[:])
	if math.Abs(float64(g32[0])+7.25) > 1e-5 || math.Abs(float64(g32[1])+43.416667) > 1e-4 {
		t.Error(g32)
	}
	d := matrix(random(25, 0.5, 1.5), 5)
	check(t, "stress", random(10, -1, 1),
		func(x []float64) float64 {
			var p [][2]float64
			for i := 0; i < 10; i += 2 {
				p = append(p, [2]float64{x[i], x[i+1]})
			}
			return stress(p, d)
		},
		func(g, x []float64) float64 {
			var p [][2]float64
			for i := 0; i < 10; i += 2 {
				p = append(p, [2]float64{x[i], x[i+1]})
			}
			gp := make([][2]float64, 5)
			v := stressGradient(gp, p, d)
			for i, q := range gp {
				g[2*i], g[2*i+1] = q[0], q[1]
			}
			return v
		})
	pos := random(6, 0.5, 3)
	check(t, "gamma", []float64{2.5, 1.3},
		func(x []float64) float64 { return gamma(x[0], x[1], pos) },
		func(g, x []float64) float64 { return gammaGradient(&g[0], &g[1], x[0], x[1], pos) })
	check(t, "bessel", []float64{1.7},
		func(x []float64) float64 { return bessel(x[0], pos) },
		func(g, x []float64) float64 { return besselGradient(&g[0], x[0], pos) })
	check(t, "collect", random(9, -1, 1),
		func(x []float64) float64 { return collect(x, -0.2) },
		func(g, x []float64) float64 { return collectGradient(g, x, -0.2) })
	check(t, "deCasteljau", random(5, -1, 1),
		func(x []float64) float64 { return deCasteljau(x, 0.3) },
		func(g, x []float64) float64 { return deCasteljauGradient(g, x, 0.3) })
	for _, x := range [][]float64{{0.3, 0.8}, {0.7, 0.2}} {
		check(t, "elementary", x, elementary, elementaryGradient)
		second(t, "elementary", x, func(g, x []float64) { elementaryGradient(g, x) }, elementaryHessVec, elementaryHessian)
	}
	check(t, "factorial", []float64{3.3},
		func(x []float64) float64 { return factorial(x[0]) },
		func(g, x []float64) float64 { return factorialGradient(&g[0], x[0]) })
	times, ys := random(8, 0, 2), random(8, -1, 1)
	jacobian(t, "residuals", 8, random(3, 0, 1),
		func(dst, x []float64) { residuals(dst, x, times, ys) },
		func(dst, x, v []float64) { residualsJVP(dst, x, v, times, ys) },
		func(dst, x, w []float64) { residualsVJP(dst, x, w, times, ys) },
		func(dst *mat.Dense, x []float64) { residualsJacobian(dst, x, times, ys) })
	s := scale{0.7}
	jacobian(t, "differences", 4, random(6, -1, 1),
		func(dst, x []float64) { s.differences(x, dst) }, s.differencesJVP, s.differencesVJP, s.differencesJacobian)
}

func TestBatch(t *testing.T) {
	xs, labels := matrix(random(20, -1, 1), 4), []int{0, 2, 1, 1, 0}
	check(t, "regression", random(15, -1, 1),
		func(x []float64) float64 { return regression(matrix(x[:12], 4), x[12:], xs, labels) },
		func(g, x []float64) float64 {
			return regressionGradient(matrix(g[:12], 4), g[12:], matrix(x[:12], 4), x[12:], xs, labels)
		})
	target := matrix(random(30, -1, 1), 6)
	check(t, "heat", random(30, -1, 1),
		func(x []float64) float64 { return heat(matrix(x, 6), target, 0.2, 5) },
		func(g, x []float64) float64 { return heatGradient(matrix(g, 6), matrix(x, 6), target, 0.2, 5) })
}

func TestTraps(t *testing.T) {
	for range 3 {
		x := random(3, -1, 1)
		check(t, "names", x, names, namesGradient)
		second(t, "names", x, func(g, x []float64) { namesGradient(g, x) }, namesHessVec, namesHessian)
		check(t, "traps", x, traps, trapsGradient)
		for j := range 3 {
			for k := range 3 {
				check(t, "replaced", x, func(x []float64) float64 { return replaced(x, j, k) }, func(g, x []float64) float64 { return replacedGradient(g, x, j, k) })
			}
		}
		check(t, "places", x, places, placesGradient)
		second(t, "places", x, func(g, x []float64) { placesGradient(g, x) }, placesHessVec, placesHessian)
		check(t, "swappedRows", x, swappedRows, swappedRowsGradient)
		second(t, "swappedRows", x, func(g, x []float64) { swappedRowsGradient(g, x) }, swappedRowsHessVec, swappedRowsHessian)
		second(t, "traps", x, func(g, x []float64) { trapsGradient(g, x) }, trapsHessVec, trapsHessian)
	}
	for n := range 4 {
		x := random(3, -1, 1)
		for _, f := range []struct {
			name     string
			f        func(x []float64, n int) float64
			gradient func(g, x []float64, n int) float64
			hessVec  func(dst, x, v []float64, n int)
			hessian  func(dst *mat.SymDense, x []float64, n int)
		}{{"remade", remade, remadeGradient, remadeHessVec, remadeHessian}, {"selves", selves, selvesGradient, selvesHessVec, selvesHessian}, {"inside", inside, insideGradient, insideHessVec, insideHessian}, {"titled", titled, titledGradient, titledHessVec, titledHessian}, {"written", written, writtenGradient, writtenHessVec, writtenHessian}, {"inner", inner, innerGradient, innerHessVec, innerHessian}, {"stepped", stepped, steppedGradient, steppedHessVec, steppedHessian}} {
			gradient := func(g, x []float64) float64 { return f.gradient(g, x, n) }
			check(t, f.name, x, func(x []float64) float64 { return f.f(x, n) }, gradient)
			second(t, f.name, x, func(g, x []float64) { gradient(g, x) },
				func(dst, x, v []float64) { f.hessVec(dst, x, v, n) }, func(dst *mat.SymDense, x []float64) { f.hessian(dst, x, n) })
		}
		check(t, "named", x, named, namedGradient)
		check(t, "again", x, again, againGradient)
	}
	check(t, "shifts", random(5, -1, 1), shifts, shiftsGradient)

	for n := -1; n < 7; n++ {
		x := random(5, -1, 1)
		gradient := func(g, x []float64) float64 { return chosenGradient(g, x, n) }
		check(t, "chosen", x, func(x []float64) float64 { return chosen(x, n) }, gradient)
		second(t, "chosen", x, func(g, x []float64) { gradient(g, x) },
			func(dst, x, v []float64) { chosenHessVec(dst, x, v, n) }, func(dst *mat.SymDense, x []float64) { chosenHessian(dst, x, n) })
		n := min(n, 3)
		check(t, "unrolled", x, func(x []float64) float64 { return unrolled(x, n) }, func(g, x []float64) float64 { return unrolledGradient(g, x, n) })
	}
	first := []float64{2, 0.1, -0.3, -0.7, 3} // the largest is that from before the loop
	check(t, "chosen", first, func(x []float64) float64 { return chosen(x, 0) }, func(g, x []float64) float64 { return chosenGradient(g, x, 0) })
	check(t, "arrays", random(4, -1, 1), arrays, arraysGradient)

	weights, memory := random(20, -1, 1), random(30, -1, 1)
	check(t, "weighted", memory[:20], func(x []float64) float64 { return weighted(x, weights) },
		func(g, x []float64) float64 { return weightedGradient(g, x, weights) })
	large, above, small := random(20, 1e15, 2e15), make([]float64, 20), random(20, -1, 1)
	for i, v := range large {
		above[i] = v + 0.5
	}
	grad := make([]float64, 20)
	if got, want := driftGradient(grad, above, large, small), drift(above, large, small); math.Abs(got-want) > 1e-12 || grad[7] != 1 {
		t.Errorf("drift: %v and a gradient of %v, want %v and 1", got, grad[7], want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a sum beyond the end of a slice, but within its memory, does not panic")
		}
	}()
	weightedGradient(make([]float64, 19), memory[:19], weights)
}

func TestNested(t *testing.T) {
	for range 3 {
		x := random(5, -1, 1)
		gradient := func(g, x []float64) { waveGradient(g, x, 0.5) }
		second(t, "wave", x, gradient, func(dst, x, v []float64) { waveHessVec(dst, x, v, 0.5) }, func(dst *mat.SymDense, x []float64) { waveHessian(dst, x, 0.5) })
		check(t, "slope", x, func(x []float64) float64 { return slope(x, 0.5) }, func(g, x []float64) float64 { return slopeGradient(g, x, 0.5) })
		second(t, "slope", x, func(g, x []float64) { slopeGradient(g, x, 0.5) }, func(dst, x, v []float64) { slopeHessVec(dst, x, v, 0.5) }, func(dst *mat.SymDense, x []float64) { slopeHessian(dst, x, 0.5) })
		check(t, "curvature", x, curvature, curvatureGradient)
		check(t, "steepest", x, steepest, steepestGradient)
		check(t, "products", x, products, productsGradient)
		check(t, "pulled", x, pulled, pulledGradient)
		jacobian(t, "along", 5, x, along, alongJVP, alongVJP, alongJacobian)
		jacobian(t, "uphill", 5, x, uphill, uphillJVP, uphillVJP, uphillJacobian)
		forward, reverse := make([]float64, 5), make([]float64, 5)
		along(forward, x)
		uphill(reverse, x)
		for i := range x {
			if math.Abs(forward[i]-reverse[i]) > 1e-12*(1+math.Abs(reverse[i])) {
				t.Errorf("derivative %d is %v forward and %v in reverse", i, forward[i], reverse[i])
			}
		}
		check(t, "total", []float64{math.Abs(x[0]), x[1], 1.5 + x[2]}, total, totalGradient) // its loop ends
		check(t, "copied", x[:2], copied, copiedGradient)
		check(t, "penalty", random(6, -1, 1), penalty, penaltyGradient)
	}
	check(t, "path", []float64{0.3}, func(x []float64) float64 { return path(x[0]) },
		func(g, x []float64) float64 { return pathGradient(&g[0], x[0]) })
}

func TestRecursions(t *testing.T) {
	x := random(16, -1, 1)
	check(t, "determinant", x, func(x []float64) float64 { return determinant(x, 4) }, func(g, x []float64) float64 { return determinantGradient(g, x, 4) })
	second(t, "determinant", x, func(g, x []float64) { determinantGradient(g, x, 4) },
		func(dst, x, v []float64) { determinantHessVec(dst, x, v, 4) }, func(dst *mat.SymDense, x []float64) { determinantHessian(dst, x, 4) })
	for n := range 6 {
		check(t, "hermite", []float64{0.3}, func(x []float64) float64 { return hermite(x[0], n) }, func(g, x []float64) float64 { return hermiteGradient(&g[0], x[0], n) })
		check(t, "cosines", []float64{0.3}, func(x []float64) float64 { return cosines(x[0], n) }, func(g, x []float64) float64 { return cosinesGradient(&g[0], x[0], n) })
	}
	spline := func(x []float64) *bSpline { return &bSpline{x[:8], x[8:12], 3} }
	check(t, "bSpline", []float64{0, 0.4, 1.1, 1.9, 3, 3.7, 5, 6.2, 1, -2, 0.5, 3, 3.3}, func(x []float64) float64 { return spline(x).at(x[12]) },
		func(g, x []float64) float64 { return spline(x).atGradient(spline(g), &g[12], x[12]) })
	p := []float64{0.4, 1.5, 1.2}
	check(t, "quadrature", p, func(p []float64) float64 { return quadrature(p, 3) }, func(g, p []float64) float64 { return quadratureGradient(g, p, 3) })
	second(t, "quadrature", p, func(g, p []float64) { quadratureGradient(g, p, 3) },
		func(dst, p, v []float64) { quadratureHessVec(dst, p, v, 3) }, func(dst *mat.SymDense, p []float64) { quadratureHessian(dst, p, 3) })
	jacobian(t, "faded", 1, random(2, -1, 1), func(dst, x []float64) { faded(dst, x, 0.7) },
		func(dst, x, v []float64) { fadedJVP(dst, x, v, 0.7) }, func(dst, x, v []float64) { fadedVJP(dst, x, v, 0.7) }, func(dst *mat.Dense, x []float64) { fadedJacobian(dst, x, 0.7) })
	w := random(7, -1, 1)
	jacobian(t, "tree", 5, random(7, -1, 1), func(dst, x []float64) { tree(dst, x, w) },
		func(dst, x, v []float64) { treeJVP(dst, x, v, w) }, func(dst, x, v []float64) { treeVJP(dst, x, v, w) }, func(dst *mat.Dense, x []float64) { treeJacobian(dst, x, w) })
}

func TestComplexes(t *testing.T) {
	w := random(8, -1, 1)
	f := func(x []float64) float64 { return spectrum(x, w) }
	g := func(g, x []float64) float64 { return spectrumGradient(g, x, w) }
	check(t, "spectrum", random(8, -1, 1), f, g)
	second(t, "spectrum", random(8, -1, 1), func(d, x []float64) { g(d, x) },
		func(dst, x, v []float64) { spectrumHessVec(dst, x, v, w) }, func(dst *mat.SymDense, x []float64) { spectrumHessian(dst, x, w) })
	x := random(9, 0.5, 2)
	check(t, "ladder", x, func(x []float64) float64 { return ladder(x, 1.3) }, func(g, x []float64) float64 { return ladderGradient(g, x, 1.3) })
	second(t, "ladder", x, func(g, x []float64) { ladderGradient(g, x, 1.3) },
		func(dst, x, v []float64) { ladderHessVec(dst, x, v, 1.3) }, func(dst *mat.SymDense, x []float64) { ladderHessian(dst, x, 1.3) })
	jacobian(t, "pooled", 3, random(7, -1, 1), pooled, pooledJVP, pooledVJP, pooledJacobian)
	jacobian(t, "roots", 6, []float64{-1.5, 2.5, -3.1}, roots, rootsJVP, rootsVJP, rootsJacobian)
	for range 5 {
		check(t, "analytic", random(4, -1, 1), analytic, analyticGradient)
	}
	check(t, "halved", random(4, -1, 1), halved, halvedGradient)
	h := &filter{1.5, []complex128{0.5 + 0.2i, 0.5 - 0.2i, 0.1}}
	zeros := []complex128{1.1i, -1.1i}
	check(t, "respond", random(4, -1, 1), func(x []float64) float64 { return h.respond(x, zeros) }, func(g, x []float64) float64 { return h.respondGradient(g, x, zeros) })
}

func TestValues(t *testing.T) {
	check(t, "integrals", random(3, 0, 1), integrals, integralsGradient)
	check(t, "several", random(4, -1, 1), several, severalGradient)
	x := random(13, -1, 1)
	check(t, "hull", x, hull, hullGradient)
	second(t, "hull", x, func(g, x []float64) { hullGradient(g, x) }, hullHessVec, hullHessian)
	u := random(2, -1, 1)
	check(t, "turned", random(2, 1, 2), func(x []float64) float64 { return turned(x, u) }, func(g, x []float64) float64 { return turnedGradient(g, x, u) })
}

// Two products on the left are those of one vector each, and their vectors have one length.
func TestTwoProducts(t *testing.T) {
	x, w := []float64{0.3, 2, -1, 4}, [2][]float64{{1, 2, 3}, {-4, 5, -6}}
	rows := [2][]float64{make([]float64, 4), make([]float64, 4)}
	tripleVJP2(rows, x, w)
	for k, row := range rows {
		want := make([]float64, 4)
		tripleVJP(want, x, w[k])
		for i := range want {
			if row[i] != want[i] || want[i] == 0 {
				t.Errorf("product %d: %v, want %v", k, row, want)
				break
			}
		}
	}
	for _, c := range []struct {
		rows, w [2][]float64
		of      string // what has different lengths
	}{
		{rows, [2][]float64{w[0][:2:3], w[1]}, "ws"},
		{rows, [2][]float64{w[0], w[1][:2:3]}, "ws"},
		{[2][]float64{rows[0], rows[1][:3]}, w, "rows"},
	} {
		func() {
			defer func() {
				got, _ := recover().(string)
				if !strings.HasPrefix(got, "tripleVJP2: "+c.of) || !strings.HasSuffix(got, " have different lengths") {
					t.Errorf("panics with %q, want the lengths of %s", got, c.of)
				}
			}()
			tripleVJP2(c.rows, x, c.w)
		}()
	}
}

// The square of 1/√x may overflow though the tangent does not.
func TestInverseRoots(t *testing.T) {
	for _, v := range []float64{0, 1e-300, 2} {
		x := []float64{4, 1e-310, 5e-324}
		got, four := make([]float64, 3), [4][]float64{}
		vs := four
		for k := range four {
			four[k], vs[k] = make([]float64, 3), []float64{v, v, v}
		}
		inverseRootsJVP(got, x, vs[0])
		inverseRootsJVP4(four, x, vs)
		for i, x := range x {
			q := 1 / math.Sqrt(x)
			want := -v / 2 * q * q * q
			for _, g := range append([]float64{got[i]}, four[0][i], four[3][i]) {
				if g != want && !(math.Abs(g/want-1) < 1e-14) {
					t.Errorf("tangent %v at %v is %v, want %v", v, x, g, want)
				}
			}
		}
	}
	got := make([]float64, 1)
	scaledRootJVP(got, []float64{4, 9}, []float64{1, -1})
	if want := (-1./8 + 1./18) / 6; math.Abs(got[0]-want) > 1e-15 {
		t.Errorf("tangent %v, want %v", got[0], want)
	}
}
