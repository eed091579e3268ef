package gmm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"revnum/internal/long"
	"revnum/rev"
)

// wantObjective is F by its definition, point by point.
func wantObjective(k LogPosterior[float64]) float64 {
	d, n, comps := k.X.Cols, k.X.Rows, k.Alpha.N
	lse := func(x []float64) float64 {
		top := math.Inf(-1)
		for _, v := range x {
			top = max(top, v)
		}
		var s float64
		for _, v := range x {
			s += math.Exp(v - top)
		}
		return top + math.Log(s)
	}
	// entry (i, j) of Q_c
	q := func(c, i, j int) float64 {
		row := k.Factors.Row(c)
		switch {
		case i == j:
			return math.Exp(row[i])
		case i < j:
			return 0
		}
		at := d
		for col := range j {
			at += d - 1 - col
		}
		return row[at+i-j-1]
	}
	var f float64
	alpha := make([]float64, comps)
	for c := range alpha {
		alpha[c] = k.Alpha.Data[c*k.Alpha.Inc]
	}
	for p := range n {
		beta := make([]float64, comps)
		for c := range comps {
			beta[c] = alpha[c]
			for i := range d {
				beta[c] += k.Factors.Row(c)[i]
				var y float64
				for j := range i + 1 {
					y += q(c, i, j) * (k.X.Row(p)[j] - k.Means.Row(c)[j])
				}
				beta[c] -= y * y / 2
			}
		}
		f += lse(beta) - lse(alpha) - float64(d)/2*math.Log(2*math.Pi)
	}
	if k.Prior.Gamma == 0 {
		return f
	}
	var prior float64
	nu := float64(d + k.Prior.M + 1)
	for c := range comps {
		logGamma := float64(d*(d-1)) / 4 * math.Log(math.Pi)
		for i := range d {
			lg, _ := math.Lgamma(nu/2 - float64(i)/2)
			logGamma += lg
			prior += float64(k.Prior.M) * k.Factors.Row(c)[i]
			for j := range i + 1 {
				prior -= k.Prior.Gamma * k.Prior.Gamma / 2 * q(c, i, j) * q(c, i, j)
			}
		}
		prior += nu*float64(d)*math.Log(k.Prior.Gamma/math.Sqrt2) - logGamma
	}
	if k.Prior.Sign == ADBench {
		prior = -prior
	}
	return f + prior
}

// random returns a kernel over random operands, with gaps between the rows.
func random[T rev.Float](rnd *rand.Rand, d, comps, n int) LogPosterior[T] {
	matrix := func(r, c int) rev.General[T] {
		m := rev.General[T]{Rows: r, Cols: c, Stride: c + 3, Data: make([]T, r*(c+3))}
		for i := range m.Data {
			m.Data[i] = T(math.NaN())
		}
		for i := range r {
			for j := range c {
				m.Row(i)[j] = T(rnd.NormFloat64())
			}
		}
		return m
	}
	k := LogPosterior[T]{
		Out: new(T), Means: matrix(comps, d), Factors: matrix(comps, d*(d+1)/2), X: matrix(n, d),
		Prior: Prior{Gamma: 0.7, M: 2},
	}
	alpha := matrix(comps, 1)
	k.Alpha = rev.Vector[T]{N: comps, Inc: alpha.Stride, Data: alpha.Data}
	*k.Out = T(rnd.NormFloat64())
	return k
}

// logPosteriorOperands returns the elements of the operands of k, one by one.
func logPosteriorOperands[T rev.Float](k LogPosterior[T]) []*T {
	var e []*T
	for c := range k.Alpha.N {
		e = append(e, &k.Alpha.Data[c*k.Alpha.Inc])
	}
	for _, m := range []rev.General[T]{k.Means, k.Factors, k.X} {
		for i := range m.Rows {
			for j := range m.Cols {
				e = append(e, &m.Row(i)[j])
			}
		}
	}
	return e
}

