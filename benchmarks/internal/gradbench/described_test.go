package gradbench

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"go/scanner"
	"go/token"
	"io/fs"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"revnum/internal/long"
)

// The functions below are the evals as their descriptions have them: loops over complex numbers.
// The imaginary part of f(x + ih·e), over h, is the derivative of f by x along e, with the error h²,
// which vanishes for this h.
const imaginary = 1e-100

// slopes returns the derivatives of all numbers of f by all of x, a row for each x.
func slopes(f func(x []complex128) []complex128, x []float64) (rows [][]float64) {
	z := complexes(x)
	for i := range z {
		z[i] += complex(0, imaginary)
		var row []float64
		for _, v := range f(z) {
			row = append(row, imag(v)/imaginary)
		}
		rows = append(rows, row)
		z[i] = complex(x[i], 0)
	}
	return rows
}

func complexes(x []float64) (z []complex128) {
	for _, v := range x {
		z = append(z, complex(v, 0))
	}
	return z
}

func reals(z []complex128) (x []float64) {
	for _, v := range z {
		x = append(x, real(v))
	}
	return x
}

// both returns the answers to the functions value and gradient, where f has one number.
func both(value, gradient string, f func(x []complex128) complex128, x []float64) map[string][]float64 {
	list := func(x []complex128) []complex128 { return []complex128{f(x)} }
	return map[string][]float64{value: reals(list(complexes(x))), gradient: slices.Concat(slopes(list, x)...)}
}

func describedODE(x []complex128, steps int) []complex128 {
	n, h := len(x), complex(2/float64(steps), 0)
	y := make([]complex128, n)
	slope := func(y []complex128) []complex128 {
		z := []complex128{x[0]}
		for i := 1; i < n; i++ {
			z = append(z, x[i]*y[i-1])
		}
		return z
	}
	moved := func(by complex128, k []complex128) []complex128 {
		z := slices.Clone(y)
		for i := range z {
			z[i] += by * k[i]
		}
		return z
	}
	for range steps {
		k1 := slope(y)
		k2 := slope(moved(h/2, k1))
		k3 := slope(moved(h/2, k2))
		k4 := slope(moved(h, k3))
		for i := range y {
			y[i] += h / 6 * (k1[i] + 2*k2[i] + 2*k3[i] + k4[i])
		}
	}
	return y
}

// describedDet sums the products of all permutations that begin with those of the columns taken.
func describedDet(a []complex128, n int, taken ...int) complex128 {
	if len(taken) == n {
		product := complex128(1)
		for i, c := range taken {
			product *= a[i*n+c]
			for _, earlier := range taken[:i] {
				if earlier > c {
					product = -product
				}
			}
		}
		return product
	}
	sum := complex128(0)
	for c := range n {
		if !slices.Contains(taken, c) {
			sum += describedDet(a, n, append(slices.Clip(taken), c)...)
		}
	}
	return sum
}

func describedLSE(x []complex128) complex128 {
	most := complex128(0)
	for i, v := range x {
		if i == 0 || real(v) > real(most) {
			most = v
		}
	}
	sum := complex128(0)
	for _, v := range x {
		sum += cmplx.Exp(v - most)
	}
	return most + cmplx.Log(sum)
}

func describedLLSQ(x []complex128, n int) complex128 {
	sum := complex128(0)
	for i := range n {
		t := -1 + float64(2*i)/float64(n-1)
		r := complex128(0)
		if t != 0 {
			r = complex(math.Copysign(1, t), 0)
		}
		for j, c := range x {
			r -= c * complex(math.Pow(t, float64(j)), 0)
		}
		sum += r * r / 2
	}
	return sum
}

// describedCost also returns how many points each centroid has.
func describedCost(centroids []complex128, points [][]float64) (cost complex128, counts []float64) {
	d := len(points[0])
	counts = make([]float64, len(centroids)/d)
	for _, p := range points {
		least, at := complex(math.Inf(1), 0), 0
		for c := range counts {
			s := complex128(0)
			for j, v := range p {
				s += (complex(v, 0) - centroids[c*d+j]) * (complex(v, 0) - centroids[c*d+j])
			}
			if real(s) < real(least) {
				least, at = s, c
			}
		}
		cost += least
		counts[at]++
	}
	return cost, counts
}

