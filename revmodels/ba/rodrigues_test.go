package ba

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
)

// exactCoefficients sums the power series of the coefficients and of their
// derivatives by s in so many digits that nothing cancels.
func exactCoefficients(s float64) (q [6]float64) {
	const prec = 400
	x := new(big.Float).SetPrec(prec).SetFloat64(s)
	for i := range 3 {
		value, slope := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec)
		term := big.NewFloat(1).SetPrec(prec) // (-s)^k/(2k+1+i)!
		for k := 2; k <= 1+i; k++ {
			term.Quo(term, big.NewFloat(float64(k)))
		}
		for k := range 200 {
			value.Add(value, term)
			// The next term is this one times -s/((2k+2+i)(2k+3+i)); its derivative
			// is k+1 times that over s.
			term.Quo(term, big.NewFloat(float64((2*k+2+i)*(2*k+3+i))))
			term.Neg(term)
			slope.Add(slope, new(big.Float).SetPrec(prec).Mul(term, big.NewFloat(float64(k+1))))
			term.Mul(term, x)
		}
		q[i], _ = value.Float64()
		q[3+i], _ = slope.Float64()
	}
	return q
}

// TestCoefficients covers angles from nothing past 4π, and the two sides of where
// the power series end and of 2π.
func TestCoefficients(t *testing.T) {
	angles := []float64{0, 1e-300, 1e-160, 1e-9, 1e-4, 0.1, 0.5, math.Nextafter(1, 0), 1, math.Nextafter(1, 2), 2, 3, math.Pi, 4, 5, 6,
		2*math.Pi - 1e-3, 2*math.Pi - 1e-8, 2 * math.Pi, 2*math.Pi + 1e-8, 7, 13}
	for _, theta := range angles {
		s := theta * theta
		q := newCoefficients(s)
		want := exactCoefficients(s)
		for i, got := range []float64{q.a, q.b, q.c, q.da, q.db, q.dc} {
			// The sine of an angle that is rounded has an error of ε times the angle,
			// and so much of a, b and c; the slopes are differences over s ≥ 1.
			if tol := 4e-15; !(math.Abs(got-want[i]) <= tol*math.Max(math.Abs(want[i]), 0.05)) {
				t.Errorf("angle %v: coefficient %d is %v, want %v", theta, i, got, want[i])
			}
		}
		if theta < 1000 {
			f := newCoefficients(fixed.FromFloat64(s))
			for i, got := range []fixed.Q43{f.a, f.b, f.c, f.da, f.db, f.dc} {
				if want := exactCoefficients(fixed.FromFloat64(s).Float64())[i]; !(math.Abs(got.Float64()-want) <= 1e-12) {
					t.Errorf("angle %v: fixed coefficient %d is %v, want %v", theta, i, got, want)
				}
			}
		}
	}
}

// TestJacobianAngles compares with dual numbers at angles where the formulas change
// or are at their limits.
func TestJacobianAngles(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for _, theta := range []float64{0, 1e-150, 1e-9, 1e-5, 0.3, 0.9999999, 1, 1.0000001, 3.1, math.Pi, 6.2, 2*math.Pi - 1e-7, 2 * math.Pi, 9} {
		k := randomSnavely(rnd, 20)
		for i := range k.Cameras.Rows {
			var axis [3]float64
			fill(rnd, axis[:])
			n := math.Sqrt(squareNorm(axis[:]))
			for j := range axis {
				k.Cameras.Row(i)[j] = theta * axis[j] / n
			}
		}
		j := rev.NewGeneral[float64](2*20, snavelyColumns, nil)
		_ = k.Jacobian(j)
		for i, c := range k.Camera {
			params := append(append([]float64(nil), k.Cameras.Row(c)...), k.Points.Row(k.Point[i])...)
			checkDual(t, "Snavely", params, k.Features.Row(i), [2]float64(k.R.Data[2*i:]), [2][]float64{j.Row(2 * i), j.Row(2*i + 1)})
		}
	}
}

