// sherd append: appends frames to an array as they arrive, in the background (sherd/appender.hpp). Whatever ends the
// input, also Ctrl-C or an error in it, the frames received before are stored.
#include <algorithm>

#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "base/size.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/frames.hpp"
#include "cli/option_errors.hpp"
#include "cli/options.hpp"
#include "cli/values.hpp"

namespace sherd::cli {
namespace {

/// Small frames that are there already are read and queued together.
constexpr std::uint64_t kBatchBytes = std::uint64_t{1} << 20;

struct Append {
  std::string url, input = "-", format, technique = "auto";
  std::optional<std::string> queue;
  std::optional<std::uint64_t> flush_every;
  std::uint64_t axis = 0;
  WritingOptions writing;

  Result<AppenderOptions> options() const {
    AppenderOptions options{.axis = axis, .auto_flush = !flush_every};
    if (technique != "auto") options.technique = static_cast<Technique>(technique[0] - '0');
    if (queue) {
      SHERD_TRY(bytes, in_option(parse_size(*queue), "--queue-bytes"));
      if (bytes == 0) return invalid_argument("--queue-bytes: at least one row of chunks is queued");
      options.queue_bytes = bytes;
    }
    if (flush_every == std::uint64_t{0}) return invalid_argument("--flush-every: at least 1");
    return options;
  }

  static Result<FrameType> frame_type(const Array& array, std::size_t axis) {
    FrameType type{array.dtype(), array.shape()};
    type.shape.erase(type.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    const auto count = element_count(type.shape);
    const auto bytes = count ? checked_mul(*count, type.dtype.size()) : std::nullopt;
    if (!bytes) return unsupported("frames of shape " + to_string(type.shape) + " are too large");
    type.bytes = *bytes;
    return type;
  }

  Result<void> stream(Appender& appender, Frames& frames, const FrameType& type) const {
    const std::uint64_t most = std::max<std::uint64_t>(1, kBatchBytes / type.bytes);
    Buffer buffer;
    SHERD_TRY(buffer.resize(std::min(most, flush_every.value_or(most)) * type.bytes));
    std::uint64_t unflushed = 0;
    while (interrupt_status() == 0) {
      const std::uint64_t room = std::min(most, flush_every.value_or(most) - unflushed);
      auto count = frames.next(buffer.span().first(room * type.bytes));
      if (!count) return std::move(count).error().in_key(input == "-" ? "standard input" : input);
      if (*count == 0) return {};
      Shape shape = type.shape;
      shape.insert(shape.begin(), *count);
      auto view = ConstAnyView::dense(buffer.data(), type.dtype, std::move(shape));
      const auto at_axis = static_cast<std::ptrdiff_t>(axis);
      std::rotate(view.shape.begin(), view.shape.begin() + 1, view.shape.begin() + at_axis + 1);
      std::rotate(view.strides.begin(), view.strides.begin() + 1, view.strides.begin() + at_axis + 1);
      SHERD_TRY(at(url, appender.append(view)));
      unflushed += *count;
      if (unflushed != flush_every) continue;
      SHERD_TRY(at(url, appender.flush()));
      unflushed = 0;
    }
    return unavailable("interrupted");
  }

  Result<int> run(Session& session) const {
    SHERD_TRY(chosen, options());
    const Config reading = session.guarded("append");
    Config config = reading;
    SHERD_TRY(writing.apply(config));
    if (config.layout != Layout::plain)
      return invalid_argument("--layout: an array keeps the layout that it was created with; leave the option out");
    config.interrupted = nullptr;  // ends the input only
    config.progress = nullptr;
    SHERD_TRY(array, at(url, open_array(url, session.opening(config, true))));
    if (array.dtype().is_variable())
      return at(url, Result<int>(unsupported("frames cannot have elements of variable length (" + array.dtype().name() +
                                             "); append them in Python")));
    SHERD_TRY(appender, at(url, array.appender(chosen)));
    SHERD_TRY(type, frame_type(array, axis));
    const Shape before = array.shape();
    const auto fed = [&]() -> Result<void> {
      SHERD_TRY(frames, open_frames(input, format, type, reading).in_key(input == "-" ? "standard input" : input));
      return stream(appender, *frames, type);
    }();
    SHERD_TRY(at(url, appender.close()));
    SHERD_TRY(session.finish());
    const std::uint64_t stored = appender.stats().stored;
    session.note("appended " + print_count(stored, "frame") + ": the shape was " + to_string(before) + " and is " +
                 to_string(array.shape()));
    if (!fed) return fed.error();
    if (session.json())
      SHERD_TRY(session.out().print(Json(Json::Object{
          {"before", Json::numbers(before)}, {"shape", Json::numbers(array.shape())}, {"appended", stored}})));
    return 0;
  }
};

}  // namespace

Run add_append(Arguments& arguments) {
  auto append = std::make_shared<Append>();
  arguments.argument("URL", append->url, "The array");
  arguments.text("-i,--input", "FILE|-", append->input, "The frames, from a file or a pipe; default: standard input");
  arguments.number("--axis", append->axis, "The dimension along which the array grows; a frame has all others");
  arguments.number("--flush-every", append->flush_every,
                   "Store and show the frames after every N; default: as shards become full, and at the end");
  arguments.choice(
      "--from", {"raw", "npy", "pgm", "tiff"}, append->format,
      "The format of the frames; default: by the first bytes. raw is C order in this machine's byte order; "
      "pgm and npy files may follow each other; tiff is a file of pages");
  arguments.choice("--technique", {"auto", "1", "2", "3", "4"}, append->technique,
                   "How frames are stored: 1: in shards of their own; 2: a flush inside a shard is a partial write; 3: "
                   "uncompressed, at places that are known when a shard begins; 4: like 2, and full shards are "
                   "rewritten densely");
  arguments.text("--queue-bytes", "SIZE", append->queue, "How much may wait to be stored, such as 256MiB");
  append->writing.add_to(arguments);
  arguments.examples({{"camera | sherd append movie.zarr --flush-every 100", "raw frames, readable while they arrive"},
                      {"ffmpeg -i in.mp4 -f image2pipe -c:v pgm - | sherd append movie.zarr", "frames as PGM images"},
                      {"sherd append stack.zarr -i pages.tif", "the pages of a TIFF file"}});
  return [append](Session& session) { return append->run(session); };
}

}  // namespace sherd::cli
