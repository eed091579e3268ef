package numbers

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"revnum/benchmarks/internal/numbers/byhand"
	"revnum/fixed"
	"revnum/internal/simd/fixedpoint"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revlog"
	"revnum/revsparse"
	"revnum/rules"
	"revnum/ulog"
)

// Bar compares the time of the library with the time of something else.
type Bar struct {
	Name    string  `json:"name"`
	Against string  `json:"against"`
	Time    float64 `json:"seconds"` // of one operation
	Other   float64 `json:"against_seconds"`
	Ratio   float64 `json:"ratio"` // Time / Other
	Limit   float64 `json:"limit"` // Ratio must stay below it
}

// Met reports whether the bar is met.
func (b Bar) Met() bool { return b.Ratio <= b.Limit }

// A contest is two functions and the number of operations in a call of each.
type contest struct {
	name, against string
	limit         float64
	n, nOther     int
	run, other    func()
}

// Bars measures all comparisons, each for about the given time. It passes each to done
// when it is finished.
func Bars(d time.Duration, done func(Bar)) {
	for _, measure := range All() {
		done(measure(d))
	}
}

// All returns for each comparison a function that measures it, for about the given time, by its name.
func All() iter.Seq2[string, func(d time.Duration) Bar] {
	return func(yield func(string, func(d time.Duration) Bar) bool) {
		for _, c := range contests() {
			if !yield(c.name+" beside "+c.against, c.measure) {
				return
			}
		}
	}
}

// measure takes about the time d.
func (c *contest) measure(d time.Duration) Bar {
	a, b := fastest(d, c.run, c.other)
	a, b = a/float64(c.n), b/float64(c.nOther)
	return Bar{Name: c.name, Against: c.against, Time: a, Other: b, Ratio: a / b, Limit: c.limit}
}

// NumBars is the number of comparisons.
func NumBars() int { return len(contests()) }

// fastest returns the seconds of one call of each function: the shortest of many short
// slices. The functions take turns, so that other load on the machine slows both.
func fastest(d time.Duration, f, g func()) (a, b float64) {
	least := min(2e-4, d.Seconds()/5) // of a slice
	slice := func(f func(), repeats int) float64 {
		start := time.Now()
		for range repeats {
			f()
		}
		return time.Since(start).Seconds() / float64(repeats)
	}
	repeats := func(f func()) int {
		n := 1
		for n < 1<<20 && slice(f, n)*float64(n) < least {
			n *= 2
		}
		return n
	}
	nf, ng := repeats(f), repeats(g)
	a, b = math.Inf(1), math.Inf(1)
	for i, begin := 0, time.Now(); i == 0 || i < 3 && time.Since(begin) < 100*d || time.Since(begin) < d; i++ {
		a, b = min(a, slice(f, nf)), min(b, slice(g, ng))
	}
	return a, b
}

