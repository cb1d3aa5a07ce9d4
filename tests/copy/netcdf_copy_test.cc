// What a copy of a netCDF dataset defines and writes, in a sink that keeps all of it.
#include "copy/netcdf_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "tests/netcdf/writer_testing.hpp"

namespace sherd::netcdf {
namespace netcdf_copy_test {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::UnorderedElementsAre;
using writer_testing::text;

/// Keeps definitions in their order, and how many elements of each variable were written.
class KeepingSink final : public Sink {
 public:
  Result<void> define_group(const std::string& path, std::vector<Attribute> attributes) override {
    defined.push_back("group " + path);
    group_attributes[path] = std::move(attributes);
    return {};
  }
  Result<void> define_dimension(const Dimension& dimension) override {
    defined.push_back("dimension " + dimension.full_name() + " " + std::to_string(dimension.length) +
                      (dimension.unlimited ? " unlimited" : ""));
    return {};
  }
  Result<void> define_variable(const std::string& group, NewVariable variable, std::vector<Filter>) override {
    const std::string path = (group == "/" ? "" : group) + "/" + variable.name;
    defined.push_back("variable " + path);
    variables.insert_or_assign(path, std::move(variable));
    return {};
  }
  Result<void> end_definitions() override {
    defined.push_back("end");
    return {};
  }
  Result<void> write(const std::string& variable, const Box& box, std::span<const std::byte>) override {
    return count(variable, box);
  }
  Result<void> write_strings(const std::string& variable, const Box& box, std::vector<std::string>) override {
    return count(variable, box);
  }
  Result<void> finish() override {
    is_finished = true;
    return {};
  }

  std::vector<std::string> defined;
  std::map<std::string, NewVariable> variables;
  std::map<std::string, std::vector<Attribute>> group_attributes;
  std::map<std::string, std::uint64_t> written;
  bool is_finished = false;

 private:
  Result<void> count(const std::string& variable, const Box& box) {
    const std::lock_guard hold(mutex_);
    written[variable] += *element_count(box.shape);
    return {};
  }
  std::mutex mutex_;
};

class DatasetCopies : public ::testing::Test {
 protected:
  DatasetCopies() {
    Writer writer = Writer::create(store_).value();
    writer.define_dimension("/", "t", 3, true).value();
    writer.define_dimension("/", "x", 4).value();
    writer.define_group("/g", {text("about", "g")}).value();
    writer.define_group("/g/h", {}).value();
    writer.define_variable("/", {.name = "x", .type = Type::float64, .dimensions = {"x"}}).value();
    writer.write("x", {{0}, {4}}, std::vector<double>{0, 1, 2, 3}).value();
    writer
        .define_variable("/g", {.name = "v",
                                .dimensions = {"t", "x"},
                                .attributes = {text("units", "K")},
                                .chunks = {1, 2},
                                .deflate_level = 3,
                                .shuffle = true})
        .value();
    writer.write("/g/v", {{0, 0}, {3, 4}}, std::vector<std::int32_t>(12, 5)).value();
    writer.define_variable("/g/h", {.name = "s", .type = Type::string, .dimensions = {"x"}}).value();
    writer.write("/g/h/s", {{0}, {4}}, std::vector<std::string>{"a", "", "ccc", "d"}).value();
    writer.sync().value();
  }

  Result<DatasetCopyReport> run(const DatasetCopyOptions& options = {}, FilterForm form = FilterForm::hdf5) {
    const Dataset source = Dataset::open(store_).value();
    return copy_dataset({.source = source, .sink = sink_, .form = form, .options = options}, {});
  }

