#include <unistd.h>

#include "python/bindings.hpp"

namespace sherd::python {
namespace {

[[noreturn]] void wait_for_the_end() noexcept {
  for (;;) ::pause();
}

}  // namespace

// The caught exception is pthread_exit() unwinding, which must not be swallowed, so neither handler ever returns. Once
// shutdown has begun, a thread's state may be gone, and PyGILState_Ensure() would create a new one in an interpreter
// that is being freed.
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
