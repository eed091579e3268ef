package gmm

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"revnum/internal/logs"
	"revnum/internal/long"
	"revnum/rev"
)

// randomMixture returns k components of dimension d whose means are spread as
// widely as said, in units of a standard deviation.
func randomMixture(t testing.TB, rnd *rand.Rand, k, d int, spread float64) *Mixture {
	t.Helper()
	w := make([]float64, k)
	for c := range w {
		w[c] = 0.5 + rnd.Float64()
	}
	floats.Scale(1/floats.Sum(w), w)
	means := mat.NewDense(k, d, normals(rnd, k*d))
	means.Scale(spread, means)
	covs := make([]*mat.SymDense, k)
	for c := range covs {
		covs[c] = mat.NewSymDense(d, nil)
		covs[c].SymOuterK(1/float64(d), mat.NewDense(d, 2*d, normals(rnd, 2*d*d)))
	}
	m, err := NewMixture(w, means, covs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMixtureDensity checks all that is computed at points against
// distmv.Normal.
func TestMixtureDensity(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	for _, s := range [][3]int{{1, 1, 1}, {2, 3, 5}, {6, 4, 300}, {12, 2, 600}, {3, 23, 257}} {
		d, k, n := s[0], s[1], s[2]
		m := randomMixture(t, rnd, k, d, 2)
		x, _ := m.Sample(n, rnd)
		normal := make([]*distmv.Normal, k)
		for c, cov := range m.Covariances() {
			var ok bool
			if normal[c], ok = distmv.NewNormal(mat.Row(nil, c, m.Means()), cov, nil); !ok {
				t.Fatal("distmv.NewNormal")
			}
		}
		logp, resp, labels := m.ScoreSamples(x), m.Responsibilities(x), m.Predict(x)
		var total float64
		beta := make([]float64, k)
		for i := range n {
			for c, w := range m.Weights() {
				beta[c] = math.Log(w) + normal[c].LogProb(x.RawRowView(i))
			}
			want := floats.LogSumExp(beta)
			total += want
			if !(math.Abs(logp[i]-want) <= 1e-12*(1+math.Abs(want))) {
				t.Fatalf("%v: log density %d = %v, want %v", s, i, logp[i], want)
			}
			for c, b := range beta {
				if r := math.Exp(b - want); !(math.Abs(resp.At(i, c)-r) <= 1e-12) {
					t.Fatalf("%v: responsibility (%d, %d) = %v, want %v", s, i, c, resp.At(i, c), r)
				}
			}
			if want := floats.MaxIdx(beta); labels[i] != want {
				t.Fatalf("%v: label %d = %d, want %d", s, i, labels[i], want)
			}
		}
		if got := m.LogLikelihood(x); !(math.Abs(got-total) <= 1e-12*math.Abs(total)) {
			t.Errorf("%v: LogLikelihood = %v, want %v", s, got, total)
		}
		free := float64(k - 1 + k*d + k*d*(d+1)/2)
		if got, want := m.BIC(x), free*math.Log(float64(n))-2*total; !(math.Abs(got-want) <= 1e-11*math.Abs(want)) {
			t.Errorf("%v: BIC = %v, want %v", s, got, want)
		}
		if got, want := m.AIC(x), 2*free-2*total; !(math.Abs(got-want) <= 1e-11*math.Abs(want)) {
			t.Errorf("%v: AIC = %v, want %v", s, got, want)
		}
		if got := m.Predict(bare{x}); !slices.Equal(got, labels) {
			t.Errorf("%v: Predict of a bare matrix differs", s)
		}
	}
}

// byDefinition returns the log of the weighted density of each component at a point, by
// differences of coordinates. Covariances are diagonal, or of order 2.
func byDefinition(m *Mixture, x []float64) []float64 {
	beta := make([]float64, m.Components())
	for c, cov := range m.Covariances() {
		var square float64
		for j, v := range x {
			delta := v - m.Means().At(c, j)
			square += delta * delta / cov.At(j, j)
			beta[c] -= math.Log(2*math.Pi*cov.At(j, j)) / 2
		}
		if len(x) == 2 && cov.At(0, 1) != 0 {
			a, b, r := x[0]-m.Means().At(c, 0), x[1]-m.Means().At(c, 1), cov.At(0, 1)
			det := cov.At(0, 0)*cov.At(1, 1) - r*r
			square = (cov.At(1, 1)*a*a - 2*r*a*b + cov.At(0, 0)*b*b) / det
			beta[c] = -math.Log(2*math.Pi) - math.Log(det)/2
		}
		beta[c] += math.Log(m.Weights()[c]) - square/2
	}
	return beta
}

// TestFarComponents scores points of components that lie far apart beside their standard
// deviations, with others that are near each other or wide, in runs with and without far points.
func TestFarComponents(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 14))
	for _, kind := range []Covariance{Full, Tied, Diagonal, Spherical} {
		for _, far := range []float64{1, 600, 1e6} { // 600 is near where products of matrices give way
			means := mat.NewDense(4, 2, []float64{0, 0, 0.004, 0, far, far, 0.002, 0.001})
			covs := make([]*mat.SymDense, 4)
			for c := range covs {
				v := mat.NewSymDense(2, []float64{1e-6, 0, 0, 1e-6})
				switch {
				case kind == Full || kind == Tied:
					v.SetSym(0, 1, 0.5e-6)
				case c == 3:
					v.SetSym(0, 0, 4)
					v.SetSym(1, 1, 4)
				case kind == Diagonal:
					v.SetSym(1, 1, 3e-6)
				}
				covs[c] = v
			}
			m, err := NewMixtureOf(kind, []float64{0.2, 0.3, 0.25, 0.25}, means, covs)
			if err != nil {
				t.Fatal(err)
			}
			x, _ := m.Sample(4*scoringRun+7, rnd)
			for i := range scoringRun { // a run of near points
				for c := 2; x.At(i, 0) > far/2; c++ {
					x.SetRow(i, []float64{float64(c) * 1e-3 * rnd.NormFloat64(), 1e-3 * rnd.NormFloat64()})
				}
			}
			x.SetRow(3*scoringRun, []float64{far / 2, far / 3})
			logp, resp, labels := m.ScoreSamples(x), m.Responsibilities(x), m.Predict(x)
			n, _ := x.Dims()
			for i := range n {
				beta := byDefinition(m, x.RawRowView(i))
				want := floats.LogSumExp(beta)
				// The squares of either side are rounded: ε·1e12 where a point is far from all.
				if tol := 4e-10 + 1e-14*math.Abs(want); !(math.Abs(logp[i]-want) <= tol) {
					t.Fatalf("%v, %v apart: log density %d = %v, want %v", kind, far, i, logp[i], want)
				}
				if best := floats.MaxIdx(beta); labels[i] != best && beta[best]-beta[labels[i]] > 4e-10+1e-14*math.Abs(want) {
					t.Fatalf("%v, %v apart: label %d = %d, want %d", kind, far, i, labels[i], best)
				}
				for c, b := range beta {
					if r := math.Exp(b - want); !(math.Abs(resp.At(i, c)-r) <= 4e-10+1e-14*math.Abs(want)) {
						t.Fatalf("%v, %v apart: responsibility (%d, %d) = %v, want %v", kind, far, i, c, resp.At(i, c), r)
					}
				}
			}
		}
	}
}

