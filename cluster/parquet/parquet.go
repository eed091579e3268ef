// Package parquet reads points from files in the format Apache Parquet. It is a module of
// its own, so that other users of revnum need not compile the packages of Apache Arrow.
//
// Add it to the formats of package cluster/shard:
//
//	formats := dataset.Shards()
//	formats[".parquet"] = parquet.Open
package parquet

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"revnum/cluster/shard"
)

// Open opens the Parquet file at path, with the columns that have the given names, in
// their order. Without names it has all columns of the file. It is a shard.Opener.
//
// The columns must have the type DOUBLE or FLOAT, and one number a row. A null, a NaN and
// an infinity are errors, which name the file, the row group, the column and the row in the
// group. So are other types, a name of several columns, and files whose structure is damaged. A file of more than 2²²
// numbers must have a byte for 1024 of them, so that a small file cannot fill the memory.
//
// A row group is decoded when one of its rows is read for the first time. It then stays in
// memory as float64. A rank decodes only the row groups in which it has blocks. Write row
// groups that are smaller than the share of a rank.
func Open(path string, c shard.Columns) (shard.File, error) {
	if c.Count != 0 {
		return nil, fmt.Errorf("%s: the columns have names, expected names or nothing and found the number %d", path, c.Count)
	}
	var r *file.Reader
	err := guard(func() (err error) {
		r, err = file.OpenParquetFile(path, false) // a mapped file that is truncated ends the process
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: expected a Parquet file: %w", path, err)
	}
	f := &parquetFile{name: path, r: r}
	if err := guard(func() error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return f.start(c.Names, info.Size())
	}); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), r.Close())
	}
	return f, nil
}

// guard returns the error of f. A damaged file can make Arrow panic.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	return f()
}

// parquetFile implements shard.File.
type parquetFile struct {
	name    string
	r       *file.Reader
	columns []int   // their indices in the file
	rows    []int   // the first row of each group, then the number of all rows
	groups  []group // of rows
}

type group struct {
	once sync.Once
	data []float64 // by rows of the chosen columns
	err  error
}

// A few bytes of a file can stand for any number of equal rows. A file may have so many
// numbers that they fit in the memory of any machine, and beyond that so many for each of
// its bytes. Files in which not all columns are constant have far fewer.
const freeNumbers, numbersPerByte = 1 << 22, 1 << 10

// start finds the columns and the row groups of a file of the given size.
func (f *parquetFile) start(names []string, bytes int64) error {
	s := f.r.MetaData().Schema
	all := make([]string, s.NumColumns())
	for i := range all {
		all[i] = s.Column(i).Path()
	}
	if names == nil {
		names = all
	}
	if len(names) == 0 {
		return errors.New("there are no columns")
	}
	for _, name := range names {
		i := slices.Index(all, name)
		if i < 0 {
			return fmt.Errorf("expected a column %q, found %s", name, strings.Join(all, ", "))
		}
		if slices.Contains(all[i+1:], name) {
			return fmt.Errorf("expected one column %q, found several", name)
		}
		if err := check(s.Column(i)); err != nil {
			return err
		}
		f.columns = append(f.columns, i)
	}
	f.rows, f.groups = []int{0}, make([]group, f.r.NumRowGroups())
	for g := range f.groups {
		n := f.r.RowGroup(g).NumRows()
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("row group %d has %d rows", g, n)
		}
		f.rows = append(f.rows, f.rows[g]+int(n))
	}
	n := f.rows[len(f.groups)]
	if want := f.r.NumRows(); int64(n) != want || n == 0 {
		return fmt.Errorf("the row groups have %d rows, and the file %d; expected equal numbers, and not 0", n, want)
	}
	if most := freeNumbers + numbersPerByte*float64(bytes); float64(n)*float64(len(f.columns)) > most {
		return fmt.Errorf("%d rows of %d columns in a file of %d bytes, expected at most %.0f numbers", n, len(f.columns), bytes, most)
	}
	return nil
}

