// Package exactness runs three programs ahead and back over fixed point, and beside it over
// float64: planets, the training of a network, and the gradient of a whole training with respect
// to its learning rates.
package exactness

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"

	"revnum/benchmarks/internal/orbits"
	"revnum/fixed"
	"revnum/rev"
)

// Sizes says how long the programs are, in steps.
type Sizes struct{ Planets, Training, Rates int }

// Report has all results.
type Report struct {
	Sizes
	Arch    string // of this machine
	Planets []orbits.Row

	// Training ahead and back: the largest change of a weight.
	Training []orbits.Row
	Losses   [2]float64 // before and after
	Hashes   []Hash     // after the longest training

	Rates Rates
}

// Hash is that of the bits of all weights after a training.
type Hash struct {
	Workers int
	Bits    uint64
	Same    bool // whether training backward gave the first bits
}

// Rates are derivatives of a loss after a training with respect to the learning rate of each
// step, by the inverse over fixed point, and over float64 with all weights kept.
type Rates struct {
	Parameters                int
	Fixed, Kept               []float64
	FixedSeconds, KeptSeconds float64
	Same                      bool // whether the inverse gave the first bits
	FixedBytes, KeptBytes     int  // of what a gradient keeps of the steps
	TapeBytes                 int  // of all values that the network computes, as a tape keeps them
}

// Of training alone, and of training whose learning rates have a gradient.
const (
	points, hidden, rate                = 1000, 64, 0.05
	ratesPoints, ratesHidden, ratesRate = 200, 32, 0.02
)

// Measure runs the programs, and calls done after each of Count parts.
func Measure(ctx context.Context, sizes Sizes, done func()) (*Report, error) {
	r := &Report{Sizes: sizes, Arch: runtime.GOARCH}
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := part(r, ctx); err != nil {
			return nil, err
		}
		done()
	}
	return r, nil
}

// Count is the number of parts of Measure.
var Count = len(parts)

var parts = []func(*Report, context.Context) error{
	func(r *Report, ctx context.Context) (err error) {
		r.Planets, err = orbits.RoundTrips(ctx, r.Sizes.Planets)
		return err
	},
	(*Report).trainFloats,
	(*Report).trainFixed,
	(*Report).trainWorkers,
	(*Report).ratesFixed,
	(*Report).ratesKept,
}

func (r *Report) trainFloats(ctx context.Context) error {
	loss := newNetwork[float64](points, hidden, 1, 1)
	for _, n := range orbits.Lengths(r.Sizes.Training) {
		f := newFloatRun(loss)
		first := slices.Clone(f.w)
		begin := time.Now()
		if err := each(ctx, n, func(int) error { return f.ahead(rate) }); err != nil {
			return err
		}
		if err := each(ctx, n, func(int) error { return f.back(rate) }); err != nil {
			return err
		}
		seconds := time.Since(begin).Seconds()
		loss.SetVector(first)
		r.Training = append(r.Training, orbits.Row{Series: "float64", Steps: n, Error: furthest(f.w, first), Seconds: seconds})
	}
	return nil
}

// furthest returns the largest difference of two elements, or NaN if there is one.
func furthest[T rev.Real](x, y []T) float64 {
	var far float64
	for i, v := range x {
		far = math.Max(far, math.Abs(fixed.Float(v-y[i])))
	}
	return far
}

func (r *Report) trainFixed(ctx context.Context) error {
	for _, n := range orbits.Lengths(r.Sizes.Training) {
		row, hash, err := r.train(ctx, n, 1)
		if err != nil {
			return err
		}
		r.Training = append(r.Training, row)
		if n == r.Sizes.Training {
			r.Hashes = append(r.Hashes, hash)
		}
	}
	return nil
}

func (r *Report) trainWorkers(ctx context.Context) error {
	for _, workers := range []int{2, 7} {
		_, hash, err := r.train(ctx, r.Sizes.Training, workers)
		if err != nil {
			return err
		}
		r.Hashes = append(r.Hashes, hash)
	}
	return nil
}

