package main

// #include "revnum.h"
import "C"

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/objective"
	"revnum/rev"
	"revnum/revmodels/ba"
	"revnum/revmodels/gmm"
	"revnum/revmodels/graphembed"
	"revnum/revmodels/kmeans"
	"revnum/rules"
)

// tasks are the tasks of rev_model. The comments list their arrays, and say which ones
// the task writes.
var tasks = map[string]func(ctx context.Context, options []byte, a arrays) (any, error){
	"gmm.fit":          fitMixture,      // points; weights of points, or nothing; the mixture, written, or nothing, for one in the report
	"gmm.score":        scoreMixture,    // points; log densities, written, or nothing; responsibilities, written, or nothing; labels, written, or nothing; the mixture, or nothing for that of the options
	"kmeans.fit":       fitClusters,     // points; weights of points, or nothing; labels, written; centroids to start from, or nothing; centroids, written, or nothing, for those in the report
	"kmeans.predict":   predictClusters, // points; centroids; labels, written
	"graphembed.embed": embedGraph,      // edges; positions, a vertex a row, written
	"ba.jacobian":      bundleJacobian,  // cameras; points; features; cameras of observations; points of observations; residuals, written; Jacobian, written
	"ba.solve":         adjustBundle,    // cameras, changed; points, changed; features; cameras of observations; points of observations
}

// running has the functions that end the tasks that run.
var running sync.Map

//export goInterrupt
func goInterrupt() {
	running.Range(func(_, end any) bool {
		end.(context.CancelFunc)()
		return true
	})
}

//export goModel
func goModel(task, options *C.char, args *C.rev_arg, n C.int64_t, text *C.char, room C.int64_t, message *C.char, size C.int64_t) C.int32_t {
	return guard(message, size, func() error {
		do, ok := tasks[textOf(task)]
		if !ok {
			return fmt.Errorf("%w: no task %q", errArgument, textOf(task))
		}
		a := new(arguments)
		if err := a.set(args, n, nil); err != nil {
			return err
		}
		json := []byte(textOf(options))
		if len(json) == 0 {
			json = []byte("{}")
		}
		ctx, end := context.WithCancel(context.Background())
		defer end()
		running.Store(&ctx, end)
		defer running.Delete(&ctx)
		result, err := do(ctx, json, a.parts[0])
		if err != nil {
			return err
		}
		return giveReport(text, room, result)
	})
}

func giveReport(text *C.char, room C.int64_t, result any) error {
	b, err := json.Marshal(result)
	if err != nil {
		return err
	}
	if int64(len(b)) >= int64(room) {
		return fmt.Errorf("%w: a report of %d bytes does not fit in %d", errArgument, len(b), int64(room))
	}
	report(text, room, string(b))
	return nil
}

// arrays are the arguments of a task.
type arrays []rules.Buffer

// array returns the elements of argument i, which must have no gaps and be of type t.
// It is nil if the argument is optional and missing.
func (a arrays) array(i int, t rules.Type, axes int, optional bool) (rules.Buffer, error) {
	if i >= len(a) || a[i].Data == nil {
		if optional {
			return rules.Buffer{}, nil
		}
		return rules.Buffer{}, fmt.Errorf("%w: argument %d is missing", errArgument, i)
	}
	b := a[i]
	rows, cols := b.Shape[0], 1
	if axes == 2 {
		cols = b.Shape[1]
	}
	dense := rows == 0 || cols == 0 || (rows == 1 || b.Stride[0] == cols) && (cols == 1 || b.Stride[1] == 1)
	if b.Type != t || b.Axes != axes || !dense || cols != 0 && rows > b.Len/cols {
		return b, fmt.Errorf("%w: argument %d: want %d axes of %v without gaps", errArgument, i, axes, t)
	}
	b.Len = rows * cols
	return b, nil
}

// has reports whether there is an argument i.
func (a arrays) has(i int) bool { return i < len(a) && a[i].Data != nil }

