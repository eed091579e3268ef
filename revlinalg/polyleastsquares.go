package revlinalg

import (
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// PolyLeastSquares is the kernel
//
//	Out += ½ Σ_i r_i²,  r_i = y_i - p(x_i),  p(x) = Σ_{j<m} c_j·x^j,
//
// the objective of fitting a polynomial p to points (x_i, y_i): the linear
// least squares problem ½‖y - V·c‖² with the Vandermonde matrix V_ij = x_i^j.
// The derivatives are
//
//	c̄ -= Ōut·Vᵀ·r,  x̄_i -= Ōut·r_i·pʹ(x_i),  ȳ += Ōut·r,
//	Ȯut += Σ_i r_i·ṙ_i,  ṙ_i = ẏ_i - ṗ(x_i) - pʹ(x_i)·ẋ_i
//
// and, of second order,
//
//	ġc -= Vᵀ·u + Ōut·V̇ᵀ·r,  ġy += u,
//	ġx_i -= u_i·pʹ(x_i) + Ōut·r_i·(ṗʹ(x_i) + pʺ(x_i)·ẋ_i).
//
// The powers of one panel of points are in memory at a time, and only the first q of
// them. With j = q·a + b the coefficients are a matrix C_ab, and
//
//	p(x) = Σ_a (Σ_b C_ab·x^b)·(x^q)^a
//
// is a matrix product over the panel, followed by Horner's rule in x^q
// (Paterson and Stockmeyer 1973). The transpose runs backward: r·(x^q)^a for all a, and
// then a matrix product with x^b. Nearly all the work, 2·m·n operations forward and as
// many for c̄, therefore runs at the speed of matrix products.
//
// p(x) is within a small multiple of m·ε·Σ|c_j·x^j|. Nothing overflows unless x^(m-1)
// or a term does. There is no kernel over fixed point, because the powers leave its
// range or fall below its precision.
type PolyLeastSquares[T rev.Float] struct {
	Out     *T            `rev:"acc"`
	C       rev.Vector[T] `rev:"in" shape:"m"` // coefficients, beginning with that of x^0
	X       rev.Vector[T] `rev:"in" shape:"n"` // abscissae
	Y       rev.Vector[T] `rev:"in" shape:"n"` // ordinates
	Workers int           // 0 means GOMAXPROCS
}

// polyLeastSquaresRun is Run of PolyLeastSquares. It returns no error.
func polyLeastSquaresRun[T rev.Float](k *PolyLeastSquares[T], p *rev.Pass[PolyLeastSquares[T]]) error {
	w := workspace.Get[*polyPass[T]]()
	w.k, w.t = *k, p.T
	if p.G.Out != nil { // else a gradient of zero
		w.g = p.G
	}
	if p.G.Out != nil || p.GT.Out != nil {
		w.gt = p.GT
	}
	workers := parallel.Workers(k.Workers)
	w.prepare(workers)
	parallel.Run(workers, w.parts, w)
	value, tangent := w.join()
	if k.Out != nil {
		*k.Out += number.Signed(p.Sign(), value)
	}
	if p.T.Out != nil {
		*p.T.Out += number.Signed(p.Sign(), tangent)
	}
	w.k, w.g, w.t, w.gt = PolyLeastSquares[T]{}, PolyLeastSquares[T]{}, PolyLeastSquares[T]{}, PolyLeastSquares[T]{}
	workspace.Put(w)
	return nil
}

const (
	// polyPanel is the number of points in a panel. Its powers and residuals stay in
	// the first or second cache.
	polyPanel = 240
	// polyPowers is q, unless there are fewer coefficients.
	polyPowers = 16
	// polyParts is the largest number of parts of the points. Each has sums of its own.
	polyParts = 32
)

// polySums are ½ Σ r² and Σ r·ṙ.
type polySums[T rev.Float] struct{ value, tangent T }

// polyPass is a pass over the points.
type polyPass[T rev.Float] struct {
	k, g, t, gt PolyLeastSquares[T]

	q, rows  int // C is rows×q
	part     int // points in a part, a multiple of polyPanel
	parts    int
	cot, dot T // Ōut and its tangent

	tangents, slopes bool // whether ṙ and pʹ are needed

	c, dc, ddc  []T // coefficients of p, pʹ and pʺ, as rows×q matrices
	tc, dtc     []T // of ṗ and ṗʹ
	sums        []polySums[T]
	mr, mu, mrx []T // of each part, Vᵀ·r, Vᵀ·u and Vᵀ·(r·ẋ)
	scratch     []polyScratch[T]
	total       []T
}

// polyScratch is the scratch memory of a worker for its panel.
type polyScratch[T rev.Float] struct {
	powers []T // x^b, q×polyPanel
	terms  []T // of Horner's rule, rows×polyPanel

	x, y, tx, ty     [polyPanel]T // where operands have gaps
	xq               [polyPanel]T // x^q
	r, dr, u         [polyPanel]T // r, ṙ, u
	p, slope, change [polyPanel]T // p, pʹ, ṗʹ + pʺ·ẋ
}

func (w *polyPass[T]) prepare(workers int) {
	m, n := w.k.C.N, w.k.X.N
	w.q = min(m, polyPowers)
	w.rows = (m + polyPowers - 1) / polyPowers
	panels := (n + polyPanel - 1) / polyPanel
	w.part = polyPanel * max(8, (panels+polyParts-1)/polyParts)
	w.parts = (n + w.part - 1) / w.part

	w.cot, w.dot = number.ValueOf(w.g.Out), number.ValueOf(w.gt.Out)
	w.tangents = w.t.C.Data != nil || w.t.X.Data != nil || w.t.Y.Data != nil
	w.slopes = w.t.X.Data != nil || w.g.X.Data != nil || w.gt.X.Data != nil

	w.c = w.coefficients(w.c, w.k.C, 0)
	if w.slopes {
		w.dc = w.coefficients(w.dc, w.k.C, 1)
	}
	if w.t.C.Data != nil {
		w.tc = w.coefficients(w.tc, w.t.C, 0)
	}
	if w.gt.X.Data != nil {
		w.ddc = w.coefficients(w.ddc, w.k.C, 2)
		if w.t.C.Data != nil {
			w.dtc = w.coefficients(w.dtc, w.t.C, 1)
		}
	}
	size := w.rows * w.q
	w.sums = workspace.Grow(w.sums, w.parts)
	if w.g.C.Data != nil {
		w.mr = workspace.Zeros(w.mr, w.parts*size)
	}
	if w.gt.C.Data != nil {
		w.mu = workspace.Zeros(w.mu, w.parts*size)
		w.mrx = workspace.Zeros(w.mrx, w.parts*size)
	}
	w.scratch = workspace.Grow(w.scratch, min(workers, max(1, w.parts)))
	for i := range w.scratch {
		w.scratch[i].powers = workspace.Grow(w.scratch[i].powers, w.q*polyPanel)
		w.scratch[i].terms = workspace.Grow(w.scratch[i].terms, w.rows*polyPanel)
	}
}

// coefficients returns the coefficients of a derivative of the polynomial c, padded
// with zeros.
func (w *polyPass[T]) coefficients(dst []T, c rev.Vector[T], derivative int) []T {
	dst = workspace.Zeros(dst, w.rows*w.q)
	for j := derivative; j < c.N; j++ {
		v := c.Data[j*c.Inc]
		for d := range derivative {
			v *= T(j - d)
		}
		dst[j-derivative] = v
	}
	return dst
}

// Block works on the points of a part.
func (w *polyPass[T]) Block(worker, part int) {
	s := &w.scratch[worker]
	size := w.rows * w.q
	var sums polySums[T]
	for lo := part * w.part; lo < min((part+1)*w.part, w.k.X.N); lo += polyPanel {
		n := min(polyPanel, w.k.X.N-lo)
		x := vector.Elements(s.x[:], &w.k.X, lo, n)
		y := vector.Elements(s.y[:], &w.k.Y, lo, n)
		w.setPowers(s, x)
		r := s.r[:n]
		w.polynomial(s, r, w.c)
		vec.AxpyTo(r, -1, r, y)
		sums.value += vec.SumSquares(r)
		if w.slopes {
			w.polynomial(s, s.slope[:n], w.dc)
		}
		var tx []T
		if w.t.X.Data != nil {
			tx = vector.Elements(s.tx[:], &w.t.X, lo, n)
		}
		if w.tangents {
			sums.tangent += w.tangent(s, lo, n, tx)
		}
		polyLeastSquaresAddPoints(&w.g, s, lo, w.cot, r)
		w.gradientTangent(s, lo, n, tx)
		if w.g.C.Data != nil {
			w.addMoments(s, w.mr[part*size:], r)
		}
		if w.gt.C.Data != nil {
			w.addMoments(s, w.mu[part*size:], s.u[:n])
			if tx != nil {
				vec.MulTo(s.p[:n], r, tx)
				w.addMoments(s, w.mrx[part*size:], s.p[:n])
			}
		}
	}
	sums.value /= 2
	w.sums[part] = sums
}

// setPowers computes x^b for b < q, and x^q if there is more than one row.
func (w *polyPass[T]) setPowers(s *polyScratch[T], x []T) {
	n := len(x)
	power := func(b int) []T { return s.powers[b*polyPanel : b*polyPanel+n] }
	for b := range w.q {
		switch b {
		case 0:
			for i := range n {
				s.powers[i] = 1
			}
		case 1:
			copy(power(1), x)
		default:
			// x^b from its halves is closer than from x^(b-1), and ready sooner.
			vec.MulTo(power(b), power(b/2), power(b-b/2))
		}
	}
	if w.rows > 1 {
		vec.MulTo(s.xq[:n], power(w.q-1), x)
	}
}

// polynomial computes the polynomial with the coefficients c at the points of
// the panel.
func (w *polyPass[T]) polynomial(s *polyScratch[T], dst, c []T) {
	n := len(dst)
	if w.rows == 0 {
		clear(dst)
		return
	}
	for a := range w.rows {
		clear(s.terms[a*polyPanel : a*polyPanel+n])
	}
	dense.Gemm(w.rows, n, w.q, 1, c, w.q, 1, s.powers, polyPanel, 1, s.terms, polyPanel)
	copy(dst, s.terms[(w.rows-1)*polyPanel:])
	for a := w.rows - 2; a >= 0; a-- {
		vec.MulTo(dst, dst, s.xq[:n])
		vec.AddTo(dst, dst, s.terms[a*polyPanel:a*polyPanel+n])
	}
}

// addMoments adds Σ_i v_i·x_i^j over the panel to dst_j.
func (w *polyPass[T]) addMoments(s *polyScratch[T], dst, v []T) {
	n := len(v)
	for a := range w.rows {
		row := s.terms[a*polyPanel : a*polyPanel+n]
		if a == 0 {
			copy(row, v)
		} else {
			vec.MulTo(row, s.terms[(a-1)*polyPanel:(a-1)*polyPanel+n], s.xq[:n])
		}
	}
	dense.Gemm(w.rows, w.q, n, 1, s.terms, polyPanel, 1, s.powers, 1, polyPanel, dst, w.q)
}

// tangent sets ṙ and returns Σ r·ṙ over the panel.
func (w *polyPass[T]) tangent(s *polyScratch[T], lo, n int, tx []T) T {
	dr := s.dr[:n]
	clear(dr)
	if w.t.Y.Data != nil {
		copy(dr, vector.Elements(s.ty[:], &w.t.Y, lo, n))
	}
	p := s.p[:n]
	if w.t.C.Data != nil {
		w.polynomial(s, p, w.tc)
		vec.Axpy(-1, p, dr)
	}
	if tx != nil {
		vec.MulTo(p, s.slope[:n], tx)
		vec.Axpy(-1, p, dr)
	}
	return vec.Dot(s.r[:n], dr)
}

// polyLeastSquaresAddPoints adds alpha·v to elements of k.Y, and -alpha·v_i·pʹ(x_i) to those of k.X. k holds
// cotangents or their tangents.
func polyLeastSquaresAddPoints[T rev.Float](k *PolyLeastSquares[T], s *polyScratch[T], lo int, alpha T, v []T) {
	if k.Y.Data != nil {
		vector.AddElements(&k.Y, lo, alpha, v)
	}
	if k.X.Data != nil {
		p := s.p[:len(v)]
		vec.MulTo(p, v, s.slope[:len(v)])
		vector.AddElements(&k.X, lo, -alpha, p)
	}
}

// gradientTangent sets u, and adds to the tangents of x̄ and ȳ.
func (w *polyPass[T]) gradientTangent(s *polyScratch[T], lo, n int, tx []T) {
	if w.gt.C.Data == nil && w.gt.X.Data == nil && w.gt.Y.Data == nil {
		return
	}
	u, p := s.u[:n], s.p[:n]
	vec.ScaleTo(u, w.dot, s.r[:n])
	if w.tangents {
		vec.Axpy(w.cot, s.dr[:n], u)
	}
	polyLeastSquaresAddPoints(&w.gt, s, lo, 1, u)
	if w.gt.X.Data == nil {
		return
	}
	change := s.change[:n]
	clear(change)
	if tx != nil {
		w.polynomial(s, change, w.ddc)
		vec.MulTo(change, change, tx)
	}
	if w.t.C.Data != nil {
		w.polynomial(s, p, w.dtc)
		vec.AddTo(change, change, p)
	}
	vec.MulTo(change, change, s.r[:n])
	vector.AddElements(&w.gt.X, lo, -w.cot, change)
}

// join adds up the parts in order: ½ Σ r² and Σ r·ṙ. It adds to c̄ and its tangent.
func (w *polyPass[T]) join() (value, tangent T) {
	for _, s := range w.sums {
		value += s.value
		tangent += s.tangent
	}
	size := w.rows * w.q
	if w.g.C.Data != nil {
		vector.AddElements(&w.g.C, 0, -w.cot, w.sumOfParts(w.mr, size))
	}
	if w.gt.C.Data != nil {
		vector.AddElements(&w.gt.C, 0, -1, w.sumOfParts(w.mu, size))
		if w.t.X.Data != nil {
			// The derivative of x^j is j·x^(j-1).
			for j, m := range w.sumOfParts(w.mrx, size)[:max(1, w.k.C.N)-1] {
				w.gt.C.Data[(j+1)*w.gt.C.Inc] -= T(w.cot * (T(j+1) * m))
			}
		}
	}
	return value, tangent
}

// sumOfParts returns the sum of moments over the parts, without the padding.
func (w *polyPass[T]) sumOfParts(moments []T, size int) []T {
	w.total = workspace.Zeros(w.total, size)
	for p := range w.parts {
		vec.AddTo(w.total, w.total, moments[p*size:(p+1)*size])
	}
	return w.total[:w.k.C.N]
}
