package ba

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Options are the options of Solve. The zero value of each field means the default in
// brackets. A negative tolerance means none.
type Options struct {
	Loss   Loss   // robust loss [squares: ρ(s) = s]
	Method Method // how linear systems are solved [Automatic]

	// Points, if not nil, are the points of the problem once more, with its observations,
	// FixedPoints and Loss, in the memory of a GPU for example. They compute what concerns
	// points. Automatic is then ConjugateGradients.
	Points Points

	FixedCameras []int // cameras whose nine parameters do not change
	FixedPoints  []int // points that do not change

	// FixedIntrinsics holds the focal length and distortion of all cameras.
	FixedIntrinsics bool
	// Intrinsics, if not nil, has a number for each camera. Cameras with equal numbers
	// share f, k₁ and k₂, and must start with equal values. If one of them is fixed,
	// these do not change.
	Intrinsics []int

	// MinFocal and MaxFocal are bounds of the focal lengths that are not fixed [no
	// bounds].
	MinFocal, MaxFocal float64

	MaxIter int           // largest number of iterations, which are attempted steps [100]
	MaxTime time.Duration // time limit; the step in progress is finished [no limit]

	CostTolerance     float64 // relative change of the cost at which to end [1e-6]
	GradientTolerance float64 // largest element of the gradient [1e-10]
	StepTolerance     float64 // length of a step relative to that of all parameters [1e-8]

	Radius, MaxRadius float64 // of the trust region at first and at most [1e4, 1e12]

	Forcing       float64 // accuracy η of conjugate gradients, less than 1 [0.1]
	MaxLinearIter int     // most iterations of conjugate gradients a step [500]

	Workers int // goroutines to use [GOMAXPROCS]

	// Progress, if not nil, is called for each iteration, and for the start.
	Progress func(Iteration)
}

// fill sets the defaults, or returns an error that names an option that makes no sense.
func (o *Options) fill() error {
	for _, v := range []struct {
		name  string
		value *float64
		usual float64
		free  bool // may be negative or infinite
	}{
		{"MinFocal", &o.MinFocal, math.Inf(-1), true}, {"MaxFocal", &o.MaxFocal, math.Inf(1), true},
		{"CostTolerance", &o.CostTolerance, 1e-6, true}, {"GradientTolerance", &o.GradientTolerance, 1e-10, true},
		{"StepTolerance", &o.StepTolerance, 1e-8, true}, {"Radius", &o.Radius, 1e4, false},
		{"MaxRadius", &o.MaxRadius, 1e12, false}, {"Forcing", &o.Forcing, 0.1, false},
	} {
		if math.IsNaN(*v.value) || !v.free && (*v.value < 0 || math.IsInf(*v.value, 1)) {
			return fmt.Errorf("ba: option %s is %v", v.name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.usual
		}
	}
	for _, v := range []struct {
		name  string
		value *int
		usual int
	}{
		{"MaxIter", &o.MaxIter, 100}, {"MaxLinearIter", &o.MaxLinearIter, 500}, {"Workers", &o.Workers, 0},
	} {
		if *v.value < 0 {
			return fmt.Errorf("ba: option %s is %d", v.name, *v.value)
		}
		if *v.value == 0 {
			*v.value = v.usual
		}
	}
	switch {
	case o.Method < Automatic || o.Method > ConjugateGradients:
		return fmt.Errorf("ba: option Method is %v", o.Method)
	case o.MaxTime < 0:
		return fmt.Errorf("ba: option MaxTime is %v", o.MaxTime)
	case o.MinFocal > o.MaxFocal:
		return fmt.Errorf("ba: options MinFocal %v and MaxFocal %v leave nothing", o.MinFocal, o.MaxFocal)
	case o.Forcing >= 1:
		return fmt.Errorf("ba: option Forcing is %v, expected less than 1", o.Forcing)
	case o.FixedIntrinsics && o.Intrinsics != nil:
		return errors.New("ba: options FixedIntrinsics and Intrinsics exclude each other")
	}
	o.Radius = math.Min(o.Radius, o.MaxRadius)
	return checkLoss(o.Loss)
}
