package examples

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/rev"
)

// The code below is plain Go written by hand for one case only: contiguous operands,
// none of them missing. Its adjoints check those that revgen writes, and show how fast
// these could be.

// A pair is a kernel and what is written by hand for it: the function and the adjoint,
// which restore what they change, so that a benchmark can repeat them.
type pair struct {
	name     string
	elements int // that times are given for
	forward, adjoint, tangent, second,
	handForward, handAdjoint func()
	got, want, cotangents [][]float64 // what the adjoints change
}

func pairOf[K interface {
	Forward()
	Adjoint(g K)
	Tangent(t K)
	AdjointTangent(g, t, gt K)
}](name string, elements int, problem func() K, all func(k K) [][]float64, forward, adjoint func(k, g K)) pair {
	k, g, t, gt, hk, hg := problem(), problem(), problem(), problem(), problem(), problem()
	return pair{
		name: name, elements: elements,
		forward: k.Forward, adjoint: func() { k.Adjoint(g) }, tangent: func() { k.Tangent(t) }, second: func() { k.AdjointTangent(g, t, gt) },
		handForward: func() { forward(hk, hg) }, handAdjoint: func() { adjoint(hk, hg) },
		got: append(all(k), all(g)...), want: append(all(hk), all(hg)...),
		cotangents: slices.Concat(all(g), all(t), all(gt), all(hg)),
	}
}

func slicesOf(xs ...any) (out [][]float64) {
	for _, x := range xs {
		switch x := x.(type) {
		case *float64:
			out = append(out, unsafe.Slice(x, 1))
		case rev.Vector[float64]:
			out = append(out, x.Data)
		case rev.General[float64]:
			out = append(out, x.Data)
		}
	}
	return out
}