func (a arrays) vector(i int, optional bool) ([]float64, error) {
	b, err := a.array(i, rules.Float64, 1, optional)
	return unsafe.Slice((*float64)(b.Data), b.Len), err
}

func (a arrays) ints(i int) ([]int, error) {
	b, err := a.array(i, rules.Int, 1, false)
	return unsafe.Slice((*int)(b.Data), b.Len), err
}

func (a arrays) matrix(i int) (*mat.Dense, error) {
	b, err := a.array(i, rules.Float64, 2, false)
	if err != nil {
		return nil, err
	}
	if b.Len == 0 {
		return nil, fmt.Errorf("%w: argument %d is %d×%d", errArgument, i, b.Shape[0], b.Shape[1])
	}
	return mat.NewDense(b.Shape[0], b.Shape[1], unsafe.Slice((*float64)(b.Data), b.Len)), nil
}

// read reads options. An unknown option is an error.
func read(options []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(options))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("%w: options: %w", errArgument, err)
	}
	return nil
}

func source(seed uint64) rand.Source { return rand.NewPCG(seed, 1) }

func fitMixture(ctx context.Context, options []byte, a arrays) (any, error) {
	o := struct {
		Components int            `json:"components"`
		Covariance gmm.Covariance `json:"covariance"`
		Starts     int            `json:"starts"`
		MaxIter    int            `json:"max_iter"`
		Tolerance  float64        `json:"tolerance"`
		RegCovar   float64        `json:"reg_covar"`
		Polish     bool           `json:"polish"`
		Seed       uint64         `json:"seed"`
		Workers    int            `json:"workers"`
		Init       *gmm.Mixture   `json:"init"`
	}{Components: 1}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	x, err := a.matrix(0)
	if err != nil {
		return nil, err
	}
	weights, err := a.vector(1, true)
	if err != nil {
		return nil, err
	}
	if a.has(2) { // before the fit, which may take long
		_, means, _, err := a.mixtureArrays(2)
		if err != nil {
			return nil, err
		}
		if r, c := means.Dims(); r != o.Components || c != x.RawMatrix().Cols {
			return nil, fmt.Errorf("%w: means are %d×%d, want %d×%d", errArgument, r, c, o.Components, x.RawMatrix().Cols)
		}
	}
	m, r, err := gmm.Fit(ctx, x, o.Components, &gmm.Options{
		Covariance: o.Covariance, Starts: o.Starts, MaxIter: o.MaxIter, Tolerance: o.Tolerance, RegCovar: o.RegCovar,
		Polish: o.Polish, Weights: weights, Source: source(o.Seed), Workers: o.Workers, Init: o.Init,
	})
	if err != nil {
		return nil, err
	}
	best, report := r.Starts[r.Best], m
	if a.has(2) {
		report = nil
		if err := a.setMixture(2, m); err != nil {
			return nil, err
		}
	}
	return struct {
		Mixture       *gmm.Mixture `json:"mixture,omitempty"`
		LogLikelihood float64      `json:"log_likelihood"`
		LogPosterior  float64      `json:"log_posterior"`
		Iterations    int          `json:"iterations"`
		Converged     bool         `json:"converged"`
		History       []float64    `json:"history"` // the log posterior before each iteration
	}{report, best.LogLikelihood, best.LogPosterior, best.Iterations, best.Converged, best.History}, nil
}

// A mixture is three arguments from first on: the weights, the means as rows, and the covariances one below the
// other. Text of large matrices would take longer than what is done with them.

// setMixture copies m to these arguments.
func (a arrays) setMixture(first int, m *gmm.Mixture) error {
	d := m.Dim()
	weights, means, covariances, err := a.mixtureArrays(first)
	if err != nil {
		return err
	}
	copy(weights, m.Weights())
	means.Copy(m.Means())
	for i, c := range m.Covariances() {
		covariances.Slice(i*d, (i+1)*d, 0, d).(*mat.Dense).Copy(c)
	}
	return nil
}

