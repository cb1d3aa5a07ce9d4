// A directory that is prepared once, and restored before each fault.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sherd/result.hpp"
#include "tests/faults/disk.hpp"
#include "tests/faults/simulated.hpp"
#include "tests/store/temp_dir.hpp"

namespace faults {

namespace fs = std::filesystem;
using sherd::os::Call;
using sherd::os::Fault;
using sherd::os::Simulation;

/// Replaces `to` by a copy of `from`. Names of the same file are names of the same file in the copy, too.
inline void copy_tree(const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::create_directories(to);
  std::map<ino_t, fs::path> copied;
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const fs::path path = to / entry.path().lexically_relative(from);
    struct stat status{};
    ::lstat(entry.path().c_str(), &status);
    const auto [first, is_new] = copied.try_emplace(status.st_ino, path);
    if (entry.is_symlink())
      fs::copy_symlink(entry.path(), path);
    else if (entry.is_directory())
      fs::create_directory(path);
    else if (is_new)
      fs::copy_file(entry.path(), path);
    else
      fs::create_hard_link(first->second, path);
  }
}

/// Everything but directories.
inline std::set<std::string> files(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory()) names.insert(entry.path().lexically_relative(folder).string());
  return names;
}

/// The error that `act` throws.
template <class Act>
std::optional<sherd::Error> error_of(const Act& act) {
  try {
    act();
    return std::nullopt;
  } catch (const sherd::Exception& failure) {
    return failure.error();
  }
}

/// An operation on a directory. `open` prepares it and returns the operation.
using Operation = std::function<std::function<void()>(const std::string& folder)>;

class Faults {
 public:
  explicit Faults(Operation operation) : operation_(std::move(operation)) { fs::create_directory(clean()); }

  /// The directory as every run of the operation finds it.
  [[nodiscard]] std::string clean() const { return folder_ / "clean"; }
  /// The directory in which the operation is done.
  [[nodiscard]] std::string folder() const { return around() + "/store"; }
  /// Contains nothing else.
  [[nodiscard]] std::string around() const { return folder_ / "around"; }
  /// What recordings are of: folder(), or around() if the operation exchanges folder() itself.
  [[nodiscard]] std::string recorded() const { return records_around_ ? around() : folder(); }
  void record_around() noexcept { records_around_ = true; }

  /// Runs the operation on a fresh copy of clean(). What it has opened stays open until the simulation ends, so that a
  /// killed writer cannot clean up.
  std::optional<sherd::Error> run(const Fault& fault = {}) {
    copy_tree(clean(), folder());
    auto act = operation_(folder());
    const Simulation simulation(fault);
    prepare(simulation);
    auto error = error_of(act);
    act = nullptr;
    calls_ = simulation.calls();
    return error;
  }
  /// Every run finds a file system that can clone files.
  void share_blocks() noexcept { shares_blocks_ = true; }
  /// Every run finds a file system whose journal has names in order, and every recording such a disk.
  void keep_names_in_order(bool keeps = true) noexcept { keeps_names_in_order_ = keeps; }
  /// Runs it without a fault. `simulated`: while it runs.
  Recording record(const std::function<void(const Simulation&)>& simulated = {}) {
    copy_tree(clean(), folder());
    Recording recording{Disk(recorded()), {}};
    recording.disk.set({.names_in_order = keeps_names_in_order_});
    const auto act = operation_(folder());
    const Simulation simulation;
    prepare(simulation);
    if (simulated) simulated(simulation);
    act();
    recording.effects = simulation.effects();
    return recording;
  }
  /// The calls of the last run.
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }

 private:
  void prepare(const Simulation& simulation) const {
    if (shares_blocks_) simulation.share_blocks();
    if (keeps_names_in_order_) simulation.keep_names_in_order();
  }

  TempDir folder_;
  Operation operation_;
  bool shares_blocks_ = false, keeps_names_in_order_ = false, records_around_ = false;
  std::vector<Call> calls_;
};

inline std::string text(const Fault& fault, const Call& call) {
  const char* kinds[] = {"none", "once", "from then on", "killed"};
  return call.name + ", call " + std::to_string(fault.at) + ", " + kinds[static_cast<int>(fault.kind)] + ", errno " +
         std::to_string(fault.code) + (fault.partial ? ", half written" : "");
}

/// Calls visit(fault, call) for each way in which a call of `calls` can be the last of a killed process.
inline void for_each_kill(const std::vector<Call>& calls, const std::function<void(const Fault&, const Call&)>& visit) {
  int faults = 0;
  for (std::size_t at = 0; at < calls.size() && !testing::Test::HasFailure(); ++at) {
    if (!calls[at].changes) continue;  // the disk is the same after it as before it
    for (const bool partial : {false, true}) {
      if (partial && calls[at].name != "pwrite_all") continue;
      const Fault fault{.kind = Fault::Kind::killed, .at = at, .partial = partial};
      SCOPED_TRACE(text(fault, calls[at]));
      visit(fault, calls[at]);
      ++faults;
    }
  }
  testing::Test::RecordProperty("faults", faults);
}

/// Calls visit(fault, call) for each way in which a call of `calls` can fail. Failures of unlinkat() are left out,
/// since files that cannot be removed remain.
inline void for_each_failure(const std::vector<Call>& calls, Fault::Kind kind,
                             const std::function<void(const Fault&, const Call&)>& visit) {
  int faults = 0;
  for (std::size_t at = 0; at < calls.size() && !testing::Test::HasFailure(); ++at) {
    if (calls[at].name == "unlinkat") continue;
    for (const int code : {EIO, ENOSPC}) {
      if (code == ENOSPC && !calls[at].changes) continue;
      const Fault fault{.kind = kind, .at = at, .code = code, .partial = code == ENOSPC};
      SCOPED_TRACE(text(fault, calls[at]));
      visit(fault, calls[at]);
      ++faults;
    }
  }
  testing::Test::RecordProperty("faults", faults);
}

/// A writer whose bytes were not written, or may not survive a power failure, reports that.
inline void expect_bytes_are_not_lost_silently(const Call& failed, bool is_reported) {
  if (failed.name == "pwrite_all" || failed.name == "pwrite_once" || failed.name == "fsync" ||
      failed.name == "fdatasync") {
    EXPECT_TRUE(is_reported);
  }
}

}  // namespace faults
