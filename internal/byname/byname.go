// Package byname makes passes of kernels by their names.
package byname

import "revnum/rev"

// Run makes the pass of package rev that has the given name, such as "Adjoint". It also gives
// absent outputs of k their dimensions. Derivatives that the pass does not take may be nil. Run
// returns rev.ErrUnsupported if there is no such pass.
func Run[K rev.Kernel[K]](pass string, k, g, t, gt *K) error {
	var p rev.Pass[K]
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
	case "Gradient":
		return rev.Gradient(*k, *g)
	default:
		return rev.ErrUnsupported
	}
	return (*k).Run(p)
}
