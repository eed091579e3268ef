package dense

import "revnum/internal/simd/cpu"

// Rotations are the coefficients of plane rotations of the rows of a matrix. Row b is the
// row below a. Their rotation is
//
//	a' = c·a - s·b,  b' = s·a + c·b.
//
// Rotations with phases rotate complex matrices. A row of cols elements then holds cols/2
// complex numbers, each as its real and imaginary part. cols must be even. Before a
// rotation, row a is multiplied by the phase. Only phases of float64 have vector code.
type Rotations[T cpu.Float] struct {
	C, S   []T // cosines and sines
	PC, PS []T // real and imaginary parts of the phases; empty if there are none
	D, PD  []T // tangents of the angles and of the phases, for Tangent
	Ld     int // distance between the coefficients of successive chains
}

// A Run is a number of rotations that are done together. A chain of rotations goes up by
// one row in each step. The row that two successive rotations share stays in registers.
// Several chains go up together, each one step and one row later than the one before it. A row
// that leaves a chain at the bottom enters the next chain, so it is loaded and stored once
// for all chains.
//
// A run rotates the rows 0, ..., Steps+Chains-1 of a matrix. Each row has cols elements
// and begins at a multiple of a stride. In this order, for
//
//	p = 0, ..., Steps-1,  q = 0, ..., Chains-1
//
// it rotates rows i = Steps-1-p+q and i+1 by coefficients number At+q*Ld+p.
type Run struct{ At, Chains, Steps int } // Chains is 1 or RotateChains

// RotateChains is the number of chains that go together. A single chain can also go
// alone.
const RotateChains = 4

const (
	badN       = "dense: n < 0"
	badLdX     = "dense: bad leading dimension of x"
	shortX     = "dense: insufficient length of x"
	badChains  = "dense: number of chains neither 1 nor RotateChains"
	badSteps   = "dense: steps < 0"
	oddCols    = "dense: odd number of columns"
	shortC     = "dense: insufficient length of coefficients"
	shortG     = "dense: insufficient length of g"
	badLdG     = "dense: bad leading dimension of g"
	shortSums  = "dense: insufficient length of sums"
	rotateMost = 1024 // steps that a call of assembly takes
)

// Forward applies the rotations of a run to x.
func (r *Rotations[T]) Forward(run Run, x []T, ldx, cols int) {
	r.rotate(run, x, ldx, nil, 0, cols, false, false)
}

// Back is the inverse of Forward. It applies the rotations in the opposite order, with s
// negated.
func (r *Rotations[T]) Back(run Run, x []T, ldx, cols int) {
	r.rotate(run, x, ldx, nil, 0, cols, false, true)
}

// BackCross applies Back to x and to g. Before each rotation it adds to sums[p*Chains+q]
//
//	Σ_j x[i,j]·g[i+1,j] - x[i+1,j]·g[i,j].
//
// With phases it adds these to sums[2*(p*Chains+q)+1]. Between a rotation and its phase
// it adds to sums[2*(p*Chains+q)]
//
//	Σ Re(x[i,j])·Im(g[i,j]) - Im(x[i,j])·Re(g[i,j])
//
// over the complex numbers of row i.
func (r *Rotations[T]) BackCross(run Run, x []T, ldx int, g []T, ldg, cols int, sums []T) {
	if !r.check(run, len(x), ldx, cols) {
		return
	}
	run.checkSecond(len(g), ldg, cols)
	perStep := run.Chains
	if r.phases() {
		perStep *= 2
	}
	switch {
	case len(sums)/perStep < run.Steps:
		panic(shortSums)
	case !r.vector():
		r.genericBackCross(run, x, ldx, g, ldg, cols, sums)
		return
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = shapeOf[T](run, cols-j, true, false)
		for done := 0; done < run.Steps; done += rotateMost {
			some, row := run.part(done, true)
			x, g, sums := &x[row*ldx+j], &g[row*ldg+j], &sums[(some.At-run.At)*perStep]
			if !r.phases() {
				vectorRotateBackCross(r, some.At, some.Steps, x, ldx, g, ldg, sums, n, shape)
			} else {
				vectorRotatePhasesBackCross(r, some.At, some.Steps, x, ldx, g, ldg, sums, n, shape)
			}
		}
	}
}

// Tangent applies Forward to x and to its tangent t. After a rotation it adds to rows i and
// i+1 of t
//
//	-D·x[i+1,j],  D·x[i,j].
//
// Between a phase and its rotation it adds √-1·PD times row i of x to row i of t.
func (r *Rotations[T]) Tangent(run Run, x []T, ldx int, t []T, ldt, cols int) {
	r.rotate(run, x, ldx, t, ldt, cols, true, false)
}

