package revlog_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"revnum/rev"
)

// forwardBackward is the usual algorithm, in probabilities that are rescaled in
// every step (Rabiner, A tutorial on hidden Markov models, 1989). It returns
// the log of the evidence, the posteriors of the states and the expected
// number of each step.
func forwardBackward(start []float64, step [][]float64, emit [][]float64) (evidence float64, posterior, steps [][]float64) {
	n, k := len(emit), len(start)
	table := func(r int) [][]float64 {
		m := make([][]float64, r)
		for i := range m {
			m[i] = make([]float64, k)
		}
		return m
	}
	alpha, beta, scale := table(n), table(n), make([]float64, n)
	posterior, steps = table(n), table(k)
	for t := range n {
		for j := range k {
			prior := start[j]
			if t > 0 {
				prior = 0
				for i := range k {
					prior += alpha[t-1][i] * step[i][j]
				}
			}
			alpha[t][j] = prior * emit[t][j]
			scale[t] += alpha[t][j]
		}
		for j := range k {
			alpha[t][j] /= scale[t]
		}
		evidence += math.Log(scale[t])
	}
	for t := n - 1; t >= 0; t-- {
		for i := range k {
			if t == n-1 {
				beta[t][i] = 1
			}
			for j := 0; j < k && t < n-1; j++ {
				b := step[i][j] * emit[t+1][j] * beta[t+1][j] / scale[t+1]
				beta[t][i] += b
				steps[i][j] += alpha[t][i] * b
			}
			posterior[t][i] = alpha[t][i] * beta[t][i]
		}
	}
	return evidence, posterior, steps
}

// The adjoint of the program is the forward-backward algorithm: the gradient by
// the emissions are the posteriors, that by A are the expected numbers of
// steps, and that by the start is the posterior of the first state.
func TestHiddenMarkovModel(t *testing.T) {
	n, k := 100_000, 4
	if testing.Short() {
		n = 1000
	}
	rnd := rand.New(rand.NewPCG(8, 1))
	stochastic := func(p []float64) {
		sum := 0.0
		for i := range p {
			p[i] = rnd.Float64() * rnd.Float64()
			sum += p[i]
		}
		for i := range p {
			p[i] /= sum
		}
	}
	start, step, emit := make([]float64, k), make([][]float64, k), make([][]float64, n)
	stochastic(start)
	for i := range step {
		step[i] = make([]float64, k)
		stochastic(step[i])
	}
	step[1][2], step[3][0] = 0, 0
	for i := range emit {
		emit[i] = make([]float64, k)
		stochastic(emit[i])
		if i%7 == 0 {
			emit[i][i%k] = 0 // what was seen is impossible in this state
		}
	}
	evidence, posterior, steps := forwardBackward(start, step, emit)

	s, g := newChain(n, k, math.Inf(-1)), newChain(n, k, 0)
	setLogs(s.start.Data, start...)
	for i := range step {
		setLogs(s.step.Row(i), step[i]...)
	}
	for i := range emit {
		setLogs(s.emit.Row(i), emit[i]...)
	}
	p := sumProduct(n)
	if err := p.Forward(s); err != nil {
		t.Fatal(err)
	}
	got := s.evidence
	// Logs as large as the evidence's are rounded in each step.
	if tol := float64(n) * 0x1p-52 * math.Abs(evidence); !(math.Abs(got-evidence) <= tol) {
		t.Errorf("log of the evidence is %v, want %v", got, evidence)
	}
	g.evidence = 1
	if err := p.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	if s.evidence != math.Inf(-1) || s.t != 0 {
		t.Errorf("Adjoint leaves the evidence %v and step %d", s.evidence, s.t)
	}
	for _, m := range []rev.General[float64]{s.predicted, s.joint} {
		for _, v := range m.Data {
			if v != math.Inf(-1) {
				t.Fatal("Adjoint does not clear the tables")
			}
		}
	}

	tol := 100 * 0x1p-52 * math.Abs(evidence)
	worst, sums := 0.0, 0.0
	for i := range posterior {
		sum := 0.0
		for j, want := range posterior[i] {
			got := g.emit.Row(i)[j]
			sum += got
			worst = max(worst, math.Abs(got-want))
			if !(math.Abs(got-want) <= tol) {
				t.Fatalf("state %d at %d: posterior %v, want %v", j, i, got, want)
			}
			if want == 0 && got != 0 {
				t.Fatalf("state %d at %d: posterior %v of what is impossible", j, i, got)
			}
		}
		sums = max(sums, math.Abs(sum-1))
	}
	t.Logf("log of the evidence %v (scaled algorithm: %v), posteriors within %.2g, their sums within %.2g", got, evidence, worst, sums)
	// Each step passes on what the shares sum to, 1 up to rounding.
	if !(sums <= float64(n)*4*float64(k)*0x1p-52) {
		t.Errorf("posteriors sum to 1 within %v", sums)
	}
	for i := range steps {
		for j, want := range steps[i] {
			if got := g.step.Row(i)[j]; !(math.Abs(got-want) <= tol*float64(n)) {
				t.Errorf("expected number of steps %d, %d: %v, want %v", i, j, got, want)
			}
		}
	}
	for j, want := range posterior[0] {
		if got := g.start.Row(0)[j]; !(math.Abs(got-want) <= tol) {
			t.Errorf("gradient by start %d: %v, want %v", j, got, want)
		}
	}
}

func BenchmarkHiddenMarkovModel(b *testing.B) {
	const n, k = 1000, 8
	s, g := newChain(n, k, math.Inf(-1)), newChain(n, k, 0)
	for _, m := range []rev.General[float64]{s.start, s.step, s.emit} {
		for i := range m.Data {
			m.Data[i] = -1
		}
	}
	p := sumProduct(n)
	for b.Loop() {
		g.evidence = 1
		if err := p.Forward(s); err != nil {
			b.Fatal(err)
		}
		if err := p.Adjoint(s, g); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/step")
}
