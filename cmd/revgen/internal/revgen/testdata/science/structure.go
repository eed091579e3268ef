package science

import (
	"math"
	"slices"
)

// Functions whose Jacobians have many zeros, and some that only look as if they had.

type sighting struct {
	camera, point int
	u, v          float64
}

// bundle has the errors of points in images of cameras. A camera is a rotation in the plane, a place and a
// focal length, and there are eight of them.
//
//revgen:jacobian x sparse
func bundle(dst, x []float64, seen []sighting) {
	points := x[5*8:]
	for i, s := range seen {
		u, v := project(x[5*s.camera:], points[3*s.point:3*s.point+3])
		dst[2*i] = u - s.u
		dst[2*i+1] = v - s.v
	}
}

func project(c, p []float64) (u, v float64) {
	sin, cos := math.Sincos(c[0])
	x, y, z := p[0]-c[1], p[1]-c[2], p[2]-c[3]
	if z < 0.1 {
		z = 0.1
	}
	return c[4] * (cos*x + sin*y) / z, c[4] * (cos*y - sin*x) / z
}

// joints has local parameters beside a chain of shared ones, from which others are computed first.
//
//revgen:jacobian x sparse
func joints(dst, x []float64, weights [][]float64, n int) {
	places := make([]float64, len(weights[0]))
	angle, last := 0.0, 0.0
	for k := range places {
		angle += x[2*n+k]
		last += math.Sin(angle)
		places[k] = last
	}
	for i := 0; i < n; i++ {
		var y [2]float64
		for k, w := range weights[i] {
			y[0] += w * places[k]
			y[1] += w * places[k] * x[2*i]
		}
		for d := range 2 {
			dst[2*i+d] = y[d] - x[2*i+1]*y[1-d]
		}
	}
}

// grid has differences in two dimensions.
//
//revgen:jacobian x sparse
func grid(dst, x []float64, n int) {
	for i := range n {
		for j := range n {
			at := n*i + j
			d := 4 * x[at]
			if i > 0 {
				d -= x[at-n]
			}
			if i+1 < n {
				d -= x[at+n]
			}
			if j > 0 {
				d -= x[at-1]
			}
			if j+1 < n && x[at+1] > 0.2 {
				d -= x[at+1]
			}
			dst[at] = d + math.Exp(x[at])
		}
	}
}

// twice stores in two loops, the second of which changes what the first has stored.
//
//revgen:jacobian x
func twice(dst, x []float64) {
	n := len(dst)
	for i := range n {
		dst[i] = x[i] * x[i+1]
	}
	for i := range n {
		dst[i] *= x[n+1]
	}
	for i := 0; i+1 < n; i += 3 {
		dst[i] += dst[i+1]
	}
}

// cumulative has sums that go on.
//
//revgen:jacobian x
func cumulative(dst, x []float64) {
	s := 0.0
	for i := range dst {
		s += math.Sin(x[i])
		dst[i] = s * x[i]
	}
}

// folded stores rows several times, through parts that overlap.
//
//revgen:jacobian x sparse
func folded(dst, x []float64) {
	for i := 0; i+2 < len(x); i++ {
		to := dst[i/2:]
		for k := range 3 {
			to[k] += x[i] * x[i+k]
		}
	}
}

// carried has the last row in each row.
//
//revgen:jacobian x sparse
func carried(dst, x []float64) {
	dst[0] = x[0]
	for i := 1; i < len(dst); i++ {
		dst[i] = x[i]*x[i] + dst[i-1]/2
	}
}

// gated has conditions on x, and iterations that end early.
//
//revgen:jacobian x sparse
func gated(dst, x []float64) {
	for i := range dst {
		if x[i] < 0 && i+1 < len(x) {
			dst[i] = x[i+1]
			continue
		}
		if i > 2 {
			dst[i] = x[i-3] * x[i]
		}
		y := x[i]
		for n := 0; n < 9 && y*y > 0.5; n++ {
			y = y / 2
		}
		dst[i] += y
	}
}

