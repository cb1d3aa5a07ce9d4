// Recognizes netCDF files, and checks whether a classic one is as long as its header says. Formats CDF-1, CDF-2 and
// CDF-5: appendix B of the NetCDF User's Guide.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/try.hpp"
#include "io/netcdf_file.hpp"

namespace sherd {

namespace {

constexpr std::string_view kHdf5 = "\x89HDF\r\n\x1a\n";
constexpr std::uint64_t kLastSuperblock = std::uint64_t{1} << 26U;  ///< where HDF5's signature is searched for
constexpr std::uint64_t kDimensionTag = 10, kVariableTag = 11, kAttributeTag = 12;

bool is_classic(std::span<const std::byte> start) {
  const auto version = static_cast<unsigned>(start[3]);
  return std::memcmp(start.data(), "CDF", 3) == 0 && (version == 1 || version == 2 || version == 5);
}

/// The size of an element of an external type; 0 for unknown types.
std::uint64_t size_of_type(std::uint64_t type) {
  constexpr std::array<std::uint8_t, 12> sizes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return type < sizes.size() ? sizes[type] : 0;
}

std::uint64_t padded(std::uint64_t bytes) { return bytes + (4 - bytes % 4) % 4; }

class ClassicHeader {
 public:
  explicit ClassicHeader(FileBytes& file) : file_(file) {}

  Result<ClassicFile> check() {
    SHERD_TRY(start, word(4));
    const std::uint64_t version = start & 0xFFU;
    wide_ = version == 5 ? 8 : 4;
    offset_bytes_ = version == 1 ? 4 : 8;
    SHERD_TRY(records, word(wide_));
    SHERD_TRY(dimensions());
    SHERD_TRY(attributes());
    SHERD_TRY(variables());
    SHERD_TRY(size, record_size());
    // Programs that write to a pipe cannot go back to store the number of records.
    const bool streaming = records == ~std::uint64_t{0} >> (64 - 8 * wide_);
    const std::uint64_t count = streaming ? whole_records(size) : records;
    SHERD_TRY(check_length(size, count));
    for (ClassicVariable& each : variables_) each.stride = each.record ? size : 0;
    return ClassicFile{.records = streaming ? std::optional(count) : std::nullopt,
                       .header_bytes = position_,
                       .variables = std::move(variables_)};
  }

 private:
  /// A number of 4 or 8 bytes, big-endian.
  Result<std::uint64_t> word(std::size_t size) {
    SHERD_TRY(fill(size));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8U | static_cast<std::uint64_t>(window_[position_ - window_begin_ + i]);
    position_ += size;
    return value;
  }

  /// Makes the next few bytes available.
  Result<void> fill(std::size_t size) {
    if (position_ >= window_begin_ && position_ + size <= window_begin_ + window_.size()) return {};
    if (position_ + size > file_.size_bound()) return corrupt("truncated: the file ends inside its header");
    constexpr std::uint64_t kWindow = std::uint64_t{1} << 16U;
    window_.resize(std::min(kWindow, file_.size_bound() - position_));
    window_begin_ = position_;
    return file_.read_at(position_, window_);
  }

  Result<void> skip(std::uint64_t bytes) {
    if (bytes > file_.size_bound() || position_ > file_.size_bound() - bytes)
      return corrupt("truncated: the file ends inside its header");
    position_ += bytes;
    return {};
  }

  Result<void> name() {
    SHERD_TRY(length, word(wide_));
    if (length > file_.size_bound()) return corrupt("a name is longer than the file");
    return skip(padded(length));
  }

  /// The number of entries in a list; each needs bytes of the file.
  Result<std::uint64_t> list(std::uint64_t tag) {
    SHERD_TRY(found, word(4));
    SHERD_TRY(count, word(wide_));
    if (found != tag && (found != 0 || count != 0))
      return corrupt("the header has the tag " + std::to_string(found) + " where " + std::to_string(tag) + " belongs");
    return count;
  }

  Result<void> dimensions() {
    SHERD_TRY(count, list(kDimensionTag));
    for (std::uint64_t i = 0; i < count; ++i) {
      SHERD_TRY(name());
      SHERD_TRY(length, word(wide_));
      lengths_.push_back(length);
    }
    return {};
  }

  Result<void> attributes() {
    SHERD_TRY(count, list(kAttributeTag));
    for (std::uint64_t i = 0; i < count; ++i) {
      SHERD_TRY(name());
      SHERD_TRY(type, word(4));
      SHERD_TRY(values, word(wide_));
      const auto bytes = checked_mul(values, size_of_type(type));
      if (size_of_type(type) == 0) return corrupt("an attribute has the unknown type " + std::to_string(type));
      if (!bytes || *bytes > file_.size_bound()) return corrupt("an attribute is longer than the file");
      SHERD_TRY(skip(padded(*bytes)));
    }
    return {};
  }

  Result<void> variables() {
    SHERD_TRY(count, list(kVariableTag));
    for (std::uint64_t i = 0; i < count; ++i) {
      SHERD_TRY(name());
      SHERD_TRY(shape, variable_shape());
      SHERD_TRY(attributes());
      SHERD_TRY(type, word(4));
      SHERD_TRY(word(wide_));  // the size, which is wrong for large variables
      SHERD_TRY(begin, word(offset_bytes_));
      ClassicVariable variable{.begin = begin, .bytes = size_of_type(type), .record = shape.second};
      if (variable.bytes == 0) return corrupt("a variable has the unknown type " + std::to_string(type));
      for (const std::uint64_t length : shape.first) {
        const auto bytes = checked_mul(variable.bytes, length);
        if (!bytes || *bytes > std::uint64_t{1} << 62U) return corrupt("a variable is larger than any file");
        variable.bytes = *bytes;
      }
      variables_.push_back(variable);
    }
    return {};
  }

