// What the parser of CDL makes of a text: definitions with their positions, and data as runs of elements.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "netcdf/cdl_lexer.hpp"
#include "sherd/netcdf_cdl.hpp"

namespace sherd::netcdf {

struct CdlDimension {
  std::string name, group;
  std::uint64_t length = 0;  ///< of an unlimited one: what the data need
  bool unlimited = false;
  CdlPosition position = {};
};

/// Elements that follow one another: along the dimensions from `inner` on they are in C order, `offset` elements after
/// the first one; along those before, all are at one index.
struct CdlRun {
  std::size_t outer = 0;  ///< where in `indices` that index begins
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
  std::vector<Json> all_codecs = {};                                ///< of `_Codecs`; empty: not given
  std::map<std::string, std::size_t, std::less<>> attributes = {};  ///< where in the definition, by name
  CdlData data = {};
  bool has_data = false;
  std::uint64_t nulls = 0;  ///< how many of the data are NIL

  [[nodiscard]] Shape shape() const;
  [[nodiscard]] std::string full_name() const;
  /// The value of elements that are written as `_` or not given.
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

/// The values of an attribute as they are written: all texts or all numbers.
struct CdlAttributeValues {
  CdlPosition position = {};
  std::vector<CdlNumber> numbers = {};
  std::vector<std::string> texts = {};
  bool has_nulls = false;  ///< NIL, an empty text
};

/// Reads the list up to what ends it.
Result<CdlAttributeValues> read_attribute_values(CdlTokens& tokens);
/// The values of a type, or of the type that they have together. The error is without a place.
Result<Values> typed_attribute(const CdlAttributeValues& values, std::optional<Type> type);
/// Sets an attribute of a variable: a special one decides how it is stored, others are added or replaced.
Result<void> set_variable_attribute(CdlVariable& variable, const std::string& name, std::optional<Type> type,
                                    const CdlAttributeValues& values);
/// The same of a group.
Result<void> set_group_attribute(CdlGroup& group, const std::string& name, std::optional<Type> type,
                                 const CdlAttributeValues& values);

/// Reads the data of a variable up to the semicolon. Unlimited dimensions become as long as the data need.
Result<void> read_cdl_data(CdlTokens& tokens, CdlVariable& variable);

/// After all is read: strings get their lengths, and what cannot be written is refused.
Result<void> finish_cdl(Cdl::State& state, LongTexts long_texts);

/// Refuses what goes beyond a data model.
Result<void> check_data_model(const CdlGroup& root, DataModel model);

}  // namespace sherd::netcdf
