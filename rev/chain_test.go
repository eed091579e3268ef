package rev_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/revolve"
	"revnum/rev"
)

// logistic is the kernel y_i += r·x_i·(1-x_i), which is not a bijection.
type logistic[T rev.Real] struct {
	Y    []T `rev:"acc" shape:"n"`
	X    []T `rev:"in" shape:"n"`
	R    *T  `rev:"in"`
	Runs *logisticRuns
	I    int
}

// logisticRuns counts the runs forward, the runs back, and the runs back with
// cotangents. fail is the index of a run that fails.
type logisticRuns struct {
	ahead, back, adjoint int
	of                   map[int]int // ahead, by index
	fail                 int

	states, cotangents map[any]bool // by their first number
}

var errLogistic = errors.New("this run fails")

func (k logistic[T]) Run(p rev.Pass[logistic[T]]) error {
	if k.Runs != nil {
		if k.Runs.fail--; k.Runs.fail == 0 {
			return errLogistic
		}
		if k.Runs.states != nil {
			k.Runs.states[&k.X[0]], k.Runs.states[&k.Y[0]] = true, true
			if p.Adjoint {
				k.Runs.cotangents[&p.G.X[0]], k.Runs.cotangents[&p.G.Y[0]] = true, true
			}
		}
		switch {
		case p.Adjoint:
			k.Runs.adjoint++
		case p.Back:
			k.Runs.back++
		default:
			k.Runs.ahead++
			if k.Runs.of != nil {
				k.Runs.of[k.I]++
			}
		}
	}
	mul := fixed.Product[T]
	sign, one := T(p.Sign()), fixed.Of[T](1)
	g, t, gt := p.G, p.T, p.GT
	for i, x := range k.X {
		q, d := mul(x, one-x), one-2*x
		k.Y[i] += T(sign * mul(*k.R, q))
		if t.Y != nil {
			t.Y[i] += T(sign * (mul(*t.R, q) + mul(*k.R, mul(d, t.X[i]))))
		}
		if g.Y != nil {
			if g.X != nil {
				g.X[i] += mul(*k.R, mul(d, g.Y[i]))
			}
			*g.R += mul(q, g.Y[i])
		}
		if gt.Y != nil {
			gy := g.Y[i]
			gt.X[i] += mul(*k.R, mul(d, gt.Y[i])) + mul(gy, mul(*t.R, d)-mul(2**k.R, t.X[i]))
			*gt.R += mul(q, gt.Y[i]) + mul(gy, mul(d, t.X[i]))
		}
	}
	return nil
}

// herd is a state whose x is a slice. In small, x is a number.
type herd[T rev.Real] struct {
	x, y []T
	r    T
	n, i int
	runs *logisticRuns
}

func herdChain[T rev.Real]() rev.Chain[herd[T], []T] {
	type state = herd[T]
	return rev.Chain[state, []T]{
		Step: rev.AtIndex(func(s, v *state) logistic[T] {
			return logistic[T]{Y: v.y, X: v.x, R: &v.r, Runs: s.runs, I: s.i}
		}),
		X: func(s *state) *[]T { return &s.x }, Y: func(s *state) *[]T { return &s.y },
		Count: func(s *state) int { return s.n }, Index: func(s *state) *int { return &s.i },
	}
}

// online returns the chain without its count.
func online[T rev.Real](c rev.Chain[herd[T], []T]) rev.Chain[herd[T], []T] {
	c.Last = func(s *herd[T]) bool { return s.i == s.n-1 }
	c.Count = nil
	return c
}

func newHerd[T rev.Real](n int) *herd[T] {
	return &herd[T]{
		x: []T{fixed.Of[T](0.3), fixed.Of[T](0.6)}, y: []T{fixed.Of[T](0.125), fixed.Of[T](-2)},
		r: fixed.Of[T](3.2), n: n, i: 77, runs: new(logisticRuns),
	}
}

