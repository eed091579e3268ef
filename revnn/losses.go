package revnn

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/number"
	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// SquaredError, Huber and BinaryCrossEntropy add Σ f(x_i, y_i) over the elements of two
// matrices. With d = ∂f/∂x, c = ∂²f/∂x² and e = -∂f/∂y, their passes are
//
//	Out += Σ f,  x̄ += Ōut·d,  ȳ -= Ōut·e,  Ȯut += Σ d·ẋ - e·ẏ,
//	ġx += ġOut·d + Ōut·ḋ,  ġy -= ġOut·e + Ōut·ė.
//
// SquaredError and Huber are functions of x - y: e = d and ė = ḋ = c·(ẋ - ẏ). For
// BinaryCrossEntropy, e = x and ḋ = c·ẋ - ẏ.

// lossOperands are the operands of such a kernel.
type lossOperands[T rev.Real] struct {
	out  *T
	x, y rev.General[T]
}

// A lossPass is a pass in progress.
type lossPass[T rev.Real] struct {
	loss
	k, g, t, gt lossOperands[T]

	gout, dgout T // of an element
	size        int
	sum, rate   [lossBlocks]T // of the blocks
	room        []lossRoom[T] // of each worker
	constants   [lossPiece]T  // what squaredError and logistic need in all lanes, for floats
}

// A loss is the function f of a pass, and what it needs.
type loss struct {
	f      lossFunction
	delta  float64 // of Huber
	slopes bool    // d is needed
	curves bool    // c is needed
}

type lossFunction int

const (
	squaredError lossFunction = iota
	huber
	logistic
)

const (
	lossPiece  = 512     // elements of a piece, which with its intermediate values fits the first cache
	lossBlocks = 64      // at most
	lossBlock  = 1 << 14 // elements of a block at least, and a multiple of lossPiece
)

// A lossRoom has d and c of a piece, and scratch for it.
type lossRoom[T rev.Real] struct{ d, c, v, w, x, y, tx, ty [lossPiece]T }

// runLoss makes a pass. It divides the sum by the number of elements if mean is set.
func runLoss[T rev.Real](f loss, sign int, mean bool, workers int, k, g, t, gt lossOperands[T]) {
	w := workspace.Get[*lossPass[T]]()
	w.loss, w.k, w.g, w.t, w.gt = f, k, g, t, gt
	w.slopes = g.out != nil || gt.out != nil || t.out != nil
	w.curves = g.out != nil && (t.x.Data != nil || t.y.Data != nil) && (gt.x.Data != nil || gt.y.Data != nil)
	n := k.x.Rows * k.x.Cols
	w.gout, w.dgout = share(g.out, mean, n), share(gt.out, mean, n)
	if c := T([...]float64{squaredError: 2, logistic: 1}[f.f]); w.constants[0] != c && f.f != huber && !number.IsFixed[T]() {
		for i := range w.constants {
			w.constants[i] = c
		}
	}
	w.size = max(lossBlock, (n/lossBlocks/lossPiece+1)*lossPiece)
	blocks := (n + w.size - 1) / w.size
	workers = parallel.Workers(workers)
	w.room = workspace.Grow(w.room, max(len(w.room), min(workers, max(1, blocks))))
	parallel.Run(workers, blocks, w)
	var sum, rate T
	for b := range blocks {
		sum += w.sum[b]
		rate += w.rate[b]
	}
	w.k, w.g, w.t, w.gt = lossOperands[T]{}, lossOperands[T]{}, lossOperands[T]{}, lossOperands[T]{} // without the caller's storage
	workspace.Put(w)
	if k.out != nil {
		*k.out += number.Signed(sign, share(&sum, mean, n))
	}
	if t.out != nil {
		*t.out += number.Signed(sign, share(&rate, mean, n))
	}
}

