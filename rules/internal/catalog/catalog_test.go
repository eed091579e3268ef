package catalog_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/rules/internal/catalog"
)

var update = flag.Bool("update", false, "write the tables of docs/kernels.md")

const (
	root   = "../../.."
	tables = root + "/docs/kernels.md"
	// What is between these lines is generated.
	begin, end = "<!-- Written by TestKernels. -->\n", "<!-- End of what TestKernels writes. -->\n"
)

// A table is the kernels of one algebra, by number type.
type table struct {
	kernels []catalog.Kernel
	columns []string // number types
	names   map[reflect.Type]string
	rows    bytes.Buffer
}

var (
	linear = &table{
		kernels: catalog.OverNumbers, columns: []string{"float64", "float32", "Q43", "complex128"},
		names: map[reflect.Type]string{
			reflect.TypeFor[float64](): "float64", reflect.TypeFor[float32](): "float32",
			reflect.TypeFor[fixed.Q43](): "Q43", reflect.TypeFor[complex128](): "complex128",
		},
	}
	logs = &table{
		kernels: catalog.OverLogs, columns: []string{"ulog.Float64", "ulog.Float32", "ulog.Fixed", "ulog.Signed"},
		names: map[reflect.Type]string{
			reflect.TypeFor[float64](): "ulog.Float64", reflect.TypeFor[float32](): "ulog.Float32", reflect.TypeFor[fixed.Q43](): "ulog.Fixed",
		},
	}
)

// call calls a method of a kernel.
func call(k any, method string, args ...any) error {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	for _, err := range reflect.ValueOf(k).MethodByName(method).Call(in) {
		if !err.IsNil() {
			return err.Interface().(error)
		}
	}
	return nil
}

// elements returns the elements of operand n of k.
func elements(i *catalog.Instance, k any, n int) []reflect.Value {
	op := i.Operands[n]
	f := reflect.ValueOf(k).Field(op.Field)
	switch op.Kind {
	case rev.Scalar:
		return []reflect.Value{f.Elem()}
	case rev.Slice:
	default:
		f = f.FieldByName("Data")
	}
	var v []reflect.Value
	for i := range f.Len() {
		v = append(v, f.Index(i))
	}
	return v
}

// content returns all elements of k.
func content(i *catalog.Instance, k any) string {
	var b strings.Builder
	for n := range i.Operands {
		for _, v := range elements(i, k, n) {
			fmt.Fprintf(&b, "%x ", v.Interface())
		}
	}
	return b.String()
}

// passes returns the passes of the frames of an instance.
func passes(i *catalog.Instance) *revtest.Passes {
	f := i.NewFrame()
	return &revtest.Passes{Kernel: i.Type, Operands: i.Operands, Run: func(pass string, k, g, t, gt any) error {
		for p, k := range []any{k, g, t, gt} {
			if k != nil {
				reflect.NewAt(i.Type, f.At(catalog.Part(p))).Elem().Set(reflect.ValueOf(k).Elem())
			}
		}
		return f.Run(pass)
	}}
}

// overFloat64 returns the passes of a kernel over float64, or nil.
func overFloat64(k *catalog.Kernel) *revtest.Passes {
	for _, i := range k.Over {
		if i.Elem() == reflect.TypeFor[float64]() {
			return passes(&i)
		}
	}
	return nil
}

// test runs the conformance suite as far as the claims of the list go: the rest of the
// contract is tested beside the kernel. The passes are those of frames, as the suite
// over the types themselves would take half a minute to compile.
func test(t *testing.T, k *catalog.Kernel, i *catalog.Instance) {
	const elsewhere = "tested beside the kernel"
	revtest.KernelOf(t, *passes(i), revtest.Spec[any]{
		New: func(rnd *rand.Rand, n int) any {
			k := reflect.New(i.Type)
			k.Elem().Set(reflect.ValueOf(i.New(rnd, n, n+1)))
			return k.Interface()
		},
		Float64: overFloat64(k),
		Sizes:   []int{6, 2, 3}[:long.Or(3, 1)], // a variance needs two numbers
		// Of the kernels over logs, in whose tests it is derived.
		RoundTrip: 4 * 55,
		Skip: map[revtest.Property]string{
			revtest.Tangents: elsewhere, revtest.Magnitudes: elsewhere, revtest.SecondOrder: elsewhere, revtest.SymmetricHessian: elsewhere,
			revtest.Accumulation: elsewhere, revtest.NilGradients: elsewhere, revtest.NilOutputs: elsewhere,
			revtest.SharedInputs: elsewhere, revtest.ReadOnly: elsewhere, revtest.Gaps: elsewhere,
			revtest.Shapes: elsewhere, revtest.NaN: elsewhere, revtest.Extremes: elsewhere, revtest.NoAllocation: elsewhere,
			revtest.Workers: elsewhere, revtest.Uncall: elsewhere, revtest.Errors: elsewhere,
		},
	})
}

