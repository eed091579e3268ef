package revsparse

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Which says which eigenvalues come first.
type Which uint8

// The orders of eigenvalues.
const (
	LargestMagnitude Which = iota // |λ| descending
	Largest                       // λ descending
	Smallest                      // λ ascending
)

// key returns a number that is larger the earlier an eigenvalue comes.
func (w Which) key(value float64) float64 {
	switch w {
	case LargestMagnitude:
		return math.Abs(value)
	case Smallest:
		return -value
	}
	return value
}

// EigOptions are the options of an iteration for eigenpairs. The zero value is ready to
// use.
type EigOptions struct {
	Which   Which
	Tol     float64 // of ‖A·v - λ·v‖/‖A‖ and of the systems of the derivatives; 0 means 16 times the distance from 1 to the next number
	Basis   int     // vectors that are kept; 0 means max(40, 2·k + 20)
	MaxIter int     // products with A of each search and of each solution; 0 means 10000
}

const (
	// degenerateGap, in units of ‖A‖, loses half of the digits of an eigenvector.
	degenerateGap = 0x1p-26
	// moreFound is how many overlooked pairs a search may find.
	moreFound = 4
	// panelOfBasis is how many elements of all vectors are combined at a time.
	panelOfBasis = 256
)

// An eigenOperator is a symmetric matrix, with tangents Ȧ and cotangents.
type eigenOperator interface {
	mulTo(y, x []float64)         // y = A·x
	addMulTangent(y, x []float64) // y += Ȧ·x

	// addGradient adds the gradient of uᵀ·A·v, and the tangent of that for u̇ = du and
	// v̇ = dv, to those that are wanted.
	addGradient(u, v, du, dv []float64)
}

// eigen is a search for the first eigenpairs of a symmetric matrix, and their
// derivatives. See DominantEig for the equations.
//
// The search is Lanczos' iteration with full reorthogonalisation. When the basis is
// full, it restarts with the best Ritz vectors (Wu and Simon 2000). A single sequence
// of vectors cannot see that an eigenvalue is double. When the pairs have been found,
// another search therefore follows in their complement. It finds the next eigenvalue,
// and with it the gap.
type eigen struct {
	EigOptions
	op     eigenOperator
	kernel string
	n, k   int
	exp    int // op is A times 2^-exp

	found    int       // pairs
	values   []float64 // of them, in order
	scale    float64   // the largest ‖op·v‖ of any unit vector v so far
	products int

	basis   []float64 // rows of n: the pairs found, and then the vectors v of a search
	h       []float64 // v_jᵀ·op·v_i in row j, for i ≤ j
	ritz    []float64 // eigenvalues of h, in order
	coef    []float64 // their eigenvectors, a row each
	columns []float64 // the same, a column each, by increasing eigenvalues
	lapack  []float64
	order   []int
	panel   []float64
	pcg     rand.PCG

	cg      cg
	shift   float64 // of the system to solve
	negated bool
	shares  []float64 // of the pairs in its right side
	xi      []float64 // solutions, a row for each pair
	rates   []float64 // λ̇
	dv, dxi []float64 // tangents of the vectors and of the solutions
	product []float64
}

// start sets up a search for k pairs of a matrix of size n, whose elements have the
// precision eps.
func (e *eigen) start(op eigenOperator, kernel string, o EigOptions, n, k int, eps float64) {
	if o.Which > Smallest {
		panic(rev.ShapeError[EigOptions]("Which", "is %d, which is no order of eigenvalues", o.Which))
	}
	if o.Tol == 0 {
		o.Tol = 16 * eps
	}
	if o.MaxIter == 0 {
		o.MaxIter = 10000
	}
	if o.Basis == 0 {
		o.Basis = max(40, 2*k+20)
	}
	o.Basis = max(o.Basis, k+3)
	e.EigOptions, e.op, e.kernel, e.n, e.k = o, op, kernel, n, k
	e.found, e.scale, e.products, e.exp = 0, 0, 0, 0
	e.values = e.values[:0]
}

