package graphembed

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/suite"
	"revnum/revmodels/graphembed"
)

const (
	// fixed is the number of vertices that do not move, as in the paper.
	fixed = 2

	// reached is the loss below which a start has found an embedding.
	reached = 1e-20

	// atOnce is the number of starts between two reports of progress.
	atOnce = 20
)

// Row is what the experiment found in one number of dimensions. A missing number is NaN
// in memory and null in JSON, for example the distance of unconnected pairs in a
// complete graph.
type Row struct {
	K       int           `json:"k"`
	Losses  []suite.Error `json:"losses"`     // of the starts, ascending; starts without a loss are last
	Reached int           `json:"reached"`    // starts with a loss below 1e-20
	Steps   int           `json:"steps"`      // median number of steps of a start: Hessians of Newton's method
	Most    int           `json:"most_steps"` // largest number of steps of a start that reached 0
	Near    suite.Error   `json:"l1"`         // mean distance of connected pairs in the best embedding
	Far     suite.Error   `json:"l2"`         // that of the others
	Ratio   suite.Error   `json:"ratio"`      // l2/l1
	Spread  suite.Error   `json:"spread"`     // the largest deviation from l1 or l2, relative to it

	Derivatives

	best *mat.Dense // the coordinates of all vertices
}

// Report is all that the experiment found.
type Report struct {
	Machine  machine.Machine `json:"machine"`
	Graph    string          `json:"graph"`
	Vertices int             `json:"vertices"`
	Edges    int             `json:"edges"`
	Fixed    int             `json:"fixed"` // vertices that are held
	Starts   int             `json:"starts"`
	Seed     uint64          `json:"seed"`
	Method   string          `json:"method"`
	Rows     []Row           `json:"rows"`
	Large    []suite.Result  `json:"large"` // of a large random graph

	graph  *Graph
	method graphembed.Method
}

// Methods are the names of the methods that minimise.
var Methods = []string{graphembed.Newton.String(), graphembed.LBFGS.String(), graphembed.Adam.String()}

// NewReport returns a report without rows yet. The method is one of Methods.
func NewReport(g *Graph, method string, starts int, seed uint64) (*Report, error) {
	m := slices.Index(Methods, method)
	if m < 0 {
		return nil, fmt.Errorf("expected one of %s, found %q", strings.Join(Methods, ", "), method)
	}
	return &Report{
		Graph: g.Name, Vertices: g.Order(), Edges: g.Edges(), Fixed: min(fixed, g.Order()), Starts: starts, Seed: seed,
		Method: method, graph: g, method: graphembed.Method(m),
	}, nil
}

// Run adds the row of k dimensions. It measures each time for about d. From time to
// time it calls done with the number of finished starts.
func (r *Report) Run(ctx context.Context, k int, d time.Duration, done func(starts int)) error {
	row := Row{K: k}
	var best *graphembed.Embedding
	var steps []float64
	for from := 0; from < r.Starts; from += atOnce {
		n := min(atOnce, r.Starts-from)
		e, err := graphembed.Embed(ctx, r.graph.Graph, k, &graphembed.Options{
			Method: r.method, Fixed: r.Fixed, Starts: n, Source: rand.NewPCG(r.Seed, uint64(k)<<32|uint64(from)),
		})
		if err != nil {
			return fmt.Errorf("%s in %d dimensions: %w", r.Graph, k, err)
		}
		for _, s := range e.Starts {
			row.Losses = append(row.Losses, suite.Error(s.Loss))
			steps = append(steps, float64(s.Iterations))
			if s.Loss < reached {
				row.Reached++
				row.Most = max(row.Most, s.Iterations)
			}
		}
		if best == nil || e.Loss < best.Loss {
			best = e
		}
		done(n)
	}
	slices.SortFunc(row.Losses, func(a, b suite.Error) int {
		switch {
		case a < b || math.IsNaN(float64(b)) && !math.IsNaN(float64(a)):
			return -1
		case b < a || math.IsNaN(float64(a)) && !math.IsNaN(float64(b)):
			return 1
		}
		return 0
	})
	slices.Sort(steps)
	row.Steps = int(stat.Quantile(0.5, stat.Empirical, steps, nil))
	row.best = best.X
	row.classes(best.Connected, best.Apart)
	row.Derivatives = measureDerivatives(r.graph.Graph, k, r.Seed, d)
	r.Rows = append(r.Rows, row)
	return nil
}

// classes sets the distances of the two kinds of pairs.
func (row *Row) classes(near, far graphembed.Class) {
	row.Near, row.Far = suite.Error(math.NaN()), suite.Error(math.NaN())
	for _, c := range []struct {
		graphembed.Class
		mean *suite.Error
	}{{near, &row.Near}, {far, &row.Far}} {
		if c.Pairs > 0 {
			*c.mean = suite.Error(c.Mean)
			row.Spread = max(row.Spread, suite.Error(max(c.Max-c.Mean, c.Mean-c.Min)/c.Mean))
		}
	}
	row.Ratio = row.Far / row.Near
}

// median returns the median loss.
func (row *Row) median() float64 { return float64(row.Losses[(len(row.Losses)-1)/2]) }
