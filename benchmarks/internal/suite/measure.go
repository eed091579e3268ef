package suite

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"time"

	"revnum/benchmarks/internal/machine"
)

// Result is one row of the table: a problem on a number of workers. Figures that were
// not measured are zero. An unknown error is NaN in memory and null in JSON.
type Result struct {
	Family  string `json:"family"`
	Sizes   string `json:"sizes"`
	Workers int    `json:"workers"`
	Series  string `json:"-"`
	Params  int    `json:"params"`

	F     float64 `json:"f_seconds"`
	J     float64 `json:"j_seconds"`
	Ratio float64 `json:"j_over_f"`

	RateF float64 `json:"f_flops"`         // flop/s
	RateJ float64 `json:"j_flops"`         // flop/s
	PeakF float64 `json:"f_of_peak"`       // fraction of the multiply-add peak of the workers
	PeakJ float64 `json:"j_of_peak"`       //
	Bytes float64 `json:"f_bytes"`         // byte/s, of a problem limited by them
	Band  float64 `json:"f_of_bandwidth"`  // fraction of the bandwidth of one core
	Extra int64   `json:"extra_bytes"`     // taken by the first F and J beyond data and results
	Deriv Error   `json:"gradient_error"`  // relative, of the gradient
	Trip  Error   `json:"roundtrip_error"` // relative, of Inverse after Forward

	Speedup     float64 `json:"speedup"`       // of J, of F where there is none, against one worker
	SameBits    *bool   `json:"same_bits"`     // as with one worker
	Against     string  `json:"against"`       // what F was compared with
	AgainstTime float64 `json:"against_ratio"` // its time, in times of F

	Single bool // float32
}

// Error is a relative error, NaN where there is none.
type Error float64

// MarshalJSON writes null for NaN, which JSON cannot hold.
func (e Error) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(e)) || math.IsInf(float64(e), 0) {
		return []byte("null"), nil
	}
	return fmt.Appendf(nil, "%g", float64(e)), nil
}

// Report is all that a run of the suite found.
type Report struct {
	Machine machine.Machine `json:"machine"`
	Results []Result        `json:"results"`
}

// Compare sets the fractions of the machine's peak rates.
func (r *Report) Compare() {
	for i := range r.Results {
		x := &r.Results[i]
		peak := r.Machine.FMA64
		if x.Single {
			peak = r.Machine.FMA32
		}
		peak *= float64(min(x.Workers, r.Machine.Cores))
		x.PeakF, x.PeakJ, x.Band = x.RateF/peak, x.RateJ/peak, x.Bytes/r.Machine.Reading
	}
}

// Check returns an error that names each wrong result: its gradient or round trip is
// wrong, or its bits are not those of one worker. The limits are well above the
// rounding of the checks themselves.
func (r *Report) Check() error {
	var failed []error
	for _, x := range r.Results {
		gradient, roundTrip := Error(1e-5), Error(1e-10)
		if x.Single {
			gradient, roundTrip = 1e-3, 1e-4
		}
		name := fmt.Sprintf("%s %s, %d workers", x.Family, x.Sizes, x.Workers)
		if x.Deriv > gradient || x.J > 0 && math.IsNaN(float64(x.Deriv)) {
			failed = append(failed, fmt.Errorf("%s: gradient error %.1e", name, x.Deriv))
		}
		if x.Trip > roundTrip || x.J > 0 && math.IsNaN(float64(x.Trip)) {
			failed = append(failed, fmt.Errorf("%s: round-trip error %.1e", name, x.Trip))
		}
		if x.SameBits != nil && !*x.SameBits {
			failed = append(failed, fmt.Errorf("%s: not the bits of one worker", name))
		}
	}
	return errors.Join(failed...)
}

// Rows returns the number of rows that the problems will give.
func Rows(problems []*Problem) int {
	n := 0
	for _, p := range problems {
		n += len(p.Workers)
	}
	return n
}

// Measure measures one problem, each function for about the given time. It passes the
// row of each number of workers to done when it is finished. Report.Compare completes a
// row.
func Measure(p *Problem, d time.Duration, row func(Result)) error {
	in, err := p.New()
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name(), err)
	}
	var one Result
	var bits []float64
	for _, w := range p.Workers {
		if in.SetWorkers != nil {
			in.SetWorkers(w)
		}
		r := Result{Family: p.Family, Sizes: p.Sizes, Workers: w, Series: p.Series, Params: p.Params, Single: p.Single,
			Deriv: Error(math.NaN()), Trip: Error(math.NaN())}
		r.Extra = ExtraMemory(in)
		r.F = Shortest(d, in.F)
		if in.J != nil {
			r.J = Shortest(d, in.J)
			r.Ratio = r.J / r.F
		}
		r.RateF = p.FlopsF / r.F
		if in.J != nil {
			r.RateJ = p.FlopsJ / r.J
		}
		r.Bytes = p.BytesF / r.F
		if in.Against != nil {
			r.Against, r.AgainstTime = in.AgainstName, Shortest(d, in.Against)/r.F
		}
		if w == 1 {
			// If the bits do not depend on the workers, the checks do not either.
			bits = in.Result()
			if in.Derivative != nil {
				r.Deriv = Error(in.Derivative())
			}
			if in.RoundTrip != nil {
				r.Trip = Error(in.RoundTrip())
			}
			one = r
		} else {
			same := SameBits(in.Result(), bits)
			r.SameBits = &same
			r.Deriv, r.Trip = one.Deriv, one.Trip
			r.Speedup = one.F / r.F
			if in.J != nil {
				r.Speedup = one.J / r.J
			}
		}
		row(r)
	}
	return nil
}

// ExtraMemory returns the bytes that the first calls of F and J take. No garbage is
// collected meanwhile, so the result is an upper bound of the memory that they hold at
// any time. Two collections before the calls empty the pools of earlier problems.
func ExtraMemory(in *Instance) int64 {
	runtime.GC()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in.F()
	if in.J != nil {
		in.J()
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// Shortest returns the seconds of one call of f: the best of many batches, each
// of about a millisecond, within the time d, and of three calls at the least.
func Shortest(d time.Duration, f func()) float64 {
	batch := func(repeats int) time.Duration {
		start := time.Now()
		for range repeats {
			f()
		}
		return time.Since(start)
	}
	begin := time.Now()
	repeats := 1
	took := batch(repeats)
	for took < time.Millisecond && repeats < 1<<30 {
		repeats *= 2
		took = batch(repeats)
	}
	best := took
	for i := 1; i < 3 || time.Since(begin) < d; i++ {
		best = min(best, batch(repeats))
	}
	return best.Seconds() / float64(repeats)
}

// SameBits reports whether a and b have the same lengths and bits.
func SameBits(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return true
}
