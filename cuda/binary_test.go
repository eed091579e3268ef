package cuda

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revlinalg"
)

// hostAtan2 and hostPow are the kernels of revlinalg, whose passes run on the device.
type (
	hostAtan2[T rev.Real] revlinalg.Atan2[T]
	hostPow[T rev.Real]   revlinalg.Pow[T]
)

func (k hostAtan2[T]) Run(p rev.Pass[hostAtan2[T]]) error {
	return through[hostAtan2[T], Atan2[T]](testDevice, k, p)
}
func (k hostPow[T]) Run(p rev.Pass[hostPow[T]]) error {
	return through[hostPow[T], Pow[T]](testDevice, k, p)
}

func TestBinary(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	t.Run("float64", binaryOf[float64])
	t.Run("float32", binaryOf[float32])
	t.Run("Q43", binaryOf[fixed.Q43])
}

func binaryOf[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[hostAtan2[T]]{Sizes: mapSizes(), Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostAtan2[T] {
		return hostAtan2[T]{Z: vector[T](rnd, n), X: awayFromZero[T](rnd, n), Y: positives[T](rnd, n)}
	}})
	revtest.Kernel(t, revtest.Spec[hostPow[T]]{
		// It overflows.
		Magnitudes: [2]float64{0.125, 8},
		Sizes:      mapSizes(), Skip: noAllocs, New: func(rnd *rand.Rand, n int) hostPow[T] {
			return hostPow[T]{Z: vector[T](rnd, n), X: positives[T](rnd, n), Y: positives[T](rnd, n)}
		}})
}

// TestBinaryBits compares with the host over Q43, bit for bit.
func TestBinaryBits(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	type q = fixed.Q43
	const n = 400
	wild := func(rnd *rand.Rand) rev.Vector[q] { // numbers of all magnitudes, none zero
		x := vector[q](rnd, n)
		for i := range x.Data {
			if x.Data[i] = q(rnd.Int64()-rnd.Int64()) >> (1 + rnd.IntN(62)); x.Data[i] == 0 {
				x.Data[i] = 1
			}
		}
		copy(x.Data, []q{1, -1, fixed.Max / 2, fixed.Min / 2, fixed.One, -fixed.One})
		return x
	}
	same(t, func(rnd *rand.Rand) hostAtan2[q] {
		return hostAtan2[q]{Z: vector[q](rnd, n), X: wild(rnd), Y: wild(rnd)}
	},
		func(k hostAtan2[q]) revlinalg.Atan2[q] { return revlinalg.Atan2[q](k) })
	power := func(rnd *rand.Rand) hostPow[q] { // in range, as are x^(y-1) and x^(y-2)
		k := hostPow[q]{Z: vector[q](rnd, n), X: wild(rnd), Y: wild(rnd)}
		for i := range n {
			x, y := &k.X.Data[i], &k.Y.Data[i]
			switch *x = max(x.AbsSat(), fixed.One>>8); i % 8 {
			case 0: // a negative number
				*x, *y = -*x%(8*fixed.One)-fixed.One, *y%(7*fixed.One)>>fixed.FracBits<<fixed.FracBits
			case 1: // zero
				*x, *y = 0, q(i/8%4)*fixed.One
			case 2:
				*y = q(i/8%4) * fixed.One
			}
			for range 64 {
				if inRange(*x, *y) {
					break
				}
				*x, *y = max(*x/2, fixed.One>>2), *y/2
			}
		}
		for i, y := range []q{168277725002439, 167785248987515, 173520613971072} { // where the last bits of steps count
			k.X.Data[n-1-i], k.Y.Data[n-1-i] = 2*fixed.One, y
		}
		return k
	}
	same(t, power, func(k hostPow[q]) revlinalg.Pow[q] { return revlinalg.Pow[q](k) })
}

// inRange reports whether the host has the power and its derivatives.
func inRange(x, y fixed.Q43) bool {
	of := func(x, y fixed.Q43) revlinalg.Pow[fixed.Q43] {
		v := []fixed.Q43{0, x, y}
		return revlinalg.Pow[fixed.Q43]{Z: rev.ViewSlice(v[:1]), X: rev.ViewSlice(v[1:2]), Y: rev.ViewSlice(v[2:])}
	}
	return of(x, y).AdjointTangent(of(0, 0), of(0, 0), of(0, 0)) == nil
}

