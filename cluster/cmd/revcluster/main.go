// The revcluster command fits mixtures and clusters to points in many files. This
// command runs without MPI. The command of the same name in the module cluster/mpi runs
// on the ranks of MPI.
package main

import (
	"os"

	"revnum/cluster"
	"revnum/cluster/cmd/command"
	"revnum/program/dataset"
)

func main() { os.Exit(command.Main(cluster.Alone(), dataset.Shards(), os.Args[1:])) }
