package dense

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
	"revnum/internal/simd/vec"
)

func TestRotate(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testRotate[float64](t)
		testRotate[float32](t)
	})
}

// rotations returns the cosines and sines of chains, with strides of their own.
func rotations[T cpu.Float](rnd *rand.Rand, chains, ldc, steps int) (c, s []T) {
	c, s = make([]T, (chains-1)*ldc+steps), make([]T, (chains-1)*ldc+steps)
	for i := range c {
		sin, cos := math.Sincos(7 * (rnd.Float64() - 0.5))
		c[i], s[i] = T(cos), T(sin)
	}
	return c, s
}

func testRotate[T cpu.Float](t *testing.T) {
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
				x, g := simdtest.Normal[T](rows*ldx, 1), simdtest.Normal[T](rows*ldg, 2)
				hasNaN := cols%4 == 3
				if hasNaN {
					x[2], g[1] = T(math.NaN()), T(math.NaN())
				}
				x0 := slices.Clone(x)
				tol := 32 * simdtest.Unit[T]() * math.Sqrt(float64(rows)) * 8

				want := slices.Clone(x)
				genericRotate(want, ldx, cols, chains, steps, c, s, nil, nil, ldc)
				Rotate(x, ldx, cols, chains, steps, c, s, ldc)
				close("Rotate, "+name, x, want, tol)
				for i := range rows {
					simdtest.SameSlice(t, "gap, "+name, x[i*ldx+cols:(i+1)*ldx], x0[i*ldx+cols:(i+1)*ldx])
				}

				sums := simdtest.Normal[T](steps*chains, 3)
				wantG, wantSums, want2 := slices.Clone(g), slices.Clone(sums), slices.Clone(x)
				gotG, got2 := slices.Clone(g), slices.Clone(x)
				genericRotateBackCross(want2, ldx, wantG, ldg, cols, chains, steps, c, s, nil, nil, ldc, wantSums)
				RotateBackCross(got2, ldx, gotG, ldg, cols, chains, steps, c, s, ldc, sums)
				close("x of RotateBackCross, "+name, got2, want2, tol)
				close("g of RotateBackCross, "+name, gotG, wantG, tol)
				close("sums of RotateBackCross, "+name, sums, wantSums, tol*float64(cols+8))

				d := simdtest.Normal[T](len(c), 4)
				wantX, wantT, gotX, gotT := slices.Clone(x0), slices.Clone(g), slices.Clone(x0), slices.Clone(g)
				genericRotateTangent(wantX, ldx, wantT, ldg, cols, chains, steps, c, s, nil, nil, d, nil, ldc)
				RotateTangent(gotX, ldx, gotT, ldg, cols, chains, steps, c, s, d, ldc)
				simdtest.SameSlice(t, "Rotate and RotateTangent, "+name, gotX, x)
				close("t of RotateTangent, "+name, gotT, wantT, tol*float64(rows))
				genericRotateTangentBack(wantX, ldx, wantT, ldg, cols, chains, steps, c, s, nil, nil, d, nil, ldc)
				RotateTangentBack(gotX, ldx, gotT, ldg, cols, chains, steps, c, s, d, ldc)
				simdtest.SameSlice(t, "RotateBack and RotateTangentBack, "+name, gotX, got2)
				close("t of RotateTangentBack, "+name, gotT, wantT, tol*float64(rows))

				RotateBack(x, ldx, cols, chains, steps, c, s, ldc)
				if !hasNaN {
					close("RotateBack, "+name, x, x0, tol)
				}
				simdtest.SameSlice(t, "RotateBack and RotateBackCross, "+name, x, got2)
			}
		}
	}
}

func TestRotatePhases(t *testing.T) {
	simdtest.ForEachTier(t, &tier, testRotatePhases)
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
				tol := 32 * simdtest.Unit[float64]() * math.Sqrt(float64(rows)) * 8
				c, s := rotations[float64](rnd, chains, ldc, steps)
				pc, ps := rotations[float64](rnd, chains, ldc, steps)
				d, pd := simdtest.Normal[float64](len(c), 4), simdtest.Normal[float64](len(c), 5)
				x0, g0, sums0 := simdtest.Normal[float64](rows*ldx, 1), simdtest.Normal[float64](rows*ldg, 2), simdtest.Normal[float64](2*steps*chains, 3)
				if cols%4 == 2 {
					x0[1], g0[0] = math.NaN(), math.NaN()
				}
				// Each call and what it is of the generic tier, on operands of their own;
				// the elements between columns belong to them.
				check := func(what string, tol float64, got, want func(x, g, sums []float64)) (x []float64) {
					x, g, sums := slices.Clone(x0), slices.Clone(g0), slices.Clone(sums0)
					wantX, wantG, wantSums := slices.Clone(x0), slices.Clone(g0), slices.Clone(sums0)
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
				simdtest.SameSlice(t, "RotatePhases and RotatePhasesTangent", tangent, forward)
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
				simdtest.SameSlice(t, "RotatePhasesBack and RotatePhasesBackCross", cross, back)
				tangent = check("RotatePhasesTangentBack", tol*float64(rows), func(x, g, _ []float64) {
					RotatePhasesTangentBack(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
				}, func(x, g, _ []float64) {
					genericRotateTangentBack(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, d, pd, ldc)
				})
				simdtest.SameSlice(t, "RotatePhasesBack and RotatePhasesTangentBack", tangent, back)
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
	d, pd := simdtest.Normal[float64](steps, 4), simdtest.Normal[float64](steps, 5)
	x0, t0 := simdtest.Normal[float64](rows*cols, 1), simdtest.Normal[float64](rows*cols, 2)
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
	gotX, gotT := slices.Clone(x0), slices.Clone(t0)
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
	g, sums := simdtest.Normal[float64](rows*cols, 6), make([]float64, 2*steps)
	before := vec.Dot(g, flat(dx))
	genericRotateBackCross(flat(x), cols, g, cols, cols, 1, steps, c, s, pc, ps, 0, sums)
	after := vec.Dot(g, t0)
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
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testRotateOrder[float64](t)
		testRotateOrder[float32](t)
	})
}

func testRotateOrder[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 2))
	const steps, cols = 9, 75
	c, s := rotations[T](rnd, RotateChains, steps, steps)
	x := simdtest.Normal[T]((steps+RotateChains)*cols, 1)
	apart := slices.Clone(x)
	Rotate(x, cols, cols, RotateChains, steps, c, s, steps)
	for j := 0; j < cols; {
		n := 1 + rnd.IntN(min(40, cols-j))
		for q := range RotateChains {
			Rotate(apart[q*cols+j:], cols, n, 1, steps, c[q*steps:], s[q*steps:], 0)
		}
		j += n
	}
	simdtest.SameSlice(t, "chains one after the other", apart, x)
}

func TestRotatePanics(t *testing.T) {
	x := make([]float64, 12) // 4×3
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
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

func BenchmarkRotate(b *testing.B) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for _, cols := range []int{16, 32, 256} {
		for _, chains := range []int{1, RotateChains} {
			const steps, ldx = 250, 256
			c, s := rotations[float64](rnd, chains, steps, steps)
			x, g := simdtest.Normal[float64]((steps+chains)*ldx, 1), simdtest.Normal[float64]((steps+chains)*ldx, 1)
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
