#pragma once

// What a template includes first. The generated translation unit includes the prelude of its side before the template
// ("common/cuda/prelude.cuh" or "common/host/prelude.h"), so nothing here depends on the side. An editor or a checker
// that parses a template alone gets the host's words; the name is hidden in a macro so that a scan for includes does
// not follow it.

#if !defined(STROP_SIDE_CUDA) && !defined(STROP_SIDE_HOST)
#define STROP_EDITOR_PRELUDE "common/host/prelude.h"
#include STROP_EDITOR_PRELUDE
#endif

#include "common/scalars.cuh"
