// The result of parsing CDL: definitions with their positions, and data as runs of elements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "netcdf/cdl/lexer.hpp"
#include "sherd/netcdf_cdl.hpp"

namespace sherd::netcdf {

struct CdlDimension {
  std::string name, group;
  std::uint64_t length = 0;  ///< of an unlimited dimension: as required by the data
  bool unlimited = false;
  CdlPosition position = {};
};

/// Consecutive elements: in C order along the dimensions from `inner`, `offset` elements after the first one; along the
/// dimensions before `inner`, all at one index.
struct CdlRun {
  std::size_t outer = 0;  ///< the position of that index in `indices`
  std::uint64_t offset = 0;
  std::size_t begin = 0, count = 0;  ///< in `values`
};

struct CdlData {
  Values values = {};
  std::size_t inner = 0;
  std::vector<std::uint64_t> indices = {};
  std::vector<CdlRun> runs = {};
};

struct CdlVariable {
  NewVariable definition = {};
  std::string group = {};
  CdlPosition position = {};
  std::vector<CdlDimension*> dimensions = {};
  std::vector<Json> all_codecs = {};                                ///< from `_Codecs`; empty: not given
  std::map<std::string, std::size_t, std::less<>> attributes = {};  ///< positions in the definition, by name
  CdlData data = {};
  bool has_data = false;
  std::uint64_t nulls = 0;  ///< the number of NIL values in the data

  [[nodiscard]] Shape shape() const;
  [[nodiscard]] std::string full_name() const;
  /// The value of elements that are written as `_` or omitted.
  [[nodiscard]] Values fill() const;
};

struct CdlGroup {
  std::string path = "/";
  CdlPosition position = {};
  CdlGroup* parent = nullptr;
  std::vector<Attribute> attributes = {};
  std::map<std::string, std::size_t, std::less<>> attribute_names = {};
  std::map<std::string, std::unique_ptr<CdlDimension>, std::less<>> dimensions = {};
  std::vector<CdlDimension*> dimension_order = {};
  std::map<std::string, std::unique_ptr<CdlVariable>, std::less<>> variables = {};
  std::vector<CdlVariable*> variable_order = {};
  std::map<std::string, std::unique_ptr<CdlGroup>, std::less<>> groups = {};
  std::vector<CdlGroup*> group_order = {};
};

struct Cdl::State {
  std::string name = {};
  CdlGroup root = {};
  bool header_only = false;
  std::size_t text_size = 0;
  std::vector<std::string> warnings = {};
};

/// The values of an attribute as written: only texts or only numbers.
struct CdlAttributeValues {
  CdlPosition position = {};
  std::vector<CdlNumber> numbers = {};
  std::vector<std::string> texts = {};
  bool has_nulls = false;  ///< NIL, an empty text
};

/// Reads the list up to its end. `type` is the declared one.
Result<CdlAttributeValues> read_attribute_values(CdlTokens& tokens, std::optional<Type> type);
/// Converts the values to a type, or to their common type. The error has no position.
Result<Values> typed_attribute(const CdlAttributeValues& values, std::optional<Type> type);
/// Sets an attribute of a variable: a special one determines how it is stored, others are added or replaced.
Result<void> set_variable_attribute(CdlVariable& variable, const std::string& name, std::optional<Type> type,
                                    const CdlAttributeValues& values);
/// Sets an attribute of a group, as set_variable_attribute() does.
Result<void> set_group_attribute(CdlGroup& group, const std::string& name, std::optional<Type> type,
                                 const CdlAttributeValues& values);

/// Reads the data of a variable up to the semicolon. Unlimited dimensions grow as the data require.
Result<void> read_cdl_data(CdlTokens& tokens, CdlVariable& variable);

/// After everything is read: strings get their lengths, and data that cannot be written are refused.
Result<void> finish_cdl(Cdl::State& state, LongTexts long_texts);

/// Refuses anything beyond a data model.
Result<void> check_data_model(const CdlGroup& root, DataModel model);

}  // namespace sherd::netcdf
