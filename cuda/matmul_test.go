package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
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
	for i, v := range h.C.Data {
		if !(math.Abs(float64(v-want.C.Data[i])) <= 4*eps*float64(k)) {
			t.Fatalf("compute capability %d, %d×%d×%d, transposed %v, %v: element %d is %v, want %v", testDevice.Properties().Capability, m, n, k, transA, transB, i, v, want.C.Data[i])
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
		if name, tile, _ := productKernel(testDevice, c, a, b); tile[0] != widestTile || (name == "addTensorProduct128NN") != (testDevice.Properties().Capability < 90) {
			t.Errorf("compute capability %d: kernel %s", capability, name)
		}
		for trans := range 4 {
			for _, odd := range []int{0, 1} { // an odd stride is not aligned
				compareProduct[float64](t, rnd, m+odd, n+odd, k+odd, trans&1 != 0, trans&2 != 0)
				compareProduct[float32](t, rnd, m+2*odd, n+2*odd, k+2*odd, trans&1 != 0, trans&2 != 0)
			}
		}
	}
}
