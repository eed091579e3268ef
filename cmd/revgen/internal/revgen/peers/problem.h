// Problems that go test has written, and what all C++ programs here do with them.
#pragma once
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using Vector = std::vector<double>;

// A Problem has the operands of a function, the cotangents of its results (seed.NAME), and the
// gradients of the kernel in Go (want.NAME).
struct Problem {
	std::map<std::string, Vector> numbers;
	std::string name;

	Problem(const std::string &folder, const std::string &function) : name(function) {
		std::ifstream in(folder + "/" + function + ".txt");
		std::string key;
		size_t size;
		while (in >> key >> size) {
			Vector &v = numbers[key];
			v.resize(size);
			for (double &x : v) in >> x;
		}
		if (numbers.empty() || in.bad()) {
			std::fprintf(stderr, "%s/%s.txt: expected a problem\n", folder.c_str(), function.c_str());
			std::exit(1);
		}
	}

	const Vector &operator[](const std::string &key) const { return numbers.at(key); }
	std::vector<int> integers(const std::string &key) const { return {numbers.at(key).begin(), numbers.at(key).end()}; }
	int integer(const std::string &key) const { return int(numbers.at(key)[0]); }

	// distance returns the largest difference between a gradient and that of the kernel in Go, in
	// multiples of one plus the latter.
	double distance(const std::string &operand, const Vector &gradient) const {
		double largest = 0;
		const Vector &want = numbers.at("want." + operand);
		for (size_t i = 0; i < want.size(); i++) {
			double d = std::fabs(gradient[i] - want[i]) / (1 + std::fabs(want[i]));
			if (!(d <= largest)) largest = d;
		}
		return largest;
	}
};

// report prints the least time of a call of f in nanoseconds, over 60 times 5 ms, and an error.
template <class F> void report(const Problem &p, double error, F f) {
	using clock = std::chrono::steady_clock;
	double least = 1e99;
	for (int run = 0; run < 60; run++) {
		auto start = clock::now();
		int calls = 0;
		double elapsed;
		do {
			f();
			calls++;
			elapsed = std::chrono::duration<double, std::nano>(clock::now() - start).count();
		} while (elapsed < 5e6);
		if (elapsed / calls < least) least = elapsed / calls;
	}
	std::printf("%s %.6g %.3g\n", p.name.c_str(), least, error);
}
