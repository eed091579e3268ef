package problem

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"time"

	"revnum/internal/memory"
	"revnum/internal/scan"
	"revnum/rev"
	"revnum/revmodels/ba"
	"revnum/revsparse"
)

// BA is a problem of ADBench's bundle adjustment. All its cameras are copies of one
// camera, and likewise its points, weights and features. Observation i has camera i mod
// N and point i mod M.
type BA struct {
	N, M, P int // cameras, points, observations
	Camera  [11]float64
	Point   [3]float64
	Weight  float64
	Feature [2]float64
}

// LoadBA reads the problem in the file at path.
func LoadBA(path string) (*BA, error) {
	f, _, err := scan.Open(path, "a BA problem")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadBA(f, path)
}

// ReadBA reads a problem from r. Errors name the source by name, and the line.
func ReadBA(r io.Reader, name string) (*BA, error) {
	s := scan.New(r, name)
	p := new(BA)
	for _, c := range []struct {
		to   *int
		what string
	}{{&p.N, "cameras n"}, {&p.M, "points m"}, {&p.P, "observations p"}} {
		var err error
		if *c.to, err = s.Int("the number of "+c.what+", a positive integer", 1, math.MaxInt); err != nil {
			return nil, err
		}
	}
	var weight [1]float64
	for _, c := range []struct {
		to   []float64
		what string
	}{{p.Camera[:], "the camera"}, {p.Point[:], "the point"}, {weight[:], "the weight"}, {p.Feature[:], "the feature"}} {
		for i := range c.to {
			describe := func() string {
				return fmt.Sprintf("a finite number for %s, entry %d of %d", c.what, i+1, len(c.to))
			}
			var err error
			if c.to[i], err = s.Float(describe); err != nil {
				return nil, err
			}
		}
	}
	p.Weight = weight[0]
	if err := s.End(); err != nil {
		return nil, err
	}
	if err := p.Plausible(name); err != nil {
		return nil, err
	}
	return p, nil
}

// Plausible returns an error if the expanded problem does not fit the memory.
func (p *BA) Plausible(name string) error {
	// Operands, indices and the Jacobian with its structure.
	floats := 11*float64(p.N) + 3*float64(p.M) + (7+2+31+(31+3)/2)*float64(p.P)
	columns := 11*float64(p.N) + 3*float64(p.M) + float64(p.P)
	if max(columns, 31*float64(p.P)) > math.MaxInt32 {
		return fmt.Errorf("%s: n = %d, m = %d, p = %d: the sizes overflow", name, p.N, p.M, p.P)
	}
	return memory.Check(floats, fmt.Sprintf("%s: n = %d, m = %d, p = %d", name, p.N, p.M, p.P))
}

// Write writes p in ADBench's form, all numbers with six decimals as in ADBench's
// own files.
func (p *BA) Write(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%d %d %d\n", p.N, p.M, p.P)
	for _, row := range [][]float64{p.Camera[:], p.Point[:], {p.Weight}, p.Feature[:]} {
		writeRows(b, row, len(row))
	}
	return b.Flush()
}

