package rev

// Uncall returns the step that undoes step: its Forward is step.Inverse, its
// Adjoint step.InverseAdjoint, and so on. Uncall(Uncall(p)) is p.
//
// A kernel of step that transforms an operand in place must implement InPlace
// for Adjoint and Tangent, or they return an error that wraps Unsupported.
func Uncall[S any](step Step[S]) Step[S] {
	if p, ok := step.(program[S]); ok {
		if u, ok := p.node.(*uncall[S]); ok {
			return u.step
		}
	}
	return program[S]{&uncall[S]{step, nodeOf(step)}}
}

type uncall[S any] struct {
	step Step[S]
	node node[S]
}

func (u *uncall[S]) run(p pass[S]) error {
	p.op = p.op.inverse()
	if err := u.node.run(p); err != nil {
		return within("Uncall", err)
	}
	return nil
}

// Call returns the step that runs the step that is in *step at that time. With
// it a step can refer to itself:
//
//	var walk rev.Step[state]
//	walk = rev.If(more, more, rev.Seq(visit, rev.Call(&walk)), nil)
func Call[S any](step *Step[S]) Step[S] {
	return program[S]{&call[S]{step}}
}

type call[S any] struct{ step *Step[S] }

func (c *call[S]) run(p pass[S]) error { return nodeOf(*c.step).run(p) }

// Unchecked returns step without the checks that make a Violation: the
// conditions after If and in While, the count after Repeat, the ancillas of
// Routine. It is faster, and on a state that breaks a condition its methods no
// longer undo each other. Steps that are not of this package keep their checks.
func Unchecked[S any](step Step[S]) Step[S] {
	return program[S]{&unchecked[S]{nodeOf(step)}}
}

type unchecked[S any] struct{ node node[S] }

func (u *unchecked[S]) run(p pass[S]) error {
	p.unchecked = true
	return u.node.run(p)
}
