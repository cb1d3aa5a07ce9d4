#include <unistd.h>

#include "python/bindings.hpp"

namespace sherd::python {
namespace {

[[noreturn]] void wait_for_the_end() noexcept {
  for (;;) ::pause();
}

}  // namespace

// What is caught is pthread_exit() unwinding; it must not be left behind, so neither handler ever ends. When the end
// has begun, a thread's state may be gone, and PyGILState_Ensure() would make a new one in an interpreter that is
// freed.
WithGil::WithGil() try
    : state_(Py_IsInitialized() != 0 ? PyGILState_Ensure() : (wait_for_the_end(), PyGILState_LOCKED)) {
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
