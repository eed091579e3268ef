package rev_test

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// TestConstants has tangents of constants of every form.
func TestConstants(t *testing.T) {
	type constants struct {
		y, x    float64
		alpha   float64              `rev:"const"`
		z       complex64            `rev:"const"`
		q       fixed.Q43            `rev:"const"`
		pointer *float64             `rev:"const"`
		slice   []float64            `rev:"const"`
		array   [2]float32           `rev:"const"`
		view    rev.General[float64] `rev:"const"`
		vec     *mat.VecDense        `rev:"const"`
		matrix  mat.Matrix           `rev:"const"`
		n       int                  `rev:"const"`
		ints    []int                `rev:"const"`
	}
	p := rev.At(func(s *constants) product[float64] { return product[float64]{&s.y, &s.alpha, &s.x} })
	one := 1.0
	newState := func() *constants {
		return &constants{
			x: 3, alpha: 2, z: 1i, q: 1, pointer: &one, slice: []float64{0, 1}, array: [2]float32{1, 1},
			view: rev.NewGeneral(1, 2, []float64{1, 1}), vec: mat.NewVecDense(2, []float64{1, 1}), matrix: mat.NewDense(1, 1, []float64{1}),
			n: 5, ints: []int{1},
		}
	}
	for _, test := range []struct {
		field string // "" if there is no error
		set   func(t, s *constants)
	}{
		{"", func(t, s *constants) {}},
		{"", func(t, s *constants) { t.x, t.y = 1, 1 }},
		{"", func(t, s *constants) { *t = constants{n: 7, ints: s.ints} }},
		{"alpha", func(t, s *constants) { t.alpha = 1 }},
		{"z", func(t, s *constants) { t.z = 1i }},
		{"q", func(t, s *constants) { t.q = -1 }},
		{"pointer", func(t, s *constants) { t.pointer = s.pointer }},
		{"slice", func(t, s *constants) { t.slice = s.slice }},
		{"array", func(t, s *constants) { t.array[1] = 1 }},
		{"view", func(t, s *constants) { t.view = s.view }},
		{"vec", func(t, s *constants) { t.vec = s.vec }},
		{"matrix", func(t, s *constants) { t.matrix = s.matrix }},
	} {
		s := newState()
		d := rev.ZeroLike(s)
		test.set(d, s)
		check := func(method string, err error) {
			t.Helper()
			want := "the tangent of " + test.field + " of rev_test.constants is not zero"
			if test.field == "" && err != nil || test.field != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %s: error %v", test.field, method, err)
			}
		}
		check("Tangent", p.Tangent(s, d))
		check("AdjointTangent", p.AdjointTangent(s, rev.ZeroLike(s), d, rev.ZeroLike(s)))
		if s.y != 0 || s.x != 3 {
			t.Errorf("%s: state %+v", test.field, s)
		}
	}

	// The gradient by a constant adds up, and is no mistake.
	s := newState()
	g := rev.ZeroLike(s)
	for range 2 {
		if _, err := rev.ValueGradient(p, func(s *constants) *float64 { return &s.y }, s, g); err != nil {
			t.Fatal(err)
		}
		g.y = 0
	}
	if g.alpha != 6 || g.x != 4 {
		t.Errorf("gradient %v and %v, want 6 and 4", g.alpha, g.x)
	}
}
