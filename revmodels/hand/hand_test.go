package hand

import (
	"errors"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/fixed"
	"revnum/rev"
	"revnum/rev/revtest"
)

// randomModel returns a model whose bones have bases of their own, and whose vertices hang
// on one to four of them.
func randomModel(rnd *rand.Rand, vertices int, mirrored bool) *Model {
	transform := func() (a Affine) {
		r, _ := rotation([3]float64{rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()})
		for i := range a {
			copy(a[i][:], r[i][:])
			a[i][i] += 0.2 * rnd.Float64() // not quite a rotation
			a[i][3] = rnd.NormFloat64()
		}
		return a
	}
	var bones []Bone
	for i := range Bones + 1 {
		parent := i - 1
		switch {
		case i == Bones:
			parent = 8 // the last bone of a finger
		case i%4 == 1:
			parent = 0
		}
		bones = append(bones, Bone{Parent: parent, Relative: transform(), InverseBase: transform()})
	}
	skin := make([]Vertex, vertices)
	for i := range skin {
		skin[i].Position = [3]float64{rnd.NormFloat64(), rnd.NormFloat64(), rnd.NormFloat64()}
		for range 1 + rnd.IntN(4) {
			skin[i].Weights = append(skin[i].Weights, Weight{rnd.IntN(len(bones)), rnd.Float64()})
		}
	}
	triangles := make([][3]int, vertices)
	for i := range triangles {
		triangles[i] = [3]int{rnd.IntN(vertices), rnd.IntN(vertices), rnd.IntN(vertices)}
	}
	m, err := NewModel(bones, skin, triangles, mirrored)
	if err != nil {
		panic(err)
	}
	return m
}

func random[T rev.Real](rnd *rand.Rand, m *Model, n int, surface bool) Residuals[T] {
	matrix := func(r, c int) rev.General[T] {
		x := rev.NewGeneral[T](r, c, nil)
		for i := range x.Data {
			x.Data[i] = fixed.Of[T](rnd.NormFloat64())
		}
		return x
	}
	k := Residuals[T]{
		R: rev.ViewSlice(matrix(3*n, 1).Data), Theta: rev.ViewSlice(matrix(Params, 1).Data), UV: matrix(0, 2),
		Points: matrix(n, 3), Correspondences: make([]int, n), Surface: surface, Model: m,
	}
	if surface {
		k.UV = matrix(n, 2)
	}
	for i := range n {
		k.Correspondences[i] = rnd.IntN(m.Vertices())
	}
	return k
}

func TestConformance(t *testing.T) {
	t.Run("float64", func(t *testing.T) { conformance[float64](t) })
	t.Run("float32", func(t *testing.T) { conformance[float32](t) })
	t.Run("Q43", func(t *testing.T) { conformance[fixed.Q43](t) })
}

func conformance[T rev.Real](t *testing.T) {
	for name, surface := range map[string]bool{"vertices": false, "surface": true} {
		t.Run(name, func(t *testing.T) {
			revtest.Kernel(t, revtest.Spec[Residuals[T]]{
				New: func(rnd *rand.Rand, size int) Residuals[T] {
					return random[T](rnd, randomModel(rnd, size+1, size%2 == 1), size, surface)
				},
				Masked: []string{"Theta"}, // fingers may have no vertex in use
			})
		})
	}
}

// plain returns p - x of all points, by 4×4 products.
func plain(k *Residuals[float64]) (r []float64) {
	theta := make([]complex128, Params)
	for i, v := range k.Theta.Data {
		theta[i] = complex(v, 0)
	}
	for _, v := range plainAt(k, theta) {
		r = append(r, real(v))
	}
	return r
}

