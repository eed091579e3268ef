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

	"revnum/cluster/shard"
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

// mpirun returns a run of the program on the given number of ranks.
func mpirun(ranks int, args ...string) *exec.Cmd {
	all := append(slices.Clone(launcher[1:]), "-n", fmt.Sprint(ranks), program)
	cmd := exec.Command(launcher[0], append(all, args...)...)
	cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "GOMAXPROCS=1")
	return cmd
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
		if err := shard.WriteNpy(filepath.Join(dir, fmt.Sprintf("%d.npy", part)), rows, 4, x); err != nil {
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
		out := filepath.Join(dir, "model.json")
		cmd := mpirun(ranks, "gmm", "fit", "--shards", pattern, "-k", "5", "--out", out, "--block", "500")
		cmd.Env = append(cmd.Env, env...)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%d ranks, %v: %v\n%s", ranks, env, err, text)
		}
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
	cmd := mpirun(2, "gmm", "fit", "--shards", pattern, "-k", "2")
	cmd.Env = append(cmd.Env, "REVCLUSTER_DIRECT=17")
	if text, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(text), "directly up to 17 ranks, expected 0 to 16") {
		t.Errorf("direct messages of 17 ranks: %v\n%s", err, text)
	}
	text, err := mpirun(3, "gmm", "fit", "--shards", pattern, "-k", "2").CombinedOutput()
	if err == nil || strings.Count(string(text), "1.npy: 300×4 numbers are 9600 bytes") != 1 {
		t.Errorf("a file that is cut off: %v\n%s", err, text)
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
// The status must not be 0. The fit then resumes from the checkpoint on another number of
// ranks, and must end with the bits of a fit that was not stopped.
//
// The signal does not go through mpirun. Open MPI's passes it on after a second, when these
// fits are over, and MPICH's lost the status of the ranks once.
func TestStopped(t *testing.T) {
	dir, pattern := shards(t, 20000)
	problem, _, err := ba.Generate(&ba.GenerateOptions{Layout: ba.City, Cameras: 60, Points: 12000, Observations: 60000, Noise: 0.5, Start: 0.003})
	if err != nil {
		t.Fatal(err)
	}
	bundle := filepath.Join(dir, "problem.txt")
	if err := ba.WriteFile(bundle, problem); err != nil {
		t.Fatal(err)
	}
	fits := map[string][]string{
		"gmm": {"gmm", "fit", "--shards", pattern, "-k", "8", "--tolerance", "1e-300", "--max-iter", "600", "--block", "1000", "--workers", "1"},
		"ba":  {"ba", "solve", bundle, "--cost-tolerance", "-1", "--forcing", "1e-3", "--max-iter", "25", "--block", "1000", "--workers", "1"},
	}
	for name, fit := range fits {
		args := func(more ...string) []string { return append(slices.Clone(fit), more...) }
		uninterrupted := filepath.Join(dir, name+"-want")
		if text, err := mpirun(1, args("--out", uninterrupted)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want, err := os.ReadFile(uninterrupted)
		if err != nil {
			t.Fatal(err)
		}
		for how, stop := range map[string]struct {
			signal syscall.Signal
			ranks  []int
			says   string
		}{
			"a killed rank": {syscall.SIGKILL, []int{2}, "signal 9"},
			"an interrupt":  {syscall.SIGINT, []int{2, 1, 0}, "\ninterrupted\n"},
		} {
			folder := t.TempDir()
			out, checkpoint := filepath.Join(folder, "out"), filepath.Join(folder, "checkpoint.json")
			cmd := mpirun(3, args("--checkpoint", checkpoint, "--every", "2")...)
			var text bytes.Buffer
			cmd.Stdout, cmd.Stderr = &text, &text
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
				if _, err := os.Stat(checkpoint); err == nil {
					break
				}
				if time.Since(begin) > time.Minute {
					t.Fatalf("no checkpoint after a minute\n%s", &text)
				}
			}
			for _, rank := range stop.ranks {
				process := processOf(rank)
				if process == 0 {
					t.Fatalf("%s with %s: the fit was over before rank %d could be stopped", name, how, rank)
				}
				if err := syscall.Kill(process, stop.signal); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Wait(); err == nil || !strings.Contains(text.String(), stop.says) {
				t.Fatalf("%s with %s: %v\n%s", name, how, err, &text)
			}
			var state struct {
				State map[string]any `json:"state"`
			}
			if b, err := os.ReadFile(checkpoint); err != nil || json.Unmarshal(b, &state) != nil || len(state.State) == 0 {
				t.Fatalf("%s with %s: no whole checkpoint (%v)", name, how, err)
			}
			if n, ok := state.State["iteration"].(float64); ok && n > 20 {
				t.Errorf("%s with %s: it was stopped after %v iterations, which is late", name, how, n)
			}
			if text, err := mpirun(2, args("--checkpoint", checkpoint, "--out", out)...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got, err := os.ReadFile(out); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s with %s: another result than without (%v)", name, how, err)
			}
			if text, err := mpirun(2, args("--checkpoint", checkpoint, "--block", "999")...).CombinedOutput(); err == nil || !strings.Contains(string(text), "a checkpoint of another fit") {
				t.Errorf("a checkpoint of other blocks: %v\n%s", err, text)
			}
		}
	}
}

// TestLostLink stops a rank, so that it does not answer. The others must give up.
func TestLostLink(t *testing.T) {
	_, pattern := shards(t, 20000)
	cmd := mpirun(2, "gmm", "fit", "--shards", pattern, "-k", "8", "--tolerance", "1e-300", "--max-iter", "100000", "--workers", "1")
	cmd.Env = append(cmd.Env, "REVCLUSTER_PATIENCE=1s")
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	pid := processOf(1)
	if pid == 0 {
		t.Fatalf("rank 1 is not there\n%s", &text)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	go func() { // mpirun waits for the stopped process to end
		time.Sleep(3 * time.Second)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}()
	if err := cmd.Wait(); err == nil || !strings.Contains(text.String(), "another rank or the link to it is lost") {
		t.Errorf("a rank that does not answer: %v\n%s", err, &text)
	}
}
