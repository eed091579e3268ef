package revnn

import (
	"math"
	"math/bits"
	"slices"

	"revnum/rev"
)

// Conv2D, MaxPool and MeanPool move a window over planes, which are stored by rows. The
// planes of an input follow each other in a row of a matrix, one for each channel.

// An axis is the places of a window along one side of a plane. Place i covers the
// elements i·stride-pad, i·stride-pad+step, ..., size of them. Those outside the plane are
// padding.
type axis struct {
	n, size, stride, pad, step int
	places                     int
}

// largestSide bounds sides and padding, so that no sum of them overflows.
const largestSide = math.MaxInt / 8

// axisOf returns the axis of a plane with n elements on that side. It panics unless the
// numbers make sense. A step of 0 means 1.
func axisOf[K any](side string, n, size, stride, pad, step int) axis {
	step, stride = max(step, 1), min(stride, math.MaxInt/2) // no plane is longer
	if size < 1 || stride < 1 || pad < 0 || n < 0 || n > largestSide || pad > largestSide || size-1 > largestSide/step ||
		(size-1)*step+1 > n+2*pad {
		panic(rev.ShapeError[K]("X", "has a %s of %d: windows of %d elements at distances of %d do not fit with stride %d and padding %d",
			side, n, size, step, stride, pad))
	}
	return axis{n, size, stride, pad, step, (n+2*pad-(size-1)*step-1)/stride + 1}
}

// poolAxis returns the axis of a pool. It panics if a window is padding alone.
func poolAxis[K any](side string, n, size, stride, pad int) axis {
	a := axisOf[K](side, n, size, stride, pad, 1)
	if pad >= size || n == 0 {
		panic(rev.ShapeError[K]("X", "has a %s of %d: windows of %d with padding %d may have no element of it", side, n, size, pad))
	}
	return a
}

// checkProduct panics unless an operand, which has the given number of columns, has the
// product of the factors as integers without overflow.
func checkProduct[K any](operand string, cols int, factors ...int) {
	hi, lo := uint64(0), uint64(1)
	for _, f := range factors {
		if hi, lo = bits.Mul64(lo, uint64(max(f, 0))); hi != 0 {
			break
		}
	}
	if hi != 0 || lo != uint64(cols) {
		panic(rev.ShapeError[K](operand, "has %d columns, want the product of %d", cols, slices.Clone(factors)))
	}
}

// inside returns those places, of the places lo, ..., hi-1, whose element number i lies
// within the plane.
func (a *axis) inside(i, lo, hi int) (first, end int) {
	before := a.pad - i*a.step // from the first element of place 0 to the plane
	last := a.n - 1 + before
	if before > 0 {
		lo = max(lo, (before+a.stride-1)/a.stride)
	}
	if last < 0 {
		return lo, lo
	}
	return lo, max(lo, min(hi, last/a.stride+1))
}

// at returns the element number i of a place.
func (a *axis) at(place, i int) int { return place*a.stride - a.pad + i*a.step }

// within returns the numbers lo, ..., hi-1 of the elements of a place that lie within the
// plane, where elements follow each other.
func (a *axis) within(place int) (lo, hi int) {
	first := a.at(place, 0)
	return max(0, -first), min(a.size, a.n-first)
}

// plane returns plane c, of the given size, of row n of m. It is nil if m is.
func plane[T any](m rev.General[T], n, c, size int) []T {
	if m.Data == nil {
		return nil
	}
	return m.Row(n)[c*size:][:size]
}
