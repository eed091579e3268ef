package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func randomUnitary[T rev.Real](rnd *rand.Rand, n, m int) revlinalg.Unitary[T] {
	k := revlinalg.Unitary[T]{X: kerneltest.Matrix[T](rnd, n, m), Theta: kerneltest.Vector[T](rnd, n*(n-1)/2)}
	for i := range k.Theta.Data {
		k.Theta.Data[i] = fixed.Of[T](8 * (rnd.Float64() - 0.5)) // beyond ±π
	}
	return k
}

func unitarySpec[T rev.Real](cols int, rectangular bool, sizes ...int) revtest.Spec[revlinalg.Unitary[T]] {
	return revtest.Spec[revlinalg.Unitary[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Unitary[T] {
			k := randomUnitary[T](rnd, size, cols)
			k.Rectangular = rectangular
			return k
		},
		Sizes:     sizes,
		RoundTrip: 50,
		Free:      []string{"X.Cols"},
	}
}

func TestUnitary(t *testing.T) {
	sizes := []int{2, 3, 5, 6, 12, 23}
	for _, rectangular := range []bool{false, true} {
		for _, cols := range []int{1, 12, 3}[:long.Or(3, 2)] {
			t.Run(fmt.Sprintf("%d columns, rectangular=%v", cols, rectangular), func(t *testing.T) {
				kerneltest.Kernels(t, unitarySpec[float32](cols, rectangular, sizes...), unitarySpec[float64](cols, rectangular, sizes...),
					unitarySpec[fixed.Q43](cols, rectangular, sizes...))
			})
		}
	}
}

// Several panels, and several parts of the columns.
func TestUnitaryLarge(t *testing.T) {
	for _, rectangular := range []bool{false, true} {
		if !rectangular && !long.Tests() {
			continue
		}
		spec := unitarySpec[float64](70, rectangular)
		spec.Sizes = []int{150}
		spec.Skip = map[revtest.Property]string{
			revtest.Tangents: "slow", revtest.SecondOrder: "slow", revtest.SymmetricHessian: "slow", revtest.Shapes: "slow",
			revtest.Extremes: "slow", revtest.NilGradients: "slow", revtest.Accumulation: "slow", revtest.NoAllocation: "slow",
		}
		if !long.Tests() {
			for _, p := range []revtest.Property{revtest.ReadOnly, revtest.Gaps, revtest.NilOutputs, revtest.Omitted, revtest.Magnitudes, revtest.Methods} {
				spec.Skip[p] = "tested at small sizes"
			}
		}
		t.Run(fmt.Sprintf("rectangular=%v", rectangular), func(t *testing.T) { revtest.Kernel(t, spec) })
	}
}

// Without rows, and with one row, there are no rotations.
func TestUnitaryNoRotation(t *testing.T) {
	s32, s64, sQ := unitarySpec[float32](3, false, 0, 1), unitarySpec[float64](3, true, 0, 1), unitarySpec[fixed.Q43](3, false, 0, 1)
	free := []string{"X.Rows", "X.Cols"}
	s32.Free, s64.Free, sQ.Free = free, free, free
	kerneltest.Kernels(t, s32, s64, sQ)
}

// unitaryMatrix returns U(θ), from plane rotations as matrices.
func unitaryMatrix(n int, rectangular bool, theta []float64) *mat.Dense {
	u := mat.NewDense(n, n, nil)
	for i := range n {
		u.Set(i, i, 1)
	}
	k := 0
	rotate := func(i int) { // rows i and i+1, counted from 1
		r := mat.NewDense(n, n, nil)
		for d := range n {
			r.Set(d, d, 1)
		}
		sin, cos := math.Sincos(theta[k])
		r.Set(i-1, i-1, cos)
		r.Set(i-1, i, -sin)
		r.Set(i, i-1, sin)
		r.Set(i, i, cos)
		u.Mul(r, u)
		k++
	}
	for j := 1; j <= n; j++ {
		if rectangular {
			for i := 2 - j%2; i < n; i += 2 {
				rotate(i)
			}
		} else {
			for i := n - 1; i >= j; i-- {
				rotate(i)
			}
		}
	}
	return u
}

func TestUnitaryValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for _, n := range []int{1, 2, 3, 4, 7, 8, 21, 50} {
		for _, rectangular := range []bool{false, true} {
			testUnitaryValue(t, rnd, n, rectangular)
		}
	}
}

