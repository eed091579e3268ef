package kmeans

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/jsonfile"
	"revnum/internal/objective"
	"revnum/internal/parallel"
	"revnum/rev"
)

// Clustering is the result of Fit: centroids, and the points of each. Methods that take
// points take them as the rows of a matrix, and panic with mat.ErrShape if it has
// another number of columns than the centroids. The zero Clustering is only for
// UnmarshalJSON.
type Clustering struct {
	centroids rev.General[float64]
	labels    []int
	cost      float64
	workers   int
}

// NewClustering returns a clustering with the given cost and a copy of the given
// centroids, one a row. It has no labels, because it has no points.
func NewClustering(centroids *mat.Dense, cost float64) *Clustering {
	return &Clustering{centroids: rev.ViewDense(mat.DenseCopyOf(centroids)), labels: []int{}, cost: cost}
}

// Centroids returns a copy of the K×D centroids.
func (c *Clustering) Centroids() *mat.Dense {
	return mat.NewDense(c.centroids.Rows, c.centroids.Cols, slices.Clone(c.centroids.Data))
}

// Labels returns a copy of the labels of the fitted points: the indices of their
// nearest centroids.
func (c *Clustering) Labels() []int { return slices.Clone(c.labels) }

// Sizes returns the number of points of each cluster.
func (c *Clustering) Sizes() []int {
	sizes := make([]int, c.centroids.Rows)
	for _, label := range c.labels {
		sizes[label]++
	}
	return sizes
}

// Cost returns the weighted sum of the squared distances of the fitted points from
// their nearest centroids.
func (c *Clustering) Cost() float64 { return c.cost }

// Predict returns the index of the nearest centroid of each row of x: the lowest if
// there are several, and -1 for a row with a NaN. Squares of distances may underflow if all
// numbers of the centroids are below 2⁻⁴⁰⁰, and those of the row below 2⁻¹⁵⁰. If only some of the
// centroids are that small, those whose squared distances are below 2⁻¹⁰⁷⁴ count as equally near.
func (c *Clustering) Predict(x mat.Matrix) []int {
	labels, dists := c.nearest(x)
	for i, d := range dists {
		if math.IsNaN(d) {
			labels[i] = -1
		}
	}
	return labels
}

// Score returns minus the sum of the squared distances of the rows of x from
// their nearest centroids: higher is better, as for a mixture.
func (c *Clustering) Score(x mat.Matrix) float64 {
	var cost float64
	_, dists := c.nearest(x)
	for _, v := range dists {
		cost += v
	}
	return -cost
}

// nearest returns the nearest centroids of the rows of x, and their squared
// distances. If all centroids are small, so that squares may underflow, small rows are
// searched apart from the others, and enlarged. What it finds for a row depends on that row alone.
func (c *Clustering) nearest(x mat.Matrix) ([]int, []float64) {
	k := Cost[float64]{Centroids: c.centroids, X: objective.View(x), Workers: c.workers}
	labels, dists := make([]int, k.X.Rows), make([]float64, k.X.Rows)
	k.Nearest(labels, dists)
	if !small(c.centroids, 0x1p-400) {
		return labels, dists
	}
	var at []int
	var data []float64
	for i := range k.X.Rows {
		if row := k.X.Row(i); small(rev.NewGeneral(1, len(row), row), tinyLimit) {
			at, data = append(at, i), append(data, row...)
		}
	}
	k.Centroids, k.X = enlarged(k.Centroids), enlarged(rev.NewGeneral(len(at), k.X.Cols, data))
	near, squares := make([]int, len(at)), make([]float64, len(at))
	k.Nearest(near, squares)
	for p, i := range at {
		labels[i], dists[i] = near[p], squares[p]/enlargement/enlargement
	}
	return labels, dists
}

// Transform returns the N×K distances of the rows of x from the centroids.
func (c *Clustering) Transform(x mat.Matrix) *mat.Dense {
	view := objective.View(x)
	objective.CheckDims("kmeans.Clustering", "x", view.Rows, view.Cols, view.Rows, c.centroids.Cols)
	if view.Rows == 0 {
		return &mat.Dense{}
	}
	dst := mat.NewDense(view.Rows, c.centroids.Rows, nil)
	parallel.Run(parallel.Workers(c.workers), (view.Rows+panel-1)/panel, &transform{c.centroids, view, dst})
	return dst
}

// transform is the parallel task of Transform. Its blocks are runs of points.
type transform struct {
	centroids, x rev.General[float64]
	dst          *mat.Dense
}

// Block implements parallel.Task.
func (t *transform) Block(_, b int) {
	for i := b * panel; i < min((b+1)*panel, t.x.Rows); i++ {
		row := t.dst.RawRowView(i)
		for k := range row {
			square := distance(t.x.Row(i), t.centroids.Row(k))
			if row[k] = math.Sqrt(square); square < 0x1p-900 { // squares of coordinates may have underflowed
				var sum float64
				for j, v := range t.x.Row(i) {
					delta := (v - t.centroids.Row(k)[j]) * enlargement
					sum += float64(delta * delta)
				}
				row[k] = math.Sqrt(sum) / enlargement
			}
		}
	}
}

// clusteringJSON is the form of a Clustering in JSON.
type clusteringJSON struct {
	Centroids [][]float64 `json:"centroids"`
	Labels    []int       `json:"labels"`
	Cost      float64     `json:"cost"`
}

// MarshalJSON implements json.Marshaler. The form is
//
//	{"centroids": [K rows of D], "labels": [N integers], "cost": number}
//
// Reading it back gives the same clustering, bit for bit.
func (c *Clustering) MarshalJSON() ([]byte, error) {
	if c.centroids.Data == nil {
		return nil, errors.New("kmeans: a zero Clustering has no JSON form")
	}
	j := clusteringJSON{Labels: c.labels, Cost: c.cost}
	for k := range c.centroids.Rows {
		j.Centroids = append(j.Centroids, c.centroids.Row(k))
	}
	return json.Marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler. If the JSON does not describe a
// clustering, it returns an error that says why, and does not change c.
func (c *Clustering) UnmarshalJSON(b []byte) error {
	var j clusteringJSON
	if err := jsonfile.Unmarshal(b, &j); err != nil {
		return fmt.Errorf("kmeans: reading a clustering: %w", err)
	}
	if len(j.Centroids) == 0 || len(j.Centroids[0]) == 0 {
		return errors.New("kmeans: reading a clustering: no centroids")
	}
	k, d := len(j.Centroids), len(j.Centroids[0])
	read := Clustering{centroids: rev.NewGeneral[float64](k, d, nil), labels: j.Labels, cost: j.Cost}
	for i, row := range j.Centroids {
		if len(row) != d {
			return fmt.Errorf("kmeans: reading a clustering: centroid %d has %d coordinates, centroid 0 has %d", i, len(row), d)
		}
		copy(read.centroids.Row(i), row)
	}
	for i, label := range j.Labels {
		if label < 0 || label >= k {
			return fmt.Errorf("kmeans: reading a clustering: label %d is %d, want one from 0 to %d", i, label, k-1)
		}
	}
	if !(j.Cost >= 0) {
		return fmt.Errorf("kmeans: reading a clustering: the cost is %v", j.Cost)
	}
	*c = read
	return nil
}

// WriteFile writes c to the file at path, as JSON. If that fails, the file is as it was
// before.
func WriteFile(path string, c *Clustering) error { return jsonfile.Write(path, c) }

// ReadFile reads a clustering that WriteFile wrote.
func ReadFile(path string) (*Clustering, error) {
	return jsonfile.Read[Clustering](path, "a clustering")
}
