package ba

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// twoViews returns a problem of two cameras and three points, one of them seen
// once.
func twoViews() *Problem {
	return &Problem{
		Cameras: []float64{
			0, 0, 0, 0, 0, -5, 500, -0.1, 0.01,
			0.1, -0.2, 0.05, 0.5, 0, -5, 510, 0, 0,
		},
		Points:   []float64{0, 0, 0, 1, 0.5, -0.25, -1, 0.125, 0.3},
		Camera:   []int{0, 1, 0, 1, 1},
		Point:    []int{0, 0, 1, 1, 2},
		Features: []float64{0, 0, 12.5, -3, 99, 51, 80, 33.75, -120, 7},
	}
}

func TestValidate(t *testing.T) {
	if err := twoViews().Validate(); err != nil {
		t.Errorf("a valid problem: %v", err)
	}
	if err := new(Problem).Validate(); err != nil {
		t.Errorf("an empty problem: %v", err)
	}
	for want, spoil := range map[string]func(p *Problem){
		"17 camera parameters, expected a multiple of 9":       func(p *Problem) { p.Cameras = p.Cameras[:17] },
		"8 coordinates of points, expected a multiple of 3":    func(p *Problem) { p.Points = p.Points[:8] },
		"5 indices of cameras, 4 of points and 10 coordinates": func(p *Problem) { p.Point = p.Point[:4] },
		"5 indices of cameras, 5 of points and 9 coordinates":  func(p *Problem) { p.Features = p.Features[:9] },
		"observation 2 is of camera 2, expected 0 to 1":        func(p *Problem) { p.Camera[2] = 2 },
		"observation 4 is of camera -1":                        func(p *Problem) { p.Camera[4] = -1 },
		"observation 3 is of point 3, expected 0 to 2":         func(p *Problem) { p.Point[3] = 3 },
		"observation 0 is of point -1, expected 0 to 2":        func(p *Problem) { p.Point[0] = -1 },
		"number 6 of camera 1 is NaN":                          func(p *Problem) { p.Cameras[15] = math.NaN() },
		"number 2 of point 1 is +Inf":                          func(p *Problem) { p.Points[5] = math.Inf(1) },
		"number 1 of observation 4 is -Inf":                    func(p *Problem) { p.Features[9] = math.Inf(-1) },
	} {
		p := twoViews()
		spoil(p)
		if err := p.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestClone(t *testing.T) {
	p := twoViews()
	q := p.Clone()
	q.Cameras[0], q.Points[0], q.Camera[0], q.Point[0], q.Features[0] = 7, 7, 1, 1, 7
	if !reflect.DeepEqual(p, twoViews()) {
		t.Error("a copy shares storage")
	}
	if p.NumCameras() != 2 || p.NumPoints() != 3 || p.NumObservations() != 5 {
		t.Errorf("%d cameras, %d points, %d observations, want 2, 3, 5", p.NumCameras(), p.NumPoints(), p.NumObservations())
	}
}
