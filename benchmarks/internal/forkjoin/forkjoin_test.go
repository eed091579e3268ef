package forkjoin

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"revnum/rev"
	"revnum/rev/revtest"
)

func TestRotate(t *testing.T) {
	revtest.Kernel(t, revtest.Spec[rotate]{
		New: func(rnd *rand.Rand, n int) rotate {
			k := rotate{Out: rev.ViewSlice(make([]float64, 3)), Q: rev.ViewSlice(make([]float64, 4)), V: rev.NewGeneral[float64](n, 3, nil)}
			for _, x := range [][]float64{k.Q.Data, k.V.Data} {
				for i := range x {
					x[i] = rnd.NormFloat64()
				}
			}
			return k
		},
		RoundTrip: 200,
	})
	// A quarter turn about z takes x to y.
	k := rotate{Out: rev.ViewSlice(make([]float64, 3)), Q: rev.ViewSlice([]float64{math.Sqrt2 / 2, 0, 0, math.Sqrt2 / 2}), V: rev.NewGeneral(1, 3, []float64{1, 0, 0})}
	k.Forward()
	if x := k.Out.Data; math.Abs(x[0])+math.Abs(x[1]-1)+math.Abs(x[2]) > 1e-15 {
		t.Errorf("x turns to %v", x)
	}
}

// TestGradients compares each gradient with differences, and its bits on one core with
// those on two.
func TestGradients(t *testing.T) {
	for i, p := range programs(8) {
		var bits []float64
		for _, cores := range []int{1, 2} {
			p = programs(8)[i] // which begins at the same bits
			was := runtime.GOMAXPROCS(cores)
			g := rev.ZeroLike(p.start)
			_, err := rev.ValueGradient(p.step, func(s *state) *float64 { return &s.Out }, p.start, g)
			runtime.GOMAXPROCS(was)
			if err != nil {
				t.Fatal(err)
			}
			flat := inputs(g)
			if cores == 1 {
				bits = flat
				continue
			}
			for i, v := range flat {
				if v != bits[i] {
					t.Fatalf("%s: element %d is %v on two cores, %v on one", p.name, i, v, bits[i])
				}
			}
		}
		for _, i := range []int{0, len(bits) / 2, len(bits) - 1} {
			at := func(e float64) float64 {
				set(p.start, i, e)
				defer set(p.start, i, -e)
				if err := p.step.Forward(p.start); err != nil {
					t.Fatal(err)
				}
				v := p.start.Out
				if err := p.step.Inverse(p.start); err != nil {
					t.Fatal(err)
				}
				return v
			}
			const h = 1e-5
			if d := (at(h) - at(-h)) / (2 * h); math.Abs(d-bits[i]) > 1e-5*max(1, math.Abs(d)) {
				t.Errorf("%s: derivative %d is %v, by differences %v", p.name, i, bits[i], d)
			}
		}
	}
}

// parts returns the inputs of all programs.
func parts(s *state) [][]float64 {
	all := [][]float64{s.X, s.Y, s.Q, s.A.Data}
	for _, v := range s.V {
		all = append(all, v.Data)
	}
	for _, w := range s.Weights {
		all = append(all, w.Data)
	}
	all = append(all, s.Bias...)
	for _, b := range s.Systems {
		all = append(all, b.Q.Data, b.V.Data)
	}
	return all
}

func inputs(s *state) (flat []float64) {
	for _, x := range parts(s) {
		flat = append(flat, x...)
	}
	return flat
}

// set adds e to input i.
func set(s *state, i int, e float64) {
	for _, x := range parts(s) {
		if i < len(x) {
			x[i] += e
			return
		}
		i -= len(x)
	}
}
