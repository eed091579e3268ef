package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"revnum/benchmarks/internal/machine"
	"revnum/internal/parallel"
	"revnum/internal/simd/vec"
	"revnum/rev"
	"revnum/revsparse"
)

// Row is the time of a call, and what it is compared with.
type Row struct {
	Matrix  string  `json:"matrix"`
	Call    string  `json:"call"`
	Workers int     `json:"workers"`
	Time    float64 `json:"seconds"`
	Bytes   float64 `json:"bytes_per_second"` // of a call that is limited by memory
	Flops   float64 `json:"flops_per_second"` // of a call that is limited by arithmetic
	OfPeak  float64 `json:"of_peak"`          // fraction of the peak of the workers' cores
	Against string  `json:"against"`
	Ratio   float64 `json:"ratio"`    // Time in multiples of that
	AtLeast float64 `json:"at_least"` // the bar for OfPeak, 0 for none
	AtMost  float64 `json:"at_most"`  // the bar for Ratio, 0 for none
}

// Met reports whether the bars are met.
func (r Row) Met() bool {
	return (r.AtLeast == 0 || r.OfPeak >= r.AtLeast) && (r.AtMost == 0 || r.Ratio <= r.AtMost)
}

// Report is all that a run found.
type Report struct {
	Machine machine.Machine `json:"machine"`
	Reading [3]float64      `json:"reading"` // from memory by so many workers, byte/s
	Rows    []Row           `json:"rows"`
}

// Measure measures the machine for about the time d.
func (r *Report) Measure(d time.Duration) {
	r.Machine = machine.Measure(d)
	x := make([]float64, 16<<20)
	for i := range x {
		x[i] = 1
	}
	for w := 1; w <= 2; w++ {
		t := &readers{x: x, blocks: 8 * w}
		best := shortest(d/4, func() { parallel.Run(w, t.blocks, t) })
		r.Reading[w] = 8 * float64(len(x)) / best[0]
	}
}

// readers read equal parts of x.
type readers struct {
	x      []float64
	blocks int
}

func (r *readers) Block(_, block int) {
	n := len(r.x) / r.blocks
	vec.ReadAll(r.x[block*n : (block+1)*n])
}

// shortest returns the seconds of one call of each function: the shortest of many short
// slices. The functions take turns, so that other load on the machine slows all.
func shortest(d time.Duration, calls ...func()) []float64 {
	slice := func(f func(), repeats int) float64 {
		start := time.Now()
		for range repeats {
			f()
		}
		return time.Since(start).Seconds() / float64(repeats)
	}
	repeats, best := make([]int, len(calls)), make([]float64, len(calls))
	for i, f := range calls {
		repeats[i], best[i] = 1, math.Inf(1)
		for repeats[i] < 1<<20 && slice(f, repeats[i])*float64(repeats[i]) < 2e-4 {
			repeats[i] *= 2
		}
	}
	for n, begin := 0, time.Now(); n < 3 || time.Since(begin) < d; n++ {
		for i, f := range calls {
			best[i] = min(best[i], slice(f, repeats[i]))
		}
	}
	return best
}

// byHand computes C += A·B by plain loops, for dense matrices without gaps.
func byHand(c []float64, a Matrix, b []float64, cols int) {
	if cols == 1 {
		for i := range a.Rows {
			s := 0.0
			ind := a.Ind[a.Ptr[i]:a.Ptr[i+1]]
			data := a.Data[a.Ptr[i]:a.Ptr[i+1]]
			for p, v := range data {
				s += v * b[ind[p]]
			}
			c[i] += s
		}
		return
	}
	for i := range a.Rows {
		to := c[i*cols : (i+1)*cols]
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			v, from := a.Data[p], b[int(a.Ind[p])*cols:]
			from = from[:len(to)]
			for j := range to {
				to[j] += v * from[j]
			}
		}
	}
}

// byHandTrans computes C += Aᵀ·B.
func byHandTrans(c []float64, a Matrix, b []float64, cols int) {
	for i := range a.Rows {
		from := b[i*cols : (i+1)*cols]
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			v, to := a.Data[p], c[int(a.Ind[p])*cols:]
			for j, w := range from {
				to[j] += v * w
			}
		}
	}
}

// product is C += A·B with all its cotangents.
type product struct {
	a    Matrix
	cols int
	k, g revsparse.Mul[float64, int32]
}

