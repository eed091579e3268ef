package revtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"

	"revnum/internal/byname"
	"revnum/rev"
)

// Passes are the passes of a kernel whose type is not known where it is tested.
type Passes struct {
	Kernel   reflect.Type // a struct
	Operands []rev.Operand

	// Run does what the function of package rev with the name of the pass does, such as
	// "Adjoint". The others are pointers to the kernel's struct. Derivatives that the pass
	// does not take are nil. Run returns [rev.ErrUnsupported] for passes that it does not
	// have. "InverseAdjoint", "InverseTangent" and "InverseAdjointTangent" are passes of
	// rev.Uncall. "ForwardChecked" and "InverseChecked" are those of a rev.Checker.
	Run func(pass string, k, g, t, gt any) error
}

const (
	forward               = "Forward"
	inverse               = "Inverse"
	adjoint               = "Adjoint"
	tangent               = "Tangent"
	adjointTangent        = "AdjointTangent"
	gradient              = "Gradient"
	inverseAdjoint        = "InverseAdjoint"
	inverseTangent        = "InverseTangent"
	inverseAdjointTangent = "InverseAdjointTangent"
	forwardChecked        = "ForwardChecked"
	inverseChecked        = "InverseChecked"
)

// arguments has each pass with the arguments that it takes, by their place in Passes.Run.
var arguments = []struct {
	pass   string
	places []int
}{
	{forward, []int{0}}, {inverse, []int{0}}, {adjoint, []int{0, 1}}, {tangent, []int{0, 2}},
	{adjointTangent, []int{0, 1, 2, 3}}, {gradient, []int{0, 1}},
	{inverseAdjoint, []int{0, 1}}, {inverseTangent, []int{0, 2}}, {inverseAdjointTangent, []int{0, 1, 2, 3}},
}

// checked are the passes of a rev.Checker. They take the kernel alone.
var checked = []string{forwardChecked, inverseChecked}

// firstOrder are the passes that all kernels have.
var firstOrder = []string{forward, inverse, adjoint, tangent}

func placesOf(pass string) []int {
	for _, a := range arguments {
		if a.pass == pass {
			return a.places
		}
	}
	if slices.Contains(checked, pass) {
		return placesOf(forward)
	}
	panic("revtest: no pass " + pass)
}

// A failure is the error of a kernel, passed on as a panic.
type failure struct{ error }

// must panics with err as a failure, unless it is nil.
func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// pass makes a pass. It panics with a failure if the kernel returns an error.
func (c *trial) pass(name string, o ...*operands) {
	var at [4]any
	for i, place := range placesOf(name) {
		at[place] = o[i].k
	}
	must(c.Run(name, at[0], at[1], at[2], at[3]))
}

// drawn returns random arguments of a pass, all with the shape of o.
func (c *trial) drawn(pass string, o *operands) []*operands {
	args := []*operands{o}
	for range placesOf(pass)[1:] {
		args = append(args, c.random(o))
	}
	return args
}

// all returns o, and random cotangents, tangents and tangents of cotangents like it: the arguments of
// all passes.
func (c *trial) all(o *operands) []*operands {
	return []*operands{o, c.random(o), c.random(o), c.random(o)}
}

// argumentsOf returns those of all that a pass takes.
func argumentsOf(pass string, all []*operands) []*operands {
	var args []*operands
	for _, place := range placesOf(pass) {
		args = append(args, all[place])
	}
	return args
}

// clones returns a copy of each of o.
func (c *trial) clones(o []*operands) []*operands {
	d := make([]*operands, len(o))
	for i := range o {
		d[i] = c.clone(o[i])
	}
	return d
}

// has reports whether the kernel has a pass.
func (s *suite) has(pass string) bool { return !s.lacks[pass] }

// probe finds out which passes the kernel lacks. It returns an error if one of them does
// not end.
func (s *suite) probe() error {
	s.lacks = map[string]bool{}
	for _, pass := range append([]string{adjointTangent, inverseTangent, inverseAdjoint, inverseAdjointTangent}, checked...) {
		c := &trial{suite: s, size: s.Sizes[len(s.Sizes)-1], poison: poisonNaN, rnd: rand.New(rand.NewPCG(s.seed, 0))}
		lacks := false
		err := c.guarded(func() error {
			defer func() {
				err, failed := recover().(failure)
				lacks = failed && errors.Is(err.error, rev.ErrUnsupported)
			}()
			c.pass(pass, c.drawn(pass, c.start())...)
			return nil
		})
		if err != nil {
			return fmt.Errorf("%s: %w", pass, err) // lacks still belongs to the pass
		}
		s.lacks[pass] = lacks
	}
	return nil
}

// PassesOf returns the passes of kernels K.
func PassesOf[K rev.Kernel[K]]() *Passes {
	step := rev.AtIndex(func(_, s *state) K { return *s.kernel.(*K) })
	return passesOf(reflect.TypeOf((*K)(nil)).Elem(), byname.NewFrame[K](), step)
}

// passesOf is not compiled for each kernel.
func passesOf(kernel reflect.Type, f *byname.Frame, step rev.Step[state]) *Passes {
	inverseOf := inversesOf(step)
	return &Passes{Kernel: kernel, Operands: rev.OperandsOf(kernel), Run: func(pass string, k, g, t, gt any) error {
		switch {
		case slices.Contains(checked, pass): // as the functions of package rev with these names
			c, ok := k.(interface{ RunChecked(back bool) error }) // of a rev.Checker
			if !ok {
				return rev.ErrUnsupported
			}
			at := reflect.ValueOf(k)
			if at.Type() != reflect.PointerTo(kernel) {
				panic(fmt.Sprintf("revtest: passes of %v over a %v", kernel, at.Type()))
			}
			rev.CheckOf(kernel, at.UnsafePointer(), nil, nil, nil)
			return c.RunChecked(pass == inverseChecked)
		case strings.HasPrefix(pass, inverse) && pass != inverse:
			return inverseOf(pass, k, g, t, gt)
		}
		return f.RunOn(pass, k, g, t, gt)
	}}
}

// A state is the state of a program of one kernel. Its type does not depend on the
// kernel's, so that only the step is compiled for each kernel.
type state struct{ kernel any }

// inversesOf returns the passes of rev.Uncall of the step that runs a kernel.
func inversesOf(step rev.Step[state]) func(pass string, k, g, t, gt any) error {
	back := rev.Uncall(step)
	var room [4]state // used again, so that the passes do not allocate
	return func(pass string, k, g, t, gt any) error {
		room = [4]state{{k}, {g}, {t}, {gt}}
		switch pass {
		case inverseAdjoint:
			return back.Adjoint(&room[0], &room[1])
		case inverseTangent:
			return back.Tangent(&room[0], &room[2])
		case inverseAdjointTangent:
			return back.AdjointTangent(&room[0], &room[1], &room[2], &room[3])
		}
		return rev.ErrUnsupported
	}
}