  /// The lengths except that of records, and whether there are records.
  Result<std::pair<std::vector<std::uint64_t>, bool>> variable_shape() {
    SHERD_TRY(rank, word(wide_));
    std::pair<std::vector<std::uint64_t>, bool> shape;
    for (std::uint64_t d = 0; d < rank; ++d) {
      SHERD_TRY(id, word(wide_));
      if (id >= lengths_.size()) return corrupt("a variable has a dimension that does not exist");
      if (lengths_[id] == 0 && d == 0)
        shape.second = true;
      else
        shape.first.push_back(lengths_[id]);
    }
    return shape;
  }

  [[nodiscard]] Result<std::uint64_t> record_size() const {
    std::uint64_t record = 0, count = 0, single = 0;
    for (const ClassicVariable& each : variables_) {
      if (!each.record) continue;
      const auto sum = checked_add(record, padded(each.bytes));
      if (!sum) return corrupt("a record is larger than any file");
      record = *sum;
      single = each.bytes;
      ++count;
    }
    return count == 1 ? single : record;  // a single record variable is not padded
  }

  /// The number of records that the file contains whole.
  [[nodiscard]] std::uint64_t whole_records(std::uint64_t record) const {
    std::uint64_t most = record == 0 ? 0 : file_.size_bound() / record;
    for (const ClassicVariable& each : variables_) {
      if (!each.record || each.bytes == 0) continue;
      const std::uint64_t after = file_.size_bound() - std::min(each.begin, file_.size_bound());
      most = std::min(most, after < each.bytes ? 0 : (after - each.bytes) / record + 1);
    }
    return most;
  }

  [[nodiscard]] Result<void> check_length(std::uint64_t record, std::uint64_t records) const {
    for (const ClassicVariable& each : variables_) {
      if (each.bytes == 0 || (each.record && records == 0)) continue;
      const auto before = checked_mul(record, each.record ? records - 1 : 0);
      const auto end = before ? checked_add(*before, each.bytes) : std::nullopt;
      const auto last = end ? checked_add(*end, each.begin) : std::nullopt;
      if (!last || *last > file_.size_bound())
        return corrupt("truncated: the file has " + std::to_string(file_.size_bound()) +
                       " bytes, but its header requires " + (last ? std::to_string(*last) : "2^64 or more"));
    }
    return {};
  }

  FileBytes& file_;
  std::vector<std::byte> window_ = {};
  std::uint64_t window_begin_ = 0, position_ = 0;
  std::size_t wide_ = 4, offset_bytes_ = 4;
  std::vector<std::uint64_t> lengths_ = {};
  std::vector<ClassicVariable> variables_ = {};
};

}  // namespace

bool is_netcdf_file(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return false;
  const auto is_netcdf = is_netcdf_file(**file);
  return is_netcdf.has_value() && is_netcdf.value();
}

Result<bool> is_netcdf_file(FileBytes& file) {
  std::array<std::byte, 8> start{};
  if (file.size_bound() < start.size()) return false;
  SHERD_TRY(file.read_at(0, start));
  if (is_classic(start)) return true;
  // HDF5 allows a user block at the front, whose size is a power of two.
  for (std::uint64_t at = 0; at <= kLastSuperblock; at = std::max<std::uint64_t>(512, 2 * at)) {
    if (at + start.size() > file.size_bound()) return false;
    SHERD_TRY(file.read_at(at, start));
    if (std::memcmp(start.data(), kHdf5.data(), kHdf5.size()) == 0) return true;
  }
  return false;
}

Result<std::optional<ClassicFile>> check_classic_file(FileBytes& file) {
  std::array<std::byte, 4> start{};
  SHERD_TRY(file.read_at(0, start));
  if (!is_classic(start)) return std::optional<ClassicFile>();
  SHERD_TRY(classic, ClassicHeader(file).check());
  return std::optional(std::move(classic));
}

Result<std::string> netcdf_kind(std::string_view word) {
  constexpr std::pair<std::string_view, std::string_view> kinds[] = {
      {"classic", "classic"},
      {"nc3", "classic"},
      {"1", "classic"},
      {"64-bit offset", "64-bit offset"},
      {"64-bit-offset", "64-bit offset"},
      {"nc6", "64-bit offset"},
      {"2", "64-bit offset"},
      {"6", "64-bit offset"},
      {"cdf5", "cdf5"},
      {"nc5", "cdf5"},
      {"64-bit data", "cdf5"},
      {"64-bit-data", "cdf5"},
      {"5", "cdf5"},
      {"netCDF-4", "netCDF-4"},
      {"nc4", "netCDF-4"},
      {"hdf5", "netCDF-4"},
      {"3", "netCDF-4"},
      {"netCDF-4 classic model", "netCDF-4 classic model"},
      {"netCDF-4-classic", "netCDF-4 classic model"},
      {"nc7", "netCDF-4 classic model"},
      {"enhanced-nc3", "netCDF-4 classic model"},
      {"4", "netCDF-4 classic model"},
      {"7", "netCDF-4 classic model"},
  };
  for (const auto& [name, kind] : kinds)
    if (name == word) return std::string(kind);
  return invalid_argument("'" + std::string(word) + "' is not a kind of netCDF file; choose classic (nc3), " +
                          "64-bit-offset (nc6), cdf5 (nc5), netCDF-4 (nc4), netCDF-4-classic (nc7)");
}

}  // namespace sherd
