// CDL, the text form of netCDF datasets, read: what ncgen does. dump() in netcdf.hpp prints it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sherd/netcdf_writer.hpp"
#include "sherd/options.hpp"

namespace sherd::netcdf {

/// The data models of netCDF. The smaller ones are for programs that read only those.
enum class DataModel : std::uint8_t {
  enhanced,    ///< of netCDF-4: groups, strings, all integers, any number of unlimited dimensions
  classic,     ///< no groups, no strings, byte, char, short, int, float and double; one unlimited dimension, the first
  classic_64,  ///< of CDF-5: classic with all integers
};

/// What is done with texts of strings that are longer than `_nczarr_maxstrlen` says.
enum class LongTexts : std::uint8_t {
  refused,         ///< invalid_argument
  cut_characters,  ///< cut between characters, with a warning
  cut_bytes,       ///< cut at that byte: literally what netcdf-c's documentation says (compat=seed)
};

struct CdlOptions {
  DataModel model = DataModel::enhanced;  ///< what goes beyond it is invalid_argument
  bool header_only = false;               ///< the data section is read and left out
  bool no_fill = false;                   ///< for all variables, elements that are never written are undefined
  LongTexts long_texts = LongTexts::refused;
  Limits limits = {};
};

/// A dataset that is described in CDL, checked and held in memory: a small multiple of the text.
class SHERD_API Cdl {
 public:
  /// An internal representation; see src/netcdf.
  struct State;
  explicit Cdl(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Reads the text with the whole grammar of ncgen 4.9.0. A text that breaks it is `corrupt`; what the grammar has and
  /// NCZarr has not, such as user-defined types, is `unsupported`. All errors name line and column.
  static Result<Cdl> parse(std::string_view text, const CdlOptions& options = {});

  /// Of the dataset, in the first line.
  [[nodiscard]] const std::string& name() const noexcept;
  /// One sentence for each part that is written in another way than described.
  [[nodiscard]] const std::vector<std::string>& warnings() const noexcept;
  /// Whether a new dataset with these options can hold everything; their location is not used. The errors are those of
  /// write(), before anything is written.
  [[nodiscard]] Result<void> check(const NewDataset& options) const;
  /// Defines and writes everything in a new dataset that is empty. A failure leaves what is written up to there:
  /// Writer::discard() removes it.
  Result<void> write(Writer& writer) const;

 private:
  Result<void> define(Writer& writer) const;
  /// not_found if the text has no variable or dimension of a name.
  [[nodiscard]] Result<void> check_names(const ShardLengths& shards) const;

  std::shared_ptr<const State> state_;
};

}  // namespace sherd::netcdf
