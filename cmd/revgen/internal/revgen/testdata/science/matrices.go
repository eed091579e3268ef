package science

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// perceptron is the mean cross entropy of a network with one hidden layer.
//
//revgen:gradient w1 b1 w2 b2
func perceptron(w1 *mat.Dense, b1 *mat.VecDense, w2 *mat.Dense, b2 *mat.VecDense, x *mat.Dense, labels []int) float64 {
	var h, o mat.Dense
	h.Mul(x, w1.T())
	rows, hidden := h.Dims()
	for i := 0; i < rows; i++ {
		for j := 0; j < hidden; j++ {
			h.Set(i, j, math.Max(0, h.At(i, j)+b1.AtVec(j)))
		}
	}
	o.Mul(&h, w2.T())
	loss := 0.0
	for i, label := range labels {
		row := o.RawRowView(i)
		sum := 0.0
		for j := range row {
			row[j] += b2.AtVec(j)
			sum += math.Exp(row[j])
		}
		loss += math.Log(sum) - row[label]
	}
	return loss / float64(rows)
}

// ridge is a fit by least squares, with its penalty.
//
//revgen:gradient w
func ridge(w *mat.VecDense, x *mat.Dense, y *mat.VecDense, penalty float64) float64 {
	var r mat.VecDense
	r.MulVec(x, w)
	r.SubVec(&r, y)
	return mat.Dot(&r, &r) + penalty*mat.Dot(w, w)
}

// quadratic is xᵀ·A·x/2 + bᵀ·x of a matrix in two halves.
//
//revgen:gradient p hessian
func quadratic(p []float64, a *mat.Dense) float64 {
	x := mat.NewVecDense(len(p), p)
	y := mat.NewVecDense(len(p), nil)
	y.MulVec(a, x)
	z := mat.NewVecDense(len(p), nil)
	z.MulVec(a.T(), x)
	z.AddScaledVec(z, 0.5, y)
	z.MulElemVec(z, x)
	return mat.Sum(z) + mat.Inner(x, a, y) + floats.LogSumExp(p)*mat.Norm(x, 2)
}

// vectors calls functions of floats and stat.
//
//revgen:gradient x y
func vectors(x, y []float64) float64 {
	z := make([]float64, len(x))
	floats.AddTo(z, x, y)
	floats.Add(z, y)
	floats.Scale(0.5, z)
	floats.AddScaled(z, x[0], y)
	floats.Sub(z, x)
	floats.AddConst(y[1], z)
	u := make([]float64, len(x))
	floats.AddScaledTo(u, z, y[2], x)
	floats.Mul(u, y)
	floats.CumSum(z, u)
	floats.MulTo(u, z, x)
	floats.SubTo(u, u, y)
	floats.ScaleTo(z, x[1], u)
	s := floats.Dot(u, z) + floats.Sum(u)*floats.Max(x) - floats.Min(u) + floats.LogSumExp(z)
	s += floats.Norm(u, 2) + floats.Norm(x, 1)*floats.Norm(z, math.Inf(1)) + floats.Distance(x, u, 2)
	s += stat.Mean(x, nil)*stat.Mean(u, []float64{1, 2, 3, 4}) + stat.Variance(u, nil) + stat.StdDev(z, nil)
	return s + stat.Covariance(x, y, nil)*stat.Correlation(x, u, nil) + floats.Prod(x)
}

// columns calls methods of vectors.
//
//revgen:gradient x
func columns(x *mat.VecDense, a *mat.Dense) float64 {
	var y, z mat.VecDense
	y.AddVec(x, x)
	z.SubVec(&y, x)
	z.MulElemVec(&z, x)
	w := new(mat.VecDense)
	w.DivElemVec(&z, &y)
	w.AddScaledVec(w, x.AtVec(0), &z)
	for i := 0; i < w.Len(); i++ {
		w.SetVec(i, math.Sin(w.AtVec(i))+x.At(i, 0))
	}
	y.ScaleVec(w.AtVec(1), &z)
	y.MulVec(a.T(), &y)
	u := mat.VecDenseCopyOf(&y)
	z.CopyVec(w)
	z.AddVec(&z, u)
	return mat.Dot(&z, w) + mat.Sum(&y) + mat.Norm(&y, 2) + mat.Inner(x, a, w)
}

// tables calls methods of matrices.
//
//revgen:gradient a b
func tables(a, b *mat.Dense) float64 {
	var c, d, e mat.Dense
	c.Add(a, b.T())
	d.Sub(&c, a)
	d.MulElem(&d, &c)
	e.Apply(func(i, j int, v float64) float64 { return math.Tanh(v) + float64(i-j)*v*v }, &d)
	e.Scale(a.At(0, 1), &e)
	c.Mul(&e, b)
	c.Mul(&c, a.T()) // as it is now
	n, m := c.Dims()
	for i := range n {
		row := c.RawRowView(i)
		for j := range m {
			row[j] += b.At(j, i)
			d.Set(j, i, d.At(i, j)*row[j])
		}
	}
	d.SetRow(1, c.RawRowView(2))
	var o mat.Dense
	o.Outer(a.At(1, 1), a.RowView(0), b.RowView(1))
	o.DivElem(&o, addOne(&d))
	f := mat.DenseCopyOf(o.T())
	f.Mul(f.T(), &c)
	return mat.Sum(f) + mat.Trace(&d) + mat.Norm(&e, 2)*c.Trace()
}

func addOne(m mat.Matrix) *mat.Dense {
	r, c := m.Dims()
	out := mat.NewDense(r, c, nil)
	for i := range r {
		for j := range c {
			v := m.At(i, j)
			out.Set(i, j, 1+v*v)
		}
	}
	return out
}

// deep is a network of any depth.
type deep struct {
	weights []*mat.Dense
	bias    []*mat.VecDense
	scale   *mat.VecDense
}

//revgen:gradient d
func (d *deep) loss(x *mat.VecDense) float64 {
	a := mat.VecDenseCopyOf(x)
	for l, w := range d.weights {
		z := mat.NewVecDense(d.bias[l].Len(), nil)
		z.MulVec(w, a)
		z.AddVec(z, d.bias[l])
		squash(z)
		a = z
	}
	a.MulElemVec(a, d.scale)
	return mat.Dot(a, a)
}

func squash(v *mat.VecDense) {
	for i := range v.Len() {
		v.SetVec(i, math.Tanh(v.AtVec(i)))
	}
}

// corner is the sum of the sines of the first n elements of the first n rows. It panics if there
// are fewer.
//
//revgen:gradient a
func corner(a *mat.Dense, n int) float64 {
	sum := 0.0
	for i := range n {
		for j := range n {
			sum += math.Sin(a.At(i, j))
		}
	}
	return sum
}

// partOfRow sums elements of a row, some of which may be outside of the matrix.
//
//revgen:gradient x
func partOfRow(x []float64, a *mat.Dense, i, lo, hi int) float64 {
	s := 0.0
	for j := lo; j < hi; j++ {
		s += a.At(i, j)
	}
	return s * x[0]
}
