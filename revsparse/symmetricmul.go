package revsparse

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SymmetricMul is the kernel
//
//	C += α·S·B,  S = A + Aᵀ - diag(A)
//
// of a symmetric sparse matrix S and dense matrices B and C. A has one triangle of S
// with the diagonal. An entry of A off the diagonal also stands for its mirror image,
// so A may have entries on both sides. A nil Alpha counts as 1. The derivatives are
//
//	B̄ += α·S·C̄,  Ā_ij += α·(C̄_i·B_j + C̄_j·B_i)/(1 + δ_ij),
//	ᾱ += Σ C̄·(S·B),  Ċ += α̇·S·B + α·(Ṡ·B + S·Ḃ)
//
// for rows of B and C, and Ā at the entries of A, where δ_ij is 1 if i = j and otherwise 0.
//
// The methods work with S itself and copy its entries from those of A. Its structure is
// kept between calls. They panic if indices of type I cannot count the entries.
//
// In floating point an element of S·B, the sum of k entries, is within
// k·ε·Σ|s_ij·b_jl|. Its product with α is rounded once more. In fixed point the sum is
// exact and rounded once, and so is its product with α. Each product that goes into a
// gradient is rounded. The bits do not depend on the number of workers.
type SymmetricMul[T rev.Real, I Index] struct {
	C       rev.General[T] `rev:"acc" shape:"n,c"`
	Alpha   *T             `rev:"in,optional"`
	A       CSR[T, I]      `rev:"in" shape:"n,n"`
	B       rev.General[T] `rev:"in" shape:"n,c"`
	Workers int            // 0 means GOMAXPROCS
}

// NewSymmetricMul returns the kernel that adds to c, over gonum's *mat.Dense or
// *mat.VecDense, sharing their storage; another type panics.
func NewSymmetricMul[I Index](c mat.Matrix, a CSR[float64, I], b mat.Matrix) SymmetricMul[float64, I] {
	return SymmetricMul[float64, I]{C: viewDense(c), A: a, B: viewDense(b)}
}

// A symmetricPass is S with both triangles stored, and a pass over it in progress. Row i
// begins with the entries of row i of A. A usually has the same structure as in the
// call before, so what takes time to compute from it is kept.
type symmetricPass[T rev.Real, I Index] struct {
	a      CSR[T, I]
	full   CSR[T, I]
	mirror []I  // places of the mirror images of the entries of A; a diagonal entry is its own
	values []T  // those of A that full has
	stale  bool // full does not have the values of a matrix
	h      []T  // the cotangents of the entries of full

	ptr, ind []I // the structure of A that full was made from

	alpha T
	ga    []T // nil in the step that copies values

	workers int
}

// symmetricRows is how many rows of A a block has.
const symmetricRows = 1 << 11

// symmetricMulOpen returns S. close ends its use.
func symmetricMulOpen[T rev.Real, I Index](k *SymmetricMul[T, I]) *symmetricPass[T, I] {
	s := workspace.Get[*symmetricPass[T, I]]()
	s.a, s.workers = k.A, k.Workers
	if s.full.Rows != k.A.Rows || !slices.Equal(s.ptr, k.A.Ptr) || !slices.Equal(s.ind, k.A.Ind) {
		s.mirrorAll()
	}
	return s
}

func (s *symmetricPass[T, I]) close() {
	s.a, s.values, s.ga = CSR[T, I]{}, nil, nil
	workspace.Put(s)
}

// mirrorAll builds the structure of S.
func (s *symmetricPass[T, I]) mirrorAll() {
	a, f := &s.a, &s.full
	f.Rows, f.Cols = a.Rows, a.Cols
	f.Ptr = workspace.Zeros(f.Ptr, a.Rows+1)
	entries := 0
	for i := range a.Rows {
		own := a.Ind[a.Ptr[i]:a.Ptr[i+1]]
		f.Ptr[i] += I(len(own))
		entries += len(own)
		for _, j := range own {
			if int(j) != i {
				f.Ptr[j]++
				entries++
			}
		}
	}
	if !fits[I](entries) {
		panic(rev.ShapeError[SymmetricMul[T, I]]("A", "has %d entries with their mirror images, more than %T counts", entries, I(0)))
	}
	// Ptr[i] is where row i begins, and next[i] the place of its next mirror image.
	next := make([]I, a.Rows)
	var begin I
	for i := range a.Rows {
		begin, f.Ptr[i] = begin+f.Ptr[i], begin
		next[i] = f.Ptr[i] + a.Ptr[i+1] - a.Ptr[i]
	}
	f.Ptr[a.Rows] = begin
	f.Ind, f.Data = workspace.Grow(f.Ind, entries), workspace.Grow(f.Data, entries)
	s.mirror = workspace.Grow(s.mirror, len(a.Ind))
	for i := range a.Rows {
		at := f.Ptr[i]
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := a.Ind[p]
			f.Ind[at] = j
			s.mirror[p] = at
			if int(j) != i {
				f.Ind[next[j]] = I(i)
				s.mirror[p] = next[j]
				next[j]++
			}
			at++
		}
	}
	s.stale = true
	s.ptr, s.ind = append(s.ptr[:0], a.Ptr...), append(s.ind[:0], a.Ind...)
}