func newProduct(a Matrix, cols int) *product {
	rnd := rand.New(rand.NewPCG(7, 2))
	random := func(r int) rev.General[float64] {
		m := rev.NewGeneral[float64](r, cols, nil)
		for i := range m.Data {
			m.Data[i] = rnd.NormFloat64()
		}
		return m
	}
	return &product{
		a: a, cols: cols,
		k: revsparse.Mul[float64, int32]{C: rev.NewGeneral[float64](a.Rows, cols, nil), A: a, B: random(a.Cols)},
		g: revsparse.Mul[float64, int32]{C: random(a.Rows), A: a.With(make([]float64, a.NNZ())), B: rev.NewGeneral[float64](a.Cols, cols, nil)},
	}
}

// check returns an error unless the kernel computes what the loops compute, with the
// same bits on one worker and on two.
func (p *product) check() error {
	want, back := make([]float64, len(p.k.C.Data)), make([]float64, len(p.g.B.Data))
	byHand(want, p.a, p.k.B.Data, p.cols)
	byHandTrans(back, p.a, p.g.C.Data, p.cols)
	var first [2][]float64
	for w := 1; w <= 2; w++ {
		k, g := p.k, p.g
		k.Workers, k.C, g.B = w, rev.NewGeneral[float64](k.C.Rows, p.cols, nil), rev.NewGeneral[float64](k.B.Rows, p.cols, nil)
		k.Forward()
		forward := append([]float64(nil), k.C.Data...)
		k.Adjoint(g)
		got := [2][]float64{forward, g.B.Data}
		for i, want := range [2][]float64{want, back} {
			if e := difference(got[i], want); !(e < 1e-11) {
				return fmt.Errorf("a product is wrong by %.1e", e)
			}
			if w == 2 && !sameBits(got[i], first[i]) {
				return fmt.Errorf("two workers give other bits than one")
			}
		}
		first = got
	}
	return nil
}

// difference returns the largest of a-b relative to the largest of b.
func difference(a, b []float64) float64 {
	d, top := 0.0, 0.0
	for i := range a {
		d, top = math.Max(d, math.Abs(a[i]-b[i])), math.Max(top, math.Abs(b[i]))
	}
	if d == 0 {
		return 0
	}
	return d / top
}

func sameBits(a, b []float64) bool {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}

// bytes returns the bytes of a product with one column: values, indices, and each
// vector once.
func (p *product) bytes() float64 {
	return float64(12*p.a.NNZ() + 4*(p.a.Rows+1) + 8*p.a.Rows + 8*p.a.Cols)
}

// From beyondCaches bytes on, a product comes from memory and not from a cache.
const beyondCaches = 64 << 20

// bars are the limits for a product, 0 for none.
type bars struct {
	ofBandwidth, ofPeak float64
	byHand              float64 // time in multiples of the loop by hand
	adjoint, adjointB   float64 // in multiples of Forward: all gradients with C restored, and B's alone
	gradients           float64 // all gradients without C, for several columns
}

