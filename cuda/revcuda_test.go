package cuda_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"revnum/cuda"
	"revnum/cuda/internal/revcuda"
	"revnum/program"
	"revnum/program/command"
	"revnum/revmodels/ba"
)

// execute runs a command that ends with the given status, and returns what it prints.
func execute(t *testing.T, root *cobra.Command, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := program.Execute(root, args, nil, &out, &errs); got != status {
		t.Fatalf("%s %q: exit status %d, want %d: %s", root.Name(), args, got, status, errs.String())
	}
	return out.String(), errs.String()
}

// interpreted returns revcuda on an interpreted device.
func interpreted(t *testing.T) *cobra.Command {
	t.Helper()
	return revcuda.New(func(n int) (*cuda.Device, error) {
		if n != 0 {
			return nil, fmt.Errorf("device %d of 1", n)
		}
		dev, used := cuda.Interpreter(t, 1<<22)
		t.Cleanup(func() {
			if n := used(); n != 0 {
				t.Errorf("the command leaves %d bytes", n)
			}
		})
		return dev, nil
	})
}

// sameText compares two texts. Their numbers may differ by 1e-8 of their size.
func sameText(t *testing.T, got, want string) {
	t.Helper()
	apart := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",[]():±", r) }
	g, w := strings.FieldsFunc(got, apart), strings.FieldsFunc(want, apart)
	if len(g) != len(w) {
		t.Fatalf("found\n%s\nwant\n%s", got, want)
	}
	for i := range g {
		x, err1 := strconv.ParseFloat(g[i], 64)
		y, err2 := strconv.ParseFloat(w[i], 64)
		if g[i] != w[i] && (err1 != nil || err2 != nil || !(math.Abs(x-y) <= 1e-8*(1+math.Abs(y)))) {
			t.Fatalf("found %s in\n%s\nwant %s in\n%s", g[i], got, w[i], want)
		}
	}
}

// duration is the time that a fit took.
var duration = regexp.MustCompile(`\b[0-9.e-]+ ?(s|ms|µs)\b`)

func bundleFile(t *testing.T) string {
	t.Helper()
	p, _, err := ba.Generate(&ba.GenerateOptions{Cameras: 4, Points: 24, Observations: 84, Noise: 0.5, Start: 0.002})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ring.txt")
	if err := ba.WriteFile(path, p); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestRevcuda runs the commands that fit on a device, and compares what they print and write with
// those of the host.
func TestRevcuda(t *testing.T) {
	problem := bundleFile(t)
	rnd := rand.New(rand.NewPCG(3, 4))
	data := filepath.Join(t.TempDir(), "data.csv")
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "%.4f,%.4f\n", rnd.NormFloat64()+4*float64(i%2), rnd.NormFloat64())
	}
	if err := os.WriteFile(data, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	onHost := func() *cobra.Command {
		return program.Group("host", "", program.Group("ba", "", command.BASolve("", nil)), program.Group("gmm", "", command.GMMFit("", nil)))
	}
	for _, args := range [][]string{
		{"ba", "solve", problem, "--method", "cg", "--loss", "huber", "--fix-points", "1..2", "--covariance", "also"},
		{"ba", "solve", problem, "--method", "cholesky", "--fix-cameras", "0", "--max-iter", "3"},
		{"gmm", "fit", data, "-k", "1..2", "--tolerance", "1e-6", "--covariance", "tied"},
	} {
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			var printed, written [2]string
			for i, root := range []*cobra.Command{onHost(), interpreted(t)} {
				t.Chdir(t.TempDir())
				out, errs := execute(t, root, 0, append(args, "--out", "result")...)
				if errs != "" {
					t.Errorf("progress, but not on a terminal: %s", errs)
				}
				printed[i], written[i] = duration.ReplaceAllString(out, "time"), read(t, "result")
				if strings.Contains(out, "written to also") {
					first, _, _ := strings.Cut(read(t, "also"), "\n")
					printed[i] += first
				}
			}
			sameText(t, printed[1], printed[0])
			sameText(t, written[1], written[0])
		})
	}
}

