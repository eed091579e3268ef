package revlinalg_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// spread returns an m×n matrix with singular values of about 1, 2, ....
func spread[T rev.Float](rnd *rand.Rand, m, n int) rev.General[T] {
	a := rev.NewGeneral(m, n, kerneltest.Normals[T](rnd, m*n, 1./8))
	for i, p := range rnd.Perm(min(m, n)) {
		a.Row(i)[i] += T(p + 1)
	}
	return a
}

func svdSpec[T rev.Float](more int) revtest.Spec[revlinalg.SVD[T]] {
	return revtest.Spec[revlinalg.SVD[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.SVD[T] {
			m, n := size+max(more, 0), size-min(more, 0)
			return revlinalg.SVD[T]{
				U: kerneltest.Matrix[T](rnd, m, size), S: kerneltest.Vector[T](rnd, size), V: kerneltest.Matrix[T](rnd, n, size),
				A: spread[T](rnd, m, n),
			}
		},
		Sizes:     []int{0, 1, 2, 3, 5, 12},
		RoundTrip: 4, // the sum may be larger than either
		Step:      0x1p-12,
	}
}

func TestSVD(t *testing.T) {
	for _, more := range []int{0, 2, -3} {
		t.Run(fmt.Sprintf("more=%d", more), func(t *testing.T) { revtest.Kernel(t, svdSpec[float64](more)) })
	}
	t.Run("float32", func(t *testing.T) {
		spec := svdSpec[float32](1)
		spec.Step = 0x1p-7
		revtest.Kernel(t, spec)
	})
}

func TestSVDValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 1))
	for _, s := range [][2]int{{1, 1}, {5, 3}, {3, 5}, {40, 40}} {
		m, n, r := s[0], s[1], min(s[0], s[1])
		a := mat.NewDense(m, n, kerneltest.Normals[float64](rnd, m*n, 1))
		var f mat.SVD
		if !f.Factorize(a, mat.SVDThin) {
			t.Fatal("gonum finds no singular values")
		}
		u, sigma, v := mat.NewDense(m, r, nil), mat.NewVecDense(r, nil), mat.NewDense(n, r, nil)
		if err := revlinalg.NewSVD(u, sigma, v, a).Forward(); err != nil {
			t.Fatal(err)
		}
		for i, want := range f.Values(nil) {
			if !kerneltest.Near(sigma.AtVec(i), want, 1e-13) {
				t.Errorf("%d×%d: singular value %d is %v, want %v", m, n, i, sigma.AtVec(i), want)
			}
		}
		var us, b mat.Dense
		us.Mul(u, mat.NewDiagDense(r, sigma.RawVector().Data))
		b.Mul(&us, v.T())
		if !mat.EqualApprox(&b, a, 1e-12) {
			t.Errorf("%d×%d: U·S·Vᵀ is not A", m, n)
		}
	}
}

