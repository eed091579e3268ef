package problem

import (
	"fmt"
	"io"
	"math"

	"revnum/internal/memory"
	"revnum/internal/scan"
	"revnum/rev"
	"revnum/revmodels/lstm"
)

// LSTM is a problem of ADBench's LSTM: L layers read C characters of B bits. Matrices
// are stored by rows.
type LSTM struct {
	L, C, B  int
	Main     []float64 // 2L×4B: weights and biases of each layer
	Extra    []float64 // 3×B: weights of the input and of the output, biases of the output
	State    []float64 // 2L×B: hidden state and memory of each layer
	Sequence []float64 // C×B
}

// lstmCounts returns how many numbers a problem has and how many the gradient needs as
// workspace. It returns false if either overflows an int.
func lstmCounts(l, c, b int) (numbers, work int, ok bool) {
	if l > math.MaxInt/32 || b > math.MaxInt-16 {
		return 0, 0, false
	}
	parameters, ok1 := mul(10*l+3, b)
	sequence, ok2 := mul(c, b)
	numbers, ok3 := add(parameters, sequence)
	cells, ok4 := mul(2*l+8, c)
	work, ok5 := mul(cells, (b+15)/16*16)
	return numbers, work, ok1 && ok2 && ok3 && ok4 && ok5
}

// LoadLSTM reads the problem in the file at path.
func LoadLSTM(path string) (*LSTM, error) {
	f, size, err := scan.Open(path, "an LSTM problem")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadLSTM(f, path, size)
}

// ReadLSTM reads a problem from r. Errors give name and the line. A problem with more
// numbers than size bytes can hold is refused before memory is allocated. If size is
// negative, the size is unknown.
func ReadLSTM(r io.Reader, name string, size int64) (*LSTM, error) {
	p := rowReader{s: scan.New(r, name), size: size}
	l, err := p.readLSTM()
	if err != nil {
		return nil, p.explain(err)
	}
	return l, nil
}

func (p *rowReader) readLSTM() (*LSTM, error) {
	o := new(LSTM)
	for _, c := range []struct {
		to    *int
		least int
		what  string
	}{{&o.L, 0, "layers l, an integer of at least 0"}, {&o.C, 1, "characters c, a positive integer"}, {&o.B, 1, "bits b, a positive integer"}} {
		var err error
		if *c.to, err = p.s.Int("the number of "+c.what, c.least, math.MaxInt); err != nil {
			return nil, err
		}
	}
	if err := o.plausible(p.s.Name()); err != nil {
		return nil, err
	}
	numbers, _, _ := lstmCounts(o.L, o.C, o.B)
	if !p.holds(uint64(numbers)) {
		return nil, p.s.Errorf("l = %d, c = %d, b = %d: expected %d numbers, more than the file's %d bytes can hold",
			o.L, o.C, o.B, numbers, p.size)
	}
	for _, m := range []struct {
		to   *[]float64
		what string
		r, c int
	}{
		{&o.Main, "parameters", 2 * o.L, 4 * o.B}, {&o.Extra, "extra parameters", 3, o.B},
		{&o.State, "state", 2 * o.L, o.B}, {&o.Sequence, "character", o.C, o.B},
	} {
		var err error
		if *m.to, err = p.rows(m.what, m.r, m.c); err != nil {
			return nil, err
		}
	}
	return o, p.s.End()
}

// plausible returns an error if the gradient needs more memory than there is.
func (o *LSTM) plausible(name string) error {
	_, work, ok := lstmCounts(o.L, o.C, o.B)
	sizes := fmt.Sprintf("%s:1: l = %d, c = %d, b = %d", name, o.L, o.C, o.B)
	if !ok {
		return fmt.Errorf("%s: the sizes overflow", sizes)
	}
	return memory.Check(float64(work), sizes+":")
}

// LSTMObjective is an LSTM problem ready to be evaluated and differentiated in T.
type LSTMObjective[T rev.Float] struct {
	Kernel   lstm.Loss[T]
	Gradient []T // main, then extra parameters

	out, one  T
	cotangent lstm.Loss[T]
}

// NewLSTMObjective returns the objective of p. In float64 it shares the storage of p.
func NewLSTMObjective[T rev.Float](p *LSTM) *LSTMObjective[T] {
	o := &LSTMObjective[T]{one: 1, Gradient: make([]T, len(p.Main)+len(p.Extra))}
	o.Kernel = lstm.Loss[T]{
		Out:  &o.out,
		Main: rev.NewGeneral(2*p.L, 4*p.B, convert[T](p.Main)), Extra: rev.NewGeneral(3, p.B, convert[T](p.Extra)),
		State: rev.NewGeneral(2*p.L, p.B, convert[T](p.State)), Sequence: rev.NewGeneral(p.C, p.B, convert[T](p.Sequence)),
	}
	main, extra := o.Gradient[:len(p.Main)], o.Gradient[len(p.Main):]
	o.cotangent = lstm.Loss[T]{Out: &o.one, Main: rev.NewGeneral(2*p.L, 4*p.B, main), Extra: rev.NewGeneral(3, p.B, extra)}
	return o
}

// Value evaluates the objective.
func (o *LSTMObjective[T]) Value() T {
	o.out = 0
	o.Kernel.Forward()
	return o.out
}

// ValueGradient evaluates the objective and its gradient, in one pass.
func (o *LSTMObjective[T]) ValueGradient() T {
	clear(o.Gradient)
	o.out = 0
	_ = rev.Gradient(o.Kernel, o.cotangent) // the kernel returns no errors
	return o.out
}
