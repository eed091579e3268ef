//go:build unix

// The compare command fits the points of a file by k-means and by mixtures. compare.py
// sets the models and times beside those of scikit-learn.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/program/dataset"
	"revnum/revmodels/gmm"
	"revnum/revmodels/kmeans"
)

func main() {
	var o options
	flag.IntVar(&o.k, "k", 20, "number of clusters and of components")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the starts")
	flag.IntVar(&o.repeat, "repeat", 5, "how often to fit; the least times are reported")
	flag.Float64Var(&o.reg, "reg", 0, "RegCovar of mixtures")
	flag.Float64Var(&o.tolerance, "tolerance", 0, "Tolerance of mixtures")
	flag.IntVar(&o.starts, "starts", 0, "Starts of fits")
	methods := flag.String("methods", "kmeans,full", "what to fit: kmeans, and mixtures by their covariances")
	flag.Parse()
	if err := compare(os.Stdout, flag.Arg(0), strings.Split(*methods, ","), o); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// options are those of all fits. A 0 means the default.
type options struct {
	k, repeat      int
	seed           uint64
	reg, tolerance float64
	starts         int
}

// result is the output for a fit: the least times of all repetitions.
type result struct {
	Wall, CPU float64 // in seconds, of the process
	Model     json.Marshaler
}

// compare writes the results of the methods for the points in the file at path.
func compare(w io.Writer, path string, methods []string, o options) error {
	t, err := dataset.Load(path)
	if err != nil {
		return err
	}
	results := make(map[string]result)
	for _, method := range methods {
		for i := range o.repeat {
			wall, cpu := time.Now(), processorTime()
			model, err := o.fit(t.X, method)
			if err != nil {
				return err
			}
			r := result{time.Since(wall).Seconds(), processorTime() - cpu, model}
			if i > 0 {
				r.Wall, r.CPU = min(r.Wall, results[method].Wall), min(r.CPU, results[method].CPU)
			}
			results[method] = r
		}
	}
	return json.NewEncoder(w).Encode(results)
}

// fit fits by one method.
func (o *options) fit(x *mat.Dense, method string) (json.Marshaler, error) {
	ctx, source := context.Background(), rand.NewPCG(o.seed, 0)
	if method == "kmeans" {
		c, _, err := kmeans.Fit(ctx, x, o.k, &kmeans.Options{Starts: o.starts, Source: source})
		return c, err
	}
	opts := &gmm.Options{Starts: o.starts, RegCovar: o.reg, Tolerance: o.tolerance, Source: source}
	if err := opts.Covariance.UnmarshalText([]byte(method)); err != nil {
		return nil, err
	}
	m, _, err := gmm.Fit(ctx, x, o.k, opts)
	return m, err
}

// processorTime returns the seconds that the process has computed, on all cores.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
