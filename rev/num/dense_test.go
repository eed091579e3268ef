package num_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/num"
)

// Gemm has the products of gonum, also of views, and of transposes.
func TestGemm(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	random := func(r, c int) *mat.Dense {
		m := mat.NewDense(r+1, c+2, nil)
		m.Apply(func(int, int, float64) float64 { return rnd.NormFloat64() }, m)
		return m.Slice(1, r+1, 1, c+1).(*mat.Dense)
	}
	for _, trans := range [][2]bool{{num.NoTrans, num.NoTrans}, {num.NoTrans, num.Trans}, {num.Trans, num.NoTrans}, {num.Trans, num.Trans}} {
		for _, shape := range [][3]int{{4, 5, 3}, {7, 1, 4}, {1, 6, 5}, {40, 33, 50}} {
			m, n, k := shape[0], shape[1], shape[2]
			a, b, c := random(m, k), random(k, n), random(m, n)
			opA, opB := mat.Matrix(a), mat.Matrix(b)
			if trans[0] {
				a = random(k, m)
				opA = a.T()
			}
			if trans[1] {
				b = random(n, k)
				opB = b.T()
			}
			var want, sum mat.Dense
			want.Mul(opA, opB)
			sum.Add(c, &want)
			num.Gemm(trans[0], trans[1], num.MatrixOf(a), num.MatrixOf(b), 1, num.MatrixOf(c))
			if !mat.EqualApprox(c, &sum, 1e-12) {
				t.Errorf("%v %v: the sum is wrong", trans, shape)
			}
			num.Gemm(trans[0], trans[1], num.MatrixOf(a), num.MatrixOf(b), 0, num.MatrixOf(c))
			if !mat.EqualApprox(c, &want, 1e-12) {
				t.Errorf("%v %v: the product is wrong", trans, shape)
			}
		}
	}
}

