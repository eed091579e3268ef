package rev_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// layer is a part of a state.
type layer struct {
	W    rev.General[float64]
	bias []float64
	name string
	size int
}

// everything has fields of all forms.
type everything struct {
	f    float64
	z    complex128
	q    fixed.Q43
	pair struct{ Log, Sign float64 }
	four [4]float32
	n    int
	flag bool
	text string

	slice, part, same []float64
	fixed             []fixed.Q43
	empty, none       []float64
	ints              []int
	index             map[string]int
	call              func() int

	pointer, into, scalar *float64
	own                   *float64 // into the state itself
	array                 *[3]float64
	number                *int

	flat  []float64
	view  rev.Vector[float64]
	block rev.General[float64]

	vec   *mat.VecDense
	dense *mat.Dense
	sub   mat.Matrix
	value mat.Dense

	layers []layer
	first  *layer
	self   *everything
	any    any
	nested [2][]*float64
	deep   *[]float64
}

func newEverything() *everything {
	one := 1.0
	s := &everything{
		f: 1, z: 2i, q: 3, four: [4]float32{1, 2, 3, 4}, n: 5, flag: true, text: "text",
		slice: []float64{1, 2, 3, 4}, fixed: []fixed.Q43{1, 2}, empty: []float64{}, ints: []int{1, 2},
		index: map[string]int{"a": 1}, call: func() int { return 7 },
		pointer: &one, array: &[3]float64{1, 2, 3}, number: new(int),
		flat:  make([]float64, 12),
		dense: mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
		value: *mat.NewDense(1, 2, []float64{1, 2}),
		layers: []layer{
			{rev.NewGeneral(1, 2, []float64{1, 2}), []float64{3}, "first", 1},
			{rev.NewGeneral(2, 1, []float64{1, 2}), []float64{3, 4}, "second", 2},
		},
		any:  []float64{1, 2},
		deep: &[]float64{1, 2},
	}
	for i := range s.flat {
		s.flat[i] = 1
	}
	s.pair.Log = 1
	s.part, s.same = s.slice[1:3], s.slice
	s.into, s.scalar, s.own = &s.slice[2], s.pointer, &s.f
	s.view = rev.Vector[float64]{N: 3, Data: s.flat[1:], Inc: 2}
	s.block = rev.General[float64]{Rows: 2, Cols: 2, Data: s.flat[6:], Stride: 3}
	s.vec = mat.NewVecDense(4, s.flat[:4])
	s.sub = s.dense.Slice(1, 3, 1, 3)
	s.first, s.self = &s.layers[0], s
	s.nested[1] = []*float64{s.pointer, nil, &s.slice[0]}
	return s
}

func TestZeroLike(t *testing.T) {
	s := newEverything()
	d := rev.ZeroLike(s)

	zeros := func(what string, got []float64, n int) {
		t.Helper()
		if len(got) != n || slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
			t.Errorf("%s is %v, want %d zeros", what, got, n)
		}
	}
	if d.f != 0 || d.z != 0 || d.q != 0 || d.pair.Log != 0 || d.four != [4]float32{} {
		t.Errorf("numbers are %v %v %v %v %v", d.f, d.z, d.q, d.pair, d.four)
	}
	if d.n != 5 || !d.flag || d.text != "text" || d.call() != 7 || &d.ints[0] != &s.ints[0] || d.index["a"] != 1 || d.number != s.number {
		t.Errorf("structure is %+v", d)
	}
	zeros("slice", d.slice, 4)
	zeros("array", d.array[:], 3)
	zeros("flat", d.flat, 12)
	zeros("vec", d.vec.RawVector().Data, 4)
	zeros("dense", d.dense.RawMatrix().Data, 12)
	zeros("value", d.value.RawMatrix().Data, 2)
	zeros("deep", *d.deep, 2)
	zeros("slice in an interface", d.any.([]float64), 2)
	if len(d.fixed) != 2 || d.fixed[0] != 0 || d.empty == nil || d.none != nil {
		t.Errorf("fixed %v, empty %v, none %v", d.fixed, d.empty, d.none)
	}
	if r, c := d.sub.Dims(); r != 2 || c != 2 || d.vec.Len() != 4 {
		t.Errorf("gonum's types are %d×%d and %d", r, c, d.vec.Len())
	}
	if l := d.layers[1]; l.name != "second" || l.size != 2 || l.W.Rows != 2 || l.W.Stride != 1 {
		t.Errorf("layer is %+v", l)
	}
	if d.view.N != 3 || d.view.Inc != 2 || d.block.Rows != 2 || d.block.Stride != 3 {
		t.Errorf("views %+v and %+v", d.view, d.block)
	}

	// What shares storage in s does so in d, and shares none with s.
	before := *newEverything()
	for _, share := range []struct {
		name string
		a, b *float64
	}{
		{"part", &d.part[0], &d.slice[1]},
		{"same", &d.same[3], &d.slice[3]},
		{"pointer into a slice", d.into, &d.slice[2]},
		{"two pointers", d.scalar, d.pointer},
		{"pointer into the state", d.own, &d.f},
		{"vector", &d.view.Data[0], &d.flat[1]},
		{"block", &d.block.Data[0], &d.flat[6]},
		{"gonum's vector", &d.vec.RawVector().Data[3], &d.flat[3]},
		{"gonum's matrix", &d.sub.(*mat.Dense).RawMatrix().Data[0], &d.dense.RawMatrix().Data[5]},
		{"pointer into a slice of structs", &d.first.bias[0], &d.layers[0].bias[0]},
		{"pointers in an array", d.nested[1][0], d.pointer},
		{"pointer to itself", &d.self.f, &d.f},
	} {
		if share.a != share.b {
			t.Errorf("%s: no storage is shared", share.name)
		}
		*share.a = 100
	}
	if d.first != &d.layers[0] || d.self != d || d.nested[1][1] != nil {
		t.Error("pointers to structs go elsewhere")
	}
	if !reflect.DeepEqual(s.slice, before.slice) || !reflect.DeepEqual(s.flat, before.flat) || *s.pointer != 1 || s.f != 1 ||
		!mat.Equal(s.dense, before.dense) || s.layers[0].bias[0] != 3 {
		t.Error("the state has changed")
	}
}

