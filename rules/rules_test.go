package rules

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
)

// problem returns operands and derivatives of a rule.
func problem(r *Rule, seed uint64) Args {
	part := func(n uint64) []Buffer {
		return r.Example(rand.New(rand.NewPCG(seed, n)), 3, 4).Operands
	}
	a := r.Example(rand.New(rand.NewPCG(seed, 1)), 3, 4)
	a.Cotangents, a.Tangents, a.CotangentTangents = part(2), part(3), part(4)
	return a
}

// numbers returns the elements of buffers that are numbers.
func numbers(list ...[]Buffer) (x []float64) {
	for _, bs := range list {
		for _, b := range bs {
			if b.Data == nil {
				continue
			}
			switch b.Type {
			case Float64:
				x = append(x, Elements[float64](b)...)
			case Float32:
				for _, v := range Elements[float32](b) {
					x = append(x, float64(v))
				}
			case Q43:
				for _, v := range Elements[fixed.Q43](b) {
					x = append(x, v.Float64())
				}
			case Complex128:
				for _, v := range Elements[complex128](b) {
					x = append(x, real(v), imag(v))
				}
			}
		}
	}
	return x
}

// Call does what the methods of the kernels do.
func TestCall(t *testing.T) {
	for _, r := range All() {
		if r.Missing != "" {
			continue
		}
		for _, p := range r.Passes {
			a := problem(r, 1)
			callErr := r.Call(p, a)

			// The methods take kernels; Gradient is a function.
			direct := problem(r, 1)
			var in []reflect.Value
			name := p.String()
			if p == Gradient {
				if r.InPlace {
					continue
				}
				name = "Adjoint" // which does the same to cotangents
			}
			k := reflect.New(r.instance.Type).Elem()
			set := func(v reflect.Value, list []Buffer, primal bool) {
				for i := range r.Operands {
					o := &r.Operands[i]
					if o.structure || list[i].Data == nil {
						continue
					}
					if err := o.set(v.Addr().UnsafePointer(), &list[i], primal); err != nil {
						t.Fatal(err)
					}
				}
			}
			set(k, direct.Operands, true)
			for _, s := range r.structures {
				k.FieldByName(s.name).Set(reflect.ValueOf(r.instance.New(rand.New(rand.NewPCG(1, 1)), 3, 4)).FieldByName(s.name))
			}
			for i, v := range direct.Params {
				if err := r.Params[i].set(k.Addr().UnsafePointer(), v); err != nil {
					t.Fatal(err)
				}
			}
			n := map[string]int{"Adjoint": 1, "Tangent": 1, "AdjointTangent": 3}[name]
			parts := [][]Buffer{direct.Cotangents, direct.Tangents, direct.CotangentTangents}
			if name == "Tangent" {
				parts = parts[1:]
			}
			for _, list := range parts[:n] {
				v := reflect.New(r.instance.Type).Elem()
				set(v, list, false)
				in = append(in, v)
			}
			var err error
			for _, v := range k.MethodByName(name).Call(in) {
				err, _ = v.Interface().(error)
			}
			if (err != nil) != (callErr != nil) {
				t.Errorf("%s: %v: %v, and %v by the method", r.Name, p, callErr, err)
			}
			got, want := numbers(a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents), numbers(direct.Operands, direct.Cotangents, direct.Tangents, direct.CotangentTangents)
			if p == Gradient {
				got, want = numbers(a.Cotangents), numbers(direct.Cotangents)
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %d and %d numbers", r.Name, len(got), len(want))
			}
			for i := range got {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Errorf("%s: %v: number %d is %v, want %v", r.Name, p, i, got[i], want[i])
					break
				}
			}
		}
	}
}

