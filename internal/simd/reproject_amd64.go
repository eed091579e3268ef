//go:build amd64 && !noasm

package simd

import "unsafe"

//go:generate go -C _gen run ./ba -out ../ba_amd64.s -stubs ../ba_amd64.go -pkg simd

// viewTile is how many rows the assembly of gather and scatter moves at a time.
const viewTile = 8

func gather[T Float](v *Views[T], row int, src []T, rows, lds, cols int, index []int) bool {
	n := 0
	if tier != Generic && is64[T]() {
		n = len(index) &^ (viewTile - 1)
	}
	if n > 0 && !gatherRows64(f64(&v[row][0]), f64(unsafe.SliceData(src)), rows, lds, cols, unsafe.SliceData(index), n) {
		return false
	}
	return genericGather(v, row, n, src, rows, lds, cols, index[n:])
}

func scatter[T Float](v *Views[T], dst []T, ldd, row, cols, n int) {
	done := 0
	if tier != Generic && is64[T]() {
		done = n &^ (viewTile - 1)
	}
	if done > 0 {
		scatterRows64(f64(&dst[0]), ldd, f64(&v[row][0]), cols, done)
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

func reproject[T Float](v *Views[T], m CameraModel, do ViewTask, x, w, r, z, g []T, sign T) {
	if tier == Generic {
		genericReproject(v, m, do, x, w, r, z, g, sign)
		return
	}
	n, s := len(r)/2, &v[0][0]
	px, pw, pr, pz, pg := &x[0], unsafe.SliceData(w), &r[0], unsafe.SliceData(z), unsafe.SliceData(g)
	if is64[T]() {
		reprojections64[m][do](f64(s), f64(px), f64(pw), f64(pr), f64(pz), f64(pg), n, float64(sign))
	} else {
		reprojections32[m][do](f32(s), f32(px), f32(pw), f32(pr), f32(pz), f32(pg), n, float32(sign))
	}
}

func addRows[T Float](dst []T, ldd int, src []T, lds, cols int, index []int) {
	if tier == Generic || !is64[T]() {
		genericAddRows(dst, ldd, src, lds, cols, index)
		return
	}
	addRows64(f64(unsafe.SliceData(dst)), ldd, f64(&src[0]), lds, cols, &index[0], len(index))
}

// observations64 has the assembly of Observe by model and task.
var observations64 = [...][2]func(v, cameras *float64, numCameras int, points *float64, numPoints, ldp int, camera, point *int,
	x, w, r, z, j, dz *float64, n int, sign float64, past bool) bool{
	Snavely:  {observeSnavelyResiduals64, observeSnavelyDerivative64},
	Weighted: {observeWeightedResiduals64, observeWeightedDerivative64},
}

func observe[T Float](v *Views[T], m CameraModel, do ViewTask, o *Operands[T], sign T, past bool) (done int, ok bool) {
	const line = 64
	done = len(o.Camera) &^ (viewTile - 1)
	if tier == Generic || !is64[T]() || done == 0 {
		return 0, true
	}
	at := func(x []T) *float64 { return f64(unsafe.SliceData(x)) }
	past = past && uintptr(unsafe.Pointer(unsafe.SliceData(o.J)))%line == 0
	ok = observations64[m][do](f64(&v[0][0]), at(o.Cameras), len(o.Cameras)/ViewPoint, at(o.Points), o.NumPoints, o.PointStride,
		&o.Camera[0], &o.Point[0], at(o.X), at(o.W), at(o.R), at(o.Z), at(o.J), at(o.DZ), done, float64(sign), past)
	return done, ok
}

func prefetch[T Float](src []T, lds int, index []int) {
	if n := len(index) &^ (viewTile - 1); n > 0 && tier != Generic && is64[T]() {
		prefetchRows64(f64(unsafe.SliceData(src)), lds, &index[0], n)
	}
}