func testUnitaryValue(t *testing.T, rnd *rand.Rand, n int, rectangular bool) {
	k := randomUnitary[float64](rnd, n, 9)
	k.Rectangular = rectangular
	u := unitaryMatrix(n, rectangular, k.Theta.Data)
	var want mat.Dense
	want.Mul(u, mat.NewDense(n, 9, k.X.Data))
	q := revlinalg.Unitary[fixed.Q43]{X: kerneltest.Matrix[fixed.Q43](rnd, n, 9), Theta: kerneltest.Vector[fixed.Q43](rnd, len(k.Theta.Data)), Rectangular: rectangular}
	for i, v := range k.X.Data {
		q.X.Data[i] = fixed.FromFloat64(v)
	}
	for i, v := range k.Theta.Data {
		q.Theta.Data[i] = fixed.FromFloat64(v)
	}
	k.Forward()
	q.Forward()
	for i, v := range k.X.Data {
		w := want.RawMatrix().Data[i]
		if !(math.Abs(v-w) <= 1e-13) || !(math.Abs(q.X.Data[i].Float64()-w) <= 1e-11) {
			t.Fatalf("n=%d: element %d is %v and %v, want %v", n, i, v, q.X.Data[i], w)
		}
	}

	// U itself, from the identity, is orthogonal. One angle is large.
	if n > 1 {
		k.Theta.Data[0] = 1e7
		u = unitaryMatrix(n, rectangular, k.Theta.Data)
	}
	x := mat.NewDense(n, n, nil)
	for i := range n {
		x.Set(i, i, 1)
	}
	theta := &mat.VecDense{}
	if n > 1 {
		theta = mat.NewVecDense(k.Theta.N, k.Theta.Data)
	}
	identity := mat.DenseCopyOf(x)
	ku := revlinalg.NewUnitary(x, theta)
	ku.Rectangular = rectangular
	ku.Forward()
	if !mat.EqualApprox(x, u, 1e-13) {
		t.Errorf("n=%d: U is %v, want %v", n, mat.Formatted(x), mat.Formatted(u))
	}
	var gram mat.Dense
	gram.Mul(x.T(), x)
	if !mat.EqualApprox(&gram, identity, 1e-13) {
		t.Errorf("n=%d: UᵀU is %v", n, mat.Formatted(&gram))
	}
}

func TestUnitaryVec(t *testing.T) {
	x := mat.NewDense(3, 2, []float64{1, 9, 0, 9, 0, 9})
	theta := mat.NewVecDense(3, []float64{0.1, 0.2, 0.3})
	revlinalg.NewUnitaryVec(x.ColView(0).(*mat.VecDense), theta).Forward()
	u := unitaryMatrix(3, false, theta.RawVector().Data)
	for i := range 3 {
		if !(math.Abs(x.At(i, 0)-u.At(i, 0)) <= 1e-15) || x.At(i, 1) != 9 {
			t.Errorf("row %d is %v, want %v and 9", i, x.RawRowView(i), u.At(i, 0))
		}
	}
}

