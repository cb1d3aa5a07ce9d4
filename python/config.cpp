// The settings by their Python names, and the values that each accepts: one table, one row per setting.
#include "python/config.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "api/process_options.hpp"
#include "api/registry.hpp"
#include "python/bindings.hpp"
#include "python/credentials.hpp"

namespace sherd::python {
namespace {

/// The default settings of the process: the attributes of sherd.config.
struct Defaults {
  Config config;
};

struct Setting {
  const char* name;
  const char* type;  ///< for type checkers
  nb::object (*get)(const Config&);
  void (*set)(Config&, nb::handle);
  const char* doc;
};

Exception wrong_value(nb::handle value, const std::string& wanted) {
  return Exception(invalid_argument("must be " + wanted + ", not " + quoted(value)));
}

template <class T>
T to_count(nb::handle value, T most = std::numeric_limits<T>::max()) {
  if (PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr())) {
    const nb::object integer = nb::steal(PyNumber_Index(value.ptr()));
    const unsigned long long number = integer.is_valid() ? PyLong_AsUnsignedLongLong(integer.ptr()) : 0;
    if (PyErr_Occurred() == nullptr && number <= most) return static_cast<T>(number);
    PyErr_Clear();
  }
  throw wrong_value(value, "an int from 0 to " + std::to_string(most));
}

template <auto member>
nb::object get(const Config& config) {
  return nb::cast(config.*member);
}
template <auto member>
void set_count(Config& config, nb::handle value) {
  config.*member = to_count<std::remove_reference_t<decltype(config.*member)>>(value);
}
template <auto member>
void set_bool(Config& config, nb::handle value) {
  if (!PyBool_Check(value.ptr())) throw wrong_value(value, "True or False");
  config.*member = value.ptr() == Py_True;
}
template <auto member>
nb::object get_optional(const Config& config) {
  return config.*member ? nb::object(nb::int_(*(config.*member))) : nb::none();
}
template <auto member>
void set_optional(Config& config, nb::handle value) {
  if (value.is_none())
    (config.*member).reset();
  else
    config.*member = to_count<std::uint64_t>(value);
}

// The names of enumeration values, in the order of the enumeration.
constexpr std::array kOrders{"C", "F"};
constexpr std::array kCacheModes{"index", "shard", "chunks"};
constexpr std::array kChunkOrders{"c", "f", "morton", "arrival"};
constexpr std::array kUpdates{"auto", "rewrite", "append", "in_place"};
constexpr std::array kLayouts{"plain", "zarr+neuroglancer"};
constexpr std::array kLocking{"auto", "none"};

Exception for_later(const std::string& what) {
  return Exception(unsupported(what + " is not supported by this version"));
}

bool is_text(nb::handle value, const char* text) {
  return PyUnicode_Check(value.ptr()) && PyUnicode_CompareWithASCIIString(value.ptr(), text) == 0;
}

template <auto member, const auto& names>
nb::object get_name(const Config& config) {
  return nb::str(names[static_cast<std::size_t>(config.*member)]);
}
template <auto member, const auto& names>
void set_name(Config& config, nb::handle value) {
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_text(value, names[i])) {
      config.*member = static_cast<std::remove_reference_t<decltype(config.*member)>>(i);
      return;
    }
    known += (i == 0 ? "\"" : "or \"") + std::string(names[i]) + (i + 1 < names.size() ? "\" " : "\"");
  }
  throw wrong_value(value, known);
}

void set_layout(Config& config, nb::handle value) {
  if (is_text(value, "hdf5")) throw for_later("\"hdf5\"");
  set_name<&Config::layout, kLayouts>(config, value);
}

void set_share(Config& config, nb::handle value) {
  const double share = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr || !(share >= 0 && share <= 1)) {
    PyErr_Clear();
    throw wrong_value(value, "a number from 0 to 1");
  }
  config.max_unused = share;
}

