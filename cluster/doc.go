// Package cluster computes on many machines what the packages in revmodels compute on
// one. The results have the same bits for any number of machines.
//
//   - Sums adds float64 numbers without rounding. Machines add Sums as integers.
//   - A Reducer connects the machines: the ranks of MPI (package cluster/mpi, a module
//     of its own), goroutines (Run), or a connection of your own.
//   - Package cluster/shard reads points that lie in many files, block by block. Package
//     cluster/parquet, a module of its own, adds files in the format Parquet.
//   - FitGMM and FitKMeans fit points, SolveBA adjusts bundles, and Rows multiplies with
//     sparse matrices.
//
// docs/cluster.md says how to run the command revcluster, and what it costs.
//
// # The same bits
//
// Points lie in shards, which are cut into blocks of a given number of rows. The
// kernels of revmodels compute float64 numbers from a block, and round as usual. These
// numbers are added exactly, and rounded once. The result depends on the files and on
// the number of rows of a block. It does not depend on which rank has which block, on
// the number of ranks and goroutines, or on the order in which anything is added.
//
// One thing can make a difference: processors with other vector instructions round
// kernels differently (see docs/design.md). A cluster with mixed processors gives good
// results, and the same ones on all ranks, but not always the bits of another cluster.
// To get the same bits, set REVNUM_SIMD=avx2 on all machines.
//
// # Ranks
//
// All ranks call the same function with the same arguments. Rank 0 leads: it runs the
// optimiser, and asks the others for sums where the optimiser needs them. Only rank 0
// makes decisions. Differences in rounding therefore cannot make ranks disagree.
//
// An error on one rank, such as a truncated file, becomes an error on all ranks. It
// names the rank.
package cluster
