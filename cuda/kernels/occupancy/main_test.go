package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOccupy(t *testing.T) {
	for _, c := range []struct {
		arch, threads, registers, shared int
		warps                            int
	}{
		{90, 256, 32, 0, 64},
		{90, 256, 33, 0, 48}, // 40 registers, 12 warps of a part
		{90, 256, 255, 0, 8}, // 8 registers more than a part has for two warps
		{90, 32, 16, 0, 32},  // 32 blocks
		{90, 64, 255, 0, 8},
		{90, 128, 32, 48 << 10, 16}, // four blocks, with 1 kB each for the system
		{80, 128, 32, 48 << 10, 12}, // three blocks
		{75, 256, 32, 48 << 10, 8},  // one block
		{75, 256, 64, 0, 32},
		{120, 256, 32, 0, 48},
		{120, 1024, 32, 0, 32},
		{90, 1024, 96, 0, 0}, // does not run
	} {
		for _, m := range multiprocessors {
			r := row{threads: c.threads, registers: c.registers, shared: c.shared}
			if m.occupy(&r); m.arch == c.arch && (r.warps != c.warps || r.percent != 100*c.warps/m.warps) {
				t.Errorf("%+v: %d warps are resident, %d %%", c, r.warps, r.percent)
			}
		}
	}
}

// TestRun has an assembler that prints and writes what files beside it have.
func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("ptxas", `#!/bin/sh
# -v --warning-as-error -arch=sm_N -o to file [-fmad=false]
cat printed; cat code$7 >"$5"
`)
	for _, name := range []string{"printed", "code", "code-fmad=false", "a.ptx", "b_sm80.ptx"} {
		write(name, "")
	}
	printed := func(registers, stack, spills string) {
		write("printed", `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'one' for 'sm_90'
ptxas info    : Function properties for one
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 128 bytes smem
ptxas info    : Compiling entry function 'two' for 'sm_90'
ptxas info    : Function properties for two
    `+stack+` bytes stack frame, `+spills+` bytes spill stores, 7 bytes spill loads
ptxas info    : Used `+registers+` registers, used 0 barriers
`)
	}
	defer func(s, i []exception) { spilling, idle = s, i }(spilling, idle)
	spilling, idle = []exception{{"two", "a test"}}, nil
	a := assembler{filepath.Join(must(os.Getwd())(t), "ptxas"), t.TempDir()}
	check := func(write bool, want string, files ...string) {
		t.Helper()
		err := run(a, files, write)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	printed("32", "16", "4")
	check(false, "no such file")
	check(true, "")
	check(false, "")
	text := string(must(os.ReadFile(table))(t))
	for _, line := range []string{
		"file,entry,arch,threads,registers,stack,spills,shared,warps,percent\n",
		"a.ptx,one,90,256,40,0,0,128,48,75\n",
		"a.ptx,two,90,256,32,16,7,0,64,100\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	if lines := strings.Count(text, "\n"); lines != 1+2*5+2*4 {
		t.Errorf("%d lines, want no lines of sm_75 for a file that needs sm_80:\n%s", lines, text)
	}

	printed("33", "16", "4")
	check(false, "two on sm_90: the occupancy falls from 100 to 75 %")
	check(true, "", "a.ptx")
	check(false, "", "a.ptx")
	check(false, "two on sm_90: the occupancy falls", "b_sm80.ptx")
	printed("255", "16", "4")
	check(true, "two on sm_90 leaves much idle")
	idle = []exception{{"tw.", "a test"}, {"on", "no whole name"}}
	check(true, "no entry of on leaves much idle")
	spilling, idle = nil, idle[:1]
	check(false, "two on sm_90 has a stack frame")
	spilling = []exception{{"two", "a test"}}
	check(false, "")
	write("code", "fused")
	check(false, "ptxas fuses")
	write("code", "")
	if err := os.Remove("code"); err != nil {
		t.Fatal(err)
	}
	check(false, "exit status 1")
	write("code", "")
	write("printed", "")
	check(false, "two on sm_90 is in the table, but not in a.ptx")
	write(table, "none")
	check(true, "not the table")
}

// must returns a value, or ends the test with an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
