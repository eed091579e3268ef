package corner

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

func matrix[T rev.Real](rnd *rand.Rand, r, c int, scale float64) rev.General[T] {
	return rev.NewGeneral(r, c, vec[T](rnd, r*c, scale).Data)
}

var few = []int{0, 1, 2, 5}

func structsSpec[T rev.Real]() revtest.Spec[Structs[T]] {
	return revtest.Spec[Structs[T]]{New: func(rnd *rand.Rand, n int) Structs[T] {
		return Structs[T]{Out: scalar[T](0), Q: vec[T](rnd, n, 1), A: vec[T](rnd, n, 0.5)}
	}, Sizes: few, Adjoint: 1e5}
}

func arraysSpec[T rev.Real]() revtest.Spec[Arrays[T]] {
	return revtest.Spec[Arrays[T]]{New: func(rnd *rand.Rand, n int) Arrays[T] {
		return Arrays[T]{Y: matrix[T](rnd, n, 3, 1), X: matrix[T](rnd, n, 3, 1), S: scalar[T](0.75)}
	}, Sizes: few, Adjoint: 1e4}
}

func partsSpec[T rev.Real]() revtest.Spec[Parts[T]] {
	return revtest.Spec[Parts[T]]{New: func(rnd *rand.Rand, n int) Parts[T] {
		return Parts[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, 3*n, 1), M: matrix[T](rnd, n, 6, 1), N: 3}
	}, Sizes: few, Adjoint: 1e4}
}

func earlySpec[T rev.Real](mode int) revtest.Spec[Early[T]] {
	return revtest.Spec[Early[T]]{New: func(rnd *rand.Rand, n int) Early[T] {
		k := Early[T]{Y: vec[T](rnd, n, 1), X: vec[T](rnd, n, 1), Mode: mode}
		for i := range n {
			k.X.Data[i] = fixed.Of[T]([]float64{-1.5, 0.4, 1.5, 2.5, 0.2, -0.2}[i%6] + 0.02*rnd.NormFloat64())
			k.Kind = append(k.Kind, i%4)
		}
		return k
	}, Adjoint: 1e4, Masked: []string{"X"}, Step: 0x1p-10, Difference: 1e-3}
}

func logsSpec[T rev.Real]() revtest.Spec[Logs[T]] {
	problem := func(rnd *rand.Rand, n int, scale float64) Logs[T] {
		k := Logs[T]{Y: vec[T](rnd, n+1, 1), X: vec[T](rnd, n+1, 0.1), Limit: 30}
		for i := range k.X.Data {
			k.X.Data[i] += fixed.Of[T](scale)
		}
		return k
	}
	return revtest.Spec[Logs[T]]{
		New:     func(rnd *rand.Rand, n int) Logs[T] { return problem(rnd, n, 1) },
		Failing: func(rnd *rand.Rand, n int) Logs[T] { return problem(rnd, n, -1) },
	}
}

func TestStructs(t *testing.T) {
	all(t, structsSpec[float64](), structsSpec[float32](), structsSpec[fixed.Q43]())
}
func TestArrays(t *testing.T) {
	all(t, arraysSpec[float64](), arraysSpec[float32](), arraysSpec[fixed.Q43]())
}
func TestParts(t *testing.T) {
	all(t, partsSpec[float64](), partsSpec[float32](), partsSpec[fixed.Q43]())
}
func TestEarly(t *testing.T) {
	for _, mode := range []int{1, 2} {
		t.Run("float64", func(t *testing.T) { revtest.Kernel(t, earlySpec[float64](mode)) })
		t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, earlySpec[fixed.Q43](mode)) })
	}
}
func TestLogs(t *testing.T) { all(t, logsSpec[float64](), logsSpec[float32](), logsSpec[fixed.Q43]()) }

func TestErrors(t *testing.T) {
	k := Logs[float64]{Y: rev.ViewSlice([]float64{1, 2}), X: rev.ViewSlice([]float64{1, -1}), Limit: 2}
	if err := k.Forward(); !errors.Is(err, ErrDomain) {
		t.Errorf("a negative number: %v", err)
	}
	k.Limit = 1
	if err := k.Adjoint(Logs[float64]{}); !errors.Is(err, errLimit) {
		t.Errorf("too many numbers: %v", err)
	}
	if !slices.Equal(k.Y.Data, []float64{1, 2}) {
		t.Errorf("Y is %v after errors", k.Y.Data)
	}
}

func rowsOf(m rev.General[float64]) (rows [][]float64) {
	for i := range m.Rows {
		rows = append(rows, m.Row(i))
	}
	return rows
}

// same tests that forward and source leave the same in results.
func same(t *testing.T, name string, forward, source func(), results ...[]float64) {
	t.Helper()
	var start, got [][]float64
	for _, r := range results {
		start = append(start, slices.Clone(r))
	}
	forward()
	for i, r := range results {
		got = append(got, slices.Clone(r))
		copy(r, start[i])
	}
	source()
	for i, r := range results {
		if !slices.EqualFunc(got[i], r, func(x, y float64) bool { return math.Abs(x-y) <= 1e-13*math.Max(1, math.Abs(y)) }) {
			t.Errorf("%s: got %v, want %v", name, got[i], r)
		}
	}
}

