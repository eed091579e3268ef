package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"time"

	"revnum/fixed"
	"revnum/revmodels/ba"
	"revnum/revmodels/graphembed"
)

// A Rate is what a benchmark measured of a pass.
type Rate struct {
	Name    string         `json:"name"`
	Sizes   map[string]int `json:"sizes,omitempty"` // of the operands
	Seconds float64        `json:"seconds"`         // of one pass on the device, without transfers
	Bytes   float64        `json:"bytes"`           // that a pass must move, 0 if it computes rather
	Flops   float64        `json:"flops"`           // that it must compute, 0 if it moves rather
	Peak    float64        `json:"peak"`            // the fraction of the rate named Of
	Of      string         `json:"of"`
}

// The rates by which others are divided.
const (
	copying  = "copy"
	multiply = "multiply-add"
	single   = "multiply-add of float32"
	tensor   = "multiply-add on tensor cores" // by the instruction of MatMul
)

// BenchOptions say what Bench measures.
type BenchOptions struct {
	// Size is the length of vectors, rounded up to a power of 4. Its square root is the order of
	// matrices for Affine, and twice that of others. It is at least 4.
	Size int

	Reps     int               // how often a pass runs, at least 1
	Kernels  *regexp.Regexp    // nil for all, or only those whose names match
	Progress func(name string) // called before a pass is measured, unless it is nil
}

// Bench measures the kernels over float64, and MatMul over float32 too.
//
// Each pass runs Reps times between two events, after one run that is not measured. The first
// rates are those of a copy and of fused multiply-adds, and of those on tensor cores if the card
// has these. The others are divided by the one that bounds them. Bytes count each operand
// once for reading and once for writing, however often a pass moves it.
//
// Bench returns the first error, such as ErrMemory or that of the context, and then no rates. It is
// an error if no name matches.
func Bench(ctx context.Context, d *Device, opts BenchOptions) ([]Rate, error) {
	b := bench{ctx: ctx, dev: d, BenchOptions: opts, order: 2, rnd: rand.New(rand.NewPCG(1, 2))}
	for b.order*b.order < opts.Size {
		b.order *= 2
	}
	b.peaks()
	peaks := len(b.rates)
	for _, part := range []struct {
		run     func()
		kernels []string // nil if it selects them itself
	}{
		{b.vectors, nil}, {b.products, []string{"MatMul", "MatMul float32", "AffineBatch"}}, {b.batchedProducts, []string{"batched MatMul"}}, {b.batchedSolves, []string{"batched TriSolve"}}, {b.largeSolve, []string{"TriSolve"}}, {b.batchedLU, []string{"batched Solve"}}, {b.largeLU, []string{"Solve"}}, {b.batchedCholesky, []string{"batched Cholesky"}}, {b.largeCholesky, []string{"Cholesky"}}, {b.convolution, []string{"Conv2D"}}, {b.attention, []string{"Attention"}}, {b.transforms, []string{"batched FFT", "RealFFT"}}, {b.largeTransform, []string{"FFT"}}, {b.sparse, []string{"Mul"}}, {b.unitary, []string{"Unitary"}},
		{b.batchedQR, []string{"batched QR"}}, {b.largeQR, []string{"QR"}}, {b.mixture, []string{"LogPosterior"}}, {b.fixedMixture, []string{"FixedLogPosterior"}}, {b.snavely, []string{"Snavely"}},
		{b.weighted, []string{"Weighted"}}, {b.graph, []string{"GraphLoss"}}, {b.adjustment, []string{"BundlePoints"}},
	} {
		if err := b.free(); err != nil {
			return nil, err
		}
		if part.kernels == nil || slices.ContainsFunc(part.kernels, b.wants) {
			part.run()
		}
	}
	if err := b.free(); err != nil {
		return nil, err
	}
	if len(b.rates) == peaks {
		return nil, fmt.Errorf("cuda: no kernel has a name that matches %s", opts.Kernels)
	}
	return b.rates, nil
}

// A bench is a benchmark at work. After an error it does nothing.
type bench struct {
	BenchOptions
	ctx   context.Context
	dev   *Device
	order int
	rnd   *rand.Rand
	held  []interface{ Free() error }
	rates []Rate
	err   error
}

// wants reports whether to measure a kernel.
func (b *bench) wants(kernel string) bool {
	return b.Kernels == nil || b.Kernels.MatchString(kernel)
}

// numbers returns n random numbers between 0 and 1 on the device.
func (b *bench) numbers(n int) Memory[float64] {
	host := make([]float64, n)
	for i := range host {
		host[i] = b.rnd.Float64()
	}
	return hold(b, host)
}