func TestObjective(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{1, 1, 1}, {2, 3, 7}, {3, 5, 1000}, {5, 2, 700}, {12, 4, 100}, {23, 9, 61}, {64, 3, 50}, {2, 0, 0}, {0, 2, 3}, {4, 3, 0}} {
		for _, prior := range []Prior{{}, {Gamma: 1.5, M: 3}, {Gamma: 0.3, Sign: ADBench}} {
			t.Run(fmt.Sprint(s, prior), func(t *testing.T) {
				k := random[float64](rnd, s[0], s[1], s[2])
				k.Prior = prior
				*k.Out = 0
				k.Forward()
				if want := wantObjective(k); !(math.Abs(*k.Out-want) <= 1e-12*(1+math.Abs(want))) {
					t.Errorf("F = %v, want %v", *k.Out, want)
				}
			})
		}
	}
}

// TestDerivatives checks the four derivatives against differences of F by its
// definition and of each other.
func TestDerivatives(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, s := range [][3]int{{1, 1, 1}, {2, 3, 7}, {5, 12, 40}, {6, 2, long.Or(700, 130)}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			k := random[float64](rnd, s[0], s[1], s[2])
			g, tt, gt := random[float64](rnd, s[0], s[1], s[2]), random[float64](rnd, s[0], s[1], s[2]), random[float64](rnd, s[0], s[1], s[2])
			for i, e := range logPosteriorOperands(g) {
				*e, *logPosteriorOperands(gt)[i] = 0, 0
			}
			*tt.Out = 0
			x, dir := logPosteriorOperands(k), logPosteriorOperands(tt)
			along := func(h float64, f func()) {
				for i := range x {
					*x[i] += h * *dir[i]
				}
				f()
				for i := range x {
					*x[i] -= h * *dir[i]
				}
			}
			const h = 1e-5
			var fp, fm float64
			along(h, func() { fp = wantObjective(k) })
			along(-h, func() { fm = wantObjective(k) })
			k.Tangent(tt)
			if want := (fp - fm) / (2 * h); !(math.Abs(*tt.Out-want) <= 1e-6*(1+math.Abs(want))) {
				t.Errorf("tangent %v, want %v", *tt.Out, want)
			}
			df := *tt.Out
			cot, dcot := *g.Out, *gt.Out
			k.AdjointTangent(g, tt, gt)
			if !(math.Abs(*tt.Out) <= 1e-9*math.Abs(df)) {
				t.Errorf("AdjointTangent left the tangent %v, want 0", *tt.Out)
			}
			var dot float64
			for i, e := range logPosteriorOperands(g) {
				dot += *e * *dir[i]
			}
			if !(math.Abs(dot-cot*df) <= 1e-11*(1+math.Abs(dot))) {
				t.Errorf("⟨gradient, t⟩ = %v, tangent %v", dot, cot*df)
			}
			gradient := func(h float64) []float64 {
				gg := random[float64](rnd, s[0], s[1], s[2])
				for _, e := range logPosteriorOperands(gg) {
					*e = 0
				}
				*gg.Out = cot + h*dcot
				along(h, func() { k.Adjoint(gg) })
				var v []float64
				for _, e := range logPosteriorOperands(gg) {
					v = append(v, *e)
				}
				return v
			}
			gp, gm := gradient(h), gradient(-h)
			for i, e := range logPosteriorOperands(gt) {
				if want := (gp[i] - gm[i]) / (2 * h); !(math.Abs(*e-want) <= 1e-5*(1+math.Abs(want))) {
					t.Fatalf("tangent of derivative %d: %v, want %v", i, *e, want)
				}
			}
		})
	}
}

// cotangents returns zero cotangents for all operands of k, and one for Out.
func cotangents(k LogPosterior[float64]) LogPosterior[float64] {
	zeros := func(m rev.General[float64]) rev.General[float64] {
		return rev.NewGeneral[float64](m.Rows, m.Cols, nil)
	}
	one := 1.0
	return LogPosterior[float64]{
		Out: &one, Alpha: rev.ViewSlice(make([]float64, k.Alpha.N)),
		Means: zeros(k.Means), Factors: zeros(k.Factors), X: zeros(k.X),
	}
}

