// Values as people type and read them: shapes, JSON, names, and sizes (base/size.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/size.hpp"
#include "sherd/box.hpp"
#include "sherd/dtype.hpp"
#include "sherd/json.hpp"
#include "sherd/result.hpp"

namespace sherd::cli {

/// "512,512"; "" and "()" mean rank 0.
[[nodiscard]] Result<Shape> parse_shape(std::string_view text);
/// "z,y,x"; an empty name means no name.
[[nodiscard]] std::vector<std::optional<std::string>> parse_names(std::string_view text);
/// The names in a comma-separated list, parsed as by netcdf-c: empty names are skipped.
[[nodiscard]] Result<std::vector<std::string>> names_in(std::string_view list, char separator, std::string_view option);
/// "8,8,40": positive numbers; at least one, or exactly `count`.
[[nodiscard]] Result<std::vector<double>> parse_positive(const std::string& text, std::size_t count = 0);
/// "0,-10,200": three integers.
[[nodiscard]] Result<std::array<std::int64_t, 3>> parse_voxel(const std::string& text);
/// A name such as "uint16", or JSON as in metadata for types with a configuration.
[[nodiscard]] Result<DType> parse_dtype_argument(const std::string& text);
/// The element type of a file, with the byte order if the text has one: ">u2".
struct FileType {
  DType dtype;
  std::optional<bool> big_endian;
};
[[nodiscard]] Result<FileType> parse_file_dtype(const std::string& text);
/// invalid_argument if elements of a file are not those of an array. Types that NumPy lacks are raw bytes in files.
[[nodiscard]] Result<void> check_file_dtype(const DType& in_file, const DType& of_array);
/// A shape without its dimensions of length 1, to compare shapes.
[[nodiscard]] Shape without_ones(Shape shape);
/// JSON, or @FILE for a file that contains it.
[[nodiscard]] Result<Json> parse_json_argument(const std::string& text);
/// JSON; any other text becomes a string, so that NaN and 0x7fc00000 need no nested quotes.
[[nodiscard]] Json parse_value_argument(const std::string& text);
/// Codecs as create_array() accepts them: short forms remain strings, `{…}` is one codec, `[…]` is several.
[[nodiscard]] Result<std::vector<Json>> parse_codecs(const std::vector<std::string>& texts);

/// "1 shard", "8 shards".
[[nodiscard]] std::string print_count(std::uint64_t count, std::string_view thing);
/// Replaces each byte that is not valid UTF-8 with \xff and the like. Arguments and file names may contain any bytes,
/// but messages and JSON output are UTF-8.
[[nodiscard]] std::string escape_invalid_utf8(std::string_view text, std::string_view backslash = "\\");
/// JSON that is always valid UTF-8: other bytes in strings become the characters \xff and the like.
[[nodiscard]] std::string json_text(const Json& json, int indent = 0);
/// Makes text safe for a terminal: control characters, and bytes that are not UTF-8, become \x1b and the
/// like.
[[nodiscard]] std::string printable(std::string_view text);
/// At most `width` bytes of the text, cut between characters, with … at the end if it was longer.
[[nodiscard]] std::string shortened(std::string text, std::size_t width);
[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view between = " ");
/// The last component of a path or URL.
[[nodiscard]] std::string last_component(std::string_view url);

/// Prints rows as aligned columns; the last cell of a row may be wider than its column.
[[nodiscard]] std::string print_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace sherd::cli
