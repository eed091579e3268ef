package revlog_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/kerneltest"
	"revnum/internal/logstep"
	"revnum/internal/logstep/logtest"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlog"
	"revnum/ulog"
)

func matMulSpec[T rev.Float](spread float64) revtest.Spec[revlog.MatMul[T]] {
	return revtest.Spec[revlog.MatMul[T]]{
		New: func(rnd *rand.Rand, size int) revlog.MatMul[T] {
			if size == 0 {
				return randomMatMul[T](rnd, 0, 0, 0, spread)
			}
			return randomMatMul[T](rnd, size, (size+3)/2, size+1, spread)
		},
		RoundTrip: logRoundTrip,
	}
}

// randomMatMul returns a problem in which term r is near spread·(r - l/2) in A and
// minus that in B, so that the products of e^A and e^B are tiny and their logs are
// not.
func randomMatMul[T rev.Float](rnd *rand.Rand, m, l, n int, spread float64) revlog.MatMul[T] {
	k := revlog.MatMul[T]{
		C: rev.NewGeneral(m, n, randomLogs[T](rnd, m*n, 0.5)),
		A: rev.NewGeneral(m, l, randomLogs[T](rnd, m*l, 0.5)),
		B: rev.NewGeneral(l, n, randomLogs[T](rnd, l*n, 0.5)),
	}
	for i := range k.C.Data {
		k.C.Data[i] += T(math.Log(1 + float64(l)))
	}
	for r := range l {
		d := T(spread * (float64(r) - float64(l)/2))
		for i := range m {
			k.A.Data[i*l+r] += d
		}
		for j := range n {
			k.B.Data[r*n+j] -= d
		}
	}
	return k
}

func TestMatMul(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, matMulSpec[float64](0)) })
	t.Run("float32", func(t *testing.T) { kerneltest.Kernel[float32](t, matMulSpec[float32](0)) })
}

// The elements that are computed directly, all of them or some, go through the
// same checks. Logs are then around the spread and as much less exact.
func TestMatMulDirect(t *testing.T) {
	for _, spread := range []float64{40, 500} {
		t.Run(fmt.Sprint("spread ", spread), func(t *testing.T) {
			spec := matMulSpec[float64](spread)
			spec.RoundTrip *= spread
			spec.Adjoint = 1000 * spread
			spec.Difference = 1e-8 * spread
			revtest.Kernel(t, spec)
		})
	}
}

// Several blocks go through the same checks.
func TestMatMulBlocks(t *testing.T) {
	const terms = 20
	for _, spread := range []float64{0, 30} {
		spec := matMulSpec[float64](spread)
		spec.New = func(rnd *rand.Rand, _ int) revlog.MatMul[float64] {
			return randomMatMul[float64](rnd, blockRows+2, terms, blockCols+2, spread)
		}
		spec.Sizes = []int{1}
		spec.RoundTrip *= max(1, terms*spread)
		spec.Adjoint = 1000 * max(1, terms*spread)
		spec.Difference = 1e-8 * max(1, terms*spread)
		spec.Skip = map[revtest.Property]string{
			revtest.Extremes: "slow", revtest.Shapes: "slow", revtest.Gaps: "slow",
			revtest.ReadOnly: "slow", revtest.NilGradients: "slow",
		}
		if !long.Tests() {
			spec.Skip[revtest.Omitted], spec.Skip[revtest.Magnitudes] = "slow", "slow"
		}
		revtest.Kernel(t, spec)
	}
}

