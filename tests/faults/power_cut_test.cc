// The power is cut during updates of a shard, and each tree that the disk may then have is read, checked, repaired and
// updated: everything acknowledged is there, and the rest is as docs/writing.md promises. The same updates without one
// of their syncs, or with two of their steps in the wrong order, break these promises: no step is there in vain, and
// the simulated disk would show a missing one.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/faults/disk.hpp"
#include "tests/faults/faults.hpp"
#include "tests/faults/golden.hpp"
#include "tests/faults/judge.hpp"
#include "tests/faults/power_cuts.hpp"

namespace faults {
namespace power_cut_test {

using golden::Case;
using golden::Change;
using golden::Seen;

/// `in_order`: the file system and the disk keep the order of changes of names.
Recording record(const Case& of, const std::string& folder, const Change& change, bool in_order = false) {
  const auto act = golden::begin(of, change, folder);
  Recording recording{Disk(folder), {}};
  recording.disk.set({.names_in_order = in_order});
  const Simulation simulation;
  if (of.shares_blocks) simulation.share_blocks();
  if (in_order) simulation.keep_names_in_order();
  act();
  recording.effects = simulation.effects();
  return recording;
}

class PowerCut : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    fs::create_directory(folder());
    golden::create(GetParam(), folder());
  }

  [[nodiscard]] std::string folder() const { return folder_ / "now"; }
  [[nodiscard]] std::string cut_folder() const { return folder_ / "cut"; }

  /// Makes each change in turn, and calls visit(change, what was there before, what was done).
  void for_each_change(const std::function<void(const Change&, const Seen&, const Recording&)>& visit) {
    Seen seen{};
    for (const Change& change : GetParam().changes) {
      SCOPED_TRACE(change.name);
      const Recording recording = record(GetParam(), folder(), change);
      visit(change, seen, recording);
      seen = golden::after(change, seen);
      ASSERT_EQ(text_of(golden::see(GetParam(), folder())), text_of(seen));
      if (HasFailure()) return;
    }
  }

  [[nodiscard]] std::vector<Call> calls_of(const Change& change) const {
    const std::string folder = folder_ / "counted";
    copy_tree(this->folder(), folder);
    const auto act = golden::begin(GetParam(), change, folder);
    const Simulation simulation;
    act();
    return simulation.calls();
  }

  TempDir folder_;
};

TEST_P(PowerCut, LeavesWhatEachUpdatePromises) {
  std::size_t trees = 0;
  for_each_change([&](const Change& change, const Seen& old, const Recording& recording) {
    Judge judge(GetParam(), change, old, cut_folder());
    for_each_cut(recording, [&](const Tree& tree, bool is_acknowledged) {
      if (HasFailure()) return;
      EXPECT_EQ(judge.fault(tree, is_acknowledged), "");
    });
    trees += judge.trees();
  });
  RecordProperty("trees", static_cast<int>(trees));
}

/// Where a journal has all names in order, the names of new directories are durable with those of the objects in them.
TEST_P(PowerCut, LeavesNewDirectoriesWithWhatIsInThem) {
  const Change& first = GetParam().changes.front();
  const Recording recording = record(GetParam(), folder(), first, true);
  const auto is_of_names = [&](const Effect& effect) {
    return effect.kind == Effect::Kind::synced && recording.disk.is_directory(effect.of);
  };
  // Of those that were there before only the one into which the object is put.
  EXPECT_EQ(std::ranges::count_if(recording.effects, is_of_names), GetParam().kind == golden::Kind::ids ? 1 : 0);
  Judge judge(GetParam(), first, {}, cut_folder());
  const auto fault_of = [&](const Tree& tree, bool is_acknowledged) { return judge.fault(tree, is_acknowledged); };
  for_each_cut(recording, [&](const Tree& tree, bool is_acknowledged) {
    if (HasFailure()) return;
    EXPECT_EQ(fault_of(tree, is_acknowledged), "");
  });
  const auto lacking = mutants(recording, fault_of, Lacking::a_sync);
  EXPECT_EQ(lacking.size(), 2U);
  for (const Mutant& mutant : lacking) EXPECT_EQ(mutant.fate, Fate::caught) << mutant.name;
}

/// The power is cut, and again during the next update, which has found something unfinished.
TEST_P(PowerCut, MayBeRepeatedDuringTheNextUpdate) {
  const std::string first = folder_ / "first";
  for_each_change([&](const Change& change, const Seen& /*old*/, const Recording& recording) {
    if (change.name != "Larger") return;
    std::map<std::uint64_t, Tree> trees;
    for_each_cut(recording, [&](const Tree& tree, bool) { trees.emplace(tree.hash(), tree); });
    Change next{"Next", {{3, 9}, {4, 9}}, change.overwrites};
    if (!next.overwrites.empty()) next.overwrites.insert({3, 4});
    const std::size_t most = GetParam().overwrites_index() ? 12 : 4;
    for (std::size_t number = 0; const auto& [hash, tree] : trees) {
      if (number++ % (trees.size() / most + 1) != 0) continue;
      tree.store(first);
      Judge judge(GetParam(), next, golden::see(GetParam(), first), cut_folder());
      const Recording again = record(GetParam(), first, next);
      for_each_cut(again, [&](const Tree& left, bool is_acknowledged) {
        if (HasFailure()) return;
        EXPECT_EQ(judge.fault(left, is_acknowledged), "");
      });
    }
  });
}

