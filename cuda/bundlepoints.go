package cuda

import (
	"errors"
	"fmt"
	"math"
	"unsafe"

	"revnum/revmodels/ba"
)

// BundlePoints are the points and observations of a problem of package ba, in the memory of a
// device. They are the Points of ba.Options: Solve runs on the host, and the device computes
// residuals and all sums over points and observations. It does not store the Jacobian: each sum computes
// it again from cameras and points. The same problem gives the
// same bits on every run of a card. A solution on the host differs from it in rounding.
//
// An observation takes about nine numbers of the device's memory, or ten with a loss. With ba.Cholesky the device also
// forms the reduced camera system, and the host copies and factors it. Two cameras that see the same
// point have a block in it, and so has each camera. A block takes 88 numbers on the device and on
// the host. A pair of observations of one point takes 4 bytes on the device, or 12 with a loss.
//
// One solution at a time may use them.
type BundlePoints struct {
	dev                           *Device
	cameras, points, observations int
	loss                          uint64 // as in kernels/bundle.cu
	scale                         float64
	camera, point, fixed          Memory[int32]
	byCamera, byPoint             structure
	features                      Memory[float64]
	given                         Memory[float64] // the operands of a question: nine numbers a camera
	r, slopes                     Memory[float64] // the residuals, times √ρ', and √ρ', which is absent without a loss
	residuals                     Memory[float64] // for the cost alone
	best, trial, step             Memory[float64] // of the points
	seen, moving, held            Memory[float64] // cameras of the linear problem, these as they move, and 1 for those that keep their focal length
	at                            Memory[float64] // points of the linear problem, with z and L⁻¹
	v, gradient, sizes            Memory[float64] // of points: EᵀE, Eᵀr, and the scales of columns
	w                             Memory[float64] // of points
	terms, out                    Memory[float64] // what a sum adds up, and the sum
	linear, system, answer        Memory[float64] // answers with numbers for each camera
	reduced                       bundleReduced   // after the first Reduced
}

const (
	cameraLen, pointLen = 9, 3
	blockLen            = 88 // of JᵀJ of a camera
	triangle3           = 6
	seenLen, placeLen   = 24, 12 // of seen and at, as in kernels/bundle.cu
	blockThreads        = 128    // as in kernels/bundle.cu
	diagonalLen         = cameraLen * cameraLen
)

// NewBundlePoints returns a copy of p in the memory of d, without the cameras. Of the options it
// takes Loss and FixedPoints. They must be those of Solve, and so must the observations of p. It
// returns an error if p is not valid, or if the loss is not one of package ba. Call Free when you
// are done.
func NewBundlePoints(d *Device, p *ba.Problem, opts *ba.Options) (*BundlePoints, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &ba.Options{}
	}
	n := p.NumObservations()
	b := &BundlePoints{dev: d, cameras: p.NumCameras(), points: p.NumPoints(), observations: n}
	if most := math.MaxInt32 - blockThreads; n > most || b.points > most { // kernels count in steps of a block
		return nil, fmt.Errorf("cuda: %d observations of %d points, expected at most %d", n, b.points, most)
	}
	switch l := opts.Loss.(type) {
	case nil:
	case ba.Huber:
		b.loss, b.scale = 1, float64(l)
	case ba.Cauchy:
		b.loss, b.scale = 2, float64(l)
	case ba.Tukey:
		b.loss, b.scale = 3, float64(l)
	default:
		return nil, fmt.Errorf("cuda: a loss of type %T, expected one of package ba", l)
	}
	if err := b.copyProblem(p, opts.FixedPoints); err != nil {
		return nil, errors.Join(err, b.Free())
	}
	return b, nil
}