// matMulCase returns operands of a kind that is hard in its own way.
func matMulCase(rnd *rand.Rand, kind, m, l, n int) (a, b []float64) {
	a, b = make([]float64, m*l), make([]float64, l*n)
	fill := func(x []float64, f func() float64) {
		for i := range x {
			x[i] = f()
		}
	}
	uniform := func(r float64) func() float64 {
		return func() float64 { return r * (2*rnd.Float64() - 1) }
	}
	switch kind {
	case 0:
		fill(a, rnd.NormFloat64)
		fill(b, rnd.NormFloat64)
	case 1: // no row meets a column near its largest log
		fill(a, uniform(1e5))
		fill(b, uniform(1e5))
	case 2: // large logs with small products
		for r := range l {
			d := 1e5 * (2*rnd.Float64() - 1)
			for i := range m {
				a[i*l+r] = d + rnd.NormFloat64()
			}
			for j := range n {
				b[r*n+j] = -d + rnd.NormFloat64()
			}
		}
	case 3: // about the border between the two ways
		fill(a, uniform(300))
		fill(b, uniform(300))
	case 4: // rows and columns of very different sizes
		for i := range m {
			d := 1e5 * rnd.NormFloat64()
			fill(a[i*l:(i+1)*l], func() float64 { return d + 3*rnd.NormFloat64() })
		}
		for j := range n {
			d := 1e5 * rnd.NormFloat64()
			for r := range l {
				b[r*n+j] = d + 3*rnd.NormFloat64()
			}
		}
	case 5: // many zeros
		fill(a, uniform(100))
		fill(b, uniform(100))
		for _, x := range [][]float64{a, b} {
			for i := range x {
				if rnd.IntN(2) == 0 {
					x[i] = math.Inf(-1)
				}
			}
		}
	}
	return a, b
}

const matMulCases = 6

func TestMatMulBound(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testMatMulBound[float64](t, 0) })
	t.Run("float32", func(t *testing.T) { testMatMulBound[float32](t, 0x1p-24) })
}

// testMatMulBound allows for the error of MatMul in float64 and for the relative
// error half in the result.
func testMatMulBound[T rev.Float](t *testing.T, half float64) {
	rnd := rand.New(rand.NewPCG(5, 1))
	worst := 0.0
	for trial := range long.Or(120, 40) {
		m, l, n := 1+rnd.IntN(20), 1+rnd.IntN(40), 1+rnd.IntN(20)
		a64, b64 := matMulCase(rnd, trial%matMulCases, m, l, n)
		a, b, c := rounded[T](a64), rounded[T](b64), make([]T, m*n)
		for i := range c {
			c[i] = T(math.Inf(-1))
		}
		revlog.MatMul[T]{C: rev.NewGeneral(m, n, c), A: rev.NewGeneral(m, l, a), B: rev.NewGeneral(l, n, b)}.Forward()
		for i := range m {
			for j := range n {
				var terms []*big.Float
				alpha, beta := math.Inf(-1), math.Inf(-1)
				for r := range l {
					x, y := float64(a[i*l+r]), float64(b[r*n+j])
					alpha, beta = max(alpha, x), max(beta, y)
					if !math.IsInf(x+y, -1) {
						terms = append(terms, logtest.Exact(x, y))
					}
				}
				got := float64(c[i*n+j])
				if terms == nil {
					if !logstep.IsZero(got) {
						t.Fatalf("case %d: c[%d,%d] = %v, want -Inf", trial%matMulCases, i, j, got)
					}
					continue
				}
				top, rest := logtest.Sum(terms)
				k := float64(l)
				bound := (2*math.Abs(alpha+beta)+3*math.Abs(got)+3*min(300, alpha+beta-got)+2*math.Log(k)+k+16)*0x1p-53 + half*math.Abs(got)
				e := math.Abs(logtest.Error(got, top, rest))
				if !(e <= bound) {
					t.Fatalf("case %d: c[%d,%d] = %v has error %.3g, want at most %.3g", trial%matMulCases, i, j, got, e, bound)
				}
				worst = max(worst, e/bound)
			}
		}
	}
	t.Logf("largest error: %.2f of the bound", worst)
}

func rounded[T rev.Float](x []float64) []T {
	r := make([]T, len(x))
	for i, v := range x {
		r[i] = T(v)
	}
	return r
}

