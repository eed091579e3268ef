package wave

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/objective"
	"revnum/rev"
)

// A Cell is a cell of a grid.
type Cell struct{ Row, Col int }

// A Shot is a source, and the receivers that record it.
type Shot struct {
	At        Cell
	Wavelet   []float64 // what is added to the field in each step; later it is 0
	Receivers []Cell
}

// A Survey is an experiment on a grid: one shot after another, each with a field that
// begins at rest. It is computed over fixed.Q43.
type Survey struct {
	Rows, Cols  int     // at least 5
	Spacing, Dt float64 // of cells, and of steps of time
	Steps       int     // at least 1
	Damping
	Shots   []Shot
	Workers int // 0 means GOMAXPROCS
}

// smallest is the least number of rows and columns of a Survey: L reads five of each.
const smallest = 5

// Check returns an error if the survey is invalid, or not stable for speeds up to
// fastest.
func (s *Survey) Check(fastest float64) error {
	switch {
	case s.Rows < smallest || s.Cols < smallest:
		return fmt.Errorf("wave: a grid of %d×%d cells is too small: it needs at least %d×%d", s.Rows, s.Cols, smallest, smallest)
	case !(s.Spacing > 0 && s.Dt > 0) || math.IsInf(s.Spacing, 1) || math.IsInf(s.Dt, 1):
		return fmt.Errorf("wave: Spacing and Dt must be positive and finite, found %v and %v", s.Spacing, s.Dt)
	case s.Steps < 1:
		return fmt.Errorf("wave: a survey needs at least one step, found %d", s.Steps)
	case len(s.Shots) == 0:
		return fmt.Errorf("wave: a survey needs at least one shot")
	}
	if courant := fastest * s.Dt / s.Spacing; !(courant <= MaxCourant) {
		return fmt.Errorf("wave: the steps are not stable: c·dt/h is %.4g for a speed of %v, and must be at most %.4g: take a Dt of at most %.4g", courant, fastest, MaxCourant, MaxCourant*s.Spacing/fastest)
	}
	for i := range s.Shots {
		shot := &s.Shots[i]
		if len(shot.Receivers) == 0 {
			return fmt.Errorf("wave: shot %d has no receivers", i)
		}
		for _, c := range append([]Cell{shot.At}, shot.Receivers...) {
			if c.Row < 0 || c.Row >= s.Rows || c.Col < 0 || c.Col >= s.Cols {
				return fmt.Errorf("wave: shot %d has a source or receiver at (%d, %d), outside the %d×%d grid", i, c.Row, c.Col, s.Rows, s.Cols)
			}
		}
		for n, v := range shot.Wavelet {
			if !(math.Abs(v) <= maxAmplitude) {
				return fmt.Errorf("wave: the wavelet of shot %d is %v in step %d, and must be within ±%v", i, v, n, maxAmplitude)
			}
		}
	}
	return s.check(s.Rows, s.Cols)
}

// maxAmplitude bounds wavelets, so that fields stay within the range of fixed.Q43.
const maxAmplitude = 1 << 10

// Ricker returns a wavelet of n steps, the second derivative of a Gaussian: with the
// peak frequency f, the delay 1/f and τ = π·f·(t - 1/f), it is (1 - 2τ²)·exp(-τ²).
func Ricker(frequency, dt float64, n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		tau := math.Pi * (float64(frequency*dt*float64(i)) - 1)
		w[i] = (1 - float64(2*tau*tau)) * math.Exp(-tau*tau)
	}
	return w
}

