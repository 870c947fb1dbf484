#pragma once

// The facts of a CUDA device for those who only look (the command's lists): no context is made on it, so nothing of its memory is
// taken and nothing that runs there is disturbed.

#include "strop/device_facts.h"

namespace strop::device {

// `ordinal` counts the visible devices. Throws strop::Error as open_cuda does.
DeviceFacts cuda_facts(int ordinal);

}  // namespace strop::device
