package rules

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
)

// spread copies the operands and derivatives of a for n problems. The numbers of problem j are those of a, scaled
// unless they are integers.
func spread(a Args, n int) Args {
	for _, list := range []*[]Buffer{&a.Operands, &a.Cotangents, &a.Tangents, &a.CotangentTangents} {
		*list = slices.Clone(*list)
		for i := range *list {
			b := &(*list)[i]
			if b.Data == nil {
				continue
			}
			all := reflect.MakeSlice(reflect.SliceOf(types[b.Type].typ), n*b.Len+1, n*b.Len+1) // has an address if b is empty
			for j := range n {
				reflect.Copy(all.Slice(j*b.Len, n*b.Len), reflect.NewAt(reflect.ArrayOf(b.Len, types[b.Type].typ), b.Data).Elem())
				for k := range b.Len {
					v := all.Index(j*b.Len + k)
					switch scale := 1 + float64(j)/64; b.Type {
					case Int:
					case Q43:
						v.SetInt(int64(fixed.FromFloat64(scale * fixed.Q43(v.Int()).Float64())))
					case Complex128:
						v.SetComplex(v.Complex() * complex(scale, 0))
					default:
						v.SetFloat(v.Float() * scale)
					}
				}
			}
			b.Data, b.Move = all.UnsafePointer(), b.Len*int(b.Type.size())
		}
	}
	return a
}

// only returns problem j of a.
func only(a Args, j int) Args {
	for _, list := range []*[]Buffer{&a.Operands, &a.Cotangents, &a.Tangents, &a.CotangentTangents} {
		*list = slices.Clone(*list)
		for i := range *list {
			if b := &(*list)[i]; b.Move != 0 {
				b.Data, b.Move = unsafe.Add(b.Data, j*b.Move), 0
			}
		}
	}
	return a
}

// contents returns the bytes of all numbers of n problems, by their buffers.
func contents(a Args, n int) (all [][]byte) {
	for _, list := range [][]Buffer{a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents} {
		for _, b := range list {
			all = append(all, unsafe.Slice((*byte)(b.Data), b.Move*n))
		}
	}
	return all
}

// zeroFirst lets CallEach set what a sets out to add to, of n problems, to zero first. In want it is zero.
func zeroFirst(r *Rule, a, want Args, n int) {
	for part, list := range [][]Buffer{a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents} {
		for i := range list {
			added, b := rev.In, &list[i]
			if part == 0 || part == 2 {
				added = rev.Acc
			}
			if r.Operands[i].role != added || b.Data == nil || b.Move == 0 {
				continue
			}
			b.Zero = true
			memory := unsafe.Slice((*byte)(b.Data), b.Move*n)
			for j := range memory {
				memory[j] = 0x41
			}
			clear(unsafe.Slice((*byte)([][]Buffer{want.Operands, want.Cotangents, want.Tangents, want.CotangentTangents}[part][i].Data), b.Move*n))
		}
	}
}

// many is a number of problems that workers share, after shared.
const many = 640

// shared lets workers share all problems but the first two, one at a time, however short these are.
func shared(t *testing.T) {
	old := blockTime
	blockTime = 0
	t.Cleanup(func() { blockTime = old })
}

// CallEach does what calls one after the other do, to the bit.
func TestCallEach(t *testing.T) {
	t.Run("blocks", func(t *testing.T) { testCallEach(t, 0, false) })
	t.Run("zero", func(t *testing.T) { testCallEach(t, 1, true) })
	t.Run("shared", func(t *testing.T) {
		shared(t)
		testCallEach(t, 2, false)
	})
}

// testCallEach tests one pass of eight, from the given one on, or all if REVNUM_LONG is set.
func testCallEach(t *testing.T, first int, zero bool) {
	for turn, r := range All() {
		if r.Missing != "" {
			continue
		}
		for i, p := range r.Passes {
			if (turn+i)%8 != first && !long.Tests() {
				continue
			}
			n, workers := 3, slices.IndexFunc(r.Params, func(p Param) bool { return p.Name == "Workers" })
			switch r.Kernel {
			case "revlinalg.Dot", "revlinalg.MatMul", "revlinalg.Norm2", "revlinalg.Solve", "revlinalg.Sum", "revlinalg.Unitary", "revnn.Gather":
				n = many
			}
			got, want := spread(problem(r, 1), n), spread(problem(r, 1), n)
			if workers >= 0 && n == many {
				got.Params[workers] = 3
			}
			if zero && !r.InPlace {
				zeroFirst(r, got, want, n)
			}
			var wantErr error
			for j := range n {
				if wantErr = r.Call(p, only(want, j)); wantErr != nil {
					break
				}
			}
			err := r.CallEach(p, got, n)
			if (err != nil) != (wantErr != nil) {
				t.Errorf("%s: %v: %v, want %v", r.Name, p, err, wantErr)
			}
			if err == nil && !slices.EqualFunc(contents(got, n), contents(want, n), bytes.Equal) {
				t.Errorf("%s: %v has other results", r.Name, p)
			}
		}
	}
}

