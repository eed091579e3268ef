package examples

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestPeers writes problems and their gradients for the programs of ../peers, which solve them
// with other tools. compare.py there names a folder for them.
func TestPeers(t *testing.T) {
	folder := os.Getenv("REVGEN_PEERS")
	if folder == "" {
		folder = t.TempDir()
	}
	of := func(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 2)) }
	write(t, folder, norm2Spec[float64]().New(of(1), 1000), norm2Spec[float64]().New(of(3), 1000))
	write(t, folder, rotateSpec[float64]().New(of(1), 1000), rotateSpec[float64]().New(of(3), 1000))
	write(t, folder, besselSpec[float64]().New(of(1), 200), besselSpec[float64]().New(of(3), 200))
	write(t, folder, snavelySpec[float64]().New(of(1), 200), snavelySpec[float64]().New(of(3), 200))
	write(t, folder, lstmSpec[float64]().New(of(1), 200), lstmSpec[float64]().New(of(3), 200))
	write(t, folder, leapfrogSpec[float64]().New(of(1), 200), leapfrogSpec[float64]().New(of(3), 200))
}

// write writes the operands of k before Forward as in.NAME, the cotangents of its results in g
// as seed.NAME, and the gradients as want.NAME.
func write[K interface {
	Forward()
	Adjoint(g K)
}](t *testing.T, folder string, k, g K) {
	var text strings.Builder
	put := func(kind string, v reflect.Value, field int) {
		numbers := numbersOf(v.Field(field))
		fmt.Fprintf(&text, "%s.%s %d\n", kind, v.Type().Field(field).Name, len(numbers))
		for _, x := range numbers {
			fmt.Fprintf(&text, "%v\n", x)
		}
	}
	kv, gv := reflect.ValueOf(k), reflect.ValueOf(g)
	role := func(field int) string { return kv.Type().Field(field).Tag.Get("rev") }
	for i := range kv.NumField() {
		if role(i) != "acc" {
			put("in", kv, i)
		}
		if role(i) == "acc" || role(i) == "inout" {
			put("seed", gv, i)
		}
		if role(i) == "in" {
			clear(numbersOf(gv.Field(i)))
		}
	}
	k.Forward()
	k.Adjoint(g)
	for i := range kv.NumField() {
		if role(i) == "in" || role(i) == "inout" {
			put("want", gv, i)
		}
	}
	name := strings.ToLower(strings.TrimSuffix(kv.Type().Name(), "[float64]"))
	if err := os.WriteFile(filepath.Join(folder, name+".txt"), []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// numbersOf returns the numbers of an operand.
func numbersOf(v reflect.Value) []float64 {
	switch x := v.Interface().(type) {
	case int:
		return []float64{float64(x)}
	case float64:
		return []float64{x}
	case []int:
		var out []float64
		for _, i := range x {
			out = append(out, float64(i))
		}
		return out
	default:
		return slicesOf(x)[0]
	}
}
