package revnn_test

import (
	"math"
	"slices"
	"testing"

	"revnum/rev"
	"revnum/revnn"
)

// TestLongInfinite has vectors of more than one part with infinite elements: at one place, or in a first piece.
func TestLongInfinite(t *testing.T) {
	t.Run("float64", testLongInfinite[float64])
	t.Run("float32", testLongInfinite[float32])
}

func testLongInfinite[T float32 | float64](t *testing.T) {
	const n = 20000
	inf := T(math.Inf(1))
	x, out := make([]T, n), T(0)
	for i := range x {
		x[i] = T(i % 7)
	}
	x[n/2] = inf
	k := revnn.LogSumExp[T]{Out: &out, X: rev.ViewSlice(x)}
	one := T(1)
	g := revnn.LogSumExp[T]{Out: &one, X: rev.ViewSlice(make([]T, n))}
	if err := rev.Gradient(k, g); err != nil || out != inf {
		t.Fatalf("the value is %v, error %v", out, err)
	}
	tangent := revnn.LogSumExp[T]{Out: new(T), X: rev.ViewSlice(make([]T, n))}
	second := revnn.LogSumExp[T]{Out: &one, X: rev.ViewSlice(make([]T, n))}
	gt := revnn.LogSumExp[T]{Out: new(T), X: rev.ViewSlice(make([]T, n))}
	k.AdjointTangent(second, tangent, gt)
	for i, v := range g.X.Data {
		infinite := math.IsNaN(float64(v))
		if infinite != (i == n/2) || !infinite && v != 0 {
			t.Fatalf("derivative %d is %v", i, v)
		}
		if w := second.X.Data[i]; w != v && !infinite {
			t.Fatalf("derivative %d is %v with second order, and %v without", i, w, v)
		}
	}

	for _, m := range []int{2000, 9000} {
		out = 0
		x := make([]T, m)
		for i := range x[:1024] {
			x[i] = -inf
		}
		g := revnn.LogSumExp[T]{Out: &one, X: rev.ViewSlice(make([]T, m))}
		if err := rev.Gradient(revnn.LogSumExp[T]{Out: &out, X: rev.ViewSlice(x)}, g); err != nil {
			t.Fatal(err)
		}
		if want := math.Log(float64(m - 1024)); math.Abs(float64(out)-want) > 1e-5 {
			t.Errorf("%d elements: the value is %v, want %v", m, out, want)
		}
		for i, v := range g.X.Data {
			want := 0.0
			if i >= 1024 {
				want = 1 / float64(m-1024)
			}
			if math.Abs(float64(v)-want) > 1e-8 {
				t.Fatalf("%d elements: derivative %d is %v, want %v", m, i, v, want)
			}
		}
	}
}

// TestLongOverflow has derivatives whose products overflow where an element has no weight.
func TestLongOverflow(t *testing.T) {
	const n = 9000
	x, d := make([]float64, n), make([]float64, n)
	for i := range x {
		if d[i] = 1; i < 1024 {
			x[i], d[i] = -1000, 1e306
		}
	}
	y := make([]float64, n)
	g := revnn.Softmax[float64]{Y: rev.ViewSlice(d), X: rev.ViewSlice(make([]float64, n))}
	if err := rev.Gradient(revnn.Softmax[float64]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}, g); err != nil {
		t.Fatal(err)
	}
	for i, v := range g.X.Data {
		if !(math.Abs(v) <= 1e-15) {
			t.Fatalf("derivative %d is %v, want 0", i, v)
		}
	}

	// A tangent that overflows so leaves the bits of the gradient.
	for i := range d {
		d[i] = float64(i%11) - 5
	}
	gradient := func(tangent float64) []float64 {
		g := revnn.Softmax[float64]{Y: rev.ViewSlice(d), X: rev.ViewSlice(make([]float64, n))}
		tx := make([]float64, n)
		for i := range tx[:1024] {
			tx[i] = tangent
		}
		tangents := revnn.Softmax[float64]{Y: rev.ViewSlice(make([]float64, n)), X: rev.ViewSlice(tx)}
		second := revnn.Softmax[float64]{Y: rev.ViewSlice(make([]float64, n)), X: rev.ViewSlice(make([]float64, n))}
		revnn.Softmax[float64]{Y: rev.ViewSlice(make([]float64, n)), X: rev.ViewSlice(x)}.AdjointTangent(g, tangents, second)
		return g.X.Data
	}
	if !slices.Equal(gradient(1), gradient(1e306)) {
		t.Error("the gradient has other bits where a tangent overflows")
	}
}

// TestLongKept has a vector whose exponentials are kept, and one that is too long for that. Pieces have maxima of their own.
func TestLongKept(t *testing.T) {
	for _, n := range []int{3000, 1<<20 + 3000} {
		x, gy, y, gx := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
		var s, d float64
		for i := range x {
			x[i], gy[i] = float32(i%97)/10+float32(i/1024%5), float32(i%13)-6
			s += math.Exp(float64(x[i]))
			d += math.Exp(float64(x[i])) * float64(gy[i])
		}
		k := revnn.Softmax[float32]{Y: rev.ViewSlice(y), X: rev.ViewSlice(x)}
		if err := rev.Gradient(k, revnn.Softmax[float32]{Y: rev.ViewSlice(gy), X: rev.ViewSlice(gx)}); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			p := math.Exp(float64(v)) / s
			want := p * (float64(gy[i]) - d/s)
			if math.Abs(float64(y[i])-p) > 1e-5*p || math.Abs(float64(gx[i])-want) > 1e-4*p {
				t.Fatalf("n = %d: p_%d is %v, want %v, and its derivative %v, want %v", n, i, y[i], p, gx[i], want)
			}
		}
	}
}
