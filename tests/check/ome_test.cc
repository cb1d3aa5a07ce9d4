// Images by OME-NGFF and volumes: the nodes to which their metadata refer, and levels that contradict their scales.
#include "check/ome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/location.hpp"
#include "tests/check/check_testing.hpp"

namespace sherd {
namespace ome_test {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty;

constexpr auto kError = Fault::Severity::error, kWarning = Fault::Severity::warning;

class OmeFaults : public ::testing::Test {
 protected:
  void group(const std::string& path, const std::string& ome) {
    create_group(store_, path, Json::parse(R"({"ome": {"version": "0.5", )" + ome + "}}").value()).value();
  }
  void array(const std::string& path, const Shape& shape, const DType& dtype = DType::uint8,
             std::optional<std::vector<std::optional<std::string>>> names = {{"y", "x"}}) {
    create_array(store_, path, {.shape = shape, .dtype = dtype, .chunks = shape, .dimension_names = std::move(names)})
        .value();
  }
  /// Two levels with the axes y and x. The second level has half the resolution.
  static std::string image(const char* second = R"("scale": [2, 2])") {
    return std::string(R"("multiscales": [{"axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
      "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]},
        {"path": "1", "coordinateTransformations": [{"type": "scale", )") +
           second + "}]}]}]";
  }
  void sound_image(const std::string& path = "i", const DType& dtype = DType::uint8) {
    group(path, image());
    array(path + "/0", {8, 8}, dtype);
    array(path + "/1", {4, 4}, dtype);
  }

  /// The faults that only the check of images finds, as "code: message".
  std::vector<std::string> faults(const std::string& path = "i", std::optional<Fault::Severity> severity = {}) {
    const NodeLocation location = new_location(store_, path, "zarr3", {}).value();
    const auto document = location.format->open(*store_, path, {}).value();
    std::vector<std::string> found;
    check_image_group(location, *document, [&](Findings& findings) {
      for (const Fault& fault : findings.take_faults())
        if (!severity || fault.severity == *severity) found.push_back(fault.code + ": " + fault.message);
    }).value();
    return found;
  }
  testing::AssertionResult has(Fault::Severity severity, const std::string& part, const std::string& path = "i") {
    const auto found = faults(path, severity);
    for (const std::string& each : found)
      if (each.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << testing::PrintToString(faults(path));
  }

  const std::shared_ptr<Store> store_ = memory_store();
};

TEST_F(OmeFaults, DoNotExistInASoundImage) {
  sound_image();
  EXPECT_THAT(faults(), IsEmpty());
  group("g", R"("of": "another program")");
  EXPECT_THAT(faults("g"), IsEmpty());
}

TEST_F(OmeFaults, NameLevelsThatDoNotMatchTheImage) {
  sound_image();
  store_->erase_prefix("i/1/").value();
  EXPECT_TRUE(has(kError, "'attributes.ome.multiscales[0].datasets[1].path': there is no array '1'"));
  create_group(store_, "i/1").value();
  EXPECT_TRUE(has(kError, "'1' is not an array"));
  store_->erase_prefix("i/1/").value();
  array("i/1", {4, 4, 4}, DType::uint8, {{"z", "y", "x"}});
  EXPECT_TRUE(has(kError, "'1' has 3 dimensions, and the image 2 axes"));
  store_->erase_prefix("i/1/").value();
  array("i/1", {4, 4}, DType::uint8, {{"x", "y"}});
  EXPECT_TRUE(has(kError, "'1' has dimensions called"));
  store_->erase_prefix("i/1/").value();
  array("i/1", {4, 4}, DType::uint8, std::nullopt);
  EXPECT_TRUE(has(kError, "'1' has no dimension names"));
}

TEST_F(OmeFaults, LeaveADamagedLevelToItsOwnCheck) {
  sound_image();
  store_->set("i/1/zarr.json", "{").value();
  EXPECT_THAT(faults(), IsEmpty());
}

TEST_F(OmeFaults, WarnOfLengthsThatContradictScales) {
  group("i", image(R"("scale": [2, 4])"));
  array("i/0", {8, 8});
  array("i/1", {4, 4});
  EXPECT_THAT(faults(),
              ElementsAre(HasSubstr("level_shape: 'attributes.ome.multiscales[0].datasets[1]': has 4 elements "
                                    "along x, which its scale contradicts: of the 8 of the finest level it makes "
                                    "2")));
  EXPECT_THAT(faults("i", kError), IsEmpty());
}

TEST_F(OmeFaults, AllowLevelsThatAreRoundedEitherWay) {
  for (const std::uint64_t length : {3U, 4U}) {
    store_->erase_prefix("").value();
    group("i", image());
    array("i/0", {7, 7});
    array("i/1", {length, length});
    EXPECT_THAT(faults(), IsEmpty()) << length;
  }
}

TEST_F(OmeFaults, WarnOfVolumesWhoseScalesDisagree) {
  const auto info = [&](const char* size) {
    store_
        ->set("v/info", std::string(R"({"type": "image", "data_type": "uint8", "num_channels": 1, "scales": [
      {"key": "a", "size": [8, 8, 8], "resolution": [1, 1, 1], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"},
      {"key": "b", "size": )") +
                            size + R"(, "resolution": [2, 2, 2], "chunk_sizes": [[8, 8, 8]], "encoding": "raw"}]})")
        .value();
    std::vector<std::string> found;
    const CheckReport report = check(store_, {.path = "v"}).value();
    for (const Fault& fault : report.faults)
      if (fault.code == "level_shape") found.push_back(fault.message);
    return found;
  };
  EXPECT_THAT(info("[4, 4, 4]"), IsEmpty());
  EXPECT_THAT(info("[4, 4, 8]"), ElementsAre(HasSubstr("'scales[1]': has 8 elements along z")));
}

TEST_F(OmeFaults, NameLabelsThatDoNotExistOrAreNoIntegers) {
  sound_image();
  group("i/labels", R"("labels": ["cells", "gone"])");
  sound_image("i/labels/cells", DType::float32);
  EXPECT_TRUE(has(kError, "'gone' does not exist", "i/labels"));
  EXPECT_TRUE(has(kError, "'cells/0' has elements of the type float32; labels are integers", "i/labels"));
}

TEST_F(OmeFaults, NameLabelsWithFewerLevelsThanTheImage) {
  sound_image();
  group("i/labels", R"("labels": ["cells"])");
  group("i/labels/cells", R"("multiscales": [{"axes": [{"name": "y", "type": "space"}, {"name": "x", "type": "space"}],
      "datasets": [{"path": "0", "coordinateTransformations": [{"type": "scale", "scale": [1, 1]}]}]}])");
  array("i/labels/cells/0", {8, 8});
  EXPECT_TRUE(has(kError, "there are 2 resolutions, and 1 of 'labels/cells'"));
}

TEST_F(OmeFaults, NameAGroupOfLabelsThatIsNone) {
  sound_image();
  array("i/labels", {4, 4});
  EXPECT_TRUE(has(kError, "'labels' is not a group"));
  store_->erase_prefix("i/labels/").value();
  create_group(store_, "i/labels").value();
  EXPECT_TRUE(has(kError, "'labels' has no list of labels"));
}

TEST_F(OmeFaults, NameWellsAndImagesThatAreNone) {
  const std::string plate = R"("plate": {"columns": [{"name": "1"}, {"name": "2"}], "rows": [{"name": "A"}],
    "version": "0.5", "acquisitions": [{"id": 0}], "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0},
    {"path": "A/2", "rowIndex": 0, "columnIndex": 1}]})";
  group("p", plate);
  group("p/A/1", R"("well": {"version": "0.5", "images": [{"path": "0", "acquisition": 0},
    {"path": "1", "acquisition": 5}]})");
  EXPECT_TRUE(has(kWarning, "'A/2' does not exist", "p"));
  EXPECT_TRUE(has(kError, "an image of the acquisition 5, which is not listed", "p"));
  EXPECT_TRUE(has(kWarning, "'0' does not exist", "p/A/1"));
  create_group(store_, "p/A/1/0").value();
  EXPECT_TRUE(has(kError, "'0' is not an image", "p/A/1"));
  create_group(store_, "p/A/2").value();
  EXPECT_TRUE(has(kError, "'A/2' is not a well", "p"));
}

TEST_F(OmeFaults, NameASeriesWithoutImages) {
  group("s", R"("bioformats2raw.layout": 3)");
  EXPECT_TRUE(has(kWarning, "there is no image '0'", "s"));
  sound_image("s/0");
  EXPECT_THAT(faults("s"), IsEmpty());
  create_group(store_, "s/1").value();
  EXPECT_TRUE(has(kError, "'1' is not an image", "s"));
}

}  // namespace ome_test
}  // namespace sherd
