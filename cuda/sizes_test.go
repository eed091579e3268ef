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
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/gmm"
	"revnum/revnn"
	"revnum/revsparse"
)

// lower lowers the bounds of grids until the end of a test. A card keeps its bounds.
func lower(t *testing.T, threads, blocks, rows int) {
	t.Helper()
	if _, ok := testDevice.driver.(*interpreted); ok {
		before := bounds
		t.Cleanup(func() { bounds = before })
		bounds.threads, bounds.blocks, bounds.rows, bounds.rowBlocks = threads, blocks, rows, blocks
	}
}

// largeSizes returns lengths of vectors of which each exceeds a bound: there are more parts than a
// block has threads, and more elements than a grid has threads, and than it reads at a time.
func largeSizes(t *testing.T) []int {
	t.Helper()
	lower(t, 32, 33, 3)
	if bounds.threads == maxThreads {
		return []int{65_537, 262_145, 1_000_003}
	}
	return []int{32*32 + 1, 32*33 + 1, 8*32*33 + 5}
}

// alike does what same does, and lets elements differ by a tolerance times 1 + |v|.
func alike[H rev.Kernel[H], C rev.Kernel[C]](t *testing.T, tolerance float64, random func(*rand.Rand) H, host func(H) C) {
	t.Helper()
	alikeIn(t, namesOfPasses, tolerance, random, host)
}

// alikeIn does what alike does, in the first passes.
func alikeIn[H rev.Kernel[H], C rev.Kernel[C]](t *testing.T, passes []string, tolerance float64, random func(*rand.Rand) H, host func(H) C) {
	t.Helper()
	operands := func() (o [4]H) {
		rnd := rand.New(rand.NewPCG(5, 6))
		for i := range o {
			o[i] = random(rnd)
		}
		return o
	}
	for i, pass := range passes {
		o, p := operands(), operands()
		if err := runPass(o, i); err != nil {
			t.Fatalf("%T: %s: %v", o[0], pass, err)
		}
		if err := runPass([4]C{host(p[0]), host(p[1]), host(p[2]), host(p[3])}, i); err != nil {
			t.Fatalf("%T: %s: %v", p[0], pass, err)
		}
		for k, of := range []string{"operands", "cotangents", "tangents", "tangents of cotangents"} {
			got, want := numbersIn(reflect.ValueOf(o[k]), nil), numbersIn(reflect.ValueOf(p[k]), nil)
			for e, v := range got {
				if w := want[e]; v != w && !(math.Abs(v-w) <= tolerance*(1+math.Abs(w))) && (v == v || w == w) {
					t.Errorf("%T: %s: number %d of %d of the %s is %v, want %v", o[k], pass, e, len(got), of, v, w)
					break
				}
			}
		}
	}
}

var namesOfPasses = []string{"Forward", "Adjoint", "Tangent", "AdjointTangent"}

// runPass makes pass i of a kernel with its cotangents, tangents and their tangents.
func runPass[K rev.Kernel[K]](o [4]K, i int) error {
	switch i {
	case 0:
		return rev.Forward(o[0])
	case 1:
		return rev.Adjoint(o[0], o[1])
	case 2:
		return rev.Tangent(o[0], o[2])
	}
	return rev.AdjointTangent(o[0], o[1], o[2], o[3])
}

// numbersIn appends the numbers in the operands of a kernel to list.
func numbersIn(v reflect.Value, list []float64) []float64 {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			list = numbersIn(v.Field(i), list)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			list = numbersIn(v.Elem(), list)
		}
	case reflect.Slice:
		for i := range v.Len() {
			list = numbersIn(v.Index(i), list)
		}
	case reflect.Float64, reflect.Float32:
		list = append(list, v.Float())
	case reflect.Int64:
		list = append(list, float64(v.Int()))
	case reflect.Complex128:
		list = append(list, real(v.Complex()), imag(v.Complex()))
	}
	return list
}

// integers returns numbers whose sums and products are exact in all types.
func integers[T rev.Real](rnd *rand.Rand, n int) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](float64(rnd.IntN(9) - 4))
	}
	return rev.ViewSlice(x)
}

// one returns a number that is not zero, so that it counts as a cotangent.
func one[T rev.Real]() *T {
	v := fixed.Of[T](1)
	return &v
}

