package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"revnum/program/dataset"
	"revnum/revmodels/ba"
)

// program is the path of the command, which TestMain builds.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if _, err := exec.LookPath(launcher[0]); err != nil {
		fmt.Printf("skipped: there is no %s\n", launcher[0])
		return 0
	}
	dir, err := os.MkdirTemp("", "revcluster")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "revcluster")
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Printf("%s%v\n", out, err)
		return 1
	}
	return m.Run()
}

// A job is a run of the program on ranks. What they write to stderr goes to a file and not
// through mpirun, because MPICH's loses the last words of ranks that end early. A rank first
// runs the shell commands of the variable RANKS_FIRST.
type job struct {
	*exec.Cmd
	stderr string
}

func mpirun(t *testing.T, ranks int, args ...string) *job {
	t.Helper()
	stderr := filepath.Join(t.TempDir(), "stderr")
	all := append(slices.Clone(launcher[1:]), "-n", fmt.Sprint(ranks), "sh", "-c", `eval "$RANKS_FIRST"; exec "$0" "$@" 2>>"$RANKS_STDERR"`, program)
	cmd := exec.Command(launcher[0], append(all, args...)...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "GOMAXPROCS=1", "RANKS_STDERR="+stderr)
	return &job{cmd, stderr}
}

// said returns what the ranks have written to stderr so far.
func (j *job) said() string {
	text, err := os.ReadFile(j.stderr)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// must runs the job, which must succeed.
func (j *job) must(t *testing.T) {
	t.Helper()
	if text, err := j.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s%s", j.Args, err, j.said(), text)
	}
}

// begin starts the job, and returns a channel that gets its error at its end.
func (j *job) begin(t *testing.T) <-chan error {
	t.Helper()
	if err := j.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- j.Wait() }()
	return end
}

// await waits for the file that the job writes.
func (j *job) await(t *testing.T, path string, end <-chan error) {
	t.Helper()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case err := <-end:
			t.Fatalf("%v: ended before it wrote %s: %v\n%s", j.Args, path, err, j.said())
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// signal sends a signal to a rank.
func (j *job) signal(t *testing.T, rank int, s syscall.Signal) {
	t.Helper()
	process := processOf(rank)
	if process == 0 {
		t.Fatalf("%v: ended before rank %d could be stopped\n%s", j.Args, rank, j.said())
	}
	if err := syscall.Kill(process, s); err != nil {
		t.Fatal(err)
	}
}

// shards writes two shards, and returns a pattern of them.
func shards(t *testing.T, rows int) (dir, pattern string) {
	t.Helper()
	dir = t.TempDir()
	rnd := rand.New(rand.NewPCG(3, 4))
	for part := range 2 {
		x := make([]float64, rows*4)
		for i := range x {
			x[i] = float64(i/4%5*(2+i%4)) + rnd.NormFloat64()*3
		}
		if err := dataset.WriteNpy(filepath.Join(dir, fmt.Sprintf("%d.npy", part)), rows, 4, x); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "*.npy")
}

// TestRanks fits on 1, 2 and 3 ranks, and on 3 with other algorithms of MPI_Allreduce in
// place of direct messages. It wants the same file.
func TestRanks(t *testing.T) {
	dir, pattern := shards(t, 3000)
	var want []byte
	fit := func(ranks int, env ...string) {
		t.Helper()
		out := filepath.Join(dir, fmt.Sprintf("%d%q.json", ranks, env))
		j := mpirun(t, ranks, "gmm", "fit", "--shards", pattern, "-k", "5", "--out", out, "--block", "500")
		j.Env = append(j.Env, env...)
		j.must(t)
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d ranks, %v: SHA-256 %x", ranks, env, sha256.Sum256(got))
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d ranks, %v: another model than on one", ranks, env)
		}
	}
	for ranks := 1; ranks <= 3; ranks++ {
		fit(ranks)
	}
	for _, env := range algorithms {
		fit(3, env...)
	}
}

