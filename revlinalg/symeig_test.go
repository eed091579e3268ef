package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// separated returns a symmetric matrix with eigenvalues of about 1, 2, ..., n.
func separated[T rev.Float](rnd *rand.Rand, n int) rev.General[T] {
	a := rev.NewGeneral[T](n, n, nil)
	for i, p := range rnd.Perm(n) {
		a.Row(i)[i] = T(p + 1)
		for j := range i {
			a.Row(i)[j] = T(rnd.NormFloat64() / 8)
			a.Row(j)[i] = a.Row(i)[j]
		}
	}
	return a
}

func symEigSpec[T rev.Float]() revtest.Spec[revlinalg.SymEig[T]] {
	return revtest.Spec[revlinalg.SymEig[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.SymEig[T] {
			return revlinalg.SymEig[T]{W: kerneltest.Vector[T](rnd, size), V: kerneltest.Matrix[T](rnd, size, size), A: separated[T](rnd, size)}
		},
		Sizes:     []int{0, 1, 2, 3, 5, 12},
		RoundTrip: 4, // the sum may be larger than either
		Step:      0x1p-12,
		Masked:    []string{"A"}, // its lower triangle is not read
	}
}

func TestSymEig(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, symEigSpec[float64]()) })
	t.Run("float32", func(t *testing.T) {
		spec := symEigSpec[float32]()
		spec.Step = 0x1p-7
		revtest.Kernel(t, spec)
	})
}

func TestSymEigValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 1))
	for _, n := range []int{1, 2, 7, 60} {
		a := mat.NewSymDense(n, definite[float64](rnd, n).Data)
		var f mat.EigenSym
		if !f.Factorize(a, true) {
			t.Fatal("gonum finds no eigenvalues")
		}
		w, v := mat.NewVecDense(n, nil), mat.NewDense(n, n, nil)
		if err := revlinalg.NewSymEig(w, v, a).Forward(); err != nil {
			t.Fatal(err)
		}
		if got, want := w.RawVector().Data, f.Values(nil); !floats.EqualApprox(got, want, 0x1p-51*float64(n+10)) {
			t.Errorf("n=%d: eigenvalues %v, want %v", n, got, want)
		}
		var av, vw mat.Dense
		av.Mul(a, v)
		vw.Mul(v, mat.NewDiagDense(n, w.RawVector().Data))
		if !mat.EqualApprox(&av, &vw, 1e-12) {
			t.Errorf("n=%d: A·V is not V·W", n)
		}
		for j := range n {
			col := mat.Col(nil, j, v)
			top := max(slices.Max(col), -slices.Min(col))
			if first := slices.IndexFunc(col, func(x float64) bool { return math.Abs(x) > top/math.Pi }); col[first] < 0 {
				t.Errorf("n=%d: vector %d is %v, of the wrong sign", n, j, col)
			}
		}
	}
}

