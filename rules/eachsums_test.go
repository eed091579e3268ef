package rules

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"revnum/internal/long"
	"revnum/rev"
)

// TestEachSums compares n norms, dot products and sums at once with calls of each alone: with numbers whose squares
// leave the range, infinities, NaN and norms of 0, problems that share an operand, overlap or have gaps, and without
// some operands.
func TestEachSums(t *testing.T) {
	t.Run("float64", func(t *testing.T) {
		eachSums(t, Float64, []float64{math.MaxFloat64, 1e200, 1e-200, 1e-310, 5e-324}, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	})
	t.Run("float32", func(t *testing.T) {
		eachSums(t, Float32, []float32{math.MaxFloat32, 1e30, 1e-30, 1e-40, 1e-45}, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
	})
}

func eachSums[T rev.Float](t *testing.T, number Type, extreme []T, same func(a, b T) bool) {
	rnd := rand.New(rand.NewPCG(7, 7))
	pick := func(of ...int) int { return of[rnd.IntN(len(of))] }
	nan, inf := T(math.NaN()), T(math.Inf(1))
	size := int(unsafe.Sizeof(nan))
	kinds := []string{"ordinary", "not finite", "extreme", "zero"}
	for range long.Or(6000, 600) {
		name := []string{"Dot", "Norm2", "Sum"}[rnd.IntN(3)]
		r := lookup(t, fmt.Sprintf("revlinalg.%s[%T]", name, nan))
		cols, n := pick(0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 1000), pick(2, 3, 63, 64, 65, 130, 200)
		pass, kind := []Pass{Forward, Inverse, Adjoint, Gradient}[rnd.IntN(4)], kinds[rnd.IntN(4)]
		var got, want [][]T // the memory of operands, for CallEach and for calls
		// operand appends an operand to either list: a vector or a number, which is written or not.
		operand := func(to, alone *[]Buffer, vector, written, optional bool) {
			if optional && rnd.IntN(5) == 0 {
				*to, *alone = append(*to, Buffer{}), append(*alone, Buffer{})
				return
			}
			length := 1
			if vector {
				length = cols
			}
			move := max(1, length+pick(0, 3))
			if !written {
				move = pick(0, 1, length, length+3, length/2)
			}
			x := make([]T, move*(n-1)+length+1)
			for j := range x {
				x[j] = T(rnd.NormFloat64())
				switch {
				case kind == "not finite" && rnd.IntN(100) == 0:
					x[j] = []T{nan, inf, -inf}[rnd.IntN(3)]
				case kind == "extreme" && rnd.IntN(30) == 0:
					x[j] = extreme[rnd.IntN(len(extreme))]
				case kind == "zero" && vector && j/max(1, move)%3 == 0:
					x[j] = 0
				}
			}
			for _, side := range []struct {
				list *[]Buffer
				mem  *[][]T
			}{{to, &got}, {alone, &want}} {
				mem := slices.Clone(x)
				b := Buffer{Data: unsafe.Pointer(&mem[0]), Len: length, Type: number, Move: move * size}
				if vector {
					b.Axes, b.Shape, b.Stride = 1, [2]int{length}, [2]int{1}
				}
				*side.list, *side.mem = append(*side.list, b), append(*side.mem, mem)
			}
		}
		var each, alone Args
		back := pass == Adjoint || pass == Gradient
		for _, o := range r.Operands {
			acc := o.role == rev.Acc
			operand(&each.Operands, &alone.Operands, !acc, acc, acc && back)
		}
		for _, o := range r.Operands {
			if acc := o.role == rev.Acc; back {
				operand(&each.Cotangents, &alone.Cotangents, !acc, !acc, true)
			}
		}
		what := fmt.Sprintf("%v of %d times %s, %d %s numbers", pass, n, name, cols, kind)
		for j := range n {
			if err := r.Call(pass, only(alone, j)); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
		if err := r.CallEach(pass, each, n); err != nil {
			t.Fatalf("%s at once: %v", what, err)
		}
		for i, w := range want {
			for j, v := range got[i] {
				if math.IsNaN(float64(v)) != math.IsNaN(float64(w[j])) || !math.IsNaN(float64(v)) && !same(v, w[j]) {
					t.Fatalf("%s: number %d of operand %d is %v, want %v", what, j, i, v, w[j])
				}
			}
		}
	}
}