/// A writer is killed, the next one acknowledges what it has changed, and then the power is cut.
class KilledWriter : public PowerCut {
 protected:
  /// `at`: the call at which the first writer is killed. Returns what is wrong in the end. `lacks`: a sync of names
  /// that the second writer leaves out, of those which find nothing that it has changed itself.
  std::string fault(const Change& change, std::size_t at, bool in_order, bool lacks_sync = false) {
    const std::string folder = folder_ / "killed";
    copy_tree(this->folder(), folder);
    Disk disk(folder);
    disk.set({.names_in_order = in_order});
    std::vector<Effect> effects;
    {
      auto act = golden::begin(GetParam(), change, folder);
      const Simulation simulation({.kind = Fault::Kind::killed, .at = at});
      if (in_order) simulation.keep_names_in_order();
      (void)error_of(act);
      act = nullptr;
      effects = simulation.effects();
    }
    for (const Effect& effect : effects) disk.apply(effect);
    const Change next{"Next", {{7, 9}}};
    Judge judge(GetParam(), next, golden::see(GetParam(), folder), cut_folder());
    Recording second = record(GetParam(), folder, next, in_order);
    std::set<ino_t> changed;
    std::string found;
    for (const Effect& effect : second.effects) {
      for (const Effect::Name& name : effect.names) changed.insert(name.in);
      const bool is_for_others =
          effect.kind == Effect::Kind::synced && disk.is_directory(effect.of) && !changed.contains(effect.of);
      if (!lacks_sync || !is_for_others) disk.apply(effect);
    }
    disk.cut([&](const Tree& tree) {
      if (found.empty()) found = judge.fault(tree, true);
    });
    return found;
  }
};

TEST_P(KilledWriter, DoesNotCostWhatTheNextOneAcknowledges) {
  const Change& change = GetParam().changes.front();
  const bool rewrites = GetParam().update == sherd::Update::rewrite;
  std::set<bool> lost;
  const std::vector<Call> calls = calls_of(change);
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (!calls[at].changes) continue;  // the disk is the same after it as before it
    SCOPED_TRACE(calls[at].name + ", call " + std::to_string(at));
    EXPECT_EQ(fault(change, at, true), "");
    if (!rewrites) continue;  // appends rely on a journal
    EXPECT_EQ(fault(change, at, false), "");
    lost.insert(!fault(change, at, false, true).empty());
  }
  // Without a journal, the directory that the killed writer has made must be synced by the next one.
  EXPECT_EQ(lost.contains(true), GetParam().kind != golden::Kind::ids && rewrites);
}

class Mutants : public PowerCut {
 protected:
  /// In changes of the length, which are of a document and a shard.
  static bool may_be_same(const Change& change, const std::string& mutant) {
    // Of the document that nothing shows yet.
    if (change.name == "Shrunk" && mutant == "write at 0 before sync of names") return true;
    // The first writer of a chunk syncs the names above the chunks again.
    return change.name == "AppendedAfterShrunk" &&
           (mutant == "no sync of names" || mutant == "sync of names before rename");
  }

  static Fate expected(const Change& change, const std::string& mutant) {
    // A clone that was not made shorter ends with dead bytes.
    if (GetParam().shares_blocks && GetParam().kind == golden::Kind::index_at_start && mutant == "sync before resize")
      return Fate::survived;
    // The two are of different directories, the inner one made in the outer one.
    if (mutant == "make directory before sync of names") return Fate::same;
    // What is written last into a new shard with slack is the end of the room after the last chunk.
    if (GetParam().slack != sherd::Slack() && change.name == "First" && mutant == "sync before write")
      return Fate::survived;
    return Fate::caught;
  }
};

TEST_P(Mutants, BreakThePromises) {
  for_each_change([&](const Change& change, const Seen& old, const Recording& recording) {
    Judge judge(GetParam(), change, old, cut_folder());
    const auto fault_of = [&](const Tree& tree, bool is_acknowledged) { return judge.fault(tree, is_acknowledged); };
    for (const Mutant& mutant : mutants(recording, fault_of)) {
      if (mutant.fate == Fate::same && may_be_same(change, mutant.name)) continue;
      EXPECT_EQ(mutant.fate, expected(change, mutant.name)) << mutant.name;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, PowerCut, testing::ValuesIn(golden::cases()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(All, KilledWriter,
                         testing::Values(golden::find("IndexAtEndRewritten"), golden::find("IndexAtEndAppended"),
                                         golden::find("IndexAtStartAppended"), golden::find("IndexAtEndInPlace"),
                                         golden::find("Draft2022Appended"), golden::find("IdsRewritten"),
                                         golden::find("IdsAppended")),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(All, Mutants, testing::ValuesIn(golden::cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace power_cut_test
}  // namespace faults
