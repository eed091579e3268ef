// Cycles prints what the vector loops take on processors with NEON, as llvm-mca projects it:
//
//	go run ./tools/cycles [-llvm 19] [-all [PACKAGE ...]]
//
// For each loop it prints the cycles of an element in pure Go, in NEON, and at the bound of the
// units of the processor for the same instructions, for two processors. Nothing runs: the loops
// are taken from programs that are built for arm64. It needs llvm-objdump and llvm-mca, of the
// version given.
//
// With -all, it prints docs/neon.csv: the innermost loop of each function in assembly, by the
// cycles of a turn, and three bounds of these:
//   - units: what the units of the processor need.
//   - turns: what turns need that wait for the turn before, were there units without end.
//   - window: what a processor needs that has units without end, but takes the instructions in
//     order, and holds no more of them than the model of this processor. In another order the
//     instructions may need less.
//
// It names the largest, and says why a loop takes more than one and a half times that:
//   - division: with multiplications in the place of divisions, it takes less.
//   - units: some instructions run only on a few units, where others are in their way.
//   - chain: instructions wait for each other.
//
// The model of the M1 is that of Cyclone, Apple's processor of 2013. The last column is what turns take on it if
// it holds as many instructions as an M1: the tool follows them through the units, with the latencies of the model.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A loop is the longest innermost loop of a function, which takes a number of elements at a turn.
type loop struct {
	function string
	elements float64
}

// loops are those of the table: what an element is, the loop in NEON, and that in pure Go, by a
// regular expression.
var loops = []struct {
	pkg, name, element string
	neon, plain        loop
}{
	{"internal/simd/vec", "Dot", "product", loop{"dotF64", 16}, loop{"(generic)?Dot", 1}},
	{"internal/simd/vec", "Sum", "", loop{"sumF64", 16}, loop{"(generic)?Sum", 1}},
	{"internal/simd/vec", "AxpyTo", "", loop{"axpyToF64", 16}, loop{"(generic)?AxpyTo", 1}},
	{"internal/simd/vec", "AddTo", "", loop{"addToF64", 16}, loop{"(generic)?AddTo", 1}},
	{"internal/simd/vec", "MulTo", "", loop{"mulToF64", 16}, loop{"(generic)?MulTo", 1}},
	{"internal/simd/vec", "ScaleTo", "", loop{"scaleToF64", 16}, loop{"(generic)?ScaleTo", 1}},
	{"internal/simd/vec", "AffineMax", "", loop{"affineMaxF64", 8}, loop{"(generic)?AffineMax", 1}},
	{"internal/simd/vec", "SubColumn", "", loop{"subColumnF64", 16}, loop{"subColumn", 1}},
	{"internal/simd/vec", "Exp", "", loop{"expF64", 8}, loop{"(generic)?Exp", 1}},
	{"internal/simd/vec", "ExpSubAdd", "", loop{"expSubAddF64", 8}, loop{"(generic)?ExpSubAdd", 1}},
	{"internal/simd/vec", "SumExp", "", loop{"sumExpF64", 8}, loop{"(generic)?SumExp", 1}},
	{"internal/simd/vec", "Log", "", loop{"logF64", 8}, loop{"(generic)?Log", 1}},
	{"internal/simd/vec", "SinCos", "", loop{"sinCosF64", 12}, loop{"genericSinCos|SinCos", 1}},
	{"internal/simd/dense", "Gemm", "product", loop{"gemmNNF64", 48}, loop{"addRows", 4}},
	{"internal/simd/dense", "Gemm, float32", "product", loop{"gemmNNF32", 96}, loop{}},
	{"internal/simd/dense", "Gemm, A·Bᵀ", "product", loop{"gemmNTF64", 48}, loop{"genericDots", 4}},
	{"internal/simd/dense", "TriNorms", "product", loop{"triNormsF64", 48}, loop{"addRows", 4}},
	{"internal/simd/dense", "moments, diagonal", "product", loop{"momentsDiagonalF64", 44}, loop{"genericMoments|WeightedMoments", 1}},
	{"internal/simd/dense", "moments, below", "product", loop{"momentsBelowF64", 48}, loop{"genericMoments|WeightedMoments", 1}},
	{"internal/simd/dense", "TriSolve", "product", loop{"triSolveF64", 48}, loop{`triangle\[go.shape.float64\]\).genericSolve`, 1}},
	{"internal/simd/dense", "Transpose", "", loop{"transposeF64", 16}, loop{"transposeColumns", 1}},
	{"internal/simd/fixedpoint", "Gemm, Q43", "product", loop{"tileWide", 8}, loop{`\(\*tiles\).multiply`, 2}},
	{"internal/simd/fixedpoint", "Gemm, small Q43", "product", loop{"tileNarrow", 16}, loop{`\(\*tiles\).multiply`, 2}},
}