// train trains n steps over fixed point, and back. It sets r.Losses.
func (r *Report) train(ctx context.Context, n, workers int) (row orbits.Row, h Hash, err error) {
	loss := newNetwork[q](points, hidden, workers, 1)
	t := newTrainer(loss, n, rate)
	first := slices.Clone(t.W)
	value := func() float64 {
		loss.SetVector(t.W)
		x, e := loss.Value()
		err = errors.Join(err, e)
		return x.Float64()
	}
	r.Losses[0] = value()
	begin := time.Now()
	if err := t.ahead(ctx); err != nil {
		return row, h, err
	}
	seconds := time.Since(begin).Seconds()
	h = Hash{Workers: workers, Bits: hash(t.W)}
	r.Losses[1] = value()
	begin = time.Now()
	if err := t.back(ctx, nil); err != nil {
		return row, h, err
	}
	seconds += time.Since(begin).Seconds()
	h.Same = slices.Equal(t.W, first)
	return orbits.Row{Series: "fixed.Q43", Steps: n, Error: furthest(t.W, first), Seconds: seconds}, h, err
}

// ratesFixed computes the derivatives by the inverse of training, which keeps nothing but the
// bits that the decay of the velocities loses.
func (r *Report) ratesFixed(ctx context.Context) error {
	loss, other := newNetwork[q](ratesPoints, ratesHidden, 1, 1), newNetwork[q](ratesPoints, ratesHidden, 1, 2)
	t := newTrainer(loss, r.Sizes.Rates, ratesRate)
	first := slices.Clone(t.W)
	begin := time.Now()
	if err := t.ahead(ctx); err != nil {
		return err
	}
	r.Rates.Parameters = len(t.W)
	r.Rates.FixedBytes = t.buffer.Bits() / 8
	g := rev.ZeroLike(t.run)
	other.SetVector(t.W)
	if _, err := other.ValueGradient(g.W); err != nil {
		return err
	}
	if err := t.back(ctx, g); err != nil {
		return err
	}
	r.Rates.FixedSeconds = time.Since(begin).Seconds()
	r.Rates.Same = slices.Equal(t.W, first)
	for _, v := range g.Rates {
		r.Rates.Fixed = append(r.Rates.Fixed, v.Float64())
	}
	return nil
}

// ratesKept computes the derivatives over float64. It keeps the weights and velocities of all
// steps, the least that a gradient without an inverse can keep if it computes the rest again.
// With v and w after a step, and H the Hessian of the loss at the weights before it, the
// cotangents go back by
//
//	r̄ = w̄·v,  v̄ <- v̄ + r·w̄,  w̄ <- w̄ - H·v̄,  v̄ <- 9/10·v̄.
func (r *Report) ratesKept(ctx context.Context) error {
	loss, other := newNetwork[float64](ratesPoints, ratesHidden, 1, 1), newNetwork[float64](ratesPoints, ratesHidden, 1, 2)
	f := newFloatRun(loss)
	var ws, vs [][]float64
	begin := time.Now()
	err := each(ctx, r.Sizes.Rates, func(int) error {
		ws = append(ws, slices.Clone(f.w))
		err := f.ahead(ratesRate)
		vs = append(vs, slices.Clone(f.v))
		return err
	})
	if err != nil {
		return err
	}
	n := len(f.w)
	wBar, vBar, hv := make([]float64, n), make([]float64, n), make([]float64, n)
	other.SetVector(f.w)
	if _, err := other.ValueGradient(wBar); err != nil {
		return err
	}
	r.Rates.Kept = make([]float64, r.Sizes.Rates)
	err = each(ctx, r.Sizes.Rates, func(i int) error {
		i = r.Sizes.Rates - 1 - i
		r.Rates.Kept[i] = floats.Dot(wBar, vs[i])
		floats.AddScaled(vBar, ratesRate, wBar)
		loss.SetVector(ws[i])
		_, err := loss.HessianVector(hv, f.grad, vBar)
		floats.Sub(wBar, hv)
		floats.Scale(num/float64(den), vBar)
		return err
	})
	r.Rates.KeptSeconds = time.Since(begin).Seconds()
	r.Rates.KeptBytes = 8 * 2 * n * r.Sizes.Rates
	r.Rates.TapeBytes = r.Rates.KeptBytes + 8*ratesPoints*(2*ratesHidden+arms)*r.Sizes.Rates
	return err
}
