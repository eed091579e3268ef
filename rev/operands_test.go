package rev_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// every has an operand of every role and kind.
type every[T any] struct {
	Y     *T             `rev:"acc"`
	A     rev.General[T] `rev:"in" shape:"m,n"`
	Scale float64
	X     rev.Vector[T] `rev:"inout" shape:"n"`
	W     []T           `rev:"in,optional"`
	Ind   []int32       `rev:"index"`
}

func TestOperands(t *testing.T) {
	f := reflect.TypeFor[fixed.Q43]()
	want := []rev.Operand{
		{Name: "Y", Role: rev.Acc, Kind: rev.Scalar, Field: 0, Elem: f, Optional: true},
		{Name: "A", Role: rev.In, Kind: rev.Gen, Field: 1, Elem: f, Shape: "m,n"},
		{Name: "X", Role: rev.InOut, Kind: rev.Vec, Field: 3, Elem: f, Shape: "n"},
		{Name: "W", Role: rev.In, Kind: rev.Slice, Field: 4, Elem: f, Optional: true},
		{Name: "Ind", Role: rev.Index, Kind: rev.Slice, Field: 5, Elem: reflect.TypeFor[int32]()},
	}
	if got := rev.Operands[every[fixed.Q43]](); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	type number struct{ Log, Sign float64 }
	type csr struct {
		Rows, Cols int
		Ptr, Ind   []int32
		Data       []float64
	}
	type others struct {
		A blas64.General `rev:"in"`
		X blas64.Vector  `rev:"in"`
		S []number       `rev:"inout"`
		M csr            `rev:"acc"`
	}
	var kinds []string
	for _, o := range rev.Operands[others]() {
		kinds = append(kinds, fmt.Sprintf("%s %v %v", o.Name, o.Role, o.Kind))
	}
	if got, want := strings.Join(kinds, ", "), "A in matrix, X in vector, S inout slice, M acc sparse matrix"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// panicOf returns what f panics with.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func TestOperandsBadTags(t *testing.T) {
	type badRole struct {
		X []float64 `rev:"out"`
	}
	type badOption struct {
		X []float64 `rev:"in,omitempty"`
	}
	type badCase struct {
		X []float64 `Rev:"in"`
	}
	type missing struct {
		Y *float64 `rev:"acc"`
		X []float64
	}
	type shapeAlone struct {
		Y *float64        `rev:"acc"`
		X map[int]float64 `shape:"n"`
	}
	type unexported struct {
		Y *float64  `rev:"acc"`
		x []float64 `rev:"in"`
	}
	type badField struct {
		X map[int]float64 `rev:"in"`
	}
	type byValue struct {
		X float64 `rev:"in"`
	}
	type badPointer struct {
		X *mat.Dense `rev:"in"`
	}
	type badElem struct {
		X []string `rev:"in"`
	}
	type badIndex struct {
		X []float64 `rev:"index"`
	}
	type none struct{ Workers int }
	type many struct {
		A0, A1, A2, A3, A4, A5, A6, A7, A8, A9, A10, A11, A12, A13, A14, A15, A16,
		A17, A18, A19, A20, A21, A22, A23, A24, A25, A26, A27, A28, A29, A30, A31, A32 *float64 `rev:"in"`
	}
	_ = unexported{x: nil}
	tag := func(field, found string) string {
		return field + ": want an exported field with a tag rev:\"in\", \"acc\", \"inout\" or \"index\", found " + found
	}
	const cannot = " cannot hold an operand, want *T, []T, Vector[T], General[T] or a sparse matrix"
	for _, test := range []struct {
		operands func() []rev.Operand
		want     string
	}{
		{rev.Operands[badRole], tag("field X of rev_test.badRole", "X []float64 `rev:\"out\"`")},
		{rev.Operands[badOption], tag("field X of rev_test.badOption", "X []float64 `rev:\"in,omitempty\"`")},
		{rev.Operands[badCase], tag("field X of rev_test.badCase", "X []float64 `Rev:\"in\"`")},
		{rev.Operands[missing], tag("field X of rev_test.missing", "X []float64 ``")},
		{rev.Operands[shapeAlone], tag("field X of rev_test.shapeAlone", "X map[int]float64 `shape:\"n\"`")},
		{rev.Operands[unexported], tag("field x of rev_test.unexported", "x []float64 `rev:\"in\"`")},
		{rev.Operands[badField], "field X of rev_test.badField: map[int]float64" + cannot},
		{rev.Operands[byValue], "field X of rev_test.byValue: float64" + cannot},
		{rev.Operands[badPointer], "field X of rev_test.badPointer: *mat.Dense" + cannot},
		{rev.Operands[badElem], "field X of rev_test.badElem: []string" + cannot},
		{rev.Operands[badIndex], "field X of rev_test.badIndex: an index of type []float64, want integers"},
		{rev.Operands[none], "kernel rev_test.none has 0 operands, want 1 to 32"},
		{rev.Operands[many], "kernel rev_test.many has 33 operands, want 1 to 32"},
		{rev.Operands[int], "kernel int is not a struct"},
		{rev.Operands[*affine], "kernel *rev_test.affine is not a struct"},
	} {
		if got := panicOf(func() { test.operands() }); got != "rev: "+test.want {
			t.Errorf("panic\n%v, want\nrev: %s", got, test.want)
		}
	}
}

