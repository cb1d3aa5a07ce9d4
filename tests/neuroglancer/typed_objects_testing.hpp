// Collections of typed objects, for their tests.
#pragma once

#include "sherd/collection.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/neuroglancer/collection_testing.hpp"
#include "tests/store/temp_dir.hpp"
#include "tests/store/tree.hpp"

namespace sherd::neuroglancer::typed_objects_testing {

inline std::vector<std::uint64_t> ids_of(const Collection& collection) {
  std::vector<std::uint64_t> ids;
  EXPECT_TRUE(collection
                  .list([&](std::uint64_t id) {
                    ids.push_back(id);
                    return true;
                  })
                  .value());
  return ids;
}

class EveryCollection : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] Collection made(const CollectionInfo& info) const {
    EXPECT_TRUE(Collection::create(store_, info, {.path = "a/b"}));
    return Collection::open(store_, {.path = "a/b", .writable = true}).value();
  }
  std::shared_ptr<Store> store_ = memory_store();
};

}  // namespace sherd::neuroglancer::typed_objects_testing
