package forkjoin

//go:generate go run revnum/cmd/revgen

// rotation is the kernel that rotates vectors v by a quaternion (w, r), which need not be of
// length 1, and sums the results:
//
//	Out += Σ_i v_i + 2·w·t_i + 2·r×t_i,  t_i = r×v_i
//
// With g the cotangent of Out, and h = 2·w·g + 2·g×r the cotangent of each t_i,
//
//	w̄ += 2·g·t_i,  r̄ += 2·t_i×g + v_i×h,  v̄_i += g + h×r
//
//revgen:kernel rotate
func rotation(out, q []float64, v [][]float64) {
	if len(out) != 3 || len(q) != 4 || len(v[0]) != 3 {
		panic("shape")
	}
	w := q[0]
	r := [3]float64{q[1], q[2], q[3]}
	var sum [3]float64
	for i := range v {
		t := cross(r, [3]float64{v[i][0], v[i][1], v[i][2]})
		u := cross(r, t)
		for c := range 3 {
			sum[c] += v[i][c] + 2*(w*t[c]+u[c])
		}
	}
	for c := range 3 {
		out[c] += sum[c]
	}
}

func cross(a, b [3]float64) [3]float64 {
	return [3]float64{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}