// copyProblem allocates the memory, and copies the observations in the order of their points.
func (b *BundlePoints) copyProblem(p *ba.Problem, fixedPoints []int) error {
	d, n := b.dev, b.observations
	camera, point, features := make([]int32, n), make([]int32, n), make([]float64, 2*n)
	for i, k := range p.ByPoint() {
		camera[i], point[i] = int32(p.Camera[k]), int32(p.Point[k])
		copy(features[2*i:], p.Features[2*k:2*k+2])
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var err error
	into := func(m *Memory[int32], data []int32) {
		if err == nil {
			*m, err = copyTo(d, data)
		}
	}
	into(&b.camera, camera)
	into(&b.point, point)
	if fixedPoints != nil {
		fixed := make([]int32, b.points)
		for _, q := range fixedPoints {
			if q < 0 || q >= b.points {
				return fmt.Errorf("cuda: fixed point %d, expected 0 to %d", q, b.points-1)
			}
			fixed[q] = 1
		}
		into(&b.fixed, fixed)
	}
	if err == nil {
		b.features, err = copyTo(d, features)
	}
	for _, m := range []struct {
		to *Memory[float64]
		n  int
	}{
		{&b.given, cameraLen * b.cameras}, {&b.r, 2 * n}, {&b.residuals, 2 * n},
		{&b.seen, seenLen * b.cameras}, {&b.moving, seenLen * b.cameras}, {&b.held, b.cameras}, {&b.at, placeLen * b.points},
		{&b.best, pointLen * b.points}, {&b.trial, pointLen * b.points}, {&b.step, pointLen * b.points},
		{&b.v, triangle3 * b.points}, {&b.gradient, pointLen * b.points}, {&b.sizes, pointLen * b.points},
		{&b.w, pointLen * b.points},
		{&b.terms, max(n, b.points)}, {&b.out, 1},
		{&b.linear, (blockLen + cameraLen) * b.cameras}, {&b.system, (cameraLen + diagonalLen) * b.cameras}, {&b.answer, cameraLen * b.cameras},
	} {
		if err == nil {
			*m.to, err = allocate[float64](d, m.n)
		}
	}
	if err == nil && b.loss != 0 {
		b.slopes, err = allocate[float64](d, n)
	}
	if err == nil {
		b.byCamera, err = b.groups(b.camera, b.point, camera, point, b.cameras)
	}
	if err == nil {
		b.byPoint, err = b.groups(b.point, nil, point, nil, b.points)
	}
	return err
}

// groups keeps the groups of an index for groupsOf.
func (b *BundlePoints) groups(index, other Memory[int32], host, hostOther []int32, rows int) (structure, error) {
	s, err := newGroups(b.dev, host, hostOther, rows)
	if err == nil {
		b.dev.kept[source{ptr: other.address(), ind: index.address(), rows: len(host), cols: rows}] = s
	}
	return s, err
}

// Format implements fmt.Formatter for all verbs.
func (b *BundlePoints) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%d points, %d cameras and %d observations on a device", b.points, b.cameras, b.observations)
}

// Free gives the memory back.
func (b *BundlePoints) Free() error {
	err := b.reduced.free()
	for _, m := range []*Memory[int32]{&b.camera, &b.point, &b.fixed} {
		err = errors.Join(err, freeIn(m))
	}
	for _, m := range []*Memory[float64]{
		&b.features, &b.given, &b.r, &b.residuals, &b.slopes, &b.best, &b.trial, &b.step, &b.seen, &b.moving, &b.held, &b.at,
		&b.v, &b.gradient, &b.sizes, &b.w, &b.terms, &b.out, &b.linear, &b.system, &b.answer,
	} {
		err = errors.Join(err, freeIn(m))
	}
	return err
}

// freeIn gives the memory in a field back, if there is any.
func freeIn[T any](m *Memory[T]) (err error) {
	if *m != nil {
		err = m.Free()
		*m = nil
	}
	return err
}

// Set implements ba.Points.
func (b *BundlePoints) Set(points []float64) error {
	if len(points) != pointLen*b.points {
		return fmt.Errorf("cuda: %d coordinates of points, expected %d", len(points), pointLen*b.points)
	}
	if err := b.open(); err != nil {
		return err
	}
	return b.best.Set(points)
}

// Get implements ba.Points.
func (b *BundlePoints) Get(points []float64) error {
	if err := b.open(); err != nil {
		return err
	}
	return b.best.Get(points)
}

// open returns an error if the memory was freed.
func (b *BundlePoints) open() error {
	if deviceOf(b.out.address()) != b.dev {
		return wrap(errForeign)
	}
	return nil
}

// Ask implements ba.Parts.
func (b *BundlePoints) Ask(q ba.Question, x float64, operands, numbers, perCamera []float64) error {
	if err := b.open(); err != nil {
		return err
	}
	if len(operands) > 0 {
		if err := b.given[:len(operands)].Set(operands); err != nil {
			return err
		}
	}
	switch q {
	case ba.AskCost:
		return b.cost(x == 1, &numbers[0])
	case ba.AskLinear:
		return b.linearise(&numbers[0], perCamera)
	case ba.AskHold:
		if err := b.held.Set(operands); err != nil {
			return err
		}
		return b.run(b.normal)
	case ba.AskScale:
		return b.run(func(w *pass) {
			w.launch("bundleScale", vectorGrid(b.points), at(b.sizes), at(b.v), uint64(b.points))
		})
	case ba.AskEliminate:
		return b.eliminate(x, &numbers[0], perCamera)
	case ba.AskProduct:
		if err := b.run(b.product); err != nil {
			return err
		}
		return b.answer.Get(perCamera)
	case ba.AskStep:
		return b.stepPoints(&numbers[0], &numbers[1])
	case ba.AskSwap:
		b.best, b.trial = b.trial, b.best
		return nil
	case ba.AskLength:
		return b.norm(b.best, &numbers[0])
	}
	return fmt.Errorf("cuda: question %d is not for points in one place", q)
}

