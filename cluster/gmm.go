package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/gmm"
)

// Requests of FitGMM.
const (
	gmmMoments = stop + 1 + iota
	gmmFunc
	gmmFuncGrad
)

// FitGMM fits a mixture of k components, as gmm.FitPoints does. All ranks call it with
// the same arguments. If opts has neither Init nor InitMeans, it begins with centroids that
// FitKMeans finds from the seed, or with several starts from the seed and those that
// follow. For this it measures each column in units of its standard deviation. The best
// fit is kept. Points in shards have no weights: if opts.Weights is not nil on one rank, all
// ranks return an error.
//
// All ranks return the mixture. It has the same bits for any number of ranks. Only rank
// 0 returns a report and calls the functions in opts and c. When ctx is done on rank 0,
// all ranks stop.
//
// A step of EM sums 1 + K·(1 + D + D²) numbers over the ranks, in one message each way.
// A step of L-BFGS sums 1 + K·(1 + D + D(D+1)/2) numbers.
func FitGMM(ctx context.Context, p *Points, k int, seed uint64, opts *gmm.Options, c *gmm.Checkpoint) (*gmm.Mixture, *gmm.Report, error) {
	n, d := p.Dims()
	switch {
	case k < 1:
		return nil, nil, fmt.Errorf("cluster: %d components, want at least 1", k)
	case k > n: // before there is memory for them
		return nil, nil, fmt.Errorf("cluster: %d points for %d components", n, k)
	}
	var o gmm.Options
	if opts != nil {
		o = *opts
	}
	var failed error
	if o.Weights != nil {
		failed = errors.New("cluster: Weights are for points in a matrix, and points in shards have none")
	}
	if err := Agree(p.r, failed); err != nil {
		return nil, nil, err
	}
	resumes := c != nil && c.Resume != nil
	if starts := max(o.Starts, 1); o.Init == nil && o.InitMeans == nil && (starts > 1 || !resumes) {
		o.InitMeans = mat.NewDense(k*starts, d, nil)
		for i := range starts {
			means, err := fitScaled(ctx, p, k, seed+uint64(i))
			if err != nil {
				return nil, nil, err
			}
			o.InitMeans.Slice(i*k, (i+1)*k, 0, d).(*mat.Dense).Copy(means)
		}
	}
	params := (&gmm.Model[float64]{X: rev.General[float64]{Cols: d}, K: k}).Dim()
	g := &gmmPoints{Points: p, k: k, d: d, kind: o.Covariance, params: params}
	g.team = newTeam(p.r, k*(1+d+d*d)+2*d, g.answer)

	var m *gmm.Mixture
	var report *gmm.Report
	err := g.team.run(func() (err error) {
		m, report, err = gmm.FitPoints(ctx, g, k, &o, c)
		return err
	})
	if err != nil {
		return m, report, err
	}
	// JSON keeps every bit of the mixture.
	var text []byte
	if p.r.Rank() == 0 {
		text, err = json.Marshal(m)
	}
	if err := Agree(p.r, err); err != nil {
		return nil, nil, err
	}
	if text, err = Share(p.r, text); err != nil || p.r.Rank() == 0 {
		return m, report, err
	}
	m = new(gmm.Mixture)
	return m, nil, m.UnmarshalJSON(text)
}

// gmmPoints is gmm.Points over ranks.
type gmmPoints struct {
	*Points
	team         *team
	k, d, params int
	kind         gmm.Covariance
	all          []float64
}

// Moments implements gmm.Points.
func (g *gmmPoints) Moments(dst []float64, e *gmm.Expectation) error {
	return g.team.ask(dst, gmmMoments, e.Numbers())
}

// FuncGrad implements gmm.Points.
func (g *gmmPoints) FuncGrad(grad, x []float64) (float64, error) {
	what := uint64(gmmFuncGrad)
	if grad == nil {
		what = gmmFunc
	}
	g.all = append(g.all[:0], make([]float64, 1+len(grad))...)
	err := g.team.ask(g.all, what, x)
	copy(grad, g.all[1:])
	return g.all[0], err
}

// answer answers a request.
func (g *gmmPoints) answer(q request) (*Sums, error) {
	if q.what == gmmMoments {
		e, err := gmm.NewExpectation(g.kind, g.k, g.d, q.operands)
		if err != nil {
			panic(err) // the request is from another version
		}
		return g.sum(e.Len(), func(_ *pointsWorker, part []float64, _ int, x rev.General[float64]) error {
			e.Moments(part, x)
			return nil
		})
	}
	n := 1
	if q.what == gmmFuncGrad {
		n += g.params
	}
	return g.sum(n, func(_ *pointsWorker, part []float64, _ int, x rev.General[float64]) error {
		m := gmm.Model[float64]{X: x, K: g.k, Workers: 1}
		if n == 1 {
			part[0] = m.Func(q.operands)
		} else {
			part[0] = m.FuncGrad(part[1:], q.operands)
		}
		return nil
	})
}
