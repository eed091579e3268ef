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

// analyze chooses the order of columns and their panels for a matrix with this structure.
func analyze[I Index](f *luFactors, n int, ptr, ind []I) {
	f.n = n
	rows := make([][]int32, n)
	storage := make([]int32, len(ind))
	entries := 0
	for i := range n {
		list := storage[: 0 : ptr[i+1]-ptr[i]]
		storage = storage[ptr[i+1]-ptr[i]:]
		for _, j := range ind[ptr[i]:ptr[i+1]] {
			list = append(list, int32(j))
		}
		slices.Sort(list)
		rows[i] = slices.Compact(list)
		entries += len(rows[i])
	}
	cols := transposed(rows)
	symmetric := 0
	for i, list := range rows {
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

	position := make([]int32, n)
	for k, j := range f.order {
		position[j] = int32(k)
	}
	f.colPtr = workspace.Zeros(f.colPtr, n+1)
	for _, j := range ind {
		f.colPtr[position[j]+1]++
	}
	for k := range n {
		f.colPtr[k+1] += f.colPtr[k]
	}
	next := slices.Clone(f.colPtr[:n])
	f.colRow, f.from = workspace.Grow(f.colRow, len(ind)), workspace.Grow(f.from, len(ind))
	for i := range n {
		for p := ptr[i]; p < ptr[i+1]; p++ {
			k := position[ind[p]]
			f.colRow[next[k]], f.from[next[k]] = int32(i), int32(p)
			next[k]++
		}
	}
}

// transposed returns the transpose of a pattern, sorted.
func transposed(rows [][]int32) [][]int32 {
	count := make([]int, len(rows))
	total := 0
	for _, list := range rows {
		for _, j := range list {
			count[j]++
		}
		total += len(list)
	}
	cols, storage := make([][]int32, len(rows)), make([]int32, total)
	for j, c := range count {
		cols[j], storage = storage[:0:c], storage[c:]
	}
	for i, list := range rows {
		for _, j := range list {
			cols[j] = append(cols[j], int32(i))
		}
	}
	return cols
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

// columnOrder orders columns for the factors of A with its rows in any order. Their
// pattern is part of that of the Cholesky factor of AᵀA. Rows with so many entries that
// they would couple all columns are ignored.
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