// TestInvariance moves, turns and scales cameras and points together, which changes
// no residual.
func TestInvariance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	k := randomSnavely(rnd, 50)
	_ = k.Forward()
	want := append([]float64(nil), k.R.Data...)
	check := func(name string) {
		t.Helper()
		clear(k.R.Data)
		_ = k.Forward()
		for i, r := range k.R.Data {
			if !(math.Abs(r-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
				t.Fatalf("%s: residual %d is %v, was %v", name, i, r, want[i])
			}
		}
	}
	for i := range k.Cameras.Data {
		if c := i % 9; c >= 3 && c < 6 {
			k.Cameras.Data[i] *= 3
		}
	}
	for i := range k.Points.Data {
		k.Points.Data[i] *= 3
	}
	check("scaled")
	shift := []float64{1, -2, 0.5}
	for i := range k.Cameras.Rows {
		c := k.Cameras.Row(i)
		turn, _ := rotate(c[:3])
		for a := range 3 {
			c[3+a] -= turn[3*a]*shift[0] + turn[3*a+1]*shift[1] + turn[3*a+2]*shift[2]
		}
	}
	for i := range k.Points.Rows {
		for a, v := range shift {
			k.Points.Row(i)[a] += v
		}
	}
	check("moved")
	// A full turn about the own axis.
	for i := range k.Cameras.Rows {
		c := k.Cameras.Row(i)
		if n := math.Sqrt(squareNorm(c[:3])); n > 0 {
			for a := range 3 {
				c[a] *= 1 + 2*math.Pi/n
			}
		}
	}
	check("turned by 2π")
}

// TestDepthZero documents what a point in the plane of the camera gives.
func TestDepthZero(t *testing.T) {
	k := randomWeighted(rand.New(rand.NewPCG(8, 1)), 20)
	q := weightedOf[fixed.Q43](k)
	copy(k.Points.Row(k.Point[3]), k.Cameras.Row(k.Camera[3])[3:6])
	j := rev.NewGeneral[float64](40, weightedColumns, nil)
	_ = k.Jacobian(j, rev.ViewSlice(make([]float64, 20)))
	if r := k.R.Data[6:8]; !math.IsNaN(r[0]) || !math.IsNaN(r[1]) {
		t.Errorf("a point in the centre of a camera has the residuals %v, want NaN", r)
	}
	for i := range k.Camera {
		if k.Point[i] != k.Point[3] && math.IsNaN(k.R.Data[2*i]) {
			t.Errorf("residual of observation %d is NaN too", i)
		}
	}
	copy(q.Points.Row(q.Point[3]), q.Cameras.Row(q.Camera[3])[3:6])
	if err := q.Forward(); !errors.Is(err, fixed.ErrDivideByZero) {
		t.Errorf("in fixed point: %v", err)
	}
}

// TestJacobianShapes checks the views that Jacobian stores to, of which rows may lie
// apart.
func TestJacobianShapes(t *testing.T) {
	const n = 45
	k := randomWeighted(rand.New(rand.NewPCG(9, 1)), n)
	want, dz := rev.NewGeneral[float64](2*n, weightedColumns, nil), rev.ViewSlice(make([]float64, n))
	_ = k.Jacobian(want, dz)
	apart := rev.General[float64]{Rows: 2 * n, Cols: weightedColumns, Stride: weightedColumns + 2, Data: make([]float64, 2*n*(weightedColumns+2)-2)}
	for i := range apart.Data {
		apart.Data[i] = math.Pi
	}
	k.R, k.Z = rev.Vector[float64]{}, rev.Vector[float64]{}
	_ = k.Jacobian(apart, rev.Vector[float64]{N: n, Inc: 2, Data: make([]float64, 2*n-1)})
	for i, v := range apart.Data {
		row, col := i/apart.Stride, i%apart.Stride
		if col >= weightedColumns {
			if v != math.Pi {
				t.Fatalf("the gap after row %d is written", row)
			}
		} else if v != want.Row(row)[col] {
			t.Fatalf("row %d, column %d: %v, want %v", row, col, v, want.Row(row)[col])
		}
	}
	for name, f := range map[string]func(){
		"rows":    func() { _ = k.Jacobian(rev.NewGeneral[float64](n, weightedColumns, nil), dz) },
		"columns": func() { _ = k.Jacobian(rev.NewGeneral[float64](2*n, snavelyColumns, nil), dz) },
		"data": func() {
			_ = k.Jacobian(rev.General[float64]{Rows: 2 * n, Cols: 15, Stride: 15, Data: want.Data[1:]}, dz)
		},
		"z": func() { _ = k.Jacobian(want, rev.ViewSlice(make([]float64, n-1))) },
	} {
		if v := panicOf(f); !errors.Is(v, mat.ErrShape) {
			t.Errorf("%s: panic %v, want mat.ErrShape", name, v)
		}
	}
}
