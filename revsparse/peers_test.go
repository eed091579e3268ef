package revsparse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/james-bowman/sparse"

	"revnum/internal/simd/simdtest"
	"revnum/revsparse"
)

// BenchmarkPeers times SpGEMM beside the product of github.com/james-bowman/sparse, which finds the
// pattern again in each call, and leaves its columns out of order. In pure Go, both: go test -tags
// noasm -run '^$' -bench Peers. An element is a multiply-add.
func BenchmarkPeers(b *testing.B) {
	rnd := rand.New(rand.NewPCG(8, 2))
	for _, m := range []struct {
		name string
		a    revsparse.CSR[float64, int32]
	}{
		{"Laplacian", gridLaplacian[int32](40, 40)},
		{"random", perRow(rnd, 1000, 10, 0)},
		{"density 0.1", perRow(rnd, 200, 20, 0)},
	} {
		a := revsparse.CSR[float64, int]{Rows: m.a.Rows, Cols: m.a.Cols, Ptr: ints(m.a.Ptr), Ind: ints(m.a.Ind), Data: m.a.Data}
		c, err := revsparse.SpGEMMPattern(a, a)
		if err != nil {
			b.Fatal(err)
		}
		products := 0
		for _, l := range a.Ind {
			products += a.Ptr[l+1] - a.Ptr[l]
		}
		peer := revsparse.ToSparse(a)
		multiply := func() {
			var c sparse.CSR
			c.Mul(peer, peer)
		}
		k := revsparse.SpGEMM[float64, int]{C: c, A: a, B: a, Workers: 1}
		simdtest.Beside(b, "SpGEMM/"+m.name, products, k.Forward, multiply)
		both := func() {
			c, err := revsparse.SpGEMMPattern(a, a)
			if err != nil {
				b.Fatal(err)
			}
			k.C = c
			k.Forward()
		}
		simdtest.Beside(b, "SpGEMM and pattern/"+m.name, products, both, multiply)
		simdtest.Beside(b, "SpGEMM and pattern, sorted/"+m.name, products, both, func() {
			var c sparse.CSR
			c.Mul(peer, peer)
			revsparse.ViewCSR(&c).Sorted()
		})
	}
}

func ints(x []int32) []int {
	y := make([]int, len(x))
	for i, v := range x {
		y[i] = int(v)
	}
	return y
}