// TestFarthestPoints scores points whose squared distances overflow, beside big.Float: because means are far out, or
// variances are small.
func TestFarthestPoints(t *testing.T) {
	for _, kind := range []Covariance{Full, Tied, Diagonal, Spherical} {
		for _, size := range []struct{ mean, variance float64 }{{3e160, 2}, {1e300, 1}, {1, 1e-310}, {1e155, 3e-320}, {2, 1e-322}, {1e-10, 1e-315}} {
			covs := make([]*mat.SymDense, 3)
			for c := range covs {
				v := size.variance
				if kind != Tied && c == 1 {
					v *= 2
				}
				covs[c] = mat.NewSymDense(2, []float64{v, 0, 0, v})
			}
			means := mat.NewDense(3, 2, []float64{0, 0, size.mean, size.mean / 2, -size.mean / 4, size.mean})
			m, err := NewMixtureOf(kind, []float64{0.5, 0.2, 0.3}, means, covs)
			if err != nil {
				t.Fatalf("%v, %v: %v", kind, size, err)
			}
			x := mat.NewDense(6, 2, []float64{0, 0, 1, 0.3, 0.9, 0.6, -0.2, 1.1, 5, 5, -3, 0.001})
			x.Scale(size.mean, x)
			checkScores(t, m, x, 1e-12)
		}
	}
}

