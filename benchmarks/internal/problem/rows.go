package problem

import (
	"fmt"

	"revnum/internal/scan"
)

// A rowReader reads a problem. The formats ignore line breaks. But if there are too
// many or too few numbers, the first line that is not a whole row is probably where the
// error is. The rowReader remembers that line.
type rowReader struct {
	s      *scan.Scanner
	size   int64
	ragged string
}

// explain adds the remembered line to an error.
func (p *rowReader) explain(err error) error {
	if p.ragged != "" {
		return fmt.Errorf("%w (the first line that does not hold one whole row: %s)", err, p.ragged)
	}
	return err
}

// holds reports whether the file is large enough for n numbers.
func (p *rowReader) holds(numbers uint64) bool {
	// Each number takes at least one digit and one separator.
	return p.size < 0 || numbers <= uint64(p.size)/2
}

// rows reads an r×c matrix. Errors call it what.
func (p *rowReader) rows(what string, r, c int) ([]float64, error) {
	var i, j int
	describe := func() string {
		d := "a finite number for " + what
		if r > 1 {
			d += fmt.Sprintf(" %d of %d", i+1, r)
		}
		if c > 1 {
			d += fmt.Sprintf(", entry %d of %d", j+1, c)
		}
		return d
	}
	// If the size of the file is unknown, memory grows with what has been read.
	room := r * c
	if p.size < 0 {
		room = min(room, 1<<16)
	}
	data := make([]float64, 0, room)
	for i = range r {
		last := p.s.Line()
		first := last
		for j = range c {
			v, err := p.s.Float(describe)
			if err != nil {
				return nil, err
			}
			if j == 0 {
				first = p.s.Line()
			}
			data = append(data, v)
		}
		if p.ragged == "" && (first == last || first != p.s.Line()) {
			p.ragged = fmt.Sprintf("line %d, near %s %d of %d", first, what, i+1, r)
		}
	}
	return data, nil
}
