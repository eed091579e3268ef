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

const at = 3 // first coefficient of the runs

// rotations returns the coefficients of chains.
func rotations[T cpu.Float](rnd *rand.Rand, chains, ld, steps int) Rotations[T] {
	r := Rotations[T]{Ld: ld}
	r.C, r.S = turns[T](rnd, at+(chains-1)*ld+steps)
	r.D = simdtest.Normal[T](len(r.C), 4)
	return r
}

// withPhases returns coefficients with phases.
func withPhases[T cpu.Float](rnd *rand.Rand, chains, ld, steps int) Rotations[T] {
	r := rotations[T](rnd, chains, ld, steps)
	r.PC, r.PS = turns[T](rnd, len(r.C))
	r.PD = simdtest.Normal[T](len(r.C), 5)
	return r
}

// turns returns cosines and sines.
func turns[T cpu.Float](rnd *rand.Rand, n int) (c, s []T) {
	c, s = make([]T, n), make([]T, n)
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
				r, run := rotations[T](rnd, chains, ldc, steps), Run{at, chains, steps}
				x, g := simdtest.Normal[T](rows*ldx, 1), simdtest.Normal[T](rows*ldg, 2)
				hasNaN := cols%4 == 3
				if hasNaN {
					x[2], g[1] = T(math.NaN()), T(math.NaN())
				}
				x0 := slices.Clone(x)
				tol := 32 * simdtest.Unit[T]() * math.Sqrt(float64(rows)) * 8

				want := slices.Clone(x)
				r.genericRotate(run, want, ldx, nil, 0, cols, false)
				r.Forward(run, x, ldx, cols)
				close("Forward, "+name, x, want, tol)
				for i := range rows {
					simdtest.SameSlice(t, "gap, "+name, x[i*ldx+cols:(i+1)*ldx], x0[i*ldx+cols:(i+1)*ldx])
				}

				sums := simdtest.Normal[T](steps*chains, 3)
				wantG, wantSums, want2 := slices.Clone(g), slices.Clone(sums), slices.Clone(x)
				gotG, got2 := slices.Clone(g), slices.Clone(x)
				r.genericBackCross(run, want2, ldx, wantG, ldg, cols, wantSums)
				r.BackCross(run, got2, ldx, gotG, ldg, cols, sums)
				close("x of BackCross, "+name, got2, want2, tol)
				close("g of BackCross, "+name, gotG, wantG, tol)
				close("sums of BackCross, "+name, sums, wantSums, tol*float64(cols+8))

				wantX, wantT, gotX, gotT := slices.Clone(x0), slices.Clone(g), slices.Clone(x0), slices.Clone(g)
				r.genericRotate(run, wantX, ldx, wantT, ldg, cols, false)
				r.Tangent(run, gotX, ldx, gotT, ldg, cols)
				simdtest.SameSlice(t, "Forward and Tangent, "+name, gotX, x)
				close("t of Tangent, "+name, gotT, wantT, tol*float64(rows))
				r.genericRotate(run, wantX, ldx, wantT, ldg, cols, true)
				r.TangentBack(run, gotX, ldx, gotT, ldg, cols)
				simdtest.SameSlice(t, "Back and TangentBack, "+name, gotX, got2)
				close("t of TangentBack, "+name, gotT, wantT, tol*float64(rows))

				r.Back(run, x, ldx, cols)
				if !hasNaN {
					close("Back, "+name, x, x0, tol)
				}
				simdtest.SameSlice(t, "Back and BackCross, "+name, x, got2)
			}
		}
	}
}

func TestRotatePhases(t *testing.T) {
	simdtest.ForEachType(t, &tier, testRotatePhases[float64], testRotatePhases[float32])
}

