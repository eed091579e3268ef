package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// operators are the changes that make mutants. A mutant has one of them in one place.
var operators = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b(?:b|warpB|clusterB)arrier\(\);`), ";"},
	{regexp.MustCompile(`\+= (step\(\)|threads\(\)|blocks[YZ]?\(\)|Team::(?:size|rows)\(\))`), "+= $1 + (1 << 30)"},
	{regexp.MustCompile(` < (\w)`), " <= $1"},
	{regexp.MustCompile(` (>=|<=) (\w)`), " == $2"},
	{regexp.MustCompile(` \+ (\w)`), " - $1"},
	{regexp.MustCompile(` - (\w)`), " + $1"},
	{regexp.MustCompile(` && `), " || "},
	{regexp.MustCompile(`\[(\w+)\]`), "[$1 ^ 1]"},
	{regexp.MustCompile(`\.add\([^()]*\);`), ";"},
	{regexp.MustCompile(`, sign, `), ", 1, "},
	{regexp.MustCompile(`\bif \(`), "if (!"},
}

// suites are the tests of files of kernels, whose names have a prefix.
var suites = []struct{ file, tests string }{
	{"affine", "Affine"}, {"attend", "Attention(Tensor|Tiles|Shares|OneMatrix|Scale|Masked|Pieces|Sequences|NotFinite|Unseen|Huge|Large|Growth|Bound)"}, {"attention", "Attention"}, {"binary", "Binary|Kernels|SmallGrids|Domain"}, {"bundle", "Bundle"}, {"camera", "Camera|Bundle"},
	{"cholesky", "Cholesky|Ahead"},
	{"conv", "Conv2D"}, {"elements", "Elementwise|SmallGrids"}, {"fft", "FFT"}, {"fixedmixture", "FixedLogPosterior|Mixture"},
	{"graph", "Graph|EqualDistances|SmallGrids"}, {"lu", "Solve|Ahead"}, {"map", "Elementwise|SameBits|NotFinite|Domain|FloatFunctions|LargeVectors"},
	{"matrix", "MatMul|Products|Affine|Cholesky|FixedBits"}, {"mixture", "LogPosterior|Mixture"}, {"norm", "Norm"}, {"optimiser", "Optimisers|SmallGrids"},
	{"product", "MatMul|Products|Cholesky"}, {"qr", "QR|SmallGrids"}, {"random", "Random"}, {"rownorm", "RowNorm"}, {"softmaxrows", "SoftmaxRows"},
	{"solve", "Solve"}, {"softmax", "Kernels|Softmax|LargeVectors|SmallGrids|FixedBits"}, {"sparse", "Mul|Cuts"}, {"stack", "TriSolve|Cholesky|Solve|QR|Products"},
	{"tensor", "MatMul|Products|Cholesky"}, {"trisolve", "TriSolve"}, {"unitary", "Unitary"}, {"vector", "Kernels|FixedBits|LargeVectors|SmallGrids|LargeFill|Stream"},
}

// A mutant is a change of a source file, tried in the file base.
type mutant struct {
	file, base, text, change, killed string
	line                             int
	races                            bool // if anything shows it, the sanitizer of threads
}

// places returns all mutants of a source, in an order by chance, such that the first ones have different operators.
func places(file, base, text string) (all []mutant) {
	h := fnv.New64()
	h.Write([]byte(file))
	rnd := rand.New(rand.NewPCG(h.Sum64(), 1))
	of := make([][]mutant, len(operators))
	lines := strings.SplitAfter(text, "\n")
	for n, line := range lines {
		code, _, _ := strings.Cut(line, "//")
		if strings.HasPrefix(code, "#") || strings.Contains(code, "template") {
			continue
		}
		for i, o := range operators {
			for _, at := range o.from.FindAllStringSubmatchIndex(code, -1) {
				changed := code[:at[0]] + string(o.from.ExpandString(nil, o.to, code, at)) + line[at[1]:]
				whole := strings.Join(lines[:n], "") + changed + strings.Join(lines[n+1:], "")
				of[i] = append(of[i], mutant{file: file, base: base, text: whole, line: n + 1, change: strings.TrimSpace(changed), races: i == 0})
			}
		}
	}
	rnd.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	for left := true; left; {
		left = false
		for i := range of {
			if len(of[i]) > 0 {
				at := rnd.IntN(len(of[i]))
				all = append(all, of[i][at])
				of[i] = append(of[i][:at], of[i][at+1:]...)
				left = true
			}
		}
	}
	return all
}

// write writes the sources and the PTX into a folder, with the mutant in place of its file.
func (m *mutant) write(folder string) (err error) {
	for _, pattern := range []string{"*.cu", "*.h", "*.ptx", "compile.sh"} {
		files, e := filepath.Glob(pattern)
		err = errors.Join(err, e)
		for _, f := range files {
			text, e := os.ReadFile(f)
			if f == m.file {
				text = []byte(m.text)
			}
			err = errors.Join(err, e, os.WriteFile(filepath.Join(folder, f), text, 0o755))
		}
	}
	return err
}

// with calls f with a folder that write has written, and one with what prepare makes of it.
func (m *mutant) with(f func(folder, host string) error) error {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	host := filepath.Join(folder, "host")
	err = errors.Join(m.write(folder), os.Mkdir(host, 0o755))
	if err == nil {
		err = prepare(folder, host)
	}
	if err == nil {
		err = f(folder, host)
	}
	return errors.Join(err, os.RemoveAll(folder))
}

// An original is a file of kernels without a change.
type original struct {
	base, tests string
	records     []string
	ptx         []byte
}

// newOriginal compiles a file, and runs its launches and tests. If one of these fails, it says nothing about
// mutants: the error is why.
func newOriginal(base, launches, test string) (o original, err error) {
	o.base = base
	if o.records, err = filepath.Glob(filepath.Join(launches, base, "*")); err != nil {
		return o, err
	}
	for _, s := range suites {
		if strings.HasPrefix(base, s.file) {
			o.tests = s.tests
			break
		}
	}
	if o.tests == "" {
		return o, fmt.Errorf("%s.cu has no tests in suites", base)
	}
	var m mutant
	err = m.with(func(folder, host string) (err error) {
		for sanitizer := range sanitizers {
			if len(o.records) > 0 {
				err = errors.Join(err, run(".", host, base, sanitizer, o.records))
			}
		}
		if err != nil {
			return err
		}
		if o.ptx, err = compile(folder, base); err != nil {
			return err
		}
		failed, err := failing(test, folder, o.tests)
		if failed != "" {
			err = errors.New(failed + " fails without a mutant")
		}
		return err
	})
	if err != nil {
		return o, fmt.Errorf("%s.cu: %w", base, err)
	}
	return o, nil
}

// compile returns the PTX of a file in a folder.
func compile(folder, base string) ([]byte, error) {
	cmd := exec.Command("bash", "compile.sh", base+".cu")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %w\n%s", errCompile, err, out)
	}
	return os.ReadFile(filepath.Join(folder, base+".ptx"))
}

// timeout is what finds a mutant that only takes too long, which may be right.
const timeout = "timeout"

// alarmed reports whether a program on the host ended because its launch took too long.
func alarmed(err error) bool {
	e, ended := errors.AsType[*exec.ExitError](err)
	return ended && e.Sys().(syscall.WaitStatus).Signal() == syscall.SIGALRM
}

// failing returns the test that fails with the PTX in a folder, timeout if the tests take too long, or nothing.
func failing(test, folder, tests string) (string, error) {
	cmd := exec.Command(test, "-test.failfast", "-test.timeout=10m", "-test.run=^Test.*("+tests+")")
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "REVNUM_PTX="+folder)
	out, err := cmd.CombinedOutput()
	failed := regexp.MustCompile(`(?m)^--- FAIL: (Test\w+)`).FindSubmatch(out)
	if failed == nil && bytes.Contains(out, []byte("panic: test timed out")) {
		return timeout, nil
	}
	if failed == nil { // a test that runs when the program ends
		failed = regexp.MustCompile(`(?m)^\t(Test\w+)`).FindSubmatch(out)
	}
	if failed != nil {
		return string(failed[1]), nil
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return "tests end: " + err.Error(), nil
	}
	if err == nil && bytes.Contains(out, []byte("no tests to run")) {
		err = fmt.Errorf("%s has no tests %s", test, tests)
	}
	return "", err
}

// try says in m.killed what finds a mutant: the recorded launches on the host with a sanitizer, or else a test in
// the interpreter. It returns false if the mutant does not compile or its PTX is that of the original.
func (m *mutant) try(o *original, test string) (ok bool, err error) {
	sanitizer := "memory"
	if m.races {
		sanitizer = "threads"
	}
	err = m.with(func(folder, host string) error {
		if len(o.records) > 0 {
			if err := run(".", host, m.base, sanitizer, o.records); errors.Is(err, errCompile) {
				return err
			} else if alarmed(err) { // tests may say more
				m.killed = timeout
			} else if err != nil {
				m.killed = "host, " + sanitizer
				return nil
			}
		}
		ptx, err := compile(folder, m.base)
		if err == nil && bytes.Equal(ptx, o.ptx) {
			err = errCompile
		}
		failed := ""
		if err == nil {
			failed, err = failing(test, folder, o.tests)
		}
		if failed != "" {
			m.killed = failed
		}
		return err
	})
	if errors.Is(err, errCompile) { // also of a warning, such as of a variable without a use
		return false, nil
	}
	return err == nil, err
}

// baseOf returns the shortest source that includes a header.
func baseOf(header string) string {
	files, _ := filepath.Glob("*.*") // the pattern is right
	best, least := "", 0
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(text, []byte(`#include "`+header+`"`)) || strings.Contains(f, "peak") {
			continue
		}
		base := strings.TrimSuffix(f, ".cu")
		if strings.HasSuffix(f, ".h") {
			base = baseOf(f)
		}
		if best == "" || len(text) < least {
			best, least = base, len(text)
		}
	}
	return best
}

