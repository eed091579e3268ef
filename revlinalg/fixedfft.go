package revlinalg

import (
	"math"

	"revnum/fixed"
	"revnum/internal/vector"
	"revnum/internal/workspace"
	"revnum/rev"
)

// FixedFFT is the kernel of FFT over fixed point
//
//	Re + i·Im <- F·(Re + i·Im),  F_jk = exp(-2πi·j·k/n)/√n
//
// in place. It is reversible: Inverse restores all bits.
//
// # Lifting
//
// Products are rounded. If a rotation computed two numbers from both old ones, it would
// have no inverse. A rotation is therefore made of three shears, as in Unitary, and the
// transform is made of rotations. Let p be a prime factor of n = p·m. The numbers whose
// indices are equal modulo p are transformed first. These are p transforms of length m.
// Then for k < m there are
//
//   - a rotation of number k of transform j by the angle -2πjk/n, for each j;
//   - the transform of length p of these p numbers.
//
// For p = 2, the latter is a rotation by 45 degrees. For odd p, the numbers j and p-j are
// rotated to their sum s and difference d over √2. Number 0 and the sums are multiplied by
// the orthogonal matrix of cosines, and the differences by that of sines:
//
//	X_k, X_(p-k) = (C_k ∓ i·S_k)/√2
//	C = 1/√p·[1, √2, ...; √2, 2·cos(2πjk/p)]·(x_0, s),  S = 2/√p·[sin(2πjk/p)]·d
//
// By the QR decomposition, each matrix is a product of rotations of neighbours and of signs.
// The transform of length p does these one after the other. This takes about n·Σp/2·6
// products for all prime factors p of n, so n should not have large ones.
//
// # Rounding
//
// An element is within 4·(log₂(n)+Σp)·(1+‖x‖) units in the last place of the exact one,
// because it takes part in at most that many rotations. If ‖x‖ is below 2¹⁹, nothing wraps.
// What wraps is restored too. Cotangents and tangents are rotated by the same shears.
//
// Sources: lifting is due to I. Daubechies and W. Sweldens, Factoring wavelet transforms
// into lifting steps (1998). S. Oraintara, Y.-J. Chen and T. Q. Nguyen use it for Fourier
// transforms in Integer fast Fourier transform (2002).
type FixedFFT struct {
	Re rev.Vector[fixed.Q43] `rev:"inout" shape:"n"`
	Im rev.Vector[fixed.Q43] `rev:"inout" shape:"n"`
}

// Run implements rev.Kernel. It returns no error.
func (k FixedFFT) Run(p rev.Pass[FixedFFT]) error {
	if k.Re.N < 2 {
		return nil
	}
	w := workspace.Get[*fixedFFTWork]()
	if len(w.order) != k.Re.N {
		w.plan(k.Re.N)
	}
	for _, x := range [...]*FixedFFT{&k, &p.G, &p.T, &p.GT} {
		if x.Re.Data != nil || x.Im.Data != nil {
			w.transform(x, p.Back)
		}
	}
	workspace.Put(w)
	return nil
}

// A liftedRotation is a rotation by three shears, followed by half a turn if half is set.
type liftedRotation struct {
	t, s fixed.Q43 // tangent of half the angle, and sine
	half bool
}

func liftAngle(angle float64) liftedRotation {
	sin, cos := math.Sincos(angle)
	l := liftedRotation{half: cos < 0}
	if l.half {
		sin, cos = -sin, -cos
	}
	l.s, l.t = fixed.FromFloat64(sin), fixed.FromFloat64(sin/(1+cos))
	return l
}

// rotate turns (a, b) by the angle, or turns it back if back is set.
func (l *liftedRotation) rotate(a, b *fixed.Q43, back bool) {
	x, y := *a, *b
	if back {
		if l.half {
			x, y = -x, -y
		}
		x += l.t.Mul(y)
		y -= l.s.Mul(x)
		x += l.t.Mul(y)
	} else {
		x -= l.t.Mul(y)
		y += l.s.Mul(x)
		x -= l.t.Mul(y)
		if l.half {
			x, y = -x, -y
		}
	}
	*a, *b = x, y
}

