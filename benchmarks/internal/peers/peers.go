// Package peers measures kernels beside what users would take instead: NumPy, SciPy, PyTorch,
// FFTW, and loops in C with the vector functions of the C library.
package peers

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"revnum/benchmarks/internal/machine"
	"revnum/benchmarks/internal/vectors"
	"revnum/rules"
)

//go:embed programs/peers.py
var script []byte

//go:embed programs/loops.c
var loops []byte

// A Result is a pass over a case, beside its best peer.
type Result struct {
	Case, Pass  string
	Ours        float64 // seconds of the fastest call
	Peer        string  // the fastest one; empty if there is none
	Theirs      float64
	Ratio       float64            // the median of Theirs/Ours over the rounds
	All         map[string]float64 // seconds of the fastest call by peer
	OfLimit     float64            // fraction of the multiply-add peak; 0 where memory bounds the kernel
	Differences map[string]float64 // of peers that compute something else
	Failed      string             // why there is no time of ours
}

// Passes are the names of the passes: a value, and a value with gradients.
var Passes = []string{"value", "gradient"}

// A Session is a running program of peers.
type Session struct {
	folder  string
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// Start starts the program of peers with a Python. It has the given number of threads.
func Start(ctx context.Context, python string, threads int) (*Session, error) {
	folder, err := os.MkdirTemp("", "peers")
	if err != nil {
		return nil, err
	}
	s := &Session{folder: folder}
	for name, text := range map[string][]byte{"peers.py": script, "loops.c": loops} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.process = exec.CommandContext(ctx, python, filepath.Join(folder, "peers.py"))
	s.process.Stderr = os.Stderr
	s.process.Env = append(machine.Environ(threads), "TMPDIR="+folder)
	if s.in, err = s.process.StdinPipe(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.out = bufio.NewScanner(out)
	if err := s.process.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("the Python of the peers: %w", err), os.RemoveAll(folder))
	}
	return s, nil
}

// Close ends the program.
func (s *Session) Close() error {
	var err error
	if s.process != nil && s.process.Process != nil {
		err = errors.Join(s.in.Close(), s.process.Wait())
	}
	return errors.Join(err, os.RemoveAll(s.folder))
}

// ask sends a message and reads the answer.
func (s *Session) ask(message, answer any) error {
	if err := json.NewEncoder(s.in).Encode(message); err != nil {
		return err
	}
	if !s.out.Scan() {
		return errors.Join(errors.New("the program of peers ended before it answered"), s.out.Err())
	}
	return json.Unmarshal(s.out.Bytes(), answer)
}

// Measure measures the passes of a case. Ours and the peers take turns, for the given number
// of rounds, and each takes about the given time in a round.
func (s *Session) Measure(ctx context.Context, c *Case, rounds int, budget time.Duration) ([]Result, error) {
	file, args := filepath.Join(s.folder, "case.npz"), c.args()
	if err := vectors.WriteValue(file, c.Rule, args); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	var found struct {
		Peers map[string][]string
		Wrong map[string]float64
	}
	if err := s.ask(map[string]any{"case": file, "kernel": c.Rule.Kernel}, &found); err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	var results []Result
	for _, pass := range Passes {
		r := Result{Case: c.Name(), Pass: pass, All: map[string]float64{}, Differences: found.Wrong}
		run, times, err := c.pass(pass, args)
		if err != nil {
			r.Failed = err.Error()
			results = append(results, r)
			continue
		}
		var ratios []float64
		for range rounds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			ours, err := fastest(run, budget)
			if err != nil {
				r.Failed = err.Error()
				break
			}
			ours /= times
			r.Ours = least(r.Ours, ours)
			if len(found.Peers[pass]) == 0 {
				continue
			}
			var theirs map[string]float64
			if err := s.ask(map[string]any{"pass": pass, "seconds": budget.Seconds()}, &theirs); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name(), err)
			}
			best := slices.Min(slices.Collect(maps.Values(theirs)))
			ratios = append(ratios, best/ours)
			for name, t := range theirs {
				r.All[name] = least(r.All[name], t)
			}
		}
		if len(ratios) > 0 {
			slices.Sort(ratios)
			r.Ratio = ratios[len(ratios)/2]
			r.Peer = slices.MinFunc(slices.Sorted(maps.Keys(r.All)), func(a, b string) int { return cmp.Compare(r.All[a], r.All[b]) })
			r.Theirs = r.All[r.Peer]
		}
		results = append(results, r)
	}
	return results, nil
}

// least returns the smaller of two times, of which the first may be missing.
func least(a, b float64) float64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// pass returns a function that makes a pass on a number of times, once for each.
func (c *Case) pass(name string, a rules.Args) (run func() error, times float64, err error) {
	if !c.Rule.InPlace {
		p := rules.Forward
		if name == "gradient" {
			p = rules.Gradient
		}
		run, err = c.Rule.Prepare(p, a)
		return run, 1, err
	}
	// The second pass brings the operands back, so that they stay in bounds.
	back, times := rules.Inverse, 2.
	if name == "gradient" {
		back, times = rules.Adjoint, 1
	}
	one, err := c.Rule.Prepare(rules.Forward, a)
	if err != nil {
		return nil, 0, err
	}
	two, err := c.Rule.Prepare(back, a)
	return func() error { return cmp.Or(one(), two()) }, times, err
}

// fastest returns the seconds of the fastest call: the least mean of batches of at least 100 µs.
func fastest(run func() error, budget time.Duration) (float64, error) {
	best := math.Inf(1)
	for n, begin := 1, time.Now(); ; {
		start := time.Now()
		for range n {
			if err := run(); err != nil {
				return 0, err
			}
		}
		if d := time.Since(start); d < 100*time.Microsecond && n < 1<<20 {
			n *= 2
			continue
		} else {
			best = min(best, d.Seconds()/float64(n))
		}
		if time.Since(begin) > budget {
			return best, nil
		}
	}
}

// Limit sets OfLimit by the multiply-add peak of a machine.
func (r *Result) Limit(c *Case, m *machine.Machine, threads int) {
	peak := m.FMA64
	if c.Rule.Type == rules.Float32 {
		peak = m.FMA32
	}
	if r.Pass == "value" {
		r.OfLimit = c.flops / (r.Ours * peak * float64(threads))
	}
}

// WriteTable writes results as a table.
func WriteTable(w io.Writer, results []Result) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "kernel\tpass\tours, µs\tbest peer\tits time, µs\tratio\tof peak")
	for _, r := range results {
		ours := fmt.Sprintf("%.4g", 1e6*r.Ours)
		if r.Failed != "" {
			ours = r.Failed
		}
		peer, theirs, ratio, limit := "none", "", "", ""
		if r.Peer != "" {
			peer, theirs, ratio = r.Peer, fmt.Sprintf("%.4g", 1e6*r.Theirs), fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.OfLimit > 0 {
			limit = fmt.Sprintf("%.2f", r.OfLimit)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Case, r.Pass, ours, peer, theirs, ratio, limit)
	}
	return tab.Flush()
}

// WriteCSV writes results, with the times of all peers.
func WriteCSV(w io.Writer, results []Result) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"kernel", "pass", "program", "seconds", "ratio", "of_peak"})
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
	for _, r := range results {
		_ = out.Write([]string{r.Case, r.Pass, "revnum", number(r.Ours), number(r.Ratio), number(r.OfLimit)})
		for _, name := range slices.Sorted(maps.Keys(r.All)) {
			_ = out.Write([]string{r.Case, r.Pass, name, number(r.All[name]), "", ""})
		}
	}
	out.Flush()
	return out.Error()
}
