package adbench_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSame compares files of numbers by the script that compares Jacobians with those of ADBench.
func TestSame(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"1\n-2.5e+3\n", "1\n-2500\n", true},
		{"1\n2\n", "1\n2.00000001\n", true},
		{"0\n", "9e-9\n", true},
		{"0\n", "2e-8\n", false},
		{"1\n2\n", "1\n2.000001\n", false},
		{"1\n2\n", "1\n-2\n", false},
		{"1\n2\n", "1\n", false},
		{"1\n", "1\n2\n", false},
		{"", "", false},
		{"nan\n", "nan\n", false},
		{"1\n", "nan\n", false},
		{"NaN\n", "1\n", false},
		{"1\n", "-nan\n", false},
		{"inf\n", "inf\n", false},
		{"inf\n", "1\n", false},
		{"1e999\n", "1\n", false},
		{"1\n", "1e308\n", false},
		{"1\n", "1x\n", false},
		{"1 1\n", "\n", false},
	} {
		var files []string
		for _, text := range []string{c.a, c.b} {
			path := filepath.Join(t.TempDir(), "numbers")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
		}
		out, err := exec.Command(sh, "../../adbench/same.sh", files[0], files[1]).CombinedOutput()
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) || len(out) > 0 {
			t.Fatalf("%q and %q: %v: %s", c.a, c.b, err, out)
		}
		if (err == nil) != c.same {
			t.Errorf("%q and %q: same is %v, want %v", c.a, c.b, err == nil, c.same)
		}
	}
}
