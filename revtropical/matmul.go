package revtropical

import (
	"math"
	"unsafe"

	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revtropical/internal/paths"
)

// MatMul is the kernel
//
//	C_ij += max_l a_il + b_lj
//
// or the minimum if Min is set. With w the winner of (i, j), the first l whose sum is
// best, and with ġ for tangents of cotangents,
//
//	ā_iw += c̄_ij,  b̄_wj += c̄_ij,  ċ_ij += ȧ_iw + ḃ_wj,  ġa_iw += ġc_ij,  ġb_wj += ġc_ij.
//
// Workers share the columns of C, and for Ā its rows. The bits do not depend on their
// number. Adjoint also needs an int32 for each element of C. All passes panic with an error
// that wraps mat.ErrShape if A has 2²⁴ columns or more, as float32 has no number for all of them.
type MatMul[T rev.Real] struct {
	C       rev.General[T] `rev:"acc" shape:"m,n"`
	A       rev.General[T] `rev:"in" shape:"m,k"`
	B       rev.General[T] `rev:"in" shape:"k,n"`
	Min     bool
	Workers int // 0 means GOMAXPROCS
}

// Winners stores in dst which l wins at each (i, j), or -1 if nobody does. It panics unless
// dst has m·n elements. Row i begins at element i·n.
func (k MatMul[T]) Winners(dst []int32) {
	p := rev.ForwardPass(&k)
	if len(dst) != k.A.Rows*k.B.Cols {
		panic(rev.ShapeError[MatMul[T]]("dst", "has length %d, want %d", len(dst), k.A.Rows*k.B.Cols))
	}
	k.C.Data = nil
	w := workspace.Get[*product[T]]()
	w.begin(k, p)
	w.winners = dst
	w.panels(true)
	w.end()
}

// matMulRun is Run of MatMul. It returns no error.
func matMulRun[T rev.Real](k *MatMul[T], p *rev.Pass[MatMul[T]]) error {
	w := workspace.Get[*product[T]]()
	w.begin(*k, *p)
	tangents := p.T.C.Data != nil && (p.T.A.Data != nil || p.T.B.Data != nil)
	byRows := p.G.C.Data != nil && p.G.A.Data != nil || p.GT.C.Data != nil && p.GT.A.Data != nil
	byColumns := p.G.C.Data != nil && p.G.B.Data != nil || p.GT.C.Data != nil && p.GT.B.Data != nil
	if k.C.Data != nil || tangents || byRows || byColumns {
		if byRows {
			w.kept = workspace.Grow(w.kept, k.A.Rows*k.B.Cols)
			w.winners = w.kept
		}
		w.panels(tangents || byRows || byColumns)
	}
	if byRows {
		parallel.Run(parallel.Workers(k.Workers), (k.A.Rows+stripe-1)/stripe, (*rowGradients[T])(w))
	}
	w.end()
	return nil
}

// stripe is how many rows of A get their gradients from one block.
const stripe = 16

// A product is a pass of MatMul in progress. Its blocks are panels of columns.
type product[T rev.Real] struct {
	k, g, t, gt MatMul[T]
	sign        T
	careful     bool    // a sum may be NaN, or there is none
	labels      bool    // winners are needed
	narrow      bool    // panels are rows of A, because B has few columns
	winners     []int32 // of all places, if not nil
	kept        []int32
	scratch     []panel[T] // of each worker
}

// mostColumns bounds the columns of A, whose numbers are kept as numbers of type T.
const mostColumns = 1 << 24

// A panel holds some columns of B, and the best sums and the winners for them.
type panel[T rev.Real] struct{ b, best, label []T }

func (w *product[T]) begin(k MatMul[T], p rev.Pass[MatMul[T]]) {
	w.k, w.g, w.t, w.gt, w.sign = k, p.G, p.T, p.GT, T(p.Sign())
	if k.A.Cols >= mostColumns {
		panic(rev.ShapeError[MatMul[T]]("A", "has %d columns, want fewer than %d", k.A.Cols, mostColumns))
	}
	w.careful = k.A.Cols == 0 || isSpecial(k.A, k.Min) || isSpecial(k.B, k.Min)
}

// end returns w to the pool, without the caller's storage.
func (w *product[T]) end() {
	*w = product[T]{kept: w.kept, scratch: w.scratch}
	workspace.Put(w)
}

