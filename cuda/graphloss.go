package cuda

import (
	"fmt"
	"math"
	"strconv"

	"revnum/fixed"
	"revnum/rev"
)

// GraphLoss is the kernel
//
//	Out += L
//
// of graphembed.Loss, where L is the misfit of an embedding of a graph into k dimensions:
//
//	L = Var(dist(E)) + Var(dist(N)) + exp(relu(z)) - 1
//	z = mean dist(E) - mean dist(N) + margin
//
// where dist(E) are the distances of the connected pairs and dist(N) those of the others. The
// first vertices of the graph are the rows of Fixed, and the others the rows of Free. Leave Fixed
// nil among the cotangents to hold the first ones. With the mean m of the n pairs of a kind, a
// pair with the distance d and u = (x_j - x_i)/d adds w·u to x̄_j and subtracts it from x̄_i,
//
//	w = Ōut·(2/(n-1)·(d - m) + β),  β = exp(z)/n for connected pairs, -exp(z)/n for others.
//
// Its tangent in the direction ẋ, with ḋ = u·(ẋ_j - ẋ_i), adds ẇ·u + w·(ẋ_j - ẋ_i - u·ḋ)/d. The
// documentation of graphembed.Loss says what counts where there is no derivative.
//
// A pass goes over the pairs twice, once for the means. A thread has a vertex and goes over all
// others, so that derivatives compute each pair from both ends. Scratch memory is that of the
// coordinates, and of cotangents for as many vertices, or for 2²⁰ where the graph has fewer.
//
// In floating point the errors are those of graphembed.Loss. Means and variances are summed in
// float64. A distance whose square underflows counts as 0. Over Q43 all passes have the bits of
// the CPU, if distances are in range.
//
// Methods panic with mat.ErrShape if the operands do not have the graph's order or the same k. A
// Graph that is not on the device of the operands is an error. The equation is that of Liu and
// Zhao, arXiv 2003.04617, appendix D.2.
type GraphLoss[T rev.Real] struct {
	Out   *T         `rev:"acc"`                     // the loss L
	Fixed General[T] `rev:"in,optional" shape:"m,k"` // the first vertices, one a row
	Free  General[T] `rev:"in" shape:"r,k"`          // the other r

	Graph  *Graph
	Margin float64 // by which the mean of the longer distances should exceed that of the others
}

// Run implements rev.Kernel. It returns the errors of the device.
func (k GraphLoss[T]) Run(p rev.Pass[GraphLoss[T]]) error {
	if n := k.Fixed.Rows + k.Free.Rows; n != k.Graph.n {
		panic(rev.ShapeError[GraphLoss[T]]("Free", "and Fixed have %d rows, want %d, one for each vertex", n, k.Graph.n))
	}
	if k.Graph.n == 0 {
		return nil
	}
	w := begin(&k, &p)
	if w.dev != nil && deviceOf(k.Graph.ptr.address()) != w.dev {
		w.fail(fmt.Errorf("cuda: the graph is not in the memory of device %d, on which the operands are", w.dev.number))
	}
	k.sweep(&w, p.Sign(), &p.G, &p.T, &p.GT)
	return w.end()
}

const (
	graphThreads = 128 // as in kernels/graph.cu, and what follows
	graphGroup   = 8
	graphBlocks  = 1 << 13 // in parts of the vertices
)

// rows returns the operands as kernels/graph.cu takes them.
func (k *GraphLoss[T]) rows() []uint64 {
	return []uint64{uint64(k.Fixed.Data.address()), uint64(k.Fixed.Stride), uint64(k.Free.Data.address()), uint64(k.Free.Stride)}
}

func (k *GraphLoss[T]) hasPositions() bool { return k.Fixed.Data != nil || k.Free.Data != nil }

