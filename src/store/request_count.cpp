#include "store/request_count.hpp"

namespace sherd {

RequestCount& requests_of_thread() noexcept {
  thread_local RequestCount count;
  return count;
}

}  // namespace sherd
