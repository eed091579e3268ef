package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"revnum/revsparse"
	"revnum/revsparse/matrixmarket"
)

// Matrix is the type of the measured matrices. Its indices take four bytes.
type Matrix = revsparse.CSR[float64, int32]

// Kinds are the names of the matrices that Generate draws.
var Kinds = []string{"laplacian", "banded", "uniform", "power-law"}

// MaxEntries bounds the entries of a matrix that is drawn.
const MaxEntries = 100_000_000

// Generate draws an n×n matrix with about the given number of entries in a row: the
// five points of a square grid (as many as fit into n), a band, columns at random, or
// columns at random in rows whose lengths follow a power law. Columns are sorted.
func Generate(kind string, n, entries int, seed uint64) (Matrix, error) {
	switch {
	case !slices.Contains(Kinds, kind):
		return Matrix{}, fmt.Errorf("expected one of %s, found %q", strings.Join(Kinds, ", "), kind)
	case n < 1 || entries < 1 || n > MaxEntries/entries:
		return Matrix{}, fmt.Errorf("expected positive numbers of rows and of entries in a row, %d entries at most, found %d and %d", MaxEntries, n, entries)
	case entries > n:
		return Matrix{}, fmt.Errorf("expected at most %d entries in a row, as there are columns, found %d", n, entries)
	}
	if kind == "laplacian" {
		return laplacian(int(math.Sqrt(float64(n)))), nil
	}
	rnd := rand.New(rand.NewPCG(seed, 1))
	a := Matrix{Rows: n, Cols: n, Ptr: make([]int32, 1, n+1)}
	for i := range n {
		length := entries
		if kind == "power-law" {
			// Of density x^(-5/2): the mean is three times the least.
			length = min(n, max(1, int(float64(entries)/3*math.Pow(1-rnd.Float64(), -2.0/3))))
		}
		if len(a.Ind)+length > math.MaxInt32 {
			return Matrix{}, errors.New("more entries than an index of four bytes counts")
		}
		if kind == "banded" {
			first := min(max(0, i-entries/2), n-entries)
			for e := range length {
				a.Ind = append(a.Ind, int32(first+e))
			}
		} else {
			a.Ind = appendColumns(a.Ind, rnd, n, length)
		}
		for range length {
			a.Data = append(a.Data, rnd.NormFloat64())
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	return a, nil
}

// appendColumns appends the given number of different random columns, sorted.
func appendColumns(ind []int32, rnd *rand.Rand, n, count int) []int32 {
	lo := len(ind)
	for len(ind) < lo+count {
		for len(ind) < lo+count {
			ind = append(ind, int32(rnd.IntN(n)))
		}
		slices.Sort(ind[lo:])
		ind = ind[:lo+len(slices.Compact(ind[lo:]))]
	}
	return ind
}

// laplacian returns the matrix of the five-point stencil on a square grid.
func laplacian(side int) Matrix {
	n := side * side
	a := Matrix{Rows: n, Cols: n, Ptr: make([]int32, 1, n+1)}
	put := func(ok bool, j int, v float64) {
		if ok {
			a.Ind, a.Data = append(a.Ind, int32(j)), append(a.Data, v)
		}
	}
	for i := range side {
		for j := range side {
			at := i*side + j
			put(i > 0, at-side, -1)
			put(j > 0, at-1, -1)
			put(true, at, 4)
			put(j < side-1, at+1, -1)
			put(i < side-1, at+side, -1)
			a.Ptr = append(a.Ptr, int32(len(a.Ind)))
		}
	}
	return a
}

// Load reads the matrix in a Matrix Market file. A symmetric matrix gets both
// triangles.
func Load(path string) (Matrix, error) {
	m, err := matrixmarket.ReadFile[float64](path)
	if err != nil {
		return Matrix{}, err
	}
	f := m.Full()
	switch {
	case f.Rows == 0 || f.Cols == 0 || f.NNZ() == 0:
		return Matrix{}, fmt.Errorf("%s: expected a matrix with entries, found %d×%d with %d", path, f.Rows, f.Cols, f.NNZ())
	case f.NNZ() > math.MaxInt32 || f.Rows >= math.MaxInt32 || f.Cols >= math.MaxInt32:
		return Matrix{}, fmt.Errorf("%s: more rows, columns or entries than an index of four bytes counts", path)
	}
	for _, v := range f.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return Matrix{}, fmt.Errorf("%s: expected finite numbers, found %v", path, v)
		}
	}
	narrow := func(x []int) []int32 {
		y := make([]int32, len(x))
		for i, v := range x {
			y[i] = int32(v)
		}
		return y
	}
	return Matrix{Rows: f.Rows, Cols: f.Cols, Ptr: narrow(f.Ptr), Ind: narrow(f.Ind), Data: f.Data}, nil
}
