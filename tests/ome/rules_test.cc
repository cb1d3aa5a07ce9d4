// OME-NGFF's rules: each violation has its member and its severity, and sound metadata have none.
#include "ome/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ome/ome.hpp"
#include "tests/format/documents_testing.hpp"

namespace sherd {
namespace rules_test {

/// The only finding, as "error MEMBER: MESSAGE"; several are joined by " | ".
std::string found(std::string_view attributes, std::string_view version = "0.5", const std::string& path = "") {
  std::string text;
  for (const OmeFinding& each : check_ome(parsed(attributes), version, path))
    text += (text.empty() ? "" : " | ") + std::string(each.is_error ? "error " : "warning ") + each.member + ": " +
            each.message;
  return text;
}

const std::string kAxes = R"([{"name": "t", "type": "time"}, {"name": "c", "type": "channel"},
  {"name": "z", "type": "space"}, {"name": "y", "type": "space"}, {"name": "x", "type": "space"}])";
const std::string kScale = R"([{"type": "scale", "scale": [1, 1, 2, 2, 2]}])";
const std::string kDatasets = R"([{"path": "0", "coordinateTransformations": )" + kScale + "}]";

std::string image(const std::string& axes, const std::string& datasets, const std::string& more = "") {
  return R"({"ome": {"version": "0.5", "multiscales": [{"axes": )" + axes + R"(, "datasets": )" + datasets + "}]" +
         more + "}}";
}
std::string with_axes(const std::string& axes) {
  return found(image(axes, R"([{"path": "0", "coordinateTransformations":
  [{"type": "scale", "path": "s"}]}])"));
}
std::string with_steps(const std::string& steps) {
  return found(image(kAxes, R"([{"path": "0", "coordinateTransformations": )" + steps + "}]"));
}
std::string with_label(const std::string& label, std::string_view version = "0.5") {
  return found(image(kAxes, kDatasets, R"(, "image-label": )" + label), version);
}

TEST(OmeRules, FindNothingInSoundMetadata) {
  EXPECT_EQ(found(image(kAxes, kDatasets)), "");
  EXPECT_EQ(found("{}"), "");
  EXPECT_EQ(
      found(R"({"multiscales": [{"version": "0.4", "axes": )" + kAxes + R"(, "datasets": )" + kDatasets + "}]}", "0.4"),
      "");
  EXPECT_EQ(
      with_label(
          R"({"version": "0.5", "colors": [{"label-value": 1, "rgba": [0, 1, 2, 255]}, {"label-value": -2, "rgba": null}],
    "properties": [{"label-value": -2}, {"label-value": 1}], "source": {"image": "../../"}})"),
      "");
}

TEST(OmeRules, BoundTheNumberAndTheTypesOfAxes) {
  const std::string members = "ome.multiscales[0].axes: ",
                    path =
                        " | warning ome.multiscales[0].datasets[0].coordinateTransformations[0]: refers to numbers in "
                        "an array, which Sherd does not read";
  const auto axes = [](std::initializer_list<const char*> types) {
    std::string list;
    char name = 'a';
    for (const char* type : types)
      list += std::string(list.empty() ? "" : ", ") + R"({"name": ")" + name++ + R"(", "type": ")" + type + "\"}";
    return "[" + list + "]";
  };
  EXPECT_EQ(with_axes(axes({"space", "space"})), path.substr(3));
  EXPECT_EQ(with_axes(axes({"time", "unknown", "space", "space"})), path.substr(3));
  EXPECT_EQ(with_axes(axes({"space"})), "error " + members + "has 1 axes; an image has 2 to 5 | error " + members +
                                            "has 1 axes of the type space; an image has 2 or 3" + path);
  EXPECT_EQ(with_axes(axes({"space", "space", "space", "space"})),
            "error " + members + "has 4 axes of the type space; an image has 2 or 3" + path);
  EXPECT_EQ(with_axes(axes({"time", "channel", "a", "space", "space", "space"})),
            "error " + members + "has 6 axes; an image has 2 to 5" + path);
  EXPECT_EQ(with_axes(axes({"channel", "channel", "space", "space"})),
            "error " + members + "has more than one axis of the type channel" + path);
  EXPECT_EQ(with_axes(axes({"a", "b", "space", "space"})),
            "error " + members + "has more than one axis of another type" + path);
  EXPECT_EQ(with_axes(axes({"space", "channel", "space"})),
            "error " + members + "must end with the axes of the type space" + path);
  EXPECT_EQ(with_axes(axes({"channel", "time", "space", "space"})),
            "error " + members + "must begin with the axis of the type time" + path);
  EXPECT_EQ(with_axes(R"([{"name": "x", "type": "space"}, {"name": "x", "type": "space"}])"),
            "error ome.multiscales[0].axes[1].name: 'x' is used twice" + path);
  EXPECT_EQ(with_axes(R"([{"type": "space"}, {"name": "x", "type": "space"}])"),
            "error ome.multiscales[0].axes[0].name: must be text" + path);
  EXPECT_EQ(with_axes(R"({})"), "error " + members + "must be a list of axes" + path);
}

