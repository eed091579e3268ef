package gmm

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/jsonfile"
	"revnum/internal/logs"
	"revnum/internal/objective"
	"revnum/internal/simd/dense"
	"revnum/internal/simd/vec"
	"revnum/rev"
)

// Mixture is a Gaussian mixture with the density
//
//	p(x) = Σ_k w_k·N(x; μ_k, Σ_k).
//
// A Mixture does not change, and you may call its methods concurrently. Methods that
// take points take them as the rows of a matrix. They read it in place if it is a
// mat.RawMatrixer or *mat.VecDense, and panic with mat.ErrShape if it does not have Dim
// columns. The zero Mixture is only for UnmarshalJSON.
//
// A point has NaN responsibilities if a coordinate is NaN or infinite. Its log density is
// -Inf if it is so far from all components that its squared distance overflows.
type Mixture struct {
	weights []float64
	means   *mat.Dense
	covs    []*mat.SymDense
	kind    Covariance
	params  []float64 // the same, as parameters of LogPosterior
}

// notDefinite returns the error of a covariance whose factorisation stops at a pivot.
func notDefinite(component, row int, pivot float64) error {
	return fmt.Errorf("gmm: covariance of component %d: %w", component, &rev.NotPositiveDefiniteError{Row: row, Value: pivot})
}

// NewMixture returns the mixture with the given weights, means (the rows of means) and
// covariances, all copied. It panics with mat.ErrShape unless their shapes agree. It
// returns an error if a weight is negative, if the weights do not sum to 1 within 1e-6,
// if a number is not finite, or if a covariance is not positive definite: a pivot of
// its factorisation is not above the rounding error (a *rev.NotPositiveDefiniteError).
func NewMixture(weights []float64, means mat.Matrix, covariances []*mat.SymDense) (*Mixture, error) {
	return newMixture(Full, weights, means, covariances)
}

// NewMixtureOf is NewMixture for covariances of the given kind, for which densities take
// less time than for full ones. They are products of matrices, which change a log density
// by about 1e-10 at most. Where they would change it more, because components or points
// lie more than about 500 standard deviations from the mean of the mixture, densities are
// computed as for full covariances. Tied covariances of nearly dependent coordinates change
// it more: by 2e-7 at a correlation of 1 - 1e-12. NewMixtureOf also returns an error if there is no
// such kind, or if a covariance is of another.
func NewMixtureOf(kind Covariance, weights []float64, means mat.Matrix, covariances []*mat.SymDense) (*Mixture, error) {
	if err := kind.check(covariances); err != nil {
		return nil, fmt.Errorf("gmm: %w", err)
	}
	return newMixture(kind, weights, means, covariances)
}

// newMixture is NewMixtureOf without the check of the kind.
func newMixture(kind Covariance, weights []float64, means mat.Matrix, covariances []*mat.SymDense) (*Mixture, error) {
	k, d := means.Dims()
	objective.CheckLen("gmm.Mixture", "weights", len(weights), k)
	objective.CheckLen("gmm.Mixture", "covariances", len(covariances), k)
	m := &Mixture{
		weights: append([]float64(nil), weights...), means: mat.DenseCopyOf(means),
		covs: make([]*mat.SymDense, k), kind: kind, params: make([]float64, paramsLen(k, d)),
	}
	var sum float64
	for c, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return nil, fmt.Errorf("gmm: weight %d is %v, want a number from 0 to 1", c, w)
		}
		sum += w
	}
	if math.Abs(sum-1) > 1e-6 {
		return nil, fmt.Errorf("gmm: weights sum to %v, want 1", sum)
	}
	p := viewParams(m.params, k, d)
	scratch := make([]float64, d*d)
	for c, cov := range covariances {
		objective.CheckLen("gmm.Mixture", "covariances", cov.SymmetricDim(), d)
		m.covs[c] = mat.NewSymDense(d, nil)
		m.covs[c].CopySym(cov)
		upper := m.covs[c].RawSymmetric().Data
		p.Alpha.Data[c] = logs.Log(weights[c])
		for i := range d {
			v := m.means.At(c, i)
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("gmm: coordinate %d of mean %d is %v", i, c, v)
			}
			p.Means.Row(c)[i] = v
			for j := i; j < d; j++ {
				v := upper[i*d+j]
				if math.IsNaN(v) || math.IsInf(v, 0) {
					return nil, fmt.Errorf("gmm: element (%d, %d) of covariance %d is %v", i, j, c, v)
				}
				scratch[i*d+j], scratch[j*d+i] = v, v
			}
		}
		factor := setFactor
		if kind == Diagonal || kind == Spherical {
			factor = setDiagonal
		}
		if row, pivot := factor(p.Factors.Row(c), scratch, d); row < d {
			return nil, notDefinite(c, row, pivot)
		}
	}
	return m, nil
}

