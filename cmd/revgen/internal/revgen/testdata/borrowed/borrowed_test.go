package borrowed

import (
	std "math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// A borrower is a function with its derivatives.
type borrower struct {
	name string
	f    func(p []float64) float64
	g    func(grad, p []float64) float64
	h    func(dst, p, v []float64)
}

func TestBorrowed(t *testing.T) {
	gauss := newDensity()
	compare(t, []borrower{
		{"distributions", distributions, distributionsGradient, distributionsHessVec},
		{"geometry", geometry, geometryGradient, geometryHessVec},
		{"interpolated", interpolated, interpolatedGradient, interpolatedHessVec},
		{"raw", raw, rawGradient, rawHessVec},
		{"newton", newton, newtonGradient, newtonHessVec},
		{"returned", returned, returnedGradient, returnedHessVec},
		{"iterated", iterated, iteratedGradient, iteratedHessVec},
		{"interfaces", interfaces, interfacesGradient, interfacesHessVec},
		{"spelled", spelled, spelledGradient, spelledHessVec},
		{"hidden", hidden, hiddenGradient, hiddenHessVec},
		{"again", again, againGradient, againHessVec},
		{"failures", failures, failuresGradient, failuresHessVec},
		{"makers", makers, makersGradient, makersHessVec},
		{"named", named, namedGradient, namedHessVec},
		{"rows", rows, rowsGradient, rowsHessVec},
		{"makersInLists", makersInLists, makersInListsGradient, makersInListsHessVec},
		{"listsInLoops", listsInLoops, listsInLoopsGradient, listsInLoopsHessVec},
		{"rangedMakers", rangedMakers, rangedMakersGradient, rangedMakersHessVec},
		{"composed", composed, composedGradient, composedHessVec},
		{"copiedRight", copiedRight, copiedRightGradient, copiedRightHessVec},
		{"augmented", augmented, augmentedGradient, augmentedHessVec},
		{"copiedVector", copiedVector, copiedVectorGradient, copiedVectorHessVec},
		{"otherNames", otherNames, otherNamesGradient, otherNamesHessVec},
		{"withoutNumbers", withoutNumbers, withoutNumbersGradient, withoutNumbersHessVec},
		{"largestNumber", largestNumber, largestNumberGradient, largestNumberHessVec},
		{"triangles", triangles, trianglesGradient, trianglesHessVec},
		{"inPlace", inPlace, inPlaceGradient, inPlaceHessVec},
		{"priors", priors, priorsGradient, priorsHessVec},
		{"smaller", smaller, smallerGradient, smallerHessVec},
		{"evidence", evidence, evidenceGradient, evidenceHessVec},
		{"sampled", sampled, sampledGradient, sampledHessVec},
		{"logProb", of3(gauss.logProb), func(grad, p []float64) float64 {
			clear(grad[3:])
			return gauss.logProbGradient(grad[:3], p[:3])
		}, func(dst, p, v []float64) {
			clear(dst[3:])
			gauss.logProbHessVec(dst[:3], p[:3], v[:3])
		}},
	})
}

// TestLarger has those for which most is written.
func TestLarger(t *testing.T) {
	compare(t, []borrower{
		{"refactored", refactored, refactoredGradient, refactoredHessVec},
		{"inTurn", inTurn, inTurnGradient, inTurnHessVec},
		{"sums", sums, sumsGradient, sumsHessVec},
		{"covariances", covariances, covariancesGradient, covariancesHessVec},
		{"parts", parts, partsGradient, partsHessVec},
		{"solved", solved, solvedGradient, solvedHessVec},
		{"copiedDown", copiedDown, copiedDownGradient, copiedDownHessVec},
		{"stacked", stacked, stackedGradient, stackedHessVec},
		{"addedToItself", addedToItself, addedToItselfGradient, addedToItselfHessVec},
		{"statistics", statistics, statisticsGradient, statisticsHessVec},
		{"listed", listed, listedGradient, listedHessVec},
	})
}

// compare compares gradients with differences of values, and products with Hessians with differences of gradients.
func compare(t *testing.T, borrowers []borrower) {
	for _, c := range borrowers {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(3) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				p, v := make([]float64, 12), make([]float64, 12)
				for i := range p {
					p[i], v[i] = 0.5+0.4*rnd.Float64()+0.1*float64(i), rnd.NormFloat64()
				}
				grad, dst := make([]float64, len(p)), make([]float64, len(p))
				if got, want := c.g(grad, p), c.f(p); std.Abs(got-want) > 1e-12*std.Abs(want) {
					t.Fatalf("value %v, want %v", got, want)
				}
				c.h(dst, p, v)
				at := func(h float64, by []float64) []float64 {
					q := slices.Clone(p)
					for i := range q {
						q[i] += h * by[i]
					}
					return q
				}
				slope := func(h float64) []float64 {
					g := make([]float64, len(p))
					c.g(g, at(h, v))
					return g
				}
				// fourth is a difference of fourth order, of values at ±h and ±h/2.
				const h = 2e-4
				fourth := func(up, down, halfUp, halfDown float64) float64 {
					return (4*(halfUp-halfDown)/h - (up-down)/(2*h)) / 3
				}
				a, b, d, e := slope(h), slope(-h), slope(h/2), slope(-h/2)
				for i := range p {
					by := make([]float64, len(p))
					by[i] = 1
					want := fourth(c.f(at(h, by)), c.f(at(-h, by)), c.f(at(h/2, by)), c.f(at(-h/2, by)))
					if !(std.Abs(grad[i]-want) <= 1e-7*(1+std.Abs(want))) {
						t.Errorf("seed %d: derivative by p[%d] is %v, want %v", seed, i, grad[i], want)
					}
					if want := fourth(a[i], b[i], d[i], e[i]); !(std.Abs(dst[i]-want) <= 1e-6*(1+std.Abs(want))) {
						t.Errorf("seed %d: (H·v)[%d] is %v, want %v", seed, i, dst[i], want)
					}
				}
			}
		})
	}
}

