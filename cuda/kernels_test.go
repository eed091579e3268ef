package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
	"revnum/revsparse"
)

// The kernels of the host whose passes run on the device.
type (
	hostDot[T rev.Real]    revlinalg.Dot[T]
	hostAxpy[T rev.Real]   revlinalg.Axpy[T]
	hostSum[T rev.Real]    revlinalg.Sum[T]
	hostMatMul[T rev.Real] revlinalg.MatMul[T]
)

var testDevice *Device

func (k hostDot[T]) Run(p rev.Pass[hostDot[T]]) error {
	return through[hostDot[T], Dot[T]](testDevice, k, p)
}
func (k hostAxpy[T]) Run(p rev.Pass[hostAxpy[T]]) error {
	return through[hostAxpy[T], Axpy[T]](testDevice, k, p)
}
func (k hostSum[T]) Run(p rev.Pass[hostSum[T]]) error {
	return through[hostSum[T], Sum[T]](testDevice, k, p)
}
func (k hostMatMul[T]) Run(p rev.Pass[hostMatMul[T]]) error {
	return through[hostMatMul[T], MatMul[T]](testDevice, k, p)
}

func vector[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](rnd.NormFloat64())
	}
	return rev.ViewSlice(x)
}

func general[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, vector[T](rnd, r*c).Data)
}

var noAllocs = map[revtest.Property]string{revtest.NoAllocation: "the operands travel to the device"}

func TestKernels(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", kernelsOf[float64])
	t.Run("float32", kernelsOf[float32])
	t.Run("Q43", kernelsOf[fixed.Q43])
}

