package revlog_test

import (
	"fmt"
	"math"

	"revnum/rev"
	"revnum/revlog"
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

// sumProduct is the program that adds the probability of all observations to
// the evidence. Its adjoint is the backward half of the forward-backward
// algorithm.
func sumProduct(n int) rev.Step[chain] {
	type c = chain
	rowOf := func(m rev.General[float64], t int) rev.General[float64] {
		return rev.General[float64]{Rows: 1, Cols: m.Cols, Data: m.Row(t), Stride: m.Cols}
	}
	see := func(t func(s *c) int, prior func(s, v *c) []float64) rev.Step[c] {
		return rev.AtIndex(func(s, v *c) revlog.MulElem[float64] {
			return revlog.MulElem[float64]{
				Z: rev.ViewSlice(v.joint.Row(t(s))),
				X: rev.ViewSlice(prior(s, v)),
				Y: rev.ViewSlice(v.emit.Row(t(s))),
			}
		})
	}
	next := func(s *c) int { return s.t + 1 }
	return rev.Seq(
		see(func(*c) int { return 0 }, func(_, v *c) []float64 { return v.start.Row(0) }),
		rev.For(func(*c) int { return n - 1 }, func(s *c) *int { return &s.t }, rev.Seq(
			rev.AtIndex(func(s, v *c) revlog.MatMul[float64] {
				return revlog.MatMul[float64]{
					C: rowOf(v.predicted, next(s)), A: rowOf(v.joint, s.t), B: v.step, Workers: 1,
				}
			}),
			see(next, func(s, v *c) []float64 { return v.predicted.Row(next(s)) }),
		)),
		rev.At(func(s *c) revlog.Sum[float64] {
			return revlog.Sum[float64]{Out: &s.evidence, X: rev.ViewSlice(s.joint.Row(n - 1))}
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
