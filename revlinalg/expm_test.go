package revlinalg_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats/scalar"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

func expmSpec[T rev.Float]() revtest.Spec[revlinalg.Expm[T]] {
	return revtest.Spec[revlinalg.Expm[T]]{
		New: func(rnd *rand.Rand, size int) revlinalg.Expm[T] {
			return revlinalg.Expm[T]{Y: kerneltest.Matrix[T](rnd, size, size), A: rev.NewGeneral(size, size, kerneltest.Normals[T](rnd, size*size, 1/math.Sqrt(float64(size+1))))}
		},
		Large:      100,
		RoundTrip:  8, // exp(A) is larger than Y
		Magnitudes: [2]float64{1e-3, 3},
	}
}

func TestExpm(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, expmSpec[float64]()) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, expmSpec[float32]()) })
}

// The value is mpmath's, and the gradient and its tangent are those of torch.linalg.matrix_exp.
func TestExpmValues(t *testing.T) {
	square := func(x ...float64) *mat.Dense { return mat.NewDense(3, 3, x) }
	a, gy := square(1, -2, 3, 4, 0.5, -1, -3, 2, 2), square(1, 0.5, -1, 2, -0.25, 3, 0, 1, -2)
	da := square(0.5, 1, -1, 2, -2, 0.25, 1, 3, -0.5)
	y, ga, gta, zero := square(make([]float64, 9)...), square(make([]float64, 9)...), square(make([]float64, 9)...), square(make([]float64, 9)...)
	revlinalg.NewExpm(y, a).Forward()
	near := func(what string, got *mat.Dense, want ...float64) {
		t.Helper()
		for i, v := range got.RawMatrix().Data {
			if !scalar.EqualWithinAbs(v, want[i], 1e-13*mat.Norm(got, 1)) {
				t.Errorf("%s: element %d is %v, want %v", what, i, v, want[i])
			}
		}
	}
	near("exp", y, 0.1957996657967932417708842641592510901793, 3.478855251780171737631180943196134429936, 1.830684667458514969364132329256661002077,
		-0.1361290082744345309292292308591759756972, 3.566760027013336122434161473653752088528, 5.377604423375903972459927887882383419862,
		2.71703632939875766019128944109873425404, 2.887954143820009943746409535301418928628, 3.231479086606843633988486651434348894134)
	k := revlinalg.NewExpm(y, a)
	k.AdjointTangent(revlinalg.NewExpm(gy, ga), revlinalg.NewExpm(zero, da), revlinalg.NewExpm(square(make([]float64, 9)...), gta))
	near("gradient", ga, 3.6073727227535977, 7.532062559305936, 2.9757276740374454,
		0.9260435029444599, 5.773427607215346, 1.6506878738356872, 3.3407056944192703, 2.942218886342644, 2.117603511691243)
	near("its tangent", gta, 8.835149848465676, 7.852598035549297, 10.266953995368352,
		8.954919791403826, 2.812564472691328, 5.7260241673583305, 0.23195535382141785, 5.75443811757359, -3.461228716992996)
}

// Norms from tiny to large, matrices far from normal, and the exponential of a sum of matrices that
// commute: exp(A)·exp(-A) = I.
func TestExpmBound(t *testing.T) {
	// If all elements of A are c/n, then A² = c·A, and so exp(A) = I + (eᶜ-1)/c·A. Here exp(‖A‖) is
	// the norm of exp(A).
	for _, c := range []float64{1e-300, 0.25, 0.5, 1, 8, 30, 300, 700} {
		for _, n := range []int{1, 2, 5, 20} {
			y, a, want := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			for i := range n {
				for j := range n {
					a.Set(i, j, c/float64(n))
					want.Set(i, j, math.Expm1(c)/float64(n))
				}
				want.Set(i, i, want.At(i, i)+1)
			}
			revlinalg.NewExpm(y, a).Forward()
			y.Sub(y, want)
			if got, bound := mat.Norm(y, 1), 30*float64(n)*0x1p-52*(1+c)*math.Exp(c); !(got <= bound) {
				t.Errorf("n = %d, norm %v: the error is %v, want %v", n, c, got, bound)
			}
		}
	}
	rnd := rand.New(rand.NewPCG(31, 1))
	for _, norm := range []float64{0, 1e-300, 1e-8, 0.5, 1, 8, 30} {
		for _, n := range []int{1, 2, 5, 20} {
			a := mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, 1))
			a.Scale(norm/mat.Norm(a, 1), a)
			var minus, product mat.Dense
			minus.Scale(-1, a)
			up, down := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
			revlinalg.NewExpm(up, a).Forward()
			revlinalg.NewExpm(down, &minus).Forward()
			product.Mul(up, down)
			for i := range n {
				product.Set(i, i, product.At(i, i)-1)
			}
			bound := 60 * float64(n) * 0x1p-52 * (1 + norm) * math.Exp(norm) * max(mat.Norm(up, 1), mat.Norm(down, 1))
			if got := mat.Norm(&product, 1); !(got <= bound) {
				t.Errorf("n = %d, norm %v: exp(A)·exp(-A) is I up to %v, want %v", n, norm, got, bound)
			}
		}
	}
	// [0 x; 0 0] is its own derivative in x, and its square is 0.
	y := mat.NewDense(2, 2, nil)
	revlinalg.NewExpm(y, mat.NewDense(2, 2, []float64{0, 1e9, 0, 0})).Forward()
	if !mat.EqualApprox(y, mat.NewDense(2, 2, []float64{1, 1e9, 0, 1}), 1e-15) {
		t.Errorf("the exponential of a nilpotent matrix is %v", mat.Formatted(y))
	}
	// The power of two that such a matrix is scaled by is subnormal.
	y.Zero()
	revlinalg.NewExpm(y, mat.NewDense(2, 2, []float64{0, 0x1.4p1022, 0, -0x1p1022})).Forward()
	if !mat.EqualApprox(y, mat.NewDense(2, 2, []float64{1, 1.25, 0, 0}), 1e-10) {
		t.Errorf("the exponential of a large matrix is %v", mat.Formatted(y))
	}
}

