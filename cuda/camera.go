package cuda

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// The kernels Snavely and Weighted are those of revmodels/ba. A thread has an observation. Cotangents
// are added up twice in a launch: some blocks have the observations in the order of their points, and others in that of
// their cameras, where each warp adds up a piece of those of a camera. Another launch adds up the pieces.

// observations have the operands of Snavely or Weighted.
type observations[T rev.Real] struct {
	weighted        bool
	r, z            Vector[T]
	cameras, points General[T]
	weights         Vector[T]
	features        General[T]
	camera, point   Memory[int32]
}

// params returns the operands as kernels/camera.cu takes them.
func (o *observations[T]) params() []uint64 {
	r, rInc := o.r.params()
	z, zInc := o.z.params()
	w, wInc := o.weights.params()
	return []uint64{
		r, rInc, z, zInc, uint64(o.cameras.Data.address()), uint64(o.cameras.Stride), uint64(o.points.Data.address()), uint64(o.points.Stride),
		w, wInc, uint64(o.features.Data.address()), uint64(o.features.Stride),
	}
}

// inputs reports whether there is an operand that is not a result.
func (o *observations[T]) inputs() bool {
	return o.cameras.Data != nil || o.points.Data != nil || o.weights.Data != nil || o.features.Data != nil
}

// A jacobian is where one is stored. The zero one is absent.
type jacobian[T rev.Real] struct {
	j  General[T]
	dz Vector[T]
}

// name returns the name of a kernel for the model.
func (o *observations[T]) name(kernel string) string {
	if o.weighted {
		return typed[T](kernel + "Weighted")
	}
	return typed[T](kernel + "Snavely")
}

// run makes a pass.
func (o *observations[T]) run(w *pass, sign int, g, t, gt observations[T], j jacobian[T]) {
	n, params := len(o.camera), o.cameras.Cols
	if n == 0 || w.dev == nil {
		return
	}
	byPoint := groupsOf(w, o.point, nil, o.points.Rows)
	byCamera := groupsOf(w, o.camera, o.point, o.cameras.Rows)
	if w.err != nil {
		return
	}
	first := g.r.Data != nil || g.z.Data != nil
	second := gt.inputs() && (first || gt.r.Data != nil || gt.z.Data != nil)

	const dualNumbers = 2 * 26 // of a Camera of Duals in kernels/camera.cu, which is larger than two others
	size := int(unsafe.Sizeof(*new(T)))
	var parts, sums uint64 // of pieces of points and of cameras
	if first || second {
		parts = uint64(w.room(1, (3*byPoint.pieces+params*byCamera.pieces)*size))
		sums = parts + uint64(3*byPoint.pieces*size)
	}
	cameras := uint64(w.room(0, dualNumbers*o.cameras.Rows*size))
	// gather adds parts to n rows of a matrix, which are those of a list if there is one.
	gather := func(to General[T], n, pieces int, parts, ptr, list uint64) {
		slots := max(1, min(pieces/n/gatherRun, maxThreads/to.Cols))
		atOnce := maxThreads / (to.Cols * slots)
		blocks := max(1, min((n+atOnce-1)/atOnce, 1<<16))
		w.launch(typed[T]("gatherRows"), grid{[3]int{blocks, 1, 1}, [3]int{maxThreads, 1, 1}},
			at(to.Data), uint64(to.Stride), uint64(n), uint64(to.Cols), parts, ptr, list, uint64(slots))
	}
	// views are the pieces of cameras, and collect adds up their sums.
	views := []uint64{at(byCamera.list), at(byCamera.ind), at(byCamera.perm), sums}
	collect := func(to General[T]) {
		gather(to, to.Rows, byCamera.pieces, sums, at(byCamera.list[4*byCamera.pieces:]), 0)
	}
	// The pieces of points are all of them, unless some are cut.
	pieces, of := o.points.Rows, []uint64{at(byPoint.ptr), at(byPoint.ind), 0, parts}
	if byPoint.cut > 0 {
		pieces = (len(byPoint.list) - 2 - 2*byPoint.cut) / 2
		of[0], of[2] = at(byPoint.list), at(byPoint.list[pieces+1:])
	}
	// join adds up what pieces of points have in parts.
	join := func(to General[T]) {
		if byPoint.cut > 0 && to.Data != nil {
			rest := byPoint.list[2*pieces+1:]
			gather(to, byPoint.cut, byPoint.pieces, parts, at(rest[byPoint.cut:]), at(rest))
		}
	}
	count, x, down := uint64(o.cameras.Rows), at(o.cameras.Data), uint64(o.cameras.Stride)
	index := []uint64{uint64(o.camera.address()), uint64(o.point.address())}

	moving := t.r.Data != nil || t.z.Data != nil
	left := *o // what has not got its residuals
	observe := func(kernel string, on grid, n int, cameras uint64, params ...uint64) {
		all := append(append([]uint64{uint64(n), uint64(sign), cameras}, index...), left.params()...)
		w.launch(o.name(kernel), on, append(all, params...)...)
		left.r, left.z = Vector[T]{}, Vector[T]{}
	}
	if j.j.Data != nil || first || !moving || isFixed[T]() {
		w.launch(o.name("setCameras"), vectorGrid(o.cameras.Rows), cameras, count, x, down)
	}
	if j.j.Data != nil {
		dz, dzInc := j.dz.params()
		observe("jacobian", observerGrid(n), n, cameras, at(j.j.Data), uint64(j.j.Stride), dz, dzInc)
	}
	if first {
		on, ofCameras := observerGrid(pieces), 0
		if g.r.Data != nil && g.cameras.Data != nil {
			ofCameras = byCamera.pieces
			on.blocks[0] += observerGrid(ofCameras * warp).blocks[0]
		}
		observe("cotangents", on, pieces, cameras, slices.Concat(g.params(), of, []uint64{uint64(ofCameras)}, views)...)
		if g.r.Data != nil {
			join(g.points)
		}
		if ofCameras > 0 {
			collect(g.cameras)
		}
	}
	if moving {
		rows := cameras
		if !isFixed[T]() { // after the cameras that stand still
			rows += uint64(dualNumbers / 2 * o.cameras.Rows * size)
			w.launch(o.name("setMoving"), vectorGrid(o.cameras.Rows), rows, count, x, down, at(t.cameras.Data), uint64(t.cameras.Stride))
		}
		observe("tangents", observerGrid(n), n, rows, t.params()...)
	}
	if left.r.Data != nil || left.z.Data != nil {
		observe("project", observerGrid(n), n, cameras)
	}
	if !second {
		return
	}
	w.launch(typed[T]("setDualCameras"), vectorGrid(o.cameras.Rows), cameras, count, bit(o.weighted), x, down, at(t.cameras.Data), uint64(t.cameras.Stride))
	operands := slices.Concat(o.params(), g.params(), t.params(), gt.params())
	w.launch(o.name("second"), observerGrid(pieces), slices.Concat([]uint64{uint64(pieces), cameras}, index, operands, of)...)
	join(gt.points)
	if gt.cameras.Data != nil {
		w.launch(o.name("secondOfCameras"), observerGrid(byCamera.pieces*warp), slices.Concat([]uint64{uint64(byCamera.pieces), cameras}, views, operands)...)
		collect(gt.cameras)
	}
}