// A fixedFFTWork is a plan for one length, with scratch memory.
type fixedFFTWork struct {
	order  []int // the index of the number that goes to each place
	stages []fixedStage
	re, im []fixed.Q43
	pr, pi []fixed.Q43 // scratch for one transform of length p
}

// A fixedStage makes transforms of length p·m from transforms of length m.
type fixedStage struct {
	p, m    int
	twiddle []liftedRotation // the rotation of number k of transform j is at j·m+k
	cos     orthogonalMatrix
	sin     orthogonalMatrix
}

// eighth is the rotation by 45 degrees.
var eighth = liftAngle(-math.Pi / 4)

// plan makes w the plan for length n.
func (w *fixedFFTWork) plan(n int) {
	*w = fixedFFTWork{order: []int{0}, re: make([]fixed.Q43, n), im: make([]fixed.Q43, n)}
	for m := 1; m < n; {
		p := 2
		for n/m%p != 0 {
			p++
		}
		order := make([]int, 0, p*m)
		for j := range p {
			for _, i := range w.order {
				order = append(order, p*i+j)
			}
		}
		w.order = order
		stage := fixedStage{p: p, m: m, twiddle: make([]liftedRotation, p*m)}
		for i := range stage.twiddle {
			stage.twiddle[i] = liftAngle(-2 * math.Pi * float64(i/m*(i%m)%(p*m)) / float64(p*m))
		}
		if p > 2 {
			stage.cos, stage.sin = realTransforms(p)
		}
		w.stages = append(w.stages, stage)
		if p > len(w.pr) {
			w.pr, w.pi = make([]fixed.Q43, p), make([]fixed.Q43, p)
		}
		m *= p
	}
}

// realTransforms returns the matrices of cosines and of sines for an odd p.
func realTransforms(p int) (c, s orthogonalMatrix) {
	h := p / 2
	cosines, sines := make([]float64, (h+1)*(h+1)), make([]float64, h*h)
	root := math.Sqrt(float64(p))
	for k := range h + 1 {
		for j := range h + 1 {
			sin, cos := math.Sincos(2 * math.Pi * float64(j*k%p) / float64(p))
			switch {
			case j == 0 && k == 0:
				cosines[0] = 1 / root
			case j == 0 || k == 0:
				cosines[k*(h+1)+j] = math.Sqrt2 / root
			default:
				cosines[k*(h+1)+j] = 2 * cos / root
				sines[(k-1)*h+j-1] = 2 * sin / root
			}
		}
	}
	return newOrthogonal(cosines, h+1, false), newOrthogonal(sines, h, true)
}

// transform computes X <- F·X, or its inverse. A nil part of X stands for zero.
func (w *fixedFFTWork) transform(x *FixedFFT, back bool) {
	for i, from := range w.order {
		if back {
			from = i
		}
		w.re[i], w.im[i] = vector.Element(x.Re, from), vector.Element(x.Im, from)
	}
	for i := range w.stages {
		if back {
			i = len(w.stages) - 1 - i
		}
		w.stage(&w.stages[i], back)
	}
	for i, to := range w.order {
		if !back {
			to = i
		}
		if x.Re.Data != nil {
			x.Re.Data[to*x.Re.Inc] = w.re[i]
		}
		if x.Im.Data != nil {
			x.Im.Data[to*x.Im.Inc] = w.im[i]
		}
	}
}

// stage makes all transforms of a stage, or their inverses.
func (w *fixedFFTWork) stage(s *fixedStage, back bool) {
	pr, pi := w.pr[:s.p], w.pi[:s.p]
	for base := 0; base < len(w.re); base += s.p * s.m {
		for k := range s.m {
			for j := range pr {
				pr[j], pi[j] = w.re[base+j*s.m+k], w.im[base+j*s.m+k]
			}
			if back {
				s.short(pr, pi, true)
			}
			for j := 1; j < s.p; j++ {
				s.twiddle[j*s.m+k].rotate(&pr[j], &pi[j], back)
			}
			if !back {
				s.short(pr, pi, false)
			}
			for j := range pr {
				w.re[base+j*s.m+k], w.im[base+j*s.m+k] = pr[j], pi[j]
			}
		}
	}
}

