package gmm

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"revnum/rev"
)

// readFaithful returns the eruptions of Old Faithful, and skips the test where
// that file is not at hand.
func readFaithful(t *testing.T) *mat.Dense {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "shared", "data", "gmm", "faithful.csv"))
	if err != nil {
		t.Skip("the eruptions of Old Faithful are not here: ", err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(len(rows)-1, 2, nil)
	for i, row := range rows[1:] {
		for j, s := range row {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			x.Set(i, j, v)
		}
	}
	return x
}

// TestFaithful checks the fit of Old Faithful against that of scikit-learn's
// GaussianMixture, run to a tolerance of 1e-10.
func TestFaithful(t *testing.T) {
	x := readFaithful(t)
	for _, c := range []struct {
		k              int
		logp, bic, aic float64
	}{
		{1, -1289.7967450538, 2607.6225004390, 2589.5934901075},
		{2, -1130.2639601937, 2322.1917431166, 2282.5279203874},
		{3, -1119.2139707572, 2333.7265766415, 2272.4279415144},
	} {
		for _, reg := range []float64{0, -1} {
			m, r, err := Fit(t.Context(), x, c.k, &Options{RegCovar: reg, Polish: true})
			if err != nil {
				t.Fatal(err)
			}
			best := r.Starts[r.Best]
			if !best.Converged || len(best.Collapsed) != 0 {
				t.Errorf("k=%d:\n%v", c.k, r)
			}
			if got := best.LogLikelihood; !(math.Abs(got-c.logp) <= 1e-6) {
				t.Errorf("k=%d: log-likelihood %.10f, want %.10f", c.k, got, c.logp)
			}
			if got := m.BIC(x); !(math.Abs(got-c.bic) <= 1e-6) {
				t.Errorf("k=%d: BIC %.10f, want %.10f", c.k, got, c.bic)
			}
			if got := m.AIC(x); !(math.Abs(got-c.aic) <= 1e-6) {
				t.Errorf("k=%d: AIC %.10f, want %.10f", c.k, got, c.aic)
			}
		}
	}
	m, _, err := Fit(t.Context(), x, 2, &Options{InitMeans: mat.NewDense(2, 2, []float64{2, 50, 4, 80}), Polish: true})
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range [][]float64{
		{0.355873, 2.036388, 54.478516, 0.069168, 0.435168, 33.697282},
		{0.644127, 4.289662, 79.968115, 0.169968, 0.940609, 36.046210},
	} {
		cov := m.Covariances()[c]
		got := []float64{m.Weights()[c], m.Means().At(c, 0), m.Means().At(c, 1), cov.At(0, 0), cov.At(0, 1), cov.At(1, 1)}
		if !floats.EqualApprox(got, want, 2e-4) {
			t.Errorf("component %d: %v, want %v", c, got, want)
		}
	}
}

// checkReport checks what every report must say.
func checkReport(t *testing.T, r *Report) {
	t.Helper()
	for i, s := range r.Starts {
		if s.Err != nil {
			continue
		}
		if len(s.History) != s.Iterations+1 {
			t.Errorf("start %d: %d values after %d iterations", i, len(s.History), s.Iterations)
		}
		for h := 1; h < len(s.History) && s.Reseeded == 0; h++ {
			// RegCovar may lower it: by default, by no more than this.
			if a, b := s.History[h-1], s.History[h]; !(b >= a-1e-9*math.Abs(a)) {
				t.Errorf("start %d of %d: iteration %d lowers the log posterior from %v to %v", i, s.Iterations, h, a, b)
			}
		}
		if last := s.History[len(s.History)-1]; !(math.Abs(last-s.LogPosterior) <= 1e-8*(10+math.Abs(last))) {
			t.Errorf("start %d: log posterior %v after %v", i, s.LogPosterior, last)
		}
		if best := &r.Starts[r.Best]; best.Polish == 0 && (&fit{opts: &Options{}}).better(&s, best) {
			t.Errorf("start %d is better than the best, %d", i, r.Best)
		}
	}
}

// TestFitRecovers checks that the parameters come back that data were drawn
// with, within six standard errors.
func TestFitRecovers(t *testing.T) {
	const n, d, k = 20000, 3, 4
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 1)), k, d, 6)
	x, labels := truth.Sample(n, rand.NewPCG(3, 2))
	m, r, err := Fit(t.Context(), x, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, r)
	if got, least := m.LogLikelihood(x), truth.LogLikelihood(x); got < least {
		t.Errorf("log-likelihood %v is less than that of the truth, %v", got, least)
	}
	// The components in the order of the true ones.
	order := make([]int, k)
	for c := range order {
		best := math.Inf(1)
		for l := range k {
			if dist := floats.Distance(truth.Means().RawRowView(c), m.Means().RawRowView(l), 2); dist < best {
				best, order[c] = dist, l
			}
		}
	}
	right := 0
	for i, label := range m.Predict(x) {
		if label == order[labels[i]] {
			right++
		}
	}
	if right < n*98/100 {
		t.Errorf("%d of %d points have the right label", right, n)
	}
	for c, w := range truth.Weights() {
		l := order[c]
		nc := w * n
		if got := m.Weights()[l]; !(math.Abs(got-w) < 6*math.Sqrt(w*(1-w)/n)) {
			t.Errorf("weight %d = %v, want %v", c, got, w)
		}
		want, got := truth.Covariances()[c], m.Covariances()[l]
		for i := range d {
			if a, b := m.Means().At(l, i), truth.Means().At(c, i); !(math.Abs(a-b) < 6*math.Sqrt(want.At(i, i)/nc)) {
				t.Errorf("mean (%d, %d) = %v, want %v", c, i, a, b)
			}
			for j := range d {
				if a, b := got.At(i, j), want.At(i, j); !(math.Abs(a-b) < 6*math.Sqrt(2*want.At(i, i)*want.At(j, j)/nc)) {
					t.Errorf("covariance %d (%d, %d) = %v, want %v", c, i, j, a, b)
				}
			}
		}
	}
}