// TestWorkers checks that many panels and batches give the same bits on any
// number of workers, with few components and with many.
func TestWorkers(t *testing.T) {
	for _, s := range [][3]int{{2, 3, 30000}, {7, 60, 5000}, {40, 5, 4000}} {
		k := random[float64](rand.New(rand.NewPCG(3, 1)), s[0], s[1], s[2])
		var want []float64
		for _, workers := range []int{1, 2, 3, 7} {
			k.Workers = workers
			*k.Out = 0
			g := cotangents(k)
			k.Adjoint(g)
			got := []float64{*k.Out}
			for _, e := range logPosteriorOperands(g) {
				got = append(got, *e)
			}
			if want == nil {
				want = got
			}
			for i, w := range want {
				if got[i] != w {
					t.Fatalf("%v: number %d is %v with %d workers, %v with one", s, i, got[i], workers, w)
				}
			}
		}
	}
}

// TestMemory checks that the memory beyond the operands does not grow with the
// number of points.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("many points")
	}
	k := random[float64](rand.New(rand.NewPCG(5, 1)), 10, 5, 10)
	n := long.Or(2_500_000, 500_000)
	x := rev.NewGeneral[float64](n, 10, nil)
	for i := range n {
		copy(x.Row(i), k.X.Row(i%10))
	}
	k.X = x
	g := cotangents(k)
	g.X = rev.General[float64]{}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	k.Adjoint(g)
	runtime.ReadMemStats(&after)
	if extra := after.TotalAlloc - before.TotalAlloc; extra > 16<<20 {
		t.Errorf("%d points take %d bytes, want at most 16 MiB", n, extra)
	}
}

// TestExtremes checks that a point that no component reaches gives -Inf,
// and that NaN in any operand comes out as NaN.
func TestExtremes(t *testing.T) {
	k := random[float64](rand.New(rand.NewPCG(6, 1)), 3, 4, 20)
	k.X.Row(7)[0] = 1e200
	*k.Out = 0
	k.Forward()
	if !math.IsInf(*k.Out, -1) {
		t.Errorf("F = %v at a point out of reach, want -Inf", *k.Out)
	}
	k.X.Row(7)[0] = 0
	for i, e := range logPosteriorOperands(k) {
		v := *e
		*e = math.NaN()
		*k.Out = 0
		k.Forward()
		if !math.IsNaN(*k.Out) {
			t.Errorf("F = %v with a NaN in operand element %d", *k.Out, i)
		}
		*e = v
	}
}

// Gradients leave out a responsibility just below the least, and none just above.
func TestSmallResponsibilities(t *testing.T) {
	testSmallResponsibilities[float64](t, 960)
	testSmallResponsibilities[float32](t, 100)
}

func testSmallResponsibilities[T rev.Float](t *testing.T, least float64) {
	for _, d := range []int{flushDim - 1, flushDim} {
		for _, bits := range []float64{least - 5, least + 5} {
			k := LogPosterior[T]{
				Out: new(T), Alpha: rev.ViewSlice(make([]T, 2)), Means: rev.NewGeneral[T](2, d, nil),
				Factors: rev.NewGeneral[T](2, d*(d+1)/2, nil), X: rev.NewGeneral[T](1, d, nil),
			}
			far := math.Sqrt(2 * bits * math.Ln2) // where the responsibility is 2^-bits
			k.Means.Row(1)[0] = T(far)
			g := LogPosterior[T]{Out: new(T), Means: rev.NewGeneral[T](2, d, nil)}
			*g.Out = 1
			k.Adjoint(g)
			want := -far * math.Exp2(-bits)
			if d >= flushDim && bits > least {
				want = 0
			}
			if got := float64(g.Means.Row(1)[0]); math.Abs(got-want) > 1e-3*math.Abs(want) {
				t.Errorf("d=%d, responsibility 2^-%v: cotangent %v, want %v", d, bits, got, want)
			}
		}
	}
}
