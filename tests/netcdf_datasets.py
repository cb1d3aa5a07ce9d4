"""Datasets of every kind that netCDF has, for what prints CDL and what reads it."""

import numpy as np
from nczarr import Dataset

NUMBERS = {"byte": [-127, 0, 1, 127], "short": [-32768, -32767, 7, 32767], "int": [-2147483648, 1, None, 2147483647],
           "ubyte": [0, 1, 254, 255], "ushort": [0, 1, 2, 65535], "uint": [0, 1, 4294967295, 3],
           "int64": [-9223372036854775807, None, 5, 9223372036854775807], "uint64": [0, 18446744073709551615, None, 3],
           "float": [0.1, 1e-20, np.float32(1 / 3).item(), 123456789.0], "double": [0.1, 1e300, 1 / 3, 12345678901234567.0]}

EVERY_TYPE = Dataset(
    {"x": 4, "n": 6},
    {**{f"v_{kind}": (kind, ["x"], values, {"one": (kind, values[0]), "many": (kind, [v for v in values if v is not None])})
        for kind, values in NUMBERS.items()},
     "c": ("char", ["x", "n"], [b"ab", b"", b"q\"'\\", b"\x01\xc3\xa9\n\x7f"], {"text": ("char", "plain")}),
     "s": ("string", ["x"], ["one", "", "größe 'x'", "tab\tline\n\x01\\"], {"texts": ("string", ["a", "b\nc"]), "text": ("string", "z")}),
     "scalar": ("double", [], [2.5], {}), "letter": ("char", [], [b"q"], {}), "word": ("string", [], ["alone"], {})},
    {"title": ("char", "größe \"q\"\n\t'\\"), "numbers": ("double", [1.0, 0.1, -0.0, 1e20, np.nan, np.inf, -np.inf]),
     "floats": ("float", [1.0, 0.5, 100.0, 1e7, 12345678.0, 1e-5, np.nan, -np.inf])})

FILLS = Dataset({"x": 6, "y": 3}, {
    "own": ("int", ["x"], [1, -1, 3, -1, -2147483647, 0], {"_FillValue": ("int", -1)}),
    "not_a": ("float", ["x"], [np.nan, 1.0, np.inf, -np.inf, 0.0, np.nan], {"_FillValue": ("float", np.nan)}),
    "plain": ("double", ["x"], [np.nan, 1.5, np.inf, -np.inf, 0.0, None], {}),
    "of_bytes": ("byte", ["x"], [3, 4, -127, 0, 3, 1], {"_FillValue": ("byte", 3)}),
    "text": ("string", ["x"], ["zz", "", "a", "zz", "b", "c"], {"_FillValue": ("string", "zz")}),
    "letters": ("char", ["y", "x"], None, {"_FillValue": ("char", "*")}),
    "never": ("short", ["y", "x"], None, {}),
    "near": ("float", ["x"], [1e30, 1.0000001e30, 2e30, -1e30, 1.0, 0.0], {"_FillValue": ("float", 1e30)})})

NAMES = Dataset({"two words": 2, "1st": 2, "é+-.@": 2}, {
    "two words": ("int", ["two words"], [1, 2], {"an attribute": ("int", 1)}), "1st": ("float", ["1st"], [1.5, 2.0], {}),
    "é+-.@": ("int", ["é+-.@"], [3, 4], {}), "a(b)[c]": ("int", [], [1], {}), "data": ("int", [], [1], {"x": ("int", 1)}),
    "group": ("int", [], [1], {"x": ("char", "y")}), "a!b\"c": ("int", [], [1], {})})

UNLIMITED = Dataset({"t": (3,), "u": (2,), "x": 2, "empty": (0,)}, {
    "first": ("int", ["t", "x"], [[1, 2], [3, 4], [5, 6]], {}), "both": ("short", ["t", "u"], [[1, 2], [3, 4], [5, 6]], {}),
    "second": ("float", ["x", "u"], [[1, 2], [3, 4]], {}), "deep": ("int", ["x", "t", "u"], np.arange(12).reshape(2, 3, 2), {}),
    "none": ("int", ["empty"], None, {}), "none2": ("int", ["empty", "x"], None, {}), "line": ("double", ["t"], [0.5, 1.5, 2.5], {}),
    "letters": ("char", ["t", "x"], [b"ab", b"cd", b"e"], {})})

