// Package command has the commands that solve problems of bundle adjustment and fit Gaussian
// mixtures. Several programs have them: on the host, or on a device.
package command

import (
	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
)

// A Device computes what concerns points, on a GPU for example.
type Device interface {
	// Bundle returns the Points for ba.Options with that loss and those fixed points.
	Bundle(p *ba.Problem, opts *ba.Options) (ba.Points, error)

	// Mixture returns the Points for gmm.Options.
	Mixture(x *mat.Dense, kind gmm.Covariance) (gmm.Points, error)

	// Close also frees the points.
	Close() error
}

// An Open opens a device. A nil one stands for the host.
type Open func() (Device, error)

// Group returns a command that only has others.
func Group(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}
