// Package wave moves acoustic waves by reversible steps, and finds the speed of sound
// from recordings of them.
//
// The wave equation for the pressure u, the speed c and a source q is
//
//	∂²u/∂t² = c²·∇²u + q
//
// The kernel Steps takes steps of time by finite differences, of second order in time and
// fourth order in space, on a grid of two dimensions. It holds two fields, u now and one
// step ago, and changes them in place. The older one becomes the newer one: a step is a
// bijection, so its adjoint records nothing. Damping absorbs the waves near the edges.
// Over fixed.Q43 damping is a bijection too, because the bits that it loses are kept.
//
// A Survey is an experiment: sources, and receivers that record. Record computes what the
// receivers see. An Inversion finds the speeds from recordings, with gonum's optimize.
// This is known as full-waveform inversion.
//
// # Sources
//
// The weights of the Laplacian are those of M. A. Dablain, The application of high-order
// differencing to the scalar wave equation, Geophysics 51 (1986). The inversion is that of
// A. Tarantola, Inversion of seismic reflection data in the acoustic approximation,
// Geophysics 49 (1984). Differentiating such a program by reversible steps is an example
// of J.-G. Liu and T. Zhao, Differentiate everything with a reversible embedded
// domain-specific language, arXiv 2003.04617 (2020).
package wave

//go:generate go run revnum/cmd/revgen -instances
