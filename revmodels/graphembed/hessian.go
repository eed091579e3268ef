package graphembed

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/parallel"
	"revnum/internal/simd"
	"revnum/internal/workspace"
)

// Hess overwrites hess, which must be of order Dim, with the Hessian at x.
//
// Products with unit vectors are not needed: with the weights of Loss, and with
// U_c the sum of the gradients of the distances of kind c, it is
//
//	H = Σ_pairs B_ij - Σ_c α_c/n_c·U_c·U_cᵀ + E·q·qᵀ,  q = U_0/n_0 - U_1/n_1
//
// where B_ij has the block (α - γ·r)·I + γ·r·u·uᵀ at (i, i) and (j, j), and minus
// that at (i, j). So a pair costs K² multiplications and an element of H three
// more. The vertices are worked on in parallel.
func (m *Model) Hess(hess *mat.SymDense, x []float64) {
	n := m.Dim()
	if hess.SymmetricDim() != n {
		panic(mat.ErrShape)
	}
	if n == 0 {
		return
	}
	k := m.Loss(x)
	k.check()
	s := workspace.Get[sweep[float64]]()
	defer workspace.Put(s)
	s.value, s.gradient, s.second, s.tangents = false, false, false, false
	s.measureAll(&k, nil)

	raw := hess.RawSymmetric()
	workers := min(parallel.Workers(m.Workers), m.Graph.n)
	order := m.Graph.n
	h := &hessian{sweep: s, fixed: m.Fixed.Rows, data: raw.Data, stride: raw.Stride, scratch: make([]float64, workers*(order+m.K*(m.K+1)))}
	for c := range h.sum {
		h.sum[c] = make([]float64, n)
	}
	parallel.Run(workers, order-h.fixed, h)
	h.ranks = true
	parallel.Run(workers, order-h.fixed, h)
}

// A hessian is the parallel task of Hess. A block is the rows of one free
// vertex: first the sums over its pairs, then what has rank one.
type hessian struct {
	*sweep[float64]
	fixed   int
	data    []float64 // upper triangle
	stride  int
	sum     [kinds][]float64 // U
	ranks   bool
	scratch []float64 // of each worker: inverse distances, a unit vector, and a block (i, i)
}

// Block implements parallel.Task.
func (h *hessian) Block(worker, row int) {
	if h.ranks {
		h.addRanks(row)
	} else {
		h.addPairs(h.scratch[worker*(h.graph.n+h.dim*(h.dim+1)):], row)
	}
}

// addPairs stores the blocks (i, i) and (i, j), j > i, of free vertex row.
func (h *hessian) addPairs(scratch []float64, row int) {
	n, dim := h.graph.n, h.dim
	i, at := row+h.fixed, row*dim
	r, u := scratch[:n], scratch[n:n+dim]
	xi := h.xi[i*dim:][:dim]
	simd.InvDistances(r, h.x, h.ld, xi)
	block := scratch[n+dim:][:dim*dim]
	clear(block)
	later := h.graph.Later(i)
	for j := range n {
		if j == i {
			continue
		}
		c := apart
		if j > i {
			if len(later) > 0 && int(later[0]) == j {
				c, later = connected, later[1:]
			}
		} else if h.graph.Connected(j, i) {
			c = connected
		}
		w := &h.w[c]
		turn := w.gamma * r[j]
		diagonal := w.alpha - turn
		xj := h.xi[j*dim:][:dim]
		sum := h.sum[c][at:][:dim]
		for a := range u {
			u[a] = (xi[a] - xj[a]) * r[j]
			sum[a] += u[a]
		}
		if j < i || j < h.fixed {
			for a, ua := range u {
				ua *= turn
				dst := block[a*len(u):][:len(u)]
				for b, ub := range u {
					dst[b] += float64(ua * ub)
				}
				dst[a] += diagonal
			}
			continue
		}
		off := (j - h.fixed) * dim
		for a, ua := range u {
			ua *= turn
			dst, pair := block[a*len(u):][:len(u)], h.data[(at+a)*h.stride+off:][:len(u)]
			for b, ub := range u {
				v := ua * ub
				dst[b] += v
				pair[b] = -v
			}
			dst[a] += diagonal
			pair[a] -= diagonal
		}
	}
	for a := range dim {
		copy(h.data[(at+a)*h.stride+at+a:][:dim-a], block[a*dim+a:])
	}
}

// addRanks adds the terms of rank one to the rows of free vertex row.
func (h *hessian) addRanks(row int) {
	near, far := h.sum[connected], h.sum[apart]
	nearN, farN := float64(h.count[connected]), float64(h.count[apart])
	for a := row * h.dim; a < (row+1)*h.dim; a++ {
		var toNear, toFar float64
		if nearN > 0 {
			toNear = -h.w[connected].alpha / nearN * near[a]
		}
		if farN > 0 {
			toFar = -h.w[apart].alpha / farN * far[a]
		}
		if e := h.w[apart].e; e != 0 {
			q := e * (near[a]/nearN - far[a]/farN)
			toNear += q / nearN
			toFar -= q / farN
		}
		line := h.data[a*h.stride:]
		n := len(near)
		simd.Axpy(toNear, near[a:], line[a:n])
		simd.Axpy(toFar, far[a:], line[a:n])
	}
}
