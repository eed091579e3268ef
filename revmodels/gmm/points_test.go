package gmm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// pieces are the rows of a matrix as Points, in blocks.
type pieces struct {
	x     *mat.Dense
	block int
	fail  int // the call of Moments that fails; 0 for none
	calls int
}

func (p *pieces) Dims() (n, d int) { return p.x.Dims() }

func (p *pieces) Columns() (mean, variance []float64) {
	n, d := p.x.Dims()
	mean = make([]float64, d)
	for i := range n {
		floats.AddScaled(mean, 1/float64(n), p.x.RawRowView(i))
	}
	return mean, variances(rev.ViewDense(p.x))
}

func (p *pieces) each(do func(x rev.General[float64])) {
	n, d := p.x.Dims()
	for i := 0; i < n; i += p.block {
		do(rev.ViewDense(p.x.Slice(i, min(i+p.block, n), 0, d).(*mat.Dense)))
	}
}

var errLink = errors.New("the link is down")

func (p *pieces) Moments(dst []float64, e *Expectation) error {
	if p.calls++; p.calls == p.fail {
		return errLink
	}
	k, d := len(e.logw), e.em.d
	other, err := NewExpectation(e.em.kind, k, d, e.Numbers())
	if err != nil {
		return err
	}
	clear(dst)
	part := make([]float64, other.Len())
	p.each(func(x rev.General[float64]) {
		other.Moments(part, x)
		floats.Add(dst, part)
	})
	return nil
}

func (p *pieces) FuncGrad(grad, x []float64) (sum float64, err error) {
	clear(grad)
	p.each(func(points rev.General[float64]) {
		_, d := p.x.Dims()
		m := Model[float64]{X: points, K: len(x) / (1 + d + d*(d+1)/2)}
		if grad == nil {
			sum += m.Func(x)
			return
		}
		part := make([]float64, len(x))
		sum += m.FuncGrad(part, x)
		floats.Add(grad, part)
	})
	return sum, nil
}

func threeClusters(n, d int) *mat.Dense {
	rnd := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64((i%3)*(3+j))+rnd.NormFloat64()*float64(1+j))
		}
	}
	return x
}

// TestFitPoints fits points in pieces, and compares with Fit from the same mixture.
func TestFitPoints(t *testing.T) {
	const n, d, k = 3000, 3, 3
	x := threeClusters(n, d)
	means := mat.NewDense(k, d, slices.Concat(x.RawRowView(0), x.RawRowView(1), x.RawRowView(2)))
	for _, c := range []struct {
		kind   Covariance
		polish bool
	}{{Full, false}, {Full, true}, {Tied, false}, {Diagonal, false}, {Spherical, false}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			first, _, err := FitPoints(t.Context(), &pieces{x: x, block: 700}, k, &Options{Covariance: c.kind, InitMeans: means, MaxIter: 2}, nil)
			if err != nil {
				t.Fatal(err)
			}
			opts := &Options{Covariance: c.kind, Init: first, Polish: c.polish, Tolerance: 1e-9}
			want, _, err := Fit(t.Context(), x, k, opts)
			if err != nil {
				t.Fatal(err)
			}
			got, report, err := FitPoints(t.Context(), &pieces{x: x, block: 700}, k, opts, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !floats.EqualApprox(got.Params(), want.Params(), 1e-6) {
				t.Errorf("parameters %v, want %v", got.Params(), want.Params())
			}
			r := report.Starts[0]
			if l := want.LogLikelihood(x); math.Abs(r.LogLikelihood-l) > 1e-9*math.Abs(l) {
				t.Errorf("log likelihood %v, want %v", r.LogLikelihood, l)
			}
			if !r.Converged || c.polish != (r.Polish > 0) {
				t.Errorf("report %+v", r)
			}
		})
	}
}

