package num

import (
	"math"
	"math/cmplx"
	"testing"
)

// Values are mpmath's. The functions are accurate where those of math/cmplx are not.
func TestInverseDerivatives(t *testing.T) {
	z := 3e5 + 4e5i
	for _, c := range []struct {
		name      string
		got, want complex128
	}{
		{"CosAsin", 1 / CosAsin(z), complex(1.600000000001408e-06, 1.199999999996256e-06)},
		{"CoshAsinh", 1 / CoshAsinh(z), complex(1.200000000003744e-06, -1.599999999998592e-06)},
		{"SinhAcosh", 1 / SinhAcosh(z), complex(1.199999999996256e-06, -1.600000000001408e-06)},
		{"CosAsin at 1", CosAsin(1), 0},
		{"CoshAsinh at i", CoshAsinh(1i), 0},
		{"SinhAcosh at -1", SinhAcosh(-1), 0},
		{"ComplexLog", ComplexLog(1e-310i), complex(-713.8013788281542, math.Pi/2)},
		{"ComplexLog10", ComplexLog10(1e-310), -310},
		{"ComplexPow", ComplexPow(-1e-320, 0.5), complex(0, math.Sqrt(1e-320))},
		{"ComplexOver", ComplexOver(1+1i, 0), 0},
		{"ComplexOver", ComplexOver(1+1i, 2i), 0.5 - 0.5i},
	} {
		if !(cmplx.Abs(c.got-c.want) <= 4e-16*cmplx.Abs(c.want)) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
}
