// Package byname makes passes of kernels by their names.
package byname

import "revnum/rev"

// Run makes the pass of package rev that has the given name, such as "Adjoint". It also gives
// absent outputs of k their dimensions. Derivatives that the pass does not take may be nil. Run
// returns rev.ErrUnsupported if there is no such pass.
func Run[K rev.Kernel[K]](pass string, k, g, t, gt *K) error {
	if pass == "Gradient" {
		return rev.Gradient(*k, *g)
	}
	p, ok := named(pass, k, g, t, gt)
	if !ok {
		return rev.ErrUnsupported
	}
	return (*k).Run(p)
}

// named checks the operands and returns the pass with the given name. It knows no Gradient, which
// may be several passes.
func named[K any](pass string, k, g, t, gt *K) (p rev.Pass[K], ok bool) {
	switch pass {
	case "Forward":
		p = rev.ForwardPass(k)
	case "Inverse":
		p = rev.InversePass(k)
	case "Adjoint":
		p = rev.AdjointPass(k, g)
	case "Tangent":
		p = rev.TangentPass(k, t)
	case "AdjointTangent":
		p = rev.AdjointTangentPass(k, g, t, gt)
	default:
		return p, false
	}
	return p, true
}

// An each is a kernel that makes passes over many small problems in less time than calls of Run do, and to the
// same bits.
type each[K any] interface {
	// RunEach makes the pass p over the first of n problems of the same shapes, and returns how many it has done. next
	// and q are the kernel and the pass of the second, and the others are as far apart as the first two. It leaves
	// problems that may have errors, and passes that it does not make, to Run. It does not panic.
	RunEach(p rev.Pass[K], next K, q rev.Pass[K], n int) int
}

// RunEach makes a pass as Run does for each of n kernels that have operands of the same shapes and in
// the same places. It checks only the first. move moves the data of the operands of k and its derivatives to those
// of a later problem, or back. RunEach returns the first error, and sets at to the number of
// the kernel that it runs. It has no Gradient of kernels in place, which is many passes.
func RunEach[K rev.Kernel[K]](pass string, n int, move func(by int), at *int, k, g, t, gt *K) error {
	gradient := pass == "Gradient"
	if gradient {
		pass = "Adjoint"
	}
	p, ok := named(pass, k, g, t, gt)
	if !ok {
		return rev.ErrUnsupported
	}
	p.Back = p.Back && !gradient
	fast, _ := any(k).(each[K])
	for i, idle := 0, 0; i < n; i++ {
		setParts(&p, g, t, gt)
		if fast != nil && n-i > 1 && idle < 2 { // it does not ask in vain again and again
			move(1)
			next, q := *k, p
			setParts(&q, g, t, gt)
			move(-1)
			done := fast.RunEach(p, next, q, n-i)
			if i += done; i == n {
				return nil
			}
			if idle++; done > 0 {
				idle = 0
				move(done)
				setParts(&p, g, t, gt)
			}
		}
		kernel := *k
		// What move writes is read after the pass: a processor waits for a copy of what was just written.
		if i+1 < n {
			move(1)
		}
		*at = i
		if err := kernel.Run(p); err != nil {
			return err
		}
	}
	return nil
}

// setParts sets the derivatives that run along with p.
func setParts[K any](p *rev.Pass[K], g, t, gt *K) {
	if p.Adjoint {
		p.G = *g
	}
	if p.Tangent {
		p.T = *t
	}
	if p.Adjoint && p.Tangent {
		p.GT = *gt
	}
}
