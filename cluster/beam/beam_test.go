package beam_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/cluster/beam"
	"revnum/cluster/shard"
	"revnum/program/dataset"
	"revnum/revmodels/gmm"
)

// The tests run on Prism in this process. They run on the runner of a job server, such as
// Spark's, with its address:
//
//	go test . -args -endpoint localhost:8099 -environment_type LOOPBACK
//
// docs/cluster.md says how to run them on workers that the runner starts.
func TestMain(m *testing.M) {
	flag.Parse()
	sdk.Init()
	os.Exit(m.Run())
}

func execute(t *testing.T, p *sdk.Pipeline) {
	t.Helper()
	run := prism.Execute
	if *jobopts.Endpoint != "" {
		run = universal.Execute
	}
	if _, err := run(t.Context(), p); err != nil {
		t.Error(err)
	}
}

// points writes points around three centres to two shards.
func points(t *testing.T) (*mat.Dense, []string) {
	t.Helper()
	const n, d = 1200, 2
	rnd := rand.New(rand.NewPCG(4, 5))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, float64(i%3*(4+j))+rnd.NormFloat64())
		}
	}
	dir := t.TempDir()
	var paths []string
	for part := range 2 {
		path := filepath.Join(dir, fmt.Sprintf("%d.npy", part))
		if err := dataset.WriteNpy(path, n/2, d, x.RawMatrix().Data[part*n/2*d:(part+1)*n/2*d]); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return x, paths
}

// fitted returns the mixture of package cluster after the given number of steps.
func fitted(t *testing.T, paths []string, opts *gmm.Options) *gmm.Mixture {
	t.Helper()
	p, err := cluster.NewPoints(cluster.Alone(), 1, func() (*shard.Set, error) { return dataset.Shards().OpenSet(100, shard.Columns{}, paths...) })
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m, _, err := cluster.FitGMM(t.Context(), p, 3, 1, opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestEM takes four steps on Prism, and wants the bits of package cluster.
func TestEM(t *testing.T) {
	_, paths := points(t)
	for _, kind := range []gmm.Covariance{gmm.Full, gmm.Tied, gmm.Diagonal, gmm.Spherical} {
		start := fitted(t, paths, &gmm.Options{MaxIter: 1, Covariance: kind})
		want, err := json.Marshal(fitted(t, paths, &gmm.Options{Init: start, MaxIter: 4, Tolerance: math.SmallestNonzeroFloat64, Covariance: kind}))
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(start)
		if err != nil {
			t.Fatal(err)
		}
		p, s := sdk.NewPipelineWithRoot()
		got, err := beam.EM(s, beam.Shards{Paths: paths, BlockRows: 100}, beam.Model{Start: b, Covariance: kind}, 4)
		if err != nil {
			t.Fatal(err)
		}
		passert.Equals(s, got, string(want))
		execute(t, p)
	}
}

// TestScoreAll compares with the scores of the mixture.
func TestScoreAll(t *testing.T) {
	x, paths := points(t)
	m := fitted(t, paths, nil)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	logs, labels := m.ScoreSamples(x), m.Predict(x)
	var want []any
	for i, v := range logs {
		want = append(want, beam.Score{Row: i, LogDensity: v, Component: labels[i]})
	}
	p, s := sdk.NewPipelineWithRoot()
	got, err := beam.ScoreAll(s, beam.Shards{Paths: paths, BlockRows: 216}, b)
	if err != nil {
		t.Fatal(err)
	}
	passert.Equals(s, got, want...)
	execute(t, p)
}

// TestRelative runs a pipeline whose shards had relative paths in another folder.
func TestRelative(t *testing.T) {
	x, paths := points(t)
	m := fitted(t, paths, nil)
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(paths[0]))
	p, s := sdk.NewPipelineWithRoot()
	shards := beam.Shards{Paths: []string{filepath.Base(paths[0]), filepath.Base(paths[1])}}
	scores, err := beam.ScoreAll(s, shards, b)
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := x.Dims()
	passert.Count(s, scores, "scores", rows)
	em, err := beam.EM(s, shards, beam.Model{Start: b}, 1)
	if err != nil {
		t.Fatal(err)
	}
	passert.Count(s, em, "mixtures", 1)
	t.Chdir(t.TempDir())
	execute(t, p)
}

// TestSumsFn adds numbers that cancel, in many elements.
func TestSumsFn(t *testing.T) {
	var list []beam.Vector
	for i := range 100 {
		v := math.Ldexp(1, 10*i-500)
		list = append(list, beam.Vector{X: []float64{v, -v}}, beam.Vector{X: []float64{-v, 0x1p-60}})
	}
	p, s := sdk.NewPipelineWithRoot()
	sum := sdk.Combine(s, &beam.SumsFn{}, sdk.Reshuffle(s, sdk.CreateList(s, list)))
	exact := cluster.NewSums(2)
	for _, v := range list {
		exact.Add(v.X)
	}
	want := beam.Vector{X: make([]float64, 2)}
	exact.RoundTo(want.X)
	passert.Equals(s, sum, want)
	execute(t, p)
}

func TestErrors(t *testing.T) {
	_, paths := points(t)
	_, s := sdk.NewPipelineWithRoot()
	if _, err := beam.EM(s, beam.Shards{Paths: paths}, beam.Model{Start: []byte("{}")}, 1); err == nil || !strings.Contains(err.Error(), "no weights") {
		t.Errorf("a mixture of nothing: %v", err)
	}
	if _, err := beam.Blocks(s, beam.Shards{Paths: []string{"missing.npy"}}); err == nil || !strings.Contains(err.Error(), "missing.npy") {
		t.Errorf("a missing file: %v", err)
	}
}
