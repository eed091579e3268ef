package revtest

import (
	"reflect"
	"regexp"
	"strings"

	"revnum/rev"
)

var shapeName = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*`)

// freeDimensions returns the dimensions whose name occurs only once in all shape
// tags.
func freeDimensions(kernel reflect.Type, ops []rev.Operand) []string {
	uses := map[string]int{}
	for i := range kernel.NumField() {
		if kernel.Field(i).Type.Kind() == reflect.Int {
			uses[kernel.Field(i).Name]++ // the field gives the dimension
		}
	}
	dims := make([][]string, len(ops))
	for i, op := range ops {
		before, shape, conditional := strings.Cut(op.Shape, "?")
		if !conditional {
			shape = before
		}
		first, _, _ := strings.Cut(shape, ":") // the other alternative has the same names
		for _, name := range shapeName.FindAllString(first, -1) {
			uses[name]++
		}
		if !conditional {
			dims[i] = strings.Split(first, ",")
		}
	}
	var free []string
	for i, op := range ops {
		fields := map[rev.Kind][]string{
			rev.Slice: {"Len"}, rev.Vec: {"N"}, rev.Gen: {"Rows", "Cols"},
		}[op.Kind]
		if len(dims[i]) != len(fields) {
			continue
		}
		for axis, field := range fields {
			if name := strings.TrimSpace(dims[i][axis]); shapeName.FindString(name) == name && uses[name] == 1 {
				free = append(free, op.Name+"."+field)
			}
		}
	}
	return free
}