LONG = Dataset({"n": 70, "m": 2, "k": 3}, {
    "numbers": ("double", ["n"], [i / 7 for i in range(70)], {}), "rows": ("int", ["m", "n"], np.arange(140).reshape(2, 70) * 12345, {}),
    "texts": ("string", ["k"], ["a text that is long, not too long"[:31], "x" * 31, "another one of much the same size"[:31]], {}),
    "a_variable_with_a_name_of_such_a_length_that_hardly_anything_fits_behind_it": ("int", ["k"], [1, 22, 333], {}),
    "cube": ("float", ["m", "k", "n"], np.arange(420).reshape(2, 3, 70) / 3, {})},
    {"list": ("int", list(range(100))), "text": ("char", "word " * 40)})

# More rows than one thread prints at once.
MANY_ROWS = Dataset({"t": (20,), "y": 30, "x": 31}, {
    "cube": ("float", ["t", "y", "x"], np.arange(18600).reshape(20, 30, 31) / 7, {}),
    "braces": ("int", ["y", "t", "x"], np.arange(18600).reshape(30, 20, 31), {})})

GROUPS = Dataset({"x": 2, "y": 3}, {"v": ("int", ["x"], [1, 2], {})}, {"title": ("char", "root")}, {
    "g1": Dataset({"x": 3, "z": 2}, {"own": ("int", ["x"], [1, 2, 3], {}), "upper": ("int", ["y", "z"], np.arange(6).reshape(3, 2), {"a": ("int", 1)}),
                                     "rows": ("float", ["z", "x"], np.arange(6).reshape(2, 3) / 4, {})}, {"about": ("char", "g1")},
                  {"inner": Dataset({}, {"deep": ("int", ["x", "y"], np.arange(9).reshape(3, 3), {}), "letters": ("char", ["y"], [b"a\nc"], {}),
                                         "texts": ("string", ["x"], ["a long text, in a group inside", "another one of this kind, too", "c"], {})},
                                     {}, {"last": Dataset()})}),
    "empty": Dataset(), "only_attributes": Dataset(attributes={"a": ("double", 1.0)}), "two words": Dataset({"d": 1})})

FORMATS = Dataset({"x": 3}, {
    "f": ("float", ["x"], [1, 2.5, 3.14159], {"C_format": ("char", "%8.3f")}), "i": ("int", ["x"], [1, 2, 3], {"C_format": ("char", "%04d")}),
    "d": ("double", ["x"], [1, 2.5, None], {"C_format": ("char", "%.3e m")}), "h": ("ubyte", ["x"], [1, 20, 255], {"C_format": ("char", "0x%x")}),
    **{f"{type}{i}": (type, ["x"], [-2, 127, least], {"C_format": ("char", form)})
       for type, least, forms in (("byte", -128, "%x %#o %u %hhx %hx %08X %hd %i"), ("short", -32768, "%x %u %hx %o %5d"), ("int", -70000, "%X %u %o %i"),
                                  ("int64", -70 * 10**9, "%lx %lld %llx %lu")) for i, form in enumerate(forms.split())}})

