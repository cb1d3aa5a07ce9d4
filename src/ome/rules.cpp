// OME-NGFF's rules for the metadata of one group, from the specification and the validators of ome-zarr-models.
// Violations that a validator only warns of, or does not check, are warnings here.
#include "ome/rules.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "ome/early.hpp"
#include "store/key.hpp"

namespace sherd {
namespace {

using Scale = std::vector<double>;

std::string named(const Json* json) {
  return json == nullptr ? "missing" : json->is_string() ? "'" + json->text() + "'" : json->dump();
}

class ImageRules {
 public:
  ImageRules(const Json& members, OmeFindings& to) : members_(members), to_(to) {}

  void check() {
    const Json& all = *members_.find("multiscales");
    if (!all.is_array() || all.size() == 0) return to_.error("multiscales", "must be a list of images, and not empty");
    for (std::size_t i = 0; i < all.size(); ++i) image(all.elements()[i], indexed("multiscales", i));
    if (!is_absent(members_, "omero")) omero(*members_.find("omero"));
  }

 private:
  void image(const Json& image, const std::string& member) {
    if (!image.is_object()) return to_.error(member, "must be an object");
    version(image, member);
    const std::size_t rank = axes(image.find("axes"), member + ".axes");
    const Json* datasets = image.find("datasets");
    if (datasets == nullptr || !datasets->is_array() || datasets->size() == 0)
      return to_.error(member + ".datasets", "must be a list of resolutions, and not empty");
    std::optional<Scale> finer;
    for (std::size_t i = 0; i < datasets->size(); ++i) {
      const Json& dataset = datasets->elements()[i];
      const std::string each = indexed(member + ".datasets", i);
      if (text_of(dataset, "path") == nullptr || text_of(dataset, "path")->empty())
        to_.error(each + ".path", "must be the path of an array");
      auto scale = transforms(dataset.find("coordinateTransformations"), each + ".coordinateTransformations", rank);
      if (scale && finer && !is_coarser(*scale, *finer))
        to_.error(each + ".coordinateTransformations",
                  "has a smaller scale than the resolution before it; resolutions are ordered from fine to coarse");
      if (scale) finer = std::move(scale);
    }
    if (!is_absent(image, "coordinateTransformations"))
      transforms(image.find("coordinateTransformations"), member + ".coordinateTransformations", rank);
  }

  void version(const Json& image, const std::string& member) {
    if (!to_.is_old() || is_absent(image, "version")) return;
    if (text_of(image, "version") == nullptr || *text_of(image, "version") != "0.4")
      to_.error(member + ".version", "must be 0.4, not " + named(image.find("version")));
  }

  static bool is_coarser(const Scale& coarse, const Scale& fine) {
    for (std::size_t d = 0; d < std::min(coarse.size(), fine.size()); ++d)
      if (coarse[d] < fine[d]) return false;
    return true;
  }

  // The number of axes; 0 if unknown.
  std::size_t axes(const Json* list, const std::string& member) {
    if (list == nullptr || !list->is_array()) {
      to_.error(member, "must be a list of axes");
      return 0;
    }
    if (list->size() < 2 || list->size() > 5)
      to_.error(member, "has " + std::to_string(list->size()) + " axes; an image has 2 to 5");
    std::set<std::string> names;
    std::vector<std::string> types;
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Json& axis = list->elements()[i];
      const std::string* name = text_of(axis, "name");
      const std::string* type = text_of(axis, "type");
      if (name == nullptr)
        to_.error(indexed(member, i) + ".name", "must be text");
      else if (!names.insert(*name).second)
        to_.error(indexed(member, i) + ".name", "'" + *name + "' is used twice");
      if (!is_absent(axis, "type") && type == nullptr) to_.error(indexed(member, i) + ".type", "must be text");
      types.push_back(type == nullptr ? "" : *type);
    }
    order(types, member);
    return list->size();
  }