// exact reports whether Inverse and Adjoint restore every bit.
func exact(t *testing.T, i *catalog.Instance) bool {
	rnd := rand.New(rand.NewPCG(31, 1))
	for size := range 40 {
		k := i.New(rnd, 2+size%6, 3+size%6)
		for _, undo := range []func() error{
			func() error { return call(k, "Inverse") },
			func() error { return call(k, "Adjoint", reflect.Zero(i.Type).Interface()) },
		} {
			before := content(i, k)
			if err := call(k, "Forward"); err != nil {
				t.Fatal(err)
			}
			if err := undo(); err != nil {
				t.Fatal(err)
			}
			if content(i, k) != before {
				return false
			}
		}
	}
	return true
}

// TestKernels runs every kernel over every number type that it claims, and
// compares docs/kernels.md with what comes out.
func TestKernels(t *testing.T) {
	for _, tab := range []*table{linear, logs} {
		tab.begin()
		for _, k := range tab.kernels {
			cells := maps.Clone(k.Not)
			if cells == nil {
				cells = make(map[string]string)
			}
			for _, i := range k.Over {
				number := tab.names[i.Elem()]
				t.Run(k.Name()+"/"+number, func(t *testing.T) { test(t, &k, &i) })
				exact := exact(t, &i)
				if inFixed := i.Elem() == reflect.TypeFor[fixed.Q43](); exact != inFixed {
					t.Errorf("%s over %s: exact is %v", k.Name(), number, exact)
				}
				cells[number] = "bounded"
				if exact {
					cells[number] = "**exact**"
				}
				if i.Fallible() {
					cells[number] += ", or an error"
				}
			}
			for _, number := range tab.columns {
				if number == "complex128" && cells[number] == "" {
					cells[number] = "no"
				}
				if cells[number] == "" {
					t.Errorf("%s over %s is neither claimed nor explained", k.Name(), number)
				}
			}
			tab.add(&k, cells)
		}
	}
	if t.Failed() {
		return
	}
	got, err := os.ReadFile(tables)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok1 := bytes.Cut(got, []byte(begin))
	_, after, ok2 := bytes.Cut(rest, []byte(end))
	if !ok1 || !ok2 {
		t.Fatalf("docs/kernels.md lacks the line %q, or %q after it", begin, end)
	}
	want := slices.Concat(before, []byte(begin), document(), []byte(end), after)
	if *update {
		if err := os.WriteFile(tables, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the tables of docs/kernels.md are not what the kernels do; run this test with -update. Want:\n%s", document())
	}
}

func document() []byte {
	var b bytes.Buffer
	b.WriteString(`
- **exact**: Inverse and Adjoint restore every bit, whatever was added.
- bounded: they restore up to rounding, within the bound that the kernel's
  documentation states.
- Otherwise the kernel is not offered over the type, and why.

Operands have a role and a shape: in is read, acc is added into, inout is
transformed in place, index is structure. Of the shapes (TransA ? k, m : m, k)
the first holds where the field TransA is set. Fields that choose what is computed come
last. "First, second" are the orders of derivatives: Adjoint and Tangent, and
AdjointTangent for Hessians.

`)
	b.Write(linear.rows.Bytes())
	b.WriteString(`
Operands of the next kernels are logs, as slices of float64, float32 or fixed.Q43:
ulog.OfLogs, ulog.Logs and the like change between them and slices of numbers
without copying. ⊕= adds to a number, *= multiplies it.

`)
	b.Write(logs.rows.Bytes())
	b.WriteString(`
Single numbers of type ulog.Fixed are multiplied, divided and raised to powers in
place, and back to the bit, by their own methods (MulAssign, DivAssign,
PowAssign, RootAssign) and by a fixed.Buffer of their logs. ` + "`go run ./benchmarks numbers`" + ` runs
10,000 steps of programs forward and back over each type, and prints what is
left of the start.

`)
	return b.Bytes()
}

func (t *table) begin() {
	t.rows.Reset()
	fmt.Fprintf(&t.rows, "| kernel | equation | operands | %s | derivatives |\n|---|---|---|%s---|\n", strings.Join(t.columns, " | "), strings.Repeat("---|", len(t.columns)))
}

func (t *table) add(k *catalog.Kernel, cells map[string]string) {
	i := &k.Over[0]
	fmt.Fprintf(&t.rows, "| `%s` | %s | %s |", k.Name(), k.Equation, operands(i))
	for _, c := range t.columns {
		fmt.Fprintf(&t.rows, " %s |", cells[c])
	}
	derivatives := "first"
	if i.SecondOrder() {
		derivatives = "first, second"
	}
	fmt.Fprintf(&t.rows, " %s |\n", derivatives)
}

// operands returns the operands and parameters of a kernel as the table has them.
func operands(i *catalog.Instance) string {
	var list []string
	for _, op := range i.Operands {
		s := "`" + op.Name + "` " + op.Role.String()
		if op.Shape != "" {
			s += " (" + strings.ReplaceAll(op.Shape, ",", ", ") + ")"
		}
		list = append(list, s)
	}
	s := strings.Join(list, ", ")
	if p := i.Parameters(); len(p) > 0 {
		s += "; " + strings.Join(p, ", ")
	}
	return s
}

// dense returns the kernels of revlinalg, revnn and revlog over float64 and complex128.
func dense(yield func(name string, i *catalog.Instance) bool) {
	for _, k := range slices.Concat(catalog.OverNumbers, catalog.OverLogs) {
		pkg, name, _ := strings.Cut(k.Name(), ".")
		switch pkg {
		case "revlinalg", "revnn":
		case "revlog":
			name = k.Name()
		default:
			continue
		}
		for _, i := range k.Over {
			switch i.Elem().Kind() {
			case reflect.Float64, reflect.Complex128:
				if !yield(name, &i) {
					return
				}
			}
		}
	}
}

// Operands without elements work in all methods, and so do matrices that have rows
// or columns but not both.
func TestEmptyOperands(t *testing.T) {
	// What is added to the output, where that is a number and not zero.
	added := map[string]float64{
		"Det": 1, "DetMinors": 1, "LogSumExp": math.Inf(-1), "Mean": math.NaN(), "Variance": math.NaN(),
		"LogDet": 0, // and 1 to Sign
	}
	for kernel, i := range dense {
		for _, shape := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
			r, c := shape[0], shape[1]
			for method, n := range map[string]int{"Forward": 0, "Inverse": 0, "Adjoint": 1, "Tangent": 1, "AdjointTangent": 3} {
				rnd := rand.New(rand.NewPCG(32, 1))
				k := i.New(rnd, r, c)
				args := []any{i.New(rnd, r, c), i.New(rnd, r, c), i.New(rnd, r, c)}[:n]
				op := i.Operands[0]
				number := op.Kind == rev.Scalar && op.Role == rev.Acc && method == "Forward" && r == 0
				want := added[kernel]
				if number {
					want += numberOf(elements(i, k, 0)[0])
				}
				if err := call(k, method, args...); err != nil {
					t.Errorf("%s of %d×%d: %s: %v", kernel, r, c, method, err)
				}
				if !number {
					continue
				}
				got := numberOf(elements(i, k, 0)[0])
				if same := got == want || got != got && want != want; !same && !(math.Abs(got-want) <= 1e-15*math.Abs(want)) {
					t.Errorf("%s of %d×%d: the output is %v, want %v", kernel, r, c, got, want)
				}
			}
		}
	}
}

