#include "src/ops/causal_conv1d/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

namespace strop::ops {
namespace {

double pre(const ConvShape& s, const ConvInputs& in, std::int64_t b, std::int64_t t, std::int64_t d) {
  const auto W = s.problem.W;
  double sum = in.bias != nullptr ? in.bias[d] : 0;
  for (std::int64_t k = 0; k < W; ++k) {
    const auto row = t - (W - 1) + k;
    if (row >= 0) sum += in.weight[d * s.weight_channel + k * s.weight_tap] * in.x.at(b, row, d);
  }
  return sum;
}

double gradient(const ConvShape& s, const ConvInputs& in, std::int64_t b, std::int64_t t, std::int64_t d) {
  const double dy = in.dy.at(b, t, d);
  return s.problem.activation == Activation::silu ? dy * silu_slope(pre(s, in, b, t, d)) : dy;
}

// One channel of one sequence.
void backward_channel(const ConvShape& s, const ConvInputs& in, std::int64_t b, std::int64_t d, std::vector<double>& g, std::vector<double>& dx,
                      std::vector<double>& partial) {
  const auto& p = s.problem;
  for (std::int64_t t = 0; t < p.T; ++t) g[static_cast<std::size_t>(t)] = gradient(s, in, b, t, d);
  for (std::int64_t t = 0; t < p.T; ++t) {
    double sum = 0;
    for (std::int64_t k = 0; k < p.W; ++k)
      if (const auto later = t + (p.W - 1) - k; later < p.T)
        sum += in.weight[d * s.weight_channel + k * s.weight_tap] * g[static_cast<std::size_t>(later)];
    dx[static_cast<std::size_t>(b * s.dx.sequence + t * s.dx.row + d * s.dx.channel)] = sum;
    const auto u = b * s.units() + t / kUnitRows;
    double* unit = partial.data() + (s.paired && u >= s.partials() ? u - s.partials() : u) * s.sums() * p.D + d;
    for (std::int64_t k = 0; k < p.W; ++k) {
      const auto row = t - (p.W - 1) + k;
      unit[k * p.D] += g[static_cast<std::size_t>(t)] * (row >= 0 ? in.x.at(b, row, d) : 0.0);
    }
    if (p.bias) unit[p.W * p.D] += g[static_cast<std::size_t>(t)];
  }
}

}  // namespace

double silu(double z) { return z / (1 + std::exp(-z)); }

double silu_slope(double z) {
  const double s = 1 / (1 + std::exp(-z));
  return s * (1 + z * (1 - s));
}

void for_channels(std::int64_t channels, const std::function<void(std::int64_t)>& body) {
  constexpr std::int64_t kChunk = 16;
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t at = next.fetch_add(kChunk); at < channels; at = next.fetch_add(kChunk))
      for (std::int64_t d = at; d < std::min(at + kChunk, channels); ++d) body(d);
  };
  const auto wanted = std::min<std::int64_t>(std::thread::hardware_concurrency(), (channels + kChunk - 1) / kChunk);
  std::vector<std::jthread> helpers;
  for (std::int64_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
  work();
}

void reference_forward(const ConvShape& s, const ConvInputs& in, std::vector<double>& y) {
  const auto& p = s.problem;
  for_channels(p.D, [&](std::int64_t d) {
    for (std::int64_t b = 0; b < p.B; ++b)
      for (std::int64_t t = 0; t < p.T; ++t) {
        const double z = pre(s, in, b, t, d);
        y[static_cast<std::size_t>(b * s.y.sequence + t * s.y.row + d * s.y.channel)] = p.activation == Activation::silu ? silu(z) : z;
      }
  });
}

void reference_backward(const ConvShape& s, const ConvInputs& in, std::vector<double>& dx, std::vector<double>& partial) {
  const auto& p = s.problem;
  std::fill(partial.begin(), partial.end(), 0.0);
  for_channels(p.D, [&](std::int64_t d) {
    std::vector<double> g(static_cast<std::size_t>(p.T));
    for (std::int64_t b = 0; b < p.B; ++b) backward_channel(s, in, b, d, g, dx, partial);
  });
}

}  // namespace strop::ops