var cpus = []string{"neoverse-v2", "apple-m1"}

var all = flag.Bool("all", false, "print the loops of all packages, or of some, as CSV")

var llvm = flag.String("llvm", "19", "version of LLVM's tools")

func main() {
	log.SetFlags(0)
	flag.Parse()
	dir, err := os.MkdirTemp("", "cycles")
	check(err)
	defer os.RemoveAll(dir)
	if *all {
		printAll(dir)
		return
	}
	fmt.Print("| loop |")
	for _, c := range cpus {
		fmt.Printf(" %s: Go | NEON | bound |", c)
	}
	fmt.Println("\n|---|" + strings.Repeat("---:|---:|---:|", len(cpus)))
	var pkg string
	var functions, generic, small map[string][]instruction // small has those that are inlined, too
	for _, l := range loops {
		if l.pkg != pkg {
			pkg, functions, generic = l.pkg, disassemble(l.pkg, dir), disassemble(l.pkg, dir, "-tags=noasm")
			small = disassemble(l.pkg, dir, "-tags=noasm", "-gcflags=-l")
		}
		fmt.Printf("| %s |", l.name)
		for _, c := range cpus {
			var plain, neon, bound string
			t, _, ok := l.plain.cycles(generic, c, `\.(`+l.plain.function+`)(\[go\.shape\.float64\])?`)
			if !ok {
				t, _, ok = l.plain.cycles(small, c, `\.(`+l.plain.function+`)(\[go\.shape\.float64\])?`)
			}
			if ok {
				plain = number(t)
			}
			if t, least, ok := l.neon.cycles(functions, c, `\.`+l.neon.function+`(\.abi0)?`); ok {
				neon, bound = number(t), number(least)
			}
			fmt.Printf(" %s | %s | %s |", plain, neon, bound)
		}
		fmt.Println()
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 2, 64) }

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func run(name string, env []string, args ...string) string {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(err)
	return string(out)
}

// An instruction has its address, its text, and the address that it jumps to.
type instruction struct {
	at     uint64
	text   string
	target uint64
}

func (i instruction) jumps() bool { return i.target != 0 && !strings.HasPrefix(i.text, "bl") }

var (
	line    = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(\S.*)$`)
	header  = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:$`)
	address = regexp.MustCompile(`0x([0-9a-f]+) <.*>`)
)