// hold returns a copy of host on the device until free is called. If there is an error, it
// returns host, with which nothing runs.
func hold[T any](b *bench, host []T) (m Memory[T]) {
	if b.err == nil {
		if m, b.err = newMemory(b.dev, host); b.err == nil {
			b.held = append(b.held, m)
			return m
		}
	}
	return host
}

// singles returns a matrix of random numbers.
func (b *bench) singles(rows, cols int) General[float32] {
	host := make([]float32, rows*cols)
	for i := range host {
		host[i] = b.rnd.Float32()
	}
	return General[float32]{rows, cols, hold(b, host), cols}
}

func (b *bench) vector(n int) Vector[float64] { return Vector[float64]{n, b.numbers(n), 1} }

func (b *bench) general(rows, cols int) General[float64] {
	return General[float64]{rows, cols, b.numbers(rows * cols), cols}
}

func (b *bench) scalar() *float64 { return &b.numbers(1)[0] }

// free frees what is held.
func (b *bench) free() error {
	for _, m := range b.held {
		b.err = join(b.err, m.Free())
	}
	b.held = nil
	return b.err
}

// measure measures a pass that is bounded by the rate of that name. The amount is that of
// bytes for a copy, and of floating-point operations else.
func (b *bench) measure(name string, sizes map[string]int, amount float64, of string, run func() error) {
	if b.err == nil {
		b.err = b.ctx.Err()
	}
	if b.err != nil {
		return
	}
	if b.Progress != nil {
		b.Progress(name)
	}
	r := Rate{Name: name, Sizes: sizes, Of: of, Peak: 1}
	if r.Seconds, b.err = timeOf(b.dev, run, max(1, b.Reps)); b.err != nil {
		return
	}
	if of == copying {
		r.Bytes = amount
	} else {
		r.Flops = amount
	}
	for _, p := range b.rates {
		if p.Name == of {
			r.Peak = amount / r.Seconds / ((p.Bytes + p.Flops) / p.Seconds)
		}
	}
	b.rates = append(b.rates, r)
}

// timeOf returns the time of a run in seconds, by events.
func timeOf(d *Device, run func() error, reps int) (float64, error) {
	if err := run(); err != nil {
		return 0, err
	}
	t, err := d.first.Time(func() (err error) {
		for range reps {
			err = join(err, run())
		}
		return err
	})
	return max(t, time.Nanosecond).Seconds() / float64(reps), err
}

// launch returns a run of a kernel by itself.
func (b *bench) launch(kernel string, g grid, params ...uint64) func() error {
	return func() error {
		w := pass{dev: b.dev, stream: b.dev.first}
		b.dev.mu.Lock()
		w.launch(kernel, g, params...)
		return w.end()
	}
}

// peaks measures what the others are divided by.
func (b *bench) peaks() {
	n := b.order * b.order
	x, y := b.numbers(n), b.numbers(n)
	b.measure(copying, nil, 16*float64(n), copying, b.launch("copyF64", vectorGrid(n), uint64(y.address()), uint64(x.address()), uint64(n)))

	// Each thread has 8 chains, which are long beside the time of a launch.
	blocks, count := min(b.order, 1024), max(4, n/4096)
	full := grid{[3]int{blocks, 1, 1}, [3]int{maxThreads, 1, 1}}
	steps := 8 * float64(blocks*maxThreads) * float64(count)
	chains := b.numbers(blocks * maxThreads)
	params := []uint64{uint64(chains.address()), uint64(count)}
	b.measure(multiply, nil, 2*steps, multiply, b.launch("chainsF64", full, params...))
	b.measure(single, nil, 2*steps, single, b.launch("chainsF32", full, params...))
	if b.tensor() {
		// A warp computes 16·8·8 multiply-adds with an instruction, or with four.
		name := "tensorChains"
		if b.dev.Properties().Capability >= 90 {
			name += "Hopper"
		}
		b.measure(tensor, nil, 2*16*8*8/warp*steps, tensor, b.launch(name+"F64", full, params...))
	}
}

// tensor reports whether large products run on tensor cores.
func (b *bench) tensor() bool { return b.dev.Properties().Capability >= 80 }

// ofProduct returns the rate that bounds products of matrices of n rows and columns.
func (b *bench) ofProduct(n int) string {
	if b.tensor() && n >= fixedTile {
		return tensor
	}
	return multiply
}

// A benched is a kernel whose passes are measured.
type benched[K any] interface {
	Forward() error
	Inverse() error
	Adjoint(g K) error
	Tangent(t K) error
}

