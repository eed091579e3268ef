// Package graphembed places the vertices of a graph in a space of k dimensions
// so that connected vertices all have one distance, and vertices that are not
// connected all have another, larger one.
//
// It serves three needs, each by itself:
//
//   - Embed looks for such positions from several random starts, by Newton's
//     method in a trust region, by L-BFGS or by Adam, and tells how far it came.
//   - Model is the misfit as a function of the positions, with gradient, Hessian
//     and products of the Hessian with a vector, for other minimisers.
//   - Loss is the reversible kernel under both, over float64, float32 and
//     fixed.Q43, for programs of package rev.
//
// A Graph comes from pairs of vertices, from a gonum graph.Undirected or from an
// adjacency matrix.
//
// The loss, and the experiment that finds the smallest dimension for the
// Petersen graph, are those of J.-G. Liu and T. Zhao, Differentiate everything
// with a reversible embedded domain-specific language, arXiv 2003.04617 (2020),
// appendix D.2.
//
// # What is exact
//
// Floating-point results are rounded; the page of Loss states the bounds. They
// have the same bits for any number of workers, and embeddings with the same
// options are the same. In fixed point, Inverse restores the output bit for bit.
//
// # Misuse and trouble
//
// Shapes that do not fit panic with mat.ErrShape. Edges that are none, and
// options that cannot be met, are errors that say which.
package graphembed
