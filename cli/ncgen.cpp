// sherd ncgen: creates an NCZarr dataset from CDL, with the options of netcdf-c's ncgen.
#include <algorithm>

#include "api/netcdf.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/input_pipe.hpp"
#include "cli/netcdf_lengths.hpp"
#include "cli/parser.hpp"
#include "cli/session.hpp"
#include "netcdf/url.hpp"
#include "sherd/netcdf_cdl.hpp"

namespace sherd::cli {
namespace {

/// What -k chooses: the model that the text may use, and the kind of a file.
struct Kind {
  netcdf::DataModel model;
  std::string_view file;
};

/// The names that ncgen accepts for -k, including older ones: 1, 2, 3 and 4 mean nc3, nc6, nc4 and nc7.
std::optional<Kind> kind_called(std::string_view name) {
  constexpr std::string_view classic[] = {"classic", "nc3", "1"};
  constexpr std::string_view offset[] = {"64-bit offset", "64-bit-offset", "nc6", "2"};
  constexpr std::string_view data[] = {"64-bit data", "64-bit-data", "nc5", "cdf5", "cdf-5", "5"};
  constexpr std::string_view enhanced[] = {"netCDF-4", "netcdf-4", "netCDF4", "netcdf4",
                                           "nc4",      "3",        "hdf5",    "enhanced"};
  constexpr std::string_view classic_4[] = {
      "netCDF-4 classic model", "nc7",      "4",           "netCDF-4-classic", "netCDF-4_classic",
      "netCDF4_classic",        "hdf5-nc3", "enhanced-nc3"};
  const auto is_in = [&](const auto& names) { return std::ranges::find(names, name) != std::end(names); };
  if (is_in(classic)) return Kind{netcdf::DataModel::classic, "classic"};
  if (is_in(offset)) return Kind{netcdf::DataModel::classic, "64-bit offset"};
  if (is_in(data)) return Kind{netcdf::DataModel::classic_64, "cdf5"};
  if (is_in(enhanced)) return Kind{netcdf::DataModel::enhanced, "netCDF-4"};
  if (is_in(classic_4)) return Kind{netcdf::DataModel::classic, "netCDF-4 classic model"};
  return std::nullopt;
}

/// Reads the whole input. Files are read like standard input, so a named pipe works too.
Result<std::string> read_text(InputPipe& input) {
  constexpr std::size_t kPiece = std::size_t{1} << 20U;
  std::string text;
  while (true) {
    const std::size_t before = text.size();
    if (text.capacity() < before + kPiece) text.reserve(std::max(2 * before, before + kPiece));
    text.resize(before + kPiece);
    SHERD_TRY(count, input.read_some(std::as_writable_bytes(std::span(text)).subspan(before)));
    text.resize(before + count);
    if (count == 0) return text;
  }
}

struct Ncgen {
  std::optional<std::string> input;
  std::string output, name, kind, language;
  std::vector<std::string> shards;
  bool binary = false, header = false, no_fill = false, no_durable = false, nc3 = false, nc4 = false, nc5 = false,
       nc6 = false, nc7 = false, truncate = false, overwrite = false;