// at returns an address as a parameter of a kernel.
func at[T any](m Memory[T]) uint64 { return uint64(m.address()) }

// run makes the launches of f as one pass.
func (b *BundlePoints) run(f func(w *pass)) error {
	b.dev.mu.Lock()
	w := pass{dev: b.dev, stream: b.dev.first}
	f(&w)
	return w.end()
}

// total stores what f adds to a zero on the device.
func (b *BundlePoints) total(to *float64, f func(out *float64) error) error {
	if err := b.out.Set([]float64{0}); err != nil {
		return err
	}
	if err := f(&b.out[0]); err != nil {
		return err
	}
	return b.out.Get(unsafe.Slice(to, 1))
}

// sum stores the sum of the first n terms.
func (b *BundlePoints) sum(n int, to *float64) error {
	return b.total(to, func(out *float64) error {
		return Sum[float64]{Out: out, X: Vector[float64]{N: n, Data: b.terms[:n], Inc: 1}}.Forward()
	})
}

// norm stores the sum of the squares of x.
func (b *BundlePoints) norm(x Memory[float64], to *float64) error {
	return b.total(to, func(out *float64) error {
		v := Vector[float64]{N: len(x), Data: x, Inc: 1}
		return Dot[float64]{Out: out, X: v, Y: v}.Forward()
	})
}

// kernel clears r, and returns the kernel that adds the residuals to it.
func (b *BundlePoints) kernel(r, points Memory[float64]) (Snavely[float64], error) {
	err := r.Zero(nil)
	return Snavely[float64]{
		R:        Vector[float64]{N: len(r), Data: r, Inc: 1},
		Cameras:  General[float64]{Rows: b.cameras, Cols: cameraLen, Data: b.given, Stride: cameraLen},
		Points:   General[float64]{Rows: b.points, Cols: pointLen, Data: points, Stride: pointLen},
		Features: General[float64]{Rows: b.observations, Cols: 2, Data: b.features, Stride: 2},
		Camera:   b.camera, Point: b.point,
	}, err
}

// cost stores the cost of the best points, or of the trial.
func (b *BundlePoints) cost(trial bool, to *float64) error {
	points := b.best
	if trial {
		points = b.trial
	}
	k, err := b.kernel(b.residuals, points)
	if err == nil {
		err = k.Forward()
	}
	if err == nil {
		err = b.run(func(w *pass) {
			w.launch("bundleLosses", vectorGrid(b.observations), at(b.terms), at(b.residuals), uint64(b.observations), b.loss, math.Float64bits(b.scale))
		})
	}
	if err != nil {
		return err
	}
	return b.sum(b.observations, to)
}

// cameraGrid has a block for each camera.
func (b *BundlePoints) cameraGrid() grid {
	return grid{blocks: [3]int{max(1, min(b.cameras, bounds.rows)), 1, 1}, threads: [3]int{blockThreads, 1, 1}}
}

// pointGrid has a thread for each point.
func (b *BundlePoints) pointGrid() grid {
	return grid{blocks: [3]int{max(1, min((b.points+blockThreads-1)/blockThreads, 1<<16)), 1, 1}, threads: [3]int{blockThreads, 1, 1}}
}

// pointParams and cameraParams return the parameters of kernels that go through observations.
func (b *BundlePoints) pointParams() []uint64 {
	return []uint64{at(b.byPoint.ptr), at(b.camera), uint64(b.points)}
}
func (b *BundlePoints) cameraParams() []uint64 {
	return []uint64{at(b.byCamera.ptr), at(b.byCamera.ind), at(b.byCamera.perm), uint64(b.cameras)}
}

// setCameras computes the cameras of the linear problem from the given ones.
func (b *BundlePoints) setCameras(w *pass) {
	const stored = cameraLen + 3 // numbers of a camera in kernels/camera.cu
	n, rows := uint64(b.cameras), uint64(w.room(0, 8*stored*b.cameras))
	w.launch("setCamerasSnavelyF64", vectorGrid(b.cameras), rows, n, at(b.given), cameraLen)
	w.launch("bundleSetCameras", vectorGrid(b.cameras), at(b.seen), rows, n)
	zero(w, b.held)
}

