package ba

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// TestCheckRange draws observations of all sizes, and holds residuals and Jacobian
// in fixed point against those in floating point: where the check finds nothing
// they agree, and some that it refuses do not.
func TestCheckRange(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 1))
	good, wrong, taken := 0, 0, 0
	for range 3000 {
		k := randomWeighted(rnd, 1)
		r, f := k.Cameras.Data, math.Exp(8*rnd.Float64())
		angle := math.Exp(9 * rnd.Float64()) // up to 8,000 radians
		for i := range 3 {
			r[i] = angle * rnd.NormFloat64() / 2
			r[3+i] = 30 * rnd.NormFloat64()
		}
		r[6] = f
		for i := range k.Points.Data {
			k.Points.Data[i] = 30 * rnd.NormFloat64()
		}
		for _, x := range [][]float64{k.Cameras.Data, k.Points.Data, k.Weights.Data, k.Features.Data} {
			for i, v := range x {
				x[i] = math.Round(0x1p20*v) / 0x1p20 // the same number in both
			}
		}
		q := weightedOf[fixed.Q43](k)
		p := weightedProblem(&q)
		err := p.checkRange(true)
		agree := agrees(&k, &q)
		var s rangeCheck
		s.load(&p, true)
		if s.gather(&p, 0, 1) && s.block.Within(0, 1) == 1 {
			if taken++; s.step(&p, 0, true) != nil {
				t.Fatalf("the limits take what leaves the range: %v", k)
			}
		}
		switch {
		case err == nil && !agree:
			t.Fatalf("no error where values are wrong: %v", k)
		case err == nil:
			good++
		case !errors.Is(err, fixed.ErrRange) && !errors.Is(err, fixed.ErrDivideByZero):
			t.Fatal(err)
		case !agree:
			wrong++
		}
	}
	if good < 300 || wrong < 300 || taken < 100 {
		t.Errorf("%d observations in range, %d with values that are wrong, %d within limits, want some hundreds of each", good, wrong, taken)
	}
}

// agrees reports whether residuals and Jacobian in fixed point are those in floating
// point, up to rounding that a point near the camera's plane enlarges.
func agrees(k *Weighted[float64], q *Weighted[fixed.Q43]) bool {
	clear(k.R.Data)
	clear(q.R.Data)
	j, z := rev.NewGeneral[float64](2, weightedColumns, nil), rev.ViewSlice(make([]float64, 1))
	_ = k.Jacobian(j, z)
	jq, zq := rev.NewGeneral[fixed.Q43](2, weightedColumns, nil), rev.ViewSlice(make([]fixed.Q43, 1))
	p := weightedProblem(q) // not the method, which refuses what is wrong
	p.run(&task[fixed.Q43]{do: views.Derivative, sign: 1, j: jq, dz: zq})
	c := k.Cameras.Row(0)
	turn := rotationMatrix([3]float64(c))
	x := k.Points.Row(0)
	y := apply(&turn, [3]float64{x[0] - c[3], x[1] - c[4], x[2] - c[5]})
	near := 1 + math.Sqrt(y[0]*y[0]+y[1]*y[1]+y[2]*y[2])/math.Abs(y[2])
	angle := 1 + math.Sqrt(c[0]*c[0]+c[1]*c[1]+c[2]*c[2])
	tol := 1e-11 * (1 + c[6]) * math.Pow(near, 6) * angle * angle
	ok := true
	for i, v := range append(append([]float64(nil), k.R.Data...), j.Data...) {
		got := append(append([]fixed.Q43(nil), q.R.Data...), jq.Data...)[i].Float64()
		ok = ok && math.Abs(got-v) <= tol*(1+math.Abs(v))
	}
	return ok
}