// recorded returns fⁿ(x), and the gradients of Σ_i w_i·fⁿ(x)_i and of its derivative in
// the direction (dx, dr). It records all states.
func recorded(s *herd[float64], w, dx []float64, dr float64) (f, gx, hx []float64, gr, hr float64) {
	for j, x0 := range s.x {
		xs, ds := []float64{x0}, []float64{dx[j]}
		for i := range s.n {
			x, d := xs[i], ds[i]
			xs = append(xs, s.r*x*(1-x))
			ds = append(ds, float64(dr*x*(1-x))+float64(s.r*(1-2*x)*d))
		}
		f = append(f, xs[s.n])
		bar, dot := w[j], 0.0
		for i := s.n - 1; i >= 0; i-- {
			x, d := xs[i], ds[i]
			gr += float64(x * (1 - x) * bar)
			hr += float64(x*(1-x)*dot) + float64((1-2*x)*d*bar)
			bar, dot = s.r*(1-2*x)*bar, float64(s.r*(1-2*x)*dot)+float64((float64(dr*(1-2*x))-float64(2*s.r*d))*bar)
		}
		gx, hx = append(gx, bar), append(hx, dot)
	}
	return f, gx, hx, gr, hr
}

// chainSteps are the steps of a chain.
func chainSteps[T rev.Real]() map[string]rev.Step[herd[T]] {
	c := herdChain[T]()
	steps := map[string]rev.Step[herd[T]]{
		"sweeps 1": rev.Treeverse(c, rev.Limit{Sweeps: 1}), "sweeps 3": rev.Treeverse(c, rev.Limit{Sweeps: 3}),
	}
	for k := 2; k < 5; k++ {
		steps[fmt.Sprint("Bennett ", k)] = rev.Bennett(c, k)
	}
	for d := 1; d < 6; d++ {
		steps[fmt.Sprint("Treeverse ", d)] = rev.Treeverse(c, rev.Limit{Snapshots: d})
		steps[fmt.Sprint("online ", d)] = rev.Treeverse(online(c), rev.Limit{Snapshots: d})
	}
	return steps
}

// TestChain compares all passes with a record of all states.
func TestChain(t *testing.T) {
	for name, p := range chainSteps[float64]() {
		for _, n := range []int{1, 2, 3, 4, 8, 13, 27, 40} {
			s := newHerd[float64](n)
			g, d, h := rev.ZeroLike(s), rev.ZeroLike(s), rev.ZeroLike(s)
			d.x[0], d.x[1], d.r = 0.5, -1, 0.25
			w := []float64{2, -3}
			f, gx, hx, gr, hr := recorded(s, w, d.x, d.r)
			scale := 1.0
			for j := range gx {
				scale = max(scale, math.Abs(hx[j]), math.Abs(gx[j]), math.Abs(hr), math.Abs(gr))
			}
			check := func(pass string, got, want float64) {
				if !(math.Abs(got-want) <= 1e-13*scale) {
					t.Errorf("%s, n = %d, %s: %v, want %v", name, n, pass, got, want)
				}
			}
			if err := p.Tangent(s, d); err != nil {
				t.Fatal(name, n, err)
			}
			for j := range f {
				check("Forward", s.y[j], newHerd[float64](n).y[j]+f[j])
			}
			check("Tangent", float64(w[0]*d.y[0])+float64(w[1]*d.y[1]), float64(gx[0]*0.5)-gx[1]+float64(gr*0.25))
			copy(g.y, w)
			if err := p.AdjointTangent(s, g, d, h); err != nil {
				t.Fatal(name, n, err)
			}
			for j := range f {
				check("y", s.y[j], newHerd[float64](n).y[j])
				check("ẏ", d.y[j], 0)
				check("ȳ", g.y[j], w[j])
				check("x̄", g.x[j], gx[j])
				check("ġx", h.x[j], hx[j])
			}
			check("r̄", g.r, gr)
			check("ġr", h.r, hr)

			first := rev.ZeroLike(s)
			copy(first.y, w)
			if err := errors.Join(p.Forward(s), p.Adjoint(s, first)); err != nil {
				t.Fatal(name, n, err)
			}
			if first.x[0] != g.x[0] || first.x[1] != g.x[1] || first.r != g.r {
				t.Errorf("%s, n = %d: Adjoint gives %v, AdjointTangent %v", name, n, first, g)
			}
			first.x, first.r = nil, 0
			if err := errors.Join(p.Forward(s), p.Adjoint(s, first)); err != nil || first.r != g.r || first.x != nil {
				t.Errorf("%s, n = %d: without x̄: r̄ = %v, want %v, %v", name, n, first.r, g.r, err)
			}
			if start := newHerd[float64](n); s.i != 77 || s.x[0] != start.x[0] || s.x[1] != start.x[1] {
				t.Errorf("%s, n = %d: x and i are %v and %d after all", name, n, s.x, s.i)
			}
		}
	}
}

