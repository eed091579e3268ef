package rev_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// sized has the operands of C += A·B and more, and counts its passes in C.
type sized struct {
	C rev.General[float64]    `rev:"acc" shape:"m,n"`
	S rev.Vector[float64]     `rev:"acc" shape:"n+1"`
	Z rev.General[complex128] `rev:"acc" shape:"n,n"`
	A rev.General[float64]    `rev:"in" shape:"m,k"`
	B rev.General[float64]    `rev:"in" shape:"k,n"`
	D rev.Vector[float64]     `rev:"in,optional" shape:"k"`
}

func (k sized) Run(p rev.Pass[sized]) error {
	if k.C.Data != nil {
		k.C.Data[0] += float64(p.Sign())
	}
	return nil
}

// gonums are the gonum values of a sized.
type gonums struct {
	c, a, b mat.Dense
	s, d    mat.VecDense
	z       mat.CDense
}

func (v *gonums) kernel() sized {
	return sized{
		C: rev.ViewDense(&v.c), S: rev.ViewVec(&v.s), Z: rev.ViewCDense(&v.z),
		A: rev.ViewDense(&v.a), B: rev.ViewDense(&v.b), D: rev.ViewVec(&v.d),
	}
}

// newGonums returns inputs and empty outputs.
func newGonums() *gonums {
	return &gonums{a: *mat.NewDense(2, 4, nil), b: *mat.NewDense(4, 3, nil), d: *mat.NewVecDense(4, nil)}
}

func (v *gonums) String() string {
	dims := func(m interface{ Dims() (r, c int) }) string {
		r, c := m.Dims()
		return fmt.Sprintf("%d×%d", r, c)
	}
	return strings.Join([]string{dims(&v.c), dims(&v.s), dims(&v.z), dims(&v.a), dims(&v.b), dims(&v.d)}, " ")
}

// TestEmptyReceivers runs passes with empty outputs, and with empty derivatives.
func TestEmptyReceivers(t *testing.T) {
	const full = "2×3 4×1 3×3 2×4 4×3 4×1"
	v := newGonums()
	k := v.kernel()
	for i := range 2 { // the kernel is made of the empty values, and finds them sized
		if err := rev.Forward(k); err != nil {
			t.Fatal(err)
		}
		if got := v.String(); got != full || v.c.At(0, 0) != float64(i+1) {
			t.Errorf("after pass %d: %s, %v", i, got, v.c.At(0, 0))
		}
	}
	g, tt, gt := new(gonums), new(gonums), new(gonums)
	if err := rev.AdjointTangent(k, g.kernel(), tt.kernel(), gt.kernel()); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*gonums{g, tt, gt} {
		if d.String() != full {
			t.Errorf("derivatives are %s", d)
		}
	}

	// An absent output determines no size, but its derivative gets one.
	v, g = newGonums(), new(gonums)
	k = v.kernel()
	k.C = rev.General[float64]{}
	if err := rev.Adjoint(k, g.kernel()); err != nil || g.String() != full || !v.c.IsEmpty() {
		t.Errorf("without C: %v, %s", err, g)
	}

	// A step makes the kernel of its state each time.
	v, g = newGonums(), new(gonums)
	step := rev.At(func(v *gonums) sized { return v.kernel() })
	if err := errors.Join(step.Forward(v), step.Adjoint(v, g)); err != nil || v.String() != full || g.String() != full {
		t.Errorf("step: %v, %s, %s", err, v, g)
	}

	// Nothing times nothing is nothing.
	if err := rev.Forward(new(gonums).kernel()); err != nil {
		t.Error(err)
	}
}

// TestEmptyReceiverErrors has empty values that no kernel can size.
func TestEmptyReceiverErrors(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(v *gonums, k *sized)
		want   string
	}{
		{"empty input", func(v *gonums, k *sized) { k.B = rev.ViewDense(new(mat.Dense)) }, "mat: dimension mismatch: B of rev_test.sized is 0×0, want k×n where k = 4 of A"},
		{"empty optional input", func(v *gonums, k *sized) { k.D = rev.ViewVec(new(mat.VecDense)) }, "mat: dimension mismatch: D of rev_test.sized has length 0, want k where k = 4 of A"},
		{"other shapes", func(v *gonums, k *sized) { k.B.Rows-- }, "mat: dimension mismatch: B of rev_test.sized is 3×3, want k×n where k = 4 of A"},
	} {
		v := newGonums()
		k := v.kernel()
		test.change(v, &k)
		err := operandError(t, func() { rev.ForwardPass(&k) })
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: panic\n%v, want\n%s", test.name, err, test.want)
		}
		if !v.c.IsEmpty() {
			t.Errorf("%s: sized an output", test.name)
		}
	}

	var same mat.Dense
	k, g := newGonums().kernel(), new(gonums).kernel()
	square := rev.NewGeneral[float64](4, 4, nil)
	k.A, k.B, k.C = square, square, rev.NewGeneral[float64](4, 4, nil)
	g.A, g.B = rev.ViewDense(&same), rev.ViewDense(&same)
	if err := operandError(t, func() { rev.AdjointPass(&k, &g) }); err != nil {
		t.Errorf("one gradient of one operand: %v", err)
	}
	same.Reset()
	k.B = rev.NewGeneral[float64](4, 4, nil)
	g.A, g.B = rev.ViewDense(&same), rev.ViewDense(&same)
	if err := operandError(t, func() { rev.AdjointPass(&k, &g) }); !errors.Is(err, rev.ErrOverlap) {
		t.Errorf("one gradient of two operands: panic %v", err)
	}

	// A size that only an absent output would determine.
	type lone struct {
		Y rev.Vector[float64] `rev:"acc" shape:"n"`
		X []float64           `rev:"in" shape:"m"`
	}
	l := lone{Y: rev.ViewVec(new(mat.VecDense)), X: make([]float64, 2)}
	if err := operandError(t, func() { rev.ForwardPass(&l) }); err == nil || err.Operand != "Y" {
		t.Errorf("panic %v, want one about Y", err)
	}
}

