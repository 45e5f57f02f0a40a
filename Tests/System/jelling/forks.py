"""Programs of Tools/peers out of one process that has imported Bumble, which takes each of them half a second of a processor, and a
guest without acceleration many seconds.

A `Fork` stands for such a program as subprocess.Popen would. This file itself, run with the number of a socket, is the process that forks."""
import atexit, contextlib, json, os, select, signal, socket, subprocess, sys, threading

# Of what the programs import, what takes long.
IMPORTED = ('bumble.att', 'bumble.controller', 'bumble.device', 'bumble.gatt', 'bumble.gatt_client', 'bumble.l2cap', 'bumble.link', 'bumble.pairing',
            'bumble.smp', 'bumble.snoop', 'bumble.transport', 'bumble.transport.common', 'bumble.transport.unix', 'bumble.transport.tcp_client')
LARGEST = 1 << 20


class Fork:
    """A program in Python that runs in a copy of a process with Bumble in it; `arguments` are those of a command: the Python, the file, …"""

    def __init__(self, arguments, stdin, stdout, stderr, env=None, preexec_fn=None):
        assert (stdin, stdout, preexec_fn) == (subprocess.DEVNULL, subprocess.PIPE, None), 'nothing else is needed so far'
        self.args, self.returncode, self.lock = arguments, None, threading.Lock()
        out, inner = os.pipe()
        self.stdout = os.fdopen(out, 'rb')
        self.ends, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, open(os.devnull, 'rb') as nothing:
            try:
                request = {'arguments': arguments[1:], 'environment': dict(os.environ if env is None else env), 'folder': os.getcwd()}
                server(arguments[0]).ask(request, [nothing.fileno(), inner, stderr.fileno(), theirs.fileno()])
            finally:
                os.close(inner)
        self.pid = int(self.ends.recv(16))

    def poll(self):
        with self.lock:
            if self.returncode is None and self.has_ended(0):
                # Without a word: the process that forks is gone, and its processes with it.
                self.returncode = int(self.ends.recv(16) or -signal.SIGKILL)
                self.ends.close()
        return self.returncode

    def has_ended(self, milliseconds):
        poll = select.poll()
        poll.register(self.ends, select.POLLIN)
        return bool(poll.poll(milliseconds))

    def wait(self, timeout=None):
        if self.returncode is None:
            try:
                self.has_ended(None if timeout is None else timeout * 1000)
            except ValueError:
                pass    # another thread has seen the end
        if self.poll() is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def kill(self):
        self.send_signal(signal.SIGKILL)


class Server:
    """The process that forks, for one Python; it ends with this process."""

    def __init__(self, python):
        self.lock = threading.Lock()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, LARGEST)
        with theirs:
            self.process = subprocess.Popen([python, os.path.abspath(__file__), str(theirs.fileno())], pass_fds=[theirs.fileno()],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        atexit.register(self.end)

    def ask(self, request, descriptors):
        with self.lock:
            socket.send_fds(self.socket, [json.dumps(request).encode()], descriptors)

    def end(self):
        self.socket.close()
        self.process.wait()


SERVERS, LOCK = {}, threading.Lock()


def server(python):
    with LOCK:
        if python not in SERVERS or SERVERS[python].process.poll() is not None:
            SERVERS[python] = Server(python)
        return SERVERS[python]


# The process that forks

def serve(requests):
    import importlib, gc
    # The folder of this file, whose modules have common names.
    del sys.path[0]
    for name in IMPORTED:
        importlib.import_module(name)
    # Copies share what was there before them.
    gc.collect()
    gc.freeze()
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    running = {}
    while True:
        ready = select.select([requests, woken], [], [])[0]
        if woken in ready:
            woken.recv(4096)
            tell_ends(running)
        if requests in ready:
            octets, descriptors, _, _ = socket.recv_fds(requests, LARGEST, 4)
            if not octets:
                break
            ends = socket.socket(fileno=descriptors.pop())
            pid = os.fork()
            if not pid:
                for other in (requests, woken, wake, ends, *running.values()):
                    other.close()
                be(descriptors, **json.loads(octets))
            for descriptor in descriptors:
                os.close(descriptor)
            running[pid] = ends
            ends.send(str(pid).encode())
    for pid in running:
        os.kill(pid, signal.SIGTERM)


def tell_ends(running):
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            break
        with running.pop(pid) as ends:
            try:
                ends.send(str(os.waitstatus_to_exitcode(status)).encode())
            except BrokenPipeError:
                pass    # nobody waits for it


def be(descriptors, arguments, environment, folder):
    """This process is a program now."""
    import runpy, traceback
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(arguments[0]))
        runpy.run_path(arguments[0], run_name='__main__')
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1 if end.code else 0
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException as error:
        traceback.print_exc()
        if isinstance(error, KeyboardInterrupt):
            # As Python ends then.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        # Also where nobody reads what it printed.
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(status & 0xFF)


if __name__ == '__main__':
    serve(socket.socket(fileno=int(sys.argv[1])))
