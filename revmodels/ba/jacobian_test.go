package ba

import (
	"math"
	"math/rand/v2"
	"testing"

	gdual "gonum.org/v1/gonum/num/dual"

	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
)

// randomSnavely returns a kernel of about size observations whose points lie well
// in front of the cameras.
func randomSnavely(rnd *rand.Rand, size int) Snavely[float64] {
	n, m := (size+2)/3, (size+1)/2
	k := Snavely[float64]{
		R:       rev.ViewSlice(make([]float64, 2*size)),
		Cameras: rev.NewGeneral[float64](n, 9, nil), Points: rev.NewGeneral[float64](m, 3, nil),
		Features: rev.NewGeneral[float64](size, 2, nil),
		Camera:   make([]int, size), Point: make([]int, size),
	}
	for i := range n {
		c := k.Cameras.Row(i)
		for j := range 3 {
			c[j], c[3+j] = 0.6*rnd.NormFloat64(), 0.1*rnd.NormFloat64()
		}
		if i%3 == 1 {
			clear(c[:3])
		}
		c[5] -= 8
		c[6], c[7], c[8] = 1+rnd.Float64(), 0.1*rnd.NormFloat64(), 0.1*rnd.NormFloat64()
	}
	fill(rnd, k.Points.Data)
	fill(rnd, k.Features.Data)
	// Each camera and each point has an observation.
	for i, at := range rnd.Perm(size) {
		k.Camera[i], k.Point[at] = i%n, i%m
	}
	return k
}

// randomWeighted is randomSnavely for the other model.
func randomWeighted(rnd *rand.Rand, size int) Weighted[float64] {
	s := randomSnavely(rnd, size)
	k := Weighted[float64]{
		R: s.R, Z: rev.ViewSlice(make([]float64, size)), Cameras: rev.NewGeneral[float64](s.Cameras.Rows, 11, nil),
		Points: s.Points, Weights: rev.ViewSlice(make([]float64, size)), Features: s.Features, Camera: s.Camera, Point: s.Point,
	}
	for i := range k.Cameras.Rows {
		c, from := k.Cameras.Row(i), s.Cameras.Row(i)
		turn, _ := rotate(from[:3])
		for j := range 3 { // C = -Rᵀ·t
			c[j] = from[j]
			c[3+j] = -turn[j]*from[3] - turn[3+j]*from[4] - turn[6+j]*from[5]
		}
		c[6], c[7], c[8], c[9], c[10] = from[6], rnd.NormFloat64(), rnd.NormFloat64(), from[7], from[8]
	}
	fill(rnd, k.Weights.Data)
	return k
}

func fill(rnd *rand.Rand, x []float64) {
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
}

func rotate(r []float64) (turn, left [9]float64) {
	c := realCamera(views.Snavely, append(r[:3:3], 0, 0, 0, 0, 0, 0))
	for i := range turn {
		turn[i], left[i] = c.turn[i].v, c.left[i].v
	}
	return turn, left
}

// dualTurn rotates x by r, by the half angles of the quaternion, so that it has
// nothing in common with the code under test.
func dualTurn(r, x [3]gdual.Number) [3]gdual.Number {
	var s gdual.Number
	for _, v := range r {
		s = gdual.Add(s, gdual.Mul(v, v))
	}
	if s.Real == 0 {
		v := dualCross(r, x)
		for i := range v {
			v[i] = gdual.Add(x[i], v[i])
		}
		return v
	}
	theta := gdual.Sqrt(s)
	half := gdual.Scale(0.5, theta)
	w, sine := gdual.Cos(half), gdual.Mul(gdual.Sin(half), gdual.Inv(theta))
	var u [3]gdual.Number
	for i := range u {
		u[i] = gdual.Mul(sine, r[i])
	}
	// x + 2w·(u×x) + 2u×(u×x)
	c := dualCross(u, x)
	d := dualCross(u, c)
	for i := range x {
		x[i] = gdual.Add(x[i], gdual.Scale(2, gdual.Add(gdual.Mul(w, c[i]), d[i])))
	}
	return x
}