// share returns x, or x/n if mean is set. It returns zero for nil, and for no elements.
func share[T rev.Real](x *T, mean bool, n int) T {
	switch {
	case x == nil || n == 0:
		return 0
	case mean:
		return number.Over(*x, n)
	}
	return *x
}

// Block works on a block of elements, in pieces.
func (w *lossPass[T]) Block(worker, block int) {
	r, k, g, t, gt := &w.room[worker], &w.k, &w.g, &w.t, &w.gt
	var sum, rate T
	hi := min((block+1)*w.size, k.x.Rows*k.x.Cols)
	for lo := block * w.size; lo < hi; lo += lossPiece {
		n := min(lossPiece, hi-lo)
		x, y := elementsOf(r.x[:n], k.x, lo), elementsOf(r.y[:n], k.y, lo)
		sum += w.evaluate(r, x, y)
		if !w.slopes {
			continue
		}
		d, e := r.d[:n], r.d[:n]
		if w.f == logistic {
			e = x
		}
		tx, ty := elementsOf(r.tx[:n], t.x, lo), elementsOf(r.ty[:n], t.y, lo)
		if t.out != nil {
			rate += vector.Dot(rev.ViewSlice(d), rev.ViewSlice(tx)) - vector.Dot(rev.ViewSlice(e), rev.ViewSlice(ty))
		}
		if g.out != nil {
			addToElements(g.x, lo, w.gout, d)
			addToElements(g.y, lo, -w.gout, e)
		}
		if gt.out != nil {
			addToElements(gt.x, lo, w.dgout, d)
			addToElements(gt.y, lo, -w.dgout, e)
		}
		if w.curves {
			dt, et := w.turn(r, tx, ty, n)
			addToElements(gt.x, lo, w.gout, dt)
			addToElements(gt.y, lo, -w.gout, et)
		}
	}
	w.sum[block], w.rate[block] = sum, rate
}

// turn returns ḋ and ė. tx and ty may be nil.
func (w *lossPass[T]) turn(r *lossRoom[T], tx, ty []T, n int) (d, e []T) {
	d, c := r.d[:n], r.c[:n]
	at := func(v []T, i int) T {
		if v == nil {
			return 0
		}
		return v[i]
	}
	if w.f == logistic {
		for i := range d {
			d[i] = fixed.Product(c[i], at(tx, i)) - at(ty, i)
		}
		return d, tx
	}
	for i := range d {
		d[i] = fixed.Product(c[i], at(tx, i)-at(ty, i))
	}
	return d, d
}

// elementsOf returns the elements of m from lo on, by rows: m's own storage if nothing lies
// between them, and otherwise a copy in buf. It returns nil if m is nil.
func elementsOf[T any](buf []T, m rev.General[T], lo int) []T {
	switch {
	case m.Data == nil:
		return nil
	case m.Stride == m.Cols || m.Rows == 1:
		return m.Data[lo:][:len(buf)]
	}
	for done := 0; done < len(buf); {
		i, j := (lo+done)/m.Cols, (lo+done)%m.Cols
		done += copy(buf[done:], m.Row(i)[j:])
	}
	return buf
}

// addToElements adds alpha·d to the elements of m from lo on, by rows. It does nothing if m or d
// is nil.
func addToElements[T rev.Real](m rev.General[T], lo int, alpha T, d []T) {
	if m.Data == nil {
		return
	}
	for len(d) > 0 {
		row := m.Data[lo:]
		if m.Stride != m.Cols && m.Rows > 1 {
			row = m.Row(lo / m.Cols)[lo%m.Cols:]
		}
		n := min(len(d), len(row))
		vector.Axpy(alpha, rev.ViewSlice(d[:n]), rev.ViewSlice(row[:n]))
		d, lo = d[n:], lo+n
	}
}

