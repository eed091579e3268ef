package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// tall returns an m×n matrix of a small condition number.
func tall[T rev.Float](rnd *rand.Rand, m, n int) rev.General[T] {
	a := rev.NewGeneral(m, n, kerneltest.Normals[T](rnd, m*n, 0.5/math.Sqrt(float64(m+1))))
	for i := range n {
		a.Row(i)[i] += 2
	}
	return a
}

// deficientTall returns an m×n matrix of rank n-1.
func deficientTall[T rev.Float](rnd *rand.Rand, m, n int) rev.General[T] {
	a := tall[T](rnd, m, n)
	for i := range m {
		s := T(0)
		for j := range n - 1 {
			s += a.Row(i)[j]
		}
		a.Row(i)[n-1] = s
	}
	return a
}

func qrSpec[T rev.Float](extra int) revtest.Spec[revlinalg.QR[T]] {
	build := func(rnd *rand.Rand, a rev.General[T]) revlinalg.QR[T] {
		return revlinalg.QR[T]{Q: kerneltest.Matrix[T](rnd, a.Rows, a.Cols), R: kerneltest.Matrix[T](rnd, a.Cols, a.Cols), A: a}
	}
	return revtest.Spec[revlinalg.QR[T]]{
		New:       func(rnd *rand.Rand, size int) revlinalg.QR[T] { return build(rnd, tall[T](rnd, size+extra, size)) },
		Large:     150,
		RoundTrip: 4, // the sum may be larger than either
		Failing: func(rnd *rand.Rand, size int) revlinalg.QR[T] {
			return build(rnd, deficientTall[T](rnd, size+1+extra, size+1))
		},
	}
}

func gramSchmidtSpec[T rev.Float](extra int) revtest.Spec[revlinalg.GramSchmidt[T]] {
	s := qrSpec[T](extra)
	return revtest.Spec[revlinalg.GramSchmidt[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.GramSchmidt[T] {
			return revlinalg.GramSchmidt[T](s.New(rnd, size))
		},
		Large:     s.Large,
		RoundTrip: s.RoundTrip,
		Failing: func(rnd *rand.Rand, size int) revlinalg.GramSchmidt[T] {
			return revlinalg.GramSchmidt[T](s.Failing(rnd, size))
		},
	}
}

func TestQR(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, qrSpec[float64](2)) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, qrSpec[float32](2)) })
	t.Run("blocks", func(t *testing.T) {
		spec := qrSpec[float64](0)
		spec.Sizes = []int{1, qrPanel, qrPanel + 1, 71}
		revtest.Kernel(t, spec)
	})
}

func TestGramSchmidt(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, gramSchmidtSpec[float64](2)) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, gramSchmidtSpec[float32](1)) })
}

// Signs and all, the factors are gonum's.
func TestQRValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(26, 1))
	for _, s := range [][2]int{{1, 1}, {2, 1}, {2, 2}, {7, 5}, {33, 33}, {100, 65}, {300, 150}} {
		m, n := s[0], s[1]
		a := mat.NewDense(m, n, kerneltest.Normals[float64](rnd, m*n, 1))
		if n > 1 {
			for i := range m {
				a.Set(i, n/2, 0) // a column that needs no reflection once row 0 is out
			}
			a.Set(0, n/2, 3)
			a.Set(n/2, n/2, 2)
		}
		var f mat.QR
		f.Factorize(a)
		var fullQ, fullR mat.Dense
		f.QTo(&fullQ)
		f.RTo(&fullR)
		q, r := mat.NewDense(m, n, nil), mat.NewDense(n, n, nil)
		if err := revlinalg.NewQR(q, r, a).Forward(); err != nil {
			t.Fatal(err)
		}
		if !mat.EqualApprox(q, fullQ.Slice(0, m, 0, n), 1e-12) || !mat.EqualApprox(r, fullR.Slice(0, n, 0, n), 1e-12) {
			t.Errorf("%d×%d: not gonum's factors", m, n)
		}
		q2, r2 := mat.NewDense(m, n, nil), mat.NewDense(n, n, nil)
		if err := revlinalg.NewGramSchmidt(q2, r2, a).Forward(); err != nil {
			t.Fatal(err)
		}
		for j := range n {
			sign := math.Copysign(1, r.At(j, j))
			for i := range m {
				if !(math.Abs(q2.At(i, j)-sign*q.At(i, j)) <= 1e-12) {
					t.Fatalf("%d×%d: Q by Gram-Schmidt has %v at (%d, %d), want %v", m, n, q2.At(i, j), i, j, sign*q.At(i, j))
				}
			}
			for i := range n {
				if !(math.Abs(r2.At(j, i)-sign*r.At(j, i)) <= 1e-11) {
					t.Fatalf("%d×%d: R by Gram-Schmidt has %v at (%d, %d), want %v", m, n, r2.At(j, i), j, i, sign*r.At(j, i))
				}
			}
		}
	}
}

