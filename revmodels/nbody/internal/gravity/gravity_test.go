package gravity

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// The vector code computes what the loops in Go compute, up to rounding.
func TestTiers(t *testing.T) {
	simdtest.ForEachType(t, &tier, testTiers[float64], testTiers[float32])
}

func testTiers[T cpu.Float](t *testing.T) {
	for _, n := range []int{0, 1, 2, 5, 16, 33, chunk + 3} {
		for _, lanes := range []int{1, 3, 4, 8, 9, 16} {
			for _, soft2 := range []T{0, 0.25} {
				target, acc := simdtest.Normal[T](Full*Lanes, 1), simdtest.Normal[T](4*Lanes, 2)
				full, sources := simdtest.Normal[T](Full*n, 3), simdtest.Normal[T](Source*n, 4)
				if n > 4 {
					for c := range 3 { // in one place
						full[2*Full+c], sources[2*Source+c] = target[c*Lanes], target[c*Lanes]
					}
				}
				check := func(name string, f, generic func(target, acc, sources []T, n, lanes int, soft2 T), sources []T, rows int) {
					t.Helper()
					got, want := slices.Clone(acc), slices.Clone(acc)
					f(target, got, sources, n, lanes, soft2)
					generic(target, want, sources, n, lanes, soft2)
					for c := range rows {
						top := 1.0
						for _, v := range want[c*Lanes:][:lanes] {
							top = max(top, math.Abs(float64(v)))
						}
						for i := range lanes {
							g, w := float64(got[c*Lanes+i]), float64(want[c*Lanes+i])
							if !(math.Abs(g-w) <= 2000*simdtest.Unit[T]()*top) {
								t.Fatalf("%s of %d sources, %d lanes, softening %v: row %d of target %d is %v, want %v", name, n, lanes, soft2, c, i, g, w)
							}
						}
					}
				}
				check("Attract", Attract[T], genericAttract[T], sources, Sums)
				check("Tides", Tides[T], genericTides[T], full, Dots+1)
			}
		}
	}
}

// Kick adds dt times what Attract does, to the bit, and changes nothing else.
func TestKick(t *testing.T) {
	simdtest.ForEachType(t, &tier, testKick[float64], testKick[float32])
}

func testKick[T cpu.Float](t *testing.T) {
	const size, soft2, dt = Rows * Lanes, 0.25, -0.375
	for _, n := range []int{0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 21, 32, 33, 45} {
		blocks := (n + Lanes - 1) / Lanes
		bodies, sources := simdtest.Normal[T](blocks*size, 1), make([]T, Source*n)
		for j := range n {
			b := bodies[j/Lanes*size+j%Lanes:]
			copy(sources[Source*j:], []T{b[0], b[Lanes], b[2*Lanes], b[Masses*Lanes]})
		}
		got := slices.Clone(bodies)
		Kick(got, n, soft2, dt)
		for i, v := range bodies {
			row, lane := i%size/Lanes, i/size*Lanes+i%Lanes
			switch {
			case lane >= n: // its velocity is nobody's
				if row >= Velocity && row < Masses {
					continue
				}
			case row >= Velocity && row < Masses:
				acc := make([]T, Sums*Lanes)
				Attract(bodies[i/size*size:], acc, sources, n, min(Lanes, n-i/size*Lanes), soft2)
				v += T(dt * acc[(row-Velocity)*Lanes+i%Lanes])
			}
			if got[i] != v {
				t.Fatalf("%d bodies: row %d of body %d is %v, want %v", n, row, lane, got[i], v)
			}
		}
	}
}

// A body neither attracts itself nor adds to its own derivatives, to the bit.
func TestSelf(t *testing.T) {
	simdtest.ForEachType(t, &tier, testSelf[float64], testSelf[float32])
}

func testSelf[T cpu.Float](t *testing.T) {
	for _, soft2 := range []T{0, 1e-12} {
		target, source := simdtest.Normal[T](Full*Lanes, 5), make([]T, Full)
		for c := range 3 {
			source[c], source[A+c] = target[c*Lanes], target[(B+c)*Lanes]
		}
		source[Mass] = target[Alpha*Lanes]
		acc := make([]T, 4*Lanes)
		Attract(target, acc, source, 1, 1, soft2)
		Tides(target, acc, source, 1, 1, soft2)
		for c := range 4 {
			if v := acc[c*Lanes]; v != 0 {
				t.Errorf("softening %v: row %d is %v", soft2, c, v)
			}
		}
	}
}

func TestBadLengths(t *testing.T) {
	x := make([]float64, Full*Lanes)
	for i, f := range []func(){
		func() { Attract(x[:3*Lanes-1], x, x, 1, 1, 0) }, func() { Attract(x, x[:3*Lanes-1], x, 1, 1, 0) },
		func() { Attract(x, x, x[:3], 1, 1, 0) }, func() { Attract(x, x, x, 1, 0, 0) }, func() { Attract(x, x, x, 1, 17, 0) },
		func() { Tides(x[:6*Lanes], x, x, 1, 1, 0) }, func() { Tides(x, x[:4*Lanes-1], x, 1, 1, 0) },
		func() { Kick(x[:Rows*Lanes-1], 1, 0, 1) }, func() { Kick(x, 17, 0, 1) }, func() { Kick(x, -1, 0, 1) },
		func() { Tides(x, x, x[:6], 1, 1, 0) }, func() { Tides(x, x, x, 1, 17, 0) },
	} {
		if !simdtest.Panics(f) {
			t.Errorf("case %d does not panic", i)
		}
	}
}

func BenchmarkAttract(b *testing.B) {
	for _, n := range []int{9, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := simdtest.Normal[float64](Full*n, 1)
			target, acc := simdtest.Normal[float64](Full*Lanes, 2), make([]float64, 4*Lanes)
			b.Run("Attract", func(b *testing.B) {
				for b.Loop() {
					Attract(target, acc, x, n, min(n, Lanes), 0)
				}
			})
			b.Run("Tides", func(b *testing.B) {
				for b.Loop() {
					Tides(target, acc, x, n, min(n, Lanes), 0)
				}
			})
		})
	}
}
