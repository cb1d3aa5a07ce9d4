#include "image/cutout.hpp"

#include <algorithm>
#include <numeric>

#include "array/array_state.hpp"
#include "base/buffer.hpp"
#include "base/checked.hpp"
#include "base/try.hpp"
#include "base/url.hpp"
#include "io/image.hpp"
#include "neuroglancer/document.hpp"

namespace sherd {
namespace {

bool is_empty(const Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); }

/// A list with one entry per dimension; nullptr for any other value.
const Json* list_of(const Json& attributes, std::string_view name, std::size_t rank) {
  const Json* list = attributes.find(name);
  return list != nullptr && list->is_array() && list->size() == rank ? list : nullptr;
}

}  // namespace

Result<std::shared_ptr<const Cutout>> Cutout::make(const ArraySpec& source, const CopyOptions& options,
                                                   const std::vector<std::size_t>& order) {
  if (!asks_for_cutout(options)) return std::shared_ptr<const Cutout>();
  auto cutout = std::make_shared<Cutout>();
  cutout->box_ = {Shape(source.shape.size(), 0), source.shape};
  cutout->kept_.resize(source.shape.size());
  std::iota(cutout->kept_.begin(), cutout->kept_.end(), std::size_t{0});
  cutout->from_ = cutout->to_ = source.dtype;
  if (options.select) SHERD_TRY(cutout->select(source.shape, *options.select, order).in_member("select"));
  if (options.dtype) SHERD_TRY(cutout->convert(source, *options.dtype).in_member("dtype"));
  return std::shared_ptr<const Cutout>(std::move(cutout));
}

Result<void> Cutout::select(const Shape& shape, const std::string& text, const std::vector<std::size_t>& order) {
  if (text.empty()) return invalid_argument("is empty; write '...', or leave it out, for all elements");
  std::vector<std::size_t> given = order;  // entry i of the text is dimension given[i]
  if (given.empty()) {
    given.resize(shape.size());
    std::iota(given.begin(), given.end(), std::size_t{0});
  }
  Shape as_given;
  for (const std::size_t d : given) as_given.push_back(d < shape.size() ? shape[d] : 1);
  std::vector<std::size_t> dropped;
  SHERD_TRY(selection, Selection::parse(text, as_given, &dropped));
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Range& range = std::get<Range>(selection.axes()[i]);
    if (range.step != 1 && range.count > 1)
      return unsupported("only a box can be copied: steps must be 1, not " + std::to_string(range.step) +
                         "; --pyramid computes coarser resolutions");
    const std::size_t d = given[i];
    if (d >= shape.size()) continue;  // a volume's only channel
    box_.origin[d] = range.start;
    box_.shape[d] = range.count;
    if (std::ranges::find(dropped, i) != dropped.end()) std::erase(kept_, d);
  }
  return {};
}

Result<void> Cutout::convert(const ArraySpec& source, const DType& dtype) {
  if (dtype == source.dtype) return {};
  SHERD_TRY(conversion, Conversion::make(source.dtype, dtype));
  std::vector<std::byte> fill(dtype.size());
  if (conversion.run(source.fill_value.bytes(), fill.data()))
    return invalid_argument("the fill value of the source, " +
                            print_scalar(source.fill_value.bytes(), source.dtype).dump() + ", has no value in " +
                            dtype.name());
  conversion_ = conversion;
  fill_ = Scalar(std::move(fill));
  to_ = dtype;
  return {};
}

ArraySpec Cutout::applied_to(ArraySpec spec) const {
  spec.shape = shape();
  spec.dtype = to_;
  if (fill_) spec.fill_value = *fill_;
  spec.dimension_names = pick(spec.dimension_names);
  if (auto* grid = std::get_if<RegularGrid>(&spec.grid)) grid->chunk_shape = pick(grid->chunk_shape);
  return spec;
}

Json Cutout::channels_of(const Json& channels, const std::vector<std::string>& names) const {
  const std::size_t c = dimension_of(names, "c");
  if (c == names.size() || !channels.is_array() || channels.size() < box_.origin[c] + box_.shape[c]) return channels;
  Json some{Json::Array{}};
  for (std::uint64_t i = 0; i < box_.shape[c]; ++i) some.push_back(channels.elements()[box_.origin[c] + i]);
  return some;
}

