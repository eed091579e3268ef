package revnn_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revnn"
)

// A layer of a network over a batch of two inputs.
func ExampleAffineBatch() {
	x := mat.NewDense(2, 3, []float64{
		1, 0, -1,
		0, 1, 0,
	})
	w := mat.NewDense(3, 2, []float64{
		1, 2,
		3, 4,
		5, 6,
	})
	b, y := mat.NewVecDense(2, []float64{10, 20}), mat.NewDense(2, 2, nil)
	k := revnn.NewAffineBatch(y, x, w, b)
	k.Forward()
	fmt.Println(y.RawMatrix().Data)

	gy, gw, gb := mat.NewDense(2, 2, []float64{1, 0, 0, 1}), mat.NewDense(3, 2, nil), mat.NewVecDense(2, nil)
	k.Adjoint(revnn.NewAffineBatch(gy, nil, gw, gb)) // inputs need no gradient
	fmt.Println(gw.RawMatrix().Data, gb.RawVector().Data)
	// Output:
	// [6 16 13 24]
	// [1 0 0 1 -1 0] [1 1]
}

// A filter that takes differences along rows, and the largest of them in 2×2 windows.
func ExampleConv2D() {
	x := mat.NewDense(1, 16, []float64{ // one image of 4×4
		0, 1, 3, 6,
		0, 2, 2, 2,
		5, 5, 5, 5,
		0, 0, 1, 1,
	})
	w := mat.NewDense(1, 2, []float64{-1, 1})
	y := mat.NewDense(1, 12, nil) // 4×3
	layer := revnn.NewConv2D(y, x, w, nil)
	layer.Channels, layer.Height, layer.Width = 1, 4, 4
	layer.KernelHeight, layer.KernelWidth = 1, 2
	layer.Forward()
	fmt.Println(y.RawMatrix().Data)

	gy, gw := mat.NewDense(1, 12, nil), mat.NewDense(1, 2, nil)
	gy.Set(0, 2, 1)                                  // of the difference 6 - 3
	layer.Adjoint(revnn.NewConv2D(gy, nil, gw, nil)) // the image needs no gradient
	fmt.Println(y.RawMatrix().Data, gw.RawMatrix().Data)
	// Output:
	// [1 2 3 2 0 0 0 0 0 0 1 0]
	// [0 0 0 0 0 0 0 0 0 0 0 0] [3 6]
}

func ExampleConvTranspose2D() {
	// Each element of an image of 2×2 becomes a square of 2×2, weighted by the filter.
	x := mat.NewDense(1, 4, []float64{
		1, 2,
		3, 4,
	})
	w := mat.NewDense(1, 4, []float64{
		1, 0,
		0, 10,
	})
	y := mat.NewDense(1, 16, nil)
	layer := revnn.NewConvTranspose2D(y, x, w, nil)
	layer.Channels, layer.Height, layer.Width = 1, 4, 4
	layer.KernelHeight, layer.KernelWidth, layer.StrideHeight, layer.StrideWidth = 2, 2, 2, 2
	layer.Forward()
	fmt.Println(mat.Formatted(mat.NewDense(4, 4, y.RawMatrix().Data)))
	// Output:
	// ⎡ 1   0   2   0⎤
	// ⎢ 0  10   0  20⎥
	// ⎢ 3   0   4   0⎥
	// ⎣ 0  30   0  40⎦
}

// The largest elements of windows of 2×2. Of equal ones the first gets the gradient.
func ExampleMaxPool() {
	x := mat.NewDense(1, 8, []float64{ // one image of 2×4
		1, 2, 7, 7,
		4, 3, 0, 7,
	})
	y := mat.NewDense(1, 2, nil)
	pool := revnn.NewMaxPool(y, x)
	pool.Channels, pool.Height, pool.Width = 1, 2, 4
	pool.WindowHeight, pool.WindowWidth, pool.StrideHeight, pool.StrideWidth = 2, 2, 2, 2
	pool.Forward()
	fmt.Println(y.RawMatrix().Data)
	gx := mat.NewDense(1, 8, nil)
	pool.Adjoint(revnn.NewMaxPool(mat.NewDense(1, 2, []float64{10, 20}), gx))
	fmt.Println(gx.RawMatrix().Data)
	// Output:
	// [4 7]
	// [0 0 20 0 10 0 0 0]
}

