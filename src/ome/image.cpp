// Shared by all descriptions of an image: the order of dimensions, channels and labels.
#include "ome/image.hpp"

#include <cmath>
#include <utility>

#include "codec/number.hpp"

namespace sherd {
namespace {

template <class T>
std::vector<T> in_order(const std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> result;
  for (const std::size_t d : order) result.push_back(values[d]);
  return result;
}

std::string colour_text(std::uint32_t colour) {
  std::string text(6, '0');
  for (std::size_t i = 0; i < 6; ++i) text[i] = "0123456789ABCDEF"[colour >> (20 - 4 * i) & 0xf];
  return text;
}

bool is_colour(const Json* text) {
  return text != nullptr && text->is_string() && text->text().size() >= 6 &&
         text->text().find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

}  // namespace

Image permuted(Image image, const std::vector<std::size_t>& order) {
  image.axes = in_order(image.axes, order);
  image.units = in_order(image.units, order);
  for (ImageLevel& level : image.levels) {
    level.spacing = in_order(level.spacing, order);
    level.offset = in_order(level.offset, order);
  }
  return image;
}

std::pair<Json, Json> bounds_of(const DType& dtype) {
  if (!is_integer(dtype)) return {Json(0), Json(1)};
  const auto bits = 8 * dtype.size();
  if (dtype.name().starts_with("u")) return {Json(0), Json(~std::uint64_t{0} >> (64 - bits))};
  const auto high = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
  return {Json(-high - 1), Json(high)};
}

// Several white ones would add up to white, so each has its own colour.
std::uint32_t default_colour(std::size_t channel, std::size_t count) {
  constexpr std::uint32_t kColours[] = {0xff0000, 0x00ff00, 0x0000ff, 0xff00ff, 0x00ffff, 0xffff00};
  return count == 1 ? 0xffffff : kColours[channel % std::size(kColours)];
}

double spacing_product(double a, double b) { return a == 1 || b == 1 ? a * b : tidy(a * b); }

Json complete_channels(const Json& given, const DType& dtype) {
  const auto bounds = bounds_of(dtype);
  const Json &low = bounds.first, &high = bounds.second;
  Json channels{Json::Array{}};
  for (const Json& each : given.elements()) {
    if (!each.is_object()) return {};
    Json channel = each;
    if (!is_colour(channel.find("color")))
      channel.set("color", colour_text(default_colour(channels.size(), given.size())));
    if (channel.find("active") == nullptr) channel.set("active", true);
    const Json* known = each.find("window");
    const auto end = [&](std::string_view name, const Json& otherwise) {
      const Json* value = known == nullptr ? nullptr : known->find(name);
      return value != nullptr && value->is_number() ? *value : otherwise;
    };
    const Json start = end("start", low), stop = end("end", high);
    Json window = known != nullptr && known->is_object() ? *known : Json(Json::Object{});
    window.set("min", end("min", is_integer(dtype) ? low : start));
    window.set("max", end("max", is_integer(dtype) ? high : stop));
    window.set("start", start);
    window.set("end", stop);
    channel.set("window", std::move(window));
    channels.push_back(std::move(channel));
  }
  return channels;
}

void read_label(const Json& parent, Image& image) {
  const Json* label = parent.find(kImageLabel);
  image.labels = label != nullptr;
  if (label != nullptr) image.label = *label;
}

void write_label(const Image& image, Json& parent) {
  if (!image.labels)
    parent.erase(kImageLabel);
  else if (parent.find(kImageLabel) == nullptr)
    parent.set(kImageLabel, image.label.is_null() ? Json(Json::Object{}) : image.label);
}

}  // namespace sherd
