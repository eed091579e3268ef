package rev_test

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// loss is a scalar program: v[9] += √v[5], in a rotated and mixed state.
var loss = rev.Seq(
	rotateAt(0, 1, 2), waveAt(3, 0, 2), waveAt(5, 3, 1), rootAt(9, 5), rootAt(9, 3),
)

func output(s *state) *float64 { return &s.v[9] }

func TestValueGradient(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomState(rnd)
	s0 := *s
	g := new(state)
	value, err := rev.ValueGradient(loss, output, s, g)
	if err != nil {
		t.Fatal(err)
	}
	if distance(s, &s0) > roundoff {
		t.Error("the state is not as it was")
	}
	at := func(x *state) float64 {
		y := *x
		if err := loss.Forward(&y); err != nil {
			t.Fatal(err)
		}
		return y.v[9]
	}
	if want := at(&s0); value != want {
		t.Errorf("value %v, want %v", value, want)
	}
	for i := range s.v[:10] {
		var e state
		e.v[i] = 1
		want := (at(plus(&s0, h, &e)) - at(plus(&s0, -h, &e))) / (2 * h)
		if !(math.Abs(g.v[i]-want) <= central) {
			t.Errorf("derivative by v[%d] is %v, want %v", i, g.v[i], want)
		}
	}
}

// counting is the kernel y += a, and with two outputs z += a as well, that counts
// its passes.
type counting struct {
	Y, Z   *float64 `rev:"acc"`
	A      *float64 `rev:"in"`
	passes *int
}

func (k counting) Run(p rev.Pass[counting]) error {
	*k.passes++
	sign := float64(p.Sign())
	to(k.Y, float64(sign**k.A))
	to(k.Z, float64(sign**k.A))
	to(p.G.A, val(p.G.Y)+val(p.G.Z))
	return nil
}

// TestValueGradientPasses counts the passes of the last kernel and of the one before.
func TestValueGradientPasses(t *testing.T) {
	var first, last int
	head := rev.At(func(s *state) counting { return counting{Y: &s.v[1], A: &s.v[2], passes: &first} })
	alone := rev.At(func(s *state) counting { return counting{Y: &s.v[9], A: &s.v[1], passes: &last} })
	for _, test := range []struct {
		name   string
		step   rev.Step[state]
		passes [2]int
	}{
		{"kernel", alone, [2]int{0, 1}},
		{"Seq", rev.Seq(head, alone), [2]int{2, 1}},
		{"Seq in Seq", rev.Seq(rev.Seq(head), rev.Seq(head, rev.Seq(alone))), [2]int{4, 1}},
		{"nothing after", rev.Seq(head, alone, nop), [2]int{2, 2}},
		{"Repeat", rev.Repeat(times3, alone), [2]int{0, 6}},
		{"two outputs", rev.At(func(s *state) counting { return counting{&s.v[9], &s.v[8], &s.v[1], &last} }), [2]int{0, 2}},
		{"another output", rev.Seq(alone, rev.At(func(s *state) counting { return counting{Y: &s.v[8], A: &s.v[1], passes: &last} })), [2]int{0, 4}},
	} {
		first, last = 0, 0
		s := randomState(rand.New(rand.NewPCG(1, 2)))
		s.v[9] = 0.1 // 0.1 + a - a is not 0.1
		s0, end := *s, *s
		if err := test.step.Forward(&end); err != nil {
			t.Fatal(err)
		}
		first, last = 0, 0
		g := new(state)
		value, err := rev.ValueGradient(test.step, output, s, g)
		if err != nil || value != end.v[9] {
			t.Errorf("%s: value %v, want %v, error %v", test.name, value, end.v[9], err)
		}
		if got := [2]int{first, last}; got != test.passes {
			t.Errorf("%s: passes %v, want %v", test.name, got, test.passes)
		}
		if test.passes[1] == 1 && s.v[9] != s0.v[9] {
			t.Errorf("%s: the output is %v, want the bits of %v", test.name, s.v[9], s0.v[9])
		}
		if distance(s, &s0) > roundoff {
			t.Errorf("%s: the state is not as it was", test.name)
		}
		if g.v[9] != 1 || g.v[1] == 0 {
			t.Errorf("%s: gradient %v", test.name, g.v)
		}
	}
}

