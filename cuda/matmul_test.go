package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// TestLargeMatMul compares products that are computed in large tiles, with and without
// tensor cores, with those of the host.
func TestLargeMatMul(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for _, capability := range []int{75, 80, 90} {
		d := interpret(t, 1<<22)
		d.capability = capability
		testDevice = open(t, d)
		for trans := range 4 {
			compareProduct[float64](t, rnd, 70, 66, 21, trans&1 != 0, trans&2 != 0)
			compareProduct[float64](t, rnd, 70, 66, 1, trans&1 != 0, trans&2 != 0)
		}
	}
	same(t, func(rnd *rand.Rand) hostMatMul[fixed.Q43] {
		return hostMatMul[fixed.Q43]{C: general[fixed.Q43](rnd, 35, 34), A: general[fixed.Q43](rnd, 35, 5), B: general[fixed.Q43](rnd, 5, 34)}
	}, func(k hostMatMul[fixed.Q43]) revlinalg.MatMul[fixed.Q43] { return revlinalg.MatMul[fixed.Q43](k) })
}

func compareProduct[T rev.Float](t *testing.T, rnd *rand.Rand, m, n, k int, transA, transB bool) {
	t.Helper()
	eps := 0x1p-52
	if unsafe.Sizeof(T(0)) == 4 {
		eps = 0x1p-23
	}
	h := hostMatMul[T]{C: general[T](rnd, m, n), A: general[T](rnd, m, k), B: general[T](rnd, k, n), TransA: transA, TransB: transB}
	if transA {
		h.A = general[T](rnd, k, m)
	}
	if transB {
		h.B = general[T](rnd, n, k)
	}
	want := revlinalg.MatMul[T](h)
	want.C = rev.NewGeneral(m, n, slices.Clone(h.C.Data))
	if err := rev.Inverse(h); err != nil {
		t.Fatal(err)
	}
	want.Inverse()
	compareTangents(t, rnd, h, want, 4*eps*float64(k))
}

// compareTangents compares Tangent with that of the host, in which Ċ is the sum of two products.
func compareTangents[T rev.Float](t *testing.T, rnd *rand.Rand, h hostMatMul[T], want revlinalg.MatMul[T], bound float64) {
	t.Helper()
	of := hostMatMul[T]{C: general[T](rnd, h.C.Rows, h.C.Cols), A: general[T](rnd, h.A.Rows, h.A.Cols), B: general[T](rnd, h.B.Rows, h.B.Cols)}
	if h.B.Stride == 1 { // Ḃ has another stride than B
		of.B = rev.General[T]{Rows: h.B.Rows, Cols: 1, Stride: 3, Data: general[T](rnd, h.B.Rows, 3).Data}
	}
	wantOf := revlinalg.MatMul[T](of)
	wantOf.C = rev.NewGeneral(h.C.Rows, h.C.Cols, slices.Clone(of.C.Data))
	if err := rev.Tangent(h, of); err != nil {
		t.Fatal(err)
	}
	want.Tangent(wantOf)
	for name, pair := range map[string][2][]T{"C": {h.C.Data, want.C.Data}, "Ċ": {of.C.Data, wantOf.C.Data}} {
		for i, v := range pair[0] {
			if !(math.Abs(float64(v-pair[1][i])) <= 2*bound) {
				t.Fatalf("compute capability %d, %d×%d by %d×%d, transposed %v, %v: element %d of %s is %v, want %v",
					testDevice.Properties().Capability, h.A.Rows, h.A.Cols, h.B.Rows, h.B.Cols, h.TransA, h.TransB, i, name, v, pair[1][i])
			}
		}
	}
}

// TestLongMatMul multiplies thin factors, whose sums are computed in parts.
func TestLongMatMul(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	for _, capability := range []int{75, 80, 90} {
		testDevice = interpreter(t, 1<<26)
		k := 300
		if d, ok := testDevice.driver.(*interpreted); ok {
			d.capability = capability
			shortParts(t)
		} else {
			k = 100_000
		}
		if _, parts := partsOf[float64](70, 66, k); parts < 3 {
			t.Errorf("%d parts", parts)
		}
		for trans := range 4 {
			for _, n := range []int{3, 66} {
				compareProduct[float64](t, rnd, 70, n, k, trans&1 != 0, trans&2 != 0)
				compareProduct[float32](t, rnd, 70, n, k+7, trans&1 != 0, trans&2 != 0)
			}
		}
	}
}

// shortParts has sums of few terms computed in parts until the test ends.
func shortParts(t *testing.T) {
	before := shortPart
	t.Cleanup(func() { shortPart = before })
	shortPart = 16
}

