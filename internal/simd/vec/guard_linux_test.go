package vec

import (
	"testing"
	"unsafe"

	"revnum/internal/simd/cpu"
	"revnum/internal/simd/simdtest"
)

// TestGuardPages checks that no loop reads or writes outside of its operands. These lie next
// to pages that fault, before and after.
func TestGuardPages(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		testGuardPages[float64](t)
		testGuardPages[float32](t)
	})
}

func testGuardPages[T cpu.Float](t *testing.T) {
	x, y, dst := simdtest.Guarded[T](t), simdtest.Guarded[T](t), simdtest.Guarded[T](t)
	for _, l := range loops[T]() {
		for n := range 150 {
			l.run(dst[:n], x[:n], y[:n], 1)
			l.run(dst[len(dst)-n:], x[len(x)-n:], y[len(y)-n:], 1)
		}
	}
	for _, a := range activations {
		testGuardedActivation(t, a)
	}
	for n := 1; n < 40; n++ {
		MaxRows(n, x[len(x)-3*n:], n, y[len(y)-3:])
		AxpyRows(n, dst[len(dst)-3*n:], n, x[len(x)-3*n:], n, y[len(y)-3:])
		ExpRows(n, dst[len(dst)-3*n:], n, x[len(x)-3*n:], n, y[len(y)-3:], make([]T, 3))
		SubColumn(n, dst[len(dst)-3*n:], n, x[len(x)-3*n:], n, y[len(y)-3:])
		CenterScale(dst[len(dst)-3*n:], n, x[len(x)-3*n:], n, y[:3], y[len(y)-n:])
	}
	for n := range 40 {
		SinCos(dst[len(dst)-n:], x[len(x)-n:], y[len(y)-n:])
		SinCos(dst[:n], x[:n], y[:n])
	}
}

// Complex numbers at the end of a page.
func TestGuardedComplex(t *testing.T) {
	simdtest.ForEachTier(t, &tier, func(t *testing.T) {
		last := func(n int) []complex128 {
			x := simdtest.Guarded[float64](t)
			return unsafe.Slice((*complex128)(unsafe.Pointer(unsafe.SliceData(x[len(x)-2*n:]))), n)
		}
		const n = 20
		x, y, dst := last(n), last(n), last(n)
		for i := range n {
			ComplexDot(x[i:], y[i:])
			ComplexSum(x[i:])
			ComplexAxpy(1, x[i:], dst[i:])
			ComplexAddConstant(dst[i:], 1)
			ComplexAddProduct(dst[i:], 1, 1, x[i:], y[i:])
			Split(parts(y[i:])[:n-i], parts(dst[i:])[n-i:], x[i:])
			AddParts(dst[i:], parts(x[i:])[:n-i], parts(y[i:])[n-i:])
		}
	})
}

func testGuardedActivation(t *testing.T, a activation) {
	x, y, d := simdtest.Guarded[float64](t), simdtest.Guarded[float64](t), simdtest.Guarded[float64](t)
	for n := range 40 {
		a.run(y[:n], d[:n], x[:n])
		a.run(y[len(y)-n:], d[len(d)-n:], x[len(x)-n:])
	}
}
