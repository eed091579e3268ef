package cluster_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/cluster"
)

// counter counts the calls of Sum, and the numbers in the last of them.
type counter struct {
	cluster.Reducer
	calls, numbers int
}

func (c *counter) Sum(x []int64) error {
	c.calls++
	c.numbers = len(x)
	return c.Reducer.Sum(x)
}

// terms returns the numbers that a rank adds in a round. From one round to the next their
// sizes change little, much, or beyond all bounds.
func terms(kind, round, rank, n int) []float64 {
	rnd := rand.New(rand.NewPCG(uint64(1000*kind+round), uint64(rank)))
	x := make([]float64, n)
	for i := range x {
		switch kind {
		case 0: // alike in all rounds
			x[i] = rnd.NormFloat64() * float64(i+1)
		case 1:
			x[i] = math.Ldexp(rnd.NormFloat64(), rnd.IntN(60)-30*round)
		case 2: // subnormal numbers, and -2⁻¹⁰⁷⁴ itself
			x[i] = float64(rnd.IntN(9)-4) * math.SmallestNonzeroFloat64
		case 3: // the largest numbers
			x[i] = math.MaxFloat64 * float64(rnd.IntN(3)-1)
		case 4: // often 0
			x[i] = float64(rnd.IntN(2)*rnd.IntN(2)) * 0.1
		case 5: // any bits of a finite number
			x[i] = math.Float64frombits(rnd.Uint64() &^ (1 << 62))
		}
	}
	return x
}

// TestReduce adds over ranks in many rounds, and wants the sums of a single machine.
func TestReduce(t *testing.T) {
	const n, rounds, each = 17, 12, 5
	for _, ranks := range []int{2, 3, 4, 9} {
		for kind := range 6 {
			err := cluster.Run(ranks, func(r cluster.Reducer) error {
				s, one := cluster.NewSums(n), cluster.NewSums(n)
				got, want := make([]float64, n), make([]float64, n)
				for round := range rounds {
					s.Reset()
					one.Reset()
					for rank := range ranks {
						for part := range each {
							x := terms(kind, round, rank*each+part, n)
							one.Add(x)
							if rank == r.Rank() {
								s.Add(x)
							}
						}
					}
					if err := s.Reduce(r, nil); err != nil {
						return err
					}
					s.RoundTo(got)
					one.RoundTo(want)
					for i := range want {
						if !sameBits(got[i], want[i]) {
							return fmt.Errorf("round %d, sum %d is %v, want %v", round, i, got[i], want[i])
						}
					}
					// The state must be good for more terms, and not only for rounding.
					x := terms(kind, rounds, ranks, n)
					s.Add(x)
					one.Add(x)
					s.Merge(one)
					one.Merge(one)
					s.RoundTo(got)
					one.RoundTo(want)
					for i := range want {
						if !sameBits(got[i], want[i]) {
							return fmt.Errorf("round %d, with more terms: sum %d is %v, want %v", round, i, got[i], want[i])
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Errorf("numbers of kind %d on %d ranks: %v", kind, ranks, err)
			}
		}
	}
}

// TestReduceMessages checks that sums of numbers of similar size take one call, and about
// two integers each, and that sums that remain 0 take none.
func TestReduceMessages(t *testing.T) {
	const n, rounds = 1000, 30
	err := cluster.Run(4, func(r cluster.Reducer) error {
		c, s := &counter{Reducer: r}, cluster.NewSums(n)
		for round := range rounds {
			s.Reset()
			for part := range 25 {
				x := terms(0, round, 25*r.Rank()+part, n)
				clear(x[n/2:])
				s.Add(x)
			}
			c.calls = 0
			if err := s.Reduce(c, nil); err != nil {
				return err
			}
			if round > 0 && (c.calls != 1 || c.numbers > 2*n/2+10) {
				return fmt.Errorf("round %d: %d calls, the last with %d numbers, want 1 and %d", round, c.calls, c.numbers, 2*n/2)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// many claims to be more ranks than Reduce can serve.
type many struct{ cluster.Reducer }

func (many) Size() int { return 1<<16 + 1 }

func TestReduceRanks(t *testing.T) {
	if err := cluster.NewSums(1).Reduce(many{cluster.Alone()}, nil); err == nil {
		t.Error("65537 ranks: no error")
	}
}

// lonely is one rank of many, of which the others have zeros.
type lonely struct {
	cluster.Reducer
	size int
}

func (l lonely) Size() int { return l.size }

// TestReduceWidest adds the least number and the largest ones in one sum, which reach from
// the first limb to the last.
func TestReduceWidest(t *testing.T) {
	got, want := make([]float64, 1), make([]float64, 1)
	for size := 2; size <= 1<<16; size *= 2 {
		for _, sign := range []float64{-1, 1} {
			one, s := cluster.NewSums(1), cluster.NewSums(1)
			for round := range 3 {
				one.Reset()
				s.Reset()
				for _, x := range []float64{sign * math.MaxFloat64, sign * math.MaxFloat64, math.SmallestNonzeroFloat64} {
					one.Add([]float64{x})
					s.Add([]float64{x})
				}
				if err := s.Reduce(lonely{cluster.Alone(), size}, nil); err != nil {
					t.Fatal(err)
				}
				// What is left shows whether all bits were there.
				for _, sums := range []*cluster.Sums{one, s} {
					sums.Add([]float64{-sign * math.MaxFloat64})
					sums.Add([]float64{-sign * math.MaxFloat64})
				}
				one.RoundTo(want)
				s.RoundTo(got)
				if !sameBits(got[0], want[0]) || got[0] != math.SmallestNonzeroFloat64 {
					t.Errorf("%d ranks, round %d: %v, want %v", size, round, got[0], want[0])
				}
			}
		}
	}
}

// BenchmarkReduce measures what a reduction of the moments of a mixture computes.
func BenchmarkReduce(b *testing.B) {
	const n = 2221
	x, r, s, sum := terms(0, 0, 0, n), lonely{cluster.Alone(), 4}, cluster.NewSums(n), make([]float64, n)
	clear(x[n/2:])
	for b.Loop() {
		s.Reset()
		s.Add(x)
		if err := s.Reduce(r, nil); err != nil {
			b.Fatal(err)
		}
		s.RoundTo(sum)
	}
}
