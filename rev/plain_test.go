package rev

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// motley has operands of every kind.
type motley struct {
	Out   *float64         `rev:"acc"`
	C     General[float64] `rev:"acc" shape:"m,n"`
	A     General[float64] `rev:"in" shape:"Trans ? n,m : m,n"`
	Z     Vector[float64]  `rev:"inout" shape:"n"`
	W     []float64        `rev:"in,optional" shape:"max(m*(n-1)/2,1)"`
	Trans bool
}

func (k motley) Run(Pass[motley]) error { return nil }

// rows has a sparse matrix and an index.
type rows struct {
	Y Vector[float64] `rev:"acc" shape:"m"`
	S struct {
		Rows, Cols int
		Ptr, Ind   []int
		Data       []float64
	} `rev:"in" shape:"m,k"`
	X   Vector[float64] `rev:"in" shape:"k"`
	Ind []int           `rev:"index" shape:"Len"`
	Len int
}

func (k rows) Run(Pass[rows]) error { return nil }

// TestPlain compares plain with the check that it shortens, for random operands many of
// which are malformed or overlap.
func TestPlain(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	buffer, ints := make([]float64, 400), make([]int, 8)
	at := 0
	data := func(n int) []float64 { // mostly fresh memory, sometimes memory in use or none
		if rnd.IntN(30) == 0 {
			return nil
		}
		if rnd.IntN(30) == 0 {
			at -= 3
		}
		at = max(at, 0)
		d := buffer[at : at+n]
		at += n
		return d
	}
	size := func(n int) int { // mostly n
		if rnd.IntN(30) > 0 {
			return n
		}
		return n + rnd.IntN(4) - 2
	}
	vector := func(n int) Vector[float64] {
		inc := 1 + rnd.IntN(2)
		return Vector[float64]{N: size(n), Data: data(max(size(n*inc), 0)), Inc: size(inc)}
	}
	general := func(r, c int) General[float64] {
		stride := c + rnd.IntN(2)
		return General[float64]{Rows: size(r), Cols: size(c), Stride: size(stride), Data: data(max(size(r*stride), 0))}
	}
	random := func(m, n int, trans bool) (k motley) {
		k.Trans = trans
		if d := data(1); d != nil {
			k.Out = &d[0]
		}
		k.C, k.Z = general(m, n), vector(n)
		k.A = general(m, n)
		if trans {
			k.A = general(n, m)
		}
		k.W = data(max(size(max(m*(n-1)/2, 1)), 0))
		return k
	}
	randomRows := func(m, n, entries int) (k rows) {
		k.Y, k.X = vector(m), vector(n)
		k.S.Rows, k.S.Cols, k.S.Data, k.S.Ind = size(m), size(n), data(max(size(entries), 0)), ints[:entries]
		k.Len = size(2)
		k.Ind = ints[:max(size(2), 0)]
		return k
	}
	accepted := 0
	compare := func(l *layout, plain, slow [4]unsafe.Pointer, same func() bool) {
		ok := l.plain(plain[0], plain[1], plain[2], plain[3])
		err := l.checkSlowly(slow[0], slow[1], slow[2], slow[3])
		switch {
		case ok && err != nil:
			t.Fatalf("accepted what is wrong: %v", err)
		case ok && !same():
			t.Fatal("absent views have other dimensions")
		case ok:
			accepted++
		}
	}
	const rounds = 20000
	for range rounds {
		at = 0
		m, n, trans := 1+rnd.IntN(3), 1+rnd.IntN(3), rnd.IntN(2) == 0
		k, g, tan, gt := random(m, n, trans), random(m, n, trans), random(m, n, trans), random(m, n, trans)
		k2 := k
		plain, slow := [4]unsafe.Pointer{addr(&k)}, [4]unsafe.Pointer{addr(&k2)}
		passes := rnd.IntN(4)
		if passes&1 != 0 {
			plain[1], slow[1] = addr(&g), addr(&g)
		}
		if passes&2 != 0 {
			plain[2], slow[2] = addr(&tan), addr(&tan)
		}
		if passes == 3 {
			plain[3], slow[3] = addr(&gt), addr(&gt)
		}
		compare(layoutFor[motley](), plain, slow, func() bool {
			return k.C.Rows == k2.C.Rows && k.C.Cols == k2.C.Cols && k.Z.N == k2.Z.N
		})
		at = 0
		entries := rnd.IntN(4)
		r, rg := randomRows(m, n, entries), randomRows(m, n, entries)
		r2 := r
		plain, slow = [4]unsafe.Pointer{addr(&r)}, [4]unsafe.Pointer{addr(&r2)}
		if passes&1 != 0 {
			plain[1], slow[1] = addr(&rg), addr(&rg)
		}
		compare(layoutFor[rows](), plain, slow, func() bool { return r.Y.N == r2.Y.N })
	}
	if accepted < rounds/4 || accepted > 2*rounds*9/10 {
		t.Errorf("accepted %d of %d", accepted, 2*rounds)
	}
}
