package problem

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"revnum/internal/memory"
	"revnum/internal/scan"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// GMM is a problem of ADBench's Gaussian mixture: K components, and N points in D
// dimensions. Matrices are stored by rows.
type GMM struct {
	D, K, N int
	Params  []float64 // log weights, means and factors, in the order of gmm.Model
	X       []float64 // N×D
	Gamma   float64   // of the Wishart prior
	M       int
}

// Parameters returns views of the log weights, the means and the factors. The other
// operands are absent.
func (g *GMM) Parameters() gmm.LogPosterior[float64] {
	return (&gmm.Model[float64]{X: rev.General[float64]{Cols: g.D}, K: g.K}).View(g.Params, nil)
}

// gmmCounts returns the number of parameters of a problem and the number of coordinates
// of its points. It returns false if either overflows an int.
func gmmCounts(d, k, n int) (params, points int, ok bool) {
	tri, ok1 := mul(d, d+1)
	per, ok2 := add(tri/2, d+1)
	params, ok3 := mul(k, per)
	points, ok4 := mul(n, d)
	return params, points, ok1 && ok2 && ok3 && ok4
}

// mul returns a·b for non-negative a and b, and whether the product fits an int.
func mul(a, b int) (int, bool) {
	hi, lo := bits.Mul(uint(a), uint(b))
	return int(lo), hi == 0 && lo <= math.MaxInt
}

// add returns a+b for non-negative a and b, and whether the sum fits an int.
func add(a, b int) (int, bool) {
	return a + b, a <= math.MaxInt-b
}

// LoadGMM reads the problem in the file at path. If replicate is set, the file has one
// point, and all N points are copies of it.
func LoadGMM(path string, replicate bool) (*GMM, error) {
	f, size, err := scan.Open(path, "a GMM problem")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadGMM(f, path, size, replicate)
}

// ReadGMM reads a problem from r. Errors give name and the line. A problem with more
// numbers than size bytes can hold is refused before memory is allocated. If size is
// negative, the size is unknown.
func ReadGMM(r io.Reader, name string, size int64, replicate bool) (*GMM, error) {
	p := rowReader{s: scan.New(r, name), size: size}
	g, err := p.readGMM(replicate)
	if err != nil {
		return nil, p.explain(err)
	}
	return g, nil
}

func (p *rowReader) readGMM(replicate bool) (*GMM, error) {
	s := p.s
	g := new(GMM)
	var err error
	if g.D, err = s.Int("the dimension d, a positive integer", 1, math.MaxInt); err != nil {
		return nil, err
	}
	if g.K, err = s.Int("the number of components k, a positive integer", 1, math.MaxInt); err != nil {
		return nil, err
	}
	if g.N, err = s.Int("the number of points n, a positive integer", 1, math.MaxInt); err != nil {
		return nil, err
	}
	if err := p.plausible(g, replicate); err != nil {
		return nil, err
	}

	for _, m := range []struct {
		what string
		cols int
	}{{"alpha", 1}, {"mean", g.D}, {"factor", g.D * (g.D + 1) / 2}} {
		part, err := p.rows(m.what, g.K, m.cols)
		if err != nil {
			return nil, err
		}
		g.Params = append(g.Params, part...)
	}
	if replicate {
		x, err := p.rows("the replicated point", 1, g.D)
		if err != nil {
			return nil, err
		}
		g.X = make([]float64, 0, g.N*g.D)
		for range g.N {
			g.X = append(g.X, x...)
		}
	} else if g.X, err = p.rows("point", g.N, g.D); err != nil {
		return nil, err
	}

	gamma := func() string { return "the prior's gamma, a positive number" }
	if g.Gamma, err = s.Float(gamma); err != nil {
		return nil, err
	}
	if g.Gamma <= 0 {
		return nil, s.Expected(gamma(), strconv.AppendFloat(nil, g.Gamma, 'g', -1, 64), nil)
	}
	if g.M, err = s.Int("the prior's m, an integer of at least 0", 0, math.MaxInt); err != nil {
		return nil, err
	}
	return g, s.End()
}

// plausible checks the sizes of g against the size of the file. The file does not bound
// the points of a replicated problem, so these are checked against the memory.
func (p *rowReader) plausible(g *GMM, replicate bool) error {
	params, points, ok := gmmCounts(g.D, g.K, g.N)
	if !ok {
		return p.s.Errorf("d = %d, k = %d, n = %d: the sizes overflow", g.D, g.K, g.N)
	}
	inFile := uint64(params) + uint64(points)
	if replicate {
		inFile = uint64(params) + uint64(g.D)
	}
	if !p.holds(inFile) {
		return p.s.Errorf("d = %d, k = %d, n = %d: expected %d numbers, more than the file's %d bytes can hold",
			g.D, g.K, g.N, inFile, p.size)
	}
	if replicate {
		return memory.Check(float64(points), fmt.Sprintf("%s:1: %d replicated points in %d dimensions", p.s.Name(), g.N, g.D))
	}
	return nil
}

