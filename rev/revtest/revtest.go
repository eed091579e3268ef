package revtest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"revnum/internal/draw"
	"revnum/internal/long"
	"revnum/rev"
)

// Spec says how to test the kernel K, a struct or a pointer to one. The zero Spec suits many
// kernels.
type Spec[K any] struct {
	// New returns a kernel with random operands that lie well within its domain. Their
	// shapes grow with size, and are empty for size 0 if the kernel allows that. If New is
	// nil, operands are normal numbers. The names in the shape tags, in the order of the
	// operands, are then size, size+1, 3, 3 and so on. New is needed if a kernel has indices,
	// if its shape tags name int fields, and if its operands must be in some domain. The
	// suite copies the operands, so they may share storage or be dense. It overwrites
	// acc operands with random numbers. An operand that is nil is not tested.
	New func(rnd *rand.Rand, size int) K

	// Sizes are the sizes to test. If nil, they are {0, 1, 2, 3, 5, 6, 12, 23}.
	Sizes []int

	// Large, if positive, is one more size for Workers and NoAllocation. The kernel
	// should cut its work into several blocks at this size.
	Large int

	// RoundTrip bounds the error of a restored element. It is in units of the distance
	// from 1 to the next number, relative to the largest magnitude that the operand
	// holds before or after. 0 means 2, which is the bound for y += f followed by y -=
	// f. Fixed-point operands must always be restored bit for bit.
	RoundTrip float64

	// Exact says that floating-point operands must be restored bit for bit too.
	Exact bool

	// Adjoint bounds the error of inner products, and of gradients that are computed in
	// two ways. It is in the same unit. It is relative to the sum of the magnitudes of
	// the products, or to the largest magnitude in the operand. For SymmetricHessian it
	// is relative to the norms of the vectors and of the Hessian. 0 means 1000.
	Adjoint float64

	// Difference bounds the error of a central difference (extrapolated from steps h
	// and h/2), relative to the largest magnitude of the operand and its derivative. 0
	// means 1e-8 for float64, 1e-3 for float32 and 1e-7 for fixed.Q43. For second
	// derivatives it is ten times that.
	Difference float64

	// Magnitudes are the least and the largest factor by which Magnitudes multiplies in and
	// inout operands. Zero means 1e-3 and 1e3, or 1/8 and 8 if elements are fixed.Q43. Set
	// both to 1 to check only the operands that New returns.
	Magnitudes [2]float64

	// Float64 has the passes of the same kernel over float64, for a generic kernel over
	// fixed.Q43: PassesOf[Huber[float64]]() for Huber[fixed.Q43]. You need not set it if the
	// same test runs the suite over float64 first. Set it if you test over fixed.Q43 alone,
	// or select that test with -run: FixedPoint fails if it has nothing to compare with.
	// Other kernels ignore it.
	Float64 *Passes

	// Rounding bounds the difference between a number over fixed.Q43 and the same over
	// float64, in units of 2⁻⁴³. It is relative to the largest magnitude in the operand, or
	// to 1 if that is larger. 0 means 1000.
	Rounding float64

	// Step is the step h, in units of a standard normal tangent. 0 means 2⁻¹⁰ for
	// float64, 2⁻⁵ for float32 and 2⁻⁸ for fixed.Q43. The kernel must be defined and
	// smooth within about five steps of the operands of New.
	Step float64

	// Free names dimensions that no other operand determines, as in "X.N", "A.Rows",
	// "A.Cols" or "S.Len". The kernel need not panic if only these change. Dimensions
	// whose name occurs once in the shape tags are free even if Free does not name
	// them.
	Free []string

	// Masked names the in and inout operands in which a NaN may leave the result
	// unchanged. An example is a number that is not the maximum.
	Masked []string

	// Failing is for kernels that return errors. If it is not nil, it returns a kernel
	// like those of New on which Forward, Inverse, Adjoint and Tangent all fail.
	Failing func(rnd *rand.Rand, size int) K

	// Skip maps each property that is not checked to the reason.
	Skip map[Property]string
}

