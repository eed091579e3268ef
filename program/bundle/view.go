package bundle

import (
	"image/color"
	"iter"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"revnum/program/figure"
	"revnum/revmodels/ba"
)

// MaxPoints is the largest number of points in a view. More would be one blot.
const MaxPoints = 20000

// Sample returns at most maxPoints indices below n, one of each few consecutive ones.
// Which one varies by the golden ratio: if points are in the order of cameras, equal
// steps could miss some cameras.
func Sample(n int) iter.Seq[int] {
	step := (n + MaxPoints - 1) / MaxPoints
	return func(yield func(int) bool) {
		for k := 0; k*step < n; k++ {
			_, part := math.Modf(float64(k) / math.Phi)
			if i := k*step + int(part*float64(step)); i < n && !yield(i) {
				return
			}
		}
	}
}

// view draws a problem as seen from far away. Two of the axes lie across the picture.
type view struct {
	problem *ba.Problem
	axes    [2][3]float64
	bounds  [2][2]float64 // what is in the picture along them
	camera  float64       // length of the pyramids that stand for cameras
}

// Plot implements plot.Plotter.
func (v *view) Plot(c draw.Canvas, p *plot.Plot) {
	size := c.Size()
	scale := min(float64(size.X)/(v.bounds[0][1]-v.bounds[0][0]), float64(size.Y)/(v.bounds[1][1]-v.bounds[1][0]))
	at := func(x [3]float64) vg.Point {
		var xy [2]vg.Length
		for k, b := range v.bounds {
			xy[k] = vg.Length(scale * (Dot(v.axes[k], x) - (b[0]+b[1])/2))
		}
		return vg.Point{X: c.Center().X + xy[0], Y: c.Center().Y + xy[1]}
	}

	n := v.problem.NumPoints()
	dots := draw.GlyphStyle{Color: color.NRGBA{0, 60, 120, 110}, Radius: vg.Points(0.55), Shape: draw.CircleGlyph{}}
	if n < 2000 {
		dots.Radius = vg.Points(1.1)
	}
	for i := range Sample(n) {
		if p := at([3]float64(v.problem.Points[3*i:])); c.Contains(p) {
			c.DrawGlyph(dots, p)
		}
	}

	edge := draw.LineStyle{Color: figure.Color(1), Width: vg.Points(0.5)}
	for i := range v.problem.NumCameras() {
		centre, r := v.problem.Pose(i)
		apex := at(centre)
		if !c.Contains(apex) {
			continue
		}
		var corner [4]vg.Point
		for j := range corner {
			right, up := 0.6*v.camera*float64(1-j/2*2), 0.45*v.camera*float64(1-(j+1)/2%2*2)
			x := centre
			for k := range x {
				x[k] += r[k]*right + r[3+k]*up - r[6+k]*v.camera
			}
			corner[j] = at(x)
		}
		for j := range corner {
			c.StrokeLines(edge, c.ClipLinesXY([]vg.Point{apex, corner[j], corner[(j+1)%4]})...)
		}
	}
	DrawScale(c, p.X.Tick.Label, scale)
	frame := []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}, c.Min}
	c.StrokeLines(draw.LineStyle{Color: color.Gray{150}, Width: vg.Points(0.6)}, frame)
}

// DrawScale draws a scale bar at the lower left. Its length is round, in units of the
// problem, and about a fifth of the picture.
func DrawScale(c draw.Canvas, style draw.TextStyle, pixels float64) {
	length := RoundBelow(float64(c.Size().X) / 4 / pixels)
	label := strconv.FormatFloat(length, 'g', -1, 64)
	const space, serif = 6, 3
	left := vg.Point{X: c.Min.X + space, Y: c.Min.Y + space}
	right := vg.Point{X: left.X + vg.Length(length*pixels), Y: left.Y}
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	text := style.Rectangle(label).Size()
	c.FillPolygon(color.NRGBA{255, 255, 255, 210}, []vg.Point{
		c.Min, {X: right.X + text.X + 2*space, Y: c.Min.Y},
		{X: right.X + text.X + 2*space, Y: left.Y + text.Y}, {X: c.Min.X, Y: left.Y + text.Y},
	})
	c.StrokeLines(draw.LineStyle{Color: color.Black, Width: vg.Points(1)},
		[]vg.Point{{X: left.X, Y: left.Y - serif}, {X: left.X, Y: left.Y + serif}}, []vg.Point{left, right},
		[]vg.Point{{X: right.X, Y: right.Y - serif}, {X: right.X, Y: right.Y + serif}})
	c.FillText(style, vg.Point{X: right.X + space, Y: right.Y}, label)
}

