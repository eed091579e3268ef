package cuda

import (
	"errors"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/philox"
	"revnum/rev"
)

// TestRandom fills vectors on the device and on the host, and compares the bits.
func TestRandom(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	t.Run("float64", randomOf[float64])
	t.Run("float32", randomOf[float32])
	t.Run("Q43", randomOf[fixed.Q43])
	t.Run("small grid", func(t *testing.T) {
		lower(t, 32, 1, 1)
		randomOf[float32](t)
	})
}

func randomOf[T rev.Real](t *testing.T) {
	for name, fill := range map[string]struct {
		host   func([]T, uint64, uint64)
		device func(*Stream, Vector[T], uint64, uint64) error
	}{"uniform": {philox.Uniform[T], Uniform[T]}, "normal": {philox.Normal[T], Normal[T]}} {
		for _, n := range []int{0, 1, 2, 1200} { // 1200 have some in the tails that Normal has other polynomials for
			for _, first := range []uint64{0, 1<<33 + 1, 1<<64 - 3} { // the last goes around
				const seed = 0x123456789abcdef
				want, all := make([]T, n), make([]T, 2*n+1)
				fill.host(want, seed, first)
				x := must(AllocVector[T](testDevice, 2*n+1))(t)
				s := must(testDevice.NewStream())(t)
				for _, at := range [][2]int{{1, 2}, {0, 1}, {1, 1}} { // of the last two, a store of both is aligned in one
					begin, inc := at[0], at[1]
					part := Vector[T]{N: n, Data: x.Data[begin:], Inc: inc}
					if err := errors.Join(x.Data.Zero(s), fill.device(s, part, seed, first), s.Sync(), x.Data.Get(all)); err != nil {
						t.Fatal(err)
					}
					got := make([]T, n)
					for i := range got {
						got[i], all[begin+inc*i] = all[begin+inc*i], 0
					}
					if !slices.Equal(got, want) {
						t.Errorf("%d %s numbers from %d on, %d apart: %v, on the host %v", n, name, first, inc, got, want)
					}
					if slices.ContainsFunc(all, func(v T) bool { return v != 0 }) {
						t.Errorf("%d %s numbers, %d apart: something is between or after them", n, name, inc)
					}
				}
				if err := errors.Join(x.Data.Free(), s.Close()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := fill.device(nil, Vector[T]{2, make([]T, 2), 1}, 1, 0); !errors.Is(err, errForeign) {
			t.Errorf("%s numbers on the host: error %v", name, err)
		}
	}
}
