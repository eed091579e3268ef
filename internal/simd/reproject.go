package simd

// Reprojection of points by cameras, for package ba: observations lie along the
// vector lanes.

const (
	// ViewLanes is the number of observations of a block.
	ViewLanes = 64

	// viewStride is how far apart rows lie: not a power of two, so that rows do
	// not fall on the same lines of the cache.
	viewStride = ViewLanes + 8

	// ViewPoint is the row of the first coordinate of the points; those before
	// it are of the cameras.
	ViewPoint = 24

	viewTurn = ViewPoint + 3 // third row of the rotation

	// ViewJacobian is the row of the first column of the Jacobian: all columns of
	// the first residual, then all of the second.
	ViewJacobian = viewTurn + 3

	// viewRows is a multiple of 4 rows of the Jacobian, as Scatter takes 4 at a time.
	viewRows = ViewJacobian + 32

	maxColumns = 2 * 15 // of the Jacobian
)

// Views is a block of observations, one a column. The rows of the camera are
//
//	0   the first two rows of its rotation
//	6   what is added after the rotation (Snavely), or subtracted before it (Weighted)
//	9   f, k1, k2
//	12  u0, v0 (Weighted)
//	12  or 14 for Weighted: K by rows, for the Jacobian alone
//
// where (K·δ) × (R·x) is the derivative of R·x in direction δ.
type Views[T Float] [viewRows][viewStride]T

// A CameraModel says which columns the Jacobian has.
type CameraModel int

// The models, in the terms of package ba.
const (
	Snavely  CameraModel = iota // r, t, f, k1, k2; X
	Weighted                    // r, C, f, u0, v0, k1, k2; X; w
)

// Columns returns how many columns the Jacobian has.
func (m CameraModel) Columns() int {
	if m == Weighted {
		return 15
	}
	return 12
}

// CameraRows returns how many rows of the camera residuals and Jacobian need.
func (m CameraModel) CameraRows() (residuals, jacobian int) {
	if m == Weighted {
		return 14, 14 + 9
	}
	return 12, 12 + 9
}

// Gather copies rows of src, which begin at multiples of lds and have cols
// elements, to the columns of v: v[row+k][i] = src[index[i]*lds+k] for k < cols. It
// returns false, having copied some, if an index is not in [0, rows).
func (v *Views[T]) Gather(row int, src []T, rows, lds, cols int, index []int) bool {
	switch {
	case lds < max(1, cols):
		panic(badLdX)
	case len(index) > ViewLanes || row < 0 || cols < 0 || row+cols > viewRows:
		panic(badLength)
	case rows > 0 && (len(src) < cols || (len(src)-cols)/lds < rows-1):
		panic(shortX)
	}
	if cols == 0 {
		return true
	}
	return gather(v, row, src, rows, lds, cols, index)
}

// Scatter copies columns of v to the first n rows of dst, which begin at multiples
// of ldd and have cols elements: dst[i*ldd+k] = v[row+k][i] for k < cols.
func (v *Views[T]) Scatter(dst []T, ldd, row, cols, n int) {
	switch {
	case ldd < max(1, cols):
		panic(badLdDst)
	case n < 0 || n > ViewLanes || row < 0 || cols < 0 || row+(cols+3)&^3 > viewRows:
		panic(badLength)
	case n > 0 && (len(dst) < cols || (len(dst)-cols)/ldd < n-1):
		panic(shortDst)
	}
	if cols > 0 && n > 0 {
		scatter(v, dst, ldd, row, cols, n)
	}
}

// Reproject adds sign times the residuals of len(r)/2 observations to r, of the
// points and features x, two numbers an observation each, and stores their
// Jacobian if jacobian is set. For Weighted the residuals are times the weights w,
// and sign·(1-w²) is added to z. The number of observations must be a multiple of
// 16. Products are rounded before they are added.
func (v *Views[T]) Reproject(m CameraModel, jacobian bool, x, w, r, z []T, sign T) {
	n := len(r) / 2
	if n > ViewLanes || n%16 != 0 || len(r) != 2*n || len(x) != 2*n || m == Weighted && (len(w) != n || len(z) != n) {
		panic(badLength)
	}
	if n > 0 {
		reproject(v, m, jacobian, x, w, r, z, sign)
	}
}

// genericGather begins at column i0.
func genericGather[T Float](v *Views[T], row, i0 int, src []T, rows, lds, cols int, index []int) bool {
	for i, at := range index {
		if uint(at) >= uint(rows) {
			return false
		}
		for k, x := range src[at*lds:][:cols] {
			v[row+k][i0+i] = x
		}
	}
	return true
}

// genericScatter begins at column i0.
func genericScatter[T Float](v *Views[T], dst []T, ldd, row, cols, i0, n int) {
	for i := i0; i < n; i++ {
		to := dst[i*ldd:][:cols]
		for k := range to {
			to[k] = v[row+k][i]
		}
	}
}

