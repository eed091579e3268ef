package command

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/cluster/shard"
	"revnum/revmodels/gmm"
)

// timed is a Reducer that knows how much time its calls took.
type timed struct {
	cluster.Reducer
	inside time.Duration
	calls  int
}

func (t *timed) Sum(x []int64) error {
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

// repeated is a shard of so many rows that repeat those of a matrix.
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

func (p *program) newMeasure() *cobra.Command {
	perRank, d, k, block, workers, iterations := 100000, 10, 20, shard.DefaultBlock, 1, 30
	cmd := &cobra.Command{
		Use:   "measure",
		Short: "Measure what an iteration costs on these machines",
		Long: `measure takes steps of expectation maximisation on points that it makes, and prints the
time of an iteration, and how much of it rank 0 spent in sums and broadcasts over the
ranks. That includes the time in which it waits for slower ranks. The time of one message
is that of a barrier: a sum of one number, right after another one.`,
		Example: `  mpirun -n 4 revcluster measure --points 100000`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if perRank < 1 || d < 1 || k < 1 || iterations < 1 || block < 1 {
				return fmt.Errorf("expected positive numbers of points, columns, components, rows of a block and iterations")
			}
			rnd := rand.New(rand.NewPCG(1, 1))
			base := mat.NewDense(1<<14, d, nil)
			for i := range 1 << 14 {
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
				if i.Iteration == 0 { // the first one makes room
					first, inside, calls = time.Now(), t.inside, t.calls
				}
				last = time.Now()
				iterations = i.Iteration
			}}
			if _, _, err := cluster.FitGMM(p.ctx, points, k, 1, opts, nil); err != nil {
				return err
			}
			inside, calls = t.inside-inside, t.calls-calls
			one := []int64{1}
			const barriers = 100
			begin := time.Now()
			for range barriers {
				if err := p.r.Sum(one); err != nil {
					return err
				}
			}
			barrier := time.Since(begin) / barriers
			if p.r.Rank() != 0 {
				return nil
			}
			iteration := last.Sub(first) / time.Duration(max(iterations, 1))
			each := inside / time.Duration(max(iterations, 1))
			fmt.Fprintf(cmd.OutOrStdout(), "iteration %v, of which in %d calls over ranks %v (%.2f %%); a message %v\n",
				iteration, calls/max(iterations, 1), each, 100*float64(each)/float64(iteration), barrier)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&perRank, "points", perRank, "points of each rank")
	flags.IntVar(&d, "columns", d, "coordinates of a point")
	flags.IntVarP(&k, "components", "k", k, "number of components")
	flags.IntVar(&block, "block", block, "rows of a block")
	flags.IntVar(&workers, "workers", workers, "goroutines of each rank")
	flags.IntVar(&iterations, "iterations", iterations, "number of iterations")
	return cmd
}
