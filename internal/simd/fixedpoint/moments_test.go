package fixedpoint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/long"
	"revnum/internal/simd/cpu"
)

// testTriNorms compares TriNorms with the plain loop. It takes one limb where the numbers allow it.
func testTriNorms(t *testing.T, rnd *rand.Rand, d, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	ldc, ldy := n+rnd.IntN(3), n+rnd.IntN(3)
	l, c, mu, y, half := draw(rnd, d*d, from), draw(rnd, d*ldc, from), draw(rnd, d, from), draw(rnd, d*ldy, from), draw(rnd, n, from)
	var start, minus fixed.Accumulator
	start.AddMul(from(rnd), from(rnd))
	minus.SubAcc(start)
	narrow := true
	for i := range d {
		clear(l[i*d+i+1 : (i+1)*d])
		for j, v := range l[i*d:][:i+1] {
			narrow = narrow && isSmall(v)
			for p := range n {
				narrow = narrow && isSmall(c[j*ldc+p]-mu[j])
			}
		}
	}
	wantY, wantHalf, scratch := slices.Clone(y), slices.Clone(half), make([]fixed.Q43, 16*d)
	want := genericTriNorms(d, l, c, ldc, mu, wantY, ldy, minus, wantHalf, scratch)
	for _, narrow := range []bool{false, narrow} {
		got := TriNorms(narrow, d, l, c, ldc, mu, y, ldy, start, half, scratch)
		if got != want || !slices.Equal(y, wantY) || !slices.Equal(half, wantHalf) {
			t.Fatalf("d=%d, n=%d, narrow %v: largest %d, want %d; y = %d, want %d; half = %d, want %d", d, n, narrow, got, want, y, wantY, half, wantHalf)
		}
	}
}

// testTriDots compares TriDots with sums of an Accumulator.
func testTriDots(t *testing.T, rnd *rand.Rand, d, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	ldz, ldc := n+rnd.IntN(3), n+rnd.IntN(3)
	z, c, mu := draw(rnd, d*ldz, from), draw(rnd, d*ldc, from), draw(rnd, d, from)
	narrow := true
	for i := range d {
		for p := range n {
			narrow = narrow && isSmall(z[i*ldz+p]) && isSmall(c[i*ldc+p]-mu[i])
		}
	}
	got, scratch := make(TriSums, TriSumsLen(d)), make([]fixed.Q43, TriScratch(d))
	for i := range got { // what is there already
		if i&4 == 0 || rnd.IntN(2) == 0 {
			got[i] = uint64(from(rnd)) >> (21 * (i / 4 % 2))
		}
	}
	before := slices.Clone(got)
	got.TriDots(false, d, n, z, ldz, c, ldc, mu, scratch)
	got.Add(before)
	got.TriDots(narrow, d, n, z, ldz, c, ldc, mu, scratch)
	for i := range d {
		for j := range i + 1 {
			want := before.Sum(i, j)
			want.AddAcc(want)
			for p := range n {
				want.AddMul(z[i*ldz+p], c[j*ldc+p]-mu[j])
				want.AddMul(z[i*ldz+p], c[j*ldc+p]-mu[j])
			}
			hi, lo := words(want)
			if at := got.at(i, j); got[at] != hi || got[at+4] != lo {
				t.Fatalf("d=%d, n=%d, narrow %v: sum of rows %d and %d is %d and %d, want %d and %d", d, n, narrow, i, j, got[at], got[at+4], hi, lo)
			}
		}
	}
}

// testWeighRows compares WeighRows with products that are rounded one by one.
func testWeighRows(t *testing.T, rnd *rand.Rand, d, n int, from func(*rand.Rand) fixed.Q43) {
	t.Helper()
	ldy := n + rnd.IntN(3)
	w, y, sums := draw(rnd, n, from), draw(rnd, d*ldy, from), draw(rnd, d, from)
	wantY, wantSums, most := slices.Clone(y), slices.Clone(sums), fixed.Q43(0)
	for i := range d {
		for p, v := range w {
			z := v.Mul(wantY[i*ldy+p])
			wantY[i*ldy+p] = z
			wantSums[i] += z
			most |= z.AbsSat()
		}
	}
	if got := WeighRows(w, y, ldy, sums); got != most || !slices.Equal(y, wantY) || !slices.Equal(sums, wantSums) {
		t.Fatalf("d=%d, n=%d: largest %d, want %d; rows %d, want %d; sums %d, want %d", d, n, got, most, y, wantY, sums, wantSums)
	}
}

func isSmall(v fixed.Q43) bool { return v >= -1<<51 && v < 1<<51 }

func TestMoments(t *testing.T) {
	forEachTier(t, func(t *testing.T) {
		rnd := rand.New(rand.NewPCG(1, 30))
		for i, number := range numbers {
			for j, shift := range []int{0, 13} { // and differences of one limb
				from := func(rnd *rand.Rand) fixed.Q43 { return number.draw(rnd) >> shift }
				for range long.Or(100, 8) {
					d, n := rnd.IntN(10), rnd.IntN(40)
					testTriNorms(t, rnd, d, n, from)
					testTriDots(t, rnd, d, n, from)
					testWeighRows(t, rnd, d, n, from)
				}
				if (i+2*j)%4 > 0 && !long.Tests() {
					continue
				}
				for _, d := range []int{33, mostOrder, mostOrder + 1} {
					testTriNorms(t, rnd, d, 37, from)
				}
				testTriDots(t, rnd, 5, 2*triColumns+3, from)
				testTriDots(t, rnd, 70, triColumns, from)
				testWeighRows(t, rnd, 200, 100, from)
				testWeighRows(t, rnd, 2, cpu.Chunk+1, from)
			}
		}
	})
}
