package cuda

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"revnum/internal/logs"
	"revnum/rev"
	"revnum/revmodels/gmm"
)

// MixturePoints are the points of a fit by package gmm, in the memory of a device. They are
// the Points of gmm.Options and of gmm.FitPoints: the fit runs on the host, and the device
// computes the moments of expectation maximisation, and the log posterior and its gradient
// for the polish, as LogPosterior does. The same points give the same bits. A fit on the host
// differs from it in rounding. Its methods may be called from any goroutine.
type MixturePoints struct {
	host *mat.Dense
	kind gmm.Covariance
	x    General[float64]

	mu         sync.Mutex      // held by a call that uses what follows
	parameters Memory[float64] // of FuncGrad, and their gradient after them
	out        Memory[float64] // its value, and the cotangent
}

// NewMixturePoints returns a copy of x in the memory of d, for mixtures with covariances of
// the given kind. It keeps x, which must not change, for the first step of a fit. Call Free
// when you are done.
func NewMixturePoints(d *Device, x *mat.Dense, kind gmm.Covariance) (*MixturePoints, error) {
	p := &MixturePoints{host: x, kind: kind}
	var err error
	if p.x, err = NewGeneral(d, rev.ViewDense(x)); err != nil {
		return nil, err
	}
	if p.out, err = newMemory(d, []float64{0, -1}); err != nil {
		return nil, errors.Join(err, p.x.Data.Free())
	}
	return p, nil
}

// Format implements fmt.Formatter for all verbs.
func (p *MixturePoints) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "%d points of a mixture with %d numbers each on a device", p.x.Rows, p.x.Cols)
}

// Free waits for all passes of the device and gives the memory back. What p computes on the device
// is an error afterwards.
func (p *MixturePoints) Free() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := errors.Join(p.x.Data.Free(), p.out.Free())
	if p.parameters != nil {
		err = errors.Join(err, p.parameters.Free())
	}
	return err
}

// Dims implements gmm.Points.
func (p *MixturePoints) Dims() (n, d int) { return p.host.Dims() }

// Columns implements gmm.Points. It computes them on the host.
func (p *MixturePoints) Columns() (means, variances []float64) {
	n, d := p.host.Dims()
	column := make([]float64, n)
	means, variances = make([]float64, d), make([]float64, d)
	for j := range d {
		means[j], variances[j] = stat.PopMeanVariance(mat.Col(column, j, p.host), nil)
	}
	return means, variances
}

// Moments implements gmm.Points. In the first step of a fit, in which points belong to the
// nearest mean, it computes them on the host.
func (p *MixturePoints) Moments(dst []float64, e *gmm.Expectation) error {
	n, d := p.host.Dims()
	numbers := e.Numbers()
	scale := numbers[len(numbers)-d:]
	if slices.ContainsFunc(scale, func(v float64) bool { return v != 0 }) {
		e.Moments(dst, rev.ViewDense(p.host))
		return nil
	}
	comps := p.components(len(numbers))
	logs, own, means := numbers[:comps], numbers[comps:2*comps], numbers[2*comps:comps*(2+d)]
	factors, origin := numbers[comps*(2+d):len(numbers)-2*d], numbers[len(numbers)-2*d:len(numbers)-d]
	base := slices.Clone(means) // what moments are about
	for c, v := range own {
		if v == 0 {
			copy(base[c*d:(c+1)*d], origin)
		}
	}
	q, bias := p.unpack(logs, factors, d)

	k := LogPosterior[float64]{X: p.x}
	w := begin(&k, &rev.Pass[LogPosterior[float64]]{})
	m := mixture[float64]{pass: &w, k: &k, n: n, d: d, comps: comps}
	m.cut()
	var a arena
	var centre, about Memory[float64]
	for range 2 { // count, then take
		m.reserve(&a, true, false)
		centre, about = take[float64](&a, comps*d), take[float64](&a, comps*d)
		if a.at == 0 {
			a = arena{at: m.room(1, int(a.used))}
		}
		if m.err != nil {
			return w.end()
		}
	}
	k.Means = General[float64]{Rows: comps, Cols: d, Data: centre, Stride: d}
	m.about = General[float64]{Rows: comps, Cols: d, Data: about, Stride: d}
	m.set(m.q, q)
	m.set(m.bias, bias)
	m.set(centre, means)
	m.set(about, base)
	m.overPoints(true, &LogPosterior[float64]{})
	m.join()
	sums, moments := make([]float64, len(m.sums)), make([]float64, len(m.moments)/m.parts)
	m.get(sums, m.sums)
	m.get(moments, m.moments[:len(moments)])
	if err := w.end(); err != nil {
		return err
	}
	clear(dst)
	dst[0] = floats.Sum(sums)
	w0, w1, w2 := dst[1:1+comps], dst[1+comps:1+comps+comps*d], dst[1+comps+comps*d:]
	each := 1 + d + d*d
	for c := range comps {
		of := moments[c*each : (c+1)*each]
		w0[c] = of[0]
		copy(w1[c*d:], of[1:1+d])
		for i := range d {
			row := of[1+d+i*d : 1+d+(i+1)*d]
			if p.diagonal() {
				w2[c*d+i] = row[i]
				continue
			}
			copy(w2[(c*d+i)*d:], row[:i+1])
		}
	}
	return nil
}

