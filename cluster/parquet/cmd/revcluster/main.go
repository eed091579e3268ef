// The revcluster command fits mixtures and clusters to points in many files. This command
// reads Parquet too. It runs without MPI; the command in the module cluster/mpi reads
// Parquet and runs on the ranks of MPI.
package main

import (
	"os"

	"revnum/cluster"
	"revnum/cluster/cmd/command"
	"revnum/cluster/parquet"
	"revnum/program/dataset"
)

func main() {
	formats := dataset.Shards()
	formats[".parquet"] = parquet.Open
	os.Exit(command.Main(cluster.Alone(), formats, os.Args[1:]))
}