// passes measures the passes of a kernel, with cotangents and tangents in g. The amounts are those
// of Forward and Inverse, of Adjoint and of Tangent.
func passes[K benched[K]](b *bench, name string, sizes map[string]int, of string, amounts [3]float64, k, g K) {
	if !b.wants(name) {
		return
	}
	b.measure(name+" Forward", sizes, amounts[0], of, k.Forward)
	b.measure(name+" Inverse", sizes, amounts[0], of, k.Inverse)
	b.measure(name+" Adjoint", sizes, amounts[1], of, func() error { return k.Adjoint(g) })
	b.measure(name+" Tangent", sizes, amounts[2], of, func() error { return k.Tangent(g) })
}

// moves does what passes does for a kernel that copies bound. All passes read inputs and indices,
// and add to outputs, which moves them both ways. Adjoint also reads the cotangents of outputs, and
// adds to those of inputs. Tangent does it the other way round.
func moves[K benched[K]](b *bench, name string, sizes map[string]int, k, g K) {
	in, out, index := moved(k)
	forward := in + 2*out + index
	passes(b, name, sizes, copying, [3]float64{forward, forward + 2*in + out, forward + in + 2*out}, k, g)
}

// moved returns the bytes of the inputs, of the outputs and of the indices of a kernel.
func moved(k any) (in, out, index float64) {
	var add func(v reflect.Value, to *float64)
	add = func(v reflect.Value, to *float64) {
		switch v.Kind() {
		case reflect.Struct:
			for _, f := range v.Fields() {
				add(f, to)
			}
		case reflect.Slice:
			if v.Type() == reflect.TypeFor[Memory[int32]]() {
				to = &index
			}
			*to += float64(v.Len()) * float64(v.Type().Elem().Size())
		case reflect.Pointer:
			if v.IsNil() {
				return
			}
			*to += float64(v.Type().Elem().Size())
		}
	}
	for f, v := range reflect.ValueOf(k).Fields() {
		switch tag := f.Tag.Get("rev"); {
		case tag == "acc":
			add(v, &out)
		case tag != "":
			add(v, &in)
		}
	}
	return in, out, index
}

// vectors measures kernels of vectors. A kernel of yours is a line here.
func (b *bench) vectors() {
	n := b.order * b.order
	x, y, z, gx, gy, gz := b.vector(n), b.vector(n), b.vector(n), b.vector(n), b.vector(n), b.vector(n)
	s, t, gs, gt, a, ga := b.vector(b.order), b.vector(b.order), b.vector(b.order), b.vector(b.order), b.scalar(), b.scalar()
	square := func(x Vector[float64]) General[float64] { return General[float64]{b.order, b.order, x.Data, b.order} }
	w, gw := square(x), square(gx)
	sizes := map[string]int{"n": n}
	moves(b, "Dot", sizes, Dot[float64]{a, x, y}, Dot[float64]{ga, gx, gy})
	moves(b, "Axpy", sizes, Axpy[float64]{z, a, x}, Axpy[float64]{gz, ga, gx})
	moves(b, "Sum", sizes, Sum[float64]{a, x}, Sum[float64]{ga, gx})
	moves(b, "Norm1", sizes, Norm1[float64]{a, x}, Norm1[float64]{ga, gx})
	moves(b, "Norm2", sizes, Norm2[float64]{a, x}, Norm2[float64]{ga, gx})
	// The derivatives need one element of X.
	passes(b, "NormInf", sizes, copying, [3]float64{8 * float64(n), 8 * float64(n), 8 * float64(n)}, NormInf[float64]{a, x}, NormInf[float64]{ga, gx})
	moves(b, "LogSumExp", sizes, LogSumExp[float64]{a, x}, LogSumExp[float64]{ga, gx})
	moves(b, "Softmax", sizes, Softmax[float64]{z, x}, Softmax[float64]{gz, gx})
	moves(b, "LogSumExpRows", sizes, LogSumExpRows[float64]{Y: s, X: w}, LogSumExpRows[float64]{Y: gs, X: gw})
	moves(b, "SoftmaxRows", sizes, SoftmaxRows[float64]{square(z), w}, SoftmaxRows[float64]{square(gz), gw})
	moves(b, "LayerNorm", sizes, LayerNorm[float64]{Y: square(z), X: w, Gain: s, Bias: t}, LayerNorm[float64]{Y: square(gz), X: gw, Gain: gs, Bias: gt})
	moves(b, "RMSNorm", sizes, RMSNorm[float64]{Y: square(z), X: w, Gain: s}, RMSNorm[float64]{Y: square(gz), X: gw, Gain: gs})
	moves(b, "Exp", sizes, Exp[float64]{z, x}, Exp[float64]{gz, gx})
	moves(b, "Log", sizes, Log[float64]{z, x}, Log[float64]{gz, gx})
	moves(b, "Sqrt", sizes, Sqrt[float64]{z, x}, Sqrt[float64]{gz, gx})
	moves(b, "Sin", sizes, Sin[float64]{z, x}, Sin[float64]{gz, gx})
	moves(b, "Cos", sizes, Cos[float64]{z, x}, Cos[float64]{gz, gx})
	moves(b, "Abs", sizes, Abs[float64]{z, x}, Abs[float64]{gz, gx})
	moves(b, "Tanh", sizes, Tanh[float64]{z, x}, Tanh[float64]{gz, gx})
	moves(b, "Sigmoid", sizes, Sigmoid[float64]{z, x}, Sigmoid[float64]{gz, gx})
	moves(b, "Softplus", sizes, Softplus[float64]{z, x}, Softplus[float64]{gz, gx})
	moves(b, "GELU", sizes, GELU[float64]{z, x}, GELU[float64]{gz, gx})
	moves(b, "SiLU", sizes, SiLU[float64]{z, x}, SiLU[float64]{gz, gx})
	moves(b, "ReLU", sizes, ReLU[float64]{z, x}, ReLU[float64]{gz, gx})
	moves(b, "LeakyReLU", sizes, LeakyReLU[float64]{Y: z, X: x, Slope: 0.01}, LeakyReLU[float64]{Y: gz, X: gx})
	moves(b, "MulElem", sizes, MulElem[float64]{z, x, y}, MulElem[float64]{gz, gx, gy})
	moves(b, "DivElem", sizes, DivElem[float64]{z, x, y}, DivElem[float64]{gz, gx, gy})
	moves(b, "Atan2", sizes, Atan2[float64]{z, x, y}, Atan2[float64]{gz, gx, gy})
	moves(b, "Pow", sizes, Pow[float64]{z, x, y}, Pow[float64]{gz, gx, gy})
	b.steps(sizes, x, gx)
	b.random(sizes, gx)
	moves(b, "Affine", sizes, Affine[float64]{Y: t, W: w, X: s}, Affine[float64]{Y: gt, W: gw, X: gs})
}

