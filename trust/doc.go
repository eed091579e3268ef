// Package trust minimises smooth functions with Newton's method in a trust
// region, which gonum's optimize does not have.
//
// The function comes as an optimize.Problem with Func, Grad and Hess, or with
// products of the Hessian with a vector instead of Hess, as reversible kernels
// give them:
//
//	p := trust.Problem{Func: m.Func, Grad: m.Grad, HessVec: m.HessVec}
//	r, err := trust.Minimize(ctx, p, x, nil)
//
// In each iteration the function f is replaced by its quadratic model
//
//	q(s) = f + gᵀs + ½·sᵀHs,  ‖s‖ <= Δ
//
// whose minimiser s is the step. The step is taken if f falls by a fair share
// of what q promises, and the radius Δ follows how good the promise was. So the
// Hessian need not be positive definite, the iteration goes down from saddle
// points, and f never increases.
//
// With Hess the step is the exact minimiser of the model, from the
// eigendecomposition of H, which is computed once for all radii tried at a
// point: O(n³), for up to some hundred variables. With HessVec alone it is the
// truncated conjugate gradients of Steihaug and Toint, which need some products
// a step and a few vectors of memory.
//
// # Sources
//
// J. Nocedal and S. Wright, Numerical Optimization, 2nd edition, algorithms 4.1
// (radius) and 7.2 (Steihaug), section 4.3 (exact step and hard case). J. Moré
// and D. Sorensen, Computing a trust region step, SIAM J. Sci. Stat. Comput. 4
// (1983). T. Steihaug, The conjugate gradient method and trust regions in large
// scale optimization, SIAM J. Numer. Anal. 20 (1983).
package trust
