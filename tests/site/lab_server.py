"""A real JupyterLab on this machine alone, with a home of its own."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import nbformat
from playwright.sync_api import Browser, Page, Route, expect

START = 60  # seconds for the server to answer
NEWS = "@jupyterlab/apputils-extension:announcements"
APP = "window.jupyterapp.commands.execute"


class Lab:
    """A server of JupyterLab, and notebooks opened in it.

    Args:
        browser: The Chromium to open them in.
        home: An empty folder: settings, kernels and notebooks of this server.
    """

    def __init__(self, browser: Browser, home: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.browser, self.home = browser, home
        self.address = f"http://127.0.0.1:{port}/"
        places = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
        own = {f"JUPYTER_{name}": str(home / name.lower()) for name in places}
        own |= {"HOME": str(home), "IPYTHONDIR": str(home / "ipython")}
        own |= {"COURSE_PROGRESS": str(home / "progress.json")}
        flags = ["--no-browser", "--allow-root", "--expose-app-in-browser"]
        flags += [f"--ServerApp.port={port}", "--IdentityProvider.token="]
        flags += [f"--ServerApp.root_dir={home}"]
        settings = home / "config_dir" / "labconfig"
        settings.mkdir(parents=True)
        no_news = {"disabledExtensions": {NEWS: True}}
        text = json.dumps(no_news)
        (settings / "page_config.json").write_text(text, encoding="utf-8")
        self.server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *flags],
            env=os.environ | own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + START
        while time.monotonic() < end:
            try:
                urlopen(self.address + "api", timeout=2).close()
                return
            except (URLError, OSError):
                time.sleep(0.2)
        self.close()
        raise RuntimeError(f"JupyterLab did not start within {START} seconds")

    def notebook(self, *cells: str) -> Page:
        """Open a notebook with these cells and run them; nothing else is reached."""
        name = f"page-{time.monotonic_ns()}.ipynb"
        new = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(source) for source in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        nbformat.write(new, self.home / name)
        page = self.browser.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        self.errors = errors
        page.route("**/*", self._allow)
        page.goto(f"{self.address}lab/tree/{name}")
        page.wait_for_selector(".jp-Notebook .jp-CodeCell .cm-content")
        # A command that comes too early waits, and would run beside a second one.
        page.get_by_text("(ipykernel) | Idle").wait_for(timeout=60_000)
        page.evaluate(f"() => {{ {APP}('notebook:run-all-cells') }}")
        done = re.compile(r"\d")
        expect(page.locator(".jp-InputPrompt").last).to_have_text(done, timeout=60_000)
        page.get_by_text("(ipykernel) | Idle").wait_for(timeout=60_000)
        return page

    def _allow(self, route: Route) -> None:
        ours = route.request.url.startswith((self.address, "data:", "blob:"))
        route.continue_() if ours else route.abort()

    def theme(self, page: Page, name: str) -> None:
        """Choose "JupyterLab Light" or "JupyterLab Dark"."""
        page.evaluate(f"name => {APP}('apputils:change-theme', {{theme: name}})", name)
        light = "true" if name.endswith("Light") else "false"
        page.wait_for_selector(f'body[data-jp-theme-light="{light}"]', state="attached")

    def close(self) -> None:
        """Stop the server and its kernels."""
        self.server.terminate()
        self.server.wait(timeout=20)


def start(browser: Browser, home: Path) -> Iterator[Lab]:
    """For a fixture: a server that ends with the tests."""
    lab = Lab(browser, home)
    yield lab
    lab.close()
