package revlinalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/revlinalg"
	"revnum/ulog"
)

// chain is a hidden Markov model of k states with its observations, all in
// logs. The tables α and π are what a program fills, row by row:
//
//	π_t = α_(t-1)·A     the probability of the state and of what was seen before
//	α_t = π_t ⊗ b_t     and of what is seen now
//
// All of their elements are zero (log -Inf) before, so every sum is put in the
// place of a zero, and is taken out again to the bit.
type chain struct {
	t int

	start rev.General[float64] // 1×k, probabilities of the first state
	step  rev.General[float64] // k×k, A, probabilities of the next state (column)
	emit  rev.General[float64] // n×k, b, probabilities of what was seen

	predicted rev.General[float64] // n×k, π
	joint     rev.General[float64] // n×k, α
	evidence  float64
}

func newChain(n, k int, fill float64) *chain {
	table := func(r, c int) rev.General[float64] {
		m := rev.NewGeneral[float64](r, c, nil)
		for i := range m.Data {
			m.Data[i] = fill
		}
		return m
	}
	return &chain{
		start: table(1, k), step: table(k, k), emit: table(n, k),
		predicted: table(n, k), joint: table(n, k), evidence: fill,
	}
}

// advance is the kernel t += 1.
type advance struct {
	T *int `rev:"acc"`
}

func (k advance) Forward()        { *k.T++ }
func (k advance) Inverse()        { *k.T-- }
func (k advance) Adjoint(advance) { *k.T-- }
func (k advance) Tangent(advance) { *k.T++ }

// sumProduct is the program that adds the probability of all observations to
// the evidence. Its adjoint is the backward half of the forward-backward
// algorithm.
func sumProduct(n int) rev.Step[chain] {
	type c = chain
	rowOf := func(m rev.General[float64], t int) rev.General[float64] {
		return rev.General[float64]{Rows: 1, Cols: m.Cols, Data: m.Row(t), Stride: m.Cols}
	}
	see := func(prior func(s, v *c) []float64) rev.Step[c] {
		return rev.AtIndex(func(s, v *c) revlinalg.LogMulElem[float64] {
			return revlinalg.LogMulElem[float64]{
				Z: rev.ViewSlice(v.joint.Row(s.t)),
				X: rev.ViewSlice(prior(s, v)),
				Y: rev.ViewSlice(v.emit.Row(s.t)),
			}
		})
	}
	predict := rev.AtIndex(func(s, v *c) revlinalg.LogMul[float64] {
		return revlinalg.LogMul[float64]{
			C: rowOf(v.predicted, s.t), A: rowOf(v.joint, s.t-1), B: v.step, Workers: 1,
		}
	})
	next := rev.At(func(s *c) advance { return advance{&s.t} })
	return rev.Seq(
		see(func(_, v *c) []float64 { return v.start.Row(0) }),
		rev.Repeat(func(*c) int { return n - 1 }, rev.Seq(
			next,
			predict,
			see(func(s, v *c) []float64 { return v.predicted.Row(s.t) }),
		)),
		rev.AtIndex(func(s, v *c) revlinalg.LogSum[float64] {
			return revlinalg.LogSum[float64]{Out: &v.evidence, X: rev.ViewSlice(v.joint.Row(s.t))}
		}),
	)
}

// The posteriors of a hidden Markov model of 100,000 steps are the gradient of
// the log of the evidence by the logs of the emission probabilities. No
// rescaling is needed on the way, though the evidence is near 10^-27198.
//
// The program keeps the two tables, 2·n·k numbers, as any forward-backward
// algorithm keeps the first; the adjoint reads and clears them as it goes, and
// nothing else is recorded.
func Example_hiddenMarkovModel() {
	const n = 100_000
	s := newChain(n, 2, math.Inf(-1))
	// The weather is dry or wet and stays what it is nine days of ten. Someone
	// takes an umbrella on two dry days of ten and on nine wet ones; every tenth
	// day is the first of three with it.
	setLogs(s.start.Data, 0.5, 0.5)
	setLogs(s.step.Data, 0.9, 0.1, 0.1, 0.9)
	for t := range n {
		if t%10 < 3 {
			setLogs(s.emit.Row(t), 0.2, 0.9)
		} else {
			setLogs(s.emit.Row(t), 0.8, 0.1)
		}
	}
	p := sumProduct(n)
	if err := p.Forward(s); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("evidence %.4v\n", ulog.Float64{Log: s.evidence})

	g := newChain(n, 2, 0)
	g.evidence = 1
	if err := p.Adjoint(s, g); err != nil {
		fmt.Println(err)
		return
	}
	for t := 50_000; t < 50_005; t++ {
		fmt.Printf("day %d wet with probability %.4f\n", t, g.emit.Row(t)[1])
	}
	fmt.Println("evidence", s.evidence)
	// Output:
	// evidence 9.447e-27198
	// day 50000 wet with probability 0.5640
	// day 50001 wet with probability 0.6489
	// day 50002 wet with probability 0.5640
	// day 50003 wet with probability 0.0711
	// day 50004 wet with probability 0.0105
	// evidence -Inf
}

func setLogs(dst []float64, p ...float64) {
	for i, v := range p {
		dst[i] = math.Log(v)
	}
}

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
