package ordering

import "slices"

// MinimumDegree returns an order of elimination that keeps fill low. order lists the
// nodes as they are eliminated. counts gives, for each of them, about the weight of
// the nodes that it is coupled to when it is eliminated, plus its own.
//
// Node i has the weight weights[i], or 1 if weights is nil. It is coupled to the
// nodes of adj[i], which are sorted, without i, and symmetric. It is also coupled to
// all other members of the cliques that it is in; their members are sorted too.
// Either of adj and cliques may be nil. To order the columns of a matrix A, take its
// rows for cliques. That gives an order for the factors of AᵀA, and so for the LU
// factors of A with its rows in any order.
//
// The method is the approximate minimum degree of Amestoy, Davis and Duff. In the
// quotient graph an eliminated node becomes an element, which is the clique of the
// nodes that it was coupled to. The given cliques are elements from the beginning. A
// node has a list of nodes and a list of elements; it is coupled to the members of
// these elements as well. The elements of an eliminated node are absorbed by the new
// one. The degree of node i after the elimination of p is bounded by
//
//	|A_i| + |L_p \ i| + Σ_e |L_e \ L_p|
//
// where the sizes are sums of weights. One pass computes the |L_e \ L_p| of all
// elements around p. Nodes that are coupled to the same nodes and elements are
// merged. The weight of an element does not change: merged members keep their
// weight, and when a member is eliminated the element is absorbed.
func MinimumDegree(n int, weights []int, adj, cliques [][]int32) (order []int32, counts []int) {
	g := newQuotient(n, weights, adj, cliques)
	order, counts = make([]int32, 0, n), make([]int, 0, n)
	for len(order) < n {
		p, left := g.pop(), g.left
		order = g.appendMerged(order, p)
		order = g.eliminate(order, p)
		count := left - g.left + g.size[p]
		for len(counts) < len(order) {
			counts = append(counts, count)
		}
	}
	return order, counts
}

// quotient is a quotient graph. Its elements are the eliminated nodes, and n+c for
// clique c. A node that has been merged into another or eliminated has weight 0. An
// element that has been absorbed has no members.
type quotient struct {
	left            int // the weight of the nodes that are not eliminated
	weight, degree  []int
	nodes, elements [][]int32 // the lists of each node
	members         [][]int32 // the nodes of each element
	size            []int     // the weight of the members of each element
	merged          [][]int32 // the nodes that were merged into each node

	// first holds the first node of each degree. next and before link the nodes of a
	// degree, and -1 ends a list. No node has a lower degree than least.
	first, next, before []int32
	least               int

	stamp   int
	mark    []int   // the stamp at which each node was met
	hash    []int   // the hash of the lists of each node
	bucket  []int32 // the last node with each hash, -1 for none
	chain   []int32 // for each node, the previous one with the same hash
	outside []int   // |L_e \ L_p| of each element e
	seen    []int   // the stamp at which outside was set for each element
	clique  []int32
}

func newQuotient(n int, weights []int, adj, cliques [][]int32) *quotient {
	all := n + len(cliques)
	g := &quotient{
		weight: make([]int, n), degree: make([]int, n),
		nodes: make([][]int32, n), elements: make([][]int32, n), merged: make([][]int32, n),
		members: make([][]int32, all), size: make([]int, all),
		next: make([]int32, n), before: make([]int32, n), mark: make([]int, n), hash: make([]int, n),
		bucket: make([]int32, n), chain: make([]int32, n),
		outside: make([]int, all), seen: make([]int, all),
	}
	for i := range g.weight {
		g.weight[i] = 1
		if weights != nil {
			g.weight[i] = weights[i]
		}
		g.left += g.weight[i]
		g.bucket[i] = -1
	}
	couplings := 0
	for i := range adj {
		g.nodes[i] = slices.Clone(adj[i])
		for _, j := range adj[i] {
			g.degree[i] += g.weight[j]
		}
	}
	count := make([]int, n) // of the elements of a node
	for c, list := range cliques {
		if len(list) < 2 {
			continue // it couples nothing
		}
		g.members[n+c] = list
		couplings += len(list)
		for _, i := range list {
			g.size[n+c] += g.weight[i]
			count[i]++
		}
	}
	storage := make([]int32, couplings)
	for i := range n {
		// The capacity keeps a list from growing into the next one.
		g.elements[i], storage = storage[:0:count[i]], storage[count[i]:]
	}
	for c, list := range g.members[n:] {
		for _, i := range list {
			g.elements[i] = append(g.elements[i], int32(n+c))
			g.degree[i] += g.size[n+c] - g.weight[i]
		}
	}
	g.first = make([]int32, g.left) // a node is not coupled to itself
	for d := range g.first {
		g.first[d] = -1
	}
	for i := n - 1; i >= 0; i-- { // so that equal degrees are eliminated in order
		g.degree[i] = min(g.degree[i], g.left-g.weight[i])
		g.link(int32(i))
	}
	return g
}