// vector returns row i of the basis.
func (e *eigen) vector(i int) []float64 { return e.basis[i*e.n : (i+1)*e.n] }

// find finds the pairs: the first k of values and of the rows of the basis.
func (e *eigen) find() error {
	if e.k == 0 {
		return nil
	}
	n := e.n
	most := min(n, e.k+moreFound)
	m := min(e.Basis, n)
	e.basis = workspace.Grow(e.basis, (most+m+1)*n)
	e.h, e.coef, e.columns = workspace.Grow(e.h, m*m), workspace.Grow(e.coef, m*m), workspace.Grow(e.columns, m*m)
	e.ritz, e.lapack, e.order = workspace.Grow(e.ritz, m), workspace.Grow(e.lapack, 4*m), workspace.Grow(e.order, m)
	e.panel = workspace.Grow(e.panel, m*panelOfBasis)
	e.pcg.Seed(2020, 3617) // arbitrary numbers
	if err := e.search(e.k); err != nil {
		return err
	}
	for e.found < n {
		if e.found == most {
			return e.failure(math.NaN())
		}
		if err := e.search(1); err != nil {
			return err
		}
		last := e.values[e.found-1]
		e.sort()
		if err := e.checkGaps(); err != nil {
			return err
		}
		if e.Which.key(last) < e.Which.key(e.values[e.k-1]) {
			break
		}
	}
	if err := e.checkGaps(); err != nil {
		return err
	}
	for i := range e.k {
		orient(e.vector(i))
	}
	return nil
}

func (e *eigen) failure(residual float64) error {
	return &rev.ConvergenceError{Kernel: e.kernel, Iterations: e.products, Residual: residual, Tol: e.Tol}
}

// checkGaps returns an error if a pair is too close to the next.
func (e *eigen) checkGaps() error {
	for i := range min(e.k, e.found-1) {
		a, b := e.values[i], e.values[i+1]
		if gap := e.Which.key(a) - e.Which.key(b); !(gap > degenerateGap*e.scale) {
			return &rev.DegenerateError{
				I: i, J: i + 1,
				Values: [2]float64{math.Ldexp(a, e.exp), math.Ldexp(b, e.exp)}, Gap: math.Ldexp(gap, e.exp),
			}
		}
	}
	return nil
}

// sort puts the pairs found in order. All but the last already are.
func (e *eigen) sort() {
	for i := e.found - 1; i > 0 && e.Which.key(e.values[i]) > e.Which.key(e.values[i-1]); i-- {
		e.values[i], e.values[i-1] = e.values[i-1], e.values[i]
		u, v := e.vector(i), e.vector(i-1)
		for j := range u {
			u[j], v[j] = v[j], u[j]
		}
	}
}

// orient makes the first large element of v positive. An element is large if it is not
// much smaller than the largest.
func orient(v []float64) {
	top := 0.0
	for _, x := range v {
		top = max(top, math.Abs(x))
	}
	for _, x := range v {
		if math.Abs(x) > 0.3*top {
			if x < 0 {
				vec.ScaleTo(v, -1, v)
			}
			return
		}
	}
}

// search finds more pairs in the complement of those found, and appends them. After the
// first search, a value that clearly comes after the others need not be exact.
func (e *eigen) search(pairs int) error {
	first, begin := e.found, e.products
	m := min(e.Basis, e.n-first)
	pairs = min(pairs, m)
	clear(e.h)
	e.random(first)
	for kept := 0; ; {
		last := 0.0
		for j := kept; j < m; j++ {
			var err error
			if last, err = e.extend(first, j, m); err != nil {
				return err
			}
		}
		if !e.project(m) {
			return e.failure(math.NaN())
		}
		worst := 0.0
		for i := range pairs {
			worst = max(worst, math.Abs(last*e.coef[i*m+m-1]))
		}
		done := worst <= e.Tol*e.scale
		if first > 0 {
			distance := e.Which.key(e.values[e.k-1]) - e.Which.key(e.ritz[0])
			done = done || distance > 10*worst && distance > 2*degenerateGap*e.scale
		}
		if done {
			e.combine(first, m, pairs)
			e.values = append(e.values, e.ritz[:pairs]...)
			e.found += pairs
			return nil
		}
		if e.products-begin >= e.MaxIter {
			return e.failure(worst / e.scale)
		}
		kept = min(pairs+(m-pairs)/2, m-1)
		e.combine(first, m, kept)
		copy(e.vector(first+kept), e.vector(first+m))
		clear(e.h)
		for i := range kept {
			e.h[i*m+i] = e.ritz[i]
		}
	}
}

