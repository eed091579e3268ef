//go:build !amd64 || noasm

package views

import "revnum/internal/simd/cpu"

func gather[T cpu.Float](v *Views[T], row int, src []T, rows, lds, cols int, index []int) bool {
	return genericGather(v, row, 0, src, rows, lds, cols, index)
}

func scatter[T cpu.Float](v *Views[T], dst []T, ldd, row, cols, n int) {
	genericScatter(v, dst, ldd, row, cols, 0, n)
}

func reproject[T cpu.Float](v *Views[T], m CameraModel, do Task, x, w, r, z, g []T, sign T) {
	genericReproject(v, m, do, x, w, r, z, g, sign)
}

func addRows[T cpu.Float](dst []T, ldd int, src []T, lds, cols int, index []int) {
	genericAddRows(dst, ldd, src, lds, cols, index)
}

func observe[T cpu.Float](v *Views[T], m CameraModel, do Task, o *Operands[T], sign T, past bool) (done int, ok bool) {
	return 0, true
}

func prefetch[T cpu.Float](src []T, lds int, index []int) {}
