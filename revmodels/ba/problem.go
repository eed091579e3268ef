package ba

import (
	"fmt"
	"math"
	"slices"

	"revnum/rev"
)

// cameraLen and pointLen are the numbers of parameters of a camera and of a
// point of a Problem.
const (
	cameraLen = 9
	pointLen  = 3
)

// Problem is a problem of bundle adjustment: cameras and points with their parameters,
// and the places at which cameras see points.
//
// The package comment has the camera model. A point may be seen any number of times,
// also by the same camera, or not at all. A camera may see nothing.
type Problem struct {
	Cameras  []float64 // nine parameters a camera: angle-axis 3, translation 3, f, k₁, k₂
	Points   []float64 // three coordinates a point
	Camera   []int     // the camera of each observation
	Point    []int     // the point of each observation
	Features []float64 // place of the point in each observation: x, y in pixels from the centre of the image
}

// NumCameras returns the number of cameras.
func (p *Problem) NumCameras() int { return len(p.Cameras) / cameraLen }

// NumPoints returns the number of points.
func (p *Problem) NumPoints() int { return len(p.Points) / pointLen }

// NumObservations returns the number of observations.
func (p *Problem) NumObservations() int { return len(p.Camera) }

// Pose returns the place of camera i, -Rᵀ·t, and its rotation R by rows. R turns the
// axes of the points into those of the camera: to the right, up, and backward.
func (p *Problem) Pose(i int) (centre [3]float64, r [9]float64) {
	c := p.Cameras[cameraLen*i:]
	r = rotationMatrix([3]float64(c))
	return applyTransposed(&r, [3]float64{-c[3], -c[4], -c[5]}), r
}

// Kernel returns the kernel of the reprojection errors over p's storage, without R. Set
// R to two residuals for each observation.
func (p *Problem) Kernel() Snavely[float64] {
	matrix := func(data []float64, cols int) rev.General[float64] {
		return rev.General[float64]{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
	}
	return Snavely[float64]{
		Cameras: matrix(p.Cameras, cameraLen), Points: matrix(p.Points, pointLen), Features: matrix(p.Features, 2),
		Camera: p.Camera, Point: p.Point,
	}
}

// Clone returns a copy of p that shares no storage with it.
func (p *Problem) Clone() *Problem {
	return &Problem{
		Cameras:  slices.Clone(p.Cameras),
		Points:   slices.Clone(p.Points),
		Camera:   slices.Clone(p.Camera),
		Point:    slices.Clone(p.Point),
		Features: slices.Clone(p.Features),
	}
}

// room returns the problem of p's observations with zeros for parameters.
func (p *Problem) room() *Problem {
	q := *p
	q.Cameras, q.Points = make([]float64, len(p.Cameras)), make([]float64, len(p.Points))
	return &q
}

// sorted returns a copy of p with the observations in the order of ByPoint, and that order.
func (p *Problem) sorted() (q *Problem, order []int) {
	q, order = p.Clone(), p.ByPoint()
	for i, k := range order {
		q.Camera[i], q.Point[i] = p.Camera[k], p.Point[k]
		copy(q.Features[2*i:2*i+2], p.Features[2*k:])
	}
	return q, order
}

// ByPoint returns the observations sorted by their points, and observations of one point
// sorted by their cameras. The sort is stable, and takes time proportional to their number.
func (p *Problem) ByPoint() []int {
	order := make([]int, p.NumObservations())
	for i := range order {
		order[i] = i
	}
	next := make([]int, len(order))
	for _, key := range []struct {
		of []int
		n  int
	}{{p.Camera, p.NumCameras()}, {p.Point, p.NumPoints()}} {
		start := firsts(key.of, key.n)
		for _, i := range order {
			k := key.of[i]
			next[start[k]] = i
			start[k]++
		}
		order, next = next, order
	}
	return order
}

// firsts returns where the elements of each of n kinds begin once they are sorted by their
// kinds, and their number at the end.
func firsts(kinds []int, n int) []int {
	start := make([]int, n+1)
	for _, k := range kinds {
		start[k+1]++
	}
	for k := range n {
		start[k+1] += start[k]
	}
	return start
}

// Validate returns an error unless the lengths of p's slices agree, its indices are in
// range and its numbers are finite.
func (p *Problem) Validate() error {
	n := len(p.Camera)
	switch {
	case len(p.Cameras)%cameraLen != 0:
		return fmt.Errorf("ba: %d camera parameters, expected a multiple of %d", len(p.Cameras), cameraLen)
	case len(p.Points)%pointLen != 0:
		return fmt.Errorf("ba: %d coordinates of points, expected a multiple of %d", len(p.Points), pointLen)
	case len(p.Point) != n || len(p.Features) != 2*n:
		return fmt.Errorf("ba: %d indices of cameras, %d of points and %d coordinates of features, expected n, n and 2n",
			n, len(p.Point), len(p.Features))
	}
	for i, c := range p.Camera {
		if c < 0 || c >= p.NumCameras() {
			return fmt.Errorf("ba: observation %d is of camera %d, expected 0 to %d", i, c, p.NumCameras()-1)
		}
		if q := p.Point[i]; q < 0 || q >= p.NumPoints() {
			return fmt.Errorf("ba: observation %d is of point %d, expected 0 to %d", i, q, p.NumPoints()-1)
		}
	}
	for _, s := range []struct {
		of    string
		size  int
		value []float64
	}{
		{"camera", cameraLen, p.Cameras}, {"point", pointLen, p.Points}, {"observation", 2, p.Features},
	} {
		if i := slices.IndexFunc(s.value, notFinite); i >= 0 {
			return fmt.Errorf("ba: number %d of %s %d is %v", i%s.size, s.of, i/s.size, s.value[i])
		}
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