// The error is that of the first problem that has one, also if workers share them.
func TestCallEachErrors(t *testing.T) {
	t.Run("blocks", testCallEachErrors)
	t.Run("shared", func(t *testing.T) {
		shared(t)
		testCallEachErrors(t)
	})
}

func testCallEachErrors(t *testing.T) {
	const n, size = many, 2
	a, b, x := make([]float64, n*size*size), make([]float64, n*size), make([]float64, n*size)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range a {
		a[i] = rnd.NormFloat64()
	}
	clear(a[300*size*size:][:size*size])
	clear(a[500*size*size:][:size*size])
	matrix := func(x []float64, cols int) Buffer {
		m := Matrix(rev.General[float64]{Rows: size, Cols: cols, Stride: cols, Data: x[:size*cols]})
		m.Move = size * cols * 8
		return m
	}
	r := lookup(t, "revlinalg.Solve[float64]")
	fill := func(x []float64) {
		for i := range x {
			x[i] = 1
		}
	}
	fill(b)
	for _, workers := range []float64{0, 1, 3} {
		fill(x)
		args := Args{Operands: []Buffer{matrix(x, 1), matrix(a, size), matrix(b, 1)}, Params: []float64{0, workers}}
		if err := r.CallEach(Forward, args, n); err == nil || !strings.HasPrefix(err.Error(), "problem 300 of 640: ") {
			t.Errorf("%v workers: %v", workers, err)
		}
		// Those before it are done, and it is as it was.
		for i := range 301 {
			if done := x[i*size] != 1; done != (i < 300) {
				t.Fatalf("%v workers: problem %d is done: %v", workers, i, done)
			}
		}
		args.Operands[2].Move = 1
		if err := r.CallEach(Forward, args, n); err == nil || !strings.Contains(err.Error(), "moves by 1 bytes") {
			t.Errorf("%v workers: %v", workers, err)
		}
	}
	if err := r.CallEach(Pass(9), Args{}, n); err == nil {
		t.Error("there is a pass 9")
	}
}

// A kernel that panics on one problem gives the error of this problem, for any number of workers.
func TestCallEachPanics(t *testing.T) {
	shared(t)
	const n = many
	x, y, index := []float64{1, 2}, make([]float64, n), make([]int, n)
	index[300], index[500] = 2, -1
	r := lookup(t, "revnn.Gather[float64]")
	for _, workers := range []float64{0, 1, 3} {
		clear(y)
		args := Args{Operands: []Buffer{Matrix(rev.NewGeneral(1, 1, y[:1])), Matrix(rev.NewGeneral(2, 1, x)), Slice(index[:1])}, Params: []float64{workers}}
		args.Operands[0].Move, args.Operands[2].Move = 8, int(unsafe.Sizeof(index[0]))
		var wrong *rev.OperandError
		if err := r.CallEach(Forward, args, n); !errors.As(err, &wrong) || !strings.HasPrefix(err.Error(), "problem 300 of 640: ") {
			t.Errorf("%v workers: %v", workers, err)
		}
		for i := range 301 {
			if done := y[i] != 0; done != (i < 300) {
				t.Fatalf("%v workers: problem %d is done: %v", workers, i, done)
			}
		}
	}
}

// There may be no problem or one, with strides, and problems between the elements of others. They must not share what is
// written.
func TestCallEachFew(t *testing.T) {
	dot, one := lookup(t, "revlinalg.Dot[float64]"), 1.0
	x := []float64{1, 2, 3, 4, 5, 6} // 1, 3, 5 and 2, 4, 6
	for n, want := range [][]float64{{0, 0}, {35, 0}, {35, 56}} {
		out := make([]float64, 2)
		args := Args{
			Operands:   []Buffer{Scalar(&out[0]), Vector(rev.Vector[float64]{N: 3, Inc: 2, Data: x[:5]}), Vector(rev.Vector[float64]{N: 3, Inc: 2, Data: x[:5]})},
			Cotangents: []Buffer{Scalar(&one), {}, {}},
		}
		for i := range args.Operands {
			args.Operands[i].Move = 8
		}
		if err := dot.CallEach(Gradient, args, n); err != nil || !slices.Equal(out, want) {
			t.Errorf("%d problems: %v, want %v: %v", n, out, want, err)
		}
		if n < 2 {
			continue
		}
		args.Operands[0].Move = 0
		if err := dot.CallEach(Gradient, args, n); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "Out of revlinalg.Dot[float64] is written, and shared") {
			t.Error(err)
		}
		args.Operands[0].Move, args.Cotangents[1] = 8, Slice([]float64{0, 0, 0})
		if err := dot.CallEach(Gradient, args, n); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "g.X of") {
			t.Error(err)
		}
		if !slices.Equal(out, want) {
			t.Errorf("an error, and results %v", out)
		}
	}
}

