package gradbench

import (
	"encoding/json"
	"fmt"
	"time"

	"revnum/benchmarks/internal/problem"
)

// baSent is the number of elements of the Jacobian that the answer holds besides the
// last one. They are those of the two errors of the first observation.
const baSent = 2 * 15

// baObjective evaluates the errors of bundle adjustment. All observations are equal, so
// the answer holds the errors of one.
func baObjective(input json.RawMessage, workers int) (evaluation, error) {
	o, err := parseBA(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	return toErrors(o, o.Value), nil
}

// toErrors returns the evaluation that runs call, which stores the errors of o.
func toErrors(o *problem.BAObjective[float64], call func()) evaluation {
	output := func() (any, error) {
		type reprojection struct {
			Elements numbers `json:"elements"`
			Repeated int     `json:"repeated"`
		}
		type weight struct {
			Element  number `json:"element"`
			Repeated int    `json:"repeated"`
		}
		r, z := o.Kernel.R.Data, o.Kernel.Z.Data
		out := struct {
			Reprojection reprojection `json:"reproj_error"`
			Weight       weight       `json:"w_err"`
		}{reprojection{r[:2], len(z)}, weight{number(z[0]), len(z)}}
		return out, finite(r[0], r[1], z[0])
	}
	return evaluation{call: call, output: output}
}

// baJacobian evaluates the Jacobian of the errors. The answer describes one
// observation: the first row pointers, column indices and values, and the last ones. As
// in GradBench's other tools, each run computes all of them. The time for the values is
// also reported separately.
func baJacobian(input json.RawMessage, workers int) (evaluation, error) {
	o, err := parseBA(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	return toSparse(o, o.ValueJacobian), nil
}

// toSparse returns the evaluation that runs call, which stores the Jacobian of o.
func toSparse(o *problem.BAObjective[float64], call func()) evaluation {
	output := func() (any, error) {
		a := o.Jacobian
		out := struct {
			Rows   []int32 `json:"rows"`
			Cols   []int32 `json:"cols"`
			Values numbers `json:"vals"`
		}{ends(a.Ptr), ends(a.Ind), ends(a.Data)}
		return out, finite(out.Values...)
	}
	return evaluation{call: call, output: output, values: func() time.Duration { return o.Values }}
}

// ends returns the first baSent elements of x, or all if there are fewer, and the last
// one.
func ends[T any](x []T) []T {
	return append(append([]T(nil), x[:min(baSent, len(x))]...), x[len(x)-1])
}

// parseBA reads a problem and makes all its copies.
func parseBA(input json.RawMessage, workers int) (*problem.BAObjective[float64], error) {
	var in struct {
		N, M, P      *int
		Cam, X, Feat numbers
		W            *float64
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	p := new(problem.BA)
	for _, f := range []struct {
		name string
		from *int
		to   *int
	}{{"n", in.N, &p.N}, {"m", in.M, &p.M}, {"p", in.P, &p.P}} {
		if f.from == nil {
			return nil, missing(f.name)
		}
		if *f.from < 1 {
			return nil, fmt.Errorf("%s: expected a positive integer, found %d", f.name, *f.from)
		}
		*f.to = *f.from
	}
	for _, f := range []struct {
		name string
		from numbers
		to   []float64
	}{{"cam", in.Cam, p.Camera[:]}, {"x", in.X, p.Point[:]}, {"feat", in.Feat, p.Feature[:]}} {
		if f.from == nil {
			return nil, missing(f.name)
		}
		if len(f.from) != len(f.to) {
			return nil, fmt.Errorf("%s: expected %d numbers, found %d", f.name, len(f.to), len(f.from))
		}
		copy(f.to, f.from)
	}
	if in.W == nil {
		return nil, missing("w")
	}
	p.Weight = *in.W
	if err := p.Plausible("the problem"); err != nil {
		return nil, err
	}
	return problem.NewBAObjective[float64](p, workers), nil
}
