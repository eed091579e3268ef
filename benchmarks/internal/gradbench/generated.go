package gradbench

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"revnum/benchmarks/internal/gradbench/generated"
	"revnum/benchmarks/internal/problem"
	"revnum/rev"
	"revnum/revlinalg"
	"revnum/revmodels/ba"
	"revnum/revmodels/hand"
	"revnum/revsparse"
)

// Revgen answers with derivatives that cmd/revgen wrote from plain functions.
var Revgen = Tool{"revgen", map[string]map[string]function{
	"hello":    {"square": generatedSquare, "double": generatedDouble},
	"lse":      {"primal": generatedLSE, "gradient": generatedLSEGradient},
	"llsq":     {"primal": generatedLLSQ, "gradient": generatedLLSQGradient},
	"det":      {"primal": generatedDet, "gradient": generatedDetGradient},
	"kmeans":   {"cost": generatedCost, "dir": generatedDirection},
	"gmm":      {"objective": generatedGMM, "jacobian": generatedGMMJacobian},
	"ba":       {"objective": generatedBA, "jacobian": generatedBAJacobian},
	"lstm":     {"objective": generatedLSTM, "jacobian": generatedLSTMJacobian},
	"ode":      {"primal": generatedODE, "gradient": generatedODEGradient},
	"ht":       {"objective": generatedHT, "jacobian": generatedHTJacobian},
	"particle": {"rr": particle(reverse, reverse), "rf": particle(reverse, forward), "fr": particle(forward, reverse), "ff": particle(forward, forward)},
	"saddle":   {"rr": saddle(reverse, reverse), "rf": saddle(reverse, forward), "fr": saddle(forward, reverse), "ff": saddle(forward, forward)},
}}

// RevgenMinors answers det by shared minors, with a kernel that cmd/revgen wrote.
var RevgenMinors = Tool{"revgen-minors", map[string]map[string]function{
	"det": {"primal": sharedDet, "gradient": sharedDetGradient},
}}

func generatedSquare(input json.RawMessage, _ int) (evaluation, error) {
	x, err := parseNumber(input)
	y := 0.0
	return inLoop(func(w *stopwatch) {
		for w.next() {
			w.read()
			y = generated.Square(x)
			w.read()
		}
	}, &y), err
}

func generatedDouble(input json.RawMessage, _ int) (evaluation, error) {
	x, err := parseNumber(input)
	y := 0.0
	return inLoop(func(w *stopwatch) {
		for w.next() {
			w.read()
			generated.SquareGradient(&y, x)
			w.read()
		}
	}, &y), err
}

func generatedLSE(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLSE(input, workers)
	return toNumber(func() { *k.Out = generated.LogSumExpValue(k.X.Data) }, k.Out), err
}

func generatedLSEGradient(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLSE(input, workers)
	grad := make([]float64, k.X.N)
	return toNumbers(func() { generated.LogSumExpGradient(grad, k.X.Data) }, grad), err
}

func generatedLLSQ(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLLSQ(input, workers)
	return toNumber(func() { *k.Out = generated.LeastSquaresValue(k.C.Data, k.X.N) }, k.Out), err
}

func generatedLLSQGradient(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseLLSQ(input, workers)
	grad := make([]float64, k.C.N)
	return toNumbers(func() { generated.LeastSquaresGradient(grad, k.C.Data, k.X.N) }, grad), err
}

// rows returns the rows of a matrix.
func rows(m rev.General[float64]) (out [][]float64) {
	for i := range m.Rows {
		out = append(out, m.Row(i))
	}
	return out
}

func generatedCost(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseKMeans(input, workers)
	points := rows(k.X)
	return toNumber(func() { *k.Out = generated.CostValue(k.Centroids.Data, points) }, k.Out), err
}

