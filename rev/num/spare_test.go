package num_test

import (
	"testing"

	"revnum/rev/num"
)

// A short tape needs no memory from the pool, and a long one keeps its values, and those of other tapes.
func TestSpare(t *testing.T) {
	run := func(n int) {
		var spare, other num.Spare[int]
		tape, second := spare.Tape(), other.Tape()
		defer spare.Free()
		defer other.Free()
		for i := range n {
			tape, second = spare.Push(tape, i), other.Push(second, -i)
		}
		for i, v := range tape {
			if v != i || second[i] != -i {
				t.Fatalf("values %d are %d and %d", i, v, second[i])
			}
		}
		if len(tape) != n {
			t.Fatalf("%d values, want %d", len(tape), n)
		}
	}
	for _, n := range []int{0, 16, 17, 1000, 40} {
		run(n)
	}
	if n := testing.AllocsPerRun(10, func() { run(16) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
