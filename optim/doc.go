// Package optim minimises the scalar output of a reversible program over parameters
// in its state.
//
// An [Objective] says which program, output and parameters these are. It gives them to
// the minimisers of gonum as an optimize.Problem, with gradient and Hessian, or to a
// [Method] that makes one step for each batch of data: [SGD] with momentum, and [Adam],
// which is AdamW with a Decay. A [Schedule] says the rate of each step.
//
//	loss := &optim.Objective[net, float64]{Program: program, Output: output, Params: params, State: s}
//	adam := &optim.Adam{Rate: optim.Cosine(0.01, 0, 300)}
//	for range 300 {
//		value, err := loss.Step(adam)
//		...
//	}
//
// # Programs that train
//
// The kernels [Gradient] and [Value] make an objective a part of another program, and
// [Decay] multiplies velocities in a way that can be undone to the bit. A whole run of
// training with momentum is then a reversible program over fixed point. Its adjoint goes
// back through the run, and gives the derivatives of a loss after it with respect to what
// was set before: learning rates, initial weights, data. No step is recorded but for the
// bits that Decay loses, a fraction of a bit for each velocity and step. The method is
// that of D. Maclaurin, D. Duvenaud and R. P. Adams, Gradient-based hyperparameter
// optimization through reversible learning, 2015 (algorithm 2).
package optim
