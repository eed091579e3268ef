package beam

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster/shard"
	"revnum/program/dataset"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// Shards say where points lie. The workers open them, and so does the program that
// makes the pipeline.
type Shards struct {
	Paths     []string // EM and ScoreAll make them absolute
	BlockRows int      // 0 means shard.DefaultBlock
	Columns   int      // of files of plain numbers

	set *shard.Set
	buf []float64
}

// absolute returns the shards with absolute paths, because workers may run in other folders.
// They are not open.
func (s *Shards) absolute() (Shards, error) {
	a := Shards{BlockRows: s.BlockRows, Columns: s.Columns}
	for _, path := range s.Paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return a, err
		}
		a.Paths = append(a.Paths, path)
	}
	return a, nil
}

// open opens the shards once.
func (s *Shards) open() (err error) {
	if s.set == nil {
		s.set, err = dataset.Shards().OpenSet(s.BlockRows, shard.Columns{Count: s.Columns}, s.Paths...)
	}
	return err
}

// read reads a block.
func (s *Shards) read(block int) (x rev.General[float64], err error) {
	if err = s.open(); err != nil {
		return x, err
	}
	x, err = s.set.Read(block, s.buf)
	s.buf = x.Data
	return x, err
}

// Teardown closes the shards.
func (s *Shards) Teardown() error {
	if s.set == nil {
		return nil
	}
	err := s.set.Close()
	s.set = nil
	return err
}

// Blocks returns the numbers of the blocks, spread over the workers.
func Blocks(s sdk.Scope, shards Shards) (sdk.PCollection, error) {
	if err := shards.open(); err != nil {
		return sdk.PCollection{}, err
	}
	blocks := make([]int, shards.set.Blocks())
	for i := range blocks {
		blocks[i] = i
	}
	return sdk.Reshuffle(s, sdk.CreateList(s, blocks)), shards.Teardown()
}

// A Fit is the state of a fit, as JSON of gmm.State, with what it knows of the points.
type Fit struct {
	Points           int
	Means, Variances []float64
	State            []byte
}

// A Model says which mixture to fit. Its fields are those of gmm.Options.
type Model struct {
	Start      []byte // a gmm.Mixture as JSON, to begin with
	Covariance gmm.Covariance
	RegCovar   float64
}

func encodeFit(f Fit) ([]byte, error) { return json.Marshal(f) }

func decodeFit(b []byte) (f Fit, err error) {
	err = json.Unmarshal(b, &f)
	return f, err
}

func init() {
	// A coder of its own: the rows of Beam's schemas do not reach every runner whole.
	sdk.RegisterCoder(reflect.TypeFor[Fit](), encodeFit, decodeFit)
	register.DoFn3x1[int, Vector, func(Vector), error](&columnsFn{})
	register.DoFn2x1[Vector, func(Vector), error](&meansFn{})
	register.DoFn3x1[Vector, Vector, func(Fit), error](&firstFn{})
	register.DoFn3x1[int, Fit, func(Vector), error](&momentsFn{})
	register.DoFn3x1[Vector, Fit, func(Fit), error](&stepFn{})
	register.DoFn2x1[Fit, func(string), error](&mixtureFn{})
	register.DoFn2x1[int, func(Score), error](&scoreFn{})
	register.Emitter1[Vector]()
	register.Emitter1[Fit]()
	register.Emitter1[string]()
	register.Emitter1[Score]()
	sdk.RegisterType(reflect.TypeFor[Score]())
}

// EM takes the given number of steps of expectation maximisation from m.Start. It
// returns a collection of one string, the mixture as JSON. The mixture has the bits of
// cluster.FitGMM with the same blocks, Init and number of steps. The pipeline fails where a
// gmm.Stepper returns an error.
func EM(s sdk.Scope, shards Shards, m Model, steps int) (sdk.PCollection, error) {
	if _, err := m.components(); err != nil {
		return sdk.PCollection{}, err
	}
	blocks, err := Blocks(s, shards)
	if err != nil {
		return sdk.PCollection{}, err
	}
	if err := shards.open(); err != nil {
		return sdk.PCollection{}, err
	}
	n, d := shards.set.Dims()
	if err := shards.Teardown(); err != nil {
		return sdk.PCollection{}, err
	}
	if shards, err = shards.absolute(); err != nil {
		return sdk.PCollection{}, err
	}
	zero := sdk.Create(s, Vector{make([]float64, d)})
	power := func(power int, about sdk.PCollection) sdk.PCollection {
		each := sdk.ParDo(s, &columnsFn{Shards: shards, Power: power}, blocks, sdk.SideInput{Input: about})
		return sdk.ParDo(s, &meansFn{Points: n}, sdk.Combine(s, &SumsFn{}, each))
	}
	means := power(1, zero)
	variances := power(2, means)
	fit := sdk.ParDo(s, &firstFn{Shards: shards, Points: n}, variances, sdk.SideInput{Input: means})
	for range steps {
		each := sdk.ParDo(s, &momentsFn{Shards: shards, Model: m}, blocks, sdk.SideInput{Input: fit})
		fit = sdk.ParDo(s, &stepFn{Model: m}, sdk.Combine(s, &SumsFn{}, each), sdk.SideInput{Input: fit})
	}
	return sdk.ParDo(s, &mixtureFn{Model: m}, fit), nil
}