// gatherRun is how many pieces of a camera or a point a thread adds up, if there are enough.
const gatherRun = 8

// pointPiece is the most observations of a piece of a point. A warp has 32 pieces, one turn for 32 observations.
const pointPiece = 32

// observerGrid returns the grid for n threads.
func observerGrid(n int) grid {
	const observers = 128 // as in kernels/camera.cu
	return grid{[3]int{(n + observers - 1) / observers, 1, 1}, [3]int{observers, 1, 1}}
}

// groupsOf returns, for each row below rows, the observations that have it as index, in
// ascending order: row i has ind[ptr[i]], ..., ind[ptr[i+1]-1]. If all are in that order anyhow, ind is
// absent. If there is another index, perm has it for each place of ind, ind is there, and list has pieces of
// up to bounds.piece of these places: their ends, their row, and their number among those of all rows. Pieces are in the order of their first
// observations, so that those that run at the same time read the same memory. After them list has the first number of each row and
// how many there are. If there is none, but a row has more than pointPiece observations, list has pieces of up to that
// many of all rows: their begins and the number of observations, for each piece its row, or -1 minus its number
// among the pieces of rows that have several, and of these rows, which are cut, the numbers, and their first such pieces and
// the number of these. All this is computed on the host when it is first wanted,
// and kept until the memory of an index is freed.
func groupsOf(w *pass, index, other Memory[int32], rows int) structure {
	if w.err != nil || w.dev == nil || len(index) == 0 {
		return structure{}
	}
	from := source{ptr: other.address(), ind: index.address(), rows: len(index), cols: rows}
	s, ok := w.dev.kept[from]
	if ok {
		return s
	}
	host, hostOther := make([]int32, len(index)), make([]int32, len(other))
	get(w, host, index.address())
	if other != nil {
		get(w, hostOther, other.address())
	}
	if w.err == nil {
		s, w.err = newGroups(w.dev, host, hostOther, rows)
	}
	if w.err == nil {
		w.dev.kept[from] = s
	}
	return s
}

