package revnn_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/internal/long"
	"revnum/internal/vector"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// Planes of 5 elements are transposed, those of 33 have a gain at a time, and those of one element, which are many, are
// taken by rows.
func batchNormSpec[T rev.Real](plane int) revtest.Spec[revnn.BatchNorm[T]] {
	return revtest.Spec[revnn.BatchNorm[T]]{New: func(rnd *rand.Rand, n int) revnn.BatchNorm[T] {
		c := 1 + n%5
		if plane == 1 {
			c += normColumns + 2*normNarrow
		}
		k := revnn.BatchNorm[T]{
			Y: kerneltest.Matrix[T](rnd, n, c*plane), X: kerneltest.Matrix[T](rnd, n, c*plane),
			Mean: kerneltest.Vector[T](rnd, c), Variance: kerneltest.Vector[T](rnd, c),
			Gain: kerneltest.Vector[T](rnd, c), Bias: kerneltest.Vector[T](rnd, c), Channels: c, Epsilon: 0.0625,
		}
		if n%4 == 1 {
			k.Gain = rev.Vector[T]{}
		}
		if n%3 == 0 {
			k.Bias = rev.Vector[T]{}
		}
		return k
	}, RoundTrip: 4, Large: 300}
}

func TestBatchNorm(t *testing.T) {
	kerneltest.Kernels(t, batchNormSpec[float32](33), batchNormSpec[float64](33), batchNormSpec[fixed.Q43](33))
	if long.Tests() {
		kerneltest.Kernels(t, batchNormSpec[float32](5), batchNormSpec[float64](5), batchNormSpec[fixed.Q43](5))
	}
	rows64, rowsQ := batchNormSpec[float64](1), batchNormSpec[fixed.Q43](1)
	if long.Tests() {
		kerneltest.Kernels(t, batchNormSpec[float32](1), rows64, rowsQ)
		return
	}
	rows64.Sizes, rowsQ.Sizes, rowsQ.Large = []int{0, 3, 12}, []int{1, 6}, 0
	t.Run("rows", func(t *testing.T) { revtest.Kernel(t, rows64) })
	t.Run("rows, Q43", func(t *testing.T) { revtest.Kernel(t, rowsQ) })
}

func groupNormSpec[T rev.Real](plane int) revtest.Spec[revnn.GroupNorm[T]] {
	return revtest.Spec[revnn.GroupNorm[T]]{New: func(rnd *rand.Rand, n int) revnn.GroupNorm[T] {
		groups := 1 + n%3
		c := 2 * groups
		k := revnn.GroupNorm[T]{
			Y: kerneltest.Matrix[T](rnd, n, c*plane), X: kerneltest.Matrix[T](rnd, n, c*plane),
			Gain: kerneltest.Vector[T](rnd, c), Bias: kerneltest.Vector[T](rnd, c), Channels: c, Groups: groups, Epsilon: 0.0625,
		}
		if n%4 == 1 {
			k.Gain = rev.Vector[T]{}
		}
		if n%3 == 0 {
			k.Bias = rev.Vector[T]{}
		}
		return k
	}, RoundTrip: 4, Large: 300}
}

func TestGroupNorm(t *testing.T) {
	kerneltest.Kernels(t, groupNormSpec[float32](33), groupNormSpec[float64](33), groupNormSpec[fixed.Q43](33))
	if long.Tests() {
		kerneltest.Kernels(t, groupNormSpec[float32](5), groupNormSpec[float64](5), groupNormSpec[fixed.Q43](5))
	}
	// One gain for each plane.
	planes64, planesQ := groupNormSpec[float64](normPlane+2), groupNormSpec[fixed.Q43](normPlane+2)
	if long.Tests() {
		kerneltest.Kernels(t, groupNormSpec[float32](normPlane+2), planes64, planesQ)
		return
	}
	planes64.Sizes, planesQ.Sizes, planesQ.Large = []int{0, 3, 12}, []int{1, 6}, 0
	t.Run("planes", func(t *testing.T) { revtest.Kernel(t, planes64) })
	t.Run("planes, Q43", func(t *testing.T) { revtest.Kernel(t, planesQ) })
}

// pattern returns n numbers, multiples of 1/by from -m/2/by to m/2/by.
func pattern(n, step, m int, by float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i*step%m-m/2) / by
	}
	return x
}

