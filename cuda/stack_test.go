package cuda

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"revnum/internal/byname"
	"revnum/rev"
)

// compareStack makes passes of a kernel of stacks on the device, and of a kernel of the CPU for each of
// count matrices. random returns the operands, cotangents, tangents and their tangents, the same each time, and
// of those of a matrix, in the same memory. check compares what the device has left with what the CPU has.
func compareStack[H rev.Kernel[H], C rev.Kernel[C]](t *testing.T, count int, passes []string, random func() [4]H, of func(k H, b int) C, check func(what string, got, want H)) {
	t.Helper()
	for _, pass := range passes {
		o, p := random(), random()
		err := byname.Run(pass, &o[0], &o[1], &o[2], &o[3])
		for b := range max(count, 1) {
			k, g, tan, gt := of(p[0], b), of(p[1], b), of(p[2], b), of(p[3], b)
			err = errors.Join(err, byname.Run(pass, &k, &g, &tan, &gt))
		}
		if err != nil {
			t.Fatal(pass, err)
		}
		for i, name := range []string{"operands", "cotangents", "tangents", "tangents of cotangents"} {
			check(pass+": "+name, o[i], p[i])
		}
	}
}

// halveSystems lowers the columns of triangular systems that are solved in one launch.
func halveSystems(t *testing.T) {
	before := solveCols
	t.Cleanup(func() { solveCols = before })
	solveCols = 32
}

var allPasses = []string{"Forward", "Inverse", "Adjoint", "Tangent", "AdjointTangent"}

// near returns a check that lets a number differ from v by a tolerance times 1 + |v|, or by nothing if v is not finite.
func near[H any](t *testing.T, tolerance float64) func(what string, got, want H) {
	return func(what string, got, want H) {
		t.Helper()
		w := numbersIn(reflect.ValueOf(want), nil)
		for i, v := range numbersIn(reflect.ValueOf(got), nil) {
			if v != w[i] && !(math.Abs(v-w[i]) <= tolerance*(1+min(math.Abs(w[i]), math.MaxFloat64))) && (v == v || w[i] == w[i]) {
				t.Fatalf("%s: number %d of %d is %v, want %v", what, i, len(w), v, w[i])
			}
		}
	}
}

// compareNotFinite compares systems X += A⁻¹·B with those of the CPU. A is not a number, or a cotangent or a tangent is
// infinite, with each choice of derivatives that are absent. What they would be multiplied by must not show. All other
// numbers are so small that nothing is rounded.
func compareNotFinite[H rev.Kernel[H], C rev.Kernel[C]](t *testing.T, system func(x, a, b rev.General[float64]) H, of func(k H, b int) C) {
	testDevice = interpreter(t, 1<<26)
	for _, special := range []string{"A", "X̄", "Ȧ"} {
		for absent := range 1 << 6 {
			t.Run(fmt.Sprintf("%s %06b", special, absent), func(t *testing.T) {
				compareStack(t, 0, []string{"AdjointTangent"}, func() (o [4]H) {
					var x, a, b [4]rev.General[float64]
					for i := range o {
						number := func(v float64) rev.General[float64] { return rev.NewGeneral(1, 1, []float64{v}) }
						x[i], a[i], b[i] = number(float64(i)), number(1), number(float64(3-i))
					}
					switch special {
					case "A":
						a[0].Data[0] = math.NaN()
					case "X̄":
						x[1].Data[0], x[3].Data[0] = math.Inf(1), 0
					case "Ȧ":
						a[2].Data[0] = math.Inf(1)
					}
					for i, operand := range []*rev.General[float64]{&x[1], &a[2], &b[2], &x[3], &a[3], &b[3]} {
						if absent>>i&1 != 0 {
							*operand = rev.General[float64]{}
						}
					}
					for i := range o {
						o[i] = system(x[i], a[i], b[i])
					}
					return o
				}, of, near[H](t, 0))
			})
		}
	}
}

// matrixOf returns matrix b of those that stand below each other in a, with the same memory, or nothing of nothing.
func matrixOf[T rev.Float](a rev.General[T], count, b int) rev.General[T] {
	if a.Data == nil {
		return a
	}
	rows := a.Rows / max(count, 1)
	return rev.NewGeneral(rows, a.Cols, a.Data[b*rows*a.Cols:(b+1)*rows*a.Cols])
}
