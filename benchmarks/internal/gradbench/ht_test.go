package gradbench

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

// htInput is a problem whose bones all have the same place. The vertex (1, 0, 0)
// belongs to the wrist, and (0, 1, 0) to the second bone of the thumb.
func htInput(us string) string {
	const identity = "[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"
	list := func(s string) string { return "[" + strings.Repeat(s+",", 20) + s + "]" }
	weights := func(bone int) string {
		w := make([]int, 21)
		w[bone] = 1
		b, _ := json.Marshal(w)
		return string(b)
	}
	return fmt.Sprintf(`{"theta":[0,0,0,0.5,0,0,0.25,0%s],"us":%s,"data":{"model":{"bone_count":21,"bone_names":%s,"parents":%s,`+
		`"base_relatives":%s,"inverse_base_absolutes":%s,"base_positions":[[1,0,0,1],[0,1,0,1]],"weights":[%s,%s],`+
		`"triangles":[[0,1,1]],"is_mirrored":false},"correspondences":[%s],"points":[[2,2,2]]}}`,
		strings.Repeat(",0", 18), us, list(`"bone"`), list("-1"), list(identity), list(identity), weights(0), weights(2),
		map[bool]string{true: "1", false: "0"}[us == "[]"])
}

func TestHT(t *testing.T) {
	// The thumb is bent by 0.25 about x.
	sin, cos := math.Sincos(0.25)
	ask := func(us string) []answered {
		return talk(t, `{"id":1,"kind":"evaluate","module":"ht","function":"objective","input":`+htInput(us)+`}`,
			`{"id":2,"kind":"evaluate","module":"ht","function":"jacobian","input":`+htInput(us)+`}`)
	}
	check := func(a []answered, f [3]float64, columns int, byAngle [3]float64) [][]float64 {
		t.Helper()
		var r []float64
		if err := json.Unmarshal(a[0].Output, &r); err != nil {
			t.Fatal(err, a[0].Error)
		}
		var j [][]float64
		if err := json.Unmarshal(a[1].Output, &j); err != nil {
			t.Fatal(err, a[1].Error)
		}
		if len(r) != 3 || len(j) != 3 {
			t.Fatalf("%d residuals, %d rows, want 3", len(r), len(j))
		}
		for d := range 3 {
			if !(math.Abs(r[d]-f[d]) <= 1e-15) {
				t.Errorf("residual %d is %v, want %v", d, r[d], f[d])
			}
			if len(j[d]) != columns || !(math.Abs(j[d][columns-20]-byAngle[d]) <= 1e-15) {
				t.Errorf("row %d is %v, want %d columns and %v by the angle", d, j[d], columns, byAngle[d])
			}
		}
		return j
	}
	check(ask("[]"), [3]float64{1.5, 2 - cos, 2 - sin}, 26, [3]float64{0, sin, -cos})
	j := check(ask("[[0.25,0.5]]"), [3]float64{1.25, 2 - 0.75*cos, 2 - 0.75*sin}, 28, [3]float64{0, 0.75 * sin, -0.75 * cos})
	if j[0][0] != -1 || j[1][0] != cos || j[0][1] != 0 {
		t.Errorf("by u and v: %v, %v", j[0][:2], j[1][:2])
	}
}

func TestHTErrors(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{`"theta":[0,`, `"theta":[`, "theta: expected 26 numbers, found 25"},
		{`"parents":[-1,`, `"parents":[`, "base_relatives: expected a matrix for each of 20 parents, found 21"},
		{`"parents":[-1,`, `"parents":[3,`, "bone 0: expected as parent -1 or an earlier bone, found 3"},
		{"[0,0,0,1]]", "[0,0,1,1]]", "base_relatives[0]: expected four rows, the last 0, 0, 0, 1"},
		{"[[1,0,0,0]", "[[0,0,0,0]", "bone 0: expected a relative transform that has an inverse"},
		{"[1,0,0,1]", "[1,0,0,2]", "base_positions[0]: expected 1 as the last number, found 2"},
		{"[1,0,0,1]", "[1,0,1]", "base_positions[0]: expected 4 numbers, found 3"},
		{"[0,1,1]", "[0,1]", "triangles[0]: expected 3 vertices, found 2"},
		{"[0,1,1]", "[0,1,2]", "triangle 0: expected vertices from 0 to 1, found 2"},
		{`"correspondences":[0]`, `"correspondences":[1]`, "correspondences[0]: expected 0 to 0, found 1"},
		{`"correspondences":[0]`, `"correspondences":[]`, `the field "correspondences" is missing`},
		{"[[2,2,2]]", "[[2,2,2],[1,1,1]]", "points: expected 1 rows, found 2"},
		{"[[2,2,2]]", "[[2,null,2]]", "expected a number as entry 1"},
		{"[[0.25,0.5]]", "[[0.25,0.5],[0,0]]", "us: expected 1 rows, found 2"},
		{"[[0.25,0.5]]", "[[0.25]]", "us[0]: expected 2 numbers, found 1"},
	} {
		in := htInput("[[0.25,0.5]]")
		if !strings.Contains(in, c.from) {
			t.Fatal(c.from)
		}
		a := talk(t, `{"id":1,"kind":"evaluate","module":"ht","function":"objective","input":`+strings.Replace(in, c.from, c.to, 1)+`}`)
		if !strings.Contains(a[0].Error, c.want) {
			t.Errorf("%s: error %q, want %s", c.to, a[0].Error, c.want)
		}
	}
}
