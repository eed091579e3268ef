package catalog_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"revnum/internal/draw"
	"revnum/rev"
	"revnum/rules/internal/catalog"
)

// TestChecks spoils the operands of all kernels in the ways that checks look for. The methods that
// cmd/revgen writes must panic with what package rev panics with, or not at all if that does not.
func TestChecks(t *testing.T) {
	panics, passes := 0, 0
	for _, k := range slices.Concat(catalog.OverNumbers, catalog.OverLogs) {
		i := &k.Over[0]
		for pass, part := range map[string]catalog.Part{"Forward": catalog.Primal, "Adjoint": catalog.Cotangent, "Tangent": catalog.Tangent} {
			for _, of := range slices.Compact([]catalog.Part{catalog.Primal, part}) {
				for op := range i.Operands {
					for _, way := range ways {
						got, want := spoiled(i, pass, part, of, op, way, true), spoiled(i, pass, part, of, op, way, false)
						if got != want {
							t.Errorf("%v %s, %s of part %d %s:\n%s, want\n%s", i.Type, pass, i.Operands[op].Name, of, way, got, want)
						}
						if want != "" {
							panics++
						}
						passes++
					}
				}
			}
		}
	}
	if panics < passes/4 || panics > passes*3/4 {
		t.Errorf("%d of %d passes panic", panics, passes)
	}
}

// The ways in which an operand is spoiled. The others are operands of the kernel, and of its
// derivatives if there are any.
var ways = []string{"as it is", "nil", "short", "without room", "empty", "with gaps", "with a stride of 0", "as the next", "as that of the kernel", "one after the next"}

// spoiled makes a pass with an operand that is spoiled, by the method of the kernel or by package
// rev, and returns what it panics with.
func spoiled(i *catalog.Instance, pass string, part, of catalog.Part, op int, way string, method bool) (panicked string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	frame := i.NewFrame()
	at := func(p catalog.Part) reflect.Value { return reflect.NewAt(i.Type, frame.At(p)).Elem() }
	for _, p := range []catalog.Part{catalog.Primal, part} {
		at(p).Set(reflect.ValueOf(i.New(rnd, 3, 2)))
	}
	o := i.Operands[op]
	next := i.Operands[(op+1)%len(i.Operands)]
	f, g := at(of).Field(o.Field), at(of).Field(next.Field)
	same := f.Type() == g.Type() && o.Kind != rev.Sparse && op != (op+1)%len(i.Operands)
	switch {
	case way == "nil":
		f.SetZero()
	case way == "as the next" && same:
		f.Set(g)
	case way == "as that of the kernel":
		f.Set(at(catalog.Primal).Field(o.Field))
	case o.Kind != rev.Scalar && o.Kind != rev.Sparse:
		spoilView(f, g, o, way, same)
	}
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

// spoilView changes an operand that has dimensions.
func spoilView(f, next reflect.Value, o rev.Operand, way string, same bool) {
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
	case "one after the next":
		if !same {
			return
		}
		if o.Kind != rev.Slice {
			next = next.FieldByName("Data")
		}
		if n := next.Len(); n == data.Len() {
			both := room(2 * n)
			next.Set(both.Slice(0, n))
			data.Set(both.Slice(max(0, n-1), 2*n-1))
		}
	}
}
