package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/cluster/shard"
	"revnum/internal/memory"
	shared "revnum/program"
	"revnum/revmodels/gmm"
)

// timed is a Reducer that measures the time of its calls.
type timed struct {
	cluster.Reducer
	inside  time.Duration
	calls   int
	numbers int // most of a Sum
}

func (t *timed) Sum(x []int64) error {
	t.numbers = max(t.numbers, len(x))
	defer t.since(time.Now())
	return t.Reducer.Sum(x)
}

func (t *timed) Broadcast(b []byte) error {
	defer t.since(time.Now())
	return t.Reducer.Broadcast(b)
}

func (t *timed) since(begin time.Time) {
	t.inside += time.Since(begin)
	t.calls++
}

// rowsInMemory is the number of rows that repeat.
const rowsInMemory = 1 << 14

// repeated is a shard with the given number of rows. They repeat the rows of a matrix.
type repeated struct {
	*mat.Dense
	rows int
}

func (f repeated) Name() string           { return "repeated points" }
func (f repeated) Dims() (rows, cols int) { _, d := f.Dense.Dims(); return f.rows, d }
func (f repeated) Close() error           { return nil }

// Read implements shard.File.
func (f repeated) Read(dst []float64, first int) error {
	n, d := f.Dense.Dims()
	for i := range len(dst) / d {
		copy(dst[i*d:(i+1)*d], f.RawRowView((first+i)%n))
	}
	return nil
}

// A spread is the least and the median of some times.
type spread struct{ least, median time.Duration }

func newSpread(times []time.Duration) spread {
	slices.Sort(times)
	return spread{times[0], times[len(times)/2]}
}

// exchange returns the times of a sum of one number over the ranks, of a reduction of the
// moments of a mixture, and of a broadcast of the given number of bytes with a reduction.
// A rank that begins late waits less for the others, and one that begins early more. The
// time is therefore the mean of many exchanges, each of which begins when the one before has
// ended.
func (p *program) exchange(k, d, bytes int) (message, reduction, both spread, err error) {
	const times, chain = 30, 20
	n := 1 + k*(1+d+d*d)
	s, x, b, one := cluster.NewSums(n), make([]float64, n), make([]byte, bytes), []int64{1}
	for i := range x {
		x[i] = math.Sin(float64(i+p.r.Rank())) * 1e4
		if j := i - (1 + k*(1+d)); j >= 0 && j%d > j/d%d {
			x[i] = 0 // above the diagonal of a second moment
		}
	}
	var of [3][]time.Duration
	for i := range 3 * (1 + times) {
		var inside time.Duration
		for range chain {
			s.Reset()
			s.Add(x)
			begin := time.Now()
			switch i % 3 {
			case 0:
				err = p.r.Sum(one)
			case 1:
				err = s.Reduce(p.r, nil)
			case 2:
				if err = p.r.Broadcast(b); err == nil {
					err = s.Reduce(p.r, nil)
				}
			}
			if err != nil {
				return message, reduction, both, err
			}
			inside += time.Since(begin)
		}
		if i >= 3 { // the first of each allocate memory
			of[i%3] = append(of[i%3], inside/chain)
		}
	}
	return newSpread(of[0]), newSpread(of[1]), newSpread(of[2]), nil
}

