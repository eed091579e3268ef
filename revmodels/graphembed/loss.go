package graphembed

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// Loss is the kernel
//
//	Out += L
//
// of the misfit L of an embedding of a graph into k dimensions.
// Connected vertices should all be at one distance, and vertices that are not connected
// all at another, larger one:
//
//	L = Var(dist(E)) + Var(dist(N)) + exp(relu(z)) - 1
//	z = mean dist(E) - mean dist(N) + margin
//
// where dist(E) are the Euclidean distances of the connected pairs and dist(N) those of
// the others. Var is the sample variance, divided by the number of pairs less one. It
// is 0 if there are fewer than two pairs. If one kind has no pairs, the term with z is
// 0.
//
// Vertices 0, ..., m-1 of the graph are the rows of Fixed, and the others the rows of
// Free. The only difference is this: to hold the first m vertices, leave Fixed nil
// among the cotangents. If m = 0, Fixed may be the zero value.
//
// # Where there is no derivative
//
// A distance ‖x‖ has no derivative at x = 0. For vertices that coincide, its
// derivatives count as 0 (the subgradient of least norm). The square of the distance,
// on which the variance depends, keeps its derivatives. At z = 0 the derivative of relu
// counts as 0.
//
// # Rounding
//
// In floating point, with n vertices and D the largest distance, L is within about (k +
// n)·ε of the size of its terms, D² + exp(z)·(1 + D), in the worst case of all
// roundings. An element of the gradient is within this over D. Squares of distances may
// overflow and underflow. A distance below 2⁻⁵¹⁰ (2⁻⁶² for float32) loses digits, and
// then counts as 0 or as that number. Second derivatives need distances above 2⁻³⁴⁰
// (2⁻⁴⁰). Results have the same bits for any number of workers. They depend on the
// vector code in use. Inverse restores Out up to the rounding of one addition and one
// subtraction.
//
// In fixed point a distance is the nearest number, and means and variances are within
// one unit of it. Weights of pairs in the gradient are within three units, times the
// amplification by exp(z). Inverse and Adjoint restore Out bit for bit. If a distance
// is 2²⁰ or more, the distances of a kind sum to 2⁴¹, or z is above 13.86, the result has
// no meaning, but is the same each time. Workers is ignored: one goroutine does everything.
//
// Beyond the operands, memory is proportional to k times the number of vertices, not
// pairs. Methods panic with mat.ErrShape if the operands do not have the graph's order
// or the same k. The equation is that of Liu and Zhao, arXiv 2003.04617, appendix D.2.
type Loss[T rev.Real] struct {
	Out   *T             `rev:"acc"`                     // the loss L
	Fixed rev.General[T] `rev:"in,optional" shape:"m,k"` // the first vertices, one a row
	Free  rev.General[T] `rev:"in" shape:"r,k"`          // the other r

	Graph   *Graph
	Margin  float64 // by which the mean of the longer distances should exceed that of the others
	Workers int     // goroutines to use; 0 means GOMAXPROCS
}

// NewLoss returns the kernel that adds to out, over gonum matrices, sharing their
// storage. fixed is nil if no vertex is fixed.
func NewLoss(out *float64, g *Graph, fixed, free *mat.Dense, margin float64) Loss[float64] {
	return Loss[float64]{Out: out, Fixed: rev.ViewDense(fixed), Free: rev.ViewDense(free), Graph: g, Margin: margin}
}

// With the number n, mean m and variance V of each kind of pairs, z as above, and E =
// exp(z) if z > 0 and 0 otherwise, the derivative by the distance d of a pair is
//
//	w = α·(d - m) + β,  α = 2/(n-1),  β = E/n for connected pairs, -E/n for others
//
// and with ∇d = u = (x_j - x_i)/d, r = 1/d, the gradient is a sum over pairs
//
//	x̄_j += Σ_i w·u = Σ_i (α - γ·r)·(x_j - x_i),  γ = α·m - β
//
// and minus that for x_i. All pairs of a kind share γ, so the only division is r. The
// tangent of d is ḋ = u·(ẋ_j - ẋ_i), and that of the loss the gradient times ẋ. The
// tangent of the gradient, with γ̇ = α·ṁ - β̇ and ṙ = -r²·ḋ, is
//
//	ġx_j += Σ_i (α - γ·r)·(ẋ_j - ẋ_i) + r·(γ·r·ḋ - γ̇)·(x_j - x_i).
//
// There are two passes over the pairs: one computes the means, and one adds weighted
// differences.

