package gmm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/long"
	"revnum/internal/objective"
)

// ofKind returns a mixture like m with covariances of the given kind.
func ofKind(t *testing.T, m *Mixture, kind Covariance) *Mixture {
	t.Helper()
	covs := m.Covariances()
	for c, cov := range covs {
		for i := range m.Dim() {
			for j := range i + 1 {
				switch {
				case kind == Tied:
					cov.SetSym(i, j, covs[0].At(i, j))
				case kind != Full && i != j:
					cov.SetSym(i, j, 0)
				case kind == Spherical:
					cov.SetSym(i, i, covs[c].At(0, 0))
				}
			}
		}
	}
	m, err := newMixture(kind, m.Weights(), m.Means(), covs)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var kinds = []Covariance{Full, Tied, Diagonal, Spherical}

// TestStep checks a step of EM against the textbook's two steps.
func TestStep(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 6))
	for _, prior := range []Prior{{}, {Gamma: 0.7}, {Gamma: 1.3, M: 4}} {
		for _, s := range [][3]int{{50, 1, 2}, {80, 2, 3}, {700, 7, 2}, {2000, 17, 3}} {
			for _, kind := range kinds {
				testStep(t, rnd, prior, 0, kind, s[0], s[1], s[2], false)
				testStep(t, rnd, prior, 0.25, kind, s[0], s[1], s[2], true)
			}
		}
	}
}

func testStep(t *testing.T, rnd *rand.Rand, prior Prior, reg float64, kind Covariance, n, d, k int, weighted bool) {
	t.Helper()
	m := ofKind(t, randomMixture(t, rnd, k, d, 1), kind)
	x := mat.NewDense(n, d, normals(rnd, n*d))
	var v []float64
	total := float64(n)
	if weighted {
		v = make([]float64, n)
		for i := range v {
			v[i] = float64(rnd.IntN(4))
		}
		total = floats.Sum(v)
	}
	weight := func(i int) float64 {
		if v == nil {
			return 1
		}
		return v[i]
	}
	e := newEM(objective.View(x), v, k, kind, prior, 2)
	e.reg = reg
	if err := e.start(m); err != nil {
		t.Fatal(err)
	}

	// The log posterior is that of the kernel, of a mixture with full covariances.
	var want float64
	full := *m
	full.kind = Full
	for i, l := range full.ScoreSamples(x) {
		want += weight(i) * l
	}
	if got := e.expect(true); !(math.Abs(got-want) <= 1e-11*math.Abs(want)) {
		t.Errorf("%v n=%d d=%d: log-likelihood %v, want %v", kind, n, d, got, want)
	}
	if v == nil {
		want = -(&Model[float64]{X: objective.View(x), K: k, Prior: prior}).Func(m.params)
		if got := e.expect(true) + e.logPrior(); !(math.Abs(got-want) <= 1e-11*math.Abs(want)) {
			t.Errorf("%v n=%d d=%d: log posterior %v, want %v", kind, n, d, got, want)
		}
	}
	if err := e.maximise(); err != nil {
		t.Fatal(err)
	}
	got, err := e.mixture()
	if err != nil {
		t.Fatal(err)
	}

	resp := full.Responsibilities(x)
	weights, means, covs := make([]float64, k), make([][]float64, k), make([]*mat.SymDense, k)
	for c := range k {
		means[c], covs[c] = make([]float64, d), mat.NewSymDense(d, nil)
		for i := range n {
			weights[c] += weight(i) * resp.At(i, c)
			floats.AddScaled(means[c], weight(i)*resp.At(i, c), x.RawRowView(i))
		}
		floats.Scale(1/weights[c], means[c])
		for i := range d {
			covs[c].SetSym(i, i, prior.Gamma*prior.Gamma)
		}
		for i := range n {
			dev := floats.SubTo(make([]float64, d), x.RawRowView(i), means[c])
			covs[c].SymRankOne(covs[c], weight(i)*resp.At(i, c), mat.NewVecDense(d, dev))
		}
	}
	pooled := mat.NewSymDense(d, nil)
	for c := range k {
		pooled.AddSym(pooled, covs[c])
		covs[c].ScaleSym(1/(weights[c]+float64(prior.M)), covs[c])
	}
	for c := range k {
		cov := covs[c]
		switch kind {
		case Tied:
			cov.ScaleSym(1/(total+float64(prior.M*k)), pooled)
		case Diagonal, Spherical:
			trace := mat.Trace(cov)
			for i := range d {
				for j := range i {
					cov.SetSym(i, j, 0)
				}
				if kind == Spherical {
					cov.SetSym(i, i, trace/float64(d))
				}
			}
		}
		for i := range d {
			cov.SetSym(i, i, cov.At(i, i)+reg)
		}
		if a := got.Weights()[c]; !(math.Abs(a-weights[c]/total) <= 1e-12) {
			t.Errorf("%v %v: weight %d = %v, want %v", kind, prior, c, a, weights[c]/total)
		}
		if a := mat.Row(nil, c, got.Means()); !floats.EqualApprox(a, means[c], 1e-11) {
			t.Errorf("%v %v: mean %d = %v, want %v", kind, prior, c, a, means[c])
		}
		if a := got.Covariances()[c]; !mat.EqualApprox(a, cov, 1e-11) {
			t.Errorf("%v %v: covariance %d = %v, want %v", kind, prior, c, mat.Formatted(a), mat.Formatted(cov))
		}
	}
}

