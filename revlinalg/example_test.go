package revlinalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/cblas128"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// Kernels make a program, and its gradient is theirs from the last to the
// first.
func Example() {
	type state struct {
		W           *mat.Dense
		X, Theta, Y *mat.VecDense
		Loss        float64
	}
	net := rev.Seq(
		rev.At(func(s *state) revlinalg.Affine[float64] { return revlinalg.NewAffine(s.Y, s.W, s.X, nil) }),
		rev.At(func(s *state) revlinalg.Unitary[float64] { return revlinalg.NewUnitaryVec(s.Y, s.Theta) }),
		rev.At(func(s *state) revlinalg.Norm2[float64] { return revlinalg.NewNorm2(&s.Loss, s.Y) }),
	)
	s := &state{
		W: mat.NewDense(2, 2, []float64{1, 2, 3, 4}), X: mat.NewVecDense(2, []float64{1, -1}),
		Theta: mat.NewVecDense(1, []float64{0.5}), Y: mat.NewVecDense(2, nil),
	}
	g := rev.ZeroLike(s)
	loss, err := rev.ValueGradient(net, func(s *state) *float64 { return &s.Loss }, s, g)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("loss %.4f, by X %.4f, by W %.4f\n", loss, g.X.RawVector().Data, g.W.RawMatrix().Data)
	// Output:
	// loss 1.4142, by X [-2.8284 -4.2426], by W [-0.7071 0.7071 -0.7071 0.7071]
}

func ExampleAbs() {
	x, gx := mat.NewVecDense(3, []float64{3, 0, -4}), mat.NewVecDense(3, nil)
	y, gy := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{1, 1, 1})
	revlinalg.NewAbs(y, x).Forward()
	fmt.Println(y.RawVector().Data)
	revlinalg.NewAbs(y, x).Adjoint(revlinalg.NewAbs(gy, gx))
	fmt.Println(y.RawVector().Data, gx.RawVector().Data)
	// Output:
	// [3 0 4]
	// [0 0 0] [1 0 -1]
}

func ExampleAffine() {
	w := mat.NewDense(2, 3, []float64{
		1, 2, 3,
		4, 5, 6,
	})
	x := mat.NewVecDense(3, []float64{1, 0, -1})
	b := mat.NewVecDense(2, []float64{10, 20})
	y := mat.NewVecDense(2, nil)

	k := revlinalg.NewAffine(y, w, x, b)
	k.Forward()
	fmt.Println(y.RawVector().Data)

	gy, gw, gx := mat.NewVecDense(2, []float64{1, 1}), mat.NewDense(2, 3, nil), mat.NewVecDense(3, nil)
	k.Adjoint(revlinalg.NewAffine(gy, gw, gx, mat.NewVecDense(2, nil)))
	fmt.Println(y.RawVector().Data, gw.RawMatrix().Data, gx.RawVector().Data)
	// Output:
	// [8 18]
	// [0 0] [1 0 -1 1 0 -1] [5 7 9]
}

// Beyond the range of fixed point sums wrap, and come back all the same.
func ExampleAffine_fixed() {
	big := fixed.FromInt(1000)
	w := rev.NewGeneral(1, 2, []fixed.Q43{big, big})
	x := rev.ViewSlice([]fixed.Q43{big, big})
	y := rev.ViewSlice([]fixed.Q43{fixed.MustParse("0.1")})

	k := revlinalg.Affine[fixed.Q43]{Y: y, W: w, X: x}
	before := y.Data[0]
	k.Forward()
	fmt.Println(y.Data[0]) // 2,000,000.1 - 2²¹
	k.Inverse()
	fmt.Println(y.Data[0] == before)
	// Output:
	// -97151.9
	// true
}

func ExampleAtan2() {
	z, x, y := mat.NewVecDense(1, nil), mat.NewVecDense(1, []float64{2}), mat.NewVecDense(1, []float64{2})
	gz, gx, gy := mat.NewVecDense(1, []float64{1}), mat.NewVecDense(1, nil), mat.NewVecDense(1, nil)
	if err := revlinalg.NewAtan2(z, x, y).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", z.AtVec(0))
	if err := revlinalg.NewAtan2(z, x, y).Adjoint(revlinalg.NewAtan2(gz, gx, gy)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f %.4f\n", gx.AtVec(0), gy.AtVec(0)) // y/(x² + y²), -x/(x² + y²)
	// Output:
	// 0.7854
	// 0.2500 -0.2500
}

func ExampleAxpy() {
	x, y := mat.NewVecDense(2, []float64{1, 2}), mat.NewVecDense(2, []float64{10, 20})
	alpha := 3.0
	k := revlinalg.NewAxpy(y, &alpha, x)
	k.Forward()
	fmt.Println(y.RawVector().Data)

	gx, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 1})
	galpha := 0.0
	k.Adjoint(revlinalg.NewAxpy(gy, &galpha, gx))
	fmt.Println(y.RawVector().Data, galpha, gx.RawVector().Data)
	// Output:
	// [13 26]
	// [10 20] 3 [3 3]
}

