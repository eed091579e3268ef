package rev

// Uncall returns the inverse of step. Its Forward is step.Inverse, and its Adjoint is
// the inverse of step.Adjoint. Uncall(Uncall(p)) is p.
//
// If step has a kernel in place whose Adjoint or Tangent has no inverse, the same
// method of the result returns an error that wraps an *[Unsupported].
func Uncall[S any](step Step[S]) Step[S] {
	if u, ok := step.node.(*uncallNode); ok {
		return Step[S]{node: u.step}
	}
	return Step[S]{node: &uncallNode{step.node}}
}

type uncallNode struct{ step node }

func (u *uncallNode) run(p pass) error {
	p.back = !p.back
	return within("Uncall", p.over(u.step))
}

// Call returns the step that runs *step, as it is when the program runs. A step can
// refer to itself with it:
//
//	var walk rev.Step[state]
//	walk = rev.If(more, more, rev.Seq(visit, rev.Call(&walk)), rev.Step[state]{})
//
// Recursion uses the ordinary stack.
func Call[S any](step *Step[S]) Step[S] {
	return Step[S]{node: &callNode{&step.node}}
}

type callNode struct{ step *node }

func (c *callNode) run(p pass) error { return p.over(*c.step) }