// bigAtan returns arctan(t) for 0 <= t <= 1: arctan t = 2·arctan(t/(1 + √(1 + t²))).
func bigAtan(t *big.Float) *big.Float {
	const halvings = 20
	one := bigOf(1)
	for range halvings {
		root := newBig().Sqrt(newBig().Add(one, newBig().Mul(t, t)))
		t = newBig().Quo(t, root.Add(root, one))
	}
	sum, power, square := newBig(), newBig().Set(t), newBig().Mul(t, t)
	for k := 1; k < 15; k += 4 {
		sum.Add(sum, newBig().Quo(power, bigOf(float64(k))))
		power.Mul(power, square)
		sum.Sub(sum, newBig().Quo(power, bigOf(float64(k+2))))
		power.Mul(power, square)
	}
	return sum.SetMantExp(sum, halvings)
}

// bigAngle returns the angle of a point that is not the origin.
func bigAngle(y, x float64) *big.Float {
	a, b := bigOf(math.Abs(y)), bigOf(math.Abs(x))
	quarter := bigAtan(bigOf(1))
	half := newBig().Add(quarter, quarter)
	var v *big.Float
	if a.Cmp(b) > 0 {
		v = newBig().Sub(half, bigAtan(newBig().Quo(b, a)))
	} else {
		v = bigAtan(newBig().Quo(a, b))
	}
	if x < 0 {
		v.Sub(newBig().Add(half, half), v)
	}
	if y < 0 {
		v.Neg(v)
	}
	return v
}

// bigPower returns x^(n/8) for a positive x.
func bigPower(x float64, n int) *big.Float {
	r := bigOf(x)
	for range 3 {
		r = newBig().Sqrt(r)
	}
	v, m := bigOf(1), n
	if m < 0 {
		m = -m
	}
	for ; m > 0; m >>= 1 {
		if m&1 != 0 {
			v.Mul(v, r)
		}
		r.Mul(r, newBig().Set(r))
	}
	if n < 0 {
		v.Quo(bigOf(1), v)
	}
	return v
}

// TestBinaryValues compares with values in 300 bits.
func TestBinaryValues(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	rnd := rand.New(rand.NewPCG(12, 13))
	const n = 600
	make2 := func() (z, x, y []float64) { return make([]float64, n), make([]float64, n), make([]float64, n) }
	within := func(name string, x, y, got float64, want *big.Float, bound float64) (off float64) {
		// Units in the last place are between 1 and 2 of 2⁻⁵³ of the number.
		w, _ := want.Float64()
		if math.Abs(w) < 0x1p-1022 || math.IsInf(w, 0) {
			if math.Abs(got-w) > 0x1p-1073 {
				t.Errorf("%s(%v, %v) = %v, want %v", name, x, y, got, w)
			}
			return 0
		}
		unit := math.Abs(w) - math.Nextafter(math.Abs(w), 0)
		d, _ := newBig().Sub(bigOf(got), want).Float64()
		if off = math.Abs(d) / unit; off > bound {
			t.Errorf("%s(%v, %v) = %v, off by %v units, want at most %v", name, x, y, got, off, bound)
		}
		return off
	}

	z, x, y := make2()
	for i := range n {
		x[i], y[i] = rnd.NormFloat64(), rnd.NormFloat64()*math.Exp2(float64(rnd.IntN(20)-10))
	}
	copy(x, []float64{1, -1, 5e-324, 1e308, 1e-320, 0, 0, 3})
	copy(y, []float64{1, -1, 1, 1e308, -1e-310, -2, 2, 0})
	if err := rev.Forward(hostAtan2[float64]{Z: rev.ViewSlice(z), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}); err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for i, v := range z {
		worst = max(worst, within("atan2", x[i], y[i], v, bigAngle(x[i], y[i]), 1.5))
	}
	t.Logf("atan2 is within %.3f units", worst)

	z, x, y = make2()
	for i := range n {
		x[i] = math.Exp2(rnd.NormFloat64() * math.Exp2(float64(rnd.IntN(40)-30)))
		limit := 5600 / max(0.001, math.Abs(math.Log2(x[i]))) // of eighths
		y[i] = float64(int(min(limit, 1e6)*(2*rnd.Float64()-1))) / 8
	}
	copy(x, []float64{2, 2, 5e-324, 1e-310, math.MaxFloat64, 1 + 0x1p-52, 1 - 0x1p-53, 0.5, 3})
	copy(y, []float64{0.5, -1074, 0.5, -0.25, 0.125, 1e9, -1e9, 1080, 700})
	if err := rev.Forward(hostPow[float64]{Z: rev.ViewSlice(z), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}); err != nil {
		t.Fatal(err)
	}
	worst = 0
	for i, v := range z {
		worst = max(worst, within("pow", x[i], y[i], v, bigPower(x[i], int(8*y[i])), 1.2))
	}
	t.Logf("pow is within %.3f units", worst)
}

