package revtropical_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revtropical"
)

// A glass is a lattice of spins ±1 with couplings J between neighbours: its energy is
// -Σ J·s·s'. A configuration of a row of spins is a number, whose bits are the spins. The
// score of a configuration is minus its energy.
type glass struct {
	Along  rev.General[float64] // couplings in each row
	Across rev.General[float64] // couplings from each row to the next

	// Scores of rows, with all couplings to the row before: pairs of configurations.
	Scores []rev.General[float64]
	// Best scores of all rows up to each one, by the configuration of that, and of all.
	Best   []rev.General[float64]
	Ground rev.General[float64]

	// The products s·s' of neighbours in a row, and of those in two rows, for each pair of
	// configurations; a column of zeros.
	InRow, Between, Zero rev.General[float64] `rev:"const"`
}

// newGlass returns a glass with couplings of random sign.
func newGlass(rnd *rand.Rand, rows, cols int) *glass {
	matrix := func(r, c int, f func(i, j int) float64) rev.General[float64] {
		m := rev.NewGeneral[float64](r, c, nil)
		for i := range r {
			for j := range c {
				m.Row(i)[j] = f(i, j)
			}
		}
		return m
	}
	sign := func(int, int) float64 { return float64(1 - 2*rnd.IntN(2)) }
	zero := func(int, int) float64 { return 0 }
	n := 1 << cols
	g := &glass{
		Along: matrix(rows, cols-1, sign), Across: matrix(rows-1, cols, sign), Ground: matrix(1, 1, zero), Zero: matrix(n, 1, zero),
		InRow:   matrix(n*n, cols-1, func(p, i int) float64 { return spin(p%n, i) * spin(p%n, i+1) }),
		Between: matrix(n*n, cols, func(p, i int) float64 { return spin(p/n, i) * spin(p%n, i) }),
	}
	for range rows {
		g.Scores = append(g.Scores, matrix(n*n, 1, zero))
		g.Best = append(g.Best, matrix(1, n, zero))
	}
	return g
}

func spin(row, i int) float64 { return float64(1 - 2*(row>>i&1)) }

// groundState returns the program Ground += the greatest score: a chain of products with
// the transfer matrices of max-plus arithmetic.
func groundState(rows, n int) rev.Step[glass] {
	column := func(x []float64) rev.General[float64] { return rev.NewGeneral(len(x), 1, x) }
	var steps []rev.Step[glass]
	for r := range rows {
		steps = append(steps, rev.At(func(s *glass) revlinalg.MatMul[float64] {
			return revlinalg.MatMul[float64]{C: s.Scores[r], A: s.InRow, B: column(s.Along.Row(r))}
		}))
		if r == 0 { // any configuration before
			steps = append(steps, rev.At(func(s *glass) revtropical.MatMul[float64] {
				return revtropical.MatMul[float64]{C: s.Best[0], A: rev.NewGeneral(1, n, s.Zero.Data), B: rev.NewGeneral(n, n, s.Scores[0].Data)}
			}))
			continue
		}
		steps = append(steps,
			rev.At(func(s *glass) revlinalg.MatMul[float64] {
				return revlinalg.MatMul[float64]{C: s.Scores[r], A: s.Between, B: column(s.Across.Row(r - 1))}
			}),
			rev.At(func(s *glass) revtropical.MatMul[float64] {
				return revtropical.MatMul[float64]{C: s.Best[r], A: s.Best[r-1], B: rev.NewGeneral(n, n, s.Scores[r].Data)}
			}))
	}
	return rev.Seq(append(steps, rev.At(func(s *glass) revtropical.MatMul[float64] {
		return revtropical.MatMul[float64]{C: s.Ground, A: s.Best[rows-1], B: s.Zero}
	}))...)
}

// The ground state of a spin glass. The derivative of its energy by a coupling is the
// product of the two spins, so the gradient has the configuration.
func Example_spinGlass() {
	const rows, cols = 4, 4
	s := newGlass(rand.New(rand.NewPCG(1, 2)), rows, cols)
	g := rev.ZeroLike(s)
	score, err := rev.ValueGradient(groundState(rows, 1<<cols), func(s *glass) *float64 { return &s.Ground.Data[0] }, s, g)
	if err != nil {
		log.Fatal(err)
	}

	// The same by all 65,536 configurations.
	best := -1000.0
	for c := range 1 << (rows * cols) {
		best = max(best, scoreOf(s, rows, cols, func(r, i int) float64 { return spin(c, r*cols+i) }))
	}
	fmt.Println("energy:", -score, "by all configurations:", -best)

	// Spins from the first one on, by the products with neighbours.
	spins := make([][]float64, rows)
	for r := range spins {
		spins[r] = make([]float64, cols)
		spins[r][0] = 1
		if r > 0 {
			spins[r][0] = spins[r-1][0] * g.Across.Row(r - 1)[0]
		}
		for i := 1; i < cols; i++ {
			spins[r][i] = spins[r][i-1] * g.Along.Row(r)[i-1]
		}
		fmt.Printf("%2.0f\n", spins[r])
	}
	fmt.Println("its energy:", -scoreOf(s, rows, cols, func(r, i int) float64 { return spins[r][i] }))
	// Output:
	// energy: -18 by all configurations: -18
	// [ 1  1  1  1]
	// [-1 -1 -1 -1]
	// [ 1 -1  1 -1]
	// [-1  1 -1 -1]
	// its energy: -18
}

// scoreOf returns minus the energy of a configuration.
func scoreOf(s *glass, rows, cols int, spin func(r, i int) float64) (score float64) {
	for r := range rows {
		for i := range cols {
			if i > 0 {
				score += s.Along.Row(r)[i-1] * spin(r, i-1) * spin(r, i)
			}
			if r > 0 {
				score += s.Across.Row(r - 1)[i] * spin(r-1, i) * spin(r, i)
			}
		}
	}
	return score
}