// A decomposition is as accurate for spectra that are hard, and has the same bits for any
// number of workers, and after a matrix between.
func TestSVDHard(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 10))
	matrices := map[string]*mat.Dense{}
	for name, a := range hardSpectra(rnd) {
		matrices[name] = mat.DenseCopyOf(a)
	}
	bidiagonal := func(name string, n int, d, e func(i int) float64) {
		a := mat.NewDense(n, n, nil)
		for i := range n {
			a.Set(i, i, d(i))
			if i > 0 {
				a.Set(i-1, i, e(i))
			}
		}
		matrices[name] = a
	}
	one := func(int) float64 { return 1 }
	bidiagonal("bidiagonal", 100, one, one)
	bidiagonal("graded rows", 60, func(i int) float64 { return math.Pow(1e-5, float64(i)) }, func(i int) float64 { return math.Pow(1e-5, float64(i)) })
	bidiagonal("zeros on the diagonal", 80, func(i int) float64 { return float64(i % 3) }, one)
	matrices["zero"] = mat.NewDense(divideAbove+20, divideAbove+20, nil)
	bidiagonal("nilpotent", 50, func(int) float64 { return 0 }, one)
	matrices["tall"] = mat.NewDense(300, 40, kerneltest.Normals[float64](rnd, 300*40, 1))
	matrices["wide"] = mat.NewDense(7, 150, kerneltest.Normals[float64](rnd, 7*150, 1))
	columns := mat.NewDense(90, 60, kerneltest.Normals[float64](rnd, 90*60, 1))
	for i := range 90 {
		columns.Set(i, 0, 0)
		columns.Set(i, 31, columns.At(i, 30))
	}
	matrices["equal and zero columns"] = columns

	for name, a := range matrices {
		m, n := a.Dims()
		r := min(m, n)
		run := func(workers int, between bool) (u *mat.Dense, s []float64, v *mat.Dense) {
			u, v = mat.NewDense(m, r, nil), mat.NewDense(n, r, nil)
			k := revlinalg.NewSVD(u, mat.NewVecDense(r, nil), v, a)
			k.Workers = workers
			alone := revlinalg.SVD[float64]{S: rev.ViewSlice(make([]float64, r)), A: k.A}
			err := k.Forward()
			s = slices.Clone(k.S.Data)
			top := max(s[0], math.SmallestNonzeroFloat64)
			copies := [2]*mat.Dense{mat.DenseCopyOf(u), mat.DenseCopyOf(v)}
			if between {
				err = errors.Join(err, alone.Forward())
				for i, v := range alone.S.Data {
					if math.Abs(v-s[i]) > 2*0x1p-53*float64(r)*top {
						t.Errorf("%s: singular value %d is %g without vectors, %g with them", name, i, v, s[i])
						break
					}
				}
			}
			if err = errors.Join(err, k.Inverse()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if mat.Norm(u, 1) != 0 || mat.Norm(v, 1) != 0 {
				t.Errorf("%s: Inverse leaves something", name)
			}
			return copies[0], s, copies[1]
		}
		u, s, v := run(1, false)
		u2, s2, v2 := run(2, true)
		if !slices.Equal(s, s2) || !mat.Equal(u, u2) || !mat.Equal(v, v2) {
			t.Errorf("%s: other bits with two workers", name)
		}
		if !slices.IsSortedFunc(s, func(a, b float64) int { return cmp.Compare(b, a) }) || s[r-1] < 0 {
			t.Errorf("%s: singular values %v", name, s)
		}
		top := s[0]
		if name == "zero" && top != 0 {
			t.Errorf("%s: singular values %v", name, s)
		}
		if top == 0 {
			top = 1
		}
		var scaled, us, residual mat.Dense
		scaled.Apply(func(_, _ int, x float64) float64 { return x / top }, a)
		us.Apply(func(_, j int, x float64) float64 { return x * (s[j] / top) }, u)
		residual.Mul(&us, v.T())
		residual.Sub(&residual, &scaled)
		bound := 8 * 0x1p-53 * float64(max(m, n)+10)
		if d := mat.Norm(&residual, 2); !(d <= bound) {
			t.Errorf("%s: U·S·Vᵀ differs from A by %g·‖A‖, want at most %g", name, d, bound)
		}
		for _, x := range []*mat.Dense{u, v} {
			var xx mat.Dense
			xx.Mul(x.T(), x)
			xx.Sub(&xx, mat.NewDiagDense(r, slices.Repeat([]float64{1}, r)))
			if d := mat.Norm(&xx, 2); !(d <= bound) {
				t.Errorf("%s: vectors are orthonormal to %g, want %g", name, d, bound)
			}
		}
	}
}

// Singular values and vectors of bidiagonal matrices: residuals, orthogonality, and the values beside
// those found without vectors. Reflections leave such matrices as they are. Up to divideAbove sweeps find the vectors.
// Above, matrices are divided, and those of order 197 into parts of 24, 48 and 49 rows.
func TestDivideBidiagonal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 14))
	sizes := []int{1, divideLeaf, divideAbove + 1, 150, 4*divideLeaf + 5}
	if !testing.Short() {
		sizes = append(sizes, 201)
	}
	elements := elementsOfBands(rnd)
	elements = append(elements, bandElement{"tiny blocks", func() float64 { return math.Exp2(-300*float64(rnd.IntN(64)/63)) * rnd.Float64() }})
	for i, diagonal := range elements {
		for j, beside := range elements {
			for k, n := range sizes {
				if (i+j)%len(sizes) != k && !long.Tests() {
					continue // each pair at one size
				}
				d, e := make([]float64, n), make([]float64, n)
				top := 0.0
				for i := range n {
					d[i], e[i] = diagonal.draw(), beside.draw()
					if top = max(top, math.Abs(d[i])); i < n-1 {
						top = max(top, math.Abs(e[i]))
					}
				}
				if top == 0 {
					top = 1
				}
				a := rev.NewGeneral[float64](n, n, nil)
				for i := range n {
					a.Row(i)[i] = d[i]
					if i < n-1 {
						a.Row(i)[i+1] = e[i]
					}
				}
				k := revlinalg.SVD[float64]{
					U: rev.NewGeneral[float64](n, n, nil), S: rev.ViewSlice(make([]float64, n)), V: rev.NewGeneral[float64](n, n, nil),
					A: a, Workers: 1,
				}
				alone := revlinalg.SVD[float64]{S: rev.ViewSlice(make([]float64, n)), A: a, Workers: 1}
				if err := errors.Join(k.Forward(), alone.Forward()); err != nil {
					t.Errorf("diagonal %s, beside %s, order %d: %v", diagonal.name, beside.name, n, err)
					continue
				}
				u, v := mat.NewDense(n, n, k.U.Data), mat.NewDense(n, n, k.V.Data)
				residual, wrong := 0.0, 0.0
				for i := range n {
					sigma := k.S.Data[i] / top
					u, v := mat.Col(nil, i, u), mat.Col(nil, i, v)
					for j := range n { // B·v - σ·u and Bᵀ·u - σ·v
						r, q := d[j]/top*v[j]-sigma*u[j], d[j]/top*u[j]-sigma*v[j]
						if j < n-1 {
							r += e[j] / top * v[j+1]
						}
						if j > 0 {
							q += e[j-1] / top * u[j-1]
						}
						residual = max(residual, math.Abs(r), math.Abs(q))
					}
				}
				for _, x := range []*mat.Dense{u, v} {
					var products mat.Dense
					products.Mul(x.T(), x)
					for i := range n {
						products.Set(i, i, products.At(i, i)-1)
					}
					wrong = max(wrong, mat.Max(&products), -mat.Min(&products))
				}
				bound := 4 * 0x1p-53 * float64(n+20) // of sweeps
				if n > divideAbove {
					bound /= 2
				}
				if !(residual <= bound) || !(wrong <= bound) {
					t.Errorf("diagonal %s, beside %s, order %d: residual %g of the largest element, products of vectors off by %g, want at most %g", diagonal.name, beside.name, n, residual, wrong, bound)
				}
				for i, s := range k.S.Data {
					if !(math.Abs(s-alone.S.Data[i]) <= bound*top) {
						t.Errorf("diagonal %s, beside %s, order %d: singular value %d is %g, want %g", diagonal.name, beside.name, n, i, s, alone.S.Data[i])
						break
					}
				}
			}
		}
	}
}

