package number

import (
	"testing"

	"revnum/fixed"
)

func TestNumbers(t *testing.T) {
	if IsFixed[float32]() || IsFixed[float64]() || IsFixed[complex128]() || !IsFixed[fixed.Q43]() {
		t.Error("IsFixed")
	}
	if IsComplex[float32]() || IsComplex[float64]() || IsComplex[fixed.Q43]() || !IsComplex[complex128]() {
		t.Error("IsComplex")
	}
	if One[float32]() != 1 || One[complex128]() != 1 || One[fixed.Q43]() != fixed.One {
		t.Error("One")
	}
	if Conj(2.5) != 2.5 || Conj(3+4i) != 3-4i || Conj(fixed.One) != fixed.One {
		t.Error("Conj")
	}
	half := fixed.One / 2
	if Mul(1.5, 2) != 3 || Mul(1+2i, 3+4i) != -5+10i || Mul(half, half) != fixed.One/4 {
		t.Error("Mul")
	}
}
