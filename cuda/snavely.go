package cuda

import "revnum/rev"

// Snavely is the kernel of [ba.Snavely],
//
//	R += π(c, X) - x
//
// the reprojection errors of cameras with the parameters r, t, f, k1, k2. With the rotation R by r,
//
//	y = R·X + t,  p = -(y₁, y₂)/y₃,  s = ‖p‖²,  π = f·(1 + k1·s + k2·s²)·p.
//
// With J the Jacobian of R by cameras, points and features, the derivatives are
//
//	x̄ += Jᵀ·R̄,  Ṙ += J·ẋ,  ġx += Jᵀ·ġR + (∂J[ẋ])ᵀ·R̄
//
// where ġR is the tangent of R̄. The documentation of [ba.Snavely] has the factors of J.
//
// Camera and Point are the camera and the point of each observation. They must not change: a pass
// reads them on the host once, and then keeps lists of the observations of each camera and
// point until they are freed. An index that is not a row is an error, which wraps
// mat.ErrRowAccess.
//
// Cotangents of cameras and points are added up in an order that depends on the observations alone. Over Q43 all passes
// have the bits of the CPU, but they do not look for values that leave the range. These
// wrap.
type Snavely[T rev.Real] struct {
	R        Vector[T]  `rev:"acc" shape:"2*p"`
	Cameras  General[T] `rev:"in" shape:"n,9"`
	Points   General[T] `rev:"in" shape:"m,3"`
	Features General[T] `rev:"in" shape:"p,2"`

	Camera, Point Memory[int32] `rev:"index" shape:"p"`
}

// Run implements rev.Kernel. It returns the errors of the device and of indices.
func (k Snavely[T]) Run(p rev.Pass[Snavely[T]]) error {
	w := begin(&k, &p)
	o := k.observations()
	o.run(&w, p.Sign(), p.G.observations(), p.T.observations(), p.GT.observations(), jacobian[T]{})
	return w.end()
}

// Jacobian computes R += π(c, X) - x, if R is not nil, and stores the Jacobian in j, as
// ba.Snavely does. It panics with a *rev.OperandError if j is not 2p×12.
func (k Snavely[T]) Jacobian(j General[T]) error {
	p := rev.ForwardPass(&k)
	o, at := k.observations(), jacobian[T]{j: j}
	at.check(&o)
	w := begin(&k, &p)
	return at.run(&w, o)
}

func (k Snavely[T]) observations() observations[T] {
	return observations[T]{r: k.R, cameras: k.Cameras, points: k.Points, features: k.Features, camera: k.Camera, point: k.Point}
}