// FromParams returns the mixture with k components of dimension d for the parameters x
// of LogPosterior, in the order of Model. It panics with mat.ErrShape if x has another
// length, and returns an error as NewMixture does.
func FromParams(k, d int, x []float64) (*Mixture, error) {
	p := viewParams(x, k, d)
	weights := append([]float64(nil), p.Alpha.Data...)
	softmax(weights)
	means := mat.NewDense(k, d, nil)
	covs := make([]*mat.SymDense, k)
	q := make([]float64, d*d)
	for c := range k {
		means.SetRow(c, p.Means.Row(c))
		unpackFactor(q, p.Factors.Row(c), d)
		invertLower(q, d)
		covs[c] = mat.NewSymDense(d, nil)
		for i := range d { // Σ = Q⁻¹·Q⁻ᵀ
			for j := range i + 1 {
				covs[c].SetSym(i, j, vec.Dot(q[i*d:i*d+j+1], q[j*d:j*d+j+1]))
			}
		}
	}
	return NewMixture(weights, means, covs)
}

// The kernel's factor Q is lower triangular with Σ⁻¹ = QᵀQ. The inverse L = Q⁻¹ is
// lower triangular too, and Σ = Q⁻¹·Q⁻ᵀ = L·Lᵀ. So L is the usual Cholesky factor of
// the covariance, and Q its inverse. (Only if you start from the precision matrix do
// you need a factorisation from the last row up.)

// setFactor writes the factor of a covariance to a row of Factors. The lower triangle
// of the d×d matrix a has the covariance, and is overwritten. It returns d, or the
// first row whose pivot is not above the rounding error, with that pivot.
func setFactor(row, a []float64, d int) (int, float64) {
	if i, pivot := invertFactor(a, d); i < d {
		return i, pivot
	}
	for j := range d {
		row[j] = logs.Log(a[j*d+j])
	}
	for at, ij := range below(d) {
		row[at] = a[ij]
	}
	return d, 0
}

// setDiagonal is setFactor for a diagonal covariance.
func setDiagonal(row, a []float64, d int) (int, float64) {
	for j := range d {
		if v := a[j*d+j]; !(v > 0) {
			return j, v
		}
		row[j] = -logs.Log(a[j*d+j]) / 2
	}
	return d, 0
}

// invertFactor replaces the lower triangle of the covariance a by that of Q. It returns
// what setFactor returns.
func invertFactor(a []float64, d int) (int, float64) {
	const eps = 0x1p-52
	for i := range d {
		ai := a[i*d : i*d+i+1]
		size := ai[i]
		for j := range i {
			aj := a[j*d : j*d+j+1]
			ai[j] = (ai[j] - vec.Dot(ai[:j], aj[:j])) / aj[j]
		}
		pivot := ai[i] - vec.SumSquares(ai[:i])
		if !(pivot > float64(d)*eps*size) {
			return i, pivot
		}
		ai[i] = math.Sqrt(pivot)
	}
	invertLower(a, d)
	return d, 0
}

// unpackFactor writes Q to the lower triangle of the d×d matrix q.
func unpackFactor(q, row []float64, d int) {
	unpackLower(q, row, d)
	for j := range d {
		q[j*d+j] = math.Exp(q[j*d+j])
	}
}

// unpackLower writes a row of Factors as it is to the lower triangle of the d×d
// matrix q.
func unpackLower[T any](q, row []T, d int) {
	for j := range d {
		q[j*d+j] = row[j]
	}
	for at, ij := range below(d) {
		q[ij] = row[at]
	}
}

