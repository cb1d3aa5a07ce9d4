// sherd write: writes elements from an .npy file, raw bytes or JSON, read from a file, a pipe or standard input, into a
// selection of an array. npy and raw data are processed slab by slab.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/elements.hpp"
#include "cli/input_pipe.hpp"
#include "cli/options.hpp"
#include "cli/slabs.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

constexpr std::uint64_t kWriteSlabBytes = std::uint64_t{64} << 20;
constexpr std::string_view kStandardInput = "standard input";

bool is_pipe(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode) || S_ISSOCK(status.st_mode));
}

struct Write {
  std::string url, select = "...", input, format;
  std::optional<std::string> value;
  LevelChoice scale;
  WritingOptions writing;

  [[nodiscard]] bool from_stdin() const { return input == "-"; }
  [[nodiscard]] std::string source_name() const { return from_stdin() ? std::string(kStandardInput) : input; }

  [[nodiscard]] std::string chosen_format(std::string_view start) const {
    if (!format.empty()) return format;
    if (!from_stdin() && input.ends_with(".json")) return "json";
    return start == "\x93NUMPY" ? "npy" : "raw";
  }

  /// The elements of an .npy or raw source, whose shape must be that of the selection.
  Result<std::unique_ptr<ArrayFileReader>> open_elements(std::unique_ptr<FileBytes> bytes, const std::string& as,
                                                         const Array& array, const TypedSelection& typed) const {
    NpyHeader header;
    if (as == "npy") {
      SHERD_TRY(read, read_npy_header(
                          [&](std::uint64_t offset, std::span<std::byte> into) { return bytes->read_at(offset, into); },
                          array.config().limits));
      header = std::move(read);
      Shape shape = header.array.shape;
      if (header.array.fortran) std::reverse(shape.begin(), shape.end());
      if (without_ones(shape) != without_ones(typed.shape))
        return invalid_argument("has shape " + to_string(shape) + ", the selection " + to_string(typed.shape));
      SHERD_TRY(check_file_dtype(header.array.dtype, array.dtype()));
    }
    header.array.shape = typed.selection.shape();
    header.array.dtype = array.dtype();
    if (header.array.fortran) std::reverse(header.array.shape.begin(), header.array.shape.end());
    return flat_reader(std::move(bytes), std::move(header.array), std::move(header.layout));
  }

  Result<void> stream(ArrayFileReader& reader, const Array& array, const Selection& selection) const {
    const DType& dtype = array.dtype();
    const bool fortran = reader.array().fortran;
    BlockRequest request = slabs(array, selection, kWriteSlabBytes);
    request.random_access = reader.random_access();
    if (fortran)
      for (Shape* shape : {&request.shape, &request.coarse, &request.fine}) std::reverse(shape->begin(), shape->end());
    const Shape file_shape = request.shape;
    Config inner = array.config();
    inner.progress = nullptr;
    const Array target = array.with_config(inner);
    Transfer transfer;
    const std::uint64_t all = element_count(file_shape).value_or(0);
    std::uint64_t taken = 0;
    transfer.take = [&](const Box& box, std::span<std::byte> into) -> Result<void> {
      SHERD_TRY(for_each_run(file_shape, box, [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) {
        taken += count;
        return reader.read(first, into.subspan(at * dtype.size(), count * dtype.size()));
      }));
      // Too many elements are an error, and the last slab (usually the only one) is then not written.
      return taken == all ? reader.finish() : Result<void>();
    };
    transfer.give = [&](Box box, std::span<std::byte> bytes) {
      if (fortran)
        for (Shape* shape : {&box.origin, &box.shape}) std::reverse(shape->begin(), shape->end());
      const auto view = ConstAnyView::dense(bytes.data(), dtype, box.shape, fortran ? Order::f : Order::c);
      return at(url, target.write(part_of(selection, box), view));
    };
    SHERD_TRY(transfer_blocks(request, dtype.size(), array.config(), transfer));
    return all == 0 ? reader.finish() : Result<void>();
  }

  Result<void> write_json(const std::string& text, const Array& array, const TypedSelection& typed) const {
    auto json = Json::parse(text);
    if (!json) return json.error();
    SHERD_TRY(elements, parse_elements(*json, typed.shape, array.dtype()));
    std::vector<std::byte> bytes;
    for (const Scalar& element : elements) bytes.insert(bytes.end(), element.bytes().begin(), element.bytes().end());
    const auto view = ConstAnyView::dense(bytes.data(), array.dtype(), typed.selection.shape());
    return at(url, array.write(typed.selection, view));
  }

