package numbers

import (
	"math/rand/v2"

	"revnum/fixed"
	"revnum/rev"
	"revnum/revlog"
	"revnum/revnn"
	"revnum/ulog"
)

// logContests compares sums and products of logs in fixed point with log-sum-exp over float64, and their
// kernels with the kernel of that. Numbers one by one are compared with those over float64.
func logContests(rnd *rand.Rand) []contest {
	const n, limit, one = 1000, 4, "log-sum-exp over float64"
	logs := make([]float64, n)
	for i := range logs {
		logs[i] = 5 * rnd.NormFloat64()
	}
	q := fixedOf(logs)
	x, y := ulog.OfLogs(logs), ulog.OfFixedLogs(q)
	var sum ulog.Float64
	var of ulog.Fixed
	var outX, gOutX float64
	var outQ, gOutQ fixed.Q43
	gx, gq := make([]float64, n), make([]fixed.Q43, n)
	total := revlog.Sum[float64]{Out: &outX, X: rev.ViewSlice(logs)}
	gTotal := revlog.Sum[float64]{Out: &gOutX, X: rev.ViewSlice(gx)}
	product := revlog.Prod[fixed.Q43]{Out: &outQ, X: rev.ViewSlice(q)}
	gProduct := revlog.Prod[fixed.Q43]{Out: &gOutQ, X: rev.ViewSlice(gq)}
	const m = 64
	column := func() rev.Vector[fixed.Q43] { return rev.ViewSlice(make([]fixed.Q43, m)) }
	powers := revlog.Powers[fixed.Q43]{Y: column(), A: randomMatrix[fixed.Q43](rnd, m, m, 1), X: rev.ViewSlice(q[:m])}
	gPowers := revlog.Powers[fixed.Q43]{Y: column(), A: rev.NewGeneral[fixed.Q43](m, m, nil), X: column()}
	rows := revnn.LogSumExpRows[float64]{Y: rev.ViewSlice(make([]float64, m)), X: randomMatrix[float64](rnd, m, m, 5), Workers: 1}
	gRows := revnn.LogSumExpRows[float64]{Y: rev.ViewSlice(make([]float64, m)), X: rev.NewGeneral[float64](m, m, nil)}
	logSumExp := func() { sum = ulog.Sum(x) }
	return []contest{
		{"sum over ulog.Fixed, n=1000", one, limit, 1, 1, func() { of = ulog.Sum(y) }, logSumExp},
		{"product over ulog.Fixed, n=1000", one, limit, 1, 1, func() { of = ulog.Prod(y) }, logSumExp},
		{"largest of ulog.Fixed, n=1000", one, limit, 1, 1, func() { of = ulog.Max(y) }, logSumExp},
		{"revlog.Prod over Q43, n=1000", "revlog.Sum over float64", limit, 1, 1, func() { mustRun(product.Forward()) }, func() { total.Forward() }},
		{"adjoint of revlog.Prod over Q43, n=1000", "adjoint of revlog.Sum over float64", limit, 1, 1,
			func() { mustRun(product.Adjoint(gProduct)) }, func() { total.Adjoint(gTotal) }},
		{"revlog.Powers over Q43, 64×64", "revnn.LogSumExpRows over float64", limit, 1, 1, func() { mustRun(powers.Forward()) }, func() { rows.Forward() }},
		{"adjoint of revlog.Powers over Q43, 64×64", "adjoint of revnn.LogSumExpRows over float64", limit, 1, 1,
			func() { mustRun(powers.Adjoint(gPowers)) }, func() { rows.Adjoint(gRows) }},
		{"ulog.Fixed.Add by element", "ulog.Float64.Add by element", limit, n, n,
			func() {
				for _, v := range y {
					of = of.Add(v)
				}
			},
			func() {
				for _, v := range x {
					sum = sum.Add(v)
				}
			}},
		{"ulog.Fixed.Mul by element", "ulog.Float64.Add by element", limit, n, n,
			func() {
				for _, v := range y {
					of = of.Mul(v)
				}
			},
			func() {
				for _, v := range x {
					sum = sum.Add(v)
				}
			}},
	}
}
