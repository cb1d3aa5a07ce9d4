"""Datasets with parts that cannot be read: a copy without them is an error, and errors name what is damaged."""

import json
import pickle
import shutil
import subprocess
import warnings

import pytest
import sherd as package
import xarray

CDL = """netcdf o { dimensions: t = UNLIMITED; x = 3;
variables: float temp(t,x); int salt(x); double x(x); string name(x);
data: temp = 1,2,3,4,5,6; salt = 1,2,3; x = 0,1,2; name = "a","b","c";
group: g { variables: int deep(x); data: deep = 7,8,9; } }"""
FORMS = {"nczarr": ("zarr2", ""), "pure": ("zarr2", "#mode=zarr"), "v3": ("zarr3", "")}
NEEDED = "--skip-damaged: is needed to copy only the rest of "
LACKS = "the output lacks what cannot be read: "


def drop_consolidated(folder):
    (folder / ".zmetadata").unlink(missing_ok=True)
    if (folder / "zarr.json").exists():
        root = json.loads((folder / "zarr.json").read_text())
        del root["consolidated_metadata"]
        (folder / "zarr.json").write_text(json.dumps(root))
    return folder


@pytest.fixture(params=FORMS)
def dataset(sherd, tmp_path, request):
    """A dataset without consolidated metadata, which would hide that a document is damaged."""
    format, mode = FORMS[request.param]
    (tmp_path / "o.cdl").write_text(CDL)
    sherd.ok("--store-format", format, "ncgen", "-o", f"o.zarr{mode}", "o.cdl")
    return drop_consolidated(tmp_path / "o.zarr")


def document(folder):
    return next(path for name in (".zarray", "zarr.json") if (path := folder / name).exists())


