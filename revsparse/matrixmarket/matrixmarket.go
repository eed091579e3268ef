package matrixmarket

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/internal/scan"
	"revnum/revsparse"
)

// Field is the kind of the numbers in a file.
type Field uint8

// The fields.
const (
	Real    Field = iota
	Integer       // read as the nearest float64
	Complex       // a real and an imaginary part
	Pattern       // no numbers: each entry is 1
)

var fieldNames = [...]string{Real: "real", Integer: "integer", Complex: "complex", Pattern: "pattern"}

// String returns the field as files spell it.
func (f Field) String() string { return fieldNames[f] }

// Symmetry says what is above the diagonal of a matrix.
type Symmetry uint8

// The symmetries.
const (
	General   Symmetry = iota // as stored
	Symmetric                 // A_ij = A_ji
	Skew                      // A_ij = -A_ji, and zeros on the diagonal
	Hermitian                 // A_ij = conj(A_ji), and real numbers on the diagonal
)

var symmetryNames = [...]string{General: "general", Symmetric: "symmetric", Skew: "skew-symmetric", Hermitian: "hermitian"}

// String returns the symmetry as files spell it.
func (s Symmetry) String() string { return symmetryNames[s] }

// A form is the content of the first line of a file.
type form struct {
	field    Field
	symmetry Symmetry
}

// check checks that field and symmetry may be combined.
func (f form) check() error {
	if f.symmetry == Hermitian && f.field != Complex || f.symmetry == Skew && f.field == Pattern {
		return fmt.Errorf("expected another symmetry, as no %v matrix is %v", f.field, f.symmetry)
	}
	return nil
}

// checkDims checks that the dimensions fit the symmetry.
func (f form) checkDims(rows, cols int) error {
	if f.symmetry != General && rows != cols {
		return fmt.Errorf("expected as many rows as columns of a %v matrix, found %d and %d", f.symmetry, rows, cols)
	}
	return nil
}

// checkEntry checks that A_ij may be re + im·i, counted from 0.
func (f form) checkEntry(i, j int, re, im float64) error {
	switch {
	case f.symmetry != General && j > i:
		return fmt.Errorf("expected no entry above the diagonal of a %v matrix, found row %d, column %d", f.symmetry, i+1, j+1)
	case f.symmetry == Skew && i == j && (re != 0 || im != 0):
		return fmt.Errorf("expected zeros on the diagonal of a %v matrix, found %v in row %d", f.symmetry, complex(re, im), i+1)
	case f.symmetry == Hermitian && i == j && im != 0:
		return fmt.Errorf("expected real numbers on the diagonal of a %v matrix, found %v in row %d", f.symmetry, complex(re, im), i+1)
	case f.field != Complex && im != 0:
		return fmt.Errorf("expected a real number, found %v in row %d, column %d", complex(re, im), i+1, j+1)
	case f.field == Integer && (re != math.Trunc(re) || math.IsInf(re, 0)):
		return fmt.Errorf("expected an integer, found %v in row %d, column %d", re, i+1, j+1)
	case f.field == Pattern && re != 1:
		return fmt.Errorf("expected 1, found %v in row %d, column %d", re, i+1, j+1)
	}
	return nil
}

// checkRows checks that there are not too many rows for the number of entries.
func checkRows(rows, entries int) error {
	if rows > freeRows && rows/rowsPerEntry > entries {
		return fmt.Errorf("expected at most %d rows for each entry, found %d with %d", rowsPerEntry, rows, entries)
	}
	return nil
}

// Number is the constraint of the elements of a matrix.
type Number interface{ float64 | complex128 }

// Matrix is the content of a file.
type Matrix[T Number] struct {
	Field    Field
	Symmetry Symmetry

	// Stored has the entries of the file by rows, sorted by columns. Unless the matrix
	// is general, no entry is above the diagonal.
	Stored revsparse.CSR[T, int]
}

const (
	// maxLine is the length of the longest line, also of comments.
	maxLine = 1 << 20
	// A matrix may have freeRows rows, or rowsPerEntry times as many as entries.
	freeRows, rowsPerEntry = 1 << 20, 64
)