  Result<int> run(Session& session) const {
    if (!language.empty() && language != "b")
      return unsupported(
          "-l " + language +
          " prints a program; sherd ncgen writes datasets only (-l b). Use ncgen of netcdf-c for programs");
    SHERD_TRY(options, cdl_options());
    options.limits = session.config().limits;
    SHERD_TRY(text, source(session));
    const std::string shown = is_standard_input() ? "standard input" : "'" + *input + "'";
    SHERD_TRY(cdl, netcdf::Cdl::parse(text, options).in([&] { return std::string_view(shown); }));
    for (std::string warning : cdl.warnings()) session.note(warning.insert(0, "warning: " + shown + ": "));
    text = {};
    SHERD_TRY(url, writes() ? destination(cdl) : Result<std::string>(output));
    SHERD_TRY(to, url.empty() ? netcdf::ParsedUrl() : netcdf::parse_dataset_url(url));
    if (writes() && netcdf::is_file_name(to)) return write_file(session, cdl, to, shown);
    if (writes() && !overwrite) SHERD_TRY(netcdf::check_replaceable(to, session.config()));
    SHERD_TRY(dataset, new_dataset(session, to));
    SHERD_TRY(cdl.check(dataset).in([&] { return std::string_view(shown); }));
    if (!writes()) return 0;
    std::vector<std::string> losses;
    SHERD_TRY(netcdf::create_whole(to, dataset, [&](netcdf::Writer writer) -> Result<void> {
      SHERD_TRY(cdl.write(writer).in([&] { return std::string_view(shown); }));
      losses = writer.losses();
      return {};
    }));
    for (std::string loss : losses) session.note(loss.insert(0, "warning: " + shown + ": "));
    return 0;
  }

 private:
  [[nodiscard]] bool is_standard_input() const { return !input || *input == "-"; }
  /// As in ncgen: without any of these options the text is only checked.
  [[nodiscard]] bool writes() const {
    return binary || !language.empty() || !output.empty() || !kind.empty() || nc3 || nc4 || nc5 || nc6 || nc7;
  }

  Result<netcdf::CdlOptions> cdl_options() const {
    netcdf::CdlOptions options;
    options.header_only = header;
    options.no_fill = no_fill;
    SHERD_TRY(mode, output_mode());
    if (mode.compat_seed) options.long_texts = netcdf::LongTexts::cut_bytes;
    if (truncate) options.long_texts = netcdf::LongTexts::cut_characters;
    SHERD_TRY(chosen, chosen_kind());
    options.model = chosen.model;
    return options;
  }

  [[nodiscard]] Result<Kind> chosen_kind() const {
    std::string word = kind.empty() ? "nc4" : kind;
    const std::pair<bool, const char*> flags[] = {{nc3, "nc3"}, {nc6, "nc6"}, {nc7, "nc7"}, {nc5, "nc5"}, {nc4, "nc4"}};
    for (const auto& [given, called] : flags)
      if (given) word = called;
    if (const auto found = kind_called(word)) return *found;
    return invalid_argument("-k: '" + word + "' is not a kind of netCDF; known are nc3, nc6, nc5, nc4 and nc7");
  }

  [[nodiscard]] Result<netcdf::Mode> output_mode() const {
    if (output.empty()) return netcdf::with_environment({});
    SHERD_TRY(parsed, netcdf::parse_dataset_url(output));
    return netcdf::with_environment(parsed.mode);
  }

  Result<std::string> source(Session& session) const {
    const Config config = session.config();
    if (is_standard_input()) return read_text(*InputPipe::standard_input(config));
    SHERD_TRY(file, InputPipe::open(*input, config));
    return read_text(*file);
  }

  /// The value of -o, or the name that ncgen derives: that of the file, or else that of the dataset, with ".nc".
  Result<std::string> destination(const netcdf::Cdl& cdl) const {
    if (!output.empty()) return output;
    std::string stem = name.empty() ? cdl.name() : name;
    if (!is_standard_input()) {
      stem = last_segment(*input);
      if (const std::size_t dot = stem.rfind('.'); dot != stem.npos) stem.erase(dot);
    }
    if (stem.empty() || stem.find('/') != stem.npos)
      return invalid_argument("cannot derive a name for the dataset from '" + stem + "'; set it with -o");
    return stem + ".nc";
  }

  Result<netcdf::NewDataset> new_dataset(Session& session, const netcdf::ParsedUrl& to) const {
    netcdf::NewDataset options;
    if (!session.format().empty()) options.format = session.format();
    options.overwrite = true;
    SHERD_TRY(sharded, shard_lengths(shards));
    options.shards = std::move(sharded);
    if (!shards.empty() && options.format != "zarr3")
      return invalid_argument("--shards: only datasets in Zarr v3 have shards; add --store-format zarr3");
    options.config = session.guarded("ncgen");
    options.config.durable = !no_durable;
    options.mode = to.mode;
    return options;
  }

