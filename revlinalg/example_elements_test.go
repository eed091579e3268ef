package revlinalg_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/revlinalg"
)

// vecOf returns a vector of gonum.
func vecOf(x ...float64) *mat.VecDense { return mat.NewVecDense(len(x), x) }

func ExampleSquare() {
	x, y, gx := vecOf(3, -2), vecOf(0, 0), vecOf(0, 0)
	revlinalg.NewSquare(y, x).Forward()
	fmt.Println(y.RawVector().Data)
	revlinalg.NewSquare(y, x).Adjoint(revlinalg.NewSquare(vecOf(1, 1), gx))
	fmt.Println(gx.RawVector().Data)
	// Output:
	// [9 4]
	// [6 -4]
}

func ExampleRecip() {
	x, y, gx := vecOf(4, -0.5), vecOf(0, 0), vecOf(0, 0)
	if err := revlinalg.NewRecip(y, x).Forward(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y.RawVector().Data)
	if err := revlinalg.NewRecip(y, x).Adjoint(revlinalg.NewRecip(vecOf(1, 1), gx)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(gx.RawVector().Data)
	// Output:
	// [0.25 -2]
	// [-0.0625 -4]
}

func ExampleClip() {
	x, y, gx := vecOf(-3, 0.5, 7), vecOf(0, 0, 0), vecOf(0, 0, 0)
	revlinalg.NewClip(y, x, -1, 1).Forward()
	fmt.Println(y.RawVector().Data)
	revlinalg.NewClip(y, x, -1, 1).Adjoint(revlinalg.NewClip(vecOf(1, 1, 1), gx, -1, 1))
	fmt.Println(gx.RawVector().Data)
	// Output:
	// [-1 0.5 1]
	// [0 1 0]
}

func ExampleMaxElem() {
	x, y, z := vecOf(1, 5, 2), vecOf(4, 3, 2), vecOf(0, 0, 0)
	revlinalg.NewMaxElem(z, x, y).Forward()
	fmt.Println(z.RawVector().Data)
	gx, gy := vecOf(0, 0, 0), vecOf(0, 0, 0)
	revlinalg.NewMaxElem(z, x, y).Adjoint(revlinalg.NewMaxElem(vecOf(1, 1, 1), gx, gy))
	fmt.Println(gx.RawVector().Data, gy.RawVector().Data)
	// Output:
	// [4 5 2]
	// [0 1 0.5] [1 0 0.5]
}

func ExampleMinElem() {
	x, y, z := vecOf(1, 5, 2), vecOf(4, 3, 2), vecOf(0, 0, 0)
	revlinalg.NewMinElem(z, x, y).Forward()
	fmt.Println(z.RawVector().Data)
	// Output: [1 3 2]
}

func ExampleWhere() {
	mask, x, y, z := vecOf(1, 0, 1), vecOf(1, 2, 3), vecOf(-1, -2, -3), vecOf(0, 0, 0)
	revlinalg.NewWhere(z, mask, x, y).Forward()
	fmt.Println(z.RawVector().Data)
	// Output: [1 -2 3]
}

func ExampleTan() {
	x, y := vecOf(0, math.Pi/4), vecOf(0, 0)
	revlinalg.NewTan(y, x).Forward()
	fmt.Printf("%.4f\n", y.RawVector().Data)
	// Output: [0.0000 1.0000]
}

func ExampleExpm1() {
	x, y := vecOf(1e-12), vecOf(0)
	revlinalg.NewExpm1(y, x).Forward()
	fmt.Printf("%.4e, and %.4e by Exp\n", y.AtVec(0), math.Exp(1e-12)-1)
	// Output: 1.0000e-12, and 1.0001e-12 by Exp
}

func ExampleLog1p() {
	x, y := vecOf(1e-12, -2), vecOf(0, 0)
	fmt.Println(revlinalg.NewLog1p(y, x).Forward())
	// Output: rev: log1p(-2) is not defined or out of range (element 1)
}

func ExampleErf() {
	x, y := vecOf(0, 0.5, 5), vecOf(0, 0, 0)
	revlinalg.NewErf(y, x).Forward()
	fmt.Printf("%.6f\n", y.RawVector().Data)
	// Output: [0.000000 0.520500 1.000000]
}

func ExampleCumSum() {
	x, y, gx := vecOf(1, 2, 3), vecOf(0, 0, 0), vecOf(0, 0, 0)
	revlinalg.NewCumSum(y, x).Forward()
	fmt.Println(y.RawVector().Data)
	revlinalg.NewCumSum(y, x).Adjoint(revlinalg.NewCumSum(vecOf(1, 10, 100), gx))
	fmt.Println(gx.RawVector().Data)
	// Output:
	// [1 3 6]
	// [111 110 100]
}