// The shares in a sum that is put in the place of a zero sum to 1, however
// large its log is and however it was computed.
func TestMatMulShares(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testMatMulShares[float64](t, 0x1p-52) })
	t.Run("float32", func(t *testing.T) { testMatMulShares[float32](t, 0x1p-23) })
}

func testMatMulShares[T rev.Float](t *testing.T, eps float64) {
	rnd := rand.New(rand.NewPCG(5, 4))
	for trial := range long.Or(300, 100) {
		l := 1 + rnd.IntN(40)
		a, b := matMulCase(rnd, trial%matMulCases, 1, l, 1)
		c, gc, ga := []T{T(math.Inf(-1))}, []T{1}, make([]T, l)
		k := revlog.MatMul[T]{C: rev.NewGeneral(1, 1, c), A: rev.NewGeneral(1, l, rounded[T](a)), B: rev.NewGeneral(l, 1, rounded[T](b))}
		k.Forward()
		want := 1.0
		if logstep.IsZero(c[0]) {
			want = 0
		}
		k.Adjoint(revlog.MatMul[T]{C: rev.NewGeneral(1, 1, gc), A: rev.NewGeneral(1, l, ga)})
		sum := 0.0
		for _, w := range ga {
			sum += float64(w)
		}
		if !(math.Abs(sum-want) <= (float64(l)+4)*eps) {
			t.Errorf("case %d: %d shares sum to %v", trial%matMulCases, l, sum)
		}
		if !logstep.IsZero(c[0]) || (gc[0] != 0 && want != 0) {
			t.Errorf("case %d: Adjoint leaves %v with cotangent %v", trial%matMulCases, c[0], gc[0])
		}
	}
}

// plainMatMul is MatMul without any cleverness: C ⊕= A·B, and the gradients for
// given cotangents of C'.
func plainMatMul(m, l, n int, c, a, b, gc, ga, gb []float64) {
	for i := range m {
		for j := range n {
			s := ulog.Float64{Log: math.Inf(-1)}
			for r := range l {
				s = s.Add(ulog.Float64{Log: a[i*l+r]}.Mul(ulog.Float64{Log: b[r*n+j]}))
			}
			before := c[i*n+j]
			after := ulog.Float64{Log: before}.Add(s).Log
			c[i*n+j] = after
			for r := range l {
				w := logstep.Share(a[i*l+r]+b[r*n+j], after)
				if after != after && !logstep.IsZero(s.Log) {
					w = after
				}
				ga[i*l+r] += gc[i*n+j] * w
				gb[r*n+j] += gc[i*n+j] * w
			}
			gc[i*n+j] *= logstep.Kept(before, after, s.Log)
		}
	}
}

