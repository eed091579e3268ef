package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/revmodels/ba"
)

// chain returns a problem in which only neighbouring cameras see the same points, and camera 2
// sees nothing. The first two see more points than a warp has threads.
func chain() *ba.Problem {
	rnd := rand.New(rand.NewPCG(5, 6))
	p := &ba.Problem{}
	see := func(q int, cameras ...int) {
		for _, c := range cameras {
			p.Camera, p.Point = append(p.Camera, c), append(p.Point, q)
			p.Features = append(p.Features, rnd.NormFloat64(), rnd.NormFloat64())
		}
	}
	const points = 210
	for q := range points {
		switch {
		case q < 150:
			see(q, 1, 0)
		case q < 180:
			see(q, 3, 1, 3) // twice
		default:
			see(q, 4)
		}
		p.Points = append(p.Points, rnd.NormFloat64(), rnd.NormFloat64(), 0.2*rnd.NormFloat64())
	}
	for range 5 {
		p.Cameras = append(p.Cameras, 0.1*rnd.NormFloat64(), 0.1*rnd.NormFloat64(), 0.1*rnd.NormFloat64(), 0, 0, -5, 1.5, 0.01, 0.02)
	}
	return p
}

// seesWith reports whether two cameras of p see the same point.
func seesWith(p *ba.Problem, a, b int) bool {
	by := make([]bool, p.NumPoints())
	for i, q := range p.Point {
		by[q] = by[q] || p.Camera[i] == a
	}
	for i, q := range p.Point {
		if p.Camera[i] == b && by[q] {
			return true
		}
	}
	return false
}

// TestBundleReduced multiplies a vector by the reduced camera system, and compares with the
// product that does without it.
func TestBundleReduced(t *testing.T) {
	dev := interpreter(t, 1<<24)
	for name, c := range map[string]struct {
		p      *ba.Problem
		blocks int
		loss   ba.Loss
	}{"ring": {ring(t), 10, nil}, "chain": {chain(), 7, nil}, "huber": {chain(), 7, ba.Huber(0.5)}, "none": {new(ba.Problem), 0, nil}} {
		t.Run(name, func(t *testing.T) {
			n := c.p.NumCameras()
			b := must(NewBundlePoints(dev, c.p, &ba.Options{FixedPoints: []int{}, Loss: c.loss}))(t)
			number, answer, held := make([]float64, 1), make([]float64, 97*n), make([]float64, n)
			for a := range min(n, 1) {
				held[a] = 1
			}
			err := errors.Join(b.Set(c.p.Points), b.Ask(ba.AskLinear, 0, c.p.Cameras, number, answer), b.Ask(ba.AskHold, 0, held, nil, nil),
				b.Ask(ba.AskScale, 0, nil, nil, nil), b.Ask(ba.AskEliminate, 10, nil, number, answer[:90*n]))
			if err != nil || number[0] != 0 {
				t.Fatal(number, err)
			}
			if err := b.Reduced(make([]float64, 88*c.blocks+88)); err == nil {
				t.Error("no error for one block too many")
			}
			blocks, again := make([]float64, 88*c.blocks), make([]float64, 88*c.blocks)
			if err := errors.Join(b.Reduced(blocks), b.Reduced(again)); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(blocks, again) {
				t.Error("the second system has other bits")
			}

			rnd := rand.New(rand.NewPCG(1, 2))
			x, got, want, size := make([]float64, 9*n), make([]float64, 9*n), make([]float64, 9*n), make([]float64, 9*n)
			for i := range x {
				x[i] = rnd.NormFloat64()
			}
			if err := b.Ask(ba.AskProduct, 0, x, nil, want); err != nil {
				t.Fatal(err)
			}
			for row := range n {
				for col := range row + 1 {
					if row != col && !seesWith(c.p, row, col) {
						continue
					}
					for i := range 81 {
						v, at := blocks[i], [2]int{i / 8, i % 8}
						if i >= 72 {
							at = [2]int{i - 72, 8}
						}
						k, l := 9*row+at[0], 9*col+at[1]
						got[k] += v * x[l]
						size[k] += math.Abs(v * x[l])
						if row != col {
							got[l] += v * x[k]
							size[l] += math.Abs(v * x[k])
						}
					}
					blocks = blocks[88:]
				}
			}
			for i, v := range want {
				if !(math.Abs(got[i]-v) <= 1e-11*size[i]) {
					t.Errorf("parameter %d of camera %d: %v, want %v", i%9, i/9, got[i], v)
				}
			}
			if err := b.Free(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBundleReducedMemory lets each allocation fail in turn. Afterwards there is memory.
func TestBundleReducedMemory(t *testing.T) {
	d := interpret(t, 1<<20)
	dev := open(t, d)
	p := ring(t)
	b := must(NewBundlePoints(dev, p, nil))(t)
	before := d.machine.Memory.Used()
	opts := &ba.Options{Points: b, Method: ba.Cholesky, MaxIter: 1}
	for failing := 1; ; failing++ {
		d.failing = d.allocations + failing
		_, err := ba.Solve(t.Context(), p, opts)
		if err == nil {
			if failing < 5 {
				t.Errorf("%d allocations", failing-1)
			}
			break
		}
		if !errors.Is(err, ErrMemory) {
			t.Errorf("allocation %d: %v", failing, err)
		}
		if used := d.machine.Memory.Used(); used != before {
			t.Errorf("allocation %d: %d bytes remain", failing, used-before)
		}
	}
	if err := b.Free(); err != nil {
		t.Error(err)
	}
}