func dualCross(u, v [3]gdual.Number) (c [3]gdual.Number) {
	for i := range c {
		j, k := (i+1)%3, (i+2)%3
		c[i] = gdual.Sub(gdual.Mul(u[j], v[k]), gdual.Mul(u[k], v[j]))
	}
	return c
}

// dualResiduals are the residuals of an observation whose parameters x are in the
// order of the columns of the Jacobian.
func dualResiduals(x []gdual.Number, feature []float64) [2]gdual.Number {
	one := gdual.Number{Real: 1}
	r, w := [3]gdual.Number(x), one
	var y [3]gdual.Number
	var u, v, k1, k2 gdual.Number
	sign := -1.0
	if len(x) == weightedColumns {
		sign, u, v, k1, k2, w = 1, x[7], x[8], x[9], x[10], x[14]
		for i := range y {
			y[i] = gdual.Sub(x[11+i], x[3+i])
		}
		y = dualTurn(r, y)
	} else {
		k1, k2 = x[7], x[8]
		y = dualTurn(r, [3]gdual.Number(x[9:]))
		for i := range y {
			y[i] = gdual.Add(y[i], x[3+i])
		}
	}
	inv := gdual.Scale(sign, gdual.Inv(y[2]))
	p := [2]gdual.Number{gdual.Mul(inv, y[0]), gdual.Mul(inv, y[1])}
	s := gdual.Add(gdual.Mul(p[0], p[0]), gdual.Mul(p[1], p[1]))
	radial := gdual.Add(one, gdual.Add(gdual.Mul(k1, s), gdual.Mul(k2, gdual.Mul(s, s))))
	e := [2]gdual.Number{u, v}
	for i := range e {
		e[i] = gdual.Add(e[i], gdual.Mul(gdual.Mul(x[6], radial), p[i]))
		e[i].Real -= feature[i]
		e[i] = gdual.Mul(w, e[i])
	}
	return e
}

// checkDual compares the residuals and the Jacobian of an observation with those
// of dual numbers.
func checkDual(t *testing.T, name string, params, feature []float64, r [2]float64, j [2][]float64) {
	t.Helper()
	x := make([]gdual.Number, len(params))
	for k := range params {
		for i, v := range params {
			x[i] = gdual.Number{Real: v}
		}
		x[k].Emag = 1
		want := dualResiduals(x, feature)
		for c := range want {
			if d := math.Abs(r[c] - want[c].Real); !(d <= 1e-13*(1+math.Abs(want[c].Real))) {
				t.Errorf("%s: residual %d is %v, want %v", name, c, r[c], want[c].Real)
			}
			if d := math.Abs(j[c][k] - want[c].Emag); !(d <= 1e-12*(1+math.Abs(want[c].Emag))) {
				t.Errorf("%s: derivative %d of residual %d is %v, want %v", name, k, c, j[c][k], want[c].Emag)
			}
		}
	}
}

func TestSnavelyJacobian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	k := randomSnavely(rnd, 300)
	j := rev.NewGeneral[float64](2*300, snavelyColumns, nil)
	_ = k.Jacobian(j)
	for i, c := range k.Camera {
		params := append(append([]float64(nil), k.Cameras.Row(c)...), k.Points.Row(k.Point[i])...)
		checkDual(t, "Snavely", params, k.Features.Row(i), [2]float64(k.R.Data[2*i:]), [2][]float64{j.Row(2 * i), j.Row(2*i + 1)})
	}
}

func TestWeightedJacobian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	k := randomWeighted(rnd, 300)
	j := rev.NewGeneral[float64](2*300, weightedColumns, nil)
	z := rev.ViewSlice(make([]float64, 300))
	_ = k.Jacobian(j, z)
	for i, c := range k.Camera {
		params := append(append([]float64(nil), k.Cameras.Row(c)...), k.Points.Row(k.Point[i])...)
		w := k.Weights.Data[i]
		params = append(params, w)
		checkDual(t, "Weighted", params, k.Features.Row(i), [2]float64(k.R.Data[2*i:]), [2][]float64{j.Row(2 * i), j.Row(2*i + 1)})
		if k.Z.Data[i] != 1-float64(w*w) || z.Data[i] != -2*w {
			t.Errorf("Z is %v and its derivative %v for the weight %v", k.Z.Data[i], z.Data[i], w)
		}
	}
}
