package ba

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// residuals returns the features that the camera model of the package comment
// gives less those of p, one observation after the other, and the depths -P₃.
func residuals(p *Problem) (r, depth []float64) {
	for i, c := range p.Camera {
		cam := p.Cameras[cameraLen*c:]
		m := rotationMatrix([3]float64(cam))
		x := apply(&m, [3]float64(p.Points[pointLen*p.Point[i]:]))
		for j := range x {
			x[j] += cam[3+j]
		}
		u, v := -x[0]/x[2], -x[1]/x[2]
		r2 := u*u + v*v
		s := cam[6] * (1 + cam[7]*r2 + cam[8]*r2*r2)
		r = append(r, s*u-p.Features[2*i], s*v-p.Features[2*i+1])
		depth = append(depth, -x[2])
	}
	return r, depth
}

func rms(v []float64) float64 {
	sum := 0.
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum / float64(len(v)))
}

func TestGenerate(t *testing.T) {
	for _, o := range []GenerateOptions{
		{Layout: Ring, Cameras: 2, Points: 1, Observations: 2},
		{Layout: Ring, Cameras: 7, Points: 50, Observations: 350, Start: 0.01},
		{Layout: Ring, Cameras: 40, Points: 1000, Observations: 5003, Noise: 0.5, Start: 0.01},
		{Layout: City, Cameras: 2, Points: 10, Observations: 20, Noise: 0.5},
		{Layout: City, Cameras: 60, Points: 1000, Observations: 5003, Noise: 0.5, Start: 0.01},
		{Layout: City, Cameras: 300, Points: 2000, Observations: 9000},
	} {
		start, truth, err := Generate(&o)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		for name, p := range map[string]*Problem{"start": start, "truth": truth} {
			if err := p.Validate(); err != nil {
				t.Errorf("%+v: %s: %v", o, name, err)
			}
			if p.NumCameras() != o.Cameras || p.NumPoints() != o.Points || p.NumObservations() != o.Observations {
				t.Errorf("%+v: %s: %d cameras, %d points, %d observations", o, name, p.NumCameras(), p.NumPoints(), p.NumObservations())
			}
		}
		times := make([]int, o.Points)
		for i, q := range truth.Point {
			times[q]++
			if i > 0 && (q < truth.Point[i-1] || q == truth.Point[i-1] && truth.Camera[i] <= truth.Camera[i-1]) {
				t.Fatalf("%+v: observations %d and %d are not in order, or one twice", o, i-1, i)
			}
		}
		for q, n := range times {
			if n < 2 {
				t.Errorf("%+v: point %d is seen %d times", o, q, n)
			}
		}

		exact, depth := residuals(truth)
		for i, d := range depth {
			if !(d > 0.5) {
				t.Errorf("%+v: observation %d has depth %v", o, i, d)
			}
		}
		if e := rms(exact); !(e <= 1e-9) {
			t.Errorf("%+v: the truth is %v pixels off", o, e)
		}
		noisy := truth.Clone()
		noisy.Features = start.Features
		r, _ := residuals(noisy)
		if e := rms(r); o.Observations >= 1000 && !(math.Abs(e-o.Noise) <= 0.05*o.Noise+1e-9) {
			t.Errorf("%+v: noise of %v pixels", o, e)
		}
		r, _ = residuals(start)
		if e := rms(r); o.Start == 0 && !(e <= 2*o.Noise+1e-9) || o.Start > 0 && !(e > 5 && e < 100) {
			t.Errorf("%+v: starts %v pixels off", o, e)
		}
	}
}

func TestGenerateOutliers(t *testing.T) {
	o := GenerateOptions{Cameras: 20, Points: 500, Observations: 4000, Outliers: 0.1}
	start, truth, err := Generate(&o)
	if err != nil {
		t.Fatal(err)
	}
	far := 0
	for i := range start.Features {
		if start.Features[i] != truth.Features[i] {
			far++
		}
		if limit := float64(imageWidth) / 2; math.Abs(start.Features[i]) > limit {
			t.Errorf("a feature at %v, outside the image", start.Features[i])
		}
	}
	if far < 600 || far > 1000 { // of 8000; the expectation is 800, the standard deviation 38
		t.Errorf("%d coordinates are of outliers, want about 800", far)
	}
}

