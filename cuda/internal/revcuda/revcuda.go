// Package revcuda is the revcuda command, on devices that are given.
package revcuda

import (
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"revnum/cuda"
	"revnum/program"
	"revnum/program/command"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
)

// New returns the command. open opens device n.
func New(open func(n int) (*cuda.Device, error)) *cobra.Command {
	const invocation = "go run -tags cuda ./cmd/revcuda"
	root := &cobra.Command{
		Use:   "revcuda",
		Short: "Measure kernels on a GPU, and solve problems there",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var number int
	program.IntFlag(root, &number, "device", "", 0, 0, 1023, "`number` of the device")
	root.PersistentFlags().AddFlag(root.Flags().Lookup("device"))
	one := func() (*cuda.Device, error) { return open(number) }
	forFits := func() (command.Device, error) {
		d, err := one()
		if err != nil {
			return nil, err
		}
		return device{d}, nil
	}
	root.AddCommand(
		newBench(one),
		newDoctor(),
		program.Group("ba", "Adjust bundles: improve cameras and points to fit the observations", command.BASolve(invocation, forFits)),
		program.Group("gmm", "Fit a Gaussian mixture to data", command.GMMFit(invocation, forFits)),
	)
	return root
}

// device is a command.Device.
type device struct{ *cuda.Device }

func (d device) Bundle(p *ba.Problem, opts *ba.Options) (ba.Points, error) {
	b, err := cuda.NewBundlePoints(d.Device, p, opts)
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (d device) Mixture(x *mat.Dense, kind gmm.Covariance) (gmm.Points, error) {
	p, err := cuda.NewMixturePoints(d.Device, x, kind)
	if err != nil {
		return nil, err
	}
	return p, nil
}
