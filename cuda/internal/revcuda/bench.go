package revcuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"revnum/cuda"
	"revnum/program"
)

func newBench(open func() (*cuda.Device, error)) *cobra.Command {
	var size, reps int
	var asJSON bool
	var kernels, numbers string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure each kernel",
		Long: `bench prints the time of each kernel on the device, its rate, and which fraction that is of
the card's rate of copies, of multiply-adds, or of multiply-adds on tensor cores, all measured
in the same run. It shows progress on a terminal. Forward, Inverse, Adjoint and Tangent have a line each.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			which, err := regexp.Compile(kernels)
			if err != nil {
				return fmt.Errorf("--kernel: %w", err)
			}
			dev, err := open()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, dev.Close()) }()
			ctx, end := program.Interruptible(cmd.Context())
			defer end()
			bar := program.Bar(cmd.ErrOrStderr(), -1)
			rates, err := cuda.Bench(ctx, dev, cuda.BenchOptions{Type: numbers, Size: size, Reps: reps, Kernels: which, Progress: func(name string) {
				bar.Describe(name)
				_ = bar.Add(1)
			}})
			_ = bar.Finish()
			if errors.Is(err, context.Canceled) {
				return program.ErrInterrupted
			}
			if err != nil {
				return err
			}
			return write(cmd.OutOrStdout(), dev.Properties(), numbers, rates, asJSON)
		},
	}
	program.IntFlag(cmd, &size, "size", "", 1<<26, 1, 1<<30, "length of vectors; products are of matrices with half its square root of rows")
	program.IntFlag(cmd, &reps, "reps", "", 10, 1, program.MaxIterations, "how often a pass runs")
	cmd.Flags().StringVar(&kernels, "kernel", "", "measure only the kernels whose names match the `regexp`")
	cmd.Flags().StringVar(&numbers, "type", "float64", "`type` of the numbers: float64, float32 or q43")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// write prints the rates as a table or as JSON.
func write(out io.Writer, p cuda.Properties, numbers string, rates []cuda.Rate, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(out)
		e.SetIndent("", "\t")
		return e.Encode(map[string]any{"device": p.Name, "capability": p.Capability, "type": numbers, "rates": rates})
	}
	fmt.Fprintf(out, "%s, compute capability %d.%d, %s\n", p.Name, p.Capability/10, p.Capability%10, numbers)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kernel\tµs\tGB/s\tGFLOP/s\tfraction\tof\t")
	for _, r := range rates {
		fmt.Fprintf(w, "%s\t%.1f\t%s\t%s\t%.2f\t%s\t\n", r.Name, r.Seconds*1e6, rate(r.Bytes, r.Seconds), rate(r.Flops, r.Seconds), r.Peak, r.Of)
	}
	return w.Flush()
}

func rate(amount, seconds float64) string {
	if amount == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", amount/seconds/1e9)
}
