package rev_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// shaped has a dimension of every form.
type shaped struct {
	C     rev.General[float64] `rev:"acc" shape:"m,n"`
	A     rev.General[float64] `rev:"in" shape:"Trans ? k,m : m,k"`
	B     rev.General[float64] `rev:"in" shape:"k,n"`
	W     []float64            `rev:"in,optional" shape:"n*(n-1)/2"`
	Taps  rev.Vector[float64]  `rev:"in" shape:"Width"`
	D     []float64            `rev:"inout" shape:"min(m,n)"`
	E     []float64            `rev:"in,optional" shape:"max( m , k ) + 1"`
	Three []float64            `rev:"in" shape:"3"`
	Ind   []int                `rev:"index" shape:"k"`
	Trans bool
	Width int
}

func (k shaped) Run(rev.Pass[shaped]) error { return nil }

// newShaped has m, n, k = 2, 3, 4 and a width of 5.
func newShaped() shaped {
	return shaped{
		C: rev.NewGeneral[float64](2, 3, nil),
		A: rev.NewGeneral[float64](2, 4, nil),
		B: rev.NewGeneral[float64](4, 3, nil),
		W: make([]float64, 3), Taps: rev.ViewSlice(make([]float64, 5)), D: make([]float64, 2), E: make([]float64, 5),
		Three: make([]float64, 3), Ind: make([]int, 4),
		Width: 5,
	}
}

// operandError returns the *OperandError that f panics with, nil if it does not panic.
func operandError(t *testing.T, f func()) *rev.OperandError {
	t.Helper()
	v := panicOf(f)
	if v == nil {
		return nil
	}
	err, ok := v.(*rev.OperandError)
	if !ok {
		t.Errorf("panic %v, want an OperandError", v)
		return &rev.OperandError{}
	}
	return err
}

func TestShapeTags(t *testing.T) {
	const dimension = "mat: dimension mismatch: "
	for _, test := range []struct {
		name   string
		change func(k *shaped)
		want   string // of the panic, "" if there is none
	}{
		{"fits", func(k *shaped) {}, ""},
		{"transposed", func(k *shaped) { k.Trans, k.A = true, rev.NewGeneral[float64](4, 2, nil) }, ""},
		{"optional is nil", func(k *shaped) { k.W, k.E = nil, nil }, ""},
		{"acc is nil", func(k *shaped) { k.C = rev.General[float64]{} }, ""},
		{"name", func(k *shaped) { k.B = rev.NewGeneral[float64](5, 3, nil) },
			"B of rev_test.shaped is 5×3, want k×n where k = 4 of A"},
		{"name of acc", func(k *shaped) { k.C = rev.NewGeneral[float64](2, 4, nil) },
			"C of rev_test.shaped is 2×4, want m×n where m = 2 of A and n = 3 of B"},
		{"other case", func(k *shaped) { k.Trans, k.B = true, rev.NewGeneral[float64](5, 3, nil) },
			"B of rev_test.shaped is 5×3, want k×n where k = 2 of A"},
		{"product", func(k *shaped) { k.W = make([]float64, 4) },
			"W of rev_test.shaped has length 4, want n*(n-1)/2 where n = 3 of B"},
		{"empty is not nil", func(k *shaped) { k.W = []float64{} },
			"W of rev_test.shaped has length 0, want n*(n-1)/2 where n = 3 of B"},
		{"int field", func(k *shaped) { k.Width = 6 },
			"Taps of rev_test.shaped has length 5, want Width where Width = 6"},
		{"min", func(k *shaped) { k.D = make([]float64, 3) },
			"D of rev_test.shaped has length 3, want min(m,n) where m = 2 of A and n = 3 of B"},
		{"max", func(k *shaped) { k.E = make([]float64, 4) },
			"E of rev_test.shaped has length 4, want max( m , k ) + 1 where m = 2 of A and k = 4 of A"},
		{"number", func(k *shaped) { k.Three = make([]float64, 2) },
			"Three of rev_test.shaped has length 2, want 3"},
		{"index", func(k *shaped) { k.Ind = make([]int, 3) },
			"Ind of rev_test.shaped has length 3, want k where k = 4 of A"},
		{"nil in", func(k *shaped) { k.Three = nil },
			"Three of rev_test.shaped is nil"},
	} {
		k := newShaped()
		test.change(&k)
		err := operandError(t, func() { rev.ForwardPass(&k) })
		switch {
		case err == nil && test.want != "":
			t.Errorf("%s: no panic", test.name)
		case err != nil && err.Error() != dimension+test.want:
			t.Errorf("%s: panic\n%q, want\n%q", test.name, err, dimension+test.want)
		case err != nil && !errors.Is(err, mat.ErrShape):
			t.Errorf("%s: panic %v is not mat.ErrShape", test.name, err)
		}
	}
}

