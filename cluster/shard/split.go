package shard

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"revnum/internal/dataset"
	"revnum/internal/outfile"
)

// Split reads a CSV file and writes its rows to .npy files of the given number of rows
// in the folder dir. It makes the folder if its parent exists. It returns the names of
// the files: part-00000.npy and so on. The CSV file may be larger than the memory. It
// may be compressed, begin with names of columns, and have comments after #. After an
// error, complete files may be left behind.
func Split(csv, dir string, rows int) (paths []string, err error) {
	if rows < 1 {
		return nil, fmt.Errorf("shards of %d rows, expected at least 1", rows)
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !os.IsExist(err) {
		return nil, err
	}
	var data []float64
	cols := 0
	flush := func() error {
		path := filepath.Join(dir, fmt.Sprintf("part-%05d.npy", len(paths)))
		if err := WriteNpy(path, len(data)/cols, cols, data); err != nil {
			return err
		}
		paths, data = append(paths, path), data[:0]
		return nil
	}
	_, err = dataset.EachRow(csv, func(row []float64) error {
		cols = len(row)
		if data = append(data, row...); len(data) == rows*cols {
			return flush()
		}
		return nil
	})
	if err == nil && len(data) > 0 {
		err = flush()
	}
	return paths, err
}

// WriteNpy writes a matrix by rows to the .npy file at path. If it fails, the file is
// as it was before.
func WriteNpy(path string, rows, cols int, data []float64) error {
	if len(data) != rows*cols {
		return fmt.Errorf("%s: %d numbers for %d×%d", path, len(data), rows, cols)
	}
	return outfile.Write(path, func(w io.Writer) error {
		// The file begins with the magic, version 1.0, and a header that ends at a
		// multiple of 64 bytes.
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
		header = fmt.Sprintf("%-*s\n", (len(header)+11+63)/64*64-11, header)
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
		b = append(b, header...)
		for _, v := range data {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
			if len(b) > 1<<16 {
				if _, err := w.Write(b); err != nil {
					return err
				}
				b = b[:0]
			}
		}
		_, err := w.Write(b)
		return err
	})
}
