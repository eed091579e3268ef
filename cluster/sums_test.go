package cluster_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
)

// exact returns the correctly rounded sum. It uses math/big.
func exact(x []float64) float64 {
	sum := new(big.Float).SetPrec(2400)
	for _, v := range x {
		sum.Add(sum, new(big.Float).SetPrec(2400).SetFloat64(v))
	}
	v, _ := sum.Float64()
	return v
}

func sumOf(x []float64) float64 {
	s := cluster.NewSums(1)
	for _, v := range x {
		s.Add([]float64{v})
	}
	var got [1]float64
	s.RoundTo(got[:])
	return got[0]
}

func sameBits(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
}

func TestSumsRoundTrip(t *testing.T) {
	list := []float64{0, 1, -1, math.Pi, math.MaxFloat64, -math.MaxFloat64, 0x1p-1022, 0x1p-1074, -0x1p-1074, 0x1.fffffffffffffp-1023}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		if v := math.Float64frombits(rnd.Uint64()); !math.IsNaN(v) && !math.IsInf(v, 0) {
			list = append(list, v)
		}
	}
	for e := -1074; e < 1024; e++ {
		list = append(list, math.Ldexp(1, e), -math.Ldexp(1, e), math.Nextafter(math.Ldexp(1, e), 0))
	}
	s, got := cluster.NewSums(len(list)), make([]float64, len(list))
	s.Add(list)
	s.RoundTo(got)
	for i, v := range list {
		if got[i] != v {
			t.Fatalf("%v becomes %v", v, got[i])
		}
	}
	if v := sumOf([]float64{math.Copysign(0, -1)}); math.Signbit(v) {
		t.Error("the sum of -0 is -0, want +0")
	}
}

func TestSumsRounding(t *testing.T) {
	for _, x := range [][]float64{
		{1, 0x1p-53},               // half way, to even
		{1, 0x1p-53, 0x1p-1074},    // just above half way
		{1, 0x1p-53, -0x1p-1074},   // just below
		{1 + 0x1p-52, 0x1p-53},     // half way, up to even
		{-1, -0x1p-53, -0x1p-1074}, // the same below 0
		{1, -0x1p-54},              // half way below a power of 2
		{0x1p1023, 0x1p1023},       // beyond the largest number
		{math.MaxFloat64, 0x1p969}, // below half way to what would be the next
		{math.MaxFloat64, 0x1p970}, // half way
		{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64},
		{0x1p-1022, -0x1p-1074}, // subnormal
		{0x1.fffffffffffffp-1022, 0x1p-1074},
		{1e300, 1, -1e300, 1e-300},
		{0x1p-1030, 0x1p-1074, 0x1p-1021},
		{1, -1},
		{0x1p32, -1}, {0x1p64, -1, -0x1p63},
	} {
		if got, want := sumOf(x), exact(x); !sameBits(got, want) {
			t.Errorf("Σ%v = %v, want %v", x, got, want)
		}
	}
}

func TestSumsSpecial(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{1, math.NaN(), 2}, math.NaN()}, {[]float64{inf, 1}, inf}, {[]float64{1, -inf, -inf}, -inf},
		{[]float64{inf, -inf}, math.NaN()}, {[]float64{math.NaN(), inf}, math.NaN()},
	} {
		if got := sumOf(c.x); !sameBits(got, c.want) {
			t.Errorf("Σ%v = %v, want %v", c.x, got, c.want)
		}
	}
}

// TestSumsOrder adds numbers of all sizes in two orders, and compares with math/big.
// One of the orders goes through Merge and the binary form.
func TestSumsOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const n, terms = 5, 3000
	rows := make([][]float64, terms)
	for i := range rows {
		rows[i] = make([]float64, n)
		for j := range rows[i] {
			rows[i][j] = math.Ldexp(rnd.NormFloat64(), rnd.IntN(6<<(2*j))-3<<(2*j))
		}
	}
	one, parts := cluster.NewSums(n), []*cluster.Sums{cluster.NewSums(n), cluster.NewSums(n), cluster.NewSums(n)}
	for i, row := range rows {
		one.Add(row)
		parts[i%3].Add(rows[terms-1-i])
	}
	all := cluster.NewSums(n)
	for _, p := range parts {
		b, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		read := new(cluster.Sums)
		if err := read.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		all.Merge(read)
	}
	got, other := make([]float64, n), make([]float64, n)
	one.RoundTo(got)
	all.RoundTo(other)
	column := make([]float64, terms)
	for j := range n {
		for i := range rows {
			column[i] = rows[i][j]
		}
		if want := exact(column); got[j] != want || other[j] != want {
			t.Errorf("sum %d is %v and %v, want %v", j, got[j], other[j], want)
		}
	}
	one.Reset()
	one.RoundTo(got)
	if !slices.Equal(got, make([]float64, n)) {
		t.Errorf("after Reset: %v", got)
	}
}

