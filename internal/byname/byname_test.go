package byname

import (
	"errors"
	"testing"
	"unsafe"

	"revnum/rev"
)

// faulty is a kernel in place that panics in some passes.
type faulty struct {
	X      rev.Vector[float64] `rev:"inout"`
	Panics func(p rev.Pass[faulty]) bool
}

func (k faulty) Run(p rev.Pass[faulty]) error {
	if k.Panics(p) {
		panic(errFault)
	}
	return nil
}

var errFault = errors.New("a fault")

// panicOf returns what f panics with.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// A frame still has the cotangents after a pass of Gradient without them has panicked, and keeps no copy of them.
func TestGradientPanics(t *testing.T) {
	x, g := []float64{1}, []float64{2}
	for _, f := range []*Frame{NewFrame[faulty](), NewCaller[faulty]()} {
		*(*faulty)(f.At(Primal)) = faulty{X: rev.ViewSlice(x), Panics: func(p rev.Pass[faulty]) bool { return !p.Adjoint }}
		*(*faulty)(f.At(Cotangent)) = faulty{X: rev.ViewSlice(g)}
		if v, _ := panicOf(func() { _ = f.Call("Gradient") }).(error); !errors.Is(v, errFault) {
			t.Fatalf("Gradient panics with %v", v)
		}
		if got := (*faulty)(f.At(Cotangent)).X.Data; unsafe.SliceData(got) != &g[0] {
			t.Error("the frame has lost the cotangents")
		}
		if !f.without.IsZero() {
			t.Error("the frame keeps a copy of the cotangents")
		}
	}
}

func TestRunEachOfFrame(t *testing.T) {
	at := 0
	want := "byname: RunEach of a frame that is not from NewCaller"
	if v := panicOf(func() { _ = NewFrame[faulty]().RunEach("Forward", 1, func(int) {}, &at) }); v != want {
		t.Errorf("RunEach panics with %v", v)
	}
}

// RunOn does not write a kernel of another type over the one that it has.
func TestRunOnOther(t *testing.T) {
	type other struct{ N int }
	f := NewFrame[faulty]()
	for part := range NumParts {
		args := [NumParts]any{}
		args[part] = &other{N: 1}
		if panicOf(func() { _ = f.RunOn("Forward", args[0], args[1], args[2], args[3]) }) == nil {
			t.Errorf("part %d of another type: no panic", part)
		}
		if (*faulty)(f.At(Part(part))).X.N != 0 {
			t.Errorf("part %d has changed", part)
		}
	}
}