// TestChainFixed checks that y comes back to the bit over fixed point.
func TestChainFixed(t *testing.T) {
	for name, p := range chainSteps[fixed.Q43]() {
		s, g := newHerd[fixed.Q43](20), newHerd[fixed.Q43](20)
		want := newHerd[fixed.Q43](20)
		if err := errors.Join(p.Forward(s), p.Adjoint(s, g), p.Forward(s), p.Inverse(s)); err != nil {
			t.Fatal(name, err)
		}
		for j := range s.y {
			if s.y[j] != want.y[j] || s.x[j] != want.x[j] {
				t.Errorf("%s: y is %v, want %v", name, s.y, want.y)
			}
		}
	}
}

// number is a state that holds the number x directly, without a pointer.
type number struct{ x, y, r float64 }

func TestChainOfValues(t *testing.T) {
	c := rev.Chain[number, float64]{
		Step: rev.At(func(s *number) scalarLogistic { return scalarLogistic{&s.y, &s.x, &s.r} }),
		X:    func(s *number) *float64 { return &s.x }, Y: func(s *number) *float64 { return &s.y },
		Count: func(*number) int { return 11 },
	}
	want, _, _, gr, _ := recorded(&herd[float64]{x: []float64{0.3}, r: 3.2, n: 11}, []float64{1}, []float64{0}, 0)
	for name, p := range map[string]rev.Step[number]{"Bennett": rev.Bennett(c, 3), "Treeverse": rev.Treeverse(c, rev.Limit{Snapshots: 2})} {
		s, g := &number{x: 0.3, r: 3.2}, new(number)
		v, err := rev.ValueGradient(p, func(s *number) *float64 { return &s.y }, s, g)
		if err != nil || math.Abs(v-want[0]) > 1e-14 || math.Abs(g.r-gr) > 1e-13*math.Abs(gr) || *s != (number{x: 0.3, r: 3.2}) {
			t.Errorf("%s: value %v, want %v, by r %v, want %v, state %v, error %v", name, v, want[0], g.r, gr, *s, err)
		}
	}
}

type scalarLogistic struct {
	Y    *float64 `rev:"acc"`
	X, R *float64 `rev:"in"`
}

func (k scalarLogistic) Run(p rev.Pass[scalarLogistic]) error {
	x := *k.X
	*k.Y += float64(float64(p.Sign()) * *k.R * x * (1 - x))
	if p.G.Y != nil {
		*p.G.X += float64(*k.R * (1 - 2*x) * *p.G.Y)
		*p.G.R += float64(x * (1 - x) * *p.G.Y)
	}
	return nil
}

