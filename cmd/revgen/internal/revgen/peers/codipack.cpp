// The gradients of functions.h by CoDiPack, which records a tape of each call.
#include <codi.hpp>

#include "functions.h"
#include "problem.h"

using Real = codi::RealReverse;
using Reals = std::vector<Real>;

// An Operand has what the tape knows its numbers by, which call may change.
struct Operand {
	const char *name;
	const Vector &start;
	Reals &now;
	std::vector<Real::Identifier> ids;
	Vector gradient;
};

struct Result {
	const Vector &seed;
	Reals &now;
};

// adjoint measures the gradient of call, which finds its operands and results by name.
template <class F>
void adjoint(const Problem &p, std::vector<const char *> operands, std::vector<const char *> results, F call) {
	auto &tape = Real::getTape();
	std::map<std::string, Reals> now;
	std::vector<Operand> in;
	for (auto name : operands) {
		const Vector &start = p["in." + std::string(name)];
		in.push_back({name, start, now[name], std::vector<Real::Identifier>(start.size()), Vector(start.size())});
	}
	std::vector<Result> out;
	for (auto name : results) {
		const Vector &seed = p["seed." + std::string(name)];
		out.push_back({seed, now[name]});
		now[name].resize(seed.size());
	}
	auto run = [&] {
		tape.reset();
		tape.setActive();
		for (auto &x : in) {
			x.now.assign(x.start.begin(), x.start.end());
			for (size_t i = 0; i < x.now.size(); i++) {
				tape.registerInput(x.now[i]);
				x.ids[i] = x.now[i].getIdentifier();
			}
		}
		call(now);
		for (auto &y : out)
			for (auto &number : y.now) tape.registerOutput(number);
		tape.setPassive();
		for (auto &y : out)
			for (size_t i = 0; i < y.now.size(); i++) y.now[i].setGradient(y.seed[i]);
		tape.evaluate();
		for (auto &x : in)
			for (size_t i = 0; i < x.ids.size(); i++) x.gradient[i] = tape.getGradient(x.ids[i]);
		tape.clearAdjoints();
	};
	run();
	double error = 0;
	for (auto &x : in) error = std::fmax(error, p.distance(x.name, x.gradient));
	report(p, error, run);
}

int main(int, char **argv) {
	auto problem = [&](const char *name) { return Problem(argv[1], name); };
	{
		auto p = problem("norm2");
		int n = p["in.X"].size();
		adjoint(p, {"X"}, {"Out"}, [&](auto &v) { norm2(v["Out"].data(), v["X"].data(), n); });
	}
	{
		auto p = problem("rotate");
		int n = p["in.Theta"].size();
		adjoint(p, {"X", "Theta"}, {"X"}, [&](auto &v) { rotate(v["X"].data(), v["Theta"].data(), n); });
	}
	{
		auto p = problem("bessel");
		int n = p["in.X"].size(), nu = p.integer("in.Nu");
		adjoint(p, {"X"}, {"Y"}, [&](auto &v) { bessel(v["Y"].data(), v["X"].data(), nu, n); });
	}
	{
		auto p = problem("snavely");
		auto camera = p.integers("in.Camera"), point = p.integers("in.Point");
		const double *features = p["in.Features"].data();
		adjoint(p, {"Cameras", "Points"}, {"R"}, [&](auto &v) {
			snavely(v["R"].data(), v["Cameras"].data(), v["Points"].data(), features, camera.data(), point.data(), camera.size());
		});
	}
	{
		auto p = problem("lstm");
		int n = p["in.C0"].size(), m = p["in.X"].size();
		adjoint(p, {"W", "U", "B", "X", "H0", "C0"}, {"H1", "C1"}, [&](auto &v) {
			lstm(v["H1"].data(), v["C1"].data(), v["W"].data(), v["U"].data(), v["B"].data(), v["X"].data(), v["H0"].data(), v["C0"].data(), n, m);
		});
	}
	{
		auto p = problem("leapfrog");
		int n = p["in.M"].size(), steps = p.integer("in.Steps");
		double eps = p["in.Eps"][0];
		adjoint(p, {"X", "V", "M", "Dt"}, {"X", "V"}, [&](auto &v) {
			leapfrog(v["X"].data(), v["V"].data(), v["M"].data(), v["Dt"].data(), eps, steps, n);
		});
	}
}
