package blockchol

import (
	"slices"

	"revnum/internal/ordering"
)

const (
	// maxWidth is the largest number of columns of a panel. A single node may be wider.
	maxWidth = 144
	// relaxed is the largest share of zeros that a supernode may gain by joining its
	// parent.
	relaxed = 0.15
	// narrow is the number of columns up to which a supernode always joins its parent.
	narrow = 32
)

// A panel is a range of columns of L with the same pattern. It is a dense matrix by
// columns, with a row of blocks for each node of the pattern. The first of these nodes are
// the columns themselves.
type panel struct {
	first, end int       // the columns: nodes first to end-1 in the order of elimination
	rows       []int32   // nodes, ascending; the first are the columns
	offset     []int     // first scalar row of each node in the panel, and the number of rows
	width      int       // number of columns
	data       []float64 // element (i, j) is data[j*height+i]

	updates []update // by earlier panels, in order
}

// update says that rows lo to hi-1 of the earlier panel by are columns of a panel.
type update struct {
	by, lo, hi int
}

func (p *panel) height() int { return p.offset[len(p.rows)] }

// Analyze returns the factorisation of a symmetric matrix of blocks. It has no elements
// yet. The sizes of the blocks must be positive. Block (i, j) may be different from 0 if j
// is in coupled[i] or i is in coupled[j]. Blocks on the diagonal always may. Analyze
// returns nil if the factor would have more than limit elements.
func Analyze(sizes []int, coupled [][]int32, limit int) *Cholesky {
	n := len(sizes)
	adj := make([][]int32, n)
	for i, list := range coupled {
		for _, j := range list {
			if int(j) != i {
				adj[i] = append(adj[i], j)
				adj[j] = append(adj[j], int32(i))
			}
		}
	}
	for i := range adj {
		slices.Sort(adj[i])
		adj[i] = slices.Compact(adj[i])
	}
	order, _ := ordering.MinimumDegree(n, sizes, adj, nil)
	tree := newEliminationTree(order, adj)
	if !tree.postorder(sizes, limit) {
		return nil
	}
	c := &Cholesky{
		node: make([]int32, n), panelOf: make([]int32, n), start: make([]int, n+1), position: tree.position,
	}
	for k, i := range tree.order {
		c.node[k] = i
		c.start[k+1] = c.start[k] + sizes[i]
	}
	for _, s := range tree.supernodes(c.start) {
		c.split(s)
	}
	if c.Elements() > limit {
		return nil
	}
	c.link()
	return c
}

// eliminationTree is the tree in which the parent of a column of L is the row of its
// first element below the diagonal.
type eliminationTree struct {
	order    []int32 // nodes in the order of elimination
	position []int32 // of a node in order
	adj      [][]int32
	parent   []int32   // of a position, -1 for roots
	pattern  [][]int32 // of a position: the rows of the column, ascending, without the diagonal
}

func newEliminationTree(order []int32, adj [][]int32) *eliminationTree {
	n := len(order)
	t := &eliminationTree{order: order, adj: adj, position: make([]int32, n)}
	for k, i := range order {
		t.position[i] = int32(k)
	}
	t.parent = ordering.Tree(n, func(k int32, yield func(int32)) {
		for _, j := range adj[order[k]] {
			yield(t.position[j])
		}
	})
	return t
}

// postorder renumbers the tree so that each subtree is a range of positions. It computes
// the patterns, and reports whether they have at most limit elements.
func (t *eliminationTree) postorder(sizes []int, limit int) bool {
	n := len(t.order)
	post := ordering.Postorder(t.parent)
	order, renumbered := make([]int32, n), make([]int32, n)
	for k, at := range post {
		order[k], renumbered[at] = t.order[at], int32(k)
	}
	parent := make([]int32, n)
	for k, p := range t.parent {
		if p >= 0 {
			p = renumbered[p]
		}
		parent[renumbered[k]] = p
	}
	t.order, t.parent = order, parent
	for k, i := range order {
		t.position[i] = int32(k)
	}

	t.pattern = make([][]int32, n)
	mark := make([]int32, n)
	merge := make([][]int32, n) // children of a position
	total := 0
	for k, i := range order {
		var list []int32
		mark[k] = int32(k) + 1
		add := func(r int32) {
			if r > int32(k) && mark[r] != int32(k)+1 {
				mark[r] = int32(k) + 1
				list = append(list, r)
			}
		}
		for _, j := range t.adj[i] {
			add(t.position[j])
		}
		for _, child := range merge[k] {
			for _, r := range t.pattern[child] {
				add(r)
			}
		}
		slices.Sort(list)
		t.pattern[k] = list
		height := sizes[i]
		for _, r := range list {
			height += sizes[order[r]]
		}
		if total += height * sizes[i]; total > limit {
			return false
		}
		if p := parent[k]; p >= 0 {
			merge[p] = append(merge[p], int32(k))
		}
	}
	return true
}

// supernode is a range of columns and the rows below it.
type supernode struct {
	first, end int
	below      []int32
	elements   int // elements of L, without the zeros of relaxation
}

// supernodes returns ranges of columns with the same pattern, or nearly the same. A
// supernode joins its parent if the two are neighbours and the union adds few zeros.
// Position k begins at scalar column start[k].
func (t *eliminationTree) supernodes(start []int) []supernode {
	trapezium := func(width int, below []int32) int {
		sum := width * (width + 1) / 2
		for _, r := range below {
			sum += width * (start[r+1] - start[r])
		}
		return sum
	}
	var out []supernode
	for k := range t.parent {
		s := supernode{first: k, end: k + 1, below: t.pattern[k]}
		s.elements = trapezium(start[k+1]-start[k], s.below)
		for len(out) > 0 {
			child := out[len(out)-1]
			if p := int(t.parent[child.end-1]); p < s.first || p >= s.end {
				break
			}
			width := start[s.end] - start[child.first]
			elements := child.elements + s.elements
			all := trapezium(width, s.below)
			if width > narrow && float64(all-elements) > relaxed*float64(all) {
				break
			}
			s.first, s.elements = child.first, elements
			out = out[:len(out)-1]
		}
		out = append(out, s)
	}
	return out
}

// split cuts a supernode into panels of about equal width and appends them.
func (c *Cholesky) split(s supernode) {
	width := c.start[s.end] - c.start[s.first]
	parts := (width + maxWidth - 1) / maxWidth
	for first, part := s.first, 1; first < s.end; part++ {
		end := first + 1
		for end < s.end && (c.start[end+1]-c.start[s.first])*parts <= width*part {
			end++
		}
		p := &panel{first: first, end: end, width: c.start[end] - c.start[first]}
		p.rows = make([]int32, 0, s.end-first+len(s.below))
		for k := first; k < s.end; k++ {
			p.rows = append(p.rows, int32(k))
		}
		p.rows = append(p.rows, s.below...)
		p.offset = make([]int, len(p.rows)+1)
		for i, r := range p.rows {
			p.offset[i+1] = p.offset[i] + c.start[r+1] - c.start[r]
		}
		for k := first; k < end; k++ {
			c.panelOf[k] = int32(len(c.panels))
		}
		c.panels = append(c.panels, p)
		first = end
	}
}

// link lists the updates of each panel.
func (c *Cholesky) link() {
	for by, p := range c.panels {
		for lo := p.end - p.first; lo < len(p.rows); {
			j := c.panelOf[p.rows[lo]]
			hi := lo + 1
			for hi < len(p.rows) && c.panelOf[p.rows[hi]] == j {
				hi++
			}
			c.panels[j].updates = append(c.panels[j].updates, update{by, lo, hi})
			lo = hi
		}
	}
}
