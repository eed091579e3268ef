package cuda

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// TriSolve is the kernel
//
//	X += op(A)⁻¹·B
//
// of revlinalg.TriSolve, with its fields, for one system or many. Count is the number of systems, whose
// matrices stand below each other in X, in A and in B; 0 means 1. A is upper triangular if Upper is set,
// and otherwise lower. Elements outside the triangle are ignored, also in cotangents and tangents, and
// so is the diagonal if Unit is set: it counts as 1. Writing A for op(A), Y = A⁻¹·B and tri for the part in the
// triangle, the derivatives are
//
//	Z = A⁻ᵀ·X̄,  B̄ += Z,  Ā -= tri(Z·Yᵀ),  Ẋ += Ẏ = A⁻¹·(Ḃ - Ȧ·Y)
//
// and, of second order,
//
//	Ż = A⁻ᵀ·(ġX - Ȧᵀ·Z),  ġB += Ż,  ġA -= tri(Ż·Yᵀ + Z·Ẏᵀ).
//
// If there are up to 32 rows and right-hand sides, a block makes the pass for a system in shared memory. Otherwise
// blocks of 128 rows are solved one after the other, for all columns and systems in one launch. What they
// change in other rows is a product of matrices. Each column of Y solves a system whose matrix is within
// about n·ε·|A| of A (Higham 2002, theorem 8.5 and section 8.1).
//
// If an element of the diagonal is zero, the pass returns a *rev.SingularError, and nothing is written for any
// system of the stack. Its Index is the row of the element in A. The pass waits for the device to know,
// unless Unit is set.
type TriSolve[T rev.Float] struct {
	X                   General[T] `rev:"acc" shape:"rows,m"`
	A                   General[T] `rev:"in" shape:"rows,rows/max(Count,1)"`
	B                   General[T] `rev:"in" shape:"rows,m"`
	Upper, TransA, Unit bool
	Count               int
}

// Run implements rev.Kernel. It returns the errors of the device or a *rev.SingularError. It panics with
// a *rev.OperandError if the rows of A are not those of Count matrices.
func (k TriSolve[T]) Run(p rev.Pass[TriSolve[T]]) error {
	s := triangularSystems[T]{stacks: stacks[T]{count: max(k.Count, 1)}, k: &k, is: lowerTriangle}
	checkStack[TriSolve[T]]("A", k.A, s.count)
	if k.Upper {
		s.is = upperTriangle
	}
	if k.Unit {
		s.is *= 2
	}
	w := begin(&k, &p)
	s.pass = &w
	s.run(&p)
	return w.end()
}

// triangularSystems are a pass of TriSolve at work.
type triangularSystems[T rev.Float] struct {
	stacks[T]
	k    *TriSolve[T]
	is   triangle // what of A is read
	full stack[T] // scratch for a matrix with zeros outside of it
}

// run makes the pass. Everything that may fail comes before the results are written.
func (s *triangularSystems[T]) run(p *rev.Pass[TriSolve[T]]) {
	k := s.k
	n, m := k.A.Cols, k.B.Cols
	if n == 0 {
		return
	}
	size, numbers := int(unsafe.Sizeof(*new(T))), 0
	small := n <= squareSide && m <= squareSide
	if !k.Unit {
		numbers = s.count * n * (8 / size) // ratios
	}
	if !small {
		numbers += s.count * (4*n*m + n*n)
	}
	s.free = s.room(1, numbers*size)
	if !small {
		s.reserveSolve(m, n)
		s.reserve(n, m, n)
		s.reserve(n, n, m)
	}
	if !k.Unit {
		ratios := uint64(s.take(s.count * n * (8 / size)).address())
		s.launch(typed[T]("zeroDiagonal"), vectorGrid(s.count*n), ratios, uint64(k.A.Data.address()), uint64(k.A.Stride), uint64(n*k.A.Stride), uint64(n), uint64(s.count))
		if worst, at := s.worst(ratios, s.count*n); worst > 1 {
			s.fail(&rev.SingularError{Index: at, Condition: mat.Condition(math.Inf(1))})
		}
	}
	if m == 0 {
		return
	}
	if small {
		kind, params := smallPass(p.Sign(), k.equation(), p.G.equation(), p.T.equation(), p.GT.equation())
		s.launch(typed[T]("solveTriangles"+kind), smallGrid(s.count), append(params, uint64(n), uint64(m), bit(k.Upper != k.TransA), bit(k.TransA), bit(k.Unit))...)
		return
	}
	s.full = s.matrices(n, n)
	solveSystems(s, s.stacks, p.Sign(), k.equation(), p.G.equation(), p.T.equation(), p.GT.equation())
}

func (k *TriSolve[T]) equation() equation[T] { return equation[T]{k.X, k.A, k.B} }

// solved returns op(A)⁻¹·(b - op(ta)·y), or the same with the transposes of op(A) and op(ta). b and y may be nil.
func (s *triangularSystems[T]) solved(b General[T], trans bool, ta General[T], y stack[T]) stack[T] {
	x := s.matrices(s.k.A.Cols, s.k.B.Cols)
	s.clear(x)
	s.add(x, 1, s.of(b), whole)
	trans = trans != s.k.TransA
	if ta.Data != nil && y.data != nil {
		s.clear(s.full)
		s.add(s.full, 1, s.of(ta), s.is)
		s.multiply(x, -1, s.full.op(trans), y)
	}
	// Xᵀ <- Xᵀ·A⁻ᵀ
	is := s.is
	if !trans {
		is = -is
	}
	s.solve(x.t(), s.of(s.k.A).op(!trans), is)
	return x
}

// subtractOuter computes ga -= tri(z·yᵀ), or its transpose, unless one of them is nil.
func (s *triangularSystems[T]) subtractOuter(ga General[T], z, y stack[T]) {
	if ga.Data == nil || z.data == nil || y.data == nil {
		return
	}
	if s.k.TransA {
		z, y = y, z
	}
	s.clear(s.full)
	s.multiply(s.full, 1, z, y.t())
	s.add(s.of(ga), -1, s.full, s.is)
}
