package blockchol

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/simd/cpu"
	"revnum/rev"
)

// pattern is a symmetric pattern of blocks.
type pattern struct {
	name    string
	sizes   []int
	coupled [][]int32
}

// patterns returns chains, grids, stars, random and dense patterns.
func patterns(rnd *rand.Rand) []pattern {
	sizes := func(n int) []int {
		s := make([]int, n)
		for i := range s {
			s[i] = []int{9, 6, 3, 1}[rnd.IntN(4)]
		}
		return s
	}
	make := func(name string, n int, coupled func(i, j int) bool) pattern {
		p := pattern{name: name, sizes: sizes(n), coupled: make([][]int32, n)}
		for i := range n {
			for j := range i {
				if coupled(i, j) {
					p.coupled[i] = append(p.coupled[i], int32(j))
				}
			}
		}
		return p
	}
	list := []pattern{
		make("empty", 0, nil),
		make("single", 1, nil),
		make("diagonal", 7, func(int, int) bool { return false }),
		make("chain", 30, func(i, j int) bool { return i == j+1 }),
		make("ring", 60, func(i, j int) bool { return i-j <= 3 || i-j >= 57 }),
		make("star", 20, func(_, j int) bool { return j == 0 }),
		make("grid", 100, func(i, j int) bool { return i == j+10 || i == j+1 && i%10 != 0 }),
		make("dense", 90, func(int, int) bool { return true }),
	}
	for _, share := range []float64{0.02, 0.1, 0.5} {
		list = append(list, make(fmt.Sprint("random ", share), 80, func(int, int) bool { return rnd.Float64() < share }))
	}
	return list
}

// matrix returns a random positive definite matrix of a pattern, and adds its blocks to
// c.
func (p pattern) matrix(rnd *rand.Rand, c *Cholesky) *mat.SymDense {
	n := len(p.sizes)
	at := make([]int, n+1)
	for i, s := range p.sizes {
		at[i+1] = at[i] + s
	}
	if at[n] == 0 {
		return nil
	}
	a := mat.NewSymDense(at[n], nil)
	c.Clear()
	for i := range n {
		for _, j := range append(slices.Clone(p.coupled[i]), int32(i)) {
			j := int(j)
			ld := p.sizes[j] + 2
			block := make([]float64, p.sizes[i]*ld)
			for r := range p.sizes[i] {
				for q := range p.sizes[j] {
					v := rnd.Float64() - 0.5
					if i == j {
						if q > r {
							block[r*ld+q] = math.NaN() // not to be used
							continue
						}
						if q == r {
							v = 10 + 0.3*float64(at[n])
						}
					}
					block[r*ld+q] = v
					a.SetSym(at[i]+r, at[j]+q, v)
				}
			}
			if i == j && rnd.IntN(2) == 0 {
				// In two parts.
				half := make([]float64, len(block))
				for k := range half {
					half[k] = block[k] / 2
				}
				c.Add(i, i, half, ld)
				c.Add(i, i, half, ld)
				continue
			}
			c.Add(i, j, block, ld)
		}
	}
	return a
}

func TestSolve(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for _, p := range patterns(rnd) {
		c := Analyze(p.sizes, p.coupled, math.MaxInt)
		for again := range 2 {
			a := p.matrix(rnd, c)
			if a == nil {
				c.Clear()
				if err := c.Factor(1); err != nil {
					t.Error(err)
				}
				c.Solve(nil)
				continue
			}
			n := a.SymmetricDim()
			want := make([]float64, n)
			for i := range want {
				want[i] = rnd.NormFloat64()
			}
			var b mat.VecDense
			b.MulVec(a, mat.NewVecDense(n, want))
			if err := c.Factor(2); err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			got := b.RawVector().Data
			c.Solve(got)
			for i, v := range got {
				if !(math.Abs(v-want[i]) < 1e-12) {
					t.Fatalf("%s, time %d: x[%d] = %v, want %v", p.name, again, i, v, want[i])
				}
			}
		}
	}
}

