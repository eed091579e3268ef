// Package cluster computes on many machines what package revmodels computes on one, to
// the same bits on any number of them.
//
//   - Sums are sums of float64 without rounding. Machines add them as integers.
//   - Reducer is what connects the machines: the ranks of MPI (package cluster/mpi, a
//     module of its own), goroutines (Run), or something of yours.
//   - Package cluster/shard reads points that lie in many files, block by block.
//   - FitGMM and FitKMeans fit points, SolveBA adjusts bundles, and Rows multiplies with
//     sparse matrices.
//
// docs/cluster.md says how to run the command revcluster, and what it costs.
//
// # The same bits
//
// Points lie in shards, which are cut into blocks of a given number of rows. The kernels
// of revmodels compute float64 numbers from a block, with the rounding that they have.
// These numbers are added exactly, and rounded once. The result depends on the files and
// on the number of rows of a block. It does not depend on which rank has which block, on
// the number of ranks and goroutines, or on the order in which anything is added.
//
// One thing can make a difference: processors with other vector instructions round
// kernels differently (see docs/design.md). A cluster with mixed processors gives good
// results, and the same on all ranks, but not always the same bits as another cluster.
// Set REVNUM_SIMD=avx2 on all machines, and it does.
//
// # Ranks
//
// All ranks call the same function with the same arguments. Rank 0 leads: it runs the
// optimiser, and asks the others for sums at the points that the optimiser looks at. No
// two ranks decide the same thing apart from each other, so that no difference in
// rounding can part them.
//
// An error on one rank, such as a file that is cut off, becomes an error on all of them,
// which says the rank.
package cluster
