package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
)

// The kernels Snavely and Weighted are those of revmodels/ba. A thread has an observation.
// What observations add to the cotangents of cameras and points goes to scratch memory,
// and is then added up for each camera and each point.

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
	byCamera, byPoint := groupsOf(w, o.camera, o.cameras.Rows), groupsOf(w, o.point, o.points.Rows)
	second := gt.inputs() && (g.r.Data != nil || g.z.Data != nil || gt.r.Data != nil || gt.z.Data != nil)
	rowsWanted := func(g *observations[T]) bool { return g.cameras.Data != nil || g.points.Data != nil }

	const cameraNumbers = 26 // of a Camera in kernels/camera.cu
	size := int(unsafe.Sizeof(*new(T)))
	cameras := uint64(w.room(0, 2*cameraNumbers*o.cameras.Rows*size))
	width := params + 3
	var rows Memory[T]
	if g.r.Data != nil && rowsWanted(&g) || second && rowsWanted(&gt) {
		rows = memoryAt[T](w.room(1, n*width*size), n*width)
	}
	collect := func(g *observations[T]) {
		add := func(to General[T], s structure, from int) {
			if to.Data != nil {
				slots := max(1, min(n/to.Rows/gatherRun, maxThreads/to.Cols))
				atOnce := maxThreads / (to.Cols * slots)
				blocks := max(1, min((to.Rows+atOnce-1)/atOnce, 1<<16))
				w.launch(typed[T]("gatherRows"), grid{[3]int{blocks, 1, 1}, [3]int{maxThreads, 1, 1}}, at(to.Data), uint64(to.Stride), uint64(to.Rows), uint64(to.Cols),
					at(rows), uint64(width), uint64(from), at(s.ptr), at(s.ind), uint64(slots))
			}
		}
		add(g.cameras, byCamera, 0)
		add(g.points, byPoint, params)
	}
	params64 := []uint64{uint64(o.cameras.Rows), bit(o.weighted), uint64(o.cameras.Data.address()), uint64(o.cameras.Stride)}
	index := []uint64{cameras, uint64(o.camera.address()), uint64(o.point.address())}

	w.launch(typed[T]("setCameras"), vectorGrid(o.cameras.Rows), append([]uint64{cameras}, params64...)...)
	to := uint64(0)
	if g.r.Data != nil && rowsWanted(&g) {
		to = uint64(rows.address())
	}
	left := *o // what has not got its residuals
	observe := func(kernel string, params ...uint64) {
		all := append(append([]uint64{uint64(n), uint64(sign)}, index...), left.params()...)
		w.launch(o.name(kernel), observerGrid(n), append(all, params...)...)
		left.r, left.z = Vector[T]{}, Vector[T]{}
	}
	if j.j.Data != nil {
		dz, dzInc := j.dz.params()
		observe("jacobian", at(j.j.Data), uint64(j.j.Stride), dz, dzInc)
	}
	if g.r.Data != nil || g.z.Data != nil {
		observe("cotangents", append(g.params(), to)...)
	}
	if t.r.Data != nil || t.z.Data != nil {
		observe("tangents", t.params()...)
	}
	if left.r.Data != nil || left.z.Data != nil {
		observe("project")
	}
	if to != 0 {
		collect(&g)
	}
	if !second {
		return
	}
	w.launch(typed[T]("setDualCameras"), vectorGrid(o.cameras.Rows),
		append(append([]uint64{cameras}, params64...), uint64(t.cameras.Data.address()), uint64(t.cameras.Stride))...)
	next := append([]uint64{uint64(n)}, index...)
	for _, p := range []*observations[T]{o, &g, &t, &gt} {
		next = append(next, p.params()...)
	}
	to = 0
	if rowsWanted(&gt) {
		to = uint64(rows.address())
	}
	w.launch(o.name("second"), observerGrid(n), append(next, to)...)
	if to != 0 {
		collect(&gt)
	}
}

// gatherRun is how many observations of a camera or a point a thread adds up, if there are enough.
const gatherRun = 8

// observerGrid returns the grid for n observations, one for each thread.
func observerGrid(n int) grid {
	const observers = 128 // as in kernels/camera.cu
	return grid{[3]int{(n + observers - 1) / observers, 1, 1}, [3]int{observers, 1, 1}}
}

// groupsOf returns, for each row below rows, the observations that have it as index, in
// ascending order: row i has ind[ptr[i]], ..., ind[ptr[i+1]-1]. They are computed on the
// host when they are first wanted, and kept until the memory of the index is freed.
func groupsOf(w *pass, index Memory[int32], rows int) structure {
	if w.err != nil || w.dev == nil || len(index) == 0 {
		return structure{}
	}
	from := source{ind: index.address(), rows: len(index), cols: rows}
	s, ok := w.dev.kept[from]
	if ok {
		return s
	}
	ptr, ind := make([]int32, len(index)+1), make([]int32, len(index))
	get(w, ind, index.address())
	for i := range ptr {
		ptr[i] = int32(i)
	}
	if w.err == nil {
		if err := checkStructure(len(index), rows, ptr, ind); err != nil {
			w.err = fmt.Errorf("cuda: an index of an observation: %w", errors.Join(mat.ErrRowAccess, err))
		}
	}
	if w.err == nil {
		if s, w.err = copyTranspose(w.dev, len(index), rows, ptr, ind); w.err == nil {
			w.dev.kept[from] = s
		}
	}
	return s
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
