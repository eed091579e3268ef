// Package kmeans finds clusters: K centroids for N points, such that the sum of
// the squared distances of the points from their nearest centroids is small.
//
//   - Fit clusters the rows of a mat.Matrix, and the Clustering it returns
//     labels further points, gives their distances, and is kept as JSON.
//   - Cost is the reversible kernel under it, the objective of GradBench's eval
//     kmeans, with first and second derivatives with respect to the centroids
//     and the points, for programs of package rev.
//   - Cost.NewtonDirection is that eval's Newton direction.
//
// # Newton is Lloyd
//
// Where no point is equally near to two centroids, the Hessian of the objective
// with respect to the centroids is diagonal, with twice the number of its points
// for each coordinate of a centroid. Newton's step moves each centroid to the
// mean of its points, which is the step of Lloyd's algorithm, so there is one
// method here and not two (Bottou and Bengio, Convergence properties of the
// K-means algorithms, 1995).
//
// # Storage
//
// Cost reads points and centroids where they lie, as rows, and needs memory of the
// order of the centroids. Fit keeps a copy of the points by coordinate, and some
// four numbers a point; it copies once more a matrix that is neither a
// mat.RawMatrixer nor a *mat.VecDense. A Clustering shares no storage with anyone.
//
// # What is exact
//
// A point belongs to the centroid of the least squared distance as computed in
// float64, the lowest of several, for all methods alike. Results have the same
// bits for any number of workers, and a fit with the same seed is the same fit.
// Those of Cost and of Predict have the same bits on every machine, too; a fit may
// begin with other centroids where another vector tier rounds in another way.
// Inverse of the kernel restores its output up to the rounding of an addition and a
// subtraction.
//
// # Misuse and trouble
//
// Shapes that do not fit panic with mat.ErrShape. Data that are not finite or
// too large, and options that make no sense, are errors of Fit that say where.
package kmeans