// Fixed-point rotations come back to the bit for any angle and any operands,
// also where shears wrap.
func TestUnitaryFixedExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 2))
	special := []fixed.Q43{
		0, 1, -1, fixed.Pi, -fixed.Pi, fixed.Pi + 1, fixed.Pi - 1, fixed.Pi / 2, fixed.Pi/2 + 1,
		-fixed.Pi / 2, 3 * fixed.Pi, fixed.Max, fixed.Min,
	}
	number := func() fixed.Q43 {
		switch rnd.IntN(3) {
		case 0:
			return special[rnd.IntN(len(special))]
		case 1:
			return fixed.Q43(rnd.Uint64())
		}
		return fixed.FromFloat64(rnd.NormFloat64())
	}
	fill := func(x []fixed.Q43) {
		for i := range x {
			x[i] = number()
		}
	}
	rounds := 60
	switch {
	case testing.Short():
		rounds = 10
	case long.Tests():
		rounds = 1000
	}
	for range rounds {
		n, m := 1+rnd.IntN(64), 1+rnd.IntN(4)
		rectangular := rnd.IntN(2) == 0
		var s, g, tt, gt revlinalg.Unitary[fixed.Q43]
		var before [][]fixed.Q43
		for _, k := range []*revlinalg.Unitary[fixed.Q43]{&s, &g, &tt, &gt} {
			*k = randomUnitary[fixed.Q43](rnd, n, m)
			fill(k.X.Data)
			fill(k.Theta.Data)
			k.Rectangular = rectangular
			before = append(before, slices.Clone(k.X.Data), slices.Clone(k.Theta.Data))
		}
		check := func(what string) {
			t.Helper()
			for i, k := range []revlinalg.Unitary[fixed.Q43]{s, g, tt, gt} {
				if !slices.Equal(k.X.Data, before[2*i]) || !slices.Equal(k.Theta.Data, before[2*i+1]) {
					t.Fatalf("n=%d: %s does not restore operand %d of s, g, t, gt", n, what, i)
				}
			}
		}
		type pass = rev.Pass[revlinalg.Unitary[fixed.Q43]]
		run := func(p pass) {
			if err := s.Run(p); err != nil {
				t.Fatal(err)
			}
		}
		s.Forward()
		s.Inverse()
		check("Forward, Inverse")
		s.Tangent(tt)
		run(pass{Back: true, Tangent: true, T: tt})
		check("Tangent and what undoes it")
		s.Adjoint(g)
		run(pass{Adjoint: true, G: g})
		check("Adjoint and what undoes it")
		s.AdjointTangent(g, tt, gt)
		run(pass{Adjoint: true, Tangent: true, G: g, T: tt, GT: gt})
		check("AdjointTangent and what undoes it")
	}
}

func TestUnitaryFixedMany(t *testing.T) {
	if testing.Short() {
		t.Skip("many rounds")
	}
	rnd := rand.New(rand.NewPCG(3, 4))
	k := randomUnitary[fixed.Q43](rnd, 3, 1)
	before := slices.Clone(k.X.Data)
	rounds := 100_000
	if long.Tests() {
		rounds = 1_000_000
	}
	for range rounds {
		k.Forward()
	}
	for range rounds {
		k.Inverse()
	}
	if !slices.Equal(k.X.Data, before) {
		t.Errorf("%v after %d rounds, want %v", k.X.Data, rounds, before)
	}
}

// The instruction ROT of NiLang (arXiv 2003.04617, appendix B), of two numbers and
// an angle:
//
//	a' = a·cos θ - b·sin θ,  b' = b·cos θ + a·sin θ,
//	J = ⎡cos θ  -sin θ  -b'⎤   ∂²a'/∂a∂θ = -sin θ  ∂²a'/∂b∂θ = -cos θ  ∂²a'/∂θ² = -a'
//	    ⎣sin θ   cos θ   a'⎦   ∂²b'/∂a∂θ =  cos θ  ∂²b'/∂b∂θ = -sin θ  ∂²b'/∂θ² = -b'
func TestUnitaryInstruction(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testRotation[float64](t, 1e-14) })
	t.Run("float32", func(t *testing.T) { testRotation[float32](t, 1e-5) })
	t.Run("Q43", func(t *testing.T) { testRotation[fixed.Q43](t, 1e-11) })
}

