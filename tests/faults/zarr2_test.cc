// Nodes with several documents, as in Zarr v2, are created and edited, and each system call of the writer fails in
// turn, or is the last one before the writer is killed. A reader finds no node or a complete one, or after a kill a new
// one without attributes, and each document in its old or its new version; the next writer succeeds.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "sherd/tools.hpp"
#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace zarr2_test {

/// The contents of an array's documents.
struct Said {
  std::uint64_t length = 0;
  std::int64_t value = -1;  ///< the attribute
};

std::optional<Said> said_in(const std::string& folder) {
  const auto array = sherd::open_array(folder, {.path = "g/a", .config = operations::config_of(1)});
  if (!array && array.error().code() == sherd::ErrorCode::not_found) return std::nullopt;
  const sherd::Json attributes = array.value().attributes();
  const sherd::Json* value = attributes.find("value");
  return Said{array->shape()[0], value != nullptr ? value->as_int().value() : -1};
}

sherd::Json value_of(int value) { return sherd::Json(sherd::Json::Object{{"value", value}}); }

void create(const std::string& folder, int value) {
  sherd::CreateOptions options{.shape = {4}, .dtype = sherd::DType::uint8, .chunks = {2}, .format = "zarr2"};
  options.attributes = value_of(value);
  options.overwrite = true;
  options.config = operations::config_of(1);
  sherd::create_array(sherd::file_store(folder, options.config).value(), "g/a", options).value();
}

sherd::Group root_of(const std::string& folder) {
  return sherd::open_group(folder, {.writable = true, .config = operations::config_of(1)}).value();
}

std::function<void()> begin(const std::string& folder, const std::string& deed, int value) {
  if (deed == "create") return [=] { create(folder, value); };
  if (deed == "consolidate") return [root = root_of(folder)]() mutable { root.consolidate().value(); };
  if (deed == "erase") return [root = root_of(folder)]() mutable { root.erase("g").value(); };
  auto array = sherd::open_array(folder, {.path = "g/a", .writable = true, .config = operations::config_of(1)}).value();
  if (deed == "attributes") return [=]() mutable { array.update_attributes(value_of(value)).value(); };
  return [=]() mutable { array.resize({std::uint64_t{4} + static_cast<std::uint64_t>(value)}).value(); };
}

class WriterOfSeveralDocuments : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "create") create(faults_.clean(), 1);
    if (GetParam() == "attributes") root_of(faults_.clean()).consolidate().value();
    ASSERT_EQ(faults_.run(), std::nullopt);
    calls_ = faults_.calls();
    ASSERT_GT(calls_.size(), 5U);
  }

  /// `bare`: an array may have been created without its attributes, which follow it.
  void expect_whole(bool bare) const {
    const auto said = said_in(faults_.folder());
    if (!said) {
      EXPECT_TRUE(GetParam() == "create" || GetParam() == "erase");
      return;
    }
    EXPECT_TRUE(said->length == 4 || (GetParam() == "resize" && said->length == 6)) << said->length;
    const bool is_bare = said->value == -1 && GetParam() == "create" && bare;
    const bool is_new = is_bare || (said->value == 2 && (GetParam() == "create" || GetParam() == "attributes"));
    EXPECT_TRUE(is_new || (said->value == 1 && GetParam() != "create")) << said->value;
  }

  void expect_promises(bool is_acknowledged) const {
    expect_whole(!is_acknowledged);
    const auto said = said_in(faults_.folder());
    if (is_acknowledged) {
      EXPECT_EQ(fs::exists(faults_.folder() + "/.zmetadata"),
                GetParam() == "consolidate" || GetParam() == "attributes");
      EXPECT_EQ(said.has_value(), GetParam() != "erase");
      const bool changes_value = GetParam() == "create" || GetParam() == "attributes";
      EXPECT_TRUE(!said ||
                  (said->value == (changes_value ? 2 : 1) && said->length == (GetParam() == "resize" ? 6 : 4)));
    }
    const auto lists = sherd::file_store(faults_.folder()).value()->get(".zmetadata").value();
    EXPECT_TRUE(!lists || sherd::Json::parse(*lists));
    expect_success_of_the_next();
  }

  void expect_success_of_the_next() const {
    create(faults_.folder(), 3);
    EXPECT_EQ(said_in(faults_.folder())->value, 3);
    root_of(faults_.folder()).consolidate().value();
    EXPECT_TRUE(sherd::check(sherd::file_store(faults_.folder()).value()).value().faults.empty());
    // Of a group that was being made or erased the claim stays until the group itself is made or erased, and a lock
    // until its object is written.
    for (const std::string& name : files(faults_.folder()))
      EXPECT_TRUE(fs::path(name).filename().string().starts_with(".z") ||
                  ((GetParam() == "create" || GetParam() == "erase") &&
                   (name.ends_with("/claim") || name.ends_with(".sherd-lock"))))
          << name;
  }

  Faults faults_{[](const std::string& folder) { return begin(folder, GetParam(), 2); }};
  std::vector<Call> calls_;
};

TEST_P(WriterOfSeveralDocuments, LeavesWholeNodesWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    expect_whole(true);
    expect_success_of_the_next();
  });
}

TEST_P(WriterOfSeveralDocuments, LeavesWholeNodesWhenACallFails) {
  for_each_failure(calls_, Fault::Kind::once, [&](const Fault& fault, const Call& call) {
    const auto error = faults_.run(fault);
    expect_whole(call.name == "fsync");  // the document may be stored although its directory could not be synced
    expect_bytes_are_not_lost_silently(call, error.has_value());
    expect_success_of_the_next();
  });
}

TEST_P(WriterOfSeveralDocuments, LeavesWholeNodesAfterAPowerCut) {
  // The members of an erased group are removed in an order that only a journal keeps.
  const std::set<bool> orders = GetParam() == "erase" ? std::set{true} : std::set{true, false};
  expect_after_power_cuts(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); }, orders);
}

TEST_P(WriterOfSeveralDocuments, BreaksItsPromisesWithoutSyncs) {
  std::set<std::string> needless;
  if (GetParam() == "erase") needless = {"no syncs of files"};
  const auto expect = [&](bool is_acknowledged) { expect_promises(is_acknowledged); };
  faults_.keep_names_in_order(GetParam() == "erase");
  expect_syncs_to_matter(faults_, expect, Lacking::all_syncs, needless);
}

INSTANTIATE_TEST_SUITE_P(All, WriterOfSeveralDocuments,
                         testing::Values("create", "attributes", "resize", "consolidate", "erase"),
                         [](const auto& param) { return param.param; });

}  // namespace zarr2_test
}  // namespace faults