func testRotatePhases[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	sizes := []int{0, 2, 4, 6, 8, 10, 14, 16, 18, 24, 30, 32, 34, 46, 64, 66, 70}
	for _, chains := range []int{1, RotateChains} {
		for _, steps := range []int{0, 1, 2, 5, 17, rotateMost + 3} {
			if steps > rotateMost {
				sizes = []int{2, 70}
			}
			for _, cols := range sizes {
				rows, ldx, ldg, ldc := steps+chains, max(1, cols)+3, max(1, cols)+1, steps+2
				tol := 32 * simdtest.Unit[T]() * math.Sqrt(float64(rows)) * 8
				r, run := withPhases[T](rnd, chains, ldc, steps), Run{at, chains, steps}
				x0, g0, sums0 := simdtest.Normal[T](rows*ldx, 1), simdtest.Normal[T](rows*ldg, 2), simdtest.Normal[T](2*steps*chains, 3)
				if cols%4 == 2 {
					x0[1], g0[0] = T(math.NaN()), T(math.NaN())
				}
				// Each call and what it is of the generic tier, on operands of their own;
				// the elements between columns belong to them.
				check := func(what string, tol float64, got, want func(x, g, sums []T)) (x []T) {
					x, g, sums := slices.Clone(x0), slices.Clone(g0), slices.Clone(sums0)
					wantX, wantG, wantSums := slices.Clone(x0), slices.Clone(g0), slices.Clone(sums0)
					got(x, g, sums)
					want(wantX, wantG, wantSums)
					for _, v := range []struct {
						name      string
						got, want []T
						tol       float64
					}{{"x", x, wantX, tol}, {"g", g, wantG, tol}, {"sums", sums, wantSums, tol * float64(cols+8)}} {
						for i, w := range v.want {
							if g := v.got[i]; !(math.Abs(float64(g-w)) <= v.tol) && !(math.IsNaN(float64(g)) && math.IsNaN(float64(w))) {
								t.Fatalf("%s, %d chains, %d steps, %d columns: element %d of %s is %v, want %v",
									what, chains, steps, cols, i, v.name, g, w)
							}
						}
					}
					return x
				}
				forward := check("Forward", tol, func(x, _, _ []T) {
					r.Forward(run, x, ldx, cols)
				}, func(x, _, _ []T) {
					r.genericRotate(run, x, ldx, nil, 0, cols, false)
				})
				tangent := check("Tangent", tol*float64(rows), func(x, g, _ []T) {
					r.Tangent(run, x, ldx, g, ldg, cols)
				}, func(x, g, _ []T) {
					r.genericRotate(run, x, ldx, g, ldg, cols, false)
				})
				simdtest.SameSlice(t, "Forward and Tangent", tangent, forward)
				back := check("Back", tol, func(x, _, _ []T) {
					r.Back(run, x, ldx, cols)
				}, func(x, _, _ []T) {
					r.genericRotate(run, x, ldx, nil, 0, cols, true)
				})
				cross := check("BackCross", tol, func(x, g, sums []T) {
					r.BackCross(run, x, ldx, g, ldg, cols, sums)
				}, func(x, g, sums []T) {
					r.genericBackCross(run, x, ldx, g, ldg, cols, sums)
				})
				simdtest.SameSlice(t, "Back and BackCross", cross, back)
				tangent = check("TangentBack", tol*float64(rows), func(x, g, _ []T) {
					r.TangentBack(run, x, ldx, g, ldg, cols)
				}, func(x, g, _ []T) {
					r.genericRotate(run, x, ldx, g, ldg, cols, true)
				})
				simdtest.SameSlice(t, "Back and TangentBack", tangent, back)
			}
		}
	}
}

