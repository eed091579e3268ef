package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/cuda/internal/ptx"
	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revmodels/ba"
)

// hostSnavely and hostWeighted are the kernels of revmodels/ba, whose passes run on the
// device.
type (
	hostSnavely[T rev.Real] struct {
		R             rev.Vector[T]  `rev:"acc" shape:"2*p"`
		Cameras       rev.General[T] `rev:"in" shape:"n,9"`
		Points        rev.General[T] `rev:"in" shape:"m,3"`
		Features      rev.General[T] `rev:"in" shape:"p,2"`
		Camera, Point []int32        `rev:"index" shape:"p"`
	}
	hostWeighted[T rev.Real] struct {
		R             rev.Vector[T]  `rev:"acc" shape:"2*p"`
		Z             rev.Vector[T]  `rev:"acc" shape:"p"`
		Cameras       rev.General[T] `rev:"in" shape:"n,11"`
		Points        rev.General[T] `rev:"in" shape:"m,3"`
		Weights       rev.Vector[T]  `rev:"in" shape:"p"`
		Features      rev.General[T] `rev:"in" shape:"p,2"`
		Camera, Point []int32        `rev:"index" shape:"p"`
	}
)

func (k hostSnavely[T]) Run(p rev.Pass[hostSnavely[T]]) error {
	return through[hostSnavely[T], Snavely[T]](testDevice, k, p)
}
func (k hostWeighted[T]) Run(p rev.Pass[hostWeighted[T]]) error {
	return through[hostWeighted[T], Weighted[T]](testDevice, k, p)
}

// scene returns n observations of points in front of cameras that are turned by an angle of
// about 1.
func scene[T rev.Real](rnd *rand.Rand, n int) hostWeighted[T] {
	views, points := 2, n/2+1
	k := hostWeighted[T]{
		R: vector[T](rnd, 2*n), Z: vector[T](rnd, n), Cameras: general[T](rnd, views, 11), Points: general[T](rnd, points, 3),
		Weights: vector[T](rnd, n), Features: general[T](rnd, n, 2),
	}
	for i := range views {
		c := k.Cameras.Row(i)
		for j, v := range [11]float64{0.5, -0.6, 0.7 * float64(i), 0, 0, -12, 2, 0.3, -0.2, 0.05, 0.01} {
			c[j] = c[j]/8 + fixed.Of[T](v)
		}
	}
	for i := range n {
		k.Camera, k.Point = append(k.Camera, int32(i%views)), append(k.Point, int32(i/2))
	}
	return k
}

// unweighted returns the observations of a scene without weights, with the points behind
// the camera.
func unweighted[T rev.Real](k hostWeighted[T]) hostSnavely[T] {
	u := hostSnavely[T]{R: k.R, Cameras: rev.NewGeneral[T](k.Cameras.Rows, 9, nil), Points: k.Points, Features: k.Features, Camera: k.Camera, Point: k.Point}
	for i := range k.Cameras.Rows {
		copy(u.Cameras.Row(i), k.Cameras.Row(i)[:7])
		copy(u.Cameras.Row(i)[7:], k.Cameras.Row(i)[9:])
	}
	return u
}

func ints(x []int32) (y []int) {
	for _, v := range x {
		y = append(y, int(v))
	}
	return y
}

func onCPU[T rev.Real](k hostWeighted[T]) ba.Weighted[T] {
	return ba.Weighted[T]{R: k.R, Z: k.Z, Cameras: k.Cameras, Points: k.Points, Weights: k.Weights, Features: k.Features, Camera: ints(k.Camera), Point: ints(k.Point)}
}

func unweightedOnCPU[T rev.Real](k hostSnavely[T]) ba.Snavely[T] {
	return ba.Snavely[T]{R: k.R, Cameras: k.Cameras, Points: k.Points, Features: k.Features, Camera: ints(k.Camera), Point: ints(k.Point)}
}

func TestCameras(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", camerasOf[float64])
	if long.Tests() {
		t.Run("float32", camerasOf[float32])
	}
	t.Run("Q43", camerasOf[fixed.Q43])
}

