// Package byname makes passes of kernels by their names.
package byname

import "revnum/rev"

// Run does what the function of package rev with the name of the pass does, such as
// "Adjoint". Derivatives that the pass does not take may be nil. Run returns
// rev.ErrUnsupported if there is no such pass.
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
