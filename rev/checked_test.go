package rev_test

import (
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
)

// TestCheckedStack has operands of a caller whose stack may grow in a checked pass.
func TestCheckedStack(t *testing.T) {
	for n := range 200 {
		checkedBelow(t, n)
	}
}

func checkedBelow(t *testing.T, n int) {
	done := make(chan bool)
	go func() { // on a stack of its own
		defer close(done)
		below(n, func() {
			var out, alpha fixed.Q43 = 1, fixed.One
			x, y := [9]fixed.Q43{0: fixed.One}, [9]fixed.Q43{0: fixed.One}
			v := rev.Vector[fixed.Q43]{N: 3, Inc: 2, Data: x[:]}
			if err := rev.ForwardChecked(revlinalg.Dot[fixed.Q43]{Out: &out, X: v, Y: v}); err != nil || out != 1+fixed.One {
				t.Errorf("depth %d: Dot gives %v, error %v", n, out, err)
			}
			if err := rev.ForwardChecked(revlinalg.Axpy[fixed.Q43]{Alpha: &alpha, X: rev.ViewSlice(x[:]), Y: rev.ViewSlice(y[:])}); err != nil || y[0] != 2*fixed.One {
				t.Errorf("depth %d: Axpy gives %v, error %v", n, y[0], err)
			}
		})
	}()
	<-done
}

// below calls f some frames deeper.
func below(n int, f func()) {
	var pad [64]byte
	if pad[n%64]++; n == 0 {
		f()
		return
	}
	below(n-int(pad[n%64]), f)
}
