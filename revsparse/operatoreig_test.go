package revsparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/internal/long"
	"revnum/rev"
	"revnum/rev/revtest"
	"revnum/revsparse"
)

// ising is the Hamiltonian of spins in a transverse field,
//
//	H = -J·Σ_⟨p,q⟩ Z_p·Z_q - h·Σ_p X_p - b·Σ_p Z_p,  θ = (J, h, b),
//
// on a lattice of rows×cols sites that is periodic. Bit p of the number of a basis
// state says whether spin p is down. Z_p·Z_q and Z_p are diagonal, and X_p flips
// the bit.
type ising struct{ rows, cols int }

func (s ising) Dims() (rows, params int) { return 1 << (s.rows * s.cols), 3 }

// diagonal returns ΣZ_p·Z_q and ΣZ_p in a state.
func (s ising) diagonal(state int) (bonds, field float64) {
	z := func(i, j int) float64 {
		p := i%s.rows*s.cols + j%s.cols
		return 1 - 2*float64(state>>p&1)
	}
	for i := range s.rows {
		for j := range s.cols {
			bonds += z(i, j) * (z(i+1, j) + z(i, j+1))
			field += z(i, j)
		}
	}
	return bonds, field
}

func (s ising) AddMul(y, theta, x []float64) {
	for state := range y {
		bonds, field := s.diagonal(state)
		flipped := 0.0
		for p := range s.rows * s.cols {
			flipped += x[state^1<<p]
		}
		y[state] -= (theta[0]*bonds+theta[2]*field)*x[state] + theta[1]*flipped
	}
}

func (s ising) AddMulTangent(y, _, dtheta, x []float64) { s.AddMul(y, dtheta, x) }

func (s ising) AddGradient(g, _, u, v []float64) {
	for state := range u {
		bonds, field := s.diagonal(state)
		flipped := 0.0
		for p := range s.rows * s.cols {
			flipped += v[state^1<<p]
		}
		g[0] -= u[state] * bonds * v[state]
		g[1] -= u[state] * flipped
		g[2] -= u[state] * field * v[state]
	}
}

func (s ising) AddGradientTangent(_, _, _, _, _ []float64) {}

// matrix returns the Hamiltonian as a sparse matrix, and the derivative of each of
// its values with respect to θ.
func (s ising) matrix(theta []float64) (h revsparse.CSR[float64, int], d [][3]float64) {
	n, _ := s.Dims()
	h = revsparse.CSR[float64, int]{Rows: n, Cols: n, Ptr: []int{0}}
	for state := range n {
		bonds, field := s.diagonal(state)
		h.Ind, d = append(h.Ind, state), append(d, [3]float64{-bonds, 0, -field})
		for p := range s.rows * s.cols {
			h.Ind, d = append(h.Ind, state^1<<p), append(d, [3]float64{0, -1, 0})
		}
		h.Ptr = append(h.Ptr, len(h.Ind))
	}
	for _, d := range d {
		h.Data = append(h.Data, d[0]*theta[0]+d[1]*theta[1]+d[2]*theta[2])
	}
	return h, d
}

// rotated is the operator R(θ_0)·diag(θ_1, θ_2, 2, ...)·R(θ_0)ᵀ with a rotation R of
// the first two coordinates: one that is not linear in its parameters.
type rotated struct{ n int }

func (r rotated) Dims() (rows, params int) { return r.n, 3 }

func (r rotated) block(theta []float64) (a, b, c float64) {
	sin, cos := math.Sincos(theta[0])
	return theta[1]*cos*cos + theta[2]*sin*sin, (theta[1] - theta[2]) * sin * cos, theta[1]*sin*sin + theta[2]*cos*cos
}

func (r rotated) derivatives(theta []float64) [3][3]float64 {
	sin, cos := math.Sincos(theta[0])
	diff := theta[1] - theta[2]
	return [3][3]float64{
		{-2 * diff * sin * cos, diff * (cos*cos - sin*sin), 2 * diff * sin * cos},
		{cos * cos, sin * cos, sin * sin},
		{sin * sin, -sin * cos, cos * cos},
	}
}

