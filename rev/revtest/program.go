package revtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"revnum/fixed"
	"revnum/rev"
)

// Program checks a program that starts from the given state:
//
//   - Inverse restores what Forward changed, to the bit in fixed point.
//   - Tangent agrees with central differences of Forward.
//   - Adjoint is the transpose of Tangent for each field of the state alone, and restores
//     what Forward changed. The failure names a cotangent to which a step adds nothing or
//     too much.
//   - The adjoint of rev.Uncall is the inverse of Adjoint. (A program without it passes.)
//   - rev.ValueGradient of each single number that Forward changes gives the value of
//     Forward and the gradient of Adjoint.
//   - AdjointTangent agrees with central differences of Adjoint. (A program without it passes.)
//
// The program must be defined and smooth near the state. Program varies all numbers of
// a copy, except those in fields tagged rev:"const". The state itself is not changed. A
// failure names the number, and also the step if it is in a Seq. Set REVTEST_SEED to a
// number to try other directions.
//
// Tolerances are relative to the largest magnitude in the state, or to the sum of the
// magnitudes of the products. They are 10⁴ units of rounding, ten times the Difference
// of [Spec] for first derivatives, and thirty times for second derivatives.
func Program[S any](t *testing.T, prog rev.Step[S], state *S) {
	t.Helper()
	seed := uint64(1)
	if v, err := strconv.ParseUint(os.Getenv("REVTEST_SEED"), 10, 64); err == nil {
		seed = v
	}
	if err := checkProgram(prog, state, seed); err != nil {
		t.Errorf("REVTEST_SEED=%d: %v", seed, err)
	}
}

// checkProgram returns the first failure of prog. In a Seq it is the failure of the
// innermost step that fails.
func checkProgram[S any](prog rev.Step[S], state *S, seed uint64) error {
	c := &programTrial[S]{prog: prog, state: state, seed: seed}
	err := c.run()
	if err == nil {
		return nil
	}
	s := c.copyOf(state)
	for i, part := range prog.Parts() {
		if inner := checkProgram(part, s, seed); inner != nil {
			return fmt.Errorf("Seq[%d].%w", i, inner)
		}
		if part.Forward(s) != nil {
			break
		}
	}
	return fmt.Errorf("%v: %w", prog, err)
}

// A programTrial is a check of a program.
type programTrial[S any] struct {
	prog  rev.Step[S]
	state *S
	seed  uint64
}

// A stateNumber is a number in a state.
type stateNumber struct {
	*number
	at       unsafe.Pointer
	part     int
	path     string
	constant bool
}

// field returns the path of n without the indices at its end.
func (n *stateNumber) field() string {
	path := n.path
	for strings.HasSuffix(path, "]") {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	return path
}

func (n *stateNumber) value() float64  { return n.get(n.at, n.part) }
func (n *stateNumber) setTo(v float64) { n.set(n.at, n.part, v) }

// numbersOf returns the numbers in a state, each once. They are in the same order in all
// states that ZeroLike makes of it.
func numbersOf[S any](s *S) []stateNumber {
	w := stateWalk{seen: map[visit]bool{}}
	w.walk(reflect.ValueOf(s).Elem(), "", false)
	return w.numbers
}

type stateWalk struct {
	numbers []stateNumber
	seen    map[visit]bool
}

type visit struct {
	at  unsafe.Pointer
	typ reflect.Type
}

func (w *stateWalk) walk(v reflect.Value, path string, constant bool) {
	t := v.Type()
	if num := numbers[t]; num != nil {
		at := v.Addr().UnsafePointer()
		if w.seen[visit{at, t}] {
			return
		}
		w.seen[visit{at, t}] = true
		for part := range num.parts {
			w.numbers = append(w.numbers, stateNumber{num, at, part, path, constant})
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			field := reflect.NewAt(f.Type, v.Field(i).Addr().UnsafePointer()).Elem()
			name := f.Name
			if path != "" {
				name = path + "." + f.Name
			}
			w.walk(field, name, constant || path == "" && f.Tag.Get("rev") == "const")
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			w.walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), constant)
		}
	case reflect.Pointer:
		if !v.IsNil() && !w.seen[visit{v.UnsafePointer(), t}] {
			w.seen[visit{v.UnsafePointer(), t}] = true
			w.walk(v.Elem(), path, constant)
		}
	}
}

