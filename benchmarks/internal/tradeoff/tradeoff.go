package tradeoff

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"revnum/benchmarks/internal/machine"
	"revnum/rev"
)

// Report holds the results of all runs.
type Report struct {
	Machine machine.Machine `json:"machine"`
	State   int             `json:"state_bytes"` // of one state
	Rows    []Row           `json:"rows"`
}

// Row says what one gradient took.
type Row struct {
	Way    string `json:"way"`
	Length int    `json:"length"` // n
	Runs   Runs   `json:"runs"`
	// States is the largest number of states at one time, including x and y. Cotangents
	// do not count.
	States int     `json:"states"`
	Time   float64 `json:"seconds"`
	Bytes  int     `json:"bytes"` // allocated by one gradient
}

// Steps returns all runs of a step.
func (r *Row) Steps() int { return r.Runs.Ahead + r.Runs.Back + r.Runs.Adjoint }

// A way is a method that computes a gradient.
type way struct {
	name     string
	gradient func(s, g *orbits) error // of w·fⁿ(x), where w is g.y, added to g.x
	states   func(n int) int
}

// Ways returns the names of the ways.
func Ways() []string {
	var names []string
	for _, w := range ways() {
		names = append(names, w.name)
	}
	return names
}

func ways() []way {
	all := []way{{"recording", record, func(n int) int { return n + 1 }}}
	for _, k := range []int{2, 4} {
		p := rev.Bennett(chain, k)
		all = append(all, way{fmt.Sprintf("Bennett, k = %d", k), adjointOf(p), func(n int) int {
			_, states := rev.BennettCost(n, k)
			return states
		}})
	}
	for _, d := range []int{3, 10} {
		p := rev.Treeverse(chain, rev.Limit{Snapshots: d})
		all = append(all, way{fmt.Sprintf("treeverse, %d snapshots", d), adjointOf(p), func(n int) int {
			_, states := rev.TreeverseCost(n, d)
			return states + 1 // y
		}})
	}
	return append(all, way{"reversible steps", reverse, func(int) int { return 1 }})
}

// adjointOf returns the gradient by the adjoint of a chain. The step does not read y,
// so the chain need not run ahead first.
func adjointOf(p rev.Step[orbits]) func(s, g *orbits) error { return p.Adjoint }

// record keeps all states in memory.
func record(s, g *orbits) error {
	states := [][]float64{s.x}
	for i := range s.n {
		y := make([]float64, len(s.x))
		if err := rev.Forward(leap{Y: y, X: states[i], Mu: s.mu, runs: s.runs}); err != nil {
			return err
		}
		states = append(states, y)
	}
	bar, next := slices.Clone(g.y), make([]float64, len(g.y))
	for i := s.n - 1; i >= 0; i-- {
		clear(next)
		k := leap{X: states[i], Mu: s.mu, runs: s.runs}
		if err := rev.Adjoint(k, leap{Y: bar, X: next}); err != nil {
			return err
		}
		bar, next = next, bar
	}
	copy(g.x, bar)
	return nil
}

// reverse steps in place to the end and back.
func reverse(s, g *orbits) error {
	k := stepsOf(s.x, s.mu, s.n)
	if err := k.Forward(); err != nil {
		return err
	}
	copy(g.x, g.y)
	s.runs.Ahead, s.runs.Adjoint = s.runs.Ahead+s.n, s.runs.Adjoint+s.n
	return k.Adjoint(stepsOf(g.x, rev.Vector[float64]{}, s.n))
}

// Measure measures each way at each length, each for about the given time, until ctx is
// done. It calls done after each row.
func Measure(ctx context.Context, lengths []int, budget time.Duration, done func(Row)) error {
	for _, n := range lengths {
		for _, w := range ways() {
			if err := ctx.Err(); err != nil {
				return err
			}
			row, err := measure(w, n, budget)
			if err != nil {
				return fmt.Errorf("%s, %d steps: %w", w.name, n, err)
			}
			done(row)
		}
	}
	return nil
}

func measure(w way, n int, budget time.Duration) (Row, error) {
	row := Row{Way: w.name, Length: n, States: w.states(n)}
	run := func() error {
		s, g := newOrbits(n), newOrbits(n)
		clear(g.x)
		g.y[0] = 1
		g.mu, g.runs = rev.Vector[float64]{}, nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		if err := w.gradient(s, g); err != nil {
			return err
		}
		seconds := time.Since(start).Seconds()
		runtime.ReadMemStats(&after)
		if row.Time == 0 || seconds < row.Time {
			row.Time = seconds
		}
		row.Runs, row.Bytes = *s.runs, int(after.TotalAlloc-before.TotalAlloc)
		return nil
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for begin, i := time.Now(), 0; i < 2 || time.Since(begin) < budget; i++ {
		if err := run(); err != nil {
			return row, err
		}
	}
	return row, nil
}

// StateBytes returns the size of a state in bytes.
func StateBytes() int { return 8 * len(newOrbits(1).x) }