// short is the transform of length p, or its inverse.
func (s *fixedStage) short(re, im []fixed.Q43, back bool) {
	if s.p == 2 {
		sumDifference(&re[0], &re[1], back)
		sumDifference(&im[0], &im[1], back)
		return
	}
	h := s.p / 2
	if !back {
		for _, x := range [...][]fixed.Q43{re, im} {
			for j := 1; j <= h; j++ {
				sumDifference(&x[j], &x[s.p-j], false)
			}
			// Difference j is at p-j. The differences are therefore in reverse order.
			s.cos.apply(x[:h+1], false)
			s.sin.apply(x[h+1:], false)
		}
	}
	// X_k = (C_k - i·S_k)/√2. Its real part is (re C + im S)/√2, and that of X_(p-k) is
	// (re C - im S)/√2.
	for k := 1; k <= h; k++ {
		cr, ci, sr, si := &re[k], &im[k], &re[s.p-k], &im[s.p-k]
		if back {
			sumDifference(cr, sr, true) // now re C and im S
			sumDifference(si, ci, true) // im C and re S
			*sr, *si, *ci = *ci, *sr, *si
			continue
		}
		*sr, *si, *ci = *si, *ci, *sr // im S beside re C, and im C and re S
		sumDifference(cr, sr, false)
		sumDifference(si, ci, false)
	}
	if back {
		for _, x := range [...][]fixed.Q43{re, im} {
			s.sin.apply(x[h+1:], true)
			s.cos.apply(x[:h+1], true)
			for j := 1; j <= h; j++ {
				sumDifference(&x[j], &x[s.p-j], true)
			}
		}
	}
}

// sumDifference computes (a, b) <- ((a + b)/√2, (a - b)/√2), or its inverse.
func sumDifference(a, b *fixed.Q43, back bool) {
	if back {
		*b = -*b
		eighth.rotate(a, b, true)
		return
	}
	eighth.rotate(a, b, false)
	*b = -*b
}

// An orthogonalMatrix is an orthogonal matrix: a product of signs and rotations of neighbours.
type orthogonalMatrix struct {
	negative  []int // the elements whose signs change
	rotations []liftedRotation
	rows      [][2]int // the elements that each rotation turns
}

// newOrthogonal decomposes the n×n matrix a and overwrites it. It rotates rows until only the
// diagonal is left, whose elements are ±1. The inverse rotations then give the matrix. If
// reversed is set, it is for vectors whose elements are in reverse order.
func newOrthogonal(a []float64, n int, reversed bool) orthogonalMatrix {
	var o orthogonalMatrix
	at := func(i int) int {
		if reversed {
			return n - 1 - i
		}
		return i
	}
	for j := range n {
		for i := n - 2; i >= j; i-- {
			x, y := a[i*n+j], a[(i+1)*n+j]
			angle := math.Atan2(y, x)
			sin, cos := math.Sincos(angle)
			for l := range n {
				u, v := a[i*n+l], a[(i+1)*n+l]
				a[i*n+l], a[(i+1)*n+l] = float64(cos*u)+float64(sin*v), float64(cos*v)-float64(sin*u)
			}
			o.rotations, o.rows = append(o.rotations, liftAngle(angle)), append(o.rows, [2]int{at(i), at(i + 1)})
		}
	}
	for j := range n {
		if a[j*n+j] < 0 {
			o.negative = append(o.negative, at(j))
		}
	}
	return o
}

// apply multiplies x by the matrix, or by its inverse if back is set.
func (o *orthogonalMatrix) apply(x []fixed.Q43, back bool) {
	for _, i := range o.negative {
		if !back {
			x[i] = -x[i]
		}
	}
	for i := range o.rotations {
		if !back {
			i = len(o.rotations) - 1 - i
		}
		o.rotations[i].rotate(&x[o.rows[i][0]], &x[o.rows[i][1]], back)
	}
	for _, i := range o.negative {
		if back {
			x[i] = -x[i]
		}
	}
}
