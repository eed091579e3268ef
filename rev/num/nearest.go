package num

import (
	"math"

	"revnum/internal/simd/nearest"
	"revnum/internal/simd/vec"
	"revnum/internal/workspace"
)

// A Nearest finds the rows of a matrix that are nearest to points. If it is asked about one point after the other, with
// the same number of rows, it looks at up to 64 points at once, else at one. Distances have the bits of a plain loop.
type Nearest struct {
	points [][]float64
	rows   []float64
	finite bool // the rows are

	// Of points lo to hi-1, which have d numbers, and the first n rows:
	lo, hi, n, d int
	best, label  [panel]float64
	x            []float64 // by coordinates
}

// panel is the largest number of points that are searched at once.
const panel = 64

// NewNearest returns a search among rows, which lie one after the other. Neither slice may change before Free.
func NewNearest(points [][]float64, rows []float64) *Nearest {
	s := workspace.Get[*Nearest]()
	s.points, s.rows, s.finite = points, rows, finite(rows)
	s.lo, s.hi, s.n = 0, 0, -1
	return s
}

// Free makes the memory available for reuse.
func (s *Nearest) Free() {
	s.points, s.rows = nil, nil
	workspace.Put(s)
}

// finite reports whether no element is infinite or NaN.
func finite(x []float64) bool { return vec.MaxAbs(x) <= math.MaxFloat64 }

// At returns which of the first n rows is the nearest to point i, if its squared distance is less than top, and
// else -1. Rows are as long as the point. Of equal distances the first row counts. If a
// distance is NaN, At returns n-1, as a loop would. If top is NaN, it returns -1.
func (s *Nearest) At(i, n int, top float64) int {
	if !s.known(i, n) {
		s.find(i, n)
	}
	if d := s.best[i-s.lo]; top <= d || top != top {
		return -1
	}
	return int(s.label[i-s.lo])
}

// Distance returns the squared distance that the last At for point i found.
func (s *Nearest) Distance(i int) float64 { return s.best[i-s.lo] }

// Least returns the least of top and the squared distances of point i to the first n rows, as the built-in min does.
func (s *Nearest) Least(i, n int, top float64) float64 {
	if !s.known(i, n) {
		s.find(i, n)
	}
	return min(top, s.best[i-s.lo])
}

// known reports whether the panel has point i, and the same rows.
func (s *Nearest) known(i, n int) bool {
	return i >= s.lo && i < s.hi && n == s.n && len(s.points[i]) == s.d
}

// find searches a panel of points from point i on. It has one point if what is asked for is not what follows the last
// panel, and else becomes larger, so that few points are searched in vain.
func (s *Nearest) find(i, n int) {
	d, most := len(s.points[i]), 1
	if i == s.hi && n == s.n && d == s.d {
		most = min(max(2*(s.hi-s.lo), nearest.Width), panel)
	}
	s.lo, s.hi, s.n, s.d = i, i+1, n, d
	s.best[0], s.label[0] = math.Inf(1), -1
	if n <= 0 {
		return
	}
	rows := s.rows[:n*d]
	for s.hi < len(s.points) && s.hi < i+most && len(s.points[s.hi]) == d {
		s.hi++
	}
	count := (s.hi - s.lo + nearest.Width - 1) / nearest.Width * nearest.Width
	many := d > 0 && s.finite && most > 1
	if many {
		s.x = workspace.Grow(s.x, d*count)
		for p, point := range s.points[s.lo:s.hi] {
			for j, v := range point {
				s.x[j*count+p] = v
			}
		}
		for j := range d {
			clear(s.x[j*count+s.hi-s.lo : (j+1)*count])
		}
	}
	for p := range count {
		s.best[p], s.label[p] = math.Inf(1), -1
	}
	if many && finite(s.x[:d*count]) {
		nearest.One(s.best[:count], s.label[:count], s.x, count, rows, d, 0)
		return
	}
	for p, x := range s.points[s.lo:s.hi] {
		for k := range n {
			sum := 0.0
			for j, v := range x {
				e := v - rows[k*d+j]
				sum += float64(e * e)
			}
			if !(s.best[p] <= sum) {
				s.best[p], s.label[p] = min(s.best[p], sum), float64(k)
			}
		}
	}
}