// The polar factor U·Vᵀ has a derivative where singular values are equal, which
// is that of matrices near by.
func TestSVDDegenerate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 2))
	q, _ := twice(rnd)
	b := mat.NewDense(4, 4, kerneltest.Normals[float64](rnd, 16, 1))
	gradient := func(values []float64) []float64 {
		var a mat.Dense
		a.Product(q, mat.NewDiagDense(4, values), mat.NewDiagDense(4, []float64{1, -1, 1, 1}))
		k := revlinalg.SVD[float64]{U: rev.NewGeneral[float64](4, 4, nil), V: rev.NewGeneral[float64](4, 4, nil), A: rev.ViewDense(&a)}
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		var gu, gv mat.Dense // of ⟨B, U·Vᵀ⟩
		gu.Mul(b, mat.NewDense(4, 4, k.V.Data))
		gv.Mul(b.T(), mat.NewDense(4, 4, k.U.Data))
		ga := rev.NewGeneral[float64](4, 4, nil)
		if err := k.Adjoint(revlinalg.SVD[float64]{U: rev.ViewDense(&gu), V: rev.ViewDense(&gv), A: ga}); err != nil {
			t.Fatal(err)
		}
		return ga.Data
	}
	got, want := gradient([]float64{1, 2, 2, 5}), gradient([]float64{1, 2, 2 + 1e-7, 5})
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-5) {
			t.Errorf("derivative %v by element %d, %v near by", got[i], i, want[i])
		}
	}
}

func TestSVDError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 3))
	q, _ := twice(rnd)
	double := new(mat.Dense)
	double.Mul(q, mat.NewDiagDense(4, []float64{1, 2, 2, 5}))
	singular := rev.NewGeneral[float64](4, 4, nil)
	singular.Row(2)[3] = 7
	for i, a := range []rev.General[float64]{rev.ViewDense(double), singular} {
		like := func(a rev.General[float64]) revlinalg.SVD[float64] {
			return revlinalg.SVD[float64]{U: kerneltest.Matrix[float64](rnd, 4, 4), S: kerneltest.Vector[float64](rnd, 4), V: kerneltest.Matrix[float64](rnd, 4, 4), A: a}
		}
		k, g, t1, gt := like(a), like(kerneltest.Matrix[float64](rnd, 4, 4)), like(kerneltest.Matrix[float64](rnd, 4, 4)), like(kerneltest.Matrix[float64](rnd, 4, 4))
		for name, f := range map[string]func() error{
			"Adjoint":        func() error { return k.Adjoint(g) },
			"Tangent":        func() error { return k.Tangent(g) },
			"AdjointTangent": func() error { return k.AdjointTangent(g, t1, gt) },
			// Of the tangents of cotangents alone.
			"AdjointTangent without t and g": func() error { return k.AdjointTangent(revlinalg.SVD[float64]{}, revlinalg.SVD[float64]{}, gt) },
		} {
			all := func() []float64 {
				var s []float64
				for _, k := range []revlinalg.SVD[float64]{k, g, t1, gt} {
					s = slices.Concat(s, k.U.Data, k.S.Data, k.V.Data, k.A.Data)
				}
				return s
			}
			before := all()
			err := f()
			var e *rev.DegenerateError
			var c mat.Condition
			if i == 0 && (!errors.As(err, &e) || e.I != 1 || e.J != 2) || i == 1 && !errors.As(err, &c) {
				t.Errorf("matrix %d, %s: error %v", i, name, err)
			}
			if !slices.Equal(before, all()) {
				t.Errorf("matrix %d, %s: operands are written", i, name)
			}
		}
		// Passes that compute no derivative return no error.
		if err := errors.Join(
			k.Forward(),
			k.AdjointTangent(revlinalg.SVD[float64]{}, revlinalg.SVD[float64]{}, revlinalg.SVD[float64]{A: gt.A}),
			k.AdjointTangent(revlinalg.SVD[float64]{U: g.U, S: g.S, V: g.V}, revlinalg.SVD[float64]{}, revlinalg.SVD[float64]{}),
		); err != nil {
			t.Error(err)
		}
	}
}

