package numbers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/ulog"
)

// RoundTrip is the result of running a program forward and backward over one type of
// number.
type RoundTrip struct {
	Number  string  `json:"number"`
	Program string  `json:"program"`
	Steps   int     `json:"steps"`
	Moved   float64 `json:"moved"` // the largest change of a number by Forward
	Error   float64 `json:"error"` // the largest difference from the start after Forward and Inverse
	Exact   bool    `json:"exact"` // whether all bits are those of the start
	Forward float64 `json:"forward_seconds"`
	Inverse float64 `json:"inverse_seconds"` // of a step, as Forward
	State   int64   `json:"state_bytes"`     // of the numbers
	Extra   int64   `json:"extra_bytes"`     // taken by Forward and Inverse together beyond the state
}

// These are the programs, by their names in the table.
const (
	rotations = "q += A·p + b; p -= Aᵀ·q; rotate q and p"
	powers    = "q *= ((1+p)/2)^h; p /= ((1+q)/2)^h; h = 1/64"
)

// RoundTrips runs the experiment over all types. The difference of logarithmic numbers
// is the difference of their logs.
func RoundTrips(steps int) ([]RoundTrip, error) {
	if steps < 0 {
		return nil, fmt.Errorf("numbers: %d steps", steps)
	}
	var all []RoundTrip
	for _, run := range []func(int) (RoundTrip, error){
		linear[float32], linear[float64], linear[fixed.Q43],
		func(n int) (RoundTrip, error) {
			return multiplicative(n, func(x ulog.Float32) float64 { return float64(x.Log) }, func(l float64) ulog.Float32 { return ulog.Float32{Log: float32(l)} })
		},
		func(n int) (RoundTrip, error) {
			return multiplicative(n, func(x ulog.Float64) float64 { return x.Log }, func(l float64) ulog.Float64 { return ulog.Float64{Log: l} })
		},
		func(n int) (RoundTrip, error) {
			return multiplicative(n, func(x ulog.Fixed) float64 { return x.Log.Float64() }, func(l float64) ulog.Fixed { return ulog.Fixed{Log: fixed.FromFloat64(l)} })
		},
	} {
		r, err := run(steps)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// dim is the number of coordinates of each of q and p.
const dim = 8

// A phase is the state of the program over float32, float64 and Q43: positions
// and momenta, and what moves them.
type phase[T rev.Real] struct {
	q, p, b, theta []T
	a              rev.General[T]
}

// linear runs coupled affine steps and rotations of both halves. The affine steps
// integrate, by leapfrogs, a system of springs with the frequencies of A.
func linear[T rev.Real](steps int) (RoundTrip, error) {
	rnd := rand.New(rand.NewPCG(5, 1))
	normals := func(n int, scale float64) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = fixed.Of[T](scale * rnd.NormFloat64())
		}
		return x
	}
	s := &phase[T]{
		q: normals(dim, 1), p: normals(dim, 1), b: normals(dim, 0.001), theta: normals(dim*(dim-1)/2, 0.3),
		a: rev.NewGeneral(dim, dim, normals(dim*dim, 0.005)),
	}
	transposed := rev.NewGeneral[T](dim, dim, nil)
	for i := range dim {
		for j := range dim {
			transposed.Row(j)[i] = s.a.Row(i)[j]
		}
	}
	rotate := func(x func(s *phase[T]) []T) rev.Step[phase[T]] {
		return rev.At(func(s *phase[T]) revlinalg.Unitary[T] {
			return revlinalg.Unitary[T]{X: rev.NewGeneral(dim, 1, x(s)), Theta: rev.ViewSlice(s.theta)}
		})
	}
	program := rev.Seq(
		rev.At(func(s *phase[T]) revlinalg.Affine[T] {
			return revlinalg.Affine[T]{Y: rev.ViewSlice(s.q), W: s.a, X: rev.ViewSlice(s.p), B: rev.ViewSlice(s.b)}
		}),
		rev.Uncall(rev.At(func(s *phase[T]) revlinalg.Affine[T] {
			return revlinalg.Affine[T]{Y: rev.ViewSlice(s.p), W: transposed, X: rev.ViewSlice(s.q)}
		})),
		rotate(func(s *phase[T]) []T { return s.q }),
		rotate(func(s *phase[T]) []T { return s.p }),
	)
	r, err := roundTrip(steps, program, s, func(s *phase[T]) []T { return slices.Concat(s.q, s.p) }, fixed.Float[T])
	r.Number, r.Program = nameOf[T](), rotations
	return r, err
}