// TestFitConverges checks the path and the end of fits that are easy, that
// overlap, that have too many components, and that collapse.
func TestFitConverges(t *testing.T) {
	for _, c := range []struct {
		n, d, k, fit int
		spread       float64
		prior        Prior
	}{
		{n: 2000, d: 3, k: 3, fit: 3, spread: 4},
		{n: 1000, d: 2, k: 3, fit: 3, spread: 1},
		{n: 1000, d: 5, k: 2, fit: 4, spread: 1, prior: Prior{Gamma: 1, M: 3}},
		{n: 500, d: 1, k: 2, fit: 5, spread: 2},
		{n: 60, d: 4, k: 2, fit: 12, spread: 1},
		{n: 10, d: 2, k: 2, fit: 10, spread: 1},
		{n: 1, d: 1, k: 1, fit: 1, spread: 1, prior: Prior{Gamma: 1}},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			truth := randomMixture(t, rand.New(rand.NewPCG(3, 3)), c.k, c.d, c.spread)
			x, _ := truth.Sample(c.n, rand.NewPCG(3, 4))
			kept := mat.DenseCopyOf(x)
			m, r, err := Fit(t.Context(), x, c.fit, &Options{Prior: c.prior, Polish: true})
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, r)
			best := r.Starts[r.Best]
			if !best.Converged {
				t.Fatalf("not converged:\n%v", r)
			}
			if !mat.Equal(x, kept) {
				t.Error("x was modified")
			}
			// The gradient is zero as far as its terms, sums over n points,
			// allow: in units of the standard errors of the parameters.
			f, err := newFit(x, c.fit, &Options{Prior: c.prior})
			if err != nil {
				t.Fatal(err)
			}
			polished := &polisher{fit: f, model: f.model, floors: m.Weights()}
			floats.Scale(f.reg*float64(c.n), polished.floors)
			var around localCoordinates
			p := m.Params()
			grad, u := make([]float64, len(p)), make([]float64, len(p))
			value := polished.funcGrad(grad, p)
			if v := f.model.Func(p); !(math.Abs(v+best.LogPosterior) <= 1e-9*math.Abs(v)) {
				t.Errorf("log posterior %v, report says %v", -v, best.LogPosterior)
			}
			around.set(p, f.model)
			around.gradient(u, grad)
			if norm := floats.Norm(u, 2); norm > 2e-4 {
				t.Errorf("gradient %v", norm)
			}
			// No parameters nearby are better.
			rnd := rand.New(rand.NewPCG(3, 5))
			for range 20 {
				v := normals(rnd, len(p))
				floats.Scale(1e-2/floats.Norm(v, 2), v)
				at := make([]float64, len(p))
				around.params(at, v)
				if got := polished.funcGrad(nil, at); got < value-1e-7 {
					t.Errorf("nearby is %v, which is better than %v", -got, -value)
				}
			}
		})
	}
}

