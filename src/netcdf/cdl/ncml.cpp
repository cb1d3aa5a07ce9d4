// NcML, the XML form of a header, for the classic data model, as ncdump of netcdf-c 4.9.0 prints it.
#include <algorithm>
#include <cmath>

#include "netcdf/cdl/dump.hpp"
#include "netcdf/cdl/text.hpp"

namespace sherd::netcdf {

namespace {

constexpr std::string_view kSchema = "https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2";

std::string escaped(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string xml;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '<')
      xml += "&lt;";
    else if (c == '>')
      xml += "&gt;";
    else if (c == '&')
      xml += "&amp;";
    else if (c == '"')
      xml += "&quot;";
    else if (c == '\t' || c == '\n' || c == '\r')
      xml += std::string("&#x") + kHex[byte] + ";";
    else if (byte < 0x20 || byte == 0x7f)
      xml += "&#" + std::to_string(byte) + ";";
    else
      xml += c;
  }
  return xml;
}

std::string quoted(std::string_view name, std::string_view text) {
  return " " + std::string(name) + "=\"" + escaped(text) + "\"";
}

template <class T>
std::string number(T value, const Digits& digits) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    return cdl_attribute({{}, std::vector<double>{static_cast<double>(value)}},
                         {7, sizeof(T) == 4 ? digits.of_float : digits.of_double});
  } else {
    return std::to_string(value);
  }
}

std::string value_of(const Values& values, const Digits& digits) {
  return std::visit(
      [&](const auto& list) -> std::string {
        using List = std::remove_cvref_t<decltype(list)>;
        std::string text;
        if constexpr (std::is_same_v<List, std::string>) {
          text = list.substr(0, list.find_last_not_of('\0') + 1);
        } else if constexpr (!std::is_same_v<List, std::vector<std::string>>) {
          for (const auto each : list) text += (text.empty() ? "" : " ") + number(each, digits);
        }
        return text;
      },
      values);
}

std::string attribute(const Attribute& each, const Digits& digits) {
  const Type type = type_of(each.values);
  return "<attribute" + quoted("name", each.name) + (type == Type::character ? "" : quoted("type", to_string(type))) +
         quoted("value", value_of(each.values, digits)) + " />\n";
}

std::string variable_element(const Variable& variable, const Digits& digits) {
  std::string shape;
  for (const Dimension& each : variable.dimensions()) shape += (shape.empty() ? "" : " ") + each.name;
  std::string text = "  <variable" + quoted("name", variable.name()) + (shape.empty() ? "" : quoted("shape", shape)) +
                     quoted("type", to_string(variable.type()));
  const auto empty = [](const Dimension& each) { return each.length == 0; };
  if (variable.attributes().empty() && std::ranges::any_of(variable.dimensions(), empty)) return text + " />\n";
  text += ">\n";
  for (const Attribute& each : variable.attributes()) text += "    " + attribute(each, digits);
  return text + "  </variable>\n";
}

}  // namespace

Result<std::string> ncml(const Dataset& dataset, const DumpOptions& options, std::string_view location) {
  if (dataset.kind() == "netCDF-4")
    return unsupported("NcML can only describe the classic data model, but the dataset uses that of netCDF-4");
  const Digits digits{options.float_digits.value_or(7), options.double_digits.value_or(15)};
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<netcdf xmlns=\"" + std::string(kSchema) + "\"" +
                     quoted("location", location) + ">\n";
  for (const Dimension& each : dataset.root().dimensions())
    text += "  <dimension" + quoted("name", each.name) + quoted("length", std::to_string(each.length)) +
            (each.unlimited ? " isUnlimited=\"true\"" : "") + " />\n";
  for (const Attribute& each : dataset.root().attributes()) text += "  " + attribute(each, digits);
  for (const Variable& each : dataset.root().variables()) text += variable_element(each, digits);
  return text + "</netcdf>\n";
}

}  // namespace sherd::netcdf
