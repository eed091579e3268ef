package asm

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
)

// A Variant is what a function of assembly is for. It does not depend on what is zero.
type Variant struct {
	Tier  string    // AVX2 or AVX512
	Size  int       // bytes of an element
	Index IndexType // int or int32
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

// A function is all variants of the same name.
type function struct {
	base, doc string
	params    []param
	result    string
	variants  []Variant
	least     string // argument that must be more than 4 for AVX-512
	join      string // how the results of chunks make that of all, if it takes chunks
}

type param struct{ name, typ string }

var functions []*function

// Func begins a variant of a function. In sig, T stands for the type of elements, and I
// for that of indices. The fields of a struct that an argument points to are arguments
// too (see Struct).
//
// In Go, the variants are called by vectorName. It takes the types, and a jump in the
// assembly the tier that the package variable tier says. Where there is but one
// tier, vectorName must not be called on others.
func Func(base string, v Variant, sig, doc string) {
	i := slices.IndexFunc(functions, func(f *function) bool { return f.base == base })
	if i < 0 {
		i = len(functions)
		f := &function{base: base, doc: doc}
		f.params, f.result = parseSignature(sig)
		functions = append(functions, f)
	}
	f := functions[i]
	f.variants = append(f.variants, v)
	TEXT(v.name(base), attr.NOSPLIT, f.signature(func(typ string) string {
		if strings.HasSuffix(typ, "]") { // avo does not know the type
			return "*byte"
		}
		return v.in(typ)
	}))
	Pragma("noescape")
	openStructs(f, v)
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

// signature returns that of f with types as in says.
func (f *function) signature(in func(string) string) string {
	var b strings.Builder
	b.WriteString("func")
	f.writeParams(&b, in)
	return b.String()
}

func (f *function) writeParams(b *strings.Builder, in func(string) string) {
	b.WriteString("(")
	for i, p := range f.params {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(b, "%s %s", p.name, in(p.typ))
	}
	b.WriteString(")")
	if f.result != "" {
		b.WriteString(" " + in(f.result))
	}
}

// Short has a function take AVX2 if an argument is not more than 4. What fits in a
// register of AVX2 is faster there, and a masked store of AVX-512 would delay loads from
// what lies behind it.
func Short(base, argument string) { find(base).least = argument }

// Chunks has what calls a function in Go take slices of the same length, of which the
// assembly does a chunk at a time, and take the generic function on the generic tier.
// It has pointers to where the slices begin, and the number of elements last. join is
// what puts results together.
//
// So there is no more than a call in Go between a caller and the assembly, as the
// compiler puts the checks of the lengths into the caller.
func Chunks(base, join string) { find(base).join = join }

func find(base string) *function {
	return functions[slices.IndexFunc(functions, func(f *function) bool { return f.base == base })]
}

// BothTiers emits the variants of both tiers for elements of some size.
func BothTiers(size int, name, sig, doc string, body func(g ISA)) {
	for _, g := range []ISA{{true, size}, {false, size}} {
		g.Text(name, sig, doc)
		body(g)
		VZEROUPPER()
		RET()
	}
}

// Files writes the files of a package: z and then name, _amd64.s with the assembly,
// _amd64.go with its declarations and the functions that call them, and _noasm.go with
// what stands for these where there is no assembly. The last argument of the command is
// the folder.
func Files(name string, emit func()) {
	flag.Parse()
	dir := flag.Arg(0)
	pkg := filepath.Base(dir)
	readStructs(dir)
	ConstraintExpr("amd64,!noasm")
	emit()
	assembly := filepath.Join(dir, "z"+name+"_amd64.s")
	for option, value := range map[string]string{"out": assembly, "pkg": pkg} {
		if err := flag.Set(option, value); err != nil {
			panic(err)
		}
	}
	Generate()
	writeJumps(assembly)

	own := func(code string) string { return code } // how the package names what is in package cpu
	if pkg == "cpu" {
		own = func(code string) string { return strings.ReplaceAll(code, "cpu.", "") }
	}
	head := "// Code generated by internal/simd/_gen. DO NOT EDIT.\n\n//go:build %s\n\npackage %s\n\n"
	var decl, none, body, bare strings.Builder
	fmt.Fprintf(&decl, head, "amd64 && !noasm", pkg)
	fmt.Fprintf(&none, head, "!amd64 || noasm", pkg)
	for _, f := range functions {
		fmt.Fprintf(&body, "// %s %s\n", f.name(), f.doc)
		f.writeHead(&body)
		body.WriteString(" {\n")
		if f.join != "" {
			f.writeChunks(&body)
		} else {
			f.writeCalls(&body, f.typed(), "return ")
		}
		body.WriteString("}\n\n")
		for _, v := range f.typed() {
			fmt.Fprintf(&body, "//go:noescape\nfunc %s", v.name(f.base))
			f.writeParams(&body, v.in)
			body.WriteString("\n\n")
		}
		f.writeHead(&bare)
		switch {
		case f.join == "":
			bare.WriteString(" { panic(\"no assembly\") }\n\n")
		case f.result == "":
			fmt.Fprintf(&bare, " { generic%s(%s) }\n\n", f.title(), f.names())
		default:
			fmt.Fprintf(&bare, " { return generic%s(%s) }\n\n", f.title(), f.names())
		}
	}
	for file, code := range map[*strings.Builder]string{&decl: own(body.String()), &none: own(bare.String())} {
		imports(file, code)
		file.WriteString(code)
	}
	write(filepath.Join(dir, "z"+name+"_amd64.go"), decl.String())
	write(filepath.Join(dir, "z"+name+"_noasm.go"), none.String())
}

func imports(b *strings.Builder, body string) {
	b.WriteString("import (\n")
	if strings.Contains(body, "unsafe.") {
		b.WriteString("\"unsafe\"\n\n")
	}
	if strings.Contains(body, "cpu.") {
		b.WriteString("\"revnum/internal/simd/cpu\"\n")
	}
	b.WriteString(")\n\n")
}

func write(path, text string) {
	out, err := format.Source([]byte(text))
	if err != nil {
		panic(fmt.Sprint(path, ": ", err))
	}
	out = bytes.ReplaceAll(out, []byte("import ()\n\n"), nil)
	if err := os.WriteFile(path, out, 0o666); err != nil {
		panic(err)
	}
}

// uses reports whether a type in the signature has T or I.
func (f *function) uses(t *regexp.Regexp) bool {
	return t.MatchString(f.result) || slices.ContainsFunc(f.params, func(p param) bool { return t.MatchString(p.typ) })
}

func (f *function) title() string { return strings.ToUpper(f.base[:1]) + f.base[1:] }

// typed returns the variants by types alone.
func (f *function) typed() (types []Variant) {
	for _, v := range f.variants {
		if t := v.types(); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	return types
}

// tiers returns the names of the variants of some types.
func (f *function) tiers(types Variant) (avx512, avx2 string) {
	for _, v := range f.variants {
		switch {
		case v.types() != types:
		case v.Tier == "AVX512":
			avx512 = v.name(f.base)
		case v.Tier == "AVX2":
			avx2 = v.name(f.base)
		}
	}
	return avx512, avx2
}

// writeJumps appends the jumps to the tier in use.
func writeJumps(path string) {
	out, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	text := string(out)
	var b strings.Builder
	for _, f := range functions {
		for _, v := range f.typed() {
			avx512, avx2 := f.tiers(v)
			if avx512 == "" && avx2 == "" {
				continue
			}
			size := regexp.MustCompile(regexp.QuoteMeta(avx512+avx2[len(avx2)*min(1, len(avx512)):]) + `\(SB\).*-(\d+)\n`).FindStringSubmatch(text)[1]
			fmt.Fprintf(&b, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $0-%s\n", v.name(f.base), strings.TrimPrefix(f.signature(v.in), "func"), v.name(f.base), size)
			if avx512 != "" && avx2 != "" {
				if f.least != "" {
					fmt.Fprintf(&b, "\tCMPQ %s+%d(FP), $4\n\tJLE  avx2\n", f.least, f.offset(v, f.least))
				}
				fmt.Fprintf(&b, "\tCMPQ ·tier(SB), $2\n\tJNE  avx2\n\tJMP  ·%s(SB)\n\navx2:\n\tJMP ·%s(SB)\n", avx512, avx2)
			} else {
				fmt.Fprintf(&b, "\tJMP ·%s%s(SB)\n", avx512, avx2)
			}
		}
	}
	if err := os.WriteFile(path, []byte(text+b.String()), 0o666); err != nil {
		panic(err)
	}
}

// offset returns where an argument lies.
func (f *function) offset(v Variant, name string) (offset int) {
	for _, p := range f.params {
		size := 8
		if p.typ == "T" {
			size = v.Size
		}
		offset = (offset + size - 1) &^ (size - 1)
		if p.name == name {
			return offset
		}
		offset += size
	}
	panic(name)
}

// writeHead writes what stands before the body of the function that calls the variants.
func (f *function) writeHead(b *strings.Builder) {
	fmt.Fprintf(b, "func %s", f.name())
	switch t, i := f.uses(typeT), f.uses(typeI); {
	case t && i:
		b.WriteString("[T cpu.Float, I Index]")
	case t:
		b.WriteString("[T cpu.Float]")
	case i:
		b.WriteString("[I Index]")
	}
	head := *f
	if f.join != "" {
		head.params = nil
		for _, p := range f.params[:len(f.params)-1] {
			p.typ = strings.Replace(p.typ, "*", "[]", 1)
			head.params = append(head.params, p)
		}
	}
	head.writeParams(b, func(typ string) string { return typ })
}

// name returns that of the function in Go.
func (f *function) name() string {
	if f.join != "" {
		return f.base
	}
	return "vector" + f.title()
}

// names returns the names of the arguments but for the number of elements.
func (f *function) names() string {
	var names []string
	for _, p := range f.params[:len(f.params)-1] {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// writeChunks writes the body of a function that takes chunks.
func (f *function) writeChunks(b *strings.Builder) {
	fmt.Fprintf(b, "if tier == cpu.Generic {\n")
	if f.result == "" {
		fmt.Fprintf(b, "generic%s(%s)\nreturn\n}\n", f.title(), f.names())
	} else {
		fmt.Fprintf(b, "return generic%s(%s)\n}\n", f.title(), f.names())
	}
	chunk := *f
	chunk.params = slices.Clone(f.params)
	for i, p := range f.params {
		if strings.HasPrefix(p.typ, "*") {
			chunk.params[i].name = "&" + p.name + "[i]"
		}
	}
	of := f.params[slices.IndexFunc(f.params, func(p param) bool { return strings.HasPrefix(p.typ, "*") })].name
	before, after, _ := strings.Cut(f.join, "|")
	b.WriteString(before + "\n")
	fmt.Fprintf(b, "for i := 0; i < len(%[1]s); i += cpu.Chunk {\n%[2]s := cpu.ChunkAt(i, len(%[1]s))\n", of, f.params[len(f.params)-1].name)
	chunk.writeCalls(b, f.typed(), after)
	b.WriteString("}\n")
	if f.result != "" {
		b.WriteString("return s\n")
	}
}

// writeCalls writes calls of the variants of some types. What is to be done with a result
// is in use.
func (f *function) writeCalls(b *strings.Builder, types []Variant, use string) {
	if len(types) == 1 {
		f.writeCall(b, types[0], use)
		return
	}
	condition, first := "unsafe.Sizeof(T(0)) == 8", func(v Variant) bool { return v.Size == 8 }
	if !slices.ContainsFunc(types, func(v Variant) bool { return v.Size != types[0].Size }) {
		condition, first = "unsafe.Sizeof(I(0)) == 8", func(v Variant) bool { return v.Index == "int" }
	}
	var yes, no []Variant
	for _, v := range types {
		if first(v) {
			yes = append(yes, v)
		} else {
			no = append(no, v)
		}
	}
	fmt.Fprintf(b, "if %s {\n", condition)
	f.writeCalls(b, yes, use)
	b.WriteString("} else {\n")
	f.writeCalls(b, no, use)
	b.WriteString("}\n")
}

// writeCall writes the call of a variant.
func (f *function) writeCall(b *strings.Builder, v Variant, use string) {
	var args []string
	for _, p := range f.params {
		switch own := v.in(p.typ); {
		case own == p.typ:
			args = append(args, p.name)
		case strings.HasPrefix(own, "*"):
			args = append(args, fmt.Sprintf("(%s)(unsafe.Pointer(%s))", own, p.name))
		default:
			args = append(args, fmt.Sprintf("%s(%s)", own, p.name))
		}
	}
	call := fmt.Sprintf("%s(%s)", v.name(f.base), strings.Join(args, ", "))
	if f.result == "T" {
		call = "T(" + call + ")"
	}
	if f.result == "" {
		use = ""
	}
	if strings.Contains(use, "(") {
		call += ")"
	}
	fmt.Fprintf(b, "%s%s\n", use, call)
}