type affine struct {
	Y rev.Vector[float64]  `rev:"acc" shape:"m"`
	A rev.General[float64] `rev:"in" shape:"m,n"`
	X rev.Vector[float64]  `rev:"in" shape:"n"`
	P []int                `rev:"index"`
	Q []int                `rev:"index"`
}

func (k affine) Run(rev.Pass[affine]) error { return nil }

func newAffine(r, c int) affine {
	return affine{
		Y: rev.ViewSlice(make([]float64, r)),
		A: rev.NewGeneral[float64](r, c, nil),
		X: rev.ViewSlice(make([]float64, c)),
		P: make([]int, 3),
	}
}

// checkPanic reports unless f panics with want: nil for no panic, otherwise an OperandError that
// wraps it.
func checkPanic(t *testing.T, name string, want error, f func()) {
	t.Helper()
	got := panicOf(f)
	err, ok := got.(*rev.OperandError)
	if want == nil && got != nil || want != nil && (!ok || !errors.Is(err, want)) {
		t.Errorf("%s: panic %v, want %v", name, got, want)
	}
}

func TestForwardPass(t *testing.T) {
	big := make([]float64, 100)
	for _, test := range []struct {
		name   string
		change func(k *affine)
		want   error
	}{
		{"well formed", func(k *affine) {}, nil},
		{"negative N", func(k *affine) { k.X.N = -1 }, mat.ErrNegativeDimension},
		{"negative Rows", func(k *affine) { k.A.Rows = -1 }, mat.ErrNegativeDimension},
		{"negative Cols", func(k *affine) { k.A.Cols = -1 }, mat.ErrNegativeDimension},
		{"zero Inc", func(k *affine) { k.X.Inc = 0 }, mat.ErrIllegalStride},
		{"negative Inc", func(k *affine) { k.X.Inc = -1 }, mat.ErrIllegalStride},
		{"Stride below Cols", func(k *affine) { k.A.Stride = 2 }, mat.ErrIllegalStride},
		{"Data one short", func(k *affine) { k.X.Data = k.X.Data[:2] }, mat.ErrShape},
		{"strided Data one short", func(k *affine) { k.X.Inc, k.X.Data = 2, make([]float64, 4) }, mat.ErrShape},
		{"strided Data just enough", func(k *affine) { k.X.Inc, k.X.Data = 2, make([]float64, 5) }, nil},
		{"huge Inc", func(k *affine) { k.X.Inc = int(^uint(0) >> 1) }, mat.ErrShape},
		{"matrix one short", func(k *affine) { k.A.Data = k.A.Data[:5] }, mat.ErrShape},
		{"strided matrix one short", func(k *affine) { k.A.Stride, k.A.Data = 5, make([]float64, 7) }, mat.ErrShape},
		{"strided matrix just enough", func(k *affine) { k.A.Stride, k.A.Data = 5, make([]float64, 8) }, nil},
		{"huge Stride", func(k *affine) { k.A.Stride = int(^uint(0) >> 1) }, mat.ErrShape},
		{"nil in", func(k *affine) { k.X.Data = nil }, mat.ErrShape},
		{"nil acc", func(k *affine) { k.Y.Data = nil }, nil},
		{"zero acc", func(k *affine) { k.Y = rev.Vector[float64]{} }, nil},
		{"empty", func(k *affine) { *k = affine{} }, nil},
		{"X is Y", func(k *affine) { k.X, k.A = k.Y, rev.NewGeneral[float64](2, 2, nil) }, rev.ErrOverlap},
		{"last of X is first of Y", func(k *affine) { k.X.Data, k.Y.Data = big[:3], big[2:4] }, rev.ErrOverlap},
		{"X just before Y", func(k *affine) { k.X.Data, k.Y.Data = big[:3], big[3:5] }, nil},
		{"X in A", func(k *affine) { k.X.Data = k.A.Data[:3] }, nil},
		{"Y a column beside A", func(k *affine) {
			k.A.Data, k.A.Stride = big, 4
			k.Y = rev.Vector[float64]{N: 2, Data: big[3:], Inc: 4}
		}, nil},
		{"Y a column of A", func(k *affine) {
			k.A.Data, k.A.Stride = big, 4
			k.Y = rev.Vector[float64]{N: 2, Data: big[2:], Inc: 4}
		}, rev.ErrOverlap},
		{"indices overlap", func(k *affine) { k.Q = k.P }, nil},
	} {
		k := newAffine(2, 3)
		test.change(&k)
		checkPanic(t, test.name, test.want, func() { rev.ForwardPass(&k) })
	}

	type inout struct {
		X rev.Vector[float64]   `rev:"inout"`
		C rev.Vector[complex64] `rev:"in"`
		P []int                 `rev:"index"`
	}
	k := inout{X: rev.ViewSlice(big), C: rev.ViewSlice(make([]complex64, 5)), P: make([]int, 2)}
	checkPanic(t, "inout", nil, func() { rev.ForwardPass(&k) })

	err, _ := panicOf(func() {
		k := newAffine(2, 2)
		k.X = k.Y
		rev.ForwardPass(&k)
	}).(error)
	if err == nil || err.Error() != "rev: operands overlap: X of rev_test.affine shares memory with Y" {
		t.Errorf("panic %v does not name the operands", err)
	}
}

