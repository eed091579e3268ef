package ba

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// With the gauge fixed, the covariance is the block of cameras of the inverse of
// JᵀJ.
func TestCameraCovariance(t *testing.T) {
	p, _ := generate(t, GenerateOptions{Cameras: 5, Points: 40, Observations: 170, Noise: 1})
	for name, o := range map[string]Options{
		"cameras":        {FixedCameras: []int{0, 3}},
		"points":         {FixedPoints: []int{1, 2, 3}},
		"one camera":     {FixedPoints: []int{1, 2, 3}, Intrinsics: make([]int, 5)},
		"two cameras":    {FixedPoints: []int{1, 2, 3}, Intrinsics: []int{1, 0, 0, 1, 1}, Loss: Huber(1)},
		"no intrinsics":  {FixedCameras: []int{2, 1}, FixedIntrinsics: true},
		"loss":           {FixedCameras: []int{2, 1}, Loss: Cauchy(1)},
		"all is fixed":   {FixedCameras: []int{0, 1, 2, 3, 4}},
		"held by camera": {FixedCameras: []int{2, 1}, Intrinsics: []int{0, 1, 2, 0, 0}},
	} {
		got, err := CameraCovariance(p, &o, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		j, _ := dense(t, p, &o)
		_, n := j.Dims()
		a := mat.NewSymDense(n, nil)
		a.SymOuterK(1, j.T())
		var factor mat.Cholesky
		var inverse mat.SymDense
		if !factor.Factorize(a) {
			t.Fatal("not positive definite")
		}
		if err := factor.InverseTo(&inverse); err != nil {
			t.Fatal(err)
		}
		x, err := newUnknowns(p, &o)
		if err != nil {
			t.Fatal(err)
		}
		want := mat.NewSymDense(len(p.Cameras), nil)
		if x.len() > 0 {
			// In the order of the nodes.
			order := make([]float64, x.len())
			for i := range order {
				order[i] = float64(i)
			}
			order = interleave(x, order)
			c := mat.NewSymDense(x.len(), nil)
			for i, k := range order {
				for j, l := range order[:i+1] {
					c.SetSym(int(k), int(l), inverse.At(i, j))
				}
			}
			x.expandMatrix(want, c)
		}
		for i := range len(p.Cameras) {
			for j := range i + 1 {
				scale := math.Sqrt(want.At(i, i) * want.At(j, j))
				if !(math.Abs(got.At(i, j)-want.At(i, j)) <= 1e-6*scale) {
					t.Fatalf("%s: covariance (%d, %d) is %v, want %v", name, i, j, got.At(i, j), want.At(i, j))
				}
			}
		}
	}
}

// Functions that do not depend on the gauge have the same covariance with two points
// fixed, which leaves a rotation, as with nothing fixed.
func TestFreeGauge(t *testing.T) {
	p, _ := generate(t, GenerateOptions{Cameras: 5, Points: 40, Observations: 170, Noise: 1})
	// Points that say nothing about cameras.
	p.Points = append(p.Points, p.Points[:6]...)
	p.Camera, p.Point, p.Features = append(p.Camera, 0), append(p.Point, 40), append(p.Features, 1, 2)
	free, err := CameraCovariance(p, nil, 7)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := CameraCovariance(p, &Options{FixedPoints: []int{3, 9}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for c := range p.NumCameras() {
		for k := focal; k < cameraLen; k++ {
			for l := focal; l < cameraLen; l++ {
				i, j := cameraLen*c+k, cameraLen*((c+1)%5)+l
				scale := math.Sqrt(fixed.At(i, i) * fixed.At(j, j))
				if !(math.Abs(free.At(i, j)-fixed.At(i, j)) <= 1e-4*scale) {
					t.Errorf("(%d, %d): %v, with points fixed %v", i, j, free.At(i, j), fixed.At(i, j))
				}
			}
		}
	}
	// The gauge that was left out varies less than any that is fixed.
	if a, b := free.At(3, 3), fixed.At(3, 3); !(a < b) {
		t.Errorf("variance %v of a translation in the free gauge, %v in another", a, b)
	}
	for _, v := range []struct {
		free int
		o    Options
	}{
		{0, Options{}}, {6, Options{}}, {8, Options{}}, {1, Options{FixedPoints: []int{1, 2, 3}}}, {0, Options{FixedCameras: []int{1}}},
	} {
		var c mat.Condition
		if _, err := CameraCovariance(p, &v.o, v.free); !errors.As(err, &c) {
			t.Errorf("%+v, %d free directions: %v", v.o, v.free, err)
		}
	}
}

func TestCameraCovarianceErrors(t *testing.T) {
	p, _ := generate(t, GenerateOptions{Cameras: 3, Points: 20, Observations: 50, Noise: 1})
	for _, free := range []int{-1, 28} {
		if _, err := CameraCovariance(p, nil, free); err == nil {
			t.Errorf("no error for %d free directions", free)
		}
	}
	if _, err := CameraCovariance(p, &Options{Workers: -1}, 7); err == nil {
		t.Error("no error for an option")
	}
	if _, err := CameraCovariance(&Problem{}, nil, 0); err != nil {
		t.Error(err)
	}
	unseen := &Problem{Cameras: make([]float64, cameraLen), Points: make([]float64, pointLen)}
	if _, err := CameraCovariance(unseen, nil, 0); !errors.Is(err, mat.Condition(math.Inf(1))) {
		t.Errorf("no observations: %v", err)
	}
	p.Points[0] = math.NaN()
	if _, err := CameraCovariance(p, nil, 7); err == nil {
		t.Error("no error for NaN")
	}
	copy(p.Cameras[cameraLen*p.Camera[0]:], make([]float64, 6))
	copy(p.Points[pointLen*p.Point[0]:], []float64{1, 1, 0})
	if _, err := CameraCovariance(p, nil, 7); !errors.Is(err, ErrNotFinite) {
		t.Errorf("depth 0: %v", err)
	}
}
