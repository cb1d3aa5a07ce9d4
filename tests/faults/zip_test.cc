// A zip archive is changed, and each system call of the writer fails in turn, or is the last one before the writer is
// killed. Readers find the old archive or the new one; the next writer succeeds and removes leftovers.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "base/buffer.hpp"
#include "store/archive_of.hpp"
#include "store/zip.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace zip_test {

using sherd::Store;
/// Objects by key; nullopt: there is no archive.
using Members = std::map<std::string, std::string>;
using Seen = std::optional<Members>;

constexpr std::size_t kLargeBytes = 1'500'000;
std::string large(kLargeBytes, 'l');

std::shared_ptr<Store> opened(const std::string& folder) {
  return sherd::zip_store(sherd::file_store(folder).value(), "a.zip", {}).value();
}

Seen see(const std::string& folder) {
  if (!fs::exists(folder + "/a.zip")) return std::nullopt;
  Members members;
  const auto store = opened(folder);
  store
      ->list("",
             [&](const std::string& key, std::uint64_t) {
               members[key] = store->get(key).value().value();
               return true;
             })
      .value();
  return members;
}

void change(Store& store, const std::string& operation) {
  if (operation == "first") archive_of(store)->set_first([](std::string_view key) { return key == "zarr.json"; });
  if (operation == "create" || operation == "first") {
    store.set("zarr.json", "{}").value();
    store.set("c/0", large).value();
    store.set("c/1", "small").value();
  } else if (operation == "append") {
    store.set("c/2", "appended").value();
  } else {
    store.set("zarr.json", "{\"new\": 1}").value();
    store.set("c/1", large + "x").value();
    store.erase("c/old").value();
  }
  store.finish().value();
}

Members before(const std::string& operation) {
  if (operation == "create" || operation == "first") return {};
  return {{"zarr.json", "{}"}, {"c/0", large}, {"c/1", "small"}, {"c/old", "old"}};
}

Members after(const std::string& operation) {
  if (operation == "create" || operation == "first") return {{"zarr.json", "{}"}, {"c/0", large}, {"c/1", "small"}};
  Members members = before(operation);
  if (operation == "append") {
    members["c/2"] = "appended";
  } else {
    members["zarr.json"] = "{\"new\": 1}";
    members["c/1"] = large + "x";
    members.erase("c/old");
  }
  return members;
}

class WriterOfAnArchive : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!before(GetParam()).empty()) {
      const auto store = opened(faults_.clean());
      for (const auto& [key, text] : before(GetParam())) store->set(key, text).value();
      store->finish().value();
      before_ = before(GetParam());
    }
    ASSERT_EQ(faults_.run(), std::nullopt);
    EXPECT_EQ(see(faults_.folder()), after(GetParam()));
    calls_ = faults_.calls();
    ASSERT_GT(calls_.size(), 10U);
  }

  void expect_old_or_new(const Seen& seen) const { EXPECT_TRUE(seen == before_ || seen == after(GetParam())); }

  void expect_success_of_the_next(Seen seen) const {
    const auto store = opened(faults_.folder());
    store->set("next", "1").value();
    store->finish().value();
    if (!seen) seen = Members();
    (*seen)["next"] = "1";
    EXPECT_EQ(see(faults_.folder()), seen);
    EXPECT_EQ(files(faults_.folder()), std::set<std::string>{"a.zip"});
  }

  void expect_old_or_new_after_failures(Fault::Kind kind) {
    for_each_failure(calls_, kind, [&](const Fault& fault, const Call& call) {
      const auto error = faults_.run(fault);
      const Seen seen = see(faults_.folder());
      expect_old_or_new(seen);
      expect_bytes_are_not_lost_silently(call, error.has_value());
      if (!error) {
        EXPECT_EQ(seen, after(GetParam()));
      } else {
        SCOPED_TRACE(error->text());
        EXPECT_EQ(error->code(), sherd::ErrorCode::io);
      }
      // A writer that can no longer inspect files does not know which side file is its own, and leaves it.
      const bool is_blind = kind == Fault::Kind::onward && (call.name == "fstat" || call.name == "fstatat");
      std::set<std::string> left = files(faults_.folder());
      left.erase("a.zip");
      EXPECT_TRUE(is_blind || left.empty()) << *left.begin();
      expect_success_of_the_next(seen);
    });
  }

  Faults faults_{[](const std::string& folder) { return [store = opened(folder)] { change(*store, GetParam()); }; }};
  Seen before_;
  std::vector<Call> calls_;
};

TEST_P(WriterOfAnArchive, LeavesTheOldOneOrTheNewOneWhenACallFails) {
  expect_old_or_new_after_failures(Fault::Kind::once);
}

TEST_P(WriterOfAnArchive, LeavesTheOldOneOrTheNewOneWhenACallFailsFromThenOn) {
  expect_old_or_new_after_failures(Fault::Kind::onward);
}

TEST_P(WriterOfAnArchive, LeavesTheOldOneOrTheNewOneWhenKilledAtAnyCall) {
  for_each_kill(calls_, [&](const Fault& fault, const Call& /*call*/) {
    (void)faults_.run(fault);
    const Seen seen = see(faults_.folder());
    expect_old_or_new(seen);
    expect_success_of_the_next(seen);
  });
}

INSTANTIATE_TEST_SUITE_P(All, WriterOfAnArchive, testing::Values("create", "first", "append", "replace"),
                         [](const auto& each) { return each.param; });