// TestViewSymTri sizes symmetric and triangular values.
func TestViewSymTri(t *testing.T) {
	type factor struct {
		L rev.General[float64] `rev:"acc" shape:"n,n"`
		A rev.General[float64] `rev:"in" shape:"n,n"`
	}
	var l mat.TriDense
	var ga mat.SymDense
	k := factor{L: rev.ViewTri(&l, mat.Lower), A: rev.ViewSym(mat.NewSymDense(3, nil))}
	g := factor{A: rev.ViewSym(&ga)}
	if err := operandError(t, func() { rev.AdjointPass(&k, &g) }); err != nil {
		t.Fatal(err)
	}
	if n, kind := l.Triangle(); n != 3 || kind != mat.Lower || ga.SymmetricDim() != 3 {
		t.Errorf("L is %d×%[1]d, lower %v, and the gradient %d×%[3]d", n, kind == mat.Lower, ga.SymmetricDim())
	}
	checkPanic(t, "the other triangle", mat.ErrTriangle, func() { rev.ViewTri(&l, mat.Upper) })
	if v := rev.ViewTri(nil, mat.Lower); v.Data != nil {
		t.Error("a view of nil has data")
	}
	if v := rev.ViewSym(nil); v.Data != nil {
		t.Error("a view of nil has data")
	}
}

// TestEmptySlicesAreNoReceivers has other gonums without elements.
func TestEmptySlicesAreNoReceivers(t *testing.T) {
	full := make([]float64, 3)
	for _, data := range [][]float64{{}, full[:0], full[:0:0], full[3:], full[1:1:1]} {
		k := newGonums().kernel()
		k.S = rev.Vector[float64]{Data: data, Inc: 1}
		if err := operandError(t, func() { rev.ForwardPass(&k) }); err == nil || err.Operand != "S" || !strings.Contains(err.Reason, "length 0") {
			t.Errorf("panic %v, want one about S", err)
		}
	}
}

// TestMissingInputs omits each input of kernels with operands of all kinds.
func TestMissingInputs(t *testing.T) {
	s := newShaped()
	p := newGonums().kernel()
	a := newAffine(2, 3)
	x := 1.0
	e := every[float64]{A: a.A, X: a.X, Ind: make([]int32, 1)}
	type sparseMul struct {
		Y rev.Vector[float64] `rev:"acc" shape:"m"`
		A struct {
			Rows, Cols int
			Ptr, Ind   []int
			Data       []float64
		} `rev:"in" shape:"m,k"`
		X     rev.Vector[float64] `rev:"in" shape:"k"`
		Scale *float64            `rev:"in"`
	}
	m := sparseMul{Y: rev.ViewSlice(make([]float64, 1)), X: rev.ViewSlice(make([]float64, 2)), Scale: &x}
	m.A.Rows, m.A.Cols, m.A.Ptr, m.A.Ind, m.A.Data = 1, 2, []int{0, 1}, []int{0}, []float64{1}
	expectNil(t, s, "A", "B", "Taps", "D", "Three", "Ind")
	expectNil(t, p, "A", "B")
	expectNil(t, a, "A", "X")
	expectNil(t, e, "A", "X")
	expectNil(t, m, "A", "X", "Scale")
}

// A nil value of gonum is missing even where a view without elements would fit.
func TestNilInputs(t *testing.T) {
	type sums struct {
		Out *float64             `rev:"acc"`
		X   rev.Vector[float64]  `rev:"in" shape:"n"`
		A   rev.General[float64] `rev:"in" shape:"m,k"`
	}
	empty := sums{new(float64), rev.ViewVec(&mat.VecDense{}), rev.ViewDense(&mat.Dense{})}
	for _, a := range []rev.General[float64]{rev.ViewDense(nil), rev.ViewSym(nil), rev.ViewTri(nil, mat.Lower)} {
		k := empty
		k.A = a
		if err := operandError(t, func() { rev.ForwardPass(&k) }); err == nil || err.Operand != "A" || err.Reason != "is nil" {
			t.Errorf("without A: panic %v", err)
		}
	}
	k := empty
	k.X = rev.ViewVec(nil)
	if err := operandError(t, func() { rev.ForwardPass(&k) }); err == nil || err.Operand != "X" || err.Reason != "is nil" {
		t.Errorf("without X: panic %v", err)
	}
	for _, none := range []sums{empty, {Out: new(float64)}} {
		if err := operandError(t, func() { rev.ForwardPass(&none) }); err != nil {
			t.Errorf("without elements: panic %v", err)
		}
	}
}

// expectNil clears the operands of k by name, one at a time, and expects the error that
// they are nil.
func expectNil[K any](t *testing.T, k K, names ...string) {
	t.Helper()
	if err := operandError(t, func() { rev.ForwardPass(&k) }); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		without := k
		reflect.ValueOf(&without).Elem().FieldByName(name).SetZero()
		err := operandError(t, func() { rev.ForwardPass(&without) })
		if err == nil || err.Operand != name || err.Reason != "is nil" || !errors.Is(err, mat.ErrShape) {
			t.Errorf("%T without %s: panic %v", k, name, err)
		}
	}
}