// lossRun is Run of Loss. It returns no error.
func lossRun[T rev.Real](k *Loss[T], p *rev.Pass[Loss[T]]) error {
	if n := k.Fixed.Rows + k.Free.Rows; n != k.Graph.n {
		panic(rev.ShapeError[Loss[T]]("Free", "and Fixed have %d rows, want %d, one for each vertex", n, k.Graph.n))
	}
	f, df := lossSweep(k, &p.G, &p.T, &p.GT)
	if k.Out != nil {
		*k.Out += T(T(p.Sign()) * f)
	}
	if p.T.Out != nil {
		*p.T.Out += T(T(p.Sign()) * df)
	}
	return nil
}

// lossRow returns the coordinates of vertex i, or nil if it has no operand.
func lossRow[T rev.Real](k *Loss[T], i int, fixed int) []T {
	if i < fixed {
		if k.Fixed.Data == nil {
			return nil
		}
		return k.Fixed.Row(i)
	}
	if k.Free.Data == nil {
		return nil
	}
	return k.Free.Row(i - fixed)
}

// lossHasPositions reports whether k has an operand for vertices.
func lossHasPositions[T rev.Real](k *Loss[T]) bool {
	return k != nil && (k.Fixed.Data != nil || k.Free.Data != nil)
}

// lossHasOut reports whether k has a cotangent or tangent of the loss.
func lossHasOut[T rev.Real](k *Loss[T]) bool { return k != nil && k.Out != nil }

// lossSweep returns L if k.Out is there, and its derivative in the direction t if t.Out is.
// It adds the gradient to g and its tangent to gt. Any of these may be nil.
func lossSweep[T rev.Real](k *Loss[T], g, t, gt *Loss[T]) (f, df T) {
	switch {
	case T(1)/2 == 0:
		a, b := sweepFixed(as[fixed.Q43](k), as[fixed.Q43](g), as[fixed.Q43](t), as[fixed.Q43](gt))
		return T(a), T(b)
	case unsafe.Sizeof(f) == 4:
		a, b := sweepFloat(as[float32](k), as[float32](g), as[float32](t), as[float32](gt))
		return T(a), T(b)
	default:
		a, b := sweepFloat(as[float64](k), as[float64](g), as[float64](t), as[float64](gt))
		return T(a), T(b)
	}
}

// as returns k, whose elements have the type U. (An interface would move k to the
// heap.)
func as[U, T rev.Real](k *Loss[T]) *Loss[U] { return (*Loss[U])(unsafe.Pointer(k)) }

// A kind of pairs: connected ones, or the others. The order is that of pairs.Kinds in
// Graph.kinds.
const (
	apart = iota
	connected
	kinds
)

// count returns the numbers of pairs of each kind.
func (g *Graph) count() [kinds]int {
	return [kinds]int{connected: g.Edges(), apart: g.Pairs() - g.Edges()}
}

// sums are sums over the distances of the pairs of a kind, and over their tangents.
// Distances are relative to one of them, the origin, so that the variance of nearly
// equal distances keeps its digits.
type sums struct {
	d, squares, tangent float64
}

func (s *sums) add(t sums) {
	s.d += t.d
	s.squares += t.squares
	s.tangent += t.tangent
}

// weights are what the derivatives by the distances of a kind need.
type weights struct {
	alpha, gamma, gammaDot float64
	e                      float64 // E, the same for both
}

// combine returns L, and the weights of each kind.
func combine(count [kinds]int, origin [kinds]float64, s [kinds]sums, margin float64) (loss float64, w [kinds]weights) {
	var mean, meanDot [kinds]float64
	for c, n := range count {
		if n == 0 {
			continue
		}
		shift := s[c].d / float64(n)
		mean[c], meanDot[c] = origin[c]+shift, s[c].tangent/float64(n)
		if n > 1 {
			loss += max(0, s[c].squares-float64(shift*s[c].d)) / float64(n-1)
			w[c].alpha = 2 / float64(n-1)
		}
		w[c].gamma = w[c].alpha * mean[c]
		w[c].gammaDot = w[c].alpha * meanDot[c]
	}
	if count[connected] == 0 || count[apart] == 0 {
		return loss, w
	}
	z := mean[connected] - mean[apart] + margin
	if z <= 0 {
		return loss, w
	}
	e := math.Exp(z)
	eDot := e * (meanDot[connected] - meanDot[apart])
	w[connected].e, w[apart].e = e, e
	w[connected].gamma -= e / float64(count[connected])
	w[connected].gammaDot -= eDot / float64(count[connected])
	w[apart].gamma += e / float64(count[apart])
	w[apart].gammaDot += eDot / float64(count[apart])
	return loss + math.Expm1(z), w
}
