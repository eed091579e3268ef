package gmm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
)

// fixedRandom returns a kernel over random operands, well within the range.
func fixedRandom(rnd *rand.Rand, d, comps, n int, prior Prior) FixedLogPosterior {
	matrix := func(r, c int, scale float64) rev.General[fixed.Q43] {
		m := rev.NewGeneral[fixed.Q43](r, c, nil)
		for i := range m.Data {
			m.Data[i] = fixed.FromFloat64(scale * rnd.NormFloat64())
		}
		return m
	}
	return FixedLogPosterior{
		Out: new(fixed.Q43), Alpha: rev.ViewSlice(matrix(comps, 1, 1).Data),
		Means: matrix(comps, d, 1), Factors: matrix(comps, d*(d+1)/2, 0.3), X: matrix(n, d, 1),
		Prior: prior,
	}
}

// outOfRange moves a point of k out of everything's reach.
func outOfRange(k FixedLogPosterior) FixedLogPosterior {
	for j := range k.X.Row(0) {
		k.X.Row(0)[j] = 5000 * fixed.One
	}
	return k
}

func TestFixedConformance(t *testing.T) {
	for name, prior := range map[string]Prior{
		"prior": {Gamma: 0.7, M: 2}, "no prior": {}, "ADBench": {Gamma: 1.5, M: 1, Sign: ADBench},
	} {
		t.Run(name, func(t *testing.T) {
			spec := revtest.Spec[FixedLogPosterior]{
				New: func(rnd *rand.Rand, size int) FixedLogPosterior {
					return fixedRandom(rnd, min(size, 6), min(size, 4), 2*size, prior)
				},
				Failing: func(rnd *rand.Rand, size int) FixedLogPosterior {
					return outOfRange(fixedRandom(rnd, max(1, min(size, 6)), max(1, min(size, 4)), 2*size+1, prior))
				},
				Large: 3000, // several blocks
				// Second derivatives change much over the default step.
				Step: 1.0 / 1024,
				// With larger operands, derivatives leave ±2²⁰.
				Magnitudes: [2]float64{0.125, 2},
				Free:       []string{"X.Rows"},
			}
			if name != "prior" && !long.Tests() {
				spec.Sizes, spec.Large = []int{0, 2, 5, 12}, 0
			}
			revtest.Kernel(t, spec)
		})
	}
}

// inFloat returns k over float64, with the exact values of its operands.
func (k FixedLogPosterior) inFloat() LogPosterior[float64] {
	matrix := func(m rev.General[fixed.Q43]) rev.General[float64] {
		if m.Data == nil {
			return rev.General[float64]{}
		}
		f := rev.NewGeneral[float64](m.Rows, m.Cols, nil)
		for i := range m.Rows {
			for j, v := range m.Row(i) {
				f.Row(i)[j] = v.Float64()
			}
		}
		return f
	}
	alpha := make([]float64, k.Alpha.N)
	for i := range alpha {
		alpha[i] = k.Alpha.Data[i*k.Alpha.Inc].Float64()
	}
	out := k.Out.Float64()
	return LogPosterior[float64]{
		Out: &out, Alpha: rev.ViewSlice(alpha), Means: matrix(k.Means), Factors: matrix(k.Factors), X: matrix(k.X),
		Prior: k.Prior,
	}
}

// operands returns the elements of the operands of k, one by one, in the order
// of those of LogPosterior.
func (k FixedLogPosterior) operands() []*fixed.Q43 {
	var e []*fixed.Q43
	for c := range k.Alpha.N {
		e = append(e, &k.Alpha.Data[c*k.Alpha.Inc])
	}
	for _, m := range []rev.General[fixed.Q43]{k.Means, k.Factors, k.X} {
		for i := range m.Rows {
			for j := range m.Cols {
				e = append(e, &m.Row(i)[j])
			}
		}
	}
	return e
}

