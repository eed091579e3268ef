package machine

import (
	"testing"
	"time"
)

func TestMeasure(t *testing.T) {
	m := Measure(20 * time.Millisecond)
	if m.CPU == "" || m.Tier == "" || m.Cores < 1 {
		t.Errorf("%+v has no name", m)
	}
	for name, v := range map[string]float64{"FMA64": m.FMA64, "FMA32": m.FMA32, "reading": m.Reading, "triad": m.Triad} {
		// No machine is slower than a megaflop, none faster than an exaflop.
		if !(v > 1e6 && v < 1e18) {
			t.Errorf("%s is %g per second", name, v)
		}
	}
}

func TestBest(t *testing.T) {
	m := Machine{CPU: "x", FMA64: 1, FMA32: 4, Reading: 5, Triad: 8}
	m.Best(Machine{FMA64: 2, FMA32: 3, Reading: 6, Triad: 7})
	if want := (Machine{CPU: "x", FMA64: 2, FMA32: 4, Reading: 6, Triad: 8, Moved: 0.5}); m != want {
		t.Errorf("%+v, want %+v", m, want)
	}
	m.Best(m)
	if m.Moved != 0.5 {
		t.Errorf("what moved by 0.5 has moved by %v after it stood", m.Moved)
	}
}
