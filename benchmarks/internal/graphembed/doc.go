// Package graphembed is the experiment of Liu and Zhao, arXiv 2003.04617, appendix D.2:
// into how many dimensions does a graph embed such that all connected pairs of vertices
// have one distance, and all others another, larger one? For each number of dimensions
// k it minimises the loss from many random starts. It also measures the times of the
// objective, its gradient and its Hessian.
package graphembed
