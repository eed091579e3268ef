package dataset

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/memory"
	"revnum/internal/scan"
)

// readCSV reads a table from CSV, as EachRow does.
func readCSV(b *bufio.Reader, name string) (*Table, error) {
	var t Table
	var data []float64
	rows := 0
	var err error
	t.Names, err = eachRow(b, name, func(row []float64) error {
		var err error
		if data, err = memory.Grow(data, len(row), name); err != nil {
			return err
		}
		data = append(data, row...)
		rows++
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.X = mat.NewDense(rows, len(data)/rows, data)
	return &t, nil
}

// EachRow calls do with the rows of the CSV file at path, which may be compressed, one
// after the other, and returns the names of the columns, nil if the file has none. do
// may change the row, but not keep it. An error of do ends the reading.
//
// Numbers are separated by commas, semicolons or tabs, whichever the first line has, or by
// spaces. A
// first line in which nothing is a number holds the names of the columns. A line that
// begins with # is a comment. A row takes at most 16 MiB, with the comments before it. Errors
// name the file and the line.
func EachRow(path string, do func(row []float64) error) (names []string, err error) {
	f, _, err := scan.Open(path, "a CSV file")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := scan.Uncompress(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return eachRow(bufio.NewReaderSize(plain, 1<<16), path, do)
}

// maxRow is the largest number of bytes of a row.
const maxRow = 1 << 24

var errLongRow = fmt.Errorf("expected a row of at most %d MiB", maxRow>>20)

// A rowReader reads from r, but no more than left bytes.
type rowReader struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (r *rowReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, errLongRow
	}
	n, err := r.r.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

func eachRow(b *bufio.Reader, name string, do func(row []float64) error) (names []string, err error) {
	if mark, _ := b.Peek(len(scan.Mark)); bytes.Equal(mark, scan.Mark) {
		_, _ = b.Discard(len(scan.Mark))
	}
	limited := &rowReader{r: b}
	r := csv.NewReader(limited)
	r.Comma = separator(b)
	r.Comment = '#'
	r.ReuseRecord = true
	r.TrimLeadingSpace = r.Comma != '\t' // a tab is a space, too

	t := new(Table)
	var row []float64
	rows, line := 0, 0
	for first := true; ; first = false {
		limited.left = maxRow
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, errLongRow) {
			return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
		}
		if err != nil {
			return nil, csvError(name, err, len(row), len(record))
		}
		line, _ = r.FieldPos(len(record) - 1)
		if first {
			row = make([]float64, len(record))
			if t.Names = header(record); t.Names != nil {
				continue
			}
		}
		for j, s := range record {
			v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
				line, _ := r.FieldPos(j)
				found := strconv.Quote(s)
				if len(s) > 40 {
					found = strconv.Quote(s[:40]) + "..."
				}
				return nil, fmt.Errorf("%s:%d: expected a finite number for %s, found %s", name, line, t.ColumnName(j), found)
			}
			row[j] = v
		}
		if err := do(row); err != nil {
			return nil, err
		}
		rows++
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s: expected rows of numbers, found none", name)
	}
	return t.Names, nil
}

// csvError names the file and the line of an error of package csv.
func csvError(name string, err error, want, found int) error {
	var p *csv.ParseError
	if !errors.As(err, &p) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if errors.Is(p.Err, csv.ErrFieldCount) {
		return fmt.Errorf("%s:%d: expected %d numbers, found %d", name, p.Line, want, found)
	}
	return fmt.Errorf("%s:%d: expected CSV: %w", name, p.Line, p.Err)
}

// header returns a copy of record if all in it is text and nothing a number, otherwise nil.
func header(record []string) []string {
	names := make([]string, len(record))
	for i, s := range record {
		names[i] = strings.TrimSpace(s)
		if isNumber(names[i]) || names[i] == "" || strings.ContainsFunc(names[i], unicode.IsControl) {
			return nil
		}
	}
	return names
}

// separator returns the separator of the first line of b that is no comment. It is a space if
// this line or the next has several numbers with spaces between, and no other separator.
func separator(b *bufio.Reader) rune {
	start, _ := b.Peek(b.Size())
	lines := 0
	for line := range bytes.Lines(start) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		for _, c := range ",;\t" {
			if bytes.ContainsRune(line, c) {
				return c
			}
		}
		if words := bytes.Fields(line); len(words) > 1 && !slices.ContainsFunc(words, func(w []byte) bool { return !isNumber(string(w)) }) {
			return ' '
		}
		if lines++; lines == 2 {
			break
		}
	}
	return ','
}

// isNumber reports whether s is a number, also one that is out of range.
func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}
