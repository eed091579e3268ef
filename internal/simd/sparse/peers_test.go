package sparse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/james-bowman/sparse/blas"

	"revnum/internal/simd/simdtest"
)

// BenchmarkPeers times the loops beside those of github.com/james-bowman/sparse. In pure Go, both:
// go test -tags noasm -run '^$' -bench Peers. An element is an entry, in each column.
func BenchmarkPeers(b *testing.B) {
	const rows, entries = 400, 4000
	rnd := rand.New(rand.NewPCG(1, 1))
	ptr, ind := make([]int, rows+1), make([]int, entries)
	for i := range rows {
		ptr[i+1] = (i + 1) * entries / rows
		for q := ptr[i]; q < ptr[i+1]; q++ {
			ind[q] = rnd.IntN(rows)
		}
		slices.Sort(ind[ptr[i]:ptr[i+1]])
	}
	a := simdtest.Normal[float64](entries, 1)
	peer := &blas.SparseMatrix{I: rows, J: rows, Indptr: ptr, Ind: ind, Data: a}
	for _, n := range []int{1, 8, 64} {
		x, y := simdtest.Normal[float64](rows*n, 2), make([]float64, rows*n)
		e := &Entries[float64, int]{End: ptr[1:], Ind: ind, A: a, Alpha: 1e-9, Beta: 1e-9, LdU: n, LdW: n, LdV: n, LdOut: n}
		loop := func() { e.Columns(n) }
		if n == 1 {
			loop = e.Column
		}
		e.U, e.Out = x, y
		simdtest.Beside(b, fmt.Sprintf("rows/%d", n), entries*n, loop, func() { blas.Dusmm(false, n, 1e-9, peer, x, n, y, n) })
		t := *e
		t.U, t.Out, t.V, t.W = nil, nil, x, y
		transposed := func() { t.Columns(n) }
		if n == 1 {
			transposed = t.Column
		}
		simdtest.Beside(b, fmt.Sprintf("spread/%d", n), entries*n, transposed, func() { blas.Dusmm(true, n, 1e-9, peer, x, n, y, n) })
	}
}
