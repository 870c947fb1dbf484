#include "src/ops/causal_conv1d/reference.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace strop::ops {
namespace {

// Rows [start, end) of the tensors' sequence `b`; `n` is its place among the states.
struct Sequence {
  std::int64_t n, b, start, end;
};

std::vector<Sequence> sequences(const ConvShape& s, const ConvInputs& in) {
  std::vector<Sequence> all;
  if (in.bounds.empty())
    for (std::int64_t b = 0; b < s.problem.B; ++b) all.push_back({b, b, 0, s.problem.T});
  for (std::size_t n = 0; n + 1 < in.bounds.size(); ++n)
    all.push_back({static_cast<std::int64_t>(n), 0, static_cast<std::int64_t>(in.bounds[n]), static_cast<std::int64_t>(in.bounds[n + 1])});
  return all;
}

// One channel of one sequence; rows may lie before its start.
class Channel {
 public:
  Channel(const ConvShape& shape, const ConvInputs& in, const Sequence& of, std::int64_t d) : s_(shape), in_(in), of_(of), d_(d) {}

  double input(std::int64_t row) const {
    if (row >= of_.start) return in_.x.at(of_.b, row, d_);
    const auto slot = s_.problem.W - (of_.start - row);
    if (in_.initial == nullptr || slot < 0) return 0;
    return in_.initial[of_.n * s_.initial.sequence + d_ * s_.initial.channel + slot * s_.initial.slot];
  }
  double weight(std::int64_t k) const { return in_.weight[d_ * s_.weight_channel + k * s_.weight_tap]; }
  double pre(std::int64_t row) const {
    double sum = in_.bias != nullptr ? in_.bias[d_] : 0;
    for (std::int64_t k = 0; k < s_.problem.W; ++k) {
      const auto at = row - (s_.problem.W - 1) + k;
      // Padding takes no part: a weight that is infinite or NaN meets no zero.
      if (at >= of_.start || in_.initial != nullptr) sum += weight(k) * input(at);
    }
    return sum;
  }
  double gradient(std::int64_t row) const {
    const double dy = in_.dy.at(of_.b, row, d_);
    return s_.problem.activation == Activation::silu ? dy * silu_slope(pre(row)) : dy;
  }
  // sum_k weight[k] * g[row + (W-1) - k] over the sequence's rows; `g` gives a row's.
  template <class Gradient>
  double convolved(std::int64_t row, const Gradient& g) const {
    double sum = 0;
    for (std::int64_t k = 0; k < s_.problem.W; ++k)
      if (const auto later = row + (s_.problem.W - 1) - k; later >= of_.start && later < of_.end) sum += weight(k) * g(later);
    return sum;
  }
  // The gradient of the final state's slot that a row went to, `back` rows before the end.
  double from_final(std::int64_t back) const {
    if (in_.d_final == nullptr || back > s_.problem.W) return 0;
    return in_.d_final[of_.n * s_.final.sequence + d_ * s_.final.channel + (s_.problem.W - back) * s_.final.slot];
  }

