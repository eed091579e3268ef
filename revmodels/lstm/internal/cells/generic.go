package cells

import "math"

// The pure-Go loops. Where there is no assembly, these are all the loops. Elsewhere
// the assembly is tested against them.

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

// A gates holds the gates of a cell: forget, in, out, and the change.
type gates struct{ f, i, o, g float64 }

func gatesOf(x, h float64, w []float64) gates {
	z := func(row int, v float64) float64 { return float64(v*w[Lanes*row]) + w[Lanes*(4+row)] }
	return gates{sigmoid(z(0, x)), sigmoid(z(1, h)), sigmoid(z(2, x)), math.Tanh(z(3, h))}
}

func genericForward(x, h, c, w []float64, steps, ld int) {
	for t := range steps {
		for lane := range ld {
			at := t*ld + lane
			s := gatesOf(x[at], h[at], w[lane/Lanes*Lanes*Weights+lane%Lanes:])
			next := float64(c[at]*s.f) + float64(s.i*s.g)
			c[at+ld] = next
			h[at+ld] = s.o * math.Tanh(next)
		}
	}
}

func genericBackward(x, h, c, d, w, g []float64, steps, ld int) {
	for t := steps - 1; t >= 0; t-- {
		for lane := range ld {
			at, block, in := t*ld+lane, lane/Lanes*Lanes, lane%Lanes
			w, g := w[block*Weights+in:], g[block*Bars+in:]
			s, q := gatesOf(x[at], h[at], w), math.Tanh(c[at+ld])
			hBar := d[at] + g[Lanes*HiddenBar]
			cBar := float64(hBar*s.o*(1-float64(q*q))) + g[Lanes*CellBar]
			z := [4]float64{
				cBar * c[at] * s.f * (1 - s.f), cBar * s.g * s.i * (1 - s.i),
				hBar * q * s.o * (1 - s.o), cBar * s.i * (1 - float64(s.g*s.g)),
			}
			g[Lanes*CellBar] = float64(cBar * s.f)
			d[at] = float64(z[0]*w[0]) + float64(z[2]*w[Lanes*2])
			g[Lanes*HiddenBar] = float64(z[1]*w[Lanes]) + float64(z[3]*w[Lanes*3])
			for gate, from := range [4]float64{x[at], h[at], x[at], h[at]} {
				g[Lanes*gate] += float64(z[gate] * from)
				g[Lanes*(4+gate)] += z[gate]
			}
		}
	}
}
