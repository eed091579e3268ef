package rev_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// state is the state of the programs in these tests.
type state struct {
	v [12]float64
	n [4]int
}

// Steps on the elements of v and n.

func waveAt(y, a, b int) rev.Step[state] {
	return rev.At(func(s *state) wave { return wave{&s.v[y], &s.v[a], &s.v[b]} })
}

func rotateAt(x, y, theta int) rev.Step[state] {
	return rev.At(func(s *state) rotate { return rotate{&s.v[x], &s.v[y], &s.v[theta]} })
}

func rotateOnlyAt(x, y, theta int) rev.Step[state] {
	return rev.At(func(s *state) rotateOnly { return rotateOnly{&s.v[x], &s.v[y], &s.v[theta]} })
}

func rootAt(y, a int) rev.Step[state] {
	return rev.At(func(s *state) root { return root{&s.v[y], &s.v[a]} })
}

func countAt(n, by int) rev.Step[state] {
	return rev.At(func(s *state) count { return count{&s.n[n], by} })
}

// rowAt turns the pair that n[1] selects.
func rowAt(theta int) rev.Step[state] {
	return rev.AtIndex(func(s, v *state) rotate {
		return rotate{&v.v[2*s.n[1]], &v.v[2*s.n[1]+1], &v.v[theta]}
	})
}

func times3(*state) int { return 3 }

// index returns the function that finds n[i].
func index(i int) func(s *state) *int {
	return func(s *state) *int { return &s.n[i] }
}

// nop is the step that does nothing.
var nop rev.Step[state]

func slot(i int) func(s *state) []float64 {
	return func(s *state) []float64 { return s.v[i : i+1] }
}

// steps has a program for each combinator, and combinations of them. v[10] and
// v[11] are ancillas.
var steps = []struct {
	name string
	step rev.Step[state]
}{
	{"At", waveAt(0, 1, 2)},
	{"At same operands", waveAt(0, 1, 1)},
	{"At in place", rotateAt(0, 1, 2)},
	{"At that may fail", rootAt(0, 1)},
	{"AtIndex", rowAt(8)},
	{"zero Step", nop},
	{"empty Seq", rev.Seq[state]()},
	{"Seq with a zero Step", rev.Seq(waveAt(0, 1, 2), nop)},
	{"Seq", rev.Seq(waveAt(0, 1, 2), rotateAt(0, 1, 3), rootAt(2, 4), waveAt(3, 0, 1))},
	{"Uncall", rev.Uncall(rev.Seq(waveAt(0, 1, 2), rotateAt(0, 1, 3), waveAt(3, 0, 1)))},
	{"Uncall in Uncall", rev.Uncall(rev.Seq(waveAt(0, 1, 2), rev.Uncall(rev.Seq(rotateAt(0, 1, 3), waveAt(4, 0, 1)))))},
	{"Repeat", rev.Repeat(times3, rev.Seq(waveAt(0, 1, 2), rotateAt(1, 2, 0)))},
	{"Repeat never", rev.Repeat(func(*state) int { return 0 }, waveAt(0, 1, 2))},
	{"For", rev.For(times3, index(1), rev.Seq(rowAt(8), waveAt(9, 6, 7)))},
	{"For never", rev.For(func(*state) int { return 0 }, index(1), rowAt(8))},
	{"For in For", rev.For(times3, index(0), rev.For(func(s *state) int { return s.n[0] }, index(1), rowAt(8)))},
	{"If then", rev.If(isZero(0), isZero(0), waveAt(0, 1, 2), rotateAt(0, 1, 3))},
	{"If else", rev.If(isZero(1), isZero(1), waveAt(0, 1, 2), rotateAt(0, 1, 3))},
	{"If without else", rev.If(isZero(1), isZero(1), waveAt(0, 1, 2), nop)},
	{"If with another postcondition", rev.If(
		func(s *state) bool { return s.n[0] == 0 }, func(s *state) bool { return s.n[0] == 7 },
		rev.Seq(countAt(0, 7), waveAt(0, 1, 2)), rotateAt(0, 1, 3))},
	{"While", rev.While(
		func(s *state) bool { return s.n[0] < 3 }, func(s *state) bool { return s.n[0] > 0 },
		rev.Seq(waveAt(0, 1, 2), rotateAt(1, 2, 0), countAt(0, 1)))},
	{"While over rows", rev.While(
		func(s *state) bool { return s.n[1] < 3 }, func(s *state) bool { return s.n[1] > 0 },
		rev.Seq(rowAt(8), countAt(1, 1)))},
	{"Routine", rev.Routine(waveAt(10, 0, 1), waveAt(2, 10, 3), slot(10))},
	{"Routine in place", rev.Routine(
		rev.Seq(rotateAt(0, 1, 3), waveAt(10, 0, 4), rotateAt(4, 5, 10)),
		rev.Seq(waveAt(2, 10, 5), rotateAt(6, 7, 10)), slot(10))},
	{"Routine in Routine", rev.Routine(
		rev.Seq(rev.Routine(waveAt(11, 0, 1), waveAt(10, 11, 2), slot(11)), rotateAt(0, 1, 10)),
		waveAt(3, 10, 0), slot(10))},
	{"Parallel", rev.Parallel(
		rev.Seq(waveAt(0, 8, 9), rotateAt(0, 1, 8)),
		rev.Seq(rotateAt(2, 3, 8), waveAt(2, 8, 9)),
		waveAt(4, 9, 9))},
	{"ParallelShared", rev.ParallelShared([]func(*state) []float64{slot(8), slot(9)},
		rev.Seq(waveAt(0, 8, 9), rotateAt(0, 1, 8)),
		rev.Seq(rotateAt(2, 3, 8), waveAt(2, 8, 9)),
		waveAt(4, 9, 9))},
	{"ParallelShared in ParallelShared", rev.ParallelShared([]func(*state) []float64{slot(8)},
		rev.ParallelShared([]func(*state) []float64{slot(8), slot(6)},
			waveAt(0, 8, 6), waveAt(1, 8, 6)),
		rev.Parallel(waveAt(2, 8, 8), waveAt(3, 8, 9)))},
	{"Call", rev.Call(new(waveAt(0, 1, 2)))},
}