// hardSpectra are symmetric matrices with eigenvalues that are hard to separate, or of very
// different magnitude.
func hardSpectra(rnd *rand.Rand) map[string]*mat.SymDense {
	matrices := map[string]*mat.SymDense{}
	tridiagonal := func(name string, n int, d, e func(i int) float64) {
		a := mat.NewSymDense(n, nil)
		for i := range n {
			a.SetSym(i, i, d(i))
			if i > 0 {
				a.SetSym(i-1, i, e(i))
			}
		}
		matrices[name] = a
	}
	one := func(int) float64 { return 1 }
	wilkinson := func(i int) float64 { return math.Abs(float64(i%21) - 10) }
	tridiagonal("Wilkinson", 21, wilkinson, one)
	tridiagonal("glued Wilkinson", 10*21, wilkinson, func(i int) float64 {
		if i%21 == 0 {
			return 1e-10
		}
		return 1
	})
	tridiagonal("second difference", 200, func(int) float64 { return 2 }, one)
	tridiagonal("diagonal", 140, func(i int) float64 { return float64(i * 7 % 40) }, func(int) float64 { return 0 })
	tridiagonal("zero", 9, func(int) float64 { return 0 }, func(int) float64 { return 0 })
	tridiagonal("graded up", 60, func(i int) float64 { return math.Pow(1e5, float64(i)-59) }, func(i int) float64 { return math.Pow(1e5, float64(i)-60) })
	tridiagonal("graded down", 60, func(i int) float64 { return math.Pow(1e5, -float64(i)) }, func(i int) float64 { return math.Pow(1e5, -float64(i)) })

	dense := func(name string, n int, w func(i int) float64) {
		var f mat.QR
		f.Factorize(mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, 1)))
		var q, qw, qwq mat.Dense
		f.QTo(&q)
		values := make([]float64, n)
		for i := range values {
			values[i] = w(i)
		}
		qw.Apply(func(_, j int, x float64) float64 { return x * values[j] }, &q)
		qwq.Mul(&qw, q.T())
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, qwq.At(i, j))
			}
		}
		matrices[name] = a
	}
	dense("random", 130, func(int) float64 { return rnd.NormFloat64() })
	dense("repeated", 170, func(i int) float64 { return float64(i % 3) })
	dense("clustered", 170, func(i int) float64 { return 1 + float64(i%5) + 1e-13*float64(i) })
	dense("rank 1", 150, func(i int) float64 { return float64(i / 149) })
	dense("wide range", 150, func(i int) float64 { return math.Pow(0.1, float64(i)/3) })
	dense("tiny", 140, func(i int) float64 { return 1e-305 * float64(i) })
	dense("huge", 140, func(i int) float64 { return 1e305 * float64(i-70) })
	halves := func(i int) float64 { // the second is tiny beside the first, which is the identity
		if i < 70 {
			return 1
		}
		return 0
	}
	for _, scale := range []float64{1e-130, 1e-152, 1e-200, 1e-308} {
		small := func(i int) float64 { return (1 - halves(i)) * scale * rnd.NormFloat64() }
		tridiagonal(fmt.Sprintf("identity and %g", scale), 210, func(i int) float64 { return halves(i) + small(i) }, small)
	}
	tridiagonal("long grades", 150, func(i int) float64 { return math.Pow(100, -float64(i)) }, func(i int) float64 { return math.Pow(100, -float64(i)) })
	dense("above one part", symvAlone+50, func(int) float64 { return rnd.NormFloat64() })
	return matrices
}

func TestSymEigHard(t *testing.T) {
	for name, a := range hardSpectra(rand.New(rand.NewPCG(28, 10))) {
		n := a.SymmetricDim()
		top := mat.Max(a)
		top = max(top, -mat.Min(a))
		if top == 0 {
			top = 1
		}
		w, v := mat.NewVecDense(n, nil), mat.NewDense(n, n, nil)
		alone := mat.NewVecDense(n, nil)
		if err := errors.Join(revlinalg.NewSymEig(w, v, a).Forward(), revlinalg.NewSymEig(alone, nil, a).Forward()); err != nil {
			t.Fatal(err)
		}
		if n <= divideAbove && !slices.Equal(w.RawVector().Data, alone.RawVector().Data) {
			t.Errorf("%s: other eigenvalues without vectors", name)
		}
		var scaled, av, vw, vv mat.Dense
		scaled.Apply(func(_, _ int, x float64) float64 { return x / top }, a)
		values := make([]float64, n)
		for i := range values {
			values[i] = w.AtVec(i) / top
		}
		if !slices.IsSorted(values) {
			t.Errorf("%s: eigenvalues %v are not in order", name, values)
		}
		norm := math.Abs(values[0])
		norm = max(norm, math.Abs(values[n-1]))
		for i, v := range values {
			if diff := math.Abs(v - alone.AtVec(i)/top); !(diff <= 4*0x1p-53*float64(n+10)*norm) {
				t.Errorf("%s: eigenvalue %d differs by %g times ‖A‖ without vectors", name, i, diff/norm)
			}
		}
		av.Mul(&scaled, v)
		vw.Apply(func(_, j int, x float64) float64 { return x * values[j] }, v)
		av.Sub(&av, &vw)
		vv.Mul(v.T(), v)
		vv.Sub(&vv, mat.NewDiagDense(n, slices.Repeat([]float64{1}, n)))
		bound := 4 * 0x1p-53 * float64(n+10)
		residual, orthogonality := mat.Norm(&av, 2), mat.Norm(&vv, 2)
		if !(residual <= bound*norm) || !(orthogonality <= bound) {
			t.Errorf("%s: A·V differs from V·W by %g times ‖A‖, and VᵀV from I by %g, want at most %g", name, residual/norm, orthogonality, bound)
		}
	}
}

