package objective

import "gonum.org/v1/gonum/optimize"

// A Converger is an optimize.Converger without a state of its own: the function is called
// after each iteration, and ends the minimisation unless it returns NotTerminated.
type Converger func(*optimize.Location) optimize.Status

// Init implements optimize.Converger.
func (Converger) Init(int) {}

// Converged implements optimize.Converger.
func (f Converger) Converged(l *optimize.Location) optimize.Status { return f(l) }