TIMES = Dataset({"time": 5, "nv": 2}, {
    "time": ("double", ["time"], [0, 0.5, 366, -700000, 1 / 3], {"units": ("char", "days since 2000-01-01"), "bounds": ("char", "bnds"),
                                                                "range": ("double", [0.0, 31.0]), "many": ("double", [float(i * 40) for i in range(12)])}),
    "bnds": ("double", ["time", "nv"], np.arange(10).reshape(5, 2) * 30.25, {}),
    "noleap": ("int", ["time"], [0, 59, 365, 1000, -1], {"units": ("char", "days since 2000-1-1 12:30"), "calendar": ("char", "noleap")}),
    "d360": ("int", ["time"], [0, 30, 359, 360, -1], {"units": ("char", "days since 1850-01-01T06"), "calendar": ("char", "360_day")}),
    "julian": ("int", ["time"], [0, 24, 47, 100000, -8760000], {"units": ("char", "hours since 1900-01-01 00:00:00"), "calendar": ("char", "julian")}),
    "proleptic": ("int64", ["time"], [0, 86399, 86400, -1, 1234567890], {"units": ("char", "seconds since 1970-01-01"), "calendar": ("char", "proleptic_gregorian")}),
    "all_leap": ("int", ["time"], [59, 60, 366, 731, -1], {"units": ("char", "days since 2001-01-01"), "calendar": ("char", "366_day")}),
    "months": ("int", ["time"], [0, 1, 11, 12, -13], {"units": ("char", "months since 1999-03-15 03:00")}),
    "years": ("float", ["time"], [0, 1, 0.5, -1, None], {"units": ("char", "years since 2000-06-01")}),
    "minutes": ("float", ["time"], [0, 1.5, 0.0125, 90, 1e6], {"units": ("char", "minutes since 2010-12-31 23:59:30")}),
    "fractions": ("double", ["time"], [86399.9999999, 59.9999999, 1.0000006, 0.1234567, 3599.9999999], {"units": ("char", "s since 1970-01-01")}),
    "no_time": ("int", ["time"], [1, 2, 3, 4, 5], {"units": ("char", "m")}), "weeks": ("int", ["time"], [1, 2, 3, 4, 5], {"units": ("char", "weeks since 1582-10-01")})})

# Pairs of `units` and `calendar`.
UNITS = [
    *((units, None) for units in (
        "hour since 2000-01-01 12:00:00 UTC", "hours since 2000-01-01 12:00:00 GMT", "days since 1990-01-01 06:30:00 EST", "days since 2000-01-01T12",
        "days since 2000-01-01T12:00:00 UTC", "days since 2000-01-01T 12:00", "days since 2000-01-01T12:00:00Z", "days since 2000-01-01 00:00:00.0 -6:00",
        "Days since 1900-01-01", "DAYS since 1900-01-01", "Hours since 1900-01-01 00:00:0.0", "HOURS since 1-1-1 00:00:00", "Minutes since 1985-5-17 1:2:3",
        "Seconds since 1970-01-01", "SEC since 1970-01-01", "S since 1970-01-01", "Mn since 1970-01-01", "HR since 1970-01-01", "Dy since 1970-01-01",
        "Weeks since 2000-01-01", "Wk since 2000-01-01", "Months since 1990-01-15", "MO since 1990-01-15", "Seasons since 1990-01-15", "YEARS since 1990-01-15",
        "Yr since 1990-01-15", "days Since 2000-01-01", "DaYs SINCE 2000-01-01", "  days\n since  2000-01-01 \t 12:30", "days since 1990", "days since 90-5",
        "microseconds since 2000-01-01", "decades since 2000-01-01", "days from 2000-01-01")),
    *(("days since 2000-02-28 18:00", calendar) for calendar in (
        "Gregorian", "STANDARD", "NOLEAP", "No_Leap", "365_Day", "360_DAY", "366_DAY", "All_Leap", "ALLLEAP", "Julian", "Proleptic_Gregorian",
        "bogus", "", "noleap ", " noleap", "utc", "tai", "NO", "3", "36")),
    *((units, "none") for units in ("hours since 1-1", "days since 5-17 12:30", "Weeks since 12-31", "months since 3-15", "days since 7", "years since 1-1", "days since 1979-01-01", "days since 2000-1-1",
                                    "seasons since 11-15")), ("days since 1979-01-01", "NONE")]
UNITS_OF_TIME = Dataset({"n": 6}, {
    f"v{i}": ("double", ["n"], [0, 1, 100.5, -1000, 400000, -1e6],
              {"units": ("char", units)} | ({} if calendar is None else {"calendar": ("char", calendar)})) for i, (units, calendar) in enumerate(UNITS)})

DATASETS = {"every_type": EVERY_TYPE, "fills": FILLS, "names": NAMES, "unlimited": UNLIMITED, "long": LONG, "many_rows": MANY_ROWS, "groups": GROUPS,
            "formats": FORMATS, "times": TIMES, "units_of_time": UNITS_OF_TIME, "nothing": Dataset()}
