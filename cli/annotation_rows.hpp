// Annotations from lines of CSV or JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input_lines.hpp"
#include "sherd/annotation_build.hpp"

namespace sherd::cli {

/// Parses rows, one batch of lines at a time. Every error names the line.
class AnnotationRows {
 public:
  AnnotationRows(const neuroglancer::AnnotationInfo& info, bool json);

  Result<void> add(const InputLine& line);
  /// The rows added since the last call.
  struct Batch {
    neuroglancer::Annotations rows;
    std::vector<neuroglancer::RelatedIds> related;
  };
  Batch take();
  /// Columns or members that were ignored, in order of appearance.
  [[nodiscard]] const std::vector<std::string>& unused() const noexcept { return unused_; }

 private:
  /// What a column, or a member of a line, is used for.
  struct Field {
    enum class Use : std::uint8_t { none, id, coordinate, property, relationship } use = Use::none;
    std::size_t number = 0;
  };
  [[nodiscard]] Field field_of(std::string_view name) const;
  Result<void> read_header(const std::string& text);
  Result<void> add_csv(const std::string& text);
  Result<void> add_json(const std::string& text);
  Result<void> set_field(const Field& field, const std::string& text);
  Result<void> set_member(const std::string& name, const Json& value);
  Result<void> add_points(const Json& value);
  Result<void> set_property(std::size_t number, const Json& value);
  /// Checks that the row is complete, and appends it.
  Result<void> finish_row();
  void note_unused(const std::string& name);

  const neuroglancer::AnnotationInfo& info_;
  const bool json_;
  std::vector<std::string> coordinates_;  ///< names of columns
  std::vector<Field> columns_;            ///< CSV: empty before the header
  std::vector<std::string> unused_;
  std::uint64_t next_id_ = 0;
  Batch batch_;
  // The current row:
  std::optional<std::uint64_t> id_;
  std::vector<float> geometry_;
  std::vector<bool> given_;                         ///< coordinates
  std::vector<std::vector<std::byte>> properties_;  ///< empty: not given
  std::vector<std::vector<std::uint64_t>> related_;
};

}  // namespace sherd::cli