// fixedCotangents returns zero cotangents for all operands of k, and out for
// Out.
func fixedCotangents(k FixedLogPosterior, out fixed.Q43) FixedLogPosterior {
	zeros := func(m rev.General[fixed.Q43]) rev.General[fixed.Q43] {
		return rev.NewGeneral[fixed.Q43](m.Rows, m.Cols, nil)
	}
	return FixedLogPosterior{
		Out: &out, Alpha: rev.ViewSlice(make([]fixed.Q43, k.Alpha.N)),
		Means: zeros(k.Means), Factors: zeros(k.Factors), X: zeros(k.X),
	}
}

// fixedBounds returns the documented bound of the error of F, and, of a single
// element of the gradient for F̄ = 1, a bound that follows from those of its
// factors, in units.
func fixedBounds(k LogPosterior[float64]) (value, gradient float64) {
	d, n, comps := k.X.Cols, k.X.Rows, k.Alpha.N
	q := make([][]float64, comps)
	largest := 1.0 // of the factors of numbers with an error
	for c := range q {
		q[c] = denseFactor(k.Factors.Row(c), d)
		for _, e := range q[c] {
			largest = max(largest, e*e, k.Prior.Gamma*k.Prior.Gamma*e*e)
		}
	}
	if g2 := k.Prior.Gamma * k.Prior.Gamma; g2 > 0 {
		squares := 0.0
		for _, q := range q {
			for _, e := range q {
				squares += e * e
			}
		}
		value = (1 + g2) * (2 + float64(comps*d) + squares)
	}
	half := float64(comps) / 2
	for p := range n {
		var worst float64
		for c := range comps {
			beta := 2 + half
			for i := range d {
				var y, diff float64
				for j := range i + 1 {
					diff = k.X.Row(p)[j] - k.Means.Row(c)[j]
					y += q[c][i*d+j] * diff
				}
				for j := range d {
					largest = max(largest, math.Abs(q[c][i*d+j]*y), math.Abs((k.X.Row(p)[j]-k.Means.Row(c)[j])*y))
				}
				beta += math.Abs(y) * (0.5 + 0.51*math.Abs(diff))
			}
			worst = max(worst, beta)
		}
		value += worst + 1 + half
	}
	return value, (value + float64(n)*(3+half) + 4) * largest * float64(d+1)
}

// denseFactor returns the d×d matrix Q of a row of factors.
func denseFactor(row []float64, d int) []float64 {
	q := make([]float64, d*d)
	l := row[d:]
	for j := range d {
		q[j*d+j] = math.Exp(row[j])
		for i := j + 1; i < d; i++ {
			q[i*d+j] = l[0]
			l = l[1:]
		}
	}
	return q
}

// TestFixedAgainstFloat compares the log posterior and its gradient with those
// of float64, which are some hundred times as exact, within the bounds.
func TestFixedAgainstFloat(t *testing.T) {
	const unit = 0x1p-43
	rnd := rand.New(rand.NewPCG(11, 1))
	for _, s := range [][3]int{{1, 1, 1}, {2, 3, 7}, {3, 5, 1000}, {5, 2, 700}, {12, 4, 100}, {23, 9, 61}, {0, 2, 3}, {4, 3, 0}, {2, 0, 0}} {
		for _, prior := range []Prior{{}, {Gamma: 1.5, M: 3}, {Gamma: 0.3, Sign: ADBench}} {
			t.Run(fmt.Sprint(s, prior), func(t *testing.T) {
				k := fixedRandom(rnd, s[0], s[1], s[2], prior)
				if prior.Gamma == 0 { // numbers above 256 too, whose products take other loops
					for _, x := range []rev.General[fixed.Q43]{k.X, k.Means} {
						for i := range x.Rows {
							for j := range x.Row(i) {
								x.Row(i)[j] *= 200
							}
						}
					}
					for i := range k.Factors.Rows {
						for j := range s[0] {
							k.Factors.Row(i)[j] -= fixed.Log(200 * fixed.One)
						}
						for j := s[0]; j < k.Factors.Cols; j++ {
							k.Factors.Row(i)[j] /= 200
						}
					}
				}
				f := k.inFloat()
				if err := k.Forward(); err != nil {
					t.Fatal(err)
				}
				f.Forward()
				value, gradient := fixedBounds(f)
				// What float64 rounds.
				slack := 1e-14 * (math.Abs(*f.Out) + float64(s[1]*(s[0]+1)*(s[0]+1)))
				if e := math.Abs(k.Out.Float64() - *f.Out); !(e <= value*unit+slack) {
					t.Errorf("F = %v, want %v: error of %.3g units, bound %.3g", *k.Out, *f.Out, e/unit, value)
				}
				g := fixedCotangents(k, fixed.One)
				want := cotangents(f)
				if err := k.Adjoint(g); err != nil {
					t.Fatal(err)
				}
				f.Adjoint(want)
				if *k.Out != 0 {
					t.Errorf("Adjoint leaves Out = %v, want 0", *k.Out)
				}
				got := g.operands()
				for i, e := range logPosteriorOperands(want) {
					d := math.Abs(got[i].Float64() - *e)
					if !(d <= gradient*unit+1e-13*(1+math.Abs(*e))) {
						t.Fatalf("gradient %d is %v, want %v: error of %.3g units, bound %.3g", i, *got[i], *e, d/unit, gradient)
					}
				}
			})
		}
	}
}