  /// Reads all of a JSON source, which may not be larger than a document.
  static Result<std::string> whole_text(FileBytes& bytes, InputPipe* pipe, const Limits& limits) {
    std::string text(std::min(bytes.size_bound(), limits.metadata_bytes + 1), '\0');
    const std::span into(reinterpret_cast<std::byte*>(text.data()), text.size());
    if (pipe != nullptr) {
      SHERD_TRY(got, pipe->read_some(into));
      text.resize(got);
    }
    if (text.size() > limits.metadata_bytes)
      return unsupported("is larger than the limit 'metadata_bytes' of " + std::to_string(limits.metadata_bytes));
    if (pipe == nullptr) SHERD_TRY(bytes.read_at(0, into));
    return text;
  }

  Result<void> write_source(const Array& array, const TypedSelection& typed) const {
    std::unique_ptr<FileBytes> bytes;
    InputPipe* pipe = nullptr;
    std::string start(6, '\0');
    if (from_stdin() || is_pipe(input)) {
      auto made = InputPipe::standard_input(array.config());
      if (!from_stdin()) {
        SHERD_TRY(opened, InputPipe::open(input, array.config()));
        made = std::move(opened);
      }
      pipe = made.get();
      bytes = std::move(made);
      SHERD_TRY(ahead, pipe->peek(start.size()));
      start = ahead;
    } else {
      SHERD_TRY(file, InputFile::open(input));
      SHERD_TRY(file->read_some(0, {reinterpret_cast<std::byte*>(start.data()), start.size()}));
      bytes = std::move(file);
    }
    const std::string as = chosen_format(start);
    if (as == "json") {
      SHERD_TRY(text, whole_text(*bytes, pipe, array.config().limits));
      return write_json(text, array, typed);
    }
    if (array.dtype().is_variable()) return unsupported(as + " has no variable-length elements; use --format json");
    const std::uint64_t size = bytes->size_bound();
    const std::uint64_t wanted = element_count(typed.shape).value_or(0) * array.dtype().size();
    if (pipe == nullptr && as == "raw" && size != wanted)
      return invalid_argument("has " + std::to_string(size) + " bytes, the selection needs " + std::to_string(wanted));
    SHERD_TRY(reader, open_elements(std::move(bytes), as, array, typed));
    return stream(*reader, array, typed.selection);
  }

  Result<int> run(Session& session) const {
    if (input.empty() == !value.has_value()) return invalid_argument("use either -i or --value");
    Config config = session.guarded("write");
    SHERD_TRY(writing.apply(config));
    if (config.layout != Layout::plain)
      return invalid_argument("--layout: an array keeps the layout that it was created with; leave the option out");
    SHERD_TRY(array, session.open_scale(url, std::move(config), true, scale));
    SHERD_TRY(typed, parse_selection(select, array.shape()));
    if (value) {
      SHERD_TRY(scalar, parse_scalar(parse_value_argument(*value), array.dtype()).in_member("--value"));
      SHERD_TRY(at(url, array.fill(typed.selection, scalar.bytes())));
    } else {
      SHERD_TRY(write_source(array, typed).in_key(source_name()));
    }
    return 0;
  }
};

}  // namespace

Run add_write(Arguments& arguments) {
  auto write = std::make_shared<Write>();
  arguments.argument("URL", write->url, "The array");
  arguments.text("--select", "SELECTION", write->select,
                 "Which elements, as NumPy indexes: integers, start:stop:step, ...; default: all");
  arguments.text("-i,--input", "FILE|-", write->input, "The elements, from a file or a pipe; - is stdin");
  arguments.text("--value", "JSON", write->value, "One value for all of them");
  arguments.choice("--format", {"npy", "raw", "json"}, write->format,
                   "raw is C order in this machine's byte order; npy is detected by its content, json by the suffix");
  add_scale(arguments, write->scale);
  write->writing.add_to(arguments);
  arguments.examples({{"sherd write brain.zarr --select '100:164,150:250,:' -i box.npy", "a box from NumPy"},
                      {"gunzip < frame.gz | sherd write movie.zarr --select 17 -i -", "one frame of raw bytes"},
                      {"sherd write mask.zarr --select '0:10' --value true", "one value everywhere"}});
  return [write](Session& session) { return write->run(session); };
}

}  // namespace sherd::cli
