package dataset

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/scan"
)

// Table is a matrix of finite numbers, a point a row.
type Table struct {
	Names []string // of the columns, nil where the file has none
	X     *mat.Dense
}

// ColumnName returns the name of column j for people.
func (t *Table) ColumnName(j int) string {
	if t.Names != nil {
		return t.Names[j]
	}
	return fmt.Sprintf("column %d", j)
}

// Load reads the table in the file at path, in NumPy's .npy format if it
// begins as such a file does, as CSV otherwise, compressed by gzip or bzip2 or as it
// is. Errors name the file, and the
// line or the entry.
func Load(path string) (*Table, error) {
	f, size, err := scan.Open(path, "a CSV or .npy file")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path, size)
}

func read(r io.Reader, name string, size int64) (*Table, error) {
	raw := bufio.NewReaderSize(r, 1<<16)
	plain, err := scan.Uncompress(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b := bufio.NewReaderSize(plain, 1<<16)
	if plain != raw {
		size = -1
	}
	if start, _ := b.Peek(len(npyMagic)); bytes.Equal(start, npyMagic) {
		x, err := readNpy(b, name, size)
		if err != nil {
			return nil, err
		}
		return &Table{X: x}, nil
	}
	return readCSV(b, name)
}