// TestBinarySpecial has the values and gradients of the host at zeros, infinities and NaN.
func TestBinarySpecial(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	special := []float64{0, zero, 1, -1, 2, -2, 3, -3, 0.5, -0.5, inf, -inf, nan, 0x1p53, -0x1p52, 5e-324}
	view := func(v float64) rev.Vector[float64] { return rev.ViewSlice([]float64{v}) }
	near := func(a, b float64) bool {
		return math.Signbit(a) == math.Signbit(b) && math.Abs(a-b) <= 1e-14*math.Abs(b) || a == b || a != a && b != b
	}
	for _, x := range special {
		for _, y := range special {
			zeros := func() [3]rev.Vector[float64] { return [3]rev.Vector[float64]{view(0), view(0), view(0)} }
			dev, host, devPower, hostPower := zeros(), zeros(), zeros(), zeros()
			for name, errs := range map[string][2]error{
				"atan2": {
					rev.Adjoint(hostAtan2[float64]{Z: dev[0], X: view(x), Y: view(y)}, hostAtan2[float64]{Z: view(1), X: dev[1], Y: dev[2]}),
					rev.Adjoint(revlinalg.Atan2[float64]{Z: host[0], X: view(x), Y: view(y)}, revlinalg.Atan2[float64]{Z: view(1), X: host[1], Y: host[2]}),
				},
				"pow": {
					rev.Adjoint(hostPow[float64]{Z: devPower[0], X: view(x), Y: view(y)}, hostPow[float64]{Z: view(1), X: devPower[1], Y: devPower[2]}),
					rev.Adjoint(revlinalg.Pow[float64]{Z: hostPower[0], X: view(x), Y: view(y)}, revlinalg.Pow[float64]{Z: view(1), X: hostPower[1], Y: hostPower[2]}),
				},
			} {
				if (errs[0] == nil) != (errs[1] == nil) || errs[1] != nil && errs[0].Error() != errs[1].Error() {
					t.Errorf("%s(%v, %v): %v, want %v", name, x, y, errs[0], errs[1])
				}
			}
			for i, v := range dev {
				if !near(v.Data[0], host[i].Data[0]) {
					t.Errorf("atan2(%v, %v): sum %d is %v, want %v", x, y, i, v.Data[0], host[i].Data[0])
				}
				if v, w := devPower[i].Data[0], hostPower[i].Data[0]; !near(v, w) {
					t.Errorf("pow(%v, %v): sum %d is %v, want %v", x, y, i, v, w)
				}
			}
		}
	}
}

// TestBinaryDomain has elements without a power, and one that is out of range.
func TestBinaryDomain(t *testing.T) {
	testDevice = interpreter(t, 1<<22)
	var e *rev.DomainError
	z, x, y := make([]float64, 400), make([]float64, 400), make([]float64, 400)
	x[300], y[300], x[350] = -2, 0.5, -1
	y[350] = 1.5
	if err := rev.Forward(hostPow[float64]{Z: rev.ViewSlice(z), X: rev.ViewSlice(x), Y: rev.ViewSlice(y)}); !errors.As(err, &e) || e.Index != 300 || e.Args[0] != -2 || e.Args[1] != 0.5 || e.Func != "pow" || e.Order != 0 {
		t.Errorf("error %v", err)
	}
	if z[0] != 0 {
		t.Error("a pass outside the domain has begun")
	}
	one := func(v fixed.Q43) rev.Vector[fixed.Q43] { return rev.ViewSlice([]fixed.Q43{v}) }
	k := hostPow[fixed.Q43]{Z: one(0), X: one(2 * fixed.One), Y: one(20 * fixed.One)}
	if err := rev.Forward(k); !errors.As(err, &e) {
		t.Errorf("2²⁰ over Q43: %v", err)
	}
	k.X = one(-2 * fixed.One)
	if err := rev.Forward(k); !errors.As(err, &e) {
		t.Errorf("(-2)²⁰ over Q43: %v", err)
	}
	a := hostAtan2[fixed.Q43]{Z: one(0), X: one(0), Y: one(0)}
	if err := rev.Forward(a); err != nil {
		t.Errorf("the angle of the origin: %v", err)
	}
	if err := rev.Adjoint(a, hostAtan2[fixed.Q43]{Z: one(1), X: one(0), Y: one(0)}); !errors.As(err, &e) || e.Order != 1 {
		t.Errorf("the derivative at the origin: %v", err)
	}
}