// check returns an error if the column does not hold a number a row.
func check(c *schema.Column) error {
	if t := c.PhysicalType(); t != pq.Types.Double && t != pq.Types.Float {
		return fmt.Errorf("column %q: expected the type DOUBLE or FLOAT, found %v", c.Path(), t)
	}
	if c.MaxRepetitionLevel() > 0 {
		return fmt.Errorf("column %q: expected a number a row, found lists", c.Path())
	}
	return nil
}

// Name implements shard.File.
func (f *parquetFile) Name() string { return f.name }

// Dims implements shard.File.
func (f *parquetFile) Dims() (rows, cols int) { return f.rows[len(f.groups)], len(f.columns) }

// Close implements shard.File.
func (f *parquetFile) Close() error { return f.r.Close() }

// Read implements shard.File.
func (f *parquetFile) Read(dst []float64, first int) error {
	all, cols := f.Dims()
	n := len(dst) / cols
	if first < 0 || n > all-first {
		return fmt.Errorf("%s: rows %d to %d, and there are %d", f.name, first, first+n, all)
	}
	for g := sort.SearchInts(f.rows, first+1) - 1; len(dst) > 0; g++ {
		data, err := f.group(g)
		if err != nil {
			return err
		}
		done := copy(dst, data[(first-f.rows[g])*cols:])
		dst = dst[done:]
		first += done / cols
	}
	return nil
}

// group returns the numbers of a row group.
func (f *parquetFile) group(g int) ([]float64, error) {
	x := &f.groups[g]
	x.once.Do(func() {
		cols := len(f.columns)
		for j, c := range f.columns {
			var column []float64
			err := guard(func() (err error) {
				column, err = f.decode(g, c)
				return err
			})
			if err != nil {
				x.data, x.err = nil, fmt.Errorf("%s: row group %d, column %q: %w", f.name, g, f.r.MetaData().Schema.Column(c).Path(), err)
				return
			}
			if j == 0 { // now the number of rows is known to be true
				x.data = make([]float64, len(column)*cols)
			}
			for i, v := range column {
				x.data[i*cols+j] = v
			}
		}
	})
	return x.data, x.err
}

// decode returns column c of row group g.
func (f *parquetFile) decode(g, c int) (column []float64, err error) {
	r, err := f.r.RowGroup(g).Column(c)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	const batch = 4096
	levels := make([]int16, batch)
	var read func() ([]float64, int64, error) // numbers, and rows with the nulls
	switch r := r.(type) {
	case *file.Float64ColumnChunkReader:
		x := make([]float64, batch)
		read = func() ([]float64, int64, error) {
			rows, n, err := r.ReadBatch(batch, x, levels, nil)
			return x[:n], rows, err
		}
	case *file.Float32ColumnChunkReader:
		x, wide := make([]float32, batch), make([]float64, batch)
		read = func() ([]float64, int64, error) {
			rows, n, err := r.ReadBatch(batch, x, levels, nil)
			for i, v := range x[:n] {
				wide[i] = float64(v)
			}
			return wide[:n], rows, err
		}
	}
	most := r.Descriptor().MaxDefinitionLevel()
	rows := f.rows[g+1] - f.rows[g]
	for {
		x, n, err := read()
		at := len(column)
		if err == nil {
			err = r.Err()
		}
		switch {
		case err != nil:
			return nil, err
		case n == 0 && at == rows:
			return column, nil
		case n == 0 || int(n) > rows-at:
			return nil, fmt.Errorf("expected %d rows, found %d", rows, at+int(n))
		case int64(len(x)) != n:
			null := slices.IndexFunc(levels[:n], func(level int16) bool { return level < most })
			return nil, fmt.Errorf("expected numbers, found a null at row %d", at+null)
		}
		for i, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("expected finite numbers, found %v at row %d", v, at+i)
			}
		}
		column = append(column, x...)
	}
}
