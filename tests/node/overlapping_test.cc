// Nodes that are created while another process erases, renames or overwrites a group around them, before any of their
// requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/array/nodes_testing.hpp"
#include "tests/store/lockless.hpp"
#include "tests/store/test_store.hpp"
#include "tests/store/tree.hpp"

namespace sherd {
namespace overlapping_test {

using testing::IsEmpty;

/// How the group g around the node is changed.
struct Change {
  std::string name;
  std::function<Result<void>(const std::shared_ptr<Store>& store)> act;
};

const Config kNoWaiting{.lock_timeout = 0};

std::vector<Change> changes() {
  return {{"Erased", [](const auto& store) { return erase(store, {.path = "g", .config = kNoWaiting}); }},
          {"Renamed", [](const auto& store) { return rename(store, "/k", {.path = "g", .config = kNoWaiting}); }},
          {"OverwrittenByAGroup",
           [](const auto& store) -> Result<void> {
             SHERD_TRY(group, create_group(store, "g", {}, true, kNoWaiting));
             return {};
           }},
          {"OverwrittenByAnArray", [](const auto& store) -> Result<void> {
             CreateOptions options = bytes_array(true);
             options.config = kNoWaiting;
             SHERD_TRY(array, create_array(store, "g", options));
             return {};
           }}};
}

struct Case {
  Change change;
  std::string format = "zarr3";
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Change& change : changes())
    for (const char* format : {"zarr2", "zarr3"}) all.push_back({change, format});
  return all;
}

void PrintTo(const Case& each, std::ostream* out) { *out << each.change.name << " in " << each.format; }

std::string name_of(const testing::TestParamInfo<Case>& info) {
  const Case& each = info.param;
  return each.change.name + "In" + each.format;
}

/// If there is an array at the path, no chunk of it is missing.
bool expect_whole(const std::shared_ptr<Store>& store, const std::string& path, const auto& when) {
  const auto array = open_array(store, {.path = path});
  if (!array) return false;
  std::vector<std::uint8_t> values(4);
  array->read(Box{{0}, {4}}, std::span(values)).value();
  EXPECT_THAT(values, testing::Each(7)) << path << ", request " << when;
  return true;
}

class NewNode : public testing::TestWithParam<Case> {
 protected:
  /// Calls `act` with a store, and changes the group before its request number `step`. False if `act` made fewer
  /// requests, so that the group was not changed.
  bool step(int step, const std::function<void(const std::shared_ptr<Store>& store)>& act) {
    const auto beneath = memory_store();
    const auto stepping = std::make_shared<TestStore>(beneath);
    other_ = beneath;
    create_group(other_, "", {}, false, {}, GetParam().format).value();
    create_group(other_, "g").value();
    stepping->of = Op::open | Op::changes | Op::wait | Op::move_at_once | Op::visit;
    stepping->at(step, [&] { changed_ = GetParam().change.act(other_); });
    act(stepping);
    return stepping->has_acted();
  }

  std::shared_ptr<Store> other_;  ///< of the process that changes the group
  Result<void> changed_;
};

INSTANTIATE_TEST_SUITE_P(All, NewNode, testing::ValuesIn(cases()), name_of);

TEST_P(NewNode, IsWholeThoughTheGroupAroundItIsChangedMeanwhile) {
  for (const bool has_contents : {false, true}) {
    for (int at = 0;; ++at) {
      Result<void> made;
      const bool any = step(at, [&](const std::shared_ptr<Store>& store) {
        CreateOptions options = bytes_array();
        if (has_contents)
          options.contents = [](const Array& array) { return array.fill(Box{{0}, {4}}, std::vector{std::byte{7}}); };
        auto created = create_array(store, "g/h/a", options);
        if (!created) made = created.error();
      });
      if (!any) {
        EXPECT_TRUE(made);
        break;
      }
      if (has_contents)
        for (const char* path : {"g/h/a", "k/h/a"}) expect_whole(other_, path, at);
    }
  }
}

}  // namespace overlapping_test
}  // namespace sherd