// random sets row i of the basis to a random unit vector that is orthogonal to the
// earlier rows.
func (e *eigen) random(i int) {
	v := e.vector(i)
	for norm := 0.0; norm <= 1e-6; {
		for j := range v {
			v[j] = float64(int64(e.pcg.Uint64())) * 0x1p-63
		}
		norm = norm2(v)
		vec.ScaleTo(v, 1/norm, v)
		e.orthogonalise(v, 0, i, nil, 0)
		norm = norm2(v)
	}
	// A second time, because most of it may have cancelled.
	vec.ScaleTo(v, 1/norm2(v), v)
	e.orthogonalise(v, 0, i, nil, 0)
	vec.ScaleTo(v, 1/norm2(v), v)
}

// orthogonalise subtracts from v its components along rows lo to hi of the basis, and
// adds those from row first on to h, if h is not nil.
func (e *eigen) orthogonalise(v []float64, lo, hi int, h []float64, first int) {
	for i := lo; i < hi; i++ {
		b := e.vector(i)
		c := vec.Dot(b, v)
		vec.Axpy(-c, b, v)
		if h != nil && i >= first {
			h[i-first] += c
		}
	}
}

// extend sets row j of the m×m matrix h, and vector j+1 of the search that begins at
// row first of the basis. It returns the norm of op·v_j less its components along the
// vectors up to j.
func (e *eigen) extend(first, j, m int) (float64, error) {
	rows := first + j + 1
	next := e.vector(rows)
	e.op.mulTo(next, e.vector(rows-1))
	e.products++
	norm := norm2(next)
	if !(norm <= math.MaxFloat64) {
		return 0, e.failure(math.NaN())
	}
	e.scale = max(e.scale, norm)
	h := e.h[j*m : j*m+j+1]
	clear(h)
	// In exact arithmetic only the last two vectors contribute, except after a restart.
	// If much cancels in one pass, another one follows.
	e.orthogonalise(next, max(first, rows-2), rows, h, first)
	norm = norm2(next)
	var before float64
	for pass := 0; pass < 3 && (pass == 0 || norm < 0.7*before); pass++ {
		before = norm
		e.orthogonalise(next, 0, rows, h, first)
		norm = norm2(next)
	}
	switch {
	case rows == e.n:
		return 0, nil // the vectors span the whole space
	case norm < 0.7*before || norm <= 0x1p-49*e.scale:
		// Only rounding is left: op maps the span of the vectors to itself.
		e.random(rows)
		return 0, nil
	}
	vec.ScaleTo(next, 1/norm, next)
	return norm, nil
}

// project sets ritz and coef to the eigenpairs of h, which is m×m. It reports whether
// that was possible.
func (e *eigen) project(m int) bool {
	copy(e.columns[:m*m], e.h)
	values, work := e.lapack[:m], e.lapack[m:]
	a := blas64.Symmetric{N: m, Data: e.columns, Stride: m, Uplo: blas.Lower}
	if !lapack64.Syev(lapack.EVCompute, a, values, work, len(work)) {
		return false
	}
	order := e.order[:m]
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(e.Which.key(values[j]), e.Which.key(values[i])) })
	for i, from := range order {
		e.ritz[i] = values[from]
		for j := range m {
			e.coef[i*m+j] = e.columns[j*m+from]
		}
	}
	return true
}