// TestFixedWraps checks that Out comes back to the bit from where it wraps.
func TestFixedWraps(t *testing.T) {
	k := fixedRandom(rand.New(rand.NewPCG(12, 1)), 3, 2, 500, Prior{Gamma: 1})
	for _, start := range []fixed.Q43{fixed.Max, fixed.Min, fixed.Min + 1, 12345} {
		*k.Out = start
		for range 3 {
			if err := k.Forward(); err != nil {
				t.Fatal(err)
			}
		}
		if *k.Out == start {
			t.Errorf("Forward leaves %v as it was", start)
		}
		if err := errors.Join(k.Inverse(), k.Adjoint(fixedCotangents(k, fixed.One)), k.Inverse()); err != nil {
			t.Fatal(err)
		}
		if *k.Out != start {
			t.Errorf("Out is %d units, want %d", *k.Out, start)
		}
	}
}

// TestFixedOrder checks that results are the same bits for any number of
// workers and any order of the points.
func TestFixedOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 1))
	const n = 5000
	k := fixedRandom(rnd, 3, 4, n, Prior{Gamma: 1, M: 1})
	order := rnd.Perm(n)
	shuffled := k
	shuffled.X = rev.NewGeneral[fixed.Q43](n, 3, nil)
	for i, o := range order {
		copy(shuffled.X.Row(i), k.X.Row(o))
	}
	var want FixedLogPosterior
	for _, workers := range []int{1, 2, 7} {
		k.Workers = workers
		g := fixedCotangents(k, 3*fixed.One/7)
		*k.Out = 0
		if err := errors.Join(k.Forward(), k.Adjoint(g), k.Forward()); err != nil {
			t.Fatal(err)
		}
		*g.Out = *k.Out
		if want.Out == nil {
			want = g
		}
		if !equalFixed(g, want) {
			t.Errorf("%d workers give other bits", workers)
		}
	}
	g := fixedCotangents(k, 3*fixed.One/7)
	*k.Out = 0
	if err := errors.Join(shuffled.Forward(), shuffled.Adjoint(g), shuffled.Forward()); err != nil {
		t.Fatal(err)
	}
	*g.Out = *k.Out
	for i, o := range order {
		if !slices.Equal(g.X.Row(i), want.X.Row(o)) {
			t.Fatalf("the gradient of point %d depends on the order", o)
		}
	}
	g.X = want.X
	if !equalFixed(g, want) {
		t.Error("the order of points shows in the result")
	}
}

