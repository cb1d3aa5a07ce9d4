// SWC, a tree as lines of text: `id type x y z radius parent`, with # before comments and -1 as the parent of a root.
// Some programs write 0 instead, and begin with the id 1. Ids are any integers and lines may be in any order; several
// roots are several trees.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/try.hpp"
#include "io/text_lines.hpp"
#include "sherd/object_files.hpp"

namespace sherd {
namespace {

using neuroglancer::Column;
using neuroglancer::Skeleton;
using neuroglancer::VertexAttribute;

constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Line {
  std::uint64_t number;
  std::int64_t parent;
};

class SwcReader {
 public:
  explicit SwcReader(std::string_view text) : lines_(text) {}

  Result<Skeleton> read() && {
    while (lines_.next()) SHERD_TRY(read_line());
    for (std::uint32_t vertex = 0; vertex < parents_.size(); ++vertex) SHERD_TRY(add_edge(vertex));
    skeleton_.attributes = {{DType::float32, 1, bytes_of(radii_)}, {DType::uint8, 1, bytes_of(types_)}};
    return std::move(skeleton_);
  }

 private:
  template <class T>
  static std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
  }

  Result<float> coordinate(std::string_view what) {
    SHERD_TRY(value, lines_.real(what));
    if (std::abs(value) <= std::numeric_limits<float>::max()) return static_cast<float>(value);
    return lines_.error(std::string(what) + " does not fit in float32");
  }

  Result<void> read_line() {
    TextLines ahead = lines_;
    const std::string_view first = ahead.word();
    if (first.empty() || first.starts_with('#')) return {};
    SHERD_TRY(id, lines_.integer("the id of a vertex"));
    SHERD_TRY(type, lines_.integer("the type of a vertex"));
    if (type < 0 || type > 255) return lines_.error("the type is " + std::to_string(type) + ", not 0 to 255");
    neuroglancer::Position position{};
    for (std::size_t d = 0; d < 3; ++d) {
      SHERD_TRY(at, coordinate("a coordinate"));
      position[d] = at;
    }
    SHERD_TRY(radius, coordinate("a radius"));
    SHERD_TRY(parent, lines_.integer("the id of a parent"));
    const std::string_view more = lines_.word();
    if (!more.empty() && !more.starts_with('#'))
      return lines_.error("has more than the seven values id, type, x, y, z, radius, parent");
    if (parents_.size() == kNone) return lines_.error("there are more than 2^32-1 vertices");
    const auto vertex = static_cast<std::uint32_t>(parents_.size());
    if (const auto [there, is_new] = vertices_.try_emplace(id, vertex); !is_new)
      return lines_.error("vertex " + std::to_string(id) + " was given in line " +
                          std::to_string(parents_[there->second].number));
    skeleton_.vertices.push_back(position);
    radii_.push_back(radius);
    types_.push_back(static_cast<std::uint8_t>(type));
    parents_.push_back({lines_.number(), parent});
    return {};
  }

  Result<void> add_edge(std::uint32_t vertex) {
    const Line& line = parents_[vertex];
    if (line.parent == -1) return {};
    const auto parent = vertices_.find(line.parent);
    if (line.parent == 0 && parent == vertices_.end()) return {};
    if (parent != vertices_.end() && parent->second != vertex) {
      skeleton_.edges.push_back({vertex, parent->second});
      return {};
    }
    return corrupt("line " + std::to_string(line.number) + ": the parent " + std::to_string(line.parent) +
                   (parent == vertices_.end() ? " is not a vertex" : " is the vertex itself"));
  }

  TextLines lines_;
  Skeleton skeleton_;
  std::vector<float> radii_;
  std::vector<std::uint8_t> types_;
  std::vector<Line> parents_;
  std::unordered_map<std::int64_t, std::uint32_t> vertices_;
};

// The neighbours of each vertex, in consecutive lists.
struct Neighbours {
  std::vector<std::size_t> begins;
  std::vector<std::uint32_t> vertices;