// The functions that the kernels were written from compute the same.
func TestSources(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	{
		k := structsSpec[float64]().New(rnd, 7)
		out := []float64{1}
		k.Out = &out[0]
		same(t, "structs", k.Forward, func() { structs(&out[0], k.Q.Data, k.A.Data) }, out)
	}
	{
		k := arraysSpec[float64]().New(rnd, 7)
		same(t, "arrays", k.Forward, func() { arrays(rowsOf(k.Y), rowsOf(k.X), *k.S) }, k.Y.Data)
	}
	{
		k := partsSpec[float64]().New(rnd, 7)
		same(t, "parts", k.Forward, func() { parts(k.Y.Data, k.X.Data, rowsOf(k.M), k.N) }, k.Y.Data)
	}
	for _, mode := range []int{0, 1, 2} {
		k := earlySpec[float64](mode).New(rnd, 12)
		same(t, "early", k.Forward, func() { early(k.Y.Data, k.X.Data, k.Kind, k.Mode) }, k.Y.Data)
	}
	{
		k := logsSpec[float64]().New(rnd, 7)
		same(t, "logs", func() { _ = k.Forward() }, func() { _ = logs(k.Y.Data, k.X.Data, k.Limit) }, k.Y.Data)
	}
	{
		k := permuteSpec[float64]().New(rnd, 7)
		a, b := []float64{*k.A}, []float64{*k.B}
		k.A, k.B = &a[0], &b[0]
		same(t, "permute", k.Forward, func() { permute(k.X.Data, &a[0], &b[0], k.W.Data) }, k.X.Data, a, b)
	}
	{
		k := recurrentSpec[float64]().New(rnd, 7)
		same(t, "recurrent", k.Forward, func() { recurrent(k.Y.Data, k.X.Data, k.W.Data, *k.U) }, k.Y.Data)
	}
	{
		k := branchesSpec[float64]().New(rnd, 7)
		same(t, "branches", k.Forward, func() { branches(k.Y.Data, k.X.Data) }, k.Y.Data)
	}
	{
		k := powerSpec[float64]().New(rnd, 7)
		out := []float64{1}
		k.Out = &out[0]
		same(t, "power", k.Forward, func() { power(&out[0], k.X.Data, k.N) }, out)
	}
	{
		k := pendulumSpec[float64]().New(rnd, 7)
		q, p := []float64{*k.Q}, []float64{*k.P}
		k.Q, k.P = &q[0], &p[0]
		same(t, "pendulum", k.Forward, func() { pendulum(&q[0], &p[0], *k.K, *k.H, k.Drive.Data) }, q, p)
	}
	{
		k := tableSpec[float64]().New(rnd, 7)
		same(t, "table", k.Forward, func() { table(rowsOf(k.Y), rowsOf(k.X), k.From, k.To, k.Scale.Data) }, k.Y.Data)
	}
}

// TestGuarded has parents of -1, and one in a tree.
func TestGuarded(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, guardedSpec[float64]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, guardedSpec[fixed.Q43]()) })
}

func guardedSpec[T rev.Real]() revtest.Spec[Guarded[T]] {
	return revtest.Spec[Guarded[T]]{New: func(rnd *rand.Rand, n int) Guarded[T] {
		k := Guarded[T]{Y: matrix[T](rnd, n, 3, 1), M: matrix[T](rnd, n, 3, 1)}
		for i := range n {
			k.Parents = append(k.Parents, i/2-1)
		}
		return k
	}, Sizes: few, Masked: []string{"M"}}
}

// TestRanges has ranges that are empty, with rows that are not there.
func TestRanges(t *testing.T) {
	t.Run("float64", func(t *testing.T) { revtest.Kernel(t, rangesSpec[float64]()) })
	t.Run("Q43", func(t *testing.T) { revtest.Kernel(t, rangesSpec[fixed.Q43]()) })
}

func rangesSpec[T rev.Real]() revtest.Spec[Ranges[T]] {
	return revtest.Spec[Ranges[T]]{New: func(rnd *rand.Rand, n int) Ranges[T] {
		k := Ranges[T]{Y: vec[T](rnd, n, 1), M: matrix[T](rnd, n, 4, 1)}
		for i := range n {
			r, from, to := -1, 0, 0
			if i%3 > 0 {
				r, from, to = rnd.IntN(n), 1, 1+i%3
			}
			k.Row, k.From, k.To = append(k.Row, r), append(k.From, from), append(k.To, to)
		}
		return k
	}, Sizes: few, Masked: []string{"M"}, Adjoint: 1e4}
}

func factorSpec[T rev.Real]() revtest.Spec[Factor[T]] {
	return revtest.Spec[Factor[T]]{New: func(rnd *rand.Rand, n int) Factor[T] {
		k := Factor[T]{L: matrix[T](rnd, n, n, 0.1), A: matrix[T](rnd, n, n, 0.1)}
		for i := range n {
			k.A.Data[i*k.A.Stride+i] += fixed.Of[T](4)
		}
		return k
	}, Sizes: few, Magnitudes: [2]float64{1, 1}, Masked: []string{"L", "A"}}
}

// TestFactor checks all passes, and the product of a factor with its transpose.
func TestFactor(t *testing.T) {
	all(t, factorSpec[float64](), factorSpec[float32](), factorSpec[fixed.Q43]())
	const n = 4
	k := factorSpec[float64]().New(rand.New(rand.NewPCG(1, 2)), n)
	clear(k.L.Data)
	k.Forward()
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for m := range n {
				sum += k.L.Data[i*n+m] * k.L.Data[j*n+m]
			}
			if a := k.A.Data[i*n+j]; math.Abs(sum-a) > 1e-14 {
				t.Errorf("(L·Lᵀ)[%d][%d] is %v, want %v", i, j, sum, a)
			}
		}
	}
}
