package beam

import (
	"errors"
	"fmt"
	"reflect"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"revnum/cluster"
)

// A Vector is an element of a collection of lists of numbers.
type Vector struct{ X []float64 }

// SumsFn is a CombineFn that adds up Vectors of equal lengths. It rounds only the final
// sums, so their bits do not depend on the order.
type SumsFn struct{}

func init() {
	register.Combiner3[*cluster.Sums, Vector, Vector](&SumsFn{})
	sdk.RegisterType(reflect.TypeFor[Vector]())
	sdk.RegisterCoder(reflect.TypeFor[*cluster.Sums](), encodeSums, decodeSums)
}

func encodeSums(s *cluster.Sums) ([]byte, error) { return s.MarshalBinary() }

func decodeSums(b []byte) (*cluster.Sums, error) {
	s := new(cluster.Sums)
	return s, s.UnmarshalBinary(b)
}

// CreateAccumulator returns empty sums. Their number is the length of the first Vector.
func (*SumsFn) CreateAccumulator() *cluster.Sums { return cluster.NewSums(0) }

// AddInput adds a Vector.
func (*SumsFn) AddInput(s *cluster.Sums, v Vector) (*cluster.Sums, error) {
	if s.Len() == 0 {
		s = cluster.NewSums(len(v.X))
	}
	if len(v.X) != s.Len() {
		return nil, fmt.Errorf("beam: a Vector of %d numbers, expected %d", len(v.X), s.Len())
	}
	s.Add(v.X)
	return s, nil
}

// MergeAccumulators adds sums.
func (*SumsFn) MergeAccumulators(s, t *cluster.Sums) (*cluster.Sums, error) {
	switch {
	case s.Len() == 0:
		return t, nil
	case t.Len() == 0:
		return s, nil
	case s.Len() != t.Len():
		return nil, errors.New("beam: Vectors of different lengths")
	}
	s.Merge(t)
	return s, nil
}

// ExtractOutput rounds the sums.
func (*SumsFn) ExtractOutput(s *cluster.Sums) Vector {
	v := Vector{make([]float64, s.Len())}
	s.RoundTo(v.X)
	return v
}
