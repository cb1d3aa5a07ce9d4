"""OpenStack Swift with its s3api, which has no conditional PUT: a proxy and three storage servers."""

import contextlib
import getpass
import os
import subprocess

from servers.process import Absent, Children, free_ports
from servers.server import S3Server

PYTHON = "/usr/bin/python3"  # Debian's, for which its Swift is installed
KEY, SECRET = "test:tester", "testing"
STORAGE = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = %(port)d
devices = %(folder)s/data
mount_check = false
swift_dir = %(folder)s
user = %(user)s
workers = 0
disable_fallocate = true
[pipeline:main]
pipeline = %(name)s-server
[app:%(name)s-server]
use = egg:swift#%(name)s
"""
FILTERS = ("catch_errors", "gatekeeper", "healthcheck", "listing_formats", "bulk", "copy", "slo", "dlo", "symlink")
PROXY = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = %(port)d
swift_dir = %(folder)s
user = %(user)s
workers = 0
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo symlink proxy-server
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
""" + "".join(f"[filter:{each}]\nuse = egg:swift#{each}\n" for each in FILTERS)
HASH = """[swift-hash]
swift_hash_path_prefix = p
swift_hash_path_suffix = s
[storage-policy:0]
name = gold
default = yes
"""
RINGS = """
import sys
from swift.common.ring import RingBuilder
for name, port in zip(("account", "container", "object"), sys.argv[1:]):
    ring = RingBuilder(6, 1, 1)
    ring.add_dev(dict(region=1, zone=1, ip="127.0.0.1", port=int(port), device="d1", weight=1))
    ring.rebalance()
    ring.get_ring().save(name + ".ring.gz")
"""
SERVE = """
import sys
from swift.common import utils
utils.SWIFT_CONF_FILE = sys.argv[2] + "/swift.conf"
import swift.common.storage_policy
from swift.common.wsgi import run_wsgi
options = {}
if sys.argv[1] == "object":
    from swift.obj import server
    options["global_conf_callback"] = server.global_conf_callback
sys.exit(run_wsgi(f"{sys.argv[2]}/{sys.argv[1]}-server.conf", sys.argv[1] + "-server", **options))
"""


@contextlib.contextmanager
def swift():
    if not os.path.exists(PYTHON) or subprocess.run([PYTHON, "-c", "import swift"], capture_output=True).returncode != 0:
        raise Absent("python3-swift")
    with Children("swift") as children:
        folder = children.folder
        (folder / "data/d1").mkdir(parents=True)
        (folder / "swift.conf").write_text(HASH)
        names = ("proxy", "account", "container", "object")
        ports = free_ports(4)
        for name, port in zip(names, ports):
            text = PROXY if name == "proxy" else STORAGE
            values = {"port": port, "folder": folder, "user": getpass.getuser(), "name": name}
            (folder / f"{name}-server.conf").write_text(text % values)
        (folder / "serve.py").write_text(SERVE)
        children.run(PYTHON, "-c", RINGS, *ports[1:])
        for name in names:
            children.start(PYTHON, folder / "serve.py", name, folder)
        for port in ports:
            children.wait_for(f"http://127.0.0.1:{port}/healthcheck")
        yield S3Server("swift", f"http://127.0.0.1:{ports[0]}", str(folder), KEY, SECRET)
