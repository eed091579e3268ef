// Package stencil holds vector loops for the wave equation. They apply the Laplacian of
// fourth order, for a spacing of 1,
//
//	(Lu)_ij = 4/3·(sum of the 4 neighbours) - 1/12·(sum of the 4 next but one) - 5·u_ij
//
// to a row of a grid. Outside the grid u is odd, so that it is 0 one cell from the edge
// and the opposite of the edge two cells from it. That makes L symmetric.
//
// Over fixed.Q43, numbers are converted to float64, which has 53 bits, and a result is
// rounded to nearest once. All tiers round each product and each sum, in the same order,
// so they give the same bits. Over Q43 there is vector code for AVX-512 only.
package stencil

import (
	"math"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Reach is how far L reads in each direction.
const Reach = 2

// The weights of L.
const (
	near   = 4. / 3
	far    = -1. / 12
	center = -5
)

const (
	chunk = 4096 // most cells of a call of assembly, which takes 2 to 6 µs
	unit  = 1. / (1 << fixed.FracBits)
	short = "stencil: insufficient length"
)

// A Band is a row of a grid between the two rows above and the two rows below. The caller
// provides the rows outside the grid.
type Band[T any] [2*Reach + 1][]T

// check panics unless all rows have n columns.
func (b *Band[T]) check(n int) {
	for _, row := range b {
		if len(row) < n {
			panic(short)
		}
	}
}

// Within reports, for floats, whether all elements of row are between 0 and most.
func Within[T rev.Real](row []T, most T) bool {
	switch row := any(row).(type) {
	case []float64:
		return vec.Above(row, -math.SmallestNonzeroFloat64) == len(row) && vec.Smaller(row, math.Nextafter(float64(most), 1)) == len(row)
	case []float32:
		return vec.Above(row, -math.SmallestNonzeroFloat32) == len(row) && vec.Smaller(row, math.Nextafter32(float32(most), 1)) == len(row)
	}
	return false
}

// Leap computes dst = 2·u - dst + m∘Lu for a row. Doing it twice restores dst: to the
// bit over fixed.Q43, and up to rounding over floats.
func Leap[T rev.Real](dst, m []T, u *Band[T]) { add(dst, m, u, true) }

// AddMul computes dst += m∘Lu for a row.
func AddMul[T rev.Real](dst, m []T, u *Band[T]) { add(dst, m, u, false) }

// add computes dst += m∘Lu. If leap is set, dst is 2·u - dst before.
func add[T rev.Real](dst, m []T, u *Band[T], leap bool) {
	u.check(len(dst))
	m = m[:len(dst)]
	switch dst := any(dst).(type) {
	case []float64:
		addFloat(dst, any(m).([]float64), any(u).(*Band[float64]), leap)
	case []float32:
		addFloat(dst, any(m).([]float32), any(u).(*Band[float32]), leap)
	case []fixed.Q43:
		addFixed(dst, any(m).([]fixed.Q43), any(u).(*Band[fixed.Q43]), leap)
	}
}

func addFloat[T cpu.Float](dst, m []T, u *Band[T], leap bool) {
	c := u[Reach]
	columns(dst, tier != cpu.Generic, func(from, to int) {
		for j := from; j < to; j++ {
			if leap {
				dst[j] = c[j] + c[j] - dst[j]
			}
			dst[j] += T(m[j] * laplace[T](u, j, len(dst)))
		}
	}, func(j, n int) {
		if leap {
			vectorLeap(&dst[j], &m[j], &u[0][j], &u[1][j], &u[2][j], &u[3][j], &u[4][j], 0, 0, 0, 1, n)
		} else {
			vectorAddMul(&dst[j], &m[j], &u[0][j], &u[1][j], &u[2][j], &u[3][j], &u[4][j], 0, 0, 0, 1, n)
		}
	})
}

func addFixed(dst, m []fixed.Q43, u *Band[fixed.Q43], leap bool) {
	c := u[Reach]
	columns(dst, tier == cpu.AVX512, func(from, to int) {
		for j := from; j < to; j++ {
			if leap {
				dst[j] = 2*c[j] - dst[j]
			}
			dst[j] += round(float64(m[j]) * unit * laplace[float64](u, j, len(dst)))
		}
	}, func(j, n int) {
		if leap {
			vectorLeapFixed(bits(dst, j), bits(m, j), bits(u[0], j), bits(u[1], j), bits(c, j), bits(u[3], j), bits(u[4], j), 0, 0, 0, 1, n)
		} else {
			vectorAddMulFixed(bits(dst, j), bits(m, j), bits(u[0], j), bits(u[1], j), bits(c, j), bits(u[3], j), bits(u[4], j), 0, 0, 0, 1, n)
		}
	})
}

// LeapRows is Leap for rows from to to-1 of grids, where u has Reach rows on both sides of them.
func LeapRows[T rev.Real](dst, m, u *rev.General[T], from, to int) {
	n := dst.Cols
	if from < Reach || to > min(u.Rows-Reach, dst.Rows, m.Rows) || u.Cols != n || m.Cols != n ||
		!holds(dst, to) || !holds(m, to) || !holds(u, to+Reach) {
		panic(short)
	}
	for i := from; i < to; {
		if tier != cpu.AVX512 || n == 0 || n > chunk {
			Leap(dst.Row(i), m.Row(i), &Band[T]{u.Row(i - 2), u.Row(i - 1), u.Row(i), u.Row(i + 1), u.Row(i + 2)})
			i++
			continue
		}
		rows := min(to-i, chunk/n)
		switch dst := any(dst).(type) {
		case *rev.General[float64]:
			leapFloats(dst, any(m).(*rev.General[float64]), any(u).(*rev.General[float64]), i, rows)
		case *rev.General[float32]:
			leapFloats(dst, any(m).(*rev.General[float32]), any(u).(*rev.General[float32]), i, rows)
		case *rev.General[fixed.Q43]:
			d, m, u := dst, any(m).(*rev.General[fixed.Q43]), any(u).(*rev.General[fixed.Q43])
			r := func(by int) *int64 { return bits(u.Data, (i+by)*u.Stride) }
			vectorLeapFixed(bits(d.Data, i*d.Stride), bits(m.Data, i*m.Stride), r(-2), r(-1), r(0), r(1), r(2), d.Stride*8, m.Stride*8, u.Stride*8, rows, n)
		}
		i += rows
	}
}

// holds reports whether the rows of g up to the given number lie in its storage, one after the other.
func holds[T rev.Real](g *rev.General[T], rows int) bool {
	return g.Stride >= g.Cols && len(g.Data) >= (rows-1)*g.Stride+g.Cols
}

func leapFloats[T cpu.Float](dst, m, u *rev.General[T], i, rows int) {
	r := func(by int) *T { return &u.Data[(i+by)*u.Stride] }
	size := int(unsafe.Sizeof(T(0)))
	vectorLeap(&dst.Data[i*dst.Stride], &m.Data[i*m.Stride], r(-2), r(-1), r(0), r(1), r(2), dst.Stride*size, m.Stride*size, u.Stride*size, rows, dst.Cols)
}

// LeapBack computes dst = 2·v - dst + Lp for a row, where Mul and AddProduct have made p.
func LeapBack[T rev.Real, F cpu.Float](dst, v []T, p *Band[F]) {
	p.check(len(dst))
	v = v[:len(dst)]
	switch dst := any(dst).(type) {
	case []float64:
		backFloats(dst, any(v).([]float64), any(p).(*Band[float64]))
	case []float32:
		backFloats(dst, any(v).([]float32), any(p).(*Band[float32]))
	case []fixed.Q43:
		backFixed(dst, any(v).([]fixed.Q43), any(p).(*Band[float64]))
	}
}

func backFloats[T cpu.Float](dst, v []T, p *Band[T]) {
	columns(dst, tier != cpu.Generic, func(from, to int) {
		for j := from; j < to; j++ {
			dst[j] = v[j] + v[j] - dst[j] + laplace[T](p, j, len(dst))
		}
	}, func(j, n int) {
		vectorLeapBack(&dst[j], &v[j], &p[0][j], &p[1][j], &p[2][j], &p[3][j], &p[4][j], 0, 0, 0, 1, n)
	})
}

func backFixed(dst, v []fixed.Q43, p *Band[float64]) {
	columns(dst, tier == cpu.AVX512, func(from, to int) {
		for j := from; j < to; j++ {
			dst[j] = 2*v[j] - dst[j] + round(laplace[float64](p, j, len(dst)))
		}
	}, func(j, n int) {
		vectorLeapBackFixed(bits(dst, j), bits(v, j), &p[0][j], &p[1][j], &p[2][j], &p[3][j], &p[4][j], 0, 0, 0, 1, n)
	})
}

// Mul computes p = a∘b for a row. F is T for floats. Over fixed.Q43 it is float64, and p
// is in units of 2⁻⁴³.
func Mul[T rev.Real, F cpu.Float](p []F, a, b []T) {
	a, b = a[:len(p)], b[:len(p)]
	switch a := any(a).(type) {
	case []float64:
		vec.MulTo(any(p).([]float64), a, any(b).([]float64))
	case []float32:
		vec.MulTo(any(p).([]float32), a, any(b).([]float32))
	case []fixed.Q43:
		p, b := any(p).([]float64), any(b).([]fixed.Q43)
		if tier == cpu.AVX512 {
			for j := 0; j < len(p); j += chunk {
				vectorMulFixed(&p[j], bits(a, j), bits(b, j), min(chunk, len(p)-j))
			}
			return
		}
		for j, v := range a {
			p[j] = float64(v) * unit * float64(b[j])
		}
	}
}

// AddProduct computes p += a∘b for a row, as Mul does.
func AddProduct[T rev.Real, F cpu.Float](p []F, a, b []T) {
	scale := F(1)
	if T(1)/2 == 0 { // fixed point
		scale = unit
	}
	b = b[:len(p)]
	for j, v := range a[:len(p)] {
		p[j] += F(F(F(v)*scale) * F(b[j]))
	}
}

// columns computes all columns of dst. If vector is set, assembly computes them on AVX-512 (see pieces), and on
// other tiers the inner ones, some from column j on at a time. scalar computes the others. Vectors begin at the
// addresses of cache lines, where rows of a grid often begin too: those across two lines take twice as long.
func columns[T any](dst []T, vector bool, scalar func(from, to int), assembly func(j, n int)) {
	n := len(dst)
	if vector && tier == cpu.AVX512 && n > 0 {
		if n <= chunk {
			assembly(0, n)
		} else {
			pieces(dst, scalar, assembly)
		}
		return
	}
	lo, hi := Reach, n-Reach
	if !vector || hi <= lo {
		lo, hi = 0, 0
	}
	scalar(0, lo)
	for j := lo; j < hi; {
		columns := min(chunk, hi-j)
		if past := uintptr(unsafe.Pointer(&dst[j])) % lineBytes; past > 0 {
			columns = min(columns, int((lineBytes-past)/unsafe.Sizeof(dst[j])))
		}
		assembly(j, columns)
		j += columns
	}
	scalar(hi, n)
}

// pieces computes all columns of dst by assembly that takes n columns from column j on for a whole grid. Where
// a row is cut, it is therefore wrong up to Reach columns from the cut: scalar computes these, from what
// they were before.
func pieces[T any](dst []T, scalar func(from, to int), assembly func(j, n int)) {
	for from := 0; from < len(dst); from += chunk {
		to := min(from+chunk, len(dst))
		lo, hi := from, to
		if from > 0 {
			lo = min(from+Reach, to)
		}
		if to < len(dst) {
			hi = to - Reach
		}
		var left, right [Reach]T
		copy(left[:], dst[from:lo])
		copy(right[:], dst[hi:to])
		assembly(from, to-from)
		copy(dst[from:lo], left[:])
		copy(dst[hi:to], right[:])
		scalar(from, lo)
		scalar(hi, to)
	}
}

// lineBytes is the size of a cache line.
const lineBytes = 64

// laplace returns Lu in column j of n, in the units of u.
func laplace[F cpu.Float, T rev.Real](u *Band[T], j, n int) F {
	c := u[Reach]
	var left, left2, right, right2 F
	switch j {
	case 0:
		left2 = -F(c[0])
	case 1:
		left = F(c[0])
	default:
		left, left2 = F(c[j-1]), F(c[j-2])
	}
	switch j {
	case n - 1:
		right2 = -F(c[n-1])
	case n - 2:
		right = F(c[n-1])
	default:
		right, right2 = F(c[j+1]), F(c[j+2])
	}
	s := left + right + (F(u[1][j]) + F(u[3][j]))
	t := left2 + right2 + (F(u[0][j]) + F(u[4][j]))
	return F(near*s) + F(far*t) + F(center*F(c[j]))
}

// round returns x, in units of 2⁻⁴³, rounded to nearest even. Where x is out of range or
// NaN, it returns the least number, as AVX-512 does.
func round(x float64) fixed.Q43 {
	x = math.RoundToEven(x)
	if !(x >= math.MinInt64 && x < -math.MinInt64) {
		return math.MinInt64
	}
	return fixed.Q43(x)
}

// bits returns the address of x[j].
func bits(x []fixed.Q43, j int) *int64 { return (*int64)(unsafe.Pointer(&x[j])) }