// A Property is what one subtest checks of a kernel.
type Property string

// The properties of a kernel.
const (
	// RoundTrip: Inverse restores what Forward changed. ForwardChecked and InverseChecked of a
	// rev.Checker do the same, and find the first element that leaves the range.
	RoundTrip Property = "RoundTrip"
	// AdjointRestores: Adjoint leaves the operands as Inverse does, and does not
	// change the cotangents of acc operands.
	AdjointRestores Property = "AdjointRestores"
	// DotProduct: Adjoint is the transpose of Tangent, ⟨g, J·t⟩ = ⟨Jᵀ·g, t⟩
	// over all operands.
	DotProduct Property = "DotProduct"
	// Tangents: Tangent does what Forward does, and its tangents agree with central
	// differences.
	Tangents Property = "Tangents"
	// SecondOrder: AdjointTangent leaves operands and cotangents as Adjoint does, to
	// the bit. Its result agrees with central differences of Adjoint. (Kernels without
	// AdjointTangent pass.)
	SecondOrder Property = "SecondOrder"
	// SymmetricHessian: AdjointTangent gives the product with a symmetric
	// matrix. (Kernels without AdjointTangent pass.)
	SymmetricHessian Property = "SymmetricHessian"
	// Magnitudes: derivatives are right on operands that are 1e-3 to 1e3 times those of
	// New, within 10⁴ times the Difference. A step that is too large for a function there is
	// halved a few times. Operands on which the kernel returns an error do not count.
	Magnitudes Property = "Magnitudes"
	// FixedPoint: a kernel over fixed.Q43 gives the numbers that it gives over float64. (See
	// Spec.Float64. Kernels with other operands pass.)
	FixedPoint Property = "FixedPoint"
	// Accumulation: a kernel adds to the cotangents of in operands.
	Accumulation Property = "Accumulation"
	// NilGradients: an in operand that is nil in g or t changes no bit of the
	// other results.
	NilGradients Property = "NilGradients"
	// Omitted: a derivative that is nil counts as zero, in each pass and for each set of
	// such derivatives. (If there are many sets, random ones are tried.) AdjointTangent
	// panics with a mat.Error if only some operands in place have tangents.
	Omitted Property = "Omitted"
	// NilOutputs: Adjoint gives the same gradients, bit for bit, if the acc
	// operands of the receiver are nil.
	NilOutputs Property = "NilOutputs"
	// SharedInputs: in operands may share storage. Their gradients may too, and
	// are then summed.
	SharedInputs Property = "SharedInputs"
	// ReadOnly: in and index operands are never written.
	ReadOnly Property = "ReadOnly"
	// Gaps: memory between and around elements is never written.
	Gaps Property = "Gaps"
	// Shapes: operands that do not fit together panic with a mat.Error.
	Shapes Property = "Shapes"
	// NaN: a NaN in an operand shows in the result of Forward, for sizes above 0.
	NaN Property = "NaN"
	// Extremes: infinities, NaNs, subnormal and huge numbers cause no panic
	// and no endless loop.
	Extremes Property = "Extremes"
	// NoAllocation: after the first call on a shape, methods do not allocate.
	NoAllocation Property = "NoAllocation"
	// Workers: the results have the same bits for 1, 2 and 7 workers. (Kernels
	// without a field Workers pass.)
	Workers Property = "Workers"
	// Uncall: rev.Uncall of the kernel inverts its Adjoint, Tangent and AdjointTangent.
	// (Kernels in place that do not have these passes pass.)
	Uncall Property = "Uncall"
	// Gradients: rev.Gradient leaves the operands as Forward does and the
	// cotangents as Adjoint does.
	Gradients Property = "Gradients"
	// Methods: a method with the name of a function of rev that runs a kernel
	// does what that function does, and panics where it panics.
	Methods Property = "Methods"
	// Errors: on the problems of Spec.Failing, all passes return errors and
	// leave all operands, cotangents and tangents as they were. (Without
	// Failing, this passes.)
	Errors Property = "Errors"
)

