// How a write recognizes itself on the server if its reply was lost. Each write stores its id in the metadata of the
// object, before those of the writes that the new version follows. A request that is made again, and is refused because
// the object has changed, finds its id there if the earlier one was carried out, even if others have followed it.
// An upload in parts states its metadata when it begins, which may be before it is known which version it will follow.
// So it has no earlier ids, and recognizes itself in another way: it is gone if it was carried out, or if another
// program has aborted it. An object from before it shows the latter.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "remote/http.hpp"
#include "sherd/store.hpp"

namespace sherd::remote {

/// Thread-safe.
class WriteMarks {
 public:
  /// Remembers the ids of a version, if it has any.
  void saw(const std::string& key, const Headers& headers);
  struct Mark {
    std::string id;
    Header header;       ///< with the ids of earlier writes, if the version `of` was seen
    Generation of = {};  ///< the version that is to be replaced; empty if it may be any
    std::optional<std::chrono::sys_seconds> begun = {};  ///< when an upload began, by the clock of the server
  };
  /// The mark of a write that makes the version after `of`.
  [[nodiscard]] Mark next(const std::string& key, const Generation& of);
  /// The mark of an upload in parts.
  [[nodiscard]] static Mark of_upload();
  /// Whether an object with these headers is the version that the write has made, or a later one; unknown if an upload
  /// is among the writes since then.
  enum class Found : std::uint8_t { nothing, version, later_version, unknown };
  [[nodiscard]] static Found find(const Headers& headers, const Mark& mark);

 private:
  struct Seen {
    std::string key, etag, ids;
  };
  std::mutex mutex_;
  std::list<Seen> seen_;  ///< the most recent one first
  std::unordered_map<std::string, std::list<Seen>::iterator> by_key_;
};

}  // namespace sherd::remote
