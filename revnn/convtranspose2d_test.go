package revnn_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// transposeOf returns a transposed convolution of the sizes s, of n inputs with f filters a group.
func transposeOf[T rev.Real](rnd *rand.Rand, n, f int, s convSizes) revnn.ConvTranspose2D[T] {
	c := convOf[T](rnd, n, f, s)
	return revnn.ConvTranspose2D[T]{
		Y: c.X, X: c.Y, W: c.W, B: kerneltest.Vector[T](rnd, s.Channels),
		Channels: s.Channels, Height: s.Height, Width: s.Width, KernelHeight: s.KernelHeight, KernelWidth: s.KernelWidth,
		StrideHeight: s.StrideHeight, StrideWidth: s.StrideWidth, PadHeight: s.PadHeight, PadWidth: s.PadWidth,
		DilationHeight: s.DilationHeight, DilationWidth: s.DilationWidth, Groups: s.Groups,
	}
}

func transposeSpec[T rev.Real](s convSizes) revtest.Spec[revnn.ConvTranspose2D[T]] {
	spec := revtest.Spec[revnn.ConvTranspose2D[T]]{
		New:   func(rnd *rand.Rand, n int) revnn.ConvTranspose2D[T] { return transposeOf[T](rnd, n, n+1, s) },
		Sizes: []int{0, 1, 2, 4},
	}
	if s.PadHeight >= s.KernelHeight || s.PadWidth >= s.KernelWidth {
		spec.Masked = []string{"X", "W"} // places whose elements all fall outside Y, and weights that meet none in it
	}
	return spec
}

func TestConvTranspose2D(t *testing.T) {
	for name, s := range convCases {
		t.Run(name, func(t *testing.T) { revtest.Kernel(t, transposeSpec[float64](s)) })
	}
	s := convCases["Groups"]
	t.Run("Types", func(t *testing.T) {
		kerneltest.Kernels(t, transposeSpec[float32](s), transposeSpec[float64](s), transposeSpec[fixed.Q43](s))
	})
}

// The value is that of loops over the definition, for images of several bands and groups too.
func TestConvTranspose2DValue(t *testing.T) {
	rnd := rand.New(rand.NewPCG(87, 1))
	sizes := map[string]convSizes{
		"Large": {Channels: 20, Height: 61, Width: 40, KernelHeight: 4, KernelWidth: 3, StrideHeight: 2, StrideWidth: 2, PadHeight: 1, Groups: 2},
	}
	for name, s := range convCases {
		sizes[name] = s
	}
	for name, s := range sizes {
		t.Run(name, func(t *testing.T) {
			k := transposeOf[float64](rnd, 2, 3, s)
			rows, cols := convPlaces(s)
			groups := max(1, s.Groups)
			per, filters := s.Channels/groups, k.W.Rows/groups
			want := make([]float64, 0, len(k.Y.Data))
			for p, y := range k.Y.Data {
				want = append(want, y+k.B.Data[p/(s.Height*s.Width)%s.Channels])
			}
			for p, x := range k.X.Data {
				n, f, i, j := p/k.X.Cols, p/(rows*cols)%k.W.Rows, p/cols%rows, p%cols
				for c := range per {
					for u := range s.KernelHeight {
						for v := range s.KernelWidth {
							r, q := i*s.StrideHeight+u*max(1, s.DilationHeight)-s.PadHeight, j*s.StrideWidth+v*max(1, s.DilationWidth)-s.PadWidth
							if 0 <= r && r < s.Height && 0 <= q && q < s.Width {
								want[((n*s.Channels+f/filters*per+c)*s.Height+r)*s.Width+q] += k.W.Row(f)[(c*s.KernelHeight+u)*s.KernelWidth+v] * x
							}
						}
					}
				}
			}
			k.Forward()
			for i, v := range k.Y.Data {
				if d := v - want[i]; !(d < 1e-11 && d > -1e-11) {
					t.Fatalf("element %d is %v, want %v", i, v, want[i])
				}
			}
		})
	}
}

func TestConvTranspose2DSizes(t *testing.T) {
	k := revnn.NewConvTranspose2D(mat.NewDense(1, 12, nil), mat.NewDense(1, 6, nil), mat.NewDense(1, 4, nil), nil)
	k.Channels, k.Height, k.Width, k.KernelHeight, k.KernelWidth = 1, 3, 4, 2, 2
	k.Forward() // fits
	k.KernelHeight = 4
	defer func() {
		if _, ok := recover().(*rev.OperandError); !ok {
			t.Error("no panic for a kernel that is larger than the image")
		}
	}()
	k.Forward()
}
