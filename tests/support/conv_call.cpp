#include "tests/support/conv_call.h"

#include <algorithm>
#include <stdexcept>

#include "src/ops/causal_conv1d/common_problem.h"
#include "src/ops/causal_conv1d/reference.h"
#include "tuner/check.h"

namespace strop::test {
namespace {

std::size_t bytes_of(const TensorSpec& spec) { return static_cast<std::size_t>(spec.elements) * size_of(spec.type); }

TensorSpec gradient_of_weight(const std::string& name, const CausalConv1dProblem& p, std::int64_t elements) {
  TensorSpec spec;
  spec.name = name;
  spec.type = p.weight_type;
  spec.elements = elements;
  spec.role = Role::output;
  spec.tolerance = Tolerance::storage(p.weight_type);
  spec.tolerance.absolute = std::max(spec.tolerance.absolute, 2e-4);  // of sums that may cancel
  return spec;
}

}  // namespace

ConvCall::ConvCall(std::shared_ptr<Library> library, const CausalConv1dProblem& problem, std::vector<std::int64_t> bounds)
    : library_(std::move(library)), shape_(ops::make_shape(problem)) {
  const auto& p = problem;
  add(ops::row_tensor("x", shape_, shape_.x, Role::input));
  add(ops::weight_tensor(shape_));
  add(ops::bias_tensor(shape_));
  auto residual = ops::row_tensor("residual", shape_, shape_.residual, Role::input);
  if (!p.residual) residual.elements = 0;
  add(residual);
  add(ops::state_tensor("initial_state", shape_, shape_.initial, Role::input, p.initial_state));
  add(ops::row_tensor("dy", shape_, shape_.dy, Role::input));
  add(ops::state_tensor("d_final_state", shape_, shape_.final, Role::input, p.final_state));
  auto cu = ops::bounds_tensor(shape_);
  if (!bounds.empty()) {
    cu.values.assign(bounds.begin(), bounds.end());
    cu.elements = static_cast<std::int64_t>(bounds.size());
  }
  add(cu);
  add(ops::row_tensor("y", shape_, shape_.y, Role::output));
  add(ops::state_tensor("final_state", shape_, shape_.final, Role::output, p.final_state));
  add(ops::row_tensor("dx", shape_, shape_.dx, Role::output));
  add(gradient_of_weight("dw", p, p.D * p.W));
  add(gradient_of_weight("db", p, p.bias ? p.D : 0));
  add(ops::state_tensor("d_initial_state", shape_, shape_.d_initial, Role::output, p.initial_state));
  workspace_bytes_ = CausalConv1d::backward_workspace_bytes(problem);
  workspace_ = library_->allocate(std::max<std::size_t>(workspace_bytes_, 256));
}

void ConvCall::add(TensorSpec spec) {
  Tensor tensor;
  tensor.memory = library_->allocate(bytes_of(spec) + 512);
  tensor.spec = std::move(spec);
  if (tensor.spec.role == Role::input) tensor.host = tuner::make_input(tensor.spec, 77 + tensors_.size());
  tensors_.push_back(std::move(tensor));
  upload(tensors_.back());
}

void ConvCall::upload(const Tensor& tensor) {
  if (tensor.spec.role == Role::input && !tensor.host.empty()) library_->upload(tensor.data(), tensor.host.data(), tensor.host.size());
}

const ConvCall::Tensor& ConvCall::tensor(const std::string& name) const {
  const auto at = std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& one) { return one.spec.name == name; });
  if (at == tensors_.end()) throw std::logic_error("no tensor " + name);
  return *at;
}

void ConvCall::set(const std::string& name, std::int64_t element, double value) {
  auto& one = const_cast<Tensor&>(tensor(name));
  tuner::encode(one.spec.type, value, one.host.data() + static_cast<std::size_t>(element) * size_of(one.spec.type));
  upload(one);
}

void ConvCall::poison() {
  for (const auto& one : tensors_) {
    if (one.spec.role != Role::output || one.spec.elements == 0) continue;
    const std::vector<std::byte> bytes(bytes_of(one.spec), std::byte{tuner::kPoisonByte});
    library_->upload(one.data(), bytes.data(), bytes.size());
  }
}