// chainPeak makes a pass over a chain, and returns the number of states and of cotangents that it held at a
// time, besides those of s. A chain makes a new one only if all others are held.
func chainPeak(t *testing.T, p rev.Step[herd[float64]], s *herd[float64], back bool) (states, cotangents int) {
	t.Helper()
	r, g := s.runs, rev.ZeroLike(s)
	r.states, r.cotangents = map[any]bool{}, map[any]bool{}
	run := func() error { return p.Forward(s) }
	if back {
		run = func() error { return p.Adjoint(s, g) }
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	delete(r.states, any(&s.x[0]))
	delete(r.states, any(&s.y[0]))
	delete(r.cotangents, any(&g.x[0]))
	delete(r.cotangents, any(&g.y[0]))
	return len(r.states), len(r.cotangents)
}

// TestBennettCost counts steps and states. For n = k^m there are (2k-1)^m steps and
// m(k-1)+2 states.
func TestBennettCost(t *testing.T) {
	for k := 2; k <= 5; k++ {
		n, steps := 1, 1
		for m := 0; n <= 256; m++ {
			if s, held := rev.BennettCost(n, k); s != steps || held != m*(k-1)+2 {
				t.Errorf("n = %d, k = %d: %d steps and %d states, want %d and %d", n, k, s, held, steps, m*(k-1)+2)
			}
			n, steps = n*k, steps*(2*k-1)
		}
		for n := range 80 {
			n++
			p, s := rev.Bennett(herdChain[float64](), k), newHerd[float64](n)
			steps, held := rev.BennettCost(n, k)
			g := rev.ZeroLike(s)
			if err := p.Forward(s); err != nil || s.runs.ahead+s.runs.back != steps {
				t.Errorf("n = %d, k = %d: Forward takes %+v, want %d: %v", n, k, *s.runs, steps, err)
			}
			*s.runs = logisticRuns{}
			if err := p.Adjoint(s, g); err != nil || s.runs.ahead+s.runs.back+s.runs.adjoint != steps || s.runs.adjoint != n {
				t.Errorf("n = %d, k = %d: Adjoint takes %+v, want %d: %v", n, k, *s.runs, steps, err)
			}
			for _, back := range []bool{false, true} {
				if states, _ := chainPeak(t, p, s, back); states+2 != held {
					t.Errorf("n = %d, k = %d: %d states, want %d", n, k, states+2, held)
				}
			}
		}
	}
}

// leastRuns returns the least numbers of runs ahead for chains of up to n steps. It
// tries all first snapshots.
func leastRuns(n, snapshots int) [][]int {
	least := make([][]int, snapshots+1)
	for d := 1; d <= snapshots; d++ {
		least[d] = make([]int, n+1)
		for i := 2; i <= n; i++ {
			least[d][i] = i * (i - 1) / 2
			for m := 1; m < i && d > 1; m++ {
				least[d][i] = min(least[d][i], m+least[d-1][i-m]+least[d][m])
			}
		}
	}
	return least
}

// TestTreeverseCost counts runs and states, and compares them with the least possible.
func TestTreeverseCost(t *testing.T) {
	const most = 90
	least := leastRuns(most, 6)
	for d := 1; d <= 6; d++ {
		for n := 1; n <= most; n++ {
			runs, held := rev.TreeverseCost(n, d)
			if runs != least[d][n] {
				t.Errorf("n = %d, %d snapshots: TreeverseCost is %d, the least is %d", n, d, runs, least[d][n])
			}
			s := newHerd[float64](n)
			s.runs.of = map[int]int{}
			p := rev.Treeverse(herdChain[float64](), rev.Limit{Snapshots: d})
			states, cotangents := chainPeak(t, p, s, true)
			if s.runs.ahead != runs || s.runs.adjoint != n || states+1 != held || cotangents > 2 {
				t.Errorf("n = %d, %d snapshots: %+v with %d states and %d cotangents, want %d runs and %d states", n, d, *s.runs, states+1, cotangents, runs, held)
			}
			for i, times := range s.runs.of {
				if times > revolve.Sweeps(n, d) {
					t.Errorf("n = %d, %d snapshots: step %d ran %d times, want at most %d", n, d, i, times, revolve.Sweeps(n, d))
				}
			}
		}
	}
}

// TestTreeverseLengths checks that τ sweeps with δ snapshots suffice for exactly C(τ+δ, τ)
// steps.
func TestTreeverseLengths(t *testing.T) {
	pascal := [][]int{{1}}
	for i := 1; i < 12; i++ {
		row := make([]int, i+1)
		for j := range row {
			if j < i {
				row[j] += pascal[i-1][j]
			}
			if j > 0 {
				row[j] += pascal[i-1][j-1]
			}
		}
		pascal = append(pascal, row)
	}
	for tau := 1; tau <= 5; tau++ {
		for d := 1; d <= 6; d++ {
			n := pascal[tau+d][tau]
			if revolve.Sweeps(n, d) != tau || revolve.Sweeps(n+1, d) != tau+1 {
				t.Errorf("%d snapshots: %d steps take %d sweeps, one more %d, want %d", d, n, revolve.Sweeps(n, d), revolve.Sweeps(n+1, d), tau)
			}
			bySweeps := newHerd[float64](n)
			states, _ := chainPeak(t, rev.Treeverse(herdChain[float64](), rev.Limit{Sweeps: tau}), bySweeps, true)
			if runs, held := rev.TreeverseCost(n, d); bySweeps.runs.ahead != runs || states+1 != held {
				t.Errorf("%d sweeps of %d steps take %d runs and %d states, want %d and %d of %d snapshots", tau, n, bySweeps.runs.ahead, states+1, runs, held, d)
			}
			for name, p := range map[string]rev.Step[herd[float64]]{
				"count": rev.Treeverse(herdChain[float64](), rev.Limit{Snapshots: d}),
				"last":  rev.Treeverse(online(herdChain[float64]()), rev.Limit{Snapshots: d}),
			} {
				s := newHerd[float64](n)
				s.runs.of = map[int]int{}
				states, _ := chainPeak(t, p, s, true)
				most := 0
				for _, times := range s.runs.of {
					most = max(most, times)
				}
				// One snapshot and unknown length: the states at work serve too.
				if most != tau && (name == "count" || d > 1) || most > tau || states+1 > d+2 {
					t.Errorf("%s, %d steps with %d snapshots: a step ran %d times, want %d; %d states", name, n, d, most, tau, states+1)
				}
			}
		}
	}
}

// TestChainFails checks that y is unchanged if any run of the step fails.
func TestChainFails(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for name, p := range chainSteps[fixed.Q43]() {
		for range 40 {
			s, want := newHerd[fixed.Q43](9), newHerd[fixed.Q43](9)
			s.runs.fail = 1 + rnd.IntN(30)
			g := rev.ZeroLike(s)
			var err error
			if adjoint := rnd.IntN(2) == 0; adjoint {
				err = p.Adjoint(s, g)
			} else {
				err = p.Forward(s)
			}
			if err == nil {
				continue
			}
			if !errors.Is(err, errLogistic) || s.y[0] != want.y[0] || s.x[0] != want.x[0] || s.i != 77 {
				t.Errorf("%s: %v leaves %v, want %v", name, err, s, want)
			}
		}
	}
}

func TestChainBadInput(t *testing.T) {
	c := herdChain[float64]()
	for name, p := range chainSteps[float64]() {
		if name[0] == 'o' {
			continue
		}
		for _, n := range []int{0, -1} {
			var v *rev.Violation
			if err := p.Forward(newHerd[float64](n)); !errors.As(err, &v) || v.Value != n {
				t.Errorf("%s: %d steps: %v", name, n, err)
			}
		}
		s := newHerd[float64](3)
		if err := rev.Uncall(p).Adjoint(s, rev.ZeroLike(s)); !errors.Is(err, rev.ErrUnsupported) {
			t.Errorf("%s: the adjoint of Uncall: %v", name, err)
		}
	}
	nothing := c
	nothing.Count = nil
	for name, f := range map[string]func(){
		"k = 1":                func() { rev.Bennett(c, 1) },
		"no count":             func() { rev.Bennett(nothing, 2) },
		"no limit":             func() { rev.Treeverse(c, rev.Limit{}) },
		"two limits":           func() { rev.Treeverse(c, rev.Limit{1, 1}) },
		"negative snapshots":   func() { rev.Treeverse(c, rev.Limit{Snapshots: -1}) },
		"neither":              func() { rev.Treeverse(nothing, rev.Limit{Snapshots: 1}) },
		"sweeps, unknown":      func() { rev.Treeverse(online(c), rev.Limit{Sweeps: 1}) },
		"cost of no steps":     func() { rev.BennettCost(0, 2) },
		"cost of no snapshots": func() { rev.TreeverseCost(1, 0) },
	} {
		func() {
			defer func() {
				if err, _ := recover().(*rev.OperandError); !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("%s: no panic with an OperandError: %v", name, err)
				}
			}()
			f()
		}()
	}
}