// Kernel checks all properties of a kernel, each in a subtest. The problems of
// Spec.New must cause no error.
func Kernel[K rev.Kernel[K]](t *testing.T, spec Spec[K]) {
	t.Helper()
	newSuite(&spec).run(t)
}

// KernelOf is like Kernel, for a kernel whose type is not known where it is tested. The
// functions of spec return pointers to the kernel's struct.
func KernelOf(t *testing.T, p Passes, spec Spec[any]) {
	t.Helper()
	prepare(spec, &p).run(t)
}

// A suite is a Spec with all defaults set.
//
// The suite does not depend on the type of the kernel, so it is compiled only once. Its
// kernel values are pointers to structs.
type suite struct {
	Spec[any] // New and Failing return pointers
	*Passes
	lacks map[string]bool // the passes that the kernel does not have
	eps   float64         // ε of the coarsest element type
	seed  uint64

	memory *memory        // of the trial that runs
	places map[form][]int // of placesIn
	few    bool           // whether some properties take few sizes

	patience time.Duration                        // how long a trial may take
	after    func(time.Duration) <-chan time.Time // is time.After, except in a test
}

func newSuite[K rev.Kernel[K]](spec *Spec[K]) *suite { return suiteFor(spec, PassesOf[K]()) }

// suiteFor returns the suite of the Spec that spec points to. It is not compiled for each kernel, nor inlined, or
// each package of tests would compile the map of those that were tested.
//
//go:noinline
func suiteFor(spec any, p *Passes) *suite {
	tested.Store(nameOf(p.Kernel), p)
	return prepare(erase(spec), p)
}

// erase returns the Spec that spec points to, for kernels that are given by pointers.
func erase(spec any) Spec[any] {
	v := reflect.ValueOf(spec)
	// The two types differ only in the functions.
	erased := *(*Spec[any])(v.UnsafePointer())
	erased.New, erased.Failing = pointers(v.Elem().FieldByName("New")), pointers(v.Elem().FieldByName("Failing"))
	return erased
}

// pointers returns problem, a func(rnd *rand.Rand, size int) K or nil, for kernels that are given by pointers.
func pointers(problem reflect.Value) func(rnd *rand.Rand, size int) any {
	if problem.IsNil() {
		return nil
	}
	return func(rnd *rand.Rand, size int) any {
		k := reflect.New(problem.Type().Out(0))
		k.Elem().Set(problem.Call([]reflect.Value{reflect.ValueOf(rnd), reflect.ValueOf(size)})[0])
		return k.Interface()
	}
}

func prepare(spec Spec[any], p *Passes) *suite {
	s := &suite{Spec: spec, Passes: p, seed: 1, memory: newMemory(), places: map[form][]int{}, patience: time.Minute, after: time.After}
	if s.New == nil {
		s.New = s.plain()
	}
	s.Free = append(slices.Clone(spec.Free), freeDimensions(s.Kernel, s.Operands)...)
	if v, err := strconv.ParseUint(os.Getenv("REVTEST_SEED"), 10, 64); err == nil {
		s.seed = v
	}
	if s.Sizes == nil {
		s.Sizes = []int{0, 1, 2, 3, 5, 6, 12, 23}
		s.few = !long.Tests()
	}
	if s.RoundTrip == 0 {
		s.RoundTrip = 2
	}
	if s.Adjoint == 0 {
		s.Adjoint = 1000
	}
	if s.Rounding == 0 {
		s.Rounding = 1000
	}
	for _, op := range s.Operands {
		if op.Role == rev.Index {
			continue
		}
		num, ok := numbers[op.Elem]
		if !ok {
			panic(fmt.Sprintf("revtest: operand %s has elements of type %v, want float32, float64, fixed.Q43 or complex128", op.Name, op.Elem))
		}
		if num.eps > s.eps {
			s.eps = num.eps
			if spec.Step == 0 {
				s.Step = num.step
			}
			if spec.Difference == 0 {
				s.Difference = num.diff
			}
			if spec.Magnitudes == [2]float64{} {
				s.Magnitudes = num.magnitudes
			}
		}
	}
	return s
}

