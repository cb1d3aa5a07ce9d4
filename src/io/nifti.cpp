// NIfTI-1 and NIfTI-2 files: .nii, .nii.gz and pairs of .hdr and .img. x is fastest in the file, so its bytes are in
// C order of (z, y, x), (t, z, y, x) …; nothing is transposed. RGB24 and RGBA32 are uint8 with a last dimension "c".
// Stored values are kept and scl_slope, scl_inter recorded, unless the caller asks to apply them.
#include <zlib.h>

#include <cmath>

#include "base/try.hpp"
#include "io/nifti_header.hpp"

namespace sherd {
namespace {

// The fifth dimension has several values per voxel: channels.
constexpr std::string_view kAxisNames[] = {"x", "y", "z", "t", "c", "v", "w"};

struct Datatype {
  std::int64_t code;
  const DType* dtype;
  std::uint64_t channels;
};
constexpr Datatype kDatatypes[] = {{2, &DType::uint8, 1},    {4, &DType::int16, 1},      {8, &DType::int32, 1},
                                   {16, &DType::float32, 1}, {32, &DType::complex64, 1}, {64, &DType::float64, 1},
                                   {256, &DType::int8, 1},   {512, &DType::uint16, 1},   {768, &DType::uint32, 1},
                                   {1024, &DType::int64, 1}, {1280, &DType::uint64, 1},  {1792, &DType::complex128, 1},
                                   {128, &DType::uint8, 3},  {2304, &DType::uint8, 4}};

Result<Datatype> find_datatype(std::int64_t code) {
  for (const Datatype& known : kDatatypes)
    if (known.code == code) return known;
  return unsupported("NIfTI datatype " + std::to_string(code) + " is not supported");
}

Result<FileArray> describe(const NiftiHeader& header) {
  const std::int64_t rank = header.integer(nifti::dim);
  if (rank < 1 || rank > 7)
    return corrupt("dim[0] is " + std::to_string(rank) + "; 1 to 7 dimensions are possible").in_member("dim[0]");
  SHERD_TRY(type, find_datatype(header.integer(nifti::datatype)));
  FileArray array;
  array.dtype = *type.dtype;
  for (std::int64_t d = rank; d > 0; --d) {
    if (d == 4 && has_filler(header)) continue;
    const std::int64_t length = header.integer(nifti::dim, static_cast<std::size_t>(d));
    if (length < 0) return corrupt("dim[" + std::to_string(d) + "] is " + std::to_string(length));
    array.shape.push_back(static_cast<std::uint64_t>(length));
    array.dimension_names.emplace_back(kAxisNames[d - 1]);
  }
  array.attributes = nifti_attributes(header, static_cast<std::size_t>(rank));
  if (type.channels > 1) {
    if (rank > 4) array.dimension_names[static_cast<std::size_t>(rank - 5)] = "u";
    array.shape.push_back(type.channels);
    array.dimension_names.emplace_back("c");
    array.attributes.find("spacing")->push_back({});
    array.attributes.find("units")->push_back({});
  }
  return array;
}

Result<std::uint64_t> data_offset(const NiftiHeader& header) {
  const double offset = header.real(nifti::vox_offset);
  const double least = header.is_pair() ? 0 : static_cast<double>(header.version() == 1 ? 352 : 544);
  if (offset == 0) return static_cast<std::uint64_t>(least);
  if (!(offset >= least && offset < 0x1p53) || offset != std::floor(offset))
    return corrupt("vox_offset is " + Json(std::isfinite(offset) ? offset : -1.0).dump() + "; elements begin at byte " +
                   std::to_string(static_cast<std::uint64_t>(least)) + " or later");
  return static_cast<std::uint64_t>(offset);
}

// "a.hdr.gz" -> "a.img.gz".
std::string sibling(std::string path, std::string_view from, std::string_view to) {
  for (const std::string_view packed : {"", ".gz"}) {
    const std::string end = std::string(from) + std::string(packed);
    if (path.ends_with(end)) return path.replace(path.size() - end.size(), from.size(), to);
  }
  return path;
}

// value * slope + inter in double precision, stored as float32 or, from types with more than 24 bits, as float64.
class ScaledReader final : public ArrayFileReader {
 public:
  ScaledReader(std::unique_ptr<ArrayFileReader> stored, double slope, double inter)
      : stored_(std::move(stored)), slope_(slope), inter_(inter) {
    array_ = stored_->array();
    const auto kind = array_.dtype.kind();
    const bool small = array_.dtype.size() <= 2 || kind == DType::Kind::float32;
    array_.dtype = small ? DType::float32 : DType::float64;
    array_.attributes.erase("scl_slope");
    array_.attributes.erase("scl_inter");
  }
  [[nodiscard]] bool random_access() const noexcept override { return stored_->random_access(); }
  Result<void> finish() override { return stored_->finish(); }
  Result<void> read(std::uint64_t first, std::span<std::byte> into) override {
    const std::size_t size = stored_->array().dtype.size();
    // In parts, so that the stored elements need no second buffer of the caller's size.
    constexpr std::size_t kPart = 65536;
    SHERD_TRY(scratch_.resize(kPart * size));
    for (std::size_t left = into.size() / array_.dtype.size(); left > 0;) {
      const std::size_t count = std::min(left, kPart);
      const auto stored = scratch_.span().first(count * size);
      SHERD_TRY(stored_->read(first, stored));
      scale(stored, into.first(count * array_.dtype.size()));
      into = into.subspan(count * array_.dtype.size());
      first += count;
      left -= count;
    }
    return {};
  }

