// System calls that fail on request, linked instead of src/os/calls.cpp (tests/CMakeLists.txt).
#pragma once

#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/faults/effects.hpp"

namespace sherd::os {

/// One call that the process made.
struct Call {
  std::string name;
  bool changes = false;   ///< it changes what is stored, or makes it durable
  std::string path = {};  ///< of what fsync() makes durable
};

/// What happens to one call.
struct Fault {
  enum class Kind : std::uint8_t {
    none,
    once,    ///< the call fails
    onward,  ///< the call fails, and so does each later call of the same name
    killed,  ///< the process ends at the call: no later call does anything
    named,   ///< every call of the name fails
  };
  Kind kind = Kind::none;
  std::size_t at = 0;     ///< the number of calls before it
  int code = EIO;         ///< why it fails
  std::string name = {};  ///< for `named`
  bool partial = false;  ///< half of the bytes are written first; 16 aligned bytes are written as a whole or not at all
};

/// What looks at files show instead of what is there: as if nothing were checked by them.
struct Shown {
  bool one_name = false;                          ///< every open file has one name
  std::map<std::string, struct stat> named = {};  ///< what names refer to, in the next look at each
  std::map<ino_t, std::string> begins = {};       ///< the first bytes of files
};

/// While it exists, calls are recorded and can fail. There is at most one at a time. Files are not synced to disk: what
/// a power failure may leave is computed from the effects of the calls (disk.hpp). Closing a file and locking always
/// succeed.
class Simulation {
 public:
  explicit Simulation(const Fault& fault = {});
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  [[nodiscard]] std::vector<Call> calls() const;
  /// What those that have succeeded have changed.
  [[nodiscard]] std::vector<Effect> effects() const;
  /// An action of another process right before the next call with this name.
  void before(std::string name, std::function<void()> act) const;
  /// From now on the file system can clone files.
  void share_blocks() const;
  /// From now on the file system is one whose journal has the changes of all names in their order, such as ext4.
  void keep_names_in_order() const;
  /// From now on looks show this.
  void show(Shown shown) const;
  /// An action of another process right before the call with this number.
  void before(std::size_t number, std::function<void()> act) const;
};

}  // namespace sherd::os
