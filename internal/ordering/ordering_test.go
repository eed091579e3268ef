package ordering

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// grid returns the neighbours of the points of a grid.
func grid(rows, cols int) [][]int32 {
	adj := make([][]int32, rows*cols)
	for i := range rows {
		for j := range cols {
			for _, d := range [][2]int{{-1, 0}, {0, -1}, {0, 1}, {1, 0}} {
				if p, q := i+d[0], j+d[1]; p >= 0 && p < rows && q >= 0 && q < cols {
					adj[i*cols+j] = append(adj[i*cols+j], int32(p*cols+q))
				}
			}
		}
	}
	return adj
}

// coupled returns what nodes of cliques are coupled to.
func coupled(n int, cliques [][]int32) [][]int32 {
	adj := make([][]int32, n)
	for _, list := range cliques {
		for _, i := range list {
			for _, j := range list {
				if i != j {
					adj[i] = append(adj[i], j)
				}
			}
		}
	}
	for i := range adj {
		slices.Sort(adj[i])
		adj[i] = slices.Compact(adj[i])
	}
	return adj
}

// fill eliminates nodes in an order, and returns how many couplings there are to later
// ones, and the first of them for each, -1 for none.
func fill(order []int32, adj [][]int32) (total int, parent []int32) {
	n := len(order)
	at, full := make([]int, n), make([][]bool, n)
	for k, i := range order {
		at[i] = k
	}
	for k, i := range order {
		full[k] = make([]bool, n)
		for _, j := range adj[i] {
			full[k][at[j]] = true
		}
	}
	parent = make([]int32, n)
	for k := range n {
		parent[k] = -1
		for i := n - 1; i > k; i-- {
			if !full[k][i] {
				continue
			}
			total++
			parent[k] = int32(i)
			for j := k + 1; j < n; j++ {
				full[i][j] = full[i][j] || j != i && full[k][j]
			}
		}
	}
	return total, parent
}

func random(rnd *rand.Rand, n, lists, most int) [][]int32 {
	cliques := make([][]int32, lists)
	for c := range cliques {
		for range rnd.IntN(most + 1) {
			cliques[c] = append(cliques[c], int32(rnd.IntN(n)))
		}
		slices.Sort(cliques[c])
		cliques[c] = slices.Compact(cliques[c])
	}
	return cliques
}

// chooseLeast returns the fill of eliminating a node of least degree each time, with exact
// degrees.
func chooseLeast(adj [][]int32) int {
	n := len(adj)
	set := make([]map[int32]bool, n)
	for i := range adj {
		set[i] = map[int32]bool{}
		for _, j := range adj[i] {
			set[i][j] = true
		}
	}
	total := 0
	for range n {
		p := -1
		for i, s := range set {
			if s != nil && (p < 0 || len(s) < len(set[p])) {
				p = i
			}
		}
		total += len(set[p])
		for i := range set[p] {
			delete(set[i], int32(p))
			for j := range set[p] {
				if j != i {
					set[i][j] = true
				}
			}
		}
		set[p] = nil
	}
	return total
}

func TestMinimumDegree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	type problem struct {
		name         string
		n            int
		adj, cliques [][]int32
	}
	problems := []problem{
		{name: "nothing"}, {name: "single", n: 1}, {name: "apart", n: 5, adj: make([][]int32, 5)},
		{name: "grid", n: 400, adj: grid(20, 20)}, {name: "grid of cliques", n: 225, cliques: func() [][]int32 {
			adj := grid(15, 15)
			for i := range adj {
				adj[i] = append(adj[i], int32(i))
				slices.Sort(adj[i])
			}
			return adj
		}()},
		{name: "one clique", n: 30, cliques: [][]int32{func() (all []int32) {
			for i := range int32(30) {
				all = append(all, i)
			}
			return all
		}()}},
	}
	for range 30 {
		n := 1 + rnd.IntN(60)
		cliques := random(rnd, n, n, 5)
		problems = append(problems, problem{fmt.Sprintf("cliques %d", n), n, nil, cliques})
		problems = append(problems, problem{fmt.Sprintf("coupled %d", n), n, coupled(n, cliques), nil})
		problems = append(problems, problem{fmt.Sprintf("both %d", n), n, coupled(n, random(rnd, n, n/3, 3)), cliques})
	}
	for _, p := range problems {
		var weights []int
		for range p.n {
			weights = append(weights, 1+rnd.IntN(5))
		}
		all := coupled(p.n, p.cliques)
		for i := range p.adj {
			all[i] = append(all[i], p.adj[i]...)
			slices.Sort(all[i])
			all[i] = slices.Compact(all[i])
		}
		least := chooseLeast(all)
		for _, w := range [][]int{nil, weights} {
			order, counts := MinimumDegree(p.n, w, p.adj, p.cliques)
			sorted := slices.Sorted(slices.Values(order))
			for i, v := range sorted {
				if int(v) != i || len(sorted) != p.n {
					t.Fatalf("%s: not a permutation: %v", p.name, order)
				}
			}
			got, parent := fill(order, all)
			if w == nil && got > least+least/4+10 {
				t.Errorf("%s: %d couplings, where exact degrees leave %d", p.name, got, least)
			}
			testTree(t, p.name, order, all, parent)
			sum := 0
			for _, c := range counts {
				sum += c
			}
			if w == nil && (len(counts) != p.n || sum < got/2 || sum > 2*(got+p.n)) {
				t.Errorf("%s: the counts sum to %d, for %d couplings", p.name, sum, got)
			}
		}
	}
}

// testTree compares Tree with the parents that elimination has, and looks through Postorder.
func testTree(t *testing.T, name string, order []int32, adj [][]int32, want []int32) {
	t.Helper()
	position := make([]int32, len(order))
	for k, i := range order {
		position[i] = int32(k)
	}
	parent := Tree(len(order), func(k int32, yield func(int32)) {
		for _, j := range adj[order[k]] {
			yield(position[j])
		}
	})
	if !slices.Equal(parent, want) {
		t.Fatalf("%s: tree %v, want %v", name, parent, want)
	}
	post := Postorder(parent)
	at, size := make([]int, len(post)), make([]int, len(post))
	for k, i := range post {
		at[i] = k
	}
	if len(post) != len(parent) {
		t.Fatalf("%s: %d nodes in postorder, want %d", name, len(post), len(parent))
	}
	for _, i := range post {
		size[i]++
		if p := parent[i]; p >= 0 {
			size[p] += size[i]
		}
	}
	for i, p := range parent {
		if p >= 0 && (at[i] >= at[p] || at[i] <= at[p]-size[p]) {
			t.Fatalf("%s: node %d is not in the range of its parent %d", name, i, p)
		}
	}
}

// Time is about linear in the couplings.
func BenchmarkMinimumDegree(b *testing.B) {
	adj := grid(300, 300)
	for b.Loop() {
		MinimumDegree(len(adj), nil, adj, nil)
	}
}
