// Package optim minimises the scalar output of a reversible program over parameters
// in its state.
//
// An [Objective] names the program, the output and the parameters. You can give it to
// the minimisers of gonum as an optimize.Problem, with gradient and Hessian. Or a
// [Method] takes one step for each batch of data: [SGD] with momentum, or [Adam], which
// is AdamW if it has a Decay. A [Schedule] gives the rate of each step.
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
// The kernels [Gradient] and [Value] make an objective part of another program. [Decay]
// multiplies velocities, and its inverse restores every bit. With them a whole run of
// training with momentum is a reversible program over fixed point. Its adjoint goes
// back through the run. It gives the derivatives of the final loss with respect to
// learning rates, initial weights or data. Only the bits that Decay loses are recorded,
// a fraction of a bit for each velocity and step. The method is that of D. Maclaurin,
// D. Duvenaud and R. P. Adams, Gradient-based hyperparameter optimization through
// reversible learning, 2015 (algorithm 2).
package optim