// below ranges over the elements below the diagonal of a factor of order d, column by
// column: their indices in a row of Factors, and in the d×d matrix by rows.
func below(d int) iter.Seq2[int, int] {
	return func(yield func(at, ij int) bool) {
		at := d
		for j := range d {
			for i := j + 1; i < d; i++ {
				if !yield(at, i*d+j) {
					return
				}
				at++
			}
		}
	}
}

// invertLower replaces the lower triangle of the d×d matrix a by its inverse.
func invertLower(a []float64, d int) {
	row := make([]float64, d)
	for i := range d { // row i of L⁻¹ is -L_i·L⁻¹/L_ii with the rows above
		clear(row[:i])
		for l, v := range a[i*d : i*d+i] {
			vec.Axpy(v, a[l*d:l*d+l+1], row[:l+1])
		}
		a[i*d+i] = 1 / a[i*d+i]
		vec.ScaleTo(a[i*d:i*d+i], -a[i*d+i], row[:i])
	}
}

// Components returns the number K of components.
func (m *Mixture) Components() int { return len(m.weights) }

// Dim returns the dimension D of the points.
func (m *Mixture) Dim() int { return m.means.RawMatrix().Cols }

// Weights returns a copy of the weights.
func (m *Mixture) Weights() []float64 { return append([]float64(nil), m.weights...) }

// Means returns a copy of the means, one a row.
func (m *Mixture) Means() *mat.Dense { return mat.DenseCopyOf(m.means) }

// Covariances returns a copy of the covariance matrices.
func (m *Mixture) Covariances() []*mat.SymDense {
	covs := make([]*mat.SymDense, len(m.covs))
	for c, cov := range m.covs {
		covs[c] = mat.NewSymDense(m.Dim(), nil)
		covs[c].CopySym(cov)
	}
	return covs
}

// Params returns the parameters of LogPosterior for the mixture, in the order of Model.
// The log weights are normalised. A component of weight 0 has -Inf.
func (m *Mixture) Params() []float64 { return append([]float64(nil), m.params...) }

// points returns a view of x.
func (m *Mixture) points(x mat.Matrix) rev.General[float64] {
	r, c := x.Dims()
	objective.CheckDims("gmm.Mixture", "x", r, c, r, m.Dim())
	return objective.View(x)
}

// LogLikelihood returns the sum of the log densities of the rows of x.
func (m *Mixture) LogLikelihood(x mat.Matrix) float64 {
	if m.kind != Full {
		return floats.Sum(m.ScoreSamples(x))
	}
	model := Model[float64]{X: m.points(x), K: m.Components()}
	return -model.Func(m.params)
}

// Covariance returns the kind of the covariances. It is Full unless the mixture comes
// from a fit, or from JSON, with another kind.
func (m *Mixture) Covariance() Covariance { return m.kind }

// Score returns the mean log density of the rows of x, or NaN if there are none.
func (m *Mixture) Score(x mat.Matrix) float64 {
	n, _ := x.Dims()
	return m.LogLikelihood(x) / float64(n)
}

// Transform returns the N×K distances of the rows of x from the means, each in
// standard deviations of the component: √((x - μ)ᵀ·Σ⁻¹·(x - μ)).
func (m *Mixture) Transform(x mat.Matrix) *mat.Dense {
	xs := m.points(x)
	if xs.Rows == 0 {
		return &mat.Dense{}
	}
	k, d := m.Components(), m.Dim()
	p := viewParams(m.params, k, d)
	dst, row := mat.NewDense(xs.Rows, k, nil), make([]float64, scoringRun)
	q, points := make([]float64, d*d), make([]float64, d*scoringRun)
	for c := range k {
		unpackFactor(q, p.Factors.Row(c), d)
		for first := 0; first < xs.Rows; first += scoringRun {
			n := min(scoringRun, xs.Rows-first)
			load(points, scoringRun, xs, first, n)
			dense.TriNorms(d, n, row, q, d, points, scoringRun, p.Means.Row(c))
			for i, v := range row[:n] {
				dst.Set(first+i, c, math.Sqrt(v))
			}
		}
	}
	return dst
}