// steps measures steps of optimisers, which also read and write what they remember.
func (b *bench) steps(sizes map[string]int, x, grad Vector[float64]) {
	rate := func(int) float64 { return 1e-3 }
	sgd, adam := &SGD{Rate: rate, Momentum: 0.9}, &Adam{Rate: rate}
	b.held = append(b.held, sgd, adam)
	if b.wants("SGD") {
		b.measure("SGD Step", sizes, 5*8*float64(x.N), copying, func() error { return sgd.Step(nil, x, grad) })
	}
	if b.wants("Adam") {
		b.measure("Adam Step", sizes, 7*8*float64(x.N), copying, func() error { return adam.Step(nil, x, grad) })
	}
}

// random measures random numbers, which are only written.
func (b *bench) random(sizes map[string]int, x Vector[float64]) {
	if b.wants("Uniform") {
		b.measure("Uniform", sizes, 8*float64(x.N), copying, func() error { return Uniform(nil, x, 1, 0) })
	}
	if b.wants("Normal") {
		b.measure("Normal", sizes, 8*float64(x.N), copying, func() error { return Normal(nil, x, 1, 0) })
	}
}

// products measures products of square matrices. One takes n³ multiply-adds, and derivatives two
// more.
func (b *bench) products() {
	n := b.order / 2
	x, y, z, gx, gy, gz := b.general(n, n), b.general(n, n), b.general(n, n), b.general(n, n), b.general(n, n), b.general(n, n)
	bias, gbias := b.vector(n), b.vector(n)
	sizes, one := map[string]int{"n": n}, 2*cube(n)
	flops := [3]float64{one, 3 * one, 3 * one}
	passes(b, "MatMul", sizes, b.ofProduct(n), flops, MatMul[float64]{C: z, A: x, B: y}, MatMul[float64]{C: gz, A: gx, B: gy})
	passes(b, "MatMul float32", sizes, single, flops,
		MatMul[float32]{C: b.singles(n, n), A: b.singles(n, n), B: b.singles(n, n)}, MatMul[float32]{C: b.singles(n, n), A: b.singles(n, n), B: b.singles(n, n)})
	passes(b, "AffineBatch", sizes, b.ofProduct(n), flops, AffineBatch[float64]{z, x, y, bias}, AffineBatch[float64]{gz, gx, gy, gbias})
}

// batchedProducts measures products of small matrices, which copies bound.
func (b *bench) batchedProducts() {
	n, stack, count := b.small()
	k := MatMul[float64]{C: stack(), A: stack(), B: stack(), Count: count}
	g := MatMul[float64]{C: stack(), A: stack(), B: stack(), Count: count}
	moves(b, "batched MatMul", map[string]int{"n": n, "matrices": count}, k, g)
}

