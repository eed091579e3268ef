package num_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"revnum/rev/num"
)

// The rows x[i]² - x[i+1] have two columns each, so two products are enough. The last one has no x[i+1].
func ExamplePattern() {
	x := []float64{1, 2, 3, 4, 5}
	p := num.NewPattern(len(x), len(x))
	defer p.Free()
	columns, rows := p.Columns(), p.Rows()
	for i := range x {
		p.Group()
		p.Read(columns[i])
		p.ReadAt(columns, i+1)
		p.WriteAt(rows, i)
	}
	p.Shared()
	fmt.Println(p.Colors(), "products")
	var j mat.Dense
	j.ReuseAs(len(x), len(x))
	p.Dense(&j, func(column, v []float64) {
		for i := range x {
			column[i] = 2 * x[i] * v[i]
			if i+1 < len(x) {
				column[i] -= v[i+1]
			}
		}
	}, nil)
	fmt.Println(mat.Formatted(&j))
	// Output:
	// 2 products
	// ⎡ 2  -1   0   0   0⎤
	// ⎢ 0   4  -1   0   0⎥
	// ⎢ 0   0   6  -1   0⎥
	// ⎢ 0   0   0   8  -1⎥
	// ⎣ 0   0   0   0  10⎦
}
