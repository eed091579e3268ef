package dense

import "revnum/internal/simd/cpu"

//go:generate go -C ../_gen run ./rotate -out ../dense/zrotate_amd64.s -stubs ../dense/zrotate_amd64.go -pkg dense

// Plane rotations of the rows of a matrix. A rotation of a row a and the row b
// below it is
//
//	a' = c·a - s·b,  b' = s·a + c·b
//
// A chain of rotations goes up by one row in each step. The row that two successive
// rotations share stays in registers. Several chains go up together, each one step and
// one row behind the one before it. A row that leaves a chain at the bottom enters the
// next chain, so it is loaded and stored once for all chains.

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
	shortT     = "dense: insufficient length of t"
	badLdT     = "dense: bad leading dimension of t"
	shortSums  = "dense: insufficient length of sums"
	rotateMost = 1024 // steps that a call of assembly takes
)

// Rotate applies chains of rotations to the rows 0, ..., steps+chains-1 of x. Each
// row has cols elements and begins at a multiple of ldx. In this order, for
//
//	p = 0, ..., steps-1,  q = 0, ..., chains-1
//
// it rotates rows i = steps-1-p+q and i+1 by c[q*ldc+p] and s[q*ldc+p].
func Rotate[T cpu.Float](x []T, ldx, cols, chains, steps int, c, s []T, ldc int) {
	if checkRotate(len(x), ldx, cols, chains, steps, min(len(c), len(s)), ldc) {
		rotate(x, ldx, cols, chains, steps, c, s, nil, nil, ldc, false)
	}
}

// RotateBack undoes Rotate. It applies the rotations in the opposite order, with s
// negated.
func RotateBack[T cpu.Float](x []T, ldx, cols, chains, steps int, c, s []T, ldc int) {
	if checkRotate(len(x), ldx, cols, chains, steps, min(len(c), len(s)), ldc) {
		rotate(x, ldx, cols, chains, steps, c, s, nil, nil, ldc, true)
	}
}

// RotateBackCross does to x and to g what RotateBack does. Before each rotation it
// adds to sums[p*chains+q]
//
//	Σ_j x[i,j]·g[i+1,j] - x[i+1,j]·g[i,j].
func RotateBackCross[T cpu.Float](x []T, ldx int, g []T, ldg, cols, chains, steps int, c, s []T, ldc int, sums []T) {
	if checkCross(len(x), ldx, len(g), ldg, cols, chains, steps, min(len(c), len(s)), ldc, len(sums)/max(1, chains)) {
		rotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, nil, nil, ldc, sums)
	}
}

// RotateTangent does to x and to its tangent t what Rotate does. d holds the
// tangents of the angles, laid out as c and s. After a rotation it adds to rows i
// and i+1 of t
//
//	-d·x[i+1,j],  d·x[i,j].
func RotateTangent[T cpu.Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, d []T, ldc int) {
	if checkTangent(len(x), ldx, len(t), ldt, cols, chains, steps, min(len(c), len(s), len(d)), ldc) {
		rotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, nil, nil, d, nil, ldc, false)
	}
}

// RotateTangentBack undoes RotateTangent.
func RotateTangentBack[T cpu.Float](x []T, ldx int, t []T, ldt, cols, chains, steps int, c, s, d []T, ldc int) {
	if checkTangent(len(x), ldx, len(t), ldt, cols, chains, steps, min(len(c), len(s), len(d)), ldc) {
		rotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, nil, nil, d, nil, ldc, true)
	}
}

// Rotations with phases are those of complex matrices. A row of cols elements holds
// cols/2 complex numbers, each by its real and imaginary part; cols must be even.
// Before a rotation, row i is multiplied by a phase. pc and ps are the real and
// imaginary parts of the phases, laid out as c and s.

// RotatePhases does what Rotate does, with phases.
func RotatePhases(x []float64, ldx, cols, chains, steps int, c, s, pc, ps []float64, ldc int) {
	if checkRotate(len(x), ldx, pairs(cols), chains, steps, min(len(c), len(s), len(pc), len(ps)), ldc) {
		rotate(x, ldx, cols, chains, steps, c, s, pc, ps, ldc, false)
	}
}