func camerasOf[T rev.Real](t *testing.T) {
	sizes := []int{0, 1, 4}
	if long.Tests() {
		sizes = append(sizes, 40)
	}
	// Larger operands turn further, which brings points near depth 0, where there is a pole.
	magnitudes := [2]float64{0.5, 1}
	t.Run("Snavely", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[hostSnavely[T]]{
			Magnitudes: magnitudes,
			Sizes:      sizes, Skip: noAllocs, Masked: []string{"Cameras", "Points"}, New: func(rnd *rand.Rand, n int) hostSnavely[T] {
				return unweighted(scene[T](rnd, n))
			}})
	})
	t.Run("Weighted", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[hostWeighted[T]]{
			Magnitudes: magnitudes,
			Sizes:      sizes, Skip: noAllocs, Masked: []string{"Cameras", "Points"}, New: scene[T],
		})
	})
}

// TestCameraFixedBits compares the passes of the device with those of the CPU, bit for bit,
// and TestCameraValues compares over floats.
func TestCameraFixedBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	same(t, func(rnd *rand.Rand) hostWeighted[fixed.Q43] { return scene[fixed.Q43](rnd, 70) }, onCPU[fixed.Q43])
	same(t, func(rnd *rand.Rand) hostSnavely[fixed.Q43] { return unweighted(scene[fixed.Q43](rnd, 70)) }, unweightedOnCPU[fixed.Q43])
}

// TestCameraOrder has points in no order, of which many observations are and others have none, and pieces of
// five observations of a camera.
func TestCameraOrder(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	shortPieces(t)
	orderOf[float64](t)
	orderOf[fixed.Q43](t)
}

func orderOf[T rev.Real](t *testing.T) {
	mixed := func(rnd *rand.Rand) hostWeighted[T] {
		k, order := scene[T](rnd, 70), rand.New(rand.NewPCG(1, 2))
		for i := range k.Point {
			k.Camera[i] = int32(order.IntN(2))
			if k.Point[i] = 34; i%2 == 0 {
				k.Point[i] = int32(order.IntN(34))
			}
		}
		return k
	}
	alike(t, toleranceOf[T](), mixed, onCPU[T])
	alike(t, toleranceOf[T](), func(rnd *rand.Rand) hostSnavely[T] { return unweighted(mixed(rnd)) }, unweightedOnCPU[T])
}

// TestCameraLongPoints has a point with 1000 observations among others with 33, 32, one and none, and then that point alone.
func TestCameraLongPoints(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, n := range []int{1000, 1066} {
		for short := range 2 {
			if short == 1 {
				shortPieces(t)
			}
			long := func(rnd *rand.Rand) hostWeighted[fixed.Q43] {
				k := scene[fixed.Q43](rnd, n)
				point := slices.Concat(slices.Repeat([]int32{7}, 33), slices.Repeat([]int32{0}, 32), []int32{40}, slices.Repeat([]int32{5}, 1000))
				copy(k.Point, point[len(point)-n:])
				return k
			}
			same(t, long, onCPU[fixed.Q43])
			same(t, func(rnd *rand.Rand) hostSnavely[fixed.Q43] { return unweighted(long(rnd)) }, unweightedOnCPU[fixed.Q43])
		}
	}
}

// TestCameraDepths has tangents of features alone: a depth at which no derivative is finite then matters to no tangent.
func TestCameraDepths(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	for _, depth := range []float64{0, 1e-300, math.Inf(1), math.Inf(-1), math.NaN()} {
		for _, features := range []bool{false, true} {
			k := hostSnavely[float64]{
				R: rev.ViewSlice(make([]float64, 2)), Cameras: rev.NewGeneral(1, 9, []float64{0, 0, 0, 0, 0, 0, 1, 0, 0}),
				Points: rev.NewGeneral(1, 3, []float64{1, 0.5, -depth}), Features: rev.NewGeneral(1, 2, []float64{0.25, 0.5}), Camera: []int32{0}, Point: []int32{0},
			}
			d, want := hostSnavely[float64]{R: rev.ViewSlice([]float64{1, 2})}, []float64{1, 2}
			if features {
				d.Features, want = rev.NewGeneral(1, 2, []float64{3, 5}), []float64{-2, -3}
			}
			if err := rev.Tangent(k, d); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(d.R.Data, want) {
				t.Errorf("at depth %v the tangent is %v, want %v", depth, d.R.Data, want)
			}
		}
	}
}

