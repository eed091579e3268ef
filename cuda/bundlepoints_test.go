package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/cuda/internal/ptx"
	"revnum/internal/long"
	"revnum/revmodels/ba"
)

// ring returns a small problem, in which a camera sees a point twice, and observations are in no
// order.
func ring(t *testing.T) *ba.Problem {
	t.Helper()
	p, _, err := ba.Generate(&ba.GenerateOptions{Cameras: 4, Points: 24, Observations: 84, Noise: 0.5, Start: 0.002})
	if err != nil {
		t.Fatal(err)
	}
	n := p.NumObservations()
	swap := func(i, k int) {
		p.Camera[i], p.Camera[k] = p.Camera[k], p.Camera[i]
		p.Point[i], p.Point[k] = p.Point[k], p.Point[i]
		for d := range 2 {
			p.Features[2*i+d], p.Features[2*k+d] = p.Features[2*k+d], p.Features[2*i+d]
		}
	}
	for i := range n / 2 {
		swap(i, n-1-7*i%n)
	}
	p.Camera, p.Point = append(p.Camera, p.Camera[5]), append(p.Point, p.Point[5])
	p.Features = append(p.Features, p.Features[10]+0.3, p.Features[11]-0.2)
	return p
}

// TestBundlePoints solves a problem with the options of ba.Solve, and compares with the host:
// each cost to ten digits.
func TestBundlePoints(t *testing.T) {
	dev := interpreter(t, 1<<24)
	low, high := math.Inf(1), math.Inf(-1)
	for p, c := ring(t), 0; c < p.NumCameras(); c++ {
		low, high = min(low, p.Cameras[9*c+6]), max(high, p.Cameras[9*c+6])
	}
	for name, opts := range map[string]ba.Options{
		"squares": {Method: ba.ConjugateGradients},
		"huber":   {Method: ba.ConjugateGradients, Loss: ba.Huber(1), FixedPoints: []int{3, 5}, FixedCameras: []int{1}},
		"cauchy":  {Method: ba.Cholesky, Loss: ba.Cauchy(2), MinFocal: low, MaxFocal: high},
		"shared":  {Method: ba.Cholesky, FixedPoints: []int{2}, FixedCameras: []int{0}, Intrinsics: []int{1, 1, 1, 1}, MaxIter: 5},
		"tukey":   {Method: ba.ConjugateGradients, Loss: ba.Tukey(8), FixedIntrinsics: true, MaxIter: 12},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := ring(t), ring(t)
			wanted, err := ba.Solve(t.Context(), want, &opts)
			if err != nil {
				t.Fatal(err)
			}
			b, err := NewBundlePoints(dev, got, &opts)
			if err != nil {
				t.Fatal(err)
			}
			opts.Points = b
			report, err := ba.Solve(t.Context(), got, &opts)
			if err != nil {
				t.Fatal(err)
			}
			if report.Status != wanted.Status || report.Method != wanted.Method || len(report.Iterations) != len(wanted.Iterations) || wanted.Final > 0.5*wanted.Initial {
				t.Fatalf("%v by %v after %d iterations, want %v by %v after %d", report.Status, report.Method, len(report.Iterations)-1, wanted.Status, wanted.Method, len(wanted.Iterations)-1)
			}
			for i, it := range report.Iterations {
				w := wanted.Iterations[i]
				if !(math.Abs(it.Cost-w.Cost) <= 1e-10*w.Cost) || it.Linear != w.Linear {
					t.Errorf("iteration %d: cost %v after %d linear steps, want %v after %d", i, it.Cost, it.Linear, w.Cost, w.Linear)
				}
			}
			first, of := report.Iterations[0].Gradient, wanted.Iterations[0].Gradient
			if !(math.Abs(first-of) <= 1e-10*of) {
				t.Errorf("gradient %v at the start, want %v", first, of)
			}
			for i, v := range want.Points {
				if !(math.Abs(v-got.Points[i]) <= 1e-7*(1+math.Abs(v))) {
					t.Fatalf("coordinate %d is %v, want %v", i, got.Points[i], v)
				}
			}

			if name == "huber" || name == "cauchy" || long.Tests() {
				again := ring(t) // with the memory of the first time
				if _, err := ba.Solve(t.Context(), again, &opts); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(again.Cameras, got.Cameras) || !slices.Equal(again.Points, got.Points) {
					t.Error("the second solution has other bits")
				}
			}
			if err := b.Free(); err != nil {
				t.Error(err)
			}
			if _, err := ba.Solve(t.Context(), ring(t), &opts); !errors.Is(err, errForeign) {
				t.Errorf("points that were freed: %v, want %v", err, errForeign)
			}
		})
	}
}

type otherLoss struct{ ba.Loss }