// Rounding does not decide the signs of vectors whose elements have the same
// magnitude.
func TestSymEigTies(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 9))
	for range 1000 {
		d, c := rnd.NormFloat64(), rnd.NormFloat64()
		a := rev.NewGeneral(2, 2, []float64{d, c, c, d})
		eig := revlinalg.SymEig[float64]{V: rev.NewGeneral[float64](2, 2, nil), A: a}
		svd := revlinalg.SVD[float64]{U: rev.NewGeneral[float64](2, 2, nil), A: a}
		if err := errors.Join(eig.Forward(), svd.Forward()); err != nil {
			t.Fatal(err)
		}
		if v := eig.V.Row(0); !(v[0] > 0 && v[1] > 0) {
			t.Errorf("first elements of the eigenvectors of %v: %v", a.Data, v)
		}
		if u := svd.U.Row(0); !(u[0] > 0 && u[1] > 0) {
			t.Errorf("first elements of the singular vectors of %v: %v", a.Data, u)
		}
	}
}

// twice returns an orthogonal matrix and a symmetric one with the eigenvalues 1,
// 2, 2, 5 and its columns as vectors.
func twice(rnd *rand.Rand) (q, a *mat.Dense) {
	var f mat.QR
	f.Factorize(mat.NewDense(4, 4, kerneltest.Normals[float64](rnd, 16, 1)))
	q, a = new(mat.Dense), new(mat.Dense)
	f.QTo(q)
	a.Product(q, mat.NewDiagDense(4, []float64{1, 2, 2, 5}), q.T())
	return q, a
}

// Functions that do not depend on the basis of an eigenspace have gradients.
func TestSymEigDegenerate(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 2))
	_, a := twice(rnd)
	b := mat.NewDense(4, 4, kerneltest.Normals[float64](rnd, 16, 1))
	b.Add(b, mat.DenseCopyOf(b.T()))
	// The projection on the space of the two equal eigenvalues, in a product
	// with B, plus the sum of their squares.
	value := func(a mat.Matrix) float64 {
		var f mat.EigenSym
		s := mat.NewSymDense(4, nil)
		for i := range 4 {
			for j := i; j < 4; j++ {
				s.SetSym(i, j, a.At(i, j))
			}
		}
		f.Factorize(s, true)
		var v, bv, p mat.Dense
		f.VectorsTo(&v)
		space := v.Slice(0, 4, 1, 3)
		bv.Mul(b, space)
		p.Mul(space.T(), &bv)
		w := f.Values(nil)
		return mat.Trace(&p) + w[1]*w[1] + w[2]*w[2]
	}
	k := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, 4)), V: rev.NewGeneral[float64](4, 4, nil), A: rev.ViewDense(a)}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	v := mat.NewDense(4, 4, slices.Clone(k.V.Data))
	w := slices.Clone(k.W.Data)
	var gv mat.Dense
	gv.Mul(b, v)
	gv.Scale(2, &gv)
	for i := range 4 {
		gv.Set(i, 0, 0)
		gv.Set(i, 3, 0)
	}
	g := revlinalg.SymEig[float64]{W: rev.ViewSlice([]float64{0, 2 * w[1], 2 * w[2], 0}), V: rev.ViewDense(&gv), A: rev.NewGeneral[float64](4, 4, nil)}
	if err := k.Adjoint(g); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		for j := i; j < 4; j++ {
			at := func(h float64) float64 {
				c := mat.DenseCopyOf(a)
				c.Set(i, j, a.At(i, j)+h)
				return value(c)
			}
			const h = 1e-5
			if want, got := (at(h)-at(-h))/(2*h), g.A.Row(i)[j]; !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("derivative %v by element (%d, %d), want %v", got, i, j, want)
			}
		}
	}
}

