package ordering

// Tree returns the elimination tree of n columns. The parent of a column is the
// first later column that its elimination couples it to, or -1 for a root. The
// function earlier yields earlier columns that column k is coupled to, directly or
// through others.
//
// The method is by Liu: walk from each earlier column to the root of its
// subtree, with shortcuts.
func Tree(n int, earlier func(k int32, yield func(j int32))) []int32 {
	parent, ancestor := make([]int32, n), make([]int32, n)
	k := int32(0)
	climb := func(j int32) {
		for j >= 0 && j < k {
			next := ancestor[j]
			ancestor[j] = k
			if next < 0 {
				parent[j] = k
			}
			j = next
		}
	}
	for ; k < int32(n); k++ {
		parent[k], ancestor[k] = -1, -1
		earlier(k, climb)
	}
	return parent
}

// Postorder returns the nodes of a forest in postorder: each subtree is a range with
// its root at the end. The children of a node keep their order.
func Postorder(parent []int32) []int32 {
	n := len(parent)
	child, sibling := make([]int32, n), make([]int32, n) // the first child, the next sibling
	for k := range child {
		child[k] = -1
	}
	root := int32(-1) // the first one
	for k := int32(n) - 1; k >= 0; k-- {
		to := &root
		if p := parent[k]; p >= 0 {
			to = &child[p]
		}
		sibling[k], *to = *to, k
	}
	order := make([]int32, 0, n)
	for r := root; r >= 0; r = sibling[r] {
		for k := r; ; {
			for child[k] >= 0 {
				k, child[k] = child[k], sibling[child[k]]
			}
			order = append(order, k)
			if k == r {
				break
			}
			k = parent[k]
		}
	}
	return order
}