// What PyTorch 2 computes in float64 by batch_norm and group_norm with an eps of 1e-5: values, tangents,
// gradients of the sum of the products of the outputs with weights, and products of its Hessian with a
// tangent.
func TestChannelNormsOfPyTorch(t *testing.T) {
	matrix := func(v []float64) rev.General[float64] { return rev.NewGeneral(3, 8, v) }
	vector := func(v ...float64) rev.Vector[float64] { return rev.ViewSlice(v) }
	zeros := func() rev.Vector[float64] { return vector(0, 0, 0, 0) }
	x, weights, tx := pattern(24, 37, 23, 8), pattern(24, 29, 17, 4), pattern(24, 41, 19, 8)
	gain, bias := vector(1, -0.5, 2, 0.25), vector(0.5, 0, -1, 3)
	tgain, tbias := vector(1, 0.5, -0.5, 0.25), vector(0.25, -0.25, 1, 0.5)
	check := func(name string, got, want []float64) {
		t.Helper()
		if !floats.EqualFunc(got, want, func(a, b float64) bool { return kerneltest.Near(a, b, 2e-14) }) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	{
		none := func() rev.General[float64] { return matrix(make([]float64, 24)) }
		k := revnn.BatchNorm[float64]{Y: none(), X: matrix(x), Mean: zeros(), Variance: zeros(), Gain: gain, Bias: bias, Channels: 4}
		g := revnn.BatchNorm[float64]{Y: matrix(weights), X: none(), Mean: vector(0.5, -1, 0.25, 2), Variance: vector(-0.75, 0.5, 1, 0.125), Gain: zeros(), Bias: zeros()}
		dt := revnn.BatchNorm[float64]{Y: none(), X: matrix(tx), Mean: zeros(), Variance: zeros(), Gain: tgain, Bias: tbias}
		gt := revnn.BatchNorm[float64]{Y: none(), X: none(), Mean: zeros(), Variance: zeros(), Gain: zeros(), Bias: zeros()}
		k.Tangent(dt)
		check("batch: y", k.Y.Data, []float64{-1.295448508590836, 0.8590897017181671, 0.5441589312320989, -0.4283804352252694, -1.046311398402732, -3.54712691215025, 3.365958066179799, 2.92680838676404, 1.782463220422025, 0.397402942366238, 0.7525602240443922, -0.2199791424129762, -1.879916569651905, 2.010240896177569, 3.21957483970788, 2.780425160292121, 1.320776461070096, -0.06428381698569119, -0.6367817280375626, -0.01157784960068295, -2.713521740901077, 1.176635724928396, 3.07319161323596, 2.634041933820201})
		check("batch: mean", k.Mean.Data, []float64{0.08333333333333333, 0.2291666666666667, -0.1041666666666667, -0.4375})
		check("batch: variance", k.Variance.Data, []float64{0.6597222222222223, 0.8094618055555557, 0.8094618055555555, 0.41015625})
		check("batch: ẏ", dt.Y.Data, []float64{-2.198497543959191, 0.001000693828751453, -0.7032353787141103, 0.3122475655189717, 1.822238675816926, 2.042053093724752, 1.223786110139244, 0.1210296156170796, 1.053568214631186, 0.3980904521313925, -1.312831774672894, -0.2973488304398117, 3.006983710118432, -0.4841249202350628, 0.4333157354907544, 0.2576530086240817, 1.450657972933827, 0.7951802104340335, 0.08823879022858216, 0.412929628079262, -1.08777067349149, 0.7006201140664434, 0.5699391284977565, 0.3942764016310838})
		check("batch: ṁ", dt.Mean.Data, []float64{-0.3125, 0.04166666666666666, 0, -0.04166666666666666})
		check("batch: v̇", dt.Variance.Data, []float64{0.2552083333333333, 0.4184027777777777, -0.8020833333333333, 0.21875})
		k.AdjointTangent(g, dt, gt)
		check("batch: x̄", g.X.Data, []float64{0.7212532459603609, 1.556263449894616, -0.6764846092871624, 0.9293503493095945, 3.189757557577436, 0.3525268277638091, -0.2363711457560617, 0.9547360809205341, 0.02340776090139551, 0.3220486705328656, -0.03812886287137085, -0.7941752228139369, -0.1641787359691612, -2.85178980023351, 0.8437863200050955, 0.3758836466666012, -1.210807018460354, -0.912166108828884, -0.2647421779389789, -0.1558194763981454, -3.518115029515758, 3.241799180377185, 0.2649338857511627, -0.2029687875873316})
		check("batch: γ̄", g.Gain.Data, []float64{5.476117951202049, 3.438621331402838, 0.6830931264402941, 0.5855329058876788})
		check("batch: β̄", g.Bias.Data, []float64{-3.5, -1.5, 0.5, 2.5})
		check("batch: ġx", gt.X.Data, []float64{0.3136045231480417, 2.208276377939263, 0.2128596293381838, -1.234253302406928, 0.8241166062079016, 1.872325135143229, 0.2115504032751358, 0.3405206644835623, 1.349419351422204, -0.2010417120132969, -0.3461627236198929, 1.179014634602335, 0.6084824981093668, -2.838652367700905, 0.7748000024799103, -0.3551574359378485, -1.059898738530355, -2.610359801965856, 0.8051291710534594, -0.6165874089671567, 0.2692495358614283, -0.7355214076210209, 0.07912190205849953, -1.050835536359259})
		check("batch: ġγ", gt.Gain.Data, []float64{-2.29034513511566, 0.9521944369295651, 3.186580091003726, -6.971090733851152})
		check("batch: ġβ", gt.Bias.Data, []float64{0, 0, 0, 0})
	}
	none := func() rev.General[float64] { return matrix(make([]float64, 24)) }
	k := revnn.GroupNorm[float64]{Y: none(), X: matrix(x), Gain: gain, Bias: bias, Channels: 4, Groups: 2}
	g := revnn.GroupNorm[float64]{Y: matrix(weights), X: none(), Gain: zeros(), Bias: zeros()}
	dt := revnn.GroupNorm[float64]{Y: none(), X: matrix(tx), Gain: tgain, Bias: tbias}
	gt := revnn.GroupNorm[float64]{Y: none(), X: none(), Gain: zeros(), Bias: zeros()}
	k.Tangent(dt)
	check("group: y", k.Y.Data, []float64{-0.7780709062128017, 1.105402008206064, 0.302701004103032, -0.6390354531064009, -0.2229806929321894, -3.719567574737337, 3.339945946842167, 2.902872586616524, 1.652894240811632, 0.3140493159981238, 0.7623978044076923, -0.2789260260028142, -2.115704104011257, 2.049591217630769, 3.046487671000469, 2.711776439797092, 0.8885096535339054, -0.8597837873686685, -0.6798918936843343, 0.1942548267669526, -2.115704104011257, 2.049591217630769, 3.046487671000469, 2.711776439797092})
	check("group: ẏ", dt.Y.Data, []float64{-1.217092646030474, 0.4563685800937517, -0.752217718159188, 0.2945245831975649, 0.6023346412142594, 3.994431076577452, 1.01198376255204, -0.03305631045264035, 0.9343882610569987, -0.1914973891028569, -0.9911040891840285, -0.3543940316486566, 3.545527246585527, 0.1116558518207994, 0.4520459534761894, 0.03863629771997112, 0.5368043875245114, 0.04748580407789005, 0.08581626226458849, 0.4276029673713755, -0.2543542046030691, 0.322777056486963, 0.6103743472757142, 0.3289029347357503})
	k.AdjointTangent(g, dt, gt)
	check("group: x̄", g.X.Data, []float64{-0.7280812711183311, 0.4510914807413259, 0.8269794254714757, -0.5499896350944707, 3.212534835445019, -0.7055475719503813, -1.819765176020003, -0.6872220874746334, 0.9925564764339401, -0.7839243070440265, 0.5635664007095269, -0.7721985700994403, -0.06665536918920156, -0.6409503520644878, 1.311476532142742, -0.6038708108890528, -0.2079930759687314, -0.9960358216661453, -0.4608753790859996, 1.664904276720876, -2.427713450617365, 0.6555761008537913, -0.2320860135380518, 2.004223363301625})
	check("group: γ̄", g.Gain.Data, []float64{6.547375177828238, 3.056862723918417, 1.46079551367098, -1.18845460602691})
	check("group: β̄", g.Bias.Data, []float64{-3.5, -1.5, 0.5, 2.5})
	check("group: ġx", gt.X.Data, []float64{-0.3628500294935374, 1.46906904804719, 0.06529048778395738, -1.17150950633761, -1.951945497931876, -0.4100409053729996, 1.324480235050804, 1.037506168254073, 0.3125663325279378, -0.6816530899311165, -0.09012982576101439, 0.4592165831641933, 1.047379466978609, -0.4074875096327865, 0.4333477243414288, -1.073239681687251, -0.1489940561119714, -2.37608226971768, 1.235309132792314, 1.289767193037337, 2.195422406577854, -1.288363551288962, -0.4669987793276651, -0.4400600759612273})
	check("group: ġγ", gt.Gain.Data, []float64{-2.482856314128525, 1.77361734056557, 1.429317282330145, -5.587574049696392})
	check("group: ġβ", gt.Bias.Data, []float64{0, 0, 0, 0})
}

// Both kernels against LayerNorm of one row for each set, with a gain for each element.
func TestChannelNormsAsRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(91, 12))
	for _, s := range []struct{ n, channels, groups, plane int }{
		{1, 1, 1, 1}, {7, 3, 1, 1}, {40, 37, 37, 1}, {5, 6, 3, 4}, {3, 20, 5, 15}, {3, 4, 2, 16}, {2, 6, 3, 31}, {4, 6, 2, 32}, {3, 6, 2, 130}, {130, 9, 3, 100}, {3, 4, 4, 2500},
		{1100, 129, 1, 1}, {600, 128, 1, 1}, {3, 300, 1, 1},
	} {
		cols := s.channels * s.plane
		draw := func() revnn.GroupNorm[float64] { // with gaps between the rows
			m := func() rev.General[float64] {
				return rev.General[float64]{Rows: s.n, Cols: cols, Stride: cols + 3, Data: kerneltest.Normals[float64](rnd, s.n*(cols+3), 1)}
			}
			return revnn.GroupNorm[float64]{Y: m(), X: m(), Gain: kerneltest.Vector[float64](rnd, s.channels), Bias: kerneltest.Vector[float64](rnd, s.channels), Channels: s.channels, Groups: s.groups}
		}
		for _, batch := range []bool{true, false} {
			sets, size := s.n*s.groups, cols/s.groups
			if batch {
				sets, size = s.channels, s.n*s.plane
			}
			place := func(set, e int) (row, col int) { // of element e of a set
				if batch {
					return e / s.plane, set*s.plane + e%s.plane
				}
				return set / s.groups, set%s.groups*size + e
			}
			kernels := [4]revnn.GroupNorm[float64]{draw(), draw(), draw(), draw()}
			var rows [4][]revnn.LayerNorm[float64]
			for i, k := range kernels {
				for set := range sets {
					v := func() []float64 { return make([]float64, size) }
					r := revnn.LayerNorm[float64]{Y: rev.NewGeneral(1, size, v()), X: rev.NewGeneral(1, size, v()), Gain: rev.ViewSlice(v()), Bias: rev.ViewSlice(v())}
					for e := range size {
						row, col := place(set, e)
						r.Y.Data[e], r.X.Data[e] = k.Y.Row(row)[col], k.X.Row(row)[col]
						if i == 0 || i == 2 { // gradients begin with zeros
							r.Gain.Data[e], r.Bias.Data[e] = vector.Element(k.Gain, col/s.plane), vector.Element(k.Bias, col/s.plane)
						}
					}
					rows[i] = append(rows[i], r)
				}
			}
			k, g, dt, gt := kernels[0], kernels[1], kernels[2], kernels[3]
			wants := [4][]float64{}
			for i, d := range []rev.Vector[float64]{g.Gain, g.Bias, gt.Gain, gt.Bias} {
				wants[i] = slices.Clone(d.Data)
			}
			for set := range sets {
				rows[0][set].AdjointTangent(rows[1][set], rows[2][set], rows[3][set])
				for i, d := range []rev.Vector[float64]{rows[1][set].Gain, rows[1][set].Bias, rows[3][set].Gain, rows[3][set].Bias} {
					for e := range size {
						_, col := place(set, e)
						wants[i][col/s.plane*g.Gain.Inc] += d.Data[e]
					}
				}
			}
			if batch {
				of := func(k revnn.GroupNorm[float64]) revnn.BatchNorm[float64] {
					return revnn.BatchNorm[float64]{Y: k.Y, X: k.X, Gain: k.Gain, Bias: k.Bias, Channels: k.Channels}
				}
				of(k).AdjointTangent(of(g), of(dt), of(gt))
			} else {
				k.AdjointTangent(g, dt, gt)
			}
			for i, d := range []rev.Vector[float64]{g.Gain, g.Bias, gt.Gain, gt.Bias} {
				if !floats.EqualApprox(d.Data, wants[i], 1e-11*float64(size+s.n)) {
					t.Errorf("%v, batch is %v: gradient %d of gains is %v, want %v", s, batch, i, d.Data, wants[i])
				}
			}
			for i, k := range kernels {
				for set, r := range rows[i] {
					for e := range size {
						row, col := place(set, e)
						y, x := k.Y.Row(row)[col], k.X.Row(row)[col]
						if !floats.EqualApprox([]float64{y, x}, []float64{r.Y.Data[e], r.X.Data[e]}, 1e-11) {
							t.Fatalf("%v, batch is %v, kernel %d: element %d of set %d is %v, %v, want %v, %v", s, batch, i, e, set, y, x, r.Y.Data[e], r.X.Data[e])
						}
					}
				}
			}
		}
	}
}

