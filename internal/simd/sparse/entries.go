package sparse

import (
	"slices"
	"unsafe"

	"revnum/internal/simd/cpu"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

const badLength = "sparse: slice lengths do not match"

// Index is the constraint of indices.
type Index interface {
	int | int32
}

// Entries holds the entries of some rows of a sparse matrix, at most MaxEntries, and the
// operands of computations with them. Columns, Column and Pairs omit the sums whose
// destination Out, W or GA is nil.
//
// Entry q has the value A[q] and the column Ind[q]. The entries of row i end before
// End[i]-Base, and begin where the entries of the row before end. The loops trust End and Ind.
// Only Pairs checks Ind.
type Entries[T cpu.Float, I Index] struct {
	End  []I
	Base int
	Ind  []I
	A    []T

	U, W   []T // by columns of the sparse matrix
	V, Out []T // by its rows
	GA     []T // by its entries

	LdU, LdW, LdV, LdOut int // strides, for Columns
	Alpha, Beta, Gamma   T

	Far bool // whether A and Ind come from memory: a hint
}

// MaxEntries is the largest number of entries for one call of assembly. The call
// takes some 30 µs if the rows of a dense matrix come from the second-level cache.
const MaxEntries = 1 << 12

// Cols returns how many of n columns Columns processes at a time if W is nil. It is small
// enough that the rows that Columns adds up stay in registers.
func Cols[T cpu.Float](n int) int {
	if tier == cpu.Generic {
		return min(n, mostCols/2)
	}
	vl := cpu.Lanes[T](tier)
	for v := 8; v > 1; v /= 2 {
		if n >= v*vl {
			return v * vl
		}
	}
	return min(n, vl)
}

// mostCols is the largest result of Cols.
const mostCols = 128

// SpreadCols returns how many of n columns Columns processes at a time if W is not nil.
func SpreadCols[T cpu.Float](n int) int {
	if tier == cpu.Generic {
		return Cols[T](n)
	}
	return Cols[T](min(n, 2*cpu.Lanes[T](tier)))
}

// Columns computes
//
//	out_i += Alpha·Σ_q a_q·u_q
//	w_q += a_q·(Beta·v_i)
//	ga_q += Gamma·(v_i·u_q)
//
// for the entries q of row i. Here out_i, v_i, u_q and w_q are n elements of a row of a
// dense matrix: out_i begins at Out[i*LdOut], v_i at V[i*LdV], u_q at U[Ind[q]*LdU] and
// w_q at W[Ind[q]*LdW]. n must be a result of Cols, or of SpreadCols if W is not nil. A
// row without entries does not change.
//
// The sum goes in the order of q. Products with a are fused on the vector tiers.
func (e *Entries[T, I]) Columns(n int) {
	sum, spread, dots := e.Out != nil, e.W != nil, e.GA != nil
	if !e.check() || n <= 0 {
		return
	}
	if sum {
		e.checkDense(n, e.Out, e.LdOut)
	}
	if spread || dots {
		e.checkDense(n, e.V, e.LdV)
	}
	rows := len(e.End)
	switch {
	case tier == cpu.Generic:
		e.genericColumns(n)
	case sum && dots && spread:
		vectorRowsDotsSpread(e, n, rows)
	case sum && spread:
		vectorRowsSpread(e, n, rows)
	case sum && dots:
		vectorRowsDots(e, n, rows)
	case sum:
		vectorRows(e, n, rows)
	default:
		if dots {
			vectorDots(e, n, rows)
		}
		if spread {
			vectorSpread(e, n, rows)
		}
	}
}

// Column computes
//
//	out_i += Alpha·Σ_q a_q·u_q
//	w_q += a_q·(Beta·v_i)
//	ga_q += (Gamma·v_i)·u_q
//
// for the entries q of row i. Here out_i and v_i are element i of Out and V, and u_q and
// w_q are element Ind[q] of U and W. If GA is not nil, Out must not be either.
//
// On the vector tiers the sum of a row is made of four partial sums. It is the same
// whatever else is computed.
func (e *Entries[T, I]) Column() {
	gather, scatter, grad := e.Out != nil, e.W != nil, e.GA != nil
	if !e.check() {
		return
	}
	e.checkColumn()
	rows := len(e.End)
	switch {
	case tier == cpu.Generic:
		e.genericColumn()
	case scatter && grad:
		vectorGatherScatterGrad(e, rows)
	case gather && scatter:
		vectorGatherScatter(e, rows)
	case scatter:
		vectorScatter(e, rows)
	case grad:
		vectorGatherGrad(e, rows)
	case gather && e.Far:
		vectorGatherFar(e, rows)
	case gather:
		vectorGather(e, rows)
	}
}

// Pairs does what Column does, with u_q = U[2j] and w_q = U[2j+1] for j = Ind[q]. Each pair
// comes from memory at once. Out must not be nil, and W is not used. Pairs stops at an index
// out of the range of U. It reports whether all indices were in range.
func (e *Entries[T, I]) Pairs() bool {
	if !e.check() {
		return true
	}
	e.checkColumn()
	rows, pairs := len(e.End), len(e.U)/2
	if unsafe.Sizeof(I(0)) == 4 {
		pairs = int(min(uint(pairs), 1<<31)) // the last one fits into an index
	}
	fetch := e.fetched()
	switch {
	case pairs == 0:
		return false
	case tier == cpu.Generic:
		return e.genericPairs()
	case e.GA != nil:
		return vectorPairsGrad(e, rows, pairs, fetch)
	}
	return vectorPairs(e, rows, pairs, fetch)
}

// fetched returns the number of entries for which Pairs prefetches the pair of a later
// entry. It is zero if U is small enough for the second-level cache. The last entries are
// not counted, because no indices follow them.
func (e *Entries[T, I]) fetched() int {
	const ahead = 32
	if len(e.U)*int(unsafe.Sizeof(T(0))) < 1<<20 {
		return 0
	}
	return max(0, len(e.Ind)-ahead-7)
}

// check panics unless End fits A and Ind, and the operands have values for all entries. It
// reports whether there are entries.
func (e *Entries[T, I]) check() bool {
	entries, rows := len(e.Ind), len(e.End)
	switch {
	case rows == 0 && entries == 0:
		return false
	case rows == 0 || int(e.End[rows-1])-e.Base != entries,
		(e.Out != nil || e.W != nil) && len(e.A) < entries,
		e.GA != nil && len(e.GA) < entries:
		panic(badLength)
	}
	return entries > 0
}

// checkDense panics unless a dense matrix x with the given stride holds n columns of the
// rows.
func (e *Entries[T, I]) checkDense(n int, x []T, stride int) {
	if stride < 0 || len(x) < (len(e.End)-1)*stride+n {
		panic(badLength)
	}
}

func (e *Entries[T, I]) checkColumn() {
	switch rows := len(e.End); {
	case e.Out == nil && e.GA != nil,
		e.Out != nil && len(e.Out) < rows,
		(e.W != nil || e.GA != nil) && len(e.V) < rows:
		panic(badLength)
	}
}

// PrefetchRow prefetches x into the cache, for a caller that soon reads it.
func PrefetchRow[T cpu.Float](x []T) {
	if len(x) > 0 && tier != cpu.Generic {
		vectorPrefetchLines((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(T(0))))
	}
}

// IndexRange returns the least and the largest index. It returns 0 and -1 if there
// is none.
func IndexRange[I Index](ind []I) (lo, hi I) {
	if len(ind) == 0 {
		return 0, -1
	}
	lo, hi = ind[0], ind[0]
	for i := 0; i < len(ind); i += MaxEntries { // slices.Chunk would move ind to the heap
		least, most := indexRange(ind[i:min(i+MaxEntries, len(ind))])
		lo, hi = min(lo, least), max(hi, most)
	}
	return lo, hi
}

func indexRange[I Index](ind []I) (lo, hi I) {
	wide, lanes := unsafe.Sizeof(I(0)) == 8, 8
	if tier == cpu.AVX512 && !wide {
		lanes = 16
	}
	if tier == cpu.Generic || tier == cpu.AVX2 && wide || len(ind) < lanes {
		return genericIndexRange(ind)
	}
	var least, most [16]I
	vectorIndexRange(&ind[0], len(ind), &least[0], &most[0])
	return slices.Min(least[:lanes]), slices.Max(most[:lanes])
}
