package revsparse

import (
	"math"
	"slices"

	"revnum/internal/ordering"
	"revnum/internal/workspace"
)

// luFactors are the factors P·R·A·C·Q = L·U of a square matrix A. R and C are diagonal
// matrices of powers of 2.
type luFactors struct {
	n        int
	dominant bool    // A is diagonally dominant by columns
	order    []int32 // column k of the factors is column order[k] of A
	panels   []luPanel

	// The entries of A by columns of the factors.
	colPtr []int
	colRow []int32
	from   []int32   // where the entry is in A
	values []float64 // of R·A·C

	rowExp, colExp []int // the exponents of R and C

	position []int32 // of a row of A in the factors, -1 until it has one
	pivot    []int32 // row k of the factors is row pivot[k] of A
	super    []int32 // supernode of a column of the factors
	supers   []supernode
	blocks   []luBlock
	lrows    []int32 // rows of A, and in the end of the factors
	ldata    []float64
	udata    []float64

	y, below, signs []float64 // of solve and condition
}

// analyze chooses the order of columns and their panels for a matrix with the structure of a.
func analyze[I Index](f *luFactors, a CSR[float64, I]) {
	n := a.Rows
	f.n = n
	t := CSR[float64, I]{Ptr: make([]I, n+1), Ind: make([]I, len(a.Ind))}
	from := make([]I, len(a.Ind))
	transpose(&t, a, from)
	rows, cols := lists(n, a.Ptr, a.Ind), lists(n, t.Ptr, t.Ind)
	entries, symmetric := 0, 0
	for i, list := range rows {
		entries += len(list)
		symmetric += common(list, cols[i])
	}
	var parent []int32
	var counts []int
	if f.dominant && 2*symmetric > entries {
		f.order, parent, counts = symmetricOrder(rows, cols)
	} else {
		f.order, parent, counts = columnOrder(rows, cols)
	}
	f.makePanels(parent, counts)

	f.colPtr, f.colRow, f.from = workspace.Zeros(f.colPtr, n+1), f.colRow[:0], f.from[:0]
	for k, j := range f.order {
		for p := t.Ptr[j]; p < t.Ptr[j+1]; p++ {
			f.colRow, f.from = append(f.colRow, int32(t.Ind[p])), append(f.from, int32(from[p]))
		}
		f.colPtr[k+1] = len(f.from)
	}
}

// lists returns the columns of the entries of each of n rows, sorted and without repetition.
func lists[I Index](n int, ptr, ind []I) [][]int32 {
	all, rows := make([]int32, len(ind)), make([][]int32, n)
	for p, j := range ind {
		all[p] = int32(j)
	}
	for i := range rows {
		list := all[ptr[i]:ptr[i+1]]
		slices.Sort(list)
		rows[i] = slices.Clip(slices.Compact(list))
	}
	return rows
}

// common returns how many numbers two sorted lists have in common.
func common(a, b []int32) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case b[0] < a[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}

// columnOrder orders columns for the factors of A with its rows in any order. Their entries
// are among those of the Cholesky factor of AᵀA. Rows with so many entries that they would
// couple all columns are ignored.
func columnOrder(rows, cols [][]int32) (order, parent []int32, counts []int) {
	n := len(rows)
	cliques := make([][]int32, 0, n)
	for _, list := range rows {
		if !isDense(list, n) {
			cliques = append(cliques, list)
		}
	}
	last := make([]int32, n) // the last column so far with an entry in a row
	return ordered(cols, nil, cliques, func(order []int32) []int32 {
		for i := range last {
			last[i] = -1
		}
		return ordering.Tree(n, func(k int32, yield func(int32)) {
			for _, i := range cols[order[k]] {
				if !isDense(rows[i], n) {
					yield(last[i])
					last[i] = k
				}
			}
		})
	})
}

// symmetricOrder orders columns for pivots on the diagonal. The factors then have the
// pattern of the Cholesky factor of A + Aᵀ.
func symmetricOrder(rows, cols [][]int32) (order, parent []int32, counts []int) {
	n := len(rows)
	adj := make([][]int32, n)
	for i, list := range rows {
		both := append(slices.Clone(list), cols[i]...)
		slices.Sort(both)
		both = slices.Compact(both)
		adj[i] = slices.DeleteFunc(both, func(j int32) bool { return int(j) == i })
	}
	position := make([]int32, n)
	return ordered(adj, adj, nil, func(order []int32) []int32 {
		for k, j := range order {
			position[j] = int32(k)
		}
		return ordering.Tree(n, func(k int32, yield func(int32)) {
			for _, j := range adj[order[k]] {
				yield(position[j])
			}
		})
	})
}

// isDense reports whether a row or column of n has so many entries that it slows the
// ordering down without improving it.
func isDense(list []int32, n int) bool { return len(list) > max(16, int(10*math.Sqrt(float64(n)))) }

// ordered returns an order of minimum degree in which subtrees are ranges, with its
// tree, which it makes, and the counts of ordering.MinimumDegree. Columns with dense
// lists come last.
func ordered(lists, adj, cliques [][]int32, tree func([]int32) []int32) (order, parent []int32, counts []int) {
	n := len(lists)
	sparse := func(from [][]int32) [][]int32 {
		to := make([][]int32, len(from))
		for i, list := range from {
			to[i] = slices.DeleteFunc(slices.Clone(list), func(j int32) bool { return isDense(lists[j], n) })
		}
		return to
	}
	if slices.ContainsFunc(lists, func(list []int32) bool { return isDense(list, n) }) {
		adj, cliques = sparse(adj), sparse(cliques)
		for i := range adj {
			if isDense(lists[i], n) {
				adj[i] = nil
			}
		}
	}
	found, sizes := ordering.MinimumDegree(n, nil, adj, cliques)
	order = make([]int32, 0, n)
	for _, dense := range []bool{false, true} {
		for k, j := range found {
			if isDense(lists[j], n) == dense {
				order, counts = append(order, j), append(counts, sizes[k])
			}
		}
	}
	post := ordering.Postorder(tree(order))
	permuted := make([]int, n)
	for k, at := range post {
		post[k], permuted[k] = order[at], counts[at]
	}
	return post, tree(post), permuted
}

// makePanels cuts the columns into panels: small subtrees, and chains, which are at
// most as wide as their columns are expected to be long.
func (f *luFactors) makePanels(parent []int32, counts []int) {
	n := f.n
	size := make([]int32, n) // of subtrees
	for k := range n {
		size[k]++
		if p := parent[k]; p >= 0 {
			size[p] += size[k]
		}
	}
	f.panels = f.panels[:0]
	for k := 0; k < n; {
		// The largest small subtree that begins at column k, if there is one.
		to := k
		for r := k; r < n && int(size[r]) <= narrowPanel && r+1-int(size[r]) == k; r = int(parent[r]) {
			to = r + 1
			if parent[r] < 0 {
				break
			}
		}
		if to == k {
			most := min(max(counts[k], narrowPanel), widePanel)
			for to = k + 1; to < n && to-k < most && int(parent[to-1]) == to; to++ {
			}
		}
		f.panels = append(f.panels, luPanel{first: k, width: to - k})
		k = to
	}
}
