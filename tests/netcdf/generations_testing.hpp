// A small dataset in the form of each generation of NCZarr, for its tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sherd/group.hpp"
#include "sherd/tools.hpp"
#include "tests/netcdf/netcdf_testing.hpp"
#include "tests/store/round_trips.hpp"
#include "tests/test_data.hpp"

namespace sherd::netcdf::generations_testing {

inline constexpr const char* kHeader = R"(netcdf x {
dimensions:
	t = 2 ;
	n = 3 ;
variables:
	int v(t, n) ;
		v:units = "m" ;
		v:level = 5s ;
	float s ;

// global attributes:
		:title = "root" ;

group: g {
  dimensions:
  	n = 2 ;
  variables:
  	char c(n) ;
  	byte u(t) ;

  // group attributes:
  		:about = 1.5 ;
  } // group g
}
)";

inline std::string v2_array(const std::string& shape, const std::string& dtype, const std::string& key,
                            const std::string& refs, const std::string& storage = "chunked") {
  return zarray(shape, dtype, ", \"" + key + R"(": {"dimrefs": )" + refs + R"(, "storage": ")" + storage + "\"}");
}

inline Texts v2(bool upper) {
  const auto key = [&](const char* name) {
    std::string text = name;
    if (upper)
      for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return text;
  };
  const std::string text = upper ? "<U1" : ">S1";
  const std::string attr = ", \"" + key("_nczarr_attr") + R"(": {"types": )";
  return {
      {".zgroup", R"({"zarr_format": 2, ")" + key("_nczarr_superblock") + R"(": {"version": "2.0.0"}, ")" +
                      key("_nczarr_group") + R"(": {"dims": {"t": 2, "n": 3}, "vars": ["v", "s"], "groups": ["g"]}})"},
      {".zattrs", R"({"title": "root")" + attr + R"({"title": ")" + text + "\"}}}"},
      {"v/.zarray", v2_array("[2, 3]", "<i4", key("_nczarr_array"), R"(["/t", "/n"])")},
      {"v/.zattrs", R"({"units": "m", "level": 5)" + attr + R"({"units": ")" + text + R"(", "level": "<i2"}}})"},
      {"s/.zarray", v2_array("[1]", "<f4", key("_nczarr_array"), "[]", "scalar")},
      {"g/.zgroup", R"({"zarr_format": 2, ")" + key("_nczarr_group") +
                        R"(": {"dims": {"n": 2}, "vars": ["c", "u"], "groups": []}})"},
      {"g/.zattrs", R"({"about": 1.5)" + attr + R"({"about": "<f8"}}})"},
      {"g/c/.zarray", v2_array("[2]", text, key("_nczarr_array"), R"(["/g/n"])")},
      {"g/c/0", "ab"},
      {"g/u/.zarray", v2_array("[2]", "<i1", key("_nczarr_array"), R"(["/t"])")}};
}

inline Texts v1() {
  return {{".nczarr", R"({"zarr_format": 2, "nczarr_version": "1.0.0"})"},
          {".zgroup", R"({"zarr_format": 2})"},
          {".nczgroup", R"({"dims": {"t": 2, "n": 3}, "vars": ["v", "s"], "groups": ["g"]})"},
          {".zattrs", R"({"title": "root"})"},
          {".nczattr", R"({"types": {"title": "2"}})"},
          {"v/.zarray", zarray("[2, 3]", "<i4")},
          {"v/.nczvar", R"({"dimrefs": ["/t", "/n"], "storage": "chunked"})"},
          {"v/.zattrs", R"({"units": "m", "level": [5]})"},
          {"v/.nczattr", R"({"types": {"units": "2", "level": "3"}})"},
          {"s/.zarray", zarray("[1]", "<f4")},
          {"s/.nczarray", R"({"dimrefs": [], "storage": "scalar"})"},
          {"g/.zgroup", R"({"zarr_format": 2})"},
          {"g/.nczgroup", R"({"dims": {"n": 2}, "vars": ["c", "u"], "groups": []})"},
          {"g/.zattrs", R"({"about": [1.5]})"},
          {"g/.nczattrs", R"({"types": {"about": "<f8"}})"},
          {"g/c/.zarray", zarray("[2]", "<U1")},
          {"g/c/.nczarray", R"({"dimrefs": ["/g/n"], "storage": "chunked"})"},
          {"g/c/0", "ab"},
          {"g/u/.zarray", zarray("[2]", "<i1")},
          {"g/u/.nczarray", R"({"dimrefs": ["/t"], "storage": "chunked"})"}};
}

