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
	c.pass(gradient, s, g)
	want, wantG := c.clone(before), c.clone(g0)
	c.pass(forward, want)
	state := c.clone(want)
	c.pass(adjoint, state, wantG)
	if c.inPlace() {
		// The state that Adjoint restores is rounded, so Forward rounds again.
		for n := range c.Operands {
			if err := c.near(s, want, n, c.RoundTrip*c.eps, want, before); err != nil {
				return wrap("operands after Gradient, against Forward", err)
			}
		}
	} else if err := c.identical(s, want); err != nil {
		return wrap("operands after Gradient, against Forward", err)
	}
	return wrap("cotangents after Gradient, against Adjoint", c.identical(g, wantG))
}

// methods compares the methods of a kernel with the functions of rev. Methods that the
// kernel lacks are not checked.
func (c *trial) methods() error {
	all := c.all(c.start())
	for _, a := range arguments {
		method, ok := c.Kernel.MethodByName(a.pass)
		if !ok || !c.has(a.pass) {
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
		if method.Type.NumIn() != len(a.places) {
			return fmt.Errorf("method %s has %d arguments, want %d", a.pass, method.Type.NumIn()-1, len(a.places)-1)
		}
		o := argumentsOf(a.pass, all)
		got, want := c.clones(o), c.clones(o)
		must(call(got))
		c.pass(a.pass, want...)
		for i := range got {
			if err := c.identical(got[i], want[i]); err != nil {
				return wrap("method "+a.pass+" against the function of rev", err)
			}
		}
		if err := c.checksOperands(a.pass, o, call); err != nil {
			return err
		}
	}
	return nil
}

// checksOperands returns an error unless a method panics where operands overlap.
func (c *trial) checksOperands(name string, o []*operands, call func(o []*operands) error) error {
	for n, a := range o[0].arrays {
		if a == nil || c.Operands[n].Elem != o[0].arrays[n].full.Type().Elem() || a.span() == 0 || readOnly(c.Operands[n].Role) {
			continue
		}
		for j, b := range o[0].arrays {
			if j == n || b == nil || b.span() == 0 || c.Operands[j].Elem != c.Operands[n].Elem {
				continue
			}
			s := append([]*operands{c.clone(o[0])}, o[1:]...)
			x, y := *s[0].arrays[n], *s[0].arrays[j]
			length := x.full.Len() + y.full.Len()
			y.setFull(reflect.MakeSlice(x.full.Type(), length, length))
			copy(y.raw(), x.raw())
			x.setFull(y.full)
			c.setArray(s[0], n, &x)
			c.setArray(s[0], j, &y)
			err := panics(func() { must(call(s)) }, deliberate)
			return wrap(fmt.Sprintf("method %s where %s and %s overlap", name, c.Operands[n].Name, c.Operands[j].Name), err)
		}
	}
	return nil
}

// inPlace reports whether the kernel transforms an operand in place.
func (c *trial) inPlace() bool {
	for _, op := range c.Operands {
		if op.Role == rev.InOut {
			return true
		}
	}
	return false
}
