package revnn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"revnum/fixed"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revnn"
)

// poolCases are sizes of pools, without operands. Windows overlap, or leave out elements,
// or neither.
var poolCases = map[string]revnn.MaxPool[float64]{
	"Tiles":   {Channels: 2, Height: 4, Width: 6, WindowHeight: 2, WindowWidth: 3, StrideHeight: 2, StrideWidth: 3},
	"Overlap": {Channels: 1, Height: 4, Width: 5, WindowHeight: 3, WindowWidth: 2, StrideHeight: 1, StrideWidth: 1},
	"Gaps":    {Channels: 3, Height: 5, Width: 4, WindowHeight: 1, WindowWidth: 2, StrideHeight: 3, StrideWidth: 3},
	"Padded": {
		Channels: 2, Height: 3, Width: 4, WindowHeight: 3, WindowWidth: 2, StrideHeight: 2, StrideWidth: 1, PadHeight: 2, PadWidth: 1,
	},
	"OneRow": {Channels: 2, Height: 1, Width: 7, WindowHeight: 1, WindowWidth: 3, StrideHeight: 1, StrideWidth: 2},
}

// maxPoolOf returns a pool of n inputs. Elements of X lie well apart.
func maxPoolOf[T rev.Real](rnd *rand.Rand, n int, s revnn.MaxPool[float64]) revnn.MaxPool[T] {
	rows, cols := poolPlaces(s)
	x := make([]T, n*s.Channels*s.Height*s.Width)
	for i, v := range rnd.Perm(len(x)) {
		x[i] = fixed.Of[T](float64(v - len(x)/2))
	}
	return revnn.MaxPool[T]{
		Y: kerneltest.Matrix[T](rnd, n, s.Channels*rows*cols), X: rev.NewGeneral(n, s.Channels*s.Height*s.Width, x),
		Channels: s.Channels, Height: s.Height, Width: s.Width, WindowHeight: s.WindowHeight, WindowWidth: s.WindowWidth,
		StrideHeight: s.StrideHeight, StrideWidth: s.StrideWidth, PadHeight: s.PadHeight, PadWidth: s.PadWidth,
	}
}

// poolPlaces returns how many places a window has in a column and in a row.
func poolPlaces(s revnn.MaxPool[float64]) (rows, cols int) {
	return (s.Height+2*s.PadHeight-s.WindowHeight)/s.StrideHeight + 1, (s.Width+2*s.PadWidth-s.WindowWidth)/s.StrideWidth + 1
}

func meanPoolOf[T rev.Real](rnd *rand.Rand, n int, s revnn.MaxPool[float64]) revnn.MeanPool[T] {
	k := maxPoolOf[T](rnd, n, s)
	return revnn.MeanPool[T]{
		kerneltest.Matrix[T](rnd, n, k.Y.Cols), kerneltest.Matrix[T](rnd, n, k.X.Cols),
		k.Channels, k.Height, k.Width, k.WindowHeight, k.WindowWidth, k.StrideHeight, k.StrideWidth, k.PadHeight, k.PadWidth, 0,
	}
}

func maxPoolSpec[T rev.Real](s revnn.MaxPool[float64]) revtest.Spec[revnn.MaxPool[T]] {
	return revtest.Spec[revnn.MaxPool[T]]{
		New:    func(rnd *rand.Rand, n int) revnn.MaxPool[T] { return maxPoolOf[T](rnd, n, s) },
		Sizes:  []int{0, 1, 2, 4},
		Masked: []string{"X"}, // between windows
	}
}

func meanPoolSpec[T rev.Real](s revnn.MaxPool[float64]) revtest.Spec[revnn.MeanPool[T]] {
	return revtest.Spec[revnn.MeanPool[T]]{
		New:    func(rnd *rand.Rand, n int) revnn.MeanPool[T] { return meanPoolOf[T](rnd, n, s) },
		Sizes:  []int{0, 1, 2, 4},
		Masked: []string{"X"}, // between windows
	}
}

func TestMaxPool(t *testing.T) {
	for name, s := range poolCases {
		t.Run(name, func(t *testing.T) {
			kerneltest.Kernels(t, maxPoolSpec[float32](s), maxPoolSpec[float64](s), maxPoolSpec[fixed.Q43](s))
		})
	}
}