type spots struct{ at []int }

func move(at []int, k int) { at[k] += 3 }

// renamed has indices that change through other names of their slices.
//
//revgen:jacobian x
func renamed(dst, x []float64, one int) {
	for i := range dst {
		a, table, p, c := make([]int, 3), [][]int{{0, 1}, {2, 3}}, spots{make([]int, 3)}, make([]int, 2)
		row, at, clipped := table[one], p.at, slices.Clip(c)
		first := x[i+a[2]] * x[i+row[0]] * x[i+at[2]] * x[i+at[0]] * x[i+c[1]]
		move(a[1:], 1)
		second := x[i+a[2]]
		table[1][0] = 6
		second += x[i+row[0]]
		p.at[2] = 9
		second += x[i+at[2]]
		begin := at[:1]
		begin[0] = 12
		second += x[i+at[0]]
		clipped[1] = 15
		dst[i] = first * (second + x[i+c[1]])
	}
}

// counted has an index that a loop which x ends changes by a part.
//
//revgen:jacobian x
func counted(dst, x []float64) {
	for i := range dst {
		a, y := make([]int, 3), 4*x[i%len(x)]
		for math.Abs(y) > 0.5 {
			move(a[1:], 0)
			y /= 2
		}
		dst[i] = x[(i+a[1]/3)%len(x)] * x[i%len(x)]
	}
}

// foremost has an index that another package finds in a part of what depends on x.
//
//revgen:jacobian x
func foremost(dst, x []float64) {
	for i := range dst {
		a := make([]int, 4)
		a[1] = int(4*x[i%len(x)] + 4)
		dst[i] = x[(i+slices.Max(a[1:3]))%len(x)] * x[i%len(x)]
	}
}

// guarded has a term of a condition that fails without the one before.
//
//revgen:jacobian x sparse
func guarded(dst, x []float64, at []int) {
	for i := range dst {
		if x[i] > 0 && i+1 < len(x) {
			dst[i] = x[i+1]
		}
		if x[i] > 2 && 10/i > 2 {
			dst[i] = x[i-1]
		}
		if x[i] > 2 && at[i] > 2 {
			dst[i] = x[0]
		}
		dst[i] += x[i]
	}
}

// packed has a place in x that goes on.
//
//revgen:jacobian x sparse
func packed(dst, x []float64) {
	k := 0
	for i := range dst {
		dst[i] = x[k]
		k += 2
		dst[i] *= x[k]
	}
}

// walking has a loop whose variable goes on within.
//
//revgen:jacobian x sparse
func walking(dst, x []float64) {
	k := 0
	for k < len(dst) {
		dst[k] = x[k] * x[k+1]
		k++
	}
}

// hidden has parameters with names that what is written could use.
//
//revgen:jacobian x
func hidden(dst, x []float64, i, w, column, v, m int) {
	for k := range dst {
		dst[k] = x[i+k] * x[w+k] * x[column+k] * x[v+k] * x[m+k]
	}
}

//revgen:gradient x hessian
func concealed(x []float64, i, j, column int) float64 { return x[i] * x[i] * x[j] * x[column] }

// steps has a structure and no derivative.
//
//revgen:jacobian x
func steps(dst, x []float64) {
	for i := range dst {
		dst[i] = math.Floor(x[i])
	}
}

// pooled has few rows, whose cotangents meet in parts of a slice.
//
//revgen:jacobian x
func pooled(dst, x []float64) {
	s := make([]float64, 6)
	first, last := s[:4], s[2:]
	for i := range first {
		first[i] = x[i] * x[i+1]
	}
	for i := range last {
		last[i] += math.Sin(x[i]) * first[i]
	}
	dst[0] = first[3] * last[2] * x[6]
	dst[1] = last[0] / (1 + first[1]*first[1])
	dst[2] = first[3]*last[3] - x[0]*first[2]
}
