package ba

import (
	"math"
	"unsafe"

	"revnum/internal/parallel"
	"revnum/internal/passkind"
	"revnum/internal/workspace"
	"revnum/rev"
	"revnum/revmodels/ba/internal/views"
	"revnum/revsparse"
)

// CSRTo makes a the Jacobian of R by the cameras and then the points, 2p×(9n+3m), a sparse
// matrix with the structure of k, in a's storage if that suffices. j is a view of its
// values: Jacobian stores them there, as often as you like. Columns ascend in each row. It
// panics with mat.ErrRowAccess if an index is out of range, and with mat.ErrShape if a
// column or entry has a number above 2³¹-1, which takes tens of millions of observations.
func (k Snavely[T]) CSRTo(a *revsparse.CSR[T, int32]) (j rev.General[T]) {
	snavelyMatrix(passkind.Of[T](), unsafe.Pointer(&k), unsafe.Pointer(a), unsafe.Pointer(&j))
	return j
}

// CSRTo makes a the Jacobian of R and then Z by the cameras, the points and the weights,
// 3p×(11n+3m+p), as the method of Snavely does. j and z are views of its values for
// Jacobian.
func (k Weighted[T]) CSRTo(a *revsparse.CSR[T, int32]) (j rev.General[T], z rev.Vector[T]) {
	weightedMatrix(passkind.Of[T](), unsafe.Pointer(&k), unsafe.Pointer(a), unsafe.Pointer(&j), unsafe.Pointer(&z))
	return j, z
}

// csr stores the structure of the Jacobian in a, and returns views of the values of the
// first rows and of the last ones.
func (p *problem[T]) csr(a *revsparse.CSR[T, int32]) (j rev.General[T], dz rev.Vector[T]) {
	n, cols := len(p.camera), p.model.Columns()
	a.Rows, a.Cols = 2*n, params(p.model)*p.cameras.Rows+3*p.points.Rows
	entries := 2 * n * cols
	if p.model == views.Weighted {
		a.Rows, a.Cols = 3*n, a.Cols+n
		entries += n
	}
	if max(a.Cols-1, entries) > math.MaxInt32 {
		panic(rev.ShapeError[Snavely[T]]("Camera", "makes a matrix of %d columns and %d entries, want less than 2³¹", a.Cols, entries))
	}
	isNew := cap(a.Data) < entries
	a.Data = workspace.Grow(a.Data, entries) // first, as it is most likely to need memory that an older matrix had
	a.Ind = workspace.Grow(a.Ind, entries)
	a.Ptr = workspace.Grow(a.Ptr, a.Rows+1)
	a.Ptr[0] = 0

	s := workspace.Get[*structure[T]]()
	defer func() { // also if an index is out of range
		*s = structure[T]{}
		workspace.Put(s)
	}()
	s.problem, s.ptr, s.ind, s.data = *p, a.Ptr, a.Ind, nil
	if isNew {
		s.data = a.Data
	}
	parallel.Run(parallel.Workers(p.workers), blocks(n, structureBlock), s)

	first := 2 * n * cols
	return rev.NewGeneral(2*n, cols, a.Data[:first:first]), rev.ViewSlice(a.Data[first:])
}

// structureBlock is the number of observations in a block of a structure.
const structureBlock = 4096

// A structure is the task that stores the structure of the Jacobian.
type structure[T rev.Real] struct {
	problem  problem[T]
	ptr, ind []int32
	data     []T // values whose memory is new; otherwise nil
}

// Block implements parallel.Task.
func (s *structure[T]) Block(_, b int) {
	p := &s.problem
	n, cols, cam := len(p.camera), p.model.Columns(), params(p.model)
	pointCol := cam * p.cameras.Rows
	weightCol := pointCol + 3*p.points.Rows
	lo, hi := b*structureBlock, min((b+1)*structureBlock, n)
	if s.data != nil {
		workspace.Populate(s.data[2*cols*lo : 2*cols*hi])
		workspace.Populate(s.ind[2*cols*lo : 2*cols*hi])
		workspace.Populate(s.ptr[2*lo : 2*hi])
		if p.model == views.Weighted {
			workspace.Populate(s.data[2*cols*n+lo : 2*cols*n+hi])
			workspace.Populate(s.ind[2*cols*n+lo : 2*cols*n+hi])
			workspace.Populate(s.ptr[2*n+lo : 2*n+hi])
		}
	}
	for i := lo; i < hi; i++ {
		if !p.exists(i) {
			panic(p.indexError(i))
		}
		rows := s.ind[2*cols*i:][:2*cols]
		first := rows[:cols]
		column := int32(cam * p.camera[i])
		for k := range first[:cam] {
			first[k] = column + int32(k)
		}
		column = int32(pointCol + 3*p.point[i])
		first[cam], first[cam+1], first[cam+2] = column, column+1, column+2
		if p.model == views.Weighted {
			column = int32(weightCol + i)
			first[cam+3] = column
			// The row of the weight is among the last.
			s.ind[2*cols*n+i] = column
			s.ptr[2*n+i+1] = int32(2*cols*n + i + 1)
		}
		copy(rows[cols:], first)
		s.ptr[2*i+1], s.ptr[2*i+2] = int32(cols*(2*i+1)), int32(cols*(2*i+2))
	}
}