// Others have none, and nothing is written then.
func TestSymEigDegenerateError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 3))
	_, a := twice(rnd)
	k := revlinalg.SymEig[float64]{W: kerneltest.Vector[float64](rnd, 4), V: kerneltest.Matrix[float64](rnd, 4, 4), A: rev.ViewDense(a)}
	like := func() revlinalg.SymEig[float64] {
		return revlinalg.SymEig[float64]{W: kerneltest.Vector[float64](rnd, 4), V: kerneltest.Matrix[float64](rnd, 4, 4), A: kerneltest.Matrix[float64](rnd, 4, 4)}
	}
	onlyValues, onlyVectors := like(), like()
	onlyValues.V, onlyVectors.W = rev.General[float64]{}, rev.Vector[float64]{}
	all := func(ks ...revlinalg.SymEig[float64]) (s []float64) {
		for _, k := range ks {
			s = slices.Concat(s, k.W.Data, k.V.Data, k.A.Data)
		}
		return s
	}
	g, h, gh := like(), like(), like()
	for name, f := range map[string]func() error{
		"Adjoint":            func() error { return k.Adjoint(g) },
		"Adjoint of values":  func() error { return k.Adjoint(onlyValues) },
		"Adjoint of vectors": func() error { return k.Adjoint(onlyVectors) },
		"Tangent":            func() error { return k.Tangent(g) },
		"Tangent of values":  func() error { return k.Tangent(onlyValues) },
		"AdjointTangent":     func() error { return k.AdjointTangent(g, h, gh) },
	} {
		before := all(k, g, h, gh, onlyValues, onlyVectors)
		err := f()
		var e *rev.DegenerateError
		if !errors.As(err, &e) || e.I != 1 || e.J != 2 || !(e.Gap < 1e-14) {
			t.Errorf("%s: error %v, want values 1 and 2", name, err)
		}
		if !slices.Equal(before, all(k, g, h, gh, onlyValues, onlyVectors)) {
			t.Errorf("%s has written", name)
		}
	}
	// Passes that compute no derivative return no error.
	if err := k.AdjointTangent(revlinalg.SymEig[float64]{W: g.W, V: g.V}, revlinalg.SymEig[float64]{}, revlinalg.SymEig[float64]{}); err != nil {
		t.Error(err)
	}
	// A change that is the same for the whole space moves no vector.
	id := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, 4)), V: rev.NewGeneral[float64](4, 4, nil), A: rev.NewGeneral[float64](4, 4, nil)}
	for i := range 4 {
		id.A.Row(i)[i] = 1
	}
	if err := k.Tangent(id); err != nil {
		t.Error(err)
	}
	for i, v := range id.W.Data {
		if !kerneltest.Near(v, 1, 1e-14) {
			t.Errorf("eigenvalue %d moves by %v under the identity", i, v)
		}
	}
	for i, v := range id.V.Data {
		if !(math.Abs(v) < 1e-13) {
			t.Errorf("element %d of V moves by %v under the identity", i, v)
		}
	}
}

// Eigenvalues that are NaN are not equal, whatever there was before.
func TestSymEigNaN(t *testing.T) {
	a := mat.NewSymDense(2, []float64{3, 0, 0, 3})
	for _, v := range []float64{0, math.NaN(), math.Inf(1)} {
		a.SetSym(0, 1, v)
		k := revlinalg.NewSymEig(mat.NewVecDense(2, nil), mat.NewDense(2, 2, nil), a)
		g := revlinalg.SymEig[float64]{W: rev.ViewSlice([]float64{1, 2}), A: rev.NewGeneral[float64](2, 2, nil)}
		err := k.Adjoint(g)
		if v == 0 {
			if err == nil {
				t.Error("no error for equal eigenvalues")
			}
			continue
		}
		if err != nil || !math.IsNaN(g.A.Data[0]) || !math.IsNaN(g.A.Data[1]) || !math.IsNaN(g.A.Data[3]) {
			t.Errorf("%v: gradient %v, error %v, want NaN", v, g.A.Data, err)
		}
	}
}

// Without V, Forward needs no vectors and Adjoint does: both must have the same eigenvalues. Tangent
// has them too, and what is in the workspace may come from a kernel with V.
func TestSymEigWithoutV(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 12))
	const n = divideAbove + 10
	a := separated[float64](rnd, n)
	k := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, n)), A: a}
	whole := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, n)), V: rev.NewGeneral[float64](n, n, nil), A: a}
	g := revlinalg.SymEig[float64]{W: kerneltest.Vector[float64](rnd, n), A: rev.NewGeneral[float64](n, n, nil)}
	tangent := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, n)), A: kerneltest.Matrix[float64](rnd, n, n)}
	for range 2 {
		if err := errors.Join(k.Forward(), k.Adjoint(g), k.Tangent(tangent), whole.Forward(), k.Inverse(), k.Forward(), whole.Inverse(), k.Inverse()); err != nil {
			t.Fatal(err)
		}
		for i, v := range slices.Concat(k.W.Data, whole.W.Data, whole.V.Data) {
			if v != 0 {
				t.Fatalf("%v is left in output %d", v, i)
			}
		}
	}
}

