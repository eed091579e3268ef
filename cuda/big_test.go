package cuda

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/rev"
)

// Functions in 300 bits, which tests compare with.

func bigOf(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

func newBig() *big.Float { return new(big.Float).SetPrec(300) }

// bigExp returns exp(x), as the power 2ⁿ of the series for x/2ⁿ.
func bigExp(x *big.Float) *big.Float {
	n := max(0, x.MantExp(nil)+10)
	r := newBig().SetMantExp(x, -n)
	sum, term := bigOf(1), bigOf(1)
	for k := 1; k < 40; k++ {
		term.Quo(newBig().Mul(term, r), bigOf(float64(k)))
		sum.Add(sum, term)
	}
	for range n {
		sum.Mul(sum, newBig().Set(sum))
	}
	return sum
}

// unitsOff returns |got - want| in units of 2⁻⁵³·|want|.
func unitsOff(got float64, want *big.Float) float64 {
	d := newBig().Sub(bigOf(got), want)
	v, _ := d.Quo(d, want).Float64()
	return math.Abs(v) * 0x1p53
}

// TestSoftmaxBound has elements that differ by little and by much, and their softmax in 300 bits.
func TestSoftmaxBound(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	const n = 200
	for _, spread := range []float64{1e-3, 1, 40, 300} {
		x, x32 := vector[float64](rand.New(rand.NewPCG(8, 8)), n), make([]float32, n)
		m, s := math.Inf(-1), newBig()
		for i := range x.Data {
			x32[i] = float32(spread * x.Data[i])
			x.Data[i] = float64(x32[i])
			m = max(m, x.Data[i])
		}
		exps := make([]*big.Float, n)
		for i, v := range x.Data {
			exps[i] = bigExp(newBig().Sub(bigOf(v), bigOf(m)))
			s.Add(s, exps[i])
		}
		p, p32 := make([]float64, n), make([]float32, n)
		if err := errors.Join(
			rev.Forward(hostSoftmax[float64]{Y: rev.ViewSlice(p), X: x}),
			rev.Forward(hostSoftmax[float32]{Y: rev.ViewSlice(p32), X: rev.ViewSlice(x32)}),
		); err != nil {
			t.Fatal(err)
		}
		for i := range p {
			want := newBig().Quo(exps[i], s)
			bound := 34 + m - x.Data[i] + math.Log(n)
			if off := unitsOff(p[i], want); off > bound && want.Cmp(bigOf(0x1p-1022)) > 0 {
				t.Errorf("spread %v: element %d is %v, off by %v units, want at most %v", spread, i, p[i], off, bound)
			}
			if off := unitsOff(float64(p32[i]), want); off > 1.001*0x1p29 && want.Cmp(bigOf(0x1p-126)) > 0 {
				t.Errorf("spread %v, float32: element %d is %v, off by %v units of float64", spread, i, p32[i], off)
			}
		}
	}
}
