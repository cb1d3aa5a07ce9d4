#include "io/netcdf_dataset.hpp"

#ifdef SHERD_NETCDF

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"

namespace sherd {

namespace {

using Id = Hdf5Library::Id;
using Sizes = std::vector<Hdf5Library::Size>;

/// Selects the part of a box that is stored, since unlimited dimensions may be longer. Returns the space of the box in
/// memory, with the same part selected; negative after an error.
Id select(const Hdf5Library& hdf5, Id stored, const Box& box) {
  const int rank = static_cast<int>(box.shape.size());
  if (hdf5.H5Sget_simple_extent_ndims(stored) != rank) return -1;
  if (rank == 0) return hdf5.H5Screate(Hdf5Library::kOneElement);
  const Sizes start(box.origin.begin(), box.origin.end()), shape(box.shape.begin(), box.shape.end());
  Sizes lengths(shape.size()), inside(shape);
  const Id memory = hdf5.H5Screate_simple(rank, shape.data(), nullptr);
  if (memory < 0 || hdf5.H5Sget_simple_extent_dims(stored, lengths.data(), nullptr) != rank) return memory;
  for (std::size_t d = 0; d < shape.size(); ++d)
    inside[d] = start[d] < lengths[d] ? std::min(shape[d], lengths[d] - start[d]) : 0;
  if (std::ranges::find(inside, 0U) != inside.end()) {
    hdf5.H5Sselect_none(stored);
    hdf5.H5Sselect_none(memory);
    return memory;
  }
  const Sizes zeros(shape.size(), 0);
  constexpr int kSet = 0;
  hdf5.H5Sselect_hyperslab(stored, kSet, start.data(), nullptr, inside.data(), nullptr);
  hdf5.H5Sselect_hyperslab(memory, kSet, zeros.data(), nullptr, inside.data(), nullptr);
  return memory;
}

}  // namespace

Result<Hdf5Dataset> Hdf5Dataset::open(const NetcdfLibrary& library, std::string path, std::string dataset, Id access) {
  SHERD_TRY(hdf5, library.hdf5());
  std::error_code failed;
  path = std::filesystem::absolute(path, failed).string();
  if (failed) return io_error("cannot find the working directory: " + failed.message());
  const Hdf5Handle file(hdf5->H5Fopen(path.c_str(), 0, access), hdf5->H5Fclose);
  Hdf5Library::ObjectInfo info{};
  if (file.failed() || hdf5->H5Gget_objinfo(file.id(), dataset.c_str(), true, &info) < 0)
    return corrupt("libhdf5 cannot open '" + dataset + "' again");
  return Hdf5Dataset(*hdf5, std::move(path), std::move(dataset), access, identity_of(info));
}

/// Calls `read` with the dataset, its type, and the spaces of a box in memory and in the file.
template <class Read>
Result<void> Hdf5Dataset::opened(const Box& box, const Read& read) const {
  const Hdf5Handle file(hdf5_->H5Fopen(path_.c_str(), 0, access_), hdf5_->H5Fclose);
  const Hdf5Handle dataset(hdf5_->H5Oopen(file.id(), dataset_.c_str(), 0), hdf5_->H5Oclose);
  Hdf5Library::ObjectInfo info{};
  const bool is_found = !dataset.failed() && hdf5_->H5Gget_objinfo(file.id(), dataset_.c_str(), true, &info) >= 0;
  // Other than a path, the number that libhdf5 has for the file means the file that is open.
  if (!is_found || identity_of(info) != identity_) return conflict("has been replaced or removed since it was opened");
  const Hdf5Handle type(hdf5_->H5Dget_type(dataset.id()), hdf5_->H5Tclose);
  const Hdf5Handle stored(hdf5_->H5Dget_space(dataset.id()), hdf5_->H5Sclose);
  const Hdf5Handle memory(select(*hdf5_, stored.id(), box), hdf5_->H5Sclose);
  if (memory.failed()) return corrupt("libhdf5 cannot select elements of '" + dataset_ + "'");
  return read(dataset.id(), type.id(), memory.id(), stored.id());
}

Result<void> Hdf5Dataset::read(const Box& box, netcdf::Type type, std::byte* to) const {
  return opened(box, [&](Id dataset, Id character, Id memory, Id stored) -> Result<void> {
    const Id as = type == netcdf::Type::character ? character : memory_type(*hdf5_, type);
    if (hdf5_->H5Dread(dataset, as, memory, stored, 0, to) >= 0) return {};
    return corrupt("libhdf5 cannot read the elements");
  });
}

Result<std::vector<std::string>> Hdf5Dataset::read_texts(const Box& box, const std::string& fill,
                                                         std::vector<std::uint64_t>& nulls) const {
  std::vector<std::string> strings;
  SHERD_TRY(opened(box, [&](Id dataset, Id type, Id memory, Id stored) -> Result<void> {
    const bool is_variable = hdf5_->H5Tis_variable_str(type) > 0;
    const std::size_t size = hdf5_->H5Tget_size(type);
    const std::uint64_t count = element_count(box.shape).value_or(~std::uint64_t{0});
    const auto bytes = checked_mul(count, size);
    if (!bytes) return unsupported("the selection is larger than the address space");
    if (is_variable) {
      char beyond = '\0';
      std::vector<char*> texts(count, &beyond);
      const bool is_read = hdf5_->H5Dread(dataset, type, memory, stored, 0, texts.data()) >= 0;
      std::vector<char*> owned = texts;
      std::erase_if(owned, [&](const char* text) { return text == &beyond; });
      std::ranges::replace(texts, &beyond, const_cast<char*>(fill.c_str()));  // NOLINT: is only read
      if (is_read) strings = owned_texts(texts, nulls);
      for (char* const text : owned) hdf5_->H5free_memory(text);
      return is_read ? Result<void>() : corrupt("libhdf5 cannot read the texts");
    }
    Buffer texts;
    SHERD_TRY(texts.resize(*bytes));
    std::memset(texts.data(), 0, texts.size());
    if (hdf5_->H5Dread(dataset, type, memory, stored, 0, texts.data()) < 0)
      return corrupt("libhdf5 cannot read the texts");
    for (std::uint64_t i = 0; i < count; ++i) {
      const char* text = reinterpret_cast<const char*>(texts.data()) + i * size;
      strings.emplace_back(text, strnlen(text, size));
    }
    return {};
  }));
  return strings;
}

std::vector<std::string> owned_texts(const std::vector<char*>& texts, std::vector<std::uint64_t>& nulls) {
  std::vector<std::string> strings;
  strings.reserve(texts.size());
  for (const char* text : texts) {
    if (text == nullptr) nulls.push_back(strings.size());
    strings.emplace_back(text != nullptr ? text : "");
  }
  return strings;
}

Hdf5Library::Id memory_type(const Hdf5Library& hdf5, netcdf::Type type) {
  using netcdf::Type;
  switch (type) {
    case Type::int8:
      return *hdf5.H5T_NATIVE_INT8_g;
    case Type::int16:
      return *hdf5.H5T_NATIVE_INT16_g;
    case Type::int32:
      return *hdf5.H5T_NATIVE_INT32_g;
    case Type::int64:
      return *hdf5.H5T_NATIVE_INT64_g;
    case Type::uint8:
      return *hdf5.H5T_NATIVE_UINT8_g;
    case Type::uint16:
      return *hdf5.H5T_NATIVE_UINT16_g;
    case Type::uint32:
      return *hdf5.H5T_NATIVE_UINT32_g;
    case Type::uint64:
      return *hdf5.H5T_NATIVE_UINT64_g;
    case Type::float32:
      return *hdf5.H5T_NATIVE_FLOAT_g;
    default:
      return *hdf5.H5T_NATIVE_DOUBLE_g;
  }
}

}  // namespace sherd

#endif
