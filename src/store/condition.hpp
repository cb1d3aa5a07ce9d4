// Evaluates the conditions of writes and erases, in the same way for every store.
#pragma once

#include <string>
#include <utility>

#include "sherd/store.hpp"

namespace sherd {

/// The condition that an object is still the version that was read; null: that there still is none.
[[nodiscard]] Result<Condition> unchanged_since(ByteSource* read);

/// Whether at least one of two erased objects existed.
[[nodiscard]] inline Erased either(Erased a, Erased b) noexcept { return a == Erased::nothing ? b : a; }

/// `conflict` if the condition does not hold. `generation` returns that of the present version, as a Generation or a
/// Result of one; it is called only if it is needed.
template <class Present>
[[nodiscard]] Result<void> check_condition(const Condition& condition, bool exists, const Present& generation) {
  if (condition.kind == Condition::Kind::absent && exists) return conflict("the object exists already");
  if (condition.kind != Condition::Kind::matches) return {};
  Result<Generation> present = exists ? Result<Generation>(generation()) : Generation();
  if (!present) return std::move(present).error();
  if (!exists || *present != condition.generation) return conflict("another writer has changed the object");
  return {};
}

}  // namespace sherd
