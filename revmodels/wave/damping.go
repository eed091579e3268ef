package wave

import (
	"errors"
	"fmt"
	"math"

	"revnum/fixed"
	"revnum/rev"
)

// Damping absorbs waves near the edges of a grid, so that few are reflected. Each step
// multiplies the change of a cell since the last step by f. In the ring of cells at the
// distance d from the edge,
//
//	f_d = 1 - Loss·((Width-d)/Width)²,  d = 0, 1, ..., Width-1
//
// rounded to a multiple of 2⁻¹⁰. The other cells are not damped. A width of 30 cells with
// a loss of 0.2 leaves an echo of 3 % of waves that are 12 cells long, where the bare
// edges leave 84 %.
type Damping struct {
	Width int     // number of rings; 0 means no damping
	Loss  float64 // of the outermost ring, in [0, 1)
}

// denominator is the denominator of the fractions f.
const denominator = 1 << 10

// numerator returns f_d times denominator.
func (d Damping) numerator(ring int) int {
	x := float64(d.Width-ring) / float64(d.Width)
	return denominator - int(math.Round(denominator*d.Loss*x*x))
}

// keptPart returns f_d.
func (d Damping) keptPart(ring int) float64 { return float64(d.numerator(ring)) / denominator }

func (d Damping) check(rows, cols int) error {
	switch {
	case d.Width < 0 || 2*d.Width > min(rows, cols) && rows > 0 && cols > 0:
		return fmt.Errorf("wave: damping is %d cells wide, and must be between 0 and half of the %d×%d grid", d.Width, rows, cols)
	case d.Width > 0 && !(d.Loss >= 0 && d.Loss <= 1-1./denominator):
		return fmt.Errorf("wave: damping by a loss of %v, which must be at least 0 and less than 1", d.Loss)
	}
	return nil
}

// Absorbed holds the bits that damping has taken from a field over fixed.Q43, and from its
// tangent, so that both can be restored. The zero value is empty. A Steps that runs forward
// adds bits, and one that runs back removes them, in the reverse order.
//
// A damped cell needs log2(1/f) bits a step, in words of 32 bits, and at least 64.
type Absorbed struct {
	rows, cols     int
	field, tangent losses
}

// losses holds the bits that one field has lost.
type losses struct {
	steps   int // multiplications of each ring
	rings   []*fixed.Buffer
	changes [][]fixed.Q43 // scratch memory of each ring
}

// Bits returns the information that is held.
func (a *Absorbed) Bits() int {
	n := 0
	for _, l := range [...]*losses{&a.field, &a.tangent} {
		for _, b := range l.rings {
			n += b.Bits()
		}
	}
	return n
}

// Steps returns the number of steps of the field that can be inverted.
func (a *Absorbed) Steps() int { return a.field.steps }

var errNoAbsorbed = errors.New("wave: damping over fixed.Q43 needs Absorbed")

// prepare gets a ready for steps ahead or back, with or without tangents.
func (a *Absorbed) prepare(rows, cols, width, steps int, tangents, back bool) error {
	if a == nil {
		return errNoAbsorbed
	}
	moved := []*losses{&a.field, &a.tangent}
	if !tangents {
		moved = moved[:1]
	}
	for i, l := range moved {
		if back && l.steps < steps {
			return fmt.Errorf("wave: Absorbed holds %d steps%s, but %d are needed for the inverse", l.steps, [...]string{"", " of the tangent"}[i], steps)
		}
	}
	other := a.rows != rows || a.cols != cols
	for _, l := range [...]*losses{&a.field, &a.tangent} {
		if l.steps > 0 && (other || len(l.rings) != width) {
			return fmt.Errorf("wave: Absorbed is of a %d×%d grid with %d damped rings, not of a %d×%d grid with %d", a.rows, a.cols, len(l.rings), rows, cols, width)
		}
	}
	a.rows, a.cols = rows, cols
	if back {
		steps = -steps
	}
	for _, l := range moved {
		if other || len(l.rings) != width {
			*l = losses{rings: make([]*fixed.Buffer, width), changes: make([][]fixed.Q43, width)}
			for d := range width {
				n := ringOf(rows, cols, d).cells()
				l.rings[d], l.changes[d] = fixed.NewBuffer(n), make([]fixed.Q43, n)
			}
		}
		l.steps += steps
	}
	return nil
}

// move computes x = u + n/denominator·(x - u) on ring d, or the inverse.
func (l *losses) move(r ring, d int, u, x rev.General[fixed.Q43], n int, back bool) {
	if n == denominator {
		return
	}
	changes, k := l.changes[d], 0
	r.each(func(i, j int) {
		changes[k] = x.Data[i*x.Stride+j] - u.Data[i*u.Stride+j]
		k++
	})
	if back {
		l.rings[d].Div(changes, n, denominator)
	} else {
		l.rings[d].Mul(changes, n, denominator)
	}
	k = 0
	r.each(func(i, j int) {
		x.Data[i*x.Stride+j] = u.Data[i*u.Stride+j] + changes[k]
		k++
	})
}

// A ring is the cells between two rows and between two columns, all of which belong to it.
type ring struct{ top, bottom, left, right int }

// ringOf returns the cells at the distance d from the edges.
func ringOf(rows, cols, d int) ring { return ring{d, rows - 1 - d, d, cols - 1 - d} }

// cells returns the number of cells.
func (r ring) cells() int {
	height, width := r.bottom-r.top+1, r.right-r.left+1
	return height*width - max(height-2, 0)*max(width-2, 0)
}

// each calls f for each cell, by rows.
func (r ring) each(f func(i, j int)) {
	for i := r.top; i <= r.bottom; i++ {
		if i == r.top || i == r.bottom {
			for j := r.left; j <= r.right; j++ {
				f(i, j)
			}
			continue
		}
		f(i, r.left)
		if r.right > r.left {
			f(i, r.right)
		}
	}
}