 private:
  const ConvShape& s_;
  const ConvInputs& in_;
  const Sequence& of_;
  std::int64_t d_;
};

std::size_t place(const RowStrides& s, std::int64_t b, std::int64_t t, std::int64_t d) {
  return static_cast<std::size_t>(b * s.sequence + t * s.row + d * s.channel);
}

std::size_t place(const StateStrides& s, std::int64_t n, std::int64_t d, std::int64_t slot) {
  return static_cast<std::size_t>(n * s.sequence + d * s.channel + slot * s.slot);
}

void backward_channel(const ConvShape& s, const ConvInputs& in, const Sequence& of, std::int64_t d, std::vector<double>& dx,
                      std::vector<double>& partial) {
  const auto& p = s.problem;
  const Channel channel(s, in, of, d);
  std::vector<double> g(static_cast<std::size_t>(of.end - of.start));
  const auto g_of = [&](std::int64_t row) -> double& { return g[static_cast<std::size_t>(row - of.start)]; };
  for (auto t = of.start; t < of.end; ++t) g_of(t) = channel.gradient(t);
  for (auto t = of.start; t < of.end; ++t) {
    dx[place(s.dx, of.b, t, d)] = channel.convolved(t, g_of);
    const auto piece = of.b * s.pieces_of_sequence() + t / s.piece_rows();
    double* sum = partial.data() + (piece < s.partials() ? piece : piece - s.partials()) * s.sums() * p.D + d;
    for (std::int64_t k = 0; k < p.W; ++k) sum[k * p.D] += g_of(t) * channel.input(t - (p.W - 1) + k);
    if (p.bias) sum[p.W * p.D] += g_of(t);
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
  std::mutex mutex;
  std::exception_ptr failed;  // memory ran out in one of them: all stop, and the caller is told
  const auto work = [&] {
    try {
      for (std::int64_t at = next.fetch_add(kChunk); at < channels; at = next.fetch_add(kChunk))
        for (std::int64_t d = at; d < std::min(at + kChunk, channels); ++d) body(d);
    } catch (...) {
      next = channels;
      const std::lock_guard lock(mutex);
      failed = std::current_exception();
    }
  };
  {
    const auto wanted = std::min<std::int64_t>(std::thread::hardware_concurrency(), (channels + kChunk - 1) / kChunk);
    std::vector<std::jthread> helpers;
    try {
      for (std::int64_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    } catch (const std::system_error&) {  // a limit of processes: with those there are, or alone
    }
    work();
  }
  if (failed) std::rethrow_exception(failed);
}

void reference_forward(const ConvShape& s, const ConvInputs& in, std::vector<double>& y) {
  const auto all = sequences(s, in);
  for_channels(s.problem.D, [&](std::int64_t d) {
    for (const auto& of : all) {
      const Channel channel(s, in, of, d);
      for (auto t = of.start; t < of.end; ++t) {
        const double z = channel.pre(t);
        const double added = in.residual.data != nullptr ? in.residual.at(of.b, t, d) : 0;
        y[place(s.y, of.b, t, d)] = (s.problem.activation == Activation::silu ? silu(z) : z) + added;
      }
    }
  });
}

void reference_final_state(const ConvShape& s, const ConvInputs& in, std::vector<double>& final_state) {
  const auto all = sequences(s, in);
  for_channels(s.problem.D, [&](std::int64_t d) {
    for (const auto& of : all) {
      const Channel channel(s, in, of, d);
      for (std::int64_t slot = 0; slot < s.problem.W; ++slot)
        final_state[place(s.final, of.n, d, slot)] = channel.input(of.end - (s.problem.W - slot));
    }
  });
}

void reference_backward(const ConvShape& s, const ConvInputs& in, std::vector<double>& dx, std::vector<double>& partial) {
  std::fill(partial.begin(), partial.end(), 0.0);
  const auto all = sequences(s, in);
  for_channels(s.problem.D, [&](std::int64_t d) {
    for (const auto& of : all) backward_channel(s, in, of, d, dx, partial);
  });
}

void reference_state_backward(const ConvShape& s, const ConvInputs& in, std::vector<double>& dx, std::vector<double>& d_initial) {
  const auto W = s.problem.W;
  const auto all = sequences(s, in);
  for_channels(s.problem.D, [&](std::int64_t d) {
    for (const auto& of : all) {
      const Channel channel(s, in, of, d);
      const auto g = [&](std::int64_t row) { return channel.gradient(row); };
      const auto whole = [&](std::int64_t row) { return channel.convolved(row, g) + channel.from_final(of.end - row); };
      for (std::int64_t slot = 0; slot < W && !d_initial.empty(); ++slot)
        d_initial[place(s.d_initial, of.n, d, slot)] = whole(of.start - (W - slot));
      for (auto t = std::max(of.start, of.end - W); t < of.end && !dx.empty(); ++t) dx[place(s.dx, of.b, t, d)] = whole(t);
    }
  });
}

}  // namespace strop::ops