// normalEquations computes them from the residuals and the cameras.
func (b *BundlePoints) normalEquations(w *pass) {
	if n := b.observations; b.loss != 0 {
		w.launch("bundleSlopes", vectorGrid(n), at(b.slopes), at(b.r), uint64(n), b.loss, math.Float64bits(b.scale))
	}
	w.launch("bundleLinearise", b.pointGrid(), append(append([]uint64{at(b.v), at(b.gradient), at(b.at), at(b.seen), at(b.best), at(b.slopes), at(b.r)}, b.pointParams()...), at(b.fixed))...)
	zero(w, b.linear)
	b.normal(w)
}

// normal computes the blocks of JᵀJ and the gradient by cameras.
func (b *BundlePoints) normal(w *pass) {
	w.launch("bundleCameras", b.cameraGrid(), append([]uint64{at(b.linear), at(b.linear[blockLen*b.cameras:]), at(b.seen), at(b.held), at(b.at), at(b.slopes), at(b.r)}, b.cameraParams()...)...)
}

// linearise computes the linear problem at the best points.
func (b *BundlePoints) linearise(square *float64, perCamera []float64) error {
	k, err := b.kernel(b.r, b.best)
	if err == nil {
		err = k.Forward()
	}
	if err == nil {
		err = b.run(func(w *pass) {
			b.setCameras(w)
			b.normalEquations(w)
		})
	}
	if err == nil {
		err = b.total(square, func(out *float64) error {
			return NormInf[float64]{Out: out, X: Vector[float64]{N: len(b.gradient), Data: b.gradient, Inc: 1}}.Forward()
		})
	}
	if err != nil {
		return err
	}
	*square *= *square
	return b.linear.Get(perCamera)
}

// eliminate eliminates the points for a radius.
func (b *BundlePoints) eliminate(radius float64, failed *float64, perCamera []float64) error {
	right, diagonal := b.system[:cameraLen*b.cameras], b.system[cameraLen*b.cameras:]
	gradient := b.linear[blockLen*b.cameras:]
	err := b.run(func(w *pass) {
		w.launch("bundleEliminate", vectorGrid(b.points), at(b.at), at(b.w), at(b.terms), at(b.v), at(b.gradient), at(b.sizes), uint64(b.points), at(b.fixed), math.Float64bits(radius))
		b.multiply(w, right, 0, at(gradient))
		w.launch("bundleDiagonal", b.cameraGrid(), append([]uint64{at(diagonal), at(b.linear), at(b.seen), at(b.held), at(b.at), at(b.slopes)}, b.cameraParams()...)...)
	})
	if err == nil {
		err = b.sum(b.points, failed)
	}
	if err != nil || *failed > 0 {
		return err
	}
	return b.system.Get(perCamera)
}

// multiply computes Fᵀ(F·x - E·z) - g for x of the cameras and z of the points.
func (b *BundlePoints) multiply(w *pass, to Memory[float64], x, g uint64) {
	w.launch("bundleProduct", b.cameraGrid(), append([]uint64{at(to), at(b.seen), at(b.held), at(b.at), at(b.slopes), x, g}, b.cameraParams()...)...)
}

// move lets the cameras move by what is given.
func (b *BundlePoints) move(w *pass) {
	w.launch("bundleMove", vectorGrid(b.cameras), at(b.moving), at(b.seen), at(b.held), at(b.given), uint64(b.cameras))
}

// product computes the product of the reduced camera system and what is given.
func (b *BundlePoints) product(w *pass) {
	b.move(w)
	w.launch("bundleSolvePoints", b.pointGrid(), append([]uint64{at(b.at), at(b.moving), at(b.slopes)}, b.pointParams()...)...)
	b.multiply(w, b.answer, at(b.given), 0)
}

// stepPoints computes the points of the trial for the step of the cameras that is given.
func (b *BundlePoints) stepPoints(promised, square *float64) error {
	err := b.run(func(w *pass) {
		b.move(w)
		w.launch("bundleStep", b.pointGrid(), append([]uint64{at(b.step), at(b.trial), at(b.terms), at(b.moving), at(b.at), at(b.slopes), at(b.r), at(b.w)}, b.pointParams()...)...)
	})
	if err == nil {
		err = b.sum(b.points, promised)
	}
	if err == nil {
		err = b.norm(b.step, square)
	}
	return err
}
