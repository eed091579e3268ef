package revsparse

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse/internal/division"
)

// Dot is the kernel
//
//	Out += Σ_ij conj(A_ij)·B_ij
//
// of two sparse matrices of the same shape (the Frobenius product). The derivatives, at
// the entries of each that the other has too, are
//
//	Ā_ij += conj(Ōut)·B_ij,  B̄_ij += Ōut·A_ij,
//	Ȯut += Σ_ij conj(Ȧ_ij)·B_ij + conj(A_ij)·Ḃ_ij.
//
// Columns need not be sorted, and entries of the same place add up. For each row, the
// entries of B note their places by column, and the entries of A look them up. This
// takes as long as reading both rows, and one integer for each column and worker.
// Merging sorted rows would wait for branches that cannot be predicted.
//
// In floating point the sum of n products is within n·ε·Σ|a_ij·b_ij|. In fixed point it
// is exact and rounded once to nearest. Each product that goes into a gradient is
// rounded by itself. The bits do not depend on the number of workers.
type Dot[T rev.Number, I Index] struct {
	Out     *T        `rev:"acc"`
	A       CSR[T, I] `rev:"in" shape:"m,n"`
	B       CSR[T, I] `rev:"in" shape:"m,n"`
	Workers int       // 0 means GOMAXPROCS
}

// dotRun is Run of Dot. It returns no error.
func dotRun[T rev.Number, I Index](k *Dot[T, I], p *rev.Pass[Dot[T, I]]) error {
	CheckOperand[Dot[T, I]](&k.A, "A")
	CheckOperand[Dot[T, I]](&k.B, "B")
	a, b, g, t, gt := k.A.Data, k.B.Data, &p.G, &p.T, &p.GT
	if t.Out != nil {
		var d T
		if t.A.Data != nil {
			d += dotPairs(k, t.A.Data, b, nil, nil, nil, nil, nil)
		}
		if t.B.Data != nil {
			d += dotPairs(k, a, t.B.Data, nil, nil, nil, nil, nil)
		}
		*t.Out += number.Signed(p.Sign(), d)
	}
	dotPairs(k, nil, nil, gt.A.Data, gt.B.Data, a, b, gt.Out)
	ga, gb := gt.A.Data, gt.B.Data
	if t.B.Data == nil {
		ga = nil
	}
	if t.A.Data == nil {
		gb = nil
	}
	dotPairs(k, nil, nil, ga, gb, t.A.Data, t.B.Data, g.Out)
	if k.Out == nil {
		dotPairs(k, nil, nil, g.A.Data, g.B.Data, a, b, g.Out)
		return nil
	}
	*k.Out += number.Signed(p.Sign(), dotPairs(k, a, b, g.A.Data, g.B.Data, a, b, g.Out))
	return nil
}

// dotPairs returns Σ conj(a_ij)·b_ij, and computes ga_ij += conj(r)·y_ij and gb_ij +=
// r·x_ij, for the values a and x of A, and b and y of B. Nil results are skipped.
func dotPairs[T rev.Number, I Index](k *Dot[T, I], a, b, ga, gb, x, y []T, r *T) T {
	if len(k.A.Ind) == 0 || len(k.B.Ind) == 0 {
		return 0
	}
	if a == nil && (r == nil || ga == nil && gb == nil) {
		return 0
	}
	w := workspace.Get[*dotJob[T, I]]()
	w.a, w.b = k.A, k.B
	w.av, w.bv, w.x, w.y = a, b, x, y
	w.sum = a != nil
	if r != nil {
		w.ga, w.gb, w.r = ga, gb, *r
	}
	w.blocks = max(1, min((len(k.A.Ind)+len(k.B.Ind)+k.A.Rows)/(2*blockWork), mostBlocks))
	workers := min(parallel.Workers(k.Workers), w.blocks)
	if w.ga != nil && w.gb != nil && &w.ga[0] == &w.gb[0] {
		workers = 1 // an entry may belong to several rows
	}
	w.at, w.places = workspace.Grow(w.at, max(len(w.at), workers)), workspace.Grow(w.places, max(len(w.places), workers))
	for i := range workers {
		w.at[i] = workspace.Grow(w.at[i], k.A.Cols)
	}
	w.sums = workspace.Grow(w.sums, w.blocks)
	w.exact = workspace.Grow(w.exact, w.blocks)
	parallel.Run(workers, w.blocks, w)
	var sum T
	if number.IsFixed[T]() {
		var exact fixed.Accumulator
		for _, s := range w.exact {
			exact.AddAcc(s)
		}
		sum = any(exact.Round()).(T)
	} else {
		for _, s := range w.sums {
			sum += s
		}
	}
	w.a, w.b = CSR[T, I]{}, CSR[T, I]{}
	w.av, w.bv, w.x, w.y, w.ga, w.gb = nil, nil, nil, nil, nil, nil
	workspace.Put(w)
	return sum
}

