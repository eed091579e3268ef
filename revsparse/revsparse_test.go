package revsparse_test

import (
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revsparse"
)

// randomNumber returns a normal number of any type.
func randomNumber[T rev.Number](rnd *rand.Rand) T {
	var x T
	switch x := any(&x).(type) {
	case *float64:
		*x = rnd.NormFloat64()
	case *float32:
		*x = float32(rnd.NormFloat64())
	case *fixed.Q43:
		*x = fixed.FromFloat64(rnd.NormFloat64())
	case *complex128:
		*x = complex(rnd.NormFloat64(), rnd.NormFloat64())
	}
	return x
}

func numbers[T rev.Number](rnd *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = randomNumber[T](rnd)
	}
	return x
}

func matrixOf[T rev.Number](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, numbers[T](rnd, r*c))
}

// random returns a matrix with about the given number of entries in a row, in
// columns that are not sorted, some of them twice, with empty rows and columns
// and, if there are rows enough, a dense one.
func random[T rev.Number, I revsparse.Index](rnd *rand.Rand, rows, cols, perRow int) revsparse.CSR[T, I] {
	a := revsparse.CSR[T, I]{Rows: rows, Cols: cols, Ptr: make([]I, 1, rows+1), Ind: []I{}}
	for i := range rows {
		n := 0
		switch {
		case cols == 0 || i%7 == 1:
		case i == 4:
			n = cols
		default:
			n = rnd.IntN(2*perRow + 1)
		}
		for range n {
			c := rnd.IntN(cols)
			if c%5 == 3 { // an empty column
				c--
			}
			a.Ind = append(a.Ind, I(c))
		}
		a.Ptr = append(a.Ptr, I(len(a.Ind)))
	}
	a.Data = numbers[T](rnd, len(a.Ind))
	return a
}