// TangentBack is the inverse of Tangent.
func (r *Rotations[T]) TangentBack(run Run, x []T, ldx int, t []T, ldt, cols int) {
	r.rotate(run, x, ldx, t, ldt, cols, true, true)
}

// rotate rotates x, and t as well if tangent is set.
func (r *Rotations[T]) rotate(run Run, x []T, ldx int, t []T, ldt, cols int, tangent, back bool) {
	if !r.check(run, len(x), ldx, cols) {
		return
	}
	if tangent {
		run.checkSecond(len(t), ldt, cols)
		if r.isShort(run, r.D) || r.phases() && r.isShort(run, r.PD) {
			panic(shortC)
		}
	}
	if !r.vector() {
		r.genericRotate(run, x, ldx, t, ldt, cols, back)
		return
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = shapeOf[T](run, cols-j, tangent, back)
		for done := 0; done < run.Steps; done += rotateMost {
			some, row := run.part(done, back)
			x := &x[row*ldx+j]
			switch {
			case tangent && r.phases():
				vectorRotatePhasesTangent(r, some.At, some.Steps, x, ldx, &t[row*ldt+j], ldt, n, shape)
			case tangent:
				vectorRotateTangent(r, some.At, some.Steps, x, ldx, &t[row*ldt+j], ldt, n, shape)
			case r.phases():
				vectorRotatePhases(r, some.At, some.Steps, x, ldx, n, shape)
			default:
				vectorRotate(r, some.At, some.Steps, x, ldx, n, shape)
			}
		}
	}
}

func (r *Rotations[T]) phases() bool { return len(r.PC) > 0 }

// check panics unless the run has coefficients and x fits. It reports whether there is work.
func (r *Rotations[T]) check(run Run, lenX, ldx, cols int) bool {
	switch {
	case run.Chains != 1 && run.Chains != RotateChains:
		panic(badChains)
	case run.Steps < 0:
		panic(badSteps)
	case cols < 0:
		panic(badN)
	case r.phases() && cols%2 != 0:
		panic(oddCols)
	case ldx < max(1, cols):
		panic(badLdX)
	case cols == 0 || run.Steps == 0:
		return false
	case lenX < cols || (lenX-cols)/ldx < run.Steps+run.Chains-1:
		panic(shortX)
	case r.isShort(run, r.C) || r.isShort(run, r.S) || r.phases() && (r.isShort(run, r.PC) || r.isShort(run, r.PS)):
		panic(shortC)
	}
	return true
}

// isShort reports whether c has too few coefficients for the run.
func (r *Rotations[T]) isShort(run Run, c []T) bool {
	n := len(c) - run.At - run.Steps
	return run.At < 0 || n < 0 || run.Chains > 1 && (r.Ld < 0 || n/(run.Chains-1) < r.Ld)
}

// checkSecond panics unless the second matrix fits.
func (run Run) checkSecond(lenG, ldg, cols int) {
	switch {
	case ldg < cols:
		panic(badLdG)
	case lenG < cols || (lenG-cols)/ldg < run.Steps+run.Chains-1:
		panic(shortG)
	}
}

// vector reports whether there is vector code for the rotations.
func (r *Rotations[T]) vector() bool {
	return tier != cpu.Generic && (!r.phases() || cpu.Is64[T]())
}

// part returns the part of the run that the next call of assembly takes, after done
// steps, and the first row that it rotates.
func (run Run) part(done int, back bool) (some Run, row int) {
	n, p := min(rotateMost, run.Steps-done), done
	if back {
		p = run.Steps - done - n
	}
	return Run{run.At + p, run.Chains, n}, run.Steps - p - n
}

// The bits of the last parameter of the assembly.
const (
	severalChains  = 1 // RotateChains of them, else one
	severalVectors = 2 // of columns, else one
	rotatesBack    = 4
)

// shapeOf returns how many of cols columns the next call takes, and the shape of the call.
// Several vectors are four on AVX-512 and two on AVX2, or half as many for two matrices. On
// AVX2 all vectors are full. On AVX-512 the last vectors may be empty.
func shapeOf[T cpu.Float](run Run, cols int, two, back bool) (n, shape int) {
	if run.Chains > 1 {
		shape = severalChains
	}
	if back {
		shape |= rotatesBack
	}
	vl, vectors := cpu.Lanes[T](tier), 2
	if tier == cpu.AVX512 {
		vectors = 4
	}
	if two {
		vectors /= 2
	}
	least := vectors * vl
	if tier == cpu.AVX512 {
		least = vectors/2*vl + 1
	}
	if vectors > 1 && cols >= least {
		return min(cols, vectors*vl), shape | severalVectors
	}
	return min(cols, vl), shape
}
