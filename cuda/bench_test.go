package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"revnum/cuda/internal/ptx"
)

// TestBenchTraffic counts what passes move, beside a copy, if caches keep vectors of a number for each row and nothing
// else. docs/cuda.md has this table.
func TestBenchTraffic(t *testing.T) {
	for typ, lines := range map[string]map[string][3]float64{
		"float64": {
			"LogSumExpRows": {0.97, 1.00, 0.97}, "SoftmaxRows": {1.00, 1.00, 1.00},
			"LayerNorm": {1.01, 0.72, 1.01}, "RMSNorm": {1.00, 0.72, 1.00},
			"batched MatMul": {1, 0.75, 0.80}, "batched TriSolve": {1.06, 1.14, 1.09}, "batched Solve": {0.79, 0.89, 0.88},
			"batched Cholesky": {1.28, 1.49, 1.49}, "batched QR": {0.80, 0.90, 0.95}, "batched FFT": {0.91, 0.91, 0.91}, "RealFFT": {0.82, 0.73, 0.82},
		},
		"float32": {
			"LogSumExpRows": {0.92, 0.98, 0.92}, "SoftmaxRows": {1.00, 1.00, 1.00},
			"LayerNorm": {1.01, 0.70, 1.01}, "RMSNorm": {1.00, 0.70, 1.00},
			"batched MatMul": {1, 0.75, 0.80}, "batched TriSolve": {1.00, 1.09, 0.93}, "batched Solve": {0.78, 0.89, 0.79},
			"batched Cholesky": {1.11, 1.31, 1.31}, "batched QR": {0.78, 0.87, 0.92},
		},
		"q43": {
			"LogSumExpRows": {0.97, 1.00, 0.97}, "SoftmaxRows": {1.00, 1.00, 1.00},
			"LayerNorm": {1.01, 0.72, 1.01}, "RMSNorm": {1.00, 0.72, 1.00}, "batched MatMul": {1, 0.75, 0.80},
		},
	} {
		d := interpret(t, 1<<24)
		d.machine.Traffic = map[string]ptx.Traffic{}
		d.machine.Cached = 64 * 8
		dev := open(t, d)
		rates, err := Bench(t.Context(), dev, BenchOptions{Type: typ, Size: 4096, Kernels: regexp.MustCompile("Rows|Norm$|FFT|^batched (C|T|S|M|F|Q)")})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, r := range rates {
			if r.Of == copying {
				got[r.Name] = r.Peak
			}
		}
		for name, want := range lines {
			for i, pass := range []string{"Forward", "Adjoint", "Tangent"} {
				if v := got[name+" "+pass]; math.Abs(v-want[i]) > 0.01 {
					t.Errorf("%s %s %s: %.3f of a copy, want %.2f", typ, name, pass, v, want[i])
				}
			}
		}
	}
}

