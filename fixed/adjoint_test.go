package fixed

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// unaryFuncs and binaryFuncs are the functions that have adjoints.
var (
	unaryFuncs = []struct {
		Name    string
		Func    func(x Q43) Q43
		Adjoint func(x, gy Q43) (gx Q43)
	}{
		{"Sqrt", Sqrt, SqrtAdjoint},
		{"Log", Log, LogAdjoint},
		{"Sin", Sin, SinAdjoint},
		{"Cos", Cos, CosAdjoint},
	}
	binaryFuncs = []struct {
		Name    string
		Func    func(a, b Q43) Q43
		Adjoint func(a, b, gy Q43) (ga, gb Q43)
	}{
		{"Atan2", Atan2, Atan2Adjoint},
		{"Pow", Pow, PowAdjoint},
	}
)

// refDerivatives are the derivatives of unaryFuncs.
var refDerivatives = map[string]func(x *big.Float) *big.Float{
	"Sqrt": func(x *big.Float) *big.Float { return quo(bigNum(0.5), newBig().Sqrt(x)) },
	"Log":  func(x *big.Float) *big.Float { return quo(bigNum(1), x) },
	"Sin":  func(x *big.Float) *big.Float { _, c := refSinCos(x); return c },
	"Cos":  func(x *big.Float) *big.Float { s, _ := refSinCos(x); return s.Neg(s) },
}

// refPartials are the partial derivatives of binaryFuncs.
var refPartials = map[string]func(a, b *big.Float) (da, db *big.Float){
	"Atan2": func(y, x *big.Float) (dy, dx *big.Float) {
		hh := add(mul(x, x), mul(y, y))
		return quo(x, hh), newBig().Neg(quo(y, hh))
	},
	"Pow": func(x, y *big.Float) (dx, dy *big.Float) {
		l := refLog(x)
		p := refExp(mul(y, l))
		return quo(mul(y, p), x), mul(l, p)
	},
}

// within fails if got is farther from want than the roundings of a rule allow. These are a
// few units, times the size of the factors that multiply them.
func within(t *testing.T, name string, got Q43, want *big.Float, size float64, at ...Q43) {
	t.Helper()
	if e := ulps(got, want); e > 2+4*size {
		t.Errorf("%sAdjoint at %v: %v, want %.20g: %.1f units", name, at, got, want, e)
	}
}

func TestAdjoint(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	// Arguments in [1/8, 4] and cotangents in [-4, 4] keep all factors moderate.
	arg := func() Q43 { return One/8 + Q43(r.Int64N(int64(4*One-One/8))) }
	for range samples(1000) {
		g := Q43(r.Int64N(int64(8*One))) - 4*One
		bg := bigOf(g)
		for _, f := range unaryFuncs {
			x := arg()
			if f.Name == "Sin" || f.Name == "Cos" {
				x -= 2 * One
			}
			want := mul(refDerivatives[f.Name](bigOf(x)), bg)
			size, _ := newBig().Abs(want).Float64()
			within(t, f.Name, f.Adjoint(x, g), want, size+4, x, g)
		}
		for _, f := range binaryFuncs {
			a, b := arg(), arg()
			if f.Name != "Pow" && r.IntN(2) == 0 {
				a = -a
			}
			da, db := refPartials[f.Name](bigOf(a), bigOf(b))
			ga, gb := f.Adjoint(a, b, g)
			for i, want := range []*big.Float{mul(da, bg), mul(db, bg)} {
				size, _ := newBig().Abs(want).Float64()
				within(t, f.Name, []Q43{ga, gb}[i], want, 8*(size+4), a, b, g)
			}
		}
	}
}

// TestAdjointTables checks by central differences that each rule belongs to its function.
func TestAdjointTables(t *testing.T) {
	const h = 1 << 22 // 2⁻²¹
	x, y := One*5/4, One*3/2
	for _, f := range unaryFuncs {
		if d, g := (f.Func(x+h) - f.Func(x-h)).Div(2*h), f.Adjoint(x, One); (d - g).Abs() > One>>18 {
			t.Errorf("%s: difference quotient %v, adjoint %v", f.Name, d, g)
		}
	}
	for _, f := range binaryFuncs {
		gx, gy := f.Adjoint(x, y, One)
		if d := (f.Func(x+h, y) - f.Func(x-h, y)).Div(2 * h); (d - gx).Abs() > One>>18 {
			t.Errorf("%s: difference quotient %v, adjoint %v", f.Name, d, gx)
		}
		if d := (f.Func(x, y+h) - f.Func(x, y-h)).Div(2 * h); (d - gy).Abs() > One>>18 {
			t.Errorf("%s: difference quotient %v, adjoint %v", f.Name, d, gy)
		}
	}
}

func TestAdjointEdges(t *testing.T) {
	if gx, gy := PowAdjoint(0, 2*One, One); gx != 0 || gy != 0 {
		t.Errorf("PowAdjoint(0, 2): %v, %v", gx, gy)
	}
	if gx, gy := PowAdjoint(0, One, One); gx != One || gy != 0 {
		t.Errorf("PowAdjoint(0, 1): %v, %v", gx, gy)
	}
	if gx, gy := PowAdjoint(-3*One, 2*One, One); gx != -6*One || gy != 0 {
		t.Errorf("PowAdjoint(-3, 2): %v, %v", gx, gy)
	}
	if gx, gy := PowAdjoint(-3*One, 0, One); gx != 0 || gy != 0 {
		t.Errorf("PowAdjoint(-3, 0): %v, %v", gx, gy)
	}
	if gx, _ := PowAdjoint(2*One, Min, One); gx != 0 {
		t.Errorf("PowAdjoint(2, Min): %v", gx)
	}
	mustPanic(t, "SqrtAdjoint(0)", func() { SqrtAdjoint(0, One) })
	mustPanic(t, "LogAdjoint(0)", func() { LogAdjoint(0, One) })
	mustPanic(t, "Atan2Adjoint at the origin", func() { Atan2Adjoint(0, 0, One) })
}
