package num_test

import (
	"math/rand/v2"
	"testing"

	"revnum/rev"
	"revnum/rev/num"
)

// A tape returns what was pushed, last first, and is used again.
func TestTape(t *testing.T) {
	for range 2 {
		tape := num.NewTape[float32]()
		for i := range 5 {
			tape.Push(float32(i))
		}
		for i := 4; i >= 0; i-- {
			if v := tape.Pop(); v != float32(i) {
				t.Errorf("%v, want %d", v, i)
			}
		}
		tape.Free()
	}
}

// Take returns what Extend put on the tape, between other values.
func TestTapeExtend(t *testing.T) {
	for range 2 {
		tape := num.NewTape[int]()
		for k := range 4 {
			tape.Push(k)
			x := tape.Extend(100*k - 100)
			for i := range x {
				x[i] = k + i
			}
		}
		for k := 3; k >= 0; k-- {
			x := tape.Take(100*k - 100)
			if len(x) != max(0, 100*k-100) {
				t.Fatalf("%d values", len(x))
			}
			for i, v := range x {
				if v != k+i {
					t.Fatalf("value %d of %d is %d", i, k, v)
				}
			}
			if v := tape.Pop(); v != k {
				t.Errorf("%d, want %d", v, k)
			}
		}
		tape.Free()
	}
}

// A long tape is in pieces. Values, and lists of them of any length, come back across their ends.
func TestTapePieces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		tape := num.NewTape[int]()
		var held []int // how many each step put on the tape, or -1 for one by Push
		next := 0
		push := func() {
			n := -1
			if rnd.IntN(2) == 0 {
				n = rnd.IntN(1 << rnd.IntN(13))
				for i := range tape.Extend(n) {
					tape.Take(n)[i] = next
					tape.Extend(n)
					next++
				}
			} else {
				tape.Push(next)
				next++
			}
			held = append(held, n)
		}
		pop := func() {
			n := held[len(held)-1]
			held = held[:len(held)-1]
			if n < 0 {
				next--
				if v := tape.Pop(); v != next {
					t.Fatalf("%d, want %d", v, next)
				}
				return
			}
			x := tape.Take(n)
			next -= n
			for i, v := range x {
				if v != next+i {
					t.Fatalf("%d, want %d", v, next+i)
				}
			}
			if len(x) != n {
				t.Fatalf("%d values, want %d", len(x), n)
			}
		}
		for range 2000 {
			if len(held) > 0 && rnd.IntN(5) < 2 {
				pop()
			} else {
				push()
			}
		}
		for len(held) > 0 {
			pop()
		}
		tape.Free()
	}
	tape := num.NewTape[float64]()
	defer tape.Free()
	first := tape.Extend(1000)
	tape.Extend(1 << 20)
	if again := tape.Extend(1 << 21); len(again) != 1<<21 {
		t.Errorf("%d values", len(again))
	}
	tape.Take(1 << 21)
	tape.Take(1 << 20)
	if last := tape.Take(1000); &last[0] != &first[0] {
		t.Error("a tape that grows is copied")
	}
}

// A counter runs a loop with two locals on a tape, and counts.
type counter struct {
	tape       *num.Tape[float64]
	held, most int // numbers on the tape
	again      int // iterations that ran again in reverse
}

func (c *counter) keep(i, n int, x, y float64) {
	if c.tape.Keep(i, n) {
		c.tape.Push(x)
		c.tape.Push(y)
		c.held += 2
		c.most = max(c.most, c.held)
	}
}

// run runs n iterations forward and back. It tells the tape that there are said iterations.
func (c *counter) run(t *testing.T, n, said int) {
	t.Helper()
	step := func(x, y float64) (float64, float64) { return x + 1, float64(0.5*y) + x }
	x, y := 1., 2.
	want := []float64{y}
	for i := range n {
		c.keep(i, said, x, y)
		x, y = step(x, y)
		want = append(want, y)
	}
	for i := n - 1; i >= 0; i-- {
		from := c.tape.Back(i)
		y, x = c.tape.Pop(), c.tape.Pop()
		if from == i {
			c.held -= 2
		}
		for j := from; j < i; j++ {
			c.keep(j, i, x, y)
			x, y = step(x, y)
			c.again++
		}
		if x != float64(i+1) || y != want[i] {
			t.Fatalf("n = %d: before iteration %d are %v and %v, want %d and %v", n, i, x, y, i+1, want[i])
		}
	}
}

// The backward pass with δ snapshots runs as few iterations again as is possible, and
// holds δ states. rev.TreeverseCost counts the iterations together with the n of the
// forward pass, whose last state stands for one more step.
func TestSnapshots(t *testing.T) {
	for d := 1; d < 8; d++ {
		tape := num.NewSnapshots[float64](d)
		for n := 1; n < 200; n++ {
			c := counter{tape: tape}
			c.run(t, n, n)
			if runs, _ := rev.TreeverseCost(n+1, d); c.again != runs-n || c.most > 2*d || c.held != 0 {
				t.Errorf("%d of %d iterations ran again with %d states, want %d with %d", c.again, n, c.most/2, runs-n, d)
			}
			c = counter{tape: tape}
			c.run(t, n, -1)
			want := 0
			if n > d {
				want, _ = rev.TreeverseCost(n, d)
			}
			if c.again != want {
				t.Errorf("%d of an unknown number %d of iterations ran again, want %d", c.again, n, want)
			}
		}
		tape.Free()
	}
	tape := num.NewSnapshots[float64](0)
	c := counter{tape: tape}
	c.run(t, 4, 4)
	if c.again != 3+2+1 {
		t.Errorf("with one state, %d iterations ran again", c.again)
	}
	tape.Free()
}
