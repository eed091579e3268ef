package graphembed

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/graphembed/internal/pairs"
)

// directions is the number of columns in a block of HessMul.
const directions = 128

// HessMul overwrites dst with the Hessian at x times v. The columns of v are directions.
// HessMul computes once for all columns what depends on x alone, so it costs much less than
// a HessVec for each column. Workers share the columns in blocks.
//
// If v is the identity, dst is the Hessian. Hess is then the better choice: HessMul makes
// some 6·K·n²/2 multiplications a column for n vertices, although most pairs do not
// contribute to a column.
//
// HessMul panics with mat.ErrShape unless dst and v have Dim rows and the same number of
// columns. dst must not share storage with v.
func (m *Model) HessMul(dst *mat.Dense, x []float64, v *mat.Dense) {
	to, from := dst.RawMatrix(), v.RawMatrix()
	if from.Rows != m.Dim() || to.Rows != from.Rows || to.Cols != from.Cols {
		panic(mat.ErrShape)
	}
	if from.Rows == 0 || from.Cols == 0 {
		return
	}
	k := m.Loss(x)
	rev.ForwardPass(&k)
	s := workspace.Get[sweep[float64]]()
	defer workspace.Put(s)
	s.value, s.gradient, s.second, s.tangents = false, false, false, false
	s.measureAll(&k, nil)

	blocks := (to.Cols + directions - 1) / directions
	workers := min(parallel.Workers(m.Workers), blocks)
	p := &hessMul{
		sweep: s, fixed: m.Fixed.Rows, cols: to.Cols,
		dst: to.Data, ldd: to.Stride, v: from.Data, ldv: from.Stride,
		scratch: make([]hessMulScratch, workers),
	}
	for i := range p.scratch {
		w := &p.scratch[i]
		w.r, w.u = make([]float64, s.graph.n), make([]float64, s.dim)
		w.diff = make([]float64, s.dim*directions)
		for c := range w.sum {
			w.sum[c] = make([]float64, to.Rows)
		}
	}
	parallel.Run(workers, blocks, p)
}

// A hessMul is the parallel task of HessMul. A block is a range of columns.
type hessMul struct {
	*sweep[float64]
	fixed, cols int
	dst, v      []float64
	ldd, ldv    int
	scratch     []hessMulScratch // one for each worker
}

type hessMulScratch struct {
	r    []float64 // inverse distances from a vertex to all
	u    []float64 // unit vector of a pair
	diff []float64 // difference of the tangents of two vertices; rows are coordinates
	dDot [directions]float64
	rate [kinds][directions]float64 // Σ ḋ of a kind
	sum  [kinds][]float64           // U, the sum of the gradients of distances
}

// Block implements parallel.Task. Each pair adds
//
//	(α - γ·r)·(v_i - v_j) + γ·r·u·ḋ,  ḋ = u·(v_i - v_j)
//
// to the rows of vertex i and subtracts it from the rows of vertex j. Block then adds the
// terms of rank one, as in Hess. They need U·v = Σ ḋ.
func (h *hessMul) Block(worker, block int) {
	w := &h.scratch[worker]
	lo := block * directions
	cols := min(directions, h.cols-lo)
	for c := range w.sum {
		clear(w.sum[c])
		clear(w.rate[c][:])
	}
	for p := range len(w.sum[0]) {
		clear(h.dst[p*h.ldd+lo:][:cols])
	}
	n, dim := h.graph.n, h.dim
	for i := range n {
		xi := h.xi[i*dim:][:dim]
		pairs.InvDistances(w.r[i:], h.x[i:], h.ld, xi)
		later := h.graph.Later(i)
		for j := max(i+1, h.fixed); j < n; j++ {
			for len(later) > 0 && int(later[0]) < j {
				later = later[1:]
			}
			c := apart
			if len(later) > 0 && int(later[0]) == j {
				c = connected
			}
			h.addPair(w, c, i, j, lo, cols)
		}
	}
	h.addRanks(w, lo, cols)
}

// addPair adds the terms of the pair of vertices i < j, of which j is free.
func (h *hessMul) addPair(w *hessMulScratch, c, i, j, lo, cols int) {
	dim := h.dim
	xi, xj := h.xi[i*dim:][:dim], h.xi[j*dim:][:dim]
	dDot := w.dDot[:cols]
	clear(dDot)
	at, off := (i-h.fixed)*dim, (j-h.fixed)*dim
	for a := range w.u {
		u := (xi[a] - xj[a]) * w.r[j]
		w.u[a] = u
		diff := w.diff[a*directions:][:cols]
		vec.ScaleTo(diff, -1, h.v[(off+a)*h.ldv+lo:][:cols])
		w.sum[c][off+a] -= u
		if i >= h.fixed {
			vec.AddTo(diff, diff, h.v[(at+a)*h.ldv+lo:][:cols])
			w.sum[c][at+a] += u
		}
		vec.Axpy(u, diff, dDot)
	}
	rate := w.rate[c][:cols]
	vec.AddTo(rate, rate, dDot)
	turn := h.w[c].gamma * w.r[j]
	diagonal := h.w[c].alpha - turn
	for a, u := range w.u {
		diff := w.diff[a*directions:][:cols]
		vec.ScaleTo(diff, diagonal, diff)
		vec.Axpy(turn*u, dDot, diff)
		vec.Axpy(-1, diff, h.dst[(off+a)*h.ldd+lo:][:cols])
		if i >= h.fixed {
			vec.Axpy(1, diff, h.dst[(at+a)*h.ldd+lo:][:cols])
		}
	}
}

// addRanks adds the terms of rank one.
func (h *hessMul) addRanks(w *hessMulScratch, lo, cols int) {
	near, far := w.sum[connected], w.sum[apart]
	nearN, farN := float64(max(1, h.count[connected])), float64(max(1, h.count[apart]))
	e := h.w[apart].e
	for p := range near {
		q := e * (near[p]/nearN - far[p]/farN)
		line := h.dst[p*h.ldd+lo:][:cols]
		vec.Axpy((q-h.w[connected].alpha*near[p])/nearN, w.rate[connected][:cols], line)
		vec.Axpy((-q-h.w[apart].alpha*far[p])/farN, w.rate[apart][:cols], line)
	}
}