func of3(f func(p []float64) float64) func(p []float64) float64 {
	return func(p []float64) float64 { return f(p[:3]) }
}

// newDensity has matrices whose other triangles hold something else.
func newDensity() *density {
	g := &density{mean: mat.NewVecDense(3, []float64{0.3, 1, -0.5}), prior: mat.NewSymDense(3, []float64{1, 0.2, 0.7, 50, 2, 0.1, 60, 70, 3})}
	g.chol.Factorize(mat.NewSymDense(3, []float64{2, 0.4, -0.3, 0, 3, 0.5, 0, 0, 1}))
	return g
}

// TestGiven has symmetric and triangular matrices that are constants.
func TestGiven(t *testing.T) {
	x := mat.NewDense(2, 2, []float64{1.5, -2, 0.25, 3})
	s := mat.NewSymDense(2, []float64{2, 0.5, 99, 4})
	l := mat.NewTriDense(2, mat.Lower, []float64{3, 99, 1.25, 2})
	var grad mat.Dense
	if got, want := givenGradient(&grad, x, s, l), given(x, s, l); std.Abs(got-want) > 1e-12 {
		t.Fatalf("value %v, want %v", got, want)
	}
	for i := range 2 {
		for j := range 2 {
			v, h := x.At(i, j), 1e-5
			x.Set(i, j, v+h)
			up := given(x, s, l)
			x.Set(i, j, v-h)
			down := given(x, s, l)
			x.Set(i, j, v)
			if want := (up - down) / (2 * h); std.Abs(grad.At(i, j)-want) > 1e-6 {
				t.Errorf("derivative by x[%d][%d] is %v, want %v", i, j, grad.At(i, j), want)
			}
		}
	}
}

// TestIndefinite has matrices without a factor, with a return and without one.
func TestIndefinite(t *testing.T) {
	p, grad := []float64{-1, 1, 0.1, 1, 2, 3, 4, 5, 1}, make([]float64, 9)
	if got := evidenceGradient(grad, p); !std.IsInf(got, 1) || slices.ContainsFunc(grad, func(v float64) bool { return v != 0 }) {
		t.Errorf("value %v, gradient %v, want +Inf and zeros", got, grad)
	}
	p, grad = []float64{-5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2}, make([]float64, 12)
	message := func(f func()) (m any) {
		defer func() { m = recover() }()
		f()
		return nil
	}
	want := message(func() { sampled(p) })
	if got := message(func() { sampledGradient(grad, p) }); got == nil || got != want {
		t.Errorf("panic %v, want %v", got, want)
	}
}

// TestStrided has a matrix with gaps between its rows.
func TestStrided(t *testing.T) {
	m := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}).Slice(0, 2, 1, 3).(*mat.Dense)
	var grad mat.Dense
	if got := stridedGradient(&grad, m); got != 28 || strided(m) != 28 || grad.At(1, 1) != 4 {
		t.Errorf("got %v with the derivative %v, want 28 and 4", got, grad.At(1, 1))
	}
}