def header(*arguments):
    return subprocess.run(["ncdump", "-h", *map(str, arguments)], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("copy", ["copy.zarr", "copy.nc"])
def test_a_copy_without_a_damaged_variable_is_an_error_unless_skipped(sherd, tmp_path, dataset, copy):
    document(dataset / "salt").write_text('{"x')
    ran = sherd("nccopy", "--quiet", "o.zarr", copy)
    assert ran.code == 4 and f"{NEEDED}o.zarr, without /salt: 'salt/" in ran.stderr
    assert not (tmp_path / copy).exists()
    report = sherd.ok("nccopy", "--skip-damaged", "--json", "o.zarr", copy).json
    assert report["variables"] == 4 and any(each.startswith("/salt: left out: ") for each in report["warnings"])
    sherd.ok("nccopy", "-V", "/temp,x,/g/deep" if (dataset / "salt/.zarray").exists() else "/temp,/x,g/deep", "o.zarr", f"part-{copy}")
    ran = sherd("nccopy", "-V", "temp,salt", "o.zarr", f"two-{copy}")
    assert ran.code == 4 and NEEDED in ran.stderr
    if copy == "copy.nc":
        assert "temp" in header(tmp_path / copy) and "salt" not in header(tmp_path / copy)


@pytest.mark.parametrize("quiet", [[], ["--quiet"]])
def test_ncdump_prints_the_rest_and_ends_with_the_error_even_if_quiet(sherd, dataset, quiet):
    document(dataset / "salt").write_text("[]")
    for options in ([], ["-h"], ["-v", "x"]):
        ran = sherd(*quiet, "ncdump", *options, "o.zarr")
        assert ran.code == 4 and f"sherd: {LACKS}/salt: 'salt/" in ran.stderr and ran.stderr.count("salt:") == 1, ran.stderr
        assert "float temp(t, x) ;" in ran.text and "salt" not in ran.text and ran.text.endswith("}\n")
    ran = sherd(*quiet, "--json", "ncdump", "o.zarr")
    assert ran.code == 4 and json.loads(ran.stderr)["error"]["code"] == "corrupt"
    sherd.ok(*quiet, "ncdump", "-k", "o.zarr")


def test_all_that_a_copy_would_lack_is_listed(sherd, dataset):
    document(dataset / "salt").write_text("[]")
    document(dataset / "g" / "deep").write_text("")
    ran = sherd("nccopy", "o.zarr", "copy.zarr")
    assert ran.code == 4 and "/salt: 'salt/" in ran.stderr and "; /g/deep: 'g/deep/" in ran.stderr
    sherd.ok("nccopy", "-G", "/", "-V", "temp,x", "o.zarr", "part.zarr")
    ran = sherd("nccopy", "-G", "/g", "o.zarr", "group.zarr")
    assert ran.code == 4 and "/g/deep" in ran.stderr and "/salt" not in ran.stderr


def test_a_damaged_group_may_contain_what_a_bare_name_selects(sherd, tmp_path, dataset):
    """The variable /g/x has the name of /x."""
    package.open_group(dataset, mode="r+").require_group("g").create_array("x", data=[1, 2, 3], dimension_names=["x"])
    next(path for name in (".zgroup", "zarr.json") if (path := dataset / "g" / name).exists()).write_text('{"x')
    for names in (["-V", "x"], ["-V", "/x,g/x"], ["-V", "/g/x"], ["-G", "deeper"], ["-G", "/g/deeper"], ["-G", "/,g"]):
        ran = sherd("nccopy", "--quiet", *names, "o.zarr", "copy.zarr")
        assert ran.code == 4 and f"{NEEDED}o.zarr, without /g: 'g/" in ran.stderr, names
        with pytest.raises(package.Corrupt, match="skip_damaged: .*without /g: "):
            package.netcdf.copy(dataset, tmp_path / "copy.zarr", **{"variables" if names[0] == "-V" else "groups": names[1].split(",")})
    sherd.ok("nccopy", "--skip-damaged", "-V", "x", "o.zarr", "rest.zarr")
    sherd.ok("nccopy", "-V", "/x", "o.zarr", "x.zarr")
    assert list(package.open_group(tmp_path / "x.zarr").keys()) == ["x"]


def test_python_refuses_such_a_copy_and_lists_what_is_missing(tmp_path, dataset):
    document(dataset / "salt").write_text('{"x')
    with pytest.raises(package.Corrupt, match="skip_damaged: is needed to copy only the rest of .*, without /salt: "):
        package.netcdf.copy(dataset, tmp_path / "copy.zarr")
    assert list(package.netcdf.open_dataset(dataset).unread) == ["/salt"]
    report = package.netcdf.copy(dataset, tmp_path / "copy.zarr", skip_damaged=True)
    assert report["variables"] == 4 and any("/salt: left out" in each for each in report["warnings"])
    assert package.netcdf.open_dataset(tmp_path / "copy.zarr").unread == {}


def test_engine_sherd_warns_of_what_it_leaves_out(dataset):
    with xarray.open_dataset(dataset, engine="sherd") as whole:
        assert "salt" in whole
    document(dataset / "salt").write_text('{"x')
    document(dataset / "g" / "deep").write_text('{"x')
    with pytest.warns(UserWarning, match="/salt of file:.*o.zarr cannot be read and is left out: 'salt/") as caught:
        assert "salt" not in xarray.open_dataset(dataset, engine="sherd")
    assert len(caught) == 1
    with pytest.warns(UserWarning, match="/g/deep") as caught:
        xarray.open_datatree(dataset, engine="sherd")
    assert len(caught) == 2


def test_a_listed_variable_that_is_gone_is_an_error_of_copy_and_check(sherd, tmp_path, dataset):
    shutil.rmtree(dataset / "salt")
    lists = "_nczarr" in "".join(path.read_text() for name in (".zgroup", ".zattrs", "zarr.json") if (path := dataset / name).exists())
    ran = sherd("nccopy", "o.zarr", "copy.zarr")
    assert ran.code == (4 if lists else 0)
    if lists:
        assert "without /salt: is listed by its group's metadata, but not stored" in ran.stderr
        report = json.loads(sherd("check", "--json", "o.zarr").stdout)
        assert [(each["code"], each["severity"]) for each in report["faults"]] == [("member_list", "error")]
        assert sherd("check", "o.zarr").code == 1


@pytest.mark.parametrize("copy", ["copy.zarr", "copy.nc"])
@pytest.mark.parametrize("form", FORMS)
def test_a_consolidated_variable_that_is_gone_is_left_out_by_name(sherd, tmp_path, form, copy):
    format, mode = FORMS[form]
    (tmp_path / "o.cdl").write_text(CDL)
    sherd.ok("--store-format", format, "ncgen", "-o", f"o.zarr{mode}", "o.cdl")
    shutil.rmtree(tmp_path / "o.zarr/salt")
    shutil.rmtree(tmp_path / "o.zarr/g/deep")
    gone = "is in the consolidated metadata, but not stored"
    ran = sherd("nccopy", "o.zarr", copy)
    assert ran.code == 4 and f"{NEEDED}o.zarr, without /salt: {gone}; /g/deep: {gone}" in ran.stderr
    with pytest.raises(package.Corrupt, match=f"skip_damaged: .*/salt: {gone}; /g/deep: {gone}"):
        package.netcdf.copy(tmp_path / "o.zarr", tmp_path / copy)
    ran = sherd("ncdump", "-h", "o.zarr")
    assert ran.code == 4 and f"{LACKS}/salt: {gone}; /g/deep: {gone}" in ran.stderr
    report = sherd.ok("nccopy", "--skip-damaged", "--json", "o.zarr", copy).json
    assert report["variables"] == 3 and [f"/salt: {gone}", f"/g/deep: {gone}"] == report["warnings"][:2]
    assert package.netcdf.open_dataset(tmp_path / copy).warnings == []
    assert "salt" not in sherd.ok("ncdump", copy).text and (copy == "copy.nc" or sherd.ok("check", copy))
    for group, path in ((None, "/salt"), ("g", "/g/deep")):
        with pytest.warns(UserWarning, match=f"{path} of file:.*o.zarr cannot be read and is left out: {gone}") as caught:
            xarray.open_dataset(tmp_path / "o.zarr", engine="sherd", group=group).load()
        assert len(caught) == 1


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("to", ["zarr2", "zarr3"])
@pytest.mark.parametrize("form", FORMS)
def test_a_copy_without_a_missing_node_is_an_error_unless_skipped(sherd, tmp_path, form, to, consolidated):
    format, mode = FORMS[form]
    if form == "pure" and not consolidated:
        return  # nothing names the variable
    (tmp_path / "o.cdl").write_text(CDL)
    sherd.ok("--store-format", format, "ncgen", "-o", f"o.zarr{mode}", "o.cdl")
    if not consolidated:
        drop_consolidated(tmp_path / "o.zarr")
    shutil.rmtree(tmp_path / "o.zarr/salt")
    shutil.rmtree(tmp_path / "o.zarr/g/deep")
    gone = "is in the consolidated metadata, but not stored" if form == "pure" else "is listed by its group's metadata, but not stored"
    ran = sherd("copy", "o.zarr", "copy.zarr", "--to", to)
    assert ran.code == 4 and f"{NEEDED}o.zarr, without /g/deep: {gone}; /salt: {gone}" in ran.stderr
    with pytest.raises(package.Corrupt, match=f"skip_damaged: is needed .*, without /g/deep: {gone}; /salt: {gone}"):
        package.copy(tmp_path / "o.zarr", tmp_path / "copy.zarr", to=to)
    assert not (tmp_path / "copy.zarr").exists()
    report = sherd.ok("copy", "--skip-damaged", "--json", "o.zarr", "copy.zarr", "--to", to).json
    left_out = [warning for warning in report["warnings"] if "left out" in warning]
    assert report["arrays"] == 3 and left_out[:2] == [f"/g/deep: left out: {gone}", f"/salt: left out: {gone}"]
    with pytest.warns(UserWarning, match="/salt: left out"):
        package.copy(tmp_path / "o.zarr", tmp_path / "again.zarr", to=to, skip_damaged=True)
    for copy in ("copy.zarr", "again.zarr"):
        assert sherd.ok("check", copy).text.startswith("ok") and "salt" not in sherd.ok("ncdump", "-h", copy).text
        assert package.netcdf.open_dataset(tmp_path / copy).warnings == []
        documents = "".join(path.read_text() for path in (tmp_path / copy).rglob("*") if path.name.endswith(("zarr.json", ".zgroup", ".zattrs", ".zmetadata")))
        assert '"temp' in documents and '"salt' not in documents and 'deep' not in documents


def test_a_copy_without_a_damaged_node_is_an_error_unless_skipped(sherd, tmp_path, dataset):
    document(dataset / "salt").write_text('{"x')
    document(dataset / "name").write_text(document(dataset / "name").read_text().replace('"shape"', '"shap"'))
    ran = sherd("copy", "o.zarr", "copy.zarr")
    assert ran.code in (4, 5) and "'name/" in ran.stderr and not (tmp_path / "copy.zarr").exists()
    report = sherd.ok("copy", "--skip-damaged", "--json", "o.zarr", "copy.zarr").json
    assert report["arrays"] == 3
    assert [each.split(": left out: ")[0] for each in report["warnings"][:2]] == ["/name", "/salt"]
    assert sherd.ok("check", "copy.zarr").text.startswith("ok")
    assert package.netcdf.open_dataset(tmp_path / "copy.zarr").warnings == []
    assert sherd("copy", "--skip-damaged", "o.zarr/salt", "salt.zarr").code == 4


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_check_reports_a_consolidated_variable_that_is_gone_as_an_error(sherd, tmp_path, format):
    root = package.create_group(tmp_path / "c.zarr", format=format)
    root.create_array("a", data=[1, 2])
    package.consolidate_metadata(tmp_path / "c.zarr")
    assert sherd.ok("check", "c.zarr")
    shutil.rmtree(tmp_path / "c.zarr/a")
    assert sherd("check", "c.zarr").code == 1
    (fault,) = package.check(tmp_path / "c.zarr")["faults"]
    assert (fault["code"], fault["severity"]) == ("consolidated_stale", "error") and "'a', which does not exist" in fault["message"]


HIDDEN = "the group of zarr.json is empty, but .zgroup is beside it; if this is Zarr v2, use --store-format zarr2"


@pytest.fixture
def hidden(sherd, tmp_path):
    """A dataset of Zarr v2 that a stray zarr.json hides."""
    (tmp_path / "o.cdl").write_text(CDL)
    sherd.ok("ncgen", "-o", "o.zarr", "o.cdl")
    (tmp_path / "o.zarr/zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    return tmp_path / "o.zarr"


def test_a_zarr_json_that_hides_a_dataset_of_zarr_v2_is_reported(sherd, hidden):
    ran = sherd("ncdump", "-h", "o.zarr")
    assert ran.code == 4 and f"{LACKS}/: {HIDDEN}" in ran.stderr
    for command in ("info", "ls", "tree"):
        assert f"warning: {HIDDEN}" in sherd.ok(command, "o.zarr").stderr
        assert not sherd.ok(command, "o.zarr/salt", "--store-format", "zarr2").stderr
    for command in ("nccopy", "copy"):
        ran = sherd(command, "o.zarr", "copy.zarr")
        assert ran.code == 4 and f"without /: {HIDDEN}" in ran.stderr and not (hidden.parent / "copy.zarr").exists()
    faults = json.loads(sherd("check", "--json", "o.zarr").stdout)["faults"]
    assert [(each["code"], each["severity"], each["key"]) for each in faults if HIDDEN in each["message"]] == [("hidden_group", "warning", "zarr.json")]
    assert faults == package.check(hidden)["faults"]


def test_python_warns_of_a_zarr_json_that_hides_a_dataset_of_zarr_v2(tmp_path, hidden):
    for open_it in (package.open_group, package.open):
        with pytest.warns(UserWarning, match=HIDDEN):
            assert not list(open_it(hidden).keys())
    with pytest.warns(UserWarning, match="the group of zarr.json is empty"):
        assert not xarray.open_dataset(hidden, engine="sherd").variables
    for copy in (package.copy, package.netcdf.copy):
        with pytest.raises(package.Corrupt, match=f"without /: {HIDDEN}"):
            copy(hidden, tmp_path / "copy.zarr")
    package.create_array(hidden, name="both", data=[1])
    assert package.netcdf.open_dataset(hidden).unread == {}


def test_a_hidden_dataset_is_read_by_the_format_that_is_named(sherd, tmp_path, hidden):
    (hidden / "zarr.json").rename(tmp_path / "kept.json")
    whole, members = sherd.ok("ncdump", "o.zarr").text, sherd.ok("ls", "o.zarr").text
    (tmp_path / "kept.json").rename(hidden / "zarr.json")
    ran = sherd.ok("--store-format", "zarr2", "ncdump", "o.zarr")
    assert (ran.text, ran.stderr) == (whole, "")
    assert sherd.ok("--store-format", "zarr2", "ls", "o.zarr").text == members
    faults = json.loads(sherd("--store-format", "zarr2", "check", "--json", "o.zarr").stdout)["faults"]
    assert not [each for each in faults if each["severity"] == "error" or HIDDEN in each["message"]]
    for command in ("copy", "nccopy"):
        sherd.ok("--store-format", "zarr2", command, "o.zarr", f"{command}.zarr")
        assert sherd.ok("ncdump", "-n", "o", f"{command}.zarr").text == whole
    assert sherd("--store-format", "zarr3", "ncdump", "copy.zarr").code == 3


def test_python_reads_a_hidden_dataset_by_its_version_of_zarr(sherd, tmp_path, hidden):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "salt" in package.open_group(hidden, zarr_format=2)
        assert package.netcdf.open_dataset(hidden, zarr_format=2)["salt"][:].tolist() == [1, 2, 3]
        dataset = xarray.open_dataset(hidden, engine="sherd", zarr_format=2)
        assert pickle.loads(pickle.dumps(dataset))["salt"].values.tolist() == [1, 2, 3]
        package.netcdf.copy(hidden, tmp_path / "a.zarr", source_zarr_format=2)
    with pytest.warns(UserWarning, match="zarr.json"):  # it belongs to no node
        package.copy(hidden, tmp_path / "b.zarr", source_zarr_format=2)
    for copy in ("a.zarr", "b.zarr"):
        assert package.netcdf.open_dataset(tmp_path / copy)["salt"][:].tolist() == [1, 2, 3]
    assert not [each for each in package.check(hidden, zarr_format=2)["faults"] if HIDDEN in each["message"]]
    with pytest.raises(package.NotFound, match="which is Zarr v2"):
        xarray.open_dataset(tmp_path / "a.zarr", engine="sherd", zarr_format=3)


def test_damage_of_the_source_is_not_said_to_be_in_the_destination(sherd, tmp_path, dataset):
    shutil.copytree(dataset, tmp_path / "plain.zarr")
    chunk = next(path for path in sorted((dataset / "temp").rglob("*")) if path.is_file() and path.name not in (".zarray", ".zattrs", "zarr.json"))
    chunk.write_bytes(b"x")
    for command in (["nccopy", "o.zarr", "d.zarr"], ["nccopy", "o.zarr", "d.nc"], ["copy", "o.zarr/temp", "d.zarr"],
                    ["copy", "o.zarr/temp", "d.zarr", "--chunks", "1,1"], ["copy", "o.zarr/temp", "d.zarr", "--select", "0:1,1"]):
        ran = sherd(*command)
        assert ran.code == 4 and "(in o.zarr" in ran.stderr and "d.zarr" not in ran.stderr, (command, ran.stderr)
    with pytest.raises(package.Corrupt, match=r"\(in file://.*/o\.zarr"):
        package.netcdf.copy(dataset, tmp_path / "d.zarr")


def test_a_path_that_does_not_exist_is_said_not_to_exist(sherd, tmp_path):
    for command in (["ncdump", "none.nc"], ["ncdump", "none.zarr#mode=zarr"], ["nccopy", "none.nc", "d.zarr"], ["nccopy", "none.zarr", "d.nc"]):
        ran = sherd(*command)
        assert ran.code == 3 and "file or directory does not exist: none." in ran.stderr, command
    (tmp_path / "empty").mkdir()
    assert "no dataset of Zarr or NCZarr is at empty" in sherd("ncdump", "empty").stderr
    for open_it in (package.netcdf.open_dataset, package.netcdf.edit_dataset):
        with pytest.raises(package.NotFound, match="file or directory does not exist: .*none.nc"):
            open_it(tmp_path / "none.nc")


def test_an_existing_destination_names_the_option_that_replaces_it(sherd, tmp_path):
    (tmp_path / "o.cdl").write_text(CDL)
    sherd.ok("ncgen", "-o", "o.zarr", "o.cdl")
    sherd.ok("nccopy", "-V", "temp,x,salt", "-G", "/", "-3", "o.zarr", "o.nc")
    for command in (["nccopy", "o.zarr", "o.nc"], ["copy", "o.zarr/salt", "o.zarr/x"], ["create", "o.zarr/x", "--shape", "3", "--dtype", "u1"]):
        ran = sherd(*command)
        assert ran.code == 6 and "; overwrite it with --overwrite or choose another path" in ran.stderr, (command, ran.stderr)
    ran = sherd("rename", "o.zarr/salt", "x")
    assert ran.code == 6 and "a node exists here already; choose another path" in ran.stderr
