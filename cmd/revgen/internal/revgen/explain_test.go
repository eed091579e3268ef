package revgen

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	got, err := Explain("examples", "norm2")
	if err != nil {
		t.Fatal(err)
	}
	want := `norm2 reads x, adds to out.

# Forward

    s = 0
    for i = 0, ..., len(x) - 1:
        v = x[i]
        s += v²
    out += √s

# Adjoint, where x̄ is the derivative of the result by x

    s = 0
    for i = 0, ..., len(x) - 1:
        v = x[i]
        s += v²
    sqrt = √s
    out ∓= sqrt
    p = 2·(ōut/(2·sqrt))
    for i = 0, ..., len(x) - 1:
        v = x[i]
        x̄[i] += p·v

Here ∓ is - in the backward pass, and + where value and gradient are computed in one pass.

# The flow of data, and dotted the flow of derivatives

` + "```mermaid" + `
flowchart LR
    n0("s")
    n1("v")
    n2["x"]
    n3["out"]
    n2 --> n1
    n1 -.-> n2
    n1 --> n0
    n0 -.-> n1
    n0 --> n3
    n3 -.-> n0
` + "```\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for function, want := range map[string]string{
		"rotate":    "rotate reads theta, transforms x in place.",
		"bessel":    "while ",
		"permute":   "x[i] ↔ x[j]",
		"recurrent": "← what was kept",
	} {
		dir := "examples"
		if function == "permute" || function == "recurrent" {
			dir = "testdata/corner"
		}
		if got, err := Explain(dir, function); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q in\n%s", function, err, want, got)
		}
	}
	if _, err := Explain("examples", "sigmoid"); err == nil || !strings.Contains(err.Error(), "no function sigmoid has the comment") {
		t.Errorf("sigmoid: %v", err)
	}
}