  Result<int> write_file(Session& session, const netcdf::Cdl& cdl, const netcdf::ParsedUrl& to,
                         const std::string& shown) const {
    if (!shards.empty())
      return invalid_argument("--shards: '" + to.place.shown + "' is a file; only Zarr v3 has shards");
    SHERD_TRY(chosen, chosen_kind());
    netcdf::DatasetCopyOptions options{
        .kind = std::string(chosen.file), .overwrite = overwrite, .config = session.guarded("ncgen")};
    options.config.durable = !no_durable;
    SHERD_TRY(cdl.check({.format = "zarr3"}).in([&] { return std::string_view(shown); }));
    SHERD_TRY(report, netcdf::write_file(cdl, to, options));
    for (std::string warning : report.warnings) session.note(warning.insert(0, "warning: " + shown + ": "));
    return 0;
  }
};

}  // namespace

Run add_ncgen(Arguments& arguments) {
  auto ncgen = std::make_shared<Ncgen>();
  arguments.argument("CDL", ncgen->input, "A file of CDL; default, and -: standard input");
  arguments.text("-o", "URL", ncgen->output,
                 "Where the dataset is written: a file if it ends in .nc, .nc3, .nc4, .cdf or .netcdf, which must not "
                 "exist; otherwise NCZarr, and an existing netCDF dataset of either version of Zarr is replaced");
  arguments.flag("--overwrite", ncgen->overwrite,
                 "Replace also an existing file, array, image or group that is not a netCDF dataset");
  arguments.flag("-b", ncgen->binary,
                 "Write a file; without -o it is named after the text's, with .nc instead of .cdl");
  arguments.text("-l", "LANGUAGE", ncgen->language, "b: the same as -b; programs (c, f77, java) are not supported");
  arguments.text(
      "-k", "KIND", ncgen->kind,
      "The data model that the text may use, and the kind of a file: nc3, nc6, nc5, nc4 or nc7; default: nc4");
  arguments.flag("-3", ncgen->nc3, "As -k nc3: the classic model");
  arguments.flag("-4", ncgen->nc4, "As -k nc4: the model of netCDF-4");
  arguments.flag("-5", ncgen->nc5, "As -k nc5: the classic model with all integers");
  arguments.flag("-6", ncgen->nc6, "As -k nc6: the classic model");
  arguments.flag("-7", ncgen->nc7, "As -k nc7: the classic model");
  arguments.flag("-x", ncgen->no_fill, "No fill values: elements that are not given are undefined");
  arguments.flag("--truncate", ncgen->truncate,
                 "Cut texts that are longer than _nczarr_maxstrlen, with a warning; default: an error");
  arguments.text("-N", "NAME", ncgen->name, "The name of the dataset, for the default of -o with standard input");
  arguments.flag("-H", ncgen->header, "The header only: data are read and left out");
  arguments.repeated("--shards", "SHARDS", ncgen->shards, kShardsHelp);
  arguments.flag("--no-durable", ncgen->no_durable,
                 "Do not wait until data is on disk: faster, but lost in a power failure");
  arguments.examples({{"sherd ncgen ocean.cdl", "check the text; errors have line and column"},
                      {"sherd ncgen -o ocean.zarr ocean.cdl", "write a dataset in NCZarr"},
                      {"sherd ncgen -o ocean.nc ocean.cdl", "write a netCDF-4 file"},
                      {"sherd ncdump old.zarr | sherd ncgen -o new.zarr", "copy a dataset as text"},
                      {"sherd ncgen -4 -lb -o 'file:///data/ocean#mode=zarr,file' ocean.cdl", "pure Zarr"}});
  return [ncgen](Session& session) { return ncgen->run(session); };
}

}  // namespace sherd::cli
