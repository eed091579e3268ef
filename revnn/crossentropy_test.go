package revnn_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/logstep/logtest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

func crossEntropySpec[T rev.Real](labels, mean bool) revtest.Spec[revnn.CrossEntropy[T]] {
	spec := revtest.Spec[revnn.CrossEntropy[T]]{New: func(rnd *rand.Rand, n int) revnn.CrossEntropy[T] {
		k := revnn.CrossEntropy[T]{Out: new(T), X: kerneltest.Matrix[T](rnd, n, n+1), Mean: mean}
		if labels {
			for range n {
				k.Labels = append(k.Labels, rnd.IntN(n+1))
			}
		} else {
			k.P = rev.NewGeneral(n, n+1, kerneltest.Positive[T](rnd, n*(n+1)).Data)
		}
		return k
	}, Large: 130} // several blocks
	if labels {
		spec.Free = []string{"X.Cols"}
	} else {
		spec.Sizes = []int{1, 2, 3, 5, 6, 12, 23} // a P of no rows is none
	}
	return spec
}

func TestCrossEntropy(t *testing.T) {
	for _, labels := range []bool{false, true} {
		t.Run(fmt.Sprintf("labels=%v", labels), func(t *testing.T) {
			kerneltest.Kernels(t, crossEntropySpec[float32](labels, true), crossEntropySpec[float64](labels, !labels), crossEntropySpec[fixed.Q43](labels, true))
		})
	}
}

// More classes than a piece of a softmax, and logits whose exponentials overflow,
// by the definition with big numbers.
func TestCrossEntropyValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(24, 1))
	const n, classes = 3, 600
	x := kerneltest.Matrix[float64](rnd, n, classes)
	want := 0.0
	labels := make([]int, n)
	p := make([]float64, n*classes)
	for i := range n {
		for j := range classes {
			x.Data[i*classes+j] += 1000 * float64(i) // differences are exact enough
		}
		labels[i] = rnd.IntN(classes)
		p[i*classes+labels[i]] = 1
		sum := new(big.Float)
		for _, v := range x.Row(i) {
			sum.Add(sum, big.NewFloat(math.Exp(v-x.Row(i)[labels[i]])))
		}
		s, _ := sum.Float64()
		want += math.Log(s)
	}
	for _, k := range []revnn.CrossEntropy[float64]{
		{X: x, Labels: labels}, {X: x, P: rev.NewGeneral(n, classes, p)},
	} {
		var out float64
		k.Out = &out
		k.Forward()
		if !(math.Abs(out-want) <= 1e-12*want) {
			t.Errorf("got %v, want %v", out, want)
		}
		k.Mean = true
		k.Inverse()
		if !(math.Abs(out-want*2/3) <= 1e-12*want) {
			t.Errorf("less its mean %v, want %v", out, want*2/3)
		}
	}
}

// The bound of the documentation, for logits near and far from each other.
func TestCrossEntropyBound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(24, 2))
	for trial := range 200 {
		n, classes := 1+rnd.IntN(4), 1+rnd.IntN(40)
		x := rev.NewGeneral(n, classes, kerneltest.Normals[float64](rnd, n*classes, math.Pow(10, float64(trial%7-3))))
		p := rev.NewGeneral(n, classes, kerneltest.Positive[float64](rnd, n*classes).Data)
		want, bound := logtest.Exact(), 0.0
		for i := range n {
			terms := make([]*big.Float, classes)
			for j, v := range x.Row(i) {
				terms[j] = logtest.Exact(v)
			}
			m, rest := logtest.Sum(terms)
			for j, v := range x.Row(i) {
				d := new(big.Float).Sub(m, logtest.Exact(v))
				d.Add(d, logtest.Exact(rest)) // l_i - x_ij
				w := p.Row(i)[j]
				want.Add(want, d.Mul(d, logtest.Exact(w)))
				distance, _ := d.Float64()
				bound += 0x1p-52 * (w*float64(classes+4) + float64(n*classes)*distance)
			}
		}
		var out float64
		revnn.CrossEntropy[float64]{Out: &out, X: x, P: p}.Forward()
		e, _ := want.Sub(logtest.Exact(out), want).Float64()
		if !(math.Abs(e) <= bound) {
			t.Errorf("%d×%d: %v has the error %.3g, above %.3g", n, classes, out, e, bound)
		}
	}
}

func TestCrossEntropySpecial(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x, p []float64
		want float64
	}{
		{[]float64{0, -inf}, []float64{1, 0}, 0},
		{[]float64{1e308, -1e308}, []float64{1, 0}, 0},
		{[]float64{0, -inf}, []float64{0, 1}, inf},
		{[]float64{0, math.NaN()}, []float64{1, 0}, math.NaN()},
	} {
		var out float64
		revnn.CrossEntropy[float64]{Out: &out, X: rev.NewGeneral(1, 2, c.x), P: rev.NewGeneral(1, 2, c.p)}.Forward()
		if want := c.want; out != want && (out == out || want == want) {
			t.Errorf("of %v and %v: %v, want %v", c.x, c.p, out, want)
		}
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, mat.ErrColAccess) {
			t.Errorf("a label out of range panics with %v", err)
		}
	}()
	revnn.NewCrossEntropy(new(float64), mat.NewDense(1, 2, nil), nil, []int{2}).Forward()
}

// A class that is impossible and stays so has derivatives.
func TestCrossEntropyImpossible(t *testing.T) {
	inf := math.Inf(-1)
	one, zero := 1.0, 0.0
	matrix := func(x ...float64) rev.General[float64] { return rev.NewGeneral(1, 3, x) }
	var out, rate float64
	k := revnn.CrossEntropy[float64]{Out: &out, X: matrix(0, 0, inf), P: matrix(0.5, 0.5, 0)}
	dk := revnn.CrossEntropy[float64]{Out: &rate, X: matrix(1, 3, 5), P: matrix(0.25, -0.25, 0)}
	k.Tangent(dk)
	if !kerneltest.Near(out, math.Ln2, 1e-15) || !(math.Abs(rate) <= 1e-15) { // τ = 2, which is Σ p_j·ẋ_j, and Σ ṗ_j = 0
		t.Errorf("value %v and tangent %v, want log 2 and 0", out, rate)
	}
	g := revnn.CrossEntropy[float64]{Out: &one, X: matrix(0, 0, 0)}
	gt := revnn.CrossEntropy[float64]{Out: &zero, X: matrix(0, 0, 0), P: matrix(0, 0, 0)}
	k.AdjointTangent(g, dk, gt)
	for _, c := range []struct {
		what      string
		got, want []float64
	}{
		{"gradient", g.X.Data, []float64{0, 0, 0}},
		{"its tangent", gt.X.Data, []float64{-0.75, 0.75, 0}}, // q_j·(ẋ_j - τ) - ṗ_j
		{"tangent of the gradient by P", gt.P.Data, []float64{1, -1, -3}},
	} {
		for j, want := range c.want {
			if !(math.Abs(c.got[j]-want) <= 1e-15) {
				t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
				break
			}
		}
	}
}

// The value alone needs no memory for exponentials: those of this row have 8 MiB.
func TestCrossEntropyMemory(t *testing.T) {
	x := make([]float64, 1<<20)
	k := revnn.CrossEntropy[float64]{Out: new(float64), X: rev.NewGeneral(1, len(x), x), Labels: []int{0}, Workers: 1}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	k.Forward()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
		t.Errorf("Forward allocates %d bytes", got)
	}
}