// Products and systems of problems of their own: other pivots, some matrices without an inverse or with infinities, rows with
// gaps, and flags.
func TestCallEachMatrices(t *testing.T) {
	t.Run("float64", func(t *testing.T) { testCallEachMatrices[float64](t, "float64") })
	t.Run("float32", func(t *testing.T) { testCallEachMatrices[float32](t, "float32") })
}

func testCallEachMatrices[T rev.Float](t *testing.T, typ string) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const n = 150
	// args draws rows×cols matrices that lie apart, with gaps between rows, and their derivatives, of which some are left out.
	args := func(dims [3][2]int, gap int, params []float64) (a Args) {
		for part, list := range []*[]Buffer{&a.Operands, &a.Cotangents} {
			for i, d := range dims {
				stride := d[1] + gap
				by := d[0]*stride + gap
				x := make([]T, n*by)
				for j := range x {
					x[j] = T(rnd.NormFloat64())
				}
				b := Matrix(rev.General[T]{Rows: d[0], Cols: d[1], Stride: stride, Data: x[:(d[0]-1)*stride+d[1]]})
				b.Move = by * int(unsafe.Sizeof(x[0]))
				if i == 1 && part == 0 {
					x[77*by] = T(math.Inf(1))
					x[90*by] = T(math.NaN())
				}
				if i == 0 && part == 0 && rnd.IntN(4) == 0 || i > 0 && part == 1 && rnd.IntN(4) == 0 {
					b = Buffer{}
				}
				*list = append(*list, b)
			}
		}
		a.Params = params
		return a
	}
	clone := func(a Args) Args {
		for _, list := range []*[]Buffer{&a.Operands, &a.Cotangents} {
			*list = slices.Clone(*list)
			for i := range *list {
				if b := &(*list)[i]; b.Data != nil {
					b.Data = unsafe.Pointer(unsafe.SliceData(slices.Clone(unsafe.Slice((*byte)(b.Data), n*b.Move))))
				}
			}
		}
		return a
	}
	for m := 1; m <= 9; m++ {
		for _, c := range []int{1, 3, 8} {
			for _, trans := range []float64{0, 1} {
				a := [2]int{m, m}
				all := map[string]Args{
					"Solve":  args([3][2]int{{m, c}, a, {m, c}}, (m+c)%2, []float64{trans, 1}),
					"MatMul": args([3][2]int{{m, c}, a, {m, c}}, (m+c)%2, []float64{trans, 0, 1}),
				}
				if c == m {
					all["MatMul transposed"] = args([3][2]int{{m, m}, a, a}, 1, []float64{trans, 1, 1})
				}
				for name, given := range all {
					r := lookup(t, "revlinalg."+strings.Fields(name)[0]+"["+typ+"]")
					for _, p := range []Pass{Forward, Inverse, Adjoint, Gradient} {
						got, want := clone(given), clone(given)
						for j := range n {
							if err := r.Call(p, only(want, j)); err != nil {
								t.Fatal(err)
							}
						}
						if err := r.CallEach(p, got, n); err != nil {
							t.Fatal(err)
						}
						if !slices.EqualFunc(contents(got, n), contents(want, n), bytes.Equal) {
							t.Errorf("%s of %d×%d, %d columns, flag %v: %v has other results", name, m, m, c, trans, p)
						}
					}
				}
			}
		}
	}
}