TEST(OmeRules, WantOneScaleAndPerhapsOneTranslation) {
  const std::string member = "error ome.multiscales[0].datasets[0].coordinateTransformations";
  const std::string scale = R"({"type": "scale", "scale": [1, 1, 1, 1, 1]})",
                    shift = R"({"type": "translation", "translation": [0, 0, 0, 0, 0]})";
  EXPECT_EQ(with_steps("[" + scale + "," + shift + "]"), "");
  const std::string wrong = member + ": must be one scale, and perhaps one translation after it";
  for (const std::string& steps : {std::string("[]"), "[" + shift + "]", "[" + shift + "," + scale + "]",
                                   "[" + scale + "," + scale + "]", std::string("{}")})
    EXPECT_EQ(with_steps(steps), wrong) << steps;
  EXPECT_EQ(with_steps(R"([{"type": "scale", "scale": [1, 1]}])"), member + "[0].scale: has 2 numbers for 5 axes");
  EXPECT_EQ(with_steps(R"([{"type": "scale", "scale": [1, "1", 1, 1, 1]}])"),
            member + "[0].scale: must be a list of numbers");
  EXPECT_EQ(
      with_steps(R"([{"type": "scale", "scale": [1, 0, 1, 1, 1]}])"),
      "warning ome.multiscales[0].datasets[0].coordinateTransformations[0].scale: has a number that is not positive");
}