func contests() []contest {
	const n = 1000
	rnd := rand.New(rand.NewPCG(7, 1))
	x, y, positive := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = rnd.NormFloat64(), rnd.NormFloat64()
		positive[i] = math.Abs(x[i])
	}
	qx, qy, qp := fixedOf(x), fixedOf(y), fixedOf(positive)
	ux, uy := ulog.OfLogs(x), ulog.OfLogs(y)

	// Results are stored here, so that the compiler does not remove the computation.
	var qr fixed.Q43
	var fr float64
	dot := func() {
		revlinalg.Dot[fixed.Q43]{Out: &qr, X: rev.ViewSlice(qx), Y: rev.ViewSlice(qy)}.Forward()
	}
	all := []contest{
		{"Dot over Q43, n=1000", "by hand, products rounded", 2, n, n, dot, func() { qr += byhand.DotRounded(qx, qy) }},
		{"Dot over Q43, n=1000", "by hand, 128 bits", 2, n, n, dot, func() { qr += byhand.DotExact(qx, qy) }},
		{"Dot over Q43, n=1000", "scalar float64", 3, n, n, dot, func() { fr += byhand.DotFloat64(x, y) }},
	}

	const m = 128
	square := func() []float64 {
		a := make([]float64, m*m)
		for i := range a {
			a[i] = rnd.NormFloat64() / 1000
		}
		return a
	}
	a, b, c := square(), square(), square()
	qa, qb, qc := fixedOf(a), fixedOf(b), fixedOf(c)
	mul := func() {
		revlinalg.MatMul[fixed.Q43]{
			C: rev.NewGeneral(m, m, qc), A: rev.NewGeneral(m, m, qa), B: rev.NewGeneral(m, m, qb), Workers: 1,
		}.Forward()
	}
	all = append(all,
		contest{"MatMul over Q43, n=128", "by hand, products rounded", 2, m * m * m, m * m * m, mul, func() { byhand.MulRounded(qc, qa, qb, m) }},
		contest{"MatMul over Q43, n=128", "scalar float64", 3, m * m * m, m * m * m, mul, func() { byhand.MulFloat64(c, a, b, m) }},
		contest{"ulog.Float64.Add", "math.Log1p(math.Exp(x))", 1.5, n, n,
			func() {
				var s float64
				for i, v := range ux {
					s += v.Add(uy[i]).Log
				}
				fr += s
			},
			func() {
				var s float64
				for i, v := range x {
					s += max(v, y[i]) + math.Log1p(math.Exp(-math.Abs(v-y[i])))
				}
				fr += s
			}},
	)
	for _, f := range []struct {
		name string
		x    []float64
		q    []fixed.Q43
		on43 func(fixed.Q43) fixed.Q43
		on64 func(float64) float64
	}{
		{"Exp", x, qx, fixed.Exp, math.Exp}, {"Log", positive, qp, fixed.Log, math.Log},
	} {
		all = append(all, contest{"fixed." + f.name, "math." + f.name, 3, n, n,
			func() {
				var s fixed.Q43
				for _, v := range f.q {
					s += f.on43(v)
				}
				qr += s
			},
			func() {
				var s float64
				for _, v := range f.x {
					s += f.on64(v)
				}
				fr += s
			}})
	}

	all = append(all, besideFloat64(rnd)...)
	all = append(all, longContests()...)
	all = append(all, logContests(rnd)...)
	all = append(all, checkedContests(rnd)...)

	const k = 512
	la, lb, lc := make([]float64, k*k), make([]float64, k*k), make([]float64, k*k)
	for i := range la {
		la[i], lb[i] = rnd.NormFloat64(), rnd.NormFloat64()
	}
	return append(all, contest{"LogMul, n=512", "ulog.Float64.Add by element", 0.1, k * k * k, k * k,
		func() {
			for i := range lc {
				lc[i] = math.Inf(-1)
			}
			revlog.MatMul[float64]{
				C: rev.NewGeneral(k, k, lc), A: rev.NewGeneral(k, k, la), B: rev.NewGeneral(k, k, lb), Workers: 1,
			}.Forward()
		},
		func() { byhand.LogMulRow(ulog.OfLogs(lc)[:k], ulog.OfLogs(la)[:k], ulog.OfLogs(lb)) }})
}

// A pass is a pass of a kernel over some type.
type pass struct {
	name  string
	limit float64 // of the time over fixed point, by that over float64
	run   func()
}