// evaluate returns the sum of f over a piece, and computes d and c.
func (w *lossPass[T]) evaluate(r *lossRoom[T], x, y []T) T {
	switch {
	case number.IsFixed[T]():
		return number.As[T](w.fixed(number.As[*lossRoom[fixed.Q43]](r), number.As[[]fixed.Q43](x), number.As[[]fixed.Q43](y)))
	case unsafe.Sizeof(T(0)) == 4:
		return number.As[T](evaluateFloats(&w.loss, number.As[*lossRoom[float32]](r), number.As[[]float32](w.constants[:]), number.As[[]float32](x), number.As[[]float32](y)))
	}
	return number.As[T](evaluateFloats(&w.loss, number.As[*lossRoom[float64]](r), number.As[[]float64](w.constants[:]), number.As[[]float64](x), number.As[[]float64](y)))
}

func evaluateFloats[T cpu.Float](f *loss, r *lossRoom[T], constants []T, x, y []T) (sum T) {
	n := len(x)
	d, c, v, w, constants := r.d[:n], r.c[:n], r.v[:n], r.w[:n], constants[:n]
	switch f.f {
	case squaredError: // constants are 2
		vec.AxpyTo(d, -1, y, x)
		sum = vec.SumSquares(d)
		if f.slopes {
			vec.ScaleTo(d, 2, d)
		}
		if f.curves {
			copy(c, constants)
		}
	case huber: // d = max(min(x - y, δ), -δ), f = d·(x - y - d/2)
		sum = vec.Huber(d, x, y, T(f.delta))
		if f.curves {
			for i := range c {
				c[i] = 0
				if d[i] == x[i]-y[i] {
					c[i] = 1
				}
			}
		}
	case logistic: // constants are 1; with h = 1 for x > 0 and otherwise 0, f = (h-y)·x + log(1 + exp -|x|)
		vec.Abs(w, x)
		vec.ScaleTo(w, -1, w)
		vec.Softplus(v, c, w) // c = σ(-|x|)
		sum = vec.Sum(v)
		vec.ScaleTo(d, -1, y)
		vec.Rectify(d, 1, 0, x, constants)
		sum += vec.Dot(d, x)
		if f.slopes {
			vec.Rectify(d, -1, 1, x, c)
		}
		if f.curves {
			vec.AxpyTo(w, -1, c, constants)
			vec.MulTo(c, c, w)
		}
	}
	return sum
}

// fixed is evaluateFloats in fixed point. Each element is rounded by itself.
func (f *loss) fixed(r *lossRoom[fixed.Q43], x, y []fixed.Q43) (sum fixed.Q43) {
	if f.f == logistic {
		return f.fixedLogistic(r, x, y)
	}
	delta := fixed.Of[fixed.Q43](f.delta)
	for i, v := range x {
		v -= y[i]
		if f.f == squaredError {
			sum += v.Mul(v)
			r.d[i], r.c[i] = 2*v, 2*fixed.One
			continue
		}
		d := max(min(v, delta), -delta)
		sum += d.Mul(v - d/2)
		r.d[i], r.c[i] = d, 0
		if d == v {
			r.c[i] = fixed.One
		}
	}
	return sum
}

func (f *loss) fixedLogistic(r *lossRoom[fixed.Q43], x, y []fixed.Q43) (sum fixed.Q43) {
	const piece = 128
	var w, v, c [piece]float64
	for lo := 0; lo < len(x); lo += piece {
		n := min(piece, len(x)-lo)
		for i, v := range x[lo:][:n] {
			w[i] = (-v.Abs()).Float64()
		}
		vec.Softplus(v[:n], c[:n], w[:n])
		for i := range n {
			j, p := lo+i, fixed.FromFloat64(c[i])
			d := -y[j]
			if x[j] > 0 {
				d, p = d+fixed.One, -p
			}
			sum += fixed.FromFloat64(v[i]) + d.Mul(x[j])
			r.d[j], r.c[j] = d+p, fixed.FromFloat64(c[i]-float64(c[i]*c[i]))
		}
	}
	return sum
}
