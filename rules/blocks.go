package rules

import (
	"fmt"
	"sync"

	"revnum/rev"
	"revnum/revmodels/ba"
)

// SnavelyBlock computes one observation of [ba.Snavely] in the form of a residual block
// of Ceres. It stores the two residuals π(c, X) - x. It stores their derivatives by the
// nine parameters of the camera as a 2×9 matrix, and those by the three coordinates of
// the point as a 2×3 matrix, both by rows. Results whose slice is nil are not computed.
// SnavelyBlock returns an error if a slice has a wrong length.
func SnavelyBlock(feature, camera, point, residuals, byCamera, byPoint []float64) error {
	if err := lengths("SnavelyBlock", length{feature, 2}, length{camera, 9}, length{point, 3}, length{residuals, -2}, length{byCamera, -18}, length{byPoint, -6}); err != nil {
		return err
	}
	s := snavelyBlocks.Get().(*snavelyBlock)
	defer snavelyBlocks.Put(s)
	copy(s.features[:], feature)
	copy(s.cameras[:], camera)
	copy(s.points[:], point)
	s.r = [2]float64{}
	if byCamera == nil && byPoint == nil {
		_ = s.kernel.Forward()
	} else {
		_ = s.kernel.Jacobian(s.jacobian)
	}
	copy(residuals, s.r[:])
	columns(s.jacobian, 0, byCamera, 9)
	columns(s.jacobian, 9, byPoint, 3)
	return nil
}

// WeightedBlock is SnavelyBlock for an observation of [ba.Weighted], with the three
// residuals w·(π(c, X) - x) and 1 - w². The matrices are 3×11, 3×3 and 3×1.
func WeightedBlock(feature, camera, point, weight, residuals, byCamera, byPoint, byWeight []float64) error {
	if err := lengths("WeightedBlock", length{feature, 2}, length{camera, 11}, length{point, 3}, length{weight, 1},
		length{residuals, -3}, length{byCamera, -33}, length{byPoint, -9}, length{byWeight, -3}); err != nil {
		return err
	}
	s := weightedBlocks.Get().(*weightedBlock)
	defer weightedBlocks.Put(s)
	copy(s.features[:], feature)
	copy(s.cameras[:], camera)
	copy(s.points[:], point)
	s.weight[0] = weight[0]
	s.r, s.z = [2]float64{}, [1]float64{}
	if byCamera == nil && byPoint == nil && byWeight == nil {
		_ = s.kernel.Forward()
	} else {
		_ = s.kernel.Jacobian(s.jacobian, s.byWeight)
	}
	if residuals != nil {
		copy(residuals, s.r[:])
		residuals[2] = s.z[0]
	}
	columns(s.jacobian, 0, byCamera, 11)
	columns(s.jacobian, 11, byPoint, 3)
	columns(s.jacobian, 14, byWeight, 1)
	if byCamera != nil {
		clear(byCamera[22:]) // the row of 1 - w²
	}
	if byPoint != nil {
		clear(byPoint[6:])
	}
	if byWeight != nil {
		byWeight[2] = s.byWeight.Data[0]
	}
	return nil
}

// A length is a slice with its wanted length. If the length is negative, the slice may
// have that length or be nil.
type length struct {
	x []float64
	n int
}

func lengths(name string, list ...length) error {
	for i, l := range list {
		if len(l.x) != max(l.n, -l.n) && (l.n > 0 || l.x != nil) {
			return fmt.Errorf("rules: %s: argument %d has length %d, want %d", name, i+1, len(l.x), max(l.n, -l.n))
		}
	}
	return nil
}

// columns copies consecutive columns of a matrix to a matrix of only these columns.
func columns(from rev.General[float64], at int, to []float64, cols int) {
	if to == nil {
		return
	}
	for i := range from.Rows {
		copy(to[i*cols:(i+1)*cols], from.Row(i)[at:])
	}
}

// A snavelyBlock is a kernel of one observation.
type snavelyBlock struct {
	features [2]float64
	cameras  [9]float64
	points   [3]float64
	r        [2]float64
	kernel   ba.Snavely[float64]
	jacobian rev.General[float64]
}

var snavelyBlocks = sync.Pool{New: func() any {
	s := &snavelyBlock{jacobian: rev.NewGeneral[float64](2, 12, nil)}
	s.kernel = ba.Snavely[float64]{
		R: rev.ViewSlice(s.r[:]), Cameras: rev.NewGeneral(1, 9, s.cameras[:]), Points: rev.NewGeneral(1, 3, s.points[:]),
		Features: rev.NewGeneral(1, 2, s.features[:]), Camera: []int{0}, Point: []int{0}, Workers: 1,
	}
	return s
}}

// A weightedBlock is a kernel of one observation.
type weightedBlock struct {
	features [2]float64
	cameras  [11]float64
	points   [3]float64
	weight   [1]float64
	r        [2]float64
	z        [1]float64
	kernel   ba.Weighted[float64]
	jacobian rev.General[float64]
	byWeight rev.Vector[float64]
}

var weightedBlocks = sync.Pool{New: func() any {
	s := &weightedBlock{jacobian: rev.NewGeneral[float64](2, 15, nil), byWeight: rev.ViewSlice(make([]float64, 1))}
	s.kernel = ba.Weighted[float64]{
		R: rev.ViewSlice(s.r[:]), Z: rev.ViewSlice(s.z[:]), Cameras: rev.NewGeneral(1, 11, s.cameras[:]),
		Points: rev.NewGeneral(1, 3, s.points[:]), Weights: rev.ViewSlice(s.weight[:]), Features: rev.NewGeneral(1, 2, s.features[:]),
		Camera: []int{0}, Point: []int{0}, Workers: 1,
	}
	return s
}}
