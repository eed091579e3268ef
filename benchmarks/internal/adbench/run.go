package adbench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"revnum/benchmarks/internal/problem"
	"revnum/internal/outfile"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// Run is one measurement, with the arguments of ADBench's runners.
type Run struct {
	Test      string  // one of Tests, in any case
	Module    string  // Revnum, RevnumMT or Revnum32, or a path as ADBench's scripts make it
	Input     string  // the problem's file
	OutPrefix string  // beginning of the names of the output files, with the folder
	MinTime   float64 // seconds that a batch of calls must take to be timed
	RunsF     int     // batches for the objective
	RunsJ     int     // batches for the gradient or the Jacobian
	TimeLimit float64 // seconds after which no new batch begins
	Replicate bool    // the file has one point, of which all are copies
}

// Tests are the names of ADBench's tests.
var Tests = []string{"GMM", "BA", "LSTM", "Hand", "Hand-Complicated"}

// Modules are the names of the ways in which revnum computes.
var Modules = []string{"Revnum", "RevnumMT", "Revnum32"}

// ParseRun reads the arguments of ADBench's runners: TEST MODULE INPUT
// OUTPREFIX MIN_TIME NRUNS_F NRUNS_J TIME_LIMIT [-rep].
func ParseRun(args []string) (Run, error) {
	if len(args) < 8 || len(args) > 9 {
		return Run{}, fmt.Errorf("expected the 8 arguments TEST MODULE INPUT OUTPREFIX MIN_TIME NRUNS_F NRUNS_J TIME_LIMIT, and -rep at most after them, found %d", len(args))
	}
	r := Run{Test: args[0], Module: args[1], Input: args[2], OutPrefix: args[3]}
	var err error
	seconds := func(name, s string) (v float64) {
		v, perr := strconv.ParseFloat(s, 64)
		if (perr != nil || math.IsNaN(v) || v < 0) && err == nil {
			err = fmt.Errorf("%s: expected a number of seconds, found %q", name, s)
		}
		return v
	}
	count := func(name, s string) (v int) {
		v, perr := strconv.Atoi(s)
		if (perr != nil || v < 0) && err == nil {
			err = fmt.Errorf("%s: expected a number of runs, found %q", name, s)
		}
		return v
	}
	r.MinTime = seconds("MIN_TIME", args[4])
	r.RunsF = count("NRUNS_F", args[5])
	r.RunsJ = count("NRUNS_J", args[6])
	r.TimeLimit = seconds("TIME_LIMIT", args[7])
	if err == nil && math.IsInf(r.MinTime, 1) {
		err = fmt.Errorf("MIN_TIME: expected a finite number of seconds, found %q", args[4])
	}
	if len(args) == 9 {
		if args[8] != "-rep" {
			return Run{}, fmt.Errorf("expected -rep or nothing after TIME_LIMIT, found %q", args[8])
		}
		r.Replicate = true
	}
	return r, err
}

// Do measures, writes the three result files, and reports on log. It writes files only
// when everything is computed.
func (r Run) Do(log io.Writer) error {
	if err := r.checkTest(); err != nil {
		return err
	}
	module, err := r.module()
	if err != nil {
		return err
	}
	// Check the folder first: a long measurement should not be lost.
	dir := filepath.Dir(r.OutPrefix + "x")
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("OUTPREFIX: the output folder: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("OUTPREFIX: %s: expected a folder", dir)
	}
	workers := 1
	if module == "RevnumMT" {
		workers = 0
	}
	if module == "Revnum32" {
		return measure[float32](r, module, workers, log)
	}
	return measure[float64](r, module, workers, log)
}

// measure measures over T.
func measure[T rev.Float](r Run, module string, workers int, log io.Writer) error {
	switch strings.ToUpper(r.Test) {
	case "BA":
		p, err := problem.LoadBA(r.Input)
		if err != nil {
			return err
		}
		return measureBA(r, module, problem.NewBAObjective[T](p, workers), log)
	case "LSTM":
		p, err := problem.LoadLSTM(r.Input)
		if err != nil {
			return err
		}
		o := problem.NewLSTMObjective[T](p)
		return measureGradient(r, module, o, o.Gradient, log)
	case "HAND", "HAND-COMPLICATED":
		p, err := problem.LoadHand(r.Input, strings.EqualFold(r.Test, "Hand-Complicated"))
		if err != nil {
			return err
		}
		return measureHand(r, module, problem.NewHandObjective[T](p), log)
	}
	p, err := problem.LoadGMM(r.Input, r.Replicate)
	if err != nil {
		return err
	}
	o := problem.NewGMMObjective[T](p, gmm.ADBench, workers)
	return measureGradient(r, module, o, o.Gradient, log)
}

// checkTest returns an error unless test is one of Tests.
func (r Run) checkTest() error {
	same := func(s string) bool { return strings.EqualFold(s, r.Test) }
	if slices.ContainsFunc(Tests, same) {
		return nil
	}
	return fmt.Errorf("TEST: unknown test %q; there are %s", r.Test, strings.Join(Tests, ", "))
}

// module returns the name of the module. ADBench's scripts name a module by the path of
// the file in which they expect it: .../Revnum.dll for C++ and .NET, .../RevnumGMM.py
// for Python, .../RevnumGMM.jl for Julia, and likewise for BA.
func (r Run) module() (string, error) {
	name := Basename(r.Module)
	if ext := r.Module[strings.LastIndexByte(r.Module, '.')+1:]; ext == "py" || ext == "jl" {
		for _, test := range Tests {
			name = strings.TrimSuffix(name, test)
		}
	}
	if !slices.Contains(Modules, name) {
		return "", fmt.Errorf("MODULE: unknown module %q; there are %s", r.Module, strings.Join(Modules, ", "))
	}
	return name, nil
}

