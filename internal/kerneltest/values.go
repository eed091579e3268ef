package kerneltest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"revnum/fixed"
	"revnum/rev"
)

// Values returns the cases of a function in a JSON file, which has the cases of each function as
// lists of decimal numbers.
func Values(t *testing.T, file []byte, function string) (cases [][]float64) {
	t.Helper()
	var all map[string][][]string
	if err := json.Unmarshal(file, &all); err != nil {
		t.Fatal(err)
	}
	for _, texts := range all[function] {
		var c []float64
		for _, s := range texts {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			c = append(c, v)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatalf("no values of %s", function)
	}
	return cases
}

// Uniform returns n random numbers between lo and hi.
func Uniform[T rev.Real](rnd *rand.Rand, n int, lo, hi float64) rev.Vector[T] {
	x := make([]T, n)
	for i := range x {
		x[i] = fixed.Of[T](lo + float64((hi-lo)*rnd.Float64()))
	}
	return rev.ViewSlice(x)
}

// One returns a vector of one number, and Number the number in it.
func One[T rev.Real](v float64) rev.Vector[T] { return rev.ViewSlice([]T{fixed.Of[T](v)}) }

// Number is described at One.
func Number[T rev.Real](v rev.Vector[T]) float64 { return fixed.Float(v.Data[0]) }

// Within fails the test unless got is want up to tol.
func Within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v, within %.3g (off by %.3g)", what, got, want, tol, math.Abs(got-want))
	}
}
