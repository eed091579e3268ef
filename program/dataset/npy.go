package dataset

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"

	"github.com/sbinet/npyio/npy"
	"gonum.org/v1/gonum/mat"

	"revnum/internal/memory"
)

var npyMagic = npy.Magic[:]

// maxNpyHeader is the longest header that is read. NumPy's are below 200 bytes.
const maxNpyHeader = 1 << 16

// readNpy reads a matrix, or a vector as one column, of any real type. The
// array must be all that follows the header.
func readNpy(b *bufio.Reader, name string, size int64) (*mat.Dense, error) {
	fail := func(format string, args ...any) (*mat.Dense, error) {
		return nil, fmt.Errorf("%s: %w", name, fmt.Errorf(format, args...))
	}
	h, r, err := npyHeader(b)
	if err != nil {
		return fail("%w", err)
	}
	rows, cols := h.Rows, h.Cols
	if size >= 0 && h.bytes != uint64(size-h.Offset) {
		return fail("%d×%d numbers of type %q are %d bytes, and %d follow the header", rows, cols, h.Type, h.bytes, size-h.Offset)
	}

	if size >= 0 { // else the header may say anything
		if err := memory.Check(float64(rows)*float64(cols), name+": the numbers"); err != nil {
			return nil, err
		}
	}
	data, err := npyData(r, rows*cols, name)
	if err != nil {
		return nil, err
	}
	if _, err := b.ReadByte(); !errors.Is(err, io.EOF) {
		return fail("expected the end of the file after %d×%d numbers", rows, cols)
	}
	for i, v := range data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			if h.Fortran {
				return fail("expected finite numbers, found %v at row %d, column %d", v, i%rows, i/rows)
			}
			return fail("expected finite numbers, found %v at row %d, column %d", v, i/cols, i%cols)
		}
	}
	if !h.Fortran {
		return mat.NewDense(rows, cols, data), nil
	}
	if err := memory.Check(float64(rows)*float64(cols), name+": the numbers by rows"); err != nil {
		return nil, err
	}
	return mat.DenseCopyOf(mat.NewDense(cols, rows, data).T()), nil
}

// An NpyHeader says what a file in NumPy's .npy format holds.
type NpyHeader struct {
	Rows, Cols int // a vector is one column
	Type       string
	Fortran    bool  // the array lies by columns
	Offset     int64 // of the array in the file

	bytes uint64 // of the array
}

// ReadNpyHeader reads the header at the beginning of r.
func ReadNpyHeader(r io.Reader) (*NpyHeader, error) {
	b := bufio.NewReaderSize(r, maxNpyHeader)
	if start, _ := b.Peek(len(npyMagic)); !bytes.Equal(start, npyMagic) {
		return nil, errors.New("expected a file in the .npy format")
	}
	h, _, err := npyHeader(b)
	return h, err
}

// npyHeader reads the header, and returns a reader of what follows.
func npyHeader(b *bufio.Reader) (*NpyHeader, *npy.Reader, error) {
	skip, err := npyHeaderSize(b)
	if err != nil {
		return nil, nil, err
	}
	r, err := npyReader(b)
	if err != nil {
		return nil, nil, err
	}
	h := &NpyHeader{Type: r.Header.Descr.Type, Fortran: r.Header.Descr.Fortran, Offset: skip}
	switch shape := r.Header.Descr.Shape; len(shape) {
	case 2:
		h.Rows, h.Cols = shape[0], shape[1]
	case 1:
		h.Rows, h.Cols = shape[0], 1
	default:
		return nil, nil, fmt.Errorf("expected an array of 1 or 2 dimensions, found %d", len(shape))
	}
	if h.Rows < 1 || h.Cols < 1 {
		return nil, nil, fmt.Errorf("expected a shape of positive numbers, found %d×%d", h.Rows, h.Cols)
	}
	kind := npy.TypeFrom(h.Type)
	if kind == nil {
		return nil, nil, fmt.Errorf("unknown type %q", h.Type)
	}
	hi, n := bits.Mul64(uint64(h.Rows), uint64(h.Cols))
	hi2, size := bits.Mul64(n, uint64(kind.Size()))
	if hi != 0 || hi2 != 0 || n > math.MaxInt/8 {
		return nil, nil, fmt.Errorf("the shape %d×%d overflows", h.Rows, h.Cols)
	}
	h.bytes = size
	return h, r, nil
}

// npyHeaderSize returns the number of bytes before the array, read ahead.
func npyHeaderSize(b *bufio.Reader) (int64, error) {
	short := errors.New("the header is cut off")
	start, err := b.Peek(10)
	if err != nil {
		return 0, short
	}
	skip := 10 + int64(binary.LittleEndian.Uint16(start[8:]))
	if major := start[6]; major > 1 {
		if start, err = b.Peek(12); err != nil {
			return 0, short
		}
		skip = 12 + int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if skip > maxNpyHeader {
		return 0, fmt.Errorf("expected a header of at most %d bytes, found %d", maxNpyHeader, skip)
	}
	header, err := b.Peek(int(skip))
	if err != nil {
		return 0, short
	}
	if !bytes.HasSuffix(bytes.TrimRight(header, " \n"), []byte("}")) {
		return 0, errors.New("the header is malformed") // package npy would read a part of the shape
	}
	return skip, nil
}

// npyReader reads the header. Package npy indexes a malformed one out of
// bounds.
func npyReader(b *bufio.Reader) (r *npy.Reader, err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("the header is malformed")
		}
	}()
	if r, err = npy.NewReader(wholeReader{b}); errors.Is(err, strconv.ErrRange) {
		err = errors.New("a number of the shape is out of range")
	}
	return r, err
}

// wholeReader reads all that is asked for, or fails: package npy takes what
// one Read gives for a number.
type wholeReader struct{ r io.Reader }

func (w wholeReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(w.r, p)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return n, errors.New("the array is cut off")
	}
	return n, err
}

// npyData reads n numbers of the file's type. It takes memory as it reads: the
// size of a pipe is not known.
func npyData(r *npy.Reader, n int, name string) ([]float64, error) {
	switch kind := npy.TypeFrom(r.Header.Descr.Type).String(); kind {
	case "float64":
		return npyNumbers[float64](r, n, name)
	case "float32":
		return npyNumbers[float32](r, n, name)
	case "int8":
		return npyNumbers[int8](r, n, name)
	case "int16":
		return npyNumbers[int16](r, n, name)
	case "int32":
		return npyNumbers[int32](r, n, name)
	case "int64":
		return npyNumbers[int64](r, n, name)
	case "uint8":
		return npyNumbers[uint8](r, n, name)
	case "uint16":
		return npyNumbers[uint16](r, n, name)
	case "uint32":
		return npyNumbers[uint32](r, n, name)
	case "uint64":
		return npyNumbers[uint64](r, n, name)
	default:
		return nil, fmt.Errorf("%s: expected real numbers, found %s", name, kind)
	}
}

func npyNumbers[E int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](r *npy.Reader, n int, name string) ([]float64, error) {
	const chunk = 1 << 16
	data := make([]float64, 0, min(n, chunk))
	part := make([]E, min(n, chunk))
	for len(data) < n {
		part = part[:min(chunk, n-len(data))]
		if err := r.Read(&part); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var err error
		if data, err = memory.Grow(data, len(part), name); err != nil {
			return nil, err
		}
		for _, v := range part {
			data = append(data, float64(v))
		}
	}
	return data, nil
}
