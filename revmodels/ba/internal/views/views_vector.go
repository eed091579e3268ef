//go:build amd64 && !noasm

package views

import (
	"unsafe"

	"revnum/internal/simd/cpu"
)

//go:generate go -C ../../../../internal/simd/_gen run ./views -out ../../../revmodels/ba/internal/views/zviews_amd64.s -stubs ../../../revmodels/ba/internal/views/zviews_amd64.go -pkg views

// tile is how many rows the assembly of gather and scatter moves at a time.
const tile = 8

func gather[T cpu.Float](v *Views[T], row int, src []T, rows, lds, cols int, index []int) bool {
	n := 0
	if tier != cpu.Generic && cpu.Is64[T]() {
		n = len(index) &^ (tile - 1)
	}
	if n > 0 && !gatherRows64(cpu.F64(&v[row][0]), cpu.F64(unsafe.SliceData(src)), rows, lds, cols, unsafe.SliceData(index), n) {
		return false
	}
	return genericGather(v, row, n, src, rows, lds, cols, index[n:])
}

func scatter[T cpu.Float](v *Views[T], dst []T, ldd, row, cols, n int) {
	done := 0
	if tier != cpu.Generic && cpu.Is64[T]() {
		done = n &^ (tile - 1)
	}
	if done > 0 {
		scatterRows64(cpu.F64(&dst[0]), ldd, cpu.F64(&v[row][0]), cols, done)
	}
	genericScatter(v, dst, ldd, row, cols, done, n)
}

// reprojections64 and reprojections32 have the assembly by model and task.
var (
	reprojections64 = [...][4]func(v, x, w, r, z, u *float64, n int, sign float64){
		Snavely:  {reprojectSnavelyResiduals64, reprojectSnavelyDerivative64, reprojectSnavelyAdjoint64, reprojectSnavelyTangent64},
		Weighted: {reprojectWeightedResiduals64, reprojectWeightedDerivative64, reprojectWeightedAdjoint64, reprojectWeightedTangent64},
	}
	reprojections32 = [...][4]func(v, x, w, r, z, u *float32, n int, sign float32){
		Snavely:  {reprojectSnavelyResiduals32, reprojectSnavelyDerivative32, reprojectSnavelyAdjoint32, reprojectSnavelyTangent32},
		Weighted: {reprojectWeightedResiduals32, reprojectWeightedDerivative32, reprojectWeightedAdjoint32, reprojectWeightedTangent32},
	}
)

func reproject[T cpu.Float](v *Views[T], m CameraModel, do Task, x, w, r, z, g []T, sign T) {
	if tier == cpu.Generic {
		genericReproject(v, m, do, x, w, r, z, g, sign)
		return
	}
	n, s := len(r)/2, &v[0][0]
	px, pw, pr, pz, pg := &x[0], unsafe.SliceData(w), &r[0], unsafe.SliceData(z), unsafe.SliceData(g)
	if cpu.Is64[T]() {
		reprojections64[m][do](cpu.F64(s), cpu.F64(px), cpu.F64(pw), cpu.F64(pr), cpu.F64(pz), cpu.F64(pg), n, float64(sign))
	} else {
		reprojections32[m][do](cpu.F32(s), cpu.F32(px), cpu.F32(pw), cpu.F32(pr), cpu.F32(pz), cpu.F32(pg), n, float32(sign))
	}
}

func addRows[T cpu.Float](dst []T, ldd int, src []T, lds, cols int, index []int) {
	if tier == cpu.Generic || !cpu.Is64[T]() {
		genericAddRows(dst, ldd, src, lds, cols, index)
		return
	}
	addRows64(cpu.F64(unsafe.SliceData(dst)), ldd, cpu.F64(&src[0]), lds, cols, &index[0], len(index))
}

// observations64 has the assembly of Observe by model and task.
var observations64 = [...][2]func(v, cameras *float64, numCameras int, points *float64, numPoints, ldp int, camera, point *int,
	x, w, r, z, j, dz *float64, n int, sign float64, past bool) bool{
	Snavely:  {observeSnavelyResiduals64, observeSnavelyDerivative64},
	Weighted: {observeWeightedResiduals64, observeWeightedDerivative64},
}

func observe[T cpu.Float](v *Views[T], m CameraModel, do Task, o *Operands[T], sign T, past bool) (done int, ok bool) {
	const line = 64
	done = len(o.Camera) &^ (tile - 1)
	if tier == cpu.Generic || !cpu.Is64[T]() || done == 0 {
		return 0, true
	}
	at := func(x []T) *float64 { return cpu.F64(unsafe.SliceData(x)) }
	past = past && uintptr(unsafe.Pointer(unsafe.SliceData(o.J)))%line == 0
	ok = observations64[m][do](cpu.F64(&v[0][0]), at(o.Cameras), len(o.Cameras)/PointRow, at(o.Points), o.NumPoints, o.PointStride,
		&o.Camera[0], &o.Point[0], at(o.X), at(o.W), at(o.R), at(o.Z), at(o.J), at(o.DZ), done, float64(sign), past)
	return done, ok
}

func prefetch[T cpu.Float](src []T, lds int, index []int) {
	if n := len(index) &^ (tile - 1); n > 0 && tier != cpu.Generic && cpu.Is64[T]() {
		prefetchRows64(cpu.F64(unsafe.SliceData(src)), lds, &index[0], n)
	}
}
