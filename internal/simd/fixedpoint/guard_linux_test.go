package fixedpoint

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/simdtest"
)

// TestGuardPages checks that no loop reads or writes past the ends of its operands. These lie
// next to pages that fault.
func TestGuardPages(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		pages := [][]fixed.Q43{simdtest.Guarded[fixed.Q43](t), simdtest.Guarded[fixed.Q43](t), simdtest.Guarded[fixed.Q43](t), simdtest.Guarded[fixed.Q43](t)}
		long, short, bytes := simdtest.Guarded[int](t), simdtest.Guarded[int32](t), simdtest.Guarded[byte](t)
		bools := unsafe.Slice((*bool)(unsafe.Pointer(&bytes[0])), len(bytes))
		for _, last := range []bool{false, true} {
			for n := range 40 {
				x, y, z := simdtest.End(pages[0], n, last), simdtest.End(pages[1], n, last), simdtest.End(pages[2], n, last)
				Dot(x, y)
				SumSquares(x)
				Axpy(1, fixed.One/3, x, y)
				ExactDot(x, y)
				AxpyChecked(1, fixed.One/3, x, y)
				AddProductsChecked(-1, x, y, z)
				ExactSquares(x)
				Largest(x)
				AddProductsTo(-1, x, y, simdtest.End(pages[3], n, last), z)
				SegmentDots([]int{0, n / 2, n}, x, y, make([]fixed.Q43, 2))
				ExactSum(x)
				SumExp(x, Max(x), new([32][2]float64))
				AddTo(1, x, y, z)
				Split(simdtest.End(pages[3], 2*n, last), x, y)
				AddPairs(1, x, y, simdtest.End(pages[3], 2*n, last))
				Shears(fixed.One/3, fixed.One/2, true, x, y)
				for i := range x {
					x[i] = fixed.One
				}
				for _, f := range functions {
					f.f.Add(1, x, y)
				}
				AddQuotients(1, y, x, z)
				for rows := 1; rows <= 3; rows++ {
					for _, stride := range []int{n, n + 2} {
						a, u := simdtest.End(pages[0], rows, last), simdtest.End(pages[1], (rows-1)*stride+n, last)
						i64, i32 := simdtest.End(long, rows, last), simdtest.End(short, rows, last)
						for i := range rows {
							i64[i], i32[i] = i, int32(i)
						}
						AddRowSums(1, fixed.One, a, i64, u, stride, z, make([]fixed.Accumulator, n))
						AddRowSums(1, fixed.One, a, i32, u, stride, z, make([]fixed.Accumulator, n))

						AddRowDots(fixed.One, y, i64, u, stride, a)
						AddRowDots(fixed.One, y, i32, u, stride, a)

						tan, sin, half, matrix := a, simdtest.End(pages[1], rows, last), simdtest.End(bools, rows, last), simdtest.End(pages[2], rows*stride+n, last)
						for i := range tan {
							tan[i], sin[i] = fixed.One/3, fixed.One/2
						}
						ShearChain(tan, sin, half, matrix, stride, rows-1, n)
						UnshearChain(tan, sin, half, matrix, stride, rows-1, n)
						other := simdtest.End(pages[3], rows*stride+n, last)
						UnshearChainCross(tan, sin, half, matrix, stride, other, stride, rows-1, n, slices.Clone(tan))
					}
				}
			}
			for d := 1; d <= 9; d++ {
				for n := range 40 {
					l, c, y, half := simdtest.End(pages[0], d*d, last), simdtest.End(pages[1], d*n, last), simdtest.End(pages[2], d*n, last), simdtest.End(pages[3], n, last)
					mu, scratch := make([]fixed.Q43, d), make([]fixed.Q43, TriScratch(d))
					for _, narrow := range []bool{false, true} {
						TriNorms(narrow, d, l, c, n, mu, y, n, fixed.Accumulator{}, half, scratch[:16*d])
						make(TriSums, TriSumsLen(d)).TriDots(narrow, d, n, y, n, c, n, mu, scratch)
					}
					WeighRows(half, y, n, mu)
				}
			}
			for m := 1; m <= 17; m++ {
				for n := 1; n <= 17; n++ {
					for _, k := range []int{1, 7, 8, 9} {
						a, b, c := simdtest.End(pages[0], m*k, last), simdtest.End(pages[1], k*n, last), simdtest.End(pages[2], m*n, last)
						a[0] = 1 << (40 + m%2*20) // both kinds of numbers
						Gemm(m, n, k, 1, a, k, 1, b, n, 1, c, n)
						Gemm(m, n, k, -1, a, 1, m, b, 1, k, c, n)
						gemmChecked(m, n, k, 1, a, k, 1, b, 1, k, c, n)
					}
				}
			}
		}
	})
}

// TestGuardPagesOfFunctions checks the same of functions of single elements, of which vectors of some go to plain Go, and
// of loops over numbers of all magnitudes.
func TestGuardPagesOfFunctions(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 1))
		var pages [6][]fixed.Q43
		for i := range pages {
			pages[i] = simdtest.Guarded[fixed.Q43](t)
		}
		floats := simdtest.Guarded[float64](t)
		for _, last := range []bool{false, true} {
			for n := range 71 {
				// draw returns odd numbers, from 0 up to 2^bits units.
				draw := func(page, bits int) []fixed.Q43 {
					x := simdtest.End(pages[page], n, last)
					for i := range x {
						x[i] = fixed.Q43(rnd.Uint64()>>(64-bits) | 1)
					}
					return x
				}
				f := simdtest.End(floats, n, last)
				for _, sign := range []int{-1, 1} {
					x, y, z, u, v, w := draw(0, 44), draw(1, 64), draw(2, 64), draw(3, 64), draw(4, 64), draw(5, 64)
					for _, f := range functions {
						f.f.Add(sign, x, y)
						f.f.AddProducts(sign, x, y, z)
					}
					AddSigned(sign, sign > 0, y, x, z)
					Floats(f, x)
					AddRounded(sign, f, y)
					AddReciprocals(sign, draw(0, 45), z)
					AddQuotients(sign, y, x, z)
					AddQuotientsTwice(sign, y, x, z)
					AddAtan2(sign, y, x, z)
					AddAtan2Slopes(draw(0, 45), draw(1, 45), draw(2, 45), u, v)
					x, y = draw(0, 44), draw(1, 43)
					for i := range x {
						x[i] |= fixed.One >> 3 // no power with an exponent up to 1 is out of range, nor is its slope
					}
					AddPow(sign, x, y, z)
					AddPowSlopes(sign, x, y, z, u, v, w)

					x, y, z = draw(0, 64), draw(1, 64), draw(2, 64)
					AxpyChecked(sign, fixed.One, x, y)
					AddProductsChecked(sign, x, y, z)
					ExactDot(x, y)
					ExactSquares(x)
					Largest(x)
					WeighRows(x, y, n, z[:min(n, 1)])
				}
			}
		}
	})
}