// TestFarthestMixtures scores points beyond all components, where β_k and their differences overflow or differ in
// size by hundreds of digits: the wide component is nearest, or the one on the side of the point. Equidistant points
// have as much of either component.
func TestFarthestMixtures(t *testing.T) {
	for _, test := range []struct{ means, variances, x []float64 }{
		{[]float64{0, 0}, []float64{1e-320, 1e280}, []float64{1e300}},
		{[]float64{0, 0, 0}, []float64{1e-320, 1e280, 4e280}, []float64{1e300, -1e300}},
		{[]float64{0, 0, 0}, []float64{1e-200, 1e200, 4e200}, []float64{1e300, -1e300}},
		{[]float64{0, 0, 0}, []float64{1e-100, 1e200, 4e200}, []float64{1e290, -1e290}},
		{[]float64{1e300, 1, -1}, []float64{1e-20, 1e-320, 1e-320}, []float64{2, -2, 0, 1e-5, 1e-10}},
		{[]float64{1e300, 1e-5, -1e-5}, []float64{1, 1e-320, 1e-320}, []float64{2e-5, -2e-5, 0, 1e-5, 1e-10, -3}},
		{[]float64{1e300, 1e100, -1e100}, []float64{1, 1, 1}, []float64{0, 2e100, 2e160, -2e160, 3e160, 1e155, -1e155, 1e300}},
		{[]float64{1e300, -1e300}, []float64{3e-320, 3e-320}, []float64{0, 1e-300, -1e-300}},
		{[]float64{1, -1}, []float64{1, 1}, []float64{0, 1e300, -1e300}},
	} {
		k := len(test.means)
		for _, kind := range []Covariance{Full, Tied, Diagonal, Spherical} {
			for _, d := range []int{1, 2} {
				weights, means := make([]float64, k), mat.NewDense(k, d, nil)
				covs := make([]*mat.SymDense, k)
				for c := range covs {
					weights[c] = 1 / float64(k)
					means.Set(c, 0, test.means[c])
					covs[c] = mat.NewSymDense(d, nil)
					for j := range d {
						v := test.variances[c]
						if kind == Tied {
							v = test.variances[k-1]
						}
						covs[c].SetSym(j, j, v)
					}
				}
				m, err := NewMixtureOf(kind, weights, means, covs)
				if err != nil {
					t.Fatal(err)
				}
				x := mat.NewDense(len(test.x), d, nil)
				x.SetCol(0, test.x)
				if d > 1 { // as far from all
					x.Set(0, 1, 1e290)
				}
				checkScores(t, m, x, 1e-12)
			}
		}
	}
}

// TestRandomSizes scores points of mixtures whose numbers have random exponents.
func TestRandomSizes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	power := func(e float64) float64 { return math.Pow(10, max(-322, min(e, 300))) }
	for range long.Or(20000, 2000) {
		k, d := 1+rnd.IntN(4), 1+rnd.IntN(3)
		kind := Covariance(rnd.IntN(4))
		variance, size, span := -320+600*rnd.Float64(), -300+600*rnd.Float64(), []float64{0, 1, 20, 200}[rnd.IntN(4)]
		covs, weights, means, x := make([]*mat.SymDense, k), make([]float64, k), mat.NewDense(k, d, nil), mat.NewDense(2, d, nil)
		for c := range covs {
			weights[c] = 1 / float64(k)
			v, mean := power(variance+span*(rnd.Float64()-0.5)), power(size+span*(rnd.Float64()-0.5))
			if kind == Tied && c > 0 {
				v = covs[0].At(0, 0)
			}
			covs[c] = mat.NewSymDense(d, nil)
			for j := range d {
				covs[c].SetSym(j, j, v)
				means.Set(c, j, mean*rnd.NormFloat64())
			}
		}
		m, err := NewMixtureOf(kind, weights, means, covs)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			far := power(size + []float64{0, 1, 50, 300}[rnd.IntN(4)]*(rnd.Float64()-0.5))
			for j := range d {
				x.Set(i, j, far*rnd.NormFloat64())
			}
		}
		checkScores(t, m, x, 1e-9)
	}
}

// checkScores compares log densities, responsibilities and labels of m, whose covariances are spherical, with
// those of big.Float.
func checkScores(t *testing.T, m *Mixture, x *mat.Dense, eps float64) {
	t.Helper()
	logp, resp, labels := m.ScoreSamples(x), m.Responsibilities(x), m.Predict(x)
	for i := range logp {
		best, beta := bigDensities(m, x.RawRowView(i))
		row := fmt.Sprintf("%v, means %v, variances from %v, point %v", m.kind, m.Means().RawMatrix().Data, m.Covariances()[0].At(0, 0), x.RawRowView(i))
		differ := make([]float64, len(beta))
		for c, b := range beta {
			differ[c], _ = new(big.Float).Sub(b, beta[best]).Float64()
		}
		top, _ := beta[best].Float64()
		slack := eps * (1 + math.Abs(top)) // in β, by its rounding
		if got, w := logp[i], floats.LogSumExp(differ)+top; !(math.Abs(got-w) <= slack) && got != w {
			t.Errorf("%s: log density %v, want %v", row, got, w)
		}
		if label := labels[i]; !(differ[label] >= -slack) {
			t.Errorf("%s: label %d, want %d", row, label, best)
		}
		if slack > 1e-3 && !math.IsInf(slack, 1) {
			continue // the β have no digits left of their differences
		}
		if math.IsInf(slack, 1) {
			slack = 1e-9 // these β are exact
		}
		sum := floats.LogSumExp(differ)
		for c, r := range differ {
			if got, w := resp.At(i, c), math.Exp(r-sum); !(math.Abs(got-w) <= 1e-9+2*slack) {
				t.Errorf("%s: responsibility %d = %v, want %v", row, c, got, w)
			}
		}
	}
}

