package command

import (
	"encoding/json"
	"fmt"
	"strconv"

	"revnum/cluster"
)

// CheckLaunch returns an error if this process is its only rank and was started as one of
// several. Each of them would fit alone and write the same files.
//
// The launcher's own variable decides. Slurm's is that of a step, which srun sets:
// SLURM_NTASKS is also set in the script of sbatch, which runs once. mpirun starts its helpers
// by srun, so its variables come first.
func CheckLaunch(size int, getenv func(name string) string) error {
	if size > 1 {
		return nil
	}
	problem := func(of, name string) error {
		return fmt.Errorf("started as one of %s processes (%s=%s), but without a link to the others. This program has no MPI, or another MPI than the one that started it. "+
			"Build it with MPI: go build -C cluster/mpi -o \"$PWD/revcluster\" ./cmd/revcluster (with -tags mpich for MPICH). "+
			"If each process is to work alone, with files of its own, unset %[2]s", of, name, getenv(name))
	}
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 1 {
			return problem(strconv.Itoa(n), name)
		} else if err == nil {
			return nil
		}
	}
	if rank, err := strconv.Atoi(getenv("PMIX_RANK")); err == nil && rank > 0 { // PMIx gives no size
		return problem("several", "PMIX_RANK")
	}
	return nil
}

// checkSame returns an error on all ranks unless all have the same arguments and the same
// version of the program. The ranks would otherwise wait for different messages.
func checkSame(r cluster.Reducer, args []string) error {
	mine := []Fact{{"version", version()}}
	for i, a := range args {
		mine = append(mine, Fact{fmt.Sprintf("argument %d", i+1), strconv.Quote(a)})
	}
	text, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	if text, err = cluster.Share(r, text); err != nil {
		return err
	}
	var first []Fact
	if err = json.Unmarshal(text, &first); err == nil {
		if d := Difference(first, mine); d != "" {
			err = fmt.Errorf("expected the arguments and the version of rank 0: %s", d)
		}
	}
	return cluster.Agree(r, err)
}