// TestFixedBlocks checks that results are the same bits whatever blocks the
// points are cut into.
func TestFixedBlocks(t *testing.T) {
	k := fixedRandom(rand.New(rand.NewPCG(16, 1)), 3, 4, 500, Prior{Gamma: 1, M: 1})
	run := func(block int) FixedLogPosterior {
		g := fixedCotangents(k, 3*fixed.One/7)
		s := fixedSweep{k: k, g: g}
		prior, dprior, err := s.prepare(2)
		if err != nil {
			t.Fatal(err)
		}
		if block > s.block {
			t.Fatalf("a block is %d points, too few for this test", s.block)
		}
		s.block = block
		f, _, err := s.points(2, prior, dprior)
		if err != nil {
			t.Fatal(err)
		}
		s.finish()
		*g.Out = f
		return g
	}
	want := run(1)
	if *want.Out == 0 || want.X.Row(499)[0] == 0 {
		t.Errorf("no gradient: F = %v, x̄ = %v", *want.Out, want.X.Row(499))
	}
	for _, block := range []int{2, 7, 64, 100} {
		if !equalFixed(run(block), want) {
			t.Errorf("blocks of %d points give other bits than blocks of 1", block)
		}
	}
}

// TestFixedLateFailure checks that the first of several points out of range is
// named, and that the gradients of earlier points are not there.
func TestFixedLateFailure(t *testing.T) {
	k := fixedRandom(rand.New(rand.NewPCG(17, 1)), 2, 2, 5000, Prior{})
	for _, i := range []int{4900, 3000, 4000} {
		k.X.Row(i)[0] = 5000 * fixed.One
	}
	for _, workers := range []int{1, 2} {
		k.Workers = workers
		g := fixedCotangents(k, fixed.One)
		err := k.Adjoint(g)
		if !errors.Is(err, fixed.ErrRange) || !strings.Contains(err.Error(), "point 3000:") {
			t.Errorf("%d workers: error %v, want one that names point 3000", workers, err)
		}
		if want := fixedCotangents(k, fixed.One); !equalFixed(g, want) || *k.Out != 0 {
			t.Errorf("%d workers: the error leaves a gradient, or Out = %v", workers, *k.Out)
		}
	}
}

// TestFixedNormal checks the density of a standard normal distribution of 1000
// dimensions at its mean, -500·log 2π, whose error must not grow with D.
func TestFixedNormal(t *testing.T) {
	const d = 1000
	k := FixedLogPosterior{
		Out: new(fixed.Q43), Alpha: rev.ViewSlice([]fixed.Q43{7}), Means: rev.NewGeneral[fixed.Q43](1, d, nil),
		Factors: rev.NewGeneral[fixed.Q43](1, d*(d+1)/2, nil), X: rev.NewGeneral[fixed.Q43](1, d, nil),
	}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	want := fixed.MustParse("-918.938533204672741780329736405617639861397473637783412817")
	if e := *k.Out - want; e < -1 || e > 1 {
		t.Errorf("F = %v, want %v", *k.Out, want)
	}
}

func equalFixed(a, b FixedLogPosterior) bool {
	x, y := a.operands(), b.operands()
	for i := range x {
		if *x[i] != *y[i] {
			return false
		}
	}
	return *a.Out == *b.Out
}