// TestFitPointsBegin checks the first step from means: each point belongs to the nearest
// one, in units of standard deviations.
func TestFitPointsBegin(t *testing.T) {
	x := mat.NewDense(8, 2, []float64{0, 0, 1, 100, 0, 200, 1, 300, 10, 0, 11, 100, 10, 200, 11, 300})
	means := mat.NewDense(2, 2, []float64{1, 100, 9, 200})
	m, _, err := FitPoints(t.Context(), &pieces{x: x, block: 3}, 2, &Options{InitMeans: means, MaxIter: 1, RegCovar: 1e-3, Covariance: Diagonal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Means(); math.Abs(got.At(0, 0)-0.5) > 0.1 || math.Abs(got.At(1, 0)-10.5) > 0.1 {
		t.Errorf("means %v, want 0.5 and 10.5 in the first column", mat.Formatted(got))
	}
}

// TestFitPointsResume stops after some iterations, and goes on from the state saved.
func TestFitPointsResume(t *testing.T) {
	x := threeClusters(1000, 2)
	means := mat.NewDense(2, 2, []float64{0, 0, 1, 1})
	var states []*State
	keep := func(s *State) error {
		states = append(states, &State{History: slices.Clone(s.History), Weights: slices.Clone(s.Weights), Means: slices.Clone(s.Means), Covariances: slices.Clone(s.Covariances)})
		return nil
	}
	opts := &Options{InitMeans: means, Tolerance: 1e-7, Polish: true}
	want, whole, err := FitPoints(t.Context(), &pieces{x: x, block: 300}, 2, opts, &Checkpoint{Save: keep})
	if err != nil {
		t.Fatal(err)
	}
	if len(states) < 4 {
		t.Fatalf("%d states saved, want some", len(states))
	}
	for _, s := range []*State{states[0], states[3], states[len(states)-1]} {
		got, report, err := FitPoints(t.Context(), &pieces{x: x, block: 300}, 2, opts, &Checkpoint{Resume: s})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Params(), want.Params()) || !slices.Equal(report.Starts[0].History, whole.Starts[0].History) {
			t.Errorf("from iteration %d: another result", len(s.History))
		}
	}
	if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 300}, 3, opts, &Checkpoint{Resume: states[0]}); err == nil {
		t.Error("no error for a state of another fit")
	}
	late := *states[0]
	late.Before = make([]Start, 1)
	if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 300}, 2, opts, &Checkpoint{Resume: &late}); err == nil {
		t.Error("no error for a state of the second of one start")
	}
	one, err := NewMixture([]float64{1}, mat.NewDense(1, 2, nil), []*mat.SymDense{mat.NewSymDense(2, []float64{1, 0, 0, 1})})
	if err != nil {
		t.Fatal(err)
	}
	late.Best = one
	two := &Options{InitMeans: mat.NewDense(4, 2, []float64{0, 0, 1, 1, 0, 1, 1, 0}), Starts: 2}
	if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 300}, 2, two, &Checkpoint{Resume: &late}); err == nil {
		t.Error("no error for a state with a best mixture of another size")
	}
	if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 300}, 2, &Options{InitMeans: means, Starts: 2}, nil); err == nil {
		t.Error("no error for the means of one start of two")
	}
}