// passes returns passes with operands that do not overflow.
func passes[T rev.Real](rnd *rand.Rand) []pass {
	matrix := func(m, n int) rev.General[T] {
		x := make([]T, m*n)
		for i := range x {
			x[i] = fixed.Of[T](rnd.NormFloat64() / 1000)
		}
		return rev.NewGeneral(m, n, x)
	}
	vector := func(n int) rev.Vector[T] { return rev.ViewSlice(matrix(1, n).Data) }
	var all []pass
	for _, n := range []int{64, 256} {
		x, y, c, a, b := vector(n), vector(n), matrix(n, n), matrix(n, n), matrix(n, n)
		theta, gx, gtheta := vector(n*(n-1)/2), matrix(n, n), vector(n*(n-1)/2)
		ga, gv, gy := matrix(n, n), vector(n), vector(n)
		rotations := revlinalg.Unitary[T]{X: c, Theta: theta, Workers: 1}
		affine := revlinalg.Affine[T]{Y: y, W: a, X: x}
		at := func(name string) string { return fmt.Sprintf("%s over Q43, n=%d", name, n) }
		all = append(all,
			pass{at("MatMul"), 10, func() { revlinalg.MatMul[T]{C: c, A: a, B: b, Workers: 1}.Forward() }},
			pass{at("Affine"), 10, func() { affine.Forward() }},
			pass{at("adjoint of Affine"), 10, func() { affine.Adjoint(revlinalg.Affine[T]{Y: gy, W: ga, X: gv}) }},
			pass{at("Unitary"), 8, func() { rotations.Forward() }},
			pass{at("adjoint of Unitary"), 8, func() { rotations.Adjoint(revlinalg.Unitary[T]{X: gx, Theta: gtheta}) }},
		)
	}
	const n = 1000
	x, y, z, alpha := vector(n), vector(n), vector(n), fixed.Of[T](0x1p-10)
	var out T
	all = append(append(all, sparsePasses[T](rnd)...), elementPasses[T](rnd)...)
	all = append(append(all, layerPasses[T](rnd)...), modelPasses[T](rnd)...)
	return append(all,
		pass{"Dot over Q43, n=1000", 6, func() { revlinalg.Dot[T]{Out: &out, X: x, Y: y}.Forward() }},
		pass{"Axpy over Q43, n=1000", 6, func() { revlinalg.Axpy[T]{Alpha: &alpha, X: x, Y: y}.Forward() }},
		pass{"MulElem over Q43, n=1000", 6, func() { revlinalg.MulElem[T]{Z: z, X: x, Y: y, Workers: 1}.Forward() }},
		pass{"Norm2 over Q43, n=1000", 6, func() { revlinalg.Norm2[T]{Out: &out, X: x}.Forward() }},
		pass{"SumSquares over Q43, n=1000", 6, func() { revlinalg.SumSquares[T]{Out: &out, X: x}.Forward() }},
	)
}

// elementPasses returns the functions of single elements, and their adjoints.
func elementPasses[T rev.Real](rnd *rand.Rand) (all []pass) {
	const n = 1000
	x, exponents := make([]T, n), make([]T, n)
	for i := range x {
		x[i], exponents[i] = fixed.Of[T](rnd.ExpFloat64()+1e-3), fixed.Of[T](1+2*rnd.Float64())
	}
	vector := func() rules.Buffer { return rules.Slice(slices.Clone(x)) }
	u, v, w, gu, gv, gw := vector(), vector(), vector(), vector(), vector(), vector()
	of := func(kernels []string, operands, cotangents []rules.Buffer) {
		for _, kernel := range kernels {
			forward, adjoint := byName[T](kernel, operands, cotangents, 1)
			_, name, _ := strings.Cut(kernel, ".")
			name += " over Q43, n=1000"
			all = append(all, pass{name, 6, forward}, pass{"adjoint of " + name, 6, adjoint})
		}
	}
	of([]string{"revlinalg.DivElem", "revlinalg.Atan2"}, []rules.Buffer{w, u, v}, []rules.Buffer{gw, gu, gv})
	of([]string{"revlinalg.Pow"}, []rules.Buffer{w, u, rules.Slice(exponents)}, []rules.Buffer{gw, gu, gv})
	of([]string{
		"revlinalg.Recip", "revlinalg.Square", "revlinalg.Abs", "revlinalg.Sqrt", "revlinalg.Exp", "revlinalg.Expm1", "revlinalg.Log",
		"revlinalg.Log1p", "revlinalg.Sin", "revlinalg.Cos", "revlinalg.Tan", "revlinalg.Erf",
		"revnn.Tanh", "revnn.Sigmoid", "revnn.Softplus", "revnn.SiLU", "revnn.GELU", "revnn.ReLU",
	}, []rules.Buffer{w, u}, []rules.Buffer{gw, gu})
	return all
}

// sparseOperands returns a matrix of order 1000 that has 8 entries in a row, and a function that returns factors of the
// given number of columns.
func sparseOperands[T rev.Real](rnd *rand.Rand, cols int) (revsparse.CSR[T, int32], func() rev.General[T]) {
	const n, perRow = 1000, 8
	var row, col []int32
	var val []T
	for i := range n * perRow {
		row, col, val = append(row, int32(i/perRow)), append(col, int32(rnd.IntN(n))), append(val, fixed.Of[T](rnd.NormFloat64()/1000))
	}
	m, err := revsparse.FromTriplets(n, n, row, col, val)
	if err != nil {
		panic(err)
	}
	return m, func() rev.General[T] { return randomMatrix[T](rnd, n, cols, 1) }
}

