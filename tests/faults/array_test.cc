// A Zarr array is written, and each system call of the writer fails in turn, or is the last one before the writer is
// killed. Another reader finds every stored object in its old or its new version; the next writer succeeds and removes
// leftovers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <regex>

#include "tests/crash/operations.hpp"
#include "tests/faults/faults.hpp"

namespace faults {
namespace array_test {

using operations::Values;

constexpr std::uint64_t kRows = 80, kColumns = 64, kShard = 16;
constexpr std::uint16_t kValue = 2, kNextValue = 3;

/// The array as a reader finds it: its elements with zeros around them, so that arrays of different shapes compare.
struct Seen {
  std::uint64_t rows = 44, columns = 40;
  std::array<std::uint16_t, kRows * kColumns> canvas{};
  std::int64_t value = -1;  ///< the attribute, -1: none

  std::uint16_t& at(std::uint64_t row, std::uint64_t column) { return canvas[row * kColumns + column]; }
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::optional<Seen> see(const std::string& folder) {
  const auto array = sherd::open_array(folder, {.path = "a", .config = operations::config_of(1)});
  if (!array && array.error().code() == sherd::ErrorCode::not_found) return std::nullopt;
  Seen seen;
  const sherd::Shape shape = array.value().shape();
  seen.rows = shape[0];
  seen.columns = shape[1];
  Values values(seen.rows * seen.columns);
  array->read(sherd::Box{{0, 0}, shape}, std::span(values)).value();
  for (std::uint64_t row = 0; row < seen.rows; ++row)
    std::copy_n(&values[row * seen.columns], seen.columns, &seen.at(row, 0));
  const sherd::Json attributes = array->attributes();
  if (const sherd::Json* value = attributes.find("value")) seen.value = value->as_int().value();
  return seen;
}

Seen filled(Seen seen, std::array<std::uint64_t, 4> box, std::uint16_t value) {
  for (std::uint64_t row = box[0]; row < box[0] + box[2]; ++row)
    for (std::uint64_t column = box[1]; column < box[1] + box[3]; ++column) seen.at(row, column) = value;
  return seen;
}

Seen resized(const Seen& seen, std::uint64_t rows, std::uint64_t columns) {
  Seen result{.rows = rows, .columns = columns, .value = seen.value};
  for (std::uint64_t row = 0; row < std::min(rows, seen.rows); ++row)
    for (std::uint64_t column = 0; column < std::min(columns, seen.columns); ++column)
      result.at(row, column) = seen.canvas[row * kColumns + column];
  return result;
}

/// The array after an operation.
Seen expected(const std::string& operation, Seen seen, std::uint16_t value) {
  if (operation == "create") return filled({}, {0, 0, 44, 40}, 1);
  if (operation == "shard") return filled(seen, {16, 16, 16, 16}, value);
  if (operation == "edge") return filled(seen, {32, 32, 12, 8}, value);
  if (operation == "part") return filled(seen, {17, 18, 9, 5}, value);
  if (operation == "two") return filled(seen, {15, 3, 2, 8}, value);
  if (operation == "all") return filled(seen, {0, 0, seen.rows, seen.columns}, value);
  if (operation == "erase") return filled(seen, {16, 16, 16, 16}, 0);
  if (operation == "grow") return resized(seen, 60U + value, 50);
  if (operation == "shrink") return resized(seen, 18U + value % 2U, 19);
  if (operation == "append") return filled(resized(seen, seen.rows + 5, seen.columns), {seen.rows, 0, 5, 40}, value);
  seen.value = value;
  return seen;
}

std::function<void()> begin(const std::string& folder, const std::string& operation, std::uint16_t value,
                            const sherd::Config& config) {
  if (operation == "create") return [=] { operations::create(folder, "end", config); };
  return [=, array = operations::open(folder, config)]() mutable { operations::changes().at(operation)(array, value); };
}

/// Files that the format does not define.
std::set<std::string> leftovers(const std::string& folder) {
  static const std::regex format(R"(zarr\.json|a/zarr\.json|a/c/\d+/\d+)");
  std::set<std::string> names = files(folder);
  std::erase_if(names, [](const std::string& name) { return std::regex_match(name, format); });
  return names;
}

class WriterOfAnArray : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() != "create") operations::create(faults_.clean(), location_, operations::config_of(1));
    before_ = see(faults_.clean());
    there_ = files(faults_.clean());
    ASSERT_EQ(faults_.run(), std::nullopt);
    EXPECT_EQ(see(faults_.folder()), expected(GetParam(), before_.value_or(Seen()), kValue));
    calls_ = faults_.calls();
    ASSERT_GT(calls_.size(), 10U);
  }

