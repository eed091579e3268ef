// Package kmeans finds clusters: K centroids for N points, such that the sum of the
// squared distances of the points from their nearest centroids is small.
//
//   - Fit clusters the rows of a mat.Matrix. The Clustering that it returns labels
//     further points, gives their distances, and can be written as JSON.
//   - Cost is the reversible kernel under it, for programs of package rev. It is the
//     objective of GradBench's eval kmeans, with first and second derivatives with
//     respect to the centroids and the points.
//   - Cost.NewtonDirection is the Newton direction of that eval.
//
// # Newton is Lloyd
//
// Suppose that no point is equally near to two centroids. The Hessian of the
// objective with respect to the centroids is then diagonal. Each coordinate of a
// centroid has twice the number of its points there. Newton's step therefore moves
// each centroid to the mean of its points, which is the step of Lloyd's algorithm.
// That is why there is one method here and not two (Bottou and Bengio, Convergence
// properties of the K-means algorithms, 1995).
//
// # Storage
//
// Cost reads points and centroids in place, as rows, and needs memory of the order
// of the centroids. Fit keeps a copy of the points by coordinate, and some four
// numbers for each point. A matrix that is neither a mat.RawMatrixer nor a
// *mat.VecDense is copied once more. A Clustering shares no storage.
//
// # What is exact
//
// A point belongs to the centroid of the least squared distance, as computed in
// float64. If there are several, it belongs to the one with the lowest index. This
// holds for all methods. Results have the same bits for any number of workers, and a
// fit with the same seed is the same fit. Results of Cost and Predict also have the
// same bits on every machine. A fit may begin with other centroids on another vector
// tier, because tiers round differently. Inverse of the kernel restores its output
// up to the rounding of an addition and a subtraction.
//
// # Errors
//
// Misuse panics with a *rev.OperandError, in which errors.Is finds gonum's value:
// mat.ErrShape for shapes that do not fit. Fit returns errors for data that
// are not finite or too large, and for options that make no sense. The errors say
// where.
package kmeans

//go:generate go run revnum/cmd/revgen -instances
