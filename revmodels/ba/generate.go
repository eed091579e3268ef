package ba

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Layout is where the cameras of a synthetic problem are.
type Layout int

const (
	// Ring has the cameras on a circle around one object, at which all look.
	Ring Layout = iota
	// City has the cameras drive through streets. The houses along them hide what is
	// behind.
	City
)

// GenerateOptions are the options of Generate.
type GenerateOptions struct {
	Layout       Layout
	Cameras      int
	Points       int
	Observations int // at least 2 a point

	Noise    float64 // standard deviation of the coordinates of features, in pixels
	Outliers float64 // fraction of the observations that are anywhere in the image

	// Start is the relative size of the errors of the cameras and points to start from.
	// 0.01 is about ten pixels.
	Start float64

	Source rand.Source // nil means rand.NewPCG(1, 0)
}

// The images of synthetic problems, in pixels.
const (
	imageWidth  = 1024
	imageHeight = 768
)

// Generate draws a problem with a known solution. One camera, with a focal length and
// distortion, takes all pictures. It sees points only from nearby places: each point at
// least twice, and a few points much more often than most. Observations are in the
// order of points, and then of cameras.
//
// The problem start has features with noise and outliers, and cameras and points with
// errors. The errors are normal and independent, with two exceptions: the focal length
// has one error for all, and the distortion starts at zero. If Start is 0, the
// parameters are the true ones. The problem truth has the true parameters, and the
// features that follow from them.
//
// Equal options with equal sources give equal problems on equal machines. Generate
// returns an error that names an option that makes no sense, or says that a city does
// not have so many observations.
func Generate(opts *GenerateOptions) (start, truth *Problem, err error) {
	o := *opts
	if err := o.check(); err != nil {
		return nil, nil, err
	}
	if o.Source == nil {
		o.Source = rand.NewPCG(1, 0)
	}
	rnd := rand.New(o.Source)

	var s scene
	if o.Layout == Ring {
		s = newRing(o.Cameras, rnd)
	} else {
		s = newCity(o.Cameras, rnd)
	}
	truth = &Problem{
		Points:   make([]float64, 0, pointLen*o.Points),
		Camera:   make([]int, 0, o.Observations),
		Point:    make([]int, 0, o.Observations),
		Features: make([]float64, 0, 2*o.Observations),
	}
	for _, v := range s.poses() {
		truth.Cameras = v.appendTo(truth.Cameras)
	}
	tracks, err := drawTracks(&o, s, truth, rnd)
	if err != nil {
		return nil, nil, err
	}
	poses := s.poses()
	for i, cameras := range tracks {
		slices.Sort(cameras)
		x := [3]float64(truth.Points[pointLen*i:])
		for _, c := range cameras {
			u, v, _ := poses[c].project(x)
			truth.Camera = append(truth.Camera, int(c))
			truth.Point = append(truth.Point, i)
			truth.Features = append(truth.Features, u, v)
		}
	}

	start = truth.Clone()
	for i := range start.Features {
		start.Features[i] += float64(o.Noise * rnd.NormFloat64())
	}
	for i := range o.Observations {
		if rnd.Float64() < o.Outliers {
			start.Features[2*i] = imageWidth * (rnd.Float64() - 0.5)
			start.Features[2*i+1] = imageHeight * (rnd.Float64() - 0.5)
		}
	}
	if o.Start > 0 {
		size := s.distance() * o.Start
		focal := 1 + float64(o.Start*rnd.NormFloat64())
		for i := range poses {
			v := poses[i]
			for j := range v.centre {
				v.centre[j] += float64(size * rnd.NormFloat64())
			}
			// A small rotation in the camera's own frame.
			v.r = multiply(rotationMatrix([3]float64{
				o.Start * rnd.NormFloat64(), o.Start * rnd.NormFloat64(), o.Start * rnd.NormFloat64(),
			}), v.r)
			v.f *= focal
			v.k1, v.k2 = 0, 0
			v.appendTo(start.Cameras[:cameraLen*i])
		}
		for i := range start.Points {
			start.Points[i] += float64(size * rnd.NormFloat64())
		}
	}
	return start, truth, nil
}