func TestSparse(t *testing.T) {
	type csr struct {
		Rows, Cols int
		Ptr, Ind   []int
		Data       []float64
	}
	type scale struct {
		Y csr                 `rev:"acc" shape:"m,n"`
		A csr                 `rev:"in" shape:"m,n"`
		X rev.Vector[float64] `rev:"in"`
	}
	x := make([]float64, 9)
	for _, test := range []struct {
		name   string
		change func(k, g *scale)
		kernel error
		like   error
	}{
		{"well formed", func(k, g *scale) {}, nil, nil},
		{"values alone", func(k, g *scale) { g.A = csr{Data: g.A.Data} }, nil, nil},
		{"nil gradient", func(k, g *scale) { g.A.Data = nil }, nil, nil},
		{"nil in", func(k, g *scale) { k.A.Data = nil }, mat.ErrShape, nil},
		{"nil acc", func(k, g *scale) { k.Y.Data = nil }, nil, nil},
		{"nil acc, another shape", func(k, g *scale) { k.Y.Data, g.Y.Data = nil, x[:5] }, nil, mat.ErrShape},
		{"Data one short", func(k, g *scale) { k.A.Data = k.A.Data[1:] }, mat.ErrShape, nil},
		{"gradient one short", func(k, g *scale) { g.A.Data = g.A.Data[1:] }, nil, mat.ErrShape},
		{"gradient of values alone one short", func(k, g *scale) { g.A = csr{Data: x[:2]} }, nil, mat.ErrShape},
		{"gradient one long", func(k, g *scale) { g.A.Data = x[:4] }, nil, mat.ErrShape},
		{"A is Y", func(k, g *scale) { k.A.Data = k.Y.Data }, rev.ErrOverlap, nil},
		{"X in A", func(k, g *scale) { k.X = rev.ViewSlice(k.A.Data[1:]) }, nil, nil},
		{"gradient is A", func(k, g *scale) { g.A.Data = k.A.Data }, nil, rev.ErrOverlap},
	} {
		m := func() csr { return csr{1, 3, []int{0, 3}, []int{0, 1, 2}, make([]float64, 3)} }
		v := func() rev.Vector[float64] { return rev.ViewSlice(make([]float64, 2)) }
		k, g := scale{m(), m(), v()}, scale{m(), m(), v()}
		test.change(&k, &g)
		checkPanic(t, test.name, test.kernel, func() { rev.ForwardPass(&k) })
		if test.kernel == nil {
			checkPanic(t, test.name+": AdjointPass", test.like, func() { rev.AdjointPass(&k, &g) })
		}
	}
}

