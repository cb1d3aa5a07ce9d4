// A netCDF file as a dataset: the definitions, which are read when it is opened, under the library's single lock.
#include "io/netcdf_file.hpp"

#ifdef SHERD_NETCDF

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "io/netcdf_dataset.hpp"
#include "io/netcdf_elements.hpp"
#include "io/netcdf_look.hpp"
#include "netcdf/attribute.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"

namespace sherd {

namespace {

constexpr std::size_t kLongestHdf5Name = 65'535;  ///< of an attribute; libnetcdf copies it whole

using netcdf::Attribute, netcdf::Dimension, netcdf::Type, netcdf::Values;

/// Reads the definitions. The caller holds the lock.
class Reader {
 public:
  Reader(std::shared_ptr<const OpenNetcdfFile> file, const Limits& limits, NetcdfLook look,
         std::optional<ClassicFile> classic)
      : file_(std::move(file)),
        library_(file_->library),
        limits_(limits),
        look_(std::move(look)),
        classic_(std::move(classic)),
        records_(classic_ ? classic_->records : std::nullopt) {
    for (const auto& [path, variable] : look_.variables)
      if (!variable.fault.empty()) faulty_[path.substr(0, path.rfind('/') + 1)].push_back(path);
  }

  Result<netcdf::Dataset> run() {
    auto state = std::make_shared<netcdf::Dataset::State>();
    state->url = file_->name();
    state->format = "netcdf";
    int format = 0;
    SHERD_TRY(check(library_.nc_inq_format(file_->id, &format)));
    constexpr std::array<const char*, 6> kinds = {
        "", "classic", "64-bit offset", "netCDF-4", "netCDF-4 classic model", "cdf5"};
    if (format < 1 || format >= static_cast<int>(kinds.size()))
      return unsupported("is a netCDF file of a kind that is not known");
    state->kind = kinds[static_cast<std::size_t>(format)];
    SHERD_TRY(group(file_->id, state->root, 0));
    for (const auto& [path, variable] : look_.variables)
      warn(path, "the variable is left out: its elements are " + variable.elements);
    state->warnings = std::move(warnings_);
    state->unread = std::move(unread_);
    return netcdf::Dataset(std::move(state));
  }

 private:
  [[nodiscard]] Result<void> check(int code) const { return library_.check(code, true); }

  void warn(const std::string& path, const std::string& what) { warnings_.push_back(path + ": " + what); }

  /// `what`: "variable" or "group".
  void leave_out(const std::string& path, const std::string& what, const std::string& fault) {
    warn(path, "the " + what + " is left out: " + fault);
    unread_.push_back({path, unsupported(fault), what == "group"});
  }

  Result<void> group(int id, netcdf::Group::State& to, std::size_t depth) {  // NOLINT(misc-no-recursion)
    SHERD_TRY(dimensions(id, to));
    SHERD_TRY(found, attributes(id, NC_GLOBAL, to.path));
    to.attributes = std::move(found);
    int count = 0;
    SHERD_TRY(check(library_.nc_inq_varids(id, &count, nullptr)));
    std::vector<int> variables(static_cast<std::size_t>(count));
    SHERD_TRY(check(library_.nc_inq_varids(id, &count, variables.data())));
    SHERD_TRY(faulty, faulty_variables(id, to.path));
    for (const int each : variables)
      if (!faulty.contains(each)) SHERD_TRY(variable(id, each, to));
    SHERD_TRY(check(library_.nc_inq_grps(id, &count, nullptr)));
    std::vector<int> groups(static_cast<std::size_t>(count));
    SHERD_TRY(check(library_.nc_inq_grps(id, &count, groups.data())));
    for (const int each : groups) {
      std::array<char, NC_MAX_NAME + 1> name{};
      SHERD_TRY(check(library_.nc_inq_grpname(each, name.data())));
      if (depth == netcdf::kMaxGroupDepth) {
        leave_out_group(netcdf::member_path(to.path, name.data()));
        continue;
      }
      auto member = std::make_unique<netcdf::Group::State>();
      member->name = name.data();
      member->path = netcdf::member_path(to.path, member->name);
      member->parent = &to;
      SHERD_TRY(group(each, *member, depth + 1));
      to.groups.push_back(std::move(member));
    }
    return {};
  }

