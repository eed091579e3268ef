package blockchol

import "slices"

// minimumDegree returns an order of elimination that keeps fill low: the nodes
// in the order in which they are eliminated. Node i weighs sizes[i], and is
// coupled to the nodes adj[i], sorted and without i; adj is symmetric.
//
// It is the approximate minimum degree of Amestoy, Davis and Duff. In the
// quotient graph an eliminated node becomes an element, the clique of the nodes
// that it was coupled to. A node has a list of nodes, and one of elements, whose
// members it is coupled to as well; the elements of an eliminated node are
// absorbed by the new one. The degree of node i after the elimination of p is
// bounded by
//
//	|A_i| + |L_p \ i| + Σ_e |L_e \ L_p|,
//
// sizes taken as sums of weights, where the |L_e \ L_p| of all elements around p
// come from one pass. Nodes coupled to the same nodes and elements are merged.
func minimumDegree(sizes []int, adj [][]int32) []int32 {
	n := len(sizes)
	g := &quotient{
		weight: make([]int, n),
		degree: make([]int, n),
		nodes:  make([][]int32, n), elements: make([][]int32, n),
		members: make([][]int32, n), merged: make([][]int32, n),
		mark: make([]int, n), hash: make([]int, n), outside: make([]int, n), seen: make([]int, n),
	}
	for i, size := range sizes {
		g.weight[i] = size
		g.left += size
		g.nodes[i] = slices.Clone(adj[i])
		for _, j := range adj[i] {
			g.degree[i] += sizes[j]
		}
	}
	live := make([]int32, n)
	for i := range live {
		live[i] = int32(i)
	}
	order := make([]int32, 0, n)
	for len(order) < n {
		p, k := int32(-1), 0
		for _, i := range live {
			if g.weight[i] == 0 {
				continue
			}
			live[k] = i
			k++
			if p < 0 || g.degree[i] < g.degree[p] {
				p = i
			}
		}
		live = live[:k]
		order = g.appendMerged(order, p)
		order = g.eliminate(order, p)
	}
	return order
}

// quotient is a quotient graph. A node that has been merged into another or
// eliminated has weight 0; an element that has been absorbed has no members.
type quotient struct {
	left            int // weight of what is not eliminated
	weight, degree  []int
	nodes, elements [][]int32 // of nodes
	members         [][]int32 // of elements
	merged          [][]int32 // nodes that were merged into a node

	stamp   int
	mark    []int // of nodes: the stamp at which they were met
	hash    []int // of nodes: of their lists
	outside []int // of elements: |L_e \ L_p|
	seen    []int // of elements: the stamp at which outside was set
}

// appendMerged appends p and all that was merged into it.
func (g *quotient) appendMerged(order []int32, p int32) []int32 {
	order = append(order, p)
	for _, i := range g.merged[p] {
		order = g.appendMerged(order, i)
	}
	return order
}

// eliminate makes an element of p. It appends the nodes to order that go with
// it because they are coupled to that element alone.
func (g *quotient) eliminate(order []int32, p int32) []int32 {
	g.stamp++
	g.left -= g.weight[p]
	g.weight[p] = 0
	var clique []int32
	size := 0
	gather := func(list []int32) {
		for _, i := range list {
			if g.weight[i] > 0 && g.mark[i] != g.stamp {
				g.mark[i] = g.stamp
				clique = append(clique, i)
				size += g.weight[i]
			}
		}
	}
	gather(g.nodes[p])
	for _, e := range g.elements[p] {
		gather(g.members[e])
		g.members[e] = nil
	}
	slices.Sort(clique)
	g.nodes[p], g.elements[p] = nil, nil

	for _, i := range clique {
		for _, e := range g.elements[i] {
			if g.members[e] == nil {
				continue
			}
			if g.seen[e] != g.stamp {
				g.seen[e] = g.stamp
				g.outside[e] = 0
				for _, j := range g.members[e] {
					g.outside[e] += g.weight[j]
				}
			}
			g.outside[e] -= g.weight[i]
		}
	}
	buckets := make(map[int][]int32) // nodes of the clique by a hash of their lists
	kept := clique[:0]
	for _, i := range clique {
		degree, hash := 0, int(p)
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
		if degree == 0 {
			size -= g.weight[i]
			g.left -= g.weight[i]
			g.weight[i] = 0
			order = g.appendMerged(order, i)
			continue
		}
		g.degree[i] = min(g.degree[i], degree) // + |L_p \ i| below
		kept = append(kept, i)
		g.hash[i] = hash
		buckets[hash] = append(buckets[hash], i)
	}
	for _, i := range kept {
		// Nodes are listed in ascending order and elements in the order in
		// which they came to be, so that equal sets are equal lists.
		for _, j := range buckets[g.hash[i]] {
			if j <= i || g.weight[i] == 0 || g.weight[j] == 0 {
				continue
			}
			if slices.Equal(g.elements[i], g.elements[j]) && slices.Equal(g.nodes[i], g.nodes[j]) {
				g.weight[i] += g.weight[j]
				g.weight[j] = 0
				g.merged[i] = append(g.merged[i], j)
			}
		}
	}
	final := kept[:0]
	for _, i := range kept {
		if g.weight[i] > 0 {
			g.degree[i] = min(g.degree[i]+size, g.left) - g.weight[i]
			final = append(final, i)
		}
	}
	g.members[p] = final
	return order
}