// describedGMM takes the weights, means, and for each component the logarithms of the diagonal and the
// columns below it.
func describedGMM(x []complex128, points [][]float64, k, m int, gamma float64) complex128 {
	d := len(points[0])
	weights, means, rest := x[:k], x[k:], x[k+k*d:]
	posterior := complex128(0)
	n, g := float64(d+m+1), gamma*gamma
	exponents := make([][]complex128, len(points)) // of each component at each point
	for c := range k {
		var q [][]complex128
		for i := range d {
			q = append(q, make([]complex128, d))
			q[i][i] = cmplx.Exp(rest[i])
		}
		logDet := complex128(0) // of Q
		for _, v := range rest[:d] {
			logDet += v
		}
		rest = rest[d:]
		trace := complex128(0) // of QᵀQ
		for j := range d {
			trace += q[j][j] * q[j][j]
			for i := j + 1; i < d; i++ {
				q[i][j] = rest[0]
				trace += q[i][j] * q[i][j]
				rest = rest[1:]
			}
		}
		for i, p := range points {
			e := weights[c] + logDet - complex(float64(d)/2*math.Log(2*math.Pi), 0)
			for r := range d {
				v := complex128(0)
				for j := range r + 1 {
					v += q[r][j] * (complex(p[j], 0) - means[c*d+j])
				}
				e -= v * v / 2
			}
			exponents[i] = append(exponents[i], e)
		}
		// The density of Wishart's distribution with the scale 1/γ².
		posterior += complex(n-float64(d)-1, 0)*logDet - complex(g/2, 0)*trace
		norm := n*float64(d)/2*(math.Ln2-math.Log(g)) + float64(d*(d-1))/4*math.Log(math.Pi)
		for j := range d {
			lg, _ := math.Lgamma((n - float64(j)) / 2)
			norm += lg
		}
		posterior -= complex(norm, 0)
	}
	for _, e := range exponents {
		posterior += describedLSE(e) - describedLSE(weights)
	}
	return posterior
}

// describedBA returns the two reprojection errors of an observation and the error of its weight. x are
// the camera, the point and the weight.
func describedBA(x []complex128, feature []float64) []complex128 {
	cam, point, w := x[:11], x[11:14], x[14]
	var y [3]complex128
	for d := range y {
		y[d] = point[d] - cam[3+d]
	}
	y = rotated([3]complex128(cam[:3]), y)
	p := [2]complex128{y[0] / y[2], y[1] / y[2]}
	square := p[0]*p[0] + p[1]*p[1]
	distortion := 1 + cam[9]*square + cam[10]*square*square
	var out []complex128
	for d := range p {
		out = append(out, w*(cam[6]*p[d]*distortion+cam[7+d]-complex(feature[d], 0)))
	}
	return append(out, 1-w*w)
}

// rotated returns y, turned about r by its length.
func rotated(r, y [3]complex128) (z [3]complex128) {
	angle := cmplx.Sqrt(r[0]*r[0] + r[1]*r[1] + r[2]*r[2])
	along := (r[0]*y[0] + r[1]*y[1] + r[2]*y[2]) / angle
	for d := range 3 {
		a, b := (d+1)%3, (d+2)%3
		z[d] = y[d]*cmplx.Cos(angle) + (r[a]*y[b]-r[b]*y[a])/angle*cmplx.Sin(angle) + r[d]/angle*along*(1-cmplx.Cos(angle))
	}
	return z
}