// Tridiagonal matrices with equal values, zeros beside the diagonal and elements at the ends of
// the range in which SymEig keeps the largest. Reflections leave such matrices as they are. Up to divideAbove sweeps find
// the vectors. Above, matrices are divided, and those of order 194 into parts of 24, 25, 48 and 49 rows.
func TestDivideConquer(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 13))
	elements := elementsOfBands(rnd)
	sizes := []int{1, divideLeaf, divideAbove + 1, 150, 4*divideLeaf + 2}
	if !testing.Short() {
		sizes = append(sizes, 201)
	}
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
				k := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, n)), V: rev.NewGeneral[float64](n, n, nil), A: a, Workers: 1}
				if err := k.Forward(); err != nil {
					t.Errorf("diagonal %s, beside %s, order %d: %v", diagonal.name, beside.name, n, err)
					continue
				}
				// T·x - λ·x, and the products of vectors.
				residual, products := 0.0, mat.NewDense(n, n, nil)
				v := mat.NewDense(n, n, k.V.Data)
				for i := range n {
					x := mat.Col(nil, i, v)
					for j := range n {
						r := (d[j] - k.W.Data[i]) / top * x[j]
						if j > 0 {
							r += e[j-1] / top * x[j-1]
						}
						if j < n-1 {
							r += e[j] / top * x[j+1]
						}
						residual = max(residual, math.Abs(r))
					}
				}
				products.Mul(v.T(), v)
				for i := range n {
					products.Set(i, i, products.At(i, i)-1)
				}
				orthogonality := max(mat.Max(products), -mat.Min(products))
				if bound := 2 * 0x1p-53 * float64(n+20); !(residual <= bound) || !(orthogonality <= bound) {
					t.Errorf("diagonal %s, beside %s, order %d: residual %g of the largest element, products of vectors off by %g, want at most %g", diagonal.name, beside.name, n, residual, orthogonality, bound)
				}
			}
		}
	}
}

// A bandElement draws elements of bidiagonal and tridiagonal matrices.
type bandElement struct {
	name string
	draw func() float64
}

func elementsOfBands(rnd *rand.Rand) []bandElement {
	return []bandElement{
		{"normal", rnd.NormFloat64},
		{"uniform", rnd.Float64},
		{"integers", func() float64 { return float64(rnd.IntN(3)) }},
		{"one", func() float64 { return 1 }},
		{"zero", func() float64 { return 0 }},
		{"graded", func() float64 { return math.Exp2(-float64(rnd.IntN(80))) }},
		{"least", func() float64 { return 0x1p-100 * rnd.Float64() }},
		{"large", func() float64 { return 0x1p300 * rnd.NormFloat64() }},
		{"bits", func() float64 { return 1 + 0x1p-52*float64(rnd.IntN(8)) }},
		{"some", func() float64 { return float64(rnd.IntN(8)/7) * rnd.NormFloat64() }},
		{"weak", func() float64 { return 1e-8 * rnd.NormFloat64() }},
	}
}

// Bits do not depend on the number of workers, nor on whether the workspace has the
// decomposition already.
func TestSymEigBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(28, 11))
	const n = symvAlone + 30
	a, other := separated[float64](rnd, n), separated[float64](rnd, n)
	gw, gv := kerneltest.Vector[float64](rnd, n), kerneltest.Matrix[float64](rnd, n, n)
	var want []float64
	for _, workers := range []int{1, 7, 2}[:long.Or(3, 2)] {
		for _, between := range []bool{false, true} {
			k := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, n)), V: rev.NewGeneral[float64](n, n, nil), A: a, Workers: workers}
			g := revlinalg.SymEig[float64]{W: gw, V: gv, A: rev.NewGeneral[float64](n, n, nil)}
			forward := k.Forward()
			got := slices.Concat(k.W.Data, k.V.Data)
			var second error
			if between {
				second = revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, n)), A: other, Workers: workers}.Forward()
			}
			if err := errors.Join(forward, second, k.Adjoint(g)); err != nil {
				t.Fatal(err)
			}
			got = slices.Concat(got, k.W.Data, k.V.Data, g.A.Data)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d workers, another matrix between: %v: other bits", workers, between)
			}
			for i, v := range slices.Concat(k.W.Data, k.V.Data) {
				if v != 0 {
					t.Fatalf("%d workers, another matrix between: %v: Adjoint leaves %v in output %d", workers, between, v, i)
				}
			}
		}
	}
}

// A matrix with other signs of zeros has other bits: SymEig and SVD do not take its decomposition
// for that of theirs.
func TestDecompositionOfZeros(t *testing.T) {
	t.Run("float64", testDecompositionOfZeros[float64])
	t.Run("float32", testDecompositionOfZeros[float32])
}

