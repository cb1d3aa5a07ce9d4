// Wavefront OBJ: lines `v x y z` and `f a b c`. A vertex is its number, counted from 1 or, from the last one, as -1,
// optionally followed by the numbers of a texture and a normal (a/b/c). A \ at the end of a line joins the next one.
#include <limits>

#include "base/try.hpp"
#include "io/text_lines.hpp"
#include "sherd/object_files.hpp"

namespace sherd {
namespace {

using neuroglancer::Mesh;
using neuroglancer::Position;

class ObjReader {
 public:
  explicit ObjReader(std::string_view text) : lines_(text) {}

  Result<Mesh> read() && {
    while (lines_.next()) {
      const std::string_view keyword = word();
      if (keyword == "v") SHERD_TRY(read_vertex());
      if (keyword == "f") SHERD_TRY(read_face());
    }
    for (const auto& [triangle, line] : pending_)
      for (const std::uint32_t vertex : mesh_.triangles[triangle])
        if (vertex >= mesh_.vertices.size())
          return corrupt("line " + std::to_string(line) + ": there is no vertex " + std::to_string(vertex + 1) +
                         ", only " + std::to_string(mesh_.vertices.size()));
    return std::move(mesh_);
  }

 private:
  // Also from the lines that follow a \.
  std::string_view word() {
    std::string_view word = lines_.word();
    while (word == "\\" && lines_.next()) word = lines_.word();
    return word == "\\" ? std::string_view() : word;
  }

  Result<void> read_vertex() {
    Position position{};
    for (float& at : position) {
      SHERD_TRY(value, lines_.real("a coordinate"));
      if (std::abs(value) > std::numeric_limits<float>::max())
        return lines_.error("a coordinate does not fit in float32");
      at = static_cast<float>(value);
    }
    if (mesh_.vertices.size() == kMost) return lines_.error("there are more than 2^32-1 vertices");
    mesh_.vertices.push_back(position);
    return {};
  }

  Result<std::uint32_t> vertex_of(std::string_view text) const {
    const auto number = TextLines::parse_integer(text.substr(0, text.find('/')));
    const auto count = static_cast<std::int64_t>(mesh_.vertices.size());
    if (!number) return lines_.error(TextLines::quoted(text) + " is not the number of a vertex");
    if (*number == 0 || *number < -count || *number > std::int64_t{kMost})
      return lines_.error("there is no vertex " + std::to_string(*number) + ", and numbers begin at 1");
    return static_cast<std::uint32_t>(*number > 0 ? *number - 1 : count + *number);
  }

  Result<void> read_face() {
    std::uint32_t first = 0, previous = 0;
    std::size_t count = 0;
    for (std::string_view text = word(); !text.empty() && !text.starts_with('#'); text = word(), ++count) {
      SHERD_TRY(vertex, vertex_of(text));
      if (count >= 2) {
        if (std::max({first, previous, vertex}) >= mesh_.vertices.size())
          pending_.push_back({mesh_.triangles.size(), lines_.number()});
        mesh_.triangles.push_back({first, previous, vertex});
      }
      if (count == 0) first = vertex;
      previous = vertex;
    }
    return count >= 3 ? Result<void>()
                      : lines_.error("a face has " + std::to_string(count) + " vertices, not 3 or more");
  }

  static constexpr std::uint32_t kMost = ~std::uint32_t{0};
  struct Pending {
    std::size_t triangle;
    std::uint64_t line;
  };
  TextLines lines_;
  Mesh mesh_;
  std::vector<Pending> pending_;  // faces before their vertices
};

}  // namespace

Result<Mesh> parse_obj(std::string_view text) { return ObjReader(text).read(); }

Result<std::string> print_obj(const Mesh& mesh) {
  SHERD_TRY(mesh.print());  // checks its vertex numbers
  std::string text;
  for (const Position& vertex : mesh.vertices) {
    text += 'v';
    for (const float at : vertex) append_number(text += ' ', at);
    text += '\n';
  }
  for (const neuroglancer::Triangle& triangle : mesh.triangles) {
    text += 'f';
    for (const std::uint32_t vertex : triangle) text += " " + std::to_string(std::uint64_t{vertex} + 1);
    text += '\n';
  }
  return text;
}

}  // namespace sherd
