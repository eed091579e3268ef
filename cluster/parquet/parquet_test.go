package parquet_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"gonum.org/v1/gonum/mat"

	"revnum/cluster"
	"revnum/cluster/parquet"
	"revnum/cluster/shard"
)

// A column is a column of a test file: values of one type, with nulls at some rows.
type column struct {
	name     string
	kind     pq.Type
	optional bool
	null     int // the row that is null; -1 for none
	value    func(row int) float64
}

// encode returns a Parquet file of the columns, with row groups of the given numbers of
// rows.
func encode(t testing.TB, codec compress.Compression, columns []column, groups ...int) []byte {
	t.Helper()
	var fields schema.FieldList
	for _, c := range columns {
		repetition := pq.Repetitions.Required
		if c.optional {
			repetition = pq.Repetitions.Optional
		}
		fields = append(fields, schema.Must(schema.NewPrimitiveNode(c.name, repetition, c.kind, -1, -1)))
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, fields, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root, file.WithWriterProps(pq.NewWriterProperties(pq.WithCompression(codec), pq.WithDataPageSize(1000))))
	first := 0
	for _, rows := range groups {
		group, err := w.AppendRowGroupChecked()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range columns {
			var levels []int16
			var x []float64
			for row := first; row < first+rows; row++ {
				if row == c.null {
					levels = append(levels, 0)
					continue
				}
				levels, x = append(levels, 1), append(x, c.value(row))
			}
			if !c.optional {
				levels = nil
			}
			cw, err := group.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			switch cw := cw.(type) {
			case *file.Float64ColumnChunkWriter:
				_, err = cw.WriteBatch(x, levels, nil)
			case *file.Float32ColumnChunkWriter:
				narrow := make([]float32, len(x))
				for i, v := range x {
					narrow[i] = float32(v)
				}
				_, err = cw.WriteBatch(narrow, levels, nil)
			case *file.Int64ColumnChunkWriter:
				_, err = cw.WriteBatch(make([]int64, rows), levels, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := cw.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := group.Close(); err != nil {
			t.Fatal(err)
		}
		first += rows
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func number(j int) func(row int) float64 {
	return func(row int) float64 { return math.Sin(float64(7*row + j)) }
}

// columns are three good columns, and one of integers.
func columns() []column {
	return []column{
		{"x", pq.Types.Double, false, -1, number(0)},
		{"id", pq.Types.Int64, false, -1, number(1)},
		{"y", pq.Types.Double, true, -1, number(2)},
		{"z", pq.Types.Float, true, -1, func(row int) float64 { return float64(row) / 4 }},
	}
}

func write(t testing.TB, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRead reads ranges of rows within groups and over their ends.
func TestRead(t *testing.T) {
	list := columns()
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
		path := write(t, t.TempDir(), "a.parquet", encode(t, codec, list, 700, 1, 5000))
		f, err := parquet.Open(path, shard.Columns{Names: []string{"z", "x", "y"}})
		if err != nil {
			t.Fatal(err)
		}
		if rows, cols := f.Dims(); rows != 5701 || cols != 3 || f.Name() != path {
			t.Fatalf("%s has %d×%d numbers, want 5701×3", f.Name(), rows, cols)
		}
		for _, r := range [][2]int{{699, 3}, {0, 5701}, {700, 1}, {5700, 1}, {5701, 0}, {100, 50}} {
			got := make([]float64, 3*r[1])
			if err := f.Read(got, r[0]); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if want := list[[]int{3, 0, 2}[i%3]].value(r[0] + i/3); v != want {
					t.Fatalf("%v: rows %v: number %d is %v, want %v", codec, r, i, v, want)
				}
			}
		}
		if err := f.Read(make([]float64, 6), 5700); err == nil || !strings.Contains(err.Error(), "a.parquet: rows 5700 to 5702, and there are 5701") {
			t.Errorf("after the end: %v", err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestErrors wants the file in each message, and the row group where there is one.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	with := func(change func(list []column)) []byte {
		list := columns()
		change(list)
		return encode(t, compress.Codecs.Snappy, list, 300, 200)
	}
	good := with(func([]column) {})
	damaged := slices.Clone(good)
	for i := 4; i < 30; i++ { // the header of the first page
		damaged[i] ^= 0x55
	}
	for _, c := range []struct {
		name  string
		file  []byte
		names string
		want  string
	}{
		{"null", with(func(l []column) { l[2].null = 310 }), "x,y", `null.parquet: row group 1, column "y": expected numbers, found a null at row 10`},
		{"nan", with(func(l []column) { l[0].value = func(row int) float64 { return math.Log(float64(row - 5)) } }), "y,x", `nan.parquet: row group 0, column "x": expected finite numbers, found NaN at row 0`},
		{"inf", with(func(l []column) { l[3].value = func(row int) float64 { return 1 / float64(499-row) } }), "z", `inf.parquet: row group 1, column "z": expected finite numbers, found +Inf at row 199`},
		{"type", good, "x,id", `type.parquet: column "id": expected the type DOUBLE or FLOAT, found INT64`},
		{"all", good, "", `all.parquet: column "id": expected the type DOUBLE or FLOAT, found INT64`},
		{"name", good, "x,w", `name.parquet: expected a column "w", found x, id, y, z`},
		{"twice", with(func(l []column) { l[2].name = "x" }), "z,x", `twice.parquet: expected one column "x", found several`},
		{"number", good, "3", `number.parquet: the columns have names`},
		{"short", good[:len(good)-9], "x", `short.parquet: expected a Parquet file: `},
		{"begin", good[:20], "x", `begin.parquet: expected a Parquet file: `},
		{"empty", nil, "x", `empty.parquet: expected a Parquet file: `},
		{"damaged", damaged, "x,y", `damaged.parquet: row group 0, column "x": `},
		{"none", encode(t, compress.Codecs.Snappy, columns()), "x", `none.parquet: the row groups have 0 rows`},
	} {
		path := write(t, dir, c.name+".parquet", c.file)
		which, err := shard.ParseColumns(c.names)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parquet.Open(path, which)
		if err == nil {
			_, cols := f.Dims()
			err = f.Read(make([]float64, 500*cols), 0)
			again := f.Read(make([]float64, 500*cols), 0)
			if fmt.Sprint(again) != fmt.Sprint(err) {
				t.Errorf("%s: %v, and again: %v", c.name, err, again)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := parquet.Open(filepath.Join(dir, "missing.parquet"), shard.Columns{}); err == nil || !strings.Contains(err.Error(), "missing.parquet: ") {
		t.Errorf("a missing file: %v", err)
	}
}

// TestTruncated truncates a file after it was opened.
func TestTruncated(t *testing.T) {
	b := encode(t, compress.Codecs.Snappy, columns()[:1], 3000, 3000)
	path := write(t, t.TempDir(), "a.parquet", b)
	f, err := parquet.Open(path, shard.Columns{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	if err := f.Read(make([]float64, 10), 3000); err == nil || !strings.HasPrefix(err.Error(), path+": row group 1, column") {
		t.Error(err)
	}
}

// TestSmallFile opens a file of a few kilobytes with 2²⁴ equal rows.
func TestSmallFile(t *testing.T) {
	root := schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, schema.FieldList{schema.NewFloat64Node("x", pq.Repetitions.Required, -1)}, -1))
	var b bytes.Buffer
	w := file.NewParquetWriter(&b, root)
	group, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	column, err := group.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 1<<16)
	for range 1 << 24 / len(x) {
		if _, err := column.(*file.Float64ColumnChunkWriter).WriteBatch(x, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(column.Close(), group.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := write(t, t.TempDir(), "small.parquet", b.Bytes())
	if _, err := parquet.Open(path, shard.Columns{}); err == nil || !strings.Contains(err.Error(), "16777216 rows of 1 columns in a file of") {
		t.Errorf("%d bytes: %v", b.Len(), err)
	}
}

// TestFit fits points in Parquet over ranks, and wants the bits of the fit of the same
// points in memory.
func TestFit(t *testing.T) {
	list := columns()
	list[3].value = func(row int) float64 { return float64(row%3*9) + float64(float32(number(3)(row))) }
	path := write(t, t.TempDir(), "a.parquet", encode(t, compress.Codecs.Zstd, list, 700, 900, 400))
	x := mat.NewDense(2000, 2, nil)
	for i := range 2000 {
		x.Set(i, 0, list[0].value(i))
		x.Set(i, 1, float64(float32(list[3].value(i))))
	}
	fit := func(ranks int, open func() (shard.File, error)) string {
		var text string
		err := cluster.Run(ranks, func(r cluster.Reducer) error {
			p, err := cluster.NewPoints(r, 2, func() (*shard.Set, error) {
				f, err := open()
				if err != nil {
					return nil, err
				}
				return shard.NewSet(128, f)
			})
			if err != nil {
				return err
			}
			defer p.Close()
			m, _, err := cluster.FitGMM(t.Context(), p, 3, 1, nil, nil)
			if err == nil && r.Rank() == 0 {
				var b []byte
				b, err = m.MarshalJSON()
				text = string(b)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	want := fit(1, func() (shard.File, error) { return shard.Matrix("a.parquet", x), nil })
	for _, ranks := range []int{1, 3} {
		got := fit(ranks, func() (shard.File, error) { return parquet.Open(path, shard.Columns{Names: []string{"x", "z"}}) })
		if got != want {
			t.Errorf("%d ranks: another mixture than of points in memory", ranks)
		}
	}
}

// FuzzOpen reads damaged files, which must not panic.
func FuzzOpen(f *testing.F) {
	f.Add(encode(f, compress.Codecs.Snappy, columns()[:1], 20, 10))
	f.Add(encode(f, compress.Codecs.Uncompressed, columns()[2:], 5))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parquet.Open(write(t, t.TempDir(), "a.parquet", b), shard.Columns{})
		if err != nil {
			return
		}
		rows, cols := file.Dims()
		for row := range min(rows, 100) {
			if file.Read(make([]float64, cols), row) != nil {
				break
			}
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	})
}
