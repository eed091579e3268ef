package bundle

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"revnum/revmodels/ba"
)

// frustum has the vertices of the pyramid of a camera, in its own axes: the centre, and
// the corners of the image in front of it.
var frustum = [5][3]float64{{}, {-0.8, -0.6, -1}, {0.8, -0.6, -1}, {0.8, 0.6, -1}, {-0.8, 0.6, -1}}

// frustumEdges are the edges of the pyramid, as pairs of its vertices.
var frustumEdges = [8][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {2, 3}, {3, 4}, {4, 1}}

// WritePLY writes the points and the cameras of p for viewers, as a PLY file of version
// 1.0, in text. Points are grey. Each camera has five red vertices, its centre and the
// corners of a picture in front of it, joined by edges. All pictures have the same
// size, a fiftieth of the scene, and do not show the cameras' angles of view.
func WritePLY(w io.Writer, p *ba.Problem) error {
	if err := p.Validate(); err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 1<<16)
	n := p.NumPoints()
	fmt.Fprintf(b, `ply
format ascii 1.0
comment %d points, then the pyramids of %d cameras
element vertex %d
property double x
property double y
property double z
property uchar red
property uchar green
property uchar blue
element edge %d
property int vertex1
property int vertex2
end_header
`, n, p.NumCameras(), n+len(frustum)*p.NumCameras(), len(frustumEdges)*p.NumCameras())

	var line []byte
	vertex := func(x [3]float64, colour string) {
		line = line[:0]
		for _, v := range x {
			line = append(strconv.AppendFloat(line, v, 'g', 9, 64), ' ')
		}
		_, _ = b.Write(append(line, colour...)) // Flush has the error
	}
	for i := range n {
		vertex([3]float64(p.Points[3*i:]), "200 200 200\n")
	}
	size := extent(p) / 50
	for i := range p.NumCameras() {
		centre, r := p.Pose(i)
		for _, v := range frustum {
			x := centre // + size·rᵀ·v
			for j := range x {
				x[j] += size * (r[j]*v[0] + r[3+j]*v[1] + r[6+j]*v[2])
			}
			vertex(x, "255 60 30\n")
		}
	}
	for i := range p.NumCameras() {
		first := n + len(frustum)*i
		for _, e := range frustumEdges {
			fmt.Fprintln(b, first+e[0], first+e[1])
		}
	}
	return b.Flush()
}

// extent returns the largest of the lengths along the three axes that contain nine in
// ten of the points and cameras, or 1 if that is zero.
func extent(p *ba.Problem) float64 {
	longest := 0.
	x := make([]float64, 0, p.NumPoints()+p.NumCameras())
	for j := range 3 {
		x = x[:0]
		for i := j; i < len(p.Points); i += 3 {
			x = append(x, p.Points[i])
		}
		for i := range p.NumCameras() {
			centre, _ := p.Pose(i)
			x = append(x, centre[j])
		}
		if len(x) > 0 {
			slices.Sort(x)
			longest = max(longest, x[len(x)-1-len(x)/20]-x[len(x)/20])
		}
	}
	if longest == 0 {
		return 1
	}
	return longest
}
