// A store that says what amending costs, and how many shards were amended and written.
#pragma once

#include <memory>

#include "tests/store/test_store.hpp"

namespace sherd {

inline std::shared_ptr<TestStore> amended_at(AmendCost cost) {
  auto store = std::make_shared<TestStore>(memory_store());
  store->has.amend = cost;
  return store;
}
inline std::size_t written(const TestStore& store) { return store.count(Op::write, ".shard"); }
inline std::size_t amended(const TestStore& store) { return store.count(Op::amend); }

}  // namespace sherd
