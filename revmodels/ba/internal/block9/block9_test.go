package block9

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/internal/simd/simdtest"
)

// schurOperands returns blocks, Jacobians and the rest with NaN where nothing
// should be looked at.
func schurOperands(rnd *rand.Rand, blocks, n int) (block, a, b, j, r, g []float64, which []int32, list []int) {
	block = simdtest.Normal[float64](blocks*Len, 1)
	for i := range blocks {
		for k := 81; k < Len; k++ {
			block[Len*i+k] = math.NaN()
		}
	}
	a, b = simdtest.Normal[float64](27, 2), simdtest.Normal[float64](27*n, 3)
	j, r, g = simdtest.Normal[float64](jacobianLen*n, 4), simdtest.Normal[float64](2*n, 5), simdtest.Normal[float64](9, 6)
	for i := range j {
		if i%jacobianRow >= 9 {
			j[i] = math.NaN()
		}
	}
	for range n {
		which = append(which, int32(rnd.IntN(blocks)))
		list = append(list, rnd.IntN(n))
	}
	return block, a, b, j, r, g, which, list
}

func TestSubProducts9(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(6, 1))
		for _, n := range []int{0, 1, 2, 5, 300, 700} {
			const blocks = 7
			got, a, b, _, _, _, which, _ := schurOperands(rnd, blocks, n)
			want, start := slices.Clone(got), slices.Clone(got)
			for k, at := range which {
				for i := range 9 {
					for j := range 9 {
						e := &want[Len*int(at)+72+i]
						if j < 8 {
							e = &want[Len*int(at)+8*i+j]
						}
						for q := range 3 {
							*e -= a[9*q+i] * b[27*k+9*q+j]
						}
					}
				}
			}
			SubProducts(got, which, a, b)
			tol := 1e-14 * float64(n+1)
			for i := range got {
				if i%Len >= 81 {
					simdtest.SameSlice(t, "padding", got[i:i+1], start[i:i+1])
				} else if !(math.Abs(got[i]-want[i]) <= tol) {
					t.Fatalf("n = %d: element %d is %v, want %v", n, i, got[i], want[i])
				}
			}
			// In parts.
			SubProducts(start, which[:n/3], a, b)
			SubProducts(start, which[n/3:], a, b[27*(n/3):])
			simdtest.SameSlice(t, "in parts", start, got)
		}
	})
}

func TestAddNormal9(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(6, 2))
		for _, n := range []int{0, 1, 2, 5, 300, 700} {
			got, _, _, j, r, g, _, list := schurOperands(rnd, 1, n)
			want, start := slices.Clone(got), slices.Clone(got)
			wantG, startG := slices.Clone(g), slices.Clone(g)
			for _, k := range list {
				for q := range 2 {
					f := j[jacobianLen*k+jacobianRow*q:][:9]
					for i := range 9 {
						for l := range 8 {
							want[8*i+l] += f[i] * f[l]
						}
						want[72+i] += f[i] * f[8]
						wantG[i] += f[i] * r[2*k+q]
					}
				}
			}
			AddNormal(got, g, j, r, list)
			tol := 1e-14 * float64(n+1)
			for i := range 81 {
				if !(math.Abs(got[i]-want[i]) <= tol) {
					t.Fatalf("n = %d: element %d is %v, want %v", n, i, got[i], want[i])
				}
			}
			for i := range g {
				if !(math.Abs(g[i]-wantG[i]) <= tol) {
					t.Fatalf("n = %d: element %d of g is %v, want %v", n, i, g[i], wantG[i])
				}
			}
			simdtest.SameSlice(t, "padding", got[81:], start[81:])
			AddNormal(start, startG, j, r, list[:n/3])
			AddNormal(start, startG, j, r, list[n/3:])
			simdtest.SameSlice(t, "in parts", start, got)
			simdtest.SameSlice(t, "g in parts", startG, g)
		}
	})
}

func TestSchurPanics(t *testing.T) {
	block, b := make([]float64, 2*Len), make([]float64, 54)
	for name, f := range map[string]func(){
		badBlock:    func() { SubProducts(block, []int32{1, 2}, b, b) },
		shortA:      func() { SubProducts(block, nil, b[:26], b) },
		shortB:      func() { SubProducts(block, []int32{1, 0}, b, b[:53]) },
		badJacobian: func() { AddNormal(block, b, b[:48], b[:4], []int{0, 2}) },
		shortBlocks: func() { AddNormal(block[:87], b, b, b, nil) },
		shortG:      func() { AddNormal(block, b[:8], b, b, nil) },
	} {
		func() {
			defer func() {
				if r := recover(); r != name {
					t.Errorf("panics with %v, want %q", r, name)
				}
			}()
			f()
		}()
	}
	for _, k := range []int{-1, 2} {
		func() {
			defer func() {
				if recover() != badJacobian {
					t.Errorf("no panic for Jacobian %d", k)
				}
			}()
			AddNormal(block, b, b[:48], b, []int{k})
		}()
		func() {
			defer func() {
				if recover() != badBlock {
					t.Errorf("no panic for block %d", k)
				}
			}()
			SubProducts(block, []int32{int32(k)}, b, b)
		}()
	}
}

func BenchmarkSubProducts9(b *testing.B) {
	rnd := rand.New(rand.NewPCG(6, 3))
	const n = 64
	block, x, y, _, _, _, which, _ := schurOperands(rnd, 40, n)
	for range b.N {
		SubProducts(block, which, x, y)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/block")
	b.ReportMetric(2*3*81*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

func BenchmarkAddNormal9(b *testing.B) {
	rnd := rand.New(rand.NewPCG(6, 3))
	const n = 64
	block, _, _, j, r, g, _, list := schurOperands(rnd, 1, n)
	for range b.N {
		AddNormal(block, g, j, r, list)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/Jacobian")
	b.ReportMetric(2*2*90*n*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