  explicit Neighbours(const Skeleton& skeleton) : begins(skeleton.vertices.size() + 1) {
    for (const auto& edge : skeleton.edges)
      for (const std::uint32_t end : edge) ++begins[end + 1];
    for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
    vertices.resize(begins.back());
    std::vector<std::size_t> next(begins.begin(), begins.end());
    for (const auto& edge : skeleton.edges) {
      vertices[next[edge[0]]++] = edge[1];
      vertices[next[edge[1]]++] = edge[0];
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t vertex) const {
    return std::span(vertices).subspan(begins[vertex], begins[vertex + 1] - begins[vertex]);
  }
};

struct Trees {
  std::vector<std::uint32_t> order;    // parents before their children
  std::vector<std::uint32_t> parents;  // of each vertex
};

Trees trees_of(const Skeleton& skeleton) {
  const std::size_t count = skeleton.vertices.size();
  const Neighbours neighbours(skeleton);
  Trees trees{{}, std::vector<std::uint32_t>(count, kNone)};
  std::vector<bool> met(count);
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t root = 0; root < count; ++root) {
    if (met[root]) continue;
    met[root] = true;
    waiting.push_back(root);
    while (!waiting.empty()) {
      const std::uint32_t vertex = waiting.back();
      waiting.pop_back();
      trees.order.push_back(vertex);
      // The last one first, so that the first child comes next.
      const auto around = neighbours.of(vertex);
      for (std::size_t i = around.size(); i-- > 0;) {
        const std::uint32_t next = around[i];
        if (met[next]) continue;
        met[next] = true;
        trees.parents[next] = vertex;
        waiting.push_back(next);
      }
    }
  }
  return trees;
}

// The values of an attribute as float32 or uint8; zeros if it does not exist in that type.
template <class T>
std::vector<T> values_of(const Skeleton& skeleton, std::span<const VertexAttribute> attributes, std::string_view id) {
  for (std::size_t i = 0; i < attributes.size(); ++i)
    if (attributes[i].id == id && skeleton.attributes[i].dtype == DType::of<T>() && attributes[i].num_components == 1) {
      const auto values = skeleton.attributes[i].as<T>();
      return {values.begin(), values.end()};
    }
  return std::vector<T>(skeleton.vertices.size());
}

}  // namespace

std::span<const VertexAttribute> swc_attributes() {
  static const std::vector<VertexAttribute> attributes{{"radius", DType::float32, 1},
                                                       {"vertex_types", DType::uint8, 1}};
  return attributes;
}

Result<Skeleton> parse_swc(std::string_view text) { return SwcReader(text).read(); }

Result<SwcText> print_swc(const Skeleton& skeleton, std::span<const VertexAttribute> attributes) {
  SHERD_TRY(skeleton.print(attributes));  // checks its counts and vertex numbers
  const Trees trees = trees_of(skeleton);
  const auto radii = values_of<float>(skeleton, attributes, "radius");
  const auto types = values_of<std::uint8_t>(skeleton, attributes, "vertex_types");
  std::vector<std::uint32_t> numbers(trees.order.size());
  for (std::uint32_t i = 0; i < trees.order.size(); ++i) numbers[trees.order[i]] = i + 1;
  SwcText printed{"# id type x y z radius parent\n"};
  std::uint64_t kept = 0;
  for (const std::uint32_t vertex : trees.order) {
    printed.text += std::to_string(numbers[vertex]) + " " + std::to_string(types[vertex]);
    for (const float at : skeleton.vertices[vertex]) append_number(printed.text += ' ', at);
    append_number(printed.text += ' ', radii[vertex]);
    const std::uint32_t parent = trees.parents[vertex];
    kept += parent == kNone ? 0 : 1;
    printed.text += " " + (parent == kNone ? std::string("-1") : std::to_string(numbers[parent])) + "\n";
  }
  printed.edges_left_out = skeleton.edges.size() - kept;
  return printed;
}

}  // namespace sherd
