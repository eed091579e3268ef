// Package tradeoff measures what the gradient of a long computation costs. There are
// four ways to go back: record all states, uncompute them (rev.Bennett), compute them
// again from checkpoints (rev.Treeverse), or take steps that are reversible by
// themselves.
//
// The computation moves the planets of revmodels/nbody by steps of Leapfrog. For the
// first three ways, a step is the kernel leap, y += f(x), which is not a bijection of
// x. For the last way it is nbody.Steps.
package tradeoff
