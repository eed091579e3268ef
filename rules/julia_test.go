package rules

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

const juliaHead = `# The kernels of revnum as rules of ChainRules, over the library of ports/capi.
#
# Written by a test of package rules from the registry. Not run: it was written where there
# was no Julia.
#
#     ENV["REVNUM_LIBRARY"] = "/path/to/librevnum.so"
#     include("Revnum.jl")
#     y = Revnum.revlinalg_Norm2(x)
#
# A function takes the operands that are read, in the order of docs/rules.json, as arrays of
# Float64, and parameters by name, and returns the outputs. Matrices are stored by columns in
# Julia and by rows in the library, so they are copied on the way in and out. An operand
# that may be left out may be nothing. The end of the file lists the kernels that are not
# here, and why.
module Revnum

import ChainRulesCore
using ChainRulesCore: NoTangent, unthunk

const library = get(ENV, "REVNUM_LIBRARY", "librevnum.so")

# An argument of rev_call, as revnum.h lays it out.
struct Arg
    data::Ptr{Cvoid}
    len::Int64
    shape::NTuple{2,Int64}
    stride::NTuple{2,Int64}
    ptr::Ptr{Int64}
    ind::Ptr{Int64}
    ptr_len::Int64
    ind_len::Int64
    value::Float64
    part::Int32
    index::Int32
    type::Int32
    axes::Int32
end

const FORWARD, ADJOINT, GRADIENT = Int32(0), Int32(2), Int32(5)

function argument(part, index, type, axes, a)
    shape = axes == 0 ? (1, 1) : axes == 1 ? (length(a), 0) : (size(a, 2), size(a, 1)) # stored transposed
    stride = axes == 2 ? (max(1, size(a, 1)), 1) : (1, 1)
    Arg(Ptr{Cvoid}(pointer(a)), length(a), shape, stride, C_NULL, C_NULL, 0, 0, 0.0, part, index, type, axes)
end

parameter(index, value) = Arg(C_NULL, 0, (0, 0), (0, 0), C_NULL, C_NULL, 0, 0, Float64(value), 4, index, 0, 0)

byrows(T, a::Number) = fill(T(a))
byrows(T, a::AbstractVector) = Vector{T}(a)
byrows(T, a::AbstractMatrix) = Matrix{T}(transpose(a))
elements(type) = type == 5 ? Int64 : Float64
bycolumns(a::AbstractArray{<:Any,0}) = a[]
bycolumns(a::AbstractVector) = a
bycolumns(a::AbstractMatrix) = collect(transpose(a))

function pass(kernel, which, arrays, args)
    @ccall(library.rev_abi_version()::Int32) == ABI || error("revnum: the library has another version of the interface")
    GC.@preserve arrays begin
        id = @ccall library.rev_kernel(kernel::Cstring)::Int32
        status = @ccall library.rev_call(id::Int32, which::Int32, args::Ptr{Arg}, length(args)::Int64)::Int32
    end
    status == 0 || error(unsafe_string(@ccall library.rev_last_error()::Cstring))
end

# A kernel: its operands as (index, axes, type) and its outputs as (index, axes, shape).
function value(kernel, inputs, outputs, x, settings)
    given = [input for (input, a) in zip(inputs, x) if a !== nothing]
    held = Any[byrows(elements(t), a) for ((_, _, t), a) in zip(inputs, x) if a !== nothing]
    out = Any[zeros(reverse(s)) for (_, _, s) in outputs]
    args = Arg[argument(0, i, t, n, a) for ((i, n, t), a) in zip(given, held)]
    append!(args, [argument(0, i, 1, n, a) for ((i, n, _), a) in zip(outputs, out)])
    append!(args, settings)
    pass(kernel, FORWARD, (held, out), args)
    y = map(bycolumns, out)
    length(y) == 1 ? y[1] : Tuple(y)
end

function gradient(kernel, inputs, outputs, x, settings, ybar)
    given = [input for (input, a) in zip(inputs, x) if a !== nothing]
    held = Any[byrows(elements(t), a) for ((_, _, t), a) in zip(inputs, x) if a !== nothing]
    ct = Any[byrows(Float64, c isa Union{NoTangent,ChainRulesCore.ZeroTangent} ? zeros(s) : c) for ((_, _, s), c) in zip(outputs, ybar)]
    grads = Any[zero(a) for a in held]
    args = Arg[argument(0, i, t, n, a) for ((i, n, t), a) in zip(given, held)]
    append!(args, [argument(1, i, 1, n, a) for ((i, n, _), a) in zip(outputs, ct)])
    append!(args, [argument(1, i, t, n, a) for ((i, n, t), a) in zip(given, grads) if t == 1])
    append!(args, settings)
    pass(kernel, GRADIENT, (held, ct, grads), args)
    at = Dict(i => bycolumns(g) for ((i, _, t), g) in zip(given, grads) if t == 1)
    [get(at, i, NoTangent()) for (i, _, _) in inputs]
end

`