 private:
  void scale(std::span<const std::byte> from, std::span<std::byte> to) const {
    switch (stored_->array().dtype.kind()) {
      using enum DType::Kind;
      case int8:
        return scale_as<std::int8_t, float>(from, to);
      case uint8:
        return scale_as<std::uint8_t, float>(from, to);
      case int16:
        return scale_as<std::int16_t, float>(from, to);
      case uint16:
        return scale_as<std::uint16_t, float>(from, to);
      case float32:
        return scale_as<float, float>(from, to);
      case int32:
        return scale_as<std::int32_t, double>(from, to);
      case uint32:
        return scale_as<std::uint32_t, double>(from, to);
      case int64:
        return scale_as<std::int64_t, double>(from, to);
      case uint64:
        return scale_as<std::uint64_t, double>(from, to);
      default:
        return scale_as<double, double>(from, to);
    }
  }
  template <class From, class To>
  void scale_as(std::span<const std::byte> from, std::span<std::byte> to) const {
    const auto* source = reinterpret_cast<const From*>(from.data());
    auto* target = reinterpret_cast<To*>(to.data());
    for (std::size_t i = 0; i < from.size() / sizeof(From); ++i)
      target[i] = static_cast<To>(static_cast<double>(source[i]) * slope_ + inter_);
  }