// Values and gradients are those of the plain loops, also for special logs.
func TestMatMulAgainstPlain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 2))
	special := []float64{math.Inf(-1), math.Inf(1), math.NaN(), 0}
	for trial := range long.Or(300, 100) {
		m, l, n := 1+rnd.IntN(9), rnd.IntN(9), 1+rnd.IntN(9)
		tol := 1e-12
		if trial == 0 {
			m, l, n = 70, 30, 135 // several blocks
		}
		a, b := matMulCase(rnd, trial%matMulCases, m, l, n)
		if trial%matMulCases > 0 {
			tol = 1e-9
		}
		if trial%3 == 0 && len(a) > 0 {
			for range 1 + rnd.IntN(3) {
				a[rnd.IntN(len(a))] = special[rnd.IntN(len(special))]
				b[rnd.IntN(len(b))] = special[rnd.IntN(len(special))]
			}
		}
		c, gc := make([]float64, m*n), make([]float64, m*n)
		for i := range c {
			c[i], gc[i] = rnd.NormFloat64(), rnd.NormFloat64()
			if rnd.IntN(2) == 0 {
				c[i] = math.Inf(-1)
			}
		}
		ga, gb := make([]float64, m*l), make([]float64, l*n)
		wantC, wantGC := append([]float64(nil), c...), append([]float64(nil), gc...)
		wantGA, wantGB := make([]float64, m*l), make([]float64, l*n)
		before := append([]float64(nil), c...)
		plainMatMul(m, l, n, wantC, a, b, wantGC, wantGA, wantGB)

		k := revlog.MatMul[float64]{C: rev.NewGeneral(m, n, c), A: rev.NewGeneral(m, l, a), B: rev.NewGeneral(l, n, b)}
		check := func(what string, got, want []float64) {
			t.Helper()
			for i := range got {
				if !kerneltest.Near(got[i], want[i], tol) && !(math.Abs(got[i]-want[i]) <= tol) {
					t.Fatalf("trial %d, %d×%d×%d: %s[%d] = %v, want %v", trial, m, l, n, what, i, got[i], want[i])
				}
			}
		}
		k.Forward()
		check("C", c, wantC)
		k.Adjoint(revlog.MatMul[float64]{C: rev.NewGeneral(m, n, gc), A: rev.NewGeneral(m, l, ga), B: rev.NewGeneral(l, n, gb)})
		check("gradient of A", ga, wantGA)
		check("gradient of B", gb, wantGB)
		for i := range c {
			if logstep.IsZero(before[i]) && !logstep.IsZero(c[i]) && wantC[i]-wantC[i] == 0 {
				t.Fatalf("trial %d: zero restored as %v", trial, c[i])
			}
		}
	}
}

// Terms that are zero make no difference to any derivative, wherever the
// elements are computed.
func TestMatMulZeroTerms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	const m, n, l = 3, 4, 6
	type operands struct{ k, g, t, gt revlog.MatMul[float64] }
	for _, spread := range []float64{1, 500} {
		random := func(r, c int) rev.General[float64] {
			return rev.NewGeneral(r, c, randomLogs[float64](rnd, r*c, spread))
		}
		draw := func() revlog.MatMul[float64] {
			return revlog.MatMul[float64]{C: random(m, n), A: random(m, l), B: random(l, n)}
		}
		few := operands{draw(), draw(), draw(), draw()}
		// The same and as many terms of zero, which come first.
		more := func(k revlog.MatMul[float64], zero float64) revlog.MatMul[float64] {
			a, b := random(m, 2*l), random(2*l, n)
			c := rev.NewGeneral(m, n, append([]float64(nil), k.C.Data...))
			for i := range m {
				copy(a.Row(i)[l:], k.A.Row(i))
			}
			for r := range l {
				copy(b.Row(l+r), k.B.Row(r))
				if zero != 0 {
					for i := range m {
						a.Row(i)[r] = zero
					}
				}
			}
			return revlog.MatMul[float64]{C: c, A: a, B: b}
		}
		many := operands{more(few.k, math.Inf(-1)), more(few.g, 0), more(few.t, 0), more(few.gt, 0)}
		gA := append([]float64(nil), many.gt.A.Data...)
		same := func(what string, x, y revlog.MatMul[float64]) {
			for i := range m {
				for r := range l {
					if v, w := x.A.Row(i)[r], y.A.Row(i)[l+r]; !kerneltest.Near(v, w, 1e-9) {
						t.Errorf("spread %v: %s, A[%d,%d]: %v with zeros, %v without", spread, what, i, r, w, v)
					}
				}
				for j := range n {
					if v, w := x.C.Row(i)[j], y.C.Row(i)[j]; !kerneltest.Near(v, w, 1e-9) {
						t.Errorf("spread %v: %s, C[%d,%d]: %v with zeros, %v without", spread, what, i, j, w, v)
					}
				}
			}
		}
		for _, o := range []operands{few, many} {
			o.k.Tangent(o.t)
		}
		same("k after Tangent", few.k, many.k)
		same("t after Tangent", few.t, many.t)
		for _, o := range []operands{few, many} {
			o.k.AdjointTangent(o.g, o.t, o.gt)
		}
		same("g after AdjointTangent", few.g, many.g)
		same("gt after AdjointTangent", few.gt, many.gt)
		for i := range m {
			for r := range l {
				if many.gt.A.Row(i)[r] != gA[i*2*l+r] {
					t.Errorf("spread %v: a zero has a second derivative", spread)
				}
			}
		}
		// A product of zeros only leaves everything as it is.
		zeros := draw()
		for i := range zeros.A.Data {
			zeros.A.Data[i] = math.Inf(-1)
		}
		c := append([]float64(nil), zeros.C.Data...)
		zeros.Tangent(few.t)
		zeros.AdjointTangent(few.g, few.t, few.gt)
		for i, v := range zeros.C.Data {
			if v != c[i] {
				t.Errorf("spread %v: zeros change C[%d] from %v to %v", spread, i, c[i], v)
			}
		}
		for _, x := range []revlog.MatMul[float64]{few.g, few.t, few.gt} {
			for _, v := range append(append([]float64(nil), x.A.Data...), x.C.Data...) {
				if math.IsNaN(v) {
					t.Fatalf("spread %v: zeros make a NaN", spread)
				}
			}
		}
	}
}