nb::object get_slack(const Config& config) {
  return config.slack.share > 0 ? nb::object(nb::float_(config.slack.share)) : nb::object(nb::int_(config.slack.bytes));
}
void set_slack(Config& config, nb::handle value) {
  if (!PyFloat_Check(value.ptr())) {
    config.slack = {.bytes = to_count<std::uint64_t>(value)};
    return;
  }
  const double share = PyFloat_AsDouble(value.ptr());
  if (!(share >= 0 && share <= 1)) throw wrong_value(value, "a number of bytes, or a share from 0.0 to 1.0");
  config.slack = {.share = share};
}

void set_lock_timeout(Config& config, nb::handle value) {
  const double seconds = value.is_none() ? std::numeric_limits<double>::infinity() : PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr || PyBool_Check(value.ptr()) || !(seconds >= 0)) {
    PyErr_Clear();
    throw wrong_value(value, "a number of seconds, 0 or more, or None for no limit");
  }
  config.lock_timeout = seconds;
}

nb::object get_lock_timeout(const Config& config) {
  return std::isinf(config.lock_timeout) ? nb::none() : nb::object(nb::float_(config.lock_timeout));
}

void set_gzip_level(Config& config, nb::handle value) {
  config.gzip_level = value.is_none() ? std::nullopt : std::optional<int>(to_count<std::uint8_t>(value, 9));
}

/// sherd._limits.Limits: a mapping that can be assigned only as a whole; changing a member would have no effect, so it
/// is an error.
nb::object limits_class() { return nb::module_::import_("sherd._limits").attr("Limits"); }

nb::object get_limits(const Config& config) {
  nb::dict limits;
  for (const auto& [name, value] : config.limits.entries()) limits[nb::str(name.data(), name.size())] = value;
  return limits_class()(limits);
}
void set_limits(Config& config, nb::handle value) {
  if (!PyDict_Check(value.ptr()) && !nb::isinstance(value, limits_class()))
    throw wrong_value(value, "a dict of limits by name");
  for (const nb::handle item : nb::object(value.attr("items")()))
    config.limits.set(text_of(item[0], "a limit's name"), to_count<std::uint64_t>(item[1])).value();
}

nb::object get_storage_options(const Config& config) {
  nb::dict options;
  for (const auto& [name, value] : config.storage_options)
    options[nb::str(name.data(), name.size())] = nb::str(value.data(), value.size());
  return options;
}
/// What replaces the options of fsspec and gcsfs that are dicts.
constexpr std::pair<std::string_view, std::string_view> kInsteadOfDicts[] = {
    {"client_kwargs",
     "options have names of their own, such as endpoint_url, region, verify as ca_bundle, and headers"},
    {"config_kwargs", "options have names of their own, such as addressing_style, proxy, timeout and attempts"},
    {"s3_additional_kwargs", "the option requester_pays is the one that Sherd has"},
    {"token", "service accounts are not supported: give an OAuth access token, or a callback as `credentials`"},
};

// The value may be secret.
Exception wrong_option(const std::string& name, nb::handle option) {
  std::string message = "option '" + name + "' cannot be a " + Py_TYPE(option.ptr())->tp_name;
  if (const auto* const found =
          std::ranges::find(kInsteadOfDicts, name, &std::pair<std::string_view, std::string_view>::first);
      found != std::end(kInsteadOfDicts))
    return Exception(invalid_argument(message + ": " + std::string(found->second)));
  return Exception(invalid_argument(message + "; it must be a str, a number, True or False"));
}

// True and False become what the stores expect, a dict of headers becomes lines; everything else is converted by str().
std::string option_text(const std::string& name, nb::handle option) {
  if (PyBool_Check(option.ptr())) return option.ptr() == Py_True ? "true" : "false";
  if (PyDict_Check(option.ptr()) && name == "headers") {
    std::string lines;
    for (const auto& [header, value] : nb::borrow<nb::dict>(option))
      lines += text_of(header, "a header's name") + ": " + text_of(value, "a header's value") + "\n";
    return lines;
  }
  const bool is_plain = PyUnicode_Check(option.ptr()) || PyLong_Check(option.ptr()) || PyFloat_Check(option.ptr());
  if (!is_plain) throw wrong_option(name, option);
  return nb::cast<std::string>(nb::str(option));
}

