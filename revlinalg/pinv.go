package revlinalg

import (
	"revnum/internal/workspace"
	"revnum/rev"
)

// Pinv is the kernel
//
//	X += A⁺,
//
// the pseudo-inverse of Moore and Penrose of an m×n matrix of full rank. A⁺ is the inverse of A if that
// exists, (AᵀA)⁻¹·Aᵀ if m > n, and the transpose of (Aᵀ)⁺ if m < n.
//
// # Derivatives
//
// With Y for A⁺ and m >= n, P = I - A·Y and S = Y·Yᵀ, the derivatives are (Golub and Pereyra 1973, 4.12)
//
//	Ẋ += Ẏ = S·ȦᵀP - Y·Ȧ·Y,  Ā += P·W - Yᵀ·M,  W = X̄ᵀ·S,  M = X̄·Yᵀ,
//
// and, of second order,
//
//	ġA += P·Ẇ - (Ȧ·Y + A·Ẏ)·W - Ẏᵀ·M - Yᵀ·Ṁ,
//	Ẇ = ġXᵀ·S + X̄ᵀ·(Ẏ·Yᵀ + Y·Ẏᵀ),  Ṁ = ġX·Yᵀ + X̄·Ẏᵀ.
//
// If you need A⁺·B, use [LeastSquares], which takes less time and is closer.
//
// # Method and rounding
//
// Each method factors A (Aᵀ if m < n) as [QR] does: A = Q·R, Y = R⁻¹·Qᵀ and P = I - Q·Qᵀ. Y is A⁺ of a matrix
// within a small multiple of m·n·ε of A, in norm, by columns (Higham 2002, theorem 20.3). The bits do not
// depend on the number of workers. AdjointTangent, which takes most, has scratch of seven matrices of the size
// of A and four of order n, and if m < n of eight more of the first kind.
//
// If A does not have full rank to working precision, in the sense of [QR], all methods return a
// *rev.SingularError and write nothing: A⁺ jumps where the rank changes, and has no derivative.
//
// There is no kernel over fixed point, where the inverse of a small matrix is out of range.
//
// Source: G. H. Golub and V. Pereyra, The differentiation of pseudo-inverses and nonlinear least squares
// problems whose variables separate, SIAM J. Numer. Anal. 10 (1973).
type Pinv[T rev.Float] struct {
	X       rev.General[T] `rev:"acc" shape:"n,m"`
	A       rev.General[T] `rev:"in" shape:"m,n"`
	Workers int            // 0 means GOMAXPROCS
}