// plainAt is plain for complex parameters. With a tiny imaginary part of one of them, the
// imaginary parts of the result are derivatives, and no digits cancel.
func plainAt(k *Residuals[float64], theta []complex128) (r []complex128) {
	type matrix [4][4]complex128
	mul := func(a, b matrix) (c matrix) {
		for i := range 4 {
			for j := range 4 {
				for l := range 4 {
					c[i][j] += a[i][l] * b[l][j]
				}
			}
		}
		return c
	}
	full := func(a Affine) (m matrix) {
		for i := range a {
			for j, v := range a[i] {
				m[i][j] = complex(v, 0)
			}
		}
		m[3][3] = 1
		return m
	}
	m := k.Model
	var absolute []matrix
	for i, b := range m.bones {
		x := full(b.Relative)
		if i > 0 && i < Bones && i%4 != 1 {
			p := 6 + (i-2)/4*4
			var flex, side complex128
			switch (i - 2) % 4 {
			case 0:
				flex, side = theta[p], theta[p+1]
			case 1:
				flex = theta[p+2]
			case 2:
				flex = theta[p+3]
			}
			rx := matrix{{1}, {0, cmplx.Cos(flex), -cmplx.Sin(flex)}, {0, cmplx.Sin(flex), cmplx.Cos(flex)}, {3: 1}}
			rz := matrix{{cmplx.Cos(side), -cmplx.Sin(side)}, {cmplx.Sin(side), cmplx.Cos(side)}, {2: 1}, {3: 1}}
			x = mul(x, mul(rz, rx))
		}
		if b.Parent >= 0 {
			x = mul(absolute[b.Parent], x)
		}
		absolute = append(absolute, x)
	}
	norm := cmplx.Sqrt(theta[0]*theta[0] + theta[1]*theta[1] + theta[2]*theta[2])
	place := func(vertex int) (x [3]complex128) {
		v := m.vertices[vertex]
		var y [3]complex128
		for _, w := range v.Weights {
			t := mul(absolute[w.Bone], full(m.bones[w.Bone].InverseBase))
			for i := range y {
				y[i] += complex(w.Value, 0) * (t[i][0]*complex(v.Position[0], 0) + t[i][1]*complex(v.Position[1], 0) + t[i][2]*complex(v.Position[2], 0) + t[i][3])
			}
		}
		if m.mirrored {
			y[0] = -y[0]
		}
		// Rodrigues' formula.
		var axis, cross [3]complex128
		dot := complex128(0)
		for i := range axis {
			axis[i] = theta[i] / norm
			dot += axis[i] * y[i]
		}
		for i := range axis {
			cross[i] = axis[(i+1)%3]*y[(i+2)%3] - axis[(i+2)%3]*y[(i+1)%3]
			x[i] = cmplx.Cos(norm)*y[i] + (1-cmplx.Cos(norm))*dot*axis[i]
		}
		for i := range x {
			x[i] += cmplx.Sin(norm)*cross[i] + theta[3+i]
		}
		return x
	}
	for i, c := range k.Correspondences {
		x := [3]complex128{}
		if k.Surface {
			u := k.UV.Row(i)
			for a, w := range []float64{u[0], u[1], 1 - u[0] - u[1]} {
				for d, v := range place(m.triangles[c][a]) {
					x[d] += complex(w, 0) * v
				}
			}
		} else {
			x = place(c)
		}
		for d, p := range k.Points.Row(i) {
			r = append(r, complex(p, 0)-x[d])
		}
	}
	return r
}

// Derivatives are accurate for bones whose transforms are ill-conditioned: none is inverted.
func TestIllConditionedBones(t *testing.T) {
	const flat, step = 1e-4, 1e-40
	rnd := rand.New(rand.NewPCG(3, 4))
	m := randomModel(rnd, 20, false)
	for i := range m.bones {
		for j := range 3 {
			m.bones[i].Relative[j][2] *= flat
			m.bones[i].InverseBase[2][j] /= flat
		}
		m.bones[i].InverseBase[2][3] /= flat
	}
	k := random[float64](rnd, m, 30, false)
	j := rev.NewGeneral[float64](90, k.Columns(), nil)
	k.Jacobian(j)
	for p := range Params {
		theta := make([]complex128, Params)
		for i, v := range k.Theta.Data {
			theta[i] = complex(v, 0)
		}
		theta[p] += step * 1i
		for i, v := range plainAt(&k, theta) {
			if got, want := j.Row(i)[p], imag(v)/step; !(math.Abs(got-want) <= 1e-11*math.Abs(want)) {
				t.Errorf("derivative %d of residual %d: %v, want %v", p, i, got, want)
			}
		}
	}
}