// The pullback is the adjoint of the tangent map. It gives the same result each time,
// and does not change the inputs.
func TestVJP(t *testing.T) {
	tolerance := map[Type]float64{Float64: 1e-11, Complex128: 1e-11, Float32: 1e-3, Q43: 1e-9}
	called := 0
	for _, r := range All() {
		if r.Missing != "" {
			continue
		}
		called++
		a := problem(r, 2)
		// Seeds of the problem again, which nothing has changed.
		fresh := problem(r, 2)
		out, pullback, err := r.VJP(a.Operands, a.Params)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		tangents := a.Tangents
		for i, o := range r.Operands {
			if o.role == rev.Acc {
				tangents[i] = Buffer{}
			}
		}
		out2, outTangents, err := r.JVP(a.Operands, tangents, a.Params)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		if x, y := numbers(out), numbers(out2); !equal(x, y) {
			t.Errorf("%s: VJP has the value %v, JVP %v", r.Name, x, y)
		}
		cotangents := make([]Buffer, len(out))
		for i := range out {
			if out[i].Data != nil {
				cotangents[i] = a.Cotangents[i]
			}
		}
		before := numbers(cotangents)
		g, err := pullback(cotangents)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		again, err := pullback(cotangents)
		if err != nil || !equal(numbers(g), numbers(again)) {
			t.Errorf("%s: the second pull back differs: %v", r.Name, err)
		}
		if !equal(numbers(cotangents), before) || !equal(numbers(a.Operands), numbers(fresh.Operands)) {
			t.Errorf("%s: VJP or JVP has changed its arguments", r.Name)
		}
		var left, right, scale float64
		for i, o := range r.Operands {
			x := numbers(outTangents[i : i+1])
			for j, v := range numbers(cotangents[i : i+1]) {
				left += v * x[j]
				scale += math.Abs(v * x[j])
			}
			if o.role == rev.Acc || g[i].Data == nil || a.Tangents[i].Data == nil {
				continue
			}
			y := numbers(a.Tangents[i : i+1])
			for j, v := range numbers(g[i : i+1]) {
				right += v * y[j]
				scale += math.Abs(v * y[j])
			}
		}
		if left == 0 || !(math.Abs(left-right) <= tolerance[r.Type]*scale) {
			t.Errorf("%s: ȳ·Jẋ is %v, Jᵀȳ·ẋ %v", r.Name, left, right)
		}
	}
	if called < 100 {
		t.Errorf("%d rules, want more than 100", called)
	}
}

func equal(x, y []float64) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) {
			return false
		}
	}
	return true
}

func lookup(t testing.TB, name string) *Rule {
	r, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestErrors(t *testing.T) {
	x := []float64{1, 2, 3}
	out := 0.0
	dot := lookup(t, "revlinalg.Dot[float64]")
	if _, err := Lookup("revlinalg.Dot[float16]"); err == nil {
		t.Error("a rule over float16")
	}
	for what, c := range map[string]struct {
		rule   *Rule
		args   Args
		reason string
		is     error
	}{
		"type":      {dot, Args{Operands: []Buffer{Scalar(&out), Slice(x), Slice([]float32{1, 2, 3})}}, "Y of revlinalg.Dot[float64] has elements of float32, want float64", nil},
		"length":    {dot, Args{Operands: []Buffer{Scalar(&out), Slice(x), Slice(x[:2])}}, "length 2", mat.ErrShape},
		"axes":      {dot, Args{Operands: []Buffer{Scalar(&out), Slice(x), Scalar(&out)}}, "0 axes", nil},
		"missing":   {dot, Args{Operands: []Buffer{Scalar(&out), Slice(x)}}, "", mat.ErrShape},
		"no array":  {lookup(t, "revlinalg.RealFFT[complex128]"), Args{}, "X of revlinalg.RealFFT[complex128] is left out", mat.ErrShape},
		"no graph":  {lookup(t, "graphembed.Loss[float64]"), Args{Operands: []Buffer{Scalar(&out), {}, Matrix(rev.NewGeneral(3, 1, x))}}, "Graph of graphembed.Loss[float64] is left out, want edges", mat.ErrShape},
		"workers":   {lookup(t, "revlinalg.MatMul[float64]"), Args{Params: []float64{0, 0, -1}}, "Workers is -1, want 0 or more", nil},
		"overlap":   {dot, Args{Operands: []Buffer{Scalar(&x[1]), Slice(x), Slice(x)}}, "shares memory", rev.ErrOverlap},
		"stride":    {dot, Args{Operands: []Buffer{Scalar(&out), Slice(x), Vector(rev.Vector[float64]{N: 3, Inc: -1, Data: x})}}, "", mat.ErrIllegalStride},
		"memory":    {dot, Args{Operands: []Buffer{Scalar(&out), Slice(x), Vector(rev.Vector[float64]{N: 3, Inc: 2, Data: x})}}, "", mat.ErrShape},
		"too many":  {dot, Args{Operands: make([]Buffer, 4)}, "4 operands", nil},
		"parameter": {lookup(t, "revlinalg.MatMul[float64]"), Args{Params: []float64{2}}, "TransA is 2", nil},
		"column": {
			lookup(t, "revlinalg.Frobenius[float64]"),
			Args{Operands: []Buffer{Scalar(&out), {Data: Slice(x).Data, Len: 3, Type: Float64, Axes: 2, Shape: [2]int{1, 2}, Stride: [2]int{1, 2}}}},
			"a stride of 2 between columns", nil,
		},
		"structure": {
			lookup(t, "revsparse.TriSolve[float64]"),
			Args{Operands: []Buffer{Slice(x[:1]), {Data: Slice(x).Data, Len: 1, Type: Float64, Axes: 2, Shape: [2]int{1, 1}, Sparse: true, Ptr: []int{0, 1}, Ind: []int{5}}, Slice(x[1:2])}},
			"row 0, entry 0: column 5 is not in [0, 1)", nil,
		},
		"no result": {lookup(t, "revlinalg.Log[float64]"), Args{Operands: []Buffer{Slice(x[:1]), Slice([]float64{-1})}}, "", nil},
	} {
		before := append([]float64{out}, x...)
		err := c.rule.Call(Forward, c.args)
		if err == nil || !strings.Contains(err.Error(), c.reason) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q, %v", what, err, c.reason, c.is)
		}
		if !equal(before, append([]float64{out}, x...)) {
			t.Errorf("%s: numbers have changed", what)
		}
	}
	if err := dot.Call(Pass(77), Args{Operands: []Buffer{Scalar(&out), Slice(x), Slice(x)}}); err == nil {
		t.Error("there is a pass 77")
	}
}

