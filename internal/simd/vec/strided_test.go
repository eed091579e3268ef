package vec

import (
	"slices"
	"testing"
)

func TestStrided(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7}
	if got := Packed(nil, x, 1, 2, 3); &got[0] != &x[2] || len(got) != 3 {
		t.Errorf("of a vector without gaps: %v, want elements of x itself", got)
	}
	if got := Packed(make([]float64, 4), x, 2, 1, 3); !slices.Equal(got, []float64{3, 5, 7}) {
		t.Errorf("of a vector with gaps: %v, want 3 5 7", got)
	}
	for inc, want := range map[int][]float64{1: {1, 2, 23, 34, 5, 6, 7}, 3: {1, 2, 3, 4, 5, 6, 27}} {
		y := slices.Clone(x)
		AxpyInc(10, []float64{2, 3}[:3-(inc+1)/2], y, inc, 2)
		if !slices.Equal(y, want) {
			t.Errorf("AxpyInc with increment %d leaves %v, want %v", inc, y, want)
		}
	}
}