// measure appends the rows of a product.
func (r *Report) measure(name string, p *product, d time.Duration, b bars, done func()) error {
	if err := p.check(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	call, column := fmt.Sprintf("C += A·B, %d columns", p.cols), p.cols == 1
	if column {
		call = "c += A·b"
	}
	one := 0.0
	for w := 1; w <= 2; w++ {
		k := p.k
		k.Workers = w
		alone, gb := k, p.g
		alone.C, gb.A.Data = rev.General[float64]{}, nil
		calls := []func(){k.Forward, func() { k.Adjoint(p.g) }, func() { alone.Adjoint(gb) }, func() { alone.Adjoint(p.g) }}
		if column {
			calls = calls[:3]
		}
		if w == 1 {
			calls = append(calls, func() { byHand(p.k.C.Data, p.a, p.k.B.Data, p.cols) })
		}
		t := shortest(d, calls...)
		forward := Row{Matrix: name, Call: call, Workers: w, Time: t[0]}
		cores := float64(min(w, r.Machine.Cores))
		if column {
			forward.Bytes = p.bytes() / t[0]
			if p.bytes() >= beyondCaches {
				forward.OfPeak, forward.AtLeast = forward.Bytes/r.Reading[w], b.ofBandwidth
			}
		} else {
			forward.Flops = 2 * float64(p.cols) * float64(p.a.NNZ()) / t[0]
			forward.OfPeak, forward.AtLeast = forward.Flops/(cores*r.Machine.FMA64), b.ofPeak
		}
		if w == 1 {
			one = t[0]
			forward.Against, forward.Ratio, forward.AtMost = "a loop by hand", t[0]/t[len(t)-1], b.byHand
		} else {
			forward.Against, forward.Ratio = "one worker", t[0]/one
		}
		r.Rows = append(r.Rows, forward,
			Row{Matrix: name, Call: "  all gradients, and C restored", Workers: w, Time: t[1], Against: call, Ratio: t[1] / t[0], AtMost: b.adjoint})
		if !column {
			r.Rows = append(r.Rows, Row{Matrix: name, Call: "  all gradients alone", Workers: w, Time: t[3], Against: call, Ratio: t[3] / t[0], AtMost: b.gradients})
		}
		r.Rows = append(r.Rows, Row{Matrix: name, Call: "  gradient of B alone", Workers: w, Time: t[2], Against: call, Ratio: t[2] / t[0], AtMost: b.adjointB})
		done()
	}
	return nil
}

// Matrix measures the product of a matrix with a vector, each call for about the time
// d. It calls done after each number of workers. The bars are those of the kind with
// the given name. A product that may lie in a cache has no bars.
func (r *Report) Matrix(name string, a Matrix, d time.Duration, done func()) error {
	p, title := newProduct(a, 1), fmt.Sprintf("%s, %d×%d, %d entries", name, a.Rows, a.Cols, a.NNZ())
	if p.bytes() < beyondCaches {
		return r.measure(title+", less than 64 MiB: no bars", p, d, bars{}, done)
	}
	b := bars{adjoint: 2.5, adjointB: 1.4}
	switch name {
	case "laplacian", "banded":
		b.ofBandwidth = 0.8
	case "uniform":
		b.byHand = 1
	}
	return r.measure(title, p, d, b, done)
}

// PaperSteps is the number of times that Paper calls done.
const PaperSteps = 8

// Paper measures the cases of NiLang's paper: a matrix of 1000×1000 elements and
// density 0.05 with 1 and 1000 columns. It adds 64 columns, and the dot product of two
// such matrices. With many columns, restoring C is as much work as Forward. The
// gradients are therefore also measured without it.
func (r *Report) Paper(d time.Duration, done func()) error {
	const n = 1000
	a, err := Generate("uniform", n, n/20, 5)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("density 0.05, %d×%d, %d entries", n, n, a.NNZ())
	for _, c := range []struct {
		cols int
		bars bars
	}{{1, bars{byHand: 1, adjoint: 2.2}}, {64, bars{ofPeak: 0.3}}, {1000, bars{byHand: 1, adjoint: 2.2, gradients: 2.2}}} {
		if err := r.measure(name, newProduct(a, c.cols), d, c.bars, done); err != nil {
			return err
		}
	}
	b, err := Generate("uniform", n, n/20, 6)
	if err != nil {
		return err
	}
	return r.dot(name, a, b, d, done)
}

// dotByHand returns Σ A_ij·B_ij of matrices with sorted columns.
func dotByHand(a, b Matrix) float64 {
	s := 0.0
	for i := range a.Rows {
		p, q := a.Ptr[i], b.Ptr[i]
		for p < a.Ptr[i+1] && q < b.Ptr[i+1] {
			switch j, k := a.Ind[p], b.Ind[q]; {
			case j < k:
				p++
			case j > k:
				q++
			default:
				s += a.Data[p] * b.Data[q]
				p++
				q++
			}
		}
	}
	return s
}

// dot appends the rows of the dot product of two matrices.
func (r *Report) dot(name string, a, b Matrix, d time.Duration, done func()) error {
	var sum, other float64
	cotangent := 1e-3
	k := revsparse.Dot[float64, int32]{Out: &sum, A: a, B: b}
	g := revsparse.Dot[float64, int32]{Out: &cotangent, A: a.With(make([]float64, a.NNZ())), B: b.With(make([]float64, b.NNZ()))}
	k.Forward()
	if want := dotByHand(a, b); !(math.Abs(sum-want) <= 1e-9*math.Abs(want)) {
		return fmt.Errorf("%s: the dot product is %v, want %v", name, sum, want)
	}
	one := 0.0
	for w := 1; w <= 2; w++ {
		k.Workers = w
		t := shortest(d, k.Forward, func() { k.Adjoint(g) }, func() { other += dotByHand(a, b) })
		forward := Row{Matrix: name, Call: "r += Σ A_ij·B_ij", Workers: w, Time: t[0], Bytes: float64(2*12*a.NNZ()) / t[0]}
		if w == 1 {
			one = t[0]
			forward.Against, forward.Ratio, forward.AtMost = "a loop by hand", t[0]/t[2], 1
		} else {
			forward.Against, forward.Ratio = "one worker", t[0]/one
		}
		r.Rows = append(r.Rows, forward,
			Row{Matrix: name, Call: "  both gradients, and r restored", Workers: w, Time: t[1], Against: "r += Σ A_ij·B_ij", Ratio: t[1] / t[0], AtMost: 1.6})
		done()
	}
	return nil
}