  void order(const std::vector<std::string>& types, const std::string& member) {
    const auto count = [&](std::string_view type) { return std::ranges::count(types, type); };
    const auto space = count("space"), time = count("time"), channel = count("channel");
    const auto size = std::ssize(types);
    if (space < 2 || space > 3)
      to_.error(member, "has " + std::to_string(space) + " axes of the type space; an image has 2 or 3");
    if (time > 1) to_.error(member, "has more than one axis of the type time");
    if (channel > 1) to_.error(member, "has more than one axis of the type channel");
    if (size - space - time - channel > 1) to_.error(member, "has more than one axis of another type");
    const auto is_space = [](const std::string& type) { return type == "space"; };
    if (!std::all_of(types.end() - space, types.end(), is_space))
      to_.error(member, "must end with the axes of the type space");
    if (time == 1 && types.front() != "time") to_.error(member, "must begin with the axis of the type time");
  }

  // A scale, optionally followed by a translation; returns the scale if it is known.
  std::optional<Scale> transforms(const Json* list, const std::string& member, std::size_t rank) {
    const std::size_t count = list == nullptr || !list->is_array() ? 0 : list->size();
    std::vector<std::string> types;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string* type = text_of(list->elements()[i], "type");
      types.push_back(type == nullptr ? "" : *type);
    }
    if (types != std::vector<std::string>{"scale"} && types != std::vector<std::string>{"scale", "translation"}) {
      to_.error(member, "must be one scale, and perhaps one translation after it");
      return std::nullopt;
    }
    std::optional<Scale> scale;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string each = indexed(member, i);
      auto values = vector_of(list->elements()[i], types[i], {each, rank});
      if (types[i] != "scale") continue;
      for (const double value : values.value_or(Scale()))
        if (!(value > 0)) to_.warning(each + ".scale", "has a number that is not positive");
      scale = std::move(values);
    }
    return scale;
  }

  struct Where {
    std::string member;
    std::size_t rank;
  };

  std::optional<Scale> vector_of(const Json& step, const std::string& type, const Where& where) {
    const Json* list = step.find(type);
    const bool is_path =
        type == "scale" ? list == nullptr && text_of(step, "path") != nullptr : list != nullptr && list->is_string();
    if (is_path) {
      to_.warning(where.member, "refers to numbers in an array, which Sherd does not read");
      return std::nullopt;
    }
    Scale values;
    if (list != nullptr && list->is_array())
      for (const Json& each : list->elements())
        if (const auto value = each.as_double()) values.push_back(*value);
    if (list == nullptr || !list->is_array() || values.size() != list->size()) {
      to_.error(where.member + "." + type, "must be a list of numbers");
      return std::nullopt;
    }
    if (where.rank != 0 && values.size() != where.rank)
      to_.error(where.member + "." + type,
                "has " + std::to_string(values.size()) + " numbers for " + std::to_string(where.rank) + " axes");
    return values;
  }

  // 0.5 describes `omero` as transitional, and its validators do not check it.
  void omero(const Json& omero) {
    const auto wrong = [&](const std::string& member, std::string message) {
      if (to_.is_old())
        to_.error(member, std::move(message));
      else
        to_.warning(member, std::move(message));
    };
    const Json* channels = omero.find("channels");
    if (channels == nullptr || !channels->is_array()) return wrong("omero.channels", "must be a list of channels");
    for (std::size_t i = 0; i < channels->size(); ++i) {
      const Json& channel = channels->elements()[i];
      const std::string member = indexed("omero.channels", i);
      if (const std::string* colour = text_of(channel, "color"); colour == nullptr || !has_colour(*colour))
        wrong(member + ".color", "must be six hexadecimal digits, as in 00FF00");
      const Json* window = channel.find("window");
      if (window == nullptr || !window->is_object()) {
        wrong(member + ".window", "must be an object");
        continue;
      }
      for (const char* name : {"min", "max", "start", "end"})
        if (const Json* value = window->find(name); value == nullptr || !value->is_number())
          wrong(member + ".window." + name, "must be a number");
    }
  }

  static bool has_colour(const std::string& text) {
    std::size_t digits = 0;
    for (const unsigned char c : text) {
      digits = std::isxdigit(c) != 0 ? digits + 1 : 0;
      if (digits == 6) return true;
    }
    return false;
  }

  const Json& members_;
  OmeFindings& to_;
};

