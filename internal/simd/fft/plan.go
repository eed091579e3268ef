package fft

import (
	"math"
	"sync"
	"sync/atomic"

	"revnum/internal/simd/cpu"
	"revnum/internal/workspace"
)

// A Plan transforms vectors of one length. Goroutines may share it.
type Plan struct {
	n     int
	scale float64 // 1/√n

	// One of these is there, unless n is 1.
	split  *split
	conv   *convolution
	simple []simplePass // of the generic tier, and for n up to shortest
}

// shortest is the largest length for which the calls of assembly take longer than Go.
const shortest = 16

var plans cache[Plan]

// Of returns the plan of length n > 0. The last 16 plans are kept.
func Of(n int) *Plan { return plans.of(n, newPlan) }

func newPlan(n int) *Plan {
	p := &Plan{n: n, scale: 1 / math.Sqrt(float64(n))}
	if n == 1 {
		return p
	}
	n1, direct := bestSplit(n)
	m, convolved := bestConvolution(n)
	switch {
	case convolved < direct:
		p.conv = newConvolution(n, m)
	case tier == cpu.Generic || n <= shortest:
		p.simple = newSimple(n)
	default:
		p.split = newSplit(n1, n/n1)
	}
	return p
}

// A Work is the memory of transforms. Its zero value is ready.
type Work struct {
	x, simple, conv, real []complex128
	step                  step
}

// Transform computes x <- F·x, or Fᴴ·x if back is set, for x_0, x_inc, ... The elements of F
// are exp(-2πi·jk/n)/√n.
func (p *Plan) Transform(w *Work, x []complex128, inc int, back bool, workers int) {
	if inc == 1 {
		p.transform(w, x[:p.n], x[:p.n], back, workers)
		return
	}
	w.x = workspace.Grow(w.x, p.n)
	for i := range w.x {
		w.x[i] = x[i*inc]
	}
	p.transform(w, w.x, w.x, back, workers)
	for i, v := range w.x {
		x[i*inc] = v
	}
}

// transform stores the transform of src in dst, which may be src.
func (p *Plan) transform(w *Work, dst, src []complex128, back bool, workers int) {
	switch {
	case p.conv != nil:
		p.conv.run(w, dst, src, back, workers)
	case p.split != nil:
		p.split.run(&w.step, dst, src, back, workers)
	case p.simple != nil:
		p.runSimple(w, dst, src, back)
	default:
		dst[0] = src[0]
	}
}

// flag returns b for assembly.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A cache holds the plans that were made last, the newest first. Goroutines may share it.
type cache[P any] struct {
	list atomic.Pointer[[]entry[P]]
	mu   sync.Mutex // held while the list is replaced
}

type entry[P any] struct {
	n    int
	tier cpu.Tier
	plan *P
}

// kept is how many plans a cache holds.
const kept = 16

// of returns the plan of length n, which make makes if there is none.
func (c *cache[P]) of(n int, make func(n int) *P) *P {
	if p := c.find(n); p != nil {
		return p
	}
	p := make(n)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.find(n); p != nil { // another goroutine was faster
		return p
	}
	list := []entry[P]{{n, tier, p}}
	if old := c.list.Load(); old != nil {
		list = append(list, (*old)[:min(len(*old), kept-1)]...)
	}
	c.list.Store(&list)
	return p
}

func (c *cache[P]) find(n int) *P {
	if list := c.list.Load(); list != nil {
		for _, e := range *list {
			if e.n == n && e.tier == tier {
				return e.plan
			}
		}
	}
	return nil
}