// TestJulia compares the rules for Julia, of dense kernels over float64 that add to
// outputs whose shapes their operands tell.
func TestJulia(t *testing.T) {
	var b strings.Builder
	header, err := os.ReadFile("../ports/capi/revnum.h")
	if err != nil {
		t.Fatal(err)
	}
	_, version, _ := strings.Cut(string(header), "#define REV_ABI_VERSION ")
	version, _, _ = strings.Cut(version, "\n")
	b.WriteString(strings.ReplaceAll(juliaHead, "ABI", version))
	var missing strings.Builder
	n := 0
	for _, r := range All() {
		if r.Type != Float64 {
			continue
		}
		code, why := julia(r)
		if why != "" {
			fmt.Fprintf(&missing, "#   %s: %s\n", r.Kernel, why)
			continue
		}
		b.WriteString(code)
		n++
	}
	if n < 60 {
		t.Errorf("%d rules", n)
	}
	fmt.Fprintf(&b, "end\n\n# Not here:\n%s", missing.String())
	compare(t, "ports/julia/Revnum.jl", []byte(b.String()))
}

// julia returns the function and the rule of a kernel, or why there are none.
func julia(r *Rule) (code, why string) {
	switch {
	case r.Missing != "":
		return "", r.Missing
	case r.InPlace:
		return "", "an operand is transformed in place"
	}
	var names, inputs, outputs, known []string
	var arguments []string                                                                     // the names, with the defaults of the last ones
	bound, maybe, param := make(map[string]bool), make(map[string]bool), make(map[string]bool) // maybe: if a parameter is so
	for _, p := range r.Params {
		param[p.Name] = true
	}
	for i, o := range r.Operands {
		axes := map[string]int{"scalar": 0, "vector": 1, "slice": 1, "matrix": 2}
		n, dense := axes[o.Kind]
		conditional := strings.ContainsAny(o.Shape, "?")
		switch {
		case !dense:
			return "", o.Name + " is of kind " + o.Kind
		case o.Role == "acc":
			continue
		}
		names = append(names, o.Name)
		arguments = append(arguments, o.Name)
		if o.Optional && !slices.ContainsFunc(r.Operands[i+1:], func(p Operand) bool { return p.Role != "acc" && !p.Optional }) {
			arguments[len(arguments)-1] += "=nothing"
		}
		inputs = append(inputs, fmt.Sprintf("(%d, %d, %d)", i, n, o.Type))
		shapes := strings.Split(o.Shape, ":")
		if conditional {
			cond, rest, _ := strings.Cut(shapes[0], "?")
			shapes[0] = rest
			for j := range 2 {
				for axis, d := range strings.Split(shapes[j], ",") {
					if d = strings.TrimSpace(d); isSymbol(d) {
						maybe[d] = true
						want := strings.TrimSpace(cond)
						if j == 1 {
							want = "!" + want
						}
						known = append(known, fmt.Sprintf("if %s; %s_ = size(%s, %d); end", want, d, o.Name, axis+1))
					}
				}
			}
			continue
		}
		if o.Shape == "" || o.Optional {
			continue
		}
		for axis, d := range strings.Split(o.Shape, ",") {
			if d = strings.TrimSpace(d); isSymbol(d) && !bound[d] && !param[d] {
				bound[d] = true
				known = append(known, fmt.Sprintf("%s_ = size(%s, %d)", d, o.Name, axis+1))
			}
		}
	}
	maps.Copy(bound, maybe)
	for i, o := range r.Operands {
		if o.Role != "acc" {
			continue
		}
		n := map[string]int{"scalar": 0, "vector": 1, "matrix": 2}[o.Kind]
		if strings.ContainsAny(o.Shape, "?") {
			return "", "the shape of " + o.Name + " depends on a parameter"
		}
		shape := "()"
		if o.Shape != "" {
			s, ok := juliaShape(o.Shape, bound, param)
			if !ok {
				return "", "the inputs do not tell the shape of " + o.Name
			}
			shape = "(" + s + ",)"
		}
		outputs = append(outputs, fmt.Sprintf("(%d, %d, %s)", i, n, shape))
	}
	var keywords, settings []string
	for i, p := range r.Params {
		name := strings.ReplaceAll(p.Name, ".", "_")
		zero := "0"
		if p.Kind == "bool" {
			zero = "false"
		}
		keywords = append(keywords, name+"="+zero)
		settings = append(settings, fmt.Sprintf("parameter(%d, %s)", i, name))
	}
	fname := strings.ReplaceAll(r.Kernel, ".", "_")
	args := strings.Join(arguments, ", ")
	if len(keywords) > 0 {
		args += "; " + strings.Join(keywords, ", ")
	}
	operands := make([]string, len(names))
	copy(operands, names)
	for _, o := range r.Operands {
		for j, name := range names {
			if name == o.Name && o.Type == Int {
				operands[j] = name + " .- 1" // indices count from 1 in Julia
				if o.Optional {
					operands[j] = fmt.Sprintf("isnothing(%s) ? nothing : %s .- 1", name, name)
				}
			}
		}
	}
	tuple := strings.Join(operands, ", ") + ","
	body := "    " + strings.Join(append(known, "inputs = ["+strings.Join(inputs, ", ")+"]", "outputs = ["+strings.Join(outputs, ", ")+"]", "settings = Arg["+strings.Join(settings, ", ")+"]"), "\n    ") + "\n"
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\nfunction %s(%s)\n%s", r.Equation, fname, args, body)
	fmt.Fprintf(&b, "    value(%q, inputs, outputs, (%s), settings)\nend\n\n", r.Name, tuple)
	fmt.Fprintf(&b, "function ChainRulesCore.rrule(::typeof(%s), %s)\n%s", fname, args, body)
	cotangents := "(unthunk(ybar),)"
	if len(outputs) > 1 {
		cotangents = "map(unthunk, Tuple(ybar))"
	}
	fmt.Fprintf(&b, "    pullback(ybar) = (NoTangent(), gradient(%q, inputs, outputs, (%s), settings, %s)...)\n", r.Name, tuple, cotangents)
	fmt.Fprintf(&b, "    value(%q, inputs, outputs, (%s), settings), pullback\nend\n\n", r.Name, tuple)
	return b.String(), ""
}

// isSymbol reports whether a dimension is a name.
func isSymbol(d string) bool {
	return d != "" && strings.IndexFunc(d, func(c rune) bool { return c < 'A' || c > 'z' || c > 'Z' && c < 'a' }) < 0
}

// juliaShape returns the dimensions of a shape tag in Julia, where the symbol m is m_ and
// a parameter has its own name.
func juliaShape(shape string, bound, param map[string]bool) (string, bool) {
	var out, word strings.Builder
	ok := true
	flush := func() {
		w := word.String()
		word.Reset()
		switch {
		case w == "":
		case bound[w]:
			out.WriteString(w + "_")
		case param[w]:
			out.WriteString(w)
		case isSymbol(w) && w != "min" && w != "max":
			ok = false
		default:
			out.WriteString(w)
		}
	}
	for _, c := range strings.ReplaceAll(shape, "/", "÷") {
		if c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			word.WriteRune(c)
			continue
		}
		flush()
		out.WriteRune(c)
	}
	flush()
	return out.String(), ok
}