// The values to which an object of `image-label` refers; each entry must have one.
std::vector<std::int64_t> label_values(const Json& list, const std::string& member, OmeFindings& to) {
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Json* value = list.elements()[i].find("label-value");
    const auto number = value == nullptr ? std::nullopt : value->as_int();
    if (number)
      values.push_back(*number);
    else if (value == nullptr || !value->as_uint())
      to.error(indexed(member, i) + ".label-value", "must be an integer");
    else
      values.push_back(static_cast<std::int64_t>(*value->as_uint()));
  }
  return values;
}

void check_colour(const Json& entry, const std::string& member, OmeFindings& to) {
  const Json* rgba = entry.find("rgba");
  if (rgba != nullptr && rgba->is_null()) return;
  const auto is_byte = [](const Json& value) { return value.as_uint().value_or(256) < 256; };
  if (rgba == nullptr || rgba->elements().size() != 4 || !std::ranges::all_of(rgba->elements(), is_byte))
    to.error(member + ".rgba", "must be four integers from 0 to 255");
}

void check_image_label(const Json& label, OmeFindings& to) {
  const std::string member(kImageLabel);
  if (!label.is_object()) return to.error(member, "must be an object");
  const std::string_view version = to.is_old() ? "0.4" : "0.5";
  if (!is_absent(label, "version") && (text_of(label, "version") == nullptr || *text_of(label, "version") != version))
    to.error(member + ".version", "must be " + std::string(version) + ", not " + named(label.find("version")));
  const auto list = [&](const char* name) -> const Json* {
    if (is_absent(label, name)) return nullptr;
    if (label.find(name)->is_array()) return label.find(name);
    to.error(member + "." + name, "must be a list");
    return nullptr;
  };
  const Json* colours = list("colors");
  const Json* properties = list("properties");
  std::vector<std::int64_t> of_colours, of_properties;
  if (colours != nullptr) {
    of_colours = label_values(*colours, member + ".colors", to);
    for (std::size_t i = 0; i < colours->size(); ++i)
      check_colour(colours->elements()[i], indexed(member + ".colors", i), to);
    std::ranges::sort(of_colours);
    if (std::ranges::adjacent_find(of_colours) != of_colours.end())
      to.error(member + ".colors", "has two colours of one label");
  }
  if (properties != nullptr) of_properties = label_values(*properties, member + ".properties", to);
  if (colours != nullptr && properties != nullptr &&
      std::set(of_colours.begin(), of_colours.end()) != std::set(of_properties.begin(), of_properties.end()))
    to.error(member, "has colours and properties of different labels");
  if (is_absent(label, "source")) return;
  const Json& source = *label.find("source");
  if (!source.is_object() || (!is_absent(source, "image") && text_of(source, "image") == nullptr))
    to.error(member + ".source", "must be an object, and its member image text");
}

void check_list_of_labels(const Json& list, OmeFindings& to) {
  const auto is_text = [](const Json& each) { return each.is_string(); };
  if (!list.is_array() || !std::ranges::all_of(list.elements(), is_text))
    to.error("labels", "must be a list of the names of groups");
}

// Whether a text is a version after 0.5, such as 0.6 or 1.0.
bool is_later(std::string_view version) {
  const std::string_view major = version.substr(0, version.find('.'));
  const auto is_number = [](std::string_view text) {
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_number(major) || major.size() == version.size()) return false;
  const std::string_view rest = version.substr(major.size() + 1);
  const std::string_view minor = rest.substr(0, rest.find_first_not_of("0123456789"));
  return is_number(minor) && (std::stoul(std::string(major)) > 0 || std::stoul(std::string(minor)) > 5);
}

