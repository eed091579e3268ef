package revolve_test

import (
	"fmt"
	"math"
	"testing"

	"revnum/internal/revolve"
)

func Example() {
	fmt.Println(revolve.Sweeps(10, 3), revolve.Split(10, 3))
	// Output: 2 4
}

func TestBinomial(t *testing.T) {
	for n := range 30 {
		for k := range n {
			if got, want := revolve.Binomial(n+1, k+1), revolve.Binomial(n, k)+revolve.Binomial(n, k+1); got != want {
				t.Errorf("C(%d, %d) = %d, want %d", n+1, k+1, got, want)
			}
		}
	}
	if revolve.Binomial(3, -1) != 0 || revolve.Binomial(3, 4) != 0 || revolve.Binomial(1000, 500) != math.MaxInt {
		t.Error("outside of the triangle, or too large")
	}
}

// Split leaves parts that take no more sweeps than the whole, the first part one less.
func TestSplit(t *testing.T) {
	for d := 2; d < 7; d++ {
		for n := 2; n < 500; n++ {
			m, r := revolve.Split(n, d), revolve.Sweeps(n, d)
			if m < 1 || m >= n || revolve.Sweeps(m, d) > r-1 || revolve.Sweeps(n-m, d-1) > r {
				t.Errorf("%d of %d steps with %d snapshots", m, n, d)
			}
		}
	}
}
