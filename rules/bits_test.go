package rules

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"revnum/fixed"
)

// TestBits compares the bits of all passes over Q43 with those of another machine. The file has a
// hash of what a pass leaves in the operands and their derivatives. It was written on amd64, and CI
// reads it on arm64 too.
func TestBits(t *testing.T) {
	const name = "testdata/bits.txt"
	var lines []string
	for _, r := range All() {
		if r.Missing == "" && !slices.ContainsFunc(r.Operands, func(o Operand) bool { return o.Type != Q43 && o.Type != Int }) {
			lines = append(lines, bitsOf(t, r)+"\n")
		}
	}
	if len(lines) < 60 {
		t.Errorf("%d rules over Q43", len(lines))
	}
	got := []byte(strings.Join(lines, ""))
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		for i, line := range strings.SplitAfter(string(want), "\n") {
			if i >= len(lines) || lines[i] != line {
				t.Fatalf("line %d differs from %q of %s; write it anew with go test ./rules -run TestBits -update if a result has changed on purpose:\n%s", i+1, line, name, got)
			}
		}
	}
}

// bitsOf returns the name of a rule, and for each pass its name and the hash.
func bitsOf(t *testing.T, r *Rule) string {
	line := r.Name
	for _, p := range r.Passes {
		rnd := rand.New(rand.NewPCG(1, uint64(p)))
		a := r.Example(rnd, 5, 4)
		for _, list := range []*[]Buffer{&a.Cotangents, &a.Tangents, &a.CotangentTangents} {
			*list = like(rnd, a.Operands)
		}
		switch p {
		case Forward, Inverse:
			a.Cotangents, a.Tangents, a.CotangentTangents = nil, nil, nil
		case Adjoint, Gradient:
			a.Tangents, a.CotangentTangents = nil, nil
		case Tangent:
			a.Cotangents, a.CotangentTangents = nil, nil
		}
		err := r.Call(p, a)
		h := sha256.New()
		fmt.Fprint(h, err)
		for _, list := range [][]Buffer{a.Operands, a.Cotangents, a.Tangents, a.CotangentTangents} {
			for _, b := range list {
				fmt.Fprint(h, elements(b))
			}
		}
		line += fmt.Sprintf(" %v %x", p, h.Sum(nil)[:4])
	}
	return line
}

func elements(b Buffer) any {
	switch {
	case b.Data == nil:
		return nil
	case b.Type == Int:
		return Elements[int](b)
	}
	return Elements[fixed.Q43](b)
}

// like returns small random numbers in the shapes of operands, and the structure of sparse ones.
func like(rnd *rand.Rand, operands []Buffer) []Buffer {
	list := slices.Clone(operands)
	for i, b := range operands {
		if b.Data == nil || b.Type == Int {
			continue
		}
		x := slices.Clone(Elements[fixed.Q43](b))
		for j := range x {
			x[j] = fixed.Q43(rnd.Int64N(1<<42) - 1<<41)
		}
		list[i].Data = unsafe.Pointer(unsafe.SliceData(x))
	}
	return list
}
