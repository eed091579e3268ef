// Package gmm fits, applies and differentiates Gaussian mixture models.
//
// It serves three needs, each by itself:
//
//   - Fit finds the mixture that describes the rows of a mat.Matrix best, with
//     full, tied, diagonal or spherical covariances, and the Mixture it returns
//     labels points, gives their densities, draws new ones, and is kept as JSON:
//     what scikit-learn's GaussianMixture does. Select chooses the number of
//     components.
//   - Model is the negative log posterior of given points as a function of the
//     parameters, with gradient, Hessian and Hessian-vector product, ready for
//     the minimisers of gonum/optimize.
//   - LogPosterior is the reversible kernel under both, in the form of the
//     benchmarks ADBench and GradBench, with derivatives with respect to all
//     parameters and the points, for programs of package rev. FixedLogPosterior
//     is the same over fixed-point numbers, undone to the bit, and
//     LogResponsibilities gives the responsibilities as logarithmic numbers.
//
// # Model and parameters
//
// A mixture of K components in D dimensions has the density
//
//	p(x) = Σ_k w_k·N(x; μ_k, Σ_k),  w = softmax(α),  Σ_k⁻¹ = Q_kᵀ·Q_k,
//
// with Q_k lower triangular and positive on the diagonal. The parameters, free
// of any constraint, are α, μ, and of each Q_k the logarithms of its diagonal
// and the elements below it, by columns. As one vector they are in the order of
// ADBench:
//
//	x = (α_1 ... α_K, μ_1 ... μ_K, factors_1 ... factors_K)
//
// which has K·(1 + D + D(D+1)/2) elements. Adding a constant to all α changes
// nothing. Mixture.Params and FromParams convert between the two descriptions:
// Q is the inverse of the usual Cholesky factor of Σ.
//
// # Signs
//
// LogPosterior adds the log posterior, which is to be made large, to its
// output. Model returns the negative log posterior, as minimisers need it.
//
// # Storage
//
// Points are read where they lie, the rows of any mat.Matrix that is a
// mat.RawMatrixer or a *mat.VecDense; other matrices are copied. A Model takes
// and gives parameters and derivatives in the caller's slices. A Mixture shares
// no storage with anyone. A fit needs memory for two more copies of the points while
// it clusters them, and the kernel some MiB whatever the number of points is.
//
// # What is exact
//
// All results are rounded; the kernels' pages state their bounds. They have the
// same bits for any number of workers, and a fit with the same seed is the same
// fit. A Mixture that is written as JSON and read back is the same bit for bit.
// Inverse of the kernels restores their output up to rounding, and that of
// FixedLogPosterior to the bit.
//
// # Misuse and trouble
//
// Shapes that do not fit panic with mat.ErrShape. What comes from outside gives
// errors that say where: data that are not finite, options that contradict each
// other, JSON that is not a mixture, and covariance matrices that are singular
// (*SingularError, with the pivot that tells).
package gmm