func table[T rev.Real](rnd *rand.Rand, r, c int) rev.General[T] {
	return rev.NewGeneral(r, c, integers[T](rnd, r*c).Data)
}

// toleranceOf returns by how much functions of T differ from those of the CPU.
func toleranceOf[T rev.Real]() float64 {
	switch any(*new(T)).(type) {
	case float64:
		return 1e-12
	case float32:
		return 3e-6
	}
	return 0
}

// TestLargeVectors compares with the CPU over vectors that need several parts and rounds.
func TestLargeVectors(t *testing.T) {
	testDevice = interpreter(t, 1<<27)
	sizes := largeSizes(t)
	t.Run("float64", func(t *testing.T) { largeVectors[float64](t, sizes) })
	t.Run("float32", func(t *testing.T) { largeVectors[float32](t, sizes) })
	t.Run("Q43", func(t *testing.T) { largeVectors[fixed.Q43](t, sizes) })
}

func largeVectors[T rev.Real](t *testing.T, sizes []int) {
	tolerance := toleranceOf[T]()
	for _, n := range sizes {
		alike(t, 0, func(rnd *rand.Rand) hostDot[T] {
			return hostDot[T]{Out: one[T](), X: integers[T](rnd, n), Y: integers[T](rnd, n)}
		}, func(k hostDot[T]) revlinalg.Dot[T] { return revlinalg.Dot[T](k) })
		alike(t, 0, func(rnd *rand.Rand) hostSum[T] { return hostSum[T]{Out: one[T](), X: integers[T](rnd, n)} },
			func(k hostSum[T]) revlinalg.Sum[T] { return revlinalg.Sum[T](k) })
		alike(t, 0, func(rnd *rand.Rand) hostAxpy[T] {
			return hostAxpy[T]{Y: integers[T](rnd, n), Alpha: &integers[T](rnd, 1).Data[0], X: integers[T](rnd, n)}
		}, func(k hostAxpy[T]) revlinalg.Axpy[T] { return revlinalg.Axpy[T](k) })
		alike(t, 0, func(rnd *rand.Rand) hostNorm1[T] { return hostNorm1[T]{Out: one[T](), X: integers[T](rnd, n)} },
			func(k hostNorm1[T]) revlinalg.Norm1[T] { return revlinalg.Norm1[T](k) })
		// Its tangent is a sum in which terms cancel, within ε·‖ẋ‖.
		alike(t, tolerance*max(1, math.Sqrt(float64(n))/100), func(rnd *rand.Rand) hostNorm2[T] { return hostNorm2[T]{Out: one[T](), X: integers[T](rnd, n)} },
			func(k hostNorm2[T]) revlinalg.Norm2[T] { return revlinalg.Norm2[T](k) })
		alike(t, 0, func(rnd *rand.Rand) hostNormInf[T] {
			x := integers[T](rnd, n)
			x.Data[n-1] = fixed.Of[T](7) // found last
			return hostNormInf[T]{Out: one[T](), X: x}
		}, func(k hostNormInf[T]) revlinalg.NormInf[T] { return revlinalg.NormInf[T](k) })
		alike(t, tolerance, func(rnd *rand.Rand) hostLogSumExp[T] { return hostLogSumExp[T]{Out: one[T](), X: integers[T](rnd, n)} },
			func(k hostLogSumExp[T]) revnn.LogSumExp[T] { return revnn.LogSumExp[T](k) })
		alike(t, tolerance, func(rnd *rand.Rand) hostSoftmax[T] {
			return hostSoftmax[T]{Y: integers[T](rnd, n), X: integers[T](rnd, n)}
		},
			func(k hostSoftmax[T]) revnn.Softmax[T] { return revnn.Softmax[T](k) })
	}
	largeMaps[T](t, tolerance)
}