// TestRegCovar checks that RegCovar does not depend on the weights of components: points of
// one cluster keep all components.
func TestRegCovar(t *testing.T) {
	x := mat.NewDense(500, 3, normals(rand.New(rand.NewPCG(3, 20)), 1500))
	for _, kind := range kinds {
		m, _, err := Fit(t.Context(), x, 3, &Options{Covariance: kind, RegCovar: 0.5, Polish: kind == Full})
		if err != nil {
			t.Fatal(err)
		}
		for c, w := range m.Weights() {
			if w < 0.1 {
				t.Errorf("%v: weights %v, want none that vanishes", kind, m.Weights())
			}
			for j := range 3 {
				if v := m.Covariances()[c].At(j, j); v < 0.5 || v > 2 {
					t.Errorf("%v: variance %v, want at least RegCovar, and at most that of the points and RegCovar", kind, v)
				}
			}
		}
	}
}

// TestPolishRegCovar checks that the polish ends where steps of EM would.
func TestPolishRegCovar(t *testing.T) {
	x, _ := randomMixture(t, rand.New(rand.NewPCG(3, 21)), 3, 2, 10).Sample(500, rand.NewPCG(3, 22))
	opts := &Options{RegCovar: 0.3, Polish: true, InitMeans: mat.NewDense(3, 2, x.RawMatrix().Data[:6])}
	m, r, err := Fit(t.Context(), x, 3, opts)
	if err != nil || !r.Starts[0].Converged || r.Starts[0].Polish == 0 {
		t.Fatalf("%v\n%v", err, r)
	}
	opts = &Options{RegCovar: 0.3, Init: m, MaxIter: 100, Tolerance: -1}
	further, _, err := Fit(t.Context(), x, 3, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(m.Params(), further.Params(), 1e-4) {
		t.Errorf("polished %v, after steps of EM %v", m, further)
	}
}

// TestLocal checks the local coordinates: gradient is the transpose of params,
// and the Hessian of a single component at its maximum is the identity.
func TestLocal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 7))
	for _, d := range []int{1, 2, 5} {
		m, x := randomModel(rnd, 200, d, 3)
		n := m.Dim()
		var c localCoordinates
		c.set(x, m)
		at, back, v, g := make([]float64, n), make([]float64, n), normals(rnd, n), normals(rnd, n)
		c.params(at, make([]float64, n))
		if !slices.Equal(at, x) {
			t.Error("the origin is not at x")
		}
		c.params(at, v)
		floats.Sub(at, x)
		c.gradient(back, g)
		if a, b := floats.Dot(g, at), floats.Dot(back, v); !(math.Abs(a-b) <= 1e-12*(1+math.Abs(a))) {
			t.Errorf("d=%d: ⟨g, Tv⟩ = %v, ⟨Tᵀg, v⟩ = %v", d, a, b)
		}

		mix := randomMixture(t, rnd, 1, d, 1)
		points, _ := mix.Sample(500, rnd)
		best, _, err := Fit(t.Context(), points, 1, &Options{Prior: Prior{Gamma: 1.5, M: 7}, Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		m = NewModel(points, 1, Prior{Gamma: 1.5, M: 7})
		x = best.Params()
		n = m.Dim()
		c.set(x, m)
		at, hv, row := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := 1; i < n; i++ { // the log weight is idle
			unit := make([]float64, n)
			unit[i] = 1
			c.params(at, unit)
			floats.Sub(at, x)
			m.HessVec(hv, x, at)
			c.gradient(row, hv)
			if !floats.EqualApprox(row, unit, 0.02) { // M shifts the mean block a little
				t.Errorf("d=%d: row %d of the Hessian is %v", d, i, row)
			}
		}
	}
}

// TestFitAffine checks that the units of the columns, their correlation and
// their origin do not matter.
func TestFitAffine(t *testing.T) {
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 8)), 3, 2, 1)
	x, _ := truth.Sample(1000, rand.NewPCG(3, 9))
	start := mat.NewDense(3, 2, nil)
	start.CloneFrom(x.Slice(0, 3, 0, 2))
	fit := func(a *mat.Dense, shift float64) (float64, []int) {
		move := func(x *mat.Dense) *mat.Dense {
			var y mat.Dense
			y.Mul(x, a)
			y.Apply(func(_, _ int, v float64) float64 { return v + shift }, &y)
			return &y
		}
		m, r, err := Fit(t.Context(), move(x), 3, &Options{RegCovar: -1, InitMeans: move(start), Polish: true})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Starts[0].Converged {
			t.Errorf("not converged:\n%v", r)
		}
		return r.Starts[0].LogLikelihood + 1000*math.Log(math.Abs(mat.Det(a))), m.Predict(move(x))
	}
	want, labels := fit(mat.NewDense(2, 2, []float64{1, 0, 0, 1}), 0)
	for _, a := range [][]float64{{1e6, 0, 0, 1e-6}, {-3, 0, 0, 1e-9}} {
		got, l := fit(mat.NewDense(2, 2, a), 0)
		if !(math.Abs(got-want) <= 1e-6) || !slices.Equal(l, labels) {
			t.Errorf("%v: log-likelihood %v, want %v", a, got, want)
		}
	}
	if got, l := fit(mat.NewDense(2, 2, []float64{1, 0, 0, 1}), 1e4); !(math.Abs(got-want) <= 1e-6) || !slices.Equal(l, labels) {
		t.Errorf("shifted: log-likelihood %v, want %v", got, want)
	}
}