// narrow rounds x to float32 and returns a copy.
func narrow(x *mat.Dense) rev.General[float32] {
	n := x.RawMatrix().Rows
	m := rev.NewGeneral(n, n, make([]float32, n*n))
	for i, v := range x.RawMatrix().Data {
		m.Data[i] = float32(v)
		x.RawMatrix().Data[i] = float64(m.Data[i])
	}
	return m
}

// distance returns the 1-norm of x less the float32 numbers y.
func distance(x *mat.Dense, y rev.General[float32]) float64 {
	d := mat.DenseCopyOf(x)
	for i, v := range y.Data {
		d.RawMatrix().Data[i] -= float64(v)
	}
	return mat.Norm(d, 1)
}

// Over float32, beside float64: the value, and the gradient within ‖Ȳ‖ times the same bound. From norm 16 on, both
// are float64's, rounded.
func TestExpmFloat32(t *testing.T) {
	rnd := rand.New(rand.NewPCG(31, 2))
	for _, norm := range []float64{1e-30, 1e-3, 0.5, 1.9, 2, 2.1, 3.9, 7.9, 8, 15.9, 16.1, 30, 80} {
		for _, n := range []int{1, 2, 5, 20, 64} {
			normal := func() *mat.Dense { return mat.NewDense(n, n, kerneltest.Normals[float64](rnd, n*n, 1)) }
			// A second difference has eigenvalues from about -norm to 0, so exp(A) has a norm of about 1 and no digits to lose.
			a, negative := normal(), mat.NewDense(n, n, nil)
			for i := range n {
				negative.Set(i, i, -2)
				if i > 0 {
					negative.Set(i, i-1, 1)
					negative.Set(i-1, i, 1)
				}
			}
			for _, a := range []*mat.Dense{a, negative} {
				gy := normal()
				a.Scale(norm/mat.Norm(a, 1), a)
				k, g := revlinalg.Expm[float32]{Y: narrow(mat.NewDense(n, n, nil)), A: narrow(a)}, revlinalg.Expm[float32]{Y: narrow(gy), A: narrow(mat.NewDense(n, n, nil))}
				y, ga := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
				if err := errors.Join(rev.Gradient(k, g), rev.Gradient(revlinalg.NewExpm(y, a), revlinalg.NewExpm(gy, ga))); err != nil {
					t.Fatal(err)
				}
				bound := 30 * float64(n) * 0x1p-23 * (1 + norm) * math.Exp(norm)
				if a == negative {
					bound = 8 * 0x1p-23 * (1 + norm) * mat.Norm(y, 1)
				}
				boundOfGradient := bound * mat.Norm(gy, 1)
				if norm > 16 {
					bound, boundOfGradient = 0x1p-23*mat.Norm(y, 1), 0x1p-23*mat.Norm(ga, 1)
				}
				if d := distance(y, k.Y); !(d <= bound) {
					t.Errorf("n = %d, norm %v: the error of the value is %v, want %v", n, norm, d, bound)
				}
				if d := distance(ga, g.A); !(d <= boundOfGradient) {
					t.Errorf("n = %d, norm %v: the error of the gradient is %v, want %v", n, norm, d, boundOfGradient)
				}
			}
		}
	}
}

// [I x·I; 0 -I] has the square I, so its exponential is cosh(1)·I + sinh(1)·A whatever x is. Squarings that a large norm
// asks for would lose digits of e, which the powers show to be unneeded.
func TestExpmPowers(t *testing.T) {
	for _, x := range []float64{1, 1e3, 1e6, 1e9} {
		y, a := mat.NewDense(4, 4, nil), mat.NewDense(4, 4, []float64{1, 0, x, 0, 0, 1, 0, x, 0, 0, -1, 0, 0, 0, 0, -1})
		revlinalg.NewExpm(y, a).Forward()
		for i := range 4 {
			for j := range 4 {
				want := math.Sinh(1) * a.At(i, j)
				if i == j {
					want += math.Cosh(1)
				}
				if !scalar.EqualWithinRel(y.At(i, j), want, 0x1p-52*(100+4*math.Sqrt(x))) {
					t.Errorf("x = %v: element %d, %d is %v, want %v", x, i, j, y.At(i, j), want)
				}
			}
		}
	}
}

