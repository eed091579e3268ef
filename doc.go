// Package revnum is the root of a library of reversible numerical kernels that
// works with gonum's types. It holds no code; the packages are
//
//	rev                     the contract of a kernel, and the combinators that compose kernels into programs
//	rev/revtest             the conformance suite that every kernel passes; for kernels of your own too
//	fixed                   fixed-point numbers: += and -= undo each other to the bit
//	ulog                    logarithmic numbers: *= and /= undo each other to the bit over fixed point
//	revlinalg               dense kernels: products, norms, reductions, rotations, factorisations
//	revlog                  kernels over logarithms: sums, products of matrices, of powers
//	revsparse               sparse kernels: products, solutions, eigenpairs
//	revsparse/matrixmarket  sparse matrices in files
//	revmodels/gmm           Gaussian mixtures: the log posterior and its derivatives, and fitting
//	revmodels/kmeans        clusters: the cost and its derivatives, and fitting
//	revmodels/hand          a hand: residuals of tracking it, and their Jacobian
//	revmodels/lstm          a recurrent network: its loss and the derivatives
//	revmodels/graphembed    embeddings of graphs: the loss and its derivatives, and embedding
//	revmodels/ba            bundle adjustment: cameras and points from what the cameras see
//	trust                   Newton's method in a trust region, for gonum's optimize.Problem
//	benchmarks              the benchmark binary: go run ./benchmarks
//
// A kernel is a hand-written routine that comes as a family: Forward runs it,
// Inverse inverts it, Adjoint inverts it with gradients attached, Tangent runs it with
// derivatives in a direction carried along. Nothing is recorded on the way, so the
// gradient of a long computation takes the memory of the computation itself. Package
// rev says it in full; docs/design.md says why the library is built as it is.
package revnum
