#!/usr/bin/python3
"""Walks SaltGUI in a headless Chromium as a user does: saltgui_walk.py URL USER PASSWORD WORK, where salt-api serves SaltGUI's page at
URL. Minion m1 is accepted, m2 waits; the master has the node group `web`, beacons and a schedule on m1 and a state file for its
highstate. WORK gets a picture of each page. Chromium is told what to do by chromedriver (WebDriver, W3C Recommendation of 2018)."""
import base64
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

PATIENCE = 60 * int(os.environ.get("SLOW", "1"))


class Browser:
    def __init__(self, work):
        self.work = work
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            port = sock.getsockname()[1]
        environ = {**os.environ, "HOME": work, "XDG_CONFIG_HOME": work, "XDG_CACHE_HOME": work, "TMPDIR": work}
        self.process = subprocess.Popen(["chromedriver", f"--port={port}"], env=environ, start_new_session=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        self.until(self.listens)
        args = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1400,900", f"--user-data-dir={work}/profile"]
        options = {"args": args, "binary": "/usr/bin/chromium"}
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/session/" + made["sessionId"]

    def ask(self, method, path, value=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if value is None else json.dumps(value).encode(),
                                         headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE + 60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as refused:
            raise RuntimeError(refused.read().decode()[:500]) from None

    def listens(self):
        try:
            return self.ask("GET", "/status")["ready"]
        except OSError:
            return False

    def until(self, fn, what="chromedriver"):
        end = time.monotonic() + PATIENCE
        while not (value := fn()):
            if time.monotonic() > end:
                raise RuntimeError(f"waited in vain: {what}")
            time.sleep(0.1)
        return value

    def run(self, script, *args):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def holds(self, script, *args):
        """Waits until the script's value is true."""
        return self.until(lambda: self.run(script, *args), script)

    def shot(self, name):
        with open(f"{self.work}/{name}.png", "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def end(self):
        try:
            self.ask("DELETE", "")
        except (RuntimeError, OSError):
            pass
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()


TEXT = "const e = document.querySelector(arguments[0]); return e !== null && e.innerText.includes(arguments[1]);"


class Walk:
    def __init__(self, url, browser):
        self.url, self.browser = url, browser

    def page(self, name, *texts):
        """Opens the page and waits until it shows the texts."""
        self.browser.run("window.location.hash = arguments[0];", name)
        for text in texts:
            self.browser.holds(TEXT, f"#page-{name}", text)
        self.browser.shot(name)
        print(f"{name}: {', '.join(texts)}")

    def command(self, target, words, *texts):
        """Runs a command by the box of the button >_, and waits for the texts below it."""
        self.browser.run("document.querySelector('#button-manual-run').dispatchEvent(new MouseEvent('click', {bubbles: true}));")
        self.browser.holds("return document.querySelector('#popup-run-command').style.display === 'block';")
        self.browser.run("document.querySelector('#target').value = arguments[0]; document.querySelector('#command').value = arguments[1];"
                         "document.querySelector('#run-command').click();", target, words)
        self.output(*texts)

    def output(self, *texts):
        for text in texts:
            self.browser.holds(TEXT, "#popup-output", text)
        self.browser.run("document.querySelector('#cmd-close-button').click();")
        print(f"ran: {', '.join(texts)}")

    def login(self, user, password):
        self.browser.ask("POST", "/url", {"url": self.url + "/"})
        self.browser.holds("return document.querySelector('#username') !== null;")
        self.browser.holds("return [...document.querySelectorAll('select option')].some((o) => o.value === 'sharedsecret' || o.innerText === 'sharedsecret');")
        self.browser.run("document.querySelector('#username').value = arguments[0]; document.querySelector('#password').value = arguments[1];"
                         "const s = document.querySelector('select'); s.value = 'sharedsecret'; document.querySelector('#login-button').click();", user, password)

    def accept(self, minion):
        """The menu of the key's row, then its command."""
        self.page("keys", "m1", minion, "unaccepted")
        self.browser.run("const row = [...document.querySelectorAll('#page-keys tr')].find((r) => r.innerText.includes(arguments[0]));"
                         "row.querySelector('.menu-dropdown').dispatchEvent(new MouseEvent('click', {bubbles: true}));"
                         "row.querySelector('.menu-dropdown').dispatchEvent(new MouseEvent('mouseenter'));"
                         "[...row.querySelectorAll('.menu-dropdown-content *')].find((i) => i.innerText.trim().startsWith('Accept') ||"
                         "i.textContent.trim().startsWith('Accept')).click();", minion)
        self.browser.holds("return document.querySelector('#command').value.includes('accept');")
        self.browser.run("document.querySelector('#run-command').click();")
        self.output(minion)


def main():
    url, user, password, work = sys.argv[1:]
    browser = Browser(work)
    walk = Walk(url, browser)
    try:
        walk.login(user, "wrong")
        browser.holds("return document.querySelector('#notice-wrapper, .notice-wrapper, #page-login').innerText.toLowerCase().includes('fail');")
        browser.until(lambda: try_login(walk, browser, user, password), "a log-in")
        walk.page("minions", "m1")
        walk.accept("m2")
        walk.page("minions", "m1", "m2")
        walk.command("m1", "test.echo words-of-a-page", "m1", "words-of-a-page")
        walk.command("m1", "state.apply", "m1", "walked")
        walk.page("jobs", "test.echo", "state.apply")
        browser.run("[...document.querySelectorAll('#page-jobs td, #page-jobs span')].find((e) => e.innerText.trim().startsWith('test.echo')).click();")
        browser.holds("return window.location.hash.startsWith('#job');")
        browser.holds(TEXT, "#page-job", "words-of-a-page")
        browser.shot("job")
        walk.page("highstate", "m1")
        walk.page("events", "to begin")
        browser.run("[...document.querySelectorAll('#page-events span')].find((b) => b.style.cursor === 'pointer').click();")
        browser.run("fetch('/hook/walk', {method: 'POST', headers: {'X-Auth-Token': sessionStorage.token || localStorage.token}, body: '{}'});")
        browser.holds(TEXT, "#page-events", "salt/netapi/hook/walk")
        browser.shot("events")
        walk.page("beacons", "m1", "1 beacon")
        walk.page("schedules", "m1", "1 schedule")
        walk.page("pillars", "m1")
        walk.page("nodegroups", "web", "m1")
        walk.page("grains", "m1")
        walk.page("options", "saltgui")
        browser.run("window.location.hash = 'logout';")
        browser.holds("return window.location.hash.startsWith('#login');")
        print("logged out")
        bad = [one for one in browser.ask("POST", "/se/log", {"type": "browser"})
               if one["level"] == "SEVERE" and not any(word in one["message"] for word in ("/login", "minions.txt", "salt-motd", "favicon"))]
        assert not bad, bad
    except BaseException:
        browser.shot("failed")
        raise
    finally:
        browser.end()


def try_login(walk, browser, user, password):
    """After a failure the master lets a user wait."""
    walk.login(user, password)
    for _ in range(50):
        if browser.run("return window.location.hash.startsWith('#minions');"):
            return True
        time.sleep(0.1)
    return False


if __name__ == "__main__":
    main()