// Means of windows of three elements of a signal, which overlap.
func ExampleMeanPool() {
	x, y := mat.NewDense(1, 5, []float64{1, 2, 6, 4, 2}), mat.NewDense(1, 3, nil)
	pool := revnn.NewMeanPool(y, x)
	pool.Channels, pool.Height, pool.Width = 1, 1, 5
	pool.WindowHeight, pool.WindowWidth, pool.StrideHeight, pool.StrideWidth = 1, 3, 1, 1
	pool.Forward()
	fmt.Println(y.RawMatrix().Data)
	// Output: [3 4 4]
}

// Words as rows of a table. The gradient of a word is the sum over where it occurs.
func ExampleGather() {
	table := mat.NewDense(3, 2, []float64{
		1, 2,
		3, 4,
		5, 6,
	})
	y, text := mat.NewDense(4, 2, nil), []int{2, 0, 2, 2}
	k := revnn.NewGather(y, table, text)
	k.Forward()
	fmt.Println(y.RawMatrix().Data)
	gy, gtable := mat.NewDense(4, 2, []float64{1, 1, 1, 1, 1, 1, 1, 1}), mat.NewDense(3, 2, nil)
	k.Adjoint(revnn.NewGather(gy, gtable, text))
	fmt.Println(gtable.RawMatrix().Data)
	// Output:
	// [5 6 1 2 5 6 5 6]
	// [1 1 0 0 3 3]
}

// The activations of a layer, and their slopes.
func ExampleGELU() {
	x, gx := mat.NewVecDense(3, []float64{-1, 0, 2}), mat.NewVecDense(3, nil)
	y, gy := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{1, 1, 1})
	k := revnn.NewGELU(y, x)
	k.Forward()
	fmt.Printf("%.4f\n", y.RawVector().Data)
	k.Adjoint(revnn.NewGELU(gy, gx))
	fmt.Printf("%.4f\n", gx.RawVector().Data)
	// Output:
	// [-0.1587 0.0000 1.9545]
	// [-0.0833 0.5000 1.0852]
}

func ExampleCrossEntropy() {
	x := mat.NewDense(2, 3, []float64{
		2, 0, 0,
		0, 0, 2,
	})
	gx := mat.NewDense(2, 3, nil)
	loss, gloss, labels := 0.0, 1.0, []int{0, 1}
	k := revnn.NewCrossEntropy(&loss, x, nil, labels)
	k.Mean = true
	k.Forward()
	fmt.Printf("%.4f\n", loss)
	k.Adjoint(revnn.NewCrossEntropy(&gloss, gx, nil, labels))
	fmt.Printf("%.4f\n", mat.Formatted(gx))
	// Output:
	// 1.2395
	// ⎡-0.1065   0.0533   0.0533⎤
	// ⎣ 0.0533  -0.4467   0.3935⎦
}

// A query that is near the second key gets mostly the second value.
func ExampleAttention() {
	q := mat.NewDense(1, 2, []float64{0, 4})
	k := mat.NewDense(3, 2, []float64{1, 0, 0, 1, -1, 0})
	v, y := mat.NewDense(3, 1, []float64{10, 20, 30}), mat.NewDense(1, 1, nil)
	a := revnn.NewAttention(y, q, k, v)
	a.Scale = 1
	a.Forward()
	fmt.Printf("%.3f\n", y.RawMatrix().Data)

	gy, gv := mat.NewDense(1, 1, []float64{1}), mat.NewDense(3, 1, nil)
	a.Adjoint(revnn.NewAttention(gy, nil, nil, gv))
	fmt.Printf("%.3f\n", gv.RawMatrix().Data) // the weights
	// Output:
	// [20.000]
	// [0.018 0.965 0.018]
}

// Rows with mean 0 and variance 1, and then a gain and a bias.
func ExampleLayerNorm() {
	x, y := mat.NewDense(2, 3, []float64{1, 2, 3, 0, 0, 90}), mat.NewDense(2, 3, nil)
	gain, bias := mat.NewVecDense(3, []float64{1, 1, 10}), mat.NewVecDense(3, []float64{0, 0, 5})
	revnn.NewLayerNorm(y, x, gain, bias).Forward()
	fmt.Printf("%.3f\n", mat.Formatted(y))
	// Output:
	// ⎡-1.225   0.000  17.247⎤
	// ⎣-0.707  -0.707  19.142⎦
}

