package revlinalg_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"revnum/internal/kerneltest"
	"revnum/internal/parallel"
	"revnum/internal/simd/cpu"
	"revnum/rev"
	"revnum/revlinalg"
)

// BenchmarkTwoWorkers compares two workers with one, and with what the machine
// gives: two cores rarely have twice the speed of one, as they share a clock and
// a power limit, and often with other programs. A kernel and the multiply-adds of
// the peak take turns, on one core and on two, and the medians of their times
// make
//
//	x       how much faster the kernel is on two workers,
//	x-peak  how much faster the multiply-adds are,
//	%limit  the first as a part of the second.
func BenchmarkTwoWorkers(b *testing.B) {
	for _, k := range twoWorkersKernels {
		b.Run(k.name, func(b *testing.B) {
			const turn = 0.01 // seconds, at least
			call := k.make(rand.New(rand.NewPCG(31, 1)))
			call(2)
			calls := int(1 + turn/elapsed(func() { call(1) }))
			peak := peakTask(1 + turn*kerneltest.PeakFlops()/peakBlocks/float64(cpu.PeakFMA[float64](1)))
			var times [4][]float64
			for b.Loop() {
				for workers := range 2 {
					times[workers] = append(times[workers], elapsed(func() {
						for range calls {
							call(1 + workers)
						}
					}))
					times[2+workers] = append(times[2+workers], elapsed(func() {
						parallel.Run(1+workers, peakBlocks, peak)
					}))
				}
			}
			speedup, limit := median(times[0])/median(times[1]), median(times[2])/median(times[3])
			b.ReportMetric(0, "ns/op") // an iteration is all four turns
			b.ReportMetric(1e3*median(times[0])/float64(calls), "ms-one")
			b.ReportMetric(speedup, "x")
			b.ReportMetric(limit, "x-peak")
			b.ReportMetric(100*speedup/limit, "%limit")
		})
	}
}

// peakBlocks are the blocks of a peakTask, each of so many rounds.
const peakBlocks = 32

type peakTask int

func (rounds peakTask) Block(_, _ int) { cpu.PeakFMA[float64](int(rounds)) }