// TestFixedBits compares the passes of the device with those of the CPU, bit for bit.
func TestFixedBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	const n = 700
	same(t, func(rnd *rand.Rand) hostDot[fixed.Q43] {
		return hostDot[fixed.Q43]{Out: new(fixed.Q43), X: vector[fixed.Q43](rnd, n), Y: vector[fixed.Q43](rnd, n)}
	}, func(k hostDot[fixed.Q43]) revlinalg.Dot[fixed.Q43] { return revlinalg.Dot[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostAxpy[fixed.Q43] {
		return hostAxpy[fixed.Q43]{Y: vector[fixed.Q43](rnd, n), Alpha: &vector[fixed.Q43](rnd, 1).Data[0], X: vector[fixed.Q43](rnd, n)}
	}, func(k hostAxpy[fixed.Q43]) revlinalg.Axpy[fixed.Q43] { return revlinalg.Axpy[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostSum[fixed.Q43] {
		return hostSum[fixed.Q43]{Out: new(fixed.Q43), X: vector[fixed.Q43](rnd, n)}
	}, func(k hostSum[fixed.Q43]) revlinalg.Sum[fixed.Q43] { return revlinalg.Sum[fixed.Q43](k) })
	same(t, func(rnd *rand.Rand) hostMatMul[fixed.Q43] {
		return hostMatMul[fixed.Q43]{C: general[fixed.Q43](rnd, 19, 17), A: general[fixed.Q43](rnd, 33, 19), B: general[fixed.Q43](rnd, 33, 17), TransA: true}
	}, func(k hostMatMul[fixed.Q43]) revlinalg.MatMul[fixed.Q43] { return revlinalg.MatMul[fixed.Q43](k) })
}

// same runs the passes of H on the device and of C on the CPU over the same numbers.
func same[H rev.Kernel[H], C rev.Kernel[C]](t *testing.T, random func(*rand.Rand) H, host func(H) C) {
	t.Helper()
	operands := func() (k, g, t, gt H) {
		rnd := rand.New(rand.NewPCG(5, 6))
		return random(rnd), random(rnd), random(rnd), random(rnd)
	}
	k, g, tan, gt := operands()
	k2, g2, tan2, gt2 := operands()
	for name, errs := range map[string][2]error{
		"Forward":        {rev.Forward(k), rev.Forward(host(k2))},
		"Adjoint":        {rev.Adjoint(k, g), rev.Adjoint(host(k2), host(g2))},
		"Tangent":        {rev.Tangent(k, tan), rev.Tangent(host(k2), host(tan2))},
		"AdjointTangent": {rev.AdjointTangent(k, g, tan, gt), rev.AdjointTangent(host(k2), host(g2), host(tan2), host(gt2))},
	} {
		if errs[0] != nil || errs[1] != nil {
			t.Fatalf("%T: %s: %v, %v", k, name, errs[0], errs[1])
		}
	}
	for name, pair := range map[string][2]H{"operands": {k, k2}, "cotangents": {g, g2}, "tangents": {tan, tan2}, "tangents of cotangents": {gt, gt2}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%T: the %s differ from those of the CPU", k, name)
		}
	}
}

// hostMul is revsparse.Mul, whose passes run on the device.
type hostMul[T rev.Real] struct {
	C     rev.General[T]          `rev:"acc" shape:"Trans ? k,n : m,n"`
	Alpha *T                      `rev:"in,optional"`
	A     revsparse.CSR[T, int32] `rev:"in" shape:"m,k"`
	B     rev.General[T]          `rev:"in" shape:"Trans ? m,n : k,n"`
	Trans bool
}

func (k hostMul[T]) Run(p rev.Pass[hostMul[T]]) error {
	return through[hostMul[T], Mul[T]](testDevice, k, p)
}

// randomCSR returns a matrix with an empty row and rows of several lengths.
func randomCSR[T rev.Real](rnd *rand.Rand, rows, cols int) revsparse.CSR[T, int32] {
	a := revsparse.CSR[T, int32]{Rows: rows, Cols: cols, Ptr: []int32{0}}
	for i := range rows {
		for j := range cols {
			if i != 1 && rnd.IntN(3) > 0 {
				a.Ind = append(a.Ind, int32(j))
			}
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	a.Data = vector[T](rnd, len(a.Ind)).Data
	return a
}

func TestMul(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", mulOf[float64])
	t.Run("float32", mulOf[float32])
	t.Run("Q43", mulOf[fixed.Q43])
}

// TestMulFixedBits compares with the CPU, bit for bit. It leaves out ᾱ, which the CPU rounds
// in several ways.
func TestMulFixedBits(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, cols := range []int{1, 3} {
		for _, trans := range []bool{false, true} {
			for _, scaled := range []bool{false, true} {
				calls := 0 // for an operand, a cotangent, a tangent and its cotangent, twice
				same(t, func(rnd *rand.Rand) hostMul[fixed.Q43] {
					a := randomCSR[fixed.Q43](rand.New(rand.NewPCG(1, 2)), 9, 7)
					a.Data = vector[fixed.Q43](rnd, len(a.Ind)).Data
					from, to := 7, 9
					if trans {
						from, to = to, from
					}
					k := hostMul[fixed.Q43]{C: general[fixed.Q43](rnd, to, cols), A: a, B: general[fixed.Q43](rnd, from, cols), Trans: trans}
					calls++
					if scaled && calls%2 == 1 {
						k.Alpha = &vector[fixed.Q43](rnd, 1).Data[0]
					}
					return k
				}, func(k hostMul[fixed.Q43]) revsparse.Mul[fixed.Q43, int32] {
					return revsparse.Mul[fixed.Q43, int32]{C: k.C, Alpha: k.Alpha, A: k.A, B: k.B, Trans: k.Trans}
				})
			}
		}
	}
}

func mulOf[T rev.Real](t *testing.T) {
	for _, cols := range []int{1, 3} {
		for _, trans := range []bool{false, true} {
			t.Run(fmt.Sprint(cols, trans), func(t *testing.T) {
				revtest.Kernel(t, revtest.Spec[hostMul[T]]{Sizes: []int{1, 4, 9}, Skip: noAllocs, Masked: []string{"B"}, New: func(rnd *rand.Rand, n int) hostMul[T] {
					a := randomCSR[T](rnd, n, n+2)
					from, to := n+2, n
					if trans {
						from, to = to, from
					}
					return hostMul[T]{C: general[T](rnd, to, cols), Alpha: &vector[T](rnd, 1).Data[0], A: a, B: general[T](rnd, from, cols), Trans: trans}
				}})
			})
		}
	}
}

// TestMulValues compares with the CPU.
func TestMulValues(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	rnd := rand.New(rand.NewPCG(9, 10))
	a := randomCSR[float64](rnd, 70, 50)
	for _, cols := range []int{1, 40} {
		c, b := general[float64](rnd, 70, cols), general[float64](rnd, 50, cols)
		want := rev.NewGeneral(70, cols, slices.Clone(c.Data))
		revsparse.Mul[float64, int32]{C: want, A: a, B: b}.Forward()
		if err := rev.Forward(hostMul[float64]{C: c, A: a, B: b}); err != nil {
			t.Fatal(err)
		}
		for i := range c.Data {
			if !(math.Abs(c.Data[i]-want.Data[i]) <= 1e-13) {
				t.Fatalf("element %d is %v, want %v", i, c.Data[i], want.Data[i])
			}
		}
	}
}

func TestCSR(t *testing.T) {
	dev := interpreter(t, 1<<20)
	rnd := rand.New(rand.NewPCG(11, 12))
	a, err := NewCSR(dev, randomCSR[float64](rnd, 5, 4))
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewGeneral(dev, general[float64](rnd, 4, 2))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewGeneral(dev, general[float64](rnd, 5, 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := (Mul[float64]{C: c, A: a, B: b, Trans: true}).Forward(); err != nil {
		t.Error(err)
	}
	if err := a.Free(); err != nil { // and what is kept of the transpose
		t.Error(err)
	}
	for name, a := range map[string]revsparse.CSR[float64, int32]{
		"row pointers": {Rows: 2, Cols: 2, Ptr: []int32{0, 1}, Ind: []int32{0}, Data: []float64{1}},
		"order":        {Rows: 2, Cols: 2, Ptr: []int32{0, 2, 1}, Ind: []int32{0}, Data: []float64{1}},
		"column":       {Rows: 1, Cols: 2, Ptr: []int32{0, 1}, Ind: []int32{2}, Data: []float64{1}},
	} {
		if _, err := NewCSR(dev, a); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func kernelsOf[T rev.Real](t *testing.T) {
	// TestLargeVectors and TestLargeMatrices have large operands.
	sizes, matrices := []int{0, 1, 3, 40}, []int{0, 1, 3}
	t.Run("Dot", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[hostDot[T]]{Sizes: sizes, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostDot[T] {
			return hostDot[T]{Out: new(T), X: vector[T](rnd, n), Y: vector[T](rnd, n)}
		}})
	})
	t.Run("Axpy", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[hostAxpy[T]]{Sizes: sizes, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostAxpy[T] {
			return hostAxpy[T]{Y: vector[T](rnd, n), Alpha: &vector[T](rnd, 1).Data[0], X: vector[T](rnd, n)}
		}})
	})
	t.Run("Sum", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[hostSum[T]]{Sizes: sizes, Skip: noAllocs, Free: []string{"X.N"}, New: func(rnd *rand.Rand, n int) hostSum[T] {
			return hostSum[T]{Out: new(T), X: vector[T](rnd, n)}
		}})
	})
	transposes := [][2]bool{{false, false}, {true, true}}
	if long.Tests() {
		transposes = append(transposes, [2]bool{true, false}, [2]bool{false, true})
	}
	for _, trans := range transposes {
		t.Run("MatMul", func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostMatMul[T]]{Sizes: matrices, Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostMatMul[T] {
				m, k := n+1, n/2+2
				h := hostMatMul[T]{C: general[T](rnd, m, n), A: general[T](rnd, m, k), B: general[T](rnd, k, n), TransA: trans[0], TransB: trans[1]}
				if trans[0] {
					h.A = general[T](rnd, k, m)
				}
				if trans[1] {
					h.B = general[T](rnd, n, k)
				}
				return h
			}})
		})
	}
}

