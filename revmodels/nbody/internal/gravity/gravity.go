// Package gravity holds vector loops over pairs of bodies. They compute the
// accelerations of some bodies, the targets, by others, the sources. They also compute
// the derivatives of accelerations.
//
// Targets are in blocks of Lanes. A block has rows of Lanes numbers one after the other.
// A source has its numbers one after the other. With d = x_j - x_i for the source j and
// the target i, and
//
//	ρ = 1/(|d|² + ε²),  w = ρ^(3/2)
//
// both are 0 where |d|² + ε² is 0. So a body attracts neither itself nor a body in the
// same place.
//
// The vector tiers fuse products with additions, and AVX-512 computes roots in another
// way. The tiers therefore differ in the last bits.
package gravity

import (
	"math"

	"revnum/internal/simd/cpu"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Lanes is the number of targets in a block.
const Lanes = 16

// The numbers of targets and sources. Attract takes the first ones, up to the position
// of a target and up to the mass of a source.
const (
	X      = 0 // position
	Mass   = 3 // of a source
	A      = 4 // vector a of a source
	B      = 3 // vector b of a target
	Alpha  = 6 // number α of a target
	Source = 4 // numbers of a source of Attract
	Target = 3 // rows of a target of Attract
	Full   = 7 // numbers of a source of Tides, and rows of a target
	Sums   = 3 // rows of sums of Attract
	Dots   = 3 // row of the fourth sum of Tides
	chunk  = 1024
	short  = "gravity: insufficient length"
	badNum = "gravity: lanes out of range"
)

// Attract adds Σ_j m_j·w·d to the rows of acc, for the first lanes targets of a block.
// The sources are n times Source numbers.
func Attract[T cpu.Float](target, acc, sources []T, n, lanes int, soft2 T) {
	if len(target) < Target*Lanes || len(acc) < Sums*Lanes || len(sources) < n*Source {
		panic(short)
	}
	if lanes < 1 || lanes > Lanes {
		panic(badNum)
	}
	if tier == cpu.Generic {
		genericAttract(target, acc, sources, n, lanes, soft2)
		return
	}
	for j := 0; j < n; j += chunk {
		vectorAttract(&target[0], &acc[0], &sources[j*Source], min(chunk, n-j), lanes, soft2)
	}
}

// Rows are the rows of a block of bodies for Kick: position, velocity, mass. Bodies of a block that are
// not there may have any numbers.
const (
	Velocity = 3
	Masses   = 6
	Rows     = 7
)

// Kick adds dt·Σ_j m_j·w·d to the velocities of n bodies, which are the sources too, in blocks. It
// rounds as Attract does, and the products with dt before it adds them.
func Kick[T cpu.Float](bodies []T, n int, soft2, dt T) {
	const size = Rows * Lanes
	if n < 0 || len(bodies) < (n+Lanes-1)/Lanes*size {
		panic(short)
	}
	for first := 0; first < n; first += Lanes {
		block, lanes := bodies[first/Lanes*size:][:size], min(Lanes, n-first)
		if tier == cpu.Generic {
			genericKick(bodies, block, n, lanes, soft2, dt)
		} else {
			vectorKick(&bodies[0], &block[0], n, lanes, soft2, dt)
		}
	}
}

// Tides adds, with s = α·a - m_j·b, the sums over j of
//
//	w·(s - 3·ρ·(s·d)·d)    in three rows of acc
//	w·(a·d)                in the fourth
//
// for the first lanes targets of a block. The sources are n times Full numbers.
func Tides[T cpu.Float](target, acc, sources []T, n, lanes int, soft2 T) {
	if len(target) < Full*Lanes || len(acc) < (Dots+1)*Lanes || len(sources) < n*Full {
		panic(short)
	}
	if lanes < 1 || lanes > Lanes {
		panic(badNum)
	}
	if tier == cpu.Generic {
		genericTides(target, acc, sources, n, lanes, soft2)
		return
	}
	for j := 0; j < n; j += chunk {
		vectorTides(&target[0], &acc[0], &sources[j*Full], min(chunk, n-j), lanes, soft2)
	}
}

// pair returns d, w and ρ.
func pair[T cpu.Float](target, source []T, i int, soft2 T) (d [3]T, w, rho T) {
	square := soft2
	for c := range d {
		d[c] = source[X+c] - target[(X+c)*Lanes+i]
		square += T(d[c] * d[c])
	}
	if square == 0 {
		return d, 0, 0
	}
	inv := 1 / T(math.Sqrt(float64(square)))
	rho = T(inv * inv)
	return d, T(rho * inv), rho
}

func genericAttract[T cpu.Float](target, acc, sources []T, n, lanes int, soft2 T) {
	for i := range lanes {
		var sum [3]T
		for j := range n {
			s := sources[j*Source:][:Source]
			d, w, _ := pair(target, s, i, soft2)
			w = T(w * s[Mass])
			for c := range d {
				sum[c] += T(w * d[c])
			}
		}
		for c, v := range sum {
			acc[c*Lanes+i] += v
		}
	}
}

func genericKick[T cpu.Float](bodies, block []T, n, lanes int, soft2, dt T) {
	for i := range lanes {
		var sum [3]T
		for j := range n {
			b := bodies[j/Lanes*Rows*Lanes+j%Lanes:]
			d, w, _ := pair(block, []T{b[0], b[Lanes], b[2*Lanes]}, i, soft2)
			w = T(w * b[Masses*Lanes])
			for c := range d {
				sum[c] += T(w * d[c])
			}
		}
		for c, v := range sum {
			block[(Velocity+c)*Lanes+i] += T(dt * v)
		}
	}
}

func genericTides[T cpu.Float](target, acc, sources []T, n, lanes int, soft2 T) {
	for i := range lanes {
		var sum [4]T
		for j := range n {
			src := sources[j*Full:][:Full]
			d, w, rho := pair(target, src, i, soft2)
			var s [3]T
			var sd, ad T
			for c := range d {
				a := src[A+c]
				s[c] = T(target[Alpha*Lanes+i]*a) - T(src[Mass]*target[(B+c)*Lanes+i])
				sd += T(s[c] * d[c])
				ad += T(a * d[c])
			}
			k := T(3 * T(rho*sd))
			for c := range d {
				sum[c] += T(w * (s[c] - T(k*d[c])))
			}
			sum[Dots] += T(w * ad)
		}
		for c, v := range sum {
			acc[c*Lanes+i] += v
		}
	}
}