// The condition of a matrix of zeros is infinite, too.
func TestSVDZero(t *testing.T) {
	k := revlinalg.SVD[float64]{A: rev.NewGeneral[float64](3, 2, nil)}
	err := k.Adjoint(revlinalg.SVD[float64]{S: rev.ViewSlice([]float64{1, 2}), A: rev.NewGeneral[float64](3, 2, nil)})
	var c mat.Condition
	if !errors.As(err, &c) || !math.IsInf(float64(c), 1) {
		t.Errorf("error %v", err)
	}
}

// svdHessian returns the gradient of a function f of U, s and V by A, and its
// tangent along da, where outputs returns the cotangents of the results of f and,
// given their tangents, the tangents of these cotangents.
func svdHessian(t *testing.T, a, da rev.General[float64], outputs func(k, t revlinalg.SVD[float64]) (g, gt revlinalg.SVD[float64])) (ga, dga []float64) {
	t.Helper()
	m, n := a.Rows, a.Cols
	r := min(m, n)
	like := func(a rev.General[float64]) revlinalg.SVD[float64] {
		return revlinalg.SVD[float64]{
			U: rev.NewGeneral[float64](m, r, nil), S: rev.ViewSlice(make([]float64, r)), V: rev.NewGeneral[float64](n, r, nil), A: a,
		}
	}
	k, dk := like(a), like(da)
	if err := k.Tangent(dk); err != nil {
		t.Fatal(err)
	}
	g, gt := outputs(k, dk)
	g.A, gt.A = rev.NewGeneral[float64](m, n, nil), rev.NewGeneral[float64](m, n, nil)
	if err := k.AdjointTangent(g, dk, gt); err != nil {
		t.Fatal(err)
	}
	return g.A.Data, gt.A.Data
}

// For 2×2 matrices,
//
//	s_1² = (‖A‖² + √(‖A‖⁴ - 4·det² A))/2,  s_2 = |det A|/s_1,
//	u_1·v_1ᵀ = (s_1·A - s_2·sign(det A)·C)/(s_1² - s_2²),
//
// where C are the cofactors. The Hessian of ⟨B, u_1·v_1ᵀ⟩ + s_1·s_1·s_2 must be
// that of these formulas, by differences of big numbers.
func TestSVDHessian(t *testing.T) {
	const prec = 400
	num := func(x float64) *big.Float { return big.NewFloat(x).SetPrec(prec) }
	mul := func(x, y *big.Float) *big.Float { return new(big.Float).Mul(x, y) }
	add := func(x, y *big.Float) *big.Float { return new(big.Float).Add(x, y) }
	sub := func(x, y *big.Float) *big.Float { return new(big.Float).Sub(x, y) }
	value := func(b []float64, a []*big.Float) *big.Float {
		norm := num(0)
		for _, v := range a {
			norm = add(norm, mul(v, v))
		}
		det := sub(mul(a[0], a[3]), mul(a[1], a[2]))
		root := new(big.Float).Sqrt(sub(mul(norm, norm), mul(num(4), mul(det, det))))
		s1 := new(big.Float).Sqrt(mul(num(0.5), add(norm, root)))
		signed := new(big.Float).Quo(det, s1) // s_2·sign(det A)
		cofactors := []*big.Float{a[3], new(big.Float).Neg(a[2]), new(big.Float).Neg(a[1]), a[0]}
		sum := num(0)
		for i := range a {
			sum = add(sum, mul(num(b[i]), sub(mul(s1, a[i]), mul(signed, cofactors[i]))))
		}
		sum.Quo(sum, sub(mul(s1, s1), mul(signed, signed)))
		return add(sum, mul(mul(s1, s1), new(big.Float).Abs(signed)))
	}
	rnd := rand.New(rand.NewPCG(29, 4))
	for trial := range 10 {
		a, da := spread[float64](rnd, 2, 2), kerneltest.Matrix[float64](rnd, 2, 2)
		if trial%2 == 0 {
			a.Data[0], a.Data[1], a.Data[2], a.Data[3] = a.Data[2], a.Data[3], a.Data[0], a.Data[1] // det A < 0
		}
		b := kerneltest.Normals[float64](rnd, 4, 1)
		ga, dga := svdHessian(t, a, da, func(k, dk revlinalg.SVD[float64]) (g, gt revlinalg.SVD[float64]) {
			s, ds := k.S.Data, dk.S.Data
			g = revlinalg.SVD[float64]{U: rev.NewGeneral[float64](2, 2, nil), V: rev.NewGeneral[float64](2, 2, nil)}
			gt = revlinalg.SVD[float64]{U: rev.NewGeneral[float64](2, 2, nil), V: rev.NewGeneral[float64](2, 2, nil)}
			g.S = rev.ViewSlice([]float64{2 * s[0] * s[1], s[0] * s[0]})
			gt.S = rev.ViewSlice([]float64{2 * (ds[0]*s[1] + s[0]*ds[1]), 2 * s[0] * ds[0]})
			for i := range 2 {
				for j := range 2 {
					g.U.Row(i)[0] += b[2*i+j] * k.V.Row(j)[0]
					g.V.Row(j)[0] += b[2*i+j] * k.U.Row(i)[0]
					gt.U.Row(i)[0] += b[2*i+j] * dk.V.Row(j)[0]
					gt.V.Row(j)[0] += b[2*i+j] * dk.U.Row(i)[0]
				}
			}
			return g, gt
		})
		// at returns the value at A + x·h·e_i + y·h·Ȧ.
		const h = 0x1p-60
		at := func(x, y float64, i int) *big.Float {
			p := make([]*big.Float, 4)
			for j := range p {
				p[j] = add(num(a.Data[j]), mul(num(y*h), num(da.Data[j])))
			}
			p[i] = add(p[i], num(x*h))
			return value(b, p)
		}
		for i := range 4 {
			d, _ := sub(at(1, 0, i), at(-1, 0, i)).Float64()
			dd, _ := sub(sub(at(1, 1, i), at(1, -1, i)), sub(at(-1, 1, i), at(-1, -1, i))).Float64()
			if want := d / (2 * h); !kerneltest.Near(ga[i], want, 1e-13) {
				t.Errorf("trial %d: derivative %v by element %d, want %v", trial, ga[i], i, want)
			}
			if want := dd / (4 * h * h); !kerneltest.Near(dga[i], want, 1e-12) {
				t.Errorf("trial %d: second derivative %v by element %d, want %v", trial, dga[i], i, want)
			}
		}
	}
}