CausalConv1dForward ConvCall::forward_tensors() const {
  CausalConv1dForward t;
  t.x = tensor("x").data();
  t.weight = tensor("weight").data();
  t.bias = tensor("bias").data();
  t.y = tensor("y").data();
  t.residual = tensor("residual").data();
  t.initial_state = tensor("initial_state").data();
  t.final_state = tensor("final_state").data();
  t.cu_seqlens = tensor("cu_seqlens").data();
  return t;
}

CausalConv1dBackward ConvCall::backward_tensors() const {
  CausalConv1dBackward t;
  t.x = tensor("x").data();
  t.weight = tensor("weight").data();
  t.bias = tensor("bias").data();
  t.dy = tensor("dy").data();
  t.dx = tensor("dx").data();
  t.dw = tensor("dw").data();
  t.db = tensor("db").data();
  t.workspace = workspace_.get();
  t.workspace_bytes = workspace_bytes_;
  t.initial_state = tensor("initial_state").data();
  t.d_initial_state = tensor("d_initial_state").data();
  t.d_final_state = tensor("d_final_state").data();
  t.cu_seqlens = tensor("cu_seqlens").data();
  return t;
}

std::vector<double> ConvCall::input(const std::string& name) const {
  const auto& one = tensor(name);
  return tuner::decode_all(one.spec.type, one.host);
}

std::vector<double> ConvCall::values(const std::string& name) const {
  const auto& one = tensor(name);
  std::vector<std::byte> bytes(bytes_of(one.spec));
  if (!bytes.empty()) library_->download(bytes.data(), one.data(), bytes.size());
  return tuner::decode_all(one.spec.type, bytes);
}

std::vector<double> ConvCall::expected(const std::string& name) const {
  const auto& p = shape_.problem;
  const auto x = input("x"), weight = input("weight"), bias = input("bias"), residual = input("residual");
  const auto initial = input("initial_state"), dy = input("dy"), d_final = input("d_final_state");
  ops::ConvInputs in;
  in.x = {x.data(), shape_.x};
  in.dy = {dy.data(), shape_.dy};
  in.weight = weight.data();
  if (p.bias) in.bias = bias.data();
  if (p.residual) in.residual = {residual.data(), shape_.residual};
  if (p.initial_state) in.initial = initial.data();
  if (p.final_state) in.d_final = d_final.data();
  in.bounds = input("cu_seqlens");
  std::vector<double> out(static_cast<std::size_t>(tensor(name).spec.elements), untouched());
  if (name == "y") reference_forward(shape_, in, out);
  if (name == "final_state" && p.final_state) reference_final_state(shape_, in, out);
  if (name == "d_initial_state" && p.initial_state) {
    std::vector<double> none;
    reference_state_backward(shape_, in, none, out);
  }
  if (name != "dx" && name != "dw" && name != "db") return out;
  std::vector<double> dx(static_cast<std::size_t>(tensor("dx").spec.elements), untouched());
  std::vector<double> partial(static_cast<std::size_t>(shape_.partials() * shape_.sums() * p.D));
  if (!shape_.empty()) reference_backward(shape_, in, dx, partial);
  if (name == "dx") {
    std::vector<double> none;
    if (p.final_state && !shape_.empty()) reference_state_backward(shape_, in, dx, none);
    return dx;
  }
  std::fill(out.begin(), out.end(), 0.0);
  for (std::int64_t row = 0; row < shape_.partials(); ++row)
    for (std::int64_t d = 0; d < p.D; ++d) {
      const double* sums = partial.data() + row * shape_.sums() * p.D + d;
      for (std::int64_t k = 0; k < p.W && name == "dw"; ++k) out[static_cast<std::size_t>(d * p.W + k)] += sums[k * p.D];
      if (name == "db" && p.bias) out[static_cast<std::size_t>(d)] += sums[p.W * p.D];
    }
  return out;
}

void ConvCall::run(CausalConv1d& conv) {
  poison();
  conv.forward(shape_.problem, forward_tensors(), nullptr);
  conv.backward(shape_.problem, backward_tensors(), nullptr);
  library_->synchronize();
}

std::string ConvCall::wrong(CausalConv1d& conv) {
  run(conv);
  std::string text;
  for (const auto& one : tensors_) {
    if (one.spec.role != Role::output || one.spec.elements == 0) continue;
    std::vector<std::byte> bytes(bytes_of(one.spec));
    library_->download(bytes.data(), one.data(), bytes.size());
    if (const auto found = tuner::compare(one.spec, bytes, expected(one.spec.name))) text += *found + "\n";
  }
  return text;
}

}  // namespace strop::test
