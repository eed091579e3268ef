package cuda

import (
	"unsafe"

	"revnum/rev"
)

// addRows computes y += sign·A·x, unless one of them is nil. In fixed point an element of
// A·x is rounded once.
func addRows[T rev.Real](w *pass, y Vector[T], sign int, a General[T], x Vector[T]) {
	addTwoRows(w, y, sign, a, x, Vector[T]{}, Vector[T]{})
}

// addTwoRows computes y += sign·A·x, unless one of them is nil, and z += sign·A·v likewise. It reads A
// once.
func addTwoRows[T rev.Real](w *pass, y Vector[T], sign int, a General[T], x, z, v Vector[T]) {
	if z.Data == nil || v.Data == nil {
		z, v = Vector[T]{}, Vector[T]{}
	}
	if y.Data == nil || x.Data == nil {
		y, x, z, v = z, v, Vector[T]{}, Vector[T]{}
	}
	if y.Data == nil || a.Data == nil || a.Rows == 0 || a.Cols == 0 {
		return
	}
	yd, yi := y.params()
	xd, xi := x.params()
	zd, zi := z.params()
	vd, vi := v.params()
	w.launch(typed[T]("addRows"), rowGrid(a.Rows), yd, yi, uint64(a.Data.address()), uint64(a.Stride), uint64(a.Rows), uint64(a.Cols), xd, xi, zd, zi, vd, vi, uint64(sign))
}

// columnPart is how many rows a thread of addColumns sums up, unless there are more than
// maxParts·columnPart of them.
const (
	columnPart = 256
	maxParts   = 1 << 15
)

// columnRoom reserves what addColumns needs for an a of that shape: an element for each
// column of a part, which has each rows.
func columnRoom[T rev.Real](w *pass, rows, cols int) (at uintptr, parts, each int) {
	each = max(columnPart, (rows+maxParts-1)/maxParts)
	parts = (rows + each - 1) / each
	return w.room(1, parts*cols*int(unsafe.Sizeof(*new(T)))), parts, each
}

// addColumns computes x += Aᵀ·y, unless one of them is nil. Each product is rounded. If ones
// is set, y is ones.
func addColumns[T rev.Real](w *pass, x Vector[T], a General[T], y Vector[T], ones bool) {
	if x.Data == nil || a.Data == nil || y.Data == nil && !ones || a.Rows == 0 || a.Cols == 0 {
		return
	}
	part, parts, each := columnRoom[T](w, a.Rows, a.Cols)
	yd, yi := y.params()
	xd, xi := x.params()
	g := vectorGrid(a.Cols)
	g.blocks[1] = parts
	w.launch(typed[T]("columnParts"), g, uint64(part), uint64(a.Data.address()), uint64(a.Stride), uint64(a.Rows), uint64(a.Cols), yd, yi, uint64(each))
	w.launch(typed[T]("columnEnd"), vectorGrid(a.Cols), xd, xi, uint64(part), uint64(parts), uint64(a.Cols))
}

// addOuter computes A += x·yᵀ, unless one of them is nil.
func addOuter[T rev.Real](w *pass, a General[T], x, y Vector[T]) {
	if a.Data != nil && x.Data != nil && y.Data != nil {
		outer(w, a, 1, x, y)
	}
}

// addToRows computes A += sign·1·yᵀ, unless one of them is nil.
func addToRows[T rev.Real](w *pass, a General[T], sign int, y Vector[T]) {
	if a.Data != nil && y.Data != nil {
		outer(w, a, sign, Vector[T]{}, y)
	}
}

func outer[T rev.Real](w *pass, a General[T], sign int, x, y Vector[T]) {
	if a.Rows == 0 || a.Cols == 0 {
		return
	}
	xd, xi := x.params()
	yd, yi := y.params()
	g := vectorGrid(a.Cols)
	g.blocks[1] = max(1, min(a.Rows, bounds.rows, 4*bounds.blocks/g.blocks[0]))
	w.launch(typed[T]("addOuter"), g, uint64(a.Data.address()), uint64(a.Stride), uint64(a.Rows), uint64(a.Cols), xd, xi, yd, yi, uint64(sign))
}
