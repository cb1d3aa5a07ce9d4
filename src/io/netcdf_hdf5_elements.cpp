#include "io/netcdf_hdf5_elements.hpp"

#ifdef SHERD_NETCDF

#include <algorithm>
#include <array>
#include <cstring>

#include "io/netcdf_dataset.hpp"

namespace sherd {

namespace {

using netcdf::Attribute, netcdf::Type, netcdf::Values;
using Id = Hdf5Library::Id;

}  // namespace

Type Hdf5Elements::number() const {
  if (kind == Hdf5Library::floating) return size <= sizeof(float) ? Type::float32 : Type::float64;
  if (size == 1) return is_signed ? Type::int8 : Type::uint8;
  if (size == 2) return is_signed ? Type::int16 : Type::uint16;
  if (size <= 4) return is_signed ? Type::int32 : Type::uint32;
  return is_signed ? Type::int64 : Type::uint64;
}

std::string Hdf5Elements::description() const {
  constexpr std::array<const char*, 12> kinds = {"integers",
                                                 "floating-point numbers",
                                                 "times",
                                                 "texts",
                                                 "bit fields",
                                                 "opaque bytes",
                                                 "compounds (such as complex numbers)",
                                                 "references",
                                                 "enumerations (such as booleans)",
                                                 "lists of any length",
                                                 "arrays",
                                                 "complex numbers"};
  const std::string name = kind >= 0 && kind < static_cast<int>(kinds.size()) ? kinds.at(static_cast<std::size_t>(kind))
                                                                              : "of an unknown class";
  return is_number() ? name + " of " + std::to_string(size) + " bytes" : name;
}

Hdf5Elements Hdf5Elements::of(const Hdf5Library& hdf5, Id type, Id space) {
  Hdf5Elements elements;
  elements.kind = hdf5.H5Tget_class(type);
  elements.size = hdf5.H5Tget_size(type);
  elements.is_signed = elements.kind == Hdf5Library::integer && hdf5.H5Tget_sign(type) > 0;
  elements.is_variable = elements.is_text() && hdf5.H5Tis_variable_str(type) > 0;
  elements.is_null = hdf5.H5Sget_simple_extent_type(space) == Hdf5Library::kNoElements;
  elements.rank = std::max(0, hdf5.H5Sget_simple_extent_ndims(space));
  elements.count = static_cast<std::uint64_t>(std::max<std::int64_t>(0, hdf5.H5Sget_simple_extent_npoints(space)));
  return elements;
}

bool read_hdf5_numbers(const Hdf5Library& hdf5, Id attribute, const Hdf5Elements& elements, Values& to) {
  return std::visit(
      [&](auto& list) {
        list.resize(elements.count);
        return list.empty() || hdf5.H5Aread(attribute, memory_type(hdf5, elements.number()), list.data()) >= 0;
      },
      to);
}

bool read_hdf5_texts(const Hdf5Library& hdf5, Id attribute, Id type, const Hdf5Elements& elements, Attribute& to) {
  std::vector<std::string> list;
  if (elements.is_variable) {
    std::vector<char*> pointers(elements.count, nullptr);
    if (!pointers.empty() && hdf5.H5Aread(attribute, type, pointers.data()) < 0) return false;
    for (char* const each : pointers) {
      if (each == nullptr) to.nulls.push_back(list.size());
      list.emplace_back(each != nullptr ? each : "");
      hdf5.H5free_memory(each);
    }
  } else {
    std::string bytes(elements.count * elements.size, '\0');
    if (!bytes.empty() && hdf5.H5Aread(attribute, type, bytes.data()) < 0) return false;
    for (std::size_t at = 0; at < bytes.size(); at += elements.size)
      list.emplace_back(bytes.c_str() + at, strnlen(bytes.c_str() + at, elements.size));
  }
  if (elements.is_variable || elements.rank > 0)
    to.values = std::move(list);
  else
    to.values = list.empty() ? std::string() : std::move(list.front());
  return true;
}

}  // namespace sherd

#endif
