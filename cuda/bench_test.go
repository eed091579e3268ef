package cuda

import (
	"math"
	"testing"
)

// TestBench runs the benchmark over the interpreter, whose times mean nothing.
func TestBench(t *testing.T) {
	d := interpret(t, 1<<23)
	dev := open(t, d)
	before := d.machine.Memory.Used()
	rates, err := Bench(dev, 60, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rates {
		want := 1.0
		switch {
		case i >= 2 && r.Flops == 0:
			want = r.Bytes / r.Seconds * rates[0].Seconds / rates[0].Bytes
		case i >= 2:
			want = r.Flops / r.Seconds * rates[1].Seconds / rates[1].Flops
		}
		if !(r.Seconds > 0) || math.Abs(r.Peak/want-1) > 1e-12 || r.Bytes*r.Flops != 0 {
			t.Errorf("%+v, want a fraction of %v", r, want)
		}
	}
	if last := rates[len(rates)-1]; last.Flops != 2*8*8*8 {
		t.Errorf("%v flops, want those of 8×8 matrices", last.Flops)
	}
	if d.machine.Memory.Used() > before+1<<20 {
		t.Errorf("%d bytes before, %d after", before, d.machine.Memory.Used())
	}
	small := open(t, interpret(t, 1<<16))
	if _, err := Bench(small, 60, 1); err == nil {
		t.Error("the benchmark runs without memory")
	}
}