// isZero returns the condition i == 0, of no state: s.n stays as it is.
func isZero(i int) func(*state) bool { return func(*state) bool { return i == 0 } }

func randomState(rnd *rand.Rand) *state {
	s := new(state)
	for i := range s.v[:10] {
		s.v[i] = 0.5 + rnd.Float64()
	}
	return s
}

// randomDerivative returns cotangents or tangents of a state: none of ancillas.
func randomDerivative(rnd *rand.Rand) *state {
	s := new(state)
	for i := range s.v[:10] {
		s.v[i] = rnd.NormFloat64()
	}
	return s
}

func plus(s *state, h float64, t *state) *state {
	r := *s
	for i := range r.v[:10] {
		r.v[i] += float64(h * t.v[i])
	}
	return &r
}

func dot(a, b *state) (s float64) {
	for i, v := range a.v[:10] {
		s += float64(v * b.v[i])
	}
	return s
}

// distance returns ‖a - b‖∞ over the elements that are no ancillas, relative to
// the larger of 1 and ‖b‖∞.
func distance(a, b *state) float64 {
	d, m := 0.0, 1.0
	for i, v := range a.v[:10] {
		d = max(d, math.Abs(v-b.v[i]))
		m = max(m, math.Abs(b.v[i]))
	}
	if a.n != b.n {
		return math.Inf(1)
	}
	return d / m
}

const (
	roundoff = 1e-12 // of a few dozen operations
	central  = 1e-7  // of a central difference with step h
	h        = 1e-5
)

