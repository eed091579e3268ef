package asm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// structs are the structs of the package, read from its Go source, so that the layout in
// the assembly cannot differ.
var structs = map[string]*ast.StructType{}

// fields are the fields of structs that arguments of the current function point to.
var fields map[string]field

// A field is read from the struct, or from a local of the function if it is kept.
type field struct {
	arg          string
	offset, size int
	local        *Mem
}

func readStructs() {
	files, err := filepath.Glob("*.go")
	if err != nil {
		panic(err)
	}
	for _, path := range files {
		if strings.HasPrefix(path, "z") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			panic(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = s
				}
			}
			return true
		})
	}
}

// openStructs finds the fields of the arguments of f that are structs.
func openStructs(f *Routine, v Variant) {
	fields = map[string]field{}
	for _, p := range f.params {
		name, _, generic := strings.Cut(strings.TrimPrefix(p.typ, "*"), "[")
		if !generic {
			continue
		}
		s := structs[name]
		if s == nil {
			continue
		}
		offset := 0
		for _, list := range s.Fields.List {
			typ := types.ExprString(list.Type)
			size, align := v.layout(typ)
			for _, id := range list.Names {
				offset = (offset + align - 1) &^ (align - 1)
				fields[id.Name] = field{p.name, offset, size, nil}
				offset += size
			}
		}
	}
}

func (v Variant) layout(typ string) (size, align int) {
	switch {
	case strings.HasPrefix(typ, "[]"):
		return 24, 8
	case typ == "T":
		return v.Size, v.Size
	case typ == "I":
		return v.Index.Bytes(), v.Index.Bytes()
	case typ == "int":
		return 8, 8
	case typ == "bool":
		return 1, 1
	}
	panic(fmt.Sprint("layout of ", typ))
}

// in returns where the field is.
func (f field) in() Mem {
	if f.local != nil {
		return *f.local
	}
	return Mem{Base: Load(Param(f.arg), GP64()), Disp: f.offset}
}

// KeepLen copies the lengths of slices into locals, which are then the operands of the
// names len(NAME).
func KeepLen(names ...string) {
	for _, name := range names {
		f := fields[name]
		fields["len("+name+")"] = field{f.arg, f.offset + 8, 8, nil}
		Keep("len(" + name + ")")
	}
}

// Keep copies fields of a struct into locals of the function, which are then operands of
// instructions, and may be changed.
func Keep(names ...string) {
	for _, name := range names {
		f, ok := fields[name]
		if !ok {
			panic(name)
		}
		r := GP64()
		m := AllocLocal(8)
		if f.size == 4 {
			MOVL(f.in(), r.As32())
			MOVL(r.As32(), m)
		} else {
			MOVQ(f.in(), r)
			MOVQ(r, m)
		}
		f.local = &m
		fields[name] = f
	}
}
