package revlinalg

import (
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
)

// Covariance is the kernel
//
//	C += Zᵀ·Z/(n-1),  Z = X - 1·mᵀ,  m_j = Σ_i x_ij/n
//
// of n observations of k variables, the rows of an n×k matrix X, with the
// derivatives, where Ż = Ẋ less its means and Ġ is the tangent of C̄,
//
//	X̄ += Z·(C̄ + C̄ᵀ)/(n-1),  Ċ += (Żᵀ·Z + Zᵀ·Ż)/(n-1),
//	Ẋ̄ += (Z·(Ġ + Ġᵀ) + Ż·(C̄ + C̄ᵀ))/(n-1).
//
// The covariance is that of a sample, as gonum's stat.CovarianceMatrix without
// weights, and both triangles of C get it, to the same bits. Each element is
// within a few n·ε·√(C_ii·C_jj), and the square of the rounding of the means. In
// fixed point Zᵀ·Z must be below 2²⁰, and is rounded once. The covariance of
// fewer than two observations is NaN, and nothing is added in fixed point.
type Covariance[T rev.Real] struct {
	C       rev.General[T] `rev:"acc"`
	X       rev.General[T] `rev:"in"`
	Workers int            // 0 means GOMAXPROCS
}

// NewCovariance returns the kernel over gonum matrices, sharing their storage.
// It panics with mat.ErrShape if c is not k×k for the k columns of x.
func NewCovariance(c, x *mat.Dense) Covariance[float64] {
	k := Covariance[float64]{C: rev.ViewDense(c), X: rev.ViewDense(x)}
	k.checkShape()
	return k
}

func (k *Covariance[T]) checkShape() {
	if k.C.Data == nil {
		k.C.Rows, k.C.Cols = k.X.Cols, k.X.Cols // those of its cotangent
	}
	if k.C.Rows != k.X.Cols || k.C.Cols != k.X.Cols {
		panic(mat.ErrShape)
	}
}

func (k *Covariance[T]) check() {
	rev.Check(k)
	k.checkShape()
}

// covarianceSpace is scratch: centred observations and their tangents, and a
// matrix of the shape of C.
type covarianceSpace[T rev.Real] struct{ z, dz, c []T }

// Forward computes C += Zᵀ·Z/(n-1).
func (k Covariance[T]) Forward() {
	k.check()
	w := workspace.Get[covarianceSpace[T]]()
	k.addValue(w, 1)
	workspace.Put(w)
}

// Inverse computes C -= Zᵀ·Z/(n-1).
func (k Covariance[T]) Inverse() {
	k.check()
	w := workspace.Get[covarianceSpace[T]]()
	k.addValue(w, -1)
	workspace.Put(w)
}

// Adjoint computes C -= Zᵀ·Z/(n-1) and X̄ += Z·(C̄ + C̄ᵀ)/(n-1).
func (k Covariance[T]) Adjoint(g Covariance[T]) {
	k.check()
	rev.CheckLike(&k, &g)
	w := workspace.Get[covarianceSpace[T]]()
	k.addValue(w, -1)
	k.addGradient(w, g.X, centred(&w.z, k.X), g.C)
	workspace.Put(w)
}

// Tangent computes C += Zᵀ·Z/(n-1) and Ċ += (Żᵀ·Z + Zᵀ·Ż)/(n-1).
func (k Covariance[T]) Tangent(t Covariance[T]) {
	k.check()
	rev.CheckLike(&k, &t)
	w := workspace.Get[covarianceSpace[T]]()
	k.addValue(w, 1)
	k.addTangent(w, t, 1)
	workspace.Put(w)
}

// AdjointTangent computes what Adjoint does, takes back the tangent of C, and
// adds the tangent of the gradient in gt.
func (k Covariance[T]) AdjointTangent(g, t, gt Covariance[T]) {
	k.check()
	rev.CheckLike(&k, &g, &t, &gt)
	w := workspace.Get[covarianceSpace[T]]()
	k.addValue(w, -1)
	k.addTangent(w, t, -1)
	z := centred(&w.z, k.X)
	k.addGradient(w, g.X, z, g.C)
	k.addGradient(w, gt.X, z, gt.C)
	if t.X.Data != nil {
		k.addGradient(w, gt.X, centred(&w.dz, t.X), g.C)
	}
	workspace.Put(w)
}

// centred returns x less the means of its columns, in a buffer.
func centred[T rev.Real](buf *[]T, x rev.General[T]) rev.General[T] {
	*buf = workspace.Grow(*buf, x.Rows*x.Cols)
	z := rev.NewGeneral(x.Rows, x.Cols, *buf)
	for j := range x.Cols {
		var s T
		for i := range x.Rows {
			s += x.Data[i*x.Stride+j]
		}
		m := over(s, x.Rows)
		for i := range x.Rows {
			z.Data[i*z.Stride+j] = x.Data[i*x.Stride+j] - m
		}
	}
	return z
}

// addProduct computes C += A·B, or Aᵀ·B.
func (k *Covariance[T]) addProduct(c, a, b rev.General[T], transA bool) {
	m := MatMul[T]{Workers: k.Workers}
	m.multiply(c, 1, view(a, transA), view(b, false))
}

// square returns a matrix of zeros of the shape of C, in w.
func (k *Covariance[T]) square(w *covarianceSpace[T]) rev.General[T] {
	w.c = workspace.Zeros(w.c, k.X.Cols*k.X.Cols)
	return rev.NewGeneral(k.X.Cols, k.X.Cols, w.c)
}

// addShares adds sign·s/(n-1) to c.
func (k *Covariance[T]) addShares(c, s rev.General[T], sign T) {
	for i := range c.Rows {
		for j := range c.Cols {
			c.Data[i*c.Stride+j] += sign * over(s.Data[i*s.Stride+j], k.X.Rows-1)
		}
	}
}

func (k *Covariance[T]) addValue(w *covarianceSpace[T], sign T) {
	if k.C.Data == nil {
		return
	}
	z, s := centred(&w.z, k.X), k.square(w)
	k.addProduct(s, z, z, true)
	k.addShares(k.C, s, sign)
}

func (k *Covariance[T]) addTangent(w *covarianceSpace[T], t Covariance[T], sign T) {
	if t.C.Data == nil || t.X.Data == nil {
		return
	}
	z, dz, s := centred(&w.z, k.X), centred(&w.dz, t.X), k.square(w)
	k.addProduct(s, dz, z, true)
	k.addProduct(s, z, dz, true)
	k.addShares(t.C, s, sign)
}

// addGradient adds Z·(C̄ + C̄ᵀ)/(n-1) to X̄.
func (k *Covariance[T]) addGradient(w *covarianceSpace[T], gx, z, gc rev.General[T]) {
	if gx.Data == nil || gc.Data == nil {
		return
	}
	s := k.square(w)
	for i := range gc.Rows {
		for j := range gc.Cols {
			s.Data[i*s.Stride+j] = over(gc.Data[i*gc.Stride+j]+gc.Data[j*gc.Stride+i], k.X.Rows-1)
		}
	}
	k.addProduct(gx, z, s, false)
}
