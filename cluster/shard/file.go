package shard

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

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

// plain is a file of little-endian float64 by rows, after a header. It is read and not mapped
// into memory: a file that is truncated while it is mapped ends the process, or has zeros.
type plain struct {
	f          *os.File
	offset     int64
	rows, cols int
}

// openRaw opens a file that holds only little-endian float64, by rows of the given
// number of columns.
func openRaw(path string, cols int) (File, error) {
	if cols < 1 {
		return nil, fmt.Errorf("%s: plain numbers, but the number of columns is not known", path)
	}
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	row := 8 * int64(cols)
	if size == 0 || size%row != 0 {
		err := fmt.Errorf("%s: expected rows of %d bytes for %d columns, found %d bytes", path, row, cols, size)
		return nil, errors.Join(err, f.Close())
	}
	return &plain{f, 0, int(size / row), cols}, nil
}

// OpenAfter opens a file that holds rows×cols little-endian float64, by rows, after a
// header of the given number of bytes.
func OpenAfter(path string, header int64, rows, cols int) (File, error) {
	f, size, err := open(path)
	if err != nil {
		return nil, err
	}
	if want, have := 8*int64(rows)*int64(cols), size-header; have != want {
		err := fmt.Errorf("%s: %d×%d numbers are %d bytes, and %d follow the header", path, rows, cols, want, have)
		return nil, errors.Join(err, f.Close())
	}
	return &plain{f, header, rows, cols}, nil
}

// open opens a file, and returns its size too.
func open(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("expected a file")
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return f, info.Size(), nil
}

func (f *plain) Name() string           { return f.f.Name() }
func (f *plain) Dims() (rows, cols int) { return f.rows, f.cols }
func (f *plain) Close() error           { return f.f.Close() }

// Read implements File.
func (f *plain) Read(dst []float64, first int) error {
	if first < 0 || len(dst)/f.cols > f.rows-first {
		return fmt.Errorf("%s: rows %d to %d, and there are %d", f.Name(), first, first+len(dst)/f.cols, f.rows)
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), 8*len(dst))
	at := f.offset + 8*int64(first)*int64(f.cols)
	n, err := f.f.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: expected %d bytes from byte %d on, found %d: the file was truncated after it was opened", f.Name(), len(b), at, n)
	}
	if err != nil {
		return err // names the file
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
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
	const most = 1 << 30 // a row of bytes overflows no int
	if n, err := strconv.Atoi(text); err == nil {
		if n < 1 || n > most {
			return Columns{}, fmt.Errorf("%d columns, expected 1 to %d", n, most)
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
