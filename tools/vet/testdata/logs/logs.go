package logs

import (
	"math"
	"math/cmplx"
)

func f(x float64) float64 {
	_ = cmplx.Log(1)
	_ = cmplx.Log(complex(x, 0))      // want `math/cmplx.Log is wrong for subnormal numbers`
	y := math.Pow(2, 3) + math.Log(x) // want `math.Log is wrong for subnormal numbers`
	log := math.Log10                 // want `math.Log10 is wrong for subnormal numbers`
	return y + log(x) + math.Sqrt(x)
}

//revgen:kernel Kernel[T rev.Real]
func kernel(x float64) float64 { return math.Log(x) }