// Clusters lie far apart in one column, and the others are noise. With all columns at unit
// variance the noise divides the points. As they are, the first column does.
func TestFitScales(t *testing.T) {
	const n, d, k = 600, 10, 4
	rnd := rand.New(rand.NewPCG(16, 2))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rnd.NormFloat64())
		}
		x.Set(i, 0, x.At(i, 0)+float64(20*(i%k)))
	}
	m, r, err := Fit(context.Background(), x, k, nil)
	if err != nil || len(r.Starts) < 2 {
		t.Fatalf("%v:\n%v", err, r)
	}
	if labels := m.Predict(x); !sameClusters(labels, cycle(n, k), k) {
		t.Errorf("the clusters are not found:\n%v", r)
	}
	if r.Best != 1 || !(r.Starts[1].LogLikelihood > r.Starts[0].LogLikelihood+100) {
		t.Errorf("scaled columns do as well:\n%v", r)
	}
}

// cycle returns 0, ..., k-1, 0, ..., n numbers in all.
func cycle(n, k int) []int {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % k
	}
	return labels
}

func TestSameClusters(t *testing.T) {
	for _, c := range []struct {
		a, b []int
		want bool
	}{
		{[]int{0, 1, 2, 1}, []int{2, 0, 1, 0}, true},
		{[]int{0, 1, 2, 1}, []int{2, 0, 1, 1}, false},
		{[]int{0, 1, 2, 2}, []int{0, 1, 1, 1}, false},
		{[]int{0, 0, 1, 1}, []int{0, 1, 2, 2}, false},
	} {
		if got := sameClusters(c.a, c.b, 3); got != c.want {
			t.Errorf("%v and %v: %v", c.a, c.b, got)
		}
	}
}

// TestFitSame checks that fits are the same on any number of workers and from
// any kind of matrix, and differ with the seed.
func TestFitSame(t *testing.T) {
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 10)), 3, 2, 1)
	x, _ := truth.Sample(3000, rand.NewPCG(3, 11))
	first := func(x mat.Matrix, o Options) *Report {
		o.Starts, o.MaxIter = 2, 20
		_, r, err := Fit(t.Context(), x, 9, &o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := first(x, Options{Workers: 1, Source: rand.NewPCG(1, 1)})
	same := func(r *Report) bool {
		return slices.EqualFunc(r.Starts, want.Starts, func(a, b Start) bool { return slices.Equal(a.History, b.History) })
	}
	wide := mat.NewDense(3000, 5, nil)
	wide.Slice(0, 3000, 2, 4).(*mat.Dense).Copy(x)
	for name, r := range map[string]*Report{
		"two workers":   first(x, Options{Workers: 2, Source: rand.NewPCG(1, 1)}),
		"seven workers": first(x, Options{Workers: 7, Source: rand.NewPCG(1, 1)}),
		"slice":         first(wide.Slice(0, 3000, 2, 4), Options{Source: rand.NewPCG(1, 1)}),
		"bare":          first(bare{x}, Options{Source: rand.NewPCG(1, 1)}),
		"transposed":    first(mat.DenseCopyOf(x.T()).T(), Options{Source: rand.NewPCG(1, 1)}),
	} {
		if !same(r) {
			t.Errorf("%s: another fit", name)
		}
	}
	if same(first(x, Options{Source: rand.NewPCG(1, 2)})) {
		t.Error("the seed makes no difference")
	}
}

func TestFitStart(t *testing.T) {
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 12)), 3, 2, 3)
	x, _ := truth.Sample(2000, rand.NewPCG(3, 13))
	m, r, err := Fit(t.Context(), x, 3, &Options{Polish: true})
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := Fit(t.Context(), x, 3, &Options{Init: m})
	if err != nil {
		t.Fatal(err)
	}
	if s := again.Starts[0]; len(again.Starts) != 1 || s.Iterations > 2 || !(math.Abs(s.LogPosterior-r.Starts[r.Best].LogPosterior) <= 1e-7) {
		t.Errorf("from the fit:\n%v", again)
	}
	// A component of weight 0 can come alive.
	covs, means := m.Covariances(), m.Means()
	start, err := NewMixture([]float64{0.5, 0.5, 0}, means, covs)
	if err != nil {
		t.Fatal(err)
	}
	_, again, err = Fit(t.Context(), x, 3, &Options{Init: start})
	if err != nil || !again.Starts[0].Converged {
		t.Errorf("from a weight of 0: %v\n%v", err, again)
	}
	// The order of InitMeans is kept.
	turned := mat.NewDense(3, 2, nil)
	for c := range 3 {
		turned.SetRow(c, mat.Row(nil, (c+1)%3, means))
	}
	got, again, err := Fit(t.Context(), x, 3, &Options{InitMeans: turned, Polish: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Starts) != 1 || !mat.EqualApprox(got.Means(), turned, 1e-3) {
		t.Errorf("from the means %v: the means %v", mat.Formatted(turned), mat.Formatted(got.Means()))
	}
}

