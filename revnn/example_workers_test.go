package revnn_test

import (
	"fmt"
	"math/rand/v2"

	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revnn"
)

// shard is one worker's part of a classifier: some points, their labels, and what it
// computes from them.
type shard struct {
	X      rev.General[float64] // points, one a row
	Labels []int
	Scores rev.General[float64]
	Loss   float64
}

// classifier is the state of a linear classifier whose data lies in shards.
type classifier struct {
	W      rev.General[float64] // shared by all shards
	Shards []shard
}

// A classifier is trained by several workers, each with points of its own. In the adjoint
// each adds to a gradient of its own in place of the shared one, and these are summed in
// the order of the shards: the result has the same bits whatever the number of cores.
func Example_workers() {
	const dim, classes, shards, points = 3, 3, 4, 50
	rnd := rand.New(rand.NewPCG(1, 2))
	s := &classifier{W: rev.NewGeneral[float64](dim, classes, nil), Shards: make([]shard, shards)}
	for i := range s.Shards {
		x := rev.NewGeneral[float64](points, dim, nil)
		labels := make([]int, points)
		for p := range points {
			for j := range dim {
				x.Row(p)[j] = rnd.NormFloat64()
			}
			labels[p] = rnd.IntN(classes)
			x.Row(p)[labels[p]] += 3
		}
		s.Shards[i] = shard{X: x, Labels: labels, Scores: rev.NewGeneral[float64](points, classes, nil)}
	}

	var branches []rev.Step[classifier]
	for i := range shards {
		branches = append(branches, rev.Seq(
			rev.At(func(s *classifier) revlinalg.MatMul[float64] {
				return revlinalg.MatMul[float64]{C: s.Shards[i].Scores, A: s.Shards[i].X, B: s.W, Workers: 1}
			}),
			rev.At(func(s *classifier) revnn.CrossEntropy[float64] {
				return revnn.CrossEntropy[float64]{
					Out: &s.Shards[i].Loss, X: s.Shards[i].Scores, Labels: s.Shards[i].Labels, Workers: 1,
				}
			}),
		))
	}
	shared := []func(s *classifier) []float64{func(s *classifier) []float64 { return s.W.Data }}
	network := rev.ParallelShared(shared, branches...)

	for range 100 {
		if err := network.Forward(s); err != nil {
			fmt.Println(err)
			return
		}
		g := rev.ZeroLike(s)
		for i := range g.Shards {
			g.Shards[i].Loss = 1
			g.Shards[i].X = rev.General[float64]{} // nobody wants the gradient of the points
		}
		if err := network.Adjoint(s, g); err != nil { // scores and losses are zero again
			fmt.Println(err)
			return
		}
		for i, v := range g.W.Data {
			s.W.Data[i] -= 0.01 * v
		}
	}

	right := 0
	if err := network.Forward(s); err != nil {
		fmt.Println(err)
		return
	}
	for i := range s.Shards {
		for p, label := range s.Shards[i].Labels {
			best := 0
			for c, v := range s.Shards[i].Scores.Row(p) {
				if v > s.Shards[i].Scores.Row(p)[best] {
					best = c
				}
			}
			if best == label {
				right++
			}
		}
	}
	fmt.Printf("%d of %d points are classified right\n", right, shards*points)
	// Output:
	// 196 of 200 points are classified right
}
