package cuda

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
)

// TestPassesWithoutMemory lets each allocation of the passes fail in turn, of all kernels that
// allocate.
func TestPassesWithoutMemory(t *testing.T) {
	smallBatches(t, 4)
	shortParts(t)
	shortPieces(t)
	exhaust[hostMul[float64], Mul[float64]](t, func(rnd *rand.Rand) hostMul[float64] {
		a := randomCSR[float64](rand.New(rand.NewPCG(1, 2)), 4, 3) // the same structure each time
		return hostMul[float64]{C: general[float64](rnd, 4, 2), Alpha: &vector[float64](rnd, 1).Data[0], A: a, B: general[float64](rnd, 3, 2)}
	})
	exhaust[hostMul[float64], Mul[float64]](t, func(rnd *rand.Rand) hostMul[float64] {
		a := hubs[float64](4, 9) // with rows that are cut
		a.Data = vector[float64](rnd, len(a.Ind)).Data
		return hostMul[float64]{C: general[float64](rnd, 4, 2), Alpha: &vector[float64](rnd, 1).Data[0], A: a, B: general[float64](rnd, a.Cols, 2)}
	})
	exhaust[hostAffine[float32], Affine[float32]](t, func(rnd *rand.Rand) hostAffine[float32] { return newAffine[float32](rnd, 3, 4) })
	exhaust[hostAffineBatch[float64], AffineBatch[float64]](t, func(rnd *rand.Rand) hostAffineBatch[float64] { return newAffineBatch[float64](rnd, 3, 4, 5) })
	for _, shape := range [][3]int{{3, 40, 5}, {3, 4, 50}, {60, 4, 5}} { // whose products have long sums, one of them each
		exhaust[hostAffineBatch[float64], AffineBatch[float64]](t, func(rnd *rand.Rand) hostAffineBatch[float64] {
			return newAffineBatch[float64](rnd, shape[0], shape[1], shape[2])
		})
	}
	exhaust[hostLayerNorm[float64], LayerNorm[float64]](t, func(rnd *rand.Rand) hostLayerNorm[float64] { return newLayerNorm[float64](rnd, 700, 3) })
	exhaust[hostConv2D[float64], Conv2D[float64]](t, func(rnd *rand.Rand) hostConv2D[float64] { return newConv2D[float64](rnd, 2, 1, grouped) })
	exhaust[hostAttention[float64], Attention[float64]](t, func(rnd *rand.Rand) hostAttention[float64] { return newAttention[float64](rnd, 3, 4, false) })
	exhaustOn[hostAttention[float64], Attention[float64]](t, 90, func(rnd *rand.Rand) hostAttention[float64] { return newAttention[float64](rnd, 3, 70, false) })
	exhaust[hostUnitary[float64], Unitary[float64]](t, func(rnd *rand.Rand) hostUnitary[float64] { return randomUnitary[float64](rnd, 34, 1, false) })
	exhaustOn[hostUnitary[float64], Unitary[float64]](t, 80, func(rnd *rand.Rand) hostUnitary[float64] { return randomUnitary[float64](rnd, 129, 1, false) })
	exhaust[hostUnitary[fixed.Q43], Unitary[fixed.Q43]](t, func(rnd *rand.Rand) hostUnitary[fixed.Q43] { return randomUnitary[fixed.Q43](rnd, 30, 1, false) })
	exhaust[hostQR[float64], QR[float64]](t, func(rnd *rand.Rand) hostQR[float64] { return randomQR[float64](rnd, 3, 2, 2) })
	exhaust[hostQR[float64], QR[float64]](t, func(rnd *rand.Rand) hostQR[float64] { return randomQR[float64](rnd, 70, 3, 1) })
	exhaust[hostCholesky[float64], Cholesky[float64]](t, func(rnd *rand.Rand) hostCholesky[float64] { return randomCholesky[float64](rnd, 40, 1) })
	shortTransforms(t)
	exhaust[hostFFT, FFT](t, func(rnd *rand.Rand) hostFFT { return hostFFT{X: complexNormals(rnd, 64)} })
	exhaust[hostRealFFT, RealFFT](t, func(rnd *rand.Rand) hostRealFFT { return randomRealFFT(rnd, 21, 1) })
	exhaust[hostTriSolve[float64], TriSolve[float64]](t, func(rnd *rand.Rand) hostTriSolve[float64] {
		return randomTriSolve[float64](rnd, 40, 3, 1, true, false, false)
	})
	exhaust[hostTriSolve[float64], TriSolve[float64]](t, func(rnd *rand.Rand) hostTriSolve[float64] {
		return randomTriSolve[float64](rnd, 4, 3, 2, false, true, false)
	})
	exhaust[hostSolve[float64], Solve[float64]](t, func(rnd *rand.Rand) hostSolve[float64] { return randomSolve[float64](rnd, 40, 3, 1, false) })
	exhaust[hostPosterior[float64], LogPosterior[float64]](t, func(rnd *rand.Rand) hostPosterior[float64] {
		return randomPosterior[float64](rnd, 6, 2, 2, gmm.Prior{})
	})
	exhaust[hostFixedPosterior, FixedLogPosterior](t, func(rnd *rand.Rand) hostFixedPosterior {
		return randomFixedPosterior(rnd, 6, 2, 2, gmm.Prior{Gamma: 0.7, M: 2})
	})
	exhaust[hostGraphLoss[float64], GraphLoss[float64]](t, func(rnd *rand.Rand) hostGraphLoss[float64] {
		return embedding[float64](rnd, randomGraph(rand.New(rand.NewPCG(1, 2)), 5, 2), 2, 3, 0.1)
	})
	exhaust[hostSnavely[float64], Snavely[float64]](t, func(rnd *rand.Rand) hostSnavely[float64] { return unweighted(scene[float64](rnd, 4)) })
	exhaust[hostWeighted[float64], Weighted[float64]](t, func(rnd *rand.Rand) hostWeighted[float64] { return scene[float64](rnd, 4) })
}