func (r rotated) AddMul(y, theta, x []float64) {
	a, b, c := r.block(theta)
	y[0] += a*x[0] + b*x[1]
	y[1] += b*x[0] + c*x[1]
	for i := 2; i < r.n; i++ {
		y[i] += float64(i) * x[i]
	}
}

func (r rotated) AddMulTangent(y, theta, dtheta, x []float64) {
	for p, d := range r.derivatives(theta) {
		y[0] += dtheta[p] * (d[0]*x[0] + d[1]*x[1])
		y[1] += dtheta[p] * (d[1]*x[0] + d[2]*x[1])
	}
}

func (r rotated) AddGradient(g, theta, u, v []float64) {
	for p, d := range r.derivatives(theta) {
		g[p] += d[0]*u[0]*v[0] + d[1]*(u[0]*v[1]+u[1]*v[0]) + d[2]*u[1]*v[1]
	}
}

func (r rotated) AddGradientTangent(g, theta, dtheta, u, v []float64) {
	sin, cos := math.Sincos(theta[0])
	uv := [3]float64{u[0] * v[0], u[0]*v[1] + u[1]*v[0], u[1] * v[1]}
	turn := -2*sin*cos*uv[0] + (cos*cos-sin*sin)*uv[1] + 2*sin*cos*uv[2]
	again := -2*(cos*cos-sin*sin)*uv[0] - 4*sin*cos*uv[1] + 2*(cos*cos-sin*sin)*uv[2]
	g[0] += dtheta[0]*(theta[1]-theta[2])*again + (dtheta[1]-dtheta[2])*turn
	g[1] += dtheta[0] * turn
	g[2] -= dtheta[0] * turn
}

func TestOperatorEig(t *testing.T) {
	kernel := func(op revsparse.Operator, theta []float64, pairs int, rnd *rand.Rand, o revsparse.EigOptions) revsparse.OperatorEig {
		n, _ := op.Dims()
		return revsparse.OperatorEig{
			Values: randomVector[float64](rnd, pairs), Vectors: rev.NewGeneral(n, pairs, randomVector[float64](rnd, n*pairs).Data),
			Theta: rev.ViewSlice(theta), Op: op, EigOptions: o,
		}
	}
	t.Run("rotated", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revsparse.OperatorEig]{
			Sizes: []int{2, 12, 60, 3, 5}[:long.Or(5, 3)],
			// Of an eigenvector 16·‖A‖/gap, which is 300, and three of those make a product.
			Adjoint: 3000,
			New: func(rnd *rand.Rand, n int) revsparse.OperatorEig {
				angle := rnd.NormFloat64()
				for math.Abs(math.Abs(math.Sin(2*angle))-0.55) < 0.15 {
					angle = rnd.NormFloat64() // 3/10 of the largest element decides on the sign
				}
				theta := []float64{angle, float64(n) + 3 + rnd.Float64(), -float64(n) - 10 - rnd.Float64()}
				return kernel(rotated{n}, theta, 2, rnd, revsparse.EigOptions{})
			},
			Failing: func(rnd *rand.Rand, n int) revsparse.OperatorEig {
				return kernel(rotated{n}, []float64{1, 70, 70}, 2, rnd, revsparse.EigOptions{})
			},
		})
	})
	t.Run("ising", func(t *testing.T) {
		revtest.Kernel(t, revtest.Spec[revsparse.OperatorEig]{
			Sizes: []int{1, 2, 3}[:long.Or(3, 2)],
			New: func(rnd *rand.Rand, n int) revsparse.OperatorEig {
				theta := []float64{1 + rnd.Float64(), 2 + rnd.Float64(), 0.5 + rnd.Float64()}
				return kernel(ising{2, n}, theta, 1, rnd, revsparse.EigOptions{Which: revsparse.Smallest})
			},
			Failing: func(rnd *rand.Rand, n int) revsparse.OperatorEig {
				return kernel(ising{2, n}, []float64{1, 0, 0}, 1, rnd, revsparse.EigOptions{Which: revsparse.Smallest}) // all up, or all down
			},
		})
	})
}