// TestBatchNormAccuracy compares means, variances and values of columns with those of float64, whose constant part is
// taken off first. It does so below and above the number of channels from which rows are summed.
func TestBatchNormAccuracy(t *testing.T) {
	t.Run("float32", testBatchNormAccuracy[float32])
	t.Run("float64", testBatchNormAccuracy[float64])
}

func testBatchNormAccuracy[T rev.Float](t *testing.T) {
	const epsilon = 1e-5
	unit := 1 - float64(math.Nextafter32(1, 0))
	if unsafe.Sizeof(T(0)) == 8 {
		unit = 0x1p-53
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, c := range []int{127, 128, 200} {
		for _, n := range []int{2, 256, 700, 3000}[:long.Or(4, 3)] {
			for _, about := range []float64{0.1, 1000.1, 1e8} {
				for _, noise := range []float64{0, 1} {
					k := revnn.BatchNorm[T]{Y: rev.NewGeneral(n, c, make([]T, n*c)), X: rev.NewGeneral(n, c, make([]T, n*c)), Mean: rev.ViewSlice(make([]T, c)), Variance: rev.ViewSlice(make([]T, c)), Channels: c}
					for i := range k.X.Data {
						k.X.Data[i] = T(about + noise*rnd.NormFloat64())
					}
					k.Forward()
					base := float64(T(about))
					for j := range c {
						var sum, squares, most, largest float64
						for i := range n {
							x := float64(k.X.Data[i*c+j])
							sum += x - base
							largest = max(largest, math.Abs(x))
						}
						m := sum / float64(n)
						for i := range n {
							d := float64(k.X.Data[i*c+j]) - base - m
							squares += d * d
						}
						v := squares / float64(n)
						apart := 2 * unit * largest // of the mean
						if c < normColumns {
							apart *= float64(n) // as the comment of BatchNorm bounds it
						}
						rho := 1 / math.Sqrt(v+epsilon)
						for i := range n {
							d := float64(k.X.Data[i*c+j]) - base - m
							most = max(most, math.Abs(d))
							bound := rho*(apart+64*unit*math.Abs(d)) + rho*rho*rho*apart*apart*math.Abs(d)
							if c >= normColumns && noise == 0 {
								bound = 0
							}
							if e := math.Abs(float64(k.Y.Data[i*c+j]) - rho*d); !(e <= bound) {
								t.Fatalf("%d rows, %d channels about %v ± %v: U[%d,%d] is %v, want %v", n, c, about, noise, i, j, k.Y.Data[i*c+j], rho*d)
							}
						}
						if e := math.Abs(float64(k.Mean.Data[j]) - base - m); !(e <= apart+8*unit*most) {
							t.Fatalf("%d rows, %d channels about %v ± %v: mean %d is %v off", n, c, about, noise, j, e)
						}
						if e := math.Abs(float64(k.Variance.Data[j]) - v); !(e <= apart*apart+64*unit*v) {
							t.Fatalf("%d rows, %d channels about %v ± %v: variance %d is %v, want %v", n, c, about, noise, j, k.Variance.Data[j], v)
						}
					}
				}
			}
		}
	}
}

// TestBatchNormWorkers compares the bits that workers compute, who share the channels in blocks.
func TestBatchNormWorkers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 9))
	for _, s := range []struct{ n, c int }{{300, 128}, {80, 300}, {513, 257}} {
		draw := func() revnn.BatchNorm[float32] {
			return revnn.BatchNorm[float32]{Y: kerneltest.Matrix[float32](rnd, s.n, s.c), X: kerneltest.Matrix[float32](rnd, s.n, s.c),
				Mean: kerneltest.Vector[float32](rnd, s.c), Variance: kerneltest.Vector[float32](rnd, s.c), Gain: kerneltest.Vector[float32](rnd, s.c), Channels: s.c}
		}
		k, g := draw(), draw()
		for _, gradient := range []bool{false, true} {
			var want [][]float32
			for _, workers := range []int{1, 2, 3, 7} {
				k, g := k, g
				k.Workers = workers
				var got [][]float32
				for _, d := range []*[]float32{&k.Y.Data, &k.Mean.Data, &k.Variance.Data, &g.X.Data, &g.Gain.Data} {
					*d = slices.Clone(*d)
					got = append(got, *d)
				}
				if gradient {
					k.Adjoint(g)
				} else {
					k.Forward()
				}
				if workers == 1 {
					want = got
				}
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Errorf("%v, gradient is %v: output %d differs with %d workers", s, gradient, i, workers)
					}
				}
			}
		}
	}
}