// GenerateBA draws a problem. Its point lies in front of the camera, and its distance
// from the axis is half its depth. Its feature is off by a few pixels. Numbers are
// rounded to six decimals, as in a file.
func GenerateBA(n, m, p int, seed uint64) (*BA, error) {
	if n < 1 || m < 1 || p < 1 {
		return nil, ErrSize
	}
	b := &BA{N: n, M: m, P: p}
	if err := b.Plausible("ba"); err != nil {
		return nil, err
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	for i := range 3 {
		b.Camera[i] = sixDecimals(rnd.NormFloat64())
		b.Camera[3+i] = sixDecimals(100 * rnd.Float64())
	}
	b.Camera[6] = sixDecimals(200 + 300*rnd.Float64())
	for i := 7; i < 9; i++ {
		b.Camera[i] = sixDecimals(10 * rnd.NormFloat64())
		b.Camera[i+2] = sixDecimals(0.1 * rnd.Float64())
	}
	b.Weight = sixDecimals(rnd.Float64())

	// This is the point in the camera's axes, rotated back by -r.
	depth := 10 + 10*rnd.Float64()
	at := [3]float64{depth * (rnd.Float64() - 0.5), depth * (rnd.Float64() - 0.5), depth}
	r := [3]float64(b.Camera[:3])
	x := turn([3]float64{-r[0], -r[1], -r[2]}, at)
	for i := range b.Point {
		b.Point[i] = sixDecimals(x[i] + b.Camera[3+i])
	}
	o := NewBAObjective[float64](&BA{N: 1, M: 1, P: 1, Camera: b.Camera, Point: b.Point, Weight: 1}, 1)
	o.Value()
	for i := range b.Feature {
		b.Feature[i] = sixDecimals(o.Kernel.R.Data[i] + rnd.NormFloat64())
	}
	return b, nil
}

// turn rotates x about r by ‖r‖ radians. r must not be 0.
func turn(r, x [3]float64) (y [3]float64) {
	theta := math.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2])
	sin, cos := math.Sincos(theta)
	u := [3]float64{r[0] / theta, r[1] / theta, r[2] / theta}
	dot := u[0]*x[0] + u[1]*x[1] + u[2]*x[2]
	for i := range y {
		j, k := (i+1)%3, (i+2)%3
		y[i] = cos*x[i] + sin*(u[j]*x[k]-u[k]*x[j]) + (1-cos)*dot*u[i]
	}
	return y
}

// BAObjective is a BA problem over T with all copies made. It is ready to be evaluated
// and differentiated.
type BAObjective[T rev.Float] struct {
	Kernel   ba.Weighted[T]
	Jacobian revsparse.CSR[T, int32] // of the errors and then those of the weights

	// Values is the time that the last call of ValueJacobian spent on the values. That
	// call also computes the structure of the matrix.
	Values time.Duration
}

// NewBAObjective returns the objective of p.
func NewBAObjective[T rev.Float](p *BA, workers int) *BAObjective[T] {
	o := new(BAObjective[T])
	o.Kernel = ba.Weighted[T]{
		R: rev.ViewSlice(make([]T, 2*p.P)), Z: rev.ViewSlice(make([]T, p.P)),
		Cameras: rev.NewGeneral(p.N, 11, copies[T](p.N, p.Camera[:])), Points: rev.NewGeneral(p.M, 3, copies[T](p.M, p.Point[:])),
		Weights:  rev.ViewSlice(copies[T](p.P, []float64{p.Weight})),
		Features: rev.NewGeneral(p.P, 2, copies[T](p.P, p.Feature[:])),
		Camera:   make([]int, p.P), Point: make([]int, p.P), Workers: workers,
	}
	for i := range p.P {
		o.Kernel.Camera[i], o.Kernel.Point[i] = i%p.N, i%p.M
	}
	return o
}

// copies returns n copies of x, one after the other.
func copies[T rev.Float](n int, x []float64) []T {
	t := make([]T, 0, n*len(x))
	for range n {
		for _, v := range x {
			t = append(t, T(v))
		}
	}
	return t
}

// Value evaluates the errors into Kernel.R and Kernel.Z.
func (o *BAObjective[T]) Value() {
	clear(o.Kernel.R.Data)
	clear(o.Kernel.Z.Data)
	_ = o.Kernel.Forward()
}

// ValueJacobian evaluates the errors and the Jacobian. As in ADBench's modules and
// GradBench's tools, each call computes the row pointers, the column indices and the
// values. Storage is kept between calls.
func (o *BAObjective[T]) ValueJacobian() {
	j, z := o.Kernel.CSRTo(&o.Jacobian)
	start := time.Now()
	clear(o.Kernel.R.Data)
	clear(o.Kernel.Z.Data)
	_ = o.Kernel.Jacobian(j, z)
	o.Values = time.Since(start)
}