func TestFitMaxIter(t *testing.T) {
	few := mat.NewDense(9, 1, normals(rand.New(rand.NewPCG(3, 23)), 9))
	if _, r, err := Fit(t.Context(), few, 2, &Options{MaxIter: -1}); err != nil || r.Starts[0].Iterations != 0 || len(r.Starts[0].History) != 1 {
		t.Errorf("MaxIter -1: %v\n%v", err, r)
	}
	if _, r, err := Fit(t.Context(), few, 2, &Options{MaxIter: 200, Tolerance: -1}); err != nil || r.Starts[0].Iterations != 200 {
		t.Errorf("Tolerance -1: %v\n%v", err, r)
	}
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 14)), 3, 2, 0.5)
	x, _ := truth.Sample(500, rand.NewPCG(3, 15))
	for _, most := range []int{1, 2, 7, 30, 60} {
		_, r, err := Fit(t.Context(), x, 5, &Options{MaxIter: most, Tolerance: 1e-300})
		if err != nil {
			t.Fatal(err)
		}
		checkReport(t, r)
		for _, s := range r.Starts {
			if s.Iterations > most {
				t.Errorf("MaxIter %d: %d iterations", most, s.Iterations)
			}
			if most == 1 && (s.Converged || s.Err != nil) {
				t.Errorf("MaxIter 1: converged %v, error %v", s.Converged, s.Err)
			}
		}
	}
}

