package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// hostConv2D is revnn.Conv2D, whose passes run on the device.
type hostConv2D[T rev.Real] revnn.Conv2D[T]

func (k hostConv2D[T]) Run(p rev.Pass[hostConv2D[T]]) error {
	return through[hostConv2D[T], Conv2D[T]](testDevice, k, p)
}

// newConv2D returns a convolution of n inputs with f filters a group, and the sizes of s.
func newConv2D[T rev.Real](rnd *rand.Rand, n, f int, s Conv2D[float64]) hostConv2D[T] {
	rows := (s.Height+2*s.PadHeight-max(1, s.DilationHeight)*(s.KernelHeight-1)-1)/s.StrideHeight + 1
	cols := (s.Width+2*s.PadWidth-max(1, s.DilationWidth)*(s.KernelWidth-1)-1)/s.StrideWidth + 1
	groups := max(1, s.Groups)
	f *= groups
	return hostConv2D[T]{
		Y: padded[T](rnd, n, f*rows*cols), X: padded[T](rnd, n, s.Channels*s.Height*s.Width),
		W: padded[T](rnd, f, s.Channels/groups*s.KernelHeight*s.KernelWidth), B: spaced[T](rnd, f),
		Channels: s.Channels, Height: s.Height, Width: s.Width, KernelHeight: s.KernelHeight, KernelWidth: s.KernelWidth,
		StrideHeight: s.StrideHeight, StrideWidth: s.StrideWidth, PadHeight: s.PadHeight, PadWidth: s.PadWidth,
		DilationHeight: s.DilationHeight, DilationWidth: s.DilationWidth, Groups: s.Groups,
	}
}

// The windows of these leave out elements, or meet padding alone, or neither.
var (
	dilated = Conv2D[float64]{
		Channels: 2, Height: 6, Width: 5, KernelHeight: 3, KernelWidth: 2, StrideHeight: 1, StrideWidth: 2, PadHeight: 1, PadWidth: 2,
		DilationHeight: 2, DilationWidth: 3,
	}
	grouped = Conv2D[float64]{Channels: 4, Height: 3, Width: 2, KernelHeight: 2, KernelWidth: 3, StrideHeight: 2, StrideWidth: 1, PadWidth: 1, Groups: 2}
	wide    = Conv2D[float64]{Channels: 1, Height: 2, Width: 1, KernelHeight: 1, KernelWidth: 2, StrideHeight: 2, StrideWidth: 3, PadHeight: 2, PadWidth: 4}
)

func TestConv2D(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", convOf[float64])
	t.Run("float32", convOf[float32])
	t.Run("Q43", convOf[fixed.Q43])
}

func convOf[T rev.Real](t *testing.T) {
	revtest.Kernel(t, revtest.Spec[hostConv2D[T]]{Sizes: []int{0, 2}, Skip: noAllocs, Masked: []string{"X"}, New: func(rnd *rand.Rand, n int) hostConv2D[T] {
		return newConv2D[T](rnd, n, n+1, grouped)
	}})
}

// TestConv2DBits compares with the host over Q43, bit for bit: a tile and several, more places than a
// part has, and grids of blocks of two warps that go over their tiles several times.
func TestConv2DBits(t *testing.T) {
	testDevice = interpreter(t, 1<<26)
	lower(t, 64, 2, 1)
	type q = fixed.Q43
	for name, s := range map[string]struct {
		inputs, filters int
		sizes           Conv2D[float64]
	}{
		"empty":      {0, 2, dilated},
		"no filters": {2, 0, dilated},
		"dilated":    {2, 3, dilated},
		"grouped":    {3, 2, grouped},
		"wide":       {2, 1, wide},
		"long strides": {2, 1, Conv2D[float64]{
			Channels: 2, Height: 4, Width: 3, KernelHeight: 2, KernelWidth: 2, StrideHeight: 1 << 32, StrideWidth: math.MaxInt, PadHeight: 1,
		}},
		"large tiles": {2, 33, Conv2D[float64]{
			Channels: 33, Height: 4, Width: 6, KernelHeight: 2, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1, PadHeight: 1,
		}},
		"planes of two warps": {1, 3, Conv2D[float64]{Channels: 1, Height: 7, Width: 6, KernelHeight: 1, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1}},
		"parts":               {1, 1, Conv2D[float64]{Channels: 64, Height: 19, Width: 28, KernelHeight: 1, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, func(rnd *rand.Rand) hostConv2D[q] { return newConv2D[q](rnd, s.inputs, s.filters, s.sizes) },
				func(k hostConv2D[q]) revnn.Conv2D[q] { return revnn.Conv2D[q](k) })
		})
	}
}

// TestConv2DValues compares floats with the host, also for large tiles, and for gradients of which each
// block has one part or several.
func TestConv2DValues(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	t.Run("float64", convValues[float64])
	t.Run("float32", convValues[float32])
}

