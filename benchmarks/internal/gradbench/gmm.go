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
	output := func() (any, error) {
		if err := finite(o.Gradient...); err != nil {
			return nil, err
		}
		g := o.Cotangent
		out := struct {
			Alpha numbers   `json:"alpha"`
			Mu    []numbers `json:"mu"`
			Q     []numbers `json:"q"`
			L     []numbers `json:"l"`
		}{Alpha: g.Alpha.Data}
		for k := range p.K {
			out.Mu = append(out.Mu, g.Means.Row(k))
			f := g.Factors.Row(k)
			out.Q, out.L = append(out.Q, f[:p.D]), append(out.L, f[p.D:])
		}
		return out, nil
	}
	return evaluation{call: func() { o.ValueGradient() }, output: output}, nil
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