// The constructors share storage.
func TestConstructors(t *testing.T) {
	var out float64
	x := mat.NewVecDense(3, []float64{1, 2, 4})
	if err := revlog.NewProd(&out, x).Forward(); err != nil || out != 7 {
		t.Errorf("NewProd: %v, %v", out, err)
	}
	out = math.Inf(-1)
	revlog.NewSum(&out, x).Forward()
	if want := 4 + math.Log(1+math.Exp(-2)+math.Exp(-3)); !kerneltest.Near(out, want, 1e-15) {
		t.Errorf("NewSum: %v, want %v", out, want)
	}
}

func BenchmarkMatMul(b *testing.B) {
	const n = 512
	rnd := rand.New(rand.NewPCG(5, 3))
	for _, kind := range []struct {
		name string
		kind int
	}{{"normal", 0}, {"hostile", 1}} {
		x, y := matMulCase(rnd, kind.kind, n, n, n)
		zero := func() rev.General[float64] {
			c := rev.NewGeneral[float64](n, n, nil)
			for i := range c.Data {
				c.Data[i] = math.Inf(-1)
			}
			return c
		}
		a, m := rev.NewGeneral(n, n, x), rev.NewGeneral(n, n, y)
		for _, workers := range []int{1, 2} {
			k := revlog.MatMul[float64]{C: zero(), A: a, B: m, Workers: workers}
			b.Run(fmt.Sprintf("%s/Forward/workers=%d", kind.name, workers), func(b *testing.B) {
				for b.Loop() {
					k.Forward()
				}
				kerneltest.ReportFlops(b, 2*n*n*n)
			})
			g := revlog.MatMul[float64]{C: rev.NewGeneral(n, n, randomLogs[float64](rnd, n*n, 1)), A: rev.NewGeneral[float64](n, n, nil), B: rev.NewGeneral[float64](n, n, nil)}
			b.Run(fmt.Sprintf("%s/Adjoint/workers=%d", kind.name, workers), func(b *testing.B) {
				for b.Loop() {
					k.Adjoint(g)
				}
				kerneltest.ReportFlops(b, 6*n*n*n)
			})
		}
	}
	// The same by adding element by element: a row in 512 of it.
	b.Run("Add", func(b *testing.B) {
		x, y := matMulCase(rnd, 0, n, n, n)
		a, m := ulog.OfLogs(x), ulog.OfLogs(y)
		c := make([]ulog.Float64, n)
		for b.Loop() {
			for j := range c {
				c[j].Log = math.Inf(-1)
			}
			for r := range n {
				for j := range c {
					c[j] = c[j].Add(a[r].Mul(m[r*n+j]))
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())*n/float64(b.N)/1e6, "ms/product")
	})
}
