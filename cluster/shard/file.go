package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/mmap"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/dataset"
)

// A File is one shard: a matrix whose rows you can read. Read may be called
// concurrently.
type File interface {
	Name() string
	Dims() (rows, cols int)

	// Read fills dst with rows, starting at the row first. The length of dst must be a
	// multiple of the number of columns. Read returns an error if a row does not exist.
	Read(dst []float64, first int) error

	Close() error
}

// Matrix returns a shard in memory with the rows of x. It does not copy x.
func Matrix(name string, x *mat.Dense) File { return matrix{name, x} }

type matrix struct {
	name string
	x    *mat.Dense
}

func (m matrix) Name() string           { return m.name }
func (m matrix) Dims() (rows, cols int) { return m.x.Dims() }
func (m matrix) Close() error           { return nil }

// Read implements File.
func (m matrix) Read(dst []float64, first int) error {
	rows, cols := m.x.Dims()
	if first < 0 || len(dst)/cols > rows-first {
		return fmt.Errorf("%s: rows %d to %d, and there are %d", m.name, first, first+len(dst)/cols, rows)
	}
	for i := range len(dst) / cols {
		copy(dst[i*cols:(i+1)*cols], m.x.RawRowView(first+i))
	}
	return nil
}

// mapped is a file of little-endian float64 by rows, behind a header.
type mapped struct {
	name       string
	r          *mmap.ReaderAt
	offset     int64
	rows, cols int
}

// OpenNpy opens a file in NumPy's .npy format. It must hold a matrix of little-endian
// float64 by rows, or a vector, which counts as one column.
func OpenNpy(path string) (File, error) {
	r, err := open(path)
	if err != nil {
		return nil, err
	}
	h, err := dataset.ReadNpyHeader(io.NewSectionReader(r, 0, int64(r.Len())))
	switch {
	case err != nil:
	case h.Type != "<f8":
		err = fmt.Errorf(`expected numbers of type "<f8", found %q`, h.Type)
	case h.Fortran && h.Cols > 1:
		err = errors.New("expected a matrix by rows, found one by columns (fortran_order)")
	case int64(r.Len())-h.Offset != 8*int64(h.Rows)*int64(h.Cols):
		err = fmt.Errorf("%d×%d numbers are %d bytes, and %d follow the header", h.Rows, h.Cols, 8*int64(h.Rows)*int64(h.Cols), int64(r.Len())-h.Offset)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Close())
	}
	return &mapped{path, r, h.Offset, h.Rows, h.Cols}, nil
}

// OpenRaw opens a file that holds only little-endian float64, by rows of the given
// number of columns.
func OpenRaw(path string, cols int) (File, error) {
	if cols < 1 {
		return nil, fmt.Errorf("%s: plain numbers, but the number of columns is not known", path)
	}
	r, err := open(path)
	if err != nil {
		return nil, err
	}
	if r.Len() == 0 || r.Len()%(8*cols) != 0 {
		err := fmt.Errorf("%s: expected rows of %d bytes for %d columns, found %d bytes", path, 8*cols, cols, r.Len())
		return nil, errors.Join(err, r.Close())
	}
	return &mapped{path, r, 0, r.Len() / (8 * cols), cols}, nil
}

func open(path string) (*mmap.ReaderAt, error) {
	r, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

func (f *mapped) Name() string           { return f.name }
func (f *mapped) Dims() (rows, cols int) { return f.rows, f.cols }
func (f *mapped) Close() error           { return f.r.Close() }

// Read implements File.
func (f *mapped) Read(dst []float64, first int) error {
	if first < 0 || len(dst)/f.cols > f.rows-first {
		return fmt.Errorf("%s: rows %d to %d, and there are %d", f.name, first, first+len(dst)/f.cols, f.rows)
	}
	var buf [1 << 13]byte
	at := f.offset + 8*int64(first)*int64(f.cols)
	for len(dst) > 0 {
		b := buf[:min(8*len(dst), len(buf))]
		if _, err := f.r.ReadAt(b, at); err != nil {
			return fmt.Errorf("%s: byte %d: %w", f.name, at, err)
		}
		at += int64(len(b))
		for i := range len(b) / 8 {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
		dst = dst[len(b)/8:]
	}
	return nil
}

// Columns say which columns a shard has. The zero value means all that are in the file.
type Columns struct {
	Count int      // of a file of plain numbers, which does not say how many it has
	Names []string // of a file whose columns have names
}

// ParseColumns returns the Columns of a text: a count such as "10", or names such as
// "x,y". An empty text means all columns.
func ParseColumns(text string) (Columns, error) {
	if text == "" {
		return Columns{}, nil
	}
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 {
			return Columns{}, fmt.Errorf("%d columns, expected at least 1", n)
		}
		return Columns{Count: n}, nil
	}
	names := strings.Split(text, ",")
	for i, name := range names {
		if name == "" || slices.Contains(names[:i], name) {
			return Columns{}, fmt.Errorf("columns %q: expected different names with commas between them", text)
		}
	}
	return Columns{Names: names}, nil
}

// An Opener opens a shard.
type Opener func(path string, c Columns) (File, error)

// Formats maps the extensions of file names to formats.
type Formats map[string]Opener

// Standard returns the formats of this package: .npy, and for plain numbers .f64, .bin
// and .raw. Package cluster/parquet, a module of its own, has another one.
func Standard() Formats {
	raw := unnamed(func(path string, c Columns) (File, error) { return OpenRaw(path, c.Count) })
	return Formats{
		".npy": unnamed(func(path string, _ Columns) (File, error) { return OpenNpy(path) }),
		".f64": raw, ".bin": raw, ".raw": raw,
	}
}

// unnamed returns an Opener for files without names.
func unnamed(open Opener) Opener {
	return func(path string, c Columns) (File, error) {
		if c.Names != nil {
			return nil, fmt.Errorf("%s: the columns have no names, expected none and found %s", path, strings.Join(c.Names, ", "))
		}
		return open(path, c)
	}
}

// Open opens the shard at path. The extension of its name says the format.
func (f Formats) Open(path string, c Columns) (File, error) {
	extension := strings.ToLower(filepath.Ext(path))
	open := f[extension]
	switch {
	case open == nil && extension == ".parquet":
		return nil, fmt.Errorf("%s: this program was built without Parquet; the commands in the modules cluster/parquet and cluster/mpi read it", path)
	case open == nil:
		return nil, fmt.Errorf("%s: expected a name that ends in one of %s", path, strings.Join(f.extensions(), ", "))
	}
	return open(path, c)
}