// TestBench runs the benchmark over the interpreter, whose times mean nothing, without tensor
// cores and with them, which only some kernels use.
func TestBench(t *testing.T) {
	for capability, kernels := range map[int]*regexp.Regexp{75: nil, 80: regexp.MustCompile("MatMul|AffineBatch|QR|^LogPosterior"), 90: regexp.MustCompile("MatMul")} {
		d := interpret(t, 1<<24)
		d.capability = capability
		dev := open(t, d)
		before := d.machine.Memory.Used()
		rates, err := Bench(t.Context(), dev, BenchOptions{Size: 60, Reps: 1, Kernels: kernels}) // matrices of 8 rows, and of 4
		if err != nil {
			t.Fatal(err)
		}
		if d.machine.Memory.Used() > before+1<<20 {
			t.Errorf("%d bytes before, %d after", before, d.machine.Memory.Used())
		}
		of := map[string]Rate{}
		for _, r := range rates {
			if r.Name == r.Of {
				of[r.Name] = r
			}
		}
		if _, ok := of[tensor]; ok != (capability >= 80) || len(of) < 2 {
			t.Errorf("compute capability %d: %d peaks, tensor cores %t", capability, len(of), ok)
		}
		got := map[string]Rate{}
		for _, r := range rates {
			p, ok := of[r.Of]
			want := (r.Bytes + r.Flops) / r.Seconds * p.Seconds / (p.Bytes + p.Flops)
			if !ok || !(r.Seconds > 0) || math.Abs(r.Peak/want-1) > 1e-12 || r.Bytes*r.Flops != 0 || (r.Bytes > 0) != (r.Of == copying) {
				t.Errorf("%+v, want a fraction of %v", r, want)
			}
			if _, ok := got[r.Name]; ok {
				t.Errorf("two rates of %s", r.Name)
			}
			got[r.Name] = r
		}
		if kernels == nil {
			checkPeers(t, rates)
		}
		for name := range kernelTable(t) {
			for _, pass := range []string{"Forward", "Inverse", "Adjoint", "Tangent"} {
				if _, ok := got[name+" "+pass]; !ok && kernels == nil {
					t.Errorf("there is no rate of %s %s", name, pass)
				}
			}
		}
		for name, want := range map[string]Rate{
			multiply: {Flops: 8 * 256 * 8 * 4 * 2},
			// Operands of the vectors are read, or moved both ways, or the one way and the other.
			"Dot Forward":                 {Bytes: 8 * (2*64 + 2)},
			"Dot Adjoint":                 {Bytes: 8 * (2*64*3 + 3)},
			"NormInf Tangent":             {Bytes: 8 * 64},
			"Tanh Inverse":                {Bytes: 8 * 64 * 3},
			"Tanh Tangent":                {Bytes: 8 * 64 * (4 + 2)},
			"DivElem Adjoint":             {Bytes: 8 * 64 * (3 + 2*3)},
			"Pow Forward":                 {Bytes: 8 * 64 * (2 + 2)},
			"SGD Step":                    {Bytes: 8 * 64 * 5},
			"Adam Step":                   {Bytes: 8 * 64 * 7},
			"SoftmaxRows Tangent":         {Bytes: 8 * 64 * (4 + 2)},
			"LogSumExpRows Adjoint":       {Bytes: 8 * (64*3 + 8*3)},
			"LayerNorm Forward":           {Bytes: 8 * (64*3 + 8*2)},
			"RMSNorm Adjoint":             {Bytes: 8 * (64*6 + 8*3)},
			"Affine Forward":              {Bytes: 8 * (64 + 8 + 2*8)},
			"MatMul Tangent":              {Flops: 4 * 4 * 4 * 2 * 3},
			"QR Tangent":                  {Flops: 7 * 512},
			"Solve Forward":               {Flops: 8. / 3 * 512},
			"Solve Adjoint":               {Flops: 20. / 3 * 512},
			"batched Solve Forward":       {Bytes: 4 * 16 * (8 + 8 + 16)},
			"Unitary Inverse":             {Flops: 6 * 4 * 6},
			"MatMul Forward":              {Flops: 4 * 4 * 4 * 2},
			"AffineBatch Adjoint":         {Flops: 4 * 4 * 4 * 2 * 3},
			"Attention Forward":           {Flops: 4 * 4 * 4 * 64},
			"FFT Forward":                 {Bytes: 2*32*32 - 2*256}, // 256 bytes are held
			"batched FFT Adjoint":         {Bytes: 2 * 32 * 32},
			"RealFFT Forward":             {Bytes: 64/2*8 + 2*4*5*16},
			"Conv2D Tangent":              {Flops: 3 * 2 * 64 * 8 * 8 * 9},
			"Mul Forward":                 {Bytes: 160*(8+4) + 16*(4+8+16) + 4},
			"Mul with a full row Forward": {Bytes: 166*(8+4) + 16*(4+8+16) + 4},
			"Mul Adjoint":                 {Bytes: 160*(8+4+16) + 16*(4+3*8+16+8) + 4},
			"Unitary Forward":             {Flops: 6 * 4 * 6},
			"Unitary Adjoint":             {Flops: 6 * 4 * 16},
			"batched MatMul Adjoint":      {Bytes: 4 * 16 * (8 + 8 + 16 + 2*16 + 8)},
			"batched QR Forward":          {Bytes: 4 * 16 * (8 + 16 + 16)},
			"batched QR Adjoint":          {Bytes: 4 * 16 * (8 + 16 + 16 + 8 + 8 + 16)},
			"QR Forward":                  {Flops: 8. / 3 * 512},
			"LogPosterior Forward":        {Flops: 2 * 4 * 4 * 5},
			"LogPosterior Adjoint":        {Flops: 2 * 2 * 4 * 4 * 5},
			"FixedLogPosterior Forward":   {Flops: 10 * 2 * 4 * 4 * 5},
			"FixedLogPosterior Adjoint":   {Flops: 10 * 2 * 2 * 4 * 4 * 5},
			// 16 observations of 4 points by a camera. Each has its 2 features and 2 indices.
			"Snavely Jacobian":  {Bytes: 8 * (9 + 4*3 + 16*(2+1) + 16*24)},
			"Snavely Forward":   {Bytes: 8 * (9 + 4*3 + 16*(2+1) + 16*4)},
			"Snavely Adjoint":   {Bytes: 8 * (3*(9+4*3+16*2) + 16*(1+4+2))},
			"Weighted Jacobian": {Bytes: 8 * (11 + 4*3 + 16*(2+1+1) + 16*31)},
			"Weighted Forward":  {Bytes: 8 * (11 + 4*3 + 16*(2+1+1) + 16*(4+2))},
			"GraphLoss Forward": {Flops: 32 * 31 / 2 * 2 * (16 + 18)},
			"GraphLoss Adjoint": {Flops: 32 * 31 / 2 * 2 * (16 + 2*24 + 2)},
			"Weighted Adjoint":  {Bytes: 8 * (3*(11+4*3+16*(2+1)) + 16*(1+4+2+2+1))},
			// The list of observations, the index of the points and that of the cameras.
			"BundlePoints normal equations": {Bytes: 8*(16*(24+2)+81+9+7+4*(6+3)) + 4*(16+1+4)},
			"BundlePoints product":          {Bytes: 8*(16*24+2*9+4*6) + 4*(16*3+1+4)},
			"BundlePoints reduced system":   {Bytes: 8*(16*24+88+4*6) + 4*3*5*4},
		} {
			if kernels != nil && !kernels.MatchString(name) && name != multiply {
				continue
			}
			r := got[name]
			if math.Abs(r.Bytes-want.Bytes)+math.Abs(r.Flops-want.Flops) > 1e-9 {
				t.Errorf("%s moves %v bytes and computes %v operations, want %v and %v", name, r.Bytes, r.Flops, want.Bytes, want.Flops)
			}
		}
		for _, r := range rates {
			if kernels != nil && !kernels.MatchString(r.Name) && r.Name != r.Of {
				t.Errorf("%s is measured", r.Name)
			}
		}
		if capability >= 80 && of[tensor].Flops != of[multiply].Flops/32*16*8*8 {
			t.Errorf("%v operations on tensor cores, want 16·8·8 of a warp for each of %v", of[tensor].Flops, of[multiply].Flops)
		}
	}
	if rates, err := Bench(t.Context(), interpreter(t, 1<<20), BenchOptions{Kernels: regexp.MustCompile("none")}); err == nil || !strings.Contains(err.Error(), "matches none") {
		t.Errorf("%v, %v for a kernel that is not there", rates, err)
	}
	for _, bytes := range []int{1 << 17, 1 << 18, 1 << 20} {
		small := interpret(t, bytes)
		dev := open(t, small)
		if _, err := Bench(t.Context(), dev, BenchOptions{Size: 4096, Reps: 1, Kernels: regexp.MustCompile("Dot|MatMul|LogPosterior")}); !errors.Is(err, ErrMemory) {
			t.Errorf("the benchmark in %d bytes: error %v, want ErrMemory", bytes, err)
		}
		onlyScratch(t, dev, small)
	}
}