// bigDensities returns the logs of the weighted densities of a point for spherical covariances, and which is largest.
func bigDensities(m *Mixture, x []float64) (best int, beta []*big.Float) {
	num := func(v float64) *big.Float { return new(big.Float).SetPrec(9000).SetFloat64(v) }
	for c, cov := range m.Covariances() {
		square := num(0)
		for j, v := range x {
			delta := num(v)
			delta.Sub(delta, num(m.Means().At(c, j)))
			square.Add(square, delta.Mul(delta, delta))
		}
		square.Quo(square, num(-2*cov.At(0, 0)))
		square.Add(square, num(math.Log(m.Weights()[c])-float64(len(x))/2*(math.Log(2*math.Pi)+logs.Log(cov.At(0, 0)))))
		beta = append(beta, square)
		if square.Cmp(beta[best]) > 0 {
			best = c
		}
	}
	return best, beta
}

// TestPredictMany crosses the slabs of Predict.
func TestPredictMany(t *testing.T) {
	m := randomMixture(t, rand.New(rand.NewPCG(2, 2)), 2, 1, 100)
	x, labels := m.Sample(40000, rand.NewPCG(2, 3))
	if got := m.Predict(x.ColView(0)); !slices.Equal(got, labels) {
		t.Error("labels differ from the components sampled from, which are far apart")
	}
}

func TestHostilePoints(t *testing.T) {
	m := randomMixture(t, rand.New(rand.NewPCG(2, 4)), 3, 2, 1)
	nan, inf := math.NaN(), math.Inf(1)
	x := mat.NewDense(6, 2, []float64{0, 0, nan, 0, inf, 0, -inf, inf, 1e200, 0, 30, 30})
	labels, logp, resp := m.Predict(x), m.ScoreSamples(x), m.Responsibilities(x)
	for i := range 6 {
		finite := i == 0 || i == 5
		ok := finite || i == 4 // far out is near to one component still
		if got := labels[i] >= 0; got != ok {
			t.Errorf("label of %v is %d", x.RawRowView(i), labels[i])
		}
		if got := !math.IsNaN(resp.At(i, 0)); got != ok {
			t.Errorf("responsibilities of %v are %v", x.RawRowView(i), resp.RawRowView(i))
		}
		if got := !math.IsNaN(logp[i]) && !math.IsInf(logp[i], 0); got != finite {
			t.Errorf("log density of %v is %v", x.RawRowView(i), logp[i])
		}
	}
	if !math.IsInf(logp[4], -1) {
		t.Errorf("log density far out is %v", logp[4])
	}
	if !math.IsNaN(logp[1]) {
		t.Errorf("log density at NaN is %v", logp[1])
	}
	if n := len(m.Predict(bareEmpty{})); n != 0 {
		t.Errorf("%d labels for no points", n)
	}
	if r, _ := m.Responsibilities(bareEmpty{}).Dims(); r != 0 {
		t.Errorf("%d responsibilities for no points", r)
	}
}

// bareEmpty is a matrix of no points of dimension 2.
type bareEmpty struct{ mat.Matrix }

func (bareEmpty) Dims() (r, c int) { return 0, 2 }