// mixture returns the mixture of these arguments, with covariances of the given kind.
func (a arrays) mixture(first int, kind gmm.Covariance) (*gmm.Mixture, error) {
	weights, means, covariances, err := a.mixtureArrays(first)
	if err != nil {
		return nil, err
	}
	k, d := means.Dims()
	list := make([]*mat.SymDense, k)
	for i := range list {
		c := covariances.RawMatrix().Data[i*d*d:][:d*d]
		for row := range d {
			for col := range row {
				// As in text, up to rounding.
				if v, w := c[row*d+col], c[col*d+row]; !(math.Abs(v-w) <= 1e-9*math.Sqrt(math.Abs(c[row*d+row]*c[col*d+col]))) {
					return nil, fmt.Errorf("%w: covariance %d is not symmetric: element (%d, %d) is %v, (%d, %d) is %v", errArgument, i, row, col, v, col, row, w)
				}
			}
		}
		list[i] = mat.NewSymDense(d, c)
	}
	m, err := gmm.NewMixtureOf(kind, weights, means, list)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errArgument, err)
	}
	return m, nil
}

func (a arrays) mixtureArrays(first int) (weights []float64, means, covariances *mat.Dense, err error) {
	weights, err1 := a.vector(first, false)
	means, err2 := a.matrix(first + 1)
	covariances, err3 := a.matrix(first + 2)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return nil, nil, nil, err
	}
	k, d := means.Dims()
	if k != len(weights) {
		return nil, nil, nil, fmt.Errorf("%w: %d means for %d weights", errArgument, k, len(weights))
	}
	if r, c := covariances.Dims(); r != k*d || c != d {
		return nil, nil, nil, fmt.Errorf("%w: covariances are %d×%d, want %d×%d", errArgument, r, c, k*d, d)
	}
	return weights, means, covariances, nil
}

func scoreMixture(_ context.Context, options []byte, a arrays) (any, error) {
	o := struct {
		Mixture    gmm.Mixture    `json:"mixture"`
		Covariance gmm.Covariance `json:"covariance"` // of the mixture of the arguments
	}{}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	x, err := a.matrix(0)
	if err != nil {
		return nil, err
	}
	m := &o.Mixture
	if a.has(4) {
		if m, err = a.mixture(4, o.Covariance); err != nil {
			return nil, err
		}
	}
	if m.Components() == 0 {
		return nil, fmt.Errorf("%w: no mixture", errArgument)
	}
	rows, cols := x.Dims()
	if cols != m.Dim() {
		return nil, fmt.Errorf("%w: points of %d coordinates, and a mixture of %d", errArgument, cols, m.Dim())
	}
	if a.has(1) {
		to, err := a.vector(1, false)
		if err != nil {
			return nil, err
		}
		if len(to) != rows {
			return nil, fmt.Errorf("%w: %d log densities for %d points", errArgument, len(to), rows)
		}
		copy(to, m.ScoreSamples(x))
	}
	if a.has(2) {
		to, err := a.matrix(2)
		if err != nil {
			return nil, err
		}
		if r, c := to.Dims(); r != rows || c != m.Components() {
			return nil, fmt.Errorf("%w: responsibilities are %d×%d, want %d×%d", errArgument, r, c, rows, m.Components())
		}
		to.Copy(m.Responsibilities(x))
	}
	if a.has(3) {
		to, err := a.ints(3)
		if err != nil {
			return nil, err
		}
		if len(to) != rows {
			return nil, fmt.Errorf("%w: %d labels for %d points", errArgument, len(to), rows)
		}
		copy(to, m.Predict(x))
	}
	return struct{}{}, nil
}

