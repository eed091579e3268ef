package optim

import "math"

// A Schedule returns the rate of a step. The first step is 0.
type Schedule func(step int) float64

// Constant returns the schedule of one rate for all steps.
func Constant(rate float64) Schedule {
	return func(int) float64 { return rate }
}

// Cosine returns the schedule that falls from rate to end along half a wave of a
// cosine, in the given number of steps. Then it stays at end.
func Cosine(rate, end float64, steps int) Schedule {
	return func(step int) float64 {
		if step >= steps {
			return end
		}
		return end + (rate-end)*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2
	}
}

// WarmUp returns the schedule that first rises to the first rate of s, in equal parts
// over the given number of steps. Then it follows s from the beginning.
func WarmUp(steps int, s Schedule) Schedule {
	return func(step int) float64 {
		if step < steps {
			return s(0) * float64(step+1) / float64(steps+1)
		}
		return s(step - steps)
	}
}