// largeMaps has functions of elements, whose kernels have the loop of Exp, Atan2 or MulElem, of more elements than
// mapGrid has threads.
func largeMaps[T rev.Real](t *testing.T, tolerance float64) {
	lower(t, 32, 3, 3)
	n := 16*bounds.blocks*bounds.threads + 5
	unary := func(rnd *rand.Rand) (y, x rev.Vector[T]) { return integers[T](rnd, n), vector[T](rnd, n) }
	alike(t, tolerance, func(rnd *rand.Rand) hostExp[T] { y, x := unary(rnd); return hostExp[T]{Y: y, X: x} },
		func(k hostExp[T]) revlinalg.Exp[T] { return revlinalg.Exp[T](k) })
	alike(t, tolerance, func(rnd *rand.Rand) hostReLU[T] { y, x := unary(rnd); return hostReLU[T]{Y: y, X: x} },
		func(k hostReLU[T]) revnn.ReLU[T] { return revnn.ReLU[T](k) })
	alike(t, tolerance, func(rnd *rand.Rand) hostMulElem[T] {
		y, x := unary(rnd)
		return hostMulElem[T]{Z: y, X: x, Y: vector[T](rnd, n)}
	}, func(k hostMulElem[T]) revlinalg.MulElem[T] { return revlinalg.MulElem[T](k) })
	alike(t, tolerance, func(rnd *rand.Rand) hostDivElem[T] {
		y, x := unary(rnd)
		return hostDivElem[T]{Z: y, X: x, Y: awayFromZero[T](rnd, n)}
	}, func(k hostDivElem[T]) revlinalg.DivElem[T] { return revlinalg.DivElem[T](k) })
	alike(t, tolerance, func(rnd *rand.Rand) hostAtan2[T] {
		return hostAtan2[T]{Z: vector[T](rnd, n), X: awayFromZero[T](rnd, n), Y: positives[T](rnd, n)}
	}, func(k hostAtan2[T]) revlinalg.Atan2[T] { return revlinalg.Atan2[T](k) })
}

// TestLargeDomain has one power that is not defined, at the end of long vectors.
func TestLargeDomain(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, n := range largeSizes(t) {
		x := vector[float64](rand.New(rand.NewPCG(1, 2)), n)
		for i := range x.Data {
			x.Data[i] = 2
		}
		x.Data[n-1] = -2
		y := rev.ViewSlice(slices.Repeat([]float64{0.5}, n))
		var e *rev.DomainError
		if err := rev.Forward(hostPow[float64]{Z: rev.ViewSlice(make([]float64, n)), X: x, Y: y}); !errors.As(err, &e) || e.Index != n-1 {
			t.Errorf("%d elements: %v", n, err)
		}
	}
}

// TestLargeMatrices has more rows and columns than a grid has blocks and threads, 65 and 129 columns,
// and rows with 1000 entries.
func TestLargeMatrices(t *testing.T) {
	testDevice = interpreter(t, 1<<27)
	lower(t, 32, 33, 3)
	t.Run("float64", largeMatrices[float64])
	t.Run("float32", largeMatrices[float32])
	t.Run("Q43", largeMatrices[fixed.Q43])
}

func largeMatrices[T rev.Real](t *testing.T) {
	alike(t, 0, func(rnd *rand.Rand) hostAffine[T] {
		const m, n = 5, 32*33 + 7
		return hostAffine[T]{Y: integers[T](rnd, m), W: table[T](rnd, m, n), X: integers[T](rnd, n), B: integers[T](rnd, m)}
	}, func(k hostAffine[T]) revlinalg.Affine[T] { return revlinalg.Affine[T](k) })
	alike(t, 0, func(rnd *rand.Rand) hostAffineBatch[T] {
		const n, k, m = 2*columnPart + 3, 3, 5
		return hostAffineBatch[T]{Y: table[T](rnd, n, m), X: table[T](rnd, n, k), W: table[T](rnd, k, m), B: integers[T](rnd, m)}
	}, func(k hostAffineBatch[T]) revnn.AffineBatch[T] { return revnn.AffineBatch[T](k) })
	for _, trans := range []bool{false, true} {
		alike(t, 0, func(rnd *rand.Rand) hostMatMul[T] {
			k := hostMatMul[T]{C: table[T](rnd, 129, 65), A: table[T](rnd, 129, 19), B: table[T](rnd, 19, 65), TransA: trans, TransB: trans}
			if trans {
				k.A, k.B = table[T](rnd, 19, 129), table[T](rnd, 65, 19)
			}
			return k
		}, func(k hostMatMul[T]) revlinalg.MatMul[T] { return revlinalg.MatMul[T](k) })
		columns := []int{1, 65}
		if trans {
			columns = []int{1, 2, 129}
		}
		for _, cols := range columns {
			alike(t, 0, func(rnd *rand.Rand) hostMul[T] {
				a := longRows[T](rnd)
				from, to := a.Cols, a.Rows
				if trans {
					from, to = to, from
				}
				return hostMul[T]{C: table[T](rnd, to, cols), Alpha: &integers[T](rnd, 1).Data[0], A: a, B: table[T](rnd, from, cols), Trans: trans}
			}, func(k hostMul[T]) revsparse.Mul[T, int32] {
				return revsparse.Mul[T, int32]{C: k.C, Alpha: k.Alpha, A: k.A, B: k.B, Trans: k.Trans}
			})
		}
	}
}