// TestRevcudaBench measures one kernel.
func TestRevcudaBench(t *testing.T) {
	out, _ := execute(t, interpreted(t), 0, "bench", "--size", "16", "--reps", "1", "--kernel", "^Axpy$")
	var lines []string
	for line := range strings.Lines(out) {
		lines = append(lines, strings.Join(strings.Fields(line)[:2], " "))
	}
	if want := []string{"interpreter, compute", "kernel µs", "Axpy Forward", "Axpy Inverse", "Axpy Adjoint", "Axpy Tangent"}; !slices.Equal(slices.DeleteFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "copy") || strings.HasPrefix(l, "multiply-add")
	}), want) {
		t.Errorf("found %q, want %q and the peaks", lines, want)
	}
}

// interruptSoon interrupts the command that begins next. The channel is closed afterwards.
func interruptSoon(t *testing.T) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		for t.Context().Err() == nil && !program.Interrupt() { // it has not begun
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return done
}

// TestRevcudaInterrupt interrupts a solution on a device. The best point so far is written.
func TestRevcudaInterrupt(t *testing.T) {
	problem, out := bundleFile(t), filepath.Join(t.TempDir(), "solved.txt")
	done := interruptSoon(t)
	stdout, stderr := execute(t, interpreted(t), 130, "ba", "solve", problem, "--out", out,
		"--max-iter", "1000000", "--cost-tol", "0", "--gradient-tol", "0", "--step-tol", "0")
	<-done
	if stderr != "interrupted\n" || !strings.Contains(stdout, "cancelled after") {
		t.Errorf("%s, %s", stdout, stderr)
	}
	if _, err := ba.ReadFile(out); err != nil {
		t.Error(err)
	}
}

// TestRevcudaBenchInterrupt interrupts a benchmark. It prints no rates.
func TestRevcudaBenchInterrupt(t *testing.T) {
	done := interruptSoon(t)
	stdout, stderr := execute(t, interpreted(t), 130, "bench", "--size", "4096", "--reps", "3")
	<-done
	if stderr != "interrupted\n" || stdout != "" {
		t.Errorf("%s, %s", stdout, stderr)
	}
}

// TestRevcudaErrors has no device, or one too few, or a file that cannot be read.
func TestRevcudaErrors(t *testing.T) {
	problem := bundleFile(t)
	none := func() *cobra.Command {
		return revcuda.New(func(int) (*cuda.Device, error) {
			return nil, fmt.Errorf("%w: for a test", cuda.ErrUnavailable)
		})
	}
	for _, c := range []struct {
		root *cobra.Command
		args []string
		want string
	}{
		{none(), []string{"bench"}, "cuda: no device: for a test"},
		{none(), []string{"bench", "--size", "0"}, "--size: expected an integer from 1 to 1073741824, found \"0\""},
		{none(), []string{"bench", "--reps", "0"}, "--reps: expected an integer from 1 to 1048576, found \"0\""},
		{none(), []string{"ba", "solve", problem, "--device", "-1"}, "--device: expected an integer from 0 to 1023, found \"-1\""},
		{none(), []string{"bench", "--kernel", "("}, "--kernel: error parsing regexp"},
		{interpreted(t), []string{"bench", "--size", "4", "--kernel", "dot"}, "no kernel has a name that matches dot"},
		{none(), []string{"bench", "x"}, `unknown command "x"`},
		{none(), []string{"ba", "solve", problem}, "cuda: no device: for a test"},
		{none(), []string{"gmm", "fit", problem}, "cuda: no device: for a test"},
		{interpreted(t), []string{"ba", "solve", problem, "--device", "1"}, "device 1 of 1"},
		{interpreted(t), []string{"ba", "solve", problem + "x"}, "no such file"},
		{interpreted(t), []string{"gmm", "fit", problem + "x"}, "no such file"},
	} {
		stdout, stderr := execute(t, c.root, 1, c.args...)
		if !strings.HasPrefix(stderr, "revcuda: ") || !strings.Contains(stderr, c.want) || stdout != "" {
			t.Errorf("%q: %s, %s, want %s", c.args, stdout, stderr, c.want)
		}
	}
}