func (w *product[T]) panels(labels bool) {
	if w.k.A.Rows == 0 || w.k.B.Cols == 0 {
		return
	}
	w.labels = labels
	width, across := paths.Width[T](), w.k.B.Cols
	if w.narrow = !labels && !w.careful && 2*across <= width; w.narrow {
		across = w.k.A.Rows
	}
	workers, blocks := parallel.Workers(w.k.Workers), (across+width-1)/width
	w.scratch = workspace.Grow(w.scratch, max(1, min(workers, blocks)))
	parallel.Run(workers, blocks, w)
}

// isSpecial reports whether m has elements whose sums with others may be NaN: NaN, and the
// infinity that is no place without a path.
func isSpecial[T rev.Real](m rev.General[T], least bool) bool {
	if T(1)/2 == 0 {
		return false
	}
	sign := 1
	if least {
		sign = -1
	}
	if m.Stride == m.Cols && m.Rows > 0 {
		m = rev.NewGeneral(1, m.Rows*m.Cols, m.Data[:m.Rows*m.Cols])
	}
	for i := range m.Rows {
		if sum := float64(vector.Sum(vector.Row(m, i))); !math.IsNaN(sum) && !math.IsInf(sum, sign) {
			continue // an element of the kind would make the sum so too
		}
		for _, v := range m.Row(i) {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, sign) {
				return true
			}
		}
	}
	return false
}

// mostCached is up to how many bytes of B a panel is not copied: its rows stay in the first cache
// where they lie.
const mostCached = 1 << 16

// Block works on a panel of columns.
func (w *product[T]) Block(worker, block int) {
	width := paths.Width[T]()
	m, k, j0 := w.k.A.Rows, w.k.A.Cols, block*width
	s := &w.scratch[worker]
	if w.narrow {
		w.addRows(s, j0, min(width, m-j0))
		return
	}
	n := min(width, w.k.B.Cols-j0)
	b, ldb := w.k.B.Data[min(j0, len(w.k.B.Data)):], w.k.B.Stride
	if n < width || k*ldb > mostCached/int(unsafe.Sizeof(T(0))) {
		s.b = workspace.Grow(s.b, k*width)
		for l := range k {
			row := s.b[l*width:][:width]
			if copy(row, b[l*ldb:][:n]); n < width {
				clear(row[n:])
			}
		}
		b, ldb = s.b, width
	}
	s.best, s.label = workspace.Grow(s.best, stripe*width), workspace.Grow(s.label, stripe*width)
	values := !w.careful && !w.labels
	if values && n == width {
		paths.AddBest(w.k.C.Data[j0:], w.k.C.Stride, w.sign, w.k.A.Data, w.k.A.Stride, b, ldb, m, k, w.k.Min)
		return
	}
	for i0 := 0; i0 < m; i0 += stripe {
		rows := min(stripe, m-i0)
		best, label := s.best[:rows*width], s.label[:rows*width]
		a, lda := w.k.A.Data[min(i0*w.k.A.Stride, len(w.k.A.Data)):], w.k.A.Stride
		if values {
			for i := range rows {
				copy(best[i*width:], w.k.C.Row(i0 + i)[j0:])
			}
			paths.AddBest(best, width, w.sign, a, lda, b, ldb, rows, k, w.k.Min)
			for i := range rows {
				copy(w.k.C.Row(i0 + i)[j0:], best[i*width:])
			}
			continue
		}
		fill(best, paths.Worst[T](w.k.Min))
		fill(label, T(int8(none))) // raw: a label
		if w.careful {
			w.search(best, label, b, ldb, i0, rows)
		} else {
			paths.Best(best, label, a, lda, b, ldb, rows, k, w.k.Min)
		}
		for i := range rows {
			w.use(best[i*width:][:n], label[i*width:][:n], i0+i, j0)
		}
	}
}