func testRotation[T rev.Real](t *testing.T, tol float64) {
	const a, b = 3, -1.25
	of := fixed.Of[T]
	rotation := func(x, y, angle T) revlinalg.Unitary[T] {
		return revlinalg.Unitary[T]{X: rev.NewGeneral(2, 1, []T{x, y}), Theta: rev.ViewSlice([]T{angle})}
	}
	for _, theta := range []float64{0, 0.5, -2, 3, 4} {
		sin, cos := math.Sincos(theta)
		a1, b1 := a*cos-b*sin, b*cos+a*sin
		jacobian := [2][3]float64{{cos, -sin, -b1}, {sin, cos, a1}}
		hessian := [2][3][3]float64{
			{{0, 0, -sin}, {0, 0, -cos}, {-sin, -cos, -a1}},
			{{0, 0, cos}, {0, 0, -sin}, {cos, -sin, -b1}},
		}
		for out := range 2 {
			for in := range 3 {
				var e [3]T
				e[in] = of(1)
				k, dk := rotation(of(a), of(b), of(theta)), rotation(e[0], e[1], e[2])
				k.Tangent(dk)
				near := func(what string, got T, want float64) {
					if g := fixed.Float(got); !(math.Abs(g-want) <= tol) {
						t.Errorf("ROT by %v, output %d, input %d: %s is %v, want %v", theta, out, in, what, g, want)
					}
				}
				near("value", k.X.Data[out], []float64{a1, b1}[out])
				near("tangent", dk.X.Data[out], jacobian[out][in])
				g, gt := rotation(0, 0, 0), rotation(0, 0, 0)
				g.X.Data[out] = of(1)
				k.AdjointTangent(g, dk, gt)
				for i, got := range []T{g.X.Data[0], g.X.Data[1], g.Theta.Data[0]} {
					near(fmt.Sprintf("derivative %d", i), got, jacobian[out][i])
				}
				for i, got := range []T{gt.X.Data[0], gt.X.Data[1], gt.Theta.Data[0]} {
					near(fmt.Sprintf("derivative %d, %d", i, in), got, hessian[out][i][in])
				}
			}
		}
	}
}

// The tangent of the half angle has a pole at π, the rotation has not.
func TestUnitaryNearPi(t *testing.T) {
	for _, d := range []float64{0, 1e-15, -1e-15, 1e-9, -1e-9, 1e-3} {
		x := mat.NewVecDense(2, []float64{3, 4})
		theta := mat.NewVecDense(1, []float64{math.Pi + d})
		revlinalg.NewUnitaryVec(x, theta).Forward()
		sin, cos := math.Sincos(math.Pi + d)
		a, b := 3*cos-4*sin, 3*sin+4*cos
		if !(math.Abs(x.AtVec(0)-a) <= 1e-14) || !(math.Abs(x.AtVec(1)-b) <= 1e-14) {
			t.Errorf("π%+g: got %v, want %v, %v", d, x.RawVector().Data, a, b)
		}
	}
	// Over fixed point, by angles of as many units from ±π, and of more turns.
	for _, turns := range []fixed.Q43{fixed.Pi, -fixed.Pi, 3 * fixed.Pi} {
		for _, d := range []fixed.Q43{0, 1, -1, 2, -2, 1000, -1000, fixed.One / 1024} {
			q := rev.NewGeneral(2, 1, []fixed.Q43{3 * fixed.One, 4 * fixed.One})
			revlinalg.Unitary[fixed.Q43]{X: q, Theta: rev.ViewSlice([]fixed.Q43{turns + d})}.Forward()
			sin, cos := math.Sincos((turns + d).Float64())
			a, b := 3*cos-4*sin, 3*sin+4*cos
			if x, y := q.Data[0].Float64(), q.Data[1].Float64(); !(math.Abs(x-a) <= 0x1p-40) || !(math.Abs(y-b) <= 0x1p-40) {
				t.Errorf("%v%+d units: got %v, want %v, %v", turns, d, q.Data, a, b)
			}
		}
	}
}