TEST(OmeRules, OrderResolutionsFromFineToCoarse) {
  const auto levels = [](const std::string& a, const std::string& b) {
    const auto level = [](const char* path, const std::string& x) {
      return std::string(R"({"path": ")") + path + R"(", "coordinateTransformations": [{"type": "scale", "scale": [)" +
             x + "]}]}";
    };
    return found(image(R"([{"name": "y", "type": "space"}, {"name": "x", "type": "space"}])",
                       "[" + level("0", a) + "," + level("1", b) + "]"));
  };
  EXPECT_EQ(levels("1, 1", "1, 1"), "");
  EXPECT_EQ(levels("1, 1", "2, 1"), "");
  EXPECT_THAT(
      levels("1, 1", "2, 0.5"),
      testing::StartsWith("error ome.multiscales[0].datasets[1].coordinateTransformations: has a smaller scale"));
}

TEST(OmeRules, CheckTheVersionByTheFormatOfTheGroup) {
  EXPECT_THAT(found(image(kAxes, kDatasets), "0.4"),
              testing::StartsWith("error ome.version: OME-NGFF 0.5 is metadata of Zarr v3"));
  const std::string old =
      R"({"multiscales": [{"version": "0.4", "axes": )" + kAxes + R"(, "datasets": )" + kDatasets + "}]}";
  EXPECT_THAT(found(old, "0.5"),
              testing::StartsWith("error multiscales: OME-NGFF 0.4 and before are metadata of Zarr v2"));
  const auto version = [](const std::string& text) {
    return found(R"({"ome": {"version": )" + text + R"(, "multiscales": 1}})");
  };
  EXPECT_EQ(
      version("null"),
      "error ome.version: must be 0.5, not null | error ome.multiscales: must be a list of images, and not empty");
  EXPECT_EQ(version(R"("0.4")"), "error ome.version: must be 0.5, not '0.4'");
  for (const char* later : {R"("0.6")", R"("1.0")", R"("0.6-dev1")", R"("10.2")"})
    EXPECT_THAT(version(later), testing::EndsWith("Sherd checks the rules of 0.4 and 0.5 only")) << later;
  for (const char* other : {R"("0.5.")", R"("1")", R"("x.6")", R"("0.")", R"(".9")"})
    EXPECT_THAT(version(other), testing::StartsWith("error ome.version: must be 0.5, not ")) << other;
}

TEST(OmeRules, WantColoursAndPropertiesOfTheSameLabels) {
  EXPECT_EQ(with_label("5"), "error ome.image-label: must be an object");
  EXPECT_EQ(with_label(R"({"version": "0.4"})"), "error ome.image-label.version: must be 0.5, not '0.4'");
  EXPECT_EQ(with_label(R"({"colors": 5})"), "error ome.image-label.colors: must be a list");
  EXPECT_EQ(with_label(R"({"colors": [{"rgba": null}]})"),
            "error ome.image-label.colors[0].label-value: must be an integer");
  EXPECT_EQ(with_label(R"({"colors": [{"label-value": 1, "rgba": null}, {"label-value": 1, "rgba": null}]})"),
            "error ome.image-label.colors: has two colours of one label");
  EXPECT_EQ(with_label(R"({"colors": [{"label-value": 18446744073709551615, "rgba": null}]})"), "");
  EXPECT_EQ(with_label(R"({"colors": [{"label-value": 1, "rgba": null}], "properties": [{"label-value": 2}]})"),
            "error ome.image-label: has colours and properties of different labels");
  for (const char* rgba :
       {"[0, 0, 0]", "[0, 0, 0, 256]", "[0, 0, 0, -1]", "[0, 0, 0, 0.5]", "5", R"({"a": 0, "b": 0, "c": 0, "d": 0})"})
    EXPECT_EQ(with_label(R"({"colors": [{"label-value": 1, "rgba": )" + std::string(rgba) + "}]}"),
              "error ome.image-label.colors[0].rgba: must be four integers from 0 to 255")
        << rgba;
  EXPECT_EQ(with_label(R"({"source": {"image": 5}})"),
            "error ome.image-label.source: must be an object, and its member image text");
  EXPECT_EQ(found(R"({"ome": {"version": "0.5", "image-label": {}}})"),
            "error ome.multiscales: is missing: labels are an image");
}

TEST(OmeRules, CheckChannelsAsErrorsOnlyInTheOlderVersion) {
  const std::string omero =
      R"({"channels": [{"color": "FF00FG", "window": {"min": 0, "max": 1, "start": 0}}, {"color": "00ff00"}]})";
  const std::string present = found(image(kAxes, kDatasets, R"(, "omero": )" + omero));
  EXPECT_EQ(
      present,
      "warning ome.omero.channels[0].color: must be six hexadecimal digits, as in 00FF00 | warning "
      "ome.omero.channels[0].window.end: must be a number | warning ome.omero.channels[1].window: must be an object");
  EXPECT_THAT(found(R"({"multiscales": [{"axes": )" + kAxes + R"(, "datasets": )" + kDatasets + R"(}], "omero": )" +
                        omero + "}",
                    "0.4"),
              testing::StartsWith("error omero.channels[0].color"));
  EXPECT_EQ(found(R"({"ome": {"version": "0.5", "omero": {}}})"),
            "error ome.multiscales: is missing: omero describes the channels of an image");
}

TEST(OmeRules, WarnOfAttributesThatAreNamedLikeMetadataAndAreNot) {
  EXPECT_EQ(found(R"({"ome": 5})"), "warning ome: is not an object, and so is not OME-NGFF's");
  EXPECT_EQ(found(R"({"multiscales": 5})", "0.4"),
            "warning multiscales: is not a list of images with datasets, and so is not OME-NGFF's");
  EXPECT_EQ(found(R"({"multiscales": {"levels": 5}})", "0.4"), "") << "of another convention";
  EXPECT_EQ(found(R"({"labels": 5})", "0.4", "i/labels"),
            "warning labels: is not a list of names, and so is not OME-NGFF's");
  EXPECT_EQ(found(R"({"labels": 5})", "0.4", "i/other"), "");
  EXPECT_EQ(found(R"({"plate": {"version": "0.4"}})", "0.4"),
            "warning plate: is not a plate with wells, and so is not OME-NGFF's");
  EXPECT_EQ(found(R"({"plate": "steel"})", "0.4"), "");
  EXPECT_EQ(found(R"({"multiscales": 5})", "0.5"), "");
}

TEST(OmeRules, CheckListsOfLabelsAndTheLayoutOfSeries) {
  EXPECT_EQ(found(R"({"ome": {"version": "0.5", "labels": ["a", "b"]}})"), "");
  EXPECT_EQ(found(R"({"ome": {"version": "0.5", "labels": ["a", 3]}})"),
            "error ome.labels: must be a list of the names of groups");
  EXPECT_EQ(found(R"({"ome": {"version": "0.5", "bioformats2raw.layout": 3}})"), "");
  EXPECT_EQ(found(R"({"ome": {"version": "0.5", "bioformats2raw.layout": 2}})"),
            "error ome.bioformats2raw.layout: must be 3");
}

}  // namespace rules_test
}  // namespace sherd
