// Writes an array as a file: boxes that follow its chunks are read in the file's order of dimensions, each while the
// previous one is written. The file appears under its name only when it is complete.
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/export_layout.hpp"

namespace sherd {

Result<void> export_file(const Array& array, const std::string& destination, const ExportOptions& options) {
  SHERD_TRY(path, path_to_export(destination));
  SHERD_TRY(format, find_file_format(options.to, path));
  const Config& config = array.config();
  ImageFacts facts;
  if (format->order == FileOrder::stored)
    facts.attributes = array.attributes();
  else {
    SHERD_TRY(found, find_image_facts(array));
    facts = std::move(found);
  }
  const FileLayout layout = file_layout(format->order, array, facts);
  const FileArray file = file_array(array, layout, format->order, std::move(facts));
  SHERD_TRY(writer, format->create(path, file, WriteMode{options.overwrite, config.durable}));
  if (std::string text = writer->left_out(); !text.empty() && options.note) options.note(text);
  Config inner = config;
  inner.memory_budget /= 2;
  inner.progress = nullptr;
  inner.interrupted = nullptr;
  const Array source = array.with_config(inner);
  const std::size_t size = file.dtype.size();
  const auto in_file = [&](const Shape& shape) { return shape.empty() ? shape : layout.shape(shape); };
  const BlockRequest request{.shape = file.shape,
                             .coarse = in_file(array.shards().value_or(Shape{})),
                             .fine = in_file(array.chunks()),
                             .elements = std::max<std::uint64_t>(1, config.memory_budget / 4 / size),
                             .random_access = writer->random_access()};
  Transfer transfer;
  transfer.take = [&](const Box& box, std::span<std::byte> into) {
    const std::size_t rank = array.ndim();
    return in_store(source.read(layout.box(box, rank), layout.view(into.data(), file.dtype, box, rank)),
                    array.store()->url());
  };
  transfer.give = [&](const Box& box, std::span<std::byte> bytes) {
    return for_each_run(file.shape, box, [&](std::uint64_t first, std::uint64_t at, std::uint64_t count) {
      return writer->write(first, bytes.subspan(at * size, count * size));
    });
  };
  SHERD_TRY(transfer_blocks(request, size, config, transfer));
  return writer->finish();
}

}  // namespace sherd