// components returns the mixture to begin with.
func (m *Model) components() (*gmm.Mixture, error) {
	start := new(gmm.Mixture)
	if err := start.UnmarshalJSON(m.Start); err != nil {
		return nil, fmt.Errorf("beam: the mixture to begin with: %w", err)
	}
	return start, nil
}

// stepper returns the gmm.Stepper that takes the next step.
func (m *Model) stepper(f Fit) (*gmm.Stepper, error) {
	start, err := m.components()
	if err != nil {
		return nil, err
	}
	var state *gmm.State
	if len(f.State) > 0 {
		state = new(gmm.State)
		if err := json.Unmarshal(f.State, state); err != nil {
			return nil, err
		}
	}
	opts := &gmm.Options{Covariance: m.Covariance, RegCovar: m.RegCovar, Init: start}
	return gmm.NewStepper(f.Points, f.Means, f.Variances, start.Components(), opts, state)
}

// columnsFn sums powers of the columns of a block.
type columnsFn struct {
	Shards
	Power int
}

// ProcessElement does a block.
func (f *columnsFn) ProcessElement(block int, about Vector, emit func(Vector)) error {
	x, err := f.read(block)
	if err != nil {
		return err
	}
	if err := f.set.CheckFinite(block, x); err != nil {
		return err
	}
	origin, err := f.set.ReadRow(0)
	if err != nil {
		return err
	}
	sums := make([]float64, x.Cols)
	shard.Powers(sums, x, f.Power, origin, about.X)
	emit(Vector{sums})
	return nil
}

// meansFn divides by the number of points.
type meansFn struct{ Points int }

// ProcessElement does it.
func (f *meansFn) ProcessElement(sums Vector, emit func(Vector)) error {
	floats.Scale(1/float64(f.Points), sums.X)
	emit(sums)
	return nil
}

// firstFn makes a Fit without a State.
type firstFn struct {
	Shards
	Points int
}

// ProcessElement does it, given the means less the origin.
func (f *firstFn) ProcessElement(variances, means Vector, emit func(Fit)) error {
	if err := f.open(); err != nil {
		return err
	}
	origin, err := f.set.ReadRow(0)
	if err != nil {
		return err
	}
	sum := make([]float64, len(origin))
	floats.AddTo(sum, means.X, origin)
	emit(Fit{Points: f.Points, Means: sum, Variances: variances.X})
	return nil
}

// momentsFn computes the moments of a block.
type momentsFn struct {
	Shards
	Model Model
}

// ProcessElement does a block.
func (f *momentsFn) ProcessElement(block int, fit Fit, emit func(Vector)) error {
	s, err := f.Model.stepper(fit)
	if err != nil {
		return err
	}
	x, err := f.read(block)
	if err != nil {
		return err
	}
	e := s.Expectation()
	v := Vector{make([]float64, e.Len())}
	e.Moments(v.X, x)
	emit(v)
	return nil
}

// stepFn takes a step.
type stepFn struct{ Model Model }

// ProcessElement does it.
func (f *stepFn) ProcessElement(moments Vector, fit Fit, emit func(Fit)) error {
	s, err := f.Model.stepper(fit)
	if err != nil {
		return err
	}
	state, err := s.Step(moments.X)
	if err != nil {
		return err
	}
	if fit.State, err = json.Marshal(state); err != nil {
		return err
	}
	emit(fit)
	return nil
}

// mixtureFn makes the mixture of a Fit.
type mixtureFn struct{ Model Model }

// ProcessElement does it.
func (f *mixtureFn) ProcessElement(fit Fit, emit func(string)) error {
	s, err := f.Model.stepper(fit)
	if err != nil {
		return err
	}
	m, err := s.Mixture()
	if err != nil {
		return err
	}
	b, err := json.Marshal(m)
	emit(string(b))
	return err
}

// A Score is the score of a point under a mixture.
type Score struct {
	Row        int // among all rows of the shards
	LogDensity float64
	Component  int // the most probable one
}

// ScoreAll returns a Score for each point. The mixture is a gmm.Mixture as JSON.
func ScoreAll(s sdk.Scope, shards Shards, mixture []byte) (sdk.PCollection, error) {
	if err := new(gmm.Mixture).UnmarshalJSON(mixture); err != nil {
		return sdk.PCollection{}, err
	}
	blocks, err := Blocks(s, shards)
	if err != nil {
		return sdk.PCollection{}, err
	}
	if shards, err = shards.absolute(); err != nil {
		return sdk.PCollection{}, err
	}
	return sdk.ParDo(s, &scoreFn{Shards: shards, Mixture: mixture}, blocks), nil
}

// scoreFn scores the points of a block.
type scoreFn struct {
	Shards
	Mixture []byte
}

// ProcessElement does a block.
func (f *scoreFn) ProcessElement(block int, emit func(Score)) error {
	m := new(gmm.Mixture)
	if err := m.UnmarshalJSON(f.Mixture); err != nil {
		return err
	}
	x, err := f.read(block)
	if err != nil {
		return err
	}
	if x.Cols != m.Dim() {
		return fmt.Errorf("beam: points with %d columns for a mixture in %d dimensions", x.Cols, m.Dim())
	}
	points := mat.NewDense(x.Rows, x.Cols, x.Data)
	logs, labels := m.ScoreSamples(points), m.Predict(points)
	first, _ := f.set.Rows(block)
	for i, v := range logs {
		emit(Score{first + i, v, labels[i]})
	}
	return nil
}