func TestValueAndJacobian(t *testing.T) {
	for _, surface := range []bool{false, true} {
		rnd := rand.New(rand.NewPCG(1, 2))
		k := random[float64](rnd, randomModel(rnd, 20, surface), 30, surface)
		clear(k.R.Data)
		j := rev.NewGeneral[float64](90, k.Columns(), nil)
		for i := range j.Data {
			j.Data[i] = math.NaN()
		}
		k.Jacobian(j)
		near(t, "residual", k.R.Data, plain(&k), 1e-12)
		for p := range Params {
			const h = 1e-4
			at := func(d float64) []float64 {
				v := k.Theta.Data[p]
				defer func() { k.Theta.Data[p] = v }()
				k.Theta.Data[p] += d
				return plain(&k)
			}
			a, b, c, e := at(h), at(-h), at(2*h), at(-2*h)
			got, want := make([]float64, len(a)), make([]float64, len(a))
			for i := range a {
				want[i] = (8*(a[i]-b[i]) - (c[i] - e[i])) / (12 * h)
				got[i] = j.Row(i)[j.Cols-Params+p]
			}
			near(t, "column", got, want, 1e-9)
		}
		if surface {
			for i := range 30 {
				for e := range 2 {
					k.UV.Row(i)[e]++
					up := plain(&k)
					k.UV.Row(i)[e]--
					for d := range 3 {
						near(t, "u or v", []float64{j.Row(3*i + d)[e]}, []float64{up[3*i+d] - k.R.Data[3*i+d]}, 1e-11)
					}
				}
			}
		}
		k.Theta.N--
		func() {
			defer func() {
				if v, _ := recover().(error); !errors.Is(v, mat.ErrShape) {
					t.Errorf("%d parameters: Jacobian panics with %v", k.Theta.N, v)
				}
			}()
			k.Jacobian(j)
		}()
	}
}