// sweep makes a pass. Its launches depend on the shape alone.
func (k *GraphLoss[T]) sweep(w *pass, sign int, g, t, gt *GraphLoss[T]) {
	tangents := t.hasPositions()
	second := gt.hasPositions() && tangents && g.Out != nil
	toG, toGT := g.Out != nil && g.hasPositions(), gt.hasPositions() && (gt.Out != nil || second)
	toT := tangents && t.Out != nil
	if k.Out == nil && !toT && !toG && !toGT {
		return
	}
	n, dim, m := k.Graph.n, k.Free.Cols, k.Fixed.Rows

	// A block has up to graphThreads vertices, a part of the others, and a group of coordinates.
	threads := min((n+warp-1)/warp*warp, graphThreads)
	blocks := (n + threads - 1) / threads
	parts := min(max(1, graphBlocks/blocks), (n+warp-1)/warp)
	groups := 1
	if toG || toGT {
		groups = max(1, (dim+graphGroup-1)/graphGroup)
	}

	var totals, kinds Memory[uint64]
	var x, v, ofG, ofGT Memory[T]
	var a arena
	for range 2 { // count, then take
		totals = take[uint64](&a, 10*blocks*parts) // up to five numbers of 16 bytes, which are aligned
		kinds = take[uint64](&a, 16)
		x = take[T](&a, n*dim)
		if toT || second {
			v = take[T](&a, n*dim)
		}
		if toG {
			ofG = take[T](&a, parts*n*dim)
		}
		if toGT {
			ofGT = take[T](&a, parts*n*dim)
		}
		if a.at == 0 {
			a = arena{at: w.room(1, int(a.used))}
		}
		if w.err != nil || w.dev == nil {
			return
		}
	}

	pack := func(to Memory[T], from *GraphLoss[T]) {
		w.launch(typed[T]("packVertices"), vectorGrid(n*dim), append([]uint64{uint64(to.address()), uint64(n), uint64(dim), uint64(m)}, from.rows()...)...)
	}
	pack(x, k)
	if v != nil {
		pack(v, t)
	}
	vertices := []uint64{
		uint64(totals.address()), uint64(n), uint64(dim), uint64(x.address()), uint64(v.address()),
		uint64(k.Graph.ptr.address()), uint64(k.Graph.list.address()), uint64(blocks), uint64(parts),
	}
	name := func(kernel string) string {
		if isFixed[T]() || dim != 2 && dim != 3 {
			return typed[T](kernel + "Many")
		}
		return typed[T](kernel + strconv.Itoa(dim))
	}
	on := func(groups int) grid { return grid{[3]int{blocks * parts * groups, 1, 1}, [3]int{threads, 1, 1}} }
	end := blockOf(blocks * parts)
	w.launch(name("graphMeans"), on(1), vertices...)
	margin := math.Float64bits(k.Margin)
	if isFixed[T]() {
		margin = uint64(fixed.FromFloat64Sat(k.Margin))
	}
	w.launch(typed[T]("graphKinds"), end, uint64(kinds.address()), uint64(totals.address()), uint64(blocks*parts),
		uint64(k.Graph.pairs-k.Graph.edges), uint64(k.Graph.edges), margin)
	forces := "graphForces"
	if toGT || toG && v != nil {
		forces = "graphSecond"
	}
	w.launch(name(forces), on(groups), append(vertices, uint64(kinds.address()),
		pointer(g.Out), pointer(gt.Out), uint64(ofG.address()), uint64(ofGT.address()))...)
	var tout *T
	if toT {
		tout = t.Out
	}
	w.launch(typed[T]("graphEnd"), end, pointer(k.Out), pointer(tout), uint64(sign), uint64(totals.address()), uint64(blocks*parts), uint64(kinds.address()))
	collect := func(to *GraphLoss[T], from Memory[T]) {
		if from != nil {
			w.launch(typed[T]("addForces"), vectorGrid(n*dim), append(to.rows(), uint64(n), uint64(dim), uint64(m), uint64(from.address()), uint64(parts))...)
		}
	}
	collect(g, ofG)
	collect(gt, ofGT)
}