// byHand returns the kernels of size n that have adjoints by hand.
func byHand(n int) []pair {
	of := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	return []pair{
		pairOf("axpy", 5*n, func() Axpy[float64] { return axpySpec[float64]().New(of(), 5*n) },
			func(k Axpy[float64]) [][]float64 { return slicesOf(k.Y, k.Alpha, k.X) },
			func(k, _ Axpy[float64]) { handAxpy(k.Y.Data, *k.Alpha, k.X.Data) },
			func(k, g Axpy[float64]) { handAxpyAdjoint(k.Y.Data, *k.Alpha, k.X.Data, g.Y.Data, g.Alpha, g.X.Data) }),
		pairOf("norm2", 5*n, func() Norm2[float64] {
			k := norm2Spec[float64]().New(of(), 5*n)
			*k.Out = 0.5
			return k
		},
			func(k Norm2[float64]) [][]float64 { return slicesOf(k.Out, k.X) },
			func(k, _ Norm2[float64]) { *k.Out += handNorm2(k.X.Data) },
			func(k, g Norm2[float64]) { handNorm2Adjoint(k.Out, k.X.Data, *g.Out, g.X.Data) }),
		pairOf("affine", n*n, func() Affine[float64] { return affineSpec[float64]().New(of(), n) },
			func(k Affine[float64]) [][]float64 { return slicesOf(k.Y, k.W, k.X, k.B) },
			func(k, _ Affine[float64]) { handAffine(k.Y.Data, k.W.Data, k.X.Data, k.B.Data, 1) },
			func(k, g Affine[float64]) {
				handAffineAdjoint(k.Y.Data, k.W.Data, k.X.Data, k.B.Data, g.Y.Data, g.W.Data, g.X.Data, g.B.Data)
			}),
		pairOf("pairs", 2*n, func() Pairs[float64] {
			k := pairsSpec[float64]().New(of(), n)
			*k.Out = 0.5
			return k
		},
			func(k Pairs[float64]) [][]float64 { return slicesOf(k.Out, k.X, k.W, k.D) },
			func(k, _ Pairs[float64]) { *k.Out += handPairs(k.X, k.I, k.J, k.W.Data, k.D.Data) },
			func(k, g Pairs[float64]) {
				handPairsAdjoint(k.Out, k.X, k.I, k.J, k.W.Data, k.D.Data, *g.Out, g.X, g.W.Data, g.D.Data)
			}),
		pairOf("bessel", n, func() Bessel[float64] { return besselSpec[float64]().New(of(), n) },
			func(k Bessel[float64]) [][]float64 { return slicesOf(k.Y, k.X) },
			func(k, _ Bessel[float64]) { handBessel(k.Y.Data, k.X.Data, k.Nu) },
			func(k, g Bessel[float64]) { handBesselAdjoint(k.Y.Data, k.X.Data, g.Y.Data, g.X.Data, k.Nu) }),
		pairOf("leapfrog", 3*n*(n-1)/2, func() Leapfrog[float64] { return leapfrogSpec[float64]().New(of(), n) },
			func(k Leapfrog[float64]) [][]float64 { return slicesOf(k.X, k.V, k.M, k.Dt) },
			func(k, _ Leapfrog[float64]) { handLeapfrog(k.X.Data, k.V.Data, k.M.Data, *k.Dt, k.Eps, k.Steps) },
			func(k, g Leapfrog[float64]) {
				handLeapfrogAdjoint(k.X.Data, k.V.Data, k.M.Data, *k.Dt, k.Eps, k.Steps, g.X.Data, g.V.Data, g.M.Data, g.Dt)
			}),
		pairOf("snavely", n, func() Snavely[float64] { return snavelySpec[float64]().New(of(), n) },
			func(k Snavely[float64]) [][]float64 { return slicesOf(k.R, k.Cameras, k.Points, k.Features) },
			func(k, _ Snavely[float64]) { handSnavely(k, 1) }, handSnavelyAdjoint),
		pairOf("lstm", 4*n*(n+n/2+1), func() LSTM[float64] { return lstmSpec[float64]().New(of(), n) },
			func(k LSTM[float64]) [][]float64 { return slicesOf(k.H1, k.C1, k.W, k.U, k.B, k.X, k.H0, k.C0) },
			func(k, _ LSTM[float64]) { handLSTM(k) }, handLSTMAdjoint),
		pairOf("rotate", 5*n, func() Rotate[float64] { return rotateSpec[float64]().New(of(), 5*n) },
			func(k Rotate[float64]) [][]float64 { return slicesOf(k.X, k.Theta) },
			func(k, _ Rotate[float64]) { handRotate(k.X.Data, k.Theta.Data) },
			func(k, g Rotate[float64]) { handRotateAdjoint(k.X.Data, k.Theta.Data, g.X.Data, g.Theta.Data) }),
		pairOf("misfit", n, func() Misfit[float64] {
			k := misfitSpec[float64]().New(of(), n)
			*k.Loss = 0.5
			return k
		},
			func(k Misfit[float64]) [][]float64 { return slicesOf(k.Loss, k.P, k.T, k.Y) },
			func(k, _ Misfit[float64]) { *k.Loss += handMisfit(k.P.Data, k.T.Data, k.Y.Data) },
			func(k, g Misfit[float64]) {
				handMisfitAdjoint(k.Loss, k.P.Data, k.T.Data, k.Y.Data, *g.Loss, g.P.Data, g.T.Data, g.Y.Data)
			}),
	}
}

// The adjoints that revgen writes agree with those by hand.
func TestByHand(t *testing.T) {
	for _, p := range byHand(6) {
		p.adjoint()
		p.handAdjoint()
		for i, got := range p.got {
			for j, v := range got {
				if want := p.want[i][j]; !(math.Abs(v-want) <= 1e-10*(1+math.Abs(want))) {
					t.Errorf("%s: result %d, element %d is %v, want %v", p.name, i, j, v, want)
				}
			}
		}
	}
}