// Of one column a the results are u = ±a/s, s = ‖a‖ and v = ±1, and the function
// v·cᵀu of them has the gradient (c - (cᵀu)·u)/s for the u = a/s.
func TestSVDHessianOfVector(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 5))
	const n = 4
	a, da, c := kerneltest.Normals[float64](rnd, n, 1), kerneltest.Normals[float64](rnd, n, 1), kerneltest.Normals[float64](rnd, n, 1)
	inner := func(x, y []float64) (s float64) {
		for i, v := range x {
			s += v * y[i]
		}
		return s
	}
	s := math.Sqrt(inner(a, a))
	ds := inner(a, da) / s
	u, du := make([]float64, n), make([]float64, n)
	for i := range n {
		u[i] = a[i] / s
		du[i] = (da[i] - u[i]*ds) / s
	}
	for _, shape := range [][2]int{{n, 1}, {1, n}} {
		long, short := shape[0] == n, shape[0] == 1
		ga, dga := svdHessian(t, rev.NewGeneral(shape[0], shape[1], a), rev.NewGeneral(shape[0], shape[1], da),
			func(k, dk revlinalg.SVD[float64]) (g, gt revlinalg.SVD[float64]) {
				x, y := k.U, k.V // of which the first is the long one
				dx, dy := dk.U, dk.V
				if short {
					x, y, dx, dy = y, x, dy, dx
				}
				gx, gy := rev.NewGeneral[float64](n, 1, nil), rev.NewGeneral[float64](1, 1, nil)
				dgx, dgy := rev.NewGeneral[float64](n, 1, nil), rev.NewGeneral[float64](1, 1, nil)
				for i := range n {
					gx.Data[i] = c[i] * y.Data[0]
					dgx.Data[i] = c[i] * dy.Data[0]
				}
				gy.Data[0], dgy.Data[0] = inner(c, x.Data), inner(c, dx.Data)
				if long {
					return revlinalg.SVD[float64]{U: gx, V: gy}, revlinalg.SVD[float64]{U: dgx, V: dgy}
				}
				return revlinalg.SVD[float64]{U: gy, V: gx}, revlinalg.SVD[float64]{U: dgy, V: dgx}
			})
		for i := range n {
			cu, dcu := inner(c, u), inner(c, du)
			want := (c[i] - cu*u[i]) / s
			dwant := -(dcu*u[i]+cu*du[i])/s - want*ds/s
			if !(math.Abs(ga[i]-want) <= 1e-14) || !(math.Abs(dga[i]-dwant) <= 1e-13) {
				t.Errorf("%v: derivatives %v and %v by element %d, want %v and %v", shape, ga[i], dga[i], i, want, dwant)
			}
		}
	}
}