  void leave_out_group(const std::string& path) {
    leave_out(path, "group", "it is nested more than " + std::to_string(netcdf::kMaxGroupDepth) + " deep");
    const auto end = look_.variables.lower_bound(path + static_cast<char>('/' + 1));
    look_.variables.erase(look_.variables.lower_bound(path + "/"), end);
  }

  /// Variables that may not be touched.
  Result<std::set<int>> faulty_variables(int group, const std::string& path) {
    std::set<int> ids;
    const auto faulty = faulty_.extract(netcdf::member_path(path, ""));
    if (faulty.empty()) return ids;
    for (const std::string& each : faulty.mapped()) {
      const auto looked = look_.variables.extract(each);
      const std::string& fault = looked.mapped().fault;
      int id = 0;
      if (library_.nc_inq_varid(group, std::string(last_segment(each)).c_str(), &id) != NC_NOERR)
        return unsupported("'" + each + "' cannot be left out, because libnetcdf does not find its name; " + fault);
      ids.insert(id);
      if (looked.mapped().is_lost)
        leave_out(each, "variable", fault);
      else
        warn(each, "the variable is left out: " + fault);
    }
    return ids;
  }

  Result<void> dimensions(int group, netcdf::Group::State& to) {
    int count = 0, unlimited_count = 0;
    SHERD_TRY(check(library_.nc_inq_unlimdims(group, &unlimited_count, nullptr)));
    std::vector<int> unlimited(static_cast<std::size_t>(std::max(unlimited_count, 0)));
    SHERD_TRY(check(library_.nc_inq_unlimdims(group, &unlimited_count, unlimited.data())));
    SHERD_TRY(check(library_.nc_inq_dimids(group, &count, nullptr, 0)));
    std::vector<int> ids(static_cast<std::size_t>(count));
    SHERD_TRY(check(library_.nc_inq_dimids(group, &count, ids.data(), 0)));
    for (const int id : ids) {
      std::array<char, NC_MAX_NAME + 1> name{};
      std::size_t length = 0;
      SHERD_TRY(check(library_.nc_inq_dim(group, id, name.data(), &length)));
      const bool grows = std::ranges::find(unlimited, id) != unlimited.end();
      const std::string path = first_link(to.path, name.data());
      const auto known = named_.find(path);
      if (known != named_.end()) {
        known_.insert_or_assign(id, known->second);
        continue;
      }
      to.dimensions.push_back({.name = std::string(last_segment(path)),
                               .group = to.path,
                               .length = grows ? records_.value_or(length) : length,
                               .unlimited = grows});
      known_.insert_or_assign(id, to.dimensions.back());
      named_.emplace(path, to.dimensions.back());
    }
    return {};
  }

  /// The path of a dimension, which libnetcdf names by any of the links to its scale.
  [[nodiscard]] std::string first_link(const std::string& group, const std::string& name) const {
    const auto is_in_group = [&](const std::string& path) {
      return netcdf::member_path(group, last_segment(path)) == path;
    };
    for (const auto& [link, first] : look_.second_links)
      if (last_segment(link) == name && (is_in_group(link) || is_in_group(first))) return first;
    return netcdf::member_path(group, name);
  }

  Result<std::vector<Attribute>> attributes(int group, int variable, const std::string& path) {
    const auto looked = look_.attributes.find(path);
    if (looked != look_.attributes.end()) {
      for (const Attribute& each : looked->second) is_listed(path, each.name);
    } else {
      SHERD_TRY(read, listed_attributes(group, variable, path));
      look_.attributes.insert_or_assign(path, std::move(read));
    }
    for (const NetcdfLook::Attribute& each : look_.listed[path])
      warn(path, "the attribute '" + each.name + "' is left out: " + each.fault);
    return look_.attributes[path];
  }