// copyOf returns a copy of a state.
func (c *programTrial[S]) copyOf(s *S) *S {
	z := rev.ZeroLike(s)
	to := numbersOf(z)
	for i, n := range numbersOf(s) {
		to[i].copyFrom(&n)
	}
	return z
}

// copyFrom copies the bits of a number of the same type.
func (n *stateNumber) copyFrom(from *stateNumber) {
	if n.exact {
		*(*int64)(n.at) = *(*int64)(from.at)
		return
	}
	n.setTo(from.value())
}

// random returns a state like c.state with random numbers. Constants are 0 in a state
// of tangents.
func (c *programTrial[S]) random(stream uint64, tangent bool) *S {
	rnd := rand.New(rand.NewPCG(c.seed, stream))
	z := rev.ZeroLike(c.state)
	for _, n := range numbersOf(z) {
		if v := rnd.NormFloat64(); !n.constant || !tangent {
			n.setTo(v)
		}
	}
	return z
}

// plus returns s + e·t.
func (c *programTrial[S]) plus(s *S, e float64, t *S) *S {
	z := c.copyOf(s)
	dir := numbersOf(t)
	for i, n := range numbersOf(z) {
		n.setTo(n.value() + float64(e*dir[i].value()))
	}
	return z
}

// near returns an error unless the numbers of got are those of want within tol times the
// largest magnitude in want, or in others. Each number has the tolerance of its type.
func near[S any](what string, got, want *S, tol func(n *stateNumber) float64, others ...*S) error {
	scale := 0.0
	for _, s := range append(others, want) {
		for _, n := range numbersOf(s) {
			scale = max(scale, math.Abs(n.value()))
		}
	}
	w := numbersOf(want)
	for i, n := range numbersOf(got) {
		bound := scale * tol(&n)
		if d := math.Abs(n.value() - w[i].value()); !(d <= bound) {
			return fmt.Errorf("%s: %s is %v, want %v", what, n.path, n.value(), w[i].value())
		}
	}
	return nil
}

func rounding(n *stateNumber) float64 { return 1e4 * n.eps }

// restoring is the tolerance for restored numbers. It is 0 for fixed point, which comes
// back to the bit.
func restoring(n *stateNumber) float64 {
	if n.exact {
		return 0
	}
	return rounding(n)
}

func firstDifference(n *stateNumber) float64  { return 10 * n.diff }
func secondDifference(n *stateNumber) float64 { return 30 * n.diff }

// derivative returns the derivative of f at 0, as derivative of a trial does.
func (c *programTrial[S]) derivative(f func(e float64) (*S, error)) (*S, error) {
	h := 0.0
	for _, n := range numbersOf(c.state) {
		h = max(h, n.step)
	}
	var at [4]*S
	for i, e := range []float64{h, -h, h / 2, -h / 2} {
		var err error
		if at[i], err = f(e); err != nil {
			return nil, err
		}
	}
	d := rev.ZeroLike(c.state)
	a, b, p, q := numbersOf(at[0]), numbersOf(at[1]), numbersOf(at[2]), numbersOf(at[3])
	for i, n := range numbersOf(d) {
		wide, narrow := (a[i].value()-b[i].value())/(2*h), (p[i].value()-q[i].value())/h
		n.setTo(narrow + (narrow-wide)/3)
	}
	return d, nil
}

func (c *programTrial[S]) run() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	s := c.copyOf(c.state)
	if err := c.prog.Forward(s); err != nil {
		return wrap("Forward", err)
	}
	after := c.copyOf(s)
	if err := c.prog.Inverse(s); err != nil {
		return wrap("Inverse", err)
	}
	if err := near("Forward, Inverse", s, c.state, restoring, after); err != nil {
		return err
	}

	t0, g0 := c.random(1, true), c.random(2, false)
	s, t := c.copyOf(c.state), c.copyOf(t0)
	if err := c.prog.Tangent(s, t); err != nil {
		return wrap("Tangent", err)
	}
	if err := near("Tangent against Forward", s, after, rounding, c.state); err != nil {
		return err
	}
	d, err := c.derivative(func(e float64) (*S, error) {
		x := c.plus(c.state, e, t0)
		if err := c.prog.Forward(x); err != nil {
			return nil, err
		}
		// A program that keeps bits outside the state must invert its runs from the
		// last to the first.
		return c.copyOf(x), c.prog.Inverse(x)
	})
	if err != nil {
		return wrap("Forward nearby", err)
	}
	if err := near("Tangent against differences of Forward", t, d, firstDifference, t0, after); err != nil {
		return err
	}

	g := c.copyOf(g0)
	if err := c.prog.Adjoint(s, g); err != nil {
		return wrap("Adjoint", err)
	}
	if err := near("Forward, Adjoint", s, c.state, restoring, after); err != nil {
		return err
	}
	if err := c.transposed(g0, g, t0, after); err != nil {
		return err
	}
	if err := c.uncalled(s, g, g0, after); err != nil {
		return err
	}
	if err := c.gradients(after); err != nil {
		return err
	}
	return c.secondOrder(t0, g0)
}