// TestWidestMatMul multiplies aligned factors in the widest tiles, and some that are not aligned.
// On a card the sizes are such that it chooses these tiles by itself.
func TestWidestMatMul(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	defer func(n int) { shift = n }(shift)
	shift = 0
	for _, capability := range []int{80, 90} {
		testDevice = interpreter(t, 1<<26)
		m, n, k := 130, 142, 30
		if d, ok := testDevice.driver.(*interpreted); ok {
			d.capability = capability
			defer func(n int) { enoughTiles = n }(enoughTiles)
			enoughTiles = 1
		} else {
			m, n, k = 1300, 1418, 750
		}
		a, b, c := strided[float64]{rows: m, cols: k, down: k, across: 1}, strided[float64]{rows: k, cols: n, down: n, across: 1}, strided[float64]{rows: m, cols: n}
		if name, tile, _ := productKernel(testDevice, c, stack[float64]{a, 0}, stack[float64]{b, 0}); tile[0] != widestTile || (name == "addTensorProduct128NN") != (testDevice.Properties().Capability < 90) {
			t.Errorf("compute capability %d: kernel %s", capability, name)
		}
		for trans := range 4 {
			for _, odd := range []int{0, 1} { // an odd stride is not aligned
				compareProduct[float64](t, rnd, m+odd, n+odd, k+odd, trans&1 != 0, trans&2 != 0)
				compareProduct[float32](t, rnd, m+2*odd, n+2*odd, 2*k+8+2*odd, trans&1 != 0, trans&2 != 0)
			}
		}
	}
}

// hostProducts is a stack of revlinalg.MatMul, whose passes run on the device.
type hostProducts[T rev.Real] struct {
	C              rev.General[T] `rev:"acc" shape:"rows,n"`
	A              rev.General[T] `rev:"in" shape:"TransA ? terms,rows/max(Count,1) : rows,k"`
	B              rev.General[T] `rev:"in" shape:"TransB ? max(Count,1)*n,k : terms,n"`
	TransA, TransB bool
	Count          int
}

func (k hostProducts[T]) Run(p rev.Pass[hostProducts[T]]) error {
	n := max(k.Count, 1)
	a, b := k.A.Cols*n, k.B.Rows // terms of all sums
	if k.TransA {
		a = k.A.Rows
	}
	if k.TransB {
		b = k.B.Cols * n
	}
	if k.C.Rows%n != 0 || p.G.C.Rows%n != 0 || p.T.C.Rows%n != 0 || k.A.Rows%n != 0 || k.B.Rows%n != 0 || a != b {
		panic(mat.ErrShape) // before the operands travel
	}
	return through[hostProducts[T], MatMul[T]](testDevice, k, p)
}

func randomProducts[T rev.Real](rnd *rand.Rand, count, m, n, k int, transA, transB bool) hostProducts[T] {
	h := hostProducts[T]{C: general[T](rnd, count*m, n), A: general[T](rnd, count*m, k), B: general[T](rnd, count*k, n), TransA: transA, TransB: transB, Count: count}
	if transA {
		h.A = general[T](rnd, count*k, m)
	}
	if transB {
		h.B = general[T](rnd, count*n, k)
	}
	return h
}

func TestProducts(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for trans := range 2 { // TestKernels transposes both
		revtest.Kernel(t, revtest.Spec[hostProducts[float64]]{Sizes: []int{1}, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostProducts[float64] {
			return randomProducts[float64](rnd, 2, n+1, n, n+2, trans&1 != 0, trans&2 != 0)
		}})
	}
}

// TestProductsBits compares many products with one after the other, bit for bit.
func TestProductsBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 14))
	testDevice = interpreter(t, 1<<22)
	lower(t, maxThreads, bounds.blocks, 2) // of which a stack of three takes two launches
	compareProducts[float32](t, rnd, 3, [3]int{1, 1, 1}, [2]bool{})
	compareProducts[fixed.Q43](t, rnd, 3, [3]int{3, 17, 2}, [2]bool{true, false})
	compareProducts[float64](t, rnd, 3, [3]int{16, 17, 3}, [2]bool{true, true})
	compareProducts[float64](t, rnd, 3, [3]int{2, 3, 0}, [2]bool{})
	compareProducts[float64](t, rnd, 3, [3]int{0, 3, 2}, [2]bool{})
	testDevice = withTensorCores(t, 1<<22, 90)
	compareProducts[float64](t, rnd, 2, [3]int{65, 33, 2}, [2]bool{false, true})
}

