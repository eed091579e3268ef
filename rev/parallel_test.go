package rev_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// sums is a state for branches that share x: y[i] += w[i]·x.
type sums struct {
	x []float64
	w [8]rev.General[float64]
	y [8][]float64
}

func newSums(rnd *rand.Rand) *sums {
	s := &sums{x: make([]float64, 40)}
	value := func() float64 {
		if rnd == nil {
			return 0
		}
		return rnd.NormFloat64()
	}
	for i := range s.x {
		s.x[i] = value()
	}
	for i := range s.w {
		s.w[i] = rev.NewGeneral[float64](5, 40, nil)
		for j := range s.w[i].Data {
			s.w[i].Data[j] = value()
		}
		s.y[i] = make([]float64, 5)
	}
	return s
}

// mul is the kernel y += w·x.
type mul struct {
	Y []float64            `rev:"acc"`
	W rev.General[float64] `rev:"in"`
	X rev.Vector[float64]  `rev:"in"`
}

func (k mul) Run(p rev.Pass[mul]) error {
	if p.Tangent {
		return rev.ErrUnsupported
	}
	sign := float64(p.Sign())
	for i := range k.Y {
		s := 0.0
		for j, w := range k.W.Row(i) {
			s += float64(w * k.X.Data[j])
		}
		k.Y[i] += float64(sign * s)
	}
	for i, gy := range p.G.Y {
		for j, w := range k.W.Row(i) {
			if p.G.X.Data != nil {
				p.G.X.Data[j] += float64(w * gy)
			}
			p.G.W.Row(i)[j] += float64(k.X.Data[j] * gy)
		}
	}
	return nil
}

// branches returns the eight products; half of them take x in two pieces.
func branches() []rev.Step[sums] {
	steps := make([]rev.Step[sums], 8)
	for i := range steps {
		part := func(lo, hi int) rev.Step[sums] {
			return rev.At(func(s *sums) mul {
				w := s.w[i]
				w.Cols, w.Data = hi-lo, w.Data[lo:]
				return mul{s.y[i], w, rev.Vector[float64]{N: hi - lo, Data: s.x[lo:], Inc: 1}}
			})
		}
		steps[i] = part(0, 40)
		if i%2 == 0 {
			steps[i] = rev.Seq(part(0, 17), part(17, 40))
		}
	}
	return steps
}

func sharedX(s *sums) []float64 { return s.x }

// TestParallelSameBits runs the branches on 1, 2 and 7 cores.
func TestParallelSameBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, test := range []struct {
		name string
		step rev.Step[sums]
	}{
		{"Parallel", rev.Parallel(branches()...)},
		{"ParallelShared", rev.ParallelShared([]func(*sums) []float64{sharedX}, branches()...)},
	} {
		var want, wantG *sums
		for _, procs := range []int{1, 2, 7, 7} {
			runtime.GOMAXPROCS(procs)
			rnd := rand.New(rand.NewPCG(1, 2))
			s, g := newSums(rnd), newSums(nil)
			for i := range g.y {
				for j := range g.y[i] {
					g.y[i][j] = rnd.NormFloat64()
				}
			}
			if err := test.step.Forward(s); err != nil {
				t.Fatal(err)
			}
			end := *s
			for i := range s.y {
				end.y[i] = append([]float64(nil), s.y[i]...)
			}
			if err := test.step.Adjoint(s, g); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, wantG = &end, g
				checkSums(t, test.name, s, g)
				continue
			}
			for i := range end.y {
				for j := range end.y[i] {
					if end.y[i][j] != want.y[i][j] {
						t.Fatalf("%s: %d procs: y[%d][%d] differs", test.name, procs, i, j)
					}
				}
			}
			for j := range g.x {
				if g.x[j] != wantG.x[j] {
					t.Fatalf("%s: %d procs: gradient of x[%d] differs", test.name, procs, j)
				}
			}
		}
	}
}

// checkSums compares the gradients with the formulas x̄ = Σ wᵀ·ȳ and w̄ = ȳ·xᵀ.
func checkSums(t *testing.T, name string, s, g *sums) {
	t.Helper()
	want := make([]float64, len(s.x))
	for i := range s.w {
		for r := range 5 {
			for j := range want {
				want[j] += float64(s.w[i].Row(r)[j] * g.y[i][r])
				if d := g.w[i].Row(r)[j] - float64(s.x[j]*g.y[i][r]); d != 0 {
					t.Fatalf("%s: gradient of w[%d][%d,%d] is off by %g", name, i, r, j, d)
				}
			}
		}
	}
	for j := range want {
		if d := g.x[j] - want[j]; d > 1e-13 || d < -1e-13 {
			t.Errorf("%s: gradient of x[%d] is off by %g", name, j, d)
		}
	}
}

// TestConcurrentUse runs one program on several states at the same time.
func TestConcurrentUse(t *testing.T) {
	step := rev.ParallelShared([]func(*sums) []float64{sharedX}, branches()...)
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			for range 10 {
				rnd := rand.New(rand.NewPCG(1, seed))
				s, g := newSums(rnd), newSums(nil)
				for i := range g.y {
					g.y[i][i%5] = 1
				}
				if err := step.Forward(s); err != nil {
					t.Error(err)
				}
				if err := step.Adjoint(s, g); err != nil {
					t.Error(err)
				}
				checkSums(t, "concurrent", s, g)
			}
		})
	}
	wg.Wait()
}