// Record returns what the receivers of each shot record, a row for each step. speed has
// the speed of each cell. Record returns the errors of Check, and an error if a speed is
// not positive or not finite. It panics with mat.ErrShape unless speed is Rows×Cols.
func (s *Survey) Record(speed mat.Matrix) ([]*mat.Dense, error) {
	r, c := speed.Dims()
	objective.CheckDims("wave.Survey", "speed", r, c, s.Rows, s.Cols)
	var fastest float64
	for i := range s.Rows {
		for j := range s.Cols {
			c := speed.At(i, j)
			if !(c > 0) {
				return nil, fmt.Errorf("wave: the speed in cell (%d, %d) is %v, and must be positive", i, j, c)
			}
			fastest = max(fastest, c)
		}
	}
	if err := s.Check(fastest); err != nil {
		return nil, err
	}
	field := newExperiment(s)
	for i := range s.Rows {
		for j := range s.Cols {
			c := speed.At(i, j) * s.Dt / s.Spacing
			field.M.Data[i*s.Cols+j] = fixed.FromFloat64(c * c)
		}
	}
	recordings := make([]*mat.Dense, len(s.Shots))
	for i := range s.Shots {
		field.load(s, &s.Shots[i], 1, nil)
		field.Absorbed = new(Absorbed)
		if err := field.steps(s).Forward(); err != nil {
			return nil, err
		}
		recordings[i] = mat.NewDense(s.Steps, len(s.Shots[i].Receivers), nil)
		for k, v := range field.Trace.Data {
			recordings[i].RawMatrix().Data[k] = v.Float64()
		}
	}
	return recordings, nil
}

// An experiment is the state of the program of one shot.
type experiment struct {
	U, Prev, M           rev.General[fixed.Q43]
	Source, Trace        rev.General[fixed.Q43]
	SourceAt, ReceiverAt []int
	Absorbed             *Absorbed
	Misfit               fixed.Q43
}

func newExperiment(s *Survey) *experiment {
	grid := func() rev.General[fixed.Q43] { return rev.NewGeneral[fixed.Q43](s.Rows, s.Cols, nil) }
	return &experiment{U: grid(), Prev: grid(), M: grid(), Absorbed: new(Absorbed)}
}

// load begins a shot. Sources are multiplied by scale. The traces begin with -scale times
// the recording, or with 0 if there is none.
func (e *experiment) load(s *Survey, shot *Shot, scale float64, recording *mat.Dense) {
	clear(e.U.Data)
	clear(e.Prev.Data)
	e.Misfit = 0
	e.Source = zeros(e.Source, s.Steps, 1)
	for n, v := range shot.Wavelet[:min(len(shot.Wavelet), s.Steps)] {
		e.Source.Data[n] = fixed.FromFloat64(scale * v)
	}
	e.Trace = zeros(e.Trace, s.Steps, len(shot.Receivers))
	if recording != nil {
		for n := range s.Steps {
			for r, v := range recording.RawRowView(n) {
				e.Trace.Row(n)[r] = -fixed.FromFloat64(scale * v)
			}
		}
	}
	e.SourceAt = []int{shot.At.Row*s.Cols + shot.At.Col}
	e.ReceiverAt = e.ReceiverAt[:0]
	for _, c := range shot.Receivers {
		e.ReceiverAt = append(e.ReceiverAt, c.Row*s.Cols+c.Col)
	}
}

// zeros returns a matrix of zeros, in the storage of m if that is large enough.
func zeros(m rev.General[fixed.Q43], r, c int) rev.General[fixed.Q43] {
	if cap(m.Data) < r*c {
		return rev.NewGeneral[fixed.Q43](r, c, nil)
	}
	m.Data = m.Data[:r*c]
	clear(m.Data)
	return rev.NewGeneral(r, c, m.Data)
}

// steps returns the kernel of a shot on e, or on its cotangents.
func (e *experiment) steps(s *Survey) Steps[fixed.Q43] {
	return Steps[fixed.Q43]{
		U: e.U, Prev: e.Prev, M: e.M, Source: e.Source, Trace: e.Trace,
		SourceAt: e.SourceAt, ReceiverAt: e.ReceiverAt,
		N: s.Steps, Damping: s.Damping, Absorbed: e.Absorbed, Workers: s.Workers,
	}
}
