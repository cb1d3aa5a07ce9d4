// Finds members of a codec's configuration, checks their types and bounds, and reports errors. Each codec determines
// which members exist: it asks for them by name, and members that it has not asked for when it calls done() are
// refused.
#include "codec/configuration.hpp"

#include <algorithm>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

std::string bounds_text(IntegerBounds bounds) {
  return "an integer from " + std::to_string(bounds.low) + " to " + std::to_string(bounds.high);
}

bool within(std::int64_t value, IntegerBounds bounds) noexcept { return value >= bounds.low && value <= bounds.high; }

}  // namespace

Error configuration_error(std::string_view key, std::string message) {
  return invalid_argument(std::move(message)).in_member("configuration." + std::string(key));
}

Result<Configuration> Configuration::open(const CodecSpec& spec) {
  if (!spec.configuration.is_null() && !spec.configuration.is_object())
    return invalid_argument(spec.name + ": the configuration must be an object").in_member("configuration");
  return Configuration(spec.configuration, spec.name);
}

Result<Configuration> Configuration::open(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, open(spec));
  configuration.remarks_ = context.remarks;
  return configuration;
}

const Json* Configuration::find(std::string_view key) {
  known_.push_back(key);
  return object_->find(key);
}

Error Configuration::wrong(std::string_view key, std::string_view expected) const {
  const Json* value = object_->find(key);
  std::string message = std::string(codec_) + ": '" + std::string(key) + "' must be " + std::string(expected);
  if (value == nullptr) {
    message += "; it is missing";
  } else if (value->is_number() && value->text().size() < 32) {
    message += ", not " + value->text();
  }
  return configuration_error(key, std::move(message));
}

Result<std::int64_t> Configuration::integer(std::string_view key, IntegerBounds bounds,
                                            std::optional<std::int64_t> absent) {
  const Json* value = find(key);
  if (value == nullptr && absent) return *absent;
  const auto number = value != nullptr ? value->as_int() : std::nullopt;
  if (!number || !within(*number, bounds)) return wrong(key, bounds_text(bounds));
  return *number;
}

Result<std::int64_t> Configuration::integer_or_text(std::string_view key, IntegerBounds bounds,
                                                    std::optional<std::int64_t> absent) {
  const Json* value = object_->find(key);
  if (value == nullptr || !value->is_string()) return integer(key, bounds, absent);
  known_.push_back(key);
  const auto number = parse_number<std::int64_t>(value->text());
  if (!number || !within(*number, bounds)) return wrong(key, bounds_text(bounds));
  if (remarks_ != nullptr)
    remarks_->push_back(std::string(codec_) + ": '" + std::string(key) + "' is a string; other readers want a number");
  return *number;
}

Result<bool> Configuration::boolean(std::string_view key, std::optional<bool> absent) {
  const Json* value = find(key);
  if (value == nullptr && absent) return *absent;
  const auto flag = value != nullptr ? value->as_bool() : std::nullopt;
  if (!flag) return wrong(key, "true or false");
  return *flag;
}

Result<std::string> Configuration::text(std::string_view key, std::optional<std::string_view> absent) {
  const Json* value = find(key);
  if (value == nullptr && absent) return std::string(*absent);
  if (value == nullptr || !value->is_string()) return wrong(key, "a string");
  return value->text();
}

Result<void> Configuration::done() const {
  for (const auto& [key, value] : object_->members()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end())
      return unsupported(std::string(codec_) + ": unknown member '" + key + "' in the configuration" +
                         did_you_mean(key, known_))
          .in_member("configuration." + key);
  }
  return {};
}

Result<std::int64_t> short_integer(std::string_view argument, IntegerBounds bounds, std::int64_t absent) {
  if (argument.empty()) return absent;
  const auto value = parse_number<std::int64_t>(argument);
  if (!value || !within(*value, bounds))
    return invalid_argument("'" + std::string(argument) + "' after the colon must be " + bounds_text(bounds));
  return *value;
}

Result<void> no_argument(std::string_view argument) {
  if (!argument.empty())
    return invalid_argument("this codec's short form has no argument; remove '" + std::string(argument) +
                            "' after the colon");
  return {};
}

Result<Json> short_without_members(std::string_view argument, const DType&) {
  SHERD_TRY(no_argument(argument));
  return Json(Json::Object{});
}

}  // namespace sherd
