#pragma once

// Ctrl-C and the like while a command tunes: what was tuned is in the cache already; what would be left behind is temporary folders.

namespace strop::cli {

// From now on SIGINT, SIGTERM and SIGHUP remove what is temporary, say so, and end the process as they do by themselves. To be called
// before threads are started: the signals are blocked in all of them and taken by one.
void end_well_when_interrupted();

}  // namespace strop::cli
