#pragma once

// The host side of the dialect: what a generated translation unit includes before the template, so that the system's
// C++ compiler makes a shared object of it for the host device. Names and meanings are those of common/cuda. C++17, no
// standard header.
//
// Compile with -shared -fPIC -fno-strict-aliasing -fvisibility=hidden -fno-gnu-unique (g++) -ffp-contract=off
// -Wno-unknown-pragmas, the folder above `common` on the include path: without -fno-gnu-unique a kernel can't be
// unloaded, and contraction would differ from the explicit fmaf of the templates.

#define STROP_SIDE_HOST 1

// Full unrolling gains nothing here, and explodes under clang with sanitizers.
#define STROP_UNROLL
#define STROP_UNROLL_BY(n)

#include "common/host/async_copy.h"
#include "common/host/bulk_copy.h"
#include "common/host/convert.h"
#include "common/host/entry.h"
#include "common/host/math.h"
#include "common/host/matrix.h"
#include "common/host/memory.h"
#include "common/host/sync.h"
#include "common/host/warp.h"
#include "common/host/wgmma.h"
#include "common/host/words.h"
#include "common/scalars.cuh"
#include "common/shared_objects.cuh"
