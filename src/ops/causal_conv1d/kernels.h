#pragma once

// The kernels: their templates and spaces.

#include "strop/kernel.h"

namespace strop::ops {

const Kernel& conv_fwd_kernel();
const Kernel& conv_bwd_kernel();
const Kernel& conv_dw_reduce_kernel();
const Kernel& conv_final_state_kernel();
const Kernel& conv_state_bwd_kernel();

}  // namespace strop::ops