// TestFixedOutlier checks that a component out of reach takes no part, and that values
// out of range give errors.
func TestFixedOutlier(t *testing.T) {
	near := fixedRandom(rand.New(rand.NewPCG(14, 1)), 2, 1, 50, Prior{})
	k := near
	k.Out = new(fixed.Q43)
	// A component 90,000 standard deviations away, with the same weight.
	k.Alpha = rev.ViewSlice([]fixed.Q43{near.Alpha.Data[0], near.Alpha.Data[0]})
	k.Means = rev.NewGeneral(2, 2, []fixed.Q43{near.Means.Data[0], near.Means.Data[1], 90000 * fixed.One, 0})
	k.Factors = rev.NewGeneral[fixed.Q43](2, 3, nil)
	copy(k.Factors.Row(0), near.Factors.Data)
	if err := errors.Join(near.Forward(), k.Forward()); err != nil {
		t.Fatal(err)
	}
	want := near.Out.Float64() - 50*math.Ln2
	if e := math.Abs(k.Out.Float64() - want); e > 100*0x1p-43 {
		t.Errorf("F = %v, want %v", *k.Out, want)
	}
	g := fixedCotangents(k, fixed.One)
	if err := k.Adjoint(g); err != nil {
		t.Fatal(err)
	}
	if g.Means.Row(1)[0] != 0 || g.Factors.Row(1)[2] != 0 {
		t.Errorf("the far component has the cotangents %v and %v, want 0", g.Means.Row(1), g.Factors.Row(1))
	}

	for _, c := range []struct {
		what string
		edit func(k FixedLogPosterior) FixedLogPosterior
	}{
		{"point 0", outOfRange},
		{"point 7", func(k FixedLogPosterior) FixedLogPosterior {
			k.X.Row(7)[0], k.Means.Row(0)[0] = fixed.Max, -fixed.One // the difference wraps
			return k
		}},
		{"point 3", func(k FixedLogPosterior) FixedLogPosterior {
			// The second component reaches the point, but the product of the
			// first one's Q with the difference may wrap.
			k.X.Row(3)[0], k.Means.Row(0)[0], k.Means.Row(1)[0] = fixed.Max, 0, 0
			k.Factors.Row(0)[2] = fixed.Max
			copy(k.Factors.Row(1), []fixed.Q43{-13 * fixed.One, 0, 0})
			return k
		}},
		{"Factors[1,0]", func(k FixedLogPosterior) FixedLogPosterior { k.Factors.Row(1)[0] = 14 * fixed.One; return k }},
		{"log posterior", func(k FixedLogPosterior) FixedLogPosterior {
			for i := range 50 {
				k.X.Row(i)[1] = 300 * fixed.One // -45,000 each
			}
			return k
		}},
		{"point 0", func(k FixedLogPosterior) FixedLogPosterior {
			k.Alpha, k.Means, k.Factors = rev.Vector[fixed.Q43]{}, rev.General[fixed.Q43]{Cols: 2}, rev.General[fixed.Q43]{Cols: 3}
			return k
		}},
		{"γ = 2000", func(k FixedLogPosterior) FixedLogPosterior { k.Prior.Gamma = 2000; return k }},
		{"M = 1048576", func(k FixedLogPosterior) FixedLogPosterior { k.Prior = Prior{Gamma: 1, M: 1 << 20}; return k }},
		{"Q_0", func(k FixedLogPosterior) FixedLogPosterior {
			k.Prior.Gamma = 1
			k.Factors.Row(0)[2] = 1024 * fixed.One
			return k
		}},
	} {
		k := c.edit(fixedRandom(rand.New(rand.NewPCG(15, 1)), 2, 2, 50, Prior{}))
		err := k.Forward()
		if !errors.Is(err, fixed.ErrRange) || !strings.Contains(err.Error(), c.what) {
			t.Errorf("error %v, want one of range that names %s", err, c.what)
		}
	}
}

