package dense

import "revnum/internal/simd/cpu"

//go:generate go -C ../_gen run ./rotate ../dense

// Rotations are the coefficients of plane rotations of the rows of a matrix. A rotation of
// a row a and the row b below it is
//
//	a' = c·a - s·b,  b' = s·a + c·b.
//
// With phases, the rows are those of complex matrices: a row of cols elements, which
// must be even, is the real and imaginary parts of cols/2 numbers in turn, and before a
// rotation row a is multiplied by the phase. There is vector code for phases of float64.
type Rotations[T cpu.Float] struct {
	C, S   []T // cosines and sines
	PC, PS []T // real and imaginary parts of the phases; empty for none
	D, PD  []T // tangents of the angles and of the phases, for Tangent
	Ld     int // between chains
}

// A Run is rotations that are done together. A chain of them goes up by one row in each
// step, so that the row which two rotations share stays in registers. Several chains go up
// together, each one step and one row behind the one before it: what leaves a chain at the
// bottom enters the next. So a row is loaded and stored once for all chains.
//
// A run is of the rows 0, ..., Steps+Chains-1 of a matrix, each of which has cols elements
// and begins at a multiple of a stride. In this order, for
//
//	p = 0, ..., Steps-1,  q = 0, ..., Chains-1
//
// rows i = Steps-1-p+q and i+1 are rotated by the coefficients number At+q*Ld+p.
type Run struct{ At, Chains, Steps int } // Chains is 1 or RotateChains

// RotateChains is how many chains go together, if not a single one does.
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

// Forward applies the rotations to x.
func (r *Rotations[T]) Forward(run Run, x []T, ldx, cols int) { r.rotate(run, x, ldx, cols, false) }

// Back undoes Forward: in the opposite order, it applies the rotations with s negated.
func (r *Rotations[T]) Back(run Run, x []T, ldx, cols int) { r.rotate(run, x, ldx, cols, true) }

func (r *Rotations[T]) rotate(run Run, x []T, ldx, cols int, back bool) {
	switch {
	case !r.check(run, len(x), ldx, cols):
		return
	case !r.vector():
		if back {
			r.genericBack(run, x, ldx, cols)
		} else {
			r.genericForward(run, x, ldx, cols)
		}
		return
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = shapeOf[T](run, cols-j, false, back)
		for done := 0; done < run.Steps; done += rotateMost {
			some, row := run.part(done, back)
			if !r.phases() {
				vectorRotate(r, some.At, some.Steps, &x[row*ldx+j], ldx, n, shape)
			} else {
				vectorRotatePhases(r, some.At, some.Steps, &x[row*ldx+j], ldx, n, shape)
			}
		}
	}
}

// BackCross does what Back does to x and to g, and before each rotation adds to
// sums[p*Chains+q]
//
//	Σ_j x[i,j]·g[i+1,j] - x[i+1,j]·g[i,j].
//
// With phases these are added to sums[2*(p*Chains+q)+1], and between a rotation and its
// phase it adds to the element before that
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

// Tangent does what Forward does to x and to its tangent t. After a rotation it adds to
// rows i and i+1 of t
//
//	-D·x[i+1,j],  D·x[i,j],
//
// and between a phase and its rotation i·PD times row i of x to that of t.
func (r *Rotations[T]) Tangent(run Run, x []T, ldx int, t []T, ldt, cols int) {
	r.tangent(run, x, ldx, t, ldt, cols, false)
}

// TangentBack undoes Tangent.
func (r *Rotations[T]) TangentBack(run Run, x []T, ldx int, t []T, ldt, cols int) {
	r.tangent(run, x, ldx, t, ldt, cols, true)
}

func (r *Rotations[T]) tangent(run Run, x []T, ldx int, t []T, ldt, cols int, back bool) {
	if !r.check(run, len(x), ldx, cols) {
		return
	}
	run.checkSecond(len(t), ldt, cols)
	switch {
	case r.isShort(run, r.D) || r.phases() && r.isShort(run, r.PD):
		panic(shortC)
	case !r.vector():
		if back {
			r.genericTangentBack(run, x, ldx, t, ldt, cols)
		} else {
			r.genericTangent(run, x, ldx, t, ldt, cols)
		}
		return
	}
	var n, shape int
	for j := 0; j < cols; j += n {
		n, shape = shapeOf[T](run, cols-j, true, back)
		for done := 0; done < run.Steps; done += rotateMost {
			some, row := run.part(done, back)
			x, t := &x[row*ldx+j], &t[row*ldt+j]
			if !r.phases() {
				vectorRotateTangent(r, some.At, some.Steps, x, ldx, t, ldt, n, shape)
			} else {
				vectorRotatePhasesTangent(r, some.At, some.Steps, x, ldx, t, ldt, n, shape)
			}
		}
	}
}

func (r *Rotations[T]) phases() bool { return len(r.PC) > 0 }

// check panics unless there are the coefficients of the run and x fits, and reports whether
// there is something to do.
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

// isShort reports whether there are not enough coefficients.
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

// part returns what of the run the next call of assembly takes when some steps are done,
// and the first row that it rotates.
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

// shapeOf returns how many of cols columns the next call takes, and of what shape it is.
// Several vectors are four on AVX-512 and two on AVX2, and half as many where there are
// two matrices. They are whole on AVX2; on AVX-512 the last ones may be empty.
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