// The Hessian of the polar factor at equal singular values, too, is that of
// matrices near by, along a direction that keeps them equal.
func TestSVDHessianDegenerate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 6))
	q, _ := twice(rnd)
	b := mat.NewDense(4, 4, kerneltest.Normals[float64](rnd, 16, 1))
	w := mat.NewDense(4, 4, kerneltest.Normals[float64](rnd, 16, 1)) // Qᵀ·Ȧ·diag(1, -1, 1, 1)
	w.Set(1, 1, w.At(2, 2))
	w.Set(1, 2, -w.At(2, 1))
	sign := mat.NewDiagDense(4, []float64{1, -1, 1, 1})
	product := func(values []float64) []float64 {
		var a, da mat.Dense
		a.Product(q, mat.NewDiagDense(4, values), sign)
		da.Product(q, w, sign)
		_, dga := svdHessian(t, rev.ViewDense(&a), rev.ViewDense(&da), func(k, dk revlinalg.SVD[float64]) (g, gt revlinalg.SVD[float64]) {
			of := func(k revlinalg.SVD[float64]) revlinalg.SVD[float64] {
				var gu, gv mat.Dense
				gu.Mul(b, mat.NewDense(4, 4, k.V.Data))
				gv.Mul(b.T(), mat.NewDense(4, 4, k.U.Data))
				return revlinalg.SVD[float64]{U: rev.ViewDense(&gu), V: rev.ViewDense(&gv)}
			}
			return of(k), of(dk)
		})
		return dga
	}
	got, want := product([]float64{1, 2, 2, 5}), product([]float64{1, 2, 2 + 1e-7, 5})
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-5) {
			t.Errorf("second derivative %v by element %d, %v near by", got[i], i, want[i])
		}
	}
}

// rankOne returns an m×n matrix of rank 1.
func rankOne(rnd *rand.Rand, m, n int) rev.General[float64] {
	a, x, y := rev.NewGeneral[float64](m, n, nil), kerneltest.Normals[float64](rnd, m, 1), kerneltest.Normals[float64](rnd, n, 1)
	for i := range m {
		for j := range n {
			a.Row(i)[j] = x[i] * y[j]
		}
	}
	return a
}

// vanishingCases are functions that have derivatives where all singular values but
// the first are 0, as the cotangents of U, S and V.
var vanishingCases = map[string]func(b rev.General[float64], k revlinalg.SVD[float64]) revlinalg.SVD[float64]{
	"s_1": func(_ rev.General[float64], k revlinalg.SVD[float64]) revlinalg.SVD[float64] {
		s := make([]float64, k.S.N)
		s[0] = 1
		return revlinalg.SVD[float64]{S: rev.ViewSlice(s)}
	},
	"u_1·v_1ᵀ": func(b rev.General[float64], k revlinalg.SVD[float64]) revlinalg.SVD[float64] {
		gu, gv := rev.NewGeneral[float64](k.U.Rows, k.U.Cols, nil), rev.NewGeneral[float64](k.V.Rows, k.V.Cols, nil)
		for i := range b.Rows {
			for j, v := range b.Row(i) {
				gu.Row(i)[0] += v * k.V.Row(j)[0]
				gv.Row(j)[0] += v * k.U.Row(i)[0]
			}
		}
		return revlinalg.SVD[float64]{U: gu, V: gv}
	},
	"space of the others": func(b rev.General[float64], k revlinalg.SVD[float64]) revlinalg.SVD[float64] {
		gu, gv := rev.NewGeneral[float64](k.U.Rows, k.U.Cols, nil), rev.NewGeneral[float64](k.V.Rows, k.V.Cols, nil)
		n := k.U.Cols // square matrices alone
		for i := range n {
			for j := range n {
				for l := 1; l < n; l++ { // tr(B·U₂·U₂ᵀ) + 2·tr(B·V₂·V₂ᵀ)
					gu.Row(i)[l] += (b.Row(i)[j] + b.Row(j)[i]) * k.U.Row(j)[l]
					gv.Row(i)[l] += 2 * (b.Row(i)[j] + b.Row(j)[i]) * k.V.Row(j)[l]
				}
			}
		}
		return revlinalg.SVD[float64]{U: gu, V: gv}
	},
}

