// The revcluster command fits mixtures and clusters to points in many files. This command
// reads Parquet too. It runs without MPI; the command in the module cluster/mpi reads
// Parquet and runs on the ranks of MPI.
package main

import (
	"os"

	"revnum/cluster"
	"revnum/cluster/internal/command"
	"revnum/cluster/parquet"
	"revnum/cluster/shard"
)

func main() {
	formats := shard.Standard()
	formats[".parquet"] = parquet.Open
	os.Exit(command.Main(cluster.Alone(), formats, os.Args[1:]))
}
