// The revcluster command fits mixtures and clusters to points in many files. This one
// runs alone. That of the module cluster/mpi is the same on the ranks of MPI.
package main

import (
	"os"

	"revnum/cluster"
	"revnum/cluster/internal/command"
	"revnum/cluster/shard"
)

func main() { os.Exit(command.Main(cluster.Alone(), shard.Standard(), os.Args[1:])) }