// TestErrors wants one message and a non-zero status.
func TestErrors(t *testing.T) {
	dir, pattern := shards(t, 300)
	short := filepath.Join(dir, "1.npy")
	if err := os.Truncate(short, 1000); err != nil {
		t.Fatal(err)
	}
	j := mpirun(t, 2, "gmm", "fit", "--shards", pattern, "-k", "2")
	j.Env = append(j.Env, "REVCLUSTER_DIRECT=17")
	if err := j.Run(); err == nil || !strings.Contains(j.said(), "directly up to 17 ranks, expected 0 to 16") {
		t.Errorf("direct messages of 17 ranks: %v\n%s", err, j.said())
	}
	j = mpirun(t, 3, "gmm", "fit", "--shards", pattern, "-k", "2")
	if err := j.Run(); err == nil || strings.Count(j.said(), "1.npy: 300×4 numbers are 9600 bytes") != 1 {
		t.Errorf("a file that is cut off: %v\n%s", err, j.said())
	}
}

// TestDifferentRanks starts ranks of which one has other arguments, one never starts MPI, or
// none has MPI.
func TestDifferentRanks(t *testing.T) {
	alone := filepath.Join(t.TempDir(), "alone")
	if out, err := exec.Command("go", "build", "-o", alone, "revnum/cluster/cmd/revcluster").CombinedOutput(); err != nil {
		t.Fatalf("%s%v\n", out, err)
	}
	_, pattern := shards(t, 300)
	for _, c := range []struct {
		first string
		wants []string // of what the ranks say
	}{
		{`if [ "$` + rankVariable + `" = 1 ]; then set -- "$@" --seed 7; fi`, []string{`rank 1: expected the arguments and the version of rank 0: found argument 7: "--seed", expected nothing of the kind`}},
		{`if [ "$` + rankVariable + `" = 1 ]; then exec sleep 600; fi`, []string{"has waited 2.5s for all ranks to start", "has waited 5s for all ranks to start"}},
		{`exec ` + alone + ` "$@" 2>>"$RANKS_STDERR"`, []string{"started as one of 3 processes", "go build -C cluster/mpi"}},
	} {
		j := mpirun(t, 3, "gmm", "fit", "--shards", pattern, "-k", "2")
		j.Env = append(j.Env, "REVCLUSTER_PATIENCE=5s", "RANKS_FIRST="+c.first)
		err := j.Run()
		for _, want := range c.wants {
			if err == nil || !strings.Contains(j.said(), want) {
				t.Errorf("%s: %v, want %q\n%s", c.first, err, want, j.said())
			}
		}
	}
}

// processOf returns the process of a rank of the program, or 0 if there is none.
func processOf(rank int) int {
	list, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, path := range list {
		if exe, err := os.Readlink(path); err != nil || exe != program {
			continue
		}
		process := filepath.Dir(path)
		env, err := os.ReadFile(filepath.Join(process, "environ"))
		if err == nil && bytes.Contains(append([]byte{0}, env...), fmt.Appendf(nil, "\x00%s=%d\x00", rankVariable, rank)) {
			pid, _ := strconv.Atoi(filepath.Base(process))
			return pid
		}
	}
	return 0
}