// checkStep tests all methods of p, from the state s, against each other and
// against central differences.
func checkStep(t *testing.T, p rev.Step[state], s *state, rnd *rand.Rand) {
	t.Helper()
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	near := func(what string, got, want *state, tol float64) {
		t.Helper()
		if d := distance(got, want); !(d <= tol) {
			t.Errorf("%s: off by %.2g\n got %v\nwant %v", what, d, got, want)
		}
	}
	forward := func(s *state) *state {
		r := *s
		do(p.Forward(&r))
		return &r
	}

	end := forward(s)
	x := *end
	do(p.Inverse(&x))
	near("Inverse", &x, s, roundoff)

	t0 := randomDerivative(rnd)
	x, tt := *s, *t0
	do(p.Tangent(&x, &tt))
	t1 := tt
	t1.n = [4]int{}
	near("state after Tangent", &x, end, 0)
	up, down := forward(plus(s, h, t0)), forward(plus(s, -h, t0))
	var diff state
	for i := range diff.v {
		diff.v[i] = (up.v[i] - down.v[i]) / (2 * h)
	}
	near("Tangent against differences", &t1, &diff, central)

	g1 := randomDerivative(rnd)
	x, g := *end, *g1
	do(p.Adjoint(&x, &g))
	g0 := g
	g0.n = [4]int{}
	near("state after Adjoint", &x, s, roundoff)
	if a, b := dot(g1, &t1), dot(&g0, t0); !(math.Abs(a-b) <= 10*roundoff*max(1, math.Abs(a))) {
		t.Errorf("⟨ḡ, J·ṫ⟩ = %v, ⟨Jᵀ·ḡ, ṫ⟩ = %v", a, b)
	}
	do(rev.Uncall(p).Adjoint(&x, &g))
	near("state after Adjoint of Uncall", &x, end, roundoff)
	near("Adjoint of Uncall", &g, g1, roundoff)

	x = *end
	do(rev.Uncall(p).Tangent(&x, &tt))
	near("state after Tangent of Uncall", &x, s, roundoff)
	near("Tangent of Uncall", &tt, t0, roundoff)

	// The derivative of Adjoint in the direction of the tangents.
	gt1 := randomDerivative(rnd)
	adjointAt := func(h float64) *state {
		x, g := *forward(plus(s, h, t0)), *plus(g1, h, gt1)
		do(p.Adjoint(&x, &g))
		return &g
	}
	x, g, tt = *s, *g1, *t0
	gt := *gt1
	do(p.Tangent(&x, &tt))
	do(p.AdjointTangent(&x, &g, &tt, &gt))
	gt.n = g.n
	near("state after AdjointTangent", &x, s, roundoff)
	near("g after AdjointTangent", &g, adjointAt(0), roundoff)
	near("t after AdjointTangent", &tt, t0, roundoff)
	up, down = adjointAt(h), adjointAt(-h)
	for i := range diff.v {
		diff.v[i] = (up.v[i] - down.v[i]) / (2 * h)
	}
	diff.n = gt.n
	near("AdjointTangent against differences", &gt, &diff, 10*central)
	do(rev.Uncall(p).AdjointTangent(&x, &g, &tt, &gt))
	gt.n = [4]int{}
	near("state after AdjointTangent of Uncall", &x, end, roundoff)
	near("g after AdjointTangent of Uncall", &g, g1, roundoff)
	near("gt after AdjointTangent of Uncall", &gt, gt1, roundoff)
}

func TestSteps(t *testing.T) {
	for _, test := range steps {
		t.Run(test.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 4))
			for range 3 {
				s := randomState(rnd)
				checkStep(t, test.step, s, rnd)
				if err := test.step.Forward(s); err != nil {
					t.Fatal(err)
				}
				checkStep(t, rev.Uncall(test.step), s, rnd)
			}
		})
	}
}

func TestUncallTwice(t *testing.T) {
	p := waveAt(0, 1, 2)
	if rev.Uncall(rev.Uncall(p)) != p {
		t.Error("Uncall(Uncall(p)) is not p")
	}
}

// TestUncallOrder has a program whose result depends on the order of steps.
func TestUncallOrder(t *testing.T) {
	a, b := waveAt(0, 1, 2), rotateAt(0, 1, 3)
	rnd := rand.New(rand.NewPCG(5, 6))
	s := randomState(rnd)
	x, y := *s, *s
	_ = rev.Uncall(rev.Seq(a, b)).Forward(&x)
	_ = b.Inverse(&y)
	_ = a.Inverse(&y)
	if x != y {
		t.Errorf("got %v, want %v", x, y)
	}
}