// TestValueGradientPath has errors of every place in a program.
func TestValueGradientPath(t *testing.T) {
	boom := errors.New("boom")
	fuse := 0
	mark := rev.At(func(s *state) fuseKernel {
		return fuseKernel{&s.v[9], &s.v[1], func() error {
			if fuse--; fuse == 0 {
				return boom
			}
			return nil
		}}
	})
	const at = ".At(rev_test.fuseKernel)"
	for _, test := range []struct {
		step  rev.Step[state]
		paths map[string]int // how often each path fails
	}{
		{
			rev.Seq(mark, rev.Seq(mark, mark), rev.Repeat(times3, mark), rev.Seq(mark, mark)),
			map[string]int{"Seq[0]" + at: 2, "Seq[1].Seq[0]" + at: 2, "Seq[1].Seq[1]" + at: 2, "Seq[2].Repeat" + at: 6, "Seq[3].Seq[0]" + at: 2, "Seq[3].Seq[1]" + at: 1},
		},
		{rev.Seq(mark, rev.Repeat(times3, mark)), map[string]int{"Seq[0]" + at: 2, "Seq[1].Repeat" + at: 6}},
	} {
		paths := map[string]int{}
		s := randomState(rand.New(rand.NewPCG(1, 2)))
		for n := 1; ; n++ {
			fuse = n
			x := *s
			_, err := rev.ValueGradient(test.step, output, &x, new(state))
			if distance(&x, s) > roundoff {
				t.Errorf("failure at kernel run %d: the state is not as it was", n)
			}
			if err == nil {
				break
			}
			var e *rev.StepError
			if !errors.Is(err, boom) || !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			paths[e.Step]++
		}
		if !maps.Equal(paths, test.paths) {
			t.Errorf("failures %v, want %v", paths, test.paths)
		}
	}
}

// TestKernelFunctions runs kernels by themselves.
func TestKernelFunctions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var y float64
	if err := rev.AdjointTangent(add[float64]{Y: &y, By: 1}, add[float64]{}, add[float64]{}, add[float64]{}); !errors.Is(err, rev.ErrUnsupported) || y != 0 {
		t.Errorf("no second order: error %v, y = %v", err, y)
	}
	bind := func(s *state) wave { return wave{&s.v[0], &s.v[1], &s.v[2]} }
	place := func(s *state) rotate { return rotate{&s.v[0], &s.v[1], &s.v[2]} }
	for range 3 {
		s, g, tt, gt := randomState(rnd), randomDerivative(rnd), randomDerivative(rnd), randomDerivative(rnd)
		kernelFunctions(t, rev.At(bind), bind, s, g, tt, gt)
		kernelFunctions(t, rev.At(place), place, s, g, tt, gt)

		// Gradient does not invert kernels that accumulate, and takes one pass.
		x, y, z := *s, *g, *g
		do(rev.Gradient(bind(&x), bind(&y)))
		end := *s
		do(rev.Forward(bind(&end)))
		do(rev.Adjoint(bind(&end), bind(&z)))
		do(rev.Forward(bind(s)))
		if x != *s || y != z {
			t.Errorf("Gradient: %v and %v, want %v and %v", x, y, s, z)
		}
		var passes int
		do(rev.Gradient(counting{Y: &s.v[0], A: &s.v[1], passes: &passes}, counting{}))
		if passes != 1 {
			t.Errorf("Gradient takes %d passes", passes)
		}
	}
}

// kernelFunctions compares the functions of a kernel with the methods of its step.
func kernelFunctions[K rev.Kernel[K]](t *testing.T, p rev.Step[state], bind func(s *state) K, s, g, tt, gt *state) {
	t.Helper()
	for _, run := range []struct {
		name           string
		kernel, method func(s, g, t, gt *state) error
	}{
		{"Forward", func(s, _, _, _ *state) error { return rev.Forward(bind(s)) }, func(s, _, _, _ *state) error { return p.Forward(s) }},
		{"Inverse", func(s, _, _, _ *state) error { return rev.Inverse(bind(s)) }, func(s, _, _, _ *state) error { return p.Inverse(s) }},
		{"Adjoint", func(s, g, _, _ *state) error { return rev.Adjoint(bind(s), bind(g)) }, func(s, g, _, _ *state) error { return p.Adjoint(s, g) }},
		{"Tangent", func(s, _, tt, _ *state) error { return rev.Tangent(bind(s), bind(tt)) }, func(s, _, tt, _ *state) error { return p.Tangent(s, tt) }},
		{"AdjointTangent", func(s, g, tt, gt *state) error { return rev.AdjointTangent(bind(s), bind(g), bind(tt), bind(gt)) },
			p.AdjointTangent},
		{"Gradient", func(s, g, _, _ *state) error { return rev.Gradient(bind(s), bind(g)) },
			func(s, g, _, _ *state) error {
				if err := p.Forward(s); err != nil {
					return err
				}
				if err := p.Adjoint(s, g); err != nil {
					return err
				}
				return p.Forward(s)
			}},
	} {
		a, b := [4]state{*s, *g, *tt, *gt}, [4]state{*s, *g, *tt, *gt}
		if err := run.kernel(&a[0], &a[1], &a[2], &a[3]); err != nil {
			t.Fatal(err)
		}
		if err := run.method(&b[0], &b[1], &b[2], &b[3]); err != nil {
			t.Fatal(err)
		}
		for i := range a {
			if distance(&a[i], &b[i]) > roundoff {
				t.Errorf("%T: %s: argument %d is %v, want %v", *new(K), run.name, i, a[i].v, b[i].v)
			}
		}
	}
}