// combine replaces the first count of the m rows from first on by combinations of all
// of them, with the rows of coef as coefficients.
func (e *eigen) combine(first, m, count int) {
	for lo := 0; lo < e.n; lo += panelOfBasis {
		n := min(panelOfBasis, e.n-lo)
		clear(e.panel[:count*n])
		rows := e.basis[first*e.n+lo:]
		dense.Gemm(count, n, m, 1, e.coef, m, 1, rows, e.n, 1, e.panel, n)
		for i := range count {
			copy(rows[i*e.n:][:n], e.panel[i*n:])
		}
	}
}

// mulTo computes y = ±P·(op - shift)·x, where P projects onto the complement of the
// pairs. There the matrix, with the sign, is positive definite: all other eigenvalues
// come after the shift.
func (e *eigen) mulTo(y, x []float64) {
	e.op.mulTo(y, x)
	vec.Axpy(-e.shift, x, y)
	if e.negated {
		vec.ScaleTo(y, -1, y)
	}
	e.orthogonalise(y, 0, e.k, nil, 0)
}

// pseudoSolve replaces x by (A - λ_i)⁺·x, the solution that is orthogonal to the
// eigenvector. The other known pairs give their components of it directly. Conjugate
// gradients compute the rest.
func (e *eigen) pseudoSolve(x []float64, i int) error {
	exp, ok := binaryExponent(x)
	if !ok {
		return e.failure(math.NaN())
	}
	scale2(x, -exp)
	e.shares = workspace.Zeros(e.shares, e.k)
	norm := norm2(x)
	if norm == 0 {
		return nil
	}
	e.orthogonalise(x, 0, e.k, e.shares, 0)
	e.orthogonalise(x, 0, e.k, e.shares, 0)
	left := norm2(x)
	if left <= e.Tol*norm {
		clear(x) // only rounding is left
	}
	e.shift = e.values[i]
	e.negated = e.Which == Largest || e.Which == LargestMagnitude && e.shift > 0
	e.cg.a, e.cg.norm, e.cg.tol, e.cg.maxIter, e.cg.kernel = e, e.scale+math.Abs(e.shift), e.Tol, e.MaxIter, e.kernel
	if err := e.cg.solve(x); err != nil {
		if !errors.Is(err, errIndefinite) {
			return err
		}
		// Rounded vectors leave rounding in x, along themselves, where e is 0 up to
		// rounding. It has no part in the solution.
		if rounding := left <= 1000*e.Tol*norm && -e.cg.curvature <= 16*e.Tol*e.cg.norm; !rounding {
			return e.failure(math.NaN()) // the search has overlooked eigenvalues
		}
	}
	if e.negated {
		vec.ScaleTo(x, -1, x)
	}
	e.orthogonalise(x, 0, e.k, nil, 0)
	for j, c := range e.shares {
		if j != i {
			vec.Axpy(c/(e.values[j]-e.shift), e.vector(j), x)
		}
	}
	scale2(x, exp-e.exp)
	return nil
}

// eigenpairs are the destination of pairs, of their tangents or of their cotangents.
type eigenpairs[T rev.Float] struct {
	values  rev.Vector[T]
	vectors rev.General[T]
}

// countPairs returns the number of pairs of a matrix of n rows for which the kernel K and its
// derivatives have room. It panics if they do not fit the matrix.
func countPairs[K any, T rev.Float](n int, all ...eigenpairs[T]) (k int) {
	for _, p := range all {
		switch {
		case p.vectors.Data != nil && p.vectors.Rows != n:
			panic(rev.ShapeError[K]("Vectors", "has %d rows, want %d", p.vectors.Rows, n))
		case p.vectors.Data != nil:
			k = p.vectors.Cols
		case p.values.Data != nil:
			k = p.values.N
		}
	}
	if k > n {
		panic(rev.ShapeError[K]("Values", "or Vectors has room for %d pairs, more than the %d rows of the matrix", k, n))
	}
	return k
}

// vector returns column i of the vectors, which may be nil.
func (p eigenpairs[T]) vector(i int) rev.Vector[T] {
	m := p.vectors
	if m.Data == nil {
		return rev.Vector[T]{}
	}
	return rev.Vector[T]{N: m.Rows, Data: m.Data[i:], Inc: m.Stride}
}

