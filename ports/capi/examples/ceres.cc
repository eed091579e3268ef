// Bundle adjustment by Ceres with the residual blocks of revnum, beside Ceres' own
// derivatives: both come to the same minimum.
//
//     go build -buildmode=c-shared -o librevnum.so ./ports/capi
//     g++ -O2 -Iports/capi $(pkg-config --cflags eigen3) ports/capi/examples/ceres.cc -L. -lrevnum -Wl,-rpath,. -lceres -lglog
#include <ceres/ceres.h>
#include <ceres/rotation.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "revnum.h"

// A residual block of revnum: a camera of nine parameters sees a point.
class Block : public ceres::SizedCostFunction<2, 9, 3> {
 public:
  Block(double x, double y) : feature_{x, y} {}
  bool Evaluate(double const* const* parameters, double* residuals, double** jacobians) const override {
    return rev_ba_snavely(feature_, parameters, residuals, jacobians) == REV_OK;
  }

 private:
  double feature_[2];
};

// The same for the automatic derivatives of Ceres.
struct Snavely {
  double x, y;
  template <typename T>
  bool operator()(const T* camera, const T* point, T* residuals) const {
    T p[3];
    ceres::AngleAxisRotatePoint(camera, point, p);
    for (int i = 0; i < 3; i++) p[i] += camera[3 + i];
    T u = -p[0] / p[2], v = -p[1] / p[2], s = u * u + v * v;
    T d = camera[6] * (1.0 + s * (camera[7] + s * camera[8]));
    residuals[0] = d * u - x;
    residuals[1] = d * v - y;
    return true;
  }
};

struct Scene {
  std::vector<double> cameras, points;
};

int main(int, char** argv) {
  google::InitGoogleLogging(argv[0]);
  if (rev_abi_version() != REV_ABI_VERSION) return 2;
  const int cameras = 6, points = 60;
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  Scene truth;
  for (int i = 0; i < cameras; i++) {
    double c[9] = {0.1 * normal(random), 0.3 * (i - 2.5), 0.1 * normal(random), 0.5 * normal(random), 0.5 * normal(random), -8, 500, 0.01, 0.001};
    truth.cameras.insert(truth.cameras.end(), c, c + 9);
  }
  for (int i = 0; i < 3 * points; i++) truth.points.push_back(normal(random));
  std::vector<Snavely> seen;  // of each camera and point
  for (int i = 0; i < cameras; i++) {
    for (int j = 0; j < points; j++) {
      double r[2];
      Snavely{0, 0}(&truth.cameras[9 * i], &truth.points[3 * j], r);
      seen.push_back({r[0] + 0.5 * normal(random), r[1] + 0.5 * normal(random)});
    }
  }
  Scene start = truth;
  for (double& v : start.points) v += 0.05 * normal(random);
  for (int i = 0; i < cameras; i++) {
    for (int k = 0; k < 6; k++) start.cameras[9 * i + k] += 0.01 * normal(random);
  }
  double cost[2];
  for (int own = 0; own < 2; own++) {
    Scene s = start;
    ceres::Problem problem;
    for (int i = 0; i < cameras; i++) {
      for (int j = 0; j < points; j++) {
        const Snavely& at = seen[i * points + j];
        ceres::CostFunction* f;
        if (own) f = new ceres::AutoDiffCostFunction<Snavely, 2, 9, 3>(new Snavely(at));
        else f = new Block(at.x, at.y);
        problem.AddResidualBlock(f, nullptr, &s.cameras[9 * i], &s.points[3 * j]);
      }
    }
    problem.SetParameterBlockConstant(&s.cameras[0]);
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_SCHUR;
    options.max_num_iterations = 100;
    options.function_tolerance = 1e-12;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    cost[own] = summary.final_cost;
    std::printf("%-7s cost %.6f -> %.9f in %zu iterations\n", own ? "Ceres" : "revnum", summary.initial_cost, summary.final_cost, summary.iterations.size() - 1);
  }
  if (std::abs(cost[0] - cost[1]) > 1e-6 * cost[1]) {
    std::printf("the minima differ\n");
    return 1;
  }
  return 0;
}