  /// What remains in the look is missing from the dataset.
  void is_listed(const std::string& path, std::string_view attribute) {
    std::erase_if(look_.listed[path], [&](const auto& each) { return each.name == attribute; });
  }

  Result<std::vector<Attribute>> listed_attributes(int group, int variable, const std::string& path) {
    std::vector<Attribute> all;
    std::string name(kLongestHdf5Name + 1, '\0');
    int count = 0;
    if (variable == NC_GLOBAL) {
      SHERD_TRY(check(library_.nc_inq_natts(group, &count)));
    } else {
      SHERD_TRY(check(library_.nc_inq_var(group, variable, nullptr, nullptr, nullptr, nullptr, &count)));
    }
    for (int i = 0; i < count; ++i) {
      nc_type type = NC_NAT;
      std::size_t length = 0;
      SHERD_TRY(check(library_.nc_inq_attname(group, variable, i, name.data())));
      is_listed(path, name.data());
      if (const std::size_t bytes = std::strlen(name.data()); bytes > NC_MAX_NAME) {
        warn(path, "the attribute '" + std::string(name.data(), 32) + "…' is left out: its name has " +
                       std::to_string(bytes) + " bytes, and netCDF has names of at most 256");
        continue;
      }
      const int code = library_.nc_inq_att(group, variable, name.data(), &type, &length);
      if (code == NC_ENOTATT) {
        warn(path,
             std::string("the attribute '") + name.data() + "' is left out: its name is not in the normal form NFC");
        continue;
      }
      SHERD_TRY(check(code));
      if (type < NC_BYTE || type > NC_STRING) {
        warn(path, std::string("the attribute '") + name.data() +
                       "' is left out: it is of a user-defined type, which Sherd does not read");
        continue;
      }
      std::vector<std::uint64_t> nulls;
      SHERD_TRY(values, attribute(group, variable, name.data(), static_cast<Type>(type), length, nulls).in([&] {
        return path + ": the attribute '" + name.data() + "'";
      }));
      netcdf::cut_final_nuls(all.emplace_back(Attribute{name.data(), std::move(values), std::move(nulls)}));
    }
    return all;
  }

  Result<Values> attribute(int group, int variable, const char* name, Type type, std::size_t length,
                           std::vector<std::uint64_t>& nulls) {
    const auto bytes = checked_mul(length, std::max<std::size_t>(netcdf::element_size(type), sizeof(char*)));
    if (!bytes || *bytes > limits_.metadata_bytes)
      return unsupported("has " + std::to_string(length) + " values, which exceeds the limit metadata_bytes");
    Values values = netcdf::no_values(type);
    if (auto* strings = std::get_if<std::vector<std::string>>(&values)) {
      std::vector<char*> texts(length, nullptr);
      if (length > 0) SHERD_TRY(check(library_.nc_get_att(group, variable, name, texts.data())));
      *strings = owned_texts(texts, nulls);
      if (length > 0) library_.nc_free_string(length, texts.data());
      return values;
    }
    auto got = std::visit(
        [&](auto& list) -> Result<void> {
          list.resize(length);
          return length > 0 ? check(library_.nc_get_att(group, variable, name, list.data())) : Result<void>();
        },
        values);
    if (!got) return std::move(got).error();
    return values;
  }

