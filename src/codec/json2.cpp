// numcodecs' json2: an array of texts as one JSON list, nested by dimension, with numpy's type and the shape of the
// chunk as its last two values: ["a","b","|O",[2]]. null and 0, which zarr-python uses for elements that were never
// written, are read as empty texts; other objects (numbers, lists, maps) are refused. The members of the configuration
// are those of Python's encoder; every JSON reader understands their effects.
#include <cstring>
#include <memory>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "codec/number.hpp"

namespace sherd {
namespace {

Error malformed_json2(const std::string& what) { return corrupt("json2: " + what); }

class Json2Codec final : public ArrayBytesCodec {
 public:
  Result<void> check(const ChunkType& in) const override {
    if (in.dtype == DType::string) return {};
    return invalid_argument("json2: encodes elements of type string, not " + in.dtype.name());
  }
  [[nodiscard]] std::optional<std::uint64_t> encoded_size(const ChunkType&) const override { return std::nullopt; }

  Result<void> encode(const ChunkType& in, std::span<const std::byte> elements, Buffer& to) const override {
    std::size_t next = 0;
    const Shape one{1};  // a chunk without dimensions is a list of its single element
    Json list = nested(in.shape.empty() ? one : in.shape, elements, next);
    list.push_back("|O");
    list.push_back(Json::numbers(in.shape));
    const std::string text = list.dump();
    SHERD_TRY(to.resize(text.size()));
    std::memcpy(to.data(), text.data(), text.size());
    return {};
  }

  Result<void> decode(const ChunkType& in, std::span<const std::byte> encoded, std::span<std::byte> elements,
                      VarBytesArena* arena) const override {
    if (arena == nullptr) return invalid_argument("json2: variable-length elements need an arena that keeps them");
    const std::size_t count = elements.size() / sizeof(VarBytes);
    const std::uint64_t rank = in.shape.size();
    const auto most = checked_mul(count + 2, rank + 2).value_or(count);  // elements, the lists around them, the shape
    const std::string_view text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    auto list_or_error = Json::parse(text, rank + 2, most).in([] { return "json2"; });
    if (!list_or_error && list_or_error.error().code() == ErrorCode::unsupported)
      return unsupported("json2: elements other than strings, such as lists and maps, are not supported");
    SHERD_TRY(list, std::move(list_or_error));
    if (!list.is_array() || list.size() < 2) return malformed_json2("not a list that ends in a type and a shape");
    if (list.elements().back() != Json::numbers(in.shape))
      return malformed_json2("the shape is " + list.elements().back().dump() + ", but that of the chunk is " +
                             to_string(in.shape));
    const Shape one{1};
    const Shape& shape = in.shape.empty() ? one : in.shape;
    if (list.size() - 2 != shape[0]) return malformed_json2("the list has another length than its shape says");
    auto texts = std::make_shared<std::vector<std::string>>();
    texts->reserve(count);
    for (std::size_t i = 0; i < shape[0]; ++i)
      SHERD_TRY(flatten(list.elements()[i], std::span(shape).subspan(1), *texts));
    for (std::size_t i = 0; i < count; ++i)
      store_number(elements.data(), i, VarBytes{(*texts)[i].data(), (*texts)[i].size()});
    arena->keep(std::move(texts));
    return {};
  }

 private:
  static Json nested(std::span<const std::uint64_t> shape, std::span<const std::byte> elements, std::size_t& next) {
    Json::Array list;
    for (std::uint64_t i = 0; i < shape[0]; ++i) {
      if (shape.size() > 1)
        list.push_back(nested(shape.subspan(1), elements, next));
      else
        list.emplace_back(load_number<VarBytes>(elements.data(), next++).view());
    }
    return list;
  }

  static Result<void> flatten(const Json& json, std::span<const std::uint64_t> shape, std::vector<std::string>& to) {
    if (shape.empty()) {
      const bool is_filler = json.is_null() || (json.is_number() && json.as_int() == 0);
      if (!json.is_string() && !is_filler)
        return unsupported("json2: element " + std::to_string(to.size()) + " is not a string but " +
                           json.dump().substr(0, 20));
      to.push_back(is_filler ? std::string() : json.text());
      return {};
    }
    if (!json.is_array() || json.size() != shape[0])
      return malformed_json2("the list has another length than its shape says");
    for (const Json& inner : json.elements()) SHERD_TRY(flatten(inner, shape.subspan(1), to));
    return {};
  }
};

Result<std::unique_ptr<ArrayBytesCodec>> make_json2(const CodecSpec& spec, const CodecContext&) {
  SHERD_TRY(configuration, Configuration::open(spec));
  SHERD_TRY(encoding, configuration.text("encoding", "utf-8"));
  for (const std::string_view key :
       {"skipkeys", "ensure_ascii", "check_circular", "allow_nan", "indent", "separators", "sort_keys", "strict"})
    (void)configuration.find(key);
  SHERD_TRY(configuration.done());
  if (encoding != "utf-8" && encoding != "ascii")
    return unsupported("json2: the encoding '" + encoding + "' is not supported; UTF-8 is")
        .in_member("configuration.encoding");
  return std::unique_ptr<ArrayBytesCodec>(std::make_unique<Json2Codec>());
}

}  // namespace

extern constinit const CodecEntry json2_codec{.name = "numcodecs.json2",
                                              .aliases = {"json2"},
                                              .array_bytes_codec = make_json2,
                                              .short_form = short_without_members,
                                              .stores_rows = true};

}  // namespace sherd
