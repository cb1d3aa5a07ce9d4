"""Ceph's RADOS Gateway: a monitor, an OSD in memory, and the gateway."""

import contextlib
import socket
import uuid

from servers.process import Children, free_ports, program
from servers.server import S3Server

KEY, SECRET = "AK", "SK"
# By default each new pool waits for a proposal of the monitors, which take a second each.
CONFIG = """[global]
fsid = %(fsid)s
mon host = [v2:127.0.0.1:%(mon)d,v1:127.0.0.1:%(mon1)d]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
osd pool default size = 1
osd pool default min size = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
osd pool default pg num = 8
osd pool default pg autoscale mode = off
paxos propose interval = 0.05
paxos min wait = 0.01
run dir = %(folder)s
admin socket =
log file = %(folder)s/$name.log
pid file = %(folder)s/$name.pid
mon data = %(folder)s/mon
osd data = %(folder)s/osd
osd objectstore = memstore
memstore device bytes = 4294967296
keyring = %(folder)s/keyring
rgw dns name = localhost
[osd]
keyring = %(folder)s/osd.keyring
"""


def start_monitor(children, config, mon, fsid):
    folder = children.folder
    keyring, map_ = folder / "keyring", folder / "monmap"
    authtool = program("ceph-authtool")
    children.run(authtool, "--create-keyring", keyring, "--gen-key", "-n", "mon.", "--cap", "mon", "allow *")
    children.run(authtool, keyring, "--gen-key", "-n", "client.admin", "--cap", "mon", "allow *", "--cap", "osd", "allow *",
                 "--cap", "mgr", "allow *")
    children.run(program("monmaptool"), "--create", "--clobber", "--fsid", fsid, "--addv", "a",
                 f"[v2:127.0.0.1:{mon},v1:127.0.0.1:{mon + 1}]", map_)
    (folder / "mon").mkdir()
    monitor = program("ceph-mon")
    children.run(monitor, "-c", config, "--mkfs", "-i", "a", "--monmap", map_, "--keyring", keyring)
    children.start(monitor, "-c", config, "-i", "a", "-f")


def start_osd(children, config, ceph):
    folder, osd = children.folder, program("ceph-osd")
    (folder / "osd").mkdir()
    own = uuid.uuid4()
    children.run(*ceph, "osd", "new", own)
    children.run(*ceph, "auth", "get-or-create", "osd.0", "mon", "allow *", "osd", "allow *", "mgr", "allow *",
                 "-o", folder / "osd.keyring")
    children.run(osd, "-c", config, "-i", "0", "--mkfs", "--osd-uuid", own)
    children.start(osd, "-c", config, "-i", "0", "-f")


def adjacent_ports():
    while True:
        mon, gateway = free_ports(2)
        with contextlib.suppress(OSError):
            with socket.socket() as next_one:
                next_one.bind(("127.0.0.1", mon + 1))
            if gateway != mon + 1:
                return mon, gateway


@contextlib.contextmanager
def radosgw():
    gateway, admin, ceph = program("radosgw"), program("radosgw-admin"), program("ceph")
    with Children("radosgw") as children:
        folder, fsid = children.folder, uuid.uuid4()
        mon, port = adjacent_ports()
        config = folder / "ceph.conf"
        config.write_text(CONFIG % {"fsid": fsid, "mon": mon, "mon1": mon + 1, "folder": folder})
        start_monitor(children, config, mon, fsid)
        start_osd(children, config, (ceph, "-c", config))
        # By default the body of a reply waits until its head is acknowledged, which takes another 40 ms at times.
        children.start(gateway, "-c", config, "-n", "client.admin", "-f", "--rgw_frontends",
                       f"beast endpoint=127.0.0.1:{port} tcp_nodelay=1")
        children.wait_for(f"http://127.0.0.1:{port}/")
        children.run(admin, "-c", config, "user", "create", "--uid=test", "--display-name=test", f"--access-key={KEY}",
                     f"--secret-key={SECRET}")
        yield S3Server("radosgw", f"http://127.0.0.1:{port}", str(folder), KEY, SECRET)
