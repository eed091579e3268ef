package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/exp/mmap"
	"gonum.org/v1/gonum/mat"
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

// mapped is a file of little-endian float64 by rows, after a header.
type mapped struct {
	name       string
	r          *mmap.ReaderAt
	offset     int64
	rows, cols int
}

// openRaw opens a file that holds only little-endian float64, by rows of the given
// number of columns.
func openRaw(path string, cols int) (File, error) {
	if cols < 1 {
		return nil, fmt.Errorf("%s: plain numbers, but the number of columns is not known", path)
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	if f.r.Len() == 0 || f.r.Len()%(8*cols) != 0 {
		err := fmt.Errorf("%s: expected rows of %d bytes for %d columns, found %d bytes", path, 8*cols, cols, f.r.Len())
		return nil, errors.Join(err, f.Close())
	}
	f.rows, f.cols = f.r.Len()/(8*cols), cols
	return f, nil
}

// OpenAfter opens a file that holds rows×cols little-endian float64, by rows, after a
// header of the given number of bytes.
func OpenAfter(path string, header int64, rows, cols int) (File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	f.offset, f.rows, f.cols = header, rows, cols
	if want, have := 8*int64(rows)*int64(cols), int64(f.r.Len())-header; have != want {
		err := fmt.Errorf("%s: %d×%d numbers are %d bytes, and %d follow the header", path, rows, cols, want, have)
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func open(path string) (*mapped, error) {
	r, err := mmap.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &mapped{name: path, r: r}, nil
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

// Raw returns the formats of plain numbers, which have the extensions .f64, .bin and .raw.
// Packages program/dataset (.npy) and cluster/parquet, in other modules, have more formats.
func Raw() Formats {
	raw := Unnamed(func(path string, c Columns) (File, error) { return openRaw(path, c.Count) })
	return Formats{".f64": raw, ".bin": raw, ".raw": raw}
}

// Unnamed returns an Opener for files whose columns have no names.
func Unnamed(open Opener) Opener {
	return func(path string, c Columns) (File, error) {
		if c.Names != nil {
			return nil, fmt.Errorf("%s: the columns have no names, expected none and found %s", path, strings.Join(c.Names, ", "))
		}
		return open(path, c)
	}
}

// open opens the shard at path. The extension of its name says the format.
func (f Formats) open(path string, c Columns) (File, error) {
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