// plain returns the New of a Spec without one. It panics if the tags do not say how to draw
// the operands.
func (s *suite) plain() func(rnd *rand.Rand, size int) any {
	for _, op := range s.Operands {
		if op.Role == rev.Index && !op.Optional {
			panic(fmt.Sprintf("revtest: set Spec.New: %v has the index %s", s.Kernel, op.Name))
		}
		for _, name := range strings.FieldsFunc(op.Shape, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			if f, ok := s.Kernel.FieldByName(name); ok && f.Type.Kind() == reflect.Int {
				panic(fmt.Sprintf("revtest: set Spec.New: the shape of %s in %v names the field %s", op.Name, s.Kernel, name))
			}
		}
	}
	return func(rnd *rand.Rand, size int) any {
		k := reflect.New(s.Kernel)
		new(draw.Problem).Fill(k.Elem(), s.Operands, rnd, size, size+1)
		return k.Interface()
	}
}

// A trial is one check of one property. It has a size, a way to store operands, and
// its own source of random numbers.
type trial struct {
	*suite
	rnd     *rand.Rand
	size    int
	storage storage
	poison  byte    // the poison between and around elements
	floor   float64 // an error that near always allows
}

// A storage is the number of elements in the gap between the rows of a matrix. The gap
// between the elements of a vector is half as large.
type storage int

const (
	dense  storage = 0
	gapped storage = 4
	mixed  storage = -1 // dense or gapped, for each operand at random
)

func (s storage) String() string {
	return map[storage]string{dense: "dense", gapped: "gapped", mixed: "dense and gapped"}[s]
}

type property struct {
	name  Property
	check func(c *trial) error
}

func (s *suite) properties() []property {
	return []property{
		{RoundTrip, (*trial).roundTrip},
		{AdjointRestores, (*trial).adjointRestores},
		{DotProduct, (*trial).dotProduct},
		{Tangents, (*trial).tangents},
		{SecondOrder, (*trial).secondOrder},
		{SymmetricHessian, (*trial).symmetricHessian},
		{Magnitudes, (*trial).magnitudes},
		{FixedPoint, (*trial).fixedPoint},
		{Accumulation, (*trial).accumulation},
		{NilGradients, (*trial).nilGradients},
		{Omitted, (*trial).omitted},
		{NilOutputs, (*trial).nilOutputs},
		{SharedInputs, (*trial).sharedInputs},
		{ReadOnly, (*trial).readOnly},
		{Gaps, (*trial).untouchedGaps},
		{Shapes, (*trial).shapes},
		{NaN, (*trial).nan},
		{Extremes, (*trial).extremes},
		{NoAllocation, (*trial).noAllocation},
		{Workers, (*trial).workers},
		{Uncall, (*trial).uncall},
		{Gradients, (*trial).gradients},
		{Methods, (*trial).methods},
		{Errors, (*trial).errors},
	}
}

func (s *suite) run(t *testing.T) {
	t.Helper()
	// A slow machine gets more time with the flag -timeout of go test.
	if deadline, ok := t.Deadline(); !ok {
		s.patience = math.MaxInt64
	} else {
		s.patience = max(s.patience, time.Until(deadline)/2)
	}
	if err := s.probe(); err != nil {
		t.Errorf("REVTEST_SEED=%d: %v", s.seed, err)
		return
	}
	stuck := false
	defer func() {
		if !stuck { // no pass uses it any more
			s.memory.free()
		}
	}()
	for _, p := range s.properties() {
		t.Run(string(p.name), func(t *testing.T) {
			if reason, ok := s.Skip[p.name]; ok {
				t.Skip(reason)
			}
			if p.name == NoAllocation && instrumented {
				t.Skip("the race detector and mutants allocate")
			}
			err := s.check(p)
			if err != nil {
				t.Errorf("REVTEST_SEED=%d: %v", s.seed, err)
			}
			stuck = errors.As(err, new(*timeout))
		})
		if stuck {
			return // the next property would not end either
		}
	}
}

