// Package beam has steps of package cluster as transforms of Apache Beam, for single
// passes over files where Spark, Flink or Dataflow is already there: statistics of
// columns, steps of expectation maximisation, and scoring. It is a module of its own.
//
// What iterates belongs on the ranks of MPI, where the points stay in memory; EM here
// unrolls its steps into the pipeline.
//
// Sums over blocks are exact, so that the results have the same bits on any runner, with
// any number of workers, and as on the ranks of package cluster.
//
// Workers read the shards from a file system that they share. A program registers nothing:
// it calls beam.Init, and runs the pipeline by a runner such as Prism, which runs in the
// same process.
package beam
