package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"revnum/benchmarks/internal/vectors"
	"revnum/program"
	"revnum/rules"
)

func newRules() *cobra.Command {
	return program.Group("rules", "Export the backward rules of all kernels, for ports to other tools", newRulesExport())
}

func newRulesExport() *cobra.Command {
	var seed uint64
	var rows, cols int
	var format string
	types := []string{"float64", "complex128"}
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write test vectors: operands and results of every kernel",
		Long: `export writes a file for every kernel and type of numbers. It has random
operands, cotangents and tangents. It also has the value, the gradients, the tangents
and the second order that the kernel computes from them. You can check a port against
the files without Go. docs/porting.md has a script that checks one. The files are
JSON, or archives of NumPy arrays (--format npz).

DIR is made if its parent exists.`,
		Example: `  go run ./benchmarks rules export vectors
  go run ./benchmarks rules export vectors --types float32 --rows 5 --format npz`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(types) == 0 {
				return errors.New("--types: expected types of numbers, found none")
			}
			known := make(map[string]bool)
			for _, r := range rules.All() {
				known[r.Type.String()] = true
			}
			wanted := make(map[string]bool)
			for _, t := range types {
				if !known[t] {
					return fmt.Errorf("--types: found %q, expected some of %s", t, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
				}
				wanted[t] = true
			}
			if vectors.Formats[format] == nil {
				return fmt.Errorf("--format: found %q, expected %s", format, strings.Join(slices.Sorted(maps.Keys(vectors.Formats)), " or "))
			}
			if err := program.MakeFolder(args[0]); err != nil {
				return err
			}
			n, err := vectors.Export(args[0], format, seed, rows, cols, wanted)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files written to %s\n", n, args[0])
			return err
		},
	}
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the random operands")
	program.IntFlag(cmd, &rows, "rows", "", 3, 2, 64, "approximate number of rows of matrices; at most 12 of DetMinors")
	program.IntFlag(cmd, &cols, "cols", "", 4, 2, 64, "approximate number of columns of matrices")
	cmd.Flags().StringVar(&format, "format", "json", "json or npz")
	program.Complete(cmd, "format", "json", "npz")
	cmd.Flags().StringSliceVar(&types, "types", types, "types of numbers: float64, float32, Q43, complex128")
	return cmd
}
