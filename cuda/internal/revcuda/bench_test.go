package revcuda

import (
	"strings"
	"testing"

	"revnum/cuda"
)

func TestWrite(t *testing.T) {
	rates := []cuda.Rate{{Name: "Dot Forward", Seconds: 1e-3, Bytes: 2e9, Peak: 0.75, Of: "copy"}, {Name: "MatMul Forward", Seconds: 2e-3, Flops: 3e9, Peak: 0.5, Of: "multiply-add on tensor cores", Sizes: map[string]int{"n": 64}}}
	for _, asJSON := range []bool{false, true} {
		var out strings.Builder
		if err := write(&out, cuda.Properties{Name: "card", Capability: 90}, "q43", rates, asJSON); err != nil {
			t.Fatal(err)
		}
		want := []string{"card, compute capability 9.0, q43\n", "2000.0", "1500.0", "0.75  ", "0.50  multiply-add on tensor cores"}
		if asJSON {
			want = []string{`"device": "card"`, `"type": "q43"`, `"peak": 0.75`, `"of": "copy"`, `"n": 64`}
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("no %q in\n%s", w, out.String())
			}
		}
	}
}