// Derivatives at a matrix of rank 1 are those of matrices near by, which have full
// rank. A central difference has no kink of other singular values in it.
func TestSVDVanishing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 7))
	const h = 1e-5
	for name, of := range vanishingCases {
		for _, shape := range [][2]int{{3, 3}, {2, 2}, {5, 2}, {2, 4}} {
			m, n := shape[0], shape[1]
			if name == "space of the others" && m != n {
				continue
			}
			a, da, b := rankOne(rnd, m, n), kerneltest.Matrix[float64](rnd, m, n), kerneltest.Matrix[float64](rnd, m, n)
			gradient := func(e float64) rev.General[float64] {
				x, r := rev.NewGeneral(m, n, slices.Clone(a.Data)), min(m, n)
				vec.Axpy(e, da.Data, x.Data)
				k := revlinalg.SVD[float64]{
					U: rev.NewGeneral[float64](m, r, nil), S: rev.ViewSlice(make([]float64, r)),
					V: rev.NewGeneral[float64](n, r, nil), A: x,
				}
				if err := k.Forward(); err != nil {
					t.Fatal(err)
				}
				g := of(b, k)
				g.A = rev.NewGeneral[float64](m, n, nil)
				if err := k.Adjoint(g); err != nil {
					t.Fatalf("%s, %v: %v", name, shape, err)
				}
				return g.A
			}
			got, up, down := gradient(0), gradient(h), gradient(-h)
			for i := range got.Data {
				if want := (up.Data[i] + down.Data[i]) / 2; !(math.Abs(got.Data[i]-want) <= 1e-7) {
					t.Errorf("%s, %v: derivative %v by element %d, %v near by", name, shape, got.Data[i], i, want)
				}
			}
			if name != "s_1" {
				continue
			}
			// A second derivative along any direction.
			s := make([]float64, min(m, n))
			s[0] = 1
			dga := rev.NewGeneral[float64](m, n, nil)
			err := revlinalg.SVD[float64]{A: a}.AdjointTangent(revlinalg.SVD[float64]{S: rev.ViewSlice(s)}, revlinalg.SVD[float64]{A: da}, revlinalg.SVD[float64]{A: dga})
			if err != nil {
				t.Fatal(err)
			}
			for i := range dga.Data {
				if want := (up.Data[i] - down.Data[i]) / (2 * h); !(math.Abs(dga.Data[i]-want) <= 1e-6) {
					t.Errorf("%v: second derivative %v by element %d, want %v", shape, dga.Data[i], i, want)
				}
			}
		}
	}
}

// Along directions that keep the rank, all results but signs have tangents.
func TestSVDVanishingTangent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 8))
	for _, shape := range [][2]int{{3, 3}, {5, 2}, {2, 4}} {
		m, n, r := shape[0], shape[1], min(shape[0], shape[1])
		a, da := rankOne(rnd, m, n), rev.NewGeneral[float64](m, n, nil)
		x, y := kerneltest.Normals[float64](rnd, m, 1), kerneltest.Normals[float64](rnd, n, 1)
		for i := range m {
			for j := range n { // Ȧ = x·rowᵀ + column·yᵀ, of a row and a column of A
				da.Row(i)[j] = x[i]*a.Row(0)[j] + a.Row(i)[0]*y[j]
			}
		}
		like := func(a rev.General[float64]) revlinalg.SVD[float64] {
			return revlinalg.SVD[float64]{
				U: rev.NewGeneral[float64](m, r, nil), S: rev.ViewSlice(make([]float64, r)), V: rev.NewGeneral[float64](n, r, nil), A: a,
			}
		}
		k, tan := like(a), like(da)
		if err := k.Tangent(tan); err != nil {
			t.Fatalf("%v: %v", shape, err)
		}
		// Ȧ = U̇·S·Vᵀ + U·Ṡ·Vᵀ + U·S·V̇ᵀ, and UᵀU̇ + U̇ᵀU = 0.
		for i := range m {
			for j := range n {
				sum := 0.0
				for l, s := range k.S.Data {
					u, v, du, dv := k.U.Row(i)[l], k.V.Row(j)[l], tan.U.Row(i)[l], tan.V.Row(j)[l]
					sum += du*s*v + u*tan.S.Data[l]*v + u*s*dv
				}
				if want := da.Row(i)[j]; !(math.Abs(sum-want) <= 1e-13) {
					t.Errorf("%v: tangent of element (%d, %d) is %v, want %v", shape, i, j, sum, want)
				}
			}
		}
		for i := range r {
			for j := range r {
				sum := 0.0
				for l := range m {
					sum += k.U.Row(l)[i]*tan.U.Row(l)[j] + tan.U.Row(l)[i]*k.U.Row(l)[j]
				}
				if !(math.Abs(sum) <= 1e-13) {
					t.Errorf("%v: ⟨u_%d, u_%d⟩ changes by %v", shape, i, j, sum)
				}
			}
		}
	}
}

