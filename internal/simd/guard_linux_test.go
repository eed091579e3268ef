package simd

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// No loop reads or writes outside of its operands: they lie against pages that
// fault, before and after.
func TestGuardPages(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		testGuardPages[float64](t)
		testGuardPages[float32](t)
	})
}

func testGuardPages[T Float](t *testing.T) {
	x, y, dst := guarded[T](t), guarded[T](t), guarded[T](t)
	for _, l := range loops[T]() {
		for n := range 150 {
			l.run(dst[:n], x[:n], y[:n], 1)
			l.run(dst[len(dst)-n:], x[len(x)-n:], y[len(y)-n:], 1)
		}
	}
	bits := guarded[byte](t)
	for n := 1; n < 40; n++ {
		even := (n + 15) / 16 * 2
		kinds := Kinds{bits[len(bits)-even:], bits[:even]}
		KindSums(x[len(x)-n:], kinds, [2]T{})
		KindAffine(dst[len(dst)-n:], x[len(x)-n:], kinds, [2]T{}, [2]T{})
		KindDistances(n, x[len(x)-3*n:], n, y[len(y)-3:], kinds, [2]T{})
		KindInvDistances(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:], kinds, [2]T{}, [2]T{})
		SubColumn(n, dst[len(dst)-3*n:], n, x[len(x)-3*n:], n, y[len(y)-3:])
		CenterScale(dst[len(dst)-3*n:], n, x[len(x)-3*n:], n, y[:3], y[len(y)-n:])
		Distances(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:])
		DiffDots(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:], x[len(x)-3*n:], y[len(y)-3:])
		InvDistances(dst[len(dst)-n:], x[len(x)-3*n:], n, y[len(y)-3:])
		AddDiffs(n, dst[len(dst)-3*n:], x[len(x)-3*n:], n, y[len(y)-12:], y[len(y)-4*n:], n, make([]T, 12))
		AddDiffs(n, dst, x, n, y[:12], y, n, make([]T, 12))
	}
	for n := 1; n <= ViewLanes; n++ {
		for _, cols := range []int{1, 3, 14, 30} {
			var v Views[T]
			index := make([]int, n)
			index[n-1] = 1
			v.Gather(ViewJacobian, x[len(x)-2*cols:], 2, cols, cols, index)
			Prefetch(x[len(x)-2*cols:], cols, index)
			AddRows(dst[len(dst)-2*cols:], cols, x[len(x)-min(n, 8)*cols:], cols, cols, index[n-min(n, 8):])
			if size := n * cols; size <= len(dst) {
				v.Scatter(dst[len(dst)-size:], cols, ViewJacobian, cols, n)
			}
		}
	}
	j, z, dz, zeros := guarded[T](t), guarded[T](t), guarded[T](t), guarded[int](t)
	clear(zeros)
	for n := 1; n <= 17; n++ {
		for _, m := range []CameraModel{Snavely, Weighted} {
			for _, past := range []bool{false, true} { // and with it the other ends of what is not in use twice
				last := func(x []T, n int) []T { return at(x, n, !past) }
				var v Views[T]
				o := Operands[T]{
					Cameras: x[len(x)-ViewPoint:], Points: x[len(x)-3:], NumPoints: 1, PointStride: 3,
					Camera: at(zeros, n, past), Point: at(zeros, n, !past),
					X: last(x, 2*n), W: at(y, n, past), R: last(dst, 2*n), Z: at(z, n, past),
					J: last(j, 2*m.Columns()*n), DZ: last(dz, n),
				}
				for do := ViewResiduals; do <= ViewDerivative; do++ {
					v.Observe(m, do, &o, 1, past)
				}
			}
		}
	}
	for n := 16; n <= ViewLanes; n += 16 {
		for do := ViewResiduals; do <= ViewTangent; do++ {
			var v Views[T]
			v.Reproject(Weighted, do, x[len(x)-2*n:], y[len(y)-n:], dst[len(dst)-2*n:], dst[:n], y[len(y)-2*n:], 1)
		}
	}
}

// guarded returns a page of ones between two pages that must not be touched.
func guarded[T Float | byte | int](t *testing.T) []T {
	t.Helper()
	page := os.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory map: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	for _, m := range [][]byte{mem[:page], mem[2*page:]} {
		if err := syscall.Mprotect(m, syscall.PROT_NONE); err != nil {
			t.Skipf("no guard page: %v", err)
		}
	}
	x := unsafe.Slice((*T)(unsafe.Pointer(&mem[page])), page/int(unsafe.Sizeof(T(0))))
	for i := range x {
		x[i] = 1
	}
	return x
}
