package fft

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"

	"revnum/internal/simd/simdtest"
)

// BenchmarkPeers times transforms beside those of gonum. In pure Go, both:
// go test -tags noasm -run '^$' -bench Peers. An element is one of the n log₂ n of a level.
func BenchmarkPeers(b *testing.B) {
	for _, n := range []int{64, 100, 1000, 1024, 4096, 1 << 16} {
		x := normals(rand.New(rand.NewPCG(1, 1)), n)
		y := make([]complex128, n)
		levels := 0
		for 1<<levels < n {
			levels++
		}
		var w Work
		f := fourier.NewCmplxFFT(n)
		simdtest.Beside(b, fmt.Sprint(n), n*levels, func() { Of(n).Transform(&w, x, 1, false, 1) }, func() {
			copy(y, x)
			f.Coefficients(y, y)
		})
	}
}
