package simd

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"sync"
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
				genericRotate(want, ldx, cols, chains, steps, c, s, nil, nil, ldc)
				Rotate(x, ldx, cols, chains, steps, c, s, ldc)
				close("Rotate, "+name, x, want, tol)
				for i := range rows {
					sameSlice(t, "gap, "+name, x[i*ldx+cols:(i+1)*ldx], x0[i*ldx+cols:(i+1)*ldx])
				}

				sums := normalSlice[T](steps*chains, 3)
				wantG, wantSums, want2 := clone(g), clone(sums), clone(x)
				gotG, got2 := clone(g), clone(x)
				genericRotateBackCross(want2, ldx, wantG, ldg, cols, chains, steps, c, s, nil, nil, ldc, wantSums)
				RotateBackCross(got2, ldx, gotG, ldg, cols, chains, steps, c, s, ldc, sums)
				close("x of RotateBackCross, "+name, got2, want2, tol)
				close("g of RotateBackCross, "+name, gotG, wantG, tol)
				close("sums of RotateBackCross, "+name, sums, wantSums, tol*float64(cols+8))

				d := normalSlice[T](len(c), 4)
				wantX, wantT, gotX, gotT := clone(x0), clone(g), clone(x0), clone(g)
				genericRotateTangent(wantX, ldx, wantT, ldg, cols, chains, steps, c, s, nil, nil, d, nil, ldc)
				RotateTangent(gotX, ldx, gotT, ldg, cols, chains, steps, c, s, d, ldc)
				sameSlice(t, "Rotate and RotateTangent, "+name, gotX, x)
				close("t of RotateTangent, "+name, gotT, wantT, tol*float64(rows))
				genericRotateTangentBack(wantX, ldx, wantT, ldg, cols, chains, steps, c, s, nil, nil, d, nil, ldc)
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

func TestRotatePhases(t *testing.T) {
	forEachTier(t, testRotatePhases)
}

