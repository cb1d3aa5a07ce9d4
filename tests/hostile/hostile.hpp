// Hostile inputs as rows of a table: how a store is made and damaged, what is done with it, and the expected outcome.
// Every row runs in a process of its own, so that its memory is measured separately and a hang ends only that row.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/sherd.hpp"
#include "tests/store/temp_dir.hpp"

namespace sherd::hostile {

/// A good array of 4 x 8 uint16 at `a`, in one object of four inner chunks, and ways to spoil it.
class World {
 public:
  explicit World(bool files);

  [[nodiscard]] bool files() const noexcept { return files_; }
  [[nodiscard]] const std::shared_ptr<Store>& store() const noexcept { return store_; }
  /// Of the file store.
  [[nodiscard]] std::filesystem::path root() const { return std::filesystem::path(directory_.path()) / "root"; }
  /// Next to the root: a directory that nothing may touch. It contains a good array.
  [[nodiscard]] std::filesystem::path outside() const { return std::filesystem::path(directory_.path()) / "outside"; }
  [[nodiscard]] std::filesystem::path object_path() const { return root() / kObject; }
  /// Names, sizes and times of everything around the root, or below it.
  [[nodiscard]] std::vector<std::string> outside_state() const;
  [[nodiscard]] std::vector<std::string> inside_state() const;

  /// Replaces a/zarr.json.
  void document(std::string_view text);
  /// Makes the good array with these codecs.
  void array(const std::string& codecs);
  void array_of(const std::string& document);
  [[nodiscard]] std::string object() const;
  void object(std::string_view bytes);
  /// The object with its index (at the end, four entries, with its checksum) changed.
  void index(const std::function<void(std::span<std::uint64_t>)>& change);
  /// The file of the object as if it had this size, without taking space.
  void sparse(std::uint64_t size);

  static constexpr const char* kObject = "a/c/0/0";

 private:
  TempDir directory_;
  bool files_;
  std::shared_ptr<Store> store_;
};

/// The metadata of the good array, with some members replaced by those of `changes`.
std::string document_with(std::string_view changes);
/// The codecs of the good array: shards of four raw inner chunks, the index at the end with a checksum.
std::string sharded(const std::string& inner = "", const std::string& location = "end");
/// One chunk, encoded by "bytes" and these.
std::string chunked(const std::string& codecs);

/// The text of an object with this many members.
std::string many_keys(std::size_t count);

/// Element (y, x) of the good array.
constexpr std::uint16_t good(std::uint64_t y, std::uint64_t x) { return static_cast<std::uint16_t>(100 + 8 * y + x); }
using Value = std::uint16_t (*)(std::uint64_t y, std::uint64_t x);

enum class Act : std::uint8_t {
  open,  ///< the array at `a`
  read_all,
  read_one,   ///< element (0, 0)
  write_one,  ///< element (0, 0), as it was; then all is read
  write_all,  ///< as they were; then all is read
  list,       ///< the members of the root, and theirs
};

/// Of one row.
struct Expected {
  std::optional<ErrorCode> code;  ///< absent: it succeeds
  std::string says = {};          ///< is in the error's text: key, member, reason
  std::optional<std::uint64_t> slot = {};
  Value value = good;  ///< what is read where it succeeds
};
inline Expected refused(ErrorCode code, std::string says, std::optional<std::uint64_t> slot = {}) {
  return {code, std::move(says), slot};
}
inline Expected reads(Value value = good) { return {.code = {}, .value = value}; }

enum class Where : std::uint8_t { both, files, memory };

struct Case {
  int number;  ///< in docs/limits.md
  std::string name;
  std::function<void(World&)> make;
  Act act;
  Expected expected;
  Where where = Where::both;
  Config config = {};
  std::string path = "a";
  std::uint64_t megabytes = 0;  ///< maximum growth beyond the 64 MiB that every row may use
};
void PrintTo(const Case& row, std::ostream* out);
std::string name_of(const testing::TestParamInfo<Case>& info);

class Hostile : public testing::TestWithParam<Case> {};

/// A row for a store of any format: in files, prepared and acted on by functions of its own.
struct StoredCase {
  int number;  ///< in docs/limits.md
  std::string name;
  /// Makes and spoils what is in a store of files, below a directory.
  std::function<void(Store&, const std::string&)> make;
  std::function<Result<void>(const std::shared_ptr<Store>&)> act;
  std::optional<ErrorCode> code = {};  ///< absent: it succeeds
  std::string says = {};
  std::uint64_t megabytes = 0;  ///< maximum growth beyond the 64 MiB that every row may use
};
void PrintTo(const StoredCase& row, std::ostream* out);
std::string stored_name(const testing::TestParamInfo<StoredCase>& info);

class HostileStore : public testing::TestWithParam<StoredCase> {};

/// Runs `body` in a process of its own, which is ended after a minute. Returns the result of `body` (empty: success),
/// what killed the process, or by how much its memory exceeded the permitted megabytes.
std::string run_apart(std::uint64_t megabytes, const std::function<std::string()>& body);

constexpr auto corrupt_code = ErrorCode::corrupt;
constexpr auto unsupported_code = ErrorCode::unsupported;

}  // namespace sherd::hostile