// newGroups computes the groups of an index. An empty other is absent.
func newGroups(d *Device, index, other []int32, rows int) (s structure, err error) {
	each := make([]int32, len(index)+1)
	for i := range each {
		each[i] = int32(i)
	}
	if err := checkStructure(len(index), rows, each, index); err != nil {
		return s, fmt.Errorf("cuda: an index of an observation: %w", errors.Join(mat.ErrRowAccess, err))
	}
	ptr, ind, _ := transpose(len(index), rows, each, index)
	s.rows, s.cols = rows, len(index)
	s.ptr, err = copyTo(d, ptr)
	if err == nil && (len(other) > 0 || !slices.IsSorted(ind)) {
		s.ind, err = copyTo(d, ind)
	}
	if len(other) == 0 {
		list := cutPoints(&s.cuts, ptr)
		if err == nil && s.cut > 0 {
			s.list, err = copyTo(d, list)
		}
	} else {
		perm := make([]int32, len(ind))
		for e, i := range ind {
			perm[e] = other[i]
		}
		var list [][4]int32
		ends := make([]int32, 1, rows+1)
		for i := range int32(rows) {
			for begin := int(ptr[i]); begin < int(ptr[i+1]); begin += bounds.piece {
				list = append(list, [4]int32{int32(begin), int32(min(begin+bounds.piece, int(ptr[i+1]))), i, int32(len(list))})
			}
			ends = append(ends, int32(len(list)))
		}
		slices.SortFunc(list, func(a, b [4]int32) int { return cmp.Compare(ind[a[0]], ind[b[0]]) })
		s.pieces = len(list)
		if err == nil {
			s.perm, err = copyTo(d, perm)
		}
		if err == nil {
			pieces := make([]int32, 0, 4*len(list)+len(ends))
			for _, p := range list {
				pieces = append(pieces, p[:]...)
			}
			s.list, err = copyTo(d, append(pieces, ends...))
		}
	}
	if err != nil {
		return structure{}, errors.Join(err, s.free(d))
	}
	return s, nil
}

// cutPoints returns the list of groupsOf for points, and sets how many of them are cut and the pieces of these.
func cutPoints(c *cuts, ptr []int32) []int32 {
	most := min(pointPiece, bounds.piece)
	var begins, rows, cut, parts []int32
	for i, end := range ptr[1:] {
		begin, several := ptr[i], int(end-ptr[i]) > most
		if several {
			cut, parts = append(cut, int32(i)), append(parts, int32(c.pieces))
		}
		for {
			begins = append(begins, begin)
			if several {
				rows = append(rows, int32(-1-c.pieces))
				c.pieces++
			} else {
				rows = append(rows, int32(i))
			}
			if begin = min(begin+int32(most), end); begin == end {
				break
			}
		}
	}
	c.cut = len(cut)
	return slices.Concat(append(begins, ptr[len(ptr)-1]), rows, cut, append(parts, int32(c.pieces)))
}

// check panics unless j is memory for the Jacobian of o.
func (j *jacobian[T]) check(o *observations[T]) {
	n, columns := len(o.camera), o.cameras.Cols+3
	if o.weighted {
		columns++
		if j.dz.N != n || n > 0 && (j.dz.Inc < 1 || len(j.dz.Data) < (n-1)*j.dz.Inc+1) {
			panic(rev.ShapeError[Vector[T]]("dz", "has length %d, want %d, and memory for it", j.dz.N, n))
		}
	}
	if j.j.Rows != 2*n || j.j.Cols != columns || n > 0 && (j.j.Stride < columns || len(j.j.Data) < (2*n-1)*j.j.Stride+columns) {
		panic(rev.ShapeError[General[T]]("j", "is %d×%d, want %d×%d, and memory for it", j.j.Rows, j.j.Cols, 2*n, columns))
	}
}

// run stores the Jacobian, and ends the pass.
func (j jacobian[T]) run(w *pass, o observations[T]) error {
	if len(o.camera) > 0 && w.err == nil {
		for name, address := range map[string]uintptr{"Jacobian": j.j.Data.address(), "Jacobian of Z": j.dz.Data.address()} {
			if address != 0 && deviceOf(address) != w.dev {
				w.err = fmt.Errorf("cuda: the %s is not in the memory of the device of the operands", name)
			}
		}
		if w.err == nil {
			o.run(w, 1, observations[T]{}, observations[T]{}, observations[T]{}, j)
		}
	}
	return w.end()
}