/// The member of the settings in a pickle whose options are added to those of the process that loads it.
constexpr const char* kPickledOptions = "pickled_storage_options";
/// Stores of files have no secrets, and their options are complete.
const char* member_of_options(std::string_view url) {
  return url.starts_with("file:") ? "storage_options" : kPickledOptions;
}

nb::dict public_options(const std::map<std::string, std::string>& options) {
  nb::dict kept;
  for (const auto& [name, value] : options)
    if (is_public_option(name, value)) kept[nb::str(name.data(), name.size())] = nb::str(value.data(), value.size());
  return kept;
}

void set_storage_options(Config& config, nb::handle value) {
  if (!PyDict_Check(value.ptr())) throw wrong_value(value, "a dict of options by name");
  std::map<std::string, std::string> options;
  std::function<Result<Credentials>()> credentials;
  for (const auto& [key, option] : nb::borrow<nb::dict>(value)) {
    const std::string name = text_of(key, "an option's name");
    if (name == "credentials")
      credentials = credentials_from(option);
    else if (!option.is_none())
      options.insert_or_assign(name, option_text(name, option));
  }
  config.storage_options = std::move(options);
  config.credentials = std::move(credentials);
}

constexpr Setting kSettings[] = {
    {"threads", "int", get<&Config::threads>, set_count<&Config::threads>,
     "Threads that one call uses; 0: one per core, or more for writes that wait for a disk."},
    {"memory_budget", "int", get<&Config::memory_budget>, set_count<&Config::memory_budget>,
     "Bytes in flight in one call: encoded chunks and scratch, not the result."},
    {"cache", "typing.Literal['index', 'shard', 'chunks']", get_name<&Config::cache, kCacheModes>,
     set_name<&Config::cache, kCacheModes>,
     "What a handle keeps between calls: \"index\" (of shards), \"shard\" (also whole encoded shards) or \"chunks\" "
     "(also decoded chunks)."},
    {"cache_bytes", "int", get<&Config::cache_bytes>, set_count<&Config::cache_bytes>, "Bytes that a handle may keep."},
    {"coalesce_gap", "int | None", get_optional<&Config::coalesce_gap>, set_optional<&Config::coalesce_gap>,
     "Reads closer together than this many bytes become one; None: the store's own."},
    {"tail_read_bytes", "int | None", get_optional<&Config::tail_read_bytes>, set_optional<&Config::tail_read_bytes>,
     "Objects no larger than this are read whole at the first request; None: the store's own."},
    {"parallel_requests", "int", get<&Config::parallel_requests>, set_count<&Config::parallel_requests>,
     "Requests to a remote store that one call has under way; 0: as many as the store likes."},
    {"write_empty_chunks", "bool", get<&Config::write_empty_chunks>, set_bool<&Config::write_empty_chunks>,
     "Store chunks that equal the fill value, too."},
    {"durable", "bool", get<&Config::durable>, set_bool<&Config::durable>, "Flush files and directories to the disk."},
    {"missing_is_error", "bool", get<&Config::missing_is_error>, set_bool<&Config::missing_is_error>,
     "A missing chunk is NotFound, not the fill value."},
    {"follow_symlinks", "bool", get<&Config::follow_symlinks>, set_bool<&Config::follow_symlinks>,
     "Follow symbolic links inside a store."},
    {"lock_timeout", "float | None", get_lock_timeout, set_lock_timeout,
     "How many seconds to wait for a lock that another writer holds, before Unavailable is raised; None: no limit. "
     "Default: 600. Taken when a handle is opened."},
    {"lock", "typing.Literal['auto', 'none']", get_name<&Config::lock, kLocking>, set_name<&Config::lock, kLocking>,
     "Whether writers of files lock what they change; with \"none\" the caller promises one writer of each shard (or "
     "unsharded chunk, or document) at a time, as file systems without locks need it. Taken when a handle is opened."},
    {"order", "typing.Literal['C', 'F']", get_name<&Config::order, kOrders>, set_name<&Config::order, kOrders>,
     "The memory order of returned arrays: \"C\" or \"F\"."},
    {"chunk_order", "typing.Literal['c', 'f', 'morton', 'arrival']", get_name<&Config::chunk_order, kChunkOrders>,
     set_name<&Config::chunk_order, kChunkOrders>,
     "The order of inner chunks in a new shard: \"c\", \"f\", \"morton\", or \"arrival\": as threads have encoded "
     "them, "
     "which needs no waiting."},
    {"layout", "typing.Literal['plain', 'zarr+neuroglancer']", get_name<&Config::layout, kLayouts>, set_layout,
     "How the shards of a new array are laid out: \"plain\", as its format has them, or \"zarr+neuroglancer\", as "
     "files "
     "that are shards of both at once."},
    {"update", "typing.Literal['auto', 'rewrite', 'append', 'in_place']", get_name<&Config::update, kUpdates>,
     set_name<&Config::update, kUpdates>,
     "How a stored shard is changed: \"rewrite\" as a new object; \"append\" to it; \"in_place\": chunks that fit "
     "where "
     "they are are overwritten, which readers may see half done, and others are appended; \"auto\": appended where "
     "readers and crashes find the old or the new version. What cannot be done, or is too large for memory_budget, or "
     "would leave more than max_unused dead bytes, is rewritten."},
    {"max_unused", "float", get<&Config::max_unused>, set_share,
     "The share of dead bytes that makes an update write a shard densely; from 0 to 1."},
    {"slack", "int | float", get_slack, set_slack,
     "Room after each chunk of a new shard whose index is at the start, for update=\"in_place\": an int is bytes, a "
     "float a share of the chunk. It counts as dead bytes."},
    {"gzip_level", "int | None", get_optional<&Config::gzip_level>, set_gzip_level,
     "How hard gzip tries with Neuroglancer's chunks, values and lists, whose documents do not say it: 0 to 9; None: 3 "
     "for chunks encoded raw, 6 for all else. Taken when a handle is opened."},
    {"storage_options", "dict[str, str]", get_storage_options, set_storage_options,
     "Options of the stores that paths and URLs name; a new dict replaces all."},
    {"limits", "typing.Mapping[str, int]", get_limits, set_limits,
     "Bounds on what stored bytes may ask for, by name; assigning a dict changes those named."},
};