  /// Every stored object, and the document, is in its old or its new version.
  void expect_old_or_new(const std::optional<Seen>& seen) const {
    if (!seen && !before_) return;
    ASSERT_TRUE(seen.has_value()) << "the array has vanished";
    const Seen old = before_.value_or(Seen()), now = expected(GetParam(), old, kValue);
    EXPECT_TRUE((seen->rows == old.rows && seen->columns == old.columns) ||
                (seen->rows == now.rows && seen->columns == now.columns));
    EXPECT_TRUE(seen->value == old.value || seen->value == now.value);
    for (std::uint64_t top = 0; top < kRows; top += kShard)
      for (std::uint64_t left = 0; left < kColumns; left += kShard) expect_object(*seen, old, now, top, left);
  }

  /// The next writer succeeds, whatever the state, and removes leftovers.
  void expect_success_of_the_next(const std::optional<Seen>& seen) const {
    begin(faults_.folder(), GetParam(), kNextValue, config_)();
    EXPECT_EQ(see(faults_.folder()), expected(GetParam(), seen.value_or(Seen()), kNextValue));
    // Leftovers next to objects that the operation, done again, does not write.
    if (GetParam() == "shrink") begin(faults_.folder(), "grow", kNextValue, config_)();
    if (GetParam() == "shrink" || GetParam() == "append") begin(faults_.folder(), "all", kNextValue, config_)();
    EXPECT_EQ(leftovers(faults_.folder()), std::set<std::string>());
  }

  void expect_only_objects_listed() const {
    static const std::regex format(R"(zarr\.json|a/zarr\.json|a/c/\d+/\d+)");
    const auto store = sherd::file_store(faults_.folder()).value();
    store
        ->list("",
               [](const std::string& key, std::uint64_t) {
                 EXPECT_TRUE(std::regex_match(key, format)) << key;
                 return true;
               })
        .value();
    const auto report = sherd::check(store, {.data = true});
    if (!report) {
      EXPECT_EQ(report.error().code(), sherd::ErrorCode::not_found);
    } else {
      for (const auto& fault : report->faults) EXPECT_TRUE(overwrites_index_ && fault.code == "index_checksum");
    }
  }

  /// A failure has the right type and, unless its text says otherwise, has changed nothing.
  void expect_failure(const sherd::Error& error, const std::optional<Seen>& seen, bool is_blind) const {
    SCOPED_TRACE(error.text());
    EXPECT_EQ(error.code(), sherd::ErrorCode::io);
    const bool is_published = error.text().find("the new version is written") != std::string::npos ||
                              error.text().find("the change is stored") != std::string::npos;
    const bool is_one_object = GetParam() == "shard" || GetParam() == "part" || GetParam() == "attributes";
    if (is_published || !is_one_object) return;
    EXPECT_EQ(seen, before_);
    if (!is_blind) {
      EXPECT_EQ(files(faults_.folder()), there_);
    }
  }

  void expect_old_or_new_after_failures(Fault::Kind kind);
  void expect_old_or_new_after_kills();

  std::string location_ = "end";
  bool overwrites_index_ = false;  ///< a kill may leave a part of it, and Sherd reads the copy
  sherd::Config config_ = operations::config_of(1);
  Faults faults_{[this](const std::string& folder) { return begin(folder, GetParam(), kValue, config_); }};
  std::optional<Seen> before_;
  std::set<std::string> there_;
  std::vector<Call> calls_;

 private:
  static void expect_object(Seen seen, Seen old, Seen now, std::uint64_t top, std::uint64_t left) {
    bool is_old = true, is_new = true;
    for (std::uint64_t row = top; row < top + kShard; ++row) {
      for (std::uint64_t column = left; column < left + kShard; ++column) {
        const bool same_as_old = seen.at(row, column) == old.at(row, column);
        const bool same_as_new = seen.at(row, column) == now.at(row, column);
        is_old = is_old && same_as_old;
        is_new = is_new && same_as_new;
        // Shrinking writes an object twice: some elements are as before, some as after.
        if (GetParam() == "shrink") is_old = is_new = same_as_old || same_as_new;
        if (GetParam() == "shrink" && row < now.rows && column < now.columns) {
          EXPECT_TRUE(same_as_old);
        }
      }
    }
    EXPECT_TRUE(is_old || is_new) << "the object at " << top << ", " << left << " is neither old nor new";
  }
};

void WriterOfAnArray::expect_old_or_new_after_failures(Fault::Kind kind) {
  const std::string& operation = GetParam();
  for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
    const auto error = faults_.run(fault);
    const auto seen = see(faults_.folder());
    expect_old_or_new(seen);
    // A writer that can no longer inspect files does not know which side file is its own, and leaves it.
    const bool is_blind = kind == Fault::Kind::onward && (call.name == "fstat" || call.name == "fstatat");
    if (!is_blind) {
      EXPECT_EQ(leftovers(faults_.folder()), std::set<std::string>());
    }
    expect_bytes_are_not_lost_silently(call, error.has_value());
    if (error) {
      expect_failure(*error, seen, is_blind);
    } else if (operation != "create" && operation != "attributes") {  // it did not need the call, or repeated it
      EXPECT_EQ(seen->canvas, expected(operation, before_.value_or(Seen()), kValue).canvas);
    }
    expect_success_of_the_next(see(faults_.folder()));
  });
}