// Basename returns the name of the file without its folders and its last extension.
// Both slashes separate folders, as in ADBench.
func Basename(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		name = name[:dot]
	}
	return name
}

// A scalar is an objective with one output.
type scalar[T rev.Float] interface {
	Value() T
	ValueGradient() T
}

func measureGradient[T rev.Float](r Run, module string, o scalar[T], gradient []T, log io.Writer) error {
	var value T
	timeF, timeJ, all, err := r.times(func() { value = o.Value() }, func() { o.ValueGradient() })
	if err != nil {
		return err
	}
	err = r.write(module, timeF, timeJ, func(w io.Writer) error { return WriteNumbers(w, []T{value}) },
		func(w io.Writer) error { return WriteNumbers(w, gradient) })
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: objective %.17e in %.3g s, gradient in %.3g s\n%s", Basename(r.Input), float64(value), timeF, timeJ, all)
	return nil
}

func measureBA[T rev.Float](r Run, module string, o *problem.BAObjective[T], log io.Writer) error {
	values := time.Duration(math.MaxInt64)
	timeF, timeJ, all, err := r.times(o.Value, func() {
		o.ValueJacobian()
		values = min(values, o.Values)
	})
	if err != nil {
		return err
	}
	err = r.write(module, timeF, timeJ, func(w io.Writer) error { return writeErrors(w, o) },
		func(w io.Writer) error { return writeSparse(w, o.Jacobian) })
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: errors in %.3g s, their Jacobian in %.3g s, its values alone in %.3g s\n%s",
		Basename(r.Input), timeF, timeJ, values.Seconds(), all)
	return nil
}

func measureHand[T rev.Float](r Run, module string, o *problem.HandObjective[T], log io.Writer) error {
	timeF, timeJ, all, err := r.times(o.Value, o.ValueJacobian)
	if err != nil {
		return err
	}
	err = r.write(module, timeF, timeJ, func(w io.Writer) error { return WriteNumbers(w, o.Kernel.R.Data) },
		func(w io.Writer) error { return writeDense(w, o.Jacobian) })
	if err != nil {
		return err
	}
	fmt.Fprintf(log, "%s: residuals in %.3g s, their Jacobian in %.3g s\n%s", Basename(r.Input), timeF, timeJ, all)
	return nil
}

// times measures the objective f and its derivatives j. all says how long the first calls took,
// and all of them in the mean.
func (r Run) times(f, j func()) (timeF, timeJ float64, all string, err error) {
	tf, err := ShortestTime(r.MinTime, r.RunsF, r.TimeLimit, f)
	if err != nil {
		return 0, 0, "", fmt.Errorf("objective: %w", err)
	}
	tj, err := ShortestTime(r.MinTime, r.RunsJ, r.TimeLimit, j)
	if err != nil {
		return 0, 0, "", fmt.Errorf("derivatives: %w", err)
	}
	all = fmt.Sprintf("first calls in %.3g s and %.3g s, the mean of all in %.3g s and %.3g s\n", tf.First, tj.First, tf.Mean, tj.Mean)
	return tf.Least, tj.Least, all, nil
}

// write writes the three files. The times are last: for ADBench's script, that file
// means that the test has finished.
func (r Run) write(module string, timeF, timeJ float64, f, j func(w io.Writer) error) error {
	prefix := r.OutPrefix + Basename(r.Input)
	times := func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%.6e\n%.6e\n", timeF, timeJ)
		return err
	}
	for _, file := range []struct {
		kind  string
		write func(w io.Writer) error
	}{{"F", f}, {"J", j}, {"times", times}} {
		if err := outfile.Write(prefix+"_"+file.kind+"_"+module+".txt", file.write); err != nil {
			return err
		}
	}
	return nil
}

// A measurement has seconds of a call.
type measurement struct{ Least, First, Mean float64 }

// ShortestTime measures calls of f in ADBench's way. The number of calls is doubled from 1 until a
// batch of that many takes longer than minTime. More batches of that size follow, until there are
// runs of them or the time limit is reached. The shortest of these batches counts.
func ShortestTime(minTime float64, runs int, limit float64, f func()) (m measurement, err error) {
	const maxRepeats = 1 << 30
	sum, calls := 0.0, 0
	zero := time.Now() // time.Since reads one clock, time.Now two
	batch := func(repeats int) float64 {
		start := time.Since(zero)
		for range repeats {
			f()
		}
		seconds := (time.Since(zero) - start).Seconds()
		sum, calls = sum+seconds, calls+repeats
		return seconds
	}
	repeats := 1
	seconds := batch(repeats)
	m.First = seconds
	for seconds <= minTime {
		if repeats == maxRepeats {
			return m, errors.New("a billion calls did not take MIN_TIME")
		}
		repeats *= 2
		seconds = batch(repeats)
	}
	best, total := seconds, seconds
	for run := 1; run < runs && total < limit; run++ {
		seconds = batch(repeats)
		best = min(best, seconds)
		total += seconds
	}
	m.Least, m.Mean = best/float64(repeats), sum/float64(calls)
	return m, nil
}
