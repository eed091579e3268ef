package ba

import (
	"unsafe"

	"revnum/internal/passkind"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

const (
	weightedParams  = 11
	weightedColumns = weightedParams + 3 + 1
)

// Weighted is the kernel
//
//	R += w·(π(c, X) - x),  Z += 1 - w²
//
// of the weighted reprojection errors of ADBench's bundle adjustment. Each of p
// observations has a camera, a point X, a weight w and a feature x. With the parameters
// r, C, f, u0, v0, k1, k2 of the camera and the rotation R by r,
//
//	y = R·(X - C),  p = (y₁, y₂)/y₃,  s = ‖p‖²,  π = f·(1 + k1·s + k2·s²)·p + (u0, v0).
//
// With J the Jacobian of R and Z by cameras, points, weights and features, the
// derivatives are
//
//	x̄ += Jᵀ·(R̄, Z̄),  (Ṙ, Ż) += J·ẋ,  ġx += Jᵀ·(ġR, ġZ) + (∂J[ẋ])ᵀ·(R̄, Z̄)
//
// [Snavely] gives the Jacobian of π.
type Weighted[T rev.Real] struct {
	R        rev.Vector[T]  `rev:"acc" shape:"2*p"` // two residuals an observation
	Z        rev.Vector[T]  `rev:"acc" shape:"p"`   // one an observation, of the weight
	Cameras  rev.General[T] `rev:"in" shape:"n,11"` // angle-axis r, centre C, f, u0, v0, k1, k2
	Points   rev.General[T] `rev:"in" shape:"m,3"`
	Weights  rev.Vector[T]  `rev:"in" shape:"p"`
	Features rev.General[T] `rev:"in" shape:"p,2"`

	// The camera and the point of each observation: rows of Cameras and Points.
	Camera, Point []int `rev:"index" shape:"p"`

	Workers int // goroutines to use; 0 means GOMAXPROCS
}

func weightedProblem[T rev.Real](k *Weighted[T]) problem[T] {
	return problem[T]{
		model: views.Weighted, r: k.R, z: k.Z, cameras: k.Cameras, points: k.Points, weights: k.Weights, features: k.Features,
		camera: k.Camera, point: k.Point, workers: k.Workers,
	}
}

// weightedRun is Run of Weighted. In fixed point it returns an error, and changes nothing, if
// a value that the pass needs leaves the range, or if a point is at depth 0. The error
// names the first such observation, and wraps fixed.ErrRange or fixed.ErrDivideByZero.
// It does not check products of the Jacobian with cotangents and tangents, nor their
// sums. In floating point it returns no error.
func weightedRun[T rev.Real](k *Weighted[T], p *rev.Pass[Weighted[T]]) error {
	q := weightedProblem(k)
	return q.pass(T(p.Sign()), weightedProblem(&p.G), weightedProblem(&p.T), weightedProblem(&p.GT))
}

// Jacobian computes R += w·(π(c, X) - x) and Z += 1 - w² if these are not nil, and
// stores the Jacobian. Row 2i+c of j, which is 2p×15, has the derivatives of residual c
// of observation i by the eleven parameters of its camera, the three of its point and
// its weight. z, of p elements, has those of Z by the weights. It panics with
// mat.ErrShape if j or z has another shape, and returns what Run returns.
func (k Weighted[T]) Jacobian(j rev.General[T], z rev.Vector[T]) error {
	return weightedJacobian(passkind.Of[T](), unsafe.Pointer(&k), unsafe.Pointer(&j), unsafe.Pointer(&z))
}
