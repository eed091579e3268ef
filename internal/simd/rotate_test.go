package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestRotate(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testRotate[float64](t)
		testRotate[float32](t)
	})
}

// rotations returns the cosines and sines of chains, with strides of their own.
func rotations[T Float](rnd *rand.Rand, chains, ldc, steps int) (c, s []T) {
	c, s = make([]T, (chains-1)*ldc+steps), make([]T, (chains-1)*ldc+steps)
	for i := range c {
		sin, cos := math.Sincos(7 * (rnd.Float64() - 0.5))
		c[i], s[i] = T(cos), T(sin)
	}
	return c, s
}

func testRotate[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	close := func(what string, got, want []T, tol float64) {
		t.Helper()
		for i := range want {
			g, w := float64(got[i]), float64(want[i])
			if !(math.Abs(g-w) <= tol) && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			}
		}
	}
	sizes := []int{0, 1, 3, 4, 5, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 64, 65, 70}
	for _, chains := range []int{1, RotateChains} {
		for _, steps := range []int{0, 1, 2, 5, 17, rotateMost + 3} {
			if steps > rotateMost {
				sizes = []int{3, 70}
			}
			for _, cols := range sizes {
				name := fmt.Sprintf("%d chains, %d steps, %d columns", chains, steps, cols)
				rows, ldx, ldg, ldc := steps+chains, max(1, cols)+3, max(1, cols)+1, steps+2
				c, s := rotations[T](rnd, chains, ldc, steps)
				x, g := normalSlice[T](rows*ldx, 1), normalSlice[T](rows*ldg, 2)
				hasNaN := cols%4 == 3
				if hasNaN {
					x[2], g[1] = T(math.NaN()), T(math.NaN())
				}
				x0 := clone(x)
				tol := 32 * unit[T]() * math.Sqrt(float64(rows)) * 8

				want := clone(x)
				genericRotate(want, ldx, cols, chains, steps, c, s, ldc)
				Rotate(x, ldx, cols, chains, steps, c, s, ldc)
				close("Rotate, "+name, x, want, tol)
				for i := range rows {
					sameSlice(t, "gap, "+name, x[i*ldx+cols:(i+1)*ldx], x0[i*ldx+cols:(i+1)*ldx])
				}

				sums := normalSlice[T](steps*chains, 3)
				wantG, wantSums, want2 := clone(g), clone(sums), clone(x)
				gotG, got2 := clone(g), clone(x)
				genericRotateBackCross(want2, ldx, wantG, ldg, cols, chains, steps, c, s, ldc, wantSums)
				RotateBackCross(got2, ldx, gotG, ldg, cols, chains, steps, c, s, ldc, sums)
				close("x of RotateBackCross, "+name, got2, want2, tol)
				close("g of RotateBackCross, "+name, gotG, wantG, tol)
				close("sums of RotateBackCross, "+name, sums, wantSums, tol*float64(cols+8))

				d := normalSlice[T](len(c), 4)
				wantX, wantT, gotX, gotT := clone(x0), clone(g), clone(x0), clone(g)
				genericRotateTangent(wantX, ldx, wantT, ldg, cols, chains, steps, c, s, d, ldc)
				RotateTangent(gotX, ldx, gotT, ldg, cols, chains, steps, c, s, d, ldc)
				sameSlice(t, "Rotate and RotateTangent, "+name, gotX, x)
				close("t of RotateTangent, "+name, gotT, wantT, tol*float64(rows))
				genericRotateTangentBack(wantX, ldx, wantT, ldg, cols, chains, steps, c, s, d, ldc)
				RotateTangentBack(gotX, ldx, gotT, ldg, cols, chains, steps, c, s, d, ldc)
				sameSlice(t, "RotateBack and RotateTangentBack, "+name, gotX, got2)
				close("t of RotateTangentBack, "+name, gotT, wantT, tol*float64(rows))

				RotateBack(x, ldx, cols, chains, steps, c, s, ldc)
				if !hasNaN {
					close("RotateBack, "+name, x, x0, tol)
				}
				sameSlice(t, "RotateBack and RotateBackCross, "+name, x, got2)
			}
		}
	}
}