// TestSumsReduce adds over ranks in several rounds: with numbers of different sizes,
// with NaN on one rank, and with a rank that fails.
func TestSumsReduce(t *testing.T) {
	const n = 7
	for _, ranks := range []int{1, 2, 5} {
		err := cluster.Run(ranks, func(r cluster.Reducer) error {
			s, got := cluster.NewSums(n), make([]float64, n)
			for round, scale := range []float64{1, 3, 1e-200, 0, 1e250, 1e5, math.NaN()} {
				term := func(rank, i int) float64 {
					if math.IsNaN(scale) && rank != ranks-1 {
						return 1
					}
					return scale * math.Sin(float64(100*round+10*rank+i))
				}
				s.Reset()
				x := make([]float64, n)
				for i := range x {
					x[i] = term(r.Rank(), i)
				}
				s.Add(x)
				if err := s.Reduce(r, nil); err != nil {
					return err
				}
				s.RoundTo(got)
				for i, v := range got {
					var column []float64
					for rank := range ranks {
						column = append(column, term(rank, i))
					}
					want := math.NaN()
					if !math.IsNaN(scale) {
						want = exact(column)
					}
					if !sameBits(v, want) {
						t.Errorf("%d ranks, round %d: sum %d is %v, want %v", ranks, round, i, v, want)
					}
				}
			}
			var failed error
			if r.Rank() == ranks-1 {
				failed = errors.New("no such file")
			}
			if err := s.Reduce(r, failed); err == nil {
				t.Errorf("rank %d got no error", r.Rank())
			} else if want := "rank 4: no such file"; ranks == 5 && r.Rank() == 1 && err.Error() != want {
				t.Errorf("rank 1 got %q, want %q", err, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestSumsShapes(t *testing.T) {
	for _, f := range []func(){
		func() { cluster.NewSums(2).Add(make([]float64, 3)) },
		func() { cluster.NewSums(2).RoundTo(make([]float64, 1)) },
		func() { cluster.NewSums(2).Merge(cluster.NewSums(3)) },
	} {
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
					t.Errorf("panics with %v, want mat.ErrShape", err)
				}
			}()
			f()
		}()
	}
}

// FuzzSums adds any numbers in two halves, and compares with math/big.
func FuzzSums(f *testing.F) {
	add := func(x ...float64) {
		var b []byte
		for _, v := range x {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		f.Add(b)
	}
	add(1, 0x1p-53, 0x1p-1074)
	add(math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64)
	add(0x1p32, -1, 0x1p-1074)
	f.Fuzz(func(t *testing.T, b []byte) {
		var x []float64
		for ; len(b) >= 8; b = b[8:] {
			if v := math.Float64frombits(binary.LittleEndian.Uint64(b)); !math.IsNaN(v) && !math.IsInf(v, 0) {
				x = append(x, v)
			}
		}
		one, other := cluster.NewSums(1), cluster.NewSums(1)
		for i, v := range x {
			if i%2 == 0 {
				one.Add([]float64{v})
			} else {
				other.Add([]float64{v})
			}
		}
		one.Merge(other)
		var got [1]float64
		one.RoundTo(got[:])
		if want := exact(x); !sameBits(got[0], want) {
			t.Errorf("Σ%x = %x, want %x", x, got[0], want)
		}
	})
}

// FuzzSumsUnmarshal checks that bytes that are read without an error are written back
// unchanged.
func FuzzSumsUnmarshal(f *testing.F) {
	s := cluster.NewSums(2)
	s.Add([]float64{1.5, math.Inf(-1)})
	b, _ := s.MarshalBinary()
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(cluster.Sums)
		if s.UnmarshalBinary(b) != nil {
			return
		}
		if s.Len() < 1000 {
			s.RoundTo(make([]float64, s.Len()))
		}
		again, err := s.MarshalBinary()
		if err != nil || !slices.Equal(again, b) {
			t.Errorf("%x becomes %x (%v)", b, again, err)
		}
	})
}

func BenchmarkSumsAdd(b *testing.B) {
	const n = 2231
	x, s := make([]float64, n), cluster.NewSums(n)
	for i := range x {
		x[i] = math.Sin(float64(i)) * 1000
	}
	for b.Loop() {
		s.Add(x)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/number")
}
