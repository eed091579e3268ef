package fft

import (
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

func normals(rnd *rand.Rand, n int) []complex128 {
	x := make([]complex128, n)
	for i := range x {
		x[i] = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return x
}

func norm(x []complex128) (s float64) {
	for _, v := range x {
		s = math.Hypot(s, cmplx.Abs(v))
	}
	return s
}

// bound is the largest error of an element of a transform.
func bound(x []complex128) float64 {
	return 0x1p-53 * 2 * math.Log2(float64(len(x)+1)) * norm(x)
}

// near fails the test if an element is not within a distance of what is wanted.
func near(t *testing.T, name string, got, want []complex128, distance float64) {
	t.Helper()
	for i, v := range got {
		if !(cmplx.Abs(v-want[i]) <= distance) {
			t.Errorf("%s, n = %d: element %d is %v, want %v", name, len(got), i, v, want[i])
			return
		}
	}
}

// direct returns the transform by its definition, in numbers of two floats.
func direct(x []complex128) []complex128 {
	n := len(x)
	roots := make([]root, n)
	for k := range roots {
		roots[k] = rootOf(k, n)
	}
	scale := 1 / math.Sqrt(float64(n))
	y := make([]complex128, n)
	for j := range y {
		var re, im double
		for k, v := range x {
			w, a, b := roots[j*k%n], double{hi: real(v)}, double{hi: imag(v)}
			re = re.add(a.mul(w.cos)).add(b.mul(w.sin))
			im = im.add(b.mul(w.cos)).add(a.mul(w.sin).neg())
		}
		y[j] = complex(scale*re.hi, scale*im.hi)
	}
	return y
}

// Transforms are near the definition, and the inverse restores what they began with.
func TestTransform(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 1))
		var w Work
		for n := 1; n <= 200; n++ {
			x := normals(rnd, n)
			got := slices.Clone(x)
			Of(n).Transform(&w, got, 1, false, 1)
			near(t, "forward", got, direct(x), bound(x))
			Of(n).Transform(&w, got, 1, true, 1)
			near(t, "back", got, x, 2*bound(x))
		}
		for _, n := range []int{256, 1000, 1001, 1009, 1024, 2187, 4096, 10007, 16807, 30030, 65536, 100000} {
			x := normals(rnd, n)
			got := slices.Clone(x)
			Of(n).Transform(&w, got, 1, false, 2)
			if n != 1009 && n != 10007 { // gonum takes n² operations
				want := fourier.NewCmplxFFT(n).Coefficients(nil, x)
				for i := range want {
					want[i] /= complex(math.Sqrt(float64(n)), 0)
				}
				near(t, "forward", got, want, bound(x))
			}
			Of(n).Transform(&w, got, 1, true, 2)
			near(t, "back", got, x, 2*bound(x))
		}
	})
}

// A transform of a large prime length is the one of its definition in some elements.
func TestPrime(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		const n = 10007
		x := normals(rand.New(rand.NewPCG(2, 1)), n)
		y := slices.Clone(x)
		Of(n).Transform(new(Work), y, 1, false, 1)
		for _, j := range []int{0, 1, 2, 5003, 10006} {
			var want complex128
			for k, v := range x {
				w := rootOf(j*k%n, n)
				want += v * complex(w.cos.hi, -w.sin.hi)
			}
			near(t, "prime", y[j:j+1], []complex128{want / complex(math.Sqrt(n), 0)}, 4*bound(x))
		}
	})
}

// Every split of a length gives the same transform, and so does a convolution, whatever is
// fastest.
func TestSplits(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(3, 1))
		var w Work
		for _, n := range []int{6, 30, 64, 120, 121, 210, 448, 481, 1024, 2860} {
			x := normals(rnd, n)
			want := slices.Clone(x)
			Of(n).Transform(&w, want, 1, false, 1)
			for d := 2; d <= n && tier != cpu.Generic; d++ {
				if n%d == 0 {
					got := slices.Clone(x)
					newSplit(d, n/d).run(&w.step, got, got, false, 1)
					near(t, fmt.Sprint(d, " rows"), got, want, 2*bound(x))
					newSplit(d, n/d).run(&w.step, got, got, true, 1)
					near(t, fmt.Sprint(d, " rows back"), got, x, 2*bound(x))
				}
			}
			m, _ := bestConvolution(n)
			got := slices.Clone(x)
			newConvolution(n, m).run(&w, got, got, false, 1)
			near(t, "convolution", got, want, 4*bound(x))
		}
	})
}

// The bits are the same for any number of workers.
func TestWorkers(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(4, 1))
		for _, n := range []int{leastParallel, 15 * 31 * 41, 20011} {
			x := normals(rnd, n)
			want := slices.Clone(x)
			Of(n).Transform(new(Work), want, 1, false, 1)
			for _, workers := range []int{2, 7} {
				got := slices.Clone(x)
				Of(n).Transform(new(Work), got, 1, false, workers)
				if !slices.Equal(got, want) {
					t.Errorf("n = %d: other bits for %d workers", n, workers)
				}
			}
		}
	})
}