// This measures the passes, in nanoseconds an element, in multiples of Forward, and in
// multiples of the code written by hand.
func BenchmarkByHand(b *testing.B) {
	for _, p := range byHand(200) {
		times := map[string]float64{}
		for _, g := range p.cotangents {
			clear(g) // those of kernels in place would grow without bound
		}
		for _, f := range []struct {
			name string
			call func()
		}{{"HandForward", p.handForward}, {"HandAdjoint", p.handAdjoint}, {"Forward", p.forward}, {"Adjoint", p.adjoint}, {"Tangent", p.tangent}, {"AdjointTangent", p.second}} {
			b.Run(p.name+"/"+f.name, func(b *testing.B) {
				for b.Loop() {
					f.call()
				}
				times[f.name] = float64(b.Elapsed()) / float64(b.N)
				b.ReportMetric(times[f.name]/float64(p.elements), "ns/element")
				if forward := times["Forward"]; forward > 0 {
					b.ReportMetric(times[f.name]/forward, "forward")
				}
				if hand := times["Hand"+f.name]; hand > 0 {
					b.ReportMetric(times[f.name]/hand, "byhand")
				}
			})
		}
	}
}

func handAxpy(y []float64, alpha float64, x []float64) {
	for i, v := range x {
		y[i] += alpha * v
	}
}

func handAxpyAdjoint(y []float64, alpha float64, x, gy []float64, galpha *float64, gx []float64) {
	d := 0.0
	for i, v := range x {
		y[i] -= alpha * v
		d += gy[i] * v
		gx[i] += alpha * gy[i]
	}
	*galpha += d
}

func handNorm2(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v * v
	}
	return math.Sqrt(s)
}

func handNorm2Adjoint(out *float64, x []float64, gout float64, gx []float64) {
	r := handNorm2(x)
	*out -= r
	a := gout / r
	for i, v := range x {
		gx[i] += a * v
	}
}

func handAffine(y, w, x, b []float64, sign float64) {
	n := len(x)
	for i := range y {
		row := w[i*n:][:n]
		s := b[i]
		for j, v := range row {
			s += v * x[j]
		}
		y[i] += sign * s
	}
}

func handAffineAdjoint(y, w, x, b, gy, gw, gx, gb []float64) {
	n := len(x)
	for i := range y {
		row, grow, g := w[i*n:][:n], gw[i*n:][:n], gy[i]
		s := b[i]
		for j, v := range row {
			s += v * x[j]
			grow[j] += g * x[j]
			gx[j] += g * v
		}
		y[i] -= s
		gb[i] += g
	}
}

func handPairs(x rev.General[float64], is, js []int, w, d []float64) (total float64) {
	for p, wp := range w {
		a, b := x.Row(is[p]), x.Row(js[p])
		s := 0.0
		for k, v := range a {
			e := v - b[k]
			s += e * e
		}
		e := math.Sqrt(s) - d[p]
		total += wp * e * e
	}
	return total
}

func handPairsAdjoint(out *float64, x rev.General[float64], is, js []int, w, d []float64, g float64, gx rev.General[float64], gw, gd []float64) {
	total := 0.0
	for p, wp := range w {
		a, b := x.Row(is[p]), x.Row(js[p])
		s := 0.0
		for k, v := range a {
			e := v - b[k]
			s += e * e
		}
		r := math.Sqrt(s)
		e := r - d[p]
		total += wp * e * e
		gw[p] += g * e * e
		ge := 2 * g * wp * e
		gd[p] -= ge
		f := ge / r
		ga, gb := gx.Row(is[p]), gx.Row(js[p])
		for k, v := range a {
			h := f * (v - b[k])
			ga[k] += h
			gb[k] -= h
		}
	}
	*out -= total
}

func handBessel(y, x []float64, nu int) {
	for i, v := range x {
		h := v / 2
		term := 1.0
		for k := 1; k <= nu; k++ {
			term *= h / float64(k)
		}
		sum, q := term, -h*h
		for k := 1; k < 100 && math.Abs(term) > 1e-18; k++ {
			term *= q / float64(k*(k+nu))
			sum += term
		}
		y[i] += sum
	}
}

// The derivative of a power series is one, of terms times their powers.
func handBesselAdjoint(y, x, gy, gx []float64, nu int) {
	for i, v := range x {
		h := v / 2
		term := 1.0
		for k := 1; k <= nu; k++ {
			term *= h / float64(k)
		}
		sum, q := term, -h*h
		d := float64(nu) * term
		for k := 1; k < 100 && math.Abs(term) > 1e-18; k++ {
			term *= q / float64(k*(k+nu))
			sum += term
			d += float64(nu+2*k) * term
		}
		y[i] -= sum
		gx[i] += gy[i] * d / v
	}
}

