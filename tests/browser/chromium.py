"""A real browser: Debian's chromium, without a window."""

import os
import shutil

from selenium import webdriver
from selenium.webdriver.chrome.service import Service


class NoBrowser(Exception):
    """There is none on this machine."""


def open_browser() -> webdriver.Chrome:
    programs = shutil.which("chromium"), shutil.which("chromedriver")
    if None in programs:
        raise NoBrowser(
            "needs a browser: `make browser`, or apt install chromium chromium-driver"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    options.add_argument("--headless=new")
    options.add_argument("--disable-dev-shm-usage")
    options.add_argument("--hide-scrollbars")
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # chromium's can't be used by root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options=options, service=Service(programs[1]))
    browser.set_script_timeout(120)
    browser.set_page_load_timeout(60)
    return browser


def look(browser: webdriver.Chrome, *, width=1280, height=860, **features: str) -> None:
    """See pages at this size, as a visitor with such wishes."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": width < 500,
        },
    )
    wishes = [
        {"name": f"prefers-{name.replace('_', '-')}", "value": value}
        for name, value in features.items()
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wishes})
