package examples

import (
	"math"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// BesselState is the state of BesselLogs. Half, Term, Sum and K must be zero, and are zero
// again after it.
type BesselState[T rev.Real] struct {
	X, Y [1]T

	Half [1]T // log(x/2)
	Term [1]T // log of the magnitude of the term
	Sum  [1]T
	K    int // index of the term
}

// BesselLogs demonstrates a loop over logarithmic numbers that runs backward without a tape;
// for work, use revmath.Bessel. It returns the program
//
//	y += J_ν(x) = Σ_k (-1)^k·t_k,  t_0 = (x/2)^ν/Γ(ν+1),  t_k = t_{k-1}·(x/2)²/(k·(k+ν)).
//
// A product of terms is a sum of logs, which has an inverse. The loop therefore runs
// backward without a tape, and the gradient takes the memory of the few numbers of the
// state. Liu and Zhao, Differentiate everything with a reversible embedded domain-specific
// language, arXiv 2003.04617, compute Bessel functions in this way.
//
// BesselLogs panics with a *rev.DomainError unless 0 <= ν <= 1000. The program fails with
// an error that wraps one unless 0 < x <= 1000. Logs have an absolute error, and terms
// therefore a relative one: the error of the sum is about
// ε·I_ν(x) times the largest log.
func BesselLogs[T rev.Real](nu float64) rev.Step[BesselState[T]] {
	if !(nu >= 0 && nu <= 1000) {
		panic(&rev.DomainError{Func: "BesselLogs: the order", Args: []float64{nu}})
	}
	type (
		state  = BesselState[T]
		number = func(s *state) *[1]T
	)
	half, term, sum := number(func(s *state) *[1]T { return &s.Half }), number(func(s *state) *[1]T { return &s.Term }), number(func(s *state) *[1]T { return &s.Sum })
	plus := func(x number, by float64) rev.Step[state] {
		return rev.At(func(s *state) shift[T] { return shift[T]{&x(s)[0], fixed.Of[T](by)} })
	}
	power := func(p float64) rev.Step[state] { // t *= (x/2)^p
		return rev.At(func(s *state) scaled[T] { return scaled[T]{&term(s)[0], &half(s)[0], fixed.Of[T](p)} })
	}
	add := rev.At(func(s *state) revlinalg.Exp[T] {
		return revlinalg.Exp[T]{Y: rev.ViewSlice(sum(s)[:]), X: rev.ViewSlice(term(s)[:])}
	})
	// ratio returns log(k·(k+ν)).
	ratio := func(k int) float64 { return math.Log(float64(k)) + math.Log(float64(k)+nu) }
	divide := rev.AtIndex(func(s, v *state) shift[T] { return shift[T]{&v.Term[0], fixed.Of[T](-ratio(s.K))} })
	next := rev.At(func(s *state) count { return count{&s.K, 1} })

	even := func(s *state) bool { return s.K%2 == 0 }
	logGamma, _ := math.Lgamma(nu + 1)
	compute := rev.Seq(
		rev.At(func(s *state) atMost[T] { return atMost[T]{&s.X[0], 1000, "BesselLogs"} }),
		rev.At(func(s *state) revlinalg.Log[T] {
			return revlinalg.Log[T]{Y: rev.ViewSlice(half(s)[:]), X: rev.ViewSlice(s.X[:])}
		}),
		plus(half, -math.Ln2),
		power(nu), plus(term, -logGamma), // t_0
		add,
		rev.While(
			// The terms grow up to some k, and then fall below the last bit.
			func(s *state) bool {
				return fixed.Float(s.Term[0]) > -40 || 2*fixed.Float(s.Half[0]) > ratio(s.K+1)
			},
			func(s *state) bool { return s.K > 0 },
			rev.Seq(next, power(2), divide, rev.If(even, even, add, rev.Uncall(add)))),
	)
	copySum := rev.At(func(s *state) revlinalg.Sum[T] {
		return revlinalg.Sum[T]{Out: &s.Y[0], X: rev.ViewSlice(s.Sum[:])}
	})
	ancilla := func(x number) func(s *state) []T { return func(s *state) []T { return x(s)[:] } }
	return rev.Routine(compute, copySum, ancilla(half), ancilla(term), ancilla(sum))
}

// atMost is the kernel that does nothing, and fails if x is above a bound.
type atMost[T rev.Real] struct {
	X     *T `rev:"in"`
	Bound float64
	Func  string
}

func (k atMost[T]) Run(rev.Pass[atMost[T]]) error {
	if x := fixed.Float(*k.X); x > k.Bound {
		return &rev.DomainError{Func: k.Func, Args: []float64{x}}
	}
	return nil
}

// scaled is the kernel y += c·x.
type scaled[T rev.Real] struct {
	Y *T `rev:"acc"`
	X *T `rev:"in"`
	C T
}

func (k scaled[T]) Run(p rev.Pass[scaled[T]]) error {
	sign := T(p.Sign())
	*k.Y += T(sign * fixed.Product(k.C, *k.X))
	if t := p.T; t.Y != nil && t.X != nil {
		*t.Y += T(sign * fixed.Product(k.C, *t.X))
	}
	if g := p.G; g.Y != nil && g.X != nil {
		*g.X += fixed.Product(k.C, *g.Y)
	}
	if gt := p.GT; gt.Y != nil && gt.X != nil {
		*gt.X += fixed.Product(k.C, *gt.Y)
	}
	return nil
}
