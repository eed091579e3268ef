package gradbench

import (
	"encoding/json"
	"fmt"

	"revnum/benchmarks/internal/problem"
	"revnum/revmodels/gmm"
)

// gmmObjective evaluates the log posterior of a Gaussian mixture.
func gmmObjective(input json.RawMessage, workers int) (evaluation, error) {
	p, err := parseGMM(input)
	if err != nil {
		return evaluation{}, err
	}
	o := problem.NewGMMObjective[float64](p, gmm.GradBench, workers)
	var value float64
	return toNumber(func() { value = o.Value() }, &value), nil
}

// gmmJacobian evaluates the gradient of the log posterior with respect to the
// parameters.
func gmmJacobian(input json.RawMessage, workers int) (evaluation, error) {
	p, err := parseGMM(input)
	if err != nil {
		return evaluation{}, err
	}
	o := problem.NewGMMObjective[float64](p, gmm.GradBench, workers)
	g := o.Cotangent
	var mu, q, l [][]float64
	for k := range p.K {
		f := g.Factors.Row(k)
		mu, q, l = append(mu, g.Means.Row(k)), append(q, f[:p.D]), append(l, f[p.D:])
	}
	return toMixture(func() { o.ValueGradient() }, o.Gradient, g.Alpha.Data, mu, q, l), nil
}

// toMixture returns the evaluation that runs call, which stores a gradient in parts of grad.
func toMixture(call func(), grad, alpha []float64, mu, q, l [][]float64) evaluation {
	list := func(rows [][]float64) (out []numbers) {
		for _, row := range rows {
			out = append(out, row)
		}
		return out
	}
	output := func() (any, error) {
		out := struct {
			Alpha numbers   `json:"alpha"`
			Mu    []numbers `json:"mu"`
			Q     []numbers `json:"q"`
			L     []numbers `json:"l"`
		}{alpha, list(mu), list(q), list(l)}
		return out, finite(grad...)
	}
	return evaluation{call: call, output: output}
}

// parseGMM reads a problem. Its sizes d, k and n must match its arrays.
func parseGMM(input json.RawMessage) (*problem.GMM, error) {
	var in struct {
		D, K, N, M *int
		Gamma      *float64
		Alpha      numbers
		Mu, Q, L   []numbers
		X          []numbers
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		name    string
		missing bool
	}{
		{"d", in.D == nil}, {"k", in.K == nil}, {"n", in.N == nil}, {"m", in.M == nil}, {"gamma", in.Gamma == nil},
		{"alpha", in.Alpha == nil}, {"mu", in.Mu == nil}, {"q", in.Q == nil}, {"l", in.L == nil}, {"x", in.X == nil},
	} {
		if f.missing {
			return nil, missing(f.name)
		}
	}
	d, k, n := *in.D, *in.K, *in.N
	if d < 1 || k < 1 || n < 1 {
		return nil, fmt.Errorf("expected positive d, k and n, found %d, %d and %d", d, k, n)
	}
	// Each product of d below is the size of an array that exists, so it cannot
	// overflow.
	if *in.M < 0 || *in.Gamma <= 0 {
		return nil, fmt.Errorf("expected m of at least 0 and a positive gamma, found %d and %g", *in.M, *in.Gamma)
	}
	if len(in.Alpha) != k {
		return nil, fmt.Errorf("alpha: expected k = %d numbers, found %d", k, len(in.Alpha))
	}
	for _, f := range []struct {
		name string
		a    []numbers
		r, c int
	}{
		{"x", in.X, n, d}, {"mu", in.Mu, k, d}, {"q", in.Q, k, d}, {"l", in.L, k, d * (d - 1) / 2},
	} {
		if len(f.a) != f.r {
			return nil, fmt.Errorf("%s: expected %d rows, found %d", f.name, f.r, len(f.a))
		}
		for i, row := range f.a {
			if len(row) != f.c {
				return nil, fmt.Errorf("%s[%d]: expected %d numbers, found %d", f.name, i, f.c, len(row))
			}
		}
	}
	p := &problem.GMM{D: d, K: k, N: n, Params: in.Alpha, Gamma: *in.Gamma, M: *in.M}
	for _, mean := range in.Mu {
		p.Params = append(p.Params, mean...)
	}
	for i := range k {
		p.Params = append(append(p.Params, in.Q[i]...), in.L[i]...)
	}
	p.X = make([]float64, 0, n*d)
	for _, row := range in.X {
		p.X = append(p.X, row...)
	}
	return p, nil
}