// growing is the kernel y += x + c, where c grows with each run.
type growing struct {
	Y *float64 `rev:"acc"`
	X *float64 `rev:"in"`
	c *float64
}

func (k growing) Run(p rev.Pass[growing]) error {
	*k.c++
	*k.Y += float64(float64(p.Sign()) * (*k.X + *k.c))
	return nil
}

// TestBennettViolation has a step that gives other bits each time.
func TestBennettViolation(t *testing.T) {
	var c float64
	p := rev.Bennett(rev.Chain[number, float64]{
		Step: rev.At(func(s *number) growing { return growing{&s.y, &s.x, &c} }),
		X:    func(s *number) *float64 { return &s.x }, Y: func(s *number) *float64 { return &s.y },
		Count: func(*number) int { return 4 },
	}, 2)
	var v *rev.Violation
	if err := p.Forward(new(number)); !errors.As(err, &v) {
		t.Errorf("the error is %v", err)
	}
}

// rational is the kernel y += Σ_j a_ij·x_j/(1 + x_j²). Its terms are rounded as they are added,
// so the sum that is subtracted from y leaves a remainder.
type rational struct {
	Y []float64 `rev:"acc" shape:"n"`
	X []float64 `rev:"in" shape:"n"`
	a []float64
}

func (k rational) Run(p rev.Pass[rational]) error {
	for i := range k.Y {
		for j, x := range k.X {
			a := k.a[i*len(k.X)+j]
			k.Y[i] += float64(float64(p.Sign()) * a * x / (1 + float64(x*x)))
			if p.Adjoint {
				p.G.X[j] += float64(a * (1 - float64(x*x)) / ((1 + float64(x*x)) * (1 + float64(x*x))) * p.G.Y[i])
			}
		}
	}
	return nil
}

