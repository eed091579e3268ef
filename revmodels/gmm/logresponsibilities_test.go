package gmm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/ulog"
)

// responsibilitiesOf returns the kernel for the parameters and points of k,
// with every element of R the number 1.
func responsibilitiesOf[T rev.Float](k LogPosterior[T]) LogResponsibilities[T] {
	return LogResponsibilities[T]{
		R:     rev.NewGeneral[T](k.X.Rows, k.Alpha.N, nil),
		Alpha: k.Alpha, Means: k.Means, Factors: k.Factors, X: k.X,
	}
}

func TestLogResponsibilitiesConformance(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, responsibilitiesSpec[float64]()) })
	t.Run("float32", func(t *testing.T) {
		s := responsibilitiesSpec[float32]()
		// Derivatives change much over the default step.
		s.Step = 1.0 / 128
		revtest.Kernel(t, s)
	})
}

func responsibilitiesSpec[T rev.Float]() revtest.Spec[LogResponsibilities[T]] {
	return revtest.Spec[LogResponsibilities[T]]{
		New: func(rnd *rand.Rand, size int) LogResponsibilities[T] {
			return responsibilitiesOf(spec[T](Prior{}).New(rnd, size))
		},
		Large:      3000,                // several parts
		Magnitudes: [2]float64{1e-3, 8}, // the square of exp(q) overflows
	}
}

// bigLogDensities returns β_ik of point i with 300 bits.
func bigLogDensities(k LogResponsibilities[float64], i int) []*big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	d := k.X.Cols
	var beta []*big.Float
	for c := range k.Alpha.N {
		row := k.Factors.Row(c)
		sum := number(0)
		for r := range d {
			y := number(0)
			for j := range r + 1 {
				var q *big.Float
				if r == j {
					// e^q as the value of the number with the log q.
					q = ulog.BigFloat(ulog.Float64{Log: row[r]}, 300)
				} else {
					at := d
					for col := range j {
						at += d - 1 - col
					}
					q = number(row[at+r-j-1])
				}
				diff := number(k.X.Row(i)[j])
				diff.Sub(diff, number(k.Means.Row(c)[j]))
				y.Add(y, diff.Mul(diff, q))
			}
			sum.Add(sum, y.Mul(y, y))
		}
		b := number(k.Alpha.Data[c*k.Alpha.Inc])
		for _, v := range row[:d] {
			b.Add(b, number(v))
		}
		beta = append(beta, b.Sub(b, sum.Quo(sum, number(2))))
	}
	return beta
}

// TestLogResponsibilitiesFar compares log responsibilities of points that are
// thousands of standard deviations away from all components with big.Float,
// within the bound, where linear ones are all 0 or NaN.
func TestLogResponsibilitiesFar(t *testing.T) {
	rnd := rand.New(rand.NewPCG(21, 1))
	for _, scale := range []float64{1, 30, 3000, 1e6, 1e120} {
		for _, s := range [][2]int{{1, 2}, {3, 4}, {6, 3}} {
			t.Run(fmt.Sprint(scale, s), func(t *testing.T) {
				const n = 20
				d, comps := s[0], s[1]
				k := LogResponsibilities[float64]{
					R: rev.NewGeneral[float64](n, comps, nil), Alpha: rev.ViewSlice(make([]float64, comps)),
					Means: rev.NewGeneral[float64](comps, d, nil), Factors: rev.NewGeneral[float64](comps, d*(d+1)/2, nil),
					X: rev.NewGeneral[float64](n, d, nil),
				}
				for _, m := range [][]float64{k.Alpha.Data, k.Means.Data, k.Factors.Data} {
					for i := range m {
						m[i] = rnd.NormFloat64() / 2
					}
				}
				for i := range k.X.Data {
					k.X.Data[i] = scale * (1 + rnd.Float64())
				}
				k.Forward()

				underflow := false
				for i := range n {
					beta := bigLogDensities(k, i)
					top := beta[0]
					for _, b := range beta {
						if b.Cmp(top) > 0 {
							top = b
						}
					}
					// The terms next to the largest one differ by little enough
					// for float64.
					var sum float64
					for _, b := range beta {
						diff, _ := new(big.Float).Sub(b, top).Float64()
						sum += math.Exp(diff)
					}
					bound := far(k, i)
					for c, b := range beta {
						diff, _ := new(big.Float).Sub(b, top).Float64()
						want := diff - math.Log(sum)
						if got := k.R.Row(i)[c]; !(math.Abs(got-want) <= bound) {
							t.Errorf("log r[%d,%d] = %v, want %v, error %.3g, bound %.3g", i, c, got, want, got-want, bound)
						}
						underflow = underflow || math.Exp(want) == 0
					}
					// The responsibilities of a point are 1 together.
					if total := ulog.Sum(ulog.OfLogs(k.R.Row(i))); !(math.Abs(total.Log) <= bound) {
						t.Errorf("responsibilities of point %d sum to %v", i, total)
					}
				}
				if scale >= 3000 && !underflow {
					t.Error("no responsibility is below the range of float64")
				}
			})
		}
	}
}