func TestFitCollapse(t *testing.T) {
	// A hundred ordinary points, and twenty that are one point.
	x := mat.NewDense(120, 2, normals(rand.New(rand.NewPCG(3, 16)), 240))
	for i := range 20 {
		x.SetRow(i, []float64{8, 8})
	}
	m, r, err := Fit(t.Context(), x, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	label := m.Predict(x)[0]
	if got := r.Starts[r.Best].Collapsed; !slices.Equal(got, []int{label}) {
		t.Errorf("collapsed: %v, want component %d\n%v", got, label, r)
	}
	if !strings.Contains(r.String(), fmt.Sprintf("collapsed: [%d]", label)) {
		t.Errorf("report:\n%v", r)
	}
	_, r, err = Fit(t.Context(), x, 2, &Options{RegCovar: -1})
	var singular *rev.NotPositiveDefiniteError
	if !errors.As(err, &singular) {
		t.Errorf("error %v without regularisation", err)
	}
	if r == nil || r.Best != -1 || len(r.Starts) != 1 || !errors.As(r.Starts[0].Err, &singular) {
		t.Errorf("report:\n%v", r)
	}

	// Points that all are one point, a column that does not vary, and one that
	// is a multiple of another.
	same := mat.NewDense(30, 2, nil)
	same.Apply(func(int, int, float64) float64 { return 0.1 }, same)
	if _, _, err := Fit(t.Context(), same, 2, nil); !errors.As(err, &singular) {
		t.Errorf("error %v for equal points", err)
	}
	if _, _, err := Fit(t.Context(), same, 2, &Options{RegCovar: 1e-3}); err != nil {
		t.Errorf("error %v for equal points and RegCovar", err)
	}
	for i := range 30 {
		same.Set(i, 0, float64(i))
	}
	if _, _, err := Fit(t.Context(), same, 2, nil); err != nil {
		t.Errorf("error %v for a constant column", err)
	}
	if _, _, err := Fit(t.Context(), same, 2, &Options{RegCovar: -1}); !errors.As(err, &singular) || !strings.Contains(err.Error(), "column 1 does not vary") {
		t.Errorf("error %v for a constant column without regularisation", err)
	}
	for i := range 30 {
		same.Set(i, 1, 3*float64(i))
	}
	if _, _, err := Fit(t.Context(), same, 2, nil); err != nil {
		t.Errorf("error %v for collinear columns", err)
	}
}

func TestFitErrors(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 17))
	good := mat.NewDense(10, 2, normals(rnd, 20))
	with := func(i, j int, v float64) *mat.Dense {
		x := mat.DenseCopyOf(good)
		x.Set(i, j, v)
		return x
	}
	nan := math.NaN()
	start := randomMixture(t, rnd, 2, 3, 1)
	for _, c := range []struct {
		x    mat.Matrix
		k    int
		o    Options
		want string
	}{
		{good, 0, Options{}, "0 components, want at least 1"},
		{good, -3, Options{}, "-3 components"},
		{good, 11, Options{}, "11 components for 10 points"},
		{&mat.Dense{}, 1, Options{}, "no points"},
		{bareEmpty{}, 1, Options{}, "no points"},
		{with(7, 1, nan), 2, Options{}, "the data has NaN in row 7, column 1"},
		{with(0, 0, math.Inf(-1)), 2, Options{}, "the data has -Inf in row 0, column 0"},
		{bare{with(3, 0, nan)}, 2, Options{}, "the data has NaN in row 3, column 0"},
		{with(3, 1, 1e200), 2, Options{}, "the variance of column 1 is +Inf, out of range"},
		{with(3, 1, 1e150), 2, Options{}, "the variance of column 1 is 9"},
		{mat.NewDense(2, 2, []float64{1, 1e-160, 2, -1e-160}), 2, Options{}, "the variance of column 1 is 1e-320, out of range"},
		{good, 2, Options{Starts: -1}, "negative"},
		{good, 2, Options{Workers: -1}, "negative"},
		{good, 2, Options{Tolerance: nan}, "Tolerance is NaN"},
		{good, 2, Options{RegCovar: nan}, "RegCovar is NaN"},
		{good, 2, Options{RegCovar: math.Inf(1)}, "RegCovar is +Inf"},
		{good, 2, Options{Prior: Prior{Gamma: -1}}, "Gamma -1"},
		{good, 2, Options{Prior: Prior{Gamma: nan}}, "Gamma NaN"},
		{good, 2, Options{Prior: Prior{Gamma: 1, M: -1}}, "M -1"},
		{good, 2, Options{Prior: Prior{M: 1}}, "Gamma 0"},
		{good, 2, Options{Prior: Prior{Gamma: 1, Sign: ADBench}}, "ADBench's sign"},
		{good, 2, Options{Prior: Prior{Gamma: 1}, RegCovar: 1}, "both RegCovar and Prior"},
		{good, 2, Options{Init: start}, "Init has 2 components in 3 dimensions, want 2 in 2"},
		{good, 2, Options{InitMeans: mat.NewDense(2, 3, nil)}, "InitMeans is 2×3, want 2×2"},
		{good, 2, Options{InitMeans: mat.NewDense(2, 2, []float64{0, 0, 0, nan})}, "InitMeans has NaN in row 1, column 1"},
		{bare{mat.NewDense(5, 3, normals(rnd, 15))}, 2, Options{Init: start, InitMeans: mat.NewDense(2, 3, nil)}, "both InitMeans and Init"},
	} {
		m, _, err := Fit(t.Context(), c.x, c.k, &c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		if m != nil {
			t.Errorf("%s: got a mixture too", c.want)
		}
	}
}

// countdown is a context that is done after Err has been asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestFitCancel(t *testing.T) {
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 18)), 4, 2, 0.5)
	x, _ := truth.Sample(400, rand.NewPCG(3, 19))
	ctx := func(n int) *countdown { return &countdown{context.Background(), n} }
	if m, r, err := Fit(ctx(0), x, 4, nil); !errors.Is(err, context.Canceled) || m != nil || len(r.Starts) != 0 {
		t.Errorf("cancelled before: %v, %v", m, err)
	}
	var with, without bool
	for n := 1; n < 200; n += 3 {
		m, r, err := Fit(ctx(n), x, 4, nil)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if (m != nil) != (r.Best >= 0) {
			t.Errorf("cancelled after %d: mixture %v, best start %d", n, m != nil, r.Best)
		}
		with, without = with || m != nil, without || m == nil
		if len(r.Starts) == 0 {
			continue // while the points were clustered
		}
		if last := r.Starts[len(r.Starts)-1]; !last.Converged && (r.Best < 0 || last.LogPosterior > r.Starts[r.Best].LogPosterior) && !errors.Is(last.Err, context.Canceled) {
			t.Errorf("the start that was cancelled says %v", last.Err)
		}
	}
	if !with || !without {
		t.Error("cancelled only early or only late")
	}
}