// checkPeers compares the kernels and their sizes with those for which compare/compare.py has peers.
func checkPeers(t *testing.T, rates []Rate) {
	t.Helper()
	data, err := os.ReadFile("compare/compare.py")
	if err != nil {
		t.Fatal(err)
	}
	script := string(data)
	quoted := regexp.MustCompile(`"([^"]+)"`)
	find := func(pattern string) [][]string {
		found := regexp.MustCompile(`(?m)`+pattern).FindAllStringSubmatch(script, -1)
		if found == nil {
			t.Fatalf("compare.py: nothing matches %s", pattern)
		}
		return found
	}
	// table returns the lines of a table of the script.
	table := func(name string) [][]string {
		return regexp.MustCompile(`(?m)^    "([^"]+)": (.*),$`).FindAllStringSubmatch(find(`^` + name + ` = \{\n((?: .*\n)+)`)[0][1], -1)
	}
	passes := regexp.MustCompile(find(`^PASSES = re.compile\("(.*)"\)$`)[0][1])

	// The names of sizes are the keys of the last dictionary in a line, or of a constant.
	sizes := map[string]string{}
	constants := find(`^(VECTOR), (SQUARE), (STACK) = (\{.*\}), (\{.*\}), (\{.*\})$`)[0][1:]
	keys := func(line string) string {
		for i, name := range constants[:3] {
			line = strings.ReplaceAll(line, name, constants[3+i])
		}
		names := map[string]bool{}
		for _, m := range quoted.FindAllStringSubmatch(line[strings.LastIndex(line, "{"):], -1) {
			names[m[1]] = true
		}
		return fmt.Sprint(names)
	}
	for _, line := range table("KERNELS") {
		sizes[line[1]] = keys(line[2])
	}
	for _, loop := range find(`^for name in (".*"):\n(?: .*\n)*?    KERNELS\[name\] = (.*)$`) {
		for _, m := range quoted.FindAllStringSubmatch(loop[1], -1) {
			sizes[m[1]] = keys(loop[2])
		}
	}
	for _, line := range table("OTHERS") {
		sizes[line[1]] = keys("VECTOR")
	}

	none := table("NONE")
	lines := map[string]map[string]bool{}
	for _, r := range rates {
		if slices.ContainsFunc(none, func(names []string) bool { return regexp.MustCompile(`^(?:` + names[1] + `)$`).MatchString(r.Name) }) {
			continue
		}
		name := r.Name
		if m := passes.FindStringSubmatch(name); m != nil && m[0] == name {
			name = m[1]
		}
		if lines[name] == nil {
			lines[name] = map[string]bool{}
		}
		for size := range r.Sizes {
			lines[name][size] = true
		}
	}
	for name, has := range lines {
		if want := fmt.Sprint(has); sizes[name] != want {
			t.Errorf("%s has sizes %s, and a peer of sizes %q", name, want, sizes[name])
		}
	}
	for name := range sizes {
		if lines[name] == nil {
			t.Errorf("compare.py has a peer of %s, which has no line", name)
		}
	}
}

