package philox

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
)

// TestBlock compares with the known answers of Random123, the authors' library.
func TestBlock(t *testing.T) {
	const ones = math.MaxUint32
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{ones, ones, ones, ones}, [2]uint32{ones, ones}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := block(c.counter, c.key); got != c.want {
			t.Errorf("%x with key %x: %x, want %x", c.counter, c.key, got, c.want)
		}
	}
}

// TestSource looks at the order of words, and at the numbers that package rand makes.
func TestSource(t *testing.T) {
	s := Source{}
	for i, want := range []uint64{0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c} {
		if got := s.Uint64(); got != want {
			t.Errorf("number %d is %x, want %x", i, got, want)
		}
	}
	for _, first := range []uint64{0, 7, math.MaxUint64 - 2, 1 << 40} { // the third goes around
		x, y := make([]float64, 9), make([]float32, 9)
		Uniform(x, 1<<33+3, first)
		Uniform(y, 1<<33+3, first)
		a, b := Source{1<<33 + 3, first}, Source{1<<33 + 3, first}
		r, q := rand.New(&a), rand.New(&b)
		for i := range x {
			if got, want := x[i], r.Float64(); got != want {
				t.Errorf("number %d+%d is %v, rand makes %v", first, i, got, want)
			}
			if got, want := y[i], q.Float32(); got != want {
				t.Errorf("number %d+%d is %v, rand makes %v", first, i, got, want)
			}
		}
	}
}

// TestParts fills vectors in parts.
func TestParts(t *testing.T) {
	t.Run("float64", parts[float64])
	t.Run("float32", parts[float32])
	t.Run("Q43", parts[fixed.Q43])
}

func parts[T fixed.Number](t *testing.T) {
	for name, fill := range map[string]func([]T, uint64, uint64){"Uniform": Uniform[T], "Normal": Normal[T]} {
		want := make([]T, 20)
		fill(want, 5, 100)
		for at := range len(want) {
			for n := range len(want) - at {
				got := make([]T, n)
				if fill(got, 5, 100+uint64(at)); !slices.Equal(got, want[at:at+n]) {
					t.Errorf("%s: %d numbers from %d on: %v, want %v", name, n, at, got, want[at:at+n])
				}
			}
		}
	}
}

// TestDistributions compares moments with the true ones, within 5 standard deviations of each, and
// fractions below some limits.
func TestDistributions(t *testing.T) {
	const n = 1 << 18
	u, z, q, w := make([]float64, n), make([]float64, n), make([]fixed.Q43, n), make([]float32, n)
	Uniform(u, 1, 0)
	Normal(z, 1, 0)
	Normal(q, 1, 0)
	Normal(w, 1, 0)
	var mean, square, fourth, product, third float64
	for i, v := range u {
		if v < 0 || v >= 1 {
			t.Fatalf("%v is not in [0, 1)", v)
		}
		mean, square = mean+v, square+v*v
		if q[i] != fixed.FromFloat64(z[i]) || w[i] != float32(z[i]) {
			t.Fatalf("normal numbers %v, %v and %v are not roundings of one", z[i], q[i], w[i])
		}
	}
	Uniform(q, 1, 0)
	Uniform(w, 1, 0)
	source := Source{Seed: 1}
	for i := range n {
		if want := source.Uint64() % (1 << 43); uint64(q[i]) != want || w[i] < 0 || w[i] >= 1 {
			t.Fatalf("uniform numbers %d and %v, want %d", q[i], w[i], want)
		}
	}
	near := func(name string, sum, want, deviation float64) {
		if got := sum / n; math.Abs(got-want) > 5*deviation/math.Sqrt(n) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	near("the mean of uniform numbers", mean, 1./2, math.Sqrt(1./12))
	near("their mean square", square, 1./3, math.Sqrt(4./45))
	mean, square = 0, 0
	for i, v := range z {
		mean, square, third, fourth = mean+v, square+v*v, third+v*v*v, fourth+v*v*v*v
		if i > 0 {
			product += v * z[i-1]
		}
	}
	near("the mean of normal numbers", mean, 0, 1)
	near("their variance", square, 1, math.Sqrt(2))
	near("their third moment", third, 0, math.Sqrt(15))
	near("their fourth moment", fourth, 3, math.Sqrt(96))
	near("their correlation", product, 0, 1)
	for _, limit := range []float64{-3, -1, -0.1, 0, 0.5, 2} {
		below := 0.0
		for _, v := range z {
			if v < limit {
				below++
			}
		}
		p := math.Erfc(-limit/math.Sqrt2) / 2
		near(fmt.Sprint("the fraction below ", limit), below, p, math.Sqrt(p*(1-p)))
	}
}

func BenchmarkNormal(b *testing.B) {
	b.Run("float64", benchmarkNormal[float64])
	b.Run("float32", benchmarkNormal[float32])
	b.Run("Q43", benchmarkNormal[fixed.Q43])
}

func benchmarkNormal[T fixed.Number](b *testing.B) {
	x := make([]T, 1<<12)
	b.SetBytes(1 << 12) // so that MB/s are numbers
	for b.Loop() {
		Normal(x, 1, 0)
	}
}

func ExampleSource() {
	s := &Source{Seed: 7}
	fmt.Println(rand.New(s).IntN(100), s.Next)
	x := make([]float64, 3)
	Normal(x, 7, 1_000_000) // without the million before
	fmt.Printf("%.3f\n", x)
	// Output:
	// 75 1
	// [-0.855 -0.443 -1.486]
}