// logNumber has the operations that the program needs over logarithmic numbers.
type logNumber[T any] interface {
	ulog.Number
	Mul(T) T
	Div(T) T
	Add(T) T
	Sqrt() T
}

// A growth is the kernel y *= ((1+x)/2)^h with h = 1/64. It has no derivatives, because
// the cotangent of a logarithmic number is not one itself. The kernels of package
// revlinalg hold logs for this reason.
type growth[T logNumber[T]] struct {
	Y *T `rev:"inout"`
	X *T `rev:"in"`
}

func (k growth[T]) factor() T {
	var one T // the zero value
	f := one.Add(*k.X).Div(one.Add(one))
	for range 6 {
		f = f.Sqrt()
	}
	return f
}

// Run implements rev.Kernel.
func (k growth[T]) Run(p rev.Pass[growth[T]]) error {
	switch {
	case p.G.Y != nil || p.T.Y != nil:
		return rev.ErrUnsupported
	case p.Back:
		*k.Y = T.Div(*k.Y, k.factor())
	default:
		*k.Y = T.Mul(*k.Y, k.factor())
	}
	return nil
}

type populations[T any] struct{ q, p [dim]T }

// multiplicative runs pairs of populations that grow and decay with each other.
// In the logs u and v of a pair these are leapfrogs of u̇ = s(v), v̇ = -s(u) with
// s(x) = log((1+eˣ)/2), and as s increases through 0 the pair moves on a closed
// curve.
func multiplicative[T logNumber[T]](steps int, logOf func(T) float64, number func(log float64) T) (RoundTrip, error) {
	rnd := rand.New(rand.NewPCG(6, 1))
	s := new(populations[T])
	for i := range dim {
		s.q[i], s.p[i] = number(3*rnd.NormFloat64()), number(3*rnd.NormFloat64())
	}
	var pairs []rev.Step[populations[T]]
	for i := range dim {
		pairs = append(pairs,
			rev.At(func(s *populations[T]) growth[T] { return growth[T]{&s.q[i], &s.p[i]} }),
			rev.Uncall(rev.At(func(s *populations[T]) growth[T] { return growth[T]{&s.p[i], &s.q[i]} })))
	}
	r, err := roundTrip(steps, rev.Seq(pairs...), s, func(s *populations[T]) []T { return slices.Concat(s.q[:], s.p[:]) }, logOf)
	r.Number, r.Program = nameOf[T](), powers
	return r, err
}

// roundTrip runs the step forward and then backward, the given number of times from the
// state s. It compares the numbers of the state with those of the start.
func roundTrip[S any, T comparable](steps int, step rev.Step[S], s *S, numbers func(s *S) []T, value func(T) float64) (RoundTrip, error) {
	program := rev.Repeat(func(*S) int { return steps }, step)
	start := numbers(s)
	r := RoundTrip{Steps: steps, State: int64(len(start)) * int64(unsafe.Sizeof(start[0]))}
	distance := func(x []T) float64 {
		var d float64
		for i, v := range x {
			d = max(d, math.Abs(value(v)-value(start[i])))
		}
		return d
	}

	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	t0 := time.Now()
	if err := program.Forward(s); err != nil {
		return r, err
	}
	t1 := time.Now()
	moved := distance(numbers(s))
	t2 := time.Now()
	if err := program.Inverse(s); err != nil {
		return r, err
	}
	t3 := time.Now()
	runtime.ReadMemStats(&after)

	end := numbers(s)
	r.Moved, r.Error, r.Exact = moved, distance(end), slices.Equal(start, end)
	per := float64(max(steps, 1))
	r.Forward, r.Inverse = t1.Sub(t0).Seconds()/per, t3.Sub(t2).Seconds()/per
	r.Extra = int64(after.TotalAlloc-before.TotalAlloc) - r.State // numbers made a copy
	return r, nil
}

// nameOf returns the name of a number type, as users write it.
func nameOf[T any]() string {
	aliases := strings.NewReplacer("ulog.Float[float64]", "ulog.Float64", "ulog.Float[float32]", "ulog.Float32")
	return aliases.Replace(fmt.Sprintf("%T", *new(T)))
}