Json Cutout::attributes_of(Json attributes, const std::vector<std::string>& names) const {
  const std::size_t rank = box_.shape.size();
  const bool is_spatial =
      std::ranges::any_of(names, is_spatial_axis) || list_of(attributes, "spacing", rank) != nullptr;
  if (is_spatial && attributes.find("voxel_offset") == nullptr &&
      std::ranges::any_of(kept_, [this](std::size_t d) { return box_.origin[d] != 0; }))
    attributes.set("voxel_offset", Json::numbers(Shape(rank, 0)));
  for (const std::string name : {"spacing", "units", "voxel_offset", "_ARRAY_DIMENSIONS"}) {
    const Json* all = list_of(attributes, name, rank);
    if (all == nullptr) continue;
    Json some{Json::Array{}};
    for (const std::size_t d : kept_) {
      const Json& value = all->elements()[d];
      const auto number = name == "voxel_offset" && box_.origin[d] != 0 ? value.as_double() : std::nullopt;
      some.push_back(number ? neuroglancer::number_json(*number + static_cast<double>(box_.origin[d])) : value);
    }
    attributes.set(name, std::move(some));
  }
  if (const Json* channels = attributes.find("channels")) attributes.set("channels", channels_of(*channels, names));
  if (box_.origin == Shape(rank, 0) && kept_.size() == rank) return attributes;
  attributes.erase("slice_labels");
  if (Json* nifti = attributes.find("nifti")) nifti->erase("qform");
  const Json* affine = attributes.find("affine");
  auto matrix = affine == nullptr ? std::nullopt : parse_affine(*affine);
  if (!matrix) return attributes;
  for (std::size_t k = 0; k < 3; ++k) {
    std::size_t d = dimension_of(names, std::string_view("xyz").substr(k, 1));
    if (d == names.size() && !std::ranges::any_of(names, is_spatial_axis) && k < rank) d = rank - 1 - k;
    for (std::size_t r = 0; r < 3 && d < rank; ++r)
      (*matrix)[r][3] += (*matrix)[r][k] * static_cast<double>(box_.origin[d]);
  }
  attributes.set("affine", affine_json(*matrix));
  return attributes;
}

Box Cutout::made_of(const Box& copy, const Shape&) const {
  Box box = box_;
  for (std::size_t j = 0; j < kept_.size(); ++j) {
    box.origin[kept_[j]] += copy.origin[j];
    box.shape[kept_[j]] = copy.shape[j];
  }
  return box;
}

Box Cutout::goes_into(const Box& source) const {
  const std::size_t rank = box_.shape.size();
  Box within{Shape(rank), Shape(rank)};
  for (std::size_t d = 0; d < rank; ++d) {
    const std::uint64_t low = std::max(source.origin[d], box_.origin[d]);
    const std::uint64_t high = std::min(source.origin[d] + source.shape[d], box_.origin[d] + box_.shape[d]);
    within.origin[d] = std::max(low, box_.origin[d]) - box_.origin[d];
    within.shape[d] = high > low ? high - low : 0;
  }
  Box box{pick(within.origin), pick(within.shape)};
  if (is_empty(within.shape) && !box.shape.empty()) box.shape.front() = 0;
  return box;
}

std::uint64_t Cutout::most() const noexcept { return converts() ? ceil_div(from_.size(), to_.size()) : 0; }

bool Cutout::is_aligned(const Shape& lengths, const Shape& source) const {
  for (std::size_t d = 0; d < lengths.size(); ++d) {
    const std::uint64_t end = box_.origin[d] + box_.shape[d];
    if (box_.origin[d] % lengths[d] != 0 || (end % lengths[d] != 0 && end != source[d])) return false;
  }
  return true;
}

// Chunks are moved if the box has their borders, and whole shards if it has those of shards, unless the ids of chunks,
// which depend on their position in the array, are stored in them.
CopyWay Cutout::cheapest(const Array::State& source) const {
  const Shape shape = source.shape();
  const auto& chunks = source.chunks;
  if (changes_chunks() || chunks.size() != shape.size() || !is_aligned(chunks, shape)) return CopyWay::encoded;
  const ArraySpec spec = *source.document().array;
  const auto* grid = std::get_if<RegularGrid>(&spec.grid);
  const bool has_ids = source.layout.shard && source.layout.shard->ids() != nullptr;
  return grid != nullptr && !has_ids && is_aligned(grid->chunk_shape, shape) ? CopyWay::whole : CopyWay::moved;
}

std::span<const std::byte> Cutout::missing(std::span<const std::byte> fill) const {
  return fill_ ? fill_->bytes() : fill;
}

Error Cutout::refusal(const Box& from, std::uint64_t number, std::span<const std::byte> element) const {
  Shape at = unravel(number, from.shape);
  for (std::size_t d = 0; d < at.size(); ++d) at[d] += from.origin[d];
  return invalid_argument("element " + to_string(at) + " of the source is " + print_scalar(element, from_).dump() +
                          ", which " + to_.name() + " does not have; choose a type that has it")
      .in_member("dtype");
}

Result<void> Cutout::read(const Array& source, const Box& box, const ElementTarget& to) const {
  const Box from = made_of(box, source.shape());
  const std::string& url = source.store()->url();
  if (!converts()) return in_store(source.read(from, AnyView::dense(to.data, from_, from.shape), &to.arena), url);
  Buffer elements;
  SHERD_TRY(elements.resize(*element_count(from.shape) * from_.size()));
  SHERD_TRY(in_store(source.read(from, AnyView::dense(elements.data(), from_, from.shape)), url));
  if (const auto first = conversion_->run(elements.span(), to.data))
    return refusal(from, *first, elements.span().subspan(*first * from_.size(), from_.size()));
  return {};
}

}  // namespace sherd