// TestCameraNone has observations of no cameras, or of no points.
func TestCameraNone(t *testing.T) {
	dev := interpreter(t, 1<<22)
	on := func(rows, cols int) General[float64] {
		return must(NewGeneral(dev, rev.NewGeneral[float64](rows, cols, nil)))(t)
	}
	numbers := func(n int) Vector[float64] { return must(NewVector(dev, rev.ViewSlice(make([]float64, n))))(t) }
	for _, rows := range [][2]int{{0, 2}, {2, 0}} {
		k := Snavely[float64]{
			R: numbers(4), Cameras: on(rows[0], 9), Points: on(rows[1], 3), Features: on(2, 2),
			Camera: must(newMemory(dev, []int32{0, 0}))(t), Point: must(newMemory(dev, []int32{0, 0}))(t),
		}
		if err := k.Adjoint(Snavely[float64]{R: numbers(4), Cameras: on(rows[0], 9), Points: on(rows[1], 3)}); !errors.Is(err, mat.ErrRowAccess) {
			t.Errorf("%d cameras and %d points: %v, want mat.ErrRowAccess", rows[0], rows[1], err)
		}
	}
}

func TestCameraValues(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	operands := func() (x [4]hostWeighted[float64]) {
		rnd := rand.New(rand.NewPCG(21, 22))
		for i := range x {
			x[i] = scene[float64](rnd, 50)
		}
		return x
	}
	d, h := operands(), operands()
	if err := rev.AdjointTangent(d[0], d[1], d[2], d[3]); err != nil {
		t.Fatal(err)
	}
	if err := onCPU(h[0]).AdjointTangent(onCPU(h[1]), onCPU(h[2]), onCPU(h[3])); err != nil {
		t.Fatal(err)
	}
	for i := range d {
		for _, f := range []struct {
			name      string
			got, want []float64
		}{
			{"R", d[i].R.Data, h[i].R.Data}, {"Z", d[i].Z.Data, h[i].Z.Data}, {"Cameras", d[i].Cameras.Data, h[i].Cameras.Data},
			{"Points", d[i].Points.Data, h[i].Points.Data}, {"Weights", d[i].Weights.Data, h[i].Weights.Data}, {"Features", d[i].Features.Data, h[i].Features.Data},
		} {
			for e := range f.got {
				if !(math.Abs(f.got[e]-f.want[e]) <= 1e-12*(1+math.Abs(f.want[e]))) {
					t.Fatalf("operands %d: %s[%d] is %v, want %v", i, f.name, e, f.got[e], f.want[e])
				}
			}
		}
	}
}

