// The destination of a dataset that is written by definitions: NCZarr, or a netCDF file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

/// A new dataset. All definitions precede the first element; groups are named by their paths.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  [[nodiscard]] virtual Result<void> define_group(const std::string& path, std::vector<Attribute> attributes) = 0;
  [[nodiscard]] virtual Result<void> define_dimension(const Dimension& dimension) = 0;
  /// `filters` are the filters of files for which NewVariable has no members.
  [[nodiscard]] virtual Result<void> define_variable(const std::string& group, NewVariable variable,
                                                     std::vector<Filter> filters) = 0;
  /// Called once, between the definitions and the first element.
  [[nodiscard]] virtual Result<void> end_definitions() = 0;
  /// Writes the elements of a box in C order. Several threads may write.
  [[nodiscard]] virtual Result<void> write(const std::string& variable, const Box& box,
                                           std::span<const std::byte> elements) = 0;
  [[nodiscard]] virtual Result<void> write_strings(const std::string& variable, const Box& box,
                                                   std::vector<std::string> texts) = 0;
  /// One sentence for each definition that the dataset has in another form or not at all.
  [[nodiscard]] virtual std::vector<std::string> losses() const { return {}; }
  /// Completes the dataset and makes it visible.
  [[nodiscard]] virtual Result<void> finish() = 0;
};

/// The dataset of a writer. finish() calls sync().
[[nodiscard]] std::unique_ptr<Sink> sink_of(Writer writer);

}  // namespace sherd::netcdf