// pinvRun is Run of Pinv.
func pinvRun[T rev.Float](k *Pinv[T], p *rev.Pass[Pinv[T]]) error {
	if k.A.Rows < k.A.Cols {
		return pinvRunWide(k, p)
	}
	w := workspace.Get[*pinvWork[T]]()
	defer workspace.Put(w)
	if err := w.decompose(k.Workers, k.A, (*qrWork[T]).householder); err != nil {
		return err
	}
	m, n := k.A.Rows, k.A.Cols
	sign, g, t, gt := T(p.Sign()), &p.G, &p.T, &p.GT
	multiplyInto := func(c *rev.General[T], rows, cols int, a, b strided[T]) strided[T] {
		*c = zeros(*c, rows, cols)
		multiply(k.Workers, *c, 1, a, b)
		return view(*c, false)
	}
	q := view(w.q, false)
	project := func(x rev.General[T]) { // x <- P·x
		qx := multiplyInto(&w.small, n, x.Cols, q.t(), view(x, false))
		multiply(k.Workers, x, -1, q, qx)
	}

	w.y = scratch(w.y, n, m)
	copyTransposed(w.y, w.q)
	solveTriangular(k.Workers, view(w.r, false), false, false, w.y)
	addShared(k.Workers, k.X, sign, w.y)
	gradient, tangent := g.X.Data != nil && (g.A.Data != nil || gt.A.Data != nil && t.A.Data != nil), t.A.Data != nil
	second := gt.X.Data != nil && gt.A.Data != nil
	if !gradient && !tangent && !second {
		return nil
	}
	y := view(w.y, false)
	s := multiplyInto(&w.s, n, n, y, y.t())
	var dy strided[T]
	if tangent {
		w.rest = scratchCopy(w.rest, t.A)
		project(w.rest)
		dy = multiplyInto(&w.dy, n, m, s, view(w.rest, true))
		ya := multiplyInto(&w.small, n, n, y, view(t.A, false))
		multiply(k.Workers, w.dy, -1, ya, y)
		addShared(k.Workers, t.X, sign, w.dy)
	}
	if gradient {
		gx := view(g.X, false)
		multiplyInto(&w.w, m, n, gx.t(), s)
		mt := multiplyInto(&w.m, n, n, gx, y.t())
		if tangent && gt.A.Data != nil {
			multiply(k.Workers, gt.A, -1, dy.t(), mt)
			for _, f := range [...][2]strided[T]{{view(t.A, false), y}, {view(k.A, false), dy}} {
				yw := multiplyInto(&w.small, n, n, f[1], view(w.w, false))
				multiply(k.Workers, gt.A, -1, f[0], yw)
			}
		}
		if g.A.Data != nil {
			multiply(k.Workers, g.A, -1, y.t(), mt)
			project(w.w)
			addShared(k.Workers, g.A, 1, w.w)
		}
	}
	if gt.A.Data == nil {
		return nil
	}
	// Ẇ and Ṁ.
	w.w, w.m = zeros(w.w, m, n), zeros(w.m, n, n)
	if second {
		multiply(k.Workers, w.w, 1, view(gt.X, true), s)
		multiply(k.Workers, w.m, 1, view(gt.X, false), y.t())
	}
	if gradient && tangent {
		gx := view(g.X, false)
		multiply(k.Workers, w.m, 1, gx, dy.t())
		w.s = zeros(w.s, n, n)
		multiply(k.Workers, w.s, 1, dy, y.t())
		multiply(k.Workers, w.s, 1, y, dy.t())
		multiply(k.Workers, w.w, 1, gx.t(), view(w.s, false))
	}
	multiply(k.Workers, gt.A, -1, y.t(), view(w.m, false))
	project(w.w)
	addShared(k.Workers, gt.A, 1, w.w)
	return nil
}

// pinvWork has the factors of A, Y and Ẏ, S and Ṡ, W and Ẇ, M and Ṁ, P·Ȧ, and products of small size.
type pinvWork[T rev.Float] struct {
	qrWork[T]
	y, dy, s, w, m, rest, small rev.General[T]
}

// pinvRunWide makes the pass over the transposes.
func pinvRunWide[T rev.Float](k *Pinv[T], p *rev.Pass[Pinv[T]]) error {
	w := workspace.Get[*pinvTransposes[T]]()
	defer workspace.Put(w)
	tall := *p
	from := [4]*Pinv[T]{k, &p.G, &p.T, &p.GT}
	to := [4]*Pinv[T]{{Workers: k.Workers}, &tall.G, &tall.T, &tall.GT}
	read := [4][2]bool{{false, true}, {true, false}, {false, true}, {true, false}} // X and A
	for i, f := range from {
		for j, src := range [...]rev.General[T]{f.X, f.A} {
			dst := rev.General[T]{}
			if src.Data != nil {
				w.m[i][j] = zeros(w.m[i][j], src.Cols, src.Rows)
				dst = w.m[i][j]
				if read[i][j] {
					copyTransposed(dst, src)
				}
			}
			*[...]*rev.General[T]{&to[i].X, &to[i].A}[j] = dst
		}
	}
	if err := pinvRun(to[0], &tall); err != nil {
		return err
	}
	for i, f := range from {
		for j, dst := range [...]rev.General[T]{f.X, f.A} {
			if dst.Data != nil && !read[i][j] {
				addTransposed(k.Workers, dst, 1, w.m[i][j])
			}
		}
	}
	return nil
}

// pinvTransposes has the transposes of X and A, and of their derivatives.
type pinvTransposes[T rev.Float] struct{ m [4][2]rev.General[T] }