  Result<void> variable(int group, int id, netcdf::Group::State& to) {
    std::array<char, NC_MAX_NAME + 1> name{};
    nc_type type = NC_NAT;
    int rank = 0;
    SHERD_TRY(check(library_.nc_inq_var(group, id, name.data(), &type, &rank, nullptr, nullptr)));
    const std::string path = netcdf::member_path(to.path, name.data());
    const auto looked = look_.variables.extract(path);
    if (type < NC_BYTE || type > NC_STRING) {
      warn(path, "the variable is left out: it is of a user-defined type, which Sherd does not read");
      return {};
    }
    if (type == NC_STRING && !looked) {
      leave_out(path, "variable", "libhdf5 does not find its texts, and libnetcdf may crash on them");
      return {};
    }
    if (static_cast<std::uint64_t>(rank) > limits_.dimensions)
      return unsupported(path + " has " + std::to_string(rank) + " dimensions, which exceeds the limit dimensions");
    std::vector<int> ids(static_cast<std::size_t>(rank));
    SHERD_TRY(check(library_.nc_inq_var(group, id, nullptr, nullptr, nullptr, ids.data(), nullptr)));
    auto state = std::make_unique<netcdf::Variable::State>();
    state->name = name.data();
    state->group = to.path;
    state->type = static_cast<Type>(type);
    state->scalar = rank == 0;
    for (const int each : ids) {
      const auto known = known_.find(each);
      if (known == known_.end()) {
        leave_out(path, "variable",
                  "it has no dimension scales for some of its dimensions, which libnetcdf cannot read");
        return {};
      }
      state->dimensions.push_back(known->second);
    }
    if (looked) {
      if (std::string fault = misfit(looked.mapped().lengths, state->dimensions); !fault.empty()) {
        leave_out(path, "variable", fault);
        return {};
      }
    }
    SHERD_TRY(found, attributes(group, id, path));
    state->attributes = std::move(found);
    SHERD_TRY(storage(group, id, *state).in([&] { return path; }));
    SHERD_TRY(elements, elements_of(group, id, *state, looked ? &looked.mapped() : nullptr));
    state->elements = std::move(elements);
    to.variables.push_back(std::move(state));
    return {};
  }

  Result<std::shared_ptr<const netcdf::ElementSource>> elements_of(int group, int id, const netcdf::Variable::State& of,
                                                                   const NetcdfLook::Variable* looked) {
    if (classic_ && file_->copy && static_cast<std::size_t>(id) < classic_->variables.size())
      return classic_elements(file_->copy, classic_->variables[static_cast<std::size_t>(id)], of.type, of.dimensions);
    NetcdfElements elements{.file = file_, .group = group, .variable = id, .type = of.type};
    if (file_->ranges || (looked != nullptr && looked->is_fixed_text)) {
      const std::string path = looked != nullptr ? looked->stored : netcdf::member_path(of.group, of.name);
      SHERD_TRY(dataset, Hdf5Dataset::open(library_, file_->path, path, file_->ranges ? file_->ranges->access() : 0));
      elements.dataset = std::move(dataset);
    }
    if (file_->ranges) SHERD_TRY(set_fill(elements));
    return make_elements(std::move(elements), of.dimensions);
  }

  /// As libnetcdf fills what is beyond the end.
  Result<void> set_fill(NetcdfElements& of) const {
    if (of.type == Type::string) {
      char* text = nullptr;
      SHERD_TRY(check(library_.nc_inq_var_fill(of.group, of.variable, nullptr, &text)));
      if (text != nullptr) of.text_fill = text;
      library_.nc_free_string(1, &text);
      return {};
    }
    of.fill.resize(netcdf::element_size(of.type));
    std::visit([&](const auto& value) { std::memcpy(of.fill.data(), value.data(), of.fill.size()); },
               netcdf::default_fill(of.type));
    // Does nothing if the variable has no fill value.
    return check(library_.nc_inq_var_fill(of.group, of.variable, nullptr, of.fill.data()));
  }

  /// Why libnetcdf would read other elements than the variable has, or none; empty if it reads those.
  [[nodiscard]] static std::string misfit(std::span<const std::uint64_t> lengths,
                                          std::span<const Dimension> dimensions) {
    for (std::size_t d = 0; d < std::min(lengths.size(), dimensions.size()); ++d) {
      const Dimension& dimension = dimensions[d];
      if (lengths[d] == dimension.length || (dimension.unlimited && lengths[d] < dimension.length)) continue;
      return "it has " + std::to_string(lengths[d]) + " elements along its dimension '" + dimension.name +
             "', whose length is " + std::to_string(dimension.length) + "; read it with h5py";
    }
    return {};
  }

