package cuda

import "revnum/rev"

// Weighted is the kernel of [ba.Weighted],
//
//	R += w·(π(c, X) - x),  Z += 1 - w²
//
// the weighted reprojection errors of cameras with the parameters r, C, f, u0, v0, k1, k2. With the
// rotation R by r,
//
//	y = R·(X - C),  p = (y₁, y₂)/y₃,  s = ‖p‖²,  π = f·(1 + k1·s + k2·s²)·p + (u0, v0).
//
// With J the Jacobian of R and Z by cameras, points, weights and features, the derivatives are
//
//	x̄ += Jᵀ·(R̄, Z̄),  (Ṙ, Ż) += J·ẋ,  ġx += Jᵀ·(ġR, ġZ) + (∂J[ẋ])ᵀ·(R̄, Z̄)
//
// where ġR and ġZ are the tangents of R̄ and Z̄. The documentation of [ba.Snavely] has the factors
// of J.
//
// Camera and Point are the camera and the point of each observation. They must not change: a pass
// reads them on the host once, and then keeps lists of the observations of each camera and
// point until they are freed. An index that is not a row is an error, which wraps
// mat.ErrRowAccess.
//
// Cotangents of cameras and points are added up in an order that depends on the observations alone. Over Q43 all passes
// have the bits of the CPU, but they do not look for values that leave the range. These
// wrap.
type Weighted[T rev.Real] struct {
	R        Vector[T]  `rev:"acc" shape:"2*p"`
	Z        Vector[T]  `rev:"acc" shape:"p"`
	Cameras  General[T] `rev:"in" shape:"n,11"`
	Points   General[T] `rev:"in" shape:"m,3"`
	Weights  Vector[T]  `rev:"in" shape:"p"`
	Features General[T] `rev:"in" shape:"p,2"`

	Camera, Point Memory[int32] `rev:"index" shape:"p"`
}

// Run implements rev.Kernel. It returns the errors of the device and of indices.
func (k Weighted[T]) Run(p rev.Pass[Weighted[T]]) error {
	w := begin(&k, &p)
	o := k.observations()
	o.run(&w, p.Sign(), p.G.observations(), p.T.observations(), p.GT.observations(), jacobian[T]{})
	return w.end()
}

// Jacobian computes R += w·(π(c, X) - x) and Z += 1 - w², if these are not nil, and stores
// the Jacobian in j and dz, as ba.Weighted does. It panics with a *rev.OperandError if j is not
// 2p×15, or if dz has not p elements.
func (k Weighted[T]) Jacobian(j General[T], dz Vector[T]) error {
	p := rev.ForwardPass(&k)
	o, at := k.observations(), jacobian[T]{j: j, dz: dz}
	at.check(&o)
	w := begin(&k, &p)
	return at.run(&w, o)
}

func (k Weighted[T]) observations() observations[T] {
	return observations[T]{
		weighted: true, r: k.R, z: k.Z, cameras: k.Cameras, points: k.Points, weights: k.Weights, features: k.Features,
		camera: k.Camera, point: k.Point,
	}
}