// Rows that lie closer than a vector is long give the bits that others do.
func TestUnitaryNarrow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 6))
	for _, cols := range []int{1, 2, 5} {
		k, d := randomUnitary[float64](rnd, 21, cols), randomUnitary[float64](rnd, 21, cols)
		wide := func(u revlinalg.Unitary[float64]) revlinalg.Unitary[float64] {
			x := rev.General[float64]{Rows: 21, Cols: cols, Data: make([]float64, 21*100), Stride: 100}
			for i := range 21 {
				copy(x.Row(i), u.X.Row(i))
			}
			u.X = x
			u.Theta = rev.ViewSlice(slices.Clone(u.Theta.Data))
			return u
		}
		for name, f := range map[string]func(k, d revlinalg.Unitary[float64]){
			"Forward": func(k, _ revlinalg.Unitary[float64]) { k.Forward() },
			"Inverse": func(k, _ revlinalg.Unitary[float64]) { k.Inverse() },
			"Adjoint": revlinalg.Unitary[float64].Adjoint,
			"Tangent": revlinalg.Unitary[float64].Tangent,
		} {
			x, dx := wide(k), wide(d)
			f(x, dx)
			f(k, d)
			for i := range 21 {
				if !slices.Equal(x.X.Row(i), k.X.Row(i)) || !slices.Equal(dx.X.Row(i), d.X.Row(i)) {
					t.Errorf("%d columns, %s: row %d differs", cols, name, i)
				}
			}
			if !slices.Equal(dx.Theta.Data, d.Theta.Data) {
				t.Errorf("%d columns, %s: angles differ", cols, name)
			}
		}
	}
}

func BenchmarkUnitary(b *testing.B) {
	for _, n := range []int{64, 256} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			benchUnitary[float64](b, "float64", n)
			benchUnitary[float32](b, "float32", n)
			benchUnitary[fixed.Q43](b, "Q43", n)
		})
	}
}

// A column costs no more than a column among others: most of the time goes into the
// sines and cosines of the 2,016 angles.
func BenchmarkUnitaryColumns(b *testing.B) {
	rnd := rand.New(rand.NewPCG(3, 5))
	for _, cols := range []int{1, 2, 8, 64} {
		k, g := randomUnitary[float64](rnd, 64, cols), randomUnitary[float64](rnd, 64, cols)
		b.Run(fmt.Sprintf("Forward/columns=%d", cols), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
		})
		b.Run(fmt.Sprintf("Adjoint/columns=%d", cols), func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
		})
	}
}

// benchUnitary counts six operations for each element and rotation, and in
// Adjoint four more for θ̄ and six for the cotangents.
func benchUnitary[T rev.Real](b *testing.B, name string, n int) {
	rnd := rand.New(rand.NewPCG(3, 3))
	k, g := randomUnitary[T](rnd, n, 256), randomUnitary[T](rnd, n, 256)
	for _, workers := range []int{1, 2} {
		k.Workers = workers
		flops := 6 * k.Theta.N * k.X.Cols
		for _, m := range []struct {
			name  string
			flops int
			call  func()
		}{
			{"Forward", flops, k.Forward},
			{"Adjoint", 2*flops + 4*k.Theta.N*k.X.Cols, func() { k.Adjoint(g) }},
			{"Tangent", 2*flops + 4*k.Theta.N*k.X.Cols, func() { k.Tangent(g) }},
		} {
			b.Run(fmt.Sprintf("%s/%s/workers=%d", name, m.name, workers), func(b *testing.B) {
				for b.Loop() {
					m.call()
				}
				kerneltest.ReportFlops(b, m.flops)
			})
		}
	}
}