func compareProducts[T rev.Real](t *testing.T, rnd *rand.Rand, count int, s [3]int, trans [2]bool) {
	t.Helper()
	var all [3]hostProducts[T]
	var one [3][]hostMatMul[T]
	for i := range all {
		all[i] = randomProducts[T](rnd, count, s[0], s[1], s[2], trans[0], trans[1])
		for b := range count {
			part := func(a rev.General[T]) rev.General[T] {
				rows := a.Rows / count
				return rev.NewGeneral(rows, a.Cols, slices.Clone(a.Data[b*rows*a.Cols:(b+1)*rows*a.Cols]))
			}
			one[i] = append(one[i], hostMatMul[T]{C: part(all[i].C), A: part(all[i].A), B: part(all[i].B), TransA: trans[0], TransB: trans[1]})
		}
	}
	err := errors.Join(rev.Adjoint(all[0], all[1]), rev.Tangent(all[0], all[2]))
	for b := range count {
		err = errors.Join(err, rev.Adjoint(one[0][b], one[1][b]), rev.Tangent(one[0][b], one[2][b]))
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range all {
		var want [3][]T
		for _, k := range one[i] {
			for j, a := range []rev.General[T]{k.C, k.A, k.B} {
				want[j] = append(want[j], a.Data...)
			}
		}
		for j, a := range []rev.General[T]{got.C, got.A, got.B} {
			if !slices.Equal(a.Data, want[j]) {
				t.Errorf("%d products of %v, transposed %v: operand %d of argument %d differs", count, s, trans, j, i)
			}
		}
	}
}

// TestTriangularProducts computes lower triangles of products. All elements in the tiles that touch the triangle have the
// bits of the whole product, and all others are as they were.
func TestTriangularProducts(t *testing.T) {
	defer func(n int) { enoughTiles = n }(enoughTiles)
	for _, capability := range []int{75, 80, 90} {
		testDevice = withTensorCores(t, 1<<26, capability)
		lower(t, maxThreads, bounds.blocks, 2) // tiles in a column, so that the last ones are of another launch
		for _, enoughTiles = range []int{1, 96} {
			triangularProduct[float64](t, 20, 12)
			triangularProduct[float64](t, 140, 140)
			triangularProduct[float64](t, 142, 66)
			triangularProduct[float64](t, 270, 384)
			triangularProduct[float32](t, 50, 46)
			triangularProduct[float32](t, 270, 144)
		}
		triangularProduct[fixed.Q43](t, 40, 40)
		triangularProduct[fixed.Q43](t, 70, 100)
	}
}

func triangularProduct[T rev.Real](t *testing.T, rows, cols int) {
	t.Helper()
	const k = 16
	rnd := rand.New(rand.NewPCG(uint64(rows), uint64(cols)))
	matrix := func(m, n int) strided[T] {
		data := must(Alloc[T](testDevice, m*n))(t)
		t.Cleanup(func() {
			if err := data.Free(); err != nil {
				t.Error(err)
			}
		})
		if err := data.Set(general[T](rnd, m, n).Data); err != nil {
			t.Fatal(err)
		}
		return strided[T]{m, n, data, n, 1}
	}
	a, b, c := stack[T]{matrix(rows, k), 0}, stack[T]{matrix(k, cols), 0}, stack[T]{matrix(rows, cols), 0}
	before, all, half := make([]T, rows*cols), make([]T, rows*cols), make([]T, rows*cols)
	product := func(in triangle, to []T) error {
		return errors.Join(c.data.Set(before), c.data.moveIn(nil, rows*cols, func(s *Stream) error {
			w := pass{dev: s.device, stream: s}
			launchProducts(&w, 1, c, 1, a, b, k, in)
			return w.err
		}), c.data.Get(to))
	}
	if err := errors.Join(c.data.Get(before), product(whole, all), product(lowerTriangle, half)); err != nil {
		t.Fatal(err)
	}
	name, tile, _ := productKernel(testDevice, c.strided, a, b)
	left := 0
	for e, v := range half {
		i, j := e/cols, e%cols
		want := all[e]
		if j/tile[1]*tile[1] >= i/tile[0]*tile[0]+tile[0] {
			want = before[e]
			left++
		}
		if v != want {
			t.Fatalf("%s, %d×%d: element (%d, %d) is %v, want %v", name, rows, cols, i, j, v, want)
		}
	}
	if tiles := cols > tile[0]; tiles != (left > 0) {
		t.Errorf("%s, %d×%d: %d elements are left out", name, rows, cols, left)
	}
}
