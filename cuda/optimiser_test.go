package cuda

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/optim"
	"revnum/rev"
)

// TestOptimisers takes steps on the device and on the host, and compares the bits.
func TestOptimisers(t *testing.T) {
	dev := interpreter(t, 1<<20)
	s := must(dev.NewStream())(t)
	rate := func(step int) float64 { return 0.1 / float64(step+1) }
	for name, c := range map[string]struct {
		host   optim.Method
		device interface {
			Step(s *Stream, x, grad Vector[float64]) error
			Free() error
		}
	}{
		"SGD":      {&optim.SGD{Rate: rate}, &SGD{Rate: rate}},
		"momentum": {&optim.SGD{Rate: rate, Momentum: 0.7}, &SGD{Rate: rate, Momentum: 0.7}},
		"Nesterov": {&optim.SGD{Rate: rate, Momentum: 0.7, Nesterov: true}, &SGD{Rate: rate, Momentum: 0.7, Nesterov: true}},
		"Adam":     {&optim.Adam{Rate: rate}, &Adam{Rate: rate}},
		"AdamW":    {&optim.Adam{Rate: rate, Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-3, Decay: 0.01}, &Adam{Rate: rate, Beta1: 0.8, Beta2: 0.95, Epsilon: 1e-3, Decay: 0.01}},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 300
			rnd := rand.New(rand.NewPCG(1, 2))
			want := vector[float64](rnd, n).Data
			x := must(NewVector(dev, rev.Vector[float64]{N: n, Data: make([]float64, 2*n), Inc: 2}))(t)
			if err := (Axpy[float64]{Y: x, Alpha: must(NewScalar(dev, 1.0))(t), X: must(NewVector(dev, rev.ViewSlice(want)))(t)}).Forward(); err != nil {
				t.Fatal(err)
			}
			if err := dev.Sync(); err != nil { // before the other stream
				t.Fatal(err)
			}
			for range 4 {
				grad := vector[float64](rnd, n)
				c.host.Step(want, grad.Data)
				if err := c.device.Step(s, x, must(NewVector(dev, grad))(t)); err != nil {
					t.Fatal(err)
				}
			}
			all, got := make([]float64, 2*n), make([]float64, n)
			if err := x.Data.Get(all); err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i] = all[2*i]
			}
			if !slices.Equal(got, want) {
				t.Errorf("the steps end at %v, on the host at %v", got, want)
			}
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic for another length")
					}
				}()
				_ = c.device.Step(s, x.Slice(0, 3), x.Slice(0, 3))
			}()
			if err := errors.Join(c.device.Free(), c.device.Step(nil, x.Slice(0, 0), x.Slice(0, 0)), c.device.Free(), c.device.Free()); err != nil {
				t.Error(err)
			}
		})
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	x := must(AllocVector[float64](dev, 2))(t)
	if err := (&SGD{Rate: rate}).Step(s, x, x); err == nil {
		t.Error("a step in a closed stream")
	}
	host := Vector[float64]{2, make([]float64, 2), 1}
	if err := (&Adam{Rate: rate}).Step(nil, host, x); !errors.Is(err, errForeign) {
		t.Errorf("a step on the host: error %v", err)
	}
	if err := (&Adam{Rate: rate}).Step(nil, x, host); err == nil {
		t.Error("a gradient on the host")
	}
}

// TestOptimisersWithoutMemory lets each allocation of the first step fail in turn.
func TestOptimisersWithoutMemory(t *testing.T) {
	for failing := 1; failing <= 2; failing++ {
		d := interpret(t, 1<<18)
		dev := open(t, d)
		x := must(AllocVector[float64](dev, 2))(t)
		m := &Adam{Rate: func(int) float64 { return 1 }}
		d.failing = d.allocations + failing
		if err := m.Step(nil, x, x); !errors.Is(err, ErrMemory) {
			t.Errorf("allocation %d: error %v", failing, err)
		}
		if err := errors.Join(m.Step(nil, x, x), m.Free(), x.Data.Free()); err != nil {
			t.Error(err)
		}
		onlyScratch(t, dev, d)
	}
}
