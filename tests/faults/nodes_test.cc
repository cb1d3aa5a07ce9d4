// Arrays of Zarr v3 are created with their elements, and erased, and each system call fails in turn, is the last before
// the process is killed, or the power is cut: there is the whole array or none, and it can be created again.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sherd/tools.hpp"
#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace nodes_test {

using operations::Values;

void create(const std::string& folder) {
  sherd::CreateOptions options{.shape = {8, 8}, .dtype = sherd::DType::uint16, .chunks = {4, 8}};
  options.attributes = sherd::Json(sherd::Json::Object{{"value", 7}});
  options.config = operations::config_of(1);
  options.contents = [](const sherd::Array& array) {
    const std::uint16_t value = 7;
    return array.fill(sherd::Box{{0, 0}, {8, 8}}, std::as_bytes(std::span(&value, 1)));
  };
  sherd::create_array(sherd::file_store(folder, options.config).value(), "g/a", options).value();
}

void erase(const std::string& folder, const std::string& path) {
  sherd::open_group(folder, {.writable = true, .config = operations::config_of(1)}).value().erase(path).value();
}

class ANode : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!is_created()) create(faults_.clean());
    ASSERT_EQ(faults_.run(), std::nullopt);
    EXPECT_EQ(is_there(), is_created());
    calls_ = faults_.calls();
  }

  static bool is_created() { return GetParam() == "created"; }
  static std::string path() { return GetParam() == "erased_with_its_group" ? "g" : "g/a"; }

  /// The whole array.
  [[nodiscard]] bool is_there() const {
    const auto array = sherd::open_array(faults_.folder(), {.path = "g/a", .config = operations::config_of(1)});
    if (!array) {
      EXPECT_EQ(array.error().code(), sherd::ErrorCode::not_found) << array.error().text();
      return false;
    }
    Values values(64);
    array->read(sherd::Box{{0, 0}, {8, 8}}, std::span(values)).value();
    EXPECT_EQ(values, Values(64, 7));
    EXPECT_NE(array->attributes().find("value"), nullptr);
    return true;
  }

  void expect_promises(bool is_acknowledged) const {
    const bool found = is_there();
    if (is_acknowledged) {
      EXPECT_EQ(found, is_created());
    }
    // Objects that were not erased are no node, and are erased with the claim that says so.
    if (found)
      erase(faults_.folder(), path());
    else
      (void)error_of([&] { erase(faults_.folder(), path()); });
    create(faults_.folder());
    EXPECT_TRUE(is_there());
    for (const std::string& name : files(faults_.folder()))
      EXPECT_TRUE(name.find(".sherd-") == name.npos || name.ends_with("/claim")) << name;
  }

  Faults faults_{
      [](const std::string& folder) { return [=] { is_created() ? create(folder) : erase(folder, path()); }; }};
  std::vector<Call> calls_;
};

TEST_P(ANode, IsThereAsAWholeOrNotWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call&) {
    (void)faults_.run(fault);
    expect_promises(false);
  });
}

TEST_P(ANode, IsThereAsAWholeOrNotAfterAPowerCut) {
  // The members of an erased group are removed in an order that only a journal keeps.
  const std::set<bool> orders = path() == "g" ? std::set{true} : std::set{true, false};
  expect_after_power_cuts(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); }, orders);
}

/// Creation is like that of a node that overwrites another one (exchange_test.cc).
class ErasedNode : public ANode {};

TEST_P(ErasedNode, ComesBackWithoutSyncs) {
  faults_.keep_names_in_order(path() == "g");
  const auto expect = [&](bool is_acknowledged) { expect_promises(is_acknowledged); };
  expect_syncs_to_matter(faults_, expect, Lacking::all_syncs, {"no syncs of files"});
}

INSTANTIATE_TEST_SUITE_P(All, ANode, testing::Values("created", "erased", "erased_with_its_group"),
                         [](const auto& param) { return param.param; });
INSTANTIATE_TEST_SUITE_P(All, ErasedNode, testing::Values("erased", "erased_with_its_group"),
                         [](const auto& param) { return param.param; });

}  // namespace nodes_test
}  // namespace faults