// A checked pass over columns of large norms finds the first element that leaves the range on the way, and nothing
// where none does.
func TestUnitaryChecked(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 32))
	found := 0
	for _, rectangular := range []bool{false, true} {
		for range 40 {
			n, cols := 2+rnd.IntN(5), 1+rnd.IntN(4)
			k := revlinalg.Unitary[fixed.Q43]{X: rev.NewGeneral[fixed.Q43](n, cols, nil), Theta: rev.ViewSlice(make([]fixed.Q43, n*(n-1)/2)), Rectangular: rectangular}
			for i := range k.Theta.Data {
				k.Theta.Data[i] = fixed.FromFloat64(7 * rnd.NormFloat64())
			}
			for i := range k.X.Data {
				k.X.Data[i] = fixed.FromFloat64(0.8 * 0x1p20 * (2*rnd.Float64() - 1))
			}
			// Over float64 no element leaves the range where the value ends.
			f := revlinalg.Unitary[float64]{X: rev.NewGeneral[float64](n, cols, nil), Theta: rev.ViewSlice(make([]float64, n*(n-1)/2)), Rectangular: rectangular}
			for i, v := range k.X.Data {
				f.X.Data[i] = v.Float64()
			}
			for i, v := range k.Theta.Data {
				f.Theta.Data[i] = v.Float64()
			}
			before := slices.Clone(k.X.Data)
			err := rev.ForwardChecked(k)
			f.Forward()
			if err != nil {
				found++
				if !errors.Is(err, fixed.ErrRange) || !slices.Equal(k.X.Data, before) {
					t.Fatalf("error %v, or X has changed", err)
				}
				continue
			}
			for i, v := range f.X.Data {
				if got := k.X.Data[i].Float64(); math.Abs(got-v) > 1e-3 {
					t.Fatalf("element %d is %v, want %v", i, got, v)
				}
			}
			if err := rev.InverseChecked(k); err != nil || !slices.Equal(k.X.Data, before) {
				t.Fatalf("the inverse gives %v, or another X", err)
			}
		}
	}
	if found < 5 || found > 75 {
		t.Errorf("%d of 80 leave the range, want some", found)
	}
	// A quarter turn of (x, y) has x + y on the way if both are near the end of the range.
	theta, x := fixed.FromFloat64(-math.Pi/2), []fixed.Q43{1, 3, fixed.Max - 9, 3, 5, fixed.Max - 9}
	var overflow *rev.OverflowError
	err := rev.ForwardChecked(revlinalg.Unitary[fixed.Q43]{X: rev.NewGeneral(2, 3, x), Theta: rev.ViewSlice([]fixed.Q43{theta})})
	if !errors.As(err, &overflow) || overflow.Element() != "X[0,2]" {
		t.Errorf("the error is %v, want X[0,2]", err)
	}
	// It also has it where the norm is hardly above 2¹⁹·√2.
	x = []fixed.Q43{1 << 62, 1<<62 + 9}
	err = rev.ForwardChecked(revlinalg.Unitary[fixed.Q43]{X: rev.NewGeneral(2, 1, x), Theta: rev.ViewSlice([]fixed.Q43{theta})})
	if !errors.As(err, &overflow) || overflow.Element() != "X[0,0]" || x[0] != 1<<62 {
		t.Errorf("the error is %v, want X[0,0]; X = %v", err, x)
	}
	// A product of -1 and the least number is out of range, but no element.
	x = []fixed.Q43{5, fixed.Min}
	if err := rev.ForwardChecked(revlinalg.Unitary[fixed.Q43]{X: rev.NewGeneral(2, 1, x), Theta: rev.ViewSlice([]fixed.Q43{theta})}); err != nil {
		t.Errorf("the error is %v; X = %v", err, x)
	}
	defer func() {
		if recover() == nil {
			t.Error("negative workers do not panic")
		}
	}()
	_ = rev.ForwardChecked(revlinalg.Unitary[fixed.Q43]{X: rev.NewGeneral(2, 3, x), Theta: rev.ViewSlice([]fixed.Q43{theta}), Workers: -1})
}