// longRows returns a matrix with the same structure at each call, whose rows have 1000, 0 and few
// entries.
func longRows[T rev.Real](rnd *rand.Rand) revsparse.CSR[T, int32] {
	places := rand.New(rand.NewPCG(1, 2))
	a := revsparse.CSR[T, int32]{Rows: 6, Cols: 1100, Ptr: []int32{0}}
	for _, entries := range []int{0, 3, 1000, 40, 1, 0} {
		left := entries
		for j := range a.Cols {
			if left > 0 && (left == a.Cols-j || places.IntN(a.Cols-j) < left) {
				a.Ind = append(a.Ind, int32(j))
				left--
			}
		}
		a.Ptr = append(a.Ptr, int32(len(a.Ind)))
	}
	a.Data = integers[T](rnd, len(a.Ind)).Data
	return a
}

// TestLargeMixtures has more dimensions than a tile has rows.
func TestLargeMixtures(t *testing.T) {
	testDevice = interpreter(t, 1<<27)
	lower(t, 32, 3, 3)
	prior := gmm.Prior{Gamma: 0.7, M: 2}
	comparePosterior(t, [3]int{70, 65, 2}, prior)
	comparePosterior(t, [3]int{5, 130, 1}, prior)
	comparePosterior(t, [3]int{130, 10, 1}, prior) // two parts, with more sums than a grid has threads
	for _, capability := range []int{80, 90} {
		t.Run(fmt.Sprint("tensor cores of ", capability), func(t *testing.T) { // a lane has several coordinates
			testDevice = withTensorCores(t, 1<<26, capability)
			comparePosterior(t, [3]int{30, 40, 2}, prior)
		})
	}
	testDevice = interpreter(t, 1<<27)
	t.Run("batches", func(t *testing.T) { // with more sums than a block has threads
		smallBatches(t, 35)
		comparePosterior(t, [3]int{1200, 1, 2}, prior)
	})
	same(t, func(rnd *rand.Rand) hostFixedPosterior { return randomFixedPosterior(rnd, 35, 65, 2, prior) },
		func(k hostFixedPosterior) gmm.FixedLogPosterior { return gmm.FixedLogPosterior(k) })
}

// TestSmallGrids repeats tests with grids so small that all kernels go over their operands several
// times.
func TestSmallGrids(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	lower(t, 32, 2, 2)
	t.Run("Unitary", TestUnitaryBits)
	t.Run("QR", TestQRValues)
	t.Run("QR of singular matrices", TestQRSingular)
	t.Run("softmax of rows", TestSoftmaxRowsBits)
	t.Run("norms of rows", TestRowNormBits)
	t.Run("attention", TestAttentionAlike)
	t.Run("systems", TestSolveValues)
	t.Run("transforms", TestFFTAlike)
	t.Run("GraphLoss", TestGraphLossFixedBits)
	t.Run("cameras", TestCameraFixedBits)
	t.Run("BundlePoints", TestBundlePoints)
	t.Run("BundleReduced", TestBundleReduced)
	t.Run("mixture points", TestMixturePoints)
	t.Run("optimisers", TestOptimisers)
}

// TestLargeFill fills more elements than a grid has threads.
func TestLargeFill(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for _, n := range largeSizes(t) {
		largeFill(t, n, 1.5)
		largeFill(t, n, float32(2.5))
	}
}

func largeFill[T float64 | float32](t *testing.T, n int, v T) {
	x := must(NewVector(testDevice, rev.ViewSlice(make([]T, n))))(t)
	got := make([]T, n)
	if err := errors.Join(Fill(nil, x.Data, v), x.Data.Get(got), x.Data.Free()); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(got, func(w T) bool { return w != v }); i >= 0 {
		t.Errorf("element %d of %d is %v, want %v", i, n, got[i], v)
	}
}
