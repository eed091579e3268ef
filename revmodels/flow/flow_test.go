package flow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/optim"
	"revnum/rev"
	"revnum/rev/revtest"
)

func matrix[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	m := rev.NewGeneral[T](r, c, nil)
	for i := range m.Data {
		m.Data[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return m
}

func conform[T rev.Float](t *testing.T) {
	t.Run("scale", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[scale[T]]{
			Magnitudes: [2]float64{0.125, 8}, // exp(S) overflows
			New: func(rnd *rand.Rand, n int) scale[T] {
				return scale[T]{X: matrix[T](rnd, n, n/2+1), S: matrix[T](rnd, n, n/2+1), LogDet: rev.ViewSlice(matrix[T](rnd, 1, n).Data), C: 0.5}
			},
			RoundTrip: 30, Free: []string{"X.Cols", "S.Cols"},
		})
	})
	t.Run("likelihood", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[likelihood[T]]{
			New: func(rnd *rand.Rand, n int) likelihood[T] {
				return likelihood[T]{new(T), matrix[T](rnd, n, n/2+1), rev.ViewSlice(matrix[T](rnd, 1, n).Data)}
			},
		})
	})
}

func TestConformance(t *testing.T) {
	t.Run("float64", conform[float64])
	t.Run("float32", conform[float32])
}

// random returns a flow whose parameters are all random, and a state of n points.
func random[T rev.Real](t *testing.T, kind Kind, dim, depth, n int) (*Model[T], *State[T]) {
	t.Helper()
	m, err := New[T](Options{Kind: kind, Dim: dim, Depth: depth, Hidden: 6}, rand.NewPCG(5, uint64(dim)))
	if err != nil {
		t.Fatal(err)
	}
	s := m.State(n)
	rnd := rand.New(rand.NewPCG(6, 7))
	for _, p := range m.Params(s) {
		for i := range p {
			p[i] = fixed.Of[T](0.4 * rnd.NormFloat64())
		}
	}
	for _, h := range s.Halves {
		for i := range h.Data {
			h.Data[i] = fixed.Of[T](2 * rnd.NormFloat64())
		}
	}
	return m, s
}

// coordinates returns the coordinates of the points in s, halves one after the other.
func coordinates[T rev.Real](s *State[T]) []T {
	return append(append([]T(nil), s.Halves[0].Data...), s.Halves[1].Data...)
}

// The determinant is that of the Jacobian by its columns, from Tangent.
func TestDeterminant(t *testing.T) {
	for _, kind := range []Kind{NICE, RealNVP} {
		for dim := 2; dim <= 5; dim++ {
			m, s := random[float64](t, kind, dim, 3, 1)
			jacobian := mat.NewDense(dim, dim, nil)
			for j := range dim {
				d := rev.ZeroLike(s)
				h := 0
				if j >= m.half(0) {
					h = 1
				}
				d.Halves[h].Data[j-h*m.half(0)] = 1
				if err := m.Flow().Tangent(s, d); err != nil {
					t.Fatal(err)
				}
				jacobian.SetCol(j, coordinates(d))
				if j < dim-1 {
					if err := m.Flow().Inverse(s); err != nil {
						t.Fatal(err)
					}
				}
			}
			want, _ := mat.LogDet(jacobian)
			if got := s.LogDet.Data[0]; !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%v of %d: log |det| = %v, want %v", kind, dim, got, want)
			}
		}
	}
}