// check returns the first failure of p.
func (s *suite) check(p property) error {
	sizes := s.Sizes
	switch p.name {
	case Omitted, Shapes, Extremes, NoAllocation, Workers: // these take long, and depend little on the size
		if s.few {
			sizes = []int{0, 2, 5, 12}
		}
	}
	if s.Large > 0 && (p.name == Workers || p.name == NoAllocation) {
		sizes = append(append([]int(nil), sizes...), s.Large)
	}
	storages := []storage{dense, gapped, mixed}
	switch p.name {
	case Magnitudes, FixedPoint:
		storages = []storage{mixed}
	case Shapes, Extremes, NoAllocation, Workers:
		storages = []storage{dense, mixed} // these properties take most of the time
	}
	for i, size := range sizes {
		at := storages
		if !long.Tests() && len(storages) > 1 {
			turns := []storage{mixed, dense}
			if p.name == Gaps {
				turns[1] = gapped
			}
			at = turns[i%2:][:1]
		}
		for _, storage := range at {
			s.memory.used = 0
			h := fnv.New64a()
			fmt.Fprint(h, p.name, size, int(storage))
			c := &trial{suite: s, size: size, storage: storage, poison: poisonNaN, rnd: rand.New(rand.NewPCG(s.seed, h.Sum64()))}
			err := c.guarded(func() error { return p.check(c) })
			if err != nil {
				return fmt.Errorf("size %d, %v operands: %w", size, storage, err)
			}
		}
	}
	return nil
}

// timeout is the error of a trial that does not end.
type timeout struct {
	after time.Duration
	stack string // the stacks of the trial and of other goroutines
}

func (e *timeout) Error() string {
	return fmt.Sprintf("the kernel has not returned after %v:\n%s", e.after, e.stack)
}

// guarded returns the error of f. If f panics or does not end, that is the error.
func (c *trial) guarded(f func() error) error {
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
			}
		}()
		err = f()
	}()
	select {
	case err := <-done:
		return err
	case <-c.after(c.patience):
	}
	all := make([]byte, 1<<20)
	stacks := strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n")
	stacks = slices.DeleteFunc(stacks, func(s string) bool { return !strings.Contains(s, "revtest.(*trial).guarded in goroutine") })
	return &timeout{c.patience, strings.Join(stacks, "\n\n")}
}

// start returns new random operands.
func (c *trial) start() *operands { return c.startFrom(c.New) }

func (c *trial) startFrom(problem func(rnd *rand.Rand, size int) any) *operands {
	o := c.layOut(problem(c.rnd, c.size))
	for n, op := range c.Operands {
		if op.Role == rev.Acc && o.arrays[n] != nil {
			o.arrays[n].fill(c.rnd.NormFloat64)
		}
	}
	return o
}

// restored returns an error unless the operands of got equal those of want, up to
// the rounding of a round trip over the state changed.
func (c *trial) restored(got, want, changed *operands) error {
	for n, op := range c.Operands {
		a := want.arrays[n]
		if a == nil {
			continue
		}
		var err error
		if a.number == nil || a.exact || c.Exact || op.Role == rev.In {
			err = c.same(got, want, n)
		} else {
			err = errors.Join(c.near(got, want, n, c.RoundTrip*a.eps, want, changed), c.gaps(got, want, n))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// identical returns an error unless got and want have the same bits.
func (c *trial) identical(got, want *operands) error {
	for n := range c.Operands {
		if err := c.same(got, want, n); err != nil {
			return err
		}
	}
	return nil
}

// wrap wraps an error with a description of the check.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// workersOf returns the field Workers of k, if it has one.
func workersOf(k any) (reflect.Value, bool) {
	f := fields(k).FieldByName("Workers")
	return f, f.IsValid() && f.Kind() == reflect.Int
}