func (o *GenerateOptions) check() error {
	switch {
	case o.Layout != Ring && o.Layout != City:
		return fmt.Errorf("ba: layout %d, expected Ring or City", o.Layout)
	case o.Cameras < 2:
		return fmt.Errorf("ba: %d cameras, expected 2 or more", o.Cameras)
	case o.Points < 1:
		return fmt.Errorf("ba: %d points, expected 1 or more", o.Points)
	case o.Observations/2 < o.Points || (o.Observations-1)/o.Points >= o.Cameras:
		return fmt.Errorf("ba: %d observations of %d points by %d cameras, expected 2 to %d a point",
			o.Observations, o.Points, o.Cameras, o.Cameras)
	case !(o.Noise >= 0) || math.IsInf(o.Noise, 0):
		return fmt.Errorf("ba: noise of %v pixels, expected 0 or more", o.Noise)
	case !(o.Outliers >= 0 && o.Outliers <= 1):
		return fmt.Errorf("ba: a fraction of %v outliers, expected 0 to 1", o.Outliers)
	case !(o.Start >= 0 && o.Start <= 1):
		return fmt.Errorf("ba: errors of %v to start from, expected 0 to 1", o.Start)
	}
	return nil
}

// drawTracks draws the points of p, and for each the cameras that see it.
func drawTracks(o *GenerateOptions, s scene, p *Problem, rnd *rand.Rand) ([][]int32, error) {
	lengths := trackLengths(o.Points, o.Observations, o.Cameras)
	rnd.Shuffle(len(lengths), func(i, j int) { lengths[i], lengths[j] = lengths[j], lengths[i] })
	tracks := make([][]int32, o.Points)
	missing := 0
	for i, length := range lengths {
		// If one point has too few, the next ones get more.
		want := min(length+missing, o.Cameras)
		x, seen := s.point(rnd, i, want)
		if len(seen) < 2 {
			return nil, fmt.Errorf("ba: no place for point %d that two of the %d cameras see", i, o.Cameras)
		}
		n := min(want, len(seen))
		rnd.Shuffle(len(seen), func(i, j int) { seen[i], seen[j] = seen[j], seen[i] })
		tracks[i] = slices.Clone(seen[:n])
		p.Points = append(p.Points, x[:]...)
		missing += length - n
	}
	for i := 0; i < o.Points && missing > 0; i++ {
		for _, c := range s.seen([3]float64(p.Points[pointLen*i:]), o.Cameras) {
			if missing > 0 && !slices.Contains(tracks[i], c) {
				tracks[i] = append(tracks[i], c)
				missing--
			}
		}
	}
	if missing > 0 {
		return nil, fmt.Errorf("ba: the %d cameras see the %d points %d times, expected %d: ask for fewer observations",
			o.Cameras, o.Points, o.Observations-missing, o.Observations)
	}
	return tracks, nil
}

// trackLengths returns n numbers from 2 to most with the given sum: quantiles of an
// exponential distribution without its tail.
func trackLengths(n, sum, most int) []int {
	weight := func(i int) float64 { return min(4, -math.Log1p(-(float64(i)+0.5)/float64(n))) }
	total := 0.
	for i := range n {
		total += weight(i)
	}
	lengths := make([]int, n)
	at, given := 0., 0
	for i := range lengths {
		at += weight(i)
		next := int(math.Round(float64(sum-2*n) * min(1, at/total)))
		lengths[i] = 2 + next - given
		given = next
	}
	// The excess over most goes to the longest of the others.
	over := sum - 2*n - given
	for i := n - 1; i >= 0; i-- {
		lengths[i] += over
		over = max(0, lengths[i]-most)
		lengths[i] -= over
	}
	return lengths
}

// A scene is where the pictures of a synthetic problem are taken.
type scene interface {
	poses() []pose
	// distance is the approximate distance of the points from the cameras.
	distance() float64
	// point draws point i, at a place that n cameras see if there is one. It returns
	// the point with the result of seen.
	point(rnd *rand.Rand, i, n int) (x [3]float64, seen []int32)
	// seen returns cameras that see x, at least n if so many do. The next call
	// overwrites them.
	seen(x [3]float64, n int) []int32
}