// TestShapeInOrder has an expression before a name, as a matrix of weights of several gates.
func TestShapeInOrder(t *testing.T) {
	type gates struct {
		X []float64            `rev:"in" shape:"d"`
		W rev.General[float64] `rev:"in" shape:"3*d,h"`
		Y []float64            `rev:"acc" shape:"h"`
	}
	k := gates{make([]float64, 2), rev.NewGeneral[float64](5, 4, nil), make([]float64, 4)}
	const want = "W of rev_test.gates is 5×4, want 3*d×h where d = 2 of X"
	if err := operandError(t, func() { rev.ForwardPass(&k) }); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("panic %v, want %q", err, want)
	}
}

// TestShapeOfNumbersAlone has a kernel without a name in its shapes.
func TestShapeOfNumbersAlone(t *testing.T) {
	type pair struct {
		X []float64 `rev:"inout" shape:"2"`
	}
	for n := range 4 {
		err := operandError(t, func() { rev.ForwardPass(&pair{make([]float64, n)}) })
		if (err == nil) != (n == 2) {
			t.Errorf("length %d: panic %v", n, err)
		}
	}
}

// TestShapeExpressions compares dimensions with the values of expressions.
func TestShapeExpressions(t *testing.T) {
	type exprs struct {
		A []float64 `rev:"in" shape:"a"`
		B []float64 `rev:"in" shape:"b"`
		C []float64 `rev:"in,optional" shape:"a-b-1"`
		D []float64 `rev:"in,optional" shape:"a/b*2"`
		E []float64 `rev:"in,optional" shape:"2*(a+b)-min(a,max(b,3))"`
		F []float64 `rev:"in,optional" shape:"Neg+a"`
		X []float64 `rev:"inout" shape:"1"`

		Neg int
	}
	for a := range 8 {
		for b := range 5 {
			want := []int{a - b - 1, -1, 2*(a+b) - min(a, max(b, 3)), a - 2}
			if b > 0 {
				want[1] = a / b * 2
			}
			for i, want := range want {
				for n := range 20 {
					k := exprs{A: make([]float64, a), B: make([]float64, b), X: make([]float64, 1), Neg: -2}
					x := make([]float64, n)
					*[]*[]float64{&k.C, &k.D, &k.E, &k.F}[i] = x
					if err := operandError(t, func() { rev.ForwardPass(&k) }); (err == nil) != (n == want) {
						t.Errorf("a, b = %d, %d: expression %d takes %d: %v, want %d", a, b, i, n, err == nil, want)
					}
				}
			}
		}
	}
}