// batchedSolves measures small triangular systems.
func (b *bench) batchedSolves() {
	n, stack, count := b.small()
	k := TriSolve[float64]{X: stack(), A: stack(), B: stack(), Upper: true, Count: count}
	g := TriSolve[float64]{X: stack(), A: stack(), B: stack(), Upper: true, Count: count}
	moves(b, "batched TriSolve", map[string]int{"n": n, "matrices": count}, k, g)
}

// largeSolve measures a triangular system with as many right-hand sides as equations. Adjoint and Tangent
// solve two and multiply.
func (b *bench) largeSolve() {
	n := b.order / 2
	operands := func() TriSolve[float64] {
		return TriSolve[float64]{X: b.general(n, n), A: b.general(n, n), B: b.general(n, n), Upper: true}
	}
	passes(b, "TriSolve", map[string]int{"n": n}, b.ofProduct(n), [3]float64{cube(n), 4 * cube(n), 4 * cube(n)}, operands(), operands())
}

// batchedLU measures small systems.
func (b *bench) batchedLU() {
	n, stack, count := b.small()
	k := Solve[float64]{X: stack(), A: stack(), B: stack(), Count: count}
	g := Solve[float64]{X: stack(), A: stack(), B: stack(), Count: count}
	moves(b, "batched Solve", map[string]int{"n": n, "matrices": count}, k, g)
}

// largeLU measures a system with as many right-hand sides as equations. Adjoint and Tangent solve two, and
// multiply.
func (b *bench) largeLU() {
	n := b.order / 2
	operands := func() Solve[float64] {
		return Solve[float64]{X: b.general(n, n), A: b.general(n, n), B: b.general(n, n)}
	}
	passes(b, "Solve", map[string]int{"n": n}, b.ofProduct(n), [3]float64{8 * cube(n) / 3, 20 * cube(n) / 3, 20 * cube(n) / 3}, operands(), operands())
}

// batchedCholesky measures factors of small matrices.
func (b *bench) batchedCholesky() {
	n, stack, count := b.small()
	k := Cholesky[float64]{L: stack(), A: b.definite(n, count), Count: count}
	g := Cholesky[float64]{L: stack(), A: stack(), Count: count}
	moves(b, "batched Cholesky", map[string]int{"n": n, "matrices": count}, k, g)
}

// largeCholesky measures a factor. Adjoint and Tangent have two triangular solutions and a product besides.
func (b *bench) largeCholesky() {
	n := b.order / 2
	k := Cholesky[float64]{L: b.general(n, n), A: b.definite(n, 1)}
	g := Cholesky[float64]{L: b.general(n, n), A: b.general(n, n)}
	passes(b, "Cholesky", map[string]int{"n": n}, b.ofProduct(n), [3]float64{cube(n) / 3, 13 * cube(n) / 3, 13 * cube(n) / 3}, k, g)
}

// definite returns a stack of matrices whose diagonals are larger than what is beside them in a row.
func (b *bench) definite(n, count int) General[float64] {
	host := make([]float64, count*n*n)
	for i := range host {
		if host[i] = b.rnd.Float64(); i/n%n == i%n {
			host[i] += float64(n)
		}
	}
	return General[float64]{count * n, n, hold(b, host), n}
}

// small returns a function that makes stacks of matrices of n rows and columns.
func (b *bench) small() (n int, stack func() General[float64], count int) {
	n = min(32, b.order/2)
	count = b.order * b.order / (n * n)
	return n, func() General[float64] { return b.general(count*n, n) }, count
}

// convolution measures filters of 3×3 elements over 64 channels, of planes of 32×32 elements each.
func (b *bench) convolution() {
	const kernel = 3
	side := min(32, b.order)
	channels := min(64, b.order)
	inputs := max(1, b.order*b.order/(side*side*channels))
	operands := func() Conv2D[float64] {
		return Conv2D[float64]{Y: b.general(inputs, channels*side*side), X: b.general(inputs, channels*side*side), W: b.general(channels, channels*kernel*kernel), B: b.vector(channels)}
	}
	k, g := operands(), operands()
	k.Channels, k.Height, k.Width, k.KernelHeight, k.KernelWidth = channels, side, side, kernel, kernel
	k.StrideHeight, k.StrideWidth, k.PadHeight, k.PadWidth = 1, 1, kernel/2, kernel/2
	one := 2 * float64(inputs*side*side) * float64(channels*channels*kernel*kernel)
	passes(b, "Conv2D", map[string]int{"inputs": inputs, "channels": channels, "side": side}, multiply, [3]float64{one, 3 * one, 3 * one}, k, g)
}

