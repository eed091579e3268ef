package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"revnum/benchmarks/internal/flows"
	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/program"
	"revnum/revmodels/flow"
)

type flowOptions struct {
	data, kind  string
	steps, most int
	flow        flow.Options
	budget      time.Duration
	out         string
}

func newFlow() *cobra.Command {
	var o flowOptions
	cmd := &cobra.Command{
		Use:   "flow",
		Short: "Learn densities in the plane by normalising flows, and draw them",
		Long: `flow fits a normalising flow to random points, and prints the mean of -log p of new
points. Beside a gradient of the library, whose memory does not depend on the depth, it
measures one that records the intermediate values of all couplings:

  bytes    of the batch of 256 points, its cotangents and all intermediate values
  ms       the shortest time of a gradient`,
		Example: `  go run ./benchmarks flow
  go run ./benchmarks flow --data moons --kind nice --steps 5000 --out flows`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runFlow(cmd, &o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.data, "data", "moons", "set of points: "+strings.Join(flows.Toys(), ", ")+", or all")
	program.Complete(cmd, "data", append(flows.Toys(), "all")...)
	f.StringVar(&o.kind, "kind", "realnvp", "couplings: nice or realnvp")
	program.Complete(cmd, "kind", "nice", "realnvp")
	program.IntFlag(cmd, &o.flow.Depth, "couplings", "", 8, 1, 256, "the number of couplings")
	program.IntFlag(cmd, &o.flow.Hidden, "hidden", "", 32, 1, 512, "units of a hidden layer")
	program.IntFlag(cmd, &o.steps, "steps", "", 2000, 1, mostSteps, "steps of the fit, each of 256 points")
	program.IntFlag(cmd, &o.most, "most", "", 64, 1, 256, "the most couplings whose gradient is measured")
	program.TimeFlag(cmd, &o.budget, 50*time.Millisecond, "time to measure each gradient for")
	f.StringVarP(&o.out, "out", "o", "", "`folder` to write pictures and tables to, made if its parent exists")
	_ = cmd.MarkFlagDirname("out")
	return cmd
}

func runFlow(cmd *cobra.Command, o *flowOptions) error {
	kinds := map[string]flow.Kind{"nice": flow.NICE, "realnvp": flow.RealNVP}
	kind, ok := kinds[strings.ToLower(o.kind)]
	names := []string{o.data}
	if o.data == "all" {
		names = flows.Toys()
	}
	if !ok {
		return fmt.Errorf("--kind: expected nice or realnvp, found %q", o.kind)
	}
	depth, hidden := float64(max(o.flow.Depth, o.most)), float64(o.flow.Hidden)
	if err := memory.Check(8*depth*hidden*(hidden+256), fmt.Sprintf("--couplings, --most, --hidden: %v couplings of %v units", depth, hidden)); err != nil {
		return err
	}
	o.flow.Kind, o.flow.Dim = kind, 2
	if o.out != "" {
		if err := makeFolder(o.out, nil); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := fitFlow(cmd, o, name); err != nil {
			return err
		}
	}

	var depths []flows.Depth
	err := flows.Depths(cmd.Context(), o.flow, o.most, o.budget, func(d flows.Depth) { depths = append(depths, d) })
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout())
	if err := flows.WriteTable(cmd.OutOrStdout(), depths); err != nil || o.out == "" {
		return err
	}
	path := filepath.Join(o.out, "memory")
	if err := outfile.Write(path+".csv", func(w io.Writer) error { return flows.WriteCSV(w, depths) }); err != nil {
		return err
	}
	if err := flows.SaveMemory(path+".png", depths); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nwritten to %s\n", o.out)
	return err
}

// fitFlow fits a flow to a set of points, prints how well, and draws it.
func fitFlow(cmd *cobra.Command, o *flowOptions, name string) error {
	const n = 10000
	x, err := flows.Points(name, n, rand.NewPCG(1, 2))
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	m, err := flow.New[float64](o.flow, rand.NewPCG(3, 4))
	if err != nil {
		return err
	}
	bar := program.Bar(cmd.ErrOrStderr(), o.steps)
	bar.Describe(name)
	var losses []float64
	start := time.Now()
	err = m.Fit(cmd.Context(), x, &flow.FitOptions{Steps: o.steps, Report: func(_ int, loss float64) {
		losses = append(losses, loss)
		_ = bar.Add(1)
	}})
	_ = bar.Finish()
	if err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	fresh, err := flows.Points(name, n, rand.NewPCG(5, 6))
	if err != nil {
		return err
	}
	logs := make([]float64, n)
	if err := m.LogDensity(logs, fresh); err != nil {
		return err
	}
	mean := 0.0
	for _, v := range logs {
		mean -= v / n
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s, %v of %d couplings: mean of -log p %.3f of new points, %.3f at first; %d steps in %.1f s\n",
		name, m.Kind, m.Depth, mean, losses[0], o.steps, seconds)
	if o.out == "" {
		return nil
	}
	samples := mat.NewDense(2000, 2, nil)
	if err := m.Sample(samples, rand.NewPCG(7, 8)); err != nil {
		return err
	}
	title := fmt.Sprintf("%s, %v", name, m.Kind)
	if err := flows.SaveDensity(flows.Path(o.out, name, m.Kind, "density.png"), title, m); err != nil {
		return err
	}
	if err := flows.SavePoints(flows.Path(o.out, name, m.Kind, "samples.png"), title, x, samples); err != nil {
		return err
	}
	return flows.SaveLosses(flows.Path(o.out, name, m.Kind, "loss.png"), losses)
}
