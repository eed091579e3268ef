package revgen

import (
	"regexp"
	"strings"
	"testing"
)

// What a branch computes is kept for the way back under one name, and the sine and the cosine
// come from one call.
func TestBranches(t *testing.T) {
	text := passOf(t, "adjoint", "y, x []float64", `for i, v := range x {
		var a, b float64
		if v > 1 {
			sn, cs := math.Sincos(v)
			a, b = sn/v, (1-cs)/v
		} else {
			a, b = v, v/2
		}
		y[i] += a * b
	}`)
	if strings.Count(text, "= num.Sincos(") != 1 || strings.Contains(text, "num.Sin(") || strings.Contains(text, "num.Cos(") {
		t.Errorf("sine and cosine are not from one call:\n%s", text)
	}
	if copies := regexp.MustCompile(`(?m)^\s*(\w+) := \w+\n\s*\w+ = (\w+)$`).FindAllString(text, -1); copies != nil {
		t.Errorf("copies of copies: %q in\n%s", copies, text)
	}
	if vars := strings.Count(text, "\tvar "); vars != 7 { // a, b, their parts in the first branch, and v's cotangent
		t.Errorf("%d variables before the branch, want 7:\n%s", vars, text)
	}
	// The cotangents of a and b are not needed behind the second branch.
	if zeros := regexp.MustCompile(`(?m)^\s*g[ab] = 0$`).FindAllString(text, -1); zeros != nil {
		t.Errorf("a last value that nothing reads: %q in\n%s", zeros, text)
	}
}

// In a loop the last value of a cotangent is that of the next iteration.
func TestOverwritten(t *testing.T) {
	text := passOf(t, "adjoint", "y *float64, x []float64", `s := 1.0
	for _, v := range x {
		if v > 0 {
			s = math.Sin(v)
		}
		*y += s * s
	}`)
	if !strings.Contains(text, "gs = 0") {
		t.Errorf("the cotangent of s is not cleared where s is set:\n%s", text)
	}
}

// The condition of a loop reads what the iteration has set.
func TestCondition(t *testing.T) {
	text := passOf(t, "value", "y *float64, x []float64", `for _, v := range x {
		s, e := 0.0, 1.0
		for k := 0; e > 0.1 && k < 9; k++ {
			s += e
			e = v / 3
		}
		*y += s
	}`)
	if !strings.Contains(text, "\te = ") {
		t.Errorf("e is not set:\n%s", text)
	}
}