// addRows adds the best sums to n rows of C from row i on: Cᵀ is the product of Bᵀ and Aᵀ, whose columns fill a panel.
func (w *product[T]) addRows(s *panel[T], i, n int) {
	width, k, cols := paths.Width[T](), w.k.A.Cols, w.k.B.Cols
	s.b, s.label, s.best = workspace.Zeros(s.b, k*width), workspace.Grow(s.label, cols*k), workspace.Zeros(s.best, cols*width)
	c := rev.General[T]{Rows: n, Cols: cols, Stride: w.k.C.Stride, Data: w.k.C.Data[i*w.k.C.Stride:]}
	transpose(s.b, width, w.k.A.Data[i*w.k.A.Stride:], w.k.A.Stride, n, k)
	transpose(s.label, k, w.k.B.Data, w.k.B.Stride, k, cols)
	transpose(s.best, width, c.Data, c.Stride, n, cols)
	paths.AddBest(s.best, width, w.sign, s.label, k, s.b, width, cols, k, w.k.Min)
	transpose(c.Data, c.Stride, s.best, width, cols, n)
}

// transpose is dense.Transpose for all types of numbers.
func transpose[T rev.Real](dst []T, ldd int, x []T, ldx, m, n int) {
	if unsafe.Sizeof(T(0)) == 4 {
		dense.Transpose(number.As[[]float32](dst), ldd, number.As[[]float32](x), ldx, m, n)
	} else { // as bits, also of fixed-point numbers
		dense.Transpose(number.As[[]float64](dst), ldd, number.As[[]float64](x), ldx, m, n)
	}
}

// fill sets all elements of x to v.
func fill[T any](x []T, v T) {
	x[0] = v
	for n := 1; n < len(x); n *= 2 {
		copy(x[n:], x[:n])
	}
}

const none = -1

// search does what paths.Best does, with sums that are NaN.
func (w *product[T]) search(best, label, b []T, ldb, i0, rows int) {
	width := paths.Width[T]()
	for i := range rows {
		for l, a := range w.k.A.Row(i0 + i) {
			for j, b := range b[l*ldb:][:width] {
				p := i*width + j
				if better(a+b, best[p], w.k.Min) {
					best[p], label[p] = a+b, T(l)
				}
			}
		}
	}
}

// better reports whether sum wins over best.
func better[T rev.Real](sum, best T, least bool) bool {
	return sum > best && !least || sum < best && least || isNaN(sum) && !isNaN(best)
}

func isNaN[T rev.Real](v T) bool { return math.IsNaN(float64(v)) }

// use adds the best sums of row i, from column j0 on, and what belongs to the winners.
func (w *product[T]) use(best, label []T, i, j0 int) {
	if w.k.C.Data != nil {
		sign, c := w.sign, w.k.C.Row(i)[j0:][:len(best)]
		for j, v := range best {
			c[j] += T(sign * v)
		}
	}
	if !w.labels {
		return
	}
	if w.winners != nil {
		for j, at := 0, w.winners[i*w.k.B.Cols+j0:]; j < len(label); j++ {
			at[j] = int32(label[j])
		}
	}
	if w.t.C.Data != nil {
		for j, c := 0, w.t.C.Row(i)[j0:]; j < len(label); j++ {
			l := int(label[j])
			if l < 0 {
				continue
			}
			if w.t.A.Data != nil {
				c[j] += T(w.sign * w.t.A.Row(i)[l])
			}
			if w.t.B.Data != nil {
				c[j] += T(w.sign * w.t.B.Row(l)[j0+j])
			}
		}
	}
	for _, g := range [...]*MatMul[T]{&w.g, &w.gt} {
		if g.C.Data == nil || g.B.Data == nil {
			continue
		}
		c := g.C.Row(i)[j0:]
		for j, l := range label {
			if l >= 0 {
				g.B.Data[int(l)*g.B.Stride+j0+j] += c[j]
			}
		}
	}
}

// rowGradients is a product whose blocks are stripes of rows, which get their gradients.
type rowGradients[T rev.Real] product[T]

func (w *rowGradients[T]) Block(_, block int) {
	n := w.k.B.Cols
	for i := block * stripe; i < min((block+1)*stripe, w.k.A.Rows); i++ {
		for _, g := range [...]*MatMul[T]{&w.g, &w.gt} {
			if g.C.Data == nil || g.A.Data == nil {
				continue
			}
			c, a := g.C.Row(i), g.A.Row(i)
			for j, l := range w.winners[i*n:][:n] {
				if l >= 0 {
					a[l] += c[j]
				}
			}
		}
	}
}
