package fixed

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// clone returns a copy of b that shares nothing with it.
func (b *Buffer) clone() *Buffer {
	return &Buffer{slices.Clone(b.state), b.step, slices.Clone(b.spilled), slices.Clone(b.spills)}
}

func (b *Buffer) equal(c *Buffer) bool {
	return b.step == c.step && slices.Equal(b.state, c.state) && slices.Equal(b.spilled, c.spilled) && slices.Equal(b.spills, c.spills)
}

// TestBuffer checks that any products of any numbers, with other changes in between, are
// undone to the bit. The buffer must also be restored at each step.
func TestBuffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := numbers(0, 5).Draw(t, "x")
		type fraction struct{ n, d int }
		steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) fraction {
			d := rapid.OneOf(rapid.IntRange(1, maxDenominator), rapid.IntRange(1, 12)).Draw(t, "d")
			return fraction{rapid.IntRange(1, d).Draw(t, "n"), d}
		}), 0, 200).Draw(t, "steps")
		b := NewBuffer(len(x))
		var xs [][]Q43
		var bs []*Buffer
		for _, s := range steps {
			xs, bs = append(xs, slices.Clone(x)), append(bs, b.clone())
			b.Mul(x, s.n, s.d)
			for i, v := range xs[len(xs)-1] {
				want := new(big.Rat).SetFrac(new(big.Int).Mul(big.NewInt(int64(v)), big.NewInt(int64(s.n))), big.NewInt(int64(s.d)))
				off := want.Sub(want, new(big.Rat).SetInt64(int64(x[i])))
				if off.Abs(off).Cmp(new(big.Rat).SetInt64(int64(s.n))) >= 0 {
					t.Fatalf("%d times %d/%d is %d", v, s.n, s.d, x[i])
				}
			}
			for i := range x {
				x[i] += Q43(s.n) * One // what an optimiser adds
			}
		}
		if b.Steps() != len(steps) {
			t.Fatalf("%d steps, want %d", b.Steps(), len(steps))
		}
		for k := len(steps) - 1; k >= 0; k-- {
			for i := range x {
				x[i] -= Q43(steps[k].n) * One
			}
			b.Div(x, steps[k].n, steps[k].d)
			if !slices.Equal(x, xs[k]) || !b.equal(bs[k]) {
				t.Fatalf("step %d not undone: %v, want %v", k, x, xs[k])
			}
		}
	})
}

// TestBufferGrowth measures the bits per step and number against log2(d/n).
func TestBufferGrowth(t *testing.T) {
	for _, c := range []struct{ n, d int }{{9, 10}, {98, 100}, {1, 2}, {99, 100}, {999, 1000}, {2, 3}} {
		const size, steps = 16, 20000
		x := normals[Q43](size)
		b := NewBuffer(size)
		r := rand.New(rand.NewPCG(1, 2))
		for range steps {
			b.Mul(x, c.n, c.d)
			for i := range x {
				x[i] += Q43(r.Int64N(int64(One))) - One/2
			}
		}
		got := float64(b.Bits()) / size / steps
		want := math.Log2(float64(c.d) / float64(c.n))
		t.Logf("%d/%d: %.5f bits a step, log2(d/n) = %.5f", c.n, c.d, got, want)
		// At first the buffer has no digits to give back. Until it has some, this costs
		// digits of base n. Bits also rounds the last bits up.
		if slack := (math.Log2(float64(c.d)) + 2) / steps; got < want-slack || got > want+slack {
			t.Errorf("%d/%d: %.5f bits a step, want %.5f±%.5f", c.n, c.d, got, want, slack)
		}
	}
}

func TestBufferMisuse(t *testing.T) {
	x := []Q43{1, 2}
	b := NewBuffer(2)
	for _, f := range []struct{ n, d int }{{0, 1}, {-1, 2}, {2, 1}, {1, 0}, {1, 1<<16 + 1}, {-2, -1}} {
		mustPanic(t, "Mul by a bad fraction", func() { b.Mul(x, f.n, f.d) })
		mustPanic(t, "Div by a bad fraction", func() { b.Div(x, f.n, f.d) })
	}
	mustPanic(t, "Mul of a shorter vector", func() { b.Mul(x[:1], 1, 2) })
	mustPanic(t, "Div without Mul", func() { b.Div(x, 1, 2) })
	if x[0] != 1 || x[1] != 2 || b.Bits() != 0 {
		t.Error("misuse changed the operands")
	}
}

func TestNoAllocation(t *testing.T) {
	x, y := normals[Q43](100), normals[Q43](100)
	b := NewBuffer(100)
	text := make([]byte, 0, 64)
	for name, f := range map[string]func(){
		"Dot":        func() { sink = Dot(x, y).Float64() },
		"AppendText": func() { text, _ = x[0].AppendText(text[:0]) },
		"Pow":        func() { sink = Pow(x[0].Abs(), y[0]).Float64() },
		"Buffer":     func() { b.Mul(x, 9, 10); b.Div(x, 9, 10) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