// TestFixedSideBySide holds log densities of points side by side against those one by one, to the bit.
func TestFixedSideBySide(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 9))
	taken := 0
	for range 60 {
		d, comps, n := 1+rnd.IntN(9), 1+rnd.IntN(4), 1+rnd.IntN(40)
		draw := func(rows, cols int, size float64) rev.General[fixed.Q43] {
			x := rev.NewGeneral[fixed.Q43](rows, cols, nil)
			for i := range x.Data {
				x.Data[i] = fixed.FromFloat64(size * rnd.NormFloat64())
			}
			return x
		}
		size := math.Exp(9 * rnd.Float64())
		k := FixedLogPosterior{
			Out: new(fixed.Q43), Alpha: rev.ViewSlice(draw(1, comps, 1).Data), Means: draw(comps, d, size),
			Factors: draw(comps, d*(d+1)/2, 1), X: draw(n, d, size), Workers: 1,
		}
		s := &fixedSweep{k: k}
		if _, _, err := s.prepare(1); err != nil {
			t.Fatal(err)
		}
		w := &s.workers[0]
		n = min(n, s.block)
		if s.logDensities(w, 0, n) < n {
			continue
		}
		beta, y := slices.Clone(w.r), slices.Clone(w.y)
		for c := range comps {
			if s.logDensitiesOf(w, c, n) {
				taken++
			}
			for p := range n {
				want, ok := s.logDensity(w, c, p, p)
				if got := beta[c*s.block+p]; !ok || got != want {
					t.Fatalf("%d dimensions, component %d, point %d: %v, want %v", d, c, p, got, want)
				}
				for j := range d {
					if at := (c*d+j)*s.block + p; want != fixed.Min && y[at] != w.y[at] {
						t.Fatalf("%d dimensions, component %d, point %d: y[%d] = %v, want %v", d, c, p, j, y[at], w.y[at])
					}
				}
			}
		}
	}
	if taken < 20 {
		t.Errorf("%d components side by side, want some dozens", taken)
	}
}

// A log density of exactly -2²⁰, which has no absolute value, is not computed side by side.
func TestFixedLeastBias(t *testing.T) {
	for _, d := range []int{3, 6} {
		alpha := []fixed.Q43{0, -fixed.One << 19}
		k := FixedLogPosterior{
			Out: new(fixed.Q43), Alpha: rev.ViewSlice(alpha), Means: rev.NewGeneral[fixed.Q43](2, d, nil), Factors: rev.NewGeneral[fixed.Q43](2, d*(d+1)/2, nil),
			X: rev.NewGeneral[fixed.Q43](1, d, nil), Workers: 1,
		}
		k.X.Data[0] = fixed.One
		s := &fixedSweep{k: k}
		if _, _, err := s.prepare(1); err != nil {
			t.Fatal(err)
		}
		off := s.bias[1]
		off.Sub(fixed.Min)
		alpha[1] -= off.Round() / 2
		if err := k.Forward(); err != nil || *k.Out > 0 {
			t.Errorf("d = %d: the posterior is %v, error %v, want a negative number", d, *k.Out, err)
		}
	}
}

// TestFixedSmallEnd has differences x - μ just above 256, the end of the numbers whose products are faster. Those of sums of
// points and means of below 257 must not be taken for smaller ones.
func TestFixedSmallEnd(t *testing.T) {
	const n = 4
	for _, d := range []int{1, 2, 3} {
		k := FixedLogPosterior{
			Out: new(fixed.Q43), Alpha: rev.ViewSlice(make([]fixed.Q43, 1)), Means: rev.NewGeneral[fixed.Q43](1, d, nil),
			Factors: rev.NewGeneral[fixed.Q43](1, d*(d+1)/2, nil), X: rev.NewGeneral[fixed.Q43](n, d, nil), Workers: 1,
		}
		for j := range d {
			k.Means.Data[j] = fixed.FromFloat64(-0.4)
		}
		for i := range k.X.Data {
			k.X.Data[i] = 256*fixed.One - fixed.Q43(i+1)
		}
		f := k.inFloat()
		if err := k.Forward(); err != nil {
			t.Fatal(err)
		}
		f.Forward()
		if e := math.Abs(k.Out.Float64() - *f.Out); !(e < 1e-6) {
			t.Errorf("%d dimensions: F = %v, want %v", d, *k.Out, *f.Out)
		}
		g := fixedCotangents(k, fixed.ULP<<20)
		want := g.inFloat()
		if err := k.Adjoint(g); err != nil {
			t.Fatal(err)
		}
		f.Adjoint(want)
		for i, e := range logPosteriorOperands(want) {
			if got := g.operands()[i].Float64(); !(math.Abs(got-*e) < 1e-8) {
				t.Errorf("%d dimensions: gradient %d is %v, want %v", d, i, got, *e)
			}
		}
	}
}