// TestZeroLikeApart has blocks of one array, which overlap and do not.
func TestZeroLikeApart(t *testing.T) {
	type pieces struct{ a, b, c, d []float64 }
	x := make([]float64, 10)
	d := rev.ZeroLike(&pieces{x[4:7], x[2:5], x[8:], x[:1]})
	d.a[0], d.a[1], d.c[0] = 1, 2, 3
	if !slices.Equal(d.b, []float64{0, 0, 1}) || len(d.a) != 3 || len(d.c) != 2 || d.d[0] != 0 {
		t.Errorf("pieces %v", d)
	}
	type overlap struct{ a, b []layer }
	layers := newEverything().layers
	layers = append(layers, layers[0])
	o := rev.ZeroLike(&overlap{layers[:2], layers[1:]})
	if &o.a[1] != &o.b[0] || len(o.b) != 2 || &o.b[1].bias[0] != &o.a[0].bias[0] {
		t.Error("parts of a slice of structs are apart")
	}
	type pointers struct {
		b []layer
		c *float64
	}
	if z := rev.ZeroLike(&pointers{b: layers, c: &layers[1].W.Data[0]}); z.c != &z.b[1].W.Data[0] {
		t.Error("pointer into a struct goes elsewhere")
	}
	if rev.ZeroLike(&struct{}{}) == nil || *rev.ZeroLike(new(int)) != 0 {
		t.Error("states without numbers")
	}
	type array struct {
		x [4]float64
		y *[2]float64
	}
	var a array
	a.y = (*[2]float64)(a.x[1:])
	if z := rev.ZeroLike(&a); &z.y[1] != &z.x[2] {
		t.Error("pointer into an array goes elsewhere")
	}
	raw := make([]float64, 6)
	msg, _ := panicOf(func() {
		rev.ZeroLike(&struct {
			a []float64
			b *[4]float64
		}{raw[:3], (*[4]float64)(raw[1:])})
	}).(string)
	if !strings.Contains(msg, "[4]float64") || !strings.Contains(msg, "share storage") {
		t.Errorf("panic %q", msg)
	}
}

// Zeros forgets its state if it cannot make the next one.
func TestZerosAfterPanic(t *testing.T) {
	type state struct {
		a []float64
		b *[4]float64
	}
	raw := make([]float64, 6)
	var zeros rev.Zeros[state]
	zeros.Like(&state{a: raw})
	for range 2 {
		if panicOf(func() { zeros.Like(&state{raw[:3], (*[4]float64)(raw[1:])}) }) == nil {
			t.Error("operands that share storage do not panic")
		}
	}
	if z := zeros.Like(&state{a: raw[:2]}); len(z.a) != 2 || z.b != nil {
		t.Errorf("the next state is %v", z)
	}
}