func fitClusters(ctx context.Context, options []byte, a arrays) (any, error) {
	o := struct {
		Clusters  int     `json:"clusters"`
		Starts    int     `json:"starts"`
		MaxIter   int     `json:"max_iter"`
		Tolerance float64 `json:"tolerance"`
		Batch     int     `json:"batch"`
		Seed      uint64  `json:"seed"`
		Workers   int     `json:"workers"`
	}{}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	x, err := a.matrix(0)
	if err != nil {
		return nil, err
	}
	weights, err := a.vector(1, true)
	if err != nil {
		return nil, err
	}
	labels, err := a.ints(2)
	if err != nil {
		return nil, err
	}
	var init, centroids *mat.Dense
	for i, m := range []**mat.Dense{&init, &centroids} {
		if a.has(3 + i) {
			if *m, err = a.matrix(3 + i); err != nil {
				return nil, err
			}
		}
	}
	if centroids != nil { // before the fit, which may take long
		_, d := x.Dims()
		if r, c := centroids.Dims(); r != o.Clusters || c != d {
			return nil, fmt.Errorf("%w: centroids are %d×%d, want %d×%d", errArgument, r, c, o.Clusters, d)
		}
	}
	c, r, err := kmeans.Fit(ctx, x, o.Clusters, &kmeans.Options{
		Starts: o.Starts, MaxIter: o.MaxIter, Tolerance: o.Tolerance, Batch: o.Batch, Weights: weights, Init: init,
		Source: source(o.Seed), Workers: o.Workers,
	})
	if err != nil {
		return nil, err
	}
	if rows, _ := x.Dims(); len(labels) != rows {
		return nil, fmt.Errorf("%w: %d labels for %d points", errArgument, len(labels), rows)
	}
	copy(labels, c.Labels())
	var report [][]float64
	if centroids == nil {
		report = rowsOf(c.Centroids())
	} else {
		centroids.Copy(c.Centroids())
	}
	return struct {
		Centroids  [][]float64 `json:"centroids,omitempty"`
		Cost       float64     `json:"cost"`
		Iterations int         `json:"iterations"`
		Converged  bool        `json:"converged"`
	}{report, c.Cost(), r.Starts[r.Best].Iterations, r.Starts[r.Best].Converged}, nil
}

func rowsOf(m *mat.Dense) [][]float64 {
	rows, _ := m.Dims()
	list := make([][]float64, rows)
	for i := range list {
		list[i] = m.RawRowView(i)
	}
	return list
}

func predictClusters(_ context.Context, options []byte, a arrays) (any, error) {
	if err := read(options, &struct{}{}); err != nil {
		return nil, err
	}
	x, err := a.matrix(0)
	if err != nil {
		return nil, err
	}
	centroids, err := a.matrix(1)
	if err != nil {
		return nil, err
	}
	labels, err := a.ints(2)
	if err != nil {
		return nil, err
	}
	n, d := x.Dims()
	if _, cols := centroids.Dims(); cols != d || len(labels) != n {
		return nil, fmt.Errorf("%w: %d points of %d coordinates, centroids of %d, %d labels", errArgument, n, d, cols, len(labels))
	}
	if err := objective.CheckFinite("a centroid", rev.ViewDense(centroids)); err != nil {
		return nil, fmt.Errorf("%w: %w", errArgument, err)
	}
	copy(labels, kmeans.NewClustering(centroids, 0).Predict(x))
	return struct{}{}, nil
}

func embedGraph(ctx context.Context, options []byte, a arrays) (any, error) {
	o := struct {
		Vertices int     `json:"vertices"`
		Dim      int     `json:"dim"`
		Margin   float64 `json:"margin"`
		Starts   int     `json:"starts"`
		MaxIter  int     `json:"max_iter"`
		Seed     uint64  `json:"seed"`
		Workers  int     `json:"workers"`
	}{}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	edges, err := a.array(0, rules.Int, 2, false)
	if err != nil {
		return nil, err
	}
	if edges.Shape[1] != 2 {
		return nil, fmt.Errorf("%w: edges of %d vertices, want 2", errArgument, edges.Shape[1])
	}
	g, err := graphembed.NewGraph(o.Vertices, unsafe.Slice((*[2]int)(edges.Data), edges.Shape[0]))
	if err != nil {
		return nil, err
	}
	to, err := a.matrix(1)
	if err != nil {
		return nil, err
	}
	if rows, cols := to.Dims(); rows != o.Vertices || cols != o.Dim {
		return nil, fmt.Errorf("%w: positions are %d×%d, want %d×%d", errArgument, rows, cols, o.Vertices, o.Dim)
	}
	e, err := graphembed.Embed(ctx, g, o.Dim, &graphembed.Options{
		Margin: o.Margin, Starts: o.Starts, MaxIter: o.MaxIter, Source: source(o.Seed), Workers: o.Workers,
	})
	if err != nil {
		return nil, err
	}
	to.Copy(e.X)
	return map[string]any{"loss": e.Loss, "iterations": e.Starts[e.Best].Iterations}, nil
}

