package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// The kernels of the host whose passes run on the device.
type (
	hostSoftmaxRows[T rev.Real]   revnn.SoftmaxRows[T]
	hostLogSumExpRows[T rev.Real] revnn.LogSumExpRows[T]
)

func (k hostSoftmaxRows[T]) Run(p rev.Pass[hostSoftmaxRows[T]]) error {
	return through[hostSoftmaxRows[T], SoftmaxRows[T]](testDevice, k, p)
}
func (k hostLogSumExpRows[T]) Run(p rev.Pass[hostLogSumExpRows[T]]) error {
	return through[hostLogSumExpRows[T], LogSumExpRows[T]](testDevice, k, p)
}

// padded returns a matrix with two numbers between its rows.
func padded[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	a := general[T](rnd, r, c+2)
	a.Cols = c
	return a
}

func TestSoftmaxRows(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", softmaxRowsOf[float64])
	t.Run("float32", softmaxRowsOf[float32])
	t.Run("Q43", softmaxRowsOf[fixed.Q43])
}

func softmaxRowsOf[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[hostSoftmaxRows[T]]{Sizes: []int{0, 1, 9}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostSoftmaxRows[T] {
		return hostSoftmaxRows[T]{Y: general[T](rnd, n, n+1), X: general[T](rnd, n, n+1)}
	}})
	revtest.Kernel(t, revtest.Spec[hostLogSumExpRows[T]]{Sizes: []int{0, 1, 9}, Skip: noAllocs, Free: []string{"X.Cols"}, New: func(rnd *rand.Rand, n int) hostLogSumExpRows[T] {
		return hostLogSumExpRows[T]{Y: vector[T](rnd, n), X: general[T](rnd, n, n+1)}
	}})
}

// TestSoftmaxRowsBits compares with the host over Q43, bit for bit, for rows that a warp or a block holds, and longer ones.
func TestSoftmaxRowsBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	type q = fixed.Q43
	for _, s := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {19, 2}, {9, 33}, {3, longRow + 70}, {1, heldColumns*longThreads() + 3}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			wild := func(rnd *rand.Rand) rev.General[q] {
				a := padded[q](rnd, s[0], s[1])
				for i := range a.Data {
					a.Data[i] = fixed.FromFloat64(rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(12)-4)))
				}
				if s[0] > 0 && s[1] > 1 { // of which the difference wraps
					a.Row(0)[0], a.Row(0)[1] = fixed.Min+5, fixed.Max/2
				}
				return a
			}
			same(t, func(rnd *rand.Rand) hostSoftmaxRows[q] {
				return hostSoftmaxRows[q]{Y: padded[q](rnd, s[0], s[1]), X: wild(rnd)}
			}, func(k hostSoftmaxRows[q]) revnn.SoftmaxRows[q] { return revnn.SoftmaxRows[q](k) })
			same(t, func(rnd *rand.Rand) hostLogSumExpRows[q] {
				y := vector[q](rnd, 2*s[0])
				return hostLogSumExpRows[q]{Y: rev.Vector[q]{N: s[0], Data: y.Data, Inc: 2}, X: wild(rnd)}
			}, func(k hostLogSumExpRows[q]) revnn.LogSumExpRows[q] { return revnn.LogSumExpRows[q](k) })
		})
	}
}