// TestZeroLikeProgram takes the gradient of a program whose state has views of one
// vector of parameters, and compares it with that of each view alone.
func TestZeroLikeProgram(t *testing.T) {
	type state struct {
		params []float64
		a      rev.General[float64]
		x, y   rev.Vector[float64]
		out    float64
	}
	p := []float64{1, 2, 3, 4, 5, 6}
	s := &state{
		params: p,
		a:      rev.NewGeneral(2, 2, p[:4]),
		x:      rev.ViewSlice(p[4:]),
		y:      rev.ViewSlice(make([]float64, 2)),
	}
	prog := rev.Seq(
		rev.At(func(s *state) matVec { return matVec{Y: s.y, A: s.a, X: s.x} }),
		rev.At(func(s *state) halfSquare { return halfSquare{Out: &s.out, X: s.y, A: s.x} }),
	)
	g := rev.ZeroLike(s)
	value, err := rev.ValueGradient(prog, func(s *state) *float64 { return &s.out }, s, g)
	// y = (17, 39), r = y - x = (12, 33)
	want := []float64{12 * 5, 12 * 6, 33 * 5, 33 * 6, 12*1 + 33*3 - 12, 12*2 + 33*4 - 33}
	if err != nil || value != (12*12+33*33)/2.0 || !slices.Equal(g.params, want) {
		t.Errorf("value %v, error %v, gradient\n%v, want\n%v", value, err, g.params, want)
	}
}

// Zeros uses its memory again, and gives what ZeroLike gives.
func TestZeros(t *testing.T) {
	type layer struct {
		W, Twin []float64
		Index   []int
		N       int
		Loss    float64
		Next    *layer
	}
	w := []float64{1, 2, 3}
	s := &layer{W: w, Twin: w[1:], Index: []int{4}, N: 5, Loss: 6, Next: &layer{W: []float64{7}}}
	var z rev.Zeros[layer]
	first := z.Like(s)
	for range 2 {
		first.W[1], first.Loss, first.Next.W[0], first.N = 8, 9, 10, 11
		s.N++
		if got := z.Like(s); got != first || !reflect.DeepEqual(got, rev.ZeroLike(s)) || &got.W[1] != &got.Twin[0] {
			t.Errorf("got %+v, want %+v", got, rev.ZeroLike(s))
		}
	}
	if n := testing.AllocsPerRun(10, func() { z.Like(s) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	s.Next.W = []float64{1, 2}
	if got := z.Like(s); got == first || !reflect.DeepEqual(got, rev.ZeroLike(s)) {
		t.Errorf("after a change: got %+v, want %+v", got, rev.ZeroLike(s))
	}
}

// The values of a map get storage of their own, and the same map stays one.
func TestZeroLikeMaps(t *testing.T) {
	type layer struct {
		W    *mat.VecDense
		Bias float64
	}
	type state struct {
		params  map[string]*mat.VecDense
		same    map[string]*mat.VecDense
		layers  map[int]layer
		weights map[string]float64
		lists   []map[string][]float64
		self    map[string]any
		none    map[string]float64
		out     float64
	}
	w, b := mat.NewVecDense(2, []float64{1, 2}), mat.NewVecDense(2, []float64{3, 4})
	s := &state{
		params:  map[string]*mat.VecDense{"w": w, "b": b},
		layers:  map[int]layer{7: {W: w, Bias: 5}},
		weights: map[string]float64{"a": 6},
		lists:   []map[string][]float64{{"x": {7, 8}}},
		self:    map[string]any{"b": b},
	}
	s.same = s.params
	s.self["self"] = s.self

	prog := rev.At(func(s *state) halfSquare {
		return halfSquare{Out: &s.out, X: rev.ViewVec(s.params["w"]), A: rev.ViewVec(s.params["b"])}
	})
	var z rev.Zeros[state]
	for range 8 { // maps change their order
		g := z.Like(s)
		value, err := rev.ValueGradient(prog, func(s *state) *float64 { return &s.out }, s, g)
		if err != nil || value != 4 || !slices.Equal(g.params["w"].RawVector().Data, []float64{-2, -2}) {
			t.Fatalf("value %v, error %v, gradient %v", value, err, g.params["w"])
		}
		if w.AtVec(0) != 1 || s.weights["a"] != 6 || s.lists[0]["x"][1] != 8 {
			t.Fatalf("the state has changed: %+v", s)
		}
		if g.same["b"] != g.params["b"] || g.layers[7].W != g.params["w"] || g.self["b"] != g.params["b"] {
			t.Error("what shares storage in the state does not share it in the result")
		}
		g.same["new"] = nil
		if _, ok := g.params["new"]; !ok {
			t.Error("one map has become two")
		}
		if inner, ok := g.self["self"].(map[string]any); !ok || reflect.ValueOf(inner).Pointer() != reflect.ValueOf(g.self).Pointer() {
			t.Error("a map that holds itself does not do so in the result")
		}
		if g.layers[7].Bias != 0 || g.weights["a"] != 0 || len(g.weights) != 1 || g.lists[0]["x"][1] != 0 || g.none != nil {
			t.Errorf("not zero: %+v", g)
		}
	}
	first := &z.Like(s).params["w"].RawVector().Data[0]
	if again := &z.Like(s).params["w"].RawVector().Data[0]; again != first {
		t.Error("the numbers in a map get new memory each time")
	}
}
