package fixed

import (
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// near fails unless the integer got is within one of want·2ⁿ.
func near(t *testing.T, name string, i int, got uint128, want *big.Float, n int) {
	t.Helper()
	g := new(big.Float).SetPrec(refPrec).SetUint64(got.hi)
	g.SetMantExp(g, 64)
	g.Add(g, new(big.Float).SetUint64(got.lo))
	w := newBig().SetMantExp(want, n)
	if d := sub(g, w); d.Abs(d).Cmp(bigNum(0.5000001)) > 0 {
		t.Errorf("%s[%d] is off by %.3g in the last place", name, i, d)
	}
}

func TestTables(t *testing.T) {
	one := bigNum(1)
	frac := func(i, n int) *big.Float { return quo(bigNum(float64(i)), bigNum(float64(n))) }
	exp2 := func(x *big.Float) *big.Float { return refExp(mul(x, refLn2)) }
	for i, v := range exp2Coarse {
		near(t, "exp2Coarse", i, v, exp2(frac(i, 256)), 127)
	}
	for i, v := range exp2Fine {
		near(t, "exp2Fine", i, uint128{0, v}, sub(exp2(frac(i, 65536)), one), 72)
	}
	for i, v := range logTable {
		inv := newBig().SetUint64(v.inv)
		inv.SetMantExp(inv, -63)
		near(t, "logTable", i, v.ln, newBig().Neg(refLog(inv)), 128)
		lo, hi := mul(inv, frac(256+i, 256)), mul(inv, frac(257+i, 256))
		if lo.Cmp(one) < 0 || hi.Cmp(frac(257, 256)) > 0 {
			t.Errorf("logTable[%d].inv times m is from %v to %v", i, lo, hi)
		}
	}
	for i, v := range atanTable {
		near(t, "atanTable", i, uint128{0, v}, refAtan(frac(i, 64)), 63)
	}
	f := one
	for k := 2; k < len(invFactorial); k++ {
		f = mul(f, bigNum(float64(k)))
		near(t, "invFactorial", k, uint128{0, invFactorial[k]}, quo(one, f), 64)
	}
	for k := 2; k < len(reciprocal); k++ {
		near(t, "reciprocal", k, reciprocal[k], frac(1, k), 128)
	}
	log2e := quo(one, refLn2)
	tau := mul(bigNum(2), refPi)
	near(t, "ln2Q57", 0, uint128{0, ln2Q57}, refLn2, 57)
	near(t, "ln2Q64", 0, uint128{0, ln2Q64}, refLn2, 64)
	near(t, "log2eQ63", 0, uint128{0, log2eQ63}, log2e, 63)
	near(t, "tauQ61", 0, uint128{0, tauQ61}, tau, 61)
	near(t, "piQ61", 0, uint128{0, piQ61}, refPi, 61)
	near(t, "log2eLess1Q128", 0, log2eLess1Q128, sub(log2e, one), 128)
	near(t, "invTauQ128", 0, invTauQ128, quo(one, tau), 128)
	near(t, "expOffsetQ121", 0, expOffsetQ121, sub(bigNum(64), mul(bigNum(32), log2e)), 121)
}

// TestGenerated checks that gen.go writes the tables in the repository.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	dir := t.TempDir()
	gen, err := filepath.Abs("gen.go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", gen)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("cannot run the generator here: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "tables.go"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("tables.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("tables.go is not what gen.go writes: run go generate")
	}
}
