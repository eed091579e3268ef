package ba

import (
	"math"
	"math/rand/v2"
)

// city is the scene of Layout City: square blocks of houses between streets. The
// cameras drive through the streets, along one axis and then along the other, looking
// ahead to the left and to the right in turn.
type city struct {
	cameras []pose
	blocks  int       // along a side, without those around the outer streets
	heights []float64 // of all blocks, (blocks+2)²
	near    [][]int32 // the cameras around each crossing, (blocks+1)²
	found   []int32   // result of seen
	best    []int32   // result of point
}

const (
	blockSide = 10.0 // from the middle of a street to the next
	halfWidth = 1.5  // of a street
	cityRange = 10.0 // how far a camera sees; at most blockSide, because of near
	cityDepth = 0.7  // least depth
	spacing   = 0.5  // of the cameras
)

func newCity(n int, rnd *rand.Rand) *city {
	s := &city{blocks: 1}
	// The way has the same number of streets along each axis, and between them is as
	// long.
	for 2*blockSide*float64(s.blocks*(s.blocks+2)) < spacing*float64(n) {
		s.blocks++
	}
	way := cityWay(s.blocks)
	s.heights = make([]float64, (s.blocks+2)*(s.blocks+2))
	for i := range s.heights {
		s.heights[i] = 1.5 + float64(3*rnd.Float64())
	}
	s.near = make([][]int32, (s.blocks+1)*(s.blocks+1))
	s.cameras = make([]pose, n)
	for i := range s.cameras {
		at, direction := drive(way, float64(spacing*(float64(i)+float64(0.2*rnd.Float64()))))
		side := float64(1 - 2*(i%2))
		s.cameras[i] = look(
			[3]float64{at[0] + float64(0.1*rnd.NormFloat64()), at[1] + float64(0.1*rnd.NormFloat64()), 0.5 + float64(0.03*rnd.NormFloat64())},
			direction+float64(side*(0.5+float64(0.05*rnd.NormFloat64()))), 0.12+float64(0.02*rnd.NormFloat64()), 0.02*rnd.NormFloat64(), 700)
		k := s.crossing(s.cameras[i].centre)
		s.near[k[0]*(s.blocks+1)+k[1]] = append(s.near[k[0]*(s.blocks+1)+k[1]], int32(i))
	}
	return s
}

// cityWay returns the corners of the way through all streets of a city: up and down the
// streets along the first axis, and then those along the second.
func cityWay(blocks int) [][2]float64 {
	side := blockSide * float64(blocks)
	var way [][2]float64
	x := [2]float64{0, side}
	for i := range blocks + 1 {
		y := blockSide * float64(i)
		way = append(way, [2]float64{x[0], y}, [2]float64{x[1], y})
		x[0], x[1] = x[1], x[0]
	}
	// Now at the end x[0] of the last street.
	y := [2]float64{side, 0}
	for i := range blocks + 1 {
		street := math.Abs(x[0] - float64(blockSide*float64(i)))
		way = append(way, [2]float64{street, y[0]}, [2]float64{street, y[1]})
		y[0], y[1] = y[1], y[0]
	}
	return way
}

// drive returns the place and the direction at a length of the way, or the end of the
// way if it is shorter.
func drive(way [][2]float64, length float64) (at [2]float64, direction float64) {
	for i, to := range way[1:] {
		dx, dy := to[0]-way[i][0], to[1]-way[i][1]
		part := math.Hypot(dx, dy)
		if part == 0 {
			continue // the turn from one axis to the other
		}
		at, direction = to, math.Atan2(dy, dx)
		if length < part {
			t := length / part
			return [2]float64{way[i][0] + float64(t*dx), way[i][1] + float64(t*dy)}, direction
		}
		length -= part
	}
	return at, direction
}

// crossing returns the crossing of streets nearest to a camera at x.
func (s *city) crossing(x [3]float64) (k [2]int) {
	for j := range k {
		k[j] = min(max(int(math.Round(x[j]/blockSide)), 0), s.blocks)
	}
	return k
}

func (s *city) poses() []pose     { return s.cameras }
func (s *city) distance() float64 { return 4 }

func (s *city) point(rnd *rand.Rand, i, n int) (x [3]float64, seen []int32) {
	// Each camera in turn, so that each has points in its picture.
	v := &s.cameras[i%len(s.cameras)]
	s.best = s.best[:0]
	for range 100 {
		d := applyTransposed(&v.r, [3]float64{
			imageWidth * (rnd.Float64() - 0.5) / v.f, imageHeight * (rnd.Float64() - 0.5) / v.f, -1,
		})
		t := s.first(v.centre, d, cityRange)
		if d[2] < 0 {
			t = min(t, -v.centre[2]/d[2]) // the ground
		}
		if t >= cityRange {
			continue // the sky
		}
		at := v.centre
		for j := range at {
			at[j] += float64(t * d[j])
		}
		if found := s.seen(at, n); len(found) > len(s.best) {
			x = at
			s.best = append(s.best[:0], found...)
		}
		if len(s.best) >= n {
			break
		}
	}
	return x, s.best
}

func (s *city) seen(x [3]float64, _ int) []int32 {
	s.found = s.found[:0]
	k := s.crossing(x)
	for i := max(0, k[0]-1); i <= min(s.blocks, k[0]+1); i++ {
		for j := max(0, k[1]-1); j <= min(s.blocks, k[1]+1); j++ {
			for _, c := range s.near[i*(s.blocks+1)+j] {
				if s.sees(&s.cameras[c], x) {
					s.found = append(s.found, c)
				}
			}
		}
	}
	return s.found
}

// sees reports whether the camera sees x, a place on a house or on the ground.
func (s *city) sees(v *pose, x [3]float64) bool {
	d := [3]float64{x[0] - v.centre[0], x[1] - v.centre[1], x[2] - v.centre[2]}
	return float64(d[0]*d[0])+float64(d[1]*d[1])+float64(d[2]*d[2]) <= cityRange*cityRange && v.inImage(x, cityDepth) &&
		s.first(v.centre, d, 1) >= 1-1e-6
}

// first returns the least t in [0, end] at which from + t·d is in a house, or end if
// there is none.
func (s *city) first(from, d [3]float64, end float64) float64 {
	var low, high [2]int
	for j := range low {
		a, b := from[j]/blockSide, (from[j]+float64(end*d[j]))/blockSide
		low[j] = max(int(math.Floor(min(a, b))), -1)
		high[j] = min(int(math.Floor(max(a, b))), s.blocks)
	}
	t := end
	for i := low[0]; i <= high[0]; i++ {
		for j := low[1]; j <= high[1]; j++ {
			t = s.enter(i, j, from, d, t)
		}
	}
	return t
}

// enter returns the t in [0, end] at which from + t·d enters block i, j, or end if it
// does not. It starts in the street.
func (s *city) enter(i, j int, from, d [3]float64, end float64) float64 {
	x, y := float64(blockSide*float64(i)), float64(blockSide*float64(j))
	low := [3]float64{x + halfWidth, y + halfWidth, 0}
	high := [3]float64{x + blockSide - halfWidth, y + blockSide - halfWidth, s.heights[(i+1)*(s.blocks+2)+j+1]}
	t0, t1 := 0., end
	for k := range low {
		// If d is parallel to a side, both are infinite, with one sign or with two.
		a, b := (low[k]-from[k])/d[k], (high[k]-from[k])/d[k]
		t0, t1 = max(t0, min(a, b)), min(t1, max(a, b))
	}
	if t0 < t1 {
		return t0
	}
	return end
}