// describedLSTM takes the parameters of all layers, and the three rows of extra ones.
func describedLSTM(x []complex128, layers int, state, sequence [][]float64) complex128 {
	b := len(sequence[0])
	extra := x[8*b*layers:]
	var hidden, cell [][]complex128
	for l := range layers {
		hidden, cell = append(hidden, complexes(state[2*l])), append(cell, complexes(state[2*l+1]))
	}
	sigmoid := func(v complex128) complex128 { return 1 / (1 + cmplx.Exp(-v)) }
	total := complex128(0)
	for t := range len(sequence) - 1 {
		in := complexes(sequence[t])
		for i := range in {
			in[i] *= extra[i]
		}
		for l := range layers {
			gate := func(g, i int, v complex128) complex128 { return v*x[(8*l+g)*b+i] + x[(8*l+4+g)*b+i] }
			for i := range in {
				forget, ingate := sigmoid(gate(0, i, in[i])), sigmoid(gate(1, i, hidden[l][i]))
				outgate, change := sigmoid(gate(2, i, in[i])), cmplx.Tanh(gate(3, i, hidden[l][i]))
				cell[l][i] = cell[l][i]*forget + ingate*change
				hidden[l][i] = outgate * cmplx.Tanh(cell[l][i])
			}
			in = slices.Clone(hidden[l])
		}
		sum := complex128(2)
		for i := range in {
			in[i] = in[i]*extra[b+i] + extra[2*b+i]
			sum += cmplx.Exp(in[i])
		}
		for i, v := range in {
			total += complex(sequence[t+1][i], 0) * (v - cmplx.Log(sum))
		}
	}
	return -total / complex(float64((len(sequence)-1)*b), 0)
}

type drawnHand struct {
	parents             []int
	relatives, inverses [][][]float64
	positions, weights  [][]float64
	triangles           [][3]int
	mirrored            bool
	correspondences     []int
	points              [][]float64
	complicated         bool
}

// describedHT takes u and v of each point, if there are any, and the 26 parameters.
func describedHT(x []complex128, h *drawnHand) (out []complex128) {
	us := x[:len(x)-26]
	theta := x[len(x)-26:]
	product := func(a, b [][]complex128) (c [][]complex128) {
		for i := range a {
			c = append(c, make([]complex128, len(b[0])))
			for j := range b[0] {
				for k := range b {
					c[i][j] += a[i][k] * b[k][j]
				}
			}
		}
		return c
	}
	lift := func(a [][]float64) (c [][]complex128) {
		for _, row := range a {
			c = append(c, complexes(row))
		}
		return c
	}
	var absolutes [][][]complex128
	for b, parent := range h.parents {
		// The first bone is the wrist. Five fingers of four bones follow.
		var flex, side complex128
		if finger := (b - 1) / 4; b > 0 && finger < 5 {
			switch p := theta[6+4*finger:]; (b - 1) % 4 {
			case 1:
				flex, side = p[0], p[1]
			case 2, 3:
				flex = p[(b-1)%4]
			}
		}
		cf, sf, cs, ss := cmplx.Cos(flex), cmplx.Sin(flex), cmplx.Cos(side), cmplx.Sin(side)
		about := product([][]complex128{{cs, -ss, 0, 0}, {ss, cs, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}},
			[][]complex128{{1, 0, 0, 0}, {0, cf, -sf, 0}, {0, sf, cf, 0}, {0, 0, 0, 1}})
		absolute := product(lift(h.relatives[b]), about)
		if parent >= 0 {
			absolute = product(absolutes[parent], absolute)
		}
		absolutes = append(absolutes, absolute)
	}
	vertex := func(v int) (y [3]complex128) {
		var at [][]complex128
		for _, p := range h.positions[v] {
			at = append(at, []complex128{complex(p, 0)})
		}
		for b, w := range h.weights[v] {
			moved := product(product(absolutes[b], lift(h.inverses[b])), at)
			for d := range 3 {
				y[d] += complex(w, 0) * moved[d][0]
			}
		}
		if h.mirrored {
			y[0] = -y[0]
		}
		y = rotated([3]complex128(theta[:3]), y)
		for d := range 3 {
			y[d] += theta[3+d]
		}
		return y
	}
	for i, c := range h.correspondences {
		y := [3]complex128{}
		if h.complicated {
			u, v := us[2*i], us[2*i+1]
			for corner, w := range []complex128{u, v, 1 - u - v} {
				for d, p := range vertex(h.triangles[c][corner]) {
					y[d] += w * p
				}
			}
		} else {
			y = vertex(c)
		}
		for d := range 3 {
			out = append(out, complex(h.points[i][d], 0)-y[d])
		}
	}
	return out
}