// hubs returns the structure of a matrix of which one row and one column have many entries, and the other rows
// have few or none.
func hubs[T rev.Real](rows, many int) revsparse.CSR[T, int32] {
	places := rand.New(rand.NewPCG(1, 2))
	a := revsparse.CSR[T, int32]{Rows: rows, Cols: many + 5, Ptr: []int32{0}}
	for i := range rows {
		switch {
		case i == rows/2:
			for j := range many {
				a.Ind = append(a.Ind, int32(j))
			}
		case i%3 > 0:
			a.Ind = append(a.Ind, 1)
			for j := 2; j < a.Cols; j += 1 + places.IntN(a.Cols/2) {
				a.Ind = append(a.Ind, int32(j))
			}
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	return a
}

// TestMulHubs compares with the CPU where rows are cut, in the matrix and in its transpose.
func TestMulHubs(t *testing.T) {
	testDevice = interpreter(t, 1<<27)
	mulHubs[float64](t, 1, 3000, 100_000, false)
	if long.Tests() {
		mulHubs[float32](t, 1, 3000, 100_000, false)
		mulHubs[fixed.Q43](t, 1, 3000, 100_000, true)
	}
	shortPieces(t)
	for _, cols := range []int{1, 3, 40} {
		for _, trans := range []bool{false, true} {
			mulHubs[float64](t, cols, 40, 203, trans)
			mulHubs[float32](t, cols, 40, 203, trans)
			mulHubs[fixed.Q43](t, cols, 40, 203, trans)
		}
	}
}

// shortPieces has rows of more than two entries for each of their threads cut into pieces of five, until the end of a
// test.
func shortPieces(t *testing.T) {
	before := bounds
	t.Cleanup(func() { bounds = before })
	bounds.turns, bounds.piece = 2, 5
}

// mulHubs compares sums of whole numbers, which no order rounds, and over Q43 those of any numbers with α, which the CPU
// rounds as TestMulFixedBits says.
func mulHubs[T rev.Real](t *testing.T, cols, rows, many int, trans bool) {
	numbers := integers[T]
	if isFixed[T]() {
		numbers = vector[T]
	}
	calls := 0
	alike(t, 0, func(rnd *rand.Rand) hostMul[T] {
		a := hubs[T](rows, many)
		a.Data = numbers(rnd, len(a.Ind)).Data
		from, to := a.Cols, a.Rows
		if trans {
			from, to = to, from
		}
		k := hostMul[T]{C: rev.NewGeneral(to, cols, numbers(rnd, to*cols).Data), A: a, B: rev.NewGeneral(from, cols, numbers(rnd, from*cols).Data), Trans: trans}
		if calls++; !isFixed[T]() || calls%2 == 1 {
			k.Alpha = &numbers(rnd, 1).Data[0]
		}
		return k
	}, func(k hostMul[T]) revsparse.Mul[T, int32] {
		return revsparse.Mul[T, int32]{C: k.C, Alpha: k.Alpha, A: k.A, B: k.B, Trans: k.Trans}
	})
}

// TestCuts looks at how rows are cut.
func TestCuts(t *testing.T) {
	dev := interpreter(t, 1<<20)
	for name, c := range map[string]struct {
		rows []int // their entries
		want cuts
	}{
		"none":         {nil, cuts{share: 32, longest: 1024}},
		"empty":        {[]int{0, 0}, cuts{share: 1, longest: 32}},
		"short":        {[]int{32, 1, 0, 2, 3, 9, 8}, cuts{share: 2, longest: 64}},
		"one long":     {append(slices.Repeat([]int{3, 0}, 500), 100_000), cuts{share: 1, longest: 32, pieces: 391, cut: 1}},
		"at a bound":   {append(slices.Repeat([]int{3}, 500), 32, 33, 256, 257), cuts{share: 1, longest: 32, pieces: 1 + 1 + 2, cut: 3}},
		"all are long": {[]int{1025, 5000}, cuts{share: 32, longest: 1024, pieces: 5 + 20, cut: 2}},
		"several":      {append(slices.Repeat([]int{8}, 300), 1000, 90_000), cuts{share: 4, longest: 128, pieces: 4 + 352, cut: 2}},
	} {
		ptr := []int32{0}
		for _, n := range c.rows {
			ptr = append(ptr, ptr[len(ptr)-1]+int32(n))
		}
		got := must(newCuts(dev, ptr))(t)
		list := make([]int32, len(got.list))
		if got.list != nil {
			if err := errors.Join(got.list.Get(list), got.list.Free()); err != nil {
				t.Fatal(err)
			}
		}
		got.list = nil
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
			continue
		}
		piece, row := 0, list[3*got.pieces:]
		for i, n := range c.rows {
			if n <= got.longest {
				continue
			}
			if row[0] != int32(i) || row[1] != int32(piece) {
				t.Errorf("%s: row %d and piece %d are %v", name, i, piece, row[:3])
			}
			at := ptr[i]
			for ; piece < int(row[2]); piece++ {
				p := list[3*piece:]
				if p[0] != at || p[1] <= at || int(p[1]-at) > bounds.piece || p[2] != int32(i) {
					t.Errorf("%s: piece %d is %v, want one of row %d from %d", name, piece, p[:3], i, at)
				}
				at = p[1]
			}
			if at != ptr[i+1] {
				t.Errorf("%s: the pieces of row %d end at %d, want %d", name, i, at, ptr[i+1])
			}
			row = row[3:]
		}
	}
}