// exhaust makes each pass of D with its first allocation failing, with its second, and so on, until
// none fails. A pass that fails must return ErrMemory, leave all operands as they were, leak
// nothing that is not freed with the operands, and run when there is memory again.
func exhaust[H any, D rev.Kernel[D]](t *testing.T, random func(*rand.Rand) H) {
	t.Helper()
	exhaustOn[H, D](t, 0, random)
}

// exhaustOn does so with a compute capability, or that of the interpreter if it is 0.
func exhaustOn[H any, D rev.Kernel[D]](t *testing.T, capability int, random func(*rand.Rand) H) {
	t.Helper()
	failures := 0
	for _, p := range []rev.Pass[D]{{}, {Back: true, Adjoint: true}, {Tangent: true}, {Back: true, Adjoint: true, Tangent: true}} {
		for failing := 1; ; failing++ {
			d := interpret(t, 1<<24)
			d.capability = capability
			dev := must(newDevice(0, d))(t)
			c := copies{dev: dev, memory: map[unsafe.Pointer]reflect.Value{}}
			rnd := rand.New(rand.NewPCG(3, 4))
			operands := func(to *D, wanted bool) {
				if h := random(rnd); wanted {
					if err := c.toDevice(reflect.ValueOf(to).Elem(), reflect.ValueOf(&h).Elem()); err != nil {
						t.Fatal(err)
					}
				}
			}
			var k D
			operands(&k, true)
			operands(&p.G, p.Adjoint)
			operands(&p.T, p.Tangent)
			operands(&p.GT, p.Adjoint && p.Tangent)
			before := c.content(t)
			d.failing = d.allocations + failing
			err := k.Run(p)
			if d.failing = 0; err != nil {
				failures++
				if !errors.Is(err, ErrMemory) {
					t.Fatalf("%T, %+v, allocation %d: error %v, want ErrMemory", k, p, failing, err)
				}
				if !bytes.Equal(c.content(t), before) {
					t.Errorf("%T, allocation %d: the pass began and failed", k, failing)
				}
				if err := k.Run(p); err != nil {
					t.Errorf("%T, allocation %d: error %v when there is memory again", k, failing, err)
				}
			}
			if err := c.toHost(); err != nil {
				t.Error(err)
			}
			onlyScratch(t, dev, d)
			closeAll(t, dev, d)
			if err == nil {
				break
			}
		}
	}
	if failures == 0 {
		t.Errorf("no pass of %T allocates", *new(D))
	}
}

// content returns what the copies hold on the device.
func (c *copies) content(t *testing.T) (all []byte) {
	for _, host := range c.hosts {
		b := make([]byte, host.Len()*int(host.Type().Elem().Size()))
		if err := c.dev.driver.toHost(0, b, uintptr(c.memory[host.UnsafePointer()].UnsafePointer())); err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

// onlyScratch checks that a device without operands has no memory but scratch memory and tables.
func onlyScratch(t *testing.T, dev *Device, d *interpreted) {
	t.Helper()
	used := d.machine.Memory.Used()
	for s := range dev.streams {
		for _, c := range s.scratch {
			used -= c.bytes
		}
	}
	for _, t := range dev.tables {
		used -= t.first.bytes() + t.second.bytes()
	}
	if used != 0 {
		t.Errorf("allocation %d of %d failed: %d bytes leak", d.failing, d.allocations, used)
	}
}

// TestFitsWithoutMemory lets each allocation of fits fail in turn, from the copies of the points
// to the last step.
func TestFitsWithoutMemory(t *testing.T) {
	x, problem := twoClouds(12), ring(t)
	graph := randomGraph(rand.New(rand.NewPCG(1, 2)), 5, 2)
	for name, fit := range map[string]func(dev *Device) error{
		"mixture": func(dev *Device) error {
			p, err := NewMixturePoints(dev, x, gmm.Full)
			if err != nil {
				return err
			}
			_, _, err = gmm.Fit(context.Background(), x, 2, &gmm.Options{Covariance: gmm.Full, MaxIter: 2, Polish: true, Points: p})
			return errors.Join(err, p.Free())
		},
		"bundle": func(dev *Device) error {
			opts := ba.Options{MaxIter: 1, Method: ba.Cholesky}
			b, err := NewBundlePoints(dev, problem, &opts)
			if err != nil {
				return err
			}
			opts.Points = b
			_, err = ba.Solve(context.Background(), problem, &opts)
			return errors.Join(err, b.Free())
		},
		"graph": func(dev *Device) error {
			opts := graphembed.Options{Starts: 1, MaxIter: 1, Objective: GraphObjective(dev)}
			_, err := graphembed.Embed(context.Background(), graph, 2, &opts)
			return err
		},
	} {
		for failing := 1; ; failing++ {
			d := interpret(t, 1<<22)
			dev := must(newDevice(0, d))(t)
			d.failing = d.allocations + failing
			err := fit(dev)
			onlyScratch(t, dev, d)
			closeAll(t, dev, d)
			if err == nil {
				if failing < 3 {
					t.Errorf("%s: %d allocations", name, failing-1)
				}
				break
			}
			if !errors.Is(err, ErrMemory) {
				t.Errorf("%s, allocation %d: error %v, want ErrMemory", name, failing, err)
			}
		}
	}
}