// TestRotatePhasesGeneric checks the generic tier with phases against the equations over
// complex numbers. It also checks that Back and TangentBack invert Forward and Tangent.
func TestRotatePhasesGeneric(t *testing.T) {
	const steps, cols, rows = 3, 2, 4
	rnd := rand.New(rand.NewPCG(5, 7))
	r, run := withPhases[float64](rnd, 1, 0, steps), Run{at, 1, steps}
	x0, t0 := simdtest.Normal[float64](rows*cols, 1), simdtest.Normal[float64](rows*cols, 2)
	x, dx := make([]complex128, rows), make([]complex128, rows)
	for i := range rows {
		x[i], dx[i] = complex(x0[2*i], x0[2*i+1]), complex(t0[2*i], t0[2*i+1])
	}
	for p := range steps {
		i := steps - 1 - p
		e, cos, sin := complex(r.PC[at+p], r.PS[at+p]), complex(r.C[at+p], 0), complex(r.S[at+p], 0)
		a, da := e*x[i], e*dx[i]+complex(0, r.PD[at+p])*e*x[i]
		b, db := x[i+1], dx[i+1]
		x[i], x[i+1] = cos*a-sin*b, sin*a+cos*b
		dx[i], dx[i+1] = cos*da-sin*db-complex(r.D[at+p], 0)*x[i+1], sin*da+cos*db+complex(r.D[at+p], 0)*x[i]
	}
	gotX, gotT := slices.Clone(x0), slices.Clone(t0)
	r.genericRotate(run, gotX, cols, gotT, cols, cols, false)
	for i := range rows {
		if cmplx.Abs(complex(gotX[2*i], gotX[2*i+1])-x[i]) > 1e-14 || cmplx.Abs(complex(gotT[2*i], gotT[2*i+1])-dx[i]) > 1e-14 {
			t.Errorf("row %d: %v and %v, want %v and %v", i, gotX[2*i:2*i+2], gotT[2*i:2*i+2], x[i], dx[i])
		}
	}
	r.genericRotate(run, gotX, cols, gotT, cols, cols, true)
	for i := range x0 {
		if !(math.Abs(gotX[i]-x0[i]) <= 1e-14) || !(math.Abs(gotT[i]-t0[i]) <= 1e-14) {
			t.Errorf("element %d comes back as %v and %v, want %v and %v", i, gotX[i], gotT[i], x0[i], t0[i])
		}
	}
	// ⟨ḡ, ẋ⟩ does not change except by what the angles and phases add.
	g, sums := simdtest.Normal[float64](rows*cols, 6), make([]float64, 2*steps)
	before := vec.Dot(g, flat(dx))
	r.genericBackCross(run, flat(x), cols, g, cols, cols, sums)
	after := vec.Dot(g, t0)
	for p := range steps {
		after += r.PD[at+p]*sums[2*p] + r.D[at+p]*sums[2*p+1]
	}
	if !(math.Abs(before-after) <= 1e-13) {
		t.Errorf("⟨ḡ, ẋ⟩ is %v after, and %v before", before, after)
	}
}

// flat returns the real and imaginary parts, interleaved.
func flat(x []complex128) []float64 {
	var y []float64
	for _, z := range x {
		y = append(y, real(z), imag(z))
	}
	return y
}

// TestRotateOrder checks that several chains together give the same bits as one after the
// other, and that the bits of a column do not depend on its place.
func TestRotateOrder(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testRotateOrder[float64](t)
		testRotateOrder[float32](t)
	})
}

func testRotateOrder[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 2))
	const steps, cols = 9, 75
	r, run := rotations[T](rnd, RotateChains, steps, steps), Run{at, RotateChains, steps}
	x := simdtest.Normal[T]((steps+RotateChains)*cols, 1)
	apart := slices.Clone(x)
	r.Forward(run, x, cols, cols)
	for j := 0; j < cols; {
		n := 1 + rnd.IntN(min(40, cols-j))
		for q := range RotateChains {
			r.Forward(Run{at + q*steps, 1, steps}, apart[q*cols+j:], cols, n)
		}
		j += n
	}
	simdtest.SameSlice(t, "chains one after the other", apart, x)
}