  Result<void> storage(int group, int id, netcdf::Variable::State& to) {
    netcdf::Storage& storage = to.storage;
    std::vector<std::size_t> chunks(std::max<std::size_t>(1, to.dimensions.size()));
    int layout = NC_CONTIGUOUS, endian = NC_ENDIAN_NATIVE, no_fill = 0;
    SHERD_TRY(check(library_.nc_inq_var_chunking(group, id, &layout, chunks.data())));
    if (layout == NC_CHUNKED && !to.scalar) storage.chunks.assign(chunks.begin(), chunks.end());
    if (library_.nc_inq_var_endian(group, id, &endian) == NC_NOERR) storage.big_endian = endian == NC_ENDIAN_BIG;
    if (to.type != Type::string && library_.nc_inq_var_fill(group, id, &no_fill, nullptr) == NC_NOERR)
      storage.no_fill = no_fill != 0;
    std::size_t count = 0;
    if (library_.nc_inq_var_filter_ids(group, id, &count, nullptr) != NC_NOERR) return {};  // a classic file
    std::vector<unsigned> ids(count);
    if (count > 0) SHERD_TRY(check(library_.nc_inq_var_filter_ids(group, id, &count, ids.data())));
    for (const unsigned filter : ids) {
      SHERD_TRY(parameters, parameters_of(group, id, filter));
      storage.filters.push_back({.id = filter, .parameters = std::move(parameters)});
      const auto& last = storage.filters.back();
      if (filter == 1) storage.deflate_level = last.parameters.empty() ? 1 : static_cast<int>(last.parameters[0]);
      if (filter == 2) storage.shuffle = true;
      if (filter == 3) storage.fletcher32 = true;
    }
    return set_cache(group, id, to);
  }

  Result<std::vector<std::uint32_t>> parameters_of(int group, int id, unsigned filter) {
    std::size_t count = 0;
    SHERD_TRY(check(library_.nc_inq_var_filter_info(group, id, filter, &count, nullptr)));
    std::vector<std::uint32_t> parameters(count);
    if (count > 0) SHERD_TRY(check(library_.nc_inq_var_filter_info(group, id, filter, &count, parameters.data())));
    return parameters;
  }

  /// Whether a variable has the name of a dimension of its group but is not along it first. libnetcdf stores it under
  /// another name, and after a change of its cache opens the dimension in its place.
  [[nodiscard]] bool is_renamed(const netcdf::Variable::State& variable) const {
    const auto is_homonym = [&](const Dimension& each) {
      return each.name == variable.name && each.group == variable.group;
    };
    return named_.contains(netcdf::member_path(variable.group, variable.name)) &&
           (variable.dimensions.empty() || !is_homonym(variable.dimensions.front()));
  }

  /// Boxes are read whole, so libhdf5 only needs to keep one chunk.
  Result<void> set_cache(int group, int id, const netcdf::Variable::State& of) {
    constexpr std::size_t kSlots = 521;
    if (of.storage.chunks.empty() || is_renamed(of)) return {};
    const auto elements = element_count(of.storage.chunks);
    const auto bytes =
        elements ? checked_mul(*elements, std::max<std::size_t>(1, netcdf::element_size(of.type))) : std::nullopt;
    if (!bytes || *bytes > limits_.chunk_bytes) return unsupported("its chunks are larger than the limit chunk_bytes");
    return check(library_.nc_set_var_chunk_cache(group, id, *bytes, kSlots, 0.75F));
  }

