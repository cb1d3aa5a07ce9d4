#include <unistd.h>

#include "python/bindings.hpp"

namespace sherd::python {
namespace {

[[noreturn]] void wait_for_the_end() noexcept {
  for (;;) ::pause();
}

}  // namespace

// What is caught is pthread_exit() unwinding; it must not be left behind, so neither handler ever ends.
WithGil::WithGil() try : state_(PyGILState_Ensure()) {
} catch (...) {
  wait_for_the_end();
}

WithoutGil::~WithoutGil() {
  try {
    PyEval_RestoreThread(thread_);
  } catch (...) {
    wait_for_the_end();
  }
}

}  // namespace sherd::python
