package workspace

import (
	"runtime/debug"
	"testing"
)

type workspace[T any] struct{ x []T }

func TestGetAndPut(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection empties pools
	w := Get[*workspace[float64]]()
	if w.x != nil {
		t.Fatal("a new workspace is not zero")
	}
	w.x = Zeros(w.x, 100)
	Put(w)
	if Get[*workspace[float32]]().x != nil {
		t.Error("types share a pool")
	}
	if raceEnabled {
		t.Skip("the race detector has pools drop what is put in them at random")
	}
	if n := testing.AllocsPerRun(100, func() {
		w := Get[*workspace[float64]]()
		w.x = Zeros(w.x, 100)
		Put(w)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestGrowAndZeros(t *testing.T) {
	b := []int{1, 2, 3, 4}
	if g := Grow(b[:1], 4); len(g) != 4 || &g[0] != &b[0] {
		t.Error("Grow does not use the storage that there is")
	}
	if g := Grow(b, 5); len(g) != 5 {
		t.Errorf("Grow to 5 has length %d", len(g))
	}
	if z := Zeros(b, 2); len(z) != 2 || z[0] != 0 || z[1] != 0 || b[2] != 3 {
		t.Errorf("Zeros(b, 2) is %v and leaves %v", z, b)
	}
}