// attention measures 16 heads of 64 columns. Forward has two products, Adjoint and Tangent four more.
func (b *bench) attention() {
	heads := min(16, b.order)
	c, n := min(64, b.order)*heads, b.order/2
	operands := func() Attention[float64] {
		return Attention[float64]{Y: b.general(n, c), Q: b.general(n, c), K: b.general(n, c), V: b.general(n, c), Heads: heads}
	}
	one := 2 * 2 * float64(n) * float64(n) * float64(c)
	passes(b, "Attention", map[string]int{"n": n, "heads": heads, "columns": c}, b.ofProduct(min(n, c/heads)), [3]float64{one, 3 * one, 3 * one}, operands(), operands())
}

// transforms measures transforms of 1024 numbers. A pass reads and writes them, and their derivatives. A spectrum
// of real numbers has about as many bytes as they.
func (b *bench) transforms() {
	n := min(1024, b.order)
	count := b.order * b.order / 2 / n
	k, g := FFT{X: b.complexes(n * count), Count: count}, FFT{X: b.complexes(n * count)}
	sizes, one := map[string]int{"n": n, "transforms": count}, 2*16*float64(n*count)
	passes(b, "batched FFT", sizes, copying, [3]float64{one, 2 * one, 2 * one}, k, g)
	moves(b, "RealFFT", sizes,
		RealFFT{Y: b.complexes(count * (n/2 + 1)), X: b.vector(n * count), Count: count}, RealFFT{Y: b.complexes(count * (n/2 + 1)), X: b.vector(n * count)})
}

// largeTransform measures one transform, which has several passes over the memory.
func (b *bench) largeTransform() {
	n := b.order * b.order / 2
	one := 2 * 16 * float64(n)
	passes(b, "FFT", map[string]int{"n": n}, copying, [3]float64{one, 2 * one, 2 * one}, FFT{X: b.complexes(n)}, FFT{X: b.complexes(n)})
}

// complexes returns random numbers.
func (b *bench) complexes(n int) Vector[complex128] {
	host := make([]complex128, n)
	for i := range host {
		host[i] = complex(b.rnd.Float64(), b.rnd.Float64())
	}
	return Vector[complex128]{n, hold(b, host), 1}
}

func cube(n int) float64 { return float64(n) * float64(n) * float64(n) }

// sparse measures products of one column with a band of 10 entries in each row.
func (b *bench) sparse() {
	n := max(b.order*b.order/16, 16)
	const width = 10
	ptr, ind := make([]int32, n+1), make([]int32, 0, n*width)
	for i := range n {
		from := min(max(i-width/2, 0), n-width)
		for j := range width {
			ind = append(ind, int32(from+j))
		}
		ptr[i+1] = int32(len(ind))
	}
	entries := len(ind)
	a := CSR[float64]{n, n, hold(b, ptr), hold(b, ind), b.numbers(entries)}
	moves(b, "Mul", map[string]int{"rows": n, "entries": entries},
		Mul[float64]{C: b.general(n, 1), A: a, B: b.general(n, 1)}, Mul[float64]{C: b.general(n, 1), A: a.With(b.numbers(entries)), B: b.general(n, 1)})
}

// unitary measures n(n-1)/2 rotations of rows of n elements. A rotation of two elements takes 6
// operations. Derivatives rotate too, and take 4 for the angles.
func (b *bench) unitary() {
	n := b.order / 2
	k := Unitary[float64]{X: b.general(n, n), Theta: b.vector(n * (n - 1) / 2)}
	g := Unitary[float64]{X: b.general(n, n), Theta: b.vector(k.Theta.N)}
	sizes, turns := map[string]int{"n": n}, float64(k.Theta.N)*float64(n)
	passes(b, "Unitary", sizes, multiply, [3]float64{6 * turns, 16 * turns, 16 * turns}, k, g)
}

// batchedQR measures decompositions of small matrices.
func (b *bench) batchedQR() {
	n, stack, count := b.small()
	k := QR[float64]{Q: stack(), R: stack(), A: stack(), Count: count}
	g := QR[float64]{Q: stack(), R: stack(), A: stack(), Count: count}
	moves(b, "batched QR", map[string]int{"n": n, "matrices": count}, k, g)
}

// largeQR measures a decomposition, which takes 4n³/3 operations for R and as many for Q. Adjoint
// also takes 4n³/3 for K, 2n³ for Q·K and n³ to solve for X. Tangent takes n³ for C, 2n³ for S, n³ for Q·N
// and n³/3 for N·R. Most are those of products.
func (b *bench) largeQR() {
	n := b.order / 2
	k := QR[float64]{Q: b.general(n, n), R: b.general(n, n), A: b.general(n, n)}
	g := QR[float64]{Q: b.general(n, n), R: b.general(n, n), A: b.general(n, n)}
	passes(b, "QR", map[string]int{"n": n}, b.ofProduct(n), [3]float64{8 * cube(n) / 3, 7 * cube(n), 7 * cube(n)}, k, g)
}

