#pragma once

// Contexts in which a kernel did not end. Nothing can be done there any more: calls that free or unload wait for the kernel too, so
// releasing does nothing, as in the child of a fork, and everything else throws. The process must be restarted.

#include <chrono>

#include "src/device/cuda/driver.h"

namespace strop::device::cuda {

void mark_lost(CUcontext context) noexcept;
bool lost(CUcontext context) noexcept;  // one load as long as none is
// Nobody's to release: lost, or of the parent in the child of a fork.
bool abandoned(CUcontext context) noexcept;
// Throws a sticky CudaError when it is lost.
void require_not_lost(CUcontext context);

// Waits for the event by asking, since the driver's own waiting has no limit. Throws CudaError for a fault, and when the limit has
// passed: then the context is marked lost.
void wait_for(const Driver& driver, CUcontext context, CUevent event, std::chrono::duration<double> limit);

}  // namespace strop::device::cuda