func ExampleCholesky() {
	a := mat.NewSymDense(2, []float64{
		4, 2,
		2, 5,
	})
	l := mat.NewTriDense(2, mat.Lower, nil)
	k := revlinalg.NewCholesky(l, a)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(l))

	// The gradient of the last element of L by the elements of A.
	gl, ga := mat.NewTriDense(2, mat.Lower, []float64{0, 0, 0, 1}), mat.NewSymDense(2, nil)
	if err := k.Adjoint(revlinalg.NewCholesky(gl, ga)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(ga.At(0, 0), ga.At(0, 1), ga.At(1, 1))
	// Output:
	// ⎡2  0⎤
	// ⎣1  2⎦
	// 0.0625 -0.25 0.25
}

func ExampleComplexAbs() {
	x, gx := cblas128.Vector{N: 2, Data: []complex128{3 + 4i, -2}, Inc: 1}, cblas128.Vector{N: 2, Data: make([]complex128, 2), Inc: 1}
	y, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 1})
	revlinalg.NewComplexAbs(y, x).Forward()
	fmt.Println(y.RawVector().Data)
	revlinalg.NewComplexAbs(y, x).Adjoint(revlinalg.NewComplexAbs(gy, gx))
	fmt.Printf("%.1f\n", gx.Data) // x/|x|
	// Output:
	// [5 2]
	// [(0.6+0.8i) (-1.0+0.0i)]
}

func ExampleAxpy_complex() {
	x := cblas128.Vector{N: 2, Data: []complex128{1, 2i}, Inc: 1}
	y := cblas128.Vector{N: 2, Data: []complex128{1, 1}, Inc: 1}
	alpha := 1i
	k := revlinalg.Axpy[complex128]{Y: rev.ViewCVec(y), Alpha: &alpha, X: rev.ViewCVec(x)}
	k.Forward()
	fmt.Println(y.Data)
	k.Inverse()
	fmt.Println(y.Data)
	// Output:
	// [(1+1i) (-1+0i)]
	// [(1+0i) (1+0i)]
}

func ExampleDot_complex() {
	x := cblas128.Vector{N: 2, Data: []complex128{1i, 2}, Inc: 1}
	y := cblas128.Vector{N: 2, Data: []complex128{3i, 1 + 1i}, Inc: 1}
	var out complex128
	revlinalg.Dot[complex128]{Out: &out, X: rev.ViewCVec(x), Y: rev.ViewCVec(y)}.Forward()
	fmt.Println(out, cblas128.Dotc(x, y))
	// Output:
	// (5+2i) (5+2i)
}

func ExampleComplexFrobenius() {
	a := mat.NewCDense(2, 2, []complex128{1i, 1, -1, -1i})
	out := 0.0
	revlinalg.NewComplexFrobenius(&out, a).Forward()
	fmt.Println(out)
	// Output:
	// 2
}

func ExampleMulElem() {
	x, y := mat.NewVecDense(2, []float64{2, 3}), mat.NewVecDense(2, []float64{5, 7})
	z := mat.NewVecDense(2, nil)
	k := revlinalg.NewMulElem(z, x, y)
	k.Forward()
	fmt.Println(z.RawVector().Data)
	gz, gx, gy := mat.NewVecDense(2, []float64{1, 1}), mat.NewVecDense(2, nil), mat.NewVecDense(2, nil)
	k.Adjoint(revlinalg.NewMulElem(gz, gx, gy))
	fmt.Println(gx.RawVector().Data, gy.RawVector().Data)
	// Output:
	// [10 21]
	// [5 7] [2 3]
}

