// Cycles prints what the vector loops take on processors with NEON, as llvm-mca projects it:
//
//	go run ./tools/cycles [-llvm 19]
//
// For each loop it prints the cycles of an element in pure Go, in NEON, and at the bound of the
// units of the processor for the same instructions, for two processors. Nothing runs: the loops
// are taken from programs that are built for arm64. It needs llvm-objdump and llvm-mca, of the
// version given.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	{"internal/simd/vec", "Dot", "product", loop{"dotF64", 16}, loop{"genericDot", 1}},
	{"internal/simd/vec", "Sum", "", loop{"sumF64", 16}, loop{"genericSum", 1}},
	{"internal/simd/vec", "AxpyTo", "", loop{"axpyToF64", 16}, loop{"genericAxpyTo", 1}},
	{"internal/simd/vec", "AddTo", "", loop{"addToF64", 16}, loop{"genericAddTo", 1}},
	{"internal/simd/vec", "MulTo", "", loop{"mulToF64", 16}, loop{"genericMulTo", 1}},
	{"internal/simd/vec", "ScaleTo", "", loop{"scaleToF64", 16}, loop{"genericScaleTo", 1}},
	{"internal/simd/vec", "AffineMax", "", loop{"affineMaxF64", 8}, loop{"genericAffineMax", 1}},
	{"internal/simd/vec", "SubColumn", "", loop{"subColumnF64", 16}, loop{"genericSubColumn", 1}},
	{"internal/simd/vec", "Exp", "", loop{"expF64", 8}, loop{"genericExp", 1}},
	{"internal/simd/vec", "ExpSubAdd", "", loop{"expSubAddF64", 8}, loop{"genericExpSubAdd", 1}},
	{"internal/simd/vec", "SumExp", "", loop{"sumExpF64", 8}, loop{"genericSumExp", 1}},
	{"internal/simd/vec", "Log", "", loop{"logF64", 4}, loop{"genericLog", 1}},
	{"internal/simd/vec", "SinCos", "", loop{"sinCosF64", 4}, loop{"genericSinCos", 1}},
	{"internal/simd/dense", "Gemm", "product", loop{"gemmNNF64", 48}, loop{"addRows", 4}},
	{"internal/simd/dense", "Gemm, float32", "product", loop{"gemmNNF32", 96}, loop{}},
	{"internal/simd/dense", "Gemm, A·Bᵀ", "product", loop{"gemmNTF64", 48}, loop{"genericDots", 4}},
	{"internal/simd/dense", "TriNorms", "product", loop{"triNormsF64", 48}, loop{"genericTriNorms", 1}},
	{"internal/simd/dense", "moments, diagonal", "product", loop{"momentsDiagonalF64", 44}, loop{"genericMoments", 1}},
	{"internal/simd/dense", "moments, below", "product", loop{"momentsBelowF64", 48}, loop{"genericMoments", 1}},
	{"internal/simd/dense", "Transpose", "", loop{"transposeF64", 16}, loop{"genericTranspose", 1}},
}

var cpus = []string{"neoverse-v2", "apple-m1"}

var llvm = flag.String("llvm", "19", "version of LLVM's tools")

func main() {
	log.SetFlags(0)
	flag.Parse()
	dir, err := os.MkdirTemp("", "cycles")
	check(err)
	defer os.RemoveAll(dir)
	fmt.Print("| loop |")
	for _, c := range cpus {
		fmt.Printf(" %s: Go | NEON | bound |", c)
	}
	fmt.Println("\n|---|" + strings.Repeat("---:|---:|---:|", len(cpus)))
	listings := map[string]map[string][]instruction{}
	for _, l := range loops {
		if listings[l.pkg] == nil {
			listings[l.pkg] = disassemble(l.pkg, dir)
		}
		fmt.Printf("| %s |", l.name)
		for _, c := range cpus {
			plain, neon, bound := "", "", ""
			if t, _, ok := l.plain.cycles(listings[l.pkg], c, `\.`+l.plain.function+`\[go\.shape\.float64\]`); ok {
				plain = number(t)
			}
			if t, least, ok := l.neon.cycles(listings[l.pkg], c, `\.`+l.neon.function+`(\.abi0)?`); ok {
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
	line   = regexp.MustCompile(`^\s*([0-9a-f]+):\s+(\S.*)$`)
	header = regexp.MustCompile(`^[0-9a-f]+ <(.*)>:$`)
	branch = regexp.MustCompile(`0x([0-9a-f]+) <`)
)

// disassemble returns the functions of the test program of a package.
func disassemble(pkg, dir string) map[string][]instruction {
	program := filepath.Join(dir, strings.ReplaceAll(pkg, "/", "-"))
	run("go", []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}, "test", "-c", "-o", program, "./"+pkg)
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
		if b := branch.FindStringSubmatch(text); b != nil && !strings.HasPrefix(text, "adr") {
			i.target, _ = strconv.ParseUint(b[1], 16, 64)
			i.text = branch.ReplaceAllString(i.text, "0x4 <")
			i.text, _, _ = strings.Cut(i.text, " <")
		}
		functions[name] = append(functions[name], i)
	}
	return functions
}

// body returns a turn of the longest innermost loop. Jumps forward in the loop are taken: a loop
// that has them jumps to what it usually does.
func body(code []instruction) []string {
	index := map[uint64]int{}
	for k, i := range code {
		index[i.at] = k
	}
	var ranges [][2]int
	for k, i := range code {
		if to, ok := index[i.target]; ok && i.jumps() && to <= k {
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
			turn = append(turn, code[k].text)
			if to, ok := index[code[k].target]; ok && code[k].jumps() && to > k && to <= r[1] {
				k = to - 1
			}
		}
		if len(turn) > len(best) {
			best = turn
		}
	}
	return best
}

var (
	total = regexp.MustCompile(`Total Cycles:\s+(\d+)`)
	block = regexp.MustCompile(`Block RThroughput:\s+([\d.]+)`)
)

// cycles returns the cycles of an element, and those that the units of the processor need.
func (l loop) cycles(functions map[string][]instruction, cpu, pattern string) (t, bound float64, ok bool) {
	if l.function == "" {
		return 0, 0, false
	}
	name := regexp.MustCompile(pattern + "$")
	var turns [][]string
	for f, code := range functions {
		if name.MatchString(f) {
			if b := body(code); b != nil {
				turns = append(turns, b)
			}
		}
	}
	if turns == nil {
		return 0, 0, false
	}
	turn := slices.MaxFunc(turns, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	cmd := exec.Command("llvm-mca-"+*llvm, "-mtriple=aarch64", "-mcpu="+cpu, "-iterations=200", "-instruction-info=false", "-resource-pressure=false")
	cmd.Stdin = strings.NewReader(strings.Join(turn, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	check(err)
	value := func(r *regexp.Regexp) float64 {
		x, err := strconv.ParseFloat(r.FindStringSubmatch(string(out))[1], 64)
		check(err)
		return x
	}
	return value(total) / 200 / l.elements, value(block) / l.elements, true
}