// Over fixed point all points, determinants and rests come back to the bit, from both ends.
func TestExact(t *testing.T) {
	for _, kind := range []Kind{NICE, RealNVP} {
		m, s := random[fixed.Q43](t, kind, 3, 12, 200)
		start := coordinates(s)
		check := func(what string) {
			t.Helper()
			for i, v := range coordinates(s) {
				if v != start[i] {
					t.Fatalf("%v, %s: coordinate %d is %v, was %v", kind, what, i, v, start[i])
				}
			}
			for h, rest := range s.rest {
				for i, r := range rest {
					if r != 0 {
						t.Fatalf("%v, %s: rest %d of half %d is %d", kind, what, i, h, r)
					}
				}
			}
			for i, v := range s.LogDet.Data {
				if v != 0 {
					t.Fatalf("%v, %s: log det %d is %v", kind, what, i, v)
				}
			}
		}
		for _, back := range []bool{false, true} {
			p := m.Flow()
			if back {
				p = rev.Uncall(p)
			}
			if err := p.Forward(s); err != nil {
				t.Fatal(err)
			}
			if coordinates(s)[0] == start[0] {
				t.Errorf("%v: nothing moves", kind)
			}
			if err := p.Inverse(s); err != nil {
				t.Fatal(err)
			}
			check(fmt.Sprint("back = ", back))
		}
		g := rev.ZeroLike(s)
		if _, err := rev.ValueGradient(m.Loss(), func(s *State[fixed.Q43]) *fixed.Q43 { return &s.Loss }, s, g); err != nil {
			t.Fatal(err)
		}
		check("after the gradient")
	}
}

// The loss is the mean of LogDensity; its gradient agrees with differences, over float64 and
// over fixed point, and with the recording program.
func TestGradient(t *testing.T) {
	const n = 7
	for _, kind := range []Kind{NICE, RealNVP} {
		m, s := random[float64](t, kind, 3, 4, n)
		x, logs := mat.NewDense(n, 3, nil), make([]float64, n)
		s.points(x, 0)
		if err := m.LogDensity(logs, x); err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for _, v := range logs {
			want -= v / n
		}
		loss := m.Objective(n)
		loss.State = s
		grad := make([]float64, loss.Dim())
		got, err := loss.ValueGradient(grad)
		if err != nil || !(math.Abs(got-want) <= 1e-13*math.Abs(want)) {
			t.Errorf("%v: the loss is %v, want %v, %v", kind, got, want, err)
		}

		recorded := *loss
		recorded.Program, recorded.State = m.loss(true), m.state(n, m.Depth)
		recorded.State.setPoints(x, nil, 0)
		gr := make([]float64, len(grad))
		if v, err := recorded.ValueGradient(gr); err != nil || v != got {
			t.Errorf("%v: recorded, the loss is %v, want %v, %v", kind, v, got, err)
		}

		mq, sq := random[fixed.Q43](t, kind, 3, 4, n)
		lq := mq.Objective(n)
		lq.State = sq
		gq := make([]fixed.Q43, lq.Dim())
		if _, err := lq.ValueGradient(gq); err != nil {
			t.Fatal(err)
		}
		params := loss.Vector(nil)
		for i := range params {
			const h = 1e-5
			var ends [2]float64
			for e, step := range []float64{h, -h} {
				p := append([]float64(nil), params...)
				p[i] += step
				loss.SetVector(p)
				if ends[e], err = loss.Value(); err != nil {
					t.Fatal(err)
				}
			}
			loss.SetVector(params)
			if want := (ends[0] - ends[1]) / (2 * h); !(math.Abs(grad[i]-want) <= 1e-7*(1+math.Abs(want))) {
				t.Errorf("%v: derivative %d is %v, want %v", kind, i, grad[i], want)
			}
			if !(math.Abs(gr[i]-grad[i]) <= 1e-12*(1+math.Abs(grad[i]))) {
				t.Errorf("%v: derivative %d recorded is %v, want %v", kind, i, gr[i], grad[i])
			}
			// n/2¹⁶ is e^s within 2⁻¹⁷ over e^s.
			if !(math.Abs(gq[i].Float64()-grad[i]) <= 1e-3*(1+math.Abs(grad[i]))) {
				t.Errorf("%v: derivative %d in fixed point is %v, want %v", kind, i, gq[i], grad[i])
			}
		}
	}
}

