// Hostile paths and links: 76 to 85 of docs/limits.md. Next to each store's root is an array that must stay unseen.
#include "tests/hostile/hostile.hpp"

namespace sherd::hostile {
namespace path_test {

namespace fs = std::filesystem;

void good_array(World& world) { world.array(sharded()); }

Config without_links() {
  Config config;
  config.follow_symlinks = false;
  return config;
}

/// A path that must not lead anywhere.
Case path(int number, std::string name, std::string where, ErrorCode code) {
  return {.number = number,
          .name = std::move(name),
          .make = good_array,
          .act = Act::open,
          .expected = refused(code, ""),
          .path = std::move(where)};
}

std::string components(std::size_t count) {
  std::string whole;
  for (std::size_t i = 0; i < count; ++i) whole += "d/";
  return whole + "a";
}

// A group whose consolidated metadata names nodes outside the store.
void consolidated_outside(World& world) {
  world.store()
      ->set("zarr.json",
            std::string_view(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline",
    "must_understand": false, "metadata": {"../outside/a": {"zarr_format": 3, "node_type": "group"},
    "/outside": {"zarr_format": 3, "node_type": "group"}, "..": {"zarr_format": 3, "node_type": "group"}}}})"))
      .value();
}

void linked_node(World& world) {
  good_array(world);
  fs::remove_all(world.root() / "a");
  fs::create_symlink(world.outside() / "a", world.root() / "a");
}

void linked_object(World& world) {
  good_array(world);
  fs::rename(world.object_path(), world.outside() / "object");
  fs::create_symlink(world.outside() / "object", world.object_path());
}

void links_in_a_circle(World& world) {
  good_array(world);
  const fs::path node = world.root() / "a/c";
  fs::remove_all(node);
  fs::create_symlink("c", node);
}

// A group that holds itself.
void group_in_itself(World& world) {
  world.store()->set("zarr.json", std::string_view(R"({"zarr_format": 3, "node_type": "group"})")).value();
  world.store()->set("g/zarr.json", std::string_view(R"({"zarr_format": 3, "node_type": "group"})")).value();
  fs::create_directory_symlink("..", world.root() / "g/up");
}

void two_cases(World& world) {
  good_array(world);
  world.store()->set("A/zarr.json", document_with(R"({"fill_value": 7})")).value();
}

std::vector<Case> paths() {
  return {
      path(76, "dots in a path", "../outside/a", ErrorCode::invalid_argument),
      path(76, "dots inside a path", "a/../../outside/a", ErrorCode::invalid_argument),
      {.number = 76,
       .name = "dots in consolidated metadata",
       .make = consolidated_outside,
       .act = Act::list,
       .expected = reads()},
      path(77, "dots as percent signs", "%2e%2e%2foutside%2fa", ErrorCode::not_found),
      path(78, "dots as percent signs twice", "%252e%252e%252foutside", ErrorCode::not_found),
      path(79, "backslashes", "..\\outside\\a", ErrorCode::not_found),
      path(80, "a NUL", std::string("a\0/../outside", 13), ErrorCode::invalid_argument),
      {.number = 81,
       .name = "an absolute path is one below the root",
       .make = good_array,
       .act = Act::read_all,
       .expected = reads(),
       .path = "/a"},
      path(81, "the outside's absolute path", "/tmp/outside/a", ErrorCode::not_found),
      path(84, "ten thousand components", components(10'000), ErrorCode::invalid_argument),
      {.number = 85,
       .name = "names that differ in case are two arrays",
       .make = two_cases,
       .act = Act::read_all,
       .expected = reads()},
      {.number = 85,
       .name = "and the other of them",
       .make = two_cases,
       .act = Act::read_all,
       .expected = reads([](std::uint64_t, std::uint64_t) { return std::uint16_t{7}; }),
       .path = "A"},
  };
}

std::vector<Case> links() {
  std::vector<Case> rows{
      {82, "a link to a node outside", linked_node, Act::open, refused(unsupported_code, "follow_symlinks")},
      {82, "a link to an object outside", linked_object, Act::read_all, refused(unsupported_code, "follow_symlinks")},
      {82, "writing through a link to an object outside", linked_object, Act::write_one,
       refused(unsupported_code, "follow_symlinks")},
      {83, "a link to itself, not followed", links_in_a_circle, Act::read_all,
       refused(unsupported_code, "follow_symlinks")},
      {83, "a group in itself, not followed", group_in_itself, Act::list, reads()},
  };
  for (Case& row : rows) row.config = without_links();
  rows.push_back({82, "a link to an object outside, followed", linked_object, Act::read_all, reads()});
  rows.push_back({82, "a link to a node outside, followed", linked_node, Act::open, reads()});
  rows.push_back({83, "a link to itself", links_in_a_circle, Act::read_all, refused(ErrorCode::io, "symbolic links")});
  rows.push_back({83, "a group in itself", group_in_itself, Act::list, reads()});
  for (Case& row : rows) row.where = Where::files;
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Paths, Hostile, testing::ValuesIn(paths()), name_of);
INSTANTIATE_TEST_SUITE_P(Links, Hostile, testing::ValuesIn(links()), name_of);

}  // namespace path_test
}  // namespace sherd::hostile
