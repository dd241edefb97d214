# logs.py - what files print and log becomes lines of the log. A part of loader.py's program.


class Printed:
    """A file's print(): lines of the log."""

    def __init__(self, level):
        self.level, self.rest = level, ""

    def write(self, text):
        self.rest += str(text)
        *lines, self.rest = self.rest.split("\n")
        for line in lines:
            logging.getLogger(world.now if world else "print").log(self.level, "%s", line)
        return len(text)

    def flush(self):
        if self.rest:
            self.write("\n")

    def isatty(self):
        return False

    def fileno(self):
        return 2

    encoding = "utf-8"
    errors = "replace"


class Logger(logging.getLoggerClass()):
    """Salt's levels below debug."""

    def trace(self, text, *args, **kwargs):
        self.log(5, text, *args, **kwargs)

    def garbage(self, text, *args, **kwargs):
        self.log(1, text, *args, **kwargs)


class NamedHandler(LogHandler):
    def emit(self, record):
        send({"log": [record.levelno, text_of(f"{record.name}: {self.format(record)}")]})


logging.addLevelName(5, "TRACE")
logging.setLoggerClass(Logger)
logging.getLogger().handlers[:] = [NamedHandler()]
PRINTED = sys.stdout, sys.stderr = Printed(logging.INFO), Printed(logging.INFO)


class WholeLines:
    """Around a call: what was printed without a line's end is a line when the outermost one ends."""

    def __enter__(self):
        world.calls += 1

    def __exit__(self, kind, value, trace):
        world.calls -= 1
        if world.calls == 0:
            for printed in PRINTED:
                printed.flush()


whole_lines = WholeLines()