// TestDerivativeShapes has derivatives of other shapes than their operands, and of
// operands that are not there.
func TestDerivativeShapes(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(k, d *shaped)
		want   string // after "mat: dimension mismatch: d.", "" if there is no panic
	}{
		{"none", func(k, d *shaped) { *d = shaped{} }, ""},
		{"all", func(k, d *shaped) {}, ""},
		{"matrix", func(k, d *shaped) { d.B = rev.NewGeneral[float64](3, 4, nil) }, "B of rev_test.shaped is 3×4, want 4×3"},
		{"vector", func(k, d *shaped) { d.Taps.N-- }, "Taps of rev_test.shaped has length 4, want 5"},
		{"slice", func(k, d *shaped) { d.D = nil; d.Three = d.Three[1:] }, "Three of rev_test.shaped has length 2, want 3"},
		{"index", func(k, d *shaped) { d.Ind = nil }, ""},
		{"nil acc", func(k, d *shaped) { k.C = rev.General[float64]{} }, ""},
		{"of nil acc", func(k, d *shaped) { k.C, d.C = rev.General[float64]{}, rev.NewGeneral[float64](3, 3, nil) },
			"C of rev_test.shaped is 3×3, want 2×3"},
		{"of nil optional", func(k, d *shaped) { k.W, d.W = nil, d.W[1:] },
			"W of rev_test.shaped has length 2, want 3"},
	} {
		for _, pass := range []struct {
			prefix string
			run    func(k, d *shaped)
		}{
			{"g", func(k, d *shaped) { rev.AdjointPass(k, d) }},
			{"t", func(k, d *shaped) { rev.TangentPass(k, d) }},
			{"gt", func(k, d *shaped) { rev.AdjointTangentPass(k, new(shaped), new(shaped), d) }},
		} {
			k, d := newShaped(), newShaped()
			test.change(&k, &d)
			err := operandError(t, func() { pass.run(&k, &d) })
			want := "mat: dimension mismatch: " + pass.prefix + "." + test.want
			if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != want) {
				t.Errorf("%s: panic %v, want %q", test.name, err, want)
			}
		}
	}
}

// TestFill checks that absent views get the dimensions that they would have, whichever
// function, method or step runs the kernel.
func TestFill(t *testing.T) {
	k := newShaped()
	k.C = rev.General[float64]{}
	rev.ForwardPass(&k)
	if k.C.Data != nil || k.C.Rows != 2 || k.C.Cols != 3 {
		t.Errorf("C is %v", k.C)
	}

	var got [][2]int
	f := fills{A: rev.NewGeneral[float64](2, 3, nil), seen: func(k fills) { got = append(got, [2]int{k.Y.N, k.Z.N}) }}
	g := f
	g.A = rev.NewGeneral[float64](2, 3, nil)
	for _, run := range []func() error{
		func() error { return rev.Forward(f) },
		func() error { return rev.Inverse(f) },
		func() error { return rev.Adjoint(f, g) },
		func() error { return rev.Tangent(f, g) },
		func() error { return rev.AdjointTangent(f, g, fills{}, fills{}) },
		func() error { return rev.Gradient(f, g) },
		f.Forward,
		func() error { return rev.At(func(s *fills) fills { return *s }).Forward(&f) },
	} {
		got = nil
		if err := run(); err != nil || !reflect.DeepEqual(got, [][2]int{{2, 6}}) {
			t.Errorf("dimensions %v, error %v", got, err)
		}
	}
}

// fills is a kernel whose outputs may be nil.
type fills struct {
	Y rev.Vector[float64]  `rev:"acc" shape:"m"`
	Z rev.Vector[float64]  `rev:"acc" shape:"m*n"`
	A rev.General[float64] `rev:"in" shape:"m,n"`

	seen func(k fills)
}

func (k fills) Run(rev.Pass[fills]) error {
	k.seen(k)
	return nil
}

// Forward is like Forward of the kernels of the library.
func (k fills) Forward() error { return k.Run(rev.ForwardPass(&k)) }