// pose is a camera in a scene.
type pose struct {
	r         [9]float64 // world to camera, by rows
	centre    [3]float64
	f, k1, k2 float64
}

// look returns the camera of focal length f at a place. Its direction has these angles
// from the first axis and upward. The third axis points up.
func look(centre [3]float64, yaw, pitch, roll, f float64) pose {
	sy, cy := math.Sincos(yaw)
	sp, cp := math.Sincos(pitch)
	sr, cr := math.Sincos(roll)
	right := [3]float64{sy, -cy, 0}
	up := [3]float64{-sp * cy, -sp * sy, cp}
	v := pose{centre: centre, f: f, k1: -0.06, k2: 0.01}
	for j := range 3 {
		v.r[j] = float64(cr*right[j]) + float64(sr*up[j])
		v.r[3+j] = float64(cr*up[j]) - float64(sr*right[j])
	}
	v.r[6], v.r[7], v.r[8] = -cp*cy, -cp*sy, -sp
	return v
}

// appendTo appends the parameters of the camera to s.
func (v *pose) appendTo(s []float64) []float64 {
	w := angleAxis(&v.r)
	t := apply(&v.r, v.centre)
	return append(s, w[0], w[1], w[2], -t[0], -t[1], -t[2], v.f, v.k1, v.k2)
}

// project returns where in the image the camera sees x, and the depth of x.
func (v *pose) project(x [3]float64) (u, w, depth float64) {
	for j := range x {
		x[j] -= v.centre[j]
	}
	p := apply(&v.r, x)
	a, b := -p[0]/p[2], -p[1]/p[2]
	r2 := float64(a*a) + float64(b*b)
	scale := v.f * (1 + float64(r2*(v.k1+float64(r2*v.k2))))
	return scale * a, scale * b, -p[2]
}

// inImage reports whether x is in the image of the camera, at a depth of more than
// least.
func (v *pose) inImage(x [3]float64, least float64) bool {
	u, w, depth := v.project(x)
	return depth >= least && math.Abs(u) <= imageWidth/2 && math.Abs(w) <= imageHeight/2
}

// ring is the scene of Layout Ring: a vase of radius 1 and height 2 around the
// third axis, and cameras around it.
type ring struct {
	cameras []pose
	near    []int32
}

const ringRadius = 4

func newRing(n int, rnd *rand.Rand) *ring {
	s := &ring{cameras: make([]pose, n)}
	for i := range s.cameras {
		around := 2 * math.Pi * float64(i) / float64(n)
		height := float64(0.8*math.Sin(3*around)) + float64(0.1*rnd.NormFloat64())
		sin, cos := math.Sincos(around)
		r := ringRadius + float64(0.1*rnd.NormFloat64())
		s.cameras[i] = look([3]float64{r * cos, r * sin, height},
			around+math.Pi+float64(0.02*rnd.NormFloat64()), math.Atan2(-height, r)+float64(0.02*rnd.NormFloat64()), 0.02*rnd.NormFloat64(), 1000)
	}
	return s
}

func (s *ring) poses() []pose     { return s.cameras }
func (s *ring) distance() float64 { return ringRadius }

func (s *ring) point(rnd *rand.Rand, _, n int) (x [3]float64, seen []int32) {
	around, z := 2*math.Pi*rnd.Float64(), 2*rnd.Float64()-1
	r := (0.65 + float64(0.3*math.Cos(math.Pi*(z+0.2)))) * (1 + float64(0.06*math.Cos(8*around)))
	sin, cos := math.Sincos(around)
	x = [3]float64{r * cos, r * sin, z}
	return x, s.seen(x, n)
}

// seen returns the 2n+2 nearest cameras. They see x because nothing is in the way: the
// vase is of glass.
func (s *ring) seen(x [3]float64, n int) []int32 {
	total := len(s.cameras)
	nearest := int(math.Round(math.Atan2(x[1], x[0]) / (2 * math.Pi) * float64(total)))
	s.near = s.near[:0]
	n = min(2*n+2, total)
	for i := range n {
		s.near = append(s.near, int32((nearest-n/2+i+total)%total))
	}
	return s.near
}
