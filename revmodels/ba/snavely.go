package ba

import (
	"unsafe"

	"revnum/internal/passkind"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

const (
	snavelyParams  = 9
	snavelyColumns = snavelyParams + 3
)

// Snavely is the kernel
//
//	R += π(c, X) - x
//
// of the reprojection errors of the camera model of Bundler and of Bundle Adjustment in
// the Large. Each of p observations has a camera, a point X and a feature x. With the
// parameters r, t, f, k1, k2 of the camera and the rotation R by r,
//
//	y = R·X + t,  p = -(y₁, y₂)/y₃,  s = ‖p‖²,  π = f·(1 + k1·s + k2·s²)·p.
//
// With J the Jacobian of R by cameras, points and features, the derivatives are
//
//	x̄ += Jᵀ·R̄,  Ṙ += J·ẋ,  ġx += Jᵀ·ġR + (∂J[ẋ])ᵀ·R̄
//
// where ġR is the tangent of R̄.
//
// # The Jacobian
//
// Let q = y - t (for Weighted q = y) and d = 1 + k1·s + k2·s². Let K be the matrix of
// the derivative of a rotation, ∂(R·X)/∂r·δ = (K·δ) × (R·X). The Jacobian J of π is
// the product of
//
//	∂π/∂p = f·(d·I + 2·(k1 + 2·k2·s)·p·pᵀ)
//	∂p/∂y = -(I, p)/y₃,    (I, -p)/y₃ for Weighted
//	∂y/∂r = -[q]ₓ·K,  ∂y/∂t = I,  ∂y/∂C = -R,  ∂y/∂X = R
//
// and also ∂π/∂f = d·p, ∂π/∂k1 = f·s·p, ∂π/∂k2 = f·s²·p and ∂π/∂(u0, v0) = I.
// Everything is analytic in r, also at 0. At depth y₃ = 0 nothing is defined.
type Snavely[T rev.Real] struct {
	R        rev.Vector[T]  `rev:"acc" shape:"2*p"` // two residuals an observation
	Cameras  rev.General[T] `rev:"in" shape:"n,9"`  // angle-axis r, translation t, f, k1, k2
	Points   rev.General[T] `rev:"in" shape:"m,3"`
	Features rev.General[T] `rev:"in" shape:"p,2"`

	// The camera and the point of each observation: rows of Cameras and Points.
	Camera, Point []int `rev:"index" shape:"p"`

	Workers int // goroutines to use; 0 means GOMAXPROCS
}

func snavelyProblem[T rev.Real](k *Snavely[T]) problem[T] {
	return problem[T]{
		model: views.Snavely, r: k.R, cameras: k.Cameras, points: k.Points, features: k.Features,
		camera: k.Camera, point: k.Point, workers: k.Workers,
	}
}

// snavelyRun is Run of Snavely. In fixed point it returns an error, and changes nothing, if
// a value that the pass needs leaves the range, or if a point is at depth 0. The error
// names the first such observation, and wraps fixed.ErrRange or fixed.ErrDivideByZero.
// It does not check products of the Jacobian with cotangents and tangents, nor their
// sums. In floating point it returns no error.
func snavelyRun[T rev.Real](k *Snavely[T], p *rev.Pass[Snavely[T]]) error {
	q := snavelyProblem(k)
	return q.pass(T(p.Sign()), snavelyProblem(&p.G), snavelyProblem(&p.T), snavelyProblem(&p.GT))
}

// Jacobian computes R += π(c, X) - x, if R is not nil, and stores the Jacobian in j,
// which is 2p×12. Row 2i+c has the derivatives of residual c of observation i by the
// nine parameters of its camera and the three of its point. It panics with mat.ErrShape
// if j has another shape, and returns what Run returns.
func (k Snavely[T]) Jacobian(j rev.General[T]) error {
	return snavelyJacobian(passkind.Of[T](), unsafe.Pointer(&k), unsafe.Pointer(&j))
}