func handLeapfrog(x, v, m []float64, dt, eps float64, steps int) {
	for range steps {
		for i := range x {
			x[i] += dt / 2 * v[i]
		}
		for i := range m {
			xi, vi := x[3*i:][:3], v[3*i:][:3]
			for j := range i {
				xj, vj := x[3*j:][:3], v[3*j:][:3]
				dx, dy, dz := xi[0]-xj[0], xi[1]-xj[1], xi[2]-xj[2]
				r2 := dx*dx + dy*dy + dz*dz + eps
				f := dt / (r2 * math.Sqrt(r2))
				fi, fj := f*m[j], f*m[i]
				vi[0] -= fi * dx
				vi[1] -= fi * dy
				vi[2] -= fi * dz
				vj[0] += fj * dx
				vj[1] += fj * dy
				vj[2] += fj * dz
			}
		}
		for i := range x {
			x[i] += dt / 2 * v[i]
		}
	}
}

func handLeapfrogAdjoint(x, v, m []float64, dt, eps float64, steps int, gx, gv, gm []float64, gdt *float64) {
	gh, gd := 0.0, 0.0
	drift := func() {
		for i := range x {
			x[i] -= dt / 2 * v[i]
			gh += gx[i] * v[i]
			gv[i] += gx[i] * (dt / 2)
		}
	}
	for range steps {
		drift()
		for i := len(m) - 1; i >= 0; i-- {
			xi, vi, gxi, gvi := x[3*i:][:3], v[3*i:][:3], gx[3*i:][:3], gv[3*i:][:3]
			for j := i - 1; j >= 0; j-- {
				xj, vj, gxj, gvj := x[3*j:][:3], v[3*j:][:3], gx[3*j:][:3], gv[3*j:][:3]
				dx, dy, dz := xi[0]-xj[0], xi[1]-xj[1], xi[2]-xj[2]
				r2 := dx*dx + dy*dy + dz*dz + eps
				c := 1 / (r2 * math.Sqrt(r2))
				f := dt * c
				fi, fj := f*m[j], f*m[i]
				vi[0] += fi * dx
				vi[1] += fi * dy
				vi[2] += fi * dz
				vj[0] -= fj * dx
				vj[1] -= fj * dy
				vj[2] -= fj * dz
				gfi := -(gvi[0]*dx + gvi[1]*dy + gvi[2]*dz)
				gfj := gvj[0]*dx + gvj[1]*dy + gvj[2]*dz
				gm[j] += gfi * f
				gm[i] += gfj * f
				gf := gfi*m[j] + gfj*m[i]
				gd += gf * c
				gr := -3 * gf * f / r2
				hx := fj*gvj[0] - fi*gvi[0] + gr*dx
				hy := fj*gvj[1] - fi*gvi[1] + gr*dy
				hz := fj*gvj[2] - fi*gvi[2] + gr*dz
				gxi[0] += hx
				gxi[1] += hy
				gxi[2] += hz
				gxj[0] -= hx
				gxj[1] -= hy
				gxj[2] -= hz
			}
		}
		drift()
	}
	*gdt += gd + gh/2
}

func handSnavely(k Snavely[float64], sign float64) {
	for i, ci := range k.Camera {
		c, x, o, r := k.Cameras.Row(ci), k.Points.Row(k.Point[i]), k.Features.Row(i), k.R.Data[2*i:][:2]
		s := c[0]*c[0] + c[1]*c[1] + c[2]*c[2]
		cos, a, b := 1-s/2, 1-s/6, 0.5-s/24
		if s > 1e-6 {
			theta := math.Sqrt(s)
			sn, cs := math.Sincos(theta)
			cos, a, b = cs, sn/theta, (1-cs)/s
		}
		d := b * (c[0]*x[0] + c[1]*x[1] + c[2]*x[2])
		y0 := cos*x[0] + a*(c[1]*x[2]-c[2]*x[1]) + d*c[0] + c[3]
		y1 := cos*x[1] + a*(c[2]*x[0]-c[0]*x[2]) + d*c[1] + c[4]
		y2 := cos*x[2] + a*(c[0]*x[1]-c[1]*x[0]) + d*c[2] + c[5]
		u, v := -y0/y2, -y1/y2
		q := u*u + v*v
		f := c[6] * (1 + q*(c[7]+q*c[8]))
		r[0] += sign * (f*u - o[0])
		r[1] += sign * (f*v - o[1])
	}
}

