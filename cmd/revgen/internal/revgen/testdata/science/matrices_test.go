package science

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// dense is a matrix with the elements x, which it shares, and vec a vector.
func dense(x []float64, cols int) *mat.Dense { return mat.NewDense(len(x)/cols, cols, x) }

func vector(x []float64) *mat.VecDense { return mat.NewVecDense(len(x), x) }

func TestMatrices(t *testing.T) {
	x, labels := dense(random(5*3, -1, 1), 3), []int{0, 1, 1, 0, 1}
	check(t, "perceptron", random(4*3+4+2*4+2, -1, 1),
		func(p []float64) float64 {
			return perceptron(dense(p[:12:12], 3), vector(p[12:16:16]), dense(p[16:24:24], 4), vector(p[24:]), x, labels)
		},
		func(g, p []float64) float64 {
			return perceptronGradient(dense(g[:12:12], 3), vector(g[12:16:16]), dense(g[16:24:24], 4), vector(g[24:]),
				dense(p[:12:12], 3), vector(p[12:16:16]), dense(p[16:24:24], 4), vector(p[24:]), x, labels)
		})
	y := vector(random(5, -1, 1))
	check(t, "ridge", random(3, -1, 1),
		func(p []float64) float64 { return ridge(vector(p), x, y, 0.3) },
		func(g, p []float64) float64 { return ridgeGradient(vector(g), vector(p), x, y, 0.3) })
	// The gradient of ridge is 2·Xᵀ·(X·w-y) + 2·penalty·w.
	w := vector(random(3, -1, 1))
	var r, want, got mat.VecDense
	r.MulVec(x, w)
	r.SubVec(&r, y)
	want.MulVec(x.T(), &r)
	want.AddScaledVec(&want, 0.3, w)
	want.ScaleVec(2, &want)
	ridgeGradient(&got, w, x, y, 0.3) // which gets its length
	if !mat.EqualApprox(&got, &want, 1e-12) {
		t.Errorf("ridge: gradient %v, want %v", got.RawVector().Data, want.RawVector().Data)
	}
	a := dense(random(16, -1, 1), 4)
	f := func(p []float64) float64 { return quadratic(p, a) }
	g := func(grad, p []float64) float64 { return quadraticGradient(grad, p, a) }
	check(t, "quadratic", random(4, -1, 1), f, g)
	second(t, "quadratic", random(4, -1, 1), func(grad, p []float64) { g(grad, p) },
		func(dst, p, v []float64) { quadraticHessVec(dst, p, v, a) },
		func(dst *mat.SymDense, p []float64) { quadraticHessian(dst, p, a) })
	check(t, "vectors", random(8, 0.2, 1),
		func(p []float64) float64 { return vectors(p[:4], p[4:]) },
		func(g, p []float64) float64 { return vectorsGradient(g[:4], g[4:], p[:4], p[4:]) })
	check(t, "columns", random(4, 0.2, 1),
		func(p []float64) float64 { return columns(vector(p), a) },
		func(g, p []float64) float64 { return columnsGradient(vector(g), vector(p), a) })
	check(t, "tables", random(18, 0.2, 1),
		func(p []float64) float64 { return tables(dense(p[:9:9], 3), dense(p[9:], 3)) },
		func(g, p []float64) float64 {
			return tablesGradient(dense(g[:9:9], 3), dense(g[9:], 3), dense(p[:9:9], 3), dense(p[9:], 3))
		})
	net := func(p []float64) *deep {
		return &deep{
			[]*mat.Dense{dense(p[:12:12], 3), dense(p[12:24:24], 4), dense(p[24:33:33], 3)},
			[]*mat.VecDense{vector(p[33:37:37]), vector(p[37:40:40]), vector(p[40:43:43])},
			vector(p[43:46:46]),
		}
	}
	start := vector(random(3, -1, 1))
	check(t, "deep", random(46, -1, 1),
		func(p []float64) float64 { return net(p).loss(start) },
		func(g, p []float64) float64 { return net(p).lossGradient(net(g), start) })
	check(t, "corner", random(12, -1, 1),
		func(p []float64) float64 { return corner(dense(p, 4), 3) },
		func(g, p []float64) float64 { return cornerGradient(dense(g, 4), dense(p, 4), 3) })
	for _, c := range []struct {
		a    mat.Matrix // whose memory has the next element
		want any
	}{{dense(random(18, -1, 1), 2), mat.ErrColAccess}, {dense(random(18, -1, 1), 6).Slice(0, 2, 0, 6), mat.ErrRowAccess}} {
		func() {
			defer func() {
				if got := recover(); got != c.want {
					t.Errorf("corner beyond a matrix: panic %v, want %v", got, c.want)
				}
			}()
			cornerGradient(new(mat.Dense), c.a.(*mat.Dense), 3)
		}()
	}
}

// What lies outside of a matrix panics as At does, though the memory has it, and rows are read as a whole.
func TestOutsideOfRows(t *testing.T) {
	whole := mat.NewDense(4, 5, random(20, -1, 1))
	a := whole.Slice(1, 3, 1, 4).(*mat.Dense)
	x, g := []float64{2}, make([]float64, 1)
	result := func(f func() float64) (v any) {
		defer func() {
			if e := recover(); e != nil {
				v = e
			}
		}()
		return f()
	}
	for i := -1; i < 4; i++ {
		for lo := -1; lo < 5; lo++ {
			for hi := -1; hi < 6; hi++ {
				want := result(func() float64 { return partOfRow(x, a, i, lo, hi) })
				got := result(func() float64 { return partOfRowGradient(g, x, a, i, lo, hi) })
				if v, ok := want.(float64); ok && math.Abs(got.(float64)-v) > 1e-14 || !ok && got != want {
					t.Errorf("row %d from %d up to %d: %v, want %v", i, lo, hi, got, want)
				}
			}
		}
	}
}