// Write writes g in ADBench's form. Numbers have six decimals, as in ADBench's own
// files. If replicate is set, only the first point is written.
func (g *GMM) Write(w io.Writer, replicate bool) error {
	b := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(b, "%d %d %d\n", g.D, g.K, g.N)
	p := g.Parameters()
	writeRows(b, p.Alpha.Data, 1)
	writeRows(b, p.Means.Data, g.D)
	writeRows(b, p.Factors.Data, g.D*(g.D+1)/2)
	if replicate {
		writeRows(b, g.X[:g.D], g.D)
	} else {
		writeRows(b, g.X, g.D)
	}
	fmt.Fprintf(b, "%.6f %d\n", g.Gamma, g.M)
	return b.Flush()
}

// writeRows writes data as rows of c numbers. It leaves errors to w's Flush.
func writeRows(w *bufio.Writer, data []float64, c int) {
	line := make([]byte, 0, 16*c)
	for i := 0; i < len(data); i += c {
		line = line[:0]
		for j, v := range data[i : i+c] {
			if j > 0 {
				line = append(line, ' ')
			}
			line = strconv.AppendFloat(line, v, 'f', 6, 64)
		}
		line = append(line, '\n')
		_, _ = w.Write(line)
	}
}

// ErrSize is returned for sizes that are impossible.
var ErrSize = errors.New("sizes must be positive, and their product an int")

// GenerateGMM draws a problem from the distribution of ADBench's synthetic data: log
// weights, factors and points are standard normal, means are uniform in [0, 1), gamma
// is 1 and m is 0. All are rounded to six decimals, as in a file, so that a problem in
// memory equals the one read back. With replicate set, all points are the same.
func GenerateGMM(d, k, n int, seed uint64, replicate bool) (*GMM, error) {
	if d < 1 || k < 1 || n < 1 {
		return nil, ErrSize
	}
	params, points, ok := gmmCounts(d, k, n)
	if !ok {
		return nil, ErrSize
	}
	if err := memory.Check(float64(params)+float64(points), fmt.Sprintf("d = %d, k = %d, n = %d:", d, k, n)); err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	normal := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = sixDecimals(rnd.NormFloat64())
		}
		return x
	}
	g := &GMM{D: d, K: k, N: n, Gamma: 1, Params: normal(k)}
	for range k * d {
		g.Params = append(g.Params, sixDecimals(rnd.Float64()))
	}
	g.Params = append(g.Params, normal(k*(d*(d+1)/2))...)
	if !replicate {
		g.X = normal(points)
		return g, nil
	}
	x := normal(d)
	g.X = make([]float64, 0, points)
	for range n {
		g.X = append(g.X, x...)
	}
	return g, nil
}

// sixDecimals returns the float64 that is read back from a file that holds v with six
// decimals. The quotient of two exact integers is rounded in the same way as a decimal
// that is read.
func sixDecimals(v float64) float64 {
	return math.Round(v*1e6) / 1e6
}

// GMMObjective is a GMM problem ready to be evaluated and differentiated in T.
type GMMObjective[T rev.Float] struct {
	Kernel    gmm.LogPosterior[T]
	Gradient  []T                 // in the order of gmm.Model
	Cotangent gmm.LogPosterior[T] // its Alpha, Means and Factors are views of Gradient

	out, one T
}

// NewGMMObjective returns the objective of p with the given sign of the prior. In float64
// it shares the storage of p.
func NewGMMObjective[T rev.Float](p *GMM, sign gmm.Sign, workers int) *GMMObjective[T] {
	m := gmm.Model[T]{
		X: rev.NewGeneral(p.N, p.D, convert[T](p.X)), K: p.K,
		Prior: gmm.Prior{Gamma: p.Gamma, M: p.M, Sign: sign}, Workers: workers,
	}
	o := &GMMObjective[T]{one: 1, Gradient: make([]T, m.Dim())}
	o.Kernel, o.Cotangent = m.Kernel(convert[T](p.Params), &o.out), m.View(o.Gradient, &o.one)
	return o
}

// Value evaluates the objective.
func (o *GMMObjective[T]) Value() T {
	o.out = 0
	o.Kernel.Forward()
	return o.out
}

// ValueGradient evaluates the objective and its gradient, in one pass.
func (o *GMMObjective[T]) ValueGradient() T {
	clear(o.Gradient)
	o.out = 0
	_ = rev.Gradient(o.Kernel, o.Cotangent) // the kernel returns no errors
	return o.out
}

// convert returns x converted to T. If x already has that type, convert returns x
// itself.
func convert[T rev.Float](x []float64) []T {
	if t, ok := any(x).([]T); ok {
		return t
	}
	t := make([]T, len(x))
	for i, v := range x {
		t[i] = T(v)
	}
	return t
}