func TestParams(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 5))
	for _, s := range [][2]int{{1, 1}, {3, 2}, {2, 6}, {4, 23}} {
		m := randomMixture(t, rnd, s[0], s[1], 1)
		x := m.Params()
		back, err := FromParams(s[0], s[1], x)
		if err != nil {
			t.Fatal(err)
		}
		if !floats.EqualApprox(back.Params(), x, 1e-11) {
			t.Errorf("%v: parameters did not survive", s)
		}
		// QᵀQ is the precision matrix.
		p := viewParams(x, s[0], s[1])
		q := mat.NewDense(s[1], s[1], nil)
		for c, cov := range m.Covariances() {
			unpackFactor(q.RawMatrix().Data, p.Factors.Row(c), s[1])
			var prod mat.Dense
			prod.Mul(q.T(), q)
			prod.Mul(&prod, cov)
			for i := range s[1] {
				prod.Set(i, i, prod.At(i, i)-1)
			}
			if n := mat.Norm(&prod, math.Inf(1)); n > 1e-11 {
				t.Errorf("%v: ‖QᵀQΣ-I‖ = %v", s, n)
			}
		}
	}
	// The log weights need not be normalised.
	m, err := FromParams(2, 1, []float64{3, 3 + math.Log(3), 0, 1, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if w := m.Weights(); !floats.EqualApprox(w, []float64{0.25, 0.75}, 1e-15) {
		t.Errorf("weights %v", w)
	}
	if v := panicOf(func() { _, _ = FromParams(2, 1, make([]float64, 5)) }); !errors.Is(v, mat.ErrShape) {
		t.Errorf("panic %v", v)
	}
	if _, err := FromParams(1, 1, []float64{0, 0, math.NaN()}); err == nil {
		t.Error("no error for a NaN")
	}
}

func TestNewMixtureErrors(t *testing.T) {
	eye := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	for _, c := range []struct {
		weights []float64
		means   []float64
		cov     []float64
		want    string
	}{
		{[]float64{0.5, -0.5}, nil, nil, "weight 1 is -0.5"},
		{[]float64{math.NaN(), 0.5}, nil, nil, "weight 0 is NaN"},
		{[]float64{math.Inf(1), 0.5}, nil, nil, "weight 0 is +Inf"},
		{[]float64{0.5, 0.4}, nil, nil, "sum to 0.9, want 1"},
		{nil, []float64{1, 2, 3, math.Inf(-1)}, nil, "coordinate 1 of mean 1 is -Inf"},
		{nil, nil, []float64{1, math.NaN(), math.NaN(), 1}, "element (0, 1) of covariance 1 is NaN"},
		{nil, nil, []float64{1, 1, 1, 1}, "covariance of component 1: matrix not positive definite: pivot 1 is 0"},
		{nil, nil, []float64{-1, 0, 0, 1}, "pivot 0 is -1"},
		{nil, nil, []float64{0, 0, 0, 0}, "pivot 0 is 0"},
	} {
		weights, means, cov := []float64{0.5, 0.5}, make([]float64, 4), eye
		if c.weights != nil {
			weights = c.weights
		}
		if c.means != nil {
			means = c.means
		}
		if c.cov != nil {
			cov = mat.NewSymDense(2, c.cov)
		}
		_, err := NewMixture(weights, mat.NewDense(2, 2, means), []*mat.SymDense{eye, cov})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	_, err := NewMixture([]float64{1}, mat.NewDense(1, 1, nil), []*mat.SymDense{mat.NewSymDense(1, []float64{-2})})
	var singular *rev.NotPositiveDefiniteError
	if !errors.As(err, &singular) || singular.Value != -2 || singular.Row != 0 || !strings.Contains(err.Error(), "component 0") {
		t.Errorf("error %#v", err)
	}
	for name, f := range map[string]func(){
		"weights":     func() { _, _ = NewMixture([]float64{1}, mat.NewDense(2, 2, nil), []*mat.SymDense{eye, eye}) },
		"covariances": func() { _, _ = NewMixture([]float64{0.5, 0.5}, mat.NewDense(2, 2, nil), []*mat.SymDense{eye}) },
		"order":       func() { _, _ = NewMixture([]float64{1}, mat.NewDense(1, 3, nil), []*mat.SymDense{eye}) },
	} {
		if v := panicOf(f); !errors.Is(v, mat.ErrShape) {
			t.Errorf("%s: panic %v, want %v", name, v, mat.ErrShape)
		}
	}
}

func TestNewMixtureOfErrors(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		kind     Covariance
		one, cov []float64
		want     string
	}{
		{Spherical + 1, []float64{1, 0, 0, 1}, []float64{1, 0, 0, 1}, "gmm: there is no Covariance(4)"},
		{-1, []float64{1, 0, 0, 1}, []float64{1, 0, 0, 1}, "gmm: there is no Covariance(-1)"},
		{Tied, []float64{2, 1, 1, 2}, []float64{2, 0.5, 0.5, 2}, "gmm: element (1, 0) of covariance 1 is 0.5, want 1 as they are tied"},
		{Diagonal, []float64{1, 0, 0, 3}, []float64{1, 0.5, 0.5, 2}, "gmm: element (1, 0) of covariance 1 is 0.5, want 0 as they are diagonal"},
		{Spherical, []float64{1, 0, 0, 1}, []float64{2, 0, 0, 3}, "gmm: element (1, 1) of covariance 1 is 3, want 2 as they are spherical"},
		{Spherical, []float64{1, 0.25, 0.25, 1}, []float64{2, 0, 0, 2}, "gmm: element (1, 0) of covariance 0 is 0.25, want 0 as they are spherical"},
		{Diagonal, []float64{1, 0, 0, 3}, []float64{nan, 0, 0, 2}, "gmm: element (0, 0) of covariance 1 is NaN"},
		{Spherical, []float64{1, 0, 0, 1}, []float64{nan, 0, 0, 2}, "gmm: element (0, 0) of covariance 1 is NaN"},
		{Diagonal, []float64{1, nan, nan, 3}, []float64{1, 0, 0, 2}, "gmm: element (0, 1) of covariance 0 is NaN"},
		{Tied, []float64{1, 0, 0, nan}, []float64{1, 0, 0, 2}, "gmm: element (1, 1) of covariance 0 is NaN"},
		{Diagonal, []float64{1, 0, 0, 3}, []float64{1, 0, 0, -2}, "gmm: covariance of component 1: matrix not positive definite: pivot 1 is -2"},
	} {
		covs := []*mat.SymDense{mat.NewSymDense(2, c.one), mat.NewSymDense(2, c.cov)}
		_, err := NewMixtureOf(c.kind, []float64{0.5, 0.5}, mat.NewDense(2, 2, nil), covs)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.kind, err, c.want)
		}
	}
	for kind := Full; kind <= Spherical; kind++ {
		covs := []*mat.SymDense{mat.NewSymDense(1, []float64{1}), mat.NewSymDense(2, []float64{1, 0, 0, 1})}
		for range 2 {
			for d := 1; d <= 2; d++ {
				if v := panicOf(func() { _, _ = NewMixtureOf(kind, []float64{0.5, 0.5}, mat.NewDense(2, d, nil), covs) }); !errors.Is(v, mat.ErrShape) {
					t.Errorf("%v, covariances of orders %d and %d, means of %d: panic %v", kind, covs[0].SymmetricDim(), covs[1].SymmetricDim(), d, v)
				}
			}
			slices.Reverse(covs)
		}
	}
}