// TestBenchTypes runs what there is over the other types of numbers.
func TestBenchTypes(t *testing.T) {
	for name, c := range map[string]struct {
		bytes, cost float64
		rate        string
		absent      []string
	}{
		"float32": {4, 1, single, []string{"FFT", "RealFFT", "FixedLogPosterior"}},
		"q43":     {8, 10, multiply, []string{"FFT", "RealFFT", "Attention", "Cholesky", "TriSolve", "Solve", "QR", "LogPosterior"}},
	} {
		rates, err := Bench(t.Context(), withTensorCores(t, 1<<24, 80), BenchOptions{Type: name, Size: 60, Reps: 1})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]Rate{}
		for _, r := range rates {
			got[r.Name] = r
		}
		if r := got["Dot Forward"]; r.Bytes != c.bytes*(2*64+2) || r.Of != copying {
			t.Errorf("%s: %+v, want %v bytes", name, r, c.bytes*(2*64+2))
		}
		if r := got["MatMul Forward"]; r.Flops != c.cost*4*4*4*2 || r.Of != c.rate {
			t.Errorf("%s: %+v, want %v operations of %s", name, r, c.cost*4*4*4*2, c.rate)
		}
		for kernel := range kernelTable(t) {
			_, ok := got[kernel+" Tangent"]
			if want := !slices.Contains(c.absent, kernel); ok != want {
				t.Errorf("%s: there is a rate of %s: %t", name, kernel, ok)
			}
		}
	}
	if _, err := Bench(t.Context(), interpreter(t, 1<<20), BenchOptions{Type: "float16"}); err == nil || !strings.Contains(err.Error(), "float16") {
		t.Errorf("error %v for a type that is not there", err)
	}
}

// TestBenchStops cancels a benchmark after a few passes.
func TestBenchStops(t *testing.T) {
	d := interpret(t, 1<<22)
	dev := open(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	var names []string
	rates, err := Bench(ctx, dev, BenchOptions{Size: 16, Reps: 1, Progress: func(name string) {
		if names = append(names, name); len(names) == 5 {
			cancel()
		}
	}})
	want := []string{copying, multiply, single, "Dot Forward", "Dot Inverse"}
	if !errors.Is(err, context.Canceled) || rates != nil || !slices.Equal(names, want) {
		t.Errorf("%v, %v after %q, want %q", rates, err, names, want)
	}
	onlyScratch(t, dev, d)
}
