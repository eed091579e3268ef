package revlinalg_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// roundMatrix returns a matrix of which no pair that is rotated is small: Inverse
// of radii and angles like those of columns of ones.
func roundMatrix[T rev.Float](rnd *rand.Rand, m, n int) rev.General[T] {
	a := rev.NewGeneral[T](m, n, nil)
	for i := range m {
		for j := range n {
			v := rnd.NormFloat64()
			switch {
			case i == j:
				v = math.Sqrt(float64(m-i)) + 0.1*math.Abs(v)
			case i > j:
				// Of a pair and the m-i elements below its first.
				v = -math.Acos(1/math.Sqrt(float64(m-i+1))) + 0.1*(rnd.Float64()-0.5)
			}
			a.Data[i*n+j] = T(v)
		}
	}
	revlinalg.GivensQR[T]{A: a}.Inverse()
	return a
}

func givensSpec[T rev.Float](shape func(size int) (m, n int)) revtest.Spec[revlinalg.GivensQR[T]] {
	return revtest.Spec[revlinalg.GivensQR[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.GivensQR[T] {
			m, n := shape(size)
			return revlinalg.GivensQR[T]{A: roundMatrix[T](rnd, m, n)}
		},
		RoundTrip: 100,
		Free:      []string{"A.Rows", "A.Cols"},
		Sizes:     []int{0, 1, 2, 3, 5, 6, 12},
	}
}

func TestGivensQR(t *testing.T) {
	for _, s := range []struct {
		name  string
		shape func(size int) (m, n int)
	}{
		{"square", func(n int) (int, int) { return n, n }},
		{"tall", func(n int) (int, int) { return n + 4, n }},
		{"wide", func(n int) (int, int) { return n, n + 4 }},
	} {
		t.Run(s.name+"/float64", func(t *testing.T) { revtest.Kernel(t, givensSpec[float64](s.shape)) })
		t.Run(s.name+"/float32", func(t *testing.T) {
			spec := givensSpec[float32](s.shape)
			spec.Sizes = []int{2, 3, 5}
			revtest.Kernel(t, spec)
		})
	}
}

// R is gonum's but for the signs of rows, and the angles are those of Unitary.
func TestGivensQRValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 1))
	for _, shape := range [][2]int{{1, 1}, {1, 3}, {2, 2}, {3, 2}, {7, 7}, {12, 5}, {40, 40}, {5, 12}, {70, 69}} {
		m, n := shape[0], shape[1]
		a := mat.NewDense(m, n, kerneltest.Normals[float64](rnd, m*n, 1))
		k := mat.DenseCopyOf(a)
		revlinalg.NewGivensQR(k).Forward()
		if m >= n {
			var qr mat.QR
			qr.Factorize(a)
			var r mat.Dense
			qr.RTo(&r)
			for i := range n {
				for j := i; j < n; j++ {
					if d := math.Abs(math.Abs(r.At(i, j)) - math.Abs(k.At(i, j))); !(d <= 1e-13*math.Sqrt(float64(m))) {
						t.Fatalf("%d×%d: R is %v at %d, %d, want ±%v", m, n, k.At(i, j), i, j, r.At(i, j))
					}
				}
				if i < m-1 && k.At(i, i) < 0 {
					t.Errorf("%d×%d: R is %v on the diagonal", m, n, k.At(i, i))
				}
			}
		}
		if n < m-1 || m < 2 {
			continue
		}
		var theta []float64
		for j := range m - 1 {
			for i := m - 1; i > j; i-- {
				theta = append(theta, k.At(i, j))
			}
		}
		r := mat.DenseCopyOf(a)
		revlinalg.NewUnitary(r, mat.NewVecDense(len(theta), theta)).Forward()
		for i := range m {
			for j := range n {
				want := 0.
				if j >= i {
					want = k.At(i, j)
				}
				if !(math.Abs(r.At(i, j)-want) <= 1e-13*math.Sqrt(float64(m))) {
					t.Fatalf("%d×%d: U(θ)·A has %v at %d, %d, R has %v", m, n, r.At(i, j), i, j, want)
				}
			}
		}
	}
}

