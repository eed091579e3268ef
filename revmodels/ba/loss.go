package ba

import (
	"fmt"
	"math"
)

// Loss is a robust loss: an observation with the residual r costs ½ρ(‖r‖²) instead
// of ½‖r‖².
//
// Rho returns ρ(s) and its derivative for s >= 0. It should have ρ(0) = 0, ρ'(0) = 1,
// and a derivative that is not negative and does not grow. Several goroutines may call
// it.
type Loss interface {
	Rho(s float64) (rho, slope float64)
}

// Huber is Huber's loss with a scale in pixels: ρ(s) = s for s <= a², and 2a·√s - a²
// beyond.
type Huber float64

// Rho returns ρ(s) and ρ'(s).
func (a Huber) Rho(s float64) (rho, slope float64) {
	if b := float64(a * a); s > b {
		root := math.Sqrt(s)
		return float64(2*float64(a)*root) - b, float64(a) / root
	}
	return s, 1
}

// Cauchy is the loss of Cauchy and Lorentz with a scale in pixels: ρ(s) = a²·log(1 +
// s/a²).
type Cauchy float64

// Rho returns ρ(s) and ρ'(s).
func (a Cauchy) Rho(s float64) (rho, slope float64) {
	b := float64(a * a)
	return b * math.Log1p(s/b), 1 / (1 + s/b)
}

// Tukey is Tukey's biweight loss with a scale in pixels: ρ(s) = a²/3·(1 - (1 - u)³) =
// s·(1 - u + u²/3), u = s/a², for s <= a², and a²/3 beyond. There an observation has no
// influence.
type Tukey float64

// Rho returns ρ(s) and ρ'(s).
func (a Tukey) Rho(s float64) (rho, slope float64) {
	b := float64(a * a)
	if s > b {
		return b / 3, 0
	}
	u := s / b
	return s * (1 - u + float64(u*u/3)), (1 - u) * (1 - u)
}

// checkLoss returns an error if the loss is one of the above with a bad scale.
func checkLoss(l Loss) error {
	var scale float64
	switch l := l.(type) {
	case Huber:
		scale = float64(l)
	case Cauchy:
		scale = float64(l)
	case Tukey:
		scale = float64(l)
	default:
		return nil
	}
	if !(scale > 0) || math.IsInf(scale*scale, 1) || scale*scale == 0 {
		return fmt.Errorf("ba: scale %v of the loss, expected a positive number", scale)
	}
	return nil
}
