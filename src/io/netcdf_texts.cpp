#include "io/netcdf_texts.hpp"

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

using Sizes = std::vector<Hdf5Library::Size>;

/// Selects the part of a box that is stored, since unlimited dimensions may be longer. Returns the space of the box in
/// memory, with the same part selected; negative after an error.
Hdf5Library::Id select(const Hdf5Library& hdf5, Hdf5Library::Id stored, const Box& box) {
  const int rank = static_cast<int>(box.shape.size());
  if (hdf5.H5Sget_simple_extent_ndims(stored) != rank) return -1;
  if (rank == 0) return hdf5.H5Screate(Hdf5Library::kOneElement);
  const Sizes start(box.origin.begin(), box.origin.end()), shape(box.shape.begin(), box.shape.end());
  Sizes lengths(shape.size()), inside(shape);
  const Hdf5Library::Id memory = hdf5.H5Screate_simple(rank, shape.data(), nullptr);
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

Result<FixedTexts> FixedTexts::open(const NetcdfLibrary& library, std::string path, std::string dataset) {
  SHERD_TRY(hdf5, library.hdf5());
  std::error_code failed;
  path = std::filesystem::absolute(path, failed).string();
  if (failed) return io_error("cannot find the working directory: " + failed.message());
  const Hdf5Handle file(hdf5->H5Fopen(path.c_str(), 0, 0), hdf5->H5Fclose);
  Hdf5Library::ObjectInfo info{};
  if (file.failed() || hdf5->H5Gget_objinfo(file.id(), dataset.c_str(), true, &info) < 0)
    return corrupt("libhdf5 cannot open '" + dataset + "' again");
  return FixedTexts(*hdf5, std::move(path), std::move(dataset), identity_of(info));
}

Result<std::vector<std::string>> FixedTexts::read(const Box& box) const {
  const Hdf5Handle file(hdf5_->H5Fopen(path_.c_str(), 0, 0), hdf5_->H5Fclose);
  const Hdf5Handle dataset(hdf5_->H5Oopen(file.id(), dataset_.c_str(), 0), hdf5_->H5Oclose);
  Hdf5Library::ObjectInfo info{};
  const bool is_found = !dataset.failed() && hdf5_->H5Gget_objinfo(file.id(), dataset_.c_str(), true, &info) >= 0;
  // Other than a path, the number that libhdf5 has for the file means the file that libnetcdf has open.
  if (!is_found || identity_of(info) != identity_) return conflict("has been replaced or removed since it was opened");
  const Hdf5Handle type(hdf5_->H5Dget_type(dataset.id()), hdf5_->H5Tclose);
  const Hdf5Handle stored(hdf5_->H5Dget_space(dataset.id()), hdf5_->H5Sclose);
  const std::size_t size = hdf5_->H5Tget_size(type.id());
  const std::uint64_t count = element_count(box.shape).value_or(~std::uint64_t{0});
  const auto bytes = checked_mul(count, size);
  if (!bytes) return unsupported("the selection is larger than the address space");
  Buffer texts;
  SHERD_TRY(texts.resize(*bytes));
  std::memset(texts.data(), 0, texts.size());
  const Hdf5Handle memory(select(*hdf5_, stored.id(), box), hdf5_->H5Sclose);
  if (memory.failed() || hdf5_->H5Dread(dataset.id(), type.id(), memory.id(), stored.id(), 0, texts.data()) < 0)
    return corrupt("libhdf5 cannot read the texts");
  std::vector<std::string> strings;
  strings.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const char* text = reinterpret_cast<const char*>(texts.data()) + i * size;
    strings.emplace_back(text, strnlen(text, size));
  }
  return strings;
}

}  // namespace sherd

#endif