// Several chains together have the same bits as one after the other, and so do
// columns wherever they stand.
func TestRotateOrder(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testRotateOrder[float64](t)
		testRotateOrder[float32](t)
	})
}

func testRotateOrder[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 2))
	const steps, cols = 9, 75
	c, s := rotations[T](rnd, RotateChains, steps, steps)
	x := normalSlice[T]((steps+RotateChains)*cols, 1)
	apart := clone(x)
	Rotate(x, cols, cols, RotateChains, steps, c, s, steps)
	for j := 0; j < cols; {
		n := 1 + rnd.IntN(min(40, cols-j))
		for q := range RotateChains {
			Rotate(apart[q*cols+j:], cols, n, 1, steps, c[q*steps:], s[q*steps:], 0)
		}
		j += n
	}
	sameSlice(t, "chains one after the other", apart, x)
}

func TestRotatePanics(t *testing.T) {
	x := make([]float64, 12) // 4×3
	forEachTier(t, func(t *testing.T) {
		for _, test := range []struct {
			want string
			f    func()
		}{
			{badChains, func() { Rotate(x, 3, 3, 2, 1, x, x, 0) }},
			{badSteps, func() { Rotate(x, 3, 3, 1, -1, x, x, 0) }},
			{badN, func() { RotateBack(x, 3, -1, 1, 1, x, x, 0) }},
			{badLdX, func() { Rotate(x, 2, 3, 1, 1, x, x, 0) }},
			{shortX, func() { Rotate(x, 3, 3, 1, 4, x, x, 0) }},
			{shortX, func() { RotateBack(x, 3, 3, 4, 1, x, x, 0) }},
			{shortC, func() { Rotate(x, 3, 3, 1, 3, x[:2], x, 0) }},
			{shortC, func() { Rotate(x, 2, 2, 4, 2, x, x[:7], 2) }},
			{badLdG, func() { RotateBackCross(x, 3, x, 2, 3, 1, 1, x, x, 0, x) }},
			{shortG, func() { RotateBackCross(x, 3, x[:11], 3, 3, 1, 3, x, x, 0, x) }},
			{shortSums, func() { RotateBackCross(x, 3, x, 3, 3, 1, 3, x, x, 0, x[:2]) }},
			{badLdT, func() { RotateTangent(x, 3, x, 2, 3, 1, 1, x, x, x, 0) }},
			{shortT, func() { RotateTangentBack(x, 3, x[:11], 3, 3, 1, 3, x, x, x, 0) }},
			{shortC, func() { RotateTangent(x, 3, x, 3, 3, 1, 3, x, x, x[:2], 0) }},
			{badLength, func() { SinCos(x, x[:2], x) }},
		} {
			func() {
				defer func() {
					if got := recover(); got != test.want {
						t.Errorf("panic %v, want %q", got, test.want)
					}
				}()
				test.f()
			}()
		}
	})
}

func TestSinCos(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testSinCos[float64](t)
		testSinCos[float32](t)
	})
}

// All tiers give the bits of the generic one.
func testSinCos[T Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 3))
	for n := range 70 {
		x := make([]T, n)
		for i := range x {
			switch rnd.IntN(8) {
			case 0:
				x[i] = T(hostile[rnd.IntN(len(hostile))])
			case 1:
				x[i] = T(math.Pi / 4 * float64(rnd.IntN(1<<22)-1<<21))
			default:
				x[i] = T(8 * rnd.NormFloat64())
			}
			if rnd.IntN(3) > 0 && !(math.Abs(float64(x[i])) < 1<<20) {
				x[i] = 1 // or hardly a call would have only small angles
			}
		}
		sin, cos, wantSin, wantCos := make([]T, n), make([]T, n), make([]T, n), make([]T, n)
		genericSinCos(wantSin, wantCos, x)
		SinCos(sin, cos, x)
		sameSlice(t, "sin", sin, wantSin)
		sameSlice(t, "cos", cos, wantCos)
	}
}

