package revlinalg_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"revnum/internal/byname"
	"revnum/internal/kerneltest"
	"revnum/rev"
	"revnum/revlinalg"
)

// TestPieces compares kernels of more elements than they work on at a time with the same kernels
// of a few elements each.
func TestPieces(t *testing.T) {
	const n = 2*4096 + 5
	rnd := rand.New(rand.NewPCG(31, 9))
	vector := func() rev.Vector[float64] { return kerneltest.Vector[float64](rnd, n) }
	testPieces(t, func() revlinalg.Clip[float64] {
		return revlinalg.Clip[float64]{Y: vector(), X: vector(), Lo: -0.5, Hi: 1}
	})
	testPieces(t, func() revlinalg.MaxElem[float64] {
		return revlinalg.MaxElem[float64]{Z: vector(), X: vector(), Y: vector()}
	})
	testPieces(t, func() revlinalg.MinElem[float64] {
		return revlinalg.MinElem[float64]{Z: vector(), X: vector(), Y: vector()}
	})
	testPieces(t, func() revlinalg.Where[float64] {
		return revlinalg.Where[float64]{Z: vector(), C: vector(), X: vector(), Y: vector()}
	})
	testPieces(t, func() revlinalg.ComplexAbs { return revlinalg.ComplexAbs{Y: vector(), X: kerneltest.Complexes(rnd, n)} })
}

func testPieces[K rev.Kernel[K]](t *testing.T, draw func() K) {
	whole := [4]K{draw(), draw(), draw(), draw()}
	var copies [4]K
	for i := range whole {
		copies[i] = whole[i]
		eachVector(&copies[i], func(v reflect.Value) {
			data := v.FieldByName("Data")
			data.Set(reflect.AppendSlice(reflect.MakeSlice(data.Type(), 0, data.Len()), data))
		})
	}
	if err := byname.Run("AdjointTangent", &whole[0], &whole[1], &whole[2], &whole[3]); err != nil {
		t.Fatal(err)
	}
	for lo, n := 0, 1; n > 0; lo += n {
		var part [4]K
		for i := range part {
			part[i] = copies[i]
			eachVector(&part[i], func(v reflect.Value) {
				n = min(23, v.FieldByName("Data").Len()-lo)
				v.FieldByName("Data").Set(v.FieldByName("Data").Slice(lo, lo+n))
				v.FieldByName("N").SetInt(int64(n))
			})
		}
		if err := byname.Run("AdjointTangent", &part[0], &part[1], &part[2], &part[3]); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole {
		var got, want []any
		eachVector(&whole[i], func(v reflect.Value) { got = append(got, v.FieldByName("Data").Interface()) })
		eachVector(&copies[i], func(v reflect.Value) { want = append(want, v.FieldByName("Data").Interface()) })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%T: pieces make other bits in argument %d", whole[i], i)
		}
	}
}

// eachVector calls visit for each vector of a kernel.
func eachVector[K any](k *K, visit func(v reflect.Value)) {
	s := reflect.ValueOf(k).Elem()
	for i := range s.NumField() {
		if f := s.Field(i); f.Kind() == reflect.Struct {
			visit(f)
		}
	}
}
