// Package paths holds the vector loops of tropical products: the best sums of a step from
// a row of A and a step into a column of B.
// B and the result have Width columns.
package paths

import (
	"math"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Width returns the number of columns of a panel.
func Width[T fixed.Number]() int { return 128 / int(unsafe.Sizeof(T(0))) }

const (
	shortResult = "paths: insufficient length of c, best or label"
	shortA      = "paths: insufficient length of a"
	shortB      = "paths: insufficient length of b"
)

// Best computes
//
//	best_ij = max(best_ij, max_l a_il + b_lj)
//
// of the rows i, or minima if least is set, and label_ij, the first l whose sum is best, unless
// best_ij was as good before. Row i of a is a[i*lda:i*lda+k]. Rows of best and label have Width
// elements, and row l of b is b[l*ldb:l*ldb+Width]. k must be below 2²⁴. The result is unspecified
// if a sum is NaN.
func Best[T fixed.Number](best, label, a []T, lda int, b []T, ldb, rows, k int, least bool) {
	if rows <= 0 || k <= 0 {
		return
	}
	w := Width[T]()
	check(best, w, a, lda, b, ldb, rows, k)
	check(label, w, a, lda, b, ldb, rows, k)
	switch best := any(best).(type) {
	case []float64:
		if tier != cpu.Generic {
			vectorBest(best, any(label).([]float64), any(a).([]float64), lda, any(b).([]float64), ldb, rows, k, least)
			return
		}
	case []float32:
		if tier != cpu.Generic {
			vectorBest(best, any(label).([]float32), any(a).([]float32), lda, any(b).([]float32), ldb, rows, k, least)
			return
		}
	}
	genericBest(best, label, a, lda, b, ldb, rows, k, least)
}

// AddBest computes
//
//	c_ij += sign·max_l a_il + b_lj
//
// as Best does, where row i of c is c[i*ldc:i*ldc+Width]. The sign is 1 or -1, which is raw over
// fixed point.
func AddBest[T fixed.Number](c []T, ldc int, sign T, a []T, lda int, b []T, ldb, rows, k int, least bool) {
	if rows <= 0 {
		return
	}
	check(c, ldc, a, lda, b, ldb, rows, k)
	switch c := any(c).(type) {
	case []float64:
		if tier != cpu.Generic {
			vectorAddBest(c, ldc, float64(sign), any(a).([]float64), lda, any(b).([]float64), ldb, rows, k, least)
			return
		}
	case []float32:
		if tier != cpu.Generic {
			vectorAddBest(c, ldc, float32(sign), any(a).([]float32), lda, any(b).([]float32), ldb, rows, k, least)
			return
		}
	}
	genericAddBest(c, ldc, sign, a, lda, b, ldb, rows, k, least)
}

// Worst returns what is best over no sums.
func Worst[T fixed.Number](least bool) T {
	v := fixed.Min
	if T(1)/2 != 0 {
		inf := math.Inf(-1)
		if least {
			inf = -inf
		}
		return T(inf)
	}
	if least {
		v = fixed.Max
	}
	return T(v)
}

func vectorAddBest[T cpu.Float](c []T, ldc int, sign T, a []T, lda int, b []T, ldb, rows, k int, least bool) {
	step := rowsOfCall[T](k)
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		if least {
			vectorMinPlus(&c[i*ldc], ldc, sign, &a[i*lda], lda, n, &b[0], ldb, k)
		} else {
			vectorMaxPlus(&c[i*ldc], ldc, sign, &a[i*lda], lda, n, &b[0], ldb, k)
		}
	}
}

func vectorBest[T cpu.Float](best, label, a []T, lda int, b []T, ldb, rows, k int, least bool) {
	w, step := Width[T](), rowsOfCall[T](k)
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		if least {
			vectorMinWinners(&best[i*w], &label[i*w], &a[i*lda], lda, n, &b[0], ldb, k)
		} else {
			vectorMaxWinners(&best[i*w], &label[i*w], &a[i*lda], lda, n, &b[0], ldb, k)
		}
	}
}

// rowsOfCall returns for how many rows assembly is called at a time, which looks at about 2¹⁸ sums.
func rowsOfCall[T cpu.Float](k int) int { return max(8, (1<<18)/(Width[T]()*k)&^7) }

// check panics unless the factors have k columns and rows, and the result c has rows.
func check[T fixed.Number](c []T, ldc int, a []T, lda int, b []T, ldb, rows, k int) {
	w := Width[T]()
	switch {
	case ldc < w || len(c) < (rows-1)*ldc+w:
		panic(shortResult)
	case k <= 0 || lda < 0 || len(a) < (rows-1)*lda+k:
		panic(shortA)
	case ldb < w || len(b) < (k-1)*ldb+w:
		panic(shortB)
	}
}
