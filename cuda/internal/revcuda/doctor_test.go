package revcuda

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"revnum/program"
)

// aDriver is a libcuda.so.1 with one old device and one new one.
const aDriver = `#include <string.h>
int cuInit(unsigned f) { return (int)f; }
int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
int cuDeviceGetCount(int *n) { *n = DEVICES; return 0; }
int cuDeviceGetName(char *s, int n, int i) { strncpy(s, i ? "new card" : "old card", n); return 0; }
int cuDeviceGetAttribute(int *v, int a, int i) { *v = a == 76 ? 0 : i ? 9 : 7; return 0; }
`

// TestDoctor examines machines that have nothing, a header, a header of another version, and drivers.
func TestDoctor(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("there is no C compiler")
	}
	machine := func(version, devices string) string { // returns a toolkit with a driver
		dir := t.TempDir()
		for _, sub := range []string{"include", "lib64/stubs"} {
			if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if version != "" {
			if err := os.WriteFile(filepath.Join(dir, "include/cuda.h"), []byte("#define CUDA_VERSION "+version+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if devices != "" {
			stubs := filepath.Join(dir, "lib64/stubs")
			cmd := exec.Command("gcc", "-shared", "-fPIC", "-DDEVICES="+devices, "-xc", "-", "-o", filepath.Join(stubs, "libcuda.so.1"))
			cmd.Stdin = strings.NewReader(aDriver)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := os.Symlink("libcuda.so.1", filepath.Join(stubs, "libcuda.so")); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	defer func(before []string) { toolkits = before }(toolkits)
	t.Setenv("CGO_CFLAGS", "")
	t.Setenv("CGO_LDFLAGS", "")
	for _, c := range []struct {
		name, version, devices string
		loaded                 bool // whether programs find the driver
		cc                     string
		stdout, stderr         []string
	}{
		{name: "nothing", cc: "/no/cc", stdout: []string{"compiler  none: "}, stderr: []string{"not ready for a GPU: install gcc"}},
		{
			name: "compiler", cc: "gcc",
			stdout: []string{"compiler  gcc", "header    none: cuda.h is not there", "library   none: ", "driver    none: libcuda.so.1"},
			stderr: []string{"CUDA toolkit 11, 12 or 13", "the stubs of the CUDA toolkit", "install NVIDIA's driver"},
		},
		{
			name: "header", cc: "gcc", version: "12040",
			stdout: []string{"header    CUDA 12.4, ", "include/cuda.h", "library   none: "}, stderr: []string{"a CUDA driver, or the stubs"},
		},
		{name: "old header", cc: "gcc", version: "10020", devices: "2", loaded: true, stdout: []string{"cuda.h is of CUDA 10.2"}, stderr: []string{"a cuda.h of CUDA 11 to 13"}},
		{name: "new header", cc: "gcc", version: "14000", stdout: []string{"cuda.h is of CUDA 14.0"}, stderr: []string{"a cuda.h of CUDA 11 to 13"}},
		{
			name: "CUDA 13", cc: "gcc", version: "13050", devices: "2", loaded: true,
			stdout: []string{"header    CUDA 13.5, ", "type      export CGO_CFLAGS=\"'-I$PWD/include' $CGO_CFLAGS\"\ntype      export CGO_CFLAGS=\"$CGO_CFLAGS '-I"},
		},
		{name: "stubs", cc: "gcc", version: "11080", devices: "2", stdout: []string{"CUDA 11.8", "the linker finds -lcuda in ", "driver    none: "}, stderr: []string{"not ready for a GPU: install NVIDIA's driver"}},
		{name: "no device", cc: "gcc", version: "11080", devices: "0", loaded: true, stdout: []string{"device    none: "}, stderr: []string{"compute capability 7.5 or later"}},
		{name: "old card", cc: "gcc", version: "11080", devices: "1", loaded: true, stdout: []string{"device 0  old card, compute capability 7.0, too old"}, stderr: []string{"compute capability 7.5 or later"}},
		{
			name: "all", cc: "gcc", version: "12040", devices: "2", loaded: true,
			stdout: []string{"driver    for CUDA 12.4", "device 1  new card, compute capability 9.0\n", `export CGO_CFLAGS="$CGO_CFLAGS '-I`, `export CGO_LDFLAGS="$CGO_LDFLAGS '-L`, "type      go run -tags cuda ./cmd/revcuda bench"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := machine(c.version, c.devices)
			toolkits = []string{dir}
			t.Setenv("CC", c.cc)
			path := ""
			if c.loaded {
				path = filepath.Join(dir, "lib64/stubs")
			}
			t.Setenv("LD_LIBRARY_PATH", path)
			var stdout, stderr bytes.Buffer
			root := program.Group("revcuda", "", newDoctor())
			status := program.Execute(root, []string{"doctor"}, nil, &stdout, &stderr)
			if (status == 0) != (c.stderr == nil) {
				t.Errorf("exit status %d", status)
			}
			for _, want := range c.stdout {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("no %q in\n%s", want, stdout.String())
				}
			}
			for _, want := range c.stderr {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("no %q in %s", want, stderr.String())
				}
			}
			if status != 0 && strings.Contains(stdout.String(), "type ") {
				t.Errorf("a command for a machine that is not ready:\n%s", stdout.String())
			}
		})
	}
}
