package simd

import (
	"math"
	"syscall"
	"testing"
	"unsafe"
)

// The loops over sparse rows neither read nor write past the ends of their
// operands, which lie against pages that fault.
func TestSparseGuardPages(t *testing.T) {
	forEachType(t, testSparseGuardPages[float64], testSparseGuardPages[float32])
}

func testSparseGuardPages[T Float](t *testing.T) {
	dst, v, a, ga, u, w := guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t)
	indices := guardedIndices[int32](t)
	for cols := 1; cols <= sparseMost; cols++ {
		n := SparseCols[T](cols)
		met := min(3, len(u)/n)
		for _, entries := range []int{1, 3, 4, 9, 17} {
			for _, last := range []bool{false, true} {
				end, ind := []int32{int32(entries)}, at(indices, entries, last)
				for q := range ind {
					ind[q] = int32((q + 2) % met)
				}
				x := at(u, met*n, last)
				SparseRows(n, end, 0, ind, x, n, at(a, entries, last), at(dst, n, last), n, 1e-3)
				SparseDots(n, end, 0, ind, x, n, at(ga, entries, last), at(v, n, last), n, 1e-3)
				SparseRowsDots(n, end, 0, ind, x, n, at(a, entries, last), at(dst, n, last), n, 1e-3, at(ga, entries, last), at(v, n, last), n, 1e-3)
				if n == SpreadCols[T](n) {
					y := at(w, met*n, last)
					SparseSpread(n, end, 0, ind, at(a, entries, last), at(v, n, last), n, 1e-3, y, n)
					SparseRowsSpread(n, end, 0, ind, x, n, at(a, entries, last), at(dst, n, last), n, 1e-3, at(v, n, last), n, 1e-3, y, n)
					SparseRowsDotsSpread(n, end, 0, ind, x, n, at(a, entries, last), at(dst, n, last), n, 1e-3, at(ga, entries, last), 1e-3, at(v, n, last), n, 1e-3, y, n)
				}
			}
		}
	}
}

func TestSparseColumnGuardPages(t *testing.T) {
	forEachIndex(t, testSparseColumnGuardPages[float64, int], testSparseColumnGuardPages[float64, int32], testSparseColumnGuardPages[float32, int], testSparseColumnGuardPages[float32, int32])
}

func testSparseColumnGuardPages[T Float, I Index](t *testing.T) {
	out, v, a, ga, u, w := guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t)
	ends, columns := guardedIndices[I](t), guardedIndices[I](t)
	const met = 3
	for entries := range 40 {
		for rows := 1; rows < 4; rows++ {
			for _, last := range []bool{false, true} {
				end, ind := at(ends, rows, last), at(columns, entries, last)
				for i := range end {
					end[i] = I(entries * (i + 1) / rows)
				}
				for q := range ind {
					ind[q] = I((q + 2) % met)
				}
				out, v, a, ga, u, w := at(out, rows, last), at(v, rows, last), at(a, entries, last), at(ga, entries, last), at(u, met, last), at(w, met, last)
				SparseGather(end, 0, a, ind, out, 1e-3, u)
				SparseScatter(end, 0, a, ind, v, 1e-3, w)
				SparseGatherScatter(end, 0, a, ind, out, 1e-3, u, v, 1e-3, w)
				SparseGatherGrad(end, 0, a, ind, out, 1e-3, u, v, ga, 1e-3)
				SparseGatherScatterGrad(end, 0, a, ind, out, 1e-3, u, v, 1e-3, w, ga, 1e-3)
				if lo, hi := IndexRange(ind); int(lo) < 0 || int(hi) >= met {
					t.Fatalf("%d entries: from %d to %d", entries, lo, hi)
				}
			}
		}
	}
}

// guardedIndices returns a page of indices between two pages that must not be touched.
func guardedIndices[I Index](t *testing.T) []I {
	page := guarded[float64](t)
	return unsafe.Slice((*I)(unsafe.Pointer(&page[0])), len(page)*8/int(unsafe.Sizeof(I(0))))
}

func TestSparsePairsGuardPages(t *testing.T) {
	forEachType(t, testSparsePairsGuardPages[float64], testSparsePairsGuardPages[float32])
}

func testSparsePairsGuardPages[T Float](t *testing.T) {
	out, v, a, ga, uw := guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t)
	indices, narrow := guardedIndices[int](t), guardedIndices[int32](t)
	const met = 3
	far := make([]T, 1<<18) // so large that pairs are fetched before
	for entries := 1; entries < 100; entries++ {
		for _, last := range []bool{false, true} {
			pairs := at(uw, 2*met, last)
			if entries >= 30 {
				pairs = far
			}
			ind := at(indices, entries, last)
			for q := range ind {
				ind[q] = q % met
			}
			ok := SparsePairsGrad([]int{entries}, 0, at(a, entries, last), ind, at(out, 1, last), 1, pairs, at(v, 1, last), 1, at(ga, entries, last), 1)
			ind32 := at(narrow, entries, last)
			for q := range ind32 {
				ind32[q] = int32(q % met)
			}
			if !SparsePairsGrad([]int32{int32(entries)}, 0, at(a, entries, last), ind32, at(out, 1, last), 1, pairs, at(v, 1, last), 1, at(ga, entries, last), 1) || !ok {
				t.Fatalf("%d entries: an index is outside", entries)
			}
		}
	}
}

// More pairs than indices count to are no reason to refuse one.
func TestSparsePairsPastIndices(t *testing.T) {
	if unsafe.Sizeof(0) < 8 {
		t.Skip("no such slice here")
	}
	const pairs = 1<<31 + 1<<10
	size := uint64(8 * pairs)
	mem, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skipf("no memory map: %v", err)
	}
	defer func() { _ = syscall.Munmap(mem) }()
	uw := unsafe.Slice((*float32)(unsafe.Pointer(&mem[0])), size/4)
	forEachTier(t, func(t *testing.T) {
		ind := []int32{0, 1, 7, math.MaxInt32, 0, 1, 2, 3, math.MaxInt32}
		a, ga, one := make([]float32, len(ind)), make([]float32, len(ind)), []float32{1}
		if !SparsePairsGrad([]int32{int32(len(ind))}, 0, a, ind, one, 1, uw, one, 1, ga, 1) {
			t.Error("an index is refused")
		}
		ind[3] = -1
		if SparsePairsGrad([]int32{int32(len(ind))}, 0, a, ind, one, 1, uw, one, 1, ga, 1) {
			t.Error("takes index -1")
		}
	})
}

// at returns the first n elements of x, or the last.
func at[E any](x []E, n int, last bool) []E {
	if last {
		return x[len(x)-n:]
	}
	return x[:n]
}