/// Members have few sectors, so that all that may be left of them can be looked at.
class ArchiveOfSmallMembers : public WriterOfAnArchive {
 protected:
  ArchiveOfSmallMembers() { large.resize(1200); }
  ~ArchiveOfSmallMembers() override { large.resize(kLargeBytes, 'l'); }

  void expect_promises(bool is_acknowledged) const {
    const Seen seen = see(faults_.folder());
    EXPECT_TRUE(seen == after(GetParam()) || (!is_acknowledged && seen == before_));
    expect_success_of_the_next(seen);
  }
};

TEST_P(ArchiveOfSmallMembers, IsTheOldOneOrTheNewOneAfterAPowerCut) {
  expect_after_power_cuts(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); });
}

TEST_P(ArchiveOfSmallMembers, IsSyncedAsOftenAsIsNeeded) {
  expect_syncs_to_matter(faults_, [&](bool is_acknowledged) { expect_promises(is_acknowledged); }, Lacking::a_sync);
}

INSTANTIATE_TEST_SUITE_P(All, ArchiveOfSmallMembers, testing::Values("create", "first", "append", "replace"),
                         [](const auto& each) { return each.param; });

TEST(FailedEnd, OfAnArchiveCanBeRepeatedUnlessItWasJustBeingReplaced) {
  std::size_t repeated = 0;
  for (std::size_t at = 0, calls = 1; at < calls; ++at) {
    const TempDir folder;
    const auto store = opened(folder.path());
    store->set("a", "1").value();
    store->set("b", large).value();
    std::string failing;
    {
      const Simulation simulation({.kind = Fault::Kind::once, .at = at, .code = ENOSPC});
      if (!store->finish()) failing = simulation.calls()[at].name;
      calls = simulation.calls().size();
    }
    if (failing.empty()) continue;
    const bool again = store->finish().has_value();
    EXPECT_TRUE(again || failing != "pwrite");
    const Members written = {{"a", "1"}, {"b", large}};
    EXPECT_TRUE(see(folder.path()) == written || (!again && see(folder.path()) == std::nullopt)) << failing;
    repeated += again ? 1 : 0;
  }
  EXPECT_GT(repeated, 0U);
}

TEST(FailedEnd, LeavesNothingInTheHolesOfTheNextMember) {
  const std::string zeros(3 << 20, '\0');
  std::size_t repeated = 0;
  for (std::size_t at = 0, calls = 1; at < calls; ++at) {
    const TempDir folder;
    {
      const auto first = opened(folder.path());
      first->set("old", std::string(zeros.size(), 'o')).value();
      first->finish().value();
    }
    const auto store = opened(folder.path());
    store->set("a", "1").value();
    {
      const Simulation simulation({.kind = Fault::Kind::once, .at = at, .code = ENOSPC});
      (void)store->finish();
      calls = simulation.calls().size();
    }
    auto writer = store->write("sparse");
    if (!writer) continue;
    writer.value()->write(0, sherd::as_bytes("x")).value();
    writer.value()->write(zeros.size(), sherd::as_bytes("y")).value();
    if (!writer.value()->commit() || !store->finish()) continue;
    EXPECT_EQ(see(folder.path())->at("sparse"), "x" + zeros.substr(1) + "y");
    ++repeated;
  }
  EXPECT_GT(repeated, 0U);
}

TEST(SharedBlocks, OfTheMembersThatAreKeptAreAskedForFromBlockToBlock) {
  const TempDir folder;
  const auto store = opened(folder.path());
  std::string random(3 << 20, '\0');
  std::uint32_t state = 1;
  for (char& c : random) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  store->set("zarr.json", "{}").value();
  store->set("c/0", random).value();
  store->finish().value();
  std::ifstream file(folder / "a.zip", std::ios::binary);
  const std::string before((std::istreambuf_iterator<char>(file)), {});
  store->set("zarr.json", "{\"new\": 1}").value();
  const Simulation simulation;
  store->finish().value();
  std::size_t shared = 0;
  for (const auto& effect : simulation.effects()) {
    if (effect.bytes.size() <= (1 << 20) || effect.offset % 4096 != 0) continue;
    EXPECT_EQ(before.find(effect.bytes) % 4096, 0U);
    shared += effect.bytes.size();
  }
  EXPECT_GT(shared, random.size() - 8192);
}

TEST(UnnamedFiles, AreNotNeededByAWriterOfAnArchive) {
  for (const int code : {EOPNOTSUPP, EISDIR}) {
    const TempDir folder;
    const auto store = opened(folder.path());
    store->set("a", "begins the next version").value();
    {
      // Only the first openat() that makes a file is that of an unnamed one.
      auto writer = store->write("b").value();
      std::size_t at = 0;
      {
        const Simulation simulation;
        writer->write(0, sherd::as_bytes(large)).value();
        const auto calls = simulation.calls();
        while (calls[at].name != "openat") ++at;
      }
      writer.reset();
      writer = store->write("b").value();
      const Simulation simulation({.kind = Fault::Kind::once, .at = at, .code = code});
      writer->write(0, sherd::as_bytes(large)).value();
      writer->commit().value();
    }
    store->finish().value();
    EXPECT_EQ(see(folder.path())->at("b"), large);
    EXPECT_EQ(files(folder.path()), std::set<std::string>{"a.zip"});
  }
}

}  // namespace zip_test
}  // namespace faults
