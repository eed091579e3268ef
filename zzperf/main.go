package main

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"golang.org/x/sys/unix"

	"revnum/internal/simd"
	"revnum/rev"
	"revnum/revlinalg"
)

func now() float64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return float64(ts.Sec) + 1e-9*float64(ts.Nsec)
}

func best(reps int, f func()) float64 {
	f()
	b := 1e9
	for range reps {
		t := now()
		f()
		b = min(b, now()-t)
	}
	return b
}

func mk[T float32 | float64](n, m int) revlinalg.Unitary[T] {
	r := rand.New(rand.NewPCG(1, 2))
	k := revlinalg.Unitary[T]{X: rev.NewGeneral[T](n, m, nil), Theta: rev.ViewSlice(make([]T, n*(n-1)/2)), Workers: 1}
	for i := range k.X.Data {
		k.X.Data[i] = T(r.NormFloat64())
	}
	for i := range k.Theta.Data {
		k.Theta.Data[i] = T(8 * (r.Float64() - 0.5))
	}
	return k
}

func bench[T float32 | float64](n, m int, rect bool) {
	k, g, t := mk[T](n, m), mk[T](n, m), mk[T](n, m)
	for i := range t.Theta.Data {
		t.Theta.Data[i] *= 1e-6
	}
	k.Rectangular = rect
	var pk float64
	for range 5 {
		var fl int64
		d := best(20, func() { fl = simd.PeakFMA[T](20000) })
		pk = max(pk, float64(fl)/d)
	}
	fl := 6 * float64(k.Theta.N) * float64(m)
	reps := int(0.3 / (fl / 2e10))
	reps = max(3, min(reps, 300))
	fw := best(reps, k.Forward)
	ad := best(reps, func() { k.Adjoint(g) })
	tn := best(3, func() { k.Tangent(t) })
	x := k.X
	nai := best(3, func() { naive(x, k.Theta) })
	fmt.Printf("%T n=%d m=%d rect=%v: fwd %.3f ms %.1f%% of peak %.1f; adjoint/fwd %.2f; tangent/fwd %.2f; naive/fwd %.1f\n", *new(T), n, m, rect, fw*1e3, 100*fl/fw/pk, pk/1e9, ad/fw, tn/fw, nai/fw)
	// two workers, wall
	k.Workers = 1
	w1 := 1e9
	w2 := 1e9
	for range 50 {
		k.Workers = 1
		t0 := time.Now()
		k.Forward()
		w1 = min(w1, time.Since(t0).Seconds())
		k.Workers = 2
		t0 = time.Now()
		k.Forward()
		w2 = min(w2, time.Since(t0).Seconds())
	}
	a1, a2 := 1e9, 1e9
	for range 50 {
		k.Workers = 1
		t0 := time.Now()
		k.Adjoint(g)
		a1 = min(a1, time.Since(t0).Seconds())
		k.Workers = 2
		t0 = time.Now()
		k.Adjoint(g)
		a2 = min(a2, time.Since(t0).Seconds())
	}
	fmt.Printf("   workers: fwd %.2f adjoint %.2f\n", w1/w2, a1/a2)
}

func naive[T float32 | float64](x rev.General[T], theta rev.Vector[T]) {
	k := 0
	for j := 0; j < x.Rows; j++ {
		for i := x.Rows - 2; i >= j; i-- {
			s, c := sincos(float64(theta.Data[k]))
			k++
			a, b := x.Row(i), x.Row(i+1)
			for l, v := range a {
				w := b[l]
				a[l], b[l] = T(c)*v-T(s)*w, T(s)*v+T(c)*w
			}
		}
	}
}

func main() {
	prof := flag.String("prof", "", "")
	flag.Parse()
	runtime.LockOSThread()
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
		k, g := mk[float64](256, 256), mk[float64](256, 256)
		for range 1000 {
			k.Forward()
		}
		for range 20 {
			k.Tangent(g)
		}
		return
	}
	bench[float64](256, 256, false)
	bench[float64](256, 256, true)
	bench[float64](64, 64, false)
	bench[float64](64, 256, false)
	bench[float64](512, 512, false)
	bench[float32](256, 256, false)
}

func sincos(x float64) (float64, float64) { return math.Sincos(x) }