// TestGradientFails has kernels that fail in each of their passes.
func TestGradientFails(t *testing.T) {
	y, a := 0.0, -1.0
	if err := rev.Gradient(root{&y, &a}, root{new(float64), new(float64)}); !errors.Is(err, errRoot) || y != 0 {
		t.Errorf("error %v, y = %v", err, y)
	}
	boom := errors.New("boom")
	for n := 1; n <= 4; n++ {
		fuse := n
		fail := func() error {
			if fuse--; fuse == 0 {
				return boom
			}
			return nil
		}
		x, gx := 1.0, 1.0
		err := rev.Gradient(doubling{&x, fail}, doubling{&gx, nil})
		switch {
		case n <= 2 && (!errors.Is(err, boom) || x != 1 || gx != 1):
			t.Errorf("pass %d fails: error %v, x = %v, cotangent %v", n, err, x, gx)
		case n == 3 && !errors.Is(err, boom):
			t.Errorf("pass %d fails: error %v", n, err)
		case n == 4 && (err != nil || x != 2 || gx != 2):
			t.Errorf("error %v, x = %v, cotangent %v", err, x, gx)
		}
	}
}

// doubling is the kernel x <- 2x, which may fail.
type doubling struct {
	X    *float64 `rev:"inout"`
	fail func() error
}

func (k doubling) Run(p rev.Pass[doubling]) error {
	if err := k.fail(); err != nil {
		return err
	}
	if p.Back {
		*k.X /= 2
	} else {
		*k.X *= 2
	}
	if p.Adjoint {
		*p.G.X *= 2
	}
	return nil
}

func inputs(s *state) []float64 { return s.v[:6] }

func TestHessian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomState(rnd)
	s0 := *s
	var hess mat.SymDense
	value, err := rev.Hessian(&hess, loss, output, inputs, s)
	if err != nil {
		t.Fatal(err)
	}
	if distance(s, &s0) > roundoff {
		t.Error("the state is not as it was")
	}
	gradient := func(x *state) (float64, *state) {
		y, g := *x, new(state)
		value, err := rev.ValueGradient(loss, output, &y, g)
		if err != nil {
			t.Fatal(err)
		}
		return value, g
	}
	want, _ := gradient(&s0)
	if !(math.Abs(value-want) <= roundoff) {
		t.Errorf("value %v, want %v", value, want)
	}
	for j := range 6 {
		var e state
		e.v[j] = 1
		_, up := gradient(plus(&s0, h, &e))
		_, down := gradient(plus(&s0, -h, &e))
		for i := range 6 {
			want := (up.v[i] - down.v[i]) / (2 * h)
			if got := hess.At(i, j); !(math.Abs(got-want) <= central) {
				t.Errorf("element (%d, %d) is %v, want %v", i, j, got, want)
			}
		}
	}

	// The product with a direction.
	dir := randomDerivative(rnd)
	clear(dir.v[6:])
	g, tt, hv := new(state), *dir, new(state)
	if _, err := rev.HessianVector(loss, output, s, g, &tt, hv); err != nil {
		t.Fatal(err)
	}
	if distance(&tt, dir) > roundoff {
		t.Error("the direction is not as it was")
	}
	var prod mat.VecDense
	prod.MulVec(&hess, mat.NewVecDense(6, dir.v[:6]))
	for i := range 6 {
		if !(math.Abs(prod.AtVec(i)-hv.v[i]) <= roundoff) {
			t.Errorf("product %d is %v, want %v", i, hv.v[i], prod.AtVec(i))
		}
	}

	for _, n := range []int{1, 5, 7} {
		checkPanic(t, "wrong order", mat.ErrShape, func() {
			_, _ = rev.Hessian(mat.NewSymDense(n, nil), loss, output, inputs, s)
		})
	}
	checkPanic(t, "no inputs", mat.ErrZeroLength, func() {
		_, _ = rev.Hessian(new(mat.SymDense), loss, output, func(*state) []float64 { return nil }, s)
	})
}