// The derivatives of the rotation are taken as those of Rodrigues' formula.
func handSnavelyAdjoint(k, g Snavely[float64]) {
	for i, ci := range k.Camera {
		c, x, o, r := k.Cameras.Row(ci), k.Points.Row(k.Point[i]), k.Features.Row(i), k.R.Data[2*i:][:2]
		gc, gx, gob, gr := g.Cameras.Row(ci), g.Points.Row(k.Point[i]), g.Features.Row(i), g.R.Data[2*i:][:2]
		s := c[0]*c[0] + c[1]*c[1] + c[2]*c[2]
		cos, a, b := 1-s/2, 1-s/6, 0.5-s/24
		dcos, da, db := -0.5, -1.0/6, -1.0/24 // by s
		if s > 1e-6 {
			theta := math.Sqrt(s)
			sn, cs := math.Sincos(theta)
			cos, a, b = cs, sn/theta, (1-cs)/s
			dcos, da, db = -a/2, (cs-a)/(2*s), (a/2-b)/s
		}
		t := c[0]*x[0] + c[1]*x[1] + c[2]*x[2]
		d := b * t
		w0, w1, w2 := c[1]*x[2]-c[2]*x[1], c[2]*x[0]-c[0]*x[2], c[0]*x[1]-c[1]*x[0]
		y0 := cos*x[0] + a*w0 + d*c[0] + c[3]
		y1 := cos*x[1] + a*w1 + d*c[1] + c[4]
		y2 := cos*x[2] + a*w2 + d*c[2] + c[5]
		inv := -1 / y2
		u, v := y0*inv, y1*inv
		q := u*u + v*v
		e := 1 + q*(c[7]+q*c[8])
		f := c[6] * e
		r[0] -= f*u - o[0]
		r[1] -= f*v - o[1]
		g0, g1 := gr[0], gr[1]
		gob[0] -= g0
		gob[1] -= g1
		gf := g0*u + g1*v
		gc[6] += gf * e
		ge := gf * c[6]
		gc[7] += ge * q
		gc[8] += ge * q * q
		gq := ge * (c[7] + 2*q*c[8])
		gu, gv := f*g0+2*gq*u, f*g1+2*gq*v
		gy0, gy1, gy2 := gu*inv, gv*inv, (gu*u+gv*v)*inv
		gc[3] += gy0
		gc[4] += gy1
		gc[5] += gy2
		gd := gy0*c[0] + gy1*c[1] + gy2*c[2]
		gt := gd * b
		gs := (gy0*x[0]+gy1*x[1]+gy2*x[2])*dcos + (gy0*w0+gy1*w1+gy2*w2)*da + gd*t*db
		gx[0] += cos*gy0 + a*(gy1*c[2]-gy2*c[1]) + gt*c[0]
		gx[1] += cos*gy1 + a*(gy2*c[0]-gy0*c[2]) + gt*c[1]
		gx[2] += cos*gy2 + a*(gy0*c[1]-gy1*c[0]) + gt*c[2]
		gc[0] += d*gy0 + a*(x[1]*gy2-x[2]*gy1) + gt*x[0] + 2*gs*c[0]
		gc[1] += d*gy1 + a*(x[2]*gy0-x[0]*gy2) + gt*x[1] + 2*gs*c[1]
		gc[2] += d*gy2 + a*(x[0]*gy1-x[1]*gy0) + gt*x[2] + 2*gs*c[2]
	}
}

// gates returns those of unit k, before their functions.
func gates(k LSTM[float64], u int) (z [4]float64) {
	n := k.C0.N
	for q := range z {
		s := k.B.Data[q*n+u]
		for j, w := range k.W.Row(q*n + u) {
			s += w * k.X.Data[j]
		}
		for j, w := range k.U.Row(q*n + u) {
			s += w * k.H0.Data[j]
		}
		z[q] = s
	}
	return z
}

