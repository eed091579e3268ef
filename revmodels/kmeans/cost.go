package kmeans

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/rev"
)

// Cost is the kernel
//
//	Out += F
//
// of the k-means objective F of K centroids c, given N points x of dimension D:
//
//	F = Σ_i min_k ‖x_i - c_k‖²
//
// With k(i) the nearest centroid of point i and r_i = x_i - c_k(i), the derivatives are
//
//	c̄_k -= 2·F̄·Σ r_i,             x̄_i += 2·F̄·r_i
//	Ḟ   += 2·Σ r_i·ṙ_i,           ṙ_i  = ẋ_i - ċ_k(i)
//	ġc_k -= 2·Σ (ġF·r_i + F̄·ṙ_i),  ġx_i += 2·(ġF·r_i + F̄·ṙ_i)
//
// where the sums of centroid k go over its points, those with k(i) = k.
//
// The Hessian with respect to the centroids is diagonal. For each coordinate of
// centroid k it has 2·n_k, where n_k is the number of points of the centroid.
// AdjointTangent with ċ = 1 everywhere and F̄ = 1 adds this diagonal to the tangent of
// c̄.
//
// If several centroids are nearest, k(i) is the lowest of their indices. F is not
// differentiable there, and the derivatives are those of the chosen branch, an element
// of the generalised gradient. The derivatives by a centroid without points are zero. F
// is 0 if there are no points. If there are points but no centroids, all passes panic
// with mat.ErrZeroLength.
//
// Squared distances are computed from differences in float64, with a relative error of
// (D+2)·2⁻⁵³. k(i) is the minimum of these computed numbers, also if centroids are
// almost equally far. (With more than 32 centroids, matrix products choose it if their
// rounding cannot matter.) Sums over points are in float64, in an order that depends on
// N alone. The results therefore have the same bits for any number of workers, on every
// machine and vector tier. If there are points, a NaN in a centroid or a point makes F
// NaN.
//
// Beyond the operands, a method needs memory of the order of K·D numbers, and 350·D for
// each worker, whatever N is. It takes about 2·N·K·D flops, or 3·N·K·D with few
// centroids.
type Cost[T rev.Float] struct {
	Out       *T             `rev:"acc"`            // F
	Centroids rev.General[T] `rev:"in" shape:"K,D"` // c, one a row
	X         rev.General[T] `rev:"in" shape:"N,D"` // x, one a row
	Workers   int            // 0 means GOMAXPROCS
}

// costRun is Run of Cost. It returns no error.
func costRun[T rev.Float](k *Cost[T], p *rev.Pass[Cost[T]]) error {
	costCheckCentroids(k)
	if k.Out == nil && p.G.Out == nil && p.T.Out == nil && p.GT.Out == nil {
		return nil
	}
	s := costOpen(*k)
	s.t = p.T
	if p.G.Out != nil {
		s.g, s.gt, s.weight = p.G, p.GT, 2**p.G.Out
	}
	if p.GT.Out != nil {
		s.gt, s.dweight = p.GT, 2**p.GT.Out
	}
	s.run()
	if k.Out != nil {
		*k.Out += T(T(p.Sign()) * T(s.cost))
	}
	if p.T.Out != nil {
		*p.T.Out += T(T(p.Sign()) * T(s.dcost))
	}
	s.addGradients()
	s.close()
	return nil
}

// costCheckCentroids panics if there are points, but no centroids.
func costCheckCentroids[T rev.Float](k *Cost[T]) {
	if k.Centroids.Rows == 0 && k.X.Rows > 0 {
		panic(&rev.OperandError{Kernel: "kmeans.Cost", Operand: "Centroids", Reason: "has no rows", Err: mat.ErrZeroLength})
	}
}

// costCheck checks the operands outside of passes.
func costCheck[T rev.Float](k *Cost[T]) {
	rev.ForwardPass(k)
	costCheckCentroids(k)
}

// NewtonDirection stores in the K×D matrix dst the gradient of F with respect
// to the centroids divided by the diagonal of its Hessian,
//
//	dst_k = c_k - m_k = -Σ_{i: k(i)=k} r_i/n_k,
//
// where m_k is the mean of the points of centroid k, and dst_k is zero if it has none.
// It returns F. If you subtract the direction from the centroids, you make Newton's
// step for F, which is Lloyd's step: Bottou and Bengio, Convergence properties of the
// K-means algorithms, 1995.
//
// dst may be the storage of an operand. Out is neither read nor written. It panics with
// mat.ErrShape if dst does not have the shape of Centroids.
func (k Cost[T]) NewtonDirection(dst rev.General[T]) T {
	costCheck(&k)
	like := Cost[T]{Centroids: dst, X: rev.General[T]{Cols: dst.Cols}}
	rev.ForwardPass(&like)
	objective.CheckDims("kmeans.Cost", "dst", dst.Rows, dst.Cols, k.Centroids.Rows, k.Centroids.Cols)
	objective.CheckStorage("kmeans.Cost", "dst", len(dst.Data), dst.Rows, dst.Cols, dst.Stride)
	s := costOpen(k)
	s.moments = true
	s.run()
	for c, n := range s.counts {
		row := dst.Row(c)
		for j := range row {
			row[j] = 0
			if n > 0 {
				row[j] = T(-s.sums[c*s.d+j] / float64(n))
			}
		}
	}
	cost := s.cost
	s.close()
	return T(cost)
}

// Nearest stores in labels the index of the nearest centroid of each point, and in dists
// the square of its distance. Both have N elements, or it panics with mat.ErrShape. Out
// is neither read nor written.
func (k Cost[T]) Nearest(labels []int, dists []float64) {
	costCheck(&k)
	objective.CheckLen("kmeans.Cost", "labels", len(labels), k.X.Rows)
	objective.CheckLen("kmeans.Cost", "dists", len(dists), k.X.Rows)
	s := costOpen(k)
	s.allLabels, s.allDists = labels, dists
	s.run()
	s.close()
}

// Moments stores in counts the number n_k of points of each centroid, and in the K×D
// elements of sums, by rows, the sums of their differences r from it, and returns F.
// These add up over sets of points: F of all of them and the step of Lloyd's algorithm,
// c_k + Σ r_i/n_k, follow. It panics with mat.ErrShape if counts does not have K elements
// or sums K·D. Out is neither read nor written.
func (k Cost[T]) Moments(counts, sums []float64) float64 {
	costCheck(&k)
	objective.CheckLen("kmeans.Cost", "counts", len(counts), k.Centroids.Rows)
	objective.CheckLen("kmeans.Cost", "sums", len(sums), k.Centroids.Rows*k.X.Cols)
	s := costOpen(k)
	s.moments = true
	s.run()
	for c, n := range s.counts {
		counts[c] = float64(n)
	}
	copy(sums, s.sums)
	cost := s.cost
	s.close()
	return cost
}
