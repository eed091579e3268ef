package cuda

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"time"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
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

	arithmetic = "" // that of multiply-adds of the type of numbers
)

// BenchOptions say what Bench measures.
type BenchOptions struct {
	// Size is the length of vectors, rounded up to a power of 4. Its square root is the order of
	// matrices for Affine, TriSolve, Solve and Cholesky, and twice that of others. It is at least 4.
	Size int

	// Type is that of the numbers: float64, also if it is empty, float32 or q43. With float64 are also
	// complex128, MatMul over float32 and FixedLogPosterior. Over q43 an operation counts as ten of float64.
	Type string

	Reps     int               // how often a pass runs, at least 1
	Kernels  *regexp.Regexp    // nil for all, or only those whose names match
	Progress func(name string) // called before a pass is measured, unless it is nil
}

// Bench measures the kernels that there are over a type of numbers.
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
	parts, err := b.parts()
	if err != nil {
		return nil, err
	}
	b.peaks()
	peaks := len(b.rates)
	for _, part := range parts {
		if err := b.free(); err != nil {
			return nil, err
		}
		if part.kernels == nil || slices.ContainsFunc(part.kernels, b.wants) {
			part.run(&b)
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

// A benchPart measures some kernels.
type benchPart struct {
	run     func(*bench)
	kernels []string // nil if it selects them itself
}

// parts returns what is there for the type of numbers.
func (b *bench) parts() ([]benchPart, error) {
	fixedPart := benchPart{(*bench).fixedMixture, []string{"FixedLogPosterior"}}
	switch b.Type {
	case "", "float64":
		b.rate, b.cost = multiply, 1
		return append(append(realParts[float64](), floatParts[float64]()...), fixedPart,
			benchPart{(*bench).transforms, []string{"batched FFT", "RealFFT"}}, benchPart{(*bench).largeTransform, []string{"FFT"}},
			benchPart{(*bench).adjustment, []string{"BundlePoints"}}), nil
	case "float32":
		b.rate, b.cost = single, 1
		return append(realParts[float32](), floatParts[float32]()...), nil
	case "q43":
		b.rate, b.cost = multiply, 10
		return append(realParts[fixed.Q43](), fixedPart), nil
	}
	return nil, fmt.Errorf("cuda: type %q of numbers, want float64, float32 or q43", b.Type)
}

func realParts[T rev.Real]() []benchPart {
	return []benchPart{
		{benchVectors[T], nil}, {benchProducts[T], []string{"MatMul", "MatMul float32", "AffineBatch"}}, {benchBatchedProducts[T], []string{"batched MatMul"}},
		{benchConvolution[T], []string{"Conv2D"}}, {benchSparse[T], []string{"Mul", "Mul with a full row"}}, {benchUnitary[T], []string{"Unitary"}},
		{benchSnavely[T], []string{"Snavely"}}, {benchWeighted[T], []string{"Weighted"}}, {benchGraph[T], []string{"GraphLoss"}},
	}
}

func floatParts[T rev.Float]() []benchPart {
	return []benchPart{
		{benchBatchedSolves[T], []string{"batched TriSolve"}}, {benchLargeSolve[T], []string{"TriSolve"}}, {benchBatchedLU[T], []string{"batched Solve"}},
		{benchLargeLU[T], []string{"Solve"}}, {benchBatchedCholesky[T], []string{"batched Cholesky"}}, {benchLargeCholesky[T], []string{"Cholesky"}},
		{benchBatchedQR[T], []string{"batched QR"}}, {benchLargeQR[T], []string{"QR"}}, {benchAttention[T], []string{"Attention"}}, {benchMixture[T], []string{"LogPosterior"}},
	}
}

// A bench is a benchmark at work. After an error it does nothing.
type bench struct {
	BenchOptions
	ctx   context.Context
	dev   *Device
	order int
	rate  string  // of multiply-adds of the type
	cost  float64 // of an operation, in those of the rate
	rnd   *rand.Rand
	held  []interface{ Free() error }
	rates []Rate
	err   error
}

// wants reports whether to measure a kernel.
func (b *bench) wants(kernel string) bool {
	return b.Kernels == nil || b.Kernels.MatchString(kernel)
}

// benchNumbers returns n random numbers between 0 and 1 on the device.
func benchNumbers[T rev.Real](b *bench, n int) Memory[T] { return numbersUpTo[T](b, n, 1) }

func numbersUpTo[T rev.Real](b *bench, n int, most float64) Memory[T] {
	host := make([]T, n)
	for i := range host {
		host[i] = fixed.Of[T](most * b.rnd.Float64())
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

func benchVector[T rev.Real](b *bench, n int) Vector[T] {
	return Vector[T]{n, benchNumbers[T](b, n), 1}
}

func benchMatrix[T rev.Real](b *bench, rows, cols int) General[T] {
	return General[T]{rows, cols, benchNumbers[T](b, rows*cols), cols}
}

// sizeOf returns the bytes of a number.
func sizeOf[T rev.Real]() float64 { return float64(unsafe.Sizeof(*new(T))) }

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
	x, y := benchNumbers[float64](b, n), benchNumbers[float64](b, n)
	b.measure(copying, nil, 16*float64(n), copying, b.launch("copyF64", vectorGrid(n), uint64(y.address()), uint64(x.address()), uint64(n)))

	// Each thread has 8 chains, which are long beside the time of a launch.
	blocks, count := min(b.order, 1024), max(4, n/4096)
	full := grid{[3]int{blocks, 1, 1}, [3]int{maxThreads, 1, 1}}
	steps := 8 * float64(blocks*maxThreads) * float64(count)
	chains := benchNumbers[float64](b, blocks*maxThreads)
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
	if b.tensor() && b.rate == multiply && b.cost == 1 && n >= fixedTile {
		return tensor
	}
	return arithmetic
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
	if of == arithmetic {
		of = b.rate
		for i := range amounts {
			amounts[i] *= b.cost
		}
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
			*to += float64(v.Len() * int(v.Type().Elem().Size()))
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

// benchVectors measures kernels of vectors. A kernel of yours is a line here.
func benchVectors[T rev.Real](b *bench) {
	n := b.order * b.order
	x, y, z, gx, gy, gz := benchVector[T](b, n), benchVector[T](b, n), benchVector[T](b, n), benchVector[T](b, n), benchVector[T](b, n), benchVector[T](b, n)
	s, t, gs, gt, a, ga := benchVector[T](b, b.order), benchVector[T](b, b.order), benchVector[T](b, b.order), benchVector[T](b, b.order), &benchNumbers[T](b, 1)[0], &benchNumbers[T](b, 1)[0]
	square := func(x Vector[T]) General[T] { return General[T]{b.order, b.order, x.Data, b.order} }
	w, gw := square(x), square(gx)
	sizes := map[string]int{"n": n}
	moves(b, "Dot", sizes, Dot[T]{a, x, y}, Dot[T]{ga, gx, gy})
	moves(b, "Axpy", sizes, Axpy[T]{z, a, x}, Axpy[T]{gz, ga, gx})
	moves(b, "Sum", sizes, Sum[T]{a, x}, Sum[T]{ga, gx})
	moves(b, "Norm1", sizes, Norm1[T]{a, x}, Norm1[T]{ga, gx})
	moves(b, "Norm2", sizes, Norm2[T]{a, x}, Norm2[T]{ga, gx})
	bytes := sizeOf[T]() * float64(n) // The derivatives need one element of X.
	passes(b, "NormInf", sizes, copying, [3]float64{bytes, bytes, bytes}, NormInf[T]{a, x}, NormInf[T]{ga, gx})
	moves(b, "LogSumExp", sizes, LogSumExp[T]{a, x}, LogSumExp[T]{ga, gx})
	moves(b, "Softmax", sizes, Softmax[T]{z, x}, Softmax[T]{gz, gx})
	moves(b, "LogSumExpRows", sizes, LogSumExpRows[T]{Y: s, X: w}, LogSumExpRows[T]{Y: gs, X: gw})
	moves(b, "SoftmaxRows", sizes, SoftmaxRows[T]{square(z), w}, SoftmaxRows[T]{square(gz), gw})
	moves(b, "LayerNorm", sizes, LayerNorm[T]{Y: square(z), X: w, Gain: s, Bias: t}, LayerNorm[T]{Y: square(gz), X: gw, Gain: gs, Bias: gt})
	moves(b, "RMSNorm", sizes, RMSNorm[T]{Y: square(z), X: w, Gain: s}, RMSNorm[T]{Y: square(gz), X: gw, Gain: gs})
	moves(b, "Exp", sizes, Exp[T]{z, x}, Exp[T]{gz, gx})
	moves(b, "Log", sizes, Log[T]{z, x}, Log[T]{gz, gx})
	moves(b, "Sqrt", sizes, Sqrt[T]{z, x}, Sqrt[T]{gz, gx})
	moves(b, "Sin", sizes, Sin[T]{z, x}, Sin[T]{gz, gx})
	moves(b, "Cos", sizes, Cos[T]{z, x}, Cos[T]{gz, gx})
	moves(b, "Abs", sizes, Abs[T]{z, x}, Abs[T]{gz, gx})
	moves(b, "Tanh", sizes, Tanh[T]{z, x}, Tanh[T]{gz, gx})
	moves(b, "Sigmoid", sizes, Sigmoid[T]{z, x}, Sigmoid[T]{gz, gx})
	moves(b, "Softplus", sizes, Softplus[T]{z, x}, Softplus[T]{gz, gx})
	moves(b, "GELU", sizes, GELU[T]{z, x}, GELU[T]{gz, gx})
	moves(b, "SiLU", sizes, SiLU[T]{z, x}, SiLU[T]{gz, gx})
	moves(b, "ReLU", sizes, ReLU[T]{z, x}, ReLU[T]{gz, gx})
	moves(b, "LeakyReLU", sizes, LeakyReLU[T]{Y: z, X: x, Slope: 0.01}, LeakyReLU[T]{Y: gz, X: gx})
	moves(b, "MulElem", sizes, MulElem[T]{z, x, y}, MulElem[T]{gz, gx, gy})
	moves(b, "DivElem", sizes, DivElem[T]{z, x, y}, DivElem[T]{gz, gx, gy})
	moves(b, "Atan2", sizes, Atan2[T]{z, x, y}, Atan2[T]{gz, gx, gy})
	moves(b, "Pow", sizes, Pow[T]{z, x, y}, Pow[T]{gz, gx, gy})
	if x, ok := any(x).(Vector[float64]); ok {
		b.steps(sizes, x, any(gx).(Vector[float64]))
	}
	benchRandom(b, sizes, gx)
	moves(b, "Affine", sizes, Affine[T]{Y: t, W: w, X: s}, Affine[T]{Y: gt, W: gw, X: gs})
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

// benchRandom measures random numbers, which are only written.
func benchRandom[T rev.Real](b *bench, sizes map[string]int, x Vector[T]) {
	if b.wants("Uniform") {
		b.measure("Uniform", sizes, sizeOf[T]()*float64(x.N), copying, func() error { return Uniform(nil, x, 1, 0) })
	}
	if b.wants("Normal") {
		b.measure("Normal", sizes, sizeOf[T]()*float64(x.N), copying, func() error { return Normal(nil, x, 1, 0) })
	}
}

// benchProducts measures products of square matrices. One takes n³ multiply-adds, and derivatives two
// more.
func benchProducts[T rev.Real](b *bench) {
	n := b.order / 2
	x, y, z, gx, gy, gz := benchMatrix[T](b, n, n), benchMatrix[T](b, n, n), benchMatrix[T](b, n, n), benchMatrix[T](b, n, n), benchMatrix[T](b, n, n), benchMatrix[T](b, n, n)
	bias, gbias := benchVector[T](b, n), benchVector[T](b, n)
	sizes, one := map[string]int{"n": n}, 2*cube(n)
	flops := [3]float64{one, 3 * one, 3 * one}
	passes(b, "MatMul", sizes, b.ofProduct(n), flops, MatMul[T]{C: z, A: x, B: y}, MatMul[T]{C: gz, A: gx, B: gy})
	if sizeOf[T]() == 8 && !isFixed[T]() {
		passes(b, "MatMul float32", sizes, single, flops,
			MatMul[float32]{C: benchMatrix[float32](b, n, n), A: benchMatrix[float32](b, n, n), B: benchMatrix[float32](b, n, n)}, MatMul[float32]{C: benchMatrix[float32](b, n, n), A: benchMatrix[float32](b, n, n), B: benchMatrix[float32](b, n, n)})
	}
	passes(b, "AffineBatch", sizes, b.ofProduct(n), flops, AffineBatch[T]{z, x, y, bias}, AffineBatch[T]{gz, gx, gy, gbias})
}

// benchBatchedProducts measures products of small matrices, which copies bound.
func benchBatchedProducts[T rev.Real](b *bench) {
	n, stack, count := small[T](b)
	k := MatMul[T]{C: stack(), A: stack(), B: stack(), Count: count}
	g := MatMul[T]{C: stack(), A: stack(), B: stack(), Count: count}
	moves(b, "batched MatMul", map[string]int{"n": n, "matrices": count}, k, g)
}

// benchBatchedSolves measures small triangular systems.
func benchBatchedSolves[T rev.Float](b *bench) {
	n, stack, count := small[T](b)
	k := TriSolve[T]{X: stack(), A: stack(), B: stack(), Upper: true, Count: count}
	g := TriSolve[T]{X: stack(), A: stack(), B: stack(), Upper: true, Count: count}
	moves(b, "batched TriSolve", map[string]int{"n": n, "matrices": count}, k, g)
}

// benchLargeSolve measures a triangular system with as many right-hand sides as equations. Adjoint and Tangent
// solve two and multiply.
func benchLargeSolve[T rev.Float](b *bench) {
	n := b.order
	operands := func() TriSolve[T] {
		return TriSolve[T]{X: benchMatrix[T](b, n, n), A: benchMatrix[T](b, n, n), B: benchMatrix[T](b, n, n), Upper: true}
	}
	passes(b, "TriSolve", map[string]int{"n": n}, b.ofProduct(n), [3]float64{cube(n), 4 * cube(n), 4 * cube(n)}, operands(), operands())
}

// benchBatchedLU measures small systems.
func benchBatchedLU[T rev.Float](b *bench) {
	n, stack, count := small[T](b)
	k := Solve[T]{X: stack(), A: stack(), B: stack(), Count: count}
	g := Solve[T]{X: stack(), A: stack(), B: stack(), Count: count}
	moves(b, "batched Solve", map[string]int{"n": n, "matrices": count}, k, g)
}

// benchLargeLU measures a system with as many right-hand sides as equations. Adjoint and Tangent solve two, and
// multiply.
func benchLargeLU[T rev.Float](b *bench) {
	n := b.order
	operands := func() Solve[T] {
		return Solve[T]{X: benchMatrix[T](b, n, n), A: benchMatrix[T](b, n, n), B: benchMatrix[T](b, n, n)}
	}
	passes(b, "Solve", map[string]int{"n": n}, b.ofProduct(n), [3]float64{8 * cube(n) / 3, 20 * cube(n) / 3, 20 * cube(n) / 3}, operands(), operands())
}

// benchBatchedCholesky measures factors of small matrices.
func benchBatchedCholesky[T rev.Float](b *bench) {
	n, stack, count := small[T](b)
	k := Cholesky[T]{L: stack(), A: definite[T](b, n, count), Count: count}
	g := Cholesky[T]{L: stack(), A: stack(), Count: count}
	moves(b, "batched Cholesky", map[string]int{"n": n, "matrices": count}, k, g)
}

// benchLargeCholesky measures a factor. Adjoint and Tangent have two triangular solutions and a product besides.
func benchLargeCholesky[T rev.Float](b *bench) {
	n := b.order
	k := Cholesky[T]{L: benchMatrix[T](b, n, n), A: definite[T](b, n, 1)}
	g := Cholesky[T]{L: benchMatrix[T](b, n, n), A: benchMatrix[T](b, n, n)}
	passes(b, "Cholesky", map[string]int{"n": n}, b.ofProduct(n), [3]float64{cube(n) / 3, 13 * cube(n) / 3, 13 * cube(n) / 3}, k, g)
}

// definite returns a stack of matrices whose diagonals are larger than what is beside them in a row.
func definite[T rev.Float](b *bench, n, count int) General[T] {
	host := make([]T, count*n*n)
	for i := range host {
		if host[i] = T(b.rnd.Float64()); i/n%n == i%n {
			host[i] += T(n)
		}
	}
	return General[T]{count * n, n, hold(b, host), n}
}

// small returns a function that makes stacks of matrices of n rows and columns.
func small[T rev.Real](b *bench) (n int, stack func() General[T], count int) {
	n = min(32, b.order/2)
	count = b.order * b.order / (n * n)
	return n, func() General[T] { return benchMatrix[T](b, count*n, n) }, count
}

// benchConvolution measures filters of 3×3 elements over 64 channels, of planes of 32×32 elements each.
func benchConvolution[T rev.Real](b *bench) {
	const kernel = 3
	side := min(32, b.order)
	channels := min(64, b.order)
	inputs := max(1, b.order*b.order/(side*side*channels))
	operands := func() Conv2D[T] {
		return Conv2D[T]{Y: benchMatrix[T](b, inputs, channels*side*side), X: benchMatrix[T](b, inputs, channels*side*side), W: benchMatrix[T](b, channels, channels*kernel*kernel), B: benchVector[T](b, channels)}
	}
	k, g := operands(), operands()
	k.Channels, k.Height, k.Width, k.KernelHeight, k.KernelWidth = channels, side, side, kernel, kernel
	k.StrideHeight, k.StrideWidth, k.PadHeight, k.PadWidth = 1, 1, kernel/2, kernel/2
	one := 2 * float64(inputs*side*side) * float64(channels*channels*kernel*kernel)
	passes(b, "Conv2D", map[string]int{"inputs": inputs, "channels": channels, "side": side}, arithmetic, [3]float64{one, 3 * one, 3 * one}, k, g)
}

// benchAttention measures 16 heads of 64 columns. Forward has two products, Adjoint and Tangent four more.
func benchAttention[T rev.Float](b *bench) {
	heads := min(16, b.order)
	c, n := min(64, b.order)*heads, b.order/2
	operands := func() Attention[T] {
		return Attention[T]{Y: benchMatrix[T](b, n, c), Q: benchMatrix[T](b, n, c), K: benchMatrix[T](b, n, c), V: benchMatrix[T](b, n, c), Heads: heads}
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
		RealFFT{Y: b.complexes(count * (n/2 + 1)), X: benchVector[float64](b, n*count), Count: count}, RealFFT{Y: b.complexes(count * (n/2 + 1)), X: benchVector[float64](b, n*count)})
}

// largeTransform measures one transform. Each result depends on all numbers, so that those which a card cannot hold when
// the first one is written move twice.
func (b *bench) largeTransform() {
	n := b.order * b.order / 2
	one := 2 * 16 * float64(n)
	one += max(0, one-2*float64(b.dev.Properties().held))
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

// benchSparse measures products of one column with a band of 10 entries in each row, and with one whose first row
// is full.
func benchSparse[T rev.Real](b *bench) {
	n := max(b.order*b.order/16, 16)
	for _, name := range []string{"Mul", "Mul with a full row"} {
		const width = 10
		ptr, ind := make([]int32, n+1), make([]int32, 0, n*(width+1))
		for i := range n {
			from, to := min(max(i-width/2, 0), n-width), width
			if i == 0 && name != "Mul" {
				to = n
			}
			for j := range to {
				ind = append(ind, int32(from+j))
			}
			ptr[i+1] = int32(len(ind))
		}
		entries := len(ind)
		a := CSR[T]{n, n, hold(b, ptr), hold(b, ind), benchNumbers[T](b, entries)}
		moves(b, name, map[string]int{"rows": n, "entries": entries},
			Mul[T]{C: benchMatrix[T](b, n, 1), A: a, B: benchMatrix[T](b, n, 1)}, Mul[T]{C: benchMatrix[T](b, n, 1), A: a.With(benchNumbers[T](b, entries)), B: benchMatrix[T](b, n, 1)})
	}
}

// benchUnitary measures n(n-1)/2 rotations of rows of n elements. A rotation of two elements takes 6
// operations. Derivatives rotate too, and take 4 for the angles.
func benchUnitary[T rev.Real](b *bench) {
	n := b.order / 2
	k := Unitary[T]{X: benchMatrix[T](b, n, n), Theta: benchVector[T](b, n*(n-1)/2)}
	g := Unitary[T]{X: benchMatrix[T](b, n, n), Theta: benchVector[T](b, k.Theta.N)}
	sizes, turns := map[string]int{"n": n}, float64(k.Theta.N)*float64(n)
	passes(b, "Unitary", sizes, arithmetic, [3]float64{6 * turns, 16 * turns, 16 * turns}, k, g)
}

// benchBatchedQR measures decompositions of small matrices.
func benchBatchedQR[T rev.Float](b *bench) {
	n, stack, count := small[T](b)
	k := QR[T]{Q: stack(), R: stack(), A: stack(), Count: count}
	g := QR[T]{Q: stack(), R: stack(), A: stack(), Count: count}
	moves(b, "batched QR", map[string]int{"n": n, "matrices": count}, k, g)
}

// benchLargeQR measures a decomposition, which takes 4n³/3 operations for R and as many for Q. Adjoint
// also takes 4n³/3 for K, 2n³ for Q·K and n³ to solve for X. Tangent takes n³ for C, 2n³ for S, n³ for Q·N
// and n³/3 for N·R. Most are those of products.
func benchLargeQR[T rev.Float](b *bench) {
	n := b.order
	k := QR[T]{Q: benchMatrix[T](b, n, n), R: benchMatrix[T](b, n, n), A: benchMatrix[T](b, n, n)}
	g := QR[T]{Q: benchMatrix[T](b, n, n), R: benchMatrix[T](b, n, n), A: benchMatrix[T](b, n, n)}
	passes(b, "QR", map[string]int{"n": n}, b.ofProduct(n), [3]float64{8 * cube(n) / 3, 7 * cube(n), 7 * cube(n)}, k, g)
}

// benchMixture measures K components in d dimensions. The quadratic forms of n points take
// n·K·d(d+1) operations, and so do the second moments for the gradient. The gradient comes
// with the value. Tangent multiplies with it.
func benchMixture[T rev.Float](b *bench) {
	d, comps := min(64, b.order/2), min(100, b.order/2)
	n := max(b.order*b.order/27, 2) // 2.5 million of 2²⁶
	triangle := d * (d + 1) / 2
	k := LogPosterior[T]{Out: &benchNumbers[T](b, 1)[0], Alpha: benchVector[T](b, comps), Means: benchMatrix[T](b, comps, d), Factors: benchMatrix[T](b, comps, triangle), X: benchMatrix[T](b, n, d)}
	g := LogPosterior[T]{Out: &benchNumbers[T](b, 1)[0], Alpha: benchVector[T](b, comps), Means: benchMatrix[T](b, comps, d), Factors: benchMatrix[T](b, comps, triangle)}
	sizes, flops := map[string]int{"n": n, "d": d, "K": comps}, 2*float64(n)*float64(comps)*float64(triangle)
	of := arithmetic
	if b.tensor() && sizeOf[T]() == 8 { // d is at most tensorSide
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
		return General[fixed.Q43]{rows, cols, numbersUpTo[fixed.Q43](b, rows*cols, most), cols}
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
type bundle[T rev.Real] struct {
	n               int
	sizes           map[string]int
	cameras, points General[T]
	features        General[T]
	camera, point   Memory[int32]
}

func bundleOf[T rev.Real](b *bench, params int) bundle[T] {
	n := max(b.order*b.order/16, 16)
	cameras, points := n/3000+1, (n+4)/5
	camera, point := make([]int32, n), make([]int32, n)
	for i := range n {
		camera[i], point[i] = b.rnd.Int32N(int32(cameras)), int32(i/5)
	}
	return bundle[T]{
		n: n, sizes: map[string]int{"observations": n, "cameras": cameras, "points": points},
		cameras: benchMatrix[T](b, cameras, params), points: benchMatrix[T](b, points, 3), features: benchMatrix[T](b, n, 2),
		camera: hold(b, camera), point: hold(b, point),
	}
}

// benchSnavely measures kernels that read a bundle. Jacobian stores 2·12 numbers for each observation.
func benchSnavely[T rev.Real](b *bench) {
	s, g := bundleOf[T](b, 9), bundleOf[T](b, 9)
	n := s.n
	j := benchMatrix[T](b, 2*n, 12)
	k := Snavely[T]{Cameras: s.cameras, Points: s.points, Features: s.features, Camera: s.camera, Point: s.point}
	in, _, index := moved(k)
	b.measure("Snavely Jacobian", s.sizes, in+index+float64(24*sizeOf[T]()*float64(n)), copying, func() error { return k.Jacobian(j) })
	k.R = benchVector[T](b, 2*n)
	moves(b, "Snavely", s.sizes, k, Snavely[T]{R: benchVector[T](b, 2*n), Cameras: g.cameras, Points: g.points, Features: g.features})
}

// benchWeighted measures the same with weights. Jacobian stores 2·15 numbers and the derivative of Z.
func benchWeighted[T rev.Real](b *bench) {
	s, g := bundleOf[T](b, 11), bundleOf[T](b, 11)
	n := s.n
	j, dz := benchMatrix[T](b, 2*n, 15), benchVector[T](b, n)
	k := Weighted[T]{Cameras: s.cameras, Points: s.points, Weights: benchVector[T](b, n), Features: s.features, Camera: s.camera, Point: s.point}
	in, _, index := moved(k)
	b.measure("Weighted Jacobian", s.sizes, in+index+float64(31*sizeOf[T]()*float64(n)), copying, func() error { return k.Jacobian(j, dz) })
	k.R, k.Z = benchVector[T](b, 2*n), benchVector[T](b, n)
	moves(b, "Weighted", s.sizes, k, Weighted[T]{R: benchVector[T](b, 2*n), Z: benchVector[T](b, n), Cameras: g.cameras, Points: g.points, Weights: benchVector[T](b, n), Features: g.features})
}

// benchGraph measures an embedding into 3 dimensions of a graph with 8 edges for each vertex. The units
// for float64 take as long for a sum or a product as for a multiply-add, so that each counts as two
// operations. The distance of a pair takes 3·2 of these, and 9 for √ and its inverse. A sum of them
// takes 1, and the excess over the mean and two sums take 3. Adjoint also takes 3 for w·Ōut and 3·2 for
// w·u, at both ends of the pair. Tangent takes 3·3 for the derivative of a distance, twice, and 5 for
// sums and w.
func benchGraph[T rev.Real](b *bench) {
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
	k := GraphLoss[T]{Out: &benchNumbers[T](b, 1)[0], Free: benchMatrix[T](b, n, dim), Graph: g, Margin: graphembed.DefaultMargin}
	c := GraphLoss[T]{Out: &benchNumbers[T](b, 1)[0], Free: benchMatrix[T](b, n, dim)}
	sizes, pairs := map[string]int{"vertices": n, "edges": host.Edges()}, float64(host.Pairs())
	passes(b, "GraphLoss", sizes, arithmetic, [3]float64{2 * (16 + 18) * pairs, 2 * (16 + 2*24 + 2) * pairs, 2 * (26 + 30) * pairs}, k, c)
}

// adjustment measures what a step of bundle adjustment does. The limits count the Jacobian once, as the equations have
// it, though the kernels compute it again. The normal equations
// read it and the residuals, and store 97 numbers for each camera and 9 for each point. The
// product with the reduced camera system reads it, 6 numbers of each point, and moves 9 of each
// camera in and out. Both read the indices. The reduced system reads it, 6 numbers of each point and an
// index of each pair of observations, and stores 88 numbers of each block.
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
	all := n + cameras + points
	b.measure("BundlePoints normal equations", sizes, float64(8*(26*n+97*cameras+9*points)+4*all), copying, func() error { return a.run(a.normalEquations) })
	b.measure("BundlePoints product", sizes, float64(8*(24*n+18*cameras+6*points)+4*(2*n+all)), copying, func() error { return a.run(a.product) })
	blocks, pairs := len(a.reduced.blocks)/blockLen, len(a.reduced.seen)
	b.measure("BundlePoints reduced system", map[string]int{"blocks": blocks, "pairs": pairs}, float64(8*(24*n+blockLen*blocks+6*points)+4*pairs), copying, func() error { return a.run(a.reduce) })
}
