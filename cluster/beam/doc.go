// Package beam has steps of package cluster as transforms of Apache Beam: statistics of
// columns, steps of expectation maximisation, and scoring. Use it for single passes
// over files if you already have Spark, Flink or Dataflow. It is a module of its own.
//
// Run long iterations on the ranks of MPI, where the points stay in memory. EM of this
// package unrolls its steps into the pipeline.
//
// Sums over blocks are exact. The results therefore have the same bits on any runner,
// with any number of workers, and on the ranks of package cluster.
//
// Workers read the shards from a shared file system. Your program need not register
// anything. It calls beam.Init, and runs the pipeline with a runner such as Prism,
// which runs in the same process. docs/cluster.md says how it ran on Spark.
package beam
