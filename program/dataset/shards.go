package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"revnum/cluster/shard"
	"revnum/internal/memory"
	"revnum/internal/outfile"
	"revnum/internal/scan"
)

// Shards returns the formats of shards that need nothing else: .npy, and plain numbers.
// Package cluster/parquet, in a module of its own, has another one.
func Shards() shard.Formats {
	f := shard.Raw()
	f[".npy"] = shard.Unnamed(func(path string, _ shard.Columns) (shard.File, error) { return OpenNpy(path) })
	return f
}

// OpenNpy opens a shard in NumPy's .npy format. It must hold a matrix of little-endian
// float64 by rows, or a vector, which counts as one column.
func OpenNpy(path string) (shard.File, error) {
	f, _, err := scan.Open(path, "a .npy file")
	if err != nil {
		return nil, err
	}
	h, err := ReadNpyHeader(f)
	err = errors.Join(err, f.Close())
	switch {
	case err != nil:
	case h.Type != "<f8":
		err = fmt.Errorf(`expected numbers of type "<f8", found %q`, h.Type)
	case h.Fortran && h.Cols > 1:
		err = errors.New("expected a matrix by rows, found one by columns (fortran_order)")
	default:
		return shard.OpenAfter(path, h.Offset, h.Rows, h.Cols)
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// part matches the names of the files that Split writes.
var part = regexp.MustCompile(`^part-[0-9]{5,}\.npy$`)

// Split reads a CSV file and writes its rows to .npy files of the given number of rows
// in the folder dir. It makes the folder if its parent exists. It returns the names of
// the files: part-00000.npy and so on. The CSV file may be larger than the memory. It
// may be compressed, begin with names of columns, and have comments after #.
//
// If the folder has files of such names, Split returns an error, or replaces all of them if
// replace is true. The folder gets the new files when all are complete. After an error, or
// when ctx is done, it has the files that it had before.
func Split(ctx context.Context, csv, dir string, rows int, replace bool) (paths []string, err error) {
	if rows < 1 {
		return nil, fmt.Errorf("shards of %d rows, expected at least 1", rows)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var old []string
	for _, e := range entries {
		if part.MatchString(e.Name()) {
			old = append(old, e.Name())
		}
	}
	if len(old) > 0 && !replace {
		return nil, fmt.Errorf("%s: expected a folder without parts, found %d: %s and so on", dir, len(old), old[0])
	}
	source, err := os.Stat(csv)
	if err != nil {
		return nil, err
	}
	for _, name := range old {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && os.SameFile(source, info) {
			return nil, fmt.Errorf("%s: is a part in the folder, which would be replaced", csv)
		}
	}
	made := os.Mkdir(dir, 0o777)
	if made != nil && !os.IsExist(made) {
		return nil, made
	}
	tmp, err := os.MkdirTemp(dir, ".split-")
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(tmp))
		if err != nil && made == nil {
			err = errors.Join(err, os.Remove(dir))
		}
	}()
	names, err := split(ctx, csv, tmp, rows)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.Rename(filepath.Join(tmp, name), path); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	for _, name := range old {
		if !slices.Contains(names, name) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
		}
	}
	return paths, nil
}

// split writes the parts to the folder dir, and returns their names.
func split(ctx context.Context, csv, dir string, rows int) (names []string, err error) {
	var data []float64
	cols := 0
	flush := func() error {
		name := fmt.Sprintf("part-%05d.npy", len(names))
		if err := WriteNpy(filepath.Join(dir, name), len(data)/cols, cols, data); err != nil {
			return err
		}
		names, data = append(names, name), data[:0]
		return nil
	}
	_, err = EachRow(csv, func(row []float64) error {
		cols = len(row)
		var err error
		if data, err = memory.Grow(data, cols, csv); err != nil {
			return err
		}
		if data = append(data, row...); len(data) == rows*cols {
			if err := flush(); err != nil {
				return err
			}
		}
		return ctx.Err()
	})
	if err == nil && len(data) > 0 {
		err = flush()
	}
	return names, err
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