func TestGenerateReproducible(t *testing.T) {
	for _, layout := range []Layout{Ring, City} {
		draw := func(src rand.Source) *Problem {
			start, _, err := Generate(&GenerateOptions{Layout: layout, Cameras: 30, Points: 200, Observations: 700, Noise: 1, Start: 0.01, Source: src})
			if err != nil {
				t.Fatal(err)
			}
			return start
		}
		if p := draw(nil); !reflect.DeepEqual(p, draw(rand.NewPCG(1, 0))) || reflect.DeepEqual(p, draw(rand.NewPCG(2, 0))) {
			t.Errorf("layout %d: a problem does not follow from its seed", layout)
		}
	}
}

// TestGenerateLocal checks that cameras share points with few others only.
func TestGenerateLocal(t *testing.T) {
	for layout, most := range map[Layout]float64{Ring: 80, City: 80} {
		_, truth, err := Generate(&GenerateOptions{Layout: layout, Cameras: 400, Points: 4000, Observations: 20000})
		if err != nil {
			t.Fatal(err)
		}
		pairs := map[[2]int]bool{}
		for i := range truth.Camera {
			for j := i - 1; j >= 0 && truth.Point[j] == truth.Point[i]; j-- {
				pairs[[2]int{truth.Camera[j], truth.Camera[i]}] = true
			}
		}
		if n := 2 * float64(len(pairs)) / 400; n < 8 || n > most {
			t.Errorf("layout %d: a camera shares points with %v others, want 8 to %v", layout, n, most)
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	ok := GenerateOptions{Cameras: 10, Points: 100, Observations: 300}
	for want, spoil := range map[string]func(o *GenerateOptions){
		"layout 2, expected Ring or City":                                         func(o *GenerateOptions) { o.Layout = 2 },
		"1 cameras, expected 2 or more":                                           func(o *GenerateOptions) { o.Cameras = 1 },
		"0 points, expected 1 or more":                                            func(o *GenerateOptions) { o.Points = 0 },
		"199 observations of 100 points by 10 cameras":                            func(o *GenerateOptions) { o.Observations = 199 },
		"1001 observations of 100 points by 10 cameras, expected 2 to 10 a point": func(o *GenerateOptions) { o.Observations = 1001 },
		"noise of -1 pixels":                                                      func(o *GenerateOptions) { o.Noise = -1 },
		"noise of NaN pixels":                                                     func(o *GenerateOptions) { o.Noise = math.NaN() },
		"a fraction of 1.5 outliers":                                              func(o *GenerateOptions) { o.Outliers = 1.5 },
		"errors of NaN to start from":                                             func(o *GenerateOptions) { o.Start = math.NaN() },
		"times, expected 1000: ask for fewer observations":                        func(o *GenerateOptions) { o.Layout, o.Observations = City, 1000 },
	} {
		o := ok
		spoil(&o)
		if _, _, err := Generate(&o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestCityDrive checks that the way through the city is in one piece, goes
// where it heads, and passes each street.
func TestCityDrive(t *testing.T) {
	for _, blocks := range []int{1, 2, 3} {
		way := cityWay(blocks)
		const step = 0.25
		passed := map[[2]float64]bool{}
		before, direction := drive(way, 0)
		length := step
		for ; ; length += step {
			at, next := drive(way, length)
			if at == before {
				break
			}
			sin, cos := math.Sincos(direction)
			if math.Hypot(at[0]-before[0]-step*cos, at[1]-before[1]-step*sin) > 1e-9 {
				t.Fatalf("%d blocks: from %v to %v at %v, heading %v", blocks, before, at, length, direction)
			}
			before, direction = at, next
			passed[at] = true
		}
		if want := 2 * blockSide * float64(blocks*(blocks+2)); length-step != want {
			t.Errorf("%d blocks: a way of %v, want %v", blocks, length-step, want)
		}
		// The middle of each street of each block.
		for i := range blocks + 1 {
			for j := range blocks {
				a, b := blockSide*float64(i), blockSide*(float64(j)+0.5)
				if !passed[[2]float64{a, b}] || !passed[[2]float64{b, a}] {
					t.Errorf("%d blocks: passes %v or %v never", blocks, [2]float64{a, b}, [2]float64{b, a})
				}
			}
		}
	}
}