// TestRandomPrograms tests programs put together at random.
func TestRandomPrograms(t *testing.T) {
	programs := 300
	if testing.Short() {
		programs = 50
	}
	for seed := range programs {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(7, uint64(seed)))
			g := generator{rnd, 0}
			p := g.step(3, []int{0, 1, 2, 3, 4, 5, 6, 7}, []int{8, 9}, []int{10, 11})
			checkStep(t, p, randomState(rnd), rnd)
		})
	}
}

// generator makes random programs.
type generator struct {
	*rand.Rand
	loops int // counters n[0], n[1], ... in use
}

// step returns a program that writes the elements w of v, reads w and r, and
// has the ancillas z.
func (g *generator) step(depth int, w, r, z []int) rev.Step[state] {
	w = slices.Clone(w)
	g.Shuffle(len(w), func(i, j int) { w[i], w[j] = w[j], w[i] })
	reads := slices.Concat(w[2:], r)
	read := func() int { return reads[g.IntN(len(reads))] }
	if depth == 0 {
		if g.IntN(2) == 0 {
			return rotateAt(w[0], w[1], read())
		}
		return waveAt(w[0], read(), read())
	}
	step := func() rev.Step[state] { return g.step(depth-1, w, r, z) }
	split := len(w) >= 6
	halves := func() (a, b []int) { return w[:len(w)/2], w[len(w)/2:] }
	switch k := g.IntN(10); {
	case k == 0:
		return rev.Uncall(step())
	case k == 1:
		n := g.IntN(3)
		return rev.Repeat(func(*state) int { return n }, step())
	case k == 2:
		c := isZero(g.IntN(2))
		return rev.If(c, c, step(), step())
	case k == 3 && g.loops < 4:
		n, i := 1+g.IntN(2), g.loops
		g.loops++
		return rev.Seq(
			rev.While(
				func(s *state) bool { return s.n[i] < n },
				func(s *state) bool { return s.n[i] > 0 },
				rev.Seq(step(), countAt(i, 1))),
			countAt(i, -n))
	case k == 9 && g.loops < 4:
		n, i := g.IntN(3), g.loops
		g.loops++
		return rev.For(func(*state) int { return n }, index(i), step())
	case k == 4 && split && len(z) > 0:
		a, b := halves()
		compute := rev.Seq(waveAt(z[0], a[0], r[0]), g.step(depth-1, a, r, z[1:]))
		copy := rev.Seq(waveAt(b[0], z[0], a[0]), g.step(depth-1, b, slices.Concat(a, r), z[1:]))
		return rev.Routine(compute, copy, slot(z[0]))
	case k == 5 && split:
		a, b := halves()
		return rev.Parallel(g.step(depth-1, a, r, z[:len(z)/2]), g.step(depth-1, b, r, z[len(z)/2:]))
	case k == 6 && split:
		a, b := halves()
		shared := make([]func(*state) []float64, len(r))
		for i, j := range r {
			shared[i] = slot(j)
		}
		return rev.ParallelShared(shared, g.step(depth-1, a, r, z[:len(z)/2]), g.step(depth-1, b, r, z[len(z)/2:]))
	default:
		return rev.Seq(step(), step())
	}
}

// blocks is the kernel y += 2·x of matrices.
type blocks[T int | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128] struct {
	Y rev.General[T] `rev:"acc"`
	X rev.General[T] `rev:"in"`
}

func (k blocks[T]) Run(p rev.Pass[blocks[T]]) error {
	sign := T(1)
	if p.Back {
		sign = 0 - 1
	}
	addTwice(k.Y, sign, k.X)
	addTwice(p.T.Y, sign, p.T.X)
	addTwice(p.G.X, 1, p.G.Y)
	return nil
}

// addTwice adds 2·sign·x to y.
func addTwice[T int | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128](y rev.General[T], sign T, x rev.General[T]) {
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			y.Row(i)[j] += T(sign * 2 * v)
		}
	}
}

// TestUncallElements has the inverse of an accumulating kernel over all types
// that have a sign, with gaps between the rows that stay as they are.
func TestUncallElements(t *testing.T) {
	uncallElements[int](t)
	uncallElements[int8](t)
	uncallElements[int16](t)
	uncallElements[int32](t)
	uncallElements[int64](t)
	uncallElements[float32](t)
	uncallElements[float64](t)
	uncallElements[complex64](t)
	uncallElements[complex128](t)
}

