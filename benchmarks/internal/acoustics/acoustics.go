// Package acoustics measures the steps of revmodels/wave beside the copying of memory, and
// the memory of a gradient over many steps. It also finds the speeds of a section of the
// ground from recordings, and draws them.
package acoustics

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unsafe"

	"revnum/benchmarks/internal/suite"
	"revnum/fixed"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/wave"
)

// Report is all that a run found.
type Report struct {
	Size int // rows and columns of the grid
	Copy float64
	Rows []Row

	// The gradient of a misfit over many steps, with damping, over fixed.Q43.
	Steps     int
	Gradient  float64 // seconds
	Absorbed  int     // bytes of information in damped cells, after the last step
	Recording int     // bytes of the trace
	Peak      int     // bytes of memory that the process has had at most; 0 if unknown

	Inversion Inversion
}

// Row is what a step took.
type Row struct {
	Numbers         string
	Width           int // damped cells at each edge
	Bytes           int // that a step ahead moves, without those of damping
	Forward, Back   float64
	Adjoint         float64 // seconds
	ForwardPerCopy  float64 // time over that of copying as many bytes
	AdjointPerCopy  float64
	AdjointPerAhead float64
}

// Measure measures the steps on a grid of size×size cells, each for about the given time,
// and then a gradient over steps steps and an inversion of 1 to MostShots shots. workers is
// as in wave.Steps. It calls report with what it does now. It stops soon after the context
// does, and returns its error.
func Measure(ctx context.Context, size, steps, shots, iterations, workers int, budget time.Duration, report func(doing string)) (*Report, error) {
	r := &Report{Size: size, Steps: steps}
	if err := r.gradient(ctx, workers, report); err != nil { // first, for the peak of memory
		return nil, err
	}
	report("copies")
	r.Copy = copyRate(size, budget)
	for _, width := range []int{0, min(30, size/4)} {
		for _, m := range []struct {
			numbers string
			measure func(r *Report, width, workers int, budget time.Duration) error
		}{{"float64", measure[float64]}, {"float32", measure[float32]}, {"fixed.Q43", measure[fixed.Q43]}} {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			report("steps over " + m.numbers)
			if err := m.measure(r, width, workers, budget); err != nil {
				return nil, err
			}
		}
	}
	var err error
	r.Inversion, err = invert(ctx, shots, iterations, workers, report)
	return r, err
}

// copyRate returns the bytes per second, read and written, of a copy between memory as
// large as the operands of a step of float64: three grids.
func copyRate(size int, budget time.Duration) float64 {
	n := size * size * 3 / 2
	x, y := slices.Repeat([]float64{1}, n), slices.Repeat([]float64{1}, n)
	return float64(16*n) / least(budget, func() float64 {
		start := time.Now()
		copy(x, y)
		return time.Since(start).Seconds()
	})
}

// least returns the least result of f in the given time.
func least(budget time.Duration, f func() float64) float64 {
	best := f()
	for begin := time.Now(); time.Since(begin) < budget; {
		best = min(best, f())
	}
	return best
}

// Field returns a grid of silence but for a source in the middle.
func Field[T rev.Real](size, steps, width, workers int) wave.Steps[T] {
	k := wave.Steps[T]{
		U: rev.NewGeneral[T](size, size, nil), Prev: rev.NewGeneral[T](size, size, nil), M: rev.NewGeneral[T](size, size, nil),
		Source: rev.NewGeneral[T](steps, 1, nil), SourceAt: []int{size/2*size + size/2},
		N: steps, Damping: wave.Damping{Width: width, Loss: 0.2}, Absorbed: new(wave.Absorbed), Workers: workers,
	}
	for i := range k.M.Data {
		k.M.Data[i] = fixed.Of[T](0.25)
	}
	for i, v := range wave.Ricker(0.02, 1, steps) {
		k.Source.Data[i] = fixed.Of[T](v)
	}
	return k
}

func measure[T rev.Real](r *Report, width, workers int, budget time.Duration) error {
	const steps = 12 // few enough to go back over floats
	k := Field[T](r.Size, steps, width, workers)
	g := wave.Steps[T]{U: rev.NewGeneral[T](r.Size, r.Size, nil), Prev: rev.NewGeneral[T](r.Size, r.Size, nil), M: rev.NewGeneral[T](r.Size, r.Size, nil)}
	row := Row{Numbers: fmt.Sprintf("%T", T(0)), Width: width, Bytes: 4 * r.Size * r.Size * int(unsafe.Sizeof(T(0)))}
	var failed error
	timed := func(f func() error) float64 {
		start := time.Now()
		if err := f(); err != nil {
			failed = err
		}
		return time.Since(start).Seconds() / steps
	}
	row.Back = least(budget, func() float64 {
		ahead := timed(k.Forward)
		if row.Forward == 0 || ahead < row.Forward {
			row.Forward = ahead
		}
		return timed(k.Inverse)
	})
	row.Adjoint = least(budget, func() float64 {
		if err := k.Forward(); err != nil {
			failed = err
		}
		return timed(func() error { return k.Adjoint(g) })
	})
	// Ahead: U, Prev and M are read, and Prev is written. The adjoint does the same to
	// the cotangents, and reads and writes M̄.
	row.ForwardPerCopy = row.Forward * r.Copy / float64(row.Bytes)
	row.AdjointPerCopy = row.Adjoint * r.Copy / float64(row.Bytes/4*9)
	row.AdjointPerAhead = row.Adjoint / row.Forward
	r.Rows = append(r.Rows, row)
	return failed
}