// The field Absorbed of wave.Steps is nil in all calls. Only damping over fixed point needs it, and
// returns an error.
func TestNilField(t *testing.T) {
	for name, ok := range map[string]bool{"wave.Steps[float64]": true, "wave.Steps[float32]": true, "wave.Steps[Q43]": false} {
		r := lookup(t, name)
		a := problem(r, 1)
		for i, p := range r.Params {
			switch p.Name {
			case "Damping.Width":
				a.Params[i] = 1
			case "Damping.Loss":
				a.Params[i] = 0.5
			case "Absorbed":
				t.Errorf("%s has a parameter Absorbed", name)
			}
		}
		before := numbers(a.Operands)
		switch err := r.Call(Forward, a); {
		case ok && (err != nil || equal(before, numbers(a.Operands))):
			t.Errorf("%s with damping: %v, and the operands are %v", name, err, numbers(a.Operands))
		case !ok && (err == nil || !strings.Contains(err.Error(), "needs Absorbed")):
			t.Errorf("%s with damping: %v", name, err)
		}
	}
}

// Tangents and cotangents that are left out are zero, also those of operands in place.
func TestLeftOutInPlace(t *testing.T) {
	for _, r := range All() {
		if r.Missing != "" || !r.InPlace {
			continue
		}
		a := problem(r, 4)
		zeros := make([]Buffer, len(r.Operands))
		for i, o := range r.Operands {
			if o.role == rev.In || o.role == rev.InOut {
				zeros[i] = a.Operands[i].dense()
			}
		}
		_, got, err := r.JVP(a.Operands, nil, a.Params)
		_, want, err2 := r.JVP(a.Operands, zeros, a.Params)
		if err != nil || err2 != nil || !equal(numbers(got), numbers(want)) {
			t.Errorf("%s: tangents %v (%v), want %v (%v)", r.Name, numbers(got), err, numbers(want), err2)
		}
		_, pullback, err := r.VJP(a.Operands, a.Params)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		for i, o := range r.Operands {
			if o.role == rev.In {
				zeros[i] = Buffer{}
			}
		}
		g, err := pullback(nil)
		h, err2 := pullback(zeros)
		if err != nil || err2 != nil || !equal(numbers(g), numbers(h)) || len(numbers(g)) == 0 {
			t.Errorf("%s: gradients %v (%v), want %v (%v)", r.Name, numbers(g), err, numbers(h), err2)
		}
	}
}