// TestKinds fits mixtures with each kind of covariance to points drawn from one.
func TestKinds(t *testing.T) {
	const d, k = 4, 3
	n := long.Or(5000, 1500)
	for _, kind := range kinds {
		truth := ofKind(t, randomMixture(t, rand.New(rand.NewPCG(6, 1)), k, d, 3), kind)
		x, _ := truth.Sample(n, rand.NewPCG(6, 2))
		likelihoods := make(map[Covariance]float64)
		least, best := math.Inf(1), Full
		for _, other := range kinds {
			m, r, err := Fit(t.Context(), x, k, &Options{Covariance: other, Tolerance: 1e-9})
			if err != nil {
				t.Fatal(err)
			}
			checkReport(t, r)
			if m.Covariance() != other || other.check(m.covs) != nil {
				t.Errorf("%v: covariances are %v: %v", other, m.Covariance(), other.check(m.covs))
			}
			if got := r.Starts[r.Best].LogLikelihood; !(math.Abs(got-m.LogLikelihood(x)) <= 1e-9*math.Abs(got)) {
				t.Errorf("%v: log-likelihood %v, want %v", other, got, m.LogLikelihood(x))
			}
			likelihoods[other] = m.LogLikelihood(x)
			if bic := m.BIC(x); bic < least {
				least, best = bic, other
			}
		}
		if best != kind {
			t.Errorf("the points are of %v covariances, and the least BIC is that of %v", kind, best)
		}
		if likelihoods[kind] < truth.LogLikelihood(x) {
			t.Errorf("%v: log-likelihood %v, that of the truth %v", kind, likelihoods[kind], truth.LogLikelihood(x))
		}
		// A more general kind is no worse.
		for _, pair := range [][2]Covariance{{Spherical, Diagonal}, {Diagonal, Full}, {Tied, Full}} {
			if a, b := likelihoods[pair[0]], likelihoods[pair[1]]; a > b+1e-3 {
				t.Errorf("log-likelihood %v of %v covariances, %v of %v ones", a, pair[0], b, pair[1])
			}
		}
	}
}

// TestWeights compares weights with points that are there so many times.
func TestWeights(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 3))
	truth := randomMixture(t, rnd, 3, 2, 3)
	x, _ := truth.Sample(900, rnd)
	v := make([]float64, 900)
	var many []float64
	for i := range v {
		v[i] = float64(rnd.IntN(4))
		for range int(v[i]) {
			many = append(many, x.RawRowView(i)...)
		}
	}
	repeated := mat.NewDense(len(many)/2, 2, many)
	for _, kind := range kinds {
		opts := Options{Covariance: kind, Init: ofKind(t, truth, kind), RegCovar: 1e-3, Tolerance: 1e-9}
		want, _, err := Fit(t.Context(), repeated, 3, &opts)
		if err != nil {
			t.Fatal(err)
		}
		opts.Weights = v
		got, _, err := Fit(t.Context(), x, 3, &opts)
		if err != nil {
			t.Fatal(err)
		}
		if !floats.EqualApprox(got.Params(), want.Params(), 1e-8) {
			t.Errorf("%v: parameters %v, want %v", kind, got.Params(), want.Params())
		}
	}
	// From clusters, too.
	m, _, err := Fit(t.Context(), x, 3, &Options{Weights: v})
	if err != nil || m.LogLikelihood(repeated) < truth.LogLikelihood(repeated) {
		t.Errorf("%v, %v", m, err)
	}
}