// freeParams returns the number of free parameters.
func (m *Mixture) freeParams() float64 {
	k, d := m.Components(), m.Dim()
	return float64(k - 1 + k*d + m.kind.free(k, d))
}

// BIC returns the Bayesian information criterion for the rows of x, p·log N -
// 2·LogLikelihood(x). The p free parameters are K-1 weights, K·D coordinates of means,
// and K·D(D+1)/2 numbers of full covariances, D(D+1)/2 of a tied one, K·D of diagonal
// ones or K of spherical ones. Lower is better.
func (m *Mixture) BIC(x mat.Matrix) float64 {
	n, _ := x.Dims()
	return float64(m.freeParams()*logs.Log(float64(n))) - 2*m.LogLikelihood(x)
}

// AIC returns Akaike's information criterion for the rows of x, 2p -
// 2·LogLikelihood(x), with p as for BIC. Lower is better.
func (m *Mixture) AIC(x mat.Matrix) float64 {
	return 2*m.freeParams() - 2*m.LogLikelihood(x)
}

// ScoreSamples returns the log density at each row of x.
func (m *Mixture) ScoreSamples(x mat.Matrix) []float64 {
	xs := m.points(x)
	logp := make([]float64, xs.Rows)
	m.score(xs, scores{logp: logp})
	return logp
}

// Responsibilities returns the N×K probabilities of the components given each
// row of x.
func (m *Mixture) Responsibilities(x mat.Matrix) *mat.Dense {
	xs := m.points(x)
	if xs.Rows == 0 {
		return &mat.Dense{}
	}
	k := m.Components()
	resp := mat.NewDense(xs.Rows, k, nil)
	m.score(xs, scores{resp: resp.RawMatrix().Data})
	return resp
}

// Predict returns the most probable component of each row of x: the first if several
// are equal, and -1 if the responsibilities are NaN.
func (m *Mixture) Predict(x mat.Matrix) []int {
	xs := m.points(x)
	labels := make([]int, xs.Rows)
	m.score(xs, scores{labels: labels})
	return labels
}

// Sample returns n points drawn from the mixture, and the component of each. It panics
// if n is not positive. A nil src means one from a fixed seed.
func (m *Mixture) Sample(n int, src rand.Source) (*mat.Dense, []int) {
	if n <= 0 {
		panic(&rev.OperandError{Kernel: "gmm.Mixture", Operand: "n", Reason: fmt.Sprintf("is %d", n), Err: mat.ErrZeroLength})
	}
	if src == nil {
		src = rand.NewPCG(1, 2)
	}
	rnd := rand.New(src)
	d, comps := m.Dim(), m.Components()
	p := viewParams(m.params, comps, d)
	l := make([]float64, comps*d*d)
	for c := range comps {
		unpackFactor(l[c*d*d:(c+1)*d*d], p.Factors.Row(c), d)
		invertLower(l[c*d*d:(c+1)*d*d], d)
	}
	total := vec.Sum(m.weights)
	x, labels, z := mat.NewDense(n, d, nil), make([]int, n), make([]float64, d)
	for i := range n {
		c := 0
		for u := float64(rnd.Float64() * total); c < comps-1 && u >= m.weights[c]; c++ {
			u -= m.weights[c]
		}
		for m.weights[c] == 0 { // u was rounded past the last weight
			c--
		}
		labels[i] = c
		for j := range z {
			z[j] = rnd.NormFloat64()
		}
		row := x.RawRowView(i)
		for j := range row { // μ + L·z has covariance L·Lᵀ = Σ
			row[j] = p.Means.Row(c)[j] + vec.Dot(l[(c*d+j)*d:][:j+1], z[:j+1])
		}
	}
	return x, labels
}

// mixtureJSON is the form of a Mixture in JSON.
type mixtureJSON struct {
	Weights     []float64     `json:"weights"`
	Means       [][]float64   `json:"means"`
	Kind        Covariance    `json:"covariance,omitzero"`
	Covariances [][][]float64 `json:"covariances"`
}

