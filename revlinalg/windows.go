package revlinalg

import "revnum/rev"

// Conv2D, MaxPool and MeanPool move a window over planes, which are stored by rows. The
// planes of an input follow each other in a row of a matrix, one for each channel.

// An axis is the places of a window along one side of a plane. Place i covers the
// elements i·stride-pad, ..., i·stride-pad+size-1. Those outside the plane are padding.
type axis struct {
	n, size, stride, pad int
	places               int
}

// axisOf returns the axis of a plane with n elements on that side. It panics unless the
// numbers make sense.
func axisOf[K any](side string, n, size, stride, pad int) axis {
	if size < 1 || stride < 1 || pad < 0 || size-pad > n+pad {
		panic(rev.ShapeError[K]("X", "has a %s of %d: windows of %d do not fit with stride %d and padding %d", side, n, size, stride, pad))
	}
	return axis{n, size, stride, pad, (n+2*pad-size)/stride + 1}
}

// inside returns those places, of the places lo, ..., hi-1, whose element number i lies
// within the plane.
func (a *axis) inside(i, lo, hi int) (first, end int) {
	before, last := a.pad-i, a.n-1+a.pad-i // the first element of place 0, and what reaches the last one
	if before > 0 {
		lo = max(lo, (before+a.stride-1)/a.stride)
	}
	if last < 0 {
		return lo, lo
	}
	return lo, max(lo, min(hi, last/a.stride+1))
}

// at returns the element number i of a place.
func (a *axis) at(place, i int) int { return place*a.stride - a.pad + i }

// plane returns plane c, of the given size, of row n of m. It is nil if m is.
func plane[T any](m rev.General[T], n, c, size int) []T {
	if m.Data == nil {
		return nil
	}
	return m.Row(n)[c*size:][:size]
}
