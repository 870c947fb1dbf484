#pragma once

// Everything public.

#include "strop/causal_conv1d.h"
#include "strop/config.h"
#include "strop/device_facts.h"
#include "strop/dtype.h"
#include "strop/error.h"
#include "strop/kernel.h"
#include "strop/key.h"
#include "strop/library.h"
#include "strop/space.h"
#include "strop/trial.h"
