package sample

import "testing"

func TestSum(t *testing.T) {
	if got := Sum([]float64{1, -2, 3}); got != 4 {
		t.Error(got)
	}
	if got := Sum([]int{7}); got != 7 {
		t.Error(got)
	}
}

func TestMiddle(t *testing.T) {
	if Middle(2, 8) != 5 || Middle(9, 2) != 5 || Same(3) != 3 || Sign(1) != 1 || Sign(5) != 1 || Sign(-5) != -1 || !panics() {
		t.Error(Middle(2, 8), Middle(9, 2))
	}
}

func panics() (ok bool) {
	defer func() { ok = recover() != nil }()
	Sign(0)
	return false
}