// The force on a charge that moves through a magnetic field, and its derivative by the field.
func ExampleCross() {
	force, velocity, field := mat.NewDense(1, 3, nil), mat.NewDense(1, 3, []float64{2, 0, 1}), mat.NewDense(1, 3, []float64{0, 3, 0})
	k := revlinalg.NewCross(force, velocity, field)
	k.Forward()
	fmt.Println(force.RawRowView(0))
	gforce, gfield := mat.NewDense(1, 3, []float64{1, 0, 0}), mat.NewDense(1, 3, nil)
	k.Adjoint(revlinalg.Cross[float64]{Z: rev.ViewDense(gforce), Y: rev.ViewDense(gfield)})
	fmt.Println(gfield.RawRowView(0))
	// Output:
	// [-3 0 6]
	// [0 -1 0]
}

func ExampleLog_complex() {
	y, gy := rev.ViewSlice([]complex128{0}), rev.ViewSlice([]complex128{1})
	x, gx := rev.ViewSlice([]complex128{2i}), rev.ViewSlice([]complex128{0})
	k := revlinalg.Log[complex128]{Y: y, X: x}
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", y.Data[0])
	if err := k.Adjoint(revlinalg.Log[complex128]{Y: gy, X: gx}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.Data[0], gx.Data[0]) // 1/conj(2i)
	// Output:
	// (0.6931+1.5708i)
	// (0+0i) (0+0.5i)
}

func ExampleComplexNorm1() {
	x := cblas128.Vector{N: 2, Data: []complex128{3 + 4i, -2}, Inc: 1}
	out := 0.0
	revlinalg.NewComplexNorm1(&out, x).Forward()
	fmt.Println(out)
	// Output:
	// 7
}

func ExampleComplexNorm2() {
	x := cblas128.Vector{N: 2, Data: []complex128{3, 4i}, Inc: 1}
	gx := cblas128.Vector{N: 2, Data: make([]complex128, 2), Inc: 1}
	out, gout := 0.0, 1.0
	revlinalg.NewComplexNorm2(&out, x).Forward()
	fmt.Println(out)
	revlinalg.NewComplexNorm2(&out, x).Adjoint(revlinalg.NewComplexNorm2(&gout, gx))
	fmt.Printf("%.1f\n", gx.Data) // x/‖x‖
	// Output:
	// 5
	// [(0.6+0.0i) (0.0+0.8i)]
}

func ExampleSum_complex() {
	x := cblas128.Vector{N: 3, Data: []complex128{1, 2i, 3 - 1i}, Inc: 1}
	var out complex128
	revlinalg.Sum[complex128]{Out: &out, X: rev.ViewCVec(x)}.Forward()
	fmt.Println(out)
	// Output:
	// (4+1i)
}

func ExampleComplexSumSquares() {
	x := cblas128.Vector{N: 2, Data: []complex128{1 + 2i, 3i}, Inc: 1}
	out := 0.0
	revlinalg.NewComplexSumSquares(&out, x).Forward()
	fmt.Println(out)
	// Output:
	// 14
}

func ExampleComplexUnitary() {
	// A beam splitter, with a quarter of a wave before and after it.
	x := mat.NewCDense(2, 1, []complex128{1, 0})
	theta := mat.NewVecDense(1, []float64{math.Pi / 4})
	phi := mat.NewVecDense(1, []float64{math.Pi / 2})
	delta := mat.NewVecDense(2, []float64{0, math.Pi / 2})
	k := revlinalg.NewComplexUnitary(x, theta, phi, delta)
	k.Forward()
	fmt.Printf("%.3f %.3f\n", x.At(0, 0), x.At(1, 0))
	k.Inverse()
	fmt.Printf("%.3f\n", real(x.At(0, 0)))
	// Output:
	// (0.000+0.707i) (-0.707+0.000i)
	// 1.000
}

func ExampleCos() {
	x, gx := mat.NewVecDense(2, []float64{0, math.Pi / 3}), mat.NewVecDense(2, nil)
	y, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 1})
	revlinalg.NewCos(y, x).Forward()
	fmt.Printf("%.4f\n", y.RawVector().Data)
	revlinalg.NewCos(y, x).Adjoint(revlinalg.NewCos(gy, gx))
	fmt.Printf("%.4f %.4f\n", y.RawVector().Data, gx.AtVec(1))
	// Output:
	// [1.0000 0.5000]
	// [0.0000 0.0000] -0.8660
}

func ExampleCovariance() {
	x := mat.NewDense(3, 2, []float64{
		1, 2,
		2, 4,
		3, 6,
	})
	c := mat.NewDense(2, 2, nil)
	revlinalg.NewCovariance(c, x).Forward()
	fmt.Println(c.RawMatrix().Data)
	// Output:
	// [1 2 2 4]
}

