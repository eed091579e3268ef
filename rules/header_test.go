package rules

import (
	"fmt"
	"strings"
	"testing"
)

const headerHead = `/* The kernels of revnum as types and functions of C and C++.
 *
 * Written by a test of package rules from the registry.
 *
 * A kernel is a struct of its operands and parameters. Its function makes a pass:
 *
 *     double x[3] = {1, 2, 3}, gx[3] = {0}, norm = 0, one = 1;
 *     rev_linalg_Norm2 k = {&norm, {x, 3}}, g = {&one, {gx, 3}};
 *     rev_linalg_Norm2_run(REV_GRADIENT, &k, &g, NULL, NULL);
 *
 * The four structs are the operands k, the cotangents g, the tangents t and the tangents
 * gt of the cotangents. All but k may be NULL. An operand without memory is left out. The
 * parameters, and the structure of sparse matrices, are those of k. The function returns a
 * status of revnum.h.
 *
 * The operands have the roles of docs/rules.json: acc is added into, inout is changed in
 * place, in and index are read. [optional] operands may be left out of k. docs/adjoints.md
 * has the equations, and docs/kernels.md says what parameters are.
 *
 * Kernels over other numbers than double have the type at the end of their names.
 */
#ifndef REVNUM_KERNELS_H
#define REVNUM_KERNELS_H

#include "revnum.h"

typedef struct rev_complex { double re, im; } rev_complex;
typedef int64_t rev_Q43; /* in units of 2^-43 */

/* Views of memory. A stride of 0 is that without gaps. */
#define REV_VIEWS(name, T) \
	typedef struct { T *data; int64_t n, stride; } rev_##name##_vector; \
	typedef struct { T *data; int64_t rows, cols, stride; } rev_##name##_matrix; \
	typedef struct { T *data; int64_t rows, cols; const int64_t *ptr, *ind; } rev_##name##_csr; \
	REV_STATIC_INLINE rev_arg rev_##name##_scalar_arg(int32_t part, int32_t index, int32_t type, T *x) { \
		return rev_any(part, index, type, x, 0, 1, 1, 1); \
	} \
	REV_STATIC_INLINE rev_arg rev_##name##_vector_arg(int32_t part, int32_t index, int32_t type, rev_##name##_vector x) { \
		return rev_any(part, index, type, x.data, 1, x.n, 1, x.stride ? x.stride : 1); \
	} \
	REV_STATIC_INLINE rev_arg rev_##name##_matrix_arg(int32_t part, int32_t index, int32_t type, rev_##name##_matrix x) { \
		return rev_any(part, index, type, x.data, 2, x.rows, x.cols, x.stride ? x.stride : x.cols); \
	} \
	REV_STATIC_INLINE rev_arg rev_##name##_csr_arg(int32_t part, int32_t index, int32_t type, T *data, rev_##name##_csr x) { \
		rev_arg a = rev_any(part, index, type, data, 2, x.rows, x.cols, 1); \
		a.ptr = x.ptr; \
		a.ptr_len = x.rows + 1; \
		a.ind = x.ind; \
		a.ind_len = a.len = x.ptr && x.rows >= 0 ? x.ptr[x.rows] : 0; \
		return a; \
	}

REV_VIEWS(float64, double)
REV_VIEWS(float32, float)
REV_VIEWS(Q43, rev_Q43)
REV_VIEWS(complex128, rev_complex)
REV_VIEWS(int, int64_t)

`

var elementC = map[Type]string{Float64: "double", Float32: "float", Q43: "rev_Q43", Complex128: "rev_complex", Int: "int64_t"}

// TestHeader compares the typed functions for C.
func TestHeader(t *testing.T) {
	var b, missing strings.Builder
	b.WriteString(headerHead)
	for _, r := range All() {
		if r.Missing != "" {
			fmt.Fprintf(&missing, " *   %s: %s\n", r.Name, r.Missing)
			continue
		}
		b.WriteString(header(r))
	}
	fmt.Fprintf(&b, "/* Not here, as no buffer holds what they need:\n%s */\n\n#endif\n", missing.String())
	compare(t, "ports/capi/revnum_kernels.h", []byte(b.String()))
}

// header returns the type and the function of a kernel in C.
func header(r *Rule) string {
	pkg, kernel, _ := strings.Cut(r.Kernel, ".")
	name := "rev_" + strings.TrimPrefix(pkg, "rev") + "_" + kernel
	if r.Type != Float64 {
		name += "_" + r.Type.String()
	}
	views := map[string]string{"vector": "vector", "slice": "vector", "matrix": "matrix", "edges": "matrix", "sparse matrix": "csr"}
	var fields, puts strings.Builder
	for i, o := range r.Operands {
		view := views[o.Kind]
		data := o.Name
		if o.Kind == "scalar" {
			fmt.Fprintf(&fields, "\t%s *%s; ", elementC[o.Type], o.Name)
		} else {
			fmt.Fprintf(&fields, "\trev_%v_%s %s; ", o.Type, view, o.Name)
			data += ".data"
		}
		shape := ""
		if o.Shape != "" {
			shape = "; " + o.Shape
		}
		optional := ""
		if o.Optional {
			optional = " [optional]"
		}
		fmt.Fprintf(&fields, "/* %s%s%s */\n", o.Role, optional, shape)
		call := fmt.Sprintf("rev_%v_%s_arg(p, %d, %d, parts[p]->%s)", o.Type, view, i, o.Type, o.Name)
		switch o.Kind {
		case "scalar":
			call = fmt.Sprintf("rev_%v_scalar_arg(p, %d, %d, parts[p]->%s)", o.Type, i, o.Type, o.Name)
		case "sparse matrix":
			call = fmt.Sprintf("rev_%v_csr_arg(p, %d, %d, parts[p]->%s, k->%s)", o.Type, i, o.Type, data, o.Name)
		}
		fmt.Fprintf(&puts, "\t\tif (parts[p]->%s) a[n++] = %s;\n", data, call)
	}
	var params strings.Builder
	for i, p := range r.Params {
		field := strings.ReplaceAll(p.Name, ".", "_")
		fmt.Fprintf(&fields, "\t%s %s;\n", map[string]string{"bool": "int32_t", "int": "int64_t", "float": "double"}[p.Kind], field)
		fmt.Fprintf(&params, "\ta[n++] = rev_parameter(%d, (double)k->%s);\n", i, field)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "/* %s */\ntypedef struct %s {\n%s} %s;\n\n", r.Equation, name, fields.String(), name)
	fmt.Fprintf(&b, "REV_STATIC_INLINE int32_t %s_run(int32_t pass, const %s *k, const %s *g, const %s *t, const %s *gt) {\n", name, name, name, name, name)
	fmt.Fprintf(&b, "\tconst %s *parts[4] = {k, g, t, gt};\n\trev_arg a[%d];\n\tint64_t n = 0;\n", name, 4*len(r.Operands)+len(r.Params))
	fmt.Fprintf(&b, "\tfor (int32_t p = 0; p < 4; p++) {\n\t\tif (!parts[p]) continue;\n%s\t}\n%s\treturn rev_call(rev_kernel(%q), pass, a, n);\n}\n\n", puts.String(), params.String(), r.Name)
	return b.String()
}