// bigSigns returns whether the diagonal elements of R of the m×n matrix a are negative
// by the rule of QR, with 300 bits, and whether gonum's rule says the same of each. It
// returns nil if a has not full rank.
func bigSigns(m, n int, a []float64) (negative []bool, likeGonum bool) {
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }
	x := make([]*big.Float, m*n)
	for i, v := range a {
		x[i] = num(v)
	}
	likeGonum = true
	for j := range n {
		alpha, rest := x[j*n+j], num(0)
		for i := j + 1; i < m; i++ {
			rest.Add(rest, mul(x[i*n+j], x[i*n+j]))
		}
		norm := new(big.Float).Sqrt(new(big.Float).Add(rest, mul(alpha, alpha)))
		first, _ := alpha.Float64()
		rho, _ := new(big.Float).Sqrt(rest).Float64()
		if math.Abs(first) < 1e-40 && rho < 1e-40 {
			return nil, false
		}
		neg := first > -1e-40
		if rho < 1e-40 {
			neg = first < 0
		}
		likeGonum = likeGonum && math.Abs(first) > 1e-40 && (rho > 1e-40 || j == m-1)
		negative = append(negative, neg)
		if rho < 1e-40 {
			continue
		}
		if neg {
			norm.Neg(norm)
		}
		// v = x - β·e, H·y = y - 2·(vᵀ·y)/(vᵀ·v)·v
		v := make([]*big.Float, m)
		vv := num(0)
		for i := j; i < m; i++ {
			v[i] = new(big.Float).Copy(x[i*n+j])
			if i == j {
				v[i].Sub(v[i], norm)
			}
			vv.Add(vv, mul(v[i], v[i]))
		}
		for l := j; l < n; l++ {
			vy := num(0)
			for i := j; i < m; i++ {
				vy.Add(vy, mul(v[i], x[i*n+l]))
			}
			vy.Quo(mul(num(2), vy), vv)
			for i := j; i < m; i++ {
				x[i*n+l] = new(big.Float).Sub(x[i*n+l], mul(vy, v[i]))
			}
		}
	}
	return negative, likeGonum
}

// Signs are those that exact arithmetic gives, and gonum's where it is exact, too. In
// matrices of small integers many elements vanish but for rounding.
func TestQRSigns(t *testing.T) {
	rnd := rand.New(rand.NewPCG(26, 5))
	ties, draws := 0, long.Or(3000, 600)
	for range draws {
		n := 1 + rnd.IntN(4)
		m := n + rnd.IntN(3)
		a := make([]float64, m*n)
		for i := range a {
			a[i] = float64(rnd.IntN(5) - 2)
		}
		want, likeGonum := bigSigns(m, n, a)
		if want == nil {
			continue
		}
		r := mat.NewDense(n, n, nil)
		if err := revlinalg.NewQR(mat.NewDense(m, n, nil), r, mat.NewDense(m, n, a)).Forward(); err != nil {
			t.Fatal(err)
		}
		var f mat.QR
		var fr mat.Dense
		f.Factorize(mat.NewDense(m, n, a))
		f.RTo(&fr)
		if !likeGonum {
			ties++
		}
		for j, negative := range want {
			if got := r.At(j, j) < 0; got != negative || likeGonum && got != (fr.At(j, j) < 0) {
				t.Errorf("%d×%d matrix %v: r_%d is %v, gonum's %v, negative should be %v", m, n, a, j, r.At(j, j), fr.At(j, j), negative)
			}
		}
	}
	if ties < draws/30 {
		t.Errorf("%d ties are too few", ties)
	}
}