// transposed returns an error unless ⟨g, J·t0⟩ = ⟨Jᵀ·g, t0⟩, where jg is Jᵀ·g, and unless
// the same holds with t0 in one field and 0 in all others, for each field. The error names
// a number in that field whose cotangent is wrong. There g is 0 where Forward changes
// nothing, as it would hide what the program adds. after is the state after Forward.
func (c *programTrial[S]) transposed(g, jg, t0, after *S) error {
	wrong, err := c.compareAlong(g, jg, t0, 0, len(numbersOf(t0)))
	if err != nil {
		return err
	}
	g = c.copyOf(g)
	before := numbersOf(c.state)
	changed := numbersOf(after)
	for i, n := range numbersOf(g) {
		if changed[i].value() == before[i].value() {
			n.setTo(0)
		}
	}
	t0 = c.copyOf(t0)
	for _, n := range numbersOf(t0) {
		if v := n.value(); v != 0 {
			n.setTo(v + math.Copysign(1, v)) // so that none is small
		}
	}
	s, jg := c.copyOf(c.state), c.copyOf(g)
	if err := c.prog.Forward(s); err != nil {
		return wrap("Forward", err)
	}
	if err := c.prog.Adjoint(s, jg); err != nil {
		return wrap("Adjoint", err)
	}
	if err := c.byField(g, jg, t0); err != nil {
		return err
	}
	return wrong
}

