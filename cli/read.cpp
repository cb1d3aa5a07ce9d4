// sherd read: writes a selection as .npy, raw bytes or JSON, to standard output or to a file that appears only when
// complete. It is read slab by slab, so memory is bounded and `sherd read … | head` reads only one slab or so.
#include <array>
#include <filesystem>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/elements.hpp"
#include "cli/options.hpp"
#include "cli/slabs.hpp"

namespace sherd::cli {
namespace {

constexpr std::uint64_t kReadSlabBytes = std::uint64_t{32} << 20;
// Printed text is several times larger than the elements.
constexpr std::uint64_t kJsonSlabBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMostOnTerminal = 10000;

/// Standard output, or a file that gets its name at the end.
class Sink {
 public:
  static Result<Sink> open(Session& session, const std::string& path) {
    Sink sink(session.out());
    if (path.empty() || path == "-") return sink;
    SHERD_TRY(file, OutputFile::create(path, WriteMode{}));
    sink.file_ = std::move(file);
    return sink;
  }
  Result<void> write(std::span<const std::byte> bytes) { return file_ ? file_->append(bytes) : out_->write(bytes); }
  Result<void> write(std::string_view text) { return write(as_bytes(text)); }
  Result<void> finish() { return file_ ? file_->commit() : out_->flush(); }

 private:
  explicit Sink(Output& out) : out_(&out) {}
  Output* out_;
  std::unique_ptr<OutputFile> file_;
};

struct Read {
  std::string url, select = "...", format, output;
  LevelChoice scale;

  [[nodiscard]] bool to_stdout() const { return output.empty() || output == "-"; }

  // An incomplete file must be removed on Ctrl-C; on standard output, Ctrl-C may end the process at once.
  [[nodiscard]] Config chosen_config(Session& session) const {
    if (!to_stdout()) return session.guarded("read");
    return Output::is_terminal() ? session.config() : session.watched("read");
  }

  [[nodiscard]] Result<std::string> chosen_format(const Session& session, const Array& array,
                                                  const Shape& shape) const {
    if (!format.empty()) return format;
    if (session.json()) return std::string("json");
    for (const std::string_view known : {"npy", "raw", "json"})
      if (output.ends_with("." + std::string(known))) return std::string(known);
    if (to_stdout() && Output::is_terminal()) {
      if (element_count(shape).value_or(kMostOnTerminal + 1) > kMostOnTerminal)
        return invalid_argument("the selection has shape " + to_string(shape) +
                                ", too much for a terminal; choose a part with --select, a file with -o, or --format");
      return std::string("json");
    }
    return std::string(array.dtype().is_variable() ? "json" : "npy");
  }

  Result<void> stream(const Array& array, const TypedSelection& typed, const std::string& as, Sink& sink) const {
    const DType& dtype = array.dtype();
    const bool json = as == "json";
    if (!json && dtype.is_variable()) return unsupported(as + " has no variable-length elements; use --format json");
    if (as == "npy") {
      SHERD_TRY(header, npy_header(dtype, typed.shape));
      SHERD_TRY(sink.write(header));
    }
    ElementPrinter printer(typed.shape, dtype);
    Config inner = array.config();
    inner.progress = nullptr;
    const Array source = array.with_config(inner);
    // One slab is read while the previous one is written; each has its own arena.
    std::array<VarBytesArena, 2> arenas;
    std::size_t turn = 0;
    Transfer transfer;
    transfer.take = [&](const Box& box, std::span<std::byte> into) {
      VarBytesArena& arena = arenas[turn++ % 2] = VarBytesArena();
      return at(url, source.read(part_of(typed.selection, box), AnyView::dense(into.data(), dtype, box.shape), &arena));
    };
    transfer.give = [&](const Box&, std::span<std::byte> bytes) {
      return json ? sink.write(printer.print(bytes)) : sink.write(bytes);
    };
    SHERD_TRY(transfer_blocks(slabs(array, typed.selection, json ? kJsonSlabBytes : kReadSlabBytes), dtype.size(),
                              array.config(), transfer));
    if (json) SHERD_TRY(sink.write(printer.finish()));
    return sink.finish();
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(array, session.open_scale(url, chosen_config(session), false, scale));
    SHERD_TRY(typed, parse_selection(select, array.shape()));
    SHERD_TRY(as, chosen_format(session, array, typed.shape));
    SHERD_TRY(sink, Sink::open(session, output));
    SHERD_TRY(stream(array, typed, as, sink));
    return 0;
  }
};

}  // namespace

Run add_read(Arguments& arguments) {
  auto read = std::make_shared<Read>();
  arguments.argument("URL", read->url, "The array");
  arguments.text("--select", "SELECTION", read->select,
                 "Which elements, as NumPy indexes: integers, start:stop:step, ...; default: all");
  arguments.choice("--format", {"npy", "raw", "json"}, read->format,
                   "raw is C order in this machine's byte order; default: by the file's suffix, otherwise json on a "
                   "terminal and for strings, npy elsewhere");
  add_scale(arguments, read->scale);
  arguments.text("-o,--output", "FILE|-", read->output, "The file to write; - is stdout, the default");
  arguments.examples({{"sherd read brain.zarr --select '100,50:60,::-2'", "print a part of a plane"},
                      {"sherd read brain.zarr -o brain.npy", "the whole array for NumPy"},
                      {"sherd read brain.zarr --format raw | sha256sum", "its bytes, to another program"}});
  return [read](Session& session) { return read->run(session); };
}

}  // namespace sherd::cli