// TestParallelPanic panics in the caller, not in a goroutine of its own.
func TestParallelPanic(t *testing.T) {
	step := rev.Parallel(branches()...)
	s := newSums(nil)
	s.w[3].Stride--
	checkPanic(t, "wrong shape", mat.ErrIllegalStride, func() { _ = step.Forward(s) })
}

// TestParallelSharedMisuse has operands that do not fit what is shared.
func TestParallelSharedMisuse(t *testing.T) {
	piece := func(s *sums) []float64 { return s.x[:20] }
	s, g := newSums(nil), newSums(nil)
	step := rev.ParallelShared([]func(*sums) []float64{piece}, branches()...)
	checkPanic(t, "split operand", rev.ErrOverlap, func() { _ = step.Adjoint(s, g) })

	written := func(s *sums) []float64 { return s.y[2] }
	step = rev.ParallelShared([]func(*sums) []float64{sharedX, written}, branches()...)
	checkPanic(t, "shared operand written", rev.ErrOverlap, func() { _ = step.Adjoint(s, g) })
	err, _ := panicOf(func() { _ = step.Adjoint(s, g) }).(error)
	if !errors.Is(err, rev.ErrOverlap) || !strings.Contains(err.Error(), "Y of rev_test.mul") {
		t.Errorf("panic %v does not name the operand", err)
	}
}

// TestParallelSharedKinds shares operands of every kind.
func TestParallelSharedKinds(t *testing.T) {
	bind := func(i int) rev.Step[sums] {
		return rev.At(func(s *sums) total {
			return total{
				Y: &s.y[i][0],
				V: rev.Vector[float64]{N: 3, Data: s.x[1:], Inc: 2},
				M: rev.General[float64]{Rows: 2, Cols: 2, Stride: 4, Data: s.x[10:]},
				S: s.x[20:22:22],
				P: &s.x[39],
			}
		})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	s, g := newSums(rnd), newSums(nil)
	g.y[0][0], g.y[1][0] = 1, 10
	step := rev.ParallelShared([]func(*sums) []float64{sharedX}, bind(0), bind(1))
	if err := step.Forward(s); err != nil {
		t.Fatal(err)
	}
	if err := step.Adjoint(s, g); err != nil {
		t.Fatal(err)
	}
	read := map[int]bool{1: true, 3: true, 5: true, 10: true, 11: true, 14: true, 15: true, 20: true, 21: true, 39: true}
	for j, v := range g.x {
		want := 0.0
		if read[j] {
			want = 11
		}
		if v != want {
			t.Errorf("gradient of x[%d] is %v, want %v", j, v, want)
		}
	}
}

// total is the kernel y += the sum of all else.
type total struct {
	Y *float64             `rev:"acc"`
	V rev.Vector[float64]  `rev:"in"`
	M rev.General[float64] `rev:"in"`
	S []float64            `rev:"in"`
	P *float64             `rev:"in"`
}

// each calls f for each element of the in operands.
func (k total) each(f func(x *float64)) {
	for i := range k.V.N {
		f(&k.V.Data[i*k.V.Inc])
	}
	for i := range k.M.Rows {
		for j := range k.M.Row(i) {
			f(&k.M.Row(i)[j])
		}
	}
	for i := range k.S {
		f(&k.S[i])
	}
	f(k.P)
}

func (k total) Run(p rev.Pass[total]) error {
	if p.Tangent {
		return rev.ErrUnsupported
	}
	k.each(func(x *float64) { *k.Y += float64(float64(p.Sign()) * *x) })
	if p.Adjoint {
		p.G.each(func(x *float64) { *x += *p.G.Y })
	}
	return nil
}

// TestParallelSharedApart fails in one of two branches. What the other branch added to
// the shared cotangents has not reached g and gt, so that these are as they were to the
// bit. The other branch has branches of its own.
func TestParallelSharedApart(t *testing.T) {
	boom := errors.New("boom")
	fails := rev.At(func(s *state) fuseKernel {
		return fuseKernel{&s.v[2], &s.v[8], func() error { return boom }}
	})
	shared := []func(*state) []float64{slot(8)}
	step := rev.ParallelShared(shared,
		rev.ParallelShared(shared, waveAt(0, 8, 8), waveAt(1, 8, 8)),
		fails,
		waveAt(3, 8, 8))
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		s, g, tt, gt := randomState(rnd), randomDerivative(rnd), randomDerivative(rnd), randomDerivative(rnd)
		g8, gt8 := g.v[8], gt.v[8]
		if err := step.AdjointTangent(s, g, tt, gt); !errors.Is(err, boom) {
			t.Fatalf("error %v", err)
		}
		if g.v[8] != g8 || gt.v[8] != gt8 {
			t.Fatalf("cotangents %v and %v, want %v and %v", g.v[8], gt.v[8], g8, gt8)
		}
	}
}