// mutate tries n mutants of each source, and writes which of them were found and by what. Before that it tries the
// sources without a change. The kernels that measure the peak of a card have no tests.
func mutate(n int, only *regexp.Regexp, launches, test string, to io.Writer) error {
	tables, err := filepath.Abs("../../internal/fixedtables")
	if err = errors.Join(err, os.Setenv("REVNUM_FIXED", tables)); err != nil { // for compile.sh in other folders
		return err
	}
	var files, bases []string // bases[i] is tried for files[i]
	names, _ := filepath.Glob("*.*")
	for _, f := range names {
		base, source := strings.CutSuffix(f, ".cu")
		if header := strings.HasSuffix(f, ".h"); header {
			base = baseOf(f)
		} else if !source {
			continue
		}
		if only.MatchString(f) && base != "peak" {
			files, bases = append(files, f), append(bases, base)
		}
	}
	different := slices.Compact(slices.Sorted(slices.Values(bases)))
	originals := make([]original, len(different))
	err = each(len(different), func(i int) (err error) {
		originals[i], err = newOriginal(different[i], launches, test)
		return err
	})
	if err != nil {
		return err
	}
	w := csv.NewWriter(to)
	var held sync.Mutex
	err = each(len(files), func(i int) error {
		text, err := os.ReadFile(files[i])
		if err != nil {
			return err
		}
		at, _ := slices.BinarySearch(different, bases[i])
		count := 0
		for _, m := range places(files[i], bases[i], string(text)) {
			if count == n {
				break
			}
			ok, err := m.try(&originals[at], test)
			if err != nil {
				return fmt.Errorf("%s:%d: %w", m.file, m.line, err)
			}
			if ok {
				count++
				held.Lock()
				err = w.Write([]string{m.file, strconv.Itoa(m.line), m.change, m.killed})
				w.Flush()
				held.Unlock()
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
	return errors.Join(err, w.Error())
}
