"""nginx, which serves a folder of files over http and https."""

import contextlib
import os
import signal

from servers.process import Children, free_ports, program
from servers.server import WebServer

USER, PASSWORD, TOKEN = "reader", "open sesame", "a-token"
LOCATIONS = """
  location /plain/ { alias %(files)s/; }
  location /basic/ { alias %(files)s/; auth_basic files; auth_basic_user_file %(folder)s/users; }
  location /bearer/ { alias %(files)s/; if ($bearer = 0) { return 401; } }
  location /no-ranges/ { alias %(files)s/; max_ranges 0; }
  location /gzip/ { alias %(files)s/; gzip on; gzip_types *; gzip_min_length 1; gzip_http_version 1.0; }
  location /encoded/ { alias %(files)s/; add_header Content-Encoding gzip; }
  location /no-validators/ { alias %(files)s/; etag off; add_header Last-Modified ""; }
  location /cors/ {
    alias %(files)s/;
    add_header Access-Control-Allow-Origin * always;
    add_header Access-Control-Expose-Headers "Content-Range, Content-Length, ETag" always;
    add_header Access-Control-Allow-Headers * always;
    if ($request_method = OPTIONS) { return 204; }
  }
  location /moved/ { rewrite ^/moved/(.*)$ /plain/$1 redirect; }
  location /elsewhere/ { rewrite ^/elsewhere/(.*)$ http://localhost:%(http)d/bearer/$1 redirect; }
  location /downgraded/ { rewrite ^/downgraded/(.*)$ http://127.0.0.1:%(http)d/plain/$1 redirect; }
  location /metadata/ { rewrite ^/metadata/(.*)$ http://169.254.169.254/$1 redirect; }
  location /loop/ { rewrite ^/loop/(.*)$ /loop/$1 redirect; }
"""
CONFIG = """
daemon off;
%(user)s
worker_processes 1;
pid %(folder)s/nginx.pid;
error_log %(folder)s/error.log;
events { worker_connections 1024; }
http {
  log_format lines escape=json '{"method": "$request_method", "target": "$request_uri", "status": $status, '
    '"sent": $body_bytes_sent, "range": "$http_range", "authorization": "$http_authorization", "connection": $connection}';
  access_log %(folder)s/access.log lines;
  client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy; fastcgi_temp_path %(folder)s/fastcgi;
  uwsgi_temp_path %(folder)s/uwsgi; scgi_temp_path %(folder)s/scgi;
  default_type application/octet-stream;
  keepalive_requests 1000000;
  absolute_redirect off;
  map $http_authorization $bearer { default 0; "Bearer %(token)s" 1; }
  server { listen 127.0.0.1:%(http)d; %(locations)s }
  server {
    listen 127.0.0.1:%(https)d ssl;
    ssl_certificate %(folder)s/certificate.pem;
    ssl_certificate_key %(folder)s/key.pem;
    %(locations)s
  }
}
"""


@contextlib.contextmanager
def nginx():
    binary, openssl = program("nginx"), program("openssl")
    with Children("nginx") as children:
        folder = children.folder
        (folder / "files").mkdir()
        (folder / "users").write_text(f"{USER}:{{PLAIN}}{PASSWORD}\n")
        children.run(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                     "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                     "-keyout", "key.pem", "-out", "certificate.pem")
        http, https = free_ports(2)
        names = {"folder": folder, "files": folder / "files", "http": http, "https": https, "token": TOKEN,
                 "user": "user root;" if os.geteuid() == 0 else ""}
        (folder / "nginx.conf").write_text(CONFIG % (names | {"locations": LOCATIONS % names}))
        children.start(binary, "-p", folder, "-e", folder / "error.log", "-c", folder / "nginx.conf", on_end=signal.SIGTERM)
        children.wait_for(f"http://127.0.0.1:{http}/")
        yield WebServer("nginx", f"http://127.0.0.1:{http}", str(folder),
                        more={"https": f"https://127.0.0.1:{https}", "certificate": str(folder / "certificate.pem"),
                              "user": USER, "password": PASSWORD, "token": TOKEN})
