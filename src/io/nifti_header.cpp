// The NIfTI header: fields in either version and byte order, and their conversion to attributes.
// `affine` is 4x4 and maps voxel indices (x, y, z, 1), as in the file; `spacing` and `units` have one entry per
// dimension of the array, slowest first. Values that are not finite are left out, because JSON cannot express them.
#include "io/nifti_header.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/endian.hpp"
#include "base/try.hpp"

namespace sherd {
namespace {

constexpr std::string_view kMagic1 = "n+1", kPair1 = "ni1", kMagic2 = "n+2", kPair2 = "ni2";

std::size_t type_size(char type) noexcept {
  switch (type) {
    case 'b':
      return 1;
    case 'h':
      return 2;
    case 'i':
    case 'f':
      return 4;
    default:
      return 8;
  }
}

// xyzt_units: bits 0-2 for space, bits 3-5 for the fourth dimension.
constexpr std::pair<int, std::string_view> kUnits[] = {{1, "m"},   {2, "mm"},  {3, "um"},   {8, "s"},     {16, "ms"},
                                                       {24, "us"}, {32, "Hz"}, {40, "ppm"}, {48, "rad/s"}};

Json unit_name(std::int64_t code) {
  for (const auto& [number, name] : kUnits)
    if (code == number) return name;
  return {};
}

int unit_code(const Json& name) {
  for (const auto& [number, known] : kUnits)
    if (name.is_string() && name.text() == known) return number;
  return 0;
}

bool is_finite(const AffineMatrix& matrix) noexcept {
  for (const auto& row : matrix)
    for (const double value : row)
      if (!std::isfinite(value)) return false;
  return true;
}

// Method 2 of nifti1.h: the rotation of a unit quaternion, columns scaled by the spacing.
AffineMatrix from_quaternion(const NiftiHeader& header) noexcept {
  double b = header.real(nifti::quatern, 0), c = header.real(nifti::quatern, 1), d = header.real(nifti::quatern, 2);
  double a = 1 - (b * b + c * c + d * d);
  if (a < 1e-7) {
    // Rounded to 32 bits, the three may have a length above 1: a rotation by half a turn.
    const double length = std::sqrt(b * b + c * c + d * d);
    b /= length, c /= length, d /= length;
    a = 0;
  } else {
    a = std::sqrt(a);
  }
  const double rotation[3][3] = {{a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
                                 {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
                                 {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - b * b - c * c}};
  const double qfac = header.real(nifti::pixdim, 0) < 0 ? -1 : 1;
  AffineMatrix affine{};
  for (std::size_t r = 0; r < 3; ++r) {
    for (std::size_t k = 0; k < 3; ++k)
      affine[r][k] = rotation[r][k] * header.real(nifti::pixdim, k + 1) * (k == 2 ? qfac : 1);
    affine[r][3] = header.real(nifti::qoffset, r);
  }
  affine[3][3] = 1;
  return affine;
}

// The qform in addition to the affine, field by field, because a rotation recomputed from a matrix differs in its last
// bits.
std::optional<Json> qform_attribute(const NiftiHeader& header) {
  const auto code = header.integer(nifti::qform_code);
  if (code <= 0) return std::nullopt;
  Json quatern{Json::Array{}}, offset{Json::Array{}};
  for (std::size_t i = 0; i < 3; ++i) {
    const double turn = header.real(nifti::quatern, i), step = header.real(nifti::qoffset, i);
    if (!std::isfinite(turn) || !std::isfinite(step)) return std::nullopt;
    quatern.push_back(turn);
    offset.push_back(step);
  }
  return Json(Json::Object{{"code", code},
                           {"quatern", std::move(quatern)},
                           {"offset", std::move(offset)},
                           {"qfac", header.real(nifti::pixdim, 0) < 0 ? -1 : 1}});
}

void set_qform(NiftiHeader& header, const Json& qform) {
  const Json* numbers[] = {qform.find("code"), qform.find("qfac")};
  const Json* threes[] = {qform.find("quatern"), qform.find("offset")};
  for (const Json* each : numbers)
    if (each == nullptr || !each->as_int()) return;
  const std::int64_t code = *numbers[0]->as_int();
  if (code <= 0 || code > 32767) return;
  for (const Json* each : threes) {
    if (each == nullptr || each->elements().size() != 3) return;
    for (const Json& value : each->elements())
      if (!std::isfinite(value.as_double().value_or(NAN))) return;
  }
  header.set(nifti::qform_code, static_cast<double>(code));
  header.set(nifti::pixdim, *numbers[1]->as_int() < 0 ? -1 : 1, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    header.set(nifti::quatern, *threes[0]->elements()[i].as_double(), i);
    header.set(nifti::qoffset, *threes[1]->elements()[i].as_double(), i);
  }
}

void set_affine(NiftiHeader& header, const AffineMatrix& affine, std::int64_t code) {
  header.set(nifti::sform_code, static_cast<double>(code));
  for (std::size_t r = 0; r < 3; ++r)
    for (std::size_t k = 0; k < 4; ++k) header.set(nifti::srow, affine[r][k], 4 * r + k);
}

// Version 1 has floats: 0.1 mm is 0.10000000149011612, which is not a whole number of nanometres. The intended decimal
// is the shortest one that gives the same float.
double nifti_step(const NiftiHeader& header, std::size_t d) {
  const double step = header.real(nifti::pixdim, d);
  if (header.version() != 1 || !std::isfinite(step)) return step;
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(step)).ptr;
  double decimal = step;
  std::from_chars(text.data(), end, decimal);
  return decimal;
}

}  // namespace

NiftiHeader::NiftiHeader(int version) : version_(version) {
  const auto size = static_cast<std::uint32_t>(version == 1 ? kSize1 : kSize2);
  std::memcpy(bytes_.data(), &size, sizeof size);
  if (version == 1)
    std::memcpy(&bytes_[344], "n+1\0", 4);
  else
    std::memcpy(&bytes_[4], "n+2\0\r\n\x1a\n", 8);
  set(nifti::vox_offset, static_cast<double>(size + 4));
}

Result<NiftiHeader> NiftiHeader::read(FileBytes& bytes) {
  NiftiHeader header(1);
  const auto all = std::span(header.bytes_);
  SHERD_TRY(bytes.read_at(0, all.first(kSize1)));
  std::uint32_t size = 0;
  std::memcpy(&size, all.data(), sizeof size);
  header.swapped_ = size == byteswap<std::uint32_t>(kSize1) || size == byteswap<std::uint32_t>(kSize2);
  if (header.swapped_) size = byteswap(size);
  if (size != kSize1 && size != kSize2)
    return corrupt("is not a NIfTI file: it begins with " + std::to_string(size) + ", not with 348 or 540");
  header.version_ = size == kSize1 ? 1 : 2;
  if (header.version_ == 2) SHERD_TRY(bytes.read_at(kSize1, all.subspan(kSize1)));
  const std::string_view magic(reinterpret_cast<const char*>(&header.bytes_[size == kSize1 ? 344 : 4]), 3);
  header.pair_ = magic == (header.version_ == 1 ? kPair1 : kPair2);
  if (!header.pair_ && magic != (header.version_ == 1 ? kMagic1 : kMagic2))
    return unsupported("has no NIfTI magic; it may be an Analyze 7.5 file, which says too little about space and type");
  return header;
}

std::uint64_t NiftiHeader::word(std::size_t at, std::size_t size) const noexcept {
  const bool is_big = swapped_ == (std::endian::native == std::endian::little);
  return load_word(std::span(bytes_).subspan(at, size), is_big ? std::endian::big : std::endian::little);
}

std::int64_t NiftiHeader::integer(NiftiField field, std::size_t i) const noexcept {
  const char type = version_ == 1 ? field.type1 : field.type2;
  const std::size_t size = type_size(type);
  const std::uint64_t value = word((version_ == 1 ? field.at1 : field.at2) + i * size, size);
  const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
  return static_cast<std::int64_t>(value << unused) >> unused;
}

double NiftiHeader::real(NiftiField field, std::size_t i) const noexcept {
  const char type = version_ == 1 ? field.type1 : field.type2;
  const std::uint64_t value = word((version_ == 1 ? field.at1 : field.at2) + i * type_size(type), type_size(type));
  if (type == 'f') return std::bit_cast<float>(static_cast<std::uint32_t>(value));
  if (type == 'd') return std::bit_cast<double>(value);
  return static_cast<double>(integer(field, i));
}

std::string NiftiHeader::text(nifti::Text field) const {
  const char* from = reinterpret_cast<const char*>(&bytes_[version_ == 1 ? field.at1 : field.at2]);
  std::string result(from, ::strnlen(from, field.length));
  // The encoding is not specified; non-ASCII bytes could not be stored in JSON.
  for (char& c : result)
    if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
  return result;
}

void NiftiHeader::set(NiftiField field, double value, std::size_t i) noexcept {
  const char type = version_ == 1 ? field.type1 : field.type2;
  const std::size_t size = type_size(type);
  std::byte* to = &bytes_[(version_ == 1 ? field.at1 : field.at2) + i * size];
  const auto put = [&](auto word) { std::memcpy(to, &word, sizeof word); };
  if (type == 'f')
    put(static_cast<float>(value));
  else if (type == 'd')
    put(value);
  else if (type == 'b')
    put(static_cast<std::int8_t>(value));
  else if (type == 'h')
    put(static_cast<std::int16_t>(value));
  else if (type == 'i')
    put(static_cast<std::int32_t>(value));
  else
    put(static_cast<std::int64_t>(value));
}

void NiftiHeader::set_text(nifti::Text field, std::string_view text) noexcept {
  std::byte* to = &bytes_[version_ == 1 ? field.at1 : field.at2];
  std::memcpy(to, text.data(), std::min<std::size_t>(text.size(), field.length - 1u));
}

std::string NiftiHeader::print() const {
  const std::size_t size = version_ == 1 ? kSize1 : kSize2;
  return std::string(reinterpret_cast<const char*>(bytes_.data()), size) + std::string(4, '\0');
}

NiftiSpace nifti_space(const NiftiHeader& header) noexcept {
  AffineMatrix affine{};
  affine[3][3] = 1;
  if (const auto code = header.integer(nifti::sform_code); code > 0) {
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t k = 0; k < 4; ++k) affine[r][k] = header.real(nifti::srow, 4 * r + k);
    return {affine, code};
  }
  if (const auto code = header.integer(nifti::qform_code); code > 0) return {from_quaternion(header), code};
  for (std::size_t k = 0; k < 3; ++k) affine[k][k] = header.real(nifti::pixdim, k + 1);
  return {affine, 0};
}

bool has_filler(const NiftiHeader& header) noexcept {
  const double step = header.real(nifti::pixdim, 4);
  return header.integer(nifti::dim) > 4 && header.integer(nifti::dim, 4) == 1 && (step == 0 || step == 1);
}

Json nifti_attributes(const NiftiHeader& header, std::size_t rank) {
  Json attributes{Json::Object{}};
  const NiftiSpace space = nifti_space(header);
  if (is_finite(space.affine)) attributes.set("affine", affine_json(space.affine));
  Json spacing{Json::Array{}}, units{Json::Array{}};
  const std::int64_t codes = header.integer(nifti::xyzt_units);
  for (std::size_t d = rank; d > 0; --d) {
    if (d == 4 && has_filler(header)) continue;
    const double step = nifti_step(header, d);
    spacing.push_back(std::isfinite(step) ? Json(step) : Json());
    units.push_back(d <= 3 ? unit_name(codes & 7) : d == 4 ? unit_name(codes & 56) : Json());
  }
  attributes.set("spacing", std::move(spacing));
  attributes.set("units", std::move(units));
  const double slope = header.real(nifti::scl_slope), inter = header.real(nifti::scl_inter);
  if (std::isfinite(slope) && slope != 0 && std::isfinite(inter)) {
    attributes.set("scl_slope", slope);
    attributes.set("scl_inter", inter);
  }
  Json more{Json::Object{}};
  more.set("version", header.version());
  more.set("xform_code", space.code);
  if (auto qform = qform_attribute(header)) {
    qform->set("is_affine", header.integer(nifti::sform_code) <= 0);
    more.set("qform", *std::move(qform));
  }
  // For an array without a time dimension, which `units` cannot express.
  if (const Json time = unit_name(codes & 56); (rank < 4 || has_filler(header)) && !time.is_null())
    more.set("time_unit", time);
  const double low = header.real(nifti::cal_min), high = header.real(nifti::cal_max);
  if (std::isfinite(low) && std::isfinite(high) && low != high) {
    more.set("cal_min", low);
    more.set("cal_max", high);
  }
  if (const auto code = header.integer(nifti::intent_code); code != 0) more.set("intent_code", code);
  if (const auto name = header.text(nifti::intent_name); !name.empty()) more.set("intent_name", name);
  if (const auto text = header.text(nifti::descrip); !text.empty()) more.set("descrip", text);
  attributes.set("nifti", std::move(more));
  return attributes;
}

Result<void> set_nifti_attributes(NiftiHeader& header, const Json& attributes, std::size_t rank) {
  const auto number = [](const Json* from, std::string_view key) -> std::optional<double> {
    const Json* value = from == nullptr ? nullptr : from->find(key);
    return value == nullptr ? std::nullopt : value->as_double();
  };
  const auto text = [](const Json* from, std::string_view key) -> std::string {
    const Json* value = from == nullptr ? nullptr : from->find(key);
    return value == nullptr || !value->is_string() ? "" : value->text();
  };
  for (std::size_t d = 0; d <= 7; ++d) header.set(nifti::pixdim, 1, d);
  if (const Json* spacing = attributes.find("spacing"); spacing != nullptr && spacing->elements().size() >= rank)
    for (std::size_t d = 1; d <= rank; ++d)
      header.set(nifti::pixdim, spacing->elements()[rank - d].as_double().value_or(1), d);
  const Json* more = attributes.find("nifti");
  if (const Json* units = attributes.find("units"); units != nullptr && units->elements().size() >= rank) {
    const int space = unit_code(units->elements()[rank - 1]);
    const Json of_time = rank > 3 ? units->elements()[rank - 4] : Json();
    const int time = unit_code(of_time.is_null() ? Json(text(more, "time_unit")) : of_time);
    header.set(nifti::xyzt_units, (space & 7) | (time & 56));
  }
  const Json* qform = more == nullptr ? nullptr : more->find("qform");
  if (qform != nullptr) set_qform(header, *qform);
  const Json* alone = qform == nullptr ? nullptr : qform->find("is_affine");
  if (const Json* affine = attributes.find("affine")) {
    const auto matrix = parse_affine(*affine);
    if (!matrix) return invalid_argument("is not a 4x4 matrix of finite numbers").in_member("attributes.affine");
    // 2: aligned to something, the weakest claim of a form. 0 comes from a file that has only the spacing.
    const double code = number(more, "xform_code").value_or(2);
    const bool is_code = code > 0 && code < 32768;
    const bool is_qform = alone != nullptr && alone->as_bool() == true;
    const bool differs = *matrix != nifti_space(header).affine;
    if (differs && is_qform) header.set(nifti::qform_code, 0);  // the affine was changed since
    if (differs || (is_code && !is_qform)) set_affine(header, *matrix, is_code ? static_cast<std::int64_t>(code) : 2);
  }
  header.set(nifti::scl_slope, number(&attributes, "scl_slope").value_or(1));
  header.set(nifti::scl_inter, number(&attributes, "scl_inter").value_or(0));
  header.set(nifti::cal_min, number(more, "cal_min").value_or(0));
  header.set(nifti::cal_max, number(more, "cal_max").value_or(0));
  if (const double code = number(more, "intent_code").value_or(0); code >= 0 && code < 32768)
    header.set(nifti::intent_code, code);
  header.set_text(nifti::intent_name, text(more, "intent_name"));
  header.set_text(nifti::descrip, text(more, "descrip"));
  return {};
}

}  // namespace sherd
