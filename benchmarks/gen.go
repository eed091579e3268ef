package main

import (
	"io"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/adbench"
	"revnum/internal/outfile"
)

func newGen() *cobra.Command {
	gen := &cobra.Command{
		Use:   "gen",
		Short: "Draw problems from a seed",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	gen.AddCommand(newGenGMM())
	return gen
}

func newGenGMM() *cobra.Command {
	var d, k, n int
	var seed uint64
	var out string
	var replicate bool
	cmd := &cobra.Command{
		Use:   "gmm",
		Short: "Draw a Gaussian mixture and points, in ADBench's form",
		Long: `gmm writes a problem in ADBench's form, from the distribution of ADBench's own
synthetic data: log weights, inverse-covariance factors and points are standard
normal, means uniform in [0, 1), the prior has gamma 1 and m 0.`,
		Example: `  go run ./benchmarks gen gmm --d 10 --k 25 --n 1000 --seed 1 -o gmm_d10_K25.txt`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			g, err := adbench.GenerateGMM(d, k, n, seed, replicate)
			if err != nil {
				return err
			}
			write := func(w io.Writer) error { return g.Write(w, replicate) }
			if out == "-" {
				return write(cmd.OutOrStdout())
			}
			return outfile.Write(out, write)
		},
	}
	cmd.Flags().IntVar(&d, "d", 10, "dimension of the points")
	cmd.Flags().IntVar(&k, "k", 25, "number of components")
	cmd.Flags().IntVar(&n, "n", 1000, "number of points")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed; the same one gives the same problem everywhere")
	cmd.Flags().StringVarP(&out, "out", "o", "-", "`file` to write to, - for standard output")
	cmd.Flags().BoolVar(&replicate, "rep", false, "write one point, to stand for all n (adbench's -rep)")
	return cmd
}
