package asm

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
)

// A Variant is a tier with types. A zero field stands for all tiers, or for no such type.
type Variant struct {
	Tier  string    // AVX2 or AVX512, or NEON for that tier alone
	Size  int       // bytes of an element
	Index IndexType // int or int32
	X86   bool      // AVX2 is not translated for NEON
}

// types returns the variant without its tier.
func (v Variant) types() Variant { return Variant{Size: v.Size, Index: v.Index} }

func (v Variant) name(base string) string {
	name := base + v.Tier
	if v.Size > 0 {
		name += fmt.Sprint("F", 8*v.Size)
	}
	if v.Index != "" {
		name += v.Index.Suffix()
	}
	if v.Tier != "" {
		name += "<>" // of the file alone
	}
	return name
}

// in replaces T and I by the types of the variant.
func (v Variant) in(text string) string {
	text = typeT.ReplaceAllString(text, fmt.Sprint("float", 8*v.Size))
	return typeI.ReplaceAllString(text, string(v.Index))
}

var typeT, typeI = regexp.MustCompile(`\bT\b`), regexp.MustCompile(`\bI\b`)

// A Routine is a function of the package with all its variants.
type Routine struct {
	base, doc string
	params    []param
	result    string
	variants  []Variant
	least     string // argument that must be more than 4 for AVX-512
	join      string // how results of chunks are joined, if it takes chunks
	neon      bool   // its Go functions are written for arm64
}

type param struct{ name, typ string }

var functions []*Routine

// untranslated has the names of variants that are not translated.
var untranslated = map[string]bool{}

// Func emits a variant of a function. In sig, T is the type of elements, and I the type
// of indices. If an argument points to a struct, its fields are arguments too (see Keep).
//
// In Go, the variants are called by vectorName. It takes the types, and a jump in the
// assembly the tier that the package variable tier says. Where there is but one
// tier, vectorName must not be called on others, nor on arm64 where all variants are for AVX-512 or X86.
func Func(base string, v Variant, sig, doc string, body func()) *Routine {
	i := slices.IndexFunc(functions, func(f *Routine) bool { return f.base == base })
	if i < 0 {
		i = len(functions)
		f := &Routine{base: base, doc: doc}
		f.params, f.result = parseSignature(sig)
		functions = append(functions, f)
	}
	f := functions[i]
	if v.Tier != "NEON" {
		f.variants = append(f.variants, v)
	}
	untranslated[v.name(base)] = v.X86
	TEXT(v.name(base), attr.NOSPLIT, "func"+f.signature(func(typ string) string {
		if strings.HasSuffix(typ, "]") { // avo does not know the type
			return "*byte"
		}
		return v.in(typ)
	}))
	Pragma("noescape")
	openStructs(f, v)
	body()
	if v.Tier != "" {
		VZEROUPPER()
	}
	RET()
	return f
}

// Float64 emits a function for float64 on both tiers.
func Float64(name, sig, doc string, body func(g ISA)) *Routine {
	return bothTiers(8, name, sig, doc, body)
}

// Floats emits a function for float64 and float32 on both tiers.
func Floats(name, sig, doc string, body func(g ISA)) *Routine {
	bothTiers(8, name, sig, doc, body)
	return bothTiers(4, name, sig, doc, body)
}

func bothTiers(size int, name, sig, doc string, body func(g ISA)) (f *Routine) {
	emit := func(g ISA) *Routine {
		return Func(name, Variant{Tier: g.Tier(), Size: size}, sig, doc, func() { body(g) })
	}
	emit(ISA{Wide: true, Size: size})
	first := labels
	unlike = false
	f = emit(ISA{Size: size})
	if unlike { // with the same labels, so that those of what follows stay as they are
		after := labels
		labels = first
		emit(ISA{Size: size, NEON: true})
		labels = after
	}
	return f
}

// Short makes the function run AVX2 where the argument is 4 or less. A register of AVX2 then
// holds all elements, and a masked store of AVX-512 would delay loads of the bytes after it.
func (f *Routine) Short(argument string) *Routine {
	f.least = argument
	return f
}

// Chunks makes the function in Go an exported one of slices instead of pointers, without the
// number of elements, which must be the last argument. It panics with badLength unless the
// slices have the same length. It passes a chunk at a time to the assembly, and runs the
// generic function on the generic tier. join adds the result of a chunk to s. A result of
// type float64 is converted to T.
func (f *Routine) Chunks(join string) *Routine {
	f.join = join
	return f
}

func parseSignature(sig string) (params []param, result string) {
	e, err := parser.ParseExpr(sig)
	if err != nil {
		panic(err)
	}
	f := e.(*ast.FuncType)
	for _, field := range f.Params.List {
		for _, name := range field.Names {
			params = append(params, param{name.Name, types.ExprString(field.Type)})
		}
	}
	if f.Results != nil {
		result = types.ExprString(f.Results.List[0].Type)
	}
	return params, result
}

// signature returns the parameters and the result, with types as in says.
func (f *Routine) signature(in func(string) string) string {
	var params []string
	for _, p := range f.params {
		params = append(params, p.name+" "+in(p.typ))
	}
	return "(" + strings.Join(params, ", ") + ") " + in(f.result)
}

// uses reports whether a type in the signature has T or I.
func (f *Routine) uses(t *regexp.Regexp) bool {
	return t.MatchString(f.result) || slices.ContainsFunc(f.params, func(p param) bool { return t.MatchString(p.typ) })
}

// types returns the variants by types alone.
func (f *Routine) types() (types []Variant) {
	for _, v := range f.variants {
		if t := v.types(); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

// offset returns where an argument lies.
func (f *Routine) offset(v Variant, name string) (offset int) {
	for _, p := range f.params {
		size, align := 8, 8
		switch p.typ {
		case "T":
			size, align = v.Size, v.Size
		case "complex128":
			size = 16
		}
		offset = (offset + align - 1) &^ (align - 1)
		if p.name == name {
			return offset
		}
		offset += size
	}
	panic(name)
}
