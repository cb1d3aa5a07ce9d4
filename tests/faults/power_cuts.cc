#include "tests/faults/power_cuts.hpp"

#include <gtest/gtest-spi.h>

#include <algorithm>

#include "sherd/result.hpp"

namespace faults {
namespace {

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
  if (effect.names.size() == 2) return effect.names[1].inode == 0 ? "rename" : "exchange";
  return effect.names[0].inode == 0 ? "remove" : effect.names[0].is_directory ? "make directory" : "create";
}

/// Locks are made and removed at any time: they need not be durable.
bool is_of_lock(const Effect& effect) {
  return effect.names.size() == 1 && effect.names[0].name.ends_with(".sherd-lock");
}

bool is_bytes(const Effect& effect) {
  return effect.kind != Effect::Kind::named && effect.kind != Effect::Kind::synced;
}

struct Caught {};

using Changed = std::pair<std::string, std::vector<Effect>>;

/// Left out are syncs that find nothing to make durable, which are for what killed writers have left, and the order of
/// bytes between two syncs, which no disk keeps.
std::vector<Changed> changed_ones(const Recording& recording, Lacking lacking) {
  Disk disk = recording.disk;
  for (const Effect& effect : recording.effects) disk.apply(effect);
  std::vector<Changed> all;
  std::set<ino_t> changed;
  const std::vector<Effect>& effects = recording.effects;
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const Effect& effect = effects[i];
    const bool is_sync = effect.kind == Effect::Kind::synced;
    if (is_bytes(effect)) changed.insert(effect.of);
    if (is_of_lock(effect)) continue;
    for (const Effect::Name& name : effect.names) changed.insert(name.in);
    if (is_sync && changed.erase(effect.of) == 0) continue;
    if (is_sync) {
      auto& changed_one = all.emplace_back("no " + text_of(disk, effect), effects).second;
      changed_one.erase(changed_one.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (lacking == Lacking::a_sync) continue;
    if (effect.kind == Effect::Kind::appended)
      all.emplace_back("append through the page cache", effects).second[i].kind = Effect::Kind::written;
    if (i + 1 == effects.size() || is_of_lock(effects[i + 1])) continue;
    if (is_bytes(effect) && is_bytes(effects[i + 1])) continue;
    auto& swapped =
        all.emplace_back(text_of(disk, effects[i + 1]) + " before " + text_of(disk, effect), effects).second;
    std::swap(swapped[i], swapped[i + 1]);
  }
  return all;
}

std::vector<Changed> without_syncs(const Recording& recording) {
  Disk disk = recording.disk;
  for (const Effect& effect : recording.effects) disk.apply(effect);
  std::vector<Changed> all;
  for (const bool of_names : {false, true}) {
    all.emplace_back(of_names ? "no syncs of names" : "no syncs of files", recording.effects);
    std::erase_if(all.back().second, [&](const Effect& effect) {
      return effect.kind == Effect::Kind::synced && disk.is_directory(effect.of) == of_names;
    });
  }
  return all;
}

}  // namespace

void for_each_cut(const Recording& recording,
                  const std::function<void(const Tree& tree, bool is_acknowledged)>& visit) {
  cut_power(recording, [&](const Tree& tree, std::size_t at) { visit(tree, at == recording.effects.size()); });
}

std::vector<Mutant> mutants(const Recording& recording, const Judgement& fault_of, Lacking lacking) {
  std::set<std::pair<std::uint64_t, bool>> usual;
  for_each_cut(recording, [&](const Tree& tree, bool is_acknowledged) { usual.emplace(tree.hash(), is_acknowledged); });
  std::vector<Mutant> all;
  for (auto& [name, effects] :
       lacking == Lacking::all_syncs ? without_syncs(recording) : changed_ones(recording, lacking)) {
    Fate fate = Fate::same;
    try {
      for_each_cut({recording.disk, effects}, [&](const Tree& tree, bool is_acknowledged) {
        if (usual.contains({tree.hash(), is_acknowledged})) return;
        fate = fault_of(tree, is_acknowledged).empty() ? Fate::survived : Fate::caught;
        if (fate == Fate::caught) throw Caught();
      });
    } catch (const Caught& /*ends the loop*/) {
    }
    all.push_back({name, fate});
  }
  return all;
}

std::string Expectations::fault_of(const Tree& tree, bool is_acknowledged) {
  const auto [at, is_new] = faults_.try_emplace({tree.hash(), is_acknowledged});
  if (!is_new) return at->second;
  tree.store(folder_);
  testing::TestPartResultArray failures;
  try {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    expect_(is_acknowledged);
  } catch (const sherd::Exception& failure) {
    at->second = failure.error().text();
  }
  for (int i = 0; i < failures.size(); ++i) at->second += failures.GetTestPartResult(i).message();
  return at->second;
}

void expect_after_power_cuts(Faults& faults, const Expectations::Expect& expect, const std::set<bool>& orders) {
  std::size_t trees = 0;
  for (const bool in_order : orders) {
    SCOPED_TRACE(in_order ? "names in order" : "names in any order");
    faults.keep_names_in_order(in_order);
    Expectations expectations(faults.recorded(), expect);
    bool is_first = true;
    for_each_cut(faults.record(), [&](const Tree& tree, bool is_acknowledged) {
      if (!is_first) return;
      const std::string fault = expectations.fault_of(tree, is_acknowledged);
      is_first = fault.empty();
      std::string names;
      for (const auto& [name, bytes] : tree.files) names += "\n  " + name + " " + std::to_string(bytes->size());
      EXPECT_EQ(fault, "") << (is_acknowledged ? "acknowledged" : "not acknowledged") << names;
    });
    trees += expectations.trees();
  }
  faults.keep_names_in_order(false);
  EXPECT_GT(trees, 2U);
  testing::Test::RecordProperty("trees", static_cast<int>(trees));
}

void expect_syncs_to_matter(Faults& faults, const Expectations::Expect& expect, Lacking lacking,
                            const std::set<std::string>& needless) {
  Expectations expectations(faults.recorded(), expect);
  const auto fault_of = [&](const Tree& tree, bool is_acknowledged) {
    return expectations.fault_of(tree, is_acknowledged);
  };
  for (const Mutant& mutant : mutants(faults.record(), fault_of, lacking))
    EXPECT_EQ(mutant.fate == Fate::caught, !needless.contains(mutant.name)) << mutant.name;
}

}  // namespace faults