func ExampleDet() {
	a := mat.NewDense(2, 2, []float64{
		1, 2,
		2, 4,
	})
	out := 0.
	k := revlinalg.NewDet(&out, a)
	k.Forward()
	fmt.Println("det =", out)

	gout, ga := 1., mat.NewDense(2, 2, nil)
	k.Adjoint(revlinalg.NewDet(&gout, ga))
	fmt.Printf("%.3f\n", ga.RawMatrix().Data)
	// Output:
	// det = 0
	// [4.000 -2.000 -2.000 1.000]
}

// Integers have an exact determinant.
func ExampleDetMinors() {
	a := mat.NewDense(3, 3, []float64{
		1, 2, 3,
		4, 5, 6,
		7, 8, 9,
	})
	out, gout, ga := 0., 1., mat.NewDense(3, 3, nil)
	k := revlinalg.NewDetMinors(&out, a)
	k.Forward()
	fmt.Println("det =", out)
	k.Adjoint(revlinalg.NewDetMinors(&gout, ga))
	fmt.Println(mat.Formatted(ga))
	// Output:
	// det = 0
	// ⎡ -3    6   -3⎤
	// ⎢  6  -12    6⎥
	// ⎣ -3    6   -3⎦
}

func ExampleDot() {
	x := mat.NewVecDense(3, []float64{1, 2, 3})
	gx := mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0

	k := revlinalg.NewDot(&out, x, x) // the same storage twice: Out += ‖x‖²
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewDot(&gout, gx, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 14
	// 0 [2 4 6]
}

func ExampleExp() {
	x, gx := mat.NewVecDense(2, []float64{0, 1}), mat.NewVecDense(2, nil)
	y, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 2})
	revlinalg.NewExp(y, x).Forward()
	fmt.Printf("%.4f\n", y.RawVector().Data)
	revlinalg.NewExp(y, x).Adjoint(revlinalg.NewExp(gy, gx))
	fmt.Printf("%.4f %.4f\n", y.RawVector().Data, gx.RawVector().Data)
	// Output:
	// [1.0000 2.7183]
	// [0.0000 0.0000] [1.0000 5.4366]
}

func ExampleFrobenius() {
	a := mat.NewDense(2, 2, []float64{1, 1, 1, 1})
	out := 0.0
	revlinalg.NewFrobenius(&out, a).Forward()
	fmt.Println(out)
	// Output:
	// 2
}

func ExampleGivensQR() {
	a := mat.NewDense(3, 2, []float64{2, 1, 2, 1, 1, 5})
	k := revlinalg.NewGivensQR(a)
	k.Forward()
	fmt.Printf("%.4f\n", mat.Formatted(a)) // R, and angles below the diagonal
	k.Inverse()
	fmt.Printf("%.4f\n", mat.Formatted(a))
	// Output:
	// ⎡ 3.0000   3.0000⎤
	// ⎢-0.8411   4.2426⎥
	// ⎣-0.4636  -1.2490⎦
	// ⎡2.0000  1.0000⎤
	// ⎢2.0000  1.0000⎥
	// ⎣1.0000  5.0000⎦
}

func ExampleGramSchmidt() {
	a := mat.NewDense(2, 2, []float64{
		3, 1,
		4, 3,
	})
	q, r := mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil)
	k := revlinalg.NewGramSchmidt(q, r, a)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", mat.Formatted(q))
	fmt.Printf("%.1f\n", mat.Formatted(r))
	// Output:
	// ⎡ 0.6  -0.8⎤
	// ⎣ 0.8   0.6⎦
	// ⎡5.0  3.0⎤
	// ⎣0.0  1.0⎦
}

