package graphembed

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/graphembed/internal/pairs"
)

// Hess overwrites hess, which must be of order Dim, with the Hessian at x.
//
// It takes no products with unit vectors. With the weights of Loss, and U_c the sum of the
// gradients of the distances of kind c, the Hessian is
//
//	H = Σ_pairs B_ij - Σ_c α_c/n_c·U_c·U_cᵀ + E·q·qᵀ,  q = U_0/n_0 - U_1/n_1
//
// where B_ij has the block (α - γ·r)·I + γ·r·u·uᵀ at (i, i) and (j, j), and minus that block
// at (i, j). A pair therefore costs K² multiplications, and an element of H costs three
// more. Workers share the vertices.
func (m *Model) Hess(hess *mat.SymDense, x []float64) {
	n := m.Dim()
	objective.CheckLen("graphembed.Model", "hess", hess.SymmetricDim(), n)
	if n == 0 {
		return
	}
	k := m.Kernel(x, nil)
	rev.ForwardPass(&k)
	s := workspace.Get[*sweep[float64]]()
	defer workspace.Put(s)
	s.value, s.gradient, s.second, s.tangents = false, false, false, false
	s.measureAll(&k, nil)

	raw := hess.RawSymmetric()
	workers := min(parallel.Workers(m.Workers), m.Graph.n)
	order := m.Graph.n
	h := workspace.Get[*hessian]()
	defer func() {
		h.sweep, h.data = nil, nil
		workspace.Put(h)
	}()
	h.sweep, h.fixed, h.data, h.stride, h.ranks = s, m.Fixed.Rows, raw.Data, raw.Stride, false
	h.scratch = workspace.Grow(h.scratch, workers*hessianScratch(order, m.K))
	for c := range h.sum {
		h.sum[c] = workspace.Zeros(h.sum[c], n)
	}
	parallel.Run(workers, order-h.fixed, h)
	h.ranks = true
	parallel.Run(workers, order-h.fixed, h)
}

// A hessian is the parallel task of Hess. A block is the rows of one free vertex. It
// first adds the sums over the pairs, and then the terms of rank one.
type hessian struct {
	*sweep[float64]
	fixed   int
	data    []float64 // upper triangle
	stride  int
	sum     [kinds][]float64 // U_c
	ranks   bool
	scratch []float64 // of each worker
}

// Block implements parallel.Task.
func (h *hessian) Block(worker, row int) {
	if h.ranks {
		h.addRanks(row)
	} else {
		h.addPairs(h.scratch[worker*hessianScratch(h.graph.n, h.dim):], row)
	}
}

// hessianScratch returns the length of the scratch memory of a worker. It holds, for each
// vertex, the inverse distance, the unit vector to it and γ·r times that vector. It also
// holds one block (i, i).
func hessianScratch(n, dim int) int { return n + 2*n*dim + dim*dim }

// addPairs stores the blocks (i, i) and (i, j), j > i, of free vertex row.
func (h *hessian) addPairs(scratch []float64, row int) {
	n, dim := h.graph.n, h.dim
	i, at := row+h.fixed, row*dim
	r, scratch := scratch[:n], scratch[n:]
	units, turned, block := scratch[:n*dim], scratch[n*dim:2*n*dim], scratch[2*n*dim:][:dim*dim]
	xi := h.xi[i*dim:][:dim]
	pairs.InvDistances(r, h.x, h.ld, xi)
	var diagonal float64 // what is added to the diagonal of block (i, i)
	later := h.graph.Later(i)
	for j := range n {
		u, turnedU := units[j*dim:][:dim], turned[j*dim:][:dim]
		if j == i {
			clear(u)
			clear(turnedU)
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
		turn := float64(w.gamma * r[j])
		diagonal += w.alpha - turn
		xj := h.xi[j*dim:][:dim]
		sum := h.sum[c][at:][:dim]
		for a := range u {
			u[a] = float64((xi[a] - xj[a]) * r[j])
			turnedU[a] = turn * u[a]
			sum[a] += u[a]
		}
		if j < i || j < h.fixed {
			continue
		}
		off := (j - h.fixed) * dim
		for a, t := range turnedU {
			pair := h.data[(at+a)*h.stride+off:][:dim]
			for b, ub := range u {
				pair[b] = -t * ub
			}
			pair[a] -= w.alpha - turn
		}
	}
	clear(block)
	dense.Gemm(dim, dim, n, 1, turned, 1, dim, units, dim, 1, block, dim)
	for a := range dim {
		block[a*dim+a] += diagonal
		copy(h.data[(at+a)*h.stride+at+a:][:dim-a], block[a*dim+a:])
	}
}

// addRanks adds the terms of rank one to the rows of free vertex row.
func (h *hessian) addRanks(row int) {
	near, far := h.sum[connected], h.sum[apart]
	nearN, farN := float64(max(1, h.count[connected])), float64(max(1, h.count[apart]))
	n, e := len(near), h.w[apart].e
	for a := row * h.dim; a < (row+1)*h.dim; a++ {
		q := float64(e * (near[a]/nearN - far[a]/farN))
		line := h.data[a*h.stride:][:n]
		vec.Axpy((q-float64(h.w[connected].alpha*near[a]))/nearN, near[a:], line[a:])
		vec.Axpy((-q-float64(h.w[apart].alpha*far[a]))/farN, far[a:], line[a:])
	}
}