// A NaN or an infinity in an operand comes back as such: nothing makes numbers of
// it. In the result of Forward it shows, unless the limit of the function there is
// finite.
func TestSpecialOperands(t *testing.T) {
	finite := map[string]string{
		"Atan2 X": "a right angle", "Atan2 Y": "0",
		"Exp X": "0 at -∞", "LogSumExp X": "exp(-∞) is 0",
		"Softmax X": "exp(-∞) is 0", "SoftmaxRows X": "exp(-∞) is 0", "LogSumExpRows X": "exp(-∞) is 0", "Pow Y": "0 or 1",
		"Sigmoid X": "0 or 1", "Tanh X": "1 or -1", "Softplus X": "0 at -∞", "GELU X": "0 at -∞", "SiLU X": "0 at -∞", "ReLU X": "0 at -∞",
		"MaxPool X": "not the maximum at -∞",
		"LSTM X":    "gates are 0 or 1", "LSTM H0": "gates are 0 or 1", "LSTM WX": "gates are 0 or 1", "LSTM WH": "gates are 0 or 1", "LSTM BX": "gates are 0 or 1", "LSTM BH": "gates are 0 or 1",
		"GRU X": "gates are 0 or 1", "GRU WX": "gates are 0 or 1", "GRU WH": "gates are 0 or 1", "GRU BX": "gates are 0 or 1", "GRU BH": "gates are 0 or 1",
		"MaxElem X": "not the maximum at -∞", "MaxElem Y": "not the maximum at -∞",
		"MinElem X": "not the minimum at ∞", "MinElem Y": "not the minimum at ∞", "Clip X": "a bound", "Erf X": "1 or -1", "Expm1 X": "-1 at -∞", "Recip X": "1/∞ is 0",
		"Where C": "a choice", "Where Y": "not chosen",
		"DivElem Y":  "a quotient by ∞ is 0",
		"TriSolve A": "a quotient by ∞ is 0", "Solve A": "a quotient by ∞ is 0", "Inv A": "a quotient by ∞ is 0",
		"LeastSquares A": "a quotient by ∞ is 0",
		"Pinv A":         "a quotient by ∞ is 0",
		"revlog.Sum X":   "a zero is added", "revlog.Dot X": "a zero", "revlog.Dot Y": "a zero", "revlog.MatMul A": "a zero",
		"revlog.MatMul B": "a zero", "revlog.MulElem X": "a zero", "revlog.MulElem Y": "a zero",
	}
	unused := maps.Clone(finite)
	for kernel, l := range dense {
		for n, op := range l.Operands {
			if op.Role == rev.Index {
				continue
			}
			for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				if op.Role == rev.InOut && strings.HasPrefix(kernel, "revlog.") && math.IsInf(special, -1) {
					continue // a number is added to zero, whose log this is
				}
				k := l.New(rand.New(rand.NewPCG(32, 2)), 3, 3)
				v := elements(l, k, n)[0]
				setNumber(v, special)
				what := fmt.Sprintf("%s with %v in %s", kernel, special, op.Name)
				failed := call(k, "Forward") != nil
				shows := failed
				for i, to := range l.Operands {
					for _, v := range elements(l, k, i) {
						shows = shows || (to.Role == rev.Acc || to.Role == rev.InOut) && !isFinite(numberOf(v))
					}
				}
				if !shows {
					name := kernel + " " + op.Name
					if _, ok := finite[name]; !ok || math.IsNaN(special) && !strings.HasPrefix(name, "Where ") {
						t.Errorf("%s: the result is finite", what)
					}
					delete(unused, name)
				}
				if err := call(k, "Inverse"); (err != nil) != failed {
					t.Errorf("%s: Inverse returns %v, and Forward an error is %v", what, err, failed)
				}
				got := numberOf(v)
				if op.Role == rev.In && (got != special && special == special || isFinite(got)) || isFinite(got) {
					t.Errorf("%s: after Inverse it is %v", what, v)
				}
			}
		}
	}
	for name := range unused {
		t.Errorf("%s: no result is finite, though listed", name)
	}
}

func setNumber(v reflect.Value, x float64) {
	if v.Kind() == reflect.Complex128 {
		v.SetComplex(complex(x, 1))
		return
	}
	v.SetFloat(x)
}

// numberOf returns v, or the real part of v plus the imaginary part.
func numberOf(v reflect.Value) float64 {
	if v.Kind() == reflect.Complex128 {
		return real(v.Complex()) + imag(v.Complex())
	}
	return v.Float()
}

func isFinite(x float64) bool { return x-x == 0 }