// TestMixtureCopies checks that a mixture shares no storage with anyone.
func TestMixtureCopies(t *testing.T) {
	w, means, cov := []float64{1}, mat.NewDense(1, 1, []float64{2}), mat.NewSymDense(1, []float64{3})
	m, err := NewMixture(w, means, []*mat.SymDense{cov})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if m.Weights()[0] != 1 || m.Means().At(0, 0) != 2 || m.Covariances()[0].At(0, 0) != 3 || m.Params()[1] != 2 {
			t.Fatal("the mixture changed")
		}
		w[0] = 9
		means.Set(0, 0, 9)
		cov.SetSym(0, 0, 9)
		m.Weights()[0] = 9
		m.Means().Set(0, 0, 9)
		m.Covariances()[0].SetSym(0, 0, 9)
		m.Params()[1] = 9
	}
	if m.Components() != 1 || m.Dim() != 1 {
		t.Error("wrong size")
	}
}

func TestSample(t *testing.T) {
	const n = 200000
	m := randomMixture(t, rand.New(rand.NewPCG(2, 6)), 3, 3, 2)
	x, labels := m.Sample(n, rand.NewPCG(2, 7))
	for c, w := range m.Weights() {
		var rows []float64
		for i, label := range labels {
			if label == c {
				rows = append(rows, x.RawRowView(i)...)
			}
		}
		of := mat.NewDense(len(rows)/3, 3, rows)
		nc, _ := of.Dims()
		// Six standard errors of each estimate.
		if share, tol := float64(nc)/n, 6*math.Sqrt(w*(1-w)/n); !(math.Abs(share-w) < tol) {
			t.Errorf("share of component %d = %v, want %v ± %v", c, share, w, tol)
		}
		var cov mat.SymDense
		stat.CovarianceMatrix(&cov, of, nil)
		want := m.Covariances()[c]
		for i := range 3 {
			mean, sd := stat.Mean(mat.Col(nil, i, of), nil), math.Sqrt(want.At(i, i))
			if tol := 6 * sd / math.Sqrt(float64(nc)); !(math.Abs(mean-m.Means().At(c, i)) < tol) {
				t.Errorf("mean (%d, %d) = %v, want %v ± %v", c, i, mean, m.Means().At(c, i), tol)
			}
			for j := range 3 {
				tol := 6 * sd * math.Sqrt(2*want.At(j, j)/float64(nc))
				if !(math.Abs(cov.At(i, j)-want.At(i, j)) < tol) {
					t.Errorf("covariance %d (%d, %d) = %v, want %v ± %v", c, i, j, cov.At(i, j), want.At(i, j), tol)
				}
			}
		}
	}
	again, _ := m.Sample(n, rand.NewPCG(2, 7))
	if !mat.Equal(again, x) {
		t.Error("the same source gave another sample")
	}
	fixed, _ := m.Sample(3, nil)
	if again, _ := m.Sample(3, nil); !mat.Equal(again, fixed) {
		t.Error("no source gave another sample")
	}
	if err := panicOf(func() { m.Sample(0, rand.NewPCG(1, 1)) }); !errors.Is(err, mat.ErrZeroLength) {
		t.Error("Sample(0) did not panic")
	}
}