/// In the form of 4.9.3: everything in attributes.
inline std::string notes(const char* which, const std::string& note, const std::string& attributes,
                         const std::string& types) {
  return "{" + attributes + R"("_nczarr_)" + which + R"(": )" + note + R"(, "_nczarr_attr": {"types": {)" + types +
         (types.empty() ? "" : ", ") + R"("_nczarr_)" + which + R"(": "|J0", "_nczarr_attr": "|J0"}}})";
}

inline const std::string kRootNote = R"({"dimensions": {"t": 2, "n": 3}, "arrays": ["v", "s"], "groups": ["g"]})";
inline const std::string kGroupNote = R"({"dimensions": {"n": 2}, "arrays": ["c", "u"], "groups": []})";

inline Texts v2c() {
  return {{".zgroup", R"({"zarr_format": 2})"},
          {".zattrs", notes("group", kRootNote, R"("title": "root", )", R"("title": ">S1")")},
          {"v/.zarray", zarray("[2, 3]", "<i4")},
          {"v/.zattrs", notes("array", R"({"dimension_references": ["/t", "/n"], "storage": "chunked"})",
                              R"("units": "m", "level": 5, )", R"("units": ">S1", "level": "<i2")")},
          {"s/.zarray", zarray("[1]", "<f4")},
          {"s/.zattrs", notes("array", R"({"dimension_references": [], "scalar": 1, "storage": "chunked"})", "", "")},
          {"g/.zgroup", R"({"zarr_format": 2})"},
          {"g/.zattrs", notes("group", kGroupNote, R"("about": 1.5, )", R"("about": "<f8")")},
          {"g/c/.zarray", zarray("[2]", ">S1")},
          {"g/c/.zattrs", notes("array", R"({"dimension_references": ["/g/n"], "storage": "chunked"})", "", "")},
          {"g/c/0", "ab"},
          {"g/u/.zarray", zarray("[2]", "<i1")},
          {"g/u/.zattrs", notes("array", R"({"dimension_references": ["/t"], "storage": "chunked"})", "", "")}};
}

inline std::string v3_array(const std::string& shape, const std::string& type, const std::string& attributes) {
  return R"({"zarr_format": 3, "node_type": "array", "shape": )" + shape + R"(, "data_type": ")" + type +
         R"(", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": )" + shape +
         R"(}}, "chunk_key_encoding": {"name": "default"}, "fill_value": 0,
         "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": )" +
         attributes + "}";
}

inline Texts v3() {
  const std::string group = R"({"zarr_format": 3, "node_type": "group", "attributes": )";
  return {{"zarr.json", group + notes("group", kRootNote, R"("title": "root", )", R"("title": ">S1")") + "}"},
          {"v/zarr.json", v3_array("[2, 3]", "int32",
                                   notes("array", R"({"dimension_references": ["/t", "/n"]})",
                                         R"("units": "m", "level": 5, )", R"("units": ">S1", "level": "<i2")"))},
          {"s/zarr.json",
           v3_array("[]", "float32", notes("array", R"({"dimension_references": [], "scalar": 1})", "", ""))},
          {"g/zarr.json", group + notes("group", kGroupNote, R"("about": 1.5, )", R"("about": "<f8")") + "}"},
          {"g/c/zarr.json",
           v3_array("[2]", "uint8", notes("array", R"({"dimension_references": ["/g/n"], "type": "char"})", "", ""))},
          {"g/c/c/0", "ab"},
          {"g/u/zarr.json", v3_array("[2]", "int8", notes("array", R"({"dimension_references": ["/t"]})", "", ""))}};
}

}  // namespace sherd::netcdf::generations_testing