func testRotatePhases(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	sizes := []int{0, 2, 4, 6, 8, 10, 14, 16, 18, 24, 30, 32, 34, 46, 64, 66, 70}
	for _, chains := range []int{1, RotateChains} {
		for _, steps := range []int{0, 1, 2, 5, 17, rotateMost + 3} {
			if steps > rotateMost {
				sizes = []int{2, 70}
			}
			for _, cols := range sizes {
				rows, ldx, ldg, ldc := steps+chains, max(1, cols)+3, max(1, cols)+1, steps+2
				tol := 32 * unit[float64]() * math.Sqrt(float64(rows)) * 8
				c, s := rotations[float64](rnd, chains, ldc, steps)
				pc, ps := rotations[float64](rnd, chains, ldc, steps)
				d, pd := normalSlice[float64](len(c), 4), normalSlice[float64](len(c), 5)
				x0, g0, sums0 := normalSlice[float64](rows*ldx, 1), normalSlice[float64](rows*ldg, 2), normalSlice[float64](2*steps*chains, 3)
				if cols%4 == 2 {
					x0[1], g0[0] = math.NaN(), math.NaN()
				}
				// Each call and what it is of the generic tier, on operands of their own;
				// the elements between columns belong to them.
				check := func(what string, tol float64, got, want func(x, g, sums []float64)) (x []float64) {
					x, g, sums := clone(x0), clone(g0), clone(sums0)
					wantX, wantG, wantSums := clone(x0), clone(g0), clone(sums0)
					got(x, g, sums)
					want(wantX, wantG, wantSums)
					for _, v := range []struct {
						name      string
						got, want []float64
						tol       float64
					}{{"x", x, wantX, tol}, {"g", g, wantG, tol}, {"sums", sums, wantSums, tol * float64(cols+8)}} {
						for i, w := range v.want {
							if g := v.got[i]; !(math.Abs(g-w) <= v.tol) && !(math.IsNaN(g) && math.IsNaN(w)) {
								t.Fatalf("%s, %d chains, %d steps, %d columns: element %d of %s is %v, want %v",
									what, chains, steps, cols, i, v.name, g, w)
							}
						}
					}
					return x
				}
				forward := check("RotatePhases", tol, func(x, _, _ []float64) {
					RotatePhases(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
				}, func(x, _, _ []float64) {
					genericRotate(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
				})
				tangent := check("RotatePhasesTangent", tol*float64(rows), func(x, g, _ []float64) {
					RotatePhasesTangent(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
				}, func(x, g, _ []float64) {
					genericRotateTangent(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
				})
				sameSlice(t, "RotatePhases and RotatePhasesTangent", tangent, forward)
				back := check("RotatePhasesBack", tol, func(x, _, _ []float64) {
					RotatePhasesBack(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
				}, func(x, _, _ []float64) {
					genericRotateBack(x, ldx, cols, chains, steps, c, s, pc, ps, ldc)
				})
				cross := check("RotatePhasesBackCross", tol, func(x, g, sums []float64) {
					RotatePhasesBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, ldc, sums)
				}, func(x, g, sums []float64) {
					genericRotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, ldc, sums)
				})
				sameSlice(t, "RotatePhasesBack and RotatePhasesBackCross", cross, back)
				tangent = check("RotatePhasesTangentBack", tol*float64(rows), func(x, g, _ []float64) {
					RotatePhasesTangentBack(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
				}, func(x, g, _ []float64) {
					genericRotateTangentBack(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
				})
				sameSlice(t, "RotatePhasesBack and RotatePhasesTangentBack", tangent, back)
			}
		}
	}
}

// The generic tier with phases is the equations over complex numbers, and the ways
// back undo the ways forward.
func TestRotatePhasesGeneric(t *testing.T) {
	const steps, cols, rows = 3, 2, 4
	rnd := rand.New(rand.NewPCG(5, 7))
	c, s := rotations[float64](rnd, 1, 0, steps)
	pc, ps := rotations[float64](rnd, 1, 0, steps)
	d, pd := normalSlice[float64](steps, 4), normalSlice[float64](steps, 5)
	x0, t0 := normalSlice[float64](rows*cols, 1), normalSlice[float64](rows*cols, 2)
	x, dx := make([]complex128, rows), make([]complex128, rows)
	for i := range rows {
		x[i], dx[i] = complex(x0[2*i], x0[2*i+1]), complex(t0[2*i], t0[2*i+1])
	}
	for p := range steps {
		i := steps - 1 - p
		e, cos, sin := complex(pc[p], ps[p]), complex(c[p], 0), complex(s[p], 0)
		a, da := e*x[i], e*dx[i]+complex(0, pd[p])*e*x[i]
		b, db := x[i+1], dx[i+1]
		x[i], x[i+1] = cos*a-sin*b, sin*a+cos*b
		dx[i], dx[i+1] = cos*da-sin*db-complex(d[p], 0)*x[i+1], sin*da+cos*db+complex(d[p], 0)*x[i]
	}
	gotX, gotT := clone(x0), clone(t0)
	genericRotateTangent(gotX, cols, gotT, cols, cols, 1, steps, c, s, pc, ps, d, pd, 0)
	for i := range rows {
		if cmplx.Abs(complex(gotX[2*i], gotX[2*i+1])-x[i]) > 1e-14 || cmplx.Abs(complex(gotT[2*i], gotT[2*i+1])-dx[i]) > 1e-14 {
			t.Errorf("row %d: %v and %v, want %v and %v", i, gotX[2*i:2*i+2], gotT[2*i:2*i+2], x[i], dx[i])
		}
	}
	genericRotateTangentBack(gotX, cols, gotT, cols, cols, 1, steps, c, s, pc, ps, d, pd, 0)
	for i := range x0 {
		if !(math.Abs(gotX[i]-x0[i]) <= 1e-14) || !(math.Abs(gotT[i]-t0[i]) <= 1e-14) {
			t.Errorf("element %d comes back as %v and %v, want %v and %v", i, gotX[i], gotT[i], x0[i], t0[i])
		}
	}
	// ⟨ḡ, ẋ⟩ is the same before and after, but for what the angles and phases add.
	g, sums := normalSlice[float64](rows*cols, 6), make([]float64, 2*steps)
	before := genericDot(g, flat(dx))
	genericRotateBackCross(flat(x), cols, g, cols, cols, 1, steps, c, s, pc, ps, 0, sums)
	after := genericDot(g, t0)
	for p := range steps {
		after += pd[p]*sums[2*p] + d[p]*sums[2*p+1]
	}
	if !(math.Abs(before-after) <= 1e-13) {
		t.Errorf("⟨ḡ, ẋ⟩ is %v after, and %v before", before, after)
	}
}

// flat returns real and imaginary parts in turn.
func flat(x []complex128) []float64 {
	var y []float64
	for _, z := range x {
		y = append(y, real(z), imag(z))
	}
	return y
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
			{oddCols, func() { RotatePhases(x, 3, 3, 1, 1, x, x, x, x, 0) }},
			{shortC, func() { RotatePhasesBack(x, 3, 2, 1, 3, x, x, x, x[:2], 0) }},
			{shortSums, func() { RotatePhasesBackCross(x, 3, x, 3, 2, 1, 3, x, x, x, x, 0, x[:5]) }},
			{shortC, func() { RotatePhasesTangent(x, 3, x, 3, 2, 1, 3, x, x, x, x, x, x[:2], 0) }},
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
		copy(cos, x)
		SinCos(sin, cos, cos)
		sameSlice(t, "sin of cos", sin, wantSin)
		sameSlice(t, "cos in place", cos, wantCos)
		SinCos(x, cos, x)
		sameSlice(t, "sin in place", x, wantSin)
		sameSlice(t, "cos of sin", cos, wantCos)
	}
}

// The generic tier is within its bound of the true values.
func TestSinCosAccuracy(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 4))
	for i := range 20_000 {
		x := 4 * rnd.NormFloat64()
		switch i % 4 {
		case 0:
			x = math.Ldexp(2*rnd.Float64()-1, rnd.IntN(1025))
		case 1: // near multiples of π/2
			x = math.Pi/2*float64(rnd.IntN(600_000)) + math.Ldexp(rnd.NormFloat64(), -rnd.IntN(60))
		case 2: // nearest to such multiples
			k := new(big.Float).SetFloat64(math.Ldexp(rnd.Float64(), rnd.IntN(1023)))
			half := new(big.Float).SetMantExp(bigPi(), -1)
			x, _ = k.Mul(half, k).Float64()
		}
		if i == 0 {
			x = math.Ldexp(6381956970095103, 797) // nearest of all doubles
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

// bigPi is π to 1400 bits, by Machin's formula.
var bigPi = sync.OnceValue(func() *big.Float {
	const prec = 1400
	arctan := func(n int64) *big.Int { // of 1/n, times 2^prec
		power := new(big.Int).Lsh(big.NewInt(1), prec)
		power.Quo(power, big.NewInt(n))
		sum := new(big.Int)
		for k := int64(1); power.Sign() != 0; k += 2 {
			term := new(big.Int).Quo(power, big.NewInt(k))
			if k%4 == 3 {
				term.Neg(term)
			}
			sum.Add(sum, term)
			power.Quo(power, big.NewInt(n*n))
		}
		return sum
	}
	pi := arctan(5)
	pi.Sub(pi.Mul(pi, big.NewInt(16)), new(big.Int).Mul(arctan(239), big.NewInt(4)))
	f := new(big.Float).SetPrec(prec).SetInt(pi)
	return f.SetMantExp(f, -prec)
})

// bigSinCos returns sine and cosine by their series, at an angle 2⁻¹⁰ as large and
// doubled ten times.
func bigSinCos(x float64) (sin, cos *big.Float) {
	const prec = 320
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	wide := new(big.Float).SetPrec(1400).SetFloat64(x)
	turn := new(big.Float).Add(bigPi(), bigPi())
	turns, _ := new(big.Float).Quo(wide, turn).Int(nil)
	wide.Sub(wide, turn.Mul(turn, new(big.Float).SetInt(turns)))
	r := num(0).Set(wide)
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
			// With phases, three operations more for each element, and one for a sum.
			pc, ps := rotations[float64](rnd, chains, steps, steps)
			sums = make([]float64, 2*steps*chains)
			b.Run(fmt.Sprintf("phases/cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 9*work/6, func() { RotatePhases(x, ldx, cols, chains, steps, c, s, pc, ps, steps) })
				})
			})
			b.Run(fmt.Sprintf("phases-cross/cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 24*work/6, func() {
						RotatePhasesBackCross(x, ldx, g, ldx, cols, chains, steps, c, s, pc, ps, steps, sums)
					})
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