// elapsed returns how many seconds f takes.
func elapsed(f func()) float64 {
	start := time.Now()
	f()
	return time.Since(start).Seconds()
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// twoWorkersKernels are the kernels that spend their time in products of matrices
// or in rotations.
var twoWorkersKernels = func() (list []twoWorkersKernel) {
	add := func(name string, make func(rnd *rand.Rand) func(workers int)) {
		list = append(list, twoWorkersKernel{name, make})
	}
	for _, n := range []int{256, 512, 1024} {
		add(fmt.Sprintf("MatMul/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := randomMatMul[float64](rnd, n, n, n, false, false)
			return func(workers int) { k.Workers = workers; k.Forward() }
		})
		add(fmt.Sprintf("MatMul/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k, g := randomMatMul[float64](rnd, n, n, n, false, false), randomMatMul[float64](rnd, n, n, n, false, false)
			return func(workers int) { k.Workers = workers; k.Adjoint(g) }
		})
	}
	for _, rectangular := range []bool{false, true} {
		order := "triangular"
		if rectangular {
			order = "rectangular"
		}
		add("Unitary/Forward/256x256/"+order, func(rnd *rand.Rand) func(int) {
			k := randomUnitary[float64](rnd, 256, 256)
			k.Rectangular = rectangular
			return func(workers int) { k.Workers = workers; k.Forward() }
		})
		add("Unitary/Adjoint/256x256/"+order, func(rnd *rand.Rand) func(int) {
			k, g := randomUnitary[float64](rnd, 256, 256), randomUnitary[float64](rnd, 256, 256)
			k.Rectangular, g.Rectangular = rectangular, rectangular
			return func(workers int) { k.Workers = workers; k.Adjoint(g) }
		})
	}
	for _, s := range [][2]int{{512, 256}, {1024, 1024}} {
		m, n := s[0], s[1]
		random := func(rnd *rand.Rand) revlinalg.QR[float64] {
			return revlinalg.QR[float64]{Q: kerneltest.Matrix[float64](rnd, m, n), R: kerneltest.Matrix[float64](rnd, n, n), A: tall[float64](rnd, m, n)}
		}
		add(fmt.Sprintf("QR/Forward/%dx%d", m, n), func(rnd *rand.Rand) func(int) {
			k := random(rnd)
			return func(workers int) { k.Workers = workers; _ = k.Forward() }
		})
		add(fmt.Sprintf("QR/Adjoint/%dx%d", m, n), func(rnd *rand.Rand) func(int) {
			k, g := random(rnd), random(rnd)
			return func(workers int) { k.Workers = workers; _ = k.Adjoint(g) }
		})
	}
	for _, n := range []int{256, 512, 1024} {
		definite := func(rnd *rand.Rand) rev.General[float64] {
			a := kerneltest.Matrix[float64](rnd, n, n)
			for i := range n {
				a.Row(i)[i] += float64(n)
			}
			return a
		}
		square := func(rnd *rand.Rand) rev.General[float64] { return kerneltest.Matrix[float64](rnd, n, n) }
		add(fmt.Sprintf("Cholesky/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.Cholesky[float64]{L: square(rnd), A: definite(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Forward() }
		})
		add(fmt.Sprintf("Cholesky/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k, g := revlinalg.Cholesky[float64]{L: square(rnd), A: definite(rnd)}, revlinalg.Cholesky[float64]{L: square(rnd), A: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Adjoint(g) }
		})
		add(fmt.Sprintf("Solve/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.Solve[float64]{X: square(rnd), A: regular[float64](rnd, n), B: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Forward() }
		})
		add(fmt.Sprintf("Solve/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.Solve[float64]{X: square(rnd), A: regular[float64](rnd, n), B: square(rnd)}
			g := revlinalg.Solve[float64]{X: square(rnd), A: square(rnd), B: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Adjoint(g) }
		})
		add(fmt.Sprintf("TriSolve/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.TriSolve[float64]{X: square(rnd), A: triangular[float64](rnd, n), B: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Forward() }
		})
		add(fmt.Sprintf("TriSolve/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.TriSolve[float64]{X: square(rnd), A: triangular[float64](rnd, n), B: square(rnd)}
			g := revlinalg.TriSolve[float64]{X: square(rnd), A: square(rnd), B: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Adjoint(g) }
		})
		add(fmt.Sprintf("Inv/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.Inv[float64]{B: square(rnd), A: regular[float64](rnd, n)}
			return func(workers int) { k.Workers = workers; _ = k.Forward() }
		})
		add(fmt.Sprintf("Inv/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k, g := revlinalg.Inv[float64]{B: square(rnd), A: regular[float64](rnd, n)}, revlinalg.Inv[float64]{B: square(rnd), A: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Adjoint(g) }
		})
		add(fmt.Sprintf("LogDet/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.LogDet[float64]{Out: new(float64), A: regular[float64](rnd, n)}
			return func(workers int) { k.Workers = workers; _ = k.Forward() }
		})
		add(fmt.Sprintf("LogDet/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k, g := revlinalg.LogDet[float64]{Out: new(float64), A: regular[float64](rnd, n)}, revlinalg.LogDet[float64]{Out: new(float64), A: square(rnd)}
			return func(workers int) { k.Workers = workers; _ = k.Adjoint(g) }
		})
		add(fmt.Sprintf("Det/Forward/%d", n), func(rnd *rand.Rand) func(int) {
			k := revlinalg.Det[float64]{Out: new(float64), A: regular[float64](rnd, n)}
			return func(workers int) { k.Workers = workers; k.Forward() }
		})
		add(fmt.Sprintf("Det/Adjoint/%d", n), func(rnd *rand.Rand) func(int) {
			k, g := revlinalg.Det[float64]{Out: new(float64), A: tall[float64](rnd, n, n)}, revlinalg.Det[float64]{Out: new(float64), A: square(rnd)}
			for i := range k.A.Data {
				k.A.Data[i] /= 2 // a determinant of about 1
			}
			return func(workers int) { k.Workers = workers; k.Adjoint(g) }
		})
	}
	return list
}()

// A twoWorkersKernel makes a call of a kernel.
type twoWorkersKernel struct {
	name string
	make func(rnd *rand.Rand) func(workers int)
}