// Block copies the values of some rows of A if they have changed, or adds the
// cotangents of its entries.
func (s *symmetricPass[T, I]) Block(_, block int) {
	a, f := &s.a, &s.full
	for i := block * symmetricRows; i < min((block+1)*symmetricRows, a.Rows); i++ {
		from, at := int(a.Ptr[i]), int(f.Ptr[i])
		mirror := s.mirror[from:a.Ptr[i+1]]
		if s.ga == nil {
			if v := s.values[from : from+len(mirror)]; s.stale || !sameNumbers(v, f.Data[at:at+len(v)]) {
				copy(f.Data[at:], v)
				for p, m := range mirror {
					f.Data[m] = v[p]
				}
			}
			continue
		}
		ga, h := s.ga[from:from+len(mirror)], s.h[at:at+len(mirror)]
		for p, m := range mirror {
			x := h[p]
			if int(m) != at+p {
				x += s.h[m]
			}
			ga[p] += number.Mul(s.alpha, x)
		}
	}
}

// sameNumbers reports whether x and y are equal and none of them is zero (zeros may
// differ in sign).
func sameNumbers[T rev.Real](x, y []T) bool {
	for i, v := range x {
		if v != y[i] || v == 0 {
			return false
		}
	}
	return true
}

// each performs the step for all rows.
func (s *symmetricPass[T, I]) each() {
	parallel.Run(parallel.Workers(s.workers), (s.a.Rows+symmetricRows-1)/symmetricRows, s)
}

// run computes c += sign·alpha·S·b for the values a of A. It adds the derivatives of
// Σ gc·(alpha·S·b) by the entries of A to ga, and by alpha to galpha. Nil results are skipped.
func (s *symmetricPass[T, I]) run(sign int, c rev.General[T], alpha T, a []T, b rev.General[T], gc rev.General[T], ga []T, galpha *T) {
	if a == nil {
		c.Data, galpha = nil, nil
	}
	if gc.Data == nil {
		ga, galpha = nil, nil
	}
	if b.Data == nil || c.Data == nil && ga == nil && galpha == nil || len(s.a.Ind) == 0 {
		return
	}
	p := pass[T, I]{a: s.full.With(nil), u: b, out: c, alpha: alpha, outSign: sign, gamma: number.One[T](), sum: galpha, workers: s.workers}
	if c.Data != nil || galpha != nil {
		if s.values == nil || &s.values[0] != &a[0] {
			s.values = a
			s.each()
			s.stale = false
		}
		p.a.Data = s.full.Data
	}
	if ga != nil || galpha != nil {
		p.v = gc
	}
	if ga != nil {
		s.h = workspace.Zeros(s.h, len(s.full.Ind))
		p.ga = s.h
	}
	p.run()
	if ga != nil {
		s.alpha, s.ga = alpha, ga
		s.each()
		s.ga = nil
	}
}

// symmetricMulRun is Run of SymmetricMul. It returns no error.
func symmetricMulRun[T rev.Real, I Index](k *SymmetricMul[T, I], p *rev.Pass[SymmetricMul[T, I]]) error {
	CheckOperand[SymmetricMul[T, I]](&k.A, "A")
	g, t, gt := &p.G, &p.T, &p.GT
	alpha, a, b := valueOrOne(k.Alpha), k.A.Data, k.B
	none := rev.General[T]{}
	s := symmetricMulOpen(k)
	if t.Alpha != nil {
		s.run(p.Sign(), t.C, *t.Alpha, a, b, none, nil, nil)
	}
	s.run(p.Sign(), t.C, alpha, a, t.B, none, nil, nil)
	s.run(p.Sign(), t.C, alpha, t.A.Data, b, none, nil, nil)
	if p.Adjoint && p.Tangent {
		s.run(1, gt.B, alpha, t.A.Data, g.C, none, nil, nil)
		s.run(1, none, alpha, t.A.Data, b, g.C, nil, gt.Alpha)
		s.run(1, gt.B, alpha, a, gt.C, none, nil, nil)
		s.run(1, none, alpha, a, b, gt.C, gt.A.Data, gt.Alpha)
		s.run(1, none, alpha, a, t.B, g.C, gt.A.Data, gt.Alpha)
		if t.Alpha != nil {
			s.run(1, gt.B, *t.Alpha, a, g.C, none, nil, nil)
			s.run(1, none, *t.Alpha, a, b, g.C, gt.A.Data, nil)
		}
	}
	s.run(p.Sign(), k.C, alpha, a, b, g.C, g.A.Data, g.Alpha)
	s.run(1, g.B, alpha, a, g.C, none, nil, nil)
	s.close()
	return nil
}