// link adds node i to the list of its degree.
func (g *quotient) link(i int32) {
	d := g.degree[i]
	g.before[i], g.next[i] = -1, g.first[d]
	if g.first[d] >= 0 {
		g.before[g.first[d]] = i
	}
	g.first[d] = i
	g.least = min(g.least, d)
}

// unlink removes node i from the list of its degree.
func (g *quotient) unlink(i int32) {
	if g.next[i] >= 0 {
		g.before[g.next[i]] = g.before[i]
	}
	if g.before[i] >= 0 {
		g.next[g.before[i]] = g.next[i]
	} else {
		g.first[g.degree[i]] = g.next[i]
	}
}

// pop removes a node of the least degree.
func (g *quotient) pop() int32 {
	for g.first[g.least] < 0 {
		g.least++
	}
	p := g.first[g.least]
	g.unlink(p)
	return p
}

// appendMerged appends p and all nodes that were merged into it.
func (g *quotient) appendMerged(order []int32, p int32) []int32 {
	order = append(order, p)
	for _, i := range g.merged[p] {
		order = g.appendMerged(order, i)
	}
	return order
}

// gather adds to the clique the nodes of list that are not eliminated and not yet in
// it.
func (g *quotient) gather(list []int32) {
	for _, i := range list {
		if g.weight[i] > 0 && g.mark[i] != g.stamp {
			g.mark[i] = g.stamp
			g.clique = append(g.clique, i)
		}
	}
}

// eliminate makes an element of p. It also eliminates the nodes that are coupled to
// that element alone, and appends them to order.
func (g *quotient) eliminate(order []int32, p int32) []int32 {
	g.stamp++
	g.left -= g.weight[p]
	g.weight[p] = 0
	g.clique = g.clique[:0]
	g.gather(g.nodes[p])
	for _, e := range g.elements[p] {
		g.gather(g.members[e])
		g.members[e] = nil
	}
	g.nodes[p], g.elements[p] = nil, nil

	size := 0
	for _, i := range g.clique {
		size += g.weight[i]
		g.unlink(i)
		for _, e := range g.elements[i] {
			if g.seen[e] != g.stamp {
				g.seen[e], g.outside[e] = g.stamp, g.size[e]
			}
			g.outside[e] -= g.weight[i]
		}
	}
	kept := g.clique[:0]
	for _, i := range g.clique {
		degree, hash := g.trim(i, p)
		if degree == 0 {
			size -= g.weight[i]
			g.left -= g.weight[i]
			g.weight[i] = 0
			order = g.appendMerged(order, i)
			continue
		}
		g.degree[i] = min(g.degree[i], degree) // + |L_p \ i| below
		kept = append(kept, i)
		h := hash % len(g.bucket)
		g.hash[i] = h
		g.chain[i], g.bucket[h] = g.bucket[h], i
	}
	for _, i := range kept {
		g.bucket[g.hash[i]] = -1
		for j := g.chain[i]; j >= 0; j = g.chain[j] {
			// Nodes are listed in ascending order, and elements in the order
			// of their creation, so equal sets are equal lists.
			if slices.Equal(g.elements[i], g.elements[j]) && slices.Equal(g.nodes[i], g.nodes[j]) {
				g.weight[j] += g.weight[i]
				g.weight[i] = 0
				g.merged[j] = append(g.merged[j], i)
				g.nodes[i], g.elements[i] = nil, nil // not equal to those of others
				break
			}
		}
	}
	n := 0
	for _, i := range kept {
		if g.weight[i] > 0 {
			g.degree[i] = min(g.degree[i]+size, g.left) - g.weight[i]
			g.link(i)
			kept[n] = i
			n++
		}
	}
	g.members[p], g.size[p] = slices.Clone(kept[:n]), size
	return order
}

// trim removes from the lists of node i the couplings that the new element p
// includes. It returns a bound of the degree of i without the members of p, and a
// hash of its lists.
func (g *quotient) trim(i, p int32) (degree, hash int) {
	list := g.elements[i][:0]
	for _, e := range g.elements[i] {
		switch {
		case g.members[e] == nil:
		case g.outside[e] == 0: // a subset of the new element
			g.members[e] = nil
		default:
			list = append(list, e)
			degree += g.outside[e]
			hash += int(e)
		}
	}
	g.elements[i] = append(list, p)
	list = g.nodes[i][:0]
	for _, j := range g.nodes[i] {
		if g.weight[j] > 0 && g.mark[j] != g.stamp {
			list = append(list, j)
			degree += g.weight[j]
			hash += int(j)
		}
	}
	g.nodes[i] = list
	return degree, hash
}