// A layer is trained with the statistics of a batch, and used with fixed ones. These make it an affine map,
// which is multiplied into the filters of the layer before.
func ExampleBatchNorm() {
	const channels = 2
	w, b := mat.NewDense(channels, 1, []float64{3, -1}), mat.NewVecDense(channels, []float64{0, 1})
	gain, bias := mat.NewVecDense(channels, []float64{1, 0.5}), mat.NewVecDense(channels, []float64{0, 2})
	x := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6}) // two signals of one channel and three positions
	conv := func(y *mat.Dense) revnn.Conv2D[float64] {
		k := revnn.NewConv2D(y, x, w, b)
		k.Channels, k.Height, k.Width, k.KernelHeight, k.KernelWidth = 1, 1, 3, 1, 1
		return k
	}
	z, y := mat.NewDense(2, channels*3, nil), mat.NewDense(2, channels*3, nil)
	conv(z).Forward()
	norm := revnn.NewBatchNorm(y, z, gain, bias)
	norm.Channels = channels
	mean, variance := make([]float64, channels), make([]float64, channels)
	norm.Mean, norm.Variance = rev.ViewSlice(mean), rev.ViewSlice(variance)
	norm.Forward()
	fmt.Printf("%.2f %.2f\n", mean, variance)
	fmt.Printf("%.4f\n", y.RawRowView(0))

	for c := range channels { // average mean and variance over many batches before
		scale := gain.AtVec(c) / math.Sqrt(variance[c]+1e-5)
		w.Set(c, 0, scale*w.At(c, 0))
		b.SetVec(c, bias.AtVec(c)+scale*(b.AtVec(c)-mean[c]))
	}
	y.Zero()
	conv(y).Forward()
	fmt.Printf("%.4f\n", y.RawRowView(0))
	// Output:
	// [10.50 -2.50] [26.25 2.92]
	// [-1.4638 -0.8783 -0.2928 2.7319 2.4392 2.1464]
	// [-1.4638 -0.8783 -0.2928 2.7319 2.4392 2.1464]
}

// Two channels of a row have one mean and one variance.
func ExampleGroupNorm() {
	x, y := mat.NewDense(1, 4, []float64{1, 1, 3, 3}), mat.NewDense(1, 4, nil)
	k := revnn.NewGroupNorm(y, x, mat.NewVecDense(2, []float64{1, 10}), mat.NewVecDense(2, []float64{0, 5}))
	k.Channels, k.Groups = 2, 1 // of two positions
	k.Forward()
	fmt.Printf("%.3f\n", y.RawRowView(0))
	// Output:
	// [-1.000 -1.000 15.000 15.000]
}

// A unit that counts: its gates are open, and each step adds tanh(x).
func ExampleLSTM() {
	x, y, c := mat.NewDense(3, 1, []float64{0.5, 1, -1}), mat.NewDense(3, 1, nil), mat.NewDense(1, 1, nil)
	wx, wh := mat.NewDense(4, 1, []float64{0, 0, 1, 0}), mat.NewDense(4, 1, nil)
	k := revnn.NewLSTM(y, x, wx, wh, mat.NewVecDense(4, []float64{40, 40, 0, 40}), nil)
	k.C = rev.ViewDense(c)
	k.Forward()
	fmt.Printf("%.4f\n", c.At(0, 0))

	gx := mat.NewDense(3, 1, nil) // the derivatives of c by x: 1 - tanh(x)²
	k.C = rev.ViewDense(nil)      // not uncomputed
	g := revnn.NewLSTM(nil, gx, nil, nil, nil, nil)
	g.C = rev.ViewDense(mat.NewDense(1, 1, []float64{1}))
	k.Adjoint(g)
	fmt.Printf("%.4f\n", mat.Formatted(gx.T()))
	// Output:
	// 0.4621
	// [0.7864  0.4200  0.4200]
}

// Two units with an update gate of 1/2: a step goes half way to tanh(1).
func ExampleGRU() {
	x, y := mat.NewDense(3, 1, []float64{1, 1, 1}), mat.NewDense(3, 2, nil)
	wx, wh := mat.NewDense(6, 1, []float64{0, 0, 0, 0, 1, -1}), mat.NewDense(6, 2, nil)
	revnn.NewGRU(y, x, wx, wh, nil, nil).Forward()
	fmt.Printf("%.4f\n", mat.Formatted(y))
	// Output:
	// ⎡ 0.3808  -0.3808⎤
	// ⎢ 0.5712  -0.5712⎥
	// ⎣ 0.6664  -0.6664⎦
}