// The generic tier is within its bound of the true values.
func TestSinCosAccuracy(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 4))
	for i := range 20_000 {
		x := 4 * rnd.NormFloat64()
		switch i % 4 {
		case 0:
			x = math.Ldexp(2*rnd.Float64()-1, rnd.IntN(21))
		case 1: // near multiples of π/2
			x = math.Pi/2*float64(rnd.IntN(600_000)) + math.Ldexp(rnd.NormFloat64(), -rnd.IntN(60))
		}
		sin, cos := sinCosOf(x)
		wantSin, wantCos := bigSinCos(x)
		for _, v := range []struct {
			name string
			got  float64
			want *big.Float
		}{{"sin", sin, wantSin}, {"cos", cos, wantCos}} {
			w, _ := v.want.Float64()
			ulp := math.Nextafter(math.Abs(w), math.Inf(1)) - math.Abs(w)
			d, _ := new(big.Float).Sub(v.want, big.NewFloat(v.got)).Float64()
			if !(math.Abs(d) <= 1.5*ulp) {
				t.Fatalf("%s(%v) = %v, want %v: off by %.3g units", v.name, x, v.got, w, d/ulp)
			}
		}
	}
}

// bigSinCos returns sine and cosine of |x| < 2²¹ by their series, at an angle 2⁻¹⁰
// as large and doubled ten times.
func bigSinCos(x float64) (sin, cos *big.Float) {
	const prec = 320
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	pi, _ := new(big.Float).SetPrec(prec).SetString("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")
	turns := math.Round(x / (2 * math.Pi))
	r := num(x)
	r.Sub(r, new(big.Float).SetPrec(prec).Mul(num(2*turns), pi))
	r.SetMantExp(r, -10)
	z := num(0).Mul(r, r)
	sin, v := num(0), num(0) // v is 1 - cos
	term := num(1)
	for n := 1.; n < 60; n += 2 {
		// term is ±r^(n-1)/(n-1)!
		sin.Add(sin, num(0).Quo(num(0).Mul(term, r), num(n)))
		term.Mul(term, z)
		term.Quo(term, num(-n*(n+1)))
		v.Sub(v, term)
	}
	for range 10 {
		// 1 - cos 2r = 2·sin²r, sin 2r = 2·sin r·cos r
		c := num(1)
		c.Sub(c, v)
		v.Mul(sin, sin)
		v.Mul(v, num(2))
		sin.Mul(sin, c)
		sin.Mul(sin, num(2))
	}
	cos = num(1)
	return sin, cos.Sub(cos, v)
}

func BenchmarkRotate(b *testing.B) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for _, cols := range []int{16, 32, 256} {
		for _, chains := range []int{1, RotateChains} {
			const steps, ldx = 250, 256
			c, s := rotations[float64](rnd, chains, steps, steps)
			x, g := normalSlice[float64]((steps+chains)*ldx, 1), normalSlice[float64]((steps+chains)*ldx, 1)
			sums := make([]float64, steps*chains)
			work := 6 * cols * chains * steps
			b.Run(fmt.Sprintf("cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, work, func() { Rotate(x, ldx, cols, chains, steps, c, s, steps) })
				})
			})
			b.Run(fmt.Sprintf("cross/cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 16*work/6, func() { RotateBackCross(x, ldx, g, ldx, cols, chains, steps, c, s, steps, sums) })
				})
			})
		}
	}
}

func BenchmarkSinCos(b *testing.B) {
	const n = 1000
	x, sin, cos := normalSlice[float64](n, 1), make([]float64, n), make([]float64, n)
	benchmarkTiers(b, "SinCos", n, func() { SinCos(sin, cos, x) }, func() {
		for i, v := range x {
			sin[i], cos[i] = math.Sincos(v)
		}
	})
}
