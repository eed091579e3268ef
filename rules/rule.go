package rules

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rules/internal/catalog"
)

// A Rule is a kernel over one type of numbers.
type Rule struct {
	Name     string    `json:"name"`   // such as "revlinalg.Dot[float64]"
	Kernel   string    `json:"kernel"` // such as "revlinalg.Dot"
	Type     Type      `json:"type"`   // of the numbers; complex128 if there are two types
	Equation string    `json:"equation"`
	Operands []Operand `json:"operands"`
	Params   []Param   `json:"parameters"`
	Passes   []Pass    `json:"passes"`

	InPlace  bool `json:"inplace"`  // an operand is transformed in place
	Exact    bool `json:"exact"`    // passes back restore every bit; otherwise up to rounding
	Fallible bool `json:"fallible"` // returns an error if the data has no result
	Logs     bool `json:"logs"`     // the operands are logs of the numbers in the equation

	// Elementwise says that all operands are vectors of one length, and that each element of the
	// results depends on the same element of the operands alone. Vectors one after the other are
	// then a longer problem.
	Elementwise bool `json:"elementwise"`

	// Missing says why the rule cannot be called by buffers, if it cannot.
	Missing string `json:"missing,omitempty"`

	newFrame func() catalog.Frame
	instance *catalog.Instance
	frames   sync.Pool
	acc      []int // the operands that are added into

	structures []placed
}

// An Operand is an operand of a rule.
type Operand struct {
	Name     string `json:"name"`
	Role     string `json:"role"` // "in", "acc", "inout" or "index", as rev.Kernel says
	Kind     string `json:"kind"` // "scalar", "slice", "vector", "matrix", "sparse matrix" or "edges"
	Type     Type   `json:"type"`
	Shape    string `json:"shape,omitempty"` // the shape tag, as in "m,n"
	Optional bool   `json:"optional,omitempty"`

	field
}

// A Param is a field of a kernel that is not an operand. You give its value as a
// float64, and a bool as 0 or 1.
type Param struct {
	Name string `json:"name"` // such as "TransA", or "Prior.Gamma" for a field of a field
	Kind string `json:"kind"` // "bool", "int" or "float"

	offset uintptr
	typ    reflect.Type
}

// All returns all rules, in the order of docs/rules.json.
func All() []*Rule { return registry() }

// Lookup returns the rule with the given name, such as "revlinalg.Dot[float64]".
func Lookup(name string) (*Rule, error) {
	if r, ok := byName()[name]; ok {
		return r, nil
	}
	return nil, fmt.Errorf("rules: no rule %q", name)
}

var byName = sync.OnceValue(func() map[string]*Rule {
	m := make(map[string]*Rule)
	for _, r := range registry() {
		m[r.Name] = r
	}
	return m
})

var registry = sync.OnceValue(func() []*Rule {
	var all []*Rule
	add := func(kernels []catalog.Kernel, logs bool) {
		for _, k := range kernels {
			for i := range k.Over {
				r := newRule(&k, &k.Over[i])
				r.Logs = logs
				all = append(all, r)
			}
		}
	}
	add(catalog.OverNumbers, false)
	add(catalog.OverLogs, true)
	return all
})

func newRule(k *catalog.Kernel, i *catalog.Instance) *Rule {
	r := &Rule{
		Kernel: path.Base(k.Name()), Equation: k.Equation, Fallible: i.Fallible(), Params: []Param{},
		Passes:   []Pass{Forward, Inverse, Adjoint, Tangent, Gradient},
		newFrame: i.NewFrame, instance: i,
	}
	r.frames.New = func() any { return i.NewFrame() }
	if i.SecondOrder() {
		r.Passes = append(r.Passes, AdjointTangent)
	}
	r.Type, _ = typeOf(i.Elem())
	r.Name = fmt.Sprintf("%s[%v]", r.Kernel, r.Type)
	r.Exact = r.Type == Q43
	r.Elementwise = elementwise[r.Kernel]
	for _, op := range i.Operands {
		o := Operand{Name: op.Name, Role: op.Role.String(), Kind: op.Kind.String(), Shape: op.Shape, Optional: op.Optional}
		o.field = field{kind: op.Kind, role: op.Role, offset: i.Type.Field(op.Field).Offset}
		var known bool
		if o.Type, known = typeOf(op.Elem); !known {
			r.Missing = fmt.Sprintf("no buffers hold elements of type %v", op.Elem)
		}
		if op.Kind == rev.Sparse && i.Type.Field(op.Field).Type.Field(2).Type.Elem() != types[Int].typ {
			r.Missing = op.Name + " has indices of another type than int"
		}
		if op.Role == rev.Acc {
			r.acc = append(r.acc, len(r.Operands))
		}
		r.InPlace = r.InPlace || op.Role == rev.InOut
		r.Operands = append(r.Operands, o)
	}
	r.addFields(i.Type, "", 0)
	return r
}

// addFields adds the fields of t that are not operands: numbers and flags, also in
// structs and arrays, and structures that are made from arrays. A field with the tag
// rules:"nil" is nil in all calls.
func (r *Rule) addFields(t reflect.Type, prefix string, offset uintptr) {
	for i := range t.NumField() {
		f := t.Field(i)
		if _, operand := f.Tag.Lookup("rev"); operand || !f.IsExported() || f.Tag.Get("rules") == "nil" {
			continue
		}
		r.addField(f.Type, prefix+f.Name, offset+f.Offset)
	}
}

func (r *Rule) addField(t reflect.Type, name string, offset uintptr) {
	p := Param{Name: name, offset: offset, typ: t}
	switch {
	case t.Kind() == reflect.Bool:
		p.Kind = "bool"
	case t == reflect.TypeFor[fixed.Q43](), t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		p.Kind = "float"
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		p.Kind = "int"
	case t.Kind() == reflect.Struct:
		r.addFields(t, name+".", offset)
		return
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			r.addField(t.Elem(), fmt.Sprintf("%s.%d", name, i), offset+uintptr(i)*t.Elem().Size())
		}
		return
	case structures[t] != nil:
		s := structures[t]
		r.structures = append(r.structures, placed{s, name, offset, len(r.Operands)})
		for _, o := range s.operands {
			o.Role, o.role, o.structure = "index", rev.Index, true
			r.Operands = append(r.Operands, o)
		}
		return
	default:
		r.Missing = fmt.Sprintf("%s is a %v", name, t)
		return
	}
	r.Params = append(r.Params, p)
}

// Has reports whether the kernel has a pass.
func (r *Rule) Has(p Pass) bool { return slices.Contains(r.Passes, p) }

// JSON returns the contents of docs/rules.json.
func JSON() []byte {
	b, err := json.MarshalIndent(struct {
		Rules []*Rule `json:"rules"`
	}{All()}, "", "\t")
	if err != nil {
		panic(err) // none of the types has an error
	}
	return append([]byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))), '\n')
}
