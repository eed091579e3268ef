package cluster_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/cluster/shard"
	"revnum/revmodels/gmm"
	"revnum/revmodels/kmeans"
)

// clusters returns n points around 4 centres.
func clusters(n, d int) *mat.Dense {
	rnd := rand.New(rand.NewPCG(7, 8))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64((i%4)*(5+j%3)*(1-2*(j%2)))+rnd.NormFloat64()*float64(1+j))
		}
	}
	return x
}

// writeShards writes x to three files of plain numbers in a new folder.
func writeShards(t *testing.T, x *mat.Dense) []string {
	t.Helper()
	dir := t.TempDir()
	n, d := x.Dims()
	var paths []string
	for i, end := range []int{n / 5, n / 2, n} {
		first := []int{0, n / 5, n / 2}[i]
		path := filepath.Join(dir, fmt.Sprintf("%d.f64", i))
		var b bytes.Buffer
		_ = binary.Write(&b, binary.LittleEndian, x.RawMatrix().Data[first*d:end*d])
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

func opener(blockRows, cols int, paths ...string) func() (*shard.Set, error) {
	return func() (*shard.Set, error) {
		return shard.Raw().OpenSet(blockRows, shard.Columns{Count: cols}, paths...)
	}
}

// onRanks runs f with the points on the given number of ranks, and returns the result
// of each.
func onRanks[V any](t *testing.T, ranks, workers int, open func() (*shard.Set, error), f func(p *cluster.Points, rank int) (V, error)) []V {
	t.Helper()
	got := make([]V, ranks)
	err := cluster.Run(ranks, func(r cluster.Reducer) error {
		p, err := cluster.NewPoints(r, workers, open)
		if err != nil {
			return err
		}
		defer p.Close()
		got[r.Rank()], err = f(p, r.Rank())
		return err
	})
	if err != nil {
		t.Fatalf("%d ranks: %v", ranks, err)
	}
	return got
}

// TestFitGMM fits on several numbers of ranks, also more than there are blocks, and
// wants the same bits. It compares with the fit of one machine.
func TestFitGMM(t *testing.T) {
	const k = 4
	x := clusters(3000, 3)
	paths := writeShards(t, x)
	for _, kind := range []gmm.Covariance{gmm.Full, gmm.Tied, gmm.Diagonal} {
		opts := &gmm.Options{Covariance: kind, Tolerance: 1e-8, Polish: kind == gmm.Full}
		var want []byte
		for _, c := range [][2]int{{1, 1}, {1, 3}, {2, 2}, {3, 1}, {13, 1}} {
			got := onRanks(t, c[0], c[1], opener(300, x.RawMatrix().Cols, paths...), func(p *cluster.Points, _ int) ([]byte, error) {
				m, _, err := cluster.FitGMM(t.Context(), p, k, 1, opts, nil)
				if err != nil {
					return nil, err
				}
				return json.Marshal(m)
			})
			if want == nil {
				want = got[0]
			}
			for rank, b := range got {
				if !bytes.Equal(b, want) {
					t.Errorf("%v: rank %d of %d has another mixture", kind, rank, c[0])
				}
			}
		}
		m := new(gmm.Mixture)
		if err := m.UnmarshalJSON(want); err != nil {
			t.Fatal(err)
		}
		one, _, err := gmm.Fit(t.Context(), x, k, opts)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := m.LogLikelihood(x), one.LogLikelihood(x); math.Abs(got-want) > 1e-6*math.Abs(want) {
			t.Errorf("%v: log likelihood %v, on one machine %v", kind, got, want)
		}
	}
}

// TestFitGMMResume stops a fit by an error of Save. It resumes from the last saved
// state on another number of ranks.
func TestFitGMMResume(t *testing.T) {
	t.Run("one start", func(t *testing.T) { testFitGMMResume(t, 1, 4) })
	t.Run("in the third of three starts", func(t *testing.T) { testFitGMMResume(t, 3, 2) })
}

func testFitGMMResume(t *testing.T, starts, last int) {
	paths := writeShards(t, clusters(2000, 2))
	opts := &gmm.Options{Tolerance: 1e-9, Polish: true, Starts: starts}
	fit := func(p *cluster.Points, c *gmm.Checkpoint) ([]byte, error) {
		m, _, err := cluster.FitGMM(t.Context(), p, 4, 3, opts, c)
		if err != nil {
			return nil, err
		}
		return json.Marshal(m)
	}
	want := onRanks(t, 2, 1, opener(256, 2, paths...), func(p *cluster.Points, _ int) ([]byte, error) { return fit(p, nil) })[0]

	var saved []byte
	killed := errors.New("killed")
	err := cluster.Run(3, func(r cluster.Reducer) error {
		p, err := cluster.NewPoints(r, 1, opener(256, 2, paths...))
		if err != nil {
			return err
		}
		defer p.Close()
		_, err = fit(p, &gmm.Checkpoint{Save: func(s *gmm.State) error {
			if len(s.Before) == starts-1 && len(s.History) == last {
				return killed
			}
			var err error
			saved, err = json.Marshal(s)
			return err
		}})
		return err
	})
	if !errors.Is(err, killed) {
		t.Fatalf("%v, want %v", err, killed)
	}
	got := onRanks(t, 4, 2, opener(256, 2, paths...), func(p *cluster.Points, _ int) ([]byte, error) {
		s := new(gmm.State)
		if err := json.Unmarshal(saved, s); err != nil {
			return nil, err
		}
		return fit(p, &gmm.Checkpoint{Resume: s})
	})
	for rank, b := range got {
		if !bytes.Equal(b, want) {
			t.Errorf("rank %d has another mixture than the fit that did not stop", rank)
		}
	}
}

// TestFitGMMStarts compares several starts with fits from their seeds.
func TestFitGMMStarts(t *testing.T) {
	open := func() (*shard.Set, error) { return shard.NewSet(128, shard.Matrix("x", clusters(1000, 2))) }
	fit := func(starts int, seed uint64) (text []byte, posteriors []float64, best int) {
		onRanks(t, 2, 1, open, func(p *cluster.Points, rank int) (int, error) {
			m, report, err := cluster.FitGMM(t.Context(), p, 6, seed, &gmm.Options{Starts: starts}, nil)
			if err != nil || rank != 0 {
				return 0, err
			}
			for _, s := range report.Starts {
				posteriors = append(posteriors, s.LogPosterior)
			}
			best = report.Best
			text, err = json.Marshal(m)
			return 0, err
		})
		return text, posteriors, best
	}
	const starts, seed = 4, 11
	got, posteriors, best := fit(starts, seed)
	for i := range starts {
		text, one, _ := fit(1, seed+uint64(i))
		if one[0] != posteriors[i] || i == best && !bytes.Equal(text, got) {
			t.Errorf("start %d has the log posterior %v, alone %v", i, posteriors[i], one[0])
		}
	}
	if len(posteriors) != starts || slices.Max(posteriors) != posteriors[best] || slices.Min(posteriors) == posteriors[best] {
		t.Errorf("start %d of %v was kept", best, posteriors)
	}
}

func TestFitKMeans(t *testing.T) {
	const k = 4
	x := clusters(3000, 2)
	paths := writeShards(t, x)
	var want []byte
	for _, c := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {3, 2}, {13, 1}} {
		got := onRanks(t, c[0], c[1], opener(300, x.RawMatrix().Cols, paths...), func(p *cluster.Points, _ int) ([]byte, error) {
			c, _, err := cluster.FitKMeans(t.Context(), p, k, nil)
			if err != nil {
				return nil, err
			}
			return json.Marshal(c)
		})
		if want == nil {
			want = got[0]
		}
		for rank, b := range got {
			if !bytes.Equal(b, want) {
				t.Errorf("rank %d of %d has another clustering", rank, c[0])
			}
		}
	}
	got := new(kmeans.Clustering)
	if err := got.UnmarshalJSON(want); err != nil {
		t.Fatal(err)
	}
	one, _, err := kmeans.Fit(t.Context(), x, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Cost() > one.Cost()*(1+1e-3) || math.Abs(got.Cost()+got.Score(x)) > 1e-9*got.Cost() {
		t.Errorf("cost %v, on one machine %v; of the points %v", got.Cost(), one.Cost(), -got.Score(x))
	}
}

// TestFitKMeansLost fits points of which a centroid loses its last one in the step after which the
// centroids would move little.
func TestFitKMeansLost(t *testing.T) {
	for _, seed := range []uint64{10523, 14922} {
		const n, k, d = 16, 6, 2
		rnd := rand.New(rand.NewPCG(seed, 9))
		x, init := mat.NewDense(n, d, nil), mat.NewDense(k, d, nil)
		for i := range n {
			for j := range d {
				x.Set(i, j, rnd.NormFloat64())
			}
			rnd.Float64()
		}
		for i := range k {
			for j := range d {
				init.Set(i, j, rnd.NormFloat64()*2)
			}
		}
		onRanks(t, 2, 1, func() (*shard.Set, error) { return shard.NewSet(0, shard.Matrix("x", x)) }, func(p *cluster.Points, rank int) (int, error) {
			_, r, err := cluster.FitKMeans(t.Context(), p, k, &cluster.KMeansOptions{Init: init, Tolerance: 0.3})
			if rank == 0 && err == nil && r.Iterations < 2 {
				err = fmt.Errorf("seed %d: ended after a step, with %v points", seed, r.Counts)
			}
			return 0, err
		})
	}
}

// TestFitKMeansFew first has fewer different points than centroids. Then it has
// centroids that begin without points.
func TestFitKMeansFew(t *testing.T) {
	x := mat.NewDense(10, 1, []float64{1, 1, 1, 1, 1, 5, 5, 5, 5, 5})
	open := func() (*shard.Set, error) { return shard.NewSet(3, shard.Matrix("x", x)) }
	costs := onRanks(t, 3, 1, open, func(p *cluster.Points, _ int) (float64, error) {
		c, _, err := cluster.FitKMeans(t.Context(), p, 3, nil)
		if err != nil {
			return 0, err
		}
		return c.Cost(), nil
	})
	if !slices.Equal(costs, []float64{0, 0, 0}) {
		t.Errorf("costs %v, want 0", costs)
	}
	reports := onRanks(t, 2, 1, open, func(p *cluster.Points, _ int) (*cluster.KMeansReport, error) {
		_, r, err := cluster.FitKMeans(t.Context(), p, 2, &cluster.KMeansOptions{Init: mat.NewDense(2, 1, []float64{3, 100})})
		return r, err
	})
	if r := reports[0]; reports[1] != nil || !r.Converged || r.Candidates != 0 {
		t.Errorf("reports %+v and %+v", r, reports[1])
	}
}

func TestColumns(t *testing.T) {
	x := clusters(1000, 3)
	for i := range 1000 {
		x.Set(i, 1, 0.1)
	}
	got := onRanks(t, 2, 2, func() (*shard.Set, error) { return shard.NewSet(64, shard.Matrix("x", x)) }, func(p *cluster.Points, _ int) ([][]float64, error) {
		m, v := p.Columns()
		return [][]float64{m, v}, nil
	})
	for j := range 3 {
		column := mat.Col(nil, j, x)
		mean := floats.Sum(column) / 1000
		var variance float64
		for _, v := range column {
			variance += (v - mean) * (v - mean) / 1000
		}
		if j == 1 {
			variance = 0
		}
		if m, v := got[1][0][j], got[1][1][j]; math.Abs(m-mean) > 1e-12 || math.Abs(v-variance) > 1e-10*variance {
			t.Errorf("column %d: mean %v and variance %v, want %v and %v", j, m, v, mean, variance)
		}
	}
}

// TestFewCandidates fits one cluster. A round of the seeding then often draws no candidate.
func TestFewCandidates(t *testing.T) {
	x := mat.NewDense(20, 1, nil)
	for i := range 20 {
		x.Set(i, 0, float64(i*i))
	}
	p, err := cluster.NewPoints(cluster.Alone(), 1, func() (*shard.Set, error) { return shard.NewSet(7, shard.Matrix("x", x)) })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for seed := range uint64(20) {
		c, r, err := cluster.FitKMeans(t.Context(), p, 1, &cluster.KMeansOptions{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.Centroids().At(0, 0), 123.5; math.Abs(got-want) > 1e-9 || r.Counts[0] != 20 {
			t.Errorf("seed %d: the centroid %v of %v points, want %v of 20", seed, got, r.Counts, want)
		}
	}
}

func TestPointsErrors(t *testing.T) {
	x := clusters(1000, 2)
	paths := writeShards(t, x)
	nan := mat.DenseCopyOf(x)
	nan.Set(700, 1, math.NaN())
	bad := writeShards(t, nan)
	for _, c := range []struct {
		name string
		open func(rank int) (*shard.Set, error)
		want string
	}{
		{"a missing file on one rank", func(rank int) (*shard.Set, error) {
			if rank == 2 {
				return opener(100, 2, "missing.f64")()
			}
			return opener(100, 2, paths...)()
		}, "rank 2: missing.f64: "},
		{"other files", func(rank int) (*shard.Set, error) {
			return opener(100, 2, paths[:3-rank/2]...)()
		}, "rank 2: it sees other files than rank 0"},
		{"NaN", func(int) (*shard.Set, error) { return opener(100, 2, bad...)() },
			"2.f64: expected finite numbers, found NaN at row 200, column 1"},
	} {
		var mu sync.Mutex
		var errs []string
		_ = cluster.Run(3, func(r cluster.Reducer) error {
			_, err := cluster.NewPoints(r, 2, func() (*shard.Set, error) { return c.open(r.Rank()) })
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, fmt.Sprint(err))
			return err
		})
		for _, e := range errs {
			// The error on the rank itself does not contain the rank's number.
			if !strings.Contains("rank 2: "+e, c.want) {
				t.Errorf("%s: %s, want %s", c.name, e, c.want)
			}
		}
		if len(errs) != 3 {
			t.Errorf("%s: %d ranks returned, want 3", c.name, len(errs))
		}
	}
}

func TestFitErrors(t *testing.T) {
	open := func() (*shard.Set, error) { return shard.NewSet(10, shard.Matrix("x", clusters(50, 2))) }
	got := onRanks(t, 2, 1, open, func(p *cluster.Points, _ int) (errs []string, _ error) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range []error{
			last(cluster.FitGMM(t.Context(), p, 0, 1, nil, nil)),
			last(cluster.FitGMM(t.Context(), p, 51, 1, nil, nil)),
			last(cluster.FitGMM(t.Context(), p, math.MaxInt, 1, nil, nil)),
			last(cluster.FitGMM(t.Context(), p, 2, 1, &gmm.Options{Weights: make([]float64, 50)}, nil)),
			last(cluster.FitKMeans(t.Context(), p, 51, nil)),
			last(cluster.FitKMeans(cancelled, p, 2, nil)),
			last(cluster.FitGMM(cancelled, p, 2, 1, &gmm.Options{InitMeans: mat.NewDense(2, 2, []float64{0, 1, 2, 3})}, nil)),
		} {
			errs = append(errs, fmt.Sprint(err))
		}
		return errs, nil
	})
	for rank, errs := range got {
		for i, want := range []string{"0 components", "50 points for 51", "50 points for", "Weights", "50 points for 51", "context canceled", "context canceled"} {
			if !strings.Contains(errs[i], want) {
				t.Errorf("rank %d: %q, want %q", rank, errs[i], want)
			}
		}
	}
}

// TestFitGMMWeights gives weights to one of the ranks. All must return an error.
func TestFitGMMWeights(t *testing.T) {
	onRanks(t, 3, 1, func() (*shard.Set, error) { return shard.NewSet(10, shard.Matrix("x", clusters(50, 2))) }, func(p *cluster.Points, rank int) (int, error) {
		opts := &gmm.Options{}
		if rank == 1 {
			opts.Weights = make([]float64, 50)
		}
		if _, _, err := cluster.FitGMM(t.Context(), p, 2, 1, opts, nil); err == nil || !strings.Contains(err.Error(), "points in shards have none") {
			return 0, fmt.Errorf("rank %d: %w", rank, err)
		}
		return 0, nil
	})
}

func last[A, B any](_ A, _ B, err error) error { return err }