// mixture measures K components in d dimensions. The quadratic forms of n points take
// n·K·d(d+1) operations, and so do the second moments for the gradient. The gradient comes
// with the value. Tangent multiplies with it.
func (b *bench) mixture() {
	d, comps := min(64, b.order/2), min(100, b.order/2)
	n := max(b.order*b.order/27, 2) // 2.5 million of 2²⁶
	triangle := d * (d + 1) / 2
	k := LogPosterior[float64]{Out: b.scalar(), Alpha: b.vector(comps), Means: b.general(comps, d), Factors: b.general(comps, triangle), X: b.general(n, d)}
	g := LogPosterior[float64]{Out: b.scalar(), Alpha: b.vector(comps), Means: b.general(comps, d), Factors: b.general(comps, triangle)}
	sizes, flops := map[string]int{"n": n, "d": d, "K": comps}, 2*float64(n)*float64(comps)*float64(triangle)
	of := multiply
	if b.tensor() { // d is at most tensorSide
		of = tensor
	}
	passes(b, "LogPosterior", sizes, of, [3]float64{flops, 2 * flops, 2 * flops}, k, g)
}

// fixedMixture measures the same over Q43, for as many points as its range allows. A product of 64
// bits by 64 bits and its sum take about 20 instructions of integers, of which a card starts twice as
// many in a cycle as multiply-adds of float64. It counts as 10 of these.
func (b *bench) fixedMixture() {
	d, comps := min(64, b.order/2), min(100, b.order/2)
	n := max(min(b.order*b.order/27, 8192), 2)
	general := func(rows, cols int, most float64) General[fixed.Q43] {
		host := make([]fixed.Q43, rows*cols)
		for i := range host {
			host[i] = fixed.FromFloat64(most * b.rnd.Float64())
		}
		return General[fixed.Q43]{rows, cols, hold(b, host), cols}
	}
	triangle := d * (d + 1) / 2
	random := func() FixedLogPosterior {
		return FixedLogPosterior{
			Out: &general(1, 1, 1).Data[0], Alpha: Vector[fixed.Q43]{comps, general(comps, 1, 1).Data, 1},
			Means: general(comps, d, 1), Factors: general(comps, triangle, 1./16),
		}
	}
	k, g := random(), random()
	k.X = general(n, d, 1)
	sizes, flops := map[string]int{"n": n, "d": d, "K": comps}, 10*2*float64(n)*float64(comps)*float64(triangle)
	passes(b, "FixedLogPosterior", sizes, multiply, [3]float64{flops, 2 * flops, 2 * flops}, k, g)
}

// A bundle has observations as large problems of bundle adjustment have them: those of a point
// are neighbours, 5 of them, and their cameras are anywhere. A camera has about 3000.
type bundle struct {
	n               int
	sizes           map[string]int
	cameras, points General[float64]
	features        General[float64]
	camera, point   Memory[int32]
}

func (b *bench) bundle(params int) bundle {
	n := max(b.order*b.order/16, 16)
	cameras, points := n/3000+1, (n+4)/5
	camera, point := make([]int32, n), make([]int32, n)
	for i := range n {
		camera[i], point[i] = b.rnd.Int32N(int32(cameras)), int32(i/5)
	}
	return bundle{
		n: n, sizes: map[string]int{"observations": n, "cameras": cameras, "points": points},
		cameras: b.general(cameras, params), points: b.general(points, 3), features: b.general(n, 2),
		camera: hold(b, camera), point: hold(b, point),
	}
}

// snavely measures kernels that read a bundle. Jacobian stores 2·12 numbers for each observation.
func (b *bench) snavely() {
	s, g := b.bundle(9), b.bundle(9)
	n := s.n
	j := b.general(2*n, 12)
	k := Snavely[float64]{Cameras: s.cameras, Points: s.points, Features: s.features, Camera: s.camera, Point: s.point}
	in, _, index := moved(k)
	b.measure("Snavely Jacobian", s.sizes, in+index+192*float64(n), copying, func() error { return k.Jacobian(j) })
	k.R = b.vector(2 * n)
	moves(b, "Snavely", s.sizes, k, Snavely[float64]{R: b.vector(2 * n), Cameras: g.cameras, Points: g.points, Features: g.features})
}

