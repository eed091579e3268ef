package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// hostUnitary is revlinalg.Unitary, whose passes run on the device.
type hostUnitary[T rev.Real] revlinalg.Unitary[T]

func (k hostUnitary[T]) Run(p rev.Pass[hostUnitary[T]]) error {
	return through[hostUnitary[T], Unitary[T]](testDevice, k, p)
}

func randomUnitary[T rev.Real](rnd *rand.Rand, n, cols int, rectangular bool) hostUnitary[T] {
	k := hostUnitary[T]{X: general[T](rnd, n, cols), Theta: vector[T](rnd, n*(n-1)/2), Rectangular: rectangular}
	for i := range k.Theta.Data {
		k.Theta.Data[i] = fixed.Of[T](8 * (rnd.Float64() - 0.5)) // beyond ±π
	}
	return k
}

func TestUnitary(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	t.Run("float64", unitaryOf[float64])
	t.Run("float32", unitaryOf[float32])
	t.Run("Q43", unitaryOf[fixed.Q43])
}

func unitaryOf[T rev.Real](t *testing.T) {
	sizes := []int{0, 1, 2, 4}
	if long.Tests() {
		sizes = append(sizes, 9)
	}
	for _, rectangular := range []bool{false, true} {
		t.Run(fmt.Sprint(rectangular), func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[hostUnitary[T]]{
				New:   func(rnd *rand.Rand, n int) hostUnitary[T] { return randomUnitary[T](rnd, n, 3, rectangular) },
				Sizes: sizes, RoundTrip: 50, Skip: noAllocs, Free: []string{"X.Rows", "X.Cols"},
			})
		})
	}
}

// TestUnitaryBits compares with the CPU over fixed-point numbers. The shapes have several
// parts of columns, or several panels.
func TestUnitaryBits(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	shapes := [][2]int{{2, 1}, {7, 33}, {35, 2}}
	if long.Tests() {
		shapes = append(shapes, [2]int{32, 33}, [2]int{70, 3})
	}
	for _, shape := range shapes {
		for _, rectangular := range []bool{false, true} {
			same(t, func(rnd *rand.Rand) hostUnitary[fixed.Q43] {
				return randomUnitary[fixed.Q43](rnd, shape[0], shape[1], rectangular)
			}, func(k hostUnitary[fixed.Q43]) revlinalg.Unitary[fixed.Q43] { return revlinalg.Unitary[fixed.Q43](k) })
		}
	}
}

// TestUnitaryValues compares with the CPU over floats, for several panels, and for angles
// that are reduced in another way.
func TestUnitaryValues(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	shapes := [][2]int{{3, 40}, {70, 2}}
	if long.Tests() {
		shapes = append(shapes, [2]int{150, 3}, [2]int{12, 70})
	}
	for _, shape := range shapes {
		for _, rectangular := range []bool{false, true} {
			random := func(seed uint64) hostUnitary[float64] {
				k := randomUnitary[float64](rand.New(rand.NewPCG(seed, 1)), shape[0], shape[1], rectangular)
				k.Theta.Data[0], k.Theta.Data[2] = 1e7, -0x1.23456789p900
				return k
			}
			k, g, k2, g2 := random(1), random(2), random(1), random(2)
			if err := rev.Adjoint(k, g); err != nil {
				t.Fatal(err)
			}
			revlinalg.Unitary[float64](k2).Adjoint(revlinalg.Unitary[float64](g2))
			if err := rev.Forward(k); err != nil {
				t.Fatal(err)
			}
			revlinalg.Unitary[float64](k2).Forward()
			for name, pair := range map[string][2][]float64{"X": {k.X.Data, k2.X.Data}, "its cotangent": {g.X.Data, g2.X.Data}, "the cotangent of Theta": {g.Theta.Data, g2.Theta.Data}} {
				for i, v := range pair[0] {
					if want := pair[1][i]; !(math.Abs(v-want) <= 1e-12*(1+math.Abs(want))) {
						t.Fatalf("%v, rectangular=%v: element %d of %s is %v, want %v", shape, rectangular, i, name, v, want)
					}
				}
			}
		}
	}
}

// TestUnitaryBlocks compares with the CPU on tensor cores, and without them where there are fewer rows. Blocks of
// threads have all columns or a part, fronts are together or not, the sums of columns are in parts, and there is a gap
// between rows. AdjointTangent has blocks only for a copy of X.
func TestUnitaryBlocks(t *testing.T) {
	before := [...]int{processors, leastSum, mostMatrices}
	t.Cleanup(func() { processors, leastSum, mostMatrices = before[0], before[1], before[2] })
	type shape struct{ capability, rows, cols, gap, passes, processors, sum, matrices int }
	shapes := []shape{{90, 129, 37, 3, 3, 1, 16, 4}, {80, 128, 2, 0, 3, 1, 128, 2048}, {90, 130, 1, 0, 4, 132, 128, 2048}}
	if long.Tests() {
		shapes = append(shapes, shape{80, 129, 37, 0, 3, 132, 128, 2048}, shape{90, 193, 53, 0, 3, 1, 20, 7}, shape{80, 200, 1, 2, 3, 1, 128, 1}, shape{90, 261, 20, 0, 3, 2, 8, 12})
	}
	for _, s := range shapes {
		testDevice = withTensorCores(t, 1<<28, s.capability)
		processors, leastSum, mostMatrices = s.processors, s.sum, s.matrices
		for _, rectangular := range []bool{false, true} {
			alikeIn(t, namesOfPasses[:s.passes], 1e-12, func(rnd *rand.Rand) hostUnitary[float64] {
				k := randomUnitary[float64](rnd, s.rows, s.cols+s.gap, rectangular)
				k.X.Cols, k.X.Data = s.cols, k.X.Data[:len(k.X.Data)-s.gap]
				return k
			}, func(k hostUnitary[float64]) revlinalg.Unitary[float64] { return revlinalg.Unitary[float64](k) })
		}
	}
}