// BenchmarkCallEach makes 1000 small problems.
func BenchmarkCallEach(b *testing.B) {
	const count = 1000
	for _, test := range []struct {
		rule string
		dims []int // of the operands: elements of a vector, negative for the side of a square matrix, 0 for a number
	}{
		{"Norm2", []int{0, 8}},
		{"Dot", []int{0, 8, 8}},
		{"Sum", []int{0, 8}},
		{"MatMul", []int{-4, -4, -4}},
		{"Solve", []int{-4, -4, -4}},
	} {
		r := lookup(b, "revlinalg."+test.rule+"[float64]")
		var parts [2][]Buffer
		for i := range parts {
			for _, d := range test.dims {
				n := max(d*d, 1)
				if d > 0 {
					n = d
				}
				x := make([]float64, n)
				for i := range x {
					x[i] = 1 + float64(i*i%7)
				}
				buf := Buffer{Data: Slice(x).Data, Len: n, Type: Float64}
				switch {
				case d > 0:
					buf.Axes, buf.Shape[0], buf.Stride[0] = 1, d, 1
				case d < 0:
					buf.Axes, buf.Shape, buf.Stride = 2, [2]int{-d, -d}, [2]int{-d, 1}
				}
				parts[i] = append(parts[i], buf)
			}
		}
		a := spread(Args{Operands: parts[0], Cotangents: parts[1]}, count)
		for _, p := range []Pass{Forward, Gradient} {
			b.Run(test.rule+p.String(), func(b *testing.B) {
				for b.Loop() {
					if err := r.CallEach(p, a, count); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/count, "ns/problem")
			})
		}
	}
}

