#include "src/device/host/fiber.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/detail/fcontext.hpp>
#include <exception>
#include <new>

#include "src/device/host/sanitizer.h"

namespace strop::device::host {

namespace context = boost::context::detail;

struct Switch {
  Fiber* from;
  Fiber* to;
};

struct FiberEntry {
  static void note_left(const context::transfer_t& transfer) {
    static_cast<Switch*>(transfer.data)->from->context_ = transfer.fctx;
  }
  static void run(context::transfer_t transfer) {
    sanitizer::finish_switch(nullptr);
    Fiber* self = static_cast<Switch*>(transfer.data)->to;
    note_left(transfer);
    self->body_(self->argument_);
    std::terminate();
  }
};

Fiber::Fiber() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  pthread_attr_getstack(&attributes, &bottom, &bytes_);
  pthread_attr_destroy(&attributes);
  bottom_ = bottom;
}

Fiber::Fiber(std::size_t stack_bytes, Body body, void* argument) : body_(body), argument_(argument) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  bytes_ = (stack_bytes + page - 1) / page * page;
  mapping_bytes_ = bytes_ + page;
  mapping_ = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  if (mprotect(mapping_, page, PROT_NONE) != 0) {
    munmap(mapping_, mapping_bytes_);
    throw std::bad_alloc();
  }
  bottom_ = static_cast<char*>(mapping_) + page;
  void* top = static_cast<char*>(mapping_) + mapping_bytes_;
  context_ = context::make_fcontext(top, bytes_, FiberEntry::run);
}

Fiber::~Fiber() {
  if (!mapping_) return;
  sanitizer::unpoison(bottom_, bytes_);
  munmap(mapping_, mapping_bytes_);
}

void Fiber::switch_to(Fiber& to) {
  Switch between{this, &to};
  sanitizer::start_switch(&fake_, to.bottom_, to.bytes_);
  const context::transfer_t transfer = context::jump_fcontext(to.context_, &between);
  sanitizer::finish_switch(fake_);
  FiberEntry::note_left(transfer);
}

}  // namespace strop::device::host