func ExampleLeastSquares() {
	// The line through four points, and how its slope depends on their heights.
	a := mat.NewDense(4, 2, []float64{
		1, 0,
		1, 1,
		1, 2,
		1, 3,
	})
	heights := mat.NewVecDense(4, []float64{1, 3, 4, 5})
	var line, byHeights mat.VecDense
	k := revlinalg.NewLeastSquaresVec(&line, a, heights)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", mat.Formatted(line.T()))
	slope := mat.NewVecDense(2, []float64{0, 1})
	if err := k.Adjoint(revlinalg.NewLeastSquaresVec(slope, nil, &byHeights)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", mat.Formatted(byHeights.T()))
	// Output:
	// [1.3  1.3]
	// [-0.3  -0.1   0.1   0.3]
}

func ExamplePinv() {
	// The shortest solution of x + 2y = 5, and the gradient of its x.
	a := mat.NewDense(1, 2, []float64{1, 2})
	var x, ga mat.Dense
	k := revlinalg.NewPinv(&x, a)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	x.Scale(5, &x)
	fmt.Printf("%.2f\n", mat.Formatted(&x))
	x.Scale(0.2, &x)
	if err := k.Adjoint(revlinalg.NewPinv(mat.NewDense(2, 1, []float64{5, 0}), &ga)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", mat.Formatted(&ga))
	// Output:
	// ⎡1.00⎤
	// ⎣2.00⎦
	// [ 0.60  -0.80]
}

func ExampleExpm() {
	// A turn by π/3, and the gradient of its lower left element.
	a := mat.NewDense(2, 2, []float64{
		0, -math.Pi / 3,
		math.Pi / 3, 0,
	})
	y, gy, ga := mat.NewDense(2, 2, nil), mat.NewDense(2, 2, []float64{0, 0, 1, 0}), mat.NewDense(2, 2, nil)
	k := revlinalg.NewExpm(y, a)
	k.Forward()
	fmt.Printf("%.2f\n", mat.Formatted(y))
	k.Adjoint(revlinalg.NewExpm(gy, ga))
	fmt.Printf("%.2f\n", mat.Formatted(ga))
	// Output:
	// ⎡ 0.50  -0.87⎤
	// ⎣ 0.87   0.50⎦
	// ⎡0.43  0.16⎤
	// ⎣0.66  0.43⎦
}

func ExampleInv() {
	a := mat.NewDense(2, 2, []float64{
		1, 2,
		0, 4,
	})
	b := mat.NewDense(2, 2, nil)
	if err := revlinalg.NewInv(b, a).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mat.Formatted(b))
	// Output:
	// ⎡   1  -0.5⎤
	// ⎣   0  0.25⎦
}

func ExampleLog() {
	y, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 1})
	x, gx := mat.NewVecDense(2, []float64{1, 4}), mat.NewVecDense(2, nil)
	if err := revlinalg.NewLog(y, x).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", y.RawVector().Data)
	if err := revlinalg.NewLog(y, x).Adjoint(revlinalg.NewLog(gy, gx)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.RawVector().Data, gx.RawVector().Data)
	x.SetVec(1, -4)
	fmt.Println(revlinalg.NewLog(y, x).Forward())
	// Output:
	// [0.0000 1.3863]
	// [0 0] [1 0.25]
	// rev: log(-4) is not defined or out of range (element 1)
}