// TestCameraJacobian compares the Jacobian with that of the CPU, bit for bit over Q43, and
// tests what is refused.
func TestCameraJacobian(t *testing.T) {
	dev := interpreter(t, 1<<24)
	h := scene[fixed.Q43](rand.New(rand.NewPCG(23, 24)), 5)
	c := onCPU(h)
	want, wantZ := rev.NewGeneral[fixed.Q43](10, 15, nil), rev.ViewSlice(make([]fixed.Q43, 5))
	if err := c.Jacobian(want, wantZ); err != nil {
		t.Fatal(err)
	}
	on := copies{dev: dev, memory: map[unsafe.Pointer]reflect.Value{}}
	var k Weighted[fixed.Q43]
	if err := on.toDevice(reflect.ValueOf(&k).Elem(), reflect.ValueOf(&h).Elem()); err != nil {
		t.Fatal(err)
	}
	j, err := NewGeneral(dev, rev.NewGeneral[fixed.Q43](10, 15, nil))
	if err != nil {
		t.Fatal(err)
	}
	dz, err := NewVector(dev, rev.ViewSlice(make([]fixed.Q43, 5)))
	if err != nil {
		t.Fatal(err)
	}
	k.R, k.Z = Vector[fixed.Q43]{}, Vector[fixed.Q43]{}
	if err := k.Jacobian(j, dz); err != nil {
		t.Fatal(err)
	}
	got, gotZ := make([]fixed.Q43, 150), make([]fixed.Q43, 5)
	if err := errors.Join(j.Data.Get(got), dz.Data.Get(gotZ)); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want.Data) || !reflect.DeepEqual(gotZ, wantZ.Data) {
		t.Error("the Jacobian differs from that of the CPU")
	}

	func() {
		defer func() {
			if err, _ := recover().(*rev.OperandError); !errors.Is(err, mat.ErrShape) {
				t.Error("a Jacobian of another shape: no panic with an OperandError that is mat.ErrShape")
			}
		}()
		_ = k.Jacobian(General[fixed.Q43]{Rows: 10, Cols: 14, Stride: 14, Data: j.Data}, dz)
	}()
	k.Camera, err = newMemory(dev, []int32{0, 1, 2, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Forward(); !errors.Is(err, mat.ErrRowAccess) {
		t.Errorf("camera 2 of 2: %v, want mat.ErrRowAccess", err)
	}
}

// TestCameraAligned has operands that begin at pairs of numbers, which those of other tests do not.
func TestCameraAligned(t *testing.T) {
	t.Run("float64", alignedOf[float64])
	t.Run("float32", alignedOf[float32])
	t.Run("Q43", alignedOf[fixed.Q43])
}

func alignedOf[T rev.Real](t *testing.T) {
	dev := interpreter(t, 1<<22)
	rnd := rand.New(rand.NewPCG(29, 30))
	const n = 37
	h := unweighted(scene[T](rnd, n))
	on := func(x []T, cols int) General[T] {
		return must(NewGeneral(dev, rev.NewGeneral(len(x)/cols, cols, x)))(t)
	}
	k := Snavely[T]{
		R: must(NewVector(dev, h.R))(t), Cameras: on(h.Cameras.Data, 9), Points: on(h.Points.Data, 3), Features: on(h.Features.Data, 2),
		Camera: must(newMemory(dev, h.Camera))(t), Point: must(newMemory(dev, h.Point))(t),
	}
	j := on(make([]T, 24*n), 12)
	want := rev.NewGeneral[T](2*n, 12, nil)
	if err := errors.Join(k.Jacobian(j), unweightedOnCPU(h).Jacobian(want)); err != nil {
		t.Fatal(err)
	}
	r, got := make([]T, 2*n), make([]T, 24*n)
	if err := errors.Join(k.R.Data.Get(r), j.Data.Get(got)); err != nil {
		t.Fatal(err)
	}
	tolerance := toleranceOf[T]()
	for i, v := range append(r, got...) {
		w := append(slices.Clone(h.R.Data), want.Data...)[i]
		if d := math.Abs(fixed.Float(v) - fixed.Float(w)); !(d <= tolerance*(1+math.Abs(fixed.Float(w)))) {
			t.Fatalf("number %d is %v, want %v", i, v, w)
		}
	}
}

// TestCameraTraffic counts the sectors of memory that kernels move for an observation, in bytes. Observations are
// as in the benchmark: five for each point, of cameras that are anywhere. No cache keeps anything, so that each of three
// coordinates moves the sectors of its neighbours, too. docs/cuda.md has these numbers.
func TestCameraTraffic(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		trafficOf[float64](t, map[string][2]int{
			"projectSnavely": {151, 16}, "projectWeighted": {198, 24}, "jacobianSnavely": {135, 192}, "jacobianWeighted": {174, 248},
			"cotangentsSnavely": {319, 61}, "cotangentsWeighted": {416, 80}, "tangentsSnavely": {263, 32}, "tangentsWeighted": {326, 48},
		})
	})
	t.Run("float32", func(t *testing.T) {
		trafficOf[float32](t, map[string][2]int{"jacobianSnavely": {88, 96}, "jacobianWeighted": {106, 124}})
	})
}