// Limits of what they do not allow take no point, not even the one at the centre.
func TestNoLimits(t *testing.T) {
	for _, c := range []struct {
		name                  string
		turn, depth, w, pixel fixed.Q43
		want                  error
	}{
		{"a turn", fixed.FromInt(300), 0, fixed.One, 0, fixed.ErrDivideByZero},
		{"the largest turn", fixed.Max, fixed.FromInt(-10), fixed.One, 0, fixed.ErrRange},
		{"a translation", 0, fixed.Min, fixed.One, 0, fixed.ErrRange},
		{"a weight", 0, 0, fixed.FromInt(1000), 0, fixed.ErrDivideByZero},
		{"a large weight", 0, 0, fixed.FromInt(1 << 19), 0, fixed.ErrRange},
		{"a feature", 0, 0, fixed.One, fixed.FromInt(1 << 19), fixed.ErrDivideByZero},
	} {
		q := Weighted[fixed.Q43]{
			R: rev.ViewSlice(make([]fixed.Q43, 2)), Z: rev.ViewSlice(make([]fixed.Q43, 1)), Weights: rev.ViewSlice([]fixed.Q43{c.w}),
			Cameras: rev.NewGeneral[fixed.Q43](1, 11, nil), Points: rev.NewGeneral[fixed.Q43](1, 3, nil),
			Features: rev.NewGeneral(1, 2, []fixed.Q43{c.pixel, 0}), Camera: []int{0}, Point: []int{0},
		}
		copy(q.Cameras.Data, []fixed.Q43{c.turn, c.turn, c.turn, 0, 0, c.depth})
		if err := q.Forward(); !errors.Is(err, c.want) {
			t.Errorf("%s: the error is %v, want %v", c.name, err, c.want)
		}
		if q.R.Data[0] != 0 || q.Z.Data[0] != 0 {
			t.Errorf("%s: results were written", c.name)
		}
	}
}

// A block of any size divides in vector code.
func TestLanesAfterTheLast(t *testing.T) {
	for _, n := range []int{1, 5, 8, 63, 64} {
		k := snavelyOf[fixed.Q43](randomSnavely(rand.New(rand.NewPCG(9, 1)), n))
		p, s := snavelyProblem(&k), new(laneSweep)
		s.table = make([]fixed.Q43, p.cameras.Rows*cameraFields)
		for i := range p.cameras.Rows {
			s.real = realCamera(p.model, p.cameras.Row(i))
			for f, v := range s.real.fields() {
				s.table[i*cameraFields+f] = v.v
			}
		}
		s.block(&p, &task[fixed.Q43]{do: views.Residuals, sign: 1}, 0, n)
		if s.memory.nonzero == nil {
			t.Errorf("%d observations divide one by one", n)
		}
	}
}

// The error is that of the first observation out of range, in whichever block and lane it is. A wrong index
// after it panics.
func TestCheckRangeFirst(t *testing.T) {
	const n = 200
	for _, at := range []int{0, 5, 63, 64, 77, 191, n - 1} {
		k := snavelyOf[fixed.Q43](randomSnavely(rand.New(rand.NewPCG(9, 1)), n))
		for i := at; i < n; i += 3 {
			k.Camera[i], k.Point[i] = k.Cameras.Rows-1, k.Points.Rows-1
		}
		for i := range n {
			if i < at || (i-at)%3 != 0 {
				k.Camera[i], k.Point[i] = i%(k.Cameras.Rows-1), i%(k.Points.Rows-1)
			}
		}
		c, x := k.Cameras.Row(k.Cameras.Rows-1), k.Points.Row(k.Points.Rows-1)
		clear(c[:3])
		x[2] = -c[5]
		if err := k.Forward(); !errors.Is(err, fixed.ErrDivideByZero) || !strings.HasPrefix(err.Error(), fmt.Sprintf("ba: observation %d, ", at)) {
			t.Errorf("observation %d at depth 0: %v", at, err)
		}
		k.Point[n-1] = k.Points.Rows
		if v := panicOf(func() { _ = k.Forward() }); !errors.Is(v, mat.ErrRowAccess) {
			t.Errorf("panic %v, want mat.ErrRowAccess", v)
		}
	}
}