// descent is that of particle and saddle, from x down f.
func descent(f func(x []complex128) complex128, x []float64) []float64 {
	value := func(x []float64) float64 { return real(f(complexes(x))) }
	gradient := func(x []float64) []float64 { return both("", "gradient", f, x)["gradient"] }
	norm := func(x []float64) (s float64) {
		for _, v := range x {
			s += v * v
		}
		return math.Sqrt(s)
	}
	at, g, eta, better := value(x), gradient(x), 1e-5, 0
	for {
		if norm(g) <= 1e-5 {
			return x
		}
		if better == 10 {
			eta, better = 2*eta, 0
			continue
		}
		next, move := slices.Clone(x), slices.Clone(x)
		for i := range x {
			next[i] -= eta * g[i]
			move[i] = x[i] - next[i]
		}
		if norm(move) <= 1e-5 {
			return x
		}
		if v := value(next); v < at {
			x, at, g, better = next, v, gradient(next), better+1
		} else {
			eta, better = eta/2, 0
		}
	}
}

func describedParticle(start float64) []float64 {
	return descent(func(w []complex128) complex128 {
		x, v := [2]complex128{0, 8}, [2]complex128{0.75, 0}
		for {
			var force [2]complex128
			for _, charge := range [][2]complex128{{10, 10 - w[0]}, {10, 0}} {
				a, b := x[0]-charge[0], x[1]-charge[1]
				r := cmplx.Sqrt(a*a + b*b)
				force[0] += a / (r * r * r)
				force[1] += b / (r * r * r)
			}
			x[0] += 0.1 * v[0]
			x[1] += 0.1 * v[1]
			if real(x[1]) <= 0 {
				end := x[0] - x[1]/v[1]*v[0]
				return end * end
			}
			v[0] += 0.1 * force[0]
			v[1] += 0.1 * force[1]
		}
	}, []float64{start})
}

// describedSaddle descends in x on the maximum over y, which lies where the descent in y ends.
func describedSaddle(start []float64) []float64 {
	highest := func(x []complex128) []float64 {
		return descent(func(y []complex128) complex128 { return y[0]*y[0] + y[1]*y[1] - complex(real(x[0]*x[0]+x[1]*x[1]), 0) }, start)
	}
	x := descent(func(x []complex128) complex128 {
		y := highest(x)
		return x[0]*x[0] + x[1]*x[1] - complex(y[0]*y[0]+y[1]*y[1], 0)
	}, start)
	return append(x, highest(complexes(x))...)
}