func TestFitPointsErrors(t *testing.T) {
	x := threeClusters(300, 2)
	opts := &Options{InitMeans: mat.NewDense(2, 2, []float64{0, 0, 1, 1})}
	for _, fail := range []int{1, 3} {
		if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 100, fail: fail}, 2, opts, nil); !errors.Is(err, errLink) {
			t.Errorf("call %d fails: %v, want %v", fail, err, errLink)
		}
	}
	full := errors.New("disk full")
	if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 100}, 2, opts, &Checkpoint{Save: func(*State) error { return full }}); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 100}, 2, nil, nil); err == nil {
		t.Error("no error without a start")
	}
	for want, s := range map[string]*State{
		"a state after 1 starts, the best of which is 0, in a fit of 1":  {Before: make([]Start, 1)},
		"a state after 0 starts, the best of which is -1, in a fit of 1": {BestStart: -1},
		"a state after 0 starts, the best of which is 0, in a fit of 1":  {Best: new(Mixture)},
	} {
		if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 100}, 2, opts, &Checkpoint{Resume: s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	two := &Options{Starts: 2, InitMeans: mat.NewDense(4, 2, nil)}
	for _, dims := range [][2]int{{3, 2}, {2, 3}} {
		best, _, err := Fit(t.Context(), threeClusters(300, dims[1]), dims[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &State{Before: make([]Start, 1), Best: best}
		want := fmt.Sprintf("has %d components in %d dimensions, want 2 in 2", dims[0], dims[1])
		if _, _, err := FitPoints(t.Context(), &pieces{x: x, block: 100}, 2, two, &Checkpoint{Resume: s}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := NewExpectation(Full, 2, 2, make([]float64, 3)); err == nil {
		t.Error("no error for 3 numbers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, _, err := FitPoints(ctx, &pieces{x: x, block: 100}, 2, opts, nil); m == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", m, err)
	}
}

// TestExpectation compares the moments of mixtures whose factors differ between columns with their
// definition. Components lie near each other, or far apart beside their standard deviations.
func TestExpectation(t *testing.T) {
	const n, k, d = 2*scoringRun + 5, 3, 2
	for _, far := range []float64{1, 1e5} {
		rnd := rand.New(rand.NewPCG(71, 2))
		logw, means := []float64{math.Log(0.2), math.Log(0.3), math.Log(0.5)}, []float64{0, 0, 1, 2, far, -far}
		q, origin := []float64{1, 3, 0.5, 2, 40, 7}, []float64{far / 3, -far / 4}
		own := []float64{0, 0, 0}
		if far > 1 {
			own = []float64{1, 1, 1}
		}
		x := mat.NewDense(n, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, means[i%k*d+j]+rnd.NormFloat64()/q[i%k*d+j])
			}
		}
		want := make([]float64, 1+k+2*k*d)
		w0, w1, w2 := want[1:1+k], want[1+k:1+k+k*d], want[1+k+k*d:]
		beta := make([]float64, k)
		for i := range n {
			for c := range k {
				beta[c] = logw[c] - math.Log(2*math.Pi)
				for j := range d {
					z := q[c*d+j] * (x.At(i, j) - means[c*d+j])
					beta[c] += math.Log(q[c*d+j]) - z*z/2
				}
			}
			lse := floats.LogSumExp(beta)
			want[0] += lse
			for c, b := range beta {
				r := math.Exp(b - lse)
				w0[c] += r
				for j := range d {
					v := x.At(i, j) - origin[j]
					if far > 1 {
						v = x.At(i, j) - means[c*d+j]
					}
					w1[c*d+j] += r * v
					w2[c*d+j] += r * v * v
				}
			}
		}
		for _, kind := range []Covariance{Diagonal, Spherical} {
			e, err := NewExpectation(kind, k, d, slices.Concat(logw, own, means, q, origin, make([]float64, d)))
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, e.Len())
			e.Moments(got, rev.ViewDense(x))
			if len(got) != len(want) {
				t.Fatalf("%v: %d moments, want %d", kind, len(got), len(want))
			}
			for i, v := range got {
				if !(math.Abs(v-want[i]) <= 1e-9*(1+math.Abs(want[i]))) {
					t.Errorf("%v, %v apart: moment %d is %v, want %v", kind, far, i, v, want[i])
				}
			}
		}
	}
}

// TestStepper takes the steps of a fit by hand, and wants its bits.
func TestStepper(t *testing.T) {
	const k, steps = 3, 5
	p := &pieces{x: threeClusters(600, 2), block: 250}
	for _, kind := range []Covariance{Full, Tied, Diagonal, Spherical} {
		start, _, err := FitPoints(t.Context(), p, k, &Options{InitMeans: mat.NewDense(k, 2, []float64{0, 0, 3, 3, 7, 7}), MaxIter: 1, Covariance: kind}, nil)
		if err != nil {
			t.Fatal(err)
		}
		opts := &Options{Init: start, MaxIter: steps, Tolerance: math.SmallestNonzeroFloat64, Covariance: kind}
		want, report, err := FitPoints(t.Context(), p, k, opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		means, variances := p.Columns()
		var state *State
		var got *Mixture
		for i := range steps {
			s, err := NewStepper(600, means, variances, k, opts, state)
			if err != nil {
				t.Fatal(err)
			}
			e := s.Expectation()
			moments := make([]float64, e.Len())
			if err := p.Moments(moments, e); err != nil {
				t.Fatal(err)
			}
			if state, err = s.Step(moments); err != nil {
				t.Fatal(err)
			}
			if state.History[0] != report.Starts[0].History[i] {
				t.Errorf("%v, step %d: log posterior %v, want %v", kind, i, state.History[0], report.Starts[0].History[i])
			}
			if got, err = s.Mixture(); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got.Params(), want.Params()) {
			t.Errorf("%v: another mixture than that of FitPoints", kind)
		}
	}
	means, variances := p.Columns()
	if _, err := NewStepper(600, means, variances, k, &Options{}, nil); err == nil {
		t.Error("no error without a start")
	}
}

// TestOptionsPoints fits as Fit does, with sums from elsewhere.
func TestOptionsPoints(t *testing.T) {
	rnd := rand.New(rand.NewPCG(71, 1))
	x := mat.NewDense(300, 2, nil)
	for i := range 300 {
		x.SetRow(i, []float64{float64(i%3) + rnd.NormFloat64(), rnd.NormFloat64() - float64(i%3)})
	}
	for _, kind := range []Covariance{Full, Tied, Diagonal, Spherical} {
		opts := Options{Covariance: kind, Starts: 3, MaxIter: 20, Polish: kind == Full}
		want, wantReport, err := Fit(context.Background(), x, 3, &opts)
		if err != nil {
			t.Fatal(err)
		}
		p := &pieces{x: x, block: 70}
		opts.Points = p
		got, report, err := Fit(context.Background(), x, 3, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got.LogLikelihood(x), want.LogLikelihood(x); math.Abs(a-b) > 1e-7*math.Abs(b) || len(report.Starts) != len(wantReport.Starts) || p.calls == 0 {
			t.Errorf("%v: log likelihood %v, want %v; %d starts, want %d; %d calls", kind, a, b, len(report.Starts), len(wantReport.Starts), p.calls)
		}
		p.fail = p.calls + 2
		if _, _, err := Fit(context.Background(), x, 3, &opts); !errors.Is(err, errLink) {
			t.Errorf("%v: error %v", kind, err)
		}
	}
	for name, opts := range map[string]Options{
		"weights": {Weights: make([]float64, 300), Points: &pieces{x: x}},
		"shape":   {Points: &pieces{x: mat.NewDense(4, 2, nil)}},
	} {
		if _, _, err := Fit(context.Background(), x, 3, &opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