func TestCheckRangeErrors(t *testing.T) {
	k := randomSnavely(rand.New(rand.NewPCG(9, 1)), 5)
	if err := k.Forward(); err != nil {
		t.Error(err)
	}
	q := Snavely[fixed.Q43]{
		R: rev.ViewSlice(make([]fixed.Q43, 4)), Cameras: rev.NewGeneral[fixed.Q43](1, 9, nil),
		Points:   rev.NewGeneral(2, 3, []fixed.Q43{fixed.One, 0, -2 * fixed.One, fixed.One, 0, -fixed.One}),
		Features: rev.NewGeneral[fixed.Q43](2, 2, nil), Camera: []int{0, 0}, Point: []int{0, 1},
	}
	q.Cameras.Data[6] = fixed.FromInt(100)
	if err := q.Forward(); err != nil {
		t.Error(err)
	}
	before := slices.Clone(q.R.Data)
	q.Points.Data[5] = 0 // at depth 0
	if err := q.Forward(); !errors.Is(err, fixed.ErrDivideByZero) || !strings.HasPrefix(err.Error(), "ba: observation 1, of point 1 by camera 0: ") {
		t.Errorf("at depth 0: %v", err)
	}
	q.Points.Data[5] = -1 // next to it
	if err := q.Adjoint(Snavely[fixed.Q43]{R: rev.ViewSlice(make([]fixed.Q43, 4)), Features: rev.NewGeneral[fixed.Q43](2, 2, nil)}); !errors.Is(err, fixed.ErrRange) {
		t.Errorf("next to depth 0: %v", err)
	}
	if !slices.Equal(q.R.Data, before) {
		t.Error("residuals changed where there is an error")
	}
	// The residuals are in range, but not their derivatives by a point so near.
	q.Points.Data[3], q.Points.Data[4], q.Points.Data[5] = 0, 0, -fixed.One>>14
	if err := q.Forward(); err != nil {
		t.Errorf("derivatives out of range: %v", err)
	}
	if err := q.Jacobian(rev.NewGeneral[fixed.Q43](4, 12, nil)); !errors.Is(err, fixed.ErrRange) {
		t.Errorf("derivatives out of range: %v", err)
	}
	q.Points.Data[5] = -fixed.One
	q.Camera[0] = 1
	if v := panicOf(func() { _ = q.Forward() }); !errors.Is(v, mat.ErrRowAccess) {
		t.Errorf("panic %v, want mat.ErrRowAccess", v)
	}
}

// An error of one model says nothing of an observation by the other, which has fewer columns.
func TestRangeOfBothModels(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the workspace stays in its pool
	rnd := rand.New(rand.NewPCG(1, 2))
	k, g := snavelyOf[fixed.Q43](randomSnavely(rnd, 9)), snavelyOf[fixed.Q43](randomSnavely(rnd, 9))
	g.Camera, g.Point = nil, nil
	c, x := k.Cameras.Row(k.Camera[0]), k.Points.Row(k.Point[0])
	clear(c[:3])
	x[0], x[1], x[2] = -c[3], -c[4], -c[5]-fixed.One // at depth 1, which goes through the arithmetic
	if err := k.Adjoint(g); err != nil {
		t.Fatal(err)
	}
	w, gw := weightedOf[fixed.Q43](randomWeighted(rnd, 9)), weightedOf[fixed.Q43](randomWeighted(rnd, 9))
	gw.Camera, gw.Point = nil, nil
	copy(w.Points.Row(w.Point[0]), w.Cameras.Row(w.Camera[0])[3:6])
	if err := w.Adjoint(gw); err == nil {
		t.Fatal("no error of depth 0")
	}
	if err := k.Adjoint(g); err != nil {
		t.Error(err)
	}
}
