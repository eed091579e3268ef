package revsparse

import (
	"fmt"
	"math"

	"revnum/internal/workspace"
	"revnum/rev"
)

// mirrored is the symmetric matrix with the lower triangle of a kernel's operand,
// all of it stored, in float64, and times 2^-exp, so that the largest element is
// between 1/2 and 1.
type mirrored[I Index] struct {
	full    CSR[float64, I]
	exp     int
	norm    float64 // the largest sum of the magnitudes of a row
	workers int
}

// setMirrored makes m the matrix with the lower triangle of a. It reports whether all
// elements of that are finite; only then m is made. It is an error if indices of type I
// do not count the entries.
func setMirrored[T rev.Float, I Index](m *mirrored[I], a CSR[T, I]) (finite bool, err error) {
	n := a.Rows
	f := &m.full
	f.Rows, f.Cols = n, n
	f.Ptr = workspace.Zeros(f.Ptr, n+1)
	entries, top := 0, 0.0
	for i := range n {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			if j > i {
				continue
			}
			if v := math.Abs(float64(a.Data[p])); v > top || math.IsNaN(v) {
				top = v // a NaN stays
			}
			f.Ptr[i]++
			entries++
			if j < i {
				f.Ptr[j]++
				entries++
			}
		}
	}
	if !fits[I](entries) {
		return false, fmt.Errorf("revsparse: the %d entries of both triangles are more than %T counts", entries, I(0))
	}
	if !(top <= math.MaxFloat64) {
		return false, nil
	}
	_, m.exp = math.Frexp(top)

	// Ptr[i] is where row i is filled, and ends as where the next one begins.
	var begin I
	for i := range f.Ptr {
		begin, f.Ptr[i] = begin+f.Ptr[i], begin
	}
	f.Ind, f.Data = workspace.Grow(f.Ind, entries), workspace.Grow(f.Data, entries)
	put := func(i, j int, v float64) {
		p := f.Ptr[i]
		f.Ind[p], f.Data[p] = I(j), v
		f.Ptr[i]++
	}
	for i := range n {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			if j > i {
				continue
			}
			v := math.Ldexp(float64(a.Data[p]), -m.exp)
			put(i, j, v)
			if j < i {
				put(j, i, v)
			}
		}
	}
	copy(f.Ptr[1:], f.Ptr[:n])
	f.Ptr[0] = 0

	m.norm = 0
	for i := range n {
		s := 0.0
		for _, v := range f.Data[f.Ptr[i]:f.Ptr[i+1]] {
			s += math.Abs(v)
		}
		m.norm = max(m.norm, s)
	}
	return true, nil
}

// mulTo computes y = A·x.
func (m *mirrored[I]) mulTo(y, x []float64) {
	clear(y)
	k := Mul[float64, I]{
		C: rev.General[float64]{Rows: len(y), Cols: 1, Data: y, Stride: 1}, A: m.full,
		B: rev.General[float64]{Rows: len(x), Cols: 1, Data: x, Stride: 1}, Workers: m.workers,
	}
	k.Forward()
}

// addMulSymmetric computes y += alpha·D·x for the symmetric matrix D with the structure of
// the lower triangle of a and the given values there.
func addMulSymmetric[T rev.Float, I Index](y []float64, alpha float64, a CSR[T, I], data []T, x []float64) {
	for i := range a.Rows {
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			j := int(a.Ind[p])
			if j > i {
				continue
			}
			d := alpha * float64(data[p])
			y[i] += float64(d * x[j])
			if j < i {
				y[j] += float64(d * x[i])
			}
		}
	}
}

// addSymmetric adds alpha·u·vᵀ to data at the lower triangle of a, where an entry
// stands for its mirror image too.
func addSymmetric[T rev.Float, I Index](data []T, a CSR[T, I], alpha float64, u, v []float64) {
	for i := range a.Rows {
		ui, vi := alpha*u[i], alpha*v[i]
		for p := a.Ptr[i]; p < a.Ptr[i+1]; p++ {
			switch j := int(a.Ind[p]); {
			case j < i:
				data[p] += T(float64(ui*v[j]) + float64(u[j]*vi))
			case j == i:
				data[p] += T(ui * v[i])
			}
		}
	}
}
