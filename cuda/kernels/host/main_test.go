package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRewrite(t *testing.T) {
	for from, want := range map[string]string{
		`asm volatile("wait.all;" ::: "memory");`:                                  `wait_all();`,
		`if (x) asm("a.b %0, [%1], 16;" : "=d"(y[i]) : "l"(f(p)), "n"(3));`:        `if (x) a_b(y[i], f(p), 3);`,
		"asm volatile(\"m.f64 {%0, %1};\"\n\t: \"+d\"(d[0][1]) : \"d\"(a));\nb();": "m_f64(d[0][1], a);\nb();",
	} {
		if got := rewrite(from); got != want {
			t.Errorf("%s becomes %s, want %s", from, got, want)
		}
	}
}

const sum = `#include "number.h"
KERNEL sumF64(double *to, const double *x, float scale) {
	double s = blockSum(Sum<double>{x[threadX()]}).v;
	if (threadX() == 0) to[blockX()] = s * scale;
}
`

// TestHost runs a sum over two warps, and versions of it with a barrier less, an access outside
// memory, a sum that wraps, and another result.
func TestHost(t *testing.T) {
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("there is no clang++-19")
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	number, err := os.ReadFile("../number.h")
	check(err)
	here, err := filepath.Abs("gpu")
	check(err)

	const threads, blocks, to, x = 64, 2, 1 << 40, 1<<40 + 1<<20
	words := []uint64{blocks, 1, 1, threads, 1, 1, 3, to, x, uint64(math.Float32bits(0.5)), 2, to, 8 * blocks}
	var before, after, numbers []byte
	total := 0.0
	for i := range threads {
		total += float64(i)
		numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(float64(i)))
	}
	for range blocks {
		before = binary.LittleEndian.AppendUint64(before, 0)
		after = binary.LittleEndian.AppendUint64(after, math.Float64bits(total/2))
	}
	record := append(binary.LittleEndian.AppendUint64(nil, 6), "sumF64"...)
	for _, w := range words {
		record = binary.LittleEndian.AppendUint64(record, w)
	}
	record = append(append(record, before...), after...)
	record = binary.LittleEndian.AppendUint64(record, x)
	record = binary.LittleEndian.AppendUint64(record, uint64(len(numbers)))
	record = append(append(record, numbers...), numbers...)

	for name, c := range map[string]struct{ file, old, new, want string }{
		"right":           {},
		"barrier":         {"number.h", "\tbarrier();\n", "", "data race"},
		"order of blocks": {"sum.cu", "to[blockX()]", "to[0]", "want"},
		"result":          {"sum.cu", "* scale", "* scale + 1", "want"},
		"outside":         {"sum.cu", "x[threadX()]", "x[threadX() + 1]", "heap-buffer-overflow"},
		"overflow":        {"sum.cu", "= s * scale", "= s * scale + (__INT_MAX__ + (int)threads()) * 0", "signed integer overflow"},
	} {
		t.Run(name, func(t *testing.T) {
			from, records := t.TempDir(), t.TempDir()
			check(os.MkdirAll(filepath.Join(from, "host"), 0o755))
			check(os.Symlink(here, filepath.Join(from, "host", "gpu")))
			check(os.MkdirAll(filepath.Join(records, "sum"), 0o755))
			for file, text := range map[string]string{"number.h": string(number), "sum.cu": sum, "sum.ptx": ".visible .entry sumF64(\n", "compile.sh": ""} {
				if file == c.file {
					if !strings.Contains(text, c.old) {
						t.Fatalf("%s lacks %q", file, c.old)
					}
					text = strings.Replace(text, c.old, c.new, 1)
				}
				check(os.WriteFile(filepath.Join(from, file), []byte(text), 0o644))
			}
			check(os.WriteFile(filepath.Join(records, "sum", "sumF64-1"), record, 0o644))
			launches, err := runAll(from, records)
			if c.want == "" && (err != nil || launches != 1) {
				t.Errorf("%d launches: %v", launches, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestPlaces looks for mutants of a line, but not of its comment.
func TestPlaces(t *testing.T) {
	const loop = "for (i64 i = first(); i < n; i += step()) s.add(x[i]); barrier(); // i < n"
	var got []string
	for _, m := range places("a.cu", "a", "KERNEL a() {\n\t"+loop+"\n}\n") {
		if m.line != 2 || m.text != "KERNEL a() {\n\t"+m.change+"\n}\n" || m.races != !strings.Contains(m.change, "barrier") {
			t.Errorf("%+v", m)
		}
		got = append(got, m.change)
	}
	slices.Sort(got)
	want := []string{
		strings.Replace(loop, "barrier();", ";", 1),
		strings.Replace(loop, "step())", "step() + (1 << 30))", 1),
		strings.Replace(loop, "i < n", "i <= n", 1),
		strings.Replace(loop, "[i]", "[i ^ 1]", 1),
		strings.Replace(loop, ".add(x[i]);", ";", 1),
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("mutants %q, want %q", got, want)
	}
}

// TestAlarmed tells a program that its alarm ends from one that fails.
func TestAlarmed(t *testing.T) {
	if err := exec.Command("sh", "-c", "kill -ALRM $$").Run(); !alarmed(fmt.Errorf("sum: %w", err)) {
		t.Error(err)
	}
	for _, err := range []error{exec.Command("sh", "-c", "exit 1").Run(), exec.Command("sh", "-c", "kill -ABRT $$").Run(), nil} {
		if alarmed(err) {
			t.Error(err)
		}
	}
}

// TestMutate has a compiler that copies, and tests that compare with the source. It changes one or the other such
// that no answer would be true.
func TestMutate(t *testing.T) {
	const (
		compiler = "[ $1 = tables ] || cp $1 ${1%.cu}.ptx\n"
		tests    = "cmp -s $REVNUM_PTX/sum.ptx kernels/sum.cu || { echo '--- FAIL: TestSum (0.00s)'; exit 1; }\n"
	)
	defer func() { suites = suites[1:] }()
	suites = slices.Insert(suites, 0, struct{ file, tests string }{"sum", "Sum"})
	const slow = "cmp -s $REVNUM_PTX/sum.ptx kernels/sum.cu || { printf 'panic: test timed out after 10m0s\n\trunning tests:\n\t\tTestSum (0.00s)\n'; exit 2; }\n"
	failsThenSlow := strings.Replace(slow, "{", "{ echo '--- FAIL: TestSum (0.00s)';", 1)
	for name, c := range map[string]struct{ file, compiler, tests, want string }{
		"right":          {"sum", compiler, tests, ""},
		"failing, slow":  {"sum", compiler, failsThenSlow, ""},
		"slow":           {"sum", compiler, slow, ""},
		"no compiler":    {"sum", "[ $1 = tables ]\n", tests, "does not compile"},
		"no tests":       {"sum", compiler, "", "no such file"},
		"none of a name": {"sum", compiler, "echo 'testing: warning: no tests to run'\n", "has no tests Sum"},
		"failing tests":  {"sum", compiler, "exit 1\n", "without a mutant"},
		"no suite":       {"other", compiler, tests, "has no tests in suites"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			test := filepath.Join(folder, "cuda.test")
			t.Setenv("REVNUM_FIXED", "") // which mutate sets
			err := os.Mkdir(filepath.Join(folder, "kernels"), 0o755)
			t.Chdir(filepath.Join(folder, "kernels"))
			for file, text := range map[string]string{c.file + ".cu": sum, "compile.sh": c.compiler, test: "#!/bin/sh\n" + c.tests} {
				if text != "#!/bin/sh\n" {
					err = errors.Join(err, os.WriteFile(file, []byte(text), 0o755))
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			var found strings.Builder
			err = mutate(1, regexp.MustCompile(""), "no launches", test, &found)
			by := map[string]string{tests: "TestSum", failsThenSlow: "TestSum", slow: timeout}[c.tests]
			if c.want == "" && (err != nil || !strings.HasSuffix(found.String(), ","+by+"\n")) {
				t.Errorf("found %q: %v", &found, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || found.Len() > 0) {
				t.Errorf("found %q: got %v, want %q", &found, err, c.want)
			}
		})
	}
}
