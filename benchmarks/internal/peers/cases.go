package peers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"revnum/rev"
	"revnum/rules"
)

// A Case is a rule on operands of one size.
type Case struct {
	Rule *rules.Rule
	Size string // of vectors, or of square matrices
	draw func(rnd *rand.Rand) rules.Args

	// flops is the number of floating-point operations of a value, or 0 if memory bounds the
	// kernel and not arithmetic.
	flops float64
}

// Name returns the name of the case, such as "revlinalg.MatMul[float64] 256".
func (c *Case) Name() string { return c.Rule.Name + " " + c.Size }

// orders has the orders of problems by kernel. The other kernels have those of orderOf.
var orders = map[string][]int{
	"revlinalg.DetMinors": {8}, "revlinalg.Unitary": {64, 256}, "revlinalg.ComplexUnitary": {64, 256},
	"revlinalg.FFT": {1024, 1000, 1009, 65536}, "revlinalg.RealFFT": {1024, 1000, 1009, 65536},
	"revtropical.MatMul": {64, 256}, "revlog.MatMul": {64}, "revlog.Powers": {100}, "revsparse.LogMul": {100},
	"revsparse.DominantEig": {500}, "revlinalg.PolyLeastSquares": {10}, "graphembed.Loss": {30}, "hand.Residuals": {30},
	"lstm.Loss": {20}, "gmm.LogPosterior": {16}, "gmm.LogResponsibilities": {16}, "kmeans.Cost": {16},
	"nbody.Steps": {10}, "wave.Steps": {100},
}

// flops has the number of floating-point operations of square problems of order n, as
// benchmarks of BLAS, LAPACK and FFTW count them.
var flops = map[string]func(n float64) float64{
	"revlinalg.MatMul":   func(n float64) float64 { return 2 * n * n * n },
	"revnn.AffineBatch":  func(n float64) float64 { return 2 * n * n * 3 }, // it has 3 outputs
	"revlinalg.Cholesky": func(n float64) float64 { return n * n * n / 3 },
	"revlinalg.Solve":    func(n float64) float64 { return 2*n*n*n/3 + 2*n*n*n },
	"revlinalg.Inv":      func(n float64) float64 { return 2 * n * n * n },
	"revlinalg.TriSolve": func(n float64) float64 { return n * n * n },
	"revlinalg.Unitary":  func(n float64) float64 { return 3 * n * n * (n - 1) },
}

// Cases returns the cases of all rules over the given types of numbers.
func Cases(types map[string]bool) (all []*Case) {
	for _, r := range rules.All() {
		if r.Missing != "" || !types[r.Type.String()] {
			continue
		}
		if ws := windows[r.Kernel]; ws != nil && (r.Type == rules.Float64 || r.Type == rules.Float32) {
			for _, w := range ws {
				all = append(all, w.of(r))
			}
			continue
		}
		if r.Kernel == "revnn.LSTM" || r.Kernel == "revnn.GRU" {
			for _, sequences := range []int{1, 32} {
				for _, h := range []int{64, 256} {
					all = append(all, recurrent(r, sequences, h))
				}
			}
			continue
		}
		if r.Kernel == "revnn.Attention" {
			for _, a := range attentions {
				all = append(all, a.of(r))
			}
			continue
		}
		for _, n := range ordersOf(r) {
			all = append(all, square(r, n))
		}
	}
	return all
}

func ordersOf(r *rules.Rule) []int {
	if n := orders[r.Kernel]; n != nil {
		return n
	}
	for _, o := range r.Operands {
		if strings.Contains(o.Shape, ",") && !strings.HasSuffix(o.Shape, ",3") {
			return []int{64, 256}
		}
	}
	return []int{100, 10000, 1000000}
}

