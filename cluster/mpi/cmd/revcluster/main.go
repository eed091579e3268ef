// The revcluster command fits mixtures and clusters to points in many files, on the ranks
// of MPI:
//
//	mpirun -n 4 revcluster gmm fit --shards 'data/*.npy' -k 20
//
// REVCLUSTER_PATIENCE is how long a rank waits for the others, at the start too, before it
// counts them as lost. The default is 30m; 0 means forever. REVCLUSTER_DIRECT is up to how many
// ranks send small messages without the algorithms of MPI (see mpi.World.SetDirect). The default
// is 8; rank 0 decides.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"revnum/cluster/cmd/command"
	"revnum/cluster/mpi"
	"revnum/cluster/parquet"
	"revnum/program/dataset"
)

func main() { os.Exit(run()) }

func run() int {
	patience := 30 * time.Minute
	if s := os.Getenv("REVCLUSTER_PATIENCE"); s != "" {
		var err error
		if patience, err = time.ParseDuration(s); err != nil || patience < 0 {
			fmt.Fprintf(os.Stderr, "revcluster: REVCLUSTER_PATIENCE: expected a duration such as 30m, found %q\n", s)
			return 1
		}
	}
	world, err := mpi.Init(patience)
	if err != nil {
		fmt.Fprintln(os.Stderr, "revcluster:", err)
		return 1
	}
	direct := 8
	if s := os.Getenv("REVCLUSTER_DIRECT"); s != "" {
		if direct, err = strconv.Atoi(s); err != nil {
			fmt.Fprintf(os.Stderr, "revcluster: REVCLUSTER_DIRECT: expected a number of ranks, found %q\n", s)
			world.Abort(1)
		}
	}
	if err := world.SetDirect(direct); err != nil {
		fmt.Fprintln(os.Stderr, "revcluster:", err)
		world.Abort(1)
	}
	formats := dataset.Shards()
	formats[".parquet"] = parquet.Open
	status := command.Main(world, formats, os.Args[1:])
	if err := world.Finalize(); err != nil {
		fmt.Fprintln(os.Stderr, "revcluster:", err)
		return 1
	}
	return status
}