// Goroutines share plans, also while others make new ones.
func TestCache(t *testing.T) {
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			var w Work
			for n := 20; n < 20+3*kept; n++ {
				x := make([]complex128, n)
				x[i] = 1
				Of(n).Transform(&w, x, 1, false, 1)
				if z := rootOf(i, n); cmplx.Abs(x[1]*complex(math.Sqrt(float64(n)), 0)-complex(z.cos.hi, -z.sin.hi)) > 1e-14 {
					t.Errorf("n = %d: x_1 = %v", n, x[1])
				}
			}
		})
	}
	group.Wait()
	if n := len(*plans.list.Load()); n > kept {
		t.Errorf("%d plans are kept", n)
	}
	if p := Of(100); Of(100) != p {
		t.Error("a plan is not kept")
	}
}

// Spectra are those of complex numbers, and Transpose has the conjugate map.
func TestReal(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(5, 1))
		var w Work
		for n := 1; n <= 200; n++ {
			x, y, z := simdtest.Normal[float64](n, uint64(n)), normals(rnd, n/2+1), make([]complex128, n)
			for i, v := range x {
				z[i] = complex(v, 0)
			}
			spectrum := direct(z)[:n/2+1]
			for _, inc := range []int{1, 3} {
				// A number is added to the spectrum that is there.
				got, want, strided := normals(rnd, inc*(n/2+1)), slices.Clone(spectrum), make([]float64, inc*n)
				for i, v := range x {
					strided[i*inc] = v
				}
				for k := range want {
					want[k] = got[k*inc] - 2*want[k]
				}
				RealOf(n).AddSpectrum(&w, got, inc, -2, strided, inc, 1)
				for k := range want {
					got[k] = got[k*inc]
				}
				near(t, "spectrum", got[:n/2+1], want, 3*bound(z)+1e-15)
			}
			clear(z[copy(z, y):])
			for i, v := range z {
				z[i] = cmplx.Conj(v)
			}
			got, want := make([]complex128, n), direct(z)
			for i, v := range RealOf(n).Transpose(&w, y, 1, 1) {
				got[i], want[i] = complex(v, 0), complex(real(want[i]), 0)
			}
			near(t, "transpose", got, want, 1.5*bound(z))
		}
	})
}

// The parts of a root of unity are rounded from what the series of sine and cosine give in 200 bits.
func TestRoots(t *testing.T) {
	number := func(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899", 10, 200, big.ToNearestEven)
	for _, n := range []int{1, 2, 3, 4, 7, 8, 12, 100, 1009, 4096, 1000003} {
		t1 := newRoots(n)
		for i := range min(n, 300) {
			k := i * max(1, n/300)
			angle := number(float64(2 * k))
			angle.Mul(angle, pi).Quo(angle, number(float64(n)))
			sum, term := [2]*big.Float{number(0), number(0)}, number(1)
			for j := range 120 {
				if j%4 < 2 {
					sum[j%2].Add(sum[j%2], term)
				} else {
					sum[j%2].Sub(sum[j%2], term)
				}
				term.Mul(term, angle).Quo(term, number(float64(j+1)))
			}
			w := t1.at(k)
			for part, got := range []float64{real(w), -imag(w)} {
				want, _ := sum[part].Float64()
				unit := math.Nextafter(math.Abs(want), 2) - math.Abs(want)
				d, _ := new(big.Float).Sub(sum[part], number(got)).Float64()
				if !(math.Abs(d) <= 0.5001*unit || math.Abs(d) < 1e-30) {
					t.Errorf("root %d of %d: part %d is %v, want %v", k, n, part, got, want)
				}
			}
		}
	}
}

// BenchmarkTransform counts 5·n·log₂ n flops.
func BenchmarkTransform(b *testing.B) {
	for _, n := range []int{64, 100, 1000, 1009, 1024, 4096, 10007, 1 << 16, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var w Work
			x := normals(rand.New(rand.NewPCG(1, 1)), n)
			peak := float64(cpu.PeakFMA[float64](1000)) / simdtest.LeastTime(times(100), func() { cpu.PeakFMA[float64](1000) })
			least := simdtest.LeastTime(b.Loop, func() { Of(n).Transform(&w, x, 1, false, 1) })
			rate := 5 * float64(n) * math.Log2(float64(n)) / least
			b.ReportMetric(0, "ns/op") // an iteration is a slice
			b.ReportMetric(least, "ns")
			b.ReportMetric(rate, "GFLOP/s")
			b.ReportMetric(rate/peak, "of-peak")
		})
	}
}

// times returns a function that is true n times.
func times(n int) func() bool {
	return func() bool { n--; return n >= 0 }
}
