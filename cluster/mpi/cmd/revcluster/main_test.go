package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"revnum/cluster/shard"
)

// program is the path of the command, which TestMain builds.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if _, err := exec.LookPath("mpirun"); err != nil {
		fmt.Println("skipped: there is no mpirun")
		return 0
	}
	dir, err := os.MkdirTemp("", "revcluster")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "revcluster")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Printf("%s%v\n", out, err)
		return 1
	}
	return m.Run()
}

// mpirun returns a run of the program on the given number of ranks.
func mpirun(ranks int, args ...string) *exec.Cmd {
	all := append([]string{"--oversubscribe", "-n", fmt.Sprint(ranks), program}, args...)
	cmd := exec.Command("mpirun", all...)
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

// TestRanks fits on 1, 2 and 3 ranks, and wants the same file.
func TestRanks(t *testing.T) {
	dir, pattern := shards(t, 3000)
	var want []byte
	for ranks := 1; ranks <= 3; ranks++ {
		out := filepath.Join(dir, "model.json")
		if text, err := mpirun(ranks, "gmm", "fit", "--shards", pattern, "-k", "5", "--out", out, "--block", "500").CombinedOutput(); err != nil {
			t.Fatalf("%d ranks: %v\n%s", ranks, err, text)
		}
		got, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d ranks: another model than on one", ranks)
		}
	}
}

// TestErrors wants one message and a non-zero status.
func TestErrors(t *testing.T) {
	dir, pattern := shards(t, 300)
	short := filepath.Join(dir, "1.npy")
	if err := os.Truncate(short, 1000); err != nil {
		t.Fatal(err)
	}
	text, err := mpirun(3, "gmm", "fit", "--shards", pattern, "-k", "2").CombinedOutput()
	if err == nil || strings.Count(string(text), "1.npy: 300×4 numbers are 9600 bytes") != 1 {
		t.Errorf("a file that is cut off: %v\n%s", err, text)
	}
}

// processOf returns the process of a rank of the given mpirun, or 0 if there is none.
func processOf(parent, rank int) int {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range list {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var pid, of int
		var name, state string
		if _, err := fmt.Sscan(string(stat), &pid, &name, &state, &of); err != nil || of != parent {
			continue
		}
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(env, fmt.Appendf(nil, "OMPI_COMM_WORLD_RANK=%d\x00", rank)) {
			return pid
		}
	}
	return 0
}

// TestKilledRank kills a rank in the middle of a fit. The fit must end with a message.
// Then it resumes from the checkpoint on another number of ranks, and must end with the
// bits of a fit that was not killed.
func TestKilledRank(t *testing.T) {
	dir, pattern := shards(t, 20000)
	args := func(out string, more ...string) []string {
		return append([]string{
			"gmm", "fit", "--shards", pattern, "-k", "8", "--tolerance", "1e-300", "--max-iter", "60", "--block", "1000", "--workers", "1",
			"--out", filepath.Join(dir, out),
		}, more...)
	}
	if text, err := mpirun(1, args("want.json")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	checkpoint := filepath.Join(dir, "checkpoint.json")
	cmd := mpirun(3, args("got.json", "--checkpoint", checkpoint, "--every", "3")...)
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
			t.Fatal("no checkpoint after a minute")
		}
	}
	if pid := processOf(cmd.Process.Pid, 2); pid == 0 {
		t.Fatal("rank 2 is not there")
	} else if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(text.String(), "signal 9") {
		t.Fatalf("with a killed rank: %v\n%s", err, &text)
	}
	if _, err := os.Stat(filepath.Join(dir, "got.json")); err == nil {
		t.Fatal("the fit was over before the rank was killed")
	}
	if text, err := mpirun(2, args("got.json", "--checkpoint", checkpoint)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want, err := os.ReadFile(filepath.Join(dir, "want.json"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "got.json")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("another model than that of a fit that was left alone (%v)", err)
	}
	if text, err := mpirun(2, append(args("got.json", "--checkpoint", checkpoint), "--seed", "9")...).CombinedOutput(); err == nil || !strings.Contains(string(text), "a checkpoint of another fit") {
		t.Errorf("a checkpoint of another seed: %v\n%s", err, text)
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
	pid := processOf(cmd.Process.Pid, 1)
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
