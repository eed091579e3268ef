package gmm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"revnum/rev"
)

// normals returns n standard normal numbers.
func normals(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

// randomModel returns a model of random points, and random parameters.
func randomModel(rnd *rand.Rand, n, d, k int) (*Model[float64], []float64) {
	m := NewModel(mat.NewDense(n, d, normals(rnd, n*d)), k, Prior{Gamma: 0.8, M: 1})
	return m, normals(rnd, m.Dim())
}

// bare is a mat.Matrix with no other methods.
type bare struct{ mat.Matrix }

func TestModelFunc(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 3))
	for _, s := range [][3]int{{1, 1, 1}, {7, 2, 3}, {600, 3, 2}, {20, 5, 6}} {
		m, x := randomModel(rnd, s[0], s[1], s[2])
		k := m.Kernel(slices.Clone(x), nil)
		want := -wantObjective(k)
		if got := m.Func(x); !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("%v: Func = %v, want %v", s, got, want)
		}
	}
}

func TestModelDerivatives(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 4))
	for _, s := range [][3]int{{1, 1, 1}, {7, 2, 3}, {600, 3, 2}, {20, 5, 6}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			m, x := randomModel(rnd, s[0], s[1], s[2])
			kept := slices.Clone(x)
			n := m.Dim()

			grad := normals(rnd, n) // junk to overwrite
			m.Grad(grad, x)
			want := fd.Gradient(nil, m.Func, x, &fd.Settings{Formula: fd.Central})
			if !floats.EqualApprox(grad, want, 1e-5*(1+floats.Norm(want, math.Inf(1)))) {
				t.Errorf("Grad = %v\nwant   %v", grad, want)
			}
			both := normals(rnd, n)
			if f := m.FuncGrad(both, x); f != m.Func(x) {
				t.Errorf("FuncGrad = %v, Func = %v", f, m.Func(x))
			}
			if !slices.Equal(both, grad) {
				t.Errorf("FuncGrad and Grad differ: %v, %v", both, grad)
			}

			v := normals(rnd, n)
			hv := normals(rnd, n)
			m.HessVec(hv, x, v)
			const h = 1e-5
			up, down := make([]float64, n), make([]float64, n)
			at := make([]float64, n)
			m.Grad(up, floats.AddScaledTo(at, x, h, v))
			m.Grad(down, floats.AddScaledTo(at, x, -h, v))
			floats.Sub(up, down)
			floats.Scale(1/(2*h), up)
			if !floats.EqualApprox(hv, up, 1e-6*(1+floats.Norm(up, math.Inf(1)))) {
				t.Errorf("HessVec = %v\nwant      %v", hv, up)
			}

			hess := mat.NewSymDense(n, normals(rnd, n*n))
			m.Hess(hess, x)
			var prod mat.VecDense
			prod.MulVec(hess, mat.NewVecDense(n, v))
			if !floats.EqualApprox(prod.RawVector().Data, hv, 1e-11*(1+floats.Norm(hv, math.Inf(1)))) {
				t.Errorf("Hess·v = %v\nwant     %v", prod.RawVector().Data, hv)
			}
			for _, workers := range []int{1, 2, 7} {
				m.Workers = workers
				again := mat.NewSymDense(n, nil)
				m.Hess(again, x)
				if !mat.Equal(again, hess) {
					t.Errorf("Hess differs with %d workers", workers)
				}
			}
			if !slices.Equal(x, kept) {
				t.Error("x was modified")
			}
		})
	}
}

// TestModelGauge checks the null vector of the Hessian that Model promises.
func TestModelGauge(t *testing.T) {
	m, x := randomModel(rand.New(rand.NewPCG(1, 5)), 50, 2, 4)
	v, hv := make([]float64, m.Dim()), make([]float64, m.Dim())
	for c := range m.K {
		v[c] = 1
	}
	m.HessVec(hv, x, v)
	if n := floats.Norm(hv, math.Inf(1)); n > 1e-12 {
		t.Errorf("the Hessian takes the vector of ones in α to %v", n)
	}
}

func TestModelConcurrent(t *testing.T) {
	m, x := randomModel(rand.New(rand.NewPCG(1, 8)), 300, 3, 3)
	n := m.Dim()
	grad, hess := make([]float64, n), mat.NewSymDense(n, nil)
	f := m.FuncGrad(grad, x)
	m.Hess(hess, x)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			g, h := make([]float64, n), mat.NewSymDense(n, nil)
			for range 5 {
				m.Grad(g, x)
				m.Hess(h, x)
				if m.Func(x) != f || !slices.Equal(g, grad) || !mat.Equal(h, hess) {
					t.Error("a concurrent call gave another result")
				}
			}
		})
	}
	wg.Wait()
}

