// numcodecs' categorize filter: each text is stored as the number of its label, counted from 1; 0 is the empty text. In
// numcodecs it is a filter of arrays. Here it makes the bytes itself, because decoded texts need the arena, and because
// the numbers of labels are stored without further conversion.
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/checked.hpp"
#include "base/endian.hpp"
#include "base/scalar.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

using Labels = std::vector<std::string>;  ///< an element's bytes, of fixed-length text, or the text

/// How label numbers are stored.
struct StoredNumber {
  DType dtype;
  bool swapped = false;  ///< in non-native byte order
};

class CategorizeCodec final : public ArrayBytesCodec {
 public:
  CategorizeCodec(DType dtype, StoredNumber number, Labels labels)
      : dtype_(std::move(dtype)),
        stored_(std::move(number.dtype)),
        swapped_(number.swapped),
        labels_(std::make_shared<const Labels>(std::move(labels))) {
    for (std::size_t i = 0; i < labels_->size(); ++i) numbers_.insert_or_assign((*labels_)[i], i);
  }

  Result<void> check(const ChunkType& in) const override {
    if (in.dtype == dtype_) return {};
    return invalid_argument("categorize: encodes elements of type " + dtype_.name() + ", not " + in.dtype.name());
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType& in) const override {
    const auto count = element_count(in.shape);
    return count ? checked_mul(*count, stored_.size()) : std::nullopt;
  }

  Result<void> encode(const ChunkType&, std::span<const std::byte> elements, Buffer& to) const override {
    const std::size_t count = elements.size() / dtype_.size();
    SHERD_TRY(to.resize(count * stored_.size()));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = key(elements.data(), i);
      const auto found = numbers_.find(text);
      if (found == numbers_.end())
        return invalid_argument("categorize: element " + std::to_string(i) + " is not one of the " +
                                std::to_string(labels_->size() - 1) + " labels");
      visit_number(stored_, [&]<class T>(T) { store_number(to.data(), i, static_cast<T>(found->second)); });
    }
    if (swapped_) swap_words({to.data(), to.size()}, stored_.size());
    return {};
  }

  Result<void> decode(const ChunkType&, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const override {
    const std::size_t count = elements.size() / dtype_.size();
    if (encoded.size() != count * stored_.size())
      return corrupt("categorize: holds " + std::to_string(encoded.size()) + " bytes, the chunk has " +
                     std::to_string(count * stored_.size()));
    if (dtype_.is_variable() && arena == nullptr)
      return invalid_argument("categorize: variable-length elements need an arena that keeps them");
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t number = label_number(encoded.data(), i);
      if (number >= labels_->size())
        return corrupt("categorize: element " + std::to_string(i) + " has the number " + std::to_string(number) +
                       ", there are " + std::to_string(labels_->size() - 1) + " labels");
      store(elements.data(), i, (*labels_)[number]);
    }
    if (dtype_.is_variable()) arena->keep(labels_);
    return {};
  }

 private:
  [[nodiscard]] std::string key(const std::byte* elements, std::size_t i) const {
    if (dtype_.is_variable()) return std::string(load_number<VarBytes>(elements, i).view());
    return {reinterpret_cast<const char*>(elements) + i * dtype_.size(), dtype_.size()};
  }
  [[nodiscard]] std::uint64_t label_number(const std::byte* encoded, std::size_t i) const {
    return visit_number(stored_, [&]<class T>(T) {
      std::byte word[sizeof(T)];
      std::memcpy(word, encoded + i * sizeof(T), sizeof(T));
      if (swapped_) swap_words(word, sizeof(T));
      return static_cast<std::uint64_t>(load_number<T>(word, 0));
    });
  }
  void store(std::byte* elements, std::size_t i, const std::string& label) const noexcept {
    if (dtype_.is_variable()) return store_number(elements, i, VarBytes{label.data(), label.size()});
    std::memcpy(elements + i * dtype_.size(), label.data(), label.size());
  }

  DType dtype_;
  DType stored_;
  bool swapped_;
  std::shared_ptr<const Labels> labels_;  ///< that of number 0 first
  std::unordered_map<std::string, std::size_t> numbers_;
};

Result<std::string> label_of(const Json& json, const DType& dtype) {
  if (!json.is_string()) return invalid_argument("categorize: a label must be a string");
  if (dtype.is_variable()) return json.text();
  SHERD_TRY(scalar, parse_scalar(json, dtype));
  return std::string(reinterpret_cast<const char*>(scalar.bytes().data()), scalar.bytes().size());
}

/// The type of `astype`, which may have either byte order.
Result<StoredNumber> stored_number(const Json& configuration) {
  constexpr char foreign = std::endian::native == std::endian::little ? '>' : '<';
  const Json* astype = configuration.find("astype");
  const bool swapped = astype != nullptr && astype->is_string() && astype->text().starts_with(foreign);
  CodecSpec native{"categorize", {}};
  if (astype != nullptr) native.configuration.set("astype", swapped ? Json(astype->text().substr(1)) : *astype);
  SHERD_TRY(members, Configuration::open(native));
  SHERD_TRY(dtype, number_member(members, "astype", DType::uint8));
  return StoredNumber{std::move(dtype), swapped};
}

Result<std::unique_ptr<ArrayBytesCodec>> make_categorize(const CodecSpec& spec, const CodecContext& context) {
  SHERD_TRY(configuration, Configuration::open(spec));
  const DType& dtype = context.in.dtype;
  if (dtype != DType::string && dtype.kind() != DType::Kind::utf32)
    return invalid_argument("categorize: elements of type " + dtype.name() + " are not strings");
  (void)configuration.find("dtype");  // numpy's "|O" or "<U7": the array's own type is more precise
  SHERD_TRY(number, stored_number(spec.configuration));
  (void)configuration.find("astype");
  const DType& stored = number.dtype;
  const Json* list = configuration.find("labels");
  SHERD_TRY(configuration.done());
  if (!is_integer(stored)) return configuration_error("astype", "categorize: 'astype' must be an integer type");
  if (list == nullptr || !list->is_array())
    return configuration_error("labels", "categorize: 'labels' must be a list of strings");
  const auto most =
      visit_number(stored, []<class T>(T) { return static_cast<std::uint64_t>(std::numeric_limits<T>::max()); });
  if (list->size() > most)
    return configuration_error(
        "labels", "categorize: " + std::to_string(list->size()) + " labels do not fit " + numpy_name(stored));
  Labels labels{dtype.is_variable() ? std::string() : std::string(dtype.size(), '\0')};
  for (std::size_t i = 0; i < list->size(); ++i) {
    SHERD_TRY(label, label_of(list->elements()[i], dtype).in_member("configuration.labels[" + std::to_string(i) + "]"));
    labels.push_back(std::move(label));
  }
  return std::unique_ptr<ArrayBytesCodec>(
      std::make_unique<CategorizeCodec>(dtype, std::move(number), std::move(labels)));
}

Json required_of_categorize(const DType& dtype) {
  const bool fixed = dtype.kind() == DType::Kind::utf32;
  return Json(Json::Object{{"dtype", fixed ? "<U" + std::to_string(dtype.size() / 4) : std::string("|O")}});
}

}  // namespace

extern constinit const CodecEntry categorize_codec{.name = "numcodecs.categorize",
                                                   .aliases = {"categorize"},
                                                   .array_bytes_codec = make_categorize,
                                                   .required = required_of_categorize};

}  // namespace sherd
