package revtest

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"revnum/fixed"
	"revnum/rev"
)

// fixedPoint compares the passes over fixed.Q43 with those over float64.
func (c *trial) fixedPoint() error {
	isFixed := func(op rev.Operand) bool { return op.Elem == reflect.TypeFor[fixed.Q43]() }
	all, some := true, false
	for _, op := range c.Operands {
		all, some = all && (op.Role == rev.Index || isFixed(op)), some || isFixed(op)
	}
	name, _, generic := strings.Cut(c.Kernel.Name(), "[")
	if !all || !some || !generic {
		return nil
	}
	over64 := c.Float64
	if over64 == nil {
		over64 = testedBefore(c.Kernel)
	}
	if over64 == nil {
		return fmt.Errorf("there is nothing to compare with: test %s over float64 first, or set Spec.Float64 to revtest.PassesOf[%[1]s[float64]]()", name)
	}
	other := &trial{suite: &suite{Passes: over64, memory: c.memory, places: c.places}, rnd: c.rnd, poison: c.poison, storage: c.storage}
	s0 := c.start()
	for _, a := range arguments {
		if !c.has(a.pass) {
			continue
		}
		got := c.drawn(a.pass, c.clone(s0))
		want := make([]*operands, len(got))
		for i, o := range got {
			k := reflect.New(over64.Kernel)
			if err := convert(k.Elem(), fields(o.k)); err != nil {
				return err
			}
			want[i] = other.layOut(k.Interface())
		}
		c.pass(a.pass, got...)
		other.pass(a.pass, want...)
		for i := range got {
			if err := c.agree(got[i], want[i]); err != nil {
				return wrap(roles[a.places[i]]+" after "+a.pass, err)
			}
		}
	}
	return nil
}

// tested has the passes of the kernels that were tested, by the names of their types.
var tested sync.Map

func nameOf(kernel reflect.Type) string { return kernel.PkgPath() + "." + kernel.Name() }

// testedBefore returns the passes over float64 of a kernel over fixed.Q43, or nil if they were
// not tested.
func testedBefore(kernel reflect.Type) *Passes {
	q43 := reflect.TypeFor[fixed.Q43]()
	p, _ := tested.Load(strings.ReplaceAll(nameOf(kernel), nameOf(q43), "float64"))
	over64, _ := p.(*Passes)
	return over64
}

// agree returns an error unless the numbers of got, over fixed.Q43, are those of want, over
// float64.
func (c *trial) agree(got, want *operands) error {
	for n, a := range got.arrays {
		b := want.arrays[n]
		if a == nil || a.number == nil {
			continue
		}
		tol := c.Rounding / q43 * max(1, b.magnitude())
		for i := range a.len() {
			if d := math.Abs(a.at(i) - b.at(i)); !(d <= tol) {
				return fmt.Errorf("%s is %v over fixed.Q43, but %v over float64, difference %.3g > %.3g "+
					"(an untyped constant in generic code is raw bits over fixed.Q43: write fixed.Of[T](1) for 1; "+
					"if the arithmetic rounds so much, set Spec.Rounding)", a.name(c.Operands[n], i), a.at(i), b.at(i), d, tol)
			}
		}
	}
	return nil
}

// convert sets dst to src, where each fixed.Q43 becomes a float64.
func convert(dst, src reflect.Value) error {
	switch {
	case src.Type() == dst.Type():
		dst.Set(src)
	case src.Type() == reflect.TypeFor[fixed.Q43]() && dst.Kind() == reflect.Float64:
		dst.SetFloat(fixed.Q43(src.Int()).Float64())
	case src.Kind() != dst.Kind():
		return fmt.Errorf("over fixed.Q43 the kernel has a %v, over float64 a %v", src.Type(), dst.Type())
	case src.Kind() == reflect.Struct:
		for i := range src.NumField() {
			if err := convert(exported(dst.Field(i)), exported(src.Field(i))); err != nil {
				return err
			}
		}
	case src.Kind() == reflect.Slice && !src.IsNil():
		dst.Set(reflect.MakeSlice(dst.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			if err := convert(dst.Index(i), src.Index(i)); err != nil {
				return err
			}
		}
	case src.Kind() == reflect.Pointer && !src.IsNil():
		dst.Set(reflect.New(dst.Type().Elem()))
		return convert(dst.Elem(), src.Elem())
	case src.Kind() == reflect.Slice || src.Kind() == reflect.Pointer:
	default:
		return fmt.Errorf("a %v over fixed.Q43 has no counterpart over float64: skip FixedPoint", src.Type())
	}
	return nil
}

// exported returns an addressable field as a value that may be set.
func exported(f reflect.Value) reflect.Value {
	return reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
}
