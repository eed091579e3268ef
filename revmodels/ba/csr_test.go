package ba

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revsparse"
)

// TestCSR holds the products of a Model with the Jacobian against the sparse
// matrix.
func TestCSR(t *testing.T) {
	p, _, err := Generate(&GenerateOptions{Cameras: 5, Points: 30, Observations: 100, Noise: 0.5, Start: 0.01, Source: rand.NewPCG(3, 1)})
	if err != nil {
		t.Fatal(err)
	}
	m := &Model{Problem: p}
	x := m.Params(nil)
	k := p.Kernel()
	var a revsparse.CSR[float64, int32]
	j := k.CSRTo(&a)
	_ = k.Jacobian(j)
	dense := revsparse.Dense(a)
	jac := mat.NewDense(dense.Rows, dense.Cols, dense.Data)
	if _, err := revsparse.NewCSR(a.Rows, a.Cols, a.Ptr, a.Ind, a.Data); err != nil {
		t.Error(err)
	}

	rnd := rand.New(rand.NewPCG(1, 1))
	v, u := make([]float64, m.Dim()), make([]float64, len(p.Features))
	fill(rnd, v)
	fill(rnd, u)
	jv, want := make([]float64, len(u)), mat.NewVecDense(len(u), nil)
	r := make([]float64, len(u))
	k, dir := m.view(x, r), m.view(v, jv)
	dir.Features.Data = nil
	_ = k.Tangent(dir)
	want.MulVec(jac, mat.NewVecDense(len(v), v))
	if d := floats.Distance(jv, want.RawVector().Data, 2); !(d <= 1e-12*mat.Norm(want, 2)) {
		t.Errorf("J·v differs by %v", d)
	}
	jtu, want := make([]float64, len(v)), mat.NewVecDense(len(v), nil)
	m.adjoint(jtu, x, u)
	want.MulVec(jac.T(), mat.NewVecDense(len(u), u))
	if d := floats.Distance(jtu, want.RawVector().Data, 2); !(d <= 1e-12*mat.Norm(want, 2)) {
		t.Errorf("Jᵀ·r differs by %v", d)
	}
	if f, want := m.Func(x), floats.Dot(r, r)/2; !(math.Abs(f-want) <= 1e-13*want) {
		t.Errorf("Func is %v, want %v", f, want)
	}
}

// TestWeightedCSR looks at the last rows, of the weights.
func TestWeightedCSR(t *testing.T) {
	k := randomWeighted(rand.New(rand.NewPCG(5, 1)), 40)
	var a revsparse.CSR[float64, int32]
	j, z := k.CSRTo(&a)
	_ = k.Jacobian(j, z)
	if _, err := revsparse.NewCSR(a.Rows, a.Cols, a.Ptr, a.Ind, a.Data); err != nil {
		t.Error(err)
	}
	n, m := k.Cameras.Rows, k.Points.Rows
	if a.Rows != 3*40 || a.Cols != 11*n+3*m+40 || a.NNZ() != 31*40 {
		t.Errorf("%d×%d with %d entries", a.Rows, a.Cols, a.NNZ())
	}
	for i, w := range k.Weights.Data {
		if q := a.Ptr[80+i]; int(a.Ind[q]) != 11*n+3*m+i || a.Data[q] != -2*w || a.Ptr[81+i] != q+1 {
			t.Errorf("weight %d: column %d, value %v", i, a.Ind[q], a.Data[q])
		}
	}
}

// TestCSRForgets checks that no workspace keeps the caller's memory after a panic.
func TestCSRForgets(t *testing.T) {
	k := randomSnavely(rand.New(rand.NewPCG(6, 1)), 10)
	k.Point[9] = k.Points.Rows
	if v := panicOf(func() { k.CSRTo(new(revsparse.CSR[float64, int32])) }); !errors.Is(v, mat.ErrRowAccess) {
		t.Errorf("panic %v, want mat.ErrRowAccess", v)
	}
	if s := workspace.Get[*structure[float64]](); !reflect.ValueOf(*s).IsZero() {
		t.Errorf("a workspace keeps %+v", *s)
	}
}

// TestCSRTo uses the storage of another matrix, too small and then large enough, on
// one and on several workers, and of a matrix with other contents.
func TestCSRTo(t *testing.T) {
	small := randomWeighted(rand.New(rand.NewPCG(6, 1)), 7)
	k := randomWeighted(rand.New(rand.NewPCG(7, 1)), 2*structureBlock+9)
	var want, a revsparse.CSR[float64, int32]
	j, z := k.CSRTo(&want)
	_ = k.Jacobian(j, z)
	small.CSRTo(&a)
	for _, workers := range []int{1, 2, 7} {
		k.Workers = workers
		for i := range a.Ind {
			a.Ind[i], a.Data[i] = -1, math.NaN()
		}
		clear(a.Ptr[:1])
		j, z := k.CSRTo(&a)
		_ = k.Jacobian(j, z)
		if a.Rows != want.Rows || a.Cols != want.Cols || !slices.Equal(a.Ptr, want.Ptr) || !slices.Equal(a.Ind, want.Ind) || !slices.Equal(a.Data, want.Data) {
			t.Errorf("%d workers: not what one worker stores", workers)
		}
	}
	if _, err := revsparse.NewCSR(a.Rows, a.Cols, a.Ptr, a.Ind, a.Data); err != nil {
		t.Error(err)
	}
}

func panicOf(f func()) (err error) {
	defer func() {
		if wrong, ok := recover().(*rev.OperandError); ok {
			err = wrong
		}
	}()
	f()
	return nil
}

// TestIndices checks that no method takes an index that is out of range, wherever
// it lies among whole vectors, also in fixed point.
func TestIndices(t *testing.T) {
	for _, size := range []int{1, 9, 70} {
		for _, bad := range []int{-1, math.MaxInt, math.MinInt, 100} {
			for _, at := range []int{0, size - 1} {
				k := randomWeighted(rand.New(rand.NewPCG(4, 1)), size)
				s := randomSnavely(rand.New(rand.NewPCG(4, 1)), size)
				k.Point[at], s.Camera[at] = bad, bad
				q := weightedOf[float32](k)
				for name, f := range map[string]func(){
					"Forward": func() { _ = k.Forward() },
					"float32": func() { _ = q.Forward() },
					"Inverse": func() { _ = s.Inverse() },
					"Adjoint": func() {
						_ = s.Adjoint(Snavely[float64]{R: rev.ViewSlice(make([]float64, 2*size)), Features: rev.NewGeneral[float64](size, 2, nil)})
					},
					"Jacobian":       func() { _ = s.Jacobian(rev.NewGeneral[float64](2*size, snavelyColumns, nil)) },
					"CSRTo":          func() { k.CSRTo(new(revsparse.CSR[float64, int32])) },
					"AdjointTangent": func() { _ = s.AdjointTangent(Snavely[float64]{}, Snavely[float64]{}, Snavely[float64]{}) },
				} {
					if v := panicOf(f); !errors.Is(v, mat.ErrRowAccess) {
						t.Errorf("%s: index %d at %d of %d: panic %v, want mat.ErrRowAccess", name, bad, at, size, v)
					}
				}
			}
		}
	}
}