// A Trial is the program of the gradient: a source, absorbing edges, receivers in a row,
// and the sum of squares of what they record.
type Trial struct {
	wave.Steps[fixed.Q43]
	Misfit fixed.Q43
	Part   int // steps in a part of a run
}

// Run makes a pass of the waves, forward or with the cotangents g back, in parts of a few
// steps. It calls report before each, and stops if the context has.
func (s *Trial) Run(ctx context.Context, g *Trial, report func(doing string)) error {
	parts := (s.N + s.Part - 1) / s.Part
	rows := func(m rev.General[fixed.Q43], from, to int) rev.General[fixed.Q43] {
		if m.Data == nil {
			return m
		}
		return rev.General[fixed.Q43]{Rows: to - from, Cols: m.Cols, Stride: m.Stride, Data: m.Data[from*m.Stride : to*m.Stride]}
	}
	part := func(k wave.Steps[fixed.Q43], i int) wave.Steps[fixed.Q43] {
		from, to := i*s.Part, min((i+1)*s.Part, s.N)
		k.N, k.Source, k.Trace = to-from, rows(k.Source, from, to), rows(k.Trace, from, to)
		return k
	}
	for i := range parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if g == nil {
			report(fmt.Sprintf("gradient, step %d of %d ahead", i*s.Part, s.N))
			err = part(s.Steps, i).Forward()
		} else {
			i := parts - 1 - i
			report(fmt.Sprintf("gradient, step %d of %d back", min((i+1)*s.Part, s.N), s.N))
			err = part(s.Steps, i).Adjoint(part(g.Steps, i))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// partCells is how many cells the steps of a part of a long run compute: about a tenth of
// a second's work.
const partCells = 1 << 25

func (r *Report) gradient(ctx context.Context, workers int, report func(doing string)) error {
	s := &Trial{Steps: Field[fixed.Q43](r.Size, r.Steps, min(30, r.Size/4), workers)}
	s.Part = max(1, partCells/(r.Size*r.Size))
	for col := r.Size / 4; col < r.Size*3/4; col += max(1, r.Size/20) {
		s.ReceiverAt = append(s.ReceiverAt, r.Size/4*r.Size+col)
	}
	s.Trace = rev.NewGeneral[fixed.Q43](r.Steps, len(s.ReceiverAt), nil)
	r.Recording = 8 * len(s.Trace.Data)
	at := s.SourceAt[0]
	misfit := rev.At(func(s *Trial) revlinalg.SumSquares[fixed.Q43] {
		return revlinalg.SumSquares[fixed.Q43]{Out: &s.Misfit, X: rev.ViewSlice(s.Trace.Data)}
	})
	g := new(Trial)
	g.U, g.Prev = rev.NewGeneral[fixed.Q43](r.Size, r.Size, nil), rev.NewGeneral[fixed.Q43](r.Size, r.Size, nil)
	g.M, g.Trace = rev.NewGeneral[fixed.Q43](r.Size, r.Size, nil), rev.NewGeneral[fixed.Q43](r.Steps, len(s.ReceiverAt), nil)
	g.Misfit = fixed.One
	start := time.Now()
	if err := s.Run(ctx, nil, report); err != nil {
		return err
	}
	r.Absorbed = s.Absorbed.Bits() / 8
	if err := misfit.Forward(s); err != nil {
		return err
	}
	if err := misfit.Adjoint(s, g); err != nil {
		return err
	}
	if err := s.Run(ctx, g, report); err != nil {
		return err
	}
	r.Gradient = time.Since(start).Seconds()
	r.Peak = peak()
	for i, v := range s.U.Data {
		if v != 0 || s.Prev.Data[i] != 0 {
			return fmt.Errorf("the field did not come back: cell %d is %v", i, v)
		}
	}
	if r.Steps >= r.Size && g.M.Data[at] == 0 { // the wave has met the receivers
		return errors.New("the gradient at the source is 0")
	}
	return nil
}

// peak returns the most memory that the process has had, or 0 if the system does not say.
func peak() int {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), "VmHWM:"); ok {
			var kib int
			_, _ = fmt.Sscan(rest, &kib)
			return kib << 10
		}
	}
	return 0
}

// WriteTable writes the report for people.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	const mib = 1 << 20
	fmt.Fprintf(t, "a step of %d×%d cells; copying moves %.1f GB/s\n\n", r.Size, r.Size, r.Copy/1e9)
	fmt.Fprintln(t, "numbers\tdamped\tahead\tback\tadjoint\tadjoint/ahead\tahead/copy\tadjoint/copy")
	for _, x := range r.Rows {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\n", x.Numbers, x.Width,
			suite.Seconds(x.Forward), suite.Seconds(x.Back), suite.Seconds(x.Adjoint), x.AdjointPerAhead, x.ForwardPerCopy, x.AdjointPerCopy)
	}
	fmt.Fprintf(t, "\ngradient over %d steps of fixed.Q43: %s, back to every bit\n", r.Steps, suite.Seconds(r.Gradient))
	grid := 8 * r.Size * r.Size
	fmt.Fprintf(t, "a grid has %.1f MiB, traces %.1f MiB, absorbed bits %.1f MiB", float64(grid)/mib, float64(r.Recording)/mib, float64(r.Absorbed)/mib)
	if r.Peak > 0 {
		fmt.Fprintf(t, "; the process had at most %.1f MiB, %.1f grids", float64(r.Peak)/mib, float64(r.Peak)/float64(grid))
	}
	fmt.Fprintln(t)
	r.Inversion.write(t)
	return t.Flush()
}