// byField is transposed for each field alone.
func (c *programTrial[S]) byField(g, jg, t0 *S) error {
	numbers := numbersOf(t0)
	for lo := 0; lo < len(numbers); {
		hi := lo + 1
		for hi < len(numbers) && numbers[hi].field() == numbers[lo].field() {
			hi++
		}
		wrong, err := c.compareAlong(g, jg, t0, lo, hi)
		for wrong != nil && hi-lo > 1 { // in which half of the field?
			mid := lo + (hi-lo)/2
			first, err := c.compareAlong(g, jg, t0, lo, mid)
			if err != nil {
				return err
			}
			if first != nil {
				wrong, hi = first, mid
				continue
			}
			second, err := c.compareAlong(g, jg, t0, mid, hi)
			if err != nil {
				return err
			}
			if second == nil {
				break
			}
			wrong, lo = second, mid
		}
		if err == nil && wrong != nil {
			err = wrong
			if n := numbersOf(jg)[lo]; hi-lo == 1 {
				err = fmt.Errorf("the cotangent of %s after Adjoint is %v: %w", n.path, n.value(), wrong)
			}
		}
		if err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// compareAlong compares ⟨g, J·t⟩ with ⟨Jᵀ·g, t⟩, where t is t0 in the numbers lo, ..., hi-1 and 0 in
// all others. wrong says how they differ. jg is Jᵀ·g.
func (c *programTrial[S]) compareAlong(g, jg, t0 *S, lo, hi int) (wrong, err error) {
	t := c.copyOf(t0)
	for i, n := range numbersOf(t) {
		if i < lo || i >= hi {
			n.setTo(0)
		}
	}
	b, mb, eps := dotOf(jg, t)
	s := c.copyOf(c.state)
	if err := c.prog.Tangent(s, t); err != nil {
		return nil, wrap("Tangent", err)
	}
	if err := c.prog.Inverse(s); err != nil {
		return nil, wrap("Inverse", err)
	}
	a, ma, _ := dotOf(g, t)
	if tol := 1e4 * eps * (ma + mb); !(math.Abs(a-b) <= tol) {
		wrong = fmt.Errorf("the adjoint is not the transpose of the tangent: ⟨g, J·t⟩ = %v, but ⟨Jᵀ·g, t⟩ = %v, difference %.3g > %.3g", a, b, math.Abs(a-b), tol)
	}
	return wrong, nil
}

// uncalled returns an error unless the adjoint of rev.Uncall turns s and g, as Adjoint has
// left them, into after and g0.
func (c *programTrial[S]) uncalled(s, g, g0, after *S) error {
	s, g = c.copyOf(s), c.copyOf(g)
	before := c.copyOf(g)
	switch err := rev.Uncall(c.prog).Adjoint(s, g); {
	case errors.Is(err, rev.ErrUnsupported):
		// A program that keeps bits outside the state has them back only by going on.
		return nil
	case err != nil:
		return wrap("Adjoint of Uncall", err)
	}
	if err := near("Adjoint, Adjoint of Uncall", s, after, rounding, c.state); err != nil {
		return err
	}
	if err := near("cotangents after Adjoint, Adjoint of Uncall", g, g0, rounding, before); err != nil {
		return err
	}
	return wrap("Inverse", c.prog.Inverse(s))
}

// gradients compares rev.ValueGradient with Forward and Adjoint, for each number outside
// slices that Forward changes. after is the state after Forward.
func (c *programTrial[S]) gradients(after *S) error {
	changed := numbersOf(after)
	for i, n := range numbersOf(c.state) {
		if n.parts > 1 || n.field() != n.path || changed[i].value() == n.value() {
			continue
		}
		s, g := c.copyOf(c.state), rev.ZeroLike(c.state)
		value, err := valueGradient(&n, func(s *S) unsafe.Pointer { return numbersOf(s)[i].at }, c.prog, s, g)
		if err != nil {
			return wrap("ValueGradient of "+n.path, err)
		}
		if d := math.Abs(value - changed[i].value()); !(d <= 1e4*n.eps*max(math.Abs(value), math.Abs(n.value()))) {
			return fmt.Errorf("ValueGradient of %s is %v, but Forward gives %v", n.path, value, changed[i].value())
		}
		if err := near("the state after ValueGradient of "+n.path, s, c.state, rounding, after); err != nil {
			return err
		}
		s, want := c.copyOf(c.state), rev.ZeroLike(c.state)
		numbersOf(want)[i].setTo(1)
		if err := c.prog.Forward(s); err != nil {
			return wrap("Forward", err)
		}
		if err := c.prog.Adjoint(s, want); err != nil {
			return wrap("Adjoint", err)
		}
		if err := near("cotangents of ValueGradient of "+n.path+" against Adjoint", g, want, rounding); err != nil {
			return err
		}
	}
	return nil
}

// valueGradient is rev.ValueGradient for the number at the address that at returns, which
// has the type of n.
func valueGradient[S any](n *stateNumber, at func(s *S) unsafe.Pointer, prog rev.Step[S], s, g *S) (float64, error) {
	switch {
	case n.exact:
		v, err := rev.ValueGradient(prog, func(s *S) *fixed.Q43 { return (*fixed.Q43)(at(s)) }, s, g)
		return v.Float64(), err
	case n.eps > 0x1p-30:
		v, err := rev.ValueGradient(prog, func(s *S) *float32 { return (*float32)(at(s)) }, s, g)
		return float64(v), err
	}
	return rev.ValueGradient(prog, func(s *S) *float64 { return (*float64)(at(s)) }, s, g)
}

// dotOf returns ⟨x, y⟩, the sum of the magnitudes of its terms, and the coarsest
// rounding unit.
func dotOf[S any](x, y *S) (sum, magnitude, eps float64) {
	other := numbersOf(y)
	for i, n := range numbersOf(x) {
		p := float64(n.value() * other[i].value())
		sum += p
		magnitude += math.Abs(p)
		eps = max(eps, n.eps)
	}
	return sum, magnitude, eps
}

func (c *programTrial[S]) secondOrder(t0, g0 *S) error {
	s, t, g, gt0 := c.copyOf(c.state), c.copyOf(t0), c.copyOf(g0), c.random(3, false)
	gt := c.copyOf(gt0)
	if err := c.prog.Tangent(s, t); err != nil {
		return wrap("Tangent", err)
	}
	err := c.prog.AdjointTangent(s, g, t, gt)
	if errors.Is(err, rev.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return wrap("AdjointTangent", err)
	}
	d, err := c.derivative(func(e float64) (*S, error) {
		x, y := c.plus(c.state, e, t0), c.plus(g0, e, gt0)
		if err := c.prog.Forward(x); err != nil {
			return nil, err
		}
		return y, c.prog.Adjoint(x, y)
	})
	if err != nil {
		return wrap("Adjoint nearby", err)
	}
	return near("AdjointTangent against differences of Adjoint", gt, d, secondDifference, gt0, g)
}