func uncallElements[T int | int8 | int16 | int32 | int64 | float32 | float64 | complex64 | complex128](t *testing.T) {
	type pair struct{ x, y []T }
	p := rev.Uncall(rev.At(func(s *pair) blocks[T] {
		return blocks[T]{
			Y: rev.General[T]{Rows: 2, Cols: 2, Stride: 3, Data: s.y},
			X: rev.General[T]{Rows: 2, Cols: 2, Stride: 2, Data: s.x},
		}
	}))
	newPair := func() (s *pair) {
		return &pair{x: []T{1, 2, 3, 4}, y: []T{10, 20, 30, 40, 50, 60}}
	}
	check := func(what string, got, want []T) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%T: %s is %v, want %v", got, what, got, want)
		}
	}
	s, d := newPair(), newPair()
	if err := p.Tangent(s, d); err != nil {
		t.Fatal(err)
	}
	check("y after Tangent", s.y, []T{8, 16, 30, 34, 42, 60})
	check("tangent of y", d.y, []T{8, 16, 30, 34, 42, 60})
	d = newPair()
	if err := p.Adjoint(s, d); err != nil {
		t.Fatal(err)
	}
	check("y after Adjoint", s.y, []T{10, 20, 30, 40, 50, 60})
	check("cotangent of y", d.y, []T{10, 20, 30, 40, 50, 60})
	check("cotangent of x", d.x, []T{1 - 20, 2 - 40, 3 - 80, 4 - 100})
}

// Undo undoes each pass of a kernel that accumulates and of one in place.
func TestUndo(t *testing.T) {
	q := [12]fixed.Q43{}
	for i := range q {
		q[i] = fixed.Of[fixed.Q43](float64(i) + 0.3)
	}
	sum := func(i int) product[fixed.Q43] { return product[fixed.Q43]{Y: &q[i], A: &q[i+1], B: &q[i+2]} }
	undone(t, sum(0), sum(3), sum(6), sum(9), func() any { return q })
	var x [12]float64
	for i := range x {
		x[i] = float64(i) + 0.5
	}
	turn := func(i int) rotate { return rotate{X: &x[i], Y: &x[i+1], Theta: &x[i+2]} }
	undone(t, turn(0), turn(3), turn(6), turn(9), func() any {
		var near [len(x)]float64
		for i, v := range x {
			near[i] = math.Round(v * 1e9)
		}
		return near
	})
	only := rotateOnly(turn(0))
	g := rotateOnly(turn(3))
	if err := rev.Undo(only, rev.AdjointPass(&only, &g)); !errors.Is(err, rev.ErrUnsupported) {
		t.Errorf("rotateOnly: %v, want ErrUnsupported", err)
	}
}

// undone checks that Undo gives back all numbers.
func undone[K rev.Kernel[K]](t *testing.T, k, g, d, gd K, numbers func() any) {
	t.Helper()
	for _, p := range []rev.Pass[K]{rev.ForwardPass(&k), rev.InversePass(&k), rev.AdjointPass(&k, &g), rev.TangentPass(&k, &d), rev.AdjointTangentPass(&k, &g, &d, &gd)} {
		before := numbers()
		if err := k.Run(p); err != nil {
			t.Error(err)
		}
		if numbers() == before {
			t.Errorf("%T does nothing", k)
		}
		if err := rev.Undo(k, p); err != nil || numbers() != before {
			t.Errorf("%T: %v: %v, want %v", k, err, numbers(), before)
		}
	}
}

// Steps run on their own states only: Go converts between the types of a type parameter that no field has.
func TestNoConversion(t *testing.T) {
	type other [9]int
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[rev.Step[state]](), reflect.TypeFor[rev.Step[other]]()},
		{reflect.TypeFor[rev.Zeros[state]](), reflect.TypeFor[rev.Zeros[other]]()},
	} {
		if pair[0].ConvertibleTo(pair[1]) {
			t.Errorf("%v converts to %v", pair[0], pair[1])
		}
	}
	var _ map[rev.Step[state]]bool // keys can be compared
}