// draws has for each eval a function that draws an input, whose sizes and numbers all differ from those
// of the eval, and computes the answers of its functions.
var draws = map[string]func(rnd *rand.Rand) (input any, answers map[string][]float64){
	"hello": func(rnd *rand.Rand) (any, map[string][]float64) {
		x := rnd.NormFloat64()
		return x, map[string][]float64{"square": {x * x}, "double": {x + x}}
	},
	"ode": func(rnd *rand.Rand) (any, map[string][]float64) {
		x, steps := normal(rnd, 1+rnd.IntN(40)), 1+rnd.IntN(12)
		if rnd.IntN(3) == 0 {
			x[rnd.IntN(len(x))] = 0
		}
		f := func(x []complex128) []complex128 { return describedODE(x, steps) }
		var gradient []float64
		for _, row := range slopes(f, x) {
			gradient = append(gradient, row[len(x)-1])
		}
		return map[string]any{"x": x, "s": steps}, map[string][]float64{"primal": reals(f(complexes(x))), "gradient": gradient}
	},
	"det": func(rnd *rand.Rand) (any, map[string][]float64) {
		n := 1 + rnd.IntN(6)
		a := normal(rnd, n*n)
		return map[string]any{"A": a, "ell": n}, both("primal", "gradient", func(a []complex128) complex128 { return describedDet(a, n) }, a)
	},
	"lse": func(rnd *rand.Rand) (any, map[string][]float64) {
		x := normal(rnd, 1+rnd.IntN(100))
		for i := range x {
			x[i] *= 10
		}
		return map[string]any{"x": x}, both("primal", "gradient", describedLSE, x)
	},
	"llsq": func(rnd *rand.Rand) (any, map[string][]float64) {
		x, n := normal(rnd, 1+rnd.IntN(40)), 2+rnd.IntN(100)
		return map[string]any{"x": x, "n": n}, both("primal", "gradient", func(x []complex128) complex128 { return describedLLSQ(x, n) }, x)
	},
	"kmeans": func(rnd *rand.Rand) (any, map[string][]float64) {
		k, n, d := 1+rnd.IntN(12), 1+rnd.IntN(40), 1+rnd.IntN(9)
		points, centroids := normals(rnd, n, d), normals(rnd, k, d)
		flat := slices.Concat(centroids...)
		_, counts := describedCost(complexes(flat), points)
		a := both("cost", "dir", func(x []complex128) complex128 { c, _ := describedCost(x, points); return c }, flat)
		for i := range flat {
			if c := counts[i/d]; c > 0 {
				a["dir"][i] /= 2 * c // the diagonal of the Hessian
			}
		}
		return map[string]any{"points": points, "centroids": centroids}, a
	},
	"gmm": func(rnd *rand.Rand) (any, map[string][]float64) {
		d, k, n, m, gamma := 1+rnd.IntN(5), 1+rnd.IntN(5), 1+rnd.IntN(12), rnd.IntN(4), 0.5+rnd.Float64()
		points, alpha, mu, q, l := normals(rnd, n, d), normal(rnd, k), normals(rnd, k, d), normals(rnd, k, d), normals(rnd, k, d*(d-1)/2)
		x := append(slices.Clone(alpha), slices.Concat(mu...)...)
		for c := range k {
			x = slices.Concat(x, q[c], l[c])
		}
		a := both("objective", "jacobian", func(x []complex128) complex128 { return describedGMM(x, points, k, m, gamma) }, x)
		// The answer has the logarithms of all diagonals before the numbers below them.
		g := a["jacobian"]
		var diagonals, below []float64
		for rest := g[k+k*d:]; len(rest) > 0; rest = rest[d*(d+1)/2:] {
			diagonals, below = append(diagonals, rest[:d]...), append(below, rest[d:d*(d+1)/2]...)
		}
		a["jacobian"] = slices.Concat(g[:k+k*d], diagonals, below)
		return map[string]any{"d": d, "k": k, "n": n, "m": m, "gamma": gamma, "x": points, "alpha": alpha, "mu": mu, "q": q, "l": l}, a
	},
	"ba": func(rnd *rand.Rand) (any, map[string][]float64) {
		n, m, p := 1+rnd.IntN(4), 1+rnd.IntN(4), 2+rnd.IntN(4)
		x, feature := normal(rnd, 15), normal(rnd, 2)
		x[13] += 10 // in front of the camera
		f := func(x []complex128) []complex128 { return describedBA(x, feature) }
		errs, columns := reals(f(complexes(x))), slopes(f, x)
		// The first two rows have 15 numbers, of camera 0, point 0 and weight 0. Rows of observations
		// follow, and one number for each weight: the last number is that of the last weight.
		var rows, cols, vals []float64
		for r := range 2 {
			for c, column := range columns {
				cols = append(cols, float64(c))
				switch {
				case c == 14:
					cols[len(cols)-1] = float64(11*n + 3*m)
				case c >= 11:
					cols[len(cols)-1] = float64(11*n + c - 11)
				}
				vals = append(vals, column[r])
			}
		}
		for r := range 3*p + 1 {
			rows = append(rows, float64(15*min(r, 2*p)+max(0, r-2*p)))
		}
		rows = append(rows[:min(30, len(rows))], rows[len(rows)-1])
		cols = append(cols, float64(11*n+3*m+p-1))
		vals = append(vals, columns[14][2])
		return map[string]any{"n": n, "m": m, "p": p, "cam": x[:11], "x": x[11:14], "w": x[14], "feat": feature},
			map[string][]float64{"objective": {errs[0], errs[1], float64(p), errs[2], float64(p)}, "jacobian": slices.Concat(rows, cols, vals)}
	},
	"lstm": func(rnd *rand.Rand) (any, map[string][]float64) {
		l, c, b := 1+rnd.IntN(3), 2+rnd.IntN(6), 1+rnd.IntN(9)
		parameters, extra, state, sequence := normals(rnd, 2*l, 4*b), normals(rnd, 3, b), normals(rnd, 2*l, b), normals(rnd, c, b)
		x := append(slices.Concat(parameters...), slices.Concat(extra...)...)
		return map[string]any{"main_params": parameters, "extra_params": extra, "state": state, "sequence": sequence},
			both("objective", "jacobian", func(x []complex128) complex128 { return describedLSTM(x, l, state, sequence) }, x)
	},
	"ht": func(rnd *rand.Rand) (any, map[string][]float64) {
		bones, vertices, n := 21+rnd.IntN(3), 3+rnd.IntN(10), 1+rnd.IntN(6)
		h := &drawnHand{mirrored: rnd.IntN(2) == 0, complicated: rnd.IntN(2) == 0, weights: normals(rnd, vertices, bones), points: normals(rnd, n, 3)}
		for b := range bones {
			h.parents = append(h.parents, rnd.IntN(b+1)-1)
			for _, m := range []*[][][]float64{&h.relatives, &h.inverses} {
				*m = append(*m, append(normals(rnd, 3, 4), []float64{0, 0, 0, 1}))
			}
		}
		for range vertices {
			h.positions = append(h.positions, append(normal(rnd, 3), 1))
			h.triangles = append(h.triangles, [3]int{rnd.IntN(vertices), rnd.IntN(vertices), rnd.IntN(vertices)})
		}
		for range n {
			h.correspondences = append(h.correspondences, rnd.IntN(vertices))
		}
		theta, us := normal(rnd, 26), [][]float64{}
		if h.complicated {
			us = normals(rnd, n, 2)
		}
		x := append(slices.Concat(us...), theta...)
		f := func(x []complex128) []complex128 { return describedHT(x, h) }
		byParameter := slopes(f, x)
		var jacobian []float64
		for r := range 3 * n {
			if h.complicated {
				jacobian = append(jacobian, byParameter[r/3*2][r], byParameter[r/3*2+1][r])
			}
			for _, column := range byParameter[len(x)-26:] {
				jacobian = append(jacobian, column[r])
			}
		}
		model := map[string]any{
			"bone_count": bones, "bone_names": make([]string, bones), "parents": h.parents, "base_relatives": h.relatives,
			"inverse_base_absolutes": h.inverses, "base_positions": h.positions, "weights": h.weights, "triangles": h.triangles, "is_mirrored": h.mirrored,
		}
		return map[string]any{"theta": theta, "us": us, "data": map[string]any{"model": model, "correspondences": h.correspondences, "points": h.points}},
			map[string][]float64{"objective": reals(f(complexes(x))), "jacobian": jacobian}
	},
	"particle": func(rnd *rand.Rand) (any, map[string][]float64) {
		w := rnd.Float64()/2 - 0.1
		y := describedParticle(w)
		return map[string]any{"w": w}, map[string][]float64{"rr": y, "rf": y, "fr": y, "ff": y}
	},
	"saddle": func(rnd *rand.Rand) (any, map[string][]float64) {
		start := normal(rnd, 2)
		y := describedSaddle(start)
		return map[string]any{"start": start}, map[string][]float64{"rr": y, "rf": y, "fr": y, "ff": y}
	},
}