// An input without memory, as C gives NULL, is an error and changes nothing.
func TestNull(t *testing.T) {
	for turn, r := range All() {
		if r.Missing != "" {
			continue
		}
		want := problem(r, 1)
		for i, o := range r.Operands {
			if b := want.Operands[i]; o.Optional || o.role == rev.Acc || b.size() == 0 {
				continue
			}
			for j, p := range r.Passes {
				if (turn+i+j)%3 > 0 && !long.Tests() {
					continue
				}
				for _, leftOut := range []bool{false, true} {
					a := problem(r, 1)
					b := &a.Operands[i]
					if b.Data, b.Len = nil, 0; leftOut {
						*b = Buffer{}
					}
					var wrong *rev.OperandError
					if err := r.Call(p, a); !errors.As(err, &wrong) && !errors.Is(err, ErrArgument) {
						t.Errorf("%s: %v without %s, left out: %v: %v", r.Name, p, o.Name, leftOut, err)
					}
					a.Operands[i] = want.Operands[i]
					if !equal(numbers(a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents), numbers(want.Operands, want.Cotangents, want.Tangents, want.CotangentTangents)) {
						t.Errorf("%s: %v without %s changes numbers", r.Name, p, o.Name)
					}
				}
			}
		}
	}
}

// A matrix of one column may have any stride between columns.
func TestOneColumn(t *testing.T) {
	x, out := []float64{3, 4}, 0.0
	m := Buffer{Data: Slice(x).Data, Len: 2, Type: Float64, Axes: 2, Shape: [2]int{2, 1}, Stride: [2]int{1, 7}}
	if err := lookup(t, "revlinalg.Frobenius[float64]").Call(Forward, Args{Operands: []Buffer{Scalar(&out), m}}); err != nil || out == 0 {
		t.Errorf("%v, %v", out, err)
	}
}

func BenchmarkCall(b *testing.B) {
	r := lookup(b, "revlinalg.Dot[float64]")
	x, gx, gy := make([]float64, 8), make([]float64, 8), make([]float64, 8)
	out, one := 0.0, 1.0
	k, g := []Buffer{Scalar(&out), Slice(x), Slice(x)}, []Buffer{Scalar(&one), Slice(gx), Slice(gy)}
	for b.Loop() {
		if err := r.Call(Gradient, Args{Operands: k, Cotangents: g}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestElements(t *testing.T) {
	x := []float64{1, 2}
	if got := Elements[float64](Slice(x)); &got[0] != &x[0] || len(got) != 2 {
		t.Errorf("other elements: %v", got)
	}
	defer func() {
		if err, _ := recover().(*rev.OperandError); !errors.Is(err, ErrArgument) {
			t.Errorf("elements of another type: %v", err)
		}
	}()
	Elements[float32](Slice(x))
}

// A prepared pass does what Call does, as often as it is called.
func TestPrepare(t *testing.T) {
	for _, r := range All() {
		if r.Missing != "" {
			continue
		}
		for _, p := range r.Passes {
			a, b := problem(r, 1), problem(r, 1)
			run, err := r.Prepare(p, b)
			if err != nil {
				t.Fatal(r.Name, p, err)
			}
			for range 2 {
				if want, got := r.Call(p, a), run(); (want == nil) != (got == nil) {
					t.Fatal(r.Name, p, want, got)
				}
			}
			want := numbers(a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents)
			got := numbers(b.Operands, b.Cotangents, b.Tangents, b.CotangentTangents)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%s %v: number %d is %v, want %v", r.Name, p, i, got[i], want[i])
				}
			}
		}
	}
	dot := lookup(t, "revlinalg.Dot[float64]")
	var wrong *rev.OperandError
	if _, err := dot.Prepare(Forward, Args{}); !errors.As(err, &wrong) {
		t.Error("without operands:", err)
	}
	x, y := []float64{1, 2}, []float64{3}
	if _, err := dot.Prepare(Forward, Args{Operands: []Buffer{{}, Slice(x), Slice(y)}}); !errors.As(err, &wrong) && !errors.Is(err, ErrArgument) {
		t.Error("with vectors of two lengths:", err)
	}
	if _, err := dot.Prepare(Pass(9), Args{}); !errors.Is(err, ErrArgument) {
		t.Error("a pass that there is not:", err)
	}
	for _, r := range All() {
		if r.Missing == "" {
			continue
		}
		if _, err := r.Prepare(Forward, Args{}); err == nil || err.Error() != r.Call(Forward, Args{}).Error() {
			t.Error("a rule that cannot be called:", err)
		}
	}
}
