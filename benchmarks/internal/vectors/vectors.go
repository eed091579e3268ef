// Package vectors writes the results of kernels on random operands. You can check a
// port of their rules against the files, without the kernels.
package vectors

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"

	"revnum/fixed"
	"revnum/internal/outfile"
	"revnum/rules"
)

// A Vector is a rule with operands and its results for them. The keys of the maps are
// the names of operands.
type Vector struct {
	Rule       string             `json:"rule"`
	Equation   string             `json:"equation"`
	Logs       bool               `json:"logs"` // operands are logs of the numbers in the equation
	Parameters map[string]float64 `json:"parameters"`

	Operands          map[string]Array `json:"operands"`           // the inputs
	Cotangents        map[string]Array `json:"cotangents"`         // ȳ, of the outputs
	Tangents          map[string]Array `json:"tangents"`           // ẋ, of the inputs
	CotangentTangents map[string]Array `json:"cotangent_tangents"` // ġy, of the outputs

	Expected Expected `json:"expected"`
}

// Expected is what a rule computes.
type Expected struct {
	Value       map[string]Array `json:"value"`                  // f(x)
	Gradients   map[string]Array `json:"gradients"`              // Jᵀ·ȳ
	Tangents    map[string]Array `json:"tangents"`               // J·ẋ
	SecondOrder map[string]Array `json:"second_order,omitempty"` // Jᵀ·ġy + (∂J[ẋ])ᵀ·ȳ
}

// An Array is a number, a vector or a matrix by rows. Complex numbers are pairs. In a
// sparse matrix Data are the entries. Those of row i begin at Ptr[i], and Ind are their
// columns.
type Array struct {
	Type  string `json:"type"`
	Shape []int  `json:"shape"`
	Data  any    `json:"data"`
	Ptr   []int  `json:"ptr,omitempty"`
	Ind   []int  `json:"ind,omitempty"`
}

// Formats are the formats of Export by their names, which are the ends of the files'.
var Formats = map[string]func(io.Writer, *Vector) error{
	"json": func(w io.Writer, v *Vector) error { return json.NewEncoder(w).Encode(v) },
	"npz":  writeNPZ,
}

// Export writes a file for each rule whose type is one of types, in one of Formats. The
// name of the file is that of the rule. Export returns the number of files.
func Export(dir, format string, seed uint64, rows, cols int, types map[string]bool) (files int, err error) {
	write := Formats[format]
	if write == nil {
		return 0, fmt.Errorf("no format %q", format)
	}
	for _, r := range rules.All() {
		if r.Missing != "" || !types[r.Type.String()] {
			continue
		}
		v, err := Of(r, seed, rows, cols)
		if err != nil {
			return files, fmt.Errorf("%s: %w", r.Name, err)
		}
		name := strings.NewReplacer("[", ".", "]", "").Replace(r.Name) + "." + format
		if err := outfile.Write(filepath.Join(dir, name), func(w io.Writer) error { return write(w, v) }); err != nil {
			return files, err
		}
		files++
	}
	return files, nil
}

// WriteValue writes operands of a rule and its value as an archive of NumPy arrays.
func WriteValue(file string, r *rules.Rule, a rules.Args) error {
	v := &Vector{Parameters: make(map[string]float64)}
	for i, p := range r.Params {
		v.Parameters[p.Name] = a.Params[i]
	}
	out, _, err := r.VJP(a.Operands, a.Params)
	if err != nil {
		return err
	}
	v.Operands, v.Expected.Value = arrays(r, a.Operands, "in inout index"), arrays(r, out, "acc inout")
	return outfile.Write(file, func(w io.Writer) error { return writeNPZ(w, v) })
}

// Of returns the vector of a rule on random operands.
func Of(r *rules.Rule, seed uint64, rows, cols int) (*Vector, error) {
	example := func(n uint64) rules.Args { return r.Example(rand.New(rand.NewPCG(seed, n)), rows, cols) }
	k := example(1)
	v := &Vector{Rule: r.Name, Equation: r.Equation, Logs: r.Logs, Parameters: make(map[string]float64)}
	for i, p := range r.Params {
		v.Parameters[p.Name] = k.Params[i]
	}
	out, pullback, err := r.VJP(k.Operands, k.Params)
	if err != nil {
		return nil, err
	}
	g, t, gt := example(2).Operands, example(3).Operands, example(4).Operands
	for i, o := range r.Operands {
		if o.Role == "acc" {
			t[i] = rules.Buffer{}
		}
		if o.Role != "acc" && o.Role != "inout" {
			g[i], gt[i] = rules.Buffer{}, rules.Buffer{}
		}
		if o.Role == "index" {
			t[i] = rules.Buffer{}
		}
		for _, d := range [][]rules.Buffer{g, t, gt} {
			d[i].Ptr, d[i].Ind = k.Operands[i].Ptr, k.Operands[i].Ind // the structure is that of the operand
		}
	}
	gradients, err := pullback(g)
	if err != nil {
		return nil, err
	}
	_, tangents, err := r.JVP(k.Operands, t, k.Params)
	if err != nil {
		return nil, err
	}
	v.Expected.Value, v.Expected.Tangents = arrays(r, out, "acc inout"), arrays(r, tangents, "acc inout")
	v.Expected.Gradients = arrays(r, gradients, "in inout")
	v.Operands, v.Tangents = arrays(r, k.Operands, "in inout index"), arrays(r, t, "in inout")
	v.Cotangents, v.CotangentTangents = arrays(r, g, "acc inout"), arrays(r, gt, "acc inout")
	if r.Has(rules.AdjointTangent) {
		_, second, err := r.VJPTangent(k.Operands, g, t, gt, k.Params)
		if err != nil {
			return nil, err
		}
		v.Expected.SecondOrder = arrays(r, second, "in inout")
	}
	return v, nil
}

// arrays returns the operands that have one of some roles.
func arrays(r *rules.Rule, list []rules.Buffer, roles string) map[string]Array {
	m := make(map[string]Array)
	for i, b := range list {
		if o := r.Operands[i]; b.Data != nil && strings.Contains(" "+roles+" ", " "+o.Role+" ") {
			m[o.Name] = arrayOf(b)
		}
	}
	return m
}

func arrayOf(b rules.Buffer) Array {
	a := Array{Type: b.Type.String(), Shape: b.Shape[:b.Axes]}
	if b.Sparse {
		a.Ptr, a.Ind = b.Ptr, b.Ind
	}
	switch b.Type {
	case rules.Float64:
		a.Data = rules.Elements[float64](b)
	case rules.Float32:
		a.Data = rules.Elements[float32](b)
	case rules.Int:
		a.Data = rules.Elements[int](b)
	case rules.Q43:
		numbers := make([]float64, b.Len)
		for i, q := range rules.Elements[fixed.Q43](b) {
			numbers[i] = q.Float64()
		}
		a.Data = numbers
	case rules.Complex128:
		pairs := make([][2]float64, b.Len)
		for i, z := range rules.Elements[complex128](b) {
			pairs[i] = [2]float64{real(z), imag(z)}
		}
		a.Data = pairs
	}
	if b.Axes == 0 {
		switch x := a.Data.(type) {
		case []float64:
			a.Data = x[0]
		case []float32:
			a.Data = x[0]
		case [][2]float64:
			a.Data = x[0]
		}
	}
	return a
}
