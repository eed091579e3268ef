package revgen

import (
	"regexp"
	"strings"
	"testing"
)

// What a branch computes is kept for the backward pass under one name, and the sine and the cosine
// come from one call.
func TestBranches(t *testing.T) {
	text := passOf(t, testImporter(t), "adjoint", "y, x []float64", `for i, v := range x {
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
	// The cotangents of a and b are not needed after the second branch.
	if zeros := regexp.MustCompile(`(?m)^\s*g[ab] = 0$`).FindAllString(text, -1); zeros != nil {
		t.Errorf("a last value that nothing reads: %q in\n%s", zeros, text)
	}
}

// In a loop the last value of a cotangent is that of the next iteration.
func TestOverwritten(t *testing.T) {
	text := passOf(t, testImporter(t), "adjoint", "y *float64, x []float64", `s := 1.0
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
	text := passOf(t, testImporter(t), "value", "y *float64, x []float64", `for _, v := range x {
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

// What is written is as a person would write it.
func TestTidy(t *testing.T) {
	imports := testImporter(t)
	for _, c := range []struct {
		head, body string
		has, lacks []string
	}{
		// Newton's method for Kepler's equation.
		{
			"(out *float64, m, ecc float64)", "e := m\nfor range 8 {\nf := e - ecc*math.Sin(e) - m\ne -= f / (1 - ecc*math.Cos(e))\n}\n*out += e",
			[]string{"e -= num.Quotient(f, s)", "// An iteration needs e from the one before."},
			[]string{"2**"},
		},
		// A model of infections by a method of second order.
		{
			"(loss *float64, y, i0, beta float64, n int)", "a, b := y, i0\nfor range n {\nk := beta * a * b\nl := beta * (a - k/2) * (b + k/2)\na -= l\nb += l\n}\n*loss += b * b",
			[]string{"a -= l", "b += l", "// An iteration needs a and b from the one before."},
			[]string{"2**"},
		},
		// The equation of heat: rows and their lengths.
		{
			"(u [][]float64, alpha float64)", "for t := range len(u) - 1 {\nfor i := 1; i < len(u[t])-1; i++ {\nu[t+1][i] += u[t][i] + alpha*(u[t][i-1]-2*u[t][i]+u[t][i+1])\n}\n}\nu[2][0] += u[1][0] * u[0][0]",
			[]string{"for i := m - 2; i >= 1; i-- {", "u3[0] += fixed.Product(u1[0], u2[0])", ":= u[:m]", ":= u[k.U.Stride:][:m]", ":= u[2*k.U.Stride:][:m]"},
			[]string{"- 1 - 1", "[0*", "[1*", "-- {\n\t\t\tu1"},
		},
		// Branches, and squares.
		{
			"(loss *float64, x []float64)", "for _, v := range x {\n*loss += loss1(v)\n}",
			[]string{"result = fixed.Product(fixed.Of[T](0.5), fixed.Product(v, v))"},
			[]string{"result1 = fixed.Product", "2*fixed.Product(fixed.Of[T](0.5)"},
		},
		{
			"(y, x []float64)", "for i, v := range x {\ny[i] += math.Pow(v, 2) + math.Pow(v, 3) + math.Pow(v, 2.5)\n}",
			[]string{"2*v", "fixed.Product(v, v)", "num.Pow(v, fixed.Of[T](1.5))"},
			[]string{"- fixed.Of[T](1)", "num.Pow(v, fixed.Of[T](1))"},
		},
	} {
		text, err := construct{head: c.head, body: c.body}.generated(t, imports)
		if err != nil {
			t.Errorf("%s: %v", c.body, err)
			continue
		}
		for _, s := range c.has {
			if !strings.Contains(text, s) {
				t.Errorf("%s\nhas no %q:\n%s", c.body, s, text)
			}
		}
		for _, s := range c.lacks {
			if strings.Contains(text, s) {
				t.Errorf("%s\nhas %q:\n%s", c.body, s, text)
			}
		}
	}
}