// TestOverlap compares the decision with the sets of elements.
func TestOverlap(t *testing.T) {
	type pair struct {
		A rev.General[float64] `rev:"inout"`
		B rev.General[float64] `rev:"in"`
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	data := make([]float64, 200)
	random := func(stride int) rev.General[float64] {
		return rev.General[float64]{
			Rows: rnd.IntN(4), Cols: rnd.IntN(stride + 1), Stride: stride, Data: data[rnd.IntN(40):],
		}
	}
	seen := make(map[bool]int)
	for range 20000 {
		stride := 1 + rnd.IntN(8)
		a, b := random(stride), random(stride)
		switch rnd.IntN(3) {
		case 0: // one row of any length
			b = random(1 + rnd.IntN(20))
			b.Rows = min(b.Rows, 1)
		case 1: // no gaps
			b = random(1 + rnd.IntN(8))
			b.Stride = max(1, b.Cols)
		}
		ea, eb := elements(a), elements(b)
		want := false
		for e := range ea {
			want = want || eb[e]
		}
		k := pair{a, b}
		if rnd.IntN(2) == 0 {
			k = pair{b, a}
		}
		got := panicOf(func() { rev.ForwardPass(&k) }) != nil
		if got != want {
			t.Fatalf("elements %v and %v: overlap %v, want %v", ea, eb, got, want)
		}
		seen[got]++
	}
	if seen[true] < 1000 || seen[false] < 1000 {
		t.Errorf("one-sided sample: %v", seen)
	}
}

// elements returns the places in memory of the elements of m, counted from the
// end of the array that it is a part of.
func elements(m rev.General[float64]) map[int]bool {
	e := make(map[int]bool)
	for i := range m.Rows {
		for j := range m.Cols {
			e[cap(m.Data)-i*m.Stride-j] = true
		}
	}
	return e
}

// TestOverlapGuess has operands that a pass assumes to overlap, without comparing their
// elements.
func TestOverlapGuess(t *testing.T) {
	type pair struct {
		A rev.General[float64] `rev:"inout"`
		B rev.General[float64] `rev:"in"`
	}
	data := make([]float64, 40)
	k := pair{
		A: rev.General[float64]{Rows: 3, Cols: 1, Stride: 6, Data: data},
		B: rev.General[float64]{Rows: 2, Cols: 2, Stride: 3, Data: data[1:]},
	}
	checkPanic(t, "different strides", rev.ErrOverlap, func() { rev.ForwardPass(&k) })
	k.B.Data = data[13:]
	checkPanic(t, "different strides, apart", nil, func() { rev.ForwardPass(&k) })

	type mixed struct {
		A rev.General[float64] `rev:"inout"`
		B []float32            `rev:"in"`
	}
	m := mixed{A: k.A, B: unsafe.Slice((*float32)(unsafe.Pointer(&data[1])), 2)}
	checkPanic(t, "different sizes", rev.ErrOverlap, func() { rev.ForwardPass(&m) })
}

func TestAdjointPass(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(k, g *affine)
		want   error
	}{
		{"well formed", func(k, g *affine) {}, nil},
		{"all nil", func(k, g *affine) { *g = affine{} }, nil},
		{"nil X of any shape", func(k, g *affine) { g.X = rev.Vector[float64]{N: 7} }, nil},
		{"short X", func(k, g *affine) { g.X.N-- }, mat.ErrShape},
		{"transposed A", func(k, g *affine) { g.A = rev.NewGeneral[float64](3, 2, nil) }, mat.ErrShape},
		{"bad stride", func(k, g *affine) { g.A.Stride = 1 }, mat.ErrIllegalStride},
		{"short Data", func(k, g *affine) { g.A.Data = g.A.Data[1:] }, mat.ErrShape},
		{"another stride", func(k, g *affine) { g.A.Stride, g.A.Data = 9, make([]float64, 12) }, nil},
		{"primal Y nil", func(k, g *affine) { k.Y.Data = nil }, nil},
		{"primal Y nil, another shape", func(k, g *affine) { k.Y.Data, g.Y.N = nil, 1 }, mat.ErrShape},
		{"primal Y zero", func(k, g *affine) { k.Y = rev.Vector[float64]{} }, nil},
		{"same indices", func(k, g *affine) { g.P = k.P }, nil},
		{"other indices", func(k, g *affine) { g.P = make([]int, 1) }, nil},
		{"X is primal X", func(k, g *affine) { g.X = k.X }, rev.ErrOverlap},
		{"X in primal A", func(k, g *affine) { g.X.Data = k.A.Data[3:] }, rev.ErrOverlap},
		{"X in Y", func(k, g *affine) { g.Y.Data = g.X.Data[1:] }, rev.ErrOverlap},
		{"X in A", func(k, g *affine) { g.X.Data = g.A.Data[:3] }, rev.ErrOverlap},
		{"X in A as in the primal", func(k, g *affine) { g.X.Data, k.X.Data = g.A.Data[:3], k.A.Data[:3] }, rev.ErrOverlap},
	} {
		k, g := newAffine(2, 3), newAffine(2, 3)
		test.change(&k, &g)
		checkPanic(t, test.name, test.want, func() { rev.AdjointPass(&k, &g) })
	}

	type dot struct {
		Out  *float64            `rev:"acc"`
		X, Y rev.Vector[float64] `rev:"in"`
	}
	newDot := func(x, y []float64) *dot {
		return &dot{Out: new(float64), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}
	}
	x, y, gx, gy := make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)
	checkPanic(t, "squared norm", nil, func() { rev.AdjointPass(newDot(x, x), newDot(gx, gx)) })
	checkPanic(t, "squared norm, gradients apart", nil, func() { rev.AdjointPass(newDot(x, x), newDot(gx, gy)) })
	checkPanic(t, "dot, one gradient", rev.ErrOverlap, func() { rev.AdjointPass(newDot(x, y), newDot(gx, gx)) })

	tx, ty := make([]float64, 3), make([]float64, 3)
	checkPanic(t, "gradients and tangents", nil, func() {
		rev.AdjointTangentPass(newDot(x, y), newDot(gx, gy), newDot(tx, ty), new(dot))
	})
	checkPanic(t, "gradients that are tangents", rev.ErrOverlap, func() {
		rev.AdjointTangentPass(newDot(x, y), newDot(gx, gy), newDot(tx, gy), new(dot))
	})
	checkPanic(t, "tangents that are the primal", rev.ErrOverlap, func() {
		rev.AdjointTangentPass(newDot(x, y), newDot(gx, gy), newDot(x, ty), new(dot))
	})
}

func TestPassAllocs(t *testing.T) {
	k, g, tt := newAffine(2, 3), newAffine(2, 3), newAffine(2, 3)
	var y, s float64
	e := every[float64]{Y: &y, A: k.A, X: k.X, W: make([]float64, 3), Ind: make([]int32, 2)}
	f := e
	f.Y, f.A, f.X, f.W = &s, g.A, g.X, make([]float64, 3)
	if n := testing.AllocsPerRun(100, func() {
		rev.ForwardPass(&k)
		rev.AdjointPass(&k, &g)
		rev.AdjointTangentPass(&k, &g, &tt, new(affine))
		rev.ForwardPass(&e)
		rev.AdjointPass(&e, &f)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkPass(b *testing.B) {
	k, g := newAffine(2, 3), newAffine(2, 3)
	b.Run("Forward", func(b *testing.B) {
		for b.Loop() {
			rev.ForwardPass(&k)
		}
	})
	b.Run("Adjoint", func(b *testing.B) {
		for b.Loop() {
			rev.AdjointPass(&k, &g)
		}
	})
}