// RoundBelow returns the largest number that is 1, 2 or 5 times a power of ten and at
// most v. v must be positive.
func RoundBelow(v float64) float64 {
	power := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, digit := range []float64{5, 2} {
		if digit*power <= v {
			return digit * power
		}
	}
	return power
}

// Dot returns the inner product of a and b.
func Dot(a, b [3]float64) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

// Cross returns the cross product of a and b.
func Cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

// AxesOf returns three axes for views of p. The third points up. Of the directions
// across it, the first is the one along which the points and cameras are spread most.
//
// People hold cameras level, and point them ahead rather than up or down. The third
// axis is therefore the direction most nearly orthogonal to the cameras' axes to the
// right and, where those leave a choice, to their directions of view. It is the
// eigenvector of the least eigenvalue of the weighted sum of the squares of both.
func AxesOf(p *ba.Problem) [3][3]float64 {
	var sum [9]float64
	var up [3]float64
	for i := range p.NumCameras() {
		_, r := p.Pose(i)
		for j := range 3 {
			for k := range 3 {
				sum[3*j+k] += r[j]*r[k] + 0.1*r[6+j]*r[6+k]
			}
			up[j] += r[3+j]
		}
	}
	axes := [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	var eigen mat.EigenSym
	if p.NumCameras() > 0 && eigen.Factorize(mat.NewSymDense(3, sum[:]), true) {
		var vectors mat.Dense
		eigen.VectorsTo(&vectors)
		for k := range 3 {
			axes[2][k], axes[0][k] = vectors.At(k, 0), vectors.At(k, 1)
		}
	}
	if Dot(up, axes[2]) < 0 {
		for k := range up {
			axes[2][k] = -axes[2][k]
		}
	}
	axes[1] = Cross(axes[2], axes[0])

	// Rotate the first two until the second moment between them vanishes.
	var moments [3]float64
	along, across := places(p, axes[0]), places(p, axes[1])
	x, y := slices.Concat(along[0], along[1]), slices.Concat(across[0], across[1])
	if len(x) == 0 {
		return axes
	}
	mx, my := median(x), median(y)
	spread := 4 * (median(absolute(x, mx)) + median(absolute(y, my)))
	for i := range x {
		// Points far away must not rotate the picture.
		if a, b := x[i]-mx, y[i]-my; math.Hypot(a, b) <= spread {
			moments[0] += a * a
			moments[1] += a * b
			moments[2] += b * b
		}
	}
	sin, cos := math.Sincos(math.Atan2(2*moments[1], moments[0]-moments[2]) / 2)
	a, b := axes[0], axes[1]
	for k := range a {
		axes[0][k], axes[1][k] = cos*a[k]+sin*b[k], cos*b[k]-sin*a[k]
	}
	return axes
}

// places returns where points of p, not too many, are along an axis, and where
// the cameras are.
func places(p *ba.Problem, axis [3]float64) (at [2][]float64) {
	for i := range Sample(p.NumPoints()) {
		at[0] = append(at[0], Dot(axis, [3]float64(p.Points[3*i:])))
	}
	for i := range p.NumCameras() {
		centre, _ := p.Pose(i)
		at[1] = append(at[1], Dot(axis, centre))
	}
	return at
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

func absolute(x []float64, from float64) []float64 {
	d := make([]float64, len(x))
	for i, v := range x {
		d[i] = math.Abs(v - from)
	}
	return d
}

// boundsOf returns what to show along each axis, with some space around: the
// cameras, and the points but for a few, or more if they are far off the others.
func boundsOf(p *ba.Problem, axes *[3][3]float64) (b [3][2]float64) {
	for j, axis := range axes {
		low, high := math.Inf(1), math.Inf(-1)
		for _, x := range places(p, axis) {
			if n := len(x); n > 0 {
				slices.Sort(x)
				fence := 3 * (x[n-1-n/4] - x[n/4])
				low = min(low, max(x[n/50], x[n/4]-fence))
				high = max(high, min(x[n-1-n/50], x[n-1-n/4]+fence))
			}
		}
		space := 0.06 * (high - low)
		if !(space > 0) || math.IsInf(space, 0) {
			low, high, space = 0, 0, 1
		}
		b[j] = [2]float64{low - space, high + space}
	}
	return b
}