func testDecompositionOfZeros[T rev.Float](t *testing.T) {
	for seed := range uint64(8) {
		checkDecompositionOfZeros[T](t, rand.New(rand.NewPCG(28, 12+seed)), 41)
	}
}

func checkDecompositionOfZeros[T rev.Float](t *testing.T, rnd *rand.Rand, n int) {
	a, minus := rev.NewGeneral[T](n, n, nil), rev.NewGeneral[T](n, n, nil)
	for i := range a.Data {
		if rnd.IntN(2) == 0 {
			a.Data[i] = T(rnd.IntN(5) - 2)
		}
		minus.Data[i] = a.Data[i]
		if a.Data[i] == 0 && rnd.IntN(2) == 0 {
			minus.Data[i] = T(math.Copysign(0, -1))
		}
	}
	zeros := func() (rev.Vector[T], rev.General[T]) {
		return rev.ViewSlice(make([]T, n)), rev.NewGeneral[T](n, n, nil)
	}
	for name, inverse := range map[string]func(before rev.General[T]) ([]T, error){
		"SymEig": func(before rev.General[T]) ([]T, error) {
			forward, back := revlinalg.SymEig[T]{A: before}, revlinalg.SymEig[T]{A: minus}
			forward.W, forward.V = zeros()
			back.W, back.V = zeros()
			err := errors.Join(forward.Forward(), back.Inverse())
			return slices.Concat(back.W.Data, back.V.Data), err
		},
		"SVD": func(before rev.General[T]) ([]T, error) {
			forward, back := revlinalg.SVD[T]{A: before}, revlinalg.SVD[T]{A: minus}
			forward.S, forward.U = zeros()
			back.S, back.U = zeros()
			err := errors.Join(forward.Forward(), back.Inverse())
			return slices.Concat(back.S.Data, back.U.Data), err
		},
	} {
		want, err := inverse(minus)
		got, err2 := inverse(a)
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: other bits after a matrix with other signs of zeros", name)
		}
	}
}

func BenchmarkSymEig(b *testing.B) {
	for _, n := range []int{8, 16, 64, 100, 256, 500, 1000} {
		rnd := rand.New(rand.NewPCG(28, 4))
		k := revlinalg.SymEig[float64]{W: kerneltest.Vector[float64](rnd, n), V: kerneltest.Matrix[float64](rnd, n, n), A: kerneltest.Matrix[float64](rnd, n, n), Workers: 1}
		g := revlinalg.SymEig[float64]{W: kerneltest.Vector[float64](rnd, n), V: kerneltest.Matrix[float64](rnd, n, n), A: kerneltest.Matrix[float64](rnd, n, n)}
		values, two := k, k
		values.V, two.Workers = rev.General[float64]{}, 2
		benchmarkDecompositions(b, n, k.Forward, func() error { return errors.Join(k.Forward(), k.Adjoint(g)) }, values.Forward, two.Forward)
	}
}

func benchmarkDecompositions(b *testing.B, n int, forward, adjoint, values, two func() error) {
	for _, c := range []struct {
		name string
		run  func() error
	}{{"Forward", forward}, {"ForwardAdjoint", adjoint}, {"Values", values}, {"TwoWorkers", two}} {
		b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
			for b.Loop() {
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestSymEigZeroCotangents has equal eigenvalues, and cotangents that do not depend on them.
func TestSymEigZeroCotangents(t *testing.T) {
	for _, value := range []float64{0, 1} {
		for _, w := range []rev.Vector[float64]{{}, rev.ViewSlice(make([]float64, 3))} {
			a := rev.NewGeneral(3, 3, []float64{value, 0, 0, 0, value, 0, 0, 0, value})
			k := revlinalg.SymEig[float64]{W: rev.ViewSlice(make([]float64, 3)), V: rev.NewGeneral[float64](3, 3, nil), A: a}
			if err := k.Forward(); err != nil {
				t.Fatal(err)
			}
			g := revlinalg.SymEig[float64]{W: w, V: rev.NewGeneral[float64](3, 3, nil), A: rev.NewGeneral[float64](3, 3, nil)}
			if err := k.Adjoint(g); err != nil {
				t.Error(err)
			}
			for _, v := range g.A.Data {
				if v != 0 {
					t.Fatalf("the gradient of %v·I is %v, want 0", value, g.A.Data)
				}
			}
		}
	}
}
