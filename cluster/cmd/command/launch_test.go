package command_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"revnum/cluster"
	"revnum/cluster/cmd/command"
	"revnum/program/dataset"
)

// TestLaunch starts one rank with the environments of launchers.
func TestLaunch(t *testing.T) {
	for _, c := range []struct {
		size int
		env  map[string]string
		want string // of the error
	}{
		{1, nil, ""},
		{1, map[string]string{"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "0"}, "one of 4 processes (OMPI_COMM_WORLD_SIZE=4)"},
		{4, map[string]string{"OMPI_COMM_WORLD_SIZE": "4"}, ""},
		{1, map[string]string{"OMPI_COMM_WORLD_SIZE": "1", "SLURM_STEP_NUM_TASKS": "4"}, ""}, // mpirun -n 1, by srun
		{1, map[string]string{"PMI_SIZE": "2"}, "one of 2 processes (PMI_SIZE=2)"},
		{1, map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "0"}, ""}, // a script of sbatch
		{1, map[string]string{"SLURM_NTASKS": "4", "SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "4", "PMIX_RANK": "0"}, "one of 4 processes (SLURM_STEP_NUM_TASKS=4)"},
		{1, map[string]string{"PMIX_RANK": "0"}, ""},
		{1, map[string]string{"PMIX_RANK": "3"}, "one of several processes (PMIX_RANK=3)"},
	} {
		err := command.CheckLaunch(c.size, func(name string) string { return c.env[name] })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "go build -C cluster/mpi")) {
			t.Errorf("size %d, %v: %v, want %q", c.size, c.env, err, c.want)
		}
	}
}

// TestSame starts a rank with other arguments.
func TestSame(t *testing.T) {
	args := []string{"gmm", "fit", "--shards", "missing.npy", "-k", "4"}
	for _, c := range []struct {
		other []string
		want  string
	}{
		{[]string{"gmm", "fit", "--shards", "missing.npy", "-k", "3"}, `argument 6: expected "4", found "3"`},
		{[]string{"gmm", "fit", "--shards", "missing.npy"}, `argument 5: expected "-k", found nothing`},
		{append(slices.Clone(args), "--none"), `found argument 7: "--none", expected nothing of the kind`},
		{args, "missing.npy: no such file"},
	} {
		var errs bytes.Buffer
		err := cluster.Run(3, func(r cluster.Reducer) error {
			mine := args
			if r.Rank() == 2 {
				mine = c.other
			}
			var out, stderr bytes.Buffer
			if status := command.Run(t.Context(), r, dataset.Shards(), mine, &out, &stderr); status != 1 {
				return errors.New("not status 1")
			}
			if r.Rank() == 0 {
				errs = stderr
			}
			return nil
		})
		if err != nil || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%v: %v, %q, want %q", c.other, err, errs.String(), c.want)
		}
	}
}
