// Package command has the commands that solve problems of bundle adjustment and fit Gaussian
// mixtures. Several programs have them: on the host, or on a device.
package command

import (
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
