package revsparse

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// LU is the factorisation
//
//	P·R·A·C·Q = L·U
//
// of a square sparse matrix A. P permutes rows by partial pivoting, and Q permutes
// columns for low fill. R and C are diagonal matrices of powers of 2 that bring the
// largest elements of rows and columns near 1. Use it as gonum's mat.LU: the zero value
// is ready, Factorize sets it, and SolveTo and SolveVecTo solve systems with A and Aᵀ.
//
//	var lu revsparse.LU[int]
//	if err := lu.Factorize(a); err != nil { ... }
//	err := lu.SolveVecTo(x, false, b)
//
// As with mat.LU, several goroutines may solve with one LU at the same time.
//
// An LU keeps its matrix. For a matrix of the same structure it keeps the column order,
// and the same matrix is not factored again.
//
// The solution is that of a matrix near A: after scaling, |ΔA| is within about
// 3·k·ε·|L|·|U| for k elements in a row of L and column of U (Higham 2002, theorem
// 9.4). The elements of L are at most 1, and the elements of U are rarely much larger
// than those of A. The bits depend only on A and on the vector code in use.
//
// # Method
//
// The columns are ordered by approximate minimum degree. If most elements have a mirror
// image and A, with its rows scaled, is diagonally dominant by columns, pivots are on
// the diagonal, and the graph of A + Aᵀ is ordered. Otherwise it is the graph of AᵀA, whose
// Cholesky factor contains the fill of any choice of pivots (Davis, Gilbert, Larimore
// and Ng 2004).
//
// The factors are computed by panels of columns, which are chains or small subtrees of
// the elimination tree (left-looking, as Gilbert and Peierls 1988 for single columns).
// A panel is a dense array of the rows in which it has elements. Supernodes of L are
// columns with the same rows. They update the panel one after the other, each by a
// triangular solution and a matrix product. The pivots among its rows say which supernodes update
// it. Then the panel is factored as a dense matrix, and cut into supernodes by its nonzero elements
// (Demmel, Eisenstat, Gilbert, Li and Liu 1999).
type LU[I Index] struct {
	of   CSR[float64, I] // a copy of A
	made bool            // err and the factors belong to it
	err  error
	cond float64

	factors luFactors
	work    luWork
	ordered bool // factors has the column order of the structure of A

	sums, diagonal []float64 // of columns
}

// Factorize sets lu to the factors of a, which must be square. Columns need not be
// sorted, and entries of the same place add up.
//
// If A is singular to working precision, it returns mat.Condition with the condition
// number of A as Cond estimates it. That is so from 1/(4·ε) = 2⁵⁰ on, where not one
// digit of a solution is certain. The condition is +Inf if all candidates for a pivot
// are zero, and NaN if A has elements that are infinite or NaN. The methods that solve
// return the same then.
func (lu *LU[I]) Factorize(a CSR[float64, I]) error {
	CheckOperand[LU[I]](&a, "a")
	if a.Rows != a.Cols || a.Data == nil && len(a.Ind) > 0 {
		panic(rev.ShapeError[LU[I]]("a", "is %d×%d with %d values, want a square matrix with values", a.Rows, a.Cols, len(a.Data)))
	}
	return lu.factorize(a)
}

func (lu *LU[I]) factorize(a CSR[float64, I]) error {
	of := &lu.of
	same := of.Rows == a.Rows && slices.Equal(of.Ptr, a.Ptr) && slices.Equal(of.Ind, a.Ind)
	if lu.made && same && slices.Equal(of.Data, a.Data) {
		return lu.err
	}
	lu.made, lu.ordered = false, lu.ordered && same
	of.Rows, of.Cols = a.Rows, a.Cols
	of.Ptr, of.Ind, of.Data = append(of.Ptr[:0], a.Ptr...), append(of.Ind[:0], a.Ind...), append(of.Data[:0], a.Data...)
	lu.cond = lu.factor()
	lu.err = nil
	if !(lu.cond < 0x1p50) {
		lu.err = mat.Condition(lu.cond)
	}
	lu.made = true
	return lu.err
}

// factor computes the factors and returns the condition number.
func (lu *LU[I]) factor() float64 {
	a, f := &lu.of, &lu.factors
	if !lu.scale() {
		return math.NaN()
	}
	if dominant := lu.isDominant(); !lu.ordered || f.dominant != dominant {
		f.dominant = dominant
		analyze(f, *a)
		lu.ordered = true
	}
	f.values = workspace.Grow(f.values, len(a.Data))
	for k := range a.Rows {
		for q := f.colPtr[k]; q < f.colPtr[k+1]; q++ {
			f.values[q] = math.Ldexp(a.Data[f.from[q]], f.rowExp[f.colRow[q]]+f.colExp[f.order[k]])
		}
	}
	if f.factor(&lu.work) >= 0 {
		return math.Inf(1)
	}
	if c := f.condition(); c <= math.MaxFloat64 {
		return c
	}
	return math.Inf(1) // the factors have overflowed
}