// generatedDirection divides the gradient by the diagonal of the Hessian, which has nothing else: its
// product with ones.
func generatedDirection(input json.RawMessage, workers int) (evaluation, error) {
	k, err := parseKMeans(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	points, at := rows(k.X), k.Centroids.Data
	dir := rev.NewGeneral[float64](k.Centroids.Rows, k.Centroids.Cols, nil)
	diagonal, ones := make([]float64, len(at)), make([]float64, len(at))
	for i := range ones {
		ones[i] = 1
	}
	return toRows(func() {
		generated.CostGradientHessVec(dir.Data, diagonal, at, ones, points)
		for i, d := range diagonal {
			if d != 0 {
				dir.Data[i] /= d
			}
		}
	}, dir), nil
}

// cut returns the next n rows of d numbers of x, which it takes from x.
func cut(x *[]float64, n, d int) (out [][]float64) {
	for range n {
		out, *x = append(out, (*x)[:d:d]), (*x)[d:]
	}
	return out
}

// A mixture has the parameters of a problem of gmm, or its gradient.
type mixture struct {
	alpha    []float64
	mu, q, l [][]float64
}

// newMixture returns views of parameters in the order of problem.GMM.
func newMixture(p *problem.GMM, x []float64) mixture {
	m := mixture{alpha: x[:p.K]}
	x = x[p.K:]
	m.mu = cut(&x, p.K, p.D)
	for range p.K {
		m.q = append(m.q, cut(&x, 1, p.D)...)
		m.l = append(m.l, cut(&x, 1, p.D*(p.D-1)/2)...)
	}
	return m
}

func generatedGMM(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseGMM(input)
	if err != nil {
		return evaluation{}, err
	}
	m, points, value := newMixture(p, p.Params), rev.NewGeneral(p.N, p.D, p.X), 0.0
	x := rows(points)
	return toNumber(func() { value = generated.GMMValue(m.alpha, m.mu, m.q, m.l, x, p.M, p.Gamma) }, &value), nil
}

func generatedGMMJacobian(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseGMM(input)
	if err != nil {
		return evaluation{}, err
	}
	grad := make([]float64, len(p.Params))
	m, g, x := newMixture(p, p.Params), newMixture(p, grad), rows(rev.NewGeneral(p.N, p.D, p.X))
	call := func() {
		generated.GMMGradient(g.alpha, g.mu, g.q, g.l, m.alpha, m.mu, m.q, m.l, x, p.M, p.Gamma)
	}
	return toMixture(call, grad, g.alpha, g.mu, g.q, g.l), nil
}

func generatedBA(input json.RawMessage, workers int) (evaluation, error) {
	o, err := parseBA(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	k := &o.Kernel
	return toErrors(o, func() {
		generated.Residuals(k.R.Data, k.Z.Data, k.Cameras.Data, k.Points.Data, k.Weights.Data, k.Features.Data, k.Camera, k.Point)
	}), nil
}

// gather stores the camera, the point and the weight of observation i in x.
func gather(x []float64, k *ba.Weighted[float64], i int) {
	copy(x, k.Cameras.Row(k.Camera[i]))
	copy(x[11:], k.Points.Row(k.Point[i]))
	x[14] = k.Weights.Data[i]
}

// generatedBAJacobian computes the rows of an observation, which have 15 numbers and one that are not
// zero.
func generatedBAJacobian(input json.RawMessage, workers int) (evaluation, error) {
	o, err := parseBA(input, workers)
	if err != nil {
		return evaluation{}, err
	}
	k, x, unit := &o.Kernel, make([]float64, 15), [2][]float64{{1, 0}, {0, 1}}
	return toSparse(o, func() {
		j, z := k.CSRTo(&o.Jacobian)
		start := time.Now()
		for i, w := range k.Weights.Data {
			gather(x, k, i)
			generated.ReprojectionVJP2([2][]float64{j.Row(2 * i), j.Row(2*i + 1)}, x, unit, k.Features.Row(i))
			generated.WeightErrorGradient(&z.Data[i], w)
		}
		o.Values = time.Since(start)
	}), nil
}

func generatedLSTM(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseLSTM(input)
	if err != nil {
		return evaluation{}, err
	}
	main, extra, state, sequence := lstmRows(p)
	value := 0.0
	return toNumber(func() { value = generated.LSTMValue(main, extra, state, sequence) }, &value), nil
}

func generatedLSTMJacobian(input json.RawMessage, _ int) (evaluation, error) {
	p, err := parseLSTM(input)
	if err != nil {
		return evaluation{}, err
	}
	main, extra, state, sequence := lstmRows(p)
	grad := make([]float64, len(p.Main)+len(p.Extra))
	rest := grad
	mainGrad, extraGrad := cut(&rest, 2*p.L, 4*p.B), cut(&rest, 3, p.B)
	return toNumbers(func() { generated.LSTMGradient(mainGrad, extraGrad, main, extra, state, sequence) }, grad), nil
}

func lstmRows(p *problem.LSTM) (main, extra, state, sequence [][]float64) {
	return rows(rev.NewGeneral(2*p.L, 4*p.B, p.Main)), rows(rev.NewGeneral(3, p.B, p.Extra)),
		rows(rev.NewGeneral(2*p.L, p.B, p.State)), rows(rev.NewGeneral(p.C, p.B, p.Sequence))
}

// generatedChain returns the factors and the state of a system.
func generatedChain(input json.RawMessage) (x, y []float64, steps int, err error) {
	c, err := parseODE(input)
	if err != nil {
		return nil, nil, 0, err
	}
	return c.inner(c.x), c.inner(c.y[0]), c.steps, nil
}

func generatedODE(input json.RawMessage, _ int) (evaluation, error) {
	x, y, steps, err := generatedChain(input)
	return toNumbers(func() { generated.ODEValue(y, x, steps) }, y), err
}

func generatedODEGradient(input json.RawMessage, _ int) (evaluation, error) {
	x, y, steps, err := generatedChain(input)
	grad := make([]float64, len(x))
	return toNumbers(func() { generated.ODEGradient(grad, y, x, steps) }, grad), err
}

// A mode is how a derivative is computed.
type mode int

const (
	forward mode = iota
	reverse
)

// particle returns the function that finds where a particle meets the origin. The modes are those of
// the descent and, inside, of the gradient of the potential.
func particle(outer, inner mode) function {
	type derivative = func(g, w []float64)
	one := []float64{1}
	f := generated.CrossingFValue
	gradients := [2]derivative{
		forward: func(g, w []float64) { generated.CrossingsFJVP(g, w, one) },
		reverse: func(g, w []float64) { generated.CrossingFGradient(g, w) },
	}
	if inner == reverse {
		f = generated.CrossingRValue
		gradients = [2]derivative{
			forward: func(g, w []float64) { generated.CrossingsRJVP(g, w, one) },
			reverse: func(g, w []float64) { generated.CrossingRGradient(g, w) },
		}
	}
	return func(input json.RawMessage, _ int) (evaluation, error) {
		var in struct{ W *float64 }
		if err := json.Unmarshal(input, &in); err != nil {
			return evaluation{}, err
		}
		if in.W == nil {
			return evaluation{}, missing("w")
		}
		w := make([]float64, 1)
		return toNumber(func() {
			w[0] = *in.W
			generated.Descend(w, f, gradients[outer])
		}, &w[0]), nil
	}
}

// saddle returns the function that finds a saddle point. The modes are those of the descent and,
// inside, of the ascent.
func saddle(outer, inner mode) function {
	highest, ascend := generated.HighestFValue, generated.AscendF
	gradient, jvp := generated.HighestFGradient, generated.MaximaFJVP
	if inner == reverse {
		highest, ascend = generated.HighestRValue, generated.AscendR
		gradient, jvp = generated.HighestRGradient, generated.MaximaRJVP
	}
	return func(input json.RawMessage, _ int) (evaluation, error) {
		var in struct{ Start numbers }
		if err := json.Unmarshal(input, &in); err != nil {
			return evaluation{}, err
		}
		if in.Start == nil {
			return evaluation{}, missing("start")
		}
		if len(in.Start) != 2 {
			return evaluation{}, fmt.Errorf("start: expected 2 numbers, found %d", len(in.Start))
		}
		slope := func(g, x []float64) { gradient(g, x, in.Start) }
		if outer == forward {
			slope = func(g, x []float64) {
				jvp(g[:1], x, []float64{1, 0}, in.Start)
				jvp(g[1:], x, []float64{0, 1}, in.Start)
			}
		}
		out := make([]float64, 4)
		return toNumbers(func() {
			copy(out, in.Start)
			copy(out[2:], in.Start)
			generated.Descend(out[:2], func(x []float64) float64 { return highest(x, in.Start) }, slope)
			ascend(out[2:], out[:2])
		}, out), nil
	}
}

func generatedDet(input json.RawMessage, _ int) (evaluation, error) {
	n, a, err := parseDet(input, maxRecursion, "ell!")
	value := 0.0
	return toNumber(func() { value = generated.Det(a, n) }, &value), err
}

func generatedDetGradient(input json.RawMessage, _ int) (evaluation, error) {
	n, a, err := parseDet(input, maxRecursion, "ell!")
	grad := make([]float64, len(a))
	return toNumbers(func() { generated.DetGradient(grad, a, n) }, grad), err
}

// generatedMinors returns the kernel of the minors of a matrix, and its gradient.
func generatedMinors(input json.RawMessage) (k, g generated.Minors[float64], err error) {
	n, a, err := parseDet(input, revlinalg.MaxMinors, "ell·2^ell")
	if err != nil {
		return k, g, err
	}
	first := make([]int, 1<<n)
	for set := range first {
		first[set] = n - bits.OnesCount(uint(set))
	}
	k = generated.Minors[float64]{D: rev.ViewSlice(make([]float64, 1<<n)), A: rev.NewGeneral(n, n, a), First: first}
	g = generated.Minors[float64]{D: rev.ViewSlice(make([]float64, 1<<n)), A: rev.NewGeneral[float64](n, n, nil)}
	return k, g, nil
}

// expand computes all minors.
func expand(k generated.Minors[float64]) {
	clear(k.D.Data)
	k.D.Data[0] = 1
	k.Forward()
}

func sharedDet(input json.RawMessage, _ int) (evaluation, error) {
	k, _, err := generatedMinors(input)
	if err != nil {
		return evaluation{}, err
	}
	return toNumber(func() { expand(k) }, &k.D.Data[len(k.D.Data)-1]), nil
}

func sharedDetGradient(input json.RawMessage, _ int) (evaluation, error) {
	k, g, err := generatedMinors(input)
	if err != nil {
		return evaluation{}, err
	}
	call := func() {
		clear(g.A.Data)
		clear(g.D.Data)
		g.D.Data[len(g.D.Data)-1] = 1
		expand(k)
		k.Adjoint(g)
	}
	return toNumbers(call, g.A.Data), nil
}

// newGeneratedHand returns a hand, and its variables: the coordinates of points on triangles, if they are
// there, and the parameters. Only vertices of points are in it.
func newGeneratedHand(input json.RawMessage) (h *generated.Hand, x []float64, complicated bool, err error) {
	p, err := parseHT(input)
	if err != nil {
		return nil, nil, false, err
	}
	m := p.Model
	h = &generated.Hand{Start: []int{0}, Mirrored: m.Mirrored(), Points: rows(rev.NewGeneral(len(p.Correspondences), 3, p.Points))}
	for i := range m.Bones() {
		b := m.Bone(i)
		parent := b.Parent
		if parent < 0 {
			parent = i
		}
		h.Parents = append(h.Parents, parent)
		h.Relative = append(h.Relative, slices.Concat(b.Relative[0][:], b.Relative[1][:], b.Relative[2][:]))
	}
	known := map[int]int{}
	use := func(vertex int) int {
		if k, ok := known[vertex]; ok {
			return k
		}
		k := len(known)
		known[vertex] = k
		v := m.Vertex(vertex)
		for _, w := range v.Weights {
			var place []float64
			for _, row := range m.Bone(w.Bone).InverseBase {
				x := row[0]*v.Position[0] + row[1]*v.Position[1] + row[2]*v.Position[2] + row[3]
				place = append(place, w.Value*x)
			}
			h.Bone, h.Places = append(h.Bone, w.Bone), append(h.Places, append(place, w.Value))
		}
		h.Start = append(h.Start, len(h.Bone))
		return k
	}
	for _, c := range p.Correspondences {
		corners := [3]int{c, c, c}
		if p.UV != nil {
			corners = m.Triangle(c)
		}
		for i, v := range corners {
			corners[i] = use(v)
		}
		h.Corners = append(h.Corners, corners)
	}
	return h, slices.Concat(p.UV, p.Theta), p.UV != nil, nil
}

func generatedHT(input json.RawMessage, _ int) (evaluation, error) {
	h, x, complicated, err := newGeneratedHand(input)
	if err != nil {
		return evaluation{}, err
	}
	f := h.Residuals
	if complicated {
		f = h.SurfaceResiduals
	}
	r := make([]float64, 3*len(h.Points))
	return toNumbers(func() { f(r, x) }, r), nil
}

// generatedHTJacobian computes the Jacobian, whose rows have 26 or 28 elements that may differ from 0.
func generatedHTJacobian(input json.RawMessage, _ int) (evaluation, error) {
	h, x, complicated, err := newGeneratedHand(input)
	if err != nil {
		return evaluation{}, err
	}
	m := 3 * len(h.Points)
	if !complicated {
		j := mat.NewDense(m, hand.Params, nil)
		return toRows(func() { h.ResidualsJacobian(j, x) }, rev.ViewDense(j)), nil
	}
	j := rev.NewGeneral[float64](m, 2+hand.Params, nil)
	// All parameters turn one of 21 bones and more, so each row has two coordinates and all parameters.
	sparse := revsparse.CSR[float64, int32]{Rows: m, Data: j.Data}
	return toRows(func() { h.SurfaceResidualsSparseJacobian(&sparse, x) }, j), nil
}