// Over float32, the exponential of a generator of a Markov chain has rows that sum to 1, and [1 x; 0 -1] has e.
func TestExpmLarge(t *testing.T) {
	for _, s := range []float32{1, 100, 1e4, 1e6, 1e7} {
		y := rev.NewGeneral(3, 3, make([]float32, 9))
		a := []float32{-s, 0.75 * s, 0.25 * s, 0.5 * s, -s, 0.5 * s, 0.125 * s, 0.25 * s, -0.375 * s}
		revlinalg.Expm[float32]{Y: y, A: rev.NewGeneral(3, 3, a)}.Forward()
		for r := range 3 {
			if d := float64(y.Row(r)[0]) + float64(y.Row(r)[1]) + float64(y.Row(r)[2]) - 1; math.Abs(d) > 1e-6 {
				t.Errorf("s = %v: row %d sums to 1%+.2g", s, r, d)
			}
		}
	}
	for _, x := range []float32{100, 1e4, 1e8} {
		for _, a := range [][]float32{{1, x, 0, -1}, {1, 0, x, -1}} {
			y := make([]float32, 4)
			revlinalg.Expm[float32]{Y: rev.NewGeneral(2, 2, y), A: rev.NewGeneral(2, 2, a)}.Forward()
			if d := float64(y[0])/math.E - 1; math.Abs(d) > 1e-6 {
				t.Errorf("%v: e is %v", a, y[0])
			}
		}
	}
}

// Over float32, derivatives are finite where only the numbers on the way to them overflow: exp(-2)·1e38 is 1.4e37.
func TestExpmOverflow(t *testing.T) {
	one := func(x float32) rev.General[float32] { return rev.NewGeneral(1, 1, []float32{x}) }
	for _, c := range [][3]float32{{1e38, 1, 1}, {1, 1e38, 1}, {1, 1, 1e38}, {1e19, 1e19, 1}} {
		type expm = revlinalg.Expm[float32]
		k, g, tangent, gt := expm{Y: one(0), A: one(-2)}, expm{Y: one(c[0]), A: one(0)}, expm{Y: one(0), A: one(c[1])}, expm{Y: one(c[2]), A: one(0)}
		k.AdjointTangent(g, tangent, gt)
		near := func(what string, got rev.General[float32], want float64) {
			if want *= math.Exp(-2); !(math.Abs(float64(got.Data[0])/want-1) < 1e-6) {
				t.Errorf("Ȳ, Ȧ and ġY of %v: %s is %v, want %v", c, what, got.Data[0], want)
			}
		}
		near("the gradient", g.A, float64(c[0]))
		near("the tangent, which is taken away,", tangent.Y, -float64(c[1]))
		near("the tangent of the gradient", gt.A, float64(c[2])+float64(c[0])*float64(c[1]))
	}
}

// One element that is not finite makes all results so, and so do elements whose sum overflows.
func TestExpmNotFinite(t *testing.T) {
	check := func(what string, x *mat.Dense) {
		t.Helper()
		for i, v := range x.RawMatrix().Data {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				t.Errorf("%s: element %d is %v", what, i, v)
			}
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, n := range []int{1, 2, 5, 17} {
			for at := range n {
				a, y, ga := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
				a.Set(0, at, v)
				what := fmt.Sprintf("n = %d, %v at (0, %d)", n, v, at)
				revlinalg.NewExpm(y, a).Forward()
				check(what, y)
				revlinalg.NewExpm(y, a).Adjoint(revlinalg.NewExpm(mat.NewDense(n, n, nil), ga))
				check(what+", gradient", ga)

				// Without a cotangent of Y there is nothing to add.
				ga.Zero()
				revlinalg.NewExpm(y, a).AdjointTangent(revlinalg.NewExpm(nil, ga), revlinalg.NewExpm(mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)),
					revlinalg.NewExpm(mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)))
				if mat.Norm(ga, 1) != 0 {
					t.Errorf("%s: without a cotangent the gradient is %v", what, ga.RawMatrix().Data)
				}
			}
		}
	}
	y := mat.NewDense(2, 2, nil)
	revlinalg.NewExpm(y, mat.NewDense(2, 2, []float64{math.MaxFloat64, 1, 1, math.MaxFloat64})).Forward()
	check("overflow", y)
}

func BenchmarkExpm(b *testing.B) {
	for _, n := range []int{3, 64, 256} {
		rnd := rand.New(rand.NewPCG(31, 2))
		k, g := expmSpec[float64]().New(rnd, n), expmSpec[float64]().New(rnd, n)
		k.Workers = 1
		b.Run(fmt.Sprintf("Forward/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
		})
		b.Run(fmt.Sprintf("Adjoint/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				k.Adjoint(g)
			}
		})
	}
}