// sparsePasses returns products with such matrices.
func sparsePasses[T rev.Real](rnd *rand.Rand) (all []pass) {
	for _, cols := range []int{1, 8, 64} {
		m, dense := sparseOperands[T](rnd, cols)
		k, g := revsparse.Mul[T, int32]{C: dense(), A: m, B: dense(), Workers: 1}, revsparse.Mul[T, int32]{C: dense(), A: m.With(make([]T, len(m.Data))), B: dense(), Workers: 1}
		name := fmt.Sprintf("sparse Mul over Q43, %d columns", cols)
		all = append(all, pass{name, 8, func() { k.Forward() }}, pass{"adjoint of " + name, 8, func() { k.Adjoint(g) }})
	}
	return all
}

// besideFloat64 compares kernels over fixed point with the same over float64, and the product
// of matrices with the processor's multiply-adds of 52 bits too.
func besideFloat64(rnd *rand.Rand) (all []contest) {
	floats := passes[float64](rnd)
	for i, p := range passes[fixed.Q43](rnd) {
		all = append(all, contest{p.name, "float64", p.limit, 1, 1, p.run, floats[i].run})
	}
	const rounds = 1000
	if fixedpoint.PeakProducts(rounds, 1) == 0 {
		return all
	}
	for _, numbers := range []struct {
		name  string
		limbs int
		limit float64
	}{{"numbers below 256", 1, 2}, {"all numbers", 2, 1.33}} {
		for _, n := range []int{64, 256, 1024} {
			x := make([]fixed.Q43, n*n)
			for i := range x {
				x[i] = fixed.Q43(rnd.Uint64()) >> (24 - 12*numbers.limbs)
			}
			c := make([]fixed.Q43, n*n)
			m := revlinalg.MatMul[fixed.Q43]{C: rev.NewGeneral(n, n, c), A: rev.NewGeneral(n, n, x), B: rev.NewGeneral(n, n, x), Workers: 1}
			all = append(all, contest{
				fmt.Sprintf("MatMul over Q43, %s, n=%d", numbers.name, n), "its 52-bit multiply-adds alone", numbers.limit,
				n * n * n, fixedpoint.PeakProducts(rounds, numbers.limbs),
				func() { m.Forward() }, func() { fixedpoint.PeakProducts(rounds, numbers.limbs) },
			})
		}
	}
	return all
}

// longContests compares vectors that lie in no cache with vectors over float64, which have as many bytes. The vectors
// are made by the first run.
func longContests() []contest {
	floatDot, floatAxpy := longPasses[float64]()
	dot, axpy := longPasses[fixed.Q43]()
	return []contest{
		{"Dot over Q43, n=2²⁴", "float64", 1.3, 1, 1, dot, floatDot},
		{"Axpy over Q43, n=2²⁴", "float64", 1.3, 1, 1, axpy, floatAxpy},
	}
}

// longPasses returns Dot and Axpy of 2²⁴ elements, without overflow.
func longPasses[T rev.Real]() (dot, axpy func()) {
	var out T
	alpha := fixed.Of[T](0x1p-10)
	operands := sync.OnceValues(func() (x, y rev.Vector[T]) {
		x, y = rev.ViewSlice(make([]T, 1<<24)), rev.ViewSlice(make([]T, 1<<24))
		for i := range x.Data {
			x.Data[i], y.Data[i] = fixed.Of[T](float64(i%1000)*1e-6), fixed.Of[T](float64(i%999)*1e-6)
		}
		return x, y
	})
	return func() {
			x, y := operands()
			revlinalg.Dot[T]{Out: &out, X: x, Y: y}.Forward()
		}, func() {
			x, y := operands()
			revlinalg.Axpy[T]{Alpha: &alpha, X: x, Y: y}.Forward()
		}
}

func fixedOf(x []float64) []fixed.Q43 {
	q := make([]fixed.Q43, len(x))
	for i, v := range x {
		q[i] = fixed.FromFloat64(v)
	}
	return q
}
