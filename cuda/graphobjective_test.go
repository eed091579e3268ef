package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"revnum/revmodels/graphembed"
)

// TestGraphObjective compares values, gradients and products of the Hessian with those of the
// model, and embeds the Petersen graph.
func TestGraphObjective(t *testing.T) {
	d := interpret(t, 1<<22)
	dev := open(t, d)
	rnd := rand.New(rand.NewPCG(41, 42))
	for _, fixed := range []int{0, 2} {
		var held *mat.Dense
		if fixed > 0 {
			held = mat.NewDense(fixed, 3, []float64{0, 0, 0, 1, 0.5, 0})
		}
		m := graphembed.NewModel(graphembed.Petersen(), 3, held, 0.2)
		before := d.machine.Memory.Used()
		o := must(GraphObjective(dev)(m))(t)
		x, v := make([]float64, m.Dim()), make([]float64, m.Dim())
		for i := range x {
			x[i], v[i] = rnd.NormFloat64(), rnd.NormFloat64()
		}
		got, want := make([]float64, m.Dim()), make([]float64, m.Dim())
		equal := func(name string, got, want []float64) {
			for i, w := range want {
				if !(math.Abs(got[i]-w) <= 1e-13*(1+math.Abs(w))) {
					t.Errorf("%s %d is %v, want %v", name, i, got[i], w)
				}
			}
		}
		for range 2 { // the second time over what the first left
			value := must(o.FuncGrad(got, x))(t)
			equal("value", []float64{value}, []float64{m.FuncGrad(want, x)})
			equal("gradient", got, want)
			if err := o.HessVec(got, x, v); err != nil {
				t.Fatal(err)
			}
			m.HessVec(want, x, v)
			equal("product", got, want)
		}
		if v := must(o.FuncGrad(nil, x))(t); !(math.Abs(v-m.Func(x)) <= 1e-13*(1+v)) {
			t.Errorf("value %v, want %v", v, m.Func(x))
		}
		scratch := dev.first.scratch[1].bytes
		if err := o.Free(); err != nil || d.machine.Memory.Used() > before+scratch {
			t.Errorf("%d bytes before, %d after: %v", before, d.machine.Memory.Used(), err)
		}
		if _, err := o.FuncGrad(got, x); err == nil {
			t.Error("no error after it was freed")
		}
	}

	opts := graphembed.Options{Fixed: 2, Starts: 2, Objective: GraphObjective(dev)}
	e, err := graphembed.Embed(t.Context(), graphembed.Petersen(), 5, &opts)
	if err != nil || !(e.Loss <= 1e-20) {
		t.Errorf("loss %v: %v", e.Loss, err)
	}
	for failing := 1; failing <= 5; failing++ {
		d.failing = d.allocations + failing
		used := d.machine.Memory.Used()
		if o, err := GraphObjective(dev)(graphembed.NewModel(graphembed.Petersen(), 3, mat.NewDense(1, 3, nil), 0.2)); !errors.Is(err, ErrMemory) {
			t.Errorf("allocation %d fails: %v, %v", failing, o, err)
		}
		if d.machine.Memory.Used() != used {
			t.Errorf("allocation %d fails: %d bytes before, %d after", failing, used, d.machine.Memory.Used())
		}
	}
}