// Whether the rules of this version are checked.
bool check_version(const Json& members, OmeFindings& to) {
  if (to.is_old()) return true;
  const std::string* version = text_of(members, "version");
  if (version != nullptr && *version == "0.5") return true;
  if (version == nullptr || !is_later(*version))
    to.error("version", "must be 0.5, not " + named(members.find("version")));
  else
    to.warning("version", "is " + *version + "; Sherd checks the rules of 0.4 and 0.5 only");
  return version == nullptr;
}

// Whether an attribute of this name was meant to be metadata of OME-NGFF 0.4. Other conventions have objects called
// `multiscales`, and `plate` and `well` are common words.
bool is_meant_for_ome(std::string_view name, const Json& value, const std::string& path) {
  if (name == "labels") return split_key(path).name == "labels";
  if (name == "plate" || name == "well") return !is_absent(value, "version");
  return name != "multiscales" || !value.is_object() || value.members().empty() || value.find("datasets") != nullptr;
}

// Warns of attributes of Zarr v2 that are named like metadata of OME-NGFF and are something else.
void check_other_attributes(const Json& attributes, const std::string& path, OmeFindings& to) {
  constexpr std::pair<std::string_view, const char*> kMembers[] = {{"multiscales", "a list of images with datasets"},
                                                                   {kImageLabel, "an object"},
                                                                   {"labels", "a list of names"},
                                                                   {"plate", "a plate with wells"},
                                                                   {"well", "a well with images"}};
  for (const auto& [name, what] : kMembers) {
    if (is_absent(attributes, name) || is_ome_member(attributes, name, path)) continue;
    if (is_meant_for_ome(name, *attributes.find(name), path))
      to.warning(std::string(name), std::string("is not ") + what + ", and so is not OME-NGFF's");
  }
}

}  // namespace

std::vector<OmeFinding> check_ome(const Json& attributes, std::string_view version, const std::string& path) {
  const auto group = ome_group(attributes, path);
  const bool is_old = attributes.find("ome") == nullptr;
  OmeFindings to(group ? group->prefix : "", is_old);
  if (is_old && version == "0.4") check_other_attributes(attributes, path, to);
  if (!group) {
    if (const Json* ome = attributes.find("ome"); ome != nullptr && !ome->is_object() && version != "0.4")
      to.warning("ome", "is not an object, and so is not OME-NGFF's");
    return to.take();
  }
  if (group->is_old != (version == "0.4"))
    to.error(
        group->is_old ? "multiscales" : "version",
        group->is_old
            ? "OME-NGFF 0.4 and before are metadata of Zarr v2; groups of this format have 0.5, in the attribute ome"
            : "OME-NGFF 0.5 is metadata of Zarr v3; groups of Zarr v2 have 0.4, without the attribute ome");
  const Json& members = ome_members(attributes);
  if (const auto early = early_ome(attributes)) {
    to.warning(early->member,
               (early->version.empty() ? "is missing, and the image is older than 0.4" : "is " + early->version) +
                   "; Sherd checks the rules of 0.4 and 0.5 only; a copy in Zarr v3 has 0.5 (sherd copy --to zarr3)");
    return to.take();
  }
  if (!check_version(members, to)) return to.take();
  const auto find = [&](std::string_view name) {
    return is_ome_member(attributes, name, path) ? members.find(name) : nullptr;
  };
  if (find("multiscales") != nullptr)
    ImageRules(members, to).check();
  else if (find(kImageLabel) != nullptr)
    to.error("multiscales", "is missing: labels are an image");
  else if (!group->is_old && find("omero") != nullptr)
    to.error("multiscales", "is missing: omero describes the channels of an image");
  if (const Json* label = find(kImageLabel)) check_image_label(*label, to);
  if (const Json* plate = find("plate")) check_plate(*plate, to);
  if (const Json* well = find("well")) check_well(*well, to);
  if (const Json* labels = find("labels")) check_list_of_labels(*labels, to);
  if (const Json* layout = find("bioformats2raw.layout"); layout != nullptr && layout->as_uint() != 3)
    to.error("bioformats2raw.layout", "must be 3");
  return to.take();
}

}  // namespace sherd
