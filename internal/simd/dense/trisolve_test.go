package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"revnum/internal/long"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func TestTriSolve(t *testing.T) {
	simdtest.ForEachType(t, &tier, testTriSolve[float64], testTriSolve[float32])
}

func testTriSolve[T cpu.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	tol := 1e-13
	if !cpu.Is64[T]() {
		tol = 1e-4
	}
	for _, m := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 23, 64, 65, 131} {
		for _, n := range []int{0, 1, 2, 4, 5, 8, 9, 16, 17, 23, 24, 25, 32, 47, 48, 49, 75} {
			for c := range 8 {
				if !long.Tests() && c != (m+n)%8 {
					continue
				}
				upper, unit, trans := c&1 > 0, c&2 > 0, c&4 > 0
				rst, cst := m+3, 1
				if trans {
					rst, cst = 1, m+3
				}
				// Elements that must not be read are NaN.
				tri := slices.Repeat([]T{T(math.NaN())}, m*(m+3))
				for i := range m {
					for j := range m {
						switch {
						case i == j && !unit:
							tri[i*rst+j*cst] = T(1+rnd.Float64()) * T(1-2*rnd.IntN(2))
						case i > j && !upper, i < j && upper:
							tri[i*rst+j*cst] = T(rnd.NormFloat64() / float64(m))
						}
					}
				}
				ldx := n + 2
				b := simdtest.Normal[T](m*ldx, 3)
				x := slices.Clone(b)
				TriSolve(m, n, tri, rst, cst, upper, unit, x, ldx)
				for i := range m {
					simdtest.SameSlice(t, "padding", x[i*ldx+n:(i+1)*ldx], b[i*ldx+n:(i+1)*ldx])
					for j := range n {
						s := float64(x[i*ldx+j])
						if !unit {
							s *= float64(tri[i*rst+i*cst])
						}
						for l := range m {
							if l < i && !upper || l > i && upper {
								s += float64(tri[i*rst+l*cst]) * float64(x[l*ldx+j])
							}
						}
						if d := math.Abs(s - float64(b[i*ldx+j])); !(d <= tol) {
							t.Fatalf("m = %d, n = %d, upper %v, unit %v, transposed %v: residual %d, %d is %g", m, n, upper, unit, trans, i, j, d)
						}
					}
				}
				// Columns have the same bits by themselves and with others.
				parts := slices.Clone(b)
				for lo, hi := 0, 1; lo < n; lo, hi = hi, min(n, 2*hi+1) {
					TriSolve(m, hi-lo, tri, rst, cst, upper, unit, parts[min(lo, len(parts)):], ldx)
				}
				simdtest.SameSlice(t, "in parts", parts, x)
			}
		}
	}
}

// TestTriSolveExtremes checks that TriSolve divides if a reciprocal of a diagonal element is
// not a normal number, and that NaN and infinities go where the equations take them.
func TestTriSolveExtremes(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		for _, c := range []struct{ d, b, want float64 }{
			{0x1p-1060, 0x1p-1060, 1},
			{0x1p1023, 0x1p1020, 0x1p-3},
			{-0x1.8p1023, 0x1.8p1023, -1},
			{0, 1, math.Inf(1)},
			{0, 0, math.NaN()},
			{math.Inf(-1), -1, 0},
			{math.NaN(), 1, math.NaN()},
			{1, math.NaN(), math.NaN()},
		} {
			x := []float64{c.b, 1}
			TriSolve(2, 1, []float64{c.d, math.NaN(), 0, 2}, 2, 1, false, false, x, 1)
			if x[0] != c.want && !(math.IsNaN(x[0]) && math.IsNaN(c.want)) {
				t.Errorf("%g / %g = %g", c.b, c.d, x[0])
			}
			if math.Abs(x[0]) <= 1 && x[1] != 0.5 {
				t.Errorf("%g beside %g / %g, want 0.5", x[1], c.b, c.d)
			}
		}
	})
}

func BenchmarkTriSolve(b *testing.B) {
	for _, m := range []int{16, 64, 128} {
		const n = 192
		t, x := simdtest.Normal[float64](m*(m+8), 1), simdtest.Normal[float64](m*n, 2)
		for i := range t {
			t[i] /= float64(m)
		}
		for i := range m {
			t[i*(m+9)] = 1
		}
		b.Run(strconv.Itoa(m), func(b *testing.B) {
			for range b.N {
				TriSolve(m, n, t, m+8, 1, false, false, x, n)
			}
			b.ReportMetric(float64(m*m*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
