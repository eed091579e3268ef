package fft

import (
	"math"
	"math/bits"
)

// A double is the sum hi + lo of two floats, exact to about 100 bits.
type double struct{ hi, lo float64 }

func sumOf(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

func (a double) add(b double) double {
	s := sumOf(a.hi, b.hi)
	return sumOf(s.hi, s.lo+(a.lo+b.lo))
}

func (a double) mul(b double) double {
	p := float64(a.hi * b.hi)
	e := math.FMA(a.hi, b.hi, -p)
	return sumOf(p, e+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) quo(n int) double {
	f := float64(n)
	q := a.hi / f
	return sumOf(q, (math.FMA(-q, f, a.hi)+a.lo)/f)
}

func (a double) neg() double { return double{-a.hi, -a.lo} }

// eighth is 2π/8.
var eighth = double{math.Pi / 4, 0x1.1a62633145c07p-55}

// inverse has 1/k! for the series of sine and cosine.
var inverse = func() (f [28]double) {
	f[0] = double{1, 0}
	for k := 1; k < len(f); k++ {
		f[k] = f[k-1].quo(k)
	}
	return f
}()

// A root is cos + i·sin of an angle.
type root struct{ cos, sin double }

func (a root) mul(b root) root {
	return root{a.cos.mul(b.cos).add(a.sin.mul(b.sin).neg()), a.cos.mul(b.sin).add(a.sin.mul(b.cos))}
}

// rootOf returns exp(2πi·k/n) for 0 <= k < n. It turns the angle by eighths into [0, π/4].
func rootOf(k, n int) root {
	hi, lo := bits.Mul64(uint64(k), 8)
	octant, rest := bits.Div64(hi, lo, uint64(n)) // 8k/n
	r := int(rest)
	if octant%2 != 0 {
		r = n - r
	}
	x := eighth.mul(double{float64(r), 0}.quo(n))
	square := x.mul(x).neg()
	var cos, sin double
	for k := len(inverse) - 2; k >= 0; k -= 2 {
		cos, sin = inverse[k].add(square.mul(cos)), inverse[k+1].add(square.mul(sin))
	}
	sin = x.mul(sin)
	if (octant+1)/2%2 != 0 { // between π/4 and 3π/4, or opposite
		cos, sin = sin, cos
	}
	if octant >= 2 && octant < 6 {
		cos = cos.neg()
	}
	if octant >= 4 {
		sin = sin.neg()
	}
	return root{cos, sin}
}

// roots returns a function for exp(-2πi·k/n), k >= 0, each part within little more than half a
// unit in the last place. A root is the product of two out of tables of about √n.
type roots struct {
	n, step int
	fine    []root // of k < step
	coarse  []root // of multiples of step
}

func newRoots(n int) *roots {
	t := &roots{n: n, step: 1}
	for t.step*t.step < n {
		t.step *= 2
	}
	for k := range min(t.step, n) {
		t.fine = append(t.fine, rootOf(k, n))
	}
	for k := 0; k < n; k += t.step {
		t.coarse = append(t.coarse, rootOf(k, n))
	}
	return t
}

// at returns exp(-2πi·k/n).
func (t *roots) at(k int) complex128 {
	k %= t.n
	z := t.coarse[k/t.step]
	if f := k % t.step; f != 0 {
		z = z.mul(t.fine[f])
	}
	return complex(z.cos.hi, -z.sin.hi)
}
