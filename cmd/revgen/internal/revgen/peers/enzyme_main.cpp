// Calls the gradients of enzyme.cpp.
#include "problem.h"

#define OPERAND double *, double *
extern "C" {
void norm2_adjoint(OPERAND, OPERAND, int n);
void rotate_adjoint(OPERAND, OPERAND, int n);
void bessel_adjoint(OPERAND, OPERAND, int nu, int n);
void snavely_adjoint(OPERAND, OPERAND, OPERAND, const double *, const int *, const int *, int n);
void lstm_adjoint(OPERAND, OPERAND, OPERAND, OPERAND, OPERAND, OPERAND, OPERAND, OPERAND, int n, int m);
void leapfrog_adjoint(OPERAND, OPERAND, OPERAND, OPERAND, double eps, int steps, int n);
}

// A Pair is an operand and its shadow, which Enzyme adds the gradient to.
struct Pair {
	Vector x, g;
};
using Pairs = std::map<std::string, Pair>;

// adjoint measures the gradient of call. What it changes is set back before each call.
template <class F>
void adjoint(const Problem &p, std::vector<const char *> operands, std::vector<const char *> results, F call) {
	Pairs now;
	for (auto name : operands) {
		now[name].x = p["in." + std::string(name)];
		now[name].g.resize(now[name].x.size());
	}
	Pairs start;
	for (auto name : results) {
		const Vector &seed = p["seed." + std::string(name)];
		now[name].x.resize(seed.size());
		start[name] = {now[name].x, seed};
	}
	auto run = [&] {
		for (auto &[name, pair] : start) now[name] = pair;
		call(now);
	};
	run();
	double error = 0;
	for (auto name : operands) error = std::fmax(error, p.distance(name, now[name].g));
	report(p, error, run);
}

#define DUP(name) v[name].x.data(), v[name].g.data()

int main(int, char **argv) {
	auto problem = [&](const char *name) { return Problem(argv[1], name); };
	{
		auto p = problem("norm2");
		int n = p["in.X"].size();
		adjoint(p, {"X"}, {"Out"}, [&](Pairs &v) { norm2_adjoint(DUP("Out"), DUP("X"), n); });
	}
	{
		auto p = problem("rotate");
		int n = p["in.Theta"].size();
		adjoint(p, {"X", "Theta"}, {"X"}, [&](Pairs &v) { rotate_adjoint(DUP("X"), DUP("Theta"), n); });
	}
	{
		auto p = problem("bessel");
		int n = p["in.X"].size(), nu = p.integer("in.Nu");
		adjoint(p, {"X"}, {"Y"}, [&](Pairs &v) { bessel_adjoint(DUP("Y"), DUP("X"), nu, n); });
	}
	{
		auto p = problem("snavely");
		auto camera = p.integers("in.Camera"), point = p.integers("in.Point");
		const double *features = p["in.Features"].data();
		adjoint(p, {"Cameras", "Points"}, {"R"}, [&](Pairs &v) {
			snavely_adjoint(DUP("R"), DUP("Cameras"), DUP("Points"), features, camera.data(), point.data(), camera.size());
		});
	}
	{
		auto p = problem("lstm");
		int n = p["in.C0"].size(), m = p["in.X"].size();
		adjoint(p, {"W", "U", "B", "X", "H0", "C0"}, {"H1", "C1"}, [&](Pairs &v) {
			lstm_adjoint(DUP("H1"), DUP("C1"), DUP("W"), DUP("U"), DUP("B"), DUP("X"), DUP("H0"), DUP("C0"), n, m);
		});
	}
	{
		auto p = problem("leapfrog");
		int n = p["in.M"].size(), steps = p.integer("in.Steps");
		double eps = p["in.Eps"][0];
		adjoint(p, {"X", "V", "M", "Dt"}, {"X", "V"}, [&](Pairs &v) {
			leapfrog_adjoint(DUP("X"), DUP("V"), DUP("M"), DUP("Dt"), eps, steps, n);
		});
	}
}