// RotatePhasesBack undoes RotatePhases.
func RotatePhasesBack(x []float64, ldx, cols, chains, steps int, c, s, pc, ps []float64, ldc int) {
	if checkRotate(len(x), ldx, pairs(cols), chains, steps, min(len(c), len(s), len(pc), len(ps)), ldc) {
		rotate(x, ldx, cols, chains, steps, c, s, pc, ps, ldc, true)
	}
}

// RotatePhasesBackCross does what RotateBackCross does, with phases. It adds its
// sums to sums[2*(p*chains+q)+1]. Between a rotation and its phase it adds to
// sums[2*(p*chains+q)]
//
//	Σ Re(x[i,j])·Im(g[i,j]) - Im(x[i,j])·Re(g[i,j])
//
// over the complex numbers of row i.
func RotatePhasesBackCross(x []float64, ldx int, g []float64, ldg, cols, chains, steps int, c, s, pc, ps []float64, ldc int, sums []float64) {
	if checkCross(len(x), ldx, len(g), ldg, pairs(cols), chains, steps, min(len(c), len(s), len(pc), len(ps)), ldc, len(sums)/max(1, 2*chains)) {
		rotateBackCross(x, ldx, g, ldg, cols, chains, steps, c, s, pc, ps, ldc, sums)
	}
}

// RotatePhasesTangent does what RotateTangent does, with phases that have the
// tangents pd. Between a phase and its rotation it adds i·pd times row i of x to row
// i of t. Here the factor i is the imaginary unit.
func RotatePhasesTangent(x []float64, ldx int, t []float64, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []float64, ldc int) {
	if checkTangent(len(x), ldx, len(t), ldt, pairs(cols), chains, steps, min(len(c), len(s), len(pc), len(ps), len(d), len(pd)), ldc) {
		rotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc, false)
	}
}

// RotatePhasesTangentBack undoes RotatePhasesTangent.
func RotatePhasesTangentBack(x []float64, ldx int, t []float64, ldt, cols, chains, steps int, c, s, pc, ps, d, pd []float64, ldc int) {
	if checkTangent(len(x), ldx, len(t), ldt, pairs(cols), chains, steps, min(len(c), len(s), len(pc), len(ps), len(d), len(pd)), ldc) {
		rotateTangent(x, ldx, t, ldt, cols, chains, steps, c, s, pc, ps, d, pd, ldc, true)
	}
}

// pairs returns cols, which must be even.
func pairs(cols int) int {
	if cols%2 != 0 {
		panic(oddCols)
	}
	return cols
}

// checkCross reports whether there is something to do. sums is the number of steps
// for which there is room in the slice of sums.
func checkCross(lenX, ldx, lenG, ldg, cols, chains, steps, lenC, ldc, sums int) bool {
	if !checkRotate(lenX, ldx, cols, chains, steps, lenC, ldc) {
		return false
	}
	switch {
	case ldg < cols:
		panic(badLdG)
	case lenG < cols || (lenG-cols)/ldg < steps+chains-1:
		panic(shortG)
	case sums < steps:
		panic(shortSums)
	}
	return true
}

func checkTangent(lenX, ldx, lenT, ldt, cols, chains, steps, lenC, ldc int) bool {
	if !checkRotate(lenX, ldx, cols, chains, steps, lenC, ldc) {
		return false
	}
	switch {
	case ldt < cols:
		panic(badLdT)
	case lenT < cols || (lenT-cols)/ldt < steps+chains-1:
		panic(shortT)
	}
	return true
}

// checkRotate reports whether there is something to do.
func checkRotate(lenX, ldx, cols, chains, steps, lenC, ldc int) bool {
	switch {
	case chains != 1 && chains != RotateChains:
		panic(badChains)
	case steps < 0:
		panic(badSteps)
	case cols < 0:
		panic(badN)
	case ldx < max(1, cols):
		panic(badLdX)
	case cols == 0 || steps == 0:
		return false
	case lenX < cols || (lenX-cols)/ldx < steps+chains-1:
		panic(shortX)
	case lenC < steps || chains > 1 && (ldc < 0 || (lenC-steps)/(chains-1) < ldc):
		panic(shortC)
	}
	return true
}