// TestTiedFar begins with a component so far from all points that the inverse of its weight
// overflows, or that it has none.
func TestTiedFar(t *testing.T) {
	x := mat.NewDense(6, 1, []float64{-1, -0.5, -0.25, 0.25, 0.5, 1})
	one := mat.NewSymDense(1, []float64{1})
	for far := 37.0; far < 41; far += 0.25 {
		init, err := NewMixture([]float64{0.5, 0.5}, mat.NewDense(2, 1, []float64{0, far}), []*mat.SymDense{one, one})
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := Fit(t.Context(), x, 2, &Options{Init: init, Covariance: Tied})
		if err != nil || math.IsNaN(m.LogLikelihood(x)) {
			t.Errorf("a mean at %v: %v", far, err)
		}
	}
}

// TestReseed begins with a component that no point belongs to.
func TestReseed(t *testing.T) {
	x, _ := randomMixture(t, rand.New(rand.NewPCG(6, 4)), 4, 3, 6).Sample(3000, rand.NewPCG(6, 5))
	for _, kind := range kinds {
		whole, _, err := Fit(t.Context(), x, 4, &Options{Covariance: kind})
		if err != nil {
			t.Fatal(err)
		}
		means := whole.Means()
		means.SetRow(2, []float64{1e4, 1e4, 1e4})
		init, err := newMixture(kind, whole.Weights(), means, whole.Covariances())
		if err != nil {
			t.Fatal(err)
		}
		m, r, err := Fit(t.Context(), x, 4, &Options{Covariance: kind, Init: init})
		if err != nil {
			t.Fatal(err)
		}
		checkReport(t, r)
		if r.Starts[0].Reseeded != 1 || slices.Min(m.Weights()) < 0.01 || !(m.Score(x) > whole.Score(x)-0.1) {
			t.Errorf("%v: weights %v, score %v, want %v\n%v", kind, m.Weights(), m.Score(x), whole.Score(x), r)
		}
	}
}

func TestSelect(t *testing.T) {
	x, _ := randomMixture(t, rand.New(rand.NewPCG(6, 6)), 4, 3, 6).Sample(2000, rand.NewPCG(6, 7))
	m, choices, err := Select(t.Context(), x, []int{1, 2, 3, 4, 5, 6, 3000}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Components() != 4 || len(choices) != 7 {
		t.Errorf("%d components of %d choices", m.Components(), len(choices))
	}
	for i, c := range choices[:6] {
		if c.Components != i+1 || c.Err != nil || c.BIC < choices[3].BIC {
			t.Errorf("choice %+v", c)
		}
	}
	if got := m.BIC(x); !(math.Abs(got-choices[3].BIC) <= 1e-9*got) {
		t.Errorf("BIC %v, want %v", choices[3].BIC, got)
	}
	if last := choices[6]; last.Err == nil || !math.IsInf(last.BIC, 1) {
		t.Errorf("3000 components of 2000 points: %+v", last)
	}
	if _, _, err := Select(t.Context(), x, []int{0, -1}, nil); err == nil {
		t.Error("no error where nothing can be fitted")
	}
	if _, _, err := Select(t.Context(), x, nil, nil); err == nil {
		t.Error("no error without numbers of components")
	}
}

// TestProgress compares the calls of Progress with the report.
func TestProgress(t *testing.T) {
	x, _ := randomMixture(t, rand.New(rand.NewPCG(6, 8)), 3, 2, 1).Sample(500, rand.NewPCG(6, 9))
	var told []Iteration
	_, r, err := Fit(t.Context(), x, 3, &Options{Progress: func(i Iteration) { told = append(told, i) }})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s, start := range r.Starts {
		for i := range start.Iterations {
			if n >= len(told) || told[n] != (Iteration{s, i, start.History[i]}) {
				t.Fatalf("number %d: %+v, want start %d, iteration %d of %v", n, told, s, i, start.History)
			}
			n++
		}
	}
	if n != len(told) {
		t.Errorf("%d iterations, told %d", n, len(told))
	}
}
