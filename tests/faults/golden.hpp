// Updates of one shard, by every strategy and in every format. They are cut off, fail or run out of memory in the tests
// of this folder.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "sherd/sherd.hpp"
#include "sherd/tools.hpp"

namespace golden {

/// The index of so many chunks is longer than a sector.
constexpr std::size_t kChunks = 64;

/// What is in a chunk: one of a few values, each with elements of its own; even values compress badly.
/// `beyond` is the end of the array.
enum Value : int { missing = 0, most = 9, mixed = -1, unreadable = -2, beyond = -3 };
using Seen = std::array<int, kChunks>;

struct Change {
  std::string name;
  std::map<std::size_t, int> puts;        ///< by chunk; `missing` removes it. Without any, the shard is compacted,
                                          ///< or the array only has another length
  std::set<std::size_t> overwrites = {};  ///< chunks of which a part may be written
  std::size_t length = kChunks;           ///< of the array afterwards, in chunks

  [[nodiscard]] bool compacts() const { return puts.empty() && length == kChunks; }
};

enum class Kind : std::uint8_t { index_at_end, index_at_start, draft2022, ids };

struct Case {
  std::string name;
  Kind kind;
  sherd::Update update;
  bool is_raw = false;         ///< chunks are not compressed
  bool shares_blocks = false;  ///< the file system can clone files
  sherd::Slack slack = {};     ///< of the first version
  double max_unused = 1000;    ///< most tests are about how an update is made, not whether
  std::vector<Change> changes;

  /// Readers find all of a change or nothing of it, unless it overwrites chunks.
  [[nodiscard]] bool is_atomic() const { return kind != Kind::ids || update == sherd::Update::rewrite; }
  /// A part of the index may be written, in whose place Sherd reads a copy.
  [[nodiscard]] bool overwrites_index() const {
    return kind == Kind::index_at_start && update != sherd::Update::rewrite;
  }
};

[[nodiscard]] const std::vector<Case>& cases();
[[nodiscard]] const Case& find(const std::string& name);

/// Makes the array or the store of values, without chunks.
void create(const Case& of, const std::string& folder);
/// Opens it; the result makes the change, by an append if that is what makes the array longer. Failures are thrown as
/// sherd::Exception.
std::function<void()> begin(const Case& of, const Change& change, const std::string& folder);
/// What a new reader finds. An error other than one of a chunk is thrown.
Seen see(const Case& of, const std::string& folder);
Seen after(const Change& change, Seen seen);
/// What may be there for a moment if the length changes, too: without the chunks that are cut off or not yet appended.
Seen amid(const Change& change, Seen seen);
sherd::CheckReport check(const Case& of, const std::string& folder, bool repairs = false);

inline void PrintTo(const Case& of, std::ostream* to) { *to << of.name; }

}  // namespace golden