// set copies numbers to scratch memory of a pass.
func (m *mixture[T]) set(to Memory[T], from []T) {
	if m.err == nil {
		m.err = wrap(m.stream.toDevice(to.address(), bytesOf(from)))
	}
}

// get copies numbers of scratch memory to the host.
func (m *mixture[T]) get(to []T, from Memory[T]) {
	if m.err == nil && len(to) > 0 {
		m.err = wrap(m.stream.toHost(from.address(), bytesOf(to)))
	}
}

func (p *MixturePoints) diagonal() bool { return p.kind == gmm.Diagonal || p.kind == gmm.Spherical }

// components returns how many components an Expectation of that many numbers has: a log
// weight, a mean and a factor each, besides the origin, the scale and, if it is tied, the
// factor of all.
func (p *MixturePoints) components(numbers int) int {
	_, d := p.host.Dims()
	numbers -= 2 * d
	switch {
	case p.diagonal():
		return numbers / (2 + 2*d)
	case p.kind == gmm.Tied:
		return (numbers - d*d) / (2 + d)
	}
	return numbers / (2 + d + d*d)
}

// unpack returns Q of each component, and what is added to its quadratic form.
func (p *MixturePoints) unpack(logWeights, factors []float64, d int) (q, bias []float64) {
	q, bias = make([]float64, len(logWeights)*d*d), make([]float64, len(logWeights))
	for c, v := range logWeights {
		own := q[c*d*d : (c+1)*d*d]
		switch {
		case p.diagonal():
			for j := range d {
				own[j*d+j] = factors[c*d+j]
			}
		case p.kind == gmm.Tied:
			copy(own, factors)
		default:
			copy(own, factors[c*d*d:])
		}
		bias[c] = v - float64(float64(d)/2*math.Log(2*math.Pi))
		for j := range d {
			bias[c] += logs.Log(own[j*d+j])
		}
	}
	return q, bias
}

// FuncGrad implements gmm.Points. It keeps memory for the parameters, of which there are as many as
// in the last call.
func (p *MixturePoints) FuncGrad(grad, x []float64) (float64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, d := p.host.Dims()
	size := len(x)
	comps := size / (1 + d + d*(d+1)/2)
	if len(p.parameters) != 2*size {
		if p.parameters != nil {
			if err := p.parameters.Free(); err != nil {
				return 0, err
			}
		}
		dev := deviceOf(p.x.Data.address())
		if dev == nil {
			return 0, wrap(errForeign)
		}
		var err error
		if p.parameters, err = newMemory(dev, make([]float64, 2*size)); err != nil {
			p.parameters = nil
			return 0, err
		}
	}
	view := func(data Memory[float64]) LogPosterior[float64] {
		triangle := d * (d + 1) / 2
		return LogPosterior[float64]{
			Alpha:   Vector[float64]{N: comps, Data: data[:comps], Inc: 1},
			Means:   General[float64]{Rows: comps, Cols: d, Data: data[comps : comps*(1+d)], Stride: d},
			Factors: General[float64]{Rows: comps, Cols: triangle, Data: data[comps*(1+d):], Stride: triangle},
		}
	}
	k, g := view(p.parameters[:size:size]), view(p.parameters[size:])
	k.X, k.Out = p.x, &p.out[0]
	pass := rev.Pass[LogPosterior[float64]]{}
	if err := p.parameters.Set(slices.Concat(x, make([]float64, size))); err != nil {
		return 0, err
	}
	if err := p.out.Set([]float64{0, -1}); err != nil {
		return 0, err
	}
	if grad != nil {
		g.Out = &p.out[1]
		pass.Adjoint, pass.G = true, g
	}
	if err := k.Run(pass); err != nil {
		return 0, err
	}
	value, err := Get(k.Out)
	if err == nil && grad != nil {
		err = p.parameters[size:].Get(grad)
	}
	return -value, err
}
