// Reading CDL, the text form of netCDF datasets, as ncgen does. dump() in netcdf.hpp prints it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/netcdf_writer.hpp"
#include "sherd/options.hpp"

namespace sherd::netcdf {

/// The data models of netCDF. Choose a smaller one for programs that read only that.
enum class DataModel : std::uint8_t {
  enhanced,    ///< of netCDF-4: groups, strings, all integers, any number of unlimited dimensions
  classic,     ///< no groups, no strings, byte, char, short, int, float and double; one unlimited dimension, the first
  classic_64,  ///< of CDF-5: classic with all integers
};

/// What is done with strings that are longer than `_nczarr_maxstrlen`.
enum class LongTexts : std::uint8_t {
  refused,         ///< invalid_argument
  cut_characters,  ///< cut between characters, with a warning
  cut_bytes,       ///< cut at that byte: literally what netcdf-c's documentation says (compat=seed)
};

struct CdlOptions {
  DataModel model = DataModel::enhanced;  ///< anything beyond it is invalid_argument
  bool header_only = false;               ///< the data section is parsed, but not written
  bool no_fill = false;                   ///< elements that are never written are undefined, for all variables
  LongTexts long_texts = LongTexts::refused;
  Limits limits = {};
};

/// A dataset described in CDL, checked and held in memory. This takes a small multiple of the text's size; the worst
/// case is 80 times, for data in braces of one value each, 32 dimensions deep.
class SHERD_API Cdl {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Cdl(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Parses the text with the full grammar of ncgen 4.9.0. A syntax error is `corrupt`; features of the grammar that
  /// NCZarr lacks, such as user-defined types, are `unsupported`. All errors give line and column.
  static Result<Cdl> parse(std::string_view text, const CdlOptions& options = {});

  /// The dataset's name, from the first line.
  [[nodiscard]] const std::string& name() const noexcept;
  /// One sentence for each part that is written differently than described.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;
  /// Checks that a new dataset with these options can hold everything; their location is not used. The errors are those
  /// of write(), before anything is written.
  [[nodiscard]] Result<void> check(const NewDataset& options) const;
  /// Defines and writes everything in a new, empty dataset. A failure keeps what has been written: Writer::discard()
  /// removes it.
  Result<void> write(Writer& writer) const;

 private:
  Result<void> define(Writer& writer) const;
  /// not_found if a name is not a variable or dimension of the text.
  [[nodiscard]] Result<void> check_names(const ShardLengths& shards) const;

  std::shared_ptr<const State> state_;
};

}  // namespace sherd::netcdf
