package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/peers"
	"revnum/benchmarks/internal/suite"
	"revnum/internal/outfile"
	"revnum/program"
)

func newPeers() *cobra.Command {
	return program.Group("peers", "Measure revnum beside what users would take instead", newKernels(), newEvals())
}

func newKernels() *cobra.Command {
	var python, only, out string
	var rounds, threads int
	var budget time.Duration
	types := []string{"float64", "float32", "complex128"}
	cmd := &cobra.Command{
		Use:   "kernels",
		Short: "Measure every kernel beside NumPy, SciPy, PyTorch, FFTW and loops in C",
		Long: `kernels measures every kernel, and the functions that users would call instead: those of
NumPy, SciPy, PyTorch and pyFFTW, as far as the Python of --python has them, and loops in C as far as
there is a cc. All get the same operands. Values are compared, but for those that have no one answer, such as
eigenvectors; gradients are not.

Ours and the peers take turns in rounds. Times are those of the fastest call, and the ratio is
the median over the rounds of the best peer's time over ours. Kernels add to their outputs, and
peers store them. For a kernel in place, "value" is the mean of Forward and Inverse.
"gradient" is the value with the gradients of all inputs: of the peers, only PyTorch has it.

  ratio    above 1 where ours is faster
  of peak  of the multiply-add peak of the threads, measured in the same run, where arithmetic
           bounds the kernel`,
		Example: `  python -m venv VENV && VENV/bin/pip install numpy scipy torch pyfftw
  go run ./benchmarks peers kernels --python VENV/bin/python
  go run ./benchmarks peers kernels --python VENV/bin/python --run 'FFT|SVD'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			re, err := regexp.Compile(only)
			if err != nil {
				return fmt.Errorf("--run: %w", err)
			}
			wanted := make(map[string]bool)
			for _, t := range types {
				wanted[t] = true
			}
			cases := slices.DeleteFunc(peers.Cases(wanted), func(c *peers.Case) bool { return !re.MatchString(c.Name()) })
			if len(cases) == 0 {
				return fmt.Errorf("--run: no kernel over %v matches %q", types, only)
			}
			runtime.GOMAXPROCS(threads)
			ctx, end := program.Interruptible(cmd.Context())
			defer end()
			session, err := peers.Start(ctx, python, threads)
			var results []peers.Result
			if err == nil {
				results, err = measurePeers(ctx, cmd, session, cases, rounds, threads, budget)
				if cerr := session.Close(); err == nil {
					err = cerr
				}
			}
			if ctx.Err() != nil {
				return program.ErrInterrupted
			}
			if err != nil {
				return err
			}
			if err := peers.WriteTable(cmd.OutOrStdout(), results); err != nil {
				return err
			}
			if out == "" {
				return nil
			}
			return outfile.Write(out, func(w io.Writer) error { return peers.WriteCSV(w, results) })
		},
	}
	cmd.Flags().StringVar(&python, "python", "python3", "`program` that runs Python")
	cmd.Flags().StringVar(&only, "run", "", "only the kernels whose names match the `regexp`")
	cmd.Flags().StringVarP(&out, "out", "o", "", "CSV `file` to write all times to")
	cmd.Flags().StringSliceVar(&types, "types", types, "types of numbers")
	program.IntFlag(cmd, &rounds, "rounds", "", 5, 1, 1000, "rounds")
	program.IntFlag(cmd, &threads, "threads", "", 1, 1, 1024, "threads of every program")
	program.TimeFlag(cmd, &budget, 20*time.Millisecond, "time to measure each program for in a round")
	return cmd
}

func measurePeers(ctx context.Context, cmd *cobra.Command, session *peers.Session, cases []*peers.Case, rounds, threads int, budget time.Duration) ([]peers.Result, error) {
	bar := program.Bar(cmd.ErrOrStderr(), len(cases)+1)
	bar.Describe("machine")
	m := machine.Measure(20 * budget)
	_ = bar.Add(1)
	var results []peers.Result
	for _, c := range cases {
		bar.Describe(c.Name())
		rs, err := session.Measure(ctx, c, rounds, budget)
		if err != nil {
			return nil, err
		}
		for i := range rs {
			rs[i].Limit(c, &m, threads)
		}
		for _, name := range slices.Sorted(maps.Keys(rs[0].Differences)) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s differs by %.2g\n", c.Name(), name, rs[0].Differences[name])
		}
		results = append(results, rs...)
		_ = bar.Add(1)
	}
	m.Best(machine.Measure(20 * budget))
	_ = bar.Finish()
	return results, suite.WriteMachine(cmd.OutOrStdout(), m)
}