func TestReportString(t *testing.T) {
	r := &Report{Best: 1, Starts: []Start{
		{Err: notDefinite(2, 1, -3)},
		{Iterations: 17, Polish: 14, LogLikelihood: -12.5, LogPosterior: -13.25, Gain: 1e-9, Converged: true, Duration: 1500000},
		{Iterations: 9, LogLikelihood: -14, LogPosterior: -15, Gain: 2, Reseeded: 1, Collapsed: []int{0, 2}},
	}}
	const want = `   start  iterations   log-likelihood    log posterior      gain      time
       0           0                -                -         -        0s  gmm: covariance of component 2: matrix not positive definite: pivot 1 is -3
       1          17       -12.500000       -13.250000   1.0e-09     1.5ms  best  14 iterations of polish
       2           9       -14.000000       -15.000000   2.0e+00        0s  not converged  1 reseeded  collapsed: [0 2]
`
	if got := r.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestGivenUp begins a fit beside a better one. It ends early only if the better one has no collapsed
// components: with some, it may not be better.
func TestGivenUp(t *testing.T) {
	truth := randomMixture(t, rand.New(rand.NewPCG(3, 5)), 3, 2, 1)
	x, _ := truth.Sample(500, rand.NewPCG(3, 6))
	for _, c := range []struct {
		reg       float64
		collapsed []int
		converges bool
	}{{0, nil, false}, {0, []int{1}, true}, {1e-9, []int{1}, false}} {
		f, err := newFit(x, 3, &Options{RegCovar: c.reg})
		if err != nil {
			t.Fatal(err)
		}
		f.keep(truth, Start{LogPosterior: 1e9, Collapsed: c.collapsed})
		_, r := f.climb(t.Context(), time.Now(), 1, Start{}, func() error { return f.em.start(truth) })
		if r.Err != nil || r.Converged != c.converges {
			t.Errorf("RegCovar %v, collapsed %v: converged %v, %v", c.reg, c.collapsed, r.Converged, r.Err)
		}
	}
}

// TestFitOutlier compares the log likelihood that a fit claims with that of its mixture, where one
// point lies so far out that squares about the middle of the points have no digits left for the others.
func TestFitOutlier(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 14))
	x := mat.NewDense(300, 2, normals(rnd, 600))
	x.SetRow(0, []float64{1e6, 1e6})
	for _, kind := range []Covariance{Full, Tied, Diagonal, Spherical} {
		m, r, err := Fit(t.Context(), x, 3, &Options{Covariance: kind, RegCovar: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		var want float64
		for i := range 300 {
			want += floats.LogSumExp(byDefinition(m, x.RawRowView(i)))
		}
		if got := r.Starts[r.Best].LogLikelihood; !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("%v: log likelihood %v, want %v", kind, got, want)
		}
		if got := m.LogLikelihood(x); !(math.Abs(got-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("%v: LogLikelihood = %v, want %v", kind, got, want)
		}
	}
}

// TestFarVariances fits components whose distances are up to 1e12 times their standard deviations, so that squares
// about one origin have nothing left of the variances.
func TestFarVariances(t *testing.T) {
	const n = 300
	for _, kind := range []Covariance{Diagonal, Spherical} {
		for _, far := range []float64{1e3, 1e7, 1e9, 1e12} {
			rnd := rand.New(rand.NewPCG(5, 1))
			x := mat.NewDense(n, 2, nil)
			var sum, squares [3][2]float64
			for i := range n {
				for j := range 2 {
					v := math.Round(rnd.NormFloat64()*64) / 64 // so that it is exact beside far
					x.Set(i, j, v+far*float64(i%3*(1-2*j)))
					sum[i%3][j] += v
					squares[i%3][j] += v * v
				}
			}
			m, _, err := Fit(t.Context(), x, 3, &Options{Covariance: kind, RegCovar: 1e-9})
			if err != nil {
				t.Fatal(err)
			}
			labels := m.Predict(x)
			for c := range 3 {
				var want [2]float64
				for j := range want {
					mean := sum[c][j] / (n / 3)
					want[j] = squares[c][j]/(n/3) - mean*mean
				}
				if kind == Spherical {
					want[0] = (want[0] + want[1]) / 2
					want[1] = want[0]
				}
				for j, w := range want {
					if v := m.Covariances()[labels[c]].At(j, j); !(math.Abs(v-w) <= 1e-6*w) {
						t.Errorf("%v, %g apart: variance %d of component %d is %v, want %v", kind, far, j, c, v, w)
					}
				}
			}
		}
	}
}

// TestWideStart begins with covariances up to a thousand times wider than the clusters are. The first step makes them
// narrow, so that squares about one origin have nothing left of the variances.
func TestWideStart(t *testing.T) {
	const n = 300
	again := 0
	for _, kind := range []Covariance{Diagonal, Spherical} {
		for _, far := range []float64{1e3, 1e6, 1e8} {
			rnd := rand.New(rand.NewPCG(1, 2))
			x := mat.NewDense(n, 2, nil)
			for i := range n {
				for j := range 2 {
					x.Set(i, j, []float64{far, -far, 0}[i%3]+rnd.NormFloat64())
				}
			}
			for _, ratio := range []float64{30, 300, 1000} {
				v := far / ratio * far / ratio
				cov := mat.NewSymDense(2, []float64{v, 0, 0, v})
				init, err := NewMixtureOf(kind, []float64{0.3, 0.3, 0.4}, mat.NewDense(3, 2, []float64{far, far, -far, -far, 0, 0}), []*mat.SymDense{cov, cov, cov})
				if err != nil {
					t.Fatal(err)
				}
				for _, reg := range []float64{-1, 1e-6} {
					for _, steps := range []int{1, 100} {
						opts := &Options{Covariance: kind, Init: init, RegCovar: reg, MaxIter: steps}
						m, _, err := Fit(t.Context(), x, 3, opts)
						if err != nil {
							t.Fatalf("%v, %g apart, %g times wider, RegCovar %g, %d steps: %v", kind, far, far/ratio, reg, steps, err)
						}
						of, _, err := FitPoints(t.Context(), &pieces{x: x, block: 90}, 3, opts, nil)
						if err != nil {
							t.Fatalf("%v, %g apart, in pieces: %v", kind, far, err)
						}
						checkVariances(t, m, x, max(reg, 0), fmt.Sprintf("%g apart, %g times wider, RegCovar %g, %d steps", far, far/ratio, reg, steps))
						checkVariances(t, of, x, max(reg, 0), fmt.Sprintf("%g apart, %g times wider, RegCovar %g, %d steps in pieces", far, far/ratio, reg, steps))
					}
				}
				s, err := NewStepper(n, []float64{0, 0}, []float64{1, 1}, 3, &Options{Covariance: kind, Init: init, RegCovar: 1e-6}, nil)
				if err != nil {
					t.Fatal(err)
				}
				e := s.Expectation()
				moments := make([]float64, e.Len())
				e.Moments(moments, rev.ViewDense(x))
				if _, err := s.Step(moments); err != nil {
					again++
					s.Expectation().Moments(moments, rev.ViewDense(x))
					if _, err := s.Step(moments); err != nil {
						t.Fatalf("%v, %g apart, by a Stepper: %v", kind, far, err)
					}
				}
				m, err := s.Mixture()
				if err != nil {
					t.Fatal(err)
				}
				checkVariances(t, m, x, 1e-6, fmt.Sprintf("%g apart, by a Stepper", far))
			}
		}
	}
	if again == 0 {
		t.Error("no Stepper has asked for other moments")
	}
}

// checkVariances compares the variances of m, whose component c has every third row of x from row c on, with
// those of these rows, and reg more.
func checkVariances(t *testing.T, m *Mixture, x *mat.Dense, reg float64, what string) {
	t.Helper()
	n, d := x.Dims()
	for c := range 3 {
		want := make([]float64, d)
		for j := range want {
			var column []float64
			for i := c; i < n; i += 3 {
				column = append(column, x.At(i, j))
			}
			want[j] = stat.PopVariance(column, nil)
		}
		if m.kind == Spherical {
			mean := floats.Sum(want) / float64(d)
			for j := range want {
				want[j] = mean
			}
		}
		for j, w := range want {
			if v := m.Covariances()[c].At(j, j) - reg; !(math.Abs(v-w) <= 1e-8*w) {
				t.Errorf("%v, %s: variance %d of component %d is %v, want %v", m.kind, what, j, c, v, w)
			}
		}
	}
}
