"""Processes."""
import contextlib
import logging
import multiprocessing
import os
import queue
import signal
import socket
import sys
import threading
import time

log = logging.getLogger(__name__)


def appendproctitle(name):
    """Put a name behind this process's title, where the library setproctitle is installed."""
    try:
        import setproctitle
    except ImportError:
        return
    setproctitle.setproctitle(f"{setproctitle.getproctitle()} {name}")


def daemonize(redirect_out=True):
    """Go on as a daemon; the process that called ends."""
    for _ in range(2):
        if os.fork():
            os._exit(0)
        os.setsid()
    os.chdir("/")
    os.umask(0o022)
    if redirect_out:
        with open("/dev/null", "r+b", buffering=0) as nothing:
            for stream in sys.stdin, sys.stdout, sys.stderr:
                os.dup2(nothing.fileno(), stream.fileno())


def daemonize_if(opts):
    """Go on as a daemon where a job does that."""
    if opts.get("multiprocessing", True) and "salt-call" not in sys.argv[0]:
        daemonize(False)


def notify_systemd():
    """Tell systemd that this service is ready; says whether it was told."""
    place = os.environ.get("NOTIFY_SOCKET")
    if not place:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.sendto(b"READY=1", "\0" + place[1:] if place.startswith("@") else place)
    return True


def os_is_running(pid):
    """Say whether a process is there."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def get_pidfile(pidfile):
    """Return the process that a file names, or None."""
    with contextlib.suppress(OSError, ValueError):
        with open(pidfile, encoding="ascii") as text:
            return int(text.read().strip())
    return None


def check_pidfile(pidfile):
    """Say whether a file names a process."""
    return get_pidfile(pidfile) is not None


def set_pidfile(pidfile, user):
    """Write this process's number into a file of a user's."""
    import pwd

    os.makedirs(os.path.dirname(pidfile) or ".", exist_ok=True)
    with open(pidfile, "w", encoding="ascii") as text:
        text.write(str(os.getpid()))
    if os.getuid() == 0:
        record = pwd.getpwnam(user)
        os.chown(pidfile, record.pw_uid, record.pw_gid)


def clean_proc(proc, wait_for_kill=10):
    """End a process of multiprocessing, by force after some seconds."""
    if proc is None:
        return
    proc.terminate()
    proc.join(wait_for_kill)
    if proc.is_alive():
        proc.kill()
        proc.join()


@contextlib.contextmanager
def default_signals(*signals):
    """Have the system's own handlers of signals for a while."""
    before = {}
    for number in signals:
        before[number] = signal.getsignal(number)
        signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class ThreadPool:
    """Threads that call functions in the background."""

    def __init__(self, num_threads=None, queue_size=0):
        self.num_threads = num_threads or multiprocessing.cpu_count()
        self._job_queue = queue.Queue(queue_size)
        self._workers = [threading.Thread(target=self._work, daemon=True) for _ in range(self.num_threads)]
        for worker in self._workers:
            worker.start()

    def fire_async(self, func, args=None, kwargs=None):
        """Have a function called; says whether there was room for it."""
        try:
            self._job_queue.put_nowait((func, args or [], kwargs or {}))
            return True
        except queue.Full:
            return False

    def _work(self):
        while True:
            func, args, kwargs = self._job_queue.get()
            try:
                func(*args, **kwargs)
            except Exception as exc:
                log.debug("a thread of the pool failed: %s", exc, exc_info=True)
            self._job_queue.task_done()


class Process(multiprocessing.Process):
    """A process with functions that are called at its beginning and its end."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._after_fork, self._finalize = [], []

    def register_after_fork_method(self, function, *args, **kwargs):
        """Call a function when the process has begun."""
        self._after_fork.append((function, args, kwargs))

    def register_finalize_method(self, function, *args, **kwargs):
        """Call a function when the process ends."""
        self._finalize.append((function, args, kwargs))

    def run(self):
        """Run the process's function between those."""
        for function, args, kwargs in self._after_fork:
            function(*args, **kwargs)
        try:
            super().run()
        finally:
            for function, args, kwargs in self._finalize:
                function(*args, **kwargs)


MultiprocessingProcess = Process


class SignalHandlingProcess(Process):
    """A process that ends at SIGINT and SIGTERM."""

    def run(self):
        """Run the process's function."""
        for number in signal.SIGINT, signal.SIGTERM:
            signal.signal(number, lambda *_: sys.exit(0))
        super().run()


SignalHandlingMultiprocessingProcess = SignalHandlingProcess


class SubprocessList:
    """Processes, those that ended forgotten by cleanup()."""

    def __init__(self, processes=None, lock=None):
        self.processes = processes if processes is not None else []
        self.lock = lock or threading.Lock()

    def add(self, proc):
        """Add a process."""
        with self.lock:
            self.processes.append(proc)

    def cleanup(self):
        """Forget processes that ended."""
        with self.lock:
            for proc in list(self.processes):
                proc.join(0)
                if not proc.is_alive():
                    self.processes.remove(proc)


class ProcessManager:
    """Processes that are begun again when they end."""

    def __init__(self, name=None, wait_for_kill=1):
        self.name, self.wait_for_kill = name or type(self).__name__, wait_for_kill
        self._process_map = {}
        self._restart = True

    def add_process(self, tgt, args=None, kwargs=None, name=None):
        """Begin a process of a class or a function."""
        args, kwargs = args or (), kwargs or {}
        if isinstance(tgt, type) and issubclass(tgt, multiprocessing.Process):
            process = tgt(*args, **kwargs)
        else:
            process = Process(target=tgt, args=args, kwargs=kwargs, name=name)
        process.start()
        self._process_map[process.pid] = (tgt, args, kwargs, process)
        return process

    def stop_restarting(self):
        """Begin none of them again."""
        self._restart = False

    def check_children(self):
        """Begin again what ended."""
        for pid, (tgt, args, kwargs, process) in list(self._process_map.items()):
            if not process.is_alive():
                del self._process_map[pid]
                if self._restart:
                    self.add_process(tgt, args, kwargs)

    def run(self, asynchronous=False):
        """Watch over the processes until they are ended."""
        while self._process_map:
            self.check_children()
            if asynchronous:
                return
            time.sleep(10)

    def send_signal_to_processes(self, signal_):
        """Send all of them a signal."""
        for pid in self._process_map:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal_)

    def kill_children(self, *args, **kwargs):
        """End all of them."""
        self.stop_restarting()
        for *_, process in self._process_map.values():
            clean_proc(process, self.wait_for_kill)
        self._process_map.clear()

    terminate = kill_children