// Zeros need no rotation, and only r has a derivative, in its direction.
func TestGivensQRZeros(t *testing.T) {
	for _, a := range [][]float64{
		make([]float64, 9),
		{1, 2, 3, 0, 4, 5, 0, 0, 6},
		{0, 2, 3, 0, 0, 5, 0, 0, 0},
		{math.Copysign(0, -1), 1, 0, 0, 0, 1, math.Copysign(0, -1), 0, -1},
	} {
		k := revlinalg.GivensQR[float64]{A: rev.NewGeneral(3, 3, slices.Clone(a))}
		k.Forward()
		for i, v := range k.A.Data {
			if v != a[i] {
				t.Errorf("%v: upper triangular already, but Forward gives %v", a, k.A.Data)
				break
			}
		}
		g := revlinalg.GivensQR[float64]{A: rev.NewGeneral(3, 3, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9})}
		k.Adjoint(g)
		for i, v := range k.A.Data {
			if v != a[i] {
				t.Errorf("%v: Adjoint leaves %v", a, k.A.Data)
				break
			}
		}
		for i, v := range g.A.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%v: cotangent %d is %v", a, i, v)
			}
		}
	}
	k, g := revlinalg.GivensQR[float64]{A: rev.NewGeneral[float64](2, 1, nil)}, revlinalg.GivensQR[float64]{A: rev.NewGeneral(2, 1, []float64{3, 4})}
	k.Forward()
	k.Adjoint(g)
	if !slices.Equal(g.A.Data, []float64{3, 0}) {
		t.Errorf("cotangents of a zero pair are %v, want 3 and 0", g.A.Data)
	}
}

// Below a negative element the angle of a pair (a, 0) is π. Its zero comes back, so that the pair (0, 0)
// below it has no derivative in Adjoint either.
func TestGivensQRHalfTurns(t *testing.T) {
	t.Run("float64", testGivensQRHalfTurns[float64])
	t.Run("float32", testGivensQRHalfTurns[float32])
}

func testGivensQRHalfTurns[T rev.Float](t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 14))
	const n = 6
	random := func() revlinalg.GivensQR[T] {
		m := rev.NewGeneral[T](n, n, nil)
		for i := range m.Data {
			m.Data[i] = T(rnd.NormFloat64())
		}
		return revlinalg.GivensQR[T]{m}
	}
	dot := func(a, b revlinalg.GivensQR[T]) (sum float64) {
		for i, v := range a.A.Data {
			sum += float64(v) * float64(b.A.Data[i])
		}
		return sum
	}
	clone := func(k revlinalg.GivensQR[T]) revlinalg.GivensQR[T] {
		k.A.Data = slices.Clone(k.A.Data)
		return k
	}
	k := random() // upper triangular, with signs on the diagonal
	for i := range n {
		clear(k.A.Row(i)[:i])
		k.A.Row(i)[i] = T([]float64{-1, 2}[i%2] - float64(i))
	}
	before := slices.Clone(k.A.Data)
	x, g, gt := random(), random(), random()
	for _, second := range []bool{false, true} {
		dx, gx := clone(x), clone(g)
		k.Tangent(dx)
		want := dot(gx, dx)
		if second {
			k.AdjointTangent(gx, dx, clone(gt))
		} else {
			k.Adjoint(gx)
		}
		if got := dot(gx, x); !(math.Abs(got-want) <= 1e-4*(1+math.Abs(want))) {
			t.Errorf("second order %v: the gradient along the tangent is %v, want %v", second, got, want)
		}
		for i, v := range k.A.Data {
			if i%n < i/n && v != 0 || math.Abs(float64(v-before[i])) > 1e-5 {
				t.Errorf("second order %v: element %d came back as %v, was %v", second, i, v, before[i])
			}
		}
	}
}

// Squares of elements neither overflow nor underflow.
func TestGivensQRScale(t *testing.T) {
	for _, scale := range []float64{1e300, 1e-300, 5e-324} {
		k := revlinalg.GivensQR[float64]{A: rev.NewGeneral(2, 1, []float64{3 * scale, 4 * scale})}
		k.Forward()
		if r := k.A.Data[0]; !(math.Abs(r/scale-5) <= 1e-14) || !(math.Abs(k.A.Data[1]+math.Atan2(4, 3)) <= 1e-15) {
			t.Errorf("%v times (3, 4): %v", scale, k.A.Data)
		}
		k.Inverse()
		if !(math.Abs(k.A.Data[0]/scale-3) <= 1e-14) || !(math.Abs(k.A.Data[1]/scale-4) <= 1e-14) {
			t.Errorf("%v times (3, 4) comes back as %v", scale, k.A.Data)
		}
	}
}

func BenchmarkGivensQR(b *testing.B) {
	rnd := rand.New(rand.NewPCG(9, 2))
	const m, n = 256, 256
	a, g := kerneltest.Matrix[float64](rnd, m, n), kerneltest.Matrix[float64](rnd, m, n)
	k := revlinalg.GivensQR[float64]{A: a}
	flops := 0
	for j := range n {
		flops += 6 * (m - 1 - j) * (n - 1 - j)
	}
	b.Run("ForwardInverse", func(b *testing.B) {
		for b.Loop() {
			k.Forward()
			k.Inverse()
		}
		kerneltest.ReportFlops(b, 2*flops)
	})
	b.Run("ForwardAdjoint", func(b *testing.B) {
		for b.Loop() {
			k.Forward()
			k.Adjoint(revlinalg.GivensQR[float64]{A: g})
		}
		kerneltest.ReportFlops(b, 3*flops+flops*4/6)
	})
}
