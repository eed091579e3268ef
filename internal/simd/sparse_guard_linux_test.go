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
	page := guarded[float32](t)
	indices := unsafe.Slice((*int32)(unsafe.Pointer(&page[0])), len(page))
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
					SparseRowsDotsSpread(n, end, 0, ind, x, n, at(a, entries, last), at(dst, n, last), n, 1e-3, at(ga, entries, last), 1e-3, at(v, n, last), n, 1e-3, y, n)
				}
			}
		}
	}
}

func TestSparsePairsGuardPages(t *testing.T) {
	forEachType(t, testSparsePairsGuardPages[float64], testSparsePairsGuardPages[float32])
}

func testSparsePairsGuardPages[T Float](t *testing.T) {
	out, v, a, ga, uw := guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t), guarded[T](t)
	page := guarded[float64](t)
	indices := unsafe.Slice((*int)(unsafe.Pointer(&page[0])), len(page)*8/int(unsafe.Sizeof(int(0))))
	narrow := unsafe.Slice((*int32)(unsafe.Pointer(&page[0])), 2*len(page))
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