// scale sets the exponents of R and C, and reports whether A is finite.
func (lu *LU[I]) scale() bool {
	a, f := &lu.of, &lu.factors
	f.rowExp, f.colExp = workspace.Zeros(f.rowExp, a.Rows), workspace.Zeros(f.colExp, a.Rows)
	const none = math.MinInt32
	for j := range f.colExp {
		f.colExp[j] = none
	}
	for i := range a.Rows {
		top := none
		for _, v := range a.Data[a.Ptr[i]:a.Ptr[i+1]] {
			if v-v != 0 {
				return false
			}
			if _, e := math.Frexp(v); v != 0 {
				top = max(top, e)
			}
		}
		if top == none {
			continue
		}
		f.rowExp[i] = -top
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			if _, e := math.Frexp(a.Data[p]); a.Data[p] != 0 {
				f.colExp[a.Ind[p]] = max(f.colExp[a.Ind[p]], e-top)
			}
		}
	}
	for j, e := range f.colExp {
		if f.colExp[j] = -e; e == none {
			f.colExp[j] = 0
		}
	}
	return true
}

// isDominant reports whether R·A is diagonally dominant by columns, up to rounding.
func (lu *LU[I]) isDominant() bool {
	a, f := &lu.of, &lu.factors
	lu.sums, lu.diagonal = workspace.Zeros(lu.sums, a.Rows), workspace.Zeros(lu.diagonal, a.Rows)
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			v := math.Ldexp(a.Data[p], f.rowExp[i]+f.colExp[j])
			lu.sums[j] += math.Abs(v)
			if j == i {
				lu.diagonal[i] += v
			}
		}
	}
	for j, s := range lu.sums {
		if !(2*math.Abs(lu.diagonal[j]) >= s*(1-0x1p-30)) {
			return false
		}
	}
	return true
}

// Cond returns an estimate of the condition number of R·A·C in the 1-norm. It is a
// lower bound, and seldom less than a third of it (Higham 1988). Badly scaled rows do
// not change it. Columns that are badly scaled by many orders of magnitude may make it
// large. It is 0 before Factorize.
func (lu *LU[I]) Cond() float64 { return lu.cond }

// SolveTo stores A⁻¹·b in dst, or A⁻ᵀ·b if trans is set. It panics if they do not fit
// together. An empty dst gets the right shape. If A is singular to working precision,
// SolveTo returns what Factorize returned and does not change dst.
func (lu *LU[I]) SolveTo(dst *mat.Dense, trans bool, b mat.Matrix) error {
	n := lu.of.Rows
	rows, cols := b.Dims()
	if rows != n {
		panic(rev.ShapeError[LU[I]]("b", "has %d rows, want %d", rows, n))
	}
	if lu.err != nil {
		return lu.err
	}
	if dst.IsEmpty() && n > 0 {
		dst.ReuseAs(n, cols)
	}
	if r, c := dst.Dims(); r != n || n > 0 && c != cols {
		panic(rev.ShapeError[LU[I]]("dst", "is %d×%d, want %d×%d", r, c, n, cols))
	}
	f := lu.factors
	f.y, f.below = nil, nil // other calls may run at the same time
	x := make([]float64, n*cols)
	for j := range cols {
		column := x[j*n:][:n]
		for i := range column {
			column[i] = b.At(i, j)
		}
		f.solve(column, trans)
	}
	for j := range cols {
		for i, v := range x[j*n:][:n] {
			dst.Set(i, j, v)
		}
	}
	return nil
}

// SolveVecTo is SolveTo for a vector.
func (lu *LU[I]) SolveVecTo(dst *mat.VecDense, trans bool, b mat.Vector) error {
	n := lu.of.Rows
	if lu.err == nil && dst.IsEmpty() && n > 0 && b.Len() == n {
		dst.ReuseAsVec(n)
	}
	var column mat.Dense
	if v := dst.RawVector(); v.N > 0 {
		column.SetRawMatrix(blas64.General{Rows: v.N, Cols: 1, Data: v.Data, Stride: v.Inc})
	}
	return lu.SolveTo(&column, trans, b)
}