const Setting* find_setting(std::string_view name) {
  for (const Setting& setting : kSettings)
    if (setting.name == name) return &setting;
  return nullptr;
}

void change(Config& config, const std::string& name, nb::handle value) {
  if (name == kPickledOptions) {
    Config pickled;
    set_storage_options(pickled, value);
    pickled.storage_options.merge(config.storage_options);
    config.storage_options = std::move(pickled.storage_options);
    return;
  }
  const Setting* setting = find_setting(name);
  if (setting == nullptr) {
    std::string known;
    for (const Setting& each : kSettings) known += (known.empty() ? "" : ", ") + std::string(each.name);
    throw Exception(invalid_argument("unknown setting '" + name + "'; the settings are " + known).in_member("config"));
  }
  try {
    setting->set(config, value);
  } catch (const Exception& exception) {
    throw Exception(Error(exception.error()).in_member("config." + name));
  }
}

void change_all(Config& config, nb::handle changes) {
  Config changed = config;
  for (const auto& [name, value] : nb::borrow<nb::dict>(changes))
    change(changed, text_of(name, "a setting's name"), value);
  config = std::move(changed);
}

void change_defaults(Defaults& defaults, nb::handle changes) {
  change_all(defaults.config, changes);
  set_process_options(defaults.config.storage_options);
}

