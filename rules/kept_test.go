package rules

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"revnum/rules/internal/catalog"
)

// The frames that rules keep between calls do not keep the memory of callers.
func TestNothingIsKept(t *testing.T) {
	for _, test := range []struct {
		name string
		call func(r *Rule, left *atomic.Int32) error
	}{
		{"revlinalg.Dot[float64]", func(r *Rule, left *atomic.Int32) error {
			const n, problems = 100, 4
			var operands []Buffer
			for range r.Operands {
				x := make([]float64, n*problems)
				watch(left, x)
				b := Slice(x[:n])
				if len(operands) == slices.IndexFunc(r.Operands, func(o Operand) bool { return o.Name == "Out" }) {
					b = Scalar(&x[0])
				}
				b.Len, b.Move = n*problems, 8*n
				operands = append(operands, b)
			}
			return r.CallEach(Forward, Args{Operands: operands}, problems)
		}},
		{"revlinalg.FFT[complex128]", func(r *Rule, left *atomic.Int32) error {
			x, g := make([]complex128, 64), make([]complex128, 64)
			watch(left, x)
			watch(left, g)
			return r.Call(Gradient, Args{Operands: []Buffer{Slice(x)}, Cotangents: []Buffer{Slice(g)}})
		}},
	} {
		var left atomic.Int32
		r := lookup(t, test.name)
		if err := test.call(r, &left); err != nil {
			t.Fatal(err)
		}
		frame := r.frames.Get().(catalog.Frame) // the one of the call, which the collector would drop
		for until := time.Now().Add(5 * time.Second); left.Load() > 0 && time.Now().Before(until); time.Sleep(time.Millisecond) {
			runtime.GC()
		}
		if n := left.Load(); n > 0 {
			t.Errorf("%s: the memory of %d operands is kept", test.name, n)
		}
		r.frames.Put(frame)
	}
}

// watch counts x in left while it is in memory.
func watch[E any](left *atomic.Int32, x []E) {
	left.Add(1)
	runtime.AddCleanup(&x[0], func(left *atomic.Int32) { left.Add(-1) }, left)
}