// PopMatrix brings back what PushMatrix has kept, PopAddMatrix adds it, and both leave what lies around a view.
func TestPushMatrix(t *testing.T) {
	whole := mat.NewDense(3, 4, []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	want := mat.DenseCopyOf(whole)
	part := num.MatrixOf(whole.Slice(1, 3, 1, 3).(*mat.Dense))
	tape := num.NewTape[float64]()
	defer tape.Free()
	tape.Push(7)
	num.PushMatrix(tape, part)
	num.PushMatrix(tape, part)
	num.ClearMatrix(part)
	num.PopAddMatrix(tape, part)
	num.PushMatrix(tape, part)
	num.PopAddMatrix(tape, part)
	if whole.At(1, 1) != 10 || whole.At(2, 2) != 20 || whole.At(1, 3) != 7 {
		t.Error("PopAddMatrix:", whole.RawMatrix().Data)
	}
	num.ClearMatrix(part)
	if whole.At(1, 1) != 0 || whole.At(2, 2) != 0 || whole.At(1, 3) != 7 || whole.At(0, 1) != 1 {
		t.Error("ClearMatrix:", whole.RawMatrix().Data)
	}
	num.PopMatrix(tape, part)
	if !mat.Equal(whole, want) || tape.Pop() != 7 {
		t.Error(whole.RawMatrix().Data)
	}
}

// Gradients get the shapes of what they belong to, and start from zero. Other shapes panic.
func TestGradientMemory(t *testing.T) {
	var m mat.Dense
	var v mat.VecDense
	if g := num.GradientMatrix(&m, num.Shaped(2, 3, nil)); g.Rows != 2 || g.Cols != 3 {
		t.Error(g)
	}
	if g := num.GradientVector(&v, make([]float64, 4)); len(g) != 4 {
		t.Error(g)
	}
	if g := num.GradientMatrix(new(mat.Dense), num.Shaped(0, 0, nil)); g.Rows != 0 {
		t.Error(g)
	}
	if g := num.GradientVector(new(mat.VecDense), nil); len(g) != 0 {
		t.Error(g)
	}
	m.Set(1, 1, 5)
	if g := num.GradientMatrix(&m, num.Shaped(2, 3, nil)); g.Data[4] != 0 {
		t.Error(g)
	}
	if x := num.MatrixData(num.MatrixOf(m.Slice(1, 2, 1, 3).(*mat.Dense))); len(x) != 2 || x[0] != 0 { // one row
		t.Error(x)
	}
	wrong := []string{"matrix", "vector", "gaps", "rows"} // for gradients alone; what stands for gonum panics as gonum
	for name, f := range map[string]func(){
		"matrix":  func() { num.GradientMatrix(&m, num.Shaped(3, 2, nil)) },
		"vector":  func() { num.GradientVector(&v, make([]float64, 3)) },
		"gaps":    func() { num.VectorOf(m.ColView(0).(*mat.VecDense)) },
		"rows":    func() { num.MatrixData(num.MatrixOf(m.Slice(0, 2, 0, 2).(*mat.Dense))) },
		"product": func() { num.Gemm(false, false, num.MatrixOf(&m), num.MatrixOf(&m), 1, num.MatrixOf(&m)) },
		"lengths": func() { num.SameLengths(make([]float64, 2), make([]float64, 3)) },
		"shapes":  func() { num.SameShapes(num.Shaped(2, 3, nil), num.Shaped(3, 2, nil)) },
		"empty":   func() { num.NewScratch[float64]().MakeMatrix(0, 2) },
	} {
		func() {
			defer func() {
				v := recover()
				err, _ := v.(error)
				if _, operand := v.(*rev.OperandError); operand != slices.Contains(wrong, name) || name != "empty" && !errors.Is(err, mat.ErrShape) || v == nil {
					t.Errorf("%s: panic %v", name, v)
				}
			}()
			f()
		}()
	}
}

// Signum is Sign.
func TestSignum(t *testing.T) {
	for _, x := range []float64{2, -3, 0, math.Copysign(0, -1), 5e-324, -5e-324, math.Inf(1), math.Inf(-1), math.NaN()} {
		if got, want := num.Signum(x), num.Sign(x); got != want {
			t.Errorf("the sign of %v is %v, want %v", x, got, want)
		}
	}
}

// Where keeps a number, also NaN, or gives 0 in its place.
func TestWhere(t *testing.T) {
	if x := num.Where(true, -2.5); x != -2.5 {
		t.Error(x)
	}
	if x := num.Where(true, math.NaN()); !math.IsNaN(x) {
		t.Error(x)
	}
	if x := num.Where(false, math.NaN()); x != 0 {
		t.Error(x)
	}
}

// Exponent is that of math.Frexp.
func TestExponent(t *testing.T) {
	for _, x := range []float64{0, 1, -3.7, 1e300, 5e-324, math.Inf(-1)} {
		if _, want := math.Frexp(x); num.Exponent(x) != want {
			t.Errorf("%v: %d, want %d", x, num.Exponent(x), want)
		}
	}
}

func TestRatio(t *testing.T) {
	for _, c := range [][3]float64{{1, 4, 0.25}, {1, 0, 0}, {math.Inf(1), math.Copysign(0, -1), 0}} {
		if got := num.Ratio(c[0], c[1]); got != c[2] {
			t.Errorf("%v/%v is %v, want %v", c[0], c[1], got, c[2])
		}
	}
	if q := num.Ratio(0, math.NaN()); q == q {
		t.Errorf("0/NaN is %v", q)
	}
}

// Half the inverse of a root has the bits of the quotient.
func TestHalfInverse(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 10_000 {
		x := math.Float64frombits(rnd.Uint64() &^ (1 << 63))
		if i < 4 {
			x = []float64{0, math.Inf(1), math.MaxFloat64, math.SmallestNonzeroFloat64}[i]
		}
		y := math.Sqrt(x)
		got, want := num.HalfInverse(1/y, y), num.Ratio(0.5, y)
		if got != want && want == want {
			t.Fatalf("%v: %v, want %v", y, got, want)
		}
	}
}

// A square that overflows does not make a product infinite or NaN.
func TestSquareTimes(t *testing.T) {
	for _, c := range [][3]float64{
		{3, 5, 45}, {-3, -5, -45}, {1e200, 0, 0}, {1e200, 1e-300, 1e100}, {-1e200, -1e-300, -1e100},
		{1e200, 1, math.Inf(1)}, {math.Inf(1), 1, math.Inf(1)}, {1e-200, 1e300, 0},
	} {
		if got := num.SquareTimes(c[0], c[1]); !(got == c[2] || math.Abs(got/c[2]-1) < 1e-15) {
			t.Errorf("%v²·%v is %v, want %v", c[0], c[1], got, c[2])
		}
	}
	if got := num.SquareTimes(math.NaN(), 1); got == got {
		t.Errorf("NaN²·1 is %v", got)
	}
}
