package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// operators are the changes that make mutants. A mutant has one of them in one place.
var operators = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`\b(?:b|warpB)arrier\(\);`), ";"},
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
	{"affine", "Affine"}, {"attention", "Attention"}, {"binary", "Binary|Kernels|SmallGrids|Domain"}, {"bundle", "Bundle"}, {"camera", "Camera|Bundle"},
	{"conv", "Conv2D"}, {"elements", "Elementwise|SmallGrids"}, {"fft", "FFT"}, {"fixedmixture", "FixedLogPosterior|Mixture"},
	{"graph", "Graph|EqualDistances"}, {"lu", "Solve"}, {"map", "Elementwise|SameBits|NotFinite|Domain|FloatFunctions"},
	{"matrix", "MatMul|Products|Affine|FixedBits"}, {"mixture", "LogPosterior|Mixture"}, {"norm", "Norm"}, {"optimiser", "Optimisers|SmallGrids"},
	{"product", "MatMul|Products"}, {"qr", "QR"}, {"random", "Random"}, {"rownorm", "RowNorm"}, {"softmaxrows", "SoftmaxRows"},
	{"softmax", "Kernels|Softmax|LargeVectors|SmallGrids|FixedBits"}, {"sparse", "Mul|Cuts"}, {"stack", "TriSolve|Cholesky|Solve|QR|Products"},
	{"tensor", "MatMul|Products"}, {"unitary", "Unitary"}, {"vector", "Kernels|FixedBits|LargeVectors|SmallGrids|LargeFill|Stream"},
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

// try says in m.killed what finds a mutant: the recorded launches on the host with a sanitizer, or else a test in
// the interpreter. It returns false if the mutant does not compile or its PTX is that of the source.
func (m *mutant) try(test string, records []string) (ok bool, err error) {
	folder, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := m.write(folder); err != nil {
		return false, err
	}
	sources, err := os.MkdirTemp(folder, "host")
	if err = errors.Join(err, prepare(folder, sources)); err != nil {
		return false, err
	}
	sanitizer := "memory"
	if m.races {
		sanitizer = "threads"
	}
	if len(records) > 0 {
		if err := run(".", sources, m.base, sanitizer, records); errors.Is(err, errCompile) {
			return false, nil
		} else if err != nil {
			m.killed = "host, " + sanitizer
			return true, nil
		}
	}
	cmd := exec.Command("bash", "compile.sh", m.base+".cu")
	cmd.Dir = folder
	if cmd.Run() != nil { // a warning, such as of a variable without a use
		return false, nil
	}
	before, err := os.ReadFile(m.base + ".ptx")
	after, e := os.ReadFile(filepath.Join(folder, m.base+".ptx"))
	if err = errors.Join(err, e); err != nil || bytes.Equal(before, after) {
		return false, err
	}
	for _, s := range suites {
		if strings.HasPrefix(m.base, s.file) {
			cmd := exec.Command(test, "-test.failfast", "-test.timeout=10m", "-test.run=^Test.*("+s.tests+")")
			cmd.Dir, cmd.Env = "..", append(os.Environ(), "REVNUM_PTX="+folder)
			out, err := cmd.CombinedOutput()
			if failed := regexp.MustCompile(`(?m)^(?:--- FAIL: |\t)(Test\w+)`).FindSubmatch(out); failed != nil {
				m.killed = string(failed[1])
			} else if err != nil {
				m.killed = "tests end: " + err.Error()
			}
			break
		}
	}
	return true, nil
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

// mutate tries n mutants of each source, and writes which of them were found and by what.
func mutate(n int, only *regexp.Regexp, launches, test string, to io.Writer) error {
	tables, err := filepath.Abs("../../internal/fixedtables")
	if err = errors.Join(err, os.Setenv("REVNUM_FIXED", tables)); err != nil { // for compile.sh in other folders
		return err
	}
	w := csv.NewWriter(to)
	files, _ := filepath.Glob("*.*")
	var all sync.WaitGroup
	var held sync.Mutex
	free := make(chan bool, runtime.NumCPU())
	for _, f := range files {
		base, source := strings.CutSuffix(f, ".cu")
		if strings.HasSuffix(f, ".h") {
			base = baseOf(f)
		} else if !source {
			continue
		}
		if !only.MatchString(f) {
			continue
		}
		text, e := os.ReadFile(f)
		records, e2 := filepath.Glob(filepath.Join(launches, base, "*"))
		if e = errors.Join(e, e2); e != nil {
			return e
		}
		free <- true
		all.Go(func() {
			defer func() { <-free }()
			count := 0
			for _, m := range places(f, base, string(text)) {
				if count == n {
					break
				}
				ok, e := m.try(test, records)
				held.Lock()
				if ok && e == nil {
					count++
					e = w.Write([]string{m.file, strconv.Itoa(m.line), m.change, m.killed})
					w.Flush()
				}
				err = errors.Join(err, e)
				held.Unlock()
			}
		})
	}
	all.Wait()
	return errors.Join(err, w.Error())
}