// A density integrates to one, and samples follow it.
func TestDensity(t *testing.T) {
	for _, kind := range []Kind{NICE, RealNVP} {
		m, _ := random[float64](t, kind, 2, 4, 1)
		const n, side = 300, 24.0
		x, logs := mat.NewDense(n*n, 2, nil), make([]float64, n*n)
		for i := range n * n {
			x.SetRow(i, []float64{side * (float64(i%n)/n - 0.5), side * (float64(i/n)/n - 0.5)})
		}
		if err := m.LogDensity(logs, x); err != nil {
			t.Fatal(err)
		}
		var total, mean float64
		for i, v := range logs {
			p := math.Exp(v) * side * side / n / n
			total += p
			mean += p * x.At(i, 0)
		}
		if !(math.Abs(total-1) <= 1e-3) {
			t.Errorf("%v: the density integrates to %v", kind, total)
		}
		samples := mat.NewDense(20000, 2, nil)
		if err := m.Sample(samples, rand.NewPCG(1, 2)); err != nil {
			t.Fatal(err)
		}
		if got := mat.Sum(samples.ColView(0)) / 20000; !(math.Abs(got-mean) <= 0.06) {
			t.Errorf("%v: the mean of samples is %v, of the density %v", kind, got, mean)
		}
	}
}

