#pragma once

// The extension API: everything strop must know of a kernel to specialise, compile, check, time, remember and launch it. The
// library's own ops are written on it and on nothing else. `examples/rms_norm.cpp` is a whole user's kernel.
//
// The device side. A template is one `.cuh` text that includes nothing but "common/..." files of the library and its own
// siblings. It defines, in any namespace,
//
//     struct RmsNormArgs { const strop::bf16* x; ...; };               // passed by value; same layout on host and device
//     struct RmsNormParams { static constexpr int vec = 4; ... };      // every compile-time parameter, with its default
//     template <class P> __device__ void rms_norm(const RmsNormArgs& a);
//
// and strop generates the few lines that instantiate it: a struct that derives from the defaults and overrides the named ones (a
// name the defaults do not have is a compile error), a static_assert on sizeof(Args), and the entry point with its launch bounds.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "strop/config.h"
#include "strop/dtype.h"
#include "strop/key.h"
#include "strop/space.h"

namespace strop {

// A CUDA stream (CUstream or cudaStream_t); nullptr is the legacy default stream. On the host device work is finished when the
// call returns, and the stream is ignored.
using Stream = void*;

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

struct LaunchGeometry {
  Dim3 grid;
  Dim3 block;
  unsigned dynamic_shared = 0;  // bytes
  Dim3 cluster;                 // {1,1,1}: none
  bool overlap_previous = false;  // programmatic dependent launch: the kernel waits itself for the one before it
};

// Where the device code is. Plain data; lives as long as the kernels made of it.
struct KernelTemplate {
  std::string name;      // unique, an identifier: "causal_conv1d_fwd"; the cache's word for the kernel
  std::string file;      // main text, a name in `sources` or in the library's embedded set: "causal_conv1d/fwd.cuh"
  std::string function;  // "strop::causal_conv1d_fwd"
  std::string params;    // "strop::CausalConv1dFwdParams"
  std::string args;      // "strop::CausalConv1dFwdArgs"
  std::size_t args_size = 0;  // sizeof the host's twin of the args struct; asserted equal when the kernel is compiled
  bool arch_specific = false;  // uses instructions of one architecture only (wgmma): compiled for sm_90a instead of sm_90
  std::map<std::string, std::string> sources;  // a user's own texts by include name; may include the library's "common/..."
};

// A kernel that can be tuned. The launch bounds of the entry point come from the values named `threads` (needed) and
// `min_blocks` (optional, default 1) among constants and config.
struct Kernel {
  KernelTemplate source;
  Space space;
  // Stands for the C++ that verdicts hang on and no digest sees: reference, tolerances, arguments, geometry, check problem. Give it another
  // word when one of them is corrected, and every key is judged anew.
  std::string revision;
};

enum class Role {
  input,    // filled before a trial, must be unchanged after it
  output,   // poisoned before a trial, compared with the reference after it
  scratch,  // poisoned before a trial, contents never looked at
};

// How inputs of a trial are made: seeded, never zero everywhere.
enum class Fill { normal, uniform, zeros, iota };

// How an output may differ from the fp64 reference. An element passes when |out - ref| <= absolute + relative * |ref|, NaN
// where the reference is NaN, the same infinity where it is infinite. `rms` bounds ||out - ref|| / ||ref|| (0: not tested).
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  double rms = 0;
  // One rounding to the storage type plus the error of fp32 arithmetic.
  static Tolerance storage(DType type);
};

// One buffer of a problem, in storage order, gaps of strides included.
struct TensorSpec {
  std::string name;           // "x"; appears in verdicts
  DType type = DType::fp32;
  std::int64_t elements = 0;  // extent of the storage the kernel may touch
  Role role = Role::input;
  Tolerance tolerance;        // outputs only
  Fill fill = Fill::normal;   // inputs only
  double scale = 1.0;         // multiplies the fill
  std::vector<double> values; // an input's contents themselves, for indices and the like: `elements` of them, `fill` is not used
  std::size_t misalign = 0;   // bytes past a 256-byte boundary where the trial's buffer begins, to match the problem's alignment class
};

// What a reference leaves in elements of an output that the kernel must not touch (gaps between strided rows). The check
// demands that they still hold the poison.
double untouched();
bool is_untouched(double value);

// A kernel on one problem: shapes, strides, dtypes and flags are in the object. Const and thread-safe: many threads ask.
class KernelProblem {
 public:
  virtual ~KernelProblem() = default;

  // What decides the winner.
  virtual Key key() const = 0;
  // Compile-time constants besides the config: what the code can use, as equal facts share one binary. Overrides of the
  // template's params struct. They follow from the key: equal keys of a kernel have equal constants (else `prepare` throws).
  virtual Config constants() const = 0;
  virtual LaunchGeometry geometry(const Config& config) const = 0;
  // The buffers, in the order used by `arguments` and `reference`.
  virtual std::vector<TensorSpec> tensors() const = 0;
  // The args struct as bytes, for device pointers in the order of `tensors()`.
  virtual std::vector<std::byte> arguments(const Config& config, std::span<void* const> pointers) const = 0;
  // The kernel in fp64 on the CPU. `in[i]` holds tensor i decoded to double (empty for outputs and scratch); `out[i]` comes
  // sized and filled with untouched() for outputs, and is to be written where the kernel writes.
  virtual void reference(const std::vector<std::vector<double>>& in, std::vector<std::vector<double>>& out) const = 0;
  // A problem with the same constants (thus the same binary) small enough for the reference: candidates are checked on it.
  virtual std::unique_ptr<KernelProblem> check_problem() const = 0;
  // Bytes that must move and operations that must be done, for the share of the limit in reports; 0 when not known.
  virtual double bytes_moved() const { return 0; }
};

}  // namespace strop
