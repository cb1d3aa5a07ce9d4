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

namespace faults {
namespace {

using golden::Case;
using golden::Change;
using golden::Seen;

Recording record(const std::string& folder, const std::function<std::function<void()>()>& begin) {
  const auto act = begin();
  Recording recording{Disk(folder), {}};
  const Simulation simulation;
  act();
  recording.effects = simulation.effects();
  return recording;
}

/// `is_acknowledged`: the update has ended.
void for_each_cut(const Recording& recording,
                  const std::function<void(const Tree& tree, bool is_acknowledged)>& visit) {
  cut_power(recording, [&](const Tree& tree, std::size_t at) { visit(tree, at == recording.effects.size()); });
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
      const Recording recording = record(folder(), [&] { return golden::begin(GetParam(), change, folder()); });
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
      const Recording again = record(first, [&] { return golden::begin(GetParam(), next, first); });
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
  std::string fault(const Change& change, std::size_t at, bool lacks_sync = false) {
    const std::string folder = folder_ / "killed";
    copy_tree(this->folder(), folder);
    Disk disk(folder);
    disk.set({.names_in_order = GetParam().update != sherd::Update::rewrite});
    std::vector<Effect> effects;
    {
      auto act = golden::begin(GetParam(), change, folder);
      const Simulation simulation({.kind = Fault::Kind::killed, .at = at});
      (void)error_of(act);
      act = nullptr;
      effects = simulation.effects();
    }
    for (const Effect& effect : effects) disk.apply(effect);
    const Change next{"Next", {{7, 9}}};
    Judge judge(GetParam(), next, golden::see(GetParam(), folder), cut_folder());
    Recording second = record(folder, [&] { return golden::begin(GetParam(), next, folder); });
    std::set<ino_t> changed;
    std::string found;
    for (const Effect& effect : second.effects) {
      if (effect.kind == Effect::Kind::named) changed.insert(effect.of);
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
  std::set<bool> lost;
  const std::vector<Call> calls = calls_of(change);
  for (std::size_t at = 0; at < calls.size(); ++at) {
    if (!calls[at].changes) continue;  // the disk is the same after it as before it
    SCOPED_TRACE(calls[at].name + ", call " + std::to_string(at));
    EXPECT_EQ(fault(change, at), "");
    lost.insert(!fault(change, at, true).empty());
  }
  // Without a journal, the directory that the killed writer has made must be synced by the next one.
  const bool makes_directories = GetParam().kind != golden::Kind::ids;
  EXPECT_EQ(lost.contains(true), makes_directories && GetParam().update == sherd::Update::rewrite);
}

// ---- without one of its steps ----

/// The effects of an update that is not quite as it should be.
struct Mutant {
  std::string name;
  std::vector<Effect> effects;
};

std::string text_of(const Disk& disk, const Effect& effect) {
  switch (effect.kind) {
    case Effect::Kind::written:
      return effect.offset == 0 ? "write at 0" : "write";
    case Effect::Kind::appended:
      return "append";
    case Effect::Kind::resized:
      return "resize";
    case Effect::Kind::synced:
      return disk.is_directory(effect.of) ? "sync of names" : "sync";
    case Effect::Kind::named:
      break;
  }
  if (effect.names.size() == 2) return "rename";
  return effect.names[0].inode == 0 ? "remove" : effect.names[0].is_directory ? "make directory" : "create";
}

/// Locks are made and removed at any time: they need not be durable.
bool is_of_lock(const Effect& effect) {
  return effect.names.size() == 1 && effect.names[0].name.ends_with(".sherd-lock");
}

bool is_bytes(const Effect& effect) {
  return effect.kind != Effect::Kind::named && effect.kind != Effect::Kind::synced;
}

/// Left out are syncs that find nothing to make durable, which are for what killed writers have left, and the order of
/// bytes between two syncs, which no disk keeps.
std::vector<Mutant> mutants(const Recording& recording) {
  Disk disk = recording.disk;
  for (const Effect& effect : recording.effects) disk.apply(effect);
  std::vector<Mutant> all;
  std::set<ino_t> changed;
  const std::vector<Effect>& effects = recording.effects;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Effect& effect = effects[i];
    const bool is_sync = effect.kind == Effect::Kind::synced;
    if (!is_sync) changed.insert(effect.of);
    if (is_of_lock(effect) || (is_sync && changed.erase(effect.of) == 0)) continue;
    Mutant changed_one{"", effects};
    if (is_sync) {
      changed_one.effects.erase(changed_one.effects.begin() + static_cast<std::ptrdiff_t>(i));
      all.push_back({"no " + text_of(disk, effect), changed_one.effects});
    }
    if (effect.kind == Effect::Kind::appended) {
      changed_one.effects[i].kind = Effect::Kind::written;
      all.push_back({"append through the page cache", changed_one.effects});
    }
    if (i + 1 == effects.size() || is_of_lock(effects[i + 1])) continue;
    if (is_bytes(effect) && is_bytes(effects[i + 1])) continue;
    changed_one.effects = effects;
    std::swap(changed_one.effects[i], changed_one.effects[i + 1]);
    all.push_back({text_of(disk, effects[i + 1]) + " before " + text_of(disk, effect), changed_one.effects});
  }
  return all;
}

enum class Fate : std::uint8_t {
  caught,
  same,  ///< a power cut leaves nothing that it would not leave otherwise
  survived,
};

Fate fate_of(const Recording& recording, const Mutant& mutant, const std::set<std::pair<std::uint64_t, bool>>& usual,
             Judge& judge) {
  Fate fate = Fate::same;
  for_each_cut({recording.disk, mutant.effects}, [&](const Tree& tree, bool is_acknowledged) {
    if (fate == Fate::caught || usual.contains({tree.hash(), is_acknowledged})) return;
    fate = judge.fault(tree, is_acknowledged).empty() ? Fate::survived : Fate::caught;
  });
  return fate;
}

class Mutants : public PowerCut {
 protected:
  static Fate expected(const Change& change, const std::string& mutant) {
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
    std::set<std::pair<std::uint64_t, bool>> usual;
    for_each_cut(recording,
                 [&](const Tree& tree, bool is_acknowledged) { usual.emplace(tree.hash(), is_acknowledged); });
    for (const Mutant& mutant : mutants(recording))
      EXPECT_EQ(fate_of(recording, mutant, usual, judge), expected(change, mutant.name)) << mutant.name;
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

}  // namespace
}  // namespace faults
