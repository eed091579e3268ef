package ba

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// awkward returns a problem with all that a solver must put up with: points seen
// once, twice in one picture, or never, and a camera without observations.
func awkward(t testing.TB) *Problem {
	t.Helper()
	p, _, err := Generate(&GenerateOptions{Cameras: 6, Points: 25, Observations: 70, Noise: 1, Start: 0.002})
	if err != nil {
		t.Fatal(err)
	}
	for c := range 6 {
		copy(p.Cameras[cameraLen*c+focal:], []float64{800, 0.01, -0.02})
	}
	p.Cameras = append(p.Cameras, p.Cameras[:cameraLen]...)
	p.Points = append(p.Points, 0.1, 0.2, 0.3, -0.1, 0.1, -0.2)
	observe := func(c, q int, x, y float64) {
		p.Camera, p.Point = append(p.Camera, c), append(p.Point, q)
		p.Features = append(p.Features, x, y)
	}
	observe(2, p.NumPoints()-2, 3, -4) // once
	observe(p.Camera[9], p.Point[9], p.Features[18]+1, p.Features[19])
	observe(p.Camera[3], p.Point[3], p.Features[6], p.Features[7])
	observe(p.Camera[3], p.Point[3], p.Features[6], p.Features[7]-2)
	return p
}

// choices are options for awkward.
var choices = map[string]Options{
	"free":             {},
	"fixed":            {FixedCameras: []int{0, 4}, FixedPoints: []int{3, 7, 25}},
	"fixed intrinsics": {FixedIntrinsics: true, FixedCameras: []int{1}},
	"one camera":       {Intrinsics: []int{5, 5, 5, 5, 5, 5, 5}},
	"two cameras":      {Intrinsics: []int{0, 1, 0, 1, 0, 1, 0}, FixedPoints: []int{1}},
	"shared and fixed": {Intrinsics: []int{0, 1, 0, 2, 0, 1, 0}, FixedCameras: []int{5}},
	"loss":             {Loss: Cauchy(2)},
	"points":           {FixedCameras: []int{0, 1, 2, 3, 4, 5, 6}},
}

// dense is the linear problem of a solver by columns of all unknowns: those of
// cameras, and the points that are not fixed.
func dense(t *testing.T, p *Problem, o *Options) (j *mat.Dense, r *mat.VecDense) {
	t.Helper()
	column := make([]int, len(p.Cameras)+len(p.Points)) // of a parameter, -1 if fixed
	n := 0
	fixedCamera, fixedPoint := map[int]bool{}, map[int]bool{}
	held := map[int]bool{} // intrinsics
	for _, c := range o.FixedCameras {
		fixedCamera[c] = true
		if o.Intrinsics != nil {
			held[o.Intrinsics[c]] = true
		}
	}
	for _, q := range o.FixedPoints {
		fixedPoint[q] = true
	}
	for i := range column {
		column[i] = -1
	}
	group := map[int]int{}
	for c := range p.NumCameras() {
		for k := range cameraLen {
			i := cameraLen*c + k
			switch {
			case fixedCamera[c], k >= 6 && o.FixedIntrinsics, k >= 6 && o.Intrinsics != nil && held[o.Intrinsics[c]]:
			case k >= 6 && o.Intrinsics != nil:
				key := 3*o.Intrinsics[c] + k
				if _, ok := group[key]; !ok {
					group[key] = n
					n++
				}
				column[i] = group[key]
			default:
				column[i] = n
				n++
			}
		}
	}
	for q := range p.NumPoints() {
		for k := range pointLen {
			if !fixedPoint[q] {
				column[len(p.Cameras)+pointLen*q+k] = n
				n++
			}
		}
	}
	residual, jacobian := residualsAndJacobian(p)
	j, r = mat.NewDense(2*p.NumObservations(), n, nil), mat.NewVecDense(2*p.NumObservations(), nil)
	for i, c := range p.Camera {
		weight := 1.
		if o.Loss != nil {
			_, slope := o.Loss.Rho(residual[2*i]*residual[2*i] + residual[2*i+1]*residual[2*i+1])
			weight = math.Sqrt(slope)
		}
		for row := 2 * i; row < 2*i+2; row++ {
			r.SetVec(row, weight*residual[row])
			for k := range cameraLen + pointLen {
				parameter := cameraLen*c + k
				if k >= cameraLen {
					parameter = len(p.Cameras) + pointLen*p.Point[i] + k - cameraLen
				}
				if col := column[parameter]; col >= 0 {
					j.Set(row, col, weight*jacobian[12*row+k])
				}
			}
		}
	}
	return j, r
}