  std::unique_ptr<ArrayFileReader> stored_;
  double slope_, inter_;
  Buffer scratch_;
};

Result<std::unique_ptr<ArrayFileReader>> open_nifti(const std::string& path, const ImportOptions& options) {
  const std::string header_path = sibling(path, ".img", ".hdr");
  SHERD_TRY(bytes, open_inflated(header_path));
  SHERD_TRY(header, NiftiHeader::read(*bytes).in_key(header_path));
  SHERD_TRY(array, describe(header).in_key(header_path));
  SHERD_TRY(offset, data_offset(header).in_key(header_path));
  SHERD_TRY(array_bytes(array.shape, array.dtype, options.create.config.limits).in_key(header_path));
  std::string data_path = header_path;
  if (header.is_pair()) {
    data_path = sibling(header_path, ".hdr", ".img");
    if (data_path == header_path)
      return invalid_argument("is the header of a pair, but is not called .hdr, so its .img cannot be found")
          .in_key(path);
    SHERD_TRY(data, open_inflated(data_path));
    bytes = std::move(data);
  }
  FlatLayout layout{offset, {}};
  if (header.swapped()) layout.swaps = word_swaps(array.dtype);
  SHERD_TRY(reader, flat_reader(std::move(bytes), std::move(array), std::move(layout)).in_key(data_path));
  const Json* slope = reader->array().attributes.find("scl_slope");
  if (!options.apply_scale || slope == nullptr) return reader;
  const auto kind = reader->array().dtype.kind();
  if (kind == DType::Kind::complex64 || kind == DType::Kind::complex128 ||
      reader->array().dimension_names.back() == "c")
    return unsupported("scaling of complex numbers and colours is not defined; import without it").in_key(path);
  const double inter = reader->array().attributes.find("scl_inter")->as_double().value_or(0);
  return std::make_unique<ScaledReader>(std::move(reader), slope->as_double().value_or(1), inter);
}

// ---- writing ----

class GzipWriter final : public ArrayFileWriter {
 public:
  explicit GzipWriter(std::unique_ptr<OutputFile> file) : file_(std::move(file)) {}
  ~GzipWriter() override { deflateEnd(&stream_); }
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  Result<void> start(std::string_view header) {
    SHERD_TRY(out_.resize(std::size_t{256} << 10));
    if (deflateInit2(&stream_, 5, Z_DEFLATED, 16 + 15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
      return unavailable("no memory for deflate");
    return write(0, as_bytes(header));
  }
  Result<void> write(std::uint64_t /*first*/, std::span<const std::byte> elements) override {
    // zlib counts in 32 bits.
    for (constexpr std::size_t kMax = std::size_t{1} << 30; !elements.empty();) {
      const auto part = elements.first(std::min(elements.size(), kMax));
      SHERD_TRY(deflate_all(part, Z_NO_FLUSH));
      elements = elements.subspan(part.size());
    }
    return {};
  }
  Result<void> finish() override {
    SHERD_TRY(deflate_all({}, Z_FINISH));
    return file_->commit();
  }

 private:
  Result<void> deflate_all(std::span<const std::byte> bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, flush);
      SHERD_TRY(file_->append(out_.span().first(out_.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0);
    return {};
  }

  std::unique_ptr<OutputFile> file_;
  z_stream stream_{};
  Buffer out_;
};

// The datatype code, and whether the last dimension holds colours.
Result<Datatype> choose_datatype(const FileArray& array) {
  const bool named = !array.dimension_names.empty() && array.dimension_names.back() == "c";
  if (named && array.dtype == DType::uint8 && array.shape.size() > 1)
    for (const Datatype& known : kDatatypes)
      if (known.channels > 1 && known.channels == array.shape.back()) return known;
  if (array.dtype == DType::bool_) return Datatype{2, &DType::uint8, 1};
  for (const Datatype& known : kDatatypes)
    if (known.channels == 1 && *known.dtype == array.dtype) return known;
  return unsupported("NIfTI has no type for '" + array.dtype.name() + "'");
}

Result<NiftiHeader> make_header(const FileArray& array) {
  SHERD_TRY(type, choose_datatype(array));
  const std::size_t rank = array.shape.size() - (type.channels > 1 ? 1 : 0);
  if (array.shape.empty() || rank > 7)
    return unsupported("NIfTI has 1 to 7 dimensions, the array has shape " + to_string(array.shape));
  const Json* more = array.attributes.find("nifti");
  const Json* version = more == nullptr ? nullptr : more->find("version");
  bool large = version != nullptr && version->as_int() == 2;
  for (const std::uint64_t length : array.shape) large = large || length > 32767;
  NiftiHeader header(large ? 2 : 1);
  header.set(nifti::dim, static_cast<double>(rank));
  for (std::size_t d = 1; d <= 7; ++d)
    header.set(nifti::dim, d <= rank ? static_cast<double>(array.shape[rank - d]) : 1, d);
  header.set(nifti::datatype, static_cast<double>(type.code));
  header.set(nifti::bitpix, static_cast<double>(8 * type.dtype->size() * type.channels));
  SHERD_TRY(set_nifti_attributes(header, array.attributes, rank));
  return header;
}

Result<std::unique_ptr<ArrayFileWriter>> create_nifti(const std::string& path, const FileArray& array, WriteMode mode) {
  if (const std::string_view pairs[] = {".hdr", ".img", ".hdr.gz", ".img.gz"}; has_suffix(path, pairs))
    return invalid_argument("pairs of .hdr and .img are read, not written; name a .nii or .nii.gz file").in_key(path);
  SHERD_TRY(header, make_header(array).in_key(path));
  const std::string_view packed[] = {".gz"};
  if (!has_suffix(path, packed)) return flat_writer(path, mode, header.print(), array.dtype.size());
  SHERD_TRY(file, OutputFile::create(path, mode));
  auto writer = std::make_unique<GzipWriter>(std::move(file));
  SHERD_TRY(writer->start(header.print()));
  return std::unique_ptr<ArrayFileWriter>(std::move(writer));
}

constexpr std::string_view kNiftiSuffixes[] = {".nii", ".nii.gz", ".hdr", ".img", ".hdr.gz", ".img.gz"};

}  // namespace

constinit const FileFormat kNiftiFiles{"nifti", kNiftiSuffixes, open_nifti, create_nifti, FileOrder::space};

}  // namespace sherd