// pass makes a pass with the pairs p, their cotangents g, their tangents t, and the tangents
// gt of the cotangents. gradient says whether the cotangents of A are wanted, and tangent
// whether A has one.
func (p eigenpairs[T]) pass(e *eigen, g, t, gt eigenpairs[T], gradient, tangent bool, sign float64) error {
	if gradient || tangent {
		if err := g.differentiate(e, gt, gradient, tangent, gradient || t.vectors.Data != nil); err != nil {
			return err
		}
	}
	for i := range e.k {
		at := i * e.n
		if gradient {
			e.op.addGradient(e.solution(i), e.vector(i), e.dxi[at:at+e.n], e.dv[at:at+e.n])
		}
		if tangent {
			t.add(i, sign*e.rates[i], sign, e.dv[at:at+e.n])
		}
		p.add(i, sign*math.Ldexp(e.values[i], e.exp), sign, e.vector(i))
	}
	return nil
}

// add adds to pair i.
func (p eigenpairs[T]) add(i int, value, sign float64, vector []float64) {
	if p.values.Data != nil {
		p.values.Data[i*p.values.Inc] += T(value)
	}
	accumulate(p.vector(i), sign, vector)
}

// differentiate sets λ̇ and v̇ of the pairs, u = λ̄·v - ξ for the cotangents p, and u̇ for
// their tangents dp. (A - λ)·ξ = v̄ - v·(vᵀ·v̄) and vᵀ·ξ = 0 give
//
//	ξ̇ = (A - λ)⁺·(ġv - v̇·(vᵀ·v̄) - (Ȧ - λ̇)·ξ) - v·(v̇ᵀ·ξ).
//
// v̇ is set only if vectors is, and u and u̇ only if gradient is. If A has no tangent, λ̇ and
// v̇ are zero.
func (p eigenpairs[T]) differentiate(e *eigen, dp eigenpairs[T], gradient, tangent, vectors bool) error {
	for _, rows := range [...]*[]float64{&e.xi, &e.dxi, &e.dv} {
		*rows = workspace.Zeros(*rows, e.k*e.n)
	}
	e.rates, e.product = workspace.Zeros(e.rates, e.k), workspace.Grow(e.product, e.n)
	for i := range e.k {
		v, dv, xi, dxi := e.vector(i), e.dv[i*e.n:(i+1)*e.n], e.solution(i), e.dxi[i*e.n:(i+1)*e.n]
		if tangent {
			e.op.addMulTangent(dv, v)
			e.rates[i] = vec.Dot(v, dv)
		}
		if tangent && vectors {
			if err := e.pseudoSolve(dv, i); err != nil {
				return err
			}
			vec.ScaleTo(dv, -1, dv)
		}
		if !gradient {
			continue
		}
		load(xi, p.vector(i), e.n)
		load(dxi, dp.vector(i), e.n)
		vec.Axpy(-vec.Dot(v, xi), dv, dxi)
		if err := e.pseudoSolve(xi, i); err != nil {
			return err
		}
		if tangent {
			clear(e.product)
			e.op.addMulTangent(e.product, xi)
			vec.Axpy(-1, e.product, dxi)
			vec.Axpy(e.rates[i], xi, dxi)
		}
		if err := e.pseudoSolve(dxi, i); err != nil {
			return err
		}
		vec.Axpy(-vec.Dot(dv, xi), v, dxi)

		vec.ScaleTo(xi, -1, xi)
		vec.ScaleTo(dxi, -1, dxi)
		if p.values.Data != nil {
			c := float64(p.values.Data[i*p.values.Inc])
			vec.Axpy(c, v, xi)
			vec.Axpy(c, dv, dxi)
		}
		if dp.values.Data != nil {
			vec.Axpy(float64(dp.values.Data[i*dp.values.Inc]), v, dxi)
		}
	}
	return nil
}

// solution returns row i of xi.
func (e *eigen) solution(i int) []float64 { return e.xi[i*e.n : (i+1)*e.n] }
