package fixed

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

const benchLen = 1000

// normals returns the same normal deviates in T for every T.
func normals[T Number](n int) []T {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]T, n)
	for i := range x {
		x[i] = Of[T](r.NormFloat64())
	}
	return x
}

// The sum of products of a kernel, with the generic product and written by hand for each
// type.

func productDot[T Number](x, y []T) T {
	var s T
	y = y[:len(x)]
	for i, v := range x {
		s += Product(v, y[i])
	}
	return s
}

func handDotFloat64(x, y []float64) float64 {
	var s float64
	y = y[:len(x)]
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

func handDotFloat32(x, y []float32) float32 {
	var s float32
	y = y[:len(x)]
	for i, v := range x {
		s += float32(v * y[i])
	}
	return s
}

func handDotQ43(x, y []Q43) Q43 {
	var s Q43
	y = y[:len(x)]
	for i, v := range x {
		s += v.Mul(y[i])
	}
	return s
}

func benchDot[T Number](b *testing.B, dot func(x, y []T) T) {
	x, y := normals[T](benchLen), normals[T](benchLen)
	var s T
	for b.Loop() {
		s += dot(x, y)
	}
	sink = Float(s)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchLen, "ns/product")
}

var sink float64

func BenchmarkDot(b *testing.B) {
	b.Run("float64/generic", func(b *testing.B) { benchDot(b, productDot[float64]) })
	b.Run("float64/hand", func(b *testing.B) { benchDot(b, handDotFloat64) })
	b.Run("float32/generic", func(b *testing.B) { benchDot(b, productDot[float32]) })
	b.Run("float32/hand", func(b *testing.B) { benchDot(b, handDotFloat32) })
	b.Run("Q43/generic", func(b *testing.B) { benchDot(b, productDot[Q43]) })
	b.Run("Q43/hand", func(b *testing.B) { benchDot(b, handDotQ43) })
	b.Run("Q43/accumulator", func(b *testing.B) { benchDot(b, Dot) })
}

func BenchmarkArithmetic(b *testing.B) {
	x, y := normals[Q43](benchLen), normals[Q43](benchLen)
	for _, c := range []struct {
		name string
		f    func(x, y Q43) Q43
	}{
		{"Div", Q43.Div}, {"MulSat", Q43.MulSat}, {"DivSat", Q43.DivSat}, {"Hypot", Hypot}, {"Atan2", Atan2},
		{"Pow", func(x, y Q43) Q43 { return Pow(x.Abs(), y) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var s Q43
			for b.Loop() {
				for i, v := range x {
					s += c.f(v, y[i])
				}
			}
			sink = s.Float64()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchLen, "ns/op1")
		})
	}
}

// BenchmarkFunctions compares each function with that of package math.
func BenchmarkFunctions(b *testing.B) {
	x := normals[float64](benchLen)
	for i := range x {
		x[i] = math.Abs(x[i])
	}
	q := make([]Q43, benchLen)
	for i := range q {
		q[i] = FromFloat64(x[i])
	}
	for _, c := range []struct {
		name string
		q    func(Q43) Q43
		f    func(float64) float64
	}{
		{"Exp", Exp, math.Exp}, {"Exp2", Exp2, math.Exp2}, {"Log", Log, math.Log}, {"Log2", Log2, math.Log2},
		{"Sqrt", Sqrt, math.Sqrt}, {"Sin", Sin, math.Sin}, {"Cos", Cos, math.Cos},
	} {
		b.Run(c.name+"/Q43", func(b *testing.B) {
			var s Q43
			for b.Loop() {
				for _, v := range q {
					s += c.q(v)
				}
			}
			sink = s.Float64()
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchLen, "ns/value")
		})
		b.Run(c.name+"/math", func(b *testing.B) {
			var s float64
			for b.Loop() {
				for _, v := range x {
					s += c.f(v)
				}
			}
			sink = s
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchLen, "ns/value")
		})
	}
}

func BenchmarkBuffer(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, buf := normals[Q43](n), NewBuffer(n)
			for b.Loop() {
				for range 500 {
					buf.Mul(x, 9, 10)
				}
				for range 500 {
					buf.Div(x, 9, 10)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n)/1000, "ns/value")
		})
	}
}

func BenchmarkText(b *testing.B) {
	x := MustParse("-12345.678901234")
	b.Run("AppendText", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf, _ = x.AppendText(buf[:0])
		}
	})
	b.Run("Parse", func(b *testing.B) {
		s := x.String()
		for b.Loop() {
			if _, err := Parse(s); err != nil {
				b.Fatal(err)
			}
		}
	})
}