func TestBadShapeTags(t *testing.T) {
	type dangling struct {
		X []float64 `rev:"in" shape:"n+"`
	}
	type unclosed struct {
		X []float64 `rev:"in" shape:"2*(n-1"`
	}
	type few struct {
		X rev.General[float64] `rev:"in" shape:"n"`
	}
	type extra struct {
		X []float64 `rev:"in" shape:"n,m"`
	}
	type scalar struct {
		X *float64 `rev:"in" shape:"n"`
	}
	type words struct {
		X []float64 `rev:"in" shape:"n m"`
	}
	type digits struct {
		X []float64 `rev:"in" shape:"2n"`
	}
	type char struct {
		X []float64 `rev:"in" shape:"n;"`
	}
	type condition struct {
		X []float64 `rev:"in" shape:"Up ? n : m"`
		//lint:ignore U1000 a condition of another type
		Up int
	}
	type otherwise struct {
		X  []float64 `rev:"in" shape:"Up ? n"`
		Up bool
	}
	type untold struct {
		X []float64 `rev:"in" shape:"n"`
		Y []float64 `rev:"in" shape:"2*nn"`
	}
	type width struct {
		X []float64 `rev:"in" shape:"Width+1"`
		//lint:ignore U1000 a name of another type
		Width int32
	}
	type inner struct{ Width int }
	type embedded struct {
		X []float64 `rev:"in" shape:"Width+1"`
		inner
	}
	type many struct {
		A rev.General[float64] `rev:"in" shape:"a,b"`
		B rev.General[float64] `rev:"in" shape:"c,d"`
		C rev.General[float64] `rev:"in" shape:"e,f"`
		D rev.General[float64] `rev:"in" shape:"g,h"`
		E rev.General[float64] `rev:"in" shape:"i,j"`
		F rev.General[float64] `rev:"in" shape:"k,l"`
		G rev.General[float64] `rev:"in" shape:"m,n"`
		H []float64            `rev:"in" shape:"o"`
	}
	for _, test := range []struct {
		operands func() []rev.Operand
		want     string
	}{
		{rev.Operands[dangling], `field X of rev_test.dangling: shape:"n+": want a name or a number before ""`},
		{rev.Operands[unclosed], `field X of rev_test.unclosed: shape:"2*(n-1": want ')' before ""`},
		{rev.Operands[few], `field X of rev_test.few: shape:"n": 1 dimensions, want 2`},
		{rev.Operands[extra], `field X of rev_test.extra: shape:"n,m": more than 1 dimensions`},
		{rev.Operands[scalar], `field X of rev_test.scalar: shape:"n": more than 0 dimensions`},
		{rev.Operands[words], `field X of rev_test.words: shape:"n m": unexpected "m"`},
		{rev.Operands[digits], `field X of rev_test.digits: shape:"2n": "2n" is neither a name nor a number`},
		{rev.Operands[char], `field X of rev_test.char: shape:"n;": unexpected ";"`},
		{rev.Operands[condition], `field X of rev_test.condition: shape:"Up ? n : m": no bool field "Up"`},
		{rev.Operands[otherwise], `field X of rev_test.otherwise: shape:"Up ? n": want ':' before ""`},
		{rev.Operands[untold], `kernel rev_test.untold: no operand has the dimension nn by itself, and no int field is named so`},
		{rev.Operands[width], `kernel rev_test.width: no operand has the dimension Width by itself, and no int field is named so`},
		{rev.Operands[embedded], `kernel rev_test.embedded: no operand has the dimension Width by itself, and no int field is named so`},
		{rev.Operands[many], `field H of rev_test.many: shape:"o": more than 14 names`},
	} {
		if got := panicOf(func() { test.operands() }); got != "rev: "+test.want {
			t.Errorf("panic\n%v, want\nrev: %s", got, test.want)
		}
	}
}