func normal(rnd *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rnd.NormFloat64()
	}
	return x
}

func normals(rnd *rand.Rand, n, d int) (rows [][]float64) {
	for range n {
		rows = append(rows, normal(rnd, d))
	}
	return rows
}

// TestDescribed draws inputs and compares the answers of all tools with the evals' descriptions. So no
// answer can rest on what GradBench sends.
func TestDescribed(t *testing.T) {
	count := long.Or(10, 2)
	for _, tool := range []*Tool{&Revnum, &RevnumMinors, &Revgen, &RevgenMinors} {
		for module, functions := range tool.modules {
			t.Run(tool.Name+"/"+module, func(t *testing.T) {
				for i := range count {
					input, answers := draws[module](rand.New(rand.NewPCG(uint64(i), 35)))
					text, err := json.Marshal(input)
					if err != nil {
						t.Fatal(err)
					}
					if len(answers) != len(functions) {
						t.Fatalf("the description has %d functions, the tool %d", len(answers), len(functions))
					}
					for function, want := range answers {
						message := fmt.Sprintf(`{"id":1,"kind":"evaluate","module":%q,"function":%q,"input":%s}`, module, function, text)
						a := talkTo(t, tool, message)[0]
						var got []float64
						dec := json.NewDecoder(strings.NewReader(string(a.Output)))
						for {
							v, err := dec.Token()
							if err != nil {
								break
							}
							if x, ok := v.(float64); ok {
								got = append(got, x)
							}
						}
						if len(got) != len(want) {
							t.Fatalf("%s of %s: %d numbers, want %d %s", function, text, len(got), len(want), a.Error)
						}
						scale := 1.0
						for _, v := range want {
							scale = max(scale, math.Abs(v))
						}
						for j, v := range got {
							if !(math.Abs(v-want[j]) <= 1e-11*scale) {
								t.Fatalf("%s of %s: number %d is %v, want %v", function, text, j, v, want[j])
							}
						}
					}
				}
			})
		}
	}
}

