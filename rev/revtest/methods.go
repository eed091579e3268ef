package revtest

import (
	"fmt"
	"reflect"

	"revnum/rev"
)

func (c *trial) gradients() error {
	before := c.start()
	g0 := c.random(before)
	s, g := c.clone(before), c.clone(g0)
	c.gradient(s.k, g.k)
	want, wantG := c.clone(before), c.clone(g0)
	c.forward(want.k)
	state := c.clone(want)
	c.adjoint(state.k, wantG.k)
	if c.inPlace() {
		// The state that Adjoint restores is rounded, so Forward rounds again.
		for n := range c.ops {
			if err := c.near(s, want, n, c.RoundTrip*c.eps, want, before); err != nil {
				return in("operands after Gradient, against Forward", err)
			}
		}
	} else if err := c.identical(s, want); err != nil {
		return in("operands after Gradient, against Forward", err)
	}
	return in("cotangents after Gradient, against Adjoint", c.identical(g, wantG))
}

// methods compares the methods of a kernel with the functions of rev. Methods that the
// kernel lacks are not checked.
func (c *trial) methods() error {
	s0 := c.start()
	d := []*operands{c.random(s0), c.random(s0), c.random(s0)}
	for _, m := range []struct {
		name string
		n    int // number of derivatives
		want func(o []*operands)
	}{
		{"Forward", 0, func(o []*operands) { c.forward(o[0].k) }},
		{"Inverse", 0, func(o []*operands) { c.inverse(o[0].k) }},
		{"Adjoint", 1, func(o []*operands) { c.adjoint(o[0].k, o[1].k) }},
		{"Tangent", 1, func(o []*operands) { c.tangent(o[0].k, o[1].k) }},
		{"AdjointTangent", 3, func(o []*operands) { c.adjointTangent(o[0].k, o[1].k, o[2].k, o[3].k) }},
		{"Gradient", 1, func(o []*operands) { c.gradient(o[0].k, o[1].k) }},
	} {
		method, ok := c.kernel.MethodByName(m.name)
		if !ok || m.name == "AdjointTangent" && c.adjointTangent == nil {
			continue
		}
		call := func(o []*operands) (err error) {
			args := make([]reflect.Value, len(o))
			for i := range o {
				args[i] = fields(o[i].k)
			}
			for _, v := range method.Func.Call(args) {
				if !v.IsNil() {
					err = v.Interface().(error)
				}
			}
			return err
		}
		operandsOf := func() []*operands {
			o := []*operands{c.clone(s0)}
			for _, x := range d[:m.n] {
				o = append(o, c.clone(x))
			}
			return o
		}
		if method.Type.NumIn() != 1+m.n {
			return fmt.Errorf("method %s has %d arguments, want %d", m.name, method.Type.NumIn()-1, m.n)
		}
		got, want := operandsOf(), operandsOf()
		must(call(got))
		m.want(want)
		for i := range got {
			if err := c.identical(got[i], want[i]); err != nil {
				return in("method "+m.name+" against the function of rev", err)
			}
		}
		if err := c.checksOperands(m.name, operandsOf(), call); err != nil {
			return err
		}
	}
	return nil
}

// checksOperands returns an error unless a method panics where operands overlap.
func (c *trial) checksOperands(name string, o []*operands, call func(o []*operands) error) error {
	for n, a := range o[0].arrays {
		if a == nil || c.ops[n].Elem != o[0].arrays[n].full.Type().Elem() || a.span() == 0 || readOnly(c.ops[n].Role) {
			continue
		}
		for j, b := range o[0].arrays {
			if j == n || b == nil || b.span() == 0 || c.ops[j].Elem != c.ops[n].Elem {
				continue
			}
			s := append([]*operands{c.clone(o[0])}, o[1:]...)
			x, y := *s[0].arrays[n], *s[0].arrays[j]
			length := x.full.Len() + y.full.Len()
			y.full = reflect.MakeSlice(x.full.Type(), length, length)
			reflect.Copy(y.full, x.full)
			x.full = y.full
			c.setArray(s[0], n, &x)
			c.setArray(s[0], j, &y)
			err := panics(func() { must(call(s)) }, deliberate)
			return in(fmt.Sprintf("method %s where %s and %s overlap", name, c.ops[n].Name, c.ops[j].Name), err)
		}
	}
	return nil
}

// inPlace reports whether the kernel transforms an operand in place.
func (c *trial) inPlace() bool {
	for _, op := range c.ops {
		if op.Role == rev.InOut {
			return true
		}
	}
	return false
}
