//go:build amd64 && !noasm

package pairs

import "revnum/internal/simd/cpu"

// allPairsDim is the most coordinates that the assembly is unrolled for.
const allPairsDim = 8

func allPairsFast(dim int) bool { return tier == cpu.AVX512 && 0 < dim && dim <= allPairsDim }

func (a *AllPairs[T]) moments(rows int, origin [2]T) (sums, squares [2]T) {
	if !allPairsFast(a.Dim) {
		return a.genericMoments(origin)
	}
	var part [4]T
	for q, rows := range a.calls(rows) {
		for p := 0; p < a.N; p += cpu.Chunk {
			n, x, c, near := cpu.ChunkAt(p, a.N), &a.X[p], &a.C[q*a.Dim], &a.Near[q*a.LdNear+p/8]
			if cpu.Is64[T]() {
				pairMoments64(a.Dim, n, rows, a.From+q-p, cpu.F64(x), a.Ld, cpu.F64(c), near, a.LdNear, cpu.F64(&origin[0]), cpu.F64(&part[0]))
			} else {
				pairMoments32(a.Dim, n, rows, a.From+q-p, cpu.F32(x), a.Ld, cpu.F32(c), near, a.LdNear, cpu.F32(&origin[0]), cpu.F32(&part[0]))
			}
			for k := range sums {
				sums[k] += part[k]
				squares[k] += part[2+k]
			}
		}
	}
	return sums, squares
}

func (a *AllPairs[T]) addForces(rows int, add, mul [2]T, dst, own []T) {
	if !allPairsFast(a.Dim) {
		a.genericAddForces(add, mul, dst, own)
		return
	}
	for q, rows := range a.calls(rows) {
		for p := 0; p < a.N; p += cpu.Chunk {
			n, x, c, near := cpu.ChunkAt(p, a.N), &a.X[p], &a.C[q*a.Dim], &a.Near[q*a.LdNear+p/8]
			d, o := &dst[p], &own[q*a.Dim]
			if cpu.Is64[T]() {
				addPairForces64(a.Dim, n, rows, a.From+q-p, cpu.F64(x), a.Ld, cpu.F64(c), near, a.LdNear, cpu.F64(&add[0]), cpu.F64(&mul[0]), cpu.F64(d), cpu.F64(o))
			} else {
				addPairForces32(a.Dim, n, rows, a.From+q-p, cpu.F32(x), a.Ld, cpu.F32(c), near, a.LdNear, cpu.F32(&add[0]), cpu.F32(&mul[0]), cpu.F32(d), cpu.F32(o))
			}
		}
	}
}

// calls yields the first row of each call of assembly and how many it takes: as
// many as have a chunk of pairs.
func (a *AllPairs[T]) calls(rows int) func(yield func(q, rows int) bool) {
	most := max(2, cpu.Chunk/a.N&^1)
	return func(yield func(q, rows int) bool) {
		for q := 0; q < rows; q += most {
			if !yield(q, min(most, rows-q)) {
				return
			}
		}
	}
}