  std::shared_ptr<const OpenNetcdfFile> file_;
  const NetcdfLibrary& library_;
  const Limits& limits_;
  NetcdfLook look_;
  std::optional<ClassicFile> classic_;
  std::optional<std::uint64_t> records_;  ///< if libnetcdf reports another length of the unlimited dimension
  std::map<std::string, std::vector<std::string>> faulty_;  ///< by the paths of their groups, ending in `/`
  std::map<int, Dimension> known_;
  std::map<std::string, Dimension> named_;  ///< by path
  std::vector<std::string> warnings_;
  std::vector<netcdf::Unread> unread_;
};

std::string listed(std::span<const std::string> suspects) {
  constexpr std::size_t kMost = 3;
  std::string all;
  for (const std::string& each : suspects.first(std::min(suspects.size(), kMost)))
    all += (all.empty() ? "" : ", or ") + each;
  return all;
}

Result<netcdf::Dataset> open_file(const std::shared_ptr<OpenNetcdfFile>& file, std::optional<ClassicFile> classic,
                                  const Config& config) {
  const NetcdfLibrary& library = file->library;
  NetcdfLook look;
  {
    NetcdfLock lock(library);
    if (!classic) {
      auto taken = NetcdfLook::take(library, *file, config, lock);
      if (file->ranges) SHERD_TRY(file->copy->take_failure());  // before what libhdf5 makes of it
      if (!taken) return std::move(taken).error();
      look = *std::move(taken);
    }
    const int code = library.nc_open(file->path.c_str(), NC_NOWRITE, &file->id);
    if (code < 0 && !look.suspects.empty() && !file->ranges)
      return unsupported("libnetcdf cannot open the file, perhaps because " + listed(look.suspects) +
                         "; read the file with h5py, or remove what is named from a copy of it");
    SHERD_TRY(library.check(code, true));
  }
  const NetcdfLock lock(library);
  return Reader(file, config.limits, std::move(look), std::move(classic)).run();
}

}  // namespace

Result<netcdf::Dataset> open_netcdf_file(const std::string& path, const Config& config) {
  SHERD_TRY(library, NetcdfLibrary::load());
  SHERD_TRY(bytes, InputFile::open(path));
  SHERD_TRY(classic, check_classic_file(*bytes).in_key(path));
  const auto file = std::make_shared<OpenNetcdfFile>(*library, path, nullptr);
  return open_file(file, std::move(classic), config).in_key(path);
}

Result<netcdf::Dataset> open_netcdf_file(std::shared_ptr<PartialCopy> copy, const Config& config) {
  SHERD_TRY(library, NetcdfLibrary::load());
  SHERD_TRY(classic, check_classic_file(*copy).in_key(copy->shown()));
  if (classic) SHERD_TRY(copy->keep(0, classic->header_bytes, {}));
  auto file = std::make_shared<OpenNetcdfFile>(*library, copy->path(), copy);
  if (!classic) {
    const NetcdfLock lock(*library);
    SHERD_TRY(ranges, Hdf5Ranges::open(*library, copy));
    file->ranges = std::move(ranges);
  }
  Result<netcdf::Dataset> dataset = corrupt("is not open yet");
  if (classic || file->ranges) dataset = open_file(file, classic, config);
  if (!dataset && !classic && dataset.error().code() == ErrorCode::corrupt) {
    // libnetcdf may need more than was read, and an unknown libhdf5 does not read in parts.
    SHERD_TRY(copy->keep(0, copy->size_bound(), config));
    file = std::make_shared<OpenNetcdfFile>(*library, copy->path(), copy);
    dataset = open_file(file, {}, config);
  }
  copy->stop_keeping();
  return std::move(dataset).in_key(copy->shown());
}

}  // namespace sherd

#else

namespace sherd {

Result<netcdf::Dataset> open_netcdf_file(const std::string& path, const Config&) {
  return unsupported("is a netCDF file, which needs libnetcdf; this build is without it (SHERD_NETCDF=OFF)")
      .in_key(path);
}

Result<netcdf::Dataset> open_netcdf_file(std::shared_ptr<PartialCopy> copy, const Config& config) {
  return open_netcdf_file(copy->shown(), config);
}

}  // namespace sherd

#endif
