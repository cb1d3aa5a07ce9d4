// The power is cut during an operation, and during the same operation without one of its steps: everything that is
// promised is there, and no step is there in vain.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/faults/disk.hpp"
#include "tests/faults/faults.hpp"

namespace faults {

/// `is_acknowledged`: the operation has ended. Trees may be visited twice.
void for_each_cut(const Recording& recording, const std::function<void(const Tree& tree, bool is_acknowledged)>& visit);

/// What is wrong with a tree; empty: nothing.
using Judgement = std::function<std::string(const Tree& tree, bool is_acknowledged)>;

enum class Fate : std::uint8_t {
  caught,
  same,  ///< a power cut leaves nothing that it would not leave otherwise
  survived,
};

/// An operation that lacks syncs, has a sync and a step next to it in the wrong order, or appends through the page
/// cache.
struct Mutant {
  std::string name;
  Fate fate;
};

enum class Lacking : std::uint8_t {
  all_syncs,  ///< of files, or of directories
  a_sync,
  any_step,
};

std::vector<Mutant> mutants(const Recording& recording, const Judgement& fault_of, Lacking lacking = Lacking::any_step);

/// Judges trees by what a function expects of them in a folder.
class Expectations {
 public:
  /// Has failures of GoogleTest if something is wrong. May change what is in `folder`.
  using Expect = std::function<void(bool is_acknowledged)>;

  Expectations(std::string folder, Expect expect) : folder_(std::move(folder)), expect_(std::move(expect)) {}

  std::string fault_of(const Tree& tree, bool is_acknowledged);
  /// The number of different trees.
  [[nodiscard]] std::size_t trees() const { return faults_.size(); }

 private:
  std::string folder_;
  Expect expect_;
  std::map<std::pair<std::uint64_t, bool>, std::string> faults_;
};

/// Expects that of what power cuts during the operation of `faults` leave, on a disk that has changes of names in order
/// and on one that does not.
void expect_after_power_cuts(Faults& faults, const Expectations::Expect& expect,
                             const std::set<bool>& in_order = {true, false});

/// Expects that without its syncs, or without each of them, the operation breaks its promises; `needless`: those
/// without which it does not.
void expect_syncs_to_matter(Faults& faults, const Expectations::Expect& expect, Lacking lacking = Lacking::all_syncs,
                            const std::set<std::string>& needless = {});

}  // namespace faults