// TestDriversFail has a program that fails on the way there and on the way
// back, and one without second derivatives.
func TestDriversFail(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := randomState(rnd)
	check := func(name string, p rev.Step[state], want error, run func(p rev.Step[state], s *state) error) {
		t.Helper()
		x := *s
		err := run(p, &x)
		if want == nil {
			var u *rev.Unsupported
			if !errors.As(err, &u) || !errors.Is(err, rev.ErrUnsupported) {
				t.Errorf("%s: error %v, want Unsupported", name, err)
			}
		} else if !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", name, err, want)
		}
		if distance(&x, s) > roundoff {
			t.Errorf("%s: the state is not as it was", name)
		}
	}
	gradient := func(p rev.Step[state], s *state) error {
		_, err := rev.ValueGradient(p, output, s, new(state))
		return err
	}
	hessian := func(p rev.Step[state], s *state) error {
		_, err := rev.Hessian(new(mat.SymDense), p, output, inputs, s)
		return err
	}
	negative := rev.At(func(s *state) add[float64] { return add[float64]{&s.v[5], -100} })
	check("Forward fails", rev.Seq(loss, negative, loss), errRoot, gradient)
	check("Tangent fails", rev.Seq(loss, negative, loss), errRoot, hessian)
	boom := errors.New("boom")
	runs := 0
	back := rev.At(func(s *state) fuseKernel {
		return fuseKernel{&s.v[0], &s.v[1], func() error {
			if runs++; runs%3 == 2 { // the adjoint after Forward or Tangent
				return boom
			}
			return nil
		}}
	})
	check("Adjoint fails", rev.Seq(back, loss), boom, gradient)
	runs = 0
	check("AdjointTangent fails", rev.Seq(back, loss), boom, hessian)
	check("no second derivative", rev.Seq(loss, rotateOnlyAt(0, 1, 2)), nil, hessian)
}

// TestFixedExact has a program over fixed point whose methods invert each other to the
// bit, also where a sum wraps around.
func TestFixedExact(t *testing.T) {
	type numbers struct{ v [6]fixed.Q43 }
	at := func(y, a, b int) rev.Step[numbers] {
		return rev.At(func(s *numbers) product[fixed.Q43] { return product[fixed.Q43]{&s.v[y], &s.v[a], &s.v[b]} })
	}
	body := rev.Seq(at(0, 1, 2), at(1, 2, 3), at(2, 3, 0), at(3, 0, 1))
	p := rev.Seq(
		rev.Repeat(func(*numbers) int { return 1000 }, body),
		rev.Uncall(rev.Seq(at(4, 0, 1), at(0, 4, 3))),
		rev.Routine(at(5, 0, 1), at(4, 5, 5), func(s *numbers) []fixed.Q43 { return s.v[5:] }),
	)
	back := rev.Uncall(p)
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func() (s numbers) {
		for i := range s.v[:5] {
			s.v[i] = fixed.Q43(rnd.Int64N(1<<45) - 1<<44)
		}
		return s
	}
	for range 20 {
		s, g, tt := random(), random(), random()
		s0, g0, t0 := s, g, tt
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(p.Forward(&s))
		if s == s0 {
			t.Fatal("the program does nothing")
		}
		s1 := s
		must(p.Inverse(&s))
		if s != s0 {
			t.Fatalf("Inverse: %v, want %v", s, s0)
		}
		must(p.Tangent(&s, &tt))
		must(back.Tangent(&s, &tt))
		if s != s0 || tt != t0 {
			t.Fatalf("Tangent of Uncall: %v, want %v", tt, t0)
		}
		must(back.Adjoint(&s, &g))
		if s != s1 {
			t.Fatalf("state after Adjoint of Uncall: %v, want %v", s, s1)
		}
		must(p.Adjoint(&s, &g))
		if s != s0 || g != g0 {
			t.Fatalf("Adjoint: %v, want %v", g, g0)
		}
	}

	// One is the number one.
	s, g := numbers{}, numbers{}
	s.v[1], s.v[2] = 3<<43, 5<<42
	value, err := rev.ValueGradient(at(0, 1, 2), func(s *numbers) *fixed.Q43 { return &s.v[0] }, &s, &g)
	if err != nil || value != 15<<42 || g.v[1] != 5<<42 || g.v[2] != 3<<43 {
		t.Errorf("value %d, gradient %v, error %v", value, g.v, err)
	}
}