func adjustBundle(ctx context.Context, options []byte, a arrays) (any, error) {
	o := struct {
		MaxIter      int     `json:"max_iter"`
		Tolerance    float64 `json:"tolerance"`
		FixedCameras []int   `json:"fixed_cameras"`
		FixedPoints  []int   `json:"fixed_points"`
		Workers      int     `json:"workers"`
	}{}
	if err := read(options, &o); err != nil {
		return nil, err
	}
	p, err := bundleOf(a)
	if err != nil {
		return nil, err
	}
	r, err := ba.Solve(ctx, p, &ba.Options{
		MaxIter: o.MaxIter, CostTolerance: o.Tolerance, FixedCameras: o.FixedCameras, FixedPoints: o.FixedPoints, Workers: o.Workers,
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"initial_cost": r.Initial, "final_cost": r.Final, "iterations": len(r.Iterations) - 1,
		"converged": r.Status.Converged(), "status": r.Status.String(), "behind": r.Behind,
	}, nil
}

// bundleOf returns the problem of the first five arguments.
func bundleOf(a arrays) (*ba.Problem, error) {
	var dense [3]*mat.Dense
	for i, cols := range []int{9, 3, 2} {
		var err error
		if dense[i], err = a.matrix(i); err != nil {
			return nil, err
		}
		if _, c := dense[i].Dims(); c != cols {
			return nil, fmt.Errorf("%w: argument %d has %d columns, want %d", errArgument, i, c, cols)
		}
	}
	camera, err := a.ints(3)
	if err != nil {
		return nil, err
	}
	point, err := a.ints(4)
	if err != nil {
		return nil, err
	}
	return &ba.Problem{
		Cameras: dense[0].RawMatrix().Data, Points: dense[1].RawMatrix().Data, Features: dense[2].RawMatrix().Data,
		Camera: camera, Point: point,
	}, nil
}

func bundleJacobian(_ context.Context, options []byte, a arrays) (any, error) {
	if err := read(options, &struct{}{}); err != nil {
		return nil, err
	}
	p, err := bundleOf(a)
	if err != nil {
		return nil, err
	}
	r, err := a.vector(5, false)
	if err != nil {
		return nil, err
	}
	j, err := a.matrix(6)
	if err != nil {
		return nil, err
	}
	if rows, cols := j.Dims(); rows != len(p.Features) || cols != 12 {
		return nil, fmt.Errorf("%w: the Jacobian is %d×%d, want %d×12", errArgument, rows, cols, len(p.Features))
	}
	for i, c := range p.Camera {
		if c < 0 || c >= len(p.Cameras)/9 {
			return nil, fmt.Errorf("%w: observation %d is of camera %d of %d", errArgument, i, c, len(p.Cameras)/9)
		}
	}
	for i, c := range p.Point {
		if c < 0 || c >= len(p.Points)/3 {
			return nil, fmt.Errorf("%w: observation %d is of point %d of %d", errArgument, i, c, len(p.Points)/3)
		}
	}
	clear(r)
	k := ba.Snavely[float64]{
		R: rev.ViewSlice(r), Cameras: rev.NewGeneral(len(p.Cameras)/9, 9, p.Cameras), Points: rev.NewGeneral(len(p.Points)/3, 3, p.Points),
		Features: rev.NewGeneral(len(p.Features)/2, 2, p.Features), Camera: p.Camera, Point: p.Point,
	}
	return struct{}{}, k.Jacobian(rev.NewGeneral(len(p.Features), 12, j.RawMatrix().Data))
}