// The factor has no more elements than the fill of its order needs, but for
// relaxation and the upper triangles of panels.
func TestFill(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, p := range patterns(rnd) {
		for i := range p.sizes {
			p.sizes[i] = 1
		}
		c := Analyze(p.sizes, p.coupled, math.MaxInt)
		n := len(p.sizes)
		// Eliminate by the order of c.
		full := make([][]bool, n)
		for i := range full {
			full[i] = make([]bool, n)
			full[i][i] = true
		}
		for i, list := range p.coupled {
			for _, j := range list {
				a, b := c.position[i], c.position[j]
				full[max(a, b)][min(a, b)] = true
			}
		}
		fill := 0
		for k := range n {
			for i := k; i < n; i++ {
				if !full[i][k] {
					continue
				}
				fill++
				pnl := c.panels[c.panelOf[k]]
				if !slices.Contains(pnl.rows, int32(i)) {
					t.Fatalf("%s: L[%d,%d] has no place", p.name, i, k)
				}
				for j := k + 1; j <= i; j++ {
					full[i][j] = full[i][j] || full[j][k]
				}
			}
		}
		most := map[string]int{"chain": n + n - 1, "star": n + n - 1, "diagonal": n, "ring": 9 * n, "grid": 700}
		if limit, ok := most[p.name]; ok && fill > limit {
			t.Errorf("%s: L has %d elements, more than %d", p.name, fill, limit)
		}
		if got := Analyze(p.sizes, p.coupled, fill-1); got != nil {
			t.Errorf("%s: a factor of %d elements is within %d", p.name, fill, fill-1)
		}
	}
}

func TestWorkers(t *testing.T) {
	for _, p := range patterns(rand.New(rand.NewPCG(3, 1))) {
		c := Analyze(p.sizes, p.coupled, math.MaxInt)
		var first [][]float64
		for _, workers := range []int{1, 2, 7} {
			if p.matrix(rand.New(rand.NewPCG(4, 1)), c) == nil {
				continue
			}
			if err := c.Factor(workers); err != nil {
				t.Fatal(err)
			}
			var data [][]float64
			for _, p := range c.panels {
				data = append(data, slices.Clone(p.data))
			}
			if first == nil {
				first = data
			}
			for i := range data {
				for k, v := range data[i] {
					if math.Float64bits(v) != math.Float64bits(first[i][k]) {
						t.Fatalf("%s: %d workers have other bits", p.name, workers)
					}
				}
			}
		}
	}
}

func TestNotPositiveDefinite(t *testing.T) {
	sizes := []int{3, 3, 3}
	c := Analyze(sizes, [][]int32{1: {0}, 2: {1}}, math.MaxInt)
	for _, bad := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
		c.Clear()
		for i := range sizes {
			block := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
			if i == 1 {
				block[4] = bad
			}
			c.Add(i, i, block, 3)
		}
		var e *rev.NotPositiveDefiniteError
		if err := c.Factor(1); !errors.As(err, &e) {
			t.Errorf("pivot %v: error %v", bad, err)
		} else if want := fmt.Sprintf("block 1: matrix not positive definite: pivot 1 is %g", e.Value); err.Error() != want {
			t.Error(err)
		} else if e.Row != 1 || !(e.Value == bad || math.IsNaN(bad)) {
			t.Errorf("pivot %v: %v", bad, e)
		}
	}
}

func TestAddOutside(t *testing.T) {
	c := Analyze([]int{1, 1}, make([][]int32, 2), math.MaxInt)
	c.Clear()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	c.Add(1, 0, []float64{1}, 1)
}

func BenchmarkFactor(b *testing.B) {
	const n = 100
	for _, reach := range []int{5, 20, n} {
		b.Run(fmt.Sprint("reach ", reach), func(b *testing.B) {
			p := pattern{sizes: make([]int, n), coupled: make([][]int32, n)}
			for i := range n {
				p.sizes[i] = 9
				for j := range i {
					if i-j <= reach || i-j >= n-reach {
						p.coupled[i] = append(p.coupled[i], int32(j))
					}
				}
			}
			c := Analyze(p.sizes, p.coupled, math.MaxInt)
			var seconds float64
			for range b.N {
				b.StopTimer()
				p.matrix(rand.New(rand.NewPCG(5, 1)), c)
				b.StartTimer()
				if err := c.Factor(1); err != nil {
					b.Fatal(err)
				}
			}
			seconds = b.Elapsed().Seconds()
			rate := c.Flops() * float64(b.N) / seconds
			b.ReportMetric(rate/1e9, "GFLOP/s")
			b.StopTimer()
			best := math.Inf(1)
			var flops int64
			for range 20 {
				begin := time.Now()
				flops = cpu.PeakFMA[float64](1 << 16)
				best = min(best, time.Since(begin).Seconds())
			}
			b.ReportMetric(100*rate*best/float64(flops), "%peak")
		})
	}
}
