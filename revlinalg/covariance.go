package revlinalg

import (
	"revnum/internal/number"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// Covariance is the kernel
//
//	C += Zᵀ·Z/(n-1),  Z = X - 1·mᵀ,  m_j = Σ_i x_ij/n
//
// of n observations of k variables, the rows of an n×k matrix X, with the
// derivatives, where Ż is Ẋ less the means of its columns,
//
//	X̄ += Z·(C̄ + C̄ᵀ)/(n-1),  Ċ += (Żᵀ·Z + Zᵀ·Ż)/(n-1),
//	ġX += (Z·(ġC + ġCᵀ) + Ż·(C̄ + C̄ᵀ))/(n-1).
//
// The covariance is that of a sample, as in gonum's stat.CovarianceMatrix without
// weights. Both triangles of C get the same bits. Each element is within a few
// n·ε·√(C_ii·C_jj) plus the square of the rounding of the means. In fixed point Zᵀ·Z
// must be below 2²⁰, and is rounded once. The covariance of fewer than two observations
// is NaN. In fixed point nothing is added then.
type Covariance[T rev.Real] struct {
	C       rev.General[T] `rev:"acc" shape:"k,k"`
	X       rev.General[T] `rev:"in" shape:"n,k"`
	Workers int            // 0 means GOMAXPROCS
}

// covarianceSpace is scratch: centred observations, their tangents, and a matrix of the
// shape of C.
type covarianceSpace[T rev.Real] struct {
	z, dz, c rev.General[T]
	means    []T
}

// covarianceRun is Run of Covariance. It returns no error.
func covarianceRun[T rev.Real](k *Covariance[T], p *rev.Pass[Covariance[T]]) error {
	w := workspace.Get[*covarianceSpace[T]]()
	z := w.centred(&w.z, k.X)
	if k.C.Data != nil {
		s := covarianceZeroSquare(k, w)
		covarianceAddSquare(k, s, z)
		covarianceAddShares(k, k.C, s, p.Sign())
	}
	if p.T.X.Data != nil {
		dz := w.centred(&w.dz, p.T.X)
		if p.T.C.Data != nil {
			s := covarianceZeroSquare(k, w)
			multiply(k.Workers, s, 1, view(dz, true), view(z, false))
			multiply(k.Workers, s, 1, view(z, true), view(dz, false))
			covarianceAddShares(k, p.T.C, s, p.Sign())
		}
		covarianceAddGradient(k, w, p.GT.X, dz, p.G.C)
	}
	covarianceAddGradient(k, w, p.G.X, z, p.G.C)
	covarianceAddGradient(k, w, p.GT.X, z, p.GT.C)
	workspace.Put(w)
	return nil
}

// centred returns x less the means of its columns, in z.
func (w *covarianceSpace[T]) centred(z *rev.General[T], x rev.General[T]) rev.General[T] {
	*z, w.means = scratch(*z, x.Rows, x.Cols), workspace.Zeros(w.means, x.Cols)
	means := w.means
	for i := range x.Rows {
		vector.AddScaled(1, number.One[T](), vector.Row(x, i), rev.ViewSlice(means))
	}
	for j, s := range means {
		means[j] = number.Over(s, x.Rows)
	}
	for i := range x.Rows {
		copy(z.Row(i), x.Row(i))
		vector.AddScaled(-1, number.One[T](), rev.ViewSlice(means), vector.Row(*z, i))
	}
	return *z
}

// squareColumns is how many columns of Zᵀ·Z are computed at a time, from the diagonal on.
const squareColumns = 48

// covarianceAddSquare adds Zᵀ·Z to s, which is symmetric. What is above the diagonal is copied.
func covarianceAddSquare[T rev.Real](k *Covariance[T], s, z rev.General[T]) {
	for j := 0; j < z.Cols; j += squareColumns {
		n := min(squareColumns, z.Cols-j)
		multiply(k.Workers, block(s, j, j, z.Cols-j, n), 1, view(block(z, 0, j, z.Rows, z.Cols-j), true), view(block(z, 0, j, z.Rows, n), false))
	}
	for j := 0; j < s.Cols; j += transposeTile {
		for i := j; i < s.Rows; i++ {
			for l, v := range s.Row(i)[j:min(j+transposeTile, i)] {
				s.Data[(j+l)*s.Stride+i] = v
			}
		}
	}
}

// covarianceZeroSquare returns a matrix of zeros of the shape of C, in w.
func covarianceZeroSquare[T rev.Real](k *Covariance[T], w *covarianceSpace[T]) rev.General[T] {
	w.c = zeros(w.c, k.X.Cols, k.X.Cols)
	return w.c
}

// covarianceAddShares adds sign·s/(n-1) to c.
func covarianceAddShares[T rev.Real](k *Covariance[T], c, s rev.General[T], sign int) {
	for i := range c.Rows {
		if !number.IsFixed[T]() {
			vector.AddScaled(sign, number.Over(number.One[T](), k.X.Rows-1), vector.Row(s, i), vector.Row(c, i))
			continue
		}
		for j, v := range s.Row(i) {
			c.Data[i*c.Stride+j] += number.Signed(sign, number.Over(v, k.X.Rows-1))
		}
	}
}

// covarianceAddGradient adds Z·(C̄ + C̄ᵀ)/(n-1) to X̄. It does nothing if a cotangent is nil.
func covarianceAddGradient[T rev.Real](k *Covariance[T], w *covarianceSpace[T], gx, z, gc rev.General[T]) {
	if gx.Data == nil || gc.Data == nil {
		return
	}
	s := covarianceZeroSquare(k, w)
	for i := range gc.Rows {
		for j := range gc.Cols {
			s.Data[i*s.Stride+j] = number.Over(gc.Data[i*gc.Stride+j]+gc.Data[j*gc.Stride+i], k.X.Rows-1)
		}
	}
	multiply(k.Workers, gx, 1, view(z, false), view(s, false))
}