// TestFitDefaults compares the first losses of a fit without options with those of one whose
// options are the documented defaults.
func TestFitDefaults(t *testing.T) {
	x := mat.NewDense(300, 2, nil)
	rnd := rand.New(rand.NewPCG(4, 4))
	for i := range 300 {
		x.SetRow(i, []float64{rnd.NormFloat64(), rnd.NormFloat64()})
	}
	losses := func(o FitOptions) (list []float64) {
		m, err := New[float64](Options{Dim: 2, Depth: 2, Hidden: 4}, rand.NewPCG(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		o.Report = func(step int, loss float64) {
			if list = append(list, loss); step == 9 {
				cancel()
			}
		}
		if err := m.Fit(ctx, x, &o); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		return list
	}
	got := losses(FitOptions{})
	want := losses(FitOptions{Steps: 2000, Batch: 256, Rate: optim.Cosine(0.003, 0, 2000), Source: rand.NewPCG(1, 2)})
	if !slices.Equal(got, want) || len(got) != 10 {
		t.Errorf("losses %v, want %v", got, want)
	}
}

// The memory of a gradient does not depend on the depth, and that of a recording does.
func TestMemory(t *testing.T) {
	cost := func(depth int, record bool) int {
		m, err := New[float64](Options{Dim: 2, Depth: depth, Hidden: 8}, rand.NewPCG(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		c := m.GradientCost(50, record)
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		return c.States
	}
	// A point has 2 coordinates and a log determinant. A coupling takes 2 numbers for each
	// coordinate, and 4 for each hidden unit. Each number has a cotangent.
	for _, depth := range []int{2, 40} {
		if a, want := cost(depth, false), 2*8*50*(2+1+4+32); a != want {
			t.Errorf("%d bytes for %d couplings, want %d", a, depth, want)
		}
		if a, want := cost(depth, true), 2*8*50*(2+1+depth*(4+32)); a != want {
			t.Errorf("recorded, %d bytes for %d couplings, want %d", a, depth, want)
		}
	}
}

// Products near the ends of the range of integers come back to the bit, or are refused.
func TestExchangeLimits(t *testing.T) {
	for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, -1 << 38, -1, 0, 1 << 38, math.MaxInt64} {
		for _, n := range []int64{1, 3, denominator - 1, denominator, most - 1} {
			for _, back := range []bool{false, true} {
				x, r, ok := exchange(v, 5, n, back)
				if inside := v>>39 == 0 || v>>39 == -1; ok != inside && (inside || v == math.MinInt64) {
					t.Errorf("%d by %d, back = %v: %v", v, n, back, ok)
				}
				if !ok {
					continue
				}
				if x != 0 && (x < 0) != (v < 0) {
					t.Errorf("%d by %d, back = %v: %d has the other sign", v, n, back, x)
				}
				if w, s, ok := exchange(x, r, n, !back); !ok || w != v || s != 5 {
					t.Errorf("%d by %d, back = %v, came back as %d with rest %d, %v", v, n, back, w, s, ok)
				}
			}
		}
	}
}

func TestBadInput(t *testing.T) {
	good := Options{Dim: 2, Depth: 2, Hidden: 4}
	for text, change := range map[string]func(o *Options){
		"unknown kind 7": func(o *Options) { o.Kind = 7 }, "1 coordinates": func(o *Options) { o.Dim = 1 },
		"depth of 0": func(o *Options) { o.Depth = 0 }, "-1 hidden": func(o *Options) { o.Hidden = -1 },
		"bound of NaN": func(o *Options) { o.Bound = math.NaN() }, "bound of 6": func(o *Options) { o.Bound = 6 },
	} {
		o := good
		change(&o)
		if _, err := New[float64](o, rand.NewPCG(1, 2)); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", o, err, text)
		}
	}
	m, err := New[float64](good, rand.NewPCG(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(3, 2, nil)
	if err := m.Fit(context.Background(), &mat.Dense{}, nil); err == nil || !strings.Contains(err.Error(), "no points") {
		t.Errorf("no points: %v", err)
	}
	x.Set(1, 1, 4e6)
	if err := m.LogDensity(make([]float64, 3), x); err != nil {
		t.Errorf("a large number in floating point: %v", err)
	}
	func() {
		defer func() {
			if v, _ := recover().(error); !errors.Is(v, mat.ErrShape) {
				t.Errorf("a sample with 3 columns panics with %v", v)
			}
		}()
		_ = m.Sample(mat.NewDense(2, 3, nil), rand.NewPCG(1, 2))
	}()
	x.Set(1, 1, math.NaN())
	if err := m.Fit(context.Background(), x, nil); err == nil || !strings.Contains(err.Error(), "point 1: coordinate 1 is NaN") {
		t.Errorf("a NaN: %v", err)
	}
	x.Set(1, 1, 0)
	if err := m.Fit(context.Background(), x, &FitOptions{Steps: -1}); err == nil {
		t.Error("-1 steps: no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.Fit(ctx, x, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}

	// So are points that are not finite, or out of the range of fixed point.
	logs := make([]float64, 2)
	for _, v := range []float64{math.NaN(), math.Inf(-1)} {
		if err := m.LogDensity(logs, mat.NewDense(2, 2, []float64{1, 2, 3, v})); err == nil || !strings.Contains(err.Error(), "point 1: coordinate 1") {
			t.Errorf("the density at %v: %v", v, err)
		}
	}
	large, _ := random[fixed.Q43](t, NICE, 2, 1, 3)
	for _, v := range []float64{1 << 20, -1e300, math.NaN()} {
		x := mat.NewDense(2, 2, []float64{1, 2, v, 3})
		if err := large.LogDensity(logs, x); err == nil || !strings.Contains(err.Error(), "point 1: coordinate 0") {
			t.Errorf("the density at %v in fixed point: %v", v, err)
		}
		if err := large.Fit(context.Background(), x, nil); err == nil || !strings.Contains(err.Error(), "point 1: coordinate 0") {
			t.Errorf("a fit to %v in fixed point: %v", v, err)
		}
	}

	// Float32 holds no 1e300.
	small, err := New[float32](good, nil)
	if err != nil {
		t.Fatal(err)
	}
	high := mat.NewDense(2, 2, []float64{1, 2, 3, 1e300})
	for _, err := range []error{small.LogDensity(logs, high), small.Fit(context.Background(), high, nil)} {
		if err == nil || !strings.Contains(err.Error(), "point 1: coordinate 1 is 1e+300") {
			t.Errorf("1e300 in float32: %v", err)
		}
	}

	// Without sources the models and their samples are the same.
	again, err := New[float32](good, nil)
	if err != nil {
		t.Fatal(err)
	}
	samples := []*mat.Dense{mat.NewDense(2, 2, nil), mat.NewDense(2, 2, nil)}
	if err := errors.Join(small.Sample(samples[0], nil), again.Sample(samples[1], nil)); err != nil || !mat.Equal(samples[0], samples[1]) {
		t.Errorf("samples without sources: %v and %v, error %v", samples[0], samples[1], err)
	}

	// A loss is in that range even if the square of a coordinate is not.
	wide, err := New[fixed.Q43](Options{Kind: NICE, Dim: 2, Depth: 1, Hidden: 3}, rand.NewPCG(1, 2)) // the identity
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range []float64{1000, -1100, 1440} {
		loss := wide.Objective(1)
		loss.State.setPoints(mat.NewDense(1, 2, []float64{0.5, z}), nil, 0)
		want := (0.25+z*z)/2 + math.Log(2*math.Pi)
		if v, err := loss.Value(); err != nil || math.Abs(v.Float64()-want) > 1e-9 {
			t.Errorf("the loss at %v is %v, want %v, error %v", z, v.Float64(), want, err)
		}
	}

	// So is a loss out of that range an error: half the square of 2000 is.
	var domain *rev.DomainError
	far := large.State(1)
	far.setPoints(mat.NewDense(1, 2, []float64{0, 2000}), nil, 0)
	if err := large.Loss().Forward(far); !errors.As(err, &domain) || far.Loss != 0 {
		t.Errorf("a loss out of range: %v, and the loss is %v", err, far.Loss.Float64())
	}

	// A rest that grows out of its range is an error, and nothing has changed.
	q, s := random[fixed.Q43](t, NICE, 2, 1, 3)
	s.LogScales[0].Data[0] = fixed.Of[fixed.Q43](-3)
	s.rest[0][2] = 1 << 60
	before := coordinates(s)
	if err := q.Flow().Forward(s); !errors.As(err, &domain) {
		t.Errorf("a rest out of range: %v", err)
	}
	for i, v := range coordinates(s) {
		if v != before[i] {
			t.Errorf("coordinate %d is %v after an error, was %v", i, v, before[i])
		}
	}
}

// A product with the Hessian is the derivative of the gradient in that direction. In fixed point
// it differs as the gradient does.
func TestHessianVector(t *testing.T) {
	const n, h = 7, 2e-6
	for _, kind := range []Kind{NICE, RealNVP} {
		m, s := random[float64](t, kind, 3, 4, n)
		loss := m.Objective(n)
		loss.State = s
		rnd := rand.New(rand.NewPCG(8, 9))
		dim := loss.Dim()
		v, grad, hv := make([]float64, dim), make([]float64, dim), make([]float64, dim)
		for i := range v {
			v[i] = rnd.NormFloat64()
		}
		value, err := loss.HessianVector(hv, grad, v)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, dim)
		again := m.Objective(n)
		_, again.State = random[float64](t, kind, 3, 4, n) // the state of loss comes back within rounding
		if w, err := again.ValueGradient(want); err != nil || w != value {
			t.Errorf("%v: the value is %v, want %v, %v", kind, value, w, err)
		}
		for i := range grad {
			if !(math.Abs(grad[i]-want[i]) <= 1e-13*(1+math.Abs(want[i]))) {
				t.Errorf("%v: derivative %d is %v, want %v", kind, i, grad[i], want[i])
			}
		}
		params, ends := loss.Vector(nil), [2][]float64{make([]float64, dim), make([]float64, dim)}
		for e, step := range []float64{h, -h} {
			p := append([]float64(nil), params...)
			for i := range p {
				p[i] += step * v[i]
			}
			loss.SetVector(p)
			if _, err := loss.ValueGradient(ends[e]); err != nil {
				t.Fatal(err)
			}
		}

		mq, sq := random[fixed.Q43](t, kind, 3, 4, n)
		lq := mq.Objective(n)
		lq.State = sq
		vq, gq, hq := make([]fixed.Q43, dim), make([]fixed.Q43, dim), make([]fixed.Q43, dim)
		for i := range vq {
			vq[i] = fixed.FromFloat64(v[i])
		}
		if _, err := lq.HessianVector(hq, gq, vq); err != nil {
			t.Fatal(err)
		}
		for i := range hv {
			if want := (ends[0][i] - ends[1][i]) / (2 * h); !(math.Abs(hv[i]-want) <= 2e-7*(1+math.Abs(want))) {
				t.Errorf("%v: product %d is %v, want %v", kind, i, hv[i], want)
			}
			if !(math.Abs(hq[i].Float64()-hv[i]) <= 3e-3*(1+math.Abs(hv[i]))) {
				t.Errorf("%v: product %d in fixed point is %v, want %v", kind, i, hq[i], hv[i])
			}
		}
	}
}