func (p *program) newMeasure() *cobra.Command {
	perRank, d, k, block, workers, iterations := 100000, 10, 20, shard.DefaultBlock, 1, 30
	cmd := &cobra.Command{
		Use:   "measure",
		Short: "Measure what an iteration costs on these machines",
		Long: `measure takes steps of expectation maximisation on points that it makes. It prints the
time of an iteration, and how much of it rank 0 spent in sums and broadcasts over the
ranks. That includes the time in which rank 0 waits for slower ranks. It also prints the
time of a reduction as large as that of an iteration, and of a broadcast with a reduction,
without such waiting: 30 times it makes 20 of them one after the other, and it prints the
least and the median of the 30 means.`,
		Example: `  mpirun -n 4 revcluster measure --points 100000`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			columns := float64(d)
			if err := cluster.Agree(p.r, memory.Check(rowsInMemory*columns, fmt.Sprintf("--columns: points of %d columns", d))); err != nil {
				return err
			}
			if err := p.checkMemory("components", k, 1+columns+columns*columns, fmt.Sprintf("components in %d dimensions", d)); err != nil {
				return err
			}
			rnd := rand.New(rand.NewPCG(1, 1))
			base := mat.NewDense(rowsInMemory, d, nil)
			for i := range rowsInMemory {
				for j := range d {
					base.Set(i, j, 3*math.Sin(float64((i%k)*(j+1)))+rnd.NormFloat64())
				}
			}
			t := &timed{Reducer: p.r}
			points, err := cluster.NewPoints(t, workers, func() (*shard.Set, error) {
				return shard.NewSet(block, repeated{base, perRank * p.r.Size()})
			})
			if err != nil {
				return err
			}
			p.header(cmd.OutOrStdout(), points)
			means := mat.DenseCopyOf(base.Slice(0, k, 0, d))
			var first, last time.Time
			var inside time.Duration
			var calls int
			opts := &gmm.Options{MaxIter: iterations, Tolerance: math.SmallestNonzeroFloat64, InitMeans: means, Progress: func(i gmm.Iteration) {
				if i.Iteration == 0 { // the first iteration allocates memory
					first, inside, calls = time.Now(), t.inside, t.calls
				}
				if i.Iteration == 2 { // the sizes of the sums were not known before
					t.numbers = 0
				}
				last = time.Now()
				iterations = i.Iteration
			}}
			if _, _, err := cluster.FitGMM(p.ctx, points, k, 1, opts, nil); err != nil {
				return err
			}
			inside, calls = t.inside-inside, t.calls-calls
			numbers := t.numbers
			message, reduction, both, err := p.exchange(k, d, 8*(k*(1+d+d*d)+2*d))
			if err != nil {
				return err
			}
			if p.r.Rank() != 0 {
				return nil
			}
			iteration := last.Sub(first) / time.Duration(max(iterations, 1))
			each := inside / time.Duration(max(iterations, 1))
			share := func(d time.Duration) float64 { return 100 * float64(d) / float64(iteration) }
			fmt.Fprintf(cmd.OutOrStdout(), "iteration %v\n", iteration)
			fmt.Fprintf(cmd.OutOrStdout(), "  %d calls over ranks %v, %.2f %%, with waiting for the slowest rank\n", calls/max(iterations, 1), each, share(each))
			for _, v := range []struct {
				what string
				of   spread
			}{{"reduction", reduction}, {"broadcast and reduction", both}} {
				fmt.Fprintf(cmd.OutOrStdout(), "  %s: least %v, %.2f %%; median %v, %.2f %%\n", v.what, v.of.least, share(v.of.least), v.of.median, share(v.of.median))
			}
			fmt.Fprintf(cmd.OutOrStdout(), "a reduction of the fit sends %d integers\n", numbers)
			fmt.Fprintf(cmd.OutOrStdout(), "sum of one number: least %v, median %v\n", message.least, message.median)
			return nil
		},
	}
	shared.IntFlag(cmd, &perRank, "points", "", perRank, 1, min(1<<40, math.MaxInt), "points of each rank")
	shared.IntFlag(cmd, &d, "columns", "", d, 1, 1<<20, "coordinates of a point")
	shared.IntFlag(cmd, &k, "components", "k", k, 1, rowsInMemory, "number of components")
	blockFlag(cmd, &block, block, "rows of a block")
	workersFlag(cmd, &workers, workers)
	shared.IntFlag(cmd, &iterations, "iterations", "", iterations, 1, shared.MaxIterations, "number of iterations")
	return cmd
}
