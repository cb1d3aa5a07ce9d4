// What a dataset is written into by its definitions: NCZarr, or a netCDF file.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sherd/netcdf_writer.hpp"

namespace sherd::netcdf {

/// A new dataset. All definitions come before the first element; groups are named by their paths.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  [[nodiscard]] virtual Result<void> define_group(const std::string& path, std::vector<Attribute> attributes) = 0;
  [[nodiscard]] virtual Result<void> define_dimension(const Dimension& dimension) = 0;
  /// `filters` are those of files that NewVariable has no members for.
  [[nodiscard]] virtual Result<void> define_variable(const std::string& group, NewVariable variable,
                                                     std::vector<Filter> filters) = 0;
  /// Called once, between the definitions and the first element.
  [[nodiscard]] virtual Result<void> end_definitions() = 0;
  /// The elements of a box in C order. Several threads may write.
  [[nodiscard]] virtual Result<void> write(const std::string& variable, const Box& box,
                                           std::span<const std::byte> elements) = 0;
  [[nodiscard]] virtual Result<void> write_strings(const std::string& variable, const Box& box,
                                                   std::vector<std::string> texts) = 0;
  /// Makes the dataset whole, and visible.
  [[nodiscard]] virtual Result<void> finish() = 0;
};

/// The dataset of a writer. sync() is what finishes it.
[[nodiscard]] std::unique_ptr<Sink> sink_of(Writer writer);

}  // namespace sherd::netcdf
