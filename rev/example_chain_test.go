package rev_test

import (
	"fmt"

	"revnum/rev"
)

// grow is the kernel y += r·x·(1-x), a population after a year. Two values of x give
// the same y, so the step x <- r·x·(1-x) is not reversible.
type grow struct {
	Y    *float64 `rev:"acc"`
	X, R *float64 `rev:"in"`
}

func (k grow) Run(p rev.Pass[grow]) error {
	x := *k.X
	*k.Y += float64(float64(p.Sign()) * *k.R * x * (1 - x)) // rounded before it is added
	if g := p.G; g.Y != nil {
		*g.X += float64(*k.R * (1 - 2*x) * *g.Y)
		*g.R += float64(x * (1 - x) * *g.Y)
	}
	return nil
}

// colony is the state: the population x at the start, y at the end, and growth r.
type colony struct{ x, y, r float64 }

var colonyChain = rev.Chain[colony, float64]{
	Step:  rev.At(func(s *colony) grow { return grow{Y: &s.y, X: &s.x, R: &s.r} }),
	X:     func(s *colony) *float64 { return &s.x },
	Y:     func(s *colony) *float64 { return &s.y },
	Count: func(*colony) int { return 64 },
}

func population(s *colony) *float64 { return &s.y }

// This computes the population after 64 years and its gradient.
func ExampleBennett() {
	years := rev.Bennett(colonyChain, 4)
	s, g := &colony{x: 0.2, r: 2.5}, new(colony)
	y, err := rev.ValueGradient(years, population, s, g)
	fmt.Printf("y = %.4f, by r %.4f, %v\n", y, g.r, err)
	for _, k := range []int{2, 4, 8} {
		steps, states := rev.BennettCost(64, k)
		fmt.Printf("k = %d: %d steps, %d states\n", k, steps, states)
	}
	// Output:
	// y = 0.6000, by r 0.1600, <nil>
	// k = 2: 729 steps, 8 states
	// k = 4: 343 steps, 11 states
	// k = 8: 225 steps, 16 states
}

// This computes the same with checkpoints.
func ExampleTreeverse() {
	years := rev.Treeverse(colonyChain, rev.Limit{Snapshots: 4})
	s, g := &colony{x: 0.2, r: 2.5}, new(colony)
	y, err := rev.ValueGradient(years, population, s, g)
	fmt.Printf("y = %.4f, by r %.4f, %v\n", y, g.r, err)
	for _, snapshots := range []int{1, 4, 8} {
		runs, states := rev.TreeverseCost(64, snapshots)
		fmt.Printf("%d snapshots: %d steps ahead, %d states\n", snapshots, runs, states)
	}
	// Output:
	// y = 0.6000, by r 0.1600, <nil>
	// 1 snapshots: 2016 steps ahead, 3 states
	// 4 snapshots: 200 steps ahead, 6 states
	// 8 snapshots: 137 steps ahead, 10 states
}