void WriterOfAnArray::expect_old_or_new_after_kills() {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    const auto seen = see(faults_.folder());
    expect_old_or_new(seen);
    expect_only_objects_listed();
    expect_success_of_the_next(seen);
  });
}

TEST_P(WriterOfAnArray, LeavesWhatWasThereWhenACallFails) { expect_old_or_new_after_failures(Fault::Kind::once); }

TEST_P(WriterOfAnArray, LeavesWhatWasThereWhenACallFailsFromThenOn) {
  expect_old_or_new_after_failures(Fault::Kind::onward);
}

TEST_P(WriterOfAnArray, LeavesOldOrNewWhenKilledAtAnyCall) { expect_old_or_new_after_kills(); }

std::string name_of(const testing::TestParamInfo<std::string>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(All, WriterOfAnArray,
                         testing::Values("create", "shard", "edge", "part", "two", "all", "attributes", "grow",
                                         "shrink", "append", "erase"),
                         name_of);

/// A writer of shards whose index is before their chunks.
class WriterOfLeadingIndexes : public WriterOfAnArray {
 protected:
  WriterOfLeadingIndexes() { location_ = "start"; }
};

TEST_P(WriterOfLeadingIndexes, LeavesWhatWasThereWhenACallFails) {
  expect_old_or_new_after_failures(Fault::Kind::once);
}

TEST_P(WriterOfLeadingIndexes, LeavesOldOrNewWhenKilledAtAnyCall) { expect_old_or_new_after_kills(); }

INSTANTIATE_TEST_SUITE_P(All, WriterOfLeadingIndexes, testing::Values("shard", "edge", "part", "two"), name_of);

/// A writer that appends changed chunks in one step: by default, shards this small are rewritten.
class AppenderToShards : public WriterOfAnArray {
 protected:
  AppenderToShards() { config_.max_unused = 1000; }
  void SetUp() override {
    WriterOfAnArray::SetUp();
    EXPECT_TRUE(std::ranges::any_of(calls_, [](const Call& call) { return call.name == "pwrite_once"; }));
  }
};

TEST_P(AppenderToShards, LeavesWhatWasThereWhenACallFails) { expect_old_or_new_after_failures(Fault::Kind::once); }

TEST_P(AppenderToShards, LeavesWhatWasThereWhenACallFailsFromThenOn) {
  expect_old_or_new_after_failures(Fault::Kind::onward);
}

TEST_P(AppenderToShards, LeavesOldOrNewWhenKilledAtAnyCall) { expect_old_or_new_after_kills(); }

INSTANTIATE_TEST_SUITE_P(All, AppenderToShards, testing::Values("part", "two"), name_of);

/// A writer that overwrites the index at the beginning, after a copy of the index was appended.
class AppenderBehindLeadingIndexes : public WriterOfAnArray {
 protected:
  AppenderBehindLeadingIndexes() {
    location_ = "start";
    config_.update = sherd::Update::append;
    overwrites_index_ = true;
    config_.max_unused = 1000;
  }
  void SetUp() override {
    WriterOfAnArray::SetUp();
    EXPECT_FALSE(std::ranges::any_of(calls_, [](const Call& call) { return call.name == "renameat"; }));
  }
};

TEST_P(AppenderBehindLeadingIndexes, LeavesWhatWasThereWhenACallFails) {
  expect_old_or_new_after_failures(Fault::Kind::once);
}

TEST_P(AppenderBehindLeadingIndexes, LeavesOldOrNewWhenKilledAtAnyCall) { expect_old_or_new_after_kills(); }

INSTANTIATE_TEST_SUITE_P(All, AppenderBehindLeadingIndexes, testing::Values("part", "two"), name_of);

/// A writer whose next version of a shard begins as a clone of the old version.
class RewriterOfClones : public WriterOfAnArray {
 protected:
  RewriterOfClones() {
    config_.update = sherd::Update::rewrite;
    faults_.share_blocks();
  }
  void SetUp() override {
    WriterOfAnArray::SetUp();
    EXPECT_TRUE(std::ranges::any_of(calls_, [](const Call& call) { return call.name == "clone"; }));
    EXPECT_FALSE(std::ranges::any_of(calls_, [](const Call& call) { return call.name == "copy_file_range"; }));
  }
};

TEST_P(RewriterOfClones, LeavesWhatWasThereWhenACallFails) { expect_old_or_new_after_failures(Fault::Kind::once); }

TEST_P(RewriterOfClones, LeavesOldOrNewWhenKilledAtAnyCall) { expect_old_or_new_after_kills(); }

INSTANTIATE_TEST_SUITE_P(All, RewriterOfClones, testing::Values("part", "two"), name_of);

}  // namespace array_test
}  // namespace faults
