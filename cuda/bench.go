package cuda

import (
	"errors"
	"time"
)

// A Rate is what a benchmark measured of a pass.
type Rate struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"` // of one pass on the device, without transfers
	Bytes   float64 `json:"bytes"`   // that a pass must move, 0 if it computes rather
	Flops   float64 `json:"flops"`   // that it must compute, 0 if it moves rather
	Peak    float64 `json:"peak"`    // the fraction of the card's copy rate or multiply-add rate
}

// Bench measures the kernels over float64. The size is the length of vectors, and its square
// root is the order of matrices. The first two rates are those of a copy and of fused
// multiply-adds, by which the others are divided. Each pass runs reps times between two
// events, after one run that is not measured.
func Bench(d *Device, size, reps int) (rates []Rate, err error) {
	m := 1
	for m*m < size {
		m *= 2
	}
	n := m * m
	var held []Memory[float64]
	defer func() {
		for _, h := range held {
			err = errors.Join(err, h.Free())
		}
	}()
	array := func(n int) Memory[float64] {
		if err != nil {
			return make(Memory[float64], n) // nothing runs any more
		}
		var a Memory[float64]
		host := make([]float64, n)
		for i := range host {
			host[i] = 1 / float64(i%7+2)
		}
		if a, err = newMemory(d, host); err == nil {
			held = append(held, a)
		}
		return a
	}
	vec := func(a Memory[float64]) Vector[float64] { return Vector[float64]{len(a), a, 1} }
	mat := func(a Memory[float64]) General[float64] { return General[float64]{m, m, a, m} }
	x, y, z, gx, gy := array(n), array(n), array(n), array(n), array(n)
	s, t, out, gout := array(m), array(m), array(1), array(1)
	if err != nil {
		return nil, err
	}

	full := grid{[3]int{1024, 1, 1}, [3]int{maxThreads, 1, 1}}
	chains, count := array(1024*maxThreads), 4*reps
	launch := func(kernel string, g grid, params ...uint64) func() error {
		return func() error {
			w := pass{dev: d}
			d.mu.Lock()
			w.launch(kernel, g, params...)
			return w.end()
		}
	}
	if err != nil {
		return nil, err
	}
	dot := Dot[float64]{&out[0], vec(x), vec(y)}
	gdot := Dot[float64]{&gout[0], vec(gx), vec(gy)}
	axpy := Axpy[float64]{vec(z), &gout[0], vec(x)}
	affine := Affine[float64]{vec(t), mat(x), vec(s), Vector[float64]{}}
	matmul := MatMul[float64]{C: mat(z), A: mat(x), B: mat(y)}
	N, M := float64(n), float64(m)
	for _, b := range []struct {
		name         string
		bytes, flops float64
		run          func() error
	}{
		{"copy", 16 * N, 0, launch("copyF64", vectorGrid(n), uint64(z.address()), uint64(x.address()), uint64(n))},
		{"multiply-add", 0, 1024 * maxThreads * 16 * float64(count), launch("chainsF64", full, uint64(chains.address()), uint64(count))},
		// A kernel of yours is a line here: what it must move or compute, and a call.
		{"Dot Forward", 16 * N, 0, dot.Forward},
		{"Dot Adjoint", 48 * N, 0, func() error { return dot.Adjoint(gdot) }},
		{"Axpy Forward", 24 * N, 0, axpy.Forward},
		{"Sum Forward", 8 * N, 0, Sum[float64]{&out[0], vec(x)}.Forward},
		{"Norm2 Forward", 8 * N, 0, Norm2[float64]{&out[0], vec(x)}.Forward},
		{"Exp Forward", 24 * N, 0, Exp[float64]{vec(z), vec(x)}.Forward},
		{"Tanh Forward", 24 * N, 0, Tanh[float64]{vec(z), vec(x)}.Forward},
		{"LogSumExp Forward", 16 * N, 0, LogSumExp[float64]{&out[0], vec(x)}.Forward},
		{"Softmax Forward", 40 * N, 0, Softmax[float64]{vec(z), vec(x)}.Forward},
		{"Affine Forward", 8 * N, 0, affine.Forward},
		{"MatMul Forward", 0, 2 * M * M * M, matmul.Forward},
	} {
		seconds, err := timeOf(d, b.run, reps)
		if err != nil {
			return nil, err
		}
		r := Rate{Name: b.name, Seconds: seconds, Bytes: b.bytes, Flops: b.flops, Peak: 1}
		if len(rates) >= 2 {
			r.Peak = b.bytes/seconds/(rates[0].Bytes/rates[0].Seconds) + b.flops/seconds/(rates[1].Flops/rates[1].Seconds)
		}
		rates = append(rates, r)
	}
	return rates, nil
}

// timeOf returns the time of a run in seconds, by events.
func timeOf(d *Device, run func() error, reps int) (float64, error) {
	if err := run(); err != nil {
		return 0, err
	}
	t, err := d.Time(func() (err error) {
		for range reps {
			err = errors.Join(err, run())
		}
		return err
	})
	return max(t, time.Nanosecond).Seconds() / float64(reps), err
}
