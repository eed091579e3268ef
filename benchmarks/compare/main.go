//go:build unix

// The compare command fits the points of a file by k-means and by a mixture. compare.py
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
	"syscall"
	"time"

	"revnum/program/dataset"
	"revnum/revmodels/gmm"
	"revnum/revmodels/kmeans"
)

func main() {
	k := flag.Int("k", 20, "number of clusters and of components")
	seed := flag.Uint64("seed", 1, "seed of the starts")
	repeat := flag.Int("repeat", 5, "how often to fit; the least times are reported")
	flag.Parse()
	if err := compare(os.Stdout, flag.Arg(0), *k, *seed, *repeat); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// result is the output for a fit: the least times of all repetitions.
type result struct {
	Wall, CPU float64 // in seconds, of the process
	Model     json.Marshaler
}

// compare writes the results for the points in the file at path.
func compare(w io.Writer, path string, k int, seed uint64, repeat int) error {
	t, err := dataset.Load(path)
	if err != nil {
		return err
	}
	ctx := context.Background()
	results := make(map[string]result)
	for name, fit := range map[string]func() (json.Marshaler, error){
		"kmeans": func() (json.Marshaler, error) {
			c, _, err := kmeans.Fit(ctx, t.X, k, &kmeans.Options{Source: rand.NewPCG(seed, 0)})
			return c, err
		},
		"gmm": func() (json.Marshaler, error) {
			m, _, err := gmm.Fit(ctx, t.X, k, &gmm.Options{Source: rand.NewPCG(seed, 0)})
			return m, err
		},
	} {
		for i := range repeat {
			wall, cpu := time.Now(), processorTime()
			model, err := fit()
			if err != nil {
				return err
			}
			r := result{time.Since(wall).Seconds(), processorTime() - cpu, model}
			if i > 0 {
				r.Wall, r.CPU = min(r.Wall, results[name].Wall), min(r.CPU, results[name].CPU)
			}
			results[name] = r
		}
	}
	return json.NewEncoder(w).Encode(results)
}

// processorTime returns the seconds that the process has computed, on all cores.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
