package kerneltest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Constructors checks that the constructors take nil for operands that cotangents omit, and
// that they are all constructors of the package in the current folder that are written by
// hand.
func Constructors(t *testing.T, constructors ...any) {
	t.Helper()
	var names []string
	for _, f := range constructors {
		v := reflect.ValueOf(f)
		name := runtime.FuncForPC(v.Pointer()).Name()
		names = append(names, name[strings.LastIndex(name, ".")+1:])
		args := make([]reflect.Value, v.Type().NumIn())
		for i := range args {
			args[i] = reflect.Zero(v.Type().In(i))
		}
		k := v.Call(args)[0]
		for i := range k.NumField() {
			field := k.Type().Field(i)
			if _, ok := field.Tag.Lookup("rev"); !ok {
				continue
			}
			data := k.Field(i)
			if data.Kind() == reflect.Struct {
				data = data.FieldByName("Data")
			}
			if !data.IsNil() {
				t.Errorf("%s: %s is there", name, field.Name)
			}
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || name == "zpasses.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "New") && !slices.Contains(names, f.Name.Name) {
				t.Errorf("%s is not tested", f.Name.Name)
			}
		}
	}
}
