// Package gmm fits, applies and differentiates Gaussian mixture models.
//
// Use it in one of three ways:
//
//   - Fit finds the mixture that describes the rows of a mat.Matrix best, with full,
//     tied, diagonal or spherical covariances. The Mixture that it returns labels
//     points, gives their densities, draws new points, and can be written as JSON.
//     This is what scikit-learn's GaussianMixture does. Select chooses the number of
//     components.
//   - Model is the negative log posterior of given points as a function of the
//     parameters, with gradient, Hessian and Hessian-vector product, for the
//     minimisers of gonum/optimize.
//   - LogPosterior is the reversible kernel under both, for programs of package rev.
//     It has the form of the benchmarks ADBench and GradBench, and derivatives with
//     respect to all parameters and the points. FixedLogPosterior is the same over
//     fixed-point numbers, and its Inverse restores every bit. LogResponsibilities
//     gives the responsibilities as logarithmic numbers.
//
// # Model and parameters
//
// A mixture of K components in D dimensions has the density
//
//	p(x) = Σ_k w_k·N(x; μ_k, Σ_k),  w = softmax(α),  Σ_k⁻¹ = Q_kᵀ·Q_k
//
// where Q_k is lower triangular and positive on the diagonal. The parameters are
// free of constraints. They are α, μ and, of each Q_k, the logarithms of its
// diagonal and the elements below it, by columns. As one vector they are in the
// order of ADBench:
//
//	x = (α_1 ... α_K, μ_1 ... μ_K, factors_1 ... factors_K)
//
// which has K·(1 + D + D(D+1)/2) elements. Adding a constant to all α changes
// nothing. Mixture.Params and FromParams convert between the two descriptions. Q is
// the inverse of the usual Cholesky factor of Σ.
//
// LogPosterior adds the log posterior to its output; a fit maximises it. Model
// returns the negative log posterior, because minimisers need it.
//
// # Storage
//
// Points are read in place if they are the rows of a mat.RawMatrixer or a
// *mat.VecDense. Other matrices are copied. A Model reads parameters from your
// slices, and writes derivatives to them. A Mixture shares no storage. A fit needs
// memory for two more copies of the points while it clusters them. The kernel needs
// some MiB for any number of points.
//
// # What is exact
//
// All results are rounded; the documentation of each kernel states the bounds.
// Results have the same bits for any number of workers, and a fit with the same seed
// is the same fit. A Mixture that is written as JSON and read back is the same bit
// for bit. Inverse restores the output up to rounding, but with FixedLogPosterior to
// the bit.
//
// # Errors
//
// Misuse, such as shapes that do not fit, panics with a *rev.OperandError, in which
// errors.Is finds gonum's value: mat.ErrShape and the like. Bad data return errors that say where
// they are: numbers that are not finite, options that contradict each other, JSON that
// is not a mixture, and singular covariance matrices (*rev.NotPositiveDefiniteError,
// with the pivot).
package gmm

//go:generate go run revnum/cmd/revgen -instances
