// Blocks of memory that variable-length elements point to, kept until the arena is destroyed.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "sherd/array.hpp"

namespace sherd {

struct VarBytesArena::State {
  std::mutex mutex;
  std::vector<std::shared_ptr<const void>> blocks;
};

VarBytesArena::VarBytesArena() : state_(std::make_unique<State>()) {}
VarBytesArena::~VarBytesArena() = default;
VarBytesArena::VarBytesArena(VarBytesArena&&) noexcept = default;
VarBytesArena& VarBytesArena::operator=(VarBytesArena&&) noexcept = default;

void VarBytesArena::keep(std::shared_ptr<const void> block) {
  const std::lock_guard hold(state_->mutex);
  state_->blocks.push_back(std::move(block));
}

}  // namespace sherd