// far returns the documented bound of the error of log r_i.
func far(k LogResponsibilities[float64], i int) float64 {
	d, worst := k.X.Cols, 0.0
	for c := range k.Alpha.N {
		q := denseFactor(k.Factors.Row(c), d)
		b := math.Abs(k.Alpha.Data[c])
		for r := range d {
			b += math.Abs(k.Factors.Row(c)[r])
			var y float64
			for j := range r + 1 {
				y += math.Abs(q[r*d+j] * (k.X.Row(i)[j] - k.Means.Row(c)[j]))
			}
			b += y * y / 2
		}
		worst = max(worst, b)
	}
	return float64(3*d+9) * 0x1p-52 * (1 + worst + math.Log(float64(k.Alpha.N)))
}

// TestLogResponsibilitiesWeights checks the effective numbers of points and
// the adjoint where the second component has no weight that float64 can hold.
func TestLogResponsibilitiesWeights(t *testing.T) {
	r := mat.NewDense(2, 2, nil)
	x := mat.NewDense(2, 1, []float64{3, -1})
	means := mat.NewDense(2, 1, []float64{0, 4000})
	k := NewLogResponsibilities(r, mat.NewVecDense(2, nil), means, mat.NewDense(2, 1, nil), x)
	k.Forward()
	// β_i2 - β_i1 = (x² - (x-4000)²)/2 = 4000x - 8e6
	numbers := ulog.MatrixOfLogs(r)
	if got, want := numbers.LogAt(0, 1).Log, 12000-8e6; got != want {
		t.Errorf("log r[0,1] = %v, want %v", got, want)
	}
	if got := numbers.At(0, 1); got != 0 {
		t.Errorf("r[0,1] = %v as float64, want 0", got)
	}
	effective := ulog.Sum([]ulog.Float64{numbers.LogAt(0, 1), numbers.LogAt(1, 1)})
	if got, want := effective.Log, 12000-8e6; got != want {
		t.Errorf("%v effective points of the far component, want e^%v", effective, want)
	}

	// Of log r_12 alone: w = (-1, 1) for point 0.
	g := LogResponsibilities[float64]{
		R:     rev.NewGeneral(2, 2, []float64{0, 1, 0, 0}),
		Alpha: rev.ViewSlice(make([]float64, 2)), Means: rev.NewGeneral[float64](2, 1, nil),
		Factors: rev.NewGeneral[float64](2, 1, nil), X: rev.NewGeneral[float64](2, 1, nil),
	}
	k.Adjoint(g)
	for _, c := range []struct {
		name string
		got  []float64
		want []float64
	}{
		{"R", r.RawMatrix().Data, []float64{0, 0, 0, 0}},
		{"α", g.Alpha.Data, []float64{-1, 1}},
		{"μ", g.Means.Data, []float64{-3, 3 - 4000}},
		{"q", g.Factors.Data, []float64{-1 + 9, 1 - 3997*3997}},
		{"x", g.X.Data, []float64{3 - (3 - 4000), 0}},
	} {
		for i, v := range c.want {
			if c.got[i] != v {
				t.Errorf("%s is %v, want %v", c.name, c.got, c.want)
				break
			}
		}
	}
}