func TestRotatePanics(t *testing.T) {
	x := make([]float64, 12) // 4×3
	r, phases := Rotations[float64]{C: x, S: x, D: x}, Rotations[float64]{C: x, S: x, PC: x, PS: x, D: x, PD: x[:2]}
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, test := range []struct {
			want string
			f    func()
		}{
			{badChains, func() { r.Forward(Run{0, 2, 1}, x, 3, 3) }},
			{badSteps, func() { r.Forward(Run{0, 1, -1}, x, 3, 3) }},
			{badN, func() { r.Back(Run{0, 1, 1}, x, 3, -1) }},
			{badLdX, func() { r.Forward(Run{0, 1, 1}, x, 2, 3) }},
			{shortX, func() { r.Forward(Run{0, 1, 4}, x, 3, 3) }},
			{shortX, func() { r.Back(Run{0, 4, 1}, x, 3, 3) }},
			{shortC, func() { r.Forward(Run{-1, 1, 1}, x, 3, 3) }},
			{shortC, func() { r.Forward(Run{11, 1, 2}, x, 3, 3) }},
			{shortC, func() { (&Rotations[float64]{C: x[:2], S: x}).Forward(Run{0, 1, 3}, x, 3, 3) }},
			{shortC, func() { (&Rotations[float64]{C: x, S: x[:7], Ld: 2}).Forward(Run{0, 4, 2}, x, 2, 2) }},
			{badLdG, func() { r.BackCross(Run{0, 1, 1}, x, 3, x, 2, 3, x) }},
			{shortG, func() { r.BackCross(Run{0, 1, 3}, x, 3, x[:11], 3, 3, x) }},
			{shortSums, func() { r.BackCross(Run{0, 1, 3}, x, 3, x, 3, 3, x[:2]) }},
			{badLdG, func() { r.Tangent(Run{0, 1, 1}, x, 3, x, 2, 3) }},
			{shortG, func() { r.TangentBack(Run{0, 1, 3}, x, 3, x[:11], 3, 3) }},
			{shortC, func() { (&Rotations[float64]{C: x, S: x, D: x[:2]}).Tangent(Run{0, 1, 3}, x, 3, x, 3, 3) }},
			{oddCols, func() { phases.Forward(Run{0, 1, 1}, x, 3, 3) }},
			{shortC, func() { (&Rotations[float64]{C: x, S: x, PC: x, PS: x[:2]}).Back(Run{0, 1, 3}, x, 3, 2) }},
			{shortSums, func() { phases.BackCross(Run{0, 1, 3}, x, 3, x, 3, 2, x[:5]) }},
			{shortC, func() { phases.Tangent(Run{0, 1, 3}, x, 3, x, 3, 2) }},
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
			r, phases := rotations[float64](rnd, chains, steps, steps), withPhases[float64](rnd, chains, steps, steps)
			run := Run{at, chains, steps}
			x, g := simdtest.Normal[float64]((steps+chains)*ldx, 1), simdtest.Normal[float64]((steps+chains)*ldx, 1)
			sums := make([]float64, steps*chains)
			work := 6 * cols * chains * steps
			b.Run(fmt.Sprintf("cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, work, func() { r.Forward(run, x, ldx, cols) })
				})
			})
			b.Run(fmt.Sprintf("cross/cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 16*work/6, func() { r.BackCross(run, x, ldx, g, ldx, cols, sums) })
				})
			})
			// Phases take three more operations for each element, and one for a sum.
			sums = make([]float64, 2*steps*chains)
			b.Run(fmt.Sprintf("phases/cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 9*work/6, func() { phases.Forward(run, x, ldx, cols) })
				})
			})
			b.Run(fmt.Sprintf("phases-cross/cols=%d/chains=%d", cols, chains), func(b *testing.B) {
				benchmarkVectorTiers(b, func(b *testing.B) {
					reportRate[float64](b, 24*work/6, func() {
						phases.BackCross(run, x, ldx, g, ldx, cols, sums)
					})
				})
			})
		}
	}
}
