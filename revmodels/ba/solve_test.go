package ba

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
)

func generate(t testing.TB, o GenerateOptions) (start, truth *Problem) {
	t.Helper()
	start, truth, err := Generate(&o)
	if err != nil {
		t.Fatal(err)
	}
	return start, truth
}

// costOf returns the cost without a loss, computed on its own.
func costOf(p *Problem) float64 {
	var sum float64
	for i, c := range p.Camera {
		v := p.Cameras[cameraLen*c:]
		r := rotationMatrix([3]float64(v))
		y := apply(&r, [3]float64(p.Points[pointLen*p.Point[i]:]))
		z := -(y[2] + v[5])
		x, y1 := (y[0]+v[3])/z, (y[1]+v[4])/z
		s := x*x + y1*y1
		f := v[6] * (1 + v[7]*s + v[8]*s*s)
		dx, dy := f*x-p.Features[2*i], f*y1-p.Features[2*i+1]
		sum += (dx*dx + dy*dy) / 2
	}
	return sum
}

// solve calls Solve and checks what always holds.
func solve(t *testing.T, p *Problem, o *Options) *Report {
	t.Helper()
	start := p.Clone()
	r, err := Solve(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	var loss Loss
	if o != nil {
		loss = o.Loss
	}
	checkReport(t, start, p, loss, r)
	if loss == nil {
		for _, v := range []struct {
			p    *Problem
			cost float64
		}{{start, r.Initial}, {p, r.Final}} {
			if want := costOf(v.p); !(math.Abs(v.cost-want) <= 1e-9*want+1e-18) {
				t.Errorf("cost %v, want %v", v.cost, want)
			}
		}
	}
	return r
}

func checkReport(t *testing.T, start, p *Problem, loss Loss, r *Report) {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Error(err)
	}
	cost := r.Initial
	for i, it := range r.Iterations {
		if it.Number != i || it.Cost > cost || it.Taken != (it.Cost < cost) && i > 0 {
			t.Errorf("iteration %d: %+v after cost %v", i, it, cost)
		}
		cost = it.Cost
	}
	o := Options{Loss: loss}
	s, err := newSolver(p, &o, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.normal.cost(s.best); got != r.Final {
		t.Errorf("cost %v, reported as %v", got, r.Final)
	}
	if cost != r.Final || r.Method == Automatic {
		t.Errorf("ends at cost %v: %+v", cost, r)
	}
	if !slices.Equal(start.Features, p.Features) || !slices.Equal(start.Camera, p.Camera) || !slices.Equal(start.Point, p.Point) {
		t.Error("observations changed")
	}
}

// The costs of the iterations are those that Ceres Solver 2.1 reports with
// DENSE_SCHUR and its other defaults.
func TestIterationsOfCeres(t *testing.T) {
	for name, want := range map[string][]float64{
		"bal-dubrovnik-3-7-pre.txt": {
			2.764220e+03, 5.369846e+00, 9.057801e-02, 9.057801e-02, 9.057801e-02, 7.510005e-02, 7.510005e-02,
			6.863734e-02, 6.127288e-02, 5.386039e-02, 4.707357e-02, 4.098679e-02, 3.583473e-02,
		},
		"bal-balbianello-5-544.txt": {
			1.269283e+02, 1.253025e+02, 1.252153e+02, 1.251979e+02, 1.251834e+02, 1.251755e+02, 1.251712e+02, 1.251699e+02, 1.251696e+02,
		},
	} {
		p, err := ReadFile(shared(t, name))
		if err != nil {
			t.Fatal(err)
		}
		r := solve(t, p, &Options{MaxIter: len(want) - 1})
		for i, w := range want {
			if got := r.Iterations[i].Cost; !(math.Abs(got-w) <= 1e-6*w) {
				t.Errorf("%s: cost %v after iteration %d, want %v", name, got, i, w)
			}
		}
	}
}

// A reconstruction is found again, with the default options, from parameters that
// are off by 1 %, and points that are off by about a pixel more.
func TestBalbianello(t *testing.T) {
	p, err := ReadFile(shared(t, "bal-balbianello-5-544.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pixel := -depth(p.Cameras, p.Points) / p.Cameras[focal]
	for _, method := range []Method{Automatic, ConjugateGradients} {
		for seed := range uint64(4) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			q := p.Clone()
			for _, x := range [][]float64{q.Cameras, q.Points} {
				for i := range x {
					x[i] *= 1 + 0.01*rnd.NormFloat64()
				}
			}
			for i := range q.Points {
				q.Points[i] += pixel * rnd.NormFloat64()
			}
			r := solve(t, q, &Options{Method: method})
			// The file has 126.93, and a minimum is near.
			if !(r.Final <= 125.17) || !r.Status.Converged() {
				t.Errorf("%v: cost %v from %v in %d iterations, %v", method, r.Final, r.Initial, len(r.Iterations)-1, r.Status)
			}
		}
	}
}

// MaxLinearIter bounds the iterations of each step.
func TestMaxLinearIter(t *testing.T) {
	most := 0
	for _, it := range solve(t, awkward(t), &Options{Method: ConjugateGradients, MaxLinearIter: 3}).Iterations {
		most = max(most, it.Linear)
	}
	if most != 3 {
		t.Errorf("%d iterations of conjugate gradients in a step, want 3", most)
	}
}

// Whatever is free or fixed, both methods come to the same minimum, with the same
// bits for any number of workers.
func TestMethodsAndWorkers(t *testing.T) {
	for name, o := range choices {
		costs := map[Method]float64{}
		for _, method := range []Method{Cholesky, ConjugateGradients} {
			var first *Problem
			for _, workers := range []int{1, 2, 7} {
				p := awkward(t)
				o.Method, o.Workers, o.MaxIter, o.CostTolerance, o.Forcing = method, workers, 1000, 1e-11, 1e-3
				r := solve(t, p, &o)
				if !r.Status.Converged() || r.Method != method {
					t.Errorf("%s, %v: %v, by %v", name, method, r.Status, r.Method)
				}
				costs[method] = r.Final
				if first == nil {
					first = p
				}
				if !slices.Equal(p.Cameras, first.Cameras) || !slices.Equal(p.Points, first.Points) {
					t.Errorf("%s, %v: other bits with %d workers", name, method, workers)
				}
				checkFixed(t, awkward(t), p, &o)
			}
		}
		if a, b := costs[Cholesky], costs[ConjugateGradients]; !(math.Abs(a-b) <= 1e-6*a) {
			t.Errorf("%s: cost %v by Cholesky, %v by conjugate gradients", name, a, b)
		}
	}
}

// The same bits where points and the factor are in several blocks.
func TestWorkers(t *testing.T) {
	start, _ := generate(t, GenerateOptions{Cameras: 40, Points: 2000, Observations: 9000, Noise: 0.5, Start: 0.005})
	for _, method := range []Method{Cholesky, ConjugateGradients} {
		var first *Problem
		for _, workers := range []int{1, 2, 7} {
			p := start.Clone()
			solve(t, p, &Options{Method: method, Workers: workers, MaxIter: 3, Loss: Huber(2)})
			if first == nil {
				first = p
			}
			if !slices.Equal(p.Cameras, first.Cameras) || !slices.Equal(p.Points, first.Points) {
				t.Errorf("%v: other bits with %d workers", method, workers)
			}
		}
	}
}

func checkFixed(t *testing.T, start, p *Problem, o *Options) {
	t.Helper()
	same := func(a, b []float64, from, to int) bool { return slices.Equal(a[from:to], b[from:to]) }
	for _, c := range o.FixedCameras {
		if !same(start.Cameras, p.Cameras, cameraLen*c, cameraLen*(c+1)) {
			t.Errorf("camera %d moved", c)
		}
	}
	for _, q := range o.FixedPoints {
		if !same(start.Points, p.Points, pointLen*q, pointLen*(q+1)) {
			t.Errorf("point %d moved", q)
		}
	}
	for c, g := range o.Intrinsics {
		for d, h := range o.Intrinsics[:c] {
			if g == h && !slices.Equal(p.Cameras[cameraLen*c+6:cameraLen*(c+1)], p.Cameras[cameraLen*d+6:cameraLen*(d+1)]) {
				t.Errorf("cameras %d and %d do not share intrinsics any longer", c, d)
			}
		}
	}
	for c := range p.NumCameras() {
		if o.FixedIntrinsics && !same(start.Cameras, p.Cameras, cameraLen*c+6, cameraLen*(c+1)) {
			t.Errorf("intrinsics of camera %d moved", c)
		}
	}
}

// Robust losses find the truth among outliers, squares do not. The truth is
// known up to a similarity, so what is compared are distances of points, in
// units of their median.
func TestLosses(t *testing.T) {
	start, truth := generate(t, GenerateOptions{Cameras: 12, Points: 150, Observations: 1200, Noise: 0.3, Outliers: 0.1, Start: 0.003})
	shape := func(p *Problem) []float64 {
		var d []float64
		for q := range p.NumPoints() - 1 {
			d = append(d, floats.Distance(p.Points[pointLen*q:pointLen*(q+1)], p.Points[pointLen*(q+1):pointLen*(q+2)], 2))
		}
		sorted := slices.Sorted(slices.Values(d))
		floats.Scale(1/sorted[len(d)/2], d)
		return d
	}
	for _, v := range []struct {
		loss        Loss
		least, most float64
	}{{nil, 0.05, 1}, {Huber(1), 0, 0.03}, {Cauchy(1), 0, 0.003}, {Tukey(8), 0, 0.003}} {
		p := start.Clone()
		solve(t, p, &Options{Loss: v.loss, MaxIter: 200})
		d := shape(p)
		floats.Sub(d, shape(truth))
		for i, v := range d {
			d[i] = math.Abs(v)
		}
		slices.Sort(d)
		if median := d[len(d)/2]; median < v.least || median > v.most {
			t.Errorf("%T: distances are off by %v", v.loss, median)
		}
	}
}

func TestLossDerivatives(t *testing.T) {
	for _, a := range []float64{0.5, 1, 3} {
		for _, l := range []Loss{Huber(a), Cauchy(a), Tukey(a)} {
			if rho, slope := l.Rho(0); rho != 0 || slope != 1 {
				t.Errorf("%T: ρ(0) = %v, ρ'(0) = %v", l, rho, slope)
			}
			last := 1.
			for _, s := range []float64{1e-9, 0.01, 0.2, 0.249, 0.251, 0.999, 1.001, 5, 8.99, 9.01, 100, 1e9} {
				_, slope := l.Rho(s)
				h := 1e-6 * s
				up, _ := l.Rho(s + h)
				down, _ := l.Rho(s - h)
				if d := (up - down) / (2 * h); math.Abs(d-slope) > 1e-5*slope+1e-9 {
					t.Errorf("%T, scale %v: ρ'(%v) = %v, want %v", l, a, s, slope, d)
				}
				if slope > last || slope < 0 {
					t.Errorf("%T: ρ' grows or is negative at %v", l, s)
				}
				last = slope
			}
		}
	}
	// Values from the definitions.
	for _, v := range []struct {
		loss    Loss
		s, want float64
	}{
		{Huber(2), 3, 3}, {Huber(2), 25, 16}, {Cauchy(2), 4, 4 * math.Ln2}, {Tukey(3), 4.5, 3 * 0.875}, {Tukey(3), 10, 3},
	} {
		if rho, _ := v.loss.Rho(v.s); math.Abs(rho-v.want) > 1e-14*v.want {
			t.Errorf("%T: ρ(%v) = %v, want %v", v.loss, v.s, rho, v.want)
		}
	}
}

// The gradient of the report is that of the cost with the loss.
func TestGradientWithLoss(t *testing.T) {
	for _, loss := range []Loss{nil, Huber(1), Cauchy(1), Tukey(3)} {
		p := awkward(t)
		o := Options{Loss: loss}
		s, err := newSolver(p, &o, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.linearise()
		for k := range 2 * cameraLen {
			const h = 1e-6
			x := s.best.Cameras[k]
			s.best.Cameras[k] = x + h
			up := s.normal.cost(s.best)
			s.best.Cameras[k] = x - h
			down := s.normal.cost(s.best)
			s.best.Cameras[k] = x
			if d := (up - down) / (2 * h); !(math.Abs(s.gradient[k]-d) <= 1e-5*math.Abs(d)+1e-3) {
				t.Errorf("%T: derivative %d is %v, want %v", loss, k, s.gradient[k], d)
			}
		}
	}
}

func TestFocalBounds(t *testing.T) {
	start, _ := generate(t, GenerateOptions{Cameras: 6, Points: 80, Observations: 400, Noise: 0.5})
	free := start.Clone()
	best := solve(t, free, &Options{}).Final
	f := start.Cameras[focal]
	for _, shared := range [][]int{nil, make([]int, 6)} {
		p := start.Clone()
		for c := range 6 {
			p.Cameras[cameraLen*c+focal] = 0.95 * f
		}
		o := Options{MinFocal: 0.9 * f, MaxFocal: 0.97 * f, Intrinsics: shared, MaxIter: 300, CostTolerance: 1e-10}
		r := solve(t, p, &o)
		at := 0
		for c := range 6 {
			v := p.Cameras[cameraLen*c+focal]
			if v < o.MinFocal || v > o.MaxFocal {
				t.Errorf("focal length %v is out of bounds", v)
			}
			if v == o.MaxFocal {
				at++
			}
		}
		// Distortion and distance make up for most of the focal length.
		if at == 0 || !(r.Final < 2*best) || !r.Status.Converged() {
			t.Errorf("%d cameras at the bound, cost %v, without bounds %v, %v", at, r.Final, best, r.Status)
		}
		// At a minimum within bounds, the gradient vanishes except where it points out
		// of them.
		if g := r.Iterations[len(r.Iterations)-1].Gradient; !(g < 1) {
			t.Errorf("gradient %v", g)
		}
	}
}

func TestStatus(t *testing.T) {
	start, truth := generate(t, GenerateOptions{Cameras: 5, Points: 30, Observations: 120, Noise: 0.5, Start: 0.01})
	for want, o := range map[Status]Options{
		CostConvergence: {},
		StepConvergence: {CostTolerance: -1, GradientTolerance: -1, StepTolerance: 1e-4},
		IterationLimit:  {MaxIter: 2},
		TimeLimit:       {MaxTime: 1},
	} {
		if r := solve(t, start.Clone(), &o); r.Status != want {
			t.Errorf("%v, want %v", r.Status, want)
		}
	}
	exact := truth.Clone()
	if r := solve(t, exact, &Options{GradientTolerance: 1e-3}); r.Status != GradientConvergence || len(r.Iterations) != 1 {
		t.Errorf("at the truth: %v", r.Status)
	}
	// Nothing to look for is no error.
	for name, p := range map[string]*Problem{"empty": {}, "no observations": {Cameras: start.Cameras, Points: start.Points}} {
		if r := solve(t, p.Clone(), nil); r.Status != GradientConvergence || r.Final != 0 {
			t.Errorf("%s: %v", name, r.Status)
		}
	}
	// All tolerances off: the cost goes down to where no step lowers it.
	r := solve(t, start.Clone(), &Options{CostTolerance: -1, GradientTolerance: -1, StepTolerance: -1, MaxIter: 1000})
	if r.Status != RadiusLimit {
		t.Errorf("without tolerances: %v after %d iterations", r.Status, len(r.Iterations)-1)
	}
	for m, want := range map[Method]string{Automatic: "automatic", ConjugateGradients: "conjugate gradients", 3: "Method(3)", -1: "Method(-1)"} {
		if m.String() != want {
			t.Errorf("method %d is %v, want %v", int(m), m, want)
		}
	}
	if s := Status(-1).String(); s != "Status(-1)" {
		t.Error(s)
	}
	for s := range Cancelled + 1 {
		if strings.HasPrefix(s.String(), "Status") {
			t.Errorf("%v has no name", s)
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	start, _ := generate(t, GenerateOptions{Cameras: 5, Points: 30, Observations: 120, Noise: 0.5, Start: 0.01})
	var seen []Iteration
	r := solve(t, start.Clone(), &Options{Progress: func(it Iteration) { seen = append(seen, it) }})
	if !slices.Equal(seen, r.Iterations) {
		t.Error("progress and report differ")
	}

	ctx, cancel := context.WithCancel(t.Context())
	p := start.Clone()
	r, err := Solve(ctx, p, &Options{Progress: func(it Iteration) {
		if it.Number == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || r.Status != Cancelled || len(r.Iterations) != 3 {
		t.Fatalf("%v, %+v", err, r)
	}
	checkReport(t, start, p, nil, r)
	if !(r.Final < r.Initial) {
		t.Error("what was found is lost")
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Nanosecond)
	defer stop()
	<-ctx.Done()
	if r, err := Solve(ctx, p, nil); !errors.Is(err, context.DeadlineExceeded) || len(r.Iterations) != 1 {
		t.Errorf("%v, %+v", err, r)
	}
}

// Geometry that the camera model cannot see is an error that names the observation, or is
// handled.
func TestBadGeometry(t *testing.T) {
	good, _ := generate(t, GenerateOptions{Cameras: 4, Points: 20, Observations: 60, Noise: 0.5, Start: 0.001})
	centre := func(p *Problem, c int) [3]float64 {
		v := p.Cameras[cameraLen*c:]
		r := rotationMatrix([3]float64(v))
		return applyTransposed(&r, [3]float64{-v[3], -v[4], -v[5]})
	}

	p := good.Clone()
	copy(p.Cameras[cameraLen*p.Camera[7]:], make([]float64, 6))
	copy(p.Points[pointLen*p.Point[7]:], []float64{1, 2, 0})
	q := p.Clone()
	_, err := Solve(t.Context(), p, nil)
	if !errors.Is(err, ErrNotFinite) || !strings.Contains(err.Error(), "observation 7,") {
		t.Errorf("depth 0: %v", err)
	}
	if !slices.Equal(p.Cameras, q.Cameras) || !slices.Equal(p.Points, q.Points) {
		t.Error("the problem changed on an error")
	}

	p = good.Clone()
	p.Points[5] = math.NaN()
	if _, err := Solve(t.Context(), p, nil); err == nil || !strings.Contains(err.Error(), "point 1 ") {
		t.Errorf("NaN: %v", err)
	}
	p = good.Clone()
	p.Cameras[focal] = 1e200
	if _, err := Solve(t.Context(), p, nil); !errors.Is(err, ErrNotFinite) {
		t.Errorf("overflow: %v", err)
	}

	// A point behind the cameras is seen as in a mirror. It is counted, and may
	// stay where it is.
	p = good.Clone()
	c := centre(p, p.Camera[0])
	for k := range c {
		x := &p.Points[pointLen*p.Point[0]+k]
		*x = 2*c[k] - *x
	}
	if n := behind(p); n == 0 {
		t.Fatal("not behind")
	}
	r := solve(t, p, nil)
	if r.Behind != behind(p) {
		t.Errorf("%d behind, want %d", r.Behind, behind(p))
	}
	// Cameras that look anywhere.
	rnd := rand.New(rand.NewPCG(4, 4))
	for range 10 {
		for i := range p.Cameras {
			p.Cameras[i] = rnd.NormFloat64()
		}
		want := 0
		for i, c := range p.Camera {
			if depth(p.Cameras[cameraLen*c:], p.Points[pointLen*p.Point[i]:]) >= 0 {
				want++
			}
		}
		if n := behind(p); n != want {
			t.Errorf("%d of %d behind, want %d", n, len(p.Camera), want)
		}
	}

	// A point very near to the plane of a camera.
	p = good.Clone()
	copy(p.Cameras[cameraLen*p.Camera[7]:], make([]float64, 6))
	copy(p.Points[pointLen*p.Point[7]:], []float64{1, 2, -1e-9})
	solve(t, p, nil)
}

// Coordinates of another scale and origin do not matter.
func TestGauge(t *testing.T) {
	start, _ := generate(t, GenerateOptions{Cameras: 8, Points: 60, Observations: 300, Noise: 0.5, Start: 0.005})
	want := solve(t, start.Clone(), &Options{CostTolerance: 1e-10}).Final
	for _, scale := range []float64{1e-3, 1e3} {
		p := start.Clone()
		floats.Scale(scale, p.Points)
		for c := range p.NumCameras() {
			floats.Scale(scale, p.Cameras[cameraLen*c+3:cameraLen*c+6])
		}
		for _, method := range []Method{Cholesky, ConjugateGradients} {
			r := solve(t, p.Clone(), &Options{Method: method, CostTolerance: 1e-10, MaxIter: 500})
			if !(math.Abs(r.Final-want) <= 1e-5*want) {
				t.Errorf("scale %v, %v: cost %v, want %v", scale, method, r.Final, want)
			}
		}
	}
}

func TestOptionErrors(t *testing.T) {
	p, _ := generate(t, GenerateOptions{Cameras: 3, Points: 10, Observations: 25, Noise: 0.5, Start: 0.001})
	p.Cameras[cameraLen+focal]++
	start := p.Clone()
	nan := math.NaN()
	for name, o := range map[string]Options{
		"method": {Method: 7}, "iterations": {MaxIter: -1}, "workers": {Workers: -1}, "linear": {MaxLinearIter: -2},
		"time": {MaxTime: -1}, "radius": {Radius: -1}, "infinite radius": {Radius: math.Inf(1), MaxRadius: math.Inf(1)}, "max radius": {MaxRadius: nan}, "tolerance": {CostTolerance: nan},
		"forcing": {Forcing: 1}, "bounds": {MinFocal: 2, MaxFocal: 1}, "out of bounds": {MinFocal: 1e6},
		"loss": {Loss: Huber(0)}, "loss 2": {Loss: Cauchy(-1)}, "loss 3": {Loss: Tukey(nan)},
		"camera": {FixedCameras: []int{3}}, "camera 2": {FixedCameras: []int{-1}},
		"point": {FixedPoints: []int{10}}, "point 2": {FixedPoints: []int{-1}},
		"groups": {Intrinsics: []int{0}}, "both": {Intrinsics: []int{0, 1, 2}, FixedIntrinsics: true},
		"differ": {Intrinsics: []int{0, 0, 0}},
	} {
		if _, err := Solve(t.Context(), p, &o); err == nil || !strings.HasPrefix(err.Error(), "ba: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !slices.Equal(p.Cameras, start.Cameras) {
		t.Error("the problem changed on an error")
	}
	p.Camera[0] = 3
	if _, err := Solve(t.Context(), p, nil); err == nil {
		t.Error("no error for an index out of range")
	}
}

// Far from a solution, nothing but the cost going down is promised.
func TestHostile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		p := awkward(t)
		size := math.Pow(10, 6*rnd.Float64()-3)
		for _, x := range [][]float64{p.Cameras, p.Points} {
			for i := range x {
				if rnd.IntN(3) == 0 {
					x[i] += size * rnd.NormFloat64()
				}
			}
		}
		start := p.Clone()
		o := &Options{Method: Method(1 + rnd.IntN(2)), MaxIter: 30}
		r, err := Solve(t.Context(), p, o)
		if err != nil {
			if !errors.Is(err, ErrNotFinite) {
				t.Error(err)
			}
			continue
		}
		checkReport(t, start, p, nil, r)
	}
}

func TestAutomatic(t *testing.T) {
	p, _ := generate(t, GenerateOptions{Layout: City, Cameras: 40, Points: 400, Observations: 1600, Noise: 0.5, Start: 0.001})
	if r := solve(t, p, nil); r.Method != Cholesky || r.FactorElements == 0 || r.Unknowns != 360 {
		t.Errorf("%+v", r)
	}
	// A factor that is too large.
	o := Options{}
	s, err := newSolver(p, &o, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{0, 10 * 81, s.report.FactorElements - 1} {
		if newDirect(s.normal, s.unknowns, limit) != nil {
			t.Errorf("a factor of %d elements is within %d", s.report.FactorElements, limit)
		}
	}
	if newDirect(s.normal, s.unknowns, 2*s.report.FactorElements) == nil {
		t.Error("no factor within the double of its elements")
	}
}

// TestOutliers compares steps and costs with those of Ceres Solver 2.1.0 (SPARSE_SCHUR, with
// the same tolerance and first radius) for Huber's loss and 2 % of gross outliers. Ceres does not
// count the step that ends the search.
func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		layout                               Layout
		cameras, points, observations, steps int
		seed                                 uint64
		cost                                 float64
	}{
		{Ring, 10, 200, 1000, 91, 2, 9704.88492},
		{Ring, 10, 200, 1000, 104, 3, 7663.99272},
		{Ring, 20, 500, 4000, 30, 2, 30437.5635},
		{Ring, 20, 500, 4000, 60, 4, 22908.7366},
		{City, 20, 1000, 5000, 44, 4, 43096.4371},
	} {
		start, _ := generate(t, GenerateOptions{
			Layout: c.layout, Cameras: c.cameras, Points: c.points, Observations: c.observations,
			Noise: 0.5, Outliers: 0.02, Start: 0.01, Source: rand.NewPCG(c.seed, 0),
		})
		r, err := Solve(t.Context(), start, &Options{Loss: Huber(1), MaxIter: c.steps + 1})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != CostConvergence || r.Final > c.cost*(1+1e-6) {
			t.Errorf("%+v: %v at %v", c, r.Status, r.Final)
		}
	}
}