// Systems in the middle need the blocks, for their scale, and the others have a loop of their own.
func TestCallEachMiddle(t *testing.T) {
	const n, size, cols = 60, 4, 2
	rnd := rand.New(rand.NewPCG(3, 1))
	normals := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.NormFloat64()
		}
		return x
	}
	x, a, b := normals(n*size*cols), normals(n*size*size), normals(n*size*cols)
	for i := 7; i < n; i += 11 {
		for j := range size {
			a[i*size*size+j] *= 1e-25
		}
	}
	r := lookup(t, "revlinalg.Solve[float64]")
	for _, trans := range []float64{0, 1} {
		args := func(x []float64, i int) Args {
			matrix := func(x []float64, cols int) Buffer {
				m := Matrix(rev.NewGeneral(size, cols, x[i*size*cols:][:size*cols]))
				m.Move = size * cols * 8
				return m
			}
			return Args{Operands: []Buffer{matrix(x, cols), matrix(a, size), matrix(b, cols)}, Params: []float64{trans, 0}}
		}
		got, want := slices.Clone(x), slices.Clone(x)
		for i := range n {
			if err := r.Call(Forward, args(want, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.CallEach(Forward, args(got, 0), n); err != nil || !slices.Equal(got, want) {
			t.Errorf("trans %v: other results: %v", trans, err)
		}
	}
}

// What is set to zero is the operand and nothing else, and only if the arguments are right.
func TestCallEachZero(t *testing.T) {
	x, y := []float64{1, 2, 3, 4, 5, 6, 7, 8}, []float64{9, 9, 9, 9, 9, 9, 9, 9}
	square := lookup(t, "revlinalg.Square[float64]")
	args := func(y Buffer, move int) Args {
		in := Slice(x[:y.Shape[0]])
		in.Move, y.Move, y.Zero = 8, move, true
		return Args{Operands: []Buffer{y, in}}
	}
	long := Slice(y[:1])
	long.Len = len(y)
	if err := square.CallEach(Forward, args(long, 8), 4); err != nil || !slices.Equal(y, []float64{1, 4, 9, 16, 9, 9, 9, 9}) {
		t.Errorf("memory behind the operand: %v, %v", y, err)
	}
	was := slices.Clone(y)
	wrong := Slice(y[:1])
	wrong.Type = Q43
	for name, a := range map[string]Args{
		"gaps":          args(Vector(rev.Vector[float64]{N: 2, Inc: 2, Data: y[:3]}), 32),
		"other problem": args(Slice(y[:2]), 8),
		"short":         args(Buffer{Data: unsafe.Pointer(&y[0]), Len: 1, Type: Float64, Axes: 1, Shape: [2]int{2}, Stride: [2]int{1}}, 16),
		"type":          args(wrong, 8),
		"axes":          args(Buffer{Data: unsafe.Pointer(&y[0]), Len: 1, Type: Float64, Axes: 3, Shape: [2]int{1, 1}, Stride: [2]int{1, 1}}, 8),
	} {
		for _, n := range []int{1, 2} {
			if err := square.CallEach(Forward, a, n); !errors.Is(err, ErrArgument) || !slices.Equal(y, was) {
				t.Errorf("%s: %v, %v", name, y, err)
			}
		}
	}
}

// A matrix without elements has no gaps, whatever its strides are.
func TestCallEachZeroWithoutElements(t *testing.T) {
	const n = 3
	none := make([]float64, 1)
	empty := func(rows, cols int, zero bool) Buffer {
		return Buffer{Data: unsafe.Pointer(&none[0]), Type: Float64, Axes: 2, Shape: [2]int{rows, cols}, Stride: [2]int{1, 1}, Move: 8, Zero: zero}
	}
	result := func() Buffer {
		c := Matrix(rev.NewGeneral(2, 3, make([]float64, 6*n)[:6]))
		c.Move = 8 * 6
		return c
	}
	args := Args{
		Operands:   []Buffer{result(), empty(2, 0, false), empty(0, 3, false)},
		Cotangents: []Buffer{result(), empty(2, 0, true), empty(0, 3, true)},
	}
	if err := lookup(t, "revlinalg.MatMul[float64]").CallEach(Adjoint, args, n); err != nil {
		t.Error(err)
	}
}

// norms returns n problems of norms of size elements.
func norms(n, size int, out []float64) Args {
	x := make([]float64, n*size)
	rnd := rand.New(rand.NewPCG(5, 1))
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	o, v := Slice(out[:1]), Slice(x[:size])
	o.Axes, o.Move, v.Move = 0, 8, 8*size
	return Args{Operands: []Buffer{o, v}}
}

// Problems with much memory are shared at once, without a look at how long the first take.
func TestCallEachLong(t *testing.T) {
	const n, size = 33, 20_000
	got, want := make([]float64, n), make([]float64, n)
	r := lookup(t, "revlinalg.Norm2[float64]")
	if err := errors.Join(r.CallEach(Forward, norms(n, size, got), n), r.callOneByOne(Forward, norms(n, size, want), n)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("norms are %v, want %v", got, want)
	}
}

// systems returns n systems of size equations with the identity, the first of which is singular.
func systems(n, size, workers int, x []float64) Args {
	a, b := make([]float64, n*size*size), make([]float64, n*size)
	for i := range b {
		b[i] = 1
		if i >= size {
			a[i*size+i%size] = 1
		}
	}
	args := Args{Operands: []Buffer{Matrix(rev.NewGeneral(size, 1, x[:size])), Matrix(rev.NewGeneral(size, size, a[:size*size])), Matrix(rev.NewGeneral(size, 1, b[:size]))}, Params: []float64{0, float64(workers)}}
	for i := range args.Operands {
		args.Operands[i].Move = 8 * args.Operands[i].Len
	}
	return args
}

// If the first of many problems has an error, those that are shared at once are made, and otherwise no other.
func TestCallEachLook(t *testing.T) {
	r := lookup(t, "revlinalg.Solve[float64]")
	for _, c := range []struct {
		n, size int
		last    float64
	}{{8, 8, 0}, {64, 100, 1}} {
		x := make([]float64, c.n*c.size)
		err := r.CallEach(Forward, systems(c.n, c.size, 2, x), c.n)
		if err == nil || !strings.HasPrefix(err.Error(), "problem 0 of ") {
			t.Errorf("%d systems of %d: %v", c.n, c.size, err)
		}
		for _, v := range x[(c.n-1)*c.size:] {
			if v != c.last {
				t.Fatalf("%d systems of %d: the last has %v, want %v", c.n, c.size, v, c.last)
			}
		}
	}
}

// What problems have for themselves counts, and not how far it is from one to the next.
func TestMoved(t *testing.T) {
	far, near, all, wrong := Slice(make([]float64, 8)), Slice(make([]float32, 100)), Slice(make([]float64, 50)), Slice(make([]float64, 8))
	far.Move, near.Move, wrong.Move, wrong.Type = -1<<20, 4, 8, 99
	a := Args{Operands: []Buffer{far, near, all, {}}, Cotangents: []Buffer{far, wrong}}
	if got := a.moved(); got != 2*64+400 {
		t.Errorf("%d bytes, want %d", got, 2*64+400)
	}
}

// A wrong number of workers is an error of the first problem, whether or not workers share the problems at once.
func TestCallEachWorkers(t *testing.T) {
	r := lookup(t, "revlinalg.Solve[float64]")
	for _, size := range []int{2, 200} {
		const n = 20
		x := make([]float64, n*size)
		a := systems(n, size, -1, x)
		want := r.Call(Forward, only(a, 0))
		err := r.CallEach(Forward, a, n)
		if want == nil || err == nil || !errors.Is(err, ErrArgument) {
			t.Errorf("systems of %d: %v, want %v", size, err, want)
		}
	}
}
