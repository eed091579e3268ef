package science

import (
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestChoices(t *testing.T) {
	x := []float64{0.6, -0.4, 0.7}
	for kind := range 4 {
		ownCheck(t, fmt.Sprint("activations ", kind), x, func(x []float64) float64 { return activations(x, kind) }, func(g, x []float64) float64 { return activationsGradient(g, x, kind) }, func(x []float64) float64 { return activationsValue(x, kind) })
		second(t, "activations", x, func(g, x []float64) { activationsGradient(g, x, kind) },
			func(dst, x, v []float64) { activationsHessVec(dst, x, v, kind) }, func(dst *mat.SymDense, x []float64) { activationsHessian(dst, x, kind) })
	}
	for _, names := range [][]string{{"tanh", "scaled", "x"}, {"x", "tanh", "x"}} {
		ownCheck(t, "layered", x, func(x []float64) float64 { return layered(x, names) }, func(g, x []float64) float64 { return layeredGradient(g, x, names) }, nil)
		second(t, "layered", x, func(g, x []float64) { layeredGradient(g, x, names) },
			func(dst, x, v []float64) { layeredHessVec(dst, x, v, names) }, func(dst *mat.SymDense, x []float64) { layeredHessian(dst, x, names) })
	}
	for _, penalty := range []bool{false, true} {
		ownCheck(t, "clipped", x, func(x []float64) float64 { return clipped(x, penalty) }, func(g, x []float64) float64 { return clippedGradient(g, x, penalty) }, nil)
	}
}

// A function that is nil panics with Go's error, and a function that chooses with its own.
func TestNoChoice(t *testing.T) {
	panics := func(f func()) (text string) {
		defer func() { text = fmt.Sprint(recover()) }()
		f()
		return
	}
	x, g := []float64{1, 2, 3}, make([]float64, 3)
	for _, p := range [][2]func(){
		{func() { layered(x, []string{""}) }, func() { layeredGradient(g, x, []string{""}) }},
		{func() { unset(x, 0) }, func() { unsetGradient(g, x, 0) }},
	} {
		if a, b := panics(p[0]), panics(p[1]); a != b || a == "<nil>" {
			t.Errorf("the function panics with %q, the gradient with %q", a, b)
		}
	}
	if text := panics(func() { newOptional(false).BareGradient(g, x, 1) }); !strings.Contains(text, "is nil") {
		t.Errorf("the gradient of a method of nil panics with %q", text)
	}
}

func TestDeferred(t *testing.T) {
	s := &survey{y: []float64{0.3, 0.1, 0.4, 0.9}}
	for _, x := range [][]float64{{0.6, 0.7}, {0.6, -0.7}, {0.6, 100}} {
		_, want := s.Misfit(x)
		ownCheck(t, "Misfit", x, func(x []float64) float64 { v, _ := s.Misfit(x); return v }, func(g, x []float64) float64 {
			s.n = 0
			v, err := s.MisfitGradient(g, x)
			if err != want {
				t.Errorf("the error is %v, want %v", err, want)
			}
			if s.n != len(x) {
				t.Errorf("the deferred call counted %d, want %d", s.n, len(x))
			}
			if !s.TryLock() || !s.seen.TryLock() {
				t.Fatal("a lock is still held")
			}
			s.Unlock()
			s.seen.Unlock()
			return v
		}, nil)
		if x[1] < 10 {
			second(t, "Misfit", x, func(g, x []float64) { s.MisfitGradient(g, x) }, s.MisfitHessVec, s.MisfitHessian)
		}
	}
}

func TestHeld(t *testing.T) {
	x := []float64{0.6, -0.4, 0.7}
	ownCheck(t, "Energy", x, field.Energy, func(g, x []float64) float64 { return field.EnergyGradient(g, x) }, nil)
	second(t, "Energy", x, func(g, x []float64) { field.EnergyGradient(g, x) }, field.EnergyHessVec, field.EnergyHessian)
	s := newSpatial(field.at)
	s.noise = struct{ constantNoise }{}
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "science.even") {
			t.Errorf("the gradient of another type panics with %q", text)
		}
	}()
	s.EnergyGradient(make([]float64, 3), x)
}

