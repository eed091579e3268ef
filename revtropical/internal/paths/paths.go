// Package paths holds the vector loops of tropical products: the best sums of a step from
// a row of A and a step into a column of B.
//
// Columns of B come in panels of Width: row l of a panel is b[l*w:(l+1)*w] with
// w = Width[T](). Results are rows of the same length.
package paths

import (
	"unsafe"

	"revnum/fixed"
	"revnum/internal/simd/cpu"
)

//go:generate go run ./_gen

// tier is the vector code in use.
var tier = cpu.InUse()

// Width returns the number of columns of a panel.
func Width[T fixed.Number]() int { return 128 / int(unsafe.Sizeof(T(0))) }

// most is the largest number of sums that a call of assembly looks at.
const most = 1 << 18

const (
	shortResult = "paths: insufficient length of best or label"
	shortA      = "paths: insufficient length of a"
	shortB      = "paths: insufficient length of b"
)

// Best computes
//
//	best_ij = max(best_ij, max_l a_il + b_lj)
//
// of the rows i, or minima if least is set. Row i of a is a[i*lda:i*lda+k]. If label is
// not nil, label_ij becomes the first l whose sum is best, unless best_ij was as good
// before. k must be below 2²⁴. The result is unspecified if a sum is NaN.
func Best[T fixed.Number](best, label, a []T, lda int, b []T, rows, k int, least bool) {
	w := Width[T]()
	if rows <= 0 || k <= 0 {
		return
	}
	switch {
	case len(best) < rows*w || label != nil && len(label) < rows*w:
		panic(shortResult)
	case lda < 0 || len(a) < (rows-1)*lda+k:
		panic(shortA)
	case len(b) < k*w:
		panic(shortB)
	}
	switch best := any(best).(type) {
	case []float64:
		if tier != cpu.Generic {
			vector(best, any(label).([]float64), any(a).([]float64), lda, any(b).([]float64), rows, k, least)
			return
		}
	case []float32:
		if tier != cpu.Generic {
			vector(best, any(label).([]float32), any(a).([]float32), lda, any(b).([]float32), rows, k, least)
			return
		}
	}
	generic(best, label, a, lda, b, rows, k, least)
}

func vector[T cpu.Float](best, label, a []T, lda int, b []T, rows, k int, least bool) {
	w := Width[T]()
	step := max(8, most/(w*k)&^7)
	for i := 0; i < rows; i += step {
		n := min(step, rows-i)
		switch {
		case label == nil && least:
			vectorMinBest(&best[i*w], &a[i*lda], lda, n, &b[0], k)
		case label == nil:
			vectorMaxBest(&best[i*w], &a[i*lda], lda, n, &b[0], k)
		case least:
			vectorMinWinners(&best[i*w], &label[i*w], &a[i*lda], lda, n, &b[0], k)
		default:
			vectorMaxWinners(&best[i*w], &label[i*w], &a[i*lda], lda, n, &b[0], k)
		}
	}
}
