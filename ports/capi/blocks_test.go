//go:build cgo

package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// A block has the residuals of the kernel, and its derivatives agree with differences.
func TestBlocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	random := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.NormFloat64() / 4
		}
		return x
	}
	camera9, camera11 := random(9), random(11)
	camera9[5], camera9[6], camera11[5], camera11[6] = -8, 100, -8, 100
	feature := random(2)
	for _, c := range []struct {
		name   string
		params [][]float64
		m      int
		blocks *sync.Pool
	}{
		{"Snavely", [][]float64{camera9, random(3)}, 2, &snavelyBlocks},
		{"Weighted", [][]float64{camera11, random(3), {0.7}}, 3, &weightedBlocks},
	} {
		b := c.blocks.New().(*block)
		compute := func(r []float64, j [][]float64) error {
			return b.compute(append([][]float64{feature}, c.params...), r, j)
		}
		r := make([]float64, c.m)
		j := make([][]float64, len(c.params))
		none := make([][]float64, len(c.params))
		for i, p := range c.params {
			j[i] = random(c.m * len(p)) // is overwritten
		}
		if err := compute(r, j); err != nil {
			t.Fatal(err)
		}
		for i, p := range c.params {
			one := make([][]float64, len(c.params))
			one[i] = make([]float64, len(j[i]))
			if err := compute(nil, one); err != nil || !slices.Equal(one[i], j[i]) {
				t.Errorf("%s: block %d by itself: %v, %v, want %v", c.name, i, err, one[i], j[i])
			}
			for n := range p {
				const h = 1e-5
				plus, minus, x := make([]float64, c.m), make([]float64, c.m), p[n]
				for _, d := range []struct {
					h float64
					r []float64
				}{{h, plus}, {-h, minus}} {
					p[n] = x + d.h
					if err := compute(d.r, none); err != nil {
						t.Fatal(err)
					}
				}
				p[n] = x
				for row := range c.m {
					got, want := j[i][row*len(p)+n], (plus[row]-minus[row])/(2*h)
					if !(math.Abs(got-want) <= 1e-6*(1+math.Abs(want))) {
						t.Errorf("%s: ∂r%d by parameter %d of block %d: %v, difference %v", c.name, row, n, i, got, want)
					}
				}
			}
		}
	}
	b := snavelyBlocks.New().(*block)
	if err := b.compute([][]float64{feature, camera9[:8], make([]float64, 3)}, nil, make([][]float64, 2)); err == nil || err.Error() != "argument 2 has length 8, want 9" {
		t.Errorf("a camera of 8 parameters: %v", err)
	}
}
