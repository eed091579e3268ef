package pairs

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"revnum/internal/simd/simdtest"
)

// BenchmarkPeers times the loops over pairs beside loops written with gonum's floats, whose points
// are the rows of a matrix. In pure Go, both: go test -tags noasm -run '^$' -bench Peers. An element
// is a pair of points with five coordinates.
func BenchmarkPeers(b *testing.B) {
	const n, dim = 500, 5
	rnd := rand.New(rand.NewPCG(3, 1))
	x, y := simdtest.Normal[float64](n*dim, 1), simdtest.Normal[float64](n*dim, 2)
	rows, rowsY := make([]float64, n*dim), make([]float64, n*dim) // the same points
	for i := range x {
		rows[i%n*dim+i/n], rowsY[i%n*dim+i/n] = x[i], y[i]
	}
	c, e := simdtest.Normal[float64](4*dim, 3), simdtest.Normal[float64](4*dim, 4)
	kinds, kind := Kinds{make([]byte, (n+15)/16*2), make([]byte, (n+15)/16*2)}, make([]int, n)
	for p := range kind {
		kind[p] = rnd.IntN(2)
		kinds[kind[p]][p/8] |= 1 << (p % 8)
	}
	dst, w, grad, own := make([]float64, n), make([]float64, 4*n), make([]float64, n*dim), make([]float64, 4*dim)
	var diff, diffY [dim]float64
	row := func(data []float64, p int) []float64 { return data[p*dim:][:dim:dim] }
	origin, add, mul := [2]float64{1, 2}, [2]float64{1e-9, 2e-9}, [2]float64{-1e-9, 1e-9}

	simdtest.Beside(b, "Distances", n, func() { Distances(dst, x, n, c[:dim]) }, func() {
		for p := range dst {
			dst[p] = floats.Distance(row(rows, p), c[:dim], 2)
		}
	})
	simdtest.Beside(b, "InvDistances", n, func() { InvDistances(dst, x, n, c[:dim]) }, func() {
		for p := range dst {
			dst[p] = 1 / floats.Distance(row(rows, p), c[:dim], 2)
		}
	})
	simdtest.Beside(b, "DiffDots", n, func() { DiffDots(dst, x, n, c[:dim], y, e[:dim]) }, func() {
		for p := range dst {
			floats.SubTo(diff[:], row(rows, p), c[:dim])
			floats.SubTo(diffY[:], row(rowsY, p), e[:dim])
			dst[p] = floats.Dot(diff[:], diffY[:])
		}
	})
	simdtest.Beside(b, "AddDiffs", 4*n, func() { AddDiffs(n, grad, x, n, c, w, n, own) }, func() {
		for q := range 4 {
			for p, wp := range w[q*n:][:n] {
				floats.SubTo(diff[:], row(rows, p), row(c, q))
				floats.AddScaled(row(grad, p), wp, diff[:])
				floats.AddScaled(row(own, q), wp, diff[:])
			}
		}
	})
	simdtest.Beside(b, "Moments", n, func() { KindDistances(n, x, n, c[:dim], kinds, origin) }, func() {
		var sums, squares [2]float64
		for p, k := range kind {
			d := floats.Distance(row(rows, p), c[:dim], 2) - origin[k]
			sums[k] += d
			squares[k] += d * d
		}
		dst[0], dst[1] = sums[0]+sums[1], squares[0]+squares[1]
	})
	simdtest.Beside(b, "Forces", 4*n, func() {
		for q := range 4 {
			KindInvDistances(w[q*n:][:n], x, n, row(c, q), kinds, add, mul)
		}
		AddDiffs(n, grad, x, n, c, w, n, own)
	}, func() {
		for q := range 4 {
			for p, k := range kind {
				floats.SubTo(diff[:], row(rows, p), row(c, q))
				wp := add[k] + mul[k]/floats.Norm(diff[:], 2)
				floats.AddScaled(row(grad, p), wp, diff[:])
				floats.AddScaled(row(own, q), wp, diff[:])
			}
		}
	})
}