Defaults& defaults() {
  static Defaults* const settings = [] {
    auto* const made = new Defaults;
    made->config.open_stores = std::make_shared<OpenStores>();
    return made;
  }();
  return *settings;
}

std::string print_defaults(const Defaults& self) {
  std::string text = "sherd.config:";
  for (const Setting& setting : kSettings) {
    const bool has_secrets = setting.get == get_storage_options;
    const nb::object value = has_secrets ? public_options(self.config.storage_options) : setting.get(self.config);
    text += std::string("\n  ") + setting.name + " = " + quoted(value);
  }
  return text;
}

}  // namespace

const std::shared_ptr<Recorder>& recorder() {
  static const auto* const shared = new std::shared_ptr<Recorder>(std::make_shared<Recorder>());
  return *shared;
}

Config config_over(Config config, nb::handle changes) {
  if (changes.is_none()) return config;
  if (!PyDict_Check(changes.ptr()))
    throw Exception(Error(wrong_value(changes, "a dict or None").error()).in_member("config"));
  change_all(config, changes);
  return config;
}

Config config_from(nb::handle changes) {
  Config config = config_over(defaults().config, changes);
  config.recorder = recorder();
  config.interrupted = [] {
    const WithGil held;
    return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  };
  return config;
}

nb::dict config_to(const Config& config, std::string_view url) {
  nb::dict settings;
  for (const Setting& setting : kSettings) settings[setting.name] = setting.get(config);
  nb::del(settings["storage_options"]);
  settings[member_of_options(url)] = public_options(without_process_options(url, config).storage_options);
  return settings;
}

nb::dict public_settings(nb::handle settings, std::string_view url) {
  nb::dict kept;
  if (settings.is_none()) return kept;
  kept.update(nb::cast<nb::dict>(settings));
  if (!kept.contains("storage_options")) return kept;
  Config config;
  set_storage_options(config, kept["storage_options"]);
  nb::del(kept["storage_options"]);
  kept[member_of_options(url)] = public_options(config.storage_options);
  return kept;
}

void bind_config(nb::module_& module) {
  nb::class_<Defaults> type(
      module, "Config", "The settings of handles that are opened from now on. A `config` argument goes before them.");
  for (const Setting& setting : kSettings) {
    const Setting* const row = &setting;
    const std::string get_type = std::string("def ") + row->name + "(self) -> " + row->type;
    const std::string set_type = std::string("def ") + row->name + "(self, value: " + row->type + ", /) -> None";
    type.def_prop_rw(
        row->name, [row](const Defaults& self) { return row->get(self.config); },
        [row](Defaults& self, nb::object value) {
          nb::dict changes;
          changes[row->name] = value;
          change_defaults(self, changes);
        },
        nb::for_getter(nb::sig(get_type.c_str())), nb::for_setter(nb::sig(set_type.c_str())), nb::arg("value").none(),
        row->doc);
  }
  type.def(
      "set", [](Defaults& self, const nb::kwargs& settings) { change_defaults(self, settings); },
      nb::sig("def set(self, **settings: typing.Any) -> None"),
      "Sets several at once, all or none: config.set(threads=2, cache=\"chunks\").");
  type.def("__repr__", print_defaults);
  module.def(
      "public_settings", [](nb::handle settings, const std::string& url) { return public_settings(settings, url); },
      nb::arg("settings").none(), nb::arg("url"),
      nb::sig("def public_settings(settings: object | None, url: str) -> dict[str, typing.Any]"),
      "The settings that a pickle may have: all but secrets.");
  module.attr("config") = nb::cast(&defaults(), nb::rv_policy::reference);
  const auto finish = nb::cpp_function([] { call([] { return defaults().config.open_stores->finish(); }); });
  nb::module_::import_("atexit").attr("register")(finish);  // what no close() has finished
}

}  // namespace sherd::python
