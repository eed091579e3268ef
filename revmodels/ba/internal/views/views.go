// Package views reprojects points by cameras, in vector code. Observations lie along the
// lanes. No operation is fused, so all tiers (see package cpu) give the same bits.
package views

import (
	"unsafe"

	"revnum/internal/simd/cpu"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

const (
	badLength = "views: slice lengths do not match"
	badLdDst  = "views: bad leading dimension of dst"
	badLdX    = "views: bad leading dimension of x"
	shortDst  = "views: insufficient length of dst"
	shortX    = "views: insufficient length of x"
)

const (
	// Lanes is the number of observations of a block.
	Lanes = 64

	// viewStride is the distance between rows. It is not a power of two, because rows
	// would then fall on the same lines of the cache.
	viewStride = Lanes + 8

	// PointRow is the row of the first coordinate of the points. The rows before it
	// hold the cameras.
	PointRow = 24

	viewTurn = PointRow + 3 // third row of the rotation

	// JacobianRow is the row of the first column of the Jacobian. All columns of the
	// first residual come first, then all columns of the second.
	JacobianRow = viewTurn + 3

	// tile is the number of rows that the assembly of gather and scatter moves at a time.
	tile = 8

	// viewRows leaves a multiple of 4 rows for the Jacobian, because Scatter takes 4 at a
	// time.
	viewRows = JacobianRow + 32
)

// Views is a block of observations. Each column is one observation. The rows of the camera
// are
//
//	0   the first two rows of its rotation
//	6   the shift, added after the rotation (Snavely) or subtracted before it (Weighted)
//	9   f, k1, k2
//	12  u0, v0 (Weighted)
//	12  K by rows, for the Jacobian alone; 14 for Weighted
//
// where (K·δ) × (R·x) is the derivative of R·x in direction δ.
type Views[T cpu.Float] [viewRows][viewStride]T

// A CameraModel determines the columns of the Jacobian.
type CameraModel int

// The models of package ba, with the columns of the Jacobian.
const (
	Snavely  CameraModel = iota // r, t, f, k1, k2; X
	Weighted                    // r, C, f, u0, v0, k1, k2; X; w
)

// Columns returns the number of columns of the Jacobian.
func (m CameraModel) Columns() int {
	if m == Weighted {
		return 15
	}
	return 12
}

// CameraRows returns the number of rows of the camera that residuals and Jacobian need.
func (m CameraModel) CameraRows() (residuals, jacobian int) {
	if m == Weighted {
		return 14, 14 + 9
	}
	return 12, 12 + 9
}

// Gather copies rows of src to the columns of v: v[row+k][i] = src[index[i]*lds+k] for
// k < cols. Rows of src begin at multiples of lds and have cols elements. Gather returns
// false if an index is not in [0, rows). It may have copied some rows then.
func (v *Views[T]) Gather(row int, src []T, rows, lds, cols int, index []int) bool {
	switch {
	case lds < max(1, cols):
		panic(badLdX)
	case len(index) > Lanes || row < 0 || cols < 0 || row+cols > viewRows:
		panic(badLength)
	case rows > 0 && (len(src) < cols || (len(src)-cols)/lds < rows-1):
		panic(shortX)
	}
	if cols == 0 {
		return true
	}
	n := 0
	if tier != cpu.Generic && cpu.Is64[T]() {
		n = len(index) &^ (tile - 1)
	}
	if n > 0 && !vectorGatherRows(&v[row][0], unsafe.SliceData(src), rows, lds, cols, &index[0], n) {
		return false
	}
	return genericGather(v, row, n, src, rows, lds, cols, index[n:])
}

// Scatter copies columns of v to the first n rows of dst: dst[i*ldd+k] = v[row+k][i] for
// k < cols. Rows of dst begin at multiples of ldd and have cols elements.
func (v *Views[T]) Scatter(dst []T, ldd, row, cols, n int) {
	switch {
	case ldd < max(1, cols):
		panic(badLdDst)
	case n < 0 || n > Lanes || row < 0 || cols < 0 || row+(cols+3)&^3 > viewRows:
		panic(badLength)
	case n > 0 && (len(dst) < cols || (len(dst)-cols)/ldd < n-1):
		panic(shortDst)
	}
	if cols == 0 {
		return
	}
	done := 0
	if tier != cpu.Generic && cpu.Is64[T]() {
		done = n &^ (tile - 1)
	}
	if done > 0 {
		vectorScatterRows(&dst[0], ldd, &v[row][0], cols, done)
	}
	genericScatter(v, dst, ldd, row, cols, done, n)
}

// A Task is what Reproject does in addition to the residuals r.
type Task int

// The tasks.
const (
	Residuals  Task = iota // nothing more
	Derivative             // stores J in the rows from JacobianRow on
	Adjoint                // stores Jᵀ·g in the rows of the first residual
	Tangent                // takes t from the rows of the first residual, adds sign·J·t to g
)

// Operands holds the operands of n observations, stored without gaps.
type Operands[T cpu.Float] struct {
	X, W, R, Z []T // features, weights, residuals, and residuals of the weights
	G          []T // for Adjoint and Tangent: cotangents or tangents of the residuals

	// For Observe alone.
	Cameras       []T // PointRow elements each: the rows of Views
	Points        []T // three coordinates each
	NumPoints     int
	PointStride   int
	Camera, Point []int
	J, DZ         []T // for Derivative: J by rows; for Weighted, the derivative -2·w of z
}

// Reproject adds sign times the residuals of len(R)/2 observations to R, and does the task
// with their Jacobian J by cameras, points and weights. X holds the features. R, X and G
// have two numbers for each observation. Only Adjoint and Tangent use G. For Weighted, the
// residuals are multiplied by the weights W, and sign·(1-W²) is added to Z. The number of
// observations must be a multiple of 16. Products are rounded before they are added.
func (v *Views[T]) Reproject(m CameraModel, do Task, o *Operands[T], sign T) {
	n := len(o.R) / 2
	switch {
	case n > Lanes || n%16 != 0 || len(o.R) != 2*n || len(o.X) != 2*n,
		m == Weighted && (len(o.W) != n || len(o.Z) != n),
		do >= Adjoint && len(o.G) != 2*n:
		panic(badLength)
	case n == 0:
		return
	}
	block := &v[0][0]
	switch {
	case tier == cpu.Generic:
		genericReproject(v, m, do, o, sign)
	case m == Snavely && do == Residuals:
		vectorReprojectSnavelyResiduals(block, o, n, sign)
	case m == Snavely && do == Derivative:
		vectorReprojectSnavelyDerivative(block, o, n, sign)
	case m == Snavely && do == Adjoint:
		vectorReprojectSnavelyAdjoint(block, o, n, sign)
	case m == Snavely:
		vectorReprojectSnavelyTangent(block, o, n, sign)
	case do == Residuals:
		vectorReprojectWeightedResiduals(block, o, n, sign)
	case do == Derivative:
		vectorReprojectWeightedDerivative(block, o, n, sign)
	case do == Adjoint:
		vectorReprojectWeightedAdjoint(block, o, n, sign)
	default:
		vectorReprojectWeightedTangent(block, o, n, sign)
	}
}

// Observe does Gather, Reproject and the Scatter of the Jacobian in one pass, for Residuals
// and Derivative. It does the first observations and returns their number done, which may
// be 0. ok is false if an index is out of range. Some observations may be done then. If
// past is true, Observe stores the Jacobian past the caches where it can. Use this for a
// Jacobian that is larger than the caches. v is scratch memory.
func (v *Views[T]) Observe(m CameraModel, do Task, o *Operands[T], sign T, past bool) (done int, ok bool) {
	n := len(o.Camera)
	switch {
	case len(o.Cameras)%PointRow != 0 || do > Derivative,
		len(o.Point) != n || len(o.X) != 2*n || len(o.R) != 2*n,
		m == Weighted && (len(o.W) != n || len(o.Z) != n),
		do == Derivative && (len(o.J) != 2*n*m.Columns() || m == Weighted && len(o.DZ) != n):
		panic(badLength)
	case o.PointStride < 3:
		panic(badLdX)
	case o.NumPoints > 0 && (len(o.Points) < 3 || (len(o.Points)-3)/o.PointStride < o.NumPoints-1):
		panic(shortX)
	}
	const line = 64
	done = n &^ (tile - 1)
	if tier == cpu.Generic || !cpu.Is64[T]() || done == 0 {
		return 0, true
	}
	past = past && uintptr(unsafe.Pointer(unsafe.SliceData(o.J)))%line == 0
	block, cameras := &v[0][0], len(o.Cameras)/PointRow
	switch {
	case m == Snavely && do == Residuals:
		ok = vectorObserveSnavelyResiduals(block, o, cameras, done, sign, past)
	case m == Snavely:
		ok = vectorObserveSnavelyDerivative(block, o, cameras, done, sign, past)
	case do == Residuals:
		ok = vectorObserveWeightedResiduals(block, o, cameras, done, sign, past)
	default:
		ok = vectorObserveWeightedDerivative(block, o, cameras, done, sign, past)
	}
	return done, ok
}

// LimitRows is the number of rows of limits, which are in a block in place of cameras:
//
//	0   a rotation R by rows
//	9   what is subtracted from the point before it, and what is added after it
//	15  the largest ‖x‖², the least y₃², and the largest (y₁² + y₂²)/y₃²
//
// where y = R·x + shift are the coordinates in the camera, of the point x less the first shift. Limits and
// points are not NaN, and a product of these is not infinite.
const LimitRows = 18

// Within returns the first observation from i on that is not within its limits, or n.
func (v *Views[T]) Within(i, n int) int {
	if i < 0 || n > Lanes {
		panic(badLength)
	}
	if i < n && tier != cpu.Generic && cpu.Is64[T]() {
		i += vectorWithin(&v[0][i], n-i) // stops before the register that has it
	}
	for i < n && genericWithin(v, i) {
		i++
	}
	return min(i, n)
}

// AddRows adds rows of src to rows of dst: dst[index[i]*ldd+k] += src[i*lds+k] for k < cols,
// in the order of i. The indices must be in range. AddRows does not check that.
func AddRows[T cpu.Float](dst []T, ldd int, src []T, lds, cols int, index []int) {
	if ldd < max(1, cols) {
		panic(badLdDst)
	}
	if lds < max(1, cols) {
		panic(badLdX)
	}
	if n := len(index); n > 0 && (len(src) < cols || (len(src)-cols)/lds < n-1) {
		panic(shortX)
	}
	switch {
	case cols == 0 || len(index) == 0:
	case tier == cpu.Generic || !cpu.Is64[T]():
		genericAddRows(dst, ldd, src, lds, cols, index)
	default:
		vectorAddRows(unsafe.SliceData(dst), ldd, &src[0], lds, cols, &index[0], len(index))
	}
}

// Prefetch asks the machine to load the rows of up to 10 elements that Gather will copy. The
// indices may be out of range.
func Prefetch[T cpu.Float](src []T, lds int, index []int) {
	if n := len(index) &^ (tile - 1); n > 0 && tier != cpu.Generic && cpu.Is64[T]() {
		vectorPrefetchRows(unsafe.SliceData(src), lds, &index[0], n)
	}
}