// TestOperandErrors has every kind of OperandError, of a kernel alone and of one in a
// program.
func TestOperandErrors(t *testing.T) {
	type state struct{ k affine }
	for _, test := range []struct {
		change func(k, g *affine)
		err    error
		want   string
	}{
		{func(k, _ *affine) { k.X.N = -1 }, mat.ErrNegativeDimension, "X of rev_test.affine has length -1"},
		{func(k, _ *affine) { k.A.Rows = -1 }, mat.ErrNegativeDimension, "A of rev_test.affine is -1×3"},
		{func(k, _ *affine) { k.X.Inc = 0 }, mat.ErrIllegalStride, "X of rev_test.affine has length 3 with a stride of 0"},
		{func(k, _ *affine) { k.A.Stride = 2 }, mat.ErrIllegalStride, "A of rev_test.affine is 2×3 with a stride of 2"},
		{func(k, _ *affine) { k.A.Data = k.A.Data[1:] }, mat.ErrShape, "A of rev_test.affine is 2×3 with a stride of 3, but 5 elements of data"},
		{func(k, _ *affine) { k.A.Stride = math.MaxInt }, mat.ErrShape, fmt.Sprintf("A of rev_test.affine is 2×3 with a stride of %d, but 6 elements of data", math.MaxInt)},
		{func(k, _ *affine) { k.X.Data = nil }, mat.ErrShape, "X of rev_test.affine is nil"},
		{func(k, _ *affine) { k.X = rev.ViewSlice(make([]float64, 2)) }, mat.ErrShape, "X of rev_test.affine has length 2, want n where n = 3 of A"},
		{func(k, _ *affine) { k.Y = rev.ViewSlice(k.A.Data[4:]) }, rev.ErrOverlap, "A of rev_test.affine shares memory with Y"},
		{func(k, g *affine) { g.X.N-- }, mat.ErrShape, "g.X of rev_test.affine has length 2, want 3"},
		{func(k, g *affine) { g.X.N = -1 }, mat.ErrNegativeDimension, "g.X of rev_test.affine has length -1"},
		{func(k, g *affine) { g.A.Stride = 1 }, mat.ErrIllegalStride, "g.A of rev_test.affine is 2×3 with a stride of 1"},
		{func(k, g *affine) { g.X = k.X }, rev.ErrOverlap, "g.X of rev_test.affine shares memory with X"},
		{func(k, g *affine) { g.X.Data = g.A.Data[:3] }, rev.ErrOverlap, "g.X of rev_test.affine shares memory with g.A"},
	} {
		s, g := state{newAffine(2, 3)}, state{newAffine(2, 3)}
		test.change(&s.k, &g.k)
		for _, step := range []string{"", "Seq[1].Repeat.At(rev_test.affine)"} {
			err := operandError(t, func() {
				if step == "" {
					_ = rev.Adjoint(s.k, g.k)
					return
				}
				once := func(*state) int { return 1 }
				_ = rev.Seq(rev.Step[state]{}, rev.Repeat(once, rev.At(func(s *state) affine { return s.k }))).Adjoint(&s, &g)
			})
			want := fmt.Sprintf("%v: %s", test.err, test.want)
			if step != "" {
				want += " (" + step + ")"
			}
			if !errors.Is(err, test.err) || err.Error() != want || err.Step != step || err.Kernel != "rev_test.affine" || !strings.HasPrefix(test.want, err.Operand+" of ") {
				t.Errorf("panic\n%v, want\n%v", err, want)
			}
		}
	}
}

// TestOptional has operands that may be nil, and that must not be.
func TestOptional(t *testing.T) {
	type options struct {
		Y *float64             `rev:"acc"`
		A *float64             `rev:"in,optional"`
		X []float64            `rev:"inout,optional"`
		M rev.General[float64] `rev:"in,optional"`
		B *float64             `rev:"in"`
	}
	b := 1.0
	if err := operandError(t, func() { rev.ForwardPass(&options{B: &b}) }); err != nil {
		t.Error(err)
	}
	if err := operandError(t, func() { rev.ForwardPass(new(options)) }); err == nil || err.Operand != "B" {
		t.Errorf("panic %v, want one about B", err)
	}
	k := options{B: &b, A: &b, X: []float64{1}, M: rev.NewGeneral[float64](1, 1, nil)}
	if err := operandError(t, func() { rev.ForwardPass(&k) }); err != nil {
		t.Error(err)
	}
	k.X = k.M.Data
	if err := operandError(t, func() { rev.ForwardPass(&k) }); !errors.Is(err, rev.ErrOverlap) {
		t.Errorf("panic %v, want %v", err, rev.ErrOverlap)
	}
	for _, o := range rev.Operands[options]() {
		if o.Optional != (o.Name != "B") {
			t.Errorf("%s: optional %v", o.Name, o.Optional)
		}
	}
}
