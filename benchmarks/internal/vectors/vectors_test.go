package vectors

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sbinet/npyio/npz"

	"revnum/internal/long"
	"revnum/rules"
)

// A port of MatMul in plain loops agrees with the exported file.
func TestExport(t *testing.T) {
	dir := t.TempDir()
	n, err := Export(dir, "json", 1, 3, 4, map[string]bool{"float64": true, "complex128": true})
	if err != nil || n < 60 {
		t.Fatalf("%d files, %v", n, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "revlinalg.MatMul.float64.json"))
	if err != nil {
		t.Fatal(err)
	}
	type matrix struct {
		Shape []int
		Data  []float64
	}
	var v struct {
		Operands, Cotangents, Tangents map[string]matrix
		CotangentTangents              map[string]matrix `json:"cotangent_tangents"`
		Expected                       struct {
			Value, Gradients, Tangents map[string]matrix
			SecondOrder                map[string]matrix `json:"second_order"`
		}
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	product := func(a, b matrix, transA, transB bool) matrix {
		at := func(m matrix, trans bool, i, j int) float64 {
			if trans {
				i, j = j, i
			}
			return m.Data[i*m.Shape[1]+j]
		}
		rows, inner, cols := a.Shape[0], a.Shape[1], b.Shape[1]
		if transA {
			rows, inner = inner, rows
		}
		if transB {
			cols = b.Shape[0]
		}
		c := matrix{Shape: []int{rows, cols}}
		for i := range rows {
			for j := range cols {
				sum := 0.0
				for l := range inner {
					sum += at(a, transA, i, l) * at(b, transB, l, j)
				}
				c.Data = append(c.Data, sum)
			}
		}
		return c
	}
	sum := func(a, b matrix) matrix {
		c := matrix{Shape: a.Shape}
		for i := range a.Data {
			c.Data = append(c.Data, a.Data[i]+b.Data[i])
		}
		return c
	}
	a, b, gc := v.Operands["A"], v.Operands["B"], v.Cotangents["C"]
	ta, tb, gtc := v.Tangents["A"], v.Tangents["B"], v.CotangentTangents["C"]
	for name, c := range map[string]struct{ got, want matrix }{
		"value":       {product(a, b, false, false), v.Expected.Value["C"]},
		"gradient A":  {product(gc, b, false, true), v.Expected.Gradients["A"]},
		"gradient B":  {product(a, gc, true, false), v.Expected.Gradients["B"]},
		"tangent":     {sum(product(ta, b, false, false), product(a, tb, false, false)), v.Expected.Tangents["C"]},
		"second of A": {sum(product(gtc, b, false, true), product(gc, tb, false, true)), v.Expected.SecondOrder["A"]},
		"second of B": {sum(product(a, gtc, true, false), product(ta, gc, true, false)), v.Expected.SecondOrder["B"]},
	} {
		if len(c.got.Data) == 0 || len(c.got.Data) != len(c.want.Data) {
			t.Fatalf("%s: %d numbers, want %d", name, len(c.want.Data), len(c.got.Data))
		}
		for i, x := range c.got.Data {
			if !(math.Abs(x-c.want.Data[i]) <= 1e-14) {
				t.Errorf("%s: number %d is %v, the port has %v", name, i, c.want.Data[i], x)
			}
		}
	}
}

// Every rule of every type can be written.
func TestAll(t *testing.T) {
	for _, r := range rules.All() {
		if r.Missing != "" {
			continue
		}
		v, err := Of(r, 2, 3, 4)
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
			continue
		}
		second := slices.Contains(r.Passes, rules.AdjointTangent)
		if len(v.Expected.Value) == 0 || len(v.Expected.Gradients) == 0 || len(v.Expected.SecondOrder) > 0 != second {
			t.Errorf("%s: values %v, gradients %v, second order %v", r.Name, v.Expected.Value, v.Expected.Gradients, v.Expected.SecondOrder)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

// The archives have the arrays of the JSON files, with their shapes and types.
func TestNPZ(t *testing.T) {
	for _, name := range []string{"revlinalg.MatMul[float32]", "revsparse.Mul[complex128]", "revlinalg.Dot[float64]", "graphembed.Loss[float64]"} {
		r, err := rules.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Of(r, 1, 3, 4)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := writeNPZ(&file, v); err != nil {
			t.Fatal(name, err)
		}
		z, err := npz.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for part, arrays := range map[string]map[string]Array{"operands": v.Operands, "cotangents": v.Cotangents, "expected/gradients": v.Expected.Gradients, "expected/second_order": v.Expected.SecondOrder} {
			for operand, a := range arrays {
				at := part + "/" + operand
				h := z.Header(at + ".npy")
				if h == nil {
					t.Fatalf("%s: no array %s", name, at)
				}
				shape := a.Shape
				if a.Ptr != nil {
					shape = []int{len(a.Ind)}
					var ptr []int64
					if err := z.Read(at+".ptr.npy", &ptr); err != nil || !slices.Equal(ptr, int64s(a.Ptr)) {
						t.Errorf("%s: row pointers %v of %s, want %v, %v", name, ptr, at, a.Ptr, err)
					}
				}
				if !slices.Equal(h.Descr.Shape, shape) {
					t.Errorf("%s: %s is of shape %v, want %v", name, at, h.Descr.Shape, shape)
				}
				var err error
				switch want := a.Data.(type) {
				case []float64:
					got := make([]float64, len(want))
					if err = z.Read(at+".npy", &got); !slices.Equal(got, want) {
						t.Errorf("%s: %s is %v, want %v", name, at, got, want)
					}
				case []float32:
					got := make([]float32, len(want))
					if err = z.Read(at+".npy", &got); !slices.Equal(got, want) {
						t.Errorf("%s: %s is %v, want %v", name, at, got, want)
					}
				case [][2]float64:
					got := make([]complex128, len(want))
					err = z.Read(at+".npy", &got)
					for i, c := range got {
						if c != complex(want[i][0], want[i][1]) {
							t.Errorf("%s: %s is %v, want %v", name, at, got, want)
						}
					}
				}
				if err != nil {
					t.Errorf("%s: %s: %v", name, at, err)
				}
			}
		}
	}
}

// The largest operands that the command allows have vectors too, also of kernels that limit
// their rows. More rows would overflow float32, and JSON has no infinities.
func TestExportLarge(t *testing.T) {
	for i, r := range rules.All() {
		if r.Missing != "" || i%4 > 0 && !long.Tests() {
			continue
		}
		v, err := Of(r, 1, 64, 64)
		if err == nil {
			_, err = json.Marshal(v)
		}
		if err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}
