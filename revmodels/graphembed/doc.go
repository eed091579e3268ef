// Package graphembed places the vertices of a graph in a space of k dimensions. All
// connected vertices get one distance, and all vertices that are not connected get
// another, larger one.
//
// Use it in one of three ways:
//
//   - Embed looks for such positions from several random starts, by Newton's method
//     in a trust region, by L-BFGS or by Adam. It reports how close it came.
//   - Model is the misfit as a function of the positions, with gradient, Hessian and
//     products of the Hessian with a vector, for other minimisers.
//   - Loss is the reversible kernel under both, over float64, float32 and fixed.Q43,
//     for programs of package rev.
//
// A Graph is made from pairs of vertices, from a gonum graph.Undirected or from an
// adjacency matrix.
//
// The loss is that of J.-G. Liu and T. Zhao, Differentiate everything with a
// reversible embedded domain-specific language, arXiv 2003.04617 (2020), appendix
// D.2. So is the experiment that finds the smallest dimension for the Petersen
// graph.
//
// # What is exact
//
// Floating-point results are rounded; Loss states the bounds. They have the same
// bits for any number of workers, and embeddings with the same options are the same.
// In fixed point, Inverse restores the output bit for bit.
//
// # Errors
//
// Misuse panics with a *rev.OperandError, in which errors.Is finds gonum's value:
// mat.ErrShape for shapes that do not fit. Invalid edges, and options that
// cannot be met, return errors that name them.
package graphembed

//go:generate go run revnum/cmd/revgen -instances
