// Whether what an interrupted update has left is what docs/writing.md promises.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "tests/faults/disk.hpp"
#include "tests/faults/golden.hpp"

namespace faults {

std::string text_of(const golden::Seen& seen);

class Judge {
 public:
  /// `old`: what was there before the change. Works in `folder` and next to it. The others must outlive it.
  Judge(const golden::Case& of, const golden::Change& change, const golden::Seen& old, std::string folder)
      : of_(of), change_(change), old_(old), new_(golden::after(change, old)), folder_(std::move(folder)) {}

  /// What is wrong with a tree; empty: nothing. It is read, checked, repaired if it needs that, and updated.
  std::string fault(const Tree& tree, bool is_acknowledged);
  /// What is wrong with the tree in `folder`, which is changed.
  std::string fault_of_folder(bool is_acknowledged) { return fault_of(look(), is_acknowledged); }
  /// The number of different trees.
  [[nodiscard]] std::size_t trees() const { return outcomes_.size(); }

 private:
  struct Outcome {
    golden::Seen seen{};
    std::uint64_t dead_bytes = 0;
    std::string fault;
  };

  [[nodiscard]] bool is_allowed(const golden::Seen& seen, bool is_acknowledged) const;
  [[nodiscard]] std::string fault_of(const Outcome& outcome, bool is_acknowledged) const;
  [[nodiscard]] std::string fault_of(const sherd::CheckReport& report, bool* torn = nullptr) const;
  [[nodiscard]] Outcome look() const;
  [[nodiscard]] std::string update(const golden::Seen& seen) const;
  [[nodiscard]] std::string repair(const golden::Seen& seen) const;

  const golden::Case& of_;
  const golden::Change& change_;
  const golden::Seen old_, new_;
  const std::string folder_;
  std::map<std::uint64_t, Outcome> outcomes_;
};

}  // namespace faults
