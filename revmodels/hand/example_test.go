package hand_test

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/hand"
)

// straight returns a hand whose bones are a unit apart along y, each in the place of its
// parent for the first of a finger, with a vertex at the end of each finger.
func straight() (*hand.Model, error) {
	along := hand.Affine{{1}, {1: 1, 3: 1}, {2: 1}}
	var bones []hand.Bone
	var tips []hand.Vertex
	for i := range hand.Bones {
		b := hand.Bone{Parent: i - 1, Relative: along, InverseBase: along}
		if i%4 == 1 {
			b.Parent = 0
		}
		height := 1.
		if i > 0 {
			height = 2 + float64((i-1)%4)
		}
		b.InverseBase[1][3] = -height
		bones = append(bones, b)
		if i > 0 && i%4 == 0 {
			tips = append(tips, hand.Vertex{Position: [3]float64{0, 6, 0}, Weights: []hand.Weight{{Bone: i, Value: 1}}})
		}
	}
	return hand.NewModel(bones, tips, nil, false)
}

// The second finger is measured with its last bone bent by a right angle. At rest, the
// derivative says which angle to change.
func ExampleResiduals() {
	m, err := straight()
	if err != nil {
		fmt.Println(err)
		return
	}
	const tip, angle = 1, 6 + 4*1 + 3 // the second finger, its last angle
	r, theta := mat.NewVecDense(3, nil), mat.NewVecDense(hand.Params, nil)
	point := mat.NewDense(1, 3, []float64{0, 5, 1})
	k := hand.NewResiduals(r, theta, nil, point, []int{tip}, m)
	j := rev.NewGeneral[float64](3, k.Columns(), nil)
	k.Jacobian(j)
	fmt.Println("at rest:", r.RawVector().Data, "by the last angle:", j.Row(0)[angle], j.Row(1)[angle], j.Row(2)[angle])

	theta.SetVec(angle, math.Pi/2)
	r.Zero()
	k.Forward()
	fmt.Printf("bent: %.0f away\n", mat.Norm(r, 2))
	// Output:
	// at rest: [0 -1 1] by the last angle: 0 0 -1
	// bent: 0 away
}