func ExampleLogDet() {
	a := mat.NewDense(2, 2, []float64{
		0, 2,
		3, 1,
	})
	out, sign := 0., 0.
	k := revlinalg.NewLogDet(&out, &sign, a)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("det = %g·exp(%.4f) = %.4f\n", sign, out, sign*math.Exp(out))

	gout, ga := 1., mat.NewDense(2, 2, nil)
	if err := k.Adjoint(revlinalg.NewLogDet(&gout, nil, ga)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", ga.RawMatrix().Data)
	// Output:
	// det = -1·exp(1.7918) = -6.0000
	// [-0.1667 0.5000 0.3333 0.0000]
}

func ExampleMatMul() {
	a := mat.NewDense(2, 2, []float64{
		1, 2,
		3, 4,
	})
	b := mat.NewDense(2, 1, []float64{1, -1})
	c := mat.NewDense(2, 1, nil)
	k := revlinalg.NewMatMul(c, a.T(), b) // C += Aᵀ·B
	k.Forward()
	fmt.Println(c.RawMatrix().Data)

	gc, ga, gb := mat.NewDense(2, 1, []float64{1, 0}), mat.NewDense(2, 2, nil), mat.NewDense(2, 1, nil)
	k.Adjoint(revlinalg.NewMatMul(gc, ga.T(), gb))
	fmt.Println(c.RawMatrix().Data, ga.RawMatrix().Data, gb.RawMatrix().Data)
	// Output:
	// [-2 -2]
	// [0 0] [1 0 -1 0] [1 3]
}

func ExampleMean() {
	x, gx := mat.NewVecDense(4, []float64{1, 2, 6, 7}), mat.NewVecDense(4, nil)
	out, gout := 0.0, 1.0
	k := revlinalg.NewMean(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewMean(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 4
	// 0 [0.25 0.25 0.25 0.25]
}

func ExampleNorm1() {
	x, gx := mat.NewVecDense(3, []float64{3, 0, -4}), mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0
	k := revlinalg.NewNorm1(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewNorm1(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 7
	// 0 [1 0 -1]
}

func ExampleNorm2() {
	x := mat.NewVecDense(2, []float64{3e200, -4e200}) // the squares are infinite
	gx := mat.NewVecDense(2, nil)
	out, gout := 0.0, 1.0

	k := revlinalg.NewNorm2(&out, x)
	k.Forward()
	fmt.Printf("%.3g\n", out)
	k.Adjoint(revlinalg.NewNorm2(&gout, gx))
	fmt.Printf("%v, gradient %.1f\n", out, gx.RawVector().Data)
	// Output:
	// 5e+200
	// 0, gradient [0.6 -0.8]
}

func ExampleNormInf() {
	x, gx := mat.NewVecDense(3, []float64{3, 0, -4}), mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0
	k := revlinalg.NewNormInf(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewNormInf(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 4
	// 0 [0 0 -1]
}

func ExampleOrthogonalAngles() {
	// Two rows exchanged: a quarter turn, and the sign of the last row.
	q := mat.NewDense(2, 2, []float64{0, 1, 1, 0})
	theta, sign, err := revlinalg.OrthogonalAngles(q, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f %v\n", theta, sign)
	u := revlinalg.OrthogonalMatrix(2, theta, sign, false)
	fmt.Println(mat.EqualApprox(u, q, 1e-15))
	// Output:
	// [-1.5708] -1
	// true
}

func ExampleOuter() {
	a, ga := mat.NewDense(2, 2, nil), mat.NewDense(2, 2, []float64{1, 0, 0, 0})
	alpha, galpha := 2.0, 0.0
	x, gx := mat.NewVecDense(2, []float64{1, 2}), mat.NewVecDense(2, nil)
	y, gy := mat.NewVecDense(2, []float64{3, 4}), mat.NewVecDense(2, nil)
	k := revlinalg.NewOuter(a, &alpha, x, y)
	k.Forward()
	fmt.Println(a.RawMatrix().Data)
	k.Adjoint(revlinalg.NewOuter(ga, &galpha, gx, gy))
	fmt.Println(galpha, gx.RawVector().Data, gy.RawVector().Data)
	// Output:
	// [6 8 12 16]
	// 3 [6 0] [2 0]
}

func ExamplePolyLeastSquares() {
	// A parabola through three points that lie on y = 1 + x².
	x := mat.NewVecDense(3, []float64{-1, 0, 2})
	y := mat.NewVecDense(3, []float64{2, 1, 5})
	c := mat.NewVecDense(3, []float64{1, 0, 0})
	gc := mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0

	k := revlinalg.NewPolyLeastSquares(&out, c, x, y)
	k.Forward()
	fmt.Println("½‖y - V·c‖² =", out)
	k.Adjoint(revlinalg.PolyLeastSquares[float64]{Out: &gout, C: rev.ViewVec(gc)})
	fmt.Println("gradient", gc.RawVector().Data)
	// Output:
	// ½‖y - V·c‖² = 8.5
	// gradient [-5 -7 -17]
}

func ExamplePow() {
	z, x, y := mat.NewVecDense(1, nil), mat.NewVecDense(1, []float64{2}), mat.NewVecDense(1, []float64{3})
	gz, gx, gy := mat.NewVecDense(1, []float64{1}), mat.NewVecDense(1, nil), mat.NewVecDense(1, nil)
	if err := revlinalg.NewPow(z, x, y).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	if err := revlinalg.NewPow(z, x, y).Adjoint(revlinalg.NewPow(gz, gx, gy)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %.4f\n", gx.AtVec(0), gy.AtVec(0)) // 3·2², 2³·log 2
	// Output:
	// 12 5.5452
}

func ExampleQR() {
	a := mat.NewDense(3, 2, []float64{
		3, 1,
		0, 2,
		4, 3,
	})
	q, r := mat.NewDense(3, 2, nil), mat.NewDense(2, 2, nil)
	k := revlinalg.NewQR(q, r, a)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", mat.Formatted(q))
	fmt.Printf("%.3f\n", mat.Formatted(r))

	// The gradient of the first element of R, minus the length of a column.
	gq, gr, ga := mat.NewDense(3, 2, nil), mat.NewDense(2, 2, []float64{1, 0, 0, 0}), mat.NewDense(3, 2, nil)
	if err := k.Adjoint(revlinalg.NewQR(gq, gr, ga)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", mat.Col(nil, 0, ga))
	// Output:
	// ⎡-0.600   0.358⎤
	// ⎢ 0.000  -0.894⎥
	// ⎣-0.800  -0.268⎦
	// ⎡-5.000  -3.000⎤
	// ⎣ 0.000  -2.236⎦
	// [-0.6 0.0 -0.8]
}

func ExampleSVD() {
	a := mat.NewDense(2, 2, []float64{
		0, 3,
		2, 0,
	})
	u, s, v := mat.NewDense(2, 2, nil), mat.NewVecDense(2, nil), mat.NewDense(2, 2, nil)
	if err := revlinalg.NewSVD(u, s, v, a).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", s.RawVector().Data)
	// Output:
	// [3.000 2.000]
}

func ExampleSin() {
	x, gx := mat.NewVecDense(2, []float64{0, math.Pi / 6}), mat.NewVecDense(2, nil)
	y, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 1})
	revlinalg.NewSin(y, x).Forward()
	fmt.Printf("%.4f\n", y.RawVector().Data)
	revlinalg.NewSin(y, x).Adjoint(revlinalg.NewSin(gy, gx))
	fmt.Printf("%.4f %.4f\n", y.RawVector().Data, gx.RawVector().Data)
	// Output:
	// [0.0000 0.5000]
	// [0.0000 0.0000] [1.0000 0.8660]
}

func ExampleSolve() {
	a := mat.NewDense(2, 2, []float64{
		2, 1,
		1, 3,
	})
	b := mat.NewVecDense(2, []float64{3, 4})
	x := mat.NewVecDense(2, nil)
	k := revlinalg.NewSolveVec(x, a, b)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", x.RawVector().Data)

	gx, ga, gb := mat.NewVecDense(2, []float64{5, 0}), mat.NewDense(2, 2, nil), mat.NewVecDense(2, nil)
	if err := k.Adjoint(revlinalg.NewSolveVec(gx, ga, gb)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f %.2f\n", ga.RawMatrix().Data, gb.RawVector().Data)
	// Output:
	// [1.00 1.00]
	// [-3.00 -3.00 1.00 1.00] [3.00 -1.00]
}

func ExampleSqrt() {
	x, gx := mat.NewVecDense(2, []float64{4, 9}), mat.NewVecDense(2, nil)
	y, gy := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 3})
	if err := revlinalg.NewSqrt(y, x).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.RawVector().Data)
	if err := revlinalg.NewSqrt(y, x).Adjoint(revlinalg.NewSqrt(gy, gx)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.RawVector().Data, gx.RawVector().Data)
	// Output:
	// [2 3]
	// [0 0] [0.25 0.5]
}

func ExampleSum() {
	x, gx := mat.NewVecDense(3, []float64{1, 2, 3}), mat.NewVecDense(3, nil)
	out, gout := 0.0, 5.0
	k := revlinalg.NewSum(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewSum(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 6
	// 0 [5 5 5]
}

// Fixed-point sums do not depend on their order, nor on what wraps on the way.
func ExampleSum_fixed() {
	big := fixed.FromInt(1 << 19)
	tenth := fixed.MustParse("0.1")
	var a, b fixed.Q43
	revlinalg.Sum[fixed.Q43]{Out: &a, X: rev.ViewSlice([]fixed.Q43{big, big, tenth, -big, -big})}.Forward()
	revlinalg.Sum[fixed.Q43]{Out: &b, X: rev.ViewSlice([]fixed.Q43{-big, big, -big, big, tenth})}.Forward()
	fmt.Println(a == tenth, b == tenth)
	// Output:
	// true true
}

func ExampleSumSquares() {
	x, gx := mat.NewVecDense(3, []float64{1, 2, 3}), mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0
	k := revlinalg.NewSumSquares(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewSumSquares(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 14
	// 0 [2 4 6]
}

func ExampleSymEig() {
	a := mat.NewSymDense(2, []float64{
		2, 1,
		1, 2,
	})
	w, v := mat.NewVecDense(2, nil), mat.NewDense(2, 2, nil)
	k := revlinalg.NewSymEig(w, v, a)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", w.RawVector().Data)

	// The gradient of the larger eigenvalue.
	gw, ga := mat.NewVecDense(2, []float64{0, 1}), mat.NewSymDense(2, nil)
	if err := k.Adjoint(revlinalg.NewSymEig(gw, nil, ga)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", []float64{ga.At(0, 0), ga.At(0, 1), ga.At(1, 1)})
	// Output:
	// [1.000 3.000]
	// [0.500 1.000 0.500]
}

func ExampleTriSolve() {
	a := mat.NewTriDense(2, mat.Lower, []float64{
		2, 0,
		1, 4,
	})
	b := mat.NewDense(2, 1, []float64{2, 9})
	x := mat.NewDense(2, 1, nil)
	if err := revlinalg.NewTriSolve(x, a, b).Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.RawMatrix().Data)
	// Output:
	// [1 2]
}

func ExampleUnitary() {
	// A quarter turn of the second and third row, then of the first and
	// second; the last angle is zero.
	x := mat.NewDense(3, 1, []float64{1, 2, 3})
	theta := mat.NewVecDense(3, []float64{math.Pi / 2, math.Pi / 2, 0})
	gx, gtheta := mat.NewDense(3, 1, []float64{4, 5, 6}), mat.NewVecDense(3, nil)

	k := revlinalg.NewUnitary(x, theta)
	k.Forward()
	fmt.Printf("%.0f\n", x.RawMatrix().Data)
	k.Adjoint(revlinalg.NewUnitary(gx, gtheta))
	fmt.Printf("%.0f, gradients %.0f and %.0f\n", x.RawMatrix().Data, gx.RawMatrix().Data, gtheta.RawVector().Data)
	// Output:
	// [3 1 2]
	// [1 2 3], gradients [5 6 4] and [-10 11 -4]
}

// Over fixed point, a walk of a thousand random rotations comes back to the
// bit.
func ExampleUnitary_fixed() {
	rnd := rand.New(rand.NewPCG(1, 2))
	theta := make([]fixed.Q43, 45)
	for i := range theta {
		theta[i] = fixed.FromFloat64(2 * math.Pi * rnd.Float64())
	}
	x := rev.NewGeneral(10, 1, []fixed.Q43{fixed.One, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	k := revlinalg.Unitary[fixed.Q43]{X: x, Theta: rev.ViewSlice(theta)}
	for range 1000 {
		k.Forward()
	}
	for range 1000 {
		k.Inverse()
	}
	fmt.Println(x.Data)
	// Output:
	// [1 0 0 0 0 0 0 0 0 0]
}

func ExampleUnitaryAngles() {
	u := mat.NewCDense(2, 2, []complex128{0, 1i, 1i, 0}) // all light crosses over
	theta, phi, delta, err := revlinalg.UnitaryAngles(u, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", theta)
	v := revlinalg.UnitaryMatrix(theta, phi, delta, false)
	fmt.Println(mat.CEqualApprox(u, v, 1e-15))
	// Output:
	// [-1.5708]
	// true
}

func ExampleVariance() {
	x, gx := mat.NewVecDense(3, []float64{1, 2, 6}), mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0
	k := revlinalg.NewVariance(&out, x)
	k.Forward()
	fmt.Println(out)
	k.Adjoint(revlinalg.NewVariance(&gout, gx))
	fmt.Println(out, gx.RawVector().Data)
	// Output:
	// 7
	// 0 [-2 -1 3]
}

// A signal of two frequencies, and back.
func ExampleFFT() {
	x := make([]complex128, 8)
	for i := range x {
		t := 2 * math.Pi * float64(i) / 8
		x[i] = complex(math.Cos(t)+math.Cos(3*t)/2, 0)
	}
	k := revlinalg.FFT{X: rev.ViewSlice(x)}
	k.Forward()
	for j, v := range x[:5] {
		fmt.Printf("%d: %.3f\n", j, math.Abs(real(v)))
	}
	k.Inverse()
	fmt.Printf("%.3f\n", real(x[0]))
	// Output:
	// 0: 0.000
	// 1: 1.414
	// 2: 0.000
	// 3: 0.707
	// 4: 0.000
	// 1.500
}

// Fixed-point numbers come back to the bit, though products are rounded on the way.
func ExampleFixedFFT() {
	re, im := make([]fixed.Q43, 15), make([]fixed.Q43, 15)
	re[3] = fixed.One
	k := revlinalg.FixedFFT{Re: rev.ViewSlice(re), Im: rev.ViewSlice(im)}
	k.Forward()
	fmt.Printf("%.4f%+.4fi\n", re[1].Float64(), im[1].Float64())
	k.Inverse()
	fmt.Println(re[3] == fixed.One, re[0] == 0, im[3] == 0)
	// Output:
	// 0.0798-0.2456i
	// true true true
}
