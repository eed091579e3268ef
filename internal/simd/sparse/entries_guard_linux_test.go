package sparse

import (
	"math"
	"syscall"
	"testing"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestSparseGuardPages checks that the loops over sparse rows do not read or write past the
// ends of their operands. These lie next to pages that fault.
func TestSparseGuardPages(t *testing.T) {
	simdtest.ForEachType(t, &tier, testSparseGuardPages[float64], testSparseGuardPages[float32])
}

func testSparseGuardPages[T cpu.Float](t *testing.T) {
	dst, v, a, ga, u, w := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	indices := simdtest.Guarded[int32](t)
	for cols := 1; cols <= mostCols; cols++ {
		n := Cols[T](cols)
		met := min(3, len(u)/n)
		for _, entries := range []int{1, 3, 4, 9, 17} {
			for _, last := range []bool{false, true} {
				end, ind := []int32{int32(entries)}, simdtest.End(indices, entries, last)
				for q := range ind {
					ind[q] = int32((q + 2) % met)
				}
				x := simdtest.End(u, met*n, last)
				e := Entries[T, int32]{
					End: end, Ind: ind, A: simdtest.End(a, entries, last), U: x, V: simdtest.End(v, n, last),
					LdU: n, LdW: n, LdV: n, LdOut: n, Alpha: 1e-3, Beta: 1e-3, Gamma: 1e-3,
				}
				for what := 1; what < 8; what++ {
					e.Out, e.GA, e.W = nil, nil, nil
					if what&1 != 0 {
						e.Out = simdtest.End(dst, n, last)
					}
					if what&2 != 0 {
						e.GA = simdtest.End(ga, entries, last)
					}
					if what&4 != 0 {
						e.W = simdtest.End(w, met*n, last)
					}
					if e.W == nil || n == SpreadCols[T](n) {
						e.Columns(n)
					}
				}
			}
		}
	}
}

func TestSparseColumnGuardPages(t *testing.T) {
	forEachIndex(t, testSparseColumnGuardPages[float64, int], testSparseColumnGuardPages[float64, int32], testSparseColumnGuardPages[float32, int], testSparseColumnGuardPages[float32, int32])
}

func testSparseColumnGuardPages[T cpu.Float, I Index](t *testing.T) {
	out, v, a, ga, u, w := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	ends, columns := simdtest.Guarded[I](t), simdtest.Guarded[I](t)
	const met = 3
	for entries := range 40 {
		for rows := 1; rows < 4; rows++ {
			for _, last := range []bool{false, true} {
				end, ind := simdtest.End(ends, rows, last), simdtest.End(columns, entries, last)
				for i := range end {
					end[i] = I(entries * (i + 1) / rows)
				}
				for q := range ind {
					ind[q] = I((q + 2) % met)
				}
				out, v, a, ga, u, w := simdtest.End(out, rows, last), simdtest.End(v, rows, last), simdtest.End(a, entries, last), simdtest.End(ga, entries, last), simdtest.End(u, met, last), simdtest.End(w, met, last)
				e := Entries[T, I]{End: end, Ind: ind, A: a, U: u, V: v, Alpha: 1e-3, Beta: 1e-3, Gamma: 1e-3}
				for n, what := range [][3][]T{{out}, {out}, {nil, w}, {out, w}, {out, nil, ga}, {out, w, ga}} {
					e.Out, e.W, e.GA, e.Far = what[0], what[1], what[2], n == 1
					e.Column()
				}
				if lo, hi := IndexRange(ind); int(lo) < 0 || int(hi) >= met {
					t.Fatalf("%d entries: from %d to %d", entries, lo, hi)
				}
			}
		}
	}
}

func TestSparsePairsGuardPages(t *testing.T) {
	simdtest.ForEachType(t, &tier, testSparsePairsGuardPages[float64], testSparsePairsGuardPages[float32])
}

func testSparsePairsGuardPages[T cpu.Float](t *testing.T) {
	out, v, a, ga, uw := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	indices, narrow := simdtest.Guarded[int](t), simdtest.Guarded[int32](t)
	const met = 3
	far := make([]T, 1<<18) // so large that pairs are fetched before
	for entries := 1; entries < 100; entries++ {
		for _, last := range []bool{false, true} {
			pairs := simdtest.End(uw, 2*met, last)
			if entries >= 30 {
				pairs = far
			}
			ind := simdtest.End(indices, entries, last)
			for q := range ind {
				ind[q] = q % met
			}
			e := Entries[T, int]{
				End: []int{entries}, Ind: ind, A: simdtest.End(a, entries, last), U: pairs,
				Out: simdtest.End(out, 1, last), V: simdtest.End(v, 1, last), GA: simdtest.End(ga, entries, last), Alpha: 1, Beta: 1, Gamma: 1,
			}
			ind32 := simdtest.End(narrow, entries, last)
			for q := range ind32 {
				ind32[q] = int32(q % met)
			}
			f := Entries[T, int32]{End: []int32{int32(entries)}, Ind: ind32, A: e.A, U: e.U, Out: e.Out, V: e.V, GA: e.GA, Alpha: 1, Beta: 1, Gamma: 1}
			if !e.Pairs() || !f.Pairs() {
				t.Fatalf("%d entries: an index is outside", entries)
			}
		}
	}
}

// TestSparsePairsPastIndices checks that there may be more pairs than an index can count.
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
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		ind := []int32{0, 1, 7, math.MaxInt32, 0, 1, 2, 3, math.MaxInt32}
		a, ga, one := make([]float32, len(ind)), make([]float32, len(ind)), []float32{1}
		e := Entries[float32, int32]{End: []int32{int32(len(ind))}, Ind: ind, A: a, U: uw, V: one, Out: one, GA: ga}
		if !e.Pairs() {
			t.Error("an index is refused")
		}
		ind[3] = -1
		if e.Pairs() {
			t.Error("takes index -1")
		}
	})
}