// square returns the case of operands of about n rows and columns.
func square(r *rules.Rule, n int) *Case {
	c := &Case{Rule: r, Size: fmt.Sprint(n), draw: func(rnd *rand.Rand) rules.Args { return r.Example(rnd, n, n) }}
	if f := flops[r.Kernel]; f != nil {
		c.flops = f(float64(n))
	}
	return c
}

// sizes are bytes of an element.
var sizes = map[rules.Type]int{rules.Float32: 4, rules.Float64: 8, rules.Complex128: 16}

// args returns the operands, and cotangents of all that have one. Large ones lie in the pages that the arrays
// of the peers have.
func (c *Case) args() rules.Args {
	a := c.draw(rand.New(rand.NewPCG(1, 1)))
	a.Cotangents = c.draw(rand.New(rand.NewPCG(1, 2))).Operands
	for i, o := range c.Rule.Operands {
		g := &a.Cotangents[i]
		if g.Ptr, g.Ind = a.Operands[i].Ptr, a.Operands[i].Ind; o.Role == "index" {
			*g = rules.Buffer{}
		}
	}
	for _, b := range slices.Concat(a.Operands, a.Cotangents) {
		if size := sizes[b.Type]; size > 0 {
			useHugePages(b, size)
		}
	}
	return a
}

// A windowed case has images and windows that slide over them. Norms have windows of one element, and
// groups of channels.
type windowed struct {
	images, channels, size int // of square images
	filters                int // 0 of pools, and of convolutions that are depthwise the channels
	groups                 int
	window, stride, pad    int
}

var windows = map[string][]windowed{
	"revnn.Conv2D": {
		{8, 64, 28, 64, 1, 3, 1, 1}, {8, 3, 56, 64, 1, 7, 2, 3}, {8, 64, 28, 64, 64, 3, 1, 1},
	},
	"revnn.ConvTranspose2D": {{8, 32, 56, 64, 1, 4, 2, 1}, {8, 64, 28, 64, 1, 3, 1, 1}},

	"revnn.MaxPool":  {{8, 64, 28, 0, 0, 2, 2, 0}},
	"revnn.MeanPool": {{8, 64, 28, 0, 0, 2, 2, 0}},

	"revnn.BatchNorm": {{32, 64, 28, 0, 0, 1, 1, 0}, {64, 64, 8, 0, 0, 1, 1, 0}, {256, 256, 1, 0, 0, 1, 1, 0}},
	"revnn.GroupNorm": {{32, 64, 28, 0, 8, 1, 1, 0}, {64, 64, 8, 0, 8, 1, 1, 0}, {256, 256, 1, 0, 8, 1, 1, 0}},
}

func (w windowed) of(r *rules.Rule) *Case {
	out := (w.size+2*w.pad-w.window)/w.stride + 1
	depth := w.filters
	if depth == 0 {
		depth = w.channels
	}
	shapes := map[string][2]int{
		"X": {w.images, w.channels * w.size * w.size}, "Y": {w.images, depth * out * out},
		"W": {w.filters, w.channels / max(1, w.groups) * w.window * w.window}, "B": {w.filters, 1},
		"Mean": {w.channels, 1}, "Variance": {w.channels, 1}, "Gain": {w.channels, 1}, "Bias": {w.channels, 1},
	}
	if r.Kernel == "revnn.ConvTranspose2D" {
		shapes["X"], shapes["Y"], shapes["B"] = shapes["Y"], shapes["X"], [2]int{w.channels, 1}
	}
	params := map[string]float64{"Channels": float64(w.channels), "Groups": float64(w.groups)}
	for _, side := range [...]string{"Height", "Width"} {
		params[side], params["Kernel"+side], params["Window"+side] = float64(w.size), float64(w.window), float64(w.window)
		params["Stride"+side], params["Pad"+side] = float64(w.stride), float64(w.pad)
	}
	c := &Case{Rule: r, Size: fmt.Sprintf("%d×%d×%d×%d", w.images, w.channels, w.size, w.size)}
	if w.window > 1 {
		c.Size += fmt.Sprintf(" by %d×%d", w.window, w.window)
	}
	if w.filters > 0 {
		c.Size += fmt.Sprintf(", %d filters", w.filters)
		c.flops = 2 * float64(w.images*w.filters*out*out*shapes["W"][1])
	}
	if w.groups > 1 {
		c.Size += fmt.Sprintf(" in %d groups", w.groups)
	}
	c.draw = func(rnd *rand.Rand) rules.Args {
		return drawnAs(r, rnd, params, func(name string) ([2]int, float64) { return shapes[name], 1 })
	}
	return c
}