// Read reads a matrix, plain or compressed by gzip or bzip2. T must be complex128 for a
// complex file, and may be for others. A byte-order mark is skipped. Errors name the
// line and what was expected there.
func Read[T Number](r io.Reader) (*Matrix[T], error) { return read[T](r, "matrixmarket", ": line ") }

// ReadFile reads the file at path as Read does. Errors name the file.
func ReadFile[T Number](path string) (*Matrix[T], error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read[T](f, path, ":")
}

func read[T Number](r io.Reader, name, line string) (*Matrix[T], error) {
	p := &parser[T]{name: name, where: name + line}
	b, err := scan.Uncompress(r)
	if err != nil {
		return nil, p.errorf("%w", err)
	}
	p.lines = bufio.NewScanner(b)
	p.lines.Buffer(make([]byte, 1<<16), maxLine)
	for _, step := range []func() error{p.banner, p.size, p.entries} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return p.matrix(), nil
}

// A parser is the state of Read.
type parser[T Number] struct {
	name  string // of the file
	where string // precedes the number of the line in errors
	lines *bufio.Scanner
	line  int
	rest  []byte // of the line

	form
	rows, cols int
	count      int // number of entries according to the file
	row, col   []int
	val        []T
}

func (p *parser[T]) errorf(format string, args ...any) error {
	return fmt.Errorf("%s%d: %w", p.where, max(p.line, 1), fmt.Errorf(format, args...))
}

// next moves to the next line, and reports whether there is one. A line that an error
// of the reader has cut off does not count.
func (p *parser[T]) next() bool {
	if !p.lines.Scan() || p.lines.Err() != nil {
		return false
	}
	p.line++
	p.rest = p.lines.Bytes()
	if p.line == 1 {
		p.rest = bytes.TrimPrefix(p.rest, scan.Mark)
	}
	return true
}

// nextData moves to the next line that is neither empty nor a comment.
func (p *parser[T]) nextData() bool {
	for p.next() {
		if p.rest = bytes.TrimSpace(p.rest); len(p.rest) > 0 && p.rest[0] != '%' {
			return true
		}
	}
	return false
}

// end returns the error for a missing line.
func (p *parser[T]) end(format string, args ...any) error {
	switch err := p.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		p.line++
		return p.errorf("expected a line of at most %d characters", maxLine)
	case err != nil:
		p.line++
		return p.errorf("%w", err)
	}
	return p.errorf("expected %s, found the end of the file", fmt.Sprintf(format, args...))
}

func (p *parser[T]) expected(what string, found []byte) error {
	const most = 40
	if len(found) > most {
		found = append(found[:most:most], "..."...)
	}
	return p.errorf("expected %s, found %q", what, found)
}

