package revsparse_test

import (
	"fmt"
	"math"

	"github.com/james-bowman/sparse"
	"gonum.org/v1/gonum/mat"

	"revnum/revsparse"
)

// The lowest level of a particle that hops between the sites of a lattice, from a
// matrix: a well in the middle draws the particle there, and the derivatives with
// respect to the depth of each site are the probabilities to find it there.
func ExampleDominantEig() {
	const side, middle = 5, 12
	var row, col []int32
	var val []float64
	add := func(i, j int, v float64) {
		row, col, val = append(row, int32(i)), append(col, int32(j)), append(val, v)
	}
	for at := range side * side {
		add(at, at, 0)
		if at >= side {
			add(at, at-side, -1) // the lower triangle stands for both
		}
		if at%side > 0 {
			add(at, at-1, -1)
		}
	}
	add(middle, middle, -2)
	h, err := revsparse.FromTriplets(side*side, side*side, row, col, val)
	if err != nil {
		fmt.Println(err)
		return
	}

	energy, state := mat.NewVecDense(1, nil), mat.NewDense(side*side, 1, nil)
	k := revsparse.NewDominantEig(energy, state, h)
	k.Which = revsparse.Smallest
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("energy %.4f, at the middle %.4f\n", energy.AtVec(0), state.At(middle, 0))

	gEnergy, gh := mat.NewVecDense(1, []float64{1}), h.With(make([]float64, h.NNZ()))
	if err := k.Adjoint(revsparse.NewDominantEig(gEnergy, nil, gh)); err != nil {
		fmt.Println(err)
		return
	}
	for i := range side {
		for j := range side {
			at := i*side + j
			for p := h.Ptr[at]; p < h.Ptr[at+1]; p++ {
				if int(h.Ind[p]) == at {
					fmt.Printf(" %.3f", gh.Data[p])
				}
			}
		}
		fmt.Println()
	}
	// Output:
	// energy -3.8961, at the middle 0.6091
	//  0.002 0.009 0.015 0.009 0.002
	//  0.009 0.039 0.083 0.039 0.009
	//  0.015 0.083 0.371 0.083 0.015
	//  0.009 0.039 0.083 0.039 0.009
	//  0.002 0.009 0.015 0.009 0.002
}

func ExampleDot() {
	a := revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 2, 3}, Ind: []int{0, 1, 1}, Data: []float64{1, 2, 3}}
	b := revsparse.CSR[float64, int]{Rows: 2, Cols: 2, Ptr: []int{0, 1, 3}, Ind: []int{1, 1, 0}, Data: []float64{10, 20, 30}}
	var r float64
	k := revsparse.Dot[float64, int]{Out: &r, A: a, B: b}
	k.Forward()
	fmt.Println(r)

	gr, ga, gb := 1.0, a.With(make([]float64, 3)), b.With(make([]float64, 3))
	k.Adjoint(revsparse.Dot[float64, int]{Out: &gr, A: ga, B: gb})
	fmt.Println(r, ga.Data, gb.Data)
	// Output:
	// 80
	// 0 [0 10 20] [2 3 0]
}

func ExampleFromMatrix() {
	a := revsparse.FromMatrix(mat.NewDense(2, 3, []float64{1, 0, 2, 0, 3, 0}))
	fmt.Println(a.Ptr, a.Ind, a.Data)
	// Output: [0 2 3] [0 2 1] [1 2 3]
}