func trafficOf[T rev.Float](t *testing.T, want map[string][2]int) {
	const n, views = 1280, 64
	d := interpret(t, 1<<24)
	dev := open(t, d)
	rnd := rand.New(rand.NewPCG(27, 28))
	numbers := func(n int) Vector[T] { return must(NewVector(dev, vector[T](rnd, n)))(t) }
	matrix := func(rows, cols int) General[T] { return must(NewGeneral(dev, general[T](rnd, rows, cols)))(t) }
	camera, point := make([]int32, n), make([]int32, n)
	for i := range n {
		camera[i], point[i] = rnd.Int32N(views), int32(i/5)
	}
	c, p := must(newMemory(dev, camera))(t), must(newMemory(dev, point))(t)
	snavely := func() Snavely[T] {
		return Snavely[T]{R: numbers(2 * n), Cameras: matrix(views, 9), Points: matrix(n/5, 3), Features: matrix(n, 2), Camera: c, Point: p}
	}
	weighted := func() Weighted[T] {
		return Weighted[T]{R: numbers(2 * n), Z: numbers(n), Cameras: matrix(views, 11), Points: matrix(n/5, 3), Weights: numbers(n), Features: matrix(n, 2), Camera: c, Point: p}
	}
	s, w := snavely(), weighted()
	gs, gw := snavely(), weighted()
	gs.Camera, gs.Point, gw.Camera, gw.Point = nil, nil, nil, nil
	d.machine.Traffic = map[string]ptx.Traffic{}
	err := errors.Join(s.Forward(), s.Adjoint(gs), s.Tangent(gs), w.Forward(), w.Adjoint(gw), w.Tangent(gw))
	s.R, w.R, w.Z = Vector[T]{}, Vector[T]{}, Vector[T]{}
	if err := errors.Join(err, s.Jacobian(matrix(2*n, 12)), w.Jacobian(matrix(2*n, 15), numbers(n))); err != nil {
		t.Fatal(err)
	}
	for kernel, want := range want {
		of := d.machine.Traffic[typed[T](kernel)]
		if got := [2]int{(of.LoadedSectors + n/2) / n, (of.StoredSectors + n/2) / n}; got != want {
			t.Errorf("%s loads %d and stores %d bytes for an observation, want %v; threads take %d and %d", kernel, got[0], got[1], want, of.Loaded/n, of.Stored/n)
		}
	}
}

// TestSharedIndex has one index of cameras and points, of which there are not equally many.
func TestSharedIndex(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	var gradients [2]hostSnavely[float64]
	for i := range gradients {
		rnd := rand.New(rand.NewPCG(25, 26))
		k, g := unweighted(scene[float64](rnd, 5)), unweighted(scene[float64](rnd, 5))
		k.Camera = []int32{0, 1, 1, 0, 1}
		k.Point = k.Camera
		if i == 1 {
			k.Point = slices.Clone(k.Camera)
		}
		g.Camera, g.Point = nil, nil
		if err := rev.Adjoint(k, g); err != nil {
			t.Fatal(err)
		}
		gradients[i] = g
	}
	if !reflect.DeepEqual(gradients[0], gradients[1]) {
		t.Errorf("gradients %v, want %v", gradients[0], gradients[1])
	}
}

// TestGroups has parts of one memory as indices.
func TestGroups(t *testing.T) {
	dev := interpreter(t, 1<<20)
	m := must(newMemory(dev, []int32{2, 0, 1, 1, 0, 2}))(t)
	w := pass{dev: dev, stream: dev.first}
	for range 2 {
		for _, index := range []Memory[int32]{m, m[:4], m[3:]} {
			s := groupsOf(&w, index, nil, 3)
			if s.rows != 3 || len(s.ind) != len(index) || w.err != nil {
				t.Errorf("%d groups of %d observations, want 3 of %d: %v", s.rows, len(s.ind), len(index), w.err)
			}
		}
	}
	if n := len(dev.kept); n != 3 {
		t.Errorf("%d indices are kept, want 3", n)
	}
	if err := m.Free(); err != nil || len(dev.kept) > 0 {
		t.Errorf("%d indices are kept of memory that was freed: %v", len(dev.kept), err)
	}
	for freed := range 2 { // with another index, the groups are kept until one of both is freed
		both := [2]Memory[int32]{must(newMemory(dev, []int32{2, 0, 1, 0}))(t), must(newMemory(dev, []int32{0, 1, 1, 3}))(t)}
		for range 2 {
			s, perm := groupsOf(&w, both[0], both[1], 3), make([]int32, 4)
			if w.err != nil || len(s.perm) != 4 || s.perm.Get(perm) != nil || !slices.Equal(perm, []int32{1, 3, 1, 0}) || len(dev.kept) != 1 {
				t.Fatalf("other indices %v of %d groups, %d kept: %v", perm, s.rows, len(dev.kept), w.err)
			}
		}
		if err := both[freed].Free(); err != nil || len(dev.kept) > 0 {
			t.Errorf("index %d was freed: %d are kept: %v", freed, len(dev.kept), err)
		}
		if err := both[1-freed].Free(); err != nil {
			t.Error(err)
		}
	}
}