// TestStopped kills a rank in the middle of a fit, or sends each rank the signal of Ctrl-C.
// The fit then resumes from the checkpoint on another number of ranks, and must end with
// the bits of a fit that was not stopped.
//
// The fits would go on for minutes. They are therefore not over before the signal, however
// busy the machine is, and those that are compared end some iterations after it. The signal
// does not go through mpirun, and its status is not looked at: Open MPI's passes the signal
// on after a second, and MPICH's lost the status of the ranks once.
func TestStopped(t *testing.T) {
	dir, pattern := shards(t, 20000)
	problem, _, err := ba.Generate(&ba.GenerateOptions{Layout: ba.City, Cameras: 30, Points: 4000, Observations: 20000, Noise: 0.5, Start: 0.003})
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(dir, "problem.txt")
	if err := ba.WriteFile(bundle, problem); err != nil {
		t.Fatal(err)
	}
	fits := map[string][]string{
		"gmm": {"gmm", "fit", "--shards", pattern, "-k", "8", "--tolerance", "1e-300", "--block", "1000", "--workers", "1"},
		"ba":  {"ba", "solve", bundle, "--cost-tolerance", "-1", "--forcing", "0.99", "--block", "1000", "--workers", "1"},
	}
	for name, fit := range fits {
		for how, stop := range map[string]struct {
			signal syscall.Signal
			ranks  []int
			writes bool // the fit so far
		}{
			"a killed rank": {syscall.SIGKILL, []int{2}, false},
			"an interrupt":  {syscall.SIGINT, []int{2, 1, 0}, true},
		} {
			t.Run(name+" with "+how, func(t *testing.T) {
				folder := t.TempDir()
				path := func(name string) string { return filepath.Join(folder, name) }
				checkpoint := path("checkpoint.json")
				args := func(iterations int, out string, more ...string) []string {
					return append(append(slices.Clone(fit), "--max-iter", fmt.Sprint(iterations), "--out", path(out)), more...)
				}
				j := mpirun(t, 3, args(1000000, "stopped", "--checkpoint", checkpoint, "--every", "2")...)
				end := j.begin(t)
				j.await(t, checkpoint, end)
				for _, rank := range stop.ranks {
					j.signal(t, rank, stop.signal)
				}
				if err := <-end; stop.writes != (j.said() == "interrupted\n") {
					t.Errorf("%v\n%s", err, j.said())
				}
				if _, err := os.Stat(path("stopped")); stop.writes != (err == nil) {
					t.Errorf("the fit so far: %v, want that it is written: %v", err, stop.writes)
				}
				var c struct {
					State struct {
						Iteration int       // of ba
						History   []float64 // of gmm
					}
				}
				b, err := os.ReadFile(checkpoint)
				if err == nil {
					err = json.Unmarshal(b, &c)
				}
				done := max(c.State.Iteration, len(c.State.History))
				if err != nil || done == 0 || done%2 != 0 {
					t.Fatalf("a checkpoint after %d iterations (%v)", done, err)
				}
				mpirun(t, 1, args(done+5, "want")...).must(t)
				mpirun(t, 2, args(done+5, "got", "--checkpoint", checkpoint)...).must(t)
				want, err := os.ReadFile(path("want"))
				if err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path("got")); err != nil || !bytes.Equal(got, want) {
					t.Errorf("another result than without (%v)", err)
				}
				other := mpirun(t, 2, args(done+5, "other", "--checkpoint", checkpoint, "--block", "999")...)
				if err := other.Run(); err == nil || !strings.Contains(other.said(), "a checkpoint of another fit") {
					t.Errorf("a checkpoint of other blocks: %v\n%s", err, other.said())
				}
			})
		}
	}
}

// TestLostLink stops a rank, so that it does not answer. The other must give up.
func TestLostLink(t *testing.T) {
	dir, pattern := shards(t, 20000)
	checkpoint := filepath.Join(dir, "checkpoint.json")
	j := mpirun(t, 2, "gmm", "fit", "--shards", pattern, "-k", "8", "--tolerance", "1e-300", "--max-iter", "1000000", "--workers", "1", "--checkpoint", checkpoint)
	j.Env = append(j.Env, "REVCLUSTER_PATIENCE=5s") // a busy machine may hold up a rank for less
	end := j.begin(t)
	j.await(t, checkpoint, end)
	j.signal(t, 1, syscall.SIGSTOP)
	stopped := processOf(1)
	for !strings.Contains(j.said(), "mpi: rank 0 has waited 5s") {
		select {
		case err := <-end:
			t.Fatalf("%v\n%s", err, j.said())
		case <-time.After(5 * time.Millisecond):
		}
	}
	_ = syscall.Kill(stopped, syscall.SIGKILL) // mpirun waits for the stopped process to end
	if err := <-end; err == nil || !strings.Contains(j.said(), "another rank or the link to it is lost") {
		t.Errorf("a rank that does not answer: %v\n%s", err, j.said())
	}
}
