"""A headless Chromium for tests: the page under test in a real browser, told what to do by steps on standard input.

    browser.py [--size WxH] [--dark] < steps

Speaks the DevTools protocol over two pipes (--remote-debugging-pipe: JSON, each message ended by a zero byte), with nothing
beside Python's own library. One step a line; words after the first are its text:

    go URL                  open it
    wait SECONDS JS         until the expression is true
    is JS                   fail unless it is true now
    say JS                  print its value, as JSON unless it is a text
    type TEXT               as from a keyboard, into what has the focus
    key NAME                one key: Enter, Escape, Tab, ArrowDown, or a character
    click CSS               the middle of the first element that matches
    size W H [SCALE]        of the window
    shot FILE               a picture
    console                 print what the page has said on its console, and refusals by its policy; fail when there is any

Ends with 1 and a line on stderr at the first step that fails."""
import base64
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""), "ArrowLeft": (37, ""),
        "ArrowRight": (39, ""), "Home": (36, ""), "End": (35, ""), "PageDown": (34, ""), "Backspace": (8, "")}
PATIENCE = 60 * int(os.environ.get("SLOW", "1"))


class Browser:
    def __init__(self, size, dark):
        self.home = tempfile.mkdtemp(prefix="halite-browser-")
        ours, theirs = os.pipe(), os.pipe()
        argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self.home}", f"--window-size={size}",
                "--remote-debugging-pipe"]

        def place():  # Chromium reads descriptor 3 and writes 4.
            os.dup2(ours[0], 10)
            os.dup2(theirs[1], 11)
            os.dup2(10, 3)
            os.dup2(11, 4)

        environ = {**os.environ, "HOME": self.home, "XDG_CONFIG_HOME": self.home, "XDG_CACHE_HOME": self.home}
        self.process = subprocess.Popen(argv, preexec_fn=place, close_fds=False, env=environ, start_new_session=True,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.write, self.read = ours[1], theirs[0]
        self.rest, self.number, self.session, self.said = b"", 0, None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        width, height = size.split(",")
        self.size(width, height)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def end(self):
        try:
            self.session = None
            self.ask("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.write, data):]
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.next(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def next(self, until):
        while b"\0" not in self.rest:
            if not select.select([self.read], [], [], max(0, until - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            more = os.read(self.read, 1 << 20)
            if not more:
                raise RuntimeError("the browser has ended")
            self.rest += more
        one, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(one)
        params = message.get("params", {})
        if message.get("method") == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(arg.get("value", arg.get("description"))) for arg in params["args"]))
        elif message.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description") or details["text"])
        elif message.get("method") == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning") and params["entry"]["source"] != "network":
            self.said.append(params["entry"]["text"])
        elif message.get("method") == "Page.javascriptDialogOpening":
            self.said.append(f"dialog: {params['message']}")
        return message

    def js(self, text):
        result = self.ask("Runtime.evaluate", expression=f"(async () => ({text}))()", awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{text}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    # ---- steps ----

    def size(self, width, height, scale="1"):
        self.ask("Emulation.setDeviceMetricsOverride", width=int(width), height=int(height), deviceScaleFactor=float(scale), mobile=int(width) < 600)

    def go(self, url):
        self.ask("Page.navigate", url=url)

    def wait(self, words):
        seconds, text = words.split(" ", 1)
        until = time.monotonic() + float(seconds) * int(os.environ.get("SLOW", "1"))
        while True:
            try:
                if self.js(f"!!({text})"):
                    return
            except RuntimeError:
                if time.monotonic() > until:
                    raise
            if time.monotonic() > until:
                raise RuntimeError(f"waited in vain for: {text}\nthe page: {self.js('document.body.innerText')[:1500]}\nsaid: {self.said}")
            time.sleep(0.05)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def key(self, name):
        code, text = KEYS.get(name, (ord(name[0].upper()), name))
        fields = {"key": name, "windowsVirtualKeyCode": code}
        self.ask("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **fields)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **fields)

    def click(self, css):
        box = self.js(f"(() => {{ const e = document.querySelector({json.dumps(css)}); if (!e) return null; e.scrollIntoView({{block: 'nearest'}}); const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }})()")
        if box is None:
            raise RuntimeError(f"there is no {css}")
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def shot(self, path):
        data = self.ask("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def step(self, line):
        word, _, rest = line.partition(" ")
        if word == "is":
            if not self.js(f"!!({rest})"):
                raise RuntimeError(f"not true: {rest}\nthe page: {self.js('document.body.innerText')[:1500]}")
        elif word == "say":
            value = self.js(rest)
            print(value if isinstance(value, str) else json.dumps(value), flush=True)
        elif word == "console":
            self.js("1")
            if self.said:
                raise RuntimeError("on the console: " + "\n".join(self.said))
        elif word == "size":
            self.size(*rest.split())
        elif word in ("go", "wait", "type", "key", "click", "shot"):
            getattr(self, word)(rest)
        else:
            raise RuntimeError("no such step")


def main(args):
    size = args[args.index("--size") + 1].replace("x", ",") if "--size" in args else "1280,800"
    browser = Browser(size, "--dark" in args)
    try:
        for line in sys.stdin:
            line = line.strip()
            if line and not line.startswith("#"):
                try:
                    browser.step(line)
                except RuntimeError as error:
                    sys.exit(f"browser: {line}\n{error}")
    finally:
        browser.end()


main(sys.argv[1:])
