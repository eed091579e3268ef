package sparse

import (
	"slices"
	"unsafe"

	"revnum/internal/simd/cpu"
)

//go:generate go -C ../_gen run ./entries ../sparse

// tier is the vector code in use.
var tier = cpu.InUse()

const badLength = "sparse: slice lengths do not match"

// Index is the constraint of indices.
type Index interface {
	int | int32
}

// Entries are those of some rows of a sparse matrix, at most MaxEntries, and what is to be
// computed with them. Of what Columns, Column and Pairs compute, they leave out what Out, W
// or GA is nil for.
//
// Entry q is A[q] in column Ind[q]. Those of row i end before End[i]-Base, and begin where
// those of the row before end. End and Ind are trusted, but for what Pairs says.
type Entries[T cpu.Float, I Index] struct {
	End  []I
	Base int
	Ind  []I
	A    []T

	U      []T // is read, and
	W      []T // is added to, where the columns are
	V, Out []T // are of the rows
	GA     []T // is of the entries

	LdU, LdW, LdV, LdOut int // strides, for Columns
	Alpha, Beta, Gamma   T
}

// MaxEntries is how many entries a call of assembly takes at most: some 30 µs
// where the rows of a dense matrix come from the second-level cache.
const MaxEntries = 1 << 12

// Cols returns how many of n columns Columns takes at a time at most, if W is nil: so many
// that the rows that it adds up stay in registers.
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

// mostCols is the most that Cols returns.
const mostCols = 128

// SpreadCols is Cols if there is W.
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
// for the entries q of row i, where out_i, v_i, u_q and w_q are n elements of a row of a
// dense matrix: out_i of Out begins at i*LdOut, and u_q of U at Ind[q]*LdU. The number n is
// what Cols returns for some number, or SpreadCols if there is W. A row without entries is
// left alone.
//
// Σ_q goes in the order of q. Products with a are fused on the vector tiers.
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
// for the entries q of row i, where out_i and v_i are element i of Out and V, and u_q and
// w_q element Ind[q] of U and W. GA needs Out. The sum of a row is made of four on the
// vector tiers, and the same whatever else is computed.
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
	case gather:
		vectorGather(e, rows)
	}
}

// Pairs computes what Column does where u_q is U[2j] and w_q is U[2j+1] for j = Ind[q],
// which come from memory together. It needs Out and takes no W. It checks the indices: it
// stops at one that U has not, and reports whether there was none.
func (e *Entries[T, I]) Pairs() bool {
	if !e.check() {
		return true
	}
	e.checkColumn()
	rows, pairs := len(e.End), len(e.U)/2
	if unsafe.Sizeof(I(0)) == 4 {
		pairs = int(min(uint(pairs), 1<<31)) // the last of which fits into an index
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

// fetched returns how many entries have the pairs of later ones fetched by Pairs: none
// where U is small enough for the second-level cache, and not the last ones, behind which
// there would be no indices.
func (e *Entries[T, I]) fetched() int {
	const ahead = 32
	if len(e.U)*int(unsafe.Sizeof(T(0))) < 1<<20 {
		return 0
	}
	return max(0, len(e.Ind)-ahead-7)
}

// check panics unless the entries are those of the rows and there are values of them, and
// reports whether there are any.
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

// checkDense panics unless a dense matrix holds n columns of so many rows.
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

// PrefetchRow asks for x, so that it is in the cache when it is read soon.
func PrefetchRow[T cpu.Float](x []T) {
	if len(x) > 0 && tier != cpu.Generic {
		vectorPrefetchLines((*byte)(unsafe.Pointer(&x[0])), len(x)*int(unsafe.Sizeof(T(0))))
	}
}

// IndexRange returns the least and the largest index, 0 and -1 of none.
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
	var least, most [16]I
	wide := unsafe.Sizeof(I(0)) == 8
	lanes := 8
	if tier == cpu.AVX512 && !wide {
		lanes = 16
	}
	if tier == cpu.Generic || tier == cpu.AVX2 && wide || len(ind) < lanes {
		return genericIndexRange(ind)
	}
	vectorIndexRange(&ind[0], len(ind), &least[0], &most[0])
	return slices.Min(least[:lanes]), slices.Max(most[:lanes])
}