// TestSoftmaxRowsValues compares with the host, also rows with infinities, NaN and large numbers.
func TestSoftmaxRowsValues(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	inf := math.Inf(1)
	for _, columns := range []int{0, 3, 40, longRow + 70, heldColumns*longThreads() + 3} {
		operands := func() (k, g hostSoftmaxRows[float64], l, gl hostLogSumExpRows[float64]) {
			rnd := rand.New(rand.NewPCG(1, 2))
			x := padded[float64](rnd, 12, columns)
			if columns > 2 {
				for i, first := range [][2]float64{{inf, 1}, {-inf, 1}, {math.NaN(), 1}, {inf, -inf}, {inf, inf}, {1e300, -1e300}, {-700, 700}} {
					copy(x.Row(i), first[:])
				}
				for j := range x.Row(11) {
					x.Row(11)[j] = -inf
				}
			}
			y, gx := general[float64](rnd, 12, columns), general[float64](rnd, 12, columns)
			gy, gv := general[float64](rnd, 12, columns), vector[float64](rnd, 12)
			k, g = hostSoftmaxRows[float64]{Y: y, X: x}, hostSoftmaxRows[float64]{Y: gy, X: gx}
			return k, g, hostLogSumExpRows[float64]{Y: vector[float64](rnd, 12), X: x}, hostLogSumExpRows[float64]{Y: gv, X: general[float64](rnd, 12, columns)}
		}
		k, g, l, gl := operands()
		k2, g2, l2, gl2 := operands()
		for _, err := range []error{
			rev.Adjoint(k, g), rev.Adjoint(revnn.SoftmaxRows[float64](k2), revnn.SoftmaxRows[float64](g2)),
			rev.Adjoint(l, gl), rev.Adjoint(revnn.LogSumExpRows[float64](l2), revnn.LogSumExpRows[float64](gl2)),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for name, pair := range map[string][2][]float64{
			"softmax": {k.Y.Data, k2.Y.Data}, "its gradient": {g.X.Data, g2.X.Data},
			"log of a sum": {l.Y.Data, l2.Y.Data}, "the gradient of logs": {gl.X.Data, gl2.X.Data},
		} {
			for i, v := range pair[0] {
				if w := pair[1][i]; !(math.Abs(v-w) <= 1e-13*(1+math.Abs(w))) && v != w && !(v != v && w != w) {
					t.Errorf("%d columns: element %d of %s is %v, on the host %v", columns, i, name, v, w)
				}
			}
		}
	}
}

// TestSoftmaxLargeDerivatives has derivatives whose sum over lower elements overflows unless these elements, of
// which one follows that is larger, have small shares.
func TestSoftmaxLargeDerivatives(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, low := range []float64{-1000, -100} {
		for _, n := range []int{65, longRow + 70, heldColumns*longThreads() + 3} {
			x, d := make([]float64, n), make([]float64, n)
			for i := range n - 1 {
				x[i], d[i] = low, 1e308
			}
			d[n-1] = 1
			row := func(x []float64) rev.General[float64] { return rev.NewGeneral(1, n, slices.Clone(x)) }
			vec := func(x []float64) rev.Vector[float64] { return rev.ViewSlice(slices.Clone(x)) }
			zeros := make([]float64, n)
			derivatives := func(device bool) (all [6][]float64) {
				var sum float64
				k, l := hostSoftmax[float64]{Y: vec(zeros), X: vec(x)}, hostLogSumExp[float64]{Out: new(float64), X: vec(x)}
				g, t1, tl := hostSoftmax[float64]{Y: vec(d), X: vec(zeros)}, hostSoftmax[float64]{Y: vec(zeros), X: vec(d)}, hostLogSumExp[float64]{Out: &sum, X: vec(d)}
				kr, lr := hostSoftmaxRows[float64]{Y: row(zeros), X: row(x)}, hostLogSumExpRows[float64]{Y: vec([]float64{0}), X: row(x)}
				gr, tr := hostSoftmaxRows[float64]{Y: row(d), X: row(zeros)}, hostSoftmaxRows[float64]{Y: row(zeros), X: row(d)}
				tlr := hostLogSumExpRows[float64]{Y: vec([]float64{0}), X: row(d)}
				var errs []error
				if device {
					errs = []error{
						rev.Adjoint(k, g), rev.Tangent(k, t1), rev.Tangent(l, tl),
						rev.Adjoint(kr, gr), rev.Tangent(kr, tr), rev.Tangent(lr, tlr),
					}
				} else {
					type (
						softmax       = revnn.Softmax[float64]
						logSumExp     = revnn.LogSumExp[float64]
						softmaxRows   = revnn.SoftmaxRows[float64]
						logSumExpRows = revnn.LogSumExpRows[float64]
					)
					errs = []error{
						rev.Adjoint(softmax(k), softmax(g)), rev.Tangent(softmax(k), softmax(t1)), rev.Tangent(logSumExp(l), logSumExp(tl)),
						rev.Adjoint(softmaxRows(kr), softmaxRows(gr)), rev.Tangent(softmaxRows(kr), softmaxRows(tr)), rev.Tangent(logSumExpRows(lr), logSumExpRows(tlr)),
					}
				}
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				return [...][]float64{g.X.Data, t1.Y.Data, {sum}, gr.X.Data, tr.Y.Data, tlr.Y.Data}
			}
			want := derivatives(false)
			for i, got := range derivatives(true) {
				for j, v := range got {
					if w := want[i][j]; !(math.Abs(v-w) <= 1e-12*(1+math.Abs(w))) {
						t.Errorf("x = %v, %d elements, derivative %d: element %d is %v, on the host %v", low, n, i, j, v, w)
						break
					}
				}
			}
		}
	}
}