func TestMeanPool(t *testing.T) {
	for name, s := range poolCases {
		t.Run(name, func(t *testing.T) {
			kerneltest.Kernels(t, meanPoolSpec[float32](s), meanPoolSpec[float64](s), meanPoolSpec[fixed.Q43](s))
		})
	}
}

// Values and gradients are those of loops over the definitions.
func TestPoolValues(t *testing.T) {
	rnd := rand.New(rand.NewPCG(62, 1))
	for name, s := range poolCases {
		largest, mean := maxPoolOf[float64](rnd, 3, s), meanPoolOf[float64](rnd, 3, s)
		mean.X = largest.X
		rows, cols := poolPlaces(s)
		wantMax, wantMean := slices.Clone(largest.Y.Data), slices.Clone(mean.Y.Data)
		gy := kerneltest.Matrix[float64](rnd, largest.Y.Rows, largest.Y.Cols)
		gMax, gMean := make([]float64, len(largest.X.Data)), make([]float64, len(largest.X.Data))
		for p := range wantMax {
			image, i, j := p/(rows*cols), p/cols%rows, p%cols
			var window []int
			for u := range s.WindowHeight {
				for v := range s.WindowWidth {
					if r, q := i*s.StrideHeight+u-s.PadHeight, j*s.StrideWidth+v-s.PadWidth; 0 <= r && r < s.Height && 0 <= q && q < s.Width {
						window = append(window, (image*s.Height+r)*s.Width+q)
					}
				}
			}
			m, total, area := window[0], 0.0, float64(s.WindowHeight*s.WindowWidth)
			for _, at := range window {
				if x := largest.X.Data[at]; x > largest.X.Data[m] {
					m = at
				}
				total += largest.X.Data[at]
				gMean[at] += gy.Data[p] / area
			}
			wantMax[p] += largest.X.Data[m]
			wantMean[p] += total / area
			gMax[m] += gy.Data[p]
		}
		gotMax, gotMean := rev.NewGeneral[float64](3, largest.X.Cols, nil), rev.NewGeneral[float64](3, largest.X.Cols, nil)
		for _, err := range []error{
			rev.Gradient(largest, revnn.MaxPool[float64]{Y: gy, X: gotMax}), rev.Gradient(mean, revnn.MeanPool[float64]{Y: gy, X: gotMean}),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		for what, c := range map[string][2][]float64{
			"maximum": {largest.Y.Data, wantMax}, "mean": {mean.Y.Data, wantMean},
			"gradient of the maximum": {gotMax.Data, gMax}, "gradient of the mean": {gotMean.Data, gMean},
		} {
			for i, want := range c[1] {
				if !(math.Abs(c[0][i]-want) <= 1e-13*(1+math.Abs(want))) {
					t.Errorf("%s: element %d of the %s: got %v, want %v", name, i, what, c[0][i], want)
				}
			}
		}
	}
}

// Of equal elements the first gets the gradient, and so does the first NaN.
func TestMaxPoolTies(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		x    []float64
		want int
	}{
		{[]float64{2, 2, 2, 2}, 0},
		{[]float64{1, 3, 3, 2}, 1},
		{[]float64{0, math.Copysign(0, -1), 0, 0}, 0},
		{[]float64{9, 1, nan, nan}, 2},
		{[]float64{nan, math.Inf(1), nan, 0}, 0},
		{[]float64{math.Inf(-1), math.Inf(-1), 0, 0}, 2},
	} {
		k := revnn.MaxPool[float64]{
			Y: rev.NewGeneral[float64](1, 1, nil), X: rev.NewGeneral(1, 4, c.x),
			Channels: 1, Height: 2, Width: 2, WindowHeight: 2, WindowWidth: 2, StrideHeight: 1, StrideWidth: 1,
		}
		k.Forward()
		if got, want := k.Y.Data[0], c.x[c.want]; got != want && got == got {
			t.Errorf("%v: got %v, want %v", c.x, got, want)
		}
		g := revnn.MaxPool[float64]{Y: rev.NewGeneral(1, 1, []float64{1}), X: rev.NewGeneral[float64](1, 4, nil)}
		k.Adjoint(g)
		for i, got := range g.X.Data {
			if (got == 1) != (i == c.want) {
				t.Errorf("%v: gradient %v", c.x, g.X.Data)
				break
			}
		}
	}
}