// An attention has sequences of so many rows, which are their own keys and values.
type attention struct {
	sequences, heads, rows, depth int
	causal                        bool
}

var attentions = []attention{{1, 1, 256, 64, false}, {4, 8, 128, 64, false}, {1, 8, 1024, 64, false}, {1, 8, 1024, 64, true}}

func (s attention) of(r *rules.Rule) *Case {
	rows, cols := s.sequences*s.rows, s.heads*s.depth
	params := map[string]float64{"Heads": float64(s.heads), "Sequences": float64(s.sequences)}
	c := &Case{Rule: r, Size: fmt.Sprintf("%d×%d×%d, %d heads", s.sequences, s.rows, cols, s.heads), flops: 4 * float64(rows*s.rows*cols)}
	if s.causal {
		c.Size += ", causal"
		c.flops /= 2
		params["Causal"] = 1
	}
	c.draw = func(rnd *rand.Rand) rules.Args {
		return drawnAs(r, rnd, params, func(string) ([2]int, float64) { return [2]int{rows, cols}, 1 })
	}
	return c
}

// recurrent returns 32 steps of sequences with as many inputs as states.
func recurrent(r *rules.Rule, sequences, h int) *Case {
	const steps = 32
	gates := 4
	if r.Kernel == "revnn.GRU" {
		gates = 3
	}
	shapes := map[string][2]int{
		"X": {steps * sequences, h}, "Y": {steps * sequences, h}, "H0": {sequences, h}, "C0": {sequences, h}, "C": {sequences, h},
		"WX": {gates * h, h}, "WH": {gates * h, h}, "BX": {gates * h, 1}, "BH": {gates * h, 1},
	}
	return &Case{
		Rule: r, Size: fmt.Sprintf("%d steps of %d×%d", steps, sequences, h), flops: 4 * float64(steps*sequences*gates*h*h),
		draw: func(rnd *rand.Rand) rules.Args {
			return drawnAs(r, rnd, map[string]float64{"Sequences": float64(sequences)}, func(name string) ([2]int, float64) {
				if name[0] == 'W' { // else the steps are chaotic
					return shapes[name], 1 / math.Sqrt(float64(h))
				}
				return shapes[name], 1
			})
		},
	}
}

// drawnAs returns operands of the given shapes and magnitudes.
func drawnAs(r *rules.Rule, rnd *rand.Rand, params map[string]float64, shape func(name string) (dims [2]int, scale float64)) (a rules.Args) {
	draw := drawn[float64]
	if r.Type == rules.Float32 {
		draw = drawn[float32]
	}
	for _, o := range r.Operands {
		dims, scale := shape(o.Name)
		a.Operands = append(a.Operands, draw(rnd, o, dims, scale))
	}
	for _, p := range r.Params {
		a.Params = append(a.Params, params[p.Name])
	}
	return a
}

// drawn returns an operand of normal numbers times scale.
func drawn[T float32 | float64](rnd *rand.Rand, o rules.Operand, shape [2]int, scale float64) rules.Buffer {
	x := make([]T, shape[0]*shape[1])
	for i := range x {
		x[i] = T(scale * rnd.NormFloat64())
	}
	if o.Kind == "vector" {
		return rules.Vector(rev.ViewSlice(x))
	}
	return rules.Matrix(rev.NewGeneral(shape[0], shape[1], x))
}