// disassemble returns the functions of the test program of a package, built with flags.
func disassemble(pkg, dir string, flags ...string) map[string][]instruction {
	program := filepath.Join(dir, strings.ReplaceAll(pkg, "/", "-"))
	args := append([]string{"test", "-c", "-o", program}, append(flags, "./"+pkg)...)
	run("go", []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, args...)
	functions := map[string][]instruction{}
	var name string
	for l := range strings.Lines(run("llvm-objdump-"+*llvm, nil, "-d", "--no-show-raw-insn", program)) {
		l = strings.TrimRight(l, "\n")
		if m := header.FindStringSubmatch(l); m != nil {
			name = m[1]
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil || !strings.Contains(name, pkg) {
			continue
		}
		at, err := strconv.ParseUint(m[1], 16, 64)
		check(err)
		text, _, _ := strings.Cut(m[2], "//")
		i := instruction{at: at, text: strings.ReplaceAll(text, "\t", " ")}
		if b := address.FindStringSubmatch(text); b != nil {
			if !strings.HasPrefix(text, "adr") {
				i.target, _ = strconv.ParseUint(b[1], 16, 64)
			}
			i.text = address.ReplaceAllString(i.text, "0x4000")
		}
		functions[name] = append(functions[name], i)
	}
	return functions
}

// body returns a turn of the innermost loop that has the most multiply-adds, or else arithmetic on
// floats or vectors; of several the shortest, which has no masks. Jumps forward in the loop are taken: a loop
// that has them jumps to what it usually does. A call becomes what is called, straight through.
func body(code []instruction, called func(at uint64) []instruction) []string {
	index := map[uint64]int{}
	for k, i := range code {
		index[i.at] = k
	}
	var ranges [][2]int
	for k, i := range code {
		if to, ok := index[i.target]; ok && i.jumps() && 0 < to && to <= k { // to 0 after the stack has grown
			ranges = append(ranges, [2]int{to, k})
		}
	}
	var best []string
	for _, r := range ranges {
		if slices.ContainsFunc(ranges, func(o [2]int) bool { return o != r && o[0] >= r[0] && o[1] <= r[1] }) {
			continue
		}
		var turn []string
		for k := r[0]; k <= r[1]; k++ {
			if strings.HasPrefix(code[k].text, "bl ") {
				turn = append(turn, straight(called(code[k].target), called)...)
				continue
			}
			turn = append(turn, code[k].text)
			if to, ok := index[code[k].target]; ok && code[k].jumps() && to > k && to <= r[1] {
				k = to - 1
			}
		}
		turn = slices.DeleteFunc(turn, func(text string) bool { return strings.HasPrefix(text, "ret") })
		if best == nil || cmp.Or(cmp.Compare(floats(turn), floats(best)), cmp.Compare(len(best), len(turn))) > 0 {
			best = turn
		}
	}
	return best
}

// straight returns what a function does if it jumps only where it must.
func straight(code []instruction, called func(at uint64) []instruction) (turn []string) {
	for k := 0; k < len(code) && len(turn) < 1000; k++ { // not around a loop for ever
		switch text := code[k].text; {
		case strings.HasPrefix(text, "ret"):
			return turn
		case strings.HasPrefix(text, "bl "):
			turn = append(turn, straight(called(code[k].target), called)...)
		case strings.HasPrefix(text, "b "):
			turn = append(turn, text)
			k = slices.IndexFunc(code, func(i instruction) bool { return i.at == code[k].target }) - 1
		default:
			turn = append(turn, text)
		}
	}
	return turn
}

// calls returns a function that finds the function at an address.
func calls(functions map[string][]instruction) func(at uint64) []instruction {
	return func(at uint64) []instruction {
		for _, code := range functions {
			if code[0].at == at {
				return code
			}
		}
		return nil // of the runtime, which panics
	}
}

// floats counts the arithmetic on floats and vectors, multiply-adds first, and products of 128 bits.
func floats(turn []string) (n int) {
	for _, text := range turn {
		switch {
		case strings.HasPrefix(text, "fml"):
			n += 1000
		case arithmetic.MatchString(text):
			n++
		}
	}
	return n
}

var arithmetic = regexp.MustCompile(`^(f(add|sub|mul|div|madd|max|min|cm)|umulh|(add|sub|mul|cm..|u?zip.|trn.)\s+v)`)

var (
	total = regexp.MustCompile(`Total Cycles:\s+(\d+)`)
	block = regexp.MustCompile(`Block RThroughput:\s+([\d.]+)`)

	pressure     = regexp.MustCompile(`Resource Pressure\s+\[ *([\d.]+)%`)
	dependencies = regexp.MustCompile(`Data Dependencies:\s+\[ *([\d.]+)%`)
)

// cycles returns the cycles of an element, and those that the units of the processor need.
func (l loop) cycles(functions map[string][]instruction, cpu, pattern string) (t, bound float64, ok bool) {
	if l.function == "" {
		return 0, 0, false
	}
	name := regexp.MustCompile(pattern + "$")
	called := calls(functions)
	var turns [][]string
	for f, code := range functions {
		if name.MatchString(f) {
			if b := body(code, called); b != nil {
				turns = append(turns, b)
			}
		}
	}
	if turns == nil {
		return 0, 0, false
	}
	turn := slices.MaxFunc(turns, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	p := project(turn, cpu)
	return p.cycles / l.elements, p.bounds[0] / l.elements, true
}

func mca(turn []string, cpu string, turns int, flags ...string) string {
	flags = append([]string{"-mtriple=aarch64", "-mcpu=" + cpu, fmt.Sprint("-iterations=", turns), "-resource-pressure=false"}, flags...)
	cmd := exec.Command("llvm-mca-"+*llvm, flags...)
	cmd.Stdin = strings.NewReader(strings.Join(turn, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(err)
	return string(out)
}

func value(out string, r *regexp.Regexp) float64 {
	x, err := strconv.ParseFloat(r.FindStringSubmatch(out)[1], 64)
	check(err)
	return x
}

// A projection is what a turn takes on a processor, in cycles, and what bounds it.
type projection struct {
	cycles  float64
	bounds  [3]float64 // of kinds
	largest int
	wide    float64 // what the turn takes with the window of an M1, but the units and latencies of the model
}

// kinds are the bounds: what the units of the processor need; what turns need that wait for each
// other; what instructions need that enter in order, and of which the processor holds so many.
var kinds = [...]string{"units", "turns", "window"}

// project returns the projection of a turn.
func project(turn []string, cpu string) (p projection) {
	const turns = 200
	out := mca(turn, cpu, turns, "-instruction-info=true")
	p.cycles, p.bounds[0] = value(out, total)/turns, max(value(out, block), occupied(turn, cpu))
	nodes := graph(turn, cpu, out)
	width := int(value(out, dispatch))
	p.bounds[1] = processor{}.turns(nodes)
	p.bounds[2] = processor{width: width, window: windows[cpu]}.turns(nodes)
	if cpu == "apple-m1" {
		p.wide = processor{width, m1Window, true}.turns(nodes)
	}
	for i, b := range p.bounds {
		if b > 1.02*p.bounds[p.largest] { // a window holds units and turns, too
			p.largest = i
		}
		if b > 1.02*p.cycles { // no bound
			panic(fmt.Sprintf("%q on %s: %v cycles, but %s are %v", turn, cpu, p.cycles, kinds[i], b))
		}
	}
	return p
}

// ratio returns the cycles over the largest bound.
func (p projection) ratio() float64 { return p.cycles / p.bounds[p.largest] }

// reason returns why a turn takes more than one and a half times its largest bound.
func (p projection) reason(turn []string, cpu string) string {
	if p.ratio() <= 1.5 {
		return ""
	}
	// A unit that divides does nothing else in the model. So it is tried without divisions.
	without := slices.Clone(turn)
	for i, text := range without {
		without[i] = regexp.MustCompile("^fdiv").ReplaceAllString(text, "fmul")
		without[i] = regexp.MustCompile("^fsqrt").ReplaceAllString(without[i], "fneg")
	}
	if project(without, cpu).ratio() <= 1.5 {
		return "division"
	}
	out := mca(turn, cpu, 200, "-bottleneck-analysis")
	if value(out, pressure) > value(out, dependencies) {
		return "units"
	}
	return "chain"
}

// free limits how many loops are looked at together: llvm-mca uses one core.
var free = make(chan bool, 2*runtime.NumCPU())

// printAll prints what a turn of each function in assembly takes.
func printAll(dir string) {
	fmt.Print("package,function,instructions")
	for _, c := range cpus {
		fmt.Printf(",%[1]s cycles,%[1]s units,%[1]s turns,%[1]s window,%[1]s largest,%[1]s ratio,%[1]s reason", c)
	}
	fmt.Printf(",apple-m1 with %d\n", m1Window)
	for f := range strings.Lines(run("git", nil, "ls-files", "*/zasm_arm64.s")) {
		pkg := filepath.Dir(strings.TrimSpace(f))
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), pkg) {
			continue
		}
		functions := disassemble(pkg, dir)
		called := calls(functions)
		var rows []chan string
		for _, name := range slices.Sorted(maps.Keys(functions)) {
			short, ok := strings.CutSuffix(name, ".abi0")
			turn := body(functions[name], called)
			if !ok || turn == nil {
				continue
			}
			row := make(chan string, 1)
			go func() {
				free <- true
				row <- fmt.Sprintf("%s,%s,%d%s\n", pkg, short[strings.LastIndex(short, ".")+1:], len(turn), columns(turn))
				<-free
			}()
			rows = append(rows, row)
		}
		for _, row := range rows {
			fmt.Print(<-row)
		}
	}
}

// columns returns what a turn takes on all cpus.
func columns(turn []string) (s string) {
	var p projection
	for _, c := range cpus {
		p = project(turn, c)
		s += fmt.Sprintf(",%.1f,%.1f,%.1f,%.1f,%s,%.2f,%s", p.cycles, p.bounds[0], p.bounds[1], p.bounds[2], kinds[p.largest], p.ratio(), p.reason(turn, c))
	}
	return s + fmt.Sprintf(",%.1f", p.wide)
}
