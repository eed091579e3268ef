// Package tradeoff measures what the gradient of a long computation costs, by the ways
// that there are to go back: to record all states, to uncompute them (rev.Bennett), to
// compute them again from checkpoints (rev.Treeverse), and to take steps that are
// reversible by themselves.
//
// The computation is the planets of revmodels/nbody in steps of Leapfrog. For the first
// three ways a step is the kernel leap, y += f(x), which is not a bijection of x. For the
// last it is nbody.Steps.
package tradeoff