// weighted measures the same with weights. Jacobian stores 2·15 numbers and the derivative of Z.
func (b *bench) weighted() {
	s, g := b.bundle(11), b.bundle(11)
	n := s.n
	j, dz := b.general(2*n, 15), b.vector(n)
	k := Weighted[float64]{Cameras: s.cameras, Points: s.points, Weights: b.vector(n), Features: s.features, Camera: s.camera, Point: s.point}
	in, _, index := moved(k)
	b.measure("Weighted Jacobian", s.sizes, in+index+248*float64(n), copying, func() error { return k.Jacobian(j, dz) })
	k.R, k.Z = b.vector(2*n), b.vector(n)
	moves(b, "Weighted", s.sizes, k, Weighted[float64]{R: b.vector(2 * n), Z: b.vector(n), Cameras: g.cameras, Points: g.points, Weights: b.vector(n), Features: g.features})
}

// graph measures an embedding into 3 dimensions of a graph with 8 edges for each vertex. The units
// for float64 take as long for a sum or a product as for a multiply-add, so that each counts as two
// operations. The distance of a pair takes 3·2 of these, and 9 for √ and its inverse. A sum of them
// takes 1, and the excess over the mean and two sums take 3. Adjoint also takes 3 for w·Ōut and 3·2 for
// w·u, at both ends of the pair. Tangent takes 3·3 for the derivative of a distance, twice, and 5 for
// sums and w.
func (b *bench) graph() {
	const dim = 3
	n := 4 * b.order
	edges := make([][2]int, 0, 8*n)
	for i := range n {
		for range 8 {
			edges = append(edges, [2]int{i, (i + 1 + b.rnd.IntN(n-1)) % n})
		}
	}
	host, err := graphembed.NewGraph(n, edges)
	if b.err = join(b.err, err); b.err != nil {
		return
	}
	var g *Graph
	if g, b.err = NewGraph(b.dev, host); b.err != nil {
		return
	}
	b.held = append(b.held, g)
	k := GraphLoss[float64]{Out: b.scalar(), Free: b.general(n, dim), Graph: g, Margin: graphembed.DefaultMargin}
	c := GraphLoss[float64]{Out: b.scalar(), Free: b.general(n, dim)}
	sizes, pairs := map[string]int{"vertices": n, "edges": host.Edges()}, float64(host.Pairs())
	passes(b, "GraphLoss", sizes, multiply, [3]float64{2 * (16 + 18) * pairs, 2 * (16 + 2*24 + 2) * pairs, 2 * (26 + 30) * pairs}, k, c)
}

// adjustment measures what a step of bundle adjustment does with a Jacobian. The normal equations
// read it and the residuals, and store 97 numbers for each camera and 9 for each point. The
// product with the reduced camera system reads it, 6 numbers of each point, and moves 9 of each
// camera in and out. Both read the indices. For a pair of observations, the reduced system takes
// 36 operations for both H, 20 for M, 54 for M·F and 324 for Fᵀ·M·F (kernels/bundle.cu).
func (b *bench) adjustment() {
	n := max(b.order*b.order/16, 16)
	p := &ba.Problem{Camera: make([]int, n), Point: make([]int, n)}
	cameras, points := n/3000+1, (n+4)/5
	for _, list := range []struct {
		to *[]float64
		n  int
	}{{&p.Cameras, 9 * cameras}, {&p.Points, 3 * points}, {&p.Features, 2 * n}} {
		for range list.n {
			*list.to = append(*list.to, b.rnd.Float64())
		}
	}
	for i := range n {
		p.Camera[i], p.Point[i] = b.rnd.IntN(cameras), i/5
	}
	if b.err != nil {
		return
	}
	a, err := NewBundlePoints(b.dev, p, nil)
	if b.err = err; err != nil {
		return
	}
	b.held = append(b.held, a)
	number, answer := make([]float64, 1), make([]float64, 97*cameras)
	b.err = join(a.Set(p.Points), a.Ask(ba.AskLinear, 0, p.Cameras, number, answer), a.Ask(ba.AskScale, 0, nil, nil, nil),
		a.Ask(ba.AskEliminate, 1, nil, number, answer[:90*cameras]))
	if b.err == nil {
		a.reduced, b.err = a.newReduced()
	}
	sizes := map[string]int{"observations": n, "cameras": cameras, "points": points}
	N, C, P := float64(n), float64(cameras), float64(points)
	b.measure("BundlePoints normal equations", sizes, 8*(26*N+97*C+9*P)+4*(N+C+P), copying, func() error { return a.run(a.normalEquations) })
	b.measure("BundlePoints product", sizes, 8*(24*N+18*C+6*P)+4*(3*N+C+P), copying, func() error { return a.run(a.product) })
	b.measure("BundlePoints reduced system", map[string]int{"blocks": len(a.reduced.camera), "pairs": len(a.reduced.pairs) / 2},
		434*float64(len(a.reduced.pairs)/2), multiply, func() error { return a.run(a.reduce) })
}