// MarshalJSON implements json.Marshaler. The form is
//
//	{"weights": [K numbers], "means": [K rows of D], "covariances": [K times D rows of D]}
//
// with "covariance": "tied", "diagonal" or "spherical" unless they are full. Reading it
// back gives the same mixture, bit for bit.
func (m *Mixture) MarshalJSON() ([]byte, error) {
	if m.means == nil {
		return nil, errors.New("gmm: a zero Mixture has no JSON form")
	}
	j := mixtureJSON{Weights: m.weights, Kind: m.kind}
	for c, cov := range m.covs {
		j.Means = append(j.Means, m.means.RawRowView(c))
		rows := make([][]float64, m.Dim())
		for i := range rows {
			rows[i] = mat.Row(nil, i, cov)
		}
		j.Covariances = append(j.Covariances, rows)
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler. If the JSON does not describe a mixture,
// it returns an error that says why, and does not change m.
func (m *Mixture) UnmarshalJSON(b []byte) error {
	var j mixtureJSON
	if err := jsonfile.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("gmm: reading a mixture: %w", err)
	}
	k := len(j.Weights)
	switch {
	case k == 0:
		return fmt.Errorf("gmm: reading a mixture: no weights")
	case len(j.Means) != k:
		return fmt.Errorf("gmm: reading a mixture: %d means for %d weights", len(j.Means), k)
	case len(j.Covariances) != k:
		return fmt.Errorf("gmm: reading a mixture: %d covariances for %d weights", len(j.Covariances), k)
	case len(j.Means[0]) == 0:
		return fmt.Errorf("gmm: reading a mixture: mean 0 is empty")
	}
	d := len(j.Means[0])
	for c, mean := range j.Means {
		if len(mean) != d {
			return fmt.Errorf("gmm: reading a mixture: mean %d has %d coordinates, mean 0 has %d", c, len(mean), d)
		}
	}
	means, covs := mat.NewDense(k, d, nil), make([]*mat.SymDense, k)
	for c, mean := range j.Means {
		means.SetRow(c, mean)
		cov, err := symmetric(j.Covariances[c], d)
		if err != nil {
			return fmt.Errorf("gmm: reading a mixture: covariance %d %w", c, err)
		}
		covs[c] = cov
	}
	if err := j.Kind.check(covs); err != nil {
		return fmt.Errorf("gmm: reading a mixture: %w", err)
	}
	read, err := newMixture(j.Kind, j.Weights, means, covs)
	if err != nil {
		return err
	}
	*m = *read
	return nil
}

// symmetric returns the d×d matrix with the given rows.
func symmetric(rows [][]float64, d int) (*mat.SymDense, error) {
	if len(rows) != d {
		return nil, fmt.Errorf("has %d rows, want %d", len(rows), d)
	}
	for i, row := range rows {
		if len(row) != d {
			return nil, fmt.Errorf("has %d elements in row %d, want %d", len(row), i, d)
		}
	}
	a := mat.NewSymDense(d, nil)
	for i, row := range rows {
		for j, v := range row[:i+1] {
			// Other programs write matrices that are symmetric only up to rounding.
			if w := rows[j][i]; math.Abs(v-w) > 1e-9*math.Sqrt(math.Abs(row[i]*rows[j][j])) {
				return nil, fmt.Errorf("is not symmetric: element (%d, %d) is %v, (%d, %d) is %v", i, j, v, j, i, w)
			}
			a.SetSym(j, i, rows[j][i])
		}
	}
	return a, nil
}

// WriteFile writes m to the file at path, as JSON. If that fails, the file is as it was
// before.
func WriteFile(path string, m *Mixture) error { return jsonfile.Write(path, m) }

// ReadFile reads a mixture that WriteFile wrote.
func ReadFile(path string) (*Mixture, error) { return jsonfile.Read[Mixture](path, "a mixture") }

// String returns the parameters of the components for people.
func (m *Mixture) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Gaussian mixture of %d components in %d dimensions\n", m.Components(), m.Dim())
	for c, w := range m.weights {
		fmt.Fprintf(&b, "component %d: weight %.4g\n", c, w)
		fmt.Fprintf(&b, "  mean        %.4g\n", mat.Formatted(m.means.RowView(c).T(), mat.Squeeze()))
		fmt.Fprintf(&b, "  covariance  %.4g\n", mat.Formatted(m.covs[c], mat.Squeeze(), mat.Prefix("              ")))
	}
	return b.String()
}