// constants are numbers of GradBench's inputs and answers: its seed, sizes, cameras, and where particle and
// saddle end. Sizes that are powers of ten are not here, as such numbers occur everywhere.
var constants = []float64{
	31337, 2500, 20000, 40000, 80000, 160000, 320000, 640000, 1280000, 8196, 16392,
	25600, 51200, 31843, 36455, 182072, 204472, 1255268,
	1.797201, 0.590697, 4.173048, 0.417022, 0.2071918746486116, 8.246324826140356e-06,
}

// evalConstants returns the places of literals in Go source that are a constant of an eval to five digits,
// however they are written.
func evalConstants(path string, text []byte) (found []string) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile(path, -1, len(text))
	s.Init(file, text, nil, 0)
	for {
		pos, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return found
		case token.INT, token.FLOAT:
			v, _ := constant.Float64Val(constant.ToFloat(constant.MakeFromLiteral(literal, tok, 0)))
			if slices.ContainsFunc(constants, func(c float64) bool { return math.Abs(v-c) <= 1e-5*c && (tok == token.FLOAT || v == c) }) {
				found = append(found, fmt.Sprintf("%s: %s", file.Position(pos), literal))
			}
		}
	}
}

// TestNoConstants looks in the tools and the library for constants of evals.
func TestNoConstants(t *testing.T) {
	for literal, want := range map[string]bool{
		"20000": true, "20_000": true, "2e4": true, "0x4e20": true, "1.6e5": true, "0.20719187": true, "8.24632e-6": true, "20001": false, "0.2": false,
	} {
		if got := evalConstants("x.go", []byte("package x\n\nvar y = "+literal+"\n")); (len(got) == 1) != want {
			t.Errorf("%s: found %q", literal, got)
		}
	}
	files := 0
	for _, folder := range []string{
		".", "../problem", "../../../internal", "../../../rev", "../../../revlinalg", "../../../revnn", "../../../revmodels", "../../../revsparse",
		"../../../revlog", "../../../ulog", "../../../optim",
	} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			for _, place := range evalConstants(path, text) {
				t.Errorf("%s is a constant of an eval", place)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("%d files", files)
	}
}
