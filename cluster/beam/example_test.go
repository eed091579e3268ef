package beam_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster/beam"
	"revnum/program/dataset"
	"revnum/revmodels/gmm"
)

func init() {
	register.Function1x0(printMeans)
	register.Function1x0(printComponent)
}

func printMeans(mixture string) {
	m := new(gmm.Mixture)
	if err := m.UnmarshalJSON([]byte(mixture)); err != nil {
		fmt.Println(err)
		return
	}
	for i := range m.Components() {
		fmt.Printf("mean %.2f\n", m.Means().RawRowView(i))
	}
}

func printComponent(s beam.Score) { fmt.Printf("row %d: component %d\n", s.Row, s.Component) }

// exampleShards writes six points to a shard, and returns it with a mixture to begin with.
func exampleShards() (shards beam.Shards, start []byte, remove func(), err error) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		return shards, nil, nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	path := filepath.Join(dir, "points.npy")
	if err := dataset.WriteNpy(path, 6, 1, []float64{-1, 0, 1, 9, 10, 11}); err != nil {
		return shards, nil, remove, err
	}
	one := mat.NewSymDense(1, []float64{1})
	m, err := gmm.NewMixture([]float64{0.5, 0.5}, mat.NewDense(2, 1, []float64{2, 8}), []*mat.SymDense{one, one})
	if err != nil {
		return shards, nil, remove, err
	}
	start, err = json.Marshal(m)
	return beam.Shards{Paths: []string{path}}, start, remove, err
}

// The program must call beam.Init of Beam first. Here TestMain does.
func ExampleEM() {
	shards, start, remove, err := exampleShards()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	p, s := sdk.NewPipelineWithRoot()
	mixture, err := beam.EM(s, shards, beam.Model{Start: start}, 10)
	if err != nil {
		fmt.Println(err)
		return
	}
	sdk.ParDo0(s, printMeans, mixture)
	if _, err := prism.Execute(context.Background(), p); err != nil {
		fmt.Println(err)
	}
	// Output:
	// mean [0.00]
	// mean [10.00]
}

func ExampleScoreAll() {
	shards, mixture, remove, err := exampleShards()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()
	p, s := sdk.NewPipelineWithRoot()
	scores, err := beam.ScoreAll(s, shards, mixture)
	if err != nil {
		fmt.Println(err)
		return
	}
	sdk.ParDo0(s, printComponent, scores)
	if _, err := prism.Execute(context.Background(), p); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// row 0: component 0
	// row 1: component 0
	// row 2: component 0
	// row 3: component 1
	// row 4: component 1
	// row 5: component 1
}
