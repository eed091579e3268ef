package revlinalg

import (
	"math"

	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// A smallBatch has the systems of many problems of Solve, as smallSystem has one. The elements of a place in
// the matrices of all problems are adjacent: element (i, j) of an r×c matrix of problem p is element p of row
// i·c+j. A step of the elimination is then one vector operation for all problems, with the bits of
// smallSystem, because each element has the same operations. Only the pivots of a problem are its own.
type smallBatch[T rev.Float] struct {
	n, c   int // A is n×n, B is n×c
	trans  bool
	lanes  int // problems
	pivots [smallOrder][maxLanes]int
	lu     [smallElements]T
	y, z   [smallElements]T // solutions
	work   [smallElements]T
}

// maxLanes bounds the problems of a smallBatch, and smallElements the elements of the matrices of all, so that they
// stay in the second cache. Fewer problems than minLanes, and larger ones than smallWork, take longer than one after
// the other.
const (
	minLanes      = 4
	maxLanes      = 64
	smallElements = 1 << 11
	smallWork     = 300 // multiply-adds of the solutions
)

// row returns the elements number e of the matrices of all problems.
func (s *smallBatch[T]) row(m *[smallElements]T, e int) []T { return m[e*s.lanes:][:s.lanes] }

// load copies r×c matrices, of problem first and those after it, to m.
func (s *smallBatch[T]) load(m *[smallElements]T, from *vector.Many[T], first, r, c, stride int) {
	if stride == c {
		dense.Transpose(m[:], s.lanes, from.From(first), from.By(), s.lanes, r*c)
		return
	}
	for i := range r {
		dense.Transpose(m[i*c*s.lanes:], s.lanes, from.From(first)[i*stride:], from.By(), s.lanes, c)
	}
}

// add adds alpha times m to the r×c matrices of lanes problems, of which there may be fewer than in m.
func (s *smallBatch[T]) add(to *vector.Many[T], lanes, first, r, c, stride int, alpha T, m *[smallElements]T) {
	n := r * c
	dense.Transpose(s.work[:], n, m[:], s.lanes, n, lanes)
	all := to.From(first)
	if stride == c && to.By() == n {
		vec.Axpy(alpha, s.work[:lanes*n], all[:lanes*n])
		return
	}
	for p := range lanes {
		for i := range r {
			vec.Axpy(alpha, s.work[p*n+i*c:][:c], all[p*to.By()+i*stride:][:c])
		}
	}
}

// factor computes the factors of all A. It returns the number of the first problem whose A may be singular
// to working precision or is not finite, or that of all problems.
func (s *smallBatch[T]) factor() (regular int) {
	n, lu := s.n, &s.lu
	regular = s.lanes
	limit := 1 / (T(n) * epsilon[T]()) / 2 // half, for what rounding may do to the quotients of smallSystem
	var norms [smallOrder][maxLanes]T
	for i := range n {
		for j := range n {
			size := s.work[:s.lanes]
			vec.Abs(size, s.row(lu, i*n+j))
			vec.MaxTo(norms[j][:s.lanes], norms[j][:s.lanes], size)
		}
	}
	for j := range n {
		s.exchangePivots(j)
		top := s.row(lu, j*n+j)
		regular = regularUpTo(norms[j][:regular], limit, top)
		for i := j + 1; i < n; i++ {
			f := s.row(lu, i*n+j)
			vec.DivTo(f, f, top)
			for l := j + 1; l < n; l++ {
				vec.AddProduct(s.row(lu, i*n+l), -1, f, s.row(lu, j*n+l))
			}
		}
	}
	return regular
}

// regularUpTo returns the number of problems before the first whose pivot is too small for the norm of its column,
// or is NaN.
func regularUpTo[T rev.Float](norms []T, limit T, pivots []T) int {
	for p, norm := range norms {
		if norm < limit*abs(pivots[p]) {
			continue
		}
		return p
	}
	return len(norms)
}

// exchangePivots finds the pivots of column j and exchanges rows.
func (s *smallBatch[T]) exchangePivots(j int) {
	n := s.n
	var largest [maxLanes]uint64
	pivots := s.pivots[j][:s.lanes]
	for p := range pivots {
		pivots[p] = j
	}
	for i := j; i < n; i++ {
		for p, v := range s.row(&s.lu, i*n+j) {
			// As in factorColumn: NaN is the largest.
			if b := math.Float64bits(float64(v)) << 1; b > largest[p] {
				pivots[p], largest[p] = i, b
			}
		}
	}
	s.exchange(&s.lu, n, j)
}

// exchange exchanges row i of r×c matrices with that of the pivot.
func (s *smallBatch[T]) exchange(m *[smallElements]T, c, i int) {
	for p, pivot := range s.pivots[i][:s.lanes] {
		if pivot == i {
			continue
		}
		a, b := i*c*s.lanes+p, pivot*c*s.lanes+p
		for range c {
			m[a], m[b] = m[b], m[a]
			a, b = a+s.lanes, b+s.lanes
		}
	}
}

// solve replaces the right sides w by A⁻¹·w or A⁻ᵀ·w.
func (s *smallBatch[T]) solve(w *[smallElements]T, trans bool) {
	n, c := s.n, s.c
	if trans == s.trans {
		for i := range n {
			s.exchange(w, c, i)
		}
		for i := 1; i < n; i++ { // L
			s.eliminate(w, i, 0, i, i*n, 1)
		}
		for i := n - 1; i >= 0; i-- { // U
			s.eliminate(w, i, i+1, n, i*n, 1)
			s.divide(w, i)
		}
		return
	}
	for i := range n { // Uᵀ
		s.eliminate(w, i, 0, i, i, n)
		s.divide(w, i)
	}
	for i := n - 2; i >= 0; i-- { // Lᵀ
		s.eliminate(w, i, i+1, n, i, n)
	}
	for i := n - 1; i >= 0; i-- {
		s.exchange(w, c, i)
	}
}

// eliminate subtracts f_l times row l of w from row i, for l in [lo, hi). f_l is element at+l·inc of lu.
func (s *smallBatch[T]) eliminate(w *[smallElements]T, i, lo, hi, at, inc int) {
	for l := lo; l < hi; l++ {
		f := s.row(&s.lu, at+l*inc)
		for j := range s.c {
			vec.AddProduct(s.row(w, i*s.c+j), -1, f, s.row(w, l*s.c+j))
		}
	}
}

// divide divides row i of w by the element of the diagonal.
func (s *smallBatch[T]) divide(w *[smallElements]T, i int) {
	u := s.row(&s.lu, i*s.n+i)
	for j := range s.c {
		x := s.row(w, i*s.c+j)
		vec.DivTo(x, x, u)
	}
}

// outer sets lu to Z·Yᵀ.
func (s *smallBatch[T]) outer(z, y *[smallElements]T) {
	n, c := s.n, s.c
	clear(s.lu[:n*n*s.lanes])
	for i := range n {
		for l := range n {
			for j := range c {
				vec.AddProduct(s.row(&s.lu, i*n+l), 1, s.row(z, i*c+j), s.row(y, l*c+j))
			}
		}
	}
}

// solveRunEach makes a pass over n problems, up to one whose matrix may be singular. It returns how many it has done, 0 if it does
// not make this pass. pass points to it, and second and secondPass to the kernel and the pass of the second problem. RunEach is
// for package rules, and checks nothing: if the operands are not those of problems that lie at the same distances, it reads and
// writes other memory.
func solveRunEach[T rev.Float](k *Solve[T], pass, second, secondPass any, n int) int {
	p, next, q := *pass.(*rev.Pass[Solve[T]]), *second.(*Solve[T]), *secondPass.(*rev.Pass[Solve[T]])
	e := vector.Each{N: n}
	a, ga := vector.Matrices(&e, k.A, next.A), vector.Matrices(&e, p.G.A, q.G.A)
	b, gb := vector.Matrices(&e, k.B, next.B), vector.Matrices(&e, p.G.B, q.G.B)
	x, gx := vector.Matrices(&e, k.X, next.X), vector.Matrices(&e, p.G.X, q.G.X)
	order, c := k.A.Rows, k.B.Cols
	transposed := p.G.TransA && !k.TransA // Run panics
	if e.Bad || p.Tangent || transposed || n < minLanes || max(order, c) > smallOrder || min(order, c) == 0 || order*order*c > smallWork {
		return 0
	}
	s := workspace.Get[*smallBatch[T]]()
	defer workspace.Put(s)
	s.n, s.c, s.trans = order, c, k.TransA
	most := min(maxLanes, smallElements/(order*max(order, c)))
	for done := 0; done < n; {
		s.lanes = min(n-done, most)
		s.load(&s.lu, &a, done, order, order, k.A.Stride)
		regular := s.factor()
		if regular > 0 && (k.X.Data != nil || p.G.X.Data != nil) {
			s.load(&s.y, &b, done, order, c, k.B.Stride)
			s.solve(&s.y, false)
		}
		if regular > 0 && k.X.Data != nil {
			s.add(&x, regular, done, order, c, k.X.Stride, T(p.Sign()), &s.y)
		}
		if regular > 0 && p.G.X.Data != nil {
			s.load(&s.z, &gx, done, order, c, p.G.X.Stride)
			s.solve(&s.z, true)
			if p.G.B.Data != nil {
				s.add(&gb, regular, done, order, c, p.G.B.Stride, 1, &s.z)
			}
			if p.G.A.Data != nil {
				z, y := &s.z, &s.y
				if s.trans {
					z, y = y, z
				}
				s.outer(z, y)
				s.add(&ga, regular, done, order, order, p.G.A.Stride, -1, &s.lu)
			}
		}
		done += regular
		if regular < s.lanes {
			return done
		}
	}
	return n
}