// genericReproject is the reference for the vector code, which does the same
// operations in the same order.
func genericReproject[T Float](v *Views[T], m CameraModel, jacobian bool, x, w, r, z []T, sign T) {
	_, left := m.CameraRows()
	left -= 9
	for i := range len(r) / 2 {
		var turn [9]T
		for k := range 6 {
			turn[k] = v[k][i]
		}
		turn[6] = T(turn[1]*turn[5]) - T(turn[2]*turn[4])
		turn[7] = T(turn[2]*turn[3]) - T(turn[0]*turn[5])
		turn[8] = T(turn[0]*turn[4]) - T(turn[1]*turn[3])
		var at, t, y [3]T
		for k := range at {
			at[k] = v[ViewPoint+k][i]
			if m == Weighted {
				at[k] -= v[6+k][i]
			}
		}
		for k := range t {
			t[k] = T(turn[3*k]*at[0]) + T(turn[3*k+1]*at[1]) + T(turn[3*k+2]*at[2])
			y[k] = t[k]
			if m == Snavely {
				y[k] += v[6+k][i]
			}
		}
		s := 1 / y[2]
		if m == Snavely {
			s = -1 / y[2]
		}
		p := [2]T{y[0] * s, y[1] * s}
		square := T(p[0]*p[0]) + T(p[1]*p[1])
		f, k1, k2 := v[9][i], v[10][i], v[11][i]
		bend := T(k2 * square)
		slope := bend + k1
		radial := T(slope*square) + 1
		bend += slope
		bend += bend

		var distorted, e [2]T
		for c := range e {
			distorted[c] = radial * p[c]
			e[c] = T(f * distorted[c])
			if m == Weighted {
				e[c] += v[12+c][i]
			}
			e[c] -= x[2*i+c]
			if m == Snavely {
				r[2*i+c] += T(e[c] * sign)
				continue
			}
			r[2*i+c] += T(T(e[c]*w[i]) * sign)
		}
		if m == Weighted {
			z[i] += T((1 - T(w[i]*w[i])) * sign)
		}
		if !jacobian {
			continue
		}

		g := f
		if m == Weighted {
			g *= w[i]
		}
		h := g * s
		stretch := T(bend*square) + radial
		diagonal := [2]T{h * (T(T(bend*p[0])*p[0]) + radial), h * (T(T(bend*p[1])*p[1]) + radial)}
		corner := h * T(T(bend*p[0])*p[1])
		if m == Weighted {
			h = -h
		}
		for c := range e {
			row := v[ViewJacobian+c*m.Columns():][:m.Columns()]
			d := [3]T{corner, corner, h * T(stretch*p[c])}
			d[c] = diagonal[c]
			turned := [3]T{
				T(t[1]*d[2]) - T(t[2]*d[1]),
				T(t[2]*d[0]) - T(t[0]*d[2]),
				T(t[0]*d[1]) - T(t[1]*d[0]),
			}
			far := square * p[c]
			for k := range 3 {
				row[k][i] = T(v[left+k][i]*turned[0]) + T(v[left+3+k][i]*turned[1]) + T(v[left+6+k][i]*turned[2])
				point := T(turn[k]*d[0]) + T(turn[3+k]*d[1]) + T(turn[6+k]*d[2])
				if m == Weighted {
					row[3+k][i], row[11+k][i] = -point, point
				} else {
					row[3+k][i], row[9+k][i] = d[k], point
				}
			}
			if m == Weighted {
				row[6][i] = distorted[c] * w[i]
				row[7][i], row[8][i] = 0, 0
				row[7+c][i] = w[i]
				row[9][i] = g * far
				row[10][i] = g * T(square*far)
				row[14][i] = e[c]
			} else {
				row[6][i] = distorted[c]
				row[7][i] = g * far
				row[8][i] = g * T(square*far)
			}
		}
	}
}

// Stream is Scatter to rows without gaps, past the caches where it can: for what is
// larger than these.
func (v *Views[T]) Stream(dst []T, row, cols, n int) {
	switch {
	case n < 0 || n > ViewLanes || row < 0 || cols < 0 || row+(cols+3)&^3 > viewRows:
		panic(badLength)
	case len(dst) < n*cols:
		panic(shortDst)
	}
	if cols > 0 && n > 0 {
		stream(v, dst, row, cols, n)
	}
}

// Prefetch asks for the rows of up to 10 elements that Gather will copy, so that they
// are in the cache by then. Nothing is required of the indices.
func Prefetch[T Float](src []T, lds int, index []int) { prefetch(src, lds, index) }

// StreamFence must follow calls of Stream before others may see what they wrote.
func StreamFence() { fence() }
