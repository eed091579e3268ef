package ordering

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQuotient compares the quotient graph, after each elimination, with the graph of all
// couplings. Its degrees are bounds, and exact for nodes of at most two elements.
func TestQuotient(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	for problem := range 200 {
		n := 1 + rnd.IntN(40)
		adj, cliques := coupled(n, random(rnd, n, rnd.IntN(n+1), 3)), random(rnd, n, problem%2*n/2, 5)
		weights := make([]int, n)
		graph := make([]map[int32]bool, n) // what each node is coupled to
		both := coupled(n, cliques)
		for i := range n {
			weights[i] = 1 + rnd.IntN(3)
			graph[i] = map[int32]bool{}
			for _, j := range slices.Concat(adj[i], both[i]) {
				graph[i][j] = true
			}
		}
		weigh := func(set map[int32]bool) (sum int) {
			for i := range set {
				sum += weights[i]
			}
			return sum
		}
		order, counts := MinimumDegree(n, weights, adj, cliques)
		g := newQuotient(n, weights, adj, cliques)
		check := func() {
			t.Helper()
			left := 0
			for i, w := range g.weight {
				if w == 0 {
					continue
				}
				left += w
				own, all := map[int32]bool{}, map[int32]bool{}
				for _, j := range g.appendMerged(nil, int32(i)) {
					own[j] = true
				}
				elements := 0
				list := slices.Clone(g.nodes[i])
				for _, e := range g.elements[i] {
					if g.members[e] != nil {
						elements++
						list = append(list, g.members[e]...)
					}
				}
				for _, j := range append(list, int32(i)) {
					if g.weight[j] > 0 {
						for _, k := range g.appendMerged(nil, j) {
							all[k] = true
						}
					}
				}
				delete(all, int32(i))
				if !maps.Equal(all, graph[i]) {
					t.Fatalf("problem %d: node %d is coupled to %v, want %v", problem, i, all, graph[i])
				}
				degree := weights[i] + weigh(graph[i]) - weigh(own)
				if w != weigh(own) || g.degree[i] < degree || g.degree[i] > degree && (problem%2 == 0 && elements <= 2 || elements == 1 && len(g.nodes[i]) == 0) {
					t.Errorf("problem %d: node %d of weight %d and %d elements has degree %d, want %d", problem, i, w, elements, g.degree[i], degree)
				}
			}
			if g.left != left {
				t.Errorf("problem %d: weight %d is left, want %d", problem, g.left, left)
			}
		}
		check()
		for done := 0; done < n; {
			least := n * 3
			for i, w := range g.weight {
				if w > 0 {
					least = min(least, g.degree[i])
				}
			}
			p := g.pop()
			if g.weight[p] == 0 || g.degree[p] != least {
				t.Fatalf("problem %d: node %d of weight %d and degree %d is next, the least degree is %d", problem, p, g.weight[p], g.degree[p], least)
			}
			if want := weights[p] + weigh(graph[p]); counts[done] != want {
				t.Errorf("problem %d: %d couplings of node %d, want %d", problem, counts[done], p, want)
			}
			gone := g.eliminate(g.appendMerged(nil, p), p)
			if !slices.Equal(gone, order[done:done+len(gone)]) {
				t.Errorf("problem %d: eliminates %v at %d of %v", problem, gone, done, order)
			}
			done += len(gone)
			for k, i := range g.members[p] {
				for _, j := range g.members[p][:k] {
					if slices.Equal(alive(g, i), alive(g, j)) {
						t.Errorf("problem %d: nodes %d and %d are not merged", problem, j, i)
					}
				}
			}
			for _, p := range gone {
				for i := range graph[p] {
					maps.Copy(graph[i], graph[p])
					delete(graph[i], i)
					delete(graph[i], p)
				}
			}
			check()
		}
	}
}

// alive returns the elements and nodes that node i is coupled by, without those that are gone.
// -1 is between elements and nodes.
func alive(g *quotient, i int32) []int32 {
	elements := slices.DeleteFunc(slices.Clone(g.elements[i]), func(e int32) bool { return g.members[e] == nil })
	nodes := slices.DeleteFunc(slices.Clone(g.nodes[i]), func(j int32) bool { return g.weight[j] == 0 })
	return slices.Concat(elements, []int32{-1}, nodes)
}