// token takes the next word off the line.
func (p *parser[T]) token() []byte {
	isSpace := func(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' }
	i := 0
	for i < len(p.rest) && isSpace(p.rest[i]) {
		i++
	}
	j := i
	for j < len(p.rest) && !isSpace(p.rest[j]) {
		j++
	}
	t := p.rest[i:j]
	p.rest = p.rest[j:]
	return t
}

// banner reads the first line.
func (p *parser[T]) banner() error {
	const what = `"%%MatrixMarket matrix coordinate FIELD SYMMETRY"`
	if !p.next() {
		return p.end("%s", what)
	}
	line := p.rest
	if !strings.EqualFold(string(p.token()), "%%MatrixMarket") {
		return p.expected(what, line)
	}
	for _, want := range []string{"matrix", "coordinate"} {
		if t := p.token(); !strings.EqualFold(string(t), want) {
			return p.expected(want, t)
		}
	}
	field, ok := nameIn(fieldNames[:], p.token())
	if !ok {
		return p.expected("real, integer, complex or pattern as the fourth word", line)
	}
	symmetry, ok := nameIn(symmetryNames[:], p.token())
	if !ok {
		return p.expected("general, symmetric, skew-symmetric or hermitian as the fifth word", line)
	}
	if t := p.token(); len(t) > 0 {
		return p.expected("the end of the line", t)
	}
	p.form = form{Field(field), Symmetry(symmetry)}
	if err := p.check(); err != nil {
		return p.errorf("%w", err)
	}
	if _, isComplex := any(*new(T)).(complex128); p.field == Complex && !isComplex {
		return p.errorf("expected real numbers, found a complex matrix")
	}
	return nil
}

func nameIn(names []string, t []byte) (int, bool) {
	i := slices.IndexFunc(names, func(s string) bool { return strings.EqualFold(s, string(t)) })
	return i, i >= 0
}

// size reads the line of the dimensions.
func (p *parser[T]) size() error {
	if !p.nextData() {
		return p.end("the numbers of rows, columns and entries")
	}
	for _, x := range []struct {
		what string
		to   *int
	}{{"the number of rows", &p.rows}, {"the number of columns", &p.cols}, {"the number of entries", &p.count}} {
		t := p.token()
		v, err := strconv.Atoi(string(t))
		if err != nil || v < 0 {
			return p.expected(x.what, t)
		}
		*x.to = v
	}
	if t := p.token(); len(t) > 0 {
		return p.expected("the end of the line", t)
	}
	if err := p.checkDims(p.rows, p.cols); err != nil {
		return p.errorf("%w", err)
	}
	return nil
}

// entries reads the lines of the entries. It allocates memory as they come, not by the
// number in the file.
func (p *parser[T]) entries() error {
	for n := range p.count {
		if !p.nextData() {
			return p.end("entry %d of %d", n+1, p.count)
		}
		if err := p.entry(); err != nil {
			return err
		}
	}
	if p.nextData() {
		return p.errorf("expected the end of the file after %d entries, found one more line", p.count)
	}
	if p.lines.Err() != nil {
		return p.end("the end")
	}
	if err := checkRows(p.rows, p.count); err != nil {
		return p.errorf("%w", err)
	}
	// The matrix is made of a copy of the entries, and sorted into another.
	entry := unsafe.Sizeof(p.rows) + unsafe.Sizeof(*new(T))
	return memory.Check(float64(2*float64(entry)/8*float64(p.count))+2*float64(p.rows), p.name+": the numbers by rows")
}

func (p *parser[T]) entry() error {
	i, err := p.index("row", p.rows)
	if err != nil {
		return err
	}
	j, err := p.index("column", p.cols)
	if err != nil {
		return err
	}
	re, im := 1.0, 0.0
	switch p.field {
	case Real, Integer:
		re, err = p.number(p.field.String())
	case Complex:
		if re, err = p.number("real part"); err == nil {
			im, err = p.number("imaginary part")
		}
	}
	if err != nil {
		return err
	}
	if t := p.token(); len(t) > 0 {
		return p.expected("the end of the line", t)
	}
	if err := p.checkEntry(i, j, re, im); err != nil {
		return p.errorf("%w", err)
	}
	if err := p.grow(); err != nil {
		return err
	}
	p.row, p.col, p.val = append(p.row, i), append(p.col, j), append(p.val, number[T](re, im))
	return nil
}

// grow makes room for one more entry.
func (p *parser[T]) grow() (err error) {
	if p.row, err = memory.Grow(p.row, 1, p.name); err != nil {
		return err
	}
	if p.col, err = memory.Grow(p.col, 1, p.name); err != nil {
		return err
	}
	p.val, err = memory.Grow(p.val, 1, p.name)
	return err
}

func number[T Number](re, im float64) T {
	var v T
	switch p := any(&v).(type) {
	case *float64:
		*p = re
	case *complex128:
		*p = complex(re, im)
	}
	return v
}

// index reads the number of a row or column, and returns it counted from 0.
func (p *parser[T]) index(what string, n int) (int, error) {
	t := p.token()
	v, err := strconv.Atoi(string(t))
	if err != nil || v < 1 || v > n {
		return 0, p.expected(fmt.Sprintf("a %s from 1 to %d", what, n), t)
	}
	return v - 1, nil
}

func (p *parser[T]) number(what string) (float64, error) {
	t := p.token()
	if p.field == Integer && bytes.ContainsFunc(t, func(r rune) bool { return (r < '0' || r > '9') && r != '-' && r != '+' }) {
		return 0, p.expected("an integer", t)
	}
	v, err := strconv.ParseFloat(string(t), 64)
	if err != nil {
		return 0, p.expected("a number ("+what+")", t)
	}
	return v, nil
}

func (p *parser[T]) matrix() *Matrix[T] {
	return &Matrix[T]{Field: p.field, Symmetry: p.symmetry, Stored: compress(p.rows, p.cols, p.row, p.col, p.val)}
}

// compress returns the matrix with the given entries. Their places are in the matrix.
func compress[T Number](rows, cols int, row, col []int, val []T) revsparse.CSR[T, int] {
	a, err := revsparse.FromTriplets(rows, cols, row, col, val)
	if err != nil {
		panic(err)
	}
	return a
}

// Full returns the matrix with all its entries. It returns Stored itself if that is
// general, and otherwise a new matrix.
func (m *Matrix[T]) Full() revsparse.CSR[T, int] {
	if m.Symmetry == General {
		return m.Stored
	}
	s := &m.Stored
	n := 2 * len(s.Data)
	row, col, val := make([]int, 0, n), make([]int, 0, n), make([]T, 0, n)
	for i := range s.Rows {
		for e := s.Ptr[i]; e < s.Ptr[i+1]; e++ {
			j, v := s.Ind[e], s.Data[e]
			row, col, val = append(row, i), append(col, j), append(val, v)
			if i != j {
				row, col, val = append(row, j), append(col, i), append(val, mirror(v, m.Symmetry))
			}
		}
	}
	return compress(s.Rows, s.Cols, row, col, val)
}

// mirror returns A_ji for A_ij = v.
func mirror[T Number](v T, s Symmetry) T {
	switch s {
	case Skew:
		return -v
	case Hermitian:
		if z, ok := any(v).(complex128); ok {
			return number[T](real(z), -imag(z))
		}
	}
	return v
}

// Write writes a matrix with all digits: a reader gets the same bits (except the
// payloads of NaNs). It returns an error for a matrix that Read would refuse, and for a
// number that the field cannot hold.
func Write[T Number](w io.Writer, m *Matrix[T]) error {
	a := &m.Stored
	f := form{m.Field, m.Symmetry}
	if err := errors.Join(f.check(), f.checkDims(a.Rows, a.Cols), checkRows(a.Rows, len(a.Data))); err != nil {
		return fmt.Errorf("matrixmarket: %w", err)
	}
	if _, err := revsparse.NewCSR(a.Rows, a.Cols, a.Ptr, a.Ind, a.Data); err != nil {
		return fmt.Errorf("matrixmarket: %w", err)
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%%%%MatrixMarket matrix coordinate %v %v\n%d %d %d\n", m.Field, m.Symmetry, a.Rows, a.Cols, len(a.Data))
	var line []byte
	for i := range a.Rows {
		for e := a.Ptr[i]; e < a.Ptr[i+1]; e++ {
			j := a.Ind[e]
			re, im := parts(a.Data[e])
			if err := f.checkEntry(i, j, re, im); err != nil {
				return fmt.Errorf("matrixmarket: %w", err)
			}
			line = strconv.AppendInt(line[:0], int64(i+1), 10)
			line = strconv.AppendInt(append(line, ' '), int64(j+1), 10)
			switch m.Field {
			case Real:
				line = strconv.AppendFloat(append(line, ' '), re, 'g', -1, 64)
			case Integer:
				line = strconv.AppendFloat(append(line, ' '), re, 'f', -1, 64)
			case Complex:
				line = strconv.AppendFloat(append(line, ' '), re, 'g', -1, 64)
				line = strconv.AppendFloat(append(line, ' '), im, 'g', -1, 64)
			}
			if _, err := b.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

func parts[T Number](v T) (re, im float64) {
	switch v := any(v).(type) {
	case float64:
		return v, 0
	case complex128:
		return real(v), imag(v)
	}
	panic("unreachable")
}

// WriteFile writes a matrix to the file at path as Write does, compressed if the name
// ends in .gz. If that fails, the error names the file, and the file is as it was
// before.
func WriteFile[T Number](path string, m *Matrix[T]) error {
	return outfile.Write(path, func(w io.Writer) error {
		if !strings.HasSuffix(path, ".gz") {
			return Write(w, m)
		}
		z := gzip.NewWriter(w)
		if err := Write(z, m); err != nil {
			return err
		}
		return z.Close()
	})
}
