package vectors

import (
	"io"
	"maps"
	"reflect"
	"slices"

	"github.com/sbinet/npyio/npz"
)

// writeNPZ writes a vector as an archive of NumPy arrays. The names of the arrays are
// the paths of the JSON file, such as "operands/A" and "expected/gradients/A". A sparse
// matrix is three arrays: that of its entries, and two with ".ptr" and ".ind" after its
// name. There are also "shape" and "parameters/TransA".
func writeNPZ(w io.Writer, v *Vector) error {
	z := npz.NewWriter(w)
	write := func(name string, a any) error { return z.Write(name+".npy", a) }
	for _, name := range slices.Sorted(maps.Keys(v.Parameters)) {
		if err := write("parameters/"+name, v.Parameters[name]); err != nil {
			return err
		}
	}
	for _, part := range []struct {
		name   string
		arrays map[string]Array
	}{
		{"operands", v.Operands}, {"cotangents", v.Cotangents}, {"tangents", v.Tangents}, {"cotangent_tangents", v.CotangentTangents},
		{"expected/value", v.Expected.Value}, {"expected/gradients", v.Expected.Gradients},
		{"expected/tangents", v.Expected.Tangents}, {"expected/second_order", v.Expected.SecondOrder},
	} {
		for _, operand := range slices.Sorted(maps.Keys(part.arrays)) {
			a, name := part.arrays[operand], part.name+"/"+operand
			if err := write(name, a.numpy()); err != nil {
				return err
			}
			if a.Ptr == nil {
				continue
			}
			for i, numbers := range [][]int{a.Shape, a.Ptr, a.Ind} {
				if err := write(name+[]string{".shape", ".ptr", ".ind"}[i], int64s(numbers)); err != nil {
					return err
				}
			}
		}
	}
	return z.Close()
}

// numpy returns the numbers of a as package npy takes them: a number, or an array.
func (a Array) numpy() any {
	switch x := a.Data.(type) {
	case []int:
		a.Data = int64s(x)
	case [2]float64:
		return complex(x[0], x[1])
	case [][2]float64:
		z := make([]complex128, len(x))
		for i, p := range x {
			z[i] = complex(p[0], p[1])
		}
		a.Data = z
	}
	if len(a.Shape) < 2 || a.Ptr != nil {
		return a.Data
	}
	from := reflect.ValueOf(a.Data)
	rows, cols := a.Shape[0], a.Shape[1]
	m := reflect.New(reflect.ArrayOf(rows, reflect.ArrayOf(cols, from.Type().Elem()))).Elem()
	for i := range rows {
		reflect.Copy(m.Index(i), from.Slice(i*cols, (i+1)*cols))
	}
	return m.Interface()
}

func int64s(x []int) []int64 {
	y := make([]int64, len(x))
	for i, v := range x {
		y[i] = int64(v)
	}
	return y
}
