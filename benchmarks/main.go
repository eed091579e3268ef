// The benchmarks command measures revnum. It also runs revnum as a tool of ADBench and
// GradBench, and on your data. Without arguments it runs the default suite.
package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"revnum/program"
	"revnum/program/command"
)

func main() { program.Main(newRoot()) }

// invocation is how to call this program, in examples.
const invocation = "go run ./benchmarks"

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := newSuite()
	root.AddCommand(newADBench(), newGradBench(), newGMM(), newGraphEmbed(), newBA(), newGen(), newPeak(), newNumbers(), newSparse(), newRules(), newTradeoff(), newFigures(), newNBody(), newExactness(), newWave(), newForkJoin(), newFlow(), newConsistency(), newPeers())
	return root
}

// makeFolder makes the folder of --out, and returns an error if one of the named files there is
// an input or cannot be written.
func makeFolder(dir string, inputs []string, names ...string) error {
	if err := program.MakeFolder(dir); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for _, name := range names {
		if err := program.CheckOutputs(inputs, program.Output{Flag: "out", Path: filepath.Join(dir, name)}); err != nil {
			return err
		}
	}
	return nil
}

func newGMM() *cobra.Command {
	return program.Group("gmm", "Fit a Gaussian mixture to data, and predict with it", command.GMMFit(invocation, nil), command.GMMPredict(invocation))
}

func newBA() *cobra.Command {
	return program.Group("ba", "Adjust bundles: improve cameras and points to fit the observations", command.BASolve(invocation, nil), command.BAInfo(invocation))
}
