package num

import (
	"math"
	"slices"
	"testing"
)

func TestGrow(t *testing.T) {
	memory := []float64{1, 2, 3, 4}
	x, bar := memory[:2:3], []float64{5, 6}
	Grow(1, &x, &bar) // bar has no room, so both move
	if !slices.Equal(x, []float64{1, 2, 0}) || !slices.Equal(bar, []float64{5, 6, 0}) || memory[2] != 3 {
		t.Error(x, bar, memory)
	}
	first := &x[0]
	bar[2] = 7
	Grow(1, &x, &bar) // now there is room
	if &x[0] != first || !slices.Equal(bar, []float64{5, 6, 7, 0}) {
		t.Error(x, bar)
	}
	Grow(3, &x)
	if !slices.Equal(x, []float64{1, 2, 0, 0, 0, 0, 0}) {
		t.Error(x)
	}
	first = &x[0]
	Grow(0, &x)
	if len(x) != 7 || &x[0] != first {
		t.Error(x)
	}
	Grow[float64](1)
}

// Where there is room the memory keeps what it has.
func TestMore(t *testing.T) {
	memory := []float64{1, 2, 3, 4}
	x, bar := memory[:2], make([]float64, 2, 4)
	if y := More(x, 2); &y[0] != &memory[0] || !slices.Equal(y, []float64{1, 2, 3, 4}) {
		t.Error(y)
	}
	Grow(1, &x, &bar)
	if !slices.Equal(x, []float64{1, 2, 3}) {
		t.Error(x)
	}
	for n := range 20 {
		x := make([]float64, n)
		y := More(x, 3)
		if want := append(slices.Clip(x), make([]float64, 3)...); cap(y) != cap(want) || !slices.Equal(y, want) {
			t.Errorf("3 more than %d have capacity %d, want %d", n, cap(y), cap(want))
		}
	}
}

func TestFold(t *testing.T) {
	old := []float64{1, 2}
	if got := Fold(old, []float64{10, 20, 30}); &got[0] != &old[0] || !slices.Equal(got, []float64{11, 22}) {
		t.Error(got)
	}
	more := append(slices.Grow(old, 1), 3)
	if got := Fold(more[:2], more); !slices.Equal(got, []float64{11, 22}) {
		t.Errorf("memory is added to itself: %v", got)
	}
	if got := Fold(nil, []float64{1}); got != nil {
		t.Error(got)
	}
}

// A stack that is free keeps nothing of the caller's.
func TestStack(t *testing.T) {
	s := NewStack[[]int]()
	s.Push([]int{1})
	s.Push([]int{2})
	if got := s.Pop(); got[0] != 2 {
		t.Error(got)
	}
	s.Push([]int{3})
	s.Pop()
	all := s.values[:2]
	if all[1] != nil {
		t.Error("popped values stay")
	}
	s.Free()
	if all[0] != nil {
		t.Error("values stay after Free")
	}
}

func TestMake(t *testing.T) {
	s := NewScratch[float64]()
	defer s.Free()
	x := s.Make(3)
	x[0] = 1
	if y := s.Make(2); !slices.Equal(y, []float64{0, 0}) || cap(x) != 3 || x[0] != 1 {
		t.Error(x, y)
	}
}

// The derivatives of log Γ against known values: ψ(1) = -γ, ψ'(1) = π²/6, ψ'(1/2) = π²/2.
func TestGamma(t *testing.T) {
	const euler = 0.57721566490153286061
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"Digamma(1)", Digamma(1), -euler},
		{"Digamma(1/2)", Digamma(0.5), -euler - 2*math.Ln2},
		{"Digamma(100)", Digamma(100), 4.60016185273808740019860}, // H₉₉ - γ
		{"Digamma(1/4)", Digamma(0.25), -euler - math.Pi/2 - 3*math.Ln2},
		{"Digamma(-1/2)", Digamma(-0.5), 2 - euler - 2*math.Ln2},
		{"Digamma(3.3)", Digamma(3.3), 1.03482248905962168625662},
		{"Digamma(3.999)", Digamma(3.999), 1.25583380544871814853762},
		{"Digamma(5.25)", Digamma(5.25), 1.55997733640754555219202},
		{"Digamma(1.46...), near its zero", Digamma(1.4616321449683623), -9.24126552172942747921e-17},
		{"Digamma(1e300)", Digamma(1e300), 300 * math.Ln10},
		{"Trigamma(1)", Trigamma(1), math.Pi * math.Pi / 6},
		{"Trigamma(1/2)", Trigamma(0.5), math.Pi * math.Pi / 2},
		{"Lgamma(-1/2)", Lgamma(-0.5), math.Log(2 * math.Sqrt(math.Pi))},
	} {
		if !(math.Abs(c.got-c.want) <= 2e-15*max(1, math.Abs(c.want))) {
			t.Errorf("%s = %v, want %v", c.name, c.got, c.want)
		}
	}
	for x := 0.0625; x < 16; x += 0.0625 { // through all its formulas
		if d := Digamma(x+1) - Digamma(x) - 1/x; !(math.Abs(d) <= 4e-15*max(1, 1/x)) {
			t.Errorf("ψ(x+1)-ψ(x) differs by %v from 1/x at %v", d, x)
		}
	}
	for x := -3.0; x <= 0; x++ {
		if !math.IsNaN(Digamma(x)) || !math.IsInf(Trigamma(x), 1) {
			t.Errorf("at the pole %v: %v, %v", x, Digamma(x), Trigamma(x))
		}
	}
	if GammaSign(-0.5) != -1 || GammaSign(3) != 1 {
		t.Error("the sign of Γ is wrong")
	}
}

func TestFoldBy(t *testing.T) {
	type pair struct{ a, b float64 }
	add := func(old, now *pair) { old.a += now.a; old.b += now.b }
	old, now := []pair{{1, 2}}, []pair{{10, 20}, {5, 6}}
	if got := FoldBy(old, now, add); len(got) != 1 || got[0] != (pair{11, 22}) {
		t.Errorf("%v, want 11 and 22", got)
	}
	if got := FoldBy(now[:1], now, add); got[0] != (pair{10, 20}) {
		t.Errorf("%v: slices that share memory are added", got)
	}
	if got := FoldBy(nil, now, add); got != nil {
		t.Errorf("%v of nothing", got)
	}
}
