package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"revnum/internal/draw"
	"revnum/internal/long"
	"revnum/rev"
	"revnum/rules/internal/catalog"
)

// TestChecks spoils the operands of all kernels in the ways that checks look for, and lets every two
// overlap. The methods that cmd/revgen writes must panic with what package rev panics with, or not at
// all if that does not.
func TestChecks(t *testing.T) {
	panics, passes := 0, 0
	for n, k := range slices.Concat(catalog.OverNumbers, catalog.OverLogs) {
		i := &k.Over[0]
		for pass, part := range map[string]catalog.Part{"Forward": catalog.Primal, "Adjoint": catalog.Cotangent, "Tangent": catalog.Tangent} {
			turn := n
			test := func(spoil func(at fields), what ...any) {
				if turn++; turn%6 > 0 && !long.Tests() {
					return
				}
				got, want := spoiled(i, pass, part, spoil, true), spoiled(i, pass, part, spoil, false)
				if got != want {
					t.Errorf("%v %s, %v:\n%s, want\n%s", i.Type, pass, what, got, want)
				}
				if want != "" {
					panics++
				}
				passes++
			}
			var all []place
			for _, p := range slices.Compact([]catalog.Part{catalog.Primal, part}) {
				for op := range i.Operands {
					all = append(all, place{p, &i.Operands[op]})
				}
			}
			for _, x := range all {
				for _, way := range ways {
					test(func(at fields) { spoilOne(at(x), x.Operand, way) }, x.part, x.Name, way)
				}
				for _, y := range all {
					if x == y || x.Elem != y.Elem || x.Kind == rev.Sparse || y.Kind == rev.Sparse {
						continue
					}
					for _, way := range []string{"begins as", "ends in the first element of"} {
						test(func(at fields) { overlap(at(x), at(y), x, y, way) }, x.part, x.Name, way, y.part, y.Name)
					}
				}
			}
		}
	}
	if panics < passes/4 || panics > passes*3/4 {
		t.Errorf("%d of %d passes panic", panics, passes)
	}
}

// A place is an operand of the kernel or of a derivative, and fields finds its field.
type (
	place struct {
		part catalog.Part
		*rev.Operand
	}
	fields func(x place) reflect.Value
)

// The ways in which an operand is spoiled alone.
var ways = []string{"as it is", "nil", "short", "without room", "empty", "with gaps", "with a stride of 0"}

// spoiled makes a pass with operands that are spoiled, by the method of the kernel or by package
// rev, and returns what it panics with.
func spoiled(i *catalog.Instance, pass string, part catalog.Part, spoil func(at fields), method bool) (panicked string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	frame := i.NewFrame()
	at := func(p catalog.Part) reflect.Value { return reflect.NewAt(i.Type, frame.At(p)).Elem() }
	for _, p := range []catalog.Part{catalog.Primal, part} {
		at(p).Set(reflect.ValueOf(i.New(rnd, 3, 2)))
	}
	spoil(func(x place) reflect.Value { return at(x.part).Field(x.Field) })
	defer func() {
		if v := recover(); v != nil {
			panicked = fmt.Sprint(v)
		}
	}()
	if !method {
		return errorText(frame.Run(pass))
	}
	var args []reflect.Value
	if part != catalog.Primal {
		args = append(args, at(part))
	}
	out := at(catalog.Primal).MethodByName(pass).Call(args)
	if len(out) > 0 {
		err, _ := out[0].Interface().(error)
		return errorText(err)
	}
	return ""
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// spoilOne changes an operand.
func spoilOne(f reflect.Value, o *rev.Operand, way string) {
	if way == "nil" {
		f.SetZero()
	}
	if o.Kind == rev.Scalar || o.Kind == rev.Sparse {
		return
	}
	data, cols := f, 1
	if o.Kind != rev.Slice {
		data = f.FieldByName("Data")
	}
	m := data.Len()
	if o.Kind == rev.Vec {
		m = int(f.FieldByName("N").Int())
	}
	if o.Kind == rev.Gen {
		m, cols = int(f.FieldByName("Rows").Int()), int(f.FieldByName("Cols").Int())
	}
	room := func(n int) reflect.Value { return reflect.MakeSlice(data.Type(), n, n) }
	switch way {
	case "short":
		draw.View(f, o.Kind, data, max(0, m-1), cols, max(1, cols))
		if o.Kind == rev.Slice {
			f.Set(data.Slice(0, max(0, m-1)))
		}
	case "without room":
		if o.Kind != rev.Slice {
			data.Set(data.Slice(0, max(0, data.Len()-1)))
		}
	case "empty":
		draw.View(f, o.Kind, room(0), 0, 0, 1)
	case "with gaps":
		draw.View(f, o.Kind, room((m+1)*(cols+1)), m, cols, cols+1)
		if o.Kind == rev.Slice {
			f.Set(data)
		}
	case "with a stride of 0":
		draw.View(f, o.Kind, data, m, cols, 0)
	}
}

// overlap moves two operands to the same memory. Both begin there, or the second begins with the last
// element of the first.
func overlap(f, g reflect.Value, x, y place, way string) {
	elements := func(f reflect.Value, x place) reflect.Value {
		switch {
		case x.Kind == rev.Slice:
			return f
		case x.Kind != rev.Scalar:
			return f.FieldByName("Data")
		case f.IsNil():
			return reflect.Zero(reflect.SliceOf(x.Elem))
		}
		return reflect.Append(reflect.Zero(reflect.SliceOf(x.Elem)), f.Elem())
	}
	move := func(f reflect.Value, x place, to reflect.Value) {
		switch x.Kind {
		case rev.Scalar:
			f.Set(to.Index(0).Addr())
		case rev.Slice:
			f.Set(to)
		default:
			f.FieldByName("Data").Set(to)
		}
	}
	a, b, from := elements(f, x), elements(g, y), 0
	if a.Len() == 0 || b.Len() == 0 {
		return
	}
	if way != "begins as" {
		from = a.Len() - 1
	}
	n := max(a.Len(), from+b.Len())
	memory := reflect.MakeSlice(reflect.SliceOf(x.Elem), n, n)
	reflect.Copy(memory.Slice(from, n), b)
	reflect.Copy(memory, a)
	move(f, x, memory.Slice(0, a.Len()))
	move(g, y, memory.Slice(from, from+b.Len()))
}