type rationals struct{ x, y []float64 }

// TestBennettRounding has chains whose uncomputed states are zero up to rounding.
func TestBennettRounding(t *testing.T) {
	rnd := rand.New(rand.NewPCG(29, 4))
	for range 1000 {
		a := make([]float64, 9)
		s := &rationals{make([]float64, 3), make([]float64, 3)}
		for i := range a {
			a[i] = rnd.NormFloat64()
		}
		for i := range s.x {
			s.x[i] = rnd.NormFloat64() * math.Exp(4*rnd.NormFloat64())
		}
		c := rev.Chain[rationals, []float64]{
			Step: rev.At(func(s *rationals) rational { return rational{s.y, s.x, a} }),
			X:    func(s *rationals) *[]float64 { return &s.x }, Y: func(s *rationals) *[]float64 { return &s.y },
			Count: func(*rationals) int { return 7 },
		}
		want, wantG := rev.ZeroLike(s), rev.ZeroLike(s)
		copy(want.x, s.x)
		g := rev.ZeroLike(s)
		out := func(s *rationals) *float64 { return &s.y[1] }
		value, err := rev.ValueGradient(rev.Treeverse(c, rev.Limit{Snapshots: 3}), out, want, wantG)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rev.ValueGradient(rev.Bennett(c, 2), out, s, g)
		if err != nil || got != value {
			t.Fatalf("from %v: %v, error %v; want %v", s.x, got, err, value)
		}
		for i, v := range wantG.x {
			if !(math.Abs(g.x[i]-v) <= 1e-12*math.Abs(v)) {
				t.Fatalf("gradient %v, want %v", g.x, wantG.x)
			}
		}
	}
}
