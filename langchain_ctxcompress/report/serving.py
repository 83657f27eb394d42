"""The inspector on loopback: the page is made anew whenever it is loaded."""

from __future__ import annotations

import logging
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langchain_ctxcompress.errors import CtxCompressError

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"


class InspectorServer(ThreadingHTTPServer):
    """Serves one page, to this machine only.

    Args:
        page: Makes the page.
        port: Where it listens; 0 takes a free one.

    Raises:
        OSError: The port is taken.
    """

    daemon_threads = True

    def __init__(self, page: Callable[[], str], port: int = 0) -> None:
        super().__init__((HOST, port), _Handler)
        self.page = page

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: InspectorServer

    def do_GET(self) -> None:
        # A page elsewhere whose name was made to point here would send its own name: it is refused.
        if (self.headers.get("Host") or "").rsplit(":", 1)[0] not in (HOST, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN, "only for this machine")
            return
        if self.path != "/":
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        try:
            body = self.server.page().encode("utf-8", "backslashreplace")
        except CtxCompressError as error:
            self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, "the session cannot be read", str(error))
            return
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        logger.debug(format, *args)
