package cluster

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster/shard"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// BenchmarkIteration measures a step of expectation maximisation on 100,000 points with
// d = 10 and K = 20, once with exact sums of blocks and once with plain ones.
func BenchmarkIteration(b *testing.B) {
	const n, d, k = 100000, 10, 20
	rnd := rand.New(rand.NewPCG(1, 1))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64(i%k*(j+1)%7)+rnd.NormFloat64())
		}
	}
	p, err := NewPoints(Alone(), 1, func() (*shard.Set, error) { return shard.NewSet(0, shard.Matrix("x", x)) })
	if err != nil {
		b.Fatal(err)
	}
	m, _, err := FitGMM(b.Context(), p, k, 1, &gmm.Options{MaxIter: 1}, nil)
	if err != nil {
		b.Fatal(err)
	}
	var e *gmm.Expectation
	catch := catcher{p, func(x *gmm.Expectation) { e, err = gmm.NewExpectation(gmm.Full, k, d, x.Numbers()) }}
	if _, _, err := gmm.FitPoints(b.Context(), catch, k, &gmm.Options{Init: m, MaxIter: 1}, nil); err == nil || e == nil {
		b.Fatal(err)
	}
	sum := make([]float64, e.Len())
	b.Run("exact", func(b *testing.B) {
		for b.Loop() {
			s, err := p.sum(e.Len(), func(_ *pointsWorker, part []float64, _ int, x rev.General[float64]) error {
				e.Moments(part, x)
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			s.RoundTo(sum)
		}
	})
	b.Run("plain", func(b *testing.B) {
		part := make([]float64, e.Len())
		var buf []float64
		for b.Loop() {
			clear(sum)
			for block := range p.set.Blocks() {
				x, err := p.set.Read(block, buf)
				if err != nil {
					b.Fatal(err)
				}
				buf = x.Data
				e.Moments(part, x)
				floats.Add(sum, part)
			}
		}
	})
}

// catcher passes the first Expectation to take, and fails.
type catcher struct {
	*Points
	take func(e *gmm.Expectation)
}

func (c catcher) Moments(_ []float64, e *gmm.Expectation) error {
	c.take(e)
	return ErrLost
}

func (c catcher) FuncGrad([]float64, []float64) (float64, error) { return 0, ErrLost }