// TestModelMatrices checks that every kind of matrix is read right, and that
// storage is shared where it can be.
func TestModelMatrices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 9))
	big := mat.NewDense(9, 7, normals(rnd, 63))
	cut := big.Slice(1, 8, 2, 5).(*mat.Dense)
	x := normals(rnd, paramsLen(2, 3))
	want := NewModel(mat.DenseCopyOf(cut), 2, Prior{}).Func(x)
	for name, c := range map[string]struct {
		x      mat.Matrix
		shares bool
	}{
		"slice":      {cut, true},
		"transposed": {mat.DenseCopyOf(cut.T()).T(), false},
		"bare":       {bare{cut}, false},
	} {
		m := NewModel(c.x, 2, Prior{})
		if got := m.Func(x); got != want {
			t.Errorf("%s: Func = %v, want %v", name, got, want)
		}
		if shares := &m.X.Data[0] == &cut.RawMatrix().Data[0]; shares != c.shares {
			t.Errorf("%s: shares storage: %v", name, shares)
		}
	}
	column := big.ColView(3).(*mat.VecDense)
	m := NewModel(column, 2, Prior{})
	if m.X.Rows != 9 || m.X.Cols != 1 || &m.X.Data[0] != &column.RawVector().Data[0] {
		t.Errorf("a vector became %d×%d points", m.X.Rows, m.X.Cols)
	}
	x = normals(rnd, paramsLen(2, 1))
	if got, want := m.Func(x), NewModel(mat.DenseCopyOf(column), 2, Prior{}).Func(x); got != want {
		t.Errorf("vector: Func = %v, want %v", got, want)
	}
}

func TestModelShapes(t *testing.T) {
	m, x := randomModel(rand.New(rand.NewPCG(1, 10)), 5, 2, 2)
	n := m.Dim()
	y := make([]float64, n)
	for name, f := range map[string]func(){
		"Func short":       func() { m.Func(x[1:]) },
		"Func long":        func() { m.Func(append(x, 0)) },
		"Grad, short grad": func() { m.Grad(y[1:], x) },
		"Grad, nil grad":   func() { m.Grad(nil, x) },
		"Grad, short x":    func() { m.Grad(y, x[1:]) },
		"FuncGrad":         func() { m.FuncGrad(y[1:], x) },
		"HessVec, dst":     func() { m.HessVec(y[1:], x, y) },
		"HessVec, v":       func() { m.HessVec(y, x, y[1:]) },
		"Hess":             func() { m.Hess(mat.NewSymDense(n-1, nil), x) },
		"Hess, short x":    func() { m.Hess(mat.NewSymDense(n, nil), x[1:]) },
	} {
		if v := panicOf(f); !errors.Is(v, mat.ErrShape) {
			t.Errorf("%s: panic %v, want %v", name, v, mat.ErrShape)
		}
	}
	if v := panicOf(func() { NewModel(mat.NewDense(1, 1, nil), -1, Prior{}) }); !errors.Is(v, mat.ErrNegativeDimension) {
		t.Errorf("NewModel: panic %v", v)
	}
}

// panicOf returns the error with which f panics.
func panicOf(f func()) (err error) {
	defer func() {
		if wrong, ok := recover().(*rev.OperandError); ok {
			err = wrong
		}
	}()
	f()
	return nil
}

// TestModelMinimize runs minimisers of gonum that use the value, the gradient
// and the Hessian.
func TestModelMinimize(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 11))
	m := NewModel(mat.NewDense(200, 2, normals(rnd, 400)), 1, Prior{})
	start := append([]float64{0}, normals(rnd, m.Dim()-1)...)
	// One component has its maximum at the moments of the points.
	mean, cov := make([]float64, 2), mat.NewSymDense(2, nil)
	for i := range 200 {
		floats.AddScaled(mean, 1.0/200, m.X.Row(i))
	}
	for i := range 200 {
		r := floats.SubTo(make([]float64, 2), m.X.Row(i), mean)
		cov.SymRankOne(cov, 1.0/200, mat.NewVecDense(2, r))
	}
	want, err := NewMixture([]float64{1}, mat.NewDense(1, 2, mean), []*mat.SymDense{cov})
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []optimize.Method{&optimize.LBFGS{}, &optimize.BFGS{}, &optimize.Newton{}} {
		problem := optimize.Problem{Func: m.Func, Grad: m.Grad, Hess: m.Hess}
		res, err := optimize.Minimize(problem, start, &optimize.Settings{GradientThreshold: 1e-4}, method)
		if err != nil {
			t.Errorf("%T: %v", method, err)
			continue
		}
		if !floats.EqualApprox(res.X[1:], want.Params()[1:], 1e-5) {
			t.Errorf("%T: %v, want %v", method, res.X, want.Params())
		}
	}
}

func TestModelEmpty(t *testing.T) {
	m := NewModel(&mat.Dense{}, 2, Prior{})
	if f := m.Func([]float64{0, 0}); f != 0 {
		t.Errorf("Func = %v without points", f)
	}
	none := &Model[float64]{X: rev.NewGeneral[float64](3, 2, nil)}
	none.Grad(nil, nil)
	if n := none.Dim(); n != 0 {
		t.Errorf("Dim = %d without components", n)
	}
}