func ExampleFromTriplets() {
	// 1 0 2
	// 0 3 0
	a, err := revsparse.FromTriplets(2, 3, []int32{1, 0, 0}, []int32{1, 2, 0}, []float64{3, 2, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Ptr, a.Ind, a.Data)
	// Output: [0 2 3] [0 2 1] [1 2 3]
}

func ExampleLogMul() {
	// A step of a chain that stays where it is or goes on, from its first state.
	half := math.Log(0.5)
	a, err := revsparse.NewCSR(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{half, half, half})
	if err != nil {
		fmt.Println(err)
		return
	}
	inf := math.Inf(-1)
	before, after := mat.NewVecDense(2, []float64{0, inf}), mat.NewVecDense(2, []float64{inf, inf})
	revsparse.NewLogMul(after, a, before).Forward()
	fmt.Printf("%.3f %.3f\n", math.Exp(after.AtVec(0)), math.Exp(after.AtVec(1)))
	// Output: 0.500 0.500
}

func ExampleMul() {
	// 1 0 2
	// 0 3 0
	a, err := revsparse.NewCSR(2, 3, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := mat.NewVecDense(3, []float64{1, 10, 100}), mat.NewVecDense(2, nil)
	k := revsparse.NewMul(y, a, x) // y += A·x
	k.Forward()
	fmt.Println(y.RawVector().Data)

	gy, gx := mat.NewVecDense(2, []float64{1, -1}), mat.NewVecDense(3, nil)
	ga := a.With(make([]float64, a.NNZ())) // at the entries of A alone
	k.Adjoint(revsparse.NewMul(gy, ga, gx))
	fmt.Println(y.RawVector().Data, ga.Data, gx.RawVector().Data)
	// Output:
	// [201 30]
	// [0 0] [1 100 -10] [1 -3 2]
}

func ExampleSampledMul() {
	// The two entries of a matrix of ratings that are known, from factors of users
	// and items.
	s, err := revsparse.NewCSR(2, 2, []int{0, 1, 2}, []int{1, 0}, []float64{0, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	users, items := mat.NewDense(2, 2, []float64{1, 2, 3, 4}), mat.NewDense(2, 2, []float64{1, 0, 0, 1})
	k := revsparse.NewSampledMul(s, users, items)
	k.Forward()
	fmt.Println(s.Data)
	// Output: [2 3]
}

func ExampleCG() {
	// A chain of three springs that is held at one end, and pulled at the other.
	a, err := revsparse.NewCSR(3, 3, []int32{0, 1, 3, 5}, []int32{0, 0, 1, 1, 2}, []float64{2, -1, 2, -1, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, b := mat.NewVecDense(3, nil), mat.NewVecDense(3, []float64{0, 0, 1})
	k := revsparse.NewCG(x, a, b)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", x.RawVector().Data)

	gx, gb := mat.NewVecDense(3, []float64{0, 0, 1}), mat.NewVecDense(3, nil)
	ga := a.With(make([]float64, a.NNZ()))
	if err := k.Adjoint(revsparse.NewCG(gx, ga, gb)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n%.3f\n", gb.RawVector().Data, ga.Data)
	// Output:
	// [1.000 2.000 3.000]
	// [1.000 2.000 3.000]
	// [-1.000 -4.000 -4.000 -12.000 -9.000]
}

func ExampleLU() {
	// 2 1 0       5
	// 0 3 1 · x = 7
	// 4 0 1       2
	a, err := revsparse.NewCSR(3, 3, []int{0, 2, 4, 6}, []int{0, 1, 1, 2, 0, 2}, []float64{2, 1, 3, 1, 4, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	var lu revsparse.LU[int]
	if err := lu.Factorize(a); err != nil {
		fmt.Println(err)
		return
	}
	var x mat.VecDense
	for _, trans := range []bool{false, true} {
		if err := lu.SolveVecTo(&x, trans, mat.NewVecDense(3, []float64{5, 7, 2})); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.3f\n", x.RawVector().Data)
	}
	var inverse mat.Dense
	if err := lu.SolveTo(&inverse, false, mat.NewDiagDense(3, []float64{1, 1, 1})); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.1f\n", mat.Formatted(&inverse))
	// Output:
	// [1.000 3.000 -2.000]
	// [1.900 1.700 0.300]
	// ⎡ 0.3  -0.1   0.1⎤
	// ⎢ 0.4   0.2  -0.2⎥
	// ⎣-1.2   0.4   0.6⎦
}

// Columns within rows need no order, until an algorithm searches them.
func ExampleCSR_Transpose() {
	a, err := revsparse.NewCSR(2, 3, []int{0, 2, 3}, []int{2, 0, 1}, []float64{3, 1, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.IsSorted(), a.Sorted().Ind)
	t := a.Transpose()
	fmt.Println(t.Rows, t.Ptr, t.Ind, t.Data)
	// A matrix by columns is the transpose of one by rows.
	csc := revsparse.ViewCSC(sparse.NewCSC(2, 3, []int{0, 1, 2, 3}, []int{0, 1, 0}, []float64{1, 2, 3}))
	fmt.Println(csc.Rows, csc.Cols)
	// Output:
	// false [0 2 1]
	// 3 [0 1 2 3] [0 1 0] [1 2 3]
	// 3 2
}

func ExampleSolve() {
	// Heat in a ring of four places. It leaks out everywhere, and flows along.
	row, col, val := []int{}, []int{}, []float64{}
	for i := range 4 {
		row, col, val = append(row, i, i), append(col, i, (i+3)%4), append(val, 2, -1)
	}
	a, err := revsparse.FromTriplets(4, 4, row, col, val)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, b := mat.NewVecDense(4, nil), mat.NewVecDense(4, []float64{15, 0, 0, 0})
	k := revsparse.NewSolve(x, a, b)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", x.RawVector().Data)

	gx, gb := mat.NewVecDense(4, []float64{0, 0, 0, 1}), mat.NewVecDense(4, nil)
	ga := a.With(make([]float64, a.NNZ()))
	if err := k.Adjoint(revsparse.NewSolve(gx, ga, gb)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n%.3f\n", gb.RawVector().Data, ga.Data)
	// Output:
	// [8.000 4.000 2.000 1.000]
	// [0.067 0.133 0.267 0.533]
	// [-0.533 -0.067 -1.067 -0.533 -1.067 -0.533 -1.067 -0.533]
}

func ExampleSpGEMM() {
	a, err := revsparse.NewCSR(2, 2, []int{0, 2, 3}, []int{0, 1, 1}, []float64{1, 2, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := revsparse.SpGEMMPattern(a, a)
	if err != nil {
		fmt.Println(err)
		return
	}
	k := revsparse.SpGEMM[float64, int]{C: c, A: a, B: a} // C += A²
	k.Forward()
	fmt.Println(c.Ind, c.Data)

	g := a.With(make([]float64, 3))
	k.Adjoint(revsparse.SpGEMM[float64, int]{C: c.With([]float64{0, 1, 0}), A: g, B: g})
	fmt.Println(c.Data, g.Data)
	// Output:
	// [0 1 1] [1 8 9]
	// [0 0 0] [2 4 2]
}

// The product of two matrices, and the gradient of one of its entries.
func ExampleSpGEMMProduct() {
	a, err := revsparse.NewCSR(2, 2, []int{0, 2, 3}, []int{0, 1, 1}, []float64{1, 2, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := revsparse.SpGEMMProduct(a, a, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Ind, c.Data)

	g := a.With(make([]float64, 3))
	revsparse.SpGEMM[float64, int]{C: c, A: a, B: a}.Adjoint(revsparse.SpGEMM[float64, int]{C: c.With([]float64{0, 1, 0}), A: g, B: g})
	fmt.Println(g.Data)
	// Output:
	// [0 1 1] [1 8 9]
	// [2 4 2]
}

func ExampleSymmetricMul() {
	// 2 1
	// 1 3
	a, err := revsparse.NewCSR(2, 2, []int{0, 1, 3}, []int{0, 0, 1}, []float64{2, 1, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, y := mat.NewVecDense(2, []float64{1, 10}), mat.NewVecDense(2, nil)
	k := revsparse.NewSymmetricMul(y, a, x)
	k.Forward()
	fmt.Println(y.RawVector().Data)
	// Output: [12 31]
}

func ExampleTriSolve() {
	// (2 0)       (1)
	// (1 4) · x = (6)
	a, err := revsparse.NewCSR(2, 2, []int32{0, 1, 3}, []int32{0, 0, 1}, []float64{2, 1, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	x, b := mat.NewVecDense(2, nil), mat.NewVecDense(2, []float64{1, 6})
	k := revsparse.NewTriSolve(x, a, b)
	if err := k.Forward(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("x", x.RawVector().Data)

	gx, gb := mat.NewVecDense(2, []float64{0, 1}), mat.NewVecDense(2, nil)
	ga := a.With(make([]float64, a.NNZ()))
	if err := k.Adjoint(revsparse.NewTriSolve(gx, ga, gb)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("gradient of x_1 in b", gb.RawVector().Data, "and in A", ga.Data)
	// Output:
	// x [0.5 1.375]
	// gradient of x_1 in b [-0.125 0.25] and in A [0.0625 -0.125 -0.34375]
}