func near(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

// The rotation and its derivatives agree on both sides of the end of the series, and
// are right at 0.
func TestRotation(t *testing.T) {
	_, d := rotation([3]float64{})
	if d[2] != ([3][3]float64{{0, -1}, {1}}) {
		t.Errorf("derivative by the third at 0: %v", d[2])
	}
	below, above := math.Sqrt(1e-3)*(1-1e-15), math.Sqrt(1e-3)*(1+1e-15)
	ma, da := rotation([3]float64{0, 0.6 * below, 0.8 * below})
	mb, db := rotation([3]float64{0, 0.6 * above, 0.8 * above})
	for i := range 3 {
		near(t, "rotation", ma[i][:], mb[i][:], 1e-15)
		for k := range 3 {
			near(t, "derivative", da[k][i][:], db[k][i][:], 1e-12)
		}
	}

	// The coefficients of the series that define them.
	for _, x := range []float64{0, 1e-5, 3e-4, 9.99e-4} {
		a, b, da, db := coefficients(x)
		var want [4]float64
		for k := 9.; k >= 0; k-- {
			odd, even := math.Gamma(2*k+2), math.Gamma(2*k+3) // (2k+1)! and (2k+2)!
			for i, c := range []float64{1 / odd, 1 / even, -1 / odd / (2*k + 3), -1 / even * (2*k + 2) / (2*k + 3) / (2*k + 4)} {
				want[i] = c - x*want[i]
			}
		}
		for i, got := range []float64{a, b, da, db} {
			if !(math.Abs(got-want[i]) <= 2e-16*math.Abs(want[i])) {
				t.Errorf("coefficient %d of the rotation by √%v is %v, want %v", i, x, got, want[i])
			}
		}
	}
}

// files returns the files of a model of the least size.
func files() (bones, vertices, triangles string) {
	var b strings.Builder
	for i := range Bones {
		parent := "0"
		if i == 0 {
			parent = "-1"
		}
		b.WriteString("bone:" + parent + strings.Repeat(":1:0:0:0:0:1:0:0:0:0:1:0.5:0:0:0:1", 2) + "\n")
	}
	return b.String(), "1:2:3:0:0:0:0:0:1:2:1.0\n\n4:5:6:0:0:0:0:0:2:1:0.25:20:0.75\n", "0:1:0\n"
}

func TestReadModel(t *testing.T) {
	b, v, f := files()
	m, err := readModel("x/", strings.NewReader(b), strings.NewReader(v), strings.NewReader(f))
	if err != nil {
		t.Fatal(err)
	}
	if m.Vertices() != 2 || m.Triangles() != 1 || m.vertices[1].Weights[1] != (Weight{20, 0.75}) || m.bones[3].Relative[2][3] != 0.5 {
		t.Errorf("model %+v", m)
	}
	for name, c := range map[string]struct{ file, from, to, want string }{
		"no bones":     {"bones", b, "", "x/bones.txt: expected at least 21 bones, found 0"},
		"late parent":  {"bones", "bone:0", "bone:7", "x/bones.txt:2: expected as parent -1 or an earlier bone, found 7"},
		"word":         {"bones", "bone:0", "bone:x", `x/bones.txt:2: expected an integer as field 2, found "x"`},
		"infinite":     {"bones", "bone:0:1", "bone:0:Inf", `x/bones.txt:2: expected a finite number as field 3, found "Inf"`},
		"singular":     {"bones", "bone:0:1", "bone:0:0", "x/bones.txt:2: expected a relative transform that has an inverse"},
		"perspective":  {"bones", "0.5:0:0:0:1", "0.5:0:0:2:1", "x/bones.txt:1: expected 0 in the last row of a transform as field 17, found 2"},
		"short bone":   {"bones", "0.5:0:0:0:1\n", "0.5\n", "x/bones.txt:1: expected another field as field 31, found the end of the line"},
		"long bone":    {"bones", "0.5:0:0:0:1\n", "0.5:0:0:0:1:9\n", `x/bones.txt:1: expected the end of the line as field 35, found "9"`},
		"NaN":          {"vertices", "1:2:3", "1:NaN:3", `x/vertices.txt:1: expected a finite number as field 2, found "NaN"`},
		"ragged":       {"vertices", ":2:1.0", ":2", "x/vertices.txt:1: expected another field as field 11"},
		"no such bone": {"vertices", ":20:", ":21:", "x/vertices.txt:3: expected bones from 0 to 20, found 21"},
		"many weights": {"vertices", "0:1:2:", "0:9223372036854775807:2:", "x/vertices.txt:1: expected another field as field 12"},
		"triangle":     {"triangles", "0:1:0", "0:2:0", "x/triangles.txt:1: expected vertices from 0 to 1, found 2"},
		"short":        {"triangles", "0:1:0", "0:1", "x/triangles.txt:1: expected another field as field 3"},
	} {
		in := map[string]string{"bones": b, "vertices": v, "triangles": f}
		in[c.file] = strings.Replace(in[c.file], c.from, c.to, 1)
		_, err := readModel("x/", strings.NewReader(in["bones"]), strings.NewReader(in["vertices"]), strings.NewReader(in["triangles"]))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	if _, err := LoadModel(t.TempDir()); err == nil || !strings.Contains(err.Error(), "bones.txt") {
		t.Errorf("no files: error %v", err)
	}
}

func TestNewModelErrors(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int)
		want string
	}{
		"bones": {func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int) { return b[:20], v, t }, "at least 21 bones, found 20"},
		"vertex": {func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int) {
			v[1].Position[2] = math.NaN()
			return b, v, t
		}, "vertex 1: expected a finite position"},
		"weight": {func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int) {
			v[2].Weights[0].Value = math.Inf(1)
			return b, v, t
		}, "vertex 2: expected finite weights"},
		"triangle": {func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int) { t[2][1] = -1; return b, v, t }, "triangle 2: expected vertices from 0 to 2, found -1"},
		"plane": {func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int) {
			b[4].Relative = Affine{{1, 2, 3}, {1, 3, 5}, {2, 5, 8}}
			return b, v, t
		}, "bone 4: expected a relative transform that has an inverse, found the determinant 0"},
		"parent": {func(b []Bone, v []Vertex, t [][3]int) ([]Bone, []Vertex, [][3]int) { b[4].Parent = 4; return b, v, t }, "bone 4: expected as parent"},
	} {
		m := randomModel(rand.New(rand.NewPCG(1, 1)), 3, false)
		b, v, tr := c.edit(m.bones, m.vertices, m.triangles)
		if _, err := NewModel(b, v, tr, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

func FuzzReadModel(f *testing.F) {
	b, v, tr := files()
	f.Add(b, v, tr)
	f.Fuzz(func(t *testing.T, b, v, tr string) {
		m, err := readModel("x/", strings.NewReader(b), strings.NewReader(v), strings.NewReader(tr))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x/") {
				t.Errorf("error %v does not name the file", err)
			}
			return
		}
		k := random[float64](rand.New(rand.NewPCG(1, 1)), m, min(3, m.Vertices()), false)
		k.Forward()
	})
}

func BenchmarkJacobian(b *testing.B) {
	for name, surface := range map[string]bool{"simple": false, "complicated": true} {
		rnd := rand.New(rand.NewPCG(1, 2))
		k := random[float64](rnd, randomModel(rnd, 544, false), 800, surface)
		j := rev.NewGeneral[float64](2400, k.Columns(), nil)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				k.Jacobian(j)
			}
		})
		b.Run(name+"/value", func(b *testing.B) {
			for b.Loop() {
				k.Forward()
			}
		})
	}
}
