#include "io/netcdf_look.hpp"

#ifdef SHERD_NETCDF

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "io/netcdf_dataset.hpp"
#include "io/netcdf_hdf5_elements.hpp"
#include "netcdf/model.hpp"
#include "netcdf/type.hpp"

namespace sherd {

namespace {

using netcdf::Attribute;
using Elements = Hdf5Elements;
using Id = Hdf5Library::Id;
using Names = std::vector<std::string>;

constexpr std::string_view kInstead = "; read the file with h5py, or remove it from a copy of the file";
constexpr std::string_view kOnlyDimension = "This is a netCDF dimension but not a netCDF variable";
constexpr std::string_view kHomonym = "_nc4_non_coord_";  ///< in front of a variable with the name of a dimension
/// Attributes that libnetcdf does not list.
constexpr std::array<std::string_view, 9> kHidden = {
    "CLASS",         "NAME",        "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Coordinates",
    "_Netcdf4Dimid", "_nc3_strict", "_NCProperties",  "_NCCOPY"};
constexpr std::size_t kLargestNumber = 8;
constexpr std::uint64_t kMostGroups = 32'767;  ///< not counting the root; libnetcdf numbers them in 16 bits
constexpr std::uint64_t kMostLinks = 1'000'000, kLinksBetweenPolls = 256;
constexpr std::size_t kDeepestGroup = 4 * netcdf::kMaxGroupDepth;  ///< libnetcdf and the look call themselves
constexpr const char* kNoType = ", for which netCDF has no simple type";

/// Called by libhdf5 for each link or attribute.
int add_name(const char* name, void* names) noexcept {
  try {
    static_cast<Names*>(names)->emplace_back(name);
    return 0;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

/// The links to one dimension scale.
struct ScaleLink {
  std::string path;
  bool is_named = false;  ///< as the scale itself says
  bool is_hard = false;
};

struct Facts {
  bool is_scale = false, is_list_odd = false, is_number_odd = false;
  std::optional<Elements> coordinates;       ///< of _Netcdf4Coordinates
  std::optional<std::uint64_t> list_length;  ///< of DIMENSION_LIST
  std::string name;                          ///< of the scale
  std::vector<std::uint64_t> scales;         ///< the addresses in DIMENSION_LIST
  std::string table;  ///< an attribute with several dimensions: libnetcdf then reads no attribute
};

std::string group_path_of(const std::string& path) {
  const auto above = parent_path(path);
  return above.empty() ? "/" : std::string(above);
}

/// The path under which libnetcdf lists a dataset.
std::string shown_path(const std::string& group, std::string_view name) {
  const bool is_homonym = name.size() > kHomonym.size() && name.starts_with(kHomonym);
  return netcdf::member_path(group, std::string(is_homonym ? name.substr(kHomonym.size()) : name));
}

class Look {
 public:
  Look(const NetcdfLibrary& library, const Hdf5Library& hdf5, const Config& config, NetcdfLock& lock)
      : hdf5_(hdf5), config_(config), limits_(config.limits), lock_(lock), is_first_(library.is_first()) {}

  Result<NetcdfLook> run(const std::string& path, const Hdf5Ranges* ranges) {
    loads_ = ranges != nullptr;
    const Hdf5Handle file(hdf5_.H5Fopen(path.c_str(), 0, loads_ ? ranges->access() : 0), hdf5_.H5Fclose);
    Hdf5Library::ObjectInfo info{};
    if (file.failed() || hdf5_.H5Gget_objinfo(file.id(), "/", true, &info) < 0) return NetcdfLook();
    const Hdf5Handle root(hdf5_.H5Oopen(file.id(), "/", 0), hdf5_.H5Oclose);
    above_.push_back(identity_of(info));
    SHERD_TRY(group(root.id(), "/"));
    for (const auto& [object, links] : scales_) choose_link(links);
    suspect_lost_scales();
    return std::move(look_);
  }

 private:
  Result<void> group(Id id, const std::string& path) {  // NOLINT(misc-no-recursion)
    if (!attributes(id, path).table.empty()) {
      SHERD_TRY(values, read_attributes(id, look_.listed.at(path)).in([&] { return path; }));
      look_.attributes.insert_or_assign(path, std::move(values));
    }
    Names names;
    const auto visit = [](Id, const char* name, void* to) { return add_name(name, to); };
    if (loads_) Hdf5Ranges::load_order(hdf5_, id);
    if (hdf5_.H5Giterate(id, ".", nullptr, visit, &names) < 0) return {};  // libnetcdf will report the damage
    for (const std::string& name : names) SHERD_TRY(link(id, name, path));
    return {};
  }

  /// The group is one of those above; groups are counted once for each path, as libnetcdf reads them.
  Result<void> inner_group(Id id, const std::string& path, const Hdf5Identity& object) {  // NOLINT(misc-no-recursion)
    if (std::ranges::find(above_, object) != above_.end())
      return unsupported("'" + path + "' is a link to a group that contains it, in which libnetcdf would never end" +
                         std::string(kInstead));
    if (++groups_ > kMostGroups)
      return unsupported("'" + path + "' is one of more than " + std::to_string(kMostGroups) +
                         " groups, on which libnetcdf crashes; groups with several links count once for each" +
                         std::string(kInstead));
    if (above_.size() > kDeepestGroup)
      return unsupported("'" + path.substr(0, 32) + "…' is nested more than " + std::to_string(kDeepestGroup) +
                         " deep" + std::string(kInstead));
    above_.push_back(object);
    auto result = group(id, path);
    above_.pop_back();
    return result;
  }

  Result<void> link(Id group_id, const std::string& name, const std::string& group_path) {  // NOLINT(misc-no-recursion)
    if (++links_ > kMostLinks)
      return unsupported("has more than " + std::to_string(kMostLinks) + " links; the last was looked at in '" +
                         group_path + "'; read the file with h5py");
    if (links_ % kLinksBetweenPolls == 0) SHERD_TRY(lock_.check_interrupted(config_.interrupted));
    const std::string path = netcdf::member_path(group_path, name);
    if (name.size() >= NC_MAX_NAME)
      return unsupported("the name '" + name.substr(0, 32) + "…' in '" + group_path + "' has " +
                         std::to_string(name.size()) + " bytes, and libnetcdf reads names of at most 255" +
                         std::string(kInstead));
    Hdf5Library::ObjectInfo info{}, own{};
    const bool is_hard =
        hdf5_.H5Gget_objinfo(group_id, name.c_str(), false, &own) < 0 || own.kind <= Hdf5Library::kDatatype;
    const Hdf5Handle object(hdf5_.H5Oopen(group_id, name.c_str(), 0), hdf5_.H5Oclose);
    if (object.failed() || hdf5_.H5Gget_objinfo(group_id, name.c_str(), true, &info) < 0) {
      if (!is_hard) look_.suspects.push_back("the link '" + path + "' leads to nothing");
      return {};  // libnetcdf will report the damage
    }
    if (info.kind == Hdf5Library::kDataset)
      return dataset(object.id(), path, {.path = shown_path(group_path, name), .is_hard = is_hard}, identity_of(info));
    if (info.kind != Hdf5Library::kGroup) {
      look_.suspects.push_back("'" + path + "' is a data type");
      return {};
    }
    return inner_group(object.id(), path, identity_of(info));
  }

  Result<void> dataset(Id id, const std::string& stored, ScaleLink link, const Hdf5Identity& object) {
    const std::string path = link.path;
    const Facts facts = attributes(id, path);
    const Hdf5Handle type(hdf5_.H5Dget_type(id), hdf5_.H5Tclose);
    const Hdf5Handle space(hdf5_.H5Dget_space(id), hdf5_.H5Sclose);
    const Elements elements = Hdf5Elements::of(hdf5_, type.id(), space.id());
    if (loads_) Hdf5Ranges::load_fill(hdf5_, id, type.id(), limits_.metadata_bytes);
    const std::string_view trouble = trouble_of(facts, elements, has_text_fill(id, type.id(), elements));
    if (!trouble.empty()) return unsupported("'" + path + "' " + std::string(trouble) + std::string(kInstead));
    if (facts.is_scale && elements.rank > 1 && !facts.coordinates)
      look_.suspects.push_back("'" + path + "' is a dimension scale with more than one dimension");
    if (elements.kind == Hdf5Library::time) look_.suspects.push_back("'" + path + "' has elements of the class time");
    if (facts.is_scale) {
      link.is_named = last_segment(path) == facts.name;
      scales_[object].push_back(std::move(link));
    }
    NetcdfLook::Variable variable{
        .stored = stored, .elements = elements.description() + kNoType, .fault = fault(elements)};
    variable.is_lost = elements.is_text() && !elements.is_null && !variable.fault.empty();
    if (!facts.table.empty()) {
      variable.fault = "its attribute '" + facts.table +
                       "' has more than one dimension, and libnetcdf reads nothing of " +
                       "such a variable; read it with h5py, or remove the attribute from a copy of the file";
      variable.is_lost = elements.is_number() || elements.is_text();
    }
    // What only claims to be a dimension may be a variable for libnetcdf.
    if (facts.is_scale && facts.name.starts_with(kOnlyDimension) && elements.is_number() && variable.fault.empty())
      return {};
    variable.is_fixed_text = elements.is_text() && !elements.is_variable && elements.size > 1;
    for (const std::uint64_t each : facts.scales) references_.emplace_back(each, path);
    variable.lengths.resize(static_cast<std::size_t>(elements.rank));
    std::vector<Hdf5Library::Size> lengths(variable.lengths.size()), longest(variable.lengths.size());
    if (!lengths.empty()) hdf5_.H5Sget_simple_extent_dims(space.id(), lengths.data(), longest.data());
    variable.lengths.assign(lengths.begin(), lengths.end());
    if (look_.variables.try_emplace(path, std::move(variable)).second) return {};
    return unsupported("'" + path + "' has the name of '" + std::string(kHomonym) + std::string(last_segment(path)) +
                       "' for libnetcdf, which mixes them up" + std::string(kInstead));
  }

  /// What makes libnetcdf crash, or fail without naming the dataset; empty if there is nothing.
  [[nodiscard]] std::string_view trouble_of(const Facts& facts, const Elements& elements, bool has_text_fill) const {
    const auto rank = static_cast<std::uint64_t>(elements.rank);
    if (facts.is_scale && rank == 0) return "is a dimension scale without a dimension, on which libnetcdf crashes";
    if (facts.is_list_odd || facts.list_length.value_or(rank) != rank)
      return "has an attribute DIMENSION_LIST that is not a list of its scales, on which libnetcdf crashes";
    // libnetcdf reads both into memory for such numbers, whatever they are.
    const auto& ids = facts.coordinates;
    if (ids && (ids->kind != Hdf5Library::integer || ids->size != sizeof(int) || ids->count != rank))
      return "has an attribute _Netcdf4Coordinates that is not one 32-bit integer per dimension, on which libnetcdf "
             "crashes "
             "or fails";
    if (facts.is_scale && facts.is_number_odd)
      return "has an attribute _Netcdf4Dimid that is not one number, on which libnetcdf crashes or fails";
    if (has_text_fill) return "has texts of fixed length with a fill value, on which libnetcdf crashes";
    if (elements.is_null && !is_first_) return "has no elements at all (a null dataspace), on which libnetcdf crashes";
    return {};
  }

  /// libnetcdf takes the bytes of such a fill value for a pointer.
  [[nodiscard]] bool has_text_fill(Id dataset, Id type, const Elements& elements) const {
    if (!elements.is_text() || elements.is_variable || elements.size < 2 || elements.size > limits_.element_bytes)
      return false;
    const Hdf5Handle properties(hdf5_.H5Dget_create_plist(dataset), hdf5_.H5Pclose);
    int how = 0;
    if (hdf5_.H5Pfill_value_defined(properties.id(), &how) < 0 || how != Hdf5Library::kFillIsGiven) return false;
    std::string fill(elements.size, '\0');
    return hdf5_.H5Pget_fill_value(properties.id(), type, fill.data()) < 0 ||
           fill.find_first_not_of('\0') != std::string::npos;
  }

  /// Whether an attribute can be a list of the scales of each dimension.
  [[nodiscard]] bool is_list_of_scales(Id type, const Elements& elements) const {
    if (elements.kind != Hdf5Library::ragged || elements.rank != 1) return false;
    const Hdf5Handle of(hdf5_.H5Tget_super(type), hdf5_.H5Tclose);
    return hdf5_.H5Tget_class(of.id()) == Hdf5Library::reference;
  }

  /// The addresses of the scales in a list.
  [[nodiscard]] std::vector<std::uint64_t> scales_in(Id attribute, Id type, const Elements& elements) const {
    struct Ragged {
      std::size_t size;
      std::uint64_t* addresses;
    };
    constexpr std::uint64_t kMostDimensions = 32;
    std::vector<std::uint64_t> all;
    const Hdf5Handle of(hdf5_.H5Tget_super(type), hdf5_.H5Tclose);
    if (elements.count > kMostDimensions || hdf5_.H5Tget_size(of.id()) != sizeof(std::uint64_t)) return all;
    std::vector<Ragged> lists(elements.count);
    if (lists.empty() || hdf5_.H5Aread(attribute, type, lists.data()) < 0) return all;
    for (const Ragged& each : lists) {
      all.insert(all.end(), each.addresses, each.addresses + each.size);
      hdf5_.H5free_memory(each.addresses);
    }
    return all;
  }

  void suspect_lost_scales() {
    std::set<std::uint64_t> addresses;
    for (const auto& [object, links] : scales_) addresses.insert(object[2]);
    std::set<std::string> paths;
    for (const auto& [address, path] : references_)
      if (!addresses.contains(address) && paths.insert(path).second)
        look_.suspects.push_back("'" + path +
                                 "' has an attribute DIMENSION_LIST that refers to no dimension scale of the file");
  }

  /// Why libnetcdf may not read elements that it lists.
  [[nodiscard]] std::string fault(const Elements& elements) const {
    if (elements.is_null) return "it has no elements at all (a null dataspace)";
    if (elements.is_number() && elements.size > kLargestNumber)
      return "its elements are " + elements.description() + ", which libnetcdf misreads";
    if (elements.is_text() && elements.size > limits_.element_bytes)
      return "its texts have " + std::to_string(elements.size) + " bytes each, which exceeds the limit element_bytes";
    return {};
  }

  Facts attributes(Id object, const std::string& path) {
    Names names;
    const auto visit = [](Id, const char* name, const void*, void* to) { return add_name(name, to); };
    constexpr int kCreated = 1, kName = 0, kIncreasing = 0;
    if (hdf5_.H5Aiterate2(object, kCreated, kIncreasing, nullptr, visit, &names) < 0) {
      names.clear();
      hdf5_.H5Aiterate2(object, kName, kIncreasing, nullptr, visit, &names);
    }
    Facts facts;
    std::vector<NetcdfLook::Attribute> listed;
    for (const std::string& name : names) {
      const Hdf5Handle attribute(hdf5_.H5Aopen(object, name.c_str(), 0), hdf5_.H5Aclose);
      if (loads_) Hdf5Ranges::load_attribute(hdf5_, attribute.id(), limits_.metadata_bytes);
      const Hdf5Handle type(hdf5_.H5Aget_type(attribute.id()), hdf5_.H5Tclose);
      const Hdf5Handle space(hdf5_.H5Aget_space(attribute.id()), hdf5_.H5Sclose);
      const Elements elements = Hdf5Elements::of(hdf5_, type.id(), space.id());
      if (name == "CLASS") facts.is_scale = text(attribute.id(), type.id(), elements) == "DIMENSION_SCALE";
      if (name == "NAME") facts.name = text(attribute.id(), type.id(), elements);
      if (name == "_Netcdf4Coordinates") facts.coordinates = elements;
      if (name == "_Netcdf4Dimid") facts.is_number_odd = !elements.is_number() || elements.count != 1;
      if (name == "DIMENSION_LIST") {
        facts.is_list_odd = !is_list_of_scales(type.id(), elements);
        facts.list_length = elements.count;
        if (!facts.is_list_odd) facts.scales = scales_in(attribute.id(), type.id(), elements);
      }
      if (std::ranges::find(kHidden, name) != kHidden.end()) continue;
      const bool is_table = elements.is_number() && elements.rank > 1;
      if (is_table) facts.table = name;
      listed.push_back({name, is_table ? "it has " + std::to_string(elements.rank) + " dimensions"
                                       : "its values are " + elements.description() + kNoType});
    }
    look_.listed.insert_or_assign(path, std::move(listed));
    return facts;
  }

  /// The attributes that netCDF has types for.
  Result<std::vector<Attribute>> read_attributes(Id object, const std::vector<NetcdfLook::Attribute>& listed) const {
    std::vector<Attribute> all;
    for (const NetcdfLook::Attribute& each : listed) {
      const Hdf5Handle attribute(hdf5_.H5Aopen(object, each.name.c_str(), 0), hdf5_.H5Aclose);
      const Hdf5Handle type(hdf5_.H5Aget_type(attribute.id()), hdf5_.H5Tclose);
      const Hdf5Handle space(hdf5_.H5Aget_space(attribute.id()), hdf5_.H5Sclose);
      const Elements elements = Hdf5Elements::of(hdf5_, type.id(), space.id());
      const bool is_number = elements.is_number() && elements.size <= kLargestNumber && elements.rank < 2;
      if (!is_number && !elements.is_text()) continue;
      const auto bytes = checked_mul(elements.count, std::max(elements.size, sizeof(std::string)));
      if (!bytes || *bytes > limits_.metadata_bytes)
        return unsupported("the attribute '" + each.name + "' has " + std::to_string(elements.count) +
                           " values, which exceeds the limit metadata_bytes");
      Attribute read{.name = each.name, .values = netcdf::no_values(elements.number())};
      const bool is_read = is_number ? read_hdf5_numbers(hdf5_, attribute.id(), elements, read.values)
                                     : read_hdf5_texts(hdf5_, attribute.id(), type.id(), elements, read);
      if (!is_read) return corrupt("the attribute '" + each.name + "' cannot be read by libhdf5");
      all.push_back(std::move(read));
    }
    return all;
  }

  /// A text that describes a dimension scale; empty if it is not a single one of fixed length.
  [[nodiscard]] std::string text(Id attribute, Id type, const Elements& elements) const {
    constexpr std::size_t kLongest = 1024;
    Attribute read;
    const bool is_single = elements.is_text() && !elements.is_variable && elements.count == 1;
    if (!is_single || elements.size > kLongest || !read_hdf5_texts(hdf5_, attribute, type, elements, read)) return {};
    const auto* found = std::get_if<std::string>(&read.values);
    return found != nullptr ? *found : std::get<Names>(read.values).front();
  }

  /// Decides by which of its links a dimension scale is read. Links elsewhere in the tree are other dimensions.
  void choose_link(const std::vector<ScaleLink>& links) {
    const auto rank = [](const ScaleLink& link) {
      return std::tuple(link.is_named, link.is_hard, -std::ranges::count(link.path, '/'));
    };
    const ScaleLink& first = *std::ranges::max_element(links, {}, rank);
    const std::string group = netcdf::member_path(group_path_of(first.path), "");
    for (const ScaleLink& each : links) {
      if (each.path == first.path || !each.path.starts_with(group)) continue;
      look_.second_links.emplace(each.path, first.path);
      const auto variable = look_.variables.find(each.path);
      if (variable == look_.variables.end()) continue;
      variable->second.fault = "it is a second link to '" + first.path + "', which is read once";
      variable->second.is_lost = false;
    }
  }

  const Hdf5Library& hdf5_;
  const Config& config_;
  const Limits& limits_;
  NetcdfLock& lock_;
  bool is_first_;
  bool loads_ = false;  ///< everything that libnetcdf may read
  std::uint64_t groups_ = 0, links_ = 0;
  NetcdfLook look_;
  std::vector<Hdf5Identity> above_;  ///< the groups on the way to the present one
  std::map<Hdf5Identity, std::vector<ScaleLink>> scales_;
  std::vector<std::pair<std::uint64_t, std::string>> references_;  ///< the address of a scale, and who refers to it
};

}  // namespace

Result<NetcdfLook> NetcdfLook::take(const NetcdfLibrary& library, const OpenNetcdfFile& file, const Config& config,
                                    NetcdfLock& lock) {
  SHERD_TRY(hdf5, library.hdf5());
  return Look(library, *hdf5, config, lock).run(file.path, file.ranges.get());
}

}  // namespace sherd

#endif