func TestZeroWeight(t *testing.T) {
	one := mat.NewSymDense(1, []float64{1})
	m, err := NewMixture([]float64{1, 0}, mat.NewDense(2, 1, []float64{0, 1}), []*mat.SymDense{one, one})
	if err != nil {
		t.Fatal(err)
	}
	x, labels := m.Sample(1000, rand.NewPCG(3, 3))
	if slices.Max(labels) != 0 || slices.Max(m.Predict(x)) != 0 {
		t.Error("a component of weight 0 has points")
	}
	alone, err := NewMixture([]float64{1}, mat.NewDense(1, 1, nil), []*mat.SymDense{one})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := m.LogLikelihood(x), alone.LogLikelihood(x); !(math.Abs(a-b) <= 1e-12*math.Abs(b)) {
		t.Errorf("LogLikelihood = %v, want %v", a, b)
	}
}

func TestJSON(t *testing.T) {
	m := randomMixture(t, rand.New(rand.NewPCG(2, 8)), 3, 4, 1)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var back Mixture
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back.Params(), m.Params()) || !slices.Equal(back.Weights(), m.Weights()) || !mat.Equal(back.Means(), m.Means()) {
		t.Error("the mixture read back differs")
	}
	for c, cov := range back.Covariances() {
		if !mat.Equal(cov, m.Covariances()[c]) {
			t.Errorf("covariance %d read back differs", c)
		}
	}
}

func TestJSONErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "unexpected end"},
		{`{`, "unexpected end"},
		{`null`, "no weights"},
		{`[]`, "cannot unmarshal array"},
		{`{}`, "no weights"},
		{`{"weights":[1,"x"]}`, "cannot unmarshal string"},
		{`{"weights":[1e999]}`, "1e999"},
		{`{"weights":[1]}`, "0 means for 1 weights"},
		{`{"weights":[1],"means":[[0]]}`, "0 covariances for 1 weights"},
		{`{"weights":[1],"means":[[]],"covariances":[[[1]]]}`, "mean 0 is empty"},
		{`{"weights":[0.5,0.5],"means":[[0],[1,2]],"covariances":[[[1]],[[1]]]}`, "mean 1 has 2 coordinates, mean 0 has 1"},
		{`{"weights":[1],"means":[[0,0]],"covariances":[[[1,0]]]}`, "covariance 0 has 1 rows, want 2"},
		{`{"weights":[1],"means":[[0,0]],"covariances":[[[1,0],[0]]]}`, "covariance 0 has 1 elements in row 1, want 2"},
		{`{"weights":[1],"means":[[0,0]],"covariances":[[[1,0.5],[0.4,1]]]}`, "covariance 0 is not symmetric: element (1, 0) is 0.4, (0, 1) is 0.5"},
		{`{"weights":[1],"means":[[0,0]],"covariances":[[[1,2],[2,1]]]}`, "covariance of component 0: matrix not positive definite: pivot 1 is -3"},
		{`{"weights":[2],"means":[[0]],"covariances":[[[1]]]}`, "weights sum to 2, want 1"},
	} {
		m := randomMixture(t, rand.New(rand.NewPCG(2, 9)), 2, 2, 1)
		before := m.String()
		err := m.UnmarshalJSON([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.in, err, c.want)
		}
		if m.String() != before {
			t.Errorf("%s: changed the mixture", c.in)
		}
	}
}