// Functions that have no derivative at a matrix of rank 1 return an error there.
func TestSVDVanishingError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 9))
	a, da, ga := rankOne(rnd, 3, 2), kerneltest.Matrix[float64](rnd, 3, 2), rev.NewGeneral[float64](3, 2, nil)
	k := revlinalg.SVD[float64]{A: a}
	values := func(s ...float64) rev.Vector[float64] { return rev.ViewSlice(s) }
	u := rev.NewGeneral(3, 2, []float64{0, 1, 0, 2, 0, 3}) // the second vector
	for name, err := range map[string]error{
		"Adjoint of s_2":                  k.Adjoint(revlinalg.SVD[float64]{S: values(1, 0.5), A: ga}),
		"Adjoint of u_2":                  k.Adjoint(revlinalg.SVD[float64]{U: u, A: ga}),
		"Tangent of s_2":                  k.Tangent(revlinalg.SVD[float64]{S: values(0, 0), A: da}),
		"AdjointTangent of s_2":           k.AdjointTangent(revlinalg.SVD[float64]{S: values(1, 0.5)}, revlinalg.SVD[float64]{A: da}, revlinalg.SVD[float64]{A: ga}),
		"AdjointTangent of s_2's tangent": k.AdjointTangent(revlinalg.SVD[float64]{S: values(1, 0)}, revlinalg.SVD[float64]{A: da}, revlinalg.SVD[float64]{S: values(1, 0.5), A: ga}),
		"AdjointTangent with ṡ_2":         k.AdjointTangent(revlinalg.SVD[float64]{S: values(1, 0)}, revlinalg.SVD[float64]{S: values(1, 0), A: da}, revlinalg.SVD[float64]{A: ga}),
	} {
		var c mat.Condition
		if !errors.As(err, &c) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The sum of equal singular values has a Hessian along any direction.
func TestSVDHessianOfSum(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 10))
	const h = 1e-5
	a, da := rev.NewGeneral(2, 2, []float64{2, 0, 0, 2}), kerneltest.Matrix[float64](rnd, 2, 2)
	gradient := func(e float64) []float64 {
		x, ga := rev.NewGeneral(2, 2, slices.Clone(a.Data)), rev.NewGeneral[float64](2, 2, nil)
		vec.Axpy(e, da.Data, x.Data)
		if err := (revlinalg.SVD[float64]{A: x}).Adjoint(revlinalg.SVD[float64]{S: rev.ViewSlice([]float64{1, 1}), A: ga}); err != nil {
			t.Fatal(err)
		}
		return ga.Data
	}
	dga := rev.NewGeneral[float64](2, 2, nil)
	err := revlinalg.SVD[float64]{A: a}.AdjointTangent(revlinalg.SVD[float64]{S: rev.ViewSlice([]float64{1, 1})}, revlinalg.SVD[float64]{A: da}, revlinalg.SVD[float64]{A: dga})
	if err != nil {
		t.Fatal(err)
	}
	up, down := gradient(h), gradient(-h)
	for i, got := range dga.Data {
		if want := (up[i] - down[i]) / (2 * h); !(math.Abs(got-want) <= 1e-8) {
			t.Errorf("second derivative %v by element %d, want %v", got, i, want)
		}
	}
}

// TestSVDVanishingRounding has a singular value of 0 with a cotangent that is 0 up to rounding.
func TestSVDVanishingRounding(t *testing.T) {
	k := revlinalg.SVD[float64]{S: rev.ViewSlice(make([]float64, 3)), A: rev.NewGeneral(3, 3, []float64{2, 0, 0, 0, 1, 0, 0, 0, 0})}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	g := revlinalg.SVD[float64]{S: rev.ViewSlice([]float64{1, 1, 1e-18}), A: rev.NewGeneral[float64](3, 3, nil)}
	if err := k.Adjoint(g); err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1, 0, 0, 0, 1, 0, 0, 0, 0} {
		if !(math.Abs(g.A.Data[i]-want) <= 1e-15) {
			t.Fatalf("gradient %v, want that of the others", g.A.Data)
		}
	}
}

func BenchmarkSVD(b *testing.B) {
	for _, n := range []int{8, 16, 64, 100, 256, 500, 1000} {
		rnd := rand.New(rand.NewPCG(28, 5))
		random := func() revlinalg.SVD[float64] {
			m := func() rev.General[float64] { return kerneltest.Matrix[float64](rnd, n, n) }
			return revlinalg.SVD[float64]{U: m(), S: kerneltest.Vector[float64](rnd, n), V: m(), A: m(), Workers: 1}
		}
		k, g := random(), random()
		values, two := k, k
		values.U, values.V, two.Workers = rev.General[float64]{}, rev.General[float64]{}, 2
		benchmarkDecompositions(b, n, k.Forward, func() error { return errors.Join(k.Forward(), k.Adjoint(g)) }, values.Forward, two.Forward)
	}
}

// All singular values of an orthogonal matrix are 1.
func TestSVDOrthogonal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(33, 0))
	for n := 3; n <= 16; n++ {
		for range 100 {
			a := mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					a.Set(i, j, rnd.NormFloat64())
				}
			}
			var qr mat.QR
			var q mat.Dense
			qr.Factorize(a)
			qr.QTo(&q)
			s := rev.ViewSlice(make([]float64, n))
			if err := (revlinalg.SVD[float64]{S: s, A: rev.ViewDense(&q)}).Forward(); err != nil {
				t.Fatalf("order %d: %v", n, err)
			}
			for _, v := range s.Data {
				if math.Abs(v-1) > float64(10*n)*0x1p-53 {
					t.Fatalf("order %d: values %v", n, s.Data)
				}
			}
		}
	}
}