// Upper triangular matrices need no reflections, and keep their signs.
func TestQRTriangular(t *testing.T) {
	a := mat.NewDense(3, 2, []float64{2, 1, 0, 3, 0, 0})
	q, r := mat.NewDense(3, 2, nil), mat.NewDense(2, 2, nil)
	if err := revlinalg.NewQR(q, r, a).Forward(); err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(q, mat.NewDense(3, 2, []float64{1, 0, 0, 1, 0, 0})) || !mat.Equal(r, a.Slice(0, 2, 0, 2)) {
		t.Errorf("Q = %v, R = %v", q.RawMatrix().Data, r.RawMatrix().Data)
	}
}

// Q is orthonormal and Q·R is A for matrices that are close to losing their
// rank, and of any scale, also from column to column.
func TestQRResidual(t *testing.T) {
	const m, n = 70, 40
	for _, scale := range []float64{1, 0x1p-900, 0x1p900, 0x1p-1060} {
		rnd := rand.New(rand.NewPCG(26, 2))
		a := rev.NewGeneral(m, n, kerneltest.Normals[float64](rnd, m*n, 1))
		for i := range m {
			a.Row(i)[n-1] = a.Row(i)[0] + 1e-11*a.Row(i)[n-1]
			for j := range n {
				a.Row(i)[j] *= scale
			}
			if scale == 1 {
				a.Row(i)[3] *= 0x1p-600
				a.Row(i)[4] *= 0x1p600
			}
		}
		tol := 1e-14
		if scale < 0x1p-1022 {
			tol = 1e-3 // subnormal numbers have few digits
			for i := range m {
				a.Row(i)[n-1] = scale * rnd.NormFloat64()
			}
		}
		q, r := rev.NewGeneral[float64](m, n, nil), rev.NewGeneral[float64](n, n, nil)
		for _, f := range []func() error{
			revlinalg.QR[float64]{Q: q, R: r, A: a}.Forward,
			revlinalg.GramSchmidt[float64]{Q: q, R: r, A: a}.Forward,
		} {
			clear(q.Data)
			clear(r.Data)
			if err := f(); err != nil {
				t.Fatal(err)
			}
			for j := range n {
				length := 0.0
				for i := range m {
					length = math.Hypot(length, a.Row(i)[j])
				}
				for i := range m {
					s := 0.0
					for l := range j + 1 {
						s += q.Row(i)[l] * r.Row(l)[j]
					}
					if !(math.Abs(s-a.Row(i)[j]) <= tol*length) {
						t.Fatalf("scale %g: Q·R is %v at (%d, %d), want %v", scale, s, i, j, a.Row(i)[j])
					}
				}
				for l := range j + 1 {
					s, want := 0.0, 0.0
					if l == j {
						want = 1
					}
					for i := range m {
						s += q.Row(i)[j] * q.Row(i)[l]
					}
					if !(math.Abs(s-want) <= tol) {
						t.Fatalf("scale %g: columns %d and %d of Q have product %v", scale, j, l, s)
					}
				}
			}
		}
	}
}

func TestQRRank(t *testing.T) {
	for _, a := range []rev.General[float64]{
		deficientTall[float64](rand.New(rand.NewPCG(26, 3)), 60, 40),
		rev.NewGeneral[float64](3, 2, nil),
		rev.NewGeneral(2, 2, []float64{1, 1, 1, 1}),
	} {
		for _, f := range []func() error{revlinalg.QR[float64]{A: a}.Forward, revlinalg.GramSchmidt[float64]{A: a}.Forward} {
			var c mat.Condition
			if err := f(); !errors.As(err, &c) || !(c > 1e12) {
				t.Errorf("%d×%d: error %v, want a condition number", a.Rows, a.Cols, err)
			}
		}
	}
}

// Columns near overflow and underflow have the Q of the same columns of magnitude 1,
// and its R times the factors.
func TestQRRange(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testQRRange[float64](t, []int{1021, -1000, -1060, 0}) })
	t.Run("float32", func(t *testing.T) { testQRRange[float32](t, []int{125, -120, -138, 0}) })
}