// Rows with mean square 1.
func ExampleRMSNorm() {
	x, y := mat.NewDense(2, 2, []float64{3, 4, -0.5, 0}), mat.NewDense(2, 2, nil)
	revnn.NewRMSNorm(y, x, nil).Forward()
	fmt.Printf("%.3f\n", mat.Formatted(y))
	// Output:
	// ⎡ 0.849   1.131⎤
	// ⎣-1.414   0.000⎦
}

// A mean squared error and its gradient.
func ExampleSquaredError() {
	x, y := mat.NewDense(1, 3, []float64{1, 2, 6}), mat.NewDense(1, 3, []float64{1, 0, 3})
	loss, gloss, gx := 0.0, 1.0, mat.NewDense(1, 3, nil)
	k := revnn.NewSquaredError(&loss, x, y)
	k.Mean = true
	k.Forward()
	fmt.Printf("%.4f\n", loss)
	k.Adjoint(revnn.NewSquaredError(&gloss, gx, nil)) // targets need no gradient
	fmt.Printf("%.4f\n", gx.RawMatrix().Data)
	// Output:
	// 4.3333
	// [0.0000 1.3333 2.0000]
}

// Residuals above 1 pull as much as one of 1.
func ExampleHuber() {
	x, y := mat.NewDense(1, 3, []float64{1, 0.5, 60}), mat.NewDense(1, 3, nil)
	loss, gloss, gx := 0.0, 1.0, mat.NewDense(1, 3, nil)
	k := revnn.NewHuber(&loss, x, y, 1)
	k.Forward()
	fmt.Println(loss)
	k.Adjoint(revnn.NewHuber(&gloss, gx, nil, 1))
	fmt.Println(gx.RawMatrix().Data)
	// Output:
	// 60.125
	// [1 0.5 1]
}

// Two labels for each of two inputs. A logit of 1000 is no problem.
func ExampleBinaryCrossEntropy() {
	x := mat.NewDense(2, 2, []float64{
		2, 0,
		-1, 1000,
	})
	labels := mat.NewDense(2, 2, []float64{
		1, 0,
		1, 1,
	})
	loss, gloss, gx := 0.0, 1.0, mat.NewDense(2, 2, nil)
	k := revnn.NewBinaryCrossEntropy(&loss, x, labels)
	k.Mean = true
	k.Forward()
	fmt.Printf("%.4f\n", loss)
	k.Adjoint(revnn.NewBinaryCrossEntropy(&gloss, gx, nil))
	fmt.Printf("%.4f\n", mat.Formatted(gx))
	// Output:
	// 0.5333
	// ⎡-0.0298   0.1250⎤
	// ⎣-0.1828   0.0000⎦
}

func ExampleLogSumExp() {
	x := mat.NewVecDense(3, []float64{1000, 1000, 999})
	softmax := mat.NewVecDense(3, nil)
	out, gout := 0.0, 1.0

	k := revnn.NewLogSumExp(&out, x)
	k.Forward()
	fmt.Printf("%.4f\n", out)
	k.Adjoint(revnn.NewLogSumExp(&gout, softmax))
	fmt.Printf("%.4f\n", softmax.RawVector().Data)
	// Output:
	// 1000.8620
	// [0.4223 0.4223 0.1554]
}

func ExampleSoftmax() {
	x := mat.NewVecDense(3, []float64{1000, 1000 + math.Ln2, math.Inf(-1)})
	y := mat.NewVecDense(3, nil)
	k := revnn.NewSoftmax(y, x)
	k.Forward()
	fmt.Printf("%.4f\n", y.RawVector().Data)

	gx, gy := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{0, 9, 0})
	k.Adjoint(revnn.NewSoftmax(gy, gx))
	fmt.Printf("%.4f %.4f\n", y.RawVector().Data, gx.RawVector().Data)
	// Output:
	// [0.3333 0.6667 0.0000]
	// [0.0000 0.0000 0.0000] [-2.0000 2.0000 0.0000]
}
