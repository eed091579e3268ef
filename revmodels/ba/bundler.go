package ba

import (
	"fmt"
	"io"
	"math"

	"revnum/internal/memory"
	"revnum/internal/scan"
)

// readBundler reads a file of Bundler. Its manual describes the form: a comment with
// the version; the numbers of cameras and points; for each camera f, k₁, k₂, the
// rotation by rows and the translation; for each point its position, its colour, the
// number of its views, and camera, key, x and y of each view.
func readBundler(r io.Reader, name string) (*Problem, error) {
	s := scan.New(r, name)
	for _, want := range []string{"#", "Bundle", "file", "v0.3"} {
		if w, err := s.Word("# Bundle file v0.3"); err != nil {
			return nil, err
		} else if string(w) != want {
			return nil, s.Expected("# Bundle file v0.3", w, nil)
		}
	}
	cameras, err := s.Int("the number of cameras", 0, maxCount)
	if err != nil {
		return nil, err
	}
	points, err := s.Int("the number of points", 0, maxCount)
	if err != nil {
		return nil, err
	}

	p := new(Problem)
	var at [15]float64
	for i := range cameras {
		_, err := appendFloats(at[:0], s, len(at), func(j int) string {
			return fmt.Sprintf("number %d of 15 of camera %d of %d", j+1, i+1, cameras)
		})
		if err != nil {
			return nil, err
		}
		if p.Cameras, err = memory.Grow(p.Cameras, cameraLen, name); err != nil {
			return nil, err
		}
		if at[0] == 0 {
			p.Cameras = append(p.Cameras, make([]float64, cameraLen)...)
			continue
		}
		r := [9]float64(at[3:])
		if e := notOrthonormal(&r); !(e <= 1e-3) {
			return nil, s.Errorf("camera %d of %d: expected a rotation matrix R, found one with an entry of R·Rᵀ - I, or det R - 1, of %.3g", i+1, cameras, e)
		}
		w := angleAxis(&r)
		p.Cameras = append(p.Cameras, w[0], w[1], w[2], at[12], at[13], at[14], at[0], at[1], at[2])
	}
	camera := indexRange("camera", cameras)
	for i := range points {
		x, err := appendFloats(at[:0], s, 6, func(j int) string {
			return fmt.Sprintf("number %d of 6 of point %d of %d", j+1, i+1, points)
		})
		if err != nil {
			return nil, err
		}
		if p.Points, err = memory.Grow(p.Points, pointLen, name); err != nil {
			return nil, err
		}
		p.Points = append(p.Points, x[:pointLen]...)
		views, err := s.Int("the number of views of a point", 0, maxCount)
		if err != nil {
			return nil, err
		}
		for j := range views {
			c, err := s.Int(camera, 0, cameras-1)
			if err != nil {
				return nil, err
			}
			if p.Cameras[cameraLen*c+6] == 0 {
				return nil, s.Errorf("expected a camera with a focal length, found %d", c)
			}
			if _, err := s.Int("the key of a view, 0 or more", 0, math.MaxInt); err != nil {
				return nil, err
			}
			err = p.observe(c, i, s, func(k int) string {
				return fmt.Sprintf("coordinate %d of 2 of view %d of %d of point %d", k+1, j+1, views, i+1)
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return p, s.End()
}

// notOrthonormal returns how far r is from a rotation: the largest entry of
// r·rᵀ - I, or the determinant less one.
func notOrthonormal(r *[9]float64) float64 {
	e := math.Abs(float64(r[0]*(float64(r[4]*r[8])-float64(r[5]*r[7]))) - float64(r[1]*(float64(r[3]*r[8])-float64(r[5]*r[6]))) + float64(r[2]*(float64(r[3]*r[7])-float64(r[4]*r[6]))) - 1)
	for i := range 3 {
		for j := range i + 1 {
			v := float64(r[3*i]*r[3*j]) + float64(r[3*i+1]*r[3*j+1]) + float64(r[3*i+2]*r[3*j+2])
			if i == j {
				v--
			}
			e = max(e, math.Abs(v))
		}
	}
	return e
}
