// The gradients of functions.h by Enzyme, which transforms the code that clang makes of this file.
#include "functions.h"

extern int enzyme_dup, enzyme_const;
extern "C" void __enzyme_autodiff(...) noexcept;

#define DUP(x) enzyme_dup, x, g##x
#define CONST(x) enzyme_const, x
#define OPERAND(x) double *x, double *g##x

extern "C" {
void norm2_adjoint(OPERAND(out), OPERAND(x), int n) {
	__enzyme_autodiff((void *)norm2<double>, DUP(out), DUP(x), CONST(n));
}
void rotate_adjoint(OPERAND(x), OPERAND(theta), int n) {
	__enzyme_autodiff((void *)rotate<double>, DUP(x), DUP(theta), CONST(n));
}
void bessel_adjoint(OPERAND(y), OPERAND(x), int nu, int n) {
	__enzyme_autodiff((void *)bessel<double>, DUP(y), DUP(x), CONST(nu), CONST(n));
}
void snavely_adjoint(OPERAND(r), OPERAND(cameras), OPERAND(points), const double *features, const int *camera, const int *point, int n) {
	__enzyme_autodiff((void *)snavely<double>, DUP(r), DUP(cameras), DUP(points), CONST(features), CONST(camera), CONST(point), CONST(n));
}
void lstm_adjoint(OPERAND(h1), OPERAND(c1), OPERAND(w), OPERAND(u), OPERAND(b), OPERAND(x), OPERAND(h0), OPERAND(c0), int n, int m) {
	__enzyme_autodiff((void *)lstm<double>, DUP(h1), DUP(c1), DUP(w), DUP(u), DUP(b), DUP(x), DUP(h0), DUP(c0), CONST(n), CONST(m));
}
void leapfrog_adjoint(OPERAND(x), OPERAND(v), OPERAND(m), OPERAND(dt), double eps, int steps, int n) {
	__enzyme_autodiff((void *)leapfrog<double>, DUP(x), DUP(v), DUP(m), DUP(dt), CONST(eps), CONST(steps), CONST(n));
}
}