func testQRRange[T rev.Float](t *testing.T, shifts []int) {
	rnd := rand.New(rand.NewPCG(33, 3))
	for _, n := range []int{1, 4, 30} {
		for range 10 {
			a := tall[T](rnd, n+7, n)
			base := rev.NewGeneral[T](n+7, n, nil)
			for i := range a.Rows {
				for j := range n {
					shift := shifts[(j+n)%len(shifts)]
					a.Row(i)[j] = T(math.Ldexp(float64(a.Row(i)[j]), shift))
					base.Row(i)[j] = T(math.Ldexp(float64(a.Row(i)[j]), -shift))
				}
			}
			zero := func(r, c int) rev.General[T] { return rev.NewGeneral[T](r, c, nil) }
			for _, gramSchmidt := range []bool{false, true} {
				far := revlinalg.QR[T]{Q: zero(n+7, n), R: zero(n, n), A: a}
				near := revlinalg.QR[T]{Q: zero(n+7, n), R: zero(n, n), A: base}
				var err error
				if gramSchmidt {
					err = errors.Join(revlinalg.GramSchmidt[T](far).Forward(), revlinalg.GramSchmidt[T](near).Forward())
				} else {
					err = errors.Join(far.Forward(), near.Forward())
				}
				if err != nil {
					t.Fatal(err)
				}
				for i := range n {
					for j := range n {
						near.R.Row(i)[j] = T(math.Ldexp(float64(near.R.Row(i)[j]), shifts[(j+n)%len(shifts)]))
					}
				}
				if !slices.Equal(far.Q.Data, near.Q.Data) || !slices.Equal(far.R.Data, near.R.Data) {
					t.Fatalf("n=%d, gramSchmidt=%v: %v and %v, want %v and %v",
						n, gramSchmidt, far.Q.Data, far.R.Data, near.Q.Data, near.R.Data)
				}
			}
		}
	}
}

func BenchmarkQR(b *testing.B) {
	for _, s := range [][2]int{{64, 64}, {512, 256}, {1024, 1024}} {
		m, n := s[0], s[1]
		rnd := rand.New(rand.NewPCG(26, 4))
		k := revlinalg.QR[float64]{Q: kerneltest.Matrix[float64](rnd, m, n), R: kerneltest.Matrix[float64](rnd, n, n), A: tall[float64](rnd, m, n)}
		g := revlinalg.QR[float64]{Q: kerneltest.Matrix[float64](rnd, m, n), R: kerneltest.Matrix[float64](rnd, n, n), A: kerneltest.Matrix[float64](rnd, m, n)}
		flops := 4*m*n*n - 4*n*n*n/3 // R, and Q
		for _, k.Workers = range []int{1, 2} {
			b.Run(fmt.Sprintf("Forward/%dx%d/workers=%d", m, n, k.Workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Forward()
				}
				kerneltest.ReportFlops(b, flops)
			})
			b.Run(fmt.Sprintf("Adjoint/%dx%d/workers=%d", m, n, k.Workers), func(b *testing.B) {
				for b.Loop() {
					_ = k.Adjoint(g)
				}
				kerneltest.ReportFlops(b, flops+4*m*n*n+4*n*n*n/3)
			})
		}
		b.Run(fmt.Sprintf("gonum/%dx%d", m, n), func(b *testing.B) {
			a := mat.NewDense(m, n, k.A.Data)
			var f mat.QR
			var q, r mat.Dense
			for b.Loop() {
				f.Factorize(a)
				q.Reset()
				r.Reset()
				f.QTo(&q)
				f.RTo(&r)
			}
			kerneltest.ReportFlops(b, flops)
		})
	}
	rnd := rand.New(rand.NewPCG(26, 5))
	k := revlinalg.GramSchmidt[float64]{Q: kerneltest.Matrix[float64](rnd, 512, 256), R: kerneltest.Matrix[float64](rnd, 256, 256), A: tall[float64](rnd, 512, 256), Workers: 1}
	b.Run("GramSchmidt/512x256", func(b *testing.B) {
		for b.Loop() {
			_ = k.Forward()
		}
		kerneltest.ReportFlops(b, 4*512*256*256)
	})
}

// A matrix with more columns than rows panics with the kernel and the shape.
func TestQRWide(t *testing.T) {
	q, r, a := mat.NewDense(2, 3, nil), mat.NewDense(3, 3, nil), mat.NewDense(2, 3, nil)
	for kernel, run := range map[string]func() error{"QR": revlinalg.NewQR(q, r, a).Forward, "GramSchmidt": revlinalg.NewGramSchmidt(q, r, a).Forward} {
		func() {
			defer func() {
				err, _ := recover().(error)
				want := "A of revlinalg." + kernel + "[float64] is 2×3, want at least as many rows as columns"
				if !errors.Is(err, mat.ErrShape) || !strings.Contains(err.Error(), want) {
					t.Errorf("panic %v, want %q in it", err, want)
				}
			}()
			_ = run()
		}()
	}
}