// A deferred call is that of the function, and of the locals, where it stands.
func TestDeferredWhereItStands(t *testing.T) {
	x := []float64{0.6, -0.4, 0.7}
	for n := range 4 {
		ownCheck(t, "bindings", x, func(x []float64) float64 { return bindings(x, n) }, func(g, x []float64) float64 { return bindingsGradient(g, x, n) }, nil)
		second(t, "bindings", x, func(g, x []float64) { bindingsGradient(g, x, n) },
			func(dst, x, v []float64) { bindingsHessVec(dst, x, v, n) }, func(dst *mat.SymDense, x []float64) { bindingsHessian(dst, x, n) })
		ownCheck(t, "leaving", x, func(x []float64) float64 { return leaving(x, n) }, func(g, x []float64) float64 { return leavingGradient(g, x, n) }, nil)
		second(t, "leaving", x, func(g, x []float64) { leavingGradient(g, x, n) },
			func(dst, x, v []float64) { leavingHessVec(dst, x, v, n) }, func(dst *mat.SymDense, x []float64) { leavingHessian(dst, x, n) })
	}
}

// An interface in a field may be nil where it is not used.
func TestHoldsNothing(t *testing.T) {
	x := []float64{0.6, -0.4, 0.7}
	for _, all := range []bool{false, true} {
		o := newOptional(all)
		ownCheck(t, "Score", x, o.Score, func(g, x []float64) float64 { return o.ScoreGradient(g, x) }, nil)
		second(t, "Score", x, func(g, x []float64) { o.ScoreGradient(g, x) }, o.ScoreHessVec, o.ScoreHessian)
	}
	ownCheck(t, "Bare", x, func(x []float64) float64 { return newOptional(false).Bare(x, 0) }, func(g, x []float64) float64 { return newOptional(false).BareGradient(g, x, 0) }, nil)
}

// A pointer is to an element of what its slice was.
func TestAnchors(t *testing.T) {
	ownCheck(t, "anchors", []float64{0.6, -0.4, 0.7}, anchors, anchorsGradient, nil)
}

// Slices in structs and slices are what they were, too.
func TestAnchorsInside(t *testing.T) {
	ownCheck(t, "anchorsInside", []float64{0.6, -0.4, 0.7}, anchorsInside, anchorsInsideGradient, anchorsInsideValue)
}

// Methods of embedded interfaces are those of what these hold.
func TestEmbedding(t *testing.T) {
	x, e := []float64{0.6, -0.4, 0.7}, newEmbedding()
	ownCheck(t, "Sum", x, e.Sum, e.SumGradient, e.SumValue)
	e.covariance = nil
	defer func() {
		if recover() == nil {
			t.Error("a nil interface does not panic")
		}
	}()
	e.SumGradient(make([]float64, 3), x)
}

// Parts of arrays are copied in place.
func TestSections(t *testing.T) {
	ownCheck(t, "sections", []float64{0.6, -0.4, 0.7}, sections, sectionsGradient, sectionsValue)
}

// Letters of strings are constants.
func TestLetters(t *testing.T) {
	for _, formula := range []string{"H2O", "C1H", ""} {
		ownCheck(t, "letters", []float64{0.6, -0.4, 0.7}, func(x []float64) float64 { return letters(x, formula) },
			func(g, x []float64) float64 { return lettersGradient(g, x, formula) }, func(x []float64) float64 { return lettersValue(x, formula) })
	}
}

// Methods of values are functions.
func TestMethods(t *testing.T) {
	e := newEmbedding()
	for _, x := range [][]float64{{0.6, -0.4, 0.7}, {-0.6, 0.4, 0.7}} {
		ownCheck(t, "methods", x, e.methods, e.methodsGradient, e.methodsValue)
	}
}

// A break leaves a switch.
func TestBroken(t *testing.T) {
	for _, x := range [][]float64{{0.6, -0.4, 0.7}, {0.3, 1.4, 0.1}} {
		for n := range 5 {
			ownCheck(t, "broken", x, func(x []float64) float64 { return broken(x, n) },
				func(g, x []float64) float64 { return brokenGradient(g, x, n) }, func(x []float64) float64 { return brokenValue(x, n) })
		}
	}
}

// Variables that only set each other are left out, with what only they read.
func TestInVain(t *testing.T) {
	ownCheck(t, "inVain", []float64{0.6, -0.4, 0.7}, func(x []float64) float64 { return inVain(x, 1) },
		func(g, x []float64) float64 { return inVainGradient(g, x, 1) }, func(x []float64) float64 { return inVainValue(x, 1) })
}