// TestUnitaryBlocksNotFinite sets numbers that are not finite, or whose products overflow. What is NaN on the CPU must be
// NaN, and other numbers must be as there, or NaN.
func TestUnitaryBlocksNotFinite(t *testing.T) {
	testDevice = withTensorCores(t, 1<<28, 80)
	const n, angles = 130, 130 * 129 / 2
	for _, c := range []struct {
		name   string
		pass   int
		change func(k, g hostUnitary[float64])
	}{
		{"the first angle", 1, func(k, _ hostUnitary[float64]) { k.Theta.Data[0] = math.NaN() }},
		{"the last angle", 0, func(k, _ hostUnitary[float64]) { k.Theta.Data[angles-1] = math.Inf(1) }},
		{"an element", 1, func(k, _ hostUnitary[float64]) { k.X.Data[100*k.X.Stride] = math.Inf(-1) }},
		{"a cotangent", 1, func(_, g hostUnitary[float64]) { g.X.Data[1] = math.NaN() }},
		{"a product of far rows", 1, func(k, g hostUnitary[float64]) {
			clear(k.Theta.Data)
			k.X.Data[3*k.X.Stride], g.X.Data[100*g.X.Stride] = 1e200, 1e200
		}},
	} {
		operands := func() (o [4]hostUnitary[float64]) {
			rnd := rand.New(rand.NewPCG(7, 8))
			for i := range o[:2] {
				o[i] = randomUnitary[float64](rnd, n, 2, true)
			}
			c.change(o[0], o[1])
			return o
		}
		o, p := operands(), operands()
		if err := runPass(o, c.pass); err != nil {
			t.Fatal(err)
		}
		if err := runPass([4]revlinalg.Unitary[float64]{revlinalg.Unitary[float64](p[0]), revlinalg.Unitary[float64](p[1])}, c.pass); err != nil {
			t.Fatal(err)
		}
		for i, of := range []string{"X", "the cotangent of X", "Theta", "the cotangent of Theta"} {
			got, want, alike := o[i%2].X.Data, p[i%2].X.Data, 0
			if i > 1 {
				got, want = o[i%2].Theta.Data, p[i%2].Theta.Data
			}
			for e, v := range got {
				switch w := want[e]; {
				case v == w || math.Abs(v-w) <= 1e-12*(1+math.Abs(w)):
					alike++
				case v == v:
					t.Fatalf("%s: element %d of %s is %v, want %v or NaN", c.name, e, of, v, w)
				}
			}
			if i < 2 && alike == 0 {
				t.Errorf("%s: no element of %s is as on the CPU", c.name, of)
			}
		}
	}
}

// TestUnitaryBlocksBack compares passes back and with fewer operands with those forward.
func TestUnitaryBlocksBack(t *testing.T) {
	testDevice = withTensorCores(t, 1<<28, 90)
	for _, rectangular := range []bool{false, true} {
		rnd := rand.New(rand.NewPCG(3, 4))
		random := func() hostUnitary[float64] { return randomUnitary[float64](rnd, 131, 2, rectangular) }
		near := func(what string, x, y rev.General[float64]) {
			t.Helper()
			for i := range x.Rows {
				for j := range x.Cols {
					if v, w := x.Data[i*x.Stride+j], y.Data[i*y.Stride+j]; !(math.Abs(v-w) <= 1e-12) {
						t.Fatalf("rectangular=%v: element (%d, %d) of %s is %v, want %v", rectangular, i, j, what, v, w)
					}
				}
			}
		}
		k, d := random(), random()
		x, dx := copied(k.X), copied(d.X)
		if err := rev.Tangent(k, d); err != nil {
			t.Fatal(err)
		}
		p := rev.Pass[hostUnitary[float64]]{Back: true, Tangent: true, T: d}
		if err := k.Run(p); err != nil {
			t.Fatal(err)
		}
		near("X", k.X, x)
		near("its tangent", d.X, dx)

		alone := k
		alone.X = copied(x)
		if err := rev.Forward(alone); err != nil {
			t.Fatal(err)
		}
		p.Back, p.T = false, hostUnitary[float64]{X: copied(x)} // the angles have no tangents
		if err := k.Run(p); err != nil {
			t.Fatal(err)
		}
		near("X", k.X, alone.X)
		near("the tangent that is X", p.T.X, alone.X)

		g := random()
		gx, gtheta := copied(g.X), append([]float64{}, g.Theta.Data...)
		q := rev.Pass[hostUnitary[float64]]{Back: true, Adjoint: true, G: g}
		if err := k.Run(q); err != nil {
			t.Fatal(err)
		}
		near("X", k.X, x)
		q.Back = false
		if err := k.Run(q); err != nil {
			t.Fatal(err)
		}
		near("the cotangent of X", g.X, gx)
		for i, v := range g.Theta.Data {
			if !(math.Abs(v-gtheta[i]) <= 1e-12) {
				t.Fatalf("rectangular=%v: cotangent %d of Theta is %v, want %v", rectangular, i, v, gtheta[i])
			}
		}
		q.G = hostUnitary[float64]{X: copied(alone.X)} // without cotangents of the angles
		q.Back = true
		if err := k.Run(q); err != nil {
			t.Fatal(err)
		}
		near("the cotangent that is X", q.G.X, x)
	}
}

func copied(x rev.General[float64]) rev.General[float64] {
	x.Data = append([]float64{}, x.Data...)
	return x
}