func handLSTM(k LSTM[float64]) {
	for u, c0 := range k.C0.Data {
		z := gates(k, u)
		c := sigmoid(z[1])*c0 + sigmoid(z[0])*math.Tanh(z[3])
		k.C1.Data[u] += c
		k.H1.Data[u] += sigmoid(z[2]) * math.Tanh(c)
	}
}

func handLSTMAdjoint(k, g LSTM[float64]) {
	n := k.C0.N
	for u, c0 := range k.C0.Data {
		z := gates(k, u)
		i, f, o, a := sigmoid(z[0]), sigmoid(z[1]), sigmoid(z[2]), math.Tanh(z[3])
		c := f*c0 + i*a
		t := math.Tanh(c)
		k.C1.Data[u] -= c
		k.H1.Data[u] -= o * t
		gc := g.C1.Data[u] + g.H1.Data[u]*o*(1-t*t)
		g.C0.Data[u] += gc * f
		gz := [4]float64{gc * a * i * (1 - i), gc * c0 * f * (1 - f), g.H1.Data[u] * t * o * (1 - o), gc * i * (1 - a*a)}
		for q, d := range gz {
			g.B.Data[q*n+u] += d
			w, gw := k.W.Row(q*n+u), g.W.Row(q*n+u)
			for j, x := range k.X.Data {
				gw[j] += d * x
				g.X.Data[j] += d * w[j]
			}
			w, gw = k.U.Row(q*n+u), g.U.Row(q*n+u)
			for j, x := range k.H0.Data {
				gw[j] += d * x
				g.H0.Data[j] += d * w[j]
			}
		}
	}
}

func handRotate(x, theta []float64) {
	for i, a := range theta {
		sin, cos := math.Sincos(a)
		t := sin / (1 + cos)
		x0, x1 := x[i], x[i+1]
		x0 -= t * x1
		x1 += sin * x0
		x0 -= t * x1
		x[i], x[i+1] = x0, x1
	}
}

// The derivative of sin θ/(1 + cos θ) is 1/(1 + cos θ).
func handRotateAdjoint(x, theta, gx, gtheta []float64) {
	for i := len(theta) - 1; i >= 0; i-- {
		sin, cos := math.Sincos(theta[i])
		t := sin / (1 + cos)
		x0, x1, g0, g1 := x[i], x[i+1], gx[i], gx[i+1]
		x0 += t * x1
		gt := g0 * x1
		g1 -= t * g0
		x1 -= sin * x0
		gsin := g1 * x0
		g0 += sin * g1
		x0 += t * x1
		gt += g0 * x1
		g1 -= t * g0
		gtheta[i] += gsin*cos - gt/(1+cos)
		x[i], x[i+1], gx[i], gx[i+1] = x0, x1, g0, g1
	}
}

func handMisfit(p, t, y []float64) (loss float64) {
	for i, ti := range t {
		r := p[0]*math.Exp(-p[1]*ti)*math.Cos(p[2]*ti) + p[3] - y[i]
		if a := math.Abs(r); a < 0.5 {
			loss += r * r / 2
		} else {
			loss += 0.5 * (a - 0.25)
		}
	}
	return loss
}

func handMisfitAdjoint(loss *float64, p, t, y []float64, g float64, gp, gt, gy []float64) {
	var sum, g0, g1, g2, g3 float64
	for i, ti := range t {
		sin, cos := math.Sincos(p[2] * ti)
		e := math.Exp(-p[1] * ti)
		u, v := p[0]*e*cos, p[0]*e*sin
		r := u + p[3] - y[i]
		gr := g * r
		if a := math.Abs(r); a < 0.5 {
			sum += r * r / 2
		} else {
			sum += 0.5 * (a - 0.25)
			gr = g * math.Copysign(0.5, r)
		}
		g0 += gr * e * cos
		g1 -= gr * u * ti
		g2 -= gr * v * ti
		g3 += gr
		gt[i] -= gr * (p[1]*u + p[2]*v)
		gy[i] -= gr
	}
	*loss -= sum
	gp[0] += g0
	gp[1] += g1
	gp[2] += g2
	gp[3] += g3
}