// The lowest level and its derivatives, without a matrix, with one, and by a dense
// decomposition and differences of it.
func TestIsing(t *testing.T) {
	spins := ising{2, 3}
	theta := []float64{1, 2.5, 0.3}
	n, _ := spins.Dims()
	weight := make([]float64, n)
	for state := range weight {
		_, weight[state] = spins.diagonal(state)
	}
	// dense returns the energy, and a sum of weights times the elements of the state.
	dense := func(theta []float64) (energy, overlap float64) {
		h, _ := spins.matrix(theta)
		var d mat.EigenSym
		if !d.Factorize(symmetricOf(h), true) {
			t.Fatal("no decomposition")
		}
		var v mat.Dense
		d.VectorsTo(&v)
		sign := math.Copysign(1, v.At(0, 0))
		for i, w := range weight {
			overlap += sign * w * v.At(i, 0)
		}
		return d.Values(nil)[0], overlap
	}
	energy, overlap := dense(theta)
	var want [2][3]float64
	for p := range theta {
		difference := func(step float64) (energy, overlap float64) {
			x := append([]float64(nil), theta...)
			x[p] += step
			e1, o1 := dense(x)
			x[p] -= 2 * step
			e2, o2 := dense(x)
			return (e1 - e2) / (2 * step), (o1 - o2) / (2 * step)
		}
		e1, o1 := difference(1e-3)
		e2, o2 := difference(2e-3)
		want[0][p], want[1][p] = e1+(e1-e2)/3, o1+(o1-o2)/3
	}

	check := func(name string, value, state []float64, gradient [2][]float64) {
		t.Helper()
		got := 0.0
		for i, w := range weight {
			got += w * state[i]
		}
		if !(math.Abs(value[0]-energy) <= 1e-12) || !(math.Abs(got-overlap) <= 1e-10) {
			t.Errorf("%s: energy %v and overlap %v, want %v and %v", name, value[0], got, energy, overlap)
		}
		for i, g := range gradient {
			for p := range theta {
				if !(math.Abs(g[p]-want[i][p]) <= 1e-8) {
					t.Errorf("%s: derivative %d in θ_%d is %v, want %v", name, i, p, g[p], want[i][p])
				}
			}
		}
	}
	vector := func(x []float64) rev.General[float64] { return rev.NewGeneral(n, 1, x) }
	options := revsparse.EigOptions{Which: revsparse.Smallest}

	value, state := make([]float64, 1), make([]float64, n)
	k := revsparse.OperatorEig{Values: rev.ViewSlice(value), Vectors: vector(state), Theta: rev.ViewSlice(theta), Op: spins, EigOptions: options}
	if err := k.Forward(); err != nil {
		t.Fatal(err)
	}
	gradient := [2][]float64{make([]float64, 3), make([]float64, 3)}
	for i, g := range []revsparse.OperatorEig{{Values: rev.ViewSlice([]float64{1})}, {Vectors: vector(weight)}} {
		g.Theta = rev.ViewSlice(gradient[i])
		k := k
		k.Values, k.Vectors = rev.Vector[float64]{}, rev.General[float64]{}
		if err := k.Adjoint(g); err != nil {
			t.Fatal(err)
		}
	}
	check("operator", value, state, gradient)

	h, d := spins.matrix(theta)
	clear(value)
	clear(state)
	m := revsparse.DominantEig[float64, int]{Values: rev.ViewSlice(value), Vectors: vector(state), A: h, EigOptions: options}
	if err := m.Forward(); err != nil {
		t.Fatal(err)
	}
	for i, g := range []revsparse.DominantEig[float64, int]{{Values: rev.ViewSlice([]float64{1})}, {Vectors: vector(weight)}} {
		g.A = h.With(make([]float64, h.NNZ()))
		m := m
		m.Values, m.Vectors = rev.Vector[float64]{}, rev.General[float64]{}
		if err := m.Adjoint(g); err != nil {
			t.Fatal(err)
		}
		clear(gradient[i])
		for e, v := range g.A.Data {
			for p := range theta {
				gradient[i][p] += v * d[e][p]
			}
		}
	}
	check("matrix", value, state, gradient)
}
