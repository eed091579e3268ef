package problem

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"revnum/internal/memory"
	"revnum/internal/scan"
	"revnum/rev"
	"revnum/revmodels/hand"
)

// Hand is a problem of ADBench's hand tracking: the measured points of a hand, their
// corresponding vertices or triangles, and the pose at which to evaluate. Matrices are
// stored by rows.
type Hand struct {
	Model           *hand.Model
	Correspondences []int     // N vertices, or triangles if there is UV
	Points          []float64 // N×3
	UV              []float64 // N×2, in the complicated variant
	Theta           []float64 // hand.Params
}

// LoadHand reads the problem in the file at path. The model is in the folder model
// beside it.
func LoadHand(path string, complicated bool) (*Hand, error) {
	f, size, err := scan.Open(path, "a Hand problem")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := hand.LoadModel(filepath.Join(filepath.Dir(path), "model"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return ReadHand(f, path, size, m, complicated)
}

// ReadHand reads a problem of a model from r. Errors give name and the line. A problem
// with more numbers than size bytes can hold is refused before memory is allocated. If
// size is negative, the size is unknown.
func ReadHand(r io.Reader, name string, size int64, m *hand.Model, complicated bool) (*Hand, error) {
	p := rowReader{s: scan.New(r, name), size: size}
	h, err := p.readHand(m, complicated)
	if err != nil {
		return nil, p.explain(err)
	}
	return h, nil
}

func (p *rowReader) readHand(m *hand.Model, complicated bool) (*Hand, error) {
	// A point has 3 residuals. Each has as many derivatives as the file has parameters.
	const most = math.MaxInt / (3 * (hand.Params + 8))
	n, err := p.s.Int("the number of points, a positive integer", 1, most)
	if err != nil {
		return nil, err
	}
	params := fmt.Sprintf("the number of parameters, which is %d", hand.Params)
	if _, err := p.s.Int(params, hand.Params, hand.Params); err != nil {
		return nil, err
	}
	h, numbers, kind, limit := &Hand{Model: m}, 4*n+hand.Params, "vertex", m.Vertices()
	if complicated {
		numbers, kind, limit = numbers+2*n, "triangle", m.Triangles()
	}
	if !p.holds(uint64(numbers)) {
		return nil, p.s.Errorf("%d points: expected %d numbers, more than the file's %d bytes can hold", n, numbers, p.size)
	}
	if err := memory.Check(3*(hand.Params+8)*float64(n), fmt.Sprintf("%s:1: %d points", p.s.Name(), n)); err != nil {
		return nil, err
	}
	for i := range n {
		c, err := p.s.Int(fmt.Sprintf("the %s of point %d of %d, an integer from 0 to %d", kind, i+1, n, limit-1), 0, limit-1)
		if err != nil && !complicated {
			err = fmt.Errorf("%w (a Hand-Complicated problem has triangles there)", err)
		}
		if err != nil {
			return nil, err
		}
		h.Correspondences = append(h.Correspondences, c)
		for d := range 3 {
			x, err := p.s.Float(func() string {
				return fmt.Sprintf("a finite number for point %d of %d, entry %d of 3", i+1, n, d+1)
			})
			if err != nil {
				return nil, err
			}
			h.Points = append(h.Points, x)
		}
	}
	if complicated {
		if h.UV, err = p.rows("u and v of point", n, 2); err != nil {
			return nil, err
		}
	}
	if h.Theta, err = p.rows("parameter", hand.Params, 1); err != nil {
		return nil, err
	}
	if err := p.s.End(); complicated || err == nil {
		return h, err
	} else if more := 1 + p.remaining(); more == 2*n {
		return nil, fmt.Errorf("%s: expected a Hand problem, found one with u and v of each point, which is Hand-Complicated", p.s.Name())
	} else {
		return nil, err
	}
}

// remaining returns how many numbers follow.
func (p *rowReader) remaining() (n int) {
	for {
		if _, err := p.s.Float(func() string { return "a number" }); err != nil {
			return n
		}
		n++
	}
}

// HandObjective is a hand tracking problem ready to be evaluated and differentiated in T.
type HandObjective[T rev.Float] struct {
	Kernel   hand.Residuals[T]
	Jacobian rev.General[T]
}

// NewHandObjective returns the objective of p. In float64 it shares the storage of p.
func NewHandObjective[T rev.Float](p *Hand) *HandObjective[T] {
	n, surface := len(p.Correspondences), p.UV != nil
	o := new(HandObjective[T])
	o.Kernel = hand.Residuals[T]{
		R: rev.ViewSlice(make([]T, 3*n)), Theta: rev.ViewSlice(convert[T](p.Theta)),
		UV: rev.NewGeneral(len(p.UV)/2, 2, convert[T](p.UV)), Points: rev.NewGeneral(n, 3, convert[T](p.Points)),
		Correspondences: p.Correspondences, Surface: surface, Model: p.Model,
	}
	o.Jacobian = rev.NewGeneral[T](3*n, o.Kernel.Columns(), nil)
	return o
}

// Value evaluates the residuals into Kernel.R.
func (o *HandObjective[T]) Value() {
	clear(o.Kernel.R.Data)
	o.Kernel.Forward()
}

// ValueJacobian evaluates the residuals and the Jacobian.
func (o *HandObjective[T]) ValueJacobian() {
	clear(o.Kernel.R.Data)
	o.Kernel.Jacobian(o.Jacobian)
}
