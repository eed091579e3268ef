// Package flows fits normalising flows to points in the plane, draws what they learn,
// and measures the memory of their gradients.
package flows

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// toys draw a random point each.
var toys = map[string]func(rnd *rand.Rand) (x, y float64){
	"moons": func(rnd *rand.Rand) (x, y float64) {
		a := math.Pi * rnd.Float64()
		x, y = 2*math.Cos(a)-1, 2*math.Sin(a)-0.5
		if rnd.IntN(2) == 0 {
			x, y = -x, -y
		}
		return x + 0.15*rnd.NormFloat64(), y + 0.15*rnd.NormFloat64()
	},
	"rings": func(rnd *rand.Rand) (x, y float64) {
		r, a := float64(1+2*rnd.IntN(2))+0.15*rnd.NormFloat64(), 2*math.Pi*rnd.Float64()
		return r * math.Cos(a), r * math.Sin(a)
	},
	"spirals": func(rnd *rand.Rand) (x, y float64) {
		a := 3 * math.Pi * math.Sqrt(rnd.Float64())
		r := a / 3 * float64(1-2*rnd.IntN(2))
		return r*math.Cos(a) + 0.1*rnd.NormFloat64(), r*math.Sin(a) + 0.1*rnd.NormFloat64()
	},
	"board": func(rnd *rand.Rand) (x, y float64) {
		i, j := rnd.IntN(4), rnd.IntN(2)
		return float64(i) + rnd.Float64() - 2, float64(2*j+i%2) + rnd.Float64() - 2
	},
}

// Toys returns the names of the sets of points.
func Toys() []string {
	var names []string
	for name := range toys {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Points returns n random points of a set.
func Points(toy string, n int, src rand.Source) (*mat.Dense, error) {
	draw, ok := toys[toy]
	if !ok {
		return nil, fmt.Errorf("unknown set of points %q, want one of %s", toy, strings.Join(Toys(), ", "))
	}
	rnd, x := rand.New(src), mat.NewDense(n, 2, nil)
	for i := range n {
		a, b := draw(rnd)
		x.SetRow(i, []float64{a, b})
	}
	return x, nil
}