func FuzzUnmarshalJSON(f *testing.F) {
	f.Add([]byte(`{"weights":[0.5,0.5],"means":[[0,0],[1,2]],"covariances":[[[1,0],[0,1]],[[2,1],[1,3]]]}`))
	f.Add([]byte(`{"weights":[1],"means":[[0]],"covariances":[[[-1]]]}`))
	f.Add([]byte(`{"weights":[1],"means":[[1e308]],"covariances":[[[1e-320]]]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Mixture
		if m.UnmarshalJSON(b) != nil {
			return
		}
		// A mixture that is accepted works, and is the same when it is written and read.
		out, err := json.Marshal(&m)
		if err != nil {
			t.Fatal(err)
		}
		var back Mixture
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if back.String() != m.String() {
			t.Fatal("the mixture read back differs")
		}
		x, _ := m.Sample(3, rand.NewPCG(1, 1))
		m.Predict(x)
	})
}

func TestMixtureShapes(t *testing.T) {
	m := randomMixture(t, rand.New(rand.NewPCG(2, 10)), 2, 2, 1)
	x := mat.NewDense(3, 3, nil)
	for name, f := range map[string]func(){
		"LogLikelihood":    func() { m.LogLikelihood(x) },
		"BIC":              func() { m.BIC(x) },
		"AIC":              func() { m.AIC(x) },
		"ScoreSamples":     func() { m.ScoreSamples(x) },
		"Responsibilities": func() { m.Responsibilities(x) },
		"Predict":          func() { m.Predict(x) },
	} {
		err := panicOf(f)
		if !errors.Is(err, mat.ErrShape) || !strings.Contains(err.Error(), "x of gmm.Mixture is 3×3, want 3×2") {
			t.Errorf("%s: panic %v, want one with %v and the columns", name, err, mat.ErrShape)
		}
	}
}

func TestMixtureString(t *testing.T) {
	m, err := NewMixture([]float64{0.25, 0.75}, mat.NewDense(2, 2, []float64{1, 2, 3, 4}),
		[]*mat.SymDense{mat.NewSymDense(2, []float64{1, 0.5, 0.5, 2}), mat.NewSymDense(2, []float64{3, 0, 0, 3})})
	if err != nil {
		t.Fatal(err)
	}
	const want = `Gaussian mixture of 2 components in 2 dimensions
component 0: weight 0.25
  mean        [1  2]
  covariance  ⎡  1  0.5⎤
              ⎣0.5    2⎦
component 1: weight 0.75
  mean        [3  4]
  covariance  ⎡3  0⎤
              ⎣0  3⎦
`
	if got := m.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestFar scores points whose squared distances overflow.
func TestFar(t *testing.T) {
	identity := func(v float64) *mat.SymDense { return mat.NewSymDense(2, []float64{v, 0, 0, v}) }
	means := mat.NewDense(3, 2, []float64{-1, 0, 1, 0, 0, 5})
	for _, c := range []struct {
		variances, weights [3]float64
		points             []float64
		want               []int
	}{
		// Of equal covariances, the mean farthest in the direction of the point.
		{[3]float64{1, 1, 1}, [3]float64{0.3, 0.3, 0.4}, []float64{-1e308, 0, 1e308, 0, 1e155, 1e308, 0, 1e200}, []int{0, 1, 2, 2}},
		// The widest, unless its weight is 0.
		{[3]float64{1, 4, 9}, [3]float64{0.3, 0.3, 0.4}, []float64{-1e308, 0, 1e308, 0, 1e155, -1e308, 0, 1e200}, []int{2, 2, 2, 2}},
		{[3]float64{1, 4, 9}, [3]float64{0.5, 0.5, 0}, []float64{-1e308, 0, 1e308, 0, 1e155, -1e308, 0, 1e200}, []int{1, 1, 1, 1}},
	} {
		for _, kind := range kinds {
			if kind == Tied && c.variances[0] != c.variances[1] {
				continue
			}
			m, err := newMixture(kind, c.weights[:], means, []*mat.SymDense{identity(c.variances[0]), identity(c.variances[1]), identity(c.variances[2])})
			if err != nil {
				t.Fatal(err)
			}
			x := mat.NewDense(4, 2, c.points)
			resp := m.Responsibilities(x)
			for i, label := range m.Predict(x) {
				if label != c.want[i] || resp.At(i, label) != 1 {
					t.Errorf("%v: component %d of %v, want %d: %v", kind, label, x.RawRowView(i), c.want[i], resp.RawRowView(i))
				}
			}
			for i, v := range m.ScoreSamples(x) {
				if !math.IsInf(v, -1) {
					t.Errorf("%v: log density %v of %v, want -Inf", kind, v, x.RawRowView(i))
				}
			}
			if labels := m.Predict(mat.NewDense(1, 2, []float64{math.Inf(1), 0})); labels[0] != -1 {
				t.Errorf("%v: component %d of a point at infinity", kind, labels[0])
			}
		}
	}
	if _, err := ReadFile(writeText(t, `{"weights": [1], "means": [[null]], "covariances": [[[1]]]}`)); err == nil || !strings.Contains(err.Error(), "means[0][0]") {
		t.Errorf("null in the means: %v", err)
	}
}

// writeText returns the path of a new file with the text.
func writeText(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