func TestBundlePointsErrors(t *testing.T) {
	dev := interpreter(t, 1<<22)
	broken := ring(t)
	broken.Point[3] = -1
	for name, c := range map[string]struct {
		p    *ba.Problem
		opts ba.Options
	}{
		"problem": {broken, ba.Options{}}, "loss": {ring(t), ba.Options{Loss: otherLoss{ba.Huber(1)}}}, "point": {ring(t), ba.Options{FixedPoints: []int{24}}},
	} {
		if _, err := NewBundlePoints(dev, c.p, &c.opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	p := ring(t)
	b := must(NewBundlePoints(dev, p, nil))(t)
	if err := b.Set(make([]float64, 3)); err == nil {
		t.Error("one point of 24: no error")
	}
	if err := b.Ask(ba.AskResume, 0, nil, nil, nil); err == nil {
		t.Error("no error for AskResume")
	}
	// A point in the plane of a camera.
	copy(p.Cameras[9*p.Camera[7]:], make([]float64, 6))
	copy(p.Points[3*p.Point[7]:], []float64{1, 2, 0})
	_, want := ba.Solve(t.Context(), p, nil)
	if _, err := ba.Solve(t.Context(), p, &ba.Options{Points: b}); !errors.Is(err, ba.ErrNotFinite) || err.Error() != want.Error() {
		t.Errorf("a point at depth 0: %v, want %v", err, want)
	}
	// Nothing at all is a solution.
	empty := must(NewBundlePoints(dev, new(ba.Problem), nil))(t)
	if r, err := ba.Solve(t.Context(), new(ba.Problem), &ba.Options{Points: empty}); err != nil || r.Status != ba.GradientConvergence {
		t.Errorf("an empty problem: %v, %v", r, err)
	}
}

// TestBundlePointsMemory lets each allocation fail in turn.
func TestBundlePointsMemory(t *testing.T) {
	p, opts := ring(t), &ba.Options{FixedPoints: []int{1}}
	for failing := 1; ; failing++ {
		d := interpret(t, 1<<20)
		dev := must(newDevice(0, d))(t)
		before, begun := d.machine.Memory.Used(), d.allocations
		d.failing = begun + failing
		b, err := NewBundlePoints(dev, p, opts)
		if err == nil {
			if err := b.Free(); err != nil || failing < 20 {
				t.Errorf("%d allocations, %v", failing-1, err)
			}
		} else if !errors.Is(err, ErrMemory) {
			t.Errorf("allocation %d: %v", failing, err)
		}
		if used := d.machine.Memory.Used(); used != before {
			t.Errorf("allocation %d: %d bytes leak", failing, used-before)
		}
		closeAll(t, dev, d)
		if err == nil {
			return
		}
	}
}

// TestBundleTraffic counts sectors of memory. Nothing has the size of the Jacobian: of an observation, sums over cameras load
// its indices, its residuals and what they need of its point. Whole sectors of the reduced system are stored.
func TestBundleTraffic(t *testing.T) {
	d := interpret(t, 1<<22)
	p := chain()
	n, cameras := p.NumObservations(), p.NumCameras()
	b := must(NewBundlePoints(open(t, d), p, &ba.Options{Loss: ba.Huber(1)}))(t)
	d.machine.Traffic = map[string]ptx.Traffic{}
	number, answer := make([]float64, 1), make([]float64, 97*cameras)
	err := errors.Join(b.Set(p.Points), b.Ask(ba.AskLinear, 0, p.Cameras, number, answer), b.Ask(ba.AskScale, 0, nil, nil, nil),
		b.Ask(ba.AskEliminate, 1, nil, number, answer[:90*cameras]), b.Ask(ba.AskProduct, 0, make([]float64, 9*cameras), nil, answer[:9*cameras]))
	if err == nil {
		b.reduced, err = b.newReduced()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Reduced(make([]float64, len(b.reduced.blocks))); err != nil {
		t.Fatal(err)
	}
	const sector = 32
	// A load of two numbers counts as a sector, also where the first cache has it. A thread loads a slope, too, and two indices.
	for kernel, c := range map[string]struct{ launches, sectors, perCamera int }{"bundleCameras": {1, 2 + 1 + 1, 8}, "bundleProduct": {2, 3 + 1, 18}, "bundleDiagonal": {1, 5 + 1, 30}} {
		got, perCamera := d.machine.Traffic[kernel].LoadedSectors/c.launches, c.perCamera*sector*cameras
		if got == 0 || got > (c.sectors*sector+2*4)*n+perCamera {
			t.Errorf("%s loads %d bytes for each observation, want %d sectors and two indices", kernel, (got-perCamera)/n, c.sectors)
		}
	}
	blocks := len(b.reduced.blocks) / blockLen
	short, long := d.machine.Traffic["bundleReduceShort"], d.machine.Traffic["bundleReduceLong"]
	if want := 8 * blockLen * blocks; short.StoredSectors+long.StoredSectors != want || len(b.reduced.long) != 3 {
		t.Errorf("the system of %d blocks, of which %d are long, stores sectors of %d bytes, want %d and 3 long ones", blocks, len(b.reduced.long), short.StoredSectors+long.StoredSectors, want)
	}
}

// TestBundleRay has a camera whose points are on a ray that it turns to K·e₀. A column of its derivatives is zero up to rounding,
// and U stays positive and symmetric.
func TestBundleRay(t *testing.T) {
	dev := interpreter(t, 1<<22)
	cross := func(x, y [3]float64) [3]float64 {
		return [3]float64{x[1]*y[2] - x[2]*y[1], x[2]*y[0] - x[0]*y[2], x[0]*y[1] - x[1]*y[0]}
	}
	for seed := range uint64(8) {
		rnd := rand.New(rand.NewPCG(seed, 77))
		p := &ba.Problem{}
		for range 3 {
			p.Cameras = append(p.Cameras, 2.5*rnd.NormFloat64(), 2.5*rnd.NormFloat64(), 2.5*rnd.NormFloat64(), 0.1, -0.2, -9, 1.5, 0.01, 0.02)
		}
		r := [3]float64(p.Cameras[:3])
		s := math.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2])
		// x + a·r×x + b·r×(r×x)
		turn := func(r [3]float64, a, b float64, x [3]float64) (y [3]float64) {
			u := cross(r, x)
			v := cross(r, u)
			for i := range y {
				y[i] = x[i] + a*u[i] + b*v[i]
			}
			return y
		}
		b := (1 - math.Cos(s)) / (s * s)
		ray := turn(r, -math.Sin(s)/s, b, turn(r, b, (s-math.Sin(s))/(s*s*s), [3]float64{1})) // Rᵀ·K·e₀
		for q := range 30 {
			cameras := []int{1, 2}
			if q < 4 {
				by := 1 + rnd.Float64()
				p.Points = append(p.Points, by*ray[0], by*ray[1], by*ray[2])
				cameras = []int{0, 1, 0, 2} // twice
			} else {
				p.Points = append(p.Points, rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64())
			}
			for _, c := range cameras {
				p.Camera, p.Point = append(p.Camera, c), append(p.Point, q)
				r := [3]float64(p.Cameras[9*c:])
				s := math.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2])
				y := turn(r, math.Sin(s)/s, (1-math.Cos(s))/(s*s), [3]float64(p.Points[3*q:]))
				for k, shift := range []float64{0.1, -0.2} { // about where the camera sees the point
					p.Features = append(p.Features, -1.5*(y[k]+shift)/(y[2]-9)+0.05*rnd.NormFloat64())
				}
			}
		}
		points := must(NewBundlePoints(dev, p, nil))(t)
		number, answer := make([]float64, 1), make([]float64, 97*3)
		if err := errors.Join(points.Set(p.Points), points.Ask(ba.AskLinear, 0, p.Cameras, number, answer)); err != nil {
			t.Fatal(err)
		}
		at := func(k, l int) int { // in a block
			if l == 8 {
				return 72 + k
			}
			return 8*k + l
		}
		for c := range 3 {
			u := answer[88*c : 88*c+88]
			for k := range 9 {
				if !(u[at(k, k)] >= 0) {
					t.Errorf("seed %d, camera %d: element %d of the diagonal of U is %v", seed, c, k, u[at(k, k)])
				}
				for l := range k {
					if u[at(k, l)] != u[at(l, k)] {
						t.Errorf("seed %d, camera %d: elements %d, %d of U are %v and %v", seed, c, k, l, u[at(k, l)], u[at(l, k)])
					}
				}
			}
		}
		for _, method := range []ba.Method{ba.ConjugateGradients, ba.Cholesky} {
			host, device := *p, *p
			host.Cameras, host.Points = slices.Clone(p.Cameras), slices.Clone(p.Points)
			device.Cameras, device.Points = slices.Clone(p.Cameras), slices.Clone(p.Points)
			want, err := ba.Solve(t.Context(), &host, &ba.Options{Method: method, MaxIter: 8})
			if err != nil {
				t.Fatal(err)
			}
			got, err := ba.Solve(t.Context(), &device, &ba.Options{Method: method, MaxIter: 8, Points: points})
			if err != nil || !(math.Abs(got.Final-want.Final) <= 1e-6*want.Final) || want.Final > 0.9*want.Initial {
				t.Errorf("seed %d, %v: cost %v from %v, want %v, %v", seed, method, got.Final, want.Initial, want.Final, err)
			}
		}
		if err := points.Free(); err != nil {
			t.Error(err)
		}
	}
}