func convValues[T rev.Real](t *testing.T) {
	large := Conv2D[float64]{Channels: 34, Height: 3, Width: 6, KernelHeight: 2, KernelWidth: 1, StrideHeight: 1, StrideWidth: 1, PadHeight: 1}
	before := enoughBlocks
	t.Cleanup(func() { enoughBlocks = before })
	for _, enoughBlocks = range []int{before, 2} {
		alike(t, 64*toleranceOf[T](), func(rnd *rand.Rand) hostConv2D[T] { return newConv2D[T](rnd, 5, 2, dilated) },
			func(k hostConv2D[T]) revnn.Conv2D[T] { return revnn.Conv2D[T](k) })
	}
	alike(t, 64*toleranceOf[T](), func(rnd *rand.Rand) hostConv2D[T] { return newConv2D[T](rnd, 3, 65, large) },
		func(k hostConv2D[T]) revnn.Conv2D[T] { return revnn.Conv2D[T](k) })
}

// TestConv2DInfinite compares gradients by X with sums over the places that meet an element, where a weight
// and a cotangent are infinite. The host also multiplies them with zeros beside the plane.
func TestConv2DInfinite(t *testing.T) {
	testDevice = interpreter(t, 1<<24)
	for name, s := range map[string]Conv2D[float64]{"dilated": dilated, "grouped": grouped, "wide": wide} {
		rnd := rand.New(rand.NewPCG(3, 4))
		k, g := newConv2D[float64](rnd, 2, 2, s), newConv2D[float64](rnd, 2, 2, s)
		k.W.Data[1], g.Y.Data[2] = math.Inf(1), math.Inf(-1)
		rows := (k.Height+2*k.PadHeight-max(1, k.DilationHeight)*(k.KernelHeight-1)-1)/k.StrideHeight + 1
		places, groups := g.Y.Cols/k.W.Rows, max(1, k.Groups)
		channels, filters := k.Channels/groups, k.W.Rows/groups
		want := slices.Clone(g.X.Data)
		for e := range k.X.Rows * k.W.Rows * places * k.W.Cols {
			tap, place, f, n := e%k.W.Cols, e/k.W.Cols%places, e/k.W.Cols/places%k.W.Rows, e/k.W.Cols/places/k.W.Rows
			c, u, v := tap/(k.KernelHeight*k.KernelWidth), tap/k.KernelWidth%k.KernelHeight, tap%k.KernelWidth
			y := place/(places/rows)*k.StrideHeight + u*max(1, k.DilationHeight) - k.PadHeight
			x := place%(places/rows)*k.StrideWidth + v*max(1, k.DilationWidth) - k.PadWidth
			if y >= 0 && y < k.Height && x >= 0 && x < k.Width {
				c += f / filters * channels
				want[n*g.X.Stride+(c*k.Height+y)*k.Width+x] += float64(k.W.Data[f*k.W.Stride+tap] * g.Y.Data[n*g.Y.Stride+f*places+place])
			}
		}
		if err := rev.Adjoint(k, hostConv2D[float64]{Y: g.Y, X: g.X}); err != nil {
			t.Fatal(err)
		}
		for i, v := range g.X.Data {
			if w := want[i]; v != w && !(math.Abs(v-w) <= 1e-13) && (v == v || w == w) {
				t.Errorf("%s: element %d is %v, want %v", name, i, v, w)
			}
		}
	}
}

// TestConv2DSizes has sizes that make no sense.
func TestConv2DSizes(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	for name, change := range map[string]func(k *hostConv2D[float64]){
		"kernel": func(k *hostConv2D[float64]) { k.KernelHeight = 0 },
		"stride": func(k *hostConv2D[float64]) { k.StrideWidth = -1 },
		"groups": func(k *hostConv2D[float64]) { k.Groups = 3 },
	} {
		k := newConv2D[float64](rand.New(rand.NewPCG(1, 2)), 2, 2, grouped)
		change(&k)
		func() {
			defer func() {
				if err, ok := recover().(error); !ok || !errors.Is(err, mat.ErrShape) {
					t.Errorf("%s: panic %v, want mat.ErrShape", name, err)
				}
			}()
			_ = k.Run(rev.Pass[hostConv2D[float64]]{})
		}()
	}
}

// TestConv2DLongest has a padded plane with more elements than kernels count.
func TestConv2DLongest(t *testing.T) {
	testDevice = interpreter(t, 1<<20)
	k := newConv2D[float64](rand.New(rand.NewPCG(1, 2)), 1, 1, Conv2D[float64]{
		Channels: 1, Height: 1, Width: 1, KernelHeight: 1, KernelWidth: 1, StrideHeight: 1 << 30, StrideWidth: 1, PadHeight: 1 << 30,
	})
	if err := rev.Forward(k); err == nil || errors.Is(err, ErrMemory) {
		t.Errorf("error %v", err)
	}
}
