// Package nbody moves bodies that attract each other, by reversible steps that conserve
// energy on the average.
//
// The equations of motion of n bodies are
//
//	dq_i/dt = v_i,  dv_i/dt = Σ_j μ_j·(q_j - q_i)/(|q_j - q_i|² + ε²)^(3/2)
//
// where μ is the mass times the constant of gravitation, and ε the softening length.
// The kernel Drift moves positions by velocities, and Kick changes velocities by the
// attraction at the positions. Each adds to its output a function of operands that it
// does not change. Subtracting it is the inverse, so every sequence of these kernels is
// a bijection. The kernel Steps combines them by a Method such as Leapfrog. Energy is
// the energy of the bodies.
//
// A body attracts neither itself nor a body in the same place.
//
// # What is exact
//
// Over fixed.Q43 the bodies return to their start to the bit, after any number of
// steps. The gradient is that of the steps that were taken. As in the integrator JANUS,
// forces are computed in float64 and then rounded: the same positions give the same
// force each time. Choose the units so that numbers stay within ±2²⁰. Larger numbers
// wrap, but still return. Over floats the inverse rounds like the program.
//
// Results have the same bits for any number of workers. They differ in the last bits
// between tiers of vector code.
//
// # Sources
//
// The experiments are those of J.-G. Liu and T. Zhao, Differentiate everything with a
// reversible embedded domain-specific language, arXiv 2003.04617 (2020). JANUS is that
// of H. Rein and D. Tamayo, JANUS: a bit-wise reversible integrator for N-body dynamics,
// MNRAS 473 (2018). Method names the sources of the methods.
package nbody
