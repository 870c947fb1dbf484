#pragma once

// The exceptions of strop. What ends a request is thrown; what is expected is a value: a miss is an empty optional, a bad
// candidate is a verdict (see trial.h), a refused problem is a reason (see `why_unsupported`). Every message says what happened, to
// which key or file, and what to do about it. All types are safe to copy between threads.

#include <stdexcept>
#include <string>

namespace strop {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A call into the CUDA driver failed. `code()` is the CUresult, `name()` its symbol, `call()` the driver function.
class CudaError : public Error {
 public:
  CudaError(int code, std::string name, std::string call, const std::string& what)
      : Error(what), code_(code), name_(std::move(name)), call_(std::move(call)) {}
  int code() const { return code_; }
  const std::string& name() const { return name_; }
  const std::string& call() const { return call_; }
  // True for errors that leave the context unusable (illegal address, trap, ...): nothing later in it can succeed.
  bool sticky() const;
  // True when another capture was in the way: says nothing of what was launched.
  bool of_capture() const { return code_ >= 900 && code_ <= 908; }

 private:
  int code_;
  std::string name_;
  std::string call_;
};

// Device memory could not be had. The context stays usable.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

// A kernel did not compile. Everything needed to reproduce it is kept: the whole log, the options, the source and the
// compiler (name, version, path).
class CompileError : public Error {
 public:
  CompileError(const std::string& what, std::string log, std::string options, std::string source, std::string compiler)
      : Error(what),
        log_(std::move(log)),
        options_(std::move(options)),
        source_(std::move(source)),
        compiler_(std::move(compiler)) {}
  const std::string& log() const { return log_; }
  const std::string& options() const { return options_; }
  const std::string& source() const { return source_; }
  const std::string& compiler() const { return compiler_; }

 private:
  std::string log_;
  std::string options_;
  std::string source_;
  std::string compiler_;
};

// A request about the cache that cannot be carried out (a bad filter, a file that is not a strop cache). Damage met while
// tuning or launching is never thrown: it is one warning and a correct result.
class CacheError : public Error {
 public:
  using Error::Error;
};

// The problem is outside the contract of the op; `what()` is the reason, fit for a training log. Nothing was launched.
class Unsupported : public Error {
 public:
  using Error::Error;
};

// The policy forbids what the call would have needed (a compile or a timing after seal(), inside a stream capture, or with
// MissPolicy::error); names the key.
class NotReady : public Error {
 public:
  using Error::Error;
};

}  // namespace strop
