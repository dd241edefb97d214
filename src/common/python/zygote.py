# zygote.py - an interpreter that has imported what files of former jobs imported, and forks the interpreters of others. It
# runs in host.py's namespace, after it and loader.py. No file of a user is ever run here.
#
#   here, at descriptor 3   {"zygote": HOW}: {"program", "salt", "cachedir", "memory": bytes, "idle": seconds}
#   here, at descriptor 4   packets: {"fork": HOW} with descriptors: the conversation, a pipe that ends with who asks, a
#                           folder, standard error. It is answered in the conversation by {"pid": N}, and by its end
#                           where HOW is another than the zygote's.
#                           {"used": HOW, "names": [NAME, ...]}: modules to import, in their order
#                           {"leave": true}: fork no more, and end with the last child
#   there, at descriptor 3  {"left": true}: the door is another's from now on
import array
import contextlib
import gc
import importlib
import os
import select
import socket

DOOR_FD = 4
DOOR_MAX = 64 * 1024


def restart_conversation(fd):
    """This process speaks with another one from now on."""
    global lines, answers, former
    former = lines  # which would close the descriptor of that number
    lines, answers = open(fd, "rb"), open(fd, "wb", closefd=False)


def end_with(pipe):
    """The kernel ends this process and its group when nobody holds the other end any more."""
    global life
    life = pipe
    fcntl.fcntl(pipe, fcntl.F_SETOWN, -os.getpid())
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    ended = select.poll()
    ended.register(pipe, select.POLLIN)
    if ended.poll(0):
        os._exit(0)


class Zygote:
    def __init__(self, how):
        self.how = how
        self.door = socket.socket(fileno=DOOR_FD)
        self.wanted, self.living = [], {}
        self.woken, self.wakes = os.pipe()
        os.set_blocking(self.wakes, False)
        os.set_blocking(self.woken, False)
        signal.set_wakeup_fd(self.wakes, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda signum, frame: None)

    def run(self):
        """Serve until it is told to leave, the daemon is gone, or nobody came for a while."""
        ready = select.poll()
        for fd in lines.fileno(), self.woken, DOOR_FD:
            ready.register(fd, select.POLLIN)
        while True:
            self.reap()
            if self.door is None and not self.living:
                return
            idle = None if self.living else self.how["idle"] * 1000
            found = [fd for fd, event in ready.poll(0 if self.wanted else idle)]
            if lines.fileno() in found or not found and not self.wanted and not self.living:
                return
            if DOOR_FD in found:
                self.hear()
                if self.door is None:
                    ready.unregister(DOOR_FD)
                    os.close(DOOR_FD)
            elif self.wanted and not found:
                self.preload()

    def reap(self):
        with contextlib.suppress(BlockingIOError):
            os.read(self.woken, 4096)
        with contextlib.suppress(ChildProcessError):
            while self.living:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                os.close(self.living.pop(pid))

    def hear(self):
        """One packet."""
        room = socket.CMSG_SPACE(4 * array.array("i").itemsize)
        try:
            text, control, flags, sender = self.door.recvmsg(DOOR_MAX, room, socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        fds = array.array("i")
        for level, kind, data in control:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
        message = json.loads(text)
        if "fork" in message and len(fds) == 4 and self.is_for_me(message["fork"]):
            self.fork(*fds)
            return
        for fd in fds:
            os.close(fd)
        if "used" in message and self.is_for_me(message["used"]):
            self.wanted.extend(name for name in message["names"] if name not in sys.modules)
        elif "leave" in message:
            self.door.detach()
            self.door = None
            send({"left": True})

    def is_for_me(self, how):
        return all(how[name] == self.how[name] for name in ("program", "salt", "cachedir"))

    def preload(self):
        """Import one module; the last one is followed by what makes forking cheap."""
        name = self.wanted.pop(0)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[1]) * resource.getpagesize()
        if used > self.how["memory"]:
            self.wanted.clear()
        elif name not in sys.modules:
            with contextlib.suppress(BaseException):
                importlib.import_module(name)
        if not self.wanted:
            gc.collect()
            gc.freeze()

    def fork(self, talk, pipe, folder, errors):
        pid = os.fork()
        if pid == 0:
            self.become(talk, pipe, folder, errors)
        self.living[pid] = pipe  # held, so that closing it in the child does not undo end_with()
        for fd in talk, folder, errors:
            os.close(fd)

    def become(self, talk, pipe, folder, errors):
        """The child's part, which does not return."""
        global at_start
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for fd in self.living.values():
                os.close(fd)
            for fd in DOOR_FD, self.woken, self.wakes:
                os.close(fd)
            os.dup2(errors, 1)
            os.dup2(errors, 2)
            os.fchdir(folder)
            os.dup2(talk, 3)
            for fd in talk, folder, errors:
                os.close(fd)
            restart_conversation(3)
            end_with(pipe)
            logging.disable(logging.NOTSET)
            at_start = frozenset(sys.modules)
            send({"pid": os.getpid()})
            receive()
        finally:
            os._exit(0)


def zygote(how):
    logging.disable(logging.CRITICAL)  # files are told what their imports log
    choose_salt(how["salt"])
    keep_bytecode(how["cachedir"])
    Zygote(how).run()
    os._exit(0)


TASKS["zygote"] = zygote