  const std::shared_ptr<Store> store_ = memory_store();
  KeepingSink sink_;
};

TEST_F(DatasetCopies, DefineEverythingBeforeTheFirstElement) {
  const DatasetCopyReport report = run().value();
  EXPECT_EQ(report.groups, 2U);  // without the root
  EXPECT_EQ(report.variables, 3U);
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_THAT(sink_.defined, UnorderedElementsAre("dimension /t 3 unlimited", "dimension /x 4", "variable /x",
                                                  "group /g", "variable /g/v", "group /g/h", "variable /g/h/s", "end"));
  EXPECT_EQ(sink_.defined.back(), "end");
  EXPECT_THAT(sink_.group_attributes["/g"], ElementsAre(text("about", "g")));
  EXPECT_THAT(sink_.variables.at("/g/v").attributes, ElementsAre(text("units", "K")));
  EXPECT_THAT(sink_.written,
              UnorderedElementsAre(std::pair("/x", 4U), std::pair("/g/v", 12U), std::pair("/g/h/s", 4U)));
}

TEST_F(DatasetCopies, KeepChunksAndFiltersUnlessTheyAreChanged) {
  run().value();
  EXPECT_EQ(sink_.variables.at("/g/v").chunks, (Shape{1, 2}));
  EXPECT_EQ(sink_.variables.at("/g/v").deflate_level, 3);
  EXPECT_TRUE(sink_.variables.at("/g/v").shuffle);
  run({.dimension_chunks = {{"t", 2}, {"x", 0}}, .deflate_level = 0}).value();
  EXPECT_EQ(sink_.variables.at("/g/v").chunks, (Shape{2, 4}));
  EXPECT_FALSE(sink_.variables.at("/g/v").deflate_level);
  EXPECT_FALSE(sink_.variables.at("/g/v").shuffle);
  run({.dimension_chunks = {{"x", 3}}, .variable_chunks = {{"/g/v", {3, 1}}}}).value();
  EXPECT_EQ(sink_.variables.at("/g/v").chunks, (Shape{3, 1}));
}

TEST_F(DatasetCopies, RefuseChunksThatDoNotFitTheVariable) {
  for (const Shape& chunks : {Shape{1}, Shape{1, 0}}) {
    const auto copied = run({.variable_chunks = {{"/g/v", chunks}}});
    ASSERT_FALSE(copied);
    EXPECT_EQ(copied.error().code(), ErrorCode::invalid_argument);
    EXPECT_EQ(copied.error().member(), "chunks");
  }
}

TEST_F(DatasetCopies, OfSomeVariablesLeaveOutTheOthers) {
  const DatasetCopyReport report = run({.variables = {"/g/v"}}).value();
  EXPECT_EQ(report.variables, 1U);
  EXPECT_THAT(sink_.written, ElementsAre(std::pair("/g/v", 12U)));
  EXPECT_THAT(sink_.variables, testing::SizeIs(1));
  const auto unknown = run({.variables = {"/g/w"}});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text(), HasSubstr("/g/w"));
}

TEST_F(DatasetCopies, OfSomeDataDefineAllVariables) {
  run({.data_variables = {"x"}}).value();
  EXPECT_THAT(sink_.variables, testing::SizeIs(3));
  EXPECT_THAT(sink_.written, ElementsAre(std::pair("/x", 4U)));
}

TEST_F(DatasetCopies, MakeUnlimitedDimensionsFixedOnRequest) {
  run({.fixed_dimensions = true}).value();
  EXPECT_THAT(sink_.defined, testing::Contains("dimension /t 3"));
}

TEST_F(DatasetCopies, NameTheStoreOfADamagedElement) {
  store_->set("g/v/0.0", "not zlib").value();
  const auto copied = run();
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().code(), ErrorCode::corrupt);
  EXPECT_THAT(copied.error().text(), HasSubstr("g/v/0.0"));
}

TEST_F(DatasetCopies, DividedByAnyMemoryWriteEachElementOnce) {
  for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1} << 20}) {
    sink_.written.clear();
    run({.config = {.memory_budget = budget}}).value();
    EXPECT_THAT(sink_.written,
                UnorderedElementsAre(std::pair("/x", 4U), std::pair("/g/v", 12U), std::pair("/g/h/s", 4U)))
        << budget;
  }
}

TEST_F(DatasetCopies, ReportTheirProgressUpToTheTotal) {
  Progress last;
  DatasetCopyOptions options;
  options.config.progress = [&](const Progress& progress) { last = progress; };
  const DatasetCopyReport report = run(options).value();
  EXPECT_EQ(last.done, report.bytes);
  EXPECT_EQ(last.total, report.bytes);
}

TEST(CopiedAttributes, AreThoseThatTheCopyCanHave) {
  const std::vector<Attribute> all = {text("fine", "ü"),     text("_FillThis", "x"),
                                      text("latin", "\xfc"), {"nulls", std::vector<std::string>{"a", ""}, {1}},
                                      text("a/b", "x"),      text("_ARRAY_DIMENSIONS", "x")};
  std::vector<std::string> warnings;
  const auto zarr = copied_attributes(all, FilterForm::zarr2, "/v", warnings);
  EXPECT_THAT(zarr, ElementsAre(text("fine", "ü"), text("_FillThis", "x"), text("latin", "ü"),
                                Attribute{"nulls", std::vector<std::string>{"a", ""}}));
  EXPECT_THAT(warnings,
              UnorderedElementsAre(HasSubstr("'latin' is not UTF-8"), HasSubstr("'nulls' has null strings"),
                                   HasSubstr("'a/b' is left out"), HasSubstr("'_ARRAY_DIMENSIONS' is left out")));
  warnings.clear();
  const auto file =
      copied_attributes({text("latin", "\xfc"), text("_ARRAY_DIMENSIONS", "x")}, FilterForm::none, "/v", warnings);
  EXPECT_THAT(file, ElementsAre(text("latin", "\xfc"), text("_ARRAY_DIMENSIONS", "x")));
  EXPECT_THAT(warnings, IsEmpty());
}

}  // namespace netcdf_copy_test
}  // namespace sherd::netcdf
