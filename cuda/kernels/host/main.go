// Host runs the kernels on the host, as a third execution of their source beside that of a card and of
// the interpreter:
//
//	cd cuda
//	REVNUM_RECORD=$launches go test -run 'TestLarge|Bits$' .
//	go -C kernels run ./host $launches
//
// The tests record launches, with what the interpreter left in memory. clang++-19 compiles the source for
// the host with sanitizers: once with that of threads, once with those of addresses and of undefined
// behaviour. The threads of a block, or of all blocks of a cluster, are threads of the host, and a barrier is one of theirs
// (gpu/gpu.h, gpu/replay.cc). The launches run again, and all memory must be the same, bit for bit.
//
// With -mutants N it changes each source in N places, one after the other, and prints what finds each change:
// the launches on the host, or a test of package cuda, of which -test is the binary. host/mutants.csv has the
// mutants that were tried, with what they need that nothing finds.
//
//	go test -c -o cuda.test .
//	go -C kernels run ./host -mutants 4 $launches
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
)

// An absent operand is a null pointer, to which a kernel may add an offset before it looks. An array may
// have no elements. C++20 says what it is to shift a negative number, as all compilers do.
var sanitizers = map[string][]string{
	"threads": {"-fsanitize=thread"},
	"memory":  {"-fsanitize=address,undefined", "-fno-sanitize=pointer-overflow,object-size", "-fno-sanitize-recover=all"},
}

// inline matches inline assembly: its instruction and its operands.
var (
	inline  = regexp.MustCompile(`\basm(?: volatile)?\s*\(\s*"([a-z0-9_.]+)[^"]*"((?s:[^;]*?))\);`)
	unroll  = regexp.MustCompile(`(?m)^#pragma unroll.*$`)
	operand = regexp.MustCompile(`"[^"]*"\s*\(((?:[^()]|\([^()]*\))*)\)`)
)

// rewrite makes inline assembly calls of functions of gpu/gpu.h: an instruction a.b is a function a_b.
// Loops are not unrolled, so that they compile quickly.
func rewrite(source string) string {
	return inline.ReplaceAllStringFunc(unroll.ReplaceAllString(source, ""), func(s string) string {
		m := inline.FindStringSubmatch(s)
		var args []string
		for _, o := range operand.FindAllStringSubmatch(m[2], -1) {
			args = append(args, o[1])
		}
		return strings.ReplaceAll(m[1], ".", "_") + "(" + strings.Join(args, ", ") + ");"
	})
}

var (
	entry = regexp.MustCompile(`(?m)^\.visible \.entry (\w+)\(([^{.]*(?:\.[^v][^{.]*)*)`)
	team  = regexp.MustCompile(`\.reqnctapercluster (\d+)`)
)

// table returns the source of a program for a file of kernels, of which ptx has the names.
func table(file, ptx string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#include \"gpu.h\"\n#include %q\nconst gpu::Entry gpu::entries[] = {\n", file)
	for _, m := range entry.FindAllStringSubmatch(ptx, -1) {
		blocks := "1" // of a cluster
		if t := team.FindStringSubmatch(m[2]); t != nil {
			blocks = t[1]
		}
		fmt.Fprintf(&b, "\t{%q, %s, [](const unsigned long long *v) { gpu::call(%s, v); }},\n", m[1], blocks, m[1])
	}
	b.WriteString("\t{},\n};\n")
	return b.String()
}

// prepare writes what is compiled into a folder: the sources in the folder from, their tables, and
// those of package fixed.
func prepare(from, to string) error {
	tables, err := exec.Command("bash", filepath.Join(from, "compile.sh"), "tables").Output()
	err = errors.Join(err, os.WriteFile(filepath.Join(to, "tables.h"), tables, 0o644))
	for _, pattern := range []string{"*.cu", "*.h"} {
		files, e := filepath.Glob(filepath.Join(from, pattern))
		err = errors.Join(err, e)
		for _, f := range files {
			text, e := os.ReadFile(f)
			err = errors.Join(err, e, os.WriteFile(filepath.Join(to, filepath.Base(f)), []byte(rewrite(string(text))), 0o644))
		}
	}
	return err
}

// errCompile is the error of clang.
var errCompile = errors.New("does not compile")

// run compiles a file of kernels with a sanitizer, and runs its recorded launches.
func run(from, folder, base, sanitizer string, records []string) error {
	ptx, err := os.ReadFile(filepath.Join(from, base+".ptx"))
	if err != nil {
		return err
	}
	program := filepath.Join(folder, base+"-"+sanitizer)
	if err := os.WriteFile(program+".cc", []byte(table(base+".cu", string(ptx))), 0o644); err != nil {
		return err
	}
	here := filepath.Join(from, "host", "gpu")
	args := append([]string{
		"-std=c++20", "-O1", "-g", "-w", "-no-pie", "-fno-pie", "-mfma", "-ffp-contract=off", "-fno-builtin", "-I" + folder, "-I" + here,
		program + ".cc", filepath.Join(here, "replay.cc"), "-o", program, "-lpthread",
	}, sanitizers[sanitizer]...)
	out, err := exec.Command("clang++-19", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s, %s: %w: %w\n%s", base, sanitizer, errCompile, err, out)
	}
	cmd := exec.Command(program, records...)
	cmd.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1")
	if out, err = cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s, %s: %w\n%s", base, sanitizer, err, out)
	}
	return nil
}

// runAll runs the records in a folder, which has a folder for each file of kernels in the folder from.
func runAll(from, records string) (launches int, err error) {
	folder, err := os.MkdirTemp("", "host")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := prepare(from, folder); err != nil {
		return 0, err
	}
	files, err := filepath.Glob(filepath.Join(records, "*"))
	if err != nil || len(files) == 0 {
		return 0, errors.Join(err, fmt.Errorf("%s has no launches", records))
	}
	var kinds []string
	for sanitizer := range sanitizers {
		kinds = append(kinds, sanitizer)
	}
	names := make([][]string, len(files))
	for i, f := range files {
		names[i], _ = filepath.Glob(filepath.Join(f, "*")) // the pattern is right
		launches += len(names[i])
	}
	return launches, each(len(files)*len(kinds), func(i int) error {
		at := i / len(kinds)
		return run(from, folder, filepath.Base(files[at]), kinds[i%len(kinds)], names[at])
	})
}

// each calls f with 0, ..., n-1, as many at a time as there are processors, and joins the errors.
func each(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	free := make(chan bool, runtime.NumCPU())
	for i := range n {
		free <- true
		all.Go(func() {
			errs[i] = f(i)
			<-free
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func main() {
	log.SetFlags(0)
	n := flag.Int("mutants", 0, "try `N` mutants of each source")
	only := regexp.MustCompile("")
	flag.TextVar(only, "only", only, "of the sources whose names match the `regexp`")
	test := flag.String("test", "./cuda.test", "the test `binary` of package cuda, for mutants, from its folder")
	flag.Parse()
	if flag.NArg() == 1 && *n > 0 {
		if err := mutate(*n, only, flag.Arg(0), *test, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	if flag.NArg() != 1 {
		log.Fatal("host: want the folder of launches")
	}
	launches, err := runAll(".", flag.Arg(0))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d launches on the host leave the memory that the interpreter leaves\n", launches)
}