func TestChannelNormShapes(t *testing.T) {
	m := func() rev.General[float64] { return rev.NewGeneral(2, 6, make([]float64, 12)) }
	for _, f := range []func(){
		func() { revnn.BatchNorm[float64]{Y: m(), X: m()}.Forward() },
		func() { revnn.BatchNorm[float64]{Y: m(), X: m(), Channels: 4}.Forward() },
		func() { revnn.BatchNorm[float64]{Y: m(), X: m(), Channels: 3, Epsilon: -1}.Forward() },
		func() { revnn.GroupNorm[float64]{Y: m(), X: m(), Channels: 4, Groups: 2}.Forward() },
		func() { revnn.GroupNorm[float64]{Y: m(), X: m(), Channels: 3, Groups: 2}.Forward() },
		func() { revnn.GroupNorm[float64]{Y: m(), X: m(), Channels: 3}.Forward() },
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, mat.ErrShape) {
					t.Errorf("wrong sizes panic with %v", err)
				}
			}()
			f()
		}()
	}
}

func BenchmarkChannelNorms(b *testing.B) {
	for _, s := range []struct{ n, channels, plane int }{{32, 64, 784}, {64, 64, 64}, {256, 256, 1}, {64, 64, 1}, {128, 64, 4}} {
		b.Run(fmt.Sprintf("%dx%dx%d", s.n, s.channels, s.plane), func(b *testing.B) {
			benchmarkChannelNorms[float32](b, "32", s.n, s.channels, s.plane)
			benchmarkChannelNorms[float64](b, "64", s.n, s.channels, s.plane)
		})
	}
}

func benchmarkChannelNorms[T rev.Float](b *testing.B, bits string, n, c, plane int) {
	rnd := rand.New(rand.NewPCG(91, 13))
	m := func() rev.General[T] { return rev.NewGeneral(n, c*plane, kerneltest.Normals[T](rnd, n*c*plane, 1)) }
	v := func() rev.Vector[T] { return rev.ViewSlice(kerneltest.Normals[T](rnd, c, 1)) }
	k := revnn.GroupNorm[T]{Y: m(), X: m(), Gain: v(), Bias: v(), Channels: c, Groups: 8, Workers: 1}
	g := revnn.GroupNorm[T]{Y: m(), X: m(), Gain: v(), Bias: v()}
	of := func(k revnn.GroupNorm[T]) revnn.BatchNorm[T] {
		return revnn.BatchNorm[T]{Y: k.Y, X: k.X, Gain: k.Gain, Bias: k.Bias, Channels: k.Channels, Workers: 1}
	}
	benchmarkPasses(b, "BatchNorm"+bits, of(k), of(g), 0, 0)
	benchmarkPasses(b, "GroupNorm"+bits, k, g, 0, 0)
}