func residualsAndJacobian(p *Problem) (r, j []float64) {
	s := newNormal(p, &Options{}, nil)
	s.linearise(p)
	return s.r, s.j
}

// The step solves the normal equations of all unknowns with damping, and promises the
// decrease of the dense problem.
func TestStep(t *testing.T) {
	for name, o := range choices {
		for _, method := range []Method{Cholesky, ConjugateGradients} {
			t.Run(fmt.Sprint(name, ", ", method), func(t *testing.T) { testStep(t, o, method) })
		}
	}
}

func testStep(t *testing.T, o Options, method Method) {
	o.Method, o.Forcing = method, 1e-14
	s, err := newSolver(awkward(t), &o, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.ctx = t.Context()
	gradient := s.linearise()
	s.scale()
	const radius = 100
	var it Iteration
	promised, ok := s.try(radius, &it)
	if !ok {
		t.Fatal("no step")
	}

	j, r := dense(t, s.best, &o)
	_, n := j.Dims()
	a := mat.NewSymDense(n, nil)
	a.SymOuterK(1, j.T())
	var g mat.VecDense
	g.MulVec(j.T(), r)
	if w := mat.Norm(&g, math.Inf(1)); !(math.Abs(gradient-w) <= 1e-9*w) {
		t.Errorf("gradient %v, want %v", gradient, w)
	}
	for i := range n {
		d := a.At(i, i)
		scale := 1 / (1 + math.Sqrt(d))
		a.SetSym(i, i, d+math.Max(d*scale*scale, 1e-6)/radius/scale/scale)
	}
	var factor mat.Cholesky
	if !factor.Factorize(a) {
		t.Fatal("not positive definite")
	}
	var want mat.VecDense
	if err := factor.SolveVecTo(&want, &g); err != nil {
		t.Fatal(err)
	}
	want.ScaleVec(-1, &want)

	got := append([]float64(nil), s.move...)
	if len(s.unknowns.size) > 0 && o.Intrinsics != nil {
		got = interleave(s.unknowns, s.move)
	}
	for q := range s.best.NumPoints() {
		if s.normal.fixed == nil || !s.normal.fixed[q] {
			got = append(got, s.local.step[pointLen*q:pointLen*(q+1)]...)
		} else if floats.Norm(s.local.step[pointLen*q:pointLen*(q+1)], 1) != 0 || floats.Norm(s.normal.gq[pointLen*q:pointLen*(q+1)], 1) != 0 {
			t.Errorf("fixed point %d moves, or has a gradient", q)
		}
	}
	if len(got) != n {
		t.Fatalf("%d unknowns, want %d", len(got), n)
	}
	tolerance := func(w float64) float64 { return 1e-7 * (math.Abs(w) + 1e-3) }
	if method == ConjugateGradients {
		// They end when the model gains little, which goes by the square of
		// the error.
		largest := mat.Norm(&want, math.Inf(1))
		tolerance = func(float64) float64 { return 1e-6 * largest }
	}
	for i, v := range got {
		if w := want.AtVec(i); !(math.Abs(v-w) <= tolerance(w)) {
			t.Errorf("unknown %d moves by %v, want %v", i, v, w)
		}
	}

	var m mat.VecDense
	m.MulVec(j, &want)
	if w := -mat.Dot(&m, r) - mat.Dot(&m, &m)/2; !(math.Abs(promised-w) <= 1e-9*w) {
		t.Errorf("promises %v, want %v", promised, w)
	}
	step := math.Hypot(floats.Norm(s.move, 2), floats.Norm(s.local.step, 2))
	if math.Abs(it.Step-step) > 1e-12*step {
		t.Errorf("length %v, want %v", it.Step, step)
	}
}

// interleave returns a vector of unknowns in the order of dense: shared intrinsics
// come with the first camera that has them.
func interleave(x *unknowns, u []float64) []float64 {
	var out []float64
	done := map[int]bool{}
	for _, parts := range x.parts {
		for _, p := range parts {
			if !done[p.node] {
				done[p.node] = true
				out = append(out, u[x.at[p.node]:x.at[p.node+1]]...)
			}
		}
	}
	return out
}

func TestSortObservations(t *testing.T) {
	p := awkward(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	rnd.Shuffle(p.NumObservations(), func(i, j int) {
		p.Camera[i], p.Camera[j] = p.Camera[j], p.Camera[i]
		p.Point[i], p.Point[j] = p.Point[j], p.Point[i]
	})
	order := p.ByPoint()
	seen := make([]bool, len(order))
	for k, i := range order {
		if seen[i] {
			t.Fatalf("observation %d twice", i)
		}
		seen[i] = true
		if k == 0 {
			continue
		}
		h := order[k-1]
		a, b := [3]int{p.Point[h], p.Camera[h], h}, [3]int{p.Point[i], p.Camera[i], i}
		if a[0] > b[0] || a[0] == b[0] && (a[1] > b[1] || a[1] == b[1] && a[2] > b[2]) {
			t.Fatalf("%v before %v", a, b)
		}
	}
}

// A system that is not positive definite is no step, and no panic.
func TestIndefinite(t *testing.T) {
	for _, method := range []Method{Cholesky, ConjugateGradients} {
		o := Options{Method: method}
		s, err := newSolver(awkward(t), &o, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.ctx = t.Context()
		s.linearise()
		s.scale()
		var it Iteration
		for _, radius := range []float64{-1e-3, math.NaN()} {
			if _, ok := s.try(radius, &it); ok {
				t.Errorf("%v: a step for damping by %v", method, 1/radius)
			}
		}
		if _, ok := s.try(100, &it); !ok {
			t.Fatalf("%v: no step", method)
		}
		for _, bad := range []float64{-1e12, math.NaN(), math.Inf(1)} {
			s.damping[11] = bad
			if _, ok := s.linear.solve(s); ok {
				t.Errorf("%v: a solution for damping %v", method, bad)
			}
		}
	}
}

// The promised decrease is for the step that is taken. If the focal length ends at a
// bound, this is not the step of the normal equations.
func TestStepToBound(t *testing.T) {
	p := awkward(t)
	f := p.Cameras[focal]
	o := Options{MinFocal: f - 1e-3, MaxFocal: f + 1e-3}
	s, err := newSolver(p, &o, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.ctx = t.Context()
	s.linearise()
	s.scale()
	var it Iteration
	promised, _ := s.try(1e4, &it)
	j, r := dense(t, s.best, &Options{})
	step := mat.NewVecDense(len(p.Cameras)+len(p.Points), nil)
	bounded := 0
	for i, x := range s.best.Cameras {
		step.SetVec(i, s.trial.Cameras[i]-x)
		if i%cameraLen == focal && (s.trial.Cameras[i] == o.MinFocal || s.trial.Cameras[i] == o.MaxFocal) {
			bounded++
		}
	}
	for i, x := range s.best.Points {
		step.SetVec(len(p.Cameras)+i, s.trial.Points[i]-x)
	}
	if bounded == 0 {
		t.Fatal("no focal length at a bound")
	}
	var m mat.VecDense
	m.MulVec(j, step)
	if w := -mat.Dot(&m, r) - mat.Dot(&m, &m)/2; !(math.Abs(promised-w) <= 1e-6*math.Abs(w)) {
		t.Errorf("promises %v, want %v", promised, w)
	}
}
