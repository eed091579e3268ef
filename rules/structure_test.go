package rules

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"gonum.org/v1/gonum/mat"

	"revnum/rev"
	"revnum/revmodels/hand"
)

// TestHand compares the gradient by arrays with that by a model, also of a mirrored one.
func TestHand(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, mirrored := range []bool{false, true} {
		m := randomHand(t, rnd, mirrored)
		for _, surface := range []bool{false, true} {
			const n = 4
			theta, points, uv := normal(rnd, hand.Params), normal(rnd, 3*n), normal(rnd, 2*n)
			at := []int{0, 2, 1, 2}
			bar := normal(rnd, 3*n)

			var uvs, guv *mat.Dense
			if surface {
				uvs, guv = mat.NewDense(n, 2, uv), mat.NewDense(n, 2, nil)
			}
			r, gtheta, gpoints := mat.NewVecDense(3*n, nil), mat.NewVecDense(hand.Params, nil), mat.NewDense(n, 3, nil)
			k := hand.NewResiduals(r, mat.NewVecDense(hand.Params, theta), uvs, mat.NewDense(n, 3, points), at, m)
			if err := rev.Gradient(k, hand.NewResiduals(mat.NewVecDense(3*n, bar), gtheta, guv, gpoints, nil, nil)); err != nil {
				t.Fatal(err)
			}

			rule := lookup(t, "hand.Residuals[float64]")
			uvBuffer := Matrix(rev.NewGeneral[float64](0, 2, nil))
			params := []float64{0}
			if surface {
				uvBuffer, params = Matrix(rev.NewGeneral(n, 2, uv)), []float64{1}
			}
			inputs := append([]Buffer{{}, Slice(theta), uvBuffer, Matrix(rev.NewGeneral(n, 3, points)), Slice(at)}, handArrays(unsafe.Pointer(&m))...)
			out, pullback, err := rule.VJP(inputs, params)
			if err != nil {
				t.Fatal(err)
			}
			g, err := pullback([]Buffer{Slice(bar)})
			if err != nil {
				t.Fatal(err)
			}
			for name, pair := range map[string][2][]float64{
				"R": {Elements[float64](out[0]), r.RawVector().Data}, "Theta": {Elements[float64](g[1]), gtheta.RawVector().Data},
				"Points": {Elements[float64](g[3]), gpoints.RawMatrix().Data},
			} {
				if !reflect.DeepEqual(pair[0], pair[1]) {
					t.Errorf("mirrored %v, surface %v: %s is %v, want %v", mirrored, surface, name, pair[0], pair[1])
				}
			}
			if surface && !reflect.DeepEqual(Elements[float64](g[2]), guv.RawMatrix().Data) {
				t.Errorf("mirrored %v: the gradient of UV is %v, want %v", mirrored, Elements[float64](g[2]), guv.RawMatrix().Data)
			}
			for i, b := range g[4:] {
				if b.Data != nil {
					t.Errorf("%s has a gradient", rule.Operands[4+i].Name)
				}
			}
		}
	}
}

// TestHandMisuse gives arrays that are no hand.
func TestHandMisuse(t *testing.T) {
	m := randomHand(t, rand.New(rand.NewPCG(3, 4)), false)
	rule := lookup(t, "hand.Residuals[float64]")
	for want, spoil := range map[string]func(b []Buffer){
		"Relative is 21×11, want 21×12":                  func(b []Buffer) { b[1].Shape[1] = 11 },
		"InverseBase is 20×12, want 21×12":               func(b []Buffer) { b[2].Shape[0] = 20 },
		"Positions has 3 rows with a stride of 9 in 9":   func(b []Buffer) { b[3].Stride[0] = 9 },
		"Weights is 3×20, want 3×21":                     func(b []Buffer) { b[4].Shape[1] = 20 },
		"Triangles has elements of float64, want int":    func(b []Buffer) { b[5] = b[3] },
		"Parents has 2 axes, want 1":                     func(b []Buffer) { b[0] = b[5] },
		"Parents of hand.Residuals[float64] is left out": func(b []Buffer) { b[0] = Buffer{} },
		"bone 3: expected as parent -1 or an earlier":    func(b []Buffer) { Elements[int](b[0])[3] = 7 },
		"triangle 1: expected vertices from 0 to 2":      func(b []Buffer) { Elements[int](b[5])[4] = 3 },
		"bone 0: expected a relative transform that ha":  func(b []Buffer) { clear(Elements[float64](b[1])) },
		"at least 21 bones, found 0":                     func(b []Buffer) { b[0] = Slice([]int{}); b[1].Shape[0], b[2].Shape[0], b[4].Shape = 0, 0, [2]int{3, 0} },
	} {
		arrays := handArrays(unsafe.Pointer(&m))
		spoil(arrays)
		x := make([]float64, hand.Params)
		err := rule.Call(Forward, Args{Operands: append([]Buffer{
			Slice(make([]float64, 3)), Slice(x), Matrix(rev.NewGeneral[float64](0, 2, nil)), Matrix(rev.NewGeneral(1, 3, x[:3])), Slice([]int{0}),
		}, arrays...)})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "hand.Residuals[float64]") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func normal(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

// randomHand returns a hand of three vertices and three triangles.
func randomHand(t *testing.T, rnd *rand.Rand, mirrored bool) *hand.Model {
	bones := make([]hand.Bone, hand.Bones)
	for i := range bones {
		bones[i] = hand.Bone{Name: fmt.Sprint(i), Parent: i - 1, Relative: affine(normal(rnd, 12)), InverseBase: affine(normal(rnd, 12))}
		if i == 5 {
			bones[i].Parent = -1
		}
	}
	vertices := make([]hand.Vertex, 3)
	for i := range vertices {
		vertices[i] = hand.Vertex{Position: [3]float64(normal(rnd, 3)), Weights: []hand.Weight{{Bone: i, Value: 0.25}, {Bone: 4 + 5*i, Value: 0.75}}}
	}
	m, err := hand.NewModel(bones, vertices, [][3]int{{0, 1, 2}, {2, 1, 0}, {1, 1, 2}}, mirrored)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