// A dotJob is a call of pairs in progress.
type dotJob[T rev.Number, I Index] struct {
	a, b                 CSR[T, I]
	av, bv, ga, gb, x, y []T
	sum                  bool
	r                    T
	blocks               int
	at                   [][]I           // of each worker: the entry of b in a column
	places               [][]dotPlace[T] // of each worker: by entry of a row of b
	sums                 []T             // of each block
	exact                []fixed.Accumulator
}

// A dotPlace has the sums of the entries of a place, of av, bv, x and y, and whether a
// has any.
type dotPlace[T rev.Number] struct {
	a, b, x, y T
	met        bool
}

// cut returns the first row of a block.
func (w *dotJob[T, I]) cut(block int) int {
	return division.FirstRow(block, w.blocks, w.a.Rows, w.a.Ptr, w.b.Ptr)
}

// Block does a block of rows.
func (w *dotJob[T, I]) Block(worker, block int) {
	at := w.at[worker]
	s := dotSum[T]{}
	for i, end := w.cut(block), w.cut(block+1); i < end; i++ {
		lo, hi := w.b.Ptr[i], w.b.Ptr[i+1]
		from, to := w.a.Ptr[i], w.a.Ptr[i+1]
		if lo == hi || from == to {
			continue
		}
		// An entry of at is left from another row or call unless it points to an entry
		// of this row with that column.
		twice := false
		bind := w.b.Ind[:hi]
		for q := lo; q < hi; q++ {
			j := bind[q]
			if o := at[j]; o >= lo && o < q && bind[o] == j {
				twice = true
			}
			at[j] = q
		}
		if twice {
			w.addUp(&s, worker, from, to, lo, hi)
			continue
		}
		for p := from; p < to; p++ {
			j := w.a.Ind[p]
			if q := at[j]; q >= lo && q < hi && bind[q] == j {
				w.pair(&s, p, q)
			}
		}
	}
	w.sums[block], w.exact[block] = s.float, s.exact
}

// addUp handles a row in which b repeats a column. The sums of a place are kept at its
// last entry of b, to which at points.
func (w *dotJob[T, I]) addUp(s *dotSum[T], worker int, from, to, lo, hi I) {
	at, aind, bind := w.at[worker], w.a.Ind, w.b.Ind
	places := workspace.Zeros(w.places[worker], int(hi-lo))
	w.places[worker] = places
	// place returns the sums of column j, or nil if this row of b does not have it.
	place := func(j I) *dotPlace[T] {
		if q := at[j]; q >= lo && q < hi && bind[q] == j {
			return &places[q-lo]
		}
		return nil
	}
	for q := lo; q < hi; q++ {
		e := place(bind[q])
		if w.sum {
			e.b += w.bv[q]
		}
		if w.ga != nil {
			e.y += w.y[q]
		}
	}
	for p := from; p < to; p++ {
		e := place(aind[p])
		if e == nil {
			continue
		}
		e.met = true
		if w.sum {
			e.a += w.av[p]
		}
		if w.gb != nil {
			e.x += w.x[p]
		}
		if w.ga != nil {
			w.ga[p] += number.Mul(number.Conj(w.r), e.y)
		}
	}
	for q := lo; q < hi; q++ {
		e := place(bind[q])
		if !e.met {
			continue
		}
		if w.sum && at[bind[q]] == q {
			s.add(e.a, e.b)
		}
		if w.gb != nil {
			w.gb[q] += number.Mul(w.r, e.x)
		}
	}
}

// pair handles the entries p of a and q of b.
func (w *dotJob[T, I]) pair(s *dotSum[T], p, q I) {
	if w.sum {
		s.add(w.av[p], w.bv[q])
	}
	if w.ga != nil {
		w.ga[p] += number.Mul(number.Conj(w.r), w.y[q])
	}
	if w.gb != nil {
		w.gb[q] += number.Mul(w.r, w.x[p])
	}
}

// A dotSum is a sum of products, exact in fixed point.
type dotSum[T rev.Number] struct {
	float T
	exact fixed.Accumulator
}

// add computes s += conj(a)·b.
func (s *dotSum[T]) add(a, b T) {
	if number.IsFixed[T]() {
		s.exact.AddMul(*(*fixed.Q43)(unsafe.Pointer(&a)), *(*fixed.Q43)(unsafe.Pointer(&b)))
		return
	}
	s.float += number.Mul(number.Conj(a), b)
}
