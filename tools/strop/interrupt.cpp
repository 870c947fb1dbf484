#include "tools/strop/interrupt.h"

#include <fmt/format.h>

#include <csignal>
#include <thread>

#include "jit/host/process.h"
#include "jit/host/temporary_folder.h"
#include "tools/strop/terminal.h"

namespace strop::cli {

void end_well_when_interrupted() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) return;
    note(fmt::format("strop: ended by signal {}; what was tuned is kept, and the same command goes on from there\n", signal));
    jit::end_processes();  // a compiler that hangs would live on without its folder
    jit::remove_temporary_folders();
    std::signal(signal, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    raise(signal);
  }).detach();
}

}  // namespace strop::cli
